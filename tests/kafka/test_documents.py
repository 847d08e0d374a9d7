"""What the page on Kafka says is true: its commands and its Python run on a broker, as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from streams.logs.kafka.connection import Connection
from streams.logs.kafka.records import partition_of
from streams.logs.settings import Settings
from tests.kafka.broker import free_ports
from tests.test_docs import DOCS, README, ROOT, blocks

PAGE = DOCS / "kafka.md"


@pytest.fixture
def swap(connection: Connection):
    """Puts the test's broker, topics and ports into a piece of the README."""
    ports = free_ports(2)
    others = {
        "localhost:9092": connection.servers,
        "127.0.0.1:9180": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:9181": f"127.0.0.1:{ports[1]}",
        "mnemolog.turns": f"{connection.prefix}.turns",
    }
    return lambda code: re.sub("|".join(map(re.escape, others)), lambda found: others[found[0]], code)


def first_file() -> tuple[str, str]:
    """The name and text of the first file that the README writes."""
    found = re.search(r"^cat > (\S+) <<'END'\n(.*?)^END\n", README.read_text(), re.S | re.M)
    assert found
    return found[1], found[2]


def test_the_commands_and_the_python_of_the_readme_run(connection, swap, tmp_path):
    name, text = first_file()
    (tmp_path / name).write_text(text)
    (python,) = [code for mark, code in blocks(PAGE, "python") if mark == "kafka"]
    (tmp_path / "feeds.py").write_text(swap(python))
    program = tmp_path / "mnemolog"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m streams.gateways.cli "$@"\n')
    program.chmod(0o755)
    start, *others = [swap(code) for mark, code in blocks(PAGE, "bash") if mark == "kafka"]
    script = "\n".join(
        [
            "trap 'kill $(jobs -p); wait' EXIT",
            start,
            f'"{sys.executable}" -W error feeds.py',
            "mnemolog context --session checkout --space shop --after 0:0 > /dev/null",
            *others,
        ]
    )
    environ = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "MNEMOLOG_HOME": str(tmp_path / "home"),
        "MNEMOLOG_KAFKA_PREFIX": connection.prefix,
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for said in ("7 added", 'space="default" session="login"', "there are no dead letters", "live"):
        assert said in done.stdout, done.stdout + done.stderr


def test_the_position_that_the_page_waits_for_is_that_of_its_last_turn():
    (partitions,) = re.findall(r"topics create --partitions (\d+)", PAGE.read_text())
    _, text = first_file()
    place = partition_of("default", int(partitions)), len(text.splitlines()) - 1
    assert "mnemolog context --session login --after {}:{}\n".format(*place) in PAGE.read_text()


def test_what_kcat_sends_is_an_event_on_its_right_partition():
    (command,) = [code.replace("\\\n", " ") for mark, code in blocks(PAGE, "bash") if mark == "kcat"]
    assert "topic.partitioner=murmur2_random" in command
    headers = dict(re.findall(r"-H (\S+?)=(\S+)", command))
    needed = {"ce_specversion": "1.0", "ce_type": "turn-recorded.v1", "content-type": "application/json"}
    assert needed.items() <= headers.items()
    assert {"ce_id", "ce_source"} <= headers.keys()


def test_every_setting_of_kafka_is_told_and_no_other():
    told = set(re.findall(r"\bMNEMOLOG_(KAFKA\w*|LOG)\b", PAGE.read_text()))
    there = {name.upper() for name in Settings.model_fields if name.startswith(("kafka", "log"))}
    assert there - told - {"KAFKA_KEY"} == set()
    assert told - there == set()


def test_every_metric_in_the_table_of_alerts_is_on_the_dashboard():
    dashboard = orjson.loads(Path(ROOT / "streams/runtime/kafka/grafana.json").read_bytes())
    shown = str(dashboard)
    named = re.findall(r"\b(mnemolog_[a-z_]+)\b", PAGE.read_text())
    assert len(named) >= 5
    assert [name for name in named if name not in shown] == []
