"""Whether memory must be asked again, told by what is within reach."""

from __future__ import annotations

import pytest

from projections.recall.needs import Need, NeedParams, needs_recall, within_reach
from streams.events import DAY, MINUTE
from tests.bench.quality_recall import Memory, Turn, memory

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


def need(space: Memory, message: str, *at_hand: int, cues: tuple[str, ...] = (), since: tuple[str, ...] = ()) -> Need:
    params = NeedParams()
    return needs_recall(params, space, message, within_reach(params, space, at_hand), cues, since)


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


def test_a_question_about_the_same_sitting_needs_none(space: Memory) -> None:
    assert need(space, "What is Ben allergic to?", LISBON + 1, since=("Which hotel?",)).why == "within reach"


def test_a_question_about_another_topic_does(space: Memory) -> None:
    found = need(space, "How do I rebuild the shards?", LISBON + 1)
    assert (found.recall, found.why, found.cover) == (True, "elsewhere", 0.0)


def test_what_links_bring_within_reach_needs_none(space: Memory) -> None:
    params = NeedParams()
    reach = within_reach(params, space, [LISBON], [SEARCH, SEARCH + 1])
    assert not needs_recall(params, space, "How do I rebuild the shards?", reach).recall


def test_what_was_asked_a_moment_ago_needs_no_second_recall(space: Memory) -> None:
    assert need(space, "And the shards?", LISBON).recall
    assert not need(space, "And the shards?", LISBON, cues=("how to rebuild the shards",)).recall


@pytest.mark.parametrize("message", ["", "?", "Thanks, bye!", "Ok, great.", "Hi! How are you?", "👍", "Sounds good!"])
def test_small_talk_needs_none_whatever_is_at_hand(space: Memory, message: str) -> None:
    assert not need(space, message).recall
    assert need(space, message, LISBON) == Need(False, "small talk")


def test_what_the_space_has_never_heard_of_needs_none(space: Memory) -> None:
    assert not need(space, "Who is the president of Uruguay?").recall
    assert not need(space, "Who is the president of Uruguay?", LISBON).recall


def test_an_answer_to_the_agents_question_needs_none(space: Memory) -> None:
    asked = "Which loaf do you mean?"
    assert need(space, "The one with the tantivy shards", LISBON, since=(asked,)) == Need(False, "an answer")
    assert need(space, "Which shards do you mean?", LISBON, since=(asked,)).recall


def test_a_topic_just_recalled_is_taken_to_go_on() -> None:
    turns = [Turn("a", "ann", 0, "red lamp"), Turn("b", "ann", DAY, "blue lamp"), Turn("c", "ann", 2 * DAY, "red door")]
    space = memory(turns)
    params = NeedParams(theme=0, enough=0.45, settled=0.4)
    reach = within_reach(params, space, [0])
    assert not needs_recall(params, space, "blue lamp?", reach, since=["hm"]).recall
    assert needs_recall(params, space, "blue lamp?", reach, since=["hm"] * 9).recall


def test_of_a_theme_of_every_sitting_most_lies_elsewhere() -> None:
    turns = [Turn(str(n), "ann", n * DAY, f"our dance studio {n}{n}{n}") for n in range(40)]
    space = memory(turns)
    one, all_of_it = NeedParams(theme=0), NeedParams(theme=1)
    reach = within_reach(one, space, [0])
    assert not needs_recall(one, space, "What about the dance studio?", reach).recall
    assert needs_recall(all_of_it, space, "What about the dance studio?", reach).recall


@pytest.mark.parametrize("message", ['"(((', "NOT a AND *", "東京の天気は?", "\x00", "x" * 40_000, "the " * 20_000])
def test_any_text_is_a_message(space: Memory, message: str) -> None:
    assert not need(space, message, LISBON).recall


def test_an_empty_space_needs_no_recall() -> None:
    space = memory([Turn("a", "ann", 0, "only this")])
    space.seen, space.held = 0, {}
    assert not need(space, "Which hotel did Marta book?").recall
