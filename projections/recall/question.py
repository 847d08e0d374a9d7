"""A question to a memory, as it is asked from outside: any words at all, and checked in everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from streams.core.errors import UsageError
from streams.core.events import iso, micros

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
        turns: Sequence[str] | None = None,
    ) -> None:
        """`kinds` are names of kinds of documents, all where None; `at` is ISO 8601 or UTC microseconds.

        `turns` are ids of the only turns that may answer, where not None. Raises UsageError.
        """
        _check({"space": space, "query": query, "session": session or ""}, str, "text")
        _check({"k": k}, int, "a whole number")
        _check({"kinds": [*kinds] if isinstance(kinds, tuple) else kinds or []}, list, "a list of names")
        _check({"turns": [*turns] if isinstance(turns, tuple) else turns or []}, list, "a list of ids")
        if not 1 <= k <= MOST:
            raise UsageError(f"k is {k}", f"ask for 1 to {MOST} answers")
        self.space = space
        self.query = query
        self.k = k
        self.kinds = [*kinds] if kinds else None
        """Names of the kinds of answers that are wanted; None for all."""
        self.session = session
        self.at = at
        self.history = history
        """Whether beliefs that newer ones took the place of are answers, too."""
        self.forgotten = forgotten
        """Whether what is forgotten is an answer though it is not asked for by name."""
        self.turns = None if turns is None else [*turns]
        """Ids of the only turns that may answer: nothing else does, nor is weighed against them. None for all."""
        self.moment = moment_of(at)
        """When it is asked, UTC microseconds; None where it does not say."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """A question from the arguments above by name. Raises UsageError, also for a name that is none."""
        if unknown := sorted(given.keys() - _ARGUMENTS):
            raise UsageError(f"a question has no {unknown[0]!r}", f"it has: {', '.join(sorted(_ARGUMENTS))}")
        if missing := sorted({"space", "query"} - given.keys()):
            raise UsageError(f"a question without {missing[0]!r} is none", "give its words and its space")
        return cls(**given)


_ARGUMENTS = frozenset(("space", "query", "k", "kinds", "session", "at", "history", "forgotten", "turns"))


def _check(given: Mapping[str, object], kind: type | tuple[type, ...], told: str) -> None:
    """Raises UsageError for a value that is not of its kind."""
    for name, value in given.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            raise UsageError(f"{name} is {value!r}, not {told}", "`mnemolog recall --help` tells how to ask")


def moment_of(at: str | int | None) -> int | None:
    """A moment from outside in UTC microseconds. Raises UsageError for what is none."""
    if at is None:
        return None
    try:
        _check({"at": at}, (int, str), "a time")
        return micros(iso(at) if isinstance(at, int) else at)
    except (OverflowError, ValueError) as error:
        raise UsageError(f"{at!r} is no time ({error})", "give one such as 2026-01-05T09:00:00Z") from error
