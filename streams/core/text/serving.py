"""What of a long text serves a question: the passages that share its words, with what stands around them.

A passage is a line, as of a list, a table or code, or a sentence of a longer line, or a piece of a very long one. Those
come first that share most with the question: words by how seldom they are, each once in full, then for half. In the
room that is left stands what follows them and what is before them, for an answer often stands behind the words that ask
for it. Where it takes little, the first passage is shown, whatever it shares: it says what the rest is ("here is last
night's log, why so many retries?").
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from streams.core.patterns import lazily
from streams.core.text.commonness import weight
from streams.core.text.stops import SPACE
from streams.core.text.terms import stems
from streams.core.text.within import clip, cost

GAP = "…"
"""Stands where passages are left out."""
LONG = 160
"""Characters of a line from which on its sentences are passages of their own."""
HEAD, TAIL = 6_000, 2_000
"""Characters that are looked at of the beginning and the end of a longer text."""
FIRST, LAST = 150, 50
"""The same in passages."""
OPENING = 8
"""The first passage is shown where it takes so much of the room at most, as a part of it."""
CUT = 200
"""Characters, at most, of a word that is not cut there."""
_END = lazily(rf"{SPACE}\s*|(?<=[。！？])")
_PIECES = lazily(r"\S.{0,240}(?=\s|$)|\S{1,240}")
"""Of what has no end for so long, as data in a line, pieces of whole words."""


class Passage(NamedTuple):
    """A part of a text that is shown or left out as a whole."""

    text: str
    line: int
    """Of the text, from 0."""
    cost: int
    """What it takes of the budget, in tokens."""
    stems: frozenset[str]
    tokens: int


def passages(text: str) -> tuple[Passage, ...]:
    """The passages of a text, in order; of a very long one the first and the last, with a mark between them."""
    if len(text) <= HEAD + TAIL:
        return _passages(text, "")
    head, tail = text[:HEAD], text[-TAIL:]
    ends = max(head.rfind(mark, HEAD - CUT) for mark in " \n\t")
    begins = min((at for mark in " \n\t" if (at := tail.find(mark, 0, CUT)) >= 0), default=-1)
    return _passages(head[:ends] if ends > 0 else head, tail[begins + 1 :])


@lru_cache(256)
def _passages(head: str, tail: str) -> tuple[Passage, ...]:
    """Those of the beginning and of the end of a text. A memo of a pure function."""
    found = [*_of(head, 0)]
    last = [*_of(tail, len(head) + 1)]
    if not tail and len(found) > FIRST + LAST:
        found, last = found[:FIRST], found[-LAST:]
    return (*found[:FIRST], Passage(GAP, -1, 1, frozenset(), 1), *last[-LAST:]) if last else tuple(found)


def _of(text: str, first: int) -> Iterator[Passage]:
    for line, said in enumerate(text.splitlines(), first):
        for part in _parts(said) if len(said) > LONG else (said,):
            if part.strip():
                told, tokens = stems(part)
                yield Passage(part.rstrip(), line, max(cost(part, tokens), 1), told, tokens)


def _parts(line: str) -> Iterator[str]:
    """The sentences of a line, in pieces where they are very long."""
    for sentence in _END.split(line):
        yield from (sentence,) if len(sentence) <= 2 * LONG else _PIECES.findall(sentence)


def serving(parts: Sequence[Passage], asked: Collection[str], limit: int) -> str:
    """What of a text serves a question with these stems, in about `limit` tokens; "" where nothing of it shares a word
    with it."""
    opening = _opening(parts, limit)
    chosen, room = _best(parts, _worths(frozenset(asked)), limit - opening)
    if not chosen:
        return ""
    if opening and 0 in chosen:
        room += opening
    elif opening and room >= 0:
        chosen.append(0)
    if room < 0:
        [best] = chosen
        parts = [*parts]
        parts[best] = parts[best]._replace(text=clip(parts[best].text, limit))
    grown, here = True, {*chosen}
    while grown:
        grown = False
        for step in (1, -1):
            for beside in [place + step for place in chosen]:
                if 0 <= beside < len(parts) and beside not in here and parts[beside].cost < room:
                    chosen.append(beside)
                    here.add(beside)
                    room -= parts[beside].cost + 1
                    grown = True
    return _joined(parts, sorted(chosen))


def exceeds(parts: Sequence[Passage], asked: Collection[str], limit: int, most: int) -> bool:
    """Whether what serves is sure to have more tokens than `most`: it takes a part of the time to find that out."""
    chosen, room = _best(parts, _worths(frozenset(asked)), limit - _opening(parts, limit), most)
    return room >= 0 and sum([parts[place].tokens for place in chosen]) > most


def _opening(parts: Sequence[Passage], limit: int) -> int:
    """What is left for the first passage, where it is shown."""
    return parts[0].cost + 1 if parts and (parts[0].cost + 1) * OPENING <= limit else 0


@lru_cache(64)
def _worths(asked: frozenset[str]) -> dict[str, int]:
    """What it is worth to share each of the stems that are asked for, of those that tell something. A memo of a pure
    function. Nobody changes it."""
    worths = {stem: round(100 * weight(stem)) for stem in asked}  # whole: a sum in any order is the same
    return {stem: worth for stem, worth in worths.items() if worth}


def _best(
    parts: Sequence[Passage], worths: Mapping[str, int], limit: int, most: int | None = None
) -> tuple[list[int], int]:
    """The places of the passages that share most with what is asked, the best first, and the room that is left; less
    than none where the best alone takes more. No more of them than it takes to have more tokens than `most`."""
    telling = frozenset(worths)
    shared = {place: found for place, part in enumerate(parts) if (found := telling & part.stems)}
    chosen: list[int] = []
    seen: set[str] = set()
    spent = 0

    def worth(place: int) -> int:
        return sum([worths[stem] // (1 + (stem in seen)) for stem in shared[place]])

    # Why a heap: a passage is never worth more than it was before others were chosen, so the first that is still worth
    # as much as when it was put there is the best.
    waiting = [(-worth(place), place) for place in shared]
    heapify(waiting)
    while waiting and (most is None or spent <= most):
        before, place = heappop(waiting)
        if chosen and parts[place].cost >= limit:
            continue
        if (now := -worth(place)) > before:
            heappush(waiting, (now, place))
            continue
        chosen.append(place)
        limit -= parts[place].cost + 1
        seen |= shared[place]
        spent += parts[place].tokens
    return chosen, limit


def _joined(parts: Sequence[Passage], places: Sequence[int]) -> str:
    """Passages of a text as they stood, with a mark where others were left out."""
    said = GAP if places[0] else ""
    before = -1
    for place in places:
        part = parts[place]
        if before < 0:
            between = " " if said else ""
        elif place == before + 1:
            between = "\n" if part.line != parts[before].line else " "
        else:
            between = f" {GAP} " if part.line == parts[before].line else f"\n{GAP}\n"
        said += between + part.text
        before = place
    return said + (f" {GAP}" if before + 1 < len(parts) else "")
