"""How well conclusions are told on customer-service runs, beside the floor "any user turn with thank".

    python -m tests.bench.quality_conclusions [--misses]

Data: tau (airline). What is measured, and against what:

- *closed run*: the user ended it (the simulator's marker `###STOP###` stands in the last user turn) and it was not
  transferred to a human. Its *closing turn* is the last user turn in which words remain without the marker.
- *open run*: transferred, or cut off. It should end without a conclusion.
- F1: over the user turns of closed runs, concluded ones (segment-concluded) against closing turns.
- early: share of all runs where a conclusion stands before work went on: a tool was called after it.
- stays open: share of open runs without any conclusion.
The marker is no language: it is taken out before turns are fed, or kept, with the same result.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from processors.manifest import PROCESSOR, SegmentConcluded
from streams.core.driver import fold
from streams.core.events import MINUTE, TurnRecorded
from streams.core.text.phrases import TABLES
from streams.core.text.sentences import WORD, lower, read_sentences
from tests.bench.data import ABSENT, DATA

MARKER = re.compile(r"#+\w+#+")
TRANSFER = "transfer_to_human_agents"


@dataclass
class Run:
    """A conversation and what is known of its end."""

    turns: list[TurnRecorded]
    closing: str
    """The id of the user's closing turn; "" for an open run."""
    work: list[int]
    """Places of turns that call tools."""


def runs(marker: bool = False) -> Iterator[Run]:
    """All runs there are, system prompts left out; with the marker in place or without."""
    for path in sorted((DATA / "tau").glob("*.json")):
        for number, run in enumerate(json.loads(path.read_text("utf-8"))):
            yield _run(f"{path.stem}/{number}", run["traj"], marker)


def _run(session: str, messages: list[dict[str, Any]], marker: bool) -> Run:
    turns: list[TurnRecorded] = []
    work: list[int] = []
    transferred = stopped = False
    closing = ""
    for message in messages:
        if message["role"] == "system":
            continue
        raw = message.get("content") or ""
        content = raw if marker else MARKER.sub("", raw).strip()
        calls = message.get("tool_calls") or []
        transferred = transferred or any(call["function"]["name"] == TRANSFER for call in calls)
        if calls:
            work.append(len(turns))
        turn_id = f"{session}/{len(turns)}"
        if message["role"] == "user":
            stopped = "###STOP###" in raw
            closing = turn_id if MARKER.sub("", raw).strip() else closing
        at = (len(turns) + 1) * MINUTE
        turns.append(TurnRecorded(session, turn_id, at, session, "", message["role"], content, parts=calls))
    return Run(turns, closing if stopped and not transferred else "", work)


@dataclass
class Score:
    """Counts over runs."""

    runs: int = 0
    open: int = 0
    hits: int = 0
    false: int = 0
    missed: int = 0
    early: int = 0
    opened: int = 0

    def add(self, run: Run, concluded: set[str]) -> None:
        """Counts one run, given the ids of its turns that conclude."""
        places = [at for at, turn in enumerate(run.turns) if turn.id in concluded]
        self.runs += 1
        self.early += any(work > place for place in places for work in run.work)
        if not run.closing:
            self.open += 1
            self.opened += not concluded
            return
        self.hits += run.closing in concluded
        self.missed += run.closing not in concluded
        self.false += len(concluded - {run.closing})

    @property
    def f1(self) -> float:
        """Of concluded turns against closing turns."""
        return 2 * self.hits / max(1, 2 * self.hits + self.false + self.missed)

    def row(self, name: str) -> str:
        """One line of the table."""
        precision = self.hits / max(1, self.hits + self.false)
        recall = self.hits / max(1, self.hits + self.missed)
        return (
            f"{name:<22} P {precision:.3f}  R {recall:.3f}  F1 {self.f1:.3f}  early {self.early / self.runs:.3f}"
            f"  stays open {self.opened / max(1, self.open):.3f}"
        )


def conclusions(run: Run) -> list[SegmentConcluded]:
    """What concludes by itself, in order."""
    return [row.event for row in fold([PROCESSOR], run.turns) if isinstance(row.event, SegmentConcluded)]


def concluded(run: Run) -> set[str]:
    """The ids of the turns that conclude; of a segment concluded again the last, as in the view `conclusions`."""
    return set({event.segment: event.turn for event in conclusions(run)}.values())


def thanks(run: Run) -> set[str]:
    """The floor: user turns that say thanks."""
    return {turn.id for turn in run.turns if turn.role == "user" and "thank" in turn.content.lower()}


def told(run: Run, found: set[str]) -> None:
    """Prints the user turns of a run that were missed or concluded wrongly."""
    print(run.turns[0].session)
    for turn in run.turns:
        if (turn.id in found) != (turn.id == run.closing):
            print("  missed" if turn.id == run.closing else "  false ", turn.content[-200:].replace("\n", " "))


def run() -> list[dict[str, object]]:
    """Every measure with its floor and the bar; nothing where the data is absent."""
    talks = [*runs()]
    if not talks:
        return []
    ours, floor = Score(), Score()
    for talk in talks:
        ours.add(talk, concluded(talk))
        floor.add(talk, thanks(talk))
    rows: list[tuple[str, float, float, str, bool]] = [
        ("closing turn, F1", floor.f1, ours.f1, ">= 0.93", ours.f1 >= 0.93),
        ("concluded before work ended", floor.early / floor.runs, ours.early / ours.runs, "<= 0.02",
         ours.early <= 0.02 * ours.runs),
        ("transferred or cut off stay open", floor.opened / max(1, floor.open), ours.opened / max(1, ours.open),
         ">= 0.95", ours.opened >= 0.95 * ours.open),
    ]  # fmt: skip
    return [
        {"measure": measure, "floors": {"any thanks": round(low, 3)}, "ours": round(value, 3), "bar": bar, "met": met}
        for measure, low, value, bar, met in rows
    ] + [{"measure": measure, "ours": count, "bar": "<= 0", "met": not count} for measure, count in overlooked(talks)]


def overlooked(talks: Iterable[Run]) -> Iterator[tuple[str, int]]:
    """What shortcuts of reading hide of what users really say: a word is looked for before a costly pattern is."""
    said = {turn.content for talk in talks for turn in talk.turns if turn.role == "user"}
    english = TABLES[0]
    told = [sentence.text for content in said for sentence in read_sentences(lower(content) or " ", True)]
    for name, guard in english.guards.items():
        hidden = (text for text in told if english.against[name].search(text) and guard.isdisjoint(WORD.findall(text)))
        yield f"objections without a word of the guard: {name}", sum(1 for _ in hidden)


def main(misses: bool) -> None:
    """Prints the table."""
    if not (DATA / "tau").is_dir():
        sys.exit(ABSENT)
    ours, every, kept, floor = Score(), Score(), Score(), Score()
    for run in runs():
        found = concluded(run)
        ours.add(run, found)
        every.add(run, {event.turn for event in conclusions(run)})
        floor.add(run, thanks(run))
        if misses and found != {run.closing} - {""}:
            told(run, found)
    for run in runs(marker=True):
        kept.add(run, concluded(run))
    print(f"{ours.runs} runs, {ours.open} of them open")
    rows = {
        "conclusions": ours,
        "with the marker kept": kept,
        "repeated ones too": every,
        "any turn with thank": floor,
    }
    for name, score in rows.items():
        print(score.row(name))


if __name__ == "__main__":
    main("--misses" in sys.argv)
