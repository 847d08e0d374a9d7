"""What a glance at a turn tells: whether it states something plainly, changes something, or states what may change.

Most changes are announced by the new turn alone ("make that 15", "she is off to Leeds after all"), in more ways than
anybody lists; so learned weights of its words decide (see learned). Weights: statements.json, by
tests/bench/learn_contradictions.py. What becomes of it is decided where more is known (processors/contradictions).
"""

from __future__ import annotations

from streams.core.text.learned import Learned
from streams.core.text.signals import glance

MAX_TEXT = 500
"""Characters of a turn that are read for what it states."""
WEIGHTS = Learned.load(__package__, "statements.json")
"""`changes`: the turn takes an older one's place; `states`: its own is taken; `tells`: it states something plainly."""


def stating(content: str, role: str) -> tuple[list[int], list[str]]:
    """How much a turn's words speak for each act of WEIGHTS, and of what kinds they are besides words: numbers, times,
    days of the week."""
    seen = glance(content[:MAX_TEXT], role)
    return WEIGHTS.scores(seen), kinds(seen)


def kinds(signals: list[str]) -> list[str]:
    """Of the signals of a glance those that tell a kind."""
    return [signal for signal in signals if signal[0] in "<#"]
