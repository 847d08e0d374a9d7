"""What of what stands is put into a context."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from processors.standing.events import StandingTold
from streams.core.events import iso
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.terms import terms
from streams.core.text.within import clip, cost

SPARE = 8
"""Lines looked at beyond those that are shown: of some the turn is not shown any more."""


class StandingSectionParams(Params):
    """How much of what stands is shown."""

    most: int = param(
        32,
        "lines",
        "rules, what the question names, then the newest: months of work bring so many",
        "tests/lives",
        ge=0,
    )
    looked: int = param(200, "lines", "of what was said, the newest: what is looked at", ge=1)
    own: int = param(12, "turns", "the session's last are before the model's eyes", ge=1)
    line: int = param(60, "tokens", "of each: all that is kept of a turn", ge=8)
    worth: float = param(0.55, "worth", "it concerns any answer, and most answers little", ge=0, le=1)
    kept: float = param(0.06, "share", "of the budget, for the first of these: it holds before any answer", ge=0, le=1)
    sure: float = param(0.7, "worth", "of those that this has room for: what answers best comes first", ge=0, le=1)
    fade: float = param(0.97, "factor per line", "older ones a little less", gt=0, le=1)


def holds(params: Any, own: StandingSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """What stands: rules, what shares words with the question, then the newest."""
    ids = [*read.members("standing", "taken", own.most).newest, *read.members("standing", "said", own.looked).newest]
    told = read.kept(StandingTold, ids)
    if not told or not own.most:
        return
    talk = {turn.id for turn in islice(read.session(), own.own)}
    stands = [one for one in told.values() if one.turn not in talk]
    asked = {*ask.terms}
    shares = {one.id for one in stands if not asked.isdisjoint(_stems(one.text))}
    order = sorted(stands, key=lambda one: (not one.note, one.id not in shares))[: own.most + SPARE]  # each by age
    shown = read.turns([one.turn for one in order if one.turn])
    best = [one for one in order if not one.turn or one.turn in shown][: own.most]
    room = own.kept * ask.budget
    for place, one in enumerate(best):
        source = one.turn or one.note
        line, takes = _line(one.said_at, one.text, source, own.line)
        reason = "it holds, and the question names it" if one.id in shares else "it was said to hold from then on"
        data = {"said_in": one.turn, "note": one.note, "likelihood": one.likelihood}
        says, quotes = (shown[one.turn].position, (one.turn,)) if one.turn else (-1, ())
        room -= takes
        worth = (own.sure if room >= 0 else own.worth) * own.fade**place
        yield Piece(one.id, reason, worth, line, says=says, quotes=quotes, data=data)


@lru_cache(1024)
def _stems(text: str) -> frozenset[str]:
    """Of a line: the same few stand in context after context."""
    return frozenset(terms(text)[0])


@lru_cache(1024)
def _line(said_at: int, text: str, source: str, limit: int) -> tuple[str, int]:
    """How one is written, its text within `limit` tokens, and what that takes of the budget; the same, too."""
    line = f"- {iso(said_at)[:10]}: {clip(text, limit)} [{source}]"
    return line, cost(line)


SECTION = Section("standing", 18, "Said to hold from then on", StandingSectionParams, holds)
