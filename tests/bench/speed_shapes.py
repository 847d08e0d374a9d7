"""Whether a turn late in a long history costs more than one early in it, for each shape of talk.

The work of a turn is the lines of Python that its pass executes, counted over a window at the end of each tenth of
`MNEMOLOG_BENCH_SHAPE` (100,000) turns of one space. The first tenth is left out: it fills what is kept up to a bound.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from projections.garbage import rare_collections
from streams.core.driver import Driver, Placed
from streams.core.events import Outside
from streams.core.processor import Raw
from tests.bench.generated import turns
from tests.bench.speed import Row, fresh, row
from tests.laws.histories import outside, recorded, wide
from tests.laws.laws import lines_of
from tests.laws.test_laws import SHAPES

COUNT = int(os.environ.get("MNEMOLOG_BENCH_SHAPE", "100000"))
WINDOW = 300
MOST = 1.3
"""How many times the work of the second tenth a later one may take; as the law of work per event has it."""


def shapes() -> Iterator[tuple[str, list[Outside]]]:
    """Histories by what they are called."""
    yield "everything, over hundreds of sessions", outside(wide(COUNT))
    for name, shaped in SHAPES.items():
        yield name, [shaped(turn, n) for n, turn in enumerate(turns(COUNT, 1))]


def work(folding: Driver, history: Sequence[Raw[Outside]]) -> Iterator[float]:
    """Lines a turn at the end of each tenth."""
    rows: list[Placed] = []

    def fold(start: int, stop: int) -> None:
        for offset in range(start, stop):
            raw = history[offset]
            folding.fold(raw.event.space, 0, offset, raw, rows)
            rows.clear()

    for tenth in range(10):
        start, stop = tenth * len(history) // 10, (tenth + 1) * len(history) // 10
        fold(start, stop - WINDOW)
        yield lines_of(partial(fold, stop - WINDOW, stop)) / WINDOW


def run() -> list[dict[str, Any]]:
    """All rows."""
    found: list[Row] = []
    for name, events in shapes():
        with rare_collections():
            by_tenth = [*work(fresh(), recorded(events))]
        grown = max(by_tenth[2:]) / by_tenth[1]
        told = "lines " + " ".join(f"{lines:.0f}" for lines in by_tenth)
        found.append(row(f"a later turn / an early one, {name}", grown, f"<= {MOST:g}", grown <= MOST, told))
    return found


if __name__ == "__main__":
    for line in run():
        print(line)
