"""The embedded runtime: folds the log into a memory, in one process.

Rows, changed state and the mark commit in one DuckDB transaction, so a crash anywhere leaves a memory that is a fold of
some prefix of the log, and going on from there gives what an uninterrupted fold gives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

from projections.garbage import rare_collections
from projections.store import Store, readable
from streams.core.clock import Deadlines
from streams.core.driver import Driver, Record
from streams.core.processor import Processor
from streams.core.progress import Progress, no_progress
from streams.logs.log import Log, Stored
from streams.logs.sqlite import wall_clock
from streams.runtime.fold import Collector
from streams.runtime.memories import check_memory

FOLD = 5000
"""Records folded per commit at most: a commit costs about 20 ms whatever it holds."""
RESIDENT = 256
"""Spaces whose state stays in memory between commits."""


class Runtime:
    """Folds a log into one memory. Whoever makes one holds the memory's writer lock."""

    def __init__(
        self, log: Log, store: Store, processors: Sequence[Processor[Any]], clock: Callable[[], int] = wall_clock
    ) -> None:
        """Raises MemoryFileError where the memory was made by other parameters or versions, ForeignError where it was
        made from another log."""
        self.log = log
        self.store = store
        self.clock = clock
        self.params = check_memory(store, log, processors)
        self.driver = Driver(processors, self.params)
        self._deadlines: Deadlines | None = None
        self._collector = Collector(self.driver)
        self._next = [store.mark(partition) + 1 for partition in range(log.partitions)]

    def close(self) -> None:
        """Lets go of the memory."""
        self.store.close()

    def behind(self) -> int:
        """How many records wait in the log."""
        return sum(self.log.end(p) - start for p, start in enumerate(self._next))

    def catch_up(self, progress: Progress = no_progress, stop: int | None = None) -> int:
        """Folds to the log's end as it is now, or to offset `stop` of each partition; the number of records folded."""
        done, total = 0, self.behind()
        with rare_collections(), readable():
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
        last = page[-1]
        batch = self._collector.take()
        batch.hashes[last.partition] = last.hash
        self.store.commit(batch)
        self._next[last.partition] = last.offset + 1
        if self._deadlines is not None:
            for space in spaces:
                self._deadlines.note(space, self.driver.deadline(space))
        self.driver.evict(RESIDENT, set(spaces))

    def _load(self, spaces: Collection[str]) -> None:
        """Takes the saved states of those of the spaces that are not in memory."""
        absent = [space for space in spaces if space not in self.driver.spaces]
        if not absent:
            return
        names = {lineage: name for name, lineage in self.driver.lineages.items()}
        saved: dict[str, dict[str, dict[str, bytes]]] = {space: {} for space in absent}
        for lineage, space, records in self.store.states(absent):
            if lineage in names:
                saved[space][names[lineage]] = records
        for space, streams in saved.items():
            self.driver.load(space, streams)

    def tick(self) -> int:
        """Appends a `clock-ticked` for every live space whose deadline has passed; the number appended."""
        if self._deadlines is None:
            self._deadlines = Deadlines(self.store.deadlines())
        ticks = self._deadlines.passed(self.clock(), self._live)
        return sum(isinstance(outcome, Stored) for outcome in self.log.append(ticks)) if ticks else 0

    def _live(self, space: str) -> bool:
        self._load([space])
        return self.driver.clock(space).live
