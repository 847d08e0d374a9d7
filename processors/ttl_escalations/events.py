"""The facts that ttl_escalations derives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streams.core.processor import Derived, Moment


@dataclass(slots=True)
class NoteOpened(Derived):
    """A note waits, taken by an agent or inferred from a turn."""

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
    every: str = ""
    """How it comes again and again, as a rule of iCalendar (RFC 5545), FREQ=WEEKLY;BYDAY=MO; "" where it does not."""
    type: Literal["note-opened.v1"] = "note-opened.v1"


@dataclass(slots=True)
class NoteMoved(Derived):
    """A note is due at another time from now on."""

    note: str
    deadline: Moment
    reason: Literal["moved", "done", "again", "undone"]
    """moved: a turn put it there; done: it is done for this time, and comes again; again: its time came again;
    undone: the turn that had moved it, or told that it is done, does not stand, or did not mean that."""
    turn: str
    """The turn that moved it, or that told that it is done for this time; "" where none did."""
    historic: bool
    """Whether that time lay before the note was recorded."""
    why: list[str]
    """The strongest signals by which a turn did, and what each weighs, in hundredths of log odds."""
    type: Literal["note-moved.v1"] = "note-moved.v1"


@dataclass(slots=True)
class NoteSurfaced(Derived):
    """A note is shown in a session because the talk came to it, or because it is pressing."""

    note: str
    turn: str
    priority: float
    """Effective, 0 to 1."""
    reason: str
    """priority, effort (the talk came back to its effort), or the shared name or term."""
    type: Literal["note-surfaced.v1"] = "note-surfaced.v1"


@dataclass(slots=True)
class NoteEscalated(Derived):
    """A note's time ran out and it matters: the user is asked. Dated at the deadline."""

    note: str
    question: str
    type: Literal["note-escalated.v1"] = "note-escalated.v1"


@dataclass(slots=True)
class NoteArchived(Derived):
    """A note's time ran out and it matters little. Dated at the deadline."""

    note: str
    type: Literal["note-archived.v1"] = "note-archived.v1"


@dataclass(slots=True)
class NoteClosed(Derived):
    """A note was settled before or after its time ran out."""

    note: str
    resolution: str
    """As settled: what was said of it, or the words of the turn that told that it is done; "retracted" where the turn
    it was inferred from was retracted, "TURN took its place" where another statement did."""
    turn: str
    """The turn that told that it is done, or needed no more; "" where a fact settled it."""
    why: list[str]
    """The strongest signals by which it did, and what each weighs, in hundredths of log odds."""
    type: Literal["note-closed.v1"] = "note-closed.v1"


@dataclass(slots=True)
class NoteReopened(Derived):
    """A note that was settled waits again, as it was: what settled it does not stand, or did not mean that."""

    note: str
    status: Literal["waiting", "asked", ""]
    """asked: its time had run out before it was settled, and the user was asked; "" where it is historic."""
    turn: str
    """The turn that had settled it."""
    type: Literal["note-reopened.v1"] = "note-reopened.v1"


@dataclass(slots=True)
class NoteDoubted(Derived):
    """A turn may have told that a note is done, or needed no more: likely, but not sure. Whoever answers may ask."""

    note: str
    turn: str
    question: str
    likelihood: float
    """0 to 1."""
    why: list[str]
    """The strongest signals for and against it, and what each weighs, in hundredths of log odds."""
    type: Literal["note-doubted.v1"] = "note-doubted.v1"
