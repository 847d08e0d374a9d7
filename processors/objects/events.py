"""The facts that objects derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived

Kind = Literal["person", "entity", "knowledge"]
Says = Literal["manner", "preference", "role", "goal", "deadline", "pattern", "belief", "rule", "fact"]
SAYS: tuple[Says, ...] = ("manner", "preference", "role", "goal", "deadline", "pattern", "belief", "rule", "fact")
"""What a statement may tell; `manner` is how somebody likes to be answered."""


@dataclass(slots=True)
class ObjectMentioned(Derived):
    """Something is named, or speaks. All that is known of it but its statements."""

    object: str
    name: str
    kind: Kind
    turn: str
    how: Literal["speaks", "named"]
    """speaks: its first turn in a session."""
    aliases: list[str]
    """Other names of it, folded to lower case."""
    role: str
    """What it is to who speaks, in a word (boss, client, sister); "" where nobody said."""
    value: float
    """Of the relationship, 0 to 1: by the role, else by how often it is spoken of."""
    mentions: int
    near: list[str]
    """What it was lately mentioned with, each by the name that it was first known by, folded to lower case."""
    type: Literal["object-mentioned.v1"] = "object-mentioned.v1"


@dataclass(slots=True)
class ObjectStated(Derived):
    """A statement about an object, as it stands now. All that is known of it."""

    statement: str
    object: str
    name: str
    says: Says
    text: str
    """The words that tell it, as they were said, behind the question that they answer."""
    turn: str
    strength: float
    """How sure and how telling it is, 0 to 1."""
    status: Literal["current", "passed", "superseded", "retracted"]
    """passed: it gave way to newer and stronger ones; superseded: a later statement contradicts it."""
    type: Literal["object-stated.v1"] = "object-stated.v1"
