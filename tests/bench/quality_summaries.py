"""Summaries as retrieval cues: BM25 over segment summaries against BM25 over each segment's first 100 tokens.

On LoCoMo dev, per conversation: for each question, the reciprocal rank of the best ranked segment that holds a turn of
its evidence. The same segments, the same tokenizer and the same BM25 for all.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from processors.manifest import PROCESSOR, ManifestParams, SegmentSummarized, TurnFiled
from streams.core.driver import fold
from streams.core.events import MINUTE, SessionEnded, TurnRecorded
from tests.bench.data import ABSENT, DATA

FILE = DATA / "locomo-dev" / "locomo-dev.json"
MARGIN = 0.05
"""The bar: how much higher the mean reciprocal rank of summaries must be."""
HEAD = 100
"""Tokens of a segment's beginning that the floor sees, counted as words."""
_WORD = re.compile(r"\w+")


class BM25:
    """Okapi BM25 (k1 = 1.2, b = 0.75) over a few documents."""

    def __init__(self, documents: Sequence[str]) -> None:
        self.bags = [Counter(words(document)) for document in documents]
        self.lengths = [sum(bag.values()) for bag in self.bags]
        self.mean = sum(self.lengths) / max(1, len(self.lengths)) or 1.0
        self.df = Counter(word for bag in self.bags for word in bag)

    def ranked(self, query: str) -> list[int]:
        """Documents, best first; equals by their order."""
        asked = words(query)
        return sorted(range(len(self.bags)), key=lambda at: -self._score(at, asked))

    def _score(self, at: int, asked: list[str]) -> float:
        bag, norm = self.bags[at], 1.2 * (0.25 + 0.75 * self.lengths[at] / self.mean)
        n = len(self.bags)
        return sum(
            math.log(1 + (n - self.df[word] + 0.5) / (self.df[word] + 0.5)) * bag[word] * 2.2 / (bag[word] + norm)
            for word in asked
            if word in bag
        )


def words(text: str) -> list[str]:
    """The tokenizer of all: words, folded."""
    return _WORD.findall(text.lower())


def events(conversation: dict[str, Any], ended: bool) -> list[TurnRecorded | SessionEnded]:
    """A LoCoMo conversation as one space: two agents, its sessions as sessions."""
    said: list[TurnRecorded | SessionEnded] = []
    number = 1
    while f"session_{number}" in conversation:
        at = number * 10_000 * MINUTE
        session = f"session_{number}"
        for turn in conversation[session]:
            at += MINUTE
            said.append(TurnRecorded("locomo", turn["dia_id"], at, session, turn["speaker"], "user", turn["text"]))
        if ended:
            said.append(SessionEnded("locomo", f"end-{number}", at, session))
        number += 1
    return said


def ranks(sample: dict[str, Any], ended: bool, params: ManifestParams | None = None) -> dict[str, list[float]]:
    """Reciprocal ranks of every question of a conversation, by what is searched."""
    said = events(sample["conversation"], ended)
    texts: dict[str, list[str]] = {}
    cues: dict[str, str] = {}
    home: dict[str, str] = {}
    content = {event.id: event.content for event in said if isinstance(event, TurnRecorded)}
    for row in fold([PROCESSOR], said, {"manifest": params} if params else None):
        if isinstance(row.event, TurnFiled):
            texts.setdefault(row.event.segment, []).append(content[row.event.turn])
            home[row.event.turn] = row.event.segment
        elif isinstance(row.event, SegmentSummarized):
            cues[row.event.segment] = row.event.cue
    order = list(texts)
    whole = {segment: " ".join(" ".join(texts[segment]).split()) for segment in order}
    searched = {
        "summaries": BM25([cues.get(segment, "") for segment in order]),
        "first 100 tokens": BM25([" ".join(whole[segment].split()[:HEAD]) for segment in order]),
        "whole segments": BM25([whole[segment] for segment in order]),
    }
    found: dict[str, list[float]] = {name: [] for name in searched}
    for question in sample["qa"]:
        wanted = {home[turn] for turn in question.get("evidence", []) if turn in home}
        if not wanted:
            continue
        for name, index in searched.items():
            ranked = index.ranked(str(question["question"]))
            found[name].append(1 / (1 + next(at for at, document in enumerate(ranked) if order[document] in wanted)))
    return found


def run(params: ManifestParams | None = None) -> list[dict[str, Any]]:
    """One row: the measure, its floor in the same run, ours, the bar; nothing where the data is absent."""
    if not FILE.exists():
        return []
    samples = json.loads(FILE.read_text("utf-8"))
    rows: list[dict[str, Any]] = []
    for ended in (False, True):
        totals: dict[str, list[float]] = {}
        for sample in samples:
            for name, found in ranks(sample, ended, params).items():
                totals.setdefault(name, []).extend(found)
        mean = {name: sum(found) / len(found) for name, found in totals.items()}
        floor, ours = mean["first 100 tokens"], mean["summaries"]
        rows.append(
            {
                "measure": f"LoCoMo dev, evidence segment found, MRR{' (sessions ended)' if ended else ''}",
                "floor": f"first 100 tokens {floor:.3f}, whole text {mean['whole segments']:.3f}",
                "ours": round(ours, 3),
                "bar": f">= {floor + MARGIN:.3f}",
                "met": ours >= floor + MARGIN,
            }
        )
    return rows


if __name__ == "__main__":
    table = run()
    if not table:
        print(ABSENT)
    for line in table:
        print(" | ".join(f"{name}: {value}" for name, value in line.items()))
