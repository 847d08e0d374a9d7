"""What the flags of a turn's document tell: in which role it was said, and what type of memory it is."""

from __future__ import annotations

from typing import get_args

from streams.core.text.kinds import MemoryType

TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
ROLES = ("user", "assistant", "system", "tool")
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
