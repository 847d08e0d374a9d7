"""What an effort is called: names first, then the words that tell it apart, as they were written.

    telling(term) = rarity(term) * sqrt(uses) / df(term)

rarity is how uncommon the word is in general (see commonness), df how many active efforts speak of it. An effort that
just opened has no uses to weigh: its words are those of its first turn, the uncommon ones first.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from math import sqrt
from operator import itemgetter

from processors.open_efforts.index import Active
from processors.open_efforts.records import Effort
from streams.core.text import Text
from streams.core.text.commonness import CLASSES, COMMON, LIGHT, ORDINARY, RARE

TOPIC = 200
"""Characters of a topic at most."""
WORDS, NAMED, TOLD = 5, 2, 12
"""Words and, among them, names of a topic; terms told of an effort."""
TELLS = {LIGHT: 0.25, COMMON: 0.6, ORDINARY: 0.9, RARE: 1.0}


def called(names: Iterable[str], words: Iterable[str], people: Container[str]) -> str:
    """A topic: at most two names that are not people talking, then words that these do not hold already."""
    title: list[str] = []
    for name in names:
        if sum(map(str.isalpha, name)) >= 2 and name not in people and len(title) < NAMED:
            title.append(name)
    for word in words:
        if len(title) >= WORDS:
            break
        if len(word) > 1 and not word.isdigit() and not _held(word, title):
            title.append(word)
    return " ".join(title)[:TOPIC]


def _held(word: str, title: list[str]) -> bool:
    """Whether a word of the title holds the word, or the word holds it."""
    for known in title:  # noqa: SIM110 - a generator costs more than the few words it would go through
        if word in known or known in word:
            return True
    return False


def opening(text: Text, names: list[str], people: Container[str]) -> str:
    """The topic of an effort that opens with a turn; its own words whatever they are, rather than none."""
    tells = {form: TELLS[CLASSES[term]] for term, form in zip(text.terms, text.forms, strict=False)}
    ranked = sorted(tells, key=tells.__getitem__, reverse=True)
    held = " ".join(names)
    words = [word for word in ranked if len(word) > 1 and word not in people and word not in held][:WORDS]
    found = called(names, [word for word in tells if word in words], people)
    return found or " ".join([*names, *text.forms, *text.calls][:WORDS])[:TOPIC]


def telling(index: Active, effort: Effort) -> list[str]:
    """An effort's most telling terms, best first."""
    # Why: what few turns use tells little of a long effort, and weighing it all costs more than it gives.
    least = effort.turns // 8
    often = [use for use in effort.terms.items() if use[1] > least]
    if len(often) < TOLD:
        often = sorted(effort.terms.items(), key=itemgetter(1), reverse=True)[: 2 * TOLD]
    get = index.terms.get
    tells = {term: TELLS[CLASSES[term]] * sqrt(uses) / (get(term, 0).bit_count() or 1) for term, uses in often}
    return sorted(tells, key=tells.__getitem__, reverse=True)[:TOLD]


def progressed(effort: Effort, people: Container[str]) -> str:
    """The topic of an effort that has gone on."""
    names = sorted(effort.names, key=lambda name: -effort.names[name])[: NAMED + 4]
    words = [effort.forms[term] for term in effort.told if term in effort.forms]
    return called(names, [word for word in words if word not in people], people) or effort.topic
