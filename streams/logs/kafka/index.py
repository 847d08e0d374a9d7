"""Which event ids a log on Kafka holds: a local index, made from the topic and made again whenever it is lost.

Kafka refuses no second record of the same id, so readers settle it: of the records of one (space, id) the first valid
one is in the log, those that follow within REPEATS are not. (Workers have to remember ids for so long.) The index knows
the first of each id, and which offsets do not count. Who appends through it can never repeat an id.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from streams.core.errors import LogError
from streams.core.events import AT_APPEND, Outside, encode
from streams.logs.kafka.records import Broken, Read

SCHEMA = """
CREATE TABLE IF NOT EXISTS first (
    key BLOB PRIMARY KEY, offset INTEGER NOT NULL, at INTEGER NOT NULL, said BLOB NOT NULL, appended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS skipped (
    partition INTEGER, offset INTEGER, PRIMARY KEY (partition, offset)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS marks (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""
REPEATS = 7 * 24 * 3_600_000
"""Milliseconds, by the broker's clock, for which an id that comes again is a repetition: programs repeat what they
could not see acknowledged within minutes, and feed a file twice within days."""
VERSION = "2"
"""Rises when what is valid, or what the index keeps, changes: an index of another version is made again."""


class First(NamedTuple):
    """The first record of an id."""

    offset: int
    at: int
    said: bytes
    """A hash of all that the event says but its time."""


class Index:
    """The ids of one log. Several processes may share the file, and several threads one index."""

    def __init__(self, path: Path | None, log_id: str) -> None:
        """The index in the file `path` (None: in memory) of the log `log_id`; an unusable file is begun anew.

        Raises LogError where the file cannot be written.
        """
        self._path = path or ""
        self._one = Lock()
        """Held while a thread writes: they share a connection, which has one transaction at a time."""
        try:
            self._db = self._open(path, log_id)
        except sqlite3.OperationalError as error:
            raise LogError(f"{path} cannot be written: {error}", "choose another home with --home") from error
        except sqlite3.DatabaseError:
            assert path is not None
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            self._db = self._open(path, log_id)

    def _open(self, path: Path | None, log_id: str) -> sqlite3.Connection:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=60, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        # Why not FULL: what a power cut takes is read from the topic again.
        db.execute("PRAGMA synchronous=NORMAL")
        db.executescript(SCHEMA)
        known = db.execute("SELECT value FROM meta WHERE key = 'made'").fetchone()
        made = f"{VERSION} {log_id}"
        if known is None or known[0] != made:
            db.executescript("BEGIN IMMEDIATE; DELETE FROM first; DELETE FROM skipped; DELETE FROM marks;")
            db.execute("INSERT OR REPLACE INTO meta VALUES ('made', ?)", (made,))
            db.execute("COMMIT")
        return db

    def next(self, partition: int) -> int:
        """The first offset that the index has not seen."""
        row = self._db.execute("SELECT next FROM marks WHERE partition = ?", (partition,)).fetchone()
        return 0 if row is None else int(row[0])

    def skipped(self, partition: int, start: int, stop: int) -> set[int]:
        """The offsets in start <= offset < stop that do not count, of those the index has seen."""
        rows = self._db.execute(
            "SELECT offset FROM skipped WHERE partition = ? AND offset >= ? AND offset < ?", (partition, start, stop)
        )
        return {row[0] for row in rows}

    def first(self, space: str, id_: str) -> First | None:
        """The first record of an id, where the index has seen it."""
        row = self._db.execute("SELECT offset, at, said FROM first WHERE key = ?", (id_key(space, id_),)).fetchone()
        return None if row is None else First(*row)

    def add(self, partition: int, start: int, stop: int, found: Sequence[Read | Broken]) -> None:
        """Takes up the records of start <= offset < stop, in order; those seen before change nothing.

        Nothing at all where the index does not reach up to `start`. Raises LogError where the file cannot be written.
        """
        with self._writing():
            next_ = self.next(partition)
            if not start <= next_ < stop:
                return
            new = [record for record in found if record.offset >= next_]
            skipped = [record.offset for record in new if isinstance(record, Broken)]
            skipped += self._take([record for record in new if isinstance(record, Read)])
            self._db.executemany("INSERT INTO skipped VALUES (?, ?)", [(partition, offset) for offset in skipped])
            self._db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (partition, stop))

    def skip_to(self, partition: int, begin: int) -> None:
        """Takes the partition to begin at `begin`, where the index has seen less of it."""
        with self._writing():
            if self.next(partition) < begin:
                self._db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (partition, begin))

    def _take(self, found: Sequence[Read]) -> list[int]:
        """Takes up the first of each id; the offsets of the others."""
        rows = [(id_key(r.event.space, r.event.id), r.offset, r.event.at, saying(r.value), r.appended) for r in found]
        before = self._db.total_changes
        self._db.executemany(
            "INSERT INTO first VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET offset = excluded.offset, "
            f"at = excluded.at, said = excluded.said, appended = excluded.appended WHERE excluded.appended > "
            f"first.appended + {REPEATS}",
            rows,
        )
        if self._db.total_changes - before == len(rows):
            return []
        ask = "SELECT offset FROM first WHERE key = ?"
        return [offset for key, offset, *_ in rows if self._db.execute(ask, (key,)).fetchone()[0] != offset]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._one:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise LogError(
                f"the index of ids {self._path} cannot be written: {error}",
                "free disk space, or remove the file: it is made again from the log",
            ) from error

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


def saying(value: bytes) -> bytes:
    """A hash of all that an event says but its time, from its canonical bytes.

    Why in the bytes: there, `at` follows `space` and `id`, and a name between unescaped quotes is that of a field.
    """
    before, _, after = value.partition(b',"at":')
    return hashlib.blake2b(before + after[after.index(b",") :], digest_size=16).digest()


def same(event: Outside, first: First) -> bool:
    """Whether an event says what the first of its id said; its time may be left to the log."""
    return event.at in (AT_APPEND, first.at) and saying(encode(event)) == first.said


def id_key(space: str, id_: str) -> bytes:
    """What an id is remembered under."""
    return hashlib.blake2b(f"{space}\0{id_}".encode(), digest_size=16).digest()
