"""The worker: one Faust app and consumer group for all that a set of processors emits, one agent on the raw log.

Faust shares the partitions out among the workers of the group and fetches; those that are ours are folded by a
`Session`, a new one whenever the group shares out. What is unexpected stops the process without committing:
nothing is lost, and a restart goes on at the same record. Brokers that are away are waited for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError, MessageSizeTooLargeError
from faust.types import TP

from streams.core.errors import LogError
from streams.core.events import ClockTicked, encode
from streams.core.processor import Processor
from streams.logs.kafka.connection import Connection, started
from streams.logs.kafka.moves import MOVED, in_force
from streams.logs.kafka.records import headers_of
from streams.logs.kafka.topics import PRODUCER, READER, Names, take_note
from streams.logs.sqlite import wall_clock
from streams.runtime.kafka.inner import RunApp, RunSchema
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.part import PART, Job, Part
from streams.runtime.kafka.session import AWAY, RECORDS, Session
from streams.runtime.kafka.sets import is_live
from streams.runtime.kafka.state import Kept

log = logging.getLogger(__name__)

FETCH_BYTES = 4 * 1024 * 1024
"""Of a partition in one fetch."""
SESSION = 6.0
"""Seconds without a sign of life after which the group gives a worker's partitions to others."""
WAITING = 2 * RECORDS
"""Records of all partitions that wait to be folded; beyond that nothing is fetched."""
SETTLE = 3.0
"""Seconds that a transaction has to end when the partition is given up; less than SESSION."""
NOTES_WAIT = 5_000
"""Milliseconds that a broker holds a fetch of notes."""

StoreKind = Literal["disk", "memory"]


class Worker:
    """A set of processors, on as many partitions as the group gives this process."""

    def __init__(
        self, job: Job, processors: Sequence[Processor[Any]], connection: Connection, folder: Path, store: StoreKind,
        meters: Meters | None = None, clock: Callable[[], int] = wall_clock,
    ) -> None:  # fmt: skip
        """`processors` are all there are; `folder` is for this process alone."""
        self.job = job
        self.connection = connection
        self.names = Names(connection.prefix)
        self.session: Session | None = None
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._processors = processors
        self._folder = folder / job.log_id / job.set
        self._store = store
        self._meters = meters or Meters()
        self._clock = clock
        self._kept: dict[int, Kept] = {}
        self._ticking = False
        self._ticker: AIOKafkaProducer[bytes, bytes] | None = None
        self._chores: list[asyncio.Task[None]] = []
        self.app = RunApp(
            self.names.group(job.set),
            full=self._full,
            **connection.faust(),
            store="memory://",
            datadir=str(folder / "faust"),
            autodiscover=False,
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            topic_partitions=job.partitions,
            broker_session_timeout=SESSION,
            broker_heartbeat_interval=1.0,
            broker_max_poll_records=RECORDS,
            consumer_max_fetch_size=FETCH_BYTES,
            consumer_auto_offset_reset="earliest",
        )
        self.app.on_partitions_assigned.connect(self._on_assigned)  # type: ignore[arg-type]
        self.app.on_partitions_revoked.connect(self._on_revoked)  # type: ignore[arg-type]
        self.app.agent(self.app.topic(self.names.turns, schema=RunSchema(), acks=False), name="fold")(self._fold)

    # -- life ----------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Joins the group. Raises KafkaError where no broker answers."""
        self._meters.phase(PART, "starting")
        self._folder.mkdir(parents=True, exist_ok=True)
        self.app.finalize()
        self._chores = [asyncio.create_task(self._watch()), asyncio.create_task(self._follow_notes())]
        await self.app.start()

    async def stop(self) -> None:
        """Ends the transactions under way, and leaves the group."""
        self._meters.phase(PART, "stopping")
        for chore in self._chores:
            chore.cancel()
        await self._let_go()
        await self.app.stop()
        if self._ticker is not None:
            await self._ticker.stop()
        for kept in self._kept.values():
            kept.close()

    def _fail(self, error: BaseException) -> None:
        if not self.failed.done():
            self.failed.set_result(error)

    async def _watch(self) -> None:
        """Notices that Faust gave up, and tells how it is."""
        while not self.app.crashed:
            await asyncio.sleep(0.25)
            self._meters.beat()
            if parts := self.parts:
                self._meters.phase(PART, "running" if all(p.running for p in parts.values()) else "restoring")
        self._fail(self.app.crash_reason or LogError("Faust stopped", "start the worker again"))

    # -- partitions ----------------------------------------------------------------------------------------------------

    async def _on_assigned(self, app: object, assigned: set[TP], **how: Any) -> None:
        """The group has given partitions: all of them begin anew, for others may have had them meanwhile."""
        await self._let_go()
        self._meters.rebalanced(PART)
        ours = {tp.partition for tp in assigned if tp.topic == self.names.turns}
        for partition in self._kept.keys() - ours:
            self._kept.pop(partition).close()
        for partition in ours - self._kept.keys():
            self._kept[partition] = Kept(None if self._store == "memory" else self._folder / f"{partition}.sqlite")
        parts = [Part(self.job, p, self._kept[p], self.connection, self._meters) for p in sorted(ours)]
        for part in parts:
            part.end = partial(self._end, part.partition)
        self.session = Session(self.job, parts, self.connection, self._meters, self._append, self._clock)
        self.session.ticking = self._ticking
        self.session.start(self._fail)
        if not ours:
            self._meters.phase(PART, "running")  # others have all partitions: it stands by
        log.info("folding", extra={"fields": {"partitions": sorted(ours), "set": self.job.set}})

    async def _on_revoked(self, app: object, revoked: set[TP], **how: Any) -> None:
        """The group shares partitions out anew."""
        await self._let_go()

    async def _let_go(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            await session.stop(SETTLE)
            for partition in session.parts:
                self._meters.released(PART, self.names.turns, partition)

    @property
    def parts(self) -> Mapping[int, Part]:
        """The partitions that it folds."""
        return {} if self.session is None else self.session.parts

    def _end(self, partition: int) -> int:
        """The end of the raw log as of the last fetch; 0 where it is not known."""
        with suppress(Exception):  # Faust's consumer has no one error for "not now"
            return int(self.app.consumer.highwater(TP(self.names.turns, partition)) or 0)
        return 0

    # -- folding -------------------------------------------------------------------------------------------------------

    def _full(self) -> bool:
        return sum(part.waiting() for part in self.parts.values()) >= WAITING

    async def _fold(self, runs: Any) -> None:
        """The agent: hands runs to the parts they are for."""
        async for run in runs:
            if part := self.parts.get(run[0].partition):
                part.take(run)

    # -- the clock -----------------------------------------------------------------------------------------------------

    async def _append(self, partition: int, ticks: Sequence[ClockTicked]) -> None:
        """Appends ticks to the raw log. Not in a part's transaction: there its marks would make gaps."""
        for tick in ticks:
            while not await self._tick(partition, tick):
                await asyncio.sleep(AWAY)

    async def _tick(self, partition: int, tick: ClockTicked) -> bool:
        """Appends a tick; whether it was taken. An erasure that is about to move the log is over soon, or we are."""
        if self._ticker is None:
            self._ticker = AIOKafkaProducer(**self.connection.client(), **PRODUCER)
            await self._ticker.start()
        try:
            await self._ticker.send_and_wait(
                self.names.turns, encode(tick), tick.space.encode(), partition, None, headers_of(tick)
            )
        except MessageSizeTooLargeError:
            refused, self._ticker = self._ticker, None
            await refused.stop()
            return False
        return True

    async def _follow_notes(self) -> None:
        """Keeps up with what is live: its workers look after the clock, also those that it gets by a promotion. And
        with where the log is: where an erasure moves it, this worker is over."""
        place, notes = TopicPartition(self.names.control, 0), dict[str, str]()
        root = TopicPartition(Names(self.names.root).control, 0)
        how = self.connection.client() | READER | {"fetch_max_wait_ms": NOTES_WAIT}
        while True:
            try:
                async with started(AIOKafkaConsumer(**how)) as consumer:
                    consumer.assign([*{place, root}])
                    await consumer.seek_to_beginning()
                    while True:
                        found = await consumer.getmany(timeout_ms=NOTES_WAIT)
                        if any(message.key == MOVED.encode() for message in found.get(root, ())):
                            here, _ = await in_force(self.connection)
                            if here != self.connection:
                                self._fail(LogError("an erasure made a new log", "start the worker again"))
                        for message in found.get(place, ()):
                            take_note(notes, message.key, message.value)
                        if found:
                            self._ticking = is_live(notes, self._processors, self.job.emitted)
                            if self.session is not None:
                                self.session.ticking = self._ticking
            except (KafkaError, OSError, TimeoutError):
                await asyncio.sleep(AWAY)
