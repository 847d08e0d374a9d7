"""`mnemolog network` and `mnemolog share`: what is known, what speaks for it, and what of it may leave its space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from streams.core.errors import UsageError, check_one_space, counted, id_begun
from streams.gateways.command import Common, InSpace, Listing, Memory, known_place, one_of, one_or_any, space_of
from streams.gateways.terminal import Row, Terminal

STATUSES = ("current", "open", "history", "merged", "pruned", "retracted")
FORMATS = ("text", "dot", "jsonld")
COLUMNS = "node space? kind confidence> status? layer>? sources> text~"
NOTHING = "nothing is known yet: nodes are made of conclusions, of what somebody tells of himself, and of reasons"
SHARED = (2, 3)
"""Layers that may leave their space: principles, and what is universal."""


def network(
    listing: Listing,
    node: Annotated[str | None, typer.Argument(help="A node, or a turn that says it: what hangs on it.")] = None,
    depth: Annotated[int, typer.Option(min=0, max=8, help="How many edges away from it.")] = 2,
    format: Annotated[str, typer.Option("--format", "-f", help="text, dot (Graphviz) or jsonld (JSON-LD).")] = "text",
    status: Annotated[str, typer.Option(help=f"{', '.join(STATUSES)}, or all; without a node.")] = "current",
) -> None:
    """What is known, the surest first; of one node, what speaks for it, what follows from it, what contradicts it."""
    one_of(format, FORMATS, "format")
    stands = one_or_any(status, STATUSES, "status")
    space = listing.where
    with listing.opened() as (house, terminal):
        nodes = listing.view(house, "knowledge", space=space, order="confidence DESC, node")
        if not nodes:
            known_place(house.path, space, None)
        needed = node is not None or format != "text"
        edges = listing.view(house, "knowledge_edges", space=space, order="source, target") if needed else []
        if node is None:
            shown = [row for row in nodes if stands in (None, row["status"])][: listing.limit]
        else:
            near = around(node, nodes, edges, depth)
            shown = [row for row in nodes if row["node"] in near]
        ids = {row["node"] for row in shown}
        edges = [edge for edge in edges if edge["source"] in ids and edge["target"] in ids]
        if format != "text":
            terminal.text(dot(shown, edges)) if format == "dot" else terminal.object(jsonld(shown, edges))
        elif node is None:
            terminal.rows(shown, listing.told(COLUMNS), NOTHING)
        elif listing.json:
            for row in [*({"row": "node"} | row for row in shown), *({"row": "edge"} | edge for edge in edges)]:
                terminal.object(row)
        else:
            tell(terminal, around(node, nodes, edges, 0)[0], {row["node"]: row for row in shown}, edges, depth)


def around(asked: str, nodes: Sequence[Row], edges: Sequence[Row], depth: int) -> list[str]:
    """The nodes that are asked for and those at most so many edges away. Raises UsageError where there is none."""
    found = [row["node"] for row in nodes if asked == row["node"]]
    found = found or [row["node"] for row in nodes if asked in row["turns"]]
    if not found and (begun := id_begun(asked, (id for row in nodes for id in (row["node"], *row["turns"])))):
        return around(begun, nodes, edges, depth)
    if not found:
        raise UsageError(f"there is no node {asked!r}", "`mnemolog network --status all` lists them")
    check_one_space((row["space"] for row in nodes if row["node"] in found), f"node {asked!r}")
    near = dict.fromkeys(found)
    border = near
    for _ in range(depth):
        touching = [edge for edge in edges if edge["source"] in border or edge["target"] in border]
        ends = (end for edge in touching for end in (edge["source"], edge["target"]))
        border = dict.fromkeys(end for end in ends if end not in near)
        near |= border
    return [*near]


def tell(terminal: Terminal, node: str, nodes: dict[str, Row], edges: Sequence[Row], depth: int) -> None:
    """A node and what hangs on it, as a tree; each node stands once."""
    row = nodes[node]
    head = "[bold]{}[/] {}, confidence {:.2f}, {}, said in {} and {}: {}"
    first = f"{row['sources']} first turns" if row["sources"] != 1 else "one first turn"
    sessions = counted(row["sessions"], "session")
    terminal.say(head, node, row["kind"], row["confidence"], row["status"], first, sessions, row["why"])
    terminal.say('  "{}" {}', row["text"], f"{row['by']} [{', '.join(row['turns'])}]")
    told = {node}

    def branches(of: str, level: int) -> None:
        if level > depth:
            return
        for other, sign in _hanging(of, edges):
            if other in told or other not in nodes:
                continue
            told.add(other)
            near = nodes[other]
            line = "{}[dim]{}[/] {:.2f} {} [dim]{} {}[/]"
            terminal.say(line, "  " * level, sign, near["confidence"], near["text"], other, f"[{near['turn']}]")
            branches(other, level + 1)

    branches(node, 1)


_SIGNS = {"support": ("supported, {}:", "supports, {}:"), "derivation": ("derived, {}:", "from it follows, {}:"),
          "generalization": ("for example, {}:", "is a case of, {}:"),
          "contradiction": ("contradicted, {}:", "contradicts, {}:")}  # fmt: skip


def _hanging(node: str, edges: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """What hangs on a node, and in words how."""
    for edge in edges:
        if node in (edge["source"], edge["target"]):
            out = node == edge["source"]
            rule = edge["rule"] if edge["kind"] != "contradiction" else f"{edge['rule']}, {edge['outcome']}"
            yield edge["target" if out else "source"], _SIGNS[edge["kind"]][out].format(rule)


def dot(nodes: Sequence[Row], edges: Sequence[Row]) -> str:
    """The network for Graphviz."""
    lines = ["digraph knowledge {", '  node [shape=box, fontname="sans-serif"];']
    for row in nodes:
        style = "" if row["status"] == "current" else ", style=dashed"
        lines.append(f"  {_quoted(row['node'])} [label={_quoted(_label(row))}{style}];")
    for edge in edges:
        style = ", color=red, dir=both" if edge["kind"] == "contradiction" else ""
        ends = f"{_quoted(edge['source'])} -> {_quoted(edge['target'])}"
        lines.append(f"  {ends} [label={_quoted(edge['rule'])}, penwidth={0.5 + 2 * edge['weight']:.1f}{style}];")
    return "\n".join([*lines, "}"])


def _label(row: Row) -> str:
    return f"{row['text']}\n{row['kind']} {row['confidence']:.2f}"


def _quoted(text: str) -> str:
    """A string of Graphviz."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def jsonld(nodes: Sequence[Row], edges: Sequence[Row]) -> Row:
    """The network as JSON-LD: an edge is a property of its source, named by its kind."""
    kinds = sorted(_SIGNS)
    context: Row = {"@vocab": "urn:mnemolog:", "id": "@id", "kind": "@type"}
    context |= {kind: {"@id": f"urn:mnemolog:{kind}", "@type": "@id"} for kind in kinds}
    keys = ("kind", "text", "status", "confidence", "layer", "turns")
    graph: dict[str, Row] = {
        row["node"]: {"id": f"urn:mnemolog:{row['node']}"} | {key: row[key] for key in keys} for row in nodes
    }
    for edge in sorted(edges, key=lambda edge: str(edge["kind"])):
        graph[edge["source"]].setdefault(edge["kind"], []).append(f"urn:mnemolog:{edge['target']}")
    return {"@context": context, "@graph": [*graph.values()]}


def share(
    common: Common,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A file that is not there yet.")],
    layer: Annotated[int, typer.Option(help="2: principles and above; 3: what is universal alone.")] = 2,
    space: InSpace = None,
    memory: Memory = "live",
) -> None:
    """Write what several sessions agree on, without what tells who, where or which, to a file to look at first."""
    import orjson

    if layer not in SHARED:
        raise UsageError(f"layer {layer} does not leave its space", "share 2 (principles) or 3 (what is universal)")
    if out.exists():
        raise UsageError(f"{out} exists already", "choose another file")
    space = space_of(space)
    with common.opened() as (house, terminal), house.asking_on():
        nodes = house.ask("view", memory, name="knowledge", status="current", space=space)
        if not nodes:
            known_place(house.path, space, None)
        edges = house.ask("view", memory, name="knowledge_edges", space=space)
        shared = shareable(nodes, edges, layer)
        try:
            out.write_bytes(orjson.dumps(shared, option=orjson.OPT_INDENT_2) + b"\n")
        except OSError as error:
            raise UsageError(f"{out} cannot be written: {error.strerror}", "choose another file") from error
        count = len(shared["nodes"])
        terminal.told(
            {"file": str(out), "layer": layer, "nodes": count}, "[green]{}[/] in {}", counted(count, "node"), out
        )
        terminal.say("[dim]look at it before you give it away: nothing else leaves the space[/]")


def shareable(nodes: Sequence[Row], edges: Sequence[Row], layer: int) -> Row:
    """Nodes of a layer and above by number, and the edges between them: no id, time, turn, person or session.

    Why masked again: what was made by an older rule goes through today's as well.
    """
    from streams.core.text.masking import generalised

    told = {row["node"]: (generalised(row["general"]), row) for row in nodes if row["layer"] >= layer}
    ordered = sorted((text, id) for id, (text, _) in told.items() if text)
    numbers = {id: number for number, (_, id) in enumerate(ordered, 1)}
    return {
        "layer": layer,
        "nodes": [
            {"node": numbers[id], "kind": told[id][1]["kind"], "layer": told[id][1]["layer"],
             "confidence": round(told[id][1]["confidence"], 2), "text": text}
            for text, id in ordered
        ],
        "edges": [
            {"source": numbers[edge["source"]], "target": numbers[edge["target"]], "kind": edge["kind"],
             "weight": round(edge["weight"], 2)}
            for edge in edges
            if edge["source"] in numbers and edge["target"] in numbers
        ],
    }  # fmt: skip
