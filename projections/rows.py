"""Rows of a query as an answer holds them: JSON values, and no more bytes than a process can spare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import count
from typing import Any

from projections.store import Connection
from streams.core.errors import UsageError

MOST = 128 * 2**20
"""Bytes of an answer's rows, about: of their values as text, and VALUE for holding each."""
VALUE = 32


def plain(value: Any) -> Any:
    """A DuckDB value as JSON has it: times as ISO 8601 with Z."""
    if isinstance(value, datetime):
        return value.isoformat() + ("Z" if value.tzinfo is None else "")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return str(value)


def rows(connection: Connection, sql: str, parameters: object = None) -> Iterator[dict[str, Any]]:
    """The rows of a query as dicts of JSON values, one at a time: none is held."""
    result = connection.execute(sql, parameters) if parameters is not None else connection.execute(sql)
    names = _unlike(column[0] for column in result.description or [])
    while (row := result.fetchone()) is not None:
        yield dict(zip(names, map(plain, row), strict=True))


def _unlike(names: Iterable[str]) -> list[str]:
    """Names of columns of which none is another's: of one that comes again (in a join's `*`), with a number behind it,
    as DuckDB has them in a table made of it."""
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{n}" for n in count(1))
        found[name if name not in found else next(other for other in numbered if other not in found)] = None
    return list(found)


def first(found: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """The first rows, as many as MOST bytes hold, and whether these are all."""
    held: list[dict[str, Any]] = []
    room = MOST
    for row in found:
        room -= sum(VALUE + len(str(value)) for value in row.values())
        if room < 0:
            return held, False
        held.append(row)
    return held, True


def whole(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows. Raises UsageError where they are more than an answer may hold."""
    held, is_whole = first(found)
    if not is_whole:
        raise UsageError(
            f"the answer holds more than {MOST:,} bytes, {len(held):,} rows would fit",
            "ask for less of it: a limit, a session, a shorter range; `mnemolog sql` tells any number of rows",
        )
    return held


def records(connection: Connection, sql: str, parameters: object = None) -> list[dict[str, Any]]:
    """All rows of a query as dicts of JSON values. Raises UsageError where they are more than an answer may hold."""
    return whole(rows(connection, sql, parameters))
