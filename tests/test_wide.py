"""A turn that greets or asks what is going on, and names nothing of it, is told what is going on."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.core.text.terms import scan
from streams.core.text.wide import asks_widely
from tests.spaces import Remembering


def wide(text: str, first: bool = True) -> bool:
    seen = scan(text)
    return asks_widely(seen.cues, seen.terms, first)


@pytest.mark.parametrize(
    "text",
    [
        *("Hi", "Good morning!", "What is on today?", "What else is open?", "Where were we?", "Anything for me?"),
        *("back from the dentist. where were we?", "Guten Morgen", "hola!", "go on"),
    ],
)
def test_a_greeting_or_a_question_of_what_is_going_on_asks_widely(text: str) -> None:
    assert wide(text)


@pytest.mark.parametrize(
    "text",
    [
        *("Why does the login test fail?", "How do I prune an old apple tree in winter?", "Thanks, bye!"),
        *("Who painted the ceiling of the chapel?", "The boiler was replaced in May."),
    ],
)
def test_what_names_something_does_not(text: str) -> None:
    assert not wide(text)


def test_within_a_session_only_what_asks_does() -> None:
    assert wide("What else is open?", first=False)
    assert not wide("go on", first=False)
    assert not wide("Good morning!", first=False)


def lately(space: Remembering, question: str) -> list[str]:
    found = space.ask("context", space="acme", session="new", question=question)
    return [
        piece["text"]
        for one in found["sections"]
        if one["name"] == "lately"
        for piece in one["pieces"]
        if "text" in piece
    ]


def test_a_context_tells_who_greets_what_was_worked_on_last(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        for day, session, text, reply in (
            (0, "boiler", "The boiler of the old mill leaks again.", "I ordered a seal for the boiler of the mill."),
            (
                1,
                "essay",
                "I must write an essay about glaciers in Iceland.",
                "An outline of the essay on glaciers is ready.",
            ),
        ):
            space.say(text, day, session)
            space.say(reply, None, session, "bot", "assistant")
        for question in ("Good morning!", "Where were we?"):
            told = lately(space, question)
            places = [next(n for n, line in enumerate(told) if word in line) for word in ("glacier", "boiler")]
            assert places == sorted(places)
        assert lately(space, "How do I prune an old apple tree?") == []


def test_who_only_greets_is_given_nothing_by_the_words_of_the_greeting(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        for n in range(300):
            space.say(f"The pump number {n} was checked by the crew of the harbour.", session="pumps")
        space.say("It was a good evening, nice to meet your crew, a good and nice evening.", session="party")
        found = space.ask("context", space="acme", session="new", question="Good evening, nice to meet you.")
        assert "recalled" not in {one["name"] for one in found["sections"]}


def meanwhile(space: Remembering, session: str, question: str = "") -> list[str]:
    found = space.ask("context", space="acme", session=session, question=question)
    return [
        piece["turn"] for section in found["sections"] if section["name"] == "missed" for piece in section["pieces"]
    ]


@pytest.mark.parametrize(
    "question",
    [
        *("So I'm back, sunburnt. What did I miss?", "back! what's been going on here while I was away"),
        *("Any news?", "Bin zurück, was habe ich verpasst?", "Quoi de neuf ?", "¿Qué me perdí?"),
    ],
)
def test_who_asks_what_was_missed_is_told_what_others_said_since_in_order(tmp_path: Path, question: str) -> None:
    with Remembering(tmp_path / "home") as space:
        for n in range(20):
            space.say(f"The plaster of wall {n} is dry.", n, "site", "ann")
        space.say("I fly to Faro, see you.", 20, "phone", "bob")
        heard = [space.say(f"A pipe burst in room {n}.", 21 + n, "site", "ann") for n in range(14)]
        space.say(question, 40, "again", "bob")
        assert meanwhile(space, "again") == heard
        assert meanwhile(space, "again", "How do I prune an old apple tree?") == []


def test_who_was_here_after_all_others_is_told_what_was_said_last(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        said = [space.say(f"The plaster of wall {n} is dry.", n, "site", "ann") for n in range(30)]
        space.say("What did I miss?", 31, "again", "ann")
        assert meanwhile(space, "again") == said[-12:]


@pytest.mark.parametrize("role", ["assistant", "user"])
def test_who_talks_with_an_agent_is_given_the_best_of_what_hardly_fits_as_well(tmp_path: Path, role: str) -> None:
    """`role` is that of who answers: people among themselves are given what is asked for alone."""

    def recalled(question: str) -> list[str]:
        found = space.ask("context", space="acme", session="new", question=question)
        return [
            piece["turn"]
            for section in found["sections"]
            if section["name"] == "recalled"
            for piece in section["pieces"]
        ]

    with Remembering(tmp_path / "home") as space:
        rule = space.say("deploy windows: tuesday and thursday, before 11", 0, "office")
        space.say("Noted.", None, "office", "bot", role)
        for n in range(30):
            space.say(f"The label of shelf {n} is torn, print another.", n + 1, "shelves")
        asked = "the hotfix for umlaut sorting is merged, all green here. shall i run ./deploy.sh prod?"
        assert (rule in recalled(asked)) is (role == "assistant")
        assert recalled("thanks, perfect!") == []
