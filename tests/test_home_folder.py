"""The folder of a home: whose it is, what may lie in it, and what its files are called."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from processors import PROCESSORS
from streams.core.errors import UsageError
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.processes import PIPE, Program, run


def mnemolog(*words: object, umask: int = 0o077, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run(*words, umask=umask, input=stdin, capture_output=True, text=True, timeout=300)


def said(n: int, **more: object) -> str:
    return json.dumps({"session": "s", "role": "user", "content": f"turn {n}", "id": f"t{n}"} | more) + "\n"


def rights(path: Path) -> str:
    return oct(stat.S_IMODE(path.lstat().st_mode))


def test_nothing_in_a_home_is_for_others_whatever_the_umask(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert mnemolog("feed", "-", "--home", home, umask=0, stdin=said(1)).returncode == 0
    with Program("serve", "--home", home, umask=0, stdout=PIPE) as server:
        try:
            assert server.stdout is not None
            assert b"serving" in server.stdout.readline()
            for words in (("recall", "turn"), ("sql", "SELECT 1"), ("replay", "--as", "other")):
                assert mnemolog(*words, "--home", home, umask=0).returncode == 0
            found = {path.relative_to(home): rights(path) for path in [home, *home.rglob("*")]}
        finally:
            server.terminate()
            server.wait(60)
    assert {Path("live.duckdb"), Path("log.sqlite"), Path("socket"), Path("live.recall")} < found.keys()
    assert {path: mode for path, mode in found.items() if mode not in ("0o700", "0o600")} == {}


def test_a_home_that_others_could_enter_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o777)
    Home(tmp_path / "home", PROCESSORS)
    assert rights(tmp_path / "home") == "0o700"


def test_a_folder_for_everybody_is_not_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)  # as /tmp is
    with pytest.raises(UsageError, match="is for everybody"):
        Home(tmp_path, PROCESSORS)
    assert (rights(tmp_path), [*tmp_path.iterdir()]) == ("0o1777", [])


def test_a_path_that_duckdb_reads_otherwise_is_no_home(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is a '\?' in it"):
        Home(tmp_path / "home?mode=memory", PROCESSORS)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("words", [("efforts", "--home", ""), ("feed", "", "--home", "home"), ("--home=", "tail")])
def test_a_path_that_is_empty_is_not_the_folder_one_stands_in(
    tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.jsonl").write_text(said(1))
    told = mnemolog(*words)
    assert (told.returncode, "it is empty; name a path" in told.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["turns.jsonl"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root may be another user")
def test_another_user_is_handed_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert mnemolog("feed", "-", "--home", home, stdin=said(1)).returncode == 0
    for place in (tmp_path, *list(tmp_path.parents)[:3]):
        place.chmod(0o755)
    for name in ("log.sqlite", "writer.lock"):
        seen = subprocess.run(["/bin/cat", home / name], user=65534, group=65534, capture_output=True, check=False)
        assert (seen.returncode, seen.stdout) == (1, b"")


@pytest.mark.skipif(os.getuid() != 0, reason="only root may be another user")
@pytest.mark.parametrize("place", ["", "log.sqlite", "log.sqlite.gate", "writer.lock", "live.duckdb"])
def test_nothing_is_written_where_another_user_could_read_or_hold_it(tmp_path: Path, place: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if place:
        (home / place).touch()
    os.chown(home / place, 65534, 65534)
    told = mnemolog("feed", "-", "--home", home, stdin=said(1))
    assert (told.returncode, "Traceback" in told.stderr) == (2, False)
    assert f"{home / place} belongs to another user (65534)" in told.stderr.replace("\n", " ")
    assert [path.name for path in home.iterdir() if path.name != "snapshots"] == ([place] if place else [])
    assert all(path.stat().st_size == 0 for path in home.iterdir() if path.is_file())


@pytest.mark.skipif(os.getuid() != 0, reason="only root may be another user")
@pytest.mark.parametrize("place", ["", "hook.log", "hooks"])
def test_a_hook_writes_nothing_where_another_user_says(tmp_path: Path, place: str) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (home / (place or "hook.log")).symlink_to(elsewhere / ("" if place == "hooks" else "file"))
    os.chown(home / place, 65534, 65534, follow_symlinks=False)
    event = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(tmp_path)}
    for given in (json.dumps(event), "no event"):
        assert mnemolog("hook", "--home", home, stdin=given).returncode == 0
    assert (len([*home.iterdir()]), [*elsewhere.iterdir()]) == (1, [])


@pytest.mark.parametrize("name", ["live.duckdb", "log.sqlite", "snapshots", "cache", "socket"])
def test_links_in_a_home_are_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").write_text("what must stay as it is")
    (tmp_path / "home" / name).symlink_to(tmp_path / "elsewhere")
    told = mnemolog("feed", "-", "--home", tmp_path / "home", stdin=said(1))
    assert (told.returncode != 0, "Traceback" in told.stderr) == (True, False)
    assert (tmp_path / "elsewhere").read_text() == "what must stay as it is"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "home"]


@pytest.mark.parametrize("name", ["log", "LOG", "Cache", "snapshots", "../x", ".x", "", "a/b", "x" * 65])
def test_a_memory_has_a_name_of_its_own(home: Home, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a memory"):
        home.memory_path(name)


def test_names_that_differ_in_case_only_are_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="differ in more than case"):
        replay(home, "Live")  # though there is no live yet
    home.ask("spaces")
    replay(home, "Next")
    for name in ("next", "NEXT", "Live"):
        with pytest.raises(UsageError, match="differ in more than case"):
            replay(home, name)
    assert home.memories() == ["live", "Next"]


def test_sql_sees_the_memory_alone_unless_a_person_says_otherwise(tmp_path: Path) -> None:
    home = tmp_path / "home"
    mnemolog("feed", "-", "--home", home, stdin=said(1))
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    for statement in (
        f"SELECT content FROM read_text('{secret}')",
        f"COPY turn_recorded TO '{tmp_path / 'out.csv'}'",
        f"ATTACH '{tmp_path / 'other.duckdb'}'",
        f"EXPORT DATABASE '{tmp_path / 'whole'}'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ):
        told = mnemolog("sql", statement, "--home", home)
        assert (told.returncode, "hidden" in told.stdout, "Traceback" in told.stderr) == (2, False, False), statement
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "secret.txt"]
    told = mnemolog("sql", f"SELECT content FROM read_text('{secret}')", "--files", "--home", home)
    assert "hidden" in told.stdout


def test_sql_is_ended_where_it_takes_too_long(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert mnemolog("feed", "-", "--home", home, stdin=said(1)).returncode == 0
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b"
    told = mnemolog("sql", endless, "--seconds", 1, "--home", home)
    assert (told.returncode, told.stderr.splitlines()[0]) == (2, "error: the answer took longer than 1 s")


def test_four_feeds_of_one_file_keep_every_rejected_line(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    broken = [f"broken {n} {'x' * 200}\n" for n in range(2000)]
    path.write_text("".join(said(n) + line for n, line in enumerate(broken)))
    feeds = [
        Program("feed", path, "--home", tmp_path / "home", stderr=subprocess.DEVNULL, stdout=PIPE) for _ in range(4)
    ]
    for feed in feeds:
        feed.communicate(timeout=300)
    assert [feed.returncode for feed in feeds] == [1, 1, 1, 1]
    rejects = list(tmp_path.glob("turns.jsonl.rejects*"))
    assert rejects == [tmp_path / "turns.jsonl.rejects.jsonl"]
    assert rejects[0].read_text() == "".join(broken)


def test_a_long_name_does_not_keep_a_file_from_being_fed(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    path.write_text(said(1) + "broken\n")
    told = mnemolog("feed", path, "--home", tmp_path / "home")
    assert (told.returncode, "1 added, 1 rejected" in told.stdout) == (1, True)
    assert [found.read_text() for found in tmp_path.glob("*.rejects.jsonl")] == ["broken\n"]


def test_a_digest_is_verified_by_a_fold_from_scratch(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    mnemolog("feed", "-", "--home", home.path, stdin="".join(said(n) for n in range(30)))
    told = mnemolog("digest", "--verify", "--home", home.path)
    assert (told.returncode, "from scratch" in told.stdout) == (0, True)
    with home.live() as runtime:
        runtime.store.connection.execute("UPDATE turn_recorded SET content = 'something else' WHERE id = 't3'")
    assert mnemolog("digest", "--home", home.path).returncode == 0
    told = mnemolog("digest", "--verify", "--home", home.path, "--json")
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert told.returncode == 1
    assert [row["table"] for row in rows if not row["same"]] == ["turn_recorded"]
    told = mnemolog("replay", "--as", "anew", "--from-scratch", "--home", home.path, "--json")
    assert json.loads(told.stdout)["reused"] == []
    assert home.ask("digest", "anew") == {row["table"]: row["anew"] for row in rows}
    assert [path.name for path in home.path.glob("*verify*")] == []


def test_a_replay_that_takes_from_live_says_so(tmp_path: Path) -> None:
    mnemolog("feed", "-", "--home", tmp_path, stdin="".join(said(n) for n in range(30)))
    mnemolog("digest", "--home", tmp_path)
    reused = json.loads(mnemolog("replay", "--as", "same", "--home", tmp_path, "--json").stdout)["reused"]
    assert len(reused) > len(PROCESSORS)
