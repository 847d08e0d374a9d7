"""A turn finds its effort, and the effort takes it in."""

from __future__ import annotations

from dataclasses import dataclass, field

from processors.manifest import TurnFiled
from processors.open_efforts.crowd import answered, called, known_as, spoke
from processors.open_efforts.dialogue import Candidate, beginning, chat, parting, shares, small_talk, works, worths
from processors.open_efforts.events import EffortOpened, TurnRethreaded, TurnThreaded
from processors.open_efforts.matching import alike, best
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import (
    RECENT,
    WORD,
    Active,
    Effort,
    Said,
    Segment,
    Session,
    Space,
    Speaker,
    active,
    add,
)
from processors.open_efforts.table import TOPIC, activate, give_name, named_by, recently, reopen
from streams.processor import Derived, State, derived_id, r6


@dataclass(slots=True)
class _Turn:
    """A turn on its way to its effort."""

    event: TurnFiled
    index: Active
    session: Session
    terms: list[str]
    names: list[str]
    me: str
    speaker: Speaker
    crowd: bool
    small: bool
    other: Speaker | None = None
    """Whom the turn calls by name, where many speak."""
    name: str = ""
    similar: dict[str, float] = field(default_factory=dict)
    score: float = 1.0
    reason: str = ""


def thread(params: OpenEffortsParams, state: State, event: TurnFiled, out: list[Derived]) -> None:
    """The turn goes to its effort, which opens or is resumed where need be."""
    turn = _look(params, state, event)
    effort_id = _place(params, state, turn)
    if not effort_id and not turn.small and event.role != "system" and turn.reason != "turn-taking":
        effort_id, turn.reason, turn.score = derived_id("effort", event.space, event.turn), "new", 1.0
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort_id and effort is None:
        topic = " ".join(dict.fromkeys(turn.names[:2] + turn.terms[:6]))[:TOPIC]
        effort = Effort(event.session, event.at, topic=topic)
        turn.speaker.began = effort_id
        out.append(EffortOpened(event.space, event.session, event.at, effort_id, event.turn, "", topic, "unmatched"))
    counts = event.text.counts[: len(turn.terms)]
    said = Said(event.turn, event.session, event.agent, effort_id, event.segment, turn.terms, counts, turn.names)
    space = state.get("space", Space) or Space()
    if effort is not None:
        if effort.status == "concluded" and event.role == "user" and works(event.text, turn.small):
            reopen(effort, event, effort_id, event.turn, "work", out)
        _join(params, state, turn, space, effort_id, effort, said)
    _remember(state, turn.index, space, said)
    ranked = best(turn.similar, 8)
    own = [effort_id] if effort_id else []
    out.append(
        TurnThreaded(
            event.space, event.session, event.at, event.turn, event.agent, event.role, event.segment, effort_id,
            r6(turn.score), turn.reason if effort_id else "system" if event.role == "system" else "small-talk",
            named_by(state, own, turn.names) if turn.names else own,
            [key for key, _ in ranked], [r6(value) for _, value in ranked], event.text,
        )
    )  # fmt: skip
    _wait(state, turn, effort_id, effort, out)
    _leave(state, turn, effort_id)


def _look(params: OpenEffortsParams, state: State, event: TurnFiled) -> _Turn:
    """What the turn says, who says it, and to whom."""
    index = state.index(active)
    text = event.text
    session = state.get(f"session/{event.session}", Session) or Session()
    me = known_as(event.agent)
    user = event.role == "user"
    if user and len(session.users) < params.crowd and me not in session.users:
        session.users.append(me)
    crowd = len(session.users) >= params.crowd
    names = [name for name in text.names if len(name) <= WORD] if text.names else []
    speaker = state.get(f"speaker/{event.session}/{me}", Speaker) or Speaker()
    turn = _Turn(event, index, session, text.terms[: params.read], names, me, speaker, crowd, small_talk(text))
    if crowd and user:
        turn.name = called(state, event.session, me, text, index.terms, params.common)
        turn.other = state.get(f"speaker/{event.session}/{turn.name}", Speaker) if turn.name else None
    if user or not session.users:
        turn.similar = alike(index, turn.terms, names, params.name_weight, params.common, params.likely)
    return turn


def _place(params: OpenEffortsParams, state: State, turn: _Turn) -> str:
    """The effort that the turn belongs to; "" for none yet."""
    event, session = turn.event, turn.session
    for declared in (turn.speaker.declared, session.declared):
        if declared and (effort := state.get(f"effort/{declared}", Effort)) and effort.status == "open":
            turn.reason = "declared"
            return declared
    if event.reply_to and (said := recently(state, turn.index, event.reply_to)) and said.effort:
        turn.reason = "reply"
        return said.effort
    if event.role == "system":
        return ""
    if turn.crowd and event.role == "user":
        known = turn.speaker if turn.speaker.turn >= 0 else None
        effort_id, turn.reason = answered(known, turn.other, turn.name, event.at, params)
        return effort_id
    if event.role != "user" and session.users:
        turn.reason = "turn-taking"
        return session.last
    return _likeliest(params, state, turn)


def _likeliest(params: OpenEffortsParams, state: State, turn: _Turn) -> str:
    """Staying, returning or beginning; what is likely at all is similar, too."""
    event, session, similar, cues = turn.event, turn.session, turn.similar, turn.event.text.cues
    candidates = [
        Candidate(effort_id, effort, effort.parted or effort.status == "concluded")
        for effort_id in session.recent
        if (effort := state.get(f"effort/{effort_id}", Effort)) is not None
    ]
    if turn.small and (not candidates or ("greeting" in cues and candidates[-1].done) or chat(event.text)):
        return ""
    worth = worths(
        params, candidates, session.effort, event.segment != session.segment, session.stays, session.switches,
        turn.terms, turn.names, cues,
    )  # fmt: skip
    resumes = params.resumes if "resume" in cues else 0.0
    for effort_id, value in best(similar, 3):
        if effort_id not in worth:
            worth[effort_id] = params.like * value - params.elsewhere + resumes
    if not turn.small:
        worth[""] = beginning(params, cues, bool(candidates), turn.speaker.turn < 0)
    found = shares(worth)
    chosen = max(found, key=lambda key: (found[key], key == session.effort, key))
    for effort_id, share in found.items():
        if effort_id and share >= params.likely and share > similar.get(effort_id, 0.0):
            similar[effort_id] = share
    _habit(params, session, chosen)
    turn.score, turn.reason = found[chosen], "stay" if chosen == session.effort else "words"
    return chosen


def _habit(params: OpenEffortsParams, session: Session, chosen: str) -> None:
    """How often this session's user stays, fading."""
    if session.effort:
        if chosen == session.effort:
            session.stays += 1
        else:
            session.switches += 1
        if session.stays + session.switches > params.habit:
            session.stays, session.switches = session.stays // 2, session.switches // 2


def _remember(state: State, index: Active, space: Space, said: Said) -> None:
    """Keeps the turn among the recent ones; the oldest of them is forgotten."""
    n = space.turns
    key = f"turn/{n % RECENT}"
    if n >= RECENT:
        old = state.get(key, Said)
        if old is not None:
            index.turns.pop(old.turn, None)
    index.turns[said.turn] = n
    state.put(key, said)
    space.turns = n + 1
    state.put("space", space)


def _leave(state: State, turn: _Turn, effort_id: str) -> None:
    """What the session and its speakers remember of the turn."""
    event, session = turn.event, turn.session
    if event.role == "user":
        spoke(turn.speaker, turn.other, turn.me, turn.name, event.at, session.turns, effort_id or turn.speaker.effort)
        state.put(f"speaker/{event.session}/{turn.me}", turn.speaker)
        if turn.other is not None:
            state.put(f"speaker/{event.session}/{turn.name}", turn.other)
    session.turns += 1
    if event.role != "system":
        session.last = effort_id
    session.segment = event.segment
    if effort_id and effort_id != session.effort:
        session.effort = effort_id
        if effort_id in session.recent:
            session.recent.remove(effort_id)
        session.recent.append(effort_id)
        del session.recent[:-8]
    state.put(f"session/{event.session}", session)


def _join(
    params: OpenEffortsParams, state: State, turn: _Turn, space: Space, effort_id: str, effort: Effort, said: Said
) -> None:
    """The turn is one of the effort's."""
    event = turn.event
    effort.turns += 1
    effort.at = event.at
    effort.session = event.session
    space.touched += 1
    effort.seen = space.touched
    if event.role == "user":
        effort.parted = parting(event.text.cues, len(event.text.terms))
    else:
        effort.asked = dict(zip(said.terms, said.counts, strict=False))
    key = f"segment/{event.segment}"
    segment = state.get(key, Segment) or Segment()
    if effort_id not in segment.efforts:
        effort.segments += 1
        effort.live = [*(live for live in effort.live if live != event.segment), event.segment][-8:]
        if len(segment.efforts) >= 8:
            del segment.efforts[next(iter(segment.efforts))]
    segment.efforts[effort_id] = segment.efforts.get(effort_id, 0) + 1
    state.put(key, segment)
    activate(params, state, turn.index, effort_id, effort)
    for name in said.names:
        if name not in effort.names:
            give_name(state, name, effort_id)
    add(turn.index, effort_id, effort, said)
    state.put(f"effort/{effort_id}", effort)


def _wait(state: State, turn: _Turn, effort_id: str, effort: Effort | None, out: list[Derived]) -> None:
    """A greeting waits for what its speaker says next, and joins it."""
    event, session, speaker = turn.event, turn.session, turn.speaker
    if not effort_id:
        if event.role == "system" or chat(event.text):
            return
        if turn.crowd:
            speaker.pending = event.turn
        elif turn.small or session.pending:
            session.pending = [*session.pending, event.turn][-4:]
        return
    if not speaker.pending and not session.pending:
        return
    waiting = [speaker.pending] if speaker.pending else []
    speaker.pending = ""
    if not turn.crowd and session.pending:
        waiting, session.pending = session.pending, []
    for earlier in waiting:
        said = recently(state, turn.index, earlier)
        if said is not None and not said.effort and effort is not None:
            said.effort = effort_id
            state.put(f"turn/{turn.index.turns[earlier] % RECENT}", said)
            effort.turns += 1
            add(turn.index, effort_id, effort, said)
            out.append(TurnRethreaded(event.space, event.session, event.at, earlier, effort_id))
