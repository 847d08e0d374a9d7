"""Erasure from a log on Kafka: what is erased is on no topic and in no byte of a home, turns are taken meanwhile and
none is lost, and a process that is killed at any step leaves the old log or the new one."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from threading import Event, Thread
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import NewTopic

from processors import PROCESSORS
from streams.core.events import ErasureRecorded, Outside, TurnRecorded, decode
from streams.gateways.cli import main
from streams.gateways.kafka import projected
from streams.logs.archive import ArchiveLog
from streams.logs.copies import receipts
from streams.logs.kafka import log as kafka_log
from streams.logs.kafka.connection import Connection, admin, run, started
from streams.logs.kafka.erasable import ErasableKafkaLog
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.moves import Moving, moving
from streams.logs.kafka.records import partition_of
from streams.logs.kafka.topics import READER, Names, bounds, read_notes
from streams.logs.log import Duplicate, Log, Refused, Stored
from streams.runtime.erasure.audit import Audit
from streams.runtime.erasure.copying import Copying
from streams.runtime.erasure.making import erasing
from streams.runtime.erasure.selection import Selection
from streams.runtime.home import Home
from streams.runtime.home.server import serve
from streams.runtime.replay import replay
from tests.kafka.crew import Crew
from tests.kafka.hands import Hands, folded
from tests.kafka.messages import Message, produce
from tests.processes import Program
from tests.test_erase import MANY, expected, found_in, mark, marked

Talk = Callable[[int], list[Outside]]


@pytest.fixture
def crew(connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """A log of two partitions, and workers that are started later; the environment names it."""
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    monkeypatch.setenv("MNEMOLOG_HOME", str(tmp_path / "home"))
    with Crew(connection, tmp_path) as made:
        yield made


def said(talk: Talk, count: int) -> list[Outside]:
    """Talk with words and ids that are nowhere else, in two spaces that lie in different partitions."""
    rng = random.Random(7)
    return [replace(e, space=space) for space in ("team-0", "team-3") for e in marked(talk(count), rng)]


def on_brokers(connection: Connection, needles: set[str]) -> set[str]:
    """The topics, of any log of this test, in which ids or words stand."""

    async def look() -> set[str]:
        found: set[str] = set()
        async with admin(connection) as client:
            mine = [t for t in await client.describe_topics() if t["topic"].startswith(f"{connection.prefix}.")]
        how = connection.client() | READER | {"isolation_level": "read_uncommitted"}
        async with started(AIOKafkaConsumer(**how)) as consumer:
            for topic in mine:
                places = [TopicPartition(topic["topic"], p) for p in range(len(topic["partitions"]))]
                ends = await consumer.end_offsets(places)
                consumer.assign(places)
                await consumer.seek_to_beginning()
                while any([await consumer.position(place) < end for place, end in ends.items()]):
                    for messages in (await consumer.getmany(timeout_ms=200)).values():
                        for m in messages:
                            bytes_ = b"\n".join([m.key or b"", m.value or b"", *(v for _, v in m.headers if v)])
                            if any(needle.encode() in bytes_ for needle in needles):
                                found.add(topic["topic"])
        return found

    return run(connection, look())


def ids_in(log: Log) -> set[str]:
    found = (decode(r.type, r.value) for p in range(log.partitions) for r in log.read(p, 0))
    return {event.id for event in found if not isinstance(event, ErasureRecorded)}


def needles(events: list[Outside], gone: set[str]) -> set[str]:
    """Words that only what goes said."""
    kept = b"\n".join(repr(event).encode() for event in events if event.id not in gone)
    return {word for id_ in gone for word in mark(id_).split() if word.encode() not in kept}


def chosen(events: list[Outside]) -> tuple[Selection, set[str]]:
    """What is erased: the turns of an agent, over all spaces."""
    turns = [event for event in events if isinstance(event, TurnRecorded)]
    return Selection(agent="agent1"), expected(events, {turn.id for turn in turns if turn.agent == "agent1"})


def is_erased(home: Home, events: list[Outside], gone: set[str]) -> None:
    """Whether nothing is left of what went, wherever it was."""
    log = home.log
    assert isinstance(log, ErasableKafkaLog)
    assert "." in log.connection.prefix
    assert {event.id for event in events} - ids_in(log) == gone
    assert len(receipts(log)) == 1
    assert log.strays() == []
    root = replace(log.connection, prefix=log.names.root)
    assert needles(events, gone)
    assert on_brokers(root, needles(events, gone)) == set()
    assert found_in(home.path, needles(events, gone)) == []
    assert [check for check in Audit(home).checks() if check.status == "failed"] == []


def test_what_is_erased_is_on_no_topic_while_turns_are_taken_and_none_is_lost(crew: Crew, talk: Talk) -> None:
    events = said(talk, 60)
    selection, gone = chosen(events)
    assert all(isinstance(one, Stored) for one in crew.log.append(events))
    crew.start(store="disk")
    crew.folded()
    home, other = Home(crew.folder / "home", PROCESSORS), Home(crew.folder / "other", PROCESSORS)
    other.ask("digest")
    assert on_brokers(crew.connection, needles(events, gone)), "it would be found"
    with (crew.folder / "projector.log").open("ab") as told:
        projector = Program("project", stderr=told, stdout=told)
    acknowledged: list[str] = []
    over = Event()

    def feed() -> None:
        while not over.is_set():
            turn = TurnRecorded("team-1", f"fed-{len(acknowledged)}", -1, "fed", "feeder", "user", "one more turn")
            (outcome,) = crew.log.append([turn])
            assert isinstance(outcome, (Stored, Duplicate)), outcome
            acknowledged.append(turn.id)

    feeder = Thread(target=feed)
    feeder.start()
    try:
        while not (home.folder.socket.exists() and len(acknowledged) > 5):
            assert projector.poll() is None
            time.sleep(LOOK)
        with erasing(home) as erase_from:
            assert erase_from(selection).carry_out() == []
        with closing(ErasableKafkaLog(crew.connection)) as log:
            assert log.strays() == [], "whoever else holds live, who erases leaves nothing of the old log"
        counted = len(acknowledged)
        while len(acknowledged) < counted + 5:
            assert feeder.is_alive()
            time.sleep(LOOK)
        over.set()
        feeder.join()
        assert set(acknowledged) <= ids_in(crew.log), "no acknowledged turn is lost"
        home.after = ",".join(f"{p}:{end - 1}" for p, end in crew.log.ends().items() if end)
        with closing(KafkaLog(crew.connection)) as log:
            assert home.ask("digest") == other.ask("digest") == folded(log, crew.folder)
        assert projector.poll() is None
        assert [worker.poll() for worker in crew.workers] == [None]
        turn = next(event for event in events if event.id in gone and isinstance(event, TurnRecorded))
        (outcome,) = crew.log.append([turn])
        assert isinstance(outcome, Refused)
        assert outcome.erased, "what is fed again does not come back"
    finally:
        over.set()
        projector.terminate()
        projector.wait(30)
    for worker in [*crew.workers]:
        crew.stop(worker)
    is_erased(home, events, gone)
    assert found_in(other.path, needles(events, gone)) == [], "another home of the log follows"
    home.close()
    other.close()


def test_archives_are_written_anew_without_what_is_erased_and_those_elsewhere_are_told(crew: Crew, talk: Talk) -> None:
    events = said(talk, 20)
    selection, gone = chosen(events)
    crew.log.append(events)
    archives = [crew.folder / name for name in ("here", "elsewhere")]
    for path in archives:
        with pytest.raises(SystemExit) as done:
            main(["archive", str(path)])
        assert done.value.code == 0
    archives[1].rename(moved := crew.folder / "moved")
    turns = {event.id for event in events if isinstance(event, TurnRecorded)}
    assert turns <= ids_in(ArchiveLog(archives[0]))
    home = Home(crew.folder / "home", PROCESSORS)
    with erasing(home) as erase_from:
        assert erase_from(selection).carry_out() == [f"{archives[1]} was a copy of the log, and is away"]
    is_erased(home, events, gone)
    assert ArchiveLog(archives[0]).id == home.log.id
    assert turns - ids_in(ArchiveLog(archives[0])) == turns & gone
    moved.rename(archives[1])
    copies = {check.found.partition(" ")[0]: check.status for check in Audit(home).checks() if check.check == "copy"}
    assert copies == {str(archives[0]): "well", str(archives[1]): "failed"}
    home.close()


def sharded(path: Path) -> Home:
    """A home in two shards, each with one partition."""
    for shard in ("1/2", "2/2"):
        projected(path, shard).mkdir(parents=True)
    return Home(path, PROCESSORS)


def projecting(crew: Crew, home: Home, front: bool) -> tuple[list[Program], list[Path]]:
    """The projectors of both shards, in front of them a server if wanted; and the sockets that they will open."""
    started = [(["project", "--shard", f"{n}/2"], home.path / f"shard-{n}of2" / "socket") for n in (1, 2)]
    started += [(["serve"], home.folder.socket)] if front else []
    with (crew.folder / "projecting.log").open("ab") as told:
        return [Program(*words, stderr=told, stdout=told) for words, _ in started], [socket for _, socket in started]


def in_its_shard(home: Home, log: KafkaLog) -> None:
    """Whether each shard holds its own spaces, and the home nothing beside what replays made."""
    assert home.shards
    assert not home.memory_path("live").exists()
    for n, shard in enumerate(home.shards.homes):
        spaces = {row["space"] for row in shard.ask("spaces")}
        assert spaces
        assert {partition_of(space, log.partitions) % 2 for space in spaces} == {n}


def test_of_a_home_in_shards_each_shard_forgets_while_its_projector_and_a_server_run(crew: Crew, talk: Talk) -> None:
    events = said(talk, 60)
    selection, gone = chosen(events)
    crew.log.append(events)
    Hands(crew.log, together=True).make()
    home = sharded(crew.folder / "home")
    replay(home, "again")
    home.ask("digest")
    held = found_in(home.path, needles(events, gone))
    places = {Path(where.split()[0]).relative_to(home.path).parts[0] for where, _ in held}
    assert places >= {"shard-1of2", "shard-2of2", "again.duckdb"}, "it would be found"
    programs, started = projecting(crew, home, front=True)
    try:
        while not all(socket.exists() for socket in started):
            assert [program.poll() for program in programs] == [None] * 3
            time.sleep(LOOK)
        with erasing(home) as erase_from:
            assert erase_from(selection).carry_out() == []
        with closing(KafkaLog(crew.connection)) as log:
            Hands(log, together=True).make()
            home.after = ",".join(f"{p}:{end - 1}" for p, end in log.ends().items() if end)
            assert home.ask("digest") == home.ask("digest", "again") == folded(log, crew.folder)
            in_its_shard(home, log)
        assert [program.poll() for program in programs] == [None] * 3
        is_erased(home, events, gone)
    finally:
        for program in programs:
            program.terminate()
            program.wait(60)
    is_erased(home, events, gone)
    home.close()


def keep_a_live(home: Home) -> None:
    """As a promotion does: what was live in each shard is kept as `live-1`."""
    assert home.shards
    for shard in home.shards.homes:
        copyfile(shard.memory_path("live"), shard.memory_path("live-1"))


def test_a_live_that_shards_kept_is_folded_anew_of_the_home(crew: Crew, talk: Talk) -> None:
    events = said(talk, 40)
    selection, gone = chosen(events)
    crew.log.append(events)
    Hands(crew.log, together=True).make()
    home = sharded(crew.folder / "home")
    home.ask("digest")
    keep_a_live(home)
    with erasing(home) as erase_from:
        assert erase_from(selection).carry_out() == []
    with closing(KafkaLog(crew.connection)) as log:
        assert home.ask("digest", "live-1") == folded(log, crew.folder)
    is_erased(home, events, gone)
    home.close()


@pytest.mark.parametrize("front", [True, False], ids=["served", "not-served"])
def test_a_home_in_shards_forgets_what_another_home_erased_while_its_projectors_run(
    crew: Crew, talk: Talk, front: bool
) -> None:
    """Each projector forgets what it made itself; whoever serves the home, or asks it next, what replays made there."""
    events = said(talk, 40)
    selection, gone = chosen(events)
    crew.log.append(events)
    Hands(crew.log, together=True).make()
    other = Home(crew.folder / "other", PROCESSORS)
    home = sharded(crew.folder / "home")
    assert home.shards
    home.ask("digest")
    replay(home, "again")
    keep_a_live(home)
    programs, started = projecting(crew, home, front)
    try:
        while not all(socket.exists() for socket in started):
            assert [program.poll() for program in programs] == [None] * len(programs)
            time.sleep(LOOK)
        with erasing(other) as erase_from:
            assert erase_from(selection).carry_out() == []
        with closing(KafkaLog(crew.connection)) as log:
            Hands(log, together=True).make()
            home.after = ",".join(f"{p}:{end - 1}" for p, end in log.ends().items() if end)
            for shard in home.shards.homes:
                while shard.memory_path("live-1").exists() or not shard.folder.memory("live").exists():
                    assert [program.poll() for program in programs] == [None] * len(programs)
                    time.sleep(LOOK)
            lives = [shard.memory_path("live").stat().st_ino for shard in home.shards.homes]
            while home.memory_path("again").exists():
                assert [program.poll() for program in programs] == [None] * len(programs)
                time.sleep(LOOK)
                if not front:
                    home.ask("spaces")
            assert [shard.memory_path("live").stat().st_ino for shard in home.shards.homes] == lives, "they are in use"
            assert home.ask("digest") == folded(log, crew.folder)
    finally:
        for program in programs:
            program.terminate()
            program.wait(60)
    home.log.follow()
    is_erased(home, events, gone)
    home.close()
    other.close()


def test_what_is_noted_of_a_move_is_read_by_whoever_looks_next(crew: Crew) -> None:
    """Where brokers are slow to end transactions in a partition; here another's, open before, holds it back."""
    place = TopicPartition(Names(crew.connection.prefix).control, 0)

    async def written() -> int:
        return (await bounds(crew.connection, place, "read_uncommitted"))[1]

    async def note() -> dict[str, str]:
        other = AIOKafkaProducer(**crew.connection.client(), transactional_id=f"{crew.connection.prefix}.other")
        async with started(other), moving(crew.connection) as mover:
            await other.begin_transaction()
            await other.send_and_wait(place.topic, b"", b"other", 0)
            end = await written()
            noting = asyncio.create_task(mover.note({(crew.connection.prefix, "said"): "so"}))
            while not noting.done() and await written() < end + 2:  # the note, and the end of its transaction
                pass
            if not noting.done():
                await other.abort_transaction()
            await noting
            return await read_notes(crew.connection)

    assert run(crew.connection, note())["said"] == "so"


# -- accidents ---------------------------------------------------------------------------------------------------------

STEPS: list[tuple[type, str, str]] = [
    (Moving, "order", "the copy's topics are made"),
    (Copying, "state", "live is folded from the copy"),
    (Moving, "seal", "the log takes nothing more"),
    (KafkaLog, "append", "the receipt stands in the copy"),
    (Moving, "move", "the log is moved"),
    (ErasableKafkaLog, "_renew", "the home is of the new log"),
    (Moving, "_delete", "the old topics are deleted"),
]
"""A method, and what is so when it returned: there the process is killed."""
LOOK = 0.02
"""Seconds between looks at what is waited for: who looks all the time takes a core from those it waits for."""
MOVED = 4
"""The step from which on the erasure stands."""
FEW = (0, 3, 4, 6)
"""Tried always; `make accidents` tries all."""
FEW_IN_SHARDS = (3, 4)
"""Of a home in shards: the last step of which the old log is left, and the first of which the new one is. What shards
add is that each home of them follows; of the others they would do again what is tried without them."""
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.kafka.test_erase_kafka"])


def dying(step: int, environment: dict[str, str]) -> None:
    """Has this process be killed at a step."""
    os.environ.update(environment)
    owner, name, _ = STEPS[step]
    method: Any = getattr(owner, name)

    def die(*given: Any, **more: Any) -> Any:
        method(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    async def die_async(*given: Any) -> Any:
        await method(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, die_async if asyncio.iscoroutinefunction(method) else die)


def erase_until(path: Path, selection: Selection, step: int, environment: dict[str, str]) -> None:
    """Erases, and is killed at a step."""
    dying(step, environment)
    with erasing(Home(path, PROCESSORS)) as erase_from:
        erase_from(selection).carry_out()


def serve_until(path: Path, step: int, environment: dict[str, str]) -> None:
    """Holds a home's live, and is killed at a step of what it is asked to do."""
    dying(step, environment)
    serve(Home(path, PROCESSORS), lambda: False)


def begun(target: Callable[..., None], *given: object) -> multiprocessing.process.BaseProcess:
    environment = {key: said for key, said in os.environ.items() if key.startswith("MNEMOLOG_")}
    process = PROCESSES.Process(target=target, args=(*given, environment), daemon=True)
    process.start()
    return process


async def made(topic: str) -> None:
    async with admin(Connection(os.environ["MNEMOLOG_KAFKA"])) as client:
        await client.create_topics([NewTopic(topic, 1, 1)])


def test_a_holder_of_live_that_dies_when_the_log_is_moved_leaves_an_erasure(crew: Crew, talk: Talk) -> None:
    events = said(talk, 40)
    selection, gone = chosen(events)
    crew.log.append(events)
    Hands(crew.log, together=True).make()
    home = Home(crew.folder / "home", PROCESSORS)
    server = begun(serve_until, home.path, MOVED)
    while not home.folder.socket.exists():
        assert server.is_alive()
        time.sleep(LOOK)
    with erasing(home) as erase_from:
        assert erase_from(selection).carry_out() == []
    server.join(60)
    assert server.exitcode == -signal.SIGKILL
    is_erased(home, events, gone)
    alone = needles(events, gone)
    said_by = [event for event in events if isinstance(event, TurnRecorded) and event.agent == "agent1"]
    turn = next(event for event in said_by if alone.issuperset(mark(event.id).split()))
    crew.log.follow()
    produce(crew.log.connection, [Message(b"team-0", turn.content.encode())])
    run(crew.connection, made(crew.names.turns))
    failed = {check.check for check in Audit(home).checks() if check.status == "failed"}
    assert failed == {"topics", "old topics"}, "an audit finds what was put back"
    home.close()


def after_a_kill(crew: Crew, home: Home, selection: Selection, step: int, events: list[Outside]) -> Home:
    """A home, opened again, whose erasure was killed at a step; one more turn was said since, and all is folded."""
    home.close()
    process = begun(erase_until, home.path, selection, step)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    late = TurnRecorded("team-1", "late", -1, "late", "feeder", "user", "one more turn")
    assert isinstance(crew.log.append([late])[0], Stored), "turns are taken, whatever died"
    events.append(late)
    folded_on(crew, home)
    return Home(home.path, PROCESSORS)


def erased(crew: Crew, home: Home, selection: Selection) -> None:
    """Erases to the end, and folds on."""
    with erasing(home) as erase_from:
        assert erase_from(selection).carry_out() == []
    folded_on(crew, home)


def folded_on(crew: Crew, home: Home) -> None:
    """Folds what is on the log into a home's memories."""
    with closing(KafkaLog(crew.connection, home.path)) as log:
        Hands(log, together=True).make()


@pytest.mark.parametrize("step", range(len(STEPS)) if MANY else FEW, ids=lambda step: STEPS[step][2].replace(" ", "-"))
def test_a_process_that_is_killed_leaves_the_old_log_or_the_new_one(
    crew: Crew, talk: Talk, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_log, "HALTED", 0.5)
    events = said(talk, 40)
    selection, gone = chosen(events)
    crew.log.append(events)
    Hands(crew.log, together=True).make()
    home = Home(crew.folder / "home", PROCESSORS)
    before = home.ask("digest")
    home = after_a_kill(crew, home, selection, step, events)
    if step < MOVED:
        assert receipts(home.log) == []
        assert home.ask("digest") != before, "it goes on"
        assert ids_in(crew.log) == {event.id for event in events}
        erased(crew, home, selection)
    with closing(KafkaLog(crew.connection)) as log:
        assert home.ask("digest") == folded(log, crew.folder)
    is_erased(home, events, gone)
    home.close()


@pytest.mark.parametrize(
    "step", range(len(STEPS)) if MANY else FEW_IN_SHARDS, ids=lambda step: STEPS[step][2].replace(" ", "-")
)
def test_in_a_home_in_shards_a_process_that_is_killed_leaves_the_old_log_or_the_new_one(
    crew: Crew, talk: Talk, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_log, "HALTED", 0.5)
    events = said(talk, 40)
    selection, gone = chosen(events)
    crew.log.append(events)
    Hands(crew.log, together=True).make()
    home = sharded(crew.folder / "home")
    replay(home, "again")
    before = home.ask("digest")
    home = after_a_kill(crew, home, selection, step, events)
    if step < MOVED:
        assert receipts(home.log) == []
        assert home.ask("digest") != home.ask("digest", "again") == before, "it goes on"
        erased(crew, home, selection)
    with closing(KafkaLog(crew.connection)) as log:
        assert home.ask("digest") == folded(log, crew.folder)
        in_its_shard(home, log)
    is_erased(home, events, gone)
    home.close()
