"""What long-term memory keeps: entries, which of them words call for, and which were used least lately."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from functools import lru_cache
from math import log
from typing import Any

from processors.long_term.events import EntryDistilled, Status
from streams.core.dataclasses import dataclass, field
from streams.core.processor import State
from streams.core.text.commonness import CLASSES, LIGHT, weight
from streams.core.text.terms import terms

NEVER = 1 << 62
WAITING = "waiting"
"""Of an entry whose session is not over: it is not told yet, and nobody is given it."""
STEMS, STEM, SOURCES, OF_TURN = 20, 24, 5, 4
"""Stems of an entry and characters of each; turns of an entry; entries of a turn."""
SPEAKER = 0.35
"""What the speaker's name says, if it is shared."""


@dataclass(slots=True)
class Entry:
    """State, `entry/<entry>`: an entry; `kind` to `model` as in EntryDistilled."""

    session: str
    kind: Any
    text: str
    problem: str
    failed: list[str]
    by: str
    turns: list[str]
    segment: str
    """Of the manifest, where it was concluded in one."""
    worth: int
    """Beside others of its session."""
    note: str
    """The session's note that it is made of; "" for none."""
    status: Any = WAITING
    used: int = 0
    """When it was distilled, last loaded or rewarded."""
    stems: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    """Stems of what it concluded, beside those of its words."""
    tried: list[str] = field(default_factory=list)
    """The turns of `failed`."""
    model: str = ""
    due: int = 0
    """When it is looked at, its `due/` key's time; 0 while it waits."""

    def words(self) -> list[str]:
        """The stems by which it is found."""
        text = f"{self.problem} {self.text} {' '.join(self.failed)}"
        found = (stem[:STEM] for stem in (*terms(text)[0], *self.tags) if CLASSES[stem] > LIGHT)
        return list(dict.fromkeys(found))[:STEMS]


@dataclass(slots=True)
class Session:
    """State, `session/<session>`: what waits in a session, what became of it, and what it was given."""

    assisted: bool = False
    """Whether an assistant spoke: thanks are for help, not among friends."""
    asked: bool = False
    """Whether its first turn that says something has called for entries."""
    waiting: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    fits: list[float] = field(default_factory=list)
    whys: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Effort:
    """State, `effort/<effort>`: where the last solution of an effort was found."""

    session: str
    segment: str


@dataclass(slots=True)
class Last:
    """State, `last/<session>`: of a session in which something waits, its last turn, and its `due/` key's time."""

    at: int
    due: int


@dataclass(slots=True)
class Sourced:
    """State, `turn/<turn>`: the entries that were made of a turn."""

    entries: list[str]


@dataclass(slots=True)
class Due:
    """State, `due/<time>/s/<session>` and `due/<time>/e/<entry>`: when to look at it."""


def first_due(state: State) -> int:
    """When something falls due first."""
    keys = state.keys("due/", 1)
    return int(keys[0][4:24]) if keys else NEVER


class Index:
    """The entries by their words, by when they were used, and what is due first. A pure function of the records."""

    __slots__ = ("by_use", "due", "holding")

    def __init__(self, state: State) -> None:
        self.due = first_due(state)
        self.holding: dict[str, dict[str, None]] = {}
        self.by_use: list[tuple[int, str]] = []
        for key, entry in state.scan("entry/", Entry):
            if entry.status != WAITING:
                insort(self.by_use, (entry.used, key[6:]))
            if entry.status == "active":
                self.add(key[6:], entry)

    def add(self, id: str, entry: Entry) -> None:
        """Words find it from now on."""
        for stem in entry.stems:
            self.holding.setdefault(stem, {})[id] = None

    def remove(self, id: str, entry: Entry) -> None:
        """Words find it no longer."""
        for stem in entry.stems:
            held = self.holding.get(stem, {})
            held.pop(id, None)
            if not held:
                self.holding.pop(stem, None)

    def use(self, id: str, entry: Entry, at: int) -> None:
        """It is used at a time; -1 where it is gone."""
        place = bisect_left(self.by_use, (entry.used, id))
        if place < len(self.by_use) and self.by_use[place] == (entry.used, id):
            del self.by_use[place]
        if at >= 0:
            entry.used = at
            insort(self.by_use, (at, id))

    def fitting(self, asked: Iterable[str], sure: float, share: float) -> dict[str, tuple[float, list[str]]]:
        """How well entries fit some stems, 0 to 1, and the stems that each shares with them.

            points = sum of weight(stem) * rarity(stem) over what is shared
            fit    = points / max(sure, share * sum of weight(stem) over all that are asked), or, where that is more and
                     two or more are shared, min(1, points) * sqrt(share of what is asked that is shared, by weight)

        rarity: log(1 + entries / entries with the stem), 1 for one that only one entry has.
        """
        weights = {stem[:STEM]: weight(stem) for stem in asked if CLASSES[stem] > LIGHT}
        total = sum(weights.values())
        entries = max(len(self.by_use), 1)
        points: dict[str, float] = {}
        shared: dict[str, list[str]] = {}
        for stem, says in weights.items():
            held = self.holding.get(stem, {})
            worth = says * log(1 + entries / max(len(held), 1)) / log(1 + entries)
            for id in held:
                points[id] = points.get(id, 0.0) + worth
                shared.setdefault(id, []).append(stem)
        full, found = max(sure, share * total), {}
        for id, told in points.items():
            stems = shared[id]
            covered = sum(map(weights.__getitem__, stems)) / total if len(stems) > 1 else 0.0
            found[id] = min(1.0, max(told / full, min(1.0, told) * covered**0.5)), stems
        return found


@lru_cache(maxsize=1024)
def stems_of(name: str) -> tuple[str, ...]:
    """The stems of a speaker's name; a memo of a pure function."""
    return tuple(terms(name)[0])


def told(space: str, at: int, id: str, entry: Entry, why: str, gone: Status | None = None) -> EntryDistilled:
    """An entry as it stands now."""
    return EntryDistilled(
        space, entry.session, at, id, entry.kind, entry.text, entry.problem, [*entry.failed], entry.by,
        [*entry.turns], gone or entry.status, why, entry.model,
    )  # fmt: skip


def sourced(state: State, turn: str) -> list[tuple[str, Entry]]:
    """The entries that were made of a turn."""
    known = state.get(f"turn/{turn}", Sourced) if turn else None
    ids = known.entries if known is not None else []
    return [(id, entry) for id in ids if (entry := state.get(f"entry/{id}", Entry)) is not None]


def link(state: State, id: str, entry: Entry) -> None:
    """Its turns lead to it."""
    for turn in entry.turns:
        known = state.get(f"turn/{turn}", Sourced) or Sourced([])
        if id not in known.entries and len(known.entries) < OF_TURN:
            known.entries = [*known.entries, id]
            state.put(f"turn/{turn}", known)


def forget(state: State, id: str, entry: Entry) -> None:
    """Nothing is left of an entry."""
    state.delete(f"entry/{id}")
    for turn in entry.turns:
        known = state.get(f"turn/{turn}", Sourced)
        if known is not None and id in known.entries:
            known.entries = [one for one in known.entries if one != id]
            if known.entries:
                state.put(f"turn/{turn}", known)
            else:
                state.delete(f"turn/{turn}")
