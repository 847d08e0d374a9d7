"""Boundaries: how strongly a turn departs from what its session was about.

    p = 1 / (1 + exp(-(bias + sum of the weights of what is seen)))

What is seen: cue words of this turn and of the one before; whether a question is answered or asked; how long ago the
turn's terms and names were last used; who speaks; pauses. Causal: the turn and what came before, nothing later. The
weights are a logistic regression over persona chats, spliced threads of a technical channel, and spliced task
dialogues with and without their greetings, each kind weighing alike. Every number the regression sees is bounded, and
how long ago a word was used is counted in turns of its own session, so one threshold serves talk whose boundary rates
differ sevenfold: chats keep their words for a turn or two, work keeps them for a dozen.
Cue words as evidence of topic shift: Hirschberg and Litman 1993; recency of terms: lexical chains, Hearst 1997.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log
from typing import NamedTuple

from streams.events import HOUR
from streams.processor import r6
from streams.text import Text

OPENERS = frozenset(("greeting", "opening", "shift", "resume", "pivot"))
"""Cues by which a turn says itself that it begins something."""
LEADS = frozenset(("greeting", "opening", "shift", "resume"))
PARTING = frozenset(("thanks", "closing", "welcome"))
MAX_LEAD = 2
"""Turns that may lead in to a topic: an opening, and a word in reply."""
NAMES = 4
"""Names of one turn that are kept."""


@dataclass(slots=True)
class Trail:
    """What is remembered of a session's turns to judge the next one: bounded."""

    turns: int = 0
    """Turns of conversation so far (tool and system turns are not)."""
    at: int = 0
    role: str = ""
    agent: str = ""
    cues: list[str] = field(default_factory=list)
    tokens: int = 0
    """Of the last turn; as all the above."""
    lead: int = 0
    """Of the last turns, those that only lead in to something: an opening without a topic, and a word in reply."""
    lead_tokens: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    """Terms and names, and the turn that last used each."""


SEEN: dict[str, float] = {
    "bias": -1.88,
    "answered": -0.37,
    "asked again": -0.39,
    "before last": -0.34,
    "few words": -0.31,
    "last": -0.36,
    "last length": 0.38,
    "length": -0.37,
    "new": 0.75,
    "new name": 0.43,
    "no words": -0.32,
    "old name": -0.07,
    "recent": 0.21,
    "recent name": -0.76,
    "recent word": -0.5,
    "same speaker": -0.31,
    "short": -0.61,
    "user's turn": 0.37,
    "word of last turn": -0.86,
}
"""Log odds of a boundary, by what is seen in a turn besides its cues. Shares are of its terms."""

NOW: dict[str, float] = {
    "ack": -0.36,
    "also": -0.33,
    "answer": -0.08,
    "asking": 0.12,
    "closing": -0.74,
    "continue": -0.44,
    "decision": -0.24,
    "finding": -0.22,
    "greeting": 2.02,
    "offer": -0.63,
    "opening": 1.44,
    "pivot": 1.12,
    "question": 0.43,
    "resume": 1.01,
    "shift": 1.14,
    "thanks": -0.95,
    "welcome": -0.83,
    "wh": 0.27,
}
"""Log odds by the cues of the turn itself. Cues that the tuning data hardly shows (a topic left, taken up again or
closed) were given their sign beforehand, as the mean that the regression is drawn to."""

LAST: dict[str, float] = {
    "ack": 0.16,
    "also": 0.06,
    "asking": -0.35,
    "asks": 0.03,
    "closing": 0.69,
    "continue": 0.06,
    "decision": -0.04,
    "finding": -0.14,
    "greeting": -0.59,
    "offer": -0.07,
    "opening": -0.26,
    "pivot": -0.24,
    "question": -0.18,
    "resume": -0.08,
    "shift": 0.04,
    "thanks": 0.65,
    "welcome": 0.52,
    "wh": -0.37,
}
"""Log odds by the cues of the turn before."""


class Weights(NamedTuple):
    """Log odds of a boundary: by what is seen, by cues of the turn, by cues of the turn before."""

    seen: Mapping[str, float]
    now: Mapping[str, float]
    last: Mapping[str, float]


def judge(weights: Weights, trail: Trail, role: str, agent: str, text: Text, other: float) -> float:
    """How strongly a turn departs from its session's trail, 0 to 1; `other` log odds come from beyond its words."""
    seen, now, last = weights
    odds = seen["bias"] + other
    for cue in text.cues:
        odds += now.get(cue, 0.0)
    for cue in trail.cues:
        odds += last.get(cue, 0.0)
    if "asking" in trail.cues:
        odds += seen["asked again" if "asking" in text.cues else "answered"]
    if role == "user":
        if trail.role != "user":
            odds += seen["user's turn"]
        elif trail.agent == agent:
            odds += seen["same speaker"]
    if text.tokens <= 4:
        odds += seen["short"]
    odds += (seen["length"] * log(1 + text.tokens) + seen["last length"] * log(1 + trail.tokens)) / 3
    odds += _words(seen, trail, text)
    return r6(1 / (1 + exp(-max(-50.0, min(50.0, odds)))))


def _words(weights: Mapping[str, float], trail: Trail, text: Text) -> float:
    """Log odds by how long ago the turn's terms, and the first of its names, were last used."""
    seen, turns = trail.seen, trail.turns
    known = len(text.terms)
    ages = [turns - seen[term] for term in text.terms if term in seen]
    one, two, four = ages.count(1), ages.count(2), ages.count(3) + ages.count(4)
    shares = weights["last"] * one + weights["before last"] * two + weights["recent"] * four
    odds = (shares + weights["new"] * (known - len(ages))) / (known + 1)
    if one:
        odds += weights["word of last turn"]
    if one or two or four:
        odds += weights["recent word"]
    if known <= 1:
        odds += weights["few words" if known else "no words"]
    if text.names:
        used = seen.get(text.names[0][:32])
        odds += weights["new name" if used is None else "recent name" if turns - used <= 4 else "old name"]
    return odds


def pause(trail: Trail, at: int, hours: float) -> bool:
    """Whether a session lay still before this turn for so long that what follows is a new occasion."""
    return trail.turns > 0 and at - trail.at >= hours * HOUR


def keep(trail: Trail, at: int, role: str, agent: str, text: Text, limit: int) -> None:
    """Adds a turn to the trail, which keeps at least the `limit` terms and names last used, at most twice as many."""
    now, seen = trail.turns, trail.seen
    trail.turns = now + 1
    opens = len(text.terms) <= 1 and not LEADS.isdisjoint(text.cues) and PARTING.isdisjoint(text.cues)
    follows = 0 < trail.lead < MAX_LEAD and len(text.terms) <= 1
    trail.lead_tokens = text.tokens + (trail.lead_tokens if follows else 0)
    trail.lead = trail.lead + 1 if follows else int(opens)
    trail.at = max(trail.at, at)
    trail.role, trail.agent, trail.cues, trail.tokens = role, agent, text.cues, text.tokens
    seen.update(dict.fromkeys(text.terms, now))
    for name in text.names[:NAMES]:
        seen[name[:32]] = now
    if len(seen) > 2 * limit:
        last = sorted(seen, key=seen.__getitem__)[-limit:]
        trail.seen = {term: seen[term] for term in last}
