"""What comes again and again: how it is read, when it is due, and how a note of it lives."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.ttl_escalations import NoteClosed, NoteEscalated, NoteMoved, NoteOpened
from streams.core.clock import to_local, to_micros
from streams.core.events import DAY, HOUR, MINUTE, ClockTicked, NoteSettled, OfferDeclined, TurnRetracted
from streams.core.text.recurring import following, in_words, recurrence
from streams.core.text.reminders import reminders
from tests.processors.test_ttl_escalations import START, derive, of, say, take, tick

MONDAY = datetime(2026, 3, 2, 10, 15)
"""When the sentences are said."""


def read(text: str, now: datetime = MONDAY) -> tuple[str, datetime | None]:
    found, _ = reminders(text, now, -40, 20)
    (one,) = found
    return one.every, one.moment


@pytest.mark.parametrize(
    ("text", "rule", "first"),
    [
        ("Remind me every Monday at 9 to water the orchids.", "FREQ=WEEKLY;BYDAY=MO", datetime(2026, 3, 9, 9)),
        ("Remind me every day at 8 to feed the cat.", "FREQ=DAILY", datetime(2026, 3, 3, 8)),
        ("Please remind me daily at noon to stretch.", "FREQ=DAILY", datetime(2026, 3, 2, 12)),
        ("Remind me every morning to take the pill.", "FREQ=DAILY", datetime(2026, 3, 3, 9)),
        ("Remind me every other Friday at 4 to back up.", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", datetime(2026, 3, 6, 16)),
        ("Remind me on Tuesdays and Thursdays at 6pm of choir.", "FREQ=WEEKLY;BYDAY=TU,TH", datetime(2026, 3, 3, 18)),
        ("Remind me on weekdays at 5pm to log my hours.", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", datetime(2026, 3, 2, 17)),
        ("Remind me on the 15th of every month to pay the rent.", "FREQ=MONTHLY", datetime(2026, 3, 16)),
        ("Remind me every two hours to turn him.", "FREQ=HOURLY;INTERVAL=2", datetime(2026, 3, 2, 12, 15)),
        ("Remind me every year on May 3rd to call Mum.", "FREQ=YEARLY", datetime(2026, 5, 4)),
        ("Remind me once a week on Friday to send the photos.", "FREQ=WEEKLY;BYDAY=FR", datetime(2026, 3, 7)),
        ("Erinnere mich jeden Montag um 9 Uhr an die Blumen.", "FREQ=WEEKLY;BYDAY=MO", datetime(2026, 3, 9, 9)),
    ],
)  # fmt: skip
def test_a_request_tells_how_it_comes_again_and_when_first(text: str, rule: str, first: datetime) -> None:
    assert read(text) == (rule, first)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("Remind me on Friday to submit the weekly report.", datetime(2026, 3, 7)),
        ("I go swimming every Tuesday, remind me tonight to buy goggles.", datetime(2026, 3, 3)),
        ("Remind me at 4 to mail everyone the minutes.", datetime(2026, 3, 2, 16)),
    ],
)
def test_what_is_wanted_once_does_not_recur_though_it_speaks_of_what_does(text: str, due: datetime) -> None:
    assert read(text) == ("", due)


@pytest.mark.parametrize(
    "text", ["every 20 minutes", "every 5 minutes", "everyone", "every time", "every now and then", "each of them", ""]
)
def test_what_comes_more_often_than_each_hour_or_names_no_time_is_no_recurrence(text: str) -> None:
    assert recurrence(text, "en") is None


@pytest.mark.parametrize(
    ("rule", "first", "now", "due"),
    [
        ("FREQ=DAILY", datetime(2026, 3, 2, 9), datetime(2026, 3, 5, 9), datetime(2026, 3, 6, 9)),
        ("FREQ=WEEKLY;BYDAY=MO,TH", datetime(2026, 3, 2, 9), datetime(2026, 3, 2, 9), datetime(2026, 3, 5, 9)),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", datetime(2026, 3, 6, 9), datetime(2026, 3, 6, 9), datetime(2026, 3, 20, 9)),
        # due when Sunday is over, that is at the first moment of Monday
        ("FREQ=WEEKLY;BYDAY=SU", datetime(2026, 3, 9), datetime(2026, 3, 9), datetime(2026, 3, 16)),
        ("FREQ=MONTHLY", datetime(2026, 1, 31, 9), datetime(2026, 1, 31, 9), datetime(2026, 2, 28, 9)),
        ("FREQ=MONTHLY", datetime(2026, 1, 31, 9), datetime(2026, 3, 1), datetime(2026, 3, 31, 9)),
        ("FREQ=YEARLY", datetime(2024, 2, 29, 9), datetime(2026, 1, 1), datetime(2026, 2, 28, 9)),
        ("FREQ=HOURLY;INTERVAL=2", datetime(2026, 3, 2, 9), datetime(2026, 3, 2, 12), datetime(2026, 3, 2, 13)),
    ],
)
def test_what_recurs_is_due_next(rule: str, first: datetime, now: datetime, due: datetime) -> None:
    assert following(rule, first, now) == due


_RULES = st.sampled_from(
    [
        *("FREQ=HOURLY", "FREQ=HOURLY;INTERVAL=5", "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY"),
        *("FREQ=WEEKLY;BYDAY=MO,WE,SU", "FREQ=WEEKLY;INTERVAL=3;BYDAY=TU", "FREQ=MONTHLY", "FREQ=MONTHLY;INTERVAL=6"),
        "FREQ=YEARLY",
    ]
)
_TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1))


@given(_RULES, _TIMES, st.timedeltas(timedelta(), timedelta(days=3000)))
def test_what_recurs_is_due_after_now_and_no_time_lies_between(rule: str, first: datetime, passed: timedelta) -> None:
    now = first + passed
    due = following(rule, first, now)
    assert due > now
    assert following(rule, first, due - timedelta(microseconds=1)) == due
    assert following(rule, first, due) > due


def test_a_rule_is_told_in_words() -> None:
    said = {rule: in_words(rule) for rule in ("", "FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2", "FREQ=WEEKLY;BYDAY=MO,TH")}
    assert [*said.values()] == ["", "every day", "every 2 weeks", "every Mon, Thu"]
    assert in_words("FREQ=WEEKLY;INTERVAL=2;BYDAY=FR") == "every other Fri"
    assert in_words("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR") == "every weekday"


# -- how a note of it lives --------------------------------------------------------------------------------------------

DAILY = "Remind me every day at 9 to check the boiler pressure."
FIRST = 5 * HOUR + 20 * MINUTE
"""From START, 2026-02-02 02:40 UTC, till nine."""


def daily(*events: Any, **params: Any) -> list[Any]:
    return derive(say(DAILY, 0, "t1"), *events, **params)


def due(events: list[Any]) -> list[datetime]:
    return [to_local(event.deadline, "UTC") for event in events if isinstance(event, NoteOpened | NoteMoved)]


def test_what_comes_again_is_asked_about_each_time_at_its_time() -> None:
    events = daily(tick(3 * DAY))
    assert due(events) == [datetime(2026, 2, day, 9) for day in (2, 3, 4)]
    asked = of(NoteEscalated, events)
    assert [to_local(one.at, "UTC") for one in asked] == [datetime(2026, 2, day, 9) for day in (2, 3, 4)]
    assert "every day" in asked[0].question


def test_who_says_that_it_is_done_is_asked_again_the_next_time() -> None:
    done = say("The boiler pressure is checked, all fine.", 8 * HOUR, "t2")
    events = daily(done, tick(2 * DAY))
    assert not of(NoteClosed, events)
    assert [(one.turn, to_local(one.deadline, "UTC").day) for one in of(NoteMoved, events)] == [("t2", 3)]
    assert [to_local(one.at, "UTC").day for one in of(NoteEscalated, events)] == [2, 3]


def test_a_fact_that_settles_what_is_asked_about_is_for_this_time_and_one_that_waits_is_done_with_for_good() -> None:
    note = derive(say(DAILY, 0, "t1"))[0].note
    settled = [NoteSettled("s", f"f{at}", START + at, note, "talk", "done") for at in (8 * HOUR, 9 * HOUR)]
    once = daily(settled[0], tick(2 * DAY))
    assert not of(NoteClosed, once)
    assert len(of(NoteEscalated, once)) == 2
    for_good = daily(*settled, tick(2 * DAY))
    assert len(of(NoteClosed, for_good)) == 1
    assert len(of(NoteEscalated, for_good)) == 1


def test_who_calls_it_off_is_asked_no_more() -> None:
    off = say("You can cancel the reminder about the boiler pressure.", HOUR, "t2")
    assert not of(NoteEscalated, daily(off, tick(9 * DAY)))


def test_what_nobody_answers_is_not_asked_for_ever() -> None:
    events = daily(*(tick(day * DAY) for day in range(1, 30)), unanswered=3)
    assert len(of(NoteEscalated, events)) == 3


def test_what_was_due_before_it_was_recorded_is_due_next_after_that() -> None:
    events = daily(tick(40 * DAY), recorded_at=START + 30 * DAY)
    assert due(events)[:2] == [datetime(2026, 2, 2, 9), datetime(2026, 3, 4, 9)]
    assert to_local(of(NoteEscalated, events)[0].at, "UTC") == datetime(2026, 3, 4, 9)


@pytest.mark.parametrize("fact", [TurnRetracted, OfferDeclined])
def test_what_a_turn_settled_for_a_time_is_asked_about_again_where_the_turn_did_not_mean_that(fact: Any) -> None:
    done = say("The boiler pressure is checked, all fine.", 8 * HOUR, "t2")
    taken_back = fact("s", "f1", START + 9 * HOUR, turn="t2", session="talk")
    events = daily(done, taken_back, ClockTicked("s", "k", START + 10 * HOUR))
    assert due(events) == [datetime(2026, 2, day, 9) for day in (2, 3, 2)]


def test_what_was_told_of_one_time_cannot_be_taken_back_once_its_time_came_again() -> None:
    done = say("The boiler pressure is checked, all fine.", 8 * HOUR, "t2")
    taken_back = TurnRetracted("s", "f1", START + 2 * DAY + HOUR, turn="t2", session="talk")
    events = daily(done, tick(2 * DAY), taken_back)
    assert due(events) == [datetime(2026, 2, day, 9) for day in (2, 3)]


@pytest.mark.parametrize("at", [datetime(8999, 12, 31, 23), datetime(9000, 1, 1), datetime(9999, 12, 30)])
@pytest.mark.parametrize("ttl", [3600, 10**12])
def test_at_the_end_of_times_nothing_breaks(at: datetime, ttl: int) -> None:
    start = to_micros(at, "UTC") - START
    talk = (
        DAILY,
        "Remind me every month to pay the rent.",
        "Move the boiler reminder to Friday.",
        "push it back a week",
    )
    events = derive(
        take("n", "Check the boiler pressure", start, ttl=ttl),
        *(say(one, start + at * MINUTE, f"t{at}") for at, one in enumerate(talk, 1)),
        tick(start + 20 * HOUR),
    )
    assert of(NoteOpened, events)
