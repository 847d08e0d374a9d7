"""Learns what turns ask for openly, naming no matter (streams/core/text/openly.json).

    python -m tests.bench.learn_openly [--write]

Learned from what authors who saw no code wrote (tests/voices/openly): questions of three kinds, and other turns, of
which a third shares words with them; from plain ones that a maintainer wrote (plain.jsonl); and from the ordinary
voices and friends' chats, of which hardly any turn is such a question. What is printed is crossed by author; of those
of MEASURING, who are never learned from, it is what the weights that are written say.

Of two such authors: in English what is to come P .97 and R .47 (by lists of phrases .86 and .26), what was missed .95
and .91 (.60 and .27), how far things are 1.0 and .86 (.60 and .27); in German 1.0 and .43, .83 and .62, 1.0 and .62; in
Spanish .90 and .32, 1.0 and .62, 1.0 and .75; in French 1.0 and .64, .88 and .88, 1.0 and .75. Of turns of voices and
of chats one of 3,332 is taken for each. Of what others ask in the benchmarks (quality_given) some is taken for
it where precision is .90, crossed, so it is .93.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import streams.core.text.openly as module
from streams.core.text.openly import SURE, openly, seen
from tests.bench.learn_contradictions import chats
from tests.bench.learning import Example, best, crossed, fit, write
from tests.bench.voices import VOICES, conversations

PATH = Path(module.__file__).with_name("openly.json")
VERSION = 1
KINDS = {"coming": "coming", "missed": "missed", "where": "progress"}
"""What authors call it, and what it is called as a cue."""
NEAR = {"coming": ("progress",), "progress": ("coming",)}
"""What is neither one nor another kind: "what's still open?" asks for both."""
MEASURING = frozenset(("sixth", "ahead"))
STRENGTH, GROUPS = 0.6, 2
PRECISION = 0.93
"""Of what is taken for it, crossed by author."""
CHANCE, ORDINARY = 80, 1.0
"""Turns of the ordinary voices that are learned from, of a thousand, and how much each counts."""


class Turn(NamedTuple):
    """What was typed."""

    author: str
    language: str
    text: str
    kind: str


def written(measuring: bool) -> Iterator[Turn]:
    """What authors wrote: those who only measure, or the others."""
    for path in sorted((VOICES / "openly").glob("*.jsonl")):
        if (path.stem in MEASURING) is measuring:
            for line in path.read_text("utf-8").splitlines():
                told = json.loads(line)
                yield Turn(path.stem, told["language"], told["text"], KINDS.get(told["kind"], ""))


def ordinary() -> Iterator[Turn]:
    """Some turns of the ordinary voices, and of friends' chats (LoCoMo)."""
    talks = [(f"voices {talk.author}", talk.events()) for talk in conversations(True)]
    for author, events in [*talks, *((f"chat {number}", chat) for number, chat in enumerate(chats()))]:
        for event in events:
            if event.role == "user" and zlib.crc32(event.id.encode() + event.content.encode()) % 1000 < CHANCE:
                yield Turn(author, "en", event.content, "")


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    everyone, others = [*written(False)], [*ordinary()]
    learned = {}
    for act in KINDS.values():
        turns = [turn for turn in everyone if turn.kind not in NEAR.get(act, ())]
        examples = [
            *(Example(seen(turn.text), turn.kind == act, turn.author) for turn in turns),
            *(Example(seen(turn.text), False, turn.author, ORDINARY) for turn in others),
        ]
        scores = crossed(examples, STRENGTH, GROUPS)
        labels = [turn.kind == act for turn in turns]
        least, precision, recall = best(scores[: len(turns)], labels, PRECISION)
        found = sum(score >= least for score in scores[len(turns) :])
        print(f"{act}: from {least} on P {precision:.2f} R {recall:.2f}; ordinary {found} of {len(others)}")
        bias, weights = fit(examples, STRENGTH, GROUPS)
        learned[act] = (bias - least + SURE, weights)
    if "--write" in sys.argv:
        write(PATH, VERSION, learned)
    if PATH.exists():
        measure([*written(True)])


def measure(turns: list[Turn]) -> None:
    """Prints what the weights that are written say of authors who only measure."""
    for language in sorted({turn.language for turn in turns}):
        for act in KINDS.values():
            mine = [turn for turn in turns if turn.language == language and turn.kind not in NEAR.get(act, ())]
            found = [turn for turn in mine if act in openly(turn.text)]
            right, of = sum(turn.kind == act for turn in found), sum(turn.kind == act for turn in mine)
            if of:
                print(f"{language} {act}: P {right / max(1, len(found)):.2f} R {right / of:.2f}, {of} of {len(mine)}")


if __name__ == "__main__":
    main()
