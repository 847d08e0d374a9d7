"""Workers on a real broker: what they make of a log is what the embedded fold makes, whatever happens to them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import RecordsToDelete
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import MessageSizeTooLargeError

from streams.core.events import (
    SECOND,
    ClockTicked,
    NoteTaken,
    Outside,
    TurnRecorded,
    decode,
    encode,
)
from streams.logs.kafka.connection import Connection, admin, run, started
from streams.logs.kafka.copy import copied_to
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import headers_of, partition_of
from streams.logs.kafka.topics import MAX_RECORD_BYTES, PRODUCER, listing, log_specs, make
from streams.logs.sqlite import wall_clock
from tests import processes
from tests.kafka.crew import PATIENCE, Crew, differences
from tests.laws.histories import outside, wide


@pytest.fixture
def crew(connection: Connection, tmp_path: Path) -> Iterator[Crew]:
    """A log of two partitions that nobody folds yet."""
    with Crew(connection, tmp_path) as made:
        yield made


def talk(turns: int, spaces: int = 6, first: int = 0) -> list[Outside]:
    """A busy space in which every processor has something to do, in several spaces at once."""
    said = outside(wide(turns // spaces, sessions=3, backlog=10))
    return [replace(event, space=f"space-{n}") for event in said[first:] for n in range(spaces)]


def lagging(crew: Crew) -> int:
    """Records that the group of all processors has not committed."""
    return sum(sum(lag.lag.values()) for lag in listing(crew.connection)[1] if lag.group == crew.names.group(crew.set))


def until(done: Callable[[], bool], why: str = "it takes too long") -> None:
    """Waits until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, why
        time.sleep(0.2)


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_workers_make_what_the_embedded_fold_makes_and_go_on_where_they_stopped(crew: Crew, store: str) -> None:
    crew.log.append(talk(600))
    first = crew.start(store=store)
    assert not differences(crew.folded(), crew.expected())
    code, seconds = crew.stop(first)
    assert code == 0
    assert seconds < 10
    assert lagging(crew) == 0, "what was folded is committed when a worker stops"
    crew.log.append(talk(900, spaces=2, first=100))
    crew.start(store=store)
    found = crew.folded()
    assert not differences(found, crew.expected())
    assert all(found.values()), "every processor has something to do in this talk"


def test_one_worker_takes_over_from_another_and_processors_may_run_apart(crew: Crew) -> None:
    crew.log.append(talk(300))
    one, two = crew.start(), crew.start()
    crew.folded()
    until(lambda: members(crew.connection, crew.names.group(crew.set)) == [1, 1], "two workers share two partitions")
    crew.kill(one)
    apart = crew.start("manifest", "ttl_escalations")
    crew.log.append(talk(400, first=50))
    assert not differences(crew.folded(), crew.expected())
    assert len(crew.sets("manifest")) == 2
    assert two.poll() is apart.poll() is None


def members(connection: Connection, group: str) -> list[int]:
    """How many partitions of its input each member of a group has."""

    async def describe() -> list[int]:
        async with admin(connection) as client:
            (answer,) = await client.describe_consumer_groups([group])
        return [assigned(member[4]) for member in answer.groups[0][5]]

    return sorted(run(connection, describe()))


def assigned(said: bytes) -> int:
    """How many partitions an assignment gives."""
    if not said:
        return 0  # the group is sharing out just now
    found = ConsumerProtocolMemberAssignment.decode(said)
    return sum(len(partitions) for _, partitions in found.assignment)


@pytest.mark.parametrize("store", ["memory", "disk"])
def test_workers_that_are_killed_again_and_again_lose_nothing_and_double_nothing(crew: Crew, store: str) -> None:
    events = talk(2000, spaces=10)
    for kill in range(2):
        worker = crew.start(store=store)
        crew.log.append(events[kill * 700 : (kill + 1) * 700])
        until(lambda n=kill: crew.told().count('"folding"') > n, crew.told())
        time.sleep(0.2 * kill)
        crew.kill(worker)
    crew.log.append(events[1400:])
    crew.start(store=store)
    assert not differences(crew.folded(), crew.expected())


def test_one_broken_record_in_fifty_is_set_aside_with_its_bytes_and_the_others_flow(crew: Crew) -> None:
    good = [event for event in talk(1000) if isinstance(event, TurnRecorded)]
    records: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]] = []
    for n, event in enumerate(good):
        place = partition_of(event.space, 2)
        records.append((place, event.space.encode(), encode(event), headers_of(event)))
        if n % 50 == 0:
            records.append(broken(n // 50 % 7, event, place))
    crew.send(records)
    crew.start()
    assert not differences(crew.folded(), crew.expected())
    bad = [record for n, record in enumerate(records) if n and record[2] not in {encode(e) for e in good}]
    many = len(range(0, len(good), 50))
    letters = crew.letters(many)
    assert len(letters) == many >= 8
    assert {letter.value for letter in letters} == {record[2] or b"" for record in bad}
    for letter in letters:
        said = dict(letter.headers)
        assert said["topic"].decode() == crew.names.turns
        assert letter.key == b"%s:%s" % (said["partition"], said["offset"])
        assert len(said["reason"]) > 8


def test_the_largest_record_that_brokers_take_stops_no_worker(crew: Crew) -> None:
    async def largest() -> None:
        how = PRODUCER | {"max_request_size": 2 * MAX_RECORD_BYTES}
        async with started(AIOKafkaProducer(**crew.connection.client(), **how)) as producer:
            for size in range(MAX_RECORD_BYTES - 60, 0, -10):
                with suppress(MessageSizeTooLargeError):
                    await producer.send_and_wait(crew.names.turns, os.urandom(size), b"space-0", 0)
                    return

    run(crew.connection, largest())
    crew.log.append(talk(60))
    crew.start()
    assert not differences(crew.folded(), crew.expected())
    (letter,) = crew.letters(1)
    assert b"stay in the log" in (dict(letter.headers)["reason"] or b"")


@pytest.mark.parametrize("turns", [20, 40], ids=["shorter", "longer"])
def test_a_log_whose_topic_was_made_anew_is_not_folded_on(crew: Crew, turns: int) -> None:
    crew.log.append([replace(event, space="space-0") for event in talk(180)][:30])
    worker = crew.start()
    crew.folded()
    crew.stop(worker)

    async def made_anew() -> None:
        (spec,) = [spec for spec in log_specs(crew.names, crew.partitions) if spec.name == crew.names.turns]
        async with admin(crew.connection) as client:
            await client.delete_topics([spec.name])
            while not await make(client, [spec], 1):
                await asyncio.sleep(0.1)

    run(crew.connection, made_anew())
    others = [replace(event, space="space-0", id=f"other-{n}") for n, event in enumerate(talk(360)[:turns])]
    with closing(KafkaLog(crew.connection)) as log:
        log.append(others)
    worker = crew.start()
    assert worker.wait(PATIENCE) != 0
    assert f"{crew.names.turns} is not the log that was folded" in crew.told()
    other = replace(crew.connection, prefix=f"{crew.connection.prefix}-b")
    assert copied_to(other, crew.connection.prefix, None, 1, lambda *_: None).stored == turns
    crew.workers.remove(worker)


def broken(
    kind: int, event: TurnRecorded, place: int
) -> tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]:
    """A record in which something is wrong, each in another way."""
    key, headers = event.space.encode(), headers_of(replace(event, id=f"{event.id}-{kind}"))
    match kind:
        case 0:
            return place, key, b"%d is no JSON{" % kind, headers
        case 1:
            return place, key, b'{"content":5,"role":"user","session":"s"}', headers
        case 2:
            return place, key, encode(event) + b" ", []
        case 3:
            return place, key, None, headers
        case 4:
            other = [(name, b"turn-forgotten.v9" if name == "ce_type" else value) for name, value in headers]
            return place, key, encode(replace(event, id="x")), other
        case 5:
            return 1 - place, key, encode(replace(event, id=f"{event.id}-5")), headers
    return place, key, encode(replace(event, content="something else")), headers_of(event)


def test_what_is_fed_twice_is_folded_once(crew: Crew) -> None:
    events = talk(60)
    twice = [(partition_of(e.space, 2), e.space.encode(), encode(e), headers_of(e)) for e in events]
    crew.send(twice + twice)
    crew.start()
    found = crew.folded("manifest", "ttl_escalations")
    assert not differences(found, crew.expected())
    assert sum(b"turn-filed" in value for value in found["manifest"].values()) == sum(
        isinstance(event, TurnRecorded) for event in events
    )


def test_a_deadline_that_passes_in_an_idle_space_is_told_by_an_event_in_the_log(crew: Crew) -> None:
    crew.start("manifest", "ttl_escalations")
    now = wall_clock()
    crew.log.append(
        [
            TurnRecorded("live", "t1", now, "s", "ann", "user", "Let us look at the checkout page."),
            NoteTaken("live", "n1", now, "note-1", "call Marta about the checkout page", "s", 2, 0.8),
            TurnRecorded("import", "t1", now - 3600 * SECOND, "s", "ann", "user", "We looked at the checkout page."),
            NoteTaken("import", "n1", now, "note-1", "call Marta about the checkout page", "s", 2, 0.8),
        ]
    )

    def ticks() -> list[Any]:
        found = [decode(r.type, r.value) for p in range(2) for r in crew.log.read(p, 0)]
        return [event for event in found if isinstance(event, ClockTicked)]

    until(lambda: bool(ticks()), crew.told())
    found = crew.folded("manifest", "ttl_escalations")
    assert {tick.space for tick in ticks()} == {"live"}
    assert ticks()[0].at == now + 2 * SECOND
    assert any(b"note-escalated" in value for value in found["ttl_escalations"].values())
    assert not differences(found, crew.expected())


def test_a_log_that_was_cut_off_under_a_group_stops_its_workers_with_what_to_do(crew: Crew) -> None:
    crew.log.append(talk(120))
    worker = crew.start("manifest")
    crew.folded("manifest")
    crew.stop(worker)
    crew.log.append(talk(240, first=20))

    async def truncate() -> None:
        async with admin(crew.connection) as client:
            ends = {TopicPartition(crew.names.turns, p): RecordsToDelete(crew.log.end(p) - 1) for p in range(2)}
            await client.delete_records(ends)

    run(crew.connection, truncate())
    late = crew.start("manifest")
    assert late.wait(PATIENCE) == 1
    crew.workers.remove(late)
    assert "is needed" in crew.told()
    assert "retention" in crew.told()
    assert "Traceback" not in crew.told()


def test_a_worker_of_an_unknown_processor_or_without_topics_says_what_to_do(
    connection: Connection, tmp_path: Path
) -> None:
    with Crew(connection, tmp_path) as crew:
        worker = crew.start("manifesto")
        assert worker.wait(PATIENCE) == 2
        assert "there is no processor manifesto" in crew.told()
    nowhere = processes.run(
        "worker",
        env={"MNEMOLOG_KAFKA": connection.servers, "MNEMOLOG_KAFKA_PREFIX": "nothing-here"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert nowhere.returncode == 1
    assert "topics create" in nowhere.stderr
