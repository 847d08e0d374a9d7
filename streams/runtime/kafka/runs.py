"""Faust, given whole runs of records instead of single ones, and told by the folds how far they are.

Why: Faust's way of one record costs 100 us (a message, an event, a queue and an acknowledgement each), more than most
processors' step. Here the event that reaches an agent is all that one fetch brought of a partition; what Faust does for
groups, assignment, recovery of tables, flow and commits stays as it is. This file holds all that leans on Faust's inner
parts, which is why the package is pinned to 0.15.

Why not its acknowledgements: an event that a rebalance makes it skip counts as done, and its offset is committed. The
folds know how far they are, with their state; what is committed and where reading goes on comes from them. And what a
rebalance drops on the way shows in the numbers that runs carry: a run is folded only if it follows on the one before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import aiokafka
import faust
from aiokafka.errors import IllegalStateError, KafkaError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.runtime.kafka.fetching import rest_between_fetches

LOGGER = logging.getLogger("faust.mnemolog")
"""Where what Faust says of its own doings goes, as if these classes stood in Faust."""
QUEUED = 2
"""Runs that wait for the agent; more are not asked for. The fetcher below reads ahead as well."""
FETCH_WAIT = 100
"""Milliseconds that a broker holds a fetch for which there is nothing. Why not Faust's 1,500: what else is asked on the
same connection waits behind it, and a rebalance asks six times."""
LOOK = 0.1
"""Seconds for which a fetch is waited for at a time: a seek waits for it."""
PATIENCE = 0.005
"""Seconds until the fetching looks again whether there is room."""


class Folds(Protocol):
    """What the consumer needs to know of those who fold."""

    topic: str
    state: str
    """The topic of their state."""
    rest: float
    """Seconds between fetches that bring something."""
    generation: int | None
    """Of the group, in which it gave the partitions that are ours; None from giving them up until they are given anew.
    """

    def restore(self, tp: TP, records: list[Any]) -> None:
        """Takes over records of the state."""

    def waiting(self) -> int:
        """Runs that were handed over and not begun."""

    def positions(self) -> Mapping[int, int]:
        """The offset up to which each partition is folded and its state durable."""

    def wanted(self, partition: int) -> int | None:
        """The offset of the record that is folded next; None for a partition of others."""

    def given(self, generation: int) -> None:
        """The group has given partitions; their state is not recovered yet."""

    async def settle(self) -> None:
        """Waits until what was begun is durable, and begins nothing more until partitions are given and recovered."""


class Fetched(NamedTuple):
    """What one fetch brought of a partition."""

    epoch: int
    """How often reading of the partition began anew before."""
    number: int
    """How many runs came in this epoch before."""
    records: list[aiokafka.ConsumerRecord[bytes, bytes]]


class Unread(dict[TP, int | None]):
    """Faust's last offset of each partition, by which it drops records that seem older: our folds do that better."""

    def __getitem__(self, tp: TP) -> None:
        """Nothing was read."""


class Run:
    """Something fetched, in the shape of its last record."""

    __slots__ = ("checksum", "headers", "key", "offset", "partition", "serialized_key_size", "serialized_value_size",
                 "timestamp", "timestamp_type", "topic", "value")  # fmt: skip

    def __init__(self, fetched: Fetched) -> None:
        last = fetched.records[-1]
        self.topic = last.topic
        self.partition = last.partition
        self.offset = last.offset
        self.timestamp = last.timestamp
        self.timestamp_type = last.timestamp_type
        self.value = fetched
        self.headers: list[tuple[str, bytes]] = []
        self.key = self.checksum = None
        self.serialized_key_size = self.serialized_value_size = 0


class RunSchema(faust.Schema[Any, Any]):
    """Hands a run on as it is."""

    def compile(self, app: Any, **how: Any) -> Any:
        """The function that makes an event of a message."""
        create_event = app.create_event

        async def decode(message: Any, *, propagate: bool = False) -> Any:
            return create_event(None, message.value, message.headers, message)

        return decode


class RunThread(driver.AIOKafkaConsumerThread):
    """Knows when the group last took this process for a member."""

    heard = 0.0
    """Monotonic time at which the last heartbeat that was answered well was sent."""

    def _create_consumer(self, loop: asyncio.AbstractEventLoop) -> aiokafka.AIOKafkaConsumer:
        found = super()._create_consumer(loop)
        found._fetch_max_wait_ms = FETCH_WAIT
        return found

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribes, has fetches rest, and listens to the heart."""
        await super().subscribe(topics)
        folds: Folds = self.consumer.app.folds  # type: ignore[attr-defined]
        rest_between_fetches(self._ensure_consumer(), folds.rest)
        coordinator = self._ensure_consumer()._coordinator
        if not getattr(coordinator, "heard", False):
            coordinator.heard = True
            coordinator._do_heartbeat = self._listening(coordinator._do_heartbeat)

    def _listening(self, beat: Any) -> Any:
        async def heartbeat() -> bool:
            began = time.monotonic()
            well = bool(await beat())
            if well:
                self.heard = began
            return well

        return heartbeat


class RunConsumer(driver.Consumer):
    """Fetches runs of the folds' topic, and recovers their state by whole fetches too."""

    logger = LOGGER

    def __init__(self, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        self._read_offset = Unread()
        self._epochs: dict[TP, int] = {}
        self._numbers: dict[TP, int] = {}
        self._reading = asyncio.Lock()
        self._sought: set[TP] = set()
        """Partitions of state that are read from where a recovery sought to; a new set with each rebalance."""

    def _new_consumer_thread(self) -> RunThread:
        return RunThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def folds(self) -> Folds:
        """Those who fold what is read here."""
        found: Folds = self.app.folds  # type: ignore[attr-defined]
        return found

    def silence(self) -> float:
        """Seconds since the group certainly took this process for a member."""
        thread: Any = self._thread
        return time.monotonic() - float(thread.heard)

    def renew(self) -> None:
        """The group has just given us partitions."""
        thread: Any = self._thread
        thread.heard = time.monotonic()

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:
        folds = self.folds
        if folds.waiting() >= QUEUED and not self.app.in_recovery:
            await asyncio.sleep(PATIENCE)
            return {}
        runs: dict[TP, list[Any]] = {}
        async with self._reading:
            sought = self._sought
            # Why a copy: Faust changes its set while the thread reads, and an empty one stands for all partitions.
            wanted = {tp for tp in active_partitions or () if tp.topic == folds.topic or self._restores(tp, sought)}
            found = await super()._getmany(wanted, min(timeout, LOOK)) if wanted else {}
            for tp, records in found.items():
                if not records:
                    continue
                if tp.topic == folds.topic:
                    number = self._numbers[tp] = self._numbers.get(tp, -1) + 1
                    runs[tp] = [Run(Fetched(self.epoch(tp), number, records))]
                elif self._restores(tp, sought):
                    folds.restore(tp, records)
                    runs[tp] = records[-1:]  # tells Faust how far its recovery is
        if not wanted:
            await asyncio.sleep(PATIENCE)
        return runs

    def _restores(self, tp: TP, sought: set[TP]) -> bool:
        """Whether state of a partition is taken, if it is fetched after seeking to `sought`."""
        return tp in sought and sought is self._sought and bool(self.app.in_recovery)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """State is read no more. What a fetch under way brings of it begins anywhere, and is dropped."""
        self._sought = set()
        await super().on_partitions_revoked(revoked)

    async def seek_wait(self, partitions: Mapping[TP, int]) -> None:
        """Seeks, as Faust does where a recovery begins to read state: only from there on it is taken.

        A fetch under way comes first: it might take what stands there, before Faust looks for it, and recovery would
        wait for that for ever.
        """
        async with self._reading:
            await super().seek_wait(partitions)
            self._sought.update(partitions)

    def epoch(self, tp: TP) -> int:
        """How often reading of a partition began anew."""
        return self._epochs.get(tp, 0)

    async def read_anew(self, tp: TP) -> None:
        """Begins reading of a partition anew, at what is to be folded next; nothing where others have the partition."""
        async with self._reading:  # a fetch under way might take what stands at the offset, and belong to neither
            offset = self.folds.wanted(tp.partition)  # only now: who asked may have waited for a rebalance
            if offset is None or tp not in self.assignment():
                return
            with suppress(IllegalStateError):  # it was taken from us just now
                await super().seek_wait({tp: offset})
                self._epochs[tp] = self.epoch(tp) + 1
                self._numbers[tp] = -1

    async def perform_seek(self) -> None:
        """Goes on reading where the folds are."""
        for tp, _ in list(self._done()):
            await self.read_anew(tp)

    async def wait_empty(self) -> None:
        """Waits until what was begun is durable, and commits it."""
        await self.folds.settle()
        await self.commit_and_end_transactions()

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commits; a failure is not one of ours, since reading goes on where the state ends, wherever the group is."""
        thread = self._thread
        try:
            return bool(await thread.call_thread(_commit, thread._ensure_consumer(), offsets))
        except (KafkaError, TimeoutError) as error:
            self.log.warning("the offsets of %s are committed later: %r", self.folds.topic, error)
            return False

    def _done(self) -> Iterator[tuple[TP, int]]:
        return ((TP(self.folds.topic, partition), done) for partition, done in self.folds.positions().items())

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return (tp for tp, _ in self._done() if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        self._acked.clear()
        self._acked_index.clear()
        return self.folds.positions().get(tp.partition) or None

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Runs are made of gaps."""

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Faust would warn of partitions that stand still by its own bookkeeping; our lag is measured elsewhere."""


class RunTransport(driver.Transport):
    """aiokafka, with a consumer of runs."""

    Consumer = RunConsumer


async def _commit(consumer: aiokafka.AIOKafkaConsumer, offsets: Mapping[TP, int]) -> bool:
    mine = consumer.assignment()
    wanted = {tp: offset for tp, offset in offsets.items() if aiokafka.TopicPartition(*tp) in mine}
    if wanted:
        await consumer.commit({aiokafka.TopicPartition(*tp): (offset, "") for tp, offset in wanted.items()})
    return bool(wanted)
