"""Decisions where what one value speaks for hangs on what others are: a sum of small trees of questions.

    a tree is a number, in hundredths of log odds, or [place, most, tree, other]: the first tree where the value at that
    place is at most so much, else the other
    score of an act = bias + sum of the numbers that its trees come to

Values, thresholds and numbers are whole, so every platform decides alike; the trees lie in a file beside the module
that uses them, written by a script of tests/bench (see tests/bench/learning.py). Weights of signals (see learned) are
for much that is there or is not; trees, which take longer, for few values that are known already.
Source: Friedman, Greedy function approximation: a gradient boosting machine (2001).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

import orjson


class Trees:
    """Trees for some acts. The file is read when a score is first asked for: most commands ask for none."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read

    @classmethod
    def load(cls, package: str, name: str) -> Trees:
        """The trees in a file of a package."""
        return cls(lambda: orjson.loads(files(package).joinpath(name).read_bytes()))

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        return self._read()

    def score(self, act: str, values: Sequence[int]) -> int:
        """What the trees of an act say of values."""
        return grown(self._table["bias"][act], self._table["trees"][act], values)


def grown(bias: int, trees: Sequence[Any], values: Sequence[int]) -> int:
    """A bias, and what trees come to of values."""
    total = bias
    for tree in trees:
        while tree.__class__ is list:
            place, most, low, high = tree
            tree = low if values[place] <= most else high
        total += tree
    return total
