"""Ends said in passing: "so that's the flights done", "off my list". Decided late, by evidence that adds up.

    score = sum of weight * what is seen     (hundredths of log odds)     likelihood = 1 / (1 + e^(-score / 100))

First the user's words and what stood before them; then the assistant's answer: whether it accepts the end, or asks and
promises; then the user's next turn: whether it opens something else, or stays. At each look what is likely enough is
offered, and what is sure concludes. Weights: tests/bench/learn_acts.py, each author's by the words of the others.
"""

from __future__ import annotations

from streams.core.dataclasses import dataclass, field
from streams.core.events import TurnRecorded
from streams.core.text import Text
from streams.core.text.learned import weigh

WEIGHTS: dict[str, int] = {
    "bias": 122, "ends": 133, "opens": -4, "stays": -7, "asks": -112, "after a tool": 150, "after a question": -90,
    "courtesy": 18, "claimed": 18, "answered": 195, "accepted": 84, "asks back": -73, "goes on": -32,
    "goes on, opens": -9, "goes on, stays": -14, "goes on, cut": 24,
}  # fmt: skip
"""Voices by 82 authors."""
ANSWERED = 12
"""How much is seen once a turn is answered."""
LOOK = -350
"""Scores from which on it is looked again."""
CHOOSING = frozenset(("undecided", "choice"))
"""Hints that tell nothing of an end by themselves: what was asked for, tells."""
_COURTESY = frozenset(("thanks", "closing", "greeting"))
_WORTH = [*WEIGHTS.values()]


@dataclass(slots=True)
class Ending:
    """What may have been the end of a piece of work, kept with the ground of its session."""

    turn: str
    segment: str
    said: str
    """What it says."""
    conclusion: str
    """What would be concluded."""
    quotes: str
    """The turn whose words that is, where it is another."""
    seen: list[int] = field(default_factory=list)
    """In hundredths, in the order of WEIGHTS."""
    offered: bool = False


def first(turn: TurnRecorded, text: Text, tooled: bool, pending: bool) -> list[int]:
    """What is seen in a user's turn, and before it."""
    ends, opens, stays = text.acts
    cues = text.cues
    return [
        100, ends, opens, stays, 100 * ("?" in turn.content[-30:]), 100 * tooled, 100 * pending,
        100 * (not _COURTESY.isdisjoint(cues)), 100 * (not CHOOSING.issuperset(text.patterns)),
    ]  # fmt: skip


def answered(turn: TurnRecorded, text: Text) -> list[int]:
    """What is seen in the answer to it."""
    return [100, text.accepts, 100 * turn.content.rstrip().endswith("?")]


def gone_on(text: Text, cut: bool) -> list[int]:
    """What is seen in its user's next turn; `cut`: it opens a segment."""
    _, opens, stays = text.acts
    return [100, opens, stays, 100 * cut]


def score(seen: list[int]) -> int:
    """How much speaks for an end."""
    return weigh(_WORTH, seen)
