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
from typing import Any

from processors.contradictions import BeliefContradicted, BeliefRestored, BeliefStated
from processors.direct_access.events import KINDS, SessionNoted
from processors.direct_access.section import NOTED
from processors.manifest import SegmentConcluded
from processors.open_efforts import EffortConcluded, EffortResumed, TurnThreaded
from processors.open_efforts.undone import undone
from streams.core.events import NoteSettled, NoteTaken, TurnRecorded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on
from streams.core.read_model import Group, Joins, Keep, read_model
from streams.core.text.marks import Marks
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
_CORRECTS = re.compile(
    r"\b(?:actually|instead|scratch that|change of plan|on second thought|correction|rather than|no longer|turns out"
    r"|doch lieber|stattdessen|finalement|plutôt|en realidad|mejor)\b",
    re.IGNORECASE,
)
_SAYING = frozenset(("plan", "assum", "suppos", "presum", "guess", "assumpt", "hypothesi", "step"))
"""Stems that say what a note is, and not what it is about."""
_NAMED = re.compile(r"\s*(?:key )?(plan|conclusion|assumption|fact)\b:?\s*", re.IGNORECASE)
_NONE: tuple[Derived, ...] = ()
NOTE, TURN, SAID, ON, BEFORE = range(5)
"""What is kept of a note: its id, its turn, its text, stems (of a fact: what it is about), and the note whose place it
took, kept in the same way ([] for none)."""


@dataclass(slots=True)
class Notes:
    """State, `KIND/<session>`: the current notes of a kind, the oldest first."""

    rows: list[list[Any]] = field(default_factory=list)


@dataclass(slots=True)
class Noted:
    """State, `noted/<turn>`: where the notes of a turn stand: session and kind of each; `gone/<turn>`: those that a
    statement of another session took the place of: session, kind, and what is kept of the note."""

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

    def add(self, row: list[Any], older: int, most: int) -> list[Derived]:
        """Adds a note, which takes the place of the one at `older` (-1: of none)."""
        rows = self.rows()
        out = []
        if older >= 0:
            row[BEFORE] = rows.pop(older)[:BEFORE]
            out.append(self.told(row[BEFORE], "superseded", row[NOTE]))
        while len(rows) >= most:
            out.append(self.told(rows.pop(0), "passed"))
        self.keep([*rows, row])
        if row[TURN]:
            noted = self.state.get(f"noted/{row[TURN]}", Noted) or Noted()
            place = [self.session, self.kind]
            if place not in noted.rows:
                self.state.put(f"noted/{row[TURN]}", Noted([*noted.rows, place]))
        return [*out, self.told(row, "current")]

    def drop(self, place: int, status: str) -> list[Derived]:
        """Takes a note out; the one whose place it took stands again."""
        rows = self.rows()
        row = rows.pop(place)
        out = [self.told(row, status)]
        if row[BEFORE]:
            rows.insert(place, [*row[BEFORE], []])
            out.append(self.told(row[BEFORE], "current"))
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
    return book.add([note, turn, text, stems, []], older, params.most)


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
    return book.add([note, belief.turn, text, [about], []], -1, params.most)


def _contradicted(
    params: DirectAccessParams, state: State, belief: BeliefContradicted, raw: Raw[Any]
) -> Sequence[Derived]:
    """A fact takes the place of the one that it contradicts; where its session holds none such, of what the older turn
    noted of the same elsewhere."""
    book = _Book(state, "fact", belief, belief.at)
    rows = book.rows()
    about = [f"{belief.subject} {belief.attribute}"[: STEM * STEMS]]
    older = next((row for row in rows if row[TURN] == belief.older and row[ON] == about), None)
    if older is None:
        return _elsewhere(state, belief, about, next((row[NOTE] for row in rows if row[TURN] == belief.turn), ""))
    newer = next((row for row in rows if row[TURN] == belief.turn and row is not older), None)
    left = [row for row in rows if row is not older]
    if newer is not None:
        newer[BEFORE] = older[:BEFORE]
    book.keep(left)
    return (book.told(older, "superseded", newer[NOTE] if newer is not None else ""),)


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
                gone.rows = [*gone.rows, [session, kind, *row[:BEFORE]]]
            else:
                left.append(row)
        book.keep(left)
    if out:
        state.put(f"gone/{belief.older}", gone)
    return out


def _stands_again(params: DirectAccessParams, state: State, belief: BeliefRestored) -> Sequence[Derived]:
    """What a statement of another session took the place of stands again, where its session has room."""
    gone = state.get(f"gone/{belief.turn}", Noted)
    if gone is None or not belief.current:
        return _NONE
    state.delete(f"gone/{belief.turn}")
    out: list[Derived] = []
    for session, kind, *row in gone.rows:
        out += _Book(state, kind, belief, belief.at, session).add([*row, []], -1, params.most)
    return out


def _restored(params: DirectAccessParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """A judge says that a fact does not take the other's place: both stand."""
    book = _Book(state, "fact", belief, belief.at)
    rows = book.rows()
    for place, row in enumerate(rows):
        if row[BEFORE] and row[BEFORE][TURN] == belief.turn:
            older, row[BEFORE] = row[BEFORE], []
            out = [book.told(rows.pop(0), "passed")] if len(rows) >= params.most else []
            rows.insert(min(place, len(rows)), [*older, []])
            book.keep(rows)
            return [*out, book.told(older, "current")]
    return _stands_again(params, state, belief)


def _given(params: DirectAccessParams, state: State, fact: NoteTaken, raw: Raw[NoteTaken]) -> Sequence[Derived]:
    """A note that names its kind, as its context or before a colon."""
    named = _NAMED.fullmatch(fact.context)
    if named is None and (named := _NAMED.match(fact.content)) is not None and ":" not in named.group():
        named = None
    if named is None or not fact.session:
        return _NONE
    kind = named.group(1).lower()
    text = fact.content[named.end() :] if named.string is fact.content else fact.content
    note = derived_id("noted", fact.space, fact.note)
    out = _drop(state, fact, note)
    state.put(f"given/{note}", Given(fact.session, kind))
    return [*out, *_take(params, _Book(state, kind, fact, fact.at), note, "", text or fact.content, True)]


def _settled(params: DirectAccessParams, state: State, fact: NoteSettled, raw: Raw[NoteSettled]) -> Sequence[Derived]:
    """A note that an agent took down is done with."""
    return _drop(state, fact, derived_id("noted", fact.space, fact.note)) if fact.note else _NONE


def _drop(state: State, fact: NoteTaken | NoteSettled, note: str) -> list[Derived]:
    given = state.get(f"given/{note}", Given)
    if given is None:
        return []
    state.delete(f"given/{note}")
    where = NoteSettled(fact.space, fact.id, fact.at, session=given.session)
    book = _Book(state, given.kind, where, fact.at)
    place = next((place for place, row in enumerate(book.rows()) if row[NOTE] == note), -1)
    return book.drop(place, "settled") if place >= 0 else []


def _retracted(
    params: DirectAccessParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> Sequence[Derived]:
    """Nothing is noted of a turn that was taken back."""
    out: list[Derived] = []
    state.delete(f"noted/{fact.turn}")
    state.delete(f"gone/{fact.turn}")
    for kind in KINDS:
        book = _Book(state, kind, fact, fact.at)
        places = [place for place, row in enumerate(book.rows()) if row[TURN] == fact.turn]
        for place in reversed(places):
            out += book.drop(place, "retracted")
        rows = book.rows()
        if any(row[BEFORE] and row[BEFORE][TURN] == fact.turn for row in rows):
            for row in rows:
                if row[BEFORE] and row[BEFORE][TURN] == fact.turn:
                    out.append(book.told(row[BEFORE], "retracted"))
                    row[BEFORE] = []
            book.keep(rows)
    return out


PROCESSOR = Processor(
    name="direct_access",
    version=4,
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
