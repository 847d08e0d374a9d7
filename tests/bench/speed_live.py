"""How long one turn takes live: appended, folded, and the context of its session composed, by a server that is warm.

By the clock, for that is what an agent waits for; the processor time of the server, all its threads and what it commits
behind the answer, stands beside it, for a busy machine changes that less. Each turn comes when the one before is
answered. `MNEMOLOG_BENCH_LIVE` (100,000) sets the turns that the one space of the home has before, and
`MNEMOLOG_BENCH_COMPOSED` (1,000,000) the most of those homes in which a composition alone is timed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from statistics import median

from mnemolog import Memory, NotServedError
from processors import PROCESSORS
from projections.context.ask import context
from projections.garbage import rare_collections
from projections.recall.answers import Sight
from streams.core.events import TurnRecorded, iso
from streams.runtime.home import Home
from streams.runtime.home.office import Office
from tests.bench.generated import turns
from tests.bench.speed import Row, fill, row

COLD, ASKED = 20, 200
"""Turns that warm the server up, and those that are measured."""
COMPOSED = ((6_000, 5), (1_000_000, 20))
"""Turns of a home, and the bar of a composition in milliseconds."""


@contextmanager
def served(home: Path) -> Iterator[int]:
    """A server of a home that answers; its process id. Raises RuntimeError where it ends before that."""
    with subprocess.Popen(
        [sys.executable, "-m", "streams.gateways.cli", "--home", str(home), "serve"], stdout=subprocess.DEVNULL
    ) as process:
        try:
            while True:
                if process.poll() is not None:
                    raise RuntimeError("the server ended")
                try:
                    Memory(home=home, start=False).ask("spaces")
                    break
                except NotServedError:
                    time.sleep(0.05)
            yield process.pid
        finally:
            process.terminate()


def spent(pid: int) -> float:
    """Seconds of processor time of a process. Linux only: 0 elsewhere."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_turn(folder: Path, count: int) -> Iterator[Row]:
    """From the append of a turn to the context of its session."""
    home = Home(folder / "home", PROCESSORS)
    fill(home.log, turns(count, 1))
    with home.live():
        pass
    home.log.close()
    said = list(islice(turns(count + COLD + ASKED, 1), count, None))
    recorded: list[float] = []
    whole: list[float] = []
    with served(home.path) as pid:
        for number, turn in enumerate(said):
            if number == COLD:
                before = spent(pid)
            began = time.perf_counter()
            memory = _tell(home.path, turn)
            recorded.append(time.perf_counter() - began)
            memory.context(turn.session, record=False)
            whole.append(time.perf_counter() - began)
        used = 1e3 * (spent(pid) - before) / ASKED
    recorded, whole = sorted(recorded[COLD:]), sorted(whole[COLD:])
    half, late = 1e3 * median(whole), 1e3 * whole[int(0.95 * ASKED)]
    at = f"at {count:,} turns"
    floor = f"append alone {1e3 * median(recorded):.1f}"
    yield row(f"append to answered context {at}, p50 ms", half, "<= 15", half <= 15, floor)
    yield row("  the same, p95 ms", late)
    yield row("  processor time of the server a turn, ms", used)


def _tell(home: Path, turn: TurnRecorded) -> Memory:
    memory = Memory(turn.space, home=home, start=False)
    memory.record(turn.session, turn.role, turn.content, agent=turn.agent, id=turn.id, at=iso(turn.at))
    return memory


def composed(folder: Path, count: int, bar: float) -> Iterator[Row]:
    """A composition in a process that is warm, as a server is: processor time."""
    home = Home(folder / str(count), PROCESSORS)
    fill(home.log, turns(count, 1))
    with rare_collections(), home.live() as runtime, closing(Office(home, runtime)) as office:
        connection = runtime.store.connection
        found, sizes = [], []
        for turn in islice(turns(count + COLD + ASKED, 1), count, None):
            fill(home.log, [turn])
            runtime.catch_up(ahead=True)  # as a server does
            sight = Sight(connection, office.recalling.recall(connection), False)
            began = time.process_time()
            shown = context(sight, turn.space, turn.session)
            found.append(1e3 * (time.process_time() - began))
            sizes.append(shown["tokens"])
    home.log.close()
    late = sorted(found[COLD:])[int(0.95 * ASKED)]
    yield row(f"composition at {count:,} turns, p95 ms", late, f"<= {bar:g}", late <= bar)
    yield row("  the same, p50 ms", median(found[COLD:]))
    yield row("  tokens of the contexts, median", median(sizes[COLD:]))


def run() -> list[Row]:
    """All rows."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        found += one_turn(Path(folder), int(os.environ.get("MNEMOLOG_BENCH_LIVE", "100000")))
    most = int(os.environ.get("MNEMOLOG_BENCH_COMPOSED", "1000000"))
    for count, bar in [(count, bar) for count, bar in COMPOSED if count <= most]:
        with tempfile.TemporaryDirectory() as folder:
            found += composed(Path(folder), count, bar)
    return found


if __name__ == "__main__":
    for line in run():
        print(line)
