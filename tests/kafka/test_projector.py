"""The projector: what workers derived, in whatever order it comes, becomes the memory that a fold of the log makes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.records_to_delete import RecordsToDelete

from processors import NAMES, PROCESSORS
from projections.stored import digest
from streams.core.errors import BehindError, LogError, UsageError
from streams.core.events import Outside
from streams.gateways.cli import main
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.erasable import ErasableKafkaLog
from streams.logs.kafka.topics import create
from streams.runtime.home import Home
from streams.runtime.home.keeper import open_live
from streams.runtime.home.office import Office
from streams.runtime.kafka import projector as projector_module
from streams.runtime.kafka.projector import Projector
from tests.kafka.hands import Hands, folded, spread

Talk = Callable[[int], list[Outside]]


@pytest.fixture
def log(connection: Connection, tmp_path: Path) -> Iterator[ErasableKafkaLog]:
    """An empty log of 3 partitions."""
    create(connection, (), 3)
    found = ErasableKafkaLog(connection, tmp_path)
    yield found
    found.close()


@pytest.fixture
def home(log: ErasableKafkaLog, tmp_path: Path) -> Home:
    """A home on that log."""
    found = Home(tmp_path / "home", PROCESSORS)
    found.log = log
    return found


def opened(home: Home) -> Projector:
    """The projector of the home's live memory."""
    found = open_live(home)
    assert isinstance(found, Projector)
    return found


def drained(projector: Projector) -> dict[str, str]:
    """The digest once all that was made is in the memory."""
    assert projector.reach_end() == ""
    return digest(projector.store.connection)


def test_what_workers_derived_has_the_digest_of_a_fold(
    home: Home, log: ErasableKafkaLog, talk: Talk, tmp_path: Path
) -> None:
    log.append(spread(talk(80)))
    Hands(log).make()
    projector = opened(home)
    try:
        assert drained(projector) == folded(log, tmp_path)
        assert projector.behind() == 0
    finally:
        projector.close()


def all_but(*names: str) -> list[str]:
    """Every other processor."""
    return [name for name in NAMES if name not in names]


def test_nothing_of_an_event_is_seen_before_every_processor_is_done_with_it(
    home: Home, log: ErasableKafkaLog, talk: Talk, tmp_path: Path
) -> None:
    log.append(spread(talk(60)))
    hands = Hands(log)
    hands.make(*all_but("coactivation"))
    hands.make("coactivation", stop=20)
    projector = opened(home)
    try:
        said = projector.reach_end(patience=2)
        assert "coactivation has not got past offset 19" in said
        assert "manifest" not in said
        assert [projector.store.mark(p) for p in range(3)] == [min(19, log.end(p) - 1) for p in range(3)]
        count = "SELECT max(position) FROM {}"
        for table in ("turn_recorded", "turn_filed", "turn_threaded"):
            assert projector.store.connection.execute(count.format(table)).fetchall()[0][0] <= 19
        hands.make("coactivation")
        assert drained(projector) == folded(log, tmp_path)
    finally:
        projector.close()


def test_what_two_sets_of_workers_tell_of_one_processor_is_taken_once(
    home: Home, log: ErasableKafkaLog, talk: Talk, tmp_path: Path
) -> None:
    log.append(spread(talk(60)))
    apart, together = Hands(log), Hands(log, together=True)
    projector = opened(home)
    try:
        apart.make(*all_but("activation"))
        apart.make("activation", stop=20)
        together.make(stop=40)
        reached = min(39, log.end(0) - 1)
        for _ in range(100):  # how far it comes within its patience hangs on the machine
            if projector.store.mark(0) >= reached:
                break
            projector.reach_end(patience=0.5)
        assert projector.store.mark(0) == reached
        apart.make("activation")
        assert drained(projector) == folded(log, tmp_path)
    finally:
        projector.close()


def test_a_projector_that_stopped_anywhere_goes_on_where_it_was(
    home: Home, log: ErasableKafkaLog, talk: Talk, tmp_path: Path
) -> None:
    hands = Hands(log)
    for start in range(0, 400, 100):
        log.append(spread(talk(80))[start : start + 100])
        hands.make("manifest", "ttl_escalations")
        hands.make("open_efforts", progressed=False)
        projector = opened(home)
        projector.reach_end(patience=0.5)
        projector.close()
        hands.make("open_efforts")
        hands.make(*all_but("manifest", "ttl_escalations", "open_efforts"))
    projector = opened(home)
    try:
        assert drained(projector) == folded(log, tmp_path)
    finally:
        projector.close()


def test_a_full_stream_waits_until_the_others_come(
    home: Home, log: ErasableKafkaLog, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(spread(talk(60)))
    hands = Hands(log)
    projector = opened(home)
    monkeypatch.setattr(projector_module, "WAITING", 20)
    try:
        for stop in (*range(0, 120, 10), None):
            hands.make(*all_but("coactivation"), stop=stop)
        projector.reach_end(patience=0.5)
        assert projector._feed.full  # which no commit has emptied: coactivation has told nothing yet
        assert projector.store.mark(0) == -1
        for stop in (10, 40, None):
            hands.make("coactivation", stop=stop)
        assert drained(projector) == folded(log, tmp_path)
    finally:
        projector.close()


def test_a_question_after_a_position_is_answered_once_it_is_there(
    home: Home, log: ErasableKafkaLog, talk: Talk
) -> None:
    outcomes = log.append(spread(talk(6)))
    after = f"{outcomes[-1].partition}:{outcomes[-1].offset}"
    hands = Hands(log)
    hands.make("manifest")
    office = Office(home, opened(home))
    question = {"ask": "view", "arguments": {"name": "turns"}, "after": after}
    try:
        assert "manifest" not in office.runtime.reach_end(patience=2)  # what there is of it is read
        with pytest.raises(BehindError, match="open_efforts has not got past") as raised:
            office.carry_out(question)
        assert "workers" in raised.value.way_out
        hands.make()
        office.runtime.reach_end()
        assert office.carry_out(question)
    finally:
        office.runtime.close()


def test_a_stream_that_lost_records_stops_the_projector_loudly(home: Home, log: ErasableKafkaLog, talk: Talk) -> None:
    log.append(spread(talk(20)))
    hands = Hands(log)
    hands.make()
    full = next(partition for partition in range(3) if log.end(partition))
    place = TopicPartition(hands.topic("manifest"), full)

    async def cut() -> None:
        admin = AIOKafkaAdminClient(**log.connection.client())
        await admin.start()
        try:
            await admin.delete_records({place: RecordsToDelete(before_offset=1)})
        finally:
            await admin.close()

    asyncio.run(cut())
    with pytest.raises(LogError, match="those from 0 on are needed") as raised:
        open_live(home)
    assert "retention" in raised.value.way_out


def test_rows_of_workers_that_started_later_are_found(
    home: Home, log: ErasableKafkaLog, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projector_module, "LOOK", 0.2)
    log.append(spread(talk(20)))
    projector = opened(home)
    try:
        assert "manifest has not got past offset -1" in projector.reach_end(patience=0.1)
        Hands(log).make()
        assert drained(projector) == folded(log, tmp_path)
    finally:
        projector.close()


def test_as_of_a_position_ends_the_other_partitions_at_the_same_time(
    home: Home, log: ErasableKafkaLog, talk: Talk
) -> None:
    events = spread(talk(30))
    for start in range(0, len(events), 25):
        log.append(events[start : start + 25])
    Hands(log).make()
    records = [record for partition in range(3) for record in log.read(partition, 0)]
    chosen = sorted(records, key=lambda record: record.recorded_at)[len(records) // 2]
    until = max(r.recorded_at for r in records if r.partition == chosen.partition and r.offset <= chosen.offset)
    expected = [
        r
        for r in records
        if r.type.startswith("turn-recorded")
        and (r.offset <= chosen.offset if r.partition == chosen.partition else r.recorded_at <= until)
    ]
    found = home.ask("view", name="turns", as_of=f"{chosen.partition}:{chosen.offset}")
    assert len(found) == len(expected) > 0
    with pytest.raises(UsageError, match="no position of a log of 3 partitions"):
        home.ask("view", name="turns", as_of="17")


def test_where_nothing_is_found_it_is_told_what_is_not_folded_yet(
    log: ErasableKafkaLog, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("MNEMOLOG_KAFKA", log.connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", log.connection.prefix)
    events = talk(5)
    log.append(events)
    for command in (["topics", "create"], ["efforts", "--all-spaces"], ["recall", "checkout"]):
        with pytest.raises(SystemExit) as done:
            main([*command, "--home", str(tmp_path / "asked")])
        assert done.value.code == 0
        said = f"{len(events)} events of the log not folded yet: ask again in a while"
        assert (said in capsys.readouterr().err) is (command[0] != "topics")
