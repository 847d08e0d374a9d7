"""The table of efforts: which are active, what they are called, which turns and segments are theirs."""

from __future__ import annotations

from processors.manifest import FactFiled, TurnFiled
from processors.open_efforts.events import EffortProgressed, EffortResumed
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import RECENT, Active, Effort, Named, Said, Segment, Slot, active
from streams.processor import Derived, State, derived_id

TOPIC = 200
"""Characters of a topic at most."""


def reopen(
    effort: Effort, event: TurnFiled | FactFiled, effort_id: str, turn: str, reason: str, out: list[Derived]
) -> None:
    effort.status = "open"
    out.append(EffortResumed(event.space, event.session, event.at, effort_id, turn, reason))


def activate(params: OpenEffortsParams, state: State, index: Active, effort_id: str, effort: Effort) -> None:
    """The effort is the last active one; at capacity the longest untouched leaves the table of the active."""
    slot = index.slots.pop(effort_id, None)
    if slot is not None:
        index.slots[effort_id] = slot
        return
    slot = len(index.slots)
    if slot >= params.active:
        oldest = next(iter(index.slots))
        slot = index.leave(oldest, state.get(f"effort/{oldest}", Effort) or Effort("", 0))
    index.enter(effort_id, effort, slot)
    state.put(f"active/{slot}", Slot(effort_id))


def give_name(state: State, name: str, effort_id: str) -> None:
    """The name stands for the effort, among the last 8."""
    key = f"name/{name}"
    named = state.get(key, Named) or Named()
    if effort_id in named.efforts:
        named.efforts.remove(effort_id)
    named.efforts.append(effort_id)
    del named.efforts[:-8]
    state.put(key, named)


def named_by(state: State, own: list[str], names: list[str]) -> list[str]:
    """The efforts that a turn names, its own first; at most 8. A name that stands for more than two tells none."""
    found = dict.fromkeys(own)
    for name in names:
        named = state.get(f"name/{name}", Named)
        if named is not None and len(named.efforts) <= 2:
            found.update(dict.fromkeys(reversed(named.efforts)))
    return list(found)[:8]


def take_name(state: State, name: str, effort_id: str) -> None:
    """The name no longer stands for the effort."""
    named = state.get(f"name/{name}", Named)
    if named is not None and effort_id in named.efforts:
        named.efforts.remove(effort_id)
        if named.efforts:
            state.put(f"name/{name}", named)
        else:
            state.delete(f"name/{name}")


def recently(state: State, index: Active, turn: str) -> Said | None:
    """What a recent turn said."""
    n = index.turns.get(turn)
    return state.get(f"turn/{n % RECENT}", Said) if n is not None else None


def main_of(state: State, segment: str) -> str:
    """The effort that most turns of a segment belong to, the latest among equals."""
    found = state.get(f"segment/{segment}", Segment) if segment else None
    if found is None:
        return ""
    best, most = "", 0
    for effort_id, turns in found.efforts.items():
        if turns >= most:
            best, most = effort_id, turns
    return best


def report(state: State, space: str, session: str, at: int, effort_id: str, effort: Effort, out: list[Derived]) -> None:
    """What the effort is about so far."""
    index = state.index(active)
    weighed = sorted(effort.terms, key=lambda term: (-effort.terms[term] / len(index.terms.get(term, "1")), term))
    terms = weighed[:12]
    if not effort.declared or not effort.topic:
        names = sorted(effort.names, key=lambda name: -effort.names[name])[:2]
        effort.topic = " ".join(dict.fromkeys(names + terms[:6]))[:TOPIC]
    state.put(f"effort/{effort_id}", effort)
    summary = "\n".join(effort.summaries.values())
    out.append(
        EffortProgressed(space, session, at, effort_id, effort.topic, summary, terms, effort.segments, effort.turns)
    )


def find(state: State, space: str, name: str, turn: str, segment: str) -> str:
    """The effort that a fact refers to by its own name or by a turn of it; "" where none is known."""
    if name:
        named = state.get(f"declared/{name.lower()}", Named)
        return named.efforts[-1] if named else ""
    if not turn:
        return ""
    said = recently(state, state.index(active), turn)
    if said is not None:
        return said.effort
    first = derived_id("effort", space, turn)
    return first if state.get(f"effort/{first}", Effort) is not None else main_of(state, segment)
