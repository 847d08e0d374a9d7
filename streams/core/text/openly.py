"""What a turn asks for openly, naming no matter: what is to come, what was missed, how far things are.

"what have I got hanging", "back from Lisbon, what went on?", "right, where were we": what serves such a turn shares no
word with it. There are more ways to say it than phrases can be listed, so learned weights of its words decide (see
signals), in English, German, Spanish and French. Weights: openly.json, by tests/bench/learn_openly.py, where it is told
what they are worth.
"""

from __future__ import annotations

from streams.core.text.commonness import telling
from streams.core.text.learned import Learned
from streams.core.text.signals import signals
from streams.core.text.terms import scan

WEIGHTS = Learned.load(__package__, "openly.json")
SURE = 0
"""The score from which on it is asked for: the bias is what it takes."""
LONGEST = 240
"""Characters that are read, the last ones: who asks openly says little else, and what is asked stands at the end."""
MOST, MOST_NAMES = 6, 2
"""Words that tell something (see commonness), and names, that are counted."""


def openly(content: str) -> frozenset[str]:
    """Which of "coming", "missed" and "progress" a turn asks for, as cues (see cues)."""
    scores = WEIGHTS.scores(seen(content))
    return frozenset(act for act, score in zip(WEIGHTS.acts, scores, strict=True) if score >= SURE)


def seen(content: str) -> list[str]:
    """The signals of a turn, each once: its words, how many of them tell something alone, and how many names it has."""
    text = content[-LONGEST:]
    told = scan(text)
    return [*signals(text), f"telling:{min(telling(told.terms), MOST)}", f"names:{min(len(told.names), MOST_NAMES)}"]
