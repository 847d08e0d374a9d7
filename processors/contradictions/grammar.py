"""The words that beliefs are read by, compiled: one table per language, see beliefs.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple

from processors.contradictions.words import WORDS


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
    """What one does may follow."""
    alone: bool
    """Nothing must."""


class Verb(NamedTuple):
    """What a form of a verb tells."""

    base: str
    third: str
    kind: str
    """Of KINDS."""
    needs: Needs


class Form(NamedTuple):
    """Which form of a verb a word is."""

    present: tuple[Verb, ...] = ()
    third: tuple[Verb, ...] = ()
    doing: tuple[Verb, ...] = ()
    past: tuple[Verb, ...] = ()
    done: tuple[Verb, ...] = ()


NO_FORM = Form()
KINDS = ("habit", "like", "own", "doing", "become", "aim", "move")
"""What is so for long, what one likes, what one has, is at, what changed one's life, what is planned, what things do for
one."""
_DOUBLED = frozenset(("run", "swim", "quit", "get", "win", "plan", "begin", "knit", "up"))


class Grammar:
    """The words of a language."""

    def __init__(self, name: str, table: dict[str, Any]) -> None:
        self.words = WORDS[name]
        lists = {key: frozenset(value.split()) for key, value in table.items() if isinstance(value, str)}
        self.i, self.we, self.my, self.me = lists["i"], lists["we"], lists["my"], lists["me"]
        self.be, self.was, self.have, self.do = lists["be"], lists["was"], lists["have"], lists["do"]
        self.joins, self.leads, self.adverbs, self.forever = (
            lists[key] for key in ("joins", "leads", "adverbs", "forever")
        )
        self.denies, self.ends, self.may_end, self.joining = (
            lists[key] for key in ("not_", "ends", "may_end", "and_")
        )
        self.subjects, self.relative, self.finite = lists["subjects"], lists["relative"], lists["finite"]
        self.points, self.theirs, self.passing = lists["points"], lists["theirs"], lists["passing"]
        self.trail, self.prepositions, self.articles = lists["trail"], lists["prepositions"], lists["articles"]
        self.counts, self.vague, self.jokes = lists["counts"], lists["vague"], lists["jokes"]
        self.conditions, self.within, self.generic = lists["conditions"], lists["within"], lists["generic"]
        self.kin, self.friends, self.pets, self.things = (lists[key] for key in ("kin", "friends", "pets", "things"))
        self.roles, self.no_roles, self.role_ends = lists["roles"], lists["no_roles"], tuple(table["role_ends"].split())
        self.favourites, self.facts, self.measured = lists["favourites"], lists["facts"], lists["measured"]
        self.sorts, self.no_tastes, self.aims, self.no_aims = (
            lists[key] for key in ("sorts", "no_tastes", "aims", "no_aims")
        )
        self.helping, self.no_deeds = lists["helping"], lists["no_deeds"]
        self.able, self.told, self.days = lists["able"], lists["told"], lists["days"]
        self.persons = self.kin | self.friends | self.pets
        self.traits: dict[str, Needs] = {}
        for line in table["traits"]:
            trait, _, needs = line.partition(":")
            self.traits[trait] = _needs(needs.split(), lists)
        self.forms: dict[str, Form] = {}
        for kind in KINDS:
            for line in table[kind]:
                self._conjugate(kind, *line.partition(":")[::2], lists)
        self.moving = frozenset(
            word for word, form in self.forms.items() for verb in form.present + form.third if verb.kind == "move"
        )
        self.first = frozenset(word.partition("_")[0] for words in (*lists.values(), self.traits) for word in words if "_" in word)
        """The first words of those that belong together."""

    def _conjugate(self, kind: str, words: str, needs: str, lists: dict[str, frozenset[str]]) -> None:
        base, *rest = words.split()
        past, done = rest if rest else (_past(base), _past(base))
        verb = Verb(base, _third(base), kind, _needs(needs.split(), lists))
        for place, word in enumerate((base, verb.third, _doing(base), past, done)):
            forms = [*self.forms.get(word, NO_FORM)]
            forms[place] = (*forms[place], verb)
            self.forms[word] = Form(*forms)


def _needs(given: Iterable[str], lists: dict[str, frozenset[str]]) -> Needs:
    plain, named, begins, heads = set(), set(), set(), frozenset[str]()
    marks = set()
    for need in given:
        if need in ("=", "~", "-ing", ".", "^"):
            marks.add(need)
        elif need.startswith("@"):
            heads |= lists[need[1:]]
        elif need.endswith("^"):
            named.add(need[:-1])
        elif need.endswith("!"):
            begins.add(need[:-1])
        else:
            plain.add(need)
    return Needs(
        frozenset(plain), frozenset(named), frozenset(begins), heads, "=" in marks, "~" in marks, "-ing" in marks,
        "." in marks,
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
    return f"{base[:-1]}ing" if base[-1] == "e" and not base.endswith("ee") else f"{base}ing"


def _past(base: str) -> str:
    if base[-1] == "e":
        return f"{base}d"
    if base[-1] == "y" and base[-2] not in "aeou":
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else f"{base}ed"


_TABLES = tomllib.loads(files(__package__).joinpath("beliefs.toml").read_text("utf-8"))
GRAMMARS = {name: Grammar(name, table) for name, table in _TABLES.items()}
