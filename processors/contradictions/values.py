"""Values: what is said of an attribute, taken apart into what can be compared.

Only what is of one sort can contradict: a time of day another time of day, miles miles, a colour a colour. A value has
a facet for each sort of thing that it names, and `thing` for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from processors.contradictions.lexicon import ALIAS, CLASS, EVALUATIVE, WORDS, stem

WEEKDAYS = {
    form: day
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    for form in (day, day + "s")
} | {
    "mon": "monday",
    "tue": "tuesday",
    "tues": "tuesday",
    "wed": "wednesday",
    "thu": "thursday",
    "thurs": "thursday",
    "fri": "friday",
}
MONTHS = {
    form: number
    for number, month in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        1,
    )
    for form in (month, month[:3])
}
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
ORDINALS = {
    word: number
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_NO_UNITS = WORDS["no_units"]
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d\d))?([ap])\.?m\.?|(\d{1,2}):(\d\d)(?:h|hrs)?|(noon|midday|midnight)")
_NUMBER = re.compile(r"([$€£]?)(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(k|m|bn)?(%|€|£|\$|[a-zµ]{1,5})?")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?")
_DIGITS = re.compile(r"\d{1,2}")
_CODE = re.compile(r".*[\d@_].*")
_FACTORS = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
_UNITS = {
    "$": "dollar", "usd": "dollar", "dollars": "dollar", "bucks": "dollar", "€": "euro", "eur": "euro", "euros": "euro",
    "£": "pound", "gbp": "pound", "mins": "minut", "min": "minut", "hrs": "hour", "hr": "hour", "h": "hour",
    "s": "second", "sec": "second", "secs": "second", "kilos": "kg", "kilometers": "km", "kilometres": "km",
    "percent": "%", "yrs": "year", "milligrams": "mg", "mgs": "mg", "years": "", "year": "",
}  # fmt: skip
"""Units by other names; an age is told with and without "years"."""
TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof"))
_PARTS = WORDS["parts"]
"""Words of a class that are so only by themselves."""
PLACES = frozenset(("in", "at", "near"))
ARTICLES = WORDS["articles"]
SCOPES = WORDS["scopes"]
"""What ends a value; what follows tells for what, or when, it holds."""
TIMES = frozenset(("weekday", "date", "clock"))
MAX_THING = 6
"""Words of a longer value describe."""


class Value(NamedTuple):
    """A value, taken apart."""

    facets: dict[str, str]
    """By sort, what it is, in a normal form."""
    scope: str
    """For what, or when, it holds."""
    named: bool
    """Whether it is a name."""


def same(sort: str, one: str, other: str) -> bool:
    """Whether two facets of a sort say the same, or one more exactly than the other."""
    if one == other:
        return True
    if sort == "clock":
        return one[0] != other[0] and "~" in one[0] + other[0] and _half_day(one) == _half_day(other)
    if sort in ("thing", "place"):
        a, b = frozenset(one.split()), frozenset(other.split())
        return a <= b or b <= a
    return False


def _half_day(clock: str) -> tuple[int, str]:
    hour, minute = clock[1:].split(":")
    return int(hour) % 12, minute


def _clock(word: str) -> str:
    """A time of day: "=15:00", or "~3:00" where it may be morning or afternoon."""
    found = _CLOCK.fullmatch(word)
    if found is None:
        return ""
    hour, minute, half, hour24, minute24, named = found.groups()
    if named:
        return "=0:00" if named == "midnight" else "=12:00"
    if half:
        return f"={int(hour) % 12 + (12 if half == 'p' else 0)}:{minute or '00'}"
    return f"{'=' if int(hour24) > 12 or hour24[0] == '0' else '~'}{int(hour24)}:{minute24}"


def _quantity(words: Sequence[str], at: int) -> tuple[str, str, int] | None:
    """Number, unit and how many words they take, where a quantity stands at a place."""
    word = words[at]
    found = _NUMBER.fullmatch(word)
    sign, number, factor, unit = found.groups() if found else ("", NUMBERS.get(word, ""), None, None)
    if not number:
        return None
    amount = float(number.replace(",", "")) * _FACTORS.get(factor or "", 1)
    if factor == "m" and not sign:
        amount, unit = amount / 1_000_000, "m"
    taken = 1
    following = words[at + 1] if at + 1 < len(words) else ""
    if not unit and not sign and following and following not in SCOPES | _NO_UNITS and following.isalpha():
        unit = following
        taken = 2
        if unit in _FACTORS or unit in ("million", "thousand"):
            amount *= _FACTORS.get(unit, 1_000_000 if unit == "million" else 1_000)
            unit = ""
    unit = sign or unit or ""
    return f"{amount:g}" if amount < 1e6 else str(int(amount)), _UNITS.get(unit, stem(unit) if unit else ""), taken


def _date(words: Sequence[str], at: int) -> tuple[str, int]:
    """A day of the year at a place and how many words it takes; "", 0 where there is none."""
    word = words[at]
    if _DATE.fullmatch(word) and (word.count("-") == 2 or "/" in word):
        return word, 1
    ordinal = _ORDINAL.fullmatch(word)
    day = ordinal.group(1) if ordinal else word if _DIGITS.fullmatch(word) else ""
    rest = [w for w in words[at + 1 : at + 3] if w != "of"]
    if day and rest and rest[0] in MONTHS and rest[0] != "mar":
        return f"{MONTHS[rest[0]]}-{int(day)}", 1 + (words[at + 1] == "of") + 1
    if word in MONTHS and at + 1 < len(words):
        following = _ORDINAL.fullmatch(words[at + 1])
        number = following.group(1) if following else words[at + 1]
        if _DIGITS.fullmatch(number):
            return f"{MONTHS[word]}-{int(number)}", 2
    if ordinal:
        return f"?-{int(day)}", 1
    if word in MONTHS and word not in ("may", "mar") and len(word) > 3:
        return f"{MONTHS[word]}", 1
    return "", 0


def read_value(words: Sequence[str], names: Collection[str]) -> Value:
    """The facets of a value, given its words (folded, bare) and which words of the turn are names."""
    facets: dict[str, str] = {}
    rest: list[str] = []
    named = 0
    at, size = 0, len(words)
    titled = not TITLES.isdisjoint(words)
    preposition = ""
    scope: list[str] = []
    while at < size:
        word = words[at]
        if word in SCOPES and size > 1:
            if preposition or rest or facets:
                if word in ("on", "at", "in", "from", "by") and at + 1 < size and _temporal(words, at + 1):
                    at += 1
                    continue
                scope = [stem(w) for w in words[at + 1 : at + 5] if w not in ARTICLES and w not in SCOPES]
                break
            preposition = word
            at += 1
            continue
        taken = _typed(words, at, preposition, facets)
        if taken:
            at += taken
            continue
        if word not in ARTICLES:
            rest.append(word)
            named += titled or word in names or _CODE.fullmatch(word) is not None
        at += 1
    return _whole(facets, rest, named, preposition, scope)


def _temporal(words: Sequence[str], at: int) -> bool:
    word = words[at]
    if word in ("the", "next") and at + 1 < len(words):
        at += 1
        word = words[at]
    return word in WEEKDAYS or _clock(word) != "" or _date(words, at)[1] > 0


def _typed(words: Sequence[str], at: int, preposition: str, facets: dict[str, str]) -> int:
    """Adds the facet of what stands at a place, if it is of a known sort; how many words it takes."""
    word = words[at]
    if word in WEEKDAYS:
        facets.setdefault("weekday", WEEKDAYS[word])
        return 1
    if word in CLASS and (word not in _PARTS or len(words) == 1):
        facets.setdefault(CLASS[word], ALIAS.get(word, word))
        return 1
    if word[0].isalpha():
        if word in ORDINALS:
            return _ranked(words, at, str(ORDINALS[word]), facets)
        if word in MONTHS:
            date, taken = _date(words, at)
            if taken:
                facets.setdefault("date", date)
            return taken
        if word in NUMBERS and len(words) > at + 1:
            return _count(words, at, facets)
        if clock := _clock(word):
            facets.setdefault("clock", clock)
            return 1
        return 0
    following = words[at + 1] if at + 1 < len(words) else ""
    if following in ("am", "pm", "a.m", "p.m", "o'clock"):
        clock = _clock(word + following[0] + "m") if following[0] in "ap" else f"~{word}:00"
        if clock:
            facets.setdefault("clock", clock)
            return 2
    if clock := _clock(word):
        facets.setdefault("clock", clock)
        return 1
    ordinal = _ORDINAL.fullmatch(word)
    if ordinal and following not in MONTHS and (taken := _ranked(words, at, ordinal.group(1), facets)):
        return taken
    date, taken = _date(words, at)
    if taken:
        facets.setdefault("date", date)
        return taken
    if preposition == "at" and _DIGITS.fullmatch(word) and not following.isalpha():
        facets.setdefault("clock", f"~{word}:00")
        return 1
    return _count(words, at, facets, (at and words[at - 1]) or "")


def _ranked(words: Sequence[str], at: int, number: str, facets: dict[str, str]) -> int:
    """Adds which of several it is: the second floor."""
    following = words[at + 1] if at + 1 < len(words) else ""
    if not following.isalpha() or following in SCOPES:
        return 0
    facets.setdefault(f"number {stem(following)}", number)
    return 2


def _count(words: Sequence[str], at: int, facets: dict[str, str], before: str = "") -> int:
    """Adds a quantity, of what its unit or else the word before says."""
    found = _quantity(words, at)
    if found is None:
        return 0
    number, unit, taken = found
    if not unit and before.isalpha() and before not in SCOPES and before not in ARTICLES:
        unit = stem(before)
    facets.setdefault(f"number {unit}".strip(), number)
    return taken


def _whole(facets: dict[str, str], rest: list[str], named: int, preposition: str, scope: list[str]) -> Value:
    """The rest of a value becomes a place or a thing where nothing of a known sort was told."""
    told = [word for word in rest if word not in EVALUATIVE]
    if told and len(rest) <= MAX_THING and not facets:
        if len(told) == 1 and _CODE.fullmatch(told[0]):
            return Value({"code": told[0]}, " ".join(sorted(scope)), True)
        sort = "place" if preposition in PLACES else "thing" if preposition not in ("from", "to") else preposition
        facets[sort] = " ".join(sorted({stem(word) for word in told}))
    return Value(facets, " ".join(sorted(scope)), bool(told) and named == len(told))
