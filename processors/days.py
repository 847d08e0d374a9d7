"""Days: what was said of days to come, found by the day.

Most of what is said of a day asks for no note ("the keys are on July 14 at 16:00"), and shares no word with the
question that needs it ("what's on today?"). So each turn that names a day to come is kept by that day (see
core/text/times). It waits for nothing and is never asked about: when the day is over, it is found by its words alone.
What asks tells nothing of a day, nor does an hour without one.

A context is told what was said of the days that its question names; where talk begins, of today and tomorrow; where it
is asked what is going on, of the week ahead, and where it is asked how far things are, of the next weeks. Of a turn
that a waiting note was made of, the note tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Literal

from pydantic import field_validator

from processors.ttl_escalations import NoteOpened
from streams.core.clock import to_local, zone_of
from streams.core.events import TurnRecorded, iso
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on
from streams.core.read_model import Group, Joins, Keep, ReadModel
from streams.core.section import Ask, Piece, Reader, Section, Spoken
from streams.core.text.cues import STOP
from streams.core.text.languages import language
from streams.core.text.reminders import sentences_of
from streams.core.text.signals import folded
from streams.core.text.times import named
from streams.core.text.wide import ASKS
from streams.core.text.within import clip, first_bytes


@dataclass(slots=True)
class DayNamed(Derived):
    """A turn names a day to come."""

    id: str
    turn: str
    day: str
    """By the clocks of the space's zone, as 2026-03-14."""
    text: str
    """What is said: the turn where it is short, else the sentence that names the day."""
    type: Literal["day-named.v1"] = "day-named.v1"


class DaysParams(Params):
    """By whose clocks a day is meant."""

    zone: str = param(
        "UTC",
        "time zone",
        "by whose clocks 'tomorrow' is meant: a name such as Europe/Berlin, or hours as +02:00",
        "chosen",
    )

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        """A zone that there is."""
        zone_of(zone)
        return zone


MAX_DAYS, MAX_AHEAD = 3, 400
"""Days of one turn; further ahead lies what is told as a number of years."""
MAX_TEXT, MAX_ASKED = 240, 500
"""Bytes kept of what is said, and characters of a question that are read."""
LONG = 3
"""Letters; a longer word beside the day's own says what is then. "On Friday, ok" repeats the day, and tells nothing."""
_MOMENT = timedelta(microseconds=1)


QUERY = """-- What was said of days to come, by day.
-- parameter: space = ''  only this space; '' for all
SELECT d.day, count(*) AS turns, max(d.at) AS last_at
FROM named_days d WHERE $space IN ('', d.space) GROUP BY d.day ORDER BY d.day
"""
DIFFERENCES = """-- count: named days
SELECT count(*) AS "named days" FROM named_days
"""
WAITING = 5_000
"""Notes that wait and are looked at, the newest."""
_NONE: tuple[Derived, ...] = ()


def days_named(turn: TurnRecorded, cues: Collection[str], now: datetime) -> Iterator[DayNamed]:
    """What a turn with these cues says of days to come; `now` is local.

    Why not of the day that it is said on, where no hour is named: "it went out today" is no plan.
    """
    found: dict[date, DayNamed] = {}
    whole = " ".join(turn.content.split())
    sentences = sentences_of(turn.content)
    least = 1 + ("greeting" in cues)
    if len(sentences) == 1 and ("wh" in cues or "question" in cues):
        return
    for sentence, code in sentences:
        if sentence.rstrip()[-1:] in "?？":
            continue
        text = whole if len(whole) <= MAX_TEXT else first_bytes(sentence, MAX_TEXT)
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


def asked_days(question: str, now: datetime) -> frozenset[date]:
    """The days to come that a question names; `now` is local."""
    text = question[-MAX_ASKED:]
    times = named(text, language(text, folded(text)), now)
    return frozenset((time.moment - _MOMENT * (not time.exact)).date() for time in times if time.day)


def _turn(params: DaysParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    if "when" not in raw.text.cues or (turn.role != "user" and turn.role != "assistant"):
        return _NONE
    return [*days_named(turn, raw.text.cues, to_local(turn.at, params.zone))]


class DaysSectionParams(Params):
    """Which of the days that were named are shown."""

    most: int = param(8, "lines", "the nearest; more are a calendar nobody reads", ge=0)
    near: int = param(1, "days", "whoever begins to talk is told of today and tomorrow", ge=0, le=31)
    ahead: int = param(7, "days", "who asks what is going on asks for a week", ge=0, le=31)
    far: int = param(
        62, "days", "who asks how far things are asks for more; what lies before a later day is not asked for", ge=0
    )
    each: int = param(2, "lines", "of one day, the newest", ge=1)
    own: int = param(12, "turns", "the session's last are before the model's eyes", ge=1)
    asked: float = param(0.95, "worth", "the question names that day", ge=0, le=1)
    soon: float = param(0.6, "worth", "a day that comes is told though nobody asks", ge=0, le=1)
    until: float = param(0.5, "worth", "it lies before the day that is asked for, or in the week ahead", ge=0, le=1)
    line: int = param(48, "tokens", "what was said of a day is a line", ge=8)


def days(params: DaysParams, own: DaysSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """What was said of days to come, in their order: of those that the question names, and of the next ones where talk
    begins."""
    today = to_local(ask.now, params.zone)
    asked = asked_days(ask.asked, today)
    talk = [*islice(read.session(), own.own)]
    last = max([_ahead(own, ask, len(talk)), *(min((day - today.date()).days, own.far) for day in asked)])
    noted = {one.turn for one in read.kept(NoteOpened, read.members("notes", "waiting", WAITING).newest).values()}
    seen = noted.union(turn.id for turn in talk)
    found: list[Piece] = []
    for ahead in range(last + 1):
        day = today.date() + timedelta(days=ahead)
        told = read.kept(DayNamed, read.members("days", day.isoformat(), 4 * own.each).newest)
        said = read.turns([one.turn for one in told.values()])
        placed = [(said[one.turn], one) for one in told.values() if one.turn in said]
        kept_ones = [two for two in _apart(placed) if two[1].turn not in seen][: own.each]
        worth = own.asked if day in asked else own.soon if ahead <= own.near else own.until
        reason = "the question names that day" if day in asked else f"a day that comes in {ahead} days"
        for turn, one in kept_ones:
            line = f"- {_called(ahead)}{day:%a} {one.day}: {clip(' '.join(one.text.split()), own.line)} [{one.turn}]"
            data = {"day": one.day, "said_in": one.turn, "at": iso(turn.at)}
            found.append(Piece(one.id, reason, worth, line, quotes=(one.turn,), data=data))
    best = sorted(range(len(found)), key=lambda place: (-found[place].worth, place))[: own.most]
    yield from (found[place] for place in sorted(best))


def _ahead(own: DaysSectionParams, ask: Ask, turns: int) -> int:
    """How many days ahead are told of, whatever days the question names; -1 for none."""
    if ask.wide and "progress" in ask.cues:
        return own.far
    if ask.wide and ("greeting" not in ask.cues or not ASKS.isdisjoint(ask.cues)):
        return own.ahead
    return own.near if turns <= 1 else -1


def _apart(placed: Sequence[tuple[Spoken, DayNamed]]) -> list[tuple[Spoken, DayNamed]]:
    """The newest first, without replies to who named that day; of what agents say of it beside, the newest."""
    users = [turn.position for turn, _ in placed if turn.role == "user"]
    found: list[tuple[Spoken, DayNamed]] = []
    for turn, one in sorted(placed, key=lambda two: -two[0].position):
        if turn.role != "user":
            replies = any(turn.position - NEXT < position < turn.position for position in users)
            if replies or any(other.role != "user" for other, _ in found):
                continue
        found.append((turn, one))
    return found


NEXT = 6
"""Turns of a log between which a reply stands."""


def _called(ahead: int) -> str:
    return ("today, ", "tomorrow, ")[ahead] if ahead < 2 else f"in {ahead} days, "


SECTION = Section("days", 21, "Said of the days that come", DaysSectionParams, days)
PROCESSOR = Processor(
    name="days",
    version=1,
    params=DaysParams,
    takes=(on(TurnRecorded, _turn),),
    emits=(DayNamed,),
    read_model=ReadModel(
        keeps=(Keep(DayNamed, ("id",), "named_days"),),
        groups=(Group("days", "id", {DayNamed: Joins(by="day")}),),
        queries={"days_named": QUERY},
        differences=DIFFERENCES,
        sections=(SECTION,),
    ),
)
