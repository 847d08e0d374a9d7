"""One partition of the raw log, folded by who has it: the pass, and one transaction for all that comes of a run.

In the transaction are the derived rows, what changed in the state, the mark, dead letters and the input's offset. Its
producer's id names the set of processors and the partition, so the broker lets only the newest one write: a worker that
was frozen, or whose network held its bytes back, can add nothing once another has the partition. So state is never half
a run, every row stands once, and who goes on begins where the last transaction ended.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka import errors as kafka_errors

from streams.core.clock import Deadlines
from streams.core.driver import Driver, Placed, as_raw
from streams.core.errors import LogError
from streams.core.events import ClockTicked
from streams.core.params import Params
from streams.core.processor import Processor
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.index import REPEATS, id_key, saying
from streams.logs.kafka.log import lost
from streams.logs.kafka.records import Broken, Message, Output, Read, derived_record, progressed_record, read
from streams.logs.kafka.topics import PRODUCER, Names, bounds, whole
from streams.runtime.kafka.dead_letters import laid
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.sets import Lineages
from streams.runtime.kafka.state import MARK, Change, Kept, Known, packed, state_key

log = logging.getLogger(__name__)

PART = "worker"
"""What it is called in metrics."""
RECORDS = 500
"""In a transaction at most: larger ones gain nothing, and other partitions of the process wait for the fold."""
REST = 0.1
"""Seconds from the beginning of a transaction to the next of the partition: one costs worker and broker some
milliseconds whatever it holds. The first record after a pause is folded at once."""
OFFSETS = 2.0
"""Seconds between commits of the input's offset to the group: they cost as much as the rest of a small transaction. Why
so seldom: where the fold goes on is told by the mark; the group's offset is for those who watch, and where Faust begins
to fetch."""
TELL = 2.0
"""Seconds between commits of the offset to the group, which double the cost of a small transaction. The fold goes
on where the mark of its state says; the group's offset is for those who watch, and where Faust begins to fetch."""
TICK = 1.0
"""Seconds between looks at deadlines."""
BATCH_BYTES = 1024 * 1024
"""Of a batch of records to the broker; a single larger record gets one of its own."""
LARGEST = 17 * 1024 * 1024
"""Bytes of a batch, with room for the largest event."""
ABANDONED = 20_000
"""Milliseconds after which brokers give up a transaction that nobody goes on with."""
FENCED = 8.0
"""Seconds to wait when another has written since: who lost the partition hears of it sooner, and stops."""
AWAY = 1.0
"""Seconds between tries while brokers do not answer."""
RESIDENT = 256
"""Spaces of a partition whose state stays in memory between runs."""
FATAL = (
    kafka_errors.TopicAuthorizationFailedError,
    kafka_errors.GroupAuthorizationFailedError,
    kafka_errors.ClusterAuthorizationFailedError,
    kafka_errors.TransactionalIdAuthorizationFailed,
    kafka_errors.AuthenticationFailedError,
    kafka_errors.SaslAuthenticationFailed,
    kafka_errors.UnknownTopicOrPartitionError,
    kafka_errors.MessageSizeTooLargeError,
    kafka_errors.InvalidTopicError,
)
"""What waiting does not mend."""


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
    """Folds one partition until it is stopped."""

    def __init__(
        self, job: Job, partition: int, kept: Kept, connection: Connection, meters: Meters,
        append: Callable[[int, Sequence[ClockTicked]], Any], clock: Callable[[], int],
    ) -> None:  # fmt: skip
        """`append` adds ticks to a partition of the raw log; `clock` tells UTC microseconds."""
        self.job = job
        self.partition = partition
        self.kept = kept
        self.ticking = False
        """Whether it writes clock-ticked events: the workers of live do."""
        self.end: Callable[[], int] = lambda: 0
        """Tells the end of the raw log in this partition, as of the last fetch."""
        self._connection = connection
        self._names = Names(connection.prefix)
        self._raw = TopicPartition(self._names.turns, partition)
        self._state = TopicPartition(self._names.state(job.set), partition)
        self._meters = meters
        self._append = append
        self._clock = clock
        self._inbox: deque[Sequence[Message]] = deque()
        self._seen = 0
        """The offset after the last record that was fetched, taken or not."""
        self._news = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self._driver = Driver((), {})
        self._deadlines = Deadlines({})
        self._told = 0
        """The offset that the group was told last."""
        self._told_at = 0.0
        self.running = False
        """Whether its state is restored."""

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self, failed: Callable[[BaseException], None]) -> None:
        """Begins; `failed` is told what it could not go on after."""

        async def guarded() -> None:
            try:
                await self._run()
            except Exception as error:
                failed(error)

        self._task = asyncio.create_task(guarded())

    async def stop(self, patience: float) -> None:
        """Ends the transaction that is under way, or leaves it to brokers and successors after `patience` seconds."""
        self._stopping = True
        self._news.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=patience)
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1.0)

    def take(self, fetched: Sequence[Message]) -> None:
        """Takes what a fetch brought. While its state is restored it takes little: it reads the rest later itself."""
        if self.running or not self._inbox:
            self._inbox.append(fetched)
        self._seen = max(self._seen, fetched[-1].offset + 1)
        self._news.set()

    def waiting(self) -> int:
        """Records that were taken and not folded."""
        return sum(map(len, self._inbox))

    async def _run(self) -> None:
        while not self._stopping:
            producer = AIOKafkaProducer(
                **self._connection.client(),
                transactional_id=f"{self._names.group(self.job.set)}.{self.partition}",
                transaction_timeout_ms=ABANDONED,
                compression_type="zstd",
                max_batch_size=LARGEST,
                max_request_size=PRODUCER["max_request_size"],
            )
            try:
                await producer.start()  # from here on whoever had the partition before is fenced
                await self._restore()
                await self._fold_on(producer)
            except FATAL as error:
                with self._connection.telling(f"partition {self.partition} cannot be folded"):
                    raise error
            except kafka_errors.ProducerFenced:
                self._meters.gave_up(PART, "fenced")
                log.warning("gave up a run: another worker has the partition", extra={"fields": self._place()})
                await asyncio.sleep(FENCED)
            except (kafka_errors.KafkaError, TimeoutError, OSError) as error:
                self._meters.gave_up(PART, "away")
                log.warning("begins anew: %r", error, extra={"fields": self._place()})
                await asyncio.sleep(AWAY)
            finally:
                self.running = False
                await _close(producer)

    def _place(self) -> dict[str, object]:
        return {"partition": self.partition, "next": self.kept.mark}

    async def _restore(self) -> None:
        """Brings the copy of the state up to date, and makes the fold that goes on from there."""
        meters, topic = self._meters, self._raw.topic
        begin, end = await bounds(self._connection, self._state)
        if self.kept.next > end:
            self.kept.clear()  # it is the copy of another topic of this name
        async for page in whole(self._connection, self._state, self.kept.next, end):
            if page:
                self.kept.take([(m.key or b"", m.value) for m in page], page[-1].offset + 1)
                meters.restoring(PART, self.partition, page[-1].offset + 1 - begin, end - begin)
        self._driver = Driver(self.job.processors, self.job.params)
        self._driver.marks[self.partition] = self.kept.mark - 1
        self._deadlines = Deadlines(self.kept.deadlines())
        meters.position(PART, topic, self.partition, self.kept.mark)
        meters.committed(PART, topic, self.partition, self.kept.mark)
        meters.restoring(PART, self.partition, 1, 1)
        self.running = True

    # -- folding -------------------------------------------------------------------------------------------------------

    async def _fold_on(self, producer: AIOKafkaProducer[bytes, bytes]) -> None:
        began = 0.0
        while not self._stopping:
            if not self._inbox and self._seen <= self.kept.mark:
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), TICK)
                except TimeoutError:
                    await self._tell_late(producer)
                    await self._tick()
                continue
            await asyncio.sleep(began + REST - time.monotonic())
            began = time.monotonic()
            run = await self._next_run()
            if run and not self._stopping:
                with self._meters.timed(PART, "fold"):
                    folded = self._fold(run)
                self._meters.position(PART, self._raw.topic, self.partition, folded.next)
                with self._meters.timed(PART, "transaction"):
                    await self._write(producer, folded)
        await self._tell_late(producer)

    async def _next_run(self) -> list[Message]:
        """What is folded next, without a gap: what was missed on the way here is read again."""
        run: list[Message] = []
        expected = self.kept.mark
        while self._inbox and len(run) < RECORDS:
            fetched = [message for message in self._inbox[0] if message.offset >= expected]
            missing = await self._missing(expected, fetched[0].offset) if fetched else ()
            if not missing:
                self._inbox.popleft()
            if found := missing or fetched:
                run += found
                expected = found[-1].offset + 1
        return run or await self._missing(expected, self._seen)

    async def _missing(self, start: int, stop: int) -> list[Message]:
        """The records of the raw log from `start` up to `stop`, at most about a run of them; none where it has none.

        Raises LogError where they were deleted.
        """
        found: list[Message] = []
        if start < stop:
            begin, _ = await bounds(self._connection, self._raw)
            if begin > start:
                raise lost(self._raw.topic, self.partition, start, begin)
            async for page in whole(self._connection, self._raw, start, stop):
                found += page
                if len(found) >= RECORDS:
                    break
        return found

    def _fold(self, run: Sequence[Message]) -> Folded:
        folded = Folded(run[-1].offset + 1)
        ids: dict[bytes, Known] = {}
        for message in run:
            found = read(message, self.job.partitions)
            if isinstance(found, Read):
                found = self._repeated(found, ids) or found
            if isinstance(found, Broken):
                if found.reason:
                    folded.letters.append(laid(self._raw.topic, message, found.reason, self._raw.topic))
            else:
                self._fold_one(found, folded)
        folded.outputs.append(progressed_record(folded.next - 1))
        folded.changes = [(MARK, b"%d" % folded.next), *self._changes(folded.spaces)]
        if ids:
            folded.changes.append(packed(list(ids.values())))
            folded.changes += self.kept.forget(run[-1].timestamp)
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

    def _fold_one(self, found: Read, folded: Folded) -> None:
        event = found.event
        driver, space = self._driver, event.space
        if space not in driver.spaces:
            driver.load(space, self.kept.space(space))
        rows: list[Placed] = []
        driver.fold(space, self.partition, found.offset, as_raw(event, found.recorded_at), rows)
        folded.spaces[space] = None
        folded.types[event.type] += 1
        made: dict[str, list[Any]] = {}
        for _, _, _, row in rows:
            made.setdefault(self.job.owners[type(row)], []).append(row)
        for name, events in made.items():
            if lineage := self.job.emitted.get(name):
                folded.outputs.append(derived_record(space, name, lineage, found.offset, events))
                folded.made.setdefault(name, Counter()).update(row.type for row in events)

    def _changes(self, spaces: Mapping[str, None]) -> list[Change]:
        driver = self._driver
        return [
            (state_key(space, name, key), value)
            for space in spaces
            for name, state in zip(driver.names, driver.spaces[space], strict=True)
            for key, value in state.changes()
        ]

    async def _write(self, producer: AIOKafkaProducer[bytes, bytes], folded: Folded) -> None:
        """All that came of a run, in one transaction; then the copy of the state follows. Raises KafkaError."""
        derived = TopicPartition(self._names.derived(self.job.set), self.partition)
        await producer.begin_transaction()
        sent = [
            *await _send(producer, derived, folded.outputs),
            *await _send(producer, TopicPartition(self._names.dead_letters, 0), folded.letters),
        ]
        state = await _send(producer, self._state, [(key, value, ()) for key, value in folded.changes])
        if time.monotonic() - self._told_at >= TELL:
            await self._tell_group(producer, folded.next)
        await asyncio.gather(*sent)
        last = (await asyncio.gather(*state))[-1]
        await producer.commit_transaction()
        self.kept.take(folded.changes, last.offset)  # who reads on there repeats the last of it, which changes nothing
        self._note(folded)

    async def _tell_group(self, producer: AIOKafkaProducer[bytes, bytes], offset: int) -> None:
        """Commits the input's offset with the transaction that is open."""
        await producer.send_offsets_to_transaction({self._raw: offset}, self._names.group(self.job.set))
        self._told_at, self._told = time.monotonic(), offset

    async def _tell_late(self, producer: AIOKafkaProducer[bytes, bytes]) -> None:
        """Commits the input's offset where no transaction has told the newest."""
        if self._told < self.kept.mark:
            await producer.begin_transaction()
            await self._tell_group(producer, self.kept.mark)
            await producer.commit_transaction()

    def _note(self, folded: Folded) -> None:
        for space in folded.spaces:
            self._deadlines.note(space, self._driver.deadline(space))
        self._driver.evict(RESIDENT, folded.spaces)
        meters = self._meters
        meters.folded(PART, folded.types)
        for processor, counts in folded.made.items():
            meters.made(processor, counts)
        if folded.letters:
            meters.dead_letter(PART, len(folded.letters))
        meters.committed(PART, self._raw.topic, self.partition, folded.next)

    # -- the clock -----------------------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        """Appends a clock-ticked where a deadline passed in a live space that has nothing more to fold."""
        self._seen = max(self._seen, self.end())  # what was fetched long ago and did not come was lost on the way
        if self.ticking and self._seen <= self.kept.mark:
            ticks = self._deadlines.passed(self._clock(), self._live)
            if ticks:
                await self._append(self.partition, ticks)

    def _live(self, space: str) -> bool:
        if space not in self._driver.spaces:
            self._driver.load(space, self.kept.space(space))
        return self._driver.clock(space).live


async def _send(
    producer: AIOKafkaProducer[bytes, bytes], place: TopicPartition, records: Sequence[Output]
) -> list[asyncio.Future[Any]]:
    """Hands records over in as few batches as may be; what tells when each is acknowledged."""
    sent: list[asyncio.Future[Any]] = []
    batch, size = producer.create_batch(), 0
    for key, value, headers in records:
        length = len(key or b"") + len(value or b"") + 100
        if size and size + length > BATCH_BYTES:
            sent.append(await _submit(producer, batch, place))
            batch, size = producer.create_batch(), 0
        if batch.append(timestamp=None, key=key, value=value, headers=list(headers)) is None:
            raise LogError(
                f"what comes of one event is too large for {place.topic} ({length} bytes)",
                "this is a fault of a processor (rows and state are to be small); please report it",
            )
        size += length
    if size:
        sent.append(await _submit(producer, batch, place))
    return sent


async def _submit(producer: AIOKafkaProducer[bytes, bytes], batch: Any, place: TopicPartition) -> asyncio.Future[Any]:
    batch.close()
    sent: asyncio.Future[Any] = await producer.send_batch(batch, place.topic, partition=place.partition)
    return sent


async def _close(producer: AIOKafkaProducer[bytes, bytes]) -> None:
    """Lets go of a producer; what it did not complete is nothing."""
    try:
        await asyncio.wait_for(producer.stop(), 2.0)
    except Exception as error:  # it is over, whatever it says
        log.debug("a producer did not stop in peace: %r", error)
