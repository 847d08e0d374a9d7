"""What sentences give as a reason, what they draw from it, and what they set beside or against each other.

    because   "the test fails because the cookie was renamed"   the reason supports the claim
    so        "the cookie was renamed, so the test fails"       the claim derives from the premise; "which means", too
    example   "Releases break tests. For example, 3.2 did."     the instance is a special case
    unlike    "Unlike the old proxy, this one strips headers."  set against what is known of the other
    again     "The test fails, same as before."                 said again of what is known

The words are data, by language (cues.toml); a language is guessed from the sentence. Questions reason about nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from streams.core.patterns import lazily
from streams.core.text.commonness import CLASSES, LIGHT
from streams.core.text.cues import FOLDED
from streams.core.text.languages import language
from streams.core.text.marks import Marks
from streams.core.text.telling import excerpt, sentences
from streams.core.text.terms import terms

READS, MOST, STEM, STEMS, LEAST = 480, 2, 24, 12, 3
"""Characters of a turn that are read, reasons of it, characters and number of stems, and how many telling stems a claim
and its reason have together."""
_TABLE: dict[str, dict[str, list[str]]] = {}
_WORDS: dict[str, dict[str, frozenset[str]]] = {"no": {}, "taste": {}, "always": {}, "open": {}}
for _code, _cues in tomllib.loads(files(__package__).joinpath("cues.toml").read_text("utf-8")).items():
    _TABLE[_code] = {name: cue for name, cue in _cues.items() if isinstance(cue, list)}
    for _name, _found in _WORDS.items():
        _found[_code] = frozenset(_cues.get(_name, "").translate(FOLDED).split())
_UNSPACED = frozenset(("zh", "ja"))
_JOINED = frozenset(("denn", "car"))
"""Words that give a reason behind a comma alone."""
_LEADS = frozenset(("so", "also", "du coup"))
"""Words that as often only lead into a sentence: they reason within one alone."""
_MARKS = (
    *("because", ", so ", "therefore", "hence", "s why", " is why", "means", "meaning", "for example", "for instance"),
    *("unlike", "as before", "as opposed", "in contrast", "as a result", "reason", "given that", "last time", "weil"),
    *(", denn", "deshalb", "deswegen", "daher", ", also", "bedeutet", "beispiel", "anders als", "gegensatz", "parce"),
    *(", car ", "donc", "veut dire", "exemple", "contrairement", "porque", "por eso", "por lo", "significa", "ejemplo"),
    "a diferencia",
)
_ALL_MARKS = (*_MARKS, "heißt", "así que", "因", "所以", "由于", "例", "なぜ", "だから", "つまり", "不像")
"""Parts of a turn that may reason, and those where it is not ASCII alone: others are not read."""
_MAY_REASON = Marks(*_ALL_MARKS)
_HEDGED = lazily(
    r"[,;:\s–—-]+(?:(?:and|just|only|partly|mainly|mostly|simply|probably|maybe|perhaps|und|et|y)[,\s]*)*$", re.I
)
_STOPS = tuple(",;:–—-")
_MARKED = lazily(r"\{[a-z]+\}|^\S{2,24}:\s+")
"""What a transcriber marked, and who is spoken to: neither is said."""
_FILLER = r"(?:u+h+m*|u+m+|e+rm?|e+h+|h+m+|mm+|ä+h+m*|ö+h+m*|euh+)"
_FILLERS = lazily(rf"(?:,\s*)?\b{_FILLER}\b(?:\s*,)?", re.I)
_LED = lazily(
    r"^(?:(?:so(?! (?:far|much|many|long)\b)|and|but"
    r"|well|yeah|yes|yep|ok|okay|right|oh|like|also|und|aber|ja|et|mais|oui|y|pero|sí|i mean|you know"
    r"|for instance|for example|of course|zum beispiel|par exemple|por ejemplo)\b[\s,]*)+", re.I
)  # fmt: skip
_IF = lazily(r"\b(?:if|whether|wenn|falls|ob|si)\b[^,]*$", re.I)
"""A claim that ends in a condition: it is not said what the reason is of."""
_ASKS = lazily(
    r"(?:is|are|was|were|can|could|do|does|did|will|would|should|has|have)(?:n't)? (?:i|you|we|they|he|she|it|there|the"
    r"|this|that|any|some)", re.I
)  # fmt: skip
"""How a claim begins that is a question, with or without its mark."""
_NOT_SO = lazily(r"(?:that|far|much|many|long|to speak|what|why|how|as|called|help me|on\b|is|are|was|do|did)\b", re.I)


class Reason(NamedTuple):
    """What is given for, drawn from, or set beside what."""

    cue: str
    """because, so, means, example, unlike or again."""
    target: str
    """What is claimed."""
    source: str
    """Its reason, premise or instance; of `unlike` what it is set against; of `again` nothing."""


@cache
def _patterns(code: str) -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """Of a language: cue, pattern, and whether its first group is the claim."""
    table, found = _TABLE[code], []
    gap, maybe = ("", "") if code in _UNSPACED else (r"\s+", r"\s*")
    comma = "[，,；、。]" if code in _UNSPACED else r"[,;–—-]+\s"

    def words(name: str, without: frozenset[str] = frozenset()) -> str:
        return "|".join(re.escape(cue) for cue in table[name] if cue not in without)

    def add(cue: str, pattern: str, claims_first: bool) -> None:
        found.append((cue, re.compile(pattern, re.IGNORECASE), claims_first))

    add("because", rf"^(?:{words('because', _JOINED)}){gap}(.{{6,}}?){comma}(?:所以|then )?(.{{6,}})$", False)
    plain, all_ = words("because", _JOINED), words("because")
    add("because", rf"^(.{{6,}}?)(?:{comma}(?:{all_})|{gap or comma}(?:{plain})){gap}(?:of )?(.{{6,}})$", True)
    add("means", rf"^(.{{6,}}?)(?:{comma}|{gap or comma})(?:and )?(?:{words('means')}),?{gap}(.{{6,}})$", False)
    add("so", rf"^(.{{6,}}?){comma}{maybe}(?:and )?(?:{words('so')}),?{gap}(.{{6,}})$", False)
    return tuple(found)


@cache
def _leading(code: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Of a language: what a sentence begins with that reasons from the one before it."""
    return tuple(
        (name, re.compile(rf"^(?:{cues})[,:]?\s*(.{{6,}})$", re.IGNORECASE))
        for name in ("means", "so", "example")
        if (cues := "|".join(re.escape(cue) for cue in _TABLE[code][name] if cue not in _LEADS))
    )


@cache
def _beside(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Of a language: what sets a sentence against something, and what says that it is as before."""
    unlike, again = ("|".join(map(re.escape, _TABLE[code][name])) for name in ("unlike", "again"))
    return re.compile(rf"^(?:{unlike})\s*(.{{3,}}?)[,，]\s*(.{{6,}})$", re.I), re.compile(f"(?:{again})", re.I)


def _folded(text: str) -> list[str]:
    return [word.strip("\"'.,;:!?()[]…") for word in text.casefold().replace("’", "'").translate(FOLDED).split()]


@lru_cache(maxsize=4096)
def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text that tell something; a memo of a pure function."""
    found = (stem[:STEM] for stem in terms(text)[0] if CLASSES[stem] > LIGHT)
    return tuple(dict.fromkeys(found))[:STEMS]


@lru_cache(maxsize=4096)
def denies(text: str) -> bool:
    """Whether a text denies something: it has an odd number of words that do."""
    words = _folded(text)
    code = language(text, words)
    no = _WORDS["no"].get(code, _WORDS["no"]["en"])
    if code in _UNSPACED:
        return any(word in text for word in no)
    return sum(word in no or word.endswith("n't") for word in words) % 2 == 1


def has(kind: str, text: str) -> bool:
    """Whether a text has a word of taste ("taste"), or one that makes it a rule ("always")."""
    words = _folded(text)
    return not _WORDS[kind].get(language(text, words), _WORDS[kind]["en"]).isdisjoint(words)


def reasons(content: str) -> Sequence[Reason]:
    """What a turn reasons, in its order, at most `MOST`."""
    if not _MAY_REASON.may_be_in(content):
        return ()
    lower = content[:READS].lower()
    for mark in _MARKS if lower.isascii() else _ALL_MARKS:
        if mark in lower:
            break
    else:
        return ()
    found: list[Reason] = []
    before = ""
    for told in sentences(excerpt(content, READS)):
        text = told.text.strip().rstrip(".!。！ ")
        if "asks" in told.features or text.endswith("…"):
            before = ""
            continue
        code = language(text, _folded(text))
        found += _read(text, before, code if code in _TABLE else "en")[: MOST - len(found)]
        if len(found) >= MOST:
            break
        before = text
    return found


def _read(text: str, before: str, code: str) -> list[Reason]:
    """What one sentence reasons, with the one before it."""
    unlike, again = _beside(code)
    text = _MARKED.sub("", text)
    if match := unlike.match(text):
        return [Reason("unlike", text, match[1])] if _says(match[2]) else []
    for cue, pattern in _leading(code):
        if before and (match := pattern.match(text)) and _says(before, match[1]) and _says(match[1], before):
            return [Reason(cue, before, match[1]) if cue == "example" else Reason(cue, match[1], before)]
    for cue, pattern, claims_first in _patterns(code):
        if match := pattern.match(text):
            # Why: before a comma "only" is of the claim ("it is for staff only, because"), else of the reason.
            hedged = text[match.end(1) :][:1] not in _STOPS
            one, other = _HEDGED.sub("", match[1]) if hedged else match[1], match[2].strip(" ,;:–—-")
            if (cue == "so" and _NOT_SO.match(other)) or _ends_in_no(one) or (cue == "because" and _IF.search(one)):
                continue
            one, other = _whole(one, code), _whole(other, code)
            target, source = (one, other) if claims_first else (other, one)
            if not _ASKS.match(target) and _says(target, source) and _says(source, target):
                return [Reason(cue, target, source)]
    return [Reason("again", text, "")] if again.search(text) and _says(text) else []


def _whole(clause: str, code: str) -> str:
    """What a clause says, without what only fills it or leads into it; "" where it breaks off."""
    said = " ".join(_FILLERS.sub(" ", clause).split())
    if code in _UNSPACED:
        return said
    said = _LED.sub("", said).strip(" ,;:–—-") or said
    words = _folded(said)
    return "" if len(words) < LEAST or words[-1] in _WORDS["open"].get(code, ()) else said


def _says(text: str, other: str = "") -> bool:
    """Whether a clause tells something, and with another together enough."""
    if len(text.split()) < 2 and text.isascii():
        return False
    own, others = stems_of(text), stems_of(other)
    return bool(own) and (not other or bool(others)) and len({*own, *others}) >= (LEAST if other else LEAST - 1)


def _ends_in_no(text: str) -> bool:
    """ "It is not because ...": that is no reason."""
    last = _folded(text)[-1:]
    return bool(last) and last[0] in ("not", "nicht", "pas", "no")
