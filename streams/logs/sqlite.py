"""The embedded log: one SQLite file, appended to by any number of processes at once.

Each record carries the running hash of the log up to it, and is checked against it whenever it is read: a bit that
flipped is never folded, and whoever keeps the hash at a position knows the log again.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from projections.aside import place
from streams.core.driver import Record
from streams.core.errors import BusyError, LogError
from streams.core.events import AT_APPEND, ERASURES, ErasureRecorded, Outside, TurnRecorded, decode
from streams.logs import encryption, erased, switch
from streams.logs.encryption import Cipher, Keys, StoredEvent, is_sealed, key_of, unsealed
from streams.logs.gate import at_gate
from streams.logs.log import Duplicate, Outcome, Refused, Stored, hashed, stamped
from streams.logs.whole import clear, partial_of, put

BATCH = 1000
"""Events per transaction: 92,000 durable appends a second; more gains little and makes others wait."""
PAGE = 2000
"""Records per read transaction: a reader never holds the WAL from being checkpointed for long."""

OTHERS = 5.0
"""Seconds that others, who look into a new log before it takes an old one's place, are waited for."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
    offset INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    value BLOB NOT NULL,
    hash BLOB NOT NULL DEFAULT x'',
    UNIQUE (space, id)
) STRICT;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, hash BLOB) STRICT;
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, space TEXT NOT NULL, made INTEGER NOT NULL, destroyed INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS keys_by_space ON keys (space);
CREATE TRIGGER IF NOT EXISTS append_only_update BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS append_only_delete BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS append_only_insert BEFORE INSERT ON log
WHEN NEW.offset IS NOT (SELECT coalesce(max(offset) + 1, 0) FROM log)
  OR EXISTS (SELECT 1 FROM log WHERE space = NEW.space AND id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""

RECORDS = "SELECT 0, offset, space, recorded_at, type, value, hash, id FROM log WHERE offset >= ? AND offset < ?"
LAST = "SELECT offset, hash FROM log ORDER BY offset DESC LIMIT 1"
WAY_OUT = "`mnemolog doctor` tells what can be read, `mnemolog rescue FILE` copies that; or restore the newest backup"
UNTOLD = "delete it; then `mnemolog encryption` lists the keys, and `mnemolog encryption destroy` tells of one not here"
"""What to do where it cannot be read which keys were destroyed."""


def wall_clock() -> int:
    """UTC microseconds now: the only clock on the way in."""
    return time.time_ns() // 1000


class SqliteLog:
    """A `Log` of one partition in a SQLite file."""

    is_local = True

    partitions = 1

    def __init__(self, path: Path, clock: Callable[[], int] = wall_clock, keys: Keys | None = None) -> None:
        """Opens the log at `path`, making it where there is none; `keys` are those beside it where none are given.

        Raises LogError for a file that is no log."""
        self.path = path
        self.keys = keys or Keys(path.parent)
        self._clock = clock
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: tuple[int, int] | None = None
        self._frozen = False
        """Whether there was no room for what SQLite needs beside the file, so that it can only be read."""
        self._users = -1
        try:
            with self._telling("cannot be opened as a log"), self._exclusive():
                self._open()
        except BaseException:
            self._leave()
            raise

    def _open(self) -> None:
        self._users = self._joined()
        try:
            self._db = self._opened()
        except sqlite3.OperationalError:
            if not _size(self.path):
                raise
            self._db = looked_at(self.path)
            self._frozen = True
        try:
            self._settle_in()
            if not self._frozen:
                self.settle_keys()
        except BaseException:
            self._db.close()
            raise

    def _leave(self) -> None:
        """Has the log no longer open, as far as others see it."""
        if self._users >= 0:
            os.close(self._users)
        self._users = -1

    def _opened(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, timeout=60, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            if "hash" not in columns(db):
                _hash_all(db)
            db.executescript(SCHEMA + erased.TABLE)
            id_ = uuid.uuid4().hex[:12]
            db.execute("INSERT OR IGNORE INTO meta VALUES ('id', ?, ?)", (id_, _hash_of("id", id_)))
        except BaseException:
            db.close()
            raise
        return db

    def _settle_in(self) -> None:
        """Looks at which file is open, and at what it knows to be erased."""
        self._file = _file(self.path)
        salt = noted(self._db, erased.SALT)
        self._salt = salt and bytes.fromhex(salt)
        self._id = ""

    def _follow(self) -> None:
        """Goes on with the log that took this one's place, where one did. The caller is within `_telling`, and has not
        the gate."""
        if self._is_replaced():
            with self._exclusive():
                pass

    def _is_replaced(self) -> bool:
        """Whether another log has taken the place of the one that is open."""
        return _file(self.path) not in (None, self._file)

    def _thaw(self) -> None:
        """Opens a log for writing that there was no room for, where there is now. The caller is within `_telling`."""
        if self._frozen:
            with self._exclusive():
                self._db = self._opened()
                self._settle_in()
            self._frozen = False

    def _joined(self) -> int:
        """A lock that each who has the log open shares, on its folder. Whoever is the first looks at what a crash left.

        Raises LogError for a journal that another log left, once: it is set aside.
        """
        users = os.open(self.path.parent, os.O_RDONLY)
        try:
            with suppress(OSError):  # others have it open, or this file system has no such locks
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if journal := _strange_journal(self.path):
                    journal.rename(aside := place(journal, ".other", again=False))
                    self.path.with_name(f"{self.path.name}-shm").unlink(missing_ok=True)
                    raise LogError(
                        f"beside {self.path} lay a journal that another log left; it is set aside as {aside.name}",
                        "nothing of it was taken up: do again what you did",
                    )
            fcntl.flock(users, fcntl.LOCK_SH)
        except BaseException:
            os.close(users)
            raise
        return users

    @property
    def id(self) -> str:
        """Which log this is."""
        with self._telling("cannot be read"):
            self._follow()
            self._id = self._id or noted(self._db, "id") or ""
            return self._id

    def append(self, events: Sequence[Outside]) -> list[Outcome]:
        """Records events; see `Log.append`."""
        return self._append([(event, None) for event in events])

    def append_recorded(self, recorded: Sequence[tuple[Outside | StoredEvent, int]]) -> list[Outcome]:
        """Records events of another log, each with the time (UTC microseconds) when it was first recorded."""
        return self._append(recorded)

    def _append(self, events: Sequence[tuple[Outside | StoredEvent, int | None]]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for start in range(0, len(events), BATCH):
            outcomes += self._append_batch(events[start : start + BATCH])
        return outcomes

    def _append_batch(self, events: Sequence[tuple[Outside | StoredEvent, int | None]]) -> list[Outcome]:
        made: list[str] = []
        try:
            self._thaw()
            with self._exclusive(), self._transaction():
                last, before = self._last()
                now = self._clock()
                outcomes: list[Outcome] = []
                ciphers = self._ciphers(now, made)
                for event, recorded_at in events:
                    outcome, before = self._record(
                        event, last + 1, now if recorded_at is None else recorded_at, before, ciphers
                    )
                    outcomes.append(outcome)
                    last += isinstance(outcome, Stored)
            for space in made:
                self.keys.taken(space)
        except (*FAILURES, OSError) as error:
            raise LogError(
                f"the log {self.path} did not take the turns: {error}",
                "nothing of this batch was recorded; free disk space or mend the file system, then feed again",
            ) from error
        return outcomes

    def _ciphers(self, now: int, made: list[str]) -> Callable[[str], Cipher | Refused | None] | None:
        """What tells the key of a space, Refused where it is not here, None where the space is in clear; None where all
        are. The caller is in a transaction that writes; a space that has no key gets one, and is named in `made`."""
        if not self.keys.is_on() and not self._db.execute("SELECT EXISTS (SELECT 1 FROM keys)").fetchone()[0]:
            return None
        found: dict[str, Cipher | Refused | None] = {ERASURES: None}

        def cipher(space: str) -> Cipher | Refused | None:
            if space not in found:
                key = self._db.execute("SELECT id FROM keys WHERE space = ? AND destroyed IS NULL", (space,)).fetchone()
                if key is not None:
                    lost = Refused(f"the key of space {space!r} is not in {self.keys.folder}: {encryption.MISSING}")
                    found[space] = self.keys.find(key[0]) or lost
                else:
                    new = found[space] = self.keys.make(space)
                    made.append(space)
                    self._db.execute("INSERT INTO keys VALUES (?, ?, ?, NULL)", (new.id, space, now))
            return found[space]

        return cipher

    def _record(
        self, event: Outside | StoredEvent, offset: int, now: int, before: bytes,
        ciphers: Callable[[str], Cipher | Refused | None] | None,
    ) -> tuple[Outcome, bytes]:  # fmt: skip
        """What becomes of an event after a record with the hash `before`, and the hash after it."""
        if isinstance(event, StoredEvent):
            return self._insert(offset, event, now, before)
        cipher = ciphers and ciphers(event.space)
        if isinstance(cipher, Refused):
            return cipher, before
        named = cipher.name(event.id) if cipher else event.id
        known = self._known(event.space, event.id, named)
        if known is not None:
            at, type_, first = known
            if cipher and is_sealed(first):
                first = cipher.unseal(event.space, type_, first)
            return self._again(event, at, type_, first), before
        if self._salt:
            name = erased.name_of(self._salt, event.space, event.id)
            if self._db.execute("SELECT 1 FROM erased WHERE name = ?", (name,)).fetchone():
                return Refused(f"id: {event.id!r} in space {event.space!r} was erased", erased=True), before
        taken = stamped(event, now)
        if isinstance(taken, Refused):
            return taken, before
        event, value = taken
        stored = StoredEvent(event.space, event.id, event.type, value)
        if cipher:
            sealed = cipher.seal(event.space, event.type, value)
            stored = StoredEvent(event.space, named, event.type, sealed)
        return self._insert(offset, stored, now, before)

    def _known(self, space: str, id_: str, name: str) -> tuple[int, str, bytes] | None:
        """What is stored under an id, or the name that it has by a key: offset, type and value."""
        where, names = ("id = ?", (id_,)) if name == id_ else ("id IN (?, ?)", (id_, name))
        query = f"SELECT offset, type, value FROM log WHERE space = ? AND {where}"
        found: tuple[int, str, bytes] | None = self._db.execute(query, (space, *names)).fetchone()
        return found

    def _insert(self, offset: int, event: StoredEvent, now: int, before: bytes) -> tuple[Outcome, bytes]:
        space, id_, type_, value = event
        after = hashed(before, space, id_, now, type_, value)
        self._db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", (offset, space, id_, type_, now, value, after))
        return Stored(0, offset), after

    def _again(self, event: Outside, offset: int, type_: str, value: bytes) -> Outcome:
        first = decode(type_, value)
        if event.at == AT_APPEND:
            event = replace(event, at=first.at)
        if self._salt and isinstance(event, TurnRecorded) and event != first:  # what it answers may have been erased
            event = replace(event, reply_to="")
        if event == first:
            return Duplicate(0, offset)
        return Refused(
            f"id: {event.id!r} is taken in space {event.space!r} by another event, first recorded at offset {offset}",
            taken=True,
        )

    def read(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The records from `start` up to `stop`; see `Log.read`. Raises LogError at one that is damaged."""
        return unsealed(self.stored(partition, start, stop), self.key)

    def stored(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The same as they are stored; see `Log.stored`. Raises LogError where an erasure makes a new log meanwhile."""
        end = self.end(partition)
        end = end if stop is None else min(stop, end)
        db = self._db
        try:
            with self._telling("cannot be read"):
                yield from checked(db, start, end)
        except LogError:
            if db is not self._db:  # it was closed
                raise LogError("an erasure made a new log meanwhile", "do it again") from None
            raise

    def key(self, id_: str) -> Cipher | None:
        """A key at work; None where it is not here, or was destroyed."""
        return self.keys.find(id_) if self.holds(id_) else None

    def holds(self, key: str) -> bool:
        """Whether what is under a key can be read."""
        with self._telling("cannot be read"):
            gone = self._db.execute("SELECT 1 FROM keys WHERE id = ? AND destroyed IS NOT NULL", (key,)).fetchone()
        return gone is None and self.keys.holds(key)

    def unread(self) -> dict[str, str]:
        """The spaces whose keys are not here, though nobody destroyed them, by key."""
        return {id_: space for id_, space, _, destroyed in self.known_keys() if not (destroyed or self.keys.holds(id_))}

    def known_keys(self) -> list[tuple[str, str, int, int | None]]:
        """The keys that events were recorded under: id, space, made and destroyed (UTC microseconds), oldest first."""
        with self._telling("cannot be read"):
            self._follow()
            return keys_in(self._db)

    def make_keys(self) -> None:
        """Has each space have a key, where new ones get one: what copies the log then seals all of it."""
        made: list[str] = []
        with self._telling("cannot be written"), self._exclusive(), self._transaction():
            if cipher := self._ciphers(self._clock(), made):
                for (space,) in self._db.execute("SELECT DISTINCT space FROM log").fetchall():
                    cipher(space)
        for space in made:
            self.keys.taken(space)

    def keep_keys(self, rows: Iterable[tuple[str, str, int, int | None]]) -> None:
        """Keeps what another log knows of keys."""
        with self._telling("cannot be written"), self._exclusive(), self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO keys VALUES (?, ?, ?, ?)", rows)

    def under(self, space: str) -> dict[tuple[str, str], int]:
        """How many events of a space are under which key ("" for those in clear), by type."""
        with self._telling("cannot be read"):
            rows = self._db.execute(
                "SELECT substr(value, 1, ?), type, count(*) FROM log WHERE space = ? GROUP BY 1, 2",
                (encryption.HEAD, space),
            ).fetchall()
        found: dict[tuple[str, str], int] = {}
        for head, type_, count in rows:
            name = key_of(head) if is_sealed(head) else "", type_
            found[name] = found.get(name, 0) + count
        return found

    def settle_keys(self) -> None:
        """Has the log know of keys that were destroyed; see `streams.runtime.erasure.keys`. The caller has the gate.

        Raises LogError where what was written down of that is damaged."""
        place = self.path.with_name(switch.DESTROYED)
        if not place.exists():
            return
        told = switch.written(place, UNTOLD)
        if not switch.concerns(told, self.path):
            return
        with self._transaction():
            now = self._clock()
            last, before = self._last()
            id_, end, hash_ = noted(self._db, "id") or "", last + 1, before.hex()
            receipt = ErasureRecorded(
                space=ERASURES, at=AT_APPEND, quotes=0, log_before=id_, events_before=end, hash_before=hash_,
                log_after=id_, events_after=end, hash_after=hash_, names=erased.digest(()), **told["receipt"],
            )  # fmt: skip
            self._record(receipt, end, now, before, None)
            gone = "UPDATE keys SET destroyed = ? WHERE id = ? AND destroyed IS NULL"
            self._db.executemany(gone, [(now, key) for key in told["keys"]])
        place.unlink()

    def end(self, partition: int) -> int:
        """The offset that the next record will get."""
        with self._telling("cannot be read"):
            with suppress(sqlite3.OperationalError):
                self._thaw()
            self._follow()
            return int(self._db.execute("SELECT coalesce(max(offset) + 1, 0) FROM log").fetchone()[0])

    def note(self, key: str, value: str) -> None:
        """Keeps a word about the log in the log's file, so that a backup holds it too."""
        with self._telling("cannot be written"):
            self._thaw()
        with self._telling("cannot be written"), self._exclusive():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (key, value, _hash_of(key, value)))

    def noted(self, key: str) -> str | None:
        """What was noted under `key`."""
        with self._telling("cannot be read"):
            self._follow()
            return noted(self._db, key)

    def offset_of(self, space: str, id_: str) -> int | None:
        """Where an event stands."""
        with self._telling("cannot be read"):
            key = self._db.execute("SELECT id FROM keys WHERE space = ? AND destroyed IS NULL", (space,)).fetchone()
            cipher = key and self.keys.find(key[0])
            known = self._known(space, id_, cipher.name(id_) if cipher else id_)
            return None if known is None else known[0]

    def notes(self) -> dict[str, str]:
        """All that was noted but the id, by key."""
        with self._telling("cannot be read"):
            return dict(self._db.execute("SELECT key, value FROM meta WHERE key != 'id'").fetchall())

    def keep_erased(self, rows: Iterable[tuple[bytes, bytes, str]]) -> None:
        """Keeps what is known of events that were erased: name, runs and receipt; see `streams.logs.erased`."""
        with self._telling("cannot be written"), self._exclusive(), self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO erased VALUES (?, ?, ?)", rows)

    def erased(self) -> list[tuple[bytes, bytes, str]]:
        """What is known of events that were erased, in the order of names."""
        with self._telling("cannot be read"):
            self._follow()
            return self._db.execute("SELECT name, runs, receipt FROM erased ORDER BY name").fetchall()

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Nobody appends meanwhile, this one neither."""
        with self._exclusive():
            yield

    def succeed(self, folder: Path) -> SqliteLog:
        """A new, empty log in `folder`, which may take this one's place."""
        self.make_keys()
        return self.successor(folder)

    def successor(self, folder: Path) -> SqliteLog:
        """The log that `succeed` made."""
        new = SqliteLog(folder / self.path.name, self._clock, keys=self.keys)
        new.keep_keys(self.known_keys())
        return new

    def give_way(self, folder: Path, gone: Sequence[str], moves: Sequence[str]) -> None:
        """The successor in `folder` takes this one's place; see `switch`. The caller has this one halted.

        Raises LogError where the successor is not whole in its file: this one stays as it is then."""
        with self._telling("cannot give way to another log"):
            _gather(folder / self.path.name)
        switch.order(self.path, gone, moves)
        switch.carry_out(self.path)

    def discard(self, folder: Path) -> None:
        """Throws away a successor that did not take this one's place."""
        with self._exclusive():
            switch.remove(folder)

    def resume(self, folder: Path, gone: Callable[[], Sequence[str]]) -> None:
        """Nothing: whoever comes to the gate has done it."""

    def follow(self) -> None:
        """Nothing: whoever comes to the gate has done it."""

    def is_former(self, home: Path) -> bool:
        """Never: whoever comes to the gate has done it."""
        return False

    def bury(self) -> None:
        """Nothing: whoever comes to the gate has done it."""

    def strays(self) -> list[str]:
        """Nothing: all of it is in the home."""
        return []

    def elsewhere(self) -> Iterator[tuple[str, bytes]]:
        """Nothing: all of it is in the home."""
        return iter(())

    def backup(self, target: Path, replace: bool = True) -> int:
        """Writes a consistent copy to `target`, which appears whole or not at all; the number of events in it.

        Raises LogError where the target cannot be written, or the log is damaged, UsageError where it is there already
        and is not to be replaced.
        """
        partial = partial_of(target)
        try:
            clear(target)
            with closing(sqlite3.connect(partial)) as copy:
                self._db.backup(copy, pages=2000)
                copy.execute("PRAGMA journal_mode=DELETE")
                count = int(copy.execute("SELECT count(*) FROM log").fetchone()[0])
                with self._telling("cannot be read"):
                    for _ in checked(copy, 0, count):
                        pass
            if self._is_replaced():
                raise LogError("an erasure made a new log meanwhile", "back up again")
            put(partial, target, replace)
        except (*FAILURES, OSError) as error:
            raise LogError(f"no backup at {target}: {error}", "choose a place that can be written") from error
        finally:
            partial.unlink(missing_ok=True)
        return count

    def close(self) -> None:
        """Closes the file (behind the gate: the last one to close checkpoints)."""
        try:
            with self._exclusive():
                self._db.close()
        except BusyError:  # who holds the gate and is suspended has it open, so this one is not the last
            self._db.close()
        self._leave()

    def _last(self) -> tuple[int, bytes]:
        """Offset and hash of the last record; before the first, -1 and nothing."""
        return self._db.execute(LAST).fetchone() or (-1, b"")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with at_gate(self.path):
            switch.carry_out(self.path)
            if self._file and self._is_replaced():
                self._db.close()
                self._db = self._opened()
                self._frozen = False
                self._settle_in()
            if self._file and not self._frozen:
                self.settle_keys()
            yield

    @contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """Raises LogError for what SQLite does not like: the file is damaged, or there is no room beside it."""
        try:
            yield
        except FAILURES as error:
            if is_damage(error):
                raise LogError(f"{self.path} is damaged: {error}", WAY_OUT) from error
            said = f"{self.path} {what}: {error}"
            raise LogError(said, "make room, or mend the file system, then try again") from error


class SeenLog(SqliteLog):
    """A log that is only looked at: no file is made or changed, no lock is held, nobody is waited for."""

    def __init__(self, path: Path) -> None:
        """Raises LogError for a file that cannot be read as a log."""
        self.path = path
        self.keys = Keys(path.parent)
        with self._telling("cannot be read"):
            self._db = looked_at(path)
            if "hash" not in columns(self._db):
                self._db.close()
                raise LogError(
                    f"{path} is no log of this version", "any command that opens a log of an earlier one renews it"
                )
            self._settle_in()

    def _follow(self) -> None:
        pass

    def _thaw(self) -> None:
        pass

    def _exclusive(self) -> NoReturn:
        raise LogError(f"{self.path} is only looked at", "open it to write it")

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


class DamageError(Exception):
    """A record or a note is not what was written, or is missing."""


FAILURES = (sqlite3.Error, UnicodeDecodeError, DamageError)
"""What may go wrong with a log's file."""
SAID_OF_DAMAGE = ("decode", "malformed", "no such", "unsupported file format")
"""What SQLite says of damage, among much else that is an OperationalError."""


def is_damage(error: BaseException) -> bool:
    """Whether an error lies in what the file holds, and not in what is around it."""
    if isinstance(error, sqlite3.OperationalError):
        return any(words in str(error) for words in SAID_OF_DAMAGE)
    return isinstance(error, FAILURES)


def checked(db: sqlite3.Connection, start: int, stop: int) -> Iterator[Record]:
    """The records start <= offset < stop of a log's database. Raises DamageError at the first that is damaged."""
    before = db.execute("SELECT hash FROM log WHERE offset = ?", (start - 1,)).fetchone() or (b"",)
    last: bytes = before[0]
    while start < stop:
        page = db.execute(f"{RECORDS} ORDER BY offset", (start, min(start + PAGE, stop))).fetchall()
        for _, offset, space, recorded_at, type_, value, hash_, id_ in page:
            last = hashed(last, space, id_, recorded_at, type_, value)
            if offset != start or hash_ != last:
                raise DamageError(f"the event at offset {start} is not what was recorded")
            yield Record(0, offset, space, recorded_at, type_, value, hash_)
            start += 1
        if not page:
            raise DamageError(f"the event at offset {start} is missing")


def _gather(path: Path) -> None:
    """Has all of a log be in its one file, on the disk; the journal beside it is gone.

    Why not by closing it: SQLite does not tell where the last one to close found no room for that, or was not the last.
    Raises LogError where somebody has it open, what FAILURES names where there is no room.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=OTHERS)) as db:
        known = noted(db, "id"), db.execute(LAST).fetchone()
        try:
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            mode = "" if busy else db.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            mode = ""
        if mode != "delete":
            raise LogError(f"another program has {path} open", "end it, then try again; nothing was changed")
    with path.open("rb+") as written:
        os.fsync(written.fileno())
    with closing(looked_at(path, journal=False)) as db:
        if (noted(db, "id"), db.execute(LAST).fetchone()) != known:
            raise DamageError("its file lacks what its journal had")


def _hash_all(db: sqlite3.Connection) -> None:
    """Gives a log of an earlier version its hashes. (One that is not there yet has no columns either.)"""
    db.execute("BEGIN IMMEDIATE")
    try:
        if columns(db):
            db.execute("DROP TRIGGER IF EXISTS append_only_update")
            db.execute("ALTER TABLE log ADD COLUMN hash BLOB NOT NULL DEFAULT x''")
            db.execute("ALTER TABLE meta ADD COLUMN hash BLOB")
            before, start = b"", 0
            while page := db.execute(RECORDS, (start, start + PAGE)).fetchall():
                for _, start, space, recorded_at, type_, value, _, id_ in page:
                    before = hashed(before, space, id_, recorded_at, type_, value)
                    db.execute("UPDATE log SET hash = ? WHERE offset = ?", (before, start))
                start += 1
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def noted(db: sqlite3.Connection, key: str) -> str | None:
    """What is noted in a log's database under a key. Raises DamageError where that is not what was noted."""
    row = db.execute("SELECT value, hash FROM meta WHERE key = ?", (key,)).fetchone()
    if row is not None and row[1] not in (None, _hash_of(key, row[0])):  # None: noted by an earlier version
        raise DamageError(f"what it notes as {key!r} is not what was noted")
    return None if row is None else str(row[0])


def keys_in(db: sqlite3.Connection) -> list[tuple[str, str, int, int | None]]:
    """What a log's database knows of keys; see `SqliteLog.known_keys`."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'keys'").fetchone():  # of an earlier version
        return []
    return db.execute("SELECT id, space, made, destroyed FROM keys ORDER BY made, space").fetchall()


def _hash_of(key: str, value: str) -> bytes:
    return hashed(b"", key, "", 0, "", value.encode(errors="surrogatepass"))


def columns(db: sqlite3.Connection) -> list[str]:
    """What the records of a log's database consist of; nothing where there is none yet."""
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info('log')")]


def is_sound(path: Path) -> bool:
    """Whether each event of a log's file, its journal included, is what was recorded.

    Raises sqlite3.OperationalError where it cannot be looked at.
    """
    return _known(path) is not None


def is_strange(path: Path) -> bool:
    """Whether the journal beside a log's file is of another log: the file alone is sound, and not with the journal, or
    it is not the same log then. See `is_sound`."""
    # Why so, first: where the log with its journal is sound, and has what the file alone ends with, so is the file, and
    # events need to be read but once.
    if (end := _end(path)) is not None and _known(path, upto=end[1]) == end:
        return False
    alone = _known(path, journal=False)
    return alone is not None and _known(path, upto=alone[1]) != alone


def spaces_in(db: sqlite3.Connection, session: str | None = None) -> list[tuple[str, bool]]:
    """The spaces of a log's file, each with whether something of `session` is in it; with None, whether anything is."""
    # Why recursive: the index finds the next space, where DISTINCT would read all of it.
    spaces = db.execute(
        "WITH RECURSIVE s(space) AS (SELECT min(space) FROM log UNION ALL "
        "SELECT (SELECT min(space) FROM log WHERE space > s.space) FROM s WHERE s.space IS NOT NULL) "
        "SELECT space FROM s WHERE space IS NOT NULL"
    ).fetchall()
    has = (  # what is under a key may be
        "SELECT EXISTS (SELECT 1 FROM log WHERE space = ? AND "
        "CASE WHEN substr(value, 1, 1) = x'01' THEN 1 ELSE CAST(value AS TEXT) ->> 'session' = ? END)"
    )
    return [(space, session is None or bool(db.execute(has, (space, session)).fetchone()[0])) for (space,) in spaces]


def events_in(db: sqlite3.Connection) -> int:
    """How many events a log's file holds."""
    return int(db.execute("SELECT count(*) FROM log").fetchone()[0])


def is_guarded(db: sqlite3.Connection) -> bool:
    """Whether the triggers that refuse changes are in a log's file."""
    return bool(db.execute("SELECT count(*) >= 3 FROM sqlite_master WHERE type = 'trigger'").fetchone()[0])


def looked_at(path: Path, journal: bool = True) -> sqlite3.Connection:
    """A connection that only reads a log's file, also where there is no room for what SQLite needs beside it; without
    `journal`, of the file as it is alone. Raises what FAILURES names.

    Why alone, too, where this user may not write it and it has no journal: what SQLite makes beside it would have its
    rights, and keep out who may write it again."""
    alone = not journal or not (os.access(path, os.W_OK) or _size(path.with_name(f"{path.name}-wal")))
    for how in ("immutable=1",) if alone else ("mode=ro", "immutable=1"):
        db = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=10, check_same_thread=False)
        try:
            db.execute("SELECT name FROM sqlite_schema").fetchall()
        except sqlite3.OperationalError:
            db.close()
            if how == "immutable=1" or _size(path.with_name(f"{path.name}-wal")):  # not all of it is in the file
                raise
        except BaseException:
            db.close()
            raise
        else:
            break
    return db


def _strange_journal(path: Path) -> Path | None:
    """The journal that another log left beside a log; None where there is none."""
    ahead, back = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-journal")
    if _size(back) and _known(path, journal=False):  # a whole log is not to be rolled back
        return back
    return ahead if _size(ahead) and _size(path) and is_strange(path) else None


def _known(path: Path, journal: bool = True, upto: int | None = None) -> tuple[str, int, bytes] | None:
    """Of a log that is sound: its id, its end (`upto` where that is given), and its hash there; None for any other."""
    try:
        with closing(looked_at(path, journal)) as db:
            if not (known := columns(db)) or db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return None
            hashed_ = "hash" in known
            id_ = (noted(db, "id") or "") if hashed_ else ""
            if hashed_:
                noted(db, "params")
            (end,) = db.execute("SELECT coalesce(max(offset) + 1, 0) FROM log").fetchone()
            stop, hash_ = end if upto is None else upto, b""
            for record in checked(db, 0, max(stop, end)) if hashed_ else ():
                hash_ = record.hash if record.offset < stop else hash_
            return id_, stop, hash_
    except FAILURES as error:
        if not is_damage(error):
            raise
        return None


def _end(path: Path) -> tuple[str, int, bytes] | None:
    """As `_known`, of a log's file alone, without looking whether it is sound."""
    try:
        with closing(looked_at(path, journal=False)) as db:
            if "hash" not in columns(db):  # of an earlier version
                return None
            last, hash_ = db.execute(LAST).fetchone() or (-1, b"")
            return noted(db, "id") or "", last + 1, hash_
    except FAILURES as error:
        if not is_damage(error):
            raise
        return None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _file(path: Path) -> tuple[int, int] | None:
    """Which file has that name."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None
