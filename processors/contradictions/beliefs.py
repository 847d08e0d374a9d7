"""Beliefs: what a turn says for good of its speaker, of the speaker's people and things, or of a thing by a value.

    "My sister lives in Leeds and works as a nurse."   sister lives in: leeds; sister works as: a nurse
    "I've been allergic to nuts since I was six."      has been allergic to: nuts
    "Contemporary is my favourite style."              favourite style: contemporary
    "Dancing helps me relax."                          dancing helps: relax
    "Thunder calms me."                                is calmed by: thunder
    "The press deadline is Friday."                    press deadline: friday
    "The deadline is Friday", "budget: 25"             none: nobody's, and not told of what
    "We drink tea", "then I eat rice"                  none: what all do, a step of what is told
    "I'm dead", "I live for this", "I have to go"      none: a mood, a saying, no thing that one has
    "If I move, I'll buy a dog", "I love that!"        none: a condition; what points at what a reader does not see

A clause begins with its sentence, or behind a comma or a word that joins; what only may be, is asked, quoted, or joked
is none. Its subject and verb decide what may be said behind it: a verb that tells what is so for long in the present
or since some time, one that tells what changed somebody's life in the past, a plan to do something that takes long.
What is said ends where the next clause begins, and must name something. Subject, attribute and value read as a
sentence. The words are data, one table per language (see grammar); a language without a table is not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from processors.contradictions.grammar import BE, MAY_BE, ME, MEASURED, MOVES, MY, Verb, grammars
from processors.contradictions.sentences import sentences
from processors.contradictions.things import MAX_LABEL, Things
from processors.contradictions.values import Belief, Subject
from streams.core.patterns import lazily

_AGE = lazily(r"\d{1,2}|1[01]\d")
_LONG, _SINCE = ("years", "yrs"), ("since", "for")


def beliefs(text: str, own: bool = True) -> list[Belief]:
    """What a turn says. `own`: also of who says it."""
    spoken, said = sentences(text)
    grammar = grammars().get(spoken.name)
    found: dict[str, Belief] = {}
    if grammar is None:
        return []
    for sentence in said:
        if seen := grammar.tells(sentence):
            for belief in _Sentence(grammar, sentence, seen).beliefs():
                if own or not belief.mine:
                    found.setdefault(belief.attribute, belief)
    return [*found.values()]


class _Sentence(Things):
    """A sentence as its clauses are read."""

    def beliefs(self) -> Iterator[Belief]:
        """What its clauses say."""
        grammar, words, seen = self.grammar, self.words, self.seen
        at, last = 0, None
        while (at := self.led(at)) < len(words):
            if seen & MAY_BE and not grammar.conditions.isdisjoint(words[:at]):
                return
            subject = self._subject(at) or (last if last and self.goes_on(last.end, at) else None)
            verb = max(at, subject.end) if subject else at
            found = self._told(subject, verb) if subject else None
            found = found or (self.turned(at) if not ~seen & (MY | BE) else None)
            found = found or (self.valued(at) if not ~seen & (MEASURED | BE) else None)
            found = found or (self.moves(at) if not ~seen & (ME | MOVES) else None)
            if found is not None and not self.asks(at) and (last or not self._is_ordered(at)):
                yield found
            at, last = self.next(max(at + 1, verb, self.read)), subject if found else None

    def _is_ordered(self, at: int) -> bool:
        """Whether what comes before a clause orders something, on which it depends: "Miss that and I'm fired"."""
        before = self.words[: max(at - 1, 0)]
        return self.word(at - 1) in self.grammar.joining and bool(before) and self.grammar.claims.isdisjoint(before)

    # Subjects.

    def _subject(self, at: int) -> Subject | None:
        """Who speaks, "my sister", "the kids", "my sister Ann", "Ann"; who is left out in "Lost my job"."""
        grammar, word = self.grammar, self.words[at]
        if word in grammar.i:
            return Subject("", True, True, at + 1)
        behind = self.word(at + 1)
        if word not in grammar.subjected:
            is_named = (
                behind in grammar.named and self.is_name(at) and not self.counted(at) and word not in grammar.points
            )
            return Subject(self.shown(at, at + 1), False, True, at + 1) if is_named else None
        if word in grammar.my or (word == "the" and (behind in grammar.ours or behind in grammar.pets)):
            return self._owned(at)
        if at == 0 and word in grammar.dropping and (self.sentence.begins or not grammar.my.isdisjoint(self.words)):
            return Subject("", True, True, at)
        if word == "been" and self.form(at + 1).doing and self.word(at - 1) not in grammar.have:
            return Subject("", True, True, at)
        return None

    def _owned(self, at: int) -> Subject | None:
        """Whom or what one has, behind "my" or "the"."""
        grammar, words, end = self.grammar, self.words, at + 1
        while end < len(words) and not self.is_verb(end):
            if words[end] == "," or words[end] in grammar.subjects or end - at > MAX_LABEL:
                break
            end += 1
        if self.word(end) in grammar.i and self.word(end - 1) in grammar.joining:
            return Subject("", True, True, end + 1)
        if end == at + 1 or end == len(words) or not self.is_verb(end):
            return None
        head = end - 1
        while head > at + 1 and (words[head] in grammar.adverbs or words[head] in grammar.denies):
            head -= 1
        label = self.shown(at + 1 + (words[at + 1] == "own" and head > at + 1), head + 1)
        while head > at + 1 and self.is_name(head):
            head -= 1
        return Subject(label, True, words[head] in grammar.persons, end)

    # What verbs say.

    def _told(self, subject: Subject, at: int) -> Belief | None:
        """What a verb and the words behind it say of a subject."""
        grammar = self.grammar
        at, affirmed, _ = self.adverbs(at)
        word = self.word(at)
        if word not in grammar.verbs:
            return None
        behind, also, forever = self.adverbs(at + 1)
        affirmed, main = affirmed and also, self.word(behind)
        if word in grammar.be:
            return self._being(subject, word if subject.label else "is", behind, affirmed)
        if not subject.person:
            return None
        if word == "was":
            if main in ("born", "raised"):
                return self.follow(subject, f"was {main}", behind + 1, grammar.traits[main], affirmed)
            was = main in grammar.articles and self._is_role(self.head(behind + 1))
            return self.made(subject, "was", behind, affirmed) if was else None
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
            is_moment = self._is_moment(behind + 1) or "we" in self.words[:at]
            is_able = is_able and not (main == "have" and is_moment)  # "we can't have yellow", "I can't have the van"
            return self.made(subject, f"can {main}", behind + 1, affirmed) if is_able else None
        if word == "would" and main in ("love", "like") and self.word(behind + 1) == "to":
            is_dream = main == "love" or self.word(behind + 2) in grammar.dreams
            return self._aims(subject, f"would {main} to", behind + 2, affirmed) if is_dream else None
        if word in ("used", "use") and main == "to":
            return self._once(subject, behind + 1, affirmed)
        return self._present(subject, at, affirmed) or (self._past(subject, at) if affirmed else None)

    def _is_moment(self, at: int) -> bool:
        """Whether what one cannot have is told of a moment: "the van", "5 minutes", "Ann's cup"."""
        return self.word(at) in self.grammar.articles or self.counted(at) or self.is_name(at) or "'" in self.word(at)

    def _once(self, subject: Subject, at: int, affirmed: bool) -> Belief | None:
        """What somebody used to do or have."""
        grammar, deed = self.grammar, self.word(at)
        has = deed in grammar.have and self.word(self.head(at + 1)) in grammar.persons | grammar.things
        if has or deed not in grammar.finite | grammar.no_deeds:
            return self.made(subject, "used to", at, affirmed, 2)
        return None

    def _present(self, subject: Subject, at: int, affirmed: bool, helped: str = "") -> Belief | None:
        """What is so for long, what one likes or has, what is planned. `helped`: the form of "do" before the verb."""
        form = self.form(at)
        for verb in form.present if helped or not form.third else form.third:
            if verb.base not in self.grammar.told and (not subject.mine or self._is_shared(subject, verb)):
                continue
            shown = verb.third if not subject.label or helped == "does" else self.word(at)
            found = None
            if verb.kind == "aim" and verb.base != "go" and self.word(at + 1) in verb.needs.words:
                found = self._aims(subject, f"{shown} {self.word(at + 1)}", at + 2, affirmed)
            elif verb.kind in ("habit", "like", "own"):
                found = self.follow(subject, shown, at + 1, verb.needs, affirmed)
            if found is not None:
                return found
        return None

    def _is_shared(self, subject: Subject, verb: Verb) -> bool:
        """Whether what one does is a step of what is told, or done by all: "then I eat rice", "we wear hats"."""
        is_ours = not subject.label and self.word(subject.end - 1) == "we"
        return verb.kind == "habit" and (is_ours or self.word(subject.end - 2) == "then")

    def _past(self, subject: Subject, at: int) -> Belief | None:
        """What changed somebody's life: "moved to Porto", "started my own shop"."""
        changes = (self._changed(subject, verb, at) for verb in self.form(at).past if verb.kind == "become")
        return next(filter(None, changes), None)

    def _changed(self, subject: Subject, verb: Verb, at: int, shown: str = "") -> Belief | None:
        self.changes = True
        if verb.needs.alone and self.stops(at + 1):
            found = self.cut(subject, "", at, at + 1, True)
        else:
            found = self.follow(subject, shown or self.words[at], at + 1, verb.needs, True)
        self.changes = False
        return found

    def _perfect(self, subject: Subject, at: int, affirmed: bool, forever: bool) -> Belief | None:
        """What has been so for some time, or has changed."""
        word = self.word(at)
        if word == "been":
            at, also, _ = self.adverbs(at + 1)
            if self.word(at) == "to" and at + 1 < len(self.words) and self.is_name(at + 1):
                return self._places(subject, at + 1, affirmed and also)
            return self._being(subject, "has been", at, affirmed and also)
        if word == "got":
            return self.follow(subject, "has", at + 1, self.grammar.forms["have"].present[0].needs, affirmed)
        shown = f"has always {word}" if forever else f"has {word}"
        forever = forever or not self.grammar.may_end.isdisjoint(self.words[at:])
        for verb in self.form(at).done:
            found = None
            if verb.kind in ("habit", "like", "own") and forever:
                found = self.follow(subject, shown, at + 1, verb.needs, affirmed)
            elif verb.kind == "become" and affirmed:
                found = self._changed(subject, verb, at, f"has {word}")
            elif verb.kind == "aim" and forever and self.word(at + 1) in verb.needs.words:
                found = self._aims(subject, f"{shown} {self.word(at + 1)}", at + 2, affirmed)
            if found is not None:
                return found
        return None

    def _places(self, subject: Subject, at: int, affirmed: bool) -> Belief | None:
        """Where somebody has been: places have names, what was done there is told behind them."""
        end = self.end(at)
        joins = (place for place in range(at, end - 1) if self.words[place] in self.grammar.joining)
        stop = next((place for place in joins if not self.is_name(place + 1)), end)
        is_house = any("'" in word for word in self.words[at:stop])
        return None if is_house else self.cut(subject, "has been to", at, stop, affirmed)

    def _being(self, subject: Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """What is said by a form of "be"; `at`: behind it."""
        if not subject.person:
            return self.fact(subject, at, affirmed)
        if self.word(at) in ("only", "just") and not affirmed:
            return None
        told = self._trait(subject, shown, at, affirmed) or self._is(subject, shown, at, affirmed)
        return told or (self._doing(subject, shown, at) if affirmed else None)

    def _trait(self, subject: Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """What can be said of somebody by one word, or with what follows it: "vegan", "allergic to nuts"."""
        grammar = self.grammar
        begin = at + (self.word(at) in grammar.articles)
        begin += begin > at and self.word(begin) in grammar.degrees
        for length in (3, 2, 1):
            needs, end = grammar.traits.get(self.joined(begin, length)), begin + length
            if needs is None or self.word(end) in grammar.theirs:  # "he's called his boat Ann" tells what he did
                continue
            if needs.alone and begin == at and self.stops(end):
                lasts = self.word(end) in _SINCE or self.word(end + 1) in _LONG
                return self.cut(subject, shown, begin, self.end(end) if lasts else end, affirmed)
            found = self.follow(subject, f"{shown} {self.shown(at, end)}", end, needs, affirmed)
            if found is not None:
                return found
        return None

    def _is(self, subject: Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
        """How old somebody is, what by profession, in which trade."""
        grammar, word, behind = self.grammar, self.word(at), self.word(at + 1)
        if _AGE.fullmatch(word):
            is_long = behind in _LONG and self.word(at + 2) == "old"
            if not subject.label and "are" in self.words[subject.end : at]:  # "we're 16 now": so many
                return None
            end = at + 3 if is_long else at + 1
            return self.cut(subject, shown, at, end, affirmed) if is_long or self.stops(end) else None
        if word == "in" and self.count(grammar.within, at + 1 + (behind in grammar.articles | grammar.my)):
            return self.made(subject, shown, at, affirmed)
        if word in grammar.articles and self._is_role(head := self.head(at + 1)):
            is_told = word != "the" or self.word(head + 1) in grammar.prepositions
            is_told = is_told and not any("'s" in self.words[place] for place in range(at, head))
            return self.made(subject, shown, at, affirmed) if is_told else None
        return None

    def _doing(self, subject: Subject, shown: str, at: int) -> Belief | None:
        """What somebody is at for some time, or plans."""
        word, behind = self.word(at), self.word(at + 1)
        for verb in self.form(at).doing:
            found = None
            if verb.kind == "aim" and (behind in verb.needs.words or verb.needs.anything):
                to = f" {behind}" if behind in verb.needs.words else ""
                found = self._aims(subject, f"{shown} {word}{to}", at + 1 + bool(to), True)
            elif shown == "has been" and behind in _SINCE:
                found = self.made(subject, shown, at, True)
            elif verb.kind == "doing" or (verb.kind == "habit" and shown == "has been"):
                found = self.follow(subject, f"{shown} {word}", at + 1, verb.needs, True)
            if found is not None:
                return found
        return None

    def _aims(self, subject: Subject, shown: str, at: int, affirmed: bool) -> Belief | None:
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
        if deed in ("get", "getting") and (behind == "the" or (behind in grammar.prepositions and behind != "into")):
            return None
        if behind in grammar.prepositions and not self._goes_with(at):
            return None
        return self.made(subject, shown, at, affirmed and also, 2)

    def _goes_with(self, at: int) -> bool:
        """Whether a verb takes the preposition behind it: "live in", not "join in" or "write to"."""
        verbs, behind = {verb for verbs in self.form(at) for verb in verbs}, self.word(at + 1)
        return not verbs or self.word(at) in ("get", "getting") or any(behind in verb.needs.words for verb in verbs)

    def _is_role(self, at: int) -> bool:
        """Whether a word, or it and the one before, tell what somebody is."""
        grammar, word = self.grammar, self.word(at)
        is_role = word in grammar.roles or self.joined(at - 1, 2) in grammar.roles or word.endswith(grammar.role_ends)
        return is_role and word not in grammar.no_roles
