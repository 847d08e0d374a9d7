"""The cue tables of claims, compiled, and which words call for which of their groups.

The tables are data: one TOML file per language beside this one. A word that calls for a group sets a bit of it; a turn
without any such bit is not looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from streams.core.dataclasses import dataclass
from streams.core.patterns import lazily
from streams.core.text.cues import LANGUAGES
from streams.core.text.sentences import QUOTES, WORD, lower

MARKED, QUERY, ASKS, OPENS, MAY_OPEN, FIRST = 1, 2, 4, 8, 16, 32
"""Bits of a word: holds quotation marks or the like; holds a question mark; ends a sentence with one; may leave a turn
open, as it stands; may in lower case. From FIRST on, the bits of groups."""
MIN_PART = 3
"""Shorter parts of phrases stand in most turns."""


@dataclass
class Group:
    """Phrases that claim the same."""

    name: str
    pattern: str
    confidence: float
    roles: frozenset[str]
    """Only of turns in these roles."""
    bit: int
    found: re.Pattern[str]
    words: Sequence[str]

    @cached_property
    def near(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """A sentence without any of these is not looked at: by a part that they share, so that few are looked for."""
        return _by_part(_shortest(self.words))


class Language(NamedTuple):
    """The cue table of a language, compiled."""

    groups: tuple[Group, ...]
    against: dict[str, re.Pattern[str]]
    hands: tuple[str, ...]
    """Words of handing over; a sentence without any is not looked at for it."""
    polite: tuple[str, ...]
    """The same for courtesies."""
    mask: int
    guards: dict[str, frozenset[str]]
    """By the name of what speaks against a claim: words, none of which stands where nothing does."""


_AGAINST = (
    "hypothetical", "temporal", "negated", "reported", "hedged", "before", "after", "partial", "question", "contrast",
    "request", "imperative", "deferral", "unless_need", "light", "neutral", "yes",
    "waits", "insists", "promises", "courtesy", "handoff", "offered",
)  # fmt: skip
"""What speaks against a claim, and what an answer leaves open; a language may leave any of them out."""
_AT_START = frozenset(("after", "question", "imperative", "light", "neutral", "yes"))


def _compile(phrases: str, start: bool = False) -> re.Pattern[str]:
    edge = "" if start else r"(?<!\w)"
    return lazily(rf"{edge}(?:{phrases})(?!\w)" if phrases else "(?!)")


_REPORTING = frozenset(("done", "barely", "resolved", "answer", "decided", "negation", "convergence"))
"""Groups that count in an assistant's turn as well as in a user's."""


def _shortest(near: Sequence[str]) -> tuple[str, ...]:
    """Those that hold none of the others: "closed" tells nothing where "close" is looked for."""
    return tuple(dict.fromkeys(word for word in near if not any(part != word and part in word for part in near)))


def _by_part(near: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words by a part that several share, the part that most of them share first; the others by themselves."""
    found: list[tuple[str, tuple[str, ...]]] = []
    left = [*near]
    while left:
        shared = Counter(part for word in left for part in sorted(_parts(word)))
        part = max(shared, key=lambda part: (shared[part], len(part)))
        found.append((part, tuple(word for word in left if part in word)))
        left = [word for word in left if part not in word]
    return tuple(found)


def _parts(word: str) -> set[str]:
    """The word, and what of it others may share."""
    size = len(word)
    return {word, *(word[i:j] for i in range(size) for j in range(i + MIN_PART, size + 1))}


def _group(name: str, table: dict[str, Any], bit: int) -> Group:
    role = table.get("role", "")
    roles = frozenset((role,)) if role else frozenset(("user", "assistant") if name in _REPORTING else ("user",))
    words = table.get("near", table["words"].split())
    return Group(name, table["pattern"], table["confidence"], roles, bit, _compile("|".join(table["phrases"])), words)


def _forms(words: str) -> list[str]:
    """Words as they may stand between spaces."""
    return [word + mark for word in words.split() for mark in ("", *".,!?;:)*", "!!", "...", "**", ".*", "!*", '"')]


def _load() -> tuple[tuple[Language, ...], dict[str, int], frozenset[str]]:
    languages: list[Language] = []
    bits: dict[str, int] = {}
    opening: set[str] = set()
    bit = FIRST
    for code in LANGUAGES:
        table = tomllib.loads(files(__package__).joinpath(f"claims.{code}.toml").read_text("utf-8"))
        groups: list[Group] = []
        for name, group in table["group"].items():
            groups.append(_group(name, group, bit))
            for form in _forms(group["words"]):
                bits[form] = bits.get(form, 0) | bit
            bit <<= 1
        left_open = table.get("open", {})
        forms = _forms(left_open.get("words", ""))
        opening.update(forms, [form.capitalize() for form in forms], [form.upper() for form in forms])
        said = {**table.get("against", {}), **left_open}
        against = {name: _compile(said.get(name, ""), name in _AT_START) for name in _AGAINST}
        guards = {name: frozenset(words.split()) for name, words in table.get("guards", {}).items()}
        mask = sum(group.bit for group in groups)
        hands, polite = tuple(left_open.get("hands", ())), tuple(left_open.get("polite", ()))
        languages.append(Language(tuple(groups), against, hands, polite, mask, guards))
    return tuple(languages), bits, frozenset(opening)


TABLES, _BITS, OPENING = _load()
"""Also: what words call for, as they may stand between spaces: bits of groups; words that may leave a turn open."""
LEAVE_OPEN = tuple(language for language in TABLES if language.hands)
"""The languages that tell what an answer leaves open."""


def triggers(raw: str) -> int:
    """What a whitespace-separated word calls for: bits."""
    lowered = lower(raw)
    bits = 0
    for word in lowered.split():
        bits |= _BITS.get(word, 0) | (MAY_OPEN if word in OPENING else 0)
    if raw in OPENING:
        bits |= OPENS
    if "##" in raw or "~~~" in raw or QUOTES.search(lowered):
        bits |= MARKED
    if "?" in raw:
        bits |= QUERY
    if lowered.endswith("?") and WORD.search(lowered):
        bits |= ASKS
    return bits
