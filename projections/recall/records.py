"""What mechanisms keep, by key, as of any position: last records, what belongs to a group, and a space's clock.

Declared by mechanisms (`Keep` and `Group` of streams/core/read_model.py). A page of them is one query of the memory,
whatever number of tables has them: on a live memory each query more would cost as much as the rest of its upkeep.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from projections.recall import file
from projections.recall.held import LATEST, SEPARATOR
from projections.recall.kinds import BOUND, Place
from projections.store import Connection
from projections.tables import Table, table_name, table_of
from streams.core.events import OUTSIDE, TurnRecorded
from streams.core.read_model import Group
from streams.core.section import Members

_ROW = "space, name, key, thing, position, ordinal, data, sum"
MOST = 50_000
"""Records kept in memory."""
_CLOCKS = frozenset(table_name(cls) for cls in OUTSIDE.values() if cls is not TurnRecorded)
"""Tables of outside events that are no documents: they, too, move a space's clock."""
_Told = tuple[str, int, int, str, list[str], str]
"""space, position, ordinal, of what (a table, a group, "" for the clock), keys, data: JSON, the group, the time."""
_OF = "FROM members WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ? AND part = ?"


@dataclass(frozen=True)
class Kept:
    """A class of events each of which is the whole record of something, so that the last one is all that counts."""

    cls: type
    key: tuple[str, ...] = ("turn",)
    """The fields that say what it is about; what each of them holds finds the record."""

    @cached_property
    def table(self) -> Table:
        """Where a memory has its events."""
        return table_of(self.cls)

    def told(self) -> list[str]:
        """What of it is indexed, for the index's identity."""
        return [self.table.name, *self.key, *(column.name for column in self.table.columns)]

    def sql(self) -> str:
        """What a memory is asked for, as `_Told` has it."""
        moments = {c.name for c in self.table.columns if c.sql == "TIMESTAMP"}
        fields = ", ".join(
            f'"{c.name}" := epoch_us("{c.name}")' if c.name in moments else f'"{c.name}" := "{c.name}"'
            for c in self.table.columns
        )
        keys = ", ".join(f'"{key}"' for key in self.key)
        told = f"to_json(struct_pack({fields}))::VARCHAR"
        return f"SELECT space, position, ordinal, '{self.table.name}', [{keys}], {told} FROM {self.table.name}"

    def read(self, data: bytes) -> Any:
        """The event."""
        values = orjson.loads(data)
        for column in self.table.columns:
            if column.json:
                values[column.name] = orjson.loads(values[column.name])
        return self.cls(**values)


class Records:
    """The records in an index. What they are is in memory for keys asked before; which keys have any, for all."""

    def __init__(self, kept: Mapping[str, Sequence[Kept]], groups: Sequence[Group]) -> None:
        self._kept = {of.table.name: (name, of) for name, some in kept.items() for of in some}
        self._groups = frozenset(group.name for group in groups)
        self._known: dict[tuple[str, str], dict[str, list[tuple[int, Any]] | None]] = {}
        """By space and name: the keys with records. None: not read yet."""
        self._read = 0
        self._clocks: dict[str, tuple[int, int]] = {}
        """By space: the newest of its outside events that are no turns: offset, and greatest time."""
        self._sql: dict[str, list[str]] = {}
        """By table: what it is asked for."""
        for table, (_, of) in self._kept.items():
            self._sql.setdefault(table, []).append(of.sql())
        for group in groups:
            for cls, part in group.told.items():
                at = table_of(cls)
                place = f"position, {0 if at.raw else 'ordinal'}"
                told = f"SELECT space, {place}, '{group.name}', [\"{group.thing}\"], {part} FROM {at.name}"
                self._sql.setdefault(at.name, []).append(told)
        for table in _CLOCKS:
            told = f"SELECT space, position, 0, '', ['']::VARCHAR[], epoch_us(\"at\")::VARCHAR FROM {table}"
            self._sql.setdefault(table, []).append(told)

    @property
    def tables(self) -> frozenset[str]:
        """Where a memory has them."""
        return frozenset(self._sql)

    def forget(self) -> None:
        """Everything is read anew."""
        self._known.clear()
        self._read = 0
        self._clocks.clear()

    def take(self, index: sqlite3.Connection, memory: Connection, tables: frozenset[str], place: Place) -> None:
        """Adds what `tables` hold of a page of the log to the index, within the caller's transaction."""
        bound = BOUND.format(*place)
        asked = [f"{sql} WHERE {bound}" for table in sorted(tables & self.tables) for sql in self._sql[table]]
        if not asked:
            return
        told: list[_Told] = memory.execute(" UNION ALL ".join(asked)).fetchall()
        told.sort(key=itemgetter(0, 3, 1, 2))
        for (space, source), rows in groupby(told, itemgetter(0, 3)):
            number = _number(index, space)
            if not source:
                self._tick(index, (space, number), [*rows])
            elif source in self._groups:
                _join(index, number, source, [*rows])
            else:
                self._keep(index, (space, number), source, [*rows])

    def _tick(self, index: sqlite3.Connection, space: tuple[str, int], rows: Sequence[_Told]) -> None:
        index.executemany(
            "INSERT OR REPLACE INTO clocks VALUES (?, ?, ?)",
            [(space[1], position, int(at)) for _, position, _, _, _, at in rows],
        )
        self._clocks.pop(space[0], None)

    def _keep(self, index: sqlite3.Connection, space: tuple[str, int], table: str, rows: Sequence[_Told]) -> None:
        name = self._kept[table][0]
        index.executemany(
            "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                _summed(space[1], name, key, SEPARATOR.join([table, *about]), position, ordinal, data)
                for _, position, ordinal, _, about, data in rows
                for key in dict.fromkeys(about)
            ],
        )
        if (known := self._known.get((space[0], name))) is not None:
            known.update(dict.fromkeys(key for row in rows for key in row[4]))

    # -- last records ------------------------------------------------------------------------------------------------

    def of(
        self, index: sqlite3.Connection, space: str, name: str, keys: Sequence[str], until: int | None
    ) -> dict[str, list[Any]]:
        """The last record, as of a position, of each thing that each of `keys` is part of; keys without any are
        left out."""
        known = self._known_of(index, space, name)
        wanted = [key for key in keys if key in known] if known else []
        if not wanted:
            return {}
        if missing := [key for key in wanted if known[key] is None]:
            if self._read > MOST:
                self.forget()
                known = self._known_of(index, space, name)
                missing = wanted
            self._read_in(index, (space, name), missing)
        found: dict[str, list[Any]] = {}
        late: list[str] = []
        for key in wanted:
            records = known[key] or []
            if until is not None and any(position > until for position, _ in records):
                late.append(key)
            else:
                found[key] = [record for _, record in records]
        if late and until is not None:
            earlier = self._select(index, (space, name), late, until)
            found |= {key: [record for _, record in records] for key, records in earlier.items()}
        return found

    def _known_of(self, index: sqlite3.Connection, space: str, name: str) -> dict[str, list[tuple[int, Any]] | None]:
        known = self._known.get((space, name))
        if known is None:
            keys = index.execute(
                "SELECT DISTINCT key FROM records "
                "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ?",
                [space, name],
            )
            known = self._known[space, name] = dict.fromkeys((key for (key,) in keys), None)
        return known

    def _read_in(self, index: sqlite3.Connection, where: tuple[str, str], keys: Sequence[str]) -> None:
        for key, records in self._select(index, where, keys, LATEST).items():
            self._known[where][key] = records
            self._read += len(records)

    def _select(
        self, index: sqlite3.Connection, where: tuple[str, str], keys: Sequence[str], until: int
    ) -> dict[str, list[tuple[int, Any]]]:
        """By key, oldest first: the position and the record of the last of each thing."""
        # Beside a maximum SQLite gives the other columns of the row that has it.
        rows = index.execute(
            f"SELECT {_ROW}, max(printf('%020d%020d', position, ordinal)) AS place FROM records "
            "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ? AND position <= ? "
            "AND key IN (SELECT value FROM json_each(?)) GROUP BY key, thing ORDER BY key, place",
            [*where, until, orjson.dumps(list(keys)).decode()],
        )
        found: dict[str, list[tuple[int, Any]]] = {}
        for *row, sum_, _ in rows:
            _, _, key, thing, position, _, data = _checked(row, sum_)
            of = self._kept[thing.partition(SEPARATOR)[0]][1]
            found.setdefault(key, []).append((position, of.read(data)))
        return found

    # -- groups, and the clock ---------------------------------------------------------------------------------------

    def members(
        self, index: sqlite3.Connection, space: str, name: str, part: str, most: int, until: int | None
    ) -> Members:
        """What belongs to a part of a group, as of a position."""
        when, given = ("until = ?", [LATEST]) if until is None else ("until > ? AND position <= ?", [until, until])
        where, values = f"{_OF} AND {when}", [space, name, part, *given]
        count = index.execute(f"SELECT count(*) {where}", values).fetchone()[0]
        if not count:
            return Members(0, "", [])
        order = "ORDER BY position {0}, ordinal {0} LIMIT ?"
        select = f"SELECT space, name, thing, position, ordinal, part, sum {where}"
        (first,) = index.execute(f"{select} {order.format('ASC')}", [*values, 1])
        newest = index.execute(f"{select} {order.format('DESC')}", [*values, most])
        return Members(count, _thing(first), [_thing(row) for row in newest])

    def clock(self, index: sqlite3.Connection, space: str, until: int | None) -> tuple[int, int]:
        """The last of a space's outside events that are no turns, as of a position: its offset, and the greatest time
        of them all, UTC microseconds; (-1, 0) for none."""
        if until is None and space in self._clocks:
            return self._clocks[space]
        found = index.execute(
            "SELECT coalesce(max(position), -1), coalesce(max(at), 0) FROM clocks "
            "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND position <= ?",
            [space, LATEST if until is None else until],
        ).fetchone()
        if until is None:
            self._clocks[space] = found
        return int(found[0]), int(found[1])


def _join(index: sqlite3.Connection, space: int, name: str, rows: Sequence[_Told]) -> None:
    """Things that belong to another part of a group from a position on."""
    for _, position, ordinal, _, (thing,), part in rows:
        index.execute(
            "UPDATE members SET until = ? WHERE space = ? AND name = ? AND thing = ? AND until = ?",
            [position, space, name, thing, LATEST],
        )
        if part:
            index.execute(
                "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    space,
                    name,
                    thing,
                    position,
                    ordinal,
                    part,
                    LATEST,
                    _sum(space, name, thing, position, ordinal, part),
                ],
            )


def _sum(*row: Any) -> int:
    return file.sum_of(row[-1] if isinstance(row[-1], bytes) else row[-1].encode(), *row[:-1])


def _summed(*row: Any) -> tuple[Any, ...]:
    """A row, and the sum of it behind it."""
    return (*row, _sum(*row))


def _checked(row: Sequence[Any], found: int) -> Sequence[Any]:
    """A row that has the sum that was found behind it. Raises DamagedError for any other."""
    with file.decoding():
        if found != _sum(*row):
            raise ValueError("a record is not what was written")
    return row


def _thing(row: Sequence[Any]) -> str:
    """What a row of members is of."""
    return str(_checked(row[:-1], row[-1])[2])


def _number(index: sqlite3.Connection, space: str) -> int:
    """The number of a space, a new one for an unknown space."""
    index.execute("INSERT OR IGNORE INTO spaces VALUES (NULL, ?, 0, 0)", [space])
    return int(index.execute("SELECT number FROM spaces WHERE name = ?", [space]).fetchone()[0])
