"""What is said about efforts from outside: declared, closed, reopened, flagged, retracted."""

from __future__ import annotations

from processors.manifest import FactFiled
from processors.open_efforts.crowd import known_as
from processors.open_efforts.events import EffortConcluded, EffortOpened, EffortRated, FactThreaded, ReferenceMissed
from processors.open_efforts.index import Active, active, add, drop, names_of, post, take
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import (
    RECENT,
    WORD,
    Effort,
    Named,
    Said,
    Session,
    Speaker,
)
from processors.open_efforts.table import activate, find, give_name, go_on, many, recently, reopen, report, take_name
from processors.open_efforts.topics import TOPIC
from streams.events import (
    ClockTicked,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRetracted,
)
from streams.processor import Derived, State, derived_id
from streams.text.commonness import LIGHT, rarity
from streams.text.terms import scan

_PATTERN = "closed"


def concern(params: OpenEffortsParams, state: State, event: FactFiled, out: list[Derived]) -> None:
    """Does what the fact says; passes on what descendants need."""
    match event.fact:
        case SessionEnded() | ClockTicked() as fact:
            out.append(FactThreaded(event.space, event.session, event.at, "", fact))
        case TurnRetracted() as retracted:
            effort_id = _take_back(state, event, retracted.turn, out)
            out.append(FactThreaded(event.space, event.session, event.at, effort_id, retracted))
        case EffortDeclared() as declared:
            _declare(params, state, event, declared, out)
        case EffortClosed() | EffortReopened() | ImportanceFlagged() as fact:
            _mark(state, event, fact, out)
        case OfferDeclined() | SummaryWritten() | NoteTaken() | NoteSettled():
            pass


def _take_back(state: State, event: FactFiled, turn: str, out: list[Derived]) -> str:
    """A retracted turn's words are no longer matched, what it concluded is open; gives the effort it belonged to."""
    index = state.index(active)
    said = recently(state, index, turn)
    if said is None:
        return ""
    key = f"turn/{index.turns[turn] % RECENT}"
    effort = state.get(f"effort/{said.effort}", Effort) if said.effort else None
    if effort is None:
        said.turn = ""  # It waits no longer for what follows.
        del index.turns[turn]
    else:
        take(index, said.effort, effort, said)
        effort.turns = max(0, effort.turns - 1)
        if effort.asker == turn:
            effort.asked = {}
        for name in said.names:
            if name not in effort.names:
                take_name(state, name, said.effort)
        if effort.ended == turn:
            reopen(effort, event, said.effort, turn, "retracted", out)
        index.mark(said.effort, effort)
        state.put(f"effort/{said.effort}", effort)
    said.terms, said.names = [], []
    state.put(key, said)
    return said.effort


def _declare(
    params: OpenEffortsParams, state: State, event: FactFiled, fact: EffortDeclared, out: list[Derived]
) -> None:
    """The agent says what it works on: a new effort, one it named before, or that of a turn."""
    index = state.index(active)
    effort_id = find(state, event.space, event.session, fact.name, "", "") or find(
        state, event.space, event.session, "", fact.turn, event.segment
    )
    if not effort_id and not fact.name and not fact.topic:
        _missed(event, fact, out)
        return
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        effort_id = derived_id("effort", event.space, fact.id)
        effort = Effort(event.session, event.at, fact.name, (fact.topic or fact.name)[:TOPIC], True, declared=True)
        out.append(
            EffortOpened(
                event.space, event.session, event.at, effort_id, fact.turn, fact.name, effort.topic, "declared"
            )
        )
    else:
        if effort.status == "concluded":
            reopen(effort, event, effort_id, fact.turn, "declared", out)
        effort.declared = True
        effort.name = fact.name or effort.name
        if fact.topic or (fact.name and not effort.titled):
            effort.topic, effort.titled = (fact.topic or fact.name)[:TOPIC], True
        if fact.topic or fact.name:
            report(state, event.space, event.session, event.at, effort_id, effort, out)
    if fact.name:
        state.put(f"declared/{fact.name.lower()}", Named([effort_id]))
    activate(params, state, index, effort_id, effort)
    _titled(state, index, effort_id, effort, fact)
    index.mark(effort_id, effort)
    state.put(f"effort/{effort_id}", effort)
    _assign(params, state, event, fact, effort_id)


def _titled(state: State, index: Active, effort_id: str, effort: Effort, fact: EffortDeclared) -> None:
    """The words of an effort's own name and topic are matched like those of its turns."""
    words = scan(f"{fact.name} {fact.topic}")
    names = [name for name in dict.fromkeys([fact.name.lower(), *words.names]) if name]
    names = names_of(names) if names else names
    for name in names:
        give_name(state, name, effort_id)
    slot = index.slots[effort_id]
    drop(index.titles, effort.title, slot)
    told = (term for term in dict.fromkeys([*words.terms, *effort.title]) if len(term) <= WORD)
    effort.title = [term for term in told if rarity(term) != LIGHT][:8]
    post(index.titles, effort.title, slot)
    add(index, slot, effort, Said("", "", "", "", words.terms, names), words.forms)


def _assign(params: OpenEffortsParams, state: State, event: FactFiled, fact: EffortDeclared, effort_id: str) -> None:
    """From now on the declaring agent's turns go to the effort; the whole session's where few speak."""
    session = state.get(f"session/{event.session}", Session) or Session()
    said = recently(state, state.index(active), fact.turn)
    if said is not None and many(params, session):
        key = f"speaker/{event.session}/{known_as(said.agent)}"
        speaker = state.get(key, Speaker) or Speaker()
        speaker.declared = effort_id
        state.put(key, speaker)
        return
    session.declared = effort_id
    state.put(f"session/{event.session}", session)


def _mark(
    state: State, event: FactFiled, fact: EffortClosed | EffortReopened | ImportanceFlagged, out: list[Derived]
) -> None:
    name = "" if isinstance(fact, ImportanceFlagged) else fact.name
    effort_id = find(state, event.space, event.session, name, fact.turn, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        _missed(event, fact, out)
        return
    if isinstance(fact, ImportanceFlagged):
        if effort.importance != fact.importance:
            effort.importance = fact.importance
            out.append(EffortRated(event.space, event.session, event.at, effort_id, fact.importance))
    elif isinstance(fact, EffortReopened):
        if effort.status == "concluded":
            index = state.index(active)
            reopen(effort, event, effort_id, fact.turn, "reopened", out)
            session = state.get(f"session/{event.session}", Session) or Session()
            go_on(index, event.session, session, effort_id)
            session.last = effort_id
            state.put(f"session/{event.session}", session)
    elif effort.status == "open":
        effort.status, effort.ended = "concluded", ""
        effort.live = []
        out.append(
            EffortConcluded(
                event.space, event.session, event.at, effort_id, fact.turn, _PATTERN, fact.conclusion[:2000]
            )
        )
    state.index(active).mark(effort_id, effort)
    state.put(f"effort/{effort_id}", effort)


def _missed(
    event: FactFiled, fact: EffortDeclared | EffortClosed | EffortReopened | ImportanceFlagged, out: list[Derived]
) -> None:
    name = "" if isinstance(fact, ImportanceFlagged) else fact.name
    out.append(ReferenceMissed(event.space, event.session, event.at, fact.type, name, fact.turn))
