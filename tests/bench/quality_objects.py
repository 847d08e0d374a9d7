"""How much of what people noted of speakers is found among the statements that are kept of people and things.

    python -m tests.bench.quality_objects [N [SEED]]     prints N (100) statements, drawn by SEED (1), to be judged

LoCoMo dev: its observations are what people noted about each speaker, each with the turn that tells it. Recall is the
share of them for which a statement of that speaker was read from that turn, whatever became of it later. Keeping
everything would have all of them, so statements per 1,000 turns stand beside it; the floor keeps each sentence that has
"I", "my" or "we" in it and asks nothing. Whether a statement is right only a reader can tell: the bar is that 85 of 100
are what the one it is kept of said of itself, or what was said of it, understood without the turn, and worth keeping.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from processors import PROCESSORS
from processors.objects import ObjectStated
from streams.core.driver import ancestors, fold
from streams.core.events import TurnRecorded
from tests.bench.data import ABSENT
from tests.bench.quality_summaries import FILE, events

_END = re.compile(r"(?<=[.!?])\s+")
_OWN = re.compile(r"(?<!\w)(?:i|my|we)(?!\w)", re.IGNORECASE)


class Kept(NamedTuple):
    """A statement, of whom it is kept, and the turn that it was read from, with the one before."""

    name: str
    says: str
    text: str
    turn: TurnRecorded
    before: TurnRecorded | None


def samples() -> list[dict[str, Any]]:
    """The conversations; none where the data is absent."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else []


def turns(sample: dict[str, Any]) -> list[TurnRecorded]:
    """The turns of a conversation, in order."""
    return [event for event in events(sample["conversation"], False) if isinstance(event, TurnRecorded)]


def statements(said: Sequence[TurnRecorded]) -> Iterator[Kept]:
    """All statements that turns make, each as it was first kept."""
    place, seen = {turn.id: at for at, turn in enumerate(said)}, set[str]()
    for row in fold(ancestors(PROCESSORS, ["objects"]), said):
        told = row.event
        if isinstance(told, ObjectStated) and told.statement not in seen:
            seen.add(told.statement)
            at = place[told.turn]
            yield Kept(told.name, told.says, told.text, said[at], said[at - 1] if at else None)


def first_person(said: Sequence[TurnRecorded]) -> Iterator[tuple[str, str]]:
    """The floor: of each sentence in the first person that asks nothing, its speaker and turn."""
    for turn in said:
        for sentence in _END.split(turn.content):
            if _OWN.search(sentence) and not sentence.endswith("?"):
                yield turn.agent, turn.id


def observed(sample: dict[str, Any]) -> list[tuple[str, set[str]]]:
    """Of each observation, the speaker and the turns that tell it."""
    noted = [rows for session in sample["observation"].values() for rows in session.items()]
    return [(who, {turn} if isinstance(turn, str) else {*turn}) for who, rows in noted for _, turn in rows]


def drawn(found: Sequence[dict[str, Any]], count: int, seed: int) -> str:
    """Statements drawn at random, for a reader to judge."""
    kept = [one for sample in found for one in statements(turns(sample))]
    lines: list[str] = []
    for number, one in enumerate(Random(seed).sample(kept, min(count, len(kept))), 1):
        lines.append(f"{number}. of {one.name} ({one.says}): {one.text}")
        lines += [f"     {turn.agent}: {' '.join(turn.content.split())}" for turn in (one.before, one.turn) if turn]
    return "\n".join(lines)


def run() -> list[dict[str, Any]]:
    """Recall, and how much is kept for it; nothing where the data is absent."""
    count, noted = 0, 0
    right = dict.fromkeys(("ours", "floor"), 0)
    kept = dict.fromkeys(right, 0)
    for sample in samples():
        said, wanted = turns(sample), observed(sample)
        for name, found in (
            ("ours", [(one.name, one.turn.id) for one in statements(said)]),
            ("floor", [*first_person(said)]),
        ):
            kept[name] += len(found)
            told = {*found}
            right[name] += sum(any((who, turn) in told for turn in noted_in) for who, noted_in in wanted)
        count += len(said)
        noted += len(wanted)
    if not count:
        return []
    recall = {name: hits / noted for name, hits in right.items()}
    often = {name: round(1000 * many / count) for name, many in kept.items()}
    floor = {"measure": "", "floor_is": "each sentence in the first person"}
    return [
        floor
        | {
            "measure": "LoCoMo dev, observations whose turn has a statement of that speaker",
            "floor": round(recall["floor"], 3),
            "ours": round(recall["ours"], 3),
            "bar": 0.6,
        },
        floor | {"measure": "LoCoMo dev, statements per 1,000 turns", "floor": often["floor"], "ours": often["ours"]},
    ]


if __name__ == "__main__":
    count, seed = (*map(int, sys.argv[1:]), *(100, 1)[len(sys.argv) - 1 :])
    print(drawn(samples(), count, seed) or ABSENT)
