"""One partition of the raw log, folded by the worker that has it: what waits, the pass, the copy of its state.

What a fold makes is written by the worker's `Session`, which restores the state as well.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from aiokafka import TopicPartition

from streams.core.clock import Deadlines
from streams.core.driver import Driver, Placed, read_raw, told_aside
from streams.core.errors import Aside, FaultError, LogError
from streams.core.events import ClockTicked
from streams.core.params import Params
from streams.core.processor import Processor, Raw
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.index import REPEATS, id_key, saying
from streams.logs.kafka.log import lost
from streams.logs.kafka.records import Broken, Message, Output, Read, derived_record, progressed_record, read
from streams.logs.kafka.topics import Names, bounds, looked_up, whole
from streams.runtime.fold import fold_past
from streams.runtime.kafka.dead_letters import laid
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.sets import Lineages
from streams.runtime.kafka.state import MARK, Change, Kept, Known, hash_of, last_folded, packed, writer_key

PART = "worker"
"""What it is called in metrics."""
LOOKS = 10
"""At a log that is shorter than it was."""
RESIDENT = 256
"""Spaces of a partition whose state stays in memory between runs."""


@dataclass(frozen=True)
class Job:
    """What a set of processors folds."""

    processors: tuple[Processor[Any], ...]
    """Those whose rows are emitted and all that they read, in the order of the registry."""
    params: Mapping[str, Params]
    emitted: Lineages
    set: str
    """The id of the set."""
    partitions: int
    log_id: str

    @cached_property
    def owners(self) -> dict[type, str]:
        """The processor of each derived type."""
        return {cls: processor.name for processor in self.processors for cls in processor.emits}


@dataclass(slots=True)
class Folded:
    """What came of a run."""

    next: int
    """The offset of the raw log that is folded next."""
    outputs: list[Output] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    letters: list[Output] = field(default_factory=list)
    spaces: dict[str, None] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    made: dict[str, Counter[str]] = field(default_factory=dict)
    """By processor: how many of each type."""


class Part:
    """Folds one partition, run by run."""

    def __init__(self, job: Job, partition: int, kept: Kept, connection: Connection, meters: Meters) -> None:
        self.job = job
        self.partition = partition
        self.kept = kept
        self.end: Callable[[], int] = lambda: 0
        """Tells the end of the raw log in this partition, as of the last fetch."""
        self.news = asyncio.Event()
        """Set when something is taken; all parts of a session share one."""
        self.running = False
        """Whether its state is restored."""
        names = Names(connection.prefix)
        self.raw = TopicPartition(names.turns, partition)
        self.derived = TopicPartition(names.derived(job.set), partition)
        self.state = TopicPartition(names.state(job.set), partition)
        self._connection = connection
        self._meters = meters
        self._inbox: deque[Sequence[Message]] = deque()
        self._seen = 0
        """The offset after the last record that was fetched, taken or not."""
        self._end = 0
        """The log's end when it looked last."""
        self.outdated: set[str] = set()
        """The writers that were fenced, and whose claims are not struck out yet."""
        self._driver = Driver((), {})
        self._deadlines = Deadlines({})
        self._done: list[tuple[str, int, Raw[Any]]] = []
        """What was folded of the run that is folded now: space, offset, event."""

    def take(self, fetched: Sequence[Message]) -> None:
        """Takes what a fetch brought. While its state is restored it takes little: it reads the rest later itself."""
        if self.running or not self._inbox:
            self._inbox.append(fetched)
        self._seen = max(self._seen, fetched[-1].offset + 1)
        self.news.set()

    def waiting(self) -> int:
        """Records that were taken and not folded."""
        return sum(map(len, self._inbox))

    def behind(self) -> bool:
        """Whether there is something to fold."""
        return self.running and (bool(self._inbox) or self._seen > self.kept.mark)

    async def check(self) -> None:
        """Raises LogError where the raw log is not the one that was folded before: its topic was made anew."""
        if not self.kept.mark:
            return
        offset, said = self.kept.last() or (self.kept.mark - 1, b"")
        for _ in range(LOOKS):
            end, found = await looked_up(self._connection, self.raw, offset)
            if end >= self.kept.mark:
                break
            await asyncio.sleep(0.5)  # brokers that take over from others may tell less of it for a moment
        else:
            raise self._other_log(f"ends at {end}, and was folded up to {self.kept.mark}")
        if said and found is not None and hash_of(found) != said:
            raise self._other_log(f"has another record at {offset} than the one that was folded")

    def _other_log(self, how: str) -> LogError:
        return LogError(
            f"{self.raw.topic} is not the log that was folded: partition {self.partition} {how}",
            "restore the topic, or go on with what there is in another log: `mnemolog log copy --from "
            f"{Names(self._connection.prefix).root}` with another MNEMOLOG_KAFKA_PREFIX",
        )

    def begin(self, outdated: set[str]) -> None:
        """Goes on from the state that was restored; the claims of `outdated` writers are to be struck out."""
        self.outdated = outdated
        self._driver = Driver(self.job.processors, self.job.params)
        self._driver.marks[self.partition] = self.kept.mark - 1
        self._deadlines = Deadlines(self.kept.deadlines())
        self._meters.position(PART, self.raw.topic, self.partition, self.kept.mark)
        self._meters.committed(PART, self.raw.topic, self.partition, self.kept.mark)
        self._meters.restoring(PART, self.partition, 1, 1)
        self.running = True
        self.news.set()

    async def next_run(self, records: int) -> list[Message]:
        """What is folded next, about so many, without a gap: what was missed on the way here is read again."""
        run: list[Message] = []
        expected = self.kept.mark
        while self._inbox and len(run) < records:
            fetched = [message for message in self._inbox[0] if message.offset >= expected]
            missing = await self._missing(expected, fetched[0].offset, records) if fetched else ()
            if not missing:
                self._inbox.popleft()
            if found := missing or fetched:
                run += found
                expected = found[-1].offset + 1
        return run or await self._missing(expected, self._seen, records)

    async def _missing(self, start: int, stop: int, records: int) -> list[Message]:
        """Records of the raw log from `start` up to `stop`, at least `records` of them; none where it has none.

        Raises LogError where they were deleted.
        """
        found: list[Message] = []
        if start < stop:
            begin, end = await bounds(self._connection, self.raw)
            if begin > start:
                raise lost(self.raw.topic, self.partition, start, begin)
            async for page in whole(self._connection, self.raw, start, min(stop, end)):
                found += page
                if len(found) >= records:
                    break
        return found

    def fold(self, run: Sequence[Message]) -> Folded:
        """The pass over a run."""
        folded = Folded(run[-1].offset + 1)
        self._done = []
        ids: dict[bytes, Known] = {}
        for message in run:
            found = read(message, self.job.partitions)
            if isinstance(found, Read):
                found = self._repeated(found, ids) or found
            if isinstance(found, Broken):
                if found.reason:
                    folded.letters.append(laid(self.raw.topic, message, found.reason, self.raw.topic))
            elif reason := self._fold_one(found, folded):
                folded.letters.append(laid(self.raw.topic, message, reason, self.raw.topic))
        folded.outputs.append(progressed_record(folded.next - 1))
        folded.changes = [(MARK, b"%d" % folded.next), last_folded(run[-1])]
        for space in folded.spaces:
            states = zip(self._driver.names, self._driver.spaces[space], strict=True)
            folded.changes += self.kept.changes(space, {stream: state.changes() for stream, state in states})
        folded.changes += ((writer_key(writer), None) for writer in self.outdated)
        if ids:
            folded.changes += packed(ids.values())
            folded.changes += self.kept.forget(run[-1].timestamp)
        self._meters.position(PART, self.raw.topic, self.partition, folded.next)
        return folded

    def _repeated(self, found: Read, ids: dict[bytes, Known]) -> Broken | None:
        """Why a record does not count that repeats an id: no reason where it says the same. None where it counts."""
        event = found.event
        key, said = id_key(event.space, event.id), saying(found.value)[:8]
        known = ids.get(key) or self.kept.known(key)
        if known is None or found.appended > known.appended + REPEATS:
            ids[key] = Known(key, said, found.offset, found.appended)
            return None
        if known.said == said:
            return Broken(found.partition, found.offset, "")
        return Broken(
            found.partition, found.offset,
            f"id: {event.id!r} is taken in space {event.space!r} by another event, first recorded at offset "
            f"{known.offset}",
        )  # fmt: skip

    def _fold_one(self, found: Read, folded: Folded) -> str:
        """Folds an event of a run; what could not be folded, and why: "" where all was."""
        event = found.event
        driver, space = self._driver, event.space
        if space not in driver.spaces:
            driver.load(space, self.kept.space(space))
        rows: list[Placed] = []
        aside: list[Aside] = []
        try:
            raw = read_raw(event, found.recorded_at, space, self.partition, found.offset)
        except FaultError as fault:
            return str(fault)
        try:
            driver.fold(space, self.partition, found.offset, raw, rows)
        except FaultError as fault:
            again, aside = fold_past(fault, driver, raw, self._restore, None)
            if again is None:
                return told_aside(aside)
            rows = again
        self._done.append((space, found.offset, raw))
        folded.spaces[space] = None
        folded.types[event.type] += 1
        made: dict[str, list[Any]] = {}
        for _, _, _, row in rows:
            if (name := self.job.owners[type(row)]) in self.job.emitted:
                made.setdefault(name, []).append(row)
        if made:
            folded.outputs.append(derived_record(space, found.offset, made, self.job.emitted))
        for name, events in made.items():
            folded.made.setdefault(name, Counter()).update(row.type for row in events)
        return told_aside(aside)

    def _restore(self, space: str, partition: int, offset: int) -> None:
        """Has the state of a space be what it was before an offset: as it is kept, and folded on with this run."""
        self._driver.load(space, self.kept.space(space))
        self._driver.marks[partition] = self.kept.mark - 1
        for whose, at, raw in self._done:
            if whose == space:
                self._driver.fold(space, partition, at, raw, [])

    def committed(self, folded: Folded, place: int) -> None:
        """What came of a run is written, the last of its changes in a batch of records at `place` in its topic."""
        self.kept.take(folded.changes, place)  # who reads on there repeats the last of it, which changes nothing
        self.outdated = set()
        for space in folded.spaces:
            self._deadlines.note(space, self._driver.deadline(space))
        self._driver.evict(RESIDENT, folded.spaces)
        meters = self._meters
        meters.folded(PART, folded.types)
        for processor, counts in folded.made.items():
            meters.made(processor, counts)
        if folded.letters:
            meters.dead_letter(PART, len(folded.letters))
        meters.committed(PART, self.raw.topic, self.partition, folded.next)

    def look(self) -> None:
        """Learns how far the log goes: what was there at the last look and did not come was lost on the way."""
        self._seen = max(self._seen, self._end)
        self._end = self.end()

    def passed(self, now: int) -> list[ClockTicked]:
        """The ticks for deadlines that passed in live spaces; none while there is something to fold."""
        return self._deadlines.passed(now, self._live) if self.running and not self.behind() else []

    def _live(self, space: str) -> bool:
        if space not in self._driver.spaces:
            self._driver.load(space, self.kept.space(space))
        return self._driver.clock(space).live
