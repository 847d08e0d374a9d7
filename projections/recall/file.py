"""The file of a recall index: SQLite beside the memory that it is derived from, and how columns lie in it.

    blocks    documents of a space from `first` on: columns, ids, and the sessions and speakers that begin with them.
              While they are few (the tail of the space) also `words`: the terms of these documents, inverted
    turns     what they said
    endings   documents that are not shown any more, and from which position on
    postings  once a tail is full: where a term occurs, a block per tail, appended and never changed
    records   that mechanisms keep by key, each version from which position on, and until which the next one came
    members   what belongs to which part of a group, from which position on, and until which
    clocks    the greatest time up to each outside event that is no document

It is a cache: whoever finds it missing, damaged or of another memory makes it again, nothing in it is worth an fsync.
What is read is checked against sums of what was written, its keys and place included, so a bit that flipped gives no
wrong answer; what SQLite does not find any more is missed by none of them, so a file that was closed has a sum as well,
in a file beside it. By that it is checked when it is opened, where the file system says that it was written since. The
sum of a row is less by the `until` of it: whoever ends a row need not know the rest of it.
A transaction adds documents with the mark of how far they go, so whatever kills a writer leaves an index of a prefix.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from projections.lock import locked
from streams.core.errors import FULL, BusyError, NoRoomError

LATEST = 2**63 - 2
"""The position that everything there is lies before; the `until` of what still lasts."""
PATIENCE = 600.0
"""Seconds to wait for another process that is indexing the same memory."""

_TABLES = f"""
CREATE TABLE identity (value TEXT);
CREATE TABLE marks (partition INTEGER PRIMARY KEY, position INTEGER, hash BLOB, sum INTEGER);
CREATE TABLE spaces (number INTEGER PRIMARY KEY, name TEXT UNIQUE, documents INTEGER, flushed INTEGER, endings INTEGER,
    sum INTEGER);
CREATE TABLE blocks (space INTEGER, first INTEGER, count INTEGER, data BLOB, words BLOB, PRIMARY KEY (space, first));
CREATE TABLE turns (space INTEGER, position INTEGER, data BLOB, PRIMARY KEY (space, position)) WITHOUT ROWID;
CREATE TABLE endings (space INTEGER, document INTEGER, position INTEGER, sum INTEGER, PRIMARY KEY (space, document))
    WITHOUT ROWID;
CREATE TABLE postings (space INTEGER, term TEXT, first INTEGER, data BLOB, PRIMARY KEY (space, term, first))
    WITHOUT ROWID;
CREATE TABLE records (space INTEGER, name TEXT, key TEXT, thing TEXT, position INTEGER, ordinal INTEGER, data BLOB,
    until INTEGER, sum INTEGER, PRIMARY KEY (space, name, key, thing, position, ordinal)) WITHOUT ROWID;
CREATE INDEX lasting ON records (space, name, key, thing) WHERE until = {LATEST};
CREATE TABLE members (space INTEGER, name TEXT, thing TEXT, position INTEGER, ordinal INTEGER, part TEXT, until INTEGER,
    sum INTEGER, PRIMARY KEY (space, name, thing, position, ordinal)) WITHOUT ROWID;
CREATE INDEX parts ON members (space, name, part, until, position, ordinal);
CREATE TABLE clocks (space INTEGER, position INTEGER, at INTEGER, sum INTEGER, PRIMARY KEY (space, position))
    WITHOUT ROWID;
"""
SEAL = 8
"""Digits of the sum behind what an index says it is of."""
_NEWLINE = 10
TICK = 50_000_000
"""Nanoseconds, more than any file system's clock goes on by at once. A file whose sum is made in less is read again."""
_AROUND = (*FULL, "I/O", "readonly", "unable to open", "locked")
"""What SQLite says where the file may be as it should."""


class DamagedError(Exception):
    """The index file is no index; it is to be made again."""


def path_of(memory: Path) -> Path:
    """Where the index of a memory file lies."""
    return memory.with_suffix(".recall")


def writing(path: Path, patience: float = PATIENCE) -> AbstractContextManager[object]:
    """Holds the right to write the index at `path`: one process at a time makes it or adds to it. Raises BusyError
    after `patience` seconds."""
    busy = BusyError(f"another process is indexing into {path}", "try again when it is done")
    return locked(path.with_name(f".{path.name}.lock"), patience, lambda: busy)


@contextmanager
def mended(path: Path) -> Iterator[None]:
    """Tells apart what can go wrong with the file: it is damaged (DamagedError), or there is no room for it.

    Raises NoRoomError for the latter.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if any(words in str(error) for words in _AROUND):
            raise _no_room(path, str(error)) from error
        raise DamagedError(str(error)) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise DamagedError(str(error)) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise _no_room(path, error.strerror or str(error)) from error
        raise


@contextmanager
def decoding() -> Iterator[None]:
    """What cannot be decoded is damaged."""
    try:
        yield
    except (ValueError, IndexError, KeyError, TypeError, struct.error) as error:
        raise DamagedError(str(error)) from error


def _no_room(path: Path, what: str) -> NoRoomError:
    return NoRoomError(
        f"the index {path} cannot be written: {what}",
        "make room for it (it can be deleted: it is made again from the memory)",
    )


def connect(path: Path) -> sqlite3.Connection:
    """The database at `path`, made where there is none. Raises sqlite3 errors."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA journal_size_limit = 16777216")
    except BaseException:
        connection.close()
        raise
    return connection


def _beside(path: Path) -> Path:
    """The file beside a closed index: the sum of its bytes, 8 hexadecimal digits, and which file that is the sum of."""
    return Path(f"{path}.sum")


def _sum_of(path: Path) -> str:
    found = 0
    with path.open("rb") as data:
        while chunk := data.read(2**20):
            found = crc32(chunk, found)
    return f"{found:08x}"


def _state(path: Path) -> str:
    """Which file it is, and when it was written last: whoever writes it changes that."""
    found = path.stat()
    return f"{found.st_ino} {found.st_size} {found.st_ctime_ns}"


def _tell_sum(path: Path, found: str, state: str) -> None:
    with suppress(OSError):  # no room for it: the file is not checked then
        _beside(path).write_text(f"{found} {state}")


def close(connection: sqlite3.Connection, path: Path) -> None:
    """Closes the file, and says what it holds where nobody else has it open. The caller holds the right to write."""
    connection.close()
    beside = _beside(path)
    if not beside.exists() and not Path(f"{path}-wal").exists():
        with suppress(OSError):
            state = _state(path)
            _tell_sum(path, _sum_of(path), state)


def check_closed(path: Path, whole: bool = False) -> None:
    """Checks a file that was closed: all its bytes, where the file system says that it was written since. The caller
    holds the right to write, but for one who asks for the `whole` file and only looks. Raises DamagedError.

    Why not always by its sum: a home of a million turns has an index of two gigabytes, and every command would read
    them. What the file system does not know to be written is told by the sums of rows.
    """
    for part in parts(path):
        if part.is_dir():
            raise DamagedError(f"{part.name} is a folder")
        if part.exists() and os.access(path.parent, os.W_OK) and not os.access(part, os.R_OK | os.W_OK):
            raise DamagedError(f"{part.name} may not be read and written")
    with suppress(FileNotFoundError):
        told, _, state = _beside(path).read_text("ascii", "replace").partition(" ")
        now = _state(path)
        # Why the time between: what is written within one tick of the file system's clock has the time of that tick.
        if not whole and state == now and _beside(path).stat().st_mtime_ns - path.stat().st_ctime_ns > TICK:
            return
        if told != _sum_of(path):
            raise DamagedError("it is not what was closed")
        if not whole:
            _tell_sum(path, told, now)


def about_to_change(path: Path) -> None:
    """What was said of a closed file does not hold from here. The caller holds the right to write."""
    _beside(path).unlink(missing_ok=True)


def parts(path: Path) -> list[Path]:
    """An index file, and what is kept beside it."""
    return [Path(f"{path}{suffix}") for suffix in ("", "-wal", "-shm", ".sum")]


def remove(path: Path) -> None:
    """Deletes an index file, with what is kept beside it."""
    for part in parts(path):
        part.unlink(missing_ok=True)


def identity(connection: sqlite3.Connection) -> str:
    """What the index says it is of; "" for a fresh file. Raises DamagedError."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return ""
    found = str(*connection.execute("SELECT value FROM identity").fetchone() or ())
    if not found or found.endswith("}"):  # of an earlier version
        return found
    told = found[:-SEAL]
    if found != told + _seal(told):
        raise DamagedError("what it says of itself is not what was written")
    return told


def create(connection: sqlite3.Connection, identity: str) -> None:
    """Makes the tables, and says what the index is of."""
    with transaction(connection):
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO identity VALUES (?)", [identity + _seal(identity)])


def _seal(identity: str) -> str:
    return f"{sum_of(identity.encode()):0{SEAL}x}"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # what failed may have rolled back by itself
            connection.execute("ROLLBACK")
        raise


# -- bytes -------------------------------------------------------------------------------------------------------------


def sum_of(data: bytes, *place: object) -> int:
    """A sum of what lies in a row, and of where it lies."""
    return crc32(data, crc32(repr(place).encode(errors="surrogatepass")))


def check(found: int, data: bytes, *place: object) -> None:
    """Raises ValueError where a sum is another than `sum_of` told."""
    if found != sum_of(data, *place):
        raise ValueError("what is there is not what was written")


def sealed(*row: Any) -> tuple[Any, ...]:
    """A row, and the sum of it behind it."""
    return (*row, sum_of(b"", *row))


def unsealed(row: Sequence[Any]) -> Sequence[Any]:
    """What `sealed` was given. Raises DamagedError."""
    with decoding():
        check(row[-1], b"", *row[:-1])
    return row[:-1]


def all_unsealed(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """As `unsealed`, of many rows, in a tenth of the time. Raises DamagedError."""
    with decoding():
        for row in rows:
            told = row[:-1]
            if row[-1] != crc32(repr(told).encode(errors="surrogatepass")):  # what `check` does where no bytes are
                check(row[-1], b"", *told)
            yield told


def lasting(*row: Any) -> tuple[Any, ...]:
    """A row that ends with its `until`, and the sum of it behind it."""
    return (*row, sum_of(b"", *row[:-1]) - row[-1])


def unlasting(row: Sequence[Any]) -> Sequence[Any]:
    """What `lasting` was given, whatever ended the row since. Raises DamagedError."""
    with decoding():
        check(row[-1] + row[-2], b"", *row[:-2])
    return row[:-1]


def all_unlasting(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """As `unlasting`, of many rows, in a third of the time. Raises DamagedError."""
    with decoding():
        for row in rows:
            if row[-1] + row[-2] != crc32(repr(row[:-2]).encode(errors="surrogatepass")):  # as in `all_unsealed`
                check(row[-1] + row[-2], b"", *row[:-2])
            yield row[:-1]


ENDS = f"SET until = ?1, sum = sum + {LATEST} - ?1"
"""SQL: what lasts until now ends at a position."""
SPACE = "SELECT number, name, documents, flushed, endings, sum FROM spaces WHERE name = ?"


def number_of(connection: sqlite3.Connection, name: str) -> int:
    """The number of a space, a new one for an unknown space."""
    row = connection.execute(SPACE, [name]).fetchone()
    if row is None:
        connection.execute("INSERT INTO spaces VALUES (NULL, ?, 0, 0, 0, 0)", [name])
        (number,) = connection.execute("SELECT number FROM spaces WHERE name = ?", [name]).fetchone()
        write_space(connection, number, name, 0, 0, 0)
        return int(number)
    return int(unsealed(row)[0])


def write_space(connection: sqlite3.Connection, *row: Any) -> None:
    """Writes the row of a space: number, name, how many documents it has, how many of them were flushed, and how many
    have ended."""
    connection.execute("INSERT OR REPLACE INTO spaces VALUES (?, ?, ?, ?, ?, ?)", sealed(*row))


def summed(data: bytes, *place: object) -> bytes:
    """Bytes with their sum behind them."""
    return data + struct.pack("<I", sum_of(data, *place))


def unsummed(data: bytes, *place: object) -> bytes:
    """What `summed` was given. Raises ValueError."""
    check(int.from_bytes(data[-4:], "little"), data[:-4], *place)
    return data[:-4]


def all_unsummed(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """As `unsummed`, of many rows, each its place and then the bytes, in half the time. Raises ValueError."""
    for row in rows:
        place, data, found = row[:-1], row[-1][:-4], int.from_bytes(row[-1][-4:], "little")
        if found != crc32(data, crc32(repr(place).encode(errors="surrogatepass"))):  # as in `all_unsealed`
            check(found, data, *place)
        yield *place, data


def pack(parts: Sequence[bytes], *place: object) -> bytes:
    """Several byte strings as one, for a row whose key is `place`."""
    return summed(struct.pack(f"<{len(parts) + 1}I", len(parts), *map(len, parts)) + b"".join(parts), *place)


def unpack(data: bytes, *place: object) -> list[bytes]:
    """What `pack` was given."""
    data = unsummed(data, *place)
    (count,) = struct.unpack_from("<I", data)
    lengths = struct.unpack_from(f"<{count}I", data, 4)
    at = 4 + 4 * count
    parts = []
    for length in lengths:
        parts.append(data[at : at + length])
        at += length
    if at != len(data):
        raise ValueError("a block is cut off")
    return parts


def joined(texts: Sequence[str]) -> bytes:
    """Names and terms (they hold no control characters), one a line."""
    return "".join([f"{text}\n" for text in texts]).encode()


def split(data: bytes) -> list[str]:
    """What `joined` was given."""
    return data.decode().split("\n")[:-1]


def ends(data: bytes) -> NDArray[np.int64]:
    """Where each line of `joined` begins, and the end of the last."""
    breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
    return np.concatenate((np.zeros(1, np.int64), breaks + 1))


def pack_postings(documents: ArrayLike, counts: ArrayLike) -> bytes:
    """The documents that hold a term, and how often."""
    return np.asarray(documents, np.int32).tobytes() + np.asarray(counts, np.uint8).tobytes()


def unpack_postings(data: bytes) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """What `pack_postings` was given."""
    count = len(data) // 5
    return np.frombuffer(data, np.int32, count), np.frombuffer(data, np.uint8, count, 4 * count)
