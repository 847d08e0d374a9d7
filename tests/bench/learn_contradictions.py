"""Learns the weights by which contradictions decide (processors/contradictions/weights.json).

    python -m tests.bench.learn_contradictions [--write]

`replaces` is learned of pairs of turns, as the index finds them while a conversation is folded: from the voices that
may be looked at, where the author said which turn takes whose place; from the sequences of the tests that may be
learned from; and from friends' chats (LoCoMo), where next to nothing is taken back: there each pair is a negative.
`tells` is learned of turns: whether one takes part in such a pair. What is printed is crossed: of each voice and set by
weights that never saw it. HELD_OUT and FRESH_HELD are never learned from.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from processors.contradictions import pairs
from processors.contradictions.index import Index, Statement, keyed, words_of
from processors.contradictions.reading import CHANGING, MAX_TEXT, read
from streams.core.events import DAY, MINUTE, SECOND, TurnRecorded
from streams.core.text import read as text_of
from streams.core.text.learned import likelihood
from tests.bench import learning
from tests.bench.data import DATA
from tests.bench.learning import Example, Weights
from tests.bench.voices import conversations
from tests.processors import contradiction_sequences as sets

WEIGHTS = Path(pairs.__file__).with_name("weights.json")
LEARNED, HELD = ("FIRST", "MORE", "VARIED", "FRESH", "PLAIN"), ("HELD_OUT", "FRESH_HELD")
FOLDS = 6
BEFORE = 150
"""Turns of a chat that stand before each sequence a second time, told in as many sessions: so that what is rare in an
empty space and what was said just before are no sign."""
USERS = 3
"""Voices, sets and chats that must have a signal for it to be learned: what fewer have tells of their authors."""
ROUNDS = 2
"""How often the clauses that are meant are chosen anew by what was learned."""
STRENGTH, GLANCE = 0.2, 0.3
WORTH = {"voice": 3.0, "set": 10.0, "other": 2.0, "alike": 4.0}
"""What an example counts: true ones and look-alikes are few; sets are told plainly, as most people tell an agent."""
LOOKED = 50
"""How much less likely than not, in hundredths of log odds, a turn may tell something and is still read."""


class Compared(NamedTuple):
    """Two turns that the index brought together: the signals of their pairs of clauses."""

    signals: list[list[str]]
    replaces: bool
    alike: bool
    """Annotated to look like it and not to be it."""
    newer: str


class Source(NamedTuple):
    """Conversations of one author and voice, or of one set."""

    name: str
    kind: str
    compared: list[Compared]
    turns: list[tuple[list[str], bool, bool]]
    """What a glance sees, and whether it takes part in a contradiction, as the newer or as either."""
    true: int
    alike: int


Marked = set[tuple[str, str]]


def walk(
    events: Sequence[TurnRecorded], true: Marked, alike: Marked, before: Sequence[Statement] = ()
) -> Iterator[Compared]:
    """What the index brings together while turns come in, in a space in which something was said before."""
    known = Index()
    for statement in before:
        known.enter(statement)
    for turn in events:
        text = text_of(turn)
        if turn.role in ("tool", "system") or not text.terms:
            continue
        said, who = turn.content[:MAX_TEXT], turn.agent or turn.role
        reading = read(said)
        words = words_of(text.terms, text.names, said) + keyed(reading, who)
        of_words = pairs.words_seen(said)
        for slot, setting in known.near(words, turn.session, who, bool(reading.acts & CHANGING)):
            other = known.slots[slot]
            older = read(other.text)
            seen = [pairs.signals(pair, reading, older, setting) + of_words for pair in pairs.pairs(reading, older)]
            if seen and other not in before:
                ends = (turn.id, other.turn)
                yield Compared(seen, ends in true, ends in alike, turn.id)
        known.enter(Statement(turn.id, known.count, turn.at, turn.session, who, turn.role, said, words))


def _source(name: str, kind: str, told: Sequence[tuple[Sequence[TurnRecorded], Marked, Marked]]) -> Source:
    compared: list[Compared] = []
    turns: list[tuple[list[str], bool, bool]] = []
    for events, true, alike in told:
        newer, either = {a for a, _ in true}, {id for pair in true for id in pair}
        compared += walk(events, true, alike)
        people = [event for event in events if event.role in ("user", "assistant")]
        turns += [(pairs.glanced(e.content[:MAX_TEXT]), e.id in newer, e.id in either) for e in people]
    return Source(name, kind, compared, turns, sum(len(t) for _, t, _ in told), sum(len(a) for _, _, a in told))


def sources() -> list[Source]:
    """All that is learned from and that is measured on here."""
    voices: dict[str, list[tuple[list[TurnRecorded], Marked, Marked]]] = {}
    for one in conversations(True):
        marked = [
            {(turn["id"], turn[key]) for turn in one.turns if isinstance(turn.get(key), str)}
            for key in ("replaces", "looks_like")
        ]
        voices.setdefault(f"{one.author}/{one.voice}", []).append((one.events(), marked[0], marked[1]))
    found = [_source(name, "voice", told) for name, told in sorted(voices.items())]
    talk = [*chats()]
    before = [_statement(number, turn) for number, turn in enumerate(talk[0][:BEFORE] if talk else ())]
    for name in (*LEARNED, *HELD):
        told = [_sequence(one, at) for at, one in enumerate(getattr(sets, name))]
        source = _source(name, "set", told)
        if name in LEARNED:
            for events, true, alike in told:
                for turn in events:
                    turn.session = turn.id
                source.compared.extend(walk(events, true, alike, before))
        found.append(source)
    found += [_source(f"chat {at}", "chat", [(events, set(), set())]) for at, events in enumerate(talk)]
    return found


def _statement(number: int, turn: TurnRecorded) -> Statement:
    text = text_of(turn)
    words = words_of(text.terms, text.names, turn.content)
    return Statement(f"before {number}", number, turn.at, turn.session, turn.agent, "user", turn.content, words)


def _sequence(sequence: sets.Sequence, number: int) -> tuple[list[TurnRecorded], Marked, Marked]:
    at, events = DAY, []
    for place, said in enumerate(sequence.said):
        at += int(abs(said.days) * DAY)
        events.append(TurnRecorded("s", f"{number}-{place}", at, "s", said.agent, said.role, said.content))  # type: ignore[arg-type]
    return events, {(f"{number}-{max(a, b)}", f"{number}-{min(a, b)}") for a, b in sequence.contradicts}, set()


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


def fitted(given: Sequence[Source]) -> Weights:
    """Weights of pairs; of each pair of turns the clauses that score best count."""
    weights: Weights | None = None
    for _ in range(ROUNDS):
        examples = []
        for source in given:
            for pair in source.compared:
                seen = _best(weights, pair.signals) if weights else pair.signals[0]
                kind = "alike" if pair.alike else source.kind if pair.replaces or source.kind == "set" else "other"
                examples.append(Example(seen, pair.replaces, source.name, WORTH[kind]))
        weights = learning.fit(examples, STRENGTH, USERS)
    assert weights is not None
    return weights


def _best(weights: Weights, signals: list[list[str]]) -> list[str]:
    return max(signals, key=lambda one: learning.score(weights, one))


def glance(given: Sequence[Source]) -> Weights:
    """Weights of turns, moved so that a turn is looked at where it is at least somewhat likely to tell."""
    examples = []
    for source in given:
        for seen, newer, either in source.turns:
            told = newer or (either and source.kind == "set")
            examples.append(Example(seen, told, source.name, 8.0 if told else 1.0))
    bias, weights = learning.fit(examples, GLANCE)
    return bias + LOOKED, weights


def crossed(given: Sequence[Source]) -> tuple[list[list[int]], list[list[int]]]:
    """Of each source the scores of its pairs and of its turns, by weights that were fitted without it."""
    groups: list[list[int]] = [[] for _ in range(FOLDS)]
    for kind in ("voice", "set", "chat"):
        for at, place in enumerate(
            p for p, source in enumerate(given) if source.kind == kind and source.name not in HELD
        ):
            groups[at % FOLDS].append(place)
    found: list[list[int]] = [[] for _ in given]
    turns: list[list[int]] = [[] for _ in given]
    everything = [source for source in given if source.name not in HELD]
    for group in [*groups, [p for p, source in enumerate(given) if source.name in HELD]]:
        rest = [source for place, source in enumerate(given) if place not in group and source in everything]
        weights, look = fitted(rest), glance(rest)
        for place in group:
            found[place] = [max(learning.score(weights, one) for one in pair.signals) for pair in given[place].compared]
            turns[place] = [learning.score(look, seen) for seen, _, _ in given[place].turns]
    return found, turns


def report(given: Sequence[Source], scores: Sequence[Sequence[int]], turns: Sequence[Sequence[int]]) -> None:
    """What thresholds are worth, over all voices, sets and chats; of each newer turn the best pair counts."""
    for kind in ("voice", "set", "chat"):
        looked = [
            (s, newer)
            for source, mine in zip(given, turns, strict=True)
            if source.kind == kind
            for s, (_, newer, _) in zip(mine, source.turns, strict=True)
        ]
        for least in (-100, -50, 0, 50):
            passed = sum(s > least for s, _ in looked) / len(looked)
            kept = sum(s > least for s, newer in looked if newer) / max(1, sum(newer for _, newer in looked))
            print(f"glance {kind} {least}: {passed:.2f} of turns, {kept:.2f} of true")
    for least in (-250, -200, -150, -100, -50, 0, 50, 100, 150, 200):
        line = f"{least:5} {likelihood(least):.2f} "
        for kind in ("voice", "chat", *LEARNED, *HELD):
            mine = [(source, s) for source, s in zip(given, scores, strict=True) if kind in (source.kind, source.name)]
            right = told = alike = 0
            for source, found in mine:
                best: dict[str, tuple[int, Compared]] = {}
                for score, pair in zip(found, source.compared, strict=True):
                    if score >= least and score > best.get(pair.newer, (least - 1, pair))[0]:
                        best[pair.newer] = (score, pair)
                told += len(best)
                right += sum(pair.replaces for _, pair in best.values())
                alike += sum(pair.alike for _, pair in best.values())
            true, look = sum(s.true for s, _ in mine), sum(s.alike for s, _ in mine)
            if kind == "chat":
                line += f" | chat {1000 * told / max(1, sum(len(s.turns) for s, _ in mine)):.1f}/1000"
            else:
                line += f" | {kind} P {right / max(1, told):.2f} R {right / max(1, true):.2f}" + (
                    f" alike {alike / look:.2f}" if look else ""
                )
        print(line)


def main() -> None:
    """Prints what was learned is worth; with --write, writes the weights learned of all."""
    given = sources()
    if "--write" in sys.argv:
        rest = [source for source in given if source.name not in HELD]
        learning.write(WEIGHTS, 1, {"replaces": fitted(rest), "tells": glance(rest)})
    else:
        report(given, *crossed(given))


if __name__ == "__main__":
    main()
