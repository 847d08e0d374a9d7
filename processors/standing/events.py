"""What is told of what somebody said to hold from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streams.core.processor import Derived, Moment

Ended = Literal["", "superseded", "settled", "retracted"]
Status = Literal["current", "repeated", "superseded", "settled", "retracted"]


@dataclass(slots=True)
class StandingTold(Derived):
    """Somebody said something that holds from then on, as it stands now. All that is known of it."""

    id: str
    turn: str
    """Where it was said; "" where it was taken down as a note."""
    note: str
    """The note, by its own name; "" where it was said."""
    source: Literal["said", "taken"]
    """Whether it was said, or taken down as a note."""
    text: str
    """The turn where it is short, for its sentences explain each other; else the sentence."""
    said_at: Moment
    """When it was said or taken down; `at` is when that was told of it which is told here."""
    likelihood: float
    """That it holds from then on: 1 where it was taken down."""
    status: Status
    """repeated: it was said again in the same words; superseded: a later statement took its place; settled: somebody
    says that it holds no more."""
    by: str
    """The turn that took its place; "" for none."""
    why: list[str]
    """The strongest signals that it holds, and what each weighs, in hundredths of log odds."""
    type: Literal["standing-told.v1"] = "standing-told.v1"
