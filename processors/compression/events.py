"""The fact that compression derives."""

from __future__ import annotations

from typing import Literal

from streams.core.dataclasses import dataclass
from streams.core.processor import Derived


@dataclass(slots=True)
class SessionCompressed(Derived):
    """What a session's head came to. All of it: only the last one of a session counts."""

    first_turn: str
    last_turn: str
    turns: int
    """In the head, from the first to the last."""
    tokens: int
    """Of its turns."""
    topics: list[str]
    """The words of each part of the head, those used most first."""
    topic_firsts: list[str]
    """The first turn of each of `topics`; same length."""
    topic_lasts: list[str]
    """The last turn of each; same length."""
    names: list[str]
    """Who spoke and what was named, most often first."""
    decisions: list[str]
    decision_turns: list[str]
    """The turn of each decision, "" where a model wrote it; same length."""
    actions: list[str]
    """What somebody is to do."""
    action_turns: list[str]
    """The turn of each of them; same length."""
    tone: str
    """negative, rather negative, neutral, rather positive or positive."""
    text: str
    """Up to three paragraphs of sentences, in the order in which they were said; or what a model wrote instead."""
    transcript: str
    """The lines that tell most, in order, for a model that is to summarize the head."""
    model: str = ""
    """Who wrote `text`; "" for the rules."""
    type: Literal["session-compressed.v1"] = "session-compressed.v1"
