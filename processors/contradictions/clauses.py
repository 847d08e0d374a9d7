"""The clauses of a sentence: where they begin and end, and what stands in them. See beliefs for what they say."""

from __future__ import annotations

from processors.contradictions.grammar import NO_FORM, Form, Grammar
from processors.contradictions.sentences import Sentence

MAX_ADVERBS, MAX_LIST, MAX_BEHIND = 4, 12, 4
"""Adverbs in a row, words of a list behind its comma, and words behind the first in which a clause has its verb."""
_BEYOND = [""] * 16


class Clauses:
    """A sentence, by the places of its words."""

    def __init__(self, grammar: Grammar, sentence: Sentence, seen: int) -> None:
        self.grammar, self.sentence, self.seen = grammar, sentence, seen
        self.words = [piece.word for piece in sentence.pieces]
        self.word = (self.words + _BEYOND).__getitem__
        """The word at a place; "" where there is none, before the first and near behind the last."""

    # What stands at a place.

    def form(self, at: int) -> Form:
        """Of which verbs the word at a place is which form."""
        return self.grammar.forms.get(self.word(at), NO_FORM)

    def joined(self, at: int, length: int) -> str:
        """So many words as one, "" where there are not so many."""
        return "_".join(self.words[at : at + length]) if 0 <= at <= len(self.words) - length else ""

    def count(self, words: frozenset[str], at: int) -> int:
        """How many words at a place are one of a list, the most."""
        word = self.word(at)
        for length in self.grammar.lengths.get(word, ()):
            if self.joined(at, length) in words:
                return length
        return int(word in words)

    def shown(self, begin: int, end: int) -> str:
        """Words as they are written, in lower case."""
        return self.sentence.shown(begin, end)

    def is_name(self, at: int) -> bool:
        """Whether a word has a capital and is no pronoun."""
        is_word = at < len(self.words) and self.word(at) not in self.grammar.subjects
        return is_word and self.sentence.pieces[at].capital

    def is_verb(self, at: int) -> bool:
        """Whether a word is a verb that has a subject."""
        form = self.form(at)
        several = bool(form.present) and self.word(at - 1) in self.grammar.persons  # "my kids love"
        return self.word(at) in self.grammar.finite or bool(form.third or form.past) or several

    def does(self, at: int) -> bool:
        """Whether a verb with what it is done to stands at a place: "sing in a choir and play the piano"."""
        grammar, behind = self.grammar, self.word(at + 1)
        if not behind or behind in grammar.prepositions or behind == "," or behind in grammar.joining:
            return False
        return bool(self.form(at).present)

    def stops(self, at: int) -> bool:
        """Whether what stands before a place may be said alone: nothing that belongs to it follows."""
        grammar, word = self.grammar, self.word(at)
        if not word or word in (",", "now", "too", "myself", "since", "for") or word in grammar.i:
            return True
        return word in grammar.joins or word in grammar.ends or self.word(at + 1) == "years"

    def head(self, at: int) -> int:
        """The last word of what is named at a place; before it where nothing is."""
        grammar, head = self.grammar, at - 1
        for place in range(at, len(self.words)):
            word = self.words[place]
            if word in grammar.behind_names or (word in grammar.when and place > at + 1):
                break
            if word not in grammar.trail:
                head = place
        return head

    def counted(self, at: int) -> bool:
        """Whether a number stands at a place."""
        return self.word(at)[:1].isdigit() or self.grammar.words[self.word(at)].sort == "count"

    # Where clauses begin and end.

    def led(self, at: int) -> int:
        """Where a clause begins behind the words that lead into it."""
        word, leading = self.word, self.grammar.leading
        while word(at) in leading and (length := self._leads(at) or int(word(at) == ",")):
            at += length
        return at

    def _leads(self, at: int) -> int:
        """How many words at a place lead into a clause: "and", "tell you", "last week" before "I"."""
        grammar = self.grammar
        told = self.count(grammar.telling, at)
        if told:
            return told + (self.word(at + told) == "that")
        if length := self.count(grammar.leads, at):
            return length
        length = self.count(grammar.trail, at) if self.word(at) in grammar.when else 0
        return length if self.word(at + length) in grammar.i | grammar.my else 0

    def next(self, at: int) -> int:
        """Where the next clause may begin."""
        words, parts, telling = self.words, self.grammar.parts, self.grammar.tell
        for place in range(at, len(words)):
            if words[place] in parts or (words[place] in telling and self.count(self.grammar.telling, place)):
                return place
        return len(words)

    def asks(self, at: int) -> bool:
        """Whether a clause is what its sentence asks: the last, or the one before "right?"."""
        behind = self.words[at:]
        return "?" in self.sentence.mark and ("," not in behind or behind[-2] == ",")

    def goes_on(self, begin: int, at: int) -> bool:
        """Whether a clause has the subject of the one before: "I paint and sell", not "I want to paint and sell"."""
        between = self.words[begin : at - 1]
        return self.word(at - 1) in self.grammar.joins and self.grammar.helping.isdisjoint(between)

    def adverbs(self, at: int) -> tuple[int, bool, bool]:
        """Where what comes behind adverbs begins, whether they affirm, and whether it is so forever."""
        affirmed, forever = True, False
        if self.word(at) not in self.grammar.beside:
            return at, affirmed, forever
        for _ in range(MAX_ADVERBS):
            if self.word(at) in self.grammar.denies:
                affirmed = False
                at += 1
            elif length := self.count(self.grammar.adverbs, at):
                forever |= self.word(at) in self.grammar.forever
                at += length
            else:
                break
        return at, affirmed, forever

    def end(self, at: int) -> int:
        """Where what is said from a place on ends."""
        grammar, words, is_listed = self.grammar, self.words, False
        is_deed = self.word(at - 1) == "to"
        for end in range(at, len(words)):
            word = words[end]
            if word == ",":
                if self._dates(end):
                    continue
                if not is_listed and not self._lists(end + 1) and not self._qualifies(at, end):
                    return end
                is_listed = True
            elif self.count(grammar.ends, end) or self._was(at, end):
                return end
            elif word in grammar.may_end or word in grammar.joining:
                if self._begins(end + 1) or (not is_deed and self.does(end + 1)):
                    return end
            elif word in grammar.joins:
                return end
        return len(words)

    def _was(self, at: int, end: int) -> bool:
        """Whether a time stands at a place with which is told what for: "a shed last week to store hay"."""
        spans = (span for span in (1, 2) if self.word(end + span) == "to")
        return self.word(end) in self.grammar.when and any(self.trails(at, end + span) == span for span in spans)

    def trails(self, at: int, end: int) -> int:
        """How many of the last words of a value tell nothing."""
        if self.words[end - 1] == "ago":  # "two years ago"
            return min(3, end - at)
        for length in (3, 2, 1):
            if end - length >= at and self.joined(end - length, length) in self.grammar.trail:
                return length
        return int(self.words[end - 1] == "," or self.words[end - 1] in self.grammar.adverbs)

    def _begins(self, at: int) -> bool:
        """Whether a clause begins at a place, with a subject or a verb."""
        if self.word(at).endswith("ed") and self.word(at - 2).endswith("ed"):  # "rivers cleaned and restored"
            return False
        grammar, at = self.grammar, self.adverbs(self.led(at))[0]
        word, form = self.word(at), self.form(at)
        if not word or word in grammar.subjects or word in grammar.finite:
            return True
        if (form.third or form.past) and not word.endswith("ing"):
            return True
        behind = self.word(at + 1)
        if behind in grammar.determiners and word.endswith(("ed", "s")):
            return True
        if behind in grammar.prepositions | {"up", "out"} and word.endswith("ed"):
            return True
        for place in range(at + 1, min(at + MAX_BEHIND, len(self.words))):
            word = self.words[place]
            if word == "," or word in grammar.joining or word in grammar.prepositions or word in grammar.relative:
                return False
            if word in grammar.finite or self.form(place).third:
                return True
        return False

    def _dates(self, end: int) -> bool:
        """Whether a comma stands between a day and its date: "Tuesday, 6 October"."""
        words, behind = self.grammar.words, self.word(end + 1)
        is_day = words[self.word(end - 1)].sort == "weekday"
        return is_day and (behind[:1].isdigit() or words[behind].sort == "month")

    def qualifies(self, at: int, end: int) -> bool:
        """Whether what stands before a place behind "a" may only qualify what follows: "a safe and warm home"."""
        return end - 2 >= at and self.words[end - 2] in ("a", "an")

    def _qualifies(self, at: int, end: int) -> bool:
        """Whether a comma stands between what qualifies: "a safe, warm home"."""
        grammar, behind = self.grammar, self.word(end + 1)
        begins = behind in grammar.leads or behind in grammar.subjects or behind in grammar.finite or not behind
        begins = begins or behind in grammar.prepositions or behind in grammar.determiners
        begins = begins or self.word(end - 1) in grammar.lasting
        return (
            self.qualifies(at, end) and not begins and not self.is_name(end + 1) and self.word(end + 2) not in ("", ",")
        )

    def _lists(self, at: int) -> bool:
        """Whether what stands behind a comma goes on with a list: up to an "and", none is a clause."""
        grammar = self.grammar
        begin = self.word(at)
        if begin in grammar.joining or begin in grammar.prepositions or begin in grammar.me:
            return False
        for place in range(at, min(at + MAX_LIST, len(self.words))):
            word = self.words[place]
            if word in grammar.joining:
                return not self._begins(place + 1)
            if word in grammar.subjects or word in grammar.ends or word in grammar.finite or word in grammar.leads:
                return False
            if word in grammar.me and self.word(place - 1) == ",":
                return False
        return False
