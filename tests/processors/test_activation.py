"""Activation, told by what was shown when: how it rises, fades, and is spread."""

from __future__ import annotations

from math import exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.activation import PROCESSOR, ActivationChanged, ActivationParams, activation, spreading
from streams.core.driver import fold
from streams.core.events import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    Outside,
    TurnRecorded,
)

PARAMS = ActivationParams()
START = 1_770_000_000 * SECOND


def recalled(at: int, *turns: str) -> MemoryRecalled:
    return MemoryRecalled("space", f"r{at}", at, "cue", list(turns))


def last(events: list[Outside], turn: str = "t", **params: Any) -> ActivationChanged | None:
    rows = fold([PROCESSOR], events, {"activation": ActivationParams(**params)})
    found = [row.event for row in rows if isinstance(row.event, ActivationChanged) and row.event.turn == turn]
    return found[-1] if found else None


def now_after(events: list[Outside], days: float = 30, **params: Any) -> float:
    return activation(ActivationParams(**params), last(events, **params), START, START + int(days * DAY))


def test_a_mere_turn_makes_no_event_and_no_state() -> None:
    assert fold([PROCESSOR], [TurnRecorded("space", "t", START, "s", "ann", "user", "hello")]) == []


def test_an_untouched_memory_fades_with_the_square_root_of_its_age() -> None:
    assert activation(PARAMS, None, START, START + 100 * MINUTE) == pytest.approx(-0.5 * log(6000))
    assert activation(PARAMS, None, START, START + 400 * MINUTE) == pytest.approx(-0.5 * log(24_000))


def test_times_below_the_floor_and_before_the_creation_count_as_the_floor() -> None:
    floor = -0.5 * log(60)
    assert activation(PARAMS, None, START, START) == pytest.approx(floor)
    assert activation(PARAMS, None, START, START - DAY) == pytest.approx(floor)


def test_being_shown_adds_an_access() -> None:
    shown = last([recalled(START + DAY, "t")])
    expected = log((2 * 86_400) ** -0.5 + 86_400**-0.5)
    assert activation(PARAMS, shown, START, START + 2 * DAY) == pytest.approx(expected)


def test_what_is_shown_often_and_lately_is_more_present_than_what_is_shown_seldom_or_long_ago() -> None:
    often = now_after([recalled(START + n * DAY, "t") for n in range(1, 20)])
    once = now_after([recalled(START + 19 * DAY, "t")])
    long_ago = now_after([recalled(START + DAY, "t")])
    assert often > once > long_ago > now_after([])


def test_one_sitting_is_one_access_dated_at_its_end() -> None:
    sitting = last([recalled(START + DAY + n * MINUTE, "t") for n in range(30)])
    assert sitting is not None
    assert (sitting.count, sitting.recent) == (1, [START + DAY + 29 * MINUTE])


def test_a_thousand_repetitions_in_a_sitting_weigh_no_more_than_one() -> None:
    begun = START + 29 * DAY
    many = now_after([recalled(begun + n * SECOND, "t") for n in range(1000)])
    assert many == pytest.approx(now_after([recalled(begun + 999 * SECOND, "t")]))


def test_a_turn_named_twice_in_one_answer_is_shown_once() -> None:
    assert len(fold([PROCESSOR], [recalled(START, "t", "t", "u")])) == 2


def test_older_accesses_are_kept_as_a_count_and_the_closed_form_comes_close_to_the_exact_sum() -> None:
    events: list[Outside] = [recalled(START + n * 5 * HOUR, "t") for n in range(1, 101)]
    record = last(events)
    assert record is not None
    assert (record.count, len(record.recent), record.first) == (100, 8, START + 5 * HOUR)
    now = START + 100 * 5 * HOUR + DAY
    exact = log(sum(((now - at) / SECOND) ** -0.5 for at in (START, *(e.at for e in events))))
    assert activation(PARAMS, record, START, now) == pytest.approx(exact, abs=0.01)


def test_marks_add_what_their_parameters_say_and_can_be_taken_back() -> None:
    flag, pin = ImportanceFlagged("space", "f", START, "s", "t"), MemoryPinned("space", "p", START, "t")
    assert now_after([flag]) - now_after([]) == pytest.approx(1)
    assert now_after([pin]) - now_after([]) == pytest.approx(2)
    assert now_after([pin, MemoryPinned("space", "q", START, "t", False)]) == now_after([])
    assert now_after([flag, ImportanceFlagged("space", "g", START, "s", "t", "normal")]) == now_after([])


def test_rewards_move_activation_up_and_down() -> None:
    good, bad = (MemoryRewarded("space", "w", START, ["t"], reward) for reward in (1.0, -1.0))
    assert now_after([good]) - now_after([]) == pytest.approx(0.3)
    assert now_after([bad]) - now_after([]) == pytest.approx(-0.3)


def test_a_late_event_does_not_turn_a_memorys_clock_back() -> None:
    record = last([recalled(START + DAY, "t"), recalled(START, "t")])
    assert record is not None
    assert (record.at, record.recent) == (START + DAY, [START + DAY])


def test_activation_spreads_over_links_in_both_directions() -> None:
    links = {("a", "b"): 0.5, ("c", "a"): 1.0}
    s = 2 - log(3)
    assert spreading(PARAMS, {"a": 1.0}, links) == pytest.approx({"b": 0.5 * s, "c": s})


def test_sources_share_the_attention() -> None:
    found = spreading(PARAMS, {"a": 3.0, "b": 1.0}, {("a", "x"): 1.0, ("b", "y"): 1.0})
    assert found == pytest.approx({"x": 0.75 * (2 - log(2)), "y": 0.25 * (2 - log(2))})


def test_what_is_linked_to_everything_primes_nothing() -> None:
    assert set(spreading(PARAMS, {"hub": 1.0}, {("hub", f"t{n}"): 1.0 for n in range(10)}).values()) == {0.0}


def test_without_a_source_nothing_spreads() -> None:
    assert spreading(PARAMS, {}, {("a", "b"): 1.0}) == {}
    assert spreading(PARAMS, {"a": 0.0}, {("a", "b"): 1.0}) == {}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 10), max_size=6),
    st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), st.floats(0, 1), max_size=20),
)
def test_no_turn_is_given_more_than_attention_times_association(
    sources: dict[str, float], links: dict[tuple[str, str], float]
) -> None:
    once = {(a, b): s for (a, b), s in links.items() if a < b}
    assert all(0 <= added <= 2 + 1e-9 for added in spreading(PARAMS, sources, once).values())


def test_old_and_needed_beats_recent_and_never_used() -> None:
    used = last([recalled(START + n * DAY, "t") for n in range(1, 15)])
    now = START + 30 * DAY
    assert activation(PARAMS, used, START, now) > activation(PARAMS, None, now - 2 * DAY, now)
    assert exp(activation(PARAMS, used, START, now)) > 0
