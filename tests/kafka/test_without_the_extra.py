"""Who has no Kafka needs nothing of it; who names a broker without the extra is told what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson

ROOT = Path(__file__).parents[2]
PROGRAM = """
import contextlib, io, json, sys
for name in ("aiokafka", "faust", "mode", "rocksdict", "prometheus_client", "aiohttp"):
    sys.modules[name] = None
from streams.gateways.cli import main
line = b'{"session": "x", "role": "user", "content": "hello"}'
for command in json.load(sys.stdin):
    said = io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(line))
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(command.split())
        except SystemExit as done:
            code = done.code
    sys.stdout.write(json.dumps([command, code, said.getvalue()]) + "\\n")
"""


def told(home: Path, broker: str, *commands: str) -> list[tuple[str, int, str]]:
    """Each command, its exit code and what it complains of, where nothing of the extra is installed."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "MNEMOLOG_HOME": str(home), "MNEMOLOG_KAFKA": broker},
        input=orjson.dumps(commands),
        capture_output=True,
        check=True,
    )
    return [tuple(orjson.loads(line)) for line in ran.stdout.splitlines()]


def test_the_embedded_default_works_without_it(tmp_path: Path) -> None:
    for command, code, complaint in told(tmp_path, "", "--help", "feed -", "efforts", "tail", "doctor"):
        assert (code, complaint) == (0, ""), command


KAFKA = ("topics", "topics create", "log copy", "worker", "project", "lineages", "dead-letters")


def test_a_broker_that_is_named_without_it_gives_the_command_that_installs_it(tmp_path: Path) -> None:
    for command, code, complaint in told(
        tmp_path, "localhost:9092", *KAFKA, "feed -", "efforts", "tail", f"archive {tmp_path}/a"
    ):
        assert code == 2, (command, complaint)
        assert "pip install 'mnemolog[kafka]'" in complaint, command


def test_commands_that_need_a_broker_say_how_to_name_one(tmp_path: Path) -> None:
    for command, code, complaint in told(tmp_path, "", *KAFKA):
        assert code == 2, (command, complaint)
        assert "MNEMOLOG_KAFKA=" in complaint, command
