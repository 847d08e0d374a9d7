"""The archive of a log: sealed Parquet files that hold exactly what the log holds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from streams.core.driver import Record
from streams.core.errors import LogError, UsageError
from streams.core.events import Outside, TurnRecorded
from streams.logs import archive as archives
from streams.logs.archive import ArchiveLog, archive
from streams.logs.copies import note_copy
from streams.logs.sqlite import SqliteLog
from streams.runtime.erasure.audit import Audit
from streams.runtime.erasure.making import erasing
from streams.runtime.erasure.selection import Selection
from streams.runtime.home import Home
from tests.contracts.log_contract import NOW, turn

Talk = Callable[[int], list[Outside]]


def records(log: SqliteLog | ArchiveLog, start: int = 0, stop: int | None = None) -> list[object]:
    return list(log.read(0, start, stop))


def test_an_archive_gives_back_every_record_of_the_log(home: Home, talk: Talk, tmp_path: Path) -> None:
    home.log.append(talk(500))
    archive(home.log, tmp_path / "archive")
    found = ArchiveLog(tmp_path / "archive")
    assert found.id == home.log.id
    assert records(found) == records(home.log)
    assert records(found, 7, 19) == records(home.log, 7, 19)
    assert found.end(0) == home.log.end(0)


def test_archiving_again_adds_what_came_since_and_writes_nothing_twice(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "RANGE", 64)
    home.log.append(talk(100))
    first = archive(home.log, tmp_path / "archive")
    assert [(sealed.start, sealed.stop) for sealed in first] == [(0, 64), (64, 100)]
    written = {sealed.path: sealed.path.read_bytes() for sealed in first}
    home.log.append(talk(200)[100:])
    assert [(s.start, s.stop) for s in archive(home.log, tmp_path / "archive")] == [(100, 164), (164, 200)]
    assert archive(home.log, tmp_path / "archive") == []
    assert {path: path.read_bytes() for path in written} == written
    assert records(ArchiveLog(tmp_path / "archive")) == records(home.log)


def test_any_content_and_any_bytes_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)
    contents = ["", "\x00", "日本語 🤖 \u202e", '{"not": "parsed"}', "a" * 200_000]
    log.append([turn(str(n), content) for n, content in enumerate(contents)])
    spaced = log._db.execute("SELECT value FROM log WHERE offset = 0").fetchone()[0].replace(b",", b", ")
    log._db.execute("DROP TRIGGER append_only_update")
    # As a producer that writes JSON otherwise; the log then gives each record its hash, as one of an earlier version.
    log._db.execute("UPDATE log SET value = ? WHERE offset = 0", (spaced,))
    log._db.execute("ALTER TABLE log DROP COLUMN hash")
    log._db.execute("ALTER TABLE meta DROP COLUMN hash")
    log.close()
    log = SqliteLog(tmp_path / "log.sqlite", clock=lambda: NOW)
    archive(log, tmp_path / "archive")
    assert records(ArchiveLog(tmp_path / "archive")) == records(log)
    log.close()


def test_duckdb_reads_it_as_typed_columns(home: Home, talk: Talk, tmp_path: Path) -> None:
    events = talk(300)
    home.log.append(events)
    archive(home.log, tmp_path / "archive")
    files = f"'{tmp_path}/archive/*/*.parquet'"
    with duckdb.connect() as connection:
        turns, first = connection.execute(
            f"SELECT count(*), min(epoch_us(\"at\")) FROM read_parquet({files}) WHERE type = 'turn-recorded.v1'"
        ).fetchall()[0]
        kinds = dict(connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE FROM {files})").fetchall())
    said = [event for event in events if isinstance(event, TurnRecorded)]
    assert (turns, first) == (len(said), min(event.at for event in said))
    assert kinds["at"] == kinds["recorded_at"] == "TIMESTAMP WITH TIME ZONE"
    assert (kinds["content"], kinds["offset"], kinds["priority"]) == ("VARCHAR", "BIGINT", "DOUBLE")


def test_a_missing_or_damaged_file_is_told(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "RANGE", 50)
    home.log.append(talk(150))
    sealed = archive(home.log, tmp_path / "archive")
    data = bytearray(sealed[0].path.read_bytes())
    data[200] ^= 0xFF
    sealed[0].path.write_bytes(data)
    with pytest.raises(LogError, match="is damaged"):
        records(ArchiveLog(tmp_path / "archive"))
    sealed[1].path.unlink()
    with pytest.raises(LogError, match="lacks offsets 50 to 100"):
        ArchiveLog(tmp_path / "archive")


def test_what_is_no_archive_or_one_of_another_log_is_refused(home: Home, talk: Talk, tmp_path: Path) -> None:
    home.log.append(talk(10))
    with pytest.raises(UsageError, match="is no archive"):
        ArchiveLog(tmp_path)
    with pytest.raises(UsageError, match="not empty"):
        archive(home.log, tmp_path)
    archive(home.log, tmp_path / "archive")
    other = SqliteLog(tmp_path / "other.sqlite")
    with pytest.raises(LogError, match="of another log"):
        archive(other, tmp_path / "archive")
    other.close()
    with pytest.raises(LogError, match="is an archive"):
        ArchiveLog(tmp_path / "archive").append([])


def test_no_more_is_held_at_once_than_some_bytes_of_events(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(200))
    monkeypatch.setattr(archives, "GROUP_BYTES", 10_000)
    (sealed,) = archive(home.log, tmp_path / "archive")
    with pq.ParquetFile(sealed.path) as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    assert len(groups) > 3
    assert records(ArchiveLog(tmp_path / "archive")) == records(home.log)
    assert archive(home.log, tmp_path / "archive") == []


def test_an_archive_that_is_written_while_an_erasure_switches_keeps_nothing_of_what_goes(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Secret blue house behind the old mill by the river"
    home.log.append([*talk(20), turn("secret", said)])
    home.ask("spaces")
    folder, log, row = tmp_path / "archive", SqliteLog(home.path / "log.sqlite"), archives._row
    note_copy(home.log, folder)
    told: list[str] = []

    def meanwhile(record: Record) -> object:
        if not told:
            with erasing(home) as erase:
                told.extend(erase(Selection(turns=("secret",))).carry_out())
        return row(record)

    monkeypatch.setattr(archives, "OTHERS", 0.0)
    monkeypatch.setattr(archives, "_row", meanwhile)
    with pytest.raises(LogError, match="an erasure made a new log meanwhile"):
        archive(log, folder)
    assert len(told) == 1
    assert "another process writes the archive" in told[0], "else the two would write the same files"
    log.close()
    assert [*folder.rglob("*.parquet")] == []
    for path in folder.rglob("*"):
        assert path.is_dir() or said.encode() not in path.read_bytes()


def test_an_audit_looks_into_an_archive_that_says_that_it_is_of_the_log(home: Home, talk: Talk, tmp_path: Path) -> None:
    """As where one was written while an erasure switched, by a version that did not look."""
    home.log.append([*talk(20), turn("secret", "Secret blue house behind the old mill by the river")])
    home.ask("spaces")
    folder, before = tmp_path / "archive", home.log.id
    (sealed,) = archive(home.log, folder)
    with erasing(home) as erase:
        erase(Selection(turns=("secret",))).carry_out()
    note_copy(home.log, folder)
    assert home.log.id != before
    (folder / "archive.json").write_bytes(
        (folder / "archive.json").read_bytes().replace(before.encode(), home.log.id.encode())
    )
    table = pq.read_table(sealed.path)
    about = {key: value.replace(before.encode(), home.log.id.encode()) for key, value in table.schema.metadata.items()}
    pq.write_table(table.replace_schema_metadata(about), sealed.path, write_page_checksum=True)
    (copy,) = [check for check in Audit(home).checks() if check.check == "copy"]
    assert (copy.status, "holds other events than the log" in copy.found) == ("failed", True)
    shutil.rmtree(folder)
    archive(home.log, folder)
    (copy,) = [check for check in Audit(home).checks() if check.check == "copy"]
    assert copy.status == "well"
