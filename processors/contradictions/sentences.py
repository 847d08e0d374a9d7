"""A turn as its sentences: cut once, for all that read what it states (see reading, beliefs).

    "My sister's a nurse. We don't smoke!"      my sister is a nurse / we do not smoke

A sentence ends with its mark, a colon or a dash behind which a space stands, a bracket or its line. Contractions are
two words. Code, lists and quotes state nothing. What a word as it stands in a text is made of, marks and all, is
remembered: of most words nothing is cut but looked up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import NamedTuple

from processors.contradictions.words import IS_BEHIND, SHORT, WORDS, Language, language
from streams.core.patterns import lazily
from streams.core.text.memo import Memo
from streams.core.text.statements import MAX_TEXT
from streams.core.text.stops import goes_on

_SKIPPED = lazily(r"```.*?(?:```|$)|^[>\-*|+#].*$|[\"“„«][^\"”“»]{3,}[\"”“»]", re.DOTALL | re.MULTILINE)
"""Code, lists and what is quoted."""
_TITLE = lazily(r"(?:(?<=\bcalled )|(?<=\bnamed ))[\"“„«]([^\"”“»\n]{3,60})[\"“”»]", re.IGNORECASE)
"""What something is called."""
_LISTED = frozenset(">-*|+#")
"""What a line of a list begins with."""
_BREAK = lazily(r"[.!?]+(?=$|[)\"'’])|[;…–—()]|:$|-(?:-+|$)")
"""What stands between sentences, in a word as it stands in a text."""
_ENDS = frozenset(".!?;…–—():-")
"""What a word ends with that may end a sentence."""
_INNER = lazily("[;…–—()]|[.!?][)\"'’]|--")
"""A break that may stand within a word: it is cut there first."""
_PIECE = lazily(r"[$€£]?\d(?:[\w.,:/%€$£+'-]*[\w%€$£+])?|[^\W\d_](?:[\w'&+@/-]|[.:](?=\w))*|[,&+😂🤣]")
_IS_BEFORE = frozenset(("a", "an", "from", "called", "named", "allergic", "not"))
"""Words before which "'s" is a verb."""


class Piece(NamedTuple):
    """A word of a sentence, or a comma."""

    word: str
    """In lower case."""
    begin: int
    """Where it stands in the word as it stands in the text."""
    stop: int
    capital: bool
    owner: str = ""
    """What is left where "'s" is the verb."""

    def parts(self) -> tuple[Piece, ...]:
        """It as two words, where "'s" is the verb."""
        stop = self.begin + len(self.owner)
        parted = self._replace(word=self.owner, stop=stop), self._replace(word="is", begin=stop)
        return parted if self.owner else (self,)


@dataclass
class Sentence:
    """Words that belong together."""

    spoken: Language
    raws: Sequence[str]
    """As they stand in the text."""
    mark: str
    """What ends it."""
    begins: bool
    """Whether its text begins with it."""

    @cached_property
    def pieces(self) -> list[Piece]:
        """Its words. Why not at once: most sentences tell nothing, which is seen of them as they stand."""
        return [*chain.from_iterable(self._cut)]

    @cached_property
    def _cut(self) -> list[tuple[Piece, ...]]:
        """What each of the raw words is made of."""
        raws, known = self.raws, _KNOWN[self.spoken.name]
        found = [*map(known.__getitem__, raws)]
        for place, raw in () if _IS_BEFORE.isdisjoint(raws) else enumerate(raws[1:]):
            if raw in _IS_BEFORE and any(piece.owner for piece in found[place]):
                found[place] = tuple(part for piece in found[place] for part in piece.parts())
        return found

    def shown(self, begin: int, end: int) -> str:
        """Words as they are written, in lower case."""
        places, raws = [place for place, found in enumerate(self._cut) for _ in found], self.raws
        first, last = places[begin], places[end - 1]
        start, stop = self.pieces[begin].begin, self.pieces[end - 1].stop
        if first == last:
            return raws[first][start:stop].lower()
        return " ".join((raws[first][start:], *raws[first + 1 : last], raws[last][:stop])).lower()


@lru_cache(maxsize=8)
def sentences(text: str) -> tuple[Language, Sequence[Sentence]]:
    """The language of a turn, and its sentences. Remembered: each who reads it asks."""
    text = text[:MAX_TEXT]
    raws = text.split()
    spoken = language(text.lower().split())
    if text[:1] in _LISTED or "\n" in text or '"' in text or "“" in text or "„" in text or "«" in text or "```" in text:
        text = _SKIPPED.sub(" ; ", _TITLE.sub(r"\1", text)).replace("\n", " ; ")
        raws = text.split()
    if _INNER.search(text):
        raws = _BREAK.sub(lambda found: f"{found[0]} ", text).split()
    found: list[Sentence] = []
    start = 0
    for place, raw in enumerate(raws, 1):
        if (
            raw[-1] in _ENDS
            and (mark := _MARKS[raw])
            and not (mark == "." and place < len(raws) and goes_on(raw, raws[place], raws[max(place - 2, 0)]))
        ):
            found.append(Sentence(spoken, raws[start:place], mark, not start))
            start = place
    if start < len(raws):
        found.append(Sentence(spoken, raws[start:], "", not start))
    return spoken, found


def pieces_of(spoken: Language, raw: str) -> tuple[Piece, ...]:
    """What a word as it stands in a text is made of."""
    return _KNOWN[spoken.name][raw]


def _cut(spoken: Language, raw: str) -> tuple[Piece, ...]:
    stop, plain = _BREAK.search(raw), raw.replace("’", "'")
    words = _PIECE.finditer(plain, 0, stop.start() if stop else len(raw))
    return tuple(piece for found in words for piece in _parted(spoken, plain, *found.span()))


def _mark(raw: str) -> str:
    """What ends a sentence with a word as it stands in a text; "" where nothing does."""
    stop = _BREAK.search(raw)
    return stop[0] if stop else ""


def _parted(spoken: Language, raw: str, begin: int, end: int) -> list[Piece]:
    """A word, or the two that a contraction stands for."""
    word = raw[begin:end].lower()
    first, second, owner = word, "" if raw[begin:end].isupper() else spoken.whole.get(word, ""), ""  # "your ID"
    if second:
        first, _, second = second.partition(" ")
    elif word.endswith("n't"):
        first, second = word[:-3], "not"
    else:
        head, _, tail = word.rpartition("'")
        if short := SHORT.get("'" + tail):
            first, second = head, short
        elif tail == "s" and head:
            first, second, owner = (head, "is", "") if head in IS_BEHIND else (word, "", head)
    if not first or not second:
        return [Piece(word, begin, end, raw[begin].isupper(), owner=owner)]
    parted = min(begin + len(first), end - 1) if word.startswith(first) else end - 1
    return [
        Piece(first, begin, parted, raw[begin].isupper()),
        Piece(second, parted, end, raw[parted].isupper()),
    ]


_KNOWN = {name: Memo(partial(_cut, spoken)) for name, spoken in WORDS.items()}
"""By language."""
_MARKS = Memo(_mark)
