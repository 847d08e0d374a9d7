"""A memory as it was, or a part of it: all tables and views end at a position of the raw log, or at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from projections.store import EVENT_TABLES, Connection, one, read_mark, read_meta
from projections.tables import table_name
from projections.views import view_names
from streams.core.errors import UsageError
from streams.core.events import OUTSIDE, micros
from streams.core.patterns import lazily

_VIEW = lazily(r"^CREATE VIEW .*?;$", re.MULTILINE | re.DOTALL)
_WORD = lazily(r"\w+")
_NAME = lazily(r"(?<![.\w])(?<!\bAS\s)\w+", re.IGNORECASE)
"""A word that may name a table or view: no column of something (`t.turns`), and no name that is given (`AS turns`)."""


def as_of(connection: Connection, moment: str) -> Connection:
    """A cursor on which all tables and views end at `moment`: a position of the raw log or an ISO time.

    A position is PARTITION:OFFSET, or an offset alone where the log has one partition; other partitions end with what
    was recorded until then. At a time, each space ends before its first event that happened later. Raises UsageError
    for neither, and for a position that the memory has not come to.
    """
    cursor = connection.cursor()
    _end(cursor, _bound(cursor, moment))
    return cursor


def past(connection: Connection, moment: str) -> Connection:
    """As `as_of`, for SQL that names each table and view by a word of its own: each is made when it is first named.

    Why: all of them take longer to make than most questions to answer, and most questions name few.
    """
    cursor = connection.cursor()
    return cast(Connection, _Past(cursor, _bound(cursor, moment)))


class _Past:
    """A cursor on which tables and views end at a bound from when they are first named."""

    def __init__(self, cursor: Connection, bound: str) -> None:
        self._cursor = cursor
        self._bound = bound
        self._views = read_meta(cursor, "views")
        self._tables = {name for (name,) in cursor.execute(EVENT_TABLES).fetchall()}
        self._waiting = self._tables.union(view_names(self._views))
        self._made: set[str] = set()

    def execute(self, sql: str, parameters: Any = None) -> Connection:
        if named := self._waiting.intersection(_WORD.findall(sql.lower())):
            views, words = _behind(self._views, named, self._made)
            needed = words & self._waiting
            _make(self._cursor, needed & self._tables, views, self._bound)
            self._waiting -= needed
            self._made |= needed
        return self._cursor.execute(sql, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def _bound(cursor: Connection, moment: str) -> str:
    """What holds for the rows `t` of a table until a moment."""
    place = re.fullmatch(r"(?:(\d{1,9}):)?(\d{1,18})", moment)
    return _time_bound(cursor, moment) if place is None else _place_bound(cursor, moment, place[1], int(place[2]))


def narrowed(connection: Connection, ends: Mapping[str, int]) -> Connection:
    """A cursor on which all tables and views hold some spaces alone, each to its last offset in `ends`."""
    cursor = connection.cursor()
    cursor.execute(
        "CREATE TEMP TABLE held AS SELECT unnest($spaces::VARCHAR[]) AS space, unnest($ends::BIGINT[]) AS last",
        {"spaces": list(ends), "ends": list(ends.values())},
    )
    _end(cursor, "position <= coalesce((SELECT last FROM held WHERE held.space = t.space), -1)")
    return cursor


def _end(cursor: Connection, bound: str) -> None:
    """Has tables and views of a cursor hold rows `t` of a condition alone."""
    names = [name for (name,) in cursor.execute(EVENT_TABLES).fetchall()]
    _make(cursor, names, read_meta(cursor, "views"), bound)


def _make(cursor: Connection, names: Collection[str], views: str, bound: str) -> None:
    """Makes the tables of these names, of rows `t` of a condition alone, and then views, of the text of them."""
    database = one(cursor, "SELECT current_database()")
    ended = [f'CREATE TEMP VIEW {name} AS SELECT * FROM "{database}".main.{name} AS t WHERE {bound};' for name in names]
    if all_ := "\n".join([*ended, views.replace("CREATE VIEW", "CREATE TEMP VIEW")]).strip():
        cursor.execute(all_)  # why at once: eighty statements by themselves cost a third more


def _behind(views: str, names: Collection[str], but: Collection[str] = ()) -> tuple[str, set[str]]:
    """The text of views and of all that they may use, `but` for some, and every word in it that may name one: what a
    view uses stands before it."""
    found: list[str] = []
    words = {*names}
    for text in reversed(_VIEW.findall(views)):
        if (name := text.split(maxsplit=3)[2]) in words and name not in but:
            found.append(text)
            words.update(_NAME.findall(text))
    return "\n".join(reversed(found)), words


def _place_bound(cursor: Connection, moment: str, partition: str | None, offset: int) -> str:
    partitions = int(read_meta(cursor, "partitions"))
    if partitions == 1 and partition in (None, "0"):
        _check_there(cursor, moment, 0, offset)
        return f"position <= {offset}"
    if partition is None or int(partition) >= partitions:
        raise UsageError(
            f"{moment!r} is no position of a log of {partitions} partitions",
            "give PARTITION:OFFSET, 0:1234 for example",
        )
    _check_there(cursor, moment, int(partition), offset)
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


def _check_there(cursor: Connection, moment: str, partition: int, offset: int) -> None:
    """Raises UsageError for a position that the memory has not come to: what is there now would seem to be of then."""
    end = read_mark(cursor, partition)
    if offset > end:
        here = "the memory" if ":" not in moment else f"partition {partition} of it"
        ends = f"{here} ends at {moment.rpartition(':')[0]}{':' if ':' in moment else ''}{end}" if end >= 0 else ""
        raise UsageError(
            f"there is no position {moment} yet: {ends or f'{here} is empty'}", "give one that is there, or a time"
        )


def _time_bound(cursor: Connection, moment: str) -> str:
    try:
        at = micros(moment)
    except ValueError as error:
        raise UsageError(f"{moment!r} is neither a position nor a time", "give 1234 or 2026-01-05T09:00:00Z") from error
    later = " UNION ALL ".join(
        f'SELECT space, position FROM {table_name(cls)} WHERE "at" > make_timestamp({at})' for cls in OUTSIDE.values()
    )
    cursor.execute(f"CREATE TEMP TABLE beyond AS SELECT space, min(position) AS first FROM ({later}) GROUP BY space")
    return "position < coalesce((SELECT first FROM beyond WHERE beyond.space = t.space), 9223372036854775807)"
