"""The last statements of a space, and which of them a new one may be about.

Each statement has a slot in a ring; what a word stands for is a bit mask of slots. So work per turn is bounded whatever
the length of history: words that many statements use find nothing by themselves.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from processors.contradictions.pairs import Setting
from processors.contradictions.reading import Reading
from streams.core.patterns import lazily
from streams.core.processor import State
from streams.core.text.alike import table

SLOTS = 2048
"""Statements looked at: the last ones of a space. Of a talkative person, about a year's."""
RARE, FEW = 8, 2
"""A word that more statements use finds only so many of them."""
FOUND = 3
"""Statements compared with a new one: those that share most; where it changes something, the session's LAST, too."""
LAST = 3
MEANT, LATEST = 8, 6
"""Statements that a turn may change without saying so: those that share most, and the speaker's last; where alike words
count, as many of the speaker's that are most alike."""
MAX_DOUBTS = 2
"""Older turns whose place a turn may take without saying so plainly: which of two is meant is seldom sure."""
OF_EFFORT = 8
"""The last of the same effort, which it may change, too: most changes are of the work that the talk is about."""
_COUNT = 63
_WORTH = [0, *(((16 // (users + 3) + 1) << 6) + (users <= 6) for users in range(1, RARE + 2))]
"""What a shared word is worth, by how many use it; in the last six bits, whether it counts as rare."""
MAX_TERMS, MAX_NAME, MAX_NUMBERS = 24, 40, 8
_NUMBER = lazily(r"\d+(?:[.,:]\d+)*")


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
    states: int
    """How likely a glance holds it to state something that may change, in hundredths of log odds."""
    kinds: list[str]
    """Of what kinds its words are: numbers, times, days of the week."""
    effort: str = ""
    """The effort that it belongs to."""
    changes: int = 0
    """How likely a glance holds it to change something, in hundredths of log odds."""
    meant: list[list[Any]] = field(default_factory=list)
    """The likeliest of what it may change, which the agent's answer may make likelier: its turn, its score and, where
    it is likely already, the values by which it is found out whether it is sure (see certain)."""


class Meant(NamedTuple):
    """A statement that a new one may change."""

    statement: Statement
    worth: int
    """Of the words that they share."""
    behind: int
    """How much less that is than another's."""
    rare: int
    """Rare words that they share."""
    back: int = -1
    """How many of the user's statements of their effort came between; -1 where they are not of one, or of long ago."""
    place: int = MEANT
    """Its place among those that share most, from 0; MEANT where it is none of them."""
    named: bool = False
    """Whether the new one names somebody or something that it tells of."""
    alike: tuple[str, ...] = ()
    """Signals of how alike they are, where alike words count."""


@dataclass(slots=True)
class Index:
    """Rebuilt from the statements."""

    count: int = 0
    slots: dict[int, Statement] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, list[int]] = field(default_factory=dict)
    """The slots of a session's last statements, the newest last."""
    speakers: dict[str, list[int]] = field(default_factory=dict)
    """The same of what a person said last."""
    efforts: dict[str, list[int]] = field(default_factory=dict)
    """The slots of what users said of an effort, the newest last."""
    threaded: tuple[str, str] = field(default=("", ""), compare=False)
    """The turn that comes next, and its effort."""
    vectors: dict[int, bytes] = field(default_factory=dict, compare=False)
    """What statements are about, by slot, as far as it was asked. A memo: it changes nothing but speed."""

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
        for rings, whose, most in self._rings(statement):
            last = rings.setdefault(whose, [])
            last.append(slot)
            del last[:-most]
        self._enter_effort(slot, statement)
        return slot

    def _rings(self, statement: Statement) -> tuple[tuple[dict[str, list[int]], str, int], ...]:
        return (self.sessions, statement.session, LAST), (self.speakers, statement.who, LATEST)

    def leave(self, slot: int) -> None:
        """Forgets a statement."""
        self._leave_effort(slot, self.slots[slot])
        gone = self.slots.pop(slot)
        self.vectors.pop(slot, None)
        self.turns.pop(gone.turn, None)
        for word in gone.words:
            self._drop(word, slot)
        for rings, whose, _ in self._rings(gone):
            last = rings.get(whose, [])
            if slot in last:
                last.remove(slot)
                if not last:
                    del rings[whose]

    def silence(self, slot: int) -> Statement:
        """A statement was taken back: it keeps its place and is found no more."""
        statement = self.slots[slot]
        for word in statement.words:
            self._drop(word, slot)
        statement.words = []
        return statement

    def rethread(self, turn: str, effort: str) -> tuple[int, Statement] | None:
        """A statement belongs to another effort than first thought; its slot and itself, where it is known."""
        slot = self.turns.get(turn)
        if slot is None:
            return None
        statement = self.slots[slot]
        self._leave_effort(slot, statement)
        statement.effort = effort
        self._enter_effort(slot, statement)
        return slot, statement

    def _enter_effort(self, slot: int, statement: Statement) -> None:
        if statement.effort and statement.role == "user":
            insort(self.efforts.setdefault(statement.effort, []), slot, key=lambda slot: self.slots[slot].number)

    def _leave_effort(self, slot: int, statement: Statement) -> None:
        own = self.efforts.get(statement.effort, [])
        if slot in own:
            own.remove(slot)
            if not own:
                del self.efforts[statement.effort]

    def _drop(self, word: str, slot: int) -> None:
        left = self.words.get(word, 0) & ~(1 << slot)
        if left:
            self.words[word] = left
        else:
            self.words.pop(word, None)

    def shared(self, words: Iterable[str]) -> dict[int, int]:
        """By slot, what the words that a statement shares are worth; in the last six bits how many are rare."""
        shared: dict[int, int] = {}
        for word in words:
            mask = self.words.get(word, 0)
            users = mask.bit_count()
            for _ in range(users if users <= RARE else FEW):
                slot = mask.bit_length() - 1
                mask ^= 1 << slot
                shared[slot] = shared.get(slot, 0) + _WORTH[min(users, RARE + 1)]
        return shared

    def near(self, shared: dict[int, int], session: str, who: str, last: bool) -> list[tuple[int, Setting]]:
        """The slots of the statements that share most with a new one by `who` in a session, where `last` also of those
        that were just said there; and how they stand to it."""
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

    def meant(self, shared: dict[int, int], new: Statement, names: Sequence[str]) -> list[Meant]:
        """What a new statement that names somebody or something may change: the speaker's own, the last and the last of
        the same effort, too, and of others what they said of the same, which a name or a rare word tells. What was
        said elsewhere, of something else and in other words is not meant."""
        slots = self.slots
        sharing = [slot for slot in shared if shared[slot] & _COUNT or _may_change(new, slots[slot], names)]
        sharing = [slot for slot in sharing if slots[slot].role == "user" and slots[slot].at <= new.at]
        sharing.sort(key=lambda slot: (-(shared[slot] >> 6), -slots[slot].number))
        best = shared[sharing[0]] >> 6 if sharing else 0
        of_effort = self.efforts.get(new.effort, [])[-OF_EFFORT:]
        back = {slot: place for place, slot in enumerate(reversed(of_effort))}
        last = (*self.speakers.get(new.who, ()), *of_effort)
        own = [
            slot
            for slot in last
            if slots[slot].words
            and _may_change(new, slots[slot], names)
            and (slot in shared or slot in back or slots[slot].session == new.session)
        ]
        place = {slot: place for place, slot in enumerate(sharing[:MEANT])}
        found = []
        for slot in dict.fromkeys((*place, *own)):
            other, both = slots[slot], shared.get(slot, 0)
            named = any(name in other.words for name in names)
            how = both >> 6, best - (both >> 6), both & _COUNT, back.get(slot, -1), place.get(slot, MEANT), named
            found.append(Meant(other, *how))
        return found

    def remembered(self, new: Statement) -> list[tuple[int, Statement, list[int]]]:
        """What was found likeliest to be meant by a statement, as far as it is still known; each with its score and the
        values of it."""
        slots, turns = self.slots, self.turns
        known = [(score, slots[turns[turn]], values) for turn, score, values in new.meant if turn in turns]
        return [one for one in known if one[1].words]

    def answered(self, session: str) -> Statement | None:
        """What the next turn of a session answers, if that is a user's statement."""
        recent = self.sessions.get(session)
        last = self.slots[recent[-1]] if recent else None
        return last if last is not None and last.role == "user" and last.words else None

    def agents(self, session: str) -> str:
        """Who spoke last in a session: an agent, too ("agent"), "people" alone, or nobody yet ("first")."""
        recent = self.sessions.get(session)
        if not recent:
            return "first"
        return "agent" if any(self.slots[slot].role == "assistant" for slot in recent) else "people"

    def alike(self, new: Statement, meant: Sequence[Meant]) -> list[Meant]:
        """What a new statement may change, and of its speaker's own what is most alike to it; how alike each is."""
        own = [
            slot
            for slot, other in self.slots.items()
            if other.who == new.who and other.words and _may_change(new, other, ())
        ]
        asked = dict.fromkeys([self.turns[one.statement.turn] for one in meant] + own)
        if not asked:
            return []
        words, vectors = table(), self.vectors
        for slot in asked:
            if slot not in vectors:
                vectors[slot] = words.vector(self.slots[slot].text)
        likeness = words.likeness(words.vector(new.text), [vectors[slot] for slot in asked])
        how = dict(zip(asked, likeness, strict=True))
        own.sort(key=lambda slot: (-how[slot], -self.slots[slot].number))
        taken = {one.statement.number for one in meant}
        best = meant[0].worth if meant else 0
        near = [Meant(self.slots[slot], 0, best, 0) for slot in own[:MEANT] if self.slots[slot].number not in taken]
        scored = [(how[self.turns[one.statement.turn]], one) for one in (*meant, *near)]
        found = []
        for value, one in scored:
            before = sum(other > value for other, _ in scored)
            signals = f"alike:{max(-1, min(7, value // 10))}", f"alike before:{min(before, 6)}"
            found.append(one._replace(alike=signals))
        return found


def _may_change(new: Statement, other: Statement, names: Sequence[str]) -> bool:
    """Whether a statement is a user's own, or another's who named the same, and was said before."""
    same = other.who == new.who or any(name in other.words for name in names)
    return same and other.role == "user" and other.at <= new.at


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
