"""What is told of statements: made, said again, contradicted, current again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streams.core.processor import Derived


@dataclass(slots=True)
class BeliefStated(Derived):
    """A turn says something of a subject: a belief, which a later statement may take the place of."""

    turn: str
    role: str
    subject: str
    """Whose attribute: the speaker for "I" and "my", else ""."""
    attribute: str
    """What is told of it; with subject and value it reads as a sentence: "lives in", "sister works as", "deadline". As
    stems where only what took its place shows that it was one: "colour favourit"."""
    value: str
    """What is said of the attribute, in the turn's words, in lower case."""
    affirmed: bool
    """Whether it is said to be so, or not to be so."""
    chain: str
    """The chain of beliefs it belongs to, named by the first turn of it."""
    place: int
    """Its place in the chain: how many beliefs came before it."""
    by: str = ""
    """Who said it: told, with the next three, where only a later turn shows that it was a statement."""
    said_in: str = ""
    """The session of its turn."""
    said_at: int = 0
    """When it was said."""
    said: str = ""
    """The turn's words, as far as they are read."""
    type: Literal["belief-stated.v1"] = "belief-stated.v1"


@dataclass(slots=True)
class BeliefConfirmed(Derived):
    """A turn says again what `older` said."""

    turn: str
    older: str
    subject: str
    attribute: str
    chain: str
    type: Literal["belief-confirmed.v1"] = "belief-confirmed.v1"


@dataclass(slots=True)
class BeliefContradicted(Derived):
    """What `turn` says takes the place of what `older` said. A link of a chain, to be read in both directions."""

    at: int
    """Of what brought it to light, which for a statement that comes in late is older than `turn`."""
    turn: str
    older: str
    subject: str
    attribute: str
    value: str
    older_value: str
    rule: str
    """How it shows: negated, corrected, changed, differs; inferred from other words; or who decided: judged."""
    confidence: float
    chain: str
    place: int
    """The place of `turn` in the chain; the first belief has place 0."""
    type: Literal["belief-contradicted.v1"] = "belief-contradicted.v1"


@dataclass(slots=True)
class ContradictionSuspected(Derived):
    """What `turn` says may take the place of what `older` said. It waits for a judgment (`contradiction-judged`):
    a yes makes it a contradiction, a no is told as `belief-restored`."""

    turn: str
    older: str
    subject: str
    attribute: str
    value: str
    older_value: str
    confidence: float
    why: list[str]
    """The signals that spoke for it most."""
    type: Literal["contradiction-suspected.v1"] = "contradiction-suspected.v1"


@dataclass(slots=True)
class BeliefRestored(Derived):
    """The link or the suspicion between `turn` and `newer` is gone: one was taken back, judged otherwise, or another
    came between."""

    turn: str
    """The older statement."""
    newer: str
    subject: str
    attribute: str
    value: str
    """Of the older statement; "" where that was taken back."""
    current: bool
    """Whether the older statement is what is believed again."""
    chain: str
    type: Literal["belief-restored.v1"] = "belief-restored.v1"
