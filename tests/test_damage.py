"""What is derived is expendable: damaged, it is said once, set aside and made anew from the log; the log is not."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from processors import PROCESSORS
from projections import store
from streams.core.errors import BusyError, DamagedError, MnemologError, UnreadableError, UsageError
from streams.gateways.doctor import examine
from streams.runtime.cache import FeatureCache
from streams.runtime.home import Home, snapshots
from streams.runtime.replay import replay
from tests.memories import memory, turn
from tests.processes import Program
from tests.serving import serving

Harm = Callable[[Path], None]


def flipped(path: Path, count: int = 40, seed: int = 1) -> None:
    """Flips bits all over a file."""
    data = bytearray(path.read_bytes())
    rng = random.Random(seed)
    for _ in range(count):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def another(path: Path) -> None:
    path.write_bytes(b"this is something else entirely\n" * 500)


def older(path: Path) -> None:
    """Of a format that this program does not know."""
    connection = store.connect(path)
    connection.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    connection.close()


HARMS: list[Harm] = [flipped, cut, emptied, another]


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory, talk: Any) -> Path:
    """A folded home, to be copied."""
    home = Home(tmp_path_factory.mktemp("folded") / "home", PROCESSORS)
    home.log.append(talk(300))
    home.ask("recall", space="s0", query="checkout payment")
    home.log.close()
    return home.path


@pytest.fixture(scope="module")
def before(folded: Path) -> dict[str, str]:
    """The digest of its live, as long as nothing is done to it."""
    home = Home(folded, PROCESSORS)
    found = home.ask("digest")
    home.log.close()
    return dict(found)


@pytest.fixture
def home(folded: Path, tmp_path: Path) -> Iterator[Home]:
    """A folded home."""
    found = Home(Path(shutil.copytree(folded, tmp_path / "home")), PROCESSORS)
    yield found
    found.log.close()


@pytest.fixture
def said(home: Home) -> list[str]:
    """What it tells a person."""
    lines: list[str] = []
    home.warn = lines.append
    return lines


@pytest.mark.parametrize("harm", [*HARMS, older])
def test_a_damaged_live_is_made_anew(home: Home, before: dict[str, str], said: list[str], harm: Harm) -> None:
    harm(home.memory_path("live"))
    assert home.ask("digest") == before
    assert len(said) == 1
    assert "live.duckdb.damaged" in said[0]
    assert (home.path / "live.duckdb.damaged").exists()
    assert home.memories() == ["live"]
    assert home.ask("digest") == before
    assert len(said) == 1


@pytest.mark.parametrize("harm", HARMS)
def test_a_server_starts_with_a_damaged_live(home: Home, before: dict[str, str], said: list[str], harm: Harm) -> None:
    harm(home.memory_path("live"))
    with serving(home):
        assert home.ask("digest") == before
    assert home.ask("digest") == before


def test_a_live_that_is_damaged_while_it_is_served_is_made_anew(
    home: Home, before: dict[str, str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(home):
        home.ask("digest")
        broken = [True]

        def unreadable(connection: Any) -> Any:
            if broken:
                broken.clear()
                cut(home.memory_path("live"))
                raise store.duckdb.IOException("Corrupt database file: computed checksum does not match")
            return {}

        from projections.ask import ASKS

        with monkeypatch.context() as patch:
            patch.setitem(ASKS, "spaces", unreadable)
            assert home.ask("spaces") == {}  # asked again, once live was looked through
        assert home.ask("digest") == before


@pytest.mark.parametrize("harm", HARMS)
def test_a_replay_that_takes_from_live_does_not_take_damage(
    home: Home, before: dict[str, str], said: list[str], harm: Harm
) -> None:
    harm(home.memory_path("live"))
    replay(home, "other")
    assert home.ask("digest", "other") == before


@pytest.mark.parametrize("harm", [cut, another])
def test_a_replay_from_a_live_that_is_damaged_under_its_server_folds_all_and_has_live_mended(
    home: Home, before: dict[str, str], said: list[str], harm: Harm
) -> None:
    with serving(home):
        home.ask("digest")
        harm(home.memory_path("live"))
        replay(home, "other", processes=1)
        assert home.ask("digest", "other") == home.ask("digest") == before
    assert (len(said), "live.duckdb.damaged" in said[0]) == (1, True)


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_index_is_made_anew(home: Home, said: list[str], harm: Harm) -> None:
    question = {"space": "s0", "query": "checkout payment", "k": 5}
    before = home.ask("recall", **question)
    assert len(before["hits"]) == 5
    harm(home.memory_path("live").with_suffix(".recall"))
    for _ in range(2):
        assert home.ask("recall", **question) == before
    assert (len(said), "set aside as live.recall.damaged" in said[0]) == (1, True)
    assert (home.path / "live.recall.damaged").exists()


@pytest.mark.parametrize("seed", range(6))
def test_damage_that_a_question_meets_in_an_index_is_mended_and_the_question_answered(
    home: Home, said: list[str], seed: int
) -> None:
    question = {"space": "s0", "query": "checkout payment", "k": 5}
    before = home.ask("recall", **question)
    index = home.memory_path("live").with_suffix(".recall")
    index.with_name("live.recall.sum").unlink()  # as a process that was killed leaves it
    data = index.read_bytes()
    index.write_bytes(data[:4096] + bytes(byte ^ (n % 7 == seed) for n, byte in enumerate(data[4096:])))
    with serving(home) if seed % 2 else nullcontext():
        for _ in range(2):
            assert home.ask("recall", **question) == before
    assert [line.count("live.recall") > 1 for line in said] == [True]


def test_turns_that_are_missing_in_an_index_are_put_back_by_the_question_that_misses_them(
    home: Home, said: list[str]
) -> None:
    before = home.ask("context", space="s0", session="c0")
    index = home.memory_path("live").with_suffix(".recall")
    index.with_name("live.recall.sum").unlink()  # as a process that was killed leaves it
    with closing(sqlite3.connect(index, isolation_level=None)) as other:
        other.execute("DELETE FROM turns")
    for _ in range(2):
        assert home.ask("context", space="s0", session="c0") == before
    assert [line.count("a turn is missing") for line in said] == [1]


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_snapshot_is_copied_anew(home: Home, said: list[str], harm: Harm) -> None:
    with home.reading() as connection:
        count = connection.execute("SELECT count(*) FROM turns").fetchall()
    harm(home.path / "snapshots" / "live.duckdb")
    with home.reading() as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchall() == count


@pytest.mark.parametrize("harm", [cut, emptied, another])
def test_a_snapshot_that_is_damaged_while_its_copy_would_still_do_is_told_and_copied_anew(
    home: Home, said: list[str], harm: Harm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "LEAST_PAUSE", 600.0)
    with serving(home):
        snapshot = home.snapshot()
        harm(snapshot)
        with home.reading() as connection:
            assert connection.execute("SELECT count(*) > 0 FROM turns").fetchall() == [(True,)]
        assert home.snapshot() == snapshot
    assert (len(said), "set aside as live.duckdb.damaged" in said[0]) == (1, True)
    assert (home.path / "snapshots" / "live.duckdb.damaged").exists()


@pytest.mark.parametrize("served", [False, True])
def test_damage_to_live_that_only_a_copy_of_it_meets_is_mended_for_who_asks_again(
    home: Home, said: list[str], served: bool
) -> None:
    def rows(connection: store.Connection) -> list[Any]:
        return [connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in ("turns", "efforts", "notes")]

    def read() -> list[Any]:
        with home.reading() as connection:
            return rows(connection)

    def is_met_by_rows_alone() -> bool:
        with suppress(DamagedError), closing(store.Store.open(live, PROCESSORS)) as opened:
            try:
                rows(opened.connection)
            except store.duckdb.Error:
                return True
        return False

    before, live = read(), home.memory_path("live")
    whole = live.read_bytes()
    for at in range(12288 + 30000, len(whole), 65536):  # block by block, behind the heads of the file
        live.write_bytes(whole[:at] + b"some other bytes" + whole[at + 16 :])
        if is_met_by_rows_alone():
            break
    else:
        pytest.fail("no block holds rows alone")
    with serving(home) if served else nullcontext():
        with suppress(UnreadableError):  # "ask again"
            assert read() == before
        assert read() == before
    assert (len(said), "set aside as live.duckdb.damaged" in said[0]) == (1, True)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_cache_of_features_changes_no_replay(
    home: Home, before: dict[str, str], said: list[str], harm: Harm
) -> None:
    replay(home, "first", reuse=False, processes=1)
    chunks = sorted(FeatureCache(home.path / "cache", home.log).folder.glob("*.parquet"))
    assert len(chunks) > 3
    for chunk in chunks:
        harm(chunk)
    assert said == []
    replay(home, "second", reuse=False, processes=1)
    assert home.ask("digest", "first") == home.ask("digest", "second") == before
    assert (len(said), f"{chunks[0].name}.damaged" in said[0]) == (1, True)
    replay(home, "third", reuse=False, processes=1)
    assert all(chunk.is_file() and chunk.with_name(f"{chunk.name}.damaged").exists() for chunk in chunks)
    assert len(said) == 1


FOLDERS = [
    "live.duckdb", "live.duckdb.wal", "live.recall", "live.recall-wal", "live.recall.sum", "snapshots/live.duckdb",
    ".live.fresh", "other.duckdb",
]  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_in_the_place_of_what_is_derived_is_set_aside(home: Home, said: list[str], name: str) -> None:
    before, question = home.ask("digest"), {"space": "s0", "query": "checkout payment", "k": 5}
    hits = home.ask("recall", **question)
    for _ in range(2):
        place = home.path / name
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.mkdir()
        (place / "something").touch()
        if name == ".live.fresh":
            home.memory_path("live").unlink()
        assert home.ask("digest") == before
        assert home.ask("recall", **question) == hits
        with home.reading() as connection:
            connection.execute("SELECT count(*) FROM turns").fetchall()
        replay(home, "other", replace=True, processes=1)
        assert home.ask("digest", "other") == before
        assert not place.is_dir()
    assert len(said) == 2
    assert ".damaged" in said[0]
    assert len([*home.path.rglob("something")]) == 2, "it may be somebody's"


def test_a_promotion_is_not_told_to_fail_for_a_folder_in_the_place_of_a_copy(
    home: Home, before: dict[str, str], said: list[str]
) -> None:
    replay(home, "other", reuse=False, processes=1)
    (home.path / "snapshots" / "live.duckdb").mkdir(parents=True)
    assert home.promote("other") == "live-1"
    assert home.ask("digest") == before
    assert (len(said), "set aside as live.duckdb.damaged" in said[0]) == (1, True)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("name", ["snapshots", "cache", "cache/*", "cache/*/0-00000001.parquet"])
def test_a_file_in_the_place_of_a_folder_and_a_folder_in_that_of_features_are_set_aside(
    home: Home, before: dict[str, str], said: list[str], name: str
) -> None:
    with home.reading():
        pass
    replay(home, "other", reuse=False, processes=1)
    (place,) = home.path.glob(name)
    if place.is_dir():
        shutil.rmtree(place)
        place.touch()
    else:
        place.unlink()
        place.mkdir()
    with home.reading() as connection:
        connection.execute("SELECT count(*) FROM turns").fetchall()
    replay(home, "other", reuse=False, replace=True, processes=1)
    assert home.ask("digest", "other") == before
    assert (len(said), f"set aside as {place.name}.damaged" in said[0]) == (1, True)
    assert place.is_dir() == (not name.endswith("parquet"))


def test_a_journal_that_another_file_left_is_not_taken_up(
    home: Home, before: dict[str, str], said: list[str], tmp_path: Path
) -> None:
    replay(home, "next", reuse=False)
    kept = tmp_path / "journal"
    with home.live() as runtime:
        runtime.store.connection.execute("UPDATE meta SET value = 'other' WHERE key = 'name'")
        shutil.copyfile(store.journal(home.memory_path("live")), kept)
    for name in ("next", "live"):
        shutil.copyfile(kept, store.journal(home.memory_path(name)))
    replay(home, "next", replace=True, reuse=False)
    assert home.ask("digest", "next") == before
    assert home.promote("next") == ""  # what live was could not be read with that journal
    assert home.ask("digest") == before


PROMOTION = """
import os, sys
from pathlib import Path
from processors import PROCESSORS
from streams.runtime.home import Home
left = [int(sys.argv[2])]
def counted(step):
    def taken(*given, **how):
        left[0] -= 1
        return step(*given, **how) if left[0] else os._exit(9)
    return taken
home = Home(Path(sys.argv[1]), PROCESSORS)
home.log.end(0)
os.link, Path.replace, Path.unlink = counted(os.link), counted(Path.replace), counted(Path.unlink)
home.promote("next")
"""


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_a_promotion_that_is_killed_leaves_one_of_the_two_whole(
    home: Home, before: dict[str, str], said: list[str], step: int
) -> None:
    home.ask("recall", space="s0", query="checkout payment")  # whose index goes along with the old live
    replay(home, "next", reuse=False, processes=1)
    assert Program(home.path, step, code=PROMOTION).wait() == 9
    assert home.ask("digest") == before
    replay(home, "next", replace=True, processes=1)
    assert home.ask("digest", "next") == before
    home.promote("next")
    assert home.ask("digest") == before
    files = [home.memory_path(name).stat() for name in home.memories()]
    assert [found.st_nlink for found in files] == [1] * len(files)
    assert said == []


def test_a_memory_that_a_replay_made_is_told_to_be_damaged(home: Home, said: list[str]) -> None:
    replay(home, "other")
    cut(home.memory_path("other"))
    with pytest.raises(MnemologError, match=r"other\.duckdb") as caught:
        home.ask("digest", "other")
    assert "replay" in caught.value.way_out
    replay(home, "other", replace=True)
    assert home.ask("digest", "other") == home.ask("digest")


@pytest.mark.parametrize("seed", range(8))
def test_random_damage_to_live_gives_an_answer_in_words_or_the_right_one(
    home: Home, before: dict[str, str], said: list[str], seed: int
) -> None:
    flipped(home.memory_path("live"), count=1 + seed % 4, seed=seed)
    for _ in range(3):
        try:
            assert home.ask("digest") == before
            break
        except MnemologError:
            continue
    else:
        pytest.fail("it was not mended")


@pytest.mark.parametrize("harm", HARMS)
def test_doctor_names_damage_to_what_is_derived_and_its_way_out_mends_it(home: Home, harm: Harm) -> None:
    def told() -> dict[str, str]:
        return {check.name: check.found for check in examine(home.path) if check.status != "well"}

    with home.reading():
        pass
    for lock in home.path.glob(".*.lock"):
        os.utime(lock, (0, 0))  # locks stay where they are, however old
    assert told() == {}
    harm(home.memory_path("live").with_suffix(".recall"))
    harm(home.path / "snapshots" / "live.duckdb")
    assert told().keys() == {"recall", "snapshot"}
    home.ask("recall", space="s0", query="checkout payment")
    with home.reading():
        pass
    assert told().keys() == {"set aside"}
    assert "live.recall.damaged" in told()["set aside"]
    for aside in home.path.glob("*.damaged"):
        aside.unlink()
    assert told() == {}
    harm(home.memory_path("live"))
    assert told()["live"].endswith("the next question makes it anew")


def listing(folder: Path) -> dict[Path, tuple[int, int]]:
    """What lies in a folder, but for what SQLite needs to read beside a file."""
    found = {path: path.lstat() for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}
    return {path: (stat.st_mtime_ns, stat.st_size) for path, stat in found.items() if path.is_file()}


@pytest.mark.parametrize("name", ["writer.lock", "log.sqlite.gate", ".live.recall.lock"])
def test_doctor_only_looks_and_names_a_folder_where_a_lock_belongs(home: Home, name: str) -> None:
    home.log.close()
    (home.path / name).unlink(missing_ok=True)
    (home.path / name).mkdir()
    (home.path / "elsewhere").symlink_to("/")
    shutil.rmtree(home.path / "snapshots", ignore_errors=True)
    before = listing(home.path)
    found = {check.name: check for check in examine(home.path)}
    assert listing(home.path) == before
    assert (found["files"].status, name in found["files"].found) == ("failed", True)
    assert "put it away" in found["files"].found
    assert (found["home"].status, "elsewhere is a link" in found["home"].found) == ("failed", True)
    assert {found[one].status for one in ("log", "live")} == {"well"}
    (home.path / name).rmdir()
    (home.path / "elsewhere").unlink()


def test_doctor_leaves_nothing_beside_a_log_that_may_not_be_written(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.close()
    (home.path / "log.sqlite").chmod(0o400)
    before = sorted(home.path.rglob("*"))
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))  # root may do anything
    assert {check.name: check.status for check in examine(home.path)}["log"] == "failed"
    assert sorted(home.path.rglob("*")) == before


def test_an_index_that_this_user_may_not_read_is_set_aside(
    home: Home, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = {"space": "s0", "query": "checkout payment", "k": 5}
    before, index, access = home.ask("recall", **question), home.path / "live.recall", os.access
    index.chmod(0)
    monkeypatch.setattr(os, "access", lambda path, mode: access(path, mode) and path.stat().st_mode & 0o600 != 0)
    assert home.ask("recall", **question) == before
    assert (len(said), "live.recall may not be read and written" in said[0]) == (1, True)


def test_a_folder_where_a_lock_belongs_is_told_with_a_way_out(home: Home) -> None:
    home.log.close()
    for name in ("writer.lock", "log.sqlite.gate", ".live.recall.lock"):
        (home.path / name).unlink(missing_ok=True)
        (home.path / name).mkdir()
        with pytest.raises(UsageError, match="cannot be held as a lock") as caught:
            Home(home.path, PROCESSORS).ask("recall", space="s0", query="checkout payment")
        assert (name in str(caught.value), "put it away" in caught.value.way_out) == (True, True)
        (home.path / name).rmdir()


def test_doctor_names_what_was_set_aside_and_how_much_it_is(home: Home) -> None:
    for name in (
        "live.duckdb.damaged",
        "snapshots/live.duckdb.damaged",
        "live.recall.damaged-2",
        "log.sqlite-wal.other",
    ):
        (home.path / name).parent.mkdir(exist_ok=True)
        (home.path / name).write_bytes(bytes(1_000_000))
    found = [check.found for check in examine(home.path) if check.name == "set aside"]
    assert [told.split()[0] for told in found] == ["3.0", "1.0"]
    assert found[0].endswith("live.duckdb.damaged, live.recall.damaged-2, snapshots/live.duckdb.damaged")
    assert "log.sqlite-wal.other" in found[1]
    assert "with its last events perhaps" in found[1]


def test_what_lies_in_a_home_under_a_name_that_no_memory_has_is_told(home: Home) -> None:
    for name in ("a copy.duckdb", "LIVE.duckdb"):
        (home.path / name).write_bytes(b"something")
    found = {check.name: check for check in examine(home.path)}
    assert {found[name].status for name in ("a copy", "LIVE")} == {"failed"}
    assert found["live"].status == "well"


def gone(path: Path) -> None:
    path.unlink()


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [folder, gone])
def test_a_live_that_is_gone_while_it_is_served_is_made_anew_for_who_asks_for_a_copy(
    home: Home, before: dict[str, str], harm: Harm
) -> None:
    with serving(home):
        home.ask("digest")
        harm(home.memory_path("live"))
        with home.reading() as connection:
            assert connection.execute("SELECT count(*) > 0 FROM turns").fetchall() == [(True,)]
        assert home.ask("digest") == before
    assert home.ask("digest") == before


@pytest.mark.parametrize("harm", [gone, folder, emptied])
def test_a_server_whose_socket_is_gone_is_found_again(home: Home, harm: Harm) -> None:
    with serving(home):
        inode = home.folder.socket.lstat().st_ino
        if harm is emptied:
            gone(home.folder.socket)
        harm(home.folder.socket)
        assert home.ask("spaces")  # it waits until the server has noticed
        assert home.folder.socket.is_socket()
        assert home.folder.socket.lstat().st_ino != inode
    assert not home.folder.socket.exists()


def test_who_has_a_memory_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    memory(path, [turn("t1", "s")]).close()
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with Program(path, code=code, stdin=PIPE, stdout=PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(BusyError, match=rf"is open in another process, .+\(PID {holder.pid}\)") as told:
            store.connect(path, read_only=True)
        assert "mnemolog sql" in told.value.way_out
