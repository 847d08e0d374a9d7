"""The facts that open_efforts derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived


@dataclass(slots=True)
class EffortOpened(Derived):
    """New work begins with this turn."""

    effort: str
    turn: str
    name: str
    """The agent's own name for it, where it declared one."""
    topic: str
    """A few words that tell it apart."""
    reason: str
    """declared, or unmatched: no effort fits the turn."""
    type: Literal["effort-opened.v1"] = "effort-opened.v1"


@dataclass(slots=True)
class TurnThreaded(Derived):
    """A turn belongs to an effort, or to none (small talk). One for each turn."""

    turn: str
    effort: str
    """"" for small talk."""
    score: float
    """How well the turn fits the effort, 0 to 1."""
    reason: str
    """What decided: declared, reply, address, answer, speaker, turn-taking, words, stay, new, small-talk, system."""
    mentioned: list[str]
    """Efforts that the turn names, its own first; also concluded ones. At most 8."""
    similar: list[str]
    """Efforts whose words are like the turn's, best first. At most 8."""
    similarities: list[float]
    """How alike, 0 to 1; same length as `similar`."""
    type: Literal["turn-threaded.v1"] = "turn-threaded.v1"


@dataclass(slots=True)
class TurnRethreaded(Derived):
    """A revision: a recent turn belongs to another effort than first thought."""

    turn: str
    effort: str
    type: Literal["turn-rethreaded.v1"] = "turn-rethreaded.v1"


@dataclass(slots=True)
class EffortProgressed(Derived):
    """What an effort is about so far. Written as its segments are summarized."""

    effort: str
    topic: str
    summary: str
    terms: list[str]
    segments: int
    turns: int
    name: str = ""
    """The agent's own name for it, where it declared one, even after the effort opened."""
    type: Literal["effort-progressed.v1"] = "effort-progressed.v1"


@dataclass(slots=True)
class EffortConcluded(Derived):
    """An effort is done."""

    effort: str
    turn: str
    pattern: str
    """A conclusion pattern of the manifest, or `closed` where an agent said so."""
    conclusion: str
    quotes: str = ""
    """The turn whose words the conclusion is, where that is another."""
    type: Literal["effort-concluded.v1"] = "effort-concluded.v1"


@dataclass(slots=True)
class EffortResumed(Derived):
    """A concluded effort is open again, because new work on it came or an agent said so."""

    effort: str
    turn: str
    reason: str
    """work, declared, reopened, or retracted: the turn that concluded it was taken back."""
    type: Literal["effort-resumed.v1"] = "effort-resumed.v1"


@dataclass(slots=True)
class EffortRated(Derived):
    """The importance of an effort changed."""

    effort: str
    importance: Literal["normal", "high"]
    type: Literal["effort-rated.v1"] = "effort-rated.v1"


@dataclass(slots=True)
class TurnUnthreaded(Derived):
    """A retracted turn counts for its effort no longer."""

    turn: str
    effort: str
    type: Literal["turn-unthreaded.v1"] = "turn-unthreaded.v1"


@dataclass(slots=True)
class ReferenceMissed(Derived):
    """An outside fact refers to a turn or a name that no effort is known for; it changes nothing."""

    fact: str
    """Type of the fact."""
    name: str
    turn: str
    type: Literal["reference-missed.v1"] = "reference-missed.v1"
