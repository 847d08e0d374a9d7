"""What the words of a turn say of a task: that it is asked for, waits, moves, ends. The words are in cues.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from streams.core.events import MAX_HOURS
from streams.core.patterns import lazily
from streams.core.text.marks import Marks
from streams.core.text.stops import SPACE
from streams.core.text.telling import excerpt, sentences, shortened
from streams.core.text.terms import terms

READ, TEXT = 480, 160
"""Bytes of a turn that are read, and of what is kept of a sentence."""
STANDS = 0
"""From this score on, in hundredths of log odds, a sentence is likelier to hold from then on than not."""
MARKS = (
    *("waiting", "wait for", "wait on", "block", "stuck on", "on hold", "done", "finished", "complete", "half", "%"),
    *("next", "progress", "started", "begun", "working on", "starting", "drop", "forget about", "abandon", "cancel"),
    *(
        " take",
        "dauer",
        "no longer",
        "continue",
        "proceed",
        "your input",
        "your approval",
        "your decision",
        "please confirm",
        "almost",
    ),
    *("warte", "hälfte", "nächste", "attente", "bloqu", "moitié", "prochaine", "esperando", "siguiente", "mitad"),
)
"""Parts of a turn that may say how a task stands: others are not read."""
_MAY_SAY = Marks(*MARKS)
_TABLE = tomllib.loads(files(__package__).joinpath("cues.toml").read_text("utf-8"))


def _words(name: str, behind: str = r"\b", before: str = r"(?<!\w)") -> re.Pattern[str]:
    return lazily(f"{before}(?:{'|'.join(_TABLE[name])}){behind}", re.IGNORECASE)


_TAIL = r":?\s+(?P<tail>[^.!?;\n]{3,})"
_WAITS, _STEP = _words("waits", _TAIL), _words("step", _TAIL)
_ASKS, _FREED, _BEGUN, _DROPPED = _words("asks"), _words("freed"), _words("begun"), _words("dropped")
_SHARES = (
    *((_words("share"), -1.0), (_words("half"), 0.5), (_words("third"), 0.33)),
    *((_words("most"), 0.7), (_words("nearly"), 0.9)),
)
_REQUEST, _ORDERS, _URGENT, _SOMEDAY = _words("request"), _words("orders"), _words("urgent"), _words("someday")
_DONE, _TAKES = _words("done"), _words("takes")
_HOURS = {"m": 1 / 60, "s": 1.0, "h": 1.0, "d": 24.0, "t": 24.0, "j": 24.0, "w": 168.0}
_NUMBERS = {
    word: n for n, words in enumerate(("a an one", "two", "three", "four", "five", "six"), 1) for word in words.split()
}
_NOT, _YET = _words("not"), _words("yet")


class Said(NamedTuple):
    """What a turn says of its task; empty where it says nothing."""

    waits: str = ""
    asks: bool = False
    """Whether it waits for the user's word."""
    share: float = -1.0
    step: str = ""
    begun: bool = False
    dropped: bool = False
    hours: float = 0.0
    """How long it is thought to take."""
    done: str = ""
    """The sentence that says that something is done."""


NOTHING = Said()


_BREAK = lazily(rf"{SPACE}\s*|(?<=[。！？])|\n+")


def _told(content: str) -> list[str]:
    """The sentences of a turn that ask nothing; also those of common words ("It is half done"), which none quotes."""
    return [text for text in _BREAK.split(excerpt(content, READ)) if text and text.rstrip()[-1:] not in "?？"]


def said(content: str, role: str) -> Said:
    """What a turn says of the task that it is about."""
    if not _MAY_SAY.may_be_in(content):
        return NOTHING
    lowered = content[:READ].lower()
    if not any(mark in lowered for mark in MARKS):
        return NOTHING
    found, before = NOTHING, ""
    for text in _told(content):
        if role == "assistant" and _ASKS.search(text):
            found = found._replace(asks=True)
        elif (waits := _WAITS.search(text)) and not _NOT.search(text, 0, waits.start()):
            told = waits["tail"]
            if not terms(told)[0]:  # "blocked on that" tells of nothing, what was said before it of what "that" is
                told = f"{before} {text}"
            found = found._replace(waits=cut(told))
        elif role == "user" and _DROPPED.search(text):
            found = found._replace(dropped=True)
        elif _DONE.search(text) and not _NOT.search(text) and not _YET.search(text):
            found = found._replace(done=cut(text))
        for pattern, share in _SHARES:
            if (moved := pattern.search(text)) and not _NOT.search(text, 0, moved.start()):
                found = found._replace(share=min(1.0, int(moved["share"]) / 100) if share < 0 else share)
        if (takes := _TAKES.search(text)) and not _NOT.search(text):
            number = takes["n"].lower()
            n = 0.5 if number.startswith("half") else _NUMBERS.get(number) or float(number.replace(",", "."))
            found = found._replace(hours=round(min(n * _HOURS[takes["unit"][0].lower()], MAX_HOURS), 3))
        if step := _STEP.search(text):
            found = found._replace(step=cut(step["tail"]))
        elif _BEGUN.search(text) and not _NOT.search(text):
            found = found._replace(begun=True)
        before = text
    return found


def frees(content: str, stems: Sequence[str]) -> bool:
    """Whether a turn says that what is waited for is there: in a sentence with at least half of its `stems`."""
    for text in _told(content):
        if _FREED.search(text) and not _YET.search(text):
            shared = sum(map(terms(text)[0].__contains__, stems))
            if shared and 2 * shared >= len(stems):
                return True
    return False


def frees_by_name(content: str) -> bool:
    """Whether a turn says of the task it is about that it waits no longer."""
    lowered = content[:READ].lower()
    return any(words in lowered for words in ("unblocked", "no longer blocked", "no longer waiting"))


class Asked(NamedTuple):
    """The sentence by which a turn asks for work."""

    text: str = ""
    """"" where it asks for none."""
    may_stand: bool = False
    """Whether it is the likeliest of its turn to be a wish that holds from then on: no work then, which ends."""


def asked(content: str, standing: Sequence[int] = ()) -> Asked:
    """The sentence by which a turn asks for work. `standing`: its sentences that may hold from then on, as the features
    of its text tell (see core/text/standing); one that is likelier to than not asks for none."""
    wishes = [
        (max(passing, plain), " ".join(content[start:end].split()))
        for passing, plain, start, end in zip(*(standing[at::4] for at in range(4)), strict=True)
    ]
    for told in sentences(excerpt(content, READ)):
        if _ORDERS.match(told.text) or _REQUEST.search(told.text):
            wish = next((at for at, (_, text) in enumerate(wishes) if told.text in text), None)
            if wish is None or wishes[wish][0] < STANDS:
                return Asked(cut(told.text), wish == 0)
    return Asked()


def request(content: str, standing: Sequence[int] = ()) -> str:
    """The text of that sentence; "" where a turn asks for no work."""
    return asked(content, standing).text


def urgency(content: str) -> int:
    """1 where a request is urgent, -1 where it has time, else 0."""
    content = content[:READ]
    return 1 if _URGENT.search(content) else -1 if _SOMEDAY.search(content) else 0


def cut(text: str) -> str:
    """The beginning of a text, bounded in bytes."""
    return shortened(text, TEXT)
