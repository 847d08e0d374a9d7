"""The figures of a turn, in digits or in words: what can differ between two statements of one thing.

    "He starts Monday 2nd March at half nine, for eighteen hundred."     weekday 1, day 2 of 3, clock 9:30, number 1800

Sentence by sentence, with its words and stems: so that figures can be compared that stand beside what two statements
share. Only looked up and put together, no grammar: of the sorts below, and what is told of none stays a word.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from processors.contradictions.words import LANGUAGES, WORDS
from streams.core.text.memo import Memo

_TABLE = tomllib.loads(files(__package__).joinpath("figures.toml").read_text("utf-8"))
_SETS = {name: frozenset(words.split()) for name, words in _TABLE.items() if isinstance(words, str)}
_TIMES: dict[str, int] = _TABLE["times"]
_HALVES: dict[str, int] = _TABLE["halves"]
_ORDINALS = {word: place for place, word in enumerate(_TABLE["ordinals"].split(), 1)}
_TENS = {word: 10 * place for place, words in enumerate(_TABLE["tens"].split("|"), 2) for word in words.split()}
_CLOCK = re.compile(r"(\d{1,2})[:.h](\d\d)(am|pm|uhr)?|(\d{1,2})(am|pm|h|uhr)")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er)")
_NUMBER = re.compile(r"([$€£]?)(\d+(?:[.,]\d+)*)(k|%|€|£|\$|[a-zµ]{1,3})?")
_SIGNS = frozenset("$€£")
_HALF_DAY = 720
_MANY = 10**9
_PARTS = re.compile("[-–/]")
MAX_SENTENCES = 12


class Figure(NamedTuple):
    """A value that excludes others of its sort."""

    sort: str
    """clock (minutes, of half a day), weekday, day (of a month), month, number, money, share, code."""
    value: int | str
    """Of numbers, money and shares in hundredths."""
    of: int | str = ""
    """Of a day its month, of a number the stem of what it counts, where that is told."""


class Part(NamedTuple):
    """A sentence."""

    words: tuple[str, ...]
    stems: frozenset[str]
    """Of its telling words."""
    figures: tuple[Figure, ...]


class _Token(NamedTuple):
    """A word, and what of a figure it may be."""

    word: str
    sort: str = ""
    value: int = 0
    stem: str = ""


_END = _Token("")
Raw = tuple[tuple[_Token, ...], bool]
"""What a word as it stands in a text is made of, and whether a sentence ends with it."""


@lru_cache(maxsize=4096)
def parts(text: str) -> tuple[Part, ...]:
    """The sentences of a text. Remembered: a pure function of the text."""
    found: list[Part] = []
    tokens: list[_Token] = []
    for own, ends in map(_RAWS.__getitem__, text.split()):
        tokens += own
        if ends:
            found.append(_part(tokens))
            tokens = []
    if tokens:
        found.append(_part(tokens))
    return tuple(found[:MAX_SENTENCES])


def _part(tokens: Sequence[_Token]) -> Part:
    words = tuple([token.word for token in tokens])
    stems = frozenset([token.stem for token in tokens if token.stem])
    return Part(words, stems, _figures(tokens) if any(token.sort for token in tokens) else ())


def _look(raw: str) -> Raw:
    core = raw.casefold().replace("’", "'").strip("()[]\"'“”‘.,!?;:…*_~—–-")
    ends = "?" in raw[-3:] or (raw[-1] in ".!;…:" and core != "") or raw[-2:] in ('."', ".)", '!"')
    return _tokens(core), ends


def _tokens(core: str) -> tuple[_Token, ...]:
    if core[:1] in _SIGNS or any(one.isdigit() for one in core):
        return (_digits(core),)
    words = _PARTS.split(core) if "-" in core or "/" in core or "–" in core else (core,)
    return tuple([_word(word.removesuffix("'s")) for word in words])


def _digits(core: str) -> _Token:
    """A word with digits."""
    if clock := _CLOCK.fullmatch(core):
        hour, minute = int(clock[1] or clock[4]), int(clock[2] or 0)
        if ":" in core or "h" in core or clock[3] or clock[5] or (hour < 24 and minute < 60):
            return _Token(core, "clock", hour % 12 * 60 + minute)
    if ordinal := _ORDINAL.fullmatch(core):
        return _Token(core, "day", int(ordinal[1]))
    number = _NUMBER.fullmatch(core)
    digits = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", number[2]).replace(",", ".") if number else ".."
    whole, _, rest = digits.partition(".")
    if number is None or "." in rest or len(whole) > 12:
        return _Token(core, "code")
    value = 100 * int(whole) + int((rest + "00")[:2])
    sort = "money" if number[1] or number[3] in _SIGNS else "share" if number[3] == "%" else "number"
    return _Token(core, sort, 1000 * value if number[3] == "k" else value)


def _word(word: str) -> _Token:
    """A word without digits."""
    english = WORDS["en"][word]
    stem = english.stem if english.telling else ""
    if word in _TENS:
        return _Token(word, "count", _TENS[word], stem)
    if word in _TIMES:
        return _Token(word, "times", _TIMES[word], stem)
    if word in _ORDINALS:
        return _Token(word, "ordinal", _ORDINALS[word], stem)
    if word in _HALVES:
        return _Token(word, "half", _HALVES[word], stem)
    if word in _SETS["noon"]:
        return _Token(word, "clock", 0, stem)
    for language in LANGUAGES:
        known = WORDS[language][word]
        if known.sort in ("weekday", "month"):
            return _Token(word, known.sort + "?" * (word in _SETS["weak"]), int(known.value), stem)
        if known.sort == "count" and int(known.value) > 1:
            return _Token(word, "count", int(known.value), stem)
    return _Token(word, stem=stem)


_RAWS = Memo(_look)


def _figures(tokens: Sequence[_Token]) -> tuple[Figure, ...]:
    found: list[Figure] = []
    at = 0
    while at < len(tokens):
        figure, at = _figure(tokens, at) if tokens[at].sort else (None, at + 1)
        if figure:
            found.append(figure)
    return tuple(found)


def _at(tokens: Sequence[_Token], at: int) -> _Token:
    return tokens[at] if 0 <= at < len(tokens) else _END


def _figure(tokens: Sequence[_Token], at: int) -> tuple[Figure | None, int]:
    """The figure that begins at a place, if any, and where what follows it begins."""
    token, after, before = tokens[at], _at(tokens, at + 1), _at(tokens, at - 1).word
    match token.sort:
        case "weekday" | "clock":
            return Figure(token.sort, token.value), at + 1
        case "code":
            return Figure("code", token.word), at + 1
        case "weekday?":
            return (Figure("weekday", token.value) if before in _SETS["led"] or after.sort else None), at + 1
        case "month" | "month?":
            day = after.value // 100 if after.sort == "number" else after.value
            if after.sort in ("number", "day", "ordinal") and 1 <= day <= 31:
                return Figure("day", day, token.value), at + 2
            return (Figure("month", token.value) if token.sort == "month" or before in _SETS["led"] else None), at + 1
        case "half":
            return _half(tokens, at)
        case "ordinal" | "day":
            month = at + 1 + (after.word in _SETS["of"])
            if _at(tokens, month).sort in ("month", "month?"):
                return Figure("day", token.value, tokens[month].value), month + 1
            told = token.sort == "day" or (before == "the" and (not after.word or after.sort))
            return (Figure("day", token.value) if told else None), at + 1
    return _number(tokens, at)


def _half(tokens: Sequence[_Token], at: int) -> tuple[Figure | None, int]:
    """ "half past seven", "quarter to nine", "half nine"."""
    minutes, after = tokens[at].value, _at(tokens, at + 1)
    if after.word in _SETS["past"] or after.word in _SETS["to"]:
        hour = _hour(_at(tokens, at + 2))
        if hour:
            minutes = minutes if after.word in _SETS["past"] else -minutes
            return Figure("clock", (hour % 12 * 60 + minutes) % _HALF_DAY), at + 3
    elif minutes == 30 and (hour := _hour(after)):
        return Figure("clock", hour % 12 * 60 + 30), at + 2
    return None, at + 1


def _hour(token: _Token) -> int:
    """The hour that a number may be; 0 for none."""
    hour = token.value if token.sort == "count" else token.value // 100 if token.sort == "number" else 0
    return hour if 1 <= hour <= 12 else 0


def _number(tokens: Sequence[_Token], at: int) -> tuple[Figure, int]:
    """A number, of money or whatever it counts; or the day or hour that it is."""
    token, before = tokens[at], _at(tokens, at - 1).word
    sort = token.sort
    if sort in ("count", "times"):
        value, end = _spelled(tokens, at)
        sort = "number"
    else:
        value, end = token.value, at + 1
        if _at(tokens, end).sort == "times":
            value, end = value * tokens[end].value, end + 1
    after, bare = _at(tokens, end), sort == "number"
    month = end + (after.word in _SETS["of"])
    if bare and value <= 3100 and _at(tokens, month).sort in ("month", "month?"):
        return Figure("day", value // 100, tokens[month].value), month + 1
    if bare and after.word in _SETS["hours"]:
        return Figure("clock", value // 100 % 12 * 60), end + 1
    if bare and value <= 1200 and before in _SETS["at"] and (not after.word or after.word in _SETS["behind"]):
        return Figure("clock", value // 100 % 12 * 60), end
    if after.word in _SETS["money"]:
        sort = "money"
    elif after.word in _SETS["share"]:
        sort = "share"
    return Figure(sort, min(value, _MANY), after.stem), end


def _spelled(tokens: Sequence[_Token], at: int) -> tuple[int, int]:
    """A number in words, in hundredths, and where what follows it begins: "six hundred and twelve", "four ninety"."""
    total = now = 0
    end = at
    while end < len(tokens) and now < _MANY:
        token = tokens[end]
        if token.sort == "count":
            tens = 20 <= now < 100 and not now % 10 and token.value < 10
            now = now + token.value if not now or now >= 100 or tens else 100 * now + token.value
        elif token.sort == "times":
            now = max(now, 1) * token.value
            if token.value >= 1000:
                total, now = total + now, 0
        elif token.sort == "ordinal" and 20 <= now < 100 and not now % 10:
            now += token.value
        elif token.word not in _SETS["joined"] or now < 100 or _at(tokens, end + 1).sort != "count":
            break
        end += 1
    return 100 * min(total + now, _MANY), end
