"""What a turn says for good: of its speaker, of the speaker's people and things, of a thing by a value."""

from __future__ import annotations

import pytest

from processors.contradictions.beliefs import beliefs
from processors.contradictions.values import MAX_ATTRIBUTE, MAX_VALUE


def told(text: str, own: bool = True) -> list[tuple[str, str]]:
    """Attributes and values; of what is denied the value stands behind "not"."""
    return [(one.attribute, one.value if one.affirmed else f"not {one.value}") for one in beliefs(text, own)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I live in Leeds now.", [("lives in", "leeds")]),
        ("We work at the quarry, mostly nights.", [("works at", "the quarry")]),
        ("I've been a nurse for 5 years.", [("has been", "a nurse for 5 years")]),
        ("I'm allergic to walnuts and most cheeses.", [("is allergic to", "walnuts and most cheeses")]),
        ("We moved to Ghent last spring.", [("moved to", "ghent last spring")]),
        ("I've got two cats and a tortoise.", [("has", "two cats and a tortoise")]),
        (
            "I adore old maps, brass clocks, and rainy ferries.",
            [("adores", "old maps, brass clocks, and rainy ferries")],
        ),
        ("I'm 34 and I'm from a village in Wales.", [("is", "34"), ("is from", "a village in wales")]),
        ("I'm learning Basque.", [("is learning", "basque")]),
        ("I've always wanted to learn the harp.", [("has always wanted to", "learn the harp")]),
        ("I used to breed goats.", [("used to", "breed goats")]),
        ("I'd love to open a bindery.", [("would love to", "open a bindery")]),
        ("Lost my job in May.", [("lost", "my job in may")]),
        ("We've been married for ten years.", [("has been", "married for ten years")]),
        ("Last month I joined a rowing club.", [("joined", "a rowing club")]),
        ("Just to let you know that I'm allergic to bees.", [("is allergic to", "bees")]),
        ("I found out I'm diabetic.", [("is", "diabetic")]),
        ("Since I'm vegan I eat no cheese.", [("is", "vegan")]),
        ("I won another chess tournament!", [("won", "another chess tournament")]),
        ("I'm doing fencing.", [("is doing", "fencing")]),
        ("My goal is to give street cats a home.", [("goal", "give street cats a home")]),
        ("Thunder calms me.", [("is calmed by", "thunder")]),
        ('I wrote a song called "Low Tide." It was short.', [("wrote", "a song called low tide")]),
    ],
)
def test_what_people_tell_of_themselves_is_read(said: str, expected: list[tuple[str, str]]) -> None:
    assert told(said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "My sister lives in Turku and works as a glazier.",
            [("sister lives in", "turku"), ("sister works as", "a glazier")],
        ),
        ("My son Tom plays the cello.", [("son tom plays", "the cello")]),
        ("Our dog is called Bramble.", [("dog is called", "bramble")]),
        ("My favourite colour is ochre.", [("favourite colour", "ochre")]),
        ("Ochre is my favourite colour.", [("favourite colour", "ochre")]),
        ("My dream is to restore a windmill.", [("dream", "restore a windmill")]),
        ("Rowing keeps me calm and helps me sleep.", [("rowing keeps", "calm")]),
        ("Marta lives in Porto.", [("marta lives in", "porto")]),
        ("My name's Ilse.", [("name", "ilse")]),
    ],
)
def test_what_people_tell_of_theirs_is_read(said: str, expected: list[tuple[str, str]]) -> None:
    assert told(said)[:2] == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The press deadline is Friday.", [("press deadline", "friday")]),
        ("The deadline of the report is Friday.", [("deadline of the report", "friday")]),
        ("The gateway port is 8443 now.", [("gateway port", "8443")]),
        ("My deadline is Monday at 10.", [("deadline", "monday at 10")]),
        ("Our budget is 400 dollars, as agreed.", [("budget", "400 dollars")]),
    ],
)
def test_a_thing_is_told_of_by_a_value(said: str, expected: list[tuple[str, str]]) -> None:
    assert told(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "I'm dead.",
        "I'm so tired, I'm a mess.",
        "I'm on the train.",
        "I live for this.",
        "I have to be at the dentist by nine.",
        "I have a meeting.",
        "Hey John, stay safe!",
        "I am writing all my plans down.",
        "I've been rowing farther these weeks.",
        "I love that!",
        "I love how you did it.",
        "I have it here.",
        "I love your painting.",
        "The heating is on.",
        "He lives in Bath.",
        "I like a long table.",
        "I like helping people.",
        "I hate myself.",
        "I'd love to join in and cheer.",
        "I'm going to write to the mayor.",
        "I'm going to get the glue.",
        "I'm a tree's mother.",
        "I've told mum.",
        "I'm writing out labels.",
        "I'm writing the cold open.",
        "We're 14 now.",
        "We drink tea.",
        "Then I eat rice.",
        "We can't have yellow.",
        "I've enrolled for April 11.",
        "The son is called Ned.",
        "He's adopted. We adopted last Tuesday.",
        "Every ledger I own lives in a crate.",
        "Ochre is my top pick.",
    ],
)
def test_moods_sayings_and_what_points_at_what_is_not_there_are_no_beliefs(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "If I lived in Oslo I'd be happy.",
        "If we move I'm selling the car and I live in Rome then.",
        "I wish I lived in Oslo.",
        "Maybe I work at the wrong place.",
        "Do you think I live in Oslo?",
        "I live in Oslo, right?",
        'She wrote "I live in Oslo" on it.',
        "I live in a pumpkin lol",
        "I lived in Oslo.",
        "I live in Oslo today.",
        "I should call it lilac and wear a cardigan.",
    ],
)
def test_what_is_supposed_asked_quoted_joked_or_over_is_no_belief(said: str) -> None:
    assert told(said) == []


def test_a_clause_before_a_question_is_a_belief() -> None:
    assert told("I live in Bergen, how about you?") == [("lives in", "bergen")]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I don't eat meat.", [("eats", "not meat")]),
        ("I'm not married.", [("is", "not married")]),
        ("I can't stand loud music.", [("can stand", "not loud music")]),
        ("I never drink coffee.", [("drinks", "not coffee")]),
        ("I don't have any siblings.", [("has", "not any siblings")]),
    ],
)
def test_what_is_denied_is_told_as_denied(said: str, expected: list[tuple[str, str]]) -> None:
    assert told(said) == expected


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I love ferries and it shows.", "ferries"),
        ("I love ferries because they are slow.", "ferries"),
        ("I love ferries, but not today.", "ferries"),
        ("I love ferries and my brother hates them.", "ferries"),
        ("I love ferries when the sea is calm", "ferries"),
        ("I love ferries that cross at night.", "ferries that cross at night"),
    ],
)
def test_a_value_ends_where_the_next_clause_begins(said: str, value: str) -> None:
    assert told(said)[0] == ("loves", value)


@pytest.mark.parametrize(
    "said",
    [
        "The deadline is Friday.",
        "The port is 8443 now.",
        "Budget is 25.",
        "The new window is Sunday.",
        "The extended deadline is Monday.",
        "The van is 12.",
    ],
)
def test_a_measure_that_does_not_say_of_what_it_is_is_no_belief_of_anybody(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I've been to Rome and counted the cats.", ("has been to", "rome")),
        ("I've been to Rome and Siena.", ("has been to", "rome and siena")),
        ("I built a studio last week to store harps.", ("built", "a studio")),
        ("I'm passionate about seeing rivers cleaned and restored.",
         ("is passionate about", "seeing rivers cleaned and restored")),
        ("I've bought a caravan, a 1998 with a stove.", ("has bought", "a caravan")),
        ("My sister has bought a piano, having sold me hers.", ("sister has bought", "a piano")),
        ("I live on Dock Road, third floor, me, my wife and a cat.", ("lives on", "dock road")),
        ("I'm offering clay lessons and firing to help beginners find their feet.",
         ("is offering", "clay lessons and firing")),
        ("My nephew's an accountant.", ("nephew is", "an accountant")),
        ("My own mother used to breed goats.", ("mother used to", "breed goats")),
    ],
)  # fmt: skip
def test_a_value_is_whole_and_without_what_is_told_besides(said: str, expected: tuple[str, str]) -> None:
    assert told(said)[0] == expected


def test_who_speaks_for_others_tells_nothing_of_himself() -> None:
    assert told("I live in Ghent. The press deadline is Friday.", own=False) == [("press deadline", "friday")]


def test_a_language_without_a_table_is_not_read() -> None:
    assert told("Ich wohne in Köln und arbeite bei der Bahn, und ich habe zwei Kinder.") == []


def test_attributes_and_values_are_bounded_whatever_a_turn_is_made_of() -> None:
    words = "I love " + "very long and winding " * 40
    for text in (
        words,
        "my " * 300,
        "I live in " * 60,
        "I'm a " + "big " * 200 + "fan of tea",
        "and " * 200,
        "'" * 400,
    ):
        assert all(len(one.value) <= MAX_VALUE and len(one.attribute) <= MAX_ATTRIBUTE for one in beliefs(text))
