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

from streams.events import HOUR
from streams.processor import r6
from streams.text import Text

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
    seen: dict[str, int] = field(default_factory=dict)
    """Terms and names, and the turn that last used each."""


def observe(trail: Trail, role: str, agent: str, text: Text) -> tuple[list[str], dict[str, float]]:
    """What is seen in a turn: names of things that are there or not, and numbers about 0 to 1."""
    cues, last = text.cues, trail.cues
    flags = ["now:" + cue for cue in cues]
    flags += ["last:" + cue for cue in last]
    if "asking" in last:
        flags.append("asked again" if "asking" in cues else "answered")
    if trail.role == "user" and trail.agent == agent and role == "user":
        flags.append("same speaker")
    elif role == "user" and trail.role != "user":
        flags.append("user's turn")
    seen, now, terms = trail.seen, trail.turns, text.terms
    known = len(terms)
    ages = [now - seen[term] for term in terms if term in seen]
    one, two, four = ages.count(1), ages.count(2), ages.count(3) + ages.count(4)
    if one:
        flags.append("word of last turn")
    if one or two or four:
        flags.append("recent word")
    if known <= 1:
        flags.append("few words" if known else "no words")
    if text.names:
        last_used = seen.get(text.names[0][:32])
        flags.append("new name" if last_used is None else "recent name" if now - last_used <= 4 else "old name")
    if text.tokens <= 4:
        flags.append("short")
    share = 1 / (known + 1)
    return flags, {
        "last": one * share,
        "before last": two * share,
        "recent": four * share,
        "new": (known - len(ages)) * share,
        "length": log(1 + text.tokens) / 3,
        "last length": log(1 + trail.tokens) / 3,
    }


WEIGHTS: dict[str, float] = {
    "bias": -1.88,
    "answered": -0.37,
    "asked again": -0.39,
    "before last": -0.34,
    "few words": -0.31,
    "last": -0.36,
    "last length": 0.38,
    "last:ack": 0.16,
    "last:also": 0.06,
    "last:asking": -0.35,
    "last:asks": 0.03,
    "last:closing": 0.69,
    "last:continue": 0.06,
    "last:decision": -0.04,
    "last:finding": -0.14,
    "last:greeting": -0.59,
    "last:offer": -0.07,
    "last:opening": -0.26,
    "last:pivot": -0.24,
    "last:question": -0.18,
    "last:resume": -0.08,
    "last:shift": 0.04,
    "last:thanks": 0.65,
    "last:welcome": 0.52,
    "last:wh": -0.37,
    "length": -0.37,
    "new": 0.75,
    "new name": 0.43,
    "no words": -0.32,
    "now:ack": -0.36,
    "now:also": -0.33,
    "now:answer": -0.08,
    "now:asking": 0.12,
    "now:closing": -0.74,
    "now:continue": -0.44,
    "now:decision": -0.24,
    "now:finding": -0.22,
    "now:greeting": 2.02,
    "now:offer": -0.63,
    "now:opening": 1.44,
    "now:pivot": 1.12,
    "now:question": 0.43,
    "now:resume": 1.01,
    "now:shift": 1.14,
    "now:thanks": -0.95,
    "now:welcome": -0.83,
    "now:wh": 0.27,
    "old name": -0.07,
    "recent": 0.21,
    "recent name": -0.76,
    "recent word": -0.5,
    "same speaker": -0.31,
    "short": -0.61,
    "user's turn": 0.37,
    "word of last turn": -0.86,
}
"""Log odds of a boundary, by what is seen. Cues that the tuning data hardly shows (a topic named as left, taken up
again or closed) were given their sign beforehand, as the mean the regression is drawn to."""


def judge(weights: Mapping[str, float], trail: Trail, role: str, agent: str, text: Text, other: float) -> float:
    """How strongly a turn departs from its session's trail, 0 to 1; `other` log odds come from beyond its words."""
    flags, numbers = observe(trail, role, agent, text)
    odds = weights["bias"] + other
    for flag in flags:
        if flag in weights:
            odds += weights[flag]
    for name, number in numbers.items():
        if number and name in weights:
            odds += weights[name] * number
    return r6(1 / (1 + exp(-odds)))


def pause(trail: Trail, at: int, hours: float) -> bool:
    """Whether a session lay still before this turn for so long that what follows is a new occasion."""
    return trail.turns > 0 and at - trail.at >= hours * HOUR


def keep(trail: Trail, at: int, role: str, agent: str, text: Text, limit: int) -> None:
    """Adds a turn to the trail, which keeps at least the `limit` terms and names last used, at most twice as many."""
    now, seen = trail.turns, trail.seen
    trail.turns = now + 1
    trail.at = max(trail.at, at)
    trail.role, trail.agent, trail.cues, trail.tokens = role, agent, text.cues, text.tokens
    seen.update(dict.fromkeys(text.terms, now))
    for name in text.names[:NAMES]:
        seen[name[:32]] = now
    if len(seen) > 2 * limit:
        last = sorted(seen, key=seen.__getitem__)[-limit:]
        trail.seen = {term: seen[term] for term in last}
