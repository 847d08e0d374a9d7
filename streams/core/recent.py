"""The last turns of a space, for what is kept of a turn only as long as it is one of them: so a space's records do not
grow with its history."""

from __future__ import annotations

from streams.core.dataclasses import dataclass
from streams.core.processor import State

RECENT = 4096
"""Turns that are the last ones of a space."""


@dataclass(slots=True)
class Entered:
    """State, `recent`: how many turns were entered, and the last one; `recent/<number modulo RECENT>`: a turn."""

    number: int
    turn: str


def enter(state: State, turn: str) -> str:
    """Enters a turn as the last one of its space; the one that is none of the last any more, "" where there is none."""
    last = state.get("recent", Entered)
    number = last.number + 1 if last is not None else 0
    place = f"recent/{number % RECENT}"
    gone = state.get(place, Entered)
    for key in ("recent", place):
        state.put(key, Entered(number, turn))
    return gone.turn if gone is not None else ""
