"""The log on Kafka keeps the contract, and what only a shared topic asks for."""

from __future__ import annotations

import signal
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from streams.core.errors import LogError
from streams.core.events import TurnRecorded, decode
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import partition_of
from streams.logs.kafka.topics import create
from streams.logs.log import Duplicate, Log, Refused, Stored
from tests.contracts.log_contract import NOW, LogContract, turn
from tests.kafka.broker import Broker, Cluster, NoBrokerError
from tests.kafka.conftest import without_broker
from tests.kafka.messages import headers, message, produce
from tests.processes import PIPE, Program

ROOT = Path(__file__).parents[2]
S = partition_of("s", 4)
"""The partition of space s."""


@pytest.fixture
def open_log(connection: Connection) -> Iterator[Callable[..., KafkaLog]]:
    """Opens the same log again at each call; all are closed at the end."""
    create(connection, {}, 4)
    opened: list[KafkaLog] = []

    def open_one(index: Path | None = None) -> KafkaLog:
        opened.append(KafkaLog(connection, index, clock=lambda: NOW))
        return opened[-1]

    yield open_one
    for log in opened:
        log.close()


def ids(log: Log, start: int = 0, partition: int = S) -> list[str]:
    """The ids of what is in a partition of the log."""
    return [decode(record.type, record.value).id for record in log.read(partition, start)]


class TestKafkaLog(LogContract):
    @pytest.fixture
    def open_log(self, open_log: Callable[[], Log]) -> Callable[[], Log]:
        return open_log


def test_of_records_with_the_same_id_the_first_valid_one_is_in_the_log(
    connection: Connection, open_log: Callable[..., KafkaLog]
) -> None:
    log = open_log()
    a, b = turn("a"), turn("b")
    broken = message(a, value=b"not JSON")
    other = message(turn("a", "something else"))
    produce(connection, [broken, message(a), message(a), other, message(b, headers=headers(b, ce_type=None))])
    produce(connection, [message(turn("c"))])
    assert [(record.offset, decode(record.type, record.value).id) for record in log.read(S, 0)] == [(1, "a"), (5, "c")]
    assert list(log.read(S, 2, 5)) == []
    assert log.end(S) == 6
    duplicate, refused, stored = log.append([a, turn("a", "something else"), b])
    assert duplicate == Duplicate(S, 1)
    assert isinstance(refused, Refused)
    assert "offset 1" in refused.reason
    assert stored == Stored(S, 6)
    assert ids(open_log()) == ["a", "c", "b"]


def test_the_index_is_kept_between_runs_and_made_again_when_it_is_lost(
    open_log: Callable[..., KafkaLog], tmp_path: Path
) -> None:
    log = open_log(tmp_path)
    log.append([turn(str(n)) for n in range(30)])
    log.close()
    (path,) = tmp_path.glob("kafka-index-*.sqlite")
    for spoil in (lambda: None, path.unlink, lambda: path.write_bytes(b"no database at all" * 100)):
        spoil()
        log = open_log(tmp_path)
        assert log.append([turn("7")]) == [Duplicate(S, 7)]
        assert log.end(S) == 30
        log.close()


def test_who_reads_may_stop_anywhere_and_several_may_read_at_once(open_log: Callable[..., KafkaLog]) -> None:
    log = open_log()
    log.append([turn(str(n)) for n in range(5000)])
    first, second = log.read(S, 0), log.read(S, 4000)
    assert next(first).offset == 0
    assert next(second).offset == 4000
    first.close()
    assert sum(1 for _ in second) == 999
    assert ids(log, 4998) == ["4998", "4999"]


def test_notes_are_seen_by_others_and_the_newest_counts(open_log: Callable[..., KafkaLog]) -> None:
    log, other = open_log(), open_log()
    assert other.noted("params") is None
    log.note("params", "{}")
    log.note("params", '{"manifest":{}}')
    assert other.noted("params") == log.noted("params") == '{"manifest":{}}'


def test_a_log_that_lost_records_to_retention_says_so_and_what_to_do(
    open_log: Callable[..., KafkaLog], tmp_path: Path, truncate: Callable[[str, int, int], None]
) -> None:
    log = open_log(tmp_path)
    log.append([turn(str(n)) for n in range(10)])

    truncate(log.names.turns, S, 6)
    with pytest.raises(LogError, match=r"begins at offset 6 .* but 2 is needed") as told:
        list(log.read(S, 2))
    assert "retention" in told.value.way_out
    assert ids(log, 6) == ["6", "7", "8", "9"]
    assert log.begin(S) == 6
    assert isinstance(log.append([turn("10")])[0], Stored)  # its index knows all ten
    with pytest.raises(LogError, match="but 0 is needed"):
        open_log().append([turn("3")])


def test_brokers_that_are_not_there_are_told_with_a_way_out() -> None:
    with pytest.raises(LogError, match=r"127\.0\.0\.1:1") as told:
        KafkaLog(Connection("127.0.0.1:1"))
    assert "MNEMOLOG_KAFKA" in told.value.way_out


def test_a_log_that_was_not_made_is_told_with_a_way_out(connection: Connection) -> None:
    with pytest.raises(LogError, match="there is no log") as told:
        KafkaLog(connection)
    assert "topics create" in told.value.way_out


APPENDER = textwrap.dedent(
    """
    import sys
    from streams.logs.kafka.connection import Connection
    from streams.logs.kafka.log import KafkaLog
    from tests.contracts.log_contract import turn
    log = KafkaLog(Connection(sys.argv[1], sys.argv[2]))
    for n in range(1_000_000):
        log.append([turn(f"{sys.argv[3]}-{n}")])
        print(n, flush=True)
    """
)


def test_what_was_acknowledged_survives_sigkill_of_the_writer(
    connection: Connection, open_log: Callable[..., KafkaLog]
) -> None:
    log = open_log()
    for life in range(2):
        writer = Program(connection.servers, connection.prefix, life, code=APPENDER, cwd=ROOT, stdout=PIPE, text=True)
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(20 + 7 * life)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        writer.stdout.close()
        writer.wait()
        found = ids(log)
        assert len(found) == len(set(found))
        assert {f"{life}-{n}" for n in acknowledged} <= set(found)


def append_all(log: Log, events: list[TurnRecorded], size: int) -> list[bool]:
    """Appends in small batches, again while the log cannot take them; whether each event is durable."""
    durable = []
    for start in range(0, len(events), size):
        for _ in range(20):
            try:
                outcomes = log.append(events[start : start + size])
                break
            except LogError:
                time.sleep(0.5)
        durable += [isinstance(outcome, (Stored, Duplicate)) for outcome in outcomes]
    return durable


def test_a_writer_and_a_reader_live_through_a_crash_and_a_restart_of_the_broker(
    make_broker: Callable[..., Broker], monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = make_broker()
    connection = Connection(broker.servers)
    create(connection, {}, 1)
    log, follower = KafkaLog(connection), KafkaLog(connection)
    events = [turn(str(n)) for n in range(400)]
    with ThreadPoolExecutor(1) as pool:
        appending = pool.submit(append_all, log, events, 2)
        for disturb in (broker.kill, broker.stop):
            time.sleep(0.3)
            disturb()
            broker.start()
        assert all(appending.result(90))
    assert ids(follower, partition=0) == [event.id for event in events]
    monkeypatch.setattr("streams.logs.kafka.connection.REQUEST_MS", 1000)
    hasty = KafkaLog(connection)
    assert isinstance(hasty.append([turn("before")])[0], Stored)
    broker.kill()
    for _ in range(2):
        with pytest.raises(LogError) as told:
            hasty.append([turn("amidst")])
        assert told.value.way_out
        with pytest.raises(LogError):
            list(hasty.read(0, 0))
    broker.start()
    outcomes = hasty.append([turn("amidst"), turn("after")])
    assert all(isinstance(outcome, Stored) for outcome in outcomes)
    for opened in (log, follower, hasty):
        assert ids(opened, partition=0) == [event.id for event in events] + ["before", "amidst", "after"]
        opened.close()


def test_three_brokers_lose_one_and_the_log_loses_nothing(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        cluster.start()
    except NoBrokerError as error:
        without_broker(str(error))
    try:
        connection = Connection(cluster.servers)
        create(connection, {}, 2, replication=3)
        log = KafkaLog(connection)
        events = [turn(str(n), space=f"s{n % 5}") for n in range(300)]
        assert all(append_all(log, events[:100], 20))
        cluster.nodes[0].kill()
        assert all(append_all(log, events[100:200], 20))
        cluster.nodes[0].start()
        assert all(append_all(log, events[200:], 20))
        cluster.nodes[1].kill()
        log.close()
        log = KafkaLog(connection)
        found = [id_ for partition in range(2) for id_ in ids(log, partition=partition)]
        assert sorted(found, key=int) == [event.id for event in events]
        log.close()
    finally:
        cluster.stop()
