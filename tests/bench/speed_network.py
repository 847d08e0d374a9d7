"""How fast the knowledge network takes a change, and the pass over all of it, at 100,000 nodes in one space.

Processor time, so that what else the machine does counts little. What the network reads is handed in: only its own
steps are measured. Each turn gives a reason for a claim, over a vocabulary of a few thousand words; one in five says
again what was said, so that there are paths. `MNEMOLOG_BENCH_NETWORK` (100,000) sets the nodes.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from processors import PROCESSORS
from processors.consolidation import ConsolidationRan
from processors.network.record import Count
from streams.core.driver import Driver, Placed, ancestors, as_raw
from streams.core.events import MINUTE, ClockTicked, ConsolidationRequested, TurnRecorded
from tests.laws.histories import START, SYLLABLES

CHANGES = 500
Row = dict[str, Any]


def said(seed: int = 7) -> Iterator[TurnRecorded]:
    """Turns that give reasons."""
    rng = random.Random(seed)
    words = ["".join(rng.choice(SYLLABLES) for _ in range(4)) for _ in range(4000)]
    claims: list[str] = []
    number = 0
    while True:
        number += 1
        new = f"the {' '.join(rng.sample(words, 4))} fails"
        claim = rng.choice(claims) if claims and rng.random() < 0.2 else new
        reason = rng.choice(claims) if claims and rng.random() < 0.2 else f"the {' '.join(rng.sample(words, 4))} broke"
        claims = [*claims[-500:], claim, reason]
        content = f"{claim.capitalize()} because {reason}."
        yield TurnRecorded("s", f"t{number}", START + number * MINUTE, f"chat{number // 20}", "ann", "user", content)


def run() -> list[Row]:
    """A change's median and slowest hundredth in ms, and the pass in s."""
    nodes = int(os.environ.get("MNEMOLOG_BENCH_NETWORK", "100000"))
    known = ancestors(PROCESSORS, ["network"])
    driver = Driver(known, {p.name: p.params() for p in known}, {p.name for p in known if p.name != "network"})
    rows: list[Placed] = []
    offset = made = 0
    times: list[float] = []
    for turn in said():
        raw = as_raw(turn, turn.at)
        began = time.process_time()
        driver.fold("s", 0, offset, raw, rows)
        if made >= nodes:
            times.append(time.process_time() - began)
        offset += 1
        rows.clear()
        state = driver.spaces["s"][len(known)]
        count = state.get("count", Count)
        made = count.nodes if count else 0
        if offset % 1000 == 0:
            list(state.changes())
        if len(times) == CHANGES:
            break
    at = turn.at + MINUTE
    ran = ConsolidationRan("s", "", at, "requested", 1, 0, 0, 0)
    asked = ConsolidationRequested("s", "c", at)
    began = time.process_time()
    driver.fold("s", 0, offset, as_raw(asked, at), rows, {"consolidation": [ran]})
    slices = 1
    while not any(type(row[3]).__name__ == "NetworkSlept" for row in rows):
        rows.clear()
        driver.fold("s", 0, offset + slices, as_raw(ClockTicked("s", f"tick{slices}", at), at), rows)
        slices += 1
    whole = time.process_time() - began
    times.sort()
    slept: Any = rows[-1][3]
    slowest = times[-len(times) // 100] * 1e3
    found = (
        (f"one change at {made:,} nodes, median ms", median(times) * 1e3, 2.0),
        (f"one change at {made:,} nodes, slowest hundredth, ms", slowest, 2.0),
        (f"the pass over all of them, s, in {slices:,} slices, {slept.looked:,} looked at", whole, 60.0),
    )
    return [
        {"measure": what, "floor": "", "ours": ours, "bar": f"<= {bar:g}", "met": ours <= bar}
        for what, ours, bar in found
    ]
