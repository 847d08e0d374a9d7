"""The embedded log keeps the contract, and what only a file can promise."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from streams.core.driver import Record
from streams.core.errors import LogError, UsageError
from streams.core.events import decode
from streams.logs import sqlite, whole
from streams.logs.encryption import Keys
from streams.logs.log import Log, Stored
from streams.logs.sqlite import SqliteLog, checked
from tests.contracts.log_contract import NOW, LogContract, turn
from tests.processes import PIPE, Program, run


class TestSqliteLog(LogContract):
    @pytest.fixture
    def open_log(self, tmp_path: Path) -> Callable[[], Log]:
        return lambda: SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)


class TestEncryptedSqliteLog(LogContract):
    @pytest.fixture
    def open_log(self, tmp_path: Path) -> Callable[[], Log]:
        Keys(tmp_path).switch_on()
        return lambda: SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log SET value = x'00'",
        "UPDATE log SET offset = 7 WHERE offset = 0",
        "DELETE FROM log",
        "INSERT OR REPLACE INTO log VALUES (0, 's', 'z', 't', 0, x'00', x'00')",
        "INSERT OR REPLACE INTO log VALUES (1, 's', 'a', 't', 0, x'00', x'00')",
        "INSERT INTO log VALUES (5, 's', 'z', 't', 0, x'00', x'00')",
    ],
)
def test_the_database_itself_refuses_every_change_but_an_append(tmp_path: Path, statement: str) -> None:
    log = SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)
    log.append([turn("a")])
    before = list(log.read(0, 0))
    stranger = sqlite3.connect(tmp_path / "log.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        stranger.execute(statement)
    stranger.close()
    assert list(log.read(0, 0)) == before


def test_a_full_disk_refuses_appends_and_loses_none(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import resource, signal, sys
        from pathlib import Path
        from streams.logs.sqlite import SqliteLog, checked
        from streams.core.errors import LogError, UsageError
        from tests.contracts.log_contract import turn
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        log = SqliteLog(Path(sys.argv[1]))
        stored = 0
        try:
            for n in range(10_000):
                stored += len(log.append([turn(f"{n}-{i}", "x" * 1000) for i in range(10)]))
        except LogError as error:
            print(stored, error.way_out)
        """
    )
    ran = run(tmp_path / "log.sqlite", code=program, capture_output=True, text=True, check=True)
    stored, _, way_out = ran.stdout.partition(" ")
    assert int(stored) > 100
    assert "free disk space" in way_out
    log = SqliteLog(tmp_path / "log.sqlite")
    ids = [decode(record.type, record.value).id for record in log.read(0, 0)]
    assert ids == [f"{n // 10}-{n % 10}" for n in range(int(stored))]
    assert isinstance(log.append([turn("after the disk was freed")])[0], Stored)


def test_what_was_acknowledged_survives_sigkill(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from streams.logs.sqlite import SqliteLog, checked
        from tests.contracts.log_contract import turn
        log = SqliteLog(Path(sys.argv[1]))
        for n in range(1_000_000):
            log.append([turn(f"{sys.argv[2]}-{n}")])
            print(n, flush=True)
        """
    )
    path = tmp_path / "log.sqlite"
    for life in range(5):
        writer = Program(path, life, code=program, stdout=PIPE, text=True)
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(20 + 7 * life)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        writer.stdout.close()
        writer.wait()
        log = SqliteLog(path)
        ids = [decode(record.type, record.value).id for record in log.read(0, 0)]
        log.close()
        assert len(ids) == len(set(ids))
        assert {f"{life}-{n}" for n in acknowledged} <= set(ids)


def test_a_backup_is_a_whole_log_of_the_same_id(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)
    log.append([turn(str(n)) for n in range(100)])
    assert log.backup(tmp_path / "backup.sqlite") == 100
    copy = SqliteLog(tmp_path / "backup.sqlite")
    assert copy.id == log.id
    assert list(copy.read(0, 0)) == list(log.read(0, 0))


def test_a_backup_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)
    with pytest.raises(LogError, match="no backup at"):
        log.backup(tmp_path / "nowhere" / "backup.sqlite")
    assert [p.name for p in tmp_path.glob("*.partial")] == []


def test_a_file_that_is_no_log_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_bytes(b"this is not a database, and long enough to be looked at" * 40)
    with pytest.raises(LogError, match=r"log\.sqlite is damaged: file is not a database"):
        SqliteLog(tmp_path / "log.sqlite")


def test_a_reader_does_not_block_writers(tmp_path: Path) -> None:
    log, writer = (SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW) for _ in range(2))
    log.append([turn(str(n)) for n in range(5000)])
    reading = log.read(0, 0)
    first: Record = next(reading)
    assert isinstance(writer.append([turn("meanwhile")])[0], Stored)
    assert first.offset == 0
    assert sum(1 for _ in reading) == 4999


def test_a_log_that_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    """A server tries again with every feed."""
    damaged, foreign, unread = (tmp_path / name for name in ("damaged", "foreign", "unread"))
    for folder in (damaged, foreign, unread):
        SqliteLog(folder / "log.sqlite").close()
    (damaged / "log.sqlite").write_bytes(b"x" * 5000)
    (foreign / "log.sqlite-wal").write_bytes(b"of another log" * 500)
    (unread / "destroyed.json").touch()
    for folder in (damaged, foreign, unread):
        before = len(os.listdir("/dev/fd"))
        for _ in range(3):
            with suppress(LogError):
                SqliteLog(folder / "log.sqlite").close()
        assert len(os.listdir("/dev/fd")) == before, folder.name


def test_a_backup_takes_no_half_file_of_another_and_no_place_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = SqliteLog(tmp_path / "home" / "log.sqlite", clock=lambda: NOW)
    log.append([turn(str(n)) for n in range(100)])
    target, half = tmp_path / "backup", os.getppid()

    def meanwhile(db: sqlite3.Connection, start: int, stop: int) -> Iterator[Record]:
        yield from checked(db, start, stop)
        (tmp_path / "backup.partial").unlink(missing_ok=True)  # as another that backs up to the same file did
        (tmp_path / "backup.partial").write_bytes(b"half")
        (tmp_path / f"backup.{half}.partial").write_bytes(b"half")

    monkeypatch.setattr(sqlite, "checked", meanwhile)
    assert log.backup(target, replace=False) == 100
    with closing(SqliteLog(target)) as copy:
        assert copy.end(0) == 100
    said = target.read_bytes()
    monkeypatch.undo()
    with pytest.raises(UsageError, match="exists already"):
        log.backup(target, replace=False)
    assert target.read_bytes() == said
    assert [path.name for path in tmp_path.glob("*.partial")] == [f"backup.{half}.partial"], "it still writes"
    log.close()


@pytest.mark.parametrize("links", [True, False])
def test_a_file_has_its_name_when_it_is_on_the_disk_and_takes_no_other_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def no_link(*_: object) -> None:
        raise PermissionError

    if not links:
        monkeypatch.setattr(os, "link", no_link)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_ino))
    target = tmp_path / "[a]*"
    partial = whole.partial_of(target)
    partial.write_bytes(b"mine")
    file = partial.stat().st_ino
    whole.put(partial, target, replace=False)
    assert (target.read_bytes(), partial.exists()) == (b"mine", False)
    assert synced == [file, tmp_path.stat().st_ino]
    partial.write_bytes(b"later")
    with pytest.raises(UsageError, match="exists already"):
        whole.put(partial, target, replace=False)
    assert target.read_bytes() == b"mine"
    whole.put(partial, target)
    assert target.read_bytes() == b"later"


def test_what_processes_that_died_left_of_a_file_is_deleted(tmp_path: Path) -> None:
    target = tmp_path / "[a]*"
    with subprocess.Popen(["true"]) as gone:
        pass
    died = [f"{target.name}.partial", f"{target.name}.{gone.pid}.partial", f"{target.name}.{gone.pid}.partial-wal"]
    live = [f"{target.name}.{os.getppid()}.partial", f"b.{gone.pid}.partial", f"{target.name}.x.partial"]
    for name in (*died, *live):
        (tmp_path / name).touch()
    whole.clear(target)
    assert {path.name for path in tmp_path.iterdir()} == {*live}
    whole.clear(target, all_=True)
    assert {path.name for path in tmp_path.iterdir()} == {*live[1:]}
