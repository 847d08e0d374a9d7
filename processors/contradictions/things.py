"""What a sentence tells of things: of one's favourite or job, of a press deadline, of what something does for one."""

from __future__ import annotations

from collections.abc import Sequence

from processors.contradictions.values import Belief, Subject, Values
from streams.core.patterns import lazily

MAX_LABEL, MAX_BEFORE, MAX_COUNTED = 5, 7, 5
"""Words of what is somebody's, of what is named before a verb, and of a value that begins with a number."""
_NUMBER = lazily(r"[$€£]?\d[\d.,:/-]*(?:am|pm|h|k|m|kg|km|%|€|£|\$|gb|mb|ms|s|th|st|nd|rd)?")


class Things(Values):
    """A sentence, by the things that it tells of."""

    def fact(self, subject: Subject, at: int, affirmed: bool) -> Belief | None:
        """What is said of one's favourite, or of one's job; or by a value."""
        if not self._is_fact(label := subject.label.split()):
            return self._measure(subject, at, affirmed)
        word = self.word(at)
        if word == "to":
            return self.made(subject, "", at + 1, affirmed, 2)
        is_passing = word in self.grammar.prepositions or word in ("going", "getting", "coming") or word.endswith("ed")
        is_told = not is_passing and self._is_kind(label, at)
        return self.made(subject, "", at, affirmed) if is_told else None

    def _is_kind(self, label: Sequence[str], at: int) -> bool:
        """Whether it is told of what kind a favourite is; of what one does, or of one of several, that is seen."""
        is_bare = "_".join(label) in self.grammar.favourites and label[0] != "one"
        return not is_bare or self.word(at).endswith("ing")

    def _is_fact(self, label: Sequence[str]) -> bool:
        """Whether words call one's favourite, or what one has that is told by a word."""
        grammar, pairs = self.grammar, ["_".join(label[at : at + 2]) for at in range(len(label))]
        is_had = label[-1] in grammar.facts or pairs[-2:][0] in grammar.facts
        return is_had or not grammar.favourites.isdisjoint((*label, *pairs))

    def _measure(self, subject: Subject, at: int, affirmed: bool) -> Belief | None:
        """What is told by a number, a time or a day."""
        grammar, begin = self.grammar, at + (self.word(at) in ("at", "on", "by", "in", "about", "around"))
        word = self.word(begin)
        head = subject.label.partition(" of ")[0].split()  # "the deadline of the report" is a deadline
        if not affirmed or not word or not head or head[-1] not in grammar.measured:
            return None
        is_bare = subject.label == head[-1] or (len(head) == 2 and head[0] in grammar.which)
        if not subject.mine and is_bare:  # "the window", "the new window"
            return None
        if _NUMBER.fullmatch(word) is None and grammar.words[word].sort not in grammar.sorts:
            return None
        end = self.end(begin)
        return self.cut(subject, "", begin, end, True) if end - begin <= MAX_COUNTED else None

    def valued(self, at: int) -> Belief | None:
        """ "The press deadline is Friday": what is told of a thing by a number, a time or a day."""
        grammar, be = self.grammar, self._before(at, self.grammar.be)
        begin = at + (self.word(at) in grammar.articles)
        first = self.word(begin)
        if be <= begin or self.counted(begin) or first in grammar.theirs or first in grammar.prepositions:
            return None
        behind, affirmed, _ = self.adverbs(be + 1)
        return self._measure(Subject(self.shown(begin, be), False, False, be), behind, affirmed)

    def turned(self, at: int) -> Belief | None:
        """ "Contemporary is my favourite style": what is said stands first."""
        grammar, be = self.grammar, self._before(at, self.grammar.be)
        if be <= at:
            return None
        behind, affirmed, _ = self.adverbs(be + 1)
        one = 2 * (self.joined(behind, 2) == "one_of")
        end = self.end(behind + one + 1)
        while end > behind + one + 1 and (length := self.trails(behind + one + 1, end)):
            end -= length
        label = self.words[behind + one + 1 : end]
        if self.word(behind + one) not in grammar.my or not 0 < len(label) <= MAX_LABEL or not self._is_fact(label):
            return None
        called = ("one of " if one else "") + self.shown(behind + one + 1, end)
        if not one and not self._is_kind(label, at):
            return None
        return self.cut(Subject(called, True, False, end), "", at, be, affirmed)

    def moves(self, at: int) -> Belief | None:
        """ "Dancing helps me relax": what something does for one."""
        grammar, verb = self.grammar, self._before(at, self.grammar.moving)
        if verb <= at or self.word(verb + 1) not in grammar.me or self.word(at) in grammar.articles:
            return None
        if self.is_verb(at) or not self.names(at, verb) or (verb > at + 1 and self.is_name(verb - 1)):
            return None
        begin, end = at + (self.word(at) in grammar.my), verb - (self.word(verb - 1) in grammar.adverbs)
        subject, form = Subject(self.shown(begin, end), True, False, verb), self.form(verb)
        moving = next(one for one in form.present + form.third if one.kind == "move")
        needs, behind = moving.needs, self.word(verb + 2)
        with_it = behind if behind in needs.words & {"up"} or behind in needs.begins else ""
        if with_it or (needs.alone and self.stops(verb + 2)):
            shown = f"is {moving.done} {with_it}".strip()
            return self.cut(Subject("", True, True, verb + 2 + bool(with_it)), f"{shown} by", begin, end, True)
        return self.follow(subject, self.words[verb], verb + 2, needs, True)

    def _before(self, at: int, verbs: frozenset[str]) -> int:
        """Where a verb stands behind what is named at a place; -1 where none does."""
        grammar = self.grammar
        for place in range(at, min(at + MAX_BEFORE, len(self.words))):
            word = self.words[place]
            if word in verbs:
                return place
            if (
                word in (",", "please")
                or word in grammar.subjects
                or word in grammar.relative
                or word in grammar.unnamed
            ):
                return -1
        return -1
