"""The parameters of open_efforts."""

from __future__ import annotations

from processors.open_efforts.crowd import Limits
from processors.open_efforts.dialogue import Weights
from processors.open_efforts.records import ACTIVE
from streams.processor import param


class OpenEffortsParams(Weights, Limits):
    """How segments and turns join into efforts."""

    active: int = param(
        512, "efforts", "matching looks at this many last active efforts: law 4, bounded work", ge=4, le=ACTIVE
    )
    crowd: int = param(3, "users", "from so many on, who answers whom tells more than words", ge=2, le=8)
    common: int = param(8, "efforts", "a word that more efforts share tells none apart, and costs work", ge=1, le=64)
    read: int = param(16, "words", "of one turn that are matched and remembered: law 4", ge=4, le=64)
    name_weight: float = param(3.0, "times", "a shared name tells more than a shared word", ge=0)
    likely: float = param(0.1, "probability", "an effort this likely is told as similar", ge=0, le=1)
    habit: int = param(64, "user turns", "the session's habit of switching fades over so many", ge=2)
