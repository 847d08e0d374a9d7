"""Learns the points by which summaries choose sentences (processors/manifest/summary.py) and efforts choose titles
(processors/open_efforts/topics.py).

    python -m tests.bench.learn_summaries

Of the dialogues of quality_summaries every other one is learned on; the others tell what it is worth. A ridge
regression says how much of what a person wrote a sentence, or a phrase, holds by what is seen of it; points are its
weights in whole numbers. It prints them beside those in use, and writes nothing.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

import processors.manifest as manifest
from processors.manifest import ManifestParams
from processors.manifest.cue import Evidence
from processors.manifest.summary import BEGINNINGS, Said, summarize
from processors.manifest.summary import WORTH as SENTENCES
from processors.open_efforts import topics
from processors.open_efforts.topics import WORTH as PHRASES
from streams.core.driver import fold
from streams.core.events import TurnRecorded
from streams.core.text import read
from streams.core.text.cues import STOP
from streams.core.text.telling import excerpt, sentences
from tests.bench.quality_summaries import DIALOGUES, FIRST, rouge, rouge_l, session_of, stems, turns_of

RIDGE = 30.0
"""How strongly weights are drawn to nothing."""
Seen = tuple[Mapping[str, float], float]
"""What is seen of a candidate, and what it is worth."""
Segment = tuple[Said, Evidence]


def learned(rows: Iterable[Seen], known: Mapping[str, int], unit: tuple[str, int]) -> dict[str, int]:
    """Weights of the features in `known`, so scaled that one of them has its points (`unit`)."""
    places = {name: at for at, name in enumerate(known)}
    table, worth = [], []
    for features, value in rows:
        row = np.zeros(len(places) + 1)
        row[-1] = 1.0
        for name, count in features.items():
            if name in places:
                row[places[name]] += count
        table.append(row)
        worth.append(value)
    x, y = np.array(table), np.array(worth)
    weights = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y)
    scale = unit[1] / abs(weights[places[unit[0]]])
    return {name: round(float(weights[at] * scale)) for name, at in places.items()}


def segments_of(sample: dict[str, Any]) -> list[Segment]:
    """What the manifest keeps of each segment of a dialogue when it closes."""
    found: dict[str, Segment] = {}
    original = manifest.summarize

    def kept(said: Said | None, evidence: Evidence, params: ManifestParams) -> str:
        if said is not None:
            found[evidence.segment] = copy.deepcopy((said, evidence))
        return original(said, evidence, params)

    manifest.summarize = kept  # type: ignore[assignment]
    try:
        for _ in fold([manifest.PROCESSOR], session_of(turns_of(sample["dialogue"]))):
            pass
    finally:
        manifest.summarize = original
    return list(found.values())


def sentence_rows(sample: dict[str, Any], segments: Sequence[Segment]) -> Iterable[Seen]:
    """The sentences of a dialogue: what is seen of each, and how densely a person's summary is in it."""
    theirs = stems(sample["summary"])
    pairs, single = set(itertools.pairwise(theirs)), set(theirs) - STOP
    for said, evidence in segments:
        for _, number, _, _, text in said.kept:
            for told in sentences(text):
                ours = stems(told.text)
                shared = 2 * len(set(itertools.pairwise(ours)) & pairs) + len(set(ours) & single)
                seen = [*told.features, *BEGINNINGS[number - 1 : number]]
                if repeated := sum(map(evidence.counts.__contains__, told.stems)):
                    seen.append("repeats one" if repeated == 1 else "repeats more")
                yield dict.fromkeys(seen, 1.0), shared / (len(ours) + 3)


def summary_score(samples: Sequence[tuple[dict[str, Any], list[Segment]]], params: ManifestParams) -> tuple[float, ...]:
    """ROUGE-2 and ROUGE-L of summaries."""
    total = np.zeros(2)
    for sample, segments in samples:
        ours = " ".join(summarize(said, evidence, params) for said, evidence in segments)
        first, theirs = stems(" ".join(ours.split()[:FIRST])), stems(sample["summary"])
        total += (rouge(2, first, theirs), rouge_l(first, theirs))
    return tuple(round(float(100 * one), 2) for one in total / len(samples))


def phrase_rows(sample: dict[str, Any]) -> list[tuple[dict[str, float], float]]:
    """The phrases of a dialogue's first turns: what is seen of each, and how alike it is to the topic."""
    said = [event for event in session_of(turns_of(sample["dialogue"])) if isinstance(event, TurnRecorded)]
    uses = Counter(term for turn in said for term in read(turn).terms)
    topic = stems(sample["topic"])
    rows: list[tuple[dict[str, float], float]] = []
    place = 0
    for turn in said[: topics.FIRST]:
        for sentence in topics.phrases(excerpt(turn.content, topics.EXCERPT)):
            for phrase in sentence if place < topics.MOST_SENTENCES else ():
                telling = [uses.get(stem, 1) for stem in phrase.stems if topics.CLASSES[stem]]
                features = Counter[str](phrase.features)
                if place < len(topics.PLACES):
                    features[topics.PLACES[place]] += 1
                features["often"] = sum(use >= 3 for use in telling)
                features["once"] = sum(use == 1 for use in telling)
                most = max(uses.get(stem, 1) for stem in phrase.stems)
                row = {**features, "uses": sqrt(min(most, topics.MOST_USES))}
                rows.append((row, rouge(1, stems(phrase.text), topic)))
            place += 1
    return rows


def title_score(samples: Sequence[list[tuple[dict[str, float], float]]], points: Mapping[str, int]) -> float:
    """ROUGE-1 of the phrases with the most points."""
    total = 0.0
    for rows in samples:
        scored = [(sum(points[name] * count for name, count in seen.items()), -at) for at, (seen, _) in enumerate(rows)]
        total += rows[-max(scored)[1]][1] if rows else 0.0
    return round(100 * total / len(samples), 2)


def main() -> None:
    """Prints points, and what they and those in use are worth on either part."""
    samples = [json.loads(line) for line in DIALOGUES.read_text("utf-8").splitlines()]
    parts = [[(sample, segments_of(sample)) for sample in samples[at::2]] for at in (0, 1)]
    rows = [row for sample, segments in parts[0] for row in sentence_rows(sample, segments)]
    points = learned(rows, SENTENCES, ("tells three", SENTENCES["tells three"]))
    print("sentences", points)
    for name, given in (("learned", points), ("in use", SENTENCES)):
        params = ManifestParams(sentences=given)
        print(f"  {name}: learned on {summary_score(parts[0], params)}, others {summary_score(parts[1], params)}")
    phrases = [[phrase_rows(sample) for sample in samples[at::2]] for at in (0, 1)]
    points = learned((row for rows in phrases[0] for row in rows), PHRASES, ("first", PHRASES["first"]))
    print("phrases", points)
    for name, given in (("learned", points), ("in use", PHRASES)):
        print(f"  {name}: learned on {title_score(phrases[0], given)}, others {title_score(phrases[1], given)}")


if __name__ == "__main__":
    main()
