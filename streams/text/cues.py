"""Cues: words by which people open, close, resume and steer a topic."""

from __future__ import annotations


def cues(content: str, role: str) -> list[str]:
    """Names of the cues in a turn, each once."""
    return ["question"] if content.rstrip().endswith("?") else []


def address(content: str) -> str:
    """Whom the turn addresses by name at its beginning, folded to lower case; "" for nobody."""
    return ""
