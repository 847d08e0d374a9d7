"""Standing: what a user said to hold from now on, given to whoever answers, whatever is asked.

A rule ("never push to main", "refunds over 200 EUR need approval"), a preference ("I prefer trains to planes") or a
condition ("Leo is allergic to nuts") shares no word with most of what it concerns: a cake for Sunday, the next parser.
So it is no matter of recall: a few of them, the newest of each sort, stand in every context of the space, but where
the session itself said them just now. Which sentences are such is told by their grammar (see core/text/standing). Where
a later statement takes the place of one (see contradictions), it is marked as all else that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from streams.core.events import TurnRecorded, iso
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on
from streams.core.read_model import Group, Joins, Keep, ReadModel
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.standing import Sort, standing
from streams.core.text.within import clip, first_bytes


@dataclass(slots=True)
class StandingTold(Derived):
    """A user said something that holds from now on."""

    id: str
    turn: str
    sort: Sort
    text: str
    """The turn where it is short, for its sentences explain each other; else the sentence."""
    type: Literal["standing-told.v1"] = "standing-told.v1"


class StandingParams(Params):
    """Nothing is chosen here: the words are data."""


class StandingSectionParams(Params):
    """How much of what holds is shown."""

    conditions: int = param(3, "lines", "the newest: what forbids somebody things", ge=0)
    rules: int = param(3, "lines", "the newest: how things are to be done", ge=0)
    preferences: int = param(1, "lines", "the newest: how somebody wants it", ge=0)
    own: int = param(12, "turns", "the session's last are before the model's eyes", ge=1)
    line: int = param(32, "tokens", "of each: a sentence", ge=8)
    worth: float = param(0.45, "worth", "it concerns any answer, and most answers little", ge=0, le=1)


MAX_TEXT = 160
"""Bytes kept of what was said."""
_NONE: tuple[Derived, ...] = ()


def _turn(params: StandingParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    if turn.role != "user":
        return _NONE
    whole = " ".join(turn.content.split())
    found: list[Derived] = []
    for told in standing(turn.content):
        if found and len(whole.encode()) <= MAX_TEXT:
            break  # the turn tells them all
        text = whole if len(whole.encode()) <= MAX_TEXT else first_bytes(" ".join(told.text.split()), MAX_TEXT)
        id = derived_id("standing", turn.space, turn.id, len(found))
        found.append(StandingTold(turn.space, turn.session, turn.at, id, turn.id, told.sort, text))
    return found or _NONE


def holds(params: StandingParams, own: StandingSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The newest of each sort, without what the session just said."""
    talk = {turn.id for turn in islice(read.session(), own.own)}
    for sort, most in (("condition", own.conditions), ("rule", own.rules), ("preference", own.preferences)):
        told = read.kept(StandingTold, read.members("standing", sort, 4 * most).newest)
        shown = read.turns([one.turn for one in told.values()])
        for one in [one for one in told.values() if one.turn in shown and one.turn not in talk][:most]:
            line = f"- {iso(one.at)[:10]} {sort}: {clip(one.text, own.line)} [{one.turn}]"
            data = {"sort": sort, "said_in": one.turn}
            yield Piece(one.id, f"a {sort} that was told", own.worth, line, quotes=(one.turn,), data=data)


DIFFERENCES = """-- count: standing
SELECT count(*) AS "standing" FROM standing
"""
SECTION = Section("standing", 13, "Said to hold from then on", StandingSectionParams, holds)
PROCESSOR = Processor(
    name="standing",
    version=1,
    params=StandingParams,
    takes=(on(TurnRecorded, _turn),),
    emits=(StandingTold,),
    read_model=ReadModel(
        keeps=(Keep(StandingTold, ("id",), "standing"),),
        groups=(Group("standing", "id", {StandingTold: Joins(by="sort")}),),
        differences=DIFFERENCES,
        sections=(SECTION,),
    ),
)
