from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import processors.ttl_escalations as module
from processors import PROCESSORS
from processors.ttl_escalations import PROCESSOR, settling
from streams.core.driver import ancestors, fold
from tests.bench.learning import Example, best, crossed, fit, reliability
from tests.bench.learn_surfacing import noted
from tests.bench.voices import Conversation, conversations

WITH = ancestors(PROCESSORS, [PROCESSOR.name])


def seen(conversation, events, asked) -> list[tuple[str, str, list[str]]]:
    found = []
    real = settling.signs

    def watch(talk, note, record, shared):
        told = real(talk, note, record, shared)
        found.append((record.turn or note, talk.turn.id, told))
        return told

    patch = mock.patch.object(module, "reminders", lambda content, *_: (asked.get(content, []), [])) if asked is not None else mock.patch.object(settling, "MOST", settling.MOST)
    with mock.patch.object(settling, "signs", watch), patch:
        for _ in fold(WITH, events):
            pass
    return found


def examples(learning, folder="done", modes=("taken", "asked")) -> Iterator[tuple[Example, tuple]]:
    for conversation in conversations(learning, folder):
        turns = {t["id"]: t for t in conversation.turns}
        place = {t["id"]: n for n, t in enumerate(conversation.turns)}
        settled = {}
        for t in conversation.turns:
            for one in t.get("settles") or ():
                settled.setdefault(one, t["id"])
        for mode in modes:
            if mode == "own":
                events, asked = conversation.events(), None
            else:
                events, asked = noted(conversation, mode == "taken")
            told = set()
            for note, at, signals in seen(conversation, events, asked):
                if mode == "taken" and note not in turns:
                    continue
                if place[at] <= place.get(note, -1):
                    continue
                if note in settled and place[at] > place[settled[note]]:
                    continue
                told.add((note, at))
                right = settled.get(note) == at
                yield Example(signals, right, conversation.author if len(sys.argv) < 9 else ""), (conversation, mode, note, at, True)
            for note, at in settled.items():
                if (note, at) not in told:
                    yield Example([], True, conversation.author, 0.0), (conversation, mode, note, at, False)


def pairs():
    import re
    from streams.core.events import TurnRecorded, MINUTE, DAY, SECOND
    from streams.core.text.reminders import Reminder
    from tests.bench.voices import VOICES
    for path in sorted((VOICES / "sentences").glob("done.*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            note, turn = line[2:].split(" => ")
            later = number % 2
            at = 1_770_000_000_000_000
            events = [
                TurnRecorded("s", "n", at, "a", "ann", "user", note),
                TurnRecorded("s", "r", at + SECOND, "a", "bot", "assistant", "I will."),
                TurnRecorded("s", "t", at + (DAY if later else 40 * MINUTE), "b" if later else "a", "ann", "user", turn),
            ]
            asked = {note: [Reminder(note, None, "low", 0, 0)]}
            found = [s for n, t, s in seen(None, events, asked) if t == "t"]
            yield Example(found[0] if found else [], line[0] == "+", f"sentences {number % 4}"), line
