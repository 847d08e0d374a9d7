"""What a log keeps of what was erased from it: enough to know it again, too little to read it.

Per event a hash of its space and id, so that a file that is fed again does not bring it back; and of its words the
hashes of up to `FEW` runs, so that an audit finds where they still stand. All are keyed with a random salt, which lies
in the log, too: who has the home can confirm a guess of a whole id or run of words, and learn nothing else.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import fields
from hashlib import blake2b
from heapq import nsmallest
from itertools import groupby, pairwise
from typing import Any

from streams.core.events import Outside
from streams.core.patterns import lazily

RUN = 6
"""Words that make a run. Shorter ones are said by chance; a shorter text is one run, where it has LEAST words."""
LEAST = 3
FEW = 8
"""Runs that are kept of an event: those with the smallest hashes, so that it is chance which."""
RUN_BYTES, NAME_BYTES = 8, 16
TABLE = """
CREATE TABLE IF NOT EXISTS erased (name BLOB PRIMARY KEY, runs BLOB NOT NULL, receipt TEXT NOT NULL)
STRICT, WITHOUT ROWID
"""
SALT = "erased.salt"
"""Under which a log notes the salt."""
ENDS = "erased.ends"
"""Under which a log notes where its partitions ended before the newest receipt: what that tells the hash of."""

_WORD = lazily(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Letters and digits; each sign of scripts that put no spaces between words."""
_NO_WORDS = {
    *("space", "id", "at", "type", "session", "agent", "role", "turn", "older", "turns", "first_turn", "last_turn"),
    *("reply_to", "note", "name", "model", "prompt_hash", "params_hash"),
}
"""Fields that name something, and say nothing."""


def name_of(salt: bytes, space: str, id_: str) -> bytes:
    """What is kept of an event's name."""
    return blake2b(f"{space}\0{id_}".encode(errors="surrogatepass"), key=salt, digest_size=NAME_BYTES).digest()


def texts(event: Outside) -> Iterator[str]:
    """All that an event says in words, tool calls and results included."""
    for field in fields(event):
        if field.name not in _NO_WORDS:
            yield from _texts(getattr(event, field.name))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def runs(salt: bytes, text: str, lengths: Iterable[int] = (RUN,)) -> Iterator[bytes]:
    """The hash of each run of words in a text, of the given lengths; case and what stands between do not count."""
    words = [word.casefold().encode(errors="surrogatepass") for word in _WORD.findall(text)]
    for length in lengths:
        for start in range(len(words) - length + 1):
            yield blake2b(b" ".join(words[start : start + length]), key=salt, digest_size=RUN_BYTES).digest()


def spans(salt: bytes, text: str, lengths: Iterable[int]) -> Iterator[tuple[bytes, str]]:
    """The hash of each run, as `runs` tells it, with the part of the text that it is."""
    words = [*_WORD.finditer(text)]
    for length in lengths:
        for start, run in enumerate(runs(salt, text, (length,))):
            yield run, text[words[start].start() : words[start + length - 1].end()]


def gaps(text: str) -> Iterator[int]:
    """The places in a text that are in no word, the ends left out: where it could be cut in two."""
    for word, next_ in pairwise(_WORD.finditer(text)):
        yield from range(word.end(), next_.start() + 1)


def quoted(salt: bytes, text: str, wanted: Container[bytes], lengths: Iterable[int]) -> str:
    """The longest part of a text that is made of wanted runs; "" where none is in it."""
    words = [*_WORD.finditer(text)]
    inside = [False] * len(words)
    for length in lengths:
        for start, run in enumerate(runs(salt, text, (length,))):
            if run in wanted:
                inside[start : start + length] = [True] * length
    found = ""
    for is_inside, stretch in groupby(zip(inside, words, strict=True), key=lambda one: one[0]):
        if is_inside:
            places = [word for _, word in stretch]
            found = max(found, text[places[0].start() : places[-1].end()], key=len)
    return found


def runs_of(salt: bytes, event: Outside) -> dict[bytes, int]:
    """The runs of an event's words, each with its length: what is looked for when it is erased."""
    found: dict[bytes, int] = {}
    for text in texts(event):
        length = min(RUN, len(_WORD.findall(text)))
        if length >= LEAST:
            found |= dict.fromkeys(runs(salt, text, (length,)), length)
    return found


def kept(found: dict[bytes, int]) -> bytes:
    """The runs that are kept of an event, each with its length before it."""
    return b"".join(bytes([found[run]]) + run for run in nsmallest(FEW, found))


def taken(kept_: bytes) -> dict[bytes, int]:
    """Runs and their lengths, as `kept` wrote them."""
    size = RUN_BYTES + 1
    return {kept_[at + 1 : at + size]: kept_[at] for at in range(0, len(kept_), size)}


def digest(rows: Iterable[tuple[bytes, bytes]]) -> str:
    """A hash of what is kept of an erasure, rows in the order of names."""
    sum_ = blake2b(digest_size=16)
    for name, kept_ in rows:
        sum_.update(name + kept_)
    return sum_.hexdigest()
