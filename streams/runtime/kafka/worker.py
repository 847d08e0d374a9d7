"""Workers: each processor is a Faust app and consumer group of its own, any number of them in a process.

For each run of records of a partition, in this order, each acknowledged before the next: dead letters and outputs (with
the `progressed` record last), the changed state with its mark, the store here, the commit. A crash anywhere repeats
outputs with the same positions, which every reader drops; state is never half a batch. Outputs are sent at once, for
others wait for them; the state of what was sent is saved a few times a second, of all partitions together. While one
batch is sent, the next is folded already, and partitions do not wait for each other.

What is unexpected stops the process without committing: nothing is lost, and a restart goes on at the same record.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import faust
from aiokafka.errors import KafkaError
from faust.types import TP

from streams.core.errors import LogError
from streams.core.events import encode
from streams.core.params import Params
from streams.core.processor import Processor
from streams.logs.kafka import records as kafka_records
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.topics import Names
from streams.logs.sqlite import wall_clock
from streams.runtime.kafka.dead_letters import laid
from streams.runtime.kafka.fetching import ON_THE_WAY
from streams.runtime.kafka.journal import Journal, Place
from streams.runtime.kafka.metrics import OFF, Meters
from streams.runtime.kafka.part import Batch, Part
from streams.runtime.kafka.runs import LOGGER, Fetched, RunConsumer, RunSchema, RunTransport
from streams.runtime.kafka.tables import StateManager, StateTable

log = logging.getLogger(__name__)

RECORDS = 500
"""In a run at most: larger ones gain nothing and make the other processors of the process wait."""
FETCH_BYTES = 4 * 1024 * 1024
"""Of a partition in one fetch."""
SESSION = 6.0
"""Seconds without a sign of life after which the group gives a worker's partitions to others."""
LEASE = 4.0
"""Seconds since the group last took this process for a member, after which it neither sends nor saves until it is heard
again: less than SESSION, after which others may have its partitions."""
NOTHING = (0, -2)
"""The epoch and number of a run on which none follows: reading begins anew."""
AHEAD = 2 * RECORDS
"""Records of a partition that are folded and not saved, about: they are repeated after a crash."""
SAVE = 0.5
"""Seconds between saves of state where there is little to save: few large appends cost less than many small ones."""
TICK = 1.0
"""Seconds between looks at deadlines."""

ROCKS = {"write_buffer_size": 8 * 1024 * 1024, "block_cache_size": 8 * 1024 * 1024, "max_write_buffer_number": 2}
"""Why small: each partition of each processor has a database of its own."""

StoreKind = Literal["rocksdb", "memory"]


@dataclass(frozen=True)
class Job:
    """What one processor folds, from where to where."""

    processor: Processor[Any]
    params: Params
    lineage: str
    reads: str
    """The topic it reads."""
    parent: Processor[Any] | None
    """Whose events stand there; None for the raw log."""
    partitions: int
    chain: int = 1
    """How many processors the longest chain has that it is part of."""
    ticking: bool = True
    """Whether it writes clock-ticked events into the log: the workers of live do."""


class FoldApp(faust.App):
    """A Faust app that fetches runs (see `streams.runtime.kafka.runs`)."""

    logger = LOGGER
    folds: Worker

    def _new_transport(self) -> Any:
        return RunTransport(self.conf.broker_consumer, self)


class Worker:
    """One processor on as many partitions as its group gives it."""

    def __init__(
        self, job: Job, connection: Connection, folder: Path, store: StoreKind, meters: Meters = OFF,
        clock: Callable[[], int] = wall_clock,
    ) -> None:  # fmt: skip
        """`folder` is for this process alone."""
        self.job = job
        self.name = job.processor.name
        self.topic = job.reads
        self.rest = ON_THE_WAY / job.chain
        self.connection = connection
        self.names = Names(connection.prefix)
        self.stream = self.names.stream(self.name, job.lineage)
        self.state = self.names.state(self.name, job.lineage)
        self.parts: dict[int, Part] = {}
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._classes = kafka_records.emitted(job.parent) if job.parent else {}
        self._meters = meters
        self._clock = clock
        self._journal = Journal(connection, self.names.group(self.name, job.lineage))
        self._saves = Journal(connection, f"{self.names.group(self.name, job.lineage)}.state")
        self._sendings: dict[int, asyncio.Task[None]] = {}
        self._hurry = asyncio.Event()
        """Set where somebody waits for the next round of saves."""
        self._round = asyncio.Event()
        """Told after each round of saves."""
        self._inbox: dict[int, list[Any]] = {}
        self._pumps: dict[int, asyncio.Task[None]] = {}
        self._queue: Any = None
        self.generation: int | None = None
        self._folding = False
        """Whether runs are taken: from the recovery of what the group gave until it is given up."""
        self._chores: list[asyncio.Task[None]] = []
        self._taken: dict[int, tuple[int, int]] = {}
        self._folder = folder / self.name / job.lineage
        self.app = self._make_app(store)
        self.table = StateTable(
            self.app, name="state", assigned=self._on_assigned, partitions=job.partitions,
            changelog_topic=self._changelog(), options=dict(ROCKS) if store == "rocksdb" else None,
        )  # fmt: skip
        self.app.tables.add(self.table)
        self.app.agent(self.app.topic(self.topic, schema=RunSchema()), name=self.name)(self._fold_all)

    @property
    def consumer(self) -> RunConsumer:
        """Faust's consumer, as it is here."""
        found: Any = self.app.consumer
        assert isinstance(found, RunConsumer)
        return found

    def _make_app(self, store: StoreKind) -> FoldApp:
        app = FoldApp(
            self.names.group(self.name, self.job.lineage),
            **self.connection.faust(),
            store=f"{store}://",
            datadir=str(self._folder),
            autodiscover=False,
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            topic_partitions=self.job.partitions,
            table_standby_replicas=0,
            broker_session_timeout=SESSION,
            broker_heartbeat_interval=1.0,
            broker_commit_interval=0.5,
            broker_max_poll_records=RECORDS,
            consumer_max_fetch_size=FETCH_BYTES,
            consumer_auto_offset_reset="earliest",
            stream_wait_empty=True,
            TableManager=StateManager,
        )
        app.folds = self
        return app

    def _changelog(self) -> Any:
        return self.app.topic(
            self.state, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw",
            partitions=self.job.partitions, compacting=True, acks=False, internal=True, maxsize=131_072,
            allow_empty=True,
        )  # fmt: skip

    # -- life --------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Joins the group. Raises LogError where no broker answers."""
        self._meters.phase(self.name, "starting")
        self._meters.watch(self.name, self.topic, self.names.group(self.name, self.job.lineage))
        await self._journal.start()
        await self._saves.start()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._chores = [asyncio.create_task(self._guard(chore)) for chore in (self._watch, self._tick, self._save_all)]
        self.app.finalize()
        await self.app.maybe_start()

    async def stop(self) -> None:
        """Lets what was begun become durable, commits, and leaves the group."""
        self._meters.phase(self.name, "stopping")
        await self.app.stop()  # waits until all is saved, so the chores go on until then
        for chore in self._chores:
            chore.cancel()
        await self._journal.stop()
        await self._saves.stop()

    async def _guard(self, chore: Callable[[], Awaitable[None]]) -> None:
        try:
            await chore()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._meters.phase(self.name, "failed")
        if not self.failed.done():
            self.failed.set_result(error)

    async def _watch(self) -> None:
        """Notices that Faust gave up."""
        while True:
            await asyncio.sleep(0.25)
            self._meters.beat()
            if self.app.crashed:
                raise self.app.crash_reason or LogError("Faust stopped", "start the worker again")

    # -- what the consumer asks (see runs.Folds) ---------------------------------------------------------------------

    def waiting(self) -> int:
        """Runs that were handed over and not begun; records that were accepted count as runs of RECORDS."""
        queued = 0 if self._queue is None else int(self._queue.qsize())
        return queued + sum(map(len, self._inbox.values())) // RECORDS

    def positions(self) -> Mapping[int, int]:
        """The offset up to which each partition is durable."""
        return {partition: part.durable for partition, part in self.parts.items()}

    def wanted(self, partition: int) -> int | None:
        """The offset of the record that is folded next; None for a partition of others."""
        part = self.parts.get(partition)
        return part.mark.next if part else None

    def given(self, generation: int) -> None:
        """The group has given partitions; their state is not recovered yet."""
        self.generation = generation
        self._folding = False

    async def settle(self) -> None:
        """Waits until what was begun is durable, or never will be; begins nothing more until partitions are given and
        recovered: what came later would meet what the next owner writes."""
        self.generation = None
        self._folding = False
        for partition in list(self._inbox):
            self._forget(partition)
        saved = asyncio.create_task(self._all_saved())
        ends: set[asyncio.Future[Any]] = {saved, self.failed}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        saved.cancel()

    async def _all_saved(self) -> None:
        await asyncio.gather(*self._pumps.values())  # first: they may be about to send what they folded
        await asyncio.gather(*self._sendings.values())
        while any(part.sent for part in self.parts.values()):
            await self._next_round()

    def restore(self, tp: TP, records: list[Any]) -> None:
        """Takes over records of the state while it is recovered."""
        self.table.write(tp.partition, {record.key: record.value for record in records}, records[-1].offset)
        recovery = self.app.tables.recovery  # type: ignore[attr-defined]
        done, end = records[-1].offset + 1, recovery.active_highwaters.get(tp, 0) + 1
        self._meters.restoring(self.name, tp.partition, min(done, end), end)

    # -- partitions --------------------------------------------------------------------------------------------------

    async def _on_assigned(self, ours: set[int], generation: int) -> None:
        """Recovery is complete: goes on where the state of these partitions ends, if they are still ours."""
        try:
            if self.generation != generation:
                return
            self.consumer.renew()
            for partition in self.parts.keys() - ours:
                del self.parts[partition]
                self._forget(partition)
                self._meters.released(self.name, self.topic, partition)
            for partition in sorted(ours):
                await self._take_over(partition)
                if self.generation != generation:
                    return  # given up meanwhile; another recovery follows
            self._folding = True
            self._meters.phase(self.name, "running")
        except Exception as error:
            self._fail(error)

    async def _take_over(self, partition: int) -> None:
        keys = self.table.keys_of(partition)
        part = self.parts.get(partition)
        job = self.job
        # Why compare: a worker that lost its partitions and got them back may find that another went further.
        if part is None or keys.get(part.mark_key) != part.saved:
            part = Part(job.processor, job.params, partition, job.partitions, keys, self._classes)
            self.parts[partition] = part
            self._forget(partition)
        else:
            part.keys = keys
        await self._check_kept(part)
        self._meters.position(self.name, self.topic, partition, part.durable)

    async def _check_kept(self, part: Part) -> None:
        """Raises LogError where what is to be read next was deleted."""
        tp = TP(self.topic, part.partition)
        begin = (await self.consumer.earliest_offsets(tp)).get(tp) or 0
        if begin > part.mark.next:
            raise LogError(
                f"{self.topic}, partition {part.partition}, begins at offset {begin}, but {self.name} has folded it up "
                f"to {part.mark.next} only: the records between were deleted",
                "give the topic infinite retention (retention.ms=-1), then bring its records back: `mnemolog log copy` "
                "from a backup or archive into a new MNEMOLOG_KAFKA_PREFIX; state is folded anew there",
            )

    # -- folding -----------------------------------------------------------------------------------------------------

    async def _fold_all(self, stream: Any) -> None:
        self._queue = stream.channel.queue
        async for run in stream:
            try:
                await self._accept(run)
            except Exception as error:
                self._fail(error)
            if self.failed.done():
                await asyncio.Event().wait()  # Why: an agent that goes on, or raises, skips the run and commits it

    async def _accept(self, fetched: Fetched) -> None:
        """Takes a run if it is the next one; where one is missing, reading begins anew at what is to be folded next.

        A hole between two runs that follow on each other is one that a producer's transaction left, unless records
        were deleted: then this raises LogError.
        """
        partition = fetched.records[0].partition
        part = self._taker(fetched)
        if part is None:
            return
        epoch, number = self._taken.get(partition, NOTHING)
        if (fetched.epoch, fetched.number) != (epoch, number + 1) and (fetched.epoch <= epoch or fetched.number):
            self._forget(partition)
            await self.consumer.read_anew(TP(self.topic, partition))
            return
        inbox = self._inbox.get(partition)
        if fetched.records[0].offset > (inbox[-1].offset + 1 if inbox else part.mark.next):
            await self._check_kept(part)
            if self._taker(fetched) is not part:
                return  # given up meanwhile
        self._taken[partition] = (fetched.epoch, fetched.number)
        self._inbox.setdefault(partition, []).extend(fetched.records)
        pump = self._pumps.get(partition)
        if pump is None or pump.done():
            self._pumps[partition] = asyncio.create_task(self._guard(partial(self._pump, partition)))

    def _taker(self, fetched: Fetched) -> Part | None:
        """The part that a run is for; None where nothing is taken now, or reading began anew since it was fetched."""
        partition = fetched.records[0].partition
        current = fetched.epoch >= self.consumer.epoch(TP(self.topic, partition))
        return self.parts.get(partition) if self._folding and current else None

    def _forget(self, partition: int) -> None:
        """Drops what was accepted and not folded: it is to be read again."""
        self._inbox.pop(partition, None)
        self._taken[partition] = NOTHING

    async def _pump(self, partition: int) -> None:
        """Folds what was accepted of a partition, as much at a time as came while the batch before was sent."""
        while self._folding and not self.failed.done():
            part, inbox = self.parts.get(partition), self._inbox.get(partition)
            if part is None or not inbox:
                return
            if part.under_way >= AHEAD:
                await self._next_round()
                continue  # the partition may have been given up, and even be another part's now
            records, inbox[:RECORDS] = inbox[:RECORDS], []
            with self._meters.timed(self.name, "fold"):
                batch = part.fold(records)
            if before := self._sendings.get(partition):
                await before
            self._sendings[partition] = asyncio.create_task(self._guard(partial(self._send, part, batch)))
            await asyncio.sleep(0)

    async def _send(self, part: Part, batch: Batch) -> None:
        """Sends what came of a batch; once that is durable, what it changed may be saved."""
        if self.failed.done() or not await self._still_ours(part):
            return  # Why not after a failure: readers would drop the batch before, when it comes after this one
        with (
            self.connection.telling(f"{self.name} could not write what it folded"),
            self._meters.timed(self.name, "send"),
        ):
            if batch.letters:
                raw = self.names.turns
                letters = [laid(self.topic, letter.message, letter.reason, raw) for letter in batch.letters]
                await self._journal.append(Place(self.names.dead_letters, 0), letters)  # type: ignore[arg-type]
            if batch.outputs:
                await self._journal.append(Place(self.stream, part.partition), batch.outputs)
        part.sent.append(batch)
        if part.under_way >= RECORDS:
            self._hurry.set()

    async def _next_round(self) -> None:
        """Has what was sent saved, now."""
        self._hurry.set()
        await self._round.wait()

    async def _save_all(self) -> None:
        """Saves the changes of what was sent, of all partitions at once, a few times a second.

        Why not batch by batch: who reads on waits for what is sent only, and few large appends cost far less than
        many small ones. A crash repeats what was sent and not saved: with the same positions, which readers drop.
        """
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), SAVE)
            self._hurry.clear()
            await asyncio.gather(*[self._save(part) for part in self.parts.values() if part.sent])
            self._round.set()
            self._round.clear()

    async def _save(self, part: Part) -> None:
        if not await self._still_ours(part):
            return
        batches = part.to_save(RECORDS)
        changes: dict[bytes, bytes | None] = {}
        for batch in batches:
            changes |= batch.changes
        timed = self._meters.timed
        with self.connection.telling(f"{self.name} could not save its state"), timed(self.name, "journal"):
            offset = await self._saves.change(Place(self.state, part.partition), changes)
        with timed(self.name, "table"):
            self.table.write(part.partition, changes, offset)
        part.landed(batches)
        for batch in batches:
            self._tell(part, batch)

    async def _still_ours(self, part: Part) -> bool:
        """Waits until the group is known to take this process for a member; False where it was expelled.

        Why: a process that stood still, or could not reach the broker, must not write over the state that another
        worker went on with, nor send what comes later than what that one is sending. What was folded here is then
        given up, and folded again by whoever has the partition.
        """
        while self.consumer.silence() > LEASE:
            if not self._folding:
                self.parts.pop(part.partition, None)
                log.warning("gave up a batch", extra={"fields": {"part": self.name, "partition": part.partition}})
                return False
            await asyncio.sleep(0.05)
        return self.parts.get(part.partition) is part

    def _tell(self, part: Part, batch: Batch) -> None:
        meters = self._meters
        meters.folded(self.name, batch.folded)
        meters.made(self.name, batch.made)
        if batch.letters:
            meters.dead_letter(self.name, len(batch.letters))
        meters.position(self.name, self.topic, part.partition, part.durable)

    # -- the clock ---------------------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        """Appends a clock-ticked where a deadline passed in a live space that has nothing more to fold."""
        while self.job.ticking:
            await asyncio.sleep(TICK)
            now = self._clock()
            for partition, part in list(self.parts.items()):
                if not self._folding or part.durable < part.mark.next or self._end(partition) != part.durable:
                    continue
                ticks = [(t.space.encode(), encode(t), kafka_records.headers_of(t)) for t in part.ticks(now)]
                with suppress(KafkaError):  # it is asked for again after a restart; reads wait for no tick
                    await self._journal.append(Place(self.names.turns, partition), ticks)

    def _end(self, partition: int) -> int | None:
        """The end of what is read, as of the last fetch; None where it is not known."""
        tp = TP(self.topic, partition)
        try:
            return self.consumer.highwater(tp) if tp in self.consumer.assignment() else None
        except Exception:  # Faust's consumer has no one error for "not now"
            return None
