"""What can be read of a damaged log: its records are looked for in each page of its file and of its journal.

Why not by SQL: one bit in a page that leads to others hides all that it leads to. The log is append-only, so a record
stands in any page as it was written or it is damaged, and the running hash of the log tells which: a record is what was
recorded where its own hash, or that of the record after it, says so. Of the first record after a gap nothing says so:
it counts as lost.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from weakref import finalize

from streams.core.dataclasses import dataclass, field
from streams.core.errors import LogError, UsageError
from streams.core.events import decode
from streams.core.progress import Progress, no_progress
from streams.logs import switch
from streams.logs.encryption import StoredEvent, is_sealed
from streams.logs.erased import SALT
from streams.logs.gate import at_gate
from streams.logs.log import HASH_BYTES, Stored, hashed
from streams.logs.sqlite import BATCH, FAILURES, SqliteLog, keys_in, looked_at, noted
from streams.logs.whole import clear, partial_of, put

PAGE = 4096
FRAME = 24
"""Bytes before each page in a journal, whose first 4 are its number; a header of 32 bytes stands before all."""
LEAF = b"\x0d"
"""The first byte of a page with records of a table."""


class Row(NamedTuple):
    """A record as a page holds it."""

    space: str
    id: str
    type: str
    recorded_at: int
    value: bytes
    hash: bytes

    def after(self, before: bytes) -> bytes:
        """The hash of the log after it, where `before` is that before it."""
        return hashed(before, self.space, self.id, self.recorded_at, self.type, self.value)

    def digest(self) -> bytes:
        """What tells it from any other."""
        return blake2b(self.after(b"") + self.hash, digest_size=HASH_BYTES).digest()

    def event(self) -> StoredEvent | None:
        """It as a log stores it; None where that is neither under a key nor can be decoded."""
        stored = StoredEvent(self.space, self.id, self.type, self.value)
        if is_sealed(self.value):
            return stored
        try:
            event = decode(self.type, self.value)
        except Exception:  # why any: its bytes may be anything
            return None
        return stored if (event.space, event.id) == (self.space, self.id) else None


@dataclass(slots=True)
class Ranges:
    """Offsets, as ranges with both ends."""

    found: list[tuple[int, int]] = field(default_factory=list)

    def add(self, first: int, last: int) -> None:
        """Takes up a range that begins after all others."""
        if self.found and self.found[-1][1] + 1 == first:
            first = self.found.pop()[0]
        if first <= last:
            self.found.append((first, last))

    def count(self) -> int:
        """How many offsets."""
        return sum(last - first + 1 for first, last in self.found)

    def __str__(self) -> str:
        told = [str(first) if first == last else f"{first} to {last}" for first, last in self.found[:10]]
        return ", ".join(told) + (", …" if len(self.found) > 10 else "")


@dataclass(slots=True)
class Rescued:
    """What became of the records of a damaged log."""

    readable: Ranges = field(default_factory=Ranges)
    lost: Ranges = field(default_factory=Ranges)


class Place(NamedTuple):
    """Where a record stands: in the file or its journal, in the page there, at the byte in that."""

    source: int
    page: int
    at: int


class Pages:
    """The pages of a log's file and of its journal, in all versions that are there. Read when they are needed: what
    they hold may be more than there is memory."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError where there is no such file."""
        journal = path.with_name(f"{path.name}-wal")
        self._files: list[int] = []
        self._sizes = [0, 0]
        """Bytes of the file, and of its journal, which may not be there."""
        try:
            for source, one in enumerate((path, journal) if journal.exists() else (path,)):
                self._files.append(handle := os.open(one, os.O_RDONLY))
                finalize(self, os.close, handle)
                self._sizes[source] = os.fstat(handle).st_size
                self._read(source, 0, 1)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}", "name a home with a log") from error
        self._newer: dict[int, int] = {}
        """Where in the journal the last version of a page begins."""
        for at in self._frames():
            self._newer[int.from_bytes(self._read(1, at - FRAME, 4))] = at

    def _read(self, source: int, at: int, size: int) -> bytes:
        return os.pread(self._files[source], size, at)

    def _frames(self) -> range:
        return range(32 + FRAME, self._sizes[1] - PAGE + 1, FRAME + PAGE)

    def leaves(self) -> Iterator[tuple[int, int, bytes]]:
        """All that may hold records: source, where it begins there, and what it is."""
        for source, starts in enumerate((range(0, self._sizes[0], PAGE), self._frames())):
            for at in starts:
                page = self._read(source, at, PAGE)
                if page[:1] == LEAF:
                    yield source, at, page.ljust(PAGE, b"\0")

    def versions(self, number: int) -> Iterator[bytes]:
        """A page by its number, counted from 1: as the journal has it, and as the file does."""
        if at := self._newer.get(number):
            yield self._read(1, at, PAGE)
        if number > 0:
            yield self._read(0, (number - 1) * PAGE, PAGE)

    def rows(self) -> Iterator[tuple[int, Row, Place]]:
        """Whatever looks like a record of the log, with its offset and its place."""
        for source, start, page in self.leaves():
            count = min(int.from_bytes(page[3:5]), PAGE // 4)
            for at in range(8, 8 + 2 * count, 2):
                with suppress(IndexError, ValueError):
                    cell = int.from_bytes(page[at : at + 2])
                    yield *self._row(page, cell), Place(source, start, cell)

    def again(self, places: dict[bytes, Place]) -> list[Row]:
        """The records at places that `rows` told, by their digests; without what somebody wrote over since."""
        found: list[Row] = []
        for digest, (source, start, cell) in places.items():
            with suppress(IndexError, ValueError):
                row = self._row(self._read(source, start, PAGE).ljust(PAGE, b"\0"), cell)[1]
                found += [row] if row.digest() == digest else []
        return found

    def _row(self, page: bytes, at: int) -> tuple[int, Row]:
        size, at = _number(page, at)
        offset, at = _number(page, at)
        return offset, _decoded(self._payload(page, at, size))

    def _payload(self, page: bytes, at: int, size: int) -> bytes:
        """The bytes of a record, of which the first stand in its page, the others in pages that each name the next."""
        if size <= PAGE - 35:
            return page[at : at + size]
        if size > sum(self._sizes):
            raise ValueError("it is longer than all there is")  # pages that name each other have no end
        least = (PAGE - 12) * 32 // 255 - 23
        here = least + (size - least) % (PAGE - 4)
        here = here if here <= PAGE - 35 else least
        parts, left = [page[at : at + here]], size - here
        number = int.from_bytes(page[at + here : at + here + 4])
        while left > 0:
            more = next((page for page in self.versions(number) if len(page) == PAGE), None)
            if more is None:
                raise ValueError("it is cut off")
            parts.append(more[4 : 4 + min(left, PAGE - 4)])
            left -= PAGE - 4
            number = int.from_bytes(more[:4])
        return b"".join(parts)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number as SQLite writes it in one to nine bytes, and where it ends."""
    value = 0
    for _ in range(8):
        value = value << 7 | data[at] & 127
        at += 1
        if data[at - 1] < 128:
            return value, at
    return value << 8 | data[at], at + 1


def _decoded(data: bytes) -> Row:
    """A record of the log. Raises ValueError for what is none."""
    end, at = _number(data, 0)
    kinds: list[int] = []
    while at < end:
        kind, at = _number(data, at)
        kinds.append(kind)
    if len(kinds) != 7 or kinds[0] or kinds[6] != 12 + 2 * HASH_BYTES:
        raise ValueError("it is no record of the log")
    parts: list[bytes] = []
    for kind in kinds[1:]:
        length = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8)[kind]
        parts.append(data[at : at + length])
        at += length
    if at != len(data):
        raise ValueError("it is cut off")
    space, id_, type_, recorded_at, value, hash_ = parts
    return Row(space.decode(), id_.decode(), type_.decode(), int.from_bytes(recorded_at, signed=True), value, hash_)


def readable(path: Path) -> Iterator[tuple[int, Row | None]]:
    """By offset: the record that can be read, or None; offsets of which nothing is there are left out."""
    pages = Pages(path)
    found: dict[int, dict[bytes, Place]] = {}
    for offset, row, place in pages.rows():
        found.setdefault(offset, {}).setdefault(row.digest(), place)
    befores: list[bytes] = [b""]
    last = -1
    following: list[Row] = []
    for offset in sorted(found):
        rows = following if offset == last + 1 and following else pages.again(found[offset])
        following = pages.again(found.get(offset + 1, {}))
        if offset != last + 1:
            befores = []
        sure = [
            (row, after)
            for before in befores
            for row in rows
            if (after := row.after(before)) == row.hash or any(one.after(after) == one.hash for one in following)
        ]
        if sure:
            row, after = sure[0]
            befores = [after]
            yield offset, row
        else:
            befores = [row.hash for row in rows]
            yield offset, None
        last = offset


def look(path: Path) -> Rescued:
    """Which events of a log can be read."""
    rescued = Rescued()
    for _ in _told(path, rescued):
        pass
    return rescued


def _told(path: Path, rescued: Rescued) -> Iterator[tuple[StoredEvent, int]]:
    """The events of a log that can be read, with the times of their recording."""
    end = 0
    for offset, row in readable(path):
        event = None if row is None else row.event()
        if row is None or event is None:
            continue
        rescued.lost.add(end, offset - 1)
        rescued.readable.add(offset, offset)
        end = offset + 1
        yield event, row.recorded_at


def rescue(path: Path, target: Path, progress: Progress = no_progress) -> Rescued:
    """Copies what can be read of a damaged log into a new one, which appears whole or not at all.

    What an erasure was to erase when it was killed is erased before. Raises LogError where the target cannot be
    written, UsageError where it is there already.
    """
    if path.with_name(switch.ORDER).exists():
        with at_gate(path):
            switch.carry_out(path)
    rescued = Rescued()
    partial = partial_of(target)
    clear(target)
    gate = partial.with_name(f"{partial.name}.gate")
    log = SqliteLog(partial)
    try:
        with closing(log):
            batch: list[tuple[StoredEvent, int]] = []
            for one in _told(path, rescued):
                batch.append(one)
                if len(batch) >= BATCH:
                    _append(log, batch)
                    progress(log.end(0), log.end(0))
                    batch = []
            _append(log, batch)
            with suppress(*FAILURES), closing(looked_at(path)) as old:
                for key in ("params", SALT):
                    if found := noted(old, key):
                        log.note(key, found)
                log.keep_keys(keys_in(old))
                log.keep_erased(old.execute("SELECT name, runs, receipt FROM erased").fetchall())
        with closing(sqlite3.connect(partial)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE")  # who reads it then makes no file beside it
        put(partial, target, replace=False)
    finally:
        for left in (partial, gate, *(partial.with_name(f"{partial.name}{end}") for end in ("-wal", "-shm"))):
            left.unlink(missing_ok=True)
    return rescued


def _append(log: SqliteLog, events: list[tuple[StoredEvent, int]]) -> None:
    if strange := [one for one in log.append_recorded(events) if not isinstance(one, Stored)]:
        raise LogError(f"the log says two things of one event: {strange[0]}", "restore the newest backup")
