"""The views of a memory: what is current, over its append-only tables.

Those that need only the raw log are in views.sql here, which also says how views are written. Of each event that is the
whole record of something (`Keep`) the last one is a view; what is more, mechanisms say in views.sql files of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from projections.tables import table_of
from streams.core.patterns import lazily
from streams.core.processor import Processor
from streams.core.read_model import Keep

_BASE = Path(__file__).with_name("views.sql")
_NAME = lazily(r"^CREATE VIEW (\w+)", re.MULTILINE)


def views_sql(processors: Iterable[Processor[Any]]) -> str:
    """SQL that makes all views, those first that others use."""
    parts = [_BASE.read_text("utf-8")]
    for processor in processors:
        parts += [_last(keep) for keep in processor.read_model.keeps if keep.view]
        parts.append(processor.read_model.views)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def view_names(sql: str) -> list[str]:
    """The names of the views that a text makes, in its order."""
    return _NAME.findall(sql)


def _last(keep: Keep) -> str:
    """A view of the last record of each key."""
    table = table_of(keep.event)
    key = ", ".join(["k.space", *(f'k."{name}"' for name in keep.key)])
    columns = ", ".join(f'k."{column.name}"' for column in table.columns)
    about = (keep.event.__doc__ or "").strip().splitlines()[0]
    return (
        f"-- {about} The last record of each {', '.join(keep.key)}.\n"
        f"CREATE VIEW {keep.view} AS\nSELECT {columns}, k.position FROM {table.name} k\n"
        f"QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY k.position DESC, k.ordinal DESC) = 1;"
    )


def described(sql: str) -> Iterator[tuple[str, str]]:
    """Name and description (the comments before it) of each view that a text makes."""
    about: list[str] = []
    for line in sql.splitlines():
        if line.startswith("--"):
            about.append(line.removeprefix("--").removeprefix(" "))
        elif found := _NAME.match(line):
            yield found[1], "\n".join(about)
        if not line.startswith("--"):
            about = []
