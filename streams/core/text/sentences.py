"""The sentences of a turn as claims are looked for in them: in lower case, code and quotations blanked, places kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from streams.core.patterns import lazily

LONGEST = 6000
"""Of a longer turn the first and the last half of this many characters are read."""
MAX_SENTENCES = 48
"""Of more sentences the first and the last half of this many are read."""
END = 400
"""So many characters at the end of an assistant's turn tell what it leaves open."""
LAST = 3
"""So many sentences there are looked at."""
FENCE = lazily(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
RECORD = r"^[ \t]*[\[(]?(?:\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )\d\d:\d\d:\d\d[^\n]*"
"""A pattern: a line that begins with a moment to the second. It is a log's, and nobody's words."""
_QUOTED = lazily(
    r"`[^`\n]*`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|(?<!\w)'[^'\n]{2,200}'(?!\w)"
)
_LINE = lazily(r"^[ \t]*(?:>|\$ |# |\[\w+\]|\d{4}-\d\d-\d\d[t ]|\d\d:\d\d:\d\d|(?:\t| {4,})).*$", re.M)
"""Quoted lines, shell prompts, log lines, indented code."""
LINE_MARKS = "> $#[\t0123456789"
"""What the first line begins with, if `_LINE` finds it."""
_BREAK = lazily(r"[.!?;…\n。！？](?:(?<=[\n。！？])|[.!?…]*[)\"'*_]*(?=\s|$))")
_HASHED = lazily(r"#+\w+#+")
_LIST_ITEM = lazily(r"\s*(?:[-*•]|\d+[.)])(?:\s|$)")
QUOTES = lazily(r"[`\"“«„]|(?<!\w)'")
"""What may begin a quotation or code."""
WORD = lazily(r"[^\W_]+(?:'[^\W_]+)?")


class Sentence(NamedTuple):
    """A sentence, folded, and where it begins in the content."""

    text: str
    start: int


def _blank(found: re.Match[str]) -> str:
    return " " * (found.end() - found.start())


def _fold(lowered: str, marked: bool) -> str:
    """Code and quotations blanked, of which there is none unless `marked`; the same length."""
    if marked and ("```" in lowered or "~~~" in lowered):
        lowered = FENCE.sub(_blank, lowered)
    if marked and "##" in lowered:
        lowered = _HASHED.sub(_blank, lowered)
    if "\n" in lowered or lowered[0] in LINE_MARKS:
        lowered = _LINE.sub(_blank, lowered)
    return _QUOTED.sub(_blank, lowered) if marked else lowered


def lower(text: str) -> str:
    """Lower case of the same length, apostrophes alike."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    if lowered.isascii():
        return lowered
    return lowered.replace("’", "'").replace("¡", " ").replace("！", "!")


def _sentences(folded: str, base: int) -> list[Sentence]:
    found: list[Sentence] = []
    at = 0
    stops = [stop.end() for stop in _BREAK.finditer(folded)]
    if not stops or stops[-1] < len(folded):
        stops.append(len(folded))
    for stop in stops:
        text = folded[at:stop]
        bare = text.strip()
        if bare:
            found.append(Sentence(bare, base + at + text.index(bare)))
        at = stop
    return found


def read_sentences(lowered: str, marked: bool) -> list[Sentence]:
    """The sentences of a turn; of a long one those at its beginning and at its end."""
    if len(lowered) <= LONGEST:
        found = _sentences(_fold(lowered, marked), 0)
    else:
        half = LONGEST // 2
        tail = len(lowered) - half
        found = _sentences(_fold(lowered[:half], marked), 0) + _sentences(_fold(lowered[tail:], marked), tail)
    half = MAX_SENTENCES // 2
    return found if len(found) <= MAX_SENTENCES else found[:half] + found[-half:]


def last_sentences(lowered: str, base: int) -> Iterator[Sentence]:
    """The last sentences of a turn, the last one first, items of a list left out; `lowered` begins at `base`."""
    stop = len(lowered.rstrip())
    left = LAST
    while stop > 0 and left:
        start = 0
        for mark in ("\n", ". ", "? ", "! "):
            at = lowered.rfind(mark, start, stop - 1)
            if at >= 0:
                start = at + 1
        text = lowered[start:stop].strip()
        if text and not _LIST_ITEM.match(text):
            left -= 1
            yield Sentence(text, base + start)
        stop = start
