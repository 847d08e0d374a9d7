"""Small experiments on what a memory is for: what is old and matters, what is forgotten, what use brings together.

After the experiments of the Engram paper, and one on what its rule of being used did: recall must not feed itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from streams.core.events import MINUTE
from tests.bench.quality_feedback import LOST, looped
from tests.spaces import SPACE, Remembering


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Remembering]:
    with Remembering(tmp_path / "home") as found:
        yield found


def test_what_is_old_and_answers_comes_before_what_is_recent_and_only_near(space: Remembering) -> None:
    budget = space.say("The budget for the Lisbon offsite is 12,000 euros.", 0, session="planning")
    for n in range(40):
        space.say(f"The offsite of team {n} was fine, thanks for asking about the euros!", 60 + n, session=f"s{n}")
        space.show("offsite", f"t{n + 1}", day=60.5 + n)
    found = space.found("What is the budget for the Lisbon offsite?")
    assert found[0] == budget


def test_forgetting_improves_what_is_offered_for_a_vague_cue(space: Remembering) -> None:
    """Old sittings about the garden, each with much small talk around what is worth keeping."""
    worth: list[str] = []
    for month in range(8):
        session = f"garden-{month}"
        worth.append(space.say(f"In the garden, always water bed {month} before noon.", 30 * month, session=session))
        for chatter in ("Right.", "I see what you mean.", "Fine with me.", "It was a long day.", "So it goes."):
            space.say(chatter, session=session)
        space.show("watering", worth[-1], day=30 * month + 1)
    space.say("Hello again.", 300, session="now")

    def precision(**how: Any) -> tuple[float, int]:
        found = space.found("garden", k=100, **how)
        kept = sum(turn in worth for turn in found)
        return kept / len(found), kept

    with_all, without = precision(forgotten=True), precision()
    assert without[1] == with_all[1] == len(worth)
    assert without[0] >= 1.5 * with_all[0]


PREFERENCES = {
    "What coffee do I like?": "I prefer my coffee black, without sugar.",
    "Which seat do I want on a train?": "On a train I always want a window seat.",
    "What music helps me work?": "When I work I like to listen to Bach.",
    "When do I not take meetings?": "I never take meetings before ten in the morning.",
    "Which editor do I use?": "My editor is Helix, please write configs for it.",
    "What am I allergic to?": "By the way, I am allergic to hazelnuts.",
    "In which language should letters be?": "Please write all my letters in Portuguese.",
    "What kind of hotel do I prefer?": "I prefer small hotels close to the river.",
    "How should numbers be written?": "I like numbers with a comma for thousands.",
    "What sport do I do?": "I go bouldering every Thursday, it is my sport.",
}


def test_preferences_told_in_ten_sessions_of_a_week_are_recalled(space: Remembering) -> None:
    told: dict[str, str] = {}
    for n, (question, preference) in enumerate(PREFERENCES.items()):
        session, day = f"session-{n}", n * 0.7
        space.say("Good morning! Could you look at the build?", day, session=session)
        space.say("It is green again, the cache was stale.", session=session, role="assistant", agent="bot")
        told[question] = space.say(preference, session=session)
        for reply in ("Noted.", "Anything else for today?"):
            space.say(reply, session=session, role="assistant", agent="bot")
        space.say("No, that is all, thank you.", session=session)
    space.say("Hello!", 7, session="after")
    found = {question: space.found(question, k=3) for question in PREFERENCES}
    assert [question for question in PREFERENCES if told[question] not in found[question]] == []
    assert sum(found[question][0] == told[question] for question in PREFERENCES) >= 8


def test_associations_emerge_from_use(space: Remembering) -> None:
    """What is shown together again and again: a cue for one brings the other nearer, through what is at hand."""
    ferry = space.say("The ferry timetable hangs in the kitchen.", 0, session="ferry")
    alike = [space.say("Umbrella in the wardrobe.", 0, session=f"place-{n}") for n in range(5)]
    umbrella = alike[4]

    def rank(day: float) -> int:
        return space.found("umbrella wardrobe", session="trip", at=space.when(day)).index(umbrella)

    ranks = []
    for day in range(1, 7):
        space.show("ferry timetable", ferry, umbrella, day=day)
        for other in alike[:4]:
            space.show("umbrella", other, day=day)  # used as much, and never beside the ferry
        space.show("ferry timetable", ferry, day=day + 0.5, session="trip")
        ranks.append(rank(day + 0.5 + 1e-3))
    assert ranks[0] == 4
    assert ranks[-1] == 0
    assert ranks == sorted(ranks, reverse=True)
    links = space.ask("memory", id=ferry)["links"]
    assert [row["turn_id"] for row in links] == [umbrella]
    assert space.found("umbrella wardrobe", session="elsewhere", at=space.when(6.501)).index(umbrella) == 4


# -- recall does not feed itself ---------------------------------------------------------------------------------------


def test_a_thousand_recalls_of_popular_cues_leave_the_rest_as_it_was(space: Remembering) -> None:
    chance = Random(4)
    words = [
        f"{a}{b}{c}" for a in ("bar", "del", "fim", "gos", "kun", "lar") for b in "aeiou" for c in ("dok", "mel", "rit")
    ]
    often = [1 / place for place in range(1, len(words) + 1)]
    said = [set(chance.choices(words, often, k=9)) for _ in range(400)]
    for n, of in enumerate(said):
        space.say(" ".join(sorted(of)), n / 24, session=f"s{n // 8}", agent="ann")
    cues = [chance.sample(sorted(of), 3) for of in said[::2] if len(of) >= 3]
    evidence = {" ".join(cue): frozenset(f"t{n}" for n, of in enumerate(said) if of.issuperset(cue)) for cue in cues}
    before, after = looped(space, SPACE, evidence, 97 * MINUTE)
    assert 0.3 < before < 1.0  # that it could fall, and rise
    assert after >= before - LOST, (before, after)
