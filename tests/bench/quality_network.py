"""How much the knowledge network compacts what fits what is known (schema congruence), beside what was new.

Conversations of the voices to learn from, and of LoCoMo where it is there, each in a space of its own; a consolidation
at their ends. Of each node that stands: the tokens of all turns that say it (what somebody would have to read), against
those of its words in the end. What fits: nodes said again, merged, or linked as the same or a special case; all others
are new. The paper says that what fits is compacted ten times as much. That hangs on how often talk says a
thing again: each time adds a turn to what was said, and nothing to what is kept.
`python -m tests.bench.quality_network`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from processors import PROCESSORS
from processors.network.events import KnowledgeLinked, KnowledgeNoted
from processors.network.net import FITTING
from streams.core.driver import ancestors, fold
from streams.core.events import HOUR, ClockTicked, ConsolidationRequested, Outside, TurnRecorded
from streams.core.text.terms import tokens
from tests.bench import quality_recall, voices

TICKS = 64
TIMES = 10.0
"""What the paper says; the bar is ours: it is told, and not claimed."""


def spaces() -> Iterator[list[TurnRecorded]]:
    """Conversations, each as a space."""
    for conversation in voices.conversations(learning=True):
        yield conversation.events()
    if quality_recall.LOCOMO.is_file():
        for talk in quality_recall.conversations(captions=False)[0]:
            yield [
                TurnRecorded("space", f"t{n}", turn.at, turn.session, turn.agent, "user", turn.content)
                for n, turn in enumerate(talk)
            ]


def looked(turns: list[TurnRecorded], found: Counter[str]) -> None:
    """Counts the nodes of one space after a pass over all of them."""
    space, at = turns[0].space, max(turn.at for turn in turns) + HOUR
    slept: list[Outside] = [ConsolidationRequested(space, "sleep", at)]
    slept += [ClockTicked(space, f"tick{n}", at + n) for n in range(TICKS)]
    rows = [row.event for row in fold(ancestors(PROCESSORS, ["network"]), [*turns, *slept])]
    said = {turn.id: tokens(turn.content) for turn in turns}
    links = [row for row in rows if isinstance(row, KnowledgeLinked) and row.rule in FITTING]
    linked = {id for row in links for id in (row.source, row.target)}
    nodes = {row.node: row for row in rows if isinstance(row, KnowledgeNoted)}
    merged = {row.into for row in nodes.values() if row.into}
    for node in nodes.values():
        if node.status in ("current", "open", "history"):
            kind = "fits" if node.sources > 1 or node.node in linked or node.node in merged else "new"
            found[kind] += 1
            found[f"{kind} said"] += sum(said[turn] for turn in node.turns)
            found[f"{kind} kept"] += tokens(node.text)


def run() -> list[dict[str, Any]]:
    """How many times fewer tokens are kept than were said: of what fits, of what is new, and the one by the other."""
    found = Counter[str]()
    for turns in spaces():
        looked(turns, found)
    fits, new = (found[f"{kind} said"] / max(1, found[f"{kind} kept"]) for kind in ("fits", "new"))
    measures = (
        (f"what fits is compacted, times ({found['fits']} nodes)", fits, None),
        (f"what is new is compacted, times ({found['new']} nodes)", new, None),
        ("what fits, against what is new, times", fits / new if new else 0.0, TIMES),
    )
    return [
        {"measure": f"network: {what}", "floors": {}, "ours": round(ours, 2), "bar": bar and f">= {bar:g}",
         "met": ours >= bar if bar else None}
        for what, ours, bar in measures
    ]  # fmt: skip


if __name__ == "__main__":
    for row in run():
        print(row)
