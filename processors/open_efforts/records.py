"""What open_efforts keeps: records in the space's state, and the inverted index over the last active efforts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from streams.processor import State

ACTIVE = 512
"""Slots of the table of the last active efforts; the parameter `active` uses at most so many."""
RECENT = 4096
"""Turns of a space whose effort is remembered exactly: what revisions, retractions and references need."""
TERMS, NAMES = 96, 48
"""Terms and names kept of an effort: the most used ones. Why: a record stays below 8 KB."""
WORD = 40
"""Longer words tell nothing that their number would not, and would make records large."""


@dataclass(slots=True)
class Space:
    """State, `space`: how much was threaded."""

    turns: int = 0
    touched: int = 0
    """How often an effort became the last active one."""


@dataclass(slots=True)
class Effort:
    """State, `effort/<id>`: a unit of work."""

    session: str
    """Where it was worked on last."""
    at: int
    name: str = ""
    topic: str = ""
    declared: bool = False
    status: Literal["open", "concluded"] = "open"
    importance: Literal["normal", "high"] = "normal"
    turns: int = 0
    segments: int = 0
    live: list[str] = field(default_factory=list)
    """Its segments that are neither closed nor concluded, the last 8."""
    seen: int = 0
    """The space's `touched` when it was active last."""
    terms: dict[str, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    """Terms, with their number, of its last turn that was not the user's: what an answer would speak of."""
    parted: bool = False
    """Whether its user said good-bye last."""
    summaries: dict[str, str] = field(default_factory=dict)
    """Of its last segments."""


@dataclass(slots=True)
class Session:
    """State, `session/<id>`: who speaks, and what is going on."""

    turns: int = 0
    users: list[str] = field(default_factory=list)
    """The first few distinct agents in the role of the user."""
    effort: str = ""
    """Of the last turn that had one."""
    last: str = ""
    """Effort of the very last turn."""
    segment: str = ""
    declared: str = ""
    stays: int = 0
    switches: int = 0
    """How often the user went on with the current effort, and how often not; fading."""
    recent: list[str] = field(default_factory=list)
    """Its efforts, last active last; at most 8."""
    pending: list[str] = field(default_factory=list)
    """Turns of small talk just before, which belong to what follows; at most 4."""


@dataclass(slots=True)
class Speaker:
    """State, `speaker/<session>/<agent>`: whom an agent talks to."""

    at: int = 0
    turn: int = -1
    effort: str = ""
    began: str = ""
    """The effort that the agent began last."""
    called_at: int = 0
    """When someone addressed the agent last."""
    called_turn: int = -1
    called_effort: str = ""
    partners: dict[str, list[int | str]] = field(default_factory=dict)
    """Whom the agent talked with: when, and about which effort. The last 8."""
    declared: str = ""
    pending: str = ""
    """A greeting just said, which belongs to what the agent says next."""


@dataclass(slots=True)
class Said:
    """State, `turn/<n modulo RECENT>`: what a recent turn gave to its effort, so that it can be taken back."""

    turn: str
    session: str
    agent: str
    effort: str
    segment: str
    terms: list[str]
    counts: list[int]
    names: list[str]


@dataclass(slots=True)
class Segment:
    """State, `segment/<id>`: the efforts its turns belong to, with the number of turns; at most 8."""

    efforts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Named:
    """State, `name/<name>`: the efforts that a name stands for, last used last; at most 8."""

    efforts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Slot:
    """State, `active/<number>`: one of the last active efforts."""

    effort: str


@dataclass(slots=True)
class Active:
    """The last active efforts, by what they speak of. Rebuilt from slots, efforts and recent turns."""

    slots: dict[str, int] = field(default_factory=dict)
    """Effort to slot, the least recently active first."""
    terms: dict[str, dict[str, None]] = field(default_factory=dict)
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    """Recent turn to its number."""

    def enter(self, effort_id: str, effort: Effort, slot: int) -> None:
        """The effort is among the active ones."""
        self.slots[effort_id] = slot
        for term in effort.terms:
            self.terms.setdefault(term, {})[effort_id] = None
        for name in effort.names:
            self.names.setdefault(name, {})[effort_id] = None

    def leave(self, effort_id: str, effort: Effort) -> int:
        """The effort is no longer active; gives its slot."""
        for term in effort.terms:
            self.drop(self.terms, term, effort_id)
        for name in effort.names:
            self.drop(self.names, name, effort_id)
        return self.slots.pop(effort_id)

    @staticmethod
    def drop(postings: dict[str, dict[str, None]], key: str, effort_id: str) -> None:
        """Takes an effort out of the postings of `key`."""
        found = postings.get(key)
        if found is not None:
            found.pop(effort_id, None)
            if not found:
                del postings[key]


def active(state: State) -> Active:
    """The index, from the records: slots in order of last activity."""
    index = Active()
    found: list[tuple[int, int, str, Effort]] = []
    for number in range(ACTIVE):
        slot = state.get(f"active/{number}", Slot)
        if slot is None:
            break
        effort = state.get(f"effort/{slot.effort}", Effort)
        if effort is not None:
            found.append((effort.seen, number, slot.effort, effort))
    for _, number, effort_id, effort in sorted(found, key=lambda entry: entry[:2]):
        index.enter(effort_id, effort, number)
    space = state.get("space", Space)
    total = space.turns if space else 0
    for n in range(max(0, total - RECENT), total):
        said = state.get(f"turn/{n % RECENT}", Said)
        if said is not None and said.turn:
            index.turns[said.turn] = n
    return index


def add(index: Active, effort_id: str, effort: Effort, said: Said, sign: int = 1) -> None:
    """Adds what a turn said to an active effort's profile, or takes it back with `sign` -1."""
    live = effort_id in index.slots
    _count(effort.terms, said.terms, said.counts, sign, index.terms if live else None, effort_id, TERMS)
    if said.names:
        ones = [1] * len(said.names)
        _count(effort.names, said.names, ones, sign, index.names if live else None, effort_id, NAMES)


def _count(
    profile: dict[str, int],
    words: list[str],
    counts: list[int],
    sign: int,
    postings: dict[str, dict[str, None]] | None,
    effort_id: str,
    limit: int,
) -> None:
    for word, count in zip(words, counts, strict=False):
        old = profile.get(word)
        if sign > 0:
            if old is None:
                if len(word) > WORD:
                    continue
                profile[word] = count
                if postings is not None:
                    found = postings.get(word)
                    if found is None:
                        postings[word] = {effort_id: None}
                    else:
                        found[effort_id] = None
            else:
                profile[word] = old + count
        elif old is not None:
            if old > count:
                profile[word] = old - count
            else:
                del profile[word]
                if postings is not None:
                    Active.drop(postings, word, effort_id)
    if len(profile) > limit:
        # The least used leave, the oldest first among equals (dicts keep the order of first use).
        for word in sorted(profile, key=profile.__getitem__)[: len(profile) - limit * 2 // 3]:
            del profile[word]
            if postings is not None:
                Active.drop(postings, word, effort_id)
