"""The days to come that a turn names, and the days and spans of days that a question does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache

from processors.days.events import DayNamed
from streams.core.events import TurnRecorded
from streams.core.processor import derived_id
from streams.core.text.cues import STOP
from streams.core.text.languages import language
from streams.core.text.reminders import MAX_READ, may_name_day, sentences_of
from streams.core.text.signals import folded
from streams.core.text.spans import Span, spanned
from streams.core.text.telling import shortened
from streams.core.text.times import midnight, named
from streams.core.text.wide import ASKS

MAX_DAYS, MAX_AHEAD = 3, 400
"""Days of one turn; further ahead lies what is told as a number of years."""
MAX_TEXT, MAX_ASKED = 240, 500
"""Bytes kept of what is said, and characters of a question that are read."""
LONG = 3
"""Letters; a longer word beside the day's own says what is then. "On Friday, ok" repeats the day, and tells nothing."""
ASKING = ASKS | {"asks", "coming"}
"""Cues of a turn that may ask what is in a span of days; "next month I am in Rome" does not."""
_MOMENT = timedelta(microseconds=1)
_APART = str.maketrans("'’", "  ")
"""Of "tomorrow's" the first word names a day."""


def days_named(turn: TurnRecorded, cues: Collection[str], now: datetime) -> Iterator[DayNamed]:
    """What a turn with these cues says of days to come; `now` is local.

    Why not of the day that it is said on, where no hour is named: "it went out today" is no plan.
    """
    if not may_name_day(turn.content[:MAX_READ]):
        return
    found: dict[date, DayNamed] = {}
    whole = " ".join(turn.content.split())
    sentences = sentences_of(turn.content)
    least = 1 + ("greeting" in cues)
    if len(sentences) == 1 and ("wh" in cues or "question" in cues):
        return
    for sentence, code, told in sentences:
        if sentence.rstrip()[-1:] in "?？":
            continue
        text = whole if len(whole) <= MAX_TEXT else shortened(told, MAX_TEXT)
        for time in named(sentence, code, now):
            day = (time.moment - _MOMENT * (not time.exact)).date()
            ahead = (day - now.date()).days
            if not time.day or day in found or ahead > MAX_AHEAD or not (ahead or time.exact):
                continue
            own = STOP.union(folded(sentence[time.start : time.end]))
            beside = [word for word in folded(text) if len(word) > LONG and word[0].isalpha() and word not in own]
            if len(beside) < least:
                continue
            id = derived_id("day", turn.space, f"{turn.id}/{day.isoformat()}")
            found[day] = DayNamed(turn.space, turn.session, turn.at, id, turn.id, day.isoformat(), text)
    yield from [*found.values()][:MAX_DAYS]


@lru_cache(64)
def _spoken_in(question: str) -> str:
    """The language of a question that may name a day; "" of another. A question is asked for days and for spans."""
    text = question[-MAX_ASKED:]
    return language(text, folded(text)) if may_name_day(text.translate(_APART)) else ""


def asked_span(question: str, cues: Collection[str], now: datetime) -> Span | None:
    """The span of days, from today on, of which a question with these cues asks ("what's on next week?"); None for
    none. `now` is local."""
    if ASKING.isdisjoint(cues) or not (code := _spoken_in(question)):
        return None
    return spanned(question[-MAX_ASKED:], code, midnight(now))


def asked_days(question: str, now: datetime) -> frozenset[date]:
    """The days to come that a question names; `now` is local."""
    if not (code := _spoken_in(question)):
        return frozenset()
    times = named(question[-MAX_ASKED:], code, now)
    return frozenset((time.moment - _MOMENT * (not time.exact)).date() for time in times if time.day)
