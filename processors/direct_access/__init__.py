"""Direct access: what a session stands on, at hand without a search: plans, conclusions, assumptions, key facts.

    plan         a sentence that says what is going to be done      "the plan is to ship on Friday"
    assumption   a sentence that says it is not sure                "I assume that the disk is full"
    conclusion   what a segment came to (see manifest)
    fact         what is stated of somebody or something            (see contradictions)

and `note-taken` facts that name one of these, as their context or before a colon ("plan: ship on Friday"). A later note
of the same kind on the same matter takes the place of the earlier one, which is kept and says by what: on the same
matter are notes that share most of their stems, a third where the turn corrects ("actually", "change of
plan"), and statements of which one contradicts the other. Where the later one is retracted, the earlier stands again. A
conclusion does not stand where its work is opened again, or its trouble is back. A session has at most six current
notes of a kind: the oldest gives way. Source: direct-access notes of CogMem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from processors.contradictions import BeliefContradicted, BeliefRestored, BeliefStated
from processors.direct_access.events import SessionNoted
from processors.direct_access.section import NOTED
from processors.manifest import SegmentConcluded
from processors.open_efforts import EffortConcluded, EffortResumed, TurnThreaded
from processors.open_efforts.undone import undone
from streams.core.events import NoteSettled, NoteTaken, TurnRecorded, TurnRetracted
from streams.core.params import Params, param
from streams.core.patterns import lazily
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on
from streams.core.read_model import Group, Joins, Keep, read_model
from streams.core.text.marks import Marks
from streams.core.text.named import kind_named
from streams.core.text.telling import excerpt, sentences
from streams.core.text.terms import terms
from streams.core.text.within import first_bytes

COGMEM = "CogMem"


class DirectAccessParams(Params):
    """How a session's notes are kept."""

    most: int = param(6, "notes", "of a kind; more is no longer at hand", COGMEM, ge=1, le=6)
    alike: float = param(
        0.6, "share of stems", "that two notes of a kind share: they are on the same matter", ge=0, le=1
    )
    corrected: float = param(0.34, "share of stems", "the same where the later turn corrects", ge=0, le=1)


TEXT, STEMS, STEM, READS = 160, 6, 24, 480
"""Characters of a note, stems of it, characters of a stem, characters of a turn that are read."""
_MARKS = (
    *("plan", "going to", "next step", "assum", "suppos", "presum", "my guess", "hypothes", "vermut", "nehme an"),
    *("werden wir", "wir werden", "on va ", "nous allons", "vamos a", "voy a"),
)
"""Parts of a turn that may hold a plan or an assumption: others are not read."""
_MAY_SAY = Marks(*_MARKS)
_RULES = (
    (
        "assumption",
        re.compile(
            r"\b(?:I|we|let['’]s|let us|I['’]m|we['’]re|I am|we are) (?:just |only )?(?:assum|suppos|presum)\w+"
            r"|\b(?:assuming|presumably|supposedly|my guess is|(?:my|our|the) (?:assumption|hypothesis))\b"
            r"|\bich (?:nehme an|vermute)\b|\b(?:angenommen|vermutlich)\b"
            r"|\bje suppose\b|\bsupposons\b|\bsupongo\b|\bsupongamos\b",
            re.IGNORECASE,
        ),
    ),
    (
        "plan",
        re.compile(
            r"\b(?:my|our|the|new) plan(?: now| then)? is\b|\b(?:I|we) (?:now )?plan to\b"
            r"|\bnext steps? (?:is|are|will be)\b"
            r"|\b(?:I['’]m|we['’]re|I am|we are) (?:now |first )?(?:going|planning) to (?!be\b|have\b|need\b)\w+"
            r"|\b(?:der|mein|unser) plan ist\b|\bwir werden\b|\bwerden wir\b"
            r"|\ble plan est\b|\b(?:on va|nous allons) \w+er\b|\bel plan es\b|\bvamos a \w+r\b|\bvoy a \w+r\b",
            re.IGNORECASE,
        ),
    ),
)
_CORRECTS = lazily(
    r"\b(?:actually|instead|scratch that|change of plan|on second thought|correction|rather than|no longer|turns out"
    r"|doch lieber|stattdessen|finalement|plutôt|en realidad|mejor)\b",
    re.IGNORECASE,
)
_SAYING = frozenset(("plan", "assum", "suppos", "presum", "guess", "assumpt", "hypothesi", "step"))
"""Stems that say what a note is, and not what it is about."""
_NAMED = lazily(r"\s*(?:key )?(plan|conclusion|assumption|fact)\b", re.IGNORECASE)
_NONE: tuple[Derived, ...] = ()
NOTE, TURN, SAID, ON = range(4)
"""What is kept of a note: its id, its turn, its text, stems (of a fact: what it is about)."""
CHAIN = 6
"""Notes that are remembered of those that stood one after the other before a current one."""


@dataclass(slots=True)
class Notes:
    """State, `KIND/<session>`: the current notes of a kind, the oldest first; `before/<note>`: of a current note, whose
    place it took, whose place that one took, and so on."""

    rows: list[list[Any]] = field(default_factory=list)


@dataclass(slots=True)
class Noted:
    """State, `noted/<turn>`: where the notes of a turn stand: session and kind of each; `gone/<turn>`: those that a
    statement of another session took the place of: session, kind, and what is kept of the note; `quoted/<turn>`: the
    conclusions that quote it: session, and the turn that concluded."""

    rows: list[list[Any]] = field(default_factory=list)


@dataclass(slots=True)
class Given:
    """State, `given/<note>`: of a note that an agent took down, where it stands."""

    session: str
    kind: str


@dataclass(slots=True)
class Came:
    """State, `effort/<effort>`: the last conclusion that was noted of an effort: its session and turn."""

    session: str
    turn: str


@dataclass(slots=True)
class _Book:
    """The notes of one kind of a session, and what was told of them."""

    state: State
    kind: Any
    cause: Any
    at: int
    other: str = ""
    """The session, where it is not that of the cause."""

    @property
    def session(self) -> str:
        return self.other or str(self.cause.session)

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.session}"

    def told(self, row: Sequence[Any], status: Any, by: str = "") -> Derived:
        """A note as it stands now."""
        cause = self.cause
        return SessionNoted(cause.space, self.session, self.at, row[NOTE], self.kind, row[SAID], row[TURN], status, by)

    def rows(self) -> list[list[Any]]:
        """The current notes."""
        notes = self.state.get(self.key, Notes)
        return notes.rows if notes is not None else []

    def keep(self, rows: list[list[Any]]) -> None:
        """These are the current ones from now on."""
        self.state.put(self.key, Notes(rows))

    def before(self, row: Sequence[Any]) -> list[list[Any]]:
        """The notes that stood before a current one, the last first."""
        notes = self.state.get(f"before/{row[NOTE]}", Notes)
        return notes.rows if notes is not None else []

    def follow(self, row: Sequence[Any], before: list[list[Any]]) -> None:
        """A current note took the place of these."""
        if before:
            self.state.put(f"before/{row[NOTE]}", Notes(before[:CHAIN]))
        else:
            self.state.delete(f"before/{row[NOTE]}")

    def replace(self, row: Sequence[Any], older: Sequence[Any]) -> Derived:
        """A note took the place of one that is no longer among the current ones."""
        before = [[*older], *self.before(older), *self.before(row)]
        self.follow(older, [])
        self.follow(row, before)
        return self.told(older, "superseded", row[NOTE])

    def add(self, row: list[Any], older: int, most: int) -> list[Derived]:
        """Adds a note, which takes the place of the one at `older` (-1: of none)."""
        rows = self.rows()
        out = []
        if older >= 0:
            out.append(self.replace(row, rows.pop(older)))
        while len(rows) >= most:
            out.append(self.told(rows[0], "passed"))
            self.follow(rows.pop(0), [])
        self.keep([*rows, row])
        if row[TURN]:
            noted = self.state.get(f"noted/{row[TURN]}", Noted) or Noted()
            place = [self.session, self.kind]
            if place not in noted.rows:
                self.state.put(f"noted/{row[TURN]}", Noted([*noted.rows, place]))
        return [*out, self.told(row, "current")]

    def drop(self, what: int, which: str, status: str) -> list[Derived]:
        """Takes the notes out that have `which` as their NOTE or TURN; where one was current, the one before it stands
        again, and where one stood before others, it does not come back."""
        rows, out = self.rows(), []
        for place, row in reversed([*enumerate(rows)]):
            before = self.before(row)
            left = [one for one in before if one[what] != which]
            for newer, one in zip([row, *before], before, strict=False):
                if one[what] == which:
                    out.append(self.told(one, status))
                elif newer[what] == which and row[what] != which:
                    above = next(old for old in reversed([row, *before[: before.index(one)]]) if old[what] != which)
                    out.append(self.told(one, "superseded", above[NOTE]))
            if row[what] == which:
                out.append(self.told(row, status))
                self.follow(row, [])
                rows[place : place + 1] = left[:1]
                if left:
                    self.follow(left[0], left[1:])
                    out.append(self.told(left[0], "current"))
            elif len(left) < len(before):
                self.follow(row, left)
        if out:
            self.keep(rows)
        return out


def _cut(text: str) -> str:
    """The beginning of a text, bounded in bytes."""
    return first_bytes(" ".join(text.split()), TEXT)


def _stems(text: str) -> list[str]:
    return [stem[:STEM] for stem in terms(text)[0] if stem not in _SAYING][:STEMS]


def _take(params: DirectAccessParams, book: _Book, note: str, turn: str, text: str, corrects: bool) -> list[Derived]:
    """Takes a note down, in the place of one on the same matter."""
    text = _cut(text)
    rows, stems = book.rows(), _stems(text)
    if any(row[SAID] == text for row in rows):
        return []
    shared = [_shared(row[ON], stems) for row in rows]
    most = max(shared, default=0.0)
    older = shared.index(most) if most and most >= (params.corrected if corrects else params.alike) else -1
    return book.add([note, turn, text, stems], older, params.most)


def _shared(one: list[str], other: list[str]) -> float:
    """Of the stems of the shorter, how many the other has."""
    return sum(map(one.__contains__, other)) / max(1, min(len(one), len(other)))


def _turn(params: DirectAccessParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Takes down what a turn plans and assumes."""
    if turn.role not in ("user", "assistant") or not _MAY_SAY.may_be_in(turn.content):
        return _NONE
    content = turn.content[:READS].lower()
    if not any(mark in content for mark in _MARKS):
        return _NONE
    out: list[Derived] = []
    for ordinal, (kind, text) in enumerate(_said(turn.content)):
        note = derived_id(kind, turn.space, turn.id, ordinal)
        out += _take(params, _Book(state, kind, turn, turn.at), note, turn.id, text, bool(_CORRECTS.search(text)))
    return out


def _said(content: str) -> Iterator[tuple[str, str]]:
    """The sentences of a turn that plan or assume, each with which of it; at most two."""
    found = 0
    for told in sentences(excerpt(content, READS)):
        kind = next((kind for kind, rule in _RULES if rule.search(told.text)), "")
        if kind and "asks" not in told.features and found < 2:
            found += 1
            yield kind, told.text


def _concluded(params: DirectAccessParams, state: State, segment: SegmentConcluded, raw: Raw[Any]) -> Sequence[Derived]:
    """What a segment came to."""
    note = derived_id("conclusion", segment.space, segment.turn)
    if segment.quotes:
        quoted = state.get(f"quoted/{segment.quotes}", Noted) or Noted()
        state.put(f"quoted/{segment.quotes}", Noted([*quoted.rows, [segment.session, segment.turn]][-params.most :]))
    return _take(params, _Book(state, "conclusion", segment, segment.at), note, segment.turn, segment.conclusion, False)


def _threaded(
    params: DirectAccessParams, state: State, told: TurnThreaded | EffortConcluded, raw: Raw[Any]
) -> Sequence[Derived]:
    """Where the turn concluded something, it is its effort's conclusion."""
    noted = state.get(f"noted/{told.turn}", Noted) if told.effort and told.turn else None
    if noted is not None and (at := next((at for at, kind in noted.rows if kind == "conclusion"), "")):
        state.put(f"effort/{told.effort}", Came(at, told.turn))
    return _NONE


def _resumed(params: DirectAccessParams, state: State, effort: EffortResumed, raw: Raw[Any]) -> Sequence[Derived]:
    """What it came to does not stand where somebody says that it is not over, or its trouble is back."""
    came = state.get(f"effort/{effort.effort}", Came)
    if came is None:
        return _NONE
    book = _Book(state, "conclusion", effort, effort.at, came.session)
    rows = book.rows()
    row = next((row for row in rows if row[TURN] == came.turn), None)
    if row is None or not undone(effort, raw, row[ON]):
        return _NONE
    state.delete(f"effort/{effort.effort}")
    rows.remove(row)
    book.keep(rows)
    book.follow(row, [])
    return (book.told(row, "superseded"),)


def _stated(params: DirectAccessParams, state: State, belief: BeliefStated, raw: Raw[Any]) -> Sequence[Derived]:
    """What is stated, in the words of its turn."""
    turn = raw.event
    if not isinstance(turn, TurnRecorded) or turn.id != belief.turn:
        return _NONE
    value = belief.value.casefold()
    text = next((told.text for told in sentences(excerpt(turn.content, READS)) if value in told.text.casefold()), "")
    book, text = _Book(state, "fact", belief, belief.at), _cut(text)
    if not text or any(row[SAID] == text for row in book.rows()):
        return _NONE
    about = f"{belief.subject} {belief.attribute}"[: STEM * STEMS]
    note = derived_id("fact", belief.space, f"{belief.turn} {about}")
    return book.add([note, belief.turn, text, [about]], -1, params.most)


def _contradicted(
    params: DirectAccessParams, state: State, belief: BeliefContradicted, raw: Raw[Any]
) -> Sequence[Derived]:
    """A fact takes the place of the one that it contradicts; where its session holds none such, of what the older turn
    noted of the same elsewhere."""
    book = _Book(state, "fact", belief, belief.at)
    rows = book.rows()
    about = [f"{belief.subject} {belief.attribute}"[: STEM * STEMS]]
    said = [row for row in rows if row[TURN] == belief.turn]
    value = belief.value.casefold()
    newer = next((row for row in said if row[ON] == about), None)
    # Why the value: of two statements in one sentence there is one note, on what the first of them is about.
    newer = newer or next((row for row in said if value and value in row[SAID].casefold()), None)
    older = next((row for row in rows if row[TURN] == belief.older and row[ON] == about and row is not newer), None)
    if older is None or newer is None:
        return _elsewhere(state, belief, about, newer[NOTE] if newer is not None else "")
    book.keep([row for row in rows if row is not older])
    return (book.replace(newer, older),)


def _elsewhere(state: State, belief: BeliefContradicted, about: list[str], by: str) -> Sequence[Derived]:
    """The notes of the older turn do not stand any more, in whatever session and of whatever kind they are."""
    noted = state.get(f"noted/{belief.older}", Noted)
    out: list[Derived] = []
    gone = state.get(f"gone/{belief.older}", Noted) or Noted()
    value = belief.older_value.casefold()
    for session, kind in noted.rows if noted is not None else ():
        book = _Book(state, kind, belief, belief.at, session)
        left: list[list[Any]] = []
        for row in book.rows():
            if row[TURN] == belief.older and (row[ON] == about if kind == "fact" else value in row[SAID].casefold()):
                out.append(book.told(row, "superseded", by))
                gone.rows = [*gone.rows, [session, kind, *row]]
            else:
                left.append(row)
        book.keep(left)
    if out:
        state.put(f"gone/{belief.older}", gone)
    return out


def _stands_again(params: DirectAccessParams, state: State, belief: BeliefRestored) -> Sequence[Derived]:
    """What a statement without a note in its session took the place of stands again, where its session has room."""
    gone = state.get(f"gone/{belief.turn}", Noted)
    if gone is None or not belief.current:
        return _NONE
    state.delete(f"gone/{belief.turn}")
    out: list[Derived] = []
    for session, kind, *row in gone.rows:
        book = _Book(state, kind, belief, belief.at, session)
        room = len(book.rows()) < params.most
        book.follow(row, [*filter(partial(_known, state), book.before(row))] if room else [])
        out += book.add(row, -1, params.most) if room else [book.told(row, "passed")]
    return out


def _known(state: State, row: Sequence[Any]) -> bool:
    """Whether a note's turn was not taken back, or the agent not done with it, while nothing led to it."""
    if row[TURN]:
        return state.get(f"noted/{row[TURN]}", Noted) is not None
    return state.get(f"given/{row[NOTE]}", Given) is not None


def _restored(params: DirectAccessParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """A judge says that a fact does not take the other's place: both stand."""
    book = _Book(state, "fact", belief, belief.at)
    rows = book.rows()
    for place, row in enumerate(rows):
        before = book.before(row)
        at = next((at for at, one in enumerate(before) if one[TURN] == belief.turn), -1)
        if at < 0 or (at > 0 and not belief.current):
            continue
        older = before[at]
        book.follow(row, before[:at])
        book.follow(older, before[at + 1 :])
        out = []
        if len(rows) >= params.most:
            out.append(book.told(rows[0], "passed"))
            book.follow(rows.pop(0), [])
        rows.insert(min(place, len(rows)), older)
        book.keep(rows)
        return [*out, book.told(older, "current")]
    return _stands_again(params, state, belief)


def _given(params: DirectAccessParams, state: State, fact: NoteTaken, raw: Raw[NoteTaken]) -> Sequence[Derived]:
    """A note that names its kind, as its context or before a colon."""
    kind, text = kind_named(_NAMED, fact.content, fact.context.rstrip().removesuffix(":"))
    if not kind or not fact.session:
        return _NONE
    note = derived_id("noted", fact.space, fact.note)
    out = _drop(state, fact, note)
    state.put(f"given/{note}", Given(fact.session, kind))
    return [*out, *_take(params, _Book(state, kind, fact, fact.at), note, "", text, True)]


def _settled(params: DirectAccessParams, state: State, fact: NoteSettled, raw: Raw[NoteSettled]) -> Sequence[Derived]:
    """A note that an agent took down is done with."""
    return _drop(state, fact, derived_id("noted", fact.space, fact.note)) if fact.note else _NONE


def _drop(state: State, fact: NoteTaken | NoteSettled, note: str) -> list[Derived]:
    given = state.get(f"given/{note}", Given)
    if given is None:
        return []
    state.delete(f"given/{note}")
    where = NoteSettled(fact.space, fact.id, fact.at, session=given.session)
    return _Book(state, given.kind, where, fact.at).drop(NOTE, note, "settled")


def _retracted(
    params: DirectAccessParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> Sequence[Derived]:
    """Nothing is noted of a turn that was taken back."""
    out: list[Derived] = []
    noted = state.get(f"noted/{fact.turn}", Noted)
    quoted = state.get(f"quoted/{fact.turn}", Noted)
    for key in ("noted", "quoted"):
        state.delete(f"{key}/{fact.turn}")
    gone = state.get(f"gone/{fact.turn}", Noted)
    for session, kind, *row in gone.rows if gone is not None else ():
        _Book(state, kind, fact, fact.at, session).follow(row, [])
    state.delete(f"gone/{fact.turn}")
    for session, kind in noted.rows if noted is not None else ():
        out += _Book(state, kind, fact, fact.at, session).drop(TURN, fact.turn, "retracted")
    for session, turn in quoted.rows if quoted is not None else ():
        out += _Book(state, "conclusion", fact, fact.at, session).drop(TURN, turn, "retracted")
    return out


PROCESSOR = Processor(
    name="direct_access",
    version=5,
    params=DirectAccessParams,
    takes=(
        on(SegmentConcluded, _concluded),
        on(TurnThreaded, _threaded),
        on(EffortConcluded, _threaded),
        on(EffortResumed, _resumed),
        on(BeliefStated, _stated),
        on(BeliefContradicted, _contradicted),
        on(BeliefRestored, _restored),
        on(TurnRecorded, _turn),
        on(NoteTaken, _given),
        on(NoteSettled, _settled),
        on(TurnRetracted, _retracted),
    ),
    emits=(SessionNoted,),
    reads=("turns", "manifest", "open_efforts", "contradictions"),
    read_model=read_model(
        __package__,
        keeps=(Keep(SessionNoted, ("note",), "session_notes"),),
        groups=(Group("session notes", "note", {SessionNoted: Joins(by="session", only=("status", "current"))}),),
        sections=(NOTED,),
    ),
)
