"""Learns when a turn tells that what a note is for is done (processors/ttl_escalations/settling.json).

    python -m tests.bench.learn_settling [--write [ACT...]]       what weights are worth that did not see an author
    python -m tests.bench.learn_settling --measure [--learned]    what the weights that are written settle

Learns from conversations whose authors marked what settles a reminder (two wrote theirs for that, tests/voices/done),
each reminder made a note twice, of the words that ask for it and as an agent would put it; from turns of the ordinary
voices that a maintainer judged (tests/voices/sentences/settled.jsonl: those that the marked ones made likeliest, one of
a note), beside which other turns of their conversations count little, as nobody judged them; and from plain sentences
(done.*.txt, "+" settles its note, "-" does not; those of done.off call reminders off, or seem to). Two other authors of
conversations, four of ordinary voices and one of such sentences (off.en.txt) only measure.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from processors import PROCESSORS
from processors.ttl_escalations import PROCESSOR, NoteClosed, NoteDoubted, NoteOpened, settling
from processors.ttl_escalations.params import TtlEscalationsParams
from streams.core.driver import ancestors, fold
from streams.core.events import DAY, MINUTE, SECOND, TurnRecorded
from streams.core.text.reminders import Reminder
from tests.bench.learn_surfacing import asking, noted
from tests.bench.learning import Example, Weights, best, crossed, fit, write
from tests.bench.voices import VOICES, Conversation, conversations

PATH = Path(settling.__file__).with_name("settling.json")
VERSION = 1
STRENGTH, GROUPS = 0.1, 4
"""Few authors marked anything: weights are drawn to nothing strongly, and four conversations must have a signal."""
UNJUDGED, PLAIN = 0.06, 2.0
"""How much a turn counts that nobody judged, and a plain sentence."""
ACTS = {
    "settles": (("marked", "judged", "not judged", "plain"), False, 0),
    "off": (("off",), True, 40),
}
"""What is learned: of which sides' examples; whether what settles nothing on the others counts against it; and what is
taken off, in hundredths of log odds, for a reminder that is lost costs more than one too many. Why apart: a reminder is
called off in words that else speak of work still to do ("drop the dentist one"). Learned anew beside "off", "settles"
gained nothing, so it stays as it was: `--write off`."""
WITH = ancestors(PROCESSORS, [PROCESSOR.name])
NEVER = {PROCESSOR.name: TtlEscalationsParams(settles=100_000, doubts=100_000)}
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

    def watch(told: Any, record: Any, shared: int) -> list[str]:
        signals = signs(told, record, shared)
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
        return
    given = [*marked(True), *judged(), *plain()]
    learned: dict[str, Weights] = {}
    for act, (sides, whole, costs) in ACTS.items():
        mine = [one for one in given if one.side in sides or (whole and not one.example.label)]
        examples = [one.example for one in mine]
        scores = [
            score if example.signals else -10_000
            for score, example in zip(crossed(examples, STRENGTH, GROUPS), examples, strict=True)
        ]
        for side in sides:
            _tell(f"{act}, {side}", [(s, g.example.label) for s, g in zip(scores, mine, strict=True) if g.side == side])
        bias, weights = fit([example for example in examples if example.signals], STRENGTH, GROUPS)
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
