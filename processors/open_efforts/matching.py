"""How alike a turn and the active efforts are: the share of what the turn says that an effort speaks of.

    similarity(turn, e) = sum(w(f) for f of the turn that e has) / sum(w(f) for all f of the turn)
    w(f) = log(1 + N / df(f)), names weighing `name_weight` times as much

N is the number of active efforts, df(f) how many of them speak of f; what none speaks of counts half as if half an
effort did. Words of more than `common` efforts tell nothing and are left out.

Source: inverse document frequency, Sparck Jones 1972.
"""

from __future__ import annotations

from math import log

from processors.open_efforts.records import ACTIVE, Active

LOGS = [0.0, *(log(i) for i in range(1, 2 * ACTIVE + 2))]


def alike(
    index: Active, terms: list[str], names: list[str], name_weight: float, common: int, least: float
) -> dict[str, float]:
    """Similarity of the active efforts that share something with the turn, from `least` to 1."""
    n = len(index.slots)
    if not n:
        return {}
    unheard = 0.5 * log(1 + n / 0.5)
    total = 0.0
    found: dict[str, float] = {}
    for words, postings, factor in ((names, index.names, name_weight), (terms, index.terms, 1.0)):
        for word in words:
            posting = postings.get(word)
            if posting is None:
                total += factor * unheard
                continue
            df = len(posting)
            if df <= common:
                weight = factor * (LOGS[n + df] - LOGS[df])
                total += weight
                for effort in posting:
                    found[effort] = found.get(effort, 0.0) + weight
    if not found:
        return found
    bound = least * total
    return {effort: weight / total for effort, weight in found.items() if weight >= bound}


def best(similar: dict[str, float], most: int) -> list[tuple[str, float]]:
    """The `most` alike, best first; the id decides among equals, so that no order of postings shows."""
    if len(similar) < 2:
        return list(similar.items())
    return sorted(similar.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
