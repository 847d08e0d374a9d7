"""What of a long session is left where only its compression and its last turns are shown.

Meetings (QMSum) whose minutes people wrote: answers to questions, with the turns that they rest on. Looked for is what
was decided or is to be done (the sentences of answers that say so; of each the telling words that its turns hold) and
who and what is named. It is there where a window shows it (of a sentence 60 % of its words):

    shown     `context --window compression`: the summary of the head and the last 12 turns
    one away  the same, or `context --details` of the three parts of the summary that share most with the question

both within 4,000 tokens. Floor: the session's newest turns in as many tokens as both have together. Cost of the fold:
CPU time per turn beside the manifest's, the best of three runs; and that of reading the words of a turn in the same
run, which tells how busy the machine is: the bar is for one on which reading takes 16 us.

Without data there are no rows.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from processors import compression, manifest
from streams.core.driver import Driver, Placed, as_raw
from streams.core.events import SECOND, TurnRecorded
from streams.core.processor import Processor, Raw
from streams.core.text.commonness import CLASSES
from streams.core.text.telling import sentences
from streams.core.text.terms import scan, terms
from tests.bench.data import DATA
from tests.spaces import SPACE, START, Remembering

MEETINGS, PARTS, ENOUGH, BUDGET = 30, 3, 0.6, 4000
BAR, COST_BAR, READING = 90.0, 8.0, 16.0
_MARKS = re.compile(r"\{\w+\}")
_DECIDES = re.compile(
    r"\b(?:decid|decision|agree|conclu|would|will|should|must|need|plan|suggest|propos|aim|recommend|request|going to)",
    re.IGNORECASE,
)


class Item(NamedTuple):
    """Something that people marked."""

    question: str
    words: frozenset[str]
    """Its telling stems, as its turns have them; of a name, the name."""
    name: bool


def meetings() -> Iterator[tuple[list[tuple[str, str]], list[dict[str, Any]]]]:
    """Each meeting's turns (who, what), and what was asked of it."""
    path = DATA / "qmsum" / "val.jsonl"
    for line in path.read_text("utf-8").splitlines()[:MEETINGS] if path.exists() else ():
        found = json.loads(line)
        said = [(t["speaker"], " ".join(_MARKS.sub("", t["content"]).split())) for t in found["meeting_transcripts"]]
        yield said, found["specific_query_list"]


def telling(text: str) -> frozenset[str]:
    """The stems of a text that tell something."""
    return frozenset(filter(CLASSES.__getitem__, (stem for part in text.split(". ") for stem in terms(part)[0])))


def items(said: Sequence[tuple[str, str]], asked: Sequence[dict[str, Any]]) -> Iterator[Item]:
    """What is to be found again."""
    whole = " ".join(f"{who} {words}" for who, words in said).casefold()
    for query in asked:
        spans = [(int(first), int(last)) for first, last in query["relevant_text_span"]]
        held = telling(". ".join(words for first, last in spans for _, words in said[first : last + 1]))
        for name in scan(query["answer"]).names:
            if re.search(rf"\b{re.escape(name)}\b", whole):
                yield Item(query["query"], frozenset([name]), True)
        for sentence in re.split(r"(?<=[.!?])\s+", query["answer"]):
            words = telling(sentence) & held
            if _DECIDES.search(sentence) and len(words) >= 3:
                yield Item(query["query"], words, False)


def is_there(item: Item, text: str) -> bool:
    """Whether a text has it."""
    if item.name:
        return all(re.search(rf"\b{re.escape(name)}\b", text.casefold()) for name in item.words)
    return len(item.words & telling(". ".join(text.splitlines()))) >= ENOUGH * len(item.words)


def wanted(question: str, context: dict[str, Any]) -> list[str]:
    """The parts that an agent would look into: those whose words share most with the question."""
    pieces = [piece for section in context["sections"] if section["name"] == "past" for piece in section["pieces"]]
    parts = [piece for piece in pieces if piece["reason"] == "what a part is about"]
    ask = telling(question)
    shared = {piece["id"]: len(ask & telling(piece["text"].replace(",", "."))) for piece in parts}
    best = sorted((id for id in shared if shared[id]), key=shared.__getitem__, reverse=True)
    return best[:PARTS] or [piece["id"] for piece in pieces[:1]]


def found_rows() -> list[dict[str, Any]]:
    """What is there, in percent, of names and of decisions and actions."""
    hits: dict[bool, list[tuple[bool, bool, bool]]] = {False: [], True: []}
    sizes = list[int]()
    for said, asked in meetings():
        with TemporaryDirectory() as folder, Remembering(Path(folder) / "home") as space:
            space.add(*turns(said))
            how: dict[str, Any] = {"space": SPACE, "session": "meeting"}
            context = space.ask("context", window="compression", budget=BUDGET, **how)
            sizes.append(context["tokens"])
            looked: dict[str, tuple[str, str]] = {}
            for item in items(said, asked):
                if item.question not in looked:
                    more = space.ask("context", details=wanted(item.question, context), budget=BUDGET, **how)
                    room = context["tokens"] + more["tokens"]
                    newest = space.ask("context", window="truncation", budget=room, **how)
                    looked[item.question] = f"{context['text']}\n{more['text']}", newest["text"]
                shown, away, last = (is_there(item, text) for text in (context["text"], *looked[item.question]))
                hits[item.name].append((shown, away, last))
    if not sizes:
        return []
    every = hits[False] + hits[True]
    rows: list[dict[str, Any]] = []
    for what, some in {"all": every, "decided, to do": hits[False], "names": hits[True]}.items():
        shown, away, last = (round(100 * sum(column) / len(some), 1) for column in zip(*some, strict=True))
        floors, bar = {"as much of the newest turns": last}, BAR if some is every else None
        rows.append({"measure": f"{what}: one away, % of {len(some)}", "floors": floors, "ours": away, "bar": bar})
        rows.append({"measure": f"{what}: shown, %", "floors": {}, "ours": shown, "bar": None})
    return [*rows, {"measure": "tokens shown, median", "floors": {}, "ours": median(sizes), "bar": None}]


def turns(said: Sequence[tuple[str, str]], session: str = "meeting") -> list[TurnRecorded]:
    """A meeting's turns as the log records them."""
    return [
        TurnRecorded(SPACE, f"{session}-{n}", START + n * 10 * SECOND, session, who, "user", words)
        for n, (who, words) in enumerate(said)
    ]


def cost_rows() -> list[dict[str, Any]]:
    """What the fold costs."""
    events = [event for n, (said, _) in enumerate(meetings()) for event in turns(said, f"m{n}")]
    if not events:
        return []
    began = time.process_time()
    raws = [as_raw(event, event.at) for event in events]
    reading = (time.process_time() - began) / len(raws) * 1e6
    parents = (manifest.PROCESSOR,)
    spent = min(fold_cost(raws, (*parents, compression.PROCESSOR)) - fold_cost(raws, parents) for _ in range(3))
    cost = spent * READING / reading
    floors = {"reading its words": round(reading, 1), "fold as measured": round(spent, 1)}
    measure = f"fold, CPU us per turn where reading is {READING:.0f}"
    return [
        {"measure": measure, "floors": floors, "ours": round(cost, 1), "bar": f"<= {COST_BAR}", "met": cost <= COST_BAR}
    ]


def fold_cost(raws: Sequence[Raw[TurnRecorded]], processors: Sequence[Processor[Any]]) -> float:
    """CPU time per turn of folding processors, in microseconds."""
    driver, made = Driver(processors, {p.name: p.params() for p in processors}), list[Placed]()
    sentences.cache_clear()
    began = time.process_time()
    for offset, raw in enumerate(raws):
        driver.fold(SPACE, 0, offset, raw, made)
    return (time.process_time() - began) / len(raws) * 1e6


def run() -> list[dict[str, Any]]:
    """All rows of this table."""
    return found_rows() + cost_rows()
