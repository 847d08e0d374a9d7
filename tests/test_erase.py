"""Erasure: what is erased is in no byte of a home, what stays is as if it had never been there, and a process that is
killed in between leaves one or the other. Few kills here; `make accidents` has 1,000, MNEMOLOG_ERASURES another number.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from processors import PROCESSORS
from projections.lock import locked
from projections.store import EVENT_TABLES, Connection, journal, read_only
from streams.core.errors import BusyError, LogError, UsageError
from streams.core.events import (
    ErasureRecorded,
    MemoryRecalled,
    NoteTaken,
    Outside,
    SummaryWritten,
    TurnRecorded,
    decode,
    encode,
)
from streams.gateways.doctor import examine
from streams.logs import copies, sqlite, switch
from streams.logs.archive import ArchiveLog, archive
from streams.logs.copies import note_copy, receipts
from streams.logs.log import Duplicate, Refused, Stored
from streams.logs.rescue import rescue
from streams.logs.sqlite import SqliteLog
from streams.runtime import erasure
from streams.runtime.erasure import making
from streams.runtime.erasure.audit import Audit
from streams.runtime.erasure.making import erasing
from streams.runtime.erasure.selection import Selection
from streams.runtime.home import Home
from streams.runtime.home.server import serve
from streams.runtime.replay import replay

Talk = Callable[[int], list[Outside]]

MANY = bool(os.environ.get("MNEMOLOG_ACCIDENTS"))
KILLS = int(os.environ.get("MNEMOLOG_ERASURES") or (1000 if MANY else 6))
SEED = int(os.environ.get("MNEMOLOG_SEED", "1"))
EVENTS = 90
NAMING = ("id", "turn", "older", "first_turn", "last_turn", "reply_to")


def marked(events: list[Outside], rng: random.Random) -> list[Outside]:
    """The events with ids, and words in turns, that are nowhere else; with quotes, questions and summaries."""
    ids = {event.id: f"id{rng.randbytes(6).hex()}" for event in events}
    found: list[Outside] = []
    for event in events:
        names = [name for name in NAMING if getattr(event, name, "")]
        event = replace(event, **{name: ids.get(getattr(event, name), "x") for name in names})
        if "turns" in {field.name for field in fields(event)}:
            event = replace(event, turns=[ids.get(turn, "x") for turn in event.turns])  # type: ignore[union-attr]
        if isinstance(event, TurnRecorded):
            event = replace(event, content=f"{event.content} {mark(event.id)}", agent=f"agent{rng.randrange(5)}")
        found.append(event)
        said = [one for one in found if isinstance(one, TurnRecorded) and one.session == getattr(event, "session", "")]
        if said and rng.random() < 0.2:
            found.append(_about(said, event, rng))
    return found


def _about(said: list[TurnRecorded], last: Outside, rng: random.Random) -> Outside:
    space, at, id_ = last.space, last.at, f"id{rng.randbytes(6).hex()}"
    one = rng.choice(said)
    match rng.randrange(4):
        case 0:
            return MemoryRecalled(space, id_, at, one.content, [rng.choice(said).id])
        case 1:
            text = "; ".join(turn.content for turn in said[-3:])
            return SummaryWritten(space, id_, at, one.session, said[-3:][0].id, said[-1].id, text)
        case 2:
            return NoteTaken(space, id_, at, id_, f"Look at the rest of what was said of {one.content}")
        case _:
            content = f"You said: {one.content} {mark(id_)}"
            return TurnRecorded(space, id_, at, one.session, "agent9", "user", content, reply_to=one.id)


def mark(id_: str) -> str:
    """Words that one turn alone says."""
    return " ".join(f"q{id_[n:]}{id_[:n]}" for n in range(2, 6))


def expected(events: list[Outside], gone: set[str]) -> set[str]:
    """What is erased with others: facts that name one, and what programs wrote with words of one."""
    said = {run for event in events if event.id in gone for text in words(event) for run in runs(text)}
    return gone | {
        event.id
        for event in events
        if not isinstance(event, (TurnRecorded, NoteTaken))
        and (
            any(f'"{id_}"'.encode() in encode(event) for id_ in gone)
            or (
                isinstance(event, (MemoryRecalled, SummaryWritten))
                and any(run in text for text in words(event) for run in said)
            )
        )
    }


def words(event: Outside) -> list[str]:
    """The words of each text that an event says, one blank around each."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            found.append(f" {' '.join(re.findall(WORD, value.lower()))} ")
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    for name in ("content", "parts", "cue", "text", "note", "topic", "conclusion"):
        walk(getattr(event, name, ""))
    return found


WORD = "[\u3040-\u30ff\u3400-\u9fff]|[^\\W_\u3040-\u30ff\u3400-\u9fff]+"


def runs(text: str) -> set[str]:
    """All runs of six words; of a text of three to five, all of it."""
    one = text.split()
    length = min(6, len(one))
    return {f" {' '.join(one[n : n + length])} " for n in range(len(one) - length + 1)} if length > 2 else set()


def selections(events: list[Outside], rng: random.Random) -> tuple[Selection, set[str]]:
    """Something to erase, and the ids of the events that it selects."""
    turns = [event for event in events if isinstance(event, TurnRecorded)]
    one = rng.choice(turns)
    match rng.randrange(4):
        case 0:
            some = rng.sample(turns, rng.randint(1, 3))
            return Selection(turns=tuple(turn.id for turn in some)), {turn.id for turn in some}
        case 1:
            return Selection(agent=one.agent), {turn.id for turn in turns if turn.agent == one.agent}
        case 2:
            ids = {e.id for e in events if one.session in (getattr(e, "session", ""), getattr(e, "older", ""))}
            return Selection(session=one.session), ids
        case _:
            word = mark(one.id)
            ids = {event.id for event in events if word.encode() in encode(event)}
            return Selection(matching=f"content LIKE '%{word}%'"), ids


@contextmanager
def read_beside(path: Path) -> Iterator[Connection]:
    """A memory; where another process has it open, a copy of its file, and of what is not in that yet."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            memory = read_only(path)
        except BusyError:
            copy = Path(folder) / path.name
            for one in (path, journal(path)):
                if one.exists():
                    shutil.copyfile(one, copy.with_name(one.name))
            memory = read_only(copy)
        with closing(memory):
            yield memory


def strings(folder: Path) -> Iterator[tuple[str, bytes]]:
    """All that any file under a folder says, by its bytes and, where these are packed, as who packed them reads it."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()
        is_half_made = path.parent.name.startswith(".replay-")  # by a process that was killed meanwhile
        if path.suffix == ".duckdb" and not is_half_made:
            with read_beside(path) as memory:
                for (table,) in memory.execute(EVENT_TABLES).fetchall():
                    yield f"{path} {table}", repr(memory.execute(f'SELECT * FROM "{table}"').fetchall()).encode()
        if path.name == "archive.json":
            for record in ArchiveLog(path.parent).read(0, 0):
                yield str(path), record.value


def found_in(folder: Path, needles: set[str]) -> list[tuple[str, set[bytes]]]:
    """Where ids or marked words stand."""
    wanted = {needle.encode() for needle in needles}
    return [(where, left) for where, said in strings(folder) if (left := wanted.intersection(MARKS.findall(said)))]


MARKS = re.compile(rb"id[0-9a-f]{12}|q[0-9a-f]{8,12}id[0-9a-f]{0,5}")


def ids_in(home: Home) -> set[str]:
    return {decode(r.type, r.value).id for r in home.log.read(0, 0) if r.type != "erasure-recorded.v1"}


class Place:
    """A home that was folded, with all that lies about, as a template; and a fold of what must be left of it."""

    def __init__(self, folder: Path, events: list[Outside]) -> None:
        self.folder, self.events = folder, events
        home = Home(folder / "template" / "home", PROCESSORS)
        assert all(isinstance(one, Stored) for one in home.log.append(events))
        home.ask("recall", space=events[0].space, query="checkout", k=3)
        replay(home, "other", reuse=False, processes=1)
        home.ask("recall", "other", space=events[0].space, query="checkout", k=3)
        for name in ("cache/text-0-x", "hooks"):
            (home.path / name).mkdir(parents=True)
        for left in ("live.duckdb.damaged", ".live.fresh", "hook.log", "hooks/a.json", "cache/text-0-x/0.parquet"):
            (home.path / left).write_bytes(b"\n".join(map(encode, events)))
        self.digest = home.ask("digest")
        home.log.close()
        words = {word for event in events if isinstance(event, TurnRecorded) for word in mark(event.id).split()}
        for needles in (words, {event.id for event in events}):
            places = found_in(home.path, needles)
            assert any(left == {needle.encode() for needle in needles} for _, left in places), "they would be found"

    def copied(self, whole: bool = True) -> Home:
        """A fresh copy of the home, with a backup and an archive that it knows of; `whole`, with a replay's memory."""
        shutil.rmtree(self.folder / "place", ignore_errors=True)
        shutil.copytree(self.folder / "template", self.folder / "place")
        home = Home(self.folder / "place" / "home", PROCESSORS)
        if not whole:
            home.forget("other")
        for copy, write in (("backup", home.log.backup), ("archive", lambda path: archive(home.log, path))):
            note_copy(home.log, self.folder / "place" / copy)
            write(self.folder / "place" / copy)  # type: ignore[operator]
        return home

    def is_erased(self, home: Home, gone: set[str], receipts_: int = 1) -> None:
        """Whether nothing is left of what went, and all else is as if that had never been there."""
        kept = [event for event in self.events if event.id not in gone]
        assert ids_in(home) == {event.id for event in kept}
        quoting = b"\n".join(encode(event) for event in kept)
        needles = {word for id_ in gone for word in mark(id_).split() if word.encode() not in quoting}
        needles |= {id_ for id_ in gone if f'"{id_}"'.encode() not in quoting.replace(b'"reply_to":"', b"")}
        other = Home(self.folder / "never", PROCESSORS)
        events = [(decode(r.type, r.value), r.recorded_at) for r in home.log.read(0, 0)]
        assert all(isinstance(one, Stored) for one in other.log.append_recorded(events))
        assert other.log.end(0) == len(kept) + receipts_
        assert home.ask("digest") == other.ask("digest")
        assert {
            event.id: replace(event, reply_to="") if isinstance(event, TurnRecorded) else event for event in kept
        } == {
            event.id: replace(event, reply_to="") if isinstance(event, TurnRecorded) else event
            for event, _ in events
            if not isinstance(event, ErasureRecorded)
        }
        other.log.close()
        shutil.rmtree(self.folder / "never")
        left = found_in(self.folder / "place", needles)
        assert not left, left[:3]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, talk: Talk) -> Place:
    return Place(tmp_path_factory.mktemp("erase"), marked(talk(EVENTS), random.Random(SEED)))


def erase(home: Home, selection: Selection) -> list[str]:
    with erasing(home) as erase_from:
        return erase_from(selection).carry_out()


# -- what goes and what stays ------------------------------------------------------------------------------------------


def test_what_is_erased_is_in_no_byte_and_the_rest_is_as_if_it_had_never_been(place: Place) -> None:
    rng = random.Random(f"{SEED} whole")
    for _ in range(4):
        home = place.copied()
        selection, chosen = selections(place.events, rng)
        assert erase(home, selection) == []
        place.is_erased(home, expected(place.events, chosen))
        assert home.ask("digest", "other") == home.ask("digest"), "a replay's memory is folded anew"
        checks = [*Audit(home).checks()]
        assert [check for check in checks if check.status == "failed"] == []
        home.log.close()


def test_a_second_erasure_keeps_what_is_known_of_the_first_and_its_receipt(place: Place) -> None:
    home = place.copied()
    turns = [event for event in place.events if isinstance(event, TurnRecorded)]
    first, second = turns[3], turns[11]
    for turn in (first, second):
        erase(home, Selection(turns=(turn.id,)))
    place.is_erased(home, expected(place.events, {first.id, second.id}), receipts_=2)
    assert [receipt.turns for _, receipt in receipts(home.log)] == [1, 1]
    assert {check.status for check in Audit(home).checks()} <= {"well", "look"}
    for turn in (first, second):
        (outcome,) = home.log.append([turn])
        assert getattr(outcome, "erased", False), "what is fed again does not come back"
    for turn in turns:
        if turn.reply_to in (first.id, second.id):
            assert isinstance(home.log.append([turn])[0], Duplicate), "who answered it is known again"
    home.log.close()


def test_an_audit_says_what_was_read_what_was_found_and_what_it_comes_to(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from streams.gateways.parser import app

    def mnemolog(*words: str, **how: Any) -> Any:
        return CliRunner().invoke(app, [*words, "--home", str(tmp_path / "h")], **how)

    said = "The blue house stands at 14 Harbour Street in Leeds, next to the old bakery."
    line = json.dumps({"id": "t1", "session": "s", "role": "user", "content": said})
    assert mnemolog("feed", "-", input=line).exit_code == 0
    assert "nothing was ever erased" in mnemolog("audit").output
    assert mnemolog("erase", "--turn", "t1", "--yes").exit_code == 0
    told = " ".join(mnemolog("audit").output.split())
    for sentence in (
        "1 erasure, the last of 20", "1 turn and 0 facts erased; ids and hashes of the logs agree",
        "1 event of the log read: none was erased", "no words of what was erased",
        "gone: nothing of what was erased was found", "looked for by keyed hashes", "not reached: files that were fed",
    ):  # fmt: skip
        assert sentence in told
    (tmp_path / "h" / "notes.txt").write_text(said)
    found = mnemolog("audit")
    assert (found.exit_code, "words of what was erased are in notes.txt" in " ".join(found.output.split())) == (1, True)
    assert "not all is gone" in found.output


def test_an_audit_finds_what_was_put_back(place: Place) -> None:
    home = place.copied()
    said = b"".join(map(encode, place.events))
    turns = [event for event in place.events if isinstance(event, TurnRecorded) and len(event.content) > 60]
    turn = next(turn for turn in turns if said.count(mark(turn.id).encode()) == 1)
    kept = (home.path / "live.duckdb").read_bytes()
    erase(home, Selection(turns=(turn.id,)))

    def failed() -> set[str]:
        return {check.check for check in Audit(home).checks() if check.status == "failed"}

    assert failed() == set()
    (home.path / "old.txt").write_text(f"somebody kept: {turn.content}")
    assert failed() == {"files"}
    (home.path / "old.txt").unlink()
    (home.path / "older.duckdb").write_bytes(kept)
    assert "memory older" in failed()
    (home.path / "older.duckdb").unlink()
    with closing(sqlite3.connect(home.log.path)) as log:  # type: ignore[union-attr]
        log.execute("DELETE FROM erased")
        log.commit()
    assert failed() == {"receipts"}
    home.log.close()


def test_what_two_values_say_together_that_lie_side_by_side_is_not_held_against_a_file(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    barn = "We went to look at the old barn near the ferry, and all of it is dry."
    hay = "So the hay goes there by the end of August, ask Jonas for the key."
    home.log.append(
        [TurnRecorded("s0", str(n), 10**15 + n, "s", "ann", "user", said) for n, said in enumerate((barn, hay))]
        + [TurnRecorded("s0", "2", 10**15 + 2, "s", "bob", "user", "all of it is dry. So the hay is late")]
    )
    with home.live():
        pass
    with erasing(home) as erase_from:
        erasure = erase_from(Selection(turns=("2",)))
        erasure.carry_out()
    with home.live() as live:
        live.store.checkpoint()
    assert f"{barn}{hay}".encode() in (home.path / "live.duckdb").read_bytes(), "as a file lays them out"
    assert {check.status for check in Audit(home, erasure.found.runs).checks()} == {"well"}
    home.log.close()


def test_turns_that_quote_are_listed_and_stay(place: Place) -> None:
    home = place.copied()
    quoting = next(e for e in place.events if isinstance(e, TurnRecorded) and e.content.startswith("You said"))
    with erasing(home) as erase_from:
        found = erase_from(Selection(turns=(quoting.reply_to,))).found
    assert quoting.id in {quote.id for quote in found.quotes}
    (quote,) = [quote for quote in found.quotes if quote.id == quoting.id]
    assert mark(quoting.reply_to) in quote.quoted
    assert home.ask("digest") == place.digest, "nothing was erased"
    assert not (home.path / ".erase").exists()
    home.log.close()


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({}, "one thing"),
        ({"turns": ("a",), "agent": "b"}, "one thing"),
        ({"turns": ("nobody-said-this",)}, "nothing is selected"),
        ({"matching": "content ="}, "cannot be answered"),
        ({"matching": "1=1) UNION SELECT * FROM read_text('/etc/passwd'"}, "cannot be answered"),
    ],
)
def test_a_selection_that_makes_no_sense_is_refused_in_words(
    place: Place, selection: dict[str, Any], said: str
) -> None:
    home = place.copied()
    with pytest.raises(UsageError, match=said):
        erase(home, Selection(**selection))
    assert home.ask("digest") == place.digest
    home.log.close()


def late(number: int) -> TurnRecorded:
    return TurnRecorded("s1", f"late{number}", -1, "late", "a", "user", f"said while it was erased, {number}")


def test_an_erasure_whose_new_log_somebody_else_looks_into_changes_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite leaves the journal of such a log where it is, and says nothing of it: the last turns are in it alone."""
    home = place.copied(whole=False)
    monkeypatch.setattr(sqlite, "OTHERS", 0.0)
    take_place, opened = erasure.take_place, []

    def meanwhile(home_: Home) -> None:
        home.log.append([late(number) for number in range(50)])
        opened.append(sqlite3.connect(home.path / ".erase" / "log.sqlite", isolation_level=None))
        opened[0].execute("BEGIN")
        opened[0].execute("SELECT count(*) FROM log").fetchone()
        take_place(home_)

    monkeypatch.setattr(erasure, "take_place", meanwhile)
    turn = next(event for event in place.events if isinstance(event, TurnRecorded))
    with pytest.raises(LogError, match="another program has"):
        erase(home, Selection(turns=(turn.id,)))
    opened[0].close()
    wanted = {event.id for event in place.events} | {f"late{number}" for number in range(50)}
    assert ids_in(home) == wanted
    assert not [*home.path.glob(".erase"), *home.path.glob("erase.order")]
    monkeypatch.setattr(erasure, "take_place", take_place)
    erase(home, Selection(turns=(turn.id,)))
    assert ids_in(home) == wanted - expected(place.events, {turn.id})
    home.log.close()


def test_a_journal_that_the_new_log_still_has_goes_with_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where there was no room when it was closed, of which SQLite says nothing either."""
    home = place.copied(whole=False)
    take_place, close = erasure.take_place, SqliteLog.close

    def unclosed(log: SqliteLog) -> None:
        if log.path.parent.name != ".erase":
            close(log)
            return
        journal = log.path.with_name("log.sqlite-wal")
        file, ahead = log.path.read_bytes(), journal.read_bytes()
        close(log)
        log.path.write_bytes(file)
        journal.write_bytes(ahead)

    def meanwhile(home_: Home) -> None:
        home.log.append([late(number) for number in range(50)])
        monkeypatch.setattr(SqliteLog, "close", unclosed)
        take_place(home_)

    monkeypatch.setattr(erasure, "take_place", meanwhile)
    turn = next(event for event in place.events if isinstance(event, TurnRecorded))
    erase(home, Selection(turns=(turn.id,)))
    wanted = {event.id for event in place.events} | {f"late{number}" for number in range(50)}
    assert ids_in(home) == wanted - expected(place.events, {turn.id})
    home.log.close()


def test_the_order_to_switch_is_not_written_while_the_new_log_has_a_journal(tmp_path: Path) -> None:
    (tmp_path / ".erase").mkdir()
    (tmp_path / ".erase" / "log.sqlite-wal").write_bytes(b"the last turns")
    with pytest.raises(LogError, match="holds some of the new log"):
        switch.order(tmp_path / "log.sqlite", [], [])
    assert not (tmp_path / "erase.order").exists()


def ordered(home: Home, turn: TurnRecorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has an erasure be killed when its moment had come."""
    with monkeypatch.context() as killed:
        killed.setattr(switch, "carry_out", lambda log: None)
        killed.setattr(making, "renew", lambda log: sys.exit())
        killed.setattr(home.log, "discard", lambda folder: None)
        with suppress(SystemExit):
            erase(home, Selection(turns=(turn.id,)))
        home.log.close()


def test_only_the_log_that_an_order_is_of_carries_it_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home = place.copied(whole=False)
    turn = next(event for event in place.events if isinstance(event, TurnRecorded))
    ordered(home, turn, monkeypatch)
    assert {".erase", "erase.order"} <= {path.name for path in home.path.iterdir()}
    assert "its moment had come" in next(check.found for check in examine(home.path) if check.name == "erasure")
    SqliteLog(home.path / "other.sqlite").close()
    for left in home.path.glob("other.sqlite*"):
        left.unlink()
    home = Home(home.path, PROCESSORS)
    place.is_erased(home, expected(place.events, {turn.id}))
    assert not [check for check in examine(home.path) if check.name == "erasure"]
    home.log.close()


@pytest.mark.parametrize("where", [".", "home"])
def test_a_rescue_copies_nothing_of_what_an_order_is_to_erase(
    place: Place, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    home = place.copied(whole=False)
    turn = next(event for event in place.events if isinstance(event, TurnRecorded))
    ordered(home, turn, monkeypatch)
    copy = home.path.parent / where / "rescued.sqlite"
    rescue(home.path / "log.sqlite", copy)
    with closing(SqliteLog(copy)) as log:
        assert turn.id not in {decode(r.type, r.value).id for r in log.read(0, 0)}
    copy.unlink()
    assert not found_in(home.path, {turn.id})
    home = Home(home.path, PROCESSORS)
    place.is_erased(home, expected(place.events, {turn.id}))
    home.log.close()


def test_doctor_tells_what_an_erasure_left_that_erased_nothing(place: Place) -> None:
    home = place.copied(whole=False)
    home.log.close()
    (home.path / ".erase").mkdir()
    (check,) = [check for check in examine(home.path) if check.name == "erasure"]
    assert (check.status, "erased nothing" in check.found) == ("look", True)
    with locked(home.path / ".erase.lock", 0.0, AssertionError):
        assert not [check for check in examine(home.path) if check.name == "erasure"], "one is under way"


def test_no_copy_that_is_there_is_forgotten_and_it_is_told_how_many_of_those_gone_are(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(copies, "MOST", 6)
    home = place.copied(whole=False)
    there = [tmp_path / f"{number}.sqlite" for number in range(5)]
    for copy in there:
        note_copy(home.log, copy)
        home.log.backup(copy)  # type: ignore[attr-defined]
    known = [home.path.parent / "backup", home.path.parent / "archive", *there]
    assert copies.copies(home.log) == known, "more than are to be known, and all are there"
    for number in range(4):
        note_copy(home.log, tmp_path / f"moved{number}.sqlite")
    assert copies.copies(home.log) == [*known, tmp_path / "moved3.sqlite"]
    turn = next(event for event in place.events if isinstance(event, TurnRecorded))
    told = [line for line in erase(home, Selection(turns=(turn.id,))) if "older copies" in line]
    assert len(told) == 1
    assert told[0].startswith("of 3 older copies")
    assert told[0] in [check.found for check in Audit(home).checks() if check.check == "copy"]
    assert {copies.id_of(copy) for copy in known} == {home.log.id}, "each was written anew"
    home.log.close()


def test_who_reads_the_log_while_an_erasure_makes_a_new_one_is_told_that(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PAGE", 10)
    home = place.copied(whole=False)
    log = SqliteLog(home.path / "log.sqlite")
    reading = log.read(0, 0)
    next(reading)
    turn = next(event for event in place.events if isinstance(event, TurnRecorded))
    erase(home, Selection(turns=(turn.id,)))
    log.end(0)  # as another thread asks, which goes on with the new log
    with pytest.raises(LogError, match="an erasure made a new log meanwhile") as told:
        list(reading)
    assert "rescue" not in told.value.way_out
    assert turn.id not in {decode(record.type, record.value).id for record in log.read(0, 0)}
    log.close()
    home.log.close()


# -- accidents ---------------------------------------------------------------------------------------------------------

STEPS = {"open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "shutil.rmtree", "fcntl.flock", "sqlite3.connect"}
"""What Python tells of before it is done: where a process is killed, or after some time."""
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.test_erase"])


def killed_at(step: int) -> list[int]:
    """Has this process be killed at a step from here on, never where it is 0; counts the steps."""
    seen = [0]

    def hook(event: str, _: object) -> None:
        if event in STEPS:
            seen[0] += 1
            if seen[0] == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return seen


def erase_until(path: Path, selection: Selection, step: int, seconds: float) -> None:
    """Erases, and is killed at a step, or after some seconds."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    home = Home(path, PROCESSORS)
    home.log.end(0)
    if seconds:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    seen = killed_at(step)
    erase(home, selection)
    signal.setitimer(signal.ITIMER_REAL, 0)
    (path.parent / "steps").write_text(str(seen[0]))


def serving(path: Path) -> None:
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    serve(Home(path, PROCESSORS), lambda: bool(stopped))


def run(target: Callable[..., None], *given: object) -> multiprocessing.process.BaseProcess:
    process = PROCESSES.Process(target=_within, args=(dict(os.environ), target, *given), daemon=True)
    process.start()
    return process


def _within(environ: dict[str, str], target: Callable[..., None], *given: object) -> None:
    """Why: who makes processes has the environment of the test that had the first one made."""
    os.environ.clear()
    os.environ.update(environ)
    target(*given)


def test_a_process_that_is_killed_leaves_what_was_or_what_is_to_be(place: Place) -> None:
    rng = random.Random(SEED)
    seen: Counter[str] = Counter()
    steps, seconds = 400, 1.0
    for number in range(KILLS):
        home = place.copied(whole := number % 5 == 0)
        home.log.close()
        selection, chosen = selections(place.events, rng)
        step = rng.randint(1, steps) if number % 2 else 0
        began = time.monotonic()
        process = run(erase_until, home.path, selection, step, 0.0 if step else rng.uniform(0.05, 1.1 * seconds))
        process.join(120)
        assert process.exitcode in (0, -signal.SIGKILL), (number, process.exitcode)
        if not process.exitcode:
            steps = int((home.path.parent / "steps").read_text())
            seconds = time.monotonic() - began
        home = Home(home.path, PROCESSORS)
        gone = expected(place.events, chosen)
        digest = home.ask("digest")
        assert not [*home.path.glob(".erase"), *home.path.glob("erase.order")], number
        if receipts(home.log):
            seen["killed after the switch" if process.exitcode else "not killed"] += 1
        else:
            seen["killed before the switch"] += 1
            assert digest == place.digest, number
            assert ids_in(home) == {event.id for event in place.events}, number
            assert ("other" in home.memories()) == whole
            if number % 10 == 0 or not MANY:  # else the same as whole erasures are
                erase(home, selection)
        if receipts(home.log):
            place.is_erased(home, gone)
            if whole or not MANY:
                assert not [c for c in Audit(home).checks() if c.status == "failed"], number
        home.log.close()
        if number % 50 == 49:
            print(f"{number + 1} erasures: {dict(seen)}", flush=True)


def feeding(path: Path, told: Path, life: str) -> None:
    """Feeds one turn after the other, and tells of each that is durable."""
    with told.open("a") as out:
        home = Home(path, PROCESSORS)
        for number in range(100_000):
            turn = TurnRecorded("s0", f"{life}-{number}", -1, "fed", "feeder", "user", f"turn {number} of {life}")
            if isinstance(home.log.append([turn])[0], Stored):
                out.write(f"{turn.id}\n")
                out.flush()
            time.sleep(0.005)  # people talk slower than a log takes turns


def test_turns_are_taken_while_it_erases_and_none_is_lost(place: Place) -> None:
    rng = random.Random(f"{SEED} fed")
    for number in range(max(2, KILLS // 20)):
        home = place.copied()
        selection, chosen = selections(place.events, rng)
        told = home.path.parent / "told"
        server = run(serving, home.path)
        feeder = run(feeding, home.path, told, f"life{number}")
        while not (told.exists() and told.read_text()):
            assert feeder.is_alive()
        eraser = run(erase_until, home.path, selection, 0, 0.0)
        if number % 2:
            time.sleep(rng.uniform(0, 1.5))
            (server if number % 4 == 1 else eraser).kill()
        eraser.join(120)
        counted = len(told.read_text().splitlines())
        while len(told.read_text().splitlines()) < counted + 3:
            assert feeder.is_alive()
        feeder.kill()
        feeder.join()
        (os.kill if server.is_alive() else lambda *_: None)(server.pid or 0, signal.SIGTERM)
        server.join(120)
        acknowledged = {line for line in told.read_text().split("\n")[:-1] if line}
        home = Home(home.path, PROCESSORS)
        with suppress(BusyError):
            home.ask("spaces")
        ids = ids_in(home)
        assert acknowledged <= ids, number
        gone = expected(place.events, chosen) if receipts(home.log) else set()
        assert {id_ for id_ in ids if id_.startswith("id")} == {e.id for e in place.events if e.id not in gone}
        replay(home, "verify", replace=True, reuse=False, processes=1)
        assert home.ask("digest") == home.ask("digest", "verify"), number
        home.log.close()


def test_the_command_shows_asks_erases_and_gives_a_receipt(place: Place) -> None:
    from typer.testing import CliRunner

    from streams.gateways.parser import app

    home = place.copied()
    home.log.close()
    turn = next(event for event in place.events if isinstance(event, TurnRecorded) and event.content.startswith("You"))

    def mnemolog(*words: str) -> Any:
        return CliRunner().invoke(app, [*words, "--home", str(home.path), "--json"])

    shown = mnemolog("erase", "--turn", turn.reply_to, "--dry-run")
    assert turn.id in shown.stdout
    going = json.loads(shown.stdout.splitlines()[-1])["going"]
    [gone] = [one for one in going if one["id"] == turn.reply_to]
    whole = next(event for event in place.events if event.id == turn.reply_to)
    assert isinstance(whole, TurnRecorded)
    assert (gone["session"], gone["type"]) == (whole.session, "turn-recorded")
    assert gone["text"]
    assert " ".join(whole.content.split()).startswith(gone["text"])
    people = CliRunner().invoke(app, ["erase", "--space", turn.space, "--dry-run", "--home", str(home.path)]).stdout
    assert all(event.id in people for event in place.events[:5] if event.space == turn.space)
    assert re.search(r"\.\.\. and [\d,]+ more \(--json lists all\)", people)
    assert mnemolog("erase", "--turn", turn.reply_to).exit_code == 1
    done = mnemolog("erase", "--turn", turn.reply_to, "--yes")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout.splitlines()[-1])["receipt"]["turns"] == 1
    assert mnemolog("audit").exit_code == 0
    assert not isinstance(SqliteLog(home.path / "log.sqlite").append([turn])[0], Refused)
