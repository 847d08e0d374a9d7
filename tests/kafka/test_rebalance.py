"""What a worker does while its group gives it partitions and takes them, seen from inside its process."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
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
from streams.runtime.kafka.part import Folded, Part
from streams.runtime.kafka.service import prepared
from streams.runtime.kafka.session import Producer, Session
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


class Slow(Session):
    """A session that can be stopped at the moments at which a process may stand still or its bytes be held."""

    def __init__(self, crew: Crew, meters: Meters) -> None:
        job = prepared(crew.connection, PROCESSORS, ())
        parts = [Part(job, p, Kept(None), crew.connection, meters) for p in range(crew.partitions)]
        super().__init__(job, parts, crew.connection, meters, never, wall_clock)
        self.errors: list[BaseException] = []
        self.stops: dict[str, asyncio.Event] = {}
        self.reached: set[str] = set()
        for part in parts:
            part.end = partial(crew.log.end, part.partition)

    async def _moment(self, name: str) -> None:
        self.reached.add(name)
        if name in self.stops:
            await self.stops[name].wait()

    async def _write(self, producer: Producer, folded: Mapping[Part, Folded]) -> None:
        await self._moment("before a transaction")
        commit = producer.commit_transaction

        async def slow() -> None:
            await self._moment("before its commit")
            await commit()

        producer.commit_transaction = slow  # type: ignore[method-assign]
        await super()._write(producer, folded)

    async def _fence(self, writers: set[str]) -> None:
        await self._moment("before fencing")
        await super()._fence(writers)

    async def reach(self, ends: dict[int, int]) -> None:
        """Begins, or goes on, until all of the log is folded."""
        if self._task is None:
            self.start(self.errors.append)
        async with asyncio.timeout(PATIENCE):
            while self.marks() != ends:
                assert self.errors == []
                await asyncio.sleep(0.05)

    def marks(self) -> dict[int, int]:
        """What is folded next in each partition whose state is restored."""
        return {p: part.kept.mark for p, part in self.parts.items() if part.running}


async def never(partition: int, ticks: object) -> None:
    """Nothing is live here."""
    raise AssertionError


async def until(done: Callable[[], bool]) -> None:
    """Waits until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not done():
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("moment", ["before a transaction", "before its commit"])
def test_who_wakes_after_another_took_the_partition_can_write_nothing(
    crew: Crew, moment: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        meters = Fenced()
        old, new = await asyncio.to_thread(lambda: (Slow(crew, meters), Slow(crew, meters)))
        await asyncio.to_thread(crew.log.append, talk(60))
        await old.reach(crew.log.ends())
        old.stops[moment] = asyncio.Event()
        old.reached.clear()
        await asyncio.to_thread(crew.log.append, talk(300, first=10))
        await until(lambda: moment in old.reached)
        await new.reach(crew.log.ends())
        before = await written(crew)
        old.stops.pop(moment).set()
        await until(lambda: meters.count == 1)
        assert await written(crew) == before
        assert old.errors == new.errors == []
        await old.stop(0.1)
        await new.stop(0.1)
        assert not differences(await asyncio.to_thread(crew.folded), await asyncio.to_thread(crew.expected))

    asyncio.run(play())
    gc.collect()
    assert [record.name for record in caplog.records if record.name == "asyncio"] == [], "all failures are heard of"


def test_what_another_wrote_between_a_claim_and_its_fencing_is_gone_on_from(crew: Crew) -> None:
    async def play() -> None:
        meters = Fenced()
        old, new = await asyncio.to_thread(lambda: (Slow(crew, meters), Slow(crew, meters)))
        await asyncio.to_thread(crew.log.append, talk(60))
        await old.reach(crew.log.ends())
        new.stops["before fencing"] = asyncio.Event()
        new.start(new.errors.append)
        await until(lambda: "before fencing" in new.reached)
        await asyncio.to_thread(crew.log.append, talk(300, first=10))
        await old.reach(crew.log.ends())
        new.stops.pop("before fencing").set()
        await new.reach(crew.log.ends())
        await asyncio.to_thread(crew.log.append, talk(320, first=310))
        await new.reach(crew.log.ends())
        await old.stop(0.1)
        await new.stop(0.1)
        assert not differences(await asyncio.to_thread(crew.folded), await asyncio.to_thread(crew.expected))

    asyncio.run(play())


def test_of_two_that_claim_at_once_one_folds_and_a_claim_that_ended_is_struck_out(crew: Crew) -> None:
    async def play() -> None:
        meters = Fenced()
        rivals = await asyncio.to_thread(lambda: [Slow(crew, meters) for _ in range(2)])
        await asyncio.to_thread(crew.log.append, talk(400))
        for rival in rivals:
            rival.start(rival.errors.append)
        ends = crew.log.ends()
        await until(lambda: meters.count > 0 and any(one.marks() == ends for one in rivals))
        for rival in rivals:
            await rival.stop(5.0)
            assert rival.errors == []
        last = await asyncio.to_thread(Slow, crew, meters)
        await last.reach(crew.log.ends())
        assert last._fenced == set()
        await last.stop(5.0)
        assert not differences(await asyncio.to_thread(crew.folded), await asyncio.to_thread(crew.expected))

    asyncio.run(play())
