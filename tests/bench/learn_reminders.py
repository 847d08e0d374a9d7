"""Learns which of the times that a user names are reminders (streams/core/text/reminders.json).

    python -m tests.bench.learn_reminders [--write [ACT...]]
    python -m tests.bench.learn_reminders --recurring   what comes of sentences about what comes again and again

Learns from the voices that may be looked at, and from the sentences beside them (tests/voices/sentences: "+" asks for
a note at the time in brackets, "!" does so in so many words, "-" asks for none; of recurring.en.txt, with when it is
said, "+" asks for one that comes again and again: how often, and when first; "-" for one that does not, or none;
again.en.txt, by another author, only measures). Prints precision and recall of turns by weights that were learned
without their voice, and the same for the voices that only measure.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import streams.core.text.reminders as module
from processors.ttl_escalations.params import TtlEscalationsParams
from streams.core.text.cues import STOP
from streams.core.text.reminders import DOUBTED, Candidate, Doubt, candidates, reminders, reply_signals
from streams.core.text.signals import folded
from tests.bench.learning import Example, Weights, best, fit, parts, reliability, score, write
from tests.bench.voices import VOICES, agrees, conversations, local

PATH = Path(module.__file__).with_name("reminders.json")
VERSION = 1
NOW = datetime(2026, 5, 6, 10, 5)
"""When the sentences are said: a Wednesday."""
GROUP = 25
"""Sentences that count as a voice."""
STRENGTH, ASKED = 0.2, 1.0
LESS = 40
"""Taken off what a turn in another language than English weighs, in hundredths: of those there is less to learn from,
and what is sure enough in English is not there."""
SURE = (-60, -40, -20, 0)
ENOUGH = (-60, -30, 0, 50)
TELLING = 0.4
"""A turn is read for requests where it has a word that belongs to one in so many of its uses."""
BRACKETS = re.compile(r"\[([^\]]*)\]")


class Row(NamedTuple):
    """A candidate, and what is true of it."""

    turn: str
    group: str
    language: str
    candidate: Candidate
    right: bool
    """It is a note, with this time."""
    asked: bool | None
    """Its turn asks to be reminded; None where the author did not tell that from naming a time by which to do it."""
    note: bool
    """Its turn is to leave a note, at this time or another."""
    now: datetime = NOW
    reply: str = ""
    """What an agent said to it."""

    @property
    def author(self) -> str:
        """Who wrote it."""
        return self.group.split("/")[0]


def voices(learning: bool) -> Iterator[Row]:
    """The candidates of a side of the split."""
    for conversation in conversations(learning):
        group = f"{conversation.author}/{conversation.voice}"
        acts = any("acts" in turn for turn in conversation.turns)
        for turn, behind in zip(conversation.turns, [*conversation.turns[1:], {}], strict=True):
            if turn["role"] != "user":
                continue
            note = turn.get("reminder")
            asked = "reminds" in (turn.get("acts") or ()) if acts else None
            answered = behind.get("role") == "assistant" and behind["session"] == turn["session"]
            now = local(turn["at"])
            found = candidates(turn["text"], now, True)
            for one in found:
                right = bool(note) and (
                    not note.get("due") or (one.time is not None and agrees(note["due"], one.time.moment))
                )
                if one.time is None and note and len(found) == 1:
                    right = True
                yield Row(
                    f"{group}/{conversation.name}/{turn['id']}", group, conversation.language, one, right, asked,
                    bool(note), now, behind["text"] if answered else "",
                )  # fmt: skip


def sentences() -> Iterator[Row]:
    """The candidates of single sentences."""
    for path in sorted((VOICES / "sentences").glob("reminders.*.txt")):
        language = path.suffixes[0][1:]
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            mark, text = line[0], line[2:]
            wanted: list[tuple[int, int]] = []
            for at, found in enumerate(BRACKETS.finditer(text)):
                wanted.append((found.start() - 2 * at, found.end() - 2 * at - 2))
            plain = BRACKETS.sub(r"\1", text)
            group = f"sentences/{language}{number // GROUP}"
            for one in candidates(plain, NOW, True):
                inside = one.time is None or any(a < one.time.end and one.time.start < b for a, b in wanted)
                right = mark != "-" and inside
                yield Row(f"{path.name}/{number}", group, language, one, right, mark == "!", mark != "-")


class Recurring(NamedTuple):
    """What is said of what comes again and again, or only seems so."""

    text: str
    now: datetime
    again: bool
    """Whether it is to come again and again."""
    every: str
    """How often, as the author says it: a number of units, or weekdays."""
    first: str
    """When first: a moment or a day; "" where none is told, or nothing asked for."""

    @property
    def rule(self) -> str:
        """How often, as a rule of iCalendar."""
        if not self.again:
            return ""
        if not self.every[0].isdigit():
            return "FREQ=WEEKLY;BYDAY=" + ",".join(day.strip()[:2].upper() for day in self.every.split(","))
        count, unit = self.every.split()
        frequency = "DAILY" if unit.startswith("day") else f"{unit.removesuffix('s').upper()}LY"
        return f"FREQ={frequency}" + f";INTERVAL={count}" * (count != "1")

    def agrees(self, rule: str, moment: datetime | None) -> tuple[bool, bool]:
        """Whether a rule is the author's, and whether what is first is."""
        named = {rule, rule.split(";BYDAY")[0]} & {self.rule, self.rule.split(";BYDAY")[0]}
        days = [one.partition("BYDAY=")[2] for one in (rule, self.rule)]
        same = bool(named) and (days[0] == days[1] or not all(days))
        return same, not self.first or (moment is not None and agrees(self.first, moment))


def said_to_recur(name: str) -> list[Recurring]:
    """The sentences of a file about what comes again and again."""
    found = []
    for line in (VOICES / "sentences" / name).read_text("utf-8").splitlines():
        said, every, first = line[2:].rsplit(" => ", 2)
        at, _, text = said.partition(" | ")
        now = datetime.fromisoformat(at[:16])
        found.append(Recurring(text, now, line[0] == "+", every, "" if first == "-" else first))
    return found


def recurring() -> Iterator[Row]:
    """The candidates of what may come again and again."""
    for number, said in enumerate(said_to_recur("recurring.en.txt")):
        for one in candidates(said.text, said.now, True):
            moment = one.time.moment if one.time else None
            asks = said.again or bool(said.first)
            right = asks and bool(one.every) == said.again and said.agrees(one.every, moment)[1]
            yield Row(f"recurring/{number}", f"recurring/en{number // GROUP}", "en", one, right, asks, asks, said.now)


def measure_recurring(name: str) -> str:
    """What comes of the sentences of a file, by the weights that are written."""
    counts: Counter[str] = Counter()
    params = TtlEscalationsParams()
    for said in said_to_recur(name):
        found, _ = reminders(said.text, said.now, params.sure, params.asks)
        kind = "recurs" if said.again else "once" if said.first else "nothing"
        counts[kind] += 1
        counts[f"{kind}: a note"] += bool(found)
        agreed = [said.agrees(one.every, one.moment) for one in found if bool(one.every) == said.again]
        counts[f"{kind}: it recurs"] += any(one.every for one in found)
        if said.again:
            counts[f"{kind}: as often as it should"] += any(rule for rule, _ in agreed)
            counts[f"{kind}: and first when it should"] += any(rule and first for rule, first in agreed)
        elif said.first:
            counts[f"{kind}: when it should"] += any(first for _, first in agreed)
    return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))


def turns(rows: list[Row], scores: list[int]) -> tuple[list[int], list[bool], list[bool]]:
    """Of each turn the score of its best candidate, whether a note is wanted, and whether it has its time."""
    found: dict[str, tuple[int, bool, bool]] = {}
    for row, value in zip(rows, scores, strict=True):
        if row.turn not in found or value > found[row.turn][0]:
            found[row.turn] = (value, row.note, row.right)
    values, notes, right = zip(*found.values(), strict=True)
    return [*values], [*notes], [*right]


def told(name: str, rows: list[Row], scores: list[int]) -> None:
    """Prints what scores are worth."""
    values, notes, right = turns(rows, scores)
    print(f"{name}: {len(values)} turns with a candidate, {sum(notes)} of them to leave a note")
    for precision in (0.9, 0.85, 0.8, 0.7):
        threshold, p, recall = best(values, notes, precision)
        timed = [r for v, n, r in zip(values, notes, right, strict=True) if n and v >= threshold]
        share = sum(timed) / max(1, len(timed))
        print(f"  from {threshold:>5} on: P {p:.2f} R {recall:.2f}, of these with the right time {share:.2f}")


def learn(rows: list[Row], crossed: Mapping[str, Mapping[str, Weights]] | None = None) -> dict[str, Weights]:
    """Weights for what decides where a time is named, for requests, which decide where none is, and for replies.

    What a reply adds is learned of scores by weights that were learned without the author, as they are where it counts.
    """
    timed = [Example(row.candidate.signals, row.right, row.group) for row in rows if row.candidate.time]
    clear = [row for row in rows if row.asked is not None]
    asked = [Example(row.candidate.signals, bool(row.asked) and row.right, row.group) for row in clear]
    used: dict[str, list[bool]] = {}
    for row in clear:
        for word in {*row.candidate.signals} & {*folded(row.candidate.sentence)} - STOP:
            used.setdefault(word, []).append(bool(row.asked) and row.right)
    telling = {word: 100 for word, asks in used.items() if len(asks) >= 2 and sum(asks) >= TELLING * len(asks)}
    found = {"reminder": fit(timed, STRENGTH), "asked": fit(asked, ASKED), "read": (0, telling)}
    if crossed is not None:
        taken = [
            Example(reply_signals(doubt, row.reply, row.now)[0], row.right, row.group)
            for row in rows
            if row.reply and (doubt := doubted(crossed[row.author], row)).score >= DOUBTED
        ]
        found["replied"] = fit(taken, STRENGTH)
    for act in {"reminder", "replied"} & found.keys():
        found[act] = found[act][0], _less({row.language for row in rows if row.language}, found[act][1])
    return found


def _less(languages: set[str], weights: dict[str, int]) -> dict[str, int]:
    """Weights by which other languages than English weigh less."""
    return weights | {f"in:{code}": weights.get(f"in:{code}", 0) - LESS for code in sorted(languages - {"en"})}


def doubted(weights: Mapping[str, Weights], row: Row) -> Doubt:
    """A candidate as it waits for the reply."""
    time = row.candidate.time
    moment = time.moment.isoformat() if time else ""
    return Doubt(row.candidate.sentence, moment, "low", decide(weights, row), 0)


def decide(weights: Mapping[str, Weights], row: Row) -> int:
    """The score of a candidate."""
    return score(weights["reminder" if row.candidate.time else "asked"], row.candidate.signals)


def policy(rows: list[Row], first: list[int], then: list[int], sure: int, asks: int, enough: int) -> str:
    """What turns become notes by the three thresholds."""
    opened: dict[str, tuple[int, bool, bool]] = {}
    notes = {row.turn for row in rows if row.note}
    for at_once in (True, False):
        seen = {*opened} if not at_once else set()
        for row, a, b in zip(rows, first, then, strict=True):
            value = a if at_once else b
            if row.turn in seen or value < ((sure if row.candidate.time else asks) if at_once else enough):
                continue
            if row.turn not in opened or value > opened[row.turn][0]:
                opened[row.turn] = (value, row.note, row.right)
    right, timed = sum(n for _, n, _ in opened.values()), sum(n and r for _, n, r in opened.values())
    return f"P {right / max(1, len(opened)):.2f} R {right / len(notes):.2f} right {timed / max(1, right):.2f}"


def without(rows: list[Row], out: frozenset[str]) -> list[Row]:
    """All but what some authors wrote."""
    return [row for row in rows if row.author not in out]


def main() -> None:
    """Prints what the weights are worth; writes them, or those of some acts, with --write.

    With --recurring what they are worth where things come again and again."""
    if "--recurring" in sys.argv:
        for name in ("recurring.en.txt", "again.en.txt"):
            print(f"{name}: {measure_recurring(name)}")
        return
    rows = [*voices(True), *sentences(), *recurring()]
    dealt = parts(row.author for row in rows)
    crossed = {author: weights for out in dealt for weights in [learn(without(rows, out))] for author in out}
    first = [decide(crossed[row.author], row) for row in rows]
    then = [-10_000] * len(rows)
    for out in dealt:
        weights = learn(without(rows, out), crossed)["replied"]
        for at, row in enumerate(rows):
            if row.author in out and row.reply and first[at] >= DOUBTED:
                then[at] = score(weights, reply_signals(doubted(crossed[row.author], row), row.reply, row.now)[0])
    for name in ("", "en", "sentences"):
        mine = [
            at for at, row in enumerate(rows)
            if (row.author == "sentences") == (name == "sentences") and name in ("", row.language, "sentences")
        ]  # fmt: skip
        some = [rows[at] for at in mine]
        told(f"{name or 'all'}, each author left out", some, [first[at] for at in mine])
        if name != "sentences":
            told("  with the reply", some, [max(then[at], -9_999) if rows[at].reply else first[at] for at in mine])
            for sure in SURE:
                for enough in ENOUGH:
                    print(
                        "  ",
                        sure,
                        enough,
                        policy(some, [first[at] for at in mine], [then[at] for at in mine], sure, sure + 0, enough),
                    )
    print("reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(first, [row.right for row in rows])])
    if "--write" in sys.argv:
        learned = learn(rows, crossed)
        chosen = sys.argv[sys.argv.index("--write") + 1 :] or [*learned]
        stands = json.loads(PATH.read_text("utf-8"))
        known = {act: (stands["bias"][act], stands["weights"][act]) for act in stands["weights"]}
        write(PATH, VERSION, known | {act: learned[act] for act in chosen})


if __name__ == "__main__":
    main()
