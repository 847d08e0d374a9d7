"""The seven laws over every registered processor, each with a planted violation that it catches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors import PROCESSORS
from streams.driver import Driver, Row, fold
from streams.events import DAY, ClockTicked, NoteTaken, TurnRecorded
from streams.processor import ROOT, Params, Processor, State, derived_id
from streams.text import FactRead, TurnRead
from tests.laws import laws
from tests.laws.histories import START, Move, histories, long_talk, outside

thorough = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@given(histories)
@thorough
def test_two_folds_of_a_log_give_identical_bytes(history: list[Move]) -> None:
    laws.pure(PROCESSORS, outside(history))


def test_folds_in_processes_with_other_hash_seeds_give_identical_bytes() -> None:
    program = (
        "from processors import PROCESSORS\n"
        "from tests.laws import laws\n"
        "from tests.laws.histories import long_talk, outside\n"
        "print(laws.digest(PROCESSORS, outside(long_talk(400))))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


@given(histories, st.integers(0, 60))
@thorough
def test_a_fold_cut_anywhere_and_resumed_from_saved_state_equals_the_whole(history: list[Move], cut: int) -> None:
    laws.resumable(PROCESSORS, outside(history), min(cut, len(history)))


@given(histories)
@thorough
def test_redelivered_events_change_nothing(history: list[Move]) -> None:
    laws.idempotent(PROCESSORS, outside(history))


@given(histories)
@thorough
def test_derived_events_are_of_named_types_in_their_own_space_and_rounded(history: list[Move]) -> None:
    laws.well_formed(PROCESSORS, outside(history))


@given(histories)
@thorough
def test_writes_per_event_and_records_are_small(history: list[Move]) -> None:
    laws.small_steps(PROCESSORS, outside(history))


def test_records_stay_small_in_a_long_conversation() -> None:
    laws.small_steps(PROCESSORS, outside(long_talk(6000)))


def test_work_per_event_does_not_grow_with_history() -> None:
    laws.level_work(PROCESSORS, outside(long_talk(12_000)))


@given(histories, st.integers(1, 40))
@thorough
def test_effects_of_deadlines_are_dated_at_the_deadline_whatever_reveals_them(history: list[Move], days: int) -> None:
    events = outside(history)
    late = max(event.at for event in events) + days * DAY
    revealers = [
        ClockTicked("s0", "late", late),
        TurnRecorded("s0", "late", late, "elsewhere", "ann", "user", "hm"),
        NoteTaken("s0", "late", late, "another", "water the ficus", ttl="low"),
    ]
    laws.dated_at_deadline(PROCESSORS, events, late, revealers)


@given(histories)
@thorough
def test_the_events_of_a_space_depend_on_no_other_space(history: list[Move]) -> None:
    laws.separate(PROCESSORS, outside(history))


def test_the_grammar_makes_every_derived_event_occur_often() -> None:
    counted: Counter[type] = Counter()

    @given(histories)
    @settings(max_examples=300, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def count(history: list[Move]) -> None:
        counted.update({type(row.event) for row in fold(PROCESSORS, outside(history))})

    count()
    counted.update(type(row.event) for row in fold(PROCESSORS, outside(long_talk(2000))))
    rare = {cls.__name__ for p in PROCESSORS for cls in p.emits if counted[cls] < 3}
    assert rare == set()


# -- planted violations ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Planted:
    """What the planted processors derive."""

    space: str
    session: str
    at: int
    word: str
    number: float = 0.0
    type: Literal["planted.v1"] = "planted.v1"


@dataclass(slots=True)
class Memo:
    """Their state."""

    items: list[str] = field(default_factory=list)
    count: int = 0


def plant(step: Any) -> tuple[Processor[Any], ...]:
    """A tree of one processor."""
    return (Processor("planted", 1, ROOT, Params, (Planted,), step),)


def at_of(event: Any) -> tuple[str, int]:
    inner = event.turn if isinstance(event, TurnRead) else event.fact
    return inner.space, inner.at


SOME = outside(
    [Move("work", n % 6, n % 2) for n in range(30)] + [Move("note", 1, 0, back=2), Move("note", 2, 0, back=2)]
)


def test_an_impure_step_is_caught() -> None:
    calls = []

    def step(params: Params, state: State, event: Any) -> list[Planted]:
        calls.append(1)
        return [Planted(*_place(event), str(len(calls)))]

    with pytest.raises(AssertionError):
        laws.pure(plant(step), SOME)


def _place(event: Any) -> tuple[str, str, int]:
    space, at = at_of(event)
    return space, "", at


def test_a_step_that_forgets_to_put_its_record_is_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        memo = state.get("memo", Memo)
        if memo is None:
            memo = Memo()
            state.put("memo", memo)
        memo.count += 1
        return [Planted(*_place(event), str(memo.count))]

    with pytest.raises(AssertionError):
        laws.resumable(plant(step), SOME, 10)


def test_an_index_that_differs_when_rebuilt_is_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        seen = state.index(_nothing)
        seen.append(1)
        return [Planted(*_place(event), str(len(seen)))]

    with pytest.raises(AssertionError):
        laws.resumable(plant(step), SOME, 10)


def _nothing(state: State) -> list[int]:
    return []


def test_a_driver_that_folds_redelivered_events_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        return [Planted(*_place(event), "again")]

    right = Driver.step

    def forgetful(driver: Driver, *arguments: Any) -> Any:
        driver.marks.clear()
        return right(driver, *arguments)

    monkeypatch.setattr(Driver, "step", forgetful)
    with pytest.raises(AssertionError):
        laws.idempotent(plant(step), SOME)


def test_a_number_that_is_not_rounded_is_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        return [Planted(*_place(event), "third", 1 / 3)]

    with pytest.raises(AssertionError):
        laws.well_formed(plant(step), SOME)


def test_a_record_that_grows_with_history_is_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        memo = state.get("memo", Memo) or Memo()
        memo.items.append("x" * 60)
        state.put("memo", memo)
        return []

    with pytest.raises(AssertionError, match="bytes at memo"):
        laws.small_steps(plant(step), outside(long_talk(600)))


def test_too_many_writes_at_one_event_are_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        for n in range(65):
            state.put(f"memo/{n}", Memo())
        return []

    with pytest.raises(AssertionError, match="wrote 65 records"):
        laws.small_steps(plant(step), SOME)


def test_work_that_grows_with_history_is_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        found = state.scan("memo/", Memo)
        state.put(f"memo/{len(found):06d}", Memo())
        return []

    with pytest.raises(AssertionError, match="lines per event"):
        laws.level_work(plant(step), outside(long_talk(2000)))


def test_an_effect_dated_when_it_was_revealed_is_caught() -> None:
    def step(params: Params, state: State, event: Any) -> list[Planted]:
        if isinstance(event, FactRead) and isinstance(event.fact, NoteTaken):
            state.put("memo", Memo(count=event.fact.at))
        memo = state.get("memo", Memo)
        space, at = at_of(event)
        reveals = memo is not None and at > memo.count + DAY
        return [Planted(space, "", at - (isinstance(event, TurnRead)), "late")] if reveals else []

    late = START + 40 * DAY
    revealers = [ClockTicked("s0", "x", late), TurnRecorded("s0", "x", late, "c", "ann", "user", "hm")]
    with pytest.raises(AssertionError):
        laws.dated_at_deadline(plant(step), SOME, late, revealers)


def test_a_step_that_lets_spaces_meet_is_caught() -> None:
    shared: list[str] = []

    def step(params: Params, state: State, event: Any) -> list[Planted]:
        space, at = at_of(event)
        shared.append(space)
        return [Planted(space, "", at, str(len(set(shared[-2:]))))]

    with pytest.raises(AssertionError):
        laws.separate(plant(step), SOME)


def test_derived_ids_tell_kinds_spaces_turns_and_ordinals_apart() -> None:
    ids = {derived_id(k, s, t, n) for k in ("segment", "effort") for s in "ab" for t in "xy" for n in (0, 1)}
    assert len(ids) == 16
    assert derived_id("segment", "a", "x") == derived_id("segment", "a", "x", 0)


def test_rows_tell_where_they_come_from() -> None:
    rows: list[Row] = fold(PROCESSORS, SOME[:1])
    assert {row.position.offset for row in rows} == {0}
    assert len({(row.position, type(row.event)) for row in rows}) == len(rows)
