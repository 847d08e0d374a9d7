"""Escalations: notes with a time to live, which surface, escalate or fade.

A note is taken by an agent or inferred from what a user asks ("remind me to…"). It has a deadline and a base priority:

    effective priority = min(1, priority * escalation)
    escalation         = 1; 1.5 below 20 % of the time to live left; 2 below 5 %

It surfaces in a session, once a visit, when its effective priority exceeds 0.9 or when the talk comes to its matter:
when what it shares with the session's last 5 turns weighs enough,

    sum of weights of shared terms >= 1;  rare term or name: 1, ordinary word: .65, common word: .4, light word: 0

so that one rare term, or a few ordinary ones, bring it back, and "budget" alone does not (see core/text/commonness);
words that follow each other in both, and words that are most of the note, weigh more.
When its time has run out by the space's now (the greatest `at` seen), it escalates to the user as a question, or is
archived silently where its base priority is below .5; both are dated at the deadline, whatever event revealed it.
A note whose deadline lay before it was recorded is historic: found by words while its time lasts, and never raised.
A note taken again under the same id replaces the first. To settle what is settled, archived or unknown changes nothing.

Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from processors.ttl_escalations.events import NoteArchived, NoteClosed, NoteEscalated, NoteOpened, NoteSurfaced
from processors.ttl_escalations.notes import expire, infer, retract, settle, take
from processors.ttl_escalations.params import TtlEscalationsParams
from processors.ttl_escalations.record import FOREVER, Talk, Waiting, keep_talk, short, waiting_notes
from processors.ttl_escalations.section import NOTES, SURFACED
from processors.ttl_escalations.surfacing import surface
from streams.core.clock import to_local
from streams.core.events import NoteSettled, NoteTaken, Outside, SessionEnded, TurnRecorded, TurnRetracted
from streams.core.processor import Derived, Processor, Raw, State, on, otherwise
from streams.core.read_model import Documents, Group, Joins, Keep, read_model
from streams.core.text.reminders import reminders

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


def _turn(params: TtlEscalationsParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Brings notes back, and takes down what is asked for."""
    waiting = state.index(waiting_notes)
    asks = turn.role == "user" and "when" in raw.text.cues
    # Why: where no note waits and none is asked for, which is most of all talk, a turn costs nothing.
    if waiting.first == FOREVER and not asks:
        return _NOTHING
    out: list[Derived] = []
    if waiting.first <= raw.now:
        expire(params, state, waiting, turn.space, raw.now, params.expiries, out)
    if waiting.first < FOREVER and (turn.role == "user" or turn.role == "assistant"):
        surface(params, state, waiting, raw, out)
    if asks and (found := reminders(turn.content, to_local(turn.at, params.zone), params.sure, params.asks)):
        infer(params, state, waiting, raw, found, out)
    return out


def _time_passed(params: TtlEscalationsParams, state: State, fact: Outside, raw: Raw[Any]) -> list[Derived]:
    """Ends the notes whose time is out."""
    out: list[Derived] = []
    _expired(params, state, fact, raw, out)
    return out


def _expired(
    params: TtlEscalationsParams, state: State, fact: Outside, raw: Raw[Any], out: list[Derived]
) -> tuple[Waiting, int]:
    """The notes that wait once those whose time is out are ended, and how many writes that left."""
    waiting = state.index(waiting_notes)
    left = params.expiries
    if waiting.first <= raw.now:
        left = expire(params, state, waiting, fact.space, raw.now, left, out)
    return waiting, left


def _taken(params: TtlEscalationsParams, state: State, fact: NoteTaken, raw: Raw[NoteTaken]) -> list[Derived]:
    """A note begins to wait."""
    out: list[Derived] = []
    waiting, left = _expired(params, state, fact, raw, out)
    take(params, state, waiting, fact, raw.recorded_at, out)
    if waiting.first <= raw.now and left >= 2:  # it came late: its time was out before it was known
        expire(params, state, waiting, fact.space, raw.now, left, out)
    return out


def _settled(params: TtlEscalationsParams, state: State, fact: NoteSettled, raw: Raw[NoteSettled]) -> list[Derived]:
    """A note is done with."""
    out: list[Derived] = []
    waiting, _ = _expired(params, state, fact, raw, out)
    settle(state, waiting, fact, out)
    return out


def _retracted(
    params: TtlEscalationsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    """What a turn asked for is withdrawn with it."""
    out: list[Derived] = []
    waiting, _ = _expired(params, state, fact, raw, out)
    retract(state, waiting, fact, out)
    return out


def _ended(params: TtlEscalationsParams, state: State, fact: SessionEnded, raw: Raw[SessionEnded]) -> list[Derived]:
    """The next turn of the session is another visit, which may be shown what this one was."""
    out: list[Derived] = []
    waiting, _ = _expired(params, state, fact, raw, out)
    if waiting.first < FOREVER or fact.session in waiting.talks:
        keep_talk(state, waiting, fact.session, Talk(ended=raw.now))
        waiting.quiet.pop(short(fact.session), None)
    return out


PROCESSOR = Processor(
    name="ttl_escalations",
    version=4,
    params=TtlEscalationsParams,
    takes=(
        on(TurnRecorded, _turn),
        on(NoteTaken, _taken),
        on(NoteSettled, _settled),
        on(TurnRetracted, _retracted),
        on(SessionEnded, _ended),
        otherwise(_time_passed),
    ),
    emits=(NoteOpened, NoteSurfaced, NoteEscalated, NoteArchived, NoteClosed),
    read_model=read_model(
        __package__,
        keeps=(Keep(NoteOpened, ("note",)), Keep(NoteEscalated, ("note",)), Keep(NoteSurfaced, ("note",))),
        groups=(
            Group(
                "notes",
                "note",
                {
                    NoteOpened: Joins("waiting", only=("historic", False)),
                    NoteEscalated: Joins("asked"),
                    NoteArchived: Joins(),
                    NoteClosed: Joins(),
                },
            ),
            Group(
                "surfaced",
                "note",
                {NoteSurfaced: Joins(by="session"), NoteArchived: Joins(), NoteClosed: Joins()},
            ),
        ),
        sections=(NOTES, SURFACED),
        behind={
            "note": "(t.space, t.turn_id) IN (SELECT n.space, n.turn FROM notes n "
            "WHERE n.note = $id AND n.turn IS NOT NULL)"
        },
        documents=(Documents("note", NoteOpened, "note", ("content", "context"), ("turn",)),),
    ),
)
