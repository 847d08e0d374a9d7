"""A turn finds its effort, and the effort takes it in."""

from __future__ import annotations

from processors.manifest import TurnFiled
from processors.open_efforts import passing
from processors.open_efforts.crowd import known_as, spoke
from processors.open_efforts.dialogue import chat, parting, works
from processors.open_efforts.events import EffortOpened, TurnRethreaded, TurnThreaded
from processors.open_efforts.index import Active, active, add, names_of, recently
from processors.open_efforts.matching import best
from processors.open_efforts.near import vector
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.placing import Placing, follow, look, place
from processors.open_efforts.records import RECENT, Effort, First, Said, Session, Speaker
from processors.open_efforts.second_look import doubtful, look_again
from processors.open_efforts.table import activate, count, give_name, go_on, named_by, reopen
from processors.open_efforts.topics import EXCERPT, FIRST, opening
from streams.core.events import TurnRecorded
from streams.core.processor import Derived, Raw, State, derived_id
from streams.core.text import Text
from streams.core.text.telling import excerpt

_NONE: list[str] = []
_TALK = ("user", "assistant")
WAITING = 4
"""Turns that wait for what follows, at most."""
ASKS = frozenset("?？")
_NOTHING: dict[str, float] = {}
"""Shared, never mutated."""


def thread(params: OpenEffortsParams, state: State, filed: TurnFiled, raw: Raw[TurnRecorded]) -> list[Derived]:
    """The turn goes to its effort, which opens or is resumed where need be."""
    out: list[Derived] = []
    index = state.index(active)
    event, text, segment = raw.event, raw.text, filed.segment
    role = event.role
    key = f"session/{event.session}"
    session = state.get(key, Session) or Session()
    terms = text.terms if len(text.terms) <= params.read else text.terms[: params.read]
    names = names_of(text.names) if text.names else _NONE
    turn: Placing | None = None
    score, similar = 1.0, _NOTHING
    if role == "user" or not session.users:
        turn = look(params, state, event, text, segment, index, session, terms, names)
        effort_id = place(params, state, turn)
        score, reason, similar = turn.score, turn.reason, turn.similar
    else:
        if session.weighed and role != "system":
            out += look_again(params, state, event, text, index, session)
        effort_id, reason = follow(state, event, index, session)
    if session.weighed:
        session.weighed, session.doubted = {}, []
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if turn is not None and not reason and not turn.small and (terms or names or (turn.crowd and text.calls)):
        effort_id, reason, effort = _open(state, turn, out)
    named = [effort_id] if effort_id else []
    if names or index.titles:
        named = named_by(state, index, index.scene(event.session, session).mask, effort_id, names, terms)
    said = Said(event.id, event.agent, effort_id, segment, terms, names, index.number, share=round(score, 3))
    if params.alike and role in _TALK:
        said.about = vector(event)
    if effort is not None:
        if effort.status == "concluded" and turn is not None and role == "user" and works(text, turn.small):
            reopen(effort, event, effort_id, event.id, "work", out)
            index.mark(effort_id, effort)
        _join(params, state, event, text, index, session, effort_id, effort, said)
    elif terms and role != "system":
        said.waits = excerpt(event.content, EXCERPT)
    _remember(state, index, said)
    if not effort_id:
        reason = "system" if role == "system" else "small-talk"
    ranked = dict(best(similar, 8)) if len(similar) > 1 else similar
    rounded = score if score == 1.0 else round(score, 6)
    out.append(
        TurnThreaded(
            event.space, event.session, event.at, event.id, effort_id,
            rounded, reason, named, [*ranked],
            [rounded if how == score else round(how, 6) for how in ranked.values()] if ranked else [],
        )
    )  # fmt: skip
    if turn is not None:
        if effort_id and role == "user" and turn.worth and (weighed := doubtful(turn.worth)):
            session.weighed, session.worked = weighed, works(text, turn.small)
            session.doubted = [*session.pending, event.id]
        if not effort_id or session.pending or (turn.speaker is not None and turn.speaker.pending):
            _wait(state, turn, effort_id, effort, out)
        if turn.speaker is not None:
            _spoke(turn.speaker, state, turn, effort_id)
    elif said.waits and role == "assistant" and 0 < len(session.pending) < WAITING:  # it takes no user's turn's place
        session.pending = [*session.pending, event.id]
    _leave(event, text.tokens, segment, index, session, effort_id)
    state.put(key, session)
    if effort_id and role == "user":
        passing.look(params, state, event, index, effort_id, out)
    return out


def _open(state: State, turn: Placing, out: list[Derived]) -> tuple[str, str, Effort]:
    """New work begins with the turn."""
    event = turn.event
    effort_id = derived_id("effort", event.space, event.id)
    waiting = (recently(state, turn.index, earlier) for earlier in _waiting(turn))
    before = [said.waits for said in waiting if said is not None and said.waits and not said.effort]
    topic = opening(event.content, turn.text, turn.names, turn.index.space.people, before[: FIRST - 1])
    if turn.speaker is not None:
        turn.speaker.began = effort_id
    out.append(EffortOpened(event.space, event.session, event.at, effort_id, event.id, "", topic, "unmatched"))
    state.put(f"first/{event.id}", First([effort_id]))
    return effort_id, "new", Effort(event.session, event.at, topic=topic)


def _remember(state: State, index: Active, said: Said) -> None:
    """Keeps the turn among the recent ones; the oldest of them is forgotten."""
    n = said.number
    key = f"turn/{n % RECENT}"
    if n >= RECENT:
        old = state.get(key, Said)
        if old is not None:
            index.turns.pop(old.turn, None)
    index.turns[said.turn] = n
    state.put(key, said)
    index.number = n + 1


def _spoke(speaker: Speaker, state: State, turn: Placing, effort_id: str) -> None:
    """Who spoke, to whom, and about what."""
    event = turn.event
    spoke(speaker, turn.other, turn.me, turn.name, event.at, turn.session.turns, effort_id or speaker.effort)
    state.put(f"speaker/{event.session}/{turn.me}", speaker)
    if turn.other is not None:
        state.put(f"speaker/{event.session}/{turn.name}", turn.other)


def _leave(event: TurnRecorded, tokens: int, segment: str, index: Active, session: Session, effort_id: str) -> None:
    """What the session remembers of the turn."""
    role = event.role
    session.turns += 1
    session.tokens += tokens
    if role != "system":
        session.last = effort_id
        if role != "user":
            session.helped = effort_id
    session.segment = segment
    session.speaker, session.by_user = event.agent, role == "user"
    session.asks = not ASKS.isdisjoint(event.content[-30:])
    if effort_id and effort_id != session.effort:
        go_on(index, event.session, session, effort_id)


def _join(
    params: OpenEffortsParams, state: State, event: TurnRecorded, text: Text, index: Active, session: Session,
    effort_id: str, effort: Effort, said: Said,
) -> None:  # fmt: skip
    """The turn is one of the effort's."""
    segment = said.segment
    effort.turns += 1
    if len(effort.first) < FIRST and said.terms:
        effort.first[event.id] = excerpt(event.content, EXCERPT)
        state.put(f"first/{event.id}", First([effort_id]))
    effort.at = event.at
    if effort.session != event.session:
        effort.session, effort.live = event.session, []  # Where it was left open in another session holds up no end.
    # Why here: nearly every turn goes on with the last active effort, and in its segment.
    slot = index.slots[effort_id] if effort_id == index.latest else activate(params, state, index, effort_id, effort)
    if event.role == "user":
        me = known_as(event.agent)
        if me not in effort.users and len(effort.users) < 8:
            effort.users[me] = None
        parted = bool(text.cues) and parting(text.cues, len(text.terms))
        if parted != effort.parted:
            effort.parted = parted
            index.mark(effort_id, effort)
    else:
        effort.asked, effort.asker = dict.fromkeys(said.terms), event.id
        index.asked[slot] = effort.asked
    turns = session.segments.get(segment)
    if turns is not None and effort_id in turns:
        turns[effort_id] += 1
    elif count(session, segment, effort_id):
        effort.segments += 1
        effort.live = [*(live for live in effort.live if live != segment), segment][-8:]
    if said.names:
        for name in said.names:
            if name not in effort.names:
                give_name(state, name, effort_id)
    add(index, slot, effort, said)
    state.put(f"effort/{effort_id}", effort)


def _waiting(turn: Placing) -> list[str]:
    """The turns that wait for what the turn's speaker says next."""
    if not turn.crowd and turn.session.pending:
        return turn.session.pending
    return [turn.speaker.pending] if turn.speaker is not None and turn.speaker.pending else []


def _wait(state: State, turn: Placing, effort_id: str, effort: Effort | None, out: list[Derived]) -> None:
    """A greeting, and what was answered to it, waits for what its speaker says next, and joins it."""
    event, session, speaker = turn.event, turn.session, turn.speaker
    if not effort_id:
        if event.role == "system" or chat(turn.text):
            return
        if turn.crowd and speaker is not None:
            speaker.pending = event.id
        elif event.role == "user" or turn.small or session.pending:
            session.pending = [*session.pending, event.id][-WAITING:]
        return
    waiting = _waiting(turn)
    if speaker is not None:
        speaker.pending = ""
    if not turn.crowd:
        session.pending = []
    if effort is None:
        return
    here = effort.first.pop(event.id, "")  # Comes behind what was said before it.
    for earlier in waiting:
        said = recently(state, turn.index, earlier)
        if said is not None and not said.effort:
            said.effort = effort_id
            effort.turns += 1
            if said.waits and len(effort.first) + bool(here) < FIRST:
                effort.first[earlier] = said.waits
                state.put(f"first/{earlier}", First([effort_id]))
            said.waits = ""
            state.put(f"turn/{turn.index.turns[earlier] % RECENT}", said)
            add(turn.index, turn.index.slots.get(effort_id), effort, said)
            out.append(TurnRethreaded(event.space, event.session, event.at, earlier, effort_id))
    if here:
        effort.first[event.id] = here
    state.put(f"effort/{effort_id}", effort)
