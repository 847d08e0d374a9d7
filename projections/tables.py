"""One append-only table per event type: its columns, made from the event class, and events as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from types import GenericAlias
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import orjson

from streams.core.dataclasses import dataclass, field, fields
from streams.core.driver import Placed
from streams.core.errors import Aside
from streams.core.events import OUTSIDE, Micros
from streams.core.processor import Moment, Processor, Raw

# Why within functions: who asks and folds nothing does without it, which saves a tenth of a second.
if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an event table and how to read it from an event."""

    name: str
    sql: str
    read: attrgetter[Any]
    json: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The table of one event type."""

    name: str
    columns: tuple[Column, ...]
    raw: bool
    """Whether it holds outside events (which have a `recorded_at`)."""


PLACE = (("partition", "INTEGER"), ("position", "BIGINT"), ("lineage", "VARCHAR"))
"""Columns of every table: where in the log the event stands, or the one that caused it, and what it was made by."""


def table_name(cls: type) -> str:
    """`TurnRecorded` is stored in `turn_recorded`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


_SQL: dict[object, str] = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    list[str]: "VARCHAR[]",
    list[int]: "BIGINT[]",
    list[float]: "DOUBLE[]",
}


@cache
def _arrow(sql: str) -> pa.DataType:
    """What a column of a type is in Arrow."""
    import pyarrow as pa

    if sql.endswith("[]"):
        return pa.list_(_arrow(sql.removesuffix("[]")))
    return {
        "VARCHAR": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
    }[sql]  # fmt: skip


def _column(name: str, hint: Any) -> Column:
    if name == "at" or hint in (Micros, Moment):
        return Column(name, "TIMESTAMP", attrgetter(name))
    plain = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    if get_origin(plain) is list and hasattr(item := get_args(plain)[0], "__metadata__"):
        plain = GenericAlias(list, item.__origin__)
    if plain in _SQL:
        return Column(name, _SQL[plain], attrgetter(name))
    kinds = {type(arg) for arg in get_args(plain)}
    if str(get_origin(plain)) == "typing.Literal" and kinds == {str}:
        return Column(name, _SQL[str], attrgetter(name))
    return Column(name, "VARCHAR", attrgetter(name), json=True)


@cache
def table_of(cls: type[Any]) -> Table:
    """The table for an event class: `space`, `session`, the event's place, `at`, then its other fields."""
    hints = get_type_hints(cls, include_extras=True)
    stored = [f.name for f in fields(cls) if f.name not in ("type", "space", "session")]
    columns = [_column("space", str)]
    if "session" in hints:
        columns.append(_column("session", str))
    columns += [_column(name, hints[name]) for name in stored]
    return Table(table_name(cls), tuple(columns), cls in OUTSIDE.values())


def tables(processors: Iterable[Processor[Any]]) -> list[tuple[type, Table]]:
    """The event classes and tables of a memory: outside events first, then each processor's."""
    classes = [*OUTSIDE.values(), *(cls for processor in processors for cls in processor.emits)]
    return [(cls, table_of(cls)) for cls in classes]


@dataclass(eq=False, slots=True)
class Folded:
    """What a run of raw events is and what was derived from them, in no table yet. Nobody changes it once it is told
    of."""

    raw: dict[type, list[tuple[int, int, Raw[Any]]]] = field(default_factory=dict)
    """By class: (partition, offset, event)."""
    derived: dict[type, list[Placed]] = field(default_factory=dict)
    marks: dict[int, int] = field(default_factory=dict)
    """The offset of the last raw event, by partition."""
    hashes: dict[int, bytes] = field(default_factory=dict)
    """What the log is known by up to there, by partition, where that is known."""
    aside: list[Aside] = field(default_factory=list)
    """What could not be folded."""

    def columns(self) -> dict[type, pa.Table]:
        """All of it as rows of tables, by class."""
        tables = {cls: raw_batch(cls, entries) for cls, entries in self.raw.items()}
        return tables | {cls: derived_batch(cls, rows) for cls, rows in self.derived.items()}

    def add(self, more: Folded) -> None:
        """Takes up what was folded after it."""
        for cls, entries in more.raw.items():
            self.raw.setdefault(cls, []).extend(entries)
        for cls, rows in more.derived.items():
            self.derived.setdefault(cls, []).extend(rows)
        self.marks |= more.marks
        self.hashes |= more.hashes
        self.aside += more.aside


def create_sql(table: Table) -> str:
    """SQL that makes a table."""
    columns = {c.name: c.sql for c in table.columns}
    head = ["space VARCHAR", "session VARCHAR", *(f'"{name}" {sql}' for name, sql in PLACE), '"at" TIMESTAMP']
    head.append("recorded_at TIMESTAMP" if table.raw else "ordinal INTEGER")
    if table.name == "turn_recorded":
        head += ["tokens BIGINT", "echo BIGINT"]
    rest = [f'"{name}" {sql}' for name, sql in columns.items() if name not in ("space", "session", "at")]
    return f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(head + rest)})"


def as_json(value: object) -> str:
    """What a column that holds JSON has of a value."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _values(column: Column, events: Sequence[object]) -> pa.Array:
    import pyarrow as pa

    values = list(map(column.read, events))
    if column.json:
        values = list(map(as_json, values))
    return pa.array(values, _arrow(column.sql))


def raw_batch(cls: type, entries: Sequence[tuple[int, int, Raw[Any]]]) -> pa.Table:
    """Columns of outside events of one class: (partition, offset, event) each."""
    import pyarrow as pa

    events = [raw.event for _, _, raw in entries]
    table = table_of(cls)
    columns = {column.name: _values(column, events) for column in table.columns}
    columns["partition"] = pa.array([p for p, _, _ in entries], pa.int32())
    columns["position"] = pa.array([o for _, o, _ in entries], pa.int64())
    columns["recorded_at"] = pa.array([raw.recorded_at for _, _, raw in entries], pa.timestamp("us"))
    if table.name == "turn_recorded":
        columns["tokens"] = pa.array([raw.text.tokens for _, _, raw in entries], pa.int64())
        columns["echo"] = pa.array([raw.echo for _, _, raw in entries], pa.int64())
    return pa.table(columns)


def derived_batch(cls: type, rows: Sequence[Placed]) -> pa.Table:
    """Columns of derived events of one class."""
    import pyarrow as pa

    partitions, offsets, ordinals, events = zip(*rows, strict=True)
    columns = {column.name: _values(column, events) for column in table_of(cls).columns}
    columns["partition"] = pa.array(partitions, pa.int32())
    columns["position"] = pa.array(offsets, pa.int64())
    columns["ordinal"] = pa.array(ordinals, pa.int32())
    return pa.table(columns)
