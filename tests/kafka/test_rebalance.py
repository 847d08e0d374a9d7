"""What a worker does while its group gives it partitions and takes them, seen from inside its process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from processors import PROCESSORS
from streams.kafka.connection import Connection
from streams.kafka.service import jobs_of
from streams.kafka.worker import Worker
from streams.processor import ROOT
from tests.kafka.crew import PATIENCE, Crew
from tests.kafka.test_worker import talk

GRACE = 1.0
"""Seconds in which a worker would have folded what it may not: ten times what it takes."""


@pytest.fixture
def crew(connection: Connection, tmp_path: Path) -> Iterator[Crew]:
    """A log of two partitions that nobody folds yet."""
    with Crew(connection, tmp_path) as made:
        yield made


@asynccontextmanager
async def working(crew: Crew) -> AsyncIterator[Worker]:
    """A worker of the first processor in this process, once it has folded a talk."""
    params = {p.name: p.params() for p in PROCESSORS}
    jobs = jobs_of(PROCESSORS, params, {ROOT: ROOT, **crew.lineages}, crew.names, crew.partitions)
    worker = Worker(jobs["manifest"], crew.connection, crew.folder / "inside", "memory")
    await worker.start()
    try:
        await asyncio.to_thread(crew.log.append, talk(60))
        ends = {p: crew.log.end(p) for p in range(crew.partitions)}
        async with asyncio.timeout(PATIENCE):
            while worker.positions() != ends:
                await asyncio.sleep(0.05)
        yield worker
        assert not worker.failed.done(), worker.failed.result()
    finally:
        await worker.stop()


async def written(crew: Crew, worker: Worker) -> dict[TopicPartition, int]:
    """The ends of what a worker writes: its stream and its state."""
    consumer = AIOKafkaConsumer(**crew.connection.client())
    await consumer.start()
    try:
        places = [TopicPartition(topic, p) for topic in (worker.stream, worker.state) for p in range(crew.partitions)]
        return dict(await consumer.end_offsets(places))
    finally:
        await consumer.stop()


def test_a_fetch_for_no_partitions_brings_none_and_state_only_while_it_is_recovered(crew: Crew) -> None:
    async def play() -> None:
        async with working(crew) as worker:
            state = [TopicPartition(worker.state, p) for p in range(crew.partitions)]
            ends = await written(crew, worker)
            read = {tp: await worker.consumer.position(tp) for tp in state}
            assert any((read[tp] or 0) < ends[tp] for tp in state), "there is state that could be read by mistake"
            await asyncio.sleep(GRACE)  # the client under it has fetched that ahead by now
            assert await worker.consumer._getmany(set(), 0.1) == {}
            assert await worker.consumer._getmany(set(state), 0.1) == {}

    asyncio.run(play())
