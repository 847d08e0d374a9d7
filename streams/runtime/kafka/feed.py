"""Records of several topics, read ahead by a consumer that belongs to no group: who reads keeps the places himself."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import ConsumerRecord

from streams.core.errors import LogError
from streams.logs.kafka.connection import Connection, Portal
from streams.runtime.kafka.fetching import rest_between_fetches

Found = Mapping[TopicPartition, Sequence["ConsumerRecord[bytes, bytes]"]]
AHEAD = 4
"""Batches read ahead of who takes them."""
RECORDS = 2_000
"""Records of a batch, at most."""
WAIT_MS = 50
"""Milliseconds the broker keeps a fetch that finds nothing. Why so few: a partition that was full is asked for
again only with the next fetch."""


class Feed:
    """Reads given partitions from given offsets on, in a thread of its own."""

    def __init__(self, connection: Connection, places: Mapping[TopicPartition, int]) -> None:
        """Raises LogError where a topic is missing, or no longer holds what is asked for."""
        self._connection = connection
        self._places = places
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

    def take(self) -> Found | None:
        """The oldest batch that waits; None where none does. Raises LogError when reading has failed."""
        if self._inbox:
            return self._inbox.popleft()
        if self._pump.done():
            with self._connection.telling("the streams cannot be read any more"):
                self._pump.result()
        return None

    def waits(self) -> bool:
        """Whether a batch waits."""
        return bool(self._inbox)

    def close(self) -> None:
        """Stops reading."""
        with contextlib.suppress(Exception):  # it is over, whatever the brokers say
            self._portal.call(self._stop())
        self._portal.close()

    async def _start(self) -> None:
        self._consumer: AIOKafkaConsumer[bytes, bytes] = AIOKafkaConsumer(
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="none",
            fetch_max_wait_ms=WAIT_MS,
            **self._connection.client(),
        )
        await self._consumer.start()
        rest_between_fetches(self._consumer)
        try:
            await self._check()
        except BaseException:
            await self._consumer.stop()
            raise
        self._consumer.assign(list(self._places))
        for place, offset in self._places.items():
            self._consumer.seek(place, offset)
        self._pump = asyncio.get_running_loop().create_task(self._run())

    async def _check(self) -> None:
        missing = sorted({place.topic for place in self._places} - await self._consumer.topics())
        if missing:
            raise LogError(
                f"there is no topic {missing[0]} on {self._connection.servers}",
                "`mnemolog topics create`, then start `mnemolog worker`",
            )
        first = await self._consumer.beginning_offsets(list(self._places))
        ends = await self._consumer.end_offsets(list(self._places))
        for place, offset in self._places.items():
            if not first[place] <= offset <= ends[place]:
                raise LogError(
                    f"{place.topic} holds offsets {first[place]} to {ends[place]} of partition {place.partition}; "
                    f"those from {offset} on are needed",
                    "records were deleted on the brokers: set retention.ms=-1, replay the log into a new memory, "
                    "and promote it",
                )

    async def _run(self) -> None:
        while True:
            if len(self._inbox) >= AHEAD:
                await asyncio.sleep(0.005)
                continue
            full = self.full
            wanted = [place for place in self._places if place not in full]
            if not wanted:
                await asyncio.sleep(0.005)
                continue
            found = await self._consumer.getmany(*wanted, timeout_ms=100, max_records=RECORDS)
            if found:
                self._inbox.append(found)

    async def _stop(self) -> None:
        self._pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._pump
        await self._consumer.stop()
