"""The last statements of a space, and which of them a new one may be about.

Each statement has a slot in a ring; what a word stands for is a bit mask of slots. So work per turn is bounded whatever
the length of history: words that many statements use find nothing by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from processors.contradictions.pairs import Setting
from processors.contradictions.reading import Reading
from streams.core.processor import State

SLOTS = 2048
"""Statements looked at: the last ones of a space. Of a talkative person, about a year's."""
RARE, FEW = 8, 2
"""A word that more statements use finds only so many of them."""
FOUND = 3
"""Statements compared with a new one: those that share most; where it changes something, the session's LAST, too."""
LAST = 3
_COUNT = 63
_WORTH = [0, *(((16 // (users + 3) + 1) << 6) + (users <= 6) for users in range(1, RARE + 2))]
"""What a shared word is worth, by how many use it; in the last six bits, whether it counts as rare."""
MAX_TERMS, MAX_NAME, MAX_NUMBERS = 24, 40, 8
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(slots=True)
class Statement:
    """State, `slot/<number>`: a turn that may state something."""

    turn: str
    number: int
    """How many statements came before it; its slot is that, modulo SLOTS."""
    at: int
    session: str
    who: str
    """Who said it."""
    role: str
    text: str
    words: list[str]
    """By which it is found; none once it was taken back."""


@dataclass(slots=True)
class Index:
    """Rebuilt from the statements."""

    count: int = 0
    slots: dict[int, Statement] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, list[int]] = field(default_factory=dict)
    """The slots of a session's last statements, the newest last."""

    def enter(self, statement: Statement) -> int:
        """Adds a statement, in the place of the oldest where there is no room; its slot."""
        slot = statement.number % SLOTS
        if slot in self.slots:
            self.leave(slot)
        self.slots[slot] = statement
        self.turns[statement.turn] = slot
        self.count = max(self.count, statement.number + 1)
        bit = 1 << slot
        for word in statement.words:
            self.words[word] = self.words.get(word, 0) | bit
        last = self.sessions.setdefault(statement.session, [])
        last.append(slot)
        del last[:-LAST]
        return slot

    def leave(self, slot: int) -> None:
        """Forgets a statement."""
        gone = self.slots.pop(slot)
        self.turns.pop(gone.turn, None)
        for word in gone.words:
            self._drop(word, slot)
        last = self.sessions.get(gone.session, [])
        if slot in last:
            last.remove(slot)
            if not last:
                del self.sessions[gone.session]

    def silence(self, slot: int) -> Statement:
        """A statement was taken back: it keeps its place and is found no more."""
        statement = self.slots[slot]
        for word in statement.words:
            self._drop(word, slot)
        statement.words = []
        return statement

    def _drop(self, word: str, slot: int) -> None:
        left = self.words.get(word, 0) & ~(1 << slot)
        if left:
            self.words[word] = left
        else:
            self.words.pop(word, None)

    def near(self, words: Iterable[str], session: str, who: str, last: bool) -> list[tuple[int, Setting]]:
        """The slots of the statements that share the rarest words with a new one by `who` in a session, where `last`
        also of those that were just said there; and how they stand to it."""
        shared: dict[int, int] = {}
        for word in words:
            mask = self.words.get(word, 0)
            users = mask.bit_count()
            for _ in range(users if users <= RARE else FEW):
                slot = mask.bit_length() - 1
                mask ^= 1 << slot
                shared[slot] = shared.get(slot, 0) + _WORTH[min(users, RARE + 1)]
        slots = self.slots
        best = sorted(shared, key=lambda slot: (-shared[slot], -slots[slot].number))[:FOUND]
        recent = self.sessions.get(session, [])
        if last:
            best += [slot for slot in recent if slot not in best]
        found = []
        for slot in best:
            other = slots[slot]
            if other.words:
                rare = min(shared.get(slot, 0) & _COUNT, 4)
                found.append((slot, Setting(other.who == who, slot in recent, rare)))
        return found


def index(state: State) -> Index:
    """The index, from the records."""
    found = Index()
    for _, statement in sorted(state.scan("slot/", Statement), key=lambda one: one[1].number):
        found.enter(statement)
    return found


def words_of(terms: Sequence[str], names: Sequence[str], said: str) -> list[str]:
    """The words by which a statement is found: the first of its terms, its names and its numbers."""
    found = dict.fromkeys(terms[:MAX_TERMS])
    for name in names:
        found[name[:MAX_NAME]] = None
    if not said.isalpha():
        for number in _NUMBER.findall(said)[:MAX_NUMBERS]:
            found[f"={number}"] = None
    return [*found]


def keyed(reading: Reading, who: str) -> list[str]:
    """What else a statement is found by: what its speaker tells of by it."""
    about = 0
    for clause in reading.clauses:
        about |= clause.about
    return [f"@{place} {who}" for place in range(about.bit_length()) if about >> place & 1]
