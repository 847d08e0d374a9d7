"""Processes, network and broker break under load: nothing is lost, nothing doubled, and all comes back by itself.

A few faults by default; `make faults` (MNEMOLOG_FAULTS=N) has N rounds of all, and tells how long recoveries took. The
moments are random; MNEMOLOG_SEED gives those of another run again.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Event, Thread

import pytest

from processors import PROCESSORS
from projections.store import read_only
from projections.stored import digest
from streams.core.errors import BehindError, LogError
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import create
from streams.logs.log import Duplicate, Stored
from streams.runtime.home import Home
from streams.runtime.home.client import HolderLeftError, ask_holder
from tests.bench.generated import turns
from tests.kafka.broker import Broker
from tests.kafka.hands import folded
from tests.kafka.relay import Relay
from tests.processes import Program

ROUNDS = int(os.environ.get("MNEMOLOG_FAULTS") or 0)
SEED = int(os.environ.get("MNEMOLOG_SEED") or time.time())
FAULTS = ("worker", "projector", "broker", "restart", "rebalance", "freeze", "stall")
FEW = ("worker", "broker", "freeze")
FROZEN = 12.0
"""Seconds that a process stands still, or its bytes are held: twice the time after which its group gives it up."""
PATIENCE = 300.0
"""Seconds after which what does not come back is taken for lost; it takes about ten, longer on a busy machine."""
PARTITIONS = 3


class Service:
    """A command of mnemolog that is started again whenever it ended, as by a supervisor."""

    def __init__(self, environ: dict[str, str], log: Path, *command: str) -> None:
        self.environ = environ
        self.log = log
        self.command = command
        self.before = 0
        self.start()

    def start(self) -> None:
        """Starts it."""
        with self.log.open("a") as log:
            self.before = log.tell()
            self.process = Program(*self.command, env=self.environ, stdout=log, stderr=log)

    def keep(self) -> None:
        """Starts it again where it ended."""
        if self.process.poll() is not None:
            self.start()

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()

    def await_work(self) -> None:
        """Waits until it works: Python itself ends a process that is told to stop before the command has begun."""
        deadline = time.monotonic() + PATIENCE
        while not any(word in self.log.read_bytes()[self.before :] for word in (b'"folding"', b"serving")):
            assert self.process.poll() is None, self.told()
            assert time.monotonic() < deadline, self.told()
            time.sleep(0.1)

    def stop(self) -> int:
        """Stops it in good order; its exit code."""
        self.await_work()
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.kill()

    def told(self) -> str:
        """The last of what it said."""
        return f"{self.log.name}:\n{self.log.read_text()[-4000:]}"


class Feeder:
    """Appends turns, about 150 a second, until it is stopped; again where the brokers did not answer."""

    def __init__(self, log: KafkaLog) -> None:
        self.log = log
        self.fed = 0
        self.error: BaseException | None = None
        self._stopped = Event()
        self._thread = Thread(target=self._feed, daemon=True)
        self._thread.start()

    def _feed(self) -> None:
        source = turns(1_000_000, 24)
        try:
            while not self._stopped.wait(0.1) and (page := list(islice(source, 15))):
                while True:
                    with suppress(LogError):
                        outcomes = self.log.append(page)
                        break
                    time.sleep(0.2)
                assert all(isinstance(outcome, (Stored, Duplicate)) for outcome in outcomes)
                self.fed += len(page)
        except BaseException as error:
            self.error = error

    def stop(self) -> int:
        """Stops; how many turns it appended."""
        self._stopped.set()
        self._thread.join(60)
        assert self.error is None, self.error
        return self.fed


class Pipeline:
    """Two workers, a projector, a feeder and the broker, all of which can be broken."""

    def __init__(self, broker: Broker, prefix: str, folder: Path) -> None:
        self.broker = broker
        self.folder = folder
        self.connection = Connection(broker.servers, prefix)
        create(self.connection, (), PARTITIONS)
        self.environ = os.environ | {
            "MNEMOLOG_KAFKA": broker.servers,
            "MNEMOLOG_KAFKA_PREFIX": prefix,
            "MNEMOLOG_HOME": str(folder / "home"),
        }
        self.home = Home(folder / "home", PROCESSORS)
        self.log = KafkaLog(self.connection, folder)
        self.marked = 0
        self.relay = Relay(broker.relay, broker.relayed)
        through = {"MNEMOLOG_KAFKA": f"127.0.0.1:{broker.relay}"}
        self.workers = [self.service("worker", f"worker-{n}", **(through if n else {})) for n in range(2)]
        self.projector = self.service("project", "projector")

    def service(self, command: str, name: str, **environ: str) -> Service:
        """A new process."""
        return Service(self.environ | environ, self.folder / f"{name}.log", command)

    @property
    def services(self) -> list[Service]:
        """All processes."""
        return [*self.workers, self.projector]

    def told(self) -> str:
        """What all processes said last."""
        return "\n".join(service.told() for service in self.services)

    def mark(self) -> str:
        """Appends a turn; its position."""
        self.marked += 1
        (turn,) = turns(1, 1, seed=self.marked, prefix=f"mark-{self.marked}-")
        while True:
            with suppress(LogError):
                (outcome,) = self.log.append([turn])
                assert isinstance(outcome, (Stored, Duplicate)), outcome
                return f"{outcome.partition}:{outcome.offset}"
            time.sleep(0.2)

    def reach(self, position: str) -> None:
        """Waits until the memory holds a position."""
        deadline = time.monotonic() + PATIENCE
        asked = {"ask": "view", "arguments": {"name": "sessions", "limit": 1}, "after": position}
        while True:
            for service in self.services:
                service.keep()
            with suppress(BehindError, HolderLeftError):
                ask_holder(self.home.folder.socket, asked)  # not `request`: it would fold itself where no projector is
                return
            assert time.monotonic() < deadline, f"seed {SEED}: not recovered after {PATIENCE:g} s\n{self.told()}"
            time.sleep(0.1)

    def break_(self, fault: str, rng: random.Random) -> None:
        """One fault."""
        match fault:
            case "worker":
                rng.choice(self.workers).kill()
            case "projector":
                self.projector.kill()
            case "broker":
                self.broker.kill()
                self.broker.start()
            case "restart":
                self.broker.restart()
            case "freeze":
                victim = rng.choice(self.workers).process
                victim.send_signal(signal.SIGSTOP)
                time.sleep(FROZEN)
                victim.send_signal(signal.SIGCONT)
            case "stall":
                self.relay.hold()
                time.sleep(FROZEN)
                self.relay.deliver()
            case "rebalance":
                guest = self.service("worker", f"guest-{self.marked}")
                guest.await_work()
                time.sleep(rng.uniform(1, 5))
                assert guest.stop() == 0, guest.told()

    def end(self) -> None:
        """Leaves nothing behind."""
        for service in self.services:
            service.kill()
        self.relay.close()
        self.log.close()
        self.broker.kill()


@pytest.fixture
def pipeline(make_broker: Callable[..., Broker], prefix: str, tmp_path: Path) -> Iterator[Pipeline]:
    """A pipeline on a broker of its own, which holds all there is to hold."""
    found = Pipeline(make_broker(relay=True), prefix, tmp_path)
    yield found
    found.end()


def test_faults_under_load_lose_nothing_and_double_nothing(pipeline, tmp_path):
    rng = random.Random(SEED)
    faults = [fault for _ in range(ROUNDS) for fault in rng.sample(FAULTS, len(FAULTS))] or rng.sample(FEW, len(FEW))
    pipeline.reach(pipeline.mark())
    feeder = Feeder(pipeline.log)
    recoveries: list[tuple[float, str]] = []
    for number, fault in enumerate(faults, 1):
        time.sleep(rng.uniform(0.2, 2))
        began = time.monotonic()
        pipeline.break_(fault, rng)
        pipeline.reach(pipeline.mark())
        recoveries.append((round(time.monotonic() - began, 1), fault))
        print(f"\r{number} of {len(faults)} faults, {feeder.fed} turns ", end="", flush=True)
    fed = feeder.stop()
    print(f"\nseed {SEED}: {fed} turns; slowest recoveries {sorted(recoveries)[-5:]}")
    ends = [pipeline.log.end(partition) for partition in range(PARTITIONS)]
    pipeline.reach(",".join(f"{partition}:{end - 1}" for partition, end in enumerate(ends) if end))
    assert [service.stop() for service in pipeline.services] == [0, 0, 0], pipeline.told()
    connection = read_only(pipeline.home.memory_path("live"))
    live = digest(connection)
    (held,) = connection.execute("SELECT count(*) FROM turn_recorded").fetchall()[0]
    connection.close()
    assert live == folded(pipeline.log, tmp_path), f"seed {SEED}"
    assert held == fed + pipeline.marked


def test_a_broker_that_is_away_for_a_while_is_waited_for(pipeline, tmp_path):
    pipeline.reach(pipeline.mark())
    before = [service.process.pid for service in pipeline.services]
    pipeline.broker.stop()
    time.sleep(20)
    pipeline.broker.start()
    pipeline.reach(pipeline.mark())
    assert [service.process.pid for service in pipeline.services] == before, pipeline.told()
    assert len(pipeline.told().splitlines()) < 60, "a broker that is away is told of in few lines"
