"""What is known of words, remembered: looked up by the word as it stands in a text, worked out when it is first met."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")

MAX_RAW = 64
"""Longer words, punctuation and all, are not remembered."""
MAX_CACHE = 1 << 16
"""Distinct words remembered."""


class Memo(dict[str, V]):
    """What a pure function finds for each word. Forgetting it changes nothing but speed."""

    def __init__(self, look: Callable[[str], V], longest: int = MAX_RAW) -> None:
        super().__init__()
        self._look, self._longest = look, longest

    def __missing__(self, word: str) -> V:
        found = self._look(word)
        if len(word) <= self._longest:
            if len(self) >= MAX_CACHE:
                self.clear()
            self[word] = found
        return found
