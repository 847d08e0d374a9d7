"""What recall reads in a text: the terms by which a document is found, and what a question asks for.

Both are pure functions of the text. A term is the Snowball stem of a word without accents and apostrophes, irregular
forms brought to one ("went" is "go"); scripts without spaces give pairs of characters, as in `streams.core.text.terms`.
Fewer words are stopped than there: a term may be common and still tell two memories of one conversation apart.
Every distinct word is looked at once and remembered. Any text is legal: nothing in it is syntax.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import Stemmer

from streams.core.patterns import lazily
from streams.core.text.memo import MAX_CACHE, MAX_RAW
from streams.core.text.terms import MAX_WORD, WORDS, clip, scan

VERSION = 1
"""Raise it when terms or flags of any text change: an index of another version is made anew."""

ASKS, DATED = 1, 2
"""Flags of a document: it ends by asking something; it tells when something was."""
MAX_TERMS = 256
"""Distinct terms kept of a document, those that come first: what is long is a file, not a turn."""
MAX_ASKED = 32
"""Distinct terms that are looked up for one question."""
ENDING = 0.4
"""Part of a text, from its end, in which a question mark makes it one that asks."""


class Analysis(NamedTuple):
    """What the index keeps of a document."""

    terms: list[str]
    """Distinct, in order of first use."""
    counts: list[int]
    length: int
    """Terms, repetitions included."""
    flags: int


@dataclass(slots=True)
class Query:
    """What a question asks for."""

    text: str
    terms: list[str]
    """Distinct, in order."""
    words: list[str]
    """Words that may name a speaker, folded, without "'s", in order."""
    named_by: dict[str, str] = field(default_factory=dict)
    """The term that each of `words` is counted as."""
    when: bool = False
    """Whether it asks for a time."""
    cues: frozenset[str] = frozenset()
    """Of what is said to whoever listens: see streams/core/text/cues."""
    stems: tuple[str, ...] = ()
    """Of its words, as features of turns have them."""


_TABLE = tomllib.loads(files(__package__).joinpath("words.en.toml").read_text("utf-8"))
_STOP = frozenset(_TABLE["stop"].split())
_TIME = frozenset(_TABLE["time"].split())
ROLES = frozenset(_TABLE["roles"].split())
"""Names of speakers that are roles."""
_IRREGULAR = {form: line.split()[0] for line in _TABLE["irregular"].strip().splitlines() for form in line.split()}
_ENGLISH = Stemmer.Stemmer("english", 0)
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "`": "'", "´": "'", "–": " ", "—": " ", "…": " ", "“": " ", "”": " ", "«": " ", "»": " "}
)
_PART = lazily(r"[a-z0-9]+")
_YEAR = lazily(r"(?:19|20)\d\d")
_EDGE = "\"'.,;:!?()[]{}<>*_ "
_ASIDE = lazily(r"\s*[\[(<][^\[\]()<>]*[\])>]\s*$")
_WHEN = lazily(
    r"\s*(?:when|how long|(?:(?:in|on|at|since|by|until) )?(?:what|which) (?:date|day|week|month|year|time))\b"
    r"|.*\bwhen (?:did|does|do|was|were|is|will|has|had)\b",
    re.IGNORECASE | re.DOTALL,
)


def _term(part: str) -> str:
    """The term of a folded word of ASCII letters and digits; "" for one that tells nothing."""
    return "" if part in _STOP or len(part) > MAX_WORD else str(_ENGLISH.stemWord(_IRREGULAR.get(part, part)))


def _plain(raw: str) -> str:
    """A word folded, without accents, curly quotes and apostrophes; "'s" goes, too."""
    folded = raw.translate(_PLAIN).casefold()
    if not folded.isascii():
        folded = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    return folded.replace("'s", "").replace("'", "")


def _look(raw: str) -> tuple[list[str], bool]:
    """The terms of a whitespace-separated word, and whether it tells a time."""
    plain = _plain(raw)
    if plain.isascii():
        parts = _PART.findall(plain)
        told = any(part in _TIME or _YEAR.fullmatch(part) for part in parts)
        return [term for part in parts if (term := _term(part))], told
    _, _, stem, _, _, (_, rest, _, _) = WORDS[raw]
    return [term for term in (stem, *rest) if term], False


class _Terms(dict[str, str]):
    """The first term of each word met, "" for none. A memo of a pure function: forgetting changes nothing but speed."""

    def __init__(self) -> None:
        self.further: dict[str, list[str]] = {}
        """Further terms of words that have some."""
        self.told: set[str] = set()
        """Words that tell a time."""
        self.long: list[str] = []
        """Words that are too long to be remembered."""

    def __missing__(self, raw: str) -> str:
        found, told = _look(raw)
        if len(found) > 1:
            self.further[raw] = found[1:]
        if told:
            self.told.add(raw)
        if len(raw) > MAX_RAW:
            self.long.append(raw)
        self[raw] = first = found[0] if found else ""
        return first

    def trim(self) -> None:
        """Forgets what takes too much room. Never within a text."""
        for raw in self.long if len(self) < MAX_CACHE else [*self]:
            self.pop(raw, None)
            self.further.pop(raw, None)
            self.told.discard(raw)
        self.long.clear()


_TERMS = _Terms()


def _read(words: list[str]) -> tuple[list[str], bool]:
    """The terms of some words, and whether they tell a time."""
    found = [*filter(None, map(_TERMS.__getitem__, words))]
    if not _TERMS.further.keys().isdisjoint(words):
        for word in words:
            found += _TERMS.further.get(word, ())
    told = not _TERMS.told.isdisjoint(words)
    if _TERMS.long or len(_TERMS) >= MAX_CACHE:
        _TERMS.trim()
    return found, told


def analyse(content: str) -> Analysis:
    """Terms and flags of a document."""
    words = clip(content).split()
    if not words:
        return Analysis([], [], 0, 0)
    found, told = _read(words)
    flags = DATED if told else 0
    if ("?" in content and _asks(content)) or "？" in content[-MAX_RAW:]:
        flags |= ASKS
    counts = Counter(found)
    if len(counts) <= MAX_TERMS:
        return Analysis([*counts], [*counts.values()], len(found), flags)
    return Analysis([*counts][:MAX_TERMS], [*counts.values()][:MAX_TERMS], len(found), flags)


def _asks(content: str) -> bool:
    """Whether a text ends by asking; what it says in brackets at its end (a picture, a remark) does not count."""
    end = content.rstrip()[-2000:]
    if end[-1:] in "])>":
        end = _ASIDE.sub("", end)
    return end.rfind("?") >= len(end) * (1 - ENDING)


@lru_cache(64)
def ask(text: str) -> Query:
    """What a question asks for; nobody changes it. Times are read when the space is known; see dates."""
    terms: dict[str, None] = {}
    named: dict[str, str] = {}
    for raw in clip(text).split():
        found, _ = _read([raw])
        terms |= dict.fromkeys(found)
        name = raw.translate(_PLAIN).casefold().strip(_EDGE).removesuffix("'s")
        if name:
            named.setdefault(name, found[0] if found else "")
        if len(terms) >= MAX_ASKED or len(named) >= 4 * MAX_ASKED:
            break
    features = scan(text)
    cues, stems = frozenset(features.cues), tuple(features.terms)
    return Query(text, [*terms][:MAX_ASKED], [*named], named, _WHEN.match(text[:2000]) is not None, cues, stems)


def _alike() -> dict[str, tuple[str, ...]]:
    """By term, the terms that may stand for it."""
    found: dict[str, dict[str, None]] = {}
    for line in _TABLE["alike"].strip().splitlines():
        group = dict.fromkeys(term for word in line.split() if (term := _term(word)))
        for term in group:
            found.setdefault(term, {}).update(group)
    return {term: tuple(other for other in group if other != term) for term, group in found.items()}


TALK = frozenset(term for word in _TABLE["talk"].split() if (term := _term(word)))
"""Terms that ask for what was said or decided."""
ALIKE = _alike()
"""By term, the terms that may stand for it."""
