"""What a turn's clauses say: of what, by which verb, what values, and how they stand to what was said before.

A clause is read by the words of its language alone (see words); nothing is parsed but where its verb stands. What is
of a sort that can be compared (a quantity, a time, a day, a code, a colour) becomes a value; all other telling words
are kept as stems, those before the verb apart from those behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from processors.contradictions.sentences import Sentence, sentences
from processors.contradictions.words import (
    ACT,
    BE,
    BITS,
    DENY,
    DROP,
    FUNCTION,
    ME,
    NOT,
    SCOPE,
    THEY,
    VERB,
    WE,
    Language,
    Word,
)
from streams.core.patterns import lazily

MAX_CLAUSES, MAX_WORDS, MAX_WORD = 8, 48, 40
ASKS, MAYBE, PAST, SAYS = BITS["ask"], BITS["maybe"], BITS["past"], BITS["says"]
CHANGING = BITS["change"] | BITS["correct"] | BITS["now"]
_CLOCK = lazily(r"(\d{1,2})(?:[:.h](\d\d))?(am|pm|a\.m|p\.m|uhr|h)?")
_NUMBER = lazily(r"([$€£]?)(\d+(?:[.,]\d+)*)(k|%|€|£|\$|[a-zµ]{1,3})?")
_UNITS = {
    "$": "dollar", "€": "euro", "£": "pound", "euros": "euro", "eur": "euro", "quid": "pound", "pounds": "pound",
    "dollars": "dollar", "bucks": "dollar", "mins": "minut", "min": "minut", "minutes": "minut", "hrs": "hour",
    "hours": "hour", "s": "second", "seconds": "second", "sec": "second", "kilos": "kg", "percent": "%",
    "yrs": "year", "years": "year", "mgs": "mg",
}  # fmt: skip
_LEFT = frozenset(("from", "instead", "statt", "than", "von", "lugar", "vez", "lieu"))
"""Words behind which stands what is no more."""
_TAKEN = frozenset(("to", "nach", "auf", "à"))
MAX_ATTRIBUTE, MAX_VALUE = 120, 60
_MARKS = frozenset("&+😂🤣")
"""What stands between words and is none."""
_JOINT = frozenset(
    ("but", "because", "although", "though", "aber", "sondern", "denn", "pero", "sino", "porque", "mais", "car")
)


_ABOUT = "a an the to in at on for with my our now is are of it as from ein eine der die das bei un une le la el en"
_LITTLE = frozenset(_ABOUT.split())
"""Words that a value is shown without, at its ends."""


class Value(NamedTuple):
    """Something that excludes others of its sort."""

    sort: str
    """clock, weekday, day (of a month), number, code, or a sort of words.toml."""
    value: str
    units: frozenset[str]
    """What it is a number of: the stems beside it."""


class Clause(NamedTuple):
    """What one clause says."""

    said: str
    """The words behind its verb, or all."""
    who: str
    """me, we, they, or "" for what is named."""
    mine: bool
    left: frozenset[str]
    """Stems of what is spoken of, before the verb."""
    verb: str
    """Its stem, "be", or "" where none is known: then all stems are `right`."""
    right: frozenset[str]
    scope: frozenset[str]
    """For what, or when, it holds."""
    values: tuple[Value, ...]
    names: frozenset[str]
    """Those of `right` that are names."""
    denied: frozenset[str]
    """Stems and values behind "not", "from", "instead of"."""
    negated: bool
    acts: int
    """Bits of `ACTS` that its words tell."""
    about: int
    """Bits of what its words are told of."""
    stems: frozenset[str]
    """Those of `left`, `right` and `scope`."""


class Reading(NamedTuple):
    """What a turn says."""

    language: str
    clauses: tuple[Clause, ...]
    acts: int
    """Of all clauses, also of those that say nothing."""
    words: frozenset[str]
    """All its stems."""


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """The clauses of a turn. Remembered: a pure function of the text."""
    spoken, said = sentences(text)
    clauses: list[Clause] = []
    acts = 0
    every: set[str] = set()
    for words, names, asked in _parts(said, spoken):
        found = _clause(words, names, spoken)
        if asked:
            found = found._replace(acts=found.acts | ASKS)
        acts |= found.acts
        every |= found.stems
        if found.stems or found.values:
            clauses.append(found)
    return Reading(spoken.name, tuple(clauses[:MAX_CLAUSES]), acts, frozenset(every))


def _parts(said: Sequence[Sentence], spoken: Language) -> Iterator[tuple[list[str], set[int], bool]]:
    """The words of each clause, which of them are names, and whether it is asked."""
    waiting: list[list[str]] = [[]]
    names: list[set[int]] = [set()]
    fresh, capitals = True, spoken.name != "de"
    for sentence in said:
        for piece in sentence.pieces:
            word = piece.word
            if word == "," or word in _JOINT:
                waiting.append([])
                names.append(set())
            elif word not in _MARKS and len(word) <= MAX_WORD:
                if not fresh and capitals and piece.capital and word != "i" and not spoken[word].sort:
                    names[-1].add(len(waiting[-1]))
                waiting[-1].append(word.removesuffix("'s"))
                fresh = False
        if sentence.mark != ":" or len(waiting) > 1 or len(waiting[0]) >= 3:
            yield from _merged(waiting, names, "?" in sentence.mark, spoken)
            waiting, names, fresh = [[]], [set()], True
    yield from _merged(waiting, names, False, spoken)


def _merged(
    parts: list[list[str]], names: list[set[int]], asked: bool, spoken: Language
) -> Iterator[tuple[list[str], set[int], bool]]:
    """Joins what commas part to what has a verb."""
    found: list[tuple[list[str], set[int]]] = []
    for words, named in zip(parts, names, strict=True):
        if not words:
            continue
        if found and not (_has_verb(words, spoken) and _has_verb(found[-1][0], spoken)):
            found[-1][1].update(len(found[-1][0]) + at for at in named)
            found[-1][0].extend(words)
        else:
            found.append((words, named))
    for words, named in found:
        yield words[:MAX_WORDS], named, asked


def _has_verb(words: Sequence[str], spoken: Language) -> bool:
    for word in words:  # noqa: SIM110  a loop costs half of any()
        if spoken[word].bits & (BE | VERB):
            return True
    return False


def _clause(words: Sequence[str], named: set[int], spoken: Language) -> Clause:
    known = [spoken[word] for word in words]
    acts = 0
    for first, second in pairwise(words):
        if first in spoken.pairs:
            acts |= spoken[f"{first}_{second}"].bits
    about = 0
    verb = _verb(known)
    sides: tuple[set[str], set[str], set[str]] = (set(), set(), set())
    values: list[Value] = []
    names: set[str] = set()
    denied: set[str] = set()
    who, mine, negated = "", False, False
    side, denying, skip = (0 if verb >= 0 else 1), 0, 0
    for at, word in enumerate(known):
        bits = word.bits
        acts |= bits
        about |= word.about
        if at == verb:
            side = 1
            negated ^= bits & DENY != 0
            continue
        if bits & (ME | WE | THEY):
            mine |= bits & (ME | WE) != 0 and side == 0
            if side == 0 and not who and not sides[0]:
                who = "me" if bits & ME else "we" if bits & WE else "they"
        if bits & NOT:
            denying = 4
            negated |= at <= verb + 2 or verb < 0
            continue
        denying = 4 if words[at] in _LEFT else 0 if words[at] in _TAKEN else denying - 1
        if skip > 0:
            skip -= 1
            continue
        if word.odd or word.sort:
            value, skip = _value(words, known, at)
            if value:
                values.append(value)
                if denying > 0:
                    denied.add(value.value)
                continue
        if bits & SCOPE and side == 1 and (sides[1] or values):
            side = 2
        if word.telling or at in named:
            sides[side].add(word.stem)
            if at in named:
                names.add(word.stem)
            if denying > 0:
                denied.add(word.stem)
    acts &= ACT
    stem = "" if verb < 0 else "be" if known[verb].bits & BE else known[verb].stem
    said = " ".join(words[verb + 1 :])
    left, right, scope = frozenset(sides[0]), frozenset(sides[1]), frozenset(sides[2])
    return Clause(
        said, who, mine, left, stem, right, scope, _meant(values, denied) if values else (),
        frozenset(names), frozenset(denied), negated, acts, about, left | right | scope,
    )  # fmt: skip


def _meant(values: Sequence[Value], denied: set[str]) -> tuple[Value, ...]:
    """The values but those denied beside another of their sort: "6h, not 2"."""
    told = {value.sort for value in values if value.value not in denied}
    return tuple([value for value in values if value.value not in denied or value.sort not in told])


def _verb(known: Sequence[Word]) -> int:
    """Where the verb stands: the first after a word, a form of "be" only where no other follows at once."""
    for at, word in enumerate(known):
        if at and word.bits & (BE | VERB):
            if word.bits & BE:
                for after in range(at + 1, min(at + 4, len(known))):
                    if known[after].bits & VERB and not known[after].bits & BE:
                        return after
                    if not known[after].bits & (DROP | NOT | ACT | BE):
                        break
            elif word.bits & DENY or at + 1 >= len(known) or not known[at + 1].bits & VERB:
                return at
            else:
                return at + 1 if at + 1 < len(known) else at
            return at
    return -1


def _value(words: Sequence[str], known: Sequence[Word], at: int) -> tuple[Value | None, int]:
    """The value that stands at a place, if any, and how many words after it belong to it."""
    word, told = words[at], known[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    before = words[at - 1] if at else ""
    if told.sort:
        if told.sort == "month":
            number = _day(after)
            return (
                (Value("day", number, frozenset((told.value,))), 1)
                if number
                else (None, 0)
                if len(word) < 4
                else (Value("month", told.value, frozenset()), 0)
            )
        if told.sort == "count":
            return (
                (Value("number", told.value, _units(at, at + 1, known, words)), 0) if told.value != "1" else (None, 0)
            )
        return Value(told.sort, told.value, frozenset()), 0
    if not (word[0].isdigit() or word[0] in "$€£"):
        return Value("code", word, frozenset()), 0
    month = 2 if after in ("of", "de") else 1
    if at + month < len(words) and known[at + month].sort == "month" and (number := _day(word)):
        return Value("day", number, frozenset((known[at + month].value,))), month
    if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th|er)", word):
        if after and known[at + 1].bits == 0 and before not in ("the",):
            return Value("number", word[:-2], frozenset((known[at + 1].stem,))), 1
        return Value("day", word[:-2], frozenset()), 0
    if before in ("am", "den", "zum", "vom", "le", "el", "du") and _day(word) and (not after or known[at + 1].bits):
        return Value("day", word, frozenset()), 0
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return Value("day", str(int(word[8:])), frozenset((str(int(word[5:7])),))), 0
    half = after if after in ("am", "pm", "uhr", "o'clock", "a.m", "p.m") else ""
    clock = _CLOCK.fullmatch(word)
    if clock and (half or clock[3] or ":" in word or "h" in word or before in ("at", "um")):
        hour = int(clock[1])
        pm = (half or clock[3] or "")[:1] == "p"
        return Value(
            "clock", f"{hour + 12 if pm and hour < 12 else hour}:{clock[2] or '00'}", frozenset()
        ), 1 if half else 0
    found = _NUMBER.fullmatch(word)
    if found is None:
        return Value("code", word, frozenset()), 0
    sign, digits, tail = found.groups()
    if digits.count(".") > 2:
        return Value("code", word, frozenset()), 0
    number = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits).replace(",", ".")
    if tail == "k":
        number, tail = f"{float(number) * 1000:g}" if number.count(".") < 2 else number, ""
    mark = sign or tail
    units = frozenset((_UNITS.get(mark, mark),)) if mark else _units(at, at + 1, known, words)
    return Value("number", number, units), 0


def _day(word: str) -> str:
    digits = word.rstrip(".abcdefghijklmnopqrstuvwxyz")
    return digits if digits.isdigit() and 1 <= int(digits) <= 31 else ""


def _units(at: int, after: int, known: Sequence[Word], words: Sequence[str]) -> frozenset[str]:
    """What a number counts: the telling word behind it, and the one before."""
    found = set()
    for place in (after, at - 1, at - 2):
        if (
            0 <= place < len(words)
            and not known[place].bits & (SCOPE | FUNCTION | ACT | ME | WE | THEY | DROP | NOT)
            and words[place].isalpha()
        ):
            found.add(_UNITS.get(words[place], known[place].stem))
    return frozenset(found)


def attribute(clause: Clause) -> str:
    """What a clause states something of, as stems in order: "color favorit", "live"."""
    verb = {clause.verb} - {"", "be"}
    stems = clause.left | verb or {value.sort for value in clause.values} or clause.right
    return _whole(" ".join(sorted(stems)), MAX_ATTRIBUTE)


def value(clause: Clause) -> str:
    """What a clause states, in its words, without the little ones about it."""
    words = clause.said.split()
    while words and words[0] in _LITTLE:
        words.pop(0)
    while words and words[-1] in _LITTLE:
        words.pop()
    return _whole(" ".join(words), MAX_VALUE)


def _whole(text: str, most: int) -> str:
    """The beginning of a text, bounded in characters; no word is broken."""
    return text if len(text) <= most else text[: most + 1].rpartition(" ")[0] or text[:most]
