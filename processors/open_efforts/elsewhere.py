"""Work that a turn names: by a name that stands for one effort alone, or by a word of a declared title."""

from __future__ import annotations

from processors.open_efforts.dialogue import Weights
from processors.open_efforts.index import Active
from streams.core.params import param
from streams.core.text.commonness import CLASSES, ORDINARY

LONG = 12
"""A name of so many characters is hardly given twice."""


class Carried(Weights):
    """What it takes to go on with work that is named."""

    named: float = param(4.0, "log odds", "a name of one thing, or the title of declared work, is meant", ge=0)
    apart: float = param(0.25, "factor", "what is told of other sessions beside a session's own work", gt=0, le=1)
    name_weight: float = param(3.0, "times", "a shared name tells more than a shared word", ge=0)
    common: int = param(8, "efforts", "a word that more efforts share tells none apart, and costs work", ge=1, le=64)
    likely: float = param(0.025, "probability", "an effort this likely is told as similar", ge=0, le=1)


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
