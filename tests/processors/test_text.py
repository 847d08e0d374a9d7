"""Text features: what one turn's words say."""

from __future__ import annotations

import time

import pytest

from streams.events import TurnRecorded
from streams.text import Text, read
from streams.text.terms import MAX_NAMES, MAX_TERMS, scan


def text(content: str) -> Text:
    return read(TurnRecorded("s", "t1", 0, "x", "ann", "user", content))


def test_terms_are_stems_without_stop_words_in_order_of_first_use():
    found = scan("The pumps were pumping, and the pump's valve was closed.")
    assert found.terms == ["pump", "valv", "close"]
    assert found.counts == [3, 1, 1]
    assert found.forms == ["pumps", "valve", "closed"]


def test_names_are_paths_identifiers_tickets_codes_and_proper_names_inside_sentences():
    found = scan("Then Priya broke src/app.py: see #42, PROJ-7, get_rows, `zeta` and fooBar. Nobody in Lisbon knew.")
    assert found.names == ["priya", "src/app.py", "#42", "proj-7", "get_rows", "zeta", "foobar", "lisbon"]


@pytest.mark.parametrize("content", ["Tables help. Monday at 10am, the 3rd of May, and/or 12:30.", "I think so. OK."])
def test_sentence_beginnings_days_and_times_are_no_names(content: str):
    assert scan(content).names == []


@pytest.mark.parametrize(
    ("content", "cue"),
    [
        ("Hi there, how are you?", "greeting"),
        ("By the way, the boiler is loud", "shift"),
        ("ok, back to the invoice import", "resume"),
        ("could you look? thanks a lot!", "thanks"),
        ("That's all for today", "closing"),
        ("I need a table for six", "opening"),
        ("No problem, you’re welcome", "welcome"),
        ("yes, exactly", "ack"),
        ("Übrigens, der Kessel ist laut", "shift"),
        ("is it loud?", "asking"),
        ("Don't forget the milk", "reminder"),
    ],
)
def test_cues_are_found_by_phrase(content: str, cue: str):
    assert cue in scan(content).cues


@pytest.mark.parametrize(
    ("content", "cue"),
    [
        ("the train goes back to the depot", "shift"),
        ("there is no need, he said hi", "greeting"),
        ("is it loud? no, not very much", "asking"),
        ("he found a thank-you note", "thanks"),
    ],
)
def test_words_of_a_cue_in_another_place_are_none(content: str, cue: str):
    assert cue not in scan(content).cues


def test_tokens_count_long_words_more_and_scripts_without_spaces_by_character():
    assert scan("a cat").tokens == 2
    assert scan("internationalization").tokens == 3
    assert scan("我想订一张去北京的机票").tokens == 8


def test_scripts_without_spaces_become_pairs_of_characters():
    assert scan("北京的机票").terms == ["北京", "京的", "的机", "机票"]
    assert set(scan("ตั๋วเครื่องบิน").terms) & set(scan("จองตั๋ว").terms)


def test_the_same_word_composed_or_decomposed_or_in_capitals_is_one_term():
    assert scan("café").terms == scan("cafe\u0301").terms == scan("CAFÉ").terms


def test_features_kept_of_a_turn_are_few_and_the_most_used():
    crowd = " ".join(f"word{at}x Name{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(300))
    found = scan(f"{crowd} zebra zebra zebra")
    assert len(found.terms) == len(found.counts) == len(found.forms) == MAX_TERMS
    assert "zebra" in found.terms
    assert len(found.names) == MAX_NAMES


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n\t",
        "\x00",
        "🎉🎉",
        "שלום עולם!",
        "?!?!",
        "\u202eabc\u202c",
        "e\u0301" * 50,
        "'" * 99,
        "\x01" * 300,
        "İ ß ﬀ",
    ],
)
def test_any_text_can_be_read(content: str):
    found = text(content)
    assert len(found.terms) == len(found.counts) == len(found.forms)
    assert "" not in found.terms
    assert text(content) == found


@pytest.mark.parametrize("content", ["a " * 4_000_000, "x" * 8_000_000, "漢" * 2_700_000, "ab-c\n12 " * 1_000_000])
def test_eight_megabytes_are_read_in_a_moment(content: str):
    began = time.process_time()
    found = text(content)
    assert time.process_time() - began < 2
    assert found.tokens > 1_000_000
    assert len(found.terms) <= MAX_TERMS


def test_tokens_of_an_oversize_text_are_scaled_up_from_what_is_read():
    assert scan("seven words make one line of this " * 20_000).tokens == pytest.approx(140_000, rel=0.02)
