"""What is said of somebody or something: which words of a sentence it is, and whether they name what lasts."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from processors.contradictions.clauses import Clauses
from processors.contradictions.grammar import Needs

MAX_VALUE, MAX_ATTRIBUTE, MAX_WORDS = 80, 60, 14
"""Characters of a value and of an attribute, words of a value."""
MAX_DEED = 5
"""Words of what is to be done by which it is seen whether that takes long."""


class Belief(NamedTuple):
    """What a turn says of something."""

    mine: bool
    """Whether of who says it, or of what is his."""
    attribute: str
    value: str
    affirmed: bool


class Subject(NamedTuple):
    """Of whom a clause is."""

    label: str
    """What it is called; "" for who speaks."""
    mine: bool
    person: bool
    """Whether somebody is told of, or a pet."""
    end: int
    """Where the words behind it begin."""


class Values(Clauses):
    """A sentence, by what stands behind its verbs."""

    changes = False
    """Whether what is read changed one's life: it holds whenever it was."""
    read = 0
    """Where what has been read ends: no clause begins within a value."""

    def follow(self, subject: Subject, shown: str, at: int, needs: Needs, affirmed: bool) -> Belief | None:
        """A belief, where behind a verb or a trait stands what must follow it."""
        grammar = self.grammar
        at, also, _ = self.adverbs(at)
        word = self.word(at)
        if not word or not also:
            return None
        lasts = word == "for" and not grammar.spans.isdisjoint(self.words[at : at + MAX_DEED])
        if not lasts and (length := self.count(needs.words, at)):
            behind = at + length
            is_vague = self.word(behind) in grammar.prepositions or (needs.tastes and self._is_vague(behind))
            is_vague |= self.changes and grammar.words[self.word(behind)].sort in ("month", "weekday")
            told = f"{shown} {self.shown(at, behind)}"
            return None if is_vague else self.made(subject, told, behind, affirmed)
        is_named = word in needs.named and at + 1 < len(self.words)
        if is_named and (self.is_name(at + 1) or self.word(at + 1) in ("a", "an")):
            return self.made(subject, f"{shown} {word}", at + 1, affirmed)
        return self.made(subject, shown, at, affirmed) if self._may_follow(needs, at) else None

    def _is_vague(self, at: int) -> bool:
        """Whether what is to be done is over soon, or says nothing: "I like to think so"."""
        grammar, deed = self.grammar, self.words[at : at + MAX_DEED]
        return not grammar.no_deeds.isdisjoint(deed[:1]) or not grammar.no_aims.isdisjoint(deed)

    def _may_follow(self, needs: Needs, at: int) -> bool:
        """Whether what is said may begin at a place."""
        grammar, word = self.grammar, self.word(at)
        if self.count(needs.begins, at) or (needs.doing and word.endswith("ing") and word not in grammar.no_tastes):
            return True
        if needs.deeds and word not in grammar.no_deeds | grammar.finite | grammar.prepositions:
            return True
        head = self.head(at) if needs.heads and word != "the" else -1
        is_had = self.word(head) in grammar.persons | grammar.things and not self.word(head).endswith("s")
        is_named = word in grammar.counts or head == at or (head == at + 1 and not is_had)  # not "told mum"
        if self.word(head) in needs.heads and is_named and "'" not in word:
            return True
        if not (needs.anything or needs.tastes) or word in grammar.prepositions or word in grammar.finite:
            return False
        is_time = grammar.words[word].sort in ("month", "weekday")
        if needs.tastes and (word in ("a", "an") or is_time or self.count(grammar.no_tastes, at)):
            return False
        the = at + (word in ("all", "both"))
        is_generic = self.word(the + 1) in grammar.generic and self.head(the + 1) == the + 1
        is_named = self.word(the) != "the" or is_generic
        return is_named and word not in grammar.no_begins and not self.does(at)

    def made(self, subject: Subject, shown: str, at: int, affirmed: bool, least: int = 1) -> Belief | None:
        """A belief, where what stands at a place, or the first of it, is a value of at least so many words."""
        grammar, end = self.grammar, self.end(at)
        first = self._first(at, end)
        if at < first < end and not self.words[at].endswith("ing") and not self.names(at, first):
            return None
        if not grammar.naming.isdisjoint(self.words[first:end]):
            return self.cut(subject, shown, at, end, affirmed, least)
        aims = (place for place in range(end - 1, first, -1) if self.words[place] == "to")
        ends = (end, *aims, first)
        return next(filter(None, (self.cut(subject, shown, at, stop, affirmed, least) for stop in ends)), None)

    def _first(self, at: int, end: int) -> int:
        """Where the first of several things that are named ends."""
        first = next((place for place in range(at, end) if self.words[place] in self.grammar.joining), end)
        return at if self.qualifies(at, first) else first

    def cut(self, subject: Subject, shown: str, at: int, end: int, affirmed: bool, least: int = 1) -> Belief | None:
        """A belief, its value without little words about it; None where it names nothing that lasts."""
        grammar, words = self.grammar, self.words
        if not self.changes and any(self.count(grammar.passing, place) for place in range(at, end)):
            return None
        while end > at and (length := self.trails(at, end)):
            end -= length
        while at < end and (words[at] == "," or words[at] in grammar.adverbs):
            at += 1
        if not least <= end - at <= MAX_WORDS or not self.names(at, end):
            return None
        said = words[at:end]
        if not (subject.label and subject.person) and not grammar.theirs.isdisjoint(said):
            return None
        if subject.person and not self.changes and not grammar.days.isdisjoint(said):
            return None
        value, attribute = self.shown(at, end), f"{subject.label} {shown}".strip()
        if len(value) > MAX_VALUE or len(attribute) > MAX_ATTRIBUTE:
            return None
        self.read = max(self.read, end, subject.end)
        return Belief(subject.mine, attribute, value, affirmed)

    def names(self, at: int, end: int) -> bool:
        """Whether words name something, without pointing at what a reader does not see."""
        grammar, said = self.grammar, self.words[at:end]
        is_one = said[-1] in ("one", "other", "another") and said[-2:] != ["each", "other"]
        is_one = is_one or any(word == "one" and then in grammar.prepositions for word, then in pairwise(said))
        if is_one or said[0] in grammar.me or said[0] in ("myself", "ourselves"):
            return False
        for place, word in enumerate(said):
            if word in grammar.points or word in grammar.denies:
                return False
            if word in grammar.subjects and not self._relates(at + place, at, end):
                return False
        return any(map(self._tells, said)) or (self.changes and said[-1] in grammar.things)

    def _relates(self, at: int, begin: int, end: int) -> bool:
        """Whether a word stands for what was just named: "stories that tackle something"."""
        grammar = self.grammar
        is_inside = begin < at < end - 1 and self.words[at] in grammar.relative
        return is_inside and grammar.prepositions.isdisjoint((self.words[at - 1], self.words[at + 1]))

    def _tells(self, word: str) -> bool:
        grammar = self.grammar
        if word in grammar.trail or word in grammar.vague or word in grammar.prepositions or word in grammar.adverbs:
            return False
        if word in grammar.counts:
            return False
        return len(word) > 2 or word.isdigit()
