"""Records of several topics, read ahead by a consumer that belongs to no group: who reads keeps the places himself."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import ConsumerRecord

from streams.core.errors import LogError
from streams.logs.kafka.connection import Connection, Portal, learn
from streams.logs.kafka.topics import GATHER, READER, lacking

Found = Mapping[TopicPartition, Sequence["ConsumerRecord[bytes, bytes]"]]
AHEAD = 4
"""Batches read ahead of who takes them."""
RECORDS = 2_000
"""Records of a batch, at most."""
PAUSE = 0.005
"""Seconds until it is looked again whether there is room."""


class Feed:
    """Reads partitions from given offsets on, in a thread of its own."""

    def __init__(self, connection: Connection) -> None:
        """Raises LogError where no broker answers."""
        self._connection = connection
        self.places: dict[TopicPartition, int] = {}
        """What is read, and the offset that is read next."""
        self.full: frozenset[TopicPartition] = frozenset()
        """Partitions of which enough was taken: they are not read on until this changes."""
        self._inbox: deque[Found] = deque()
        self._portal = Portal()
        try:
            with connection.telling():
                self._portal.call(self._start())
        except BaseException:
            self._portal.close()
            raise

    def read(self, places: Mapping[TopicPartition, int]) -> None:
        """Reads further partitions, from these offsets on.

        Raises LogError where a topic is missing, or no longer holds what is asked for.
        """
        with self._connection.telling():
            self._portal.call(self._add(places))

    def take(self) -> Found | None:
        """The oldest batch that waits; None where none does. Raises LogError when reading has failed."""
        if self._inbox:
            return self._inbox.popleft()
        if self._pump.done():
            with self._connection.telling("the streams cannot be read any more"):
                self._pump.result()
        return None

    def close(self) -> None:
        """Stops reading; done twice, it is done."""
        if self._portal.closed:
            return
        with contextlib.suppress(Exception):  # it is over, whatever the brokers say
            self._portal.call(self._stop())
        self._portal.close()

    async def _start(self) -> None:
        self._consumer: AIOKafkaConsumer[bytes, bytes] = AIOKafkaConsumer(
            **self._connection.client(), **READER, fetch_min_bytes=GATHER
        )
        try:
            await self._consumer.start()
        except BaseException:
            await self._consumer.stop()
            raise
        self._reading = asyncio.Lock()
        self._pump = asyncio.get_running_loop().create_task(self._run())

    async def _add(self, places: Mapping[TopicPartition, int]) -> None:
        await self._check(places)
        async with self._reading:  # what a fetch under way brings is counted before all are sought anew
            self.places |= places
            self._consumer.assign(list(self.places))
            for place, offset in self.places.items():
                self._consumer.seek(place, offset)

    async def _check(self, places: Mapping[TopicPartition, int]) -> None:
        if missing := await lacking(self._consumer, {place.topic for place in places}):
            raise LogError(
                f"there is no topic {missing[0]} on {self._connection.servers}",
                "`mnemolog topics create`, then start `mnemolog worker`",
            )
        await learn(self._consumer, {place.topic for place in places})
        first = await self._consumer.beginning_offsets(list(places))
        ends = await self._consumer.end_offsets(list(places))
        for place, offset in places.items():
            if not first[place] <= offset <= ends[place]:
                raise LogError(
                    f"{place.topic} holds offsets {first[place]} to {ends[place]} of partition {place.partition}; "
                    f"those from {offset} on are needed",
                    "records were deleted on the brokers: set retention.ms=-1, replay the log into a new memory, "
                    "and promote it",
                )

    async def _run(self) -> None:
        while True:
            wanted = [place for place in self.places if place not in self.full]
            if len(self._inbox) >= AHEAD or not wanted:
                await asyncio.sleep(PAUSE)
                continue
            async with self._reading:
                found = await self._consumer.getmany(*wanted, timeout_ms=100, max_records=RECORDS)
                self.places |= {place: messages[-1].offset + 1 for place, messages in found.items() if messages}
            if found:
                self._inbox.append(found)
            await asyncio.sleep(0)

    async def _stop(self) -> None:
        self._pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._pump
        await self._consumer.stop()
