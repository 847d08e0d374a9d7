"""One broker for all tests of this folder, and a log of its own (its topics' prefix) for each test."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.admin.records_to_delete import RecordsToDelete

from streams.logs.kafka.connection import Connection, admin, run
from tests.kafka.broker import CALM, Broker, NoBrokerError

REQUIRED = bool(os.environ.get("CI") or os.environ.get("MNEMOLOG_REQUIRE_KAFKA"))
"""Whether a missing broker fails the tests instead of skipping them."""
_reasons: set[str] = set()
_skipped: Counter[str] = Counter()


def without_broker(why: str) -> None:
    """Skips the test, or fails it where a broker is required."""
    if REQUIRED:
        pytest.fail(f"no Kafka, though CI or MNEMOLOG_REQUIRE_KAFKA asks for one: {why}")
    _reasons.add(why)
    pytest.skip(why)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Counts tests, not fixtures: one broker that is missing skips many."""
    if report.skipped and isinstance(report.longrepr, tuple):
        why = str(report.longrepr[2]).removeprefix("Skipped: ")
        _skipped[why] += why in _reasons


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line: how many tests were skipped for want of a broker, and why."""
    for why, count in (+_skipped).items():
        print(f"{count} tests on Kafka were skipped: {why}")


@pytest.fixture(scope="module")
def make_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Broker]]:
    """Makes a broker with the arguments of `Broker` (without its folder), for tests that break or configure it.

    They end with the file: one that idles takes 2 % of a core.
    """
    made: list[Broker] = []

    def make(**how: object) -> Broker:
        broker = Broker(tmp_path_factory.mktemp("broker"), **how)  # type: ignore[arg-type]
        made.append(broker)
        try:
            broker.start()
        except NoBrokerError as error:
            without_broker(str(error))
        return broker

    yield make
    for broker in made:
        broker.kill()


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str | NoBrokerError]:
    """The servers of the broker that all tests share, or why there is none."""
    if running := os.environ.get("MNEMOLOG_TEST_KAFKA"):
        yield running
        return
    broker = Broker(tmp_path_factory.mktemp("kafka"), properties=CALM)
    try:
        broker.start()
    except NoBrokerError as error:
        yield error
        return
    yield broker.servers
    broker.kill()


@pytest.fixture
def servers(shared_broker: str | NoBrokerError) -> str:
    """`host:port` of the broker that all tests share; do not stop it."""
    if isinstance(shared_broker, NoBrokerError):
        without_broker(str(shared_broker))
    return str(shared_broker)


@pytest.fixture
def prefix(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What the topics of this test begin with."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-")
    return f"{name}-{os.urandom(3).hex()}"


@pytest.fixture
def connection(servers: str, prefix: str) -> Connection:
    """The shared broker, with topics of this test's own (which it makes itself)."""
    return Connection(servers, prefix)


@pytest.fixture
def truncate(connection: Connection) -> Callable[[str, int, int], None]:
    """Takes from a partition of a topic what lies before an offset, as retention would: (topic, partition, offset)."""

    async def delete(topic: str, partition: int, before: int) -> None:
        async with admin(connection) as client:
            await client.delete_records({TopicPartition(topic, partition): RecordsToDelete(before)})

    return lambda topic, partition, before: run(connection, delete(topic, partition, before))
