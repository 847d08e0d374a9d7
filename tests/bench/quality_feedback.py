"""Recall must not feed itself: what a thousand recalls of popular questions do to all the others.

    python -m tests.bench.quality_feedback

What is shown is recorded, and what was shown is more present: so what is asked often might come to be shown for
everything. Of two conversations of months (LoCoMo), twenty questions are asked fifty times each, in a row within
minutes ("massed") and over months ("spaced"); the other questions, asked before and after at one moment, should be
answered as well as before.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streams.core.events import MINUTE, MemoryRecalled, Outside, TurnRecorded
from tests.bench.quality_recall import LOCOMO, conversations
from tests.spaces import Remembering

RECALLS = 1_000
LOST = 0.005
"""The most that the mean reciprocal rank of all other questions may fall by."""
POPULAR = 20
AGAIN = 5
"""Recalls of a popular question in a row."""
PACES = {"massed": MINUTE, "spaced": 97 * MINUTE}
Evidence = Mapping[str, frozenset[str]]
"""By question: the turns that answer it."""


def mrr(space: Remembering, name: str, asked: Evidence, at: int) -> float:
    """Mean reciprocal rank of the first turn that answers, asked at one moment."""
    queries = [{"id": q, "space": name, "query": q, "k": 50, "kinds": ["turn"], "at": at} for q in asked]
    answers = space.ask("recall_batch", queries=queries)
    total = 0.0
    for answer in answers:
        ranks = (n for n, hit in enumerate(answer["hits"], 1) if hit["turn_id"] in asked[answer["id"]])
        total += 1 / next(ranks, 10**9)
    return total / len(asked)


def looped(space: Remembering, name: str, evidence: Evidence, every: int) -> tuple[float, float]:
    """MRR of all but some popular questions before and after a thousand recalls of those, `every` so many microseconds.

    What is shown is what is found each time round, so that what was shown before may come to be shown the more. Both
    are asked at the moment after the last recall: the recalls are all that differs.
    """
    popular = [*evidence][:: len(evidence) // POPULAR][:POPULAR]
    rest = {question: turns for question, turns in evidence.items() if question not in popular}
    at = max(event.at for event in space.events)
    end = at + (RECALLS + 1) * every
    before = mrr(space, name, rest, end)
    for start in range(0, RECALLS, POPULAR * AGAIN):
        facts: list[Outside] = []
        for query in popular:
            turns = space.found(query, space=name, at=at + every)
            for again in range(AGAIN):
                at += every
                facts.append(MemoryRecalled(name, f"loop-{start + len(facts)}", at, query, turns, f"session-{again}"))
        space.add(*facts)
    return before, mrr(space, name, rest, end)


def run() -> list[dict[str, Any]]:
    """A row for each pace; nothing where the data is absent."""
    if not LOCOMO.exists():
        return []
    talks, questions = conversations(captions=True)
    said = [
        TurnRecorded("locomo", f"{talk}/{n}", turn.at, turn.session, turn.agent, "user", turn.content)
        for talk, turns in enumerate(talks[:2])
        for n, turn in enumerate(turns)
    ]
    evidence = {
        question.text: frozenset(f"{question.conversation}/{n}" for n in question.evidence)
        for question in questions
        if question.conversation < 2 and question.category != 5
    }
    rows = []
    for pace, every in PACES.items():
        with tempfile.TemporaryDirectory() as folder, Remembering(Path(folder) / "home", said) as space:
            before, after = looped(space, "locomo", evidence, every)
        rows.append(
            {"measure": f"MRR after a thousand {pace} recalls of others", "floors": {"before them": round(before, 4)},
             "ours": round(after, 4), "bar": f">= before - {LOST}", "met": after >= before - LOST}
        )  # fmt: skip
    return rows


if __name__ == "__main__":
    for row in run():
        print(row)
