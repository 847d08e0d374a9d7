"""What days put into a context: what was said of the days that are asked for, and of the next ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice

from processors.days.events import DayNamed, DaysParams
from processors.days.naming import asked_days, asked_span
from processors.ttl_escalations import NoteOpened
from streams.core.clock import to_local
from streams.core.events import iso
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section, Spoken
from streams.core.text.wide import ASKS
from streams.core.text.within import clip

WAITING = 5_000
"""Notes that wait and are looked at, the newest."""
NEXT = 6
"""Turns of a log between which a reply stands."""


class DaysSectionParams(Params):
    """Which of the days that were named are shown."""

    most: int = param(8, "lines", "the nearest; more are a calendar nobody reads", ge=0)
    near: int = param(1, "days", "whoever begins to talk is told of today and tomorrow", ge=0, le=31)
    ahead: int = param(7, "days", "who asks what is going on asks for a week", ge=0, le=31)
    far: int = param(
        62, "days", "who asks how far things are or what comes asks for more; before a later day not all is asked for",
        ge=0,
    )  # fmt: skip
    longest: int = param(92, "days", "of a span that the question names", ge=0)
    each: int = param(2, "lines", "of one day, the newest", ge=1)
    own: int = param(12, "turns", "the session's last are before the model's eyes", ge=1)
    asked: float = param(0.95, "worth", "the question names that day", ge=0, le=1)
    soon: float = param(0.6, "worth", "a day that comes is told though nobody asks", ge=0, le=1)
    until: float = param(0.5, "worth", "it lies before the day that is asked for, or in the week ahead", ge=0, le=1)
    line: int = param(48, "tokens", "what was said of a day is a line", ge=8)


def days(params: DaysParams, own: DaysSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """What was said of days to come, in their order: of those that the question names, and of the next ones where talk
    begins."""
    now = to_local(ask.now, params.zone)
    today = now.date()
    talk = [*islice(read.session(), own.own)]
    asked = {(day - today).days for day in asked_days(ask.asked, now)}
    before = [min(day, own.far) for day in asked]
    if span := asked_span(ask.asked, ask.cues, now):
        first, last = ((end.date() - today).days for end in span)
        asked.update(range(first, min(last + 1, first + own.longest)))
    until = max([_ahead(own, ask, len(talk), named=bool(asked)), *before])
    shown = sorted(asked.union(range(until + 1)))
    if not shown:
        return
    noted = {one.turn for one in read.kept(NoteOpened, read.members("notes", "waiting", WAITING).newest).values()}
    seen = noted.union(turn.id for turn in talk)
    found: list[Piece] = []
    for ahead in shown:
        day = today + timedelta(days=ahead)
        told = read.kept(DayNamed, read.members("days", day.isoformat(), 4 * own.each).newest)
        said = read.turns([one.turn for one in told.values()])
        placed = [(said[one.turn], one) for one in told.values() if one.turn in said]
        kept_ones = [two for two in _apart(placed) if two[1].turn not in seen][: own.each]
        worth = own.asked if ahead in asked else own.soon if ahead <= own.near else own.until
        reason = "the question names that day" if ahead in asked else f"a day that comes in {ahead} days"
        for turn, one in kept_ones:
            line = f"- {_called(ahead)}{day:%a} {one.day}: {clip(' '.join(one.text.split()), own.line)} [{one.turn}]"
            data = {"day": one.day, "said_in": one.turn, "at": iso(turn.at)}
            found.append(Piece(one.id, reason, worth, line, quotes=(one.turn,), data=data))
    best = sorted(range(len(found)), key=lambda place: (-found[place].worth, place))[: own.most]
    yield from (found[place] for place in sorted(best))


def _ahead(own: DaysSectionParams, ask: Ask, turns: int, named: bool) -> int:
    """How many days ahead are told of beside those that the question names, if it has `named` any; -1 for none."""
    if (ask.wide and "progress" in ask.cues) or ("coming" in ask.cues and not named):
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


def _called(ahead: int) -> str:
    return ("today, ", "tomorrow, ")[ahead] if ahead < 2 else f"in {ahead} days, "


SECTION = Section("days", 21, "Said of the days that come", DaysSectionParams, days)
