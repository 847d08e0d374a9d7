"""The topics of a log: made once, as they must be, and never bent to fit."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import orjson
import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka import errors as kafka_errors
from aiokafka.admin import NewPartitions, NewTopic
from aiokafka.client import AIOKafkaClient

from streams.core.errors import LogError, UsageError
from streams.gateways.cli import main
from streams.logs.kafka.connection import Connection, admin, run, started, topics_of
from streams.logs.kafka.copy import copied_to
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import MAX_RECORD_BYTES, Names, create, ensure_sets, listing, read_notes
from streams.runtime.kafka.feed import Feed
from tests.contracts.log_contract import turn

SETS = ["0123456789abcdef", "fedcba9876543210"]


def make(connection: Connection, name: str, partitions: int, **config: str) -> None:
    """Makes a topic by hand."""

    async def create_it() -> None:
        async with admin(connection) as client:
            settings = {name.replace("_", "."): value for name, value in config.items()}
            await client.create_topics([NewTopic(name, partitions, 1, topic_configs=settings)])

    run(connection, create_it())


def test_all_topics_are_made_once_with_one_number_of_partitions(connection: Connection) -> None:
    names = Names(connection.prefix)
    made = create(connection, SETS, 3)
    assert len(made.created) == 3 + 2 * len(SETS)
    again = create(connection, SETS)
    assert (again.log_id, again.partitions, again.created) == (made.log_id, 3, [])
    counts = {ends.topic: ends.partitions for ends in listing(connection)[0]}
    single = {names.control, names.dead_letters}
    assert counts == {topic: 1 if topic in single else 3 for topic in made.created}


def test_where_there_are_none_yet_none_are_listed(connection: Connection) -> None:
    assert listing(connection) == ([], [])


def test_where_topics_are_is_asked_once_however_many_there_are(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [f"{n:016x}" for n in range(10)]
    create(connection, sets, 1)
    listing(connection)  # brokers have heard of all of them since
    asked: list[object] = []
    ask = AIOKafkaClient._metadata_update

    async def counted(client: AIOKafkaClient, cluster: object, topics: Collection[str]) -> bool:
        asked.append(topics)
        return bool(await ask(client, cluster, topics))

    monkeypatch.setattr(AIOKafkaClient, "_metadata_update", counted)
    assert len(listing(connection)[0]) == 3 + 2 * len(sets)
    assert len(asked) < len(sets)


def test_brokers_that_do_not_know_of_each_other_yet_are_asked_again(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, fetch = [0], AIOKafkaClient.fetch_all_metadata

    async def fetched(client: AIOKafkaClient) -> object:
        asked[0] += 1
        if asked[0] <= 2:  # what the client says where a broker's answer names no broker
            raise kafka_errors.KafkaError("Unable to get cluster metadata over all known brokers")
        return await fetch(client)

    monkeypatch.setattr(AIOKafkaClient, "fetch_all_metadata", fetched)
    create(connection, {}, 2)
    assert asked[0] > 2
    assert KafkaLog(connection).partitions == 2


def test_brokers_that_never_do_are_told(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(client: AIOKafkaClient) -> object:
        raise kafka_errors.KafkaError("Unable to get cluster metadata over all known brokers")

    async def asked_for() -> None:
        async with started(AIOKafkaConsumer(**connection.client())) as consumer:
            await topics_of(consumer, patience=0.05)

    monkeypatch.setattr(AIOKafkaClient, "fetch_all_metadata", refused)
    with pytest.raises(LogError, match="cannot be reached"):
        run(connection, asked_for())


def test_a_log_has_one_id_however_many_make_it_at_once(connection: Connection) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: create(connection, SETS, 2), range(4)))
    assert len({found.log_id for found in made}) == 1
    assert run(connection, read_notes(connection))["id"] == made[0].log_id
    assert sum(len(found.created) for found in made) == 3 + 2 * len(SETS)


def test_another_number_of_partitions_is_refused_and_nothing_is_changed(connection: Connection) -> None:
    create(connection, (), 2)
    with pytest.raises(UsageError, match="has 2 partitions, not 5") as told:
        create(connection, SETS, 5)
    assert "log copy" in told.value.way_out
    assert len(listing(connection)[0]) == 3


def test_partitions_that_were_added_are_told_and_the_log_is_copied(connection: Connection) -> None:
    names = Names(connection.prefix)
    made = create(connection, SETS, 1)
    with closing(KafkaLog(connection)) as log:
        log.append([turn(str(n), space=f"s{n}") for n in range(9)])

    async def add() -> None:
        async with admin(connection) as client:
            await client.create_partitions({names.turns: NewPartitions(3)})

    run(connection, add())
    for again in (create, ensure_sets):
        with pytest.raises(UsageError, match=rf"{made.log_id} was made with 1 partition, {names.turns} has 3$") as told:
            again(connection, SETS)
        assert f"log copy --from {connection.prefix} --partitions 3" in told.value.way_out
    other = replace(connection, prefix=f"{connection.prefix}-b")
    assert copied_to(other, connection.prefix, 3, 1, lambda *_: None).stored == 9


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({"retention_ms": "604800000"}, "retention.ms=604800000, not -1"),
        ({"cleanup_policy": "compact"}, "cleanup.policy=compact, not delete"),
        ({"max_message_bytes": "1048588"}, f"max.message.bytes=1048588, not {MAX_RECORD_BYTES}"),
        ({"message_timestamp_type": "CreateTime"}, "message.timestamp.type=CreateTime, not LogAppendTime"),
    ],
)
def test_a_topic_that_differs_is_refused_and_the_difference_named(
    connection: Connection, config: dict[str, str], fault: str
) -> None:
    right = {
        "retention_ms": "-1",
        "retention_bytes": "-1",
        "max_message_bytes": str(MAX_RECORD_BYTES),
        "message_timestamp_type": "LogAppendTime",
    }
    make(connection, Names(connection.prefix).turns, 4, **(right | config))
    with pytest.raises(UsageError, match=fault):
        create(connection, (), 4)


def test_a_topic_of_state_that_is_not_compacted_is_refused(connection: Connection) -> None:
    state = Names(connection.prefix).state(SETS[0])
    make(connection, state, 4, max_message_bytes=str(MAX_RECORD_BYTES))
    with pytest.raises(UsageError, match=r"state\.0123456789abcdef has cleanup\.policy=delete, not compact"):
        create(connection, SETS, 4)


def test_topics_of_a_further_set_are_made_as_those_of_the_log(connection: Connection) -> None:
    with pytest.raises(LogError, match="there is no topic"):
        ensure_sets(connection, SETS)
    create(connection, (), 3)
    assert len(ensure_sets(connection, SETS).created) == 2 * len(SETS)
    assert ensure_sets(connection, SETS).created == []


def test_the_topic_of_a_log_that_is_gone_is_not_made_anew(connection: Connection) -> None:
    names = Names(connection.prefix)
    made = create(connection, SETS, 2)

    async def lose() -> None:
        async with admin(connection) as client:
            await client.delete_topics([names.turns])

    run(connection, lose())
    for again in (create, ensure_sets):
        with pytest.raises(LogError, match=rf"{names.turns} is gone.* {made.log_id}") as told:
            again(connection, SETS)
        assert "MNEMOLOG_KAFKA_PREFIX" in told.value.way_out
    assert names.turns not in {ends.topic for ends in listing(connection)[0]}


def test_more_copies_than_brokers_are_refused_with_a_way_out(connection: Connection) -> None:
    with pytest.raises(LogError, match="need as many brokers") as told:
        create(connection, (), 1, replication=30)
    assert "--replication" in told.value.way_out


def test_a_prefix_that_no_topic_can_have_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot begin with"):
        Names("my topics")


def test_names_carry_the_set_and_give_it_back() -> None:
    names = Names("acme")
    assert names.set_of(names.derived("0123456789abcdef")) == "0123456789abcdef"
    assert names.set_of(names.group("0123456789abcdef")) == "0123456789abcdef"
    for other in (names.turns, names.state("0" * 16), "x" + names.derived("0" * 16)):
        assert names.set_of(other) is None


def test_the_lag_of_a_group_is_told_by_partition(connection: Connection) -> None:
    names = Names(connection.prefix)
    create(connection, SETS, 2)
    log = KafkaLog(connection)
    log.append([turn(str(n), space=f"s{n}") for n in range(20)])
    ends = log.ends()
    log.close()

    async def commit() -> None:
        group = names.group(SETS[0])
        consumer = AIOKafkaConsumer(**connection.client(), group_id=group, enable_auto_commit=False)
        async with started(consumer):
            consumer.assign([TopicPartition(names.turns, 0)])
            await consumer.commit({TopicPartition(names.turns, 0): 3})

    run(connection, commit())
    lag, never = listing(connection)[1]
    assert (never.committed, never.lag) == ({}, ends), "a group that never committed is all behind"
    assert (lag.topic, lag.committed, lag.lag) == (names.turns, {0: 3}, {0: ends[0] - 3, 1: ends[1]})


def test_the_commands_make_and_list_topics(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    for count in (5, 0):
        with pytest.raises(SystemExit) as done:
            main(["topics", "create", "--partitions", "2", "--json"])
        assert done.value.code == 0
        assert len(orjson.loads(capsys.readouterr().out)["created"]) == count
    log = KafkaLog(connection)
    log.append([turn("a"), turn("b")])
    log.close()
    with pytest.raises(SystemExit) as done:
        main(["topics", "--json"])
    assert done.value.code == 0
    listed = list(map(orjson.loads, capsys.readouterr().out.splitlines()))
    assert [row["committed"] for row in listed if "group" in row] == [False]
    rows = {row["topic"]: row for row in listed if "topic" in row}
    turns = rows[Names(connection.prefix).turns]
    assert turns["records"] == 2
    assert sum(turns["ends"].values()) == 2
    with pytest.raises(SystemExit) as done:
        main(["topics", "create", "--partitions", "7"])
    assert done.value.code == 2
    assert "2 partitions, not 7" in capsys.readouterr().err


def test_a_topic_that_brokers_do_not_know_yet_is_waited_for(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(connection, (), 1)
    asked: list[None] = []
    known = AIOKafkaConsumer.topics

    async def late(consumer: AIOKafkaConsumer) -> set[str]:
        asked.append(None)
        topics: set[str] = await known(consumer)
        return topics if len(asked) > 3 else set()

    monkeypatch.setattr(AIOKafkaConsumer, "topics", late)
    feed = Feed(connection)
    try:
        feed.read({TopicPartition(Names(connection.prefix).turns, 0): 0})
    finally:
        feed.close()
    assert len(asked) == 4
