"""A server under a steady load: how long a turn takes to record, and whether anything grows that should not.

Clients record `MNEMOLOG_BENCH_RATE` (100) turns a second for `MNEMOLOG_BENCH_SECONDS` (60; an hour is 3600), and ask
for a context once a second. Memory, descriptors and threads of the server are looked at all the while; the bytes of the
home once it rests. Before that it took `BEFORE` turns of each space, as fast as it could: of so many a processor keeps
no more than it does of any more. What is early is the second tenth of the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from statistics import median, quantiles
from typing import Any, NamedTuple

from mnemolog import Memory
from processors import PROCESSORS
from streams.core.events import TurnRecorded
from streams.runtime.home import Home
from streams.runtime.home.folding import IDLE
from streams.runtime.replay import replay
from tests.bench.generated import turns
from tests.bench.speed import Row, resident, row

RATE = float(os.environ.get("MNEMOLOG_BENCH_RATE", "100"))
SECONDS = float(os.environ.get("MNEMOLOG_BENCH_SECONDS", "60"))
CLIENTS, SPACES, BEFORE = 8, 5, 2500
PROGRAM = [sys.executable, "-m", "streams.gateways.cli"]


class Look(NamedTuple):
    """What the server holds at a moment."""

    memory: int
    """Bytes."""
    descriptors: int
    threads: int

    @classmethod
    def at(cls, pid: int) -> Look:
        """Now. Linux only."""
        process = Path(f"/proc/{pid}")
        return cls(resident(pid), len([*(process / "fd").iterdir()]), len([*(process / "task").iterdir()]))


def load(home: Path, pid: int) -> tuple[list[float], list[Look], int]:
    """Records turns at the rate; how long each took in seconds, what was seen of the server, and how many were sent."""
    due: SimpleQueue[TurnRecorded | None] = SimpleQueue()
    took: list[float] = []

    def client() -> None:
        while turn := due.get():
            memory, began = Memory(turn.space, home=home), time.perf_counter()
            memory.record(turn.session, turn.role, turn.content, agent=turn.agent, id=turn.id)
            took.append(time.perf_counter() - began)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    looks: list[Look] = []
    source = turns(BEFORE * SPACES + int(RATE * SECONDS), SPACES)
    for turn in islice(source, BEFORE * SPACES):
        due.put(turn)
    while len(took) < BEFORE * SPACES:
        if not any(thread.is_alive() for thread in threads):
            raise RuntimeError("the server takes no turns")
        time.sleep(0.1)
    took.clear()
    began = time.monotonic()
    for count, turn in enumerate(source):
        time.sleep(max(0.0, began + count / RATE - time.monotonic()))
        due.put(turn)
        if count % max(1, int(RATE)) == 0:
            looks.append(Look.at(pid))
            Memory(turn.space, home=home).context(turn.session, record=False)
    for _ in threads:
        due.put(None)
    for thread in threads:
        thread.join()
    return took, looks, BEFORE * SPACES + int(RATE * SECONDS)


def rest(home: Path) -> None:
    """Waits until the home has come to rest: a server that idles writes live anew where that makes it smaller."""
    found, since = 0, time.monotonic()
    while time.monotonic() - since < 4 * IDLE:
        if (now := size(home / "live.duckdb") + size(home / ".live")) != found:
            found, since = now, time.monotonic()
        time.sleep(0.5)


def size(path: Path) -> int:
    """Bytes of a file, with the journals beside it."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())


def measured(folder: Path) -> Iterator[Row]:
    """All rows."""
    path = folder / "home"
    with subprocess.Popen([*PROGRAM, "serve", "--home", str(path)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            took, looks, count = load(path, server.pid)
            rest(path)
        finally:
            server.terminate()
    p99 = 1000 * quantiles(took, n=100)[98]
    yield row(f"record at {RATE:g} turns/s, p50, ms", 1000 * median(took))
    yield row("  p99, ms", p99, "<= 50", p99 <= 50)
    tenth = len(looks) // 10
    early, late = looks[tenth : 2 * tenth + 1], looks[-tenth - 1 :]
    for name, unit, most in (("memory", 2**20, 1.2), ("descriptors", 1, 1.0), ("threads", 1, 1.0)):
        # Why the least: what answers a call just now comes and goes, what leaks stays.
        before, after = (min(getattr(look, name) for look in some) / unit for some in (early, late))
        measure, met = f"{name} of the server{', MB' if unit > 1 else ''}", after <= most * before + 0.5
        yield row(measure, after, f"<= {most:g} x", met, f"early {before:.0f}")
    home = Home(path, PROCESSORS)
    home.ask("spaces")
    replay(home, "again", reuse=False)
    live, again = size(home.memory_path("live")) / count, size(home.memory_path("again")) / count
    yield row("bytes a turn at rest, live", live, "<= 1500", live <= 1500)
    yield row("  live / a replay's", live / again, "<= 1.3", live <= 1.3 * again, "1.00")
    yield row("  the log and its journal", size(path / "log.sqlite") / count)
    yield row("  recall's index", size(path / "live.recall") / count)
    if home.ask("digest") != home.ask("digest", "again"):
        raise AssertionError("live is not what a replay makes of the log")
    home.log.close()


def run() -> list[dict[str, Any]]:
    """All rows."""
    with tempfile.TemporaryDirectory() as folder:
        return list(measured(Path(folder)))


if __name__ == "__main__":
    for line in run():
        print(line)
