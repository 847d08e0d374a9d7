"""What a glance at a turn tells: whether it states something plainly, changes something, or states what may change.

Most changes are announced by the new turn alone ("make that 15", "she is off to Leeds after all"), in more ways than
anybody lists; so learned weights of its words decide (see learned), and those of the agent's answer, who takes note of
a change in other words than of news ("Moved to the 9th, then."). Weights: statements.json, by
tests/bench/learn_contradictions.py. What becomes of it is decided where more is known (processors/contradictions).
"""

from __future__ import annotations

from streams.core.text.acts import signals_of
from streams.core.text.learned import Learned
from streams.core.text.signals import kinds

MAX_TEXT = 500
"""Characters of a turn that are read for what it states."""
WEIGHTS = Learned.load(__package__, "statements.json")
"""`changes`: the turn takes an older one's place; `states`: its own is taken; `tells`: it states something plainly;
`answers`: what the turn answers took an older one's place."""


def stating(seen: list[str], content: str) -> tuple[list[int], list[str]]:
    """How much the signals of a turn speak for each act of WEIGHTS, and of what kinds its words are besides
    words: numbers, times, days of the week."""
    found = kinds(content[:MAX_TEXT])
    return WEIGHTS.scores(telling(seen, found)), found


def seen_of(content: str, role: str) -> list[str]:
    """What the acts of a turn are decided by."""
    return telling(signals_of(content, role)[0], kinds(content[:MAX_TEXT]))


def telling(seen: list[str], found: list[str]) -> list[str]:
    """What the acts are decided by: the signals, and the kinds that stand for no word."""
    return [*seen, *[kind for kind in found if kind != "#"]]
