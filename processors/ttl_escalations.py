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

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from streams.events import (
    HOUR,
    SECOND,
    ClockTicked,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRecorded,
    TurnRetracted,
)  # fmt: skip
from streams.processor import ROOT, Derived, Moment, Params, Processor, State, derived_id, param, r6
from streams.text import FactRead, Root, TurnRead
from streams.text.commonness import CLASSES, LIGHT, ORDERS, RARE, rarity
from streams.text.reminders import MAX_REMINDERS, Reminder, reminders
from streams.text.terms import scan, terms


@dataclass(slots=True)
class NoteOpened:
    """A note waits, taken by an agent or inferred from a turn."""

    space: str
    session: str
    at: int
    note: str
    content: str
    deadline: Moment
    priority: float
    source: str
    context: str
    turn: str
    """The turn it was inferred from; "" where an agent took it."""
    historic: bool
    """Whether its deadline lay before it was recorded (imported history): queryable, never raised."""
    type: Literal["note-opened.v1"] = "note-opened.v1"


@dataclass(slots=True)
class NoteSurfaced:
    """A note is shown in a session because the talk came to it, or because it is pressing."""

    space: str
    session: str
    at: int
    note: str
    turn: str
    priority: float
    """Effective, 0 to 1."""
    reason: str
    """priority, or the shared name or term."""
    type: Literal["note-surfaced.v1"] = "note-surfaced.v1"


@dataclass(slots=True)
class NoteEscalated:
    """A note's time ran out and it matters: the user is asked. Dated at the deadline."""

    space: str
    session: str
    at: int
    note: str
    question: str
    type: Literal["note-escalated.v1"] = "note-escalated.v1"


@dataclass(slots=True)
class NoteArchived:
    """A note's time ran out and it matters little. Dated at the deadline."""

    space: str
    session: str
    at: int
    note: str
    type: Literal["note-archived.v1"] = "note-archived.v1"


@dataclass(slots=True)
class NoteClosed:
    """A note was settled before or after its time ran out."""

    space: str
    session: str
    at: int
    note: str
    resolution: str
    """As settled; "retracted" where the turn it was inferred from was retracted."""
    type: Literal["note-closed.v1"] = "note-closed.v1"


PAPER = "three-column working memory"


class TtlEscalationsParams(Params):
    """How long notes live, what brings them back, and what happens when their time is out."""

    urgent: float = param(4, "hours", "time to live of urgent notes ('soon')", PAPER, gt=0)
    normal: float = param(24, "hours", "time to live of normal notes ('later', 'when you get a chance')", PAPER, gt=0)
    low: float = param(168, "hours", "time to live where no time is named: a week of work", PAPER, gt=0)
    late_left: float = param(0.2, "share of the time to live", "below it a note presses", PAPER, ge=0, le=1)
    late_factor: float = param(1.5, "factor", "raises .6 to the surfacing level", PAPER, ge=1)
    last_left: float = param(0.05, "share of the time to live", "below it a note presses hard", PAPER, ge=0, le=1)
    last_factor: float = param(2, "factor", "raises all that would escalate above the surfacing level", PAPER, ge=1)
    surface_above: float = param(0.9, "effective priority", "shown without a shared word from here on", PAPER, ge=0)
    escalate_from: float = param(0.5, "base priority", "asked about when its time is out; else archived", PAPER, ge=0)
    asked: float = param(
        0.6, "base priority", "'remind me': the user ordered it, so it must not end in silence", ge=0, le=1
    )
    deferred: float = param(0.5, "base priority", "'let's come back to it later': ends in a question", ge=0, le=1)
    mentioned: float = param(
        0.4, "base priority", "'we need to do it soon': said by the way, so fades silently", ge=0, le=1
    )
    window: int = param(5, "turns", "what a session is about now", PAPER, ge=1, le=8)
    enough: float = param(1, "weight", "one rare term or name; two ordinary words, or three common ones", gt=0)
    rare: float = param(1, "weight", "words outside the table tell the matter alone ('variance')", ge=0)
    ordinary: float = param(0.65, "weight", "everyday matters need a second word ('invoice')", ge=0)
    common: float = param(0.4, "weight", "words of every office need two more ('budget', 'report')", ge=0)
    phrase: float = param(
        0.2, "weight", "two words that follow each other in both are a matter ('board meeting')", ge=0
    )
    most: float = param(0.65, "share of a note's weight", "said of a note, it is most of the matter", ge=0, le=1)
    whole: float = param(0.35, "weight", "added where most of a note was said: all of 'buy milk' is 'milk'", ge=0)
    capital: float = param(0.3, "weight", "added where a common word is used as a name in both ('Mark')", ge=0)
    before: float = param(0.5, "factor", "for words of the window's earlier turns: talk drifts", ge=0, le=1)
    long: int = param(20, "terms", "longer turns hold ordinary words by chance; these count less there", ge=1)
    cooldown: float = param(
        4, "hours", "a session is shown a note once a visit: again only after this long, or once it ended", ge=0
    )
    shown: int = param(
        5, "notes", "surfaced by one turn at most, most pressing first: more is a list, not a hint", ge=1, le=5
    )
    alike: int = param(64, "notes", "a term of more open notes than this tells none of them apart", ge=1, le=256)
    pressing: int = param(16, "notes", "pressing notes looked at in a turn, the newest: bounded work", ge=1, le=64)
    expiries: int = param(
        48, "writes", "spent on expiries by one event, the rest at the next: bounded work", ge=2, le=48
    )


LAST = 253_402_214_400_000_000
"""Deadlines end with the year 9999, as times do."""
FOREVER = 1 << 62
EXCERPT, MAX_CONTENT, MAX_CONTEXT = 240, 2_000, 500
"""Characters kept of a note: in state for the question, and in the event; the raw log holds the rest."""
MAX_TERMS, MAX_PHRASES, MAX_NAMES, MAX_HITS, MAX_SESSIONS = 16, 6, 4, 8, 8
"""Terms, phrases and names of a note, hits of a turn, sessions that saw a note, in state: records stay below 8 KB."""
MAX_TERM, MAX_NAME = 24, 48
"""Longer terms and names are not indexed."""
MAX_LIKELY = 64
"""Notes weighed exactly for one turn, the best by the sum of their shared words."""
EPSILON = 1e-9
"""Sums of weights that are equal on paper are equal here."""


@dataclass(slots=True)
class Note:
    """State, `note/<id>`: a note that waits, or waited until it escalated and is not settled."""

    session: str
    excerpt: str
    opened: int
    deadline: int
    priority: float
    historic: bool
    turn: str
    presses: int
    """From when its effective priority exceeds the surfacing level; FOREVER if never."""
    terms: list[str]
    """Stems that may bring it back, in order."""
    phrases: list[str]
    """Pairs of stems that follow each other in it."""
    names: list[str]
    shown: dict[str, int] = field(default_factory=dict)
    """When it was shown, by session; the newest 8."""


@dataclass(slots=True)
class Due:
    """State, `due/<deadline>/<note>` (`past/…` for historic ones): the queue of waiting notes, in deadline order."""

    note: str


@dataclass(slots=True)
class Clock:
    """State, `clock`: the space's now."""

    now: int


@dataclass(slots=True)
class Talk:
    """State, `talk/<session>`: the session's last turns, as far as they concern open notes."""

    turns: list[str] = field(default_factory=list)
    """Ids of the last turns; "" for a turn that concerned none."""
    hits: list[list[str]] = field(default_factory=list)
    """Terms and names of open notes in each of them."""
    ended: int = -1
    """When the session was last ended."""


class Waiting:
    """Index of the waiting notes, a function of their records: by term, by name, by when they press; first deadline."""

    __slots__ = ("first", "named", "pressing", "termed")

    def __init__(self) -> None:
        self.termed: dict[str, dict[str, None]] = {}
        self.named: dict[str, dict[str, None]] = {}
        self.pressing: list[tuple[int, str]] = []
        self.first = FOREVER

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waiting) and all(getattr(self, a) == getattr(other, a) for a in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def add(self, note: str, record: Note) -> None:
        """A note begins to wait."""
        for posted, features in ((self.termed, record.terms), (self.named, record.names)):
            for feature in features:
                posted.setdefault(feature, {})[note] = None
        if record.presses < FOREVER:
            insort(self.pressing, (record.presses, note))
        self.first = min(self.first, record.deadline)

    def drop(self, note: str, record: Note) -> None:
        """A note waits no more; the caller sets `first` anew."""
        for posted, features in ((self.termed, record.terms), (self.named, record.names)):
            for feature in features:
                notes = posted[feature]
                del notes[note]
                if not notes:
                    del posted[feature]
        if record.presses < FOREVER:
            del self.pressing[bisect_left(self.pressing, (record.presses, note))]


QUEUES = ("due/", "past/")
DIGITS = 20


def _waiting(state: State) -> Waiting:
    waiting = Waiting()
    for queue in QUEUES:
        for key in state.keys(queue):
            note = key[len(queue) + DIGITS + 1 :]
            record = state.get(f"note/{note}", Note)
            if record is not None:
                waiting.add(note, record)
    return waiting


def _queued(note: str, record: Note) -> str:
    return f"{QUEUES[record.historic]}{record.deadline:0{DIGITS}}/{note}"


def _first(state: State) -> int:
    heads = [state.keys(queue, 1) for queue in QUEUES]
    return min((int(head[0].split("/", 2)[1]) for head in heads if head), default=FOREVER)


def step(params: TtlEscalationsParams, state: State, event: Root) -> Sequence[Derived]:
    """Opens, surfaces, escalates and closes notes."""
    if isinstance(event, TurnRead):
        now = _now(state, event.turn.at)
        waiting = state.index(_waiting)
        out: list[Derived] = []
        if waiting.first <= now:
            _expire(params, state, waiting, event.turn.space, now, params.expiries, out)
        role = event.turn.role
        if role == "user" or role == "assistant":
            if waiting.first < FOREVER:
                _surface(params, state, waiting, now, event, out)
            if role == "user" and (found := reminders(event.turn.content, event.text.terms)):
                _infer(params, state, waiting, event, found, out)
        return out
    return _fact(params, state, event)


def _now(state: State, at: int) -> int:
    """The space's now: the greatest `at` folded."""
    clock = state.get("clock", Clock)
    if clock is None:
        clock = Clock(at)
    elif at > clock.now:
        clock.now = at
    else:
        return clock.now
    state.put("clock", clock)
    return at


def _fact(params: TtlEscalationsParams, state: State, read: FactRead) -> list[Derived]:
    fact = read.fact
    now = _now(state, fact.at)
    waiting = state.index(_waiting)
    out: list[Derived] = []
    left = params.expiries
    if waiting.first <= now:
        left = _expire(params, state, waiting, fact.space, now, left, out)
    match fact:
        case NoteTaken():
            _take(params, state, waiting, fact, read.recorded_at, out)
            if waiting.first <= now and left >= 2:  # it came late: its time was out before it was known
                _expire(params, state, waiting, fact.space, now, left, out)
        case NoteSettled():
            _close(state, waiting, fact.note, fact.space, fact.session, fact.at, fact.resolution, out)
        case TurnRetracted():
            _retract(state, waiting, fact, out)
        case SessionEnded():
            if waiting.first < FOREVER or state.get(f"talk/{fact.session}", Talk) is not None:
                state.put(f"talk/{fact.session}", Talk(ended=now))
        case (
            ClockTicked() | EffortDeclared() | EffortClosed() | EffortReopened() | OfferDeclined() | ImportanceFlagged()
            | SummaryWritten()
        ):  # fmt: skip
            pass
    return out


def _expire(
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
    waiting.first = _first(state)
    return writes


def _take(
    params: TtlEscalationsParams, state: State, waiting: Waiting, taken: NoteTaken, recorded_at: int, out: list[Derived]
) -> None:
    opened = NoteOpened(
        taken.space, taken.session, taken.at, taken.note, _cut(taken.content, MAX_CONTENT),
        _deadline(params, taken.at, taken.ttl), r6(taken.priority), taken.source, _cut(taken.context, MAX_CONTEXT),
        "", False,
    )  # fmt: skip
    _open(params, state, waiting, opened, recorded_at, out)


def _infer(
    params: TtlEscalationsParams,
    state: State,
    waiting: Waiting,
    read: TurnRead,
    found: list[Reminder],
    out: list[Derived],
) -> None:
    """Opens the notes that a user's words ask for."""
    turn = read.turn
    for ordinal, reminder in enumerate(found):
        priority: float = getattr(params, reminder.kind)
        opened = NoteOpened(
            turn.space, turn.session, turn.at, derived_id("note", turn.space, turn.id, ordinal),
            _cut(reminder.content, MAX_CONTENT), _deadline(params, turn.at, reminder.ttl), r6(priority), "inferred",
            _cut(turn.content, MAX_CONTEXT) if reminder.vague else "", turn.id, False,
        )  # fmt: skip
        _open(params, state, waiting, opened, read.recorded_at, out)
    # What was just said need not come back while it is among the last turns.
    key = f"talk/{turn.session}"
    talk = state.get(key, Talk) or Talk()
    if not talk.turns or talk.turns[-1] != _short(turn.space, turn.id):
        _turn_on(talk, params.window, _short(turn.space, turn.id), [])
    state.put(key, talk)


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
        opened.session, _cut(" ".join(opened.content[:2_000].split()), EXCERPT), opened.at, opened.deadline,
        opened.priority, opened.historic, opened.turn, _presses(params, opened, ttl), kept, phrases, named,
    )  # fmt: skip
    state.put(f"note/{note}", record)
    state.put(_queued(note, record), Due(note))
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


def _effective(params: TtlEscalationsParams, note: Note, now: int) -> float:
    left = (note.deadline - now) / max(1, note.deadline - note.opened)
    factor = params.last_factor if left < params.last_left else params.late_factor if left < params.late_left else 1.0
    return r6(min(1.0, note.priority * factor))


def _remove(state: State, waiting: Waiting, note: str) -> Note | None:
    """Forgets a note, waiting or escalated."""
    record = state.get(f"note/{note}", Note)
    if record is None:
        return None
    key = _queued(note, record)
    if state.get(key, Due):
        state.delete(key)
        waiting.drop(note, record)
        if waiting.first == record.deadline:
            waiting.first = _first(state)
    state.delete(f"note/{note}")
    return record


def _close(
    state: State, waiting: Waiting, note: str, space: str, session: str, at: int, resolution: str, out: list[Derived]
) -> None:
    record = _remove(state, waiting, note)
    if record is not None:
        out.append(NoteClosed(space, session or record.session, at, note, _cut(resolution, MAX_CONTENT)))


def _retract(state: State, waiting: Waiting, retracted: TurnRetracted, out: list[Derived]) -> None:
    """What a retracted turn asked for is withdrawn, and its words are matched no longer."""
    space, turn = retracted.space, retracted.turn
    for ordinal in range(MAX_REMINDERS):
        note = derived_id("note", space, turn, ordinal)
        record = state.get(f"note/{note}", Note)
        if record is not None and record.turn == turn:
            _close(state, waiting, note, space, retracted.session, retracted.at, "retracted", out)
    talk = state.get(f"talk/{retracted.session}", Talk)
    if talk is not None and (short := _short(space, turn)) in talk.turns:
        talk.hits[talk.turns.index(short)] = []
        state.put(f"talk/{retracted.session}", talk)


def _surface(
    params: TtlEscalationsParams, state: State, waiting: Waiting, now: int, read: TurnRead, out: list[Derived]
) -> None:
    """Shows the notes that press, and those whose matter the talk came to."""
    turn, text = read.turn, read.text
    hits: list[str] = []
    if not waiting.termed.keys().isdisjoint(text.terms):
        hits = [stem for stem in text.terms if stem in waiting.termed]
    named = [name for name in text.names if name in waiting.named] if waiting.named and text.names else []
    key = f"talk/{turn.session}"
    talk = state.get(key, Talk)
    pressing = bool(waiting.pressing) and waiting.pressing[0][0] <= now
    if not (hits or named or pressing or talk):
        return
    visit = Visit(params, state, now, turn, talk or Talk(), _short(turn.space, turn.session))
    fresh = _shared(visit, waiting, hits, named) if hits or named else {}
    shown = _matches(visit, fresh, text.terms, hits, named) if fresh else []
    if pressing:
        matched = {one.note for one in shown}
        for note in _newest(waiting.pressing, now, params.pressing):
            if note not in matched and (record := _fresh(visit, note)):
                shown.append(Shown(note, record, "priority"))
    if shown:
        _show(visit, shown, out)
    _remember(visit, key, hits if fresh else [])


class Visit(NamedTuple):
    """A turn that may bring notes back, and what is known of its session."""

    params: TtlEscalationsParams
    state: State
    now: int
    turn: TurnRecorded
    talk: Talk
    visitor: str


class Shown(NamedTuple):
    """A note to surface, and why."""

    note: str
    record: Note
    reason: str


def _newest(pressing: list[tuple[int, str]], now: int, count: int) -> list[str]:
    end = bisect_right(pressing, now, key=lambda entry: entry[0])
    return [note for _, note in pressing[max(0, end - count) : end]]


def _fresh(visit: Visit, note: str) -> Note | None:
    """The note, where its time is not out and this visit has not seen it, nor heard its own turn just now."""
    record = visit.state.get(f"note/{note}", Note)
    if record is None or record.deadline <= visit.now:
        return None
    last = record.shown.get(visit.visitor)
    if last is not None and visit.now - last < visit.params.cooldown * HOUR and visit.talk.ended < last:
        return None
    if record.turn and _short(visit.turn.space, record.turn) in visit.talk.turns:
        return None
    return record


def _shared(visit: Visit, waiting: Waiting, hits: list[str], named: list[str]) -> dict[str, Note]:
    """The fresh ones of the notes that share the most with a turn, `MAX_LIKELY` at most."""
    alike, levels = visit.params.alike, _levels(visit.params)
    sums: dict[str, float] = {}
    for stem in hits:
        notes = waiting.termed[stem]
        if len(notes) <= alike:
            worth = levels[CLASSES[stem]]
            for note in notes:
                sums[note] = sums.get(note, 0.0) + worth
    for name in named:
        notes = waiting.named[name]
        if len(notes) <= alike:
            worth = _name_weight(visit.params, name)
            for note in notes:
                sums[note] = sums.get(note, 0.0) + worth
    if len(sums) > MAX_LIKELY:
        sums = dict(sorted(sums.items(), key=lambda entry: (-entry[1], entry[0]))[:MAX_LIKELY])
    return {note: record for note in sums if (record := _fresh(visit, note)) is not None}


def _matches(visit: Visit, fresh: dict[str, Note], said: list[str], hits: list[str], named: list[str]) -> list[Shown]:
    """The notes whose matter the talk came to, with the word that says so."""
    params, before, levels = visit.params, _before(visit.params, visit.talk), _levels(visit.params)
    weight = {stem: levels[CLASSES[stem]] for stem in hits}
    weight.update({f"@{name}": _name_weight(params, name) for name in named})
    phrases = [f"{one} {two}" for one, two in pairwise(said) if one in weight and two in weight]
    thin = 1 + max(0, len(said) - params.long) / (2 * params.long)
    return [
        Shown(note, record, reason)
        for note, record in fresh.items()
        if (reason := _weigh(params, record, weight, phrases, before, thin))
    ]


def _weigh(
    params: TtlEscalationsParams,
    record: Note,
    weight: dict[str, float],
    phrases: list[str],
    before: dict[str, float],
    thin: float,
) -> str:
    """The heaviest word a note shares with the talk, "" where all of them together do not weigh enough."""
    shared = [stem for stem in record.terms if stem in weight]
    shared += [f"@{name}" for name in record.names if f"@{name}" in weight]
    sure = sum(weight[word] for word in shared if weight[word] >= params.enough)
    soft = sum(weight[word] for word in shared if weight[word] < params.enough)
    soft += params.phrase * sum(phrase in record.phrases for phrase in phrases)
    if before:
        soft += sum(before[stem] for stem in record.terms if stem in before and stem not in weight)
    if soft and sure < params.enough:
        levels = _levels(params)
        if soft >= params.most * sum(levels[CLASSES[stem]] for stem in record.terms):
            soft += params.whole
    if not shared or sure + soft / thin + EPSILON < params.enough:
        return ""
    return max(shared, key=lambda word: weight[word]).removeprefix("@")


def _before(params: TtlEscalationsParams, talk: Talk) -> dict[str, float]:
    """What the words of the window's earlier turns weigh."""
    if params.window < 2 or not any(talk.hits):
        return {}
    levels = _levels(params)
    return {stem: params.before * levels[CLASSES[stem]] for hits in talk.hits[1 - params.window :] for stem in hits}


def _levels(params: TtlEscalationsParams) -> tuple[float, float, float, float]:
    """What a word weighs, by its class: LIGHT, COMMON, ORDINARY, RARE."""
    return 0.0, params.common, params.ordinary, params.rare


def _name_weight(params: TtlEscalationsParams, name: str) -> float:
    """What a name adds to the weight of its words: a path or number tells the matter, a plain name has told it."""
    if name.isalnum() and (len(name) <= 3 or name.isalpha()):
        return params.capital if name.isalpha() and _common_name(name) else 0.0
    return params.rare


@lru_cache(maxsize=4096)
def _common_name(name: str) -> bool:
    return any(rarity(stem) < RARE for stem in terms(name)[0])


def _show(visit: Visit, shown: list[Shown], out: list[Derived]) -> None:
    """Surfaces the most pressing."""
    now, turn = visit.now, visit.turn
    ranked = sorted(
        ((-_effective(visit.params, one.record, now), one.record.deadline, one) for one in shown),
        key=lambda entry: (entry[0], entry[1], entry[2].note),
    )
    for priority, _, (note, record, reason) in ranked[: visit.params.shown]:
        record.shown[visit.visitor] = now
        while len(record.shown) > MAX_SESSIONS:
            del record.shown[min(record.shown, key=lambda seen: (record.shown[seen], seen))]
        visit.state.put(f"note/{note}", record)
        out.append(NoteSurfaced(turn.space, turn.session, turn.at, note, turn.id, -priority, reason))


def _remember(visit: Visit, key: str, hits: list[str]) -> None:
    """The window moves on by a turn that hit fresh notes, or none; where it holds nothing, nothing is kept."""
    turn, talk = visit.turn, visit.talk
    row = sorted(hits, key=rarity, reverse=True)[:MAX_HITS]
    if not row and not any(talk.turns):
        return
    _turn_on(talk, visit.params.window, _short(turn.space, turn.id) if row else "", row)
    if any(talk.turns) or talk.ended >= 0:
        visit.state.put(key, talk)
    else:
        visit.state.delete(key)


def _turn_on(talk: Talk, window: int, turn: str, row: list[str]) -> None:
    talk.turns = [*talk.turns, turn][-window:]
    talk.hits = [*talk.hits, row][-window:]


def _short(space: str, name: str) -> str:
    """An id of a turn or session, or a hash of it where it is long."""
    return name if len(name) <= 40 else derived_id("id", space, name)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


PROCESSOR = Processor(
    name="ttl_escalations",
    version=1,
    reads=ROOT,
    params=TtlEscalationsParams,
    emits=(NoteOpened, NoteSurfaced, NoteEscalated, NoteArchived, NoteClosed),
    step=step,
)
