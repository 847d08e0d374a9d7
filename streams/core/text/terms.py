"""Terms, names and token counts of a text, in one pass over its words.

Each distinct word is looked at once and remembered: its stem, whether it names something, what it may begin. Work is
bounded: of an oversize text only the beginning and the end are read, and its tokens are scaled up from these.
"""

from __future__ import annotations

import unicodedata
from collections import _count_elements  # type: ignore[attr-defined]  # What Counter counts with, on a plain dict.
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import Stemmer

from streams.core.patterns import lazily
from streams.core.text.address import called
from streams.core.text.cues import ANYWHERE, COMMON, FILLERS, FOLDED, STARTS, STOP, UNSPACED, follow
from streams.core.text.memo import Memo
from streams.core.text.phrases import triggers
from streams.core.text.reminders import may_name
from streams.core.text.stops import is_shortened

HEAD, TAIL = 24_000, 6_000
"""Characters read at the beginning and the end of an oversize text: about 4,000 and 1,000 words."""
MAX_TERMS, MAX_NAMES = 64, 16
"""Features kept of one turn, so that events and records stay small: the most used terms, the first names."""
MAX_WORD = 32
"""Longer words are data, not vocabulary: counted as tokens only (scripts without spaces excepted)."""
KNOWN, MAX_KNOWN = 1 << 12, 2_000
"""Texts whose tokens are remembered, and characters of the longest of them: what a context shows, it shows again."""
MAX_CLAUSES = 64
"""Clauses of one turn whose beginnings are compared with cue phrases."""
MAX_FILLERS = 8
"""Fillers that may stand before the beginning of a clause."""
MAX_BIGRAMS = 256
"""Character pairs taken of one run in a script without spaces."""

CLAUSE, SENTENCE, ASKED, NAMED, CAPITAL, MORE, SAYS, REMINDS, CLAIMS = 1, 2, 4, 8, 16, 32, 64, 128, 256
"""Flags of a word: ends a clause, a sentence, a question; is a name, is one unless it begins a sentence; holds several
words; is a cue by itself; may name a time or ask for a reminder; may belong to a claim."""


More = tuple[str, tuple[str, ...], str, int]
"""What few words have: the name the word is; the stems after the first, where it holds several words; whom it may call;
the claims that it may belong to."""
Word = tuple[int, str, str, int, frozenset[str], More]
"""What is known of one whitespace-separated word: its tokens; the word folded, without punctuation, "" where nothing is
left; its stem, "" for a stop word; flags; words that make a cue right behind it; and more.
Why a plain tuple: columns of plain tuples are made in one call."""
SELDOM = ASKED | MORE | REMINDS | CLAIMS | SAYS
_NONE: frozenset[str] = frozenset()


class Scan(NamedTuple):
    """What one pass finds."""

    tokens: int
    terms: list[str]
    counts: list[int]
    forms: list[str]
    names: list[str]
    cues: list[str]


_PART = lazily(r"[^\W_]+")
_CYRILLIC = lazily("[\u0400-\u04ff]")
_NAME = lazily(
    r"#\d+|[a-z][a-z0-9]*-\d+|\S*[a-z]\S*\d\S*|\S*\d\S*[a-z]\S*|\d{5,}|\S+_\S+|[\w-]{2,}(?:\.[\w-]{2,})+|[~.]{0,2}/\S+|\S+/\S+[/.]\S+"
    r"|\S+@\S+\.\S+|\S+::\S+|\w+\(\)",
)
_NO_NAME = lazily(
    r"\d+(?:st|nd|rd|th|am|pm|a\.m|p\.m|x|s|h|hr|hrs|min|mins|k|m|mb|gb|kb|km|kg|lb|lbs|ms|sec|d|yr|yo|ft|cm|mm|%|-\w+)"
    r"|\d[\d.,:/-]*\d(?:am|pm)"
)
_CAMEL = lazily(r"[a-z0-9][A-Z]")
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


def _ends(raw: str) -> int:
    """What a word ends: flags."""
    end = (raw.rstrip("\"'`’”»)]}*_") or raw)[-1:]
    flags = CLAUSE if end and end in ".,!?;:…-–—。、！？，：；؟،؛" else 0
    flags |= SENTENCE if end and end in ".!?…。！？؟" and not is_shortened(raw) else 0
    return flags | (ASKED if end in ("?", "？", "؟") or "??" in raw or "?!" in raw else 0)


def _look(raw: str) -> Word:
    """Everything about a whitespace-separated word."""
    bare = raw.strip(_EDGE)
    claimed = triggers(raw)
    flags = _ends(raw) | (CLAIMS if claimed else 0)
    if not bare:
        return (1, "", "", flags, _NONE, ("", (), called(raw), claimed))
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", bare).casefold())
    wide = sum(len(run) for run in UNSPACED.findall(raw)) if not raw.isascii() else 0
    parts = _PART.findall(folded[:HEAD].translate(FOLDED))
    flags |= REMINDS if may_name(folded, parts) else 0
    if wide:
        if "？" in raw or "?" in raw:
            flags |= ASKED
        tokens = (wide * 2 + 2) // 3 + (len(raw) - wide + 6) // 7
        stems = [gram for run in UNSPACED.findall(folded) for gram in _bigrams(run)][:MAX_BIGRAMS]
        stems += [stem for part in _PART.findall(UNSPACED.sub(" ", folded[:MAX_BIGRAMS])) if (stem := _stem(part))]
        first, more = (stems[0], tuple(stems[1:])) if stems else ("", ())
        return (tokens, first, first, flags | MORE, _NONE, ("", more, called(raw), claimed))
    tokens = 1 + (len(raw) - 1) // 7
    name = ""
    if kind := _name(bare, folded, raw[:1] == "`" and raw.rstrip(".,;:!?")[-1:] == "`"):
        name = folded.removesuffix("'s").removesuffix("’s").lstrip("@")
        flags |= kind
    if len(folded) > MAX_WORD or not parts:
        return (tokens, "", "", flags, _NONE, (name, (), called(raw), claimed))
    stems = [_stem(part) for part in parts]
    more = tuple(stem for stem in stems[1:] if stem)
    cue = ANYWHERE.next.get(parts[0])
    flags |= (SAYS if cue and cue.cues else 0) | (MORE if more else 0)
    leads = frozenset(cue.next) if cue else _NONE
    # Why one object for equal texts: a turn's words are looked up all over memory, and each place visited costs.
    form = raw if raw == parts[0] else parts[0]
    return (tokens, form, form if form == stems[0] else stems[0], flags, leads, (name, more, called(raw), claimed))


WORDS = Memo(_look)
"""What is known of each word, looked up by the word as it stands in a text."""


def scan(content: str) -> Scan:
    """Terms (distinct stems in order of first use), their counts, names, tokens and cues of a text.

    Tokens: over the words, 1 + (length - 1) // 7, which is within 2 % of a byte-pair tokenizer on average; in scripts
    without spaces one per 1.5 characters.
    """
    words = clip(content).split()
    if not words:
        return Scan(0, [], [], [], [], [])
    counted, forms, stems, flags, leads, more = zip(*map(WORDS.__getitem__, words), strict=True)
    names, cues, rest, _ = second_look(forms, flags, leads, more)
    return Scan(scale(sum(counted), content), *count_terms(stems, forms, rest), names, cues)


def clip(content: str) -> str:
    """What is read of a text."""
    return content if len(content) <= HEAD + TAIL else f"{content[:HEAD]} {content[-TAIL:]}"


def scale(tokens: int, content: str) -> int:
    """Tokens of a text, given those of what is read of it."""
    return tokens if len(content) <= HEAD + TAIL else tokens * len(content) // (HEAD + 1 + TAIL)


def count_terms(stems: Sequence[str], forms: Sequence[str], rest: list[str]) -> tuple[list[str], list[int], list[str]]:
    """Distinct stems in order of first use, those of `rest` last; their counts; how they are first written."""
    forms = [*compress(forms, stems)]
    stems = [*filter(None, stems)]
    counts: dict[str, int] = {}
    _count_elements(counts, stems)
    if len(counts) == len(stems) <= MAX_TERMS and not rest:
        return stems, [1] * len(stems), forms
    written = dict(zip(reversed(stems), reversed(forms), strict=True))
    if len(counts) <= MAX_TERMS and not rest:
        return [*counts], [*counts.values()], [*map(written.__getitem__, counts)]
    for stem in rest:
        counts[stem] = counts.get(stem, 0) + 1
    if len(counts) > MAX_TERMS:
        kept = frozenset(sorted(counts, key=lambda stem: -counts[stem])[:MAX_TERMS])
        counts = {stem: count for stem, count in counts.items() if stem in kept}
    return [*counts], [*counts.values()], [written.get(stem, stem) for stem in counts]


def second_look(
    words: Sequence[str], flagged: Sequence[int], leads: Sequence[frozenset[str]], more: Sequence[More]
) -> tuple[list[str], list[str], list[str], int]:
    """Names, cues, further stems of compounds, and the claims that may be made: what few of the words tell of.

    Given the folded words of a text, their flags, what makes a cue behind them, and more; see Word.
    """
    last = len(words) - 1
    names: dict[str, None] = {}
    cues: dict[str, None] = {}
    rest: list[str] = []
    claimed = sentence = 0
    clauses = MAX_CLAUSES
    if words[0] in BEGINNINGS:
        begin(words, 0, cues)
    for at in compress(range(last), leads):
        if words[at + 1] in leads[at]:
            follow(ANYWHERE, words, at, cues)
    for at in compress(range(last + 1), flagged):
        flags = flagged[at]
        if flags & CLAUSE:
            if at < last and clauses:
                clauses -= 1
                if words[at + 1] in BEGINNINGS:
                    begin(words, at + 1, cues)
            if flags & NAMED or (flags & CAPITAL and at != sentence):
                names[more[at][0]] = None
            if flags & SENTENCE:
                sentence = at + 1
        elif flags & NAMED or (flags & CAPITAL and at != sentence):
            names[more[at][0]] = None
        if flags & SELDOM:
            claimed |= more[at][3]
            if flags & SAYS:
                follow(ANYWHERE, words, at, cues)
            if flags & REMINDS:
                cues["when"] = None
            if flags & ASKED:
                cues["question"] = None
                if at >= last - 1:
                    cues["asking"] = None
            rest += more[at][1]
    return [*names][:MAX_NAMES], [*cues], rest, claimed


BEGINNINGS = frozenset(STARTS.next) | FILLERS
"""Words that may begin a clause and be a cue, or stand before one that does."""


def begin(words: Sequence[str], at: int, cues: dict[str, None]) -> None:
    """Adds the cues of phrases that begin a clause at place `at`, or behind fillers there."""
    for place, word in enumerate(words[at : at + MAX_FILLERS], at):
        if word in STARTS.next:
            follow(STARTS, words, place, cues)
        if word not in FILLERS:
            return


def tokens(content: str) -> int:
    """Estimated model tokens: those of `scan`, without the rest of its work. A text has those of its lines together."""
    return _known_tokens(content) if len(content) <= MAX_KNOWN else _tokens(content)


def _tokens(content: str) -> int:
    words = clip(content).split()
    if not content.isascii():
        return scale(sum([WORDS[word][0] for word in words]), content)
    # Why not by looking, too: what a context shows is full of ids, words that are met once.
    long = [word for word in words if len(word) > 7]
    return scale(len(words) + sum([(len(word) - 1) // 7 for word in long if word.strip(_EDGE)]), content)


_known_tokens = lru_cache(KNOWN)(_tokens)


def terms(content: str) -> tuple[list[str], list[int]]:
    """Distinct stems and how often each is used; see scan."""
    found = scan(content)
    return found.terms, found.counts


def stems(content: str) -> tuple[frozenset[str], int]:
    """Distinct stems and tokens of a text: those of `scan`, in a third of the time."""
    words = [*map(WORDS.__getitem__, clip(content).split())]
    found = {word[2] for word in words}
    found.update(*[word[5][1] for word in words if word[3] & MORE])
    found.discard("")
    if len(found) > MAX_TERMS:
        found = {*terms(content)[0]}
    return frozenset(found), scale(sum([word[0] for word in words]), content)
