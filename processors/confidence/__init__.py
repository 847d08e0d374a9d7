"""Confidence: how far a memory can be relied on, and how much it stands out, told apart.

    reliability = trust(role) moved by what happened:  confirmed  r <- r + c (1 - r);   misled  r <- r (1 - m |reward|)
                  x 0.3 while a newer statement contradicts it, x 0.7 while one only may
    salience    = kept * 2^(-idle / half_life),  kept <- kept + raise * (1 - kept);     pinned: 1
    composite   = .6 reliability + .4 salience

Reliability does not fade: a fact does not become less true by not being thought of. Salience does, and comes back with
every recall. A contradiction is a state, not a factor applied again and again: taken back, the old reliability returns.
All moves of r are affine, so that a record keeps them without knowing whose turn it was: r = scale * trust + shift.
The last ones are kept one by one: where a turn that said the same is taken back, what it moved is moved back.

Sources: Engram's confidence in two dimensions (.6/.4, x 0.3 for a contradicted memory); exponential decay as in
Ebbinghaus 1885; trust by source after Johnson, Hashtroudi and Lindsay 1993 (source monitoring).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from processors.contradictions import (
    BeliefConfirmed,
    BeliefContradicted,
    BeliefRestored,
    ContradictionSuspected,
)
from streams.core.events import DAY, ImportanceFlagged, MemoryPinned, MemoryRecalled, MemoryRewarded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import RAW, Derived, Processor, Raw, State, digest, on, r6
from streams.core.read_model import Keep, read_model
from streams.core.section import Spoken


@dataclass(slots=True)
class ConfidenceChanged(Derived):
    """Something happened to a memory that makes it more or less sure, or more or less present. The whole record."""

    turn: str
    scale: float
    """With `shift`, the reliability a turn of some trust has by now: scale * trust + shift."""
    shift: float
    contradicted: bool
    """Whether a newer statement takes its place."""
    suspected: bool
    """Whether a newer one may take its place, which nobody judged yet."""
    salience: float
    """At `touched`; it halves with every half-life from there on."""
    touched: int
    """When the salience was last raised, UTC microseconds."""
    pinned: bool
    reason: str
    """What happened: recalled, rewarded, misled, important, pinned, unpinned, confirmed, unconfirmed (who said the same
    took it back), contradicted, suspected, restored."""
    type: Literal["confidence-changed.v1"] = "confidence-changed.v1"


class ConfidenceParams(Params):
    """What is relied on, and what stands out."""

    user: float = param(0.8, "reliability 0..1", "people know themselves best, and err", ge=0, le=1)
    assistant: float = param(0.6, "reliability 0..1", "a model's words may be made up", ge=0, le=1)
    tool: float = param(0.9, "reliability 0..1", "what a program returned is as it returned it", ge=0, le=1)
    system: float = param(0.9, "reliability 0..1", "instructions are given on purpose", ge=0, le=1)
    contradicted: float = param(
        0.3, "factor", "a statement whose place a newer one takes is history", source="Engram", ge=0, le=1
    )
    suspected: float = param(
        0.7, "factor", "a doubt that waits for a judge: it counts for less, and does not hide", ge=0, le=1
    )
    confirmed: float = param(
        0.3, "share of what is missing", "said again, it is surer: three times leave a third of the doubt", ge=0, le=1
    )
    rewarded: float = param(0.2, "share of what is missing, per reward", "it was of use, so it was right", ge=0, le=1)
    misled: float = param(
        0.4, "share lost, per negative reward", "it misled: twice takes most of the trust", ge=0, le=1
    )
    fresh: float = param(0.5, "salience 0..1", "of a turn nothing happened to, at its own time", ge=0, le=1)
    half_life: float = param(
        14.0, "days", "two weeks: what was not thought of for a month is a quarter as present", gt=0, le=36_500
    )
    recalled: float = param(0.3, "share of what is missing", "shown once more, it is more present", ge=0, le=1)
    important: float = param(0.6, "share of what is missing", "a user's mark outweighs two recalls", ge=0, le=1)
    reliability: float = param(0.6, "weight", "of reliability in the composite", source="Engram", ge=0, le=1)
    salience: float = param(0.4, "weight", "of salience in the composite", source="Engram", ge=0, le=1)


MAX_LINKS = 16
"""Contradictions kept of a turn: it may have said several things."""
MAX_MOVES = 16
"""What moved a reliability and is kept apart: a confirmation before so many others stays, whatever is taken back."""


@dataclass(slots=True)
class Confidence:
    """State, `turn/<id>`: what happened to a memory."""

    scale: float = 1.0
    shift: float = 0.0
    salience: float = -1.0
    """-1 while it was never raised: then it is what a turn's own age makes it."""
    touched: int = 0
    pinned: bool = False
    by: list[str] = field(default_factory=list)
    """Newer turns that take its place."""
    may: list[str] = field(default_factory=list)
    """Newer turns that may take its place."""
    moves: list[list[Any]] = field(default_factory=list)
    """The last ones of its reliability: [hash of the turn that said the same, "" for a reward; share of what is
    missing, or below 0 the share that is lost]."""
    since: list[float] = field(default_factory=lambda: [1.0, 0.0])
    """Its scale and shift before these."""


@dataclass(slots=True)
class Same:
    """State, `same/<turn>`: the turns that it says the same as, the last ones."""

    turns: list[str] = field(default_factory=list)


_Said = MemoryRecalled | MemoryRewarded | MemoryPinned | ImportanceFlagged
_Against = BeliefContradicted | ContradictionSuspected | BeliefRestored
_Cause = BeliefConfirmed | _Against | _Said | TurnRetracted
Record = Confidence | ConfidenceChanged | None
"""What readers take: the state, the last event of a turn, or nothing where nothing happened."""


def trust(params: ConfidenceParams, role: str) -> float:
    """How far a turn is relied on before anything happened to it, by who said it."""
    match role:
        case "assistant":
            return params.assistant
        case "tool":
            return params.tool
        case "system":
            return params.system
        case _:
            return params.user


def reliability(params: ConfidenceParams, record: Record, role: str) -> float:
    """How far a memory can be relied on, 0 to 1."""
    if record is None:
        return trust(params, role)
    relied = record.scale * trust(params, role) + record.shift
    by, may = (
        (record.contradicted, record.suspected) if isinstance(record, ConfidenceChanged) else (record.by, record.may)
    )
    return relied * (params.contradicted if by else params.suspected if may else 1)


def salience(params: ConfidenceParams, record: Record, created_at: int, now: int) -> float:
    """How much a memory stands out at `now`, 0 to 1; times are UTC microseconds."""
    if record is None or record.salience < 0:
        if record is not None and record.pinned:
            return 1.0
        return float(params.fresh * 0.5 ** (max(now - created_at, 0) / (params.half_life * DAY)))
    if record.pinned:
        return 1.0
    return float(record.salience * 0.5 ** (max(now - record.touched, 0) / (params.half_life * DAY)))


def composite(params: ConfidenceParams, record: Record, role: str, created_at: int, now: int) -> float:
    """Both, weighed: what ranking uses."""
    relied = reliability(params, record, role)
    return params.reliability * relied + params.salience * salience(params, record, created_at, now)


def composites(
    params: ConfidenceParams, turns: Sequence[Spoken], records: Mapping[str, ConfidenceChanged], now: int
) -> list[float]:
    """The same of some turns; `records` are the last ones of those that have any."""
    relied = {role: params.reliability * trust(params, role) for role in dict.fromkeys(turn.role for turn in turns)}
    weight, fresh, half = params.salience, params.fresh, params.half_life * DAY
    return [
        relied[turn.role] + weight * (fresh * 0.5 ** (max(now - turn.at, 0) / half))
        if (record := records.get(turn.id)) is None
        else composite(params, record, turn.role, turn.at, now)
        for turn in turns
    ]


def _confirmed(params: ConfidenceParams, state: State, event: BeliefConfirmed, raw: Raw[Any]) -> list[Derived]:
    """Said again, both are surer."""
    both = (event.older, event.turn), (event.turn, event.older)
    return [_confirm(params, state, event, turn, by) for turn, by in dict.fromkeys(both)]


def _retracted(
    params: ConfidenceParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> Sequence[Derived]:
    """What a turn confirmed is as sure as if it had never said so."""
    same = state.get(f"same/{fact.turn}", Same)
    if same is None:
        return ()
    state.delete(f"same/{fact.turn}")
    by, out = digest(fact.turn), []
    for turn in same.turns:
        _same(state, turn, fact.turn, False)
        record = _record(state, turn)
        left = [move for move in record.moves if move[0] != by]
        if left != record.moves:
            record.moves = left
            _compose(record)
            out.append(_told(state, fact, turn, record, "unconfirmed"))
    return out


def _contradicted(params: ConfidenceParams, state: State, event: BeliefContradicted, raw: Raw[Any]) -> list[Derived]:
    """A newer statement takes the older one's place."""
    return _weigh(state, event, event.older, event.turn, "contradicted")


def _suspected(params: ConfidenceParams, state: State, event: ContradictionSuspected, raw: Raw[Any]) -> list[Derived]:
    """A newer statement may take the older one's place."""
    return _weigh(state, event, event.older, event.turn, "suspected")


def _restored(params: ConfidenceParams, state: State, event: BeliefRestored, raw: Raw[Any]) -> list[Derived]:
    """A statement stands again, or one of several against it is gone."""
    return _weigh(state, event, event.turn, event.newer, "restored")


def _recalled(params: ConfidenceParams, state: State, fact: MemoryRecalled, raw: Raw[MemoryRecalled]) -> list[Derived]:
    """What was shown is more present."""
    shown = [_touched(params, state, fact, turn, params.recalled) for turn in dict.fromkeys(fact.turns)]
    return [_told(state, fact, turn, record, "recalled") for turn, record in shown]


def _rewarded(params: ConfidenceParams, state: State, fact: MemoryRewarded, raw: Raw[MemoryRewarded]) -> list[Derived]:
    """What was of use is surer, what misled less so."""
    turns = [*dict.fromkeys(fact.turns)] if fact.reward else []
    return [_reward(params, state, fact, turn) for turn in turns]


def _pinned(params: ConfidenceParams, state: State, fact: MemoryPinned, raw: Raw[MemoryPinned]) -> list[Derived]:
    """What is pinned stands out."""
    record = _record(state, fact.turn)
    record.pinned = fact.pinned
    return [_told(state, fact, fact.turn, record, "pinned" if fact.pinned else "unpinned")]


def _flagged(
    params: ConfidenceParams, state: State, fact: ImportanceFlagged, raw: Raw[ImportanceFlagged]
) -> list[Derived]:
    """What was called important is more present."""
    if fact.importance == "normal":
        return []
    turn, record = _touched(params, state, fact, fact.turn, params.important)
    return [_told(state, fact, turn, record, "important")]


def _confirm(params: ConfidenceParams, state: State, event: BeliefConfirmed, turn: str, by: str) -> Derived:
    record = _record(state, turn)
    _same(state, by, turn, True)
    _move(record, digest(by), params.confirmed)
    return _told(state, event, turn, record, "confirmed")


def _weigh(state: State, event: _Against, turn: str, newer: str, reason: str) -> list[Derived]:
    record = _record(state, turn)
    was = bool(record.by), bool(record.may)
    record.by = [other for other in record.by if other != newer]
    record.may = [other for other in record.may if other != newer]
    if reason == "contradicted":
        record.by = [*record.by, newer][-MAX_LINKS:]
    elif reason == "suspected":
        record.may = [*record.may, newer][-MAX_LINKS:]
    if was == (bool(record.by), bool(record.may)):
        state.put(f"turn/{turn}", record)
        return []
    return [_told(state, event, turn, record, reason)]


def _reward(params: ConfidenceParams, state: State, event: MemoryRewarded, turn: str) -> Derived:
    record, reward = _record(state, turn), event.reward
    _move(record, "", (params.rewarded if reward > 0 else params.misled) * reward)
    return _told(state, event, turn, record, "rewarded" if reward > 0 else "misled")


def _same(state: State, turn: str, other: str, is_so: bool) -> None:
    """Whether a turn says the same as another from now on."""
    said = state.get(f"same/{turn}", Same) or Same()
    said.turns = [*(one for one in said.turns if one != other), *([other] if is_so else [])][-MAX_MOVES:]
    if said.turns:
        state.put(f"same/{turn}", said)
    else:
        state.delete(f"same/{turn}")


def _move(record: Confidence, by: str, share: float) -> None:
    """A reliability is raised by a share of what is missing, or loses one (below 0)."""
    record.moves = [*record.moves, [by, share]]
    while len(record.moves) > MAX_MOVES:
        (_, oldest), *record.moves = record.moves
        scale, shift = record.since
        record.since = [*_moved(scale, shift, oldest)]
    _compose(record)


def _compose(record: Confidence) -> None:
    scale, shift = record.since
    for _, share in record.moves:
        scale, shift = _moved(scale, shift, share)
    record.scale, record.shift = scale, shift


def _moved(scale: float, shift: float, share: float) -> tuple[float, float]:
    if share > 0:
        return r6(scale * (1 - share)), r6(shift + share * (1 - shift))
    return r6(scale * (1 + share)), r6(shift * (1 + share))


def _touched(
    params: ConfidenceParams, state: State, event: MemoryRecalled | ImportanceFlagged, turn: str, share: float
) -> tuple[str, Confidence]:
    """Raises a salience. Why from `fresh`: when the turn was said is not known here, and at most it is that."""
    record = _record(state, turn)
    now = max(event.at, record.touched)
    left = salience(params, record, event.at, now) if record.salience >= 0 else params.fresh
    record.salience, record.touched = r6(left + share * (1 - left)), now
    return turn, record


def _record(state: State, turn: str) -> Confidence:
    return state.get(f"turn/{turn}", Confidence) or Confidence()


def _told(state: State, event: _Cause, turn: str, record: Confidence, reason: str) -> Derived:
    state.put(f"turn/{turn}", record)
    return ConfidenceChanged(
        event.space, event.session, event.at, turn, record.scale, record.shift, bool(record.by), bool(record.may),
        record.salience, record.touched, record.pinned, reason,
    )  # fmt: skip


PROCESSOR = Processor(
    name="confidence",
    version=3,
    reads=(RAW, "contradictions"),
    params=ConfidenceParams,
    takes=(
        on(BeliefConfirmed, _confirmed),
        on(BeliefContradicted, _contradicted),
        on(ContradictionSuspected, _suspected),
        on(BeliefRestored, _restored),
        on(MemoryRecalled, _recalled),
        on(MemoryRewarded, _rewarded),
        on(MemoryPinned, _pinned),
        on(ImportanceFlagged, _flagged),
        on(TurnRetracted, _retracted),
    ),
    emits=(ConfidenceChanged,),
    read_model=read_model(
        __package__, keeps=(Keep(ConfidenceChanged, ("turn",), "confidences"),), readings={"confidence": composites}
    ),
)
