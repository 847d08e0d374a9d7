"""Activation: how present each memory is, by how often and how lately it was used.

    B = ln( sum_j t_j^-d ) + importance        t_j: seconds since access j, at least `floor`;  d = .5

The accesses of a memory are its creation, which whoever reads knows, and each time it was shown. The last `exact` are
kept one by one; the n older ones count as spread evenly over the time from the first to the oldest one kept (ages
T > t), which has a closed form:

    n * (T^(1-d) - t^(1-d)) / ((1-d) * (T - t))

Being shown again within `refractory` minutes is the same access, dated at the later time: what is shown over and over
in one sitting does not become present for ever by that. There is no noise. A turn that was never shown or marked has
no record: its activation is a closed form of its age.

Spreading, computed when asked and never in a fold: what is linked to what is attended to becomes more present,

    A_i = sum_j W_j * S_ji;  S_ji = strength_ji * max(0, S - ln(fan_j));  the W_j sum to `attention`

where fan_j is one more than the number of links of j: what is linked to everything tells little about anything.

Sources: Anderson & Schooler 1991 and ACT-R (Anderson & Lebiere 1998) for B and for spreading; Petrov 2006 for the
closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Literal

from streams.core.dynamics import Mark, mark, marked_turns
from streams.core.events import MINUTE, SECOND, ImportanceFlagged, MemoryPinned, MemoryRecalled, MemoryRewarded
from streams.core.params import Params, param
from streams.core.processor import Derived, Moment, Processor, Raw, State, on
from streams.core.read_model import Keep, ReadModel
from streams.core.section import Spoken

ACT_R = "ACT-R, Anderson & Lebiere 1998"


@dataclass(slots=True)
class ActivationChanged(Derived):
    """A memory was shown or marked. All that is known of it; kept as the state of the memory, at `turn/<id>`."""

    turn: str
    cause: Literal["recalled", "flagged", "pinned", "rewarded"] = "recalled"
    count: int = 0
    """How often it was shown; a run of times within `refractory` minutes is one."""
    first: Moment = 0
    """When it was first shown, where it ever was."""
    recent: list[int] = field(default_factory=list)
    """When it was last shown, the latest last: UTC microseconds."""
    important: bool = False
    pinned: bool = False
    reward: float = 0.0
    """The running mean of its rewards, -1 to 1."""
    type: Literal["activation-changed.v1"] = "activation-changed.v1"


class ActivationParams(Params):
    """How fast memories fade from mind, and what keeps them there."""

    decay: float = param(0.5, "exponent", "d: the power law of practice and forgetting", ACT_R, gt=0, lt=1)
    floor: float = param(60.0, "seconds", "what was used a minute ago is as present as what is used now", gt=0)
    exact: int = param(
        8, "accesses", "kept one by one; one already halves the error of keeping none", "Petrov 2006", ge=1, le=64
    )
    refractory: float = param(10.0, "minutes", "one sitting is one access: being shown must not feed itself", ge=0)
    important: float = param(1.0, "log odds", "as if used e times as often, what six times the age takes away", ge=0)
    pinned: float = param(2.0, "log odds", "twice a flag: as much as a day becoming two months takes away", ge=0)
    reward: float = param(1.0, "log odds at a mean reward of 1", "always of use is worth a flag; -1 the reverse", ge=0)
    reward_rate: float = param(
        0.3, "share", "a mean over about the last three rewards", "Rescorla & Wagner 1972", gt=0, le=1
    )
    attention: float = param(1.0, "weight", "W: attention is limited, sources share it", ACT_R, ge=0)
    association: float = param(2.0, "log odds", "S: with it a source of seven links still primes", ACT_R, ge=0)


def _shown(params: ActivationParams, state: State, fact: MemoryRecalled, raw: Raw[MemoryRecalled]) -> list[Derived]:
    """Counts what was shown, each turn once."""
    return [_count(params, state, fact, turn) for turn in dict.fromkeys(fact.turns)]


def _marked(params: ActivationParams, state: State, fact: Mark, raw: Raw[Mark]) -> list[Derived]:
    """Writes down what was marked."""
    return [_mark(params, state, fact, turn) for turn in marked_turns(fact)]


def _touched(state: State, fact: MemoryRecalled | Mark, turn: str) -> ActivationChanged:
    """The memory's next record, put in the place of its last; its clock does not go back."""
    last = state.get(f"turn/{turn}", ActivationChanged)
    if last is None:
        record = ActivationChanged(fact.space, fact.session, fact.at, turn)
    else:
        record = replace(last, session=fact.session, at=max(fact.at, last.at), recent=[*last.recent])
    state.put(f"turn/{turn}", record)
    return record


def _count(params: ActivationParams, state: State, fact: MemoryRecalled, turn: str) -> ActivationChanged:
    record = _touched(state, fact, turn)
    record.cause = "recalled"
    if record.recent and record.at - record.recent[-1] < params.refractory * MINUTE:
        record.recent[-1] = record.at
        return record
    record.first = record.first if record.count else record.at
    record.count += 1
    record.recent = [*record.recent, record.at][-params.exact :]
    return record


def _mark(params: ActivationParams, state: State, fact: Mark, turn: str) -> ActivationChanged:
    record = _touched(state, fact, turn)
    record.cause = mark(record, fact, params.reward_rate)
    return record


def activation(params: ActivationParams, record: ActivationChanged | None, created_at: int, now: int) -> float:
    """B of a memory at `now`: log odds that it is needed. `record` is its last one up to then, if it has any."""
    used = _trace(params, created_at, now)
    if record is None:
        return log(used)
    for at in record.recent:
        used += _trace(params, at, now)
    if older := record.count - len(record.recent):
        used += older * _spread(params, _age(params, record.first, now), _age(params, record.recent[0], now))
    return (
        log(used)
        + params.important * record.important
        + params.pinned * record.pinned
        + params.reward * record.reward
    )  # fmt: skip


def activations(
    params: ActivationParams, turns: Sequence[Spoken], records: Mapping[str, ActivationChanged], now: int
) -> list[float]:
    """B of some turns at `now`; `records` are the last ones of those that have any."""
    floor, decay = params.floor, -params.decay
    return [
        log(max((now - turn.at) / SECOND, floor) ** decay)
        if (record := records.get(turn.id)) is None
        else activation(params, record, turn.at, now)
        for turn in turns
    ]


def _age(params: ActivationParams, at: int, now: int) -> float:
    return max((now - at) / SECOND, params.floor)


def _trace(params: ActivationParams, at: int, now: int) -> float:
    left: float = max((now - at) / SECOND, params.floor) ** -params.decay
    return left


def _spread(params: ActivationParams, oldest: float, newest: float) -> float:
    """The mean of t^-d over ages from `newest` to `oldest`."""
    if oldest - newest < 1e-3:
        return float(newest**-params.decay)
    rest = 1 - params.decay
    mean: float = (oldest**rest - newest**rest) / (rest * (oldest - newest))
    return mean


def spreading(
    params: ActivationParams, sources: Mapping[str, float], links: Mapping[tuple[str, str], float]
) -> dict[str, float]:
    """What attending to `sources` (turn to weight) adds to the activation of each turn linked to one of them.

    `links` are pairs, in either order, with their strengths now, 0 to 1. No turn is given more than
    `attention * association`.
    """
    total = sum(weight for weight in sources.values() if weight > 0)
    if not total:
        return {}
    ways = sorted((j, i, s) for (a, b), s in links.items() if s > 0 and a != b for j, i in ((a, b), (b, a)))
    counted: dict[str, int] = {}
    for source, _, _ in ways:
        counted[source] = counted.get(source, 0) + 1
    found: dict[str, float] = {}
    for source, turn, strength in ways:
        if (weight := sources.get(source, 0.0)) <= 0:
            continue
        fan = 1 + counted[source]
        primed = params.attention * weight / total * min(strength, 1.0) * max(0.0, params.association - log(fan))
        found[turn] = found.get(turn, 0.0) + primed
    return found


PROCESSOR = Processor(
    name="activation",
    version=1,
    params=ActivationParams,
    takes=(
        on(MemoryRecalled, _shown),
        on(ImportanceFlagged, _marked),
        on(MemoryPinned, _marked),
        on(MemoryRewarded, _marked),
    ),
    emits=(ActivationChanged,),
    read_model=ReadModel(
        keeps=(Keep(ActivationChanged, ("turn",), "activations"),),
        readings={"activation": activations, "spreading": spreading},
    ),
    presets={
        "chatbot": {
            "decay": 0.4,  # slow: a month takes away what five days do with .5
            "important": 1.5,  # what people call important is the relationship
        },
        "task-agent": {
            "decay": 0.7,  # fast: yesterday's task is in the way of today's
            "refractory": 2.0,  # minutes: steps of a task follow each other fast, each is a use of its own
        },
        "researcher": {"decay": 0.3},  # very slow: age says little about a finding
    },
)
