"""Forgetting: how much of each memory is retained.

    R = e^(-t / S);  S = S0 * growth * importance

t: days since the memory was last shown, or since its creation. S0, the stability of a fresh memory, depends on its type
(see core/text/kinds): 1 day for what happened, 5 for what is so, 10 for how something is done. Each time a memory is
shown multiplies its growth by 1.1, up to `most`, but only where `refractory` minutes passed since the time before:
spaced retrieval is what makes memories last. A flag multiplies S, rewards move it up or down, and a pinned memory does
not fade.

Nothing is deleted. Forgotten, R below `forgotten_below`, means not offered unless asked for by name. What is pinned or
flagged is never forgotten. A turn that was never shown or marked has no record: its retention is a closed form of its
age and type.

Sources: Ebbinghaus 1885 for R; retrieval and its spacing: Roediger & Karpicke 2006, Cepeda et al. 2006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

from streams.core.dynamics import Mark, mark, marked_turns
from streams.core.events import DAY, MINUTE, ImportanceFlagged, MemoryPinned, MemoryRecalled, MemoryRewarded
from streams.core.params import Params, param
from streams.core.processor import Derived, Moment, Processor, Raw, State, on, r6
from streams.core.read_model import Keep, read_model
from streams.core.section import Spoken
from streams.core.text.kinds import TYPES, MemoryType

PAPER = "Engram, after Ebbinghaus 1885"


@dataclass(slots=True)
class RetentionChanged(Derived):
    """A memory was shown or marked. All that is known of it; kept as the state of the memory, at `turn/<id>`."""

    turn: str
    cause: Literal["recalled", "flagged", "pinned", "rewarded"] = "recalled"
    growth: float = 1.0
    """What being shown made of its stability: a factor."""
    recalled: Moment = 0
    """When it was last shown; 0 for never."""
    important: bool = False
    pinned: bool = False
    reward: float = 0.0
    """The running mean of its rewards, -1 to 1."""
    type: Literal["retention-changed.v1"] = "retention-changed.v1"


class ForgettingParams(Params):
    """How long memories last."""

    episodic: float = param(1.0, "days", "S0 of what happened", PAPER, gt=0, le=36_500)
    semantic: float = param(5.0, "days", "S0 of what is so: facts, preferences", PAPER, gt=0, le=36_500)
    procedural: float = param(10.0, "days", "S0 of how something is done", PAPER, gt=0, le=36_500)
    growth: float = param(1.1, "factor", "what one spaced retrieval makes of S", PAPER, ge=1, le=10)
    most: float = param(100.0, "factor", "49 spaced retrievals: a season for what happened, years for skills", ge=1)
    refractory: float = param(60.0, "minutes", "less is massed practice, and adds nothing", "Kramár et al. 2012", ge=0)
    important: float = param(2.0, "factor", "a user's flag doubles S", ge=1)
    reward: float = param(0.5, "share of S", "always of use lasts half as long again; always wrong, half", ge=0, lt=1)
    reward_rate: float = param(
        0.3, "share", "a mean over about the last three rewards", "Rescorla & Wagner 1972", gt=0, le=1
    )
    forgotten_below: float = param(0.01, "retention", "4.6 S: what happened on Monday is gone by Saturday", ge=0, lt=1)


def _touched(state: State, fact: MemoryRecalled | Mark, turn: str) -> RetentionChanged:
    """The memory's next record, put in the place of its last; its clock does not go back."""
    last = state.get(f"turn/{turn}", RetentionChanged) or RetentionChanged(fact.space, fact.session, fact.at, turn)
    record = replace(last, session=fact.session, at=max(fact.at, last.at))
    state.put(f"turn/{turn}", record)
    return record


def _shown(params: ForgettingParams, state: State, fact: MemoryRecalled, raw: Raw[MemoryRecalled]) -> list[Derived]:
    """Strengthens what was shown."""
    derived: list[Derived] = []
    for turn in dict.fromkeys(fact.turns):
        last = state.get(f"turn/{turn}", RetentionChanged)
        if last is not None and fact.at - last.recalled < params.refractory * MINUTE:
            continue
        record = _touched(state, fact, turn)
        record.cause = "recalled"
        record.growth = r6(min(record.growth * params.growth, params.most))
        record.recalled = record.at
        derived.append(record)
    return derived


def _marked(params: ForgettingParams, state: State, fact: Mark, raw: Raw[Mark]) -> list[Derived]:
    """Writes down what was marked."""
    return [_mark(params, state, fact, turn) for turn in marked_turns(fact)]


def _mark(params: ForgettingParams, state: State, fact: Mark, turn: str) -> RetentionChanged:
    record = _touched(state, fact, turn)
    record.cause = mark(record, fact, params.reward_rate)
    return record


def stability(params: ForgettingParams, record: RetentionChanged | None, type: MemoryType) -> float:
    """S of a memory: the days after which 37 % of it are retained."""
    fresh: float = getattr(params, type)
    if record is None:
        return fresh
    said = (params.important if record.important else 1.0) * (1 + params.reward * record.reward)
    return fresh * record.growth * said


def retention(
    params: ForgettingParams, record: RetentionChanged | None, type: MemoryType, created_at: int, now: int
) -> float:
    """R of a memory at `now`, 0 to 1. `record` is its last one up to then, if it has any."""
    if record is not None and record.pinned:
        return 1.0
    last = max(created_at, record.recalled) if record is not None else created_at
    return exp(-max(now - last, 0) / DAY / stability(params, record, type))


def retentions(
    params: ForgettingParams, turns: Sequence[Spoken], records: Mapping[str, RetentionChanged], now: int
) -> list[float]:
    """R of some turns at `now`; `records` are the last ones of those that have any."""
    fresh = {type: stability(params, None, type) for type in TYPES}
    return [
        exp(-max(now - turn.at, 0) / DAY / fresh[turn.type])
        if (record := records.get(turn.id)) is None
        else retention(params, record, turn.type, turn.at, now)
        for turn in turns
    ]


def forgotten(
    params: ForgettingParams, record: RetentionChanged | None, type: MemoryType, created_at: int, now: int
) -> bool:
    """Whether a memory is not to be offered at `now` unless it is asked for by name."""
    if record is not None and (record.pinned or record.important):
        return False
    return retention(params, record, type, created_at, now) < params.forgotten_below


PROCESSOR = Processor(
    name="forgetting",
    version=1,
    params=ForgettingParams,
    takes=(
        on(MemoryRecalled, _shown),
        on(ImportanceFlagged, _marked),
        on(MemoryPinned, _marked),
        on(MemoryRewarded, _marked),
    ),
    emits=(RetentionChanged,),
    read_model=read_model(
        __package__,
        keeps=(Keep(RetentionChanged, ("turn",), "retentions"),),
        readings={"retention": retentions, "forgotten": forgotten},
    ),
    presets={
        "chatbot": {
            "episodic": 7.0,  # a week: "how did it go?" is asked days later
            "semantic": 60.0,  # likes, names and family must not have to be told again
            "procedural": 30.0,  # habits of the conversation
            "forgotten_below": 0.001,  # 7 S: what happened is offered for seven weeks
        },
        "task-agent": {
            "episodic": 0.5,  # half a day: the length of a task
            "semantic": 2.0,  # facts about a task end with it
            "procedural": 8.0,  # what was learned about doing it serves the next ones
            "growth": 1.3,  # what is used again and again is a skill
        },
        "personal-assistant": {
            "episodic": 3.0,  # appointments and errands are done within days
            "semantic": 20.0,  # preferences come up every few weeks
            "procedural": 20.0,  # so do the ways the person wants things done
        },
        "researcher": {
            "episodic": 90.0,  # a season: experiments and readings
            "semantic": 730.0,  # findings and definitions stay so
            "procedural": 365.0,  # methods change more than findings
            "forgotten_below": 0.0,  # all of the archive is offered
        },
    },
)
