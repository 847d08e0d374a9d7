"""Cues: words by which people open, close, resume and steer a topic. The tables are data: one TOML file per language.

A phrase counts where its words follow each other; `start` phrases only where a clause begins (at the beginning, after
punctuation, after a filler such as "so" or "ok"). A turn without any phrase's first word costs nothing here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import product

from streams.core.patterns import lazily

LANGUAGES = ("en", "de", "fr", "es")
"""Languages with a table beside this file; a phrase of any of them counts in every turn."""

FOLDED = {ord(c): None for c in "'’‘`´"}
"""Apostrophes are dropped before words are looked up, so that "that's" and "thats" are one word."""

UNSPACED = lazily(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han. Korean is spaced."""

_FILLERS = """
so and but well ok okay oh hi hey hello ah please then now um yes no yeah sure great also just
"""
FILLERS = frozenset(_FILLERS.split())
"""Words that may stand between the beginning of a clause and what it begins with."""


class Node:
    """Where a walk along phrases stands: the cues whose phrase ends here, and where the next word leads."""

    __slots__ = ("cues", "next")

    def __init__(self) -> None:
        self.cues: tuple[str, ...] = ()
        self.next: dict[str, Node] = {}


def _fold(text: str) -> tuple[str, ...]:
    return tuple(text.casefold().translate(FOLDED).replace("-", " ").split())


def _choices(phrase: str) -> Iterable[tuple[str, ...]]:
    """The phrases that one phrase of a table stands for: "by|before noon" for two."""
    return product(*(word.split("|") for word in _fold(phrase)))


def _tables() -> tuple[frozenset[str], frozenset[str], Node, Node]:
    stop: set[str] = set()
    common: set[str] = set()
    roots = {"start": Node(), "any": Node()}
    for language in LANGUAGES:
        table = tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text("utf-8"))
        stop.update(word for text in table["stop"].split() for word in _fold(text))
        common.update(word for text in table["common"].split() for word in _fold(text))
        for cue, places in table["cues"].items():
            for place, phrases in places.items():
                for words in (words for phrase in phrases for words in _choices(phrase)):
                    node = roots[place]
                    for word in words:
                        node = node.next.setdefault(word, Node())
                    node.cues = tuple(dict.fromkeys((*node.cues, cue)))
    return frozenset(stop), frozenset(common), roots["start"], roots["any"]


STOP, COMMON, STARTS, ANYWHERE = _tables()
"""Stop words; capitalised words that name nothing; phrases that begin a clause; phrases that stand anywhere."""


def follow(node: Node, words: Sequence[str], at: int, found: dict[str, None]) -> None:
    """Adds to `found` the cues of every phrase under `node` that begins at place `at` of `words` (folded)."""
    end = len(words)
    step = node.next.get(words[at])
    while step is not None:
        for cue in step.cues:
            found[cue] = None
        at += 1
        if at == end or not step.next:
            return
        step = step.next.get(words[at])
