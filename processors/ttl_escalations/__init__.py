"""Escalations: notes with a time to live, which surface, escalate or fade.

A note is taken by an agent or inferred from what a user asks ("remind me to…"). It has a deadline and a base priority:

    effective priority = min(1, priority * escalation)
    escalation         = 1; 1.5 below 20 % of the time to live left; 2 below 5 %

It surfaces in a session, once a visit, when its effective priority exceeds 0.9 or when the talk comes to its matter:
when what it shares with the session's last 5 turns weighs enough,

    sum of weights of shared terms >= 1;  rare term or name: 1, ordinary word: .65, common word: .4, light word: 0

so that one rare term, or a few ordinary ones, bring it back, and "budget" alone does not (see streams/text/commonness);
words that follow each other in both, and words that are most of the note, weigh more.
When its time has run out by the space's now (the greatest `at` seen), it escalates to the user as a question, or is
archived silently where its base priority is below .5; both are dated at the deadline, whatever event revealed it.
A note whose deadline lay before it was recorded is historic: found by words while its time lasts, and never raised.
A note taken again under the same id replaces the first. To settle what is settled, archived or unknown changes nothing.

Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from processors.ttl_escalations.events import NoteArchived, NoteClosed, NoteEscalated, NoteOpened, NoteSurfaced
from processors.ttl_escalations.notes import expire, infer, retract, settle, take
from processors.ttl_escalations.params import TtlEscalationsParams
from processors.ttl_escalations.record import FOREVER, Talk, Waiting, keep_talk, short, tell_time, waiting_notes
from processors.ttl_escalations.surfacing import surface
from streams.events import (
    ClockTicked,
    ConsolidationRequested,
    ContradictionJudged,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRetracted,
)
from streams.processor import ROOT, Derived, Processor, State
from streams.text import FactRead, Root, TurnRead
from streams.text.reminders import reminders

__all__ = [
    "PROCESSOR",
    "NoteArchived",
    "NoteClosed",
    "NoteEscalated",
    "NoteOpened",
    "NoteSurfaced",
    "TtlEscalationsParams",
]

_NOTHING: tuple[Derived, ...] = ()


def step(params: TtlEscalationsParams, state: State, event: Root) -> Sequence[Derived]:
    """Opens, surfaces, escalates and closes notes."""
    waiting = state.index(waiting_notes)
    if not isinstance(event, TurnRead):
        return _fact(params, state, waiting, event)
    turn = event.turn
    now, role = tell_time(state, waiting.clock, turn.at), turn.role
    asks = role == "user" and "reminder" in event.text.cues
    # Why: where no note waits and none is asked for, which is most of all talk, a turn costs its clock.
    if waiting.first == FOREVER and not asks:
        return _NOTHING
    out: list[Derived] = []
    if waiting.first <= now:
        expire(params, state, waiting, turn.space, now, params.expiries, out)
    if waiting.first < FOREVER and (role == "user" or role == "assistant"):
        surface(params, state, waiting, now, event, out)
    if asks and (found := reminders(turn.content)):
        infer(params, state, waiting, event, found, out)
    return out


def _fact(params: TtlEscalationsParams, state: State, waiting: Waiting, read: FactRead) -> list[Derived]:
    fact = read.fact
    now = tell_time(state, waiting.clock, fact.at)
    out: list[Derived] = []
    left = params.expiries
    if waiting.first <= now:
        left = expire(params, state, waiting, fact.space, now, left, out)
    match fact:
        case NoteTaken():
            take(params, state, waiting, fact, read.recorded_at, out)
            if waiting.first <= now and left >= 2:  # it came late: its time was out before it was known
                expire(params, state, waiting, fact.space, now, left, out)
        case NoteSettled():
            settle(state, waiting, fact, out)
        case TurnRetracted():
            retract(state, waiting, fact, out)
        case SessionEnded():
            if waiting.first < FOREVER or fact.session in waiting.talks:
                keep_talk(state, waiting, fact.session, Talk(ended=now))
                waiting.quiet.pop(short(fact.session), None)
        case (
            ClockTicked() | EffortDeclared() | EffortClosed() | EffortReopened() | OfferDeclined() | ImportanceFlagged()
            | SummaryWritten() | MemoryRecalled() | MemoryRewarded() | MemoryPinned() | ConsolidationRequested()
            | ContradictionJudged()
        ):  # fmt: skip
            pass
    return out


PROCESSOR = Processor(
    name="ttl_escalations",
    version=1,
    reads=ROOT,
    params=TtlEscalationsParams,
    emits=(NoteOpened, NoteSurfaced, NoteEscalated, NoteArchived, NoteClosed),
    step=step,
)
