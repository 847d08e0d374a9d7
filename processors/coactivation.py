"""Co-activation: efforts that are used together become linked.

Source: Hebb 1949; strength grows by eta * a_i * a_j, bounded by 1, and halves with disuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from processors.working_context import ContextChanged, ContextScored
from streams.processor import Derived, Params, Processor, State, param, r6


@dataclass(slots=True)
class PairCoactivated:
    """Two efforts were used in one user turn. `first` < `second`."""

    space: str
    session: str
    at: int
    turn: str
    first: str
    second: str
    count: int
    strength: float
    type: Literal["pair-coactivated.v1"] = "pair-coactivated.v1"


@dataclass(slots=True)
class LinkFormed:
    """A pair was co-activated often enough to be linked."""

    space: str
    session: str
    at: int
    first: str
    second: str
    count: int
    strength: float
    type: Literal["link-formed.v1"] = "link-formed.v1"


class CoactivationParams(Params):
    """How links grow and fade."""

    eta: float = param(
        0.1, "strength per co-activation", "reaches .5 after about seven full co-activations", gt=0, le=1
    )
    link_after: int = param(3, "co-activations", "twice may be chance", source="Hebbian co-activation", ge=1)


@dataclass(slots=True)
class Pair:
    """State, `pair/<first>/<second>`."""

    count: int
    strength: float
    at: int


def step(params: CoactivationParams, state: State, event: ContextChanged | ContextScored) -> list[Derived]:
    """Counts the pairs of one user turn."""
    return list(_step(params, state, event))


def _step(params: CoactivationParams, state: State, event: ContextChanged | ContextScored) -> Iterator[Derived]:
    if not isinstance(event, ContextScored) or event.role != "user":
        return
    for (first, a), (second, b) in combinations(sorted(zip(event.touched, event.activations, strict=True)), 2):
        pair = state.get(f"pair/{first}/{second}", Pair) or Pair(0, 0.0, event.at)
        pair.count += 1
        pair.strength = r6(pair.strength + params.eta * a * b * (1 - pair.strength))
        state.put(f"pair/{first}/{second}", pair)
        yield PairCoactivated(
            event.space, event.session, event.at, event.turn, first, second, pair.count, pair.strength
        )
        if pair.count == params.link_after:
            yield LinkFormed(event.space, event.session, event.at, first, second, pair.count, pair.strength)


PROCESSOR = Processor(
    name="coactivation",
    version=1,
    reads="working_context",
    params=CoactivationParams,
    emits=(PairCoactivated, LinkFormed),
    step=step,
)
