"""The embedded runtime: folds the log into a memory, in one process.

Rows, changed state and the mark commit in one DuckDB transaction, so a crash anywhere leaves a memory that is a fold of
some prefix of the log, and going on from there gives what an uninterrupted fold gives.

A commit costs some 30 ms, whatever it holds, about as much as folding eight turns. So a server folds ahead of it: what
a turn brought is at once in the state in memory and in recall's index, from which contexts are composed, and in the
tables when somebody asks them, or soon after. What nobody waits for is committed beside, in a thread of its own:
folding and contexts go on, though the disk be busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from projections.garbage import rare_collections
from projections.store import Store, View, readable
from streams.core.clock import Deadlines
from streams.core.driver import Driver, Record
from streams.core.errors import Aside, counted
from streams.core.params import missing
from streams.core.processor import Processor
from streams.core.progress import Progress, no_progress
from streams.logs.log import Log, Stored
from streams.logs.sqlite import wall_clock
from streams.runtime.fold import Ahead, Collector
from streams.runtime.memories import check_memory
from streams.runtime.spool import Spool
from streams.runtime.telemetry import traced

FOLD = 5000
"""Records folded per commit at most: what the commit costs is next to nothing beside so many."""
RESIDENT = 256
"""Spaces whose state stays in memory between commits."""
RECORDS = 100_000
"""Decoded records of state that stay in memory between commits: some 700 bytes each. To decode them again costs
about as much as to fold a tenth as many turns: they come to rest no sooner than so many later."""
FLOOD = 2000.0
"""Events a second that are more than can be folded meanwhile."""
CALM = 0.2
"""Seconds without so many after which no more of them are expected."""


class Runtime:
    """Folds a log into one memory. Whoever makes one holds the memory's writer lock."""

    def __init__(
        self, log: Log, store: Store, processors: Sequence[Processor[Any]], clock: Callable[[], int] = wall_clock
    ) -> None:
        """Raises OutdatedError where the memory was made by other parameters or versions, ForeignError where it was
        made from another log."""
        self.log = log
        self.store = store
        self.clock = clock
        self.params = check_memory(store, log, processors)
        self.missing = missing(self.params.values())
        """What folding needs and is not installed, and the way out; "" where it can fold. Until then the memory can be
        asked as it is."""
        self.spool = Spool(store.path.with_name(f".{store.path.stem}.state"))
        self.driver = Driver(processors, self.params, records=self.spool.records)
        self._deadlines: Deadlines | None = None
        self._collector = Collector(self.driver, self._restore)
        self._next = [store.mark(partition) + 1 for partition in range(log.partitions)]
        self._ahead = Ahead(store)
        self._active = 0
        """Records folded since states came to rest."""
        self._looked, self._end, self._flooded = 0.0, 0, 0.0
        """When the log was last looked at, its end then, and when so much was last found that it is a flood."""

    def close(self) -> None:
        """Lets go of the memory. What is not committed is folded again by the next who opens it."""
        self._ahead.close()
        self.store.close()
        self.spool.close()

    def view(self) -> View:
        """How far it goes: its tables, and what was folded beyond them."""
        return self._ahead.view

    def check_askable(self) -> None:
        """Raises nothing: it can be asked, as far as it was folded."""

    def is_sparse(self) -> bool:
        """Whether live's file would be much smaller, written anew."""
        return self.store.is_sparse()

    def behind(self) -> int:
        """How many records wait in the log."""
        return sum(self.log.end(p) - start for p, start in enumerate(self._next))

    def is_flooded(self) -> bool:
        """Whether more is being appended than can be folded meanwhile."""
        now, end = time.monotonic(), sum(self._next) + self.behind()
        if self._looked and end - self._end > FLOOD * (now - self._looked):
            self._flooded = now
        self._looked, self._end = now, end
        return now - self._flooded < CALM

    def catch_up(self, progress: Progress = no_progress, stop: int | None = None, ahead: bool = False) -> int:
        """Folds to the log's end as it is now, or to offset `stop` of each partition; the number of records folded,
        which is none where what that needs is `missing`.

        All of it is in the tables then; with `ahead`, what was folded last may not be until `settle` is called.
        """
        if self.missing:
            return 0
        done, total = 0, self.behind()
        with rare_collections(), readable():
            for partition, start in enumerate(self._next):
                end = self.log.end(partition)
                records = self.log.read(partition, start, end if stop is None else min(stop, end))
                while page := list(islice(records, FOLD)):
                    with traced("fold", events=len(page)):
                        self._fold(page)
                        if not ahead or len(page) == FOLD:
                            self.settle()
                    done += len(page)
                    progress(done, max(total, done))
            if not ahead:
                self.settle()
        return done

    def reach_end(self, progress: Progress = no_progress, ahead: bool = False) -> str:
        """Folds to the log's end; what is in the way, in words, "" where nothing is."""
        self.catch_up(progress, ahead=ahead)
        return self._held_up(self.behind())

    def lagging(self, ends: Mapping[int, int]) -> str:
        """What keeps the memory from these ends of partitions, in words; "" where nothing does."""
        return self._held_up(sum(max(0, end - self._next[partition]) for partition, end in ends.items()))

    def _held_up(self, waiting: int) -> str:
        """Why so many records wait, where they will not be folded. Why so alone: who folds for itself waits for
        nobody."""
        return f"{counted(waiting, 'event')} cannot be folded, for {self.missing}" if waiting and self.missing else ""

    def stop_reading(self) -> None:
        """Lets go of what only a memory that is kept up to date needs: nothing here, the log is its home's."""

    def settle(self, soon: bool = False) -> bool:
        """Commits what was folded; whether there was anything.

        With `soon`, only what has waited for `SOON`, and beside: what is asked meanwhile waits for no disk. It is in
        the tables when a later call has told so.
        """
        ended = self._ahead.end(wait=not soon)
        if self._ahead.is_committing or not self._ahead.is_due(soon):
            return ended
        touched = set(self._collector.touched)
        beside = soon and self._ahead.is_level()
        self._ahead.commit(self._collector.batch, beside)
        # Why already: what is let go was not touched since an earlier commit, and `_load` waits for this one.
        self.driver.evict(RESIDENT, touched)
        if self._active > RECORDS // 10 and self.driver.decoded() > RECORDS:
            self.driver.rest()
            self._active = 0
        return ended or not beside

    def _fold(self, page: list[Record]) -> None:
        spaces = dict.fromkeys(record.space for record in page)
        self._load(spaces)
        for record in page:
            self._collector.fold(record)
        self._active += len(page)
        last = page[-1]
        folded = self._collector.take_folded()
        folded.hashes[last.partition] = last.hash
        self._ahead.add(folded)
        self._next[last.partition] = last.offset + 1
        if self._deadlines is not None:
            for space in spaces:
                self._deadlines.note(space, self.driver.deadline(space))

    def _load(self, spaces: Collection[str]) -> None:
        """Takes the saved states of those of the spaces that are not in memory."""
        absent = [space for space in spaces if space not in self.driver.spaces]
        if not absent:
            return
        self._ahead.end()
        names = {lineage: name for name, lineage in self.driver.lineages.items()}
        try:
            for space in absent:
                self.driver.load(space, {})
            for lineage, space, records in self.store.states(absent):
                if lineage in names:
                    self.driver.take(space, {names[lineage]: records})
        except BaseException:
            for space in absent:  # none is half loaded
                self.driver.spaces.pop(space, None)
            raise

    def _restore(self, space: str, partition: int, offset: int) -> None:
        """Has the state of a space be what it was before an offset: as it is committed, and folded on from there."""
        del self.driver.spaces[space]
        self._load([space])  # all that was committed, also what was being
        mark = self.driver.marks[partition] = self.store.mark(partition)
        for record in self.log.read(partition, mark + 1, offset):
            if record.space == space:
                self._collector.again(record)

    def aside(self) -> list[Aside]:
        """What could not be folded, as far as the tables go."""
        return self.store.aside()

    def tick(self) -> int:
        """Appends a `clock-ticked` for every live space whose deadline has passed; the number appended."""
        if self._deadlines is None:
            self.settle()
            self._deadlines = Deadlines(self.store.deadlines())
        ticks = self._deadlines.passed(self.clock(), self._live)
        return sum(isinstance(outcome, Stored) for outcome in self.log.append(ticks)) if ticks else 0

    def _live(self, space: str) -> bool:
        self._load([space])
        return self.driver.clock(space).live
