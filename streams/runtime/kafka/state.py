"""What the folds of one partition keep: a copy, in SQLite, of what their topic of state holds.

The topic is the truth: a transaction writes changes there with the rows that they belong to, and only then they come
here. So a copy may be lost or late, never ahead; opened again, it reads on in the topic where it stood. Keys there:

    space NUL name      the records of all processors' states of which a turn, a session, ... is the name, see `placed`
    NUL writer/ID       the transactional id of who may write there, see `session`
    NUL last            the last record of the raw log that was folded: its offset, and a hash of it
    NUL mark            the offset of the raw log that is folded next
    NUL ids/OFFSET      ids of a run of raw events, the first of them at this offset, packed

Why by name: most processors keep something of each turn, and of a session for each turn; each in a record of its own,
these were three of four that a turn costs. The value has a line for each: `processor/family record`.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from streams.core.clock import DUE
from streams.core.errors import LogError
from streams.logs.kafka.index import REPEATS
from streams.logs.kafka.records import Message

MARK = b"\x00mark"
IDS = b"\x00ids/"
WRITERS = "writer/"
LAST = "last"
SLACK = 24 * 3_600_000
"""Milliseconds for which ids are kept beyond REPEATS: clocks of brokers differ."""
HELD = 2.0
"""Seconds for which changes wait to be committed: a commit costs as much as some turns, and what a kill takes is read
from the topic again."""
OUTDATED = 60 * 24 * 3600.0
"""Seconds after which a copy that nobody used is made anew: brokers keep deletions of keys for 90 days only."""
_ID = struct.Struct("<16s8sII")
_OLDEST = struct.Struct("<q")
_SPAN = 1 << 32
"""Offsets, and milliseconds, that the ids of one record lie apart, at most: 49 days."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS state (
    space TEXT, name TEXT, value BLOB NOT NULL, PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS due ON state (space, name) WHERE name >= 'due/' AND name < 'due0';
CREATE TABLE IF NOT EXISTS ids (
    key BLOB PRIMARY KEY, said BLOB NOT NULL, offset INTEGER NOT NULL, appended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (first INTEGER PRIMARY KEY, newest INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS places (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
"""
assert DUE == "due/", "the index above is for these keys"

Change = tuple[bytes, bytes | None]
"""Key and value of a record in the topic of state; None deletes."""


class Known(NamedTuple):
    """The first event of an id."""

    key: bytes
    said: bytes
    """Of all that it says but its time, a hash."""
    offset: int
    appended: int
    """Milliseconds since 1970, by the broker's clock."""


def placed(key: str) -> tuple[str, str]:
    """The family of a record's key, and the name under which it is kept together with those of other families: both
    together are the key. A deadline has a name of its own, for the first one of a space is asked for."""
    at = key.find("/")
    return ("", key) if key.startswith(DUE) or not key[: max(0, at)].isidentifier() else (key[:at], key[at:])


def state_key(space: str, name: str) -> bytes:
    """The key of what is kept under a name in a space."""
    return f"{space}\x00{name}".encode()


def writer_key(writer: str) -> bytes:
    """The key of a writer's claim."""
    return state_key("", WRITERS + writer)


def together(records: Mapping[str, bytes]) -> bytes:
    """The value of records that are kept together, by `processor/family`. They are JSON: no line ends within one."""
    return b"\n".join(b"%s %s" % (whose.encode(), record) for whose, record in records.items())


def apart(value: bytes) -> dict[str, bytes]:
    """The records of a value that `together` made."""
    lines = (line.partition(b" ") for line in value.split(b"\n"))
    return {whose.decode(): record for whose, _, record in lines}


def last_folded(message: Message) -> Change:
    """What tells the last record that was folded from any other that may stand in its place one day."""
    return state_key("", LAST), b"%d %s" % (message.offset, hash_of(message))


def hash_of(message: Message) -> bytes:
    """A hash of all that a client said in a record."""
    headers = [(name, value) for name, value in message.headers]
    return hashlib.blake2b(repr((message.key, message.value, headers)).encode(), digest_size=16).hexdigest().encode()


def packed(ids: Iterable[Known]) -> Iterator[Change]:
    """The records that remember the ids of a run: one, but where they lie too far apart for one.

    A run of an old log may be of years.
    """
    together: list[Known] = []
    oldest = newest = 0
    for known in sorted(ids, key=lambda known: known.offset):
        span = min(oldest, known.appended), max(newest, known.appended)
        if together and span[1] - span[0] < _SPAN and known.offset - together[0].offset < _SPAN:
            together.append(known)
            oldest, newest = span
            continue
        if together:
            yield _packed(together, oldest)
        together, oldest, newest = [known], known.appended, known.appended
    if together:
        yield _packed(together, oldest)


def _packed(ids: Sequence[Known], oldest: int) -> Change:
    first = ids[0].offset
    rows = (_ID.pack(known.key, known.said, known.offset - first, known.appended - oldest) for known in ids)
    return IDS + b"%020d" % first, _OLDEST.pack(oldest) + b"".join(rows)


def unpacked(first: int, value: bytes) -> list[Known]:
    """The ids in a record that `packed` made."""
    (oldest,) = _OLDEST.unpack_from(value)
    rows = _ID.iter_unpack(value[_OLDEST.size :])
    return [Known(key, said, first + offset, oldest + age) for key, said, offset, age in rows]


class Kept:
    """The copy of one partition's state, in the file `path` or, with None, in memory."""

    def __init__(self, path: Path | None) -> None:
        """Raises LogError where the file cannot be written. A damaged or outdated one is begun anew."""
        self.path = path
        self.next = 0
        """The offset of the topic of state from which it is read on."""
        self.mark = 0
        """The offset of the raw log that is folded next."""
        self._committed = time.monotonic()
        try:
            if path is not None and path.exists() and time.time() - path.stat().st_mtime > OUTDATED:
                self._remove()
            try:
                self._db = self._open()
            except sqlite3.DatabaseError as error:
                if path is None or isinstance(error, sqlite3.OperationalError):
                    raise
                self._remove()
                self._db = self._open()
        except (sqlite3.Error, OSError) as error:
            raise LogError(f"{path} cannot hold state: {error}", "choose another with --datadir") from error

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path or ":memory:", isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")  # what a power cut takes is read from the topic again
        db.executescript(SCHEMA)
        self._look(db)
        return db

    def _look(self, db: sqlite3.Connection) -> None:
        places = dict(db.execute("SELECT name, at FROM places"))
        self.next, self.mark = places.get("next", 0), places.get("mark", 0)

    def _remove(self) -> None:
        assert self.path is not None
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def clear(self) -> None:
        """Forgets all of it."""
        # A script commits first what is under way.
        self._db.executescript("DELETE FROM state; DELETE FROM ids; DELETE FROM runs; DELETE FROM places;")
        self.next = self.mark = 0

    def take(self, changes: Iterable[Change], next_: int) -> None:
        """Takes over records of the topic of state that stand before offset `next_`, in their order, all or none."""
        newest: dict[tuple[str, str], bytes | None] = {}  # a key may be put, deleted and put again in these
        mark = self.mark
        ids: list[tuple[int, bytes | None]] = []
        for key, value in changes:
            if key == MARK:
                mark = int(value or 0)
            elif key.startswith(IDS):
                ids.append((int(key[len(IDS) :]), value))
            else:
                space, name = key.decode().split("\x00", 1)
                newest[space, name] = value
        puts = [(*key, value) for key, value in newest.items() if value is not None]
        deletes = [key for key, value in newest.items() if value is None]
        db = self._db
        if not db.in_transaction:
            db.execute("BEGIN")
        try:
            if deletes:
                db.executemany("DELETE FROM state WHERE space = ? AND name = ?", deletes)
            if puts:
                db.executemany("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", puts)
            for first, run in ids:
                self._take_ids(first, run)
            db.executemany("INSERT OR REPLACE INTO places VALUES (?, ?)", [("next", next_), ("mark", mark)])
        except BaseException:
            db.execute("ROLLBACK")
            self._look(db)
            raise
        self.next, self.mark = next_, mark
        if time.monotonic() - self._committed >= HELD:
            db.execute("COMMIT")
            self._committed = time.monotonic()

    def _take_ids(self, first: int, run: bytes | None) -> None:
        if run is None:
            self._db.execute("DELETE FROM runs WHERE first = ?", (first,))
            return
        ids = unpacked(first, run)
        self._db.executemany("INSERT OR REPLACE INTO ids VALUES (?, ?, ?, ?)", ids)
        self._db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (first, max(known.appended for known in ids)))

    def changes(self, space: str, changed: Mapping[str, Iterable[tuple[str, bytes | None]]]) -> Iterator[Change]:
        """What the records that changed in a space, by processor and key, change in the topic: of each name all that
        is kept under it then."""
        named: dict[str, dict[str, bytes | None]] = {}
        for stream, records in changed.items():
            for key, record in records:
                family, name = placed(key)
                named.setdefault(name, {})[f"{stream}/{family}"] = record
        for name, news in named.items():
            kept = self._value(space, name)
            left = apart(kept) if kept else {}
            for whose, value in news.items():
                left.pop(whose, None)
                if value is not None:
                    left[whose] = value
            if left or kept:
                yield state_key(space, name), together(left) if left else None

    def space(self, space: str) -> dict[str, dict[str, bytes]]:
        """The records of one space, by processor and key."""
        found: dict[str, dict[str, bytes]] = {}
        for name, value in self._db.execute("SELECT name, value FROM state WHERE space = ?", (space,)):
            for whose, record in apart(value).items():
                stream, _, family = whose.partition("/")
                found.setdefault(stream, {})[family + name] = record
        return found

    def _value(self, space: str, name: str) -> bytes | None:
        row = self._db.execute("SELECT value FROM state WHERE space = ? AND name = ?", (space, name)).fetchone()
        return None if row is None else row[0]

    def writers(self) -> set[str]:
        """The writers whose claims stand."""
        names = self._db.execute("SELECT name FROM state WHERE space = ''")
        return {name.removeprefix(WRITERS) for (name,) in names if name.startswith(WRITERS)}

    def last(self) -> tuple[int, bytes] | None:
        """Offset and hash of the last record that was folded, where a worker noted them."""
        noted = self._value("", LAST)
        if noted is None:
            return None
        offset, said = noted.split()
        return int(offset), said

    def deadlines(self) -> dict[str, str]:
        """The first key with which each space asks for a tick."""
        first = "SELECT space, min(name) FROM state WHERE name >= 'due/' AND name < 'due0' GROUP BY space"
        return dict(self._db.execute(first))

    def known(self, key: bytes) -> Known | None:
        """The first event of an id, where it is remembered."""
        row = self._db.execute("SELECT * FROM ids WHERE key = ?", (key,)).fetchone()
        return None if row is None else Known(*row)

    def forget(self, now: int) -> Iterator[Change]:
        """Lets go of ids that can be no repetition any more at `now` (milliseconds); what takes them from the topic."""
        before = now - REPEATS - SLACK
        runs = [first for (first,) in self._db.execute("SELECT first FROM runs WHERE newest < ?", (before,))]
        if runs:
            self._db.execute("DELETE FROM ids WHERE appended < ?", (before,))
        return ((IDS + b"%020d" % first, None) for first in runs)

    def close(self) -> None:
        """Commits what waits, and closes the file."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._db.close()
