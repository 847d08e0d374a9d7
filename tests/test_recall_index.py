"""The index of recall: the same answers however it came about, as of any position, and for each space alone."""

from __future__ import annotations

import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from processors import PROCESSORS
from processors.manifest import ArtifactMade, SegmentSummarized
from processors.ttl_escalations import NoteClosed, NoteOpened
from projections.recall import catch_up, file
from projections.recall import held as held_module
from projections.recall import index as index_module
from projections.recall.columns import NEVER
from projections.recall.index import Index
from projections.recall.kinds import Kinds
from projections.recall.records import FEW, Kept, Records
from projections.store import Batch, Connection, Extent, Store, extent, read_only
from projections.tables import derived_batch, raw_batch
from streams.core.errors import MemoryFileError
from streams.core.events import Outside, SessionEnded, TurnRecorded, TurnRetracted
from streams.core.params import Params
from streams.core.processor import Processor, Raw
from streams.core.read_model import Group, Joins
from streams.core.section import Members
from streams.core.text import NO_TEXT
from streams.runtime.home import Home
from tests.bench.generated import turns
from tests.memories import make, memory, turn
from tests.processes import PIPE, Program

SPACES = ("acme", "other")
READING = 1


@dataclass(slots=True)
class Energy:
    """A record that some mechanism keeps of a turn."""

    space: str
    session: str
    at: int
    turn: str
    value: float
    hot: bool = False
    type: str = "energy.v1"


@dataclass(slots=True)
class Bond:
    """A record that some mechanism keeps of two turns."""

    space: str
    session: str
    at: int
    first: str
    second: str
    value: float
    type: str = "bond.v1"


KINDS = Kinds(documents for processor in PROCESSORS for documents in processor.read_model.documents)
TURN, SEGMENT, CONCLUSION, NOTE, TASK = map(KINDS.names.index, ("turn", "segment", "conclusion", "note", "task"))
KEPT = {"physics": [Kept(Energy), Kept(Bond, ("first", "second"))]}
GROUPS = [Group("hot", "turn", {Energy: Joins("yes", only=("hot", True))})]


def words(row: tuple[Any, ...]) -> tuple[list[str], list[int], int, int]:
    """A plain reading: words by spaces, folded; flag 1 where the text asks."""
    found = row[8].casefold().replace("?", " ?").split()
    counts = Counter(found)
    return [*counts], [*counts.values()], len(found), int("?" in counts)


def opened(con: Connection, path: Path, reading: int = READING, kept: Any = None) -> Index:
    return Index.open(path, con, KINDS, KEPT if kept is None else kept, GROUPS, words, reading)


def indexed(con: Connection, path: Path) -> Index:
    found = opened(con, path)
    found.catch_up(con)
    return found


def told(index: Index, space: str, until: int | None = None, terms: set[str] | None = None) -> dict[str, Any]:
    """Everything that an index says of a space as of a position."""
    seen = index.space(space, until)
    of, n = seen.documents, seen.seen
    if terms is None:
        terms = {term for (term,) in index.database.execute("SELECT DISTINCT term FROM postings")}
        terms |= {
            term
            for *place, data in index.database.execute("SELECT space, first, words FROM blocks WHERE length(words) > 0")
            for term in file.split(file.unpack(data, *place)[0])
        }
    after = np.where(of.after[:n] < n, of.after[:n], -1)
    ended = np.where(of.ended[:n] <= seen.until, of.ended[:n], -1)
    postings = {term: seen.postings(term) for term in sorted(terms)}
    return {
        "seen": n,
        "ids": [seen.id(document) for document in range(n)],
        "turns": [seen.turns(document) for document in range(n)],
        "columns": {
            name: getattr(of, name)[:n].tolist()
            for name in ("kind", "length", "session", "speaker", "flags", "before", "at")
        },
        "tokens": seen.held.columns["tokens"][:n].tolist(),
        "after": after.tolist(),
        "ended": ended.tolist(),
        "average": seen.average,
        "sessions": seen.sessions,
        "lengths": seen.session_lengths[: seen.sessions].tolist(),
        "speakers": seen.speakers,
        "postings": {t: (d.tolist(), c.tolist()) for t, (d, c) in postings.items() if len(d)},
        "newest": seen.newest,
    }


def shown(index: Index, space: str, until: int | None = None) -> list[tuple[str, str]]:
    """Kind and id of what is to be shown of a space."""
    seen = index.space(space, until)
    of = seen.documents
    return [(KINDS.names[of.kind[d]], seen.id(d)) for d in range(seen.seen) if of.ended[d] > seen.until]


# -- what is a document ------------------------------------------------------------------------------------------------


def test_turns_segments_conclusions_and_notes_are_documents_in_the_order_of_their_positions(tmp_path: Path) -> None:
    con = memory(
        tmp_path / "m.duckdb",
        [turn("t1", "s", "why is the gateway slow?")],
        [
            turn("t2", "s", "a lock", agent="bot"),
            make(SegmentSummarized, session="s", segment="g1", first_turn="t1", last_turn="t2", cue="gateway slow"),
            make(ArtifactMade, session="s", artifact="a1", title="slow gateway", body="a lock", turns=["t1", "t2"]),
            make(NoteOpened, session="s", note="n1", content="tell Ann", context="gateway", turn="t2"),
        ],
        [turn("t3", "r", "hello", role="tool", agent="")],
    )
    seen = indexed(con, tmp_path / "m.recall").space("acme")
    of = seen.documents
    assert of.kind.tolist() == [TURN, TURN, SEGMENT, CONCLUSION, NOTE, TURN]
    assert [seen.id(d) for d in range(6)] == ["t1", "t2", "g1", "a1", "n1", "t3"]
    assert [seen.turns(d) for d in range(6)] == [["t1"], ["t2"], ["t1", "t2"], ["t1", "t2"], ["t2"], ["t3"]]
    assert (of.before.tolist(), of.after.tolist()) == ([-1, 0, -1, -1, -1, -1], [1, -1, -1, -1, -1, -1])
    assert (of.session.tolist(), seen.sessions) == ([0, 0, 0, 0, 0, 1], 2)
    assert ([seen.speakers[s] for s in of.speaker if s >= 0]) == ["ann", "bot", "tool"]
    assert of.flags.tolist() == [1, 0, 0, 0, 0, 0]
    assert [part.tolist() for part in seen.postings("gateway")] == [[0, 2, 3, 4], [1, 1, 1, 1]]
    assert [part.tolist() for part in seen.postings("nowhere")] == [[], []]
    assert (seen.average, seen.session_lengths.tolist()) == (3.0, [8.0, 1.0])
    assert (seen.turn("t3"), seen.turn("t4"), seen.session("r"), seen.session("q")) == (5, -1, 1, -1)


def test_the_tokens_of_a_turn_are_known_where_its_words_alone_tell_what_it_costs(tmp_path: Path) -> None:
    call = [{"type": "tool_use", "name": "look", "input": {}}]
    con = memory(
        tmp_path / "m.duckdb",
        [
            turn("t0", "s", "a lock in the gateway", tokens=5),
            make(NoteOpened, session="s", note="n", content="tell Ann"),
        ],
        [turn("t1", "s", "a lock", tokens=2, role="tool")],
        [turn("t2", "s", "let me look", tokens=3, parts=call)],
        [turn("t3", "s", "a" + " " * 30 + "lock", tokens=2)],
        [turn("t4", "s", "lock " * 1_000, tokens=1_000)],
        [turn("t5", "s", "", tokens=0)],
        [make(SessionEnded, session="s", id="e"), make(NoteOpened, session="s", note="m", content="tell Ben")],
        [turn("t7", "s", "so it is", tokens=3)],
    )
    index = indexed(con, tmp_path / "m.recall")
    assert index.space("acme").tokens([*range(9)]) == {0: 5, 7: 3}
    assert index.space("acme", 6).tokens([*range(9)]) == {0: 5}
    assert index.space("nowhere").tokens([0]) == {}


def test_a_summary_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    def step(text: str, segment: str = "g1") -> Any:
        return make(SegmentSummarized, session="s", segment=segment, first_turn="t1", last_turn="t1", cue=text)

    con = memory(tmp_path / "m.duckdb", [turn("t1", "s"), step("one")], [turn("t2", "s"), step("two")])
    index = indexed(con, tmp_path / "m.recall")
    assert index.space("acme").documents.ended.tolist()[:2] == [NEVER, 1]
    assert shown(index, "acme") == [("turn", "t1"), ("turn", "t2"), ("segment", "g1")]
    assert shown(index, "acme", 0) == [("turn", "t1"), ("segment", "g1")]


def test_the_newest_document_of_an_id_is_found_though_the_one_before_was_asked_for(tmp_path: Path) -> None:
    told = make(SegmentSummarized, session="s", segment="g1", first_turn="t1", last_turn="t1", cue="one")
    con = memory(tmp_path / "m.duckdb", [turn("t1", "s"), told], [turn("t2", "s"), told])
    index = opened(con, tmp_path / "m.recall")
    segment = KINDS.names.index("segment")
    found = []
    for stop in (0, 1):
        goes = Extent({0: (stop, b"")}, {table: rows + stop for table, rows in extent(con).rows.items()})
        index.catch_up(con, goes=goes)
        seen = index.space("acme")
        found.append([*seen.turns_of(["t1", "t2", "t1"]), *seen.held.find(segment, "g1", "g2")])
    assert found == [[0, -1, 0, 1, -1], [0, 2, 0, 3, -1]]


def test_of_what_comes_in_no_more_is_kept_by_id_than_of_what_was_asked_for(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(held_module, "KNOWN", 3)
    con = memory(tmp_path / "m.duckdb", *[[turn(f"t{n}", "s")] for n in range(12)])
    index = opened(con, tmp_path / "m.recall")
    for stop in (0, 11):
        goes = Extent({0: (stop, b"")}, {table: rows - 11 + stop for table, rows in extent(con).rows.items()})
        index.catch_up(con, goes=goes)
        held = index.space("acme").held
        assert len(held._found.get(TURN, ())) <= 4
        assert held.find(TURN, "t0") == [0]
    assert held.find(TURN, "t3", "t11", "t12") == [3, 11, -1]


def test_a_retracted_turn_takes_with_it_what_was_made_of_it_alone(tmp_path: Path) -> None:
    def segment(id: str, first: str, last: str) -> Any:
        return make(SegmentSummarized, session="s", segment=id, first_turn=first, last_turn=last)

    con = memory(
        tmp_path / "m.duckdb",
        [turn("t1", "s", "question")],
        [
            turn("t2", "s", "answer"),
            segment("both", "t1", "t2"),
            segment("second", "t2", "t2"),
            make(ArtifactMade, session="s", artifact="of-t2", turns=["t1", "t2"]),
            make(ArtifactMade, session="s", artifact="of-t1", turns=["t1"]),
            make(NoteOpened, session="s", note="inferred", turn="t2"),
            make(NoteOpened, session="s", note="taken", turn=""),
        ],
        [make(TurnRetracted, id="r1", session="s", turn="t2"), make(NoteClosed, session="s", note="taken")],
        [make(TurnRetracted, id="r2", session="s", turn="never said")],
        [make(TurnRetracted, id="r3", session="s", turn="t1")],
    )
    index = indexed(con, tmp_path / "m.recall")
    assert len(shown(index, "acme", 1)) == 8
    assert shown(index, "acme", 2) == [
        ("turn", "t1"), ("segment", "both"), ("conclusion", "of-t1"), ("note", "taken"),
    ]  # fmt: skip
    assert shown(index, "acme") == [("note", "taken")]
    assert index.space("acme", 2).turns(2) == ["t1"]


def test_empty_huge_and_foreign_texts_are_documents_like_others(tmp_path: Path) -> None:
    huge = "first " + "word " * 20_000 + "last"
    con = memory(
        tmp_path / "m.duckdb",
        [turn("", "s", "")],
        [turn("t2", "s", huge)],
        [turn("名", "会議", "料金 を 払う \x00 🎉", agent="Éva")],
        [turn("t4", "s", "nothing at all\nbut\ttwo lines", agent="", role="system")],
    )
    seen = indexed(con, tmp_path / "m.recall").space("acme")
    assert [seen.id(d) for d in range(4)] == ["", "t2", "名", "t4"]
    assert [seen.postings(term)[0].tolist() for term in ("first", "last", "🎉", "lines")] == [[1], [1], [2], [3]]
    assert seen.postings("word")[1].tolist() == [255]
    assert seen.called("éva") == [1]


def test_speakers_are_called_by_their_name_or_a_word_of_it(tmp_path: Path) -> None:
    con = memory(
        tmp_path / "m.duckdb",
        [turn("t1", "s", agent="Ann Lee")], [turn("t2", "s", agent="ann")], [turn("t3", "s", agent="Joann")],
    )  # fmt: skip
    index = indexed(con, tmp_path / "m.recall")
    assert index.space("acme").called("ann") == [0, 1]
    assert index.space("acme").called("ann lee") == [0]
    assert index.space("acme", 0).called("ann") == [0]
    assert index.space("acme").called("an") == []


# -- the same however it came about ------------------------------------------------------------------------------------


def long(count: int = 240) -> list[Any]:
    """Steps of two interleaved spaces with everything that bears on the index."""
    steps: list[Any] = []
    for n, said in enumerate(turns(count, 2, seed=3)):
        space, place = SPACES[n % 2], n // 2
        said.space, said.id = space, f"t{place}"
        step: list[Any] = [(said, 5)]
        if place % 9 == 8:
            step = [make(TurnRetracted, space=space, id=f"r{n}", session=said.session, turn=f"t{place - 3}")]
        if place % 4 == 3:
            first = f"t{place // 8 * 8}"
            step.append(
                make(SegmentSummarized, space=space, session=said.session, segment=f"g{place // 8}", first_turn=first,
                     last_turn=f"t{place}", cue=said.content[:80])
            )  # fmt: skip
        if place % 7 == 5:
            step.append(make(ArtifactMade, space=space, session=said.session, artifact=f"a{place}", title="it works",
                             turns=[f"t{place - 2}", f"t{place}"]))  # fmt: skip
        if place % 11 == 5:
            note = f"n{place % 33}"
            step.append(
                make(NoteOpened, space=space, session=said.session, note=note, content="call", turn=f"t{place}")
            )
        steps.append(step)
    return steps


@pytest.fixture(params=[(4096, 2048), (32, 16), (32, 1000)], ids=["by document", "directly", "through the tail"])
def stored(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way in which terms come to the postings."""
    monkeypatch.setattr(catch_up, "TAIL_FULL", request.param[0])
    monkeypatch.setattr(catch_up, "AT_ONCE", request.param[1])


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("page", [1, 7, 100_000])
def test_an_index_caught_up_in_pages_of_any_size_equals_one_made_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    con = memory(tmp_path / "m.duckdb", *long())
    whole = indexed(con, tmp_path / "whole.recall")
    monkeypatch.setattr(index_module, "PAGE", page)
    parts = indexed(con, tmp_path / "parts.recall")
    again = opened(con, tmp_path / "parts.recall")
    for space in SPACES:
        expected = told(whole, space)
        assert expected["seen"] > 120
        assert len(expected["postings"]) > 50
        assert told(parts, space) == expected
        assert told(again, space) == expected


@pytest.mark.usefixtures("stored")
def test_what_is_in_memory_keeps_up_with_what_comes_in(tmp_path: Path) -> None:
    steps = long(300)
    con = memory(tmp_path / "m.duckdb", *steps)
    full = indexed(con, tmp_path / "full.recall")
    terms = set(told(full, SPACES[0])["postings"])
    live = opened(con, tmp_path / "live.recall")
    for stop in (0, 5, 40, 41, 120, 299):
        goes = Extent({0: (stop, b"")}, {table: rows + stop for table, rows in extent(con).rows.items()})
        live.catch_up(con, goes=goes)
        for space in SPACES:
            assert told(live, space, terms=terms) == told(full, space, stop, terms)
    assert live.catch_up(con, goes=goes) == 0


@pytest.mark.usefixtures("stored")
def test_who_folds_on_asks_the_tables_that_grew_since_and_whoever_left_the_index_behind_all_of_them(
    home: Home, talk: Callable[[int], list[Outside]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[frozenset[str]] = []
    take = Records.take

    def counted(self: Records, index: Any, memory: Connection, tables: frozenset[str], places: Any) -> None:
        asked.append(tables)
        take(self, index, memory, tables, places)

    monkeypatch.setattr(Records, "take", counted)
    path = home.path / "kept.recall"
    for stop, event in enumerate(talk(66)):
        home.log.append([event])
        if stop in (60, 61, 62, 65):
            with home.live() as runtime, closing(opened(runtime.store.connection, path)) as index:
                index.catch_up(runtime.store.connection, goes=runtime.view().extent)
                found = told(index, event.space)
        elif stop == 64:
            with home.live():  # nobody asks, so that the index is behind when the next begins to count
                pass
    _, first, second, last = map(len, asked)
    assert 0 < first < last > second > 0
    with home.reading() as con, closing(indexed(con, home.path / "anew.recall")) as anew:
        assert told(anew, event.space) == found


@pytest.mark.usefixtures("stored")
def test_an_index_takes_up_what_another_writer_added_though_it_added_as_much_as_the_one_before(home: Home) -> None:
    home.log.append([TurnRecorded("s", "t0", 0, "c", "ann", "user", "The crane stands in Porto.")])
    with home.live() as runtime:
        index = indexed(runtime.store.connection, home.path / "kept.recall")
    for number in (1, 2, 3):
        home.log.append([TurnRecorded("s", f"t{number}", number, "c", "ann", "user", f"The crane {number} is green.")])
        with home.live() as runtime:
            index.catch_up(runtime.store.connection, goes=runtime.view().extent)
        assert f"t{number}" in told(index, "s")["ids"]
    index.close()


@pytest.mark.usefixtures("stored")
def test_what_is_taken_up_ahead_of_the_tables_is_what_they_will_tell_and_nobody_else_sees_it(
    home: Home, talk: Callable[[int], list[Outside]]
) -> None:
    events = talk(400)
    home.log.append(events[:50])
    path, groups = home.path / "ahead.recall", [group for p in PROCESSORS for group in p.read_model.groups]
    kept = {
        p.name: [Kept(keep.event, keep.key) for keep in p.read_model.keeps] for p in PROCESSORS if p.read_model.keeps
    }

    def of_all(index: Index) -> dict[str, Any]:
        found: dict[str, Any] = {space: told(index, space) for space in sorted({event.space for event in events})}
        # The data of records apart, whose numbers may be written in two ways.
        of_records = "space, name, key, thing, position, ordinal"
        for table, of in (("records", of_records), ("members", "*"), ("clocks", "*"), ("turns", "*")):
            found[table] = sorted(index.database.execute(f"SELECT {of} FROM {table}").fetchall())
        return found

    with home.live() as runtime:
        con = runtime.store.connection
        index = Index.open(path, con, KINDS, kept, groups, words, READING)
        index.catch_up(con, goes=runtime.view().extent)
        for start in range(50, 400, 50):
            for event in events[start : start + 50]:
                home.log.append([event])
                runtime.catch_up(ahead=True)
                goes, ahead = runtime.view()
                assert index.catch_up(con, goes=goes, folded=ahead) == 1
            with closing(sqlite3.connect(path)) as other:
                assert other.execute("SELECT position FROM marks").fetchall() == [(start - 1,)]
            seen = of_all(index)
            runtime.settle()
            if start % 100:
                index.catch_up(con, goes=runtime.view().extent)
            else:  # killed, it would have to take up the same from the tables
                index.close()
                index = Index.open(path, con, KINDS, kept, groups, words, READING)
                index.catch_up(con, goes=runtime.view().extent)
            assert of_all(index) == seen
        whole = Index.open(home.path / "whole.recall", con, KINDS, kept, groups, words, READING)
        whole.catch_up(con)
        assert of_all(whole) == of_all(index)
        assert all(len(seen[name]) > 10 for name in ("records", "members", "turns"))
        for name, of in kept.items():
            keys = [key for (key,) in whole.database.execute("SELECT DISTINCT key FROM records WHERE name = ?", [name])]
            for space in sorted({event.space for event in events}):
                assert whole.related(space, name, keys) == index.related(space, name, keys), of


def test_a_record_that_was_just_told_is_not_read_from_the_file(
    home: Home, talk: Callable[[int], list[Outside]]
) -> None:
    events = talk(120)
    home.log.append(events[:60])
    kept = {
        p.name: [Kept(keep.event, keep.key) for keep in p.read_model.keeps] for p in PROCESSORS if p.read_model.keeps
    }
    places = [(space, name) for space in sorted({event.space for event in events}) for name in kept]
    with home.live() as runtime:
        con = runtime.store.connection
        index = Index.open(home.path / "ahead.recall", con, KINDS, kept, [], words, READING)
        index.catch_up(con, goes=runtime.view().extent)
        for _ in range(FEW + 1):  # from then on it is known which keys have any
            for place in places:
                index.related(*place, [])
        for event in events[60:]:
            home.log.append([event])
            runtime.catch_up(ahead=True)
            goes, ahead = runtime.view()
            index.catch_up(con, goes=goes, folded=ahead)
        new = "SELECT DISTINCT key FROM records WHERE name = ? GROUP BY key HAVING min(position) >= 60"
        keys = {name: [key for (key,) in index.database.execute(new, [name])] for name in kept}
        read: list[str] = []
        index.database.set_trace_callback(read.append)
        found = {place: index.related(*place, keys[place[1]]) for place in places}
        index.database.set_trace_callback(None)
        assert not [sql for sql in read if "FROM records" in sql]
        runtime.settle()
        whole = Index.open(home.path / "whole.recall", con, KINDS, kept, [], words, READING)
        whole.catch_up(con)
        assert found == {place: whole.related(*place, keys[place[1]]) for place in places}
        assert sum(map(len, found.values())) > 10


def test_records_are_the_same_list_until_one_is_told_and_terms_are_read_at_once(tmp_path: Path) -> None:
    told = [make(SegmentSummarized, session="s", segment="g", first_turn="t0", last_turn="t0") for _ in range(3)]
    con = memory(tmp_path / "m.duckdb", *([turn(f"t{n}", "s", f"one{n} two three"), told[n]] for n in range(3)))
    index = opened(con, tmp_path / "m.recall", kept={"cut": [Kept(SegmentSummarized, ("segment",))]})
    index.catch_up(con)
    first = index.related("acme", "cut", ["g"])
    assert index.related("acme", "cut", ["g"])["g"] is first["g"]

    seen = index.space("acme")
    seen.postings("three")
    read: list[str] = []
    index.database.set_trace_callback(read.append)
    seen.read_postings(["one1", "two", "three", "never"])
    assert len([sql for sql in read if "FROM postings" in sql]) == 1
    assert [seen.postings(term)[0].tolist() for term in ("one1", "two", "three", "never")] == [
        [2], [0, 2, 4], [0, 2, 4], [],
    ]  # fmt: skip
    assert len([sql for sql in read if "FROM postings" in sql]) == 1


@pytest.mark.usefixtures("stored")
def test_as_of_a_position_equals_an_index_of_what_came_until_then(tmp_path: Path) -> None:
    steps = long(240)
    index = indexed(memory(tmp_path / "m.duckdb", *steps), tmp_path / "m.recall")
    for cut in (0, 1, 17, 100, 239, 150):
        con = memory(tmp_path / f"cut-{cut}.duckdb", *steps[: cut + 1])
        early = indexed(con, tmp_path / f"cut-{cut}.recall")
        for space in SPACES:
            assert told(index, space, cut) == told(early, space)
        con.close()


@pytest.mark.usefixtures("stored")
def test_no_number_of_a_space_depends_on_another_space(tmp_path: Path) -> None:
    steps = long()
    both = indexed(memory(tmp_path / "both.duckdb", *steps), tmp_path / "both.recall")
    for number, space in enumerate(SPACES):
        alone = [step if n % 2 == number else [] for n, step in enumerate(steps)]
        con = memory(tmp_path / f"{space}.duckdb", *alone)
        index = indexed(con, tmp_path / f"{space}.recall")
        assert told(index, space) == told(both, space)
        assert index.space(SPACES[1 - number]).seen == 0


def test_an_unknown_space_is_empty(tmp_path: Path) -> None:
    index = indexed(memory(tmp_path / "m.duckdb"), tmp_path / "m.recall")
    seen = index.space("nobody's")
    assert (seen.seen, seen.average, seen.sessions, seen.speakers) == (0, 1.0, 0, [])
    assert [part.tolist() for part in seen.postings("word")] == [[], []]
    assert index.records("nobody's", "physics", ["t1"]) == {}


def test_a_log_of_several_partitions_is_indexed_partition_by_partition(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "m.duckdb", PROCESSORS, meta(partitions=3))
    path = tmp_path / "m.recall"
    for page in range(3):
        rows = []
        for partition in range(3):
            for offset in range(page * 4, page * 4 + 4):
                said, _ = turn(f"t{offset}", "s", f"word{offset} of {partition}", space=f"space-{partition}")
                rows.append((partition, offset, turn_read(said)))
        marks = dict.fromkeys(range(3), page * 4 + 3)
        store.commit(Batch({TurnRecorded: raw_batch(TurnRecorded, rows)}, [], marks))
        index = opened(store.connection, path)
        assert index.behind(store.connection) == 12
        assert index.catch_up(store.connection) == 12
        index.close()
    index = opened(store.connection, path)
    for partition in range(3):
        seen = index.space(f"space-{partition}", 5)
        assert [seen.id(d) for d in range(seen.seen)] == [f"t{n}" for n in range(6)]
        assert seen.postings(str((partition + 1) % 3))[0].tolist() == []
        assert len(seen.postings(str(partition))[0]) == 6


def meta(**given: Any) -> dict[str, Any]:
    lineages = {"turns": "root"} | {p.name: p.name for p in PROCESSORS}
    return {"log_id": "log", "partitions": 1, "name": "m", "lineages": lineages, "params": {}} | given


def turn_read(said: TurnRecorded) -> Raw[TurnRecorded]:
    return Raw(said, NO_TEXT, said.at)


def test_live_folded_bit_by_bit_and_a_replay_have_the_same_index(
    home: Home, talk: Callable[[int], list[Outside]]
) -> None:
    events = talk(700)
    path = home.path / "live.recall"
    for start in range(0, 700, 50):
        home.log.append(events[start : start + 50])
        with home.live() as runtime:
            con = runtime.store.connection.cursor()
            with opened(con, path) as index:
                assert index.catch_up(con) == 50
    con = read_only(home.memory_path("live")).cursor()
    whole = indexed(con, home.path / "whole.recall")
    parts = opened(con, path)
    spaces = [space for (space,) in con.execute("SELECT DISTINCT space FROM turn_recorded").fetchall()]
    kinds: set[int] = set()
    for space in spaces:
        expected = told(whole, space)
        kinds |= set(expected["columns"]["kind"])
        assert told(parts, space) == expected
    assert kinds == {TURN, SEGMENT, CONCLUSION, NOTE, TASK}
    assert any(any(e >= 0 for e in told(whole, space)["ended"]) for space in spaces)


# -- what goes wrong ---------------------------------------------------------------------------------------------------

CATCHING = """
import sys
from pathlib import Path
from projections.recall import index
from projections.store import read_only
from tests.test_recall_index import opened
index.PAGE = 20
con = read_only(Path(sys.argv[1])).cursor()
found = opened(con, Path(sys.argv[2]))
print(found.behind(con), flush=True)
found.catch_up(con, lambda done, total: (print(done, flush=True), sys.stdin.readline()))
"""
"""Catches an index up; after each page it says how far it is, and goes on when it is told to."""


def test_an_index_whose_writer_is_killed_at_any_moment_goes_on_as_if_nothing_was(tmp_path: Path) -> None:
    memory(tmp_path / "m.duckdb", *long(800)).close()
    path = tmp_path / "m.recall"
    waits: list[int] = []
    for pages in (1, 4, 9):
        with Program(tmp_path / "m.duckdb", path, code=CATCHING, stdin=PIPE, stdout=PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            waits.append(int(process.stdout.readline()))
            for _ in range(pages):
                process.stdout.readline()
                process.stdin.write(b"go on\n")
                process.stdin.flush()
            process.send_signal(signal.SIGKILL)  # somewhere in the next page
    assert waits[0] == 800
    assert waits == sorted(waits, reverse=True)
    con = read_only(tmp_path / "m.duckdb").cursor()
    killed = opened(con, path)
    assert 0 < killed.behind(con) < waits[-1]
    killed.catch_up(con)
    whole = indexed(con, tmp_path / "whole.recall")
    assert [told(killed, space) for space in SPACES] == [told(whole, space) for space in SPACES]


def test_an_index_of_another_memory_reading_or_record_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "m.recall"
    con = memory(tmp_path / "m.duckdb", [turn("t1", "s", "one")])
    indexed(con, path).close()
    assert opened(con, path).behind(con) == 0
    assert opened(con, path, reading=2).behind(con) == 1
    store = Store.create(tmp_path / "other.duckdb", PROCESSORS, meta(lineages={"turns": "another"}))
    indexed(con, path).close()
    assert opened(store.connection, path).space("acme").seen == 0
    indexed(con, path).close()
    again = memory(tmp_path / "shorter.duckdb")
    assert opened(again, path).space("acme").seen == 0


@pytest.mark.parametrize("damage", ["text", "cut", "empty", "zeros", "table"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    con = memory(tmp_path / "m.duckdb", *long(300))
    path = tmp_path / "m.recall"
    whole = indexed(con, path)
    expected = [told(whole, space) for space in SPACES]
    whole.close()
    content = path.read_bytes()
    if damage == "table":
        with sqlite3.connect(path) as database:
            database.execute("DROP TABLE blocks")
        database.close()
    else:
        half = len(content) // 2
        path.write_bytes(
            {"text": b"this is no index" * 99, "cut": content[:half], "empty": b"",
             "zeros": content[:8192] + bytes(len(content) - 8192)}[damage]
        )  # fmt: skip
    answers = []
    for _ in range(2):  # damage that is met when it is asked is told, and mended when it is opened again
        index = opened(con, path)
        try:
            index.catch_up(con)
            answers = [told(index, space) for space in SPACES]
            break
        except MemoryFileError:
            continue
    assert answers == expected


def test_damage_met_while_asking_is_told_and_mended_when_the_index_is_caught_up(tmp_path: Path) -> None:
    con = memory(tmp_path / "m.duckdb", *long(200))
    index = indexed(con, tmp_path / "m.recall")
    expected = told(index, "acme")
    with sqlite3.connect(tmp_path / "m.recall") as other:
        other.execute("UPDATE blocks SET data = x'0001'")
    other.close()
    with pytest.raises(MemoryFileError, match="damaged") as caught:
        index.space("acme")
    assert "ask again" in caught.value.way_out
    assert index.catch_up(con) == 200
    assert told(index, "acme") == expected


def test_a_full_disk_is_told_with_a_way_out_and_what_was_committed_stays(tmp_path: Path) -> None:
    con = memory(tmp_path / "m.duckdb", *long(600))
    path = tmp_path / "m.recall"
    index = opened(con, path)
    index.database.execute("PRAGMA max_page_count = 12")
    with pytest.raises(MemoryFileError, match="full") as caught:
        index.catch_up(con)
    assert "make room" in caught.value.way_out
    assert index.space("acme").seen == 0
    index.database.execute("PRAGMA max_page_count = 100000")
    assert index.catch_up(con) == 600
    whole = indexed(con, tmp_path / "whole.recall")
    assert told(index, "acme") == told(whole, "acme")


def test_a_folder_that_cannot_be_written_is_told_with_a_way_out(tmp_path: Path) -> None:
    con = memory(tmp_path / "m.duckdb")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises((MemoryFileError, NotADirectoryError)):
        opened(con, tmp_path / "taken" / "m.recall")


def test_who_asks_sees_what_another_process_added(tmp_path: Path) -> None:
    path = tmp_path / "m.recall"
    con = memory(tmp_path / "m.duckdb", *long(200))
    reader, writer = opened(con, path), opened(con, path)
    assert reader.space("acme").seen == 0
    writer.catch_up(con)
    assert told(reader, "acme") == told(writer, "acme")
    assert reader.catch_up(con) == 0


def test_spaces_asked_long_ago_leave_memory_and_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    con = memory(tmp_path / "m.duckdb", *long())
    index = indexed(con, tmp_path / "m.recall")
    before = [told(index, space) for space in SPACES]
    monkeypatch.setattr(index_module, "MEMORY", 1)
    assert [told(index, space) for space in SPACES] == before
    assert len(index._spaces) == 1


def test_of_a_memory_that_ends_at_a_moment_what_falls_due_until_then_is_indexed(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "m.duckdb", PROCESSORS, meta(partial="until 2026-01-06"))
    said, _ = turn("t1", "s", "words")
    due = make(SegmentSummarized, session="s", segment="g1", first_turn="t1", last_turn="t1", closed=True)
    tables = {
        TurnRecorded: raw_batch(TurnRecorded, [(0, 0, turn_read(said))]),
        SegmentSummarized: derived_batch(SegmentSummarized, [(0, 8, 0, due)]),
    }
    store.commit(Batch(tables, [], {0: 5}))
    index = indexed(store.connection, tmp_path / "m.recall")
    assert shown(index, "acme") == [("turn", "t1"), ("segment", "g1")]
    index.close()
    assert opened(store.connection, tmp_path / "m.recall").behind(store.connection) == 0


# -- records -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def physics(tmp_path: Path) -> Iterator[Store]:
    """A memory with records at positions 0 to 5."""
    physics: Processor[Params] = Processor("physics", 1, Params, (), (Energy, Bond))
    lineages = {"turns": "root", "physics": "x"}
    store = Store.create(tmp_path / "m.duckdb", [*PROCESSORS, physics], meta(lineages=lineages))
    yield store
    store.close()


def add(store: Store, position: int, *events: Any) -> None:
    tables: dict[type, Any] = {}
    for cls in (Energy, Bond):
        rows = [(0, position, path, event) for path, event in enumerate(events) if type(event) is cls]
        if rows:
            tables[cls] = derived_batch(cls, rows)
    said, _ = turn(f"t{position}", "s", "words")
    tables[TurnRecorded] = raw_batch(TurnRecorded, [(0, position, turn_read(said))])
    store.commit(Batch(tables, [], {0: position}))


def test_the_last_record_of_a_turn_is_known_as_of_any_position(tmp_path: Path, physics: Store) -> None:
    con = physics.connection
    index = opened(con, tmp_path / "m.recall")
    first, second, third = (Energy("acme", "s", n, "t0", n / 4) for n in range(3))
    elsewhere = Energy("other", "s", 9, "t0", 9.0)
    add(physics, 0)
    index.catch_up(con)
    assert index.records("acme", "physics", ["t0"]) == {}
    add(physics, 1, first)
    add(physics, 2, elsewhere)
    add(physics, 3, second, third)
    index.catch_up(con)
    for found in (index, opened(con, tmp_path / "m.recall")):
        assert found.records("acme", "physics", ["t0", "t1"]) == {"t0": third}
        assert found.records("acme", "physics", ["t0"], until=0) == {}
        assert found.records("acme", "physics", ["t0"], until=2) == {"t0": first}
        assert found.records("acme", "physics", ["t0"], until=3) == {"t0": third}
        assert found.records("other", "physics", ["t0"]) == {"t0": elsewhere}
        assert found.records("acme", "chemistry", ["t0"]) == {}
    add(physics, 4, first)
    index.catch_up(con)
    assert index.records("acme", "physics", ["t0"]) == {"t0": first}


def test_records_are_the_same_however_often_they_were_asked_for_and_few_questions_read_no_keys_of_others(
    tmp_path: Path, physics: Store
) -> None:
    con = physics.connection
    records = {f"t{n}": Energy("acme", "s", n, f"t{n}", float(n)) for n in range(20)}
    for n, record in enumerate(records.values()):
        add(physics, n, record)
    index = indexed(con, tmp_path / "m.recall")
    read: list[str] = []
    index.database.set_trace_callback(read.append)
    kinds = ("t3", "nobody", "t7")
    wanted = {turn: records[turn] for turn in kinds if turn in records}
    for asked in range(FEW):
        assert index.records("acme", "physics", kinds) == wanted
        assert index.records("acme", "physics", kinds, until=5) == {"t3": records["t3"]}, asked
        if asked < FEW // 2 - 1:
            assert not [sql for sql in read if "DISTINCT key" in sql]
    assert len([sql for sql in read if "DISTINCT key" in sql]) == 1
    changed = Energy("acme", "s", 30, "nobody", 1.0)
    add(physics, 30, changed)
    index.catch_up(con)
    for found in (index, opened(con, tmp_path / "m.recall")):
        assert found.records("acme", "physics", kinds) == wanted | {"nobody": changed}
        assert found.records("acme", "physics", ["t3", "none"]) == {"t3": records["t3"]}
    add(physics, 31, replace(changed, value=2.0))
    found = opened(con, tmp_path / "m.recall")
    assert found.records("acme", "physics", kinds) == wanted | {"nobody": changed}
    found.catch_up(con)
    assert found.records("acme", "physics", kinds)["nobody"].value == 2.0


def test_records_that_were_read_follow_what_is_told_later_without_being_read_again(
    tmp_path: Path, physics: Store
) -> None:
    con = physics.connection
    bond, other = (Bond("acme", "s", 0, "t0", turn, 0.1) for turn in ("t1", "t2"))
    alone = Energy("acme", "s", 0, "t0", 1.0)
    add(physics, 0, bond, alone)
    index = indexed(con, tmp_path / "m.recall")
    assert index.related("acme", "physics", ["t0", "t1", "t2"]) == {"t0": [bond, alone], "t1": [bond]}
    stronger = replace(bond, value=0.5)
    add(physics, 1, stronger, replace(alone, value=2.0))
    add(physics, 2, other)
    index.catch_up(con)
    read: list[str] = []
    index.database.set_trace_callback(read.append)
    found = index.related("acme", "physics", ["t0", "t1", "t2"])
    assert not [sql for sql in read if "FROM records" in sql]
    index.database.set_trace_callback(None)
    assert found == {"t0": [stronger, replace(alone, value=2.0), other], "t1": [stronger], "t2": [other]}
    assert found == opened(con, tmp_path / "m.recall").related("acme", "physics", ["t0", "t1", "t2"])
    assert index.related("acme", "physics", ["t0", "t1"], until=0) == {"t0": [bond, alone], "t1": [bond]}


def test_a_record_of_two_turns_is_found_by_both(tmp_path: Path, physics: Store) -> None:
    con = physics.connection
    bond, stronger, other = (Bond("acme", "s", 0, "t0", t, v) for t, v in (("t1", 0.1), ("t1", 0.5), ("t2", 0.2)))
    alone = Energy("acme", "s", 0, "t0", 1.0)
    add(physics, 0, bond, alone)
    add(physics, 1, other)
    add(physics, 2, stronger)
    index = indexed(con, tmp_path / "m.recall")
    assert index.related("acme", "physics", ["t0", "t1", "t3"]) == {"t0": [alone, other, stronger], "t1": [stronger]}
    assert index.related("acme", "physics", ["t0"], until=1) == {"t0": [bond, alone, other]}


def test_what_belongs_to_a_group_is_known_as_of_any_position(tmp_path: Path, physics: Store) -> None:
    con = physics.connection
    index = opened(con, tmp_path / "m.recall")
    told = {1: ("t0", 2.0), 2: ("t1", 3.0), 3: ("t0", 0.5), 4: ("t2", 2.0), 5: ("t0", 5.0)}

    def hot(found: Index, until: int | None = None, most: int = 9) -> Members:
        return found.members("acme", "hot", "yes", most, until)

    for position in range(6):
        add(
            physics,
            position,
            *[Energy("acme", "s", 0, *told[position], told[position][1] > 1)] if position in told else [],
        )
        if position != 4:  # two at once
            index.catch_up(con)
            for most in (1, 2, 9, 1):
                assert hot(index, most=most) == hot(index, position, most), "what is kept is what the file has"

    for found in (index, opened(con, tmp_path / "m.recall"), indexed(con, tmp_path / "again.recall")):
        assert hot(found) == hot(found, 5) == Members(3, "t1", ["t0", "t2", "t1"])
        assert hot(found, most=1) == Members(3, "t1", ["t0"])
        assert hot(found, 4) == Members(2, "t1", ["t2", "t1"])
        assert hot(found, 2) == Members(2, "t0", ["t1", "t0"])
        assert hot(found, 0) == found.members("acme", "hot", "no", 9) == found.members("other", "hot", "yes", 9)
        found.close()


def test_what_leaves_a_group_is_left_out_without_reading_the_others_again(tmp_path: Path, physics: Store) -> None:
    con = physics.connection
    index = opened(con, tmp_path / "m.recall")
    add(physics, 0, *[Energy("acme", "s", 0, f"t{number}", 2.0, True) for number in range(60)])
    index.catch_up(con)
    assert index.members("acme", "hot", "yes", 20).size == 60
    read: list[str] = []

    def hot() -> Members:
        index.database.set_trace_callback(read.append)
        found = index.members("acme", "hot", "yes", 20)
        index.database.set_trace_callback(None)
        return found

    gone = ["t59", "t45", "t5", *(f"t{number}" for number in range(30, 58, 3) if number != 45)]
    for position, id in enumerate(gone, 1):
        add(physics, position, Energy("acme", "s", position, id, 0.5))
        index.catch_up(con)
        assert hot() == index.members("acme", "hot", "yes", 20, position)
    assert not [sql for sql in read if "FROM members" in sql]
    for position, id in enumerate(("t0", "t1", "t59"), 20):  # who was the first is not among those that are kept
        add(physics, position, Energy("acme", "s", position, id, 0.5 if id != "t59" else 2.0, id == "t59"))
        index.catch_up(con)
        assert hot() == index.members("acme", "hot", "yes", 20, position)
    for number in range(60):
        add(physics, 30 + number, Energy("acme", "s", 30, f"t{number}", 0.5))
        index.catch_up(con)
        assert hot() == index.members("acme", "hot", "yes", 20, 30 + number)
    assert hot() == Members(0, "", [])


HARMS = [
    "UPDATE marks SET position = position - 1",
    "UPDATE spaces SET flushed = flushed + 1",
    "UPDATE endings SET space = space + 8",
    "UPDATE endings SET position = position + 1",
    "UPDATE clocks SET at = at + 1",
    "UPDATE records SET key = 't9' WHERE key = 't0'",
    "UPDATE records SET position = position + 8 WHERE until > 9",
    f"UPDATE records SET until = {file.LATEST}",
    "UPDATE members SET thing = 't9'",
    f"UPDATE members SET until = {file.LATEST}",
]


@pytest.mark.parametrize("harm", HARMS)
def test_a_row_that_is_not_what_was_written_is_never_told(tmp_path: Path, physics: Store, harm: str) -> None:
    con, path = physics.connection, tmp_path / "m.recall"
    add(physics, 0, Energy("acme", "s", 0, "t0", 2.0, True), Energy("acme", "s", 0, "t1", 2.0, True))
    add(physics, 1, Energy("acme", "s", 0, "t0", 0.5))
    gone, end = make(TurnRetracted, id="r", session="s", turn="t0"), make(SessionEnded, session="s", id="e", at=9)
    facts = {type(fact): raw_batch(type(fact), [(0, 2, Raw(fact, NO_TEXT, 9))]) for fact in (gone, end)}
    physics.commit(Batch(facts, [], {0: 2}))

    def asked(index: Index) -> list[Any]:
        found: list[Any] = [(t, index.records("acme", "physics", [t]).get(t)) for t in ("t0", "t1")]
        found += [("hot", one) for one in index.members("acme", "hot", "yes", 9).newest]
        return [*found, shown(index, "acme"), index.newest(index.space("acme"))]

    indexed(con, path).close()
    right = asked(whole := opened(con, path))
    whole.close()
    with sqlite3.connect(path) as other:
        assert other.execute(harm).rowcount > 0
    other.close()
    index = indexed(con, path)
    assert asked(index) == right, "a file that is not what was closed is made anew"
    index.close()
    with sqlite3.connect(path) as other:
        other.execute(harm)
    other.close()
    Path(f"{path}.sum").unlink()  # as when it happens while the file is in use
    told_ = ""
    try:
        index = indexed(con, path)
        assert all(answer in right or answer[1] is None for answer in asked(index))
        index.close()
    except MemoryFileError as error:
        told_ = str(error)
    assert "damaged" in told_ or "key =" in harm or "marks" in harm  # lost; or made anew when it is opened


def test_how_far_a_space_goes_counts_facts_that_are_no_documents(tmp_path: Path) -> None:
    steps = [
        [turn("t0", "s", "one", at=5)],
        [make(SessionEnded, session="s", id="e", at=9)],
        [turn("t1", "s", "x", at=7)],
    ]
    con = memory(tmp_path / "m.duckdb", *steps)
    index = indexed(con, tmp_path / "m.recall")
    assert [index.newest(index.space("acme", until)) for until in (None, 0, 1, 2)] == [(2, 9), (0, 5), (1, 9), (2, 9)]
    assert index.newest(index.space("nowhere")) == (-1, 0)


def test_records_that_a_memory_does_not_have_are_none(tmp_path: Path) -> None:
    con = memory(tmp_path / "m.duckdb", [turn("t1", "s", "one")])
    index = indexed(con, tmp_path / "m.recall")
    assert index.records("acme", "physics", ["t1"]) == {}


def test_facts_that_are_no_documents_move_the_mark(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "m.duckdb", PROCESSORS, meta())
    fact = make(TurnRetracted, id="r", session="s", turn="t1")
    store.commit(Batch({TurnRetracted: raw_batch(TurnRetracted, [(0, 0, Raw(fact, NO_TEXT, 0))])}, [], {0: 0}))
    index = opened(store.connection, tmp_path / "m.recall")
    assert (index.catch_up(store.connection), index.catch_up(store.connection)) == (1, 0)
    assert index.space("acme").seen == 0


def test_a_closed_index_is_read_whole_only_where_it_was_written_since(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "x.recall"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE said (words)")
    read: list[Path] = []
    monkeypatch.setattr(file, "_sum_of", lambda path: read.append(path) or f"{crc32(path.read_bytes()):08x}")
    monkeypatch.setattr(file, "TICK", -1)
    file.close(sqlite3.connect(path), path)
    file.check_closed(path)
    assert read == [path], "it is summed when it is closed, and then as it was left"
    file.check_closed(path, whole=True)
    assert len(read) == 2
    copy = tmp_path / "copy.recall"
    for part in file.parts(path):
        if part.exists():
            shutil.copy(part, file.parts(copy)[file.parts(path).index(part)])
    file.check_closed(copy)
    assert len(read) == 3, "a copy is another file: it is read once, and known from then on"
    file.check_closed(copy)
    assert len(read) == 3
    copy.write_bytes(copy.read_bytes()[:-1] + b"!")
    with pytest.raises(file.DamagedError):
        file.check_closed(copy)
    monkeypatch.setattr(file, "TICK", 10**18)
    file.check_closed(path)
    assert len(read) == 5, "what may have been written within a tick of the clock is read"
