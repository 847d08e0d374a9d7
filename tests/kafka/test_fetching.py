"""What comes record by record is read in few fetches, and soon."""

from __future__ import annotations

import asyncio
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import NewTopic

from streams.logs.kafka.connection import Connection, admin, run
from streams.runtime.kafka.fetching import REST, rest_between_fetches

RECORDS = 200
PAUSE = 0.002
"""Seconds between records: several come while a fetch rests."""


async def trickle(connection: Connection, topic: str) -> tuple[list[float], int, float]:
    """Reads records while they are appended one by one; the seconds each waited, the fetches, the seconds in all."""
    client = await admin(connection)
    await client.create_topics([NewTopic(topic, 1, 1)])
    await client.close()
    consumer = AIOKafkaConsumer(**connection.client(), auto_offset_reset="earliest")
    producer = AIOKafkaProducer(**connection.client())
    await consumer.start()
    await producer.start()
    try:
        rest_between_fetches(consumer)
        consumer.assign([TopicPartition(topic, 0)])
        began = time.monotonic()
        reading = asyncio.create_task(read(consumer))
        for _ in range(RECORDS):
            await asyncio.sleep(PAUSE)
            await producer.send(topic, b"%f" % time.monotonic(), partition=0)
        return *await reading, time.monotonic() - began
    finally:
        await producer.stop()
        async with asyncio.timeout(5):
            await consumer.stop()  # in the midst of a rest


async def read(consumer: AIOKafkaConsumer) -> tuple[list[float], int]:
    """How long records waited, and in how many pieces they came."""
    waits: list[float] = []
    pieces = 0
    async with asyncio.timeout(60):
        while len(waits) < RECORDS:
            for found in (await consumer.getmany(timeout_ms=1000)).values():
                waits += [time.monotonic() - float(record.value or b"") for record in found]
                pieces += 1
    return waits, pieces


def test_fetches_rest_while_records_gather_and_keep_none_for_long(connection: Connection) -> None:
    waits, fetches, seconds = run(connection, trickle(connection, f"{connection.prefix}.trickle"))
    assert fetches <= seconds / REST + 2
    assert sorted(waits)[RECORDS // 2] < 1.0
