"""Marks: parts of a turn without which a mechanism has nothing to do there, looked for once for all mechanisms.

Many read a turn closely only where it has one of some words ("because", "on hold"). To look for each by itself took a
tenth of a fold. Each distinct word of a talk is asked once which marks may be in it, and the answer is remembered.

    WAITING = Marks("waiting", "on hold")
    if WAITING.may_be_in(turn.content): ...     True wherever one is, and seldom where none is: look closely then
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from operator import or_

from streams.core.text.memo import Memo

_SETS: list[tuple[int, Callable[[str], bool]]] = []


def _look(word: str) -> int:
    """A bit for each set of marks of which one may be in a word."""
    return sum([bit for bit, has in _SETS if has(word)])


_WORDS = Memo(_look)


@lru_cache(maxsize=2)
def _seen(content: str) -> int:
    """The sets of marks that may be in a turn. Why so few are remembered: all mechanisms ask of one turn in turn."""
    return reduce(or_, map(_WORDS.__getitem__, content.lower().split()), 0)


def _letters(part: str) -> int:
    return len(part.strip())


class Marks:
    """Parts of a turn, in lower case; a space is any white space. Of several words the longest is looked for.

    `look`: tells of a word, in lower case, whether it is one, where no part of it does.
    """

    def __init__(self, *marks: str, look: Callable[[str], bool] | None = None) -> None:
        parts = [max(mark.replace(" ", " \0 ").split("\0"), key=_letters) for mark in marks]
        self._bit = 1 << len(_SETS)
        _SETS.append((self._bit, look or (lambda word: any(part in f" {word} " for part in parts))))
        _WORDS.clear()
        _seen.cache_clear()

    def may_be_in(self, content: str) -> bool:
        """False where none of them is in the words of a turn, in whatever case."""
        return _seen(content) & self._bit != 0
