"""Consolidation: each memory has two traces, a fast one that fades within weeks and a slow one that it writes into.

    dr1/dt = -a1 * r1                       a1 = .1 per day
    dr2/dt = alpha * r1 - a2 * r2           a2 = .01 per day, alpha = .08 per day

In closed form, t days on:

    r1(t) = r1 * e^(-a1 t)
    r2(t) = r2 * e^(-a2 t) + alpha * r1 * (e^(-a2 t) - e^(-a1 t)) / (a1 - a2);  alpha * r1 * t * e^(-a t) if a1 = a2

A memory begins with r1 = its weight and r2 = 0. The weight is 1; a flag, a pin and rewards move it, in hindsight too:
what comes after can save a faint trace. The equations are linear, so the traces of a memory are the sum of its own, a
closed form of its age, and of what replays added, which its record holds. A memory without a record has its own alone.

Consolidation, on request and every `every` days, replays memories of all ages in one batch: half of it from the last 24
hours, 30 % from the last week, 20 % older. Each replay renews the fast trace: r1 <- r1 + boost * weight * (1 - r1).
What falls due while nothing happens takes place once, dated when it first was due: nothing new came in that a second
night could replay.

Candidates are samples of at most `sample` turns of each day, each week and all time: those with the least hash of their
id, divided by a power of their weight. A turn with a greater hash than these, which is nearly every turn of a busy day,
costs its hash. A marked memory is a candidate of the day it is marked, unless it is one already.

Sources: Murre, Chessa & Meeter 2013, Murre & Dros 2015 for the traces; McClelland, McNaughton & O'Reilly 1995 for
interleaved replay; Frey & Morris 1997 for hindsight; Cohen & Kaplan 2007 for samples by least hash.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any, Literal
from zlib import crc32

from streams.core.dynamics import Mark, mark, marked_turns
from streams.core.events import (
    DAY,
    ConsolidationRequested,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRewarded,
    Outside,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, on, otherwise, r6
from streams.core.read_model import Keep, read_model
from streams.core.section import Spoken


@dataclass(slots=True)
class MemoryConsolidated(Derived):
    """A memory was replayed or marked. All that is known of it; kept as the state of the memory, at `turn/<id>`."""

    turn: str
    cause: Literal["scheduled", "requested", "flagged", "pinned", "rewarded"]
    r1: float = 0.0
    """What replays added to the fast trace, as of `at`."""
    r2: float = 0.0
    """What replays added to the slow trace, as of `at`."""
    replays: int = 0
    important: bool = False
    pinned: bool = False
    reward: float = 0.0
    """The running mean of its rewards, -1 to 1."""
    type: Literal["memory-consolidated.v1"] = "memory-consolidated.v1"


@dataclass(slots=True)
class ConsolidationRan(Derived):
    """Memories of all ages were replayed together."""

    at: int
    """The deadline, where it was scheduled."""
    cause: Literal["scheduled", "requested"]
    run: int
    """Counts the consolidations of the space."""
    fresh: int
    """How many memories of the last 24 hours were replayed."""
    week: int
    """How many of the week before that."""
    older: int
    type: Literal["consolidation-ran.v1"] = "consolidation-ran.v1"


class ConsolidationParams(Params):
    """How traces fade and pass on, and what is replayed when."""

    fast: float = param(0.1, "per day", "a1: the fast trace halves in a week", "Engram, after Murre & Dros 2015", gt=0)
    slow: float = param(
        0.01, "per day", "a2: the slow trace halves in ten weeks", "Engram, after Murre & Dros 2015", gt=0
    )
    alpha: float = param(0.08, "per day", "most of what leaves the fast trace reaches the slow one", "Engram", ge=0)
    every: float = param(7.0, "days", "a batch of rows for a week of talk; 0 for never", ge=0, le=3_650)
    boost: float = param(0.2, "share", "one replay renews a fifth of what the fast trace lacks", "Engram", ge=0, le=1)
    batch: int = param(20, "memories", "replayed at once: bounded work (law 4)", ge=0, le=20)
    fresh: float = param(0.5, "share", "of a batch, from the last 24 hours", "interleaved replay, Engram", ge=0, le=1)
    week: float = param(
        0.3, "share", "of a batch, from 1 to 7 days, of what is left; older ones are the rest", "Engram", ge=0, le=1
    )
    sample: int = param(
        12, "turns", "candidates of a day: more than a batch takes of it, and few to write", ge=1, le=16
    )
    important: float = param(1.0, "weight", "a flagged memory is encoded and replayed as two", ge=0, le=1000)
    pinned: float = param(1.0, "weight", "a pinned one as well", ge=0, le=1000)
    reward: float = param(
        1.0, "weight at a mean reward of 1", "always of use counts double, always wrong next to nothing", ge=0, le=1000
    )
    reward_rate: float = param(
        0.3, "share", "a mean over about the last three rewards", "Rescorla & Wagner 1972", gt=0, le=1
    )


@dataclass(slots=True)
class Schedule:
    """State, `schedule`: when the next consolidation falls due, when the last one was, how many there were."""

    due: int
    last: int = 0
    runs: int = 0


@dataclass(slots=True)
class Sample:
    """State, `day/<parity>`, `week/<parity>` and `ever`: candidates of one day, week, or all time, by rising key."""

    number: int
    """Of the day or week since 1970."""
    limit: int
    """A key from here on is not admitted."""
    keys: list[int] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    ats: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Gone:
    """State, `gone/<turn>`: the turn was taken back."""


NEVER = 1 << 62
SAMPLES = ("day/0", "day/1", "week/0", "week/1", "ever")
LIGHTEST = 0.01
"""A memory that weighs less is still replayed, though last."""
SALIENCE = 8
"""The power of the weight that candidates are sampled by: of a busy day's turns, a flagged one is nearly always one."""
MAX_ID = 200
"""Bytes of an id: a turn with a longer one is no candidate, so that samples are records of less than 8 KB."""
_NOTHING: tuple[Derived, ...] = ()


class Gate:
    """Index: what lets nearly every turn pass by. A pure function of the schedule and the samples."""

    __slots__ = ("due", "limit", "today", "tomorrow")

    def __init__(self, state: State) -> None:
        self.look(state)

    def look(self, state: State) -> None:
        """Reads the records again."""
        schedule = state.get("schedule", Schedule)
        days = [sample.number for name in SAMPLES[:2] if (sample := state.get(name, Sample)) is not None]
        self.due = schedule.due if schedule is not None else 0
        self.today = max(days, default=0) * DAY
        self.tomorrow = self.today + DAY
        self.limit = 0
        for name, number in _places(self.today):
            sample = state.get(name, Sample)
            self.limit = max(self.limit, sample.limit if sample is not None and sample.number == number else NEVER)


def _turn(params: ConsolidationParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Samples a turn; replays when it is time to."""
    gate = state.index(Gate)
    key = crc32(turn.id.encode())
    if key >= gate.limit and gate.today <= turn.at < gate.tomorrow and turn.at < gate.due:
        return _NOTHING
    derived = _scheduled(params, state, turn.space, turn.at) if turn.at >= gate.due else []
    speaks = turn.content and (turn.role == "user" or turn.role == "assistant")
    if (speaks and _offer(params, state, turn.id, turn.at, key)) or turn.at >= gate.due:
        gate.look(state)
    return derived


def _time_passed(params: ConsolidationParams, state: State, fact: Outside, raw: Raw[Any]) -> list[Derived]:
    """Replays when it is time to."""
    gate = state.index(Gate)
    derived = _scheduled(params, state, fact.space, fact.at) if fact.at >= gate.due else []
    gate.look(state)
    return derived


def _requested(
    params: ConsolidationParams, state: State, fact: ConsolidationRequested, raw: Raw[ConsolidationRequested]
) -> list[Derived]:
    """Replays because it was asked for."""
    derived = _time_passed(params, state, fact, raw)
    derived += _run(params, state, fact.space, fact.session, fact.at, "requested")
    return derived


def _marked(params: ConsolidationParams, state: State, fact: Mark, raw: Raw[Mark]) -> list[Derived]:
    """Weighs what is marked: it is likelier to be replayed."""
    derived = _time_passed(params, state, fact, raw)
    standing = (turn for turn in marked_turns(fact) if state.get(_gone(turn), Gone) is None)
    derived += [_mark(params, state, fact, turn) for turn in standing]
    state.index(Gate).look(state)
    return derived


def _retracted(
    params: ConsolidationParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    """What was taken back is no candidate, whatever is said of it later."""
    derived = _time_passed(params, state, fact, raw)
    state.put(_gone(fact.turn), Gone())
    _withdraw(state, fact.turn)
    state.index(Gate).look(state)
    return derived


# -- candidates --------------------------------------------------------------------------------------------------------


def _places(at: int) -> tuple[tuple[str, int], ...]:
    """Where a memory of that time is sampled: names of samples, and the numbers of their day or week."""
    day = at // DAY
    week = day // 7
    return (f"day/{day % 2}", day), (f"week/{week % 2}", week), ("ever", 0)


def _offer(params: ConsolidationParams, state: State, turn: str, at: int, key: int) -> bool:
    """Samples a turn, where its key is low enough. Each day takes the place of the one before the last.

    Returns whether a sample began, or its limit moved.
    """
    moved = False
    if (len(turn) > MAX_ID // 4 and len(turn.encode()) > MAX_ID) or state.get(_gone(turn), Gone) is not None:
        return moved
    for name, number in _places(at):
        sample = state.get(name, Sample)
        if sample is None or sample.number < number:
            sample, moved = Sample(number, NEVER), True
        if sample.number > number or key >= sample.limit:
            continue
        place = bisect(sample.keys, key)
        sample.keys.insert(place, key)
        sample.turns.insert(place, turn)
        sample.ats.insert(place, at)
        if len(sample.keys) > params.sample:
            del sample.keys[-1], sample.turns[-1], sample.ats[-1]
        if len(sample.keys) == params.sample:
            sample.limit, moved = sample.keys[-1], True
        state.put(name, sample)
    return moved


def _gone(turn: str) -> str:
    return f"gone/{turn}"


def _withdraw(state: State, turn: str) -> int | None:
    """Takes a turn out of all samples; returns its time, where it was in one."""
    found = None
    for name in SAMPLES:
        sample = state.get(name, Sample)
        if sample is not None and turn in sample.turns:
            place = sample.turns.index(turn)
            found = sample.ats[place]
            del sample.keys[place], sample.turns[place], sample.ats[place]
            sample.limit = NEVER
            state.put(name, sample)
    return found


def _mark(params: ConsolidationParams, state: State, fact: Mark, turn: str) -> MemoryConsolidated:
    record = _renewed(params, state, turn, fact.space, fact.session, fact.at)
    record.cause = mark(record, fact, params.reward_rate)
    at = _withdraw(state, turn)
    key = _lot(turn, weight(params, record) ** SALIENCE)
    _offer(params, state, turn, record.at if at is None else at, key)
    return record


def _lot(text: str, weight: float) -> int:
    """A hash that is the lower the greater the weight: lots are drawn without chance."""
    return min(int(crc32(text.encode()) / weight), NEVER - 1)


# -- replays -----------------------------------------------------------------------------------------------------------


def _scheduled(params: ConsolidationParams, state: State, space: str, now: int) -> list[Derived]:
    """What fell due by `now`, once, dated at its deadline; the first event of a space starts the schedule."""
    every = int(params.every * DAY)
    schedule = state.get("schedule", Schedule)
    if schedule is None:
        state.put("schedule", Schedule(now + every if every else NEVER))
        return []
    derived = _run(params, state, space, "", schedule.due, "scheduled")
    schedule.due += ((now - schedule.due) // every + 1) * every
    state.put("schedule", schedule)
    return derived


def _run(
    params: ConsolidationParams,
    state: State,
    space: str,
    session: str,
    at: int,
    cause: Literal["scheduled", "requested"],
) -> list[Derived]:
    """One consolidation: a batch of all ages is replayed."""
    schedule = state.get("schedule", Schedule) or Schedule(NEVER)
    at = schedule.last = max(at, schedule.last)
    schedule.runs += 1
    state.put("schedule", schedule)
    chosen = _choose(params, state, at, schedule.runs)
    derived: list[Derived] = []
    for turn in (turn for turns in chosen for turn in turns):
        record = _renewed(params, state, turn, space, session, at)
        record.cause = cause
        record.replays += 1
        record.r1 = r6(record.r1 + min(params.boost * weight(params, record), 1.0) * (1 - record.r1))
        derived.append(record)
    fresh, week, older = map(len, chosen)
    derived.append(ConsolidationRan(space, session, at, cause, schedule.runs, fresh, week, older))
    return derived


def _choose(params: ConsolidationParams, state: State, at: int, run: int) -> list[list[str]]:
    """The turns to replay: of the last 24 hours, of the week, older. Lots are drawn anew for each run."""
    ages: tuple[list[tuple[int, str]], ...] = ([], [], [])
    candidates = {
        turn: created
        for name in SAMPLES
        if (sample := state.get(name, Sample)) is not None
        for turn, created in zip(sample.turns, sample.ats, strict=True)
    }
    for turn, created in candidates.items():
        days = (at - created) / DAY
        record = state.get(f"turn/{turn}", MemoryConsolidated)
        ages[0 if days <= 1 else 1 if days <= 7 else 2].append((_lot(f"{run}/{turn}", weight(params, record)), turn))
    fresh = round(params.batch * params.fresh)
    week = min(round(params.batch * params.week), params.batch - fresh)
    shares = (fresh, week, params.batch - fresh - week)
    return [[turn for _, turn in sorted(lots)[:share]] for lots, share in zip(ages, shares, strict=True)]


def _renewed(
    params: ConsolidationParams, state: State, turn: str, space: str, session: str, at: int
) -> MemoryConsolidated:
    """The memory's next record, put in the place of its last, with its traces as of now; its clock does not go back."""
    last = state.get(f"turn/{turn}", MemoryConsolidated)
    if last is None:
        record = MemoryConsolidated(space, session, at, turn, "requested")
    else:
        r1, r2 = faded(params, last.r1, last.r2, max(at - last.at, 0) / DAY)
        record = replace(last, session=session, at=max(at, last.at), r1=r6(r1), r2=r6(r2))
    state.put(f"turn/{turn}", record)
    return record


# -- reading -----------------------------------------------------------------------------------------------------------


Fading = Callable[[float, float, float], tuple[float, float]]


def fading(params: ConsolidationParams) -> Fading:
    """How traces fade under some parameters: of both traces and the days that pass, the closed form."""
    fast_rate, slow_rate, alpha = params.fast, params.slow, params.alpha
    gap = fast_rate - slow_rate

    def fade(r1: float, r2: float, days: float) -> tuple[float, float]:
        fast, slow = exp(-fast_rate * days), exp(-slow_rate * days)
        passed = days * fast if abs(gap) < 1e-9 else (slow - fast) / gap
        return r1 * fast, r2 * slow + alpha * r1 * passed

    return fade


def faded(params: ConsolidationParams, r1: float, r2: float, days: float) -> tuple[float, float]:
    """Both traces, `days` on."""
    return fading(params)(r1, r2, days)


def weight(params: ConsolidationParams, record: MemoryConsolidated | None) -> float:
    """How strongly a memory is encoded and replayed; 1 for one of which nothing was said."""
    if record is None:
        return 1.0
    said = params.important * record.important + params.pinned * record.pinned + params.reward * record.reward
    return max(1.0 + said, LIGHTEST)


def traces(
    params: ConsolidationParams, record: MemoryConsolidated | None, created_at: int, now: int
) -> tuple[float, float]:
    """The fast and the slow trace of a memory at `now`. `record` is its last one up to then, if it has any."""
    r1, r2 = faded(params, 1.0, 0.0, max(now - created_at, 0) / DAY)
    if record is None:
        return r1, r2
    weighed = weight(params, record)
    more1, more2 = faded(params, record.r1, record.r2, max(now - record.at, 0) / DAY)
    return weighed * r1 + more1, weighed * r2 + more2


def both(
    params: ConsolidationParams, turns: Sequence[Spoken], records: Mapping[str, MemoryConsolidated], now: int
) -> list[tuple[float, float]]:
    """Both traces of some turns at `now`; `records` are the last ones of those that have any."""
    fade = fading(params)
    return [
        fade(1.0, 0.0, max(now - turn.at, 0) / DAY)
        if (record := records.get(turn.id)) is None
        else traces(params, record, turn.at, now)
        for turn in turns
    ]


PROCESSOR = Processor(
    name="consolidation",
    version=2,
    params=ConsolidationParams,
    takes=(
        on(TurnRecorded, _turn),
        on(ConsolidationRequested, _requested),
        on(ImportanceFlagged, _marked),
        on(MemoryPinned, _marked),
        on(MemoryRewarded, _marked),
        on(TurnRetracted, _retracted),
        otherwise(_time_passed),
    ),
    emits=(MemoryConsolidated, ConsolidationRan),
    read_model=read_model(
        __package__, keeps=(Keep(MemoryConsolidated, ("turn",), "traces"),), readings={"traces": both}
    ),
    presets={
        "chatbot": {
            "every": 0.5,  # frequent: morning and evening, as people talk to it
            "slow": 0.005,  # the slow trace halves in twenty weeks
        },
        "task-agent": {
            "every": 30.0,  # rare: there is little to keep
            "fast": 0.3,  # the fast trace halves in two days
        },
        "personal-assistant": {"every": 1.0},  # daily, as sleep
        "researcher": {
            "every": 7.0,  # weekly
            "slow": 0.002,  # the slow trace halves in a year
            "fresh": 0.3,  # of a batch: old findings are replayed as much as new ones
            "week": 0.3,
        },
    },
)
