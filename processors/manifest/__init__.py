"""Manifest: cuts each session into topically coherent segments and detects conclusions.

Source: Cognitive Context Management, tier 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from streams.events import ClockTicked, Fact, NoteSettled, NoteTaken
from streams.processor import CARRIED, ROOT, Derived, Params, Processor, State, derived_id, param
from streams.text import FactRead, Root, Text, TurnRead


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
class ConclusionDetected:
    """The words of a turn conclude something; whether the segment closes by it is told by the events that follow."""

    space: str
    session: str
    at: int
    turn: str
    segment: str
    pattern: str
    """declaration, resolution, negation, confirmation, convergence or completion."""
    confidence: float
    text: str
    """The sentence that says so."""
    type: Literal["conclusion-detected.v1"] = "conclusion-detected.v1"


@dataclass(slots=True)
class SegmentConcluded:
    """A segment's question is answered, its work done."""

    space: str
    session: str
    at: int
    segment: str
    turn: str
    pattern: str
    confidence: float
    conclusion: str
    type: Literal["segment-concluded.v1"] = "segment-concluded.v1"


@dataclass(slots=True)
class ConclusionOffered:
    """Not sure enough to conclude by itself: an agent accepts (effort-closed, this turn) or declines (offer-declined)."""

    space: str
    session: str
    at: int
    turn: str
    segment: str
    pattern: str
    confidence: float
    text: str
    type: Literal["conclusion-offered.v1"] = "conclusion-offered.v1"


@dataclass(slots=True)
class OfferSettled:
    """An offer was accepted, declined, or overtaken by a conclusion that came by itself."""

    space: str
    session: str
    at: int
    turn: str
    """The turn of the offer."""
    segment: str
    outcome: Literal["accepted", "declined", "overtaken"]
    type: Literal["offer-settled.v1"] = "offer-settled.v1"


@dataclass(slots=True)
class ArtifactMade:
    """What a conclusion leaves behind."""

    space: str
    session: str
    at: int
    artifact: str
    kind: str
    """answer, fix, decision, negative-result, deliverable, ..."""
    title: str
    body: str
    status: str
    tags: list[str]
    segment: str
    turns: list[str]
    """The turns it rests on."""
    type: Literal["artifact-made.v1"] = "artifact-made.v1"


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


class ManifestParams(Params):
    """How sessions are cut and conclusions drawn."""

    cut: float = param(0.5, "score 0..1", "a turn whose departure scores above this opens a segment", ge=0, le=1)


@dataclass(slots=True)
class Session:
    """State, `session/<id>`: what the fold knows of a session."""

    segment: str
    first_turn: str
    ordinal: int = 0


def step(params: ManifestParams, state: State, event: Root) -> list[Derived]:
    """Files a turn into its segment; passes on what descendants need."""
    return list(_step(params, state, event))


def _step(params: ManifestParams, state: State, event: Root) -> Iterator[Derived]:
    match event:
        case TurnRead(turn=turn, text=text):
            key = f"session/{turn.session}"
            session = state.get(key, Session)
            if session is None:
                session = Session(derived_id("segment", turn.space, turn.id), turn.id)
                yield SegmentOpened(turn.space, turn.session, turn.at, session.segment, turn.id, 1.0, "first")
                state.put(key, session)
            yield TurnFiled(
                turn.space, turn.session, turn.at, turn.id, turn.agent, turn.role, turn.reply_to, session.segment, text
            )
        case FactRead(fact=NoteTaken() | NoteSettled()):
            pass
        case FactRead(fact=fact):
            session_id = "" if isinstance(fact, ClockTicked) else fact.session
            yield FactFiled(fact.space, session_id, fact.at, "", fact)


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
