"""Quality of surfacing: which notes come back when the talk comes to their matter, against look-alikes.

Run it: `python -m tests.bench.quality_surfacing`. The floor surfaces a note on any stem it shares with the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from processors import PROCESSORS
from processors.ttl_escalations import PROCESSOR, NoteSurfaced
from streams.core.driver import ancestors, fold
from streams.core.events import MINUTE, NoteTaken, TurnRecorded
from streams.core.text.terms import terms
from tests.processors.surfacing_pairs import FIRST, HELD_OUT, MORE, Pair

WITH = ancestors(PROCESSORS, [PROCESSOR.name])
PRECISION, RECALL = 0.87, 0.80
"""The bar: the paper's precision; recall is ours."""


def ours(pair: Pair) -> bool:
    """Whether the processor surfaces the note at the turn."""
    taken = NoteTaken("s", "n", 0, "note", pair.note, context=pair.context)
    turn = TurnRecorded("s", "t", MINUTE, "talk", "ann", "user", pair.turn)
    return any(isinstance(row.event, NoteSurfaced) for row in fold(WITH, [taken, turn]))


def floor(pair: Pair) -> bool:
    """Whether note and turn share any stem."""
    return not set(terms(f"{pair.note} {pair.context}")[0]).isdisjoint(terms(pair.turn)[0])


def together(pairs: Iterable[Pair]) -> list[tuple[Pair, Pair]]:
    """All notes open in one space, each turn in a session of its own: (the note's pair, the turn's pair) surfaced."""
    pairs = list(pairs)
    events: list[Any] = [
        NoteTaken("s", f"n{i}", 0, str(i), pair.note, context=pair.context) for i, pair in enumerate(pairs)
    ]
    events += [TurnRecorded("s", str(i), MINUTE, str(i), "ann", "user", pair.turn) for i, pair in enumerate(pairs)]
    rows = [row.event for row in fold(WITH, events) if isinstance(row.event, NoteSurfaced)]
    return [(pairs[int(row.note)], pairs[int(row.turn)]) for row in rows]


def score(pairs: Iterable[Pair], rule: Callable[[Pair], bool]) -> tuple[float, float]:
    """Precision and recall of a rule."""
    found = [(pair.surfaces, rule(pair)) for pair in pairs]
    hits = sum(wanted and surfaced for wanted, surfaced in found)
    surfaced, wanted = sum(surfaced for _, surfaced in found), sum(wanted for wanted, _ in found)
    return hits / max(1, surfaced), hits / max(1, wanted)


def run() -> list[dict[str, Any]]:
    """One row per set of pairs and measure, against the floor."""
    rows: list[dict[str, Any]] = []
    for name, pairs in (("first", FIRST), ("more", MORE), ("held out", HELD_OUT)):
        pairs = list(pairs)
        low, found = score(pairs, floor), score(pairs, ours)
        for measure, bar, least, value in zip(("precision", "recall"), (PRECISION, RECALL), low, found, strict=True):
            rows.append(
                {
                    "measure": f"surfacing, {name} ({len(pairs)} pairs): {measure}",
                    "floors": {"any shared stem": round(least, 3)}, "ours": round(value, 3), "bar": f">= {bar}",
                    "met": value >= bar,
                }
            )  # fmt: skip
    return rows


if __name__ == "__main__":
    for row in run():
        print(f"{row['measure']:42} {row['ours']:.3f}  floor {row['floors']['any shared stem']:.3f}  bar {row['bar']}")
    for pair in (*FIRST, *MORE, *HELD_OUT):
        if ours(pair) != pair.surfaces:
            print("missed " if pair.surfaces else "false  ", pair.note, "|", pair.turn)
    for one, other in together((*FIRST, *MORE, *HELD_OUT)):
        if one != other and one.note != other.note:
            print("crossed", one.note, "|", other.turn)
