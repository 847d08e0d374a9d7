"""How alike a turn and the active efforts are: the share of what the turn says that an effort speaks of.

    similarity(turn, e) = sum(w(f) for f of the turn that e has) / sum(w(f) for all f of the turn)
    w(f) = log(1 + N / df(f)), names weighing `name_weight` times as much

N is the number of active efforts, df(f) how many of them speak of f; what none speaks of counts half as if half an
effort did. Words of more than `common` efforts tell nothing and are left out.

Source: inverse document frequency, Sparck Jones 1972.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

from processors.open_efforts.index import Active
from processors.open_efforts.records import ACTIVE

LOGS = [0.0, *(log(i) for i in range(1, 2 * ACTIVE + 2))]


@lru_cache(maxsize=4096)
def slots_of(mask: int) -> tuple[int, ...]:
    """The slots in a mask, in order. A memo: most words are of one effort or of few, and so are their masks."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)


def alike(
    index: Active, terms: list[str], names: list[str], name_weight: float, common: int, least: float
) -> tuple[dict[str, float], float]:
    """Similarity of the active efforts that share something with the turn, from `least` to 1; and the sum of all w."""
    n = len(index.slots)
    if not n:
        return {}, 0.0
    unheard = 0.5 * log(1 + n / 0.5)
    total = 0.0
    found: dict[int, float] = {}
    for words, postings, factor in ((names, index.names, name_weight), (terms, index.terms, 1.0)):
        for word in words:
            mask = postings.get(word, 0)
            if not mask:
                total += factor * unheard
                continue
            df = mask.bit_count()
            if df <= common:
                weight = factor * (LOGS[n + df] - LOGS[df])
                total += weight
                for slot in slots_of(mask):
                    found[slot] = found.get(slot, 0.0) + weight
    bound = least * total
    ids = index.ids
    return {ids[slot]: weight / total for slot, weight in found.items() if weight >= bound}, total


def best(similar: dict[str, float], most: int) -> list[tuple[str, float]]:
    """The `most` alike, best first; the id decides among equals, so that no order of postings shows."""
    if len(similar) < 2:
        return list(similar.items())
    return sorted(similar.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
