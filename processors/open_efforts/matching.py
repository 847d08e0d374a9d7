"""How alike a turn and the active efforts are: the share of what the turn says that an effort speaks of.

    similarity(turn, e) = sum(w(f) for f of the turn that e has) / sum(w(f) for all f of the turn)
    w(f) = log(1 + N / df(f)), names weighing `name_weight` times as much

N is the number of active efforts, df(f) how many of them speak of f; what none speaks of counts half as if half an
effort did. Words of more than `common` efforts tell nothing and are left out.

Source: inverse document frequency, Sparck Jones 1972.
"""

from __future__ import annotations

from math import log

from processors.open_efforts.records import Active


def alike(
    index: Active, terms: list[str], names: list[str], name_weight: float, common: int, most: int
) -> dict[str, float]:
    """Similarity, 0 to 1, of each active effort that shares something with the turn."""
    n = len(index.slots)
    total = 0.0
    found: dict[str, float] = {}
    for words, postings, factor in ((names, index.names, name_weight), (terms, index.terms, 1.0)):
        for word in words[:most]:
            posting = postings.get(word)
            if posting is None:
                total += factor * log(1 + n / 0.5) * 0.5
                continue
            df = len(posting)
            if df > common:
                continue
            weight = factor * log(1 + n / df)
            total += weight
            for effort in posting:
                found[effort] = found.get(effort, 0.0) + weight
    if not found:
        return found
    return {effort: weight / total for effort, weight in found.items()}
