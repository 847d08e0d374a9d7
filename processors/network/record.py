"""What the network keeps: its nodes by number, which of them words find, and which rest on which turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from processors.network.events import KnowledgeNoted
from streams.core.processor import State
from streams.core.text.commonness import weight

TURNS, SOURCES, EDGES, SERVES, CLASHES, OF_TURN = 4, 12, 8, 16, 4, 6
"""Kept of a node: turns, first turns, edges from what speaks for it and to what it speaks for, contradictions; nodes
kept of a turn."""
POSTED, CANDIDATES = 8, 6
"""Of the nodes with a stem, how many of the newest are looked at; how many nodes are compared with a new one."""
STANDING = ("current", "open")
"""Nodes that are known; others are history."""
KEPT = (*STANDING, "history")


@dataclass(slots=True)
class Node:
    """State, `node/<number, 8 digits>`: a node; as in KnowledgeNoted where nothing is said.

    `sources`, `support` and `clashes` are rows: [hash of a first turn, hash of its session, how far who said it is
    relied on], [number, kind, rule, weight, hash of the other's first turn, id], and see `clash`.
    """

    id: str
    turn: str
    kind: Any
    text: str
    session: str
    by: str
    subject: str
    attribute: str
    value: str
    at: int
    """When it was said last."""
    layer: int
    stems: list[str]
    status: Any = "current"
    confidence: float = 0.0
    turns: list[str] = field(default_factory=list)
    sources: list[list[Any]] = field(default_factory=list)
    support: list[list[Any]] = field(default_factory=list)
    """Edges from what speaks for it."""
    serves: list[int] = field(default_factory=list)
    """The nodes that it speaks for."""
    clashes: list[list[Any]] = field(default_factory=list)
    """[other, rule, whether this is the newer, whether it was declared, outcome: won, lost, both or open]."""
    survived: list[str] = field(default_factory=list)
    """Hashes of the first turns of what contradicted it, lost and was dropped."""
    into: str = ""
    merged: int = 0
    """The number of the node of that id; 0 for none."""
    general: str = ""
    undone: bool = False
    """Whether the work that came to it goes on again."""


@dataclass(slots=True)
class Ended:
    """State, `effort/<effort>`: the turn that ended work, while it is ended."""

    turn: str


@dataclass(slots=True)
class Righted:
    """State, `righted/<turn>`: the nodes whose trouble a turn put right."""

    numbers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Saying:
    """Who says something, where and when. State, `stated/<turn> <attribute>`, with what is said: a belief that is not
    known yet."""

    turn: str
    first: str
    """The turn that it rests on first."""
    by: str
    role: str
    session: str
    at: int
    text: str = ""
    value: str = ""


@dataclass(slots=True)
class Made:
    """State, `turn/<turn>`: rows of [number, source] of the nodes that a turn says."""

    rows: list[list[Any]] = field(default_factory=list)


@dataclass(slots=True)
class Count:
    """State, `count`: how many nodes were ever made; and of a pass over them, where it stands and what it did."""

    nodes: int = 0
    run: int = 0
    slices: int = 0
    """Of the pass that is under way, 0 where none is."""
    due: int = 0
    """When it began: the time of the `due/` key that asks for a tick, so that it goes on where nobody speaks."""
    asked: int = 0
    """Ticks that it asked for since the last consolidation."""
    cursor: int = 0
    """The node that was last looked at to be pruned."""
    done: list[int] = field(default_factory=list)
    """Looked, linked, merged, pruned, promoted, moved."""


@dataclass(slots=True)
class Asking:
    """State, `ask/<person>`: the conflicts to ask somebody about: [newer, older]."""

    rows: list[list[int]] = field(default_factory=list)


@dataclass(slots=True)
class Stale:
    """State, `stale/<number>`: a node that a change reached since the last pass, or that is so many edges from one."""

    hops: int


@dataclass(slots=True)
class Due:
    """State, `due/<time>/network/<slice>`: when a pass goes on."""


def key(number: int) -> str:
    """Where a node is kept."""
    return f"node/{number:08d}"


def heft(stems: Sequence[str]) -> float:
    """What some stems say together."""
    return sum(map(weight, stems))


class Index:
    """The standing nodes by their stems and by what they are beliefs about. A pure function of the records."""

    __slots__ = ("about", "holding", "looking")

    def __init__(self, state: State) -> None:
        self.holding: dict[str, list[int]] = {}
        self.about: dict[tuple[str, str], list[int]] = {}
        for at, node in state.scan("node/", Node):
            if node.status in STANDING:
                self.add(int(at[5:]), node)
        count = state.get("count", Count)
        self.looking = count is not None and count.slices > 0
        """Whether a pass is under way."""

    def add(self, number: int, node: Node) -> None:
        """It is found from now on."""
        for stem in node.stems:
            _insert(self.holding.setdefault(stem, []), number)
        if node.attribute:
            _insert(self.about.setdefault((node.subject, node.attribute), []), number)

    def remove(self, number: int, node: Node) -> None:
        """It is found no longer."""
        for stem in node.stems:
            _remove(self.holding, stem, number)
        if node.attribute:
            _remove(self.about, (node.subject, node.attribute), number)

    def like(self, stems: Sequence[str]) -> list[tuple[int, float]]:
        """The nodes that share most with some stems, and the weight of what each shares; of each stem the newest."""
        shared: dict[int, float] = {}
        for stem in stems:
            says = weight(stem)
            for number in self.holding.get(stem, ())[-POSTED:]:
                shared[number] = shared.get(number, 0.0) + says
        return sorted(shared.items(), key=lambda found: (-found[1], -found[0]))[:CANDIDATES]


def _insert(numbers: list[int], number: int) -> None:
    """Keeps them in order; nearly always the newest comes last."""
    if number not in numbers[-1:]:
        numbers.append(number)
        if len(numbers) > 1 and numbers[-2] > number:
            numbers[:] = sorted(set(numbers))


def _remove(held: dict[Any, list[int]], of: Any, number: int) -> None:
    numbers = held.get(of)
    if numbers and number in numbers:
        numbers.remove(number)
        if not numbers:
            del held[of]


def told(space: str, at: int, node: Node, why: str) -> KnowledgeNoted:
    """A node as it stands now."""
    return KnowledgeNoted(
        space, node.session, at, node.id, node.turn, node.kind, node.text, node.by, node.subject, node.attribute,
        [*node.turns], len(node.sources), len({row[1] for row in node.sources}), node.status, node.layer,
        node.confidence, why, node.into, node.general,
    )  # fmt: skip
