"""One memory in one DuckDB file: append-only typed tables, one per event type, and views over them.

The only place that imports duckdb. One process writes; everyone else reads a snapshot or asks the writer.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter, itemgetter
from pathlib import Path
from types import GenericAlias
from typing import Any, get_args, get_origin, get_type_hints

import duckdb
import orjson
import pyarrow as pa

from streams.driver import Placed
from streams.errors import BusyError, MemoryFileError, UsageError
from streams.events import OUTSIDE, Micros, micros
from streams.processor import Moment, Processor
from streams.text import Root, TurnRead

FORMAT = "2"
"""Of the memory file; a file of another format is refused."""
VIEWS = Path(__file__).with_name("views.sql")
COMPACT = 50_000
"""State rows beyond twice the live ones after which the journal is rewritten."""

EVENT_TABLES = (
    "SELECT table_name FROM duckdb_tables() WHERE NOT temporary AND database_name = current_database() "
    "AND table_name NOT IN ('meta', 'marks', 'state') ORDER BY table_name"
)
ALL_COLUMNS = "SELECT column_name FROM duckdb_columns() WHERE database_name = current_database() AND table_name = ?"
COLUMNS = (
    "SELECT column_name FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal "
    "AND table_name = ? AND column_name NOT IN ('partition', 'position', 'path', 'lineage', 'recorded_at') "
    "ORDER BY column_name"
)

SETTINGS: dict[str, Any] = {
    "autoinstall_known_extensions": "false",  # an unknown function would otherwise stall on the network
    "TimeZone": "UTC",
    "checkpoint_threshold": "64MB",  # a checkpoint every 16 MB of WAL is a third of the cost of a fold
    "preserve_insertion_order": "false",  # positions order rows; inserts and copies run in parallel without it
}

WRITER_SETTINGS: dict[str, Any] = SETTINGS | {
    "memory_limit": "1GB",  # a fold of any length; left alone, DuckDB keeps up to 80 % of the machine's memory
}

Connection = duckdb.DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an event table and how to read it from an event."""

    name: str
    sql: str
    arrow: pa.DataType
    read: attrgetter[Any]
    json: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The table of one event type."""

    name: str
    columns: tuple[Column, ...]
    raw: bool
    """Whether it holds outside events (which have a `recorded_at`)."""


PLACE = (("partition", "INTEGER"), ("position", "BIGINT"), ("path", "BIGINT"), ("lineage", "VARCHAR"))


def table_name(cls: type) -> str:
    """`TurnRecorded` is stored in `turn_recorded`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


_SQL: dict[object, tuple[str, pa.DataType]] = {
    str: ("VARCHAR", pa.string()),
    int: ("BIGINT", pa.int64()),
    float: ("DOUBLE", pa.float64()),
    bool: ("BOOLEAN", pa.bool_()),
    list[str]: ("VARCHAR[]", pa.list_(pa.string())),
    list[int]: ("BIGINT[]", pa.list_(pa.int64())),
    list[float]: ("DOUBLE[]", pa.list_(pa.float64())),
}


def _column(name: str, hint: Any) -> Column:
    if name == "at" or hint in (Micros, Moment):
        return Column(name, "TIMESTAMP", pa.timestamp("us"), attrgetter(name))
    plain = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    if get_origin(plain) is list and hasattr(item := get_args(plain)[0], "__metadata__"):
        plain = GenericAlias(list, item.__origin__)
    if plain in _SQL:
        return Column(name, *_SQL[plain], attrgetter(name))
    kinds = {type(arg) for arg in get_args(plain)}
    if str(get_origin(plain)) == "typing.Literal" and kinds == {str}:
        return Column(name, *_SQL[str], attrgetter(name))
    return Column(name, "VARCHAR", pa.string(), attrgetter(name), json=True)


@cache
def table_of(cls: type[Any]) -> Table:
    """The table for an event class: `space`, `session`, the event's place, `at`, then its other fields, but for those
    that it only carries."""
    hints = get_type_hints(cls, include_extras=True)
    stored = [
        f.name for f in fields(cls) if not f.metadata.get("carried") and f.name not in ("type", "space", "session")
    ]
    columns = [_column("space", str)]
    if "session" in hints:
        columns.append(_column("session", str))
    columns += [_column(name, hints[name]) for name in stored]
    return Table(table_name(cls), tuple(columns), cls in OUTSIDE.values())


def tables(processors: Iterable[Processor[Any]]) -> list[tuple[type, Table]]:
    """The event classes and tables of a memory: outside events first, then each processor's."""
    classes = [*OUTSIDE.values(), *(cls for processor in processors for cls in processor.emits)]
    return [(cls, table_of(cls)) for cls in classes]


def _create(table: Table) -> str:
    columns = {c.name: c.sql for c in table.columns}
    head = ["space VARCHAR", "session VARCHAR", *(f'"{name}" {sql}' for name, sql in PLACE), '"at" TIMESTAMP']
    if table.raw:
        head.append("recorded_at TIMESTAMP")
    if table.name == "turn_recorded":
        head.append("tokens BIGINT")
    rest = [f'"{name}" {sql}' for name, sql in columns.items() if name not in ("space", "session", "at")]
    return f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(head + rest)})"


def _values(column: Column, events: Sequence[object]) -> pa.Array:
    values = list(map(column.read, events))
    if column.json:
        values = [v if isinstance(v, str) else orjson.dumps(v).decode() for v in values]
    return pa.array(values, column.arrow)


def raw_batch(cls: type, entries: Sequence[tuple[int, int, Root]]) -> pa.Table:
    """Columns of outside events of one class: (partition, offset, root event) each."""
    events = [e.turn if isinstance(e, TurnRead) else e.fact for _, _, e in entries]
    table = table_of(cls)
    columns = {column.name: _values(column, events) for column in table.columns}
    columns["partition"] = pa.array([p for p, _, _ in entries], pa.int32())
    columns["position"] = pa.array([o for _, o, _ in entries], pa.int64())
    columns["path"] = pa.array([0] * len(entries), pa.int64())
    columns["recorded_at"] = pa.array([e.recorded_at for _, _, e in entries], pa.timestamp("us"))
    if table.name == "turn_recorded":
        columns["tokens"] = pa.array([e.text.tokens for _, _, e in entries if isinstance(e, TurnRead)], pa.int64())
    return pa.table(columns)


def derived_batch(cls: type, rows: Sequence[Placed]) -> pa.Table:
    """Columns of derived events of one class."""
    partitions, offsets, paths, events = zip(*rows, strict=True)
    columns = {column.name: _values(column, events) for column in table_of(cls).columns}
    columns["partition"] = pa.array(partitions, pa.int32())
    columns["position"] = pa.array(offsets, pa.int64())
    columns["path"] = pa.array(paths, pa.int64())
    return pa.table(columns)


StateChange = tuple[str, str, str, bytes | None]
"""(lineage, space, key, value); None deletes."""


@dataclass(slots=True)
class Batch:
    """What one commit adds: columns by event class, state changes by lineage, and how far the raw log was folded."""

    tables: dict[type, pa.Table]
    state: list[StateChange]
    marks: dict[int, int]
    """The offset of the last raw event folded, by partition."""
    first: bool = False
    """Whether no key of `state` was saved before, as in a replay: then nothing of it is outdated."""
    resume: dict[str, int] = field(default_factory=dict)
    """Where whoever fills the memory from other streams reads on, by stream and partition."""


def joined(batches: Sequence[Batch]) -> Batch:
    """The rows of several batches as one; their state and marks are left out."""
    parts: dict[type, list[pa.Table]] = {}
    for batch in batches:
        for cls, columns in batch.tables.items():
            parts.setdefault(cls, []).append(columns)
    return Batch({cls: pa.concat_tables(found) for cls, found in parts.items()}, [], {})


def connect(path: Path | None, read_only: bool = False) -> Connection:
    """A connection that never reaches for the network. Raises MemoryFileError or BusyError, both with a way out."""
    try:
        settings = SETTINGS if read_only else WRITER_SETTINGS
        return duckdb.connect(str(path) if path else ":memory:", read_only, settings)
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise BusyError(f"{path} is being written by another process", "try again when it has finished") from error
        raise MemoryFileError(f"{path} cannot be opened: {error}", "replay the log into a new memory") from error


class Store:
    """The writer of one memory file."""

    def __init__(self, path: Path, connection: Connection, processors: Sequence[Processor[Any]]) -> None:
        self.path = path
        self.connection = connection
        self.processors = processors
        self.lineages: dict[str, str] = orjson.loads(self.meta("lineages"))
        self.saved_bytes = 0
        """Of state, since this store was opened."""
        self._bulk = False
        self._marks: dict[int, int] = {}
        self._count()
        self._lineage_of = dict.fromkeys(OUTSIDE.values(), self.lineages["turns"])
        self._lineage_of |= {
            cls: self.lineages[p.name] for p in processors if p.name in self.lineages for cls in p.emits
        }

    @classmethod
    def create(cls, path: Path, processors: Sequence[Processor[Any]], meta: dict[str, Any]) -> Store:
        """A new, empty memory at `path`. `meta` names log_id, partitions, name, lineages and params."""
        connection = connect(path)
        with transaction(connection):
            connection.execute("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
            connection.execute("CREATE TABLE marks (partition INTEGER, position BIGINT)")
            connection.execute(
                "CREATE TABLE state (lineage VARCHAR, space VARCHAR, key VARCHAR, value BLOB, seq BIGINT)"
            )
            for _, table in tables(processors):
                connection.execute(_create(table))
            connection.execute(VIEWS.read_text())
            for key, value in ({"format": FORMAT} | meta).items():
                connection.execute("INSERT INTO meta VALUES (?, ?)", [key, _text(value)])
        return cls(path, connection, processors)

    @classmethod
    def open(cls, path: Path, processors: Sequence[Processor[Any]]) -> Store:
        """The memory at `path`, for writing. Raises MemoryFileError for a file that is none or of another format."""
        connection = connect(path)
        check_format(connection, path)
        return cls(path, connection, processors)

    def meta(self, key: str) -> str:
        """What the memory says of itself."""
        return read_meta(self.connection, key)

    def set_meta(self, key: str, value: object) -> None:
        """Says something else of the memory."""
        self.connection.execute("UPDATE meta SET value = ? WHERE key = ?", [_text(value), key])

    def mark(self, partition: int) -> int:
        """The offset of the last raw event folded; -1 for none."""
        if partition not in self._marks:
            self._marks[partition] = read_mark(self.connection, partition)
        return self._marks[partition]

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
        found = _one(self.connection, "SELECT value FROM meta WHERE key = 'resume'")
        return dict(orjson.loads(found)) if found else {}

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
                places = [list(batch.marks), list(batch.marks.values())]
                self.connection.execute("DELETE FROM marks WHERE partition IN (SELECT unnest(?))", places[:1])
                self.connection.execute("INSERT INTO marks SELECT unnest(?), unnest(?)", places)
            if batch.resume:  # why one value: of 64 partitions and 6 streams, rows would cost more than the commit
                self.connection.execute("DELETE FROM meta WHERE key = 'resume'")
                self.connection.execute("INSERT INTO meta VALUES ('resume', ?)", [_text(batch.resume)])
        self._marks |= batch.marks
        if self._rows > self._live + COMPACT:
            self.compact()

    def _save(self, changes: Sequence[tuple[str, str, str, bytes | None]]) -> None:
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
        with _registered(self.connection, changed):
            self.connection.execute("INSERT INTO state SELECT * FROM incoming")
        self._seq += len(changes)
        self.saved_bytes += changed.nbytes

    def _insert(self, cls: type, columns: pa.Table) -> None:
        names = ", ".join(f'"{name}"' for name in columns.column_names)
        incoming = columns  # noqa: F841 - found by its name; to register it costs as much as a small insert
        self.connection.execute(
            f"INSERT INTO {table_of(cls).name} ({names}, lineage) SELECT *, ? FROM incoming", [self._lineage_of[cls]]
        )

    def states(self, spaces: Sequence[str]) -> Iterator[tuple[str, str, dict[str, bytes]]]:
        """The saved state of spaces: (lineage, space, encoded records) for each pair that has any."""
        found: dict[tuple[str, str], dict[str, bytes]] = {}
        rows = self.connection.execute(
            "SELECT lineage, space, key, arg_max_null(value, seq) AS latest FROM state WHERE space IN "
            "(SELECT unnest(?)) GROUP BY ALL HAVING latest IS NOT NULL",
            [list(spaces)],
        )
        while page := rows.fetchmany(10_000):
            for lineage, space, key, value in page:
                found.setdefault((lineage, space), {})[key] = value
        for (lineage, space), records in found.items():
            yield lineage, space, records

    def deadlines(self) -> dict[str, str]:
        """The first key with which each space asks for a tick (see `streams.processor.State`)."""
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
        self._rows = 0

    def copy_from(self, source: Path, names: Sequence[str], lineages: Sequence[str], space: str | None = None) -> None:
        """Copies tables, and the latest state of `lineages`, from another memory (of one space only, where given)."""
        connection = self.connection
        where = "" if space is None else "WHERE space = $space"
        given = {} if space is None else {"space": space}
        connection.execute(f"ATTACH '{str(source).replace(chr(39), chr(39) * 2)}' AS source (READ_ONLY)")
        with transaction(connection):
            for name in names:
                columns = ", ".join(f'"{c}"' for (c,) in connection.execute(ALL_COLUMNS, [name]).fetchall())
                connection.execute(
                    f"INSERT INTO {name} ({columns}) SELECT {columns} FROM source.main.{name} {where}", given
                )
            for lineage in lineages:
                connection.execute(
                    "INSERT INTO state SELECT lineage, space, key, arg_max_null(value, seq) AS latest, max(seq) "
                    f"FROM source.main.state {where or 'WHERE true'} AND lineage = $lineage "
                    "GROUP BY lineage, space, key HAVING latest IS NOT NULL",
                    given | {"lineage": lineage},
                )
        connection.execute("DETACH source")
        self._count()

    def snapshot(self, target: Path) -> float:
        """Copies the memory to `target`, which is replaced whole; the seconds that took."""
        began = time.perf_counter()
        self.connection.execute("CHECKPOINT")
        partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
        shutil.copyfile(self.path, partial)
        partial.replace(target)
        return time.perf_counter() - began

    def close(self) -> None:
        """Closes the file."""
        self.connection.close()


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _one(connection: Connection, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> Any:
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


@contextmanager
def _registered(connection: Connection, columns: pa.Table) -> Iterator[None]:
    connection.register("incoming", columns)
    yield
    connection.unregister("incoming")


def read_meta(connection: Connection, key: str) -> str:
    """What a memory says of itself under `key`."""
    return str(_one(connection, "SELECT value FROM meta WHERE key = ?", [key]))


def read_mark(connection: Connection, partition: int) -> int:
    """How far a memory has folded a partition of the log; -1 for nothing."""
    found = _one(connection, "SELECT max(position) FROM marks WHERE partition = ?", [partition])
    return -1 if found is None else int(found)


def check_format(connection: Connection, path: Path) -> None:
    """Raises MemoryFileError where the file is no memory of this format."""
    try:
        found = read_meta(connection, "format")
    except duckdb.CatalogException:
        found = "none"
    if found != FORMAT:
        connection.close()
        raise MemoryFileError(f"{path} is no memory of format {FORMAT}", "replay the log into a new memory")


def read_only(path: Path) -> Connection:
    """A connection to a memory or snapshot that nobody writes."""
    if not path.exists():
        raise MemoryFileError(f"there is no memory at {path}", "`mnemolog memories` lists those there are")
    connection = connect(path, read_only=True)
    check_format(connection, path)
    return connection


def as_of(connection: Connection, moment: str) -> Connection:
    """A cursor on which all tables and views end at `moment`: a position of the raw log or an ISO time.

    A position is PARTITION:OFFSET, or an offset alone where the log has one partition; other partitions end with what
    was recorded until then. At a time, each space ends before its first event that happened later. Raises UsageError
    for neither.
    """
    cursor = connection.cursor()
    place = re.fullmatch(r"(?:(\d+):)?(\d+)", moment)
    bound = _time_bound(cursor, moment) if place is None else _place_bound(cursor, moment, place[1], int(place[2]))
    names = [name for (name,) in cursor.execute(EVENT_TABLES).fetchall()]
    database = _one(cursor, "SELECT current_database()")
    for name in names:
        cursor.execute(f'CREATE TEMP VIEW {name} AS SELECT * FROM "{database}".main.{name} AS t WHERE {bound}')
    cursor.execute(re.sub(r"\bCREATE (OR REPLACE )?VIEW\b", "CREATE TEMP VIEW", VIEWS.read_text()))
    return cursor


def _place_bound(cursor: Connection, moment: str, partition: str | None, offset: int) -> str:
    partitions = int(read_meta(cursor, "partitions"))
    if partitions == 1 and partition in (None, "0"):
        return f"position <= {offset}"
    if partition is None or int(partition) >= partitions:
        raise UsageError(
            f"{moment!r} is no position of a log of {partitions} partitions",
            "give PARTITION:OFFSET, 0:1234 for example",
        )
    recorded = " UNION ALL ".join(
        f'SELECT "partition", position, recorded_at FROM {table_name(cls)}' for cls in OUTSIDE.values()
    )
    here = f'"partition" = {int(partition)}'
    cursor.execute(
        f"CREATE TEMP TABLE ends AS WITH raw AS ({recorded}) "
        f'SELECT "partition", max(position) AS position FROM raw WHERE CASE WHEN {here} THEN position <= {offset} '
        f"ELSE recorded_at <= (SELECT max(recorded_at) FROM raw WHERE {here} AND position <= {offset}) END "
        'GROUP BY "partition"'
    )
    return 'position <= coalesce((SELECT position FROM ends WHERE ends."partition" = t."partition"), -1)'


def _time_bound(cursor: Connection, moment: str) -> str:
    try:
        at = micros(moment)
    except ValueError as error:
        raise UsageError(
            f"{moment!r} is neither a position nor a time ({error})", "give 1234 or 2026-01-05T09:00:00Z"
        ) from error
    later = " UNION ALL ".join(
        f'SELECT space, position FROM {table_name(cls)} WHERE "at" > make_timestamp({at})' for cls in OUTSIDE.values()
    )
    cursor.execute(f"CREATE TEMP TABLE beyond AS SELECT space, min(position) AS first FROM ({later}) GROUP BY space")
    return "position < coalesce((SELECT first FROM beyond WHERE beyond.space = t.space), 9223372036854775807)"


def clock(connection: Connection, space: str) -> int:
    """A space's now: the greatest `at` of its events, UTC microseconds; 0 for an unknown space."""
    union = " UNION ALL ".join(
        f'SELECT max("at") AS "at" FROM {table_name(c)} WHERE space = $space' for c in OUTSIDE.values()
    )
    found = _one(connection, f'SELECT epoch_us(max("at")) FROM ({union})', {"space": space})
    return 0 if found is None else int(found)


def last_position(connection: Connection, space: str) -> int:
    """The offset of the last outside event of a space, in its partition; -1 for an unknown space."""
    union = " UNION ALL ".join(
        f"SELECT max(position) AS position FROM {table_name(c)} WHERE space = $space" for c in OUTSIDE.values()
    )
    found = _one(connection, f"SELECT max(position) FROM ({union})", {"space": space})
    return -1 if found is None else int(found)


class StoredEvents:
    """The events of one stream in a memory file at rest, read along with the raw log, a page of it at a time."""

    def __init__(self, path: Path, classes: Sequence[type]) -> None:
        self._connection = read_only(path)
        self._classes = classes
        self._page: dict[int, list[tuple[int, type, dict[str, Any], list[str]]]] = {}

    def load(self, partition: int, start: int, stop: int) -> None:
        """Takes the events that stand at the raw offsets start <= offset < stop of a partition as the page."""
        self._page = {}
        for cls in self._classes:
            self._read(cls, partition, start, stop)

    def at(self, offset: int, raw: Root | None) -> Iterator[tuple[int, Any]]:
        """The (path, event) of each event at `offset`, which lies in the page, in order.

        `raw`, the outside event there, gives back what the events carry of it.
        """
        for path, cls, values, carried in sorted(self._page.get(offset, ()), key=itemgetter(0)):
            yield path, cls(**values, **{name: getattr(raw, name) for name in carried})

    def _read(self, cls: type, partition: int, start: int, stop: int) -> None:
        columns = table_of(cls).columns
        carried = [f.name for f in fields(cls) if f.metadata.get("carried")]
        names = [column.name for column in columns]
        select = ", ".join(f'epoch_us("{c.name}")' if c.sql == "TIMESTAMP" else f'"{c.name}"' for c in columns)
        rows = self._connection.execute(
            f"SELECT position, path, {select} FROM {table_of(cls).name} "
            'WHERE "partition" = ? AND position >= ? AND position < ?',
            [partition, start, stop],
        ).fetchall()
        json = [column.name for column in columns if column.json]
        for offset, path, *row in rows:
            values = dict(zip(names, row, strict=True))
            for name in json:
                values[name] = orjson.loads(values[name])
            self._page.setdefault(offset, []).append((path, cls, values, carried))


def digest(connection: Connection) -> dict[str, str]:
    """A hash per table: spaces in name order, rows in position order, all columns but places and recorded times."""
    found: dict[str, str] = {}
    for (name,) in connection.execute(EVENT_TABLES).fetchall():
        columns = [c for (c,) in connection.execute(COLUMNS, [name]).fetchall()]
        packed = ", ".join(f'"{c}" := "{c}"' for c in columns)
        rows = connection.execute(
            f'SELECT to_json(struct_pack({packed})) FROM {name} ORDER BY space, "partition", position, path'
        )
        sha = hashlib.sha256()
        while page := rows.fetchmany(20_000):
            sha.update("\n".join(row[0] for row in page).encode())
            sha.update(b"\n")
        found[name] = sha.hexdigest()[:16]
    return found
