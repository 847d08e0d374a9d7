"""What of a long text serves a question: the passages that share its words, with what stands around them.

A passage is a line, as of a list, a table or code, or a sentence of a longer line. Those come first that share most
with the question: words by how seldom they are, each once in full, then for half. In the room that is left stands what
follows them and what is before them, for an answer often stands behind the words that ask for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from streams.core.patterns import lazily
from streams.core.text.commonness import weight
from streams.core.text.terms import terms, tokens

GAP = "…"
"""Stands where passages are left out."""
LONG = 160
"""Characters of a line from which on its sentences are passages of their own."""
READ, MOST = 8_000, 200
"""Characters, and passages, of a text that are looked at."""
_END = lazily(r"(?<=[.!?])\s+|(?<=[。！？])")


class Passage(NamedTuple):
    """A part of a text that is shown or left out as a whole."""

    text: str
    line: int
    """Of the text, from 0."""
    tokens: int
    stems: frozenset[str]


@lru_cache(256)
def passages(text: str) -> tuple[Passage, ...]:
    """The passages of a text, in order; of a very long one the first, and a mark that it goes on. A memo of a pure
    function."""
    read = text if len(text) <= READ else text[:READ].rpartition(" ")[0] or text[:READ]
    found: list[Passage] = []
    for line, said in enumerate(read.splitlines()):
        for part in _END.split(said) if len(said) > LONG else (said,):
            if part.strip():
                found.append(Passage(part.rstrip(), line, max(tokens(part), 1), frozenset(terms(part)[0])))
    if len(read) < len(text) or len(found) > MOST:
        found[MOST:] = [Passage(GAP, len(read), 1, frozenset())]
    return tuple(found)


def serving(parts: Sequence[Passage], asked: Collection[str], limit: int) -> str:
    """What of a text serves a question with these stems, in about `limit` tokens; "" where no passage of so few shares
    a word with it."""
    chosen, room = _best(parts, frozenset(asked), limit)
    if not chosen:
        return ""
    grown = True
    while grown:
        grown = False
        for step in (1, -1):
            for beside in [place + step for place in chosen]:
                if 0 <= beside < len(parts) and beside not in chosen and parts[beside].tokens < room:
                    chosen.append(beside)
                    room -= parts[beside].tokens + 1
                    grown = True
    return _joined(parts, sorted(chosen))


def _best(parts: Sequence[Passage], asked: frozenset[str], limit: int) -> tuple[list[int], int]:
    """The places of the passages that share most with what is asked, the best first, and the room that is left."""
    worths = {stem: round(100 * weight(stem)) for stem in asked}  # whole: a sum in any order is the same
    shared = {place: asked & part.stems for place, part in enumerate(parts)}
    left = {place: stems for place, stems in shared.items() if any(worths[stem] for stem in stems)}
    chosen: list[int] = []
    seen: set[str] = set()

    def worth(place: int) -> tuple[int, int]:
        return sum([worths[stem] // (1 + (stem in seen)) for stem in left[place]]), -place

    while fits := [place for place in left if parts[place].tokens <= limit]:
        best = max(fits, key=worth)
        chosen.append(best)
        limit -= parts[best].tokens + 1
        seen |= left.pop(best)
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
