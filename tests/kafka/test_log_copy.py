"""A log moves to Kafka, and to another number of partitions, and stays the same log of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import orjson
import pytest

from streams.core.errors import LogError, UsageError
from streams.core.events import SECOND, Outside
from streams.core.progress import no_progress
from streams.gateways.cli import main
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.copy import copied_to
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import Names
from streams.logs.log import Log
from streams.logs.sqlite import SqliteLog
from tests.contracts.log_contract import NOW, turn

Told = tuple[str, int, bytes]


def spaces(log: Log) -> dict[str, list[Told]]:
    """What a log holds of each space, in order: type, time of recording, bytes."""
    found: dict[str, list[Told]] = {}
    for partition in range(log.partitions):
        for record in log.read(partition, 0):
            found.setdefault(record.space, []).append((record.type, record.recorded_at, record.value))
    return found


@pytest.fixture
def embedded(tmp_path: Path, talk: Callable[[int], list[Outside]]) -> SqliteLog:
    """A log in a file, with several spaces, each event recorded at another time."""
    ticks = count(NOW, SECOND)
    log = SqliteLog(tmp_path / "log.sqlite", clock=lambda: next(ticks))
    for event in [*talk(150), *(turn(f"t{n}", space=f"s{n % 7}", at=NOW - n) for n in range(100))]:
        log.append([replace(event, at=min(event.at, NOW))])
    log.note("params", '{"manifest":{}}')
    return log


def test_a_copy_has_every_event_with_its_id_bytes_and_time_of_recording(
    connection: Connection, embedded: SqliteLog
) -> None:
    copied = copied_to(connection, embedded.path, 3, 1, no_progress)
    target = KafkaLog(connection)
    try:
        assert (copied.stored, copied.duplicates, copied.refused) == (embedded.end(0), 0, 0)
        assert spaces(target) == spaces(embedded)
        assert target.noted("params") == '{"manifest":{}}'
        assert target.id != embedded.id
    finally:
        target.close()


def test_a_copy_begun_again_goes_on_where_it_stopped(connection: Connection, embedded: SqliteLog) -> None:
    copied_to(connection, embedded.path, 2, 1, no_progress)
    told: list[tuple[int, int]] = []
    assert copied_to(connection, embedded.path, None, 1, lambda done, total: told.append((done, total))).stored == 0
    assert told == [(0, 0)]
    embedded.append([turn("late")])
    assert copied_to(connection, embedded.path, None, 1, lambda done, total: told.append((done, total))).stored == 1
    assert told[-1] == (1, 1)


def test_a_copy_that_crashed_before_it_noted_its_place_doubles_nothing(
    connection: Connection, embedded: SqliteLog
) -> None:
    copied_to(connection, embedded.path, 2, 1, no_progress)
    target = KafkaLog(connection)
    target.note(f"copied.{embedded.id}.0", "0")
    copied = copied_to(connection, embedded.path, None, 1, no_progress)
    assert (copied.stored, copied.duplicates) == (0, embedded.end(0))
    assert spaces(target) == spaces(embedded)
    target.close()


def test_a_log_moves_to_another_number_of_partitions(connection: Connection, embedded: SqliteLog) -> None:
    copied_to(connection, embedded.path, 2, 1, no_progress)
    wider = replace(connection, prefix=f"{connection.prefix}-5")
    assert copied_to(wider, connection.prefix, 5, 1, no_progress).stored == embedded.end(0)
    target = KafkaLog(wider)
    assert target.partitions == 5
    assert spaces(target) == spaces(embedded)
    target.close()


def test_of_a_log_that_lost_records_what_is_left_is_copied_when_asked(
    connection: Connection, embedded: SqliteLog, truncate: Callable[[str, int, int], None]
) -> None:
    copied_to(connection, embedded.path, 1, 1, no_progress)
    truncate(Names(connection.prefix).turns, 0, 40)
    rest = replace(connection, prefix=f"{connection.prefix}-rest")
    with pytest.raises(LogError, match="begins at offset 40") as told:
        copied_to(rest, connection.prefix, 2, 1, no_progress)
    assert "--what-is-left" in told.value.way_out
    copied = copied_to(rest, connection.prefix, None, 1, no_progress, what_is_left=True)
    assert (copied.stored, copied.lost) == (embedded.end(0) - 40, 40)


def test_a_log_is_not_copied_into_itself_nor_from_nowhere(connection: Connection, embedded: SqliteLog) -> None:
    copied_to(connection, embedded.path, 1, 1, no_progress)
    with pytest.raises(UsageError, match="into itself"):
        copied_to(connection, connection.prefix, None, 1, no_progress)
    with pytest.raises(UsageError, match="there is no log"):
        copied_to(connection, embedded.path.with_name("other.sqlite"), None, 1, no_progress)


def test_events_whose_id_the_target_gave_to_others_are_told(
    connection: Connection, embedded: SqliteLog, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copied_to(connection, embedded.path, 1, 1, no_progress)
    other = SqliteLog(embedded.path.parent / "other" / "log.sqlite")
    other.append([turn("t3", "another story", space="s3"), turn("new")])
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    with pytest.raises(SystemExit) as done:
        main(["log", "copy", "--home", str(other.path.parent), "--json"])
    told = orjson.loads(capsys.readouterr().out)
    assert done.value.code == 1
    assert (told["stored"], told["refused"]) == (1, 1)
    assert "'t3' is taken" in told["reasons"][0]
    with pytest.raises(SystemExit):
        main(["log", "--home", str(other.path.parent), "--json"])
    log = orjson.loads(capsys.readouterr().out)
    assert (log["partitions"], log["ends"]) == (1, {"0": embedded.end(0) + 1})
    assert log["where"] == f"{connection.servers}/{connection.prefix}"
