"""Terms, names and token counts of a text, in one pass over its words.

Each distinct word is looked at once and remembered: its stem, whether it names something, what it may begin. Work is
bounded: of an oversize text only the beginning and the end are read, and its tokens are scaled up from these.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import Stemmer

from streams.text.cues import ANYWHERE, COMMON, FILLERS, FOLDED, STARTS, STOP, follow

HEAD, TAIL = 24_000, 6_000
"""Characters read at the beginning and the end of an oversize text: about 4,000 and 1,000 words."""
MAX_TERMS, MAX_NAMES = 64, 16
"""Features kept of one turn, so that events and records stay small: the most used terms, the first names."""
MAX_WORD = 32
"""Longer words are data, not vocabulary: counted as tokens only (scripts without spaces excepted)."""
MAX_RAW = 64
"""Longer words, punctuation and all, are not remembered."""
MAX_CACHE = 1 << 16
"""Distinct words remembered. A memo of a pure function: forgetting it changes nothing but speed."""
MAX_CLAUSES = 64
"""Clauses of one turn whose beginnings are compared with cue phrases."""
MAX_BIGRAMS = 256
"""Character pairs taken of one run in a script without spaces."""

CLAUSE, SENTENCE, ASKED, TRIGGER, NAMED, CAPITAL, MORE, FILLER = 1, 2, 4, 8, 16, 32, 64, 128
"""Flags of a word: ends a clause, a sentence, a question; begins a phrase; is a name, is one unless it begins a
sentence; holds several words; may stand before the beginning of a clause."""


Word = tuple[int, str, str, int, str, tuple[str, ...]]
"""What is known of one whitespace-separated word: its tokens; the word folded, without punctuation, "" where nothing is
left; its stem, "" for a stop word; flags; the name it is; the stems after the first, where it holds several words. A
plain tuple, because unpacking a named one costs twice as much."""


class Scan(NamedTuple):
    """What one pass finds."""

    tokens: int
    terms: list[str]
    counts: list[int]
    forms: list[str]
    names: list[str]
    cues: list[str]


_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han. Korean is spaced."""
_PART = re.compile(r"[^\W_]+")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_NAME = re.compile(
    r"#\d+|[a-z][a-z0-9]*-\d+|\S*[a-z]\S*\d\S*|\S*\d\S*[a-z]\S*|\d{5,}|\S+_\S+|[\w-]{2,}(?:\.[\w-]{2,})+|[~.]{0,2}/\S+|\S+/\S+[/.]\S+"
    r"|\S+@\S+\.\S+|\S+::\S+|\w+\(\)",
)
_NO_NAME = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|a\.m|p\.m|x|s|h|hr|hrs|min|mins|k|m|mb|gb|kb|km|kg|lb|lbs|ms|sec|d|yr|yo|ft|cm|mm|%|-\w+)"
    r"|\d[\d.,:/-]*\d(?:am|pm)"
)
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_EDGE = " \t\n\"'`’‘“”«»()[]{}<>.,;:!?…*~|=+-–—_\x00。、！？，：；「」『』（）【】؟،؛"
_ENGLISH = Stemmer.Stemmer("english", 0)
_RUSSIAN = Stemmer.Stemmer("russian", 0)


def _stem(word: str) -> str:
    if len(word) < 2 or word in STOP:
        return ""
    if word.isascii():
        return "" if word.isdigit() and len(word) < 3 else str(_ENGLISH.stemWord(word))
    return str(_RUSSIAN.stemWord(word)) if _CYRILLIC.search(word) else word


def _name(bare: str, folded: str, quoted: bool) -> int:
    """Whether a word without its surrounding punctuation names something: NAMED, CAPITAL or 0."""
    if not 2 <= len(bare) <= 120:
        return 0
    if (quoted and not bare.isspace()) or _CAMEL.search(bare):
        return NAMED
    if not bare.isalpha() and _NAME.fullmatch(folded) and not _NO_NAME.fullmatch(folded):
        return NAMED
    plain = folded.translate(FOLDED)
    if (
        bare[0].isupper()
        and plain not in STOP
        and plain not in COMMON
        and bare[1:].replace("-", "").replace("'", "").isalpha()
    ):
        return CAPITAL
    return 0


def _bigrams(run: str) -> list[str]:
    run = run[: MAX_BIGRAMS + 1]
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def _look(raw: str) -> Word:
    """Everything about a whitespace-separated word."""
    bare = raw.strip(_EDGE)
    end = (raw.rstrip("\"'`’”»)]}*_") or raw)[-1:]
    flags = (CLAUSE if end and end in ".,!?;:…-–—。、！？，：；؟،؛" else 0) | (
        SENTENCE if end and end in ".!?…。！？؟" else 0
    )
    flags |= ASKED if end in ("?", "？", "؟") or "??" in raw or "?!" in raw else 0
    if not bare:
        return (1, "", "", flags, "", ())
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", bare).casefold())
    wide = sum(len(run) for run in _WIDE.findall(raw)) if not raw.isascii() else 0
    tokens = 1 + (len(raw) - 1) // 7 if not wide else (wide * 2 + 2) // 3 + (len(raw) - wide + 6) // 7
    if wide:
        if "？" in raw or "?" in raw:
            flags |= ASKED
        stems = [gram for run in _WIDE.findall(folded) for gram in _bigrams(run)][:MAX_BIGRAMS]
        stems += [stem for part in _PART.findall(_WIDE.sub(" ", folded[:MAX_BIGRAMS])) if (stem := _stem(part))]
        return (tokens, stems[0] if stems else "", stems[0] if stems else "", flags | MORE, "", tuple(stems[1:]))
    name = ""
    if kind := _name(bare, folded, raw[:1] == "`" and raw.rstrip(".,;:!?")[-1:] == "`"):
        name = folded.removesuffix("'s").removesuffix("’s").lstrip("@")
        flags |= kind
    if len(folded) > MAX_WORD:
        return (tokens, "", "", flags, name, ())
    parts = [part for part in _PART.findall(folded.translate(FOLDED)) if part]
    if not parts:
        return (tokens, "", "", flags, name, ())
    stems = [_stem(part) for part in parts]
    flags |= (TRIGGER if parts[0] in ANYWHERE.next else 0) | (FILLER if parts[0] in FILLERS else 0)
    more = tuple(stem for stem in stems[1:] if stem)
    return (tokens, parts[0], stems[0], flags | (MORE if more else 0), name, more)


class _Words(dict[str, Word]):
    def __missing__(self, raw: str) -> Word:
        found = _look(raw)
        if len(raw) <= MAX_RAW:
            if len(self) >= MAX_CACHE:
                self.clear()
            self[raw] = found
        return found


WORDS = _Words()
"""What is known of each word, looked up by the word as it stands in a text."""


def scan(content: str) -> Scan:
    """Terms (distinct stems in order of first use), their counts, names, tokens and cues of a text.

    Tokens: over the words, 1 + (length - 1) // 7, which is within 2 % of a byte-pair tokenizer on average; in scripts
    without spaces one per 1.5 characters.
    """
    read = content if len(content) <= HEAD + TAIL else f"{content[:HEAD]} {content[-TAIL:]}"
    known = [*map(WORDS.__getitem__, read.split())]
    if not known:
        return Scan(0, [], [], [], [], [])
    counted: dict[str, int] = {}
    forms: dict[str, str] = {}
    for _, form, stem, _, _, _ in known:
        if stem:
            if stem in counted:
                counted[stem] += 1
            else:
                counted[stem] = 1
                forms[stem] = form
    names, cues = _flagged(known, counted)
    tokens = sum([word[0] for word in known])
    if len(read) < len(content):
        tokens = tokens * len(content) // len(read)
    if len(counted) > MAX_TERMS:
        kept = frozenset(sorted(counted, key=lambda stem: -counted[stem])[:MAX_TERMS])
        counted = {stem: count for stem, count in counted.items() if stem in kept}
    return Scan(tokens, list(counted), list(counted.values()), [forms.get(stem, stem) for stem in counted], names, cues)


def _flagged(known: list[Word], counted: dict[str, int]) -> tuple[list[str], list[str]]:
    """Names and cues, from the few words that need a second look; further stems of compounds go to `counted`."""
    words = [word[1] for word in known]
    names: dict[str, None] = {}
    cues: dict[str, None] = {}
    start = sentence = end = 0
    follow(STARTS, words, 0, cues)
    for at in [at for at, word in enumerate(known) if word[3]]:
        flags = known[at][3]
        if flags & TRIGGER:
            follow(ANYWHERE, words, at, cues)
        if flags & NAMED or (flags & CAPITAL and at != sentence):
            names[known[at][4]] = None
        if flags & (CLAUSE | FILLER) and (flags & CLAUSE or at == start) and at + 1 < len(words):
            start = at + 1
            if end < MAX_CLAUSES:
                end += 1
                follow(STARTS, words, start, cues)
        if flags & SENTENCE:
            sentence = at + 1
        if flags & (ASKED | MORE):
            if flags & ASKED:
                cues["question"] = None
                if at >= len(words) - 2:
                    cues["asking"] = None
            if flags & MORE:
                for stem in known[at][5]:
                    counted[stem] = counted.get(stem, 0) + 1
    return list(names)[:MAX_NAMES], list(cues)


def tokens(content: str) -> int:
    """Estimated model tokens: those of `scan`, without the rest of its work."""
    read = content if len(content) <= HEAD + TAIL else f"{content[:HEAD]} {content[-TAIL:]}"
    counted = sum([word[0] for word in map(WORDS.__getitem__, read.split())])
    return counted * len(content) // len(read) if len(read) < len(content) else counted


def terms(content: str) -> tuple[list[str], list[int]]:
    """Distinct stems and how often each is used; see scan."""
    found = scan(content)
    return found.terms, found.counts
