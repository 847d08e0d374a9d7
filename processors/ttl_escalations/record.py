"""What is remembered of notes and sessions, and an index of the notes that wait."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import Any

from streams.core.processor import State, derived_id

FOREVER = 1 << 62
MAX_SESSIONS = 8
"""Sessions that saw a note, in state: records stay below 8 KB."""


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
    until: int
    """From when its matter brings it back no longer: its deadline, or some time after it was raised."""
    place: int
    """How many turns its session had when it was inferred."""
    effort: str
    """The effort that the turn belongs to which it was inferred from, or that was talked of when it was taken."""
    near: list[str]
    """Stems of what was said right before, and around it, that are not its own."""
    recorded: int
    """When it was recorded: what was due before that is history, and never raised."""
    every: str = ""
    """How it comes again and again (see NoteOpened); "" for what is due once."""
    first: int = 0
    """When it was due first: what comes again is counted from there."""
    unanswered: int = 0
    """How often it was due in a row and nobody said that it was done."""
    moved: str = ""
    """The turn that moved it last."""
    light: list[str] = field(default_factory=list)
    """Stems that say little of its matter: what is to be done (send, call), which is told when it is done."""
    shown: dict[str, int] = field(default_factory=dict)
    """When it was shown last, by session, the longest ago first; the newest 8."""


@dataclass(slots=True)
class Last:
    """State, `last/<session>`: what was said last."""

    effort: str
    """The effort of the turn that is being read, once that is known; else of the last."""
    share: float = 1.0
    """How likely the turn that is being read belongs there."""
    maybe: dict[str, float] = field(default_factory=dict)
    """Other efforts with notes that it may belong to, and how likely; not kept beyond it."""
    turn: str = ""
    entered: str = ""
    """The effort of the last turn."""
    before: str = ""
    """The end of what was said before it."""
    text: str = ""
    """Its beginning, and its end."""
    doubts: list[list[Any]] = field(default_factory=list)
    """What of it may be a reminder, if the reply takes it up; see Doubt."""
    turns: int = 0
    """How many turns there were."""
    ended: int = -1
    """When the session was last ended."""
    noted: str = ""
    """The note that was asked for or moved here last."""


@dataclass(slots=True)
class Due:
    """State, `due/<deadline>/<note>`: the queue of waiting notes, in deadline order. `past/…` is that of historic ones,
    `asked/<until>/…` that of those that were raised and may come back by their matter. One that was raised and comes
    again is in the first, for when it does."""

    note: str


@dataclass(slots=True)
class Settled:
    """State, `settles/<turn>`: the notes that a turn settled, or moved, by what it told. Each lies as it was in
    `settled/<note>` while the turn may be taken back."""

    notes: list[str]


def _unpost(posted: dict[str, dict[str, None]], feature: str, note: str) -> None:
    notes = posted[feature]
    del notes[note]
    if not notes:
        del posted[feature]


class Waiting:
    """Index of the waiting notes, a function of their records."""

    __slots__ = ("efforts", "first", "named", "pressing", "quiet", "raised", "termed")

    def __init__(self) -> None:
        self.termed: dict[str, dict[str, None]] = {}
        self.named: dict[str, dict[str, None]] = {}
        self.efforts: dict[str, dict[str, None]] = {}
        """The notes of a term, of a name, of an effort."""
        self.pressing: list[tuple[int, str]] = []
        """From when they press, in order."""
        self.quiet: dict[str, dict[str, int]] = {}
        """Notes a visit was shown, by session, and when: most of what a talk shares words with was just told there."""
        self.raised: list[tuple[int, str]] = []
        """Those whose time is out, and when it was, in order."""
        self.first = FOREVER
        """The first deadline."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waiting) and all(getattr(self, a) == getattr(other, a) for a in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def _posted(self, record: Note) -> tuple[tuple[dict[str, dict[str, None]], list[str]], ...]:
        efforts = [record.effort] if record.effort else []
        return (
            (self.termed, record.terms),
            (self.termed, record.near),
            (self.named, record.names),
            (self.efforts, efforts),
        )

    def add(self, note: str, record: Note) -> None:
        """A note begins to wait."""
        for posted, features in self._posted(record):
            for feature in features:
                posted.setdefault(feature, {})[note] = None
        if record.presses < FOREVER:
            insort(self.pressing, (record.presses, note))
        if record.until > record.deadline:
            insort(self.raised, (record.deadline, note))
        self.first = min(self.first, record.until)

    def drop(self, note: str, record: Note) -> None:
        """A note waits no more; the caller sets `first` anew."""
        for posted, features in self._posted(record):
            for feature in features:
                _unpost(posted, feature, note)
        if record.presses < FOREVER:
            del self.pressing[bisect_left(self.pressing, (record.presses, note))]
        if record.until > record.deadline:
            del self.raised[bisect_left(self.raised, (record.deadline, note))]
        for visitor in record.shown:
            self.stir(visitor, note)

    def move(self, note: str, record: Note, effort: str) -> None:
        """A note belongs to another effort."""
        if record.effort:
            _unpost(self.efforts, record.effort, note)
        if effort:
            self.efforts.setdefault(effort, {})[note] = None

    def hush(self, visitor: str, note: str, at: int) -> None:
        """A visit was shown a note."""
        self.quiet.setdefault(visitor, {})[note] = at

    def stir(self, visitor: str, note: str) -> None:
        """That a visit was shown a note is forgotten."""
        notes = self.quiet.get(visitor)
        if notes is not None and notes.pop(note, None) is not None and not notes:
            del self.quiet[visitor]


QUEUES = ("due/", "past/", "asked/")
ASKED = QUEUES[2]
DIGITS = 20


def waiting_notes(state: State) -> Waiting:
    """The index, built from the records."""
    waiting = Waiting()
    ended: dict[str, int] = {}
    for key, last in state.scan("last/", Last):
        ended[short(key[5:])] = last.ended
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


def queued(note: str, record: Note) -> str:
    """Where a note stands in its queue."""
    queue = ASKED if record.until > record.deadline and not record.every else QUEUES[record.historic]
    return f"{queue}{record.until:0{DIGITS}}/{note}"


def first_deadline(state: State) -> int:
    """Of all notes that wait; FOREVER where none does."""
    heads = [state.keys(queue, 1) for queue in QUEUES]
    return min((int(head[0].split("/", 2)[1]) for head in heads if head), default=FOREVER)


def short(name: str) -> str:
    """An id of a turn or session, or a hash of it where it is long."""
    return name if len(name) <= 40 else derived_id("id", "", name)


def cut(text: str, most: int) -> str:
    """`text`, or its beginning."""
    return text if len(text) <= most else text[: most - 1] + "…"
