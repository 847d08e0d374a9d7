"""The words that statements are read by, compiled: one table per language, see words.toml.

A turn is read by the table of the language that most of its little words belong to, and by no other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import Stemmer

from streams.core.patterns import lazily
from streams.core.text.memo import Memo

_TABLES: dict[str, dict[str, Any]] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
_SORTS = _TABLES.pop("sorts")
LANGUAGES = tuple(_TABLES)
ACTS = ("change", "correct", "now", "also", "still", "past", "maybe", "ask", "says", "other", "once")
"""What words say of how a statement stands to others, or why it may be none."""
_ROLES = ("be", "verb", "me", "we", "they", "not", "scope", "drop", "deny", "function")
BITS = {name: 1 << place for place, name in enumerate((*ACTS, *_ROLES))}
ACT = (1 << len(ACTS)) - 1
BE, VERB, ME, WE, THEY, NOT, SCOPE, DROP, DENY, FUNCTION = (BITS[name] for name in _ROLES)
LITTLE = BE | ME | WE | THEY | SCOPE | DROP | FUNCTION
_ODD = lazily(r"[\d@_$€£]")
SHORT = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
"""Verbs that are written together with the word before."""
IS_BEHIND = frozenset(("it", "that", "he", "she", "there", "name", "what", "who", "here", "where"))
"""Words behind which "'s" is a verb."""
_STEMMERS = {"en": "english", "de": "german", "es": "spanish", "fr": "french"}


class Word(NamedTuple):
    """What is known of a word in a language."""

    bits: int
    stem: str
    """Words that mean one thing have one stem (`like`)."""
    sort: str
    """What excludes others of its sort: "weekday", "month", "count", "colour"; "" for most words."""
    value: str
    about: int
    """Bits of what it is told of."""
    odd: bool
    """Whether it may be a value by how it is written: with a digit, say."""
    telling: bool
    """Whether it is neither a little word nor one of an act."""


class Language:
    """One language's words."""

    def __init__(self, name: str, table: dict[str, Any]) -> None:
        self.name = name
        self._stemmer = Stemmer.Stemmer(_STEMMERS[name], 0)
        self._bits: dict[str, int] = {}
        for role, bit in BITS.items():
            for word in table.get(role, "").split():
                self._bits[word] = self._bits.get(word, 0) | bit
        self.pairs = frozenset(word.partition("_")[0] for word in self._bits if "_" in word)
        """The first words of two that belong together."""
        self._sorts: dict[str, tuple[str, str]] = {}
        for sort, words in _SORTS.items():
            for word in words.split():
                self._sorts[word.partition("=")[0]] = (sort, word.rpartition("=")[2])
        for sort, one in (("weekday", "weekdays"), ("month", "months")):
            for number, forms in enumerate(table[one].split("|"), 1):
                self._sorts.update(dict.fromkeys(forms.split(), (sort, f"{number}")))
        for number, word in enumerate(table["numbers"].split()):
            self._sorts[word] = ("count", f"{number}")
        self._alike = {word: self._stem(words.split()[0]) for words in table.get("like", ()) for word in words.split()}
        self._about: dict[str, int] = {}
        for place, words in enumerate(table["about"]):
            for word in words.split():
                self._about[word] = self._about.get(word, 0) | 1 << place
        self.whole = dict(line.split(" ", 1) for line in table.get("whole", ()))
        """What words that two are written as stand for."""
        self._known = Memo(self._look)

    def __getitem__(self, word: str) -> Word:
        return self._known[word]

    def _look(self, word: str) -> Word:
        bits = self._bits.get(word, 0)
        return Word(
            bits, self._alike.get(word) or self._stem(word), *self._sorts.get(word, ("", "")),
            self._about.get(word, 0), _ODD.search(word) is not None, len(word) > 1 and not bits & (LITTLE | ACT),
        )  # fmt: skip

    def little(self) -> list[str]:
        """Words that tell nothing of what is spoken of."""
        return [word for word, bits in self._bits.items() if not bits & VERB]

    def _stem(self, word: str) -> str:
        if self.name == "en" and "our" in word[2:]:
            word = word.replace("our", "or")
        return str(self._stemmer.stemWord(word))


WORDS = {name: Language(name, table) for name, table in _TABLES.items()}
_TELLING: dict[str, int] = {}
for _place, _table in enumerate(_TABLES.values()):
    for _word in _table["function"].split():
        _TELLING[_word] = _TELLING.get(_word, 0) | 1 << 8 * _place


def language(words: Sequence[str]) -> Language:
    """The language of which most little words stand among words in lower case; English where there are none."""
    return _most(sum([_TELLING[word] for word in words if word in _TELLING][:200]))


@lru_cache(maxsize=4096)
def _most(counts: int) -> Language:
    best = max(range(len(LANGUAGES)), key=lambda place: (counts >> 8 * place & 255, -place))
    return WORDS[LANGUAGES[best]]


COMMON_WORDS = frozenset(["^", "$", "*", "#", "?", "!", "."]) | {
    word for one in WORDS.values() for word in one.little()
}
"""What signals of words may consist of: little words and those that tell how a statement stands to others."""
