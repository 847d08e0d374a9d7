"""What is derived is expendable: damaged, it is said once, set aside and made anew from the log; the log is not."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from processors import PROCESSORS
from projections import store
from streams.core.errors import MnemologError
from streams.gateways.doctor import examine
from streams.runtime import cache
from streams.runtime.cache import FeatureCache
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.processes import Program
from tests.test_runtime import serving

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
def test_a_damaged_live_is_made_anew(home: Home, said: list[str], harm: Harm) -> None:
    before = home.ask("digest")
    harm(home.memory_path("live"))
    assert home.ask("digest") == before
    assert len(said) == 1
    assert "live.duckdb.damaged" in said[0]
    assert (home.path / "live.duckdb.damaged").exists()
    assert home.memories() == ["live"]
    assert home.ask("digest") == before
    assert len(said) == 1


@pytest.mark.parametrize("harm", HARMS)
def test_a_server_starts_with_a_damaged_live(home: Home, said: list[str], harm: Harm) -> None:
    before = home.ask("digest")
    harm(home.memory_path("live"))
    with serving(home):
        assert home.ask("digest") == before
    assert home.ask("digest") == before


def test_a_live_that_is_damaged_while_it_is_served_is_made_anew(
    home: Home, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = home.ask("digest")
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
def test_a_replay_that_takes_from_live_does_not_take_damage(home: Home, said: list[str], harm: Harm) -> None:
    before = home.ask("digest")
    harm(home.memory_path("live"))
    replay(home, "other")
    assert home.ask("digest", "other") == before


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_index_is_made_anew(home: Home, said: list[str], harm: Harm) -> None:
    question = {"space": "s0", "query": "checkout payment", "k": 5}
    before = home.ask("recall", **question)
    assert len(before["hits"]) == 5
    harm(home.memory_path("live").with_suffix(".recall"))
    answers = []
    for _ in range(2):  # damage that is met within a question is told, and mended by the next
        try:
            answers.append(home.ask("recall", **question))
        except MnemologError:
            continue
    assert answers[-1] == before


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_snapshot_is_copied_anew(home: Home, said: list[str], harm: Harm) -> None:
    with home.reading() as connection:
        count = connection.execute("SELECT count(*) FROM turns").fetchall()
    harm(home.path / "snapshots" / "live.duckdb")
    with home.reading() as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchall() == count


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_cache_of_features_changes_no_replay(
    home: Home, said: list[str], harm: Harm, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (cache, __import__("streams.runtime.replay", fromlist=["replay"])):
        monkeypatch.setattr(module, "CHUNK", 64)
    before = home.ask("digest")
    replay(home, "first", reuse=False, processes=1)
    chunks = sorted(FeatureCache(home.path / "cache", home.log).folder.glob("*.parquet"))
    assert len(chunks) > 3
    for chunk in chunks:
        harm(chunk)
    replay(home, "second", reuse=False, processes=1)
    assert home.ask("digest", "first") == home.ask("digest", "second") == before


def test_a_journal_that_another_file_left_is_not_taken_up(home: Home, said: list[str], tmp_path: Path) -> None:
    before = home.ask("digest")
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
def test_a_promotion_that_is_killed_leaves_one_of_the_two_whole(home: Home, said: list[str], step: int) -> None:
    before = home.ask("digest")
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
    home: Home, said: list[str], seed: int
) -> None:
    before = home.ask("digest")
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
    assert told() == {}
    harm(home.memory_path("live"))
    assert told()["live"].endswith("the next question makes it anew")
