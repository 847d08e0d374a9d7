"""Cues: the words by which a segment is found again, gathered as it grows.

    cue = words of a matter, those of most turns first, then light words (make, tuesday); each once, as it was written

A cue of 120 tokens so holds several times as many telling words as the first 120 tokens of the segment, and no stop
words: rare among cues, those would outweigh the telling words when cues are searched. For readers there is the summary.
Source: maximal marginal relevance (Carbonell and Goldstein 1998), where two words are alike when they are the same.
Finer orders, by rarity times turns, find no more (measured) and cost a sort of all words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from itertools import accumulate, filterfalse

from streams.core.text import Text
from streams.core.text.commonness import CLASSES

LONGEST = 32
"""Bytes of a kept word."""


@dataclass(slots=True)
class Evidence:
    """State, `open/<session>`: what is kept of a session's last segment to find it again. Bounded. Of the segments
    before that, `closed/<first turn>`."""

    segment: str
    first_turn: str
    last_turn: str
    turns: int = 0
    tokens: int = 0
    forms: dict[str, str] = field(default_factory=dict)
    """Words by stem, in order of first use: how each was first written."""
    counts: dict[str, int] = field(default_factory=dict)
    """In how many turns a stem of `forms` was used; only of those used in more than one."""
    bar: int = 0
    """A turn that tells more than this may be quoted in the summary."""
    due: int = 0
    """The number of turns at which the next summary is written."""
    told: bool = False
    """Whether a summary was written."""
    closed: bool = False


def gather(evidence: Evidence, turn: str, content: str, text: Text, limit: int) -> list[str]:
    """Adds a turn to the evidence: at most `limit` words. Gives those stems of it that are counted there."""
    evidence.turns += 1
    evidence.tokens += text.tokens
    evidence.last_turn = turn
    terms = text.terms
    if not terms:
        return terms
    forms, counts = evidence.forms, evidence.counts
    again = [*filter(forms.__contains__, terms)] if forms else ()
    room = limit - len(forms)
    if room > 0:
        written = text.forms if content.isascii() else _short(terms, text.forms)
        deque(map(forms.setdefault, terms[:room], written), 0)
    for stem in again:
        counts[stem] = counts.get(stem, 1) + 1
    return terms if room >= len(terms) else [*filter(forms.__contains__, terms)]


def _short(terms: list[str], forms: list[str]) -> list[str]:
    """The forms, stems in place of those that take too many bytes."""
    return [form if len(form.encode()) <= LONGEST else stem for stem, form in zip(terms, forms, strict=True)]


def forget(evidence: Evidence, stems: list[str]) -> None:
    """Takes one use of each of a turn's stems out of the evidence."""
    for stem in stems:
        uses = evidence.counts.pop(stem, 1)
        if uses > 2:
            evidence.counts[stem] = uses - 1
        elif uses == 1:
            evidence.forms.pop(stem, None)


def unsay(evidence: Evidence, stems: list[str]) -> None:
    """The same of a turn that was taken back. What other turns use, too, stands last from there on, by the alphabet
    from its end: in the order in which the turn had the words they would still tell what it said."""
    forget(evidence, stems)
    forms, counts = evidence.forms, evidence.counts
    for stem in sorted(filter(forms.__contains__, stems), reverse=True):
        forms[stem] = forms.pop(stem)
        if stem in counts:
            counts[stem] = counts.pop(stem)


def cue_of(evidence: Evidence, budget: int, best: int) -> tuple[str, list[str]]:
    """The words to find a segment by, at most `budget` tokens of them, and its `best` terms (stems), best first."""
    forms, counts = evidence.forms, evidence.counts
    ranked = sorted(filter(CLASSES.__getitem__, counts), key=counts.__getitem__, reverse=True)  # LIGHT is 0
    ranked += [stem for stem in forms if CLASSES[stem] and stem not in counts]
    light = filterfalse(CLASSES.__getitem__, forms)
    return _fit([*map(forms.__getitem__, (*ranked, *light))], budget), ranked[:best]


def joined(topics: list[str], cue: str, budget: int) -> str:
    """A cue that begins with some topics; words that they say already are left out of the rest."""
    said = {word.lower() for topic in topics for word in topic.split()}
    return _fit([*topics, *(word for word in cue.split(", ") if word.lower() not in said)], budget)


def _fit(words: list[str], budget: int) -> str:
    """The first of the words that take no more than so many tokens, those of a word being 1 + (length - 1) // 7."""
    listed = ", ".join(words)
    if 1 + listed.count(" ") + len(listed) // 7 <= budget:
        return listed
    ends = [*accumulate(map(len, words[:budget]))]
    return ", ".join(words[: bisect_right(range(len(ends)), budget, key=lambda at: at + 1 + (ends[at] + at) // 7)])
