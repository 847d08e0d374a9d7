"""Escalations: notes with a time to live, which surface, escalate or fade.

Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from streams.events import HOUR, NoteSettled, NoteTaken
from streams.processor import ROOT, Derived, Params, Processor, State, param
from streams.text import FactRead, Root, TurnRead


@dataclass(slots=True)
class NoteOpened:
    """A note waits, taken by an agent or inferred from a turn."""

    space: str
    session: str
    at: int
    note: str
    content: str
    deadline: int
    """UTC microseconds."""
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
    type: Literal["note-closed.v1"] = "note-closed.v1"


class TtlEscalationsParams(Params):
    """How long notes live, and what happens then."""

    normal: int = param(24, "hours", "'later', 'when you get a chance'", source="three-column working memory", gt=0)


@dataclass(slots=True)
class Note:
    """State, `note/<id>`: an open note."""

    content: str
    deadline: int


def step(params: TtlEscalationsParams, state: State, event: Root) -> list[Derived]:
    """Opens, surfaces, escalates and closes notes."""
    return list(_step(params, state, event))


def _step(params: TtlEscalationsParams, state: State, event: Root) -> Iterator[Derived]:
    match event:
        case TurnRead():
            pass
        case FactRead(fact=NoteTaken() as note):
            deadline = note.at + params.normal * HOUR
            state.put(f"note/{note.note}", Note(note.content, deadline))
            yield NoteOpened(
                note.space, note.session, note.at, note.note, note.content, deadline, note.priority, note.source,
                note.context, "", deadline < event.recorded_at,
            )  # fmt: skip
        case FactRead(fact=NoteSettled() as settled):
            if state.get(f"note/{settled.note}", Note):
                state.delete(f"note/{settled.note}")
                yield NoteClosed(settled.space, settled.session, settled.at, settled.note, settled.resolution)
        case FactRead():
            pass


PROCESSOR = Processor(
    name="ttl_escalations",
    version=1,
    reads=ROOT,
    params=TtlEscalationsParams,
    emits=(NoteOpened, NoteSurfaced, NoteEscalated, NoteArchived, NoteClosed),
    step=step,
)
