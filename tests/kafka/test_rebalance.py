"""What a worker does while its group gives it partitions and takes them, seen from inside its process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from processors import PROCESSORS
from streams.core.processor import ROOT
from streams.logs.kafka.connection import Connection
from streams.runtime.kafka.service import jobs_of
from streams.runtime.kafka.worker import Worker
from tests.kafka.crew import PATIENCE, Crew, differences
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


async def gives_up(worker: Worker) -> None:
    """The group takes the partitions, and has not given them anew."""
    await worker.settle()


async def recovers_late(worker: Worker) -> None:
    """As before, and then a recovery ends that began when they were given."""
    generation = worker.generation
    assert generation is not None
    await worker.settle()
    await worker.app.tables.recovery.on_recovery_completed(generation)  # type: ignore[attr-defined]


async def recovers_for_others(worker: Worker) -> None:
    """The group has given partitions anew, and then what a recovery of before had begun ends."""
    assert worker.generation is not None
    await worker.settle()
    worker.given(worker.app.consumer_generation_id + 1)
    await worker.table.on_recovery_completed(set(worker.consumer.assignment()), set())


@pytest.mark.parametrize("scene", [gives_up, recovers_late, recovers_for_others])
def test_nothing_is_folded_from_giving_up_partitions_until_they_are_recovered_anew(
    crew: Crew, scene: Callable[[Worker], Awaitable[None]]
) -> None:
    async def play() -> None:
        async with working(crew) as worker:
            await scene(worker)
            before = await written(crew, worker)
            await asyncio.to_thread(crew.log.append, talk(120, first=10))
            await asyncio.sleep(GRACE)
            assert await written(crew, worker) == before
            second = crew.start("manifest")  # the group gives both of them partitions
            found = await asyncio.to_thread(crew.folded, "manifest")
            assert not differences(found, crew.expected())
            assert worker.positions(), "it has partitions again"
            await asyncio.to_thread(crew.stop, second)

    asyncio.run(play())


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
