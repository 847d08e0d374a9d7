"""Sentences, and the clauses of sentences: where they begin, what only leads in, what speaks against them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from processors.contradictions.glance import AGENTS, JOINTS
from processors.contradictions.lexicon import EXPAND, GUARD, LEAD_ON, LEADING, WORDS
from streams.core.text.sentences import LINE_MARKS, QUOTES, read_sentences

EDGE = ".,!?;:()[]*_\"'“”…~"
_TITLE = re.compile(r"\b(mrs?|ms|dr|prof|st)\.(?= )")
_TITLED = frozenset(("mr.", "mrs.", "ms.", "dr.", "prof.", "st."))
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_PAIRS = {
    "no": {"longer": "not"}, "any": {"more": "anymore", "longer": "anymore"}, "as": {"well": "also"},
    "these": {"days": "nowadays"}, "right": {"now": "now"}, "in": {"addition": "also"}, "meat": {"eater": "meat-eater"},
    "after": {"all": "actually"}, "from": {"home": "remotely"},
}  # fmt: skip
"""Two words that are read as one."""
_DIGITS = frozenset("0123456789")
_SPECIAL = frozenset((*EXPAND, *_PAIRS))
_STOPS = ",;:)"
_SENTENCE_ENDS = ".!?;…"
_ENDS = frozenset(_STOPS)
_SAYING = WORDS["saying"]


def cut_sentences(lowered: str, words: list[str]) -> Iterator[list[str]]:
    """The words of each sentence. Where nothing is quoted and all is one line, their marks tell where they end."""
    if "\n" in lowered or lowered[0] in LINE_MARKS or QUOTES.search(lowered) or not _TITLED.isdisjoint(words):
        lowered = _TITLE.sub(r"\1 ", lowered)
        for text, _ in read_sentences(lowered, QUOTES.search(lowered) is not None):
            yield text.split()
        return
    begin = 0
    for at, word in enumerate(words, 1):
        if word[-1] in _SENTENCE_ENDS:
            yield words[begin:at]
            begin = at
    if begin < len(words):
        yield words[begin:]


def cut_clauses(raw: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The clauses of a sentence, each with what joins it to the one before."""
    if JOINTS.isdisjoint(raw) and "and" not in raw and _ENDS.isdisjoint([word[-1] for word in raw]):
        return [("", [*raw])]
    found: list[tuple[str, list[str]]] = []
    joint, words = "", list[str]()
    last = len(raw) - 1
    for at, word in enumerate(raw):
        if words and (word in JOINTS or (word == "and" and at < last and raw[at + 1] in AGENTS)):
            found.append((joint, words))
            joint, words = word, []
            continue
        words.append(word)
        if word[-1] in _STOPS:
            found.append((joint, words))
            joint, words = word[-1], []
    if words:
        found.append((joint, words))
    return found


def bare_words(words: Sequence[str]) -> list[str]:
    """The words of a clause without what only leads in, bare, contractions as what they stand for."""
    bare = plain_words(words)
    while len(bare) > 1 and (bare[0] in LEADING or bare[1] in LEAD_ON.get(bare[0], ())):
        led = GUARD["lead"].sub("", " ".join(bare) + " ", 1).split()
        if len(led) == len(bare):
            break
        bare = led
    if not _SAYING.isdisjoint(bare):
        bare = plain_words(GUARD["authority"].sub("", " ".join(bare) + " ", 1).split())
    return bare


def blocked(clauses: Sequence[tuple[str, list[str]]], place: int, text: str) -> bool:
    """Whether the clause at a place, or one that it hangs on, is asked, supposed, reported or holds at times only."""
    if "://" in text or "{" in text or "|" in text or "=" in text:
        return True
    for joint, words in reversed(clauses[: place + 1]):
        clause = " ".join(bare_words(words))
        if any(GUARD[guard].search(clause) for guard in ("question", "doubt", "scope", "reported")):
            return True
        if joint in ("but", "yet", ";") or clause.startswith(("now ", "nowadays ")):
            return False
    return False


def told_of(text: str) -> tuple[bool, bool]:
    """Whether a sentence tells of a change, and of something that stands beside."""
    return GUARD["correcting"].search(text) is not None, GUARD["chatter"].search(text) is not None


def plain_words(raw: Sequence[str]) -> list[str]:
    """Words, bare, contractions as what they stand for."""
    found = [bare for word in raw if (bare := word.strip(EDGE))]
    if _SPECIAL.isdisjoint(found) and _DIGITS.isdisjoint([word[0] for word in found]):
        return found
    found = []
    at = 0
    size = len(raw)
    while at < size:
        word = raw[at].strip(EDGE)
        at += 1
        if word in EXPAND:
            found += EXPAND[word]
        elif word in _PAIRS and at < size and (one := _PAIRS[word].get(raw[at].strip(EDGE))):
            found.append(one)
            at += 1
        elif word:
            found.append(THOUSANDS.sub("", word) if word[0].isdigit() else word)
    return found
