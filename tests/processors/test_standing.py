"""Standing: given what a user says to hold from now on, then whoever answers is told of it, whatever is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.core.text.standing import standing
from tests.spaces import Remembering


@pytest.mark.parametrize(
    ("content", "sort"),
    [
        ("Please never deploy the billing service on a Friday.", "rule"),
        ("and always sign the commits", "rule"),
        ("I always want the invoices in two copies.", "rule"),
        ("From now on the parcels go to the warehouse.", "rule"),
        ("Orders over 500 euros need approval by Ms. Lind.", "rule"),
        ("Bitte immer die Rechnung zuerst prüfen.", "rule"),
        ("Nunca borres la tabla de clientes.", "rule"),
        ("I prefer trains to planes.", "preference"),
        ("Ich bevorzuge kurze Antworten.", "preference"),
        ("My daughter is allergic to shellfish.", "condition"),
        ("Ich bin Vegetarierin.", "condition"),
        ("Mi hermano es diabético.", "condition"),
    ],
)
def test_rules_preferences_and_conditions_hold(content: str, sort: str) -> None:
    assert [one.sort for one in standing(content)] == [sort]


@pytest.mark.parametrize(
    "content",
    [
        *("Do you always deploy on Fridays?", "She always forgot her keys.", "I have never been to Lisbon."),
        *("The allergy test is on Monday.", "Never mind!", "Approved, no need to send the parcel.", "Never give up!"),
        *(
            "Marta prefers letters to calls.",
            "Which planes do you prefer?",
            "The warehouse burnt down.",
            "> never deploy the billing service",
        ),
    ],
)
def test_what_is_asked_told_or_quoted_does_not(content: str) -> None:
    assert standing(content) == []


def told(space: Remembering, question: str, session: str = "new") -> list[str]:
    found = space.ask("context", space="acme", session=session, question=question)
    return [piece["said_in"] for one in found["sections"] if one["name"] == "standing" for piece in one["pieces"]]


def test_a_context_tells_of_it_though_the_question_shares_no_word(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        allergy = space.say("Our son Tim is allergic to walnuts.", 0)
        rule = space.say("Please never deploy the billing service on a Friday.", 0)
        space.say("Never answer before you read it twice, says the sign.", agent="bot", role="assistant")
        assert told(space, "A cake for Sunday, which one?") == [allergy, rule]
        assert told(space, "A cake for Sunday, which one?", session="talk") == []
        space.retract(allergy)
        assert told(space, "A cake for Sunday, which one?") == [rule]
