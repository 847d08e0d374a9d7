"""Learns which turns take back what somebody said to hold (processors/standing/lifting.json).

    python -m tests.bench.learn_lifting [--write]
    python -m tests.bench.learn_lifting --measure        the weights that are written, on authors that only measure

Learns from the voices of what stands (tests/voices/standing), whose authors marked which turn `lifts` which other one:
of each person every later turn is an example with all that still stands and shares a word with it. In those of eight
authors it is taken back on a later day in the middle of other matters, or only seems to be (`keeps`).

What they are worth, each author left out of learning: of 438 that are taken back, 302 share a word with what takes them
back; .30 of all are named, .66 of what is named rightly (`lifted`, -170). Authors who only measure: .16 of 56, 9 of 17
rightly; most of the others make an exception for once, or complain. So it is named beside what stands, and ends
nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import processors.standing.lifting as module
from processors.standing import StandingParams
from streams.core.text.acts import acting, signals_of
from streams.core.text.statements import stating
from streams.core.text.terms import terms
from tests.bench.learning import Example, best, crossed, fit, reliability, write
from tests.bench.voices import MEASURING, VOICES

PATH = Path(module.__file__).with_name("lifting.json")
VERSION = 1
STRENGTH, GROUPS = 0.4, 2
KEEPS = 3.0
"""How much a turn counts of which its author says that it takes nothing back, though it looks so."""


@dataclass
class Asked:
    """A turn, and what stands that it may take back."""

    author: str
    language: str
    text: str
    stand: list[str]
    """The texts of what stands, those that share most first."""
    examples: list[Example]
    missed: int
    """How much it takes back that is not asked about."""
    may: bool
    """Whether it is likely enough to change anything."""


def asked(learning: bool) -> Iterator[Asked]:
    """Turns that share words with what stands, and those that take back what is not found so."""
    for path in sorted((VOICES / "standing").glob("*/*.json")):
        if (path.parent.name in MEASURING) is learning:
            continue
        voice = json.loads(path.read_text("utf-8"))
        standing: dict[str, dict[str, tuple[frozenset[str], str]]] = {}
        for snippet in voice["snippets"]:
            for turn in snippet["turns"]:
                if turn["role"] != "user":
                    continue
                mine = standing.setdefault(turn["who"], {})
                yield from _asked(path.parent.name, voice["language"], turn, mine)
                if turn.get("standing"):
                    mine[turn["id"]] = (frozenset(terms(turn["text"])[0]), turn["text"])


def _asked(
    author: str, language: str, turn: dict[str, Any], stands: dict[str, tuple[frozenset[str], str]]
) -> Iterator[Asked]:
    """A turn with what stands; what it takes back does so no more."""
    text = turn["text"]
    lifts = turn.get("lifts") or []
    lifted = {lifts} if isinstance(lifts, str) else {*lifts}
    stems = frozenset(terms(text)[0])
    shared = {id: len(stems & of) for id, (of, _) in stands.items() if stems & of}
    newest = {id: place for place, id in enumerate(stands)}
    found = sorted(shared, key=lambda id: (-shared[id], -newest[id]))[: module.FEW]
    whole, places = signals_of(text, "user")
    acts, states = acting(whole + places), stating(whole, text)[0]
    reading = module.read(text, acts, states)
    counts = KEEPS if turn.get("keeps") else 1.0
    rows = [Example(module.pair_signals(reading, stands[id][0]), id in lifted, author, counts) for id in found]
    if found or lifted:
        missed = len((lifted & stands.keys()) - {*found})
        yield Asked(author, language, text, [stands[id][1] for id in found], rows, missed, states[0] >= module.MAY)
    for id in lifted:
        stands.pop(id, None)


def told_of(turns: list[Asked], scores: list[int], show: int = 0) -> None:
    """Prints what the scores of all examples are worth, of each turn the likeliest."""
    at, rows = 0, list[tuple[int, bool, Asked, int]]()
    missed = sum(turn.missed for turn in turns)
    for turn in turns:
        mine = scores[at : at + len(turn.examples)]
        at += len(mine)
        if mine:
            place = max(range(len(mine)), key=mine.__getitem__)
            rows.append((mine[place] if turn.may else -10_000, turn.examples[place].label, turn, place))
    labels = [label for _, label, _, _ in rows]
    print(f"{len(rows)} turns, {sum(labels)} take back what they share words with most likely; {missed} are not asked")
    named = [label for value, label, _, _ in rows if value >= StandingParams().lifted]
    of = sum(labels) + missed
    print(f"  named: {len(named)}, P {sum(named) / max(1, len(named)):.2f} R {sum(named) / of:.2f} of all")
    for precision in (0.95, 0.9, 0.8, 0.7, 0.6, 0.5):
        threshold, right, recall = best([score for score, _, _, _ in rows], labels, precision)
        print(f"  from {threshold} on: P {right:.2f} R {recall * sum(labels) / of:.2f} of all")
    print("reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability([s for s, _, _, _ in rows], labels)])
    for value, label, turn, place in sorted(rows, key=lambda row: -row[0])[:show]:
        if not label:
            print(f"  {value} «{turn.stand[place][:100]}» «{turn.text[:200]}»")


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    if "--measure" in sys.argv:
        turns = [*asked(False)]
        told_of(turns, [module.LIFTS(example.signals) for turn in turns for example in turn.examples])
        return
    turns = [*asked(True)]
    examples = [example for turn in turns for example in turn.examples]
    print(f"{len(examples)} pairs, {sum(example.label for example in examples)} true")
    told_of(turns, crossed(examples, STRENGTH, GROUPS), 60 if "--show" in sys.argv else 0)
    if "--write" in sys.argv:
        write(PATH, VERSION, {"lifts": fit(examples, STRENGTH, GROUPS)})


if __name__ == "__main__":
    main()
