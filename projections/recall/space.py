"""What ranking sees of one space: its documents as columns, and where each term occurs."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streams.core.dataclasses import dataclass

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


@dataclass(slots=True)
class Documents:
    """Columns over the documents of a space, one number each, in the order of their positions in the log.

    A document is named by its place in them. What is asked as of a position sees the first so many places.
    """

    kind: NDArray[np.int8]
    length: Ints
    """Terms counted, repetitions included."""
    session: Ints
    """The number of its session within the space, in order of first appearance; -1 for none."""
    speaker: Ints
    """The number of its speaker (agent, else role) within the space, in order of first appearance; -1 for none."""
    flags: Ints
    """Bits that the analysis of the text sets; see analysis."""
    before: Ints
    """The turn before it in its session; -1 for none, and for what is no turn."""
    after: Ints
    """The turn after it in its session (it may lie beyond what is seen); -1 for none."""
    at: NDArray[np.int64]
    """UTC microseconds."""
    ended: NDArray[np.int64]
    """The offset in the log from which on it is not shown (retracted, replaced); the greatest integer for never."""


class Space(Protocol):
    """One space of the index, as of a position."""

    seen: int
    """How many documents there are, as of the position asked."""
    until: int
    """The offset in the log of the position asked: what ended up to it is not shown."""
    documents: Documents
    """Columns; longer than `seen` where more came later."""
    speakers: list[str]
    """Names by number."""
    sessions: int
    """How many sessions begin among what is seen."""
    average: float
    """Mean `length` of the turns seen; 1 where there are none."""
    session_lengths: Floats
    """By session: the sum of `length` over its turns seen. May be longer than `sessions`."""

    def called(self, word: str) -> list[int]:
        """The speakers whose name is a word, or holds it as a whole word; folded to lower case, ascending."""

    def postings(self, term: str) -> tuple[Ints, Ints]:
        """The documents (ascending, below `seen`) that hold a term, and how often each does."""
