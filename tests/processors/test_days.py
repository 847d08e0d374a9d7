"""Days: given what is said of days to come, then it is found by those days, and told when they come."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from processors.days import PROCESSOR, DayNamed, DaysParams, asked_days
from streams.core.driver import fold
from streams.core.events import TurnRecorded, micros
from tests.spaces import Remembering

MONDAY = "2024-01-01T09:00:00Z"


def said(content: str, role: Any = "user", at: str = MONDAY, zone: str = "UTC") -> list[DayNamed]:
    turn = TurnRecorded("s", "t", micros(at), "talk", "ann", role, content)
    return [row.event for row in fold([PROCESSOR], [turn], {"days": DaysParams(zone=zone)})]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("content", "days"),
    [
        ("Signed, we get the keys on February 3 at 16:00.", ["2024-02-03"]),
        ("The plumber comes on Thursday.", ["2024-01-04"]),
        ("Am Donnerstag kommt der Klempner.", ["2024-01-04"]),
        ("El jueves llega el fontanero.", ["2024-01-04"]),
        ("Away from January 8 on, the audit is on 2024-01-19.", ["2024-01-08", "2024-01-19"]),
    ],
)
def test_what_is_said_of_a_day_to_come_is_kept_by_that_day(content: str, days: list[str]) -> None:
    assert [one.day for one in said(content)] == days
    assert {one.turn for one in said(content)} == {"t"}
    assert said(content, "assistant") == said(content)


@pytest.mark.parametrize(
    "content",
    [
        "Does the plumber come on Thursday?",
        "when does the plumber come on thursday",
        "Thursday.",
        "Ok, Thursday.",
        "It went out today.",
        "The plumber came last Thursday.",
        "Call me at nine.",
        "Good morning",
        "> The plumber comes on Thursday.",
        "Why so many?\n2024-01-02T09:08:16Z DEBUG lease of the batch worker\n[2024-01-03 10:00:00,123] lost the lease",
    ],
)
def test_questions_repetitions_and_what_names_no_day_to_come_are_not(content: str) -> None:
    assert said(content) == []


def test_what_is_said_of_a_day_is_told_with_the_code_that_it_names_and_ends_at_a_word() -> None:
    about = "There is a lot to be said about how the release is built, who reads what of it and where it is kept. " * 3
    (told,) = said(f"{about}On Thursday we drop `old_flags` from `settings.py`.")
    assert told.text == "On Thursday we drop `old_flags` from `settings.py`."
    (told,) = said(f"{about}On Thursday we drop {'a flag, ' * 40}and tests.")
    assert told.text.endswith(" a flag …")


def test_tools_name_no_days() -> None:
    assert said("The job ends on Thursday.", "tool") == []


def test_a_day_is_that_of_the_clocks_of_the_zone() -> None:
    assert [one.day for one in said("The plumber comes tomorrow.", at="2024-01-01T23:30:00Z")] == ["2024-01-02"]
    assert [
        one.day for one in said("The plumber comes tomorrow.", at="2024-01-01T23:30:00Z", zone="Europe/Berlin")
    ] == ["2024-01-03"]


def test_a_question_names_days() -> None:
    now = datetime(2024, 1, 1, 9)
    assert asked_days("who is at home on thursday, and tomorrow?", now) == {date(2024, 1, 2), date(2024, 1, 4)}
    assert asked_days("who is at home?", now) == frozenset()
    assert asked_days("is tomorrow's opening on, or is it Friday’s?", now) == {date(2024, 1, 2), date(2024, 1, 5)}


def told(space: Remembering, question: str, session: str = "new") -> list[str]:
    """The turns whose days a context tells of."""
    found = space.ask("context", space="acme", session=session, question=question)
    return [p["said_in"] for one in found["sections"] if one["name"] == "days" for p in one["pieces"]]


def test_a_context_is_told_of_the_days_that_are_asked_for_or_come_next(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        near = space.say("The plumber comes on Thursday with the new boiler.", 0)
        space.say("Thursday, then.", agent="bot", role="assistant")
        far = space.say("Grandmother arrives on January 26, by train.")
        space.say("The roof is leaking again.", 2)
        assert told(space, "Good morning!") == [near]
        assert told(space, "What is on tomorrow?") == [near]
        assert told(space, "Who visits us on January 26?") == [near, far]
        assert told(space, "Paint for the garden fence, which colour?") == [near]
        assert told(space, "Paint for the garden fence, which colour?", session="talk") == []
        space.retract(near)
        assert told(space, "What is on tomorrow?") == []


def test_a_context_is_told_of_the_days_of_a_span_that_is_asked_for(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:  # whose day is 2 January 2024
        space.say("The plumber comes on January 29 with the new boiler.", 0)
        near = space.say("The chimney sweep comes on February 1, early.")
        far = space.say("Grandmother arrives on February 26, by train.")
        space.say("The fair is from March 8 on, tickets at the door.", 2)
        later = space.say("The choir sings on June 9, in the big hall.")
        assert told(space, "What goes on in February?") == [near, far]
        assert told(space, "What goes on in June?") == [later]
        assert told(space, "In February I am in Rome.") == []


def test_who_asks_what_is_to_come_is_told_of_the_next_weeks(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        day = space.say("The chimney sweep comes on February 1, early.", 0)
        space.say("The roof is leaking again.", 2)
        assert told(space, "Anything coming up that I should know of?") == [day]
        assert told(space, "Anything that keeps the rain out?") == []


def test_what_a_note_tells_is_not_told_twice(tmp_path: Path) -> None:
    asked = TurnRecorded(
        "acme", "t0", micros(MONDAY), "talk", "ann", "user", "Remind me to call the plumber on Tuesday."
    )
    with Remembering(tmp_path / "home") as space:
        space.home.log.append_recorded([(asked, asked.at)])
        found = space.ask("context", space="acme", session="new", question="What is on tomorrow?")
        assert "notes" in {one["name"] for one in found["sections"]}
        assert told(space, "What is on tomorrow?") == []
