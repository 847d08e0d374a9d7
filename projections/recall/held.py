"""One space of the index in memory, and what is seen of it as of a position."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from projections.recall import file
from projections.recall.columns import STORED, Columns, Names, Texts, named, unpacked
from projections.recall.file import LATEST
from projections.recall.flags import DIGITS, role_of, type_of
from projections.recall.kinds import TURN
from projections.recall.space import Documents, Floats, Ints
from streams.core.section import Spoken

MAX_SOURCES = 32
"""Turns that one document is traced to at most: as many as one recall may show."""
POSTINGS = 64 * 2**20
"""Bytes of decoded postings kept for one space."""
KNOWN = 20_000
"""Turns of one space, and ids of a kind, that are kept once they were asked for."""
SEPARATOR = "\x1f"

Postings = tuple[Ints, Ints]


@dataclass(slots=True)
class Statistics:
    """What ranking needs to know of all turns among the first `seen` documents."""

    seen: int = 0
    turns: int = 0
    length: int = 0
    newest: int = 0
    """The greatest `at` of all of the documents, UTC microseconds."""
    lengths: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    """By session."""

    def advanced(self, columns: Columns, seen: int, sessions: int) -> Statistics:
        """The same as of a later document."""
        new = slice(self.seen, seen)
        turns = np.flatnonzero(columns["kind"][new] == TURN) + self.seen
        lengths = np.zeros(sessions, np.float32)
        lengths[: len(self.lengths)] = self.lengths
        total = 0
        if len(turns):
            length = columns["length"][turns]
            lengths += np.bincount(columns["session"][turns], length, sessions).astype(np.float32)
            total = int(length.sum())
        newest = max(self.newest, int(columns["at"][new].max(initial=0)))
        return Statistics(seen, self.turns + len(turns), self.length + total, newest, lengths)


class Growing:
    """Postings of one term that later documents are appended to. Views given out before stay as they are."""

    __slots__ = ("_count", "_counts", "_documents")

    def __init__(self, documents: Ints, counts: Ints) -> None:
        self._documents, self._counts, self._count = documents, counts, len(documents)

    @classmethod
    def of(cls, parts: Sequence[tuple[Ints, NDArray[np.uint8]]]) -> Growing:
        """Postings in parts, one after the other."""
        if len(parts) == 1:
            documents, counts = parts[0]
        else:
            documents = np.concatenate([np.zeros(0, np.int32), *(documents for documents, _ in parts)])
            counts = np.concatenate([np.zeros(0, np.uint8), *(counts for _, counts in parts)])
        return cls(documents, counts.astype(np.int32))

    def view(self) -> Postings:
        """All of them."""
        return self._documents[: self._count], self._counts[: self._count]

    def append(self, documents: Ints, counts: NDArray[np.uint8]) -> None:
        """More, of documents later than all."""
        stop = self._count + len(documents)
        if stop > len(self._documents):
            more = np.empty(stop // 4 + 8, np.int32)
            self._documents = np.concatenate((self._documents[: self._count], documents, more))
            self._counts = np.concatenate((self._counts[: self._count], counts, more))
        else:
            self._documents[self._count : stop] = documents
            self._counts[self._count : stop] = counts
        self._count = stop

    def memory(self) -> int:
        """Bytes."""
        return 8 * len(self._documents) + 300


class Held:
    """The documents of one space, in memory; where terms occur is read when it is asked for."""

    def __init__(self, number: int, name: str, runs: frozenset[int] = frozenset()) -> None:
        self.number = number
        self.name = name
        self.runs = runs
        """Kinds of documents that stand for all turns from the first to the last."""
        self.flushed = 0
        """The documents before this one have their terms in `postings`, those from it on in `blocks`."""
        self.endings = 0
        """How many documents are not shown any more."""
        self.columns = Columns()
        self.texts = Texts()
        self.sessions: dict[str, int] = {}
        self.session_names: list[str] = []
        self.session_firsts: list[int] = []
        self.speakers: list[str] = []
        self.speaker_numbers: dict[str, int] = {}
        self.speaker_firsts: list[int] = []
        self.last_turns: list[int] = []
        """By session; -1 where nobody spoke yet."""
        self.tail: dict[str, tuple[list[int], list[int]]] | None = None
        """Where the terms of the unflushed documents occur; None until it is asked for."""
        self._tail_bytes = 0
        self._names: Names | None = None
        self._found: dict[int, dict[str, int]] = {}
        """By kind: documents that were asked for, by id."""
        self._spoken: dict[int, Spoken] = {}
        """Turns that were asked for, by document."""
        self._postings: OrderedDict[str, Growing] = OrderedDict()
        self._postings_bytes = 0
        self._statistics = Statistics()
        self._earlier = Statistics()
        self._called: dict[str, list[int]] = {}
        self._documents: Documents | None = None

    # -- loading and growing -----------------------------------------------------------------------------------------

    @classmethod
    def load(cls, connection: sqlite3.Connection, name: str, runs: frozenset[int] = frozenset()) -> Held | None:
        """A space as the file has it; None for an unknown one. Raises DamagedError."""
        with file.decoding():
            return cls._load(connection, name, runs)

    @classmethod
    def _load(cls, connection: sqlite3.Connection, name: str, runs: frozenset[int]) -> Held | None:
        row = connection.execute(file.SPACE, [name]).fetchone()
        if row is None:
            return None
        number, _, documents, flushed, endings = file.unsealed(row)
        held = cls(number, name, runs)
        parts: list[dict[str, NDArray[Any]]] = []
        held.flushed = flushed
        blocks = connection.execute(
            "SELECT first, count, data FROM blocks WHERE space = ? ORDER BY first", [held.number]
        )
        borders = {documents}
        for first, count, data in blocks:
            borders.add(first)
            columns, ids, *rest = file.unpack(data, held.number, first, count)
            parts.append(unpacked(columns, count))
            held.texts.add_packed(ids, count)
            held._take(*rest)
        if parts:
            held.columns.add({column: np.concatenate([part[column] for part in parts]) for column in STORED})
        if held.columns.count != documents or held.flushed not in borders:
            raise ValueError("documents are missing")
        held._chain()
        ended: dict[int, int] = {}
        rows = connection.execute("SELECT * FROM endings WHERE space = ?", [number])
        for _, document, position in file.all_unsealed(rows):
            ended[document] = position
        if len(ended) != endings:
            raise ValueError("endings are missing")
        held.end(ended)
        return held

    def _take(self, sessions: bytes, session_firsts: bytes, speakers: bytes, speaker_firsts: bytes) -> None:
        """Takes up the sessions and speakers that begin in a block."""
        for session, first in zip(file.split(sessions), np.frombuffer(session_firsts, np.int32).tolist(), strict=True):
            self.session(session, first)
        for speaker, first in zip(file.split(speakers), np.frombuffer(speaker_firsts, np.int32).tolist(), strict=True):
            self.speaker(speaker, first)

    def packed(self, start: int) -> bytes:
        """The documents from `start` on, as a block."""
        stop = self.columns.count
        session, speaker = bisect_left(self.session_firsts, start), bisect_left(self.speaker_firsts, start)
        return file.pack(
            [
                self.columns.packed(start, stop),
                file.joined(self.texts.of(start, stop)),
                file.joined(self.session_names[session:]),
                np.array(self.session_firsts[session:], np.int32).tobytes(),
                file.joined(self.speakers[speaker:]),
                np.array(self.speaker_firsts[speaker:], np.int32).tobytes(),
            ],
            self.number,
            start,
            stop - start,
        )

    def _chain(self) -> None:
        """Finds the turns before and after each in its session, and the last of each session."""
        turns = np.flatnonzero(self.columns["kind"] == TURN)
        sessions = self.columns["session"][turns]
        order = np.argsort(sessions, kind="stable")
        turns, sessions = turns[order], sessions[order]
        same = sessions[1:] == sessions[:-1]
        self.columns["before"][turns[1:][same]] = turns[:-1][same]
        self.columns["after"][turns[:-1][same]] = turns[1:][same]
        if len(turns):
            last = np.append(~same, True)
            for session, turn in zip(sessions[last].tolist(), turns[last].tolist(), strict=True):
                self.last_turns[session] = turn

    def session(self, name: str, document: int) -> int:
        """The number of a session; a new one begins with `document`."""
        if not name:
            return -1
        number = self.sessions.get(name)
        if number is None:
            number = self.sessions[name] = len(self.sessions)
            self.session_names.append(name)
            self.session_firsts.append(document)
            self.last_turns.append(-1)
        return number

    def speaker(self, name: str, document: int) -> int:
        """The number of a speaker, who is first heard in `document` where unknown."""
        if not name:
            return -1
        number = self.speaker_numbers.get(name)
        if number is None:
            number = self.speaker_numbers[name] = len(self.speakers)
            self.speakers.append(name)
            self.speaker_firsts.append(document)
            self._called.clear()
        return number

    def grow(
        self, stored: dict[str, NDArray[Any]], texts: list[str], chain: list[tuple[int, int]], ended: dict[int, int]
    ) -> None:
        """Appends documents; `chain` are neighbours in a session, earlier and later turn; `ended` as `end` takes it."""
        for document, (kind, text) in enumerate(zip(stored["kind"].tolist(), texts, strict=True), self.columns.count):
            if (found := self._found.get(kind)) is not None:
                if len(found) > KNOWN:
                    found.clear()
                found[text.partition(SEPARATOR)[0]] = document  # it is the newest of its id now
        self.columns.add(stored)
        self.texts.add(texts)
        if chain:
            before, after = zip(*chain, strict=True)
            self.columns["before"][list(after)] = before
            self.columns["after"][list(before)] = after
        self.end(ended)
        self._documents = None

    def end(self, ended: dict[int, int]) -> None:
        """Documents that are not shown from a position on."""
        if ended:
            self.endings += len(ended)
            self.columns["ended"][list(ended)] = list(ended.values())

    @property
    def listens(self) -> bool:
        """Whether where terms occur is in memory, so that it must be told of new documents."""
        return self.tail is not None

    def add_words(self, term: str, documents: Ints, counts: NDArray[np.uint8]) -> None:
        """Where a term occurs in new documents, taken up by what is in memory."""
        assert self.tail is not None
        if term in self._postings:
            self._postings[term].append(documents, counts)
        found = self.tail.setdefault(term, ([], []))
        found[0].extend(documents.tolist())
        found[1].extend(counts.tolist())
        self._tail_bytes += 16 * len(documents) + 20

    def flush(self, keep: bool) -> None:
        """All terms are in the postings now. `keep`: what is in memory of them is complete."""
        self.flushed = self.columns.count
        self.tail = {}
        self._tail_bytes = 0
        if not keep:
            self._postings.clear()
            self._postings_bytes = 0

    def load_tail(self, connection: sqlite3.Connection) -> dict[str, tuple[list[int], list[int]]]:
        """Where the terms of the unflushed documents occur."""
        if self.tail is None:
            self.tail = {}
            blocks = connection.execute(
                "SELECT first, words FROM blocks WHERE space = ? AND first >= ? ORDER BY first",
                [self.number, self.flushed],
            )
            with file.decoding():
                for first, data in blocks:
                    self._add_tail(file.unpack(data, self.number, first))
            self._tail_bytes = sum(200 + 16 * len(documents) for documents, _ in self.tail.values())
        return self.tail

    def _add_tail(self, parts: list[bytes]) -> None:
        tail = self.tail
        assert tail is not None
        terms, numbers, documents_, counts_ = parts
        documents = np.frombuffer(documents_, np.int32).tolist()
        counts = list(counts_)
        at = 0
        for term, number in zip(file.split(terms), np.frombuffer(numbers, np.int32).tolist(), strict=True):
            stop = at + number
            found = tail.get(term)
            if found is None:
                tail[term] = (documents[at:stop], counts[at:stop])
            else:
                found[0].extend(documents[at:stop])
                found[1].extend(counts[at:stop])
            at = stop

    def memory(self) -> int:
        """Bytes, about."""
        names = self._names.memory() if self._names else 0
        known = 300 * (len(self.sessions) + len(self.speakers) + len(self._spoken))
        known += 150 * sum(map(len, self._found.values()))
        return self.columns.memory() + self.texts.memory + names + known + self._tail_bytes + self._postings_bytes

    # -- asking ------------------------------------------------------------------------------------------------------

    def find(self, kind: int, *ids: str) -> list[int]:
        """The newest document of a kind with each of some ids; -1 for none. Those that were found are kept."""
        found = self._found.setdefault(kind, {})
        if len(found) > KNOWN:
            found.clear()
        documents = [found.get(id, -1) for id in ids]
        if -1 in documents:
            missing = [id for id, document in zip(ids, documents, strict=True) if document < 0]
            places = zip(missing, self._look_up(kind, missing), strict=True)
            found.update((id, document) for id, document in places if document >= 0)
            documents = [found.get(id, -1) for id in ids]
        return documents

    def find_below(self, stop: int, kind: int, ids: Sequence[str]) -> list[int]:
        """The same among the first `stop` documents."""
        return self.find(kind, *ids) if stop >= self.columns.count else self._look_up(kind, ids, stop)

    def _look_up(self, kind: int, ids: Sequence[str], stop: int | None = None) -> list[int]:
        if self._names is None:
            self._names = Names(self.columns["name"])
        elif self.columns.count:
            self._names.add(self.columns["name"])
        kinds, name = self.columns["kind"], self.id
        stop = self.columns.count if stop is None else stop
        candidates = self._names.candidates([named(kind, id) for id in ids])
        return [
            next((one for one in some if one < stop and kinds.item(one) == kind and name(one) == id), -1)
            for id, some in zip(ids, candidates, strict=True)
        ]

    def id(self, document: int) -> str:
        """The id of a document: of the turn, segment, artifact or note."""
        return self.texts[document].partition(SEPARATOR)[0]

    def spoken(self, turn: int) -> Spoken:
        """A turn, its words apart."""
        return self.all_spoken([turn])[0]

    def all_spoken(self, turns: Sequence[int]) -> list[Spoken]:
        """The same of some turns. Those that were asked for are kept: they never change."""
        known = self._spoken
        if missing := [turn for turn in turns if turn not in known]:
            if len(known) > KNOWN:
                known.clear()
                missing = [*turns]
            columns = [self.columns[name][missing].tolist() for name in ("position", "at", "flags")]
            for turn, position, at, flags in zip(missing, *columns, strict=True):
                of = role_of(flags), flags & DIGITS > 0, type_of(flags)
                known[turn] = Spoken(self.id(turn), position, at, *of)
        return [known[turn] for turn in turns]

    def postings(self, connection: sqlite3.Connection, term: str) -> Postings:
        """Where a term occurs, in all documents."""
        if term not in self._postings:
            self.read_postings(connection, [term])
        self._postings.move_to_end(term)
        return self._postings[term].view()

    def read_postings(self, connection: sqlite3.Connection, terms: Iterable[str]) -> None:
        """Reads where some terms occur, of those that are not in memory, at once: each by itself would cost as much."""
        missing = [term for term in dict.fromkeys(terms) if term not in self._postings]
        if not missing:
            return
        which = ", ".join("?" * len(missing))
        blocks = connection.execute(
            f"SELECT space, term, first, data FROM postings WHERE space = ? AND term IN ({which}) ORDER BY first",
            [self.number, *missing],
        ).fetchall()
        parts: dict[str, list[tuple[Ints, NDArray[np.uint8]]]] = {term: [] for term in missing}
        with file.decoding():
            for _, term, _, data in file.all_unsummed(blocks):
                parts[term].append(file.unpack_postings(data))
        tail = self.load_tail(connection)
        for term, some in parts.items():
            if late := tail.get(term):
                some.append((np.array(late[0], np.int32), np.array(late[1], np.uint8)))
            found = self._postings[term] = Growing.of(some)
            self._postings_bytes += found.memory()
        while self._postings_bytes > POSTINGS and len(self._postings) > 1:
            _, oldest = self._postings.popitem(last=False)
            self._postings_bytes -= oldest.memory()

    def documents(self) -> Documents:
        """All of them."""
        if self._documents is None:
            of = self.columns
            self._documents = Documents(**{name: of[name] for name in Documents.__dataclass_fields__})
        return self._documents

    def statistics(self, seen: int) -> Statistics:
        """Of the turns among the first `seen` documents; those of the newest are kept up to date."""
        sessions = bisect_left(self.session_firsts, seen)
        if seen >= self._statistics.seen:
            if seen > self._statistics.seen or not seen:
                self._statistics = self._statistics.advanced(self.columns, seen, sessions)
            return self._statistics
        if self._earlier.seen > seen:
            self._earlier = Statistics()
        self._earlier = self._earlier.advanced(self.columns, seen, sessions)
        return self._earlier

    def called(self, word: str) -> list[int]:
        """The speakers a word may name, ascending."""
        if not self._called:
            for number, name in enumerate(self.speakers):
                folded = name.casefold()
                parts = "".join(c if c.isalnum() else " " for c in folded).split()
                for part in dict.fromkeys([folded, *parts]):
                    self._called.setdefault(part, []).append(number)
        return self._called.get(word, [])


@dataclass(slots=True)
class Seen:
    """A space as of a position: the `Space` that ranking reads, and what its documents are."""

    held: Held
    connection: sqlite3.Connection
    seen: int
    until: int
    documents: Documents
    speakers: list[str]
    sessions: int
    average: float
    session_lengths: Floats
    newest: int
    positions: NDArray[np.int64]

    @classmethod
    def at(cls, held: Held, connection: sqlite3.Connection, until: int | None) -> Seen:
        """What is seen at a position; at the newest where None."""
        last = LATEST if until is None else until
        count = held.columns.count
        if until is not None and count and until < held.columns["position"][-1]:
            count = int(np.searchsorted(held.columns["position"], until, "right"))
        known = held.statistics(count)
        heard = bisect_left(held.speaker_firsts, count)
        return cls(
            held, connection, count, last, held.documents(),
            held.speakers if heard == len(held.speakers) else held.speakers[:heard],
            bisect_left(held.session_firsts, count),
            known.length / known.turns if known.turns else 1.0,
            known.lengths,
            known.newest,
            held.columns["position"],
        )  # fmt: skip

    def called(self, word: str) -> list[int]:
        """The speakers whose name is a word, or holds it as a whole word; folded to lower case, ascending."""
        return [number for number in self.held.called(word) if number < len(self.speakers)]

    def postings(self, term: str) -> Postings:
        """The documents (ascending, below `seen`) that hold a term, and how often each does."""
        documents, counts = self.held.postings(self.connection, term)
        if len(documents) and documents[-1] >= self.seen:
            stop = int(documents.searchsorted(np.int32(self.seen)))
            return documents[:stop], counts[:stop]
        return documents, counts

    def read_postings(self, terms: Iterable[str]) -> None:
        """Reads where some terms occur that will be asked for, at once."""
        self.held.read_postings(self.connection, terms)

    def holds(self, document: int, term: str) -> bool:
        """Whether a document is found by a term."""
        documents, _ = self.postings(term)
        place = int(documents.searchsorted(np.int32(document)))
        return place < len(documents) and int(documents[place]) == document

    def last_turn(self) -> int:
        """The offset of the last turn that is seen; -1 for none."""
        kinds = self.documents.kind
        last = next((document for document in range(self.seen - 1, -1, -1) if kinds[document] == TURN), -1)
        return self.position(last) if last >= 0 else -1

    def said(self, session: str) -> Iterator[int]:
        """The turns of a session that are still shown, the newest first."""
        number, ended, before = self.session(session), self.documents.ended, self.documents.before
        turn = self.held.last_turns[number] if number >= 0 else -1
        while turn >= 0:
            if turn < self.seen and ended.item(turn) > self.until:
                yield turn
            turn = before.item(turn)

    # -- what a document is ------------------------------------------------------------------------------------------

    def id(self, document: int) -> str:
        """The id of the turn, segment, artifact or note."""
        return self.held.id(document)

    def position(self, document: int) -> int:
        """The offset in the log at which it was told."""
        position: int = self.positions.item(document)
        return position

    def tokens(self, positions: Sequence[int]) -> dict[int, int]:
        """By offset: the tokens of turns' words, of those where they tell what it costs to show them; see columns."""
        of, offsets = self.held.columns, np.array(positions, np.int64)
        if not self.seen or not len(offsets):
            return {}
        # Why no search for turns: of the documents that were told at an offset the turn is the first.
        places = np.minimum(np.searchsorted(of["position"], offsets), self.seen - 1)
        told = np.where(of["position"][places] == offsets, of["tokens"][places], 0)
        return {at: count for at, count in zip(positions, told.tolist(), strict=True) if count}

    def turns(self, document: int) -> list[str]:
        """The ids of the turns it was made of, itself where it is one: in order, at most 32."""
        kind = self.documents.kind[document]
        if kind == TURN:
            return [self.id(document)]
        if kind in self.held.runs:
            return [self.id(turn) for turn in self._from_to(document)]
        return self.held.texts[document].split(SEPARATOR)[1:]

    def _from_to(self, document: int) -> list[int]:
        turn, last = int(self.held.columns["first"][document]), int(self.held.columns["last"][document])
        found: list[int] = []
        while 0 <= turn <= last and len(found) < MAX_SOURCES:
            if self.documents.ended[turn] > self.until:
                found.append(turn)
            turn = int(self.documents.after[turn])
        return found

    def turn(self, id: str) -> int:
        """The document of a turn; -1 where it is not seen."""
        return self.turns_of([id])[0]

    def turns_of(self, ids: Sequence[str]) -> list[int]:
        """The documents of some turns; -1 for one that is not seen."""
        found = self.held.find(TURN, *ids)
        return found if self.seen == self.held.columns.count else [one if one < self.seen else -1 for one in found]

    def newest_of(self, kind: int, ids: Sequence[str]) -> list[int]:
        """The newest documents of a kind with some ids; those that are not seen, or no longer shown, are left out."""
        ended = self.documents.ended
        found = self.held.find_below(self.seen, kind, ids)
        return [one for one in found if one >= 0 and ended.item(one) > self.until]

    def shown(self, ids: Sequence[str]) -> dict[str, Spoken]:
        """Turns by id, their words apart; without those that are not shown any more."""
        places = [place for place in self.turns_of(ids) if place >= 0] if ids else []
        if not places:
            return {}
        ended = self.documents.ended[places].tolist()
        if min(ended) <= self.until:
            places = [place for place, end in zip(places, ended, strict=True) if end > self.until]
        return {turn.id: turn for turn in self.held.all_spoken(places)}

    def session(self, name: str) -> int:
        """The number of a session; -1 where it is not seen."""
        number = self.held.sessions.get(name, -1)
        return number if number < self.sessions else -1
