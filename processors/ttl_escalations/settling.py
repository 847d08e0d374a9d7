"""Which waiting notes a turn tells to be done, or not needed any more.

People say so plainly ("I ordered the cake"), or only by what follows from it ("Marcus stopped at Brigitte's,
triceratops on top"). Learned weights (settling.json, by tests/bench/learn_settling.py) decide: what the turn and a note
share; how the clause that shares most is told (what is to be done stands in its past form, something is "sorted", "not
yet", planned for tomorrow, tried in vain, asked); what the turn's words do (see core/text/acts); and the note's time.
Words that the note has too stand for what they are, not for themselves: "I ordered the cake" is "i @ed the @".

A note is settled where that is sure, and asked about where it is likely. Weighed are few notes of few turns: those that
share words, names or the effort with a turn whose own words do not speak against it.

Measured on conversations and sentences left out of learning: from `settles` on .9 of what is settled is so, and .52 of
plain sentences, .34 of turns of ordinary voices that seemed likely, and .10 of the turns that two authors wrote to be
told in every other way but plainly settle their note. Of two authors who only measure, whose conversations are of that
kind, 4 of 5 notes are settled rightly and 14 of 19 asked about rightly, of 101 to settle. On ordinary voices by 15
authors that nothing was learned from, a reader who saw no rules found 64 of 70 notes settled rightly, and 58 of 76
asked about rightly.

A reminder that is called off ("take the dentist one off my list") is told by weights of their own. Of 60 such sentences
by an author who saw neither rules nor tests, with 60 that only seem so, 17 are settled, 4 wrongly, and 12 asked about,
5 wrongly; without those weights 6 are, 2 wrongly.

A reminder that is put to another time is told by weights of their own, too. Of 130 that two authors moved, who saw
neither rules nor tests, 47 are moved, 41 of them to when their authors would have them, and 12 asked about; two others
are moved instead. Of 130 that they only seem to move, most of them with times of their own, 3 are moved and 3 asked
about. In 60 conversations of ordinary voices one is.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from processors.ttl_escalations.params import TtlEscalationsParams
from processors.ttl_escalations.record import Last, Note, Waiting
from processors.ttl_escalations.surfacing import SHARES, WORTH, acted, dated, foremost, sharing
from streams.core.clock import to_local
from streams.core.events import HOUR, TurnRecorded
from streams.core.patterns import lazily
from streams.core.processor import Raw, State
from streams.core.text import Text
from streams.core.text.commonness import CLASSES, LIGHT, RARE
from streams.core.text.learned import Learned
from streams.core.text.memo import Memo
from streams.core.text.retiming import Due, Retimed, due, retimed
from streams.core.text.signals import folded, signals
from streams.core.text.stops import STOP
from streams.core.text.terms import WORDS
from streams.core.text.times import KINDS as TIMES

MOST = 3
"""Notes weighed for one turn, those that share the most with it."""
STRONGEST = 8
"""Signals told of a decision."""
READ = 1_200
"""Characters read of a turn; further down stands what was pasted."""
MAX_CLAUSES = 12
"""Clauses of it."""
EFFORT = 2
"""What it is worth that a turn belongs to the effort of a note."""
HOPELESS = -240
"""A turn whose own words score less settles nothing, in hundredths of log odds."""
RAISED = 24 * HOUR
"""So long after its time ran out a note may be put off though nothing else tells which one is meant."""
SOON = HOUR
MAX_VERB = 24
"""Longer words are no verbs of a note."""
_CLAUSE = lazily(rf"{STOP}+(?=\s|$)|[;:\n。！？]|,\s|\s[-–—]\s|\s(?=(?:but|and)\s)")
_PAST = lazily(r"\w{2,}[^e]ed")
_TABLE = tomllib.loads(files(__package__).joinpath("settling.toml").read_text("utf-8"))
VERBS = frozenset(_TABLE["verbs"]["plain"].split())
"""Verbs that stems leave out."""
_ASKS = frozenset(_TABLE["asks"]["plain"].split())
PAST = {form: WORDS[verb][2] or verb for verb, forms in _TABLE["past"].items() for form in forms.split()}
"""Past forms that no ending tells, and the stems of their verbs."""
KINDS: dict[str, list[str]] = {}
for _kind, _words in _TABLE["kinds"].items():
    for _word in dict.fromkeys(_words.split()):
        KINDS.setdefault(_word, []).append(_kind)
"""What kinds of words that tell how it stands with something there are, by word."""
_MOVERS = ("zmove", "zset", "zrather")
MOVING = {word: kind for kind, words in _TABLE["moving"].items() for word in words.split()}
"""What stands for words of what puts something to another time."""
MOVERS = frozenset(_TABLE["moves"]["ways"].split()) | {word for word, kind in MOVING.items() if kind in _MOVERS}
"""Words of which a turn has one that moves a note, or is short."""
FEW = 12
"""Words of a short turn."""
UNDONE = frozenset(("not", "yet", "will", "if", "fails", "waits"))
"""Kinds that speak against it."""
HAPPENED = frozenset(("done", "ends"))
"""Kinds that speak for it."""
CALLED_OFF = frozenset(("calls off", "reminder"))
"""Kinds of a clause that calls a reminder off."""
WEIGHTS = Learned.load("processors.ttl_escalations", "settling.json")
SCORES = {act: WEIGHTS.only(act) for act in ("settles", "off", "moves")}
"""What a turn may tell of a note: that what it is for is done or not needed, that the reminder itself is called off,
and that it is put to another time."""


class Word(NamedTuple):
    """A word of a clause."""

    text: str
    """Folded."""
    stem: str
    """"" for a word that stems leave out."""
    verb: str
    """The verb it is a past form of, or itself where an ending tells that it is one; "" for no past form."""


def _look(raw: str) -> tuple[Word, ...]:
    stem = WORDS[raw][2]
    return tuple(
        Word(text, (text if text in VERBS else "") if at or not stem else stem, _verb(text))
        for at, text in enumerate(folded(raw))
    )


def _verb(form: str) -> str:
    return PAST.get(form) or (form if _PAST.fullmatch(form) else "")


_SEEN = Memo(_look)


def to_do(text: str) -> list[str]:
    """What is to be done, of the words of a note: stems that say little of its matter, each once."""
    stems = [
        word.stem
        for raw in text.split()
        for word in _SEEN[raw]
        if word.stem and (word.stem in VERBS or not CLASSES[word.stem])
    ]
    return [stem for stem in dict.fromkeys(stems) if stem not in _ASKS and stem not in TIMES and len(stem) <= MAX_VERB]


class Clause:
    """A part of a turn that tells one thing."""

    __slots__ = ("asked", "kinds", "stems", "words")

    def __init__(self, words: list[Word], asked: bool) -> None:
        self.words = words
        self.asked = asked
        self.stems = frozenset(word.stem for word in words if word.stem)
        self.kinds = {kind for word in words for kind in KINDS.get(word.text, ()) if kind != "asks"}


class Told:
    """What a turn tells, for all notes alike."""

    def __init__(self, params: TtlEscalationsParams, raw: Raw[TurnRecorded], last: Last) -> None:
        self.turn, self.now, self.last = raw.event, raw.now, last
        self.zone = params.zone
        self.most = 0
        """What the note that shares the most shares with it."""
        self.clauses = [*_clauses(self.turn.content[:READ])][:MAX_CLAUSES]
        self.stems = frozenset[str]().union(*(clause.stems for clause in self.clauses))
        said = [word.text for clause in self.clauses for word in clause.words]
        self.moves = may_move(raw) and (len(said) <= FEW or not MOVERS.isdisjoint(said))
        """Whether it may put a note to another time. Why so few: most turns that name a time tell of something else."""
        self._retimed: dict[Due, Retimed] = {}
        self.plain = self._plain(raw.text)

    def _plain(self, text: Text) -> list[str]:
        words = {word.text for clause in self.clauses for word in clause.words}
        kinds = {kind for clause in self.clauses for kind in clause.kinds}
        off = any(clause.kinds >= CALLED_OFF for clause in self.clauses)
        seen = acted(text)
        seen += [f"t {word}" for word in words]
        seen += [f"tells {kind}" for kind in kinds] + ["calls off"] * off
        if any(word.verb for clause in self.clauses for word in clause.words):
            seen.append("t <past>")
        if self.turn.content.rstrip()[-1:] == "?":
            seen.append("tells ?")
        if not self.last.turns:
            seen.append("first")
        seen.append(f"clauses:{min(4, len(self.clauses))}")
        return sorted(seen)

    def retimed(self, record: Note) -> tuple[Due, Retimed]:
        """When a note is due, and to when the turn puts it, local."""
        old = due(to_local(record.deadline, self.zone))
        if old not in self._retimed:
            self._retimed[old] = retimed(self.turn.content, to_local(self.turn.at, self.zone), old)
        return old, self._retimed[old]

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The verbs that are told in their past form, and the stems of those forms."""
        words = [word for clause in self.clauses for word in clause.words if word.verb]
        return frozenset(word.verb for word in words) | {word.stem for word in words if word.stem != word.text}


def _clauses(content: str) -> Iterator[Clause]:
    at = 0
    for stop in [*(mark.end() for mark in _CLAUSE.finditer(content)), len(content)]:
        part = content[at:stop]
        at = stop
        words = [word for raw in part.split() for word in _SEEN[raw]]
        if words:
            yield Clause(words, "?" in part[-2:])


def candidates(waiting: Waiting, raw: Raw[TurnRecorded], last: Last, alike: int) -> dict[str, int]:
    """The notes that share the most with a turn, and how much: words, names, their effort; of a turn that may name a
    time also the one that was asked for here last, and the one whose time ran out last: "make it 4 instead"."""
    termed, named, text = waiting.termed, waiting.named, raw.text
    posted = [(termed[stem], WORTH[CLASSES[stem]]) for stem in text.terms if stem in termed]
    posted += [(named[name], WORTH[RARE]) for name in text.names if name in named]
    if last.effort in waiting.efforts:
        posted.append((waiting.efforts[last.effort], EFFORT))
    found = {note: worth for worth, note in foremost(sharing(posted, alike), MOST)}
    return dict.fromkeys(_at_hand(waiting, raw, last), 0) | found


def _at_hand(waiting: Waiting, raw: Raw[TurnRecorded], last: Last) -> list[str]:
    """The note that was asked for here last, and the one whose time ran out last, if that is not long ago."""
    if not may_move(raw):
        return []
    raised = [note for at, note in waiting.raised[-1:] if raw.now - at < RAISED]
    return [last.noted, *raised] if last.noted else raised


def may_move(raw: Raw[TurnRecorded]) -> bool:
    """Whether a turn may name a time."""
    return "when" in raw.text.cues


def weighed(
    params: TtlEscalationsParams, state: State, waiting: Waiting, raw: Raw[TurnRecorded], last: Last
) -> list[tuple[str, int, str, list[str]]]:
    """How likely a turn settles or moves each of the notes that share something with it, in hundredths of log odds,
    which of them, and what is seen of both; the likeliest first."""
    text = raw.text
    shares = last.effort in waiting.efforts or not waiting.termed.keys().isdisjoint(text.terms)
    if not shares and waiting.named.keys().isdisjoint(text.names) and not _at_hand(waiting, raw, last):
        return []
    told = Told(params, raw, last)
    # Why first: to count what a turn shares with all notes of a long space costs more than to read its words.
    acts = [act for act in SCORES if (told.moves if act == "moves" else SCORES[act](told.plain) >= HOPELESS)]
    if not acts or not (sums := candidates(waiting, raw, last, params.alike)):
        return []
    told.most = max(sums.values())
    found = [
        (note, *score(seen := signs(told, note, record, shared), acts), seen)
        for note, shared in sums.items()
        if (record := state.get(f"note/{note}", Note)) is not None
    ]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def score(seen: Sequence[str], acts: Iterable[str] = tuple(SCORES)) -> tuple[int, str]:
    """How likely what is seen tells something of a note, in hundredths of log odds, and what (see SCORES)."""
    return max((SCORES[act](seen), act) for act in acts)


def why(seen: list[str], act: str) -> list[str]:
    """The strongest signals, and what they weigh."""
    return [f"{signal} {weight:+d}" for signal, weight in WEIGHTS.why(seen, act)[:STRONGEST]]


def signs(told: Told, note: str, record: Note, shared: int) -> list[str]:
    """What is seen of a note and a turn that shares something with it.

    own:2  near:1  of:3             what the shared words of the note, those near it, weigh; quarters of all of its own
    light  verb past                a word of what is to be done; a verb of the note in its past form
    rival:1                         how much more another note shares
    in 3  may  else                 the turn is of its effort, how likely (SHARES); may be; is of another one
    here  later  after:2            of the session that asked for it, how many turns later; of another
    ahead:1  over:2                 half days to its deadline, since then, by powers of two
    ends:-1  opens:2  stays:0       what the turn's words speak for
    t sorted  tells yet             words of the turn; kinds of words (settling.toml)
    c i  c i @ed  c the * @         words, pairs, pairs with one between, of the clause that shares most, where @ is a
                                    word of the note, @ed its verb in a past form, ~ a word near it, _ any other matter
    calls off  called off not 0     a clause calls a reminder off; that clause does, how long it is
    has yet  how:@ed 0 1            kinds of words of that clause; whether it tells something past, how many kinds speak
                                    against it, how many words of the note it has; `clause`: that there is one
    m make it  m it zto             words of a turn that may move a note (see `signals`; zto: another time), and where
                                    it puts the note; k zmove zit: with words of one kind alike (settling.toml)
    m clock  m day  m both          another hour, another day, or both
    m later:3  m earlier:1          by how many hours, by powers of two
    m noted:1  m shares             the note was asked for here last, how many turns ago; a clause shares words with it
    m soon  m just out  m out       its time is out within the hour, was so, or long since
    """
    own, light, near = record.terms, record.light, record.near
    seen = [*told.plain]
    worth = sum(WORTH[CLASSES[stem]] for stem in own if stem in told.stems)
    around = sum(WORTH[CLASSES[stem]] for stem in near if stem in told.stems)
    every = sum(WORTH[CLASSES[stem]] for stem in own)
    seen += (f"own:{min(4, (worth + 1) // 2)}", f"near:{min(4, (around + 2) // 3)}", f"of:{4 * worth // max(1, every)}")
    seen.append(f"rival:{min(4, max(0, told.most - shared + 3) // 4)}")
    seen += _where(told, record)
    if not told.verbs.isdisjoint(light) or not told.verbs.isdisjoint(own):
        seen.append("verb past")
    if not told.stems.isdisjoint(light):
        seen.append("light")
    best = max(told.clauses, key=lambda clause: _shares(clause, record), default=None)
    if best is None or not _shares(best, record):
        seen.append("no clause")
    else:
        seen += _how(told, best, record)
    if told.moves:
        seen += _moved(told, note, record)
    return seen


def _moved(told: Told, note: str, record: Note) -> Iterator[str]:
    """Where a turn would put a note; nothing where it names no other time."""
    old, (new, said) = told.retimed(record)
    if new is None:
        return
    yield from (f"m {one}" for one in signals(said))
    yield from (f"k {one}" for one in signals(" ".join(MOVING.get(word, word) for word in folded(said))))
    then = due(new)
    day, clock = then.day != old.day, then.clock != old.clock
    kind = "both" if day and clock else "day" if day else "clock"
    hours = int(abs((new - old.moment).total_seconds())) // 3600
    yield f"m {'later' if new > old.moment else 'earlier'}:{hours.bit_length()}"
    here = note == told.last.noted
    ago = min(3, max(0, told.last.turns - record.place).bit_length()) if here else 9
    yield from (f"m {kind}", f"m noted:{ago}", f"m {kind} noted:{ago}", f"m noted:{ago} words:{len(told.clauses)}")
    share = "shares" if any(_shares(clause, record) for clause in told.clauses) else "no share"
    yield from (f"m {share}", f"m {share} noted:{ago}", f"m {kind} {share}")
    left = record.deadline - told.now
    if left < SOON:
        yield f"m {'soon' if left >= 0 else 'just out' if -left < SOON else 'out'}"


def _where(told: Told, record: Note) -> Iterator[str]:
    last = told.last
    if record.effort and record.effort == last.effort:
        yield f"in {bisect_right(SHARES, last.share) // 2}"
    else:
        yield "may" if record.effort in last.maybe else "else"
    here = record.session == told.turn.session
    yield "here" if here else "later"
    if here:
        yield f"after:{min(4, max(0, last.turns - record.place) // 2)}"
    yield dated(record, told.now)


def _shares(clause: Clause, record: Note) -> int:
    """How much a clause shares with a note: its own words twice, as they tell what it is for."""
    stems = clause.stems
    own = sum([WORTH[CLASSES[stem]] for stem in record.terms if stem in stems])
    near = sum([WORTH[CLASSES[stem]] for stem in record.near if stem in stems])
    return 2 * own + near + 2 * sum([stem in stems for stem in record.light])


def _mapped(clause: Clause, record: Note) -> Iterator[str]:
    """The words of a clause as they stand to a note."""
    for word, stem, verb in clause.words:
        if stem and (stem in record.terms or stem in record.light):
            yield "@ed" if verb and stem != word else "@"
        elif verb and (verb in record.light or verb in record.terms):
            yield "@ed"
        elif stem and stem in record.near:
            yield "~"
        elif verb:
            yield "<past>"
        else:
            yield "_" if stem and CLASSES[stem] > LIGHT else word


def _how(told: Told, clause: Clause, record: Note) -> Iterator[str]:
    """How the clause that shares most with a note is told."""
    mapped = [*_mapped(clause, record)]
    around = ["^", *mapped, "$"]
    seen = [f"c {word.text}" for word in clause.words] + [f"c {word}" for word in mapped]
    seen += [f"c {one} {two}" for one, two in pairwise(around)]
    seen += [f"c {one} * {two}" for one, two in zip(around, around[2:], strict=False)]
    yield from dict.fromkeys(seen)
    kinds = clause.kinds
    yield from (f"has {kind}" for kind in sorted(kinds))
    if kinds >= CALLED_OFF:
        yield f"called off {'not ' * ('not' in kinds)}{min(2, len(mapped) // 6)}"
    asked = "asks" in KINDS.get(clause.words[0].text, ())
    if asked:
        yield "has asks"
    undone = min(2, len(kinds & UNDONE))
    mine = min(2, mapped.count("@"))
    how = "@ed" if "@ed" in mapped else "past" if "<past>" in mapped else "no" if kinds.isdisjoint(HAPPENED) else "done"
    yield from (f"undone:{undone}", f"how:{how}", f"how:{how} {undone}", f"mine:{mine}")
    yield from (f"how:{how} . {mine}", f"how:{how} {undone} {mine}")
    if clause.asked:
        yield from ("has ?", f"asked {how}")
    if mapped[0] in ("@", "~") or mapped[:2] == ["the", "@"]:
        yield f"begins {how} {undone}"
    if mapped[0] in ("i", "we"):
        yield f"I {how} {undone}"
    elif mapped[0] == "@ed":
        yield f"@ed first {undone}"
    yield f"long:{min(4, len(mapped) // 4)}"
    follows = told.clauses[told.clauses.index(clause) + 1 :][:1]
    yield f"then undone:{min(2, len(follows[0].kinds & UNDONE)) if follows else 0}"
    yield f"others:{min(4, max(0, sum(CLASSES[stem] > LIGHT for stem in clause.stems) - mine))}"
