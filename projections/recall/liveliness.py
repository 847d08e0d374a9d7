"""How alive a memory is at a moment: one number from what the dynamics say of it, to order what is equally relevant.

    liveliness = sum_m w_m x_m / sum_m w_m,  each x_m between -1 and 1

    x_activation = 2 / (1 + e^(-(B - tau) / s)) - 1    ACT-R's probability of retrieval, as odds for and against
    x_retention  = 2 R - 1                             x_confidence = 2 C - 1
    x_known      = 2 K - 1, K: how far what it was the first to say is relied on
    x_spreading  = what the session attends to spreads to it, of the most that can be spread

What no processor offers a reading of has no part in it. Source of x_activation: Anderson & Lebiere 1998, equation of
the probability of recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

from projections.recall.readings import Readings
from streams.core.params import Params, param
from streams.core.section import Spoken

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LivelinessParams(Params):
    """How much each mechanism has to say."""

    activation: float = param(0.4, "weight", "use and age tell most of what will be needed", "Anderson & Schooler 1991")
    retention: float = param(0.2, "weight", "what lasts by its kind, and what was practised", ge=0)
    confidence: float = param(0.2, "weight", "what was contradicted or misled comes later", ge=0)
    known: float = param(0.1, "weight", "what several say, and what speaks for it, comes first", ge=0)
    spreading: float = param(0.2, "weight", "what belongs to what is at hand comes first", "ACT-R", ge=0)
    threshold: float = param(-5.5, "log odds", "tau: the activation of a turn of 16 hours ago", "tuned")
    noise: float = param(1.0, "log odds", "s: how gently odds go over from for to against", "ACT-R", gt=0)
    most: float = param(2.0, "log odds", "of spreading: attention times association", "ACT-R", gt=0)


Records = Mapping[str, Mapping[str, Any]]
"""The last records of memories, by processor and turn."""
_NONE: Mapping[str, Any] = {}
MEASURES = ("activation", "retention", "traces", "confidence")
"""The readings that measure memories. Each is given some turns, their last records by turn, and the moment."""


def measures(readings: Readings, memories: Sequence[Spoken], records: Records, now: int) -> dict[str, list[Any]]:
    """What the dynamics say of memories at `now` (UTC microseconds): by the name of the measure, of one after the
    other. Why measure by measure: a question asks it of a hundred."""
    found: dict[str, list[Any]] = {}
    for name in MEASURES:
        if reading := readings.get(name):
            owner, read = reading
            measured = read(memories, records.get(owner, _NONE), now)
            if name == "traces":
                found["fast"], found["slow"] = [fast for fast, _ in measured], [slow for _, slow in measured]
            else:
                found[name] = measured
    return found


def is_forgotten(readings: Readings, memory: Spoken, records: Records, now: int) -> bool:
    """Whether a memory is offered only where it is asked for by name."""
    if "forgotten" not in readings:
        return False
    record = records.get(readings.owner("forgotten"), _NONE).get(memory.id)
    return bool(readings["forgotten"](record, memory.type, memory.at, now))


def liveliness(params: LivelinessParams, found: Mapping[str, Sequence[Any]], spread: Sequence[float]) -> list[float]:
    """Of each memory between -1 and 1. `found` as `measures` gives it, None for a memory of which a measure says
    nothing; `spread` is what was spread to each, in log odds."""
    import numpy as np  # here: who only reads the parameters does without

    noise, threshold, most = params.noise, params.threshold, params.most
    told: dict[str, NDArray[np.float64]] = {}
    if "activation" in found:
        # Why not by numpy: its last bit differs from one processor to another.
        odds = np.array([exp(-(one - threshold) / noise) for one in found["activation"]])
        told["activation"] = 2 / (1 + odds) - 1
    if "retention" in found:
        slow = np.minimum(found["slow"], 1.0) if "slow" in found else np.zeros(len(spread))
        told["retention"] = 2 * np.maximum(found["retention"], slow) - 1
    for name in ("confidence", "known"):
        if name in found:
            told[name] = 2 * np.array(found[name], np.float64) - 1
    told["spreading"] = np.clip(np.array(spread) / most, 0.0, 1.0)
    value, total = np.zeros(len(spread)), np.zeros(len(spread))
    for name, said in told.items():
        weight = getattr(params, name)
        if name == "known":
            says = ~np.isnan(said)
            value[says] += weight * said[says]
            total[says] += weight
        else:
            value += weight * said
            total += weight
    alive: list[float] = np.divide(value, total, out=np.zeros(len(spread)), where=total > 0).tolist()
    return alive
