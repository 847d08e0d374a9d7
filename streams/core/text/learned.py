"""Decisions by many weak signals: each has a learned weight, and their sum says how likely something is.

    score of an act = bias + sum of the weights of the signals that are there       (hundredths of log odds)
    likelihood      = 1 / (1 + e^(-score / 100))

A signal is a name for something that is there or is not: a word, two words together, a question mark, who speaks.
Weights are whole numbers, so every platform decides alike; they lie in a file beside the module that uses them, written
by a script of tests/bench (see tests/bench/learning.py) that fits them to annotated examples. Who decides compares a
score with thresholds of its own: sure ones act, doubtful ones are offered. `why` tells which signals decided.

    ACTS = Learned.load("streams.core.text", "acts.json")
    scores = ACTS.scores(signals)             one for each of ACTS.acts
    ACTS.why(signals, "reminder")             [("remind", 212), ...], strongest first
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from importlib.resources import files
from itertools import repeat
from operator import mul
from typing import Any, cast

import orjson

from streams.core.text.memo import Memo

LANE = 24
"""Bits of an act's place in a packed weight."""
_HALF = 1 << (LANE - 1)


class Learned:
    """Weights of signals for some acts.

    Why packed: the weights of a signal for all acts are added at once, as one whole number with a lane for each. Why
    when a signal is first seen: to pack all that there are takes longer than most commands, and most ask for no score.
    Why a file is read when a score is first asked for: most commands ask for none, and it takes longer than they do.
    """

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        """`read` tells the table: its version, the bias of each act, and the weights of each act by signal (a file of
        few large objects is read in half the time)."""
        self._read = read
        self._packed = Memo(lambda signal: _pack([given.get(signal, 0) for given in self._weights.values()]))

    @classmethod
    def load(cls, package: str, name: str) -> Learned:
        """The weights in a file of a package."""
        return cls(lambda: orjson.loads(files(package).joinpath(name).read_bytes()))

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        return self._read()

    @cached_property
    def version(self) -> int:
        """Of the table."""
        return int(self._table["version"])

    @cached_property
    def acts(self) -> tuple[str, ...]:
        """What is decided, in the order of the scores."""
        return tuple(self._bias)

    @cached_property
    def _bias(self) -> Mapping[str, int]:
        return cast(Mapping[str, int], self._table["bias"])

    @cached_property
    def _weights(self) -> Mapping[str, Mapping[str, int]]:
        return {act: self._table["weights"][act] for act in self.acts}

    @cached_property
    def _none(self) -> int:
        """Of no signal: the biases, each lane raised by what keeps it from being negative."""
        return _pack(self._bias.values()) + _pack([_HALF] * len(self.acts))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset().union(*self._weights.values())

    def scores(self, signals: Iterable[str]) -> list[int]:
        """The score of each act, in the order of `acts`; a signal that is given twice counts twice."""
        packed, known = self._packed, self._known
        total = sum([packed[signal] for signal in signals if signal in known], self._none)
        return [((total >> (LANE * at)) & (2 * _HALF - 1)) - _HALF for at in range(len(self.acts))]

    def only(self, act: str) -> Callable[[Iterable[str]], int]:
        """The scores of one act alone, as `scores` has them; in half the time."""
        return lambda signals: _score(self._weights[act], self._bias[act], signals)

    def words(self, act: str) -> list[str]:
        """The signals that speak for an act."""
        return [signal for signal, weight in self._weights[act].items() if weight > 0]

    def why(self, signals: Collection[str], act: str) -> list[tuple[str, int]]:
        """What the signals that are there weigh for an act, the strongest first."""
        found = [(signal, self._weights[act].get(signal, 0)) for signal in signals]
        return sorted(filter(lambda one: one[1], found), key=lambda one: (-abs(one[1]), one[0]))


def _pack(values: Iterable[int]) -> int:
    return sum(value << (LANE * at) for at, value in enumerate(values))


def _score(weights: Mapping[str, int], bias: int, signals: Iterable[str]) -> int:
    return sum(map(weights.get, signals, repeat(0)), bias)


def weigh(weights: Iterable[int], seen: Iterable[int]) -> int:
    """The score of what is seen, in hundredths, by weights in the same order; what is not seen yet may be left out."""
    total: int = sum(map(mul, weights, seen))
    return total // 100


def likelihood(score: int) -> float:
    """How likely an act with this score is, in hundredths."""
    return round(1 / (1 + math.exp(-max(-1000, min(1000, score)) / 100)), 2)
