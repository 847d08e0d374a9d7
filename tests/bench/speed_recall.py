"""How fast a memory is asked: the time of one question, of indexing, of the first question, and of keeping up live.

Beside each stands a peer from the same run: SQLite FTS5 (porter, bm25) over the same turns, or the replay that is
indexed. Times are processor time, so that what else the machine does counts little. `MNEMOLOG_BENCH_RECALL` (200,000)
sets the turns of the large memories; the bars are those of 1,000,000: `MNEMOLOG_BENCH_RECALL=1000000 python -m
tests.bench speed_recall`.
"""

from __future__ import annotations

import os
import random
import re
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from processors import PROCESSORS
from projections.asking import all_params
from projections.recall.answers import Recall, Sight, recalled_batch
from projections.store import Batch, Connection, Store, read_only
from projections.tables import raw_batch
from streams.core.events import MemoryRecalled, TurnRecorded
from streams.core.processor import Raw
from streams.core.text import NO_TEXT
from streams.runtime.home import Home
from streams.runtime.home.office import Office
from streams.runtime.replay import replay
from tests.bench.generated import PACE, START, turns
from tests.bench.speed import Peaks, Row, fill, resident, row

SMALL, SPACES, ASKED, PAGE = 6_000, 1_000, 300, 10_000
KINDS: tuple[list[str] | None, ...] = (None, ["turn"])


def questions(said: Sequence[TurnRecorded], count: int = ASKED) -> list[dict[str, Any]]:
    """Questions of five to ten words of a turn each, in its space."""
    rng = random.Random(5)
    found = []
    for number in range(count):
        about = rng.choice(said)
        words = re.findall(r"\w+", about.content)
        words = rng.sample(words, min(len(words), rng.randint(5, 10)))
        found.append({"id": number, "space": about.space, "query": " ".join(words), "k": 10})
    return found


def timed(work: Callable[[Any], object], given: Iterable[Any]) -> list[float]:
    """Milliseconds of processor time of each, ascending."""
    found = []
    for one in given:
        began = time.process_time()
        work(one)
        found.append(1e3 * (time.process_time() - began))
    return sorted(found)


def used() -> float:
    """Seconds of processor time of this process and of those it waited for."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


class Peer:
    """The same turns in SQLite FTS5."""

    def __init__(self, path: Path, said: Iterable[TurnRecorded]) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = OFF")
        self.connection.execute("CREATE VIRTUAL TABLE said USING fts5 (space, content, tokenize = 'porter unicode61')")
        self.connection.execute("BEGIN")
        rows = ((turn.space.replace("-", ""), turn.content) for turn in said)
        self.connection.executemany("INSERT INTO said VALUES (?, ?)", rows)
        self.connection.execute("COMMIT")

    def ask(self, question: dict[str, Any]) -> list[Any]:
        """The ten best turns."""
        words = " OR ".join(f'"{word}"' for word in question["query"].split())
        match = f"space : {question['space'].replace('-', '')} AND content : ({words})"
        sql = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said, 0, 1) LIMIT 10"
        return self.connection.execute(sql, [match]).fetchall()


def opened(memory: Path, connection: Connection) -> Recall:
    """What a memory can recall, its index up to date."""
    recall = Recall.of(memory, connection, PROCESSORS, all_params(PROCESSORS, {}))
    recall.index.catch_up(connection)
    return recall


def asked(
    sight: Sight, what: str, given: Sequence[dict[str, Any]], peer: Peer, bars: tuple[float, float]
) -> Iterator[Row]:
    """How long questions take, the first of each space left out."""
    for question in given:
        recalled_batch(sight, [question])
    theirs = timed(peer.ask, given[:40])
    for kinds in KINDS:
        ours = timed(partial(recalled_batch, sight), [[question | {"kinds": kinds}] for question in given])
        for name, at, bar in (("median", 0.5, bars[0]), ("p95", 0.95, bars[1])):
            value = ours[int(at * len(ours))]
            floor = f"FTS5 {theirs[int(at * len(theirs))]:.2f}"
            kind = "turns" if kinds else "all kinds"
            yield row(f"recall {what}, {kind}, {name} ms", value, f"<= {bar:g}", value <= bar, floor)


def small(folder: Path) -> Iterator[Row]:
    """A memory of one space that is used: half of its turns were shown; and keeping up with it live."""
    home = Home(folder / "small", PROCESSORS)
    said = list(turns(SMALL + 50, 1))
    fill(home.log, said[:SMALL])
    ids = [turn.id for turn in said[:SMALL]]
    shown = [ids[at : at + 5] for at in range(0, SMALL, 10)]
    fill(home.log, (_recalled(number, some) for number, some in enumerate(shown)))
    with home.live() as runtime, closing(Office(home, runtime)) as office:
        connection = runtime.store.connection
        sight = Sight(connection, office.recalling.recall(connection), False)
        peer = Peer(folder / "small.fts", said[:SMALL])
        yield from asked(sight, f"of {SMALL:,}", questions(said[:SMALL]), peer, (1, 5))
        spent = []
        for turn in said[SMALL:]:
            fill(home.log, [turn])
            runtime.catch_up(ahead=True)
            spent += timed(lambda _: office.recalling.keep_up(connection), [turn])
        yield row("index after one turn live, ms", median(spent), "<= 3", median(spent) <= 3)
    home.log.close()


def _recalled(number: int, some: list[str]) -> MemoryRecalled:
    return MemoryRecalled("space-0", f"shown-{number}", START + SMALL * PACE + number, "what was it", some, "s")


def indexed(memory: Path, count: int, folding: float | None) -> Iterator[Row]:
    """The time and memory that indexing takes, beside the fold's."""
    connection = read_only(memory)
    before = resident(os.getpid())
    with Peaks() as peaks:
        began = time.process_time()
        recall = opened(memory, connection)
        spent = (time.process_time() - began) / count * 1e6
    recall.index.close()
    connection.close()
    if folding is not None:
        floor = f"replay {folding:.1f}"
        yield row(f"indexing of {count:,}, us a turn", spent, f"<= {0.3 * folding:.1f}", spent <= 0.3 * folding, floor)
    else:
        yield row(f"indexing of {count:,} in one space, us a turn", spent)
    yield row("  memory on top while indexing, MB", (peaks.largest - before) / 2**20, "<= 600", None)


def first(memory: Path, question: dict[str, Any], what: str) -> Iterator[Row]:
    """Opening and one question, by the clock."""
    began = time.perf_counter()
    connection = read_only(memory)
    recall = opened(memory, connection)
    recalled_batch(Sight(connection, recall, False), [question])
    seconds = time.perf_counter() - began
    recall.index.close()
    connection.close()
    yield row(f"open and first question, {what}, s", seconds, "<= 1", seconds <= 1)


def measured(memory: Path, count: int, spaces: int, folding: float | None, folder: Path) -> Iterator[Row]:
    """Everything of one large memory."""
    yield from indexed(memory, count, folding)
    some = questions(list(islice(turns(count, spaces), count // 2, count // 2 + 20_000)))
    what = f"of {count:,} in {spaces:,} space" + "s" * (spaces > 1)
    yield from first(memory, some[0], what)
    peer = Peer(folder / f"{spaces}.fts", turns(count, spaces))
    connection = read_only(memory)
    recall = opened(memory, connection)
    yield from asked(Sight(connection, recall, False), what, some, peer, (10, 25))
    recall.index.close()
    connection.close()


def many_spaces(folder: Path, count: int) -> Iterator[Row]:
    """A replayed memory of many spaces."""
    home = Home(folder / "many", PROCESSORS)
    fill(home.log, turns(count, SPACES))
    began = used()
    replay(home, "many", processes=2)
    folding = (used() - began) / count * 1e6
    home.log.close()
    yield from measured(home.memory_path("many"), count, SPACES, folding, folder)


def one_space(folder: Path, count: int) -> Iterator[Row]:
    """A memory of one space; turns alone, which are nearly all there is to find."""
    path = folder / "one.duckdb"
    lineages = {"turns": "root"} | {p.name: p.name for p in PROCESSORS}
    store = Store.create(
        path, PROCESSORS, {"log_id": "one", "partitions": 1, "name": "one", "lineages": lineages, "params": {}}
    )
    source = enumerate(turns(count, 1))
    while page := list(islice(source, PAGE)):
        entries = [(0, at, Raw(turn, NO_TEXT, turn.at)) for at, turn in page]
        store.commit(Batch({TurnRecorded: raw_batch(TurnRecorded, entries)}, [], {0: page[-1][0]}))
    store.close()
    yield from measured(path, count, 1, None, folder)


def run() -> list[Row]:
    """All rows."""
    count = int(os.environ.get("MNEMOLOG_BENCH_RECALL", "200000"))
    with tempfile.TemporaryDirectory() as folder:
        found = [*small(Path(folder))]
        for part in (one_space, many_spaces):
            with tempfile.TemporaryDirectory() as folder_:
                found += part(Path(folder_), count)
    return found


if __name__ == "__main__":
    for line in run():
        print(line)
