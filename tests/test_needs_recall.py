"""Whether memory must be asked again, told by what is within reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from projections.recall.needs import Need, NeedParams, needs_recall, within_reach
from projections.recall.ranking import RecallParams
from streams.core.events import DAY, MINUTE
from tests.bench.quality_recall import Memory, Turn, memory
from tests.spaces import MINUTE as SOON
from tests.spaces import SPACE, Remembering

SITTINGS = {
    "bread": [
        "My sourdough starter smells of acetone.",
        "Feed the starter with rye flour twice a day.",
        "The crust of the last loaf was burnt, so I lowered the oven to 220 degrees.",
        "Next I will try a longer proof in the fridge.",
    ],
    "lisbon": [
        "The offsite takes place in Lisbon, twelve colleagues are coming.",
        "Marta booked the hotel near the harbour.",
        "We take the train from Porto on Thursday morning.",
        "Dinner is at the fish restaurant, Ben is allergic to shrimp.",
    ],
    "search": [
        "Slow queries come from the tantivy shards.",
        "I rebuild the shards at night with a cron job.",
        "The latency fell to nine milliseconds after the merge.",
    ],
}
BREAD, LISBON, SEARCH = 0, 4, 8
"""The first turns of the sittings."""


@pytest.fixture
def space() -> Memory:
    return memory(
        Turn(name, "ann", day * DAY + n * MINUTE, said)
        for day, (name, turns) in enumerate(SITTINGS.items())
        for n, said in enumerate(turns)
    )


def need(space: Memory, message: str, *at_hand: int, before: str = "", talk: tuple[int, ...] = ()) -> Need:
    params = NeedParams()
    reach = within_reach(params, space, at_hand)
    return needs_recall(params, RecallParams(), space, message, reach, before, talk)


# -- within reach ------------------------------------------------------------------------------------------------------


def test_the_sitting_of_what_is_at_hand_is_within_reach(space: Memory) -> None:
    assert within_reach(NeedParams(), space, [LISBON + 1]).tolist() == [4, 5, 6, 7]


def test_a_sitting_reaches_so_far_and_no_further(space: Memory) -> None:
    assert within_reach(NeedParams(sitting=1), space, [LISBON + 1]).tolist() == [4, 5, 6]
    assert within_reach(NeedParams(sitting=0), space, [LISBON + 1]).tolist() == [5]


def test_what_is_linked_is_within_reach_without_its_sitting(space: Memory) -> None:
    assert within_reach(NeedParams(), space, [SEARCH], [BREAD + 1]).tolist() == [1, 8, 9, 10]


def test_nothing_is_within_reach_of_nothing(space: Memory) -> None:
    assert within_reach(NeedParams(), space, []).tolist() == []


def test_what_was_retracted_is_not_within_reach(space: Memory) -> None:
    space.documents.ended[LISBON] = 0
    assert within_reach(NeedParams(), space, [LISBON, LISBON + 1]).tolist() == [5, 6, 7]


def test_what_came_after_the_position_asked_is_not_within_reach(space: Memory) -> None:
    space.seen = LISBON + 2
    assert within_reach(NeedParams(), space, [LISBON, -1, SEARCH], [-1]).tolist() == [4, 5]


# -- what needs recall -------------------------------------------------------------------------------------------------


def test_a_question_needs_recall_where_nothing_is_at_hand(space: Memory) -> None:
    assert need(space, "Which hotel did Marta book?") == Need(True, "nothing at hand")


def test_a_question_about_the_same_sitting_needs_none_and_is_answered_by_it(space: Memory) -> None:
    found = need(space, "What is Ben allergic to?", LISBON + 1)
    assert (found.recall, found.why, found.cover) == (False, "within reach", 1.0)
    assert found.hits[0].document == LISBON + 3
    assert {hit.document for hit in found.hits} <= {4, 5, 6, 7}


def test_a_question_about_another_topic_does(space: Memory) -> None:
    found = need(space, "How do I rebuild the shards?", LISBON + 1)
    assert (found.recall, found.why, found.hits) == (True, "elsewhere", [])
    assert found.cover < NeedParams().enough


def test_no_more_answers_than_asked_for(space: Memory) -> None:
    reach = within_reach(NeedParams(), space, [SEARCH])
    message = "How do I rebuild the shards, and what of the latency?"
    two, all_ = (needs_recall(NeedParams(), RecallParams(), space, message, reach, k=k).hits for k in (2, 5))
    assert len(all_) == 3
    assert two == all_[:2]


def test_what_links_bring_within_reach_needs_none(space: Memory) -> None:
    reach = within_reach(NeedParams(), space, [LISBON], [SEARCH, SEARCH + 1])
    assert not needs_recall(NeedParams(), RecallParams(), space, "How do I rebuild the shards?", reach).recall


def test_how_much_better_the_answers_elsewhere_must_be_is_a_parameter(space: Memory) -> None:
    reach = within_reach(NeedParams(), space, [LISBON])
    message = "How do I rebuild the shards?"
    found = [needs_recall(NeedParams(enough=e), RecallParams(), space, message, reach) for e in (0.0, 1.0)]
    assert [one.recall for one in found] == [False, True]
    assert found[0].cover == found[1].cover


def test_a_turn_elsewhere_that_holds_little_of_a_message_is_no_reason_to_recall(space: Memory) -> None:
    full, little = "How do I rebuild the shards?", "Is Ben at the harbour, or do the others in Porto rebuild something?"
    assert need(space, full, LISBON).recall
    assert not need(space, little, LISBON).recall


def test_what_the_session_itself_says_is_neither_within_reach_nor_elsewhere(space: Memory) -> None:
    """Else the message itself, once it is recorded, would be its own best answer."""
    message = "Next I will try a longer proof in the fridge, and what of Marta?"
    assert need(space, message, LISBON).why == "elsewhere"
    found = need(space, message, LISBON, talk=(BREAD + 3,))
    assert (found.why, found.hits[0].document) == ("within reach", LISBON + 1)
    assert BREAD + 3 not in {hit.document for hit in need(space, message, BREAD, talk=(BREAD + 3,)).hits}


@pytest.mark.parametrize("message", ["", "?", "Thanks, bye!", "Ok, great.", "Hi! How are you?", "👍", "Sounds good!"])
def test_small_talk_needs_none_whatever_is_at_hand(space: Memory, message: str) -> None:
    assert not need(space, message).recall
    assert need(space, message, LISBON) == Need(False, "small talk")


def test_what_the_space_has_never_heard_of_needs_none(space: Memory) -> None:
    assert need(space, "Who is the president of Uruguay?") == Need(False, "never heard of")
    assert need(space, "Who is the president of Uruguay?", LISBON) == Need(False, "never heard of")


def test_a_question_after_a_time_or_in_other_words_is_no_small_talk(space: Memory) -> None:
    assert need(space, "What happened in January 1970?", LISBON).why == "within reach"
    car = memory([Turn("a", "ann", 0, "The vehicle broke down"), Turn("b", "ann", DAY, "Fine weather")])
    assert need(car, "Whose car?") == Need(True, "nothing at hand")


def test_an_answer_to_the_agents_question_needs_none(space: Memory) -> None:
    asked = "Which loaf do you mean?"
    assert need(space, "The one with the tantivy shards", LISBON, before=asked).why == "an answer"
    assert need(space, "Which tantivy shards do you mean?", LISBON, before=asked).recall


def test_a_message_that_only_tells_needs_recall_where_nothing_is_at_hand(space: Memory) -> None:
    told = "I rebuilt the tantivy shards."
    assert need(space, told) == Need(True, "nothing at hand")
    assert need(space, told, LISBON).why == "told only"


@pytest.mark.parametrize("message", ['"(((', "NOT a AND *", "東京の天気は?", "\x00", "x" * 40_000, "the " * 20_000])
def test_any_text_is_a_message(space: Memory, message: str) -> None:
    assert not need(space, message, LISBON).recall


def test_an_empty_space_needs_no_recall() -> None:
    space = memory([Turn("a", "ann", 0, "only this")])
    space.seen, space.held = 0, {}
    assert not need(space, "Which hotel did Marta book?").recall


# -- asked of a memory -------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Remembering]:
    """The sittings, a day each: t0 to t10; then "now" is told t5 and t4 on the third day."""
    with Remembering(tmp_path) as home:
        for day, (name, turns) in enumerate(SITTINGS.items()):
            for n, said in enumerate(turns):
                home.say(said, day + n * SOON, session=name)
        home.show("Which hotel did Marta book?", "t5", "t4", day=3, session="now")
        yield home


def asked(home: Remembering, message: str, **how: Any) -> dict[str, Any]:
    return dict(home.ask("needs_recall", **{"space": SPACE, "session": "now", "message": message} | how))


def test_a_session_is_answered_from_what_it_was_shown_and_its_sitting(home: Remembering) -> None:
    found = asked(home, "What is Ben allergic to?")
    assert (found["needed"], found["reason"], found["cover"]) == (False, "within reach", 1.0)
    assert [(item["id"], item["shown_at"], item["text"]) for item in found["items"]] == [
        ("t5", home.when(3), SITTINGS["lisbon"][1]),
        ("t4", home.when(3), SITTINGS["lisbon"][0]),
    ]
    first = found["hits"][0]
    assert (first["id"], first["kind"], first["turns"], first["text"]) == ("t7", "turn", ["t7"], SITTINGS["lisbon"][3])
    recalled = home.recall("What is Ben allergic to?", kinds=["turn"])["hits"][0]
    assert first["parts"]["relevance"] == recalled["parts"]["relevance"]


def test_a_session_that_turns_to_something_else_must_ask(home: Remembering) -> None:
    found = asked(home, "How do I rebuild the shards?")
    assert (found["needed"], found["reason"], found["hits"]) == (True, "elsewhere", [])
    assert [item["id"] for item in found["items"]] == ["t5", "t4"]


def test_nothing_is_at_hand_in_another_session_nor_after_five_minutes(home: Remembering) -> None:
    for how in ({"session": "other"}, {"at": home.when(3 + 6 * SOON)}):
        found = asked(home, "What is Ben allergic to?", **how)
        assert (found["needed"], found["reason"], found["items"]) == (True, "nothing at hand", [])


def test_what_is_retracted_is_neither_at_hand_nor_an_answer(home: Remembering) -> None:
    home.retract("t5", day=3)
    home.retract("t7", day=3)
    found = asked(home, "What is Ben allergic to, and which hotel did Marta book?")
    assert [item["id"] for item in found["items"]] == ["t4"]
    assert {"t5", "t7"}.isdisjoint(hit["id"] for hit in found["hits"])


def test_a_message_that_is_recorded_already_is_no_answer_to_itself(home: Remembering) -> None:
    message = "How do I rebuild the shards?"
    home.say(message, day=3 + SOON, session="now")
    assert asked(home, message)["reason"] == "elsewhere"
    home.say("What is Ben allergic to?", session="now")
    assert asked(home, "What is Ben allergic to?")["hits"][0]["id"] == "t7"


def test_what_the_agent_asked_since_it_recalled_is_answered_without(home: Remembering) -> None:
    home.say("Which shards do you mean?", day=3 + SOON, session="now", role="assistant")
    assert asked(home, "The tantivy shards")["reason"] == "an answer"
    home.say("The tantivy shards", day=3 + 2 * SOON, session="now")
    assert asked(home, "The tantivy shards")["reason"] == "an answer"
    home.show("tantivy", "t8", day=3 + 3 * SOON, session="now")
    assert asked(home, "The tantivy shards")["reason"] == "told only"


def test_what_was_shown_together_often_enough_is_within_reach(home: Remembering) -> None:
    message = "How do I rebuild the shards?"
    for day in (4, 5, 6):
        home.show("offsite and shards", "t5", "t9", day=day)
    home.show("Which hotel did Marta book?", "t5", day=7, session="now")
    assert asked(home, message)["hits"][0]["id"] == "t9"
