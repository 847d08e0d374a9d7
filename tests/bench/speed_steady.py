"""What a server holds while turns keep coming: memory, descriptors and threads, and bytes of the home for a turn.

Turns are recorded one by one at PACE a second, with a question a second among them, for `MNEMOLOG_BENCH_STEADY` seconds
(300; an hour tells more). What is flat does not grow from the middle to the end; what the kernel counts as memory of
the process includes pages of files that it may take back, so memory of its own is told. Linux only.
"""

from __future__ import annotations

import os
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median

from tests.bench.generated import turns
from tests.bench.speed import Row, row
from tests.bench.speed_live import _tell, served

PACE, LOOKS = 100, 60
"""Turns a second; how often what the server holds is looked at."""
SPACES = 8
MIB = 1 << 20


def held(pid: int) -> dict[str, float]:
    """MiB of memory of its own, descriptors and threads of a process."""
    said = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "memory, MiB": int(said["RssAnon"].split()[0]) / 1024,
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(said["Threads"]),
    }


def run() -> list[Row]:
    """A row for each of what is held, and for the bytes of a turn."""
    seconds = int(os.environ.get("MNEMOLOG_BENCH_STEADY", "300"))
    count = seconds * PACE
    looks: list[dict[str, float]] = []
    took: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with served(home) as pid:
            began = time.perf_counter()
            for n, turn in enumerate(islice(turns(count, SPACES), count)):
                time.sleep(max(0.0, began + n / PACE - time.perf_counter()))
                asked = time.perf_counter()
                memory = _tell(home, turn)
                took.append(time.perf_counter() - asked)
                if n % PACE == 0:
                    memory.context(turn.session, record=False)
                if n % (count // LOOKS) == 0:
                    looks.append(held(pid))
                    print(f"  {n:,} turns: {looks[-1]}", flush=True)
            late = time.perf_counter() - began - seconds
            looks.append(held(pid))
        size = {path.name: path.stat().st_size for path in home.rglob("*") if path.is_file()}
    rows = []
    for what in looks[0]:
        middle = median(look[what] for look in looks[LOOKS // 2 - 3 : LOOKS // 2 + 4])
        end = median(look[what] for look in looks[-7:])
        rows.append(row(f"{what}, end of {seconds:,} s at {PACE}/s", end, "1.1 of the middle's", end <= 1.1 * middle,
                        f"middle {middle:.1f}"))  # fmt: skip
    live = sum(bytes_ for name, bytes_ in size.items() if name.startswith("live."))
    rows.append(row("bytes of the derived memory at rest, a turn", live / count, "<= 1536", live <= 1536 * count))
    slow = 1e3 * sorted(took)[int(0.99 * len(took))]
    rows.append(row(f"  recorded, p99 ms (behind the pace by {late:.1f} s)", slow))
    return rows


if __name__ == "__main__":
    for line in run():
        print(line)
