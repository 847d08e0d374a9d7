"""Association, told by what was shown together: which pairs count, when they link, and how links fade."""

from __future__ import annotations

from typing import Any

import pytest

from processors.association import PROCESSOR, AssociationParams, MemoriesAssociated, association
from streams.core.driver import fold
from streams.core.events import DAY, HOUR, MINUTE, MemoryRecalled, Outside, TurnRecorded

PARAMS = AssociationParams()


def shown(*turns: str, at: int = 0) -> MemoryRecalled:
    return MemoryRecalled("space", f"r{at}", at, "cue", list(turns))


def pairs(*events: Outside, **params: Any) -> list[MemoriesAssociated]:
    rows = fold([PROCESSOR], events, {"association": AssociationParams(**params)})
    return [row.event for row in rows if isinstance(row.event, MemoriesAssociated)]


def test_turns_shown_together_count_each_pair_once_in_name_order() -> None:
    found = pairs(shown("b", "c", "a", "b"))
    assert [(e.first, e.second, e.count) for e in found] == [("a", "b", 1), ("a", "c", 1), ("b", "c", 1)]


def test_one_turn_shown_alone_and_mere_turns_make_nothing() -> None:
    assert pairs(shown("a"), TurnRecorded("space", "t", 0, "s", "ann", "user", "hello")) == []


def test_the_best_two_link_strongest() -> None:
    assert {(e.first, e.second): e.strength for e in pairs(shown("a", "b", "c"))} == {
        ("a", "b"): 0.05,
        ("a", "c"): 0.033333,
        ("b", "c"): 0.016667,
    }


def test_one_answer_has_a_bound() -> None:
    assert len(pairs(shown(*"abcdefghijklmnop"))) == 15


def test_strength_halves_with_a_half_life_of_disuse_and_a_use_adds_to_what_is_left() -> None:
    found = pairs(shown("a", "b"), shown("a", "b", at=10 * DAY), eta=0.8, half_life=10)
    assert [e.strength for e in found] == [0.4, 0.52]  # .2 is left, and half of .8 times the .8 that is missing
    assert association(AssociationParams(half_life=10, link_after=2), found[-1], 20 * DAY) == pytest.approx(0.26)


def test_twice_may_be_chance_and_the_third_time_links() -> None:
    found = pairs(*(shown("a", "b", at=n * DAY) for n in range(3)))
    assert association(PARAMS, None, 0) == 0
    assert [association(PARAMS, record, record.at) > 0 for record in found] == [False, False, True]


def test_a_cue_repeated_within_the_hour_adds_nothing() -> None:
    assert len(pairs(*(shown("a", "b", at=n * MINUTE) for n in range(60)))) == 1
    assert len(pairs(shown("a", "b"), shown("a", "b", at=HOUR))) == 2


def test_spaced_use_makes_a_stronger_link_than_the_same_number_of_massed_uses() -> None:
    massed = pairs(*(shown("a", "b", at=n * MINUTE) for n in range(10)))[-1]
    spaced = pairs(*(shown("a", "b", at=n * DAY) for n in range(10)))[-1]
    assert association(PARAMS, spaced, 30 * DAY) > 5 * association(AssociationParams(link_after=1), massed, 30 * DAY)


def test_a_thousand_repetitions_stay_below_one() -> None:
    found = pairs(*(shown("a", "b", at=n * HOUR) for n in range(1000)))
    assert 0.9 < found[-1].strength < 1


def test_a_late_event_adds_nothing_and_takes_nothing_away() -> None:
    assert len(pairs(shown("a", "b", at=20 * DAY), shown("a", "b", at=10 * DAY))) == 1


def test_ids_with_slashes_do_not_meet() -> None:
    found = pairs(shown("a/b", "c"), shown("a", "b/c", at=DAY))
    assert [(e.first, e.second, e.count) for e in found] == [("a/b", "c", 1), ("a", "b/c", 1)]


def test_associations_emerge_from_use() -> None:
    """What is asked for together every few days becomes linked; what met it once does not."""
    events = [shown("deploy", "rollback", *(["picnic"] if n == 4 else []), at=n * 3 * DAY) for n in range(10)]
    last = {(e.first, e.second): e for e in pairs(*events)}
    links = {pair: association(PARAMS, record, 30 * DAY) for pair, record in last.items()}
    assert links["deploy", "rollback"] > 0.2
    assert links["deploy", "picnic"] == links["picnic", "rollback"] == 0
