"""Law 6: what time it is in a space, and when the live runtime must say so."""

from __future__ import annotations

import pytest

from streams.core.clock import DUE, Clock, Deadlines
from streams.core.driver import as_raw
from streams.core.events import MINUTE, TurnRecorded

NOON = 1_770_000_000_000_000


def key(at: int, name: str = "note") -> str:
    return f"{DUE}{at:020}/{name}"


def everywhere(space: str) -> bool:
    return True


def test_now_is_the_greatest_time_seen_and_each_event_is_told_it() -> None:
    clock = Clock()
    raws = [as_raw(TurnRecorded("s", str(n), at, "t", "ann", "user", "hi"), at) for n, at in enumerate((5, 9, 7))]
    for raw in raws:
        clock.strike(raw, raw.event.at, True)
    assert [raw.now for raw in raws] == [5, 9, 9]


@pytest.mark.parametrize(("late", "live"), [(0, True), (5 * MINUTE, True), (5 * MINUTE + 1, False), (-MINUTE, True)])
def test_a_space_is_live_while_its_newest_turn_was_recorded_within_five_minutes(late: int, live: bool) -> None:
    clock = Clock()
    raw = as_raw(TurnRecorded("s", "t", NOON, "t", "ann", "user", "hi"), NOON + late)
    clock.strike(raw, NOON, True)
    assert clock.live == live


def test_what_is_no_turn_tells_nothing_of_being_live() -> None:
    clock = Clock(NOON, True)
    raw = as_raw(TurnRecorded("s", "t", NOON, "t", "ann", "user", "hi"), NOON + 60 * MINUTE)
    assert not clock.strike(raw, NOON, False)
    assert clock.live


def test_a_tick_comes_when_the_deadline_passes_dated_at_it_and_once() -> None:
    deadlines = Deadlines({"a": key(NOON)})
    assert deadlines.passed(NOON - 1, everywhere) == []
    (tick,) = deadlines.passed(NOON + MINUTE, everywhere)
    assert (tick.space, tick.at) == ("a", NOON)
    deadlines.note("a", key(NOON))
    assert deadlines.passed(NOON + MINUTE, everywhere) == []


def test_each_deadline_has_a_tick_of_its_own_and_the_same_one_everywhere() -> None:
    one, other = Deadlines({"a": key(NOON), "b": key(NOON)}), Deadlines({"a": key(NOON)})
    first = {tick.space: tick.id for tick in one.passed(NOON, everywhere)}
    assert first["a"] != first["b"]
    assert [tick.id for tick in other.passed(NOON, everywhere)] == [first["a"]]
    one.note("a", key(NOON, "left over"))
    assert [tick.id == first["a"] for tick in one.passed(NOON, everywhere)] == [False]


def test_a_space_that_is_not_live_is_asked_about_again_when_something_was_folded_in_it() -> None:
    deadlines = Deadlines({"a": key(NOON)})
    assert deadlines.passed(NOON, lambda space: False) == []
    assert deadlines.passed(NOON, everywhere) == []
    deadlines.note("a", key(NOON))
    assert len(deadlines.passed(NOON, everywhere)) == 1


def test_a_deadline_that_was_met_asks_for_nothing() -> None:
    deadlines = Deadlines({"a": key(NOON)})
    deadlines.note("a", None)
    assert deadlines.passed(NOON, everywhere) == []
