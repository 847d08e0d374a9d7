"""What a worker or a projector says of itself while it runs: to Prometheus, and to who asks whether it is well.

Code that moves events is given a `Meters` and tells it what happened, batch by batch. The base class keeps nothing, so
that telling costs nothing where nobody asked for metrics; `Prometheus` keeps it, and `health` serves it.
A part is "worker" or "projector". Times are seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

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


class Meters:
    """What can be told. This one keeps nothing: metrics are off."""

    on: bool = False
    """Whether anybody listens: what costs something to count need not be counted otherwise."""

    def phase(self, part: str, phase: Phase) -> None:
        """The part begins a phase of its life."""

    def beat(self) -> None:
        """The process gets on: to be told at least every few seconds, also when idle."""

    def folded(self, part: str, counts: Mapping[str, int]) -> None:
        """Events were taken from the log or stream and folded: how many of each type."""

    def made(self, part: str, counts: Mapping[str, int]) -> None:
        """Derived events were made: how many of each type."""

    def took(self, part: str, stage: Stage, seconds: float) -> None:
        """A stage of one batch took so long."""

    def position(self, part: str, topic: str, partition: int, offset: int) -> None:
        """All below this offset is folded; told at assignment and after each batch."""

    def committed(self, part: str, topic: str, partition: int, offset: int) -> None:
        """All below this offset is committed."""

    def released(self, part: str, topic: str, partition: int) -> None:
        """The partition went to another worker."""

    def restoring(self, part: str, partition: int, done: int, total: int) -> None:
        """State is restored: so many of all records are read."""

    def dead_letter(self, part: str, count: int = 1) -> None:
        """Broken records went to the dead letters."""

    def gave_up(self, part: str, why: Reason) -> None:
        """A run was given up: whoever has the partition then folds it again."""

    def rebalanced(self, part: str) -> None:
        """The group shared its partitions out."""

    @contextmanager
    def timed(self, part: str, stage: Stage) -> Iterator[None]:
        """Measures a stage of one batch."""
        if not self.on:
            yield
            return
        began = time.perf_counter()
        try:
            yield
        finally:
            self.took(part, stage, time.perf_counter() - began)


OFF = Meters()
"""Metrics that nobody asked for."""


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


class Prometheus(Meters):
    """Keeps what it is told, in a registry of its own, and answers for the health of the process."""

    on = True

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram
        from prometheus_client.process_collector import ProcessCollector

        self.registry: CollectorRegistry = CollectorRegistry()
        self.readings: dict[Place, Reading] = {}
        self.phases: dict[str, Phase] = {}
        self._restored: dict[tuple[str, int], tuple[int, int]] = {}
        self._last: dict[str, float] = {}
        self._beat = time.monotonic()
        self._measured: float | None = None
        here = self.registry
        self._folded = Counter("mnemolog_events", "Events folded", ["processor", "type"], registry=here)
        self._made = Counter("mnemolog_derived_events", "Derived events made", ["processor", "type"], registry=here)
        self._dead = Counter("mnemolog_dead_letters", "Broken records set aside", ["processor"], registry=here)
        self._gave_up = Counter("mnemolog_given_up_runs", "Runs given up", ["processor", "reason"], registry=here)
        self._rebalances = Counter("mnemolog_rebalances", "Partitions shared out", ["processor"], registry=here)
        self._took = Histogram(
            "mnemolog_batch_seconds",
            "Time of one batch, by stage",
            ["processor", "stage"],
            buckets=BUCKETS,
            registry=here,
        )
        here.register(_Gauges(self))
        ProcessCollector(registry=here)

    def phase(self, part: str, phase: Phase) -> None:
        self.phases[part] = phase
        self._dead.labels(part)  # a counter that is there from the beginning can be alerted on
        self.beat()

    def beat(self) -> None:
        self._beat = time.monotonic()

    def folded(self, part: str, counts: Mapping[str, int]) -> None:
        self._last[part] = time.monotonic()
        for kind, count in counts.items():
            self._folded.labels(part, kind).inc(count)

    def made(self, part: str, counts: Mapping[str, int]) -> None:
        for kind, count in counts.items():
            self._made.labels(part, kind).inc(count)

    def took(self, part: str, stage: Stage, seconds: float) -> None:
        self._took.labels(part, stage).observe(seconds)

    def position(self, part: str, topic: str, partition: int, offset: int) -> None:
        reading = self._reading(part, topic, partition)
        if reading.position is None or reading.committed >= reading.position:
            reading.settled = time.monotonic()
        reading.position = offset

    def committed(self, part: str, topic: str, partition: int, offset: int) -> None:
        reading = self._reading(part, topic, partition)
        if offset != reading.committed:
            reading.settled = time.monotonic()
        reading.committed = offset

    def released(self, part: str, topic: str, partition: int) -> None:
        self.readings.pop(Place(part, topic, partition), None)
        self._restored.pop((part, partition), None)

    def restoring(self, part: str, partition: int, done: int, total: int) -> None:
        self._restored[part, partition] = (done, total)
        self.beat()

    def dead_letter(self, part: str, count: int = 1) -> None:
        self._dead.labels(part).inc(count)

    def gave_up(self, part: str, why: Reason) -> None:
        self._gave_up.labels(part, why).inc()

    def rebalanced(self, part: str) -> None:
        self._rebalances.labels(part).inc()

    def end(self, topic: str, partition: int, offset: int) -> None:
        """The broker says that the partition's next record gets this offset."""
        for place, reading in list(self.readings.items()):
            if (place.topic, place.partition) == (topic, partition):
                reading.end = offset

    def measured(self) -> None:
        """Ends and commits were just asked of the broker."""
        self._measured = time.monotonic()

    def exposition(self) -> bytes:
        """All of it, in Prometheus's text format."""
        from prometheus_client import generate_latest

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

    def _reading(self, part: str, topic: str, partition: int) -> Reading:
        return self.readings.setdefault(Place(part, topic, partition), Reading())


class _Gauges:
    """What is worked out when it is asked for: a gauge set only when something happens lies when nothing does."""

    def __init__(self, meters: Prometheus) -> None:
        self.meters = meters

    def collect(self) -> Iterable[Metric]:
        """The gauges, as of now."""
        from prometheus_client.core import GaugeMetricFamily

        now = time.monotonic()
        here = ["processor", "topic", "partition"]
        lag = GaugeMetricFamily("mnemolog_lag_records", "Records that wait to be folded", labels=here)
        age = GaugeMetricFamily("mnemolog_commit_age_seconds", "How long folded records wait for a commit", labels=here)
        for (part, topic, partition), reading in list(self.meters.readings.items()):
            age.add_metric([part, topic, str(partition)], reading.commit_age(now))
            if (waiting := reading.lag()) is not None:
                lag.add_metric([part, topic, str(partition)], waiting)
        yield from (lag, age, *self._of_parts(now))

    def _of_parts(self, now: float) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        idle = GaugeMetricFamily("mnemolog_idle_seconds", "Time since the last event was folded", labels=["processor"])
        for part, last in list(self.meters._last.items()):
            idle.add_metric([part], now - last)
        restored = GaugeMetricFamily(
            "mnemolog_restored_ratio", "Share of saved state that is read", labels=["processor", "partition"]
        )
        for (part, partition), (done, total) in list(self.meters._restored.items()):
            restored.add_metric([part, str(partition)], done / total if total else 1.0)
        ready = GaugeMetricFamily("mnemolog_ready", "1 where the part runs", labels=["processor"])
        for part, phase in list(self.meters.phases.items()):
            ready.add_metric([part], float(phase == "running"))
        asked = GaugeMetricFamily(
            "mnemolog_lag_age_seconds", "Time since lag was measured: high where no broker answers"
        )
        if self.meters._measured is not None:
            asked.add_metric([], now - self.meters._measured)
        yield from (idle, restored, ready, asked)
