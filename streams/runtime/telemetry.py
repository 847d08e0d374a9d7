"""Traces and metrics for OpenTelemetry: what is taken, folded and asked. One setting, MNEMOLOG_OTEL, turns them on.

Where they go is told by the variables of OpenTelemetry itself (OTEL_EXPORTER_OTLP_ENDPOINT and its like); the exporter
speaks OTLP over HTTP. Spans hold counts and names of spaces and sessions, never what was said. Questions to a memory
have the attributes of the semantic conventions for generative AI, memory operations
(https://github.com/open-telemetry/semantic-conventions-genai), which are in development there.

| span | attributes |
|---|---|
| ingest | mnemolog.events; gen_ai.operation.name `create_memory`, gen_ai.memory.record.count |
| fold | mnemolog.events |
| context, recall, recall_batch | mnemolog.space, gen_ai.conversation.id; gen_ai.operation.name `search_memory`, \
gen_ai.memory.record.count |

The metric `mnemolog.operation.duration` (seconds) counts each of them by `mnemolog.operation` and whether it failed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from streams.core.errors import UsageError

Attributes = dict[str, str | int | float | bool]
SETTING = "MNEMOLOG_OTEL"
SEARCHES = ("context", "recall", "recall_batch")
"""Questions that search a memory."""
NAME = "mnemolog"


class _Off:
    """Where nothing is measured."""

    @contextmanager
    def traced(self, operation: str, attributes: Attributes) -> Iterator[Attributes]:
        """Does nothing."""
        yield attributes


class _On:
    """Spans and durations, by the providers that are given."""

    def __init__(self, tracers: Any, meters: Any) -> None:
        self._tracer = tracers.get_tracer(NAME)
        self._took = meters.get_meter(NAME).create_histogram(
            "mnemolog.operation.duration", unit="s", description="Duration of what a server does."
        )

    @contextmanager
    def traced(self, operation: str, attributes: Attributes) -> Iterator[Attributes]:
        """A span around the block, which may add to its attributes."""
        began = time.perf_counter()
        failed = True
        with self._tracer.start_as_current_span(operation) as span:
            try:
                yield attributes
                failed = False
            finally:
                span.set_attributes(attributes)
                told = {"mnemolog.operation": operation, "error": failed}
                self._took.record(time.perf_counter() - began, told)


_telemetry: _Off | _On = _Off()


def traced(operation: str, **attributes: str | int) -> Any:
    """Measures the block: its attributes are those given, and those that it sets in the dict that it gets."""
    return _telemetry.traced(operation, {f"mnemolog.{name}": value for name, value in attributes.items()})


def asked(what: str, arguments: Mapping[str, Any], answer: Callable[[], Any]) -> Any:
    """The answer to a question; one that searches is measured."""
    if what not in SEARCHES or isinstance(_telemetry, _Off):
        return answer()
    with traced(what) as told:
        told["gen_ai.operation.name"] = "search_memory"
        for name, attribute in (("space", "mnemolog.space"), ("session", "gen_ai.conversation.id")):
            if isinstance(arguments.get(name), str):
                told[attribute] = arguments[name]
        found = answer()
        told["gen_ai.memory.record.count"] = _count(what, found)
        return found


def _count(what: str, found: Any) -> int:
    if what == "context":
        return sum(len(section["pieces"]) for section in found["sections"])
    return len(found["hits"]) if what == "recall" else len(found)


@contextmanager
def measuring(service: str) -> Iterator[None]:
    """Measures for as long as the block runs, where MNEMOLOG_OTEL is set to anything but 0; sends what is left then.

    Raises UsageError where the packages of OpenTelemetry are not installed.
    """
    global _telemetry
    if os.environ.get(SETTING, "0").lower() in ("", "0", "false", "no"):
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        missing = f"{SETTING} is set, but {error.name} is not installed"
        raise UsageError(missing, "pip install 'mnemolog[otel]'") from None
    resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", f"mnemolog-{service}")})
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource, shutdown_on_exit=False)
    _telemetry = _On(tracers, meters)
    try:
        yield
    finally:
        _telemetry = _Off()
        tracers.shutdown()
        meters.shutdown()
