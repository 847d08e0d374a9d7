"""The embedded runtime: folds the log into a memory, the whole tree in one process.

Rows, changed state and the mark commit in one DuckDB transaction, so a crash anywhere leaves a memory that is a fold of
some prefix of the log, and going on from there gives what an uninterrupted fold gives.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from projections.store import Batch, StateChange, Store, derived_batch, raw_batch
from streams.driver import Placed, Record, Tree, root_event, root_schema
from streams.embedded import wall_clock
from streams.errors import LogError, MemoryFileError
from streams.events import MAX_AHEAD, ClockTicked
from streams.log import Log, Stored
from streams.processor import ROOT, Params, Processor, State, derived_id, lineages
from streams.text import Root, Text, TurnRead

FOLD = 5000
"""Records folded per commit at most: a commit costs about 20 ms whatever it holds."""
RESIDENT = 256
"""Spaces whose state stays in memory between commits."""

Progress = Callable[[int, int], None]
"""Called with (done, total)."""


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Young objects survive a fold: collecting them often costs a third of its speed."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass(slots=True)
class Collector:
    """Gathers what a fold makes until it is committed."""

    tree: Tree
    keep_raw: bool = True
    from_scratch: bool = False
    """Whether the fold begins with no saved state, and state is taken once, at its end."""
    raw: dict[type, list[tuple[int, int, Root]]] = field(default_factory=dict)
    derived: dict[type, list[Placed]] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)
    """Spaces folded since the state was last taken."""
    marks: dict[int, int] = field(default_factory=dict)

    def fold(self, record: Record, text: Text | None = None) -> None:
        """Folds one record through the tree and keeps what comes of it."""
        event = root_event(record, text)
        self.add_raw(record, event)
        rows: list[Placed] = []
        self.tree.fold(record.space, record.partition, record.offset, event, rows)
        self.add(rows)
        self.marks[record.partition] = record.offset

    def add_raw(self, record: Record, event: Root) -> None:
        """Keeps the outside event itself."""
        self.touched[record.space] = None
        if self.keep_raw:
            cls = type(event.turn if isinstance(event, TurnRead) else event.fact)
            self.raw.setdefault(cls, []).append((record.partition, record.offset, event))

    def add(self, rows: list[Placed]) -> None:
        """Keeps derived events."""
        derived = self.derived
        for row in rows:
            cls = type(row[3])
            if cls in derived:
                derived[cls].append(row)
            else:
                derived[cls] = [row]

    def take(self, state: bool = True) -> Batch:
        """What was kept since the last call, in columns, with the `state` that changed since it was last taken."""
        tables = {cls: raw_batch(cls, entries) for cls, entries in self.raw.items()}
        tables |= {cls: derived_batch(cls, rows) for cls, rows in self.derived.items()}
        batch = Batch(tables, self._changes() if state else [], self.marks, first=self.from_scratch)
        self.raw, self.derived, self.marks = {}, {}, {}
        return batch

    def take_states(self, at_least: int) -> Iterator[list[StateChange]]:
        """The state that changed since it was last taken, some spaces and `at_least` so many records at a time.

        What is taken is forgotten, so that it never stands in memory twice: for the end of a fold.
        """
        changes: list[StateChange] = []
        for name, driver in self.tree.drivers.items():
            for space in self.touched:
                changes += self._of_space(name, driver.states.pop(space, None), space)
                if len(changes) >= at_least:
                    yield changes
                    changes = []
        self.touched = {}
        yield changes

    def _changes(self) -> list[StateChange]:
        touched, self.touched = self.touched, {}
        return [
            change
            for name, driver in self.tree.drivers.items()
            for space in touched
            for change in self._of_space(name, driver.states.get(space), space)
        ]

    def _of_space(self, name: str, state: State | None, space: str) -> Iterator[StateChange]:
        lineage = self.tree.lineages[name]
        return ((lineage, space, key, value) for key, value in (state.changes() if state else ()))


def params_of(processors: Sequence[Processor[Any]], stored: dict[str, Any]) -> dict[str, Params]:
    """Parameter objects of `processors` from plain values by name; defaults where there are none."""
    return {p.name: p.params.model_validate(stored.get(p.name, {})) for p in processors}


def memory_meta(
    log: Log, name: str, processors: Sequence[Processor[Any]], params: dict[str, Params], **more: object
) -> dict[str, Any]:
    """What a memory records of how it was made."""
    return {
        "name": name,
        "log_id": log.id,
        "partitions": log.partitions,
        "params": {p.name: params[p.name].model_dump(mode="json") for p in processors},
        "lineages": lineages(processors, params, root_schema()),
    } | more


def check_memory(store: Store, log: Log, processors: Sequence[Processor[Any]]) -> dict[str, Params]:
    """The parameters a memory was folded with. Raises MemoryFileError where it cannot be folded further."""
    way_out = "`mnemolog replay --as next`, look at `mnemolog diff live next`, then `mnemolog promote next`"
    if store.meta("log_id") != log.id or int(store.meta("partitions")) != log.partitions:
        raise MemoryFileError(f"{store.path} was folded from another log", "move it away, or bring back its log")
    try:
        params = params_of(processors, orjson.loads(store.meta("params")))
    except ValueError as error:
        raise MemoryFileError(f"{store.path} was folded with parameters this program does not know", way_out) from error
    now, then = lineages(processors, params, root_schema()), store.lineages
    if changed := sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name)):
        what = "the reading of turns" if ROOT in changed else ", ".join(changed)
        raise MemoryFileError(f"{store.path} was folded by another version of {what}", way_out)
    return params


class Runtime:
    """Folds a log into one memory. Whoever makes one holds the memory's writer lock."""

    def __init__(
        self, log: Log, store: Store, processors: Sequence[Processor[Any]], clock: Callable[[], int] = wall_clock
    ) -> None:
        """Raises MemoryFileError where the memory was made from another log, or by other parameters or versions."""
        self.log = log
        self.store = store
        self.clock = clock
        self.params = check_memory(store, log, processors)
        self.tree = Tree(processors, self.params)
        self._due: dict[str, str] | None = None
        self._collector = Collector(self.tree)
        self._next = [store.mark(partition) + 1 for partition in range(log.partitions)]
        if any(start > log.end(p) for p, start in enumerate(self._next)):
            raise LogError(
                f"the log ends before the memory {store.path} does", "restore the newest backup of the log, or replay"
            )

    def close(self) -> None:
        """Lets go of the memory."""
        self.store.close()

    def behind(self) -> int:
        """How many records wait in the log."""
        return sum(self.log.end(p) - start for p, start in enumerate(self._next))

    def catch_up(self, progress: Progress = no_progress, stop: int | None = None) -> int:
        """Folds to the log's end as it is now, or to offset `stop` of each partition; the number of records folded."""
        done, total = 0, self.behind()
        with rare_collections():
            for partition, start in enumerate(self._next):
                end = self.log.end(partition)
                records = self.log.read(partition, start, end if stop is None else min(stop, end))
                while page := list(islice(records, FOLD)):
                    self._fold(page)
                    done += len(page)
                    progress(done, max(total, done))
        return done

    def _fold(self, page: list[Record]) -> None:
        self._load({record.space: None for record in page})
        for record in page:
            self._collector.fold(record)
        spaces = list(self._collector.touched)
        self.store.commit(self._collector.take())
        self._next[page[-1].partition] = page[-1].offset + 1
        if self._due is not None:
            self._note_deadlines(spaces)
        self._evict(spaces)

    def _load(self, spaces: dict[str, None]) -> None:
        drivers = {self.tree.lineages[name]: driver for name, driver in self.tree.drivers.items()}
        absent = [space for space in spaces if any(space not in d.states for d in drivers.values())]
        if not absent:
            return
        for driver in drivers.values():
            driver.states.update((space, State()) for space in absent)
        for lineage, space, records in self.store.states(absent):
            if lineage in drivers:
                drivers[lineage].states[space] = State(records)

    def _evict(self, recent: list[str]) -> None:
        resident = next(iter(self.tree.drivers.values())).states
        surplus = len(resident) - max(RESIDENT, len(recent))
        if surplus > 0:
            keep = set(recent)
            for space in list(islice((s for s in resident if s not in keep), surplus)):
                for driver in self.tree.drivers.values():
                    driver.states.pop(space, None)

    def _note_deadlines(self, spaces: Iterable[str]) -> None:
        assert self._due is not None
        for space in spaces:
            keys = [k for d in self.tree.drivers.values() for k in d.states[space].keys("due/", 1)]
            self._due.pop(space, None)
            if keys:
                self._due[space] = min(keys)

    def tick(self) -> int:
        """Appends a `clock-ticked` for every live space whose deadline has passed; the number appended.

        A space is live when its newest turn was recorded within 5 minutes of its `at`: imported history gets no ticks.
        """
        if self._due is None:
            self._due = self.store.deadlines()
        now = self.clock()
        passed = [(space, key, at) for space, key in self._due.items() if (at := int(key.split("/")[1])) <= now]
        # Why the key: where one event cannot end all that is due at a deadline, what is left of it asks for another.
        ticks = [ClockTicked(s, derived_id("tick", s, key), at) for s, key, at in passed if self._live(s)]
        for space, _, _ in passed:
            del self._due[space]
        return sum(isinstance(outcome, Stored) for outcome in self.log.append(ticks)) if ticks else 0

    def _live(self, space: str) -> bool:
        rows = self.store.connection.execute(
            'SELECT max_by(epoch_us(recorded_at) - epoch_us("at"), position) FROM turn_recorded WHERE space = ?',
            [space],
        ).fetchall()
        return bool(rows) and rows[0][0] is not None and abs(rows[0][0]) <= MAX_AHEAD
