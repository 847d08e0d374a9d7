"""Which effort a user's turn belongs to where few speak: the likeliest of staying, returning and beginning.

A log-linear choice. With n efforts of the session as candidates, df(f) of which have f, w(f) = log((n + 1) / df(f)):

    worth(e)   = words * min(sum w(shared terms), 6) / 3 + names * min(sum w(shared names), 4)
               + asked * share of the turn's words that e's last answer spoke of (replies take up the question's words)
               + stay + log((stays + prior) / (switches + 1)) - cut where a segment began, if e is the current effort
               + resumes if the turn says that it goes back, for all others
               - done if e's user said good-bye or e is concluded
               - strange * min(1, (words - 2) / 4) if no word is shared; half of it without other signs of a change
    worth(elsewhere): see elsewhere
    worth(new) = - new + greets + opens + shifts + arrives, as cues tell

The share of switches is learned from the session itself: some people do one thing at a time, some four. Weights are
those of a multinomial logit (McFadden 1974) fitted on interleaved task dialogues; two halves of the tasks gave nearly
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from processors.open_efforts.index import Active, Scene
from processors.open_efforts.matching import LOGS, slots_of
from processors.open_efforts.records import Session
from streams.core.params import Params, param
from streams.core.text import Text

_SMALL = frozenset(("greeting", "thanks", "welcome", "closing"))
_DAILY = """
weather weekend rain raini snow sun sunni cold warm hot love beauti fine great tire sleep slept coffe lunch dinner
breakfast holiday vacat morn even night today feel well hope wetter wochenend regen sonn heut temp jour tiempo hoy dia
"""
_CHAT = frozenset(_DAILY.split())
"""Stems of daily small talk. A turn that says anything else as well is not small talk."""
ASKING = frozenset(("question", "opening", "asks", "wh", "shift"))
MOVING = frozenset(("shift", "also", "opening", "greeting"))
_WORDS, _NAMES = 6.0, 4.0
LOG2 = log(2)


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
    strange: float = param(
        2.5,
        "log odds",
        "six words and none of them known: nobody goes on so; half without other signs of a change",
        ge=0,
    )
    new: float = param(0.8, "log odds", "a turn without any cue rarely begins something; 0.85 and 0.73", ge=0)
    greets: float = param(
        4.5,
        "log odds",
        "who greets in mid-session begins something; 3.9 and 4.0, and a missed beginning costs more",
        ge=0,
    )
    opens: float = param(1.7, "log odds", "so do 'I need', 'can you help'; 1.68 and 1.59", ge=0)
    begun: float = param(0.4, "probability", "below this a turn rather goes on than begins something", ge=0, le=1)
    shifts: float = param(1.0, "log odds", "so does 'another thing'; 'also' half as much", ge=0)
    arrives: float = param(1.5, "log odds", "who comes into a session under way and asks, asks something else", ge=0)


@dataclass(slots=True)
class Heard:
    """What the efforts of a session share with a turn, by slot: the rarity of words, names and words asked for."""

    words: dict[int, float]
    names: dict[int, float]
    asked: dict[int, float]
    total: float
    """Rarity of all words of the turn, unheard ones half."""


def heard(index: Active, scene: Scene, terms: list[str], masks: list[int], names: list[str]) -> Heard:
    """Goes through the words once, with what of the scene speaks of each (see `Active.speakers`)."""
    top = LOGS[len(scene.slots) + 1]
    asked = index.asked
    found = Heard({}, {}, {}, 0.0)
    by_words, by_asked = found.words, found.asked
    known = 0.0
    unheard = 0
    for term, mask in zip(terms, masks, strict=True):
        if not mask:
            unheard += 1
            continue
        weight = top - LOGS[mask.bit_count()]
        known += weight
        for slot in slots_of(mask):
            by_words[slot] = by_words.get(slot, 0.0) + weight
            if term in asked[slot]:
                by_asked[slot] = by_asked.get(slot, 0.0) + weight
    found.total = known + unheard * 0.5 * (top + LOG2) or 1.0
    for name in names:
        mask = index.names.get(name, 0) & scene.mask
        weight = top - LOGS[mask.bit_count()]
        for slot in slots_of(mask):
            found.names[slot] = found.names.get(slot, 0.0) + weight
    return found


def worths(
    weights: Weights, index: Active, scene: Scene, session: Session, cut: bool,
    terms: list[str], masks: list[int], names: list[str], cues: list[str],
) -> tuple[dict[str, float], dict[str, float]]:  # fmt: skip
    """worth(e) of each of the session's efforts, the last active one last; and the share of the turn's words it has."""
    slots = scene.slots
    shared = heard(index, scene, terms, masks, names)
    resumes = weights.resumes if "resume" in cues else 0.0
    words, by_names, asked = shared.words, shared.names, shared.asked
    current, done = session.effort, index.done
    strange = weights.strange * min(1.0, max(0.0, len(terms) - 2) / 4)
    if not cut and MOVING.isdisjoint(cues):
        strange /= 2
    found: dict[str, float] = {}
    for effort, slot in slots.items():
        worth = staying(weights, session, cut) if effort == current else resumes
        if slot in words:
            worth += weights.words * min(words[slot], _WORDS) / 3
            if slot in asked:
                worth += weights.asked * asked[slot] / shared.total
        else:
            worth -= strange
        if slot in by_names:
            worth += weights.names * min(by_names[slot], _NAMES)
        if done >> slot & 1:
            worth -= weights.done
        found[effort] = worth
    total = shared.total
    return found, {effort: words[slot] / total for effort, slot in slots.items() if slot in words}


def staying(weights: Weights, session: Session, cut: bool) -> float:
    """What habit says of going on with the current effort."""
    worth = weights.stay + log((session.stays + weights.prior) / (session.switches + 1))
    return worth - weights.cut if cut else worth


def plainly(
    weights: Weights, index: Active, scene: Scene, session: Session, cut: bool, masks: list[int], names: list[str]
) -> float:
    """By how much the current effort leads the others at least, and 0, by what `worths` would say; -9 for unknown.

    Why: most turns simply go on. Here C counts the words that only the current effort has, and those of others are
    taken to stand in one other effort that also asked for them.
    """
    slot = scene.slots.get(session.effort)
    if slot is None or index.done >> slot & 1:
        return -9.0
    here, among = 1 << slot, scene.mask
    for name in names:
        mask = index.names.get(name, 0) & ~here
        if mask and (mask & among or (cut and not name.isalpha())):
            return -9.0
    hits = masks.count(here)
    if not hits:
        return -9.0
    unit = weights.words / 3
    top = unit * LOGS[len(scene.slots) + 1]
    lead = min(hits * top, unit * _WORDS) + staying(weights, session, cut)
    others = len(masks) - hits - masks.count(0)
    return lead - others * (top + weights.asked / len(masks)) if others else lead


def beginning(weights: Weights, cues: list[str], middle: bool, comes: bool) -> float:
    """worth(new). A greeting tells something only in the `middle` of a session, and not where the turn goes back; who
    `comes` into it and asks begins something."""
    worth = -weights.new
    if "greeting" in cues and middle and "resume" not in cues:
        worth += weights.greets
    if "shift" in cues:
        worth += weights.shifts
    elif "also" in cues:
        worth += weights.shifts / 2
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
    for key in each:
        each[key] /= total
    return each


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
