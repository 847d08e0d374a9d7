"""Beliefs: what a turn says for good of its speaker, of the speaker's people and things, or of a thing by a value.

    "My sister lives in Leeds and works as a nurse."   sister lives in: leeds; sister works as: a nurse
    "I've been allergic to nuts since I was six."      has been allergic to: nuts
    "Contemporary is my favourite style."              favourite style: contemporary
    "The deadline is Friday."                          deadline: friday
    "I'm dead", "I live for this", "I have to go"      none: a mood, a saying, no thing that one has
    "If I move, I'll buy a dog", "I love that!"        none: a condition; what points at what a reader does not see

A clause begins with its sentence, or behind a comma or a word that joins; what only may be, is asked, quoted, or joked
is none. Its subject and verb decide what may be said behind it: a verb that tells what is so for long in the present
or since some time, one that tells what changed somebody's life in the past, a plan to do something that takes long.
What is said ends where the next clause begins, and must name something. Subject, attribute and value read as a
sentence. The words are data, one table per language (see grammar); a language without a table is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from processors.contradictions.grammar import GRAMMARS, NO_FORM, Grammar, Needs, Verb
from processors.contradictions.words import language
from streams.core.text.statements import MAX_TEXT

MAX_VALUE, MAX_ATTRIBUTE, MAX_WORDS = 80, 60, 14
"""Characters of a value and of an attribute, words of a value."""
MAX_NAMED, MAX_GAP, MAX_LIST, MAX_COUNTED = 5, 4, 12, 5
"""Words of a subject, adverbs before a verb, words of a list behind its comma, words of a value that is a number."""
_SKIP = re.compile(r"```.*?(?:```|$)|^[>\-*|+#].*$|[\"“„«][^\"”“»]{3,}[\"”“»]", re.DOTALL | re.MULTILINE)
"""Code, lists and what is quoted."""
_TOKEN = re.compile(r"[$€£]?[^\W_][\w'’&+@/%€$£-]*(?:[.,:]\w+)*|[.?!;:,\n()…–—]|-{1,2}(?=\s)|[&+😂🤣]")
_ENDS = frozenset(".?!;\n–—()…:-") | {"--"}
_SHORT = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_WHOLE = {
    "gonna": ("going", "to"), "wanna": ("want", "to"), "im": ("i", "am"), "ive": ("i", "have"), "cannot": ("can", "not"),
    "dont": ("do", "not"), "cant": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not"), "id": ("i", "would"),
}  # fmt: skip
_IS = frozenset(("it", "that", "he", "she", "there", "name", "what", "who", "here", "where"))
_BEHIND_IS = frozenset(("a", "an", "from", "called", "named", "allergic", "not"))
_AGE = re.compile(r"\d{1,2}|1[01]\d")
_NUMBER = re.compile(r"[$€£]?\d[\d.,:/-]*(?:am|pm|h|k|m|kg|km|%|€|£|\$|gb|mb|ms|s|th|st|nd|rd)?")
_Token = tuple[str, int, int]
"""A word, folded, and where it stands."""


class Belief(NamedTuple):
    """What a turn says of something."""

    mine: bool
    """Whether of who says it, or of what is his."""
    attribute: str
    value: str
    affirmed: bool


class _Subject(NamedTuple):
    """Of whom a clause is."""

    label: str
    """What it is called; "" for who speaks."""
    mine: bool
    person: bool
    """Whether somebody is told of, or a pet."""
    end: int
    """Where the words behind it begin."""


def beliefs(text: str, own: bool = True) -> list[Belief]:
    """What a turn says. `own`: also of who says it."""
    text = _SKIP.sub(" . ", text[:MAX_TEXT].replace("’", "'"))
    sentences = [*_sentences(text)]
    grammar = GRAMMARS.get(language([word for tokens, _ in sentences for word, _, _ in tokens]).name)
    if grammar is None:
        return []
    found: dict[str, Belief] = {}
    for tokens, asked in sentences:
        for belief in _Sentence(grammar, text, tokens, asked).beliefs():
            if own or not belief.mine:
                found.setdefault(belief.attribute, belief)
    return [*found.values()]


def _sentences(text: str) -> Iterator[tuple[list[_Token], bool]]:
    """The words of each sentence, and whether it is asked."""
    tokens: list[_Token] = []
    for token in _TOKEN.finditer(text):
        word, start, end = token[0].lower(), token.start(), token.end()
        if word in _ENDS:
            if tokens:
                yield tokens, word == "?"
            tokens = []
        else:
            head, tail = _parts(word, text[end : end + 12])
            parted = start + len(head) if tail and word.startswith(head) else end
            tokens.append((head, start, parted))
            if tail:
                tokens.append((tail, min(parted, end - 1), end))
    if tokens:
        yield tokens, False


def _parts(word: str, after: str) -> tuple[str, str]:
    """A word, or the two that a contraction stands for."""
    if word in _WHOLE:
        return _WHOLE[word]
    if "'" not in word:
        return word, ""
    if word.endswith("n't"):
        return word[:-3], "not"
    head, _, tail = word.rpartition("'")
    if short := _SHORT.get("'" + tail):
        return head, short
    behind = after.lower().split(" ")[1:2]
    return (head, "is") if tail == "s" and (head in _IS or not _BEHIND_IS.isdisjoint(behind)) else (word, "")


class _Sentence:
    """A sentence as its clauses are read."""

    def __init__(self, grammar: Grammar, text: str, tokens: Sequence[_Token], asked: bool) -> None:
        self.grammar, self.text, self.tokens, self.asked = grammar, text, tokens, asked
        self.words = [word for word, _, _ in tokens]
        self.changes = False
        """Whether what is read changed one's life: it holds whenever it was."""
        self.read = 0
        """Where what has been read ends: no clause begins within a value."""

    def beliefs(self) -> Iterator[Belief]:
        """What its clauses say."""
        grammar, words = self.grammar, self.words
        if not grammar.jokes.isdisjoint(words):
            return
        at, last = 0, None
        while (at := self._led(at)) < len(words):
            if not grammar.conditions.isdisjoint(words[:at]):
                return
            subject = self._subject(at) or (last if last and self._goes_on(last.end, at) else None)
            if subject is None and at == 0 and self._drops(at):
                subject = _Subject("", True, True, at)
            verb = max(at, subject.end) if subject else at
            belief = self._told(subject, verb) if subject else None
            if belief is None:
                belief = self._turned(at) or self._valued(at) or self._moves(at)
            if belief is not None and not self._asks(at):
                yield belief
            at, last = self._next(max(at + 1, verb, self.read)), subject

    # Clauses: where they begin and end.

    def _word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def _is(self, words: frozenset[str], at: int) -> int:
        """How many words at a place are one of a list, the most."""
        word = self._word(at)
        if word in self.grammar.first:
            for length in (4, 3, 2):
                if at + length <= len(self.words) and "_".join(self.words[at : at + length]) in words:
                    return length
        return int(word in words)

    def _led(self, at: int) -> int:
        """Where a clause begins behind the words that lead into it."""
        while at < len(self.words) and (length := self._is(self.grammar.leads, at) or self.words[at] == ","):
            at += int(length)
        return at

    def _next(self, at: int) -> int:
        """Where the next clause may begin."""
        while at < len(self.words) and not (self.words[at] == "," or self.words[at] in self.grammar.joins):
            at += 1
        return at

    def _goes_on(self, begin: int, at: int) -> bool:
        """Whether a clause has the subject of the one before: "I paint and sell pots", not "I want to paint and sell"."""
        between = self.words[begin : at - 1]
        return self._word(at - 1) in self.grammar.joins and self.grammar.helping.isdisjoint(between)

    def _asks(self, at: int) -> bool:
        """Whether a clause is what its sentence asks: the last, or the one before "right?"."""
        behind = self.words[at:]
        return self.asked and ("," not in behind or behind[-2] == ",")

    def _begins_clause(self, at: int) -> bool:
        """Whether a clause begins at a place, with a subject or a verb."""
        grammar, at = self.grammar, self._led(at)
        word = self._word(at)
        if not word or word in grammar.subjects or word in grammar.finite:
            return True
        form = grammar.forms.get(word, NO_FORM)
        if (form.third or form.past) and not word.endswith("ing"):
            return True
        behind = self._word(at + 1)
        if word.endswith(("ed", "s")) and (behind in grammar.articles | grammar.my | grammar.theirs | grammar.points):
            return True
        for place in range(at + 1, min(at + MAX_GAP, len(self.words))):
            word = self.words[place]
            if word == "," or word in grammar.joining or word in grammar.prepositions or word in grammar.relative:
                return False
            if word in grammar.finite or grammar.forms.get(word, NO_FORM).third:
                return True
        return False

    def _end(self, at: int) -> int:
        """Where what is said from a place on ends."""
        grammar, words, listed = self.grammar, self.words, False
        to_do = self._word(at - 1) == "to"
        for end in range(at, len(words)):
            word = words[end]
            if word == ",":
                if not listed and not self._lists(end + 1):
                    return end
                listed = True
            elif self._is(grammar.ends, end):
                return end
            elif word in grammar.may_end or word in grammar.joining:
                if self._begins_clause(end + 1) or (not to_do and self._does(end + 1)):
                    return end
            elif word in grammar.joins:
                return end
        return len(words)

    def _does(self, at: int) -> bool:
        """Whether a verb with what it is done to stands at a place: "sing in a choir and play the piano"."""
        grammar, behind = self.grammar, self._word(at + 1)
        if not behind or behind in grammar.prepositions or behind == "," or behind in grammar.joining:
            return False
        return bool(grammar.forms.get(self._word(at), NO_FORM).present)

    def _lists(self, at: int) -> bool:
        """Whether what stands behind a comma goes on with a list: up to an "and", none is a clause."""
        grammar = self.grammar
        if self._word(at) in grammar.joining:
            return False
        for place in range(at, min(at + MAX_LIST, len(self.words))):
            word = self.words[place]
            if word in grammar.joining:
                return not self._begins_clause(place + 1)
            if word in grammar.subjects or word in grammar.ends or word in grammar.finite or word in grammar.leads:
                return False
        return False

    # Subjects.

    def _subject(self, at: int) -> _Subject | None:
        """Who speaks, "my sister", "my sister Ann", "Ann"."""
        grammar, words = self.grammar, self.words
        word = self._word(at)
        if word in grammar.i or word in grammar.we:
            return _Subject("", True, True, at + 1)
        if word not in grammar.my:
            third = grammar.forms.get(self._word(at + 1), NO_FORM).third
            if self._is_name(at) and word not in grammar.points and any(verb.base in grammar.told for verb in third):
                return _Subject(self._shown(at, at + 1), False, True, at + 1)
            return None
        end = at + 1
        while end < len(words) and not self._is_verb(end) and not self._plural_does(end):
            if words[end] == "," or words[end] in grammar.subjects or end - at > MAX_NAMED:
                break
            end += 1
        if self._word(end) in grammar.i and self._word(end - 1) in grammar.joining:
            return _Subject("", True, True, end + 1)
        if end == at + 1 or not (self._is_verb(end) or self._plural_does(end)):
            return None
        head = end - 1
        while head > at + 1 and words[head] in grammar.adverbs | grammar.denies:
            head -= 1
        label = self._shown(at + 1, head + 1)
        while head > at + 1 and self._is_name(head):
            head -= 1
        return _Subject(label, True, words[head] in grammar.persons, end)

    def _plural_does(self, at: int) -> bool:
        """Whether what several do stands behind them at a place: "my kids love"."""
        form = self.grammar.forms.get(self._word(at), NO_FORM)
        return bool(form.present) and self._word(at - 1) in self.grammar.persons

    def _drops(self, at: int) -> bool:
        """Whether a sentence leaves out that it is of who speaks: "Lost my job in May"."""
        form = self.grammar.forms.get(self._word(at), NO_FORM)
        return bool(form.past) and not form.present

    def _is_name(self, at: int) -> bool:
        start = self.tokens[at][1] if at < len(self.tokens) else len(self.text)
        return self.text[start : start + 1].isupper() and self.words[at] not in self.grammar.subjects

    def _is_verb(self, at: int) -> bool:
        word = self._word(at)
        form = self.grammar.forms.get(word, NO_FORM)
        return word in self.grammar.finite or bool(form.third or form.past)

    def _shown(self, begin: int, end: int) -> str:
        """Words as they are written."""
        return " ".join(self.text[self.tokens[begin][1] : self.tokens[end - 1][2]].split())

    # Predicates.

    def _adverbs(self, at: int) -> tuple[int, bool, bool]:
        """Where what comes behind adverbs begins, whether they affirm, and whether it is so forever."""
        affirmed, forever = True, False
        for _ in range(MAX_GAP):
            if self._word(at) in self.grammar.denies:
                affirmed = False
                at += 1
            elif length := self._is(self.grammar.adverbs, at):
                forever |= self._word(at) in self.grammar.forever
                at += length
            else:
                break
        return at, affirmed, forever

    def _told(self, subject: _Subject, at: int) -> Belief | None:
        """What a verb and the words behind it say of a subject."""
        grammar = self.grammar
        at, affirmed, _ = self._adverbs(at)
        word = self._word(at)
        behind, also, forever = self._adverbs(at + 1)
        affirmed &= also
        next_word = self._word(behind)
        if word in grammar.be:
            return self._being(subject, word if subject.label else "is", behind, affirmed)
        if not subject.person:
            return None
        if word in grammar.was:
            needs = grammar.traits["born"] if next_word == "born" else grammar.traits["raised"]
            return self._follow(subject, f"was {next_word}", behind + 1, needs, affirmed) if next_word in ("born", "raised") else None
        if word in grammar.have and (next_word in ("been", "got") or grammar.forms.get(next_word, NO_FORM).done):
            return self._perfect(subject, behind, affirmed, forever)
        if word in grammar.do:
            return self._present(subject, behind, affirmed, "does" if word == "does" or not subject.label else "do")
        if word == "can" and (next_word in grammar.able or (next_word == "stand" and not affirmed)):
            if self._word(behind + 1) in grammar.prepositions:
                return None
            return self._made(subject, f"can {next_word}", behind + 1, affirmed)
        if word == "would" and next_word in ("love", "like") and self._word(behind + 1) == "to":
            return self._aims(subject, f"would {next_word} to", behind + 2, affirmed)
        if word in ("used", "use") and next_word == "to":
            deed = self._word(behind + 1)
            has = deed in grammar.have and self._word(self._head(behind + 2)) in grammar.persons | grammar.things
            if has or deed not in grammar.finite | {"be"} | grammar.no_deeds:
                return self._made(subject, "used to", behind + 1, affirmed, 2)
            return None
        return self._present(subject, at, affirmed) or (self._past(subject, at) if affirmed else None)

    def _present(self, subject: _Subject, at: int, affirmed: bool, helped: str = "") -> Belief | None:
        """What is so for long, what one likes or has, what is planned. `helped`: the form of "do" before the verb."""
        word = self._word(at)
        form = self.grammar.forms.get(word, NO_FORM)
        is_third = bool(form.third) and not helped
        for verb in form.third if is_third else form.present:
            if subject.label and not subject.mine and verb.base not in self.grammar.told:
                continue
            shown = verb.third if not subject.label or helped == "does" else word
            if verb.kind == "aim":
                to = self._word(at + 1)
                planned = verb.base != "go" and to in verb.needs.words
                found = self._aims(subject, f"{shown} {to}", at + 2, affirmed) if planned else None
            elif verb.kind in ("habit", "like", "own"):
                found = self._follow(subject, shown, at + 1, verb.needs, affirmed)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _past(self, subject: _Subject, at: int) -> Belief | None:
        """What changed somebody's life: "moved to Porto", "started my own shop"."""
        for verb in self.grammar.forms.get(self._word(at), NO_FORM).past:
            if verb.kind == "become" and (found := self._changed(subject, verb, at)) is not None:
                return found
        return None

    def _changed(self, subject: _Subject, verb: Verb, at: int) -> Belief | None:
        self.changes = True
        if verb.needs.alone and self._stops(at + 1):
            found = self._cut(subject, "", at, at + 1, True)
        else:
            found = self._follow(subject, self.words[at], at + 1, verb.needs, True)
        self.changes = False
        return found

    def _perfect(self, subject: _Subject, at: int, affirmed: bool, forever: bool) -> Belief | None:
        """What has been so for some time, or has changed."""
        word = self._word(at)
        if word == "been":
            at, also, _ = self._adverbs(at + 1)
            return self._being(subject, "has been", at, affirmed and also)
        if word == "got":
            return self._follow(subject, "has", at + 1, self.grammar.forms["have"].present[0].needs, affirmed)
        forever_said, forever = forever, forever or not self.grammar.may_end.isdisjoint(self.words[at:])
        for verb in self.grammar.forms[word].done:
            if verb.kind in ("habit", "like", "own") and forever:
                found = self._follow(subject, f"has {self._shown(at - 1, at + 1)}" if forever_said else f"has {word}", at + 1, verb.needs, affirmed)
            elif verb.kind == "become" and affirmed:
                found = self._changed(subject, verb, at)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _being(self, subject: _Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """What is said of somebody by a form of "be"; `at`: behind it."""
        if self._word(at) in ("only", "just") and not affirmed:
            return None
        if subject.label and not subject.person:
            return self._fact(subject, at, affirmed)
        grammar = self.grammar
        begin = at + (self._word(at) in grammar.articles)
        for length in (3, 2, 1):
            trait = "_".join(self.words[begin : begin + length])
            needs = grammar.traits.get(trait)
            if needs is None or begin + length > len(self.words):
                continue
            if needs.alone and begin == at and self._stops(begin + length):
                lasts = self._word(begin + length) in grammar.may_end
                return self._made(subject, shown, begin, affirmed) if lasts else self._cut(subject, shown, begin, begin + length, affirmed)
            told = f"{shown} {self._shown(at, begin + length)}"
            if (found := self._follow(subject, told, begin + length, needs, affirmed)) is not None:
                return found
        word, behind = self._word(at), self._word(at + 1)
        if word == "in" and self._is(grammar.within, at + 1 + (behind in grammar.articles | grammar.my)):
            return self._made(subject, shown, at, affirmed)
        if _AGE.fullmatch(word) and (self._stops(at + 1) or self.words[at + 1 : at + 3] in (["years", "old"], ["yrs", "old"])):
            return self._cut(subject, shown, at, at + (1 if self._stops(at + 1) else 3), affirmed)
        if word in grammar.articles and self._is_role(head := self._head(at + 1)):
            if word == "the" and self._word(head + 1) not in grammar.prepositions:
                return None
            return self._made(subject, shown, at, affirmed)
        for verb in grammar.forms.get(word, NO_FORM).doing if affirmed else ():
            if verb.kind == "aim" and (behind in verb.needs.words or verb.needs.anything):
                to = f" {behind}" if behind in verb.needs.words else ""
                found = self._aims(subject, f"{shown} {word}{to}", at + 1 + bool(to), affirmed)
            elif verb.kind == "doing" or (verb.kind == "habit" and shown == "has been"):
                found = self._follow(subject, f"{shown} {word}", at + 1, verb.needs, affirmed)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _follow(self, subject: _Subject, shown: str, at: int, needs: Needs, affirmed: bool) -> Belief | None:
        """A belief, where behind a verb or a trait stands what must follow it."""
        grammar, word = self.grammar, self._word(at)
        if length := self._is(needs.words, at):
            if needs.tastes and (self._word(at + length) in grammar.no_deeds or self._word(at + length).endswith("ed")):
                return None
            return self._made(subject, f"{shown} {self._shown(at, at + length)}", at + length, affirmed)
        if word in needs.named and (self._is_name(at + 1) or self._word(at + 1) in ("a", "an")):
            return self._made(subject, f"{shown} {word}", at + 1, affirmed)
        if self._is(needs.begins, at) or (needs.doing and grammar.forms.get(word, NO_FORM).doing):
            return self._made(subject, shown, at, affirmed)
        head = self._head(at)
        if self._word(head) in needs.heads and word != "the" and (word in grammar.counts or head - at < 2):
            return self._made(subject, shown, at, affirmed)
        if needs.anything or needs.tastes:
            the = word == "the" and self._word(at + 1) not in grammar.generic
            if word in grammar.prepositions or word in grammar.finite or the:
                return None
            if needs.tastes and (word in ("a", "an") or self._is(grammar.no_tastes, at)):
                return None
            return self._made(subject, shown, at, affirmed)
        return None

    def _stops(self, at: int) -> bool:
        """Whether what stands before a place may be said alone."""
        grammar, word = self.grammar, self._word(at)
        return not word or word in (",", "now", "too", "myself") or word in grammar.joins or word in grammar.ends or word in ("since", "for")

    def _aims(self, subject: _Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """A plan to do something that takes long; `at`: what is to be done."""
        grammar = self.grammar
        at, also, _ = self._adverbs(at)
        word = self._word(at)
        if word not in grammar.aims or not grammar.no_aims.isdisjoint(self.words[at : at + MAX_GAP]):
            return None
        if word in ("be", "being") and not self._is_role(self._head(at + 2)):
            return None
        return self._made(subject, shown, at, affirmed and also, 2)

    def _head(self, at: int) -> int:
        """The last word of what is named at a place; before it where nothing is."""
        grammar, head = self.grammar, at - 1
        for place in range(at, len(self.words)):
            word = self.words[place]
            if word == "," or word in grammar.joining or word in grammar.prepositions or word in grammar.subjects:
                break
            if word in grammar.relative or word in grammar.finite or word in grammar.ends or word in grammar.may_end:
                break
            if word in ("named", "called"):
                break
            if word not in grammar.trail:
                head = place
        return head

    def _is_role(self, at: int) -> bool:
        grammar, word = self.grammar, self._word(at)
        if word in grammar.no_roles:
            return False
        return word in grammar.roles or f"{self._word(at - 1)}_{word}" in grammar.roles or word.endswith(grammar.role_ends)

    # Things: what is told of them stands behind or before.

    def _is_fact(self, label: Sequence[str]) -> bool:
        """Whether words call one's favourite, or what one has that is told by a word."""
        grammar, pairs = self.grammar, ["_".join(label[at : at + 2]) for at in range(len(label))]
        named = label[-1] in grammar.facts or pairs[-2:][0] in grammar.facts
        return named or any(word in grammar.favourites for word in (*label, *pairs))

    def _fact(self, subject: _Subject, at: int, affirmed: bool) -> Belief | None:
        """What is said of one's favourite, or of one's job; or by a value."""
        label = subject.label.lower().split()
        if self._is_fact(label):
            if self._word(at) == "to":
                return self._aims(subject, "", at + 1, affirmed)
            in_time = self._word(at) in self.grammar.prepositions or self._word(at) in ("going", "getting", "coming")
            return None if in_time else self._made(subject, "", at, affirmed)
        return self._measure(subject, at, affirmed)

    def _measure(self, subject: _Subject, at: int, affirmed: bool) -> Belief | None:
        """What is told by a number, a time or a day."""
        begin = at + (self._word(at) in ("at", "on", "by", "in", "about", "around"))
        word, end = self._word(begin), self._end(begin)
        counts = bool(word) and (_NUMBER.fullmatch(word) or self.grammar.words[word].sort in self.grammar.sorts)
        if not affirmed or not counts or end - begin > MAX_COUNTED:
            return None
        head = subject.label.lower().split()[-1]
        return self._cut(subject, "", begin, end, affirmed) if head in self.grammar.measured else None

    def _valued(self, at: int) -> Belief | None:
        """ "The deadline is Friday": what is told of a thing by a number, a time or a day."""
        grammar, be = self.grammar, self._before(at, self.grammar.be)
        begin = at + (self._word(at) in grammar.articles)
        if be <= begin or self._word(begin) in grammar.theirs:
            return None
        behind, affirmed, _ = self._adverbs(be + 1)
        return self._measure(_Subject(self._shown(begin, be), False, False, be), behind, affirmed)

    def _before(self, at: int, verbs: frozenset[str]) -> int:
        """Where a verb stands behind what is named at a place; -1 where none does."""
        grammar = self.grammar
        for place in range(at, min(at + MAX_NAMED + 2, len(self.words))):
            word = self.words[place]
            if word in verbs:
                return place
            if word == "," or word in grammar.subjects or word in grammar.points or word in grammar.finite or word in grammar.relative:
                return -1
        return -1

    def _turned(self, at: int) -> Belief | None:
        """ "Contemporary is my favourite style": what is said stands first."""
        grammar, be = self.grammar, self._before(at, self.grammar.be)
        if be <= at:
            return None
        behind, affirmed, _ = self._adverbs(be + 1)
        one = self.words[behind : behind + 2] == ["one", "of"]
        behind += 2 * one
        end = self._end(behind + 1)
        label = self.words[behind + 1 : end]
        if self._word(behind) not in grammar.my or not label or len(label) > MAX_NAMED or not self._is_fact(label):
            return None
        called = ("one of " if one else "") + self._shown(behind + 1, end)
        return self._cut(_Subject(called, True, False, end), "", at, be, affirmed)

    def _moves(self, at: int) -> Belief | None:
        """ "Dancing helps me relax": what something does for one."""
        grammar, verb = self.grammar, self._before(at, self.grammar.moving)
        if verb <= at or self._word(at) in grammar.articles or self._word(verb + 1) not in ("me", "us"):
            return None
        if self._is_verb(at) or not self._names(at, verb):
            return None
        begin = at + (self._word(at) in grammar.my)
        end = verb - (self._word(verb - 1) in grammar.adverbs)
        subject = _Subject(self._shown(begin, end), True, False, verb)
        form = grammar.forms[self.words[verb]]
        [needs] = [one.needs for one in form.present + form.third if one.kind == "move"][:1]
        if needs.alone and self._stops(verb + 2):
            return self._cut(subject, "", verb, verb + 2, True)
        at, _, _ = self._adverbs(verb + 2)
        return self._follow(subject, self.words[verb], at, needs, True)

    # Values.

    def _made(self, subject: _Subject, shown: str, at: int, affirmed: bool, least: int = 1) -> Belief | None:
        """A belief, where what stands at a place is a value of at least so many words."""
        return self._cut(subject, shown, at, self._end(at), affirmed, least)

    def _cut(self, subject: _Subject, shown: str, at: int, end: int, affirmed: bool, least: int = 1) -> Belief | None:
        """A belief, its value without little words about it; None where it names nothing that lasts."""
        grammar, words = self.grammar, self.words
        if not self.changes and any(self._is(grammar.passing, place) for place in range(at, end)):
            return None
        while end > at and (length := self._trails(at, end) or words[end - 1] in grammar.adverbs):
            end -= int(length)
        while at < end and (words[at] in ("the", ",") or words[at] in grammar.adverbs):
            at += 1
        if not least <= end - at <= MAX_WORDS or not self._names(at, end):
            return None
        said = words[at:end]
        if not subject.label and not grammar.theirs.isdisjoint(said):
            return None
        if subject.person and not self.changes and not grammar.days.isdisjoint(said):
            return None
        value, attribute = self._shown(at, end).lower(), f"{subject.label} {shown}".strip().lower()
        if len(value) > MAX_VALUE or len(attribute) > MAX_ATTRIBUTE:
            return None
        self.read = max(self.read, end, subject.end)
        return Belief(subject.mine, attribute, value, affirmed)

    def _trails(self, at: int, end: int) -> int:
        """How many of the last words of a value tell nothing."""
        for length in (4, 3, 2, 1):
            if end - length >= at and "_".join(self.words[end - length : end]) in self.grammar.trail:
                return length
        return int(self.words[end - 1] == ",")

    def _names(self, at: int, end: int) -> bool:
        """Whether words name something, without pointing at what a reader does not see."""
        grammar, said = self.grammar, self.words[at:end]
        if said[-1:] == ["one"] or said[:1] == ["one"] and said[1] in grammar.prepositions or said[0] in grammar.me:
            return False
        for place, word in enumerate(said):
            if word in grammar.points or word in grammar.denies:
                return False
            if word in grammar.subjects:
                inner = word in grammar.relative and 0 < place < len(said) - 1
                if not inner or said[place - 1] in grammar.prepositions or said[place + 1] in grammar.prepositions:
                    return False
        return any(map(self._tells, said))

    def _tells(self, word: str) -> bool:
        grammar = self.grammar
        if word in grammar.trail or word in grammar.vague or word in grammar.prepositions or word in grammar.adverbs:
            return False
        return len(word) > 2 or word[:1].isdigit() or word in ("uk", "us", "hr", "it", "tv")
