"""Claims: sentences whose words say that something is concluded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Claim:
    """One sentence that claims a conclusion."""

    pattern: str
    confidence: float
    start: int
    end: int


def claims(content: str, role: str) -> list[Claim]:
    """The claims in a turn, in order of appearance."""
    return []
