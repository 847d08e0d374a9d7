"""How well people's words are read, in voices whose authors saw neither rules nor tests.

`tests/voices/AUTHOR/VOICE.json` has conversations by one author in one voice, annotated by the author. Voices are split
by author: those in MEASURING only measure, all others may be looked at and learned from. A voice that was looked at to
mend something is no measure any more.

What is measured, over whole conversations folded turn by turn:

    reminders      a note inferred from a turn that asks to be reminded, or that something must be done by a time;
                   deadlines right within the day, within the hour where an hour is named
    conclusions    efforts that truly end: concluded at that turn or within TOLERANCE turns after it, or offered there;
                   premature: concluded before, of all efforts
    efforts        turns put together as the author did, one to one; the resumed effort in context at a return;
                   titles: ROUGE-1 F1 of what an effort is called and what the author calls it, 0 of one not found
    contradictions statements that take an earlier one's place, among annotated ones and look-alikes
    notes          surfaced at a turn that comes to their matter, against those that share a word by accident
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from processors import PROCESSORS
from processors.contradictions import BeliefContradicted, ContradictionSuspected
from processors.manifest import ConclusionOffered
from processors.open_efforts import EffortConcluded, EffortOpened, EffortProgressed, TurnRethreaded, TurnThreaded
from processors.ttl_escalations import NoteOpened, NoteSurfaced
from processors.working_context import ContextScored
from streams.core.driver import fold
from streams.core.events import MINUTE, SECOND, TurnRecorded
from tests.bench.quality_summaries import rouge, stems

VOICES = Path(__file__).parents[1] / "voices"
MEASURING = frozenset((
    "e", "f", "m", "q", "wa", "wb", "wc", "wd", "xa", "xb", "xc", "xd", "xw", "xx",
    "xy", "y", "yl", "zd", "zh", "zl", "zm", "zx", "dc", "dd", "stm", "stn", "sto", "stv",
    "scm", "sdm", "slm", "snd", "m1", "m2",
))  # fmt: skip
"""Authors whose voices only measure."""
TOLERANCE = 3
"""Turns after a true end within which it counts as seen."""


@dataclass
class Conversation:
    """One conversation of a voice, as events and annotations."""

    author: str
    voice: str
    language: str
    name: str
    efforts: dict[str, str]
    turns: list[dict[str, Any]] = field(default_factory=list)
    """As annotated, each with its session and `at`, in microseconds of local time: the space's zone is UTC."""

    def events(self) -> list[TurnRecorded]:
        """Its turns as the log records them."""
        return [
            TurnRecorded("space", t["id"], t["at"], t["session"], t["who"], t["role"], t["text"]) for t in self.turns
        ]


def conversations(learning: bool | None = None, folder: str = "") -> Iterator[Conversation]:
    """All conversations; of the authors to learn from, or of the others, where it is told. `folder`: of voices that
    mark something else (`done`: what settles a reminder, and what only looks like it)."""
    for path in sorted((VOICES / folder).glob("*/*.json")):
        author = path.parent.name
        if learning is not None and (author in MEASURING) is learning:
            continue
        voice = json.loads(path.read_text("utf-8"))
        for number, given in enumerate(voice["conversations"]):
            found = Conversation(
                author, path.stem, voice["language"], ascii_uppercase[number], given.get("efforts") or {}
            )
            for session in given["sessions"]:
                begins = datetime.fromisoformat(session["at"]).replace(tzinfo=UTC)  # the clock on their wall
                last = 0
                for turn in session["turns"]:
                    at = int(begins.timestamp()) * SECOND + int(turn.get("minutes", 0)) * MINUTE
                    last = max(at, last + SECOND)
                    found.turns.append(turn | {"session": f"{session['session']}", "at": last})
            yield found


def marked(turns: list[dict[str, Any]], key: str) -> set[tuple[str, str]]:
    """Pairs of turns that the author marked, the newer first: one `replaces` the other, or `looks_like` it."""
    given = [(turn["id"], turn.get(key) or ()) for turn in turns]
    return {(id, old) for id, olds in given for old in ((olds,) if isinstance(olds, str) else olds)}


@dataclass
class Score:
    """Counts, added up over conversations."""

    counts: Counter[str] = field(default_factory=Counter)
    titles: list[float] = field(default_factory=list)
    """How alike the title of each effort is to its author's."""

    def rate(self, right: str, of: str) -> float:
        """A share; 0 of nothing."""
        return self.counts[right] / self.counts[of] if self.counts[of] else 0.0


def local(at: int) -> datetime:
    """A time of an event, as the clock on the wall showed it."""
    return datetime.fromtimestamp(at // SECOND, UTC).replace(tzinfo=None)


def measure(conversation: Conversation, score: Score) -> None:
    """Folds a conversation and counts what was read rightly."""
    rows = [row.event for row in fold(PROCESSORS, conversation.events())]
    counts = score.counts
    turns = conversation.turns
    place = {turn["id"]: n for n, turn in enumerate(turns)}
    _reminders(turns, rows, counts)
    if conversation.efforts:
        threads = threaded(rows)
        match = matched(turns, threads, counts)
        _conclusions(turns, rows, place, threads, match, counts)
        _returns(turns, rows, match, counts)
        _titles(conversation.efforts, rows, match, score)
    _contradictions(turns, rows, counts)
    _notes(turns, rows, counts)
    counts["turns"] += len(turns)


def _reminders(turns: list[dict[str, Any]], rows: list[Any], counts: Counter[str]) -> None:
    opened = {row.turn: row for row in rows if isinstance(row, NoteOpened)}
    asked = {turn["id"]: turn for turn in turns if turn.get("reminder") and turn["role"] == "user"}
    counts["reminders true"] += len(asked)
    counts["reminders told"] += len(opened)
    counts["reminders right"] += len(opened.keys() & asked.keys())
    for id in opened.keys() & asked.keys():
        due = asked[id]["reminder"].get("due")
        if due:
            counts["deadlines named"] += 1
            counts["deadlines right"] += agrees(due, local(opened[id].deadline))


def agrees(due: str, deadline: datetime) -> bool:
    """Within the day, or the hour where one is named."""
    wanted = datetime.fromisoformat(due).replace(tzinfo=None)
    if "T" in due and (wanted.hour or wanted.minute):
        return abs(deadline - wanted) <= timedelta(hours=1)
    return wanted <= deadline <= wanted + timedelta(days=1)


def threaded(events: Iterable[Any]) -> dict[str, str]:
    """The effort of each turn, as it was told last."""
    return {event.turn: event.effort for event in events if isinstance(event, TurnThreaded | TurnRethreaded)}


def matched(turns: list[dict[str, Any]], threads: dict[str, str], counts: Counter[str]) -> dict[str, str]:
    """Ours for each of the author's efforts, one to one by the turns they share, most first; counts shared turns."""
    shared: Counter[tuple[str, str]] = Counter()
    for turn in turns:
        if turn.get("effort"):
            counts["threaded"] += 1
            if ours := threads.get(turn["id"]):
                shared[turn["effort"], ours] += 1
    match: dict[str, str] = {}
    for (theirs, ours), n in sorted(shared.items(), key=lambda one: (-one[1], one[0])):
        if theirs not in match and ours not in match.values():
            match[theirs] = ours
            counts["one to one"] += n
    alone: Counter[str] = Counter(turn["effort"] for turn in turns if turn.get("effort"))
    counts["all one"] += max(alone.values(), default=0)
    return match


def _conclusions(
    turns: list[dict[str, Any]], rows: list[Any], place: dict[str, int], threads: dict[str, str],
    match: dict[str, str], counts: Counter[str],
) -> None:  # fmt: skip
    ends = [(n, turn["concluded"]) for n, turn in enumerate(turns) if turn.get("concluded")]
    concluded = [
        (place[row.turn], row.effort) for row in rows if isinstance(row, EffortConcluded) and row.turn in place
    ]
    offered = [
        (place[row.turn], threads.get(row.turn, ""))
        for row in rows
        if isinstance(row, ConclusionOffered) and row.turn in place
    ]
    counts["ends"] += len(ends)
    counts["efforts"] += len(match)
    for at, effort in ends:
        ours = match.get(effort, "")
        done = any(at <= n <= at + TOLERANCE and e == ours for n, e in concluded)
        counts["ends concluded"] += done
        counts["ends seen"] += done or any(at <= n <= at + TOLERANCE and e == ours for n, e in offered)
    last = {effort: at for at, effort in ends}
    for effort, ours in match.items():
        counts["premature"] += any(e == ours and n < last.get(effort, len(turns)) for n, e in concluded)


def _returns(turns: list[dict[str, Any]], rows: list[Any], match: dict[str, str], counts: Counter[str]) -> None:
    """At the first turn of an effort in a session that had it in none of its turns before: is it in context?"""
    contexts: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    scored: dict[str, list[str]] = {row.turn: row.efforts for row in rows if isinstance(row, ContextScored)}
    for turn in turns:
        if turn["id"] in scored:
            contexts[turn["session"]] = scored[turn["id"]]
        after[turn["id"]] = contexts.get(turn["session"], [])
    seen: dict[str, str] = {}
    for turn in turns:
        effort = turn.get("effort")
        if not effort:
            continue
        if seen.get(effort) not in (None, turn["session"]):
            counts["returns"] += 1
            counts["returned"] += match.get(effort, "?") in after[turn["id"]]
        seen[effort] = turn["session"]


def _titles(titles: dict[str, str], rows: list[Any], match: dict[str, str], score: Score) -> None:
    ours = {row.effort: row.topic for row in rows if isinstance(row, (EffortOpened, EffortProgressed))}
    score.titles += [rouge(1, stems(ours.get(match.get(id, ""), "")), stems(title)) for id, title in titles.items()]


def _contradictions(turns: list[dict[str, Any]], rows: list[Any], counts: Counter[str]) -> None:
    sure = {(row.turn, row.older) for row in rows if isinstance(row, BeliefContradicted)}
    true, alike = marked(turns, "replaces"), marked(turns, "looks_like")
    counts["replaced true"] += len({newer for newer, _ in true})
    counts["replaced told"] += len(sure)
    seen = sure | {(row.turn, row.older) for row in rows if isinstance(row, ContradictionSuspected)}
    counts["replaced seen"] += len({newer for newer, _ in seen & true})
    counts["look-alikes seen"] += len(seen & alike)
    counts["replaced right"] += len({newer for newer, _ in sure & true})
    counts["replaced near"] += len({newer for newer, _ in sure} & {newer for newer, _ in true})
    counts["look-alikes"] += len(alike)
    counts["look-alikes told"] += len(sure & alike)


def _notes(turns: list[dict[str, Any]], rows: list[Any], counts: Counter[str]) -> None:
    source = {row.note: row.turn for row in rows if isinstance(row, NoteOpened)}
    shown = {
        (row.turn, source.get(row.note)) for row in rows if isinstance(row, NoteSurfaced) and row.reason != "priority"
    }
    opened = {*source.values()}
    for turn in turns:
        wanted = {id for id in turn.get("note_matters") or () if id in opened}
        unwanted = {id for id in turn.get("note_not") or () if id in opened}
        mine = {id for at, id in shown if at == turn["id"]}
        counts["notes due"] += len(wanted)
        counts["notes shown there"] += len(wanted & mine)
        counts["notes by accident"] += len(unwanted & mine)
    counts["notes shown"] += len(shown)


def report(score: Score) -> dict[str, float]:
    """The figures."""
    rate = score.rate
    return {
        "reminders precision": rate("reminders right", "reminders told"),
        "reminders recall": rate("reminders right", "reminders true"),
        "deadlines right": rate("deadlines right", "deadlines named"),
        "ends concluded": rate("ends concluded", "ends"),
        "ends concluded or offered": rate("ends seen", "ends"),
        "premature, of efforts": rate("premature", "efforts"),
        "efforts one to one": rate("one to one", "threaded"),
        "floor: all one effort": rate("all one", "threaded"),
        "resumed in context": rate("returned", "returns"),
        "titles, ROUGE-1": sum(score.titles) / max(1, len(score.titles)),
        "contradictions precision": rate("replaced right", "replaced told"),
        "contradictions recall": rate("replaced right", "replaced true"),
        "contradictions seen, sure or suspected": rate("replaced seen", "replaced true"),
        "look-alikes seen": rate("look-alikes seen", "look-alikes"),
        "look-alikes told": rate("look-alikes told", "look-alikes"),
        "notes: shown where due": rate("notes shown there", "notes due"),
    }


def run(learning: bool | None, language: str = "") -> tuple[Score, dict[str, float]]:
    """All conversations of one side of the split, in one language where it is told."""
    score = Score()
    for conversation in conversations(learning):
        if language in ("", conversation.language):
            measure(conversation, score)
    return score, report(score)


if __name__ == "__main__":
    for name, learning in (("learning", True), ("measuring", False)):
        for language in ("en", "de", "es", "fr"):
            score, found = run(learning, language)
            print(name, language, {key: round(value, 3) for key, value in found.items()}, dict(score.counts))
