"""Replays of a log on Kafka, or of its archive, give what workers and projector gave: live equals replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processors import NAMES, PROCESSORS
from projections.store import read_mark
from projections.stored import digest
from streams.core.events import Outside, iso
from streams.logs.archive import ArchiveLog, archive
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import create
from streams.runtime.home import Home
from streams.runtime.replay import parse_settings, replay
from tests.kafka.crew import Crew
from tests.kafka.hands import Hands, folded, spread
from tests.laws.histories import outside, wide

Talk = Callable[[int], list[Outside]]
SETTING = "working_context.capacity=2"


@pytest.fixture
def home(connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home on an empty log of 3 partitions, as the environment of its processes says."""
    create(connection, (), 3)
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    found = Home(tmp_path / "home", PROCESSORS)
    assert isinstance(found.log, KafkaLog)
    yield found
    found.close()


def kafka_log(home: Home) -> KafkaLog:
    assert isinstance(home.log, KafkaLog)
    return home.log


def test_what_real_workers_and_the_projector_made_is_what_a_replay_makes(
    home: Home, connection: Connection, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Crew(connection, tmp_path, 3) as crew:
        crew.start()
        home.log.append(spread(talk(150)))
        crew.folded()
        live = home.ask("digest")
        assert live == folded(kafka_log(home), tmp_path)
    monkeypatch.setattr("streams.runtime.replay._snapshots", lambda home, log: [])  # so that nothing is reused
    for name, processes in (("alone", 1), ("together", 2)):
        report = replay(home, name, processes=processes)
        assert report.reused == []
        assert all(report.steps[name] > 0 for name in NAMES)
        assert home.ask("digest", name) == live


def test_unchanged_lineages_are_reused_from_what_workers_made(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(spread(outside(wide(200, sessions=4, backlog=10))))
    Hands(kafka_log(home)).make()
    params = parse_settings(home, home.live_params(), [SETTING])
    report = replay(home, "narrow", params)
    assert report.steps["manifest"] == report.steps["open_efforts"] == 0
    assert report.steps["working_context"] > 0
    monkeypatch.setattr("streams.runtime.replay._snapshots", lambda home, log: [])
    assert replay(home, "whole", params).reused == []
    assert home.ask("digest", "narrow") == home.ask("digest", "whole") != folded(kafka_log(home), tmp_path)
    with home.reading("narrow") as connection:
        assert [read_mark(connection, p) + 1 for p in range(3)] == [home.log.end(p) for p in range(3)]


def test_an_archive_is_replayed_without_brokers(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(spread(talk(60)))
    archive(home.log, tmp_path / "archive")
    expected = folded(kafka_log(home), tmp_path)
    found = ArchiveLog(tmp_path / "archive")
    for partition in range(3):
        assert list(found.read(partition, 0)) == list(home.log.read(partition, 0))
    monkeypatch.delenv("MNEMOLOG_KAFKA")
    elsewhere = Home(tmp_path / "elsewhere", PROCESSORS)
    for name, processes in (("alone", 1), ("together", 2)):
        replay(elsewhere, name, archive=tmp_path / "archive", processes=processes)
        with elsewhere.reading(name) as connection:
            assert digest(connection) == expected


def test_until_ends_each_partition_where_it_should(home: Home, talk: Talk) -> None:
    events = spread(talk(60))
    home.log.append(events)
    moment = sorted(event.at for event in events)[len(events) // 2]
    replay(home, "early", until=iso(moment))
    spaces = home.ask("spaces", "early")
    assert len(spaces) == 5
    assert len({row["turns"] for row in spaces}) == 1
    assert 0 < spaces[0]["turns"] < 60
