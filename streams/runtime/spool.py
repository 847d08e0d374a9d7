"""State that is too much for memory: encoded records in a file of this process alone, gone with it.

A memory holds all state, but finds one record of it in milliseconds; a spool does in microseconds. It is written when
states that are loaded or come to rest (see `streams.core.processor.State.rest`) are more than `ROOM`, and holds nothing
that the memory does not. Why not before: to write and read a space of 100,000 turns takes longer than all else that its
first answer needs.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from streams.core.processor import Held

ROOM = 64 * 2**20
"""Bytes of records that stay in memory, of all states together, before what comes goes into the file."""
OVERHEAD = 150
"""Bytes that a record takes beside its key and value."""
SMALL = 256
"""Records of a state that stay in memory whatever others take."""
CACHED = 8 * 1024
"""KiB of the file that stay in memory."""


class Spool:
    """The file. It has no name once it is open, so that nothing is left of it however the process ends."""

    def __init__(self, path: Path) -> None:
        """`path` is used while it is made. Whoever makes one is alone with it, by the lock of what it belongs to."""
        self._path = path
        self._file: sqlite3.Connection | None = None
        self._numbers = count()
        self.held = 0
        """Bytes of records that states have in memory."""

    def records(self) -> Spooled:
        """What holds the encoded records of one more state."""
        return Spooled(self, next(self._numbers))

    def read(self, query: str, *values: int | str) -> list[tuple[Any]]:
        """Rows of the file. Raises OSError."""
        with _told():
            return self._file.execute(query, values).fetchall() if self._file else []

    def write(self, query: str, rows: Iterable[tuple[int | str | bytes, ...]]) -> None:
        """Changes the file, wholly or not at all. Raises OSError, as where there is no room for it."""
        with _told():
            if self._file is None:
                self._file = self._made()
            self._file.execute("BEGIN")
            try:
                self._file.executemany(query, rows)
            except BaseException:
                self._file.execute("ROLLBACK")
                raise
            self._file.execute("COMMIT")

    def forget(self, number: int) -> None:
        """Gives back the room of a state's records."""
        if self._file is not None:
            with suppress(sqlite3.Error):
                self._file.execute("DELETE FROM record WHERE state = ?", (number,))

    def _made(self) -> sqlite3.Connection:
        self._path.unlink(missing_ok=True)
        os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        try:
            # One thread at a time folds, not always the same one.
            file = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            for setting in (
                "journal_mode=MEMORY",
                "synchronous=OFF",
                "locking_mode=EXCLUSIVE",
                f"cache_size=-{CACHED}",
            ):
                file.execute(f"PRAGMA {setting}")
            file.execute(
                "CREATE TABLE record (state INTEGER, key TEXT, value BLOB, PRIMARY KEY (state, key)) WITHOUT ROWID"
            )
        finally:
            self._path.unlink()
        return file

    def close(self) -> None:
        """Gives the file back."""
        if self._file is not None:
            self._file.close()
            self._file = None


@contextmanager
def _told() -> Iterator[None]:
    """What SQLite cannot do here is the machine's fault, not that of what is folded. Raises OSError."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"state that is too much for memory cannot be kept: {error}") from error


class Spooled:
    """The encoded records of one state: few of them in memory, many in the file."""

    def __init__(self, spool: Spool, number: int) -> None:
        self._spool = spool
        self._number = number
        self._held = Held()
        """All of them while there is room; afterwards those for which the file had none."""
        self._written = False
        """Whether the file has any: outdated where there is one in `_held`."""

    def get(self, key: str) -> bytes | None:
        """The encoded record at `key`, None where there is none."""
        value = self._held.get(key)
        if value is None and self._written:
            for found in self._spool.read("SELECT value FROM record WHERE state = ? AND key = ?", self._number, key):
                return bytes(found[0])
        return value

    def update(self, records: Mapping[str, bytes]) -> None:
        """Takes these in, in the place of those that have their keys."""
        self._spool.held += _size(records) - _size({key: self._held[key] for key in self._held.keys() & records.keys()})
        self._held.update(records)
        if len(self._held) > SMALL and self._spool.held > ROOM:
            rows = ((self._number, key, value) for key, value in self._held.items())
            with suppress(OSError):  # no room: they stay in memory
                self._spool.write("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", rows)
                self._written = True
                self._let_go()

    def discard(self, key: str) -> None:
        """Forgets the record at `key`, if there is one."""
        if (value := self._held.pop(key, None)) is not None:
            self._spool.held -= _size({key: value})
        if self._written:
            self._spool.write("DELETE FROM record WHERE state = ? AND key = ?", [(self._number, key)])

    def begin(self, prefix: str) -> Iterable[str]:
        """The keys that begin with `prefix`, in any order."""
        within = "SELECT key FROM record WHERE state = ? AND key >= ? AND key < ?"
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else "\U0010ffff"
        rows = self._spool.read(within, self._number, prefix, end) if self._written else []
        return {*self._held.begin(prefix), *(key for (key,) in rows)}

    def _let_go(self) -> None:
        """Gives back the room in memory."""
        self._spool.held -= _size(self._held)
        self._held.clear()

    def __del__(self) -> None:
        self._let_go()
        if self._written:
            self._spool.forget(self._number)


def _size(records: Mapping[str, bytes]) -> int:
    """The bytes of memory that records take, about."""
    return sum(map(len, records)) + sum(map(len, records.values())) + OVERHEAD * len(records)
