"""The laws over every registered processor, alone and together, each with planted violations that it catches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from processors import PROCESSORS
from streams.core import recent
from streams.core.clock import DUE, Clock
from streams.core.driver import Driver
from streams.core.events import (
    DAY,
    MINUTE,
    ClockTicked,
    EffortDeclared,
    NoteTaken,
    Outside,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.params import Params
from streams.core.processor import Derived, Processor, Raw, State, on, otherwise
from tests.bench.generated import turns
from tests.laws import laws
from tests.laws.histories import START, Move, histories, long_talk, outside, recorded, wide

thorough = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def logged(history: list[Move]) -> laws.Log:
    """With what processors make of it, for those that are folded alone."""
    return laws.log_of(outside(history), PROCESSORS)


def said(history: list[Move]) -> laws.Log:
    """The events alone: all that is needed where all processors are folded, or planted ones."""
    return laws.log_of(outside(history))


@cache
def wide_steps() -> list[laws.Stepped]:
    """A history of hundreds of sessions, people, files, efforts and notes in one space, folded once for all laws that
    look at what came of each event."""
    return [*laws.steps(laws.together(PROCESSORS), said(wide(6000)))]


@cache
def wide_log() -> laws.Log:
    """That history, with what processors make of it."""
    return [step.entry for step in wide_steps()]


def over(law: Callable[..., None], log: laws.Log, *more: Any) -> None:
    """Holds all processors to a law, together and each alone."""
    for subject in laws.everyone(PROCESSORS):
        try:
            law(subject, log, *more)
        except AssertionError as broken:
            broken.add_note(f"folded: {subject.name}")
            raise


@given(histories)
@thorough
def test_two_folds_of_a_log_give_identical_bytes(history: list[Move]) -> None:
    over(laws.pure, logged(history))


@given(histories)
@thorough
def test_no_event_changes_once_it_is_told(history: list[Move]) -> None:
    over(laws.immutable, logged(history))


def test_folds_in_processes_with_other_hash_seeds_give_identical_bytes() -> None:
    program = (
        "from processors import PROCESSORS\n"
        "from tests.laws import laws\n"
        "from tests.laws.histories import outside, wide\n"
        "print(laws.digest(laws.together(PROCESSORS), laws.log_of(outside(wide(900, backlog=50)))))"
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
        for seed in ("1", "2")
    }
    assert len(found) == 1


@given(histories, st.sets(st.integers(0, 60), max_size=4))
@thorough
def test_a_fold_cut_anywhere_and_resumed_from_saved_state_equals_the_whole(history: list[Move], cuts: set[int]) -> None:
    over(laws.resumable, logged(history), cuts)


def test_a_wide_fold_cut_and_resumed_equals_the_whole() -> None:
    laws.resumable(laws.together(PROCESSORS), wide_log()[:3000], (1000, 1001, 2500))


@given(histories)
@thorough
def test_a_record_that_an_event_changes_is_saved_with_it(history: list[Move]) -> None:
    laws.saved_whole(laws.together(PROCESSORS), said(history))


def test_a_record_that_an_event_of_a_wide_history_changes_is_saved_with_it() -> None:
    laws.saved_whole(laws.together(PROCESSORS), wide_log()[:1500], every=5)


def test_a_record_is_read_back_as_it_was_put() -> None:
    laws.readable(laws.together(PROCESSORS), wide_log()[:2000])


STILL_SAYING = ("network", "direct_access")
"""They tell once more that what a turn said is current, before they tell that it was retracted."""


@given(histories)
@example([Move("open"), Move("fixed", gap=8 * DAY), Move("retract")])  # all that a segment was, and concluded it
@example([Move("open"), Move("remind"), Move("end"), Move("retract", back=2)])  # its words stand, in another's order
@thorough
def test_nothing_that_is_derived_later_says_what_a_turn_said_that_was_taken_back(history: list[Move]) -> None:
    laws.forgotten(laws.together(PROCESSORS), said(history), STILL_SAYING)


def test_nothing_that_is_derived_later_in_a_wide_history_says_what_was_taken_back() -> None:
    laws.forgotten_in(wide_steps(), STILL_SAYING)


def test_what_took_the_place_of_a_statement_that_is_taken_back_does_not_say_it() -> None:
    moves = [*[Move("open", gap=0)] * 6, Move("open", 1, 1, gap=0), Move("moved", 0, 1, gap=0)]
    log = said([*moves, Move("retract", 0, 1, gap=0, back=2)])
    laws.forgotten(laws.together(PROCESSORS), log, STILL_SAYING)


def test_a_statement_that_was_replaced_before_it_is_taken_back_is_not_said_again() -> None:
    moves = [Move("states", gap=0), *[Move("open", gap=0)] * 2, *[Move("open", space=1, gap=0)] * 3]
    log = said([*moves, Move("states", 1, gap=0), Move("retract", gap=0, back=4)])
    laws.forgotten(laws.together(PROCESSORS), log, STILL_SAYING)


def test_nothing_says_what_was_taken_back_of_turns_that_are_none_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "RECENT", 3)
    laws.forgotten(laws.together(PROCESSORS), wide_log()[:3000], STILL_SAYING)


def test_little_is_kept_of_turns_that_are_none_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "RECENT", 64)
    subject = laws.together(PROCESSORS)
    driver = subject.driver()
    laws.feed(subject, driver, [laws.Entry(raw, {}) for raw in recorded([*turns(2000, 1)])])
    [saved] = laws.save(driver, {}).values()
    assert sum(key.startswith("said/") for key in saved["compression"]) == 64
    assert sum(key.startswith("filed/") for key in saved["manifest"]) < 600, "of those that are quoted"


@given(histories)
@thorough
def test_redelivered_events_change_nothing(history: list[Move]) -> None:
    over(laws.idempotent, logged(history))


@given(histories)
@thorough
def test_derived_events_are_of_named_types_in_their_own_space_and_rounded(history: list[Move]) -> None:
    over(laws.well_formed, logged(history))


@given(histories)
@thorough
def test_a_processor_derives_the_same_with_its_ancestors_only_or_with_what_they_made(history: list[Move]) -> None:
    laws.independent(PROCESSORS, logged(history))


def test_a_processor_derives_the_same_in_a_wide_history_whatever_is_folded_beside_it() -> None:
    laws.independent(PROCESSORS, logged(wide(1200, backlog=60)))


@given(histories)
@thorough
def test_writes_per_event_and_records_are_small(history: list[Move]) -> None:
    laws.small_steps(laws.together(PROCESSORS), said(history))


def test_writes_per_event_and_records_stay_small_however_many_sessions_notes_efforts_and_names_there_are() -> None:
    laws.small_in(wide_steps())


def test_records_stay_small_in_a_long_conversation() -> None:
    laws.small_steps(laws.together(PROCESSORS), said(long_talk(4000)))


IDS = ("id", "session", "turn", "note", "reply_to", "agent", "older", "name", "first_turn", "last_turn")


def lengthened(event: Outside) -> Outside:
    """The event with ids and names as long as the edge takes them."""
    values: dict[str, Any] = {f.name: getattr(event, f.name) for f in fields(event)}
    for name, value in values.items():
        if name in IDS and value:
            values[name] = value.ljust(200, "x")
        elif name == "turns":
            values[name] = [turn.ljust(200, "x") for turn in value]
    return type(event)(**values)


def test_records_stay_small_where_ids_are_long() -> None:
    laws.small_steps(laws.together(PROCESSORS), laws.log_of([*map(lengthened, outside(wide(2000, backlog=60)))]))


def test_work_per_event_does_not_grow_with_history() -> None:
    laws.level_work(laws.together(PROCESSORS), wide_log(), each=True)


def many_names(turn: TurnRecorded, n: int) -> TurnRecorded:
    return replace(turn, agent=f"Ag{n}ent", content=f"{turn.content} Then Bo{n}ris asked about file_{n}.py and #{n}.")


SHAPES: dict[str, Callable[[TurnRecorded, int], Outside]] = {
    "ordinary talk": lambda turn, n: turn,
    "replies to one turn": lambda turn, n: replace(turn, reply_to=str(n // 2500 * 2500) if n % 2500 else ""),
    "a clock that runs backwards": lambda turn, n: replace(turn, at=turn.at + 400 * DAY - 3 * n * MINUTE),
    "one session without end": lambda turn, n: replace(turn, session="one"),
    "one sentence again and again": lambda turn, n: replace(
        turn, content=f"The crane in Porto needs oil, look {n % 9}."
    ),
    "new names in each turn": many_names,
    "a file in each turn": lambda turn, n: replace(turn, content="\n".join(f"line {k} of {n % 3}" for k in range(40))),
    "thousands of open notes": lambda turn, n: (
        turn if n > 1200 else NoteTaken(turn.space, turn.id, turn.at, f"n{n}", turn.content, "", 3650 * 86_400)
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_work_per_event_does_not_grow_whatever_the_shape_of_the_talk(shape: str) -> None:
    events = [SHAPES[shape](turn, n) for n, turn in enumerate(turns(5000, 1))]
    laws.level_work(laws.together(PROCESSORS), [laws.Entry(raw, {}) for raw in recorded(events)], window=400)


@given(histories)
@thorough
def test_the_time_in_a_space_never_goes_back(history: list[Move]) -> None:
    over(laws.time_does_not_go_back, logged(history))


@given(histories, st.integers(1, 40))
@thorough
def test_effects_of_deadlines_are_dated_at_the_deadline_whatever_reveals_them(history: list[Move], days: int) -> None:
    log = logged(history)
    late = max(entry.raw.event.at for entry in log) + days * DAY
    over(laws.dated_at_deadline, log, revealing(late))
    for processor in PROCESSORS:
        laws.ticked(laws.alone(PROCESSORS, processor.name), log, revealing(late)[1])


def test_hundreds_of_deadlines_that_passed_together_are_dated_as_if_each_had_been_ticked() -> None:
    log = logged(wide(1500))
    subject = laws.alone(PROCESSORS, "ttl_escalations")
    laws.ticked(subject, log, revealing(log[-1].raw.event.at + 4000 * DAY)[1])


def revealing(late: int) -> list[Outside]:
    """Events of one late time, each of which shows what fell due before."""
    return [
        ClockTicked("s0", "late", late),
        TurnRecorded("s0", "late", late, "elsewhere", "ann", "user", "hm"),
        NoteTaken("s0", "late", late, "another", "water the ficus", ttl="low"),
    ]


@given(histories)
@thorough
def test_the_events_of_a_space_depend_on_no_other_space(history: list[Move]) -> None:
    over(laws.separate, logged(history))


def test_the_grammar_makes_every_derived_event_occur_often() -> None:
    counted = Counter(type(event) for entry in wide_log() for made in entry.made.values() for event in made)
    rare = {cls.__name__: counted[cls] for p in PROCESSORS for cls in p.emits if counted[cls] < 20}
    assert rare == {}


# -- planted violations ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Planted(Derived):
    """What the planted processors derive."""

    word: str
    number: float = 0.0
    type: Literal["planted.v1"] = "planted.v1"


@dataclass(slots=True)
class Copied(Planted):
    """What a planted processor derives from another's."""


@dataclass(slots=True)
class Memo:
    """Their state."""

    items: list[str] = field(default_factory=list)
    count: int = 0


Made = list[Planted]


def plant(step: Any) -> laws.Subject:
    """One processor that takes every outside event."""
    return laws.together([Processor("planted", 1, Params, (otherwise(step),), (Planted,))])


def told(event: Outside, word: str = "", number: float = 0.0) -> Made:
    return [Planted(event.space, "", event.at, word, number)]


SOME = laws.log_of(
    outside([Move("work", n % 6, n % 2) for n in range(30)] + [Move("note", n, 0, back=7 + n) for n in (1, 2)])
)


def test_an_impure_step_is_caught() -> None:
    calls = []

    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        calls.append(1)
        return told(event, str(len(calls)))

    with pytest.raises(AssertionError, match="folds differ"):
        laws.pure(plant(step), SOME)


def test_a_record_within_a_record_is_caught() -> None:
    @dataclass(slots=True)
    class Outer:
        inner: list[object] = field(default_factory=list)

    def step(params: Params, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> list[Derived]:
        state.put("outer/1", Outer([Outer()]))
        return []

    with pytest.raises(AssertionError, match="does not read back"):
        laws.readable(plant(step), SOME)


def test_an_impure_record_is_caught() -> None:
    calls = []

    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        calls.append(1)
        state.put("memo", Memo(count=len(calls)))
        return []

    with pytest.raises(AssertionError, match="other records"):
        laws.pure(plant(step), SOME)


def test_a_step_that_changes_an_event_is_caught() -> None:
    def step(params: Params, state: State, event: Any, raw: Raw[Any]) -> Made:
        event.session = "mine"
        return []

    with pytest.raises(AssertionError, match="an event changed"):
        laws.immutable(plant(step), laws.log_of(outside([Move("work")] * 3)))


def test_a_step_that_goes_on_changing_what_it_told_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        record = state.get("planted", Planted) or told(event)[0]
        record.number += 1
        state.put("planted", record)
        return [record] if record.number == 1 else []

    with pytest.raises(AssertionError, match="changed afterwards"):
        laws.immutable(plant(step), SOME)


def test_a_step_that_forgets_to_put_its_record_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        memo = state.get("memo", Memo)
        if memo is None:
            memo = Memo()
            state.put("memo", memo)
        memo.count += 1
        return told(event, str(memo.count))

    with pytest.raises(AssertionError, match="resumed fold"):
        laws.resumable(plant(step), SOME, [10])
    with pytest.raises(AssertionError, match="memo was changed and not put"):
        laws.saved_whole(plant(step), SOME)


def test_a_step_that_says_what_was_taken_back_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        memo = state.get("memo", Memo) or Memo()
        if isinstance(event, TurnRecorded):
            memo.items = [event.content]
            state.put("memo", memo)
        return told(event, "".join(memo.items)) if isinstance(event, TurnRetracted) else []

    log = said([Move("work"), Move("retract")])
    with pytest.raises(AssertionError, match="says what was taken back"):
        laws.forgotten(plant(step), log)


def test_a_clock_that_is_not_saved_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return told(event, str(raw.now))

    monkeypatch.setattr(Clock, "strike", _unsaved(Clock.strike))
    late = laws.log_of(outside([Move("work"), Move("work"), Move("work", gap=-DAY)]))
    with pytest.raises(AssertionError, match="rebuilt index differs"):
        laws.resumable(plant(step), late, [2])


def _unsaved(strike: Any) -> Any:
    def struck(clock: Clock, *arguments: Any) -> bool:
        strike(clock, *arguments)
        return False

    return struck


def test_an_index_that_differs_when_rebuilt_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        state.index(_nothing).append(1)
        return []

    with pytest.raises(AssertionError, match="rebuilt index differs"):
        laws.resumable(plant(step), SOME, [10])


def _nothing(state: State) -> list[int]:
    return []


def test_a_driver_that_folds_redelivered_events_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return told(event, "again")

    right = Driver.fold

    def forgetful(driver: Driver, *arguments: Any) -> bool:
        driver.marks.clear()
        return right(driver, *arguments)

    monkeypatch.setattr(Driver, "fold", forgetful)
    with pytest.raises(AssertionError, match="redelivered"):
        laws.idempotent(plant(step), SOME)


def test_a_driver_that_remembers_the_last_event_only_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return told(event, "again")

    right = Driver.fold

    def forgetful(driver: Driver, space: str, partition: int, offset: int, *arguments: Any) -> bool:
        if driver.marks.get(partition) != offset:
            driver.marks.clear()
        return right(driver, space, partition, offset, *arguments)

    monkeypatch.setattr(Driver, "fold", forgetful)
    with pytest.raises(AssertionError, match="redelivered"):
        laws.idempotent(plant(step), SOME)


def test_a_number_that_is_not_rounded_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return told(event, "third", 1 / 3)

    with pytest.raises(AssertionError, match="not rounded"):
        laws.well_formed(plant(step), SOME)


def test_an_event_of_a_type_or_space_that_was_not_announced_is_caught() -> None:
    def stray(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return [Copied(event.space, "", event.at, "")]

    def elsewhere(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return [Planted("elsewhere", "", event.at, "")]

    with pytest.raises(AssertionError, match="named by nobody"):
        laws.well_formed(plant(stray), SOME)
    with pytest.raises(AssertionError, match="another space"):
        laws.well_formed(plant(elsewhere), SOME)


def test_processors_that_meet_beside_the_log_are_caught() -> None:
    heard: list[str] = []

    def speak(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        heard.append(raw.event.id)
        return told(event)

    def listen(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        return [Copied(event.space, "", event.at, "heard" if raw.event.id in heard[-1:] else "")]

    pair = [
        Processor("speaking", 1, Params, (otherwise(speak),), (Planted,)),
        Processor("listening", 1, Params, (otherwise(listen),), (Copied,)),
    ]
    with pytest.raises(AssertionError, match="listening, with its ancestors"):
        laws.independent(pair, SOME)


def test_a_processor_that_asks_for_the_state_of_what_it_reads_is_caught() -> None:
    kept: dict[str, State] = {}

    def count(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        kept[event.space] = state
        memo = state.get("memo", Memo) or Memo()
        memo.count += 1
        state.put("memo", memo)
        return told(event)

    def look(params: Params, state: State, event: Planted, raw: Raw[Any]) -> Made:
        memo = kept.pop(event.space, state).get("memo", Memo) or Memo()
        return [Copied(event.space, "", event.at, str(memo.count))]

    pair = [
        Processor("counting", 1, Params, (otherwise(count),), (Planted,)),
        Processor("looking", 1, Params, (on(Planted, look),), (Copied,), reads=("counting",)),
    ]
    with pytest.raises(AssertionError, match="looking, alone"):
        laws.independent(pair, laws.log_of([entry.raw.event for entry in SOME], pair))


def test_a_record_that_grows_with_history_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        memo = state.get("memo", Memo) or Memo()
        memo.items.append("x" * 60)
        state.put("memo", memo)
        return []

    with pytest.raises(AssertionError, match="bytes at memo"):
        laws.small_steps(plant(step), said(long_talk(600)))


def note_of(event: Outside) -> str:
    return event.note if isinstance(event, NoteTaken) else ""


def effort_of(event: Outside) -> str:
    return event.topic if isinstance(event, EffortDeclared) else ""


def session_of(event: Outside) -> str:
    return event.session if isinstance(event, TurnRecorded) else ""


@pytest.mark.parametrize("id_of", [note_of, effort_of, session_of])
def test_a_record_that_grows_with_how_many_there_are_is_caught(id_of: Callable[[Outside], str]) -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        found = id_of(event)
        memo = state.get("memo", Memo) or Memo()
        if found and found not in memo.items:
            memo.items.append(found)
            state.put("memo", memo)
        return []

    # a history that is long, and not wide, does not show it
    laws.small_steps(plant(step), said(long_talk(600)))
    with pytest.raises(AssertionError, match="bytes at memo"):
        laws.small_steps(plant(step), wide_log())


def test_too_many_writes_at_one_event_are_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        for n in range(65):
            state.put(f"memo/{n}", Memo())
        return []

    with pytest.raises(AssertionError, match="wrote 65 records"):
        laws.small_steps(plant(step), SOME)


def test_a_write_for_each_open_note_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        if isinstance(event, NoteTaken):
            state.put(f"note/{event.note}", Memo())
        elif isinstance(event, TurnRecorded):
            for key, memo in state.scan("note/", Memo):
                memo.count += 1
                state.put(key, memo)
        return []

    laws.small_steps(plant(step), said(long_talk(600)))
    with pytest.raises(AssertionError, match="records at one event"):
        laws.small_steps(plant(step), wide_log())


def test_work_that_grows_with_history_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        found = state.scan("memo/", Memo)
        state.put(f"memo/{len(found):06d}", Memo())
        return []

    with pytest.raises(AssertionError, match="lines per event"):
        laws.level_work(plant(step), laws.log_of(outside(long_talk(1000))), 100)


def test_work_that_grows_beside_much_that_does_not_is_caught() -> None:
    def much(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        for _ in range(3000):
            pass
        return []

    def growing(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        found = state.scan("memo/", Memo)
        if raw.event.id.endswith("0"):
            state.put(f"memo/{len(found):06d}", Memo())
        return []

    pair = laws.together(
        [
            Processor("much", 1, Params, (otherwise(much),), (Planted,)),
            Processor("growing", 1, Params, (otherwise(growing),), (Copied,)),
        ]
    )
    log = laws.log_of(outside(long_talk(1000)))
    laws.level_work(pair, log, 100)
    with pytest.raises(AssertionError, match="lines of growing per event"):
        laws.level_work(pair, log, 100, each=True)


def test_a_scan_of_all_that_was_ever_begun_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        if isinstance(event, TurnRecorded):
            if state.get(f"session/{event.session}", Memo) is None:
                state.put(f"session/{event.session}", Memo())
            return told(event, str(max(memo.count for _, memo in state.scan("session/", Memo))))
        return []

    laws.level_work(plant(step), said(long_talk(2000)), 200)
    with pytest.raises(AssertionError, match="lines per event"):
        laws.level_work(plant(step), wide_log())


def test_a_clock_that_goes_back_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def strike(clock: Clock, raw: Raw[Any], at: int, is_turn: bool) -> bool:
        clock.now = raw.now = at
        return True

    monkeypatch.setattr(Clock, "strike", strike)
    with pytest.raises(AssertionError, match="it is"):
        laws.time_does_not_go_back(plant(_silent), laws.log_of(outside([Move("work"), Move("work", gap=-DAY)])))


def _silent(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
    return []


LATE = START + 40 * DAY
REVEALERS: list[Outside] = [ClockTicked("s0", "x", LATE), TurnRecorded("s0", "x", LATE, "c", "ann", "user", "hm")]


def test_an_effect_that_only_some_events_reveal_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        if isinstance(event, NoteTaken):
            state.put("memo", Memo(count=event.at + DAY))
        memo = state.get("memo", Memo)
        if memo is None or raw.now < memo.count or not isinstance(event, TurnRecorded):
            return []
        state.delete("memo")
        return [Planted(event.space, "", memo.count, "passed")]

    with pytest.raises(AssertionError, match="what reveals a deadline"):
        laws.dated_at_deadline(plant(step), SOME, REVEALERS)


def test_an_effect_dated_when_it_was_revealed_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        if isinstance(event, NoteTaken):
            state.put(f"{DUE}{event.at + DAY:020d}/memo", Memo())
        passed = [key for key in state.keys(DUE) if int(key.split("/")[1]) <= raw.now]
        for key in passed:
            state.delete(key)
        return [Planted(event.space, "", raw.now, key) for key in passed]

    with pytest.raises(AssertionError, match="not dated at its deadline"):
        laws.ticked(plant(step), SOME, REVEALERS[1])


def test_a_deadline_that_never_ends_is_caught() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        if isinstance(event, NoteTaken):
            state.put(f"{DUE}{event.at + DAY:020d}/memo", Memo())
        return []

    with pytest.raises(AssertionError, match="was ticked for"):
        laws.dated_at_deadline(plant(step), SOME, REVEALERS)


def test_a_step_that_lets_spaces_meet_is_caught() -> None:
    shared: list[str] = []

    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> Made:
        shared.append(event.space)
        return told(event, str(len(set(shared[-2:]))))

    with pytest.raises(AssertionError, match="spaces meet"):
        laws.separate(plant(step), SOME)
