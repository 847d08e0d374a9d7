"""What is said about efforts from outside: declared, titled, closed, reopened, flagged, retracted."""

from __future__ import annotations

from collections.abc import Iterable

from processors.open_efforts import passing
from processors.open_efforts.crowd import known_as
from processors.open_efforts.events import EffortConcluded, EffortOpened, EffortRated, ReferenceMissed, TurnUnthreaded
from processors.open_efforts.index import Active, active, add, drop, names_of, post, recently, take
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import (
    RECENT,
    WORD,
    Effort,
    First,
    Named,
    Said,
    Session,
    Speaker,
    Summed,
)
from processors.open_efforts.table import (
    activate,
    conclude,
    find,
    give_name,
    go_on,
    many,
    reopen,
    report,
    take_name,
)
from processors.open_efforts.topics import TOPIC, retitled
from streams.core.events import (
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    OfferDeclined,
    TitleWritten,
    TurnRetracted,
)
from streams.core.processor import Derived, Raw, State, derived_id
from streams.core.text.commonness import LIGHT, rarity
from streams.core.text.terms import scan

_PATTERN = "closed"


def take_back(params: OpenEffortsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]) -> list[Derived]:
    """A retracted turn's words are no longer matched nor shown, and what it concluded is open again."""
    out: list[Derived] = []
    turn = fact.turn
    index = state.index(active)
    said = recently(state, index, turn)
    if said is None:
        return tell_again(state, fact, ())
    if said.retracted:
        return out
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
            reopen(effort, fact, said.effort, turn, "retracted", out)
        index.mark(said.effort, effort)
        state.put(f"effort/{said.effort}", effort)
    said.terms, said.names, said.waits, said.about, said.retracted = [], [], "", "", True
    state.put(key, said)
    if said.effort:
        out.append(TurnUnthreaded(fact.space, fact.session, fact.at, turn, said.effort))
    summed = state.get(f"summed/{said.segment}", Summed)
    return out + tell_again(state, fact, [said.effort, *(summed.efforts if summed is not None else ())])


def tell_again(state: State, fact: TurnRetracted, efforts: Iterable[str]) -> list[Derived]:
    """Efforts are told without a retracted turn: their summaries, their titles, which a model may have made of it, and
    their terms. Whichever of them it opened or may have named is among them."""
    out: list[Derived] = []
    first = state.get(f"first/{fact.turn}", First)
    state.delete(f"first/{fact.turn}")
    named = first.efforts if first is not None else []
    for effort_id in dict.fromkeys([*efforts, *named]):
        effort = state.get(f"effort/{effort_id}", Effort)
        if effort is None:
            continue
        effort.first.pop(fact.turn, None)
        if effort_id in named and not (effort.declared and effort.titled):
            effort.titled = False
            effort.topic = retitled(effort, state.index(active).space.people)
        if effort.turns or effort.told:
            effort.told = []
            report(state, fact.space, fact.session, fact.at, effort_id, effort, out)
        else:
            state.put(f"effort/{effort_id}", effort)
    return out


def declare(params: OpenEffortsParams, state: State, fact: EffortDeclared, raw: Raw[EffortDeclared]) -> list[Derived]:
    """The agent says what it works on: a new effort, one it named before, or that of a turn."""
    out: list[Derived] = []
    index = state.index(active)
    effort_id = find(state, fact.space, fact.name, "") or find(state, fact.space, "", fact.turn)
    if not effort_id and not fact.name and not fact.topic:
        return [_missed(fact)]
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        effort_id = derived_id("effort", fact.space, fact.id)
        effort = Effort(fact.session, fact.at, fact.name, (fact.topic or fact.name)[:TOPIC], True, declared=True)
        out.append(
            EffortOpened(fact.space, fact.session, fact.at, effort_id, fact.turn, fact.name, effort.topic, "declared")
        )
    else:
        if effort.status == "concluded":
            reopen(effort, fact, effort_id, fact.turn, "declared", out)
        effort.declared = True
        effort.name = fact.name or effort.name
        if fact.topic or (fact.name and not effort.titled):
            effort.topic, effort.titled = (fact.topic or fact.name)[:TOPIC], True
        if fact.topic or fact.name:
            report(state, fact.space, fact.session, fact.at, effort_id, effort, out)
    if fact.name:
        state.put(f"declared/{fact.name.lower()}", Named([effort_id]))
    activate(params, state, index, effort_id, effort)
    _titled(state, index, effort_id, effort, fact)
    index.mark(effort_id, effort)
    state.put(f"effort/{effort_id}", effort)
    _assign(params, state, fact, effort_id)
    return out


def entitle(params: OpenEffortsParams, state: State, fact: TitleWritten, raw: Raw[TitleWritten]) -> list[Derived]:
    """A model's title for the effort of some turns stays; an agent's own word outranks it.

    It is shown, never matched: no word of a model decides where a turn goes.
    """
    out: list[Derived] = []
    effort_id = _of_all(state, fact)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    topic = " ".join(fact.title.split())
    if effort is None or not topic or (effort.declared and effort.titled):
        return [_missed(fact)]
    effort.topic, effort.titled = topic, True
    report(state, fact.space, fact.session, fact.at, effort_id, effort, out)
    return out


def _of_all(state: State, fact: TitleWritten) -> str:
    """The effort that all turns belong to which a title was made of; "" where one is not of it, or was retracted.

    Turns that lie too far back to be remembered are believed where the first of them opened the effort.
    """
    index = state.index(active)
    effort_id = find(state, fact.space, "", fact.turns[0])
    for turn in fact.turns:
        said = recently(state, index, turn)
        if (said is None and index.number <= RECENT) or (said and (said.retracted or said.effort != effort_id)):
            return ""
    return effort_id


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
    add(index, slot, effort, Said("", "", "", "", words.terms, names))


def _assign(params: OpenEffortsParams, state: State, fact: EffortDeclared, effort_id: str) -> None:
    """From now on the declaring agent's turns go to the effort; the whole session's where few speak."""
    session = state.get(f"session/{fact.session}", Session) or Session()
    said = recently(state, state.index(active), fact.turn)
    if said is not None and many(params, session):
        key = f"speaker/{fact.session}/{known_as(said.agent)}"
        speaker = state.get(key, Speaker) or Speaker()
        speaker.declared = effort_id
        state.put(key, speaker)
        return
    session.declared = effort_id
    state.put(f"session/{fact.session}", session)


Marking = EffortClosed | EffortReopened | ImportanceFlagged


def mark(params: OpenEffortsParams, state: State, fact: Marking, raw: Raw[Marking]) -> list[Derived]:
    """The agent closes or reopens an effort, or a user flags it."""
    out: list[Derived] = []
    effort_id = find(state, fact.space, "" if isinstance(fact, ImportanceFlagged) else fact.name, fact.turn)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        return [_missed(fact)]
    if isinstance(fact, ImportanceFlagged):
        if effort.importance != fact.importance:
            effort.importance = fact.importance
            out.append(EffortRated(fact.space, fact.session, fact.at, effort_id, fact.importance))
    elif isinstance(fact, EffortReopened):
        passing.reopened(state, state.index(active), effort_id)
        if effort.status == "concluded":
            index = state.index(active)
            reopen(effort, fact, effort_id, fact.turn, "reopened", out)
            session = state.get(f"session/{fact.session}", Session) or Session()
            go_on(index, fact.session, session, effort_id)
            session.last = effort_id
            state.put(f"session/{fact.session}", session)
    elif effort.status == "open":
        conclusion = fact.conclusion[:2000]
        done = EffortConcluded(fact.space, fact.session, fact.at, effort_id, fact.turn, _PATTERN, conclusion)
        out.append(conclude(state, state.index(active), effort, "", done))
    state.index(active).mark(effort_id, effort)
    state.put(f"effort/{effort_id}", effort)
    return out


def decline(params: OpenEffortsParams, state: State, fact: OfferDeclined, raw: Raw[OfferDeclined]) -> list[Derived]:
    """An agent says that a turn ended nothing: what it ended is open again, and what may have been waits no longer."""
    out: list[Derived] = []
    passing.deny(state, fact.turn)
    effort_id = find(state, fact.space, "", fact.turn)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is not None and effort.status == "concluded" and effort.ended == fact.turn:
        reopen(effort, fact, effort_id, fact.turn, "reopened", out)
        state.index(active).mark(effort_id, effort)
        state.put(f"effort/{effort_id}", effort)
    return out


def _missed(fact: EffortDeclared | TitleWritten | Marking) -> ReferenceMissed:
    name = "" if isinstance(fact, ImportanceFlagged | TitleWritten) else fact.name
    turn = fact.turns[0] if isinstance(fact, TitleWritten) else fact.turn
    return ReferenceMissed(fact.space, fact.session, fact.at, fact.type, name, turn)
