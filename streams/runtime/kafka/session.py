"""A worker's hold on the partitions that its group gave it: one producer, one transaction for all that comes of a run.

In a transaction are, of each partition with news: the derived rows, what changed in the state, the mark, dead letters;
and now and then the input's offsets. So state is never half a run, every row stands once, and who goes on begins where
the last transaction ended.

Who may write: a session has a transactional id that nobody else ever has. It first writes a claim, which names the id,
into the topic of state of each partition. Then it reads on there to its own claim, and fences the writer of each claim
that it meets: it starts a producer of that id, so that brokers give up the other's transaction and refuse it any
further one. What stands in the partition then is all that earlier writers will ever write; it is read to the end, and
the fold goes on from there. So a worker that was frozen, or whose network held its bytes back, can add nothing: of any
two sessions with one partition the later claim has fenced the earlier writer before it folds. A session that ends in
good order strikes its claims out.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka import errors as kafka_errors

from streams.core.errors import LogError
from streams.core.events import ClockTicked
from streams.logs.kafka.connection import Connection, heard
from streams.logs.kafka.records import Output
from streams.logs.kafka.topics import PRODUCER, Names, bounds, whole
from streams.runtime.kafka.inner import let_go
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.part import PART, Folded, Job, Part
from streams.runtime.kafka.state import writer_key

log = logging.getLogger(__name__)

RECORDS = 1000
"""In a transaction, about: larger ones gain nothing, and what comes meanwhile waits for the fold."""
REST = 1.0
"""Seconds from the beginning of a transaction to the next, unless ENOUGH waits: one costs worker and brokers some
milliseconds whatever it holds. The first record after a pause is folded at once."""
ENOUGH = 20
"""Records that are worth a transaction."""
TELL = 2.0
"""Seconds between commits of the input's offsets to the group, which cost as much as the rest of a small transaction.
The fold goes on where the marks of its state say; the group's offsets are for who watches, and where Faust begins."""
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
Producer: TypeAlias = "AIOKafkaProducer[bytes, bytes]"


class Session:
    """Folds its partitions until it is stopped."""

    def __init__(
        self, job: Job, parts: Iterable[Part], connection: Connection, meters: Meters,
        append: Callable[[int, Sequence[ClockTicked]], Any], clock: Callable[[], int],
    ) -> None:  # fmt: skip
        """`append` adds ticks to a partition of the raw log; `clock` tells UTC microseconds."""
        self.parts: Mapping[int, Part] = {part.partition: part for part in parts}
        self.ticking = False
        """Whether it writes clock-ticked events: the workers of live do."""
        self._connection = connection
        self._names = Names(connection.prefix)
        self._group = self._names.group(job.set)
        self._meters = meters
        self._append = append
        self._clock = clock
        self._news = asyncio.Event()
        for part in self.parts.values():
            part.news = self._news
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self._fenced: set[str] = set()
        self._fencing = asyncio.Lock()
        self._told: dict[int, int] = {}
        """By partition, the offset that the group was told last."""
        self._told_at = 0.0

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

    async def _run(self) -> None:
        while not self._stopping and self.parts:
            writer = f"{self._group}.{uuid.uuid4().hex}"
            producer = self._producer(writer)
            restoring: list[asyncio.Task[None]] = []
            try:
                await producer.start()
                claims = await self._claim(producer, writer)
                restoring += (asyncio.create_task(self._restore(part, writer, at)) for part, at in claims.items())
                await self._fold_on(producer, restoring)
                await self._leave(producer, writer)
            except FATAL as error:
                with self._connection.telling(f"partitions {[*self.parts]} cannot be folded"):
                    raise error
            except kafka_errors.ProducerFenced:
                self._meters.gave_up(PART, "fenced")
                log.warning("gave up a run: another worker has a partition", extra={"fields": self._place()})
                await asyncio.sleep(FENCED)
            except (kafka_errors.KafkaError, TimeoutError, OSError) as error:
                self._meters.gave_up(PART, "away")
                log.warning("begins anew: %r", error, extra={"fields": self._place()})
                await asyncio.sleep(AWAY)
            finally:
                for task in restoring:
                    task.cancel()
                await asyncio.gather(*restoring, return_exceptions=True)
                for part in self.parts.values():
                    part.running = False
                await let_go(producer)

    def _producer(self, writer: str) -> Producer:
        return AIOKafkaProducer(
            **self._connection.client(),
            transactional_id=writer,
            transaction_timeout_ms=ABANDONED,
            compression_type="zstd",
            max_batch_size=LARGEST,
            max_request_size=PRODUCER["max_request_size"],
        )

    def _place(self) -> dict[str, object]:
        return {"next": {partition: part.kept.mark for partition, part in self.parts.items()}}

    # -- who may write -------------------------------------------------------------------------------------------------

    async def _claim(self, producer: Producer, writer: str) -> dict[Part, int]:
        """Claims all partitions; where the claims stand."""
        await producer.begin_transaction()
        claim: Output = writer_key(writer), b"{}", ()
        sent = {part: (await _send(producer, part.state, [claim]))[0] for part in self.parts.values()}
        await asyncio.gather(*sent.values())
        await producer.commit_transaction()
        return {part: acknowledged.result().offset for part, acknowledged in sent.items()}

    async def _restore(self, part: Part, writer: str, claim: int) -> None:
        """Sees that nobody who claimed a partition before writes there any more; completes the copy of its state."""
        if part.kept.next > claim:
            part.kept.clear()  # it is the copy of another topic of this name
        await self._fence(part.kept.writers() - {writer})
        async for _ in self._read_to(
            part, claim + 1
        ):  # what an earlier writer left open holds it up until that is fenced
            await self._fence(part.kept.writers() - {writer})
        outdated = part.kept.writers() - {writer}
        if outdated:  # they may have written after our claim
            _, end = await bounds(self._connection, part.state, "read_uncommitted")
            async for _ in self._read_to(part, end):
                pass
        await part.check()
        part.begin(outdated)

    async def _read_to(self, part: Part, end: int) -> AsyncIterator[None]:
        begin = part.kept.next
        async for page in whole(self._connection, part.state, begin, end):
            if page:
                part.kept.take([(m.key or b"", m.value) for m in page], page[-1].offset + 1)
                self._meters.restoring(PART, part.partition, page[-1].offset + 1 - begin, end - begin)
            yield

    async def _fence(self, writers: set[str]) -> None:
        async with self._fencing:
            for other in sorted(writers - self._fenced):
                producer = self._producer(other)
                try:
                    await producer.start()
                finally:
                    await let_go(producer)
                self._fenced.add(other)

    async def _leave(self, producer: Producer, writer: str) -> None:
        """Tells the group the newest offsets, and strikes the claims out."""
        await producer.begin_transaction()
        sent: list[asyncio.Future[Any]] = []
        for part in self.parts.values():
            struck: list[Output] = [(writer_key(ended), None, ()) for ended in {writer} | part.outdated]
            sent += await _send(producer, part.state, struck)
        await asyncio.gather(*sent)
        await self._tell(producer)
        await producer.commit_transaction()

    # -- folding -------------------------------------------------------------------------------------------------------

    async def _fold_on(self, producer: Producer, restoring: list[asyncio.Task[None]]) -> None:
        began = looked = 0.0
        while not self._stopping:
            for task in [task for task in restoring if task.done()]:
                restoring.remove(task)
                task.result()
            if time.monotonic() - looked >= TICK:
                looked = time.monotonic()
                await self._tick()
            if not any(part.behind() for part in self.parts.values()):
                if not await self._hear(TICK) and self._news_for_group():
                    await producer.begin_transaction()
                    await self._tell(producer)
                    await producer.commit_transaction()
                continue
            while sum(part.waiting() for part in self.parts.values()) < ENOUGH and not self._stopping:
                if (left := began + REST - time.monotonic()) <= 0:
                    break
                await self._hear(left)
            began = time.monotonic()
            await self._fold(producer)

    async def _hear(self, patience: float) -> bool:
        """Waits until something is taken; False where nothing is for `patience` seconds."""
        self._news.clear()
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._news.wait(), patience)
        return False

    async def _fold(self, producer: Producer) -> None:
        behind = [part for part in self.parts.values() if part.behind()]
        folded: dict[Part, Folded] = {}
        for part in behind:
            if run := await part.next_run(RECORDS // len(behind)):
                with self._meters.timed(PART, "fold"):
                    folded[part] = part.fold(run)
            await asyncio.sleep(0)
        if folded:
            with self._meters.timed(PART, "transaction"):
                await self._write(producer, folded)

    async def _write(self, producer: Producer, folded: Mapping[Part, Folded]) -> None:
        """All that came of runs, in one transaction; then the copies of the state follow. Raises KafkaError."""
        await producer.begin_transaction()
        sent: list[asyncio.Future[Any]] = []
        last: dict[Part, asyncio.Future[Any]] = {}
        letters = TopicPartition(self._names.dead_letters, 0)
        for part, made in folded.items():
            sent += await _send(producer, part.derived, made.outputs)
            sent += await _send(producer, letters, made.letters)
            sent += await _send(producer, part.state, [(key, value, ()) for key, value in made.changes])
            last[part] = sent[-1]
        await asyncio.gather(*sent)
        if time.monotonic() - self._told_at >= TELL:
            await self._tell(producer, folded)
        await producer.commit_transaction()
        for part, made in folded.items():
            part.committed(made, last[part].result().offset)

    def _news_for_group(self) -> dict[int, int]:
        """Marks that the group was not told."""
        marks = {partition: part.kept.mark for partition, part in self.parts.items() if part.running}
        return {partition: mark for partition, mark in marks.items() if mark > self._told.get(partition, 0)}

    async def _tell(self, producer: Producer, folded: Mapping[Part, Folded] | None = None) -> None:
        """Commits the input's offsets with the transaction that is open, those of what it holds too."""
        news = self._news_for_group() | {part.partition: made.next for part, made in (folded or {}).items()}
        if news:
            offsets = {self.parts[partition].raw: offset for partition, offset in news.items()}
            await producer.send_offsets_to_transaction(offsets, self._group)
            self._told |= news
        self._told_at = time.monotonic()

    async def _tick(self) -> None:
        """Appends a clock-ticked where a deadline passed in a live space that has nothing more to fold."""
        for part in self.parts.values():
            part.look()
            if self.ticking and (ticks := part.passed(self._clock())):
                await self._append(part.partition, ticks)


async def _send(producer: Producer, place: TopicPartition, records: Sequence[Output]) -> list[asyncio.Future[Any]]:
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


async def _submit(producer: Producer, batch: Any, place: TopicPartition) -> asyncio.Future[Any]:
    batch.close()
    sent: asyncio.Future[Any] = await producer.send_batch(batch, place.topic, partition=place.partition)
    sent.add_done_callback(heard)
    return sent
