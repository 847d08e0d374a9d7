"""Learns the points by which summaries choose sentences (processors/manifest/summary.py).

    python -m tests.bench.learn_summaries

Of the dialogues of quality_summaries every other one is learned on; the others tell what it is worth. A ridge
regression says how much of what a person wrote a sentence holds by what is seen of it; points are its weights in whole
numbers. It prints them beside those in use. Titles are learned by learn_titles.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge

import processors.manifest as manifest
from processors.manifest import ManifestParams
from processors.manifest.cue import Evidence
from processors.manifest.summary import BEGINNINGS, Said, summarize
from processors.manifest.summary import WORTH as SENTENCES
from streams.core.driver import fold
from streams.core.text.cues import STOP
from streams.core.text.telling import sentences
from tests.bench.quality_summaries import DIALOGUES, FIRST, rouge, rouge_l, session_of, stems, turns_of

RIDGE = 30.0
"""How strongly weights are drawn to nothing."""
Seen = tuple[Mapping[str, float], float]
"""What is seen of a candidate, and what it is worth."""
Segment = tuple[Said, Evidence]


def learned(rows: Iterable[Seen], known: Iterable[str], unit: tuple[str, int]) -> dict[str, int]:
    """Weights of the features in `known`, so scaled that one of them has its points (`unit`)."""
    places = {name: at for at, name in enumerate(known)}
    worth: list[float] = []
    entries: list[tuple[float, int, int]] = []
    for features, value in rows:
        entries += [(count, len(worth), places[name]) for name, count in features.items() if name in places]
        worth.append(value)
    values, *where = zip(*entries, strict=True)
    table = csr_matrix((values, where), shape=(len(worth), len(places)))
    weights = Ridge(alpha=RIDGE, solver="sparse_cg").fit(table, worth).coef_
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


if __name__ == "__main__":
    main()
