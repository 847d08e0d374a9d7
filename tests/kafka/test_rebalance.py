"""What a worker does while its group gives it partitions and takes them, seen from inside its process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from processors import PROCESSORS
from streams.logs.kafka.connection import Connection, started
from streams.logs.kafka.topics import bounds
from streams.logs.sqlite import wall_clock
from streams.runtime.kafka.metrics import Meters, Reason
from streams.runtime.kafka.part import Part
from streams.runtime.kafka.service import prepared
from streams.runtime.kafka.state import Kept
from streams.runtime.kafka.worker import Worker
from tests.kafka.crew import PATIENCE, Crew, differences
from tests.kafka.test_worker import talk


@pytest.fixture
def crew(connection: Connection, tmp_path: Path) -> Iterator[Crew]:
    """A log of two partitions that nobody folds yet."""
    with Crew(connection, tmp_path) as made:
        yield made


@asynccontextmanager
async def working(crew: Crew) -> AsyncIterator[Worker]:
    """A worker in this process."""
    job = await asyncio.to_thread(prepared, crew.connection, PROCESSORS, ())
    worker = Worker(job, PROCESSORS, crew.connection, crew.folder, "memory")
    await worker.start()
    try:
        yield worker
        assert not worker.failed.done(), worker.failed.result()
    finally:
        await worker.stop()


async def caught_up(crew: Crew, worker: Worker) -> None:
    """Waits until a worker that has all partitions has folded all of the log."""
    ends = {p: crew.log.end(p) for p in range(crew.partitions)}
    async with asyncio.timeout(PATIENCE):
        while {p: part.kept.mark for p, part in worker.parts.items() if part.running} != ends:
            await asyncio.sleep(0.05)


async def written(crew: Crew) -> list[int]:
    """The ends of what workers write, once all that they committed is seen: the broker says so a moment before."""
    topics = crew.names.derived(crew.set), crew.names.state(crew.set)
    places = [TopicPartition(topic, partition) for topic in topics for partition in range(crew.partitions)]
    async with asyncio.timeout(PATIENCE):
        while True:
            seen = [(await bounds(crew.connection, place))[1] for place in places]
            async with started(AIOKafkaConsumer(**crew.connection.client())) as consumer:
                ends = await consumer.end_offsets(places)
            if seen == [ends[place] for place in places]:
                return seen
            await asyncio.sleep(0.05)


def test_nothing_is_folded_from_giving_up_partitions_until_they_are_given_anew(crew: Crew) -> None:
    async def play() -> None:
        async with working(crew) as worker:
            await asyncio.to_thread(crew.log.append, talk(60))
            await caught_up(crew, worker)
            given = set(worker.app.consumer.assignment())
            await worker._on_revoked(worker.app, given)
            before = await written(crew)
            await asyncio.to_thread(crew.log.append, talk(120, first=10))
            await asyncio.sleep(1.0)  # ten times what a fold takes
            assert await written(crew) == before
            await worker._on_assigned(worker.app, given)
            await caught_up(crew, worker)
            found = await asyncio.to_thread(crew.folded)
            assert not differences(found, await asyncio.to_thread(crew.expected))

    asyncio.run(play())


def test_what_is_lost_on_the_way_is_read_again(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    take, lost = Part.take, []

    def losing(part: Part, fetched: Sequence[Any]) -> None:
        """Every other fetch does not arrive; of one in five the first half does not."""
        lost.append(len(fetched))
        if len(lost) % 2:
            take(part, fetched if len(lost) % 5 else fetched[len(fetched) // 2 :])

    monkeypatch.setattr(Part, "take", losing)

    async def play() -> None:
        async with working(crew) as worker:
            events = talk(600)
            for start in range(0, len(events), 60):
                await asyncio.to_thread(crew.log.append, events[start : start + 60])
                await asyncio.sleep(0.1)
            await caught_up(crew, worker)
            found = await asyncio.to_thread(crew.folded)
            assert not differences(found, await asyncio.to_thread(crew.expected))
            assert len(lost) > 4

    asyncio.run(play())


class Fenced(Meters):
    """Counts the runs that were given up."""

    count = 0

    def gave_up(self, part: str, why: Reason) -> None:
        self.count += why == "fenced"


def test_who_wakes_after_another_took_the_partition_can_write_nothing(crew: Crew) -> None:
    job = prepared(crew.connection, PROCESSORS, ())
    meters = Fenced()

    def part(partition: int) -> Part:
        found = Part(job, partition, Kept(None), crew.connection, meters, never, wall_clock)
        found.end = lambda: crew.log.end(partition)
        return found

    async def never(partition: int, ticks: object) -> None:
        raise AssertionError("nothing is live here")

    async def reach_end(parts: list[Part]) -> None:
        async with asyncio.timeout(PATIENCE):
            while any(part.kept.mark < crew.log.end(part.partition) for part in parts):
                await asyncio.sleep(0.05)

    async def play() -> None:
        await asyncio.to_thread(crew.log.append, talk(60))
        frozen, awake = ([part(p) for p in range(crew.partitions)] for _ in range(2))
        errors: list[BaseException] = []
        for one in frozen:
            one.start(errors.append)
        await reach_end(frozen)
        for one in frozen:
            one.end = lambda: 0  # it hears of nothing more
        for one in awake:
            one.start(errors.append)
        await reach_end(awake)
        await asyncio.to_thread(crew.log.append, talk(300, first=10))
        await reach_end(awake)
        before = await written(crew)
        for one in frozen:
            one.end = partial(crew.log.end, one.partition)
        async with asyncio.timeout(PATIENCE):
            while meters.count < crew.partitions:
                await asyncio.sleep(0.05)
        assert await written(crew) == before
        assert errors == []
        for one in (*frozen, *awake):
            await one.stop(0.1)
        assert not differences(await asyncio.to_thread(crew.folded), await asyncio.to_thread(crew.expected))

    asyncio.run(play())
