"""What recall finds is shown as far as the turn to be answered calls for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from projections.context.params import RecalledParams
from projections.recall.section import _lifted
from tests.spaces import SPACE, Remembering

SAID = "The boiler in Bent Lane loses half a bar of pressure a week."


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remembering]:
    """A space in which some things were said."""
    with Remembering(Path(tmp_path_factory.mktemp("home"))) as space:
        said = (SAID, "Hello, good to see you!", "How was the trip to the capital?", "Thanks, that was a good idea.")
        for number, words in enumerate(said):
            space.say(words, session=f"old {number}")
        yield space


def recalled(space: Remembering, words: str, recorded: bool) -> list[dict[str, Any]]:
    """What is considered of what recall finds."""
    if recorded:
        space.say(words, session=words)
    found = space.ask("context", space=SPACE, session=words, question="" if recorded else words, explain=True)
    return [one for one in found["considered"] if one["section"] == "recalled"]


@pytest.mark.parametrize("recorded", [False, True])
def test_a_question_about_what_was_said_is_shown_it(space: Remembering, recorded: bool) -> None:
    shown = [one["text"] for one in recalled(space, "Which pressure had the boiler?", recorded) if one["taken"]]
    assert any(SAID in text for text in shown)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("words", ["Hello, good to see you again!", "Is Ulan Bator the capital of Mongolia?"])
def test_a_greeting_and_a_question_about_another_world_are_shown_nothing_and_told_why(
    space: Remembering, words: str, recorded: bool
) -> None:
    considered = recalled(space, words, recorded)
    assert considered
    assert not any(one["taken"] for one in considered)
    assert "calls for memory with a likelihood of 0." in considered[0]["reason"]


def test_a_hit_among_hits_of_its_session_is_lifted_towards_the_best_and_never_above_it() -> None:
    own = RecalledParams()
    sessions = np.array([0] * 40 + [1] * 40, np.int32)
    space: Any = SimpleNamespace(documents=SimpleNamespace(session=sessions))
    stretch, alone, across = [10, 11, 12, 13], 79, 40
    hits: Any = [SimpleNamespace(document=d, score=4.0 if d == 10 else 2.0) for d in (*stretch, alone, across)]
    lifted = dict(zip((*stretch, alone, across), _lifted(own, space, hits), strict=True))
    assert lifted[10] == 1.0
    assert 0.5 < lifted[12] < 1.0
    assert lifted[across] == lifted[alone] == 0.5, "near by number, but of another session; of the same, but far"
    assert _lifted(own.model_copy(update={"passage": 0.0}), space, hits) == [hit.score / 4 for hit in hits]
