"""How fast the pipeline on Kafka is: each worker against a bare Faust agent, all of it together, latency, scale.

The broker is the tests' own, on the same machine, so that everything shares its cores. Rates of workers are taken from
the times at which the records that end their batches were written. `MNEMOLOG_BENCH_KAFKA_TURNS` (100,000) sets the
size of the long run; the others take a fifth of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from processors import PROCESSORS
from streams.core.driver import root_schema
from streams.core.errors import BehindError
from streams.core.events import SECOND, Outside, TurnRecorded, encode
from streams.core.processor import ROOT, lineages
from streams.logs.kafka import records
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.connection import run as run_on
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import PRODUCER, Names, create
from streams.logs.log import Stored
from streams.runtime.home import Home
from tests.bench.generated import turns
from tests.kafka.broker import SMALL, Broker, NoBrokerError, free_ports

Row = dict[str, Any]
FOLDER = Path(__file__).parent.parent.parent
LINEAGES = {
    name: lineage
    for name, lineage in lineages(PROCESSORS, {p.name: p.params() for p in PROCESSORS}, root_schema()).items()
    if name != ROOT
}
SPACES = 60
PATIENCE = 900.0
RATE, SECONDS = 200, 20
"""Latency: turns a second, and for how long."""


def row(measure: str, ours: float | str, bar: str = "", met: bool | None = None, floor: str = "") -> Row:
    """One line of the table."""
    return {"measure": measure, "floor": floor, "ours": ours, "bar": bar, "met": met}


@dataclass(frozen=True)
class Place:
    """A log on the broker, and a folder for what is on this side."""

    connection: Connection
    partitions: int
    folder: Path

    @property
    def names(self) -> Names:
        """What its topics are called."""
        return Names(self.connection.prefix)

    def stream(self, processor: str) -> str:
        """A processor's stream."""
        return self.names.stream(processor, LINEAGES[processor])

    def fill(self, events: Iterable[Outside]) -> int:
        """Puts events on the raw log, as any client would; how many."""
        return run_on(self.connection, self._fill(events))

    async def _fill(self, events: Iterable[Outside]) -> int:
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(**self.connection.client(), **PRODUCER, linger_ms=5)
        await producer.start()
        sent = []
        for event in events:
            partition = records.partition_of(event.space, self.partitions)
            headers = records.headers_of(event)
            sent.append(
                await producer.send(self.names.turns, encode(event), event.space.encode(), partition, None, headers)
            )
        await asyncio.gather(*sent)
        await producer.stop()
        return len(sent)

    @contextmanager
    def process(self, *command: str) -> Iterator[Process]:
        """A command of mnemolog that runs for as long as the block."""
        (port,) = free_ports(1)
        environ = {
            "MNEMOLOG_KAFKA": self.connection.servers,
            "MNEMOLOG_KAFKA_PREFIX": self.connection.prefix,
            "MNEMOLOG_HOME": str(self.folder / "home"),
        }
        words = [sys.executable, "-m", "streams.gateways.cli", *command, "--metrics", f"127.0.0.1:{port}"]
        with (self.folder / f"{command[0]}-{port}.log").open("w") as log:
            process = subprocess.Popen(words, env=os.environ | environ, cwd=FOLDER, stdout=log, stderr=log)
            try:
                yield Process(process, port, Path(log.name))
                process.send_signal(signal.SIGTERM)
                process.wait(30)
            finally:
                process.kill()
                process.wait()


@dataclass(frozen=True)
class Process:
    """A worker or projector."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def check(self) -> None:
        """Raises RuntimeError, with what it said, where it ended."""
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.log.stem} ended: {self.log.read_text()[-2000:]}")

    def ready(self) -> None:
        """Waits until it runs."""
        deadline = time.monotonic() + 60
        while True:
            self.check()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5).close()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def seconds(self) -> dict[str, float]:
        """Time by processor and stage, and processor time, so far."""
        from prometheus_client.parser import text_string_to_metric_families

        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
            families = list(text_string_to_metric_families(answer.read().decode()))
        found = {}
        for sample in (sample for family in families for sample in family.samples):
            if sample.name == "mnemolog_batch_seconds_sum":
                found[f"{sample.labels['processor']} {sample.labels['stage']}"] = sample.value
            elif sample.name == "process_cpu_seconds_total":
                found["cpu"] = sample.value
        return found


# -- how far a stream is -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """What the ends of a stream's batches tell."""

    began: float
    ended: float
    """Seconds since 1970: of the first and the last batch."""
    share: float
    """Of the log, what was folded between the two."""


async def _ends(place: Place, topic: str) -> dict[Any, int]:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    consumer = AIOKafkaConsumer(**place.connection.client())
    await consumer.start()
    try:
        return dict(await consumer.end_offsets([TopicPartition(topic, n) for n in range(place.partitions)]))
    finally:
        await consumer.stop()


def ends(place: Place, topic: str) -> dict[int, int]:
    """The end of each partition of a topic."""
    return {tp.partition: end for tp, end in run_on(place.connection, _ends(place, topic)).items()}


async def _watch(place: Place, topic: str, wanted: Mapping[int, int], worker: Process | None) -> Ran:
    """Waits until a stream covers the raw log below `wanted`."""
    from aiokafka import AIOKafkaConsumer, TopicPartition

    consumer = AIOKafkaConsumer(**place.connection.client(), auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(topic, n) for n in wanted])
    marks: dict[int, list[tuple[int, float]]] = {n: [] for n, end in wanted.items() if end}
    try:
        while any(not its or its[-1][0] < wanted[n] - 1 for n, its in marks.items()):
            if worker is not None:
                worker.check()
            for messages in (await consumer.getmany(timeout_ms=500, max_records=5000)).values():
                for message in messages:
                    headers = dict(message.headers)
                    if headers["type"] == records.PROGRESSED:
                        marks[message.partition].append((int(headers["position"].split()[1]), message.timestamp / 1000))
    finally:
        await consumer.stop()
    covered = sum(its[-1][0] - its[0][0] for its in marks.values())
    began, ended = min(its[0][1] for its in marks.values()), max(its[-1][1] for its in marks.values())
    return Ran(began, ended, covered / sum(wanted.values()))


def watch(place: Place, processor: str, wanted: Mapping[int, int], worker: Process | None = None) -> Ran:
    """Waits until a processor's stream covers the raw log below `wanted`; when its batches ended."""
    return run_on(place.connection, asyncio.wait_for(_watch(place, place.stream(processor), wanted, worker), PATIENCE))


# -- what is measured --------------------------------------------------------------------------------------------------


def bare(place: Place, topic: str, count: int) -> float:
    """Records a second of a bare Faust agent on a topic."""
    words = [place.connection.servers, topic, str(place.partitions), str(count)]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench.bare_faust", *words],
        cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return float(ran.stdout.split()[-1])


def workers(place: Place, count: int) -> Iterator[Row]:
    """Each worker alone, on what it reads, against a bare Faust agent on the same topic."""
    place.fill(turns(count, SPACES))
    wanted = ends(place, place.names.turns)
    for processor in PROCESSORS:
        source = place.names.turns if processor.reads == ROOT else place.stream(processor.reads)
        events = sum(ends(place, source).values())
        floor = bare(place, source, events)
        with place.process("worker", processor.name) as worker:
            ran = watch(place, processor.name, wanted, worker)
        ours = events * ran.share / (ran.ended - ran.began)
        yield row(
            f"worker of {processor.name}, events/s", round(ours), f">= {0.6 * floor:.0f}", ours >= 0.6 * floor,
            f"Faust agent, one table write per key {floor:.0f}",
        )  # fmt: skip


def feeding(place: Place, count: int) -> Row:
    """Appends through the log, as `mnemolog feed` does."""
    log = KafkaLog(place.connection, place.folder)
    events = list(turns(count, SPACES, prefix="fed-"))
    began = time.perf_counter()
    for start in range(0, count, 1000):
        log.append(events[start : start + 1000])
    seconds = time.perf_counter() - began
    log.close()
    return row("feed, turns/s", round(count / seconds))


def wait_for_memory(home: Path, wanted: Mapping[int, int], projector: Process) -> None:
    """Waits until live holds the log below `wanted`."""
    after = ",".join(f"{partition}:{end - 1}" for partition, end in wanted.items() if end)
    deadline = time.monotonic() + PATIENCE
    while True:
        projector.check()
        try:
            Home(home, PROCESSORS, after=after).ask("view", name="sessions", limit=1)
        except BehindError:
            if time.monotonic() > deadline:
                raise
        else:
            return


def together(place: Place, count: int) -> Iterator[Row]:
    """All processors in one worker, and the projector, over a long log."""
    place.fill(turns(count, SPACES))
    wanted = ends(place, place.names.turns)
    began = time.time()
    with place.process("worker") as worker, place.process("project") as projector:
        projector.ready()
        wait_for_memory(place.folder / "home", wanted, projector)
        ended = time.time()
        first = watch(place, PROCESSORS[0].name, wanted, worker).began
        spent = {"worker": worker.seconds(), "projector": projector.seconds()}
    rate = count / (ended - first)
    yield row(f"five processors and the projector, {count:,} turns, turns/s", round(rate), ">= 1500", rate >= 1500)
    yield row("seconds until the first batch was folded", round(first - began, 1))
    cpu = {name: its.pop("cpu", 0.0) for name, its in spent.items()}
    for name, used in cpu.items():
        yield row(f"processor time of the {name}, share of one core", f"{used / (ended - began):.0%}")
    for name, its in spent.items():
        total = sum(its.values()) or 1.0
        shares = sorted(its.items(), key=lambda item: -item[1])
        yield row(
            f"{name}: waiting and work by stage",
            ", ".join(f"{s} {v / total:.0%}" for s, v in shares if v / total >= 0.02),
        )


def latency(place: Place) -> Iterator[Row]:
    """From append to visible in a context, while turns come at an even rate; asked for one after the other."""
    log = KafkaLog(place.connection, place.folder)
    newest: list[tuple[TurnRecorded, str, float]] = []
    waits: list[float] = []
    over = Event()

    def ask() -> None:
        while not over.wait(0.01):
            if not newest:
                continue
            turn, position, began = newest[-1]
            home = Home(place.folder / "home", PROCESSORS, after=position)
            found = home.ask("context", space=turn.space, session=turn.session)
            waits.append(time.perf_counter() - began)
            if turn.content[:27] not in str(found):
                raise RuntimeError(f"the context is without {turn.content[:27]!r}")

    try:
        with place.process("worker") as worker, place.process("project") as projector, ThreadPoolExecutor(1) as pool:
            worker.ready()
            projector.ready()
            asking = pool.submit(ask)
            try:
                kept = talk_evenly(log, newest)
            finally:
                over.set()
            asking.result()
    finally:
        log.close()
    waits.sort()
    half, most = waits[len(waits) // 2] * 1000, waits[int(len(waits) * 0.99)] * 1000
    rate = f"append to visible at {kept:.0f} turns/s"
    yield row(f"{rate}, p50 of {len(waits)}, ms", round(half), "<= 100", half <= 100)
    yield row(f"{rate}, p99, ms", round(most), "<= 400", most <= 400)


def talk_evenly(log: KafkaLog, newest: list[tuple[TurnRecorded, str, float]]) -> float:
    """Appends turns at an even rate and tells each, with its position and when it was sent; turns a second."""
    now = int(time.time()) * SECOND
    began = time.perf_counter()
    for n, turn in enumerate(turns(RATE * SECONDS, SPACES, prefix="live-")):
        turn.at = now
        turn.content = f"This is turn number {n:06}. {turn.content}"
        time.sleep(max(0.0, began + n / RATE - time.perf_counter()))
        sent = time.perf_counter()
        (outcome,) = log.append([turn])
        assert isinstance(outcome, Stored)
        newest.append((turn, f"{outcome.partition}:{outcome.offset}", sent))
    return RATE * SECONDS / (time.perf_counter() - began)


def scaled(place: Place, count: int, processes: int) -> float:
    """Turns a second through all processors, with so many workers."""
    place.fill(turns(count, SPACES))
    wanted = ends(place, place.names.turns)
    with place.process("worker") as one:
        if processes == 2:
            with place.process("worker"):
                ran = [watch(place, p.name, wanted, one) for p in PROCESSORS]
        else:
            ran = [watch(place, p.name, wanted, one) for p in PROCESSORS]
    return count / (max(r.ended for r in ran) - min(r.began for r in ran))


def run() -> list[Row]:
    """All measures; none where no broker can be had."""
    count = int(os.environ.get("MNEMOLOG_BENCH_KAFKA_TURNS", "100000"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        broker = Broker(folder / "broker", jvm=SMALL)
        try:
            broker.start()
        except NoBrokerError:
            return []

        def place(prefix: str, partitions: int) -> Place:
            connection = Connection(broker.servers, prefix)
            create(connection, LINEAGES, partitions)
            (folder / prefix).mkdir()
            return Place(connection, partitions, folder / prefix)

        try:
            rows = [*workers(place("workers", 1), count // 5), feeding(place("feed", 4), count // 5)]
            rows += [*together(place("together", 4), count), *latency(place("latency", 4))]
            one, four = scaled(place("one", 1), count // 5, 1), scaled(place("four", 4), count // 5, 2)
            cores = os.cpu_count() or 1
            rows.append(
                row(
                    f"4 partitions, 2 workers, turns/s, on {cores} cores",
                    round(four),
                    floor=f"1 partition, 1 worker {one:.0f}",
                )
            )
        finally:
            broker.kill()
    return rows
