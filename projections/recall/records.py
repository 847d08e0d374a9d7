"""What mechanisms keep, by key, as of any position: last records, what belongs to a group, and a space's clock.

Declared by mechanisms (`Keep` and `Group` of streams/core/read_model.py). A page of them is one query of the memory,
whatever number of tables has them: on a live memory each query more would cost as much as the rest of its upkeep.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, Self

import orjson

from projections.recall import file
from projections.recall.file import LATEST
from projections.recall.held import SEPARATOR
from projections.recall.kinds import UNSAID, Places, bound
from projections.store import Connection
from projections.tables import Folded, Table, as_json, table_name, table_of
from streams.core.events import OUTSIDE, TurnRecorded
from streams.core.read_model import Group, Joins
from streams.core.section import Members

MOST = 50_000
"""Records kept in memory, and keys without any."""
FEW = 24
"""Questions to a mechanism's records in a space before it is read which keys have any: that takes as long as a hundred
questions. A context asks a dozen: a process that composes one and ends does not read it."""
_Last = tuple[int, int, str, Any]
"""position, ordinal, of what, and the record."""


class _Told(NamedTuple):
    """What is known of a key."""

    last: list[_Last]
    """The last record of each thing that it is part of, oldest first."""
    records: list[Any]
    """These records alone. Nobody changes them."""

    @classmethod
    def of(cls, last: list[_Last]) -> Self:
        """What is told by the last records of a key."""
        return cls(last, [one[3] for one in last])


_NOTHING = _Told([], [])
_Known = dict[str, _Told | None]
_CLOCKS = {
    table_name(cls): f"(FROM {table_name(cls)} WHERE {UNSAID})" if cls is TurnRecorded else table_name(cls)
    for cls in OUTSIDE.values()
}
"""Tables of outside events that are no documents: they, too, move a space's clock."""
_Row = tuple[str, int, int, str, list[str], str, Any]
"""space, position, ordinal, of what (a table, a group, "" for the clock), keys, data: JSON, the group, the time; and
the record itself where it is at hand."""
_NONE = Members(0, "", [])
SPARE = 16
"""Members read beyond those asked for: some may leave, and then nothing is to be read again."""
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
        """What a memory is asked for, as `_Row` has it."""
        moments = {c.name for c in self.table.columns if c.sql == "TIMESTAMP"}
        fields = ", ".join(
            f'"{c.name}" := epoch_us("{c.name}")' if c.name in moments else f'"{c.name}" := "{c.name}"'
            for c in self.table.columns
        )
        keys = ", ".join(f'"{key}"' for key in self.key)
        told = f"to_json(struct_pack({fields}))::VARCHAR, NULL"
        return f"SELECT space, position, ordinal, '{self.table.name}', [{keys}], {told} FROM {self.table.name}"

    def data(self, event: Any) -> str:
        """An event as it is kept: what `sql` tells of it."""
        values = {c.name: as_json(c.read(event)) if c.json else c.read(event) for c in self.table.columns}
        return orjson.dumps(values).decode()

    @cached_property
    def _nested(self) -> list[str]:
        """Fields that are kept as JSON within the JSON."""
        return [column.name for column in self.table.columns if column.json]

    def read(self, data: str | bytes) -> Any:
        """The event."""
        values = orjson.loads(data)
        for name in self._nested:
            values[name] = orjson.loads(values[name])
        return self.cls(**values)


class Records:
    """The records in an index. What they are is in memory for keys asked before; which keys have any, for all, once
    more than `FEW` questions were asked."""

    def __init__(self, kept: Mapping[str, Sequence[Kept]], groups: Sequence[Group]) -> None:
        self._kept = {of.table.name: (name, of) for name, some in kept.items() for of in some}
        self._of = {of.cls: of for some in kept.values() for of in some}
        self._groups = frozenset(group.name for group in groups)
        self._known: dict[tuple[str, str], _Known] = {}
        """By space and name: what was read of keys, nothing where they have no records. None: not read yet."""
        self._asked: dict[tuple[str, str], int] = {}
        """By space and name: how many questions were asked; from `FEW` on, all keys with records are in `_known`."""
        self._read = 0
        self._members: dict[tuple[str, str], dict[str, Members]] = {}
        """By space and group: what belongs to the parts asked for."""
        self._clocks: dict[str, tuple[int, int]] = {}
        """By space: the newest of its outside events that are no turns: offset, and greatest time."""
        self._sql: dict[str, list[str]] = {}
        """By table: what it is asked for."""
        self._joins: dict[type, list[tuple[Group, Joins]]] = {}
        """By class of events: the groups that it tells of."""
        for table, (_, of) in self._kept.items():
            self._sql.setdefault(table, []).append(of.sql())
        for group in groups:
            for cls, joins in group.told.items():
                self._joins.setdefault(cls, []).append((group, joins))
                at = table_of(cls)
                place = f"position, {0 if at.raw else 'ordinal'}"
                told = f"SELECT space, {place}, '{group.name}', [\"{group.thing}\"], {_part_sql(joins)}, NULL"
                self._sql.setdefault(at.name, []).append(f"{told} FROM {at.name}")
        for table, rows in _CLOCKS.items():
            told = f"SELECT space, position, 0, '', ['']::VARCHAR[], epoch_us(\"at\")::VARCHAR, NULL FROM {rows}"
            self._sql.setdefault(table, []).append(told)

    @property
    def tables(self) -> frozenset[str]:
        """Where a memory has them."""
        return frozenset(self._sql)

    def forget(self) -> None:
        """Everything is read anew."""
        self._known.clear()
        self._asked.clear()
        self._members.clear()
        self._read = 0
        self._clocks.clear()

    def take(self, index: sqlite3.Connection, memory: Connection, tables: frozenset[str], places: Places) -> None:
        """Adds what `tables` hold of a page of the log to the index, within the caller's transaction."""
        here = bound(places)
        asked = [f"{sql} WHERE {here}" for table in sorted(tables & self.tables) for sql in self._sql[table]]
        if not asked:
            return
        self._write(index, memory.execute(" UNION ALL ".join(asked)).fetchall())

    def take_folded(self, index: sqlite3.Connection, page: Folded) -> None:
        """The same of what lies in no table yet."""
        told: list[_Row] = []
        for cls, events in page.raw.items():
            for _, offset, raw in events:
                told += self._told(cls, offset, 0, raw.event)
                if cls is not TurnRecorded or raw.is_unsaid:
                    told.append((raw.event.space, offset, 0, "", [""], str(raw.event.at), None))
        for cls, rows in page.derived.items():
            for _, offset, ordinal, event in rows:
                told += self._told(cls, offset, ordinal, event)
        self._write(index, told)

    def _told(self, cls: type, offset: int, ordinal: int, event: Any) -> Iterator[_Row]:
        """What one event tells."""
        if (kept := self._of.get(cls)) is not None:
            about = [getattr(event, key) for key in kept.key]
            yield event.space, offset, ordinal, kept.table.name, about, kept.data(event), event
        for group, joins in self._joins.get(cls, ()):
            part = joins.of([getattr(event, name) for name in joins.fields])
            yield event.space, offset, ordinal, group.name, [getattr(event, group.thing)], part, None

    def _write(self, index: sqlite3.Connection, told: list[_Row]) -> None:
        told.sort(key=itemgetter(0, 3, 1, 2))
        for (space, source), rows in groupby(told, itemgetter(0, 3)):
            number = file.number_of(index, space)
            if not source:
                self._tick(index, (space, number), [*rows])
            elif source in self._groups:
                self._join(index, (space, number), source, [*rows])
            else:
                self._keep(index, (space, number), source, [*rows])

    def _tick(self, index: sqlite3.Connection, space: tuple[str, int], rows: Sequence[_Row]) -> None:
        greatest = _clock(index, space[0], LATEST)[1]
        for _, position, _, _, _, at, _ in rows:
            greatest = max(greatest, int(at))
            index.execute(
                "INSERT OR REPLACE INTO clocks VALUES (?, ?, ?, ?)", file.sealed(space[1], position, greatest)
            )
        self._clocks.pop(space[0], None)

    def _keep(self, index: sqlite3.Connection, space: tuple[str, int], table: str, rows: Sequence[_Row]) -> None:
        name = self._kept[table][0]
        told: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
        at_hand: dict[tuple[str, str], Any] = {}
        for _, position, ordinal, _, about, data, record in rows:
            for key in dict.fromkeys(about):
                of = key, SEPARATOR.join([table, *about])
                told.setdefault(of, []).append((position, ordinal, data))
                at_hand[of] = record
        index.executemany(
            f"UPDATE records {file.ENDS} WHERE space = ? AND name = ? AND key = ? AND thing = ? AND until = {LATEST}",
            [(versions[0][0], space[1], name, *of) for of, versions in told.items()],
        )
        index.executemany(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                file.lasting(space[1], name, *of, *version, following[0])
                for of, versions in told.items()
                for version, following in pairwise([*versions, (LATEST, 0, "")])
            ],
        )
        if (known := self._known.get((space[0], name))) is not None:
            are_all = self._asked[space[0], name] > FEW
            for (key, thing), versions in told.items():
                position, ordinal, data = versions[-1]
                record = at_hand[key, thing]
                if record is not None and are_all and key not in known:  # it had none, so there is none to be read
                    known[key] = _NOTHING
                if (before := known.setdefault(key, None)) is not None:  # it was read before, and is kept up to date
                    last = position, ordinal, thing, record or self._kept[table][1].read(data)
                    others = [one for one in before.last if one[2] != thing]
                    known[key] = _Told.of(sorted([*others, last], key=itemgetter(0, 1)))
                    self._read += 1

    def _join(self, index: sqlite3.Connection, space: tuple[str, int], name: str, rows: Sequence[_Row]) -> None:
        """Things that belong to another part of a group from a position on."""
        known = self._members.get((space[0], name), {})
        for _, position, ordinal, _, (thing,), part, _ in rows:
            left = index.execute(
                f"UPDATE members {file.ENDS} WHERE space = ? AND name = ? AND thing = ? AND until = {LATEST} "
                "RETURNING part",
                [position, space[1], name, thing],
            ).fetchall()
            for (before,) in left:
                if (of := known.pop(before, None)) is not None and (without := _without(of, thing)) is not None:
                    known[before] = without
            if part:
                row = file.lasting(space[1], name, thing, position, ordinal, part, LATEST)
                index.execute("INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
                if (of := known.get(part)) is not None:
                    known[part] = Members(of.size + 1, of.first or thing, [thing, *of.newest])
                    self._read += 1

    # -- last records ------------------------------------------------------------------------------------------------

    def of(
        self, index: sqlite3.Connection, space: str, name: str, keys: Sequence[str], until: int | None
    ) -> dict[str, list[Any]]:
        """The last record, as of a position, of each thing that each of `keys` is part of; keys without any are
        left out. The same list as before where nothing was told since."""
        if self._read > MOST:
            self.forget()
        known, asked = self._known_of(index, space, name)
        told = {key: known.get(key) for key in keys if asked <= FEW or key in known}
        if not all(told.values()):  # some were not read yet
            self._read_in(index, (space, name), [key for key, of in told.items() if of is None])
            told = {key: known[key] for key in told}
        found = {key: of.records for key, of in told.items() if of is not None and of.records}
        if until is None:
            return found
        if late := [key for key in found if (of := known[key]) and any(one[0] > until for one in of.last)]:
            for key in late:
                del found[key]
            earlier = self._select(index, (space, name), late, until)
            found |= {key: [one[3] for one in records] for key, records in earlier.items()}
        return found

    def _known_of(self, index: sqlite3.Connection, space: str, name: str) -> tuple[_Known, int]:
        """What is known of keys, and the number of this question."""
        asked = self._asked[space, name] = self._asked.get((space, name), 0) + 1
        known = self._known.setdefault((space, name), {})
        if asked == FEW + 1:
            keys = index.execute(
                "SELECT DISTINCT key FROM records "
                f"WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ? AND until = {LATEST}",
                [space, name],
            )
            known = self._known[space, name] = {key: known.get(key) or None for (key,) in keys}
        return known, asked

    def _read_in(self, index: sqlite3.Connection, where: tuple[str, str], keys: Sequence[str]) -> None:
        found = self._select(index, where, keys, None)
        for key in keys:
            told = self._known[where][key] = _Told.of(found[key]) if key in found else _NOTHING
            self._read += len(told.last) or 1

    def _select(
        self, index: sqlite3.Connection, where: tuple[str, str], keys: Sequence[str], until: int | None
    ) -> dict[str, list[_Last]]:
        """By key, oldest first: the last record of each thing."""
        when, given = _when(until)
        rows = index.execute(
            "SELECT * FROM records WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ? "
            f"AND key IN (SELECT value FROM json_each(?)) AND {when} ORDER BY key, position, ordinal",
            [*where, orjson.dumps(list(keys)).decode(), *given],
        )
        found: dict[str, list[_Last]] = {}
        for _, _, key, thing, position, ordinal, data, _ in file.all_unlasting(rows):
            of = self._kept[thing.partition(SEPARATOR)[0]][1]
            found.setdefault(key, []).append((position, ordinal, thing, of.read(data)))
        return found

    # -- groups, and the clock ---------------------------------------------------------------------------------------

    def members(
        self, index: sqlite3.Connection, space: str, name: str, part: str, most: int, until: int | None
    ) -> Members:
        """What belongs to a part of a group, as of a position."""
        if until is not None:
            return self._select_members(index, (space, name), part, most, until)
        if self._read > MOST:
            self.forget()
        parts = self._members.setdefault((space, name), {})
        found = parts.get(part)
        if found is None or len(found.newest) < min(most, found.size):
            found = parts[part] = self._select_members(index, (space, name), part, most + SPARE, None)
            self._read += len(found.newest)
        return Members(found.size, found.first, found.newest[:most])

    def _select_members(
        self, index: sqlite3.Connection, of: tuple[str, str], part: str, most: int, until: int | None
    ) -> Members:
        space, name = of
        when, given = _when(until)
        where, values = f"{_OF} AND {when}", [space, name, part, *given]
        order = "ORDER BY position {0}, ordinal {0} LIMIT ?"
        select = f"SELECT * {where}"
        newest = _things(index.execute(f"{select} {order.format('DESC')}", [*values, most]))
        if len(newest) < most:  # these are all
            return Members(len(newest), newest[-1], newest) if newest else _NONE
        (first,) = _things(index.execute(f"{select} {order.format('ASC')}", [*values, 1]))
        (count,) = index.execute(f"SELECT count(*) {where}", values).fetchone()
        return Members(count, first, newest)

    def clock(self, index: sqlite3.Connection, space: str, until: int) -> tuple[int, int]:
        """The last of a space's outside events that are no turns, as of a position: its offset, and the greatest time
        of them all, UTC microseconds; (-1, 0) for none."""
        if until < LATEST:
            return _clock(index, space, until)
        if space not in self._clocks:
            self._clocks[space] = _clock(index, space, until)
        return self._clocks[space]


def _when(until: int | None) -> tuple[str, list[int]]:
    """SQL of the rows that last as of a position, and what it is given."""
    return (f"until = {LATEST}", []) if until is None else ("until > ? AND position <= ?", [until, until])


def _clock(index: sqlite3.Connection, space: str, until: int) -> tuple[int, int]:
    row = index.execute(
        "SELECT * FROM clocks WHERE space = (SELECT number FROM spaces WHERE name = ?) AND position <= ? "
        "ORDER BY position DESC LIMIT 1",
        [space, until],
    ).fetchone()
    if row is None:
        return -1, 0
    _, position, at = file.unsealed(row)
    return int(position), int(at)


def _part_sql(joins: Joins) -> str:
    """SQL of what `Joins.of` says."""
    part = f'"{joins.by}"' if joins.by else f"'{joins.part}'"
    if joins.only is None:
        return part
    name, value = joins.only
    wanted = f"'{value}'" if isinstance(value, str) else str(value)
    return f"CASE WHEN \"{name}\" = {wanted} THEN {part} ELSE '' END"


def _without(members: Members, thing: str) -> Members | None:
    """What belongs to a part once one thing left it; None where that cannot be told from what is in memory."""
    newest = [one for one in members.newest if one != thing]
    if members.first != thing:
        return Members(members.size - 1, members.first, newest)
    if len(members.newest) < members.size:
        return None
    return Members(len(newest), newest[-1], newest) if newest else _NONE


def _things(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """What rows of members are of."""
    return [thing for _, _, thing, *_ in file.all_unlasting(rows)]
