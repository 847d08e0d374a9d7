"""Which effort a user's turn belongs to where few speak: the likeliest of staying, returning and beginning.

A log-linear choice. With n efforts of the session as candidates, df(f) of which have f, w(f) = log((n + 1) / df(f)):

    worth(e)   = words * min(sum w(shared terms), 6) / 3 + names * min(sum w(shared names), 4)
               + asked * share of the turn's words that e's last answer spoke of (replies take up the question's words)
               + stay + log((stays + prior) / (switches + 1)) - cut where a segment began, if e is the current effort
               + resumes if the turn says that it goes back, for all others
               - done if e's user said good-bye or e is concluded
    worth(elsewhere) = like * similarity - elsewhere + resumes, for efforts of other sessions (see matching)
    worth(new) = - new + greets + opens + arrives, as cues tell

The share of switches is learned from the session itself: some people do one thing at a time, some four. Weights are
those of a multinomial logit (McFadden 1974) fitted on interleaved task dialogues; two halves of the tasks gave nearly
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from processors.open_efforts.matching import LOGS
from processors.open_efforts.records import Effort
from streams.processor import Params, param
from streams.text import Text

_SMALL = frozenset(("greeting", "thanks", "welcome", "closing"))
_DAILY = """
weather weekend rain raini snow sun sunni cold warm hot love beauti fine great tire sleep slept coffe lunch dinner
breakfast holiday vacat morn even night today feel well hope wetter wochenend regen sonn heut temp jour tiempo hoy dia
"""
_CHAT = frozenset(_DAILY.split())
"""Stems of daily small talk. A turn that says anything else as well is not small talk."""
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
    arrives: float = param(1.5, "log odds", "who comes into a session under way and asks, asks something else", ge=0)


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
    n = len(candidates)
    by_terms, spoken = shared(terms, [c.effort.terms for c in candidates])
    by_names, _ = shared(names, [c.effort.names for c in candidates])
    asked, _ = shared(terms, [c.effort.asked for c in candidates])
    spoken = spoken or 1.0
    found: dict[str, float] = {}
    for i in range(n):
        c = candidates[i]
        worth = (
            weights.words * min(by_terms[i], _WORDS) / 3
            + weights.names * min(by_names[i], _NAMES)
            + weights.asked * min(1.0, asked[i] / spoken)
        )
        if c.id == current:
            worth += weights.stay + log((stays + weights.prior) / (switches + 1)) - (weights.cut if cut else 0.0)
        elif "resume" in cues:
            worth += weights.resumes
        if c.done:
            worth -= weights.done
        found[c.id] = worth
    return found


def shared(words: list[str], profiles: list[dict[str, int]]) -> tuple[list[float], float]:
    """For each profile the rarity of the words it shares; and the rarity of all words, unheard ones half."""
    n = len(profiles)
    found = [0.0] * n
    total, unheard = 0.0, 0.5 * log((n + 1) / 0.5)
    for word in words:
        having = [i for i in range(n) if word in profiles[i]]
        if having:
            weight = LOGS[n + 1] - LOGS[len(having)]
            total += weight
            for i in having:
                found[i] += weight
        else:
            total += unheard
    return found, total


def beginning(weights: Weights, cues: list[str], middle: bool, comes: bool) -> float:
    """worth(new). A greeting tells something only in the `middle` of a session, and not where the turn goes back; who
    `comes` into it and asks begins something."""
    worth = -weights.new
    if "greeting" in cues and middle and "resume" not in cues:
        worth += weights.greets
    if "opening" in cues:
        worth += weights.opens
        if comes and middle:
            worth += weights.arrives
    return worth


def shares(worth: dict[str, float]) -> dict[str, float]:
    """Softmax: how likely each is."""
    top = max(worth.values())
    each = {key: exp(value - top) for key, value in worth.items()}
    total = sum(each.values())
    return {key: value / total for key, value in each.items()}


def small_talk(text: Text) -> bool:
    """Nothing but greeting, thanks, good-bye, the weather and the like."""
    if text.names or len(text.terms) > 8:
        return False
    if not _SMALL.isdisjoint(text.cues) and len(text.terms) <= 3 and ASKING.isdisjoint(text.cues):
        return True
    return chat(text)


def chat(text: Text) -> bool:
    """Talk of the weather, the weekend and how one is."""
    terms = text.terms
    return bool(terms) and terms[0] in _CHAT and not text.names and _CHAT.issuperset(terms)


def works(text: Text, small: bool) -> bool:
    """New work: something is asked or told, not only thanks or a good-bye."""
    if small:
        return False
    return not ASKING.isdisjoint(text.cues) or (len(text.terms) >= 3 and _SMALL.isdisjoint(text.cues))


def parting(cues: list[str], terms: int) -> bool:
    """Whether a user's words say good-bye: a closing, or thanks with hardly anything else."""
    return "closing" in cues or ("thanks" in cues and terms <= 4 and ASKING.isdisjoint(cues))
