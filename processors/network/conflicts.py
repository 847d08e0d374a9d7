"""Which of two contradicting nodes holds.

support(n)  sum over its first turns of how far who said it is relied on, + `edge` for each node that speaks for it
            x 2^(-age / half_life), age: how many whole days before the other it was last said
facts       the newer one holds with `m` times the older one's support; m = 2, 3 where the older one is well
            supported, 5 where much rests on it; the older one holds with twice the newer one's; else it is open
doubts      contradictions less likely than `heard`, and those of one sitting, contest nothing until they are judged
own         what somebody says of himself, or says to be so no longer, changes when he says so, and a judgment decides
preferences coexist: of two persons always, of one until he declares a change
"""

from __future__ import annotations

from typing import Literal

from processors.network.confidence import ConfidenceParams
from processors.network.record import Node
from streams.core.events import DAY
from streams.core.params import param
from streams.core.processor import r6

Outcome = Literal["newer", "older", "both", "open"]


class ConflictParams(ConfidenceParams):
    """How conflicts are decided."""

    user: float = param(0.8, "reliability 0..1", "of a user's words, as in confidence", ge=0, le=1)
    assistant: float = param(0.6, "reliability 0..1", "of a model's", ge=0, le=1)
    tool: float = param(0.9, "reliability 0..1", "of what a program returned, and of instructions", ge=0, le=1)
    heard: float = param(0.8, "likelihood 0..1", "of a contradiction that contests what is known", "tuned", ge=0, le=1)
    near: float = param(
        4.0, "hours", "within a session, by when what differs is more likely the same in other words", ge=0
    )
    edge: float = param(0.3, "statements", "a node that speaks for another counts so much of a statement", ge=0)
    half_life: float = param(180.0, "days", "a statement half a year older than the other counts half", gt=0)
    newcomer: float = param(2.0, "times", "the support that a newer statement needs", "thesis 3 of the paper", ge=1)
    well: float = param(3.0, "times", "the same against what is well supported", "thesis 3 of the paper", ge=1)
    core: float = param(5.0, "times", "the same against what much rests on", "thesis 3 of the paper", ge=1)
    well_from: int = param(3, "first turns", "from so many on a node is well supported", ge=1)
    core_from: int = param(5, "nodes", "from so many on that rest on it a node is core", ge=1)
    stands: float = param(2.0, "times", "with so many times the newer one's support the older one holds", ge=1)


def support(params: ConflictParams, node: Node, other: Node) -> float:
    """Of a node, beside another."""
    said = sum(row[2] for row in node.sources) + params.edge * len(node.support)
    return r6(said * 0.5 ** (max(other.at - node.at, 0) // DAY / params.half_life))


def multiple(params: ConflictParams, older: Node) -> float:
    """How many times an older node's support a newer one needs."""
    if len(older.serves) >= params.core_from:
        return params.core
    return params.well if len(older.sources) >= params.well_from else params.newcomer


def decide(params: ConflictParams, newer: Node, older: Node, rule: str, declared: bool) -> Outcome:
    """Which of two nodes that contradict each other holds."""
    if rule == "judged":
        return "newer"
    own = newer.by == older.by and newer.subject == older.subject
    if newer.kind == older.kind == "preference":
        return "newer" if declared and own else "both"
    if declared and own and (newer.subject or rule == "inferred"):
        return "newer"
    for_newer, for_older = support(params, newer, older), support(params, older, newer)
    if for_newer >= r6(multiple(params, older) * for_older):
        return "newer"
    return "older" if for_older >= r6(params.stands * for_newer) else "open"
