"""How fast memory is made again: from raw text, from cached features, a million turns, and late in a long space.

Times are processor time of this process (wall time for the million, which two processes share). Beside each figure
stands its floor from the same run: the text features alone, or a plain SQLite table. `MNEMOLOG_BENCH_TURNS` (1,000,000)
sets the size of the large replay.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from processors import PROCESSORS
from projections.garbage import rare_collections
from projections.store import Store
from streams.core.driver import Driver, Placed, as_raw, raw_of
from streams.core.events import Outside, encode
from streams.core.text import read
from streams.logs import LOG_FILE
from streams.logs.encryption import Keys
from streams.logs.log import Log, Refused
from streams.logs.sqlite import SqliteLog
from streams.runtime.cache import CHUNK, FeatureCache
from streams.runtime.embedded import Runtime
from streams.runtime.home import Home
from streams.runtime.memories import memory_meta
from streams.runtime.replay import Plan, pages, replay
from tests.bench.generated import turns

Row = dict[str, Any]


def row(measure: str, ours: float, bar: str = "", met: bool | None = None, floor: str = "") -> Row:
    """One line of the table."""
    return {"measure": measure, "floor": floor, "ours": round(ours, 2), "bar": bar, "met": met}


def cpu(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    began = time.process_time()
    work()
    return time.process_time() - began


def fresh() -> Driver:
    """All processors, with default parameters."""
    return Driver(PROCESSORS, {p.name: p.params() for p in PROCESSORS})


def fill(log: Log, events: Iterable[Outside]) -> None:
    """Appends all events. Raises ValueError where the log refuses one: what is measured were another home."""
    source = iter(events)
    while page := list(islice(source, 10_000)):
        for event, outcome in zip(page, log.append(page), strict=True):
            if isinstance(outcome, Refused):
                raise ValueError(f"{event.id}: {outcome.reason}")


def one_core(folder: Path) -> Iterator[Row]:
    """Decode, features and the whole pass, on one core, without storing."""
    count = 2 * CHUNK
    log = SqliteLog(folder / "log.sqlite")
    fill(log, turns(count, 60))
    cache = FeatureCache(folder / "cache", log)
    events = list(turns(count, 60))

    def features() -> None:
        for event in events:
            read(event)

    params = {p.name: p.params() for p in PROCESSORS}
    cached = fresh()

    def fold(folding: Driver) -> None:
        """As a replay does: a page of the log at a time, space by space, features from the cache where they are."""
        rows: list[Placed] = []
        for _, _, _, page in pages(folder, log, Plan("bench", params, PROCESSORS, stops=(count,)), 0, 1):
            space = ""
            for record, text in page:
                if record.space != space:
                    space = record.space
                    folding.begin_again()
                folding.fold(space, 0, record.offset, raw_of(record, text), rows)
                rows.clear()

    with rare_collections():
        alone = cpu(features)
        whole = cpu(lambda: fold(fresh()))
        for partition, chunk in cache.missing():
            cache.fill(partition, chunk)
        warm = cpu(lambda: fold(cached))
    log.close()
    floor = f"features alone {count / alone:,.0f}"
    yield row("from raw text, turns/s a core", count / whole, ">= 12,000", count / whole >= 12_000, floor)
    yield row("whole pass / features alone", whole / alone, "<= 4", whole <= 4 * alone, "1.00")
    yield row("from cached features, turns/s a core", count / warm, ">= 25,000", count / warm >= 25_000, floor)
    seconds = cached.seconds()
    for name in seconds:
        yield row(f"  {name}, % of the processors' time", 100 * seconds[name] / sum(seconds.values()))


def knowing(folder: Path) -> Iterator[Row]:
    """By how much a whole replay, its memory written, is slower for the three mechanisms that were added last."""
    three = ("tasks", "objects", "network")
    home = Home(folder / "home", PROCESSORS)
    fill(home.log, turns(5_000, 15))
    spent: dict[tuple[str, ...], list[float]] = {(): [], three: []}
    for cached in (False, True):
        for _ in range(2):
            for without, seconds in spent.items():
                if not cached:
                    shutil.rmtree(home.folder.cache, ignore_errors=True)
                again = partial(replay, home, "again", without=without, replace=True, reuse=False, processes=1)
                seconds.append(cpu(again))
        slower = 100 * (min(spent[()]) / min(spent[three]) - 1)
        of = "features cached" if cached else "from raw text"
        yield row(f"a replay is slower for {', '.join(three)} by, %, {of}", slower, "<= 25", slower <= 25)
        spent = {without: [] for without in spent}
    home.log.close()


def million(folder: Path) -> Iterator[Row]:
    """A replay of generated turns over 1,000 spaces by two processes, DuckDB written; without the cache and with it."""
    count = int(os.environ.get("MNEMOLOG_BENCH_TURNS", "1000000"))
    home = Home(folder / "home", PROCESSORS)
    fill(home.log, turns(count, 1000))
    with Peaks() as peaks:
        for name, what in (("first", "features computed"), ("second", "features cached")):
            began = time.perf_counter()
            replay(home, name, processes=2)
            seconds = time.perf_counter() - began
            bar, met = ("<= 60", seconds <= 60) if count == 1_000_000 else ("", None)
            yield row(f"{count:,} turns, {what}, seconds on 2 cores", seconds, bar, met)
    yield row("peak memory of all three processes, GB", peaks.largest / 2**30, "<= 3", peaks.largest <= 3 * 2**30)
    home.log.close()


class Peaks:
    """The largest memory that this process and its children held together, in bytes; looked at ten times a second.

    Why not `getrusage`: what it says of a child includes what its parent held at the fork. Linux only: 0 elsewhere.
    """

    def __init__(self) -> None:
        self.largest = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            processes = [os.getpid(), *(child.pid for child in multiprocessing.active_children() if child.pid)]
            self.largest = max(self.largest, sum(map(resident, processes)))


def resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def yardstick() -> None:
    """A fixed fold, timed beside what is far apart in time: the machine's speed drifts."""
    folding, rows = fresh(), list[Placed]()
    for offset, event in enumerate(turns(4000, 1, seed=7)):
        folding.fold(event.space, 0, offset, as_raw(event, event.at), rows)


def growth(folder: Path) -> Iterator[Row]:
    """Cost and bytes persisted per turn of one space, early and late."""
    home = Home(folder / "growing", PROCESSORS)
    fill(home.log, turns(210_000, 1))
    meta = memory_meta(home.log, "live", PROCESSORS, home.live_params(), partial="")
    store = Store.create(home.memory_path("live"), PROCESSORS, meta)
    runtime = Runtime(home.log, store, PROCESSORS)
    cost: dict[int, float] = {}
    sizes = {0: 0}
    state: dict[int, int] = {}
    offset = 0
    with rare_collections():
        for stop in (10_000, 20_000, 200_000, 210_000):
            before = cpu(yardstick)
            seconds = cpu(partial(runtime.catch_up, stop=stop))
            cost[stop] = seconds / (stop - offset) / (before + cpu(yardstick))
            store.connection.execute("CHECKPOINT")
            sizes[stop] = home.memory_path("live").stat().st_size
            state[stop] = store.saved_bytes
            offset = stop
    store.close()
    home.log.close()
    grown = cost[210_000] / cost[20_000]
    yield row("cost of a turn at 200,000 / at 10,000, one space", grown, "<= 1.2", grown <= 1.2, "1.00")
    early = state[20_000] - state[10_000]
    late = state[210_000] - state[200_000]
    yield row("state bytes a turn at 200,000 / at 10,000", late / early, "<= 1.2", late <= 1.2 * early, "1.00")
    per_turn = (sizes[210_000] - sizes[20_000]) / 190_000, sizes[20_000] / 20_000
    yield row(
        "file bytes a turn, 20,000 to 210,000 / before",
        per_turn[0] / per_turn[1],
        "<= 1.2",
        per_turn[0] <= 1.2 * per_turn[1],
    )


def appends(folder: Path) -> Iterator[Row]:
    """Durable appends beside inserts into a bare SQLite table with the same settings."""
    events = list(turns(20_000, 10))
    log = SqliteLog(folder / "appends.sqlite")
    bare = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE log (offset INTEGER PRIMARY KEY, space TEXT, id TEXT, value BLOB, UNIQUE (space, id))")

    def plain(page: list[Any]) -> None:
        bare.execute("BEGIN IMMEDIATE")
        bare.executemany(
            "INSERT INTO log (space, id, value) VALUES (?, ?, ?)", [(e.space, e.id, encode(e)) for e in page]
        )
        bare.execute("COMMIT")

    for size in (1, 100, 1000):
        count = min(len(events), size * 500)
        figures = []
        for number, append in enumerate((plain, log.append)):
            for event in events[:count]:
                event.id = f"{size}-{number}-{event.id}"
            began = time.perf_counter()
            for start in range(0, count, size):
                append(events[start : start + size])
            figures.append(count / (time.perf_counter() - began))
        yield row(f"durable appends/s, {size} at a time", figures[1], "", None, f"bare table {figures[0]:,.0f}")
    log.close()
    bare.close()


def sealed(folder: Path) -> Iterator[Row]:
    """What it costs that contents are under keys: appends of 100, reading, the whole pass, beside the same in clear."""
    events = list(turns(20_000, 60))
    spent: dict[tuple[str, bool], list[float]] = {}
    with rare_collections():
        for number in range(6):
            under_keys = bool(number % 2)
            if under_keys:
                Keys(folder / str(number)).switch_on()
            log = SqliteLog(folder / str(number) / LOG_FILE)

            def append(log: SqliteLog = log) -> None:
                for start in range(0, len(events), 100):
                    log.append(events[start : start + 100])

            def fold(log: SqliteLog = log) -> None:
                folding, rows = fresh(), list[Placed]()
                for record in log.read(0, 0):
                    folding.fold(record.space, 0, record.offset, raw_of(record), rows)
                    rows.clear()

            def read(log: SqliteLog = log) -> None:
                for _ in log.read(0, 0):
                    pass

            for what, work in (("append", append), ("read", read), ("fold", fold)):
                spent.setdefault((what, under_keys), []).append(cpu(work) / len(events) * 1e6)
            log.close()
    for what in ("append", "read", "fold"):
        clear, ours = min(spent[what, False]), min(spent[what, True])
        yield row(f"{what} under keys, us CPU a turn more than in clear", ours - clear, floor=f"in clear {clear:,.1f}")
        yield row(f"{what} under keys / in clear", ours / clear, floor="1.00")


def run() -> list[Row]:
    """All rows."""
    found: list[Row] = []
    for part in (one_core, knowing, appends, sealed, growth, million):
        with tempfile.TemporaryDirectory() as folder:
            found += part(Path(folder))
    return found


if __name__ == "__main__":
    for line in run():
        print(line)
