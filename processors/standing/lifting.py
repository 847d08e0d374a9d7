"""Whether a turn takes back what somebody said to hold: "ok scrap the tilde thing", "eggs are back on".

Asked of a turn and of what stands that shares words with it, the few that share most (FEW), by learned weights of

    its words, first and last sentence              see acts
    s:<word>   n:<word>                             those of the sentence that shares most, and of those beside it
    p:shared:2   p:part:1   p:of:3   p:at:1         how many words are shared, of those of what stands and of the
                                                    turn's, and which sentence shares most
    p:len:2   state0:-1   act2:0                    how long the turn is, what it states and does

What shares no word with it is not found: a third of what is taken back. Weights: lifting.json, by
tests/bench/learn_standing.py, where it is told what they are worth.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from streams.core.text.acts import signals_of
from streams.core.text.learned import Learned
from streams.core.text.reminders import spans_of
from streams.core.text.signals import signals
from streams.core.text.standing import READ, doing
from streams.core.text.terms import terms

WEIGHTS = Learned.load(__package__, "lifting.json")
LIFTS = WEIGHTS.only("lifts")
FEW = 4
"""Of what stands, as many are asked about at one turn."""
MAY = -400
"""A turn that is less likely to change what was stated, in hundredths of log odds, takes nothing back: of those that
do, 98 of 100 are likelier."""


@dataclass(slots=True)
class Reading:
    """What is seen of a turn, whatever it may take back."""

    stems: frozenset[str]
    whole: list[str]
    sentences: list[str]
    each: list[frozenset[str]]
    """The stems of each sentence."""


def read(content: str, acts: Sequence[int], states: Sequence[int]) -> Reading:
    """Reads a turn; `acts` and `states`: its features (see Text)."""
    seen, places = signals_of(content, "user")
    sentences = [content[start:end] for start, end in spans_of(content)[:READ]] or [content]
    each = [frozenset(terms(sentence)[0]) for sentence in sentences]
    return Reading(frozenset().union(*each), [*seen, *places, *doing(acts, states)], sentences, each)


def pair_signals(turn: Reading, stands: Collection[str]) -> list[str]:
    """What is seen of a turn and of what stands; `stands` are the stems of the latter."""
    stems = frozenset(stands)
    shared = len(turn.stems & stems)
    at = _at(turn, stems)
    beside = turn.sentences[max(0, at - 1) : at + 2]
    return [
        *turn.whole,
        *(f"s:{signal}" for signal in signals(turn.sentences[at])),
        *dict.fromkeys(f"n:{signal}" for sentence in beside for signal in signals(sentence)),
        f"p:shared:{min(4, shared)}",
        f"p:part:{4 * shared // max(1, len(stems))}",
        f"p:of:{4 * shared // max(1, len(turn.stems))}",
        f"p:len:{min(6, len(turn.stems) // 4)}",
        f"p:at:{at}",
    ]


def likeliest(turn: Reading, stand: Sequence[Collection[str]]) -> tuple[int, int]:
    """Which of what stands, told by their stems, a turn takes back most likely; and how likely, in hundredths of log
    odds."""
    scores = [LIFTS(pair_signals(turn, stems)) for stems in stand]
    best = max(range(len(scores)), key=scores.__getitem__)
    return best, scores[best]


def closest(turn: Reading, stands: Collection[str]) -> str:
    """The sentence of a turn that shares most with what stands."""
    return turn.sentences[_at(turn, frozenset(stands))]


def _at(turn: Reading, stems: frozenset[str]) -> int:
    return max(range(len(turn.each)), key=lambda place: len(turn.each[place] & stems))
