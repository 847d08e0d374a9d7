"""Whether a model is given what it needs in months of talk, asked as people ask.

    python -m tests.bench.quality_lives [--missing]

`tests/lives/LIFE.jsonl` is the talk of a few people and an assistant over four to eight months, in the form that
`mnemolog feed` reads; `LIFE.points.jsonl` names turns and what a good answer to each needs of what was said before in
other sessions: regular expressions, one for each fact, and some (`not`) for what was replaced meanwhile and would
mislead. Authors saw neither the code nor each other's lives. The lives of MEASURING were never looked at to mend
anything; the others may be. In five (saltmarsh, hofladen, kiln, tariff, mallow) the assistant answers at length.

Turns are recorded when they were said. At each point a context of 4,000 and of 1,000 tokens is asked for. A fact is
given where a line of the context holds it, dates and ids that mnemolog writes left out. What would mislead is shown
where a line holds it that does not say that it is no longer so. Lines bear dates: it misleads most where what is needed
is missing beside it. Floors: the newest turns before the point, as many
tokens of them as the budget has, and as many as ours shows. The lives are short: 4,000 tokens hold nearly all that was
said in one, which tells what a young memory could give, not what an old one can.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from streams.core.events import SECOND, TurnRecorded
from streams.core.text.terms import tokens
from tests.spaces import Remembering

LIVES = Path(__file__).parents[1] / "lives"
MEASURING = frozenset(
    ("studio", "washhouse", "vets", "pager", "attic", "quartet", "parcel", "kiln", "tariff", "mallow")
)
"""Lives that only measure; of some only what stands is marked."""
BUDGETS = (4000, 1000)
WRITTEN = re.compile(r"^- \d{4}-\d\d-\d\d|\[[\w-]+\]|\(\d+ turns?, last on [\d-]+\)|\(last on [\d-]+\)")
"""What mnemolog writes beside what was said."""


class Point(NamedTuple):
    """A turn that is to be answered, and what its answer needs."""

    turn: str
    name: str
    need: list[str]
    wrong: list[str]
    """What would mislead."""


def turns(life: str) -> list[TurnRecorded]:
    """What was said, in order."""
    found: list[TurnRecorded] = []
    for line in (LIVES / f"{life}.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        at = round(datetime.fromisoformat(told["at"]).timestamp()) * SECOND
        said = (told["session"], told["agent"], told["role"], told["content"])
        found.append(TurnRecorded(told["space"], told["id"], at, *said))
    return found


def points(life: str) -> Iterator[Point]:
    """What is measured of a life, in order."""
    for line in (LIVES / f"{life}.points.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        yield Point(told["turn"], told["name"], told["need"], told.get("not", []))


def holds(facts: Iterable[str], lines: Iterable[str]) -> list[str]:
    """Those of some facts that stand in lines."""
    text = "\n".join(lines)
    return [fact for fact in facts if re.search(fact, text, re.IGNORECASE)]


def newest(said: list[TurnRecorded], room: int) -> list[str]:
    """The newest turns that fit into so many tokens."""
    found: list[str] = []
    for turn in reversed(said):
        line = f"{turn.role} {turn.agent}: {turn.content}"
        room -= tokens(line)
        if room < 0:
            break
        found.append(line)
    return found


def measured(life: str, counts: Counter[str], tell: bool = False) -> None:
    """Lives one and counts what is given; with `tell`, prints what is not."""
    talk, asked = turns(life), {point.turn: point for point in points(life)}
    with TemporaryDirectory() as folder, Remembering(Path(folder) / "home") as space:
        pending: list[TurnRecorded] = []
        for place, turn in enumerate(talk):
            pending.append(turn)
            if not (point := asked.get(turn.id)):
                continue
            space.home.log.append_recorded([(each, each.at) for each in pending])
            pending.clear()
            counts["points"] += 1
            counts["facts"] += len(point.need)
            counts["misleading"] += len(point.wrong)
            for budget in BUDGETS:
                given = space.ask("context", space=turn.space, session=turn.session, budget=budget)
                lines = [WRITTEN.sub("", line) for line in given["text"].splitlines()[2:]]
                held = holds(point.need, lines)
                counts[f"{budget} held"] += len(held)
                counts[f"{budget} whole"] += len(held) == len(point.need)
                counts[f"{budget} tokens"] += given["tokens"]
                plain = [line for line in lines if "no longer so" not in line]
                misled = len(holds(point.wrong, plain))
                counts[f"{budget} misled"] += misled
                counts[f"{budget} alone"] += misled * (len(held) < len(point.need))
                before = talk[:place]
                counts[f"{budget} newest"] += len(holds(point.need, newest(before, budget)))
                counts[f"{budget} same"] += len(holds(point.need, newest(before, given["tokens"])))
                if tell and budget == BUDGETS[0] and len(held) < len(point.need):
                    missing = [fact for fact in point.need if fact not in held]
                    print(f"{turn.id:<14} {turn.content[:70]!r} misses {missing} in {given['tokens']} tokens")


def lives() -> list[str]:
    """The names of all."""
    return sorted(path.name.removesuffix(".points.jsonl") for path in LIVES.glob("*.points.jsonl"))


def run() -> list[dict[str, Any]]:
    """All rows of this table."""
    rows: list[dict[str, Any]] = []
    for told, chosen in (("looked at", set(lives()) - MEASURING), ("only measuring", set(lives()) & MEASURING)):
        counts: Counter[str] = Counter()
        for life in sorted(chosen):
            measured(life, counts)
        rows += list(_rows(told, counts))
    return rows


def _rows(told: str, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    def share(what: str, of: str) -> float:
        return round(100 * counts[what] / counts[of], 1)

    for budget in BUDGETS:
        ours = share(f"{budget} held", "facts")
        floors = {"newest turns": share(f"{budget} newest", "facts"), "of our size": share(f"{budget} same", "facts")}
        yield _row(f"{told}, {budget}: facts given, %", floors, ours, "above our size", ours > floors["of our size"])
        yield _row(f"{told}, {budget}: all that is needed, %", {}, share(f"{budget} whole", "points"), "", None)
        yield _row(f"{told}, {budget}: mean tokens", {}, round(counts[f"{budget} tokens"] / counts["points"]), "", None)
        if counts["misleading"]:
            yield _row(f"{told}, {budget}: misleading shown, %", {}, share(f"{budget} misled", "misleading"), "", None)
            alone = share(f"{budget} alone", "misleading")
            yield _row(f"{told}, {budget}: so where something needed is not, %", {}, alone, "", None)


def _row(measure: str, floors: dict[str, Any], ours: float, bar: str, met: bool | None) -> dict[str, Any]:
    return {"measure": measure, "floors": floors, "ours": ours, "bar": bar, "met": met}


def main() -> None:
    """Prints the table; with --missing, what is not given in the lives that may be looked at."""
    if "--missing" in sys.argv:
        for life in sorted(set(lives()) - MEASURING):
            measured(life, Counter(), tell=True)
        return
    for row in run():
        floors = ", ".join(f"{name} {value}" for name, value in row["floors"].items())
        print(f"{row['measure']:<45} {row['ours']:>7}  {floors}")


if __name__ == "__main__":
    main()
