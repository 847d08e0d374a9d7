"""What recall finds, and in what order, over small spaces."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from projections.recall.analysis import ASKS, DATED, MAX_ASKED, MAX_TERMS, analyse, ask
from projections.recall.dates import DAY, spans
from projections.recall.kinds import TURN
from projections.recall.ranking import NEAR, RecallParams, rank
from tests.bench.quality_recall import (
    Memory,
    Turn,
    generated,
    memory,
)

PARAMS = RecallParams()
NOTE = TURN + 1
"""Some kind of document that is no turn."""


def day(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def talk(*said: str, session: str = "talk", start: str = "2023-05-04", agents: str = "ann ben") -> list[Turn]:
    names = agents.split()
    return [Turn(session, names[n % len(names)], day(start) + n * 1_000_000, text) for n, text in enumerate(said)]


def found(space: Memory, question: str, params: RecallParams = PARAMS, **how: object) -> list[int]:
    return [hit.document for hit in rank(space, ask(question), params, **how)]  # type: ignore[arg-type]


def test_forms_of_a_word_are_one_term() -> None:
    assert analyse("She went running; goes, gone!").terms == analyse("go run").terms
    assert analyse("José's café").terms == analyse("Jose cafe").terms
    assert analyse("the children’s child").counts == [2]


def test_scripts_without_spaces_become_pairs() -> None:
    assert analyse("東京に行く").terms == ["東京", "京に", "に行", "行く"]


def test_a_turn_that_ends_by_asking_is_known_though_a_picture_or_a_wish_follows() -> None:
    assert analyse("I paint. Do you?").flags & ASKS
    assert analyse("I paint a lot these days. Do you? [image: a photo of a lake with many trees]").flags & ASKS
    assert not analyse("Why? Because it was late and nobody had told us about the train at all.").flags & ASKS


def test_a_turn_that_tells_a_time_is_known() -> None:
    assert analyse("We met yesterday.").flags == DATED
    assert analyse("That was in 2019").flags == DATED
    assert analyse("We met").flags == 0


def test_what_is_kept_of_a_text_is_bounded() -> None:
    assert len(analyse(" ".join(f"word{n}" for n in range(5_000))).terms) == MAX_TERMS
    assert len(ask(" ".join(f"word{n}" for n in range(5_000))).terms) == MAX_ASKED


def test_reading_a_text_again_gives_the_same_whatever_was_read_between() -> None:
    text = "a well-known state-of-the-art " + "x" * 100 + "-tail " + "東京に行く"
    first = analyse(text)
    for n in range(70_000):
        analyse(f"some{n}-thing{n}")
    assert analyse(text) == first


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("東京", [1]), ("paint* AND ^(🙂", [0]), ("99 May 2023-99-99 paint", [0]), ("in 2023-02-31", []),
        *((text, []) for text in ("", "   ", "?", '"', "'\"(", "AND OR NOT NEAR(", "a* b:c ^d -e", "как дела", "🙂")),
        *((text, []) for text in ("\x00\ud83d", "x " * 50_000, "x" * 100_000)),
    ],
)  # fmt: skip
def test_any_text_is_a_question(question: str, best: list[int]) -> None:
    assert found(memory(talk("we paint", "in Tokyo 東京")), question)[:1] == best


def test_nothing_is_found_in_an_empty_space_and_for_words_nobody_used() -> None:
    assert found(memory(talk("we paint")), "quantum") == []
    assert found(memory(talk("we paint")), "") == []
    assert found(memory(talk("we paint")), "paint", k=0) == []


def test_the_rarer_word_decides() -> None:
    space = memory(talk("tea again", "tea now", "tea and pottery", "pottery? no, the harbour"))
    assert found(space, "harbour tea")[0] == 3


def test_equals_stand_in_the_order_of_their_positions() -> None:
    turns = [turn for n in range(4) for turn in talk("a quiet harbour", session=str(n), agents="ann")]
    assert found(memory(turns), "harbour") == [0, 1, 2, 3]


def test_an_answer_is_found_by_the_words_of_its_question_and_before_it() -> None:
    alone = RecallParams(answered=0, before=0, earlier=0, after=0)
    space = memory(talk("nice", "how was the harbour?", "Windy and cold!", "I see", "so be it", "harbour cranes hum"))
    assert found(space, "what did they say of the harbour")[:3] == [5, 2, 1]
    assert found(space, "what did they say of the harbour", alone) == [5, 1, 0, 2, 3]  # the other says nothing


def test_of_two_who_say_it_the_one_named_comes_first() -> None:
    turns = talk("I fish at the lake", session="1", agents="ben") + talk(
        "I fish at the lake", session="2", agents="ann"
    )
    space = memory(turns)
    assert found(space, "Where does Ann fish?") == [1, 0]
    assert found(space, "Where does Ben's friend fish?") == [0, 1]
    assert found(space, "Where does one fish?") == [0, 1]


def test_a_wrong_name_does_not_hide_who_said_it() -> None:
    space = memory(talk("I sold the lute at the harbour", "nice weather", "indeed", "I like the weather"))
    assert found(space, "Why did Ben sell the lute at the harbour?")[0] == 0


def test_a_role_is_not_a_name() -> None:
    turns = talk("fishing", session="1", agents="assistant") + talk("fishing", session="2", agents="user")
    assert found(memory(turns), "which user likes fishing") == [0, 1]


def test_a_time_in_the_question_finds_what_was_said_then_and_soon_after() -> None:
    turns = [
        *talk("we went fishing", session="1", start="2023-03-02"),
        *talk("we went fishing", session="2", start="2023-05-03"),
        *talk("we went fishing", session="3", start="2023-06-05"),
    ]
    space = memory(turns)
    assert found(space, "fishing in May 2023") == [1, 2, 0]
    assert found(space, "fishing on 3 May") == [1, 0, 2]
    assert found(space, "what happened on 2023-06-05?")[0] == 2
    assert found(space, "what happened yesterday?", now=day("2023-03-03")) == [0]
    assert found(space, "what happened yesterday?") == []


def test_times_are_read_from_questions() -> None:
    first, last = day("2022-01-01"), day("2023-12-31")
    assert spans("on May 3rd, 2023", None, first, last) == [(day("2023-05-03"), day("2023-05-04"))]
    assert spans("3 of may 2023", None, first, last) == [(day("2023-05-03"), day("2023-05-04"))]
    assert spans("in 2022", None, first, last) == [(first, day("2023-01-01"))]
    assert spans("in may", None, first, last) == [(day(f"{y}-05-01"), day(f"{y}-06-01")) for y in (2022, 2023)]
    assert spans("what may I do with the march?", None, first, last) == []
    assert spans("31 February 2023", None, first, last) == []
    assert spans("last week", day("2023-05-08"), first, last) == [(day("2023-05-01"), day("2023-05-08") + DAY)]


def test_who_asks_for_a_time_gets_the_turn_that_tells_one() -> None:
    turns = [
        *talk("we bought the harbour house", session="1", agents="ann"),
        *talk("we bought the harbour house yesterday", session="2", agents="ann"),
    ]
    space = memory(turns)
    assert found(space, "when was the harbour house bought?") == [1, 0]
    assert found(space, "who bought the harbour house?") == [0, 1]


def test_a_word_that_may_stand_for_another_is_a_hint() -> None:
    turns = [turn for n, text in enumerate(["my job", "my boat", "my work"]) for turn in talk(text, session=str(n))]
    assert found(memory(turns), "job") == [0, 2]
    assert found(memory(turns), "employment") == [0, 2]
    assert found(memory(turns), "job", RecallParams(alike=0)) == [0]


def test_what_was_retracted_or_is_of_another_kind_is_not_shown() -> None:
    turns = [*talk("harbour one", "harbour two"), Turn("talk", "", day("2023-05-04"), "harbour three", NOTE)]
    space = memory(turns)
    space.documents.ended[0] = 7
    space.until = 7
    assert found(space, "harbour") == [1]
    assert found(space, "harbour", kinds=(NOTE,)) == [2]
    assert sorted(found(space, "harbour", kinds=(TURN, NOTE))) == [1, 2]
    space.until = 6
    assert sorted(found(space, "harbour")) == [0, 1]


def test_what_came_later_changes_nothing_as_of_before() -> None:
    early = memory(talk("harbour?", "cold", "so"))
    late = memory(talk("harbour?", "cold", "so", "harbour harbour"))
    late.seen, late.average, late.session_lengths = 3, early.average, early.session_lengths
    late.held = early.held
    assert rank(late, ask("harbour"), PARAMS) == rank(early, ask("harbour"), PARAMS)


def test_parts_multiply_to_the_score() -> None:
    space = memory(talk("did you fish in the harbour?", "I did, yesterday", "Ann said fish"))
    hits = rank(space, ask("When did Ann fish in May 2023?"), PARAMS)
    assert len(hits) == 3
    for hit in hits:
        parts = hit.parts
        sum_ = parts["own"] + parts["around"] + parts["session"] + parts["time"]
        assert parts["relevance"] == pytest.approx(sum_ * parts["speaker"] * parts["asking"] * parts["when"], rel=1e-5)
        assert hit.score == parts["relevance"]


def test_liveliness_orders_what_is_equally_relevant_and_nothing_else() -> None:
    turns = [turn for n in range(3) for turn in talk("a quiet harbour", session=str(n), agents="ann")]
    turns += talk("a quiet harbour harbour with cranes", session="9", agents="ann")

    def latest(documents: np.ndarray) -> np.ndarray:
        return np.where(documents == 2, 1.0, -1.0)

    assert found(memory(turns), "harbour cranes") == [3, 0, 1, 2]
    assert found(memory(turns), "harbour cranes", liveliness=latest) == [3, 2, 0, 1]


def test_liveliness_is_asked_of_the_first_only() -> None:
    turns = [turn for n in range(NEAR + 30) for turn in talk("harbour", session=str(n), agents="ann")]
    asked: list[int] = []

    def note(documents: np.ndarray) -> np.ndarray:
        asked.extend(documents.tolist())
        return np.zeros(len(documents))

    assert found(memory(turns), "harbour", k=3, liveliness=note) == [0, 1, 2]
    assert asked == [*range(NEAR)]


def test_a_great_space_gives_what_scoring_all_of_it_gives() -> None:
    space = generated(20_000, vocabulary=5_000)
    for question in ("w4000 w3000 w20 w3", "w900 w901 w5", "w1 w2 w3 ann"):
        narrowed = rank(space, ask(question), RecallParams(dense=0), 5)
        whole = rank(space, ask(question), RecallParams(dense=100_000), 5)
        assert [hit.document for hit in narrowed] == [hit.document for hit in whole]
        assert [hit.score for hit in narrowed] == pytest.approx([hit.score for hit in whole], rel=1e-4)


def test_a_question_that_failed_leaves_nothing_behind() -> None:
    space = generated(5_000, vocabulary=1_000)
    before = rank(space, ask("w1 w2 w700"), RecallParams(dense=0))
    broken = generated(5_000, vocabulary=1_000)
    broken.held["w3"] = (np.array([4_999, 9_999], np.int32), np.array([1, 1], np.int32))
    with pytest.raises(IndexError):
        rank(broken, ask("w1 w2 w3"), RecallParams(dense=0))
    assert rank(space, ask("w1 w2 w700"), RecallParams(dense=0)) == before
