"""What a turn does to a piece of work: ends it in passing ("so that's the flights done"), opens one, or stays with it.

Nobody says it the same way twice, so learned weights of many weak signals decide (see learned): the words of the turn,
how it begins and ends, how long it is. Weights: acts.json, by tests/bench/learn_acts.py, from voices by several authors
and some hundred sentences. By themselves they are weak: where a turn belongs, and whether something is over, is decided
where the conversation is known (open_efforts/dialogue, manifest/ending).
"""

from __future__ import annotations

from streams.core.text.learned import Learned
from streams.core.text.signals import placed

EDGE = 300
"""Characters read of a turn's beginning and end."""
_WEIGHTS = Learned.load("streams.core.text", "acts.json")
MOST = 600
"""A score says no more than this, in hundredths of log odds: words alone are never that sure."""


def signals_of(content: str, role: str) -> tuple[list[str], list[str]]:
    """The signals of a turn's beginning and end, where it says what it is for; and of its first and last sentence."""
    return placed(content if len(content) <= 2 * EDGE else f"{content[:EDGE]} … {content[-EDGE:]}", role)


def acting(seen: list[str]) -> list[int]:
    """Of a user's turn, by all its signals: how much its words speak for ending, opening, staying; in
    hundredths of log odds."""
    return [max(-MOST, min(MOST, score)) for score in _WEIGHTS.scores(seen)[:3]]


def accepting(seen: list[str]) -> int:
    """How much an assistant's answer speaks for an end in what it answers; in hundredths of log odds."""
    return max(-MOST, min(MOST, _WEIGHTS.scores(seen)[3]))
