"""Columns that SQL takes for words of its own: DuckDB says where it stopped reading, and not why."""

from __future__ import annotations

import re

from projections.store import Connection
from streams.core.patterns import lazily

_RESERVED = """
SELECT DISTINCT c.column_name FROM duckdb_columns() c JOIN duckdb_keywords() k ON k.keyword_name = c.column_name
WHERE k.keyword_category IN ('reserved', 'type_function')
"""
_STOPPED = lazily(r'syntax error at (?:or near "(.+)"|end of input)')


def reserved_at(connection: Connection, statement: str, error: str) -> str:
    """The column of the memory that is a word of SQL, at which or behind which reading a statement stopped with an
    error of DuckDB; "" where that was at no such word, or where it stands in quotes or behind a dot."""
    found = _STOPPED.search(error)
    if found is None:
        return ""
    stopped = found[1] or ""
    for (name,) in sorted(connection.execute(_RESERVED).fetchall()):
        behind = rf"\s*{re.escape(stopped)}" if stopped else r"[\s;]*$"
        if stopped.lower() == name or re.search(rf'(?<![\w".]){name}\b(?!"){behind}', statement, re.IGNORECASE):
            return str(name)
    return ""
