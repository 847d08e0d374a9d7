"""What is told of segments: that they open, what belongs to them, what they came to."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass, field
from streams.core.processor import Derived


@dataclass(slots=True)
class SegmentOpened(Derived):
    """A new segment begins with this turn."""

    segment: str
    turn: str
    score: float
    """How strongly the turn departs from what came before, 0 to 1."""
    reason: str
    """What decided: first, cue, shift, gap, ..."""
    type: Literal["segment-opened.v1"] = "segment-opened.v1"


@dataclass(slots=True)
class TurnFiled(Derived):
    """A turn belongs to a segment. One for each turn."""

    turn: str
    segment: str
    repeated: int = 0
    """Characters of it that repeat earlier turns; none of the mechanisms reads them."""
    news: str = ""
    """Where there are any: what it says beside them."""
    type: Literal["turn-filed.v1"] = "turn-filed.v1"


@dataclass(slots=True)
class TurnRefiled(Derived):
    """A revision: a recent turn belongs to another segment than first thought."""

    turn: str
    segment: str
    type: Literal["turn-refiled.v1"] = "turn-refiled.v1"


@dataclass(slots=True)
class SegmentSummarized(Derived):
    """What a segment is about so far. Written again as it grows, and last when it closes."""

    segment: str
    first_turn: str
    last_turn: str
    turns: int
    tokens: int
    """Of the raw turns."""
    summary: str
    """For readers: sentences of its turns, about 60 tokens at most: what was asked, found, decided."""
    cue: str
    """For indexes: the words to find it by, about 120 tokens at most."""
    terms: list[str]
    """The most telling terms, best first."""
    closed: bool
    """Whether no further turn will come to it."""
    model: str = ""
    """Who wrote the summary; "" for the rules."""
    type: Literal["segment-summarized.v1"] = "segment-summarized.v1"


@dataclass(slots=True)
class ConclusionDetected(Derived):
    """The words of a turn conclude something; whether the segment closes by it is told by the events that follow."""

    turn: str
    segment: str
    pattern: str
    """declaration, resolution, negation, confirmation, convergence or completion."""
    confidence: float
    text: str
    """The sentence that says so."""
    type: Literal["conclusion-detected.v1"] = "conclusion-detected.v1"


@dataclass(slots=True)
class SegmentConcluded(Derived):
    """A segment's question is answered, its work done. Said again where a later turn concludes it again."""

    segment: str
    turn: str
    pattern: str
    confidence: float
    conclusion: str
    quotes: str = ""
    """The turn whose words the conclusion is, where that is another."""
    type: Literal["segment-concluded.v1"] = "segment-concluded.v1"


@dataclass(slots=True)
class ConclusionOffered(Derived):
    """Not sure enough to conclude by itself: an agent accepts (effort-closed, this turn) or declines it."""

    turn: str
    segment: str
    pattern: str
    confidence: float
    text: str
    type: Literal["conclusion-offered.v1"] = "conclusion-offered.v1"


@dataclass(slots=True)
class OfferSettled(Derived):
    """An offer was accepted, declined, or overtaken by a later offer or by a conclusion that came by itself."""

    turn: str
    """The turn of the offer."""
    segment: str
    outcome: Literal["accepted", "declined", "overtaken"]
    type: Literal["offer-settled.v1"] = "offer-settled.v1"


@dataclass(slots=True)
class ArtifactMade(Derived):
    """What a conclusion leaves behind."""

    artifact: str
    kind: str
    """answer, decision, fix, negative-result, finding or deliverable."""
    title: str
    body: str
    status: str
    """final, or reported where nobody else has confirmed it."""
    tags: list[str]
    segment: str
    turns: list[str]
    """The turns it rests on."""
    quotes: list[str] = field(default_factory=list)
    """Those of them, beside the last, whose words stand in its title or its body."""
    type: Literal["artifact-made.v1"] = "artifact-made.v1"
