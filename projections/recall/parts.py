"""The parts of a turn that each say something: its sentences, and what of one stands by itself.

    Leo has swimming on Tuesdays at 16:30, Mina has violin on Thursdays      two clauses
    brake pads B05S (20), tubes 28" (40), chains X11 (6)                     a list of amounts

What takes the place of one part says nothing of the others. Where a sentence may be one statement, it is not parted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from streams.core.patterns import lazily
from streams.core.text.learned import likelihood
from streams.core.text.signals import kinds
from streams.core.text.statements import WEIGHTS, seen_of
from streams.core.text.telling import Told, sentences

LISTED = 3
"""Parts that a list of amounts has at least: two may be one thing and its place, or its time."""
SAYS = 2
"""Telling stems of a sentence that says something; one that has fewer and no name hardly does."""
OF_IT = 0.35
"""How much likelier a sentence changes something of a turn that shares telling words with it; and of a sentence that
tells amounts, or times of a kind, if it does so, too."""
EACH = 0.1
"""What each telling word counts that a sentence shares, beside that it shares any, that it tells an amount as well, and
that it tells a time of the same kind, each of which counts 1."""
FIRST = 0.8
"""What speaks against a turn's first sentence, which often only names what the turn is about. Of 160 pairs of turns of
tests/voices in which an author marked a change of a longer turn, the sentence is found of 136; by shared words, of 103.
"""
_COUNTS = frozenset(("#", "<U>"))
"""Kinds of words of which a turn tells many, whatever it is about."""
_CUT = lazily(r"[,;]\s+")
_WORD = lazily(r"[\w'’]+")
_DIGIT = lazily(r"\d")
_SMALL = frozenset(("greeting", "thanks", "closing", "ack", "asks"))
"""What sentences are that state nothing."""
_VERBS = """
is are was were has have had will can must does needs wants gets comes goes takes isn't aren't wasn't hasn't won't can't
doesn't needn't it's he's she's we're they're i'm we'll i'll they'll he'll she'll
ist sind war waren hat haben hatte wird werden kann muss soll braucht kommt
est sont était ont doit peut es está están era tiene tienen hay debe puede
"""
_FINITE = frozenset(_VERBS.split())
"""Verbs by which a clause is known."""
_JOINING = """
which who whom whose that because as when where while if since until so not nor or than at in on for with by from to of
under over near after before about then but and
der die das welche welcher weil wenn dass wo während bis nicht als am im um mit für bei von zu nach vor aber und oder
qui que dont parce quand où pas à dans pour avec chez de et mais ou
porque cuando donde no en para con por y pero o
"""
_LEANING = frozenset(_JOINING.split())
"""Words that begin what belongs to what stands before it."""
_SAME = frozenset(("he", "she", "it", "they", "er", "sie", "es", "il", "elle", "ils", "elles", "ella", "él"))
"""Who is told more of."""


@lru_cache(maxsize=4096)
def parts(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence that stand by themselves, in order; itself where it is one. A memo of a pure function."""
    places = [0, *(cut.end() for cut in _CUT.finditer(sentence)), len(sentence)]
    found = [sentence[begin:end] for begin, end in pairwise(places)]
    if len(found) < 2:
        return (sentence,)
    if len(found) >= LISTED and all(_DIGIT.search(one) and stems(one) for one in found):
        return _shown(found)
    clauses: list[str] = []
    for one in found:
        if clauses and not (_is_clause(one) and _is_clause(clauses[-1])):
            clauses[-1] += one
        else:
            clauses.append(one)
    return _shown(clauses)


def _is_clause(text: str) -> bool:
    first, *others = _WORD.findall(text.lower().replace("’", "'")) or [""]
    return first not in _LEANING and (not _FINITE.isdisjoint(others) or ("'" in first and first in _FINITE))


def _shown(found: list[str]) -> tuple[str, ...]:
    """Without the marks between them: what ends the last one ends the sentence."""
    return (*(one.rstrip().rstrip(",;") for one in found[:-1]), found[-1].rstrip())


def stems(text: str) -> frozenset[str]:
    """What a text tells, by its telling stems."""
    return frozenset(stem for one in sentences(text) for stem in one.stems)


def meant(sentence: str, value: str, other: str, newer: str) -> str:
    """The part of a sentence that another statement took the place of: that with most of the words of its `value`, or
    those that share telling words with the `other` sentence, of a `newer` turn; "" where it is all of it, or not known.
    """
    found = parts(sentence)
    if len(found) < 2:
        return ""
    if wanted := {*_WORD.findall(value.lower())}:
        held = [len(wanted.intersection(_WORD.findall(one.lower()))) for one in found]
        held = [count if count == max(held) else 0 for count in held]
    else:
        held = [len(stems(other) & stems(one)) for one in found]
    places = [place for place, count in enumerate(held) if count]
    if not places or places[-1] - places[0] == len(found) - 1:
        return ""
    others = [*found[: places[0]], *found[places[-1] + 1 :]]
    if any(_goes_on(one) and not _times(newer).isdisjoint(_times(one)) for one in others):
        return ""  # "she wrote, she comes on the 9th": a new day is told
    start = sentence.index(found[places[0]])
    end = sentence.index(found[places[-1]], start) + len(found[places[-1]])
    return sentence[start:end].rstrip(".!?…")


def _goes_on(part: str) -> bool:
    """Whether a part tells more of what the one before it is of."""
    return (_WORD.findall(part.lower().replace("’", "'")) or [""])[0].partition("'")[0] in _SAME


def _times(text: str) -> set[str]:
    """Of what kinds the times are that a text tells."""
    return {*kinds(text)} - _COUNTS


@lru_cache(maxsize=4096)
def changes(sentence: str) -> float:
    """How likely a sentence takes the place of an older one, by its words alone. A memo of a pure function."""
    return likelihood(_changes(seen_of(sentence, "user")))


_changes = WEIGHTS.only("changes")


def pair(older: Sequence[Told], newer: Sequence[Told]) -> tuple[Told, Told]:
    """Of two turns' sentences, neither without any: which took the place of which, where no value tells. Of the older
    that which is most of what the newer turn tells, by words, amounts and kinds of times; of the newer that which is
    likeliest to change something, of the older turn's matters rather than of others."""
    known = {stem for one in older for stem in one.stems}
    said = older[0]
    if len(older) > 1:
        all_said = {stem for one in newer for stem in one.stems}
        told = {kind for one in newer for kind in kinds(one.text)}
        said = max(older, key=lambda one: _alike(one, all_said, told) - FIRST * (one is older[0]))
    new = newer[0]
    if len(newer) > 1:
        figures = {*kinds(said.text)}
        new = max(
            newer,
            key=lambda one: (
                changes(one.text)
                + OF_IT * (not known.isdisjoint(one.stems))
                + OF_IT * any(_alike_kinds(one.text, figures))
            ),
        )
    return said, new


def _alike(told: Told, stems: set[str], figures: set[str]) -> float:
    """How much a sentence tells of what has some telling stems and tells figures of some kinds."""
    shared = len(stems.intersection(told.stems))
    return EACH * shared + (shared > 0) + sum(_alike_kinds(told.text, figures))


def _alike_kinds(text: str, figures: set[str]) -> tuple[bool, bool]:
    """Whether a text tells an amount, and whether a time of the same kind, where others tell figures of some kinds."""
    both = figures.intersection(kinds(text))
    return "#" in both, not both <= _COUNTS


def of_a_kind(told: Sequence[Told], said: Told, newer: str) -> list[Told]:
    """Of a turn's sentences those besides the one that was `said` that tell times of the kind of which a `newer` turn
    tells some: it may have taken the place of more than the one."""
    times = _times(newer)
    return [one for one in told if one is not said and not times.isdisjoint(_times(one.text))]


def says(told: Told) -> bool:
    """Whether a sentence states something worth finding."""
    return (len(told.stems) >= SAYS or "named" in told.features) and _SMALL.isdisjoint(told.features)
