"""The facts that working_context derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived

Change = Literal["entered", "left", "expanded", "condensed", "concluded", "recalled", "dropped"]


@dataclass(slots=True)
class ContextChanged(Derived):
    """An effort entered a session's context, left it, or is shown in another way."""

    turn: str
    effort: str
    change: Change
    """`left` goes back to the open efforts; `concluded` stays as a summary, `dropped` ends that."""
    score: float
    reason: str
    """mentioned, similar, resumed or relevant; displaced, concluded, revised or retracted; relevant or faded;
    unreferenced, crowded (too many summaries) or resumed."""
    other: str
    """The effort that displaced it, or that it displaced; "" for none."""
    other_score: float = 0.0
    """The score of `other` at that moment, so that the row alone tells why."""
    type: Literal["context-changed.v1"] = "context-changed.v1"


@dataclass(slots=True)
class ContextScored(Derived):
    """The context of a session from here on. Lists of the same length, most relevant first.

    It is scored anew by a turn that brings something else, by a user turn every 8 turns, and where a conclusion,
    resumption, revision or retraction changes it in between. While the talk goes on with the effort in hand it stands
    still, and none is written (and so a model's prompt cache holds).
    """

    turn: str
    efforts: list[str]
    """The open ones, then recalled and concluded ones whose summaries are kept."""
    scores: list[float]
    modes: list[str]
    """summary or expanded for open efforts, recalled or concluded for the others."""
    signals: list[str]
    """What made the score: names out of mentioned, similar, recent, important, connected, untouched, unconnected."""
    similarities: list[float]
    """How alike the turn and the effort are, 0 to 1."""
    recencies: list[float]
    """How strong the trace of its use in this session is, 0 to 1."""
    idle: list[int]
    """Turns since it was last touched in this session; user turns for recalled and concluded ones."""
    touched: list[str]
    """The efforts that this user turn mentions or pulls in, for co-activation; empty for what is no user turn."""
    activations: list[float]
    """Their relevance, 0 to 1; same length as `touched`."""
    type: Literal["context-scored.v1"] = "context-scored.v1"
