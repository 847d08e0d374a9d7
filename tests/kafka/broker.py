"""A real Apache Kafka for the tests: its own jars, had through Maven, run by Java. Nothing is mocked."""

from __future__ import annotations

import atexit
import base64
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
START_PATIENCE = 60.0
"""Seconds a broker may take to answer: 4 on an idle machine."""
STOP_PATIENCE = 20.0
"""Seconds a broker may take to stop before it is killed."""
ENDED = 128 + signal.SIGTERM
"""The exit status of Java that ended because it was told to."""
SMALL = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Xshare:auto")
HASTY = (*SMALL, "-XX:TieredStopAtLevel=1")
"""For a small broker on a machine that runs tests: compiling less starts it in half the time."""
CLASSES = "classes.jsa"
CHECKPOINT = "bootstrap.checkpoint"
"""What a node's log begins with, the same for all nodes of a version, as the storage tool writes it."""


class NoBrokerError(Exception):
    """There is no way to run a broker here; says why."""


def jars() -> Path:
    """The folder with the broker's jars, which Maven fills once a version. Raises NoBrokerError."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise NoBrokerError(f"there is no {program} and MNEMOLOG_TEST_KAFKA names no broker")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mnemolog-test-kafka"
    folder = cache / hashlib.blake2b(POM.read_bytes(), digest_size=6).hexdigest()
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        fresh = Path(scratch) / "jars"
        command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", "-DincludeScope=runtime"]
        ran = subprocess.run([*command, f"-DoutputDirectory={fresh}"], capture_output=True, text=True, check=False)
        if ran.returncode:
            told = [line for line in ran.stdout.splitlines() if line.startswith("[ERROR]")] or ["?"]
            raise NoBrokerError(f"Maven could not have the broker's jars: {told[0][:200]}")
        if not folder.exists():
            fresh.rename(folder)
    return folder


@cache
def rehearsed() -> Path | None:
    """The folder with what starts a broker in half the time, left by one that ran once for each version of jars and
    Java: an archive of its classes, and what the storage tool makes. None where this Java keeps no such archive."""
    folder, java = jars(), Path(shutil.which("java") or "").resolve()
    kept = folder.with_name(f"{folder.name}-{java.stat().st_mtime_ns:x}")
    if not kept.exists():
        with (
            suppress(NoBrokerError, OSError),
            tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as scratch,
        ):
            fresh = Path(scratch) / "kept"
            fresh.mkdir()
            archive = f"-XX:ArchiveClassesAtExit={fresh / CLASSES}"
            broker = Broker(Path(scratch) / "broker", jvm=(*HASTY, archive), rehearsal=True)
            broker.start()
            if broker.stop() == ENDED:  # else the archive may be cut off: Java would not always notice, and crash
                (broker.folder / "data" / CHECKPOINT).rename(fresh / CHECKPOINT)
                (fresh / CLASSES).stat()
                fresh.rename(kept)
    return kept if kept.exists() else None


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    sockets = [socket.socket() for _ in range(count)]
    for found in sockets:
        found.bind(("127.0.0.1", 0))
    ports = [int(found.getsockname()[1]) for found in sockets]
    for found in sockets:
        found.close()
    return ports


CALM = {"broker.session.timeout.ms": "60000"}
"""For a broker that nobody kills: however slow the machine, it is not taken for dead and shut out for a while."""


class Broker:
    """One node, broker and controller in one process. It keeps its ports and its data over restarts."""

    def __init__(
        self,
        folder: Path,
        *,
        listeners: Sequence[str] = ("PLAINTEXT",),
        properties: Mapping[str, str] | None = None,
        format_options: Sequence[str] = (),
        node: int = 1,
        voters: Mapping[int, int] | None = None,
        cluster: str = "",
        jvm: Sequence[str] = HASTY,
        relay: bool = False,
        rehearsal: bool = False,
    ) -> None:
        """A node that keeps its files in `folder`.

        `listeners` are security protocols (PLAINTEXT, SASL_PLAINTEXT, SSL, SASL_SSL), each gets a port; brokers talk
        over the first. `properties` outrank what stands here, `format_options` go to the storage tool (`--add-scram`,
        ...). `voters` are the controllers' ports by node in a cluster of several. With `relay` it also listens at the
        port `relayed`, and tells clients there to come to the port `relay`, where somebody passes on what they send.
        A `rehearsal` starts without what one has left.
        """
        self.folder = folder
        self.node = node
        self.ports = dict(zip(listeners, free_ports(len(listeners)), strict=True))
        self.voters = dict(voters or {node: free_ports(1)[0]})
        self.cluster = cluster or _cluster_id()
        self.relayed, self.relay = free_ports(2) if relay else (0, 0)
        self.process: subprocess.Popen[bytes] | None = None
        self._jvm = jvm
        self._properties = dict(properties or {})
        self._format_options = list(format_options)
        self._rehearsal = rehearsal

    @property
    def servers(self) -> str:
        """`host:port` of the first listener."""
        return self.at(next(iter(self.ports)))

    def at(self, listener: str) -> str:
        """`host:port` of a listener."""
        return f"127.0.0.1:{self.ports[listener]}"

    def launch(self) -> None:
        """Starts the process and returns at once; `wait` says when it answers. Raises NoBrokerError."""
        jars()
        if not (self.folder / "server.properties").exists():
            self._format()
        log = (self.folder / "broker.log").open("ab")
        self.process = subprocess.Popen(
            [*self._java(*self._jvm), "kafka.Kafka", str(self.folder / "server.properties")],
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the tests, which stop it themselves
        )
        log.close()
        atexit.register(self.kill)

    def start(self) -> None:
        """Starts the process and waits until it answers. Raises NoBrokerError when it does not."""
        self.launch()
        self.wait()

    def wait(self) -> None:
        """Waits until every listener answers. Raises NoBrokerError when it does not."""
        deadline = time.monotonic() + START_PATIENCE
        for port in self.ports.values():
            while not _answers(port):
                if self.process is None or self.process.poll() is not None or time.monotonic() > deadline:
                    self.kill()
                    raise NoBrokerError(f"the broker does not start:\n{self.told()}")
                time.sleep(0.05)

    def stop(self) -> int:
        """Stops it in good order. Returns its exit status, ENDED if that went well."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stops it in good order and starts it again."""
        self.stop()
        self.start()

    def told(self) -> str:
        """The last lines of its log."""
        log = self.folder / "broker.log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-20:]) if log.exists() else ""

    def _end(self, how: signal.Signals) -> int:
        if self.process is None:
            return 0
        self.process.send_signal(how)
        try:
            status = self.process.wait(STOP_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process = None
        atexit.unregister(self.kill)
        return status

    def _java(self, *options: str) -> list[str]:
        log4j = f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}"
        archive = [f"-XX:SharedArchiveFile={self._kept / CLASSES}"] if self._kept else []
        return ["java", *options, *archive, log4j, "-cp", f"{jars()}/*"]

    @property
    def _kept(self) -> Path | None:
        return None if self._rehearsal else rehearsed()

    def _format(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "log4j.properties").write_text(LOG4J)
        lines = [f"{name}={value}" for name, value in (self._settings() | self._properties).items()]
        properties = self.folder / "server.properties.fresh"
        properties.write_text("\n".join(lines) + "\n")
        if self._kept and not self._format_options:
            self._copy(self._kept)
        else:
            self._make(properties)
        properties.rename(self.folder / "server.properties")

    def _copy(self, kept: Path) -> None:
        """Does what the storage tool does, which takes half as long as the broker takes to start."""
        data = self.folder / "data"
        data.mkdir()
        shutil.copy(kept / CHECKPOINT, data)
        identity = {"node.id": self.node, "directory.id": _cluster_id(), "version": 1, "cluster.id": self.cluster}
        (data / "meta.properties").write_text("".join(f"{name}={value}\n" for name, value in identity.items()))

    def _make(self, properties: Path) -> None:
        tool = ["kafka.tools.StorageTool", "format", "-t", self.cluster, "-c", str(properties)]
        options = ("-XX:TieredStopAtLevel=1", "-Xmx128m")
        ran = subprocess.run(
            [*self._java(*options), *tool, *self._format_options], capture_output=True, text=True, check=False
        )
        if ran.returncode:
            raise NoBrokerError(f"the broker's storage cannot be made: {ran.stdout[-2000:]}{ran.stderr[-2000:]}")

    def _settings(self) -> dict[str, str]:
        listeners = [f"{name}://127.0.0.1:{port}" for name, port in self.ports.items()]
        advertised = [*listeners]
        protocols = ["CONTROLLER:PLAINTEXT", *(f"{name}:{name}" for name in self.ports)]
        if self.relay:
            listeners.append(f"RELAYED://127.0.0.1:{self.relayed}")
            advertised.append(f"RELAYED://127.0.0.1:{self.relay}")
            protocols.append("RELAYED:PLAINTEXT")
        replicas = str(min(3, len(self.voters)))
        return {
            "process.roles": "broker,controller",
            "node.id": str(self.node),
            "controller.quorum.voters": ",".join(f"{node}@127.0.0.1:{port}" for node, port in self.voters.items()),
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join([*listeners, f"CONTROLLER://127.0.0.1:{self.voters[self.node]}"]),
            "advertised.listeners": ",".join(advertised),
            "listener.security.protocol.map": ",".join(protocols),
            "inter.broker.listener.name": next(iter(self.ports)),
            "log.dirs": str(self.folder / "data"),
            "auto.create.topics.enable": "false",  # every topic is made on purpose, with its settings
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000",
            "num.network.threads": "2",
            "num.io.threads": "4",
            "background.threads": "2",
            "log.cleaner.dedupe.buffer.size": "4194304",
            "log.segment.bytes": "67108864",
            "log.retention.check.interval.ms": "1000",
            "broker.session.timeout.ms": "3000",  # a broker that crashed is let in again after this
            "broker.heartbeat.interval.ms": "500",
            "controlled.shutdown.max.retries": "1",
        }


class Cluster:
    """Several nodes that replicate to each other."""

    def __init__(self, folder: Path, nodes: int = 3) -> None:
        voters = dict(enumerate(free_ports(nodes), 1))
        cluster = _cluster_id()
        self.nodes = [Broker(folder / str(n), node=n, voters=voters, cluster=cluster) for n in voters]

    @property
    def servers(self) -> str:
        """`host:port` of every node."""
        return ",".join(node.servers for node in self.nodes)

    def start(self) -> None:
        """Starts all nodes and waits until they answer. Raises NoBrokerError."""
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait()

    def stop(self) -> None:
        """Ends all nodes. Why not in good order: the last ones would wait for a majority that is gone."""
        for node in self.nodes:
            node.kill()


def _cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "a", 1)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


LOG4J = """\
log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d %p %m (%c)%n
log4j.logger.org.apache.kafka.clients.NetworkClient=ERROR
"""
