"""What a runtime holds in memory of state, and what lies in a file of its own meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streams.runtime.embedded as embedded
import streams.runtime.spool as spooled
from processors import PROCESSORS
from projections.stored import digest
from streams.core.processor import Held
from streams.runtime.home import Home
from streams.runtime.spool import Spool
from tests.bench.generated import turns

KNOWN = ["due/1", "due/2", "effort/é", "effort/", "turn/1", "turn/10", "turns", "turn/\U0010ffff"]
KEYS = st.sampled_from(KNOWN)
CHANGES = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=3)))


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spool:
    monkeypatch.setattr(spooled, "SMALL", 2)
    monkeypatch.setattr(spooled, "ROOM", 0)
    return Spool(tmp_path / ".state")


@given(CHANGES, st.sampled_from([0, 1_200, 10_000]))
def test_records_in_a_file_are_found_as_those_in_memory(changes: list[tuple[str, bytes | None]], room: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spooled, "SMALL", 2)
        patch.setattr(spooled, "ROOM", room)
        spool = Spool(Path(tempfile.gettempdir()) / f".state-{os.getpid()}")
        try:
            mine, other, held = spool.records(), spool.records(), Held()
            other.update({f"turn/{n}": b"other" for n in range(5)})
            for key, value in changes:
                for records in (mine, held):
                    if value is None:
                        records.discard(key)
                    else:
                        records.update({key: value})
            for key in ("due/1", "due/2", "effort/é", "effort/", "turn/1", "turn/10", "turns", "none"):
                assert mine.get(key) == held.get(key)
            for prefix in ("", "due/", "effort/", "turn/", "turn/1"):
                assert {*mine.begin(prefix)} == {*held.begin(prefix)}
            assert other.get("turn/3") == b"other"
            mine.update(dict.fromkeys(KNOWN, b"last"))
            left = sum(len(key) + len(value) + spooled.OVERHEAD for key, value in other._held.items())
            assert spool.held == left + sum(
                len(key) + len(value) + spooled.OVERHEAD for key, value in mine._held.items()
            )
        finally:
            spool.close()


def test_the_file_has_no_name_and_gives_back_the_room_of_what_is_let_go(spool: Spool, tmp_path: Path) -> None:
    records = spool.records()
    records.update({f"turn/{n}": b"x" for n in range(9)})
    assert not [*tmp_path.iterdir()]
    assert spool.read("SELECT count(*) FROM record") == [(9,)]
    del records
    assert spool.read("SELECT count(*) FROM record") == [(0,)]
    spool.close()
    spool.forget(0)


def test_what_there_is_room_for_stays_in_memory_until_there_is_more(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spooled, "ROOM", 10_000)
    few, many = spool.records(), spool.records()
    few.update({f"turn/{n}": b"few" for n in range(9)})
    assert spool.read("SELECT count(*) FROM record") == []
    many.update({f"turn/{n}": b"many" * 100 for n in range(20)})
    assert spool.read("SELECT count(*) FROM record") == [(20,)]
    many.update({"turn/3": b"new"})
    assert spool.read("SELECT count(*) FROM record") == [(20,)]
    assert [few.get("turn/3"), many.get("turn/3"), many.get("turn/4")] == [b"few", b"new", b"many" * 100]
    spool.close()


def test_where_there_is_no_room_for_the_file_records_stay_in_memory(spool: Spool, tmp_path: Path) -> None:
    records = spool.records()
    tmp_path.rename(tmp_path.with_name("gone"))
    records.update({f"turn/{n}": b"x" for n in range(9)})
    assert records.get("turn/8") == b"x"
    tmp_path.with_name("gone").rename(tmp_path)
    records.update({"turn/8": b"y"})
    assert records.get("turn/8") == b"y"
    assert spool.read("SELECT count(*) FROM record") == [(9,)]
    spool.close()


def test_a_memory_folded_with_little_of_its_state_in_memory_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "RECORDS", 500)
    monkeypatch.setattr(spooled, "SMALL", 8)
    monkeypatch.setattr(spooled, "ROOM", 0)
    home = Home(tmp_path / "home", PROCESSORS)
    events = [*turns(600, 3)]
    most = 0
    with home.live() as runtime:
        for start in range(0, len(events), 20):
            home.log.append(events[start : start + 20])
            runtime.catch_up()
            most = max(most, sum(len(state) for states in runtime.driver.spaces.values() for state in states))
        assert runtime.spool.read("SELECT count(*) FROM record")[0][0] > 1000
        assert most < 3000
        little = digest(runtime.store.connection)
    other = Home(tmp_path / "other", PROCESSORS)
    monkeypatch.setattr(embedded, "RECORDS", 10**9)
    other.log.append(events)
    with other.live() as runtime:
        runtime.catch_up()
        assert digest(runtime.store.connection) == little
