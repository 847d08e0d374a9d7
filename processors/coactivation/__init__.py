"""Co-activation: efforts that are used together become linked.

    strength <- strength * 2^(-idle / half_life);  strength <- strength + eta * a_i * a_j * (1 - strength)

A pair is counted once per user turn that mentions or pulls in both; a is the relevance of each at that turn. Two
efforts that merely sit in context together are not counted: nothing was done with both. From the third time on they are
linked.

Sources: Hebb 1949 (what fires together wires together); the factor (1 - strength) bounds the rule by 1 (Oja's concern,
in its simplest form); decay is in closed form between uses, so that nothing is written while a pair is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

from processors.working_context import ContextScored
from streams.core.dataclasses import dataclass
from streams.core.dynamics import grown, kept
from streams.core.events import DAY
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, on, r6
from streams.core.read_model import read_model


@dataclass(slots=True)
class PairCoactivated(Derived):
    """Two efforts were used in one user turn. `first` < `second`."""

    turn: str
    first: str
    second: str
    count: int
    strength: float
    """After this use. It halves with every half-life of disuse from here on."""
    type: Literal["pair-coactivated.v1"] = "pair-coactivated.v1"


@dataclass(slots=True)
class LinkFormed(Derived):
    """A pair was co-activated often enough to be linked."""

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
    half_life: float = param(
        30.0, "days", "a project's month: what was linked last quarter counts an eighth", gt=0, le=36_500
    )
    link_after: int = param(3, "co-activations", "twice may be chance", source="Hebbian co-activation", ge=1)
    together: int = param(
        6,
        "efforts",
        "the most relevant of one turn: at most 15 pairs, so work per turn is bounded (law 4)",
        ge=2,
        le=11,
    )


@dataclass(slots=True)
class Pair:
    """State, `pair/<first>/<second>`: how often and how strongly, when last used."""

    count: int
    strength: float
    at: int


_NONE: tuple[Derived, ...] = ()


def _scored(params: CoactivationParams, state: State, event: ContextScored, raw: Raw[Any]) -> Sequence[Derived]:
    """Counts the pairs of one user turn."""
    if len(event.touched) < 2:
        return _NONE
    used = sorted(zip(event.activations, event.touched, strict=True), key=lambda one: (-one[0], one[1]))
    derived: list[Derived] = []
    for (first, a), (second, b) in combinations(sorted((e, a) for a, e in used[: params.together]), 2):
        key = f"pair/{first}/{second}"
        pair = state.get(key, Pair) or Pair(0, 0.0, event.at)
        left = kept(pair.strength, max(event.at - pair.at, 0) / DAY, params.half_life)
        pair.count += 1
        pair.strength = r6(grown(left, params.eta, a, b))
        pair.at = max(event.at, pair.at)
        state.put(key, pair)
        derived.append(
            PairCoactivated(event.space, event.session, event.at, event.turn, first, second, pair.count, pair.strength)
        )
        if pair.count == params.link_after:
            derived.append(LinkFormed(event.space, event.session, event.at, first, second, pair.count, pair.strength))
    return derived


PROCESSOR = Processor(
    name="coactivation",
    version=1,
    reads=("working_context",),
    params=CoactivationParams,
    takes=(on(ContextScored, _scored),),
    emits=(PairCoactivated, LinkFormed),
    read_model=read_model(__package__),
    presets={
        "task-agent": {"half_life": 10.0},  # efforts last days, not months
        "researcher": {"half_life": 180.0},  # projects last for seasons
    },
)
