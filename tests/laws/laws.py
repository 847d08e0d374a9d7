"""The laws of a processor as functions: each raises AssertionError where a set of processors breaks it.

`test_laws.py` runs them over every registered processor, and over planted ones that break exactly one.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import orjson

from streams.driver import Placed, Row, Tree, as_root, rows_of
from streams.events import Outside
from streams.processor import Processor, State

MAX_WRITES = 64
MAX_RECORD = 8 * 1024

Processors = Sequence[Processor[Any]]


def tree_of(processors: Processors) -> Tree:
    """A fresh tree with default parameters."""
    return Tree(processors, {p.name: p.params() for p in processors})


def feed(tree: Tree, events: Iterable[Outside], start: int = 0) -> list[Row]:
    """All rows of `events` at offsets from `start`."""
    placed: list[Placed] = []
    for offset, event in enumerate(events, start):
        tree.fold(event.space, 0, offset, as_root(event, event.at), placed)
    return rows_of(placed)


def to_bytes(rows: Sequence[Row]) -> bytes:
    """Rows as bytes, order included."""
    return orjson.dumps([[*row.position, type(row.event).__name__, row.event] for row in rows])


def digest(processors: Processors, events: Sequence[Outside]) -> str:
    """A hash of everything derived."""
    return hashlib.sha256(to_bytes(feed(tree_of(processors), events))).hexdigest()


def saved(tree: Tree) -> dict[tuple[str, str], dict[str, bytes]]:
    """Every record of every state, encoded, as a runtime would have saved it."""
    found: dict[tuple[str, str], dict[str, bytes]] = {}
    for name, driver in tree.drivers.items():
        for space, state in driver.states.items():
            list(state.changes())
            found[name, space] = dict(sorted(state._encoded.items()))
    return {key: records for key, records in found.items() if records}


def pure(processors: Processors, events: Sequence[Outside]) -> None:
    """Two folds of a log give identical bytes."""
    assert digest(processors, events) == digest(processors, events)


def resumable(processors: Processors, events: Sequence[Outside], cut: int) -> None:
    """Cutting the fold, saving the state and going on from what was saved equals the whole."""
    whole = tree_of(processors)
    expected = feed(whole, events)
    first, second = tree_of(processors), tree_of(processors)
    rows = feed(first, events[:cut])
    for (name, space), records in saved(first).items():
        second.drivers[name].states[space] = State(dict(records))
    rows += feed(second, events[cut:], cut)
    assert to_bytes(rows) == to_bytes(expected)
    untouched = {k: v for k, v in saved(first).items() if k[1] not in second.drivers[k[0]].states}
    assert untouched | saved(second) == saved(whole)


def idempotent(processors: Processors, events: Sequence[Outside]) -> None:
    """Events redelivered change nothing and add nothing, for each processor alone and for the tree."""
    tree = tree_of(processors)
    rows = feed(tree, events)
    before = saved(tree)
    assert feed(tree, events) == []
    for driver in tree.drivers.values():
        for row in rows:
            if type(row.event) in (
                cls for d in tree.drivers.values() if driver in d.children for cls in d.processor.emits
            ):
                assert driver.step(row.event.space, *row.position, row.event) == ()
    assert saved(tree) == before


def well_formed(processors: Processors, events: Sequence[Outside]) -> None:
    """Each event is of a type its processor names, of its input's space, with numbers rounded to 1e-6."""
    emits = {cls for p in processors for cls in p.emits}
    spaces = {offset: event.space for offset, event in enumerate(events)}
    for row in feed(tree_of(processors), events):
        assert type(row.event) in emits
        assert row.event.space == spaces[row.position.offset]
        made = {f.name: getattr(row.event, f.name) for f in fields(row.event) if not f.metadata.get("carried")}
        for number in _floats(orjson.loads(orjson.dumps(made))):
            assert number == round(number, 6)


def _floats(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        return [n for item in value.values() for n in _floats(item)]
    if isinstance(value, list):
        return [n for item in value for n in _floats(item)]
    return []


def small_steps(processors: Processors, events: Sequence[Outside]) -> None:
    """At most 64 writes per event and processor, of records of at most 8 KB."""
    tree = tree_of(processors)
    for offset, event in enumerate(events):
        tree.fold(event.space, 0, offset, as_root(event, event.at), [])
        for name, driver in tree.drivers.items():
            written = list(driver.states[event.space].changes()) if event.space in driver.states else []
            assert len(written) <= MAX_WRITES, f"{name} wrote {len(written)} records at one event"
            for key, value in written:
                assert len(value or b"") <= MAX_RECORD, f"{name} wrote {len(value or b'')} bytes at {key}"


def level_work(processors: Processors, events: Sequence[Outside], window: int = 400, allowed: float = 1.5) -> None:
    """The lines of Python executed per event in the last window are at most `allowed` times those in an early one."""
    tree = tree_of(processors)
    early = len(events) // 4
    feed(tree, events[:early])
    first = _lines(lambda: feed(tree, events[early : early + window], early))
    feed(tree, events[early + window : -window], early + window)
    last = _lines(lambda: feed(tree, events[-window:], len(events) - window))
    assert last <= allowed * first, f"{last / window:.0f} lines per event at the end, {first / window:.0f} early on"


def _lines(work: Callable[[], object]) -> int:
    count = 0

    def trace(frame: Any, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def separate(processors: Processors, events: Sequence[Outside]) -> None:
    """What is derived for a space is the same whether other spaces are folded beside it or not."""
    together = feed(tree_of(processors), events)
    for space in {event.space for event in events}:
        alone_tree = tree_of(processors)
        alone: list[Placed] = []
        for offset, event in enumerate(events):
            if event.space == space:
                alone_tree.fold(space, 0, offset, as_root(event, event.at), alone)
        assert to_bytes([row for row in together if row.event.space == space]) == to_bytes(rows_of(alone))


def due(events: Sequence[Row]) -> list[bytes]:
    """What deadlines brought about: events dated before the last clock they were revealed by, as sorted bytes."""
    return sorted(orjson.dumps(row.event) for row in events)


def dated_at_deadline(
    processors: Processors, events: Sequence[Outside], late: int, revealers: Sequence[Outside]
) -> None:
    """Effects of deadlines are the same, and dated the same, whichever event at time `late` reveals them."""
    found = []
    for revealer in revealers:
        tree = tree_of(processors)
        feed(tree, events)
        rows = feed(tree, [revealer], len(events))
        found.append(due([row for row in rows if row.event.at < late]))
    for other in found[1:]:
        assert other == found[0]
