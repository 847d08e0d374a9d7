"""From the tables of a memory to the index, a page of positions at a time: what is told there, inverted.

Every turn is a document; so is what mechanisms declare as one (see kinds). A document with the id of an earlier one
takes its place. A retracted turn ends with what was made of it alone. Documents of a space stand in the order of
(position, kind, ordinal), so as of a position they are a beginning of them.
"""

from __future__ import annotations

import sqlite3
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from projections.recall import file
from projections.recall.columns import NEVER, STORED, named, plain_tokens
from projections.recall.held import MAX_SOURCES, SEPARATOR, Held
from projections.recall.kinds import NEWS, RETRACTED, TURN, Row
from streams.core.dataclasses import dataclass, field

TAIL_FULL = 4096
"""Documents of a space whose terms lie by document. Then they are appended to where each term occurs: more would make
the first question after a start slow (a tail is read whole), fewer would scatter a term over many blocks."""
AT_ONCE = 2048
"""From so many documents of a space in one page on they go to the postings directly."""
_PLACE = {name: place for place, name in enumerate(STORED)}

Analyse = Callable[[Row], tuple[list[str], list[int], int, int]]
"""Of what a document is made of: its terms, how often it holds each, how many there are in all, and its flags."""


@dataclass(slots=True)
class Group:
    """What a page adds to one space: documents start <= place < stop of the page."""

    held: Held
    first: int
    """The number of its first document."""
    start: int
    stop: int
    ended: dict[int, int]
    """Documents of the space that are not shown any more, and from which position on."""


@dataclass(slots=True)
class Page:
    """The documents of a page, in columns, space after space, and their terms."""

    analyse: Analyse
    runs: frozenset[int]
    """Kinds of documents that stand for all turns from the first to the last."""
    quoting: frozenset[int]
    """Kinds of documents that quote any of their turns."""
    values: list[tuple[int, ...]] = field(default_factory=list)
    """By document: what its columns hold."""
    texts: list[str] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    distinct: list[int] = field(default_factory=list)
    """By document: how many different terms it holds."""

    def add_space(self, held: Held, rows: Iterator[Row]) -> None:
        """Takes up what is told of one space; `held` grows by it."""
        adding = _Adding(self, held)
        start = len(self.texts)
        news: Row | None = None
        for row in rows:
            kind = row[2]
            if kind == NEWS:
                news = row
            elif kind == RETRACTED:
                adding.retract(row[4], row[1])
            elif kind == TURN and news is not None and news[1] == row[1]:
                adding.document((*row[:8], news[8], *row[9:11], *news[11:]))
            else:
                adding.document(row)
        stop = len(self.texts)
        self.groups.append(Group(held, adding.base, start, stop, adding.ended))
        columns = zip(*self.values[start:stop], strict=True) if stop > start else [()] * len(STORED)
        stored = {name: np.array(c, kind) for (name, kind), c in zip(STORED.items(), columns, strict=True)}
        held.grow(stored, self.texts[start:stop], adding.chain, adding.ended)


class _Adding:
    """Numbers what one space is told in a page, and finds what it refers to."""

    def __init__(self, page: Page, held: Held) -> None:
        self.page = page
        self.held = held
        self.base = held.columns.count
        self.offset = len(page.texts) - self.base
        """From the number of a document to its place in the page."""
        self.new: dict[tuple[int, str], int] = {}
        self.derived: list[int] = []
        """New documents that are no turns."""
        self.chain: list[tuple[int, int]] = []
        self.ended: dict[int, int] = {}

    def document(self, row: Row) -> None:
        """One more document."""
        _, position, kind, _, id, session_, agent, at, content, turns, role, tokens, more = row
        held, page, number = self.held, self.page, len(self.page.texts) - self.offset
        session = held.session(session_, number)
        text, first, last = id, -1, -1
        if kind == TURN:
            first = last = number
            before, held.last_turns[session] = held.last_turns[session], number
            if before >= 0:
                self.chain.append((before, number))
        else:
            if (replaced := self._find(kind, id)) >= 0:
                self._end(replaced, position)
            sources = [turn for turn in turns or () if turn][-MAX_SOURCES:]
            text = SEPARATOR.join([id, *sources])
            self.derived.append(number)
            if sources:
                first, last = self._find(TURN, sources[0]), self._find(TURN, sources[-1])
                if kind in page.quoting:
                    first = min((found for turn in sources if (found := self._find(TURN, turn)) >= 0), default=-1)
        self.new[kind, id] = number
        terms, counts, length, flags = page.analyse(row)
        page.terms += terms
        page.counts += counts
        page.distinct.append(len(terms))
        page.texts.append(text)
        speaker = held.speaker(agent or role, number)
        plain = 0 if more or role == "tool" else plain_tokens(content, tokens)
        page.values.append((kind, length, session, speaker, flags, first, last, named(kind, id), at, position, plain))

    def _find(self, kind: int, id: str) -> int:
        found = self.new.get((kind, id))
        return self.held.find(kind, id)[0] if found is None else found

    def _end(self, document: int, position: int) -> None:
        if not self._has_ended(document):
            self.ended[document] = position

    def _has_ended(self, document: int) -> bool:
        if document in self.ended:
            return True
        return document < self.base and bool(self.held.columns["ended"][document] != NEVER)

    def _value(self, name: str, document: int) -> int:
        if document < self.base:
            return int(self.held.columns[name][document])
        return self.page.values[document + self.offset][_PLACE[name]]

    def _sources(self, document: int) -> list[str]:
        texts = self.held.texts if document < self.base else self.page.texts
        return texts[document if document < self.base else document + self.offset].split(SEPARATOR)[1:]

    def _made_of(self, turn: int) -> list[int]:
        """Documents made of a run of turns that a turn lies in."""
        of = self.held.columns
        later = slice(turn, self.base)
        old = (of["kind"][later] != TURN) & (of["first"][later] <= turn) & (of["last"][later] >= turn)
        new = self.derived[bisect_left(self.derived, turn) :]
        found: list[int] = (np.flatnonzero(old) + turn).tolist()
        return found + [d for d in new if self._value("first", d) <= turn <= self._value("last", d)]

    def retract(self, turn_id: str, position: int) -> None:
        """A turn is no longer shown: nor is what was made of it, or of retracted turns alone."""
        turn = self._find(TURN, turn_id)
        if turn < 0 or self._has_ended(turn):
            return
        self._end(turn, position)
        session = self._value("session", turn)
        for document in self._made_of(turn):
            kind = self._value("kind", document)
            if kind in self.page.quoting:
                gone = turn_id in self._sources(document)
            elif kind not in self.page.runs:
                gone = self._value("last", document) == turn
            else:
                gone = self._value("session", document) == session and self._all_ended(document, session)
            if gone:
                self._end(document, position)

    def _all_ended(self, segment: int, session: int) -> bool:
        first, last = self._value("first", segment), self._value("last", segment)
        return all(
            self._has_ended(document)
            for document in range(max(first, 0), last + 1)
            if self._value("kind", document) == TURN and self._value("session", document) == session
        )


class _Vocabulary(dict[str, int]):
    """Numbers terms as they come."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


# -- writing -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Inverted:
    """Where the terms of a page occur, sorted by group, term and document."""

    vocabulary: list[str]
    terms: list[int]
    """The term of each run of postings."""
    starts: NDArray[np.int64]
    """Where each run begins, and the end of the last."""
    groups: NDArray[np.int64]
    """The first run of each group, and the end of the last."""
    documents: NDArray[np.int32]
    counts: NDArray[np.uint8]


def invert(page: Page) -> Inverted:
    """Sorts the terms of a page, all spaces at once: a sort by numpy costs a tenth of dicts of lists."""
    sizes = [group.stop - group.start for group in page.groups]
    numbers = np.concatenate([np.arange(g.first, g.first + n) for g, n in zip(page.groups, sizes, strict=True)])
    distinct = np.array(page.distinct, np.int64)
    documents = np.repeat(numbers.astype(np.int32), distinct)
    group = np.repeat(np.repeat(np.arange(len(sizes)), sizes), distinct)
    vocabulary = _Vocabulary()
    terms = np.array([*map(vocabulary.__getitem__, page.terms)], np.int64)
    size = max(len(vocabulary), 1)
    keys = group * size + terms
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    breaks = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    starts = np.concatenate((np.zeros(min(len(keys), 1), np.int64), breaks))
    runs = keys[starts]
    return Inverted(
        list(vocabulary),
        (runs % size).tolist(),
        np.append(starts, len(keys)),
        np.searchsorted(runs // size, np.arange(len(sizes) + 1)),
        documents[order],
        np.minimum(np.array(page.counts, np.int64), 255).astype(np.uint8)[order],
    )


def write(connection: sqlite3.Connection, page: Page) -> None:
    """Adds a page to the file, within the caller's transaction."""
    endings = ((group.held.number, *ended) for group in page.groups for ended in group.ended.items())
    connection.executemany("INSERT INTO endings VALUES (?, ?, ?, ?)", (file.sealed(*ending) for ending in endings))
    if page.texts:
        inverted = invert(page)
        for number, group in enumerate(page.groups):
            runs = range(int(inverted.groups[number]), int(inverted.groups[number + 1]))
            if group.stop > group.start:
                _write_group(connection, group, inverted, runs)
    for held in (group.held for group in page.groups):
        place = held.number, held.name, held.columns.count, held.flushed, held.endings
        file.write_space(connection, *place)


def _write_group(connection: sqlite3.Connection, group: Group, inverted: Inverted, runs: range) -> None:
    held = group.held
    if held.columns.count - held.flushed < TAIL_FULL:
        if held.listens:
            _take_words(held, inverted, runs)
        _write_block(connection, held, group.first, _words(held, group.first, inverted, runs))
        return
    tail = held.load_tail(connection)
    if group.stop - group.start < AT_ONCE:
        _take_words(held, inverted, runs)
        runs = range(0)
    blocks = ((term, file.pack_postings(*found)) for term, found in tail.items())
    _write_postings(connection, held, ((term, data) for term, data in blocks))
    _write_postings(connection, held, _runs(inverted, runs))
    connection.execute("DELETE FROM blocks WHERE space = ? AND first >= ?", [held.number, held.flushed])
    _write_block(connection, held, held.flushed, b"")
    held.flush(keep=not runs)


def _take_words(held: Held, inverted: Inverted, runs: range) -> None:
    for run in runs:
        start, stop = inverted.starts[run], inverted.starts[run + 1]
        term = inverted.vocabulary[inverted.terms[run]]
        held.add_words(term, inverted.documents[start:stop], inverted.counts[start:stop])


def _words(held: Held, first: int, inverted: Inverted, runs: range) -> bytes:
    """The terms of a few documents, inverted."""
    starts = inverted.starts[runs.start : runs.stop + 1]
    some = slice(starts[0], starts[-1])
    return file.pack(
        [
            file.joined([inverted.vocabulary[term] for term in inverted.terms[runs.start : runs.stop]]),
            np.diff(starts).astype(np.int32).tobytes(),
            inverted.documents[some].tobytes(),
            inverted.counts[some].tobytes(),
        ],
        held.number,
        first,
    )


def _runs(inverted: Inverted, runs: range) -> Iterator[tuple[str, bytes]]:
    for run in runs:
        some = slice(inverted.starts[run], inverted.starts[run + 1])
        data = file.pack_postings(inverted.documents[some], inverted.counts[some])
        yield inverted.vocabulary[inverted.terms[run]], data


def _write_postings(connection: sqlite3.Connection, held: Held, found: Iterator[tuple[str, bytes]]) -> None:
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?, ?)",
        (
            (held.number, term, first, file.summed(data, held.number, term, first))
            for term, data in found
            for first in [int.from_bytes(data[:4], sys.byteorder)]
        ),
    )


def _write_block(connection: sqlite3.Connection, held: Held, first: int, words: bytes) -> None:
    """Writes the documents of a space from `first` on; with their terms, or what is in the postings is all before."""
    count = held.columns.count
    connection.execute(
        "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", [held.number, first, count - first, held.packed(first), words]
    )
