"""What a turn says of people and things: its statements, and whom its words show to be people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from processors.objects.events import Says
from processors.objects.kinds import kind
from processors.objects.passages import CALLS, MANNER, READ, TABLE, Passage, compiled, cut
from streams.core.patterns import lazily
from streams.core.text.commonness import CLASSES, RARE
from streams.core.text.cues import COMMON, STOP
from streams.core.text.languages import language
from streams.core.text.marks import Marks
from streams.core.text.terms import WORDS
from streams.core.text.times import KINDS

_MAY_RULE = Marks(*CALLS["rule"])
_RULE_NAME, _RULE = compiled("rule_name"), compiled("rule")
VALUES = {word: float(value) for value, words in TABLE["close"].items() for word in words.split()}
"""What a relationship is worth, by its word."""
_NAME = r"(?P<{}>[A-Z][\w'’-]*[a-z][\w-]*)"
_WORD = r"[A-Z][\w'’-]*"
_WHOSE, _ROLES = "(?i:my|our|his|her|their|the|meine?|unsere?|mi|ma|mon)", "|".join(VALUES)
_RELATED = lazily(
    rf"(?<!\w){_WHOSE} (?:\w+ )?(?P<role>{_ROLES}),? {_NAME.format('name')}"
    rf"|{_NAME.format('other')}(?: (?:from|of|at) (?P<of>{_WORD}))?(?:,| is| was) {_WHOSE}"
    rf" (?:\w+ ){{0,2}}(?P<is>{_ROLES})(?!\w)"
)
_BEFORE = lazily(
    rf"(?<!\w)(?i:{TABLE['people']['before']}(?: (?:{'|'.join(TABLE['people']['titles'].split())})\.?)?) "
    + _NAME.format("name")
)
_BEHIND = lazily(rf"{_NAME.format('name')} (?:{'|'.join(TABLE['people']['behind'])}|{TABLE['people']['owns']})(?!\w)")
_ACTS = frozenset(acts.partition(" ")[0].replace("?", "") for acts in TABLE["people"]["behind"]) - {"is"}
"""First words of what stands behind a name that only people have."""
_FIRM = ("from ", "of ", "at ")
"""What stands before the name of a firm or place: what follows is said of whom it belongs to."""
_THEN = lazily(
    rf"(?:^|[.!?]\s|(?<!\w)(?:{TABLE['people']['with']})\s){_NAME.format('name')}"
    rf"(?: {_WORD})?(?: (?:(?!my |our )[^.!?\n]){{0,80}})?[.!?]\s+(?:She|He)(?!\w)"
)
"""A name that "she" or "he" of the next sentence is."""
_BEGINS = lazily(rf"{TABLE['people']['clause']}{_NAME.format('name')} {TABLE['people']['does']}(?!\w)")
LEADS = frozenset(TABLE["people"]["leads"].split())
"""Words that begin with a capital before a name and are no part of it."""
NO_SUBJECTS, ARTICLES, TITLES = (frozenset(TABLE["people"][name].split()) for name in ("of", "articles", "titles"))
"""Words before a name that make it no subject; those before which a noun with a capital need not be a name; titles."""
_UNNAMED = frozenset(TABLE["people"]["no_names"].split()) | TITLES
_SAYINGS = {
    word: lazily(rf"(?<!\w)(?:{saying})(?!\w)", re.IGNORECASE) for word, saying in TABLE["people"]["sayings"].items()
}
"""Names that mean nobody in sayings, by word."""
PRONOUNS = frozenset(TABLE["seen"]["person"].split())
_FRONT = frozenset((*LEADS, *TITLES, *TABLE["people"]["front"].split()))
_NO_NAMES = {*STOP, *COMMON, *LEADS, *TITLES}
_STARTS = ".!?…:-–—"
"""What the beginning of a sentence stands behind."""
_RUN = lazily(r"[A-Z][\w'’&-]*(?: (?:de |van |von |da )?[A-Z][\w'’&-]*){1,3}")


class Statement(NamedTuple):
    """A passage that states something."""

    text: str
    says: Says
    strength: float
    answers: bool = False
    """Whether it begins with the question that it answers."""


class Person(NamedTuple):
    """A word that the turn shows to be somebody's name."""

    word: str
    role: str
    """What that person is to who speaks; "" where the turn does not say."""
    of: str = ""
    """For whom that person is it: "Sara Miller from Contoso is our contact"."""


def statement(passage: Passage, own: bool = False) -> Statement:
    """What a passage states. `own`: of who says it."""
    text = cut(passage.text)
    if passage.seen & MANNER:
        return Statement(text, "manner", 0.95)
    whole = f"“{passage.asked}” {text}" if passage.asked else text
    return Statement(whole, *kind(text, passage.seen, own), whole != text)


def shows_people(forms: Sequence[str]) -> bool:
    """Whether a turn has a word for who somebody is to its speaker."""
    return not VALUES.keys().isdisjoint(forms)


def people(content: str, related: bool = True, then: bool = True) -> Iterator[Person]:
    """Whom a turn's words show to be people, folded to lower case; those whose role is told first. `related`: it has a
    word for who somebody is to its speaker. `then`: also who "she" of the next sentence is."""
    for found in _RELATED.finditer(content) if related else ():
        name, role, of = found["name"] or found["other"], found["role"] or found["is"], found["of"] or ""
        yield Person(name.lower(), role.lower(), of.lower())
    for found in _BEFORE.finditer(content):
        yield Person(found["name"].lower(), "")
    for found in _BEHIND.finditer(content):
        if not content.endswith(_FIRM, 0, found.start()):
            yield Person(bare_genitive(found["name"].lower()), "")
    for found in _THEN.finditer(content) if then and (" She" in content or " He" in content) else ():
        yield Person(found["name"].lower(), "")


def opening(content: str, forms: Sequence[str]) -> Iterator[str]:
    """Names with which sentences begin, where every word has a capital, folded to lower case: rare words that the turn
    shows to be people ("Marta prefers short answers")."""
    related = shows_people(forms)
    if related or not _ACTS.isdisjoint(forms):
        for one in people(content, related, then=False):
            if CLASSES[WORDS[one.word][2]] == RARE and one.word not in _NO_NAMES and one.word not in VALUES:
                yield one.word


def names(content: str, found: Sequence[str]) -> list[str]:
    """Of words that a turn writes like names those that are: no titles and no days, and where all nouns have a capital,
    what its words show."""
    if language(content, map(bare_name, content.split())) == "de":
        shown = {one.word for one in people(content)} | {one["name"].lower() for one in _BEGINS.finditer(content)}
        found = [name for name in found if name in shown]
    return [
        name
        for name in found
        if name not in _UNNAMED and not {name, name.removesuffix("s")} & KINDS.keys() and not _is_saying(content, name)
    ]


def _is_saying(content: str, name: str) -> bool:
    """Whether a word stands in a saying in which it names nobody."""
    return name in _SAYINGS and _SAYINGS[name].search(content) is not None


def runs(content: str) -> dict[str, str]:
    """Names of several words that stand in a turn, by each of their words, folded to lower case."""
    found: dict[str, str] = {}
    for run in _RUN.finditer(content):
        words = run[0].split()
        # Why: an ordinary word has a capital where it begins a sentence; elsewhere it is part of the name.
        begins = not run.start() or content[: run.start()].rstrip()[-1:] in _STARTS
        for end, no_names in (0, _NO_NAMES if begins else _FRONT), (-1, _NO_NAMES):
            while words and not {bare_name(words[end]), words[end].lower()}.isdisjoint(no_names):
                words.pop(end)
        if len(words) > 1:
            for word in words:
                found.setdefault(bare_name(word), bare_genitive(" ".join(words)))
    return found


def may_rule(content: str) -> bool:
    """Whether a turn has a word for what demands something."""
    return _MAY_RULE.may_be_in(content) and any(word in content for word in CALLS["rule"])


def rule(sentence: str) -> str:
    """What a sentence that demands something is about: "refund policy"; "" where it demands nothing, and of what only a
    number tells whose it is ("a 14,500 budget is tight")."""
    named = _RULE_NAME.search(sentence)
    if named is None or not _RULE.match(sentence, named.end() + 1):
        return ""
    *whose, what = named["name"].lower().split()
    whose = [word for word in whose if (stem := WORDS[word][2]) and CLASSES[stem] and not word.isdigit()]
    return f"{whose[-1]} {what}" if whose else ""


def written(content: str, name: str) -> str:
    """A name as it stands in a turn, given as it is folded."""
    found = next((word for word in content.split() if name in word.lower() and bare_name(word) == name), name)
    return bare_genitive(found.strip('.,;:!?"“”()'))


def is_named(content: str, name: str) -> bool:
    """Whether a turn with a word that is known as a name means that: an ordinary word does with a capital only."""
    if _is_saying(content, name):
        return False
    return CLASSES[WORDS[name][2]] == RARE or f"{name[:1].upper()}{name[1:]}" in content or name.upper() in content


def called(content: str, names: Sequence[str]) -> bool:
    """Whether a turn only calls somebody by name ("Wow, Marta!"): who is called is not meant by "she"."""
    words = content[:READ].split()
    found = [place for place, word in enumerate(words) if bare_name(word) in names]
    return bool(found) and all(
        words[place][-1] in ",!.?"
        and (not place or words[place - 1][-1] in ",!.?" or words[place - 1].lower().strip(".") in LEADS | TITLES)
        for place in found
    )


def refers(content: str) -> bool:
    """Whether a turn begins with "she" or "he": what it names later on is not who is meant."""
    return content[:8].split(" ", 1)[0].lower().partition("'")[0] in PRONOUNS


def bare_genitive(name: str) -> str:
    """A name without its genitive."""
    return name.removesuffix("'s").removesuffix("’s")


def bare_name(word: str) -> str:
    """A word of a name, folded, without its genitive."""
    return word.lower().strip('.,;:!?"“”()').removesuffix("'s").removesuffix("’s")
