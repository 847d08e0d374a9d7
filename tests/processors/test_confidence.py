"""Confidence, told by what happens to memories: what makes them surer, less sure, and more present."""

from __future__ import annotations

from typing import Any

from processors.confidence import (
    PROCESSOR,
    Confidence,
    ConfidenceChanged,
    ConfidenceParams,
    composite,
    reliability,
    salience,
)
from processors.contradictions import (
    BeliefConfirmed,
    BeliefContradicted,
    BeliefRestored,
    ContradictionSuspected,
)
from streams.core.events import DAY, ImportanceFlagged, MemoryPinned, MemoryRecalled, MemoryRewarded, TurnRetracted
from tests.steps import Steps

RATES: dict[str, float] = {
    **{"user": 0.8, "confirmed": 0.5, "rewarded": 0.5, "misled": 0.5, "fresh": 0.5, "half_life": 10, "recalled": 0.5}
}
PARAMS = ConfidenceParams(**RATES)


class Space(Steps):
    """What happens to memories."""

    def __init__(self) -> None:
        super().__init__(PROCESSOR, **RATES)

    @property
    def record(self) -> dict[str, ConfidenceChanged]:
        """The last record of each turn."""
        return {event.turn: event for event in self.all(ConfidenceChanged)}

    def add(self, event: Any) -> list[str]:
        """The turns that changed."""
        return [found.turn for found in self.give(event) if isinstance(found, ConfidenceChanged)]

    def recall(self, *turns: str, day: float = 0) -> list[str]:
        return self.add(MemoryRecalled("space", "m", int(day * DAY), "what?", [*turns]))

    def reward(self, reward: float, *turns: str) -> list[str]:
        return self.add(MemoryRewarded("space", "m", 0, [*turns], reward))

    def pin(self, turn: str, pinned: bool = True) -> list[str]:
        return self.add(MemoryPinned("space", "m", 0, turn, pinned))

    def contradict(self, turn: str, older: str, attribute: str = "live") -> list[str]:
        return self.add(
            BeliefContradicted("space", "s", 0, turn, older, "u", attribute, "b", "a", "differs", 0.9, "c", 1)
        )

    def suspect(self, turn: str, older: str) -> list[str]:
        return self.add(ContradictionSuspected("space", "s", 0, turn, older, "u", "live", "b", "a", 0.4, []))

    def restore(self, turn: str, newer: str, attribute: str = "live") -> list[str]:
        return self.add(BeliefRestored("space", "s", 0, turn, newer, "u", attribute, "a", True, "c"))

    def relied(self, turn: str, role: str = "user") -> float:
        return reliability(PARAMS, self.record.get(turn), role)


def test_an_untouched_turn_is_as_sure_as_its_speaker_and_fades_by_half_lives() -> None:
    assert reliability(PARAMS, None, "user") == 0.8
    assert reliability(PARAMS, None, "assistant") == 0.6
    assert [salience(PARAMS, None, 0, days * DAY) for days in (0, 10, 20)] == [0.5, 0.25, 0.125]


def test_a_contradicted_statement_keeps_three_tenths_of_its_reliability() -> None:
    space = Space()
    assert space.contradict("new", "old") == ["old"]
    assert round(space.relied("old"), 6) == 0.24
    assert space.relied("new") == 0.8


def test_a_statement_that_may_be_contradicted_counts_for_less_until_that_is_judged() -> None:
    space = Space()
    assert space.suspect("new", "old") == ["old"]
    assert round(space.relied("old"), 6) == 0.56
    assert space.contradict("new", "old") == ["old"]
    assert round(space.relied("old"), 6) == 0.24
    assert space.suspect("newer", "older") == ["older"]
    assert space.restore("older", "newer") == ["older"]
    assert space.relied("older") == 0.8


def test_contradicted_twice_it_is_no_less_sure_and_is_restored_when_nothing_contradicts_it() -> None:
    space = Space()
    space.contradict("new", "old")
    assert space.contradict("newer", "old") == []
    assert space.restore("old", "new") == []
    assert space.restore("old", "newer") == ["old"]
    assert space.relied("old") == 0.8


def test_a_confirmation_raises_both_towards_one() -> None:
    space = Space()
    confirmed = BeliefConfirmed("space", "s", 0, "new", "old", "u", "live", "c")
    assert space.add(confirmed) == ["old", "new"]
    assert round(space.relied("old"), 6) == 0.9
    space.add(confirmed)
    assert round(space.relied("old"), 6) == 0.95


def test_what_was_confirmed_by_a_turn_that_is_taken_back_is_no_surer() -> None:
    space = Space()
    for number in range(5):
        space.add(BeliefConfirmed("space", "s", 0, f"again{number}", "first", "u", "live", "c"))
        space.add(TurnRetracted("space", "r", 0, "s", f"again{number}", "regenerated"))
    assert space.relied("first") == 0.8
    assert space.record["first"].reason == "unconfirmed"
    space.add(BeliefConfirmed("space", "s", 0, "again", "first", "u", "live", "c"))
    assert space.relied("again") == 0.9
    assert space.add(TurnRetracted("space", "r", 0, "s", "first")) == ["again"]
    assert space.relied("again") == 0.8
    assert space.add(TurnRetracted("space", "r", 0, "s", "first")) == []


def test_what_happened_beside_a_confirmation_that_is_taken_back_stays() -> None:
    one, other = Space(), Space()
    one.reward(-1, "first")
    one.add(BeliefConfirmed("space", "s", 0, "again", "first", "u", "live", "c"))
    for space in (one, other):
        if space is other:
            space.reward(-1, "first")
        space.reward(0.5, "first")
        space.reward(-0.5, "first")
    one.add(TurnRetracted("space", "r", 0, "s", "again"))
    assert one.relied("first") == other.relied("first")


def test_of_many_confirmations_the_last_ones_can_be_taken_back_and_records_stay_small() -> None:
    space = Space()
    again = [str(number).ljust(200, "x") for number in range(50)]
    for turn in again:
        space.add(BeliefConfirmed("space", "s", 0, turn, "first".ljust(200, "x"), "u", "live", "c"))
    assert max(len(value or b"") for _, value in space.state.changes()) < 8 * 1024
    assert space.add(TurnRetracted("space", "r", 0, "s", again[0])) == []
    assert space.add(TurnRetracted("space", "r", 0, "s", again[-1])) == ["first".ljust(200, "x")]


def test_a_reward_raises_reliability_and_a_negative_one_lowers_it() -> None:
    space = Space()
    space.reward(1, "good")
    space.reward(-1, "bad")
    assert round(space.relied("good"), 6) == 0.9
    assert round(space.relied("bad"), 6) == 0.4
    assert space.reward(0, "good") == []


def test_what_happened_holds_for_whatever_trust_the_speaker_has() -> None:
    space = Space()
    space.reward(1, "turn")
    assert round(space.relied("turn", "assistant"), 6) == 0.8


def test_recall_raises_salience_and_it_fades_from_there() -> None:
    space = Space()
    space.recall("turn", day=20)
    assert [salience(PARAMS, space.record["turn"], 0, days * DAY) for days in (20, 30)] == [0.75, 0.375]


def test_a_recall_that_comes_in_late_takes_nothing_away() -> None:
    space = Space()
    space.recall("turn", day=20)
    space.recall("turn", day=10)
    assert salience(PARAMS, space.record["turn"], 0, 20 * DAY) == 0.875


def test_importance_raises_salience_more_than_one_recall_and_normal_is_no_news() -> None:
    space = Space()
    space.recall("shown")
    space.add(ImportanceFlagged("space", "m", 0, "s", "flagged", "high"))
    assert space.add(ImportanceFlagged("space", "m", 0, "s", "flagged", "normal")) == []
    assert salience(PARAMS, space.record["flagged"], 0, 0) > salience(PARAMS, space.record["shown"], 0, 0)


def test_a_pinned_memory_stands_out_until_it_is_unpinned() -> None:
    space = Space()
    space.pin("turn")
    assert salience(PARAMS, space.record["turn"], 0, 900 * DAY) == 1
    space.pin("turn", False)
    assert salience(PARAMS, space.record["turn"], 0, 10 * DAY) == 0.25


def test_reliability_does_not_fade() -> None:
    space = Space()
    space.reward(1, "turn")
    then = composite(PARAMS, space.record["turn"], "user", 0, 0) - 0.4 * salience(PARAMS, space.record["turn"], 0, 0)
    later = composite(PARAMS, space.record["turn"], "user", 0, 999 * DAY)
    assert round(then, 6) == round(later, 6) == 0.54


def test_the_composite_weighs_reliability_six_to_four() -> None:
    assert round(composite(PARAMS, None, "user", 0, 0), 6) == round(0.6 * 0.8 + 0.4 * 0.5, 6)


def test_the_record_in_state_reads_like_the_last_event() -> None:
    space = Space()
    space.recall("turn", day=3)
    space.contradict("new", "turn")
    record = space.state.get("turn/turn", Confidence)
    assert reliability(PARAMS, record, "user") == space.relied("turn")
    assert salience(PARAMS, record, 0, 9 * DAY) == salience(PARAMS, space.record["turn"], 0, 9 * DAY)
