"""What is remembered of notes and sessions, and an index of the notes that wait."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from streams.core.processor import State, derived_id

FOREVER = 1 << 62
MAX_SESSIONS, MAX_HITS = 8, 8
"""Sessions that saw a note, hits of a turn, in state: records stay below 8 KB."""


@dataclass(slots=True)
class Note:
    """State, `note/<id>`: a note that waits, or waited until it escalated and is not settled."""

    session: str
    excerpt: str
    opened: int
    deadline: int
    priority: float
    historic: bool
    turn: str
    presses: int
    """From when its effective priority exceeds the surfacing level; FOREVER if never."""
    terms: list[str]
    """Stems that may bring it back, in order."""
    phrases: list[str]
    """Pairs of stems that follow each other in it."""
    names: list[str]
    shown: dict[str, int] = field(default_factory=dict)
    """When it was shown last, by session, the longest ago first; the newest 8."""


@dataclass(slots=True)
class Due:
    """State, `due/<deadline>/<note>` (`past/…` for historic ones): the queue of waiting notes, in deadline order."""

    note: str


@dataclass(slots=True)
class Talk:
    """State, `talk/<session>`: the session's last turns, as far as they concern open notes."""

    turns: list[str] = field(default_factory=list)
    """Ids of the last turns; "" for a turn that concerned none."""
    hits: list[list[str]] = field(default_factory=list)
    """Terms and names of open notes in each of them."""
    ended: int = -1
    """When the session was last ended."""


class Waiting:
    """Index of the waiting notes, a function of their records."""

    __slots__ = ("first", "named", "pressing", "quiet", "talks", "termed")

    def __init__(self) -> None:
        self.termed: dict[str, dict[str, None]] = {}
        self.named: dict[str, dict[str, None]] = {}
        """The notes of a term, of a name."""
        self.pressing: list[tuple[int, str]] = []
        """From when they press, in order."""
        self.quiet: dict[str, dict[str, int]] = {}
        """Notes a visit was shown, by session, and when: most of what a talk shares words with was just told there."""
        self.first = FOREVER
        """The first deadline."""
        self.talks: set[str] = set()
        """Sessions of which a talk is remembered."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waiting) and all(getattr(self, a) == getattr(other, a) for a in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def add(self, note: str, record: Note) -> None:
        """A note begins to wait."""
        for posted, features in ((self.termed, record.terms), (self.named, record.names)):
            for feature in features:
                posted.setdefault(feature, {})[note] = None
        if record.presses < FOREVER:
            insort(self.pressing, (record.presses, note))
        self.first = min(self.first, record.deadline)

    def drop(self, note: str, record: Note) -> None:
        """A note waits no more; the caller sets `first` anew."""
        for posted, features in ((self.termed, record.terms), (self.named, record.names)):
            for feature in features:
                notes = posted[feature]
                del notes[note]
                if not notes:
                    del posted[feature]
        if record.presses < FOREVER:
            del self.pressing[bisect_left(self.pressing, (record.presses, note))]
        for visitor in record.shown:
            self.stir(visitor, note)

    def hush(self, visitor: str, note: str, at: int) -> None:
        """A visit was shown a note."""
        self.quiet.setdefault(visitor, {})[note] = at

    def stir(self, visitor: str, note: str) -> None:
        """That a visit was shown a note is forgotten."""
        notes = self.quiet.get(visitor)
        if notes is not None and notes.pop(note, None) is not None and not notes:
            del self.quiet[visitor]


QUEUES = ("due/", "past/")
DIGITS = 20


def waiting_notes(state: State) -> Waiting:
    """The index, built from the records."""
    waiting = Waiting()
    ended: dict[str, int] = {}
    for key, talk in state.scan("talk/", Talk):
        waiting.talks.add(key[5:])
        ended[short(key[5:])] = talk.ended
    for queue in QUEUES:
        for key in state.keys(queue):
            note = key[len(queue) + DIGITS + 1 :]
            record = state.get(f"note/{note}", Note)
            if record is not None:
                waiting.add(note, record)
                for visitor, at in record.shown.items():
                    if at > ended.get(visitor, -1):
                        waiting.hush(visitor, note, at)
    return waiting


def keep_talk(state: State, waiting: Waiting, session: str, talk: Talk) -> None:
    """Remembers a session's talk."""
    waiting.talks.add(session)
    state.put(f"talk/{session}", talk)


def queued(note: str, record: Note) -> str:
    """Where a note stands in its queue."""
    return f"{QUEUES[record.historic]}{record.deadline:0{DIGITS}}/{note}"


def first_deadline(state: State) -> int:
    """Of all notes that wait; FOREVER where none does."""
    heads = [state.keys(queue, 1) for queue in QUEUES]
    return min((int(head[0].split("/", 2)[1]) for head in heads if head), default=FOREVER)


def turn_on(talk: Talk, window: int, turn: str, hits: list[str]) -> None:
    """A session's window moves on by a turn."""
    talk.turns = [*talk.turns, turn][-window:]
    talk.hits = [*talk.hits, hits][-window:]


def short(name: str) -> str:
    """An id of a turn or session, or a hash of it where it is long."""
    return name if len(name) <= 40 else derived_id("id", "", name)


def cut(text: str, most: int) -> str:
    """`text`, or its beginning."""
    return text if len(text) <= most else text[: most - 1] + "…"
