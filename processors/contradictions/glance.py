"""Which statement a turn changes that, by a glance at its words, may change one (see streams/core/text/statements).

Only of such a turn, the statements that may be meant are weighed against each other: by what they share with it, by how
likely they state something that changes, by what stands between. The likeliest are looked at closer (see closer).
Weights: weights.json, by tests/bench/learn_contradictions.py, which tells what they are worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.core.text.commonness import CLASSES, COMMON, LIGHT, ORDINARY, RARE
from streams.core.text.learned import Learned
from streams.core.text.memo import Memo

if TYPE_CHECKING:
    from processors.contradictions.index import Meant, Statement

PAIRS = Learned.load(__package__, "weights.json")
"""Whether the newer of two turns takes the place of the older: `replaces` where both tell plainly (see pairs), `doubt`
of any."""
doubt = PAIRS.only("doubt")
"""The score of a pair of turns for `doubt`."""
ALIKE = Learned.load(__package__, "alike.json")
"""The same of `doubt` where alike words count: what that tells is one signal more, and other weights go with it."""
doubt_alike = ALIKE.only("doubt")
MAY_CHANGE = -260
"""The score of `changes` from which on it is asked what a turn changes: in voices of authors that nothing is learned
from, .91 of the turns that do, and .60 of all that users say. At -230 it is .84 and .46, at -200 .73 and .32."""

_CLASS = Memo(lambda word: LIGHT if word[0] in "=@" else CLASSES[word])
"""The class of a word; numbers, and what a reading is found by, say nothing here."""


def _step(value: int, step: int, least: int, most: int) -> int:
    return max(least, min(most, value // step))


def doubt_signals(changes: int, new: Statement, meant: Meant) -> list[str]:
    """What is seen of a turn and a statement that it may change."""
    old, worth, behind, rare, back, place, named, alike = meant
    both = {*new.words}.intersection(old.words)
    levels = [*map(_CLASS.__getitem__, both)]
    seldom, usual, common = min(levels.count(RARE), 3), min(levels.count(ORDINARY), 2), min(levels.count(COMMON), 2)
    of_old = 4 * len(both) // (len(old.words) or 1)
    effort = "" if not (old.effort and new.effort) else old.effort == new.effort
    apart = min(new.number - old.number, 255).bit_length()
    kinds = [kind for kind in new.kinds if kind in old.kinds]
    change, near = _step(changes, 60, -5, 2), _step(worth, 4, 0, 9)
    return [
        f"changes:{_step(changes, 40, -8, 6)}", f"near:{near}", f"near:{min(near, 5)} changes:{change}",
        f"behind:{_step(behind, 3, 0, 6)}", f"best:{_step(worth + behind, 4, 0, 6)}", f"rare:{min(rare, 4)}",
        f"apart:{apart} {new.session == old.session}", f"apart:{apart} changes:{change}",
        f"states:{_step(old.states, 50, -10, 0)}", f"one:{new.who == old.who}", f"asked:{'?' in old.text}",
        f"words:{len(old.words).bit_length()}", *[f"both:{kind}" for kind in kinds],
        f"back:{back}", f"back:{back} changes:{change}", f"effort:{effort} near:{min(near, 3)}",
        f"effort:{effort} apart:{min(apart, 4)} {new.session == old.session}", f"effort:{effort} changes:{change}",
        f"kinds:{min(len(kinds), 2)} {bool(new.kinds)} {bool(old.kinds)} {min(rare, 2)}",
        f"changed:{_step(old.changes, 50, -10, 2)}", f"of new:{4 * len(both) // (len(new.words) or 1)}",
        f"of old:{of_old}", f"of old:{of_old} words:{len(old.words).bit_length()}",
        f"place:{place}", f"place:{place} behind:{_step(behind, 3, 0, 4)}", f"place:{place} changes:{change}",
        f"one:{new.who == old.who} rare:{min(rare, 3)} {named}", f"one:{new.who == old.who} effort:{effort}",
        f"seldom:{seldom}", f"seldom:{seldom} usual:{min(usual, 1)} common:{min(common, 1)}", f"usual:{usual}",
        f"common:{common}", f"light:{min(levels.count(LIGHT), 2)}", f"seldom:{seldom} changes:{change}",
        f"seldom:{seldom} best:{_step(worth + behind, 4, 0, 4)} effort:{effort}",
        f"new words:{len(new.words).bit_length()} near:{min(near, 5)}", *alike,
    ]  # fmt: skip
