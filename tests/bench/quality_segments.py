"""Segments: boundaries of persona chats (TIAGE dev) and of spliced dialogues, one parameter set for all.

Pk and WindowDiff with k half the mean reference segment, mean over dialogues; F1 of exact boundaries, over all turns.
Floors in the same run: TextTiling (Hearst 1997, blocks of three turns, cut at half a deviation below the mean
similarity) and boundaries at even distances (told the true number: an oracle that the others do not have).
"""

from __future__ import annotations

import json
import math
import random
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from processors.manifest import PROCESSOR, ManifestParams, TurnFiled
from streams.core.driver import fold
from streams.core.events import TurnRecorded
from tests.bench.data import ABSENT, DATA

BARS = {"chats": (41.0, 44.0, 0.36), "spliced": (30.0, None, 0.56)}
"""Pk at most, WindowDiff at most, F1 at least."""
_STOP = "#" * 3 + "STOP" + "#" * 3

Dialogue = tuple[list[tuple[str, str]], list[bool]]
"""(speaker, text) of each turn, and whether it begins a segment; the first turn's does not count."""


def tiage(part: str) -> list[Dialogue]:
    """Persona chats with annotated shifts."""
    dialogues = json.loads((DATA / "tiage" / f"anno_{part}.json").read_text("utf-8")).values()
    return [
        ([(("user", "assistant")[at % 2], text) for at, (text, _) in enumerate(d)], [mark == "1" for _, mark in d])
        for d in dialogues
    ]


def splice(parts: Iterable[Sequence[tuple[str, str]]]) -> Dialogue:
    """Several dialogues, one after the other."""
    turns: list[tuple[str, str]] = []
    begins: list[bool] = []
    for part in parts:
        begins += [True] + [False] * (len(part) - 1)
        turns += part
    return turns, [False, *begins[1:]]


def tasks(crop: bool, n: int = 60) -> list[Dialogue]:
    """Spliced runs of unrelated airline tasks; `crop` keeps only 4 to 8 turns of each."""
    dice = random.Random(7)
    runs: dict[int, list[list[tuple[str, str]]]] = {}
    for run in json.loads((DATA / "tau" / "gpt-4o-airline.json").read_text("utf-8")):
        said = [(m["role"], (m.get("content") or "").replace(_STOP, "").strip()) for m in run["traj"]]
        turns = [(role, text) for role, text in said if role in ("user", "assistant") and text]
        if len(turns) >= 4:
            runs.setdefault(run["task_id"], []).append(turns)
    spliced = []
    for _ in range(n):
        chosen = [dice.choice(runs[task]) for task in dice.sample(sorted(runs), dice.randint(3, 6))]
        spliced.append(splice(part[: dice.randrange(4, 10, 2)] if crop else part for part in chosen))
    return spliced


def threads(n: int = 60) -> list[Dialogue]:
    """Spliced threads of a technical channel; many speakers."""
    dice = random.Random(7)
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (DATA / "irc" / "dev.jsonl").read_text("utf-8").splitlines():
        message = json.loads(line)
        if message["thread"] and message["speaker"]:
            found.setdefault(message["thread"], []).append((message["speaker"], message["text"]))
    whole = [thread for thread in found.values() if 4 <= len(thread) <= 40]
    return [splice(dice.sample(whole, dice.randint(3, 6))) for _ in range(n)]


def cuts(turns: Sequence[tuple[str, str]], params: ManifestParams | None = None) -> list[bool]:
    """Where the manifest begins a segment."""
    events = [
        TurnRecorded("s", f"t{at}", at, "x", who, "assistant" if who == "assistant" else "user", text)
        for at, (who, text) in enumerate(turns)
    ]
    rows = fold([PROCESSOR], events, {"manifest": params} if params else None)
    segments = [row.event.segment for row in rows if isinstance(row.event, TurnFiled)]
    return [False] + [a != b for a, b in pairwise(segments)]


def tiling(turns: Sequence[tuple[str, str]], block: int = 3) -> list[bool]:
    """TextTiling over turns: cuts at local minima of block similarity that lie low."""
    bags = [Counter(word for word in re.findall(r"\w+", text.lower()) if len(word) > 3) for _, text in turns]
    similar = []
    for at in range(1, len(bags)):
        left, right = (sum(bags[max(0, at - block) : at], Counter()), sum(bags[at : at + block], Counter()))
        norm = math.sqrt(sum(v * v for v in left.values()) * sum(v * v for v in right.values()))
        similar.append(sum(left[word] * right[word] for word in left) / norm if norm else 0.0)
    low = statistics.mean(similar) - statistics.pstdev(similar) / 2
    marks = [value <= low and value <= min(similar[max(0, at - 1) : at + 2]) for at, value in enumerate(similar)]
    return [False, *marks]


def even(begins: Sequence[bool]) -> list[bool]:
    """As many boundaries as there are, at even distances."""
    many = sum(begins) + 1
    places = {round(at * len(begins) / many) for at in range(1, many)}
    return [at in places for at in range(len(begins))]


def score(wanted: Sequence[Sequence[bool]], found: Sequence[Sequence[bool]]) -> tuple[float, float, float]:
    """Pk, WindowDiff (both in percent, mean over dialogues) and F1 of boundaries."""
    pk: list[float] = []
    difference: list[float] = []
    right = total = 0
    for want, have in zip(wanted, found, strict=True):
        a, b = _running(want), _running(have)
        k = max(1, round(len(a) / (a[-1] + 1) / 2))
        places = range(len(a) - k)
        if places:
            pk.append(statistics.mean((a[at] == a[at + k]) != (b[at] == b[at + k]) for at in places))
            difference.append(statistics.mean((a[at + k] - a[at]) != (b[at + k] - b[at]) for at in places))
        right += sum(x and y for x, y in zip(want, have, strict=True))
        total += sum(want) + sum(have)
    return 100 * statistics.mean(pk), 100 * statistics.mean(difference), 2 * right / max(1, total)


def _running(begins: Sequence[bool]) -> list[int]:
    count, counts = 0, []
    for at, begin in enumerate(begins):
        count += begin and at > 0
        counts.append(count)
    return counts


def sets() -> dict[str, tuple[str, list[Dialogue]]]:
    """The dialogues that are there, by name, with the bar they fall under."""
    found: dict[str, tuple[str, list[Dialogue]]] = {}
    if (DATA / "tiage" / "anno_dev.json").exists():
        found["TIAGE dev"] = ("chats", tiage("dev"))
    if (DATA / "tau" / "gpt-4o-airline.json").exists():
        found["spliced tau tasks"] = ("spliced", tasks(crop=False))
        found["spliced tau tasks, cropped"] = ("spliced", tasks(crop=True))
    if (DATA / "irc" / "dev.jsonl").exists():
        found["spliced IRC threads"] = ("", threads())
    return found


def run(params: ManifestParams | None = None) -> list[dict[str, Any]]:
    """One row a set: measure, floors in the same run, ours, bar; nothing where the data is absent."""
    rows: list[dict[str, Any]] = []
    for name, (bar, dialogues) in sets().items():
        wanted = [begins for _, begins in dialogues]
        pk, difference, f1 = score(wanted, [cuts(turns, params) for turns, _ in dialogues])
        top = BARS.get(bar, (100.0, None, 0.0))
        rows.append(
            {
                "measure": f"{name}: Pk / WindowDiff / F1",
                "floor": f"TextTiling {_shown(score(wanted, [tiling(turns) for turns, _ in dialogues]))}, "
                f"even {_shown(score(wanted, [even(begins) for _, begins in dialogues]))}",
                "ours": _shown((pk, difference, f1)),
                "bar": f"<= {top[0]:.0f} / {f'<= {top[1]:.0f}' if top[1] else '-'} / >= {top[2]:.2f}" if bar else "-",
                "met": pk <= top[0] and (top[1] is None or difference <= top[1]) and f1 >= top[2],
            }
        )
    return rows


def _shown(scores: tuple[float, float, float]) -> str:
    return f"{scores[0]:.1f} / {scores[1]:.1f} / {scores[2]:.2f}"


if __name__ == "__main__":
    table = run()
    if not table:
        print(ABSENT)
    for line in table:
        print(" | ".join(f"{name}: {value}" for name, value in line.items()))
