"""Learns which of the times that a user names are reminders (streams/core/text/reminders.json).

    python -m tests.bench.learn_reminders [--write]

Learns from the voices that may be looked at, and from the sentences beside them (tests/voices/sentences: "+" asks for a
note at the time in brackets, "!" does so in so many words, "-" asks for none). Prints precision and recall of turns by
weights that were learned without their voice, and the same for the voices that only measure.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import streams.core.text.reminders as module
from streams.core.text.cues import STOP
from streams.core.text.reminders import Candidate, candidates
from streams.core.text.signals import folded
from tests.bench.learning import Example, Weights, best, fit, reliability, score, write
from tests.bench.voices import VOICES, agrees, conversations, local

PATH = Path(module.__file__).with_name("reminders.json")
VERSION = 1
NOW = datetime(2026, 5, 6, 10, 5)
"""When the sentences are said: a Wednesday."""
GROUP = 25
"""Sentences that count as a voice."""
TELLING = 0.4
"""A turn is read for requests where it has a word that belongs to one in so many of its uses."""
BRACKETS = re.compile(r"\[([^\]]*)\]")


class Row(NamedTuple):
    """A candidate, and what is true of it."""

    turn: str
    group: str
    language: str
    candidate: Candidate
    right: bool
    """It is a note, with this time."""
    asked: bool
    note: bool
    """Its turn is to leave a note, at this time or another."""


def voices(learning: bool) -> Iterator[Row]:
    """The candidates of a side of the split."""
    for conversation in conversations(learning):
        group = f"{conversation.author}/{conversation.voice}"
        for turn in conversation.turns:
            if turn["role"] != "user":
                continue
            note = turn.get("reminder")
            asked = "reminds" in (turn.get("acts") or ())
            found = candidates(turn["text"], local(turn["at"]), True)
            for one in found:
                right = bool(note) and (
                    not note.get("due") or (one.time is not None and agrees(note["due"], one.time.moment))
                )
                if one.time is None and note and len(found) == 1:
                    right = True
                yield Row(
                    f"{group}/{conversation.name}/{turn['id']}",
                    group,
                    conversation.language,
                    one,
                    right,
                    asked,
                    bool(note),
                )


def sentences() -> Iterator[Row]:
    """The candidates of single sentences."""
    for path in sorted((VOICES / "sentences").glob("reminders.*.txt")):
        language = path.suffixes[0][1:]
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            mark, text = line[0], line[2:]
            wanted: list[tuple[int, int]] = []
            for at, found in enumerate(BRACKETS.finditer(text)):
                wanted.append((found.start() - 2 * at, found.end() - 2 * at - 2))
            plain = BRACKETS.sub(r"\1", text)
            group = f"sentences/{language}{number // GROUP}"
            for one in candidates(plain, NOW, True):
                inside = one.time is None or any(a < one.time.end and one.time.start < b for a, b in wanted)
                right = mark != "-" and inside
                yield Row(f"{path.name}/{number}", group, language, one, right, mark == "!", mark != "-")


def turns(rows: list[Row], scores: list[int]) -> tuple[list[int], list[bool], list[bool]]:
    """Of each turn the score of its best candidate, whether a note is wanted, and whether it has its time."""
    found: dict[str, tuple[int, bool, bool]] = {}
    for row, value in zip(rows, scores, strict=True):
        if row.turn not in found or value > found[row.turn][0]:
            found[row.turn] = (value, row.note, row.right)
    values, notes, right = zip(*found.values(), strict=True)
    return [*values], [*notes], [*right]


def told(name: str, rows: list[Row], scores: list[int]) -> None:
    """Prints what scores are worth."""
    values, notes, right = turns(rows, scores)
    print(f"{name}: {len(values)} turns with a candidate, {sum(notes)} of them to leave a note")
    for precision in (0.9, 0.8, 0.7, 0.6):
        threshold, p, recall = best(values, notes, precision)
        timed = [r for v, n, r in zip(values, notes, right, strict=True) if n and v >= threshold]
        share = sum(timed) / max(1, len(timed))
        print(f"  from {threshold:>5} on: P {p:.2f} R {recall:.2f}, of these with the right time {share:.2f}")


def learn(rows: list[Row]) -> dict[str, Weights]:
    """Weights for what decides where a time is named, and for requests, which decide where none is."""
    timed = [Example(row.candidate.signals, row.right, row.group) for row in rows if row.candidate.time]
    asked = [Example(row.candidate.signals, row.asked and row.right, row.group) for row in rows]
    used: dict[str, list[bool]] = {}
    for row in rows:
        for word in {*row.candidate.signals} & {*folded(row.candidate.sentence)} - STOP:
            used.setdefault(word, []).append(row.asked and row.right)
    telling = {word: 100 for word, asks in used.items() if len(asks) >= 2 and sum(asks) >= TELLING * len(asks)}
    return {"reminder": fit(timed), "asked": fit(asked), "read": (0, telling)}


def decide(weights: dict[str, Weights], row: Row) -> int:
    """The score of a candidate."""
    return score(weights["reminder" if row.candidate.time else "asked"], row.candidate.signals)


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    rows = [*voices(True), *sentences()]
    scores: list[int] = [0] * len(rows)
    for group in sorted({row.group for row in rows}):
        weights = learn([row for row in rows if row.group != group])
        for at, row in enumerate(rows):
            if row.group == group:
                scores[at] = decide(weights, row)
    for name, side in (("voices, each left out of learning", False), ("sentences", True)):
        mine = [(row, at) for row, at in zip(rows, scores, strict=True) if row.group.startswith("sentences/") is side]
        told(name, [row for row, _ in mine], [at for _, at in mine])
    print(
        "  reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(scores, [row.right for row in rows])]
    )
    weights = learn(rows)
    for language in ("", "en", "de", "es", "fr", "ja", "zh"):
        others = [row for row in voices(False) if language in ("", row.language)]
        if others:
            told(f"measuring {language}", others, [decide(weights, row) for row in others])
    if "--write" in sys.argv:
        write(PATH, VERSION, weights)


if __name__ == "__main__":
    main()
