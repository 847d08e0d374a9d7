"""The table of efforts: which are active, what they are called, which turns and segments are theirs."""

from __future__ import annotations

from processors.open_efforts.events import EffortConcluded, EffortProgressed, EffortResumed
from processors.open_efforts.index import Active, active, recently
from processors.open_efforts.matching import slots_of
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import NAME, Effort, Named, Session, Slot, Space
from processors.open_efforts.topics import YOUNG, renamed, telling
from streams.core.events import (
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    OfferDeclined,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.processor import Derived, State, derived_id
from streams.core.text.commonness import CLASSES, ORDINARY

SessionFact = EffortClosed | EffortDeclared | EffortReopened | ImportanceFlagged | OfferDeclined | TurnRetracted


def reopen(
    effort: Effort, event: TurnRecorded | SessionFact, effort_id: str, turn: str, reason: str, out: list[Derived]
) -> None:
    """New work on it came, or an agent said so, or its conclusion was taken back."""
    effort.status = "open"
    effort.ended = ""
    out.append(EffortResumed(event.space, event.session, event.at, effort_id, turn, reason))


def conclude(state: State, index: Active, effort: Effort, turn: str, done: EffortConcluded) -> EffortConcluded:
    """The effort is done, by the turn that ended it; "" where an agent closed it."""
    effort.status, effort.ended, effort.live = "concluded", turn, []
    index.mark(done.effort, effort)
    state.put(f"effort/{done.effort}", effort)
    return done


def activate(params: OpenEffortsParams, state: State, index: Active, effort_id: str, effort: Effort) -> int:
    """The effort is the last active one; at capacity the longest untouched leaves the table of the active. Its slot."""
    slots = index.slots
    if effort_id == index.latest:
        return slots[effort_id]
    index.latest = effort_id
    index.touched += 1
    effort.seen = index.touched
    slot = slots.pop(effort_id, None)
    if slot is not None:
        slots[effort_id] = slot
        return slot
    slot = len(slots)
    if slot >= params.active:
        oldest = next(iter(slots))
        slot = index.leave(oldest, state.get(f"effort/{oldest}", Effort) or Effort("", 0))
    index.enter(effort_id, effort, slot)
    state.put(f"active/{slot}", Slot(effort_id))
    return slot


def give_name(state: State, name: str, effort_id: str) -> None:
    """The name stands for the effort, among the last 8."""
    key = f"name/{name}"
    named = state.get(key, Named)
    if named is None:
        named = Named([effort_id])
    else:
        if effort_id in named.efforts:
            named.efforts.remove(effort_id)
        named.efforts.append(effort_id)
        del named.efforts[:-8]
    state.put(key, named)


def named_by(state: State, index: Active, among: int, own: str, names: list[str], terms: list[str]) -> list[str]:
    """The efforts that a turn names, its own first; at most 8. What a name stands for in its session (the mask `among`)
    is meant first; elsewhere, a name that stands for more than two tells none. A word of a title names work, too."""
    found = {own: None} if own else {}
    if index.titles:
        for term in terms:
            mask = index.titles.get(term, 0)
            if mask and mask & (mask - 1) == 0 and CLASSES[term] >= ORDINARY:
                found[index.ids[mask.bit_length() - 1]] = None
    people = index.space.people
    for name in names:
        if name in people:  # who is spoken to, not what about
            continue
        mask = index.names.get(name, 0)
        if mask:
            mask = mask & among or mask
            if mask.bit_count() <= 2:
                for slot in slots_of(mask):
                    found[index.ids[slot]] = None
        elif (named := state.get(f"name/{name}", Named)) is not None and len(named.efforts) <= 2:
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


def main_of(state: State, session: str, segment: str) -> str:
    """The effort that most turns of one of a session's last segments belong to, the latest among equals."""
    found = state.get(f"session/{session}", Session) if segment else None
    best, most = "", 0
    if found is not None:
        for effort_id, turns in found.segments.get(segment, {}).items():
            if turns >= most:
                best, most = effort_id, turns
    return best


def report(state: State, space: str, session: str, at: int, effort_id: str, effort: Effort, out: list[Derived]) -> None:
    """What the effort is about so far. Its words are weighed anew when it has doubled: they rarely change. So is its
    title, but at every report while it is young: its first turns name it, what comes back to them tells how."""
    index = state.index(active)
    if effort.turns >= effort.due or not effort.told:
        effort.due = effort.turns + max(4, effort.turns)
        effort.told = telling(index, effort)
    if not effort.titled and (effort.turns <= YOUNG or not effort.topic):
        effort.topic = renamed(effort, index.space.people)
    state.put(f"effort/{effort_id}", effort)
    summary = "\n".join(filter(None, effort.summaries.values()))
    out.append(
        EffortProgressed(
            space, session, at, effort_id, effort.topic, summary, effort.told, effort.segments, effort.turns,
            effort.name,
        )
    )  # fmt: skip


def find(state: State, space: str, name: str, turn: str) -> str:
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
    return first if state.get(f"effort/{first}", Effort) is not None else ""


def count(session: Session, segment: str, effort_id: str) -> bool:
    """Another turn of a session's segment belongs to the effort; whether it is the first one."""
    efforts = session.segments.get(segment)
    if efforts is None:
        efforts = session.segments[segment] = {}
        if len(session.segments) > 4:
            del session.segments[next(iter(session.segments))]
    known = effort_id in efforts
    if not known and len(efforts) >= 8:
        del efforts[next(iter(efforts))]
    efforts[effort_id] = efforts.get(effort_id, 0) + 1
    return not known


def go_on(index: Active, name: str, session: Session, effort_id: str) -> None:
    """The effort is the session's current one."""
    if effort_id != session.effort:
        index.scenes.pop(name, None)
        session.effort = effort_id
        if effort_id in session.recent:
            session.recent.remove(effort_id)
        session.recent.append(effort_id)
        del session.recent[:-8]


def many(params: OpenEffortsParams, session: Session) -> bool:
    """Whether so many users speak that who answers whom tells more than words. Assistants answer whoever spoke last."""
    return len(session.users) >= (params.channel if session.helpers else params.crowd)


def meet(state: State, space: Space, name: str) -> None:
    """Someone speaks in the space."""
    name = name[:NAME]
    if name and name not in space.people:
        space.people[name] = None
        if len(space.people) > 64:
            del space.people[next(iter(space.people))]
        state.put("space", space)
