"""How likely each word of an effort's first turns is to stand in what a person would call the effort.

    points of a word = points of what is seen where it stands (`seen`): the word itself, what is before and behind it,
                       how it ends, how early it is said
                     + points of how its stem is used in the effort (`used`): by how many turns, beside other words
    likelihood       = 1 / (1 + e^(-points / 100))

Points are those of a logistic regression, in hundredths of log odds (titles.json; tests/bench/learn_titles.py learns
them of what people called dialogues and pieces of work). What is said briefly, from the first turn on, is called by
other words than what is told at length; so each signal of BRIEF has points of its own there.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from streams.core.text.commonness import CLASSES
from streams.core.text.learned import Learned
from streams.core.text.signals import ending
from streams.core.text.terms import ASKED, CAPITAL, CLAUSE, NAMED, SENTENCE

TABLE = Learned.load("processors.open_efforts", "titles.json")
of_seen, of_used = TABLE.only("seen"), TABLE.only("used")
"""Points of signals of either kind."""
_ASKING = """
want wants wanted need needs like love trying going help plan planning try prefer how can could may please lets decided
remind
"""
ASKING = frozenset(_ASKING.split())
"""What comes behind one of these (and "to", "you", "me", "i", "we") is what somebody wants to do."""
BETWEEN = frozenset(("to", "you", "me", "i", "we", "us"))
_ENDS = ("ing", "ed", "ly", "tion", "ment", "ers", "er", "ies", "es", "s", "y", "al")
_PLACES = (1, 3, 5, 7, 9, 11, 14, 18, 23, 30, 40)
"""How many words of its turn come before a word."""
_USES, _RANKS, _SHARES = (1, 2, 3, 5, 8), (0, 1, 3, 7, 15, 30), (15, 30, 50, 75, 99)
"""Turns that use a stem; stems that more turns use; the share, in percent, of the turns that use the most used one."""
BRIEF_BELOW = 14
"""Words of a first turn below which what is said is brief."""
SHORT = 5
"""Words of a line below which it is short."""
BRIEF = "brief "
SEEN, USED = 2000, 1000
"""Points of either kind are at most so many, and at least so many below zero."""
SURE = 600
"""Thousandths. No word is likelier: it would stand alone, where a phrase of two or three likely ones says more."""


@cache
def likely() -> list[int]:
    """Likelihoods, in thousandths, by points from the least on. Made when a title is first sought: most commands seek
    none."""
    return [min(SURE, round(1000 / (1 + math.exp(-points / 100)))) for points in range(-SEEN - USED, SEEN + USED + 1)]


def wanted(spelled: Sequence[str], at: int) -> bool:
    """Whether what begins at a word is what somebody wants."""
    before = at - 1
    while before > 0 and spelled[before] in BETWEEN:
        before -= 1
    return before >= 0 and spelled[before] in ASKING


def owns(word: str) -> bool:
    """Whether a word ends with a mark and "s": it owns something, or "is" is left of what comes behind it."""
    return word.endswith(("'s", "’s"))


def seen(
    words: Sequence[str], spelled: Sequence[str], stems: Sequence[str], flags: Sequence[int], place: int, said: int,
    sentence: int, brief: bool,
) -> Iterator[list[str]]:  # fmt: skip
    """The signals of each word of a line of the turn at `place`: `said` words and `sentence` sentences come before."""
    last, owned = len(words) - 1, False
    sorts = [f"c{CLASSES[stem]}" if stem else word for stem, word in zip(stems, spelled, strict=True)]
    for at, stem in enumerate(stems):
        begins, ends = not at or bool(flags[at - 1] & CLAUSE), at == last or bool(flags[at] & CLAUSE)
        where = bisect_left(_PLACES, said + at)
        signals = [
            f"p {'^' if begins else sorts[at - 1]}",
            f"n {'$' if ends else sorts[at + 1]}",
            f"t{place}s{min(sentence, 3)}",
            f"b{where}t{min(place, 2)}",
        ]
        if stem:
            signals += (sorts[at], f"b{where}{sorts[at]}")
            if end := ending(spelled[at], _ENDS):
                signals.append(f"s {end}")
                if owned:
                    signals.append(f"'s {end}")
        if flags[at] & NAMED:
            signals.append("named")
        if flags[at] & CAPITAL:
            signals.append(("leads capital" if not ends else "lone capital") if begins else "capital")
        if ends:
            signals.append("e ?" if flags[at] & ASKED else "e ." if flags[at] & SENTENCE else "e ,")
        if not begins and flags[at - 1] & CAPITAL:
            signals.append("behind capital")
        if wanted(spelled, at):
            signals.append("wanted")
        if last < SHORT - 1:
            signals.append("short")
        if brief:
            signals += [BRIEF + signal for signal in signals]
        if not begins and at > 1:
            signals.append(f"q {'' if stems[at - 2] else spelled[at - 2]}")
        signals.append(f"w {stem or spelled[at]}")
        yield signals
        owned = owns(words[at])
        if flags[at] & SENTENCE:
            sentence += 1


def used(kind: int, uses: int, rank: int, most: int, turns: int, first: int, brief: bool) -> list[str]:
    """The signals of a stem of a class: `uses` turns use it, `rank` stems are used by more, the most used one by `most`
    turns; of the first turns of the effort, `turns` have it, and the one at place `first` is the first of them."""
    use = bisect_left(_USES, uses)
    share = bisect_left(_SHARES, 100 * uses // most)
    signals = [
        f"u{use}c{kind}", f"r{bisect_left(_RANKS, rank)}{'c' if kind else ''}", f"m{share}u{use}",
        f"x{turns}f{first}", f"u{use}f{first}",
    ]  # fmt: skip
    return signals + [BRIEF + signal for signal in signals] if brief else signals


def points_seen(signals: list[str]) -> int:
    """Points of signals of `seen`, counted from the least that a word can have."""
    return max(-SEEN, min(SEEN, of_seen(signals))) + SEEN + USED


@lru_cache(maxsize=1 << 14)
def points_of_use(kind: int, uses: int, rank: int, most: int, turns: int, first: int, brief: bool) -> int:
    """Points of signals of `used`. A memo of a pure function: few sorts of use are common."""
    return max(-USED, min(USED, of_used(used(kind, uses, rank, most, turns, first, brief))))


def uses_of(
    first: Sequence[frozenset[str]], uses: Mapping[str, int]
) -> Iterator[tuple[str, tuple[int, int, int, int, int, int]]]:
    """How each stem of the first turns is used in the effort, as `used` takes it. Stems that `uses` does not tell of
    are used once."""
    said: dict[str, int] = {}
    for place, stems in enumerate(first):
        for stem in stems:
            said[stem] = said[stem] + _TURN if stem in said else place + _TURN
    counts = sorted([-count for stem, count in uses.items() if CLASSES[stem]])
    highest = -counts[0] if counts else 1
    ranks = {use: bisect_left(counts, -use) for use in {1, *uses.values()}}
    for stem, code in said.items():
        use = uses.get(stem, 1)
        yield stem, (CLASSES[stem], use, ranks[use], highest if highest > use else use, code // _TURN, code % _TURN)


_TURN = 16
"""What a turn counts in a number that holds a place, too."""


def points_used(first: Sequence[frozenset[str]], uses: Mapping[str, int], brief: bool) -> dict[str, int]:
    """The points of the stems of an effort's first turns for how they are used in it; 0 of ""."""
    return {"": 0} | {stem: points_of_use(*how, brief) for stem, how in uses_of(first, uses)}
