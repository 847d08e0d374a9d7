"""Promotion on Kafka: new lineages are made beside the old ones, then the projector switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from processors import PROCESSORS
from streams.core.errors import BusyError, MemoryFileError, UsageError
from streams.core.events import Outside
from streams.core.params import Params
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import create, listing
from streams.runtime.home import Home
from streams.runtime.kafka import promotion
from streams.runtime.kafka.sets import drop_set, forget_candidate, list_sets, memory_params
from streams.runtime.replay import parse_settings, replay
from tests.kafka.hands import Hands, spread

Talk = Callable[[int], list[Outside]]


@pytest.fixture
def home(connection: Connection, tmp_path: Path, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home on a log of 2 partitions, folded by workers, with a replay `wide` under other parameters."""
    create(connection, (), 2)
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    monkeypatch.setattr(promotion, "PATIENCE", 20.0)
    found = Home(tmp_path / "home", PROCESSORS)
    found.log.append(spread(talk(40)))
    Hands(log_of(found)).make()
    replay(found, "wide", wide(found))
    yield found
    found.close()


def log_of(home: Home) -> KafkaLog:
    assert isinstance(home.log, KafkaLog)
    return home.log


def wide(home: Home) -> dict[str, Params]:
    return parse_settings(home, home.live_params(), ["working_context.capacity=5"])


def workers_of_wide(home: Home) -> Hands:
    """What `mnemolog worker --memory wide` would make, from the beginning of the log."""
    return Hands(log_of(home), wide(home))


def test_promotion_waits_for_the_new_workers_then_live_is_what_they_made(home: Home, talk: Talk) -> None:
    old, expected = home.ask("digest"), home.ask("digest", "wide")
    hands = workers_of_wide(home)
    said: list[str] = []
    home.warn = said.append
    thread = Thread(target=lambda: hands.make("working_context", "coactivation"))
    thread.start()
    kept = home.promote("wide")
    thread.join()
    assert home.ask("digest") == expected
    assert home.ask("digest", kept) == old
    assert home.live_params() == wide(home)
    home.log.append(spread(talk(45))[200:])
    hands.make()
    home.after = f"0:{home.log.end(0) - 1},1:{home.log.end(1) - 1}"
    assert home.ask("digest") != expected
    assert [turns["turns"] for turns in home.ask("spaces")] == [
        sum(type(e).__name__ == "TurnRecorded" for e in talk(45))
    ] * 5


def test_promotion_without_workers_says_which_are_missing_and_changes_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "PATIENCE", 0.5)
    old = home.ask("digest")
    with pytest.raises(MemoryFileError, match="working_context has not got past") as raised:
        home.promote("wide")
    assert "mnemolog worker --memory wide" in raised.value.way_out
    noted = memory_params(log_of(home).connection, PROCESSORS, "wide")
    assert noted == {processor.name: wide(home)[processor.name] for processor in PROCESSORS}
    assert home.ask("digest") == old
    assert home.live_params() != wide(home)


def test_sets_are_listed_and_of_old_ones_nothing_is_left(home: Home) -> None:
    connection = log_of(home).connection
    old, new = Hands(log_of(home)), workers_of_wide(home)
    new.make("working_context", "coactivation")
    home.promote("wide")
    listed = {found.set: found.memories for found in list_sets(connection, PROCESSORS)}
    gone, workers = old.sets["working_context"], home.path / "workers"
    assert listed[gone] == "old"
    assert listed[new.sets["working_context"]] == "live, wide"
    assert listed[old.sets["manifest"]] == "live, wide"
    with pytest.raises(BusyError, match="belongs to live"):
        drop_set(connection, PROCESSORS, old.sets["manifest"], workers)
    with pytest.raises(UsageError, match="there is no set"):
        drop_set(connection, PROCESSORS, "0" * 16, workers)
    kept, left = (workers / "worker-0" / "log" / name for name in (old.sets["manifest"], gone))
    for folder in (kept, left):
        folder.mkdir(parents=True)
    drop_set(connection, PROCESSORS, gone, workers)
    assert kept.exists()
    assert not left.exists()
    topics, groups = listing(connection)
    assert not any(gone in topic.topic for topic in topics)
    assert not any(gone in group.group for group in groups)
    assert gone not in {found.set for found in list_sets(connection, PROCESSORS)}
    forget_candidate(connection, "wide")
    with pytest.raises(UsageError, match="no candidate"):
        forget_candidate(connection, "wide")
    assert {found.memories for found in list_sets(connection, PROCESSORS)} == {"live", "old"}


def test_another_home_on_the_log_takes_up_what_was_promoted(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other", PROCESSORS)
    assert other.ask("digest") == home.ask("digest")
    workers_of_wide(home).make("working_context", "coactivation")
    home.promote("wide")
    said: list[str] = []
    other.warn = said.append
    assert other.ask("digest") == home.ask("digest")
    assert other.live_params() == wide(home)
    assert "kept as live-1" in said[0]
    assert other.memories() == ["live", "live-1"]
    other.close()
