"""The words that beliefs are read by, compiled: one table per language, see beliefs.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache, reduce
from importlib.resources import files
from operator import or_
from typing import Any, NamedTuple

from processors.contradictions.sentences import Sentence, pieces_of
from processors.contradictions.words import WORDS
from streams.core.dataclasses import dataclass, fields
from streams.core.text.memo import Memo


class Needs(NamedTuple):
    """What must follow a verb or a trait."""

    words: frozenset[str]
    """Of which one must be next; it is part of the attribute."""
    named: frozenset[str]
    """The same, of those behind which a name stands, or "a"."""
    begins: frozenset[str]
    """Of which one may be next, with which what is said begins."""
    heads: frozenset[str]
    """Words of which one may be what is named next."""
    anything: bool
    """Anything may follow that does not begin with a preposition or "the"."""
    tastes: bool
    """The same, of what one likes."""
    doing: bool
    """What one does may follow: "started teaching"."""
    deeds: bool
    """What is to be done may follow: "helps me relax"."""
    alone: bool
    """Nothing must."""


class Verb(NamedTuple):
    """What a form of a verb tells."""

    base: str
    third: str
    kind: str
    """Of KINDS."""
    needs: Needs
    done: str


class Form(NamedTuple):
    """Of which verbs a word is which form."""

    present: tuple[Verb, ...] = ()
    third: tuple[Verb, ...] = ()
    doing: tuple[Verb, ...] = ()
    past: tuple[Verb, ...] = ()
    done: tuple[Verb, ...] = ()


NO_FORM = Form()
KINDS = ("habit", "like", "own", "doing", "become", "aim", "move")
"""What is so for long, what one likes, has, is at, what changed one's life, what is planned, what things do for one."""
_DOUBLED = frozenset(("run", "swim", "quit", "get", "win", "plan", "begin", "knit"))
WHO, THE, OWNED, TELLS, DROPS, MY, ME, MOVES, BE, MEASURED, VALUED, JOKES, MAY_BE = (1 << place for place in range(13))
"""What is seen of a word: who is told of, what is told. See `Grammar.tells`."""
NUMBERS = frozenset("0123456789$€£")
"""What a number begins with."""
_MARKS = ("=", "~", "-ing", "-do", ".")


@dataclass
class Lists:
    """The lists of words of a table, as it names and explains them."""

    i: frozenset[str]
    my: frozenset[str]
    me: frozenset[str]
    joins: frozenset[str]
    leads: frozenset[str]
    telling: frozenset[str]
    adverbs: frozenset[str]
    forever: frozenset[str]
    denies: frozenset[str]
    be: frozenset[str]
    have: frozenset[str]
    do: frozenset[str]
    ends: frozenset[str]
    may_end: frozenset[str]
    joining: frozenset[str]
    subjects: frozenset[str]
    relative: frozenset[str]
    helping: frozenset[str]
    finite: frozenset[str]
    points: frozenset[str]
    theirs: frozenset[str]
    passing: frozenset[str]
    days: frozenset[str]
    trail: frozenset[str]
    prepositions: frozenset[str]
    articles: frozenset[str]
    degrees: frozenset[str]
    when: frozenset[str]
    which: frozenset[str]
    counts: frozenset[str]
    vague: frozenset[str]
    jokes: frozenset[str]
    conditions: frozenset[str]
    kin: frozenset[str]
    ours: frozenset[str]
    friends: frozenset[str]
    pets: frozenset[str]
    things: frozenset[str]
    health: frozenset[str]
    works: frozenset[str]
    classes: frozenset[str]
    lost: frozenset[str]
    within: frozenset[str]
    roles: frozenset[str]
    no_roles: frozenset[str]
    favourites: frozenset[str]
    facts: frozenset[str]
    measured: frozenset[str]
    sorts: frozenset[str]
    generic: frozenset[str]
    no_tastes: frozenset[str]
    no_deeds: frozenset[str]
    aims: frozenset[str]
    dreams: frozenset[str]
    spans: frozenset[str]
    no_aims: frozenset[str]
    able: frozenset[str]
    told: frozenset[str]
    feelings: frozenset[str]


class Grammar(Lists):
    """The words of a language."""

    def __init__(self, name: str, table: dict[str, Any]) -> None:
        super().__init__(**{field.name: frozenset(table[field.name].split()) for field in fields(Lists)})
        self.words = WORDS[name]
        self.role_ends = tuple(table["role_ends"].split())
        self.persons = self.kin | self.friends | self.pets
        self.lasting = self.persons | self.things | self.works | self.health
        self.claims = self.i | self.my | self.finite | frozenset(("he", "she", "they", "it"))
        self.unnamed = self.points | self.finite | self.theirs | self.me | frozenset(("us",))
        """Words that do not stand before the verb in what names something."""
        self.naming = frozenset(("called", "named"))
        """Words behind which stands what is meant: without it, what is named is not told."""
        self.no_begins = self.joining | self.when | {",", "every", "each", "out", "up", "back"}
        """Words that no value begins with."""
        self.determiners = self.articles | self.my | self.theirs | self.points
        self.traits = {
            trait: self._needs(needs) for trait, _, needs in (line.partition(":") for line in table["traits"])
        }
        self.forms: dict[str, Form] = {}
        for kind in KINDS:
            for line in table[kind]:
                self._conjugate(kind, *line.partition(":")[::2])
        self.moving = self._words_of("move")
        self.dropping = frozenset(word for word, form in self.forms.items() if form.past and not form.present)
        """Verbs that a sentence may begin with that leaves out who speaks: "Lost my job"."""
        joined = {word for words in self._lists() for word in words if "_" in word}
        self.lengths: dict[str, list[int]] = {}
        """By the first of words that belong together, how many those are, the most first."""
        for first, length in sorted({(word.partition("_")[0], -word.count("_") - 1) for word in joined}):
            self.lengths.setdefault(first, []).append(-length)
        self.behind_names = self.joining | self.prepositions | self.subjects | self.relative | self.finite | self.ends
        self.behind_names |= self.may_end | self.naming | {","}
        """Words behind what is named."""
        self.parts = self.joins | {","}
        """What stands between clauses."""
        self.leading, self.beside = (
            self._begin(self.leads | self.telling | self.when | {","}),
            self._begin(self.adverbs | self.denies),
        )
        """Words with which begins what leads into a clause, and what stands beside a verb."""
        self.tell = self._begin(self.telling)
        self.verbs = self.be | self.have | self.do | {"was", "been", "can", "would", "used", "use"}
        for word, form in self.forms.items():
            kinds = {verb.kind for verb in form.present + form.third}
            if kinds & {"habit", "like", "own", "aim"} or any(verb.kind == "become" for verb in form.past):
                self.verbs |= {word}
        """Verbs behind a subject by which something may be told."""
        self.named = {word for word, form in self.forms.items() if any(one.base in self.told for one in form.third)}
        """Verbs by which it is told of whom a name stands before."""
        self.subjected = self.i | self.my | self.dropping | {"the", "been"}
        """Words that another subject begins with."""
        traits = {word for trait in (*self.traits, *self.favourites, *self.facts) for word in trait.split("_")}
        tells = {*self.forms, *traits, *self.roles, *self.within, *self.able, "used", "born", "been", "stand", "have"}
        self._sets = (
            (WHO, self.i | self.my | self.named | {"been"}),
            (THE, frozenset(("the",))),
            (OWNED, self.ours | self.pets),
            (TELLS, tells),
            (DROPS, self.dropping),
            (MY, self.my),
            (ME, self.me),
            (MOVES, self.moving),
            (BE, self.be),
            (MEASURED, self.measured),
            (JOKES, self.jokes),
            (MAY_BE, self.conditions),
        )
        self.seen = Memo(self._seen)
        """What is seen of a word as it stands in a text, in bits."""

    def _begin(self, words: frozenset[str]) -> frozenset[str]:
        """What of several words is the first."""
        return words | {word.partition("_")[0] for word in words if "_" in word}

    def _seen(self, raw: str) -> int:
        seen = 0
        for piece in pieces_of(self.words, raw):
            words = {piece.word, piece.owner, "is"} if piece.owner else {piece.word}
            seen |= sum(bit for bit, known in self._sets if not known.isdisjoint(words))
            if piece.word[0] in NUMBERS or self.words[piece.word].sort in self.sorts:
                seen |= VALUED
        return seen

    def tells(self, sentence: Sentence) -> int:
        """What is seen of a sentence that may tell something; 0 of one that tells nothing."""
        seen = reduce(or_, map(self.seen.__getitem__, sentence.raws), 0)
        if seen & JOKES:
            return 0
        if seen & (TELLS | VALUED) and (
            seen & WHO or not ~seen & (THE | OWNED) or not ~seen & (ME | MOVES) or (seen & DROPS and sentence.begins)
        ):
            return seen
        return seen if not ~seen & (VALUED | MEASURED | BE) else 0

    def _words_of(self, kind: str) -> frozenset[str]:
        forms = self.forms.items()
        return frozenset(word for word, form in forms for verb in form.present + form.third if verb.kind == kind)

    def _lists(self) -> Iterable[Iterable[str]]:
        yield from (getattr(self, field.name) for field in fields(Lists))
        yield self.traits
        for needs in (*self.traits.values(), *[v.needs for f in self.forms.values() for verbs in f for v in verbs]):
            yield from (needs.words, needs.begins)

    def _conjugate(self, kind: str, words: str, needs: str) -> None:
        base, *rest = words.split()
        past, done = rest if rest else (_past(base), _past(base))
        verb = Verb(base, _third(base), kind, self._needs(needs), done)
        for place, word in enumerate((base, verb.third, _doing(base), past, done)):
            forms = [*self.forms.get(word, NO_FORM)]
            forms[place] = (*forms[place], verb)
            self.forms[word] = Form(*forms)

    def _needs(self, needs: str) -> Needs:
        words = needs.split()
        plain = [word for word in words if word not in _MARKS and word[0] != "@" and word[-1] not in "^!"]
        heads = [head for word in words if word[0] == "@" for head in getattr(self, word[1:])]
        return Needs(
            frozenset(plain), frozenset(word[:-1] for word in words if word[-1] == "^"),
            frozenset(word[:-1] for word in words if word[-1] == "!"), frozenset(heads),
            *[mark in words for mark in _MARKS],
        )  # fmt: skip


def _third(base: str) -> str:
    if base == "have":
        return "has"
    if base[-1] == "y" and base[-2] not in "aeou":
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "o")) else f"{base}s"


def _doing(base: str) -> str:
    if base in _DOUBLED:
        return f"{base}{base[-1]}ing"
    return f"{base[:-1]}ing" if base[-1] == "e" and base[-2:] != "ee" else f"{base}ing"


def _past(base: str) -> str:
    if base[-1] == "e":
        return f"{base}d"
    if base[-1] == "y" and base[-2] not in "aeou":
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else f"{base}ed"


@cache
def grammars() -> dict[str, Grammar]:
    """By language. Why when they are first asked for: they take ten milliseconds, and most commands read no turn."""
    tables = tomllib.loads(files(__package__).joinpath("beliefs.toml").read_text("utf-8"))
    return {name: Grammar(name, table) for name, table in tables.items()}
