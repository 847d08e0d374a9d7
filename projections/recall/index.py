"""The index of one memory: what is told in it, as documents by space, found by their words as of any position.

    index = Index.open(path_of(memory), connection, kept)     catch_up(connection) at every commit, or before asking
    space = index.space("acme", until)                        what ranking reads: columns, statistics, postings
    index.records("acme", "activation", turns, until)         the last record that a mechanism kept of each turn
    index.members("acme", "efforts", effort, until)           what belongs to a part of a group: turns to an effort
    index.turns("acme", offsets)                              what turns said

It is a cache, derived from the tables of the memory up to its mark, and from nothing else: so live, a replay and a
projector on Kafka fill it in the same way, and whoever deletes it gets it back. Whoever writes the memory catches the
index up; a memory at rest (a replay) is indexed by the first who asks. One process does so at a time, under an flock
beside the file; others wait for it, and those who only ask need no lock: they see the last commit.

Documents of a space are numbered in the order of their positions. As-of is therefore a beginning of every list:
document frequencies and averages are exact as of any position, and no number of one space depends on another.

Why postings of our own, not an engine's: tantivy fixes k1 and b, and its statistics are those of all spaces and of now.
So are those of FTS5's bm25, and it ranks every match: 55 ms for six words among 200,000 turns on a busy machine, where
the postings of eight words among 1,000,000 are here in .3 ms. (FTS5 takes up a turn in 4 us; here that costs 6, and the
reading of the words, which both need if they are to agree on words, 10.) Neither knows positions.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from projections.aside import Warn, set_aside, unheard
from projections.garbage import rare_collections
from projections.recall import file, said
from projections.recall.catch_up import Analyse, Page, write
from projections.recall.held import Held, Seen
from projections.recall.kinds import Kinds, Place, Places, Row
from projections.recall.records import Kept, Records
from projections.store import EVENT_TABLES, Connection, Extent, Known, all_meta, extent, known_by
from projections.tables import Folded
from streams.core.errors import BusyError, DamagedError, MemoryFileError
from streams.core.progress import Progress, no_progress
from streams.core.read_model import Group
from streams.core.section import Members

FORMAT = 8
"""Of the index file; one of another format is made again."""
PAGE = 32_768
"""Offsets of the log taken in one transaction: fewer cost more commits and blocks, more cost memory."""
HEAVY = 32 * 2**20
"""Characters of text in a page above which the next is smaller."""
MEMORY = 128 * 2**20
"""Bytes of spaces kept in memory beside the one asked last."""
UNSEEN = -1
FAILURES = (sqlite3.Error, OSError, UnicodeDecodeError, file.DamagedError)
"""What may go wrong with the file."""


class _Telling(AbstractContextManager[None]):
    """See `Index.telling`. One serves all: it is entered dozens of times for one context, and holds nothing."""

    def __init__(self, failed: Callable[[Exception], Exception]) -> None:
        self._failed = failed

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, FAILURES):
            raise self._failed(error) from error


class Index:
    """The open index of one memory. Made by `open`."""

    def __init__(
        self, path: Path, kinds: Kinds, kept: Mapping[str, Sequence[Kept]], groups: Sequence[Group], analyse: Analyse,
        reading: object, warn: Warn,
    ) -> None:  # fmt: skip
        self.path = path
        self._warn = warn
        self.kinds = kinds
        self._kept = kept
        self._groups = groups
        self._analyse = analyse
        self._reading = reading
        self._identity = ""
        self._partial = False
        self._database: sqlite3.Connection | None = None
        self._marks: dict[int, int] = {}
        self._known: Known = {}
        """How far the memory goes, and what it knows the log by there."""
        self._changes = 0
        self._taken: Extent | None = None
        """How far the memory went when all of it was taken up; None where that is not known."""
        self._spaces: OrderedDict[str, Held] = OrderedDict()
        self._records = Records(kept, groups)
        self._tables: frozenset[str] = frozenset()
        self._ahead = ExitStack()
        """Holds, while the index is ahead of the memory's tables, the right to write and one transaction: nobody else
        sees what the tables do not hold, and whatever kills this process leaves an index that is not ahead of them."""
        self._is_ahead = False
        self._telling = _Telling(self._failed)

    @classmethod
    def open(
        cls, path: Path, connection: Connection, kinds: Kinds, kept: Mapping[str, Sequence[Kept]],
        groups: Sequence[Group], analyse: Analyse, reading: object, warn: Warn = unheard,
    ) -> Index:  # fmt: skip
        """The index at `path` of the memory that `connection` reads; made anew where it is missing or of another.

        `kinds`: what is indexed. `kept`: the records that mechanisms keep, by name; `groups`: what belongs together.
        `analyse` reads the words of documents, in the way that `reading` (a JSON value) tells: read in another way,
        they are indexed anew. `warn` is told of a file that was damaged.
        """
        index = cls(path, kinds, kept, groups, analyse, reading, warn)
        index._begin(connection)
        return index

    def close(self) -> None:
        """Lets go of the file. What is in no table of the memory yet is not in it then."""
        self._ahead.close()
        self._is_ahead = False
        if self._database is not None:
            database, self._database = self._database, None
            try:
                with file.writing(self.path, 0.0):
                    file.close(database, self.path)
            except (BusyError, OSError):
                database.close()
        self._marks = {}
        self._forget()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- the file ----------------------------------------------------------------------------------------------------

    def _begin(self, connection: Connection) -> None:
        """Opens the file, which is then of this memory."""
        names = frozenset(name for (name,) in connection.execute(EVENT_TABLES).fetchall())
        self._tables = names
        meta = all_meta(connection)
        self._partial = bool(meta.get("partial"))
        identity = {
            "format": FORMAT,
            "reading": self._reading,
            "kinds": self.kinds.identity(),
            "log": meta["log_id"],
            "partitions": int(meta["partitions"]),
            "lineages": orjson.loads(meta["lineages"]),
            "partial": meta.get("partial", ""),
            "records": {
                name: [of.told() for of in kept if of.table.name in names] for name, kept in self._kept.items()
            },
            "groups": [
                [group.name, group.thing, *(f"{cls.__name__} {joins}" for cls, joins in group.told.items())]
                for group in self._groups
            ],
        }
        self._identity = orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()
        with file.writing(self.path):
            try:
                with file.mended(self.path):
                    file.check_closed(self.path)
                    if self._connect(connection):
                        return
            except file.DamagedError as damage:
                self._set_aside(damage)
            self._renew()

    def _connect(self, connection: Connection) -> bool:
        """Opens the file, which is made where there is none; whether it is of this memory."""
        self._database = file.connect(self.path)
        found = file.identity(self._database)
        if found == self._identity:
            self._reload()
            ends = self._ends(connection, known_by(connection))
            if all(mark <= ends.get(partition, UNSEEN) for partition, mark in self._marks.items()):
                return True
        elif not found:
            file.about_to_change(self.path)
            file.create(self._database, self._identity)
            self._reload()
            return True
        return False

    def known(self) -> Known:
        """How far the index goes, and what the log is known by there; b"" where it was left half done."""
        rows = map(file.unsealed, self.database.execute("SELECT * FROM marks").fetchall())
        return {partition: (position, hash_) for partition, position, hash_ in rows}

    def renew(self) -> None:
        """Begins anew: it was found to be of another log."""
        with file.writing(self.path):
            self._renew()

    def _set_aside(self, damage: file.DamagedError) -> None:
        self.close()
        with file.mended(self.path):
            set_aside(f"the index {self.path} is damaged: {damage}", self._warn, *file.parts(self.path))

    def _renew(self) -> None:
        """Makes the file anew and empty. The caller holds the lock."""
        self.close()
        with file.mended(self.path):
            file.remove(self.path)
            self._database = file.connect(self.path)
            file.create(self._database, self._identity)
            self._reload()

    @property
    def database(self) -> sqlite3.Connection:
        """The open file."""
        if self._database is None:
            raise MemoryFileError(f"the index {self.path} is closed", "open it again")
        return self._database

    def _reload(self) -> None:
        """Forgets what is in memory, and reads how far the index goes."""
        self._forget()
        self._taken = None
        self._changes = self._data_version()
        self._marks = {partition: position for partition, (position, _) in self.known().items()}

    def _data_version(self) -> int:
        return int(self.database.execute("PRAGMA data_version").fetchone()[0])

    def _refresh(self) -> None:
        """Forgets what is in memory where another process wrote."""
        if self._data_version() != self._changes:
            self._reload()

    def _forget(self) -> None:
        self._spaces.clear()
        self._records.forget()

    # -- catching up -------------------------------------------------------------------------------------------------

    def behind(self, connection: Connection) -> int:
        """How many offsets of the log the memory holds that are not in the index."""
        return sum(stop - start for _, start, stop in self._waiting(self._ends(connection, known_by(connection))))

    def catch_up(
        self,
        connection: Connection,
        progress: Progress = no_progress,
        goes: Extent | None = None,
        folded: Sequence[Folded] = (),
    ) -> int:
        """Takes up what the memory holds above the index's mark; the number of offsets taken.

        `goes` is how far the memory's tables go, where that is known; always or never, for its counts are compared.
        `folded` is what its writer has folded beyond that, which is seen here alone until the tables hold it.
        Each page is committed with its mark. A damaged file is made again on the way. Raises MemoryFileError where
        there is no room for it, BusyError where another process indexes this memory for ten minutes.
        """
        if self._database is None:  # it was found damaged while it was asked
            self._begin(connection)
        goes = goes or extent(connection)
        self._known = goes.known
        ends = self._ends(connection, goes.known)
        self._settle(ends)
        try:
            return self._catch_up(connection, goes, ends, progress) + self._go_ahead(folded)
        except file.DamagedError as damage:
            with file.writing(self.path):
                self._set_aside(damage)
                self._renew()
            return self._catch_up(connection, goes, ends, progress) + self._go_ahead(folded)

    def _settle(self, ends: Mapping[int, int]) -> None:
        """Commits what was taken up ahead of the memory's tables, once they hold it."""
        if self._is_ahead and all(mark <= ends.get(partition, UNSEEN) for partition, mark in self._marks.items()):
            with self._safely():
                self.database.execute("COMMIT")
                self._is_ahead = False
                self._ahead.close()

    def _go_ahead(self, folded: Sequence[Folded]) -> int:
        """Takes up what lies in no table yet, within a transaction that is open until it does."""
        news = [page for page in folded if any(end > self._marks.get(p, UNSEEN) for p, end in page.marks.items())]
        if not news:
            return 0
        before = dict(self._marks)
        with self._safely():
            if not self._is_ahead:
                self._ahead.enter_context(file.writing(self.path))
                self._refresh()
                file.about_to_change(self.path)
                self.database.execute("BEGIN IMMEDIATE")
                self._is_ahead = True
            for page in news:
                self._add(self.kinds.folded(page))
                self._records.take_folded(self.database, page)
                said.take_folded(self.database, page)
                for partition, end in page.marks.items():
                    self._mark(partition, end, page.hashes.get(partition, b""))
        self._evict()
        return sum(end - before.get(partition, UNSEEN) for partition, end in self._marks.items())

    def _catch_up(self, connection: Connection, goes: Extent, ends: dict[int, int], progress: Progress) -> int:
        done = 0
        if not self._waiting(ends):
            return 0
        with file.writing(self.path), self._safely(), rare_collections():
            self._refresh()
            file.about_to_change(self.path)
            changed = self._grown(goes)
            waiting = self._waiting(ends)
            total = sum(stop - start for _, start, stop in waiting)
            size = PAGE
            progress(0, total)
            while done < total:
                places, waiting = _first(waiting, size)
                weight = self._take(connection, changed, places)
                size = max(size // 2, 64) if weight > HEAVY else PAGE if weight < HEAVY // 4 else size
                done += sum(stop - start for _, start, stop in places)
                progress(done, total)
            self._taken = goes
        return done

    def _grown(self, goes: Extent) -> frozenset[str]:
        """The tables that may hold what is not in the index."""
        if self._taken is not None and self._taken.before is goes.before:
            taken = self._taken.rows
        elif goes.before is not None and not self._waiting({p: end for p, (end, _) in goes.before.items()}):
            taken = {}
        else:
            return self._tables
        return frozenset(table for table in self._tables if goes.rows.get(table, 0) != taken.get(table, 0))

    @contextmanager
    def _safely(self) -> Iterator[None]:
        """What is in memory is forgotten where something goes wrong on the way: the file may hold less."""
        try:
            with file.mended(self.path):
                yield
        except BaseException:
            with suppress(sqlite3.Error, MemoryFileError):
                if self._is_ahead:
                    self.database.execute("ROLLBACK")
            self._is_ahead = False
            self._ahead.close()
            with suppress(sqlite3.Error, MemoryFileError):
                self._reload()
            raise

    def _waiting(self, ends: dict[int, int]) -> list[Place]:
        """What is in the memory, not in the index."""
        waiting = [(partition, self._marks.get(partition, UNSEEN) + 1, end + 1) for partition, end in ends.items()]
        return [(partition, start, stop) for partition, start, stop in waiting if start < stop]

    def _ends(self, connection: Connection, known: Known) -> dict[int, int]:
        """The last offset that the memory holds, by partition.

        A memory that ends at a moment says what falls due until then beyond its mark, and is never folded further.
        """
        places = [(partition, end) for partition, (end, _) in known.items()]
        for table in sorted(self._tables & self.kinds.tables) if self._partial else ():
            last = f'SELECT "partition", max(position) FROM {table} GROUP BY ALL'
            places += connection.execute(last).fetchall()
        return dict(sorted(places))

    def _take(self, connection: Connection, changed: frozenset[str], places: Places) -> int:
        """Takes up a page; the characters of text in it. `changed`: the tables that may have rows there."""
        tables = changed & (self.kinds.tables | self._records.tables)
        rows = self.kinds.told(connection, tables, places)
        with file.transaction(self.database):
            self._add(rows)
            self._records.take(self.database, connection, tables, places)
            weight = said.take(self.database, connection, places) if said.TABLE in tables else 0
            for partition, _, stop in places:
                end, hash_ = self._known.get(partition, (stop - 1, b""))
                self._mark(partition, stop - 1, hash_ if end == stop - 1 else b"")
        self._evict()
        return weight

    def _add(self, rows: Sequence[Row]) -> None:
        """Adds documents, within the caller's transaction."""
        page = Page(self._analyse, self.kinds.runs, self.kinds.quoting)
        for name, told in groupby(rows, itemgetter(0)):
            page.add_space(self._held(name) or self._new(name), told)
        write(self.database, page)

    def _mark(self, partition: int, end: int, hash_: bytes) -> None:
        """Says how far it goes, within the caller's transaction."""
        self.database.execute("INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)", file.sealed(partition, end, hash_))
        self._marks[partition] = end

    # -- spaces in memory --------------------------------------------------------------------------------------------

    def _held(self, name: str) -> Held | None:
        held = self._spaces.get(name)
        if held is None:
            held = Held.load(self.database, name, self.kinds.runs)
            if held is not None:
                self._spaces[name] = held
        else:
            self._spaces.move_to_end(name)
        return held

    def _new(self, name: str) -> Held:
        held = self._spaces[name] = Held(file.number_of(self.database, name), name, self.kinds.runs)
        return held

    def _evict(self) -> None:
        """Lets go of the spaces asked longest ago, until the rest is small enough."""
        kept = 0
        for name in [*reversed(self._spaces)]:
            if kept > MEMORY:
                del self._spaces[name]
            else:
                kept += self._spaces[name].memory()

    # -- asking ------------------------------------------------------------------------------------------------------

    def space(self, name: str, until: int | None = None) -> Seen:
        """A space as of an offset of its partition of the log; as of now where None. An unknown space is empty."""
        with self.telling():
            self._refresh()
            held = self._held(name)
            if held is None:
                held = Held(0, name)
            elif len(self._spaces) > 1:
                self._evict()
            return Seen.at(held, self.database, until)

    def records(self, space: str, name: str, turns: Iterable[str], until: int | None = None) -> dict[str, Any]:
        """The last record of a mechanism for each of `turns` that it keeps one of."""
        return {turn: found[-1] for turn, found in self.related(space, name, turns, until).items()}

    def newest(self, seen: Seen) -> tuple[int, int]:
        """How far what is seen of a space goes: the offset of its last outside event, and the newest moment of what it
        holds, UTC microseconds; (-1, 0) for an unknown space."""
        with self.telling():
            position, at = self._records.clock(self.database, seen.held.name, seen.until)
        return max(position, seen.last_turn()), max(at, seen.newest)

    def turns(self, space: str, positions: Sequence[int]) -> dict[int, list[Any]]:
        """What the turns at some offsets said, by offset: see `said.read`."""
        with self.telling():
            return said.read(self.database, space, positions)

    def members(self, space: str, group: str, part: str, most: int, until: int | None = None) -> Members:
        """What belongs to a part of a group, at most so many of the newest, as of an offset."""
        with self.telling():
            return self._records.members(self.database, space, group, part, most, until)

    def related(self, space: str, name: str, turns: Iterable[str], until: int | None = None) -> dict[str, list[Any]]:
        """The records of a mechanism that each of `turns` (or whatever their keys name) is part of, such as a pair of
        turns: the last one of each thing, in the order in which they were told."""
        with self.telling():
            return self._records.of(self.database, space, name, list(turns), until)

    def telling(self) -> AbstractContextManager[None]:
        """While the index is asked: what goes wrong with its file is told in words. Raises DamagedError where who asks
        again has it made anew."""
        return self._telling

    def _failed(self, error: Exception) -> Exception:
        """What is told of something that went wrong while the index was asked: a damaged one is set aside."""
        try:
            with file.mended(self.path):
                raise error
        except file.DamagedError as damage:
            self._set_aside(damage)
            return DamagedError(f"the index {self.path} is damaged: {damage}", "ask again: it is made anew")
        except Exception as told:
            return told


def _first(waiting: Places, size: int) -> tuple[list[Place], list[Place]]:
    """So many offsets, partition after partition, and what is left."""
    taken: list[Place] = []
    left: list[Place] = []
    for partition, start, stop in waiting:
        cut = min(start + size, stop)
        size -= cut - start
        if start < cut:
            taken.append((partition, start, cut))
        if cut < stop:
            left.append((partition, cut, stop))
    return taken, left
