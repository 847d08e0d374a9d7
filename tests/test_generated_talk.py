"""The generated talk that benchmarks of speed are made of."""

from pathlib import Path

import pytest

from streams.core.events import SECOND
from streams.logs.sqlite import SqliteLog, wall_clock
from tests.bench.generated import PACE, START, turns
from tests.bench.speed import fill


def test_a_million_generated_turns_of_one_space_lie_in_the_past(tmp_path: Path) -> None:
    """A log takes nothing that is after now: a home of a million turns held 213,000, and contexts were composed of a
    session that was not there."""
    (*_, last) = turns(1_000, 1)
    assert last.at == START + 999 * PACE
    assert wall_clock() > START + 1_000_000 * PACE


def test_a_home_that_a_benchmark_fills_holds_all_of_the_talk_or_the_benchmark_fails(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.sqlite")
    said = list(turns(3, 1))
    fill(log, said)
    assert log.end(0) == 3
    fill(log, said)  # known already
    said[1].id, said[1].at = "late", wall_clock() + 3600 * SECOND
    with pytest.raises(ValueError, match=r"late: .* after now"):
        fill(log, said)
    log.close()
