"""How notes come to wait, and how they end: by time, settled, or withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.open_efforts import TurnRethreaded
from processors.ttl_escalations.events import (
    NoteArchived,
    NoteClosed,
    NoteDoubted,
    NoteEscalated,
    NoteMoved,
    NoteOpened,
    NoteReopened,
)
from processors.ttl_escalations.params import TtlEscalationsParams
from processors.ttl_escalations.record import (
    ASKED,
    DIGITS,
    FOREVER,
    QUEUES,
    Due,
    Last,
    Note,
    Settled,
    Waiting,
    cut,
    first_deadline,
    queued,
    short,
)
from processors.ttl_escalations.settling import to_do, weighed, why
from streams.core.clock import to_local, to_micros
from streams.core.events import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.processor import Derived, Raw, State, derived_id, r6
from streams.core.text.commonness import LIGHT, ORDERS, rarity
from streams.core.text.learned import likelihood
from streams.core.text.recurring import following, in_words
from streams.core.text.reminders import MAX_REMINDERS, Reminder
from streams.core.text.retiming import due, retimed
from streams.core.text.telling import excerpt, sentences, within
from streams.core.text.terms import scan

LAST = 253_402_214_400_000_000
"""Deadlines end with the year 9999, as times do."""
EXCERPT, MAX_CONTENT, MAX_CONTEXT = 48, 2_000, 500
"""Kept of a note: tokens in state for the question, characters in the event; the raw log holds the rest."""
MAX_TERMS, MAX_PHRASES, MAX_NAMES, MAX_LIGHT = 16, 6, 4, 8
"""Terms, phrases and names of a note, in state: records stay below 8 KB."""
POINTING = 3
"""Terms of a reminder up to which it may only point to what it is about."""
MOST_WRITES = 3
"""Writes that the end of one note takes."""
MAX_TERM, MAX_NAME = 24, 48
"""Longer terms and names are not indexed."""


def expire(
    params: TtlEscalationsParams, state: State, waiting: Waiting, space: str, now: int, writes: int, out: list[Derived]
) -> int:
    """Ends the notes whose time is out, in deadline order, with at most `writes` writes; returns what is left."""
    again = False
    for queue in QUEUES:
        for key in state.keys(queue, writes):
            until, note = int(key[len(queue) : len(queue) + DIGITS]), key[len(queue) + DIGITS + 1 :]
            record = state.get(f"note/{note}", Note)
            if until > now or writes < MOST_WRITES or record is None:
                break
            waiting.drop(note, record)
            state.delete(key)
            writes -= 1
            if record.every:
                _comes(params, state, waiting, space, note, record, out)
                again = True  # it may be due the next time, too, by now
                writes -= 2
                continue
            if queue == ASKED:
                continue
            if record.priority < params.escalate_from:
                state.delete(f"note/{note}")
                writes -= 1
                if not record.historic:
                    out.append(NoteArchived(space, record.session, until, note))
            elif not record.historic:
                question = f"The time for this note is out: “{record.excerpt}” Is it done, or should it stay open?"
                out.append(NoteEscalated(space, record.session, until, note, question))
                record.presses, record.until, record.shown = FOREVER, until + int(params.raised * DAY), {}
                if record.until > now:
                    _wait(state, waiting, note, record)
                    writes -= 2
    waiting.first = first_deadline(state)
    if again and waiting.first <= now and writes >= MOST_WRITES:
        return expire(params, state, waiting, space, now, writes, out)
    return writes


def _comes(
    params: TtlEscalationsParams, state: State, waiting: Waiting, space: str, note: str, record: Note,
    out: list[Derived],
) -> None:  # fmt: skip
    """What comes again and again is due: it is asked about till it is due the next time, or settled for this one.

    What nobody answered so often waits to be settled like any other note, and comes no more. What was due before it was
    recorded is due next after that.
    """
    at = record.until
    if record.historic:
        then = _following(params, record, max(at, record.recorded - MINUTE))
        _put_off(params, state, waiting, space, note, record, then, Cause(at, "again"), out)
        return
    if at != record.deadline:
        out.append(NoteMoved(space, record.session, at, note, at, "again", "", False, []))
    record.deadline, record.shown, record.presses = at, {}, FOREVER
    record.unanswered, record.moved = record.unanswered + 1, ""  # what was told of the last time stays told
    record.until = _following(params, record, at)
    again = record.every
    if record.unanswered >= params.unanswered:
        record.every, record.until = "", at + int(params.raised * DAY)
    if record.priority < params.escalate_from:
        if not record.every:
            state.delete(f"note/{note}")
            out.append(NoteArchived(space, record.session, at, note))
            return
    else:
        question = f"It is time for this, {in_words(again)}: “{record.excerpt}” Is it done?"
        out.append(NoteEscalated(space, record.session, at, note, question))
    _wait(state, waiting, note, record)


def _following(params: TtlEscalationsParams, record: Note, after: int) -> int:
    """When a note that comes again and again is due next after some time."""
    first, then = to_local(record.first, params.zone), to_local(after, params.zone)
    return _not_before(params, following(record.every, first, then), after)


def _not_before(params: TtlEscalationsParams, moment: datetime, after: int) -> int:
    """A local moment as a deadline: a minute after some time at least, and before times end."""
    return min(max(to_micros(moment, params.zone), after + MINUTE), LAST)


class Cause(NamedTuple):
    """Why a note waits for another time: see NoteMoved."""

    at: int
    reason: Literal["moved", "done", "again"]
    turn: str = ""
    why: Sequence[str] = ()


def _put_off(
    params: TtlEscalationsParams, state: State, waiting: Waiting, space: str, note: str, record: Note, deadline: int,
    cause: Cause, out: list[Derived],
) -> None:  # fmt: skip
    """A note that stands in no queue waits for another time."""
    at, reason, turn, why = cause
    record.historic = deadline < record.recorded
    record.opened, record.deadline, record.until, record.shown = at, deadline, deadline, {}
    record.unanswered = 0
    record.moved = turn
    record.presses = _presses(params, record, deadline - at)
    _wait(state, waiting, note, record)
    out.append(NoteMoved(space, record.session, at, note, deadline, reason, turn, record.historic, [*why]))


def take(
    params: TtlEscalationsParams, state: State, waiting: Waiting, taken: NoteTaken, recorded_at: int, out: list[Derived]
) -> None:
    opened = NoteOpened(
        taken.space, taken.session, taken.at, taken.note, cut(taken.content, MAX_CONTENT),
        _deadline(params, taken.at, taken.ttl), r6(taken.priority), taken.source, cut(taken.context, MAX_CONTEXT),
        "", False, "",
    )  # fmt: skip
    last = state.get(f"last/{taken.session}", Last)
    effort, around = (last.effort, last.text) if last else ("", "")
    if last is not None:
        last.noted = taken.note
        state.put(f"last/{taken.session}", last)
    _open(params, state, waiting, opened, recorded_at, out, effort, around)


class Asked(NamedTuple):
    """What asks for a note."""

    turn: str
    content: str
    """What the user said."""
    around: str
    """What was said before it, and in reply."""
    effort: str
    """The effort that it belongs to."""
    place: int
    """How many turns its session had before."""
    said: TurnRecorded
    """The turn that decided: the user's, or the reply to it."""


def infer(
    params: TtlEscalationsParams,
    state: State,
    waiting: Waiting,
    asked: Asked,
    found: list[Reminder],
    recorded_at: int,
    out: list[Derived],
    instead: Sequence[str] = (),
) -> str:
    """Opens the notes that a user's words ask for, and returns the id of the last; `instead`: the notes whose place
    they take, which tell what a correction is about ("sorry, on Monday")."""
    turn = asked.said
    around = f"{asked.around}\n{excerpt(asked.content, MAX_CONTENT)}"
    last = ""
    for ordinal, reminder in enumerate(found):
        priority = params.asked if reminder.asked >= params.asks else params.mentioned
        context = _meant(asked.content, reminder.content) or " ".join(f"before: “{one}”" for one in instead)
        opened = NoteOpened(
            turn.space, turn.session, turn.at, derived_id("note", turn.space, asked.turn, ordinal),
            cut(reminder.content, MAX_CONTENT), _until(params, turn.at, reminder), r6(priority), "inferred",
            cut(context, MAX_CONTEXT), asked.turn, False, reminder.every,
        )  # fmt: skip
        _open(params, state, waiting, opened, recorded_at, out, asked.effort, around, asked.place)
        last = opened.note
    return last


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


def in_full(content: str, context: str, source: str) -> str:
    """What a note tells; one that was inferred with what it points to, which says what it is about."""
    return f"{content} ({context})" if context and source == "inferred" else content


def in_figures(deadline: int, zone: str) -> str:
    """When a note is due, by the clocks of a zone: a day, or a day and an hour."""
    at = due(to_local(deadline, zone))
    return f"{at.moment:%Y-%m-%d %H:%M}" if at.exact else f"{at.day:%Y-%m-%d}"


def _until(params: TtlEscalationsParams, at: int, reminder: Reminder) -> int:
    """When a reminder is due: at the moment it names, by the clock of the space's zone."""
    if reminder.moment is None:
        return _deadline(params, at, reminder.ttl)
    return _not_before(params, reminder.moment, at)


def _deadline(params: TtlEscalationsParams, at: int, ttl: Literal["urgent", "normal", "low"] | int) -> int:
    seconds = ttl if isinstance(ttl, int) else round(getattr(params, ttl) * (HOUR // SECOND))
    return min(at + seconds * SECOND, LAST)


def _excerpt(opened: NoteOpened) -> str:
    """What is told of a note in a question."""
    told = in_full(opened.content[:MAX_CONTENT], opened.context, opened.source)
    return within(" ".join(told.split()), EXCERPT)


def _open(
    params: TtlEscalationsParams,
    state: State,
    waiting: Waiting,
    opened: NoteOpened,
    recorded_at: int,
    out: list[Derived],
    effort: str,
    around: str = "",
    place: int = -FOREVER,
) -> None:
    """A note begins to wait, in the place of one with the same id."""
    note = opened.note
    _remove(state, waiting, note)
    _stays_so(state, note)
    opened.historic = opened.deadline < recorded_at
    kept, phrases, named = _features(f"{opened.content}\n{opened.context}")
    near = [stem for stem in scan(around).terms if stem not in kept and rarity(stem) != LIGHT and len(stem) <= MAX_TERM]
    near.sort(key=rarity, reverse=True)
    ttl = opened.deadline - opened.at
    record = Note(
        opened.session, _excerpt(opened), opened.at, opened.deadline,
        opened.priority, opened.historic, opened.turn, 0, kept, phrases, named, opened.deadline, place, effort,
        near[:MAX_TERMS], recorded_at, opened.every, opened.deadline if opened.every else 0,
        light=to_do(opened.content)[:MAX_LIGHT],
    )  # fmt: skip
    record.presses = _presses(params, record, ttl)
    _wait(state, waiting, note, record)
    out.append(opened)


def _wait(state: State, waiting: Waiting, note: str, record: Note) -> None:
    """A note waits from now on."""
    state.put(f"note/{note}", record)
    state.put(queued(note, record), Due(note))
    waiting.add(note, record)


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


def _presses(params: TtlEscalationsParams, note: Note, ttl: int) -> int:
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
        if waiting.first == record.until:
            waiting.first = first_deadline(state)
    state.delete(f"note/{note}")
    return record


def settle(
    params: TtlEscalationsParams, state: State, waiting: Waiting, settled: NoteSettled, out: list[Derived]
) -> None:
    """Closes a note, or the notes inferred from a turn.

    One that comes again and again, and whose time is out, is done for this time; one that waits for its time is done
    with for good.
    """
    where = (settled.space, settled.session, settled.at)
    notes = [settled.note] if settled.note else []
    if settled.turn:
        notes += [note for note, _ in _inferred(state, settled.space, settled.turn)]
        for note in _of(settled.space, settled.turn):
            _stays_so(state, note)
    for note in notes:
        _stays_so(state, note)
        record = state.get(f"note/{note}", Note)
        if record is not None and record.until > record.deadline:
            _done(params, state, waiting, note, where, settled.resolution, out)
        else:
            _close(state, waiting, note, where, settled.resolution, out)


def end(state: State, waiting: Waiting, taken: NoteTaken, out: list[Derived]) -> None:
    """Closes a note that was taken anew as what waits for nothing."""
    _stays_so(state, taken.note)
    _close(state, waiting, taken.note, (taken.space, taken.session, taken.at), "it is a rule now", out)


def _stays_so(state: State, note: str) -> None:
    """Whatever becomes of the turn that settled a note opens it no more."""
    state.delete(f"settled/{note}")
    state.delete(f"replaced/{note}")


Where = tuple[str, str, int]
"""Space, session and time of the event that closes a note."""


def _done(
    params: TtlEscalationsParams, state: State, waiting: Waiting, note: str, where: Where, resolution: str,
    out: list[Derived], turn: str = "", why: Sequence[str] = (),
) -> None:  # fmt: skip
    """Closes a note that is done; one that comes again and again for this time: it waits for the next."""
    record = state.get(f"note/{note}", Note)
    if record is None or not record.every:
        _close(state, waiting, note, where, resolution, out, turn, why)
        return
    _remove(state, waiting, note)
    space, _, at = where
    then = _following(params, record, max(record.deadline, at))
    _put_off(params, state, waiting, space, note, record, then, Cause(at, "done", turn, why), out)


def _close(
    state: State, waiting: Waiting, note: str, where: Where, resolution: str, out: list[Derived], turn: str = "",
    why: Sequence[str] = (),
) -> None:  # fmt: skip
    record = _remove(state, waiting, note)
    if record is not None:
        space, session, at = where
        out.append(NoteClosed(space, session or record.session, at, note, cut(resolution, MAX_CONTENT), turn, [*why]))


def _close_inferred(
    state: State, waiting: Waiting, turn: str, where: Where, resolution: str, out: list[Derived]
) -> None:
    for note, _ in _inferred(state, where[0], turn):
        _close(state, waiting, note, where, resolution, out)


def settle_by_talk(
    params: TtlEscalationsParams, state: State, waiting: Waiting, raw: Raw[TurnRecorded], last: Last, out: list[Derived]
) -> str:
    """Settles the notes that a turn tells to be done or needed no more, and asks where that is likely; moves the one
    that it puts to another time. The id of that one, or ""."""
    turn = raw.event
    where = (turn.space, turn.session, turn.at)
    changed: list[str] = []
    moved = ""
    for note, score, act, seen in weighed(params, state, waiting, raw, last):
        record = state.get(f"note/{note}", Note)
        if record is None or score < params.doubts or (act == "moves" and moved):
            continue  # a turn that moves a note moves one: the likeliest
        then = _put_to(params, turn, record) if act == "moves" else 0
        if act == "moves" and not then:
            continue
        if score < (params.moves if act == "moves" else params.settles):
            question = _question(params, turn, record, then)
            likely, by = likelihood(score), why(seen, act)
            out.append(NoteDoubted(turn.space, turn.session, turn.at, note, turn.id, question, likely, by))
            continue
        state.put(f"settled/{note}", replace(record))
        changed.append(note)
        if act == "moves":
            moved = note
            _move(params, state, waiting, note, record, then, where, turn.id, why(seen, act), out)
        else:
            end = _close if act == "off" else partial(_done, params)
            end(state, waiting, note, where, excerpt(turn.content, MAX_CONTEXT), out, turn.id, why(seen, act))
    if changed:
        state.put(f"settles/{short(turn.id)}", Settled(changed))
    return moved


def _question(params: TtlEscalationsParams, turn: TurnRecorded, record: Note, then: int) -> str:
    """What is asked of a note that a turn may settle, or put to another time."""
    told = within(" ".join(turn.content[:MAX_CONTENT].split()), EXCERPT)
    if not then:
        return f"“{told}”: is this note done with, or should it stay open? “{record.excerpt}”"
    return f"“{told}”: should this note wait till {in_figures(then, params.zone)} instead? “{record.excerpt}”"


def _put_to(params: TtlEscalationsParams, turn: TurnRecorded, record: Note) -> int:
    """The time to which a turn puts a note; 0 where it names no other one."""
    moment = retimed(turn.content, to_local(turn.at, params.zone), due(to_local(record.deadline, params.zone))).moment
    return _not_before(params, moment, turn.at) if moment is not None else 0


def _move(
    params: TtlEscalationsParams, state: State, waiting: Waiting, note: str, record: Note, then: int, where: Where,
    turn: str, why: list[str], out: list[Derived],
) -> None:  # fmt: skip
    """A note waits for another time; of one that comes again and again the other times keep their days."""
    _remove(state, waiting, note)
    if record.every:
        first = due(to_local(record.first, params.zone)).day + due(to_local(then, params.zone)).clock
        record.first = to_micros(first, params.zone)
    _put_off(params, state, waiting, where[0], note, record, then, Cause(where[2], "moved", turn, why), out)


def reopen(state: State, waiting: Waiting, fact: TurnRetracted | OfferDeclined, out: list[Derived]) -> None:
    """Opens the notes again that a turn settled which does not stand, or did not mean that."""
    key = f"settles/{short(fact.turn)}"
    settles = state.get(key, Settled)
    if settles is None:
        return
    state.delete(key)
    for note in settles.notes:
        record = state.get(f"settled/{note}", Note)
        if record is None:
            continue
        state.delete(f"settled/{note}")
        waits = state.get(f"note/{note}", Note)
        if waits is not None and waits.moved != fact.turn:
            continue  # it was moved again since
        if waits is not None:
            _remove(state, waiting, note)
            where = (fact.space, record.session, fact.at)
            out.append(NoteMoved(*where, note, record.deadline, "undone", "", record.historic, []))
        _wait_again(state, waiting, note, record, (fact.space, record.session, fact.at), fact.turn, out)


def _wait_again(
    state: State, waiting: Waiting, note: str, record: Note, where: Where, turn: str, out: list[Derived]
) -> None:
    """A note that a turn had settled waits as it did before; what it says was told when it was opened."""
    record.shown = {}
    _wait(state, waiting, note, record)
    status: Literal["waiting", "asked", ""] = (
        "" if record.historic else "asked" if record.until > record.deadline else "waiting"
    )
    out.append(NoteReopened(*where, note, status, turn))


def supersede(
    params: TtlEscalationsParams, state: State, waiting: Waiting, belief: BeliefContradicted, out: list[Derived]
) -> list[str]:
    """Settles the notes of a statement that another took the place of; what they told.

    What somebody asked to be reminded of waits on: it is more than the statement that it holds.
    """
    found = []
    for note, record in _inferred(state, belief.space, belief.older):
        if record.priority < params.asked and belief.older_value.casefold() in record.excerpt.casefold():
            where = (belief.space, belief.session, belief.at)
            _close(state, waiting, note, where, f"{belief.turn} took its place", out)
            state.put(f"replaced/{note}", record)
            found.append(record.excerpt)
    return found


def restore(state: State, waiting: Waiting, belief: BeliefRestored, out: list[Derived]) -> None:
    """Opens the notes of a statement again that stands again."""
    for ordinal in range(MAX_REMINDERS):
        note = derived_id("note", belief.space, belief.turn, ordinal)
        record = state.get(f"replaced/{note}", Note)
        if record is not None and record.until > belief.at:
            state.delete(f"replaced/{note}")
            where = (belief.space, record.session, belief.at)
            _wait_again(state, waiting, note, record, where, belief.newer, out)


def _of(space: str, turn: str) -> list[str]:
    """The ids that notes inferred from a turn have."""
    return [derived_id("note", space, turn, ordinal) for ordinal in range(MAX_REMINDERS)]


def _inferred(state: State, space: str, turn: str) -> list[tuple[str, Note]]:
    """The notes that wait and were inferred from a turn."""
    notes = [(note, state.get(f"note/{note}", Note)) for note in _of(space, turn)]
    return [(note, record) for note, record in notes if record is not None and record.turn == turn]


def rethread(state: State, waiting: Waiting, moved: TurnRethreaded) -> None:
    """The notes inferred from a turn belong to another effort."""
    for note, record in _inferred(state, moved.space, moved.turn):
        if state.get(queued(note, record), Due) is not None:
            waiting.move(note, record, moved.effort)
        record.effort = moved.effort
        state.put(f"note/{note}", record)


def retract(state: State, waiting: Waiting, retracted: TurnRetracted, out: list[Derived]) -> None:
    """What a retracted turn asked for is withdrawn, and its words are matched no longer."""
    where = (retracted.space, retracted.session, retracted.at)
    for note in _of(retracted.space, retracted.turn):
        _stays_so(state, note)
    _close_inferred(state, waiting, retracted.turn, where, "retracted", out)
    key = f"last/{retracted.session}"
    if (last := state.get(key, Last)) is not None:
        state.put(key, Last(last.effort, entered=last.entered, turns=last.turns, ended=last.ended))
