"""What workers would make of a log on Kafka, made by hand: each processor a set of its own, as far as a test wants."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from aiokafka import AIOKafkaProducer

from processors import PROCESSORS
from streams.core.driver import Driver, Placed, raw_of
from streams.core.events import Outside, decode
from streams.core.params import Params
from streams.logs.kafka.connection import run, started
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import Output, derived_record, progressed_record
from streams.logs.kafka.topics import PRODUCER, ensure_sets, write_notes
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home
from streams.runtime.kafka.sets import SET, lineages_of, set_id

LINEAGES = lineages_of(PROCESSORS, {p.name: p.params() for p in PROCESSORS})
"""Of the default parameters, by processor."""


def spread(events: list[Outside], spaces: int = 5) -> list[Outside]:
    """The events once in each of several spaces, so that every partition has some."""
    return [replace(event, space=f"team-{n}") for event in events for n in range(spaces)]


def folded(log: KafkaLog, folder: Path) -> dict[str, str]:
    """The digest of a fold of the whole log in one process."""
    embedded = Home(folder / "folded", PROCESSORS)
    embedded.log = SqliteLog(embedded.path / "log.sqlite")
    for partition in range(log.partitions):
        for record in log.read(partition, 0):
            embedded.log.append([decode(record.type, record.value)])
    try:
        return embedded.ask("digest")
    finally:
        embedded.log.close()


Rows = dict[str, dict[int, list[Placed]]]
"""Rows by processor and partition, in order."""


class Hands:
    """Folds a log in this process; `make` puts what was folded on the topics, processor by processor."""

    def __init__(self, log: KafkaLog, params: dict[str, Params] | None = None, together: bool = False) -> None:
        """`together`: as one set of all processors, where else each is a set of its own."""
        self.log = log
        self.driver = Driver(PROCESSORS, params or {p.name: p.params() for p in PROCESSORS})
        self.rows: Rows = {p.name: {n: [] for n in range(log.partitions)} for p in PROCESSORS}
        self.folded = [0] * log.partitions
        self._made = {p.name: [0] * log.partitions for p in PROCESSORS}
        self._owner = {cls: p.name for p in PROCESSORS for cls in p.emits}
        lineages = lineages_of(PROCESSORS, params or {p.name: p.params() for p in PROCESSORS})
        sets = [lineages] if together else [{name: lineage} for name, lineage in lineages.items()]
        self.sets = {name: set_id(emitted) for emitted in sets for name in emitted}
        ensure_sets(log.connection, dict.fromkeys(self.sets.values()))
        noted = {SET + set_id(emitted): orjson.dumps(emitted).decode() for emitted in sets}
        run(log.connection, write_notes(log.connection, noted))

    def topic(self, processor: str) -> str:
        """Where the rows of a processor stand."""
        return self.log.names.derived(self.sets[processor])

    def fold(self) -> None:
        """Folds to the log's end, into memory."""
        for partition, start in enumerate(self.folded):
            rows: list[Placed] = []
            self.folded[partition] = self.log.end(partition)
            for record in self.log.read(partition, start, self.folded[partition]):
                self.driver.fold(record.space, partition, record.offset, raw_of(record), rows)
            for row in rows:
                self.rows[self._owner[type(row[3])]][partition].append(row)

    def make(self, *processors: str, stop: int | None = None, progressed: bool = True) -> None:
        """Has `processors` (all where none are named) tell what they derive of raw offsets below `stop`."""
        self.fold()
        messages: list[tuple[str, int, Output]] = []
        marks: dict[tuple[str, int], int] = {}
        for name in processors or tuple(self.rows):
            topic = self.topic(name)
            for partition, rows in self.rows[name].items():
                end = self.folded[partition] if stop is None else min(stop, self.folded[partition])
                of: dict[int, list[Any]] = {}
                for _, offset, _, event in rows:
                    if self._made[name][partition] <= offset < end:
                        of.setdefault(offset, []).append(event)
                for offset, events in of.items():
                    record = derived_record(events[0].space, offset, {name: events}, self.driver.lineages)
                    messages.append((topic, partition, record))
                if progressed and end:
                    marks[topic, partition] = end - 1
                self._made[name][partition] = max(end, self._made[name][partition])
        messages += [(topic, partition, progressed_record(last)) for (topic, partition), last in marks.items()]
        asyncio.run(self._send(messages))

    async def _send(self, messages: list[tuple[str, int, Output]]) -> None:
        async with started(AIOKafkaProducer(**self.log.connection.client(), **PRODUCER)) as producer:
            waiting = [
                await producer.send(topic, value, key=key, partition=partition, headers=headers)
                for topic, partition, (key, value, headers) in messages
            ]
            await asyncio.gather(*waiting)
