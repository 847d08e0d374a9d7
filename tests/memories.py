"""Small memories written by hand: derived events as given, so that readers are tested apart from what derives them."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from processors import PROCESSORS
from projections.asking import all_params
from projections.recall.answers import Recall, Sight
from projections.store import Batch, Connection, Store, read_only
from projections.tables import derived_batch, raw_batch
from streams.core.driver import Placed
from streams.core.events import HOUR, MINUTE, OUTSIDE, Outside, TurnRecorded, micros
from streams.core.processor import Raw
from streams.core.text import NO_TEXT
from streams.runtime.home import Home

START = micros("2026-01-05T09:00:00Z")
"""A Monday."""
SPACE = "acme"
EMPTY = {str: "", int: 0, float: 0.0, bool: False, list: [], dict: {}}


def at(minutes: float = 0, hours: float = 0) -> int:
    """A time after the start, in microseconds."""
    return START + int(minutes * MINUTE + hours * HOUR)


def make(cls: type, **given: Any) -> Any:
    """An event of `cls` with the fields given, and the emptiest values for the others."""
    hints = get_type_hints(cls, include_extras=True)
    values = {"space": SPACE, "at": START} | given
    for field in fields(cls):
        if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
            values[field.name] = _empty(hints[field.name])
    return cls(**values)


def _empty(hint: Any) -> Any:
    origin = get_origin(hint)
    if origin is Annotated:
        return _empty(get_args(hint)[0])
    if origin is Literal:
        return get_args(hint)[0]
    if origin in (Union, types.UnionType):
        return _empty(get_args(hint)[0])
    return EMPTY[origin or hint]


def turn(id: str, session: str, content: str = "", *, tokens: int = 10, **given: Any) -> tuple[TurnRecorded, int]:
    """A raw turn and its tokens."""
    fields_ = {"id": id, "session": session, "content": content, "role": "user", "agent": "ann"} | given
    return make(TurnRecorded, **fields_), tokens


def memory(path: Path, *steps: Sequence[Any]) -> Connection:
    """A memory at `path` in which step n is what stands at position n: a raw event first, then what derives from it.

    Turns are what `turn` gives. Derived events without `at` of their own happen when their raw event did.
    """
    lineages = {"turns": "root"} | {p.name: p.name for p in PROCESSORS}
    meta = {"log_id": "log", "partitions": 1, "name": path.stem, "lineages": lineages, "params": {}}
    store = Store.create(path, PROCESSORS, meta)
    raw: dict[type, list[Any]] = {}
    derived: dict[type, list[Placed]] = {}
    for position, step in enumerate(steps):
        for ordinal, event in enumerate(step):
            if isinstance(event, tuple):
                text = replace(NO_TEXT, tokens=event[1])
                raw.setdefault(TurnRecorded, []).append((0, position, Raw(event[0], text, event[0].at)))
            elif type(event) in OUTSIDE.values():
                raw.setdefault(type(event), []).append((0, position, Raw(event, NO_TEXT, event.at)))
            else:
                derived.setdefault(type(event), []).append((0, position, ordinal, event))
    tables = {cls: raw_batch(cls, entries) for cls, entries in raw.items()}
    tables |= {cls: derived_batch(cls, rows) for cls, rows in derived.items()}
    store.commit(Batch(tables, [], {0: len(steps) - 1}))
    return store.connection


def rows(connection: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    """What a query finds."""
    return connection.execute(sql, parameters).fetchall()


@contextmanager
def remembered(folder: Path, events: Sequence[Outside]) -> Iterator[tuple[Any, Sight]]:
    """A memory of some events: its tables, and what answers questions."""
    home = Home(folder, PROCESSORS)
    home.log.append(events)
    with home.live():
        pass
    home.log.close()
    connection = read_only(home.memory_path("live"))
    recall = Recall.of(home.memory_path("live"), connection, PROCESSORS, all_params(PROCESSORS, {}))
    recall.index.catch_up(connection)
    yield connection, Sight(connection, recall, False)
    connection.close()
