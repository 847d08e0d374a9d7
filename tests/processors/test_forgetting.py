"""Forgetting, told by what was shown and marked: how long memories last, and which are no longer offered."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

from processors.forgetting import PROCESSOR, ForgettingParams, RetentionChanged, forgotten, retention, stability
from streams.core.driver import fold
from streams.core.events import (
    DAY,
    HOUR,
    MINUTE,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    Outside,
    TurnRecorded,
)

PARAMS = ForgettingParams()


def shown(at: int, *turns: str) -> MemoryRecalled:
    return MemoryRecalled("space", f"r{at}", at, "cue", list(turns or "t"))


def flag(importance: str = "high") -> ImportanceFlagged:
    return ImportanceFlagged("space", "f", 0, "s", "t", importance)  # type: ignore[arg-type]


def pin(pinned: bool = True) -> MemoryPinned:
    return MemoryPinned("space", "p", 0, "t", pinned)


def reward(value: float) -> MemoryRewarded:
    return MemoryRewarded("space", "w", 0, ["t"], value)


def last(*events: Outside, **params: Any) -> RetentionChanged | None:
    rows = fold([PROCESSOR], events, {"forgetting": ForgettingParams(**params)})
    found = [row.event for row in rows if isinstance(row.event, RetentionChanged) and row.event.turn == "t"]
    return found[-1] if found else None


def left(*events: Outside, days: float = 3) -> float:
    return retention(PARAMS, last(*events), "episodic", 0, int(days * DAY))


def test_a_mere_turn_makes_no_event() -> None:
    assert fold([PROCESSOR], [TurnRecorded("space", "t", 0, "s", "ann", "user", "hello")]) == []


def test_an_untouched_memory_fades_exponentially_by_its_type() -> None:
    assert retention(PARAMS, None, "episodic", 0, DAY) == pytest.approx(exp(-1))
    assert retention(PARAMS, None, "semantic", 0, 5 * DAY) == pytest.approx(exp(-1))
    assert retention(PARAMS, None, "procedural", 0, 10 * DAY) == pytest.approx(exp(-1))


def test_all_is_retained_at_and_before_the_creation() -> None:
    assert retention(PARAMS, None, "episodic", DAY, DAY) == retention(PARAMS, None, "episodic", DAY, 0) == 1


def test_a_retrieval_starts_anew_and_makes_the_memory_a_tenth_more_stable() -> None:
    record = last(shown(2 * DAY))
    assert stability(PARAMS, record, "episodic") == pytest.approx(1.1)
    assert retention(PARAMS, record, "episodic", 0, 3 * DAY) == pytest.approx(exp(-1 / 1.1))


def test_repetitions_within_the_hour_add_nothing_and_say_nothing() -> None:
    massed = [shown(DAY + n * MINUTE) for n in range(60)]
    assert len(fold([PROCESSOR], massed)) == 1
    assert len(fold([PROCESSOR], [shown(DAY), shown(DAY + HOUR)])) == 2


def test_spaced_retrievals_outlast_massed_ones() -> None:
    massed = last(*(shown(n * MINUTE) for n in range(10)))
    spaced = last(*(shown(n * DAY) for n in range(10)))
    assert massed is not None
    assert spaced is not None
    assert massed.growth == 1.1
    assert spaced.growth == pytest.approx(1.1**10, abs=1e-5)


def test_stability_is_bounded_however_often_a_memory_is_shown() -> None:
    record = last(*(shown(n * HOUR) for n in range(1000)))
    assert stability(PARAMS, record, "episodic") == 100


def test_a_late_event_does_not_turn_a_memorys_clock_back() -> None:
    record = last(shown(2 * DAY), shown(DAY))
    assert record is not None
    assert (record.at, record.recalled, record.growth) == (2 * DAY, 2 * DAY, 1.1)


def test_a_flag_doubles_stability_until_it_is_taken_back() -> None:
    assert left(flag()) == pytest.approx(exp(-1.5))
    assert left(flag(), flag("normal")) == left()


def test_rewards_prolong_and_shorten() -> None:
    assert left(reward(1)) > left() > left(reward(-1))
    assert stability(PARAMS, last(*(reward(-1) for _ in range(50))), "episodic") == pytest.approx(0.5, abs=1e-5)


def test_a_pinned_memory_does_not_fade_until_it_is_unpinned() -> None:
    assert left(pin(), days=1000) == 1
    assert left(pin(), pin(False), days=1000) == left(days=1000)


def test_what_is_faded_is_forgotten_and_what_is_pinned_or_flagged_is_not() -> None:
    def gone(*events: Outside, days: int = 300) -> bool:
        return forgotten(PARAMS, last(*events), "episodic", 0, days * DAY)

    assert not gone(days=4)
    assert gone(days=5)
    assert not gone(pin())
    assert not gone(flag())
    assert gone(flag(), flag("normal"))


def test_nothing_is_forgotten_where_the_threshold_is_zero() -> None:
    assert not forgotten(ForgettingParams(forgotten_below=0), None, "episodic", 0, 10_000 * DAY)


def test_preferences_of_a_week_ago_are_there_when_the_small_talk_around_them_is_gone() -> None:
    assert not forgotten(PARAMS, None, "semantic", 0, 7 * DAY)
    assert forgotten(PARAMS, None, "episodic", 0, 7 * DAY)
