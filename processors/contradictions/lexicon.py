"""The words by which statements are told, compiled. They are data: one TOML file per language beside this one."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import Stemmer

Kind = Literal["one", "place", "many", "count", "prefer", "now", "measured", "switch", "never"]
"""How many values an attribute has: one at a time; a place or time at a time; many beside each other; so and so many of
each; one of each sort; one at a time where the words say that it changed; one time or quantity. By `switch` and `never`
nothing is stated of its own: they look for what they change."""


class Verb(NamedTuple):
    """What a verb states, in one of its uses."""

    attribute: str
    kind: Kind
    prepositions: frozenset[str]
    """One of which must follow; none for a plain object."""
    negated: bool
    """Whether it denies what others with the attribute affirm."""
    only_negated: bool
    swap: bool
    """Whether a new object can take the place of another ("I drink tea now")."""
    bare: bool
    """Whether it needs no object."""


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_TABLE: dict[str, Any] = tomllib.loads(files(__package__).joinpath("words.en.toml").read_text("utf-8"))
_STEMMER = Stemmer.Stemmer("english", 0)
MAX_STEMS = 1 << 14

EXPAND: dict[str, tuple[str, ...]] = {short: tuple(full.split()) for short, full in _TABLE["expand"].items()}
GROUP: dict[str, str] = {
    word: name for name in reversed(list(_TABLE["group"])) for word in _TABLE["group"][name].split()
}
"""Words that stand about a verb, by what they tell."""
GUARD: dict[str, re.Pattern[str]] = {
    name: _compile(pattern) for name, pattern in _TABLE["guard"].items() if name != "leading"
}
WORDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()}
LEADING = frozenset(_TABLE["guard"]["leading"].split())
"""The first words of what only leads in to a statement."""
LEAD_ON: dict[str, frozenset[str]] = {word: frozenset(words.split()) for word, words in _TABLE["lead_on"].items()}
"""Words that lead in with these behind them."""
CHANGE: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _TABLE["change"].items()}


def _verbs() -> dict[str, tuple[Verb, ...]]:
    found: dict[str, tuple[Verb, ...]] = {}
    for name, entry in _TABLE["verb"].items():
        verb = Verb(
            entry.get("attribute", name), entry["kind"], frozenset(entry.get("prepositions", "").split()),
            entry.get("negated", False), entry.get("only_negated", False), entry.get("swap", False),
            entry.get("bare", False),
        )  # fmt: skip
        for form in f"{entry.get('now', '')} {entry.get('changed', '')}".split():
            found[form] = (*found.get(form, ()), verb)
    return found


VERBS = _verbs()
_stems: dict[str, str] = {}


def stem(word: str) -> str:
    """The stem of a lower-case English word."""
    found = _stems.get(word)
    if found is None:
        if len(_stems) >= MAX_STEMS:
            _stems.clear()
        found = _stems[word] = str(_STEMMER.stemWord(word.replace("our", "or") if word.endswith("our") else word))
    return found


def _stemmed(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


SINGLE = _stemmed(_TABLE["noun"]["one"])
"""Stems of nouns that have one value at a time."""
PERSON = _stemmed(_TABLE["noun"]["person"])
"""Stems of nouns for people."""
SEVERAL = _stemmed(_TABLE["noun"]["many"])
"""Stems of nouns of which one has several."""
EVALUATIVE: frozenset[str] = frozenset(_TABLE["noun"]["evaluative"].split())
"""Words that say how something is, not what."""
CLASS: dict[str, str] = {
    word: name for name in reversed(list(_TABLE["class"])) for word in _TABLE["class"][name].split()
}
"""Words of which one excludes the others, by what they are words of."""
ALIAS: dict[str, str] = {word: name for name, words in _TABLE["alias"].items() for word in words.split()}
"""Words of a class that say the same as another."""
MEAT = frozenset(_TABLE["means"]["diet"].split())
FOLLOW: dict[str, frozenset[str]] = {word: frozenset(words.split()) for word, words in _TABLE["follow"].items()}
"""Of what one must follow, or a word of a class, for a word to state anything."""
STATE: dict[str, str] = _TABLE["state"]
"""Verbs, as the state that they tell."""
THEY = frozenset(("he", "she", "their"))
"""Subjects that point at somebody, as they stand in attributes."""
TRADED = frozenset(("host", "deploy", "bank", "drive", "run", "subscribe", "read", "watch", "build"))
"""What is done with things of which one takes the place of another without further words."""
SWAPPABLE = tuple(dict.fromkeys(verb.attribute for verbs in VERBS.values() for verb in verbs if verb.kind != "never"))
_ENDED = (*STATE, *CHANGE["cancel"], *(word for word, verbs in VERBS.items() if any(verb.bare for verb in verbs)))
TRIGGERS = frozenset(
    [word for word, name in GROUP.items() if name == "is" and word not in ("be", "being")]
    + _TABLE["words"]["contracted"].split()
    + [word for word, verbs in VERBS.items() if any(verb.kind != "never" for verb in verbs)]
    + [word + mark for word in _ENDED for mark in ".,!"]
    + [word for name, words in CHANGE.items() if name != "particles" for word in words]
    + [*STATE, *FOLLOW, "can", "can't", "cannot", "cant", "hasn't", "haven't"]
)
"""A turn without any of these states nothing, unless it points at what was stated."""
