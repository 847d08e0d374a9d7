"""What workers would make of a log on Kafka, made by hand: each stream as far as a test wants it, and as often."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer

from processors import PROCESSORS
from streams.core.driver import Placed, Position, Tree, root_event, root_schema
from streams.core.events import Outside, decode, encode
from streams.core.params import Params
from streams.core.processor import ROOT, lineages
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import derived_headers, progressed_headers
from streams.logs.kafka.topics import PRODUCER
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home

_ALL = lineages(PROCESSORS, {p.name: p.params() for p in PROCESSORS}, root_schema())
LINEAGES = {name: lineage for name, lineage in _ALL.items() if name != ROOT}
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

    def __init__(self, log: KafkaLog, params: dict[str, Params] | None = None) -> None:
        self.log = log
        self.tree = Tree(PROCESSORS, params or {p.name: p.params() for p in PROCESSORS})
        self.rows: Rows = {p.name: {n: [] for n in range(log.partitions)} for p in PROCESSORS}
        self.folded = [0] * log.partitions
        self._made = {p.name: [0] * log.partitions for p in PROCESSORS}
        self._owner = {cls: p.name for p in PROCESSORS for cls in p.emits}

    def fold(self) -> None:
        """Folds to the log's end, into memory."""
        for partition, start in enumerate(self.folded):
            rows: list[Placed] = []
            self.folded[partition] = self.log.end(partition)
            for record in self.log.read(partition, start, self.folded[partition]):
                self.tree.fold(record.space, partition, record.offset, root_event(record), rows)
            for row in rows:
                self.rows[self._owner[type(row[3])]][partition].append(row)

    def make(self, *processors: str, stop: int | None = None, progressed: bool = True, again: int = 0) -> None:
        """Has `processors` (all where none are named) tell what they derive of raw offsets below `stop`.

        `again`: of the rows told before, so many are told once more, as after a crash.
        """
        self.fold()
        messages: list[tuple[str, int, bytes, bytes, Any]] = []
        for name in processors or tuple(self.rows):
            topic = self.log.names.stream(name, self.tree.lineages[name])
            for partition, rows in self.rows[name].items():
                end = self.folded[partition] if stop is None else min(stop, self.folded[partition])
                told = sum(row[1] < self._made[name][partition] for row in rows)
                for row in rows[max(0, told - again) :]:
                    if row[1] < end:
                        headers = derived_headers(row[3], Position(*row[:3]))
                        messages.append((topic, partition, row[3].space.encode(), encode(row[3]), headers))
                if progressed and end:
                    messages.append((topic, partition, b"", b"", progressed_headers(partition, end - 1)))
                self._made[name][partition] = max(end, self._made[name][partition])
        asyncio.run(self._send(messages))

    async def _send(self, messages: list[tuple[str, int, bytes, bytes, Any]]) -> None:
        producer = AIOKafkaProducer(**self.log.connection.client(), **PRODUCER)
        await producer.start()
        try:
            waiting = [
                await producer.send(topic, value, key=key, partition=partition, headers=headers)
                for topic, partition, key, value, headers in messages
            ]
            await asyncio.gather(*waiting)
        finally:
            await producer.stop()
