"""Forgetting: how much of each memory is retained.

    R = e^(-t / S);  S = S0 * growth * importance

t: days since the memory was last shown, or since its creation. S0, the stability of a fresh memory, depends on its type
(see streams.text.kinds): 1 day for what happened, 5 for what is so, 10 for how something is done. Each time a memory is
shown multiplies its growth by 1.1, up to `most`, but only where `refractory` minutes passed since the time before:
spaced retrieval is what makes memories last. A flag multiplies S, rewards move it up or down, and a pinned memory does
not fade.

Nothing is deleted. Forgotten, R below `forgotten_below`, means not offered unless asked for by name. What is pinned or
flagged is never forgotten. A turn that was never shown or marked has no record: its retention is a closed form of its
age and type.

Sources: Ebbinghaus 1885 for R; retrieval and its spacing: Roediger & Karpicke 2006, Cepeda et al. 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

from streams.dynamics import Mark, mark, marked_turns
from streams.events import (
    DAY,
    MINUTE,
    ClockTicked,
    ConsolidationRequested,
    ContradictionJudged,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRetracted,
)
from streams.processor import ROOT, Derived, Moment, Params, Processor, State, param, r6
from streams.text import Root, TurnRead
from streams.text.kinds import MemoryType

PAPER = "Engram, after Ebbinghaus 1885"


@dataclass(slots=True)
class RetentionChanged:
    """A memory was shown or marked. All that is known of it; kept as the state of the memory, at `turn/<id>`."""

    space: str
    session: str
    at: Moment
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


_NOTHING: tuple[Derived, ...] = ()


def step(params: ForgettingParams, state: State, event: Root) -> Sequence[Derived]:
    """Strengthens what was shown and writes down what was marked."""
    if isinstance(event, TurnRead):
        return _NOTHING
    match fact := event.fact:
        case MemoryRecalled():
            return _shown(params, state, fact)
        case ImportanceFlagged() | MemoryPinned() | MemoryRewarded():
            return [_marked(params, state, fact, turn) for turn in marked_turns(fact)]
        case (
            TurnRetracted() | EffortDeclared() | EffortClosed() | EffortReopened() | OfferDeclined() | NoteTaken()
            | NoteSettled() | SessionEnded() | SummaryWritten() | ConsolidationRequested() | ContradictionJudged()
            | ClockTicked()
        ):  # fmt: skip
            return _NOTHING


def _touched(state: State, fact: MemoryRecalled | Mark, turn: str) -> RetentionChanged:
    """The memory's next record, put in the place of its last; its clock does not go back."""
    last = state.get(f"turn/{turn}", RetentionChanged) or RetentionChanged(fact.space, fact.session, fact.at, turn)
    record = replace(last, session=fact.session, at=max(fact.at, last.at))
    state.put(f"turn/{turn}", record)
    return record


def _shown(params: ForgettingParams, state: State, fact: MemoryRecalled) -> list[Derived]:
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


def _marked(params: ForgettingParams, state: State, fact: Mark, turn: str) -> RetentionChanged:
    record = _touched(state, fact, turn)
    record.cause = mark(record, fact, params.reward_rate)
    return record


def stability(params: ForgettingParams, record: RetentionChanged | None, type: MemoryType) -> float:
    """S of a memory: the days after which 37 % of it are retained."""
    fresh = {"episodic": params.episodic, "semantic": params.semantic, "procedural": params.procedural}[type]
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
    reads=ROOT,
    params=ForgettingParams,
    emits=(RetentionChanged,),
    step=step,
    keeps={RetentionChanged: ("turn",)},
    readings={"retention": retention, "forgotten": forgotten},
)
