"""What notes put into a context: those that the talk just came to, the most pressing others that wait, and questions
that were raised and stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple, TypeVar

from processors.ttl_escalations.events import NoteDoubted, NoteEscalated, NoteMoved, NoteOpened, NoteSurfaced
from processors.ttl_escalations.notes import in_figures, in_full
from processors.ttl_escalations.params import TtlEscalationsParams, effective_priority
from streams.core.dynamics import kept
from streams.core.events import DAY, HOUR, MINUTE, iso
from streams.core.params import Params, param
from streams.core.processor import r6
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.recurring import in_words
from streams.core.text.within import clip

T = TypeVar("T", NoteSurfaced, NoteDoubted)
PAPER = "three-column working memory"
READ = 5_000
"""Notes that wait in a space and are looked at, the newest."""
LOOKED = 24
"""Notes that surfaced in a session and are looked at, the last."""


class NotesParams(Params):
    """How notes are shown."""

    most: int = param(8, "notes", "the most pressing; more are a list nobody reads", PAPER, ge=0)
    turns: int = param(
        3, "turns", "the last ones, in which a note surfaced that comes first: then the talk went on", ge=0
    )
    line: int = param(48, "tokens", "a note is a line", ge=8)
    stands: float = param(
        4.0, "days", "a question is worth half so long after it was raised: who does not answer it does not mind", gt=0
    )


def notes(params: TtlEscalationsParams, own: NotesParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The notes that wait: those that surfaced lately or may be done, then by effective priority.

    A question that was raised, and that nobody answers, is worth less from day to day, till it is asked no more: else
    it would stand in all talk of the space for ever. Its matter still brings it back.
    """
    asked = read.members("notes", "asked", READ).newest
    raised = read.kept(NoteEscalated, asked)
    waiting = read.kept(NoteOpened, [*read.members("notes", "waiting", READ).newest, *asked])
    since = deadlines(waiting, read)
    pressing = {
        note: effective_priority(params, one.priority, since[note].at, since[note].deadline, ask.now)
        for note, one in waiting.items()
    }
    for note, escalated in raised.items():
        if note in pressing:
            pressing[note] = r6(pressing[note] * kept(1.0, max(0, ask.now - escalated.at) / DAY, own.stands))
    last = _last(own.turns, read)
    lately = _told_by(last, NoteSurfaced, "surfaced", ask, read)
    doubted = _told_by(last, NoteDoubted, "doubted", ask, read)
    at_hand = lately.keys() | doubted.keys()
    order = sorted(waiting, key=lambda note: (note not in at_hand, -pressing[note], since[note], note))
    for note in order[: own.most]:
        one = waiting[note]
        asked_by = doubted.get(note) or raised.get(note)
        question = asked_by.question if asked_by else ""
        told = {
            "note": note, "content": one.content, "question": question, "priority": one.priority,
            "effective_priority": pressing[note], "opened_at": iso(one.at), "deadline": iso(since[note].deadline),
            "every": one.every, "source": one.source, "turn": one.turn,
        }  # fmt: skip
        words = clip(" ".join((question or _told(params, one, since[note])).split()), own.line)
        left = due(since[note].deadline, ask.now)
        reason = "the user is to be asked" if question else f"due {left}"
        if note in lately:
            reason = f"{reason}, surfaced by {lately[note].reason}"
        worth = 1.0 if note in at_hand else pressing[note]  # nothing waits more than what the talk is about
        yield Piece(note, reason, worth, f"- {left}: {words} [{note}]", quotes=(one.turn,), data=told)


class Since(NamedTuple):
    """Since when a note waits for its time, and when that is: UTC microseconds."""

    at: int
    deadline: int
    moved: bool
    """Whether a turn put it there: the note's own words may name another time."""


def deadlines(notes: Mapping[str, NoteOpened], read: Reader) -> dict[str, Since]:
    """When notes are due, by their ids: where they were put last, or came again."""
    moved = read.kept(NoteMoved, notes, NoteOpened)
    found = {note: moved.get(note) or one for note, one in notes.items()}
    return {
        note: Since(one.at, one.deadline, isinstance(one, NoteMoved) and one.reason == "moved")
        for note, one in found.items()
    }


def _told(params: TtlEscalationsParams, one: NoteOpened, since: Since) -> str:
    """What a note tells, how it comes again and again, and where it was moved."""
    again = [in_words(one.every)] if one.every else []
    if since.moved:
        again.append(f"now due {in_figures(since.deadline, params.zone)}")
    return in_full(one.content, one.context, one.source) + (f" ({', '.join(again)})" if again else "")


def _last(turns: int, read: Reader) -> set[str]:
    """The session's last turns."""
    return {turn.id for turn in islice(read.session(), turns)}


def _told_by(last: set[str], kind: type[T], group: str, ask: Ask, read: Reader) -> dict[str, T]:
    """What the session's last turns told of notes (that they come back, that they may be done), the last first."""
    newest = read.members(group, ask.session, LOOKED).newest
    told = read.kept(kind, newest)
    return {note: told[note] for note in newest if note in told and told[note].turn in last}


def due(deadline: int, now: int) -> str:
    """`in 3 h`, `in 20 min`, `in 2 days`, or `overdue`."""
    left = deadline - now
    if left <= 0:
        return "overdue"
    if left < HOUR:
        return f"in {left // MINUTE} min"
    return f"in {left // HOUR} h" if left < 48 * HOUR else f"in {left // (24 * HOUR)} days"


class SurfacedParams(Params):
    """Which notes the column of notes shows."""

    turns: int = param(3, "turns", "the last ones, in which a note surfaced that is shown: then the talk went on", ge=1)
    line: int = param(48, "tokens", "a note is a line", ge=8)


def surfaced(params: TtlEscalationsParams, own: SurfacedParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The notes that the session's last turns brought back, the last first."""
    lately = _told_by(_last(own.turns, read), NoteSurfaced, "surfaced", ask, read)
    opened = read.kept(NoteOpened, [*lately])
    since = deadlines(opened, read)
    for note, why in lately.items():
        if note in opened:
            one = opened[note]
            words = clip(" ".join(_told(params, one, since[note]).split()), own.line)
            line = f"- {due(since[note].deadline, ask.now)}: {words} [{note}]"
            reason, data = f"surfaced by {why.reason}", {"turn": why.turn}
            yield Piece(note, reason, why.priority, line, quotes=(one.turn,), data=data)


NOTES = Section("notes", 20, "To come back to", NotesParams, notes)
SURFACED = Section("notes_column", 20, "Notes", SurfacedParams, surfaced, layer="columns", window="columns", apart=True)
