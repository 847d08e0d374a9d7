"""Whether what a model is given holds what it needs, and nothing else.

    python -m tests.bench.quality_given

Conversations (LoCoMo dev, with captions): each question is asked in a new session. Evidence: whether any, and all, of
the turns that people marked are shown. What is asked of what nobody said (category 5) is not to bring more than that.

Meetings (QMSum): each question is asked in a new session, 4,000 tokens. Answer words: the share of the words of
people's answers (stems, no stop words) that stand in the context. Evidence: the share of the turns that people marked
which are shown. Precision: the share of the shown turns that are marked. Floor: the turns that BM25 ranks best, as many
tokens of them as ours shows.

Resumptions: of four task dialogues interleaved in one session, the first turn after one is taken up again. What is
needed is what the agent then really used, in calls and in words: ids, numbers, dates and names with digits that were
said before in this dialogue, and neither by the user just now nor by a tool meanwhile. 60 points: the first that need
two such facts or more, each exchange once; what composes contexts had no part in it, nor had who wrote this seen
it. A point is held where all its facts are in the context. Floor: as many of the newest tokens of the session.

Nothing else in the talk: greetings in an empty space, and in the space of a meeting questions about other worlds: the
context should be small.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from streams.core.events import SECOND, TurnRecorded
from streams.core.text.terms import terms, tokens
from tests.bench.data import DATA
from tests.bench.interleave import START, Interleaved, sessions
from tests.bench.quality_recall import LOCOMO, conversations
from tests.spaces import SPACE, Remembering

BUDGET, SMALL = 4000, 500
BARS = ((BUDGET, 93, 70), (1000, 78, 58))
"""Tokens; of conversations' questions, the shares (%) for which any, and all, of the evidence is to be shown."""
POINTS, FACTS = 60, 2
EACH = 4
"""Greetings, and questions about other worlds, that are asked of each meeting."""
LITTLE = 400
"""Tokens of a context that has nothing to say."""
K1, B = 1.2, 0.75
_FACT = re.compile(r"[\w#@+-]*\d[\w#@+-]*(?:[.:,/-]\w+)*")
GREETINGS = (
    *("Hi!", "Hello there, how are you today?", "Good morning!", "Hey", "Good evening, nice to meet you."),
    *("Hallo, guten Tag!", "Bonjour !", "Thanks, bye!", "What's up?", "Hi, can you help me?"),
)
ELSEWHERE = (
    *("How do I prune an old apple tree in winter?", "Which wine goes with grilled sardines?"),
    *("Can you write me a limerick about a lighthouse?", "What is the capital of Mongolia?"),
    *("My toddler refuses to eat anything green, any ideas?", "How long do I boil ostrich eggs?"),
    *("Explain the offside rule in football.", "Why do cats purr when they are hurt?"),
    *("Recommend three novels set in Antarctica.", "How do I get candle wax out of a carpet?"),
    *("What does a sourdough starter smell like when it is ripe?", "Is it safe to hike Ben Nevis in November?"),
    *("Translate 'the tide is out' into Welsh.", "When did the Ottoman empire end?"),
    *("How do I tune a ukulele?", "What should I pack for a week on a sailing boat?"),
    *("Who painted the Night Watch?", "How many moons does Neptune have?"),
    *("Was kostet ein Schrebergarten im Jahr?", "¿Cómo se hace un gazpacho sin pepino?"),
)


class Query(NamedTuple):
    """What is asked about a meeting."""

    query: str
    answer: str
    evidence: set[str]


def meetings() -> Iterator[tuple[list[TurnRecorded], list[Query]]]:
    """Meetings with what people asked about them; none where the data is absent."""
    path = DATA / "qmsum" / "val.jsonl"
    for line in path.read_text().splitlines() if path.exists() else ():
        found = json.loads(line)
        said = [
            TurnRecorded(
                SPACE, f"m{n}", START + n * 10 * SECOND, "meeting", turn["speaker"][:200], "user", turn["content"]
            )
            for n, turn in enumerate(found["meeting_transcripts"])
        ]
        yield (
            said,
            [
                Query(one["query"], one["answer"], {f"m{n}" for n in _places(one["relevant_text_span"])})
                for one in found["specific_query_list"]
            ],
        )


def _places(spans: Sequence[Sequence[str]]) -> Iterator[int]:
    return chain.from_iterable(range(int(first), int(last) + 1) for first, last in spans)


class Bm25:
    """Turns ranked by their words alone."""

    def __init__(self, said: Sequence[TurnRecorded]) -> None:
        self.sizes = {turn.id: tokens(turn.content) for turn in said}
        self._counts = {turn.id: Counter(dict(zip(*terms(turn.content), strict=True))) for turn in said}
        self._df = Counter(chain.from_iterable(self._counts.values()))
        self._mean = mean(counts.total() for counts in self._counts.values()) or 1

    def _score(self, turn: str, asked: Sequence[str]) -> float:
        counts = self._counts[turn]
        norm = K1 * (1 - B + B * counts.total() / self._mean)
        return sum(
            math.log(1 + (len(self._counts) - self._df[term] + 0.5) / (self._df[term] + 0.5))
            * counts[term] * (K1 + 1) / (counts[term] + norm)
            for term in asked if counts[term]
        )  # fmt: skip

    def packed(self, query: str, room: int) -> list[str]:
        """The best turns that fit, as many as have anything in common with the query."""
        asked, chosen = terms(query)[0], []
        ranked = sorted(((self._score(turn, asked), turn) for turn in self.sizes), key=lambda one: -one[0])
        for score, turn in ranked:
            if score > 0 and self.sizes[turn] <= room:
                chosen.append(turn)
                room -= self.sizes[turn]
        return chosen


def _covered(answer: str, text: str) -> float:
    # Why line by line: of one text only the most used words are kept.
    words, shown = set(terms(answer)[0]), {word for line in text.splitlines() for word in terms(line)[0]}
    return len(words & shown) / len(words) if words else 1.0


def _shown(context: dict[str, Any]) -> set[str]:
    """The turns whose words stand in a context."""
    pieces = (piece for section in context["sections"] for piece in section["pieces"])
    return {piece["turn"] for piece in pieces if "turn" in piece}


def meeting_rows() -> list[dict[str, Any]]:
    """What is shown for questions about meetings, and for words that have nothing to do with them."""
    ours: list[tuple[float, float, float, int]] = []
    floor: list[tuple[float, float, float, int]] = []
    sizes: dict[str, list[int]] = {"a greeting": [], "a question about another world": []}
    for number, (said, queries) in enumerate(meetings()):
        ranking, words = Bm25(said), {turn.id: turn.content for turn in said}
        with TemporaryDirectory() as folder, Remembering(Path(folder) / "home", said) as space:

            def given(question: str, space: Remembering = space) -> dict[str, Any]:
                return dict(space.ask("context", space=SPACE, session="asked", question=question, budget=BUDGET))

            for query in queries:
                found = given(query.query)
                shown = _shown(found) & words.keys()
                best = ranking.packed(query.query, sum(ranking.sizes[turn] for turn in shown))
                ours.append(_measures(query, shown, found["text"].partition("\n")[2], found["tokens"]))
                floor.append(_measures(query, set(best), "\n".join(words[turn] for turn in best), 0))
            for (_, told), asked in zip(sizes.items(), (GREETINGS, ELSEWHERE), strict=True):
                told += [given(asked[(number * EACH + n) % len(asked)])["tokens"] for n in range(EACH)]
    if not ours:
        return []
    answers, evidence, precision = (round(100 * mean(one[n] for one in ours), 1) for n in range(3))
    floors = [round(100 * mean(one[n] for one in floor), 1) for n in range(3)]
    measures = (
        (f"meetings, {len(ours)} questions: answer words in context, %", answers, floors[0], 62.0),
        ("evidence turns shown, %", evidence, floors[1], 30.0),
        ("shown turns that are evidence, %", precision, floors[2], floors[2]),
    )
    rows = [_row(name, {"BM25": floor}, got, f">= {bar:g}", got >= bar) for name, got, floor, bar in measures]
    rows.append(_row("mean size, tokens", {"budget": BUDGET}, round(mean(one[3] for one in ours)), "", True))
    return [*rows, *(_small(f"{name}, asked of a meeting", told) for name, told in sizes.items())]


def _measures(query: Query, shown: set[str], text: str, size: int) -> tuple[float, float, float, int]:
    held = len(shown & query.evidence)
    return _covered(query.answer, text), held / len(query.evidence), held / len(shown) if shown else 0.0, size


class Point(NamedTuple):
    """The first turn after a resumption, and what is needed there."""

    talk: Interleaved
    at: int
    facts: list[str]


def points() -> Iterator[Point]:
    """Resumptions at which something that was said before is needed, in the order of sessions and turns."""
    seen = set[tuple[str, ...]]()
    for talk in sessions(200):
        for at in talk.resumptions:
            label = talk.labels[at]
            before = " ".join(
                _words(turn) for turn, of in zip(talk.turns[:at], talk.labels, strict=False) if of == label
            )
            facts = list(dict.fromkeys(_used(talk.turns, at)))
            needed = [fact for fact in facts if re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", before)]
            exchange = (talk.turns[at].content, *needed)
            if len(needed) >= FACTS and exchange not in seen:
                seen.add(exchange)
                yield Point(talk, at, needed)


def _words(turn: TurnRecorded) -> str:
    calls = " ".join(str(part.get("function", {}).get("arguments", "")) for part in turn.parts)
    return f"{turn.content} {calls}"


def _used(turns: Sequence[TurnRecorded], at: int) -> Iterator[str]:
    """What the agent uses before the user speaks again, and what nobody told it meanwhile."""
    told = turns[at].content
    for turn in turns[at + 1 :]:
        if turn.role == "user":
            return
        if turn.role == "tool":
            told += turn.content
            continue
        yield from (fact for fact in _FACT.findall(_words(turn)) if len(fact) > 3 and fact not in told)


def conversation_rows() -> list[dict[str, Any]]:
    """What is shown of long conversations of two, at both sizes; none where the data is absent."""
    if not LOCOMO.exists():
        return []
    talks, questions = conversations(captions=True)
    found: dict[int, list[tuple[bool, bool]]] = {budget: [] for budget, _, _ in BARS}
    sizes: dict[bool, list[int]] = {True: [], False: []}
    for number, talk in enumerate(talks):
        said = [TurnRecorded(SPACE, f"t{n}", t.at, t.session, t.agent, "user", t.content) for n, t in enumerate(talk)]
        with TemporaryDirectory() as folder, Remembering(Path(folder) / "home", said) as space:
            for asked in (question for question in questions if question.conversation == number):
                is_foreign = asked.category == 5
                for budget in (BUDGET,) if is_foreign else found:
                    given = space.ask("context", space=SPACE, session="asked", question=asked.text, budget=budget)
                    if budget == BUDGET:
                        sizes[is_foreign].append(given["tokens"])
                    if not is_foreign:
                        shown = _shown(given)
                        held = [f"t{n}" in shown for n in asked.evidence]
                        found[budget].append((any(held), all(held)))
    rows = []
    for budget, some, every in BARS:
        for n, (name, bar) in enumerate((("any of the evidence", some), ("all of it", every))):
            ours = round(100 * mean(one[n] for one in found[budget]), 1)
            measure = f"conversations, {len(found[budget])} questions: {name} in context, {budget:,} tokens, %"
            rows.append(_row(measure, {}, ours, f">= {bar}", ours >= bar))
    told, foreign = (round(mean(sizes[is_foreign])) for is_foreign in (False, True))
    for what, size in (("mean size, tokens", told), ("  the same where nobody said it", foreign)):
        rows.append(_row(what, {"budget": BUDGET}, size, "<= 2500", size <= 2500))
    return rows


def resumption_rows() -> list[dict[str, Any]]:
    """Whether what is needed is in the context."""
    held: dict[int, list[tuple[bool, bool, float]]] = {BUDGET: [], SMALL: []}
    grouped: dict[int, list[Point]] = {}
    for point in islice(points(), POINTS):
        grouped.setdefault(id(point.talk), []).append(point)
    for group in grouped.values():
        with TemporaryDirectory() as folder, Remembering(Path(folder) / "home") as space:
            fed, turns = 0, group[0].talk.turns
            for point in group:
                space.add(*turns[fed : point.at + 1])
                fed = point.at + 1
                for budget, found in held.items():
                    place = {"space": turns[0].space, "session": turns[0].session}
                    text = space.ask("context", budget=budget, **place)["text"]
                    there = [fact in text for fact in point.facts]
                    newest = _newest(turns[: point.at + 1], budget)
                    found.append((all(there), all(fact in newest for fact in point.facts), mean(there)))
    if not held[BUDGET]:
        return []
    rows = []
    for budget, bar in ((BUDGET, 95), (SMALL, 80)):
        ours, floor, facts = (round(100 * mean(one[n] for one in held[budget]), 1) for n in range(3))
        measure = f"resumptions, {len(held[budget])}: all facts needed are there, {budget:,} tokens, %"
        rows.append(
            _row(measure, {"newest turns": floor}, ours, f">= {bar}, above floor", ours >= bar and ours > floor)
        )
        rows.append(_row(f"of the facts, {budget:,} tokens, %", {}, facts, "", True))
    return rows


def _newest(turns: Sequence[TurnRecorded], room: int) -> str:
    text: list[str] = []
    for turn in reversed(turns):
        room -= tokens(_words(turn))
        if room < 0:
            break
        text.append(_words(turn))
    return "\n".join(text)


def empty_rows() -> list[dict[str, Any]]:
    """How much is shown where nothing was said but a greeting."""
    with TemporaryDirectory() as folder, Remembering(Path(folder) / "home") as space:
        for n, greeting in enumerate(GREETINGS):
            space.say(greeting, session="talk", space=f"empty{n}")
        told = [space.ask("context", space=f"empty{n}", session="talk")["tokens"] for n in range(len(GREETINGS))]
    return [_small("a greeting in an empty space", told)]


def _small(what: str, sizes: Sequence[int]) -> dict[str, Any]:
    share = round(100 * mean(size <= LITTLE for size in sizes), 1)
    floors = {"mean tokens": round(mean(sizes)), "largest": max(sizes)}
    return _row(f"{what}: {len(sizes)} contexts of <= {LITTLE} tokens, %", floors, share, ">= 90", share >= 90)


def _row(measure: str, floors: dict[str, Any], ours: float, bar: str, met: bool) -> dict[str, Any]:
    return {"measure": measure, "floors": floors, "ours": ours, "bar": bar, "met": met}


def run() -> list[dict[str, Any]]:
    """All rows of this table."""
    return conversation_rows() + meeting_rows() + resumption_rows() + empty_rows()


if __name__ == "__main__":
    for rows in (empty_rows, resumption_rows, conversation_rows, meeting_rows):
        for row in rows():
            print(row, flush=True)
