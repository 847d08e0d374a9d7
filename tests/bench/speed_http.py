"""What HTTP costs: turns taken in batches beside the log alone, single turns and contexts at a steady pace.

Server and proxy are processes as people run them, on the cores that clients use, too. A turn counts when it is
answered, so durable. What is asked at a pace counts from when it was due: what waits counts as waiting.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.routing import Route

from processors import PROCESSORS
from streams.core.events import encode
from streams.logs import LOG_FILE
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home
from tests.bench.generated import turns
from tests.processes import PIPE, Program
from tests.serving import served
from tests.test_proxy import ASKED, KEY, Upstream, running

CLIENTS, BATCH, BATCHES = 8, 100, 40
"""Clients at once; turns of a request; requests of each client."""
PACE, SINGLES = 200, 2000
"""Requests a second, and how many."""
HELD = 100_000
"""Turns in the home of which contexts are asked."""


def bodies(count: int, prefix: str) -> Iterator[list[dict[str, Any]]]:
    """Batches of turns as clients send them."""
    source = turns(count * BATCH, 8, prefix=prefix)
    while batch := list(islice(source, BATCH)):
        yield [orjson.loads(encode(turn)) for turn in batch]


def alone(folder: Path) -> float:
    """Turns a second of the log without a server: the floor."""
    log = SqliteLog(folder / "alone.sqlite")
    events = list(turns(CLIENTS * BATCHES * BATCH, 8, prefix="alone-"))
    began = time.perf_counter()
    for start in range(0, len(events), BATCH):
        log.append(events[start : start + BATCH])
    took = time.perf_counter() - began
    log.close()
    return len(events) / took


def batches(url: str) -> float:
    """Turns a second of clients that send batches."""

    def feed(client: int) -> None:
        with httpx.Client(base_url=url, timeout=120) as session:
            for body in made[client]:
                session.post("/v1/turns", content=body, headers=JSON).raise_for_status()

    made = [[orjson.dumps(batch) for batch in bodies(BATCHES, f"client-{n}-")] for n in range(CLIENTS)]
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(feed, range(CLIENTS)))
    return CLIENTS * BATCHES * BATCH / (time.perf_counter() - began)


JSON = {"Content-Type": "application/json"}


def paced(url: str, ask: Callable[[httpx.Client, int], httpx.Response], count: int, pace: float) -> np.ndarray:
    """Milliseconds from when each of `count` requests was due, at `pace` a second, to its answer."""
    took = np.zeros(count)
    with httpx.Client(base_url=url, timeout=120) as session:  # made once: it reads a file of certificates, 30 ms
        ask(session, 0).raise_for_status()
        began = time.perf_counter() + 0.1

        def one(n: int) -> None:
            due = began + n / pace
            time.sleep(max(0.0, due - time.perf_counter()))
            ask(session, n).raise_for_status()
            took[n] = (time.perf_counter() - due) * 1000

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(one, range(count)))
    return took


@contextmanager
def proxying(home: Path, upstream: str) -> Iterator[str]:
    """The URL of a proxy before `upstream`, with the memory that `home` serves."""
    with Program("proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "--home", home, stdout=PIPE) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1].decode()
        finally:
            process.terminate()


def through_proxy(home: Home) -> tuple[float, float]:
    """Milliseconds, p95, of a chat completion asked of a provider on this machine: directly, and through the proxy."""
    provider = Starlette(routes=[Route("/{path:path}", Upstream().__call__, methods=["POST"])])
    turn = {"session": "before", "role": "user", "content": KEY}
    with running(provider) as direct, served(home.path):
        home.request({"feed": [turn | {"id": str(n), "content": f"{KEY} ({n})"} for n in range(1000)]})
        with proxying(home.path, direct) as proxied:
            found = []
            for url in (direct, proxied):

                def ask(client: httpx.Client, n: int) -> httpx.Response:
                    said = {"role": "user", "content": f"{ASKED} ({n})"}
                    return client.post("/v1/chat/completions", json={"model": "m", "messages": [said]})

                paced(url, ask, 20, 5)
                found.append(float(np.percentile(paced(url, ask, 100, 5), 95)))
    return found[0], found[1]


def run() -> list[dict[str, Any]]:
    """The rows of the report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        floor = alone(folder)
        with served(folder / "a", "--rate", "100000") as (url, _):
            together = batches(url)
        with served(folder / "b", "--rate", "100000") as (url, _):
            body = {"session": "s", "role": "user", "content": "Is the boat house locked?"}
            singles = paced(url, lambda s, n: s.post("/v1/turns", json=body), SINGLES, PACE)
        home = folder / "c"
        home.mkdir(mode=0o700)
        log = SqliteLog(home / LOG_FILE)
        source = turns(HELD, 8)
        while page := list(islice(source, 1000)):
            log.append(page)
        sessions = [(turn.space, turn.session) for turn in islice(turns(HELD, 8), 0, HELD, HELD // 200)]
        log.close()
        with served(home, "--rate", "100000") as (url, _):
            with httpx.Client(base_url=url, timeout=3600) as client:
                while (answer := client.get("/v1/spaces")).status_code != 200:
                    time.sleep(1)
                assert sum(row["turns"] for row in answer.json()) == HELD

            def context(client: httpx.Client, n: int) -> httpx.Response:
                space, session = sessions[n % len(sessions)]
                return client.get("/v1/context", params={"space": space, "session": session, "record": "false"})

            paced(url, context, 50, 10)
            contexts = paced(url, context, 400, 10)
        inner = Home(folder / "d", PROCESSORS)
        direct, proxied = through_proxy(inner)
        inner.log.close()
    return [
        {
            "measure": "what the proxy adds to a call at 5/s, ms, p95",
            "floor_is": "the call without it", "floor": direct,
            "ours": proxied - direct, "bar": "<= 15", "met": proxied - direct <= 15,
        },
        {
            "measure": f"turns/s durable, batches of {BATCH}, {CLIENTS} clients",
            "floor_is": "the log alone", "floor": floor, "ours": together, "bar": 8000,
        },
        {
            "measure": f"single turns at {PACE}/s, ms, p99 (p50 {np.median(singles):.1f})",
            "ours": float(np.percentile(singles, 99)), "bar": "<= 50", "met": bool(np.percentile(singles, 99) <= 50),
        },
        {
            "measure": f"context at 10/s, {HELD:,} turns held, ms, p95 (p50 {np.median(contexts):.1f})",
            "ours": float(np.percentile(contexts, 95)), "bar": "<= 25", "met": bool(np.percentile(contexts, 95) <= 25),
        },
    ]  # fmt: skip
