"""Learns the points by which summaries choose sentences (processors/manifest/summary.py) and efforts choose titles
(processors/open_efforts/topics.py), those of words too (processors/open_efforts/titles.json).

    python -m tests.bench.learn_summaries [--write]

Of the dialogues of quality_summaries every other one is learned on; the others tell what it is worth. Titles are
learned of the efforts of the voices that may be looked at, too (see voices), and measured on those that may not. A
ridge regression says how much of what a person wrote a sentence, or a phrase, holds by what is seen of it; points are
its weights in whole numbers. It prints them beside those in use; `--write` writes those of words to their file.
"""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge

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
from tests.bench.learning import write
from tests.bench.quality_summaries import DIALOGUES, FIRST, rouge, rouge_l, session_of, stems, turns_of
from tests.bench.voices import conversations

RIDGE, WORDS_RIDGE = 30.0, 100.0
"""How strongly weights are drawn to nothing: of sentences, and of phrases and their words."""
DIALOGUE = 5.0
"""What the topic of a dialogue counts beside the title of an effort: there are fewer of them, and they are shorter."""
WORD = "word "
"""What the names of words begin with among what is seen of a phrase."""
USED, LEAST = 3, 2
"""Pieces of work that must use a word for its points to be learned, and points below which they are left out."""
WORDS = Path(topics.__file__).with_name("titles.json")
Seen = tuple[Mapping[str, float], float]
"""What is seen of a candidate, and what it is worth."""
Segment = tuple[Said, Evidence]


def learned(
    rows: Iterable[Seen],
    known: Iterable[str],
    unit: tuple[str, int],
    counts: Sequence[float] | None = None,
    ridge: float = RIDGE,
) -> dict[str, int]:
    """Weights of the features in `known`, so scaled that one of them has its points (`unit`).

    `counts`: what each row counts; 1 where it is not told.
    """
    places = {name: at for at, name in enumerate(known)}
    worth: list[float] = []
    entries: list[tuple[float, int, int]] = []
    for features, value in rows:
        entries += [(count, len(worth), places[name]) for name, count in features.items() if name in places]
        worth.append(value)
    values, *where = zip(*entries, strict=True)
    table = csr_matrix((values, where), shape=(len(worth), len(places)))
    weights = Ridge(alpha=ridge, solver="sparse_cg").fit(table, worth, sample_weight=counts).coef_
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


def phrase_rows(said: Sequence[TurnRecorded], topic: str) -> list[Seen]:
    """The phrases of the first turns of some work: what is seen of each, and how alike it is to what it is called."""
    uses = Counter(term for turn in said for term in read(turn).terms)
    called = stems(topic)
    rows: list[Seen] = []
    telling = (found for turn in said if (found := topics.phrases(excerpt(turn.content, topics.EXCERPT))))
    first = itertools.chain.from_iterable(itertools.islice(telling, topics.FIRST))
    for place, sentence in enumerate(itertools.islice(first, topics.MOST_SENTENCES)):
        for phrase in sentence:
            often = [uses.get(stem, 1) for stem in phrase.stems if topics.CLASSES[stem]]
            features = Counter[str](phrase.features)
            if place < len(topics.PLACES):
                features[topics.PLACES[place]] += 1
            features["often"] = sum(use >= topics.OFTEN for use in often)
            features["once"] = sum(use == 1 for use in often)
            most = max(uses.get(stem, 1) for stem in phrase.stems)
            features.update(WORD + stem for stem in phrase.stems)
            rows.append(({**features, "uses": sqrt(min(most, topics.MOST_USES))}, rouge(1, stems(phrase.text), called)))
    return rows


def dialogue_rows(samples: Iterable[dict[str, Any]]) -> list[list[Seen]]:
    """Of each dialogue."""
    return [
        phrase_rows(
            [event for event in session_of(turns_of(sample["dialogue"])) if isinstance(event, TurnRecorded)],
            sample["topic"],
        )
        for sample in samples
    ]


def effort_rows(learning: bool) -> list[list[Seen]]:
    """Of each effort that an author of voices named, by the turns that the author counts to it."""
    found: list[list[Seen]] = []
    for conversation in conversations(learning):
        said: dict[str, list[TurnRecorded]] = {}
        for turn, event in zip(conversation.turns, conversation.events(), strict=True):
            if effort := turn.get("effort"):
                said.setdefault(effort, []).append(event)
        found += [
            phrase_rows(said[effort][: topics.YOUNG], title)
            for effort, title in conversation.efforts.items()
            if effort in said
        ]
    return found


def title_score(samples: Sequence[list[Seen]], points: Mapping[str, int]) -> float:
    """ROUGE-1 of the phrases with the most points."""
    total = 0.0
    for rows in samples:
        scored = [
            (sum(points.get(name, 0) * count for name, count in seen.items()), -at) for at, (seen, _) in enumerate(rows)
        ]
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
    dialogues = [dialogue_rows(samples[at::2]) for at in (0, 1)]
    efforts = [effort_rows(learning) for learning in (True, False)]
    learning = [*dialogues[0], *efforts[0]]
    used = Counter(name for seen in learning for name in {name for features, _ in seen for name in features})
    known = [*PHRASES, *(name for name, count in used.items() if name.startswith(WORD) and count >= USED)]
    given = list(itertools.chain.from_iterable(learning))
    few = sum(map(len, dialogues[0]))
    counts = [DIALOGUE] * few + [1.0] * (len(given) - few)
    points = learned(given, known, ("uses", PHRASES["uses"]), counts, WORDS_RIDGE)
    words = {name: value for name, value in points.items() if name.startswith(WORD) and abs(value) >= LEAST}
    points = {name: points[name] for name in PHRASES}
    print("phrases", points, "and of", len(words), "words")
    in_use = PHRASES | {name: topics.of_words([name.removeprefix(WORD)]) for name in known if name.startswith(WORD)}
    for name, weighed in (("learned", points | words), ("in use", in_use)):
        for what, (seen, others) in (("dialogues", dialogues), ("efforts", efforts)):
            print(f"  {name}, {what}: learned on {title_score(seen, weighed)}, others {title_score(others, weighed)}")
    if "--write" in sys.argv:
        write(WORDS, 1, {"title": (0, {name.removeprefix(WORD): value for name, value in words.items()})})


if __name__ == "__main__":
    main()
