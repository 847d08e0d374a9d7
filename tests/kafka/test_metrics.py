"""What services tell of themselves: metrics, health, logs and the dashboard. No broker is needed but for the last."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from streams.core.errors import UsageError
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import create
from streams.runtime.addresses import host_and_port
from streams.runtime.kafka import logs
from streams.runtime.kafka.health import Sampler, Server, answer, observed
from streams.runtime.kafka.metrics import STALLED, Meters, Reading
from tests.contracts.log_contract import turn

LABELS = ("processor", "type", "stage", "topic", "partition")
DASHBOARD = Path(logs.__file__).with_name("grafana.json")


def told() -> Meters:
    """Meters of a worker that has told of everything there is."""
    meters = Meters()
    meters.phase("manifest", "running")
    meters.position("manifest", "turns", 0, 40)
    meters.end("turns", 0, 100)
    meters.restoring("manifest", 0, 3, 4)
    meters.folded("manifest", {"turn-recorded.v1": 39, "session-ended.v1": 1})
    meters.made("manifest", {"turn-filed.v1": 39})
    with meters.timed("manifest", "fold"):
        time.sleep(0.02)
    meters.dead_letter("manifest", 2)
    meters.gave_up("manifest", "fenced")
    meters.rebalanced("manifest")
    meters.measured()
    return meters


def values(meters: Meters) -> dict[str, float]:
    """The samples of ours, by name and labels."""
    families = text_string_to_metric_families(meters.exposition().decode())
    return {
        " ".join([sample.name, *(sample.labels[label] for label in LABELS if label in sample.labels)]): sample.value
        for family in families
        for sample in family.samples
        if sample.name.startswith("mnemolog")
    }


def test_what_is_told_can_be_scraped():
    found = values(told())
    assert found["mnemolog_events_total manifest turn-recorded.v1"] == 39
    assert found["mnemolog_derived_events_total manifest turn-filed.v1"] == 39
    assert found["mnemolog_lag_records manifest turns 0"] == 60
    assert found["mnemolog_restored_ratio manifest 0"] == 0.75
    assert found["mnemolog_dead_letters_total manifest"] == 2
    assert found["mnemolog_given_up_runs_total manifest"] == 1
    assert found["mnemolog_rebalances_total manifest"] == 1
    assert found["mnemolog_batch_seconds_count manifest fold"] == 1
    assert 0.02 <= found["mnemolog_batch_seconds_sum manifest fold"] < 2
    assert found["mnemolog_ready manifest"] == 1
    assert 0 <= found["mnemolog_idle_seconds manifest"] < 5
    assert 0 <= found["mnemolog_lag_age_seconds"] < 5


def test_a_partition_that_went_to_another_worker_is_told_of_no_more():
    meters = told()
    meters.released("manifest", "turns", 0)
    assert not [name for name in values(meters) if name.endswith(" 0")]


def test_lag_is_unknown_until_the_broker_was_asked_and_never_negative():
    assert Reading(position=5).lag() is None
    assert Reading(end=5).lag() is None
    assert Reading(position=5, end=3).lag() == 0


def test_a_commit_ages_only_while_something_waits_for_it():
    assert Reading(position=5, committed=5, settled=0).commit_age(100) == 0
    assert Reading(position=6, committed=5, settled=40).commit_age(100) == 60
    meters = Meters()
    meters.position("p", "t", 0, 5)
    meters.committed("p", "t", 0, 5)
    (reading,) = meters.readings.values()
    reading.settled = 0  # long ago
    meters.position("p", "t", 0, 6)
    assert reading.commit_age(time.monotonic()) < 5, "the time in which nothing was to be committed counted"


def test_a_process_without_a_sign_of_life_is_not_live():
    meters = told()
    now = time.monotonic()
    assert meters.live(now) == {}
    assert "no sign of life" in meters.live(now + STALLED + 1)["process"]


def test_a_failed_part_is_not_live_and_a_restoring_one_not_ready():
    meters = told()
    assert answer(meters, "/health/live")[0] == answer(meters, "/health/ready")[0] == 200
    meters.phase("manifest", "restoring")
    assert answer(meters, "/health/live")[0] == 200
    status, _, body = answer(meters, "/health/ready")
    assert (status, json.loads(body)["wrong"]) == (503, {"manifest": "restoring 75%"})
    meters.phase("manifest", "failed")
    assert answer(meters, "/health/live")[0] == answer(meters, "/health/ready")[0] == 503


def test_what_has_not_begun_is_live_but_not_ready():
    assert answer(Meters(), "/health/live")[0] == 200
    assert answer(Meters(), "/health/ready")[0] == 503


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_server_answers_health_and_metrics_and_nothing_else():
    server = Server(told(), "127.0.0.1:0")
    try:
        assert get(server.port, "/health/live")[0] == get(server.port, "/health/ready?verbose")[0] == 200
        assert "mnemolog_lag_records{" in get(server.port, "/metrics")[1]
        assert {get(server.port, path)[0] for path in ("/", "/sql", "/health", "/metrics/")} == {404}
    finally:
        server.close()


def test_an_address_that_is_taken_or_none_is_told_with_a_way_out():
    server = Server(Meters(), "127.0.0.1:0")
    try:
        with pytest.raises(UsageError, match="cannot be served at"):
            Server(Meters(), f"127.0.0.1:{server.port}")
    finally:
        server.close()
    for address in ("9180", ":9180", "host:", "host:http", "host:70000", "host:9180²"):
        with pytest.raises(UsageError, match="no address"):
            host_and_port(address)
    assert host_and_port("[::1]:9180") == ("::1", 9180)


def test_without_an_address_nothing_listens():
    before = threading.active_count()
    with observed(None, Connection("nowhere:1")) as meters:
        meters.phase("manifest", "running")
        assert threading.active_count() == before


def test_the_dashboard_names_every_metric_there_is_and_no_other():
    text = DASHBOARD.read_text()
    named = set(re.findall(r"\b(?:mnemolog|process)_[a-z_]+\b", text))
    families = list(text_string_to_metric_families(told().exposition().decode()))
    existing = {sample.name for family in families for sample in family.samples}
    assert named - existing == set()
    ours = {family.name for family in families if re.match("mnemolog_.*(?<!_created)$", family.name)}
    assert {name for name in ours if not any(metric.startswith(name) for metric in named)} == set()


def test_the_dashboard_has_panels_that_do_not_overlap():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


@contextmanager
def configured() -> Iterator[logging.Logger]:
    """A logger of ours where logs are configured; afterwards all is as before."""
    root, ours = logging.getLogger(), logging.getLogger("streams")
    before = root.handlers[:], root.level, ours.level
    logs.configure()
    try:
        yield logging.getLogger("streams.runtime.kafka.worker")
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        ours.setLevel(before[2])
        logging.captureWarnings(False)


def test_logs_are_json_lines_with_fields_and_errors(capsys):
    with configured() as log:
        log.info("folded %d", 3, extra={"fields": {"partition": 1, "at": "never"}})
        try:
            raise ValueError("two\nlines")
        except ValueError:
            log.exception("it failed")
        logging.getLogger("aiokafka").info("fetched")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["level"], first["message"], first["partition"]) == ("info", "folded 3", 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["at"])
    assert "ValueError: two" in second["error"]


def test_logs_for_a_person_are_plain(capsys, monkeypatch):
    monkeypatch.setenv("MNEMOLOG_LOG", "text")
    with configured() as log:
        log.warning("slow", extra={"fields": {"partition": 1}})
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} warning: slow partition=1\n", capsys.readouterr().err)


def test_lag_is_measured_on_the_broker(connection):
    create(connection, (), 2)
    log = KafkaLog(connection)
    log.append([turn(str(n), space=f"s{n}") for n in range(20)])
    ends, topic = log.ends(), log.names.turns
    log.close()
    meters = Meters()
    meters.position("worker", topic, 0, ends[0])
    meters.position("worker", topic, 1, ends[1] - 3)
    sampler = Sampler(meters, connection, every=0.05)
    deadline = time.monotonic() + 120
    wanted = f"mnemolog_lag_records worker {topic} 1"
    while (wanted not in values(meters) or meters._measured is None) and time.monotonic() < deadline:
        time.sleep(0.05)
    sampler.close()
    found = values(meters)
    assert (found[wanted], found[f"mnemolog_lag_records worker {topic} 0"]) == (3, 0)


def test_a_broker_that_cannot_be_reached_leaves_lag_unknown_and_the_process_well(caplog):
    meters = told()
    sampler = Sampler(meters, Connection("127.0.0.1:1"), every=0.05)
    deadline = time.monotonic() + 120
    while "lag cannot be measured" not in caplog.text and time.monotonic() < deadline:
        time.sleep(0.05)
    sampler.close()
    assert "lag cannot be measured" in caplog.text
    assert meters.live() == {}
