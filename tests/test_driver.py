"""The pass: who is handed what, in which order, and which processors do not fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import pytest

from processors import PROCESSORS
from streams.core.driver import WATCHED, Driver, RegistryError, ancestors, as_raw, fold
from streams.core.events import NoteTaken, Outside, TurnRecorded
from streams.core.params import Params
from streams.core.processor import RAW, Derived, On, Processor, Raw, State, derived_id, on, otherwise

TURN = TurnRecorded("space", "t1", 1, "s", "ann", "user", "hello")
NOTE = NoteTaken("space", "n1", 2, "milk", "buy milk", "s")


@dataclass(slots=True)
class Heard(Derived):
    """What a processor was handed."""

    by: str
    what: str
    type: Literal["heard.v1"] = "heard.v1"


@dataclass(slots=True)
class HeardFirst(Heard):
    """The first processor's."""


@dataclass(slots=True)
class HeardSecond(Heard):
    """The second one's."""


@dataclass(slots=True)
class HeardThird(Heard):
    """The third one's."""


def hearing(name: str, made: type[Heard], kinds: Sequence[type], *reads: str, twice: bool = False) -> Processor[Any]:
    """A processor that tells what it is handed."""

    def step(params: Params, state: State, event: Any, raw: Raw[Any]) -> list[Heard]:
        what = event.by if isinstance(event, Heard) else event.type
        return [made("space", "", raw.event.at, name, what)] * (1 + twice)

    takes: tuple[On[Params], ...] = tuple(on(kind, step) for kind in kinds)
    return Processor(name, 1, Params, takes, (made,), reads)


FIRST = hearing("first", HeardFirst, [TurnRecorded], RAW, twice=True)
SECOND = hearing("second", HeardSecond, [TurnRecorded, HeardFirst], RAW, "first")
THIRD = hearing("third", HeardThird, [TurnRecorded, HeardSecond, HeardFirst], RAW, "first", "second")


def params(processors: Sequence[Processor[Any]]) -> dict[str, Params]:
    return {processor.name: processor.params() for processor in processors}


def heard(processors: Sequence[Processor[Any]], event: Outside) -> list[tuple[str, str, int]]:
    rows = fold(processors, [event])
    return [(row.event.by, row.event.what, row.position.ordinal) for row in rows if isinstance(row.event, Heard)]


def test_each_is_handed_what_its_parents_made_in_the_order_of_the_registry_and_the_raw_event_last() -> None:
    assert heard([FIRST, SECOND, THIRD], TURN) == [
        ("first", "turn-recorded.v1", 0),
        ("first", "turn-recorded.v1", 1),
        ("second", "first", 0),
        ("second", "first", 1),
        ("second", "turn-recorded.v1", 2),
        ("third", "first", 0),
        ("third", "first", 1),
        ("third", "second", 2),
        ("third", "second", 3),
        ("third", "second", 4),
        ("third", "turn-recorded.v1", 5),
    ]


def test_a_processor_is_called_for_nothing_that_it_does_not_take() -> None:
    assert heard([FIRST, SECOND, THIRD], NOTE) == []


def test_who_must_know_the_time_takes_every_outside_event_that_it_has_no_step_for() -> None:
    def step(params: Params, state: State, event: Outside, raw: Raw[Any]) -> list[Heard]:
        return [HeardSecond("space", "", raw.now, "second", f"other {event.type}")]

    timed = Processor("second", 1, Params, (*SECOND.takes[:1], otherwise(step)), (HeardSecond,))
    assert heard([timed], TURN) == [("second", "turn-recorded.v1", 0)]
    assert heard([timed], NOTE) == [("second", "other note-taken.v1", 0)]


def test_what_is_given_takes_the_place_of_what_would_be_folded() -> None:
    driver = Driver([FIRST, SECOND], params([FIRST, SECOND]), given=["first"])
    rows: list[Any] = []
    made: dict[str, list[Derived]] = {"first": [HeardFirst("space", "", 1, "a memory", "")]}
    assert driver.fold("space", 0, 0, as_raw(TURN, 1), rows, made)
    assert driver.fold("space", 0, 1, as_raw(TURN, 1), rows, {})
    assert [(row[1], row[3].what) for row in rows] == [
        (0, "a memory"),
        (0, "turn-recorded.v1"),
        (1, "turn-recorded.v1"),
    ]


def test_every_call_of_a_step_is_counted_and_of_thirteen_events_one_is_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("streams.core.driver.perf_counter", count().__next__)
    driver = Driver([FIRST, SECOND], params([FIRST, SECOND]))
    for offset in range(2 * WATCHED + 1):
        driver.fold("space", 0, offset, as_raw(TURN, 1), [])
    assert driver.steps() == {"first": 2 * WATCHED + 1, "second": 3 * (2 * WATCHED + 1)}
    assert driver.seconds() == {"first": 2 * WATCHED, "second": 2 * WATCHED}


def test_an_offset_that_is_not_above_the_mark_of_its_partition_is_passed_over() -> None:
    driver = Driver([FIRST], params([FIRST]))
    rows: list[Any] = []
    folded = [driver.fold("space", partition, offset, as_raw(TURN, 1), rows) for partition, offset in OFFSETS]
    assert folded == [True, False, True, False, True]
    assert {row[:2] for row in rows} == {(0, 5), (1, 0), (0, 7)}
    assert driver.marks == {0: 7, 1: 0}


OFFSETS = ((0, 5), (0, 5), (1, 0), (0, 3), (0, 7))


def test_a_space_let_go_of_is_loaded_anew_and_those_in_use_are_kept() -> None:
    driver = Driver([FIRST], params([FIRST]))
    for offset, space in enumerate("abc"):
        driver.fold(space, 0, offset, as_raw(TURN, 1), [])
    driver.evict(1, {"a"})
    assert [*driver.spaces] == ["a"]


@pytest.mark.parametrize(
    ("processors", "told"),
    [
        ([SECOND], "second reads first, which does not stand before"),
        ([SECOND, FIRST], "second reads first, which does not stand before"),
        ([FIRST, FIRST], "first emits HeardFirst, which another does"),
        ([FIRST, hearing("first", HeardSecond, [TurnRecorded], RAW)], "two processors are called first"),
        ([FIRST, hearing("second", HeardSecond, [HeardFirst], RAW)], "takes HeardFirst, which no stream that it reads"),
        ([FIRST, hearing("second", HeardSecond, [TurnRecorded], "first")], "takes TurnRecorded, which no stream"),
        (
            [FIRST, hearing("second", HeardSecond, [HeardFirst], RAW, "first")],
            "second reads turns and takes nothing of it",
        ),
        ([hearing("first", HeardFirst, [HeardThird], RAW)], "takes HeardThird, which no stream that it reads has"),
    ],
)
def test_processors_that_do_not_fit_together_are_refused(processors: Sequence[Processor[Any]], told: str) -> None:
    with pytest.raises(RegistryError, match=told):
        Driver(processors, params(processors))


def test_ancestors_are_all_that_is_read_directly_or_not_in_the_order_of_the_registry() -> None:
    assert [p.name for p in ancestors([FIRST, SECOND, THIRD], ["third"])] == ["first", "second", "third"]
    assert [p.name for p in ancestors(PROCESSORS, ["confidence"])] == [
        "manifest",
        "open_efforts",
        "contradictions",
        "confidence",
    ]


def test_a_lineage_changes_with_what_is_read() -> None:
    other = hearing("first", HeardFirst, [TurnRecorded], RAW, twice=True)
    changed = Processor("first", 2, Params, other.takes, (HeardFirst,))
    one, two = Driver([FIRST, SECOND], params([FIRST, SECOND])), Driver([changed, SECOND], params([FIRST, SECOND]))
    assert one.lineages[RAW] == two.lineages[RAW]
    assert one.lineages["first"] != two.lineages["first"]
    assert one.lineages["second"] != two.lineages["second"]


def test_derived_ids_tell_kinds_spaces_turns_and_ordinals_apart() -> None:
    ids = {derived_id(k, s, t, n) for k in ("segment", "effort") for s in "ab" for t in "xy" for n in (0, 1)}
    assert len(ids) == 16
    assert derived_id("segment", "a", "x") == derived_id("segment", "a", "x", 0)


def test_the_keys_of_a_family_are_listed_from_any_of_them_on() -> None:
    state = State()
    for name in "cab":
        state.put(f"one/{name}", HeardFirst("space", "s", 0, name, ""))
        state.put(f"other/{name}", HeardFirst("space", "s", 0, name, ""))
    assert state.keys("one/", 2) == ["one/a", "one/b"]
    assert state.keys("one/", 2, "one/a") == ["one/b", "one/c"]
    assert state.keys("one/", after="one/aa") == ["one/b", "one/c"]
    assert state.keys("one/", after="one/c") == []


def test_names_and_words_that_many_saved_records_hold_are_in_memory_once() -> None:
    @dataclass(slots=True)
    class Told:
        who: str
        words: list[str]
        text: str

    state, text = State(), "ann said that the harbour is closed until the storm is over"
    for key in ("told/a", "told/b"):
        state.put(key, Told("ann", ["harbour", "closed"], text))
    assert len([*state.changes()]) == 2
    state.rest()
    first, second = (record for _, record in state.scan("told/", Told))
    assert first == second == Told("ann", ["harbour", "closed"], text)
    assert first.who is second.who
    assert all(one is other for one, other in zip(first.words, second.words, strict=True))
    second.words.append("storm")
    assert len(first.words) == 2
