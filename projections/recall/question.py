"""A question to a memory, as it is asked from outside: any words at all, and checked in everything else."""

from __future__ import annotations

from collections.abc import Sequence

from projections.recall.space import KINDS
from streams.errors import UsageError
from streams.events import micros

MOST = 1000
"""Answers to one question."""


class Question:
    """What is asked, of which space, by whom and when."""

    def __init__(
        self,
        space: str,
        query: str,
        k: int = 10,
        kinds: Sequence[str] | None = None,
        session: str | None = None,
        at: str | int | None = None,
        history: bool = False,
        forgotten: bool = False,
    ) -> None:
        """`kinds` are names of KINDS, all where None; `at` is ISO 8601 or UTC microseconds. Raises UsageError."""
        if not 1 <= k <= MOST:
            raise UsageError(f"k is {k}", f"ask for 1 to {MOST} answers")
        if unknown := sorted(set(kinds or ()) - set(KINDS)):
            raise UsageError(f"there is no kind {unknown[0]!r}", f"kinds: {', '.join(KINDS)}")
        self.space = space
        self.query = query
        self.k = k
        self.kinds = [KINDS.index(kind) for kind in kinds] if kinds else list(range(len(KINDS)))
        self.session = session
        self.at = at
        self.history = history
        """Whether beliefs that newer ones took the place of are answers, too."""
        self.forgotten = forgotten
        """Whether what is forgotten is an answer though it is not asked for by name."""
        self.moment = moment_of(at)
        """When it is asked, UTC microseconds; None where it does not say."""


def moment_of(at: str | int | None) -> int | None:
    """A moment from outside in UTC microseconds. Raises UsageError for what is none."""
    if at is None or isinstance(at, int):
        return at
    try:
        return micros(at)
    except ValueError as error:
        raise UsageError(f"{at!r} is no time ({error})", "give one such as 2026-01-05T09:00:00Z") from error
