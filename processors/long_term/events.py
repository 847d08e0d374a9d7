"""The facts that long-term memory derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived

KINDS = ("solution", "failure", "preference", "fact")
"""What an entry may be: how a problem was solved, what did not work, how somebody wants it, what is so."""
Kind = Literal["solution", "failure", "preference", "fact"]
Status = Literal["active", "contradicted", "misled", "expired", "collected", "retracted"]


@dataclass(slots=True)
class EntryDistilled(Derived):
    """An entry of long-term memory, as it stands now. All that is known of it."""

    session: str
    """The session that it was distilled from."""
    entry: str
    kind: Kind
    text: str
    """What worked, or what is so; a sentence that was said, or what a model wrote instead."""
    problem: str
    """Of a solution: what was asked or wrong; "" where nobody said it."""
    failed: list[str]
    """Of a solution: what was tried before, and did not work."""
    by: str
    """Who said it; "" where an agent took it down."""
    turns: list[str]
    """Its source, what asked for it first; empty where an agent took it down."""
    status: Status
    """active: new sessions may load it; contradicted: a later statement took its place; misled: its use was rewarded
    so; expired: not loaded for long; collected: forgotten, after it had fallen out for long, others took its room, or
    its work was opened again."""
    why: str
    """What brought it there, in words for a person."""
    model: str = ""
    """Who wrote its words; "" for the rules."""
    type: Literal["entry-distilled.v1"] = "entry-distilled.v1"


@dataclass(slots=True)
class EntriesLoaded(Derived):
    """What a session was given of earlier ones. The whole of it: only the last such event of a session counts."""

    turn: str
    """The turn that called for the newest of them; "" where the session inherited them."""
    entries: list[str]
    """Those that fit best first; inherited ones before them."""
    fits: list[float]
    """How well each fits, 0 to 1; same length."""
    whys: list[str]
    """Why each was loaded: the words that it shares with the turn, or the session it was inherited from."""
    type: Literal["entries-loaded.v1"] = "entries-loaded.v1"
