"""One memory in one DuckDB file: append-only typed tables, one per event type, and views over them.

The only place that imports duckdb. One process writes; everyone else reads a snapshot or asks the writer.

Why `_duckdb`, the engine and its errors, and not the package around it: the package reads relations, expressions and
data frames in as well, of which nothing is used here, and that takes as long as to open a memory and answer.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import _duckdb as duckdb
import orjson

from projections.tables import Folded, create_sql, table_of, tables
from projections.views import view_names, views_sql
from streams.core.errors import (
    Aside,
    BusyError,
    DamagedError,
    MemoryFileError,
    NoRoomError,
    UnreadableError,
    UsageError,
    says_full,
)
from streams.core.events import OUTSIDE
from streams.core.processor import RAW, Processor

if TYPE_CHECKING:  # see projections/tables.py
    import pyarrow as pa

FORMAT = "5"
"""Of the memory file; a file of another format is refused."""
COMPACT = 5_000
"""Rows added to the journal of state, and no fewer than it had, after which it is rewritten."""
SPARSE = 0.2
"""Share of a file that holds nothing, or may be outdated, from which on it is worth writing anew."""
WORTH = 3 * 2**20
"""Bytes of it for which it is never worth it: to write a small file anew takes as long as three questions to it."""

OWN_TABLES = (
    "CREATE TABLE meta (key VARCHAR, value VARCHAR)",
    "CREATE TABLE marks (partition INTEGER, position BIGINT, hash BLOB)",
    "CREATE TABLE state (lineage VARCHAR, space VARCHAR, key VARCHAR, value BLOB, seq BIGINT)",
)
EVENT_TABLES = (
    "SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT temporary "
    "AND table_name NOT IN ('meta', 'marks', 'state') ORDER BY table_name"
)
_COLUMNS = (
    "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = current_database() "
    "ORDER BY table_name, column_index"
)
SETTINGS: dict[str, Any] = {
    "autoinstall_known_extensions": "false",  # an unknown function would otherwise stall on the network
    "TimeZone": "UTC",
    "checkpoint_threshold": "64MB",  # a checkpoint every 16 MB of WAL is a third of the cost of a fold
    "preserve_insertion_order": "false",  # positions order rows; inserts and copies run in parallel without it
}

WRITER_SETTINGS: dict[str, Any] = SETTINGS | {
    # with many small tables, blocks of the usual 256 KB make a file of 300 turns 16 MB; of 64 KB, 4.5, as fast
    "default_block_size": "65536",
    "memory_limit": "256MB",  # most of it holds blocks of the file, as many as there is room for
}

READER_SETTINGS: dict[str, Any] = SETTINGS | {"memory_limit": "2GB"}

ALONE: dict[str, Any] = {"enable_external_access": "false", "lock_configuration": "true"}
"""Of a connection that sees its memory alone, whatever it is asked."""
FEW = 256
"""Rows up to which values are handed over one by one: to register columns costs more than to insert so many."""

WAY_OUT = "replay the log into a new memory"
MAKE_ROOM = "make room, then do it again: nothing that was acknowledged is lost"

ASKERS = (
    duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError, duckdb.PermissionException,
    duckdb.TransactionException, duckdb.OutOfMemoryException, duckdb.InterruptException,
)  # fmt: skip
"""Errors that lie in what was asked; all others lie in the memory, or in where it is kept."""

Connection = duckdb.DuckDBPyConnection


StateChange = tuple[str, str, str, bytes | None]
"""(lineage, space, key, value); None deletes."""


@dataclass(slots=True)
class Batch:
    """What one commit adds: columns by event class, state changes by lineage, and how far the raw log was folded."""

    tables: dict[type, pa.Table]
    state: list[StateChange]
    marks: dict[int, int]
    """The offset of the last raw event folded, by partition."""
    hashes: dict[int, bytes] = field(default_factory=dict)
    """What the log is known by up to there, by partition; b"" for what is not known."""
    first: bool = False
    """Whether no key of `state` was saved before, as in a replay: then nothing of it is outdated."""
    aside: Sequence[Aside] = ()
    """What could not be folded."""
    resume: dict[str, int] = field(default_factory=dict)
    """Where whoever fills the memory from other streams reads on, by stream and partition."""


Known = dict[int, tuple[int, bytes]]
"""What of a log is in something that was derived from it, by partition: the last offset, and the log's hash there."""


def marked(known: Known) -> Batch:
    """What says how far the log was folded, and nothing else."""
    marks = {partition: offset for partition, (offset, _) in known.items()}
    return Batch({}, [], marks, {partition: hash_ for partition, (_, hash_) in known.items()})


def joined(batches: Sequence[Batch]) -> Batch:
    """The rows of several batches as one; their state and marks are left out."""
    import pyarrow as pa

    parts: dict[type, list[pa.Table]] = {}
    for batch in batches:
        for cls, columns in batch.tables.items():
            parts.setdefault(cls, []).append(columns)
    aside = [one for batch in batches for one in batch.aside]
    return Batch({cls: pa.concat_tables(found) for cls, found in parts.items()}, [], {}, aside=aside)


def connect(path: Path | None, read_only: bool = False, files: bool = False) -> Connection:
    """A connection that never reaches for the network, and for no other file unless `files`.

    Raises MemoryFileError or BusyError, both with a way out.
    """
    try:
        settings = (READER_SETTINGS if read_only else WRITER_SETTINGS) | ({} if files else ALONE)
        return duckdb.connect(str(path) if path else ":memory:", read_only, settings)
    except duckdb.IOException as error:
        if "lock" in str(error):
            held = re.search(r"held in (.+? \(PID \d+\))", str(error))
            raise BusyError(
                f"{path} is open in another process{f', {held[1]}' if held else ''}",
                "try again when it has ended; who only asks asks a copy: `mnemolog sql`",
            ) from error
        if says_full(error):
            raise NoRoomError(f"{path} cannot be opened: {first_line(error)}", MAKE_ROOM) from error
        raise DamagedError(f"{path} cannot be opened: {first_line(error)}", WAY_OUT) from error
    except duckdb.Error as error:
        raise DamagedError(f"{path} is damaged: {first_line(error)}", WAY_OUT) from error


def in_memory() -> Connection:
    """A database of its own that sees no file, and of which nothing ever comes to a disk."""
    return duckdb.connect(":memory:", config=READER_SETTINGS | ALONE | {"temp_directory": ""})


class Extent(NamedTuple):
    """How far a memory goes: known by its writer, or asked of its tables."""

    known: Known
    rows: Mapping[str, int]
    """A count for each table that grows when the table does; none stands for 0."""
    before: Known | None = None
    """How far the memory went when its writer began to count; None where all rows are counted."""

    @property
    def ends(self) -> dict[int, int]:
        """The offset of the last raw event folded, by partition."""
        return {partition: end for partition, (end, _) in self.known.items()}


class View(NamedTuple):
    """How far a memory goes, all at one moment."""

    extent: Extent
    """Of its tables."""
    ahead: tuple[Folded, ...] = ()
    """What was folded beyond them."""

    def mark(self, partition: int) -> int:
        """The offset of the last raw event folded; -1 for none."""
        known = self.extent.ends.get(partition, -1)
        return max([known, *(page.marks.get(partition, -1) for page in self.ahead)])


def extent(connection: Connection) -> Extent:
    """What the tables of a memory say."""
    return Extent(
        known_by(connection),
        dict(connection.execute("SELECT table_name, estimated_size FROM duckdb_tables()").fetchall()),
    )


ABSENT = (duckdb.CatalogException, duckdb.BinderException)
"""What is raised where a memory has no such table, view or column."""


class Store:
    """The writer of one memory file."""

    def __init__(self, path: Path, connection: Connection, processors: Sequence[Processor[Any]]) -> None:
        self.path = path
        self.connection = connection
        self.processors = processors
        self.said = all_meta(connection)
        """All that the memory says of itself; changed by `set_meta`."""
        self.lineages: dict[str, str] = orjson.loads(self.meta("lineages"))
        self.saved_bytes = 0
        """Of state, since this store was opened."""
        self._bulk = False
        self._copied: BinaryIO | None = None
        """The file, open to be copied. Why kept: a process that closes a file once loses all its locks on it, and those
        of the connection keep other writers away."""
        known = known_by(connection)
        self._extent = Extent(known, {}, known)
        self._count()
        self._lineage_of = dict.fromkeys(OUTSIDE.values(), self.lineages[RAW])
        self._lineage_of |= {
            cls: self.lineages[p.name] for p in processors if p.name in self.lineages for cls in p.emits
        }

    @classmethod
    def create(cls, path: Path, processors: Sequence[Processor[Any]], meta: dict[str, Any]) -> Store:
        """A new, empty memory at `path`. `meta` names log_id, partitions, name, lineages and params."""
        views = views_sql(processors)
        _write_blank(path, ";".join([*OWN_TABLES, *(create_sql(table) for _, table in tables(processors)), views]))
        connection = connect(path, files=True)  # a replay takes from other memories
        with transaction(connection):
            for key, value in ({"format": FORMAT, "views": views, "behind": _behind(processors)} | meta).items():
                connection.execute("INSERT INTO meta VALUES (?, ?)", [key, _text(value)])
        return cls(path, connection, processors)

    @classmethod
    def open(cls, path: Path, processors: Sequence[Processor[Any]]) -> Store:
        """The memory at `path`, for writing. Raises MemoryFileError for a file that is none or of another format."""
        connection = connect(path)
        check_format(connection, path)
        try:
            with intact(path):
                return cls(path, connection, processors)
        except DamagedError:
            connection.close()
            raise

    def check(self) -> None:
        """Reads everything. Raises DamagedError where something cannot be read."""
        read_all(self.connection, self.path)

    def renew_views(self) -> None:
        """Replaces the views of another version of this program that derived the same: they hold nothing."""
        now, then, behind = views_sql(self.processors), self.meta("views"), _behind(self.processors)
        if now == then and _text(behind) == self.meta("behind"):
            return
        with transaction(self.connection):
            for name in reversed(view_names(then)):
                self.connection.execute(f"DROP VIEW IF EXISTS {name}")
            self.connection.execute(now)
            self.set_meta("views", now)
            self.set_meta("behind", behind)

    def meta(self, key: str) -> str:
        """What the memory says of itself."""
        return self.said.get(key, "None")

    def set_meta(self, key: str, value: object) -> None:
        """Says something else of the memory."""
        if not one(self.connection, "UPDATE meta SET value = ? WHERE key = ?", [_text(value), key]):
            self.connection.execute("INSERT INTO meta VALUES (?, ?)", [key, _text(value)])
        self.said[key] = _text(value)

    def mark(self, partition: int) -> int:
        """The offset of the last raw event folded; -1 for none."""
        return self._extent.known.get(partition, (-1, b""))[0]

    def extent(self) -> Extent:
        """How far the memory goes, without asking its tables."""
        return self._extent

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """One transaction around many commits: full row groups then go to the file at once, not through its journal."""
        self._bulk = True
        try:
            with transaction(self.connection):
                yield
        finally:
            self._bulk = False

    def _transaction(self) -> AbstractContextManager[None]:
        return nullcontext() if self._bulk else transaction(self.connection)

    def resume(self) -> dict[str, int]:
        """Where to read on in the streams that the memory is filled from; see `Batch.resume`."""
        found = one(self.connection, "SELECT value FROM meta WHERE key = 'resume'")
        return dict(orjson.loads(found)) if found else {}

    def aside(self) -> list[Aside]:
        """The events that could not be folded, in order, without asking its tables: they may be busy."""
        return _aside_of(self.meta("aside"))

    def commit(self, batch: Batch) -> None:
        """Adds rows, state and marks in one transaction."""
        with self._transaction():
            for cls, columns in batch.tables.items():
                self._insert(cls, columns)
            if batch.state:
                self._save(batch.state)
                if batch.first:
                    self._live += len(batch.state)
                else:
                    self._rows += len(batch.state)
            if batch.marks:
                self._mark(batch.marks, [batch.hashes.get(partition, b"") for partition in batch.marks])
            if batch.aside:
                self.set_meta("aside", [list(one) for one in sorted({*self.aside(), *batch.aside})])
            if batch.resume:  # why one value: of 64 partitions and 6 streams, rows would cost more than the commit
                self.set_meta("resume", batch.resume)
        rows = dict(self._extent.rows)
        for cls, columns in batch.tables.items():
            name = table_of(cls).name
            rows[name] = rows.get(name, 0) + columns.num_rows
        known = {partition: (end, batch.hashes.get(partition, b"")) for partition, end in batch.marks.items()}
        self._extent = Extent({**self._extent.known, **known}, rows, self._extent.before)
        if self._rows > max(self._live, COMPACT):
            self.compact()

    def _mark(self, marks: Mapping[int, int], hashes: Sequence[bytes]) -> None:
        """Notes how far partitions are folded. One statement where all are known: each is a tenth of a live commit."""
        if new := [partition for partition in marks if partition not in self._extent.known]:
            self.connection.execute("INSERT INTO marks SELECT unnest(?), -1, ''::BLOB", [new])
        self.connection.execute(
            "UPDATE marks SET position = n.position, hash = n.hash FROM "
            "(SELECT unnest(?) AS partition, unnest(?) AS position, unnest(?) AS hash) n "
            "WHERE marks.partition = n.partition",
            [list(marks), list(marks.values()), hashes],
        )

    def _save(self, changes: Sequence[tuple[str, str, str, bytes | None]]) -> None:
        import pyarrow as pa

        lineage, space, key, value = zip(*changes, strict=True)
        seq = range(self._seq, self._seq + len(changes))  # numbered here: nextval costs four times the insert
        changed = pa.table(
            [
                pa.array(lineage),
                pa.array(space),
                pa.array(key),
                pa.array(value, pa.binary()),
                pa.array(seq, pa.int64()),
            ],
            ["lineage", "space", "key", "value", "seq"],
        )
        insert(self.connection, "state", changed)
        self._seq += len(changes)
        self.saved_bytes += changed.nbytes
        self._added_bytes += changed.nbytes

    def _insert(self, cls: type, columns: pa.Table) -> None:
        insert(self.connection, table_of(cls).name, columns, {"lineage": self._lineage_of[cls]})

    def states(self, spaces: Sequence[str]) -> Iterator[tuple[str, str, dict[str, bytes]]]:
        """The saved state of spaces, some records at a time: (lineage, space, encoded records), each pair any number
        of times."""
        # Why by the places of the latest: to carry values through the grouping takes longer than to read them.
        rows = self.connection.execute(
            "SELECT lineage, space, key, value FROM state WHERE value IS NOT NULL AND (lineage, space, key, seq) IN "
            "(SELECT (lineage, space, key, max(seq)) FROM state WHERE space IN (SELECT unnest(?)) "
            "GROUP BY lineage, space, key)",
            [list(spaces)],
        )
        while page := rows.fetchmany(10_000):
            found: dict[tuple[str, str], dict[str, bytes]] = {}
            for lineage, space, key, value in page:
                found.setdefault((lineage, space), {})[key] = value
            for (lineage, space), records in found.items():
                yield lineage, space, records

    def deadlines(self) -> dict[str, str]:
        """The first key with which each space asks for a tick (see `streams.core.processor.State`)."""
        rows = self.connection.execute(
            "SELECT space, min(key) FROM (SELECT space, key, arg_max_null(value, seq) AS latest FROM state "
            "WHERE key LIKE 'due/%' GROUP BY ALL HAVING latest IS NOT NULL) GROUP BY space"
        ).fetchall()
        return dict(rows)

    def compact(self) -> None:
        """Rewrites the state journal to the latest record per key: amortized, so that the cost per turn stays level."""
        with self._transaction():
            self.connection.execute(
                "CREATE TABLE compacted AS SELECT lineage, space, key, arg_max_null(value, seq) AS value, "
                "max(seq) AS seq FROM state GROUP BY lineage, space, key HAVING value IS NOT NULL"
            )
            self.connection.execute("DROP TABLE state")
            self.connection.execute("ALTER TABLE compacted RENAME TO state")
        self._count()

    def _count(self) -> None:
        """What the journal of state holds: rows, and the number that the next one gets."""
        counted = self.connection.execute("SELECT count(*), coalesce(max(seq) + 1, 0) FROM state").fetchall()
        self._live, self._seq = map(int, counted[0])
        self._rows = self._added_bytes = 0

    def copy_from(
        self, source: Path, names: Sequence[str], lineages: Sequence[str], space: str | None = None,
        partitions: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """Copies tables, and the latest state of `lineages`, from another memory: of one space, where it is given; rows
        of some `partitions` of the log, where they are."""
        connection = self.connection
        where = "WHERE true" if space is None else "WHERE space = $space"
        given = {} if space is None else {"space": space}
        some = "" if partitions is None else f'AND "partition" IN ({", ".join(map(str, partitions))})'
        attach(connection, source, "source")
        held = columns_by_table(connection)
        with transaction(connection):
            for name in names:
                columns = ", ".join(f'"{column}"' for column in held[name])
                connection.execute(
                    f"INSERT INTO {name} ({columns}) SELECT {columns} FROM source.main.{name} {where} {some}", given
                )
            for lineage in lineages:
                connection.execute(
                    "INSERT INTO state SELECT lineage, space, key, arg_max_null(value, seq) AS latest, max(seq) "
                    f"FROM source.main.state {where} AND lineage = $lineage "
                    "GROUP BY lineage, space, key HAVING latest IS NOT NULL",
                    given | {"lineage": lineage},
                )
        connection.execute("DETACH source")
        self._extent = self._extent._replace(before=None)  # these rows are not counted
        self._count()

    def snapshot(self, target: Path) -> float:
        """Copies the memory to `target`, which is replaced whole; the seconds that took."""
        began = time.perf_counter()
        with readable():
            self.checkpoint()
        partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
        try:
            with roomy(target):
                if self._copied is None:
                    self._copied = self.path.open("rb")
                self.path.stat()  # it is still there
                copy(self._copied, partial)
                put_in_place(partial, target)
        except OSError as error:
            raise UnreadableError(
                f"live cannot be copied: {error}", "ask again; `mnemolog doctor` tells more"
            ) from error
        finally:
            partial.unlink(missing_ok=True)
        return time.perf_counter() - began

    def is_sparse(self) -> bool:
        """Whether much of the file holds nothing, as many small commits leave it; see `rewrite`."""
        self.checkpoint()
        sizes = self.connection.execute(
            "SELECT block_size, total_blocks, free_blocks FROM pragma_database_size()"
        ).fetchall()
        block, total, free = sizes[0]
        return bool(block * free + self._added_bytes > max(SPARSE * block * total, WORTH))

    def checkpoint(self) -> None:
        """Brings all into the one file. Closing does so too, and says nothing where there is no room for it."""
        self.connection.execute("CHECKPOINT")

    def close(self) -> None:
        """Closes the file."""
        self.connection.close()
        if self._copied is not None:
            self._copied.close()


_BLANK: dict[str, bytes] = {}
"""Files with tables and views, and nothing in them, by the SQL of these. Why kept: views take longer to make than a
short log to fold, and who makes one memory often makes another."""


def _write_blank(path: Path, schema: str) -> None:
    """Makes a file with tables and views, and nothing in them."""
    if (blank := _BLANK.get(schema)) is not None:
        with roomy(path):
            path.write_bytes(blank)
        return
    with closing(connect(path)) as connection:
        with transaction(connection):
            connection.execute(schema)
        connection.execute("CHECKPOINT")
    _BLANK[schema] = path.read_bytes()


def journal(path: Path) -> Path:
    """Where DuckDB keeps what a memory's file does not hold yet."""
    return path.with_name(f"{path.name}.wal")


def put_in_place(fresh: Path, path: Path) -> None:
    """Gives a finished memory file its name; a journal left by another file of that name must not be taken up."""
    journal(path).unlink(missing_ok=True)
    fresh.replace(path)


def copy(source: BinaryIO, target: Path) -> None:
    """Copies a file from its beginning; by reference, where the file system can."""
    source.seek(0)
    with target.open("wb") as other:
        left = os.fstat(source.fileno()).st_size
        try:
            while left > 0 and (done := os.copy_file_range(source.fileno(), other.fileno(), left)):
                left -= done
        except (AttributeError, OSError) as error:
            if getattr(error, "errno", 0) == errno.ENOSPC:
                raise
            source.seek(0), other.seek(0)
            shutil.copyfileobj(source, other, 2**20)


def rewrite(
    source: Path | Sequence[Path], target: Path, processors: Sequence[Processor[Any]],
    partitions: Sequence[int] | None = None,
) -> None:  # fmt: skip
    """Writes all that the memory `source` holds, which nobody writes, into a new file `target`, as a replay would.

    Several sources are shards of one memory. With `partitions`, only the rows of these, and no state.
    """
    sources = [source] if isinstance(source, Path) else source
    for leftover in (target, journal(target)):
        leftover.unlink(missing_ok=True)
    known: Known = {}
    for one_of in sources:
        with closing(connect(one_of)) as connection:
            check_format(connection, one_of)
            meta = all_meta(connection)
            known |= known_by(connection)
            names = [name for (name,) in connection.execute(EVENT_TABLES).fetchall()]
    if partitions is not None:
        known = {partition: mark for partition, mark in known.items() if partition in partitions}
    try:
        with readable(), closing(Store.create(target, processors, meta)) as store:
            for one_of in sources:
                lineages = store.lineages.values() if partitions is None else ()
                store.copy_from(one_of, names, [*lineages], partitions=partitions)
            store.commit(marked(known))
            store.checkpoint()
    except NoRoomError:
        for leftover in (target, journal(target)):
            leftover.unlink(missing_ok=True)
        raise


def _behind(processors: Sequence[Processor[Any]]) -> dict[str, str]:
    """What ids may be the ids of, and SQL of the turns behind them; see ReadModel."""
    return {kind: sql for processor in processors for kind, sql in processor.read_model.behind.items()}


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def one(connection: Connection, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> Any:
    """The first value that a query finds; None where it finds nothing."""
    rows = connection.execute(sql, parameters or []).fetchall()  # an unfinished result would block the connection
    return rows[0][0] if rows else None


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """All of it, or none."""
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def column_names(connection: Connection, table: str) -> list[str]:
    """The names of a table's columns; none where there is no such table. The catalog is ten times as slow."""
    try:
        found = connection.execute(f'SELECT * FROM "{table}" LIMIT 0')
    except duckdb.CatalogException:
        return []
    names = [name for name, *_ in found.description or ()]
    found.fetchall()  # an unfinished result would block the connection
    return names


def columns_by_table(connection: Connection) -> dict[str, list[str]]:
    """The names of the columns of each table and view, in their order."""
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(_COLUMNS).fetchall():
        found.setdefault(table, []).append(column)
    return found


def insert(connection: Connection, table: str, rows: pa.Table, more: Mapping[str, str] | None = None) -> None:
    """Adds rows to a table, each with the values `more`, too."""
    more = more or {}
    names = ", ".join(f'"{name}"' for name in (*rows.column_names, *more))
    into = f"INSERT INTO {table} ({names}) SELECT"
    beside = "".join(", ?" for _ in more)
    if rows.num_rows <= FEW:
        lists = ", ".join(["unnest(?)"] * rows.num_columns)
        connection.execute(
            f"{into} {lists}{beside}", [*(column.to_pylist() for column in rows.columns), *more.values()]
        )
        return
    with registered(connection, "incoming", rows):
        connection.execute(f"{into} *{beside} FROM incoming", [*more.values()])


def columns_of(connection: Connection, sql: str) -> pa.RecordBatchReader:
    """What a query finds, as columns of Arrow."""
    import duckdb as package  # without it the engine tells no Arrow  # noqa: F401

    return connection.sql(sql).to_arrow_reader()


@contextmanager
def registered(connection: Connection, name: str, columns: pa.Table | pa.RecordBatchReader) -> Iterator[None]:
    """Columns of Arrow can be asked by that name."""
    import duckdb as package  # without it the engine reads no Arrow  # noqa: F401

    connection.register(name, columns)
    yield
    connection.unregister(name)


@contextmanager
def limited(connection: Connection, seconds: float) -> Iterator[None]:
    """What is asked here is ended after `seconds`. Raises UsageError then."""
    late = threading.Timer(seconds, connection.interrupt)
    late.daemon = True
    late.start()
    try:
        yield
    except duckdb.InterruptException as error:
        raise UsageError(f"the answer took longer than {seconds:g} s", "ask for less of it") from error
    finally:
        late.cancel()
        late.join()  # at the end of a program it must hold the connection no longer


@contextmanager
def unchanged(connection: Connection) -> Iterator[None]:
    """One state of the memory, which nothing can change from here."""
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    finally:
        with suppress(duckdb.Error):
            connection.execute("ROLLBACK")


@contextmanager
def readable() -> Iterator[None]:
    """What DuckDB does not like here is a broken memory, or no room for it. Raises UnreadableError, NoRoomError."""
    try:
        yield
    except duckdb.Error as error:
        if says_full(error):
            raise NoRoomError(f"there is no room to go on: {first_line(error)}", MAKE_ROOM) from error
        said = f"the memory can be read or written no more: {first_line(error)}"
        raise UnreadableError(said, "ask again; `mnemolog doctor` tells more") from error


@contextmanager
def refused() -> Iterator[None]:
    """What DuckDB does not like in a question is the asker's to mend. Raises UsageError; UnreadableError where it is
    the memory that is broken."""
    try:
        with readable():
            yield
    except UnreadableError as error:
        if not isinstance(error.__cause__, ASKERS):
            raise
        said = f"the question cannot be answered: {first_line(error.__cause__)}"
        raise UsageError(said, "mend what is named") from error


def first_line(error: BaseException) -> str:
    """What an error says, without the rest of its story."""
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


@contextmanager
def roomy(path: Path) -> Iterator[None]:
    """What the system refuses here, for want of room, is told as that. Raises NoRoomError."""
    try:
        yield
    except OSError as error:
        if not says_full(error):
            raise
        raise NoRoomError(f"{path} cannot be written: {error.strerror}", MAKE_ROOM) from error


@contextmanager
def intact(path: Path) -> Iterator[None]:
    """What DuckDB does not like here is damage to the file. Raises DamagedError, or NoRoomError."""
    try:
        yield
    except duckdb.Error as error:
        if says_full(error):
            raise NoRoomError(f"{path} cannot be written: {first_line(error)}", MAKE_ROOM) from error
        raise DamagedError(f"{path} is damaged: {first_line(error)}", WAY_OUT) from error


def read_all(connection: Connection, path: Path) -> None:
    """Reads all that a memory holds. Raises DamagedError where something cannot be read."""
    with intact(path):
        for name in ("meta", "marks", "state", *(name for (name,) in connection.execute(EVENT_TABLES).fetchall())):
            connection.execute(f"SELECT bit_xor(hash(t)) FROM {name} t").fetchall()


def read_meta(connection: Connection, key: str) -> str:
    """What a memory says of itself under `key`."""
    return str(one(connection, "SELECT value FROM meta WHERE key = ?", [key]))


def aside(connection: Connection) -> list[Aside]:
    """The events that could not be folded into a memory, in order."""
    return _aside_of(read_meta(connection, "aside"))


def _aside_of(told: str) -> list[Aside]:
    return [Aside(*one) for one in orjson.loads(told)] if told != "None" else []


def all_meta(connection: Connection) -> dict[str, str]:
    """All that a memory says of itself. Why at once: each question costs a millisecond, and who opens it asks many."""
    return dict(connection.execute("SELECT key, value FROM meta").fetchall())


def read_mark(connection: Connection, partition: int) -> int:
    """How far a memory has folded a partition of the log; -1 for nothing."""
    found = one(connection, "SELECT max(position) FROM marks WHERE partition = ?", [partition])
    return -1 if found is None else int(found)


def known_by(connection: Connection) -> Known:
    """How far a memory has folded the log, and what it knows it by."""
    rows = connection.execute("SELECT partition, position, hash FROM marks").fetchall()
    return {partition: (position, hash_) for partition, position, hash_ in rows}


def check_format(connection: Connection, path: Path) -> None:
    """Raises MemoryFileError where the file is no memory of this format."""
    try:
        found = read_meta(connection, "format")
    except duckdb.CatalogException:
        found = "none"
    except duckdb.Error as error:
        connection.close()
        raise DamagedError(f"{path} is damaged: {first_line(error)}", WAY_OUT) from error
    if found != FORMAT:
        connection.close()
        raise DamagedError(f"{path} is no memory of format {FORMAT}", WAY_OUT)


def attach(connection: Connection, path: Path, name: str) -> None:
    """Has a connection read another memory, too, under a name."""
    connection.execute(f"ATTACH '{str(path).replace(chr(39), chr(39) * 2)}' AS {name} (READ_ONLY)")


def together(paths: Sequence[Path], files: bool = False) -> Connection:
    """A read-only connection to the shards of one memory: each table has the rows of all. Raises as `read_only`."""
    if len(paths) == 1:
        return read_only(paths[0], files)
    for path in paths:
        read_only(path).close()
    # Why named: where no file is open, DuckDB would put what memory cannot hold into the folder that one stands in.
    connection = duckdb.connect(":memory:", config=READER_SETTINGS | {"temp_directory": f"{paths[0]}.tmp"})
    shards = [f"shard{number}" for number in range(len(paths))]
    for path, shard in zip(paths, shards, strict=True):
        attach(connection, path, shard)
    connection.execute(f"CREATE VIEW meta AS SELECT * FROM {shards[0]}.main.meta")
    for name in ("marks", "state", *(name for (name,) in connection.execute(EVENT_TABLES).fetchall())):
        rows = " UNION ALL BY NAME ".join(f"SELECT * FROM {shard}.main.{name}" for shard in shards)
        connection.execute(f"CREATE VIEW {name} AS {rows}")
    connection.execute(read_meta(connection, "views"))
    for setting, value in () if files else ALONE.items():
        connection.execute(f"SET {setting} = {value}")
    return connection


def read_only(path: Path, files: bool = False) -> Connection:
    """A connection to a memory or snapshot that nobody writes; it sees that memory alone, unless `files`."""
    if not path.exists():
        raise MemoryFileError(f"there is no memory at {path}", "`mnemolog memories` lists those there are")
    connection = connect(path, read_only=True, files=files)
    check_format(connection, path)
    return connection
