"""Beliefs: what a turn says for good of its speaker, of the speaker's people and things, or of a thing by a value.

    "My sister lives in Leeds and works as a nurse."   sister lives in: leeds; sister works as: a nurse
    "I've been allergic to nuts since I was six."      has been allergic to: nuts
    "Contemporary is my favourite style."              favourite style: contemporary
    "Dancing helps me relax."                          dancing helps: relax
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
from itertools import pairwise
from typing import NamedTuple

from processors.contradictions.clauses import Clauses, Token, tokens
from processors.contradictions.grammar import GRAMMARS, Grammar, Needs, Verb
from processors.contradictions.words import language
from streams.core.text.statements import MAX_TEXT

MAX_VALUE, MAX_ATTRIBUTE, MAX_WORDS = 80, 60, 14
"""Characters of a value and of an attribute, words of a value."""
MAX_LABEL, MAX_BEFORE, MAX_COUNTED = 5, 7, 5
"""Words of what is somebody's, of what is named before a verb, and of a value that begins with a number."""
_SKIP = re.compile(r"```.*?(?:```|$)|^[>\-*|+#].*$|[\"“„«][^\"”“»]{3,}[\"”“»]", re.DOTALL | re.MULTILINE)
"""Code, lists and what is quoted."""
_BREAK = re.compile(
    r"[.!?]+(?<!\bmr\.)(?<!\bmrs\.)(?<!\bms\.)(?<!\bdr\.)(?<!\bst\.)(?=\s|$|[)\"'])|[\n;…–—()]|:(?=\s)|-(?:-+|(?=\s))"
)
"""What stands between sentences, and between clauses that have no word in common."""
_AGE = re.compile(r"\d{1,2}|1[01]\d")
_NUMBER = re.compile(r"[$€£]?\d[\d.,:/-]*(?:am|pm|h|k|m|kg|km|%|€|£|\$|gb|mb|ms|s|th|st|nd|rd)?")
_LONG, _SINCE = ("years", "yrs"), ("since", "for")


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
    text = text[:MAX_TEXT]
    plain = text.lower().replace("’", "'")
    words = plain.split()
    grammar = GRAMMARS.get(language(words).name)
    if grammar is None or len(plain) != len(text) or not grammar.may_tell(words, plain):
        return []
    plain = _SKIP.sub(lambda skipped: ".".ljust(len(skipped[0])), plain)
    found: dict[str, Belief] = {}
    for sentence, asked in _sentences(plain, grammar):
        for belief in _Sentence(grammar, text, sentence, asked).beliefs():
            if own or not belief.mine:
                found.setdefault(belief.attribute, belief)
    return [*found.values()]


def _sentences(plain: str, grammar: Grammar) -> Iterator[tuple[list[Token], bool]]:
    """The words of each sentence that may tell something, and whether it is asked."""
    start = 0
    for stop in _BREAK.finditer(plain + "\n"):
        part = plain[start : stop.start()]
        if grammar.may_tell(part.split(), part) and (found := tokens(plain, start, stop.start())):
            yield found, "?" in stop[0]
        start = stop.end()


class _Sentence(Clauses):
    """A sentence as its clauses are read."""

    def __init__(self, grammar: Grammar, text: str, given: Sequence[Token], asked: bool) -> None:
        super().__init__(grammar, text, given, asked)
        self.changes = False
        """Whether what is read changed one's life: it holds whenever it was."""
        self.read = 0
        """Where what has been read ends: no clause begins within a value."""

    def beliefs(self) -> Iterator[Belief]:
        """What its clauses say."""
        grammar, words = self.grammar, self.words
        if not grammar.jokes.isdisjoint(words):
            return
        is_turned = not grammar.my.isdisjoint(words) and not grammar.be.isdisjoint(words)
        is_valued, is_moved = not grammar.measured.isdisjoint(words), not grammar.me.isdisjoint(words)
        at, last = 0, None
        while (at := self.led(at)) < len(words):
            if not grammar.conditions.isdisjoint(words[:at]):
                return
            subject = self._subject(at) or (last if last and self.goes_on(last.end, at) else None)
            verb = max(at, subject.end) if subject else at
            found = self._told(subject, verb) if subject else None
            found = found or (self._turned(at) if is_turned else None)
            found = found or (self._valued(at) if is_valued else None)
            found = found or (self._moves(at) if is_moved else None)
            if found is not None and not self.asks(at) and not self._is_ordered(at):
                yield found
            at, last = self.next(max(at + 1, verb, self.read)), subject if found else None

    def _is_ordered(self, at: int) -> bool:
        """Whether what comes before a clause orders something, on which it depends: "Miss that and I'm fired"."""
        before = self.words[: max(at - 1, 0)]
        return self.word(at - 1) in self.grammar.joining and bool(before) and self.grammar.claims.isdisjoint(before)

    # Subjects.

    def _subject(self, at: int) -> _Subject | None:
        """Who speaks, "my sister", "the kids", "my sister Ann", "Ann"; who is left out in "Lost my job"."""
        grammar, word = self.grammar, self.word(at)
        if word in grammar.i:
            return _Subject("", True, True, at + 1)
        if word in grammar.my or (word == "the" and self.word(at + 1) in grammar.kin | grammar.pets):
            return self._owned(at)
        if at == 0 and word in grammar.dropping and (self.tokens[0][1] == 0 or not grammar.my.isdisjoint(self.words)):
            return _Subject("", True, True, at)
        if word == "been" and self.form(at + 1).doing and self.word(at - 1) not in grammar.have:
            return _Subject("", True, True, at)
        is_told = any(verb.base in grammar.told for verb in self.form(at + 1).third)
        if is_told and self.is_name(at) and word not in grammar.points:
            return _Subject(self.shown(at, at + 1), False, True, at + 1)
        return None

    def _owned(self, at: int) -> _Subject | None:
        """Whom or what one has, behind "my" or "the"."""
        grammar, words, end = self.grammar, self.words, at + 1
        while end < len(words) and not self.is_verb(end):
            if words[end] == "," or words[end] in grammar.subjects or end - at > MAX_LABEL:
                break
            end += 1
        if self.word(end) in grammar.i and self.word(end - 1) in grammar.joining:
            return _Subject("", True, True, end + 1)
        if end == at + 1 or end == len(words) or not self.is_verb(end):
            return None
        head = end - 1
        while head > at + 1 and words[head] in grammar.adverbs | grammar.denies:
            head -= 1
        label = self.shown(at + 1, head + 1)
        while head > at + 1 and self.is_name(head):
            head -= 1
        return _Subject(label, True, words[head] in grammar.persons, end)

    # What verbs say.

    def _told(self, subject: _Subject, at: int) -> Belief | None:
        """What a verb and the words behind it say of a subject."""
        grammar = self.grammar
        at, affirmed, _ = self.adverbs(at)
        word = self.word(at)
        behind, also, forever = self.adverbs(at + 1)
        affirmed, main = affirmed and also, self.word(behind)
        if word in grammar.be:
            return self._being(subject, word if subject.label else "is", behind, affirmed)
        if not subject.person:
            return None
        if word == "was":
            if main in ("born", "raised"):
                return self._follow(subject, f"was {main}", behind + 1, grammar.traits[main], affirmed)
            was = main in grammar.articles and self._is_role(self.head(behind + 1))
            return self._made(subject, "was", behind, affirmed) if was else None
        if word == "been":
            return self._perfect(subject, at, affirmed, False)
        if word in grammar.have and (main in ("been", "got") or self.form(behind).done):
            return self._perfect(subject, behind, affirmed, forever)
        if word in grammar.do:
            helped = "does" if word == "does" or not subject.label else "do"
            return self._present(subject, behind, affirmed, helped) or self._present(subject, at, affirmed)
        if word == "can":
            is_able = main in grammar.able or (main in ("stand", "have") and not affirmed)
            done = self.form(behind + 1).done or self.word(behind + 1).endswith("ed")
            is_able = is_able and not done and self.word(behind + 1) not in grammar.prepositions
            is_able = is_able and not (main == "have" and self.word(behind + 1) in grammar.articles)
            return self._made(subject, f"can {main}", behind + 1, affirmed) if is_able else None
        if word == "would" and main in ("love", "like") and self.word(behind + 1) == "to":
            is_dream = main == "love" or self.word(behind + 2) in grammar.dreams
            return self._aims(subject, f"would {main} to", behind + 2, affirmed) if is_dream else None
        if word in ("used", "use") and main == "to":
            return self._once(subject, behind + 1, affirmed)
        return self._present(subject, at, affirmed) or (self._past(subject, at) if affirmed else None)

    def _once(self, subject: _Subject, at: int, affirmed: bool) -> Belief | None:
        """What somebody used to do or have."""
        grammar, deed = self.grammar, self.word(at)
        has = deed in grammar.have and self.word(self.head(at + 1)) in grammar.persons | grammar.things
        if has or deed not in grammar.finite | grammar.no_deeds:
            return self._made(subject, "used to", at, affirmed, 2)
        return None

    def _present(self, subject: _Subject, at: int, affirmed: bool, helped: str = "") -> Belief | None:
        """What is so for long, what one likes or has, what is planned. `helped`: the form of "do" before the verb."""
        form = self.form(at)
        for verb in form.present if helped or not form.third else form.third:
            if not subject.mine and verb.base not in self.grammar.told:
                continue
            shown = verb.third if not subject.label or helped == "does" else self.word(at)
            found = None
            if verb.kind == "aim" and verb.base != "go" and self.word(at + 1) in verb.needs.words:
                found = self._aims(subject, f"{shown} {self.word(at + 1)}", at + 2, affirmed)
            elif verb.kind in ("habit", "like", "own"):
                found = self._follow(subject, shown, at + 1, verb.needs, affirmed)
            if found is not None:
                return found
        return None

    def _past(self, subject: _Subject, at: int) -> Belief | None:
        """What changed somebody's life: "moved to Porto", "started my own shop"."""
        changes = (self._changed(subject, verb, at) for verb in self.form(at).past if verb.kind == "become")
        return next(filter(None, changes), None)

    def _changed(self, subject: _Subject, verb: Verb, at: int, shown: str = "") -> Belief | None:
        self.changes = True
        if verb.needs.alone and self.stops(at + 1):
            found = self._cut(subject, "", at, at + 1, True)
        else:
            found = self._follow(subject, shown or self.words[at], at + 1, verb.needs, True)
        self.changes = False
        return found

    def _perfect(self, subject: _Subject, at: int, affirmed: bool, forever: bool) -> Belief | None:
        """What has been so for some time, or has changed."""
        word = self.word(at)
        if word == "been":
            at, also, _ = self.adverbs(at + 1)
            if self.word(at) == "to" and at + 1 < len(self.words) and self.is_name(at + 1):
                return self._made(subject, "has been to", at + 1, affirmed and also)
            return self._being(subject, "has been", at, affirmed and also)
        if word == "got":
            return self._follow(subject, "has", at + 1, self.grammar.forms["have"].present[0].needs, affirmed)
        shown = f"has always {word}" if forever else f"has {word}"
        forever = forever or not self.grammar.may_end.isdisjoint(self.words[at:])
        for verb in self.form(at).done:
            found = None
            if verb.kind in ("habit", "like", "own") and forever:
                found = self._follow(subject, shown, at + 1, verb.needs, affirmed)
            elif verb.kind == "become" and affirmed:
                found = self._changed(subject, verb, at, f"has {word}")
            elif verb.kind == "aim" and forever and self.word(at + 1) in verb.needs.words:
                found = self._aims(subject, f"{shown} {self.word(at + 1)}", at + 2, affirmed)
            if found is not None:
                return found
        return None

    def _being(self, subject: _Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """What is said by a form of "be"; `at`: behind it."""
        if not subject.person:
            return self._fact(subject, at, affirmed)
        if self.word(at) in ("only", "just") and not affirmed:
            return None
        told = self._trait(subject, shown, at, affirmed) or self._is(subject, shown, at, affirmed)
        return told or (self._doing(subject, shown, at) if affirmed else None)

    def _trait(self, subject: _Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """What can be said of somebody by one word, or with what follows it: "vegan", "allergic to nuts"."""
        grammar = self.grammar
        begin = at + (self.word(at) in grammar.articles)
        begin += begin > at and self.word(begin) in grammar.degrees
        for length in (3, 2, 1):
            needs, end = grammar.traits.get(self.joined(begin, length)), begin + length
            if needs is None:
                continue
            if needs.alone and begin == at and self.stops(end):
                lasts = self.word(end) in _SINCE or self.word(end + 1) in _LONG
                return self._cut(subject, shown, begin, self.end(end) if lasts else end, affirmed)
            found = self._follow(subject, f"{shown} {self.shown(at, end)}", end, needs, affirmed)
            if found is not None:
                return found
        return None

    def _is(self, subject: _Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """How old somebody is, what by profession, in which trade."""
        grammar, word, behind = self.grammar, self.word(at), self.word(at + 1)
        if _AGE.fullmatch(word):
            is_long = behind in _LONG and self.word(at + 2) == "old"
            end = at + 3 if is_long else at + 1
            return self._cut(subject, shown, at, end, affirmed) if is_long or self.stops(end) else None
        if word == "in" and self.count(grammar.within, at + 1 + (behind in grammar.articles | grammar.my)):
            return self._made(subject, shown, at, affirmed)
        if word in grammar.articles and self._is_role(head := self.head(at + 1)):
            is_told = word != "the" or self.word(head + 1) in grammar.prepositions
            return self._made(subject, shown, at, affirmed) if is_told else None
        return None

    def _doing(self, subject: _Subject, shown: str, at: int) -> Belief | None:
        """What somebody is at for some time, or plans."""
        word, behind = self.word(at), self.word(at + 1)
        for verb in self.form(at).doing:
            found = None
            if verb.kind == "aim" and (behind in verb.needs.words or verb.needs.anything):
                to = f" {behind}" if behind in verb.needs.words else ""
                found = self._aims(subject, f"{shown} {word}{to}", at + 1 + bool(to), True)
            elif shown == "has been" and behind in _SINCE:
                found = self._made(subject, shown, at, True)
            elif verb.kind == "doing" or (verb.kind == "habit" and shown == "has been"):
                found = self._follow(subject, f"{shown} {word}", at + 1, verb.needs, True)
            if found is not None:
                return found
        return None

    def _aims(self, subject: _Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """A plan to do something that takes long; `at`: what is to be done."""
        grammar = self.grammar
        at, also, _ = self.adverbs(at)
        if self.word(at) not in grammar.aims or not grammar.no_aims.isdisjoint(self.words[at : at + MAX_LABEL]):
            return None
        deed, behind = self.word(at), self.word(at + 1)
        if deed in ("be", "being") and not self._is_role(self.head(at + 2)):
            return None
        if deed in ("have", "having") and self.word(self.head(at + 1)) not in grammar.lasting:
            return None
        if deed in ("get", "getting") and behind in grammar.prepositions and behind != "into":
            return None
        return self._made(subject, shown, at, affirmed and also, 2)

    def _follow(self, subject: _Subject, shown: str, at: int, needs: Needs, affirmed: bool) -> Belief | None:
        """A belief, where behind a verb or a trait stands what must follow it."""
        grammar = self.grammar
        at, also, _ = self.adverbs(at)
        word = self.word(at)
        if not word or not also:
            return None
        lasts = word == "for" and not grammar.spans.isdisjoint(self.words[at : at + MAX_LABEL])
        if not lasts and (length := self.count(needs.words, at)):
            behind = self.word(at + length)
            deed = self.words[at + length : at + length + MAX_LABEL]
            is_vague = behind in grammar.no_deeds or behind.endswith("ed") or not grammar.no_aims.isdisjoint(deed)
            is_vague = needs.tastes and is_vague
            return (
                None
                if is_vague
                else self._made(subject, f"{shown} {self.shown(at, at + length)}", at + length, affirmed)
            )
        if (
            word in needs.named
            and at + 1 < len(self.words)
            and (self.is_name(at + 1) or self.word(at + 1) in ("a", "an"))
        ):
            return self._made(subject, f"{shown} {word}", at + 1, affirmed)
        return self._made(subject, shown, at, affirmed) if self._may_follow(needs, at) else None

    def _may_follow(self, needs: Needs, at: int) -> bool:
        """Whether what is said may begin at a place."""
        grammar, word = self.grammar, self.word(at)
        if self.count(needs.begins, at) or (needs.doing and word.endswith("ing") and word not in grammar.no_tastes):
            return True
        if needs.deeds and word not in grammar.no_deeds | grammar.finite | grammar.prepositions:
            return True
        head = self.head(at) if needs.heads and word != "the" else -1
        if self.word(head) in needs.heads and (word in grammar.counts or head - at < 2) and "'" not in word:
            return True
        if not (needs.anything or needs.tastes) or word in grammar.prepositions or word in grammar.finite:
            return False
        if needs.tastes and (
            word in ("a", "an") or grammar.words[word].sort in ("month", "weekday") or self.count(grammar.no_tastes, at)
        ):
            return False
        the = at + (word in ("all", "both"))
        is_named = self.word(the) != "the" or self.word(the + 1) in grammar.generic
        return is_named and word not in grammar.joining | {",", "every", "each"} and not self.does(at)

    def _is_role(self, at: int) -> bool:
        """Whether a word, or it and the one before, tell what somebody is."""
        grammar, word = self.grammar, self.word(at)
        is_role = word in grammar.roles or self.joined(at - 1, 2) in grammar.roles or word.endswith(grammar.role_ends)
        return is_role and word not in grammar.no_roles

    # What is told of things.

    def _fact(self, subject: _Subject, at: int, affirmed: bool) -> Belief | None:
        """What is said of one's favourite, or of one's job; or by a value."""
        if not self._is_fact(subject.label.split()):
            return self._measure(subject, at, affirmed)
        word, deed = self.word(at), self.word(at + 1)
        if word == "to":
            return self._made(subject, "", at + 1, affirmed, 2) if deed not in self.grammar.no_deeds else None
        is_passing = word in self.grammar.prepositions or word in ("going", "getting", "coming") or word.endswith("ed")
        return None if is_passing else self._made(subject, "", at, affirmed)

    def _is_fact(self, label: Sequence[str]) -> bool:
        """Whether words call one's favourite, or what one has that is told by a word."""
        grammar, pairs = self.grammar, ["_".join(label[at : at + 2]) for at in range(len(label))]
        is_had = label[-1] in grammar.facts or pairs[-2:][0] in grammar.facts
        return is_had or not grammar.favourites.isdisjoint((*label, *pairs))

    def _measure(self, subject: _Subject, at: int, affirmed: bool) -> Belief | None:
        """What is told by a number, a time or a day."""
        grammar, begin = self.grammar, at + (self.word(at) in ("at", "on", "by", "in", "about", "around"))
        word = self.word(begin)
        if not affirmed or not word or subject.label.split()[-1] not in grammar.measured:
            return None
        if _NUMBER.fullmatch(word) is None and grammar.words[word].sort not in grammar.sorts:
            return None
        end = self.end(begin)
        return self._cut(subject, "", begin, end, True) if end - begin <= MAX_COUNTED else None

    def _valued(self, at: int) -> Belief | None:
        """ "The deadline is Friday": what is told of a thing by a number, a time or a day."""
        grammar, be = self.grammar, self._before(at, self.grammar.be)
        begin = at + (self.word(at) in grammar.articles)
        first = self.word(begin)
        if (
            be <= begin
            or first in grammar.theirs
            or first in grammar.prepositions
            or grammar.words[first].sort == "count"
            or first[:1].isdigit()
        ):
            return None
        behind, affirmed, _ = self.adverbs(be + 1)
        return self._measure(_Subject(self.shown(begin, be), False, False, be), behind, affirmed)

    def _turned(self, at: int) -> Belief | None:
        """ "Contemporary is my favourite style": what is said stands first."""
        grammar, be = self.grammar, self._before(at, self.grammar.be)
        if be <= at:
            return None
        behind, affirmed, _ = self.adverbs(be + 1)
        one = 2 * (self.joined(behind, 2) == "one_of")
        end = self.end(behind + one + 1)
        while end > behind + one + 1 and (length := self._trails(behind + one + 1, end)):
            end -= length
        label = self.words[behind + one + 1 : end]
        if self.word(behind + one) not in grammar.my or not 0 < len(label) <= MAX_LABEL or not self._is_fact(label):
            return None
        called = ("one of " if one else "") + self.shown(behind + one + 1, end)
        return self._cut(_Subject(called, True, False, end), "", at, be, affirmed)

    def _moves(self, at: int) -> Belief | None:
        """ "Dancing helps me relax": what something does for one."""
        grammar, verb = self.grammar, self._before(at, self.grammar.moving)
        if verb <= at or self.word(verb + 1) not in grammar.me or self.word(at) in grammar.articles:
            return None
        if self.is_verb(at) or not self._names(at, verb) or (verb > at + 1 and self.is_name(verb - 1)):
            return None
        label = self.shown(at + (self.word(at) in grammar.my), verb - (self.word(verb - 1) in grammar.adverbs))
        subject, form = _Subject(label, True, False, verb), self.form(verb)
        needs = next(one.needs for one in form.present + form.third if one.kind == "move")
        if (needs.alone and self.stops(verb + 2)) or self.word(verb + 2) in needs.words & {"up"}:
            return self._cut(subject, "", verb, verb + 2 + (not self.stops(verb + 2)), True)
        return self._follow(subject, self.words[verb], verb + 2, needs, True)

    def _before(self, at: int, verbs: frozenset[str]) -> int:
        """Where a verb stands behind what is named at a place; -1 where none does."""
        grammar = self.grammar
        for place in range(at, min(at + MAX_BEFORE, len(self.words))):
            word = self.words[place]
            if word in verbs:
                return place
            if word == "," or word in grammar.subjects or word in grammar.relative or word in grammar.unnamed:
                return -1
        return -1

    # Values.

    def _made(self, subject: _Subject, shown: str, at: int, affirmed: bool, least: int = 1) -> Belief | None:
        """A belief, where what stands at a place, or the first of it, is a value of at least so many words."""
        end = self.end(at)
        found = self._cut(subject, shown, at, end, affirmed, least)
        return found or self._cut(subject, shown, at, self._first(at, end), affirmed, least)

    def _first(self, at: int, end: int) -> int:
        """Where the first of several things that are named ends."""
        first = next((place for place in range(at, end) if self.words[place] in self.grammar.joining), end)
        return at if self.qualifies(at, first) else first

    def _cut(self, subject: _Subject, shown: str, at: int, end: int, affirmed: bool, least: int = 1) -> Belief | None:
        """A belief, its value without little words about it; None where it names nothing that lasts."""
        grammar, words = self.grammar, self.words
        if not self.changes and any(self.count(grammar.passing, place) for place in range(at, end)):
            return None
        while end > at and (length := self._trails(at, end)):
            end -= length
        while at < end and (words[at] == "," or words[at] in grammar.adverbs):
            at += 1
        if not least <= end - at <= MAX_WORDS or not self._names(at, end):
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

    def _trails(self, at: int, end: int) -> int:
        """How many of the last words of a value tell nothing."""
        if self.words[end - 1] == "ago":  # "two years ago"
            return min(3, end - at)
        for length in (3, 2, 1):
            if end - length >= at and self.joined(end - length, length) in self.grammar.trail:
                return length
        return int(self.words[end - 1] == "," or self.words[end - 1] in self.grammar.adverbs)

    def _names(self, at: int, end: int) -> bool:
        """Whether words name something, without pointing at what a reader does not see."""
        grammar, said = self.grammar, self.words[at:end]
        is_one = said[-1] in ("one", "other", "another") and said[-2:] != ["each", "other"]
        is_one = is_one or any(word == "one" and then in grammar.prepositions for word, then in pairwise(said))
        if is_one or said[0] in grammar.me:
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
