"""What notes put into a context: the most pressing ones that wait, and questions that were raised and stand."""

from __future__ import annotations

from collections.abc import Iterator

from processors.ttl_escalations.params import TtlEscalationsParams, effective_priority
from streams.core.events import HOUR, MINUTE, iso
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.within import clip

PAPER = "three-column working memory"


class NotesParams(Params):
    """How notes are shown."""

    most: int = param(8, "notes", "the most pressing; more are a list nobody reads", PAPER, ge=0)
    line: int = param(48, "tokens", "a note is a line", ge=8)


def notes(params: TtlEscalationsParams, own: NotesParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The notes that wait, by effective priority."""
    ranked = []
    for note, content, priority, opened, deadline, source, turn, question in read.rows("notes"):
        pressing = effective_priority(params, priority, opened, deadline, ask.now)
        told = {
            "note": note, "content": content, "question": question, "priority": priority,
            "effective_priority": pressing, "opened_at": iso(opened), "deadline": iso(deadline), "source": source,
            "turn": turn,
        }  # fmt: skip
        words = clip(" ".join((question or content).split()), own.line)
        reason = "the user is to be asked" if question else f"due {due(deadline, ask.now)}"
        line = f"- {due(deadline, ask.now)}: {words} [{note}]"
        ranked.append((-pressing, deadline, note, Piece(note, reason, pressing, line, data=told)))
    ranked.sort(key=lambda one: one[:3])
    yield from (piece for *_, piece in ranked[: own.most])


def due(deadline: int, now: int) -> str:
    """`in 3 h`, `in 20 min`, `in 2 days`, or `overdue`."""
    left = deadline - now
    if left <= 0:
        return "overdue"
    if left < HOUR:
        return f"in {left // MINUTE} min"
    return f"in {left // HOUR} h" if left < 48 * HOUR else f"in {left // (24 * HOUR)} days"


def sections(queries: dict[str, str]) -> tuple[Section, ...]:
    """The section, with its queries."""
    return (Section("notes", 20, "To come back to", NotesParams, notes, queries),)
