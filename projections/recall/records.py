"""Records that mechanisms keep of turns (how active a turn is, say), as of any position, for recall."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from projections.recall import file
from projections.recall.held import LATEST, SEPARATOR
from projections.recall.kinds import Place
from projections.store import Connection
from projections.stored import events_of
from projections.tables import table_of

_ROW = "space, name, turn, thing, position, ordinal, data, sum"
MOST = 50_000
"""Records kept in memory."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A class of events each of which is the whole record of something, so that the last one is all that counts."""

    cls: type
    key: tuple[str, ...] = ("turn",)
    """The fields that say what it is about; what each of them holds finds the record."""

    @property
    def table(self) -> str:
        """Where a memory has its events."""
        return table_of(self.cls).name

    def told(self) -> list[str]:
        """What of it is indexed, for the index's identity."""
        return [self.table, *self.key, *(column.name for column in table_of(self.cls).columns)]


class Records:
    """The records in an index. What they are is in memory for turns asked before; which turns have any, for all."""

    def __init__(self, kept: Mapping[str, Sequence[Kept]]) -> None:
        self._kept = {of.table: (name, of) for name, some in kept.items() for of in some}
        self._known: dict[tuple[str, str], dict[str, list[tuple[int, Any]] | None]] = {}
        """By space and name: the turns with records. None: not read yet."""
        self._read = 0
        self._newest: dict[str, int] = {}
        """By space: the newest moment of its records."""

    @property
    def tables(self) -> frozenset[str]:
        """Where a memory has them."""
        return frozenset(self._kept)

    def forget(self) -> None:
        """Everything is read anew."""
        self._known.clear()
        self._read = 0
        self._newest.clear()

    def newest(self, index: sqlite3.Connection, space: str, until: int | None) -> int:
        """The newest moment that a space's records tell of, as of a position, UTC microseconds; 0 for none."""
        if until is None and space in self._newest:
            return self._newest[space]
        _, found = _checked(
            index.execute(
                f"SELECT {_ROW}, max(json_extract(data, '$.at')) FROM records "
                "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND position <= ?",
                [space, LATEST if until is None else until],
            ).fetchone()
        )
        if until is None:
            self._newest[space] = int(found or 0)
        return int(found or 0)

    def take(self, index: sqlite3.Connection, memory: Connection, table: str, place: Place) -> None:
        """Adds the records of a page of the log to the index, within the caller's transaction."""
        name, kept = self._kept[table]
        numbers = dict[str, int]()
        which = 'WHERE e."partition" = ? AND e.position >= ? AND e.position < ? ORDER BY e.position, e.ordinal'
        for position, ordinal, event in events_of(memory, kept.cls, which, list(place)):
            space = event.space
            if space not in numbers:
                numbers[space] = _number(index, space)
            about = [str(getattr(event, key)) for key in kept.key]
            data = orjson.dumps(event)
            for turn in dict.fromkeys(about):
                key = (numbers[space], name, turn, SEPARATOR.join([table, *about]), position, ordinal)
                index.execute(
                    "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [*key, data, file.sum_of(data, *key)],
                )
                if (space, name) in self._known:
                    self._known[space, name][turn] = None
            if space in self._newest:
                self._newest[space] = max(self._newest[space], event.at)

    def of(
        self, index: sqlite3.Connection, space: str, name: str, turns: Sequence[str], until: int | None
    ) -> dict[str, list[Any]]:
        """The last record, as of a position, of each thing that each of `turns` is part of; turns without any are
        left out."""
        known = self._known_of(index, space, name)
        wanted = [turn for turn in turns if turn in known] if known else []
        if not wanted:
            return {}
        if missing := [turn for turn in wanted if known[turn] is None]:
            if self._read > MOST:
                self.forget()
                known = self._known_of(index, space, name)
                missing = wanted
            self._read_in(index, (space, name), missing)
        found: dict[str, list[Any]] = {}
        late: list[str] = []
        for turn in wanted:
            records = known[turn] or []
            if until is not None and any(position > until for position, _ in records):
                late.append(turn)
            else:
                found[turn] = [record for _, record in records]
        if late and until is not None:
            earlier = self._select(index, (space, name), late, until)
            found |= {turn: [record for _, record in records] for turn, records in earlier.items()}
        return found

    def _known_of(self, index: sqlite3.Connection, space: str, name: str) -> dict[str, list[tuple[int, Any]] | None]:
        known = self._known.get((space, name))
        if known is None:
            turns = index.execute(
                "SELECT DISTINCT turn FROM records "
                "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ?",
                [space, name],
            )
            known = self._known[space, name] = dict.fromkeys((turn for (turn,) in turns), None)
        return known

    def _read_in(self, index: sqlite3.Connection, where: tuple[str, str], turns: Sequence[str]) -> None:
        for turn, records in self._select(index, where, turns, LATEST).items():
            self._known[where][turn] = records
            self._read += len(records)

    def _select(
        self, index: sqlite3.Connection, where: tuple[str, str], turns: Sequence[str], until: int
    ) -> dict[str, list[tuple[int, Any]]]:
        """By turn, oldest first: the position and the record of the last of each thing."""
        # Beside a maximum SQLite gives the other columns of the row that has it.
        rows = index.execute(
            f"SELECT {_ROW}, max(printf('%020d%020d', position, ordinal)) AS place FROM records "
            "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND name = ? AND position <= ? "
            "AND turn IN (SELECT value FROM json_each(?)) GROUP BY turn, thing ORDER BY turn, place",
            [*where, until, orjson.dumps(list(turns)).decode()],
        )
        found: dict[str, list[tuple[int, Any]]] = {}
        for row in rows:
            (_, _, turn, thing, position, _, data), _ = _checked(row)
            cls = self._kept[thing.partition(SEPARATOR)[0]][1].cls
            found.setdefault(turn, []).append((position, cls(**orjson.loads(data))))
        return found


def _checked(row: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """What a row of records holds, and what was asked beside it. Raises DamagedError."""
    *found, sum_, beside = row
    if beside is not None:
        with file.decoding():
            file.check(sum_, found[-1], *found[:-1])
    return tuple(found), beside


def _number(index: sqlite3.Connection, space: str) -> int:
    """The number of a space, a new one for an unknown space."""
    index.execute("INSERT OR IGNORE INTO spaces VALUES (NULL, ?, 0, 0)", [space])
    return int(index.execute("SELECT number FROM spaces WHERE name = ?", [space]).fetchone()[0])
