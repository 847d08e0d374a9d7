"""Learns by which words people say, in passing, that a piece of work is over (streams/core/text/ends.json).

    python -m tests.bench.learn_ends [--write]

Learns from users' turns of all voices and from the sentences beside them (tests/voices/sentences/ends.*: "+" ends
something, "-" does not), each language's sentences together a group. Prints precision and recall of turns by weights
that were learned without their author.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streams.core.text.ends as module
from streams.core.text.signals import signals
from tests.bench.learning import Example, best, crossed, fit, reliability, write
from tests.bench.voices import VOICES, conversations

PATH = Path(module.__file__).with_name("ends.json")
VERSION = 1
SENTENCE = 1.0
"""What a sentence counts beside a turn."""
STRENGTH = 0.2


def examples() -> list[Example]:
    """Users' turns of conversations with efforts, and sentences."""
    found = [
        Example(signals(turn["text"]), bool(turn.get("concluded")), one.author)
        for one in conversations(learning=True)
        if one.efforts
        for turn in one.turns
        if turn["role"] == "user"
    ]
    for path in sorted((VOICES / "sentences").glob("ends.*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            found.append(Example(signals(line[2:]), line[0] == "+", f"sentences {number % 3}", SENTENCE))
    return found


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    given = examples()
    scores = crossed(given, STRENGTH)
    rows = [(s, e.label) for s, e in zip(scores, given, strict=True) if not e.group.startswith("sentences")]
    values, labels = [s for s, _ in rows], [label for _, label in rows]
    for precision in (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2):
        threshold, p, recall = best(values, labels, precision)
        told = sum(value >= threshold for value in values) / len(values)
        print(f"  from {threshold:>5} on: P {p:.2f} R {recall:.2f}, {100 * told:.0f} % of users' turns")
    print("  reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(values, labels)])
    if "--write" in sys.argv:
        write(PATH, VERSION, {"ends": fit(given, STRENGTH)})


if __name__ == "__main__":
    main()
