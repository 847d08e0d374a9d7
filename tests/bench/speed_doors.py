"""What people wait for at the doors of a home of 100,000 turns: hooks, the command line, the page, listeners.

Programs are started as people and agents start them, by the clock, each when the one before is done. At each hook the
transcript has grown by two messages; a prompt is answered only where memory has something for it. What
the page costs is told by a real Chromium (MNEMOLOG_CHROMIUM), from the click to a page that can be used: of the
slowest of its views, in a space of 20,000 turns.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from importlib import import_module
from itertools import count, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from processors import PROCESSORS
from streams.runtime.home import Home
from tests.bench.generated import turns
from tests.bench.speed import Row, fill, resident, row
from tests.bench.speed_live import served as answering
from tests.bench.speed_served import PROGRAM
from tests.serving import served
from tests.test_hook import SHOP
from tests.test_http import Listener
from tests.test_page import BROWSER, PAGES

HELD, SPACES = int(os.environ.get("MNEMOLOG_BENCH_DOORS", "100000")), 5
"""Turns of the home, and the spaces that they are in."""
SPACE, SESSION = "space-0", "session-0"
PROMPTS, COLD = 100, 20
"""Hooks asked of a warm server, and where there is none."""
LISTENERS, HEARD, PACE = 100, 200, 20
"""Those who listen, turns that come meanwhile, and how many a second."""
IDLE = 1000
"""Connections that ask for nothing."""


class Agent:
    """A coding agent at work on a project: its transcript, and the hook that it calls at each prompt."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._transcript = folder / "transcript.jsonl"
        self._environment = dict(environment)
        self._numbers = count()
        self._said = turns(10**6, SPACES, prefix="agent-")

    def start(self) -> tuple[float, bool]:
        """A session's start."""
        return self._call("SessionStart", source="startup")

    def prompt(self) -> tuple[float, bool]:
        """A prompt."""
        return self._call("UserPromptSubmit", prompt=next(self._said).content)

    def _call(self, name: str, **more: str) -> tuple[float, bool]:
        """The hook, with two more messages in the transcript: milliseconds to its end, and whether it answered."""
        for role in ("user", "assistant"):
            self._write(role, next(self._said).content)
        event = {"hook_event_name": name, "session_id": "5e55", "cwd": SHOP} | more
        event["transcript_path"] = str(self._transcript)
        took, printed = timed([*PROGRAM, "hook"], self._environment, json.dumps(event).encode())
        return took, bool(printed)

    def _write(self, role: str, content: str) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        message = {"role": role, "content": content}
        line = {"type": role, "uuid": f"u{next(self._numbers)}", "sessionId": "5e55", "cwd": SHOP, "timestamp": at}
        with self._transcript.open("a") as transcript:
            transcript.write(json.dumps(line | {"message": message}) + "\n")


def timed(command: list[str], environment: Mapping[str, str], given: bytes = b"") -> tuple[float, bytes]:
    """Milliseconds that a program takes, and what it prints. Raises RuntimeError where it fails."""
    began = time.perf_counter()
    done = subprocess.run(command, input=given, env=dict(environment), capture_output=True, check=False)
    took = 1e3 * (time.perf_counter() - began)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return took, done.stdout


def rested(home: Path) -> None:
    """Waits until nobody has the home's lock: what a hook goes on with after it answered is done."""
    with suppress(OSError, ValueError):
        holder = Path(f"/proc/{int((home / 'writer.lock').read_text())}")
        while holder.exists():
            time.sleep(0.05)


def hooks(home: Path, folder: Path) -> Iterator[Row]:
    """A hook without a server and with one; the context that a command line asks for."""
    environment = os.environ | {"MNEMOLOG_HOME": str(home), "MNEMOLOG_SPACE": SPACE, "MNEMOLOG_HOOK_IDLE": "-1"}
    agent = Agent(folder, environment)
    cold = []
    for _ in range(COLD + 2):
        cold.append(agent.start())
        rested(home)
    yield asked("hook at a session's start, no server", cold[2:], 1000)
    with answering(home):
        for name, call in (("session's start", agent.start), ("prompt", agent.prompt)):
            yield asked(f"hook at a {name}, warm", [call() for _ in range(PROMPTS + 5)][5:], 300)
        command = [*PROGRAM, "context", "--session", SESSION, "--space", SPACE]
        floor = min(timed([sys.executable, "-c", ""], environment)[0] for _ in range(10))
        took = [timed(command, environment)[0] for _ in range(PROMPTS + 5)][5:]
        yield slow("`mnemolog context`, warm, p95, ms", took, 150, f"python alone {floor:.0f}")


def asked(measure: str, calls: list[tuple[float, bool]], bar: float) -> Row:
    """A row of hooks, with how many of them were answered."""
    answered = sum(found for _, found in calls)
    return slow(f"{measure}, p95, ms", [took for took, _ in calls], bar, f"{answered} of {len(calls)} answered")


def slow(measure: str, took: list[float], bar: float, floor: str = "") -> Row:
    """A row of what takes long of all."""
    late = float(np.percentile(took, 95))
    return row(f"{measure} (p50 {np.median(took):.0f})", late, f"<= {bar:g}", late <= bar, floor)


def listeners(url: str) -> Row:
    """Milliseconds from the answer to who records a turn until the last of those who listen has it."""
    heard: list[list[float]] = [[] for _ in range(LISTENERS)]
    found = [Listener(url, HEARD, times) for times in heard]
    recorded = []
    with httpx.Client(base_url=url, timeout=120) as client:
        began = time.perf_counter()
        for number, turn in enumerate(islice(turns(HEARD, 1, seed=9, prefix="heard-"), HEARD)):
            time.sleep(max(0.0, began + number / PACE - time.perf_counter()))
            body = {"session": "heard", "space": "heard", "role": turn.role, "content": turn.content}
            client.post("/v1/turns", json=body).raise_for_status()
            recorded.append(time.perf_counter())
    all_heard = [listener.wait() for listener in found]
    if any(one != all_heard[0] for one in all_heard):
        raise RuntimeError("listeners heard other things")
    late = [1e3 * (max(times[n] for times in heard) - at) for n, at in enumerate(recorded)]
    return slow(f"the last of {LISTENERS} listeners has a turn, {PACE}/s, p95, ms", late, 1000)


def idle(url: str, process: int) -> Row:
    """Megabytes that connections cost that asked once and then ask for nothing; all are open when that is told."""
    place = urlsplit(url)
    before = held(process)
    with ExitStack() as stack:
        found = [stack.enter_context(socket.create_connection((place.hostname, place.port))) for _ in range(IDLE)]
        for connection in found:
            connection.sendall(f"GET /health/live HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        answered = [connection.recv(1 << 16).startswith(b"HTTP/1.1 200") for connection in found]
        more = (held(process) - before) / 2**20
        is_open = [not select.select([connection], [], [], 0)[0] for connection in found]
    return row(
        f"{IDLE} idle connections, MB", more, "< 100", more < 100, f"{sum(answered)} answered, {sum(is_open)} open"
    )


def held(process: int) -> int:
    """Bytes of memory of a process and of those that it started."""
    children = [int(n) for n in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return resident(process) + sum(map(held, children))


def pages(url: str) -> Iterator[Row]:
    """Each view of the page in a browser, three times; the slowest."""
    try:
        playwright = import_module("playwright.sync_api")  # the extra `browser`
    except ImportError:
        return
    if not BROWSER:
        return
    took = {}
    with playwright.sync_playwright() as found:
        chromium = found.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--no-zygote"])
        page = chromium.new_context(base_url=url).new_page()
        for path in PAGES:
            there = path.replace("import-day", SESSION)
            there += f"{'&' if '?' in path else '?'}space={SPACE}"
            times = []
            for _ in range(4):
                page.goto(there, timeout=120_000)
                times.append(page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive"))
            took[path.split("?")[0]] = sorted(times[1:])[1]
        chromium.close()
    worst = max(took, key=lambda path: took[path])
    floor = ", ".join(f"{path} {ms:.0f}" for path, ms in took.items())
    yield row(f"page interactive, {HELD // SPACES:,} turns, ms, slowest view ({worst})", took[worst], "<= 1000",
              took[worst] <= 1000, floor)  # fmt: skip


def measured(folder: Path) -> Iterator[Row]:
    """All rows."""
    path = folder / "home"
    home = Home(path, PROCESSORS)
    fill(home.log, turns(HELD, SPACES))
    with home.live():
        pass
    home.close(whole=True)
    yield from hooks(path, folder)
    with served(path, "--rate", "100000") as (url, process):
        with httpx.Client(base_url=url, timeout=600) as client:
            while client.get("/v1/spaces").status_code != 200:
                time.sleep(0.5)
        yield idle(url, process.pid)
        yield listeners(url)
        yield from pages(url)


def run() -> list[dict[str, Any]]:
    """The rows of the report."""
    with tempfile.TemporaryDirectory() as folder:
        return list(measured(Path(folder)))
