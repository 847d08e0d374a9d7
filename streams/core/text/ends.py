"""What is said in passing about the end of a piece of work: "so that's the flights done", "streich das von der Liste".

Nobody says it the same way twice, so learned weights of many weak signals decide (see learned): the words of the turn,
how it begins and ends, how long it is. Weights: ends.json, by tests/bench/learn_ends.py, from 34 voices by four authors
and 270 sentences. On authors that were left out: of turns that end something .4 are offered, at a precision of .3, and
few are sure: people find a new way to say it each time.
"""

from __future__ import annotations

from streams.core.text.learned import Learned
from streams.core.text.signals import signals

MOST_READ = 600
"""Characters: a longer turn does more than say so."""


OFFERED, SURE = -140, 20
"""Scores from which on an end is offered, and sure."""
_WEIGHTS = Learned.load("streams.core.text", "ends.json")


def ending(content: str) -> float:
    """How sure a user's words end something: from 0.55 on it is offered, from 0.8 on sure; 0 for less."""
    if len(content) > MOST_READ:
        return 0.0
    score = _WEIGHTS.scores(signals(content))[0]
    return 0.0 if score < OFFERED else round(min(0.95, 0.55 + 0.25 * (score - OFFERED) / (SURE - OFFERED)), 3)
