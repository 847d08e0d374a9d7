"""Learns when the talk has come to a note's matter (processors/ttl_escalations/surfacing.json).

    python -m tests.bench.learn_surfacing [--write]

Learns from the voices that may be looked at, each of whose reminders is made a note twice, of the words that ask for it
and as an agent would put it, and from pairs of a note and a turn. A turn that comes to a note's matter should bring it
back, one that shares a word by accident, most of all, or belongs to another effort should not; other turns of the
note's own effort tell nothing. Prints precision and recall by weights that were learned without the author.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import processors.ttl_escalations as module
from processors import PROCESSORS
from processors.ttl_escalations import PROCESSOR, surfacing
from processors.ttl_escalations.params import TtlEscalationsParams
from streams.core.driver import ancestors, fold
from streams.core.events import DAY, MINUTE, SECOND, NoteTaken, TurnRecorded
from streams.core.text.reminders import Reminder, candidates
from tests.bench.learning import Example, crossed, fit, reliability, write
from tests.bench.quality_columns import rightly, world
from tests.bench.voices import Conversation, conversations, local
from tests.processors.surfacing_pairs import FIRST, HELD_OUT, MORE

PATH = Path(surfacing.__file__).with_name("surfacing.json")
VERSION = 2
EVERY = {PROCESSOR.name: TtlEscalationsParams(likely=100_000, at_work=100_000, cooldown=0)}
"""Nothing is shown by its matter, so that all that is weighed at a turn is seen, not what is shown first."""
PAIRS = 150.0
"""How much a pair counts: they are few, and each was written to tell something."""
DUE, ACCIDENT, UNTOLD = 1.65, 3.0, 0.3
"""How much it counts that an author marked a turn as one that comes to a note's matter, or shares words by accident;
and that a turn stands in a session without any that comes to it, where the author told of no efforts. Why more than 1
for what is due: what is marked are few of the turns at which the note is in place."""
WITH = ancestors(PROCESSORS, [PROCESSOR.name])
NOTHING = ["nothing shared"]
"""What is seen of a note and a turn that is not weighed: the talk came to its matter in other words."""
Seen = tuple[str, str, list[str]]
"""A note (by the turn that asked for it), a turn that shares words with it, and what is seen of both."""


TUNING, DAYS, OFFICE = (1, 2, 3), 6, 0.6
"""Seeds of simulated days of an office, how many days, and how much each turn and note of them counts."""


def asking(asked: dict[str, list[Reminder]]) -> Any:
    """A patch: turns ask for what `asked` tells by their words, and for nothing else."""
    return mock.patch.object(module, "reminders", lambda content, *_: (asked.get(content, []), []))


def seen(events: list[Any], asked: dict[str, list[Reminder]]) -> list[Seen]:
    """What is weighed when the events are folded, where `asked` tells what turns ask for, by their words."""
    found: list[Seen] = []
    signals = surfacing.signals

    def watch(visit: Any, record: Any, here: Any) -> tuple[list[str], str]:
        told = signals(visit, record, here)
        found.append((record.turn or record.excerpt, visit.turn.id, told[0]))
        return told

    with mock.patch.object(surfacing, "signals", watch), asking(asked):
        for _ in fold(WITH, events, EVERY):
            pass
    return found


def noted(conversation: Conversation, taken: bool) -> tuple[list[Any], dict[str, list[Reminder]]]:
    """A conversation's events with its notes, taken or inferred."""
    events: list[Any] = []
    asked: dict[str, list[Reminder]] = {}
    for turn, event in zip(conversation.turns, conversation.events(), strict=True):
        events.append(event)
        note = turn.get("reminder")
        if not note:
            continue
        due = datetime.fromisoformat(note["due"]).replace(tzinfo=None) if note.get("due") else None
        if taken:
            until = int(due.replace(tzinfo=UTC).timestamp()) * SECOND + DAY * ("T" not in note["due"]) if due else 0
            ttl = max(60, (until - turn["at"]) // SECOND) if due else 7 * 86_400
            events.append(NoteTaken("space", f"n{turn['id']}", turn["at"], turn["id"], note["what"], ttl=ttl,
                                    session=turn["session"]))  # fmt: skip
        elif turn["role"] == "user":
            sentence = next((c.sentence for c in candidates(turn["text"], local(turn["at"]), True)), turn["text"])
            asked[turn["text"]] = [Reminder(sentence, due, "low", 0, 0)]
    return events, asked


def examples() -> Iterator[tuple[Example, bool]]:
    """Of each note and turn what is seen, whether it belongs there, and whether the author said so."""
    for conversation in conversations(True):
        turns = {turn["id"]: turn for turn in conversation.turns}
        due = {(turn["session"], note) for turn in turns.values() for note in turn.get("note_matters") or ()}
        named = {turn["reminder"]["what"]: turn["id"] for turn in conversation.turns if turn.get("reminder")}
        for taken in (False, True):
            told: set[tuple[str, str]] = set()
            for note, at, signals in seen(*noted(conversation, taken)):
                note = named.get(note, note)
                told.add((note, at))
                turn = turns[at]
                right, wrong = note in (turn.get("note_matters") or ()), note in (turn.get("note_not") or ())
                effort = turns[note].get("effort")
                if right or wrong:
                    yield Example(signals, right, conversation.author, DUE if right else ACCIDENT), True
                elif conversation.efforts:
                    if not effort or effort != turn.get("effort"):
                        yield Example(signals, False, conversation.author), False
                elif turn["session"] != turns[note]["session"] and (turn["session"], note) not in due:
                    yield Example(signals, False, conversation.author, UNTOLD), False
            for at, turn in turns.items():
                for note in turn.get("note_matters") or ():
                    if (note, at) not in told and turns[note].get("reminder"):
                        yield Example(NOTHING, True, conversation.author, 0.0), True


def pairs() -> Iterator[Example]:
    """The same of pairs."""
    for name, group in (("first", FIRST), ("more", MORE), ("held out", HELD_OUT)):
        for pair in group:
            taken = NoteTaken("s", "n", 0, "note", pair.note, context=pair.context)
            turn = TurnRecorded("s", "t", MINUTE, "talk", "ann", "user", pair.turn)
            for _, _, signals in seen([taken, turn], {})[:1] or [("", "", NOTHING)]:
                yield Example(signals, pair.surfaces, name, PAIRS)
                # Later in a talk, too, a word tells as much.
                yield Example([s for s in signals if not s.startswith("first")], pair.surfaces, name, PAIRS)


def simulated() -> Iterator[Example]:
    """The same of simulated days of an office, of the seeds that are for tuning."""
    for seed in TUNING:
        made = world(seed, DAYS)
        taken = {event.note: event for event in made.events if isinstance(event, NoteTaken)}
        said = {event.id: event for event in made.events if isinstance(event, TurnRecorded)}
        excerpts = {event.content: note for note, event in taken.items()}
        for note, at, signals in seen(made.events, {}):
            yield Example(signals, rightly(made, taken[excerpts[note]], said[at]), "office", OFFICE)


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    rows = [*examples()]
    given = [example for example, _ in rows] + [*pairs(), *simulated()]
    scores = [s if e.signals != NOTHING else -10_000 for s, e in zip(crossed(given, many=False), given, strict=True)]
    marked = [told for _, told in rows] + [False] * (len(given) - len(rows))
    sides = {
        "voices": [n < len(rows) for n in range(len(given))], "  of what authors marked": marked,
        "pairs": [e.weight == PAIRS for e in given], "simulated days": [e.group == "office" for e in given],
    }  # fmt: skip
    for name, side in sides.items():
        mine = [(s, e.label) for s, e, m in zip(scores, given, side, strict=True) if m]
        print(f"{name}: {len(mine)}, {sum(right for _, right in mine)} of them right")
        for threshold in (-150, -100, -75, -50, -25, 0, 50):
            told = [right for s, right in mine if s >= threshold]
            right = sum(r for _, r in mine)
            print(f"  from {threshold} on: P {sum(told) / max(1, len(told)):.2f} R {sum(told) / max(1, right):.2f}")
    print("reliability", [(f"{a:.2f}", f"{b:.2f}", n) for a, b, n in reliability(scores, [e.label for e in given])])
    if "--write" in sys.argv:
        write(
            PATH,
            VERSION,
            {"comes": fit([e for e in given if e.group != "held out" and e.signals != NOTHING], many=False)},
        )


if __name__ == "__main__":
    main()
