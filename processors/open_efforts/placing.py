"""Where a turn belongs: what was stated, else whom it answers where many speak, else the likeliest by its words."""

from __future__ import annotations

from dataclasses import dataclass, field

from processors.open_efforts.crowd import answered, called, known_as
from processors.open_efforts.dialogue import chat, evidence, shares, small_talk, worths
from processors.open_efforts.elsewhere import pointed
from processors.open_efforts.index import Active, Scene, recently
from processors.open_efforts.matching import alike
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import Effort, Session, Speaker
from processors.open_efforts.table import many, meet
from streams.core.events import MINUTE, TurnRecorded
from streams.core.processor import State
from streams.core.text import Text


@dataclass(slots=True)
class Placing:
    """A user's turn, or one before any user spoke, on its way to its effort."""

    event: TurnRecorded
    text: Text
    segment: str
    index: Active
    session: Session
    terms: list[str]
    names: list[str]
    small: bool
    me: str = ""
    comes: bool = False
    """Whether it is its speaker's first in the session."""
    crowd: bool = False
    speaker: Speaker | None = None
    """Kept where many speak, or no assistant."""
    other: Speaker | None = None
    """Whom the turn calls by name, where many speak."""
    name: str = ""
    similar: dict[str, float] = field(default_factory=dict)
    worth: dict[str, float] = field(default_factory=dict)
    """Of each candidate, where words decide."""
    score: float = 1.0
    reason: str = ""
    """What decided; "" where nothing fits and the turn may open an effort."""


def look(
    params: OpenEffortsParams, state: State, event: TurnRecorded, text: Text, segment: str, index: Active,
    session: Session, terms: list[str], names: list[str],
) -> Placing:  # fmt: skip
    """What the turn says, who says it, and to whom."""
    turn = Placing(event, text, segment, index, session, terms, names, small_talk(text))
    if event.role == "user":
        turn.me = me = known_as(event.agent)
        users = session.users
        if me not in users:
            turn.comes = True
            if len(users) < params.channel:
                users.append(me)
                meet(state, index.space, me)
        if len(users) > 1 or not session.helpers:
            _circle(params, state, turn)
    elif event.role == "assistant" and event.agent not in session.helpers:
        _helps(state, index, session, event.agent)
    return turn


def _circle(params: OpenEffortsParams, state: State, turn: Placing) -> None:
    """Whom the turn calls, where several users speak."""
    event, session = turn.event, turn.session
    turn.crowd = many(params, session)
    circle = len(session.users) >= params.crowd
    if circle or not session.helpers:
        turn.speaker = state.get(f"speaker/{event.session}/{turn.me}", Speaker) or Speaker()
    if circle:
        turn.name = called(state, event.session, turn.me, turn.text, turn.index.terms, params.common)
        turn.other = state.get(f"speaker/{event.session}/{turn.name}", Speaker) if turn.name else None
    if session.helpers:
        calls = any(call != turn.me and call in session.users for call in turn.text.calls)
        session.aside = calls or (session.aside and (turn.small or not turn.terms))


def _helps(state: State, index: Active, session: Session, agent: str) -> None:
    """Another assistant speaks."""
    if len(session.helpers) < 8:
        session.helpers.append(agent)
        meet(state, index.space, agent.lower())


def _stated(state: State, event: TurnRecorded, index: Active, declared: str) -> tuple[str, str]:
    """The effort that the turn's agent declared, or that of the turn it says it answers, and why; "" for none."""
    if declared and (effort := state.get(f"effort/{declared}", Effort)) and effort.status == "open":
        return declared, "declared"
    if event.reply_to and (said := recently(state, index, event.reply_to)) and said.effort:
        return said.effort, "reply"
    return "", ""


def follow(state: State, event: TurnRecorded, index: Active, session: Session) -> tuple[str, str]:
    """An assistant, a tool or the system: with the turn before, or with what users interrupted by a word aside."""
    if event.role == "assistant" and event.agent not in session.helpers:
        _helps(state, index, session, event.agent)
    if session.declared or event.reply_to:
        effort_id, reason = _stated(state, event, index, session.declared)
        if effort_id:
            return effort_id, reason
    if event.role == "system":
        return "", "system"
    return (session.helped if session.aside and session.helped else session.last), "turn-taking"


def place(params: OpenEffortsParams, state: State, turn: Placing) -> str:
    """The effort that the turn belongs to; "" for none yet, with a reason where it opens none."""
    event, session = turn.event, turn.session
    declared = (turn.speaker.declared if turn.speaker is not None else "") or session.declared
    if declared or event.reply_to:
        effort_id, turn.reason = _stated(state, event, turn.index, declared)
        if effort_id:
            return effort_id
    if event.role == "system":
        turn.reason = "system"
        return ""
    return _among_many(params, turn) if turn.crowd else _likeliest(params, state, turn)


def _among_many(params: OpenEffortsParams, turn: Placing) -> str:
    known = turn.speaker if turn.speaker is not None and turn.speaker.turn >= 0 else None
    effort_id, turn.reason = answered(known, turn.other, turn.name, turn.event.at, params)
    if turn.index.titles and turn.reason in ("", "speaker"):
        told = pointed(params, turn.index, turn.terms, [], 0)
        if len(told) == 1 and max(told.values()) >= params.named:
            effort_id, turn.reason = next(iter(told)), "words"
    turn.similar, _ = alike(turn.index, turn.terms, turn.names, params.name_weight, params.common, params.likely)
    return effort_id


def _likeliest(params: OpenEffortsParams, state: State, turn: Placing) -> str:
    """Staying, returning or beginning; what is likely at all is similar, too."""
    session, index, current = turn.session, turn.index, turn.session.effort
    scene = index.scene(turn.event.session, session)
    if turn.small and _only_talks(turn, scene):
        turn.reason = "small-talk"
        return ""
    if not turn.terms and not turn.names and "resume" not in turn.text.cues:
        turn.reason = "stay"  # A few words without a matter of their own answer what was said last.
        return session.last or current
    seen, similar = evidence(state, turn, scene, params.common, params.apart, params.alike)
    worth = worths(params, seen)
    if turn.speaker is not None:
        _called(params, turn.speaker, turn, worth)
    if (turn.names or index.titles) and (not scene.slots or turn.segment != session.segment):
        for effort_id, said in pointed(params, index, turn.terms, turn.names, scene.mask).items():
            if effort_id in worth:
                worth[effort_id] += said
    if turn.small or not (turn.terms or turn.names):
        del worth[""]
    found = shares(worth) if worth else {"": 1.0}
    turn.worth = worth
    chosen = _most(found, current)
    for effort_id, share in found.items():
        if (effort_id in similar or effort_id in scene.slots) and share > similar.get(effort_id, 0.0):
            similar[effort_id] = share
    turn.similar = {effort_id: share for effort_id, share in similar.items() if share >= params.likely}
    if current:
        _habit(params, session, chosen)
    turn.score = found[chosen]
    turn.reason = ("stay" if chosen == current else "words") if chosen else ""
    return chosen


def _only_talks(turn: Placing, scene: Scene) -> bool:
    """Small talk that belongs to nothing: about the weather, or before any work, or a greeting after work is done."""
    if not scene.slots or chat(turn.text):
        return True
    return "greeting" in turn.text.cues and bool(turn.index.done >> next(reversed(scene.slots.values())) & 1)


def _most(found: dict[str, float], current: str) -> str:
    """The likeliest; among equals the current effort, else the one worked on last, which stands last."""
    best_id, most = "", -1.0
    for effort_id, share in found.items():
        if share > most or (share == most and best_id != current):
            best_id, most = effort_id, share
    return best_id


def _called(params: OpenEffortsParams, me: Speaker, turn: Placing, worth: dict[str, float]) -> None:
    """A small circle with assistants: whom one calls, and who called one, tell something beside the words."""
    other, at = turn.other, turn.event.at
    if other is not None and other.effort in worth and at - other.at <= params.last * MINUTE:
        worth[other.effort] += params.calls
    if me.called_effort in worth and me.called_turn > me.turn and at - me.called_at <= params.called * MINUTE:
        worth[me.called_effort] += params.calls


def _habit(params: OpenEffortsParams, session: Session, chosen: str) -> None:
    """How often this session's user stays, fading."""
    if chosen == session.effort:
        session.stays += 1
    else:
        session.switches += 1
    if session.stays + session.switches > params.habit:
        session.stays, session.switches = session.stays // 2, session.switches // 2
