"""Learned weights: they are fitted to examples, added up as whole numbers, and say what decided."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.core.text.languages import language
from streams.core.text.learned import Learned, likelihood
from streams.core.text.signals import folded, placed, signals
from tests.bench.learning import Example, Table, crossed, fit, score, write

WEIGHT = st.integers(-5_000, 5_000)


@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(WEIGHT, WEIGHT)), st.tuples(WEIGHT, WEIGHT), st.data())
def test_the_score_of_each_act_is_its_bias_and_the_weights_of_the_signals_that_are_there(weights, bias, data):
    acts = {act: {signal: given[at] for signal, given in weights.items()} for at, act in enumerate("xy")}
    learned = Learned(lambda: {"version": 1, "bias": dict(zip("xy", bias, strict=True)), "weights": acts})
    seen = data.draw(st.lists(st.sampled_from("abcdefgh"), unique=True))
    known = [weights[signal] for signal in seen if signal in weights]
    assert learned.scores(seen) == [bias[at] + sum(weight[at] for weight in known) for at in (0, 1)]
    assert sum(weight for _, weight in learned.why(seen, "y")) == sum(weight for _, weight in known)


def test_a_score_says_how_likely_an_act_is():
    assert (likelihood(0), likelihood(220), likelihood(-220), likelihood(9_999)) == (0.5, 0.9, 0.1, 1.0)


def test_what_separates_examples_of_one_voice_is_found_in_another_and_what_one_voice_alone_says_is_not(tmp_path: Path):
    rows = [(f"{'please' if n % 2 else 'maybe'} {word}", bool(n % 2)) for word in "abcdefgh" for n in range(6)]
    examples = [
        Example([*signals(text), f"only {voice}"], label, voice)
        for voice in ("one", "two", "three")
        for text, label in rows
    ]
    weights = fit(examples)
    assert weights[1]["please"] > 0 > weights[1]["maybe"]
    assert not any(signal.startswith("only") for signal in weights[1])
    assert all((at > 0) == example.label for at, example in zip(crossed(examples), examples, strict=True))
    write(tmp_path / "acts.json", 3, {"asked": weights})
    learned = Learned(lambda: orjson.loads((tmp_path / "acts.json").read_bytes()))
    seen = signals("please a")
    assert learned.scores(seen) == [score(weights, seen)]
    assert (learned.version, dict(learned.why(seen, "asked"))["please"]) == (3, weights[1]["please"])


def test_spellings_of_a_word_are_one_and_times_stand_for_their_kind():
    assert folded("I’ll ring") == folded("il ring") == folded("i will ring")
    assert {"by <W>", "i will", "^ i", "<W> $"} <= {*signals("il do it by friday")} & {
        *signals("I will do it by Monday.")
    }


def test_the_first_and_the_last_sentence_are_told_apart_from_what_lies_between() -> None:
    everywhere, places = placed("Right then. The tiles came at last! So that is the bathroom finished.")
    assert {"tiles", "bathroom finished", "finished $"} <= {*everywhere}
    assert {"sentences:3", "< right", "< right then", "> finished $", "> bathroom finished", "> ."} <= {*places}
    assert not {"< tiles", "> tiles", "> right", "< finished"} & {*places}
    assert placed("") == (["words:1", "by:user"], ["sentences:0"])


@pytest.mark.parametrize(("text", "code"), [
    ("Remind me of the meeting", "en"), ("Ich muss das noch machen", "de"), ("Tengo que llamar a mi hermana", "es"),
    ("Je dois appeler ma soeur", "fr"), ("明日電話する", "ja"), ("明天打电话", "zh"), ("Tue noon", "en"), ("", "en"),
])  # fmt: skip
def test_the_language_of_a_text_is_told_by_its_script_and_its_stop_words(text: str, code: str):
    assert language(text, folded(text)) == code


def test_a_table_is_fitted_without_groups_as_their_examples_were_left_out_and_scores_as_weights_do():
    words = ("please", "remind", "me", "later", "fine", "thanks", "now", "then")
    examples = [
        Example(sorted({words[(at * step) % 8] for step in (1, 3, 5)}), at % 3 == 0, f"author {at % 5}", 1.0 + at % 2)
        for at in range(60)
    ]
    table = Table(examples)
    assert table.fit() == fit(examples)
    rest = [example for example in examples if example.group not in ("author 1", "author 4")]
    weights = table.fit({"author 1", "author 4"}, 0.2)
    assert weights == fit(rest, 0.2)
    mine = [score(weights, example.signals) for example in examples if example.group == "author 4"]
    assert table.scores(weights, ["author 4"]) == mine
