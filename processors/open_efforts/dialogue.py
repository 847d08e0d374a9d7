"""Which effort a user's turn belongs to where few speak: the likeliest of staying, returning and beginning.

A log-linear choice. With n efforts of the session as candidates, of which df(f) speak of f, w(f) = log((n + 1) / df(f)):

    worth(e)   = words * min(sum w(shared terms), 6) / 3 + names * min(sum w(shared names), 4)
               + asked * share of the turn's words that e's last answer spoke of (replies take up the question's words)
               + stay + log((stays + prior) / (switches + 1)) - cut where a segment began, if e is the current effort
               + resumes if the turn says that it goes back, for all others
               - done if e's user said good-bye or e is concluded
    worth(elsewhere) = like * similarity - elsewhere + resumes, for efforts of other sessions (see matching)
    worth(new) = - new + greets + opens - small, as cues tell

The share of switches is learned from the session itself: some people do one thing at a time, some four. Weights are
those of a multinomial logit (McFadden 1974) fitted on interleaved task dialogues; two halves of the tasks gave nearly
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from processors.open_efforts.records import Effort
from streams.processor import Params, param

ASKING = frozenset(("question", "opening", "asks", "wh", "shift"))
_WORDS, _NAMES = 6.0, 4.0


class Weights(Params):
    """How much each kind of evidence counts, in log odds."""

    words: float = param(
        1.2, "log odds per 3 units of rarity", "shared words; halves of the data gave 1.23 and 1.23", ge=0
    )
    names: float = param(1.1, "log odds per unit of rarity", "shared names", ge=0)
    asked: float = param(2.4, "log odds at full overlap", "what the last answer spoke of; 2.0 and 2.4", ge=0)
    stay: float = param(0.0, "log odds", "people go on with what they do; more than habit says was never better", ge=0)
    prior: float = param(4.0, "turns", "staying is expected this often before the first switch is seen", gt=0)
    cut: float = param(1.0, "log odds", "a segment that begins speaks against staying", ge=0)
    resumes: float = param(1.5, "log odds", "words of return ('back to ...') speak for what was left", ge=0)
    done: float = param(0.8, "log odds", "few go on after good-bye", ge=0)
    like: float = param(
        5.0, "log odds at similarity 1", "an effort of another session must share half of the words", ge=0
    )
    elsewhere: float = param(2.5, "log odds", "work is rarely carried over into another session unsaid", ge=0)
    new: float = param(0.8, "log odds", "a turn without any cue rarely begins something; 0.85 and 0.73", ge=0)
    greets: float = param(
        4.5,
        "log odds",
        "who greets in mid-session begins something; 3.9 and 4.0, and a missed beginning costs more",
        ge=0,
    )
    opens: float = param(1.7, "log odds", "so do 'I need', 'can you help'; 1.68 and 1.59", ge=0)
    small: float = param(0.8, "log odds", "thanks and good-bye begin nothing; 0.92 and 0.70", ge=0)


@dataclass(slots=True)
class Candidate:
    """An effort of the session that the turn may belong to."""

    id: str
    effort: Effort
    done: bool


def worths(
    weights: Weights, candidates: list[Candidate], current: str, cut: bool, stays: int, switches: int,
    terms: list[str], names: list[str], cues: list[str],
) -> dict[str, float]:  # fmt: skip
    """worth(e) of each candidate."""
    by_terms = _shared(terms, [c.effort.terms for c in candidates])
    by_names = _shared(names, [c.effort.names for c in candidates])
    asked = _shared(terms, [dict.fromkeys(c.effort.asked, 1) for c in candidates])
    n = len(candidates)
    spoken = sum(log((n + 1) / max(0.5, d)) * (1.0 if d else 0.5) for d in _spread(terms, candidates)) or 1.0
    found: dict[str, float] = {}
    for c, word, name, ask in zip(candidates, by_terms, by_names, asked, strict=True):
        worth = (
            weights.words * min(word, _WORDS) / 3
            + weights.names * min(name, _NAMES)
            + weights.asked * min(1.0, ask / spoken)
        )
        if c.id == current:
            worth += weights.stay + log((stays + weights.prior) / (switches + 1)) - (weights.cut if cut else 0.0)
        elif "resume" in cues:
            worth += weights.resumes
        if c.done:
            worth -= weights.done
        found[c.id] = worth
    return found


def _spread(terms: list[str], candidates: list[Candidate]) -> list[int]:
    return [sum(term in c.effort.terms for c in candidates) for term in terms]


def _shared(words: list[str], profiles: list[dict[str, int]]) -> list[float]:
    """For each profile, the rarity of the words it shares."""
    found = [0.0] * len(profiles)
    n = len(profiles)
    for word in words:
        having = [i for i, profile in enumerate(profiles) if word in profile]
        if having:
            weight = log((n + 1) / len(having))
            for i in having:
                found[i] += weight
    return found


def beginning(weights: Weights, cues: list[str], small: bool, middle: bool) -> float:
    """worth(new). A greeting tells something only in the `middle` of a session, and not where the turn goes back."""
    worth = -weights.new
    if "greeting" in cues and middle and "resume" not in cues:
        worth += weights.greets
    if "opening" in cues:
        worth += weights.opens
    return worth - weights.small if small else worth


def shares(worth: dict[str, float]) -> dict[str, float]:
    """Softmax: how likely each is."""
    top = max(worth.values())
    each = {key: exp(value - top) for key, value in worth.items()}
    total = sum(each.values())
    return {key: value / total for key, value in each.items()}


def parting(cues: list[str], terms: int) -> bool:
    """Whether a user's words say good-bye: a closing, or thanks with hardly anything else."""
    return "closing" in cues or ("thanks" in cues and terms <= 4 and ASKING.isdisjoint(cues))
