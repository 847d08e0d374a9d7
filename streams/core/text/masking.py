"""A text with nothing in it that tells who, where or which: every word that is not a plain word is masked by its kind.

    "Ann's key AKIA1234 for 10.0.0.7 expired"   ->   "[name] key [secret] for [number] [term]"

Why words are let through and not identifiers kept out: a detector misses the identifier that it has no rule for, and
who shares knowledge cannot take it back. What is let through stands in the tables of plain words of this package (stop
words of all its languages, common English words); of those that are names as well ("Rose", "Mark") the ones with a
capital are masked. Detector libraries were looked at: detect-secrets finds keys alone, scrubadub and presidio need
models of hundreds of megabytes for names, and none of them promises to find all.
"""

from __future__ import annotations

import re

from streams.core.patterns import lazily
from streams.core.text.commonness import COMMON_WORDS, LIGHT_WORDS, ORDINARY_WORDS, VERBS
from streams.core.text.cues import FOLDED, STOP

LEAST = 3
"""Plain words that tell something: with fewer left a text says nothing."""
_PLAIN = (
    frozenset(word for words in (LIGHT_WORDS, COMMON_WORDS, ORDINARY_WORDS, VERBS) for word in words.split()) | STOP
)
_NAMES = """
rose mark will may june april august grace hope joy faith bill jack art rich frank dawn iris ivy ruby amber summer
autumn chase pat sue drew grant dean miles victor page reed wade max penny sandy monday friday
"""
_AMBIGUOUS = frozenset(_NAMES.split())
"""Plain words that are names as well: with a capital they are masked wherever they stand."""
_WORD = lazily(r"\S+")
_EDGES = " \t\n\"'`’‘“”«»()[]{}<>.,;:!?…*~|–—"
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"\S+@\S+\.\w+")),
    ("address", re.compile(r"(?:\w+:)?//\S+|www\.\S+|(?:[\w-]+\.)+[a-z]{2,}\b(?:/\S*)?$")),
    ("handle", re.compile(r"[@#]\w+")),
    ("number", re.compile(r"[\d.,:%+-]+")),
    ("path", re.compile(r"\S*[\\/]\S*|~\S+|\S+\.\w{1,5}$")),
    ("secret", re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[\w+=./-]{12,}|[A-Za-z0-9+/_=-]{24,}")),
    ("number", re.compile(r"\S*\d\S*")),
)
_MASK = lazily(rf"(\[(?:name|term|{'|'.join({kind: 0 for kind, _ in _KINDS})})\])([.,;:!?…]*)")
"""A mask: what was masked before stays as it is."""
_ENDINGS = ("", "s", "es", "ed", "d", "ing", "ly", "er", "ers")
_HALVES = lazily(r"[-'’/]")


def _plain(word: str) -> bool:
    """Whether a lower-case word is a plain one, or a form of one."""
    folded = word.translate(FOLDED)
    if folded in _PLAIN:
        return True
    return any(
        folded.endswith(end) and (folded[: -len(end)] in _PLAIN or f"{folded[: -len(end)]}e" in _PLAIN)
        for end in _ENDINGS[1:]
        if len(folded) > len(end) + 2
    )


def _masked(bare: str, begins: bool) -> str:
    """A word without the punctuation about it, masked by its kind unless it is a plain one."""
    lower = bare.casefold()
    if bare.isalpha() or (_HALVES.search(bare) and all(part.isalpha() for part in _HALVES.split(bare) if part)):
        parts = [part for part in _HALVES.split(lower) if part]
        capital = any(part[:1].isupper() for part in _HALVES.split(bare))
        plain = "/" not in bare and all(_plain(part) or len(part) == 1 for part in parts)
        if plain and (not capital or (begins and lower not in _AMBIGUOUS and bare[1:] == lower[1:]) or lower == "i"):
            return bare
        return "[name]" if capital else "[term]"
    return f"[{next((kind for kind, pattern in _KINDS if pattern.fullmatch(bare)), 'number')}]"


def masked(text: str) -> str:
    """A text with every word masked that is not a plain one; runs of one mask are one."""
    out: list[str] = []
    begins = True
    for raw in _WORD.findall(text):
        if mask := _MASK.fullmatch(raw):
            if out[-1:] != [mask[1]]:
                out.append(mask[1] + mask[2])
            continue
        bare = raw.strip(_EDGES)
        if not bare:
            begins = begins or raw[-1] in ".!?"
            continue
        at = raw.index(bare)
        word = _masked(bare, begins)
        end = "".join(mark for mark in raw[at + len(bare) :] if mark in ".,;:!?…")
        if not (word.startswith("[") and out and out[-1] == word):
            out.append(word + end)
        begins = raw[-1] in ".!?:"
    return " ".join(out)


def generalised(text: str) -> str:
    """A text masked; "" where too little is left to say anything."""
    found = masked(text)
    told = [word for word in found.split() if not word.startswith("[") and word.strip(_EDGES).casefold() not in STOP]
    return found if len(told) >= LEAST else ""
