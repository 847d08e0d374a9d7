"""Notes that a turn puts to another time: how that is read, and what becomes of the note."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.ttl_escalations import NoteClosed, NoteDoubted, NoteEscalated, NoteMoved, NoteOpened
from streams.core.clock import to_local
from streams.core.events import DAY, HOUR, MINUTE, OfferDeclined, TurnRetracted
from streams.core.text.retiming import due, retimed
from tests.processors.test_ttl_escalations import START, derive, of, say, take, tick

NOW = datetime(2026, 3, 2, 10, 15)
"""A Monday."""
OLD = datetime(2026, 3, 3, 15)
"""When something is due: on Tuesday at three."""


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("make it 4 instead", datetime(2026, 3, 3, 16)),
        ("no wait, 9", datetime(2026, 3, 3, 9)),
        ("at 10:30, sorry", datetime(2026, 3, 3, 10, 30)),
        ("Thursday", datetime(2026, 3, 5, 15)),
        ("move it to Thursday at 11", datetime(2026, 3, 5, 11)),
        ("not Tuesday, Wednesday, same time", datetime(2026, 3, 4, 15)),
        ("an hour later please", datetime(2026, 3, 3, 16)),
        ("bring it forward two hours", datetime(2026, 3, 3, 13)),
        ("push it back a week", datetime(2026, 3, 10, 15)),
        ("in half an hour", datetime(2026, 3, 2, 10, 45)),
        ("they close at three, so do it today at 2", datetime(2026, 3, 2, 14)),
        ("six rather than three", datetime(2026, 3, 3, 18)),
        ("lieber am Donnerstag", datetime(2026, 3, 5, 15)),
        ("eine Stunde später bitte", datetime(2026, 3, 3, 16)),
    ],
)
def test_what_words_leave_out_stays_as_it_was(text: str, then: datetime) -> None:
    assert retimed(text, NOW, due(OLD)).moment == then


@pytest.mark.parametrize("text", ["", "thanks", "it is at 3, is it?", "on Tuesday", "it costs 40 €", "the 2.5 release"])
def test_what_names_no_other_time_moves_nothing(text: str) -> None:
    assert retimed(text, NOW, due(OLD)).moment is None


def test_what_is_due_already_is_put_off_from_now_on() -> None:
    assert retimed("give me 20 minutes", NOW, due(NOW - timedelta(minutes=5))).moment == NOW + timedelta(minutes=20)


def test_a_day_keeps_no_hour_where_there_was_none() -> None:
    friday = due(datetime(2026, 3, 7))  # when Friday is over
    assert retimed("make that Thursday", NOW, friday).moment == datetime(2026, 3, 6)


@given(
    st.text(max_size=80),
    st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1)),
    st.timedeltas(-timedelta(9), timedelta(99)),
)
def test_whatever_is_said_is_put_to_a_time_to_come_or_to_none(text: str, now: datetime, ahead: timedelta) -> None:
    old = due(now + ahead)
    then = retimed(text, now, old).moment
    assert then is None or (then > now and then != old.moment)


# -- what becomes of the note ------------------------------------------------------------------------------------------

ASKED = "Remind me tomorrow at 3pm to call the dentist about the crown."


def told(*events: Any, **params: Any) -> list[Any]:
    return derive(say(ASKED, 0, "t1"), say("Will do.", MINUTE, "t2", role="assistant"), *events, **params)


def deadlines(events: list[Any]) -> list[datetime]:
    return [to_local(event.deadline, "UTC") for event in events if isinstance(event, NoteOpened | NoteMoved)]


AT_FOUR = say("Can you move the dentist reminder to 4pm instead?", 2 * MINUTE, "t3")
THREE, FOUR = datetime(2026, 2, 3, 15), datetime(2026, 2, 3, 16)


def test_a_turn_that_names_another_time_moves_the_note_and_leaves_no_second_one() -> None:
    events = told(AT_FOUR)
    assert deadlines(events) == [THREE, FOUR]
    (moved,) = of(NoteMoved, events)
    assert (moved.turn, moved.historic, bool(moved.why)) == ("t3", False, True)
    assert len({event.note for event in of(NoteOpened, events)}) == 1
    assert not of(NoteClosed, events)


def test_what_was_moved_is_asked_about_at_its_new_time_alone() -> None:
    asked = of(NoteEscalated, told(AT_FOUR, tick(3 * DAY)))
    assert [to_local(one.at, "UTC") for one in asked] == [FOUR]


def test_right_behind_the_request_nothing_else_need_tell_which_note_is_meant() -> None:
    assert deadlines(told(say("make it 4pm instead", 2 * MINUTE, "t3"))) == [THREE, FOUR]


def test_what_was_asked_about_is_put_off_from_now_on() -> None:
    late = 37 * HOUR - 40 * MINUTE + 2 * MINUTE  # two minutes after three
    events = told(tick(late - MINUTE), say("snooze that for an hour please", late, "t3"), tick(3 * DAY))
    assert deadlines(events)[-1] > FOUR
    assert len(of(NoteEscalated, events)) == 2


@pytest.mark.parametrize("fact", [TurnRetracted, OfferDeclined])
def test_a_note_is_due_as_before_where_the_turn_that_moved_it_is_taken_back_or_did_not_mean_that(fact: Any) -> None:
    events = told(AT_FOUR, fact("s", "f1", START + HOUR, turn="t3", session="talk"), tick(3 * DAY))
    assert deadlines(events) == [THREE, FOUR, THREE]
    assert [to_local(one.at, "UTC") for one in of(NoteEscalated, events)] == [THREE]


def test_where_it_was_moved_twice_only_the_last_turn_can_be_taken_back() -> None:
    at_five = say("Move the dentist reminder to 5pm instead please.", 3 * MINUTE, "t4")
    events = told(AT_FOUR, at_five, TurnRetracted("s", "f1", START + HOUR, turn="t3", session="talk"))
    assert deadlines(events) == [THREE, FOUR, datetime(2026, 2, 3, 17)]


def test_a_note_that_an_agent_took_is_moved_as_well() -> None:
    events = derive(
        take("n1", "Call the dentist about the crown", ttl=36 * 3600),
        say("Can you move the dentist reminder to 4pm instead?", 2 * MINUTE, "t3"),
    )
    assert [move.note for move in of(NoteMoved, events)] == ["n1"]


@pytest.mark.parametrize(
    "said",
    [
        "Remind me at 4pm to buy stamps, too.",
        "I called the dentist, they open at 4pm.",
        "The party moved to Friday, by the way.",
        "Is the dentist open at 4?",
    ],
)
def test_another_matter_or_another_act_moves_nothing(said: str) -> None:
    assert not of(NoteMoved, told(say(said, 2 * MINUTE, "t3")))


def test_where_it_is_likely_but_not_sure_it_is_asked_whether_the_note_should_wait_till_then() -> None:
    events = told(AT_FOUR, moves=100_000)
    assert deadlines(events) == [THREE, *([THREE, FOUR][1:] if len(of(NoteOpened, events)) > 1 else [])]
    (asked,) = of(NoteDoubted, events)
    assert "2026-02-03 16:00" in asked.question


def test_of_what_comes_again_another_hour_is_for_all_times_and_another_day_for_one() -> None:
    weekly = say("Remind me every Monday at 9 to send the timesheet.", 0, "t1")  # START is a Monday, before nine
    hour = say("Move the timesheet reminder to 10am instead.", MINUTE, "t2")
    events = derive(weekly, hour, tick(8 * DAY))
    assert deadlines(events) == [datetime(2026, 2, 2, 9), datetime(2026, 2, 2, 10), datetime(2026, 2, 9, 10)]
    day = say("Can you move the timesheet reminder to Tuesday instead?", MINUTE, "t2")
    events = derive(weekly, day, tick(8 * DAY))
    assert deadlines(events) == [datetime(2026, 2, 2, 9), datetime(2026, 2, 3, 9), datetime(2026, 2, 9, 9)]
