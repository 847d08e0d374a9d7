"""Workers as processes of their own, and what they make of a log."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from processors import NAMES, PROCESSORS
from streams.core.driver import Driver, Placed, raw_of
from streams.core.events import encode
from streams.logs.kafka.connection import Connection, run
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import PROGRESSED
from streams.logs.kafka.topics import PRODUCER, READER, Names, create, read_notes
from streams.runtime.kafka.sets import Lineages, lineages_of, noted_sets, set_id
from tests.processes import Program

PATIENCE = 60.0
"""Seconds for what takes two or three on an idle machine."""
Position = tuple[int, int, int]
Rows = dict[str, dict[Position, bytes]]
"""The events of each processor by position, as their streams hold them."""


def differences(found: Rows, expected: Rows) -> dict[str, str]:
    """How streams differ from what is expected of them; empty where they do not."""
    told = {}
    for name, rows in found.items():
        lost = sorted(expected[name].keys() - rows.keys())
        doubled = sorted(rows.keys() - expected[name].keys())
        other = sorted(place for place in rows.keys() & expected[name].keys() if rows[place] != expected[name][place])
        if lost or doubled or other:
            example = f"{rows[other[0]]!r} for {expected[name][other[0]]!r}" if other else ""
            told[name] = f"of {len(rows)}: lost {lost[:9]}, too many {doubled[:9]}, other {other[:9]} {example}"
    return told


@dataclass
class Crew:
    """A log with topics of its own, and the workers that fold it."""

    connection: Connection
    folder: Path
    partitions: int = 2
    workers: list[Program] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lineages = lineages_of(PROCESSORS, {p.name: p.params() for p in PROCESSORS})
        self.names = Names(self.connection.prefix)
        self.set = set_id(self.lineages)
        create(self.connection, [self.set], self.partitions)
        self.log = KafkaLog(self.connection)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.log.close()

    def start(self, *processors: str, store: str = "memory") -> Program:
        """A worker more."""
        environment = os.environ | {
            "MNEMOLOG_KAFKA": self.connection.servers,
            "MNEMOLOG_KAFKA_PREFIX": self.connection.prefix,
            "MNEMOLOG_HOME": str(self.folder),
        }
        with (self.folder / "workers.log").open("ab") as told:
            worker = Program("worker", *processors, "--store", store, env=environment, stderr=told, stdout=told)
        self.workers.append(worker)
        return worker

    def kill(self, worker: Program) -> None:
        """Ends a worker as a crash would."""
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def stop(self, worker: Program) -> tuple[int, float]:
        """Asks a worker to stop; its exit code, and the seconds it took."""
        began = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        code = worker.wait(PATIENCE)
        self.workers.remove(worker)
        return code, time.monotonic() - began

    def told(self) -> str:
        """What the workers said."""
        return (self.folder / "workers.log").read_text()

    def expected(self) -> Rows:
        """What the embedded fold makes of the log."""
        driver = Driver(PROCESSORS, {p.name: p.params() for p in PROCESSORS})
        placed: list[Placed] = []
        for partition in range(self.partitions):
            for record in self.log.read(partition, 0):
                driver.fold(record.space, partition, record.offset, raw_of(record), placed)
        owner = {cls: p.name for p in PROCESSORS for cls in p.emits}
        rows: Rows = {p.name: {} for p in PROCESSORS}
        for partition, offset, ordinal, event in placed:
            rows[owner[type(event)]][partition, offset, ordinal] = encode(event)
        return rows

    def sets(self, *processors: str) -> dict[str, Lineages]:
        """The sets of workers that emit any of these processors."""
        noted = noted_sets(run(self.connection, read_notes(self.connection)))
        return {name: emitted for name, emitted in noted.items() if not emitted.keys().isdisjoint(processors)}

    def folded(self, *processors: str) -> Rows:
        """What stands in the topics once all processors (or those named) have reached the end of the log."""
        return asyncio.run(self._folded(processors or NAMES))

    async def _folded(self, processors: tuple[str, ...]) -> Rows:
        ends = {p: self.log.end(p) - 1 for p in range(self.partitions)}
        deadline = time.monotonic() + PATIENCE
        while True:
            sets = await asyncio.to_thread(self.sets, *processors)
            if not set(processors) - {name for emitted in sets.values() for name in emitted}:
                break
            assert time.monotonic() < deadline, f"no worker emits all of it:\n{self.told()[-4000:]}"
            await asyncio.sleep(0.2)
        emitted = {self.names.derived(name): its for name, its in sets.items()}
        rows: dict[str, Rows] = {topic: {name: {} for name in processors} for topic in emitted}
        reached: dict[tuple[str, int], int] = {}

        def take(message: ConsumerRecord[Any, Any]) -> None:
            headers, partition = dict(message.headers), message.partition
            if PROGRESSED in headers:
                reached[message.topic, partition] = int(headers[PROGRESSED])
                return
            offset, told = int(headers["offset"]), orjson.loads(message.value)
            assert {name: headers[name].decode() for name in told} == {name: self.lineages[name] for name in told}
            for name in told.keys() & processors:
                for ordinal, row in enumerate(told[name]):
                    place = partition, offset, ordinal
                    assert place not in rows[message.topic][name], f"{name} stands twice at {place}"
                    rows[message.topic][name][place] = orjson.dumps(row)

        def done() -> bool:
            return all(
                any(reached.get((topic, p), -1) >= end for topic, its in emitted.items() if name in its)
                for name in processors
                for p, end in ends.items()
            )

        places = [TopicPartition(topic, p) for topic in emitted for p in range(self.partitions)]
        await consume(self.connection, places, take, done, self)
        found: Rows = {name: {} for name in processors}
        for told in rows.values():
            for name, its in told.items():
                found[name] |= its
        return found

    def letters(self, count: int) -> list[ConsumerRecord[Any, Any]]:
        """The dead letters by key, the last of each, once there are `count`."""
        found: dict[bytes, ConsumerRecord[Any, Any]] = {}
        place = TopicPartition(self.names.dead_letters, 0)
        asyncio.run(
            consume(self.connection, [place], lambda m: found.update({m.key: m}), lambda: len(found) >= count, self)
        )
        return list(found.values())

    def send(self, records: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]]) -> None:
        """Writes records into the raw log as any client could: partition, key, value and headers of each."""
        asyncio.run(self._send(records))

    async def _send(self, records: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]]) -> None:
        producer = AIOKafkaProducer(**self.connection.client(), **PRODUCER)
        await producer.start()
        try:
            for partition, key, value, headers in records:
                await producer.send(self.names.turns, value, key=key, partition=partition, headers=headers)
        finally:
            await producer.stop()


async def consume(
    connection: Connection,
    places: list[TopicPartition],
    take: Callable[[ConsumerRecord[Any, Any]], None],
    done: Callable[[], bool],
    crew: Crew,
) -> None:
    """Reads places from the beginning until `done`. Fails when that takes too long or a worker ended by itself."""
    deadline = time.monotonic() + PATIENCE
    consumer = AIOKafkaConsumer(**connection.client(), **READER)
    await consumer.start()
    try:
        consumer.assign(places)
        await consumer.seek_to_beginning()
        while not done():
            for messages in (await consumer.getmany(timeout_ms=100)).values():
                for message in messages:
                    take(message)
            ended = [worker.returncode for worker in crew.workers if worker.poll() is not None]
            assert not ended, f"a worker ended with {ended[0]}:\n{crew.told()[-4000:]}"
            assert time.monotonic() < deadline, f"the workers do not get on:\n{crew.told()[-4000:]}"
    finally:
        await consumer.stop()
