"""Long-term memory: what is worth keeping of a session beyond its end, and given to the later ones that call for it.

    solution     a problem, what was tried and did not work, and what worked      (conclusions; see manifest)
    failure      what does not work, where nothing was found that does            (negative conclusions, assumptions
                                                                                   that others took the place of)
    preference   how somebody wants it: "I prefer trains to planes"               (notes of the session, see
    fact         what is so of somebody, or of something with a name or number     direct_access; the user's words)

As a session goes on, what tells most of it waits. When it ends, by word or because nothing was said in it for `idle`
minutes, up to six entries are distilled. The first user turn of another session that says something loads the few that
fit its words (see record.Index), none where none does; a session that says which one it goes on with
(`session-inherited`) inherits what that one left and was given.

    active -> contradicted   a later statement took its place; active again where that is taken back
    active -> misled         a turn of it was rewarded `misled` or worse; active again where it is rewarded above 0
    active -> expired        not loaded for `lasts` days
    any    -> collected      forgotten: fallen out for long, or the one used least lately of more than `keep`; of
                             solutions also those whose work was opened again, or whose trouble is back

What a model wrote of an entry's turns (`distillation-written`) takes the place of its words. Source: long-term memory
of CogMem, with its lifecycle of distilling, inheriting, expiring and collecting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.direct_access.events import SessionNoted
from processors.long_term.events import EntriesLoaded, EntryDistilled
from processors.long_term.jobs import JOBS
from processors.long_term.lasting import FAILED, GIVEN, MARKS, MAY_WISH, SOLVED, lasting, plain, problem, solves, wanted
from processors.long_term.record import (
    SOURCES,
    SPEAKER,
    STEM,
    WAITING,
    Due,
    Effort,
    Entry,
    Index,
    Last,
    Session,
    first_due,
    forget,
    link,
    sourced,
    stems_of,
    told,
)
from processors.long_term.section import LOADED
from processors.manifest import ArtifactMade
from processors.open_efforts import EffortConcluded, EffortResumed, TurnThreaded
from processors.open_efforts.undone import undone
from streams.core.events import (
    DAY,
    MINUTE,
    DistillationWritten,
    MemoryRewarded,
    SessionEnded,
    SessionInherited,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on, otherwise, r6
from streams.core.read_model import Keep, read_model
from streams.core.text.telling import Told, excerpt, sentences, shortened
from streams.core.text.within import cost

COGMEM = "CogMem"


class LongTermParams(Params):
    """What is kept of sessions, for how long, and how much of it another one loads."""

    idle: float = param(60.0, "minutes", "nobody said anything for so long: the session is over", COGMEM, gt=0)
    most: int = param(6, "entries", "loaded by words: a session is told a few things, not a file", COGMEM, ge=0, le=8)
    tokens: int = param(240, "tokens", "of what is loaded: a paragraph or two", ge=0, le=2000)
    least: float = param(0.6, "fit 0..1", "a rare word and another, or an id; less is chance", ge=0, le=1)
    sure: float = param(2.0, "rare words", "shared with the turn: the entry is about the same", gt=0)
    share: float = param(0.25, "share", "of a long turn's words must be shared for a sure fit", ge=0, le=1)
    lasts: float = param(180.0, "days", "not called for in half a year: it expires", COGMEM, gt=0, le=36_500)
    collect: float = param(30.0, "days", "until what fell out is forgotten; a mistake shows before", gt=0, le=36_500)
    keep: int = param(512, "entries", "of a space; then the one used least lately is forgotten", ge=1, le=4096)
    misled: float = param(-0.5, "reward", "from here down its use misled, and it falls out", ge=-1, le=0)


TEXT, READS, SAYS = 240, 480, 3
"""Bytes of an entry's sentence, characters of a turn that are read, stems of one that says something."""
DISTILLED, AT_ONCE, REWARDED, INHERITED = 6, 4, 16, 12
"""Entries of a session's end, and of one event; deadlines that one event ends; entries that one reward moves; entries
that a session inherits."""
_NONE: tuple[Derived, ...] = ()


def _cut(text: str) -> str:
    """A sentence, bounded in bytes."""
    return shortened(plain(text), TEXT)


# -- what waits in a session -------------------------------------------------------------------------------------------


def _told(text: str) -> Told | None:
    """The first sentence of a text, and what it tells."""
    return next(iter(sentences(plain(text))), None)


def _wait(params: LongTermParams, state: State, raw: Raw[Any], session: str, source: str, entry: Entry) -> None:
    """An entry waits for the end of its session; where six do, the one that is worth least gives way."""
    id = derived_id("entry", raw.event.space, source)
    before = state.get(f"entry/{id}", Entry)
    if before is not None and (before.status != WAITING or before.session != session):
        return
    own = state.get(f"session/{session}", Session) or Session()
    if before is not None and before.worth >= entry.worth:
        if before.kind == entry.kind and entry.text not in before.text:
            before.text = _cut(f"{before.text} {entry.text}")
            before.stems = before.words()
            state.put(f"entry/{id}", before)
        return
    others = [one for one in own.waiting if one != id]
    if len(others) >= DISTILLED:
        worth = {one: waits.worth for one in others if (waits := state.get(f"entry/{one}", Entry)) is not None}
        least = min(others, key=lambda one: worth.get(one, 0))
        if worth.get(least, 0) > entry.worth:
            return
        _drop(state, own, least)
        others.remove(least)
    entry.stems = entry.words()
    own.waiting = [*others, id]
    state.put(f"entry/{id}", entry)
    state.put(f"session/{session}", own)
    link(state, id, entry)
    if state.get(f"last/{session}", Last) is None:
        _rearm(state, session, Last(raw.now, 0), raw.now + int(params.idle * MINUTE))


def _drop(state: State, own: Session, id: str) -> None:
    """It waits no longer."""
    own.waiting = [one for one in own.waiting if one != id]
    entry = state.get(f"entry/{id}", Entry)
    if entry is not None and entry.status == WAITING:
        forget(state, id, entry)


def _noted(params: LongTermParams, state: State, note: SessionNoted, raw: Raw[Any]) -> Sequence[Derived]:
    """A note of the session: a fact that lasts, what an agent took down, an assumption that did not hold."""
    if note.status not in ("current", "passed"):
        out = _unnoted(params, state, note, raw)
        if (note.kind, note.status) != ("assumption", "superseded"):
            return out
    by = raw.event.agent or raw.event.role if isinstance(raw.event, TurnRecorded) else ""
    first = _told(note.text)
    kind: Any = "fact"
    if note.kind == "assumption" and note.status == "superseded":
        kind, worth = "failure", FAILED - 2
    elif note.turn == "" and note.kind in ("fact", "conclusion"):
        worth = GIVEN
        kind = "solution" if note.kind == "conclusion" else "preference" if first and wanted(first) else "fact"
    elif note.status == "current" and note.kind == "fact" and first and (found := lasting(first)):
        kind, worth = found
    else:
        return _NONE
    turns = [note.turn] if note.turn else []
    entry = Entry(note.session, kind, _cut(note.text), "", [], by if note.turn else "", turns, "", worth, note.note)
    _wait(params, state, raw, note.session, note.turn or note.note, entry)
    return _NONE


def _unnoted(params: LongTermParams, state: State, note: SessionNoted, raw: Raw[Any]) -> Sequence[Derived]:
    """A note does not stand any more: nor does what was, or was to be, distilled of it."""
    id = derived_id("entry", note.space, note.turn or note.note)
    entry = state.get(f"entry/{id}", Entry)
    if entry is None or entry.note != note.note:
        return _NONE
    if entry.status == WAITING:
        own = state.get(f"session/{note.session}", Session) or Session()
        _drop(state, own, id)
        state.put(f"session/{note.session}", own)
    elif note.status == "settled":
        return _collect(state, note.space, note.at, id, entry, "an agent is done with it")
    return _NONE


def _sources(turns: Sequence[str], quoted: Sequence[str]) -> list[str]:
    """What asked and what concluded, the turns that are quoted, and as many of those before the conclusion as fit."""
    kept = list(dict.fromkeys(turns))
    while len(kept) > SOURCES:
        kept.remove(next(turn for turn in kept[1:-1] if turn not in quoted))
    return kept


def _concluded(params: LongTermParams, state: State, made: ArtifactMade, raw: Raw[Any]) -> Sequence[Derived]:
    """A conclusion: what worked, with the problem and what was tried before; or what does not work."""
    body = _told(made.body.partition("\n")[0])
    if body is None or not solves(body):
        return _NONE
    turns = _sources(made.turns, [])
    text, asked = _cut(body.text), problem(_cut(made.title))
    if made.kind == "negative-result":
        entry = Entry(made.session, "failure", text, "", [], "", turns, made.segment, FAILED, "")
        _wait(params, state, raw, made.session, made.turns[-1], entry)
        return _NONE
    own = state.get(f"session/{made.session}", Session) or Session()
    if made.kind in ("deliverable", "answer") and not own.assisted:
        return _NONE
    asked = "" if asked in text or text in asked else asked
    entry = Entry(made.session, "solution", text, asked, [], "", turns, made.segment, SOLVED, "")
    entry.tags = [tag[:STEM] for tag in made.tags]
    words = {*entry.words()}
    for id in own.waiting:
        other = state.get(f"entry/{id}", Entry)
        if other is None or other.status != WAITING or len(entry.failed) >= 2:
            continue
        same = other.segment == made.segment
        if other.text in (text, asked):
            pass
        elif same and other.kind == "solution":
            entry.failed, entry.tried = [*other.failed, *entry.failed][:2], [*other.tried, *entry.tried][:2]
        elif other.kind == "failure" and (same or words.intersection(other.stems)):
            entry.failed, entry.tried = [*entry.failed, other.text], [*entry.tried, *other.turns[-1:]]
        else:
            continue
        _drop(state, own, id)
    entry.turns = _sources([*made.turns[:1], *entry.tried, *made.turns[1:]], entry.tried)
    state.put(f"session/{made.session}", own)
    _wait(params, state, raw, made.session, made.turns[-1], entry)
    return _NONE


def _threaded(
    params: LongTermParams, state: State, told: TurnThreaded | EffortConcluded, raw: Raw[Any]
) -> Sequence[Derived]:
    """Where the turn brought a solution, it is its effort's."""
    for _, entry in sourced(state, told.turn) if told.effort else ():
        if entry.kind == "solution" and entry.segment and entry.turns[-1] == told.turn:
            state.put(f"effort/{told.effort}", Effort(entry.session, entry.segment))
    return _NONE


def _resumed(params: LongTermParams, state: State, effort: EffortResumed, raw: Raw[Any]) -> Sequence[Derived]:
    """What solved it is none where somebody says that it is not over, or its trouble is back."""
    solved = state.get(f"effort/{effort.effort}", Effort)
    own = state.get(f"session/{solved.session}", Session) if solved is not None else None
    out: list[Derived] = []
    if solved is None or own is None:
        return out
    for id in [*own.waiting, *own.made]:
        entry = state.get(f"entry/{id}", Entry)
        if entry is None or (entry.kind, entry.segment) != ("solution", solved.segment):
            continue
        if not undone(effort, raw, entry.stems):
            continue
        if entry.status == WAITING:
            _drop(state, own, id)
        else:
            out += _collect(state, effort.space, effort.at, id, entry, "its work is not over")
    state.put(f"session/{solved.session}", own)
    return out


def _wishes(params: LongTermParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> None:
    """How the user says it is to be done, where no statement of somebody says it."""
    if not MAY_WISH.may_be_in(turn.content):
        return
    content = turn.content[:READS].lower()
    if not any(mark in content for mark in MARKS):
        return
    for said in sentences(excerpt(turn.content, READS)):
        text = said.text.lower()
        found = lasting(said) if any(mark in text for mark in MARKS) and wanted(said) else None
        if found is not None:
            by = turn.agent or turn.role
            entry = Entry(turn.session, "preference", _cut(said.text), "", [], by, [turn.id], "", found[1], "")
            _wait(params, state, raw, turn.session, turn.id, entry)


# -- time, and the end of a session ------------------------------------------------------------------------------------


def _schedule(state: State, at: int, what: str, id: str) -> None:
    """Something is to be looked at then: a session (s) or an entry (e)."""
    state.put(f"due/{at:020d}/{what}/{id}", Due())
    index = state.index(Index)
    index.due = min(index.due, at)


def _unschedule(state: State, at: int, what: str, id: str) -> None:
    state.delete(f"due/{at:020d}/{what}/{id}")
    index = state.index(Index)
    index.due = first_due(state) if at == index.due else index.due


def _pass_time(params: LongTermParams, state: State, space: str, now: int) -> list[Derived]:
    """What fell due by now, each dated at its deadline: idle sessions end, entries expire and are collected."""
    out: list[Derived] = []
    index, left, ages = state.index(Index), DISTILLED, 1
    for key in state.keys("due/", AT_ONCE):
        at, what, id = int(key[4:24]), key[25], key[27:]
        if at > now:
            break
        if what == "e":
            if not ages:
                break
            ages -= 1
            _unschedule(state, at, what, id)
            out += _age(params, state, space, at, id)
            continue
        last, own = state.get(f"last/{id}", Last), state.get(f"session/{id}", Session)
        assert last is not None
        assert own is not None
        deadline = last.at + int(params.idle * MINUTE)
        if deadline > now:
            _rearm(state, id, last, deadline)
        elif len(own.waiting) > left:
            break
        else:
            left -= len(own.waiting)
            out += _distill(params, state, space, id, own, deadline, "nothing was said for long")
    if not out and len(index.by_use) > params.keep:
        id = index.by_use[0][1]
        entry = state.get(f"entry/{id}", Entry)
        assert entry is not None
        out += _collect(state, space, now, id, entry, "others took its room")
    return out


def _rearm(state: State, session: str, last: Last, deadline: int) -> None:
    if last.due:
        _unschedule(state, last.due, "s", session)
    last.due = deadline
    state.put(f"last/{session}", last)
    _schedule(state, deadline, "s", session)


def _distill(
    params: LongTermParams, state: State, space: str, session: str, own: Session, at: int, why: str
) -> Iterator[Derived]:
    """What waits in a session becomes long-term memory."""
    last = state.get(f"last/{session}", Last)
    if last is not None:
        state.delete(f"last/{session}")
        _unschedule(state, last.due, "s", session)
    index, waiting = state.index(Index), own.waiting
    own.made, own.waiting = [*own.made, *waiting][-INHERITED:], []
    if waiting:
        state.put(f"session/{session}", own)
    for id in waiting:
        entry = state.get(f"entry/{id}", Entry)
        if entry is None or entry.status != WAITING:
            continue
        entry.status = "active"
        index.use(id, entry, at)
        index.add(id, entry)
        _look_at(state, id, entry, at + int(params.lasts * DAY))
        yield told(space, at, id, entry, why)


def _age(params: LongTermParams, state: State, space: str, at: int, id: str) -> Iterator[Derived]:
    """An entry's time: it was used since, it expires, or it is forgotten."""
    entry = state.get(f"entry/{id}", Entry)
    if entry is None:
        return
    entry.due = 0
    until = entry.used + int(params.lasts * DAY)
    if entry.status != "active":
        yield from _collect(state, space, at, id, entry, f"{entry.status}, and nobody missed it")
    elif until > at:
        _look_at(state, id, entry, until)
    else:
        yield _become(params, state, space, at, at, id, entry, "expired", "not called for in long")


def _look_at(state: State, id: str, entry: Entry, at: int) -> None:
    """An entry is to be looked at then, and not before."""
    if entry.due:
        _unschedule(state, entry.due, "e", id)
    entry.due = at
    state.put(f"entry/{id}", entry)
    _schedule(state, at, "e", id)


def _end(state: State, id: str, entry: Entry) -> None:
    """Nothing is left of an entry that was told."""
    index = state.index(Index)
    index.remove(id, entry)
    index.use(id, entry, -1)
    if entry.due:
        _unschedule(state, entry.due, "e", id)
    forget(state, id, entry)


def _collect(state: State, space: str, at: int, id: str, entry: Entry, why: str) -> list[Derived]:
    _end(state, id, entry)
    return [told(space, at, id, entry, why, "collected")]


def _become(
    params: LongTermParams, state: State, space: str, at: int, now: int, id: str, entry: Entry, status: Any, why: str
) -> Derived:
    """An entry falls out, and is forgotten in time; or comes back."""
    index = state.index(Index)
    index.remove(id, entry)
    entry.status = status
    if status == "active":
        index.add(id, entry)
    days = params.lasts if status == "active" else params.collect
    since = entry.used if status == "active" else now
    _look_at(state, id, entry, max(now, since + int(days * DAY)))
    return told(space, at, id, entry, why)


# -- what sessions are given -------------------------------------------------------------------------------------------


def _turn(params: LongTermParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """A turn: the first one that says something calls for entries; each keeps its session from being over."""
    own = state.get(f"session/{turn.session}", Session)
    out: Sequence[Derived] = _NONE
    if turn.role == "assistant" and (own is None or not own.assisted):
        own = own or Session()
        own.assisted = True
        state.put(f"session/{turn.session}", own)
    if turn.role == "user":
        if own is None or not own.asked:
            out = _call(params, state, turn, raw, own or Session())
        _wishes(params, state, turn, raw)
    last = state.get(f"last/{turn.session}", Last)
    if last is not None:
        last.at = max(last.at, turn.at)
        state.put(f"last/{turn.session}", last)
    return out


def _lasts(params: LongTermParams, entry: Entry, now: int) -> bool:
    """Whether it stands. Why its time too: of those that passed it together one expires at each event."""
    return bool(entry.status == "active") and entry.used + int(params.lasts * DAY) > now


def _call(
    params: LongTermParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded], own: Session
) -> list[Derived]:
    """Loads what fits the words of a session's first turn; a greeting calls for nothing, and leaves it to the next."""
    index = state.index(Index)
    fitting = index.fitting(raw.text.terms, params.sure, params.share)
    asked = {*raw.text.terms}
    chosen: list[tuple[str, float, str]] = []
    room = params.tokens
    ranked: list[tuple[float, str]] = []
    for id, (fit, _) in fitting.items():
        entry = state.get(f"entry/{id}", Entry) if fit + SPEAKER / params.sure >= params.least else None
        if entry is None or entry.session == turn.session or id in own.loaded or not _lasts(params, entry, raw.now):
            continue
        # Why by itself too little: whoever is addressed, or speaks, is named in most turns.
        named = SPEAKER / params.sure * (not asked.isdisjoint(stems_of(entry.by)))
        if fit + named >= params.least:
            ranked.append((-r6(min(1.0, fit + named)), id))
    for fit, id in sorted(ranked)[: params.most]:
        entry = state.get(f"entry/{id}", Entry)
        assert entry is not None
        room -= cost(f"{entry.problem} {entry.text} {' '.join(entry.failed)}")
        if room < 0:
            break
        chosen.append((id, -fit, "words: " + ", ".join(fitting[id][1][:6])))
    own.asked = bool(chosen) or len(raw.text.terms) >= SAYS
    state.put(f"session/{turn.session}", own)
    return _load(state, turn.space, turn.session, turn.at, turn.id, own, chosen)


def _load(
    state: State, space: str, session: str, at: int, turn: str, own: Session, chosen: list[tuple[str, float, str]]
) -> list[Derived]:
    """A session is given entries; to be given is to be used."""
    if not chosen:
        return []
    index = state.index(Index)
    for id, fit, why in chosen:
        entry = state.get(f"entry/{id}", Entry)
        assert entry is not None
        index.use(id, entry, max(at, entry.used))
        state.put(f"entry/{id}", entry)
        own.loaded, own.fits, own.whys = [*own.loaded, id], [*own.fits, fit], [*own.whys, why]
    state.put(f"session/{session}", own)
    return [EntriesLoaded(space, session, at, turn, [*own.loaded], [*own.fits], [*own.whys])]


def _inherited(
    params: LongTermParams, state: State, fact: SessionInherited, raw: Raw[SessionInherited]
) -> Sequence[Derived]:
    """The session goes on with another, which is over by that: it is given what that one left and was given."""
    older = state.get(f"session/{fact.older}", Session)
    if older is None or fact.older == fact.session:
        return _NONE
    out = [*_distill(params, state, fact.space, fact.older, older, fact.at, f"{fact.session} goes on with it")]
    own = state.get(f"session/{fact.session}", Session) or Session()
    ids = dict.fromkeys([*reversed(older.made), *older.loaded])
    why = f"inherited from {fact.older}"
    active = [
        (id, 1.0, why) for id in ids
        if id not in own.loaded and (entry := state.get(f"entry/{id}", Entry)) and _lasts(params, entry, raw.now)
    ]  # fmt: skip
    room = max(0, INHERITED + params.most - len(own.loaded))
    return [*out, *_load(state, fact.space, fact.session, fact.at, "", own, active[: min(room, INHERITED)])]


def _ended(params: LongTermParams, state: State, fact: SessionEnded, raw: Raw[SessionEnded]) -> Sequence[Derived]:
    own = state.get(f"session/{fact.session}", Session)
    return [*_distill(params, state, fact.space, fact.session, own, fact.at, "the session ended")] if own else _NONE


# -- what makes entries fall out ---------------------------------------------------------------------------------------


def _contradicted(params: LongTermParams, state: State, belief: BeliefContradicted, raw: Raw[Any]) -> Sequence[Derived]:
    """A later statement took the place of what an entry says."""
    return [
        *_moved(params, state, belief, raw.now, belief.older, belief.older_value, "active", "contradicted", belief.turn)
    ]


def _restored(params: LongTermParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """What took its place is gone."""
    if not belief.current:
        return _NONE
    return [*_moved(params, state, belief, raw.now, belief.turn, belief.value, "contradicted", "active", belief.newer)]


def _moved(
    params: LongTermParams,
    state: State,
    belief: Derived,
    now: int,
    turn: str,
    value: str,
    was: str,
    status: str,
    by: str,
) -> Iterator[Derived]:
    """The entries that say something of `turn` go from one status to another."""
    for id, entry in sourced(state, turn):
        if value.casefold() not in entry.text.casefold():
            continue
        if entry.status == WAITING and status == "contradicted":
            own = state.get(f"session/{entry.session}", Session) or Session()
            _drop(state, own, id)
            state.put(f"session/{entry.session}", own)
        elif entry.status == was:
            why = f"{by} took its place" if status == "contradicted" else f"{by} does not stand"
            yield _become(params, state, belief.space, belief.at, now, id, entry, status, why)


def _rewarded(
    params: LongTermParams, state: State, fact: MemoryRewarded, raw: Raw[MemoryRewarded]
) -> Sequence[Derived]:
    """Its use misled, or helped after all."""
    entries = {id: entry for turn in dict.fromkeys(fact.turns) for id, entry in sourced(state, turn)}
    out: list[Derived] = []
    index = state.index(Index)
    for id, entry in [*entries.items()][:REWARDED]:
        if entry.status == "active" and fact.reward <= params.misled:
            why = f"rewarded {fact.reward:g}"
            out.append(_become(params, state, fact.space, fact.at, raw.now, id, entry, "misled", why))
        elif entry.status != WAITING and fact.reward > 0:
            index.use(id, entry, max(raw.now, entry.used))
            state.put(f"entry/{id}", entry)
            if entry.status in ("misled", "expired"):
                why = f"rewarded {fact.reward:g}"
                out.append(_become(params, state, fact.space, fact.at, raw.now, id, entry, "active", why))
    return out


def _retracted(params: LongTermParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]) -> Sequence[Derived]:
    """Nothing is kept of a turn that was taken back."""
    out: list[Derived] = []
    for id, entry in sourced(state, fact.turn):
        if entry.status == WAITING:
            own = state.get(f"session/{entry.session}", Session) or Session()
            _drop(state, own, id)
            state.put(f"session/{entry.session}", own)
            continue
        _end(state, id, entry)
        out.append(told(fact.space, fact.at, id, entry, f"{fact.turn} was taken back", "retracted"))
    return out


def _written(
    params: LongTermParams, state: State, fact: DistillationWritten, raw: Raw[DistillationWritten]
) -> Sequence[Derived]:
    """A model's words for an entry of just these turns take the place of what was picked."""
    found = next(((id, one) for id, one in sourced(state, fact.turns[-1]) if one.turns == fact.turns), None)
    if found is None or found[1].status != "active":
        return _NONE
    id, entry = found
    state.index(Index).remove(id, entry)
    entry.text, entry.problem = _cut(fact.text), _cut(fact.problem)
    entry.failed, entry.model = [_cut(one) for one in fact.failed[:2]], fact.model[:40]
    entry.stems = entry.words()
    return (_become(params, state, fact.space, fact.at, raw.now, id, entry, "active", "a model wrote it"),)


def _nothing(params: LongTermParams, state: State, fact: Any, raw: Raw[Any]) -> Sequence[Derived]:
    """The fact says nothing but what time it is."""
    return _NONE


class _Timed:
    """A step, after what fell due before it. Why no closure: a replay hands processors to other processes.

    Where a turn is taken back, what fell due comes last: else it would be distilled in the moment that takes it back.
    """

    def __init__(self, step: Callable[..., Sequence[Derived]]) -> None:
        self._step = step

    def __call__(self, params: LongTermParams, state: State, event: Any, raw: Raw[Any]) -> Sequence[Derived]:
        index = state.index(Index)
        if raw.now < index.due and len(index.by_use) <= params.keep:
            return self._step(params, state, event, raw)
        if not isinstance(raw.event, TurnRetracted):
            return [*_pass_time(params, state, raw.event.space, raw.now), *self._step(params, state, event, raw)]
        out = self._step(params, state, event, raw)
        return out if event is not raw.event else [*out, *_pass_time(params, state, raw.event.space, raw.now)]


PROCESSOR = Processor(
    name="long_term",
    version=6,
    params=LongTermParams,
    takes=(
        on(ArtifactMade, _Timed(_concluded)),
        on(TurnThreaded, _Timed(_threaded)),
        on(EffortConcluded, _Timed(_threaded)),
        on(EffortResumed, _Timed(_resumed)),
        on(BeliefContradicted, _Timed(_contradicted)),
        on(BeliefRestored, _Timed(_restored)),
        on(SessionNoted, _Timed(_noted)),
        on(TurnRecorded, _Timed(_turn)),
        on(TurnRetracted, _Timed(_retracted)),
        on(MemoryRewarded, _Timed(_rewarded)),
        on(SessionEnded, _Timed(_ended)),
        on(SessionInherited, _Timed(_inherited)),
        on(DistillationWritten, _Timed(_written)),
        otherwise(_Timed(_nothing)),
    ),
    emits=(EntryDistilled, EntriesLoaded),
    reads=("turns", "manifest", "open_efforts", "contradictions", "direct_access"),
    read_model=read_model(
        __package__,
        jobs=JOBS,
        keeps=(Keep(EntryDistilled, ("entry",)), Keep(EntriesLoaded, ("session",))),
        sections=(LOADED,),
        behind={
            "entry": "(t.space, t.turn_id) IN "
            "(SELECT e.space, unnest(e.turns) FROM entry_distilled e WHERE e.entry = $id)",
        },
    ),
    presets={
        "chatbot": {"lasts": 730.0},
        "task-agent": {"lasts": 60.0, "most": 4},
        "personal-assistant": {"lasts": 365.0},
        "researcher": {"lasts": 36_500.0, "keep": 4096},
    },
)
