"""The inverted index over the last active efforts: which of them speak of a word.

Each active effort has a slot, and what a word stands for is a bit mask of slots: one number per word, whatever the
number of efforts, which `&` narrows to those of a session and `bit_count` counts.
"""

from __future__ import annotations

from collections import _count_elements  # type: ignore[attr-defined]  # What Counter counts with, on a plain dict.
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from processors.open_efforts.records import (
    ACTIVE,
    NAME,
    NAMES,
    NEAR,
    RECENT,
    TERMS,
    WORD,
    Effort,
    Said,
    Session,
    Slot,
    Space,
)
from streams.core.processor import State

Postings = dict[str, int]
"""Word to the mask of the slots whose efforts speak of it."""


@dataclass(slots=True)
class Scene:
    """A session's efforts among the active ones, the last active one last."""

    slots: dict[str, int]
    mask: int


@dataclass(slots=True)
class Active:
    """The last active efforts, by what they speak of. Rebuilt from slots, efforts and recent turns."""

    space: Space = field(default_factory=Space)
    number: int = 0
    """Turns so far."""
    touched: int = 0
    """How often another effort became the last active one."""
    latest: str = ""
    """The last active effort."""
    slots: dict[str, int] = field(default_factory=dict)
    """Effort to slot, the least recently active first."""
    ids: list[str] = field(default_factory=list)
    """Slot to effort."""
    terms: Postings = field(default_factory=dict)
    names: Postings = field(default_factory=dict)
    titles: Postings = field(default_factory=dict)
    """Telling words of declared names and topics."""
    asked: list[dict[str, None]] = field(default_factory=list)
    """Slot to what an answer would speak of."""
    done: int = 0
    """Mask of the efforts that are concluded, or whose user said good-bye."""
    turns: dict[str, int] = field(default_factory=dict)
    """Recent turn to its number."""
    scenes: dict[str, Scene] = field(default_factory=dict, compare=False)
    """What was last looked up of sessions; forgotten when efforts come or go. A memo: it changes nothing but speed."""

    def scene(self, name: str, session: Session) -> Scene:
        """The session's efforts among the active ones."""
        found = self.scenes.get(name)
        if found is None:
            slots = self.slots
            efforts = {effort: slots[effort] for effort in session.recent if effort in slots}
            found = self.scenes[name] = Scene(efforts, sum(1 << slot for slot in efforts.values()))
        return found

    def speakers(self, terms: list[str], among: int) -> list[int]:
        """Which of the efforts in the mask `among` speak of each term. Most are of one effort or none: one `&` each."""
        get = self.terms.get
        return [get(term, 0) & among for term in terms]

    def enter(self, effort_id: str, effort: Effort, slot: int) -> None:
        """The effort is among the active ones."""
        self.scenes.clear()
        self.slots[effort_id] = slot
        if slot == len(self.ids):
            self.ids.append(effort_id)
            self.asked.append(effort.asked)
        else:
            self.ids[slot] = effort_id
        post(self.terms, effort.terms, slot)
        post(self.names, effort.names, slot)
        post(self.titles, effort.title, slot)
        self.mark(effort_id, effort)

    def leave(self, effort_id: str, effort: Effort) -> int:
        """The effort is no longer active; gives its slot."""
        slot = self.slots.pop(effort_id)
        drop(self.terms, effort.terms, slot)
        drop(self.names, effort.names, slot)
        drop(self.titles, effort.title, slot)
        return slot

    def mark(self, effort_id: str, effort: Effort) -> None:
        """Follows what the effort asked last, and whether it is done."""
        slot = self.slots.get(effort_id)
        if slot is None:
            return
        self.asked[slot] = effort.asked
        if effort.parted or effort.status == "concluded":
            self.done |= 1 << slot
        else:
            self.done &= ~(1 << slot)


def post(postings: Postings, words: Iterable[str], slot: int) -> None:
    """The effort in the slot speaks of the words."""
    bit = 1 << slot
    for word in words:
        postings[word] = postings.get(word, 0) | bit


def drop(postings: Postings, words: Iterable[str], slot: int) -> None:
    """The effort in the slot no longer speaks of the words."""
    bit = 1 << slot
    for word in words:
        mask = postings.get(word, 0)
        if mask == bit:
            del postings[word]
        elif mask & bit:
            postings[word] = mask ^ bit


def active(state: State) -> Active:
    """The index, from the records: slots in order of last activity."""
    index = Active(state.get("space", Space) or Space())
    found: list[tuple[int, int, str, Effort]] = []
    for number in range(ACTIVE):
        slot = state.get(f"active/{number}", Slot)
        if slot is None:
            break
        effort = state.get(f"effort/{slot.effort}", Effort) or Effort("", 0)
        found.append((effort.seen, number, slot.effort, effort))
    index.ids = [""] * len(found)
    index.asked = [{} for _ in found]
    for _, number, effort_id, effort in sorted(found, key=lambda entry: entry[:2]):
        index.enter(effort_id, effort, number)
        index.latest, index.touched = effort_id, effort.seen
    recent: list[tuple[int, str]] = []
    for place in range(RECENT):
        said = state.get(f"turn/{place}", Said)
        if said is None:
            break
        recent.append((said.number, said.turn))
    for number, turn in sorted(recent):
        index.number = number + 1
        if turn:
            index.turns[turn] = number
    return index


def recently(state: State, index: Active, turn: str) -> Said | None:
    """What a recent turn said."""
    n = index.turns.get(turn)
    return state.get(f"turn/{n % RECENT}", Said) if n is not None else None


def _fits(word: str, limit: int) -> bool:
    return len(word) <= limit and (word.isascii() or len(word.encode()) <= limit)


def add(index: Active, slot: int | None, effort: Effort, said: Said) -> None:
    """Adds what a turn said to the profile of an effort, in its slot if it is an active one.

    A profile counts the turns that use a word. Why not a loop: C counts the words this way, and what is new stands last
    in the profile.
    """
    profile, terms = effort.terms, said.terms
    known = len(profile)
    _count_elements(profile, terms)
    if len(profile) > known:
        new = list(islice(reversed(profile), len(profile) - known))
        if max(map(len, new)) > WORD or not "".join(new).isascii():
            new = _fitting(profile, new)
        if slot is not None:
            post(index.terms, new, slot)
        if len(profile) > TERMS:
            _shrink(profile, TERMS, index.terms, slot)
    if said.names:
        _count_elements(effort.names, said.names)
        if slot is not None:
            post(index.names, said.names, slot)
        if len(effort.names) > NAMES:
            _shrink(effort.names, NAMES, index.names, slot)
    if said.about:
        effort.last = [*effort.last, said.turn][-NEAR:]


def _fitting(profile: dict[str, int], new: list[str]) -> list[str]:
    """The new words but oversize ones, which are not kept."""
    for word in new:
        if not _fits(word, WORD):
            del profile[word]
    return [word for word in new if word in profile]


def _shrink(profile: dict[str, int], limit: int, postings: Postings, slot: int | None) -> None:
    """The least used leave, the oldest first among equals (dicts keep the order of first use)."""
    gone = sorted(profile, key=profile.__getitem__)[: len(profile) - limit // 2]
    for word in gone:
        del profile[word]
    if slot is not None:
        drop(postings, gone, slot)


def take(index: Active, effort_id: str, effort: Effort, said: Said) -> None:
    """Takes back what a turn said."""
    slot = index.slots.get(effort_id)
    gone = _less(effort.terms, said.terms)
    lost = _less(effort.names, said.names)
    if said.about and said.turn in effort.last:
        effort.last.remove(said.turn)
    if slot is not None:
        drop(index.terms, gone, slot)
        drop(index.names, lost, slot)


def _less(profile: dict[str, int], words: list[str]) -> list[str]:
    gone = []
    for word in words:
        left = profile.get(word, 0) - 1
        if left > 0:
            profile[word] = left
        elif word in profile:
            del profile[word]
            gone.append(word)
    return gone


def names_of(names: list[str]) -> list[str]:
    """Names that are short enough to be kept; mostly the list itself."""
    if max(map(len, names)) <= NAME and "".join(names).isascii():
        return names
    return [name for name in names if _fits(name, NAME)]
