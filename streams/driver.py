"""Runs processors over events; no I/O: decode, drop what was seen, step, hand each output to the processors reading it.

One driver serves the embedded runtime, replays and Kafka workers: they only move its inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from time import perf_counter
from typing import Any, NamedTuple

from streams.events import OUTSIDE, UPCASTS, Outside, TurnRecorded, decode
from streams.processor import ROOT, Derived, Params, Processor, State, lineages
from streams.text import VERSION, FactRead, Root, Text, TurnRead, read

FANOUT = 4096
"""A path packs one number below this per processor passed; one input has fewer outputs than this."""


class Position(NamedTuple):
    """Provenance of an event and its idempotence token. Order is lexicographic within a partition."""

    partition: int
    offset: int
    """Of the raw-log event that caused it."""
    path: int = 0
    """One base-4096 digit per processor passed: the place among the outputs of that one input. 0 for the raw event."""


class Record(NamedTuple):
    """An event as a log holds it."""

    partition: int
    offset: int
    space: str
    recorded_at: int
    """UTC microseconds, stamped by the log; stays with the event in every copy."""
    type: str
    value: bytes


Placed = tuple[int, int, int, Derived]
"""A derived event after its place: (partition, offset, path, event). A plain tuple: millions of them are made."""


class Row(NamedTuple):
    """A derived event and where it stands."""

    position: Position
    event: Derived


class FanoutError(RuntimeError):
    """A processor made more outputs of one input than a path can number."""


def root_schema() -> dict[str, Any]:
    """What the raw log is read with; its hash is the root of every lineage."""
    return {
        "events": {name: [f.name for f in fields(cls)] for name, cls in sorted(OUTSIDE.items())},
        "upcasts": sorted(UPCASTS),
        "text": VERSION,
    }


def root_event(record: Record, text: Text | None = None) -> Root:
    """What root processors are given for a record; `text` where a cache has the features already.

    Raises what `decode` raises for a record that no edge let through.
    """
    return as_root(decode(record.type, record.value), record.recorded_at, text)


def as_root(event: Outside, recorded_at: int, text: Text | None = None) -> Root:
    """What root processors are given for a decoded event."""
    if isinstance(event, TurnRecorded):
        return TurnRead(event, text or read(event), recorded_at)
    return FactRead(event, recorded_at)


class Driver:
    """One processor over many spaces: its states, its high-water marks, its step counter."""

    __slots__ = ("_step", "children", "marks", "params", "processor", "seconds", "states", "steps")

    def __init__(self, processor: Processor[Any], params: Params) -> None:
        self.processor = processor
        self.params = params
        self.states: dict[str, State] = {}
        self.marks: dict[int, tuple[int, int]] = {}
        self.steps = 0
        self.seconds = 0.0
        self.children: list[Driver] = []
        self._step = processor.step

    def time_steps(self) -> None:
        """Counts the seconds spent in the processor from now on."""
        step = self.processor.step

        def timed(params: Any, state: State, event: Any) -> Sequence[Derived]:
            began = perf_counter()
            outputs = step(params, state, event)
            self.seconds += perf_counter() - began
            return outputs

        self._step = timed

    def step(self, space: str, partition: int, offset: int, path: int, event: object) -> Sequence[Derived]:
        """Folds one event of its input stream; a position not above the mark changes nothing and gives nothing.

        The place of output i is (partition, offset, path * FANOUT + i). Raises FanoutError, before the mark moves, when
        the processor breaks its bound.
        """
        place, mark = (offset, path), self.marks.get(partition)
        if mark is not None and place <= mark:
            return ()
        try:
            state = self.states[space]
        except KeyError:
            state = self.states[space] = State()
        self.steps += 1
        outputs = self._step(self.params, state, event)
        if len(outputs) >= FANOUT:
            raise FanoutError(f"{self.processor.name} made {len(outputs)} events of one at offset {offset}")
        self.marks[partition] = place
        return outputs


class Tree:
    """Processors and what reads them, folded together in one process."""

    def __init__(self, processors: Iterable[Processor[Any]], params: dict[str, Params], timed: bool = False) -> None:
        self.drivers = {p.name: Driver(p, params[p.name]) for p in processors}
        self.lineages = lineages([d.processor for d in self.drivers.values()], params, root_schema())
        self.roots = [d for d in self.drivers.values() if d.processor.reads == ROOT]
        for driver in self.drivers.values():
            if timed:
                driver.time_steps()
            if driver.processor.reads != ROOT:
                self.drivers[driver.processor.reads].children.append(driver)

    def fold(self, space: str, partition: int, offset: int, event: Root, rows: list[Placed]) -> None:
        """Folds one root event through the whole tree; adds what is derived to `rows`, each processor's in order."""
        for driver in self.roots:
            self.push(driver, space, partition, offset, 0, event, rows)

    def begin_again(self) -> None:
        """Takes any position next: for who folds a log space by space, each of its positions once."""
        for driver in self.drivers.values():
            driver.marks.clear()

    def push(
        self, driver: Driver, space: str, partition: int, offset: int, path: int, event: object, rows: list[Placed]
    ) -> None:
        """Folds one event through a processor and all that hang on it."""
        outputs = driver.step(space, partition, offset, path, event)
        if not outputs:
            return
        children = driver.children
        for place, output in enumerate(outputs, path * FANOUT):
            rows.append((partition, offset, place, output))
            for child in children:
                self.push(child, space, partition, offset, place, output, rows)


def fold(
    processors: Iterable[Processor[Any]],
    events: Iterable[Outside],
    params: dict[str, Params] | None = None,
    recorded_at: int | None = None,
) -> list[Row]:
    """All rows that `processors` derive from `events`, in memory: for tests and tuning.

    `params` by processor name, defaults where missing. `recorded_at` is each event's own `at` unless given.
    """
    processors = tuple(processors)
    tree = Tree(processors, {p.name: (params or {}).get(p.name) or p.params() for p in processors})
    placed: list[Placed] = []
    for offset, event in enumerate(events):
        recorded = event.at if recorded_at is None else recorded_at
        tree.fold(event.space, 0, offset, as_root(event, recorded), placed)
    return rows_of(placed)


def rows_of(placed: Iterable[Placed]) -> list[Row]:
    """Placed events as rows, for reading."""
    return [Row(Position(partition, offset, path), event) for partition, offset, path, event in placed]
