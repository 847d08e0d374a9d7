"""What turns said, by space and offset: looked up one by one, wherever in a long talk they lie.

Why beside the index though the tables of the memory hold it: to query a table costs milliseconds whatever it finds, and
more for each part of a long one in which a turn lies, and a context shows turns from all over a talk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import orjson

from projections.recall import file
from projections.recall.kinds import Places, bound
from projections.store import Connection
from projections.tables import Folded, as_json, table_name
from streams.core.events import TurnRecorded

TABLE = table_name(TurnRecorded)
"""Where a memory has them."""
_TOLD = (
    'SELECT space, position, id, role, agent, content, session, epoch_us("at"), tokens, parts, epoch_us(recorded_at) '
    f"FROM {TABLE} WHERE "
)
AT_ONCE = 1_000
"""Turns that are in memory at a time while many are taken up: one may be megabytes long."""
_Told = tuple[Any, ...]
"""What `_TOLD` finds of a turn."""


def take(index: sqlite3.Connection, memory: Connection, places: Places) -> int:
    """Adds the turns of a page of the log to the index, within the caller's transaction; how many characters."""
    rows = memory.execute(_TOLD + bound(places))
    taken = 0
    while some := rows.fetchmany(AT_ONCE):
        _write(index, some)
        taken += sum(len(row[5]) for row in some)
    return taken


def take_folded(index: sqlite3.Connection, page: Folded) -> None:
    """The same of what lies in no table yet."""
    told = [(offset, raw, raw.event) for _, offset, raw in page.raw.get(TurnRecorded, ())]
    _write(
        index,
        [
            (
                one.space, at, one.id, one.role, one.agent, one.content, one.session, one.at, raw.text.tokens,
                as_json(one.parts), raw.recorded_at,
            )
            for at, raw, one in told
        ],
    )  # fmt: skip


def _write(index: sqlite3.Connection, told: Sequence[_Told]) -> None:
    rows = []
    numbers = {space: file.number_of(index, space) for space in dict.fromkeys(row[0] for row in told)}
    for space, at, *said, tokens, parts, recorded_at in told:
        number = numbers[space]
        data = orjson.dumps([*said, tokens or 0, tool_calls(parts or ""), recorded_at])
        rows.append((number, at, file.summed(data, number, at)))
    index.executemany("INSERT OR REPLACE INTO turns VALUES (?, ?, ?)", rows)


def read(index: sqlite3.Connection, space: str, positions: Sequence[int]) -> dict[int, list[Any]]:
    """By offset: id, role, agent, content, session, time, tokens and calls of turns, and when they were recorded.
    Raises DamagedError."""
    rows = index.execute(
        "SELECT * FROM turns WHERE space = (SELECT number FROM spaces WHERE name = ?) "
        "AND position IN (SELECT value FROM json_each(?))",
        [space, orjson.dumps(positions).decode()],
    )
    with file.decoding():
        return {at: orjson.loads(data) for _, at, data in file.all_unsummed(rows)}


def tool_calls(parts: str) -> list[tuple[str, str]]:
    """The tools that a turn's parts (JSON) call, and with what (JSON); parts of other shapes are passed over."""
    if len(parts) < 3:
        return []
    found = []
    for part in orjson.loads(parts):
        call: Any = part.get("function")
        if not (isinstance(call, dict) and call.get("name")) and part.get("type") in ("tool_use", "tool_call"):
            call = part
        name = call.get("name") if isinstance(call, dict) else None
        if isinstance(name, str) and name:
            given = call.get("arguments") or call.get("input") or ""
            told = given if isinstance(given, str) else orjson.dumps(given).decode()
            found.append((" ".join(name.split()), " ".join(told.split())))
    return found
