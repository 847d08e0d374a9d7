"""The fact that direct access derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived

KINDS = ("plan", "conclusion", "assumption", "fact")
"""What a session's notes may be."""


@dataclass(slots=True)
class SessionNoted(Derived):
    """A note of a session, as it stands now. All that is known of it."""

    note: str
    kind: Literal["plan", "conclusion", "assumption", "fact"]
    text: str
    """As it was said."""
    turn: str
    """Where it was said; "" where an agent took it down."""
    status: Literal["current", "superseded", "passed", "retracted", "settled"]
    """superseded: another took its place, or the work that it concluded is not over; passed: it gave way to newer ones;
    settled: an agent says it is done with."""
    by: str
    """The note that took its place; "" for none."""
    type: Literal["session-noted.v1"] = "session-noted.v1"
