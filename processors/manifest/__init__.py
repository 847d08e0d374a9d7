"""Manifest: cuts each session into topically coherent segments and detects conclusions.

Online: a turn opens a segment when its departure (see boundary) scores above `cut`, after a long pause, or when the
session was over. What a segment is about is kept as evidence and summarized as it grows and when it closes (see
summary). Source: Cognitive Context Management, tier 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pydantic import field_validator

from processors.manifest.boundary import LAST, NOW, OPENERS, SEEN, Trail, Weights, judge, keep, pause
from processors.manifest.conclusion import ArtifactMade as ArtifactMade
from processors.manifest.conclusion import ConclusionDetected as ConclusionDetected
from processors.manifest.conclusion import ConclusionOffered as ConclusionOffered
from processors.manifest.conclusion import ConclusionParams, Settling, draw, settle
from processors.manifest.conclusion import OfferSettled as OfferSettled
from processors.manifest.conclusion import SegmentConcluded as SegmentConcluded
from processors.manifest.summary import Evidence, forget, gather, summarize
from streams.events import (
    ClockTicked,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    Fact,
    ImportanceFlagged,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRecorded,
    TurnRetracted,
)
from streams.processor import CARRIED, ROOT, Derived, Processor, State, derived_id, param
from streams.text import FactRead, Root, Text, TurnRead

SessionFact = (
    TurnRetracted
    | EffortDeclared
    | EffortClosed
    | EffortReopened
    | OfferDeclined
    | ImportanceFlagged
    | SessionEnded
    | SummaryWritten
)
"""Facts about a session, which are passed on."""


@dataclass(slots=True)
class SegmentOpened:
    """A new segment begins with this turn."""

    space: str
    session: str
    at: int
    segment: str
    turn: str
    score: float
    """How strongly the turn departs from what came before, 0 to 1."""
    reason: str
    """What decided: first, cue, shift, gap, ..."""
    type: Literal["segment-opened.v1"] = "segment-opened.v1"


@dataclass(slots=True)
class TurnFiled:
    """A turn belongs to a segment. One for each turn."""

    space: str
    session: str
    at: int
    turn: str
    agent: str
    role: str
    reply_to: str
    segment: str
    text: Text = field(metadata=CARRIED)
    type: Literal["turn-filed.v1"] = "turn-filed.v1"


@dataclass(slots=True)
class TurnRefiled:
    """A revision: a recent turn belongs to another segment than first thought."""

    space: str
    session: str
    at: int
    turn: str
    segment: str
    type: Literal["turn-refiled.v1"] = "turn-refiled.v1"


@dataclass(slots=True)
class SegmentSummarized:
    """What a segment is about so far: a retrieval cue. Written again as it grows, and last when it closes."""

    space: str
    session: str
    at: int
    segment: str
    first_turn: str
    last_turn: str
    turns: int
    tokens: int
    """Of the raw turns."""
    summary: str
    """At most about 100 tokens: what was asked, found, decided."""
    terms: list[str]
    """The most telling terms, best first."""
    closed: bool
    """Whether no further turn will come to it."""
    type: Literal["segment-summarized.v1"] = "segment-summarized.v1"


@dataclass(slots=True)
class FactFiled:
    """An outside fact that descendants need, passed on."""

    space: str
    session: str
    at: int
    segment: str
    """The segment of the turn it names, where that is known."""
    fact: Fact = field(metadata=CARRIED)
    type: Literal["fact-filed.v1"] = "fact-filed.v1"


class ManifestParams(ConclusionParams):
    """How sessions are cut and conclusions drawn."""

    cut: float = param(
        0.25, "score 0..1", "a turn whose departure scores above this opens a segment; best for chats and work alike",
        ge=0, le=1,
    )  # fmt: skip
    weights: dict[str, float] = param(
        SEEN, "log odds", "what is seen in a turn besides its cues, and how much it speaks for a boundary",
        source="regression over chats, technical threads and task dialogues; see boundary",
    )  # fmt: skip
    cues: dict[str, float] = param(
        NOW, "log odds", "how much a cue in the turn speaks for a boundary", source="as weights"
    )
    last_cues: dict[str, float] = param(
        LAST, "log odds", "how much a cue in the turn before speaks for a boundary", source="as weights"
    )
    too_soon: float = param(
        0.6, "log odds", "taken off a turn right after a boundary: segments of one turn are rare", ge=0
    )
    pause: float = param(8.0, "hours", "a night: what follows a longer pause in a session is a new segment", gt=0)
    concluded: float = param(
        1.5, "log odds", "added once the segment is concluded: the next turn with a topic begins a new one", ge=0
    )
    seen: int = param(
        64,
        "terms",
        "a session's last used terms and names, up to twice as many: its last 10 to 20 turns",
        ge=8,
        le=128,
    )
    recent: int = param(8, "turns", "a session's last turns, which facts about a turn are filed with", ge=2, le=32)
    growth: float = param(
        2.0,
        "factor",
        "a segment is summarized anew when it is so many times as long as at its last summary",
        gt=1,
        le=8,
    )
    summary: int = param(100, "tokens", "a retrieval cue", source="Cognitive Context Management, tier 2", ge=20, le=400)
    asked: int = param(2, "sentences", "questions and requests kept of a segment: what it set out to do", ge=1, le=4)
    sentence: int = param(
        10, "tokens", "a kept sentence is clipped to this, so that telling words fit beside it", ge=4, le=40
    )
    words: int = param(96, "terms", "terms kept of an open segment", ge=16, le=160)
    terms: int = param(12, "terms", "the most telling terms that a summary names", ge=1, le=32)

    @field_validator("weights")
    @classmethod
    def _complete(cls, weights: dict[str, float]) -> dict[str, float]:
        """A weight that is not given is the default one; an unknown one is an error."""
        if unknown := sorted(weights.keys() - SEEN.keys()):
            raise ValueError(f"unknown weights: {', '.join(unknown)}; known are {', '.join(SEEN)}")
        return {**SEEN, **weights}


@dataclass(slots=True)
class Session:
    """State, `session/<id>`: where a session stands. Its trail and its segment's evidence are records of their own."""

    segment: str
    turns: int = 0
    """Of the segment, tool and system turns too."""
    recent: list[list[str]] = field(default_factory=list)
    """Turn and segment of the last turns, oldest first."""
    concluded: bool = False
    """Whether the segment is concluded: the next turn with a topic begins a new one."""
    ended: bool = False
    """Whether the session is over; a later turn begins a new segment."""


TALK = ("user", "assistant")
"""Roles that converse; tool and system turns belong to what they come in."""


def step(params: ManifestParams, state: State, event: Root) -> list[Derived]:
    """Files a turn into its segment; passes on what descendants need."""
    match event:
        case TurnRead():
            return _turn(params, state, event)
        case FactRead(fact=fact):
            return _fact(params, state, fact)


def _turn(params: ManifestParams, state: State, event: TurnRead) -> list[Derived]:
    turn, text = event.turn, event.text
    key = turn.session
    session = state.get(f"session/{key}", Session)
    trail = state.get(f"trail/{key}", Trail) or Trail()
    out: list[Derived] = []
    refiled: list[Derived] = []
    score, reason = (1.0, "first") if session is None else _departure(params, session, trail, event)
    evidence = state.get(f"open/{key}", Evidence)
    if session is None or evidence is None or reason:
        segment = derived_id("segment", turn.space, turn.id)
        begun = Evidence(segment, turn.id, turn.id, due=2)
        if session is None:
            session = Session(segment)
        else:
            if reason in ("cue", "shift", "concluded") and trail.lead and evidence is not None:
                refiled = _lead_in(turn, session, trail, evidence, begun)
            out += _summary(params, state, turn.space, key, turn.at, closed=True)
            session = Session(segment, begun.turns, session.recent)
        evidence = begun
        out.append(SegmentOpened(turn.space, key, turn.at, segment, turn.id, score, reason))
    session.turns += 1
    session.recent.append([turn.id, session.segment])
    del session.recent[: -params.recent]
    out.append(
        TurnFiled(turn.space, key, turn.at, turn.id, turn.agent, turn.role, turn.reply_to, session.segment, text)
    )
    out += refiled
    gather(evidence, turn.id, turn.content, text, params.asked, params.sentence, params.words)
    if turn.role in TALK:
        keep(trail, turn.at, turn.role, turn.agent, text, params.seen)
        state.put(f"trail/{key}", trail)
    elif trail.lead:
        trail.lead = 0
        state.put(f"trail/{key}", trail)
    if drawn := draw(params, state, turn, text, session.segment):
        out += drawn
        session.concluded = session.concluded or any(isinstance(event, SegmentConcluded) for event in drawn)
    state.put(f"session/{key}", session)
    state.put(f"open/{key}", evidence)
    if evidence.turns >= evidence.due:
        evidence.due = max(evidence.turns + 1, int(evidence.turns * params.growth))
        out += _summary(params, state, turn.space, key, turn.at, closed=False)
    return out


def _lead_in(turn: TurnRecorded, session: Session, trail: Trail, last: Evidence, begun: Evidence) -> list[Derived]:
    """Moves the turns that only led in to this one ("one more thing" - "yes?") to the segment it begins."""
    moved = session.recent[-trail.lead :]
    kept = session.recent[: -trail.lead]
    if not kept or last.turns <= trail.lead:
        return []
    last.turns -= trail.lead
    last.tokens -= trail.lead_tokens
    last.last_turn = kept[-1][0]
    begun.first_turn = moved[0][0]
    begun.turns, begun.tokens = trail.lead, trail.lead_tokens
    for place in moved:
        place[1] = begun.segment
    return [TurnRefiled(turn.space, turn.session, turn.at, moved_turn, begun.segment) for moved_turn, _ in moved]


def _departure(params: ManifestParams, session: Session, trail: Trail, event: TurnRead) -> tuple[float, str]:
    """How strongly a turn departs, and why it opens a segment; the reason is "" where it opens none."""
    turn, text = event.turn, event.text
    if session.ended:
        return 1.0, "session"
    if turn.role not in TALK or trail.turns == 0:
        return 0.0, ""
    if pause(trail, turn.at, params.pause):
        return 1.0, "gap"
    if 0 < trail.lead >= session.turns:
        return 0.0, ""
    other = -params.too_soon if session.turns < 2 else 0.0
    if session.concluded and (len(text.terms) > 2 or not OPENERS.isdisjoint(text.cues)):
        other += params.concluded
    weights = Weights(params.weights, params.cues, params.last_cues)
    score = judge(weights, trail, turn.role, turn.agent, text, other)
    if score <= params.cut:
        return score, ""
    return score, "concluded" if session.concluded else "cue" if not OPENERS.isdisjoint(text.cues) else "shift"


def _summary(
    params: ManifestParams, state: State, space: str, session: str, at: int, closed: bool
) -> list[SegmentSummarized]:
    """The summary of a session's last segment; nothing where it is closed already."""
    key = f"open/{session}"
    evidence = state.get(key, Evidence)
    if evidence is None or evidence.closed:
        return []
    if closed:
        evidence.closed = True
        state.put(key, evidence)
    summary, terms = summarize(evidence, params.summary, params.terms)
    return [
        SegmentSummarized(
            space, session, at, evidence.segment, evidence.first_turn, evidence.last_turn, evidence.turns,
            evidence.tokens, summary, terms, closed,
        )
    ]  # fmt: skip


def _fact(params: ManifestParams, state: State, fact: Fact) -> list[Derived]:
    """Passes a fact on with the segment it concerns, where that is known. Notes are no matter of the manifest."""
    match fact:
        case NoteTaken() | NoteSettled():
            return []
        case ClockTicked():
            return [FactFiled(fact.space, "", fact.at, "", fact)]
        case TurnRetracted() | EffortDeclared() | EffortClosed() | EffortReopened() | OfferDeclined():
            return _session_fact(params, state, fact, fact.turn)
        case ImportanceFlagged():
            return _session_fact(params, state, fact, fact.turn)
        case SessionEnded():
            return _session_fact(params, state, fact, "")
        case SummaryWritten():
            return _session_fact(params, state, fact, fact.last_turn)


def _session_fact(params: ManifestParams, state: State, fact: SessionFact, named: str) -> list[Derived]:
    """A fact that may name a turn; a session's end closes its last segment."""
    out: list[Derived] = []
    session = state.get(f"session/{fact.session}", Session)
    segment = next((segment for turn, segment in reversed(session.recent) if turn == named), "") if session else ""
    if session is not None and isinstance(fact, SessionEnded):
        segment = session.segment
        out += _summary(params, state, fact.space, fact.session, fact.at, closed=True)
        session.ended = True
        state.put(f"session/{fact.session}", session)
    if segment and isinstance(fact, TurnRetracted):
        evidence = state.get(f"open/{fact.session}", Evidence)
        if evidence is not None and evidence.segment == segment:
            forget(evidence, named)
            state.put(f"open/{fact.session}", evidence)
    if isinstance(fact, Settling):
        out += settle(state, fact)
    out.append(FactFiled(fact.space, fact.session, fact.at, segment, fact))
    return out


PROCESSOR = Processor(
    name="manifest",
    version=1,
    reads=ROOT,
    params=ManifestParams,
    emits=(
        SegmentOpened,
        TurnFiled,
        TurnRefiled,
        SegmentSummarized,
        ConclusionDetected,
        SegmentConcluded,
        ConclusionOffered,
        OfferSettled,
        ArtifactMade,
        FactFiled,
    ),
    step=step,
)
