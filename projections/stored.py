"""What lies in the tables of a memory: derived events as they were, digests of them, and how far a space goes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from projections.store import EVENT_TABLES, Connection, columns_by_table, read_only
from projections.tables import table_name, table_of
from streams.core.events import OUTSIDE
from streams.core.processor import Processor

ORDER = ("space", "partition", "position", "ordinal")
"""The order of events within a table, by those of these columns that it has."""
PLACES = frozenset(("partition", "position", "ordinal", "lineage", "recorded_at"))
"""Columns that tell where an event stands and what made it: two memories of one log may differ in them."""
ROWS = 5_000
"""About as many as are read at a time for a digest."""


def columns_of(connection: Connection) -> dict[str, list[str]]:
    """The columns of each event table; both in name order."""
    columns = columns_by_table(connection)
    return {name: sorted(columns[name]) for (name,) in connection.execute(EVENT_TABLES).fetchall()}


def _packed(columns: Iterable[str]) -> str:
    """SQL of a struct of what an event says."""
    said = ", ".join(f'"{c}" := t."{c}"' for c in columns if c not in PLACES)
    return f"struct_pack({said})"


class StoredEvents:
    """What processors made, read from a memory file at rest along with the raw log, a page of it at a time."""

    def __init__(self, path: Path, processors: Iterable[Processor[Any]]) -> None:
        self._connection = read_only(path)
        self._classes = [(processor.name, cls) for processor in processors for cls in processor.emits]
        self._page: dict[int, dict[str, list[tuple[int, Any]]]] = {}

    def load(self, partition: int, start: int, stop: int) -> None:
        """Takes what was made of the raw offsets start <= offset < stop of a partition as the page."""
        self._page = {}
        for name, cls in self._classes:
            self._read(name, cls, partition, start, stop)

    def at(self, offset: int) -> dict[str, list[Any]]:
        """What each processor made of the raw event at `offset`, which lies in the page, in order."""
        made = self._page.get(offset)
        if made is None:
            return {}
        return {name: [event for _, event in sorted(rows, key=itemgetter(0))] for name, rows in made.items()}

    def _read(self, name: str, cls: type, partition: int, start: int, stop: int) -> None:
        place = 'WHERE e."partition" = ? AND e.position >= ? AND e.position < ?'
        for offset, ordinal, event in events_of(self._connection, cls, place, [partition, start, stop]):
            self._page.setdefault(offset, {}).setdefault(name, []).append((ordinal, event))


def events_of(connection: Connection, cls: type, which: str, parameters: Any = None) -> Iterator[tuple[int, int, Any]]:
    """The derived events of a class, with position and ordinal. `which` ends the query over its table `e`: WHERE, JOIN,
    ORDER BY."""
    table = table_of(cls)
    names = [column.name for column in table.columns]
    json = [column.name for column in table.columns if column.json]
    select = ", ".join(f'epoch_us(e."{c.name}")' if c.sql == "TIMESTAMP" else f'e."{c.name}"' for c in table.columns)
    rows = connection.execute(f"SELECT e.position, e.ordinal, {select} FROM {table.name} e {which}", parameters)
    for position, ordinal, *row in rows.fetchall():
        values = dict(zip(names, row, strict=True))
        for column in json:
            values[column] = orjson.loads(values[column])
        yield position, ordinal, cls(**values)


def digest(connection: Connection) -> dict[str, str]:
    """A hash per table: of its spaces in name order, each of its rows in position order, all columns but places and
    recorded times."""
    columns = columns_of(connection)
    found: dict[str, dict[str, Any]] = {name: {} for name in columns}
    for part in _parts(connection, columns):
        for name, space, *_, row in sorted(connection.execute(part).fetchall()):
            found[name].setdefault(space, hashlib.sha256()).update(f"{row}\n".encode())
    return {name: _digest_of(spaces) for name, spaces in found.items()}


def _digest_of(spaces: Mapping[str, Any]) -> str:
    said = "".join(f"{space}\n{of_space.hexdigest()}\n" for space, of_space in sorted(spaces.items()))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _parts(connection: Connection, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Questions for all rows of all tables, one after another, each for about ROWS: DuckDB holds all that it finds. Why
    small tables together: each question costs as much as some hundred rows."""
    counts = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in columns)
    together: list[str] = []
    rows = 0
    for name, count in connection.execute(counts).fetchall() if columns else ():
        places = ", ".join(f'"{place}"' if place in columns[name] else "0" for place in ORDER)
        asked = f"SELECT '{name}', {places}, to_json({_packed(columns[name])})::VARCHAR FROM {name} t"
        if count > ROWS:
            yield from (f"{asked} WHERE {span}" for span in _spans(connection, name, count))
        elif count:
            if rows + count > ROWS:
                yield " UNION ALL ".join(together)
                together, rows = [], 0
            together.append(asked)
            rows += count
    if together:
        yield " UNION ALL ".join(together)


def _spans(connection: Connection, name: str, count: int) -> Iterator[str]:
    """Conditions that part a table into about ROWS rows each."""
    first, last = connection.execute(f"SELECT min(position), max(position) FROM {name}").fetchall()[0]
    step = max(1, (last + 1 - first) * ROWS // count)
    for start in range(first, last + 1, step):
        yield f"position >= {start} AND position < {start + step}"


_NEWEST = " UNION ALL ".join(
    f'SELECT max(position) AS position, max("at") AS "at" FROM {table_name(c)} WHERE space = $space'
    for c in OUTSIDE.values()
)


def newest(connection: Connection, space: str) -> tuple[int, int]:
    """How far a memory knows a space: the offset of its last outside event, in its partition, and its now.

    Its now is the greatest `at` of its events, UTC microseconds. (-1, 0) for an unknown space.
    """
    sql = f'SELECT max(position), epoch_us(max("at")) FROM ({_NEWEST})'
    position, now = connection.execute(sql, {"space": space}).fetchall()[0]
    return (-1, 0) if position is None else (int(position), int(now))


def ends(connection: Connection) -> dict[str, int]:
    """By space: the offset of its last outside event."""
    union = " UNION ALL ".join(f"SELECT space, position FROM {table_name(c)}" for c in OUTSIDE.values())
    rows = connection.execute(f"SELECT space, max(position) FROM ({union}) GROUP BY space").fetchall()
    return dict(rows)


class TableRows:
    """The rows of one table of a memory, up to an offset in each space, as hashes."""

    def __init__(self, connection: Connection, name: str, columns: Sequence[str], scope: Mapping[str, int]) -> None:
        self.name = name
        self._connection = connection
        self._session = "t.session" if "session" in columns else "''"
        self._row = _packed(columns)
        self._given = {"spaces": list(scope), "ends": list(scope.values())}
        self._from = (
            f"FROM {name} t JOIN (SELECT unnest($spaces::VARCHAR[]) AS space, unnest($ends::BIGINT[]) AS last) s "
            "ON s.space = t.space AND t.position <= s.last"
        )

    @cached_property
    def digest(self) -> tuple[int, int]:
        """How many rows there are, and a hash of them all in any order."""
        sql = f"SELECT count(*), coalesce(bit_xor(hash({self._row})), 0) {self._from}"
        count, found = self._connection.execute(sql, self._given).fetchall()[0]
        return count, found

    def only(self, other: TableRows) -> dict[int, int]:
        """The hashes of the rows that the other table lacks, and how many of each."""
        if self.digest == other.digest:
            return {}
        theirs = other._counts()
        return {found: n - theirs.get(found, 0) for found, n in self._counts().items() if n > theirs.get(found, 0)}

    def _counts(self) -> dict[int, int]:
        sql = f"SELECT hash({self._row}) AS h, count(*) {self._from} GROUP BY h ORDER BY min(t.position)"
        return dict(self._connection.execute(sql, self._given).fetchall())

    def rows(self, hashes: Sequence[int], at: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Rows of these hashes, where they stand at some positions: space, session, position, and the row itself."""
        if not hashes:
            return []
        sql = (
            f"SELECT t.space, {self._session}, t.position, to_json({self._row}) {self._from} "
            f"WHERE hash({self._row}) IN (SELECT unnest($hashes::UBIGINT[])) "
            "AND ($at IS NULL OR t.position IN (SELECT unnest($at::BIGINT[]))) "
            f"ORDER BY t.position LIMIT {len(hashes)}"
        )
        given = {"hashes": list(hashes), "at": None if at is None else list(at)}
        found = self._connection.execute(sql, self._given | given).fetchall()
        names = ("space", "session", "position", "row")
        return [dict(zip(names, (*place, orjson.loads(row)), strict=True)) for *place, row in found]


def table_rows(connection: Connection, scope: Mapping[str, int]) -> list[TableRows]:
    """The rows of each event table, in name order; `scope` has the last offset of each space that counts."""
    return [TableRows(connection, name, columns, scope) for name, columns in columns_of(connection).items()]
