"""Accidents in numbers: damage at random places, processes killed at random moments, disks that fill up at random.

Whatever happens is told in words, no row is ever wrong, and afterwards all goes on: the memory is what a fold of the
log from scratch gives. Few rounds here; `make accidents` has 200 of each damage, 50 kills and 20 full disks.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from processors import PROCESSORS
from projections import store as stores
from streams.core.errors import MnemologError
from streams.core.events import Outside, decode
from streams.logs.archive import archive
from streams.logs.rescue import rescue
from streams.logs.sqlite import SqliteLog
from streams.runtime.cache import FeatureCache
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.processes import PIPE, Program, run

Talk = Callable[[int], list[Outside]]

MANY = bool(os.environ.get("MNEMOLOG_ACCIDENTS"))
DAMAGES, KILLS, FULL = (200, 50, 20) if MANY else (4, 2, 2)
SEED = int(os.environ.get("MNEMOLOG_SEED", "1"))
QUESTIONS = [
    ("recall", {"space": "s0", "query": query, "k": 10})
    for query in ("checkout payment timeout", "purple colour", "sourdough bread fridge", "Lisbon offsite hotel")
]


def harm(path: Path, rng: random.Random) -> str:
    """Damages a file; in what way."""
    data = bytearray(path.read_bytes())
    kind = rng.choice(["one bit", "some bits", "some bits", "a block", "cut", "emptied"])
    match kind:
        case "one bit" | "some bits":
            for _ in range(1 if kind == "one bit" else rng.randint(2, 60)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "a block":
            at = rng.randrange(len(data))
            data[at : at + 512] = rng.randbytes(len(data[at : at + 512]))
        case "cut":
            del data[rng.randrange(len(data)) :]
        case _:
            data.clear()
    path.write_bytes(data)
    return kind


class Damage:
    """A home that was folded, as a template, and what is asked of a copy of it with a damaged file. `within` gives the
    same in another folder."""

    def __init__(self, folder: Path, events: list[Outside]) -> None:
        self.folder = folder
        self.template = folder / "template"
        home = Home(self.template, PROCESSORS)
        home.log.append(events)
        self.digest = home.ask("digest")
        self.answers = [home.ask(what, **given) for what, given in QUESTIONS]
        assert all(answer["hits"] for answer in self.answers)
        self.right = {row for what, given in QUESTIONS for row in rows(home.ask(what, **given | {"k": 32}))}
        with home.reading():
            pass
        replay(home, "other", reuse=False, processes=1)
        archive(home.log, folder / "archive")
        self.records = [record[2:6] for record in home.log.read(0, 0)]
        home.log.close()
        self.seen: Counter[str] = Counter()

    def within(self, folder: Path) -> Damage:
        """The same in a copy of its folder, with nothing seen."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        found = copy(self)
        found.folder, found.template, found.seen = folder, folder / "template", Counter()
        return found

    def rounds(self, damaged: Callable[[Path], Path], asked: Callable[[Home], None]) -> None:
        """Damages a file in copies of the home; `asked` may raise what is said in words."""
        for number in range(DAMAGES):
            rng = random.Random(f"{SEED} {number}")
            shutil.copytree(self.template, self.folder / "home")
            harmed = damaged(self.folder / "home")
            kept = harmed.read_bytes()
            kind = harm(harmed, rng)
            home = Home(self.folder / "home", PROCESSORS)
            try:
                asked(home)
            except MnemologError:
                self.seen["told"] += 1
            except Exception as error:
                raise AssertionError(f"round {number}, {kind}: {error!r}") from error
            finally:
                with suppress(MnemologError):
                    home.log.close()
                harmed.unlink(missing_ok=True)
                if harmed.is_relative_to(self.folder / "archive"):
                    harmed.write_bytes(kept)
                shutil.rmtree(self.folder / "home")

    def goes_on(self, home: Home) -> None:
        """A home is asked until it answers; every answer is right."""
        for _ in range(4):
            try:
                assert home.ask("digest") == self.digest
                self.recalls(home)
                with home.reading() as connection:
                    connection.execute("SELECT count(*) FROM turns").fetchall()
                return
            except MnemologError:
                self.seen["told"] += 1
        raise AssertionError("it was not mended")

    def recalls(self, home: Home) -> None:
        for (what, given), right in zip(QUESTIONS, self.answers, strict=True):
            found = home.ask(what, **given)
            self.seen["recalls"] += 1
            if found != right:
                self.seen["recalls that lack something"] += 1
                assert rows(found) <= self.right, "a wrong row"


def rows(answer: Any) -> set[str]:
    return {f"{hit['id']} {hit['text']}" for hit in answer["hits"]}


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory: pytest.TempPathFactory, talk: Talk) -> Damage:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("cache", "replay"):  # as `small_chunks`
            patch.setattr(f"streams.runtime.{module}.CHUNK", 64)
        return Damage(tmp_path_factory.mktemp("undamaged"), talk(150))


@pytest.fixture
def damage(tmp_path: Path, undamaged: Damage, small_chunks: None) -> Iterator[Damage]:
    found = undamaged.within(tmp_path)
    yield found
    print(dict(found.seen))


def test_live_is_right_or_made_anew(damage: Damage) -> None:
    damage.rounds(lambda home: home / "live.duckdb", damage.goes_on)


def test_an_index_of_recall_is_right_or_made_anew(damage: Damage) -> None:
    damage.rounds(lambda home: home / "live.recall", damage.goes_on)


def test_a_snapshot_is_copied_anew(damage: Damage) -> None:
    damage.rounds(lambda home: home / "snapshots" / "live.duckdb", damage.goes_on)


def test_features_are_right_or_read_anew(damage: Damage) -> None:
    def folded(home: Home) -> None:
        replay(home, "again", reuse=False, processes=1)
        assert home.ask("digest", "again") == damage.digest

    def chunk(home: Path) -> Path:
        with closing(SqliteLog(home / "log.sqlite")) as log:
            return FeatureCache(home / "cache", log).path(0, 1)

    damage.rounds(chunk, folded)


def test_a_memory_that_a_replay_made_is_right_or_told(damage: Damage) -> None:
    def asked(home: Home) -> None:
        with suppress(MnemologError):
            assert home.ask("digest", "other") == damage.digest
        replay(home, "other", replace=True)
        assert home.ask("digest", "other") == damage.digest

    damage.rounds(lambda home: home / "other.duckdb", asked)


def test_an_archive_is_right_or_told(damage: Damage) -> None:
    (sealed,) = (damage.folder / "archive").glob("*/*.parquet")

    def folded(home: Home) -> None:
        replay(home, "again", reuse=False, processes=1, archive=damage.folder / "archive")
        assert home.ask("digest", "again") == damage.digest

    damage.rounds(lambda home: sealed, folded)


def test_what_can_be_read_of_a_log_is_what_was_recorded(damage: Damage) -> None:
    rescued = damage.folder / "rescued"

    def asked(home: Home) -> None:
        try:
            replay(home, "again", reuse=False, processes=1)
            assert home.ask("digest", "again") in (damage.digest, home.ask("digest"))
        except MnemologError:
            damage.seen["told"] += 1
        done = rescue(home.path / "log.sqlite", rescued)
        damage.seen["readable"] += done.readable.count()
        with closing(SqliteLog(rescued)) as log:
            found = [record[2:6] for record in log.read(0, 0)]
        rescued.unlink()
        rest = iter(damage.records)
        assert all(record in rest for record in found), "not what was recorded, or not in its order"

    damage.rounds(lambda home: home / "log.sqlite", asked)


# -- kills -------------------------------------------------------------------------------------------------------------

LOAD = """
import random, sys
from pathlib import Path
from processors import PROCESSORS
from streams.core.errors import MnemologError
from streams.logs.archive import archive
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.contracts.log_contract import turn
home, life = Home(Path(sys.argv[1]), PROCESSORS), sys.argv[2]
rng = random.Random(life)
for n in range(1_000_000):
    home.log.append([turn(f"{life}-{n}-{i}", f"The checkout fails with error {n}", f"s{i % 3}") for i in range(5)])
    print(f"{life}-{n}", flush=True)
    match rng.randrange(12):
        case 0 | 1 | 2:
            home.ask("recall", space="s1", query="checkout")
        case 3:
            home.snapshot()
        case 4:
            replay(home, "next", replace=True, reuse=rng.random() < 0.5, processes=1)
        case 5:
            if "next" in home.memories():
                kept = home.promote("next")
                home.forget(kept)
        case 6:
            archive(home.log, home.path.parent / "archive")
        case 7:
            home.log.backup(home.path.parent / "backup")
        case _:
            home.ask("spaces")
"""


def test_processes_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    acknowledged: list[str] = []
    for life in range(KILLS):
        words = (tmp_path / "home", f"{SEED}-{life}")
        with Program(*words, code=LOAD, stdout=PIPE, stderr=PIPE, text=True) as load:
            assert load.stdout is not None
            first = load.stdout.readline()
            time.sleep(rng.uniform(0, 4))
            load.send_signal(signal.SIGKILL)
            told, errors = load.communicate(timeout=60)
        assert (first, errors) != ("", ""), life
        assert "Error" not in errors, (life, errors)
        acknowledged += [line for line in (first + told).splitlines() if line]
        home = Home(tmp_path / "home", PROCESSORS)
        replay(home, "verify", replace=True, reuse=False, processes=1)
        assert home.ask("digest") == home.ask("digest", "verify"), life
        ids = Counter(decode(record.type, record.value).id for record in home.log.read(0, 0))
        assert set(ids.values()) <= {1}, life
        assert all(f"{one}-{i}" in ids for one in acknowledged for i in range(5)), life
        home.log.close()
    print(f"{KILLS} kills, {5 * len(acknowledged)} turns acknowledged")


# -- full disks --------------------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MB: a home of some rounds, and what folds it once more, find room."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(disk: Path, left: int) -> None:
    """Leaves so many bytes free."""
    (disk / "full").touch()
    with (disk / "full").open("r+b", buffering=0) as full:
        for _ in range(50):
            found = os.statvfs(disk)
            with suppress(OSError):  # a server has just taken some of it, or all
                os.posix_fallocate(full.fileno(), 0, max(4096, found.f_bavail * found.f_frsize - left))
                return


def mnemolog(*words: object, stdin: str = "") -> str:
    """What a command says; it says it in words."""
    ran = run(*words, input=stdin, capture_output=True, text=True, timeout=300)
    said = ran.stdout + ran.stderr
    assert not any(word in said for word in ("unexpected", "Traceback", "Exception ignored")), (words, said)
    assert ran.returncode in (0, 1, 2), (words, ran.returncode, said)
    return said


def lines(tag: str, count: int) -> str:
    said = (
        {"id": f"{tag}-{n}", "session": f"s{n % 5}", "role": "user", "content": f"turn {n} about checkout error {n}"}
        for n in range(count)
    )
    return "".join(json.dumps(one) + "\n" for one in said)


@contextmanager
def served(home: Path, serves: bool) -> Iterator[None]:
    """A server of a home, where `serves`."""
    if not serves:
        yield
        return
    with Program("serve", "--home", home, stdout=PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert "serving" in server.stdout.readline()
            yield
        finally:
            server.terminate()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file without room")
def test_a_server_serves_though_what_it_says_of_itself_finds_no_room(tmp_path: Path) -> None:
    with (
        Path("/dev/full").open("w") as full,
        Program("serve", "--home", tmp_path / "home", stdout=full, stderr=full) as server,
    ):
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "home" / "socket").exists():
                assert (server.poll(), time.monotonic() < deadline) == (None, True)
                time.sleep(0.05)
            assert Memory(home=tmp_path / "home", start=False).record("s", "user", "Is there room?", id="t1") == "t1"
        finally:
            server.terminate()


def test_a_full_disk_is_told_and_when_there_is_room_all_goes_on(disk: Path, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    home = disk / "home"
    told = 0
    commands: list[tuple[object, ...]] = [
        ("recall", "checkout"), ("efforts",), ("context", "--session", "s1"), ("sql", "SELECT count(*) FROM turns"),
        ("replay", "--as", "next", "--replace"), ("replay", "--as", "next", "--replace", "--from-scratch"),
        ("promote", "next"), ("doctor",), ("memories",), ("backup", disk / "backup"), ("archive", disk / "archive"),
        ("digest",),
    ]  # fmt: skip
    for number in range(FULL):
        (disk / "full").unlink(missing_ok=True)
        mnemolog("feed", "-", "--home", home, stdin=lines(f"before-{number}", 200))
        with served(home, number % 3 == 2):
            fill(disk, rng.choice([0, rng.randrange(100_000), rng.randrange(4_000_000)]))
            for n, words in enumerate(rng.sample(commands, len(commands) if MANY else 4)):
                said = mnemolog(*words, "--home", home)
                told += "room" in said or "full" in said
                if n % 2:
                    mnemolog("feed", "-", "--home", home, stdin=lines(f"full-{number}-{n}", 2000))
            (disk / "full").unlink()
            assert "200 added" in mnemolog("feed", "-", "--home", home, stdin=lines(f"after-{number}", 200))
            assert "about checkout error 199" in mnemolog("show", f"after-{number}-199", "--home", home)
            assert "the same as a fold" in mnemolog("digest", "--verify", "--home", home)
        half_done = ("*.partial", "*/*.partial", ".replay-*", ".live.*", "*/.*.partial")
        assert [path.name for pattern in half_done for path in home.glob(pattern) if "lock" not in path.name] == []
        for extra in (disk / "backup", *home.glob("live-*"), *home.glob("next*")):
            extra.unlink(missing_ok=True)
        shutil.rmtree(disk / "archive", ignore_errors=True)
        if number % 5 == 4:
            shutil.rmtree(home)
    print(f"{FULL} full disks, {told} commands told of it")


def test_what_is_said_to_be_written_is_whole_however_little_room_there_was(disk: Path, talk: Talk) -> None:
    home = Home(disk / "home", PROCESSORS)
    home.log.append(talk(300))
    with home.live():
        pass
    expected = home.ask("digest")
    written = 0
    for left in range(256 << 10, 12 << 20, 1280 << 10):
        fill(disk, left)
        with suppress(MnemologError):
            replay(home, "next", reuse=False)
        with suppress(MnemologError), home.live():
            pass
        (disk / "full").unlink()
        if home.memory_path("next").exists():
            written += 1
            assert home.ask("digest", "next") == expected, left
            home.memory_path("next").unlink()
        with closing(stores.read_only(home.memory_path("live"))) as connection:
            assert connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchall(), left
    assert written, "at last there was room"
    home.close()
