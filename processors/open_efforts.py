"""Open efforts: units of focused work over segments, sessions and speakers, open until concluded.

Source: Cognitive Context Management, tier 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from processors.manifest import (
    ArtifactMade,
    ConclusionDetected,
    ConclusionOffered,
    FactFiled,
    OfferSettled,
    SegmentConcluded,
    SegmentOpened,
    SegmentSummarized,
    TurnFiled,
    TurnRefiled,
)
from streams.events import ClockTicked, SessionEnded, TurnRetracted
from streams.processor import CARRIED, Derived, Params, Processor, State, derived_id, param
from streams.text import Text


@dataclass(slots=True)
class EffortOpened:
    """New work begins with this turn."""

    space: str
    session: str
    at: int
    effort: str
    turn: str
    name: str
    """The agent's own name for it, where it declared one."""
    topic: str
    """A few words that tell it apart."""
    reason: str
    """declared, opening, unmatched, ..."""
    type: Literal["effort-opened.v1"] = "effort-opened.v1"


@dataclass(slots=True)
class TurnThreaded:
    """A turn belongs to an effort, or to none (small talk). One for each turn."""

    space: str
    session: str
    at: int
    turn: str
    agent: str
    role: str
    segment: str
    effort: str
    """"" for small talk."""
    score: float
    """How well the turn fits the effort, 0 to 1."""
    reason: str
    """What decided: segment, reply, address, speaker, words, named, new, small-talk."""
    mentioned: list[str]
    """Efforts that the turn names, its own first; also concluded ones. At most 8."""
    similar: list[str]
    """Efforts whose words are like the turn's, best first. At most 8."""
    similarities: list[float]
    """How alike, 0 to 1; same length as `similar`."""
    text: Text = field(metadata=CARRIED)
    type: Literal["turn-threaded.v1"] = "turn-threaded.v1"


@dataclass(slots=True)
class TurnRethreaded:
    """A revision: a recent turn belongs to another effort than first thought."""

    space: str
    session: str
    at: int
    turn: str
    effort: str
    type: Literal["turn-rethreaded.v1"] = "turn-rethreaded.v1"


@dataclass(slots=True)
class EffortProgressed:
    """What an effort is about so far. Written as its segments are summarized."""

    space: str
    session: str
    at: int
    effort: str
    topic: str
    summary: str
    terms: list[str]
    segments: int
    turns: int
    type: Literal["effort-progressed.v1"] = "effort-progressed.v1"


@dataclass(slots=True)
class EffortConcluded:
    """An effort is done."""

    space: str
    session: str
    at: int
    effort: str
    turn: str
    pattern: str
    """A conclusion pattern of the manifest, or `closed` where an agent said so."""
    conclusion: str
    type: Literal["effort-concluded.v1"] = "effort-concluded.v1"


@dataclass(slots=True)
class EffortResumed:
    """A concluded effort is open again, because new work on it came or an agent said so."""

    space: str
    session: str
    at: int
    effort: str
    turn: str
    reason: str
    type: Literal["effort-resumed.v1"] = "effort-resumed.v1"


@dataclass(slots=True)
class EffortRated:
    """The importance of an effort changed."""

    space: str
    session: str
    at: int
    effort: str
    importance: Literal["normal", "high"]
    type: Literal["effort-rated.v1"] = "effort-rated.v1"


@dataclass(slots=True)
class FactThreaded:
    """An outside fact that descendants need, passed on with the effort it concerns."""

    space: str
    session: str
    at: int
    effort: str
    fact: SessionEnded | ClockTicked | TurnRetracted = field(metadata=CARRIED)
    type: Literal["fact-threaded.v1"] = "fact-threaded.v1"


class OpenEffortsParams(Params):
    """How segments and turns join into efforts."""

    active: int = param(512, "efforts", "matching looks at this many last active efforts: law 4, bounded work", ge=1)


@dataclass(slots=True)
class Thread:
    """State, `segment/<id>`: the effort that a segment belongs to."""

    effort: str


Read = (
    SegmentOpened
    | TurnFiled
    | TurnRefiled
    | SegmentSummarized
    | ConclusionDetected
    | SegmentConcluded
    | ConclusionOffered
    | OfferSettled
    | ArtifactMade
    | FactFiled
)


def step(params: OpenEffortsParams, state: State, event: Read) -> list[Derived]:
    """Threads each turn into its effort."""
    return list(_step(params, state, event))


def _step(params: OpenEffortsParams, state: State, event: Read) -> Iterator[Derived]:
    match event:
        case TurnFiled():
            thread = state.get(f"segment/{event.segment}", Thread)
            if thread is None:
                thread = Thread(derived_id("effort", event.space, event.turn))
                state.put(f"segment/{event.segment}", thread)
                topic = " ".join(event.text.terms[:6])
                yield EffortOpened(
                    event.space, event.session, event.at, thread.effort, event.turn, "", topic, "unmatched"
                )
            yield TurnThreaded(
                event.space, event.session, event.at, event.turn, event.agent, event.role, event.segment,
                thread.effort, 1.0, "segment", [thread.effort], [], [], event.text,
            )  # fmt: skip
        case SegmentSummarized():
            thread = state.get(f"segment/{event.segment}", Thread)
            if thread is not None:
                topic = " ".join(event.terms[:6])
                yield EffortProgressed(
                    event.space,
                    event.session,
                    event.at,
                    thread.effort,
                    topic,
                    event.summary,
                    event.terms,
                    1,
                    event.turns,
                )
        case FactFiled(fact=SessionEnded() | ClockTicked() | TurnRetracted() as fact):
            yield FactThreaded(event.space, event.session, event.at, "", fact)
        case FactFiled() | SegmentOpened() | TurnRefiled() | ConclusionDetected():
            pass
        case SegmentConcluded() | ConclusionOffered() | OfferSettled() | ArtifactMade():
            pass


PROCESSOR = Processor(
    name="open_efforts",
    version=1,
    reads="manifest",
    params=OpenEffortsParams,
    emits=(
        EffortOpened, TurnThreaded, TurnRethreaded, EffortProgressed, EffortConcluded, EffortResumed, EffortRated,
        FactThreaded,
    ),
    step=step,
)  # fmt: skip
