"""Spans of days that a question names: "what's on this week?", "in May", "the next six weeks", "am Wochenende".

    spanned("anything due next week?", "en", today)  ->  the Monday to come, and the Sunday after it

What names one is a pattern of the kinds of its words (see times); of several, from the first day to the last.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from streams.core.patterns import lazily
from streams.core.text.times import (
    MANY_UNITS,
    UNITS,
    UNTIL,
    YEARS,
    Token,
    after,
    in_week,
    kinds_of,
    month_end,
    of_month,
)

_DAY = timedelta(days=1)
_SEVERAL = {UNITS["d"]: 7, UNITS["w"]: 4, UNITS["M"]: 3}
"""How many "the coming days", "weeks", "months" are."""


class Span(NamedTuple):
    """Days, from one up to another and with it; each at midnight."""

    first: datetime
    last: datetime


def _within(today: datetime, values: list[float]) -> Span:
    """So many units from today on."""
    return Span(today, after(today, values[0], int(values[1])))


def _unit(today: datetime, unit: float, ahead: int = 0) -> Span:
    """The day, week, fortnight, month or year that is so many ahead of the present one."""
    if unit == UNITS["y"]:
        first = today.replace(year=today.year + ahead, month=1, day=1)
        return Span(first, first.replace(month=12, day=31))
    if unit == UNITS["M"]:
        first = after(today.replace(day=1), ahead, UNITS["M"])
        return Span(first, month_end(first))
    if weeks := {UNITS["w"]: 1, UNITS["ww"]: 2}.get(int(unit)):
        return Span(in_week(today, 0, weeks * ahead), in_week(today, 6, weeks * (ahead + 1) - 1))
    return Span(*[today + ahead * _DAY] * 2)


def _month(today: datetime, values: list[float]) -> Span:
    """The present or next month of that name."""
    first = of_month(today.replace(day=1), 1, int(values[0])) or today  # there is one in every year
    return Span(first, month_end(first))


def _weekend(today: datetime, ahead: int = 0) -> Span:
    return Span(in_week(today, 5, ahead), in_week(today, 6, ahead))


def _quarter(today: datetime, ahead: int = 0) -> Span:
    """The three months of a quarter of the year that is so many ahead of the present one."""
    first = after(today.replace(day=1, month=(today.month - 1) // 3 * 3 + 1), 3 * ahead, UNITS["M"])
    return Span(first, month_end(after(first, 2, UNITS["M"])))


_PATTERNS: tuple[tuple[str, Callable[[datetime, list[float]], Span]], ...] = (
    (r"[NV](n)f?(U)|(n)[NV](U)|(n)(U)x?[NV]", _within),
    (r"T[xpY]T?N(U)|T(U)[xpY]?[ax]?N(?!x?U)|T(U)[xpY]N(?=U)", lambda today, v: Span(today, _unit(today, v[0], 1).last)),
    (r"[NV](U)|(U)[xl]?[NV]", lambda today, v: _unit(today, v[0], 1)),
    (r"O(U)|(U)O", lambda today, v: _unit(today, v[0], 2)),
    (r"T(U)|xfa(U)", lambda today, v: _unit(today, v[0])),
    (r"[NV]q(?!f?n?[Uc])", lambda today, v: _quarter(today, 1)),
    (r"Tq(?!f?n?[Uc])", lambda today, v: _quarter(today)),
    (r"[NV]K|K[xl]?[NV]", lambda today, v: _weekend(today, 1)),
    (r"K", lambda today, v: _weekend(today)),
    (r"(?<![nosJMBESm])(?<![nosESm][fa])(?<![nosESm]fa)(M)(?!a?[nos])", _month),
)
"""What names a span, as a pattern of kinds, and which one: of the values of its groups."""
_SPANS = [(lazily(pattern), span) for pattern, span in _PATTERNS]
_NEAR = 4
"""Words before a span among which "until" stands."""


def spanned(text: str, language: str, today: datetime) -> Span | None:
    """From the first day to the last of the spans that a text names, none before `today`, a midnight; None where it
    names none that lies within the years that are read. `language`: of the words of time (see times)."""
    if today.year not in YEARS:
        return None
    tokens, kinds = kinds_of(text, language)
    spent = [False] * len(tokens)
    found: list[Span] = []
    for pattern, span in _SPANS:
        for match in pattern.finditer(kinds):
            start, end = match.span()
            past = "B" in match[0] or kinds[end : end + 1] == "B" or kinds[:start].rstrip("a").endswith("B")
            if past or any(spent[start:end]):
                continue
            places = [match.start(at) for at in range(1, pattern.groups + 1) if match[at]]
            values = [tokens[at].value for at in places]
            unit = tokens[places[-1]] if places else None
            if unit and unit.kind == "U" and unit.value < UNITS["d"]:
                continue
            spent[start:end] = [True] * (end - start)
            if unit and (many := _many(unit, text)) and len(values) == 1:
                days = _within(today, [many, unit.value])
            else:
                days = span(today, values)
            led = [text[token.start : token.end].lower() for token in tokens[max(0, start - _NEAR) : start]]
            found.append(days if UNTIL.isdisjoint(led) else Span(today, days.last))
    found = [Span(max(one.first, today), one.last) for one in found if one.last >= today and one.last.year in YEARS]
    return Span(min(one.first for one in found), max(one.last for one in found)) if found else None


def _many(unit: Token, text: str) -> int:
    """How many units a word for several stands for ("the coming weeks"); 0 for a word for one."""
    if unit.value == UNITS["ww"]:
        return 1
    several = text[unit.start : unit.end].lower() in MANY_UNITS
    return _SEVERAL.get(int(unit.value), 0) if several else 0
