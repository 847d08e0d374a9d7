"""Records as any client might write them, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaProducer

from streams.core.events import Outside, encode
from streams.logs.kafka.connection import Connection, run, started
from streams.logs.kafka.records import headers_of, partition_of
from streams.logs.kafka.topics import PRODUCER, Names
from tests.contracts.log_contract import NOW

PARTITIONS = 4


@dataclass
class Message:
    """A record with its place."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]] = field(default_factory=list)
    partition: int = 0
    offset: int = 7
    timestamp: int = NOW // 1000


def message(event: Outside, recorded_at: int | None = None, **instead: Any) -> Message:
    """The record of an event, with other fields `instead`."""
    found = Message(
        event.space.encode(),
        encode(event),
        headers_of(event, recorded_at),
        partition_of(event.space, PARTITIONS),
    )
    for name, value in instead.items():
        setattr(found, name, value)
    return found


def headers(event: Outside, **instead: bytes | None) -> list[tuple[str, bytes]]:
    """The headers of an event, with others instead; None takes one away."""
    said: dict[str, bytes | None] = {**dict(headers_of(event)), **instead}
    return [(name, value) for name, value in said.items() if value is not None]


def produce(connection: Connection, messages: Sequence[Message]) -> None:
    """Writes records to the raw log as they are, past every check, each to its partition."""

    async def send() -> None:
        topic = Names(connection.prefix).turns
        async with started(AIOKafkaProducer(**connection.client(), **PRODUCER)) as producer:
            for m in messages:
                await producer.send_and_wait(topic, m.value, key=m.key, partition=m.partition, headers=m.headers)

    run(connection, send())
