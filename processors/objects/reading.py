"""What a turn says of people and things: its statements, and whom its words show to be people."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from processors.objects.events import Says
from streams.core.patterns import lazily
from streams.core.text.commonness import CLASSES
from streams.core.text.cues import COMMON, STOP
from streams.core.text.marks import Marks
from streams.core.text.telling import excerpt
from streams.core.text.terms import WORDS

READ, TEXT, LEAST = 800, 200, 3
"""Characters of a turn that are read, of a statement that are kept, and words that one has at least."""
_TABLE: dict[str, Any] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))


def _any(*names: str, behind: str = r"(?!\w)") -> re.Pattern[str]:
    fragments = [fragment for name in names for fragment in _TABLE["words"][name]]
    return lazily(f"(?<![\\w'’])(?:{'|'.join(fragments)}){behind}", re.IGNORECASE)


_KINDS: tuple[tuple[Says, re.Pattern[str], float], ...] = (
    *(("manner", _any("manner"), 0.95), ("role", _any("role"), 0.85), ("preference", _any("preference"), 0.8)),
    *(("deadline", _any("deadline"), 0.75), ("goal", _any("goal"), 0.7), ("pattern", _any("pattern"), 0.65)),
    ("belief", _any("belief"), 0.45),
)
"""What a statement tells, by the first that its words match, and how strong it is."""
_CALLS = {name: frozenset(words.split()) for name, words in _TABLE["calls"].items()}
_BROKEN = frozenset("}-–—…")
"""What a sentence ends with that breaks off."""
_MAY_RULE = Marks(*_CALLS["rule"])
_YOU = frozenset(("you", "your", "yours", "you're", "you've", "you'll", "you'd"))
_BEGINS = frozenset(fragment.split(" ")[0] for fragment in _TABLE["words"]["bare"])
_STOPS = {ord(mark): " " for mark in '.,;:!?()"“”…'} | {ord("’"): "'"}
_IDLE, _BARE = _any("idle"), lazily(rf"(?:{'|'.join(_TABLE['words']['bare'])})(?!\w)", re.IGNORECASE)
_ORDER = lazily(r"(?<!\w)(?:keep|make|answer|reply|respond|explain|call me|no) ", re.IGNORECASE)
_RULE_NAME, _RULE = _any("rule_name"), _any("rule")
_BREAK = lazily(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_LEADING = lazily(
    r"^(?:(?:[A-Z][\w'’]+,|yeah|yep|yes|no|well|so|oh|wow|hey|hi|thanks|and|but|ok|okay|actually|also|aww)[,!]? )+",
    re.IGNORECASE,
)
VALUES = {word: float(value) for value, words in _TABLE["close"].items() for word in words.split()}
"""What a relationship is worth, by its word."""
_NAME = r"(?P<{}>[A-Z][\w'’-]*[a-z][\w-]*)"
_WHOSE, _ROLES = "(?i:my|our|his|her|their|the|meine?|unsere?|mi|ma|mon)", "|".join(VALUES)
_RELATED = lazily(
    rf"(?<!\w){_WHOSE} (?:\w+ )?(?P<role>{_ROLES}),? {_NAME.format('name')}"
    rf"|{_NAME.format('other')}(?:,| is| was) {_WHOSE} (?:\w+ )?(?P<is>{_ROLES})(?!\w)"
)
_BEFORE = lazily(rf"(?<!\w)(?i:{_TABLE['people']['before']}) {_NAME.format('name')}")
_BEHIND = lazily(rf"{_NAME.format('name')} {_TABLE['people']['behind']}(?!\w)")
LEADS = frozenset(_TABLE["people"]["leads"].split())
"""Words that begin with a capital before a name and are no part of it."""
_RUN = lazily(r"[A-Z][\w'’&-]*(?: (?:de |van |von |da )?[A-Z][\w'’&-]*){1,3}")


class Statement(NamedTuple):
    """A sentence that states something."""

    text: str
    says: Says
    strength: float
    mine: bool
    """Whether its speaker is spoken of."""
    points: bool
    """Whether it begins with "she" or "he"."""


class Person(NamedTuple):
    """A word that the turn shows to be somebody's name."""

    word: str
    role: str
    """What that person is to who speaks; "" where the turn does not say."""


def sentences(content: str) -> list[str]:
    """The sentences of a turn that ask nothing."""
    found = _BREAK.split(excerpt(content, READ))
    return [text for text in found if text and text.rstrip()[-1:] not in "?？"]


def statement(sentence: str, named: bool = True) -> Statement | None:
    """What a sentence states; None where it is too short, breaks off, is a line of a list, asks the other for
    something, tells nothing, or only answers; where nobody is `named` also where it does not tell of its speaker."""
    plain = sentence.split()
    if len(plain) < LEAST or plain[0][0] in "-*#•|" or sentence.rstrip(" .")[-1:] in _BROKEN:
        return None
    words = {*sentence.lower().translate(_STOPS).split()}
    manner = not _CALLS["manner"].isdisjoint(words) and bool(_KINDS[0][1].search(sentence))
    if not manner and (not _YOU.isdisjoint(words) or (not _CALLS["idle"].isdisjoint(words) and _IDLE.search(sentence))):
        return None
    bare = sentence if (lead := _LEADING.match(sentence)) is None else sentence[lead.end() :]
    mine = not _CALLS["mine"].isdisjoint(words) or (
        bare.split(" ", 1)[0].lower() in _BEGINS and bool(_BARE.match(bare))
    )
    if "please" in words and not manner:
        return None
    if not (mine or manner or named) or not _tells(plain, 2 if mine else 1):
        return None
    told: tuple[Says, float] = ("manner", 0.95) if manner else ("fact", 0.5)
    for says, pattern, strength in () if manner else _KINDS[1:]:
        if not _CALLS[says].isdisjoint(words) and pattern.search(sentence):
            told = says, strength
            break
    mine = mine or (manner and bool(_ORDER.search(sentence)))
    return Statement(cut(sentence), *told, mine, bare[:3].lower().strip("'’ ") in ("she", "he"))


def _tells(words: Sequence[str], least: int) -> bool:
    """Whether words tell something: the stems of `least` of them are not light."""
    return sum([1 for word in words if (stem := WORDS[word][2]) and CLASSES[stem]]) >= least


def shows_people(forms: Sequence[str]) -> bool:
    """Whether a turn has a word for who somebody is to its speaker."""
    return not VALUES.keys().isdisjoint(forms)


def people(content: str, related: bool = True) -> Iterator[Person]:
    """Whom a turn's words show to be people, folded to lower case; those whose role is told first. `related`: it has a
    word for who somebody is to its speaker."""
    for found in _RELATED.finditer(content) if related else ():
        yield Person((found["name"] or found["other"]).lower(), (found["role"] or found["is"]).lower())
    for pattern in (_BEFORE, _BEHIND):
        for found in pattern.finditer(content):
            yield Person(found["name"].lower(), "")


def runs(content: str) -> dict[str, str]:
    """Names of several words that stand in a turn, by each of their words, folded to lower case."""
    found: dict[str, str] = {}
    for run in _RUN.findall(content):
        words = run.split()
        while words and (words[0].lower() in STOP or words[0].lower() in COMMON or words[0].lower() in LEADS):
            words.pop(0)
        if len(words) > 1:
            for word in words:
                found.setdefault(bare_name(word), bare_genitive(" ".join(words)))
    return found


def may_rule(content: str) -> bool:
    """Whether a turn has a word for what demands something."""
    return _MAY_RULE.may_be_in(content) and any(word in content for word in _CALLS["rule"])


def rule(sentence: str) -> str:
    """What a sentence that demands something is about: "refund policy"; "" where it demands nothing."""
    named = _RULE_NAME.search(sentence)
    if named is None or not _RULE.match(sentence, named.end() + 1):
        return ""
    words = [word for word in named["name"].lower().split() if WORDS[word][1] or word.endswith("policies")]
    return " ".join(words[-2:]) if len(words) > 1 else ""


def written(content: str, name: str) -> str:
    """A name as it stands in a turn, given as it is folded."""
    found = next((word for word in content.split() if name in word.lower() and bare_name(word) == name), name)
    return bare_genitive(found.strip('.,;:!?"“”()'))


def called(content: str, names: Sequence[str]) -> bool:
    """Whether a turn only calls somebody by name ("Wow, Marta!"): who is called is not meant by "she"."""
    words = content[:READ].split()
    found = [place for place, word in enumerate(words) if bare_name(word) in names]
    return bool(found) and all(
        words[place][-1] in ",!.?"
        and (not place or words[place - 1][-1] in ",!.?" or words[place - 1].lower() in LEADS)
        for place in found
    )


def bare_genitive(name: str) -> str:
    """A name without its genitive."""
    return name.removesuffix("'s").removesuffix("’s")


def bare_name(word: str) -> str:
    """A word of a name, folded, without its genitive."""
    return word.lower().strip('.,;:!?"“”()').removesuffix("'s").removesuffix("’s")


def cut(text: str) -> str:
    """The beginning of a text, bounded in bytes."""
    return " ".join(text.split())[: TEXT if text.isascii() else TEXT // 3]
