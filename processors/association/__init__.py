"""Association: memories that are shown together become linked.

    strength <- kept + eta * a_i * a_j * (1 - kept);  kept = strength * 2^(-idle / half_life);  a = 1 / (1 + rank)

The rule is that of coactivation, over turns: the rank of a turn is its place among those shown, the best first, and the
first `together` of them pair up. A pair shown again within `refractory` minutes of the last time that counted adds
nothing: however often a cue is repeated, its links grow by one use an hour, and (1 - strength) bounds them by 1. So
the same question asked a thousand times in a day cannot outweigh what is asked on many days.

Sources: Hebb 1949; practice that is massed teaches little (Cepeda et al. 2006), at synapses too: a second volley
counts only an hour after the first (Kramár et al. 2012).
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.dynamics import grown, kept
from streams.core.events import DAY, MINUTE, MemoryRecalled
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, on, r6
from streams.core.read_model import Keep, read_model


@dataclass(slots=True)
class MemoriesAssociated(Derived):
    """Two turns were shown together. `first` < `second`. All that is known of the pair, and its state."""

    first: str
    second: str
    count: int
    """How often they were shown together, massed repetitions not counted."""
    strength: float
    """After this use. It halves with every half-life of disuse from here on."""
    type: Literal["memories-associated.v1"] = "memories-associated.v1"


class AssociationParams(Params):
    """How links between memories grow and fade."""

    eta: float = param(0.1, "strength per co-activation", "as for efforts, see coactivation", gt=0, le=1)
    half_life: float = param(30.0, "days", "as for efforts, see coactivation", gt=0, le=36_500)
    link_after: int = param(3, "co-activations", "as for efforts: twice may be chance", ge=1)
    together: int = param(6, "turns", "the best of one answer: at most 15 pairs (law 4)", ge=2, le=11)
    refractory: float = param(60.0, "minutes", "less is massed practice, and adds nothing", "Kramár et al. 2012", ge=0)


def _shown(params: AssociationParams, state: State, fact: MemoryRecalled, raw: Raw[MemoryRecalled]) -> list[Derived]:
    """Counts the pairs of what was shown."""
    ranked = [(turn, 1 / (1 + rank)) for rank, turn in enumerate(dict.fromkeys(fact.turns))]
    derived: list[Derived] = []
    for (first, a), (second, b) in combinations(sorted(ranked[: params.together]), 2):
        key = f"pair/{first}\x1f{second}"  # Why: ids hold any character but control characters
        pair = state.get(key, MemoriesAssociated)
        if pair is not None and fact.at - pair.at < params.refractory * MINUTE:
            continue
        count, left = (pair.count, association_strength(params, pair, fact.at)) if pair else (0, 0.0)
        strength = r6(grown(left, params.eta, a, b))
        used = MemoriesAssociated(fact.space, fact.session, fact.at, first, second, count + 1, strength)
        state.put(key, used)
        derived.append(used)
    return derived


def association_strength(params: AssociationParams, record: MemoriesAssociated, now: int) -> float:
    """What is left at `now` of a pair's strength, linked or not."""
    return kept(record.strength, max(now - record.at, 0) / DAY, params.half_life)


def association(params: AssociationParams, record: MemoriesAssociated | None, now: int) -> float:
    """The strength at `now` of the link between two memories; 0 where there is none. `record` is the last by then."""
    if record is None or record.count < params.link_after:
        return 0.0
    return association_strength(params, record, now)


PROCESSOR = Processor(
    name="association",
    version=1,
    params=AssociationParams,
    takes=(on(MemoryRecalled, _shown),),
    emits=(MemoriesAssociated,),
    read_model=read_model(
        __package__, keeps=(Keep(MemoriesAssociated, ("first", "second")),), readings={"link": association}
    ),
    presets={
        "chatbot": {"half_life": 60.0},  # people come back to a theme after a season
        "task-agent": {"half_life": 7.0},  # what belongs together does so within a task
        "researcher": {"half_life": 365.0},  # themes are taken up again after a year
    },
)
