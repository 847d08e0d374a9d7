"""Summaries for readers, cues for indexes, titles of efforts.

Cues: BM25 over the cues of segments against BM25 over each segment's first 100 tokens. On LoCoMo dev, per conversation:
for each question, the reciprocal rank of the best ranked segment that holds a turn of its evidence. The same segments,
the same tokenizer and the same BM25 for all.

Summaries, on DialogSum dev: a dialogue is a session of a user and an assistant that ends; ours are the summaries of its
segments, in order. ROUGE F1 of the first 30 words against a person's summary, stems alike; floors are the dialogue's
first 30 words, its longest turn, and its most central sentences. Beside it the share of words that stand in a run of
five words of one turn. Titles: ROUGE-1 F1 of the titles of a dialogue's efforts against the topic a person gave it. The
points of summaries and titles were learned on every other dialogue (see learn_summaries, learn_titles); those left out
have rows of their own.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import Stemmer

from processors.manifest import PROCESSOR, ManifestParams, SegmentSummarized, TurnFiled
from processors.open_efforts import PROCESSOR as EFFORTS
from processors.open_efforts import EffortOpened, EffortProgressed
from streams.core.driver import fold
from streams.core.events import MINUTE, SessionEnded, TurnRecorded
from tests.bench.data import ABSENT, DATA

FILE = DATA / "locomo-dev" / "locomo-dev.json"
DIALOGUES = DATA / "dialogsum" / "dev.jsonl"
FIRST, RUN = 30, 5
"""Words of a summary that are compared, and of a run that is verbatim."""
MARGIN = 0.05
"""The bar: how much higher the mean reciprocal rank of cues must be."""
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
        "cues": BM25([cues.get(segment, "") for segment in order]),
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


def cues(params: ManifestParams | None = None) -> list[dict[str, Any]]:
    """How well segments are found by their cues."""
    samples = json.loads(FILE.read_text("utf-8"))
    rows: list[dict[str, Any]] = []
    for ended in (False, True):
        totals: dict[str, list[float]] = {}
        for sample in samples:
            for name, found in ranks(sample, ended, params).items():
                totals.setdefault(name, []).extend(found)
        mean = {name: sum(found) / len(found) for name, found in totals.items()}
        floor, ours = mean["first 100 tokens"], mean["cues"]
        rows.append(
            {
                "measure": f"LoCoMo dev, evidence segment found by cue, MRR{' (sessions ended)' if ended else ''}",
                "floor": f"first 100 tokens {floor:.3f}, whole text {mean['whole segments']:.3f}",
                "ours": round(ours, 3),
                "bar": f">= {floor + MARGIN:.3f}",
                "met": ours >= floor + MARGIN,
            }
        )
    return rows


# -- sentences and titles ----------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[a-z0-9]+")
_SPEAKER = re.compile(r"(#Person\d+#):\s*(.*)")
_STEMMER = Stemmer.Stemmer("porter", 0)


@cache
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word)) if len(word) > 3 else word


def stems(text: str) -> list[str]:
    """The words of a text as ROUGE counts them."""
    return [_stem(word) for word in _TOKEN.findall(text.lower())]


def f1(shared: int, one: int, other: int) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * shared / (one + other) if shared else 0.0


def rouge(n: int, ours: Sequence[str], theirs: Sequence[str]) -> float:
    """ROUGE-N F1."""
    one, other = (Counter(zip(*(said[at:] for at in range(n)), strict=False)) for said in (ours, theirs))
    return f1((one & other).total(), one.total(), other.total())


def rouge_l(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """ROUGE-L F1: by the longest common subsequence."""
    row = [0] * (len(theirs) + 1)
    for word in ours:
        last, row = row, [0]
        for at, other in enumerate(theirs):
            row.append(last[at] + 1 if word == other else max(row[at], last[at + 1]))
    return f1(row[-1], len(ours), len(theirs))


def turns_of(dialogue: str) -> list[tuple[str, str]]:
    """Who said what, in order."""
    said: list[tuple[str, str]] = []
    for line in dialogue.splitlines():
        if found := _SPEAKER.match(line):
            said.append((found[1], found[2]))
        elif said:
            said[-1] = (said[-1][0], f"{said[-1][1]} {line}")
    return said


def session_of(said: Iterable[tuple[str, str]]) -> list[TurnRecorded | SessionEnded]:
    """A dialogue as a session of a user and an assistant, which ends."""
    found: list[TurnRecorded | SessionEnded] = [
        TurnRecorded("d", f"t{at}", (at + 1) * MINUTE, "d", who, "user" if who == "#Person1#" else "assistant", content)
        for at, (who, content) in enumerate(said)
    ]
    return [*found, SessionEnded("d", "end", (len(found) + 1) * MINUTE, "d")]


def verbatim(summary: str, said: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """How many words of a summary stand in a run of five words of one turn, and how many it has."""
    runs = {
        tuple(spoken[at : at + RUN])
        for spoken in (words(content) for _, content in said)
        for at in range(len(spoken) - RUN + 1)
    }
    ours = words(summary)
    inside = [False] * len(ours)
    for at in range(len(ours) - RUN + 1):
        if tuple(ours[at : at + RUN]) in runs:
            inside[at : at + RUN] = [True] * RUN
    return sum(inside), len(ours)


def central(said: Iterable[tuple[str, str]]) -> str:
    """The sentences most like the others, in order, as many as make 30 words."""
    sentences = [one for _, content in said for one in re.split(r"(?<=[.!?])\s+", content) if one]
    bags = [Counter(stems(one)) for one in sentences]
    norms = [math.sqrt(sum(n * n for n in bag.values())) or 1.0 for bag in bags]
    like = [
        sum(
            sum(n * other[word] for word, n in bag.items()) / (norm * far)
            for other, far in zip(bags, norms, strict=True)
        )
        for bag, norm in zip(bags, norms, strict=True)
    ]
    chosen: list[int] = []
    for at in sorted(range(len(sentences)), key=lambda at: -like[at]):
        if sum(len(sentences[one].split()) for one in chosen) < FIRST:
            chosen.append(at)
    return " ".join(sentences[at] for at in sorted(chosen))


FLOORS: dict[str, Callable[[list[tuple[str, str]]], str]] = {
    "lead": lambda said: " ".join(content for _, content in said),
    "longest": lambda said: max((content for _, content in said), key=len),
    "centrality": central,
}


def read(sample: dict[str, Any]) -> dict[str, float]:
    """What is measured of a dialogue."""
    said = turns_of(sample["dialogue"])
    summaries: dict[str, str] = {}
    titles: dict[str, str] = {}
    for row in fold([PROCESSOR, EFFORTS], session_of(said)):
        match row.event:
            case SegmentSummarized():
                summaries[row.event.segment] = row.event.summary
            case EffortOpened() | EffortProgressed():
                titles[row.event.effort] = row.event.topic
    texts = {"ours": " ".join(summaries.values())} | {name: floor(said) for name, floor in FLOORS.items()}
    theirs = stems(sample["summary"])
    found: dict[str, float] = {}
    for name, text in texts.items():
        first = stems(" ".join(text.split()[:FIRST]))
        found |= {f"{name} 2": rouge(2, first, theirs), f"{name} L": rouge_l(first, theirs)}
    found["inside"], found["words"] = verbatim(texts["ours"], said)
    topic = stems(sample["topic"])
    found["title"] = rouge(1, stems(" ".join(titles.values())), topic)
    found["title floor"] = rouge(1, stems(" ".join(" ".join(content for _, content in said).split()[:6])), topic)
    return found


def sentences(samples: list[dict[str, float]], which: str) -> list[dict[str, Any]]:
    """Summaries and titles of some dialogues."""
    mean = {name: sum(sample[name] for sample in samples) / len(samples) for name in samples[0]}
    rows: list[dict[str, Any]] = []
    for name, bar in (("2", 9.5), ("L", 20.0)):
        floors = {floor: 100 * mean[f"{floor} {name}"] for floor in FLOORS}
        ours = 100 * mean[f"ours {name}"]
        rows.append(
            {
                "measure": f"DialogSum dev{which}, first {FIRST} words of summaries, ROUGE-{name}",
                "floor": ", ".join(f"{floor} {value:.1f}" for floor, value in floors.items()),
                "ours": round(ours, 2),
                "bar": f">= {bar}, above floors",
                "met": ours >= bar and ours > max(floors.values()),
            }
        )
    share, title = 100 * mean["inside"] / mean["words"], 100 * mean["title"]
    rows.append(
        {"measure": f"DialogSum dev{which}, words in verbatim runs of five, %", "floor": None, "ours": round(share, 1),
         "bar": ">= 92", "met": share >= 92}
    )  # fmt: skip
    rows.append(
        {
            "measure": f"DialogSum dev{which}, titles, ROUGE-1",
            "floor": f"first six words {100 * mean['title floor']:.1f}",
            "ours": round(title, 1),
            "bar": ">= 24",
            "met": title >= 24,
        }
    )
    return rows


def run(params: ManifestParams | None = None) -> list[dict[str, Any]]:
    """Rows: the measure, its floor in the same run, ours, the bar; none where the data is absent."""
    rows = cues(params) if FILE.exists() else []
    if DIALOGUES.exists():
        found = [read(json.loads(line)) for line in DIALOGUES.read_text("utf-8").splitlines()]
        rows += sentences(found, "") + sentences(found[1::2], " (not learned on)")
    return rows


if __name__ == "__main__":
    table = run()
    if not table:
        print(ABSENT)
    for line in table:
        print(" | ".join(f"{name}: {value}" for name, value in line.items()))
