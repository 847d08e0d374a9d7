"""The embedded log: one SQLite file, appended to by any number of processes at once.

WAL with synchronous=FULL, so an append that returned survives a crash. Triggers forbid every change but an append.
Commits and checkpoints happen behind an flock gate: SQLite's own lock is not fair (one of four writers was seen to wait
2.2 s; behind the gate never over 87 ms), and versions before 3.51.3 have a rare race between a WAL reset and a commit.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from streams.core.driver import Record
from streams.core.errors import LogError
from streams.core.events import AT_APPEND, Outside, decode
from streams.logs.log import Duplicate, Outcome, Refused, Stored, stamped

BATCH = 1000
"""Events per transaction: 92,000 durable appends a second; more gains little and makes others wait."""
PAGE = 2000
"""Records per read transaction: a reader never holds the WAL from being checkpointed for long."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
    offset INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (space, id)
) STRICT;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TRIGGER IF NOT EXISTS append_only_update BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS append_only_delete BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS append_only_insert BEFORE INSERT ON log
WHEN NEW.offset IS NOT (SELECT coalesce(max(offset) + 1, 0) FROM log)
  OR EXISTS (SELECT 1 FROM log WHERE space = NEW.space AND id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""


def wall_clock() -> int:
    """UTC microseconds now: the only clock on the way in."""
    return time.time_ns() // 1000


class SqliteLog:
    """A `Log` of one partition in a SQLite file."""

    is_local = True

    partitions = 1

    def __init__(self, path: Path, clock: Callable[[], int] = wall_clock) -> None:
        """Opens the log at `path`, making it where there is none. Raises LogError for a file that is no log."""
        self.path = path
        self._clock = clock
        self._gate = path.with_name(path.name + ".gate")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
            with self._exclusive():
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.executescript(SCHEMA)
                self._db.execute("INSERT OR IGNORE INTO meta VALUES ('id', ?)", (uuid.uuid4().hex[:12],))
        except sqlite3.Error as error:
            raise LogError(f"{path} cannot be opened as a log: {error}", "restore it from a backup") from error

    @property
    def id(self) -> str:
        """Which log this is."""
        found = self.noted("id")
        assert found is not None
        return found

    def append(self, events: Sequence[Outside]) -> list[Outcome]:
        """Records events; see `Log.append`."""
        outcomes: list[Outcome] = []
        for start in range(0, len(events), BATCH):
            outcomes += self._append(events[start : start + BATCH])
        return outcomes

    def _append(self, events: Sequence[Outside]) -> list[Outcome]:
        try:
            with self._exclusive():
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    offset, now = self.end(0), self._clock()
                    outcomes: list[Outcome] = []
                    for event in events:
                        outcome = self._record(event, offset, now)
                        outcomes.append(outcome)
                        offset += isinstance(outcome, Stored)
                    self._db.execute("COMMIT")
                except BaseException:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    raise
        except (sqlite3.Error, OSError) as error:
            raise LogError(
                f"the log {self.path} did not take the turns: {error}",
                "nothing of this batch was recorded; free disk space or mend the file system, then feed again",
            ) from error
        return outcomes

    def _record(self, event: Outside, offset: int, now: int) -> Outcome:
        known = self._db.execute(
            "SELECT offset, type, value FROM log WHERE space = ? AND id = ?", (event.space, event.id)
        ).fetchone()
        if known is not None:
            return self._again(event, *known)
        taken = stamped(event, now)
        if isinstance(taken, Refused):
            return taken
        event, value = taken
        self._db.execute(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", (offset, event.space, event.id, event.type, now, value)
        )
        return Stored(0, offset)

    def _again(self, event: Outside, offset: int, type_: str, value: bytes) -> Outcome:
        first = decode(type_, value)
        if event.at == AT_APPEND:
            event = replace(event, at=first.at)
        if event == first:
            return Duplicate(0, offset)
        return Refused(
            f"id: {event.id!r} is taken in space {event.space!r} by another event, first recorded at offset {offset}"
        )

    def read(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The records from `start` up to `stop`; see `Log.read`."""
        end = self.end(partition) if stop is None else stop
        while start < end:
            page = self._db.execute(
                "SELECT 0, offset, space, recorded_at, type, value FROM log "
                "WHERE offset >= ? AND offset < ? ORDER BY offset",
                (start, min(start + PAGE, end)),
            ).fetchall()
            if not page:
                return
            yield from map(Record._make, page)
            start = page[-1][1] + 1

    def end(self, partition: int) -> int:
        """The offset that the next record will get."""
        return int(self._db.execute("SELECT coalesce(max(offset) + 1, 0) FROM log").fetchone()[0])

    def note(self, key: str, value: str) -> None:
        """Keeps a word about the log in the log's file, so that a backup holds it too."""
        with self._exclusive():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def noted(self, key: str) -> str | None:
        """What was noted under `key`."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def backup(self, target: Path) -> int:
        """Writes a consistent copy to `target`, which appears whole or not at all; the number of events in it.

        Raises LogError where the target cannot be written.
        """
        partial = target.with_name(target.name + ".partial")
        try:
            partial.unlink(missing_ok=True)
            copy = sqlite3.connect(partial)
            self._db.backup(copy, pages=2000)
            copy.execute("PRAGMA journal_mode=DELETE")
            count = int(copy.execute("SELECT count(*) FROM log").fetchone()[0])
            copy.close()
            with partial.open("rb+") as written:
                os.fsync(written.fileno())
            partial.replace(target)
        except (sqlite3.Error, OSError) as error:
            partial.unlink(missing_ok=True)
            raise LogError(f"no backup at {target}: {error}", "choose a place that can be written") from error
        return count

    def close(self) -> None:
        """Closes the file (behind the gate: the last one to close checkpoints)."""
        with self._exclusive():
            self._db.close()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with self._gate.open("wb") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            yield
