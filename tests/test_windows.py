"""Other windows than the one that is composed by worth: newest turns, a compression, the details of what was shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streams.core.errors import UsageError
from tests.spaces import SPACE, Remembering


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remembering]:
    """Sixty turns, every other of them a word of assent."""
    path: Path = tmp_path_factory.mktemp("windows") / "home"
    with Remembering(path) as space:
        for n in range(60):
            space.say("Right." if n % 2 else f"Violin {n} was painted green and sold in Porto.")
        yield space


def asked(space: Remembering, **how: Any) -> dict[str, Any]:
    return dict(space.ask("context", space=SPACE, session="talk", **how))


def ids(space: Remembering, **how: Any) -> list[str]:
    return [piece["id"] for section in asked(space, **how)["sections"] for piece in section["pieces"]]


def test_a_sliding_window_is_the_last_twelve_turns(space: Remembering) -> None:
    assert ids(space, window="sliding") == [f"t{n}" for n in range(48, 60)]


def test_truncation_is_as_many_of_the_newest_turns_as_fit_without_a_gap(space: Remembering) -> None:
    cut = ids(space, window="truncation", budget=400)
    assert cut == [f"t{n}" for n in range(60 - len(cut), 60)]
    assert 12 < len(cut) < 40


def test_compression_is_what_came_before_and_the_last_twelve_turns(space: Remembering) -> None:
    shown = ids(space, window="compression")
    assert shown[0] == "t0..t44"
    assert shown[-12:] == [f"t{n}" for n in range(48, 60)]


def test_the_composed_context_has_the_session_s_past_too(space: Remembering) -> None:
    assert "t0..t44" in ids(space)
    assert "t0..t44" not in ids(space, without=["past"])


def test_details_are_the_turns_behind_ranges_and_ids_and_nothing_else(space: Remembering) -> None:
    assert ids(space, details=["t4..t6", "t50"]) == ["t4", "t5", "t6", "t50"]


def test_details_keep_to_the_budget_and_leave_out_words_of_assent_first(space: Remembering) -> None:
    found = asked(space, budget=500, details=["t0..t59"])
    shown = [piece["id"] for piece in found["sections"][0]["pieces"]]
    assert found["tokens"] <= 500
    telling = [id for id in shown if int(id[1:]) % 2 == 0]
    assert len(telling) > 8 > 2 >= len(shown) - len(telling)
    assert found["recalled"]["cue"] == "details t0..t59"
    assert set(found["recalled"]["turns"]) <= set(shown)


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"window": "none"}, "there is no window 'none'"),
        ({"details": ["unknown"]}, "nothing with the id 'unknown'"),
        ({"details": ["t1..gone"]}, "there is no turn 'gone'"),
    ],
)
def test_what_is_not_there_is_said(space: Remembering, how: dict[str, Any], error: str) -> None:
    with pytest.raises(UsageError, match=error):
        asked(space, **how)


def test_layers_are_left_out_as_a_whole_and_each_says_what_it_is_of(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        space.say("The plan is to seal the kiln of the museum with clay.")
        for n in range(60):
            space.say(f"Violin {n} was painted green and sold in Porto.")
        layers = {section["name"]: section["layer"] for section in asked(space)["sections"]}
        assert layers.items() >= {"recent": "", "past": "focus", "direct_access": "direct_access"}.items()
        assert {name for name, layer in layers.items() if layer != "focus"} == {"recent", "direct_access"}
        left = {section["name"] for section in asked(space, without=["focus", "direct_access"])["sections"]}
        assert left == {"recent"}
        (noted,) = [one for one in asked(space)["sections"] if one["name"] == "direct_access"]
        assert noted["pieces"][0]["text"] == "- plan: The plan is to seal the kiln of the museum with clay. [t0]"
