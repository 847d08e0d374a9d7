"""How notes come to wait, and how they end: by time, settled, or withdrawn."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from processors.ttl_escalations.events import NoteArchived, NoteClosed, NoteEscalated, NoteOpened
from processors.ttl_escalations.params import TtlEscalationsParams
from processors.ttl_escalations.record import (
    DIGITS,
    FOREVER,
    QUEUES,
    Due,
    Note,
    Talk,
    Waiting,
    cut,
    first_deadline,
    keep_talk,
    queued,
    short,
    turn_on,
)
from streams.core.clock import to_micros
from streams.core.events import HOUR, MINUTE, SECOND, NoteSettled, NoteTaken, TurnRecorded, TurnRetracted
from streams.core.processor import Derived, Raw, State, derived_id, r6
from streams.core.text.commonness import LIGHT, ORDERS, rarity
from streams.core.text.reminders import MAX_REMINDERS, Reminder
from streams.core.text.telling import excerpt, sentences, within
from streams.core.text.terms import scan

LAST = 253_402_214_400_000_000
"""Deadlines end with the year 9999, as times do."""
EXCERPT, MAX_CONTENT, MAX_CONTEXT = 48, 2_000, 500
"""Kept of a note: tokens in state for the question, characters in the event; the raw log holds the rest."""
MAX_TERMS, MAX_PHRASES, MAX_NAMES = 16, 6, 4
"""Terms, phrases and names of a note, in state: records stay below 8 KB."""
POINTING = 3
"""Terms of a reminder up to which it may only point to what it is about."""
MAX_TERM, MAX_NAME = 24, 48
"""Longer terms and names are not indexed."""


def expire(
    params: TtlEscalationsParams, state: State, waiting: Waiting, space: str, now: int, writes: int, out: list[Derived]
) -> int:
    """Ends the notes whose time is out, in deadline order, with at most `writes` writes; returns what is left."""
    for queue in QUEUES:
        for key in state.keys(queue, writes):
            deadline, note = int(key[len(queue) : len(queue) + DIGITS]), key[len(queue) + DIGITS + 1 :]
            record = state.get(f"note/{note}", Note)
            if deadline > now or writes < 2 or record is None:
                break
            waiting.drop(note, record)
            state.delete(key)
            writes -= 1
            raised = record.priority >= params.escalate_from
            session, noted = record.session, record.excerpt
            if not raised:
                state.delete(f"note/{note}")
                writes -= 1
            if record.historic:
                continue
            if raised:
                question = f"The time for this note is out: “{noted}” Is it done, or should it stay open?"
                out.append(NoteEscalated(space, session, deadline, note, question))
            else:
                out.append(NoteArchived(space, session, deadline, note))
    waiting.first = first_deadline(state)
    return writes


def take(
    params: TtlEscalationsParams, state: State, waiting: Waiting, taken: NoteTaken, recorded_at: int, out: list[Derived]
) -> None:
    opened = NoteOpened(
        taken.space, taken.session, taken.at, taken.note, cut(taken.content, MAX_CONTENT),
        _deadline(params, taken.at, taken.ttl), r6(taken.priority), taken.source, cut(taken.context, MAX_CONTEXT),
        "", False,
    )  # fmt: skip
    _open(params, state, waiting, opened, recorded_at, out)


def infer(
    params: TtlEscalationsParams,
    state: State,
    waiting: Waiting,
    raw: Raw[TurnRecorded],
    found: list[Reminder],
    out: list[Derived],
) -> None:
    """Opens the notes that a user's words ask for."""
    turn = raw.event
    for ordinal, reminder in enumerate(found):
        priority = params.asked if reminder.asked >= params.asks else params.mentioned
        context = _meant(turn.content, reminder.content)
        opened = NoteOpened(
            turn.space, turn.session, turn.at, derived_id("note", turn.space, turn.id, ordinal),
            cut(reminder.content, MAX_CONTENT), _until(params, turn.at, reminder), r6(priority), "inferred",
            cut(context, MAX_CONTEXT), turn.id, False,
        )  # fmt: skip
        _open(params, state, waiting, opened, raw.recorded_at, out)
    # What was just said need not come back while it is among the last turns.
    talk = state.get(f"talk/{turn.session}", Talk) or Talk()
    if not talk.turns or talk.turns[-1] != short(turn.id):
        turn_on(talk, params.window, short(turn.id), [])
    keep_talk(state, waiting, turn.session, talk)


def _meant(content: str, pointing: str) -> str:
    """The sentence of a turn that tells what another one of it points to ("Remind me of that tomorrow").

    The nearest before it that tells something, else the first behind; "" where it tells enough itself, or none does.
    """
    if len(scan(pointing).terms) > POINTING:
        return ""
    before = ""
    behind = False
    for told in sentences(excerpt(content, MAX_CONTEXT)):
        if told.text in pointing or pointing in told.text:
            behind = True
            if before:
                break
        elif told.stems:
            before = told.text
            if behind:
                break
    return before


def _until(params: TtlEscalationsParams, at: int, reminder: Reminder) -> int:
    """When a reminder is due: at the moment it names, by the clock of the space's zone."""
    if reminder.moment is None:
        return _deadline(params, at, reminder.ttl)
    return min(max(to_micros(reminder.moment, params.zone), at + MINUTE), LAST)


def _deadline(params: TtlEscalationsParams, at: int, ttl: Literal["urgent", "normal", "low"] | int) -> int:
    seconds = ttl if isinstance(ttl, int) else round(getattr(params, ttl) * (HOUR // SECOND))
    return min(at + seconds * SECOND, LAST)


def _open(
    params: TtlEscalationsParams,
    state: State,
    waiting: Waiting,
    opened: NoteOpened,
    recorded_at: int,
    out: list[Derived],
) -> None:
    """A note begins to wait, in the place of one with the same id."""
    note = opened.note
    _remove(state, waiting, note)
    opened.historic = opened.deadline < recorded_at
    kept, phrases, named = _features(f"{opened.content}\n{opened.context}")
    ttl = opened.deadline - opened.at
    record = Note(
        opened.session, within(" ".join(opened.content[:MAX_CONTENT].split()), EXCERPT), opened.at, opened.deadline,
        opened.priority, opened.historic, opened.turn, _presses(params, opened, ttl), kept, phrases, named,
    )  # fmt: skip
    state.put(f"note/{note}", record)
    state.put(queued(note, record), Due(note))
    waiting.add(note, record)
    out.append(opened)


def _features(text: str) -> tuple[list[str], list[str], list[str]]:
    """What may bring a note back: its stems, the rarest first, the pairs of them that follow each other, its names."""
    features = scan(text)
    stems = features.terms
    named = [name for name in features.names if len(name) <= MAX_NAME and rarity(name) != LIGHT][:MAX_NAMES]
    own = stems[1:] if stems and stems[0] in ORDERS else stems
    # A name is looked for among plain words too: it may begin a sentence, or be written small.
    own = list(dict.fromkeys([*own, *(stem for name in named if name.isalpha() for stem in scan(name).terms)]))
    kept = sorted((stem for stem in own if len(stem) <= MAX_TERM and rarity(stem) != LIGHT), key=rarity, reverse=True)
    kept = kept[:MAX_TERMS]
    phrases = [f"{one} {two}" for one, two in pairwise(own) if one in kept and two in kept]
    return kept, phrases[:MAX_PHRASES], named


def _presses(params: TtlEscalationsParams, note: NoteOpened, ttl: int) -> int:
    """From when on the effective priority of a note exceeds the surfacing level; a historic note never presses."""
    if note.historic:
        return FOREVER
    for left, factor in ((1.0, 1.0), (params.late_left, params.late_factor), (params.last_left, params.last_factor)):
        if min(1.0, note.priority * factor) > params.surface_above:
            return note.deadline - int(left * ttl) + (left < 1)
    return FOREVER


def _remove(state: State, waiting: Waiting, note: str) -> Note | None:
    """Forgets a note, waiting or escalated."""
    record = state.get(f"note/{note}", Note)
    if record is None:
        return None
    key = queued(note, record)
    if state.get(key, Due):
        state.delete(key)
        waiting.drop(note, record)
        if waiting.first == record.deadline:
            waiting.first = first_deadline(state)
    state.delete(f"note/{note}")
    return record


def settle(state: State, waiting: Waiting, settled: NoteSettled, out: list[Derived]) -> None:
    """Closes a note, or the notes inferred from a turn."""
    where = (settled.space, settled.session, settled.at)
    if settled.note:
        _close(state, waiting, settled.note, where, settled.resolution, out)
    if settled.turn:
        _close_inferred(state, waiting, settled.turn, where, settled.resolution, out)


Where = tuple[str, str, int]
"""Space, session and time of the event that closes a note."""


def _close(state: State, waiting: Waiting, note: str, where: Where, resolution: str, out: list[Derived]) -> None:
    record = _remove(state, waiting, note)
    if record is not None:
        space, session, at = where
        out.append(NoteClosed(space, session or record.session, at, note, cut(resolution, MAX_CONTENT)))


def _close_inferred(
    state: State, waiting: Waiting, turn: str, where: Where, resolution: str, out: list[Derived]
) -> None:
    for ordinal in range(MAX_REMINDERS):
        note = derived_id("note", where[0], turn, ordinal)
        record = state.get(f"note/{note}", Note)
        if record is not None and record.turn == turn:
            _close(state, waiting, note, where, resolution, out)


def retract(state: State, waiting: Waiting, retracted: TurnRetracted, out: list[Derived]) -> None:
    """What a retracted turn asked for is withdrawn, and its words are matched no longer."""
    where = (retracted.space, retracted.session, retracted.at)
    _close_inferred(state, waiting, retracted.turn, where, "retracted", out)
    talk = state.get(f"talk/{retracted.session}", Talk)
    if talk is not None and (name := short(retracted.turn)) in talk.turns:
        talk.hits[talk.turns.index(name)] = []
        keep_talk(state, waiting, retracted.session, talk)
