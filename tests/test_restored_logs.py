"""A log that was restored, or changed by accident: whoever derived something from another log notices, and so does
whoever reads it."""

from __future__ import annotations

import shutil
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from processors import PROCESSORS
from streams.core.errors import ForeignError, LogError, MnemologError
from streams.core.events import Outside, TurnRecorded
from streams.gateways.command import known_place
from streams.gateways.commands.keeping import check_backup
from streams.gateways.commands.memories import about_memory
from streams.gateways.doctor import examine
from streams.logs import sqlite
from streams.logs.archive import archive
from streams.logs.log import Stored, hash_at
from streams.logs.rescue import Pages, look, rescue
from streams.logs.sqlite import SqliteLog, checked, is_sound, is_strange
from streams.runtime.cache import FeatureCache
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.contracts.log_contract import turn
from tests.test_damage import flipped

Talk = Callable[[int], list[Outside]]


def other(events: list[Outside]) -> list[Outside]:
    """The same ids, but something else was said."""
    return [replace(e, content=f"not {e.content}") if isinstance(e, TurnRecorded) else e for e in events]


def restored(home: Home, backup: Path) -> Home:
    """A home whose log was replaced by a backup of it, all else left as it was."""
    home.log.close()
    for file in home.path.glob("log.sqlite*"):
        file.unlink()
    shutil.copyfile(backup, home.path / "log.sqlite")
    return Home(home.path, PROCESSORS, warn=home.warn)


@pytest.fixture
def lines(home: Home) -> list[str]:
    """What a home tells a person."""
    found: list[str] = []
    home.warn = found.append
    return found


@pytest.fixture
def elsewhere(home: Home, talk: Talk, lines: list[str], tmp_path: Path) -> Path:
    """The log of a home as of 100 events, after 200 were folded, recalled and replayed."""
    home.log.append(talk(100))
    home.log.backup(tmp_path / "backup")
    home.log.append(talk(200)[100:])
    home.ask("recall", space="s0", query="checkout payment")
    replay(home, "kept")
    return tmp_path / "backup"


def afresh(log: SqliteLog, where: Path) -> dict[str, str]:
    """The digest of a home that has this log and nothing else."""
    where.mkdir()
    log.backup(where / "log.sqlite")
    home = Home(where, PROCESSORS)
    try:
        found: dict[str, str] = home.ask("digest")
    finally:
        home.log.close()
    return found


@pytest.mark.parametrize("grown", [False, True], ids=["shorter", "grown past it"])
def test_live_of_what_the_log_held_before_is_kept_aside_and_made_anew(
    home: Home, talk: Talk, elsewhere: Path, lines: list[str], tmp_path: Path, grown: bool
) -> None:
    before = home.ask("digest")
    again = restored(home, elsewhere)
    if grown:
        again.log.append(other(talk(300)[100:]))
    log: Any = again.log
    wanted = afresh(log, tmp_path / "afresh")
    assert again.ask("digest") == wanted != before
    assert ("before an older one was restored" in lines[0], "live-1" in lines[0], len(lines)) == (True, True, 1)
    assert again.ask("digest") == wanted
    assert len(lines) == 1
    assert again.ask("digest", "live-1") == before  # it may be the only one that has what the log lost
    assert "restored" in lines[1]
    with pytest.raises(ForeignError):
        again.promote("live-1")
    again.log.close()


def test_a_log_in_the_place_of_another_begins_another_memory(home: Home, talk: Talk, lines: list[str]) -> None:
    home.log.append(talk(10))
    home.ask("spaces")
    home.log.close()
    for file in home.path.glob("log.sqlite*"):
        file.unlink()
    stranger = Home(home.path, PROCESSORS, warn=lines.append)
    assert stranger.ask("spaces") == []
    assert "folded from another log" in lines[0]
    assert stranger.memories() == ["live", "live-1"]
    stranger.log.close()


def test_what_recall_knew_of_the_log_before_is_forgotten(
    home: Home, talk: Talk, elsewhere: Path, tmp_path: Path
) -> None:
    """Even where the memory was copied along with the log, and the index was not."""
    memory, index = home.memory_path("live"), home.memory_path("live").with_suffix(".recall")
    shutil.copyfile(index, tmp_path / "index")
    again = restored(home, elsewhere)
    again.log.append(other(talk(300)[100:]))
    question = {"space": "s0", "query": "not checkout payment", "k": 20}
    wanted = again.ask("recall", **question)
    assert wanted["hits"]
    shutil.copyfile(tmp_path / "index", index)
    for journal in ("-wal", "-shm"):
        memory.with_suffix(f".recall{journal}").unlink(missing_ok=True)
    assert again.ask("recall", **question) == wanted
    again.log.close()


@pytest.mark.usefixtures("small_chunks")
def test_features_of_the_log_before_are_not_taken(home: Home, talk: Talk, elsewhere: Path) -> None:
    replay(home, "before", reuse=False, processes=1)
    again = restored(home, elsewhere)
    again.log.append(other(talk(300)[100:]))
    chunks = FeatureCache(again.path / "cache", again.log)
    assert chunks.path(0, 2).exists()
    assert chunks.load(0, 0, [0, 1, 2])
    assert chunks.load(0, 2, [*range(128, 192)]) == {}
    replay(again, "after", reuse=False, processes=1)
    assert again.ask("digest", "after") == again.ask("digest")
    again.log.close()


def test_an_archive_of_the_log_before_is_not_added_to(home: Home, talk: Talk, elsewhere: Path, tmp_path: Path) -> None:
    archive(home.log, tmp_path / "archive")
    again = restored(home, elsewhere)
    for more in (100, 150):  # shorter, and grown past it
        again.log.append(other(talk(100 + more)[100:]))
        with pytest.raises(LogError, match="an older log was restored"):
            archive(again.log, tmp_path / "archive")
    again.log.close()


def test_an_archive_of_the_log_before_is_refused_before_it_is_folded(
    home: Home, talk: Talk, elsewhere: Path, tmp_path: Path, lines: list[str]
) -> None:
    archive(home.log, tmp_path / "archive")
    again = restored(home, elsewhere)
    folded: list[int] = []
    for more in (100, 150):  # shorter, and grown past it
        again.log.append(other(talk(100 + more)[100:]))
        with pytest.raises(LogError, match="an older log was restored"):
            replay(again, "of-archive", archive=tmp_path / "archive", progress=lambda done, _: folded.append(done))
    assert (folded, again.memories()) == ([], ["live", "kept"])
    again.log.close()
    stranger = Home(tmp_path / "stranger", PROCESSORS, warn=lines.append)
    replay(stranger, "of-archive", archive=tmp_path / "archive")
    assert "can be asked, not promoted" in lines[0]
    stranger.log.close()


def test_memories_of_what_the_log_held_before_are_told_as_that(home: Home, talk: Talk, elsewhere: Path) -> None:
    again = restored(home, elsewhere)
    row = about_memory(again, "kept", again.log.end(0))
    assert (row["events"], row["behind"], "older one was restored" in row["partial"]) == (200, None, True)
    again.log.append(other(talk(300)[100:]))
    row = about_memory(again, "kept", again.log.end(0))
    assert (row["behind"], "older one was restored" in row["partial"]) == (None, True)
    assert about_memory(again, "live", again.log.end(0))["behind"] == 0
    again.log.close()


def test_doctor_tells_of_memories_of_another_log(home: Home, talk: Talk, elsewhere: Path) -> None:
    again = restored(home, elsewhere)
    again.log.append(other(talk(300)[100:]))
    again.log.close()
    found = {check.name: check for check in examine(home.path)}
    for name in ("live", "kept"):
        assert (found[name].status, "older one was restored" in found[name].found) == ("failed", True), name


# -- the file itself ---------------------------------------------------------------------------------------------------


def left_by_a_crash(home: Home, events: list[Outside], to: Path) -> None:
    """A copy of the log's journal with more events in it, as a killed process leaves it."""
    with closing(SqliteLog(to / "log.sqlite")) as log:
        log.append(events)
        shutil.copyfile(to / "log.sqlite-wal", home.path / "log.sqlite-wal")


def test_a_journal_that_another_log_left_is_set_aside_once(home: Home, talk: Talk, tmp_path: Path) -> None:
    home.log.append(talk(100))
    home.log.close()
    (tmp_path / "stranger").mkdir()
    left_by_a_crash(home, other(talk(60)), tmp_path / "stranger")
    with pytest.raises(LogError, match="a journal that another log left"):
        SqliteLog(home.path / "log.sqlite")
    with closing(SqliteLog(home.path / "log.sqlite")) as log:
        assert log.end(0) == 100
        assert all(isinstance(outcome, Stored) for outcome in log.append(talk(110)[100:]))
    assert is_sound(home.path / "log.sqlite")
    left_by_a_crash(home, other(talk(90)), tmp_path / "stranger")
    with pytest.raises(LogError, match=r"set aside as log\.sqlite-wal\.other-2"):
        SqliteLog(home.path / "log.sqlite")
    assert (home.path / "log.sqlite-wal.other").exists()


def test_a_log_is_not_rolled_back_by_a_journal_that_another_left(home: Home, talk: Talk, tmp_path: Path) -> None:
    home.log.append(talk(100))
    home.log.close()
    with closing(SqliteLog(tmp_path / "stranger" / "log.sqlite")) as log:
        log.append(other(talk(60)))
        log.backup(tmp_path / "backup")
    with closing(sqlite3.connect(tmp_path / "backup", isolation_level=None)) as db:
        for setting in ("cache_size = 1", "cache_spill = 1"):
            db.execute(f"PRAGMA {setting}")
        db.execute("DROP TRIGGER append_only_delete")
        db.execute("BEGIN")
        db.execute("DELETE FROM log")
        shutil.copyfile(tmp_path / "backup-journal", home.path / "log.sqlite-journal")
    with pytest.raises(LogError, match="a journal that another log left"):
        SqliteLog(home.path / "log.sqlite")
    with closing(SqliteLog(home.path / "log.sqlite")) as log:
        assert log.end(0) == 100
    assert is_sound(home.path / "log.sqlite")


def test_the_journal_of_a_process_that_was_killed_is_taken_up(home: Home, talk: Talk, tmp_path: Path) -> None:
    log: Any = home.log
    log.append(talk(50))
    log._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    log.append(talk(100)[50:])
    (tmp_path / "killed").mkdir()
    for file in home.path.glob("log.sqlite*"):
        shutil.copyfile(file, tmp_path / "killed" / file.name)
    with closing(SqliteLog(tmp_path / "killed" / "log.sqlite")) as again:
        assert (again.end(0), hash_at(again, 0, 99)) == (100, hash_at(log, 0, 99))


def test_whether_a_journal_is_of_this_log_is_found_out_by_reading_each_event_once(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: Any = home.log
    log.append(talk(50))
    log._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    log.append(talk(100)[50:])
    read: list[int] = []

    def noted(*given: Any) -> Iterator[Any]:
        for record in checked(*given):
            read.append(record.offset)
            yield record

    monkeypatch.setattr(sqlite, "checked", noted)
    assert not is_strange(home.path / "log.sqlite")
    assert read == [*range(100)]


def test_a_log_of_an_earlier_version_is_given_its_hashes(home: Home, talk: Talk) -> None:
    log: Any = home.log
    log.append(talk(3000))
    wanted = hash_at(log, 0, 2999)
    log._db.execute("ALTER TABLE log DROP COLUMN hash")
    log._db.execute("ALTER TABLE meta DROP COLUMN hash")
    log.close()
    with closing(SqliteLog(home.path / "log.sqlite")) as again:
        assert hash_at(again, 0, 2999) == wanted
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            again._db.execute("UPDATE log SET hash = x'00'")


def changed(path: Path, offset: int) -> None:
    """One letter of an event becomes another, as by a bit that flipped."""
    with closing(sqlite3.connect(path)) as db:
        (value,) = db.execute("SELECT value FROM log WHERE offset = ?", (offset,)).fetchone()
    data = path.read_bytes()
    assert data.count(value) == 1
    at = value.index(b'"content":"') + 12
    path.write_bytes(data.replace(value, value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]))


def test_an_event_with_a_flipped_bit_is_never_folded(home: Home, talk: Talk, tmp_path: Path) -> None:
    events = [event for event in talk(200) if isinstance(event, TurnRecorded)][:100]
    home.log.append(events)
    home.log.close()
    changed(home.path / "log.sqlite", 40)
    again = Home(home.path, PROCESSORS)
    for _ in range(2):
        with pytest.raises(LogError, match="the event at offset 40 is not what was recorded") as caught:
            again.ask("spaces")
    assert "mnemolog rescue" in caught.value.way_out
    with pytest.raises(LogError, match="offset 40"):
        replay(again, "other", reuse=False)
    again.log.close()
    found = {check.name: check for check in examine(home.path)}["log"]
    assert (found.status, "0 to 39, 41 to 99" in found.found) == ("failed", True)
    with pytest.raises(LogError, match="offset 40"):
        again.log.__class__(home.path / "log.sqlite").backup(tmp_path / "backup")  # type: ignore[call-arg, union-attr]
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_what_can_be_read_of_a_damaged_log_is_copied_into_a_new_one(home: Home, talk: Talk, tmp_path: Path) -> None:
    events = [event for event in talk(200) if isinstance(event, TurnRecorded)][:100]
    long = replace(events[50], content="long " * 5000)
    home.log.append([*events[:50], long, *events[51:]])
    home.log.note("params", "{}")
    whole = [*home.log.read(0, 0)]
    home.log.close()
    changed(home.path / "log.sqlite", 40)
    rescued = rescue(home.path / "log.sqlite", tmp_path / "copy")
    assert (rescued.readable.found, rescued.lost.found) == ([(0, 39), (41, 99)], [(40, 40)])
    with closing(SqliteLog(tmp_path / "copy")) as copy:
        assert [r[2:6] for r in copy.read(0, 0)] == [r[2:6] for r in whole if r.offset != 40]
        assert copy.noted("params") == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "copy.gate", "home"]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_rescued_is_what_was_recorded_whatever_the_damage(
    home: Home, talk: Talk, tmp_path: Path, seed: int
) -> None:
    home.log.append(talk(400))
    whole = {record.offset: record for record in home.log.read(0, 0)}
    if seed % 2:
        home.log.close()
    for file in home.path.glob("log.sqlite*"):
        shutil.copyfile(file, tmp_path / file.name)
    path = tmp_path / "log.sqlite"
    flipped(path if seed % 2 else tmp_path / "log.sqlite-wal", count=4 + seed, seed=seed)
    if seed % 3 == 0 and seed % 2:
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    rescued = look(path)
    assert rescued.readable.count() > 100
    rescue(path, tmp_path / "copy")
    values = {record.value: record for record in whole.values()}
    with closing(SqliteLog(tmp_path / "copy")) as copy:
        copied = [values[record.value].offset for record in copy.read(0, 0)]
    assert copied == [n for first, last in rescued.readable.found for n in range(first, last + 1)]


@pytest.fixture
def closed(home: Home, talk: Talk) -> Path:
    """The file of a log that nobody has open."""
    home.log.append(talk(40))
    home.log.close()
    return home.path / "log.sqlite"


def test_a_record_that_names_more_than_there_is_does_not_keep_a_rescue_for_ever(closed: Path, tmp_path: Path) -> None:
    in_a_circle = (2).to_bytes(4) * 1024
    closed.write_bytes(closed.read_bytes()[:4096] + in_a_circle + closed.read_bytes()[8192:])
    with pytest.raises(ValueError, match="longer than all there is"):
        Pages(closed)._payload(in_a_circle, 0, 2**50)
    rescue(closed, tmp_path / "copy")
    before = sorted(tmp_path.iterdir())
    check_backup(tmp_path / "copy")
    assert sorted(tmp_path.iterdir()) == before, "nothing is made beside a copy that is read"


def test_a_log_whose_tables_have_no_names_any_more_is_told_to_be_damaged(closed: Path, tmp_path: Path) -> None:
    closed.write_bytes(closed.read_bytes().replace(b"space TEXT NOT NULL", b"space \xff\xff\xff( NOT NULL"))
    assert {check.name: check.status for check in examine(closed.parent)}["log"] == "failed"
    for damaged in (SqliteLog, check_backup):
        with pytest.raises(MnemologError, match=r"is damaged|is no backup"):
            damaged(closed)
    known_place(closed.parent, "s0", None)
    assert rescue(closed, tmp_path / "copy").readable.count() == 40


def test_a_rescue_holds_little_of_a_log_at_once(home: Home, tmp_path: Path) -> None:
    """A log may be larger than the memory there is, and who looks at it is in trouble already."""
    home.log.append([turn(str(number), "word " * 8000) for number in range(400)])
    home.log.close()
    tracemalloc.start()
    try:
        found = look(home.path / "log.sqlite")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.readable.found, found.lost.found) == ([(0, 399)], [])
    assert peak < 4_000_000 < (home.path / "log.sqlite").stat().st_size / 3


def test_what_somebody_writes_over_while_it_is_looked_at_is_no_record(closed: Path) -> None:
    pages = Pages(closed)
    places = {row.digest(): place for _, row, place in pages.rows()}
    assert len(pages.again(places)) == len(places) == 40
    closed.write_bytes(bytes(closed.stat().st_size))
    assert pages.again(places) == []
