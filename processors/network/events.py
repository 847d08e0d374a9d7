"""The facts that the knowledge network derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived

Kind = Literal["conclusion", "fact", "preference", "claim"]
Status = Literal["current", "open", "history", "merged", "pruned", "retracted"]
Relation = Literal["support", "derivation", "generalization", "contradiction"]


@dataclass(slots=True)
class KnowledgeNoted(Derived):
    """A node of the network, as it stands now. All that is known of it, its edges apart."""

    session: str
    """Where it was first said."""
    node: str
    turn: str
    """The turn that first said it."""
    kind: Kind
    """conclusion: what work came to; fact, preference: a belief; claim: what somebody gave a reason for, or as one."""
    text: str
    by: str
    """Who first said it."""
    subject: str
    """Of a belief: whose attribute; "" elsewhere."""
    attribute: str
    """Of a belief: what is told, as stems; "" elsewhere."""
    turns: list[str]
    """Turns that say it: the first one, and the newest."""
    sources: int
    """How many first turns it rests on, each counted once however often it is quoted."""
    sessions: int
    """In how many sessions these were said."""
    status: Status
    """open: another node contradicts it and neither outweighs the other; history: another took its place, or the work
    that came to it goes on; merged: it says what `into` says; pruned: nothing supported it for long; retracted: no turn
    says it any more."""
    layer: int
    """0 private, 1 contextual, 2 principle, 3 universal."""
    confidence: float
    """0 to 1, of the network's shape alone: see confidence.py."""
    why: str
    """What changed last, in words for a person."""
    into: str = ""
    """Of a merged node: which one says the same."""
    general: str = ""
    """Of a layer from 2 on: its text with nothing in it that tells who, where or which."""
    type: Literal["knowledge-noted.v1"] = "knowledge-noted.v1"


@dataclass(slots=True)
class KnowledgeLinked(Derived):
    """An edge of the network, as it stands now. `source` speaks for `target`, or contradicts it."""

    source: str
    """The reason, the premise, the special case, or the newer of two that contradict each other."""
    target: str
    kind: Relation
    rule: str
    """What made it: because, so, means, example, unlike, again, narrower, shared words, written (by a model); or of a
    contradiction how it shows (see contradictions)."""
    weight: float
    turns: list[str]
    """Where it was said."""
    outcome: str
    """stands, or gone. Of a contradiction: newer or older (which one holds), both (they do not exclude each other),
    open, doubted (it contests nothing until it is judged), or gone."""
    type: Literal["knowledge-linked.v1"] = "knowledge-linked.v1"


@dataclass(slots=True)
class QuestionRaised(Derived):
    """Two nodes contradict each other and neither outweighs the other: a question for one person, raised once."""

    turn: str
    """The turn of the person after which it is asked."""
    person: str
    newer: str
    older: str
    texts: list[str]
    """What the newer and the older one say."""
    turns: list[str]
    """Where they were said."""
    type: Literal["question-raised.v1"] = "question-raised.v1"


@dataclass(slots=True)
class KnowledgeCalled(Derived):
    """What of other sessions' knowledge a user's turn speaks of. Only the last such event of a session counts."""

    turn: str
    nodes: list[str]
    """Those that fit best first."""
    type: Literal["knowledge-called.v1"] = "knowledge-called.v1"


@dataclass(slots=True)
class NetworkSlept(Derived):
    """The pass of a consolidation over the whole network came to its end."""

    run: int
    """Counts the passes of the space."""
    looked: int
    linked: int
    merged: int
    pruned: int
    promoted: int
    moved: int
    """Nodes whose confidence was not what it is exactly."""
    type: Literal["network-slept.v1"] = "network-slept.v1"
