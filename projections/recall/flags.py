"""What the flags of a turn's document tell beside those of its analysis: its role, its type of memory, its digits."""

from __future__ import annotations

from streams.core.text.kinds import TYPES, MemoryType

ROLES = ("user", "assistant", "system", "tool")
DIGITS = 4
"""Flag of a document whose words have digits, or that says more than its words: it may tell ids, dates or amounts."""
TYPE_BIT, ROLE_BIT = 8, 16
"""Where the flags say what type of memory it is, and in which role it was said."""


def flags_of(type: MemoryType, role: str) -> int:
    """The flags of a turn, for the index."""
    return TYPES.index(type) << TYPE_BIT | ROLES.index(role) << ROLE_BIT


def role_of(flags: int) -> str:
    """The role in which a turn with such flags was said."""
    return ROLES[flags >> ROLE_BIT & 3]


def type_of(flags: int) -> MemoryType:
    """The type of memory that a turn with such flags is."""
    return TYPES[flags >> TYPE_BIT & 3]
