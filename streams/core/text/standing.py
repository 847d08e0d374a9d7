"""What a user says that holds from now on: how something is always or never to be done, what needs whose leave, how
they prefer it, and what somebody's body or faith forbids.

Such a sentence shares no word with the requests that it concerns ("never push to main" with "finish the parser", "he
is allergic to nuts" with "a cake for Sunday?"), so nothing that goes by words brings it back. Its grammar shows it:

    rule         a word of all times at the beginning of a clause whose subject is not said ("never push …"), or with
                 one of wanting or of duty ("I always want …"); what is said of all of a kind to need leave ("refunds
                 need approval")
    preference   a verb of preferring, where the speaker does
    condition    somebody is or has what forbids them things, by the beginnings of such words, at their clause's end or
                 before "to"

Not where it asks, nor where what somebody else did is told ("she always forgets"). The words are in standing.toml.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Literal, NamedTuple

from streams.core.text.commonness import LIGHT, rarity
from streams.core.text.reminders import MAX_READ, sentences_of
from streams.core.text.terms import scan

Sort = Literal["rule", "preference", "condition"]
MOST, LONGEST = 3, 60
"""Sentences taken of a turn, and words of one: what is longer is no rule that a person gives in passing."""
NEAR = 4
"""Words before what somebody has in which it is told that they have it."""
_TABLE = tomllib.loads(files(__package__).joinpath("standing.toml").read_text("utf-8"))
_SETS = {name: frozenset(words.split()) for name, words in _TABLE.items()}
_FROM_ON = tuple(one.strip() for one in _TABLE["from_on"].replace("\n", "").split("|"))
_CONDITIONS = tuple(_TABLE["conditions"].split())
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:]")
_PARTS = tuple(sorted(
    _SETS["quantifiers"] | _SETS["prefers"] | _SETS["obliged"] | {*_FROM_ON, *_CONDITIONS}
))  # fmt: skip
"""What a text with such a sentence holds, each looked for at once: most texts hold none."""


class Standing(NamedTuple):
    """A sentence that holds from now on."""

    sort: Sort
    text: str


def standing(content: str) -> list[Standing]:
    """What a user's words say to hold from now on."""
    begins = content[:MAX_READ].lower()
    if not any(part in begins for part in _PARTS):
        return []
    found = []
    for sentence, _ in sentences_of(content):
        lowered = sentence.lower().replace("’", "'")
        words = _WORD.findall(lowered)
        if lowered.rstrip()[-1:] in "?？" or len(words) > LONGEST or not _tells(sentence):
            continue
        if sort := _sort(lowered, words):
            found.append(Standing(sort, sentence))
    return found[:MOST]


def _tells(sentence: str) -> bool:
    """Whether it names a matter: "never give up" does not."""
    return any(rarity(term) != LIGHT for term in scan(sentence).terms)


def _sort(lowered: str, words: list[str]) -> Sort | None:
    said = {*words}
    if any(word.startswith(_CONDITIONS) and _has(words, at) for at, word in enumerate(words)):
        return "condition"
    if any(word in _SETS["prefers"] and _mine(words, at) for at, word in enumerate(words)):
        return "preference"
    if not said.isdisjoint(_SETS["obliged"]) and _obliges(words):
        return "rule"
    if any(phrase in lowered for phrase in _FROM_ON):
        return "rule"
    for at, word in enumerate(words):
        if word in _SETS["quantifiers"] and (_opens(words, at) or not said.isdisjoint(_SETS["wants"])):
            return "rule"
    return None


def _has(words: list[str], at: int) -> bool:
    """Whether it is what somebody is or has: "he has a nut allergy", and not "the allergy test is in May"."""
    behind = words[at + 1 : at + 2]
    return not _SETS["has"].isdisjoint(words[max(0, at - NEAR) : at]) and (not behind or behind[0] in _SETS["ends"])


def _mine(words: list[str], at: int) -> bool:
    """Whether it is the speaker who prefers: what others do belongs to them (see processors/objects)."""
    before = words[at - 1] if at else ","
    return before in _SETS["first"] or before in _SETS["opens"] or before in ",;:"


def _obliges(words: list[str]) -> bool:
    """Whether something must be: not "no need"."""
    return any(
        word in _SETS["obliges"] and words[max(0, at - 1) : at] not in (["no"], ["not"], ["don't"])
        for at, word in enumerate(words)
    )


def _opens(words: list[str], at: int) -> bool:
    """Whether a word of all times begins a clause that orders something: what comes behind it is no subject, and it is
    not what somebody did."""
    before, behind = words[at - 1] if at else ",", words[at + 1 : at + 2]
    if not (before in _SETS["opens"] or before in ",;:"):
        return False
    return bool(behind) and behind[0] not in _SETS["people"] and behind[0] not in ",;:" and not behind[0].endswith("ed")
