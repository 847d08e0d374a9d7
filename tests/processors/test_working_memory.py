"""Working memory, told by recalls: what a session has at hand, what fades, what is dropped."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from processors.working_memory import PROCESSOR, WorkingMemoryChanged, WorkingMemoryParams, at_hand
from streams.core.events import SECOND, Fact, MemoryRecalled, SessionEnded, TurnRecorded, TurnRetracted
from tests.laws import laws
from tests.steps import Steps


class Space(Steps):
    """Recalls in a row."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.ids = count()

    @property
    def record(self) -> dict[str, WorkingMemoryChanged]:
        """The last record of each session."""
        return {event.session: event for event in self.all(WorkingMemoryChanged)}

    def fold(self, fact: Fact) -> list[str]:
        """The sessions in which something changed."""
        return [event.session for event in self.give(fact) if isinstance(event, WorkingMemoryChanged)]

    def recall(self, *turns: str, at: float = 0, session: str = "s", cue: str = "where?") -> list[str]:
        return self.fold(
            MemoryRecalled("space", f"e{next(self.ids)}", int(at * SECOND), cue, [*turns], session=session)
        )

    def retract(self, turn: str, at: float = 0) -> list[str]:
        return self.fold(TurnRetracted("space", f"e{next(self.ids)}", int(at * SECOND), "elsewhere", turn))

    def end(self, session: str = "s", at: float = 0) -> list[str]:
        return self.fold(SessionEnded("space", f"e{next(self.ids)}", int(at * SECOND), session))

    def hand(self, at: float = 0, session: str = "s") -> str:
        return "".join(at_hand(WorkingMemoryParams(), self.record.get(session), int(at * SECOND)))


def test_a_session_that_recalled_nothing_has_nothing_at_hand() -> None:
    assert at_hand(WorkingMemoryParams(), None, 0) == []


def test_what_a_recall_showed_is_at_hand_the_best_first() -> None:
    space = Space()
    assert space.recall("b", "a", "c") == ["s"]
    assert space.hand() == "bac"


def test_seven_are_at_hand_and_the_stalest_give_way() -> None:
    space = Space()
    space.recall(*"abcdefghi", at=0)
    assert space.hand() == "abcdefg"
    space.recall("x", "y", at=10)
    assert space.hand(at=10) == "xyabcde"


def test_to_be_shown_again_puts_a_turn_in_front() -> None:
    space = Space()
    space.recall(*"abc", at=0)
    space.recall("c", at=10)
    assert space.hand(at=10) == "cab"


@pytest.mark.parametrize(("at", "hand"), [(100, "ba"), (299, "ba"), (300, "b"), (399, "b"), (400, "")])
def test_an_item_fades_300_seconds_after_it_was_last_shown(at: float, hand: str) -> None:
    space = Space()
    space.recall("a", at=0)
    space.recall("b", at=100)
    assert space.hand(at=at) == hand


def test_an_item_shown_again_lasts_anew() -> None:
    space = Space()
    space.recall("a", at=0)
    space.recall("a", at=200)
    assert space.hand(at=450) == "a"


def test_what_has_faded_is_not_kept() -> None:
    space = Space()
    space.recall(*"abc", at=0)
    space.recall("x", at=300)
    assert space.record["s"].items == ["x"]
    assert space.state.keys("turn/") == ["turn/x"]


def test_a_recall_that_arrives_late_takes_its_place_by_its_own_time() -> None:
    space = Space()
    space.recall("a", at=1000)
    space.recall("b", "a", at=900)
    assert space.hand(at=1000) == "ab"
    space.recall("old", at=600)
    assert space.hand(at=1000) == "ab"


def test_the_last_three_cues_are_kept_clipped() -> None:
    space = Space()
    for at in range(4):
        space.recall("a", at=at * 100, cue=f"{at}" * 500)
    record = space.record["s"]
    assert [(cue[0], len(cue)) for cue in record.cues] == [("3", 160), ("2", 160), ("1", 160)]


def test_sessions_do_not_share_what_they_have_at_hand() -> None:
    space = Space()
    space.recall("a", session="s")
    space.recall("b", session="t")
    assert (space.hand(session="s"), space.hand(session="t")) == ("a", "b")


def test_a_recall_outside_any_session_changes_nothing() -> None:
    space = Space()
    assert space.recall("a", session="") == []
    assert space.state.keys("") == []


def test_a_retracted_turn_is_dropped_wherever_it_is_at_hand() -> None:
    space = Space()
    space.recall("a", "b", session="s")
    space.recall("b", "c", session="t")
    assert space.retract("b") == ["s", "t"]
    assert (space.hand(session="s"), space.hand(session="t")) == ("a", "c")
    assert space.retract("b") == []


def test_a_retracted_turn_is_at_nobodys_hand_again() -> None:
    space = Space()
    space.retract("a")
    assert space.recall("a", cue="kiln?", at=1) == ["s"]
    assert (space.hand(at=1), space.record["s"].cues) == ("", ["kiln?"])
    space.recall("b", "a", "c", at=2)
    assert space.hand(at=2) == "bc"


def test_a_turn_that_gave_way_is_not_dropped_again_when_it_is_retracted() -> None:
    space = Space(capacity=1)
    space.recall("a")
    space.recall("b", at=1)
    assert space.retract("a", at=2) == []


def test_a_turn_at_hand_in_many_sessions_is_dropped_from_the_last_eight() -> None:
    space = Space()
    for n in range(10):
        space.recall("a", session=f"s{n}")
    assert space.retract("a") == [f"s{n}" for n in range(2, 10)]


def test_a_session_that_ends_has_nothing_at_hand_and_leaves_nothing_behind() -> None:
    space = Space()
    space.recall("a", "b")
    assert space.end() == ["s"]
    assert space.hand() == ""
    assert space.state.keys("") == []
    assert space.end() == []


def test_a_mere_turn_writes_nothing() -> None:
    space = Space()
    turn = TurnRecorded("space", "t", 0, "s", "ann", "user", "Where did I put the invoice?")
    assert space.give(turn) == []
    assert [*space.state.changes()] == []


def test_an_event_is_not_changed_by_what_happens_later() -> None:
    space = Space()
    space.recall("a", "b")
    first = space.record["s"]
    space.retract("a")
    assert first.items == ["a", "b"]


def test_records_of_the_longest_names_and_cues_are_small() -> None:
    many = [f"{n:02d}" + "語" * 198 for n in range(32)]
    events = [
        MemoryRecalled("space", f"e{n}", n * SECOND, "\x01" * 9000, many, session=f"{n:02d}" + "語" * 198)
        for n in range(12)
    ]
    laws.small_steps(laws.together([PROCESSOR]), laws.log_of(events))
