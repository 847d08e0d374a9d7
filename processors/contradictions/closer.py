"""A closer look at the statements that a turn most likely changes: what stands beside what they share.

A glance (see glance) weighs what two turns share and how they stand in the talk; it does not read what they say. Of the
few likeliest statements it is read here. In the sentence of each that shares most with one of the other: which figures
differ, which are the same, which are told by one alone (see figures); how the newer goes on about what is shared; how
much of it is shared. Of all together: whether another shares more, differs in a figure, or was said since. The weights
(closer.json, by tests/bench/learn_contradictions.py) say of each how likely the turn takes its place; that it takes
nobody's is what is left. Crossed by author, three doubts of ten are right by a glance alone, where .68 of the changes
are seen and .16 of what only looks like one; with a closer look .71 are. Its words are many and their weights are drawn
to nothing more than those of the rest: of single statements .9 are right down to .20 of the changes, not .18.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from processors.contradictions.figures import Figure, Part, parts
from processors.contradictions.words import WORDS
from streams.core.text.commonness import CLASSES, COMMON, LIGHT, ORDINARY, RARE
from streams.core.text.learned import Learned

if TYPE_CHECKING:
    from processors.contradictions.index import Meant, Statement

CLOSER = Learned.load(__package__, "closer.json")
"""`means`: the newer of two turns takes the place of the older."""
means = CLOSER.only("means")
"""The score for `means` of what is seen of a turn; what is seen of a statement beside it adds `more`."""
LIKELIEST = 4
"""Statements that are looked at: of those that are right and found at all, .93 are among them."""
LEAST = -330
"""The score of a glance at a statement from which on it is looked at: 2.5 of every fourth turn of users and agents."""
_STEMS = WORDS["en"]
_WORTH = {RARE: 8, ORDINARY: 6, COMMON: 4, LIGHT: 2}
_AMOUNTS = frozenset(("number", "money", "share"))
_NEAR = ((115, "0"), (142, "1"), (201, "2"), (400, "3"))
"""How many times the lesser of two amounts the greater is, in hundredths, and what that is called."""


Sorts = dict[str, set[int | str]]


class _Sentence:
    """A sentence of the newer turn: what is seen of it is the same beside each of the older."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.sorts = _sorts(part.figures)

    @cached_property
    def seen(self) -> list[str]:
        """Its words, and each with the next."""
        words = self.part.words
        pairs = [f"in:{first} {second}" for first, second in pairwise(("^", *words, "$"))]
        return [*[f"in:{word}" for word in words], *pairs]


class _Shared(NamedTuple):
    """The sentences of two turns that share most."""

    worth: int
    new: int = 0
    old: int = 0
    stems: frozenset[str] = frozenset()


def more(seen: Sequence[str]) -> int:
    """What is seen of a statement adds to the score of the turn that may change it."""
    return means(seen) - means(())


def looks(new: Statement, found: Sequence[tuple[int, Meant]], agents: str) -> tuple[list[str], list[list[str]]]:
    """What is seen of a turn; and of each of the statements that it most likely changes, given with what a glance says
    of them, the likeliest first. `agents`: see `Index.agents`."""
    said = parts(new.text)
    olds = [parts(meant.statement.text) for _, meant in found]
    figures = [figure for part in said for figure in part.figures]
    sorts = _sorts(figures)
    sentences = [_Sentence(part) for part in said]
    stems = frozenset().union(*[part.stems for part in said])
    own = [f"says:{word}" for word in dict.fromkeys([word for part in said for word in part.words])]
    own += [f"agents:{agents}", f"states:{_step(new.states, 60, -8, 2)}", f"changes:{_step(new.changes, 40, -8, 8)}"]
    shared = [_most(said, old) for old in olds]
    beside = [
        _kind(_compared(sentences[one.new].sorts, _sorts(old[one.old].figures))) if one.worth else "no"
        for one, old in zip(shared, olds, strict=True)
    ]
    common = [stems & frozenset().union(*[part.stems for part in old]) for old in olds]
    seen = []
    for rank, (score, meant) in enumerate(found):
        older, one = meant.statement, shared[rank]
        others = [other for other in range(len(found)) if other != rank]
        since = [other for other in others if found[other][1].statement.number > older.number]
        behind = score - (found[1][0] if rank == 0 and len(found) > 1 else found[0][0] if rank else -999)
        all_old = [figure for part in olds[rank] for figure in part.figures]
        compared = _compared(sorts, _sorts(all_old))
        kind = _kind(compared)
        more = one.worth - max([shared[other].worth for other in others], default=0)
        differs = any(beside[other] in ("other", "both") for other in others)
        stale = sum(common[rank] <= common[other] for other in since) if common[rank] else 0
        changed = sum(
            bool(common[rank] & common[other]) and found[other][1].statement.changes > -150 for other in since
        )
        seen.append([
            *[f"figure {sort}:{how}" for sort, how in compared.items()], *_ratio(figures, all_old, "ratio"),
            f"figures:{kind}", f"figures:{kind} rare:{min(meant.rare, 2)}", f"figures:{kind} rank:{rank}",
            f"glance:{_step(score, 30, -14, 12)}", f"rank:{rank}", f"behind:{_step(behind, 40, -8, 8)} {rank}",
            f"changes:{_step(new.changes, 80, -4, 4)} rank:{min(rank, 2)}", f"named:{meant.named}",
            f"old changes:{_step(older.changes, 60, -8, 3)}", f"old states:{_step(older.states, 60, -8, 2)}",
            f"one:{new.who == older.who}", f"session:{new.session == older.session}",
            f"more:{_step(more, 2, -5, 5)}", f"more:{_step(more, 4, -2, 2)} {beside[rank]}",
            f"only:{beside[rank]} {differs}", f"newest:{not since}",
            f"stale:{stale} {min(len(common[rank]), 2)}", f"changed:{changed}", f"shared:{min(one.worth, 16) // 2}",
            *(_beside(new, sentences, olds[rank], one, beside[rank]) if one.worth else ()),
        ])  # fmt: skip
    return [*dict.fromkeys(own)], seen


def worth_of(stems: Iterable[str]) -> int:
    """What telling words are worth, by how seldom they are."""
    return sum([_WORTH[CLASSES[stem]] for stem in stems])


def _step(value: int, step: int, least: int, most: int) -> int:
    return max(least, min(most, value // step))


def _most(new: Sequence[Part], old: Sequence[Part]) -> _Shared:
    """The sentences that share most: telling words by how seldom they are, then sorts of figures."""
    best = _Shared(0)
    for at, one in enumerate(new):
        for place, other in enumerate(old):
            stems = one.stems & other.stems
            worth = worth_of(stems)
            if one.figures and other.figures:
                worth += len({figure.sort for figure in one.figures} & {figure.sort for figure in other.figures})
            if worth > best.worth:
                best = _Shared(worth, at, place, stems)
    return best


def _beside(new: Statement, said: Sequence[_Sentence], old: Sequence[Part], one: _Shared, kind: str) -> list[str]:
    """What is seen of the two sentences that share most."""
    sentence, other = said[one.new], old[one.old]
    part = sentence.part
    words = part.words
    change = _step(new.changes, 100, -4, 1)
    compared = _compared(sentence.sorts, _sorts(other.figures))
    at = [place for place, word in enumerate(words) if _STEMS[word].stem in one.stems]
    covered = 4 * len(one.stems) // (len(part.stems) or 1), 4 * len(one.stems) // (len(other.stems) or 1)
    seen = [
        *[f"beside {sort}:{how}" for sort, how in compared.items()],
        *[f"beside {sort}:{how} changes:{change}" for sort, how in compared.items()],
        *_ratio(part.figures, other.figures, "beside ratio"), f"beside:{kind}",
        f"beside:{kind} shared:{min(one.worth, 12) // 3}", f"beside:{kind} changes:{_step(new.changes, 60, -6, 2)}",
        f"sentence:{min(one.new, 3)} of {min(len(said), 4)}", f"old sentence:{min(one.old, 3)} of {min(len(old), 4)}",
        f"at:{min(at[0], 5) if at else 5}", f"covered:{covered[0]} {covered[1]}",
        *sentence.seen, *[f"old:{word}" for word in other.words],
        *[f"both:{stem}" for stem in one.stems],
        *[f"before:{words[place - 1]}" for place in at if place],
        *[f"after:{words[place + 1]}" for place in at if place + 1 < len(words)],
    ]  # fmt: skip
    return [*dict.fromkeys(seen)]


def _sorts(figures: Sequence[Figure]) -> Sorts:
    """The values of figures by their sorts."""
    found: Sorts = {}
    for sort, value, _ in figures:
        found.setdefault(sort, set()).add(value)
    return found


def _compared(new: Sorts, old: Sorts) -> dict[str, str]:
    """By sort of figures that are told: "same", "other", "both" (one is the same, one is another: "at 4, not at 3"),
    "new" and "old" of what one of them tells alone."""
    found: dict[str, str] = {}
    for sort, ours in new.items():
        theirs = old.get(sort)
        if theirs is None:
            found[sort] = "new"
        else:
            found[sort] = "other" if ours.isdisjoint(theirs) else "both" if ours - theirs else "same"
    for sort in old:
        if sort not in new:
            found[sort] = "old"
    return found


def _kind(compared: dict[str, str]) -> str:
    """What the figures of all sorts come to."""
    told = {*compared.values()}
    for how in ("both", "other", "same"):
        if how in told:
            return how
    return "apart" if len(told) > 1 else next(iter(told), "none")


def _ratio(new: Sequence[Figure], old: Sequence[Figure], name: str) -> list[str]:
    """How near the nearest two amounts that differ are, of those that count the same where there are any."""
    best = (-1, 0)
    for ours, theirs in zip(_amounts(new), _amounts(old), strict=True):
        if not ours or not theirs:
            continue
        all_ours, all_theirs = set().union(*ours.values()), set().union(*theirs.values())
        alike = [
            [(ours[of], theirs[of]) for of in ours.keys() & theirs.keys() if of],
            [(ours.get("", set()), all_theirs), (all_ours, theirs.get("", set()))],
            [(all_ours, all_theirs)],
        ]
        for unit, pairs in zip((2, 1, 0), alike, strict=True):
            if near := min([found for pair in pairs if (found := _nearest(*pair))], default=0):
                best = max(best, (unit, -near))
                break
    if best[0] < 0:
        return []
    times = next((times for most, times in _NEAR if -best[1] < most), "4")
    return [f"{name}:{times} {best[0]}"]


def _amounts(figures: Sequence[Figure]) -> tuple[dict[int | str, set[int]], dict[int | str, set[int]]]:
    """The values of amounts by what they count: of shares, and of others."""
    shares: dict[int | str, set[int]] = {}
    others: dict[int | str, set[int]] = {}
    for sort, value, of in figures:
        if sort in _AMOUNTS and isinstance(value, int) and value > 0:
            (shares if sort == "share" else others).setdefault(of, set()).add(value)
    return shares, others


def _nearest(new: set[int], old: set[int]) -> int:
    """How many times the lesser of the nearest two that differ the greater is, in hundredths; 0 where none differ.

    Why sorted: a page of figures was compared with another by as many pairs as both have, for a tenth of a second.
    """
    olds = sorted(old)
    found = []
    for value in new:
        below, above = bisect_left(olds, value), bisect_right(olds, value)
        if below:
            found.append(100 * value // olds[below - 1])
        if above < len(olds):
            found.append(100 * olds[above] // value)
    return min(found, default=0)
