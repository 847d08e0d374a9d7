"""Appends to a partition: outputs as fast as they come, and a batch's changes of state all at once or not at all.

A record batch is what a broker appends: whole. All that one batch of input changed, with the mark that says how far it
was folded, is one record batch on the topic that the state is recovered from. So state is never half a batch, and what
DESIGN calls the journal needs no topic and no second write of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.producer.message_accumulator import BatchBuilder

from streams.core.errors import LogError
from streams.logs.kafka.connection import Connection

OUTPUT_BYTES = 1024 * 1024
"""Of a record batch of outputs; a single larger event gets one of its own."""
STATE_BYTES = 16 * 1024 * 1024
"""Of one batch's changes: 32 KB for each of 500 events; topics of state take record batches of 17 MiB."""
NO_HEADERS: list[tuple[str, bytes]] = []

Headers = list[tuple[str, bytes]]
Output = tuple[bytes, bytes, Headers]
"""Key, value and headers of a record."""


class Place(NamedTuple):
    """A partition to append to."""

    topic: str
    partition: int


class Journal:
    """An idempotent producer. Why each processor has two, for outputs and for state: aiokafka has one request in flight
    for each broker, and one must not wait for the other."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self.producer = AIOKafkaProducer(
            **connection.client(),
            client_id=name,
            acks="all",
            enable_idempotence=True,
            max_batch_size=STATE_BYTES,
            max_request_size=STATE_BYTES,
        )

    async def start(self) -> None:
        """Raises LogError where no broker answers."""
        with self._connection.telling():
            await self.producer.start()

    async def stop(self) -> None:
        """Sends what waits, and closes."""
        await self.producer.stop()

    async def append(self, place: Place, outputs: Iterable[Output]) -> None:
        """Appends records in order; returns when all of them are acknowledged. Raises KafkaError."""
        sent: list[asyncio.Future[object]] = []
        batch = self.producer.create_batch()
        size = 0
        for key, value, headers in outputs:
            if size > OUTPUT_BYTES or (size and size + len(value) > 8 * OUTPUT_BYTES):
                sent.append(await self._send(batch, place))
                batch, size = self.producer.create_batch(), 0
            batch.append(timestamp=None, key=key, value=value, headers=headers)
            size += len(value) + 200
        if size:
            sent.append(await self._send(batch, place))
        if sent:
            await asyncio.gather(*sent)

    async def change(self, place: Place, changes: Mapping[bytes, bytes | None]) -> int:
        """Appends changes of state, all or none; the offset of the last, once it is acknowledged.

        Raises LogError where they are too many for one record batch, KafkaError for what brokers refuse.
        """
        batch = self.producer.create_batch()
        for key, value in changes.items():
            if batch.append(timestamp=None, key=key, value=value, headers=NO_HEADERS) is None:
                raise LogError(
                    f"one batch changes more than {STATE_BYTES} bytes of the state at {place.topic}",
                    "this is a fault of a processor (state records are to be small and few); please report it",
                )
        done = await (await self._send(batch, place))
        return int(done.offset) + len(changes) - 1  # type: ignore[attr-defined]

    async def _send(self, batch: BatchBuilder, place: Place) -> asyncio.Future[object]:
        batch.close()
        sent: asyncio.Future[object] = await self.producer.send_batch(batch, place.topic, partition=place.partition)
        return sent
