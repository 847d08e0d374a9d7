"""Work carried over from another session: rare, and only on strong evidence.

    worth(e) = like * similarity(e) * min(1, shared / (enough * rarity of a word that only one effort has))
               - elsewhere + resumes if the turn says that it goes back
               + named if the turn has a name or a word of a declared title that stands for e alone
               - settled if neither, and the session has work of its own

shared is the rarity of all that the turn and e have in common (see matching). Different people ask for the same kind of
thing in the same words; what carries work over is a name, several rare words, or a few and words of return.
"""

from __future__ import annotations

from processors.open_efforts.dialogue import Weights
from processors.open_efforts.index import Active, Scene
from processors.open_efforts.matching import LOGS, alike, best
from streams.core.params import param
from streams.core.text.commonness import CLASSES, ORDINARY

LONG = 12
"""A name of so many characters is hardly given twice."""


class Carried(Weights):
    """What it takes to go on with the work of another session."""

    like: float = param(6.0, "log odds at similarity 1", "an effort of another session must share most words", ge=0)
    elsewhere: float = param(4.0, "log odds", "work is rarely carried over into another session unsaid", ge=0)
    settled: float = param(4.0, "log odds", "even more rarely where the session has work of its own", ge=0)
    apart: float = param(0.25, "factor", "what is told of other sessions beside a session's own work", ge=0, le=1)
    enough: float = param(3.0, "rare words", "several, or a name and some: less tells less", gt=0)
    named: float = param(4.0, "log odds", "a name of one thing, or the title of declared work, is meant", ge=0)
    name_weight: float = param(3.0, "times", "a shared name tells more than a shared word", ge=0)
    common: int = param(8, "efforts", "a word that more efforts share tells none apart, and costs work", ge=1, le=64)
    likely: float = param(0.07, "probability", "an effort this likely is told as similar", ge=0, le=1)
    plain: float = param(
        2.0, "log odds", "where only the current effort shares words and leads by this, nothing is weighed", ge=0
    )


def carried(
    params: Carried, index: Active, terms: list[str], names: list[str], cues: list[str], bare: bool, scene: Scene,
    cut: bool,
) -> tuple[dict[str, float], dict[str, float]]:  # fmt: skip
    """How much the turn speaks of active efforts of other sessions; and what going on with the likest is worth."""
    similar, total = alike(index, terms, names, params.name_weight, params.common, params.likely, scene.mask)
    enough = params.enough * LOGS[len(index.slots) + 1]
    further = {effort: similarity * min(1.0, similarity * total / enough) for effort, similarity in similar.items()}
    if not further:
        return further, further
    share = params.apart if scene.slots else 1.0
    told = {effort: similarity * share for effort, similarity in further.items()}
    if bare:
        return told, {}
    named = pointed(params, index, terms, names if cut or not scene.slots else [], scene.mask)
    resumes = params.resumes if "resume" in cues else 0.0
    settled = params.settled if scene.slots and not resumes else 0.0
    worth: dict[str, float] = {}
    for effort, similarity in best(further, 3):
        prior = resumes + named.get(effort, -settled) - params.elsewhere
        worth[effort] = params.like * similarity + prior
    return told, worth


def pointed(params: Carried, index: Active, terms: list[str], names: list[str], among: int) -> dict[str, float]:
    """The efforts that a name of the turn, or a word of a declared title, stands for alone, and how much that says.

    Names of people and places stand for much, those with digits or signs in them for one thing; in a session with work
    of its own only long ones do.
    """
    found: dict[str, float] = {}
    for name in names:
        mask = index.names.get(name, 0)
        alone = mask & (mask - 1) == 0 and not mask & among
        if mask and alone and (len(name) >= LONG or not among) and not name.isalpha():
            found[index.ids[mask.bit_length() - 1]] = params.named
    if index.titles:
        for term in terms:
            mask = index.titles.get(term, 0)
            if mask and mask & (mask - 1) == 0:
                effort = index.ids[mask.bit_length() - 1]
                said = params.named if CLASSES[term] >= ORDINARY else params.named / 2
                found[effort] = max(said, found.get(effort, 0.0))
    return found
