"""Summaries: a retrieval cue of a segment, extracted as the segment grows.

    cue = what was asked + what was found + what was decided + the words that tell the segment from others

The sentences are the turns' own: the first questions or requests, the last finding, the last decision. They are clipped
as in a telegram, without stop words: rare among cues, those would outweigh the telling words when cues are searched
(measured: that costs a fifth of the mean reciprocal rank). The rest of the budget goes to words that they leave out, by

    weight(term) = rarity(term) * (1 + log2(turns that use it))

with each word once, as it was written. A cue of 100 tokens so holds several times as many telling words as the first
100 tokens of the segment. Source: maximal marginal relevance (Carbonell and Goldstein 1998), where two words are alike
when they are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from math import log2

from streams.text import Text
from streams.text.commonness import COMMON, LIGHT, ORDINARY, RARE, rarity
from streams.text.terms import WORDS

RARITY = {LIGHT: 0.3, COMMON: 0.6, ORDINARY: 0.9, RARE: 1.0}
"""How much a term of each class of commonness tells."""

USES = [0.0, *(1 + log2(count) for count in range(1, 64))]
"""How much more a term tells by being used so often."""


class _Tells(dict[str, float]):
    """A memo of how much each term tells; forgetting it changes nothing but speed."""

    def __missing__(self, stem: str) -> float:
        if len(self) >= 1 << 16:
            self.clear()
        found = self[stem] = RARITY[rarity(stem)]
        return found


_TELLS = _Tells()

LONGEST, RECENT, TAKEN_BACK = 32, 3, 12
"""Bytes of a kept word; last turns whose retraction takes their terms back; terms kept of each of these."""

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

STOPS = (". ", "! ", "? ", "\n")


@dataclass(slots=True)
class Evidence:
    """State, `open/<session>`: what is kept of a session's last segment to summarize it. Bounded."""

    segment: str
    first_turn: str
    last_turn: str
    turns: int = 0
    tokens: int = 0
    asked: list[list[str]] = field(default_factory=list)
    """Turn and sentence of the first questions and requests."""
    found: list[str] = field(default_factory=list)
    """Turn and sentence of the last finding; empty for none."""
    decided: list[str] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)
    """By stem, in order of first use: how it was last written."""
    counts: dict[str, int] = field(default_factory=dict)
    """In how many turns a stem was used; only of those used in more than one."""
    recent: list[list[str]] = field(default_factory=list)
    """The last turns, each with its stems: what a retraction takes back."""
    due: int = 0
    """The number of turns at which the next summary is written."""
    closed: bool = False


def clip(text: str, limit: int) -> str:
    """A text as in a telegram: its first `limit` tokens without stop words (negations stay) and control characters."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    left = limit
    kept: list[str] = []
    for word in text.split():
        tokens, folded, stem, _, _, _ = WORDS[word]
        if stem or folded in NEGATIONS:
            left -= tokens
            if left < 0:
                return " ".join(kept) + "…" if kept else word[: limit * 4] + "…"
            kept.append(word)
    return " ".join(kept)


def sentence(content: str, asked: bool, limit: int) -> str:
    """The telling sentence of a turn: its first question where it asks, else its first sentence of some length."""
    text = content[:2000].strip()
    if asked and (end := text.find("?")) > 0:
        begin = max(text.rfind(stop, 0, end - 8) for stop in STOPS) if end > 8 else -1
        return clip(text[begin + 1 : end + 1], limit)
    begin = 0
    while True:
        end = min((at for stop in STOPS if (at := text.find(stop, begin)) >= 0), default=len(text))
        if end - begin >= 24 or end >= len(text) - 1:
            return clip(text[begin : end + 1] if end - begin >= 24 else text, limit)
        begin = end + 1


def gather(evidence: Evidence, turn: str, content: str, text: Text, sentences: int, clipped: int, limit: int) -> None:
    """Adds a turn to the evidence: `sentences` questions of `clipped` tokens each, at most `limit` words."""
    evidence.turns += 1
    evidence.tokens += text.tokens
    evidence.last_turn = turn
    forms, counts, terms = evidence.forms, evidence.counts, text.terms
    for stem in [stem for stem in terms if stem in forms]:
        counts[stem] = counts.get(stem, 1) + 1
    if len(forms) < limit:
        written = text.forms
        if not content.isascii():
            fit = [(stem, form) for stem, form in zip(terms, written, strict=True) if len(form.encode()) <= LONGEST]
            terms, written = [stem for stem, _ in fit], [form for _, form in fit]
        forms.update(zip(terms, written, strict=True))
        if len(forms) > limit:
            evidence.forms = dict(islice(forms.items(), limit))
    evidence.recent.append([turn, *terms[:TAKEN_BACK]])
    if len(evidence.recent) > RECENT:
        del evidence.recent[0]
    if len(text.terms) < TELLING:
        return
    cues = text.cues
    asks = "question" in cues
    if len(evidence.asked) < sentences and (asks or "opening" in cues or not evidence.asked):
        said = sentence(content, asks, clipped)
        if said.count(" ") + 1 >= TELLING:
            evidence.asked.append([turn, said])
    elif "decision" in cues:
        evidence.decided = [turn, sentence(content, False, clipped)]
    elif "finding" in cues:
        evidence.found = [turn, sentence(content, False, clipped)]


def forget(evidence: Evidence, turn: str) -> None:
    """Takes a retracted turn's sentences, and one use of each of its terms, out of the evidence."""
    for _, *stems in [recent for recent in evidence.recent if recent[0] == turn]:
        for stem in stems:
            uses = evidence.counts.pop(stem, 1)
            if uses > 2:
                evidence.counts[stem] = uses - 1
            elif uses == 1:
                evidence.forms.pop(stem, None)
    evidence.recent = [recent for recent in evidence.recent if recent[0] != turn]
    evidence.asked = [asked for asked in evidence.asked if asked[0] != turn]
    if evidence.found[:1] == [turn]:
        evidence.found = []
    if evidence.decided[:1] == [turn]:
        evidence.decided = []


def summarize(evidence: Evidence, budget: int, best: int) -> tuple[str, list[str]]:
    """The retrieval cue, at most `budget` tokens, and the `best` terms (stems), best first."""
    said = [asked[1] for asked in evidence.asked] + evidence.found[1:] + evidence.decided[1:]
    text = " ".join(said)
    left = budget - sum(1 + (len(word) - 1) // 7 for word in text.split()) - 1
    folded = text.casefold()
    tells = {stem: -_TELLS[stem] for stem in evidence.forms}
    for stem, uses in evidence.counts.items():
        if stem in tells:
            tells[stem] *= USES[min(uses, 63)]
    ranked = sorted(tells, key=tells.__getitem__)
    extra: list[str] = []
    for stem in ranked:
        form = evidence.forms[stem]
        if form in folded:
            continue
        left -= 1 + len(form) // 7
        if left < 0:
            break
        extra.append(form)
    cue = f"{text} · {', '.join(extra)}" if text and extra else text or ", ".join(extra)
    return cue, ranked[:best]
