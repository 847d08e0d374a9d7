"""Learns when a turn tells that what a note is for is done (processors/ttl_escalations/settling.json).

    python -m tests.bench.learn_settling [--write [ACT...]]       what weights are worth that did not see an author
    python -m tests.bench.learn_settling --measure [--learned]    what the weights that are written settle

Learns from conversations whose authors marked what settles a reminder (two wrote theirs for that, tests/voices/done),
each reminder made a note twice, of the words that ask for it and as an agent would put it; from turns of the ordinary
voices that a maintainer judged (tests/voices/sentences/settled.jsonl: those that the marked ones made likeliest, one of
a note), beside which other turns of their conversations count little, as nobody judged them; and from plain sentences
(done.*.txt, "+" settles its note, "-" does not; those of done.off call reminders off, or seem to; those of moved.*.txt
put them to another time, or seem to: by four authors, and the plainest by a maintainer). Two other authors of
conversations, four of ordinary voices, one of what calls reminders off (off.en.txt) and two of what moves them
(moves.*.txt) only measure.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from processors import PROCESSORS
from processors.ttl_escalations import PROCESSOR, NoteClosed, NoteDoubted, NoteMoved, NoteOpened, settling
from processors.ttl_escalations.params import TtlEscalationsParams
from streams.core.clock import to_local, to_micros
from streams.core.driver import ancestors, fold
from streams.core.events import DAY, MINUTE, SECOND, TurnRecorded
from streams.core.text.reminders import Reminder, candidates
from tests.bench.learn_surfacing import asking, noted
from tests.bench.learning import Example, Weights, best, crossed, fit, write
from tests.bench.voices import VOICES, Conversation, conversations

PATH = Path(settling.__file__).with_name("settling.json")
VERSION = 1
FITTED = {"settles": (0.1, 4), "off": (0.1, 4), "moves": (0.3, 3)}
"""How strongly weights are drawn to nothing, and how many groups must have a signal. Few authors marked what
settles a note; more wrote what moves one."""
UNJUDGED, PLAIN = 0.06, 2.0
"""How much a turn counts that nobody judged, and a plain sentence."""
ACTS = {
    "settles": (("marked", "judged", "not judged", "plain"), False, 0),
    "off": (("off",), True, 40),
    "moves": (("moved",), True, 0),
}
"""What is learned: of which sides' examples; whether what settles nothing on the others counts against it; and what is
taken off, in hundredths of log odds, for a reminder that is lost costs more than one too many. Why apart: a reminder is
called off in words that else speak of work still to do ("drop the dentist one"). Learned anew beside "off", "settles"
gained nothing, so it stays as it was: `--write off`."""
WITH = ancestors(PROCESSORS, [PROCESSOR.name])
NEVER = {PROCESSOR.name: TtlEscalationsParams(settles=100_000, doubts=100_000, moves=100_000)}
"""Nothing is settled, so that all later turns are seen, too."""
BEGIN = 1_770_000_000 * SECOND
Seen = tuple[str, str, list[str]]
"""A note (by the turn that asked for it), a turn that shares something with it, and what is seen of both."""


class Given(NamedTuple):
    """An example, and where it is from."""

    example: Example
    side: str


def seen(events: list[Any], asked: dict[str, list[Reminder]]) -> list[Seen]:
    """What is weighed when the events are folded, where `asked` tells what turns ask for, by their words."""
    found: list[Seen] = []
    signs = settling.signs

    def watch(told: Any, note: str, record: Any, shared: int) -> list[str]:
        signals = signs(told, note, record, shared)
        found.append((record.turn or record.excerpt, told.turn.id, signals))
        return signals

    with (
        mock.patch.object(settling, "signs", watch),
        mock.patch.object(settling, "HOPELESS", -100_000),
        asking(asked),
    ):
        for _ in fold(WITH, events, NEVER):
            pass
    return found


def settles(conversation: Conversation) -> dict[str, str]:
    """The turn that settles the reminder of each turn that one settles."""
    found: dict[str, str] = {}
    for turn in conversation.turns:
        for note in turn.get("settles") or ():
            found.setdefault(note, turn["id"])
    return found


def telling(learning: bool) -> dict[str, list[Conversation]]:
    """Those whose authors marked what settles a reminder, in English: written to tell it in every way, and others."""
    ordinary = [one for one in conversations(learning) if one.language == "en" and settles(one)]
    return {"written for it": [*conversations(learning, "done")], "ordinary": ordinary}


def weighed(conversation: Conversation, taken: bool) -> Iterator[Seen]:
    """What is weighed of the notes of a conversation's reminders till they are settled."""
    place = {turn["id"]: at for at, turn in enumerate(conversation.turns)}
    named = {turn["reminder"]["what"]: turn["id"] for turn in conversation.turns if turn.get("reminder")}
    done = settles(conversation)
    for said, at, signals in seen(*noted(conversation, taken)):
        note = named.get(said, said)
        if note in place and place[note] < place[at] <= place.get(done.get(note, ""), len(place)):
            yield note, at, signals


def marked(learning: bool) -> Iterator[Given]:
    """Of the conversations whose authors marked what settles a reminder."""
    for conversation in chain.from_iterable(telling(learning).values()):
        group = conversation.author + conversation.name
        done = settles(conversation)
        for taken in (False, True):
            told: set[str] = set()
            for note, at, signals in weighed(conversation, taken):
                right = done.get(note) == at
                told |= {note} if right else set()
                yield Given(Example(signals, right, group), "marked")
            for _ in done.keys() - told:
                yield Given(Example([], True, group, 0.0), "marked")


def judged() -> Iterator[Given]:
    """Of the ordinary voices that may be learned from."""
    rows = map(json.loads, (VOICES / "sentences" / "settled.jsonl").read_text("utf-8").splitlines())
    found = {(r["author"], r["voice"], r["conversation"], r["note"], r["turn"]): r["settles"] for r in rows}
    wanted = {key[:3] for key in found}
    for conversation in conversations(True):
        name = (conversation.author, conversation.voice, conversation.name)
        ends = {turn["id"] for turn in conversation.turns if turn.get("concluded")}
        for note, at, signals in weighed(conversation, False) if name in wanted else ():
            label = found.get((*name, note, at))
            if label is not None:
                yield Given(Example(signals, label, conversation.author), "judged")
            elif at not in ends:
                yield Given(Example(signals, False, conversation.author, UNJUDGED), "not judged")


def plain(pattern: str = "done.*.txt") -> Iterator[Given]:
    """Of sentences, each said the day after its note was asked for, or a little later in the same session."""
    for path in sorted((VOICES / "sentences").glob(pattern)):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            note, said = line[2:].split(" => ")
            at, session = (BEGIN + DAY, "b") if number % 2 else (BEGIN + 40 * MINUTE, "a")
            events = [
                TurnRecorded("s", "n", BEGIN, "a", "ann", "user", note),
                TurnRecorded("s", "r", BEGIN + SECOND, "a", "bot", "assistant", "I will."),
                TurnRecorded("s", "t", at, session, "ann", "user", said),
            ]
            asked = {note: [Reminder(note, None, "low", 0, 0)]}
            signals = next((signals for _, turn, signals in seen(events, asked) if turn == "t"), [])
            group, side = f"{path.stem} {number // 8}", "off" if ".off" in path.name else "plain"
            yield Given(Example(signals, line[0] == "+", group, PLAIN * bool(signals)), side)


class Moving(NamedTuple):
    """What somebody asks for, what he says later, and to when that moves it."""

    asked: str
    asked_at: datetime
    said: str
    said_at: datetime
    to: str
    """A moment or a day; "" where it stays."""

    def agrees(self, moment: datetime) -> bool:
        """Whether it is due when its author would have it: on that day, or at that minute."""
        if len(self.to) > len("2026-03-02"):
            return moment == datetime.fromisoformat(self.to)
        return (moment - timedelta(microseconds=1)).date().isoformat() == self.to


def said_to_move(pattern: str) -> list[Moving]:
    """The pairs of files about reminders that are moved, or only seem so."""
    found = []
    for path in sorted((VOICES / "sentences").glob(pattern)):
        for line in path.read_text("utf-8").splitlines():
            asked, said, to = line[2:].rsplit(" => ", 2)
            (asked_at, _, asked), (said_at, _, said) = asked.partition(" | "), said.partition(" | ")
            when = [datetime.fromisoformat(at[:16]) for at in (asked_at, said_at)]
            found.append(Moving(asked, when[0], said, when[1], "" if to == "-" else to))
    return found


def with_others(pattern: str) -> list[tuple[Moving, Moving]]:
    """Each of these pairs, and another one that is asked for beside it."""
    pairs = said_to_move(pattern)
    return [*zip(pairs, [*pairs[7:], *pairs[:7]], strict=True)]


APART = timedelta(hours=6)
"""What is said so much later is said in another session."""


def of_moving(one: Moving, beside: Moving, number: int) -> tuple[list[TurnRecorded], dict[str, list[Reminder]]]:
    """The turns of what is moved, and what they ask for, where something else is asked for too: mostly before."""
    reminders = {}
    for said, at in ((one.asked, one.asked_at), (beside.asked, one.asked_at)):
        times = [found.time.moment for found in candidates(said, at, True) if found.time]
        reminders[said] = [Reminder(said, times[0] if times else None, "low", 0, 0)]
    first, then = (to_micros(at, "UTC") for at in (one.asked_at, one.said_at))
    session = "b" if one.said_at - one.asked_at > APART else "a"
    place = 1 if number % 3 == 2 else -1  # every third time something else was asked for since
    events = [
        TurnRecorded("s", "o", first + place * MINUTE // 2, "a", "ann", "user", beside.asked),
        TurnRecorded("s", "p", first + place * MINUTE // 2 + SECOND, "a", "bot", "assistant", "I will."),
        TurnRecorded("s", "n", first, "a", "ann", "user", one.asked),
        TurnRecorded("s", "r", first + SECOND, "a", "bot", "assistant", "I will."),
        TurnRecorded("s", "t", max(then, first + 40 * SECOND), session, "ann", "user", one.said),
    ]
    return sorted(events, key=lambda event: event.at), reminders


def moved(pattern: str = "moved.*.txt") -> Iterator[Given]:
    """Of pairs: what is asked for, and what is said later, beside another note."""
    for number, (one, beside) in enumerate(with_others(pattern)):
        found = [(note, signals) for note, turn, signals in seen(*of_moving(one, beside, number)) if turn == "t"]
        for note, signals in found:
            yield Given(Example(signals, bool(one.to) and note == "n", f"moved {number // 8}", PLAIN), "moved")
        if one.to and "n" not in dict(found):
            yield Given(Example([], True, f"moved {number // 8}", 0.0), "moved")


def measure_moving(pattern: str) -> Counter[str]:
    """What becomes of such pairs, by the weights that are written: with the notes that their words ask for, and with
    those that an agent takes."""
    counts: Counter[str] = Counter()
    for number, (one, beside) in enumerate(with_others(pattern)):
        events, asked = of_moving(one, beside, number)
        for kind in ("read", "given"):
            with asking(asked) if kind == "given" else nullcontext():
                rows = [row.event for row in fold(WITH, events)]
            notes = {row.note: row.turn for row in rows if isinstance(row, NoteOpened)}
            moves = [row for row in rows if isinstance(row, NoteMoved) and row.turn == "t"]
            name = f"{kind}: {'to move' if one.to else 'to stay'}"
            counts[name] += "n" in notes.values()
            counts[f"{name}, moved"] += any(notes[row.note] == "n" for row in moves)
            counts[f"{name}, another moved"] += any(notes[row.note] != "n" for row in moves)
            counts[f"{name}, settled"] += any(isinstance(row, NoteClosed) and row.turn == "t" for row in rows)
            counts[f"{name}, a note more"] += "t" in notes.values()
            if one.to:
                counts[f"{name}, to when it should"] += any(
                    notes[row.note] == "n" and one.agrees(to_local(row.deadline, "UTC")) for row in moves
                )
    return counts


def measure(told: Iterable[Conversation]) -> Counter[str]:
    """What is settled and asked about in whole conversations: of notes that were read in them, and of those that the
    authors' reminders would be."""
    counts: Counter[str] = Counter()
    for conversation in told:
        turns = {turn["id"]: turn for turn in conversation.turns}
        done = settles(conversation)
        for kind in ("read", "given"):
            events, asked = noted(conversation, False)
            with asking(asked) if kind == "given" else nullcontext():
                rows = [row.event for row in fold(WITH, events)]
            source = {row.note: row.turn for row in rows if isinstance(row, NoteOpened)}
            counts[f"{kind}: notes"] += len(turns.keys() & source.values())
            counts[f"{kind}: notes to settle"] += len(done.keys() & source.values())
            counts[f"{kind}: reminders to settle"] += len(done)
            asks: set[str] = set()
            for row in rows:
                if isinstance(row, NoteClosed) and row.turn:
                    note = source[row.note]
                    counts[f"{kind}: settled"] += 1
                    counts[f"{kind}: settled rightly"] += done.get(note) == row.turn
                    counts[f"{kind}: settled later than that"] += note in done and row.turn > done[note]
                    counts[f"{kind}: settled by what only seems so"] += note in (
                        turns[row.turn].get("settles_not") or ()
                    )
                elif isinstance(row, NoteMoved) and row.turn:
                    counts[f"{kind}: moved"] += 1
                elif isinstance(row, NoteDoubted) and row.note not in asks:
                    counts[f"{kind}: asked about"] += 1
                    right = done.get(source[row.note]) == row.turn
                    counts[f"{kind}: asked about rightly"] += right
                    asks |= {row.note} if right else set()
    return counts


def measure_plain(given: Sequence[Given]) -> Counter[str]:
    """What is settled and asked about of the notes of sentences, by the weights that are written."""
    params, counts = TtlEscalationsParams(), Counter[str]()
    for one in given:
        score = settling.score(one.example.signals)[0] if one.example.signals else params.doubts - 1
        what = "settled" if score >= params.settles else "asked about" if score >= params.doubts else "left"
        counts[f"{what} {'rightly' if one.example.label == (what != 'left') else 'wrongly'}"] += 1
    return counts


def main() -> None:
    """Prints what the weights are worth; writes them with --write."""
    if "--measure" in sys.argv:
        for side, told in telling("--learned" in sys.argv).items():
            for name, count in sorted(measure(told).items()):
                print(f"{side}, {name}: {count}")
        for name, count in sorted(measure_plain([*plain("off.*.txt")]).items()):
            print(f"sentences, {name}: {count}")
        for pattern in ("moves.*.txt", *(["moved.*.txt"] if "--learned" in sys.argv else [])):
            for name, count in sorted(measure_moving(pattern).items()):
                print(f"{pattern}, {name}: {count}")
        return
    given = [*marked(True), *judged(), *plain(), *moved()]
    learned: dict[str, Weights] = {}
    for act, (sides, whole, costs) in ACTS.items():
        mine = [one for one in given if one.side in sides or (whole and not one.example.label)]
        examples = [one.example for one in mine]
        how = FITTED[act]
        scores = [
            score if example.signals else -10_000
            for score, example in zip(crossed(examples, *how), examples, strict=True)
        ]
        for side in sides:
            _tell(f"{act}, {side}", [(s, g.example.label) for s, g in zip(scores, mine, strict=True) if g.side == side])
        bias, weights = fit([example for example in examples if example.signals], *how)
        learned[act] = bias - costs, weights
    if "--write" in sys.argv:
        chosen = sys.argv[sys.argv.index("--write") + 1 :] or [*ACTS]
        stands = json.loads(PATH.read_text("utf-8"))
        known = {act: (stands["bias"][act], stands["weights"][act]) for act in stands["weights"]}
        write(PATH, VERSION, known | {act: learned[act] for act in chosen})


def _tell(name: str, scored: Sequence[tuple[int, bool]]) -> None:
    """Prints what weights are worth that did not see what they are asked of."""
    scores, labels = [score for score, _ in scored], [label for _, label in scored]
    print(f"{name}: {len(scored)}, {sum(labels)} settle")
    for precision in (0.95, 0.9, 0.8, 0.7) if any(labels) else ():
        threshold, right, recall = best(scores, labels, precision)
        print(f"  from {threshold} on: P {right:.2f} R {recall:.2f}")


if __name__ == "__main__":
    main()
