"""Escalations: notes with a time to live, which surface, escalate or fade.

A note is taken by an agent or inferred from what a user says ("remind me to…", "it is due on Friday"): at once where
that is sure; else what it may be waits for an agent's reply, and is a note if that takes it up ("Friday, then."; see
core/text/reminders). It has a deadline and a base priority:

    effective priority = min(1, priority * escalation)
    escalation         = 1; 1.5 below 20 % of the time to live left; 2 below 5 %

It surfaces in a session, once a visit and again when the talk left its effort and comes back to it, when its effective
priority exceeds 0.9 or when the talk comes to its matter: by learned weights (surfacing.json) of what the turn and the
note share: words, by how rare they are (see core/text/commonness), names, words side by side; how much of both that is,
and whether another note shares more; how likely the turn belongs to its effort, also where it was put to another; what
the turn's words do; and how far off its time is. What was said right before a note was asked for or taken belongs to
it, too.
When its time has run out by the space's now (the greatest `at` seen), it escalates to the user as a question, or is
archived silently where its base priority is below .5; both are dated at the deadline, whatever event revealed it.
One that escalated still comes back by its matter, till it is settled, for 30 days at most.
A note whose deadline lay before it was recorded is historic: found by words while its time lasts, and never raised.
A note of what was only stated ("The report is due on Friday") is settled where a later statement takes its place, and
one of that statement waits instead, where it names a time; it waits again where that one does not stand.
A turn of a user that tells that a note is done, or needed no more, settles it where that is sure, and it is asked about
where that is likely (see settling); it waits again where the turn is taken back, or declined to have meant that.
A turn that puts a note to another time ("make it 4 instead", "push the dentist to Thursday") moves it where that is
sure, and it is asked whether it should where that is likely; it is due as before where the turn is taken back, or
declined to have meant that. What it leaves out stays as it was: an hour alone keeps the day, a day alone the hour.
What is asked for again and again ("every Monday at 9") is asked about each time that it is due, `unanswered` times in a
row at most. Who says that it is done is asked again the next time; it ends where it is called off, or settled by a fact
before its time.
A note taken again under the same id replaces the first. To settle what is settled, archived or unknown changes nothing.

A note of the effort that is talked of needs less (`at_work`): where it is shown in vain it is still about what is at
hand.

Measured on voices whose author was left out of learning, with the notes that their turns make: of the turns that come
to a note's matter, most of them in other words, .54 show it (.52 where a note of the effort at hand needs as much as
any other); of those shown where the author marked whether the talk came to it .91 are right (.93). Where it is not
shown, a fifth was shown in the same visit before, a quarter is told in other words in a turn that was put to other
work. On simulated days of an office, of seeds that nothing was learned from, .85 of those shown belong to
the task at hand or to who is there (tests/bench/quality_columns.py).

Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.open_efforts import TurnRethreaded, TurnThreaded
from processors.ttl_escalations.events import (
    NoteArchived,
    NoteClosed,
    NoteDoubted,
    NoteEscalated,
    NoteMoved,
    NoteOpened,
    NoteReopened,
    NoteSurfaced,
)
from processors.ttl_escalations.notes import (
    Asked,
    end,
    expire,
    infer,
    reopen,
    restore,
    rethread,
    retract,
    settle,
    settle_by_talk,
    supersede,
    take,
)
from processors.ttl_escalations.params import TtlEscalationsParams
from processors.ttl_escalations.record import FOREVER, Last, Waiting, short, waiting_notes
from processors.ttl_escalations.section import NOTES, SURFACED
from processors.ttl_escalations.surfacing import MAYBE, surface
from streams.core.clock import to_local
from streams.core.events import (
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    Outside,
    SessionEnded,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.processor import RAW, Derived, Processor, Raw, State, on, otherwise
from streams.core.read_model import Documents, Group, Joins, Keep, read_model
from streams.core.text.named import rule_of
from streams.core.text.reminders import Doubt, reminders, replied
from streams.core.text.telling import excerpt

__all__ = [
    "PROCESSOR",
    "NoteArchived",
    "NoteClosed",
    "NoteDoubted",
    "NoteEscalated",
    "NoteMoved",
    "NoteOpened",
    "NoteReopened",
    "NoteSurfaced",
    "TtlEscalationsParams",
]

SHOWN = """content || CASE WHEN historic AND every = '' THEN
    ' (was due on ' || strftime(deadline - INTERVAL 1 SECOND, '%Y-%m-%d') || ', before it was recorded)' ELSE '' END"""
"""A note as recall shows it, in SQL over its event's table: nobody was told in time of one that was fed too late."""
ANY = -1_000
"""A score that whatever names a time has."""
KEPT = 300
"""Characters kept of what was said last."""
_NONE: list[list[Any]] = []
_SILENCE = Last("")
_NOTHING: tuple[Derived, ...] = ()


def _turn(params: TtlEscalationsParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Brings notes back, and takes down what is asked for."""
    waiting = state.index(waiting_notes)
    out: list[Derived] = []
    if waiting.first <= raw.now:
        expire(params, state, waiting, turn.space, raw.now, params.expiries, out)
    if turn.role != "user" and turn.role != "assistant":
        return out
    key = f"last/{turn.session}"
    last = state.get(key, Last) or _SILENCE
    moved = ""
    if waiting.first < FOREVER:
        surface(params, state, waiting, raw, last, out)
        if turn.role == "user":
            moved = settle_by_talk(params, state, waiting, raw, last, out)
    content, doubts, noted = turn.content, _NONE, moved or last.noted
    text = content if len(content) <= KEPT else excerpt(content, KEPT)
    if turn.role == "assistant":
        if last.doubts:
            local = to_local(turn.at, params.zone)
            taken = replied([Doubt(*one) for one in last.doubts], content, local, params.taken_up)
            if taken is not None:
                asked = Asked(last.turn, last.text, f"{last.before}\n{text}", last.entered, last.turns, turn)
                noted = infer(params, state, waiting, asked, [taken], raw.recorded_at, out)
    elif "when" in raw.text.cues and not moved:
        found, maybe = reminders(content, to_local(turn.at, params.zone), params.sure, params.asks)
        if found:
            asked = Asked(turn.id, content, last.text, last.effort, last.turns, turn)
            noted = infer(params, state, waiting, asked, found, raw.recorded_at, out)
        doubts = [[*one] for one in maybe]
    before = last.text if doubts else ""
    said = Last(last.effort, 1.0, {}, turn.id, last.effort, before, text, doubts, last.turns + 1, last.ended, noted)
    state.put(key, said)
    return out


def _threaded(params: TtlEscalationsParams, state: State, event: TurnThreaded, raw: Raw[Any]) -> Sequence[Derived]:
    """Which effort the turn belongs to that is read next."""
    if raw.event.role != "user" and raw.event.role != "assistant":
        return _NOTHING
    last = state.get(f"last/{event.session}", Last)
    if last is None:
        last = Last(event.effort)
        state.put(f"last/{event.session}", last)
    last.effort, last.share = event.effort, event.score  # saved with the turn itself
    if event.similar and (noted := state.index(waiting_notes).efforts):
        last.maybe = {
            effort: share
            for effort, share in zip(event.similar, event.similarities, strict=True)
            if share >= MAYBE and effort in noted and effort != event.effort
        }
    return _NOTHING


def _rethreaded(params: TtlEscalationsParams, state: State, event: TurnRethreaded, raw: Raw[Any]) -> Sequence[Derived]:
    """A recent turn belongs to another effort than first thought."""
    waiting = state.index(waiting_notes)
    if waiting.first < FOREVER:
        rethread(state, waiting, event)
    return _NOTHING


def _contradicted(
    params: TtlEscalationsParams, state: State, belief: BeliefContradicted, raw: Raw[Any]
) -> Sequence[Derived]:
    """A later statement takes the place of one that a note was made of."""
    out: list[Derived] = []
    waiting = state.index(waiting_notes)
    newer = raw.event if isinstance(raw.event, TurnRecorded) and raw.event.id == belief.turn else None
    settled = supersede(params, state, waiting, belief, out)
    if settled and newer is not None and newer.role == "user":
        local = to_local(newer.at, params.zone)
        if reminders(newer.content, local, params.sure, params.asks)[0]:
            return out  # it is taken down as it is read
        found, _ = reminders(newer.content, local, ANY, params.asks)
        last = state.get(f"last/{newer.session}", Last) or _SILENCE
        asked = Asked(newer.id, newer.content, last.text, last.effort, last.turns, newer)
        infer(params, state, waiting, asked, [one for one in found if one.moment], raw.recorded_at, out, settled)
    return out


def _restored(params: TtlEscalationsParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """What took the place of a statement does not stand."""
    out: list[Derived] = []
    if belief.current:
        restore(state, state.index(waiting_notes), belief, out)
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
    """A note begins to wait; one that is a rule stands, and is never asked about (see standing)."""
    out: list[Derived] = []
    waiting, left = _expired(params, state, fact, raw, out)
    if rule_of(fact.content, fact.context):
        end(state, waiting, fact, out)
        return out
    take(params, state, waiting, fact, raw.recorded_at, out)
    if waiting.first <= raw.now and left >= 2:  # it came late: its time was out before it was known
        expire(params, state, waiting, fact.space, raw.now, left, out)
    return out


def _settled(params: TtlEscalationsParams, state: State, fact: NoteSettled, raw: Raw[NoteSettled]) -> list[Derived]:
    """A note is done with."""
    out: list[Derived] = []
    waiting, _ = _expired(params, state, fact, raw, out)
    settle(params, state, waiting, fact, out)
    return out


def _retracted(
    params: TtlEscalationsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    """What a turn asked for is withdrawn with it, though it fell due since the last event: it is not asked about in the
    moment that takes it back."""
    out: list[Derived] = []
    waiting = state.index(waiting_notes)
    reopen(state, waiting, fact, out)
    retract(state, waiting, fact, out)
    _expired(params, state, fact, raw, out)
    return out


def _declined(
    params: TtlEscalationsParams, state: State, fact: OfferDeclined, raw: Raw[OfferDeclined]
) -> list[Derived]:
    """Somebody says that a turn ended nothing: what it settled waits again."""
    out: list[Derived] = []
    waiting, _ = _expired(params, state, fact, raw, out)
    reopen(state, waiting, fact, out)
    return out


def _ended(params: TtlEscalationsParams, state: State, fact: SessionEnded, raw: Raw[SessionEnded]) -> list[Derived]:
    """The next turn of the session is another visit, which may be shown what this one was."""
    out: list[Derived] = []
    waiting, _ = _expired(params, state, fact, raw, out)
    key = f"last/{fact.session}"
    if state.get(key, Last) is not None:
        state.put(key, Last("", ended=raw.now))
        waiting.quiet.pop(short(fact.session), None)
    return out


PROCESSOR = Processor(
    name="ttl_escalations",
    version=19,
    params=TtlEscalationsParams,
    reads=(RAW, "open_efforts", "contradictions"),
    takes=(
        on(TurnThreaded, _threaded),
        on(TurnRethreaded, _rethreaded),
        on(BeliefContradicted, _contradicted),
        on(BeliefRestored, _restored),
        on(TurnRecorded, _turn),
        on(NoteTaken, _taken),
        on(NoteSettled, _settled),
        on(TurnRetracted, _retracted),
        on(OfferDeclined, _declined),
        on(SessionEnded, _ended),
        otherwise(_time_passed),
    ),
    emits=(NoteOpened, NoteMoved, NoteReopened, NoteSurfaced, NoteEscalated, NoteArchived, NoteClosed, NoteDoubted),
    read_model=read_model(
        __package__,
        keeps=(
            Keep(NoteOpened, ("note",)),
            Keep(NoteMoved, ("note",)),
            Keep(NoteEscalated, ("note",)),
            Keep(NoteSurfaced, ("note",)),
            Keep(NoteDoubted, ("note",)),
        ),
        groups=(
            Group(
                "notes",
                "note",
                {
                    NoteOpened: Joins("waiting", only=("historic", False)),
                    NoteMoved: Joins("waiting", only=("historic", False)),
                    NoteReopened: Joins(by="status"),
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
            Group(
                "doubted",
                "note",
                {NoteDoubted: Joins(by="session"), NoteArchived: Joins(), NoteClosed: Joins()},
            ),
        ),
        sections=(NOTES, SURFACED),
        behind={
            "note": "(t.space, t.turn_id) IN (SELECT n.space, unnest([n.turn, n.moved_by]) FROM notes n "
            "WHERE n.note = $id)"
        },
        documents=(
            Documents(
                "note",
                NoteOpened,
                "note",
                ("content", "context"),
                ("turn",),
                shown=SHOWN,
                open=("notes", "waiting", "asked"),
            ),
        ),
    ),
)
