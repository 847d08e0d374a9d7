"""What the pipeline on Kafka takes: processor time at rest, at even rates and over a long log; space; latency.

The broker is the tests' own, on the same machine, so that everything shares its cores: processor time is what holds
elsewhere. `MNEMOLOG_BENCH_KAFKA_TURNS` (20,000) sets the size of the long run, `MNEMOLOG_BENCH_KAFKA_SECONDS` (30) how
long turns come at each rate.
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
from streams.core.errors import BehindError
from streams.core.events import SECOND, Outside, TurnRecorded, encode
from streams.logs.kafka import records
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.connection import run as run_on
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import PRODUCER, Names, create, listing
from streams.logs.log import Stored
from streams.runtime.home import Home
from tests.bench.generated import turns
from tests.kafka.broker import SMALL, Broker, NoBrokerError, free_ports

Row = dict[str, Any]
FOLDER = Path(__file__).parent.parent.parent
SPACES = 60
PATIENCE = 900.0
RATES = (0, 20, 100, 300)
"""Turns a second."""
TALKING = 200
"""Turns a second at which latency is measured."""
BEFORE = {0: 11.3, 20: 31.3, 100: 32.5, 300: 29.8}
"""Seconds of processor time in 30 s that a worker for each processor, projector and broker took together before all
processors were folded in one pass."""
TICKS = os.sysconf("SC_CLK_TCK")


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

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        return cpu_of(self.process.pid)


def cpu_of(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def ends(place: Place) -> dict[int, int]:
    """The end of each partition of the raw log."""
    return next(found.ends for found in listing(place.connection)[0] if found.topic == place.names.turns)


# -- what is measured --------------------------------------------------------------------------------------------------


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


def together(place: Place, broker: Broker, count: int) -> Iterator[Row]:
    """All processors in one worker, and the projector, over a long log; and the space that it takes."""
    place.fill(turns(count, SPACES))
    wanted = ends(place)
    assert broker.process is not None
    with place.process("worker") as worker, place.process("project") as projector:
        worker.ready()
        projector.ready()
        rested, began = cpu_of(broker.process.pid), time.time()
        wait_for_memory(place.folder / "home", wanted, projector)
        seconds = time.time() - began
        used = {"worker": worker.cpu, "projector": projector.cpu, "broker": cpu_of(broker.process.pid) - rested}
    yield row(f"all processors and the projector, {count:,} turns, turns/s", round(count / seconds))
    yield row(
        "processor time per turn, ms: " + ", ".join(used),
        ", ".join(f"{cpu / count * 1000:.2f}" for cpu in used.values()),
        "2.6 in all before", sum(used.values()) / count * 1000 <= 2.6 / 2.5,
    )  # fmt: skip
    yield from space(place, broker, count)


def space(place: Place, broker: Broker, count: int) -> Iterator[Row]:
    """Records and bytes on the broker for each turn, by topic."""
    sizes: dict[str, int] = {}
    for folder in (broker.folder / "data").glob(f"{place.connection.prefix}.*"):
        topic = folder.name.rpartition("-")[0]
        sizes[topic] = sizes.get(topic, 0) + sum(file.stat().st_size for file in folder.glob("*.log"))
    entries = sum(sum(found.ends.values()) for found in listing(place.connection)[0]) / count
    raw, all_ = sizes[place.names.turns] / count, sum(sizes.values()) / count
    yield row("records on the broker per turn", round(entries, 1), "<= 8", entries <= 8)
    yield row("bytes on the broker per turn, raw of them", f"{all_:.0f}, {raw:.0f}", "<= 2.5 times", all_ <= 2.5 * raw)


def steadily(place: Place, broker: Broker, rate: int, seconds: int) -> Row:
    """Processor time of all while turns come at an even rate."""
    assert broker.process is not None
    pid = broker.process.pid
    log = KafkaLog(place.connection, place.folder)
    try:
        with place.process("worker") as worker, place.process("project") as projector:
            worker.ready()
            projector.ready()
            time.sleep(3)
            began = worker.cpu, projector.cpu, cpu_of(pid)
            talk_evenly(log, [], rate, seconds)
            used = [now - then for now, then in zip((worker.cpu, projector.cpu, cpu_of(pid)), began, strict=True)]
    finally:
        log.close()
    told = ", ".join(f"{cpu / seconds:.1%}" for cpu in used)
    before = BEFORE[rate] / 30
    name = f"at {rate} turns/s, share of a core: worker, projector, broker"
    if rate == 0:
        return row(name, told, "worker <= 2%", used[0] <= 0.02 * seconds, f"before {before:.0%} in all")
    return row(name, told, f"{before / 5:.0%} in all", sum(used) / seconds <= before / 5, f"before {before:.0%} in all")


def latency(place: Place, seconds: int) -> Iterator[Row]:
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
                kept = talk_evenly(log, newest, TALKING, seconds)
            finally:
                over.set()
            asking.result()
    finally:
        log.close()
    waits.sort()
    half, most = waits[len(waits) // 2] * 1000, waits[int(len(waits) * 0.99)] * 1000
    rate = f"append to answered context at {kept:.0f} turns/s"
    yield row(f"{rate}, p50 of {len(waits)}, ms", round(half), "<= 150", half <= 150)
    yield row(f"{rate}, p99, ms", round(most), "<= 500", most <= 500)


def talk_evenly(log: KafkaLog, newest: list[tuple[TurnRecorded, str, float]], rate: int, seconds: int) -> float:
    """Appends turns at an even rate and tells each, with its position and when it was sent; turns a second."""
    began = time.perf_counter()
    for n, turn in enumerate(turns(rate * seconds, SPACES, prefix=f"live-{rate}-")):
        turn.at = int(time.time()) * SECOND
        turn.content = f"This is turn number {n:06}. {turn.content}"
        time.sleep(max(0.0, began + n / rate - time.perf_counter()))
        sent = time.perf_counter()
        (outcome,) = log.append([turn])
        assert isinstance(outcome, Stored)
        newest.append((turn, f"{outcome.partition}:{outcome.offset}", sent))
    time.sleep(max(0.0, began + seconds - time.perf_counter()))
    return rate * seconds / (time.perf_counter() - began)


def run() -> list[Row]:
    """All measures; none where no broker can be had."""
    count = int(os.environ.get("MNEMOLOG_BENCH_KAFKA_TURNS", "20000"))
    seconds = int(os.environ.get("MNEMOLOG_BENCH_KAFKA_SECONDS", "30"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        broker = Broker(folder / "broker", jvm=SMALL)
        try:
            broker.start()
        except NoBrokerError:
            return []

        def place(prefix: str) -> Place:
            connection = Connection(broker.servers, prefix)
            create(connection, (), 4)
            (folder / prefix).mkdir()
            return Place(connection, 4, folder / prefix)

        try:
            rows = [feeding(place("feed"), count), *together(place("together"), broker, count)]
            rows += [steadily(place(f"rate-{rate}"), broker, rate, seconds) for rate in RATES]
            rows += latency(place("latency"), seconds)
        finally:
            broker.kill()
    return rows
