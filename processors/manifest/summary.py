"""Summaries: a retrieval cue of a segment, extracted as the segment grows.

    cue = what was asked + what was found + what was decided + the words that tell the segment from others

The sentences are the turns' own: the first questions or requests, the last finding, the last decision. They are clipped
as in a telegram, without stop words: rare among cues, those would outweigh the telling words when cues are searched
(measured: that costs a fifth of the mean reciprocal rank). The rest of the budget goes to words that they leave out,
each once, as it was written:

    words of a matter, those of most turns first; then light words (make, tuesday), the latest first

A cue of 100 tokens so holds several times as many telling words as the first 100 tokens of the segment. Source: maximal
marginal relevance (Carbonell and Goldstein 1998), where two words are alike when they are the same. Finer orders, by
rarity times turns, find no more (measured) and cost a sort of all words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, filterfalse, islice

from streams.core.text import Text
from streams.core.text.commonness import CLASSES
from streams.core.text.terms import MAX_CACHE, WORDS

LONGEST, RECENT, TAKEN_BACK = 32, 3, 16
"""Bytes of a kept word; last turns whose retraction takes their terms back; terms kept of each of these."""

SAID = 120
"""Characters kept of a turn whose sentence may stand in the summary."""

NEGATIONS = frozenset(
    (
        "not",
        "no",
        "never",
        "none",
        "without",
        "cannot",
        "cant",
        "wont",
        "dont",
        "didnt",
        "doesnt",
        "nicht",
        "kein",
        "pas",
    )
)
"""Stop words that turn a sentence round."""

TELLING = 3
"""A sentence that tells something has so many words besides stop words."""

QUOTED = frozenset(("question", "opening", "decision", "finding"))
"""Cues of turns whose sentences are kept; the first sentence is whatever its cues."""

STOPS = (". ", "! ", "? ", "\n")
_SHORT = re.compile(r"(?:.{,22}?(?:[.!?]\s+|\n\s*))+")
"""Sentences too short to tell anything, before the first that may."""


@dataclass(slots=True)
class Evidence:
    """State, `open/<session>`: what is kept of a session's last segment to summarize it. Bounded."""

    segment: str
    first_turn: str
    last_turn: str
    turns: int = 0
    tokens: int = 0
    opening: list[str] = field(default_factory=list)
    """The first turn with content, and its beginning: what the segment is called where no word of it tells anything."""
    asked: list[list[str]] = field(default_factory=list)
    """Turn and sentence of the first questions and requests."""
    found: list[str] = field(default_factory=list)
    """Turn and beginning of the last finding; empty for none."""
    decided: list[str] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)
    """Words of a matter, by stem, in order of first use: how each was first written."""
    light: dict[str, str] = field(default_factory=dict)
    """Words that alone tell no matter, likewise."""
    counts: dict[str, int] = field(default_factory=dict)
    """In how many turns a stem of `forms` was used; only of those used in more than one."""
    recent: dict[str, list[str]] = field(default_factory=dict)
    """The last turns, each with its stems: what a retraction takes back."""
    due: int = 0
    """The number of turns at which the next summary is written."""
    closed: bool = False


class _Kept(dict[str, int]):
    """Tokens of a word that a telegram keeps, 0 of one that it drops: a memo of a pure function."""

    def __missing__(self, word: str) -> int:
        tokens, folded, stem, _, _, _ = WORDS[word]
        cost = tokens if stem or folded in NEGATIONS else 0
        if len(word) <= 2 * LONGEST:
            if len(self) >= MAX_CACHE:
                self.clear()
            self[word] = cost
        return cost


_KEPT = _Kept()


def clip(text: str, limit: int) -> str:
    """A text as in a telegram: its first `limit` tokens without stop words (negations stay) and control characters."""
    kept = [*filter(_KEPT.__getitem__, text.split())]
    ends = [*accumulate(map(_KEPT.__getitem__, kept[: limit + 1]))]
    fit = bisect_right(ends, limit)
    said = " ".join(kept[:fit])
    if fit < len(kept):
        said = (said or kept[0][: limit * 4]) + "…"
    return said if said.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in said).split())


def sentence(content: str, asked: bool, limit: int) -> str:
    """The telling sentence of a turn: its first question where it asks, else its first sentence of some length."""
    if asked and (end := content.find("?", 0, 2000)) > 0:
        begin = max([content.rfind(stop, 0, end - 8) for stop in STOPS]) if end > 8 else -1
        return clip(content[begin + 1 : min(end + 1, begin + SAID)], limit)
    found = _SHORT.match(content, 0, SAID)
    return clip(content[found.end() if found else 0 : SAID], limit)


def gather(evidence: Evidence, turn: str, content: str, text: Text, sentences: int, clipped: int, limit: int) -> None:
    """Adds a turn to the evidence: `sentences` questions of `clipped` tokens each, at most `limit` words."""
    evidence.turns += 1
    evidence.tokens += text.tokens
    evidence.last_turn = turn
    if not evidence.opening and (said := content[:SAID].split()):
        evidence.opening = [turn, " ".join(said)]
    terms = text.terms
    if not terms:
        return
    forms, light, counts = evidence.forms, evidence.light, evidence.counts
    room = limit - len(forms) - len(light)
    if room > 0:
        written = text.forms if content.isascii() else _short(terms, text.forms)
        for stem, form in zip(terms[:room], written, strict=False):
            if stem in forms:
                counts[stem] = counts.get(stem, 1) + 1
            elif CLASSES[stem]:  # LIGHT is 0
                forms[stem] = form
            else:
                light[stem] = form
    else:
        for stem in filter(forms.__contains__, terms):
            counts[stem] = counts.get(stem, 1) + 1
    recent = evidence.recent
    recent[turn] = terms if len(terms) <= TAKEN_BACK else terms[:TAKEN_BACK]
    if len(recent) > RECENT:
        del recent[next(iter(recent))]
    if len(terms) >= TELLING and (not evidence.asked or not QUOTED.isdisjoint(text.cues)):
        _quote(evidence, turn, content, text.cues, sentences, clipped)


def _short(terms: list[str], forms: list[str]) -> list[str]:
    """The forms, stems in place of those that take too many bytes."""
    return [form if len(form.encode()) <= LONGEST else stem for stem, form in zip(terms, forms, strict=True)]


def _quote(evidence: Evidence, turn: str, content: str, cues: list[str], sentences: int, clipped: int) -> None:
    """Keeps what a turn asks, decides or finds."""
    asked = evidence.asked
    if len(asked) < sentences and (not asked or "question" in cues or "opening" in cues):
        said = sentence(content, "question" in cues, clipped)
        if said.count(" ") + 1 >= TELLING:
            asked.append([turn, said])
    elif "decision" in cues:
        evidence.decided = [turn, content[:SAID]]
    elif "finding" in cues:
        evidence.found = [turn, content[:SAID]]


def forget(evidence: Evidence, turn: str) -> None:
    """Takes a retracted turn's sentences, and one use of each of its terms, out of the evidence."""
    for stem in evidence.recent.pop(turn, ()):
        uses = evidence.counts.pop(stem, 1)
        if uses > 2:
            evidence.counts[stem] = uses - 1
        elif uses == 1:
            evidence.forms.pop(stem, None)
            evidence.light.pop(stem, None)
    evidence.asked = [asked for asked in evidence.asked if asked[0] != turn]
    if evidence.opening[:1] == [turn]:
        evidence.opening = []
    if evidence.found[:1] == [turn]:
        evidence.found = []
    if evidence.decided[:1] == [turn]:
        evidence.decided = []


def summarize(evidence: Evidence, budget: int, clipped: int, best: int) -> tuple[str, list[str]]:
    """The retrieval cue, at most `budget` tokens, its sentences `clipped`; the `best` terms (stems), best first."""
    forms, counts = evidence.forms, evidence.counts
    said = [asked[1] for asked in evidence.asked]
    said += [sentence(quoted[1], False, clipped) for quoted in (evidence.found, evidence.decided) if quoted]
    text = " ".join(said)
    repeated = sorted(counts, key=counts.__getitem__, reverse=True)
    terms = repeated[:best]
    if len(terms) < best:
        terms += islice(filterfalse(counts.__contains__, forms), best - len(terms))
    left = max(0, budget - _at_most(text) - 1)
    told = set(text.casefold().replace("?", " ").replace(",", " ").replace(".", " ").split())
    words = [*filterfalse(told.__contains__, forms.values())]
    if len(words) > left // 2:
        # Why only now: an order is of use where not all fit.
        words = [*filterfalse(told.__contains__, _ranked(forms, repeated))]
    words += islice(filterfalse(told.__contains__, reversed(evidence.light.values())), left)
    extra = _fit(words, left)
    cue = f"{text} · {extra}" if text and extra else text or extra
    if not cue and evidence.opening:
        cue = clip(evidence.opening[1], clipped) or evidence.opening[1][:clipped]
    return cue, terms


def _at_most(text: str) -> int:
    """An upper bound of the tokens of a text, those of a word being 1 + (length - 1) // 7."""
    return 1 + text.count(" ") + len(text) // 7 if text else 0


def _ranked(forms: dict[str, str], repeated: list[str]) -> Iterable[str]:
    """The forms, those of repeated stems first."""
    ranked = dict.fromkeys(repeated, "")
    ranked.update(forms)
    return ranked.values()


def _fit(words: list[str], budget: int) -> str:
    """The first of the words that take no more than so many tokens, listed."""
    listed = ", ".join(words)
    if _at_most(listed) <= budget:
        return listed
    ends = [*accumulate(map(len, words[:budget]))]
    return ", ".join(words[: bisect_right(range(len(ends)), budget, key=lambda at: at + 1 + (ends[at] + at) // 7)])
