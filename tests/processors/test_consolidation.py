"""Consolidation, told by turns, requests and days: how traces pass on, and what is replayed when."""

from __future__ import annotations

from typing import Any

import pytest

from processors.consolidation import (
    PROCESSOR,
    ConsolidationParams,
    ConsolidationRan,
    MemoryConsolidated,
    Sample,
    faded,
    traces,
    weight,
)
from streams.core.driver import fold
from streams.core.events import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    ClockTicked,
    ConsolidationRequested,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRewarded,
    NoteTaken,
    Outside,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.processor import Derived
from tests.laws import laws
from tests.steps import Steps

PARAMS = ConsolidationParams()
START = 1_769_990_400 * SECOND // DAY * DAY


def turn(at: int, id: str = "", role: str = "user", content: str = "hello") -> TurnRecorded:
    return TurnRecorded("space", id or f"t{at}", at, "s", "ann", role, content)  # type: ignore[arg-type]


def request(at: int) -> ConsolidationRequested:
    return ConsolidationRequested("space", f"c{at}", at, "s")


def derive(*events: Outside, every: float = 0, **params: Any) -> list[Derived]:
    rows = fold([PROCESSOR], events, {"consolidation": ConsolidationParams(every=every, **params)})
    return [row.event for row in rows]


def runs(derived: list[Derived]) -> list[ConsolidationRan]:
    return [event for event in derived if isinstance(event, ConsolidationRan)]


def last(derived: list[Derived], turn: str = "t") -> MemoryConsolidated | None:
    found = [event for event in derived if isinstance(event, MemoryConsolidated) and event.turn == turn]
    return found[-1] if found else None


def integrated(
    params: ConsolidationParams, r1: float, r2: float, days: float, steps: int = 20_000
) -> tuple[float, float]:
    """Both traces by the midpoint rule."""
    dt = days / steps
    for _ in range(steps):
        m1, m2 = r1 - params.fast * r1 * dt / 2, r2 + (params.alpha * r1 - params.slow * r2) * dt / 2
        r1, r2 = r1 - params.fast * m1 * dt, r2 + (params.alpha * m1 - params.slow * m2) * dt
    return r1, r2


@pytest.mark.parametrize(
    "params", [PARAMS, ConsolidationParams(fast=0.05, slow=0.05), ConsolidationParams(fast=0.01, slow=0.2)]
)
@pytest.mark.parametrize("days", [0.5, 7, 90])
def test_the_closed_form_equals_numerical_integration(params: ConsolidationParams, days: float) -> None:
    assert faded(params, 1.0, 0.3, days) == pytest.approx(integrated(params, 1.0, 0.3, days), abs=1e-6)


def test_two_steps_of_the_closed_form_equal_one() -> None:
    assert faded(PARAMS, *faded(PARAMS, 1.0, 0.0, 3), 8) == pytest.approx(faded(PARAMS, 1.0, 0.0, 11))


def test_the_slow_trace_of_an_untouched_memory_rises_while_the_fast_one_fades_and_outlives_it() -> None:
    (young1, young2), (old1, old2) = (traces(PARAMS, None, 0, days * DAY) for days in (1, 30))
    assert young1 > old1
    assert young2 < old2
    assert old2 > old1
    assert traces(PARAMS, None, DAY, 0) == (1, 0)


def test_a_request_replays_a_memory_and_its_fast_trace_is_renewed() -> None:
    derived = derive(turn(0, "t"), request(HOUR))
    record = last(derived)
    assert record is not None
    assert (record.cause, record.at, record.r1, record.r2, record.replays) == ("requested", HOUR, 0.2, 0.0, 1)
    assert runs(derived) == [ConsolidationRan("space", "s", HOUR, "requested", 1, 1, 0, 0)]


def test_a_replayed_memory_has_the_traces_of_its_age_and_those_of_its_replays() -> None:
    record = last(derive(turn(0, "t"), request(DAY), request(3 * DAY)))
    assert record is not None
    r1, r2 = faded(PARAMS, 0.2, 0, 2)
    assert (record.r1, record.r2) == pytest.approx((r1 + 0.2 * (1 - r1), r2), abs=1e-6)
    own, added = faded(PARAMS, 1, 0, 13), faded(PARAMS, record.r1, record.r2, 10)
    assert traces(PARAMS, record, 0, 13 * DAY) == pytest.approx((own[0] + added[0], own[1] + added[1]))


def test_a_thousand_requests_renew_a_trace_no_more_than_wholly() -> None:
    record = last(derive(turn(0, "t"), *(request(n * SECOND) for n in range(1000))))
    assert record is not None
    assert 0.99 < record.r1 <= 1


def test_a_batch_interleaves_memories_of_all_ages() -> None:
    old, week, today = ([turn(START + d * DAY + n * MINUTE) for n in range(40)] for d in (0, 27, 30))
    derived = derive(*old, *week, *today, request(START + 30 * DAY + HOUR))
    assert [(ran.fresh, ran.week, ran.older) for ran in runs(derived)] == [(10, 6, 4)]
    ages = [(START + 30 * DAY + HOUR - int(e.turn[1:])) // DAY for e in derived if isinstance(e, MemoryConsolidated)]
    assert sorted(ages) == [0] * 10 + [3] * 6 + [30] * 4


def test_a_batch_is_no_greater_whatever_its_shares_add_up_to() -> None:
    turns = [turn(START + n * HOUR // 2, f"t{n}") for n in range(400)]
    derived = derive(*turns, request(START + 200 * HOUR), fresh=0.8, week=1, batch=10, sample=16)
    assert [(run.fresh, run.week, run.older) for run in runs(derived)] == [(8, 2, 0)]


def test_other_runs_replay_others() -> None:
    turns = [turn(START + n * MINUTE) for n in range(100)]
    derived = derive(*turns, *(request(START + 2 * HOUR + n) for n in range(8)))
    assert len({event.turn for event in derived if isinstance(event, MemoryConsolidated)}) == 12


def test_consolidation_is_scheduled_and_dated_at_its_deadline() -> None:
    derived = derive(turn(0, "t"), turn(8 * DAY), every=7)
    assert [(ran.at, ran.cause, ran.fresh, ran.older) for ran in runs(derived)] == [(7 * DAY, "scheduled", 0, 0)]
    record = last(derived)
    assert record is not None
    assert (record.at, record.cause) == (7 * DAY, "scheduled")


def test_a_long_pause_brings_one_consolidation_and_the_next_one_falls_due_after_it() -> None:
    found = runs(derive(turn(0), turn(100 * DAY), turn(100 * DAY + 1), turn(106 * DAY), every=7))
    assert [ran.at for ran in found] == [7 * DAY, 105 * DAY]


def test_where_every_is_zero_nothing_is_scheduled() -> None:
    assert derive(turn(0), turn(1000 * DAY)) == []


def test_what_a_deadline_brings_about_does_not_depend_on_what_reveals_it() -> None:
    events = [turn(n * HOUR) for n in range(48)]
    late = 30 * DAY
    revealers: list[Outside] = [
        ClockTicked("space", "x", late),
        turn(late),
        NoteTaken("space", "x", late, "n", "milk"),
        request(late),
    ]
    laws.dated_at_deadline(laws.together([PROCESSOR]), laws.log_of(events), revealers)


def test_marks_weigh_in_hindsight() -> None:
    flag, pin = ImportanceFlagged("space", "f", DAY, "s", "t"), MemoryPinned("space", "p", DAY, "t")
    good, bad = (MemoryRewarded("space", "w", DAY, ["t"], reward) for reward in (1.0, -1.0))
    weights = [weight(PARAMS, last(derive(turn(0, "t"), *marks))) for marks in ([], [flag], [flag, pin], [good], [bad])]
    assert weights == [1, 2, 3, 1.3, 0.7]
    assert traces(PARAMS, last(derive(turn(0, "t"), flag)), 0, 0) == (2, 0)


def test_marks_can_be_taken_back() -> None:
    pins = [MemoryPinned("space", f"p{n}", DAY, "t", bool(1 - n)) for n in range(2)]
    assert weight(PARAMS, last(derive(turn(0, "t"), *pins))) == 1


def test_of_many_turns_the_marked_ones_are_replayed_more() -> None:
    turns = [turn(START + n * SECOND) for n in range(400)]
    marked = [f"t{START + n * SECOND}" for n in range(0, 400, 40)]
    flags = [ImportanceFlagged("space", f"f{n}", START + HOUR, "s", id) for n, id in enumerate(marked)]
    pins = [MemoryPinned("space", f"p{n}", START + HOUR, id) for n, id in enumerate(marked)]
    asked = [request(START + 2 * HOUR + n) for n in range(20)]

    def replays(*events: Outside) -> int:
        return sum(
            isinstance(e, MemoryConsolidated) and e.turn in marked and e.cause == "requested" for e in derive(*events)
        )

    assert replays(*turns, *flags, *pins, *asked) > 2 * replays(*turns, *asked)


def test_tools_systems_and_empty_turns_are_not_replayed() -> None:
    derived = derive(turn(0, "a", "tool"), turn(1, "b", "system"), turn(2, "c", content=""), request(HOUR))
    assert derived == [ConsolidationRan("space", "s", HOUR, "requested", 1, 0, 0, 0)]


def test_a_retracted_turn_is_not_replayed() -> None:
    derived = derive(turn(0, "t"), TurnRetracted("space", "x", 1, "s", "t"), request(HOUR))
    assert [event for event in derived if isinstance(event, MemoryConsolidated)] == []


@pytest.mark.parametrize(
    "mark",
    [
        MemoryRewarded("space", "m", 2, ["t"], -1.0), MemoryPinned("space", "m", 2, "t"),
        ImportanceFlagged("space", "m", 2, "s", "t", "high"),
    ],
)  # fmt: skip
def test_a_retracted_turn_is_not_replayed_whatever_is_said_of_it(mark: Outside) -> None:
    gone = TurnRetracted("space", "x", 1, "s", "t")
    for said in ([turn(0, "t"), gone, mark], [gone, turn(0, "t"), mark]):
        derived = derive(*said, request(HOUR))
        assert [event for event in derived if isinstance(event, MemoryConsolidated)] == []


def test_a_late_request_does_not_turn_the_clock_back() -> None:
    derived = derive(turn(0, "t"), request(2 * DAY), request(DAY))
    assert [event.at for event in derived] == [2 * DAY] * 4


def test_few_turns_of_a_busy_day_are_written_down() -> None:
    space, written = Steps(PROCESSOR), 0
    for n in range(5000):
        space.give(turn(START + n * SECOND))
        written += bool(list(space.state.changes()))
    assert written < 150


def test_a_sample_holds_the_least_hashes_of_its_day() -> None:
    space = Steps(PROCESSOR, sample=4)
    for n in range(500):
        space.give(turn(START + n * SECOND))
    sample = space.state.get(f"day/{START // DAY % 2}", Sample)
    assert sample is not None
    assert sample.keys == sorted(sample.keys)
    assert len(sample.turns) == len(sample.ats) == 4
    assert sample.limit == sample.keys[-1] < 2**32 // 50


def test_records_stay_small_where_ids_are_long() -> None:
    events: list[Outside] = [turn(START + n * SECOND, f"{n}{chr(34) * 190}") for n in range(60)]
    events += [turn(START + n * SECOND, f"{n}{'語' * 190}") for n in range(60)]
    laws.small_steps(laws.together([PROCESSOR]), laws.log_of([*events, request(START + HOUR)]))
