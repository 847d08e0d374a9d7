"""Learns the weights by which contradictions decide (processors/contradictions/weights.json, and of
single turns streams/core/text/statements.json). Takes some minutes of one core, and less than two gigabytes.

    python -m tests.bench.learn_contradictions [--alike] [--write [--plain]]
    python -m tests.bench.learn_contradictions --lives     what is found in lives, of which readers marked it

Of turns, by what a glance sees of them: `changes` whether one takes another's place, `states` whether its own place is
taken, `tells` whether it takes part in a sequence of the tests, where things are told plainly; `answers`, together
with `changes`, whether what the agent's turn answers takes another's place. Of pairs, as the index finds them while a
conversation is folded: `doubt` of a turn that may change something and a statement that it may mean; `means`
(closer.json) of those few of them that `doubt` holds likeliest, by what they say, and of those that it holds likely,
`told` and, with the agent's answer, `answered` (certain.json); `replaces` of two that tell something plainly.
Learned from the voices that may be looked at, whose authors said which turn takes whose place; from the sequences of
the tests that may be learned from; and from friends' chats (LoCoMo), where next to nothing is taken back. What pairs
are learned from is what weights of turns say that did not see them, and so on. What is printed is crossed: of each
author, set and chat by weights that never saw it. HELD is never learned from. With --write, the weights of `replaces`
stay as they are but with --plain. With --alike, alike words count for doubts, too, whose weights are then those of
alike.json; that needs the extra `semantic`.

Lives (see quality_lives) only measure: of three, .49 of the changes are seen and .08 of the look-alikes; something is
told at 166 of 1,000 turns. Learned from those of 16 others, too, it is .51 and .08, of authors of voices who only
measure .722 are seen, not .716; and of what is told plainly less is found.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from processors import PROCESSORS
from processors.contradictions import BeliefContradicted, ContradictionSuspected, pairs
from processors.contradictions.certain import LIKELY, UNANSWERED, answered, standing
from processors.contradictions.closer import LEAST, LIKELIEST, looks
from processors.contradictions.glance import MAY_CHANGE, doubt_signals
from processors.contradictions.index import MAX_DOUBTS, Index, Meant, Statement, keyed, words_of
from processors.contradictions.reading import CHANGING, read
from processors.open_efforts import TurnRethreaded, TurnThreaded
from streams.core.driver import ancestors, fold
from streams.core.events import DAY, MINUTE, SECOND, TurnRecorded
from streams.core.text import read as text_of
from streams.core.text import statements
from streams.core.text.learned import likelihood
from streams.core.text.signals import kinds
from streams.core.text.statements import MAX_TEXT, seen_of
from streams.core.text.trees import grown
from tests.bench import learning
from tests.bench.data import DATA
from tests.bench.learning import Example, Grown, Table, Weights
from tests.bench.quality_lives import LIVES, turns
from tests.bench.quality_lives import MEASURING as ONLY_MEASURING
from tests.bench.voices import conversations, marked
from tests.processors import contradiction_sequences as sets

WEIGHTS = Path(pairs.__file__).with_name("weights.json")
OF_TURNS = Path(statements.__file__).with_name("statements.json")
OF_CLOSER, OF_CERTAIN = WEIGHTS.with_name("closer.json"), WEIGHTS.with_name("certain.json")
WITH_ALIKE = WEIGHTS.with_name("alike.json")
THREADING = ancestors(PROCESSORS, ["open_efforts"])
LEARNED, HELD = ("FIRST", "MORE", "VARIED", "FRESH", "PLAIN"), ("HELD_OUT", "FRESH_HELD")
BEFORE = 150
"""Turns of a chat that stand before each sequence a second time, told in as many sessions: so that what is rare in an
empty space and what was said just before are no sign."""
USERS = 3
"""Authors, sets and chats that must have a signal for it to be learned: what fewer have tells of themselves."""
GROUPS = 7
"""What is printed is crossed in so many groups of authors, sets and chats."""
ROUNDS = 2
"""How often the clauses that are meant are chosen anew by what was learned."""
TURNS, DOUBTS, STRENGTH = 0.1, 0.1, 0.2
WORTH = {"voice": 3.0, "set": 20.0, "other": 2.0, "alike": 4.0}
"""What a pair counts: true ones and look-alikes are few; sets are told plainly, as most people tell an agent."""
MEANT, ALIKE, CHATS = 3.0, 1.5, 5.0
"""What a true pair and a look-alike count among doubts; and, at a closer look, what any of friends' chats does."""
MANY_USERS = 8
"""The same as USERS, of a closer look, which sees words."""
WORDY, WORDS = ("in:", "old:", "says:", "both:", "before:", "after:"), 0.6
"""Signals of a closer look that are words, and how freely their weights may grow beside those of all else, of which
there are few: crossed by author, .9 of what is likeliest is right down to .20 of the changes (.18 with all alike)."""
PLAIN = {"set": 16.0, "voice": 1.0, "chat": 1.0}
"""What a turn counts of which is asked whether it tells something plainly."""
LOOKED = 30
"""How much less likely than not, in hundredths of log odds, a turn may tell something plainly and is still read."""
Marked = set[tuple[str, str]]
Scores = dict[str, list[int]]
"""By turn: what weights that did not see it say of it, an act of TOLD each."""
TOLD = ("changes", "states", "tells", "answers")


class Talk(NamedTuple):
    """A conversation, and the pairs of its turns that are marked."""

    events: Sequence[TurnRecorded]
    true: Marked
    alike: Marked
    before: Sequence[Statement] = ()


class Source(NamedTuple):
    """Conversations of one author, or of one set."""

    name: str
    kind: str
    talks: list[Talk]

    @property
    def turns(self) -> int:
        return sum(len(talk.events) for talk in self.talks)


class Doubted(NamedTuple):
    """A turn and a statement that it may mean, for a closer look."""

    new: Statement
    meant: Meant
    agents: str
    answers: int | None
    """What the agent's answer speaks for, where one is counted."""


class Compared(NamedTuple):
    """Two turns that the index brought together: the signals of their pairs of clauses, or those of a doubt."""

    signals: list[list[str]]
    replaces: bool
    alike: bool
    """Annotated to look like it and not to be it."""
    newer: tuple[int, str]
    doubted: Doubted | None = None
    """Of a doubt."""

    @property
    def is_doubt(self) -> bool:
        """Whether it is what a turn may mean, rather than two that tell plainly."""
        return self.doubted is not None


Looked = dict[str, list[tuple[Compared, list[str]]]]
"""By source, the pairs that are looked at closer, and what is seen of them."""


def walk(number: int, talk: Talk, scores: Scores, alike: bool) -> Iterator[Compared]:
    """What the index brings together while turns come in, in a space in which something was said before."""
    known = Index()
    for statement in talk.before:
        known.enter(statement)
    answers = answering(talk.events)
    for turn, (effort, revised) in zip(talk.events, threads(talk.events), strict=True):
        for of_turn, other in revised:
            known.rethread(of_turn, other)
        text = text_of(turn)
        if turn.role in ("tool", "system") or not text.terms:
            continue
        said, who = turn.content[:MAX_TEXT], turn.agent or turn.role
        changes, states, tells, _ = scores[turn.id]
        reading = read(said)
        words = words_of(text.terms, text.names, said) + (keyed(reading, who) if tells > 0 else [])
        of = kinds(said)
        new = Statement(
            turn.id, known.count, turn.at, turn.session, who, turn.role, said, words, states, of, effort, changes
        )
        shared = known.shared(words)
        found: list[tuple[Statement, list[list[str]], Doubted | None]] = []
        if turn.role == "user" and changes > MAY_CHANGE and not talk.before:
            meant, agents = known.meant(shared, new, text.names), known.agents(turn.session)
            told: list[int | None] = [None]
            if answer := answers.get(turn.id):
                told.append(scores[answer.id][-1])
            for one in known.alike(new, meant) if alike else meant:
                for answered in told:
                    seen = doubt_signals(changes + (answered or 0), new, one)
                    found.append((one.statement, [seen], Doubted(new, one, agents, answered)))
        if tells > 0:
            of_words = pairs.words_seen(said)
            for slot, setting in known.near(shared, turn.session, who, bool(reading.acts & CHANGING)):
                older = read(known.slots[slot].text)
                closely = [
                    [*pairs.signals(one, reading, older, setting), *of_words]
                    for one in pairs.pairs(reading, older, setting.same_speaker)
                ]
                if closely and known.slots[slot] not in talk.before:
                    found.append((known.slots[slot], closely, None))
        for older_one, signals, doubted in found:
            ends = (turn.id, older_one.turn)
            yield Compared(signals, ends in talk.true, ends in talk.alike, (number, turn.id), doubted)
        known.enter(new)


def answering(events: Sequence[TurnRecorded]) -> dict[str, TurnRecorded]:
    """The agent's answer to a user's turn, where it follows at once."""
    last: dict[str, TurnRecorded] = {}
    found = {}
    for turn in events:
        before = last.get(turn.session)
        if before is not None and (before.role, turn.role) == ("user", "assistant"):
            found[before.id] = turn
        last[turn.session] = turn
    return found


Threads = list[tuple[str, list[tuple[str, str]]]]


def threads(events: Sequence[TurnRecorded]) -> Threads:
    """Of each turn its effort as it is known when the turn is read, and what is known better of earlier ones then."""
    of = {turn.id: place for place, turn in enumerate(events)}
    found: Threads = [("", []) for _ in events]
    for row in fold(THREADING, events):
        match row.event:
            case TurnThreaded(turn=turn, effort=effort):
                found[of[turn]] = effort, found[of[turn]][1]
            case TurnRethreaded(turn=turn, effort=effort):
                found[row.position.offset][1].append((turn, effort))
    return found


def sources() -> list[Source]:
    """All that is learned from and that is measured on here. Turns are named apart."""
    voices: dict[str, list[Talk]] = {}
    for number, one in enumerate(conversations(True)):
        talk = Talk(one.events(), marked(one.turns, "replaces"), marked(one.turns, "looks_like"))
        voices.setdefault(one.author, []).append(_named(f"voice {number}", talk))
    found = [Source(name, "voice", told) for name, told in sorted(voices.items())]
    chatted = [*chats()]
    before = [_statement(number, turn) for number, turn in enumerate(chatted[0][:BEFORE] if chatted else ())]
    for name in (*LEARNED, *HELD):
        told = [_sequence(one, name, at) for at, one in enumerate(getattr(sets, name))]
        if name in LEARNED:
            told += [
                Talk([replace(turn, session=turn.id) for turn in one.events], one.true, one.alike, before)
                for one in told
            ]
        found.append(Source(name, "set", told))
    for at, events in enumerate(chatted):
        found.append(Source(f"chat {at}", "chat", [_named(f"chat {at}", Talk(events, set(), set()))]))
    return found


def lived(measuring: bool) -> Iterator[Talk]:
    """Lives in which readers marked what takes the place of what: those that only measure, or the others."""
    for path in sorted(LIVES.glob("*.changes.json")):
        life = path.name.partition(".")[0]
        if (life in ONLY_MEASURING) is measuring:
            marks = json.loads(path.read_text("utf-8"))
            true, alike = (
                {(newer, older) for newer, mark in marks.items() for older in mark.get(key, ())}
                for key in ("replaces", "looks_like")
            )
            yield Talk(turns(life), true, alike)


def of_lives() -> Iterator[str]:
    """What is found in lives, a line each for those that may be looked at and those that only measure."""
    for measuring in (False, True):
        counts: Counter[str] = Counter()
        for talk in lived(measuring):
            rows = [row.event for row in fold(PROCESSORS, talk.events)]
            sure = {(row.turn, row.older) for row in rows if isinstance(row, BeliefContradicted)}
            seen = sure | {(row.turn, row.older) for row in rows if isinstance(row, ContradictionSuspected)}
            counts["changes"] += len({newer for newer, _ in talk.true})
            counts["sure"] += len({newer for newer, _ in sure})
            counts["sure and right"] += len({newer for newer, _ in sure & talk.true})
            counts["seen"] += len({newer for newer, _ in seen & talk.true})
            counts["look-alikes"] += len(talk.alike)
            counts["look-alikes seen"] += len(seen & talk.alike)
            counts["told"] += len({newer for newer, _ in seen})
            counts["turns"] += len(talk.events)
        yield f"{'only measuring' if measuring else 'looked at'} {dict(counts)}"


def _named(name: str, talk: Talk) -> Talk:
    """A talk whose turns have names that no other's have."""
    true, alike = ({(f"{name} {a}", f"{name} {b}") for a, b in pairs} for pairs in (talk.true, talk.alike))
    return Talk([replace(turn, id=f"{name} {turn.id}") for turn in talk.events], true, alike)


def _statement(number: int, turn: TurnRecorded) -> Statement:
    text = text_of(turn)
    words = words_of(text.terms, text.names, turn.content)
    return Statement(
        f"before {number}", number, turn.at, turn.session, turn.agent, "user", turn.content, words, 0, []
    )  # fmt: skip


def _sequence(sequence: sets.Sequence, name: str, number: int) -> Talk:
    at, events = DAY, []
    for place, said in enumerate(sequence.said):
        at += int(abs(said.days) * DAY)
        id = f"{name} {number}-{place}"
        events.append(TurnRecorded("s", id, at, "s", said.agent, said.role, said.content))  # type: ignore[arg-type]
    true = {(events[max(a, b)].id, events[min(a, b)].id) for a, b in sequence.contradicts}
    return Talk(events, true, set())


def chats() -> Iterator[list[TurnRecorded]]:
    """Friends' chats, all turns of one after another."""
    for path in sorted((DATA / "locomo-dev").glob("*.json")):
        for number, sample in enumerate(json.loads(path.read_text("utf-8"))):
            events, at = [], DAY
            told = sample["conversation"]
            for session in range(1, 1 + sum(key.startswith("session_") for key in told)):
                at += DAY
                for turn in told.get(f"session_{session}", ()):
                    at += MINUTE + SECOND
                    events.append(
                        TurnRecorded(
                            f"chat {number}", turn["dia_id"], at, f"{session}", turn["speaker"], "user", turn["text"]
                        )
                    )
            yield events


class Turns:
    """All turns, of which it is learned what a glance tells."""

    def __init__(self, given: Sequence[Source]) -> None:
        self.changes = Table(_changes(given))
        self.states, self.tells = Table(_of_turns(given, "states")), Table(_of_turns(given, "tells"))

    def fit(self, without: Collection[str]) -> dict[str, Weights]:
        """Weights of turns, for each act of TOLD: for taking another's place and, of an agent's answers, for that; for
        the others, by what is seen of single words."""
        bias, weights = self.changes.fit(without, TURNS, USERS)
        own = {signal: weight for signal, weight in weights.items() if not signal.startswith(ANSWER)}
        answers = {signal.removeprefix(ANSWER): weight for signal, weight in weights.items() if signal not in own}
        tells, of_tells = self.tells.fit(without, TURNS, USERS, many=False)
        states = self.states.fit(without, TURNS, USERS)
        return {"changes": (bias, own), "states": states, "tells": (tells + LOOKED, of_tells), "answers": (0, answers)}


def _changes(given: Sequence[Source]) -> Iterator[Example]:
    for source in given:
        for talk in source.talks:
            newer, answers = {a for a, _ in talk.true}, answering(talk.events)
            for turn in talk.events:
                if turn.role != "user":
                    continue
                seen = SEEN[turn.content, turn.role]
                if answer := answers.get(turn.id):
                    seen = [*seen, *[f"{ANSWER}{one}" for one in SEEN[answer.content, answer.role]]]
                yield Example(seen, turn.id in newer, source.name)


def _of_turns(given: Sequence[Source], act: str) -> Iterator[Example]:
    for source in given:
        for talk in source.talks:
            newer, older = {a for a, _ in talk.true}, {b for _, b in talk.true}
            for turn in talk.events:
                is_so = turn.id in older if act == "states" else source.kind == "set"
                if act != "tells" or source.kind != "set" or turn.id in newer | older:
                    seen = [signal for signal in SEEN[turn.content, turn.role] if " " not in signal]
                    yield Example(seen, is_so, source.name, PLAIN[source.kind] if act == "tells" else 1.0)


class _Seen(dict[tuple[str, str], list[str]]):
    def __missing__(self, turn: tuple[str, str]) -> list[str]:
        found = self[turn] = seen_of(*turn)
        return found


SEEN = _Seen()
"""What is seen of a turn's words, by content and role."""
ANSWER = "answer:"


def of_pairs(compared: dict[str, list[Compared]], kinds: dict[str, str]) -> Weights:
    """Weights of pairs that tell plainly; of each pair of turns the clauses that score best count."""
    weights: Weights | None = None
    for _ in range(ROUNDS):
        examples = []
        for name, mine in compared.items():
            for pair in mine:
                if not pair.is_doubt:
                    seen = _best(weights, pair.signals) if weights else pair.signals[0]
                    kind = kinds[name] if pair.replaces or kinds[name] == "set" else "other"
                    examples.append(Example(seen, pair.replaces, name, WORTH["alike" if pair.alike else kind]))
        weights = learning.fit(examples, STRENGTH)
    assert weights is not None
    return weights


def _best(weights: Weights, signals: list[list[str]]) -> list[str]:
    return max(signals, key=lambda one: learning.score(weights, one))


def closer(compared: Sequence[Compared], scores: Sequence[int]) -> list[tuple[Compared, list[str]]]:
    """Of each turn the statements that it most likely means, by what `doubt` says, and what is seen of those."""
    turns: dict[tuple[int, str], list[tuple[int, Compared]]] = {}
    for score, pair in zip(scores, compared, strict=True):
        if pair.doubted and pair.doubted.answers is None:
            turns.setdefault(pair.newer, []).append((score, pair))
    found = []
    for pairs_of in turns.values():
        pairs_of.sort(key=lambda one: -one[0])
        likeliest = [one for one in pairs_of[:LIKELIEST] if one[0] >= LEAST]
        if likely := [(score, pair, pair.doubted) for score, pair in likeliest if pair.doubted]:
            first = likely[0][2]
            own, seen = looks(first.new, [(score, one.meant) for score, _, one in likely], first.agents)
            found += [(pair, [*own, *signals]) for (_, pair, _), signals in zip(likely, seen, strict=True)]
    return found


def _closely(looked: Looked, kinds: dict[str, str]) -> Iterator[Example]:
    """What is seen of a turn and the statements that it most likely means."""
    for name, mine in looked.items():
        for pair, signals in mine:
            worth = MEANT if pair.replaces else ALIKE if pair.alike else CHATS if kinds[name] == "chat" else 1.0
            yield Example(signals, pair.replaces, name, worth)


def held(signal: str) -> float:
    """How freely the weight of a signal of a closer look may grow."""
    return WORDS if signal.startswith(WORDY) else 1.0


class Likely(NamedTuple):
    """A pair that a closer look holds likely, and the values by which it is found out whether it is sure."""

    pair: Compared
    told: list[int]
    answered: list[int] | None
    """The same with the agent's answer, where there is one."""


def likely_of(source: Source, looked: list[tuple[Compared, list[str]]], close: list[int], seen: Scores) -> list[Likely]:
    """Of each turn of a source the statements that are likely."""
    turns: dict[tuple[int, str], list[tuple[int, Compared, Doubted]]] = {}
    for score, (pair, _) in zip(close, looked, strict=True):
        if pair.doubted:
            turns.setdefault(pair.newer, []).append((score, pair, pair.doubted))
    answers = {number: answering(talk.events) for number, talk in enumerate(source.talks)}
    found = []
    for (number, turn), ranked in turns.items():
        ranked.sort(key=lambda one: -one[0])
        answer = answers[number].get(turn)
        new = ranked[0][2].new
        rows = standing(new, [(score, doubted.meant) for score, _, doubted in ranked], LIKELY)
        for values, (_, pair, doubted) in zip(rows, ranked, strict=False):
            more = answered(new, doubted.meant.statement, answer.content, seen[answer.id][-1]) if answer else None
            found.append(Likely(pair, values, [*values, *more] if more else None))
    return found


def of_certain(likely: Sequence[Likely]) -> dict[str, Grown]:
    """Trees of what is likely, for the turn and for the answer."""
    labels = [one.pair.replaces for one in likely]
    answered = [one.answered or [*one.told, *UNANSWERED] for one in likely]
    return {
        "told": learning.grow([one.told for one in likely], labels), "answered": learning.grow(answered, labels)
    }  # fmt: skip


def apart(given: Sequence[Source]) -> list[tuple[list[Source], set[str]]]:
    """Some authors, sets and chats, and the names of all that is not learned from for them; HELD alone, too."""
    groups = []
    for at in range(GROUPS):
        mine = [[s for s in given if s.kind == kind and s.name not in HELD][at::GROUPS] for kind in PLAIN]
        groups.append([source for one in mine for source in one])
    groups.append([source for source in given if source.name in HELD])
    return [(group, {*HELD, *[source.name for source in group]}) for group in groups]


@dataclass
class Crossed:
    """Of each source the pairs, and what weights that never saw it say of them; and the same of a closer look. What
    the weights were fitted to is kept, to fit them to all."""

    turns: Turns
    pairs: dict[str, list[Compared]]
    doubts: Table
    scores: dict[str, list[int]]
    looked: Looked
    closely: Table
    close: dict[str, list[int]]
    likely: dict[str, list[Likely]]
    sure: dict[str, list[tuple[int, int | None]]]
    """Of what is likely, what is said at the turn and at its answer."""


def crossed(given: Sequence[Source], alike: bool = False) -> Crossed:
    """Learns of all sources but some, each time, and asks of those. Turns first, then the pairs that those tell of,
    then those of them that are looked at closer."""
    groups, kinds = apart(given), {source.name: source.kind for source in given}
    turns = Turns(given)
    seen: Scores = {}
    say("turns: what is seen")
    for group, out in groups:
        told = turns.fit(out)
        for turn in (turn for source in group for talk in source.talks for turn in talk.events):
            seen[turn.id] = [learning.score(told[act], SEEN[turn.content, turn.role]) for act in TOLD]
        say(f"turns: learned without {len(out)}")
    found: dict[str, list[Compared]] = {}
    doubts = Table(_walked(given, seen, alike, found))
    say(f"pairs: {sum(map(len, found.values()))}")
    scores: dict[str, list[int]] = {}
    for group, out in groups:
        plain = of_pairs({name: mine for name, mine in found.items() if name not in out}, kinds)
        doubt = doubts.fit(out, DOUBTS, USERS)
        for source in group:
            told_of = iter(doubts.scores(doubt, [source.name]))
            scores[source.name] = [
                next(told_of) if pair.is_doubt else max(learning.score(plain, one) for one in pair.signals)
                for pair in found[source.name]
            ]
        say(f"pairs: learned without {len(out)}")
    looked = {name: closer(mine, scores[name]) for name, mine in found.items()}
    closely = Table(_closely(looked, kinds))
    say("a closer look: what is seen")
    close: dict[str, list[int]] = {}
    for group, out in groups:
        means = closely.fit(out, DOUBTS, MANY_USERS, held=held)
        close |= {source.name: closely.scores(means, [source.name]) for source in group}
        say(f"a closer look: learned without {len(out)}")
    likely = {s.name: likely_of(s, looked[s.name], close[s.name], seen) for s in given}
    sure: dict[str, list[tuple[int, int | None]]] = {}
    for group, out in groups:
        certain = of_certain([one for name, mine in likely.items() if name not in out for one in mine])
        for source in group:
            sure[source.name] = [
                (
                    grown(*certain["told"], one.told),
                    grown(*certain["answered"], one.answered) if one.answered else None,
                )
                for one in likely[source.name]
            ]
        say(f"what is sure: learned without {len(out)}")
    for kind in PLAIN:
        of = [seen[turn.id] for s in given if s.kind == kind for talk in s.talks for turn in talk.events]
        may, tells = (sum(one) / len(of) for one in ([c > MAY_CHANGE for c, *_ in of], [t > 0 for _, _, t, _ in of]))
        print(f"{kind}: of turns {may:.2f} may change something, {tells:.2f} tell something plainly")
    return Crossed(turns, found, doubts, scores, looked, closely, close, likely, sure)


def _walked(
    given: Sequence[Source], seen: Scores, alike: bool, found: dict[str, list[Compared]]
) -> Iterator[Example]:  # fmt: skip
    """Doubts as examples; `found` takes all pairs by source, doubts without what is seen of them: that is much."""
    for source in given:
        mine = found.setdefault(source.name, [])
        for number, talk in enumerate(source.talks):
            for pair in walk(number, talk, seen, alike):
                mine.append(pair._replace(signals=[]) if pair.is_doubt else pair)
                if pair.is_doubt:
                    worth = MEANT if pair.replaces else ALIKE if pair.alike else 1.0
                    yield Example(pair.signals[0], pair.replaces, source.name, worth)
        say(f"pairs of {source.name}")


def say(text: str) -> None:
    """What is done so far, and after how many seconds."""
    print(f"{monotonic() - BEGUN:6.0f} s  {text}", file=sys.stderr, flush=True)


BEGUN = monotonic()


def report(given: Sequence[Source], compared: dict[str, list[Compared]], scores: dict[str, list[int]]) -> None:
    """What thresholds are worth; of each newer turn the best pair counts."""
    for is_doubt, steps in ((False, range(-100, 151, 25)), (True, range(-300, -49, 25))):
        print("doubts" if is_doubt else "told plainly")
        for least in steps:
            print(f"{least:5} {likelihood(least):.2f} ", " | ".join(_line(given, compared, scores, is_doubt, least)))


def report_closer(given: Sequence[Source], looked: Looked, scores: dict[str, list[int]]) -> None:
    """What thresholds of a closer look are worth, without an agent's answer; of each newer turn the MAX_DOUBTS best
    count, as they are told. `sure`: the best alone, as if it were taken as changed."""
    print("a closer look")
    for least in range(-260, 341, 20):
        line = []
        for kind in ("voice", "chat"):
            told = right = alike = sure = rightly = true = look = turns = 0
            for source in (source for source in given if source.kind == kind):
                best: dict[tuple[int, str], list[tuple[int, Compared]]] = {}
                for score, (pair, _) in zip(scores[source.name], looked[source.name], strict=True):
                    if score >= least:
                        best.setdefault(pair.newer, []).append((score, pair))
                for pairs_of in best.values():
                    first, *_ = likely = sorted(pairs_of, key=lambda one: -one[0])[:MAX_DOUBTS]
                    told += len(likely)
                    right += any(pair.replaces for _, pair in likely)
                    alike += sum(pair.alike for _, pair in likely)
                    sure += 1
                    rightly += first[1].replaces
                true += sum(len({newer for newer, _ in talk.true}) for talk in source.talks)
                look += sum(len(talk.alike) for talk in source.talks)
                turns += source.turns
            shown = f"{kind} {told}, {1000 * told / max(1, turns):.1f}/1000"
            if true:
                shown += f" P {right / max(1, told):.2f} R {right / true:.3f} alike {alike / look:.3f}"
                shown += f" sure P {rightly / max(1, sure):.3f} R {rightly / true:.3f}"
            line.append(shown)
        print(f"{least:5} {likelihood(least):.2f} ", " | ".join(line))


def report_certain(given: Sequence[Source], likely: dict[str, list[Likely]], sure: dict[str, list[Any]]) -> None:
    """What thresholds of what is sure are worth, of voices: at the turn, and at its answer where none was sure before.
    One statement of a turn counts, as they are told."""
    print("what is sure")
    voices = [source for source in given if source.kind == "voice"]
    true = sum(len({newer for newer, _ in talk.true}) for source in voices for talk in source.talks)
    for at_turn, at_answer in product(range(130, 231, 10), range(100, 181, 20)):
        told = right = first = 0
        for source in voices:
            turns: dict[tuple[int, str], list[tuple[int, int | None, bool]]] = {}
            for (mine, of_answer), (pair, *_) in zip(sure[source.name], likely[source.name], strict=True):
                turns.setdefault(pair.newer, []).append((mine, of_answer, pair.replaces))
            for pairs_of in turns.values():
                now = [one for one in pairs_of if one[0] >= at_turn]
                then = [one for one in pairs_of if one[1] is not None and one[1] >= at_answer]
                told += bool(now or then)
                first += bool(now)
                right += (now or then)[0][2] if now or then else False
        limits = f"{likelihood(at_turn):.2f} {likelihood(at_answer):.2f}"
        print(f"{limits}  {told}, {first} at once, P {right / max(1, told):.3f} R {right / true:.3f}")


def _line(
    given: Sequence[Source], compared: dict[str, list[Compared]], scores: dict[str, list[int]], is_doubt: bool,
    least: int,
) -> Iterator[str]:  # fmt: skip
    for kind in ("voice", "chat", *(() if is_doubt else (*LEARNED, *HELD))):
        right = told = alike = true = look = turns = newer = 0
        for source in given:
            if kind not in (source.kind, source.name):
                continue
            best: dict[tuple[int, str], tuple[int, Compared]] = {}
            for score, pair in zip(scores[source.name], compared[source.name], strict=True):
                if pair.is_doubt is is_doubt and score >= least and score > best.get(pair.newer, (least - 1, pair))[0]:
                    best[pair.newer] = (score, pair)
            told += len(best)
            right += sum(pair.replaces for _, pair in best.values())
            alike += sum(pair.alike for _, pair in best.values())
            changing = {a for talk in source.talks for a, _ in talk.true}
            newer += sum(id in changing for _, id in best)
            true += sum(len(talk.true) for talk in source.talks)
            look += sum(len(talk.alike) for talk in source.talks)
            turns += source.turns
        if kind == "chat":
            yield f"chat {1000 * told / max(1, turns):.1f}/1000"
        else:
            yield f"{kind} {told} P {right / max(1, told):.2f} R {right / max(1, true):.2f}" + (
                f" newer P {newer / max(1, told):.2f} alike {alike / look:.2f}" if look else ""
            )


def written(path: Path, act: str) -> Weights:
    """The weights of an act that a file has."""
    table = json.loads(path.read_text("utf-8"))
    return table["bias"][act], table["weights"][act]


def main() -> None:
    """Prints what was learned is worth; with --write, writes the weights learned of all."""
    if "--lives" in sys.argv:
        for line in of_lives():
            print(line)
        return
    given = sources()
    alike = "--alike" in sys.argv
    found = crossed(given, alike)
    report(given, found.pairs, found.scores)
    report_closer(given, found.looked, found.close)
    report_certain(given, found.likely, found.sure)
    if "--write" in sys.argv:
        doubt = found.doubts.fit(HELD, DOUBTS, USERS)
        if alike:
            learning.write(WITH_ALIKE, 1, {"doubt": doubt})
            return
        rest = {source.name: source.kind for source in given if source.name not in HELD}
        plainly = {name: found.pairs[name] for name in rest}
        replaces = of_pairs(plainly, rest) if "--plain" in sys.argv else written(WEIGHTS, "replaces")
        learning.write(OF_TURNS, 4, found.turns.fit(HELD))
        learning.write(WEIGHTS, 4, {"doubt": doubt, "replaces": replaces})
        learning.write(OF_CLOSER, 1, {"means": found.closely.fit(HELD, DOUBTS, MANY_USERS, held=held)})
        certain = of_certain([one for name, mine in found.likely.items() if name not in HELD for one in mine])
        learning.write_trees(OF_CERTAIN, 1, certain)


if __name__ == "__main__":
    main()
