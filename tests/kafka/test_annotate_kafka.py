"""What a model writes, with the log on brokers: read from what workers derived, appended to a topic, folded by them."""

from __future__ import annotations

from pathlib import Path

from processors import PROCESSORS
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.erasable import ErasableKafkaLog
from streams.logs.kafka.topics import create
from streams.runtime.home import Home
from tests.endpoint import speaking
from tests.kafka.hands import Hands, folded
from tests.test_annotate import SUMMARY, annotate, only, talk


def test_a_model_writes_to_a_log_on_brokers(connection: Connection, tmp_path: Path) -> None:
    create(connection, (), 3)
    log = ErasableKafkaLog(connection, tmp_path)
    home = Home(tmp_path / "home", PROCESSORS)
    home.log = log
    hands = Hands(log)
    with speaking() as model:
        log.append([*talk("one", space="acme"), *talk("two", space="other")])
        hands.make()
        assert annotate(home, model).written == 4
        hands.make()
        assert annotate(home, model).asked == 0
    assert only(home.ask("view", name="segments", space="other"))["summary"] == SUMMARY["summary"]
    assert only(home.ask("view", name="efforts", space="acme"))["topic"] == "Login cookie renamed"
    assert home.ask("digest") == folded(log, tmp_path)
    log.close()
