"""Whether what a piece of work came to holds, once the work is open again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from processors.open_efforts.events import EffortResumed
from streams.core.processor import Raw


def undone(resumed: EffortResumed, raw: Raw[Any], stems: Iterable[str]) -> bool:
    """Whether a conclusion of these stems does not hold: an agent says that the work is not over, or the turn that goes
    on with it tells of trouble with just that. Other work on the same matter leaves it as it is."""
    if resumed.reason == "reopened":
        return True
    trouble = resumed.turn == raw.event.id and "problem" in raw.text.patterns
    return trouble and not {*stems}.isdisjoint(raw.text.terms)
