"""The services of docker-compose.yml: valid, and each of them works, as local processes on the test broker.

`compose_spec.json` is the schema of the Compose Specification as the package docker-compose 1.29.2 carries it (Apache
License 2.0, https://pypi.org/project/docker-compose/1.29.2/): no engine runs where these tests do.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT
from typing import Any

import jsonschema
import pytest
import yaml

from streams.logs.kafka.connection import Connection
from tests.kafka.broker import free_ports
from tests.processes import Program, run

ROOT = Path(__file__).parent.parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SCHEMA = json.loads(Path(__file__).with_name("compose_spec.json").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service.get("build") == "."}
PATIENCE = 60.0


def test_the_compose_file_is_valid():
    jsonschema.Draft7Validator(SCHEMA).validate(COMPOSE)


@pytest.mark.parametrize(
    ("where", "wrong"),
    [
        (("services", "worker", "helthcheck"), {}),
        (("services", "worker", "depends_on"), {"topics": {"condition": "service_finished"}}),
        (("services", "kafka", "ports"), {"a": 1}),
        (("volume",), {}),
    ],
)
def test_the_schema_finds_what_is_wrong(where, wrong):
    spoilt: Any = json.loads(json.dumps(COMPOSE))
    place = spoilt
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = wrong
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SCHEMA).validate(spoilt)


def test_services_name_only_volumes_services_and_hosts_that_there_are():
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", {})) <= set(SERVICES), name
        named = {volume.partition(":")[0] for volume in service.get("volumes", []) if not volume.startswith("/")}
        assert named <= set(COMPOSE["volumes"]), name
    assert {service["environment"]["MNEMOLOG_KAFKA"] for service in OURS.values()} == {"kafka:9092"}
    assert "INSIDE://kafka:9092" in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]


def test_every_service_that_stays_is_asked_for_its_health_and_started_again():
    for name, service in SERVICES.items():
        if name != "topics":
            assert service["healthcheck"]["test"][0] == "CMD", name
            assert service["restart"] == "unless-stopped", name


def test_nothing_is_reachable_from_other_machines():
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_holds_what_the_wheel_is_built_from():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    built = re.search(r"packages = \[(.*)\]", (ROOT / "pyproject.toml").read_text())
    assert built
    assert (
        set(re.findall(r'"(\w+)"', built[1])) | {"pyproject.toml", "README.md", "mnemolog.py", "hatch_build.py"} == kept
    )


def test_the_broker_of_the_tests_is_the_one_that_users_get():
    (tested,) = re.findall(
        r"<version>(3\.[\d.]+|4\.[\d.]+)</version>\s*</dependency>\s*<!--", (ROOT / "tests/kafka/pom.xml").read_text()
    )
    assert SERVICES["kafka"]["image"] == f"apache/kafka:{tested}"


class Local:
    """A service's own command and environment, as a local process: other addresses and folders, all else the same."""

    def __init__(self, name: str, connection: Connection, folder: Path) -> None:
        (self.port,) = free_ports(1)
        self.folder = folder
        self.swapped = {
            "kafka:9092": connection.servers,
            "0.0.0.0:9180": f"127.0.0.1:{self.port}",
            "127.0.0.1:9180": f"127.0.0.1:{self.port}",
            "/var/lib/mnemolog": str(folder),
        }
        service = OURS[name]
        self.command = [self._swap(str(word)) for word in service["command"]]
        said = image_environment() | service["environment"]
        self.environment = os.environ | {key: self._swap(str(value)) for key, value in said.items()}
        self.environment["MNEMOLOG_KAFKA_PREFIX"] = connection.prefix
        self.health = [self._swap(str(word)) for word in service.get("healthcheck", {}).get("test", [])[1:]]
        self.grace = float(service.get("stop_grace_period", "10s").removesuffix("s"))
        folder.mkdir(parents=True, exist_ok=True)
        self.output = (folder.parent / f"{folder.name}.log").open("w+")

    def _swap(self, text: str) -> str:
        for ours, local in self.swapped.items():
            text = text.replace(ours, local)
        return text

    def run(self, *command: str, given: str = "") -> str:
        """What a command says in the service's environment (`docker compose exec`). It must do well."""
        words = command or self.command
        ran = run(*words, env=self.environment, input=given, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    @contextmanager
    def running(self) -> Iterator[Program]:
        """The service runs, and stops in its grace period without an error."""
        process = Program(*self.command, env=self.environment, stdout=self.output, stderr=STDOUT, text=True)
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            assert process.wait(self.grace) == 0, self.told()
        finally:
            process.kill()
            process.wait()
            self.output.close()

    def told(self) -> str:
        """What it has said so far."""
        self.output.flush()
        return (self.folder.parent / f"{self.folder.name}.log").read_text()

    def healthy(self) -> bool:
        """Whether the service's own health check passes."""
        words = [sys.executable, *self.health[1:]] if self.health[0] == "python" else self.health
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of what it serves."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)


def image_environment() -> dict[str, str]:
    """What the Dockerfile sets."""
    (line,) = re.findall(r"^ENV (.*)$", (ROOT / "Dockerfile").read_text(), re.M)
    return dict(word.split("=", 1) for word in line.split())


def wait_for(what: Any, why: Any) -> None:
    """Waits until `what()` is true; fails with `why()`."""
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, why()
        time.sleep(0.1)


def test_the_services_fold_a_turn_and_answer_with_it(connection, tmp_path):
    turn = {"id": "t1", "session": "login", "role": "user", "content": "Why does the login test fail since Tuesday?"}
    topics = Local("topics", connection, tmp_path / "topics")
    topics.run()
    topics.output.close()
    worker = Local("worker", connection, tmp_path / "worker")
    projector = Local("projector", connection, tmp_path / "projector")
    with worker.running(), projector.running():
        for service in (worker, projector):
            wait_for(lambda: service.get("/health/ready")[0] == 200, service.told)  # noqa: B023
            assert service.healthy(), service.told()
        projector.run("feed", "-", given=json.dumps(turn) + "\n")

        def shown() -> bool:
            return "Why does the login test fail" in projector.run("context", "--session", "login")

        wait_for(shown, lambda: worker.told() + projector.told())
        counted = 'mnemolog_events_total{processor="worker",type="turn-recorded.v1"} 1.0'
        assert counted in worker.get("/metrics")[1]
        for line in worker.told().splitlines():
            assert set(json.loads(line)) >= {"at", "level", "logger", "message"}, "a log line is no JSON"
