"""Reminders in what a user says: what they ask to be reminded of, and what they must do, or want done, by a time.

Each time to come that the words name (see times) is a candidate, and so is a turn that names none. Learned weights tell
which of them are meant (see learned): the words of the sentence, those right before and behind the time, how far off it
is. `asked` says how sure it is that somebody asks for a reminder in so many words.

What is not sure by its own words waits for an agent's reply: one that names the same time, or repeats the matter, takes
it up (see replied).

Weights: reminders.json, by tests/bench/learn_reminders.py, from 366 voices by 82 authors and 1,273 single sentences.
With each author left out of learning, English: precision .90, recall .80, right time .92 of those (.93 and .77 with
thresholds that ask for more, and with replies only to what is likelier by its own words); German .88 and .69, Spanish
.85 and .55, French .81 and .65.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from streams.core.patterns import lazily
from streams.core.text.languages import language
from streams.core.text.learned import Learned, likelihood
from streams.core.text.recurring import RECURRING, begins, is_meant, recurrence
from streams.core.text.sentences import RECORD
from streams.core.text.signals import folded, signals
from streams.core.text.stops import STOP
from streams.core.text.times import (
    COUNTS,
    HOURS,
    INSTANT,
    KINDS,
    UNITS,
    WIDE,
    YEARS,
    Time,
    Ttl,
    haste,
    in_month,
    lead,
    midnight,
    named,
)

MAX_READ = 6_000
"""Characters read of a turn: a thousand words; further down stands what was pasted."""
MAX_REMINDERS = 4
"""Reminders taken from one turn."""
MAX_REPLY = 600
"""Characters read of a reply."""
MAX_DOUBTS, DOUBTED = 2, -300
"""What may be a reminder of one turn, and how sure it must be to wait for the reply."""
SHORT = 3
"""Letters of words that say little where they are repeated."""
DAY = 86_400
"""Seconds."""
MAX_DOUBT = 300
"""Characters of its sentence that wait."""
MAX_TIMES = 8
"""Times of one turn that are looked at."""
BESIDE = 3
"""Words before and behind a time that are looked at for standing there."""
_RECORDED = lazily(RECORD, re.M)
_QUOTED = lazily(rf"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*|{RECORD}", re.S | re.M)
_APART_QUOTED = lazily(rf"```.*?(?:```|\Z)|^[ \t]*>[^\n]*|{RECORD}", re.S | re.M)
"""What of it stands in lines of its own."""
_STOP = lazily(rf"{STOP}+(?=\s|$)|[。！？\n]+")
_STOP_DE = lazily(rf"(?:(?<!\b\d)(?<!\b\d\d){STOP}|[!?…])+(?=\s|$)|\.(?=\s*$)|[。！？\n]+")  # "am 15. Mai" goes on
_FAR = ((0.15, "now"), (1, "today"), (3, "days"), (8, "week"), (32, "weeks"), (120, "far"))
"""How many days off a time is at most, by what that is called."""


WEIGHTS = Learned.load("streams.core.text", "reminders.json")
REPLIED = WEIGHTS.acts.index("replied")

ASKING = frozenset(WEIGHTS.words("read"))
"""Words of requests: a turn with one is read closely, and they count in its other sentences, too."""
MOST = 12
"""Numbers up to it are mostly no days of a month."""
_TIMELY = (
    frozenset(["sat", "sun", "wed", "mar", "may", "min", "mins", "#"])
    | KINDS.keys()
    | HOURS
    | {w for w, n in COUNTS.items() if n > MOST}
)
_NUMERIC = lazily(
    r"\D?(?:\d{1,2}(?:st|nd|rd|th|er|[ap]m|h|uhr|\.)?|\d{1,2}[:.h]\d\d.*|0\d[0-5]\d|\d{4}-\d\d-\d\d)[.,:;!?)]*"
)
_WIDE = lazily(
    f"[日月曜時时点點分週周明今后後末]|{'|'.join(map(re.escape, (word for word in ASKING if not word.isascii())))}"
)


def may_name(folded: str, parts: Sequence[str]) -> bool:
    """Whether a word, folded, or one of its parts may name a time or ask for a reminder."""
    if not (_TIMELY.isdisjoint(parts) and ASKING.isdisjoint(parts)) or _NUMERIC.fullmatch(folded):
        return True
    return not folded.isascii() and _WIDE.search(folded) is not None


_DAYS = _TIMELY - {"#"}
_DIGIT = re.compile(r"\d")
"""Whatever `_DATES` finds has one; it is found in a tenth of the time."""
_DATES = re.compile(r"\b\d{1,2}(?:st|nd|rd|th|er|º|\.)(?!\d)|\b(?:the|el|al|le|am|den|dem) \d{1,2}\b|\d[-/.]\d", re.I)


def may_name_day(text: str) -> bool:
    """Whether a text may name a day; cheap, and true of much that names none."""
    if not _DAYS.isdisjoint(folded(text)) or (not text.isascii() and _WIDE.search(text) is not None):
        return True
    return _DIGIT.search(text) is not None and _DATES.search(text) is not None


Span = tuple[int, int, list[str]]
"""Where a sentence begins and ends, and its words."""


class Reminder(NamedTuple):
    """One request to come back to something."""

    content: str
    """The sentence that asks for it."""
    moment: datetime | None
    """By when, in local time; None where no time is named."""
    ttl: Ttl
    """How long it may wait where no time is named."""
    score: int
    """How sure it is that a note is wanted, in hundredths of log odds."""
    asked: int
    """How sure it is that somebody asked for it in so many words."""
    every: str = ""
    """How it comes again and again, as a rule of iCalendar (see recurring); "" where it is wanted once."""


class Doubt(NamedTuple):
    """What may be a reminder, and is one if the reply takes it up."""

    content: str
    moment: str
    """As an ISO time; "" where none is named."""
    ttl: Ttl
    score: int
    asked: int
    every: str = ""


class Candidate(NamedTuple):
    """What may be a reminder, and what is seen of it."""

    time: Time | None
    sentence: str
    signals: list[str]
    every: str = ""
    """How it comes again and again, as a rule of iCalendar (see recurring); its time is the first."""


def candidates(content: str, now: datetime, every: bool = False) -> list[Candidate]:
    """What in a user's words may ask for a reminder; `now` is local. With `every`, any sentence may."""
    text, code = _unquoted(content)
    spans = [(start, end, folded(text[start:end])) for start, end in _sentences(text, code)]
    times = [
        time._replace(start=time.start + start, end=time.end + start)
        for start, end, words in spans
        if code in WIDE or not (_TIMELY.isdisjoint(words) and COUNTS.keys().isdisjoint(words))
        for time in named(text[start:end], code, now)
    ][:MAX_TIMES]
    for at, (day, clock) in enumerate(pairwise(times), 1):
        if not (day.exact or clock.day) and clock.exact:  # "On Monday they come. Tell me at seven."
            began = midnight(day.moment - INSTANT)
            start, end = next(span[:2] for span in spans if span[0] <= clock.start < span[1])
            then = named(text[start:end], code, began)
            times[at] = clock._replace(moment=next((one.moment for one in then if not one.day), clock.moment))
    times = _led(text, code, spans, times, now)[:MAX_TIMES]
    recurring = _recurring(text, code, spans, times, now)
    found = []
    for at, (time, again) in enumerate(recurring):
        place = next(n for n, (start, end, _) in enumerate(spans) if start <= time.start < end)
        seen = _around(text, spans, place)
        seen += _beside(text, spans[place][:2], time)
        days = (time.moment - now).total_seconds() / 86_400
        seen.append("t:exact" if time.exact else "t:day")
        seen.append("t:" + next((name for most, name in _FAR if days < most), "never"))
        seen += [f"t {word}" for word in folded(text[time.start : time.end])]
        seen.append("t:only" if len(recurring) == 1 else "t:first" if not at else "t:later")
        seen += ["t:again"] * bool(again)
        seen.append(f"in:{code}")
        found.append(Candidate(time, _said(content, text, *spans[place][:2]), [*dict.fromkeys(seen)], again))
    for place, (start, end, words) in enumerate(spans[:MAX_TIMES] if not found else ()):
        if every or not ASKING.isdisjoint(words):
            seen = [*_around(text, spans, place), "t:none", f"in:{code}"]
            found.append(Candidate(None, _said(content, text, start, end), seen))
    return found


def _clock(text: str, spans: Sequence[Span], time: Time, code: str, now: datetime) -> timedelta | None:
    """The hour of the day that a time names, whatever the hour is now; None where it names none."""
    if time.day:
        return time.moment - midnight(time.moment) if time.exact or time.moment != midnight(time.moment) else None
    start, end = next(span[:2] for span in spans if span[0] <= time.start < span[1])
    then = next((one.moment for one in named(text[start:end], code, midnight(now)) if not one.day), time.moment)
    return then - midnight(then)


def _recurring(
    text: str, code: str, spans: Sequence[Span], times: Sequence[Time], now: datetime
) -> list[tuple[Time, str]]:
    """The times of a turn, each with how it comes again and again, as a rule; and what only is said to come so, with
    the first time that it does.

    What names a day of its own is wanted on that day, whatever recurs beside it ("I swim every Tuesday, remind me
    tonight to buy goggles").
    """
    found = [(time, "") for time in times]
    for start, end, words in spans if now.year in YEARS else ():
        if RECURRING.isdisjoint(words) or (said := recurrence(text[start:end], code)) is None:
            continue
        said = said._replace(start=said.start + start, end=said.end + start)
        inside = [one for one in found if start <= one[0].start < end]
        meant = next((one for one in inside or found if is_meant(said, one[0], text, code)), None)
        if meant is None:
            if not found:
                moment = begins(said, None, None, now)
                found = [(Time(said.start, said.end, moment, moment.hour > 0, False), said.rule)]
            continue
        time = meant[0]
        timed = meant if time.exact else next((one for one in found if one[0].exact and not one[0].day), meant)
        clock = _clock(text, spans, timed[0], code, now)
        day = midnight(time.moment - INSTANT) if time.day and not said.overlaps(time) else None
        time = time._replace(moment=begins(said, day, clock, now))
        # "every Monday and Thursday" names two days, and is one request
        found = [
            (time, said.rule) if one is meant else one
            for one in found
            if one is meant or not (one is timed or said.overlaps(one[0]))
        ]
    return found


class Said(NamedTuple):
    """A sentence of what somebody says."""

    read: str
    """Without what is quoted in it."""
    code: str
    """Its language."""
    told: str
    """As it is told, with what of its line is quoted."""


def sentences_of(content: str) -> list[Said]:
    """The sentences of what somebody says."""
    text, code = _unquoted(content)
    spans = _sentences(text, code)
    return [Said(text[start:end].strip(), code, _said(content, text, start, end)) for start, end in spans]


def _said(content: str, text: str, start: int, end: int) -> str:
    """A sentence as it is told: with names and code that are quoted within its line ("delete `old.py` tomorrow"), which
    it says nothing without. What is read of it, `text`, has blanks there."""
    told = _with_code(content[:MAX_READ]) if "`" in content[start:end] else text
    return told[start:end].strip()


@lru_cache(maxsize=8)
def _with_code(read: str) -> str:
    """What is read of a turn, with what is quoted within its lines. A memo of a pure function, which each sentence asks
    for."""
    return _APART_QUOTED.sub(_blank, read)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def spans_of(content: str) -> list[tuple[int, int]]:
    """Where these sentences begin and end."""
    return _sentences(*_unquoted(content))


def _unquoted(content: str) -> tuple[str, str]:
    """What is read of a turn, what is quoted in it left blank, and its language."""
    text = content[:MAX_READ]
    if "`" in text or ">" in text or _RECORDED.search(text):
        text = _QUOTED.sub(_blank, text)
    return text, language(text, folded(text))


def _led(text: str, code: str, spans: Sequence[Span], times: Sequence[Time], now: datetime) -> list[Time]:
    """The times of a turn, with those that it names by how long before one it said earlier: "remind me an hour
    before"."""
    found = [*times]
    for start, end, words in spans[1:] if times else ():
        if _TIMELY.isdisjoint(words) or any(start <= time.start < end for time in times):
            continue
        said, long = [time for time in times if time.end <= start], lead(text[start:end], code)
        if said and long is not None and (said[-1].exact or long.unit >= UNITS["d"]):
            moment = long.before(said[-1].moment - timedelta(microseconds=not said[-1].exact))
            if moment > now:
                found.append(Time(long.start + start, long.end + start, moment, long.unit < UNITS["d"]))
    return sorted(found)


def reminders(content: str, now: datetime, sure: int, asks: int) -> tuple[list[Reminder], list[Doubt]]:
    """The reminders in a user's words, in order: of a sentence the surest. And where there are none what may be one.

    What names a time counts from the score `sure` on; what is asked for in so many words from `asks` on, with a time or
    without one.

    Several of a turn only where each is asked for in so many words; else what is wanted stands once, and is explained.
    """
    found: dict[str, Reminder] = {}
    for time, sentence, seen, every in candidates(content, now):
        timed, asked, *_ = WEIGHTS.scores(seen)
        score = timed if time else asked
        if score >= DOUBTED and (sentence not in found or score > found[sentence].score):
            moment = time.moment if time else None
            found[sentence] = Reminder(sentence, moment, haste(sentence), score, asked, every)
    sures = [one for one in found.values() if one.asked >= asks or (one.moment and one.score >= sure)]
    if not sures:
        doubts = sorted(found.values(), key=lambda one: -one.score)[:MAX_DOUBTS]
        return [], [Doubt(d[0][:MAX_DOUBT], d[1].isoformat() if d[1] else "", *d[2:]) for d in doubts]
    best = max(sures, key=lambda one: one.score)
    wanted = [one for one in sures if one is best or one.asked >= asks][:MAX_REMINDERS]
    return [one if one.moment else one._replace(moment=_month(one.content, now)) for one in wanted], []


def _month(content: str, now: datetime) -> datetime | None:
    """By when what names no day is wanted, where it names a month."""
    return in_month(content, language(content, folded(content)), now)


def replied(doubts: Sequence[Doubt], reply: str, now: datetime, enough: int) -> Reminder | None:
    """The reminder that a user's words were, as an agent's reply takes them."""
    best: Reminder | None = None
    for doubt in doubts:
        seen, times = reply_signals(doubt, reply, now)
        score = WEIGHTS.scores(seen)[REPLIED]
        if score >= enough and (best is None or score > best.score):
            moment = datetime.fromisoformat(doubt.moment) if doubt.moment else times[0].moment if times else None
            best = Reminder(doubt.content, moment, doubt.ttl, score, doubt.asked, doubt.every)
    return best


def reply_signals(doubt: Doubt, reply: str, now: datetime) -> tuple[list[str], list[Time]]:
    """What an agent's reply shows of what may have been a reminder, and the times that it names.

    r:same r:day r:other r:none    names the same time, day, another, or none
    r noted   r^ friday   r:asks   its words, the first one; ends with a question; r:shared: repeats words
    doubt:-50                      how sure it was before, and all that is less
    """
    text = reply[:MAX_REPLY]
    words = folded(text)
    code = language(text, words)
    times = named(text, code, now)
    first = _STOP.split(text, maxsplit=1)[0]
    if not doubt.moment:
        said = "time" if times else "none"
    else:
        moment = datetime.fromisoformat(doubt.moment)
        apart = min((abs((time.moment - moment).total_seconds()) for time in times), default=-1)
        said = "none" if apart < 0 else "same" if not apart else "day" if apart <= DAY else "other"
    shared = len([word for word in {*folded(doubt.content)} & {*folded(first)} if len(word) > SHORT])
    seen = [
        f"r:{said}", "r:asks" if text.rstrip()[-1:] in "?？" else "r:tells", f"r:shared:{min(shared, 2)}",
        f"r:words:{len(words).bit_length()}", f"r:first:{len(folded(first)).bit_length()}",
        "r:timed" if doubt.moment else "r:untimed", f"in:{code}", *(f"r^ {word}" for word in words[:1]),
        *(f"r {word}" for word in dict.fromkeys(words)),
        *(f"doubt:{level}" for level in range(DOUBTED, doubt.score + 1, 50)),
    ]  # fmt: skip
    if times and times[0].start < len(first):
        seen.append("r:begins")
    return seen, times


def why(content: str, now: datetime) -> list[dict[str, Any]]:
    """What was seen of each candidate in a user's words, and what it weighs: how the decision came about."""
    found: list[dict[str, Any]] = []
    for time, sentence, seen, _ in candidates(content, now):
        act = "reminder" if time else "asked"
        score = WEIGHTS.scores(seen)[WEIGHTS.acts.index(act)]
        by = f"until {time.moment:%Y-%m-%d %H:%M}" if time else ""
        weights = [{"signal": signal, "weight": weight} for signal, weight in WEIGHTS.why(seen, act)]
        found.append(
            {"sentence": sentence, "time": by, "score": score, "likelihood": likelihood(score), "signals": weights}
        )
    return found


def _sentences(text: str, code: str) -> list[tuple[int, int]]:
    ends = [found.end() for found in (_STOP_DE if code == "de" else _STOP).finditer(text)]
    return [(a, b) for a, b in pairwise(dict.fromkeys((0, *ends, len(text)))) if text[a:b].strip()]


def _around(text: str, spans: Sequence[Span], place: int) -> list[str]:
    """The signals of a sentence, and the words of requests in the rest of its turn."""
    start, end, _ = spans[place]
    seen = signals(text[start:end])
    seen += [
        f"rest {word}" for at, (_, _, words) in enumerate(spans) if at != place for word in words if word in ASKING
    ]
    seen.append("last" if place == len(spans) - 1 else "first" if not place else "between")
    seen.append(f"sentences:{min(len(spans), 4)}")
    return seen


def _beside(text: str, span: tuple[int, int], time: Time) -> list[str]:
    """The words right before and behind a time."""
    before = ["^", *folded(text[span[0] : time.start])[-BESIDE:]]
    after = [*folded(text[time.end : span[1]])[:BESIDE], "$"]
    return [*(f"{word} <" for word in before), *(f"> {word}" for word in after), f"{' '.join(before[-2:])} <"]
