"""Quality and speed of ranking: evidence turns of long two-person conversations (LoCoMo), and spaces of many documents.

Run it: `python -m tests.bench.quality_recall`. The floor is BM25 over stems. Ranking reads an index in memory here, so
that what is measured is ranking. MRR: mean of 1 / rank of the first evidence turn; Hit@5: any of them among five.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from projections.recall.analysis import Analysis, analyse, ask
from projections.recall.kinds import TURN
from projections.recall.ranking import RecallParams, rank
from projections.recall.space import Documents, Floats, Ints
from tests.bench.data import DATA

LOCOMO = DATA / "locomo-dev" / "locomo-dev.json"
NEVER = np.iinfo(np.int64).max
NONE = np.zeros(0, np.int32), np.zeros(0, np.int32)


@dataclass(frozen=True)
class Turn:
    """A turn as an index meets it."""

    session: str
    agent: str
    at: int
    content: str
    kind: int = TURN


@dataclass
class Memory:
    """A `Space` in memory."""

    seen: int
    until: int
    documents: Documents
    speakers: list[str]
    sessions: int
    average: float
    session_lengths: Floats
    held: dict[str, tuple[Ints, Ints]] = field(default_factory=dict)

    def called(self, word: str) -> list[int]:
        return [number for number, name in enumerate(self.speakers) if word in re.split(r"\W+", name.casefold())]

    def postings(self, term: str) -> tuple[Ints, Ints]:
        return self.held.get(term, NONE)


def memory(turns: Iterable[Turn], read: Callable[[str], Analysis] = analyse) -> Memory:
    """An index of turns."""
    turns = list(turns)
    sessions: dict[str, int] = {}
    speakers: dict[str, int] = {}
    held: dict[str, list[tuple[int, int]]] = {}
    last: dict[str, int] = {}
    rows = []
    for number, turn in enumerate(turns):
        found = read(turn.content)
        for term, count in zip(found.terms, found.counts, strict=True):
            held.setdefault(term, []).append((number, count))
        before = last.get(turn.session, -1)
        session = sessions.setdefault(turn.session, len(sessions))
        speaker = speakers.setdefault(turn.agent, len(speakers)) if turn.agent else -1
        if turn.kind == TURN:
            last[turn.session] = number
        rows.append((turn.kind, found.length, session, speaker, found.flags, before, turn.at))
    kind, length, session, speaker, flags, before, at = (np.array(column) for column in zip(*rows, strict=True))
    after = np.full(len(turns), -1, np.int32)
    after[before[before >= 0]] = np.flatnonzero(before >= 0)
    lengths = np.bincount(session, length, len(sessions)).astype(np.float32)
    columns = Documents(
        kind.astype(np.int8), length.astype(np.int32), session.astype(np.int32), speaker.astype(np.int32),
        flags.astype(np.int32), before.astype(np.int32), after, at.astype(np.int64),
        np.full(len(turns), NEVER),
    )  # fmt: skip
    postings = {term: _columns(places) for term, places in held.items()}
    return Memory(
        len(turns), 0, columns, [*speakers], len(sessions), float(length.mean() or 1), lengths, postings
    )  # fmt: skip


def _columns(places: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    documents, counts = np.array(places, np.int32).T
    return np.ascontiguousarray(documents), np.ascontiguousarray(counts)


@dataclass(frozen=True)
class Question:
    """A question, its category, and the numbers of the turns that hold the evidence."""

    conversation: int
    text: str
    category: int
    evidence: frozenset[int]


def conversations(captions: bool) -> tuple[list[list[Turn]], list[Question]]:
    """The turns of each conversation and all questions; numbers of turns are within the conversation."""
    talks, questions = [], []
    for number, sample in enumerate(json.loads(LOCOMO.read_text())):
        talk, numbers = _turns(number, sample["conversation"], captions)
        talks.append(talk)
        for asked in sample["qa"]:
            named = re.findall(r"D:?(\d+):(\d+)", " ".join(asked["evidence"]))
            evidence = frozenset(numbers[key] for a, b in named if (key := (int(a), int(b))) in numbers)
            if evidence:
                questions.append(Question(number, asked["question"], asked["category"], evidence))
    return talks, questions


def _turns(number: int, talk: dict[str, Any], captions: bool) -> tuple[list[Turn], dict[tuple[int, int], int]]:
    turns: list[Turn] = []
    numbers: dict[tuple[int, int], int] = {}
    sessions = sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key))
    for session in sessions:
        said = datetime.strptime(talk[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(talk[f"session_{session}"]):
            content = turn["text"]
            if captions and turn.get("blip_caption"):
                content += f" [image: {turn['blip_caption']}]"
            first, second = map(int, re.findall(r"\d+", turn["dia_id"])[:2])
            numbers[first, second] = len(turns)
            at = int(said.timestamp() + place) * 1_000_000
            turns.append(Turn(f"{number}.session_{session}", turn["speaker"], at, content))
    return turns, numbers


@dataclass(frozen=True)
class Found:
    """Where the first evidence stood, by question; 0 for nowhere."""

    ranks: list[tuple[Question, int]]

    def mrr(self, *categories: int) -> float:
        found = [rank for question, rank in self.ranks if question.category in categories]
        return sum(1 / rank for rank in found if rank) / max(1, len(found))

    def hit(self, first: int, *categories: int) -> float:
        found = [rank for question, rank in self.ranks if question.category in categories]
        return sum(0 < rank <= first for rank in found) / max(1, len(found))


def answered(spaces: list[Memory], questions: list[Question], params: RecallParams) -> Found:
    """The questions, each asked of its conversation."""
    ranks = []
    for question in questions:
        hits = rank(spaces[question.conversation], ask(question.text), params, 100)
        places = (place for place, hit in enumerate(hits, 1) if hit.document in question.evidence)
        ranks.append((question, next(places, 0)))
    return Found(ranks)


BARE = RecallParams(
    k1=1.2,
    b=0.75,
    before=0,
    answered=0,
    earlier=0,
    after=0,
    session=0,
    alike=0,
    time=0,
    speaker=1,
    name=1,
    asking=1,
    when=1,
)
LADDER: list[tuple[str, dict[str, Any]]] = [
    ("BM25 over stems, few stop words", {}),
    ("turns are short: k1, b", {"k1": RecallParams().k1, "b": RecallParams().b}),
    ("times in questions", {"time": RecallParams().time}),
    (
        "words of neighbours, pooled",
        {"before": RecallParams().before, "after": RecallParams().after, "earlier": RecallParams().earlier},
    ),
    ("answers take the question's words", {"answered": RecallParams().answered}),
    ("session", {"session": RecallParams().session}),
    ("the question names the speaker", {"speaker": RecallParams().speaker}),
    ("a speaker's name as a word", {"name": RecallParams().name}),
    ("turns that ask", {"asking": RecallParams().asking}),
    ("when-questions want a time", {"when": RecallParams().when}),
    ("words that may stand for others", {"alike": RecallParams().alike}),
]
"""What each step adds to those before it."""


def ladder(captions: bool = True) -> list[tuple[str, Found, Found]]:
    """Each step's findings, by conversation and in one space."""
    talks, questions = conversations(captions)
    spaces = [memory(talk) for talk in talks]
    whole = memory(turn for talk in talks for turn in talk)
    moved = joined(questions, [len(talk) for talk in talks])
    rows, values = [], BARE.model_dump()
    for name, step in LADDER:
        values |= step
        params = RecallParams(**values)
        rows.append((name, answered(spaces, questions, params), answered([whole], moved, params)))
    return rows


def joined(questions: list[Question], counts: list[int]) -> list[Question]:
    """The questions, asked of one space that holds the conversations one after the other."""
    starts = [sum(counts[:number]) for number in range(len(counts))]
    return [
        Question(0, asked.text, asked.category, frozenset(starts[asked.conversation] + n for n in asked.evidence))
        for asked in questions
    ]


def generated(count: int, vocabulary: int = 50_000, words: int = 12) -> Memory:
    """A space of documents whose words are drawn by Zipf's law, none of them in over 5 % of the documents."""
    drawn = np.random.default_rng(1)
    share = 1 / np.arange(1, vocabulary + 1)
    share = np.minimum(share / share.sum(), 0.05 / words)
    cuts = np.cumsum(share / share.sum())
    terms = np.searchsorted(cuts, drawn.random((count, words))).astype(np.int32)
    documents = np.repeat(np.arange(count, dtype=np.int32), words)
    keys = np.unique(terms.ravel().astype(np.int64) * count + documents)
    of, held = (keys // count).astype(np.int32), (keys % count).astype(np.int32)
    starts = np.searchsorted(of, np.arange(vocabulary + 1))
    number = np.arange(count, dtype=np.int32)
    session = number // 20
    columns = Documents(
        np.zeros(count, np.int8), np.full(count, words, np.int32), session, number % 2,
        (drawn.random(count) < 0.3).astype(np.int32), np.where(number % 20, number - 1, -1).astype(np.int32),
        np.where((number % 20 < 19) & (number < count - 1), number + 1, -1).astype(np.int32),
        1_600_000_000_000_000 + number.astype(np.int64) * 60_000_000, np.full(count, NEVER),
    )  # fmt: skip
    sessions = int(session[-1]) + 1
    space = Memory(count, 0, columns, ["ann", "ben"], sessions, words, np.full(sessions, words * 20, np.float32))
    ones = np.ones(len(held), np.int32)
    for term in range(vocabulary):
        space.held[f"w{term}"] = held[starts[term] : starts[term + 1]], ones[starts[term] : starts[term + 1]]
    return space


def timed(space: Memory, questions: int = 200) -> tuple[float, float]:
    """Median and 95th percentile for a question of 6 to 10 words of the space, in milliseconds of processor time."""
    drawn = np.random.default_rng(2)
    kept = [term for term, (held, _) in space.held.items() if len(held)]
    share = np.array([len(space.held[term][0]) for term in kept], float)
    taken: list[float] = []
    for number in range(questions):
        words = drawn.choice(len(kept), 6 + number % 5, p=share / share.sum())
        query = ask(" ".join(kept[word] for word in words) + (" ann" if number % 2 else ""))
        began = time.process_time()
        rank(space, query, RecallParams(), 10)
        taken.append((time.process_time() - began) * 1000)
    return float(np.median(taken)), float(np.percentile(taken, 95))


def run() -> list[dict[str, Any]]:
    """Rows of quality and speed."""
    rows: list[dict[str, Any]] = []
    if not LOCOMO.exists():
        return rows
    for captions in (True, False):
        steps = ladder(captions)
        (_, low, low_whole), (_, best, whole) = steps[0], steps[-1]
        told = "with captions" if captions else "text only"
        for measure, floor, ours, bar in (
            ("MRR", low.mrr(1, 2, 3, 4), best.mrr(1, 2, 3, 4), 0.65),
            ("Hit@5", low.hit(5, 1, 2, 3, 4), best.hit(5, 1, 2, 3, 4), 0.79),
            ("MRR, all in one space", low_whole.mrr(1, 2, 3, 4), whole.mrr(1, 2, 3, 4), 0.65),
            ("MRR, category 5", low.mrr(5), best.mrr(5), 0.5),
            ("MRR, category 5, all in one space", low_whole.mrr(5), whole.mrr(5), 0.5),
        ):
            rows.append(
                {"measure": f"LoCoMo, {told}: {measure}", "floor": round(floor, 3), "floor_is": "BM25",
                 "ours": round(ours, 3), "bar": f">= {bar}", "met": ours >= bar}
            )  # fmt: skip
        if captions:
            rows += [
                {"measure": f"ladder: {name}, MRR", "ours": round(found.mrr(1, 2, 3, 4), 3), "bar": ""}
                for name, found, _ in steps
            ]
    for count, median_bar, late_bar in ((6_000, 0.6, 2.0), (1_000_000, 8.0, 20.0)):
        median, late = timed(generated(count))
        rows.append({"measure": f"ranking in {count:,} documents: ms, median", "ours": round(median, 2),
                     "bar": f"<= {median_bar}", "met": median <= median_bar})  # fmt: skip
        rows.append({"measure": f"ranking in {count:,} documents: ms, 95 %", "ours": round(late, 2),
                     "bar": f"<= {late_bar}", "met": late <= late_bar})  # fmt: skip
    return rows


def line(found: Found) -> str:
    """What is told of a step."""
    return f"MRR {found.mrr(1, 2, 3, 4):.3f} Hit@5 {found.hit(5, 1, 2, 3, 4):.3f} category 5 {found.mrr(5):.3f}"


if __name__ == "__main__":
    for with_captions in (True, False):
        print("with captions" if with_captions else "text only")
        for step, found, in_one in ladder(with_captions):
            print(f"{step:36} {line(found)} | one space {line(in_one)}")
