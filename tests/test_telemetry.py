"""OpenTelemetry: what a server does is told to a collector, without what was said."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import orjson
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from mnemolog import Memory
from streams.gateways import http
from tests.serving import PATIENCE, served

SECRET = "heliotrope"


class Collector(BaseHTTPRequestHandler):
    """Takes what is exported."""

    got: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    got: list[tuple[str, bytes]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Collector,), {"got": got}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_taken_folded_and_asked_is_told_without_what_was_said(
    tmp_path: Path, collector: tuple[str, list[tuple[str, bytes]]]
) -> None:
    url, got = collector
    environment = {
        "MNEMOLOG_OTEL": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"
    }  # fmt: skip
    with served(tmp_path / "h", environment=environment):
        memory = Memory("ann", home=tmp_path / "h")
        memory.record("chat", "user", f"Ben has the {SECRET} in his shed.")
        memory.context("chat", question=f"Who has the {SECRET}?")
        memory.recall(SECRET, "chat")
    assert all(SECRET.encode() not in body for _, body in got)
    spans = [
        span
        for path, body in got
        if path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    told = {
        span.name: {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
        for span in reversed(spans)
    }
    assert {"ingest", "fold", "context", "recall"} <= told.keys()
    assert told["ingest"]["mnemolog.events"] == 1
    assert told["recall"]["gen_ai.operation.name"] == "search_memory"
    assert told["context"]["gen_ai.conversation.id"] == "chat"
    assert told["recall"]["gen_ai.memory.record.count"] == 1
    metrics = [
        metric
        for path, body in got
        if path == "/v1/metrics"
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ]
    (metric,) = [metric for metric in metrics if metric.name == "mnemolog.operation.duration"][-1:]
    operations = {a.value.string_value for p in metric.histogram.data_points for a in p.attributes}
    assert {"ingest", "fold", "context", "recall"} <= operations


def test_the_board_shows_metrics_that_there_are(tmp_path: Path) -> None:
    board = orjson.loads(Path(http.__file__).with_name("grafana.json").read_bytes())
    shown = {
        name for panel in board["panels"] for t in panel["targets"] for name in re.findall(r"mnemolog_\w+", t["expr"])
    }
    with served(tmp_path / "h") as (url, _):
        httpx.post(f"{url}/v1/turns", json={"session": "s", "role": "user", "content": "hello"}, timeout=PATIENCE)
        there = set(re.findall(r"^(mnemolog_\w+)", httpx.get(f"{url}/metrics", timeout=PATIENCE).text, re.M))
    assert shown - there - {"mnemolog_operation"} == {"mnemolog_operation_duration_seconds_bucket"}, (
        "that is OpenTelemetry's"
    )
