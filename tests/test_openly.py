"""What a turn asks for openly: given words that name no matter, then what is to come, was missed, or is under way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streams.core.text.openly import openly

VOICES = Path(__file__).parent / "voices" / "openly"


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("anything coming up that I ought to know of?", "coming"),
        ("Morning! What have we got on next week?", "coming"),
        ("was steht diese Woche bei uns an?", "coming"),
        ("¿qué tengo pendiente esta semana?", "coming"),
        ("back from the lake, sunburnt. what did I miss?", "missed"),
        ("hab ich was verpasst?", "missed"),
        ("Quoi de neuf ?", "missed"),
        ("coffee's on. where were we?", "progress"),
        ("wo waren wir stehen geblieben?", "progress"),
        ("¿por dónde íbamos?", "progress"),
    ],
)
def test_what_is_asked_for_without_naming_a_matter_is_told(content: str, asked: str) -> None:
    assert asked in openly(content)


@pytest.mark.parametrize(
    "content",
    [
        "What did Odile say about the gutter?", "the pump is fixed", "thanks, that's all", "good morning", "",
        "how do I hang a shelf", "next month I am in Rome", "Wo ist der Schlüssel?", "?", "a" * 100_000,
    ],
)  # fmt: skip
def test_who_names_a_matter_tells_or_greets_asks_for_nothing_openly(content: str) -> None:
    assert openly(content) == frozenset()


def test_of_authors_who_only_measure_most_questions_are_told_and_hardly_anything_else() -> None:
    told = [json.loads(line) for line in (VOICES / "sixth.jsonl").read_text("utf-8").splitlines()]
    others = [openly(one["text"]) for one in told if one["kind"] == "other"]
    missed = ["missed" in openly(one["text"]) for one in told if one["kind"] == "missed"]
    assert sum(map(bool, others)) <= len(others) // 10
    assert sum(missed) >= len(missed) * 2 // 3
