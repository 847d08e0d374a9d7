"""Generated talk for the benchmarks: words by Zipf's law from topics that come and go, about 33 words a turn."""

from __future__ import annotations

import random
from collections.abc import Iterator

from streams.core.events import MINUTE, SECOND, TurnRecorded

PACE = 2 * MINUTE
"""Between two turns of a space."""
START = 1_600_000_000 * SECOND
"""Long ago: a log takes nothing that is after now, and a million turns of one space take four years."""
_SYLLABLES = [
    "ba",
    "ke",
    "li",
    "mo",
    "nu",
    "ra",
    "si",
    "to",
    "ve",
    "zu",
    "cha",
    "dro",
    "fli",
    "gre",
    "plo",
    "sta",
    "tri",
    "wen",
    "mar",
    "kon",
]
_COMMON = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "it",
    "for",
    "was",
    "on",
    "are",
    "with",
    "as",
    "be",
    "at",
    "this",
    "have",
    "from",
    "or",
    "had",
    "by",
    "not",
    "but",
    "what",
    "all",
    "were",
    "when",
    "we",
    "there",
    "can",
    "an",
    "your",
    "which",
    "their",
    "said",
    "if",
    "do",
    "will",
    "each",
    "about",
    "how",
    "up",
    "out",
    "them",
    "then",
    "she",
    "many",
    "some",
    "so",
    "these",
    "would",
]
_OPENERS = ("Can you look at", "By the way,", "Back to", "Let us fix", "I think we should check", "What about")
_CLOSERS = (
    "That fixed it, thanks!",
    "Done, merged.",
    "Perfect.",
    "Remind me tomorrow.",
    "That does not work.",
    "Great!",
)


def vocabulary(seed: int, size: int) -> list[str]:
    """`size` made-up words."""
    rng = random.Random(seed)
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(size)]


def turns(count: int, spaces: int, seed: int = 1, prefix: str = "") -> Iterator[TurnRecorded]:
    """`count` turns over `spaces` spaces in turn, each space talking on and returning to topics of its own."""
    rng = random.Random(seed)
    words = vocabulary(seed, 20_000)
    topics = [[words[(t * 37 + i * i) % len(words)] for i in range(40)] for t in range(400)]
    current = [rng.randrange(400) for _ in range(spaces)]
    for n in range(count):
        space, at_space = n % spaces, n // spaces
        if rng.random() < 0.12:
            current[space] = (space * 7 + rng.randrange(12)) % 400
        topic = topics[current[space]]
        content = _say(rng, topic)
        role = "user" if at_space % 2 == 0 else "assistant"
        session = f"session-{at_space // 200}"
        at = START + at_space * PACE + space
        yield TurnRecorded(
            f"{prefix}space-{space}", f"{prefix}{n}", at, session, ("ann", "bot")[at_space % 2], role, content
        )


def _say(rng: random.Random, topic: list[str]) -> str:
    length = max(4, int(rng.gauss(29, 12)))
    said = [
        topic[min(int(rng.expovariate(0.12)), 39)]
        if rng.random() < 0.45
        else _COMMON[min(int(rng.expovariate(0.07)), 49)]
        for _ in range(length)
    ]
    if rng.random() < 0.2:
        said.insert(0, rng.choice(_OPENERS))
    if length > 12:
        said[length // 2] += "."
    text = " ".join(said).capitalize() + rng.choice((".", ".", "?"))
    return f"{text} {rng.choice(_CLOSERS)}" if rng.random() < 0.08 else text
