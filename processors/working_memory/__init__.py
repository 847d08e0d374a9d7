"""Working memory: what a session has at hand from what its agent recalled of late.

    at hand at time t = the `capacity` (7) turns shown last, of those shown within `fade` (300 s) before t

A recall puts the turns that it showed in front, its best first; what was at hand already follows, the freshest first,
and what no longer fits is gone. To be shown again refreshes a turn. Nothing else does: that a turn lies unused at hand
is no use of it. A turn that is retracted is dropped at once, and comes to nobody's hand again; a session that ends has
nothing at hand.

Fading is a closed form of the times kept, computed when read (`at_hand`): there are no deadlines, and a mere turn of
talk costs and writes nothing. A recall that arrives late, with an earlier time, takes its place by that time.

Sources: Miller 1956 (seven items); Baddeley 1986 and Engram (items fade unless refreshed; seven for 300 s). What lies
around and is linked to the items is within reach, too (Cowan 1999: a focus of attention within an activated part of
long-term memory); that is found when it is asked whether to recall at all, see projections/recall/needs.
"""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass, field
from streams.core.events import SECOND, MemoryRecalled, SessionEnded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, on
from streams.core.read_model import Keep, read_model

MAX_CUES = 3
"""Cues kept of a session: its last recalls."""
MAX_CUE = 160
"""Characters kept of a cue: a sentence or two say what it is about."""
MAX_HOLDERS = 8
"""Sessions known to hold one turn. Where more do, the first of them keep it until it fades, even if it is retracted."""


@dataclass(slots=True)
class WorkingMemoryChanged(Derived):
    """What a session has at hand changed. The whole of it: only the last such event of a session counts."""

    items: list[str]
    """The turns, the one shown last and best first. Empty when the session ended or nothing is left."""
    shown: list[int]
    """When each of `items` was last shown, UTC microseconds; same length. From then on it fades."""
    cues: list[str]
    """What was asked last, the newest first; each clipped."""
    asked: list[int]
    """When each of `cues` was asked; same length."""
    type: Literal["working-memory-changed.v1"] = "working-memory-changed.v1"


class WorkingMemoryParams(Params):
    """How much is at hand, and for how long."""

    capacity: int = param(7, "turns", "seven, plus or minus two", source="Miller 1956", ge=1, le=9)
    fade: float = param(
        300.0, "seconds", "five minutes: what was not shown again since is no longer at hand", source="Engram", gt=0,
        le=1e9,
    )  # fmt: skip


@dataclass(slots=True)
class Held:
    """State, `session/<session>`: what the session has at hand, as in `WorkingMemoryChanged`."""

    items: list[str] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    cues: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Holders:
    """State, `turn/<turn>`: the sessions that have a turn at hand, so that its retraction finds them."""

    sessions: list[str]


@dataclass(slots=True)
class Gone:
    """State, `gone/<turn>`: the turn was taken back."""


def at_hand(params: WorkingMemoryParams, record: WorkingMemoryChanged | None, now: int) -> list[str]:
    """The turns at hand at `now`, the one shown last and best first, given a session's last event (None for none)."""
    if record is None:
        return []
    gone = now - int(params.fade * SECOND)
    return [item for item, shown in zip(record.items, record.shown, strict=True) if shown > gone]


def _recalled(
    params: WorkingMemoryParams, state: State, fact: MemoryRecalled, raw: Raw[MemoryRecalled]
) -> list[Derived]:
    """What was shown is at hand; what was shown to no session is at nobody's."""
    return [_recall(params, state, fact)] if fact.session else []


def _recall(params: WorkingMemoryParams, state: State, fact: MemoryRecalled) -> WorkingMemoryChanged:
    held = state.get(f"session/{fact.session}", Held) or Held()
    before = held.items
    latest = {turn: fact.at for turn in fact.turns if not state.get(f"gone/{turn}", Gone)}
    for item, shown in zip(before, held.shown, strict=True):
        latest[item] = max(shown, latest.get(item, shown))
    gone = max(latest.values(), default=fact.at) - int(params.fade * SECOND)
    # Why a stable sort: turns shown at one time keep the order they were shown in, the best first.
    fresh = sorted((item for item in latest if latest[item] > gone), key=lambda item: -latest[item])
    held.items = fresh[: params.capacity]
    held.shown = [latest[item] for item in held.items]
    _ask(held, fact)
    for item in before:
        if item not in held.items:
            _release(state, item, fact.session)
    for item in held.items:
        if item not in before:
            _hold(state, item, fact.session)
    state.put(f"session/{fact.session}", held)
    return _changed(fact, fact.session, held)


def _ask(held: Held, fact: MemoryRecalled) -> None:
    cues = [(fact.at, fact.cue[:MAX_CUE]), *zip(held.asked, held.cues, strict=True)]
    cues = sorted(cues, key=lambda one: -one[0])[:MAX_CUES]
    held.asked, held.cues = [at for at, _ in cues], [cue for _, cue in cues]


def _hold(state: State, turn: str, session: str) -> None:
    holders = state.get(f"turn/{turn}", Holders) or Holders([])
    holders.sessions = [*holders.sessions, session][-MAX_HOLDERS:]
    state.put(f"turn/{turn}", holders)


def _release(state: State, turn: str, session: str) -> None:
    holders = state.get(f"turn/{turn}", Holders)
    if holders is None or session not in holders.sessions:
        return
    holders.sessions.remove(session)
    if holders.sessions:
        state.put(f"turn/{turn}", holders)
    else:
        state.delete(f"turn/{turn}")


def _retracted(
    params: WorkingMemoryParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    """What was taken back is at hand no longer."""
    state.put(f"gone/{fact.turn}", Gone())
    holders = state.get(f"turn/{fact.turn}", Holders)
    if holders is None:
        return []
    state.delete(f"turn/{fact.turn}")
    derived: list[Derived] = []
    for session in holders.sessions:
        held = state.get(f"session/{session}", Held)
        if held is None or fact.turn not in held.items:
            continue
        place = held.items.index(fact.turn)
        del held.items[place], held.shown[place]
        state.put(f"session/{session}", held)
        derived.append(_changed(fact, session, held))
    return derived


def _ended(params: WorkingMemoryParams, state: State, fact: SessionEnded, raw: Raw[SessionEnded]) -> list[Derived]:
    """A session that ended has nothing at hand."""
    held = state.get(f"session/{fact.session}", Held)
    if held is None:
        return []
    for item in held.items:
        _release(state, item, fact.session)
    state.delete(f"session/{fact.session}")
    return [_changed(fact, fact.session, Held())]


def _changed(fact: MemoryRecalled | TurnRetracted | SessionEnded, session: str, held: Held) -> WorkingMemoryChanged:
    """The event of what is held now. Why copies: the record goes on changing."""
    return WorkingMemoryChanged(fact.space, session, fact.at, [*held.items], [*held.shown], [*held.cues], [*held.asked])


PROCESSOR = Processor(
    name="working_memory",
    version=2,
    params=WorkingMemoryParams,
    takes=(on(MemoryRecalled, _recalled), on(TurnRetracted, _retracted), on(SessionEnded, _ended)),
    emits=(WorkingMemoryChanged,),
    read_model=read_model(
        __package__, keeps=(Keep(WorkingMemoryChanged, ("session",), "at_hand"),), readings={"at_hand": at_hand}
    ),
)
