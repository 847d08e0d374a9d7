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

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Any

from projections.recall.readings import Readings
from streams.core.params import Params, param
from streams.core.text.kinds import MemoryType


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


@dataclass(slots=True)
class Remembered:
    """A turn as a memory."""

    turn: str
    created_at: int
    """UTC microseconds."""
    type: MemoryType
    role: str


Records = Mapping[str, Any]
"""The last record of a memory by processor."""


def measures(readings: Readings, memory: Remembered, records: Records, now: int) -> dict[str, float]:
    """What the dynamics say of a memory at `now` (UTC microseconds), by the name of the measure."""
    created = memory.created_at
    activation, retention, traces, confidence = readings.measuring
    found: dict[str, float] = {}
    if activation:
        owner, read = activation
        found["activation"] = read(records.get(owner), created, now)
    if retention:
        owner, read = retention
        found["retention"] = read(records.get(owner), memory.type, created, now)
    if traces:
        owner, read = traces
        found["fast"], found["slow"] = read(records.get(owner), created, now)
    if confidence:
        owner, read = confidence
        found["confidence"] = read(records.get(owner), memory.role, created, now)
    return found


def is_forgotten(readings: Readings, memory: Remembered, records: Records, now: int) -> bool:
    """Whether a memory is offered only where it is asked for by name."""
    if "forgotten" not in readings:
        return False
    record = records.get(readings.owner("forgotten"))
    return bool(readings["forgotten"](record, memory.type, memory.created_at, now))


def liveliness(params: LivelinessParams, found: Mapping[str, float], spread: float) -> float:
    """Between -1 and 1. `found` as `measures` gives it; `spread` is what was spread to the memory, in log odds."""
    value = total = 0.0
    if "activation" in found:
        odds = 2 / (1 + exp(-(found["activation"] - params.threshold) / params.noise)) - 1
        value, total = value + params.activation * odds, total + params.activation
    if "retention" in found:
        kept = max(found["retention"], min(found.get("slow", 0.0), 1.0))
        value, total = value + params.retention * (2 * kept - 1), total + params.retention
    if "confidence" in found:
        value, total = value + params.confidence * (2 * found["confidence"] - 1), total + params.confidence
    if "known" in found:
        value, total = value + params.known * (2 * found["known"] - 1), total + params.known
    value += params.spreading * min(max(spread / params.most, 0.0), 1.0)
    total += params.spreading
    return value / total if total else 0.0
