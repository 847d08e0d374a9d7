"""What the dynamics of memories have in common: the Hebbian rule, and what users and agents say of a memory.

Hebb (1949), bounded by 1:  strength <- kept + eta * a * b * (1 - kept);  kept = strength * 2^(-idle / half_life)
Rescorla & Wagner (1972):   reward   <- reward + rate * (received - reward)
"""

from __future__ import annotations

from typing import Literal, Protocol

from streams.core.events import ImportanceFlagged, MemoryPinned, MemoryRewarded
from streams.core.processor import r6

Mark = ImportanceFlagged | MemoryPinned | MemoryRewarded
"""What is said of a memory from outside."""


def kept(strength: float, idle: float, half_life: float) -> float:
    """What is left of a link's strength after `idle` days of disuse."""
    left: float = strength * 0.5 ** (idle / half_life)
    return left


def grown(strength: float, eta: float, a: float, b: float) -> float:
    """A link's strength after a use that found its ends active by `a` and `b`, 0 to 1."""
    return strength + eta * a * b * (1 - strength)


class Marked(Protocol):
    """A record of what was said of a memory."""

    important: bool
    pinned: bool
    reward: float


def mark(memory: Marked, fact: Mark, rate: float) -> Literal["flagged", "pinned", "rewarded"]:
    """Writes a mark into a memory's record; returns what happened. A reward moves the mean of rewards by `rate`."""
    match fact:
        case ImportanceFlagged():
            memory.important = fact.importance == "high"
            return "flagged"
        case MemoryPinned():
            memory.pinned = fact.pinned
            return "pinned"
        case MemoryRewarded():
            memory.reward = r6(memory.reward + rate * (fact.reward - memory.reward))
            return "rewarded"


def marked_turns(fact: Mark) -> list[str]:
    """The turns that a mark is about, each once."""
    return [*dict.fromkeys(fact.turns)] if isinstance(fact, MemoryRewarded) else [fact.turn]
