"""Where blocks, lines and circles of pictures lie: numbers, of which templates make SVG."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from streams.core.dataclasses import dataclass

WIDE = 1000
"""Units of a timeline from its first position to its last; it is stretched to whatever width there is."""
BLOCKS = 500
"""Of one timeline at most; of more, those that lie in the same place are drawn as the largest of them."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of turns of one effort."""

    x: float
    width: float
    effort: str | None
    segment: str
    turns: int


def blocks(threads: Sequence[Row], first: int, last: int) -> list[Block]:
    """The timeline of a session: `threads` (rows of the view), drawn over the positions from `first` to `last`."""
    scale = WIDE / (last - first + 1)
    rows = sorted(threads, key=lambda row: (row["first_position"], row["last_position"]))
    if len(rows) > BLOCKS:
        bins: dict[int, list[Row]] = defaultdict(list)
        for row in rows:
            bins[(row["first_position"] - first) * BLOCKS // (last - first + 1)].append(row)
        rows = [max(found, key=lambda row: row["turns"]) for _, found in sorted(bins.items())]
    # Why cut off at the next one's beginning: a segment that was taken up again spans what lies between.
    ends = [*[after["first_position"] for after in rows[1:]], last + 1][: len(rows)]
    found = []
    for row, end in zip(rows, ends, strict=True):
        begin = row["first_position"]
        wide = max(min(row["last_position"] + 1, end) - begin, 1) * scale
        x, width = round((begin - first) * scale, 2), round(max(wide, 1), 2)
        found.append(Block(x, width, row["effort"], row["segment"], row["turns"]))
    return found


def by_session(threads: Sequence[Row], first: int, last: int) -> dict[str, list[Block]]:
    """The timelines of sessions, by their names."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in threads:
        rows[row["session"]].append(row)
    return {session: blocks(found, first, last) for session, found in rows.items()}


@dataclass(frozen=True, slots=True)
class Node:
    """An effort in the graph of links."""

    effort: str
    number: int
    x: float
    y: float
    size: float
    anchor: str
    """Where its label begins: start, middle or end."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link; `bend` is where its line bends to."""

    start: Node
    end: Node
    bend: tuple[float, float]
    width: float


NODES = 28
"""Of a graph at most: a circle of more cannot be read."""
RADIUS = 200.0


def graph(links: Sequence[Row], efforts: Mapping[str, Row]) -> tuple[list[Node], list[Edge]]:
    """Efforts in a circle, in the order in which they opened, and the links between them, the strongest first."""
    counted: dict[str, int] = defaultdict(int)
    kept = []
    for link in links:
        ends = {link["first"], link["second"]}
        if len(ends | counted.keys()) <= NODES:
            kept.append(link)
            for end in ends:
                counted[end] += 1
    order = [effort for effort in efforts if effort in counted] + sorted(counted.keys() - efforts.keys())
    nodes = {}
    for n, effort in enumerate(order):
        turn = 2 * pi * n / len(order) - (pi / 2 if len(order) > 2 else pi)
        side = "middle" if abs(cos(turn)) < 0.15 else "start" if cos(turn) > 0 else "end"
        size = 9 + 2 * min(counted[effort], 6)
        nodes[effort] = Node(effort, n + 1, round(RADIUS * cos(turn), 1), round(RADIUS * sin(turn), 1), size, side)
    edges = []
    for link in reversed(kept):
        start, end = nodes[link["first"]], nodes[link["second"]]
        bend = (round((start.x + end.x) * 0.2, 1), round((start.y + end.y) * 0.2, 1))
        edges.append(Edge(start, end, bend, round(1 + 7 * link["strength"], 1)))
    return list(nodes.values()), edges


def shares(parts: Mapping[str, int], whole: int) -> list[tuple[str, int, float, float]]:
    """Name, size, beginning and width of the parts of a bar that is WIDE for `whole`."""
    found, x = [], 0.0
    for name, size in parts.items():
        width = WIDE * size / max(whole, 1)
        found.append((name, size, round(x, 2), round(width, 2)))
        x += width
    return found
