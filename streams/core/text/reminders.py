"""Reminders in what a user says: what they ask to be reminded of, and what they must do, or want done, by a time.

Each time to come that the words name (see times) is a candidate, and so is a turn that names none. Learned weights tell
which of them are meant (see learned): the words of the sentence, those right before and behind the time, how far off it
is. `asked` says how sure it is that somebody asks for a reminder in so many words.

Weights: reminders.json, by tests/bench/learn_reminders.py, from 17 voices and 1,100 single sentences. On 17 voices by
other authors, whose sentences were not looked at but whose figures chose the threshold (so on others a little less):
English precision .82, recall .49, right time .81; all .74, .46, .86. In chats of friends (LoCoMo) 2 of 1,000 turns
leave a note, in IRC 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from streams.core.text.languages import language
from streams.core.text.learned import Learned, likelihood
from streams.core.text.signals import folded, signals
from streams.core.text.times import KINDS, WIDE, Time, Ttl, haste, named

MAX_READ = 6_000
"""Characters read of a turn: a thousand words; further down stands what was pasted."""
MAX_REMINDERS = 4
"""Reminders taken from one turn."""
MAX_TIMES = 8
"""Times of one turn that are looked at."""
BESIDE = 3
"""Words before and behind a time that are looked at for standing there."""
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*", re.S | re.M)
_STOP = re.compile(r"[.!?…]+(?=\s|$)|[。！？\n]+")
_FAR = ((0.15, "now"), (1, "today"), (3, "days"), (8, "week"), (32, "weeks"), (120, "far"))
"""How many days off a time is at most, by what that is called."""


WEIGHTS = Learned.load("streams.core.text", "reminders.json")


ASKING = frozenset(WEIGHTS.words("read"))
"""Words of requests: a turn with one is read closely, and they count in its other sentences, too."""
_TIMELY = frozenset(["sat", "sun", "wed", "mar", "may", "min", "mins", "#"]) | KINDS.keys()
_NUMERIC = re.compile(
    r"\D?(?:\d{1,2}(?:st|nd|rd|th|er|[ap]m|h|uhr|\.)?|\d{1,2}[:.h]\d\d.*|0\d[0-5]\d|\d{4}-\d\d-\d\d)[.,:;!?)]*"
)
_WIDE = re.compile(
    f"[日月曜時时点點分週周明今后後末]|{'|'.join(map(re.escape, (word for word in ASKING if not word.isascii())))}"
)


def may_name(folded: str, parts: Sequence[str]) -> bool:
    """Whether a word, folded, or one of its parts may name a time or ask for a reminder."""
    if not (_TIMELY.isdisjoint(parts) and ASKING.isdisjoint(parts)) or _NUMERIC.fullmatch(folded):
        return True
    return not folded.isascii() and _WIDE.search(folded) is not None


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


class Candidate(NamedTuple):
    """What may be a reminder, and what is seen of it."""

    time: Time | None
    sentence: str
    signals: list[str]


def candidates(content: str, now: datetime, every: bool = False) -> list[Candidate]:
    """What in a user's words may ask for a reminder; `now` is local. With `every`, any sentence may."""
    text = content[:MAX_READ]
    if "`" in text or ">" in text:
        text = _QUOTED.sub(lambda found: " " * len(found[0]), text)
    spans = [(start, end, folded(text[start:end])) for start, end in _sentences(text)]
    code = language(text, [word for _, _, words in spans for word in words])
    times = [
        time._replace(start=time.start + start, end=time.end + start)
        for start, end, words in spans
        if code in WIDE or not _TIMELY.isdisjoint(words)
        for time in named(text[start:end], code, now)
    ][:MAX_TIMES]
    found = []
    for at, time in enumerate(times):
        place = next(n for n, (start, end, _) in enumerate(spans) if start <= time.start < end)
        seen = _around(text, spans, place)
        seen += _beside(text, spans[place][:2], time)
        days = (time.moment - now).total_seconds() / 86_400
        seen.append("t:exact" if time.exact else "t:day")
        seen.append("t:" + next((name for most, name in _FAR if days < most), "never"))
        seen += [f"t {word}" for word in folded(text[time.start : time.end])]
        seen.append("t:only" if len(times) == 1 else "t:first" if not at else "t:later")
        seen.append(f"in:{code}")
        found.append(Candidate(time, text[slice(*spans[place][:2])].strip(), [*dict.fromkeys(seen)]))
    for place, (start, end, words) in enumerate(spans[:MAX_TIMES] if not times else ()):
        if every or not ASKING.isdisjoint(words):
            seen = [*_around(text, spans, place), "t:none", f"in:{code}"]
            found.append(Candidate(None, text[start:end].strip(), seen))
    return found


def reminders(content: str, now: datetime, sure: int, asks: int) -> list[Reminder]:
    """The reminders in a user's words, in order: of a sentence the surest.

    What names a time counts from the score `sure` on, a request without one from `asks` on.

    Several of a turn only where each is asked for in so many words; else what is wanted stands once, and is explained.
    """
    found: dict[str, Reminder] = {}
    for time, sentence, seen in candidates(content, now):
        timed, asked, _ = WEIGHTS.scores(seen)
        score = timed if time else asked
        if score >= (sure if time else asks) and (sentence not in found or score > found[sentence].score):
            moment = time.moment if time else None
            found[sentence] = Reminder(sentence, moment, haste(sentence), score, asked)
    best = max(found.values(), key=lambda one: one.score, default=None)
    return [one for one in found.values() if one is best or one.asked >= asks][:MAX_REMINDERS]


def why(content: str, now: datetime) -> list[dict[str, Any]]:
    """What was seen of each candidate in a user's words, and what it weighs: how the decision came about."""
    found: list[dict[str, Any]] = []
    for time, sentence, seen in candidates(content, now):
        act = "reminder" if time else "asked"
        score = WEIGHTS.scores(seen)[WEIGHTS.acts.index(act)]
        by = f"until {time.moment:%Y-%m-%d %H:%M}" if time else ""
        weights = [{"signal": signal, "weight": weight} for signal, weight in WEIGHTS.why(seen, act)]
        found.append(
            {"sentence": sentence, "time": by, "score": score, "likelihood": likelihood(score), "signals": weights}
        )
    return found


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = [found.end() for found in _STOP.finditer(text)]
    return [(a, b) for a, b in pairwise(dict.fromkeys((0, *ends, len(text)))) if text[a:b].strip()]


def _around(text: str, spans: Sequence[tuple[int, int, list[str]]], place: int) -> list[str]:
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
