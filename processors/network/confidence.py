"""How far a node is relied on: a number that nobody assigns, of the network's shape alone.

    w(r, n)       how strongly the first turn r speaks for n: by the best path from a node that r says to n, along which
                  each edge of weight v leaves w * damping * v; below `floor` a path says nothing; 1 where r says n
    w(c, n)       of a contradiction c of n that failed: `survived`, and along paths as above
    C(n)          1 - prod over r and c of (1 - base * w),  at most `most`
                  x contested while a contradiction is open, x lost where another node took its place

Each first turn counts once, by its best path: a copied source adds nothing, and what supports itself in a circle brings
only what it said already. A product over a set has no order. What supports a supporter reaches n damped, so that a
supporter with more behind it brings more. Source: thesis 4 of Cognitive Context Management, with noisy-or (Pearl 1988).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import prod

from processors.network.record import STANDING, Node
from streams.core.params import Params, param
from streams.core.processor import r6

LOOKED = 256
"""Nodes that are looked at for one: more never change what is rounded."""


class ConfidenceParams(Params):
    """How confidence emerges."""

    base: float = param(0.5, "confidence 0..1", "of what one turn says and nothing else does", gt=0, lt=1)
    damping: float = param(0.5, "factor per edge", "what is inferred is less sure than what is said", gt=0, lt=1)
    floor: float = param(0.05, "weight", "paths of five edges and more say nothing", gt=0, lt=1)
    survived: float = param(
        0.6, "weight", "a contradiction that failed: a test, nearly as good as a source", ge=0, lt=1
    )
    contested: float = param(0.6, "factor", "while a contradiction is open", gt=0, le=1)
    lost: float = param(0.2, "factor", "where another took its place: it is history", gt=0, le=1)
    most: float = param(0.99, "confidence 0..1", "nothing that was only said is certain", gt=0, lt=1)


def confidence(params: ConfidenceParams, number: int, node_of: Callable[[int], Node | None]) -> float:
    """Of the node with that number, exactly."""
    roots: dict[str, float] = {}
    seen: set[int] = set()
    waiting: list[tuple[float, int]] = [(-1.0, number)]
    while waiting and len(seen) < LOOKED:
        negative, at = heappop(waiting)
        node = None if at in seen else node_of(at)
        seen.add(at)
        if node is None or (at != number and node.status not in STANDING):
            continue
        strength = -negative
        for source in node.sources:
            roots[source[0]] = max(roots.get(source[0], 0.0), strength)
        for gone in node.survived:
            roots[f"not {gone}"] = max(roots.get(f"not {gone}", 0.0), strength * params.survived)
        for clash in node.clashes:
            if clash[4] == "won" and (other := node_of(clash[0])) is not None and other.sources:
                root = f"not {other.sources[0][0]}"
                roots[root] = max(roots.get(root, 0.0), strength * params.survived)
        for row in node.support:
            further = strength * params.damping * row[3]
            if further >= params.floor and row[0] not in seen:
                heappush(waiting, (-further, row[0]))
    found = node_of(number)
    status = found.status if found is not None else "retracted"
    factor = {"open": params.contested, "current": 1.0}.get(status, params.lost)
    doubt = prod(1 - params.base * roots[root] for root in sorted(roots))
    return r6(min(1 - doubt, params.most) * factor)
