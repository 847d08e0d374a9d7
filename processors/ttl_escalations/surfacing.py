"""Which notes come back at a turn: those that press, and those whose matter the talk came to."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise, repeat, starmap
from operator import neg
from typing import NamedTuple

from processors.ttl_escalations.events import NoteSurfaced
from processors.ttl_escalations.params import TtlEscalationsParams, effective_priority
from processors.ttl_escalations.record import MAX_SESSIONS, Last, Note, Waiting, short
from streams.core.events import HOUR, TurnRecorded
from streams.core.processor import Derived, Raw, State
from streams.core.text import Text
from streams.core.text.commonness import CLASSES, ORDINARY, RARE, rarity
from streams.core.text.learned import Learned

MAX_LIKELY = 10
"""Notes weighed for one turn, those that share the most with it."""
NEAR = 0.75
"""Of what the note that shares the most shares with a turn, how much another one must, to be weighed, too."""
MAYBE = 0.07
"""From this likelihood on the turn may belong to another effort than it was put to, so that its notes are weighed."""
SHARES = (0.03, 0.07, 0.15, 0.3, 0.5, 0.7, 0.9)
"""Steps of how likely a turn belongs to the effort of a note."""
ACTS = ("ends", "opens", "stays")
"""What the words of a user's turn speak for; see streams/core/text/acts."""
NAME = 4
"""Stands for rare words that the note has as names."""
WORTH = (0, 2, 3, 5)
"""What a word of each class says: LIGHT, COMMON, ORDINARY, RARE."""
WEIGHTS = Learned.load("processors.ttl_escalations", "surfacing.json")


class Visit(NamedTuple):
    """A turn that may bring notes back, and what is known of its session."""

    params: TtlEscalationsParams
    state: State
    waiting: Waiting
    now: int
    turn: TurnRecorded
    last: Last
    visitor: str
    entered: bool
    """Whether the turn before it, in its session, belonged to another effort."""
    quiet: dict[str, int]
    """When this visit was shown what it was shown."""
    back: dict[str, None]
    """The notes of the effort that the talk comes to."""


_NOTHING: dict[str, int] = {}
_NONE: dict[str, None] = {}


def surface(
    params: TtlEscalationsParams, state: State, waiting: Waiting, raw: Raw[TurnRecorded], last: Last, out: list[Derived]
) -> None:
    """Shows the notes that press, and those whose matter the talk came to."""
    turn, text, now, termed = raw.event, raw.text, raw.now, waiting.termed
    named = [name for name in text.names if name in waiting.named] if waiting.named and text.names else []
    pressing = bool(waiting.pressing) and waiting.pressing[0][0] <= now
    hit = not termed.keys().isdisjoint(text.terms)
    # Why first: most turns are about other things than any note.
    entered = bool(last.effort) and last.effort != last.entered
    back = waiting.efforts.get(last.effort, _NONE) if entered else _NONE
    if not (hit or named or back or last.maybe or pressing):
        return
    visitor = short(turn.session)
    quiet = waiting.quiet.get(visitor, _NOTHING)
    visit = Visit(params, state, waiting, now, turn, last, visitor, entered, quiet, back)
    hits = [stem for stem in text.terms if stem in termed] if hit else []
    sums = _sums(visit, hits, named) if hits or named or back or last.maybe else {}
    fresh = _likely(visit, sums) if sums else {}
    urgent = _newest(waiting.pressing, now, params.pressing) if pressing else []
    likely = fresh | {note: record for note in urgent if note not in fresh and (record := _fresh(visit, note))}
    if likely:
        here = _Said(visit, text, hits, named, max(sums.values(), default=0))
        _show(visit, likely, _reasons(visit, fresh, set(urgent), here), out)


def _newest(pressing: list[tuple[int, str]], now: int, count: int) -> list[str]:
    end = bisect_right(pressing, now, key=lambda entry: entry[0])
    return [note for _, note in pressing[max(0, end - count) : end]]


def _told(visit: Visit, note: str) -> bool:
    """Whether this visit was shown the note not long ago, and did not leave its effort and come back since."""
    quiet = visit.quiet
    return note in quiet and note not in visit.back and visit.now - quiet[note] < visit.params.cooldown * HOUR


def _fresh(visit: Visit, note: str) -> Note | None:
    """The note, where its time is not out and this visit has not seen it, nor heard its own turn just now."""
    if _told(visit, note):
        return None
    record = visit.state.get(f"note/{note}", Note)
    if record is None or (record.historic and record.deadline <= visit.now):
        return None
    echo = record.session == visit.turn.session and visit.last.turns - record.place < visit.params.window
    return None if echo else record


def _sums(visit: Visit, hits: list[str], named: list[str]) -> dict[str, int]:
    """How much notes share with a turn: words, names, their effort."""
    waiting, alike = visit.waiting, visit.params.alike
    posted = [(waiting.termed[stem], WORTH[CLASSES[stem]]) for stem in hits]
    posted += [(waiting.named[name], WORTH[RARE]) for name in named]
    noted = waiting.efforts
    if visit.back:
        posted.append((visit.back, WORTH[RARE]))
    posted += [(noted[effort], WORTH[ORDINARY]) for effort in visit.last.maybe if effort in noted]
    return sharing(posted, alike)


def sharing(posted: Iterable[tuple[Mapping[str, None], int]], alike: int) -> Counter[str]:
    """What notes share with a turn, by what is posted: the notes that have something, and what it is worth. What more
    than `alike` notes have tells none of them."""
    telling = [(notes, worth) for notes, worth in posted if len(notes) <= alike]
    # Why each as often as it is worth: that is counted without a loop over notes, of which there are many after months.
    return Counter(chain.from_iterable(chain.from_iterable(starmap(repeat, telling))))


def foremost(sums: Mapping[str, int], most: int) -> list[tuple[int, str]]:
    """The notes that share the most, at most so many, each behind what it shares."""
    ranked = sorted(zip(map(neg, sums.values()), sums, strict=True))[:most]
    return [(-lacks, note) for lacks, note in ranked]


def _likely(visit: Visit, sums: dict[str, int]) -> dict[str, Note]:
    """The fresh ones of the notes that share the most with a turn, or `NEAR` as much, `MAX_LIKELY` at most."""
    if told := [note for note in visit.quiet.keys() & sums.keys() if _told(visit, note)]:
        sums = {**sums}
        for note in told:
            del sums[note]
    likely = foremost(sums, MAX_LIKELY)
    near = [note for worth, note in likely if worth >= NEAR * likely[0][0]]
    return {note: record for note in near if (record := _fresh(visit, note)) is not None}


def _at_work(visit: Visit, record: Note) -> bool:
    """Whether a note is of the effort that is talked of."""
    return bool(record.effort) and record.effort == visit.last.effort


def _reasons(visit: Visit, fresh: dict[str, Note], urgent: set[str], here: _Said) -> Callable[[str], str]:
    """Tells why a note is to be shown: the word that says that the talk came to its matter, or "priority" where it
    presses; "" for one that is not to be shown."""

    def reason(note: str) -> str:
        word = ""
        if note in fresh:
            record = fresh[note]
            seen, word = signals(visit, record, here)
            least = visit.params.at_work if _at_work(visit, record) else visit.params.likely
            word = word if WEIGHTS.scores(seen)[0] >= least else ""
        return word or ("priority" if note in urgent else "")

    return reason


def acted(text: Text) -> list[str]:
    """What the words of a turn speak for, as signals."""
    return [f"{act}:{max(-3, min(3, worth // 100))}" for act, worth in zip(ACTS, text.acts, strict=False)]


def dated(record: Note, now: int) -> str:
    """How far off the time of a note is, as a signal: half days, by powers of two."""
    left = record.deadline - now
    return f"{'over' if left < 0 else 'ahead'}:{(abs(left) // (12 * HOUR)).bit_length()}"


class _Said:
    """What a turn says that notes may share."""

    __slots__ = ("hits", "kind", "most", "names", "pairs", "plain", "small", "turns", "weight")

    def __init__(self, visit: Visit, text: Text, hits: list[str], named: list[str], most: int) -> None:
        said = text.terms
        telling = [stem for stem in said if CLASSES[stem]]
        rare = len([stem for stem in said if CLASSES[stem] == RARE])
        self.kind = "" if 2 * rare <= len(said) else "~"  # the table of words is of English: elsewhere all are rare
        self.hits = frozenset(hits)
        self.names = frozenset(named)
        self.small = self.hits - self.names
        self.weight = _worth(telling)
        self.most = most
        self.pairs = frozenset(f"{one} {two}" for one, two in pairwise(said) if one in self.hits and two in self.hits)
        self.turns = min(4, visit.last.turns.bit_length())
        self.plain = [f"by:{visit.turn.role}", f"says:{len(telling).bit_length()}"]
        self.plain += acted(text)
        if visit.entered:
            self.plain.append("entered")


def signals(visit: Visit, record: Note, here: _Said) -> tuple[list[str], str]:
    """What is seen of a note and a turn that shares words with it, and the word that tells most of it.

    rare:1  ordinary:0  common:2    words of these classes (see commonness) that both have, name: rare ones that are
    name:1  near rare:1  ~rare:1    names of the note; near: of its surroundings; ~: the turn seems not to be English
    note:3  turn:1                  quarters of what the words of the note, of the turn, weigh together
    name  small  exact  phrase      a name in both, written small in one, a path or number; words side by side in both
    alike:2                         notes that have the rarest one
    ahead:3  over:1  kept:2         half days to its deadline, since then, since it was taken, by powers of two
    effort  here                    it is of this effort, of this session
    first  entered                  the visit begins; the turn is of another effort than the one before
    comes visit:2                   how many turns it had, by powers of two, where the talk comes to the note's effort
    ends:-1  opens:2  stays:0       what the turn's words speak for
    comes  in  may  else            the talk comes to the note's effort, goes on with it, may have come, or neither
    comes own  comes ahead:3        with whether own words or those near are shared, with the time, with the visit
    share comes:4                   how likely the turn belongs to the note's effort, by SHARES
    rival:2                         how much more another note shares with the turn
    """
    own = [*filter(here.hits.__contains__, record.terms)]
    near = [*filter(here.hits.__contains__, record.near)]
    seen = [*here.plain, *_counted(here.kind, own, record.names), *_counted(f"{here.kind}near ", near, ())]
    best = max(own or near, key=rarity, default="")
    shared = _worth(own)
    both = shared + _worth(near)
    seen.append(f"note:{4 * shared // max(1, _worth(record.terms))}")
    seen.append(f"turn:{4 * both // max(1, here.weight)}")
    names = [*filter(here.names.__contains__, record.names)]
    if names:
        best = best if rarity(best) == RARE else names[0]
        seen.append("name" if any(map(str.isalpha, names)) else "exact")
    if not here.small.isdisjoint(record.names):
        seen.append("small")
    if here.pairs and not here.pairs.isdisjoint(record.phrases):
        seen.append("phrase")
    posted = visit.waiting.termed.get(best) or visit.waiting.named.get(best) or ()
    seen.append(f"alike:{min(4, len(posted).bit_length())}")
    due = dated(record, visit.now)
    seen.append(due)
    seen.append(f"kept:{((visit.now - record.opened) // (12 * HOUR)).bit_length()}")
    if record.session == visit.turn.session:
        seen.append("here")
    where, share = "else", 0.0
    if record.effort and record.effort == visit.last.effort:
        seen.append(f"effort {min(3, len(own))}{bool(near)}")
        where, share = "comes" if visit.entered else "in", visit.last.share
    elif record.effort in visit.last.maybe:
        where, share = "may", visit.last.maybe[record.effort]
    seen.append(f"share {where}:{bisect_right(SHARES, share)}")
    mine = both + WORTH[RARE] * (len(names) + (where == "comes")) + WORTH[ORDINARY] * (where == "may")
    rival = f"rival:{min(4, max(0, here.most - mine + 4) // 5)}"
    seen += (rival, f"{where} {rival}")
    words = "own" if own or names else "near" if near else "no"
    seen += _placed(where, words, due, here.turns)
    return seen, best or "effort"


@cache
def _placed(where: str, words: str, due: str, turns: int) -> tuple[str, ...]:
    """Where the talk is as to a note, and what goes together with that."""
    placed = [where, f"{where} {words}", f"{where} {due}", f"{words} {due}"]
    if not turns:
        placed += ("first", f"first {due}")
    if where in ("comes", "may"):
        placed.append(f"{where} visit:{turns}")
    return tuple(placed)


def _worth(stems: Iterable[str]) -> int:
    """What words say together. Why maps: it is asked of each note that a turn may bring back."""
    return sum(map(WORTH.__getitem__, map(CLASSES.__getitem__, stems)))


def _counted(kind: str, shared: list[str], names: Sequence[str]) -> tuple[str, ...]:
    """How many words of each class are shared, and which classes together."""
    counts = [0, 0, 0, 0, 0]
    for stem in shared:
        counts[NAME if (level := CLASSES[stem]) == RARE and stem in names else level] += 1
    return _named(kind, *(min(counts[level], 2) for level in (NAME, RARE, 2, 1)))


@cache
def _named(kind: str, name: int, rare: int, ordinary: int, common: int) -> tuple[str, ...]:
    return (
        f"{kind}name:{name}", f"{kind}rare:{rare}", f"{kind}ordinary:{ordinary}", f"{kind}common:{common}",
        f"{kind}{name + rare}{ordinary}{common}",
    )  # fmt: skip


def _effective(visit: Visit, note: Note) -> float:
    return effective_priority(visit.params, note.priority, note.opened, note.deadline, visit.now)


def _show(visit: Visit, likely: dict[str, Note], reason_of: Callable[[str], str], out: list[Derived]) -> None:
    """Surfaces the most pressing of those that there is a reason for. Why in this order: many may be likely, few are
    shown, and no more need be weighed."""
    now, turn, waiting, visitor = visit.now, visit.turn, visit.waiting, visit.visitor
    ranked = sorted((-_effective(visit, record), record.deadline, note) for note, record in likely.items())
    left = visit.params.shown
    for priority, _, note in ranked:
        if not (reason := reason_of(note)):
            continue
        record = likely[note]
        record.shown.pop(visitor, None)
        record.shown[visitor] = now  # the last one now: they stand in the order in which they saw it
        if visit.last.ended < now:
            waiting.hush(visitor, note, now)
        while len(record.shown) > MAX_SESSIONS:
            longest = next(iter(record.shown))
            del record.shown[longest]
            waiting.stir(longest, note)
        visit.state.put(f"note/{note}", record)
        out.append(NoteSurfaced(turn.space, turn.session, turn.at, note, turn.id, -priority, reason))
        left -= 1
        if not left:
            return
