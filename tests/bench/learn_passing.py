"""Learns when an end that was said in passing has ended its work (processors/open_efforts/passing.py).

    python -m tests.bench.learn_passing

Learns from the voices, by what is seen of a possible end at each later turn of its people; what words say is told by
weights that did not see their author. An end that is put to other work than its author's is none: it would conclude
the wrong one. Prints what the weights are worth on authors that were left out: how many ends conclude, and how much of
what concludes is an end, by the likelihood from which on it does; and the weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from processors import PROCESSORS
from processors.open_efforts import passing
from streams.core.driver import ancestors, fold
from streams.core.text.learned import likelihood, weigh
from tests.bench.learn_acts import others
from tests.bench.learning import fit_values
from tests.bench.voices import conversations, matched, threaded

THREADING = ancestors(PROCESSORS, ["open_efforts"])
SEEN = passing.seen
NEVER = -1000


class Waiting(NamedTuple):
    """A possible end: whose, whether it is one, and what is seen of it at each look."""

    author: str
    ends: bool
    looks: list[list[int]]


def waiting() -> Iterator[Waiting]:
    """All that may be an end, in the voices."""
    for one in conversations(learning=True):
        if not one.efforts:
            continue
        looks: dict[str, list[list[int]]] = {}

        def seen(end: Any, said: Any, effort: Any, looks: dict[str, list[list[int]]] = looks) -> list[int]:
            values = SEEN(end, said, effort)
            looks.setdefault(said.turn, []).append(values)
            return values

        kept = passing.seen, passing.score
        passing.seen, passing.score = seen, lambda values: NEVER
        try:
            with others(one.author):
                rows = fold(THREADING, one.events())
        finally:
            passing.seen, passing.score = kept
        threads = threaded(row.event for row in rows)
        match = matched(one.turns, threads, Counter())
        ends = {turn["id"]: match[turn["concluded"]] for turn in one.turns if turn.get("concluded") in match}
        yield from (
            Waiting(one.author, turn in ends and ends[turn] == threads[turn], found) for turn, found in looks.items()
        )


def fit(given: list[Waiting]) -> list[int]:
    """The weights, in hundredths; an end counts once, however often it was looked at."""
    rows = [look for one in given for look in one.looks]
    labels = [one.ends for one in given for _ in one.looks]
    counts = [1 / len(one.looks) for one in given for _ in one.looks]
    return fit_values(rows, labels, counts)


def main() -> None:
    """Prints what the weights are worth, and the weights."""
    given = [*waiting()]
    worth: list[tuple[bool, list[float]]] = []
    for author in sorted({one.author for one in given}):
        weights = fit([one for one in given if one.author != author])
        for one in given:
            if one.author == author:
                scores = [weigh(weights, look) for look in one.looks]
                worth.append((one.ends, [likelihood(score) for score in scores]))
    true = sum(ends for ends, _ in worth)
    print(f"{true} ends among {len(worth)} that waited")
    for sure in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        told = [ends for ends, found in worth if max(found) >= sure]
        print(f"  from {sure:.2f} on: P {sum(told) / max(1, len(told)):.2f} R {sum(told) / true:.2f} of {len(told)}")
    print(dict(zip(passing.WEIGHTS, fit(given), strict=True)))


if __name__ == "__main__":
    main()
