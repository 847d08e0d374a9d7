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
from math import exp, inf, log

from streams.core.dataclasses import dataclass, field
from streams.core.processor import r6
from streams.core.text import Text

OPENERS = frozenset(("greeting", "opening", "shift", "resume", "pivot"))
"""Cues by which a turn says itself that it begins something."""
LEADS = frozenset(("greeting", "opening", "shift", "resume"))
PARTING = frozenset(("thanks", "closing", "welcome"))
MAX_LEAD = 2
"""Turns that may lead in to a topic: an opening, and a word in reply."""
NAMES = 4
"""Names of one turn that are kept."""
LONG = 511
"""Tokens beyond which a turn's length tells no more."""


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
    older: dict[str, int] = field(default_factory=dict)
    """What `seen` was before it was full. Why: so nothing has to be sorted to forget the oldest."""


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


class Judge:
    """Weights laid out so that a turn is judged with few steps; made once of the parameters."""

    __slots__ = ("last", "lasting", "lengths", "most_name", "most_share", "most_words", "now", "reach", "seen")

    def __init__(
        self, seen: Mapping[str, float], now: Mapping[str, float], last: Mapping[str, float], cut: float
    ) -> None:
        self.seen, self.now, self.last = dict(seen), dict(now), dict(last)
        self.lengths = [seen["bias"] + seen["length"] * log(1 + n) / 3 for n in range(LONG + 1)]
        self.lasting = [seen["last length"] * log(1 + n) / 3 for n in range(LONG + 1)]
        self.reach = -inf if cut <= 0 else inf if cut >= 1 else log(cut / (1 - cut)) - 1e-4
        """Log odds that scores of `cut` and less never reach, rounding included."""
        self.most_share = max(0.0, seen["last"], seen["before last"], seen["recent"], seen["new"])
        self.most_words = max(0.0, seen["word of last turn"]) + max(0.0, seen["recent word"])
        self.most_name = max(seen["new name"], seen["recent name"], seen["old name"])
        """Bounds of what words can add: shares of terms, words used of late, the first name."""

    def score(self, trail: Trail, role: str, agent: str, text: Text, other: float) -> float:
        """How strongly a turn departs from its session's trail, 0 to 1; `other` log odds come from beyond its words.

        0 where the cut is out of reach whatever its words are. Why: most turns are done with before their words are
        looked up.
        """
        seen, tokens, cues, last = self.seen, text.tokens, text.cues, trail.cues
        odds = other + self.lengths[tokens if tokens < LONG else LONG]
        odds += self.lasting[trail.tokens if trail.tokens < LONG else LONG]
        if cues:
            now = self.now
            for cue in cues:
                odds += now.get(cue, 0.0)
        if last:
            before = self.last
            for cue in last:
                odds += before.get(cue, 0.0)
            if "asking" in last:
                odds += seen["asked again" if "asking" in cues else "answered"]
        if role == "user":
            if trail.role != "user":
                odds += seen["user's turn"]
            elif trail.agent == agent:
                odds += seen["same speaker"]
        if tokens <= 4:
            odds += seen["short"]
        known = len(text.terms)
        if known <= 1:
            odds += seen["few words" if known else "no words"]
        most = self.most_share * known / (known + 1) + self.most_words
        if odds + most + (self.most_name if text.names else 0.0) < self.reach:
            return 0.0
        odds += self._words(trail, text)
        if odds < self.reach:
            return 0.0
        return r6(1 / (1 + exp(-max(-50.0, min(50.0, odds)))))

    def _words(self, trail: Trail, text: Text) -> float:
        """Log odds by how long ago the turn's terms, and the first of its names, were last used."""
        weights, turns, terms = self.seen, trail.turns, text.terms
        used = [*map(trail.seen.get, terms, map(trail.older.get, terms))]
        one, two, four = used.count(turns - 1), used.count(turns - 2), used.count(turns - 3) + used.count(turns - 4)
        shares = weights["last"] * one + weights["before last"] * two + weights["recent"] * four
        odds = (shares + weights["new"] * used.count(None)) / (len(terms) + 1)
        if one:
            odds += weights["word of last turn"]
        if one or two or four:
            odds += weights["recent word"]
        if text.names:
            name = text.names[0][:32]
            named = trail.seen.get(name, trail.older.get(name))
            odds += weights["new name" if named is None else "recent name" if turns - named <= 4 else "old name"]
        return odds


def keep(trail: Trail, at: int, role: str, agent: str, text: Text, limit: int) -> None:
    """Adds a turn to the trail, which keeps at least the `limit` terms and names last used, at most twice as many."""
    now, terms = trail.turns, text.terms
    trail.turns = now + 1
    if len(terms) > 1:
        trail.lead = 0
    elif 0 < trail.lead < MAX_LEAD:
        trail.lead += 1
        trail.lead_tokens += text.tokens
    else:
        trail.lead = int(not LEADS.isdisjoint(text.cues) and PARTING.isdisjoint(text.cues))
        trail.lead_tokens = text.tokens
    if at > trail.at:
        trail.at = at
    trail.role, trail.agent, trail.cues, trail.tokens = role, agent, text.cues, text.tokens
    seen = trail.seen
    if len(seen) + len(terms) > limit:
        trail.older = seen
        seen = trail.seen = {}
    for term in terms:
        seen[term] = now
    for name in text.names[:NAMES]:
        seen[name[:32]] = now
