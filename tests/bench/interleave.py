"""Four task dialogues interleaved in blocks and resumed, in one session: the input of several quality bars.

People leave a piece of work and come back to it. Task dialogues with known boundaries, cut into blocks of whole
exchanges and dealt in a seeded order, tell which turn belongs to which work, and where one is taken up again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from streams.core.events import SECOND, TurnRecorded
from tests.bench.data import DATA

START = 1_767_600_000 * SECOND
"""2026-01-05T08:00:00Z."""


@dataclass(slots=True)
class Interleaved:
    """One session, and what is known about it."""

    turns: list[TurnRecorded]
    labels: list[int]
    """The dialogue of each turn; same length."""
    resumptions: list[int]
    """Indexes of the turns at which a dialogue goes on after another had the floor."""


def dialogues(path: Path) -> list[list[list[dict[str, Any]]]]:
    """The runs of a task-dialogue file, one for each task (its first trial), each as a list of exchanges.

    An exchange is a user turn and all that follows up to the next one. Instructions to the agent are left out.
    """
    found: dict[int, list[list[dict[str, Any]]]] = {}
    for run in json.loads(path.read_text(encoding="utf-8")):
        exchanges: list[list[dict[str, Any]]] = []
        for message in run["traj"]:
            if message["role"] == "user":
                exchanges.append([message])
            elif message["role"] != "system" and exchanges:
                exchanges[-1].append(message)
        if len(exchanges) >= 4:
            found.setdefault(run["task_id"], exchanges)
    return [found[task] for task in sorted(found)]


def interleave(
    runs: list[list[list[dict[str, Any]]]], seed: int, together: int = 4, block: tuple[int, int] = (2, 4)
) -> Interleaved:
    """`together` of the `runs`, dealt in blocks of `block` exchanges, never two blocks of one dialogue in a row."""
    random = Random(seed)
    left = [list(run) for run in random.sample(runs, together)]
    session, last = Interleaved([], [], []), -1
    seen: set[int] = set()
    while any(left):
        others = [i for i, run in enumerate(left) if run and i != last]
        label = random.choice(others) if others else last
        size = random.randint(*block)
        if label in seen and label != last:
            session.resumptions.append(len(session.turns))
        for exchange in left[label][:size]:
            for message in exchange:
                session.turns.append(_turn(message, seed, len(session.turns)))
                session.labels.append(label)
        del left[label][:size]
        seen.add(label)
        last = label
    return session


def _turn(message: dict[str, Any], seed: int, index: int) -> TurnRecorded:
    agent = {"user": "user", "assistant": "agent", "tool": message.get("name", "tool")}[message["role"]]
    return TurnRecorded(
        f"interleaved-{seed}",
        f"turn-{index:04d}",
        START + index * 30 * SECOND,
        "session",
        agent,
        message["role"],
        message.get("content") or "",
        message.get("tool_calls") or [],
    )


def sessions(count: int = 40, **how: Any) -> list[Interleaved]:
    """`count` interleaved sessions from the task dialogues; none where the data is absent."""
    runs = [run for path in sorted((DATA / "tau").glob("*.json")) for run in dialogues(path)]
    return [interleave(runs, seed, **how) for seed in range(count)] if runs else []
