"""A turn as its sentences: cut once, for all that read what it states (see reading, beliefs).

    "My sister's a nurse. We don't smoke!"      my sister is a nurse / we do not smoke

A sentence ends with its mark, a colon or a dash behind which a space stands, a bracket or its line. Contractions are
two words. Code, lists and quotes state nothing. What a word as it stands in a text is made of, marks and all, is
remembered: of most words nothing is cut but looked up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple

from processors.contradictions.words import IS_BEHIND, SHORT, WORDS, Language, language
from streams.core.text.memo import Memo
from streams.core.text.statements import MAX_TEXT

_SKIPPED = re.compile(r"```.*?(?:```|$)|^[>\-*|+#].*$|[\"“„«][^\"”“»]{3,}[\"”“»]", re.DOTALL | re.MULTILINE)
"""Code, lists and what is quoted."""
_LISTED = (">", "-", "*", "|", "+", "#")
_MARKED = ("\n", '"', "“", "„", "«", "```")
"""What a line begins with, and what a text has, of which something is skipped."""
_BREAK = re.compile(
    r"[.!?]+(?<!\bmr\.)(?<!\bmrs\.)(?<!\bms\.)(?<!\bdr\.)(?<!\bst\.)(?=$|[)\"'])|[;…–—()]|:$|-(?:-+|$)", re.IGNORECASE
)
"""What stands between sentences, in a word as it stands in a text."""
_PIECE = re.compile(r"[$€£]?\d(?:[\w.,:/%€$£+'-]*[\w%€$£+])?|[^\W\d_](?:[\w'&+@/-]|[.:](?=\w))*|[,&+😂🤣]")
_IS_BEFORE = frozenset(("a", "an", "from", "called", "named", "allergic", "not"))
"""Words before which "'s" is a verb."""


class Piece(NamedTuple):
    """A word of a sentence, or what stands behind one."""

    word: str
    """In lower case; "" for what ends a sentence."""
    begin: int
    """Where it stands in the word as it stands in the text."""
    stop: int
    capital: bool
    mark: str = ""
    """What ends a sentence."""
    owner: str = ""
    """What is left where "'s" is the verb."""


@dataclass(slots=True)
class Sentence:
    """Words that belong together, and commas."""

    raws: Sequence[str]
    """The words of its text as they stand in it."""
    words: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """In which of `raws` each word stands."""
    mark: str = ""
    """What it ends with."""

    def add(self, word: str, piece: Piece, place: int) -> None:
        """Adds a word."""
        self.words.append(word)
        self.pieces.append(piece)
        self.places.append(place)

    @property
    def begins(self) -> bool:
        """Whether its text begins with it."""
        return self.places[0] == 0 and self.pieces[0].begin == 0

    def shown(self, begin: int, end: int) -> str:
        """Words as they are written, in lower case."""
        first, last = self.places[begin], self.places[end - 1]
        start, stop = self.pieces[begin].begin, self.pieces[end - 1].stop
        if first == last:
            return self.raws[first][start:stop].lower()
        return " ".join((self.raws[first][start:], *self.raws[first + 1 : last], self.raws[last][:stop])).lower()


@lru_cache(maxsize=8)
def sentences(text: str) -> tuple[Language, Sequence[Sentence]]:
    """The language of a turn, and its sentences. Remembered: each who reads it asks."""
    text = text[:MAX_TEXT]
    spoken = language(text.split())
    if text.startswith(_LISTED) or any(mark in text for mark in _MARKED):
        text = _SKIPPED.sub(" ; ", text).replace("\n", " ; ")
    raws, known = text.split(), _KNOWN[spoken.name]
    found: list[Sentence] = []
    sentence = Sentence(raws)
    for place, raw in enumerate(raws):
        for piece in known[raw]:
            if piece.mark:
                if sentence.words:
                    sentence.mark = piece.mark
                    found.append(sentence)
                    sentence = Sentence(raws)
            elif piece.owner and place + 1 < len(raws) and raws[place + 1].lower() in _IS_BEFORE:
                sentence.add(piece.owner, piece, place)
                sentence.add("is", piece, place)
            else:
                sentence.add(piece.word, piece, place)
    if sentence.words:
        found.append(sentence)
    return spoken, found


def _cut(spoken: Language, raw: str) -> tuple[Piece, ...]:
    """What a word as it stands in a text is made of."""
    raw = raw.replace("’", "'")
    pieces: list[Piece] = []
    start = 0
    for stop in (*_BREAK.finditer(raw), None):
        for found in _PIECE.finditer(raw, start, stop.start() if stop else len(raw)):
            pieces += _parted(spoken, raw, *found.span())
        if stop:
            pieces.append(Piece("", *stop.span(), False, stop[0]))
            start = stop.end()
    return tuple(pieces)


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
