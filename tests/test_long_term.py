"""Long-term memory as people and agents meet it: in contexts, in commands and analyses, and worded by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from processors import PROCESSORS
from projections.analyses import analyses
from projections.rows import records
from streams.core.events import MemoryRewarded, SessionEnded, SessionInherited
from tests.spaces import MINUTE, SPACE, Remembering

TRAINS = "I prefer trains to planes when I visit Marta in Vienna."
ASKED = "Shall I take trains or planes to Vienna?"


@pytest.fixture
def space(tmp_path: Path) -> Any:
    """A space with a session that is over, in which somebody said how they travel."""
    with Remembering(tmp_path / "home") as space:
        space.say(TRAINS, session="old")
        space.pass_time(None)
        space.add(SessionEnded(SPACE, "end", space.at, "old"))
        yield space


def asked(space: Remembering, session: str, **how: Any) -> dict[str, Any]:
    return dict(space.ask("context", space=SPACE, session=session, **how))


def kept(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What a context shows of long-term memory."""
    return [piece for one in found["sections"] if one["name"] == "long_term" for piece in one["pieces"]]


def alone(space: Remembering, session: str) -> list[dict[str, Any]]:
    """The same where nothing else tells of it."""
    return kept(asked(space, session, without=["recalled", "entries"]))


def test_a_new_session_s_context_shows_what_its_first_turn_calls_for_and_why(space: Remembering) -> None:
    space.say(ASKED, session="new")
    (piece,) = alone(space, "new")
    assert piece["text"] == f"- preference: ann: {TRAINS} [t0]"
    assert piece["reason"] == "preference of old; words: train, plane, vienna"
    assert (piece["kind"], piece["turns"], piece["from"]) == ("preference", ["t0"], "old")


def test_the_layer_can_be_left_out(space: Remembering) -> None:
    space.say(ASKED, session="new")
    assert asked(space, "new", without=["recalled", "entries"])["sections"][0]["layer"] == "long_term"
    assert kept(asked(space, "new", without=["long_term", "recalled", "entries"])) == []


def test_what_recall_shows_in_its_turn_s_own_words_is_not_shown_twice(space: Remembering) -> None:
    space.say(ASKED, session="new")
    found = asked(space, "new", without=["entries"], explain=True)
    assert found["text"].count("prefer trains") == 1
    (considered,) = [one for one in found["considered"] if one["section"] == "long_term"]
    assert (considered["taken"], considered["why"]) == (False, "shown already")


@pytest.mark.parametrize("said", ["Hi!", "Good morning!", "How do I tune a ukulele?"])
def test_a_context_to_which_nothing_fits_is_as_large_as_without(space: Remembering, said: str) -> None:
    space.say(said, session="new")
    assert asked(space, "new")["text"] == asked(space, "new", without=["long_term"])["text"]


def test_what_falls_out_after_it_was_loaded_is_shown_no_longer_and_counts_as_pollution(space: Remembering) -> None:
    space.say(ASKED, session="new")
    space.say(ASKED, session="other")
    before = space.position
    assert len(alone(space, "new")) == 1
    space.pass_time(None)
    space.add(MemoryRewarded(SPACE, "misled", space.at, ["t0"], -1.0))
    assert alone(space, "new") == []
    assert len(kept(asked(space, "new", without=["recalled", "entries"], as_of=str(before)))) == 1
    assert pollution(space) == [
        {"space": SPACE, "sessions": 2, "loaded": 2, "misled": 2, "contradicted": 0, "share": 1.0}
    ]


def test_what_a_later_statement_contradicts_is_pollution_too(space: Remembering) -> None:
    space.say("My favourite colour is green.", session="taste")
    space.add(SessionEnded(SPACE, "end of taste", space.at, "taste"))
    space.say("Is green my favourite colour?", session="new")
    space.say(ASKED, session="new trip")
    space.say("Actually, my favourite colour is blue.", day=space.day + MINUTE, session="later")
    (told,) = pollution(space)
    assert (told["loaded"], told["misled"], told["contradicted"], told["share"]) == (2, 0, 1, 0.5)
    status = {row["text"]: row["status"] for row in space.ask("view", name="long_term", space=SPACE)}
    assert status == {TRAINS: "active", "My favourite colour is green.": "contradicted"}


def pollution(space: Remembering) -> list[dict[str, Any]]:
    return analysed(space, "pollution")


def analysed(space: Remembering, name: str) -> list[dict[str, Any]]:
    space.ask("view", name="long_term", space=SPACE)
    return records(space.office.runtime.store.connection, analyses(PROCESSORS)[name].sql, {"space": SPACE})


def test_a_session_that_says_which_one_it_goes_on_with_is_given_its_entries(space: Remembering) -> None:
    space.add(SessionInherited(SPACE, "inherits", space.at, "new", "old"))
    space.say("Good morning!", session="new")
    (piece,) = alone(space, "new")
    assert piece["reason"] == "preference of old; inherited from old"
    (row,) = space.ask("view", name="long_term", space=SPACE)
    assert (row["loaded"], row["status"], row["why"], row["turns"]) == (1, "active", "the session ended", ["t0"])


def test_what_became_of_entries_is_told_by_kind(space: Remembering) -> None:
    space.say(ASKED, session="new")
    (told,) = analysed(space, "entry_lifecycle")
    assert (told["kind"], told["status"], told["entries"], told["loaded"]) == ("preference", "active", 1, 1)
