"""What an erasure takes with it: what was selected, and what would keep something of that.

An event is taken whole or stays as it is. With what was selected go the facts that name a turn of it (marks,
retractions, rewards, judgments), and what a program wrote of its words: models' summaries, titles, distillations, and
questions that were asked of the memory with them. Words of it in what people and agents said stay, and are listed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import orjson

from projections.store import in_memory, refused, registered
from streams.core.driver import Record
from streams.core.errors import UsageError, check_one_space
from streams.core.events import (
    DistillationWritten,
    ErasureRecorded,
    KnowledgeWritten,
    MemoryRecalled,
    NoteSettled,
    NoteTaken,
    Outside,
    SessionInherited,
    SummaryWritten,
    TitleWritten,
    TurnRecorded,
    decode,
)
from streams.core.progress import Progress, no_progress
from streams.logs.erased import quoted, runs, runs_of, texts
from streams.logs.log import Log
from streams.logs.where import HomeLog

MACHINE = (DistillationWritten, KnowledgeWritten, MemoryRecalled, SummaryWritten, TitleWritten)
"""Written by programs of what was said: they go where they hold words of it."""
COLUMNS = 'space, id, type, "at", session, agent, role, content'
"""What a condition may name."""
PAGE = 10_000
WORDS = 80
"""Characters that are shown of what goes."""
Name = tuple[str, str]
"""Space and id of an event."""


@dataclass(frozen=True)
class Selection:
    """What is to be erased: one of these, within a space where that is given too, or all of a space."""

    turns: tuple[str, ...] = ()
    agent: str | None = None
    session: str | None = None
    matching: str | None = None
    """An SQL condition on COLUMNS of any event."""
    space: str | None = None

    def __post_init__(self) -> None:
        """Raises UsageError unless it says one thing."""
        given = [bool(self.turns), self.agent is not None, self.session is not None, self.matching is not None]
        if sum(given) > 1 or not (any(given) or self.space):
            raise UsageError("say one thing to erase", "--turn, --agent, --session or --matching; or all of a --space")

    def words(self) -> str:
        """It in words, without a name."""
        what = "all of a space"
        if self.turns:
            what = "turns by their ids"
        elif self.agent is not None:
            what = "the turns of an agent"
        elif self.session is not None:
            what = "a session"
        elif self.matching is not None:
            what = "what a condition matched"
        return what + (" in one space" if self.space and what != "all of a space" else "")

    def hashed(self, salt: bytes) -> str:
        """A keyed hash of it."""
        return blake2b(orjson.dumps(astuple(self)), key=salt, digest_size=16).hexdigest()


@dataclass(frozen=True)
class Quote:
    """An event that stays, with words of what goes."""

    space: str
    id: str
    type: str
    session: str
    quoted: str


class Going(NamedTuple):
    """An event that goes, with its first words."""

    space: str
    session: str
    id: str
    type: str
    text: str


@dataclass
class Found:
    """What an erasure takes."""

    ends: list[int]
    """The offset up to which each partition of the log was looked at."""
    going: list[Going] = field(default_factory=list)
    """All that goes, as people are shown it."""
    names: dict[Name, tuple[int, int]] = field(default_factory=dict)
    """All that goes, with its partition and offset."""
    turns: Counter[Name] = field(default_factory=Counter)
    """How many turns go, by space and session."""
    facts: Counter[str] = field(default_factory=Counter)
    """How many of each other type."""
    runs: dict[bytes, int] = field(default_factory=dict)
    """The runs of their words; see `streams.logs.erased`."""
    quotes: list[Quote] = field(default_factory=list)
    said: dict[Name, list[int]] = field(default_factory=dict)
    """Offsets of the turns that go, by space and session."""
    notes: set[Name] = field(default_factory=set)
    """Notes that go, by space and the producer's id."""
    brief: set[Name] = field(default_factory=set)
    """Texts that go and are too short to be runs, by space."""

    quoted: set[bytes] = field(default_factory=set)
    """Runs that stand in what stays."""
    follow: set[Name] = field(default_factory=set)
    """What goes and was not selected: its words are looked for nowhere, for many of them are not of what was."""

    def select(self, record: Record, event: Outside, salt: bytes) -> None:
        """Has an event go, and its words be looked for."""
        found = runs_of(salt, event)
        self.runs |= found
        if isinstance(event, TurnRecorded) and not found:
            self.brief.add((event.space, event.content.strip().casefold()))
        self._take(record, event)

    def take_along(self, record: Record, event: Outside) -> None:
        """Has an event go because others do."""
        self.follow.add((event.space, event.id))
        self._take(record, event)

    def _take(self, record: Record, event: Outside) -> None:
        self.names[event.space, event.id] = record.partition, record.offset
        begin = next((text for text in texts(event) if text.strip()), "")[: 2 * WORDS]
        session, kind = getattr(event, "session", ""), event.type.rpartition(".v")[0]
        self.going.append(Going(event.space, session, event.id, kind, " ".join(begin.split())[:WORDS]))
        if isinstance(event, TurnRecorded):
            self.turns[event.space, event.session] += 1
            self.said.setdefault((event.space, event.session), []).append(record.offset)
        else:
            self.facts[event.type.rpartition(".v")[0]] += 1
        if isinstance(event, NoteTaken):
            self.notes.add((event.space, event.note))


def named(event: Outside) -> list[str]:
    """The turns that an event names, other than the one it is and the one it answers."""
    found = [getattr(event, name, "") for name in ("turn", "older", "first_turn", "last_turn")]
    turns = () if isinstance(event, ErasureRecorded) else getattr(event, "turns", ())
    return [*turns, *(name for name in found if name)]


def events(log: Log, ends: Sequence[int], progress: Progress = no_progress) -> Iterator[tuple[Record, Outside]]:
    """What a log holds up to these offsets of its partitions."""
    for partition, end in enumerate(ends):
        for record in log.read(partition, 0, end):
            if record.offset % PAGE == 0:
                progress(sum(ends[:partition]) + record.offset, sum(ends))
            if record.is_readable:
                yield record, decode(record.type, record.value)


def look(log: HomeLog, selection: Selection, salt: bytes, progress: Progress) -> Found:
    """What an erasure takes, and what stays of its words. Raises UsageError for a selection that finds nothing."""
    found = Found([log.end(partition) for partition in range(log.partitions)])
    selected = _selected(log, selection, found.ends)
    passes = 3 * sum(found.ends)

    def nth(pass_: int) -> Iterator[tuple[Record, Outside]]:
        return events(log, found.ends, lambda done, total: progress(pass_ * total + done, passes))

    for record, event in nth(0):
        if not isinstance(event, ErasureRecorded) and selected(event):
            found.select(record, event, salt)
    if not found.names:
        raise UsageError("nothing is selected", "`mnemolog tail` and `mnemolog sql` show what there is")
    if selection.turns and (missing := {*selection.turns} - {id_ for _, id_ in found.names}):
        raise UsageError(f"there is no turn {sorted(missing)[0]!r}", "nothing was erased; `mnemolog show` knows turns")
    for selects, what in ((selection.turns, "turn"), (selection.session, "session")):
        if selects:
            check_one_space({space for space, _ in found.names}, f"{what} of that name")
    for record, event in nth(1):
        if (event.space, event.id) not in found.names and _refers(log, event, found):
            found.take_along(record, event)
    lengths = {*found.runs.values()}
    for record, event in nth(2):
        if (event.space, event.id) not in found.names and not isinstance(event, ErasureRecorded):
            quote = _quote(event, found, salt, lengths)
            if isinstance(event, MACHINE) and (quote or _is_brief(event, found)):
                found.take_along(record, event)
            elif quote:
                found.quoted.update(run for text in texts(event) for run in runs(salt, text, lengths))
                found.quotes.append(quote)
    progress(passes, passes)
    return found


def _selected(log: HomeLog, selection: Selection, ends: Sequence[int]) -> Callable[[Outside], bool]:
    def within(event: Outside) -> bool:
        return selection.space in (None, event.space)

    if selection.turns:
        wanted = {*selection.turns}
        return lambda event: isinstance(event, TurnRecorded) and event.id in wanted and within(event)
    if selection.agent is not None:
        return lambda event: isinstance(event, TurnRecorded) and event.agent == selection.agent and within(event)
    if selection.session is not None:
        return lambda event: _is_of(event, selection.session) and within(event)
    if selection.matching is not None:
        names = _matching(log, selection.matching, ends)
        return lambda event: (event.space, event.id) in names and within(event)
    return within


def _is_of(event: Outside, session: str | None) -> bool:
    return getattr(event, "session", None) == session or (
        isinstance(event, SessionInherited) and event.older == session
    )


def _matching(log: HomeLog, condition: str, ends: Sequence[int]) -> set[Name]:
    """The events that a condition matches, asked of a table in memory. Raises UsageError for what is none."""
    import pyarrow as pa  # why here: see projections/tables.py

    with closing(in_memory()) as connection:
        connection.execute(
            'CREATE TABLE said (space VARCHAR, id VARCHAR, type VARCHAR, "at" TIMESTAMPTZ, session VARCHAR, '
            "agent VARCHAR, role VARCHAR, content VARCHAR)"
        )
        found = (event for _, event in events(log, ends))
        while page := list(islice(found, PAGE)):
            rows = [
                (
                    event.space, event.id, event.type, event.at,
                    *(getattr(event, name, "") for name in ("session", "agent", "role")), "\n".join(texts(event)),
                )
                for event in page
            ]  # fmt: skip
            columns = pa.table(list(map(pa.array, zip(*rows, strict=True))), COLUMNS.replace('"', "").split(", "))
            with registered(connection, "page", columns):
                connection.execute('INSERT INTO said SELECT * REPLACE (make_timestamptz("at") AS "at") FROM page')
        with refused():
            return {*connection.execute(f"SELECT space, id FROM said WHERE ({condition}\n)").fetchall()}


def _refers(log: HomeLog, event: Outside, found: Found) -> bool:
    """Whether an event names a turn or note that goes, or sums up turns of which one goes."""
    if any((event.space, turn) in found.names for turn in named(event)):
        return True
    if isinstance(event, SummaryWritten) and (gone := found.said.get((event.space, event.session))):
        first, last = log.offset_of(event.space, event.first_turn), log.offset_of(event.space, event.last_turn)
        at = bisect_left(gone, first or 0)
        return at < len(gone) and (last is None or gone[at] <= last)
    return isinstance(event, NoteSettled) and (event.space, event.note) in found.notes


def _is_brief(event: Outside, found: Found) -> bool:
    return any((event.space, text.strip().casefold()) in found.brief for text in texts(event) if text)


def _quote(event: Outside, found: Found, salt: bytes, lengths: set[int]) -> Quote | None:
    """What an event that stays has of the words that go."""
    parts = [part for text in texts(event) if (part := quoted(salt, text, found.runs, lengths))]
    if not parts:
        return None
    return Quote(event.space, event.id, event.type, getattr(event, "session", ""), max(parts, key=len))
