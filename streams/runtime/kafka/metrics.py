"""What a worker or a projector says of itself while it runs: to Prometheus, and to who asks whether it is well.

Code that moves events is given `Meters` and tells them what happened, batch by batch; `health` serves what they keep. A
part is "worker" or "projector". Times are seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

from streams.core.dataclasses import dataclass, field
from streams.runtime.telemetry import traced

Phase = Literal["starting", "restoring", "running", "stopping", "failed"]
"""Where a part is in its life. Only `running` is ready; `failed` is not live."""
Stage = Literal["decode", "fold", "transaction", "commit"]
"""What a batch's time is spent on."""
Reason = Literal["fenced", "away"]
"""Why a run is given up: another worker has the partition, or the brokers do not answer."""
STALLED = 120.0
"""Seconds without a sign of life after which a process counts as hung: the largest batch takes a few."""
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: a batch takes 5 to 100 ms where all is well."""


class Place(NamedTuple):
    """A partition that a part reads."""

    part: str
    topic: str
    partition: int


@dataclass(slots=True)
class Reading:
    """How far a part is in one partition."""

    position: int | None = None
    """All below is folded; None where it was not told yet."""
    end: int | None = None
    """The offset of the next record, as last asked of the broker."""
    committed: int = -1
    settled: float = field(default_factory=time.monotonic)
    """When a commit last moved, or nothing waited for one."""

    def lag(self) -> int | None:
        """Records that wait; None where it is not known."""
        if self.position is None or self.end is None:
            return None
        return max(0, self.end - self.position)

    def commit_age(self, now: float) -> float:
        """Seconds for which folded records wait for their commit; 0 where none does."""
        if self.position is None or self.committed >= self.position:
            return 0.0
        return max(0.0, now - self.settled)


class Meters:
    """Keeps what it is told, in a registry of its own, and answers for the health of the process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.readings: dict[Place, Reading] = {}
        self.phases: dict[str, Phase] = {}
        self._restored: dict[tuple[str, int], tuple[int, int]] = {}
        self._last: dict[str, float] = {}
        self._beat = time.monotonic()
        self._measured: float | None = None

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"mnemolog_{name}", about, ["processor", *labels], registry=self.registry)

        self._folded = counter("events", "Events folded", "type")
        self._made = counter("derived_events", "Derived events made", "type")
        self._dead = counter("dead_letters", "Broken records set aside")
        self._gave_up = counter("given_up_runs", "Runs given up", "reason")
        self._rebalances = counter("rebalances", "Partitions shared out")
        labels = ["processor", "stage"]
        self._took = Histogram(
            "mnemolog_batch_seconds", "Time of one batch, by stage", labels, buckets=BUCKETS, registry=self.registry
        )
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    # -- telling -------------------------------------------------------------------------------------------------------

    def phase(self, part: str, phase: Phase) -> None:
        """The part begins a phase of its life."""
        self.phases[part] = phase
        self._dead.labels(part)  # a counter that is there from the beginning can be alerted on
        self.beat()

    def beat(self) -> None:
        """The process gets on: to be told at least every few seconds, also when idle."""
        self._beat = time.monotonic()

    def folded(self, part: str, counts: Mapping[str, int]) -> None:
        """Events were taken from the log and folded: how many of each type."""
        self._last[part] = time.monotonic()
        for kind, count in counts.items():
            self._folded.labels(part, kind).inc(count)

    def made(self, part: str, counts: Mapping[str, int]) -> None:
        """Derived events were made: how many of each type."""
        for kind, count in counts.items():
            self._made.labels(part, kind).inc(count)

    @contextmanager
    def timed(self, part: str, stage: Stage) -> Iterator[None]:
        """Measures a stage of one batch."""
        with traced(stage), self._took.labels(part, stage).time():
            yield

    def position(self, part: str, topic: str, partition: int, offset: int) -> None:
        """All below this offset is folded; told at assignment and after each batch."""
        reading = self._reading(part, topic, partition)
        if reading.position is None or reading.committed >= reading.position:
            reading.settled = time.monotonic()
        reading.position = offset

    def committed(self, part: str, topic: str, partition: int, offset: int) -> None:
        """All below this offset is committed."""
        reading = self._reading(part, topic, partition)
        if offset != reading.committed:
            reading.settled = time.monotonic()
        reading.committed = offset

    def released(self, part: str, topic: str, partition: int) -> None:
        """The partition went to another worker."""
        self.readings.pop(Place(part, topic, partition), None)
        self._restored.pop((part, partition), None)

    def restoring(self, part: str, partition: int, done: int, total: int) -> None:
        """State is restored: so many of all records are read."""
        self._restored[part, partition] = (done, total)
        self.beat()

    def dead_letter(self, part: str, count: int = 1) -> None:
        """Broken records went to the dead letters."""
        self._dead.labels(part).inc(count)

    def gave_up(self, part: str, why: Reason) -> None:
        """A run was given up: whoever has the partition then folds it again."""
        self._gave_up.labels(part, why).inc()

    def rebalanced(self, part: str) -> None:
        """The group shared its partitions out."""
        self._rebalances.labels(part).inc()

    def end(self, topic: str, partition: int, offset: int) -> None:
        """The broker says that the partition's next record gets this offset."""
        for place, reading in list(self.readings.items()):
            if (place.topic, place.partition) == (topic, partition):
                reading.end = offset

    def measured(self) -> None:
        """Ends and commits were just asked of the broker."""
        self._measured = time.monotonic()

    def _reading(self, part: str, topic: str, partition: int) -> Reading:
        return self.readings.setdefault(Place(part, topic, partition), Reading())

    # -- asking --------------------------------------------------------------------------------------------------------

    def exposition(self) -> bytes:
        """All of it, in Prometheus's text format."""
        return generate_latest(self.registry)

    def live(self, now: float | None = None) -> dict[str, str]:
        """What is wrong so that only a restart helps, by part; empty where all is well."""
        wrong = {part: "failed" for part, phase in list(self.phases.items()) if phase == "failed"}
        silent = (time.monotonic() if now is None else now) - self._beat
        return wrong | ({"process": f"no sign of life for {silent:.0f} s"} if silent > STALLED else {})

    def ready(self) -> dict[str, str]:
        """What does not run yet, or no more, by part; empty where all of it runs."""
        if not self.phases:
            return {"process": "starting"}
        return {part: self._progress(part, phase) for part, phase in list(self.phases.items()) if phase != "running"}

    def _progress(self, part: str, phase: Phase) -> str:
        counts = [found for (name, _), found in list(self._restored.items()) if name == part]
        total = sum(total for _, total in counts)
        return f"{phase} {sum(done for done, _ in counts) / total:.0%}" if phase == "restoring" and total else phase

    def collect(self) -> Iterator[Metric]:
        """The gauges, worked out as of now: one set only when something happens lies when nothing does."""
        now = time.monotonic()
        readings = {(part, topic, str(p)): found for (part, topic, p), found in list(self.readings.items())}
        place = ("processor", "topic", "partition")
        lags = {name: lag for name, found in readings.items() if (lag := found.lag()) is not None}
        ages = {name: found.commit_age(now) for name, found in readings.items()}
        idle = {(part,): now - last for part, last in list(self._last.items())}
        counts = list(self._restored.items())
        restored = {(part, str(p)): done / total if total else 1.0 for (part, p), (done, total) in counts}
        ready = {(part,): phase == "running" for part, phase in list(self.phases.items())}
        measured = {} if self._measured is None else {(): now - self._measured}
        yield _gauge("lag_records", "Records that wait to be folded", place, lags)
        yield _gauge("commit_age_seconds", "How long folded records wait for a commit", place, ages)
        yield _gauge("idle_seconds", "Time since the last event was folded", ("processor",), idle)
        yield _gauge("restored_ratio", "Share of saved state that is read", ("processor", "partition"), restored)
        yield _gauge("ready", "1 where the part runs", ("processor",), ready)
        yield _gauge("lag_age_seconds", "Time since lag was measured: high where no broker answers", (), measured)


def _gauge(name: str, about: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    found = GaugeMetricFamily(f"mnemolog_{name}", about, labels=labels)
    for label, value in values.items():
        found.add_metric(label, value)
    return found
