"""The times a question names: "in May 2023", "on 3 May", "2023-05-03", "yesterday", "last week", as spans of days.

What names no year is meant in each of the last years asked about. Months are English; ISO dates are everybody's.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from streams.core.patterns import lazily

DAY = 86_400_000_000
"""UTC microseconds."""
MAX_YEARS, MAX_SPANS = 5, 16
"""Bounds on what one question may name."""
READ = 2_000
"""Characters of a question in which times are looked for."""

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY, _YEAR = r"(\d{1,2})(?:st|nd|rd|th)?\b(?!:)", r"((?:19|20)\d\d)\b"
_NAMED = lazily(
    rf"\b(?P<iso>(?:19|20)\d\d-\d\d(?:-\d\d)?)\b"
    rf"|\b{_DAY}(?: of)? {_MONTH}(?:,? ?{_YEAR})?"
    rf"|\b{_MONTH}(?: {_DAY})?(?:,? ?{_YEAR})?"
    rf"|\b{_YEAR}",
    re.IGNORECASE,
)
_AGO = lazily(r"\b(yesterday|today|(?:last|past|previous|this) (?:week|month|year))\b", re.IGNORECASE)
_WORDS = ("may", "mar", "march", "dec", "jan", "sept", "sep")
"""What is a month only with a capital, beside a number or behind one of these."""
_LEADS = frozenset(
    ["after", "before", "between", "by", "during", "early", "from", "in", "last", "late", "mid", "of", "on", "since"]
)


def spans(question: str, now: int | None, first: int, last: int) -> list[tuple[int, int]]:
    """What times a question names, as [start, end) in UTC microseconds; what names no year, between first and last."""
    text = question[:READ]
    found: list[tuple[int, int]] = []
    years = range(max(1970, _moment(first).year), min(2999, _moment(last).year) + 1)[-MAX_YEARS:]
    for match in _NAMED.finditer(text):
        groups = [group for group in match.groups() if group]
        if match["iso"]:
            found += _span(*map(int, match["iso"].split("-")))
        elif len(groups) > 1 or groups[0].lower() not in _WORDS or groups[0][0].isupper() or _led(text, match.start()):
            found += _read(groups, years)
        if len(found) >= MAX_SPANS:
            break
    if now is not None:
        found += [_back(match[0].lower(), now) for match in _AGO.finditer(text)]
    return list(dict.fromkeys(found))[:MAX_SPANS]


def may_name_times(question: str) -> bool:
    """Whether `spans` may find anything; cheap."""
    return bool(_NAMED.search(question, 0, READ) or _AGO.search(question, 0, READ))


def _led(text: str, start: int) -> bool:
    """Whether a preposition of time stands right before a place in the text."""
    before = text[max(0, start - 10) : start].split()
    return bool(before) and before[-1].lower() in _LEADS


def _read(groups: list[str], years: range) -> list[tuple[int, int]]:
    """Spans of a time written as month, day, year in some order, some of them absent."""
    numbers = [int(group) for group in groups if group.isdigit()]
    month = next((_MONTHS.index(group[:3].lower()) + 1 for group in groups if group[:3].lower() in _MONTHS), None)
    day = next((number for number in numbers if number < 1000), None)
    year = next((number for number in numbers if number >= 1000), None)
    return [span for each in ([year] if year else years) for span in _span(each, month, day)]


def _span(year: int, month: int | None = None, day: int | None = None) -> list[tuple[int, int]]:
    """A year, a month or a day; none where there is no such day."""
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return []
    if day:
        return [(_micros(start), _micros(start) + DAY)]
    after = datetime(year + 1, 1, 1, tzinfo=UTC) if month in (None, 12) else datetime(year, month + 1, 1, tzinfo=UTC)
    return [(_micros(start), _micros(after))]


def _back(words: str, now: int) -> tuple[int, int]:
    """A time named by its distance from now."""
    today = now // DAY * DAY
    if words in ("today", "yesterday"):
        start = today - DAY * (words == "yesterday")
        return start, start + DAY
    days = {"week": 7, "month": 31, "year": 366}[words.split()[1]]
    return today - days * DAY, today + DAY


def _moment(at: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=max(0, min(at, 32_000_000_000_000_000)))


def _micros(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000
