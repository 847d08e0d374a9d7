"""An event that a processor cannot fold: it is set aside, all else goes on, and live equals a replay."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest

from processors import PROCESSORS
from projections import store
from streams.core.driver import Driver, as_raw, told_aside
from streams.core.errors import Aside, DamagedError, FaultError
from streams.core.events import MINUTE, Outside, TurnRecorded, encode
from streams.core.params import Params, param
from streams.core.processor import RAW, Derived, Processor, Raw, State, on
from streams.gateways.doctor import examine
from streams.logs import LOG_FILE
from streams.logs.encryption import StoredEvent
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.records import headers_of
from streams.logs.sqlite import SqliteLog
from streams.runtime import cache
from streams.runtime import replay as replaying
from streams.runtime.home import Home
from streams.runtime.home.keeper import open_live
from streams.runtime.home.server import serve
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.part import Job, Part
from streams.runtime.kafka.state import Kept
from streams.runtime.replay import parse_settings, replay
from tests.contracts.log_contract import NOW
from tests.kafka.messages import Message
from tests.processes import run


@dataclass(slots=True)
class Counted(Derived):
    """How many turns a space has."""

    count: int
    type: Literal["counted.v1"] = "counted.v1"


@dataclass(slots=True)
class Doubled(Derived):
    """Twice that, and how many counts there were."""

    count: int
    counts: int
    type: Literal["doubled.v1"] = "doubled.v1"


@dataclass(slots=True)
class Listed(Derived):
    """What was said before, by one who reads no other."""

    count: int
    before: str
    type: Literal["listed.v1"] = "listed.v1"


@dataclass(slots=True)
class Number:
    """State: a count."""

    count: int = 0
    said: str = ""


class Choosy(Params):
    """Which word cannot be borne."""

    word: str = param("poison", "word", "for tests")


def _next(state: State) -> Number:
    found = state.get("n", Number) or Number()
    found.count += 1
    state.put("n", found)
    return found


def _count(params: Choosy, state: State, turn: TurnRecorded, raw: Raw[Any]) -> Sequence[Derived]:
    found = _next(state)  # the record is changed by then, and would be saved with the next turn
    if params.word in turn.content:
        raise OverflowError(f"cannot bear {turn.content}")
    return [Counted(turn.space, turn.session, turn.at, found.count)]


def _double(params: Choosy, state: State, counted: Counted, raw: Raw[Any]) -> Sequence[Derived]:
    return [Doubled(counted.space, counted.session, counted.at, 2 * counted.count, _next(state).count)]


def _seen(params: Choosy, state: State, turn: TurnRecorded, raw: Raw[Any]) -> Sequence[Derived]:
    _next(state)
    return []


def _list(params: Choosy, state: State, turn: TurnRecorded, raw: Raw[Any]) -> Sequence[Derived]:
    found = _next(state)
    before, found.said = found.said, turn.content
    if params.word in turn.content:
        raise KeyError(turn.content)
    return [Listed(turn.space, turn.session, turn.at, found.count, before)]


COUNTING = Processor("counting", 1, Choosy, (on(TurnRecorded, _count),), (Counted,), (RAW,))
DOUBLING = Processor(
    "doubling", 1, Params, (on(Counted, _double), on(TurnRecorded, _seen)), (Doubled,), (RAW, "counting")
)
LISTING = Processor("listing", 1, Choosy, (on(TurnRecorded, _list),), (Listed,), (RAW,))
REGISTRY = (COUNTING, DOUBLING, LISTING)


def said(n: int, content: str, space: str = "a") -> TurnRecorded:
    return TurnRecorded(space, f"t{n}", n * MINUTE, "s", "ann", "user", content)


TALK: list[Outside] = [
    said(n, "poison please" if n in (4, 9, 10) else f"turn {n}", "ab"[n % 3 == 2]) for n in range(14)
]
"""Of two spaces; 4, 9, 10 cannot be folded by those who cannot bear them."""


def home_of(path: Path, *, listing: str = "nothing", counting: str = "poison") -> Home:
    """A home whose live has parameters."""
    home = Home(path, REGISTRY)
    params = {"counting": {"word": counting}, "doubling": {}, "listing": {"word": listing}}
    home.log.note("params", store._text(params))
    return home


def rows(home: Home, memory: str = "live") -> dict[str, list[Any]]:
    """All derived rows of a memory, and the turns."""
    if memory == "live":
        home.ask("spaces")
    with closing(store.read_only(home.memory_path(memory))) as connection:
        found = {
            name: connection.execute(f"SELECT position, * EXCLUDE (lineage) FROM {name} ORDER BY position").fetchall()
            for name in ("counted", "doubled", "listed")
        }
        found["turn_recorded"] = connection.execute(
            "SELECT position, id FROM turn_recorded ORDER BY position"
        ).fetchall()
        for name in ("counted", "doubled", "listed"):
            found[f"{name} columns"] = [
                "position",
                *(c for c in store.column_names(connection, name) if c != "lineage"),
            ]
        return found | {"aside": store.aside(connection)}


def test_others_fold_on_and_the_next_turn_finds_the_state_of_before(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    home.log.append(TALK)
    found = rows(home)
    home.log.close()
    bad = {4, 9, 10}
    mine = [n for n in range(14) if n % 3 != 2 and n not in bad]
    assert [row[0] for row in found["counted"]] == [n for n in range(14) if n not in bad]
    counts = {row[0]: row[-1] for row in found["counted"]}
    assert [counts[n] for n in mine] == list(range(1, len(mine) + 1))
    assert [row[0] for row in found["doubled"]] == [row[0] for row in found["counted"]]
    doubled = {row[0]: row[-1] for row in found["doubled"]}
    assert [doubled[n] for n in mine] == list(range(1, 2 * len(mine), 2)), "who reads it passed them by"
    assert len(found["listed"]) == len(found["turn_recorded"]) == 14
    assert found["aside"] == [Aside(0, n, "counting", "ab"[n % 3 == 2], "OverflowError") for n in sorted(bad)]


@pytest.mark.parametrize("listing", ["nothing", "poison", "turn 6"])
def test_live_in_pieces_with_restarts_equals_a_replay_from_scratch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listing: str
) -> None:
    monkeypatch.setattr(replaying, "CHUNK", 3)
    monkeypatch.setattr(cache, "CHUNK", 3)
    home = home_of(tmp_path / "pieces", listing=listing)
    for event in TALK:
        home.log.append([event])
        rows(home)
    live = rows(home)
    replay(home, "again", reuse=False)
    replay(home, "shared", reuse=False, processes=2)
    assert rows(home, "again") == rows(home, "shared") == live
    home.log.close()
    whole = home_of(tmp_path / "whole", listing=listing)
    whole.log.append(TALK)
    assert rows(whole) == live
    whole.log.close()
    assert {one.processor for one in live["aside"]} == (
        {"counting"} if listing == "nothing" else {"counting", "listing"}
    )


def test_what_is_folded_ahead_of_the_tables_is_restored_too(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    with closing(open_live(home)) as live:
        for event in TALK:
            home.log.append([event])
            live.catch_up(ahead=True)
        live.settle()
    found = rows(home)
    replay(home, "again", reuse=False)
    assert rows(home, "again") == found
    home.log.close()


def test_it_is_told_without_the_tables_which_may_be_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = home_of(tmp_path)
    home.log.append([said(0, "one"), said(1, "poison")])
    with home.live():
        pass
    with home.live() as runtime, monkeypatch.context() as patched:
        patched.setattr(runtime.store, "connection", None)
        assert [one.processor for one in runtime.aside()] == ["counting"]


def test_a_replay_that_reuses_what_live_made_equals_one_that_folds_all(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    home.log.append(TALK)
    home.ask("spaces")
    changed = parse_settings(home, home.live_params(), ["listing.word=turn 6"])
    report = replay(home, "some", changed)
    replay(home, "all", changed, reuse=False)
    assert {"counting", "doubling"} <= set(report.reused)
    assert rows(home, "some") == rows(home, "all")
    borne = parse_settings(home, home.live_params(), ["counting.word=nothing"])
    replay(home, "borne", borne)
    assert len(rows(home, "borne")["counted"]) == 14
    assert rows(home, "borne")["aside"] == []
    home.log.close()


def test_a_replay_to_a_time_equals_one_of_what_was_said_by_then(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    home.log.append(TALK)
    replay(home, "then", until="1970-01-01T00:09:00Z", reuse=False)
    found = rows(home, "then")
    assert [row[0] for row in found["counted"]] == [n for n in range(9) if n != 4]
    assert found["aside"] == [Aside(0, n, "counting", "a", "OverflowError") for n in (4, 9)]
    home.log.close()


def test_words_that_cannot_be_read_are_passed_by_and_stop_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from streams.core import driver

    read = driver.read

    def reading(turn: TurnRecorded) -> Any:
        if "poison" in turn.content:
            raise ValueError("too many digits")
        return read(turn)

    monkeypatch.setattr(driver, "read", reading)
    monkeypatch.setattr(cache, "CHUNK", 3)
    monkeypatch.setattr(replaying, "CHUNK", 3)
    home = home_of(tmp_path, counting="turn 12")
    home.log.append([*TALK, said(14, "poison at the end")])
    live = rows(home)
    assert [row[0] for row in live["turn_recorded"]] == [n for n in range(14) if n not in (4, 9, 10)]
    assert [one.offset for one in live["aside"] if one.processor == RAW] == [4, 9, 10, 14]
    with closing(open_live(home)) as opened:
        assert opened.behind() == 0
    replay(home, "again", reuse=False)
    assert rows(home, "again") == live
    replay(home, "reused", parse_settings(home, home.live_params(), ["listing.word=turn 6"]))
    assert [one.offset for one in rows(home, "reused")["aside"] if one.processor == RAW] == [4, 9, 10, 14]
    home.log.close()


def test_the_doctor_tells_of_it_and_not_of_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("processors.PROCESSORS", REGISTRY)
    home = home_of(tmp_path)
    home.log.append(TALK[:6])
    home.ask("spaces")
    home.log.close()
    [live] = [check for check in examine(tmp_path) if check.name == "live"]
    assert live.status == "look"
    assert "could not fold counting the event at 0:4 in space a (OverflowError)" in live.found
    assert "please" not in live.found.replace("please report it", "")


def test_a_server_goes_on_and_its_doctor_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr("processors.PROCESSORS", REGISTRY)
    home = home_of(tmp_path)
    stop, ready = threading.Event(), threading.Event()
    server = Home(tmp_path, REGISTRY)
    thread = threading.Thread(target=serve, args=(server, stop.is_set, lambda line: ready.set()), daemon=True)
    thread.start()
    try:
        assert ready.wait(60)
        digests: set[str] = set()
        for event in TALK:
            home.log.append([event])
            assert home.request({"ask": "digest", "arguments": {}})["listed"] not in digests
            digests.add(home.request({"ask": "digest", "arguments": {}})["listed"])
        [live] = [check for check in examine(tmp_path) if check.name == "live"]
        assert live.status == "look"
        assert "the event at 0:10 in space a" in live.found
    finally:
        stop.set()
        thread.join(60)
        server.log.close()
        home.log.close()


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError("no disk"), DamagedError("torn", "mend it"), KeyboardInterrupt()]
)
def test_what_is_no_fault_of_the_event_stays_what_it_is(error: BaseException) -> None:
    def step(params: Params, state: State, turn: TurnRecorded, raw: Raw[Any]) -> Sequence[Derived]:
        raise error

    driver = Driver([Processor("ill", 1, Params, (on(TurnRecorded, step),), (), (RAW,))], {"ill": Params()})
    with pytest.raises(type(error)) as raised:
        driver.fold("a", 0, 0, as_raw(TALK[0], 0), [])
    assert raised.value is error


def test_a_fault_names_who_and_where_and_no_content() -> None:
    driver = Driver([COUNTING], {"counting": Choosy()})
    with pytest.raises(FaultError) as raised:
        driver.fold("a", 2, 7, as_raw(said(1, "poison please"), 0), [])
    assert str(raised.value) == "counting cannot fold the event at 2:7 in space 'a' (OverflowError)"
    assert isinstance(raised.value.__cause__, OverflowError)


def test_a_state_that_no_disk_holds_is_no_fault_of_an_event(tmp_path: Path) -> None:
    from streams.runtime.spool import Spool

    spool = Spool(tmp_path / "spool")
    spool.write("DELETE FROM record WHERE state = ?", [(1,)])
    assert isinstance(spool._file, sqlite3.Connection)
    with pytest.raises(OSError, match="cannot be kept"):
        spool.read("SELECT nothing FROM nowhere")
    spool.close()


def test_a_worker_lays_a_dead_letter_and_its_rows_are_those_of_live(tmp_path: Path) -> None:
    events = [replace(event, space="a") for event in TALK]
    home = home_of(tmp_path, listing="turn 9")
    home.log.append(events)
    live = rows(home)
    home.log.close()
    asyncio.run(_worker(events, live))


async def _worker(events: list[Outside], live: dict[str, list[Any]]) -> None:
    params = {"counting": Choosy(), "doubling": Params(), "listing": Choosy(word="turn 9")}
    job = Job(REGISTRY, params, {p.name: p.name for p in REGISTRY}, "set", 1, "log")
    part = Part(job, 0, Kept(None), Connection("nowhere:1"), Meters())
    part.begin(set())
    letters: list[Any] = []
    outputs: list[Any] = []
    for first in (0, 6, 11):
        run = [
            Message(b"a", encode(event), headers_of(event, NOW), 0, n)
            for n, event in enumerate(events)
            if first <= n < {0: 6, 6: 11, 11: 14}[first]
        ]
        folded = part.fold(run)
        letters += folded.letters
        outputs += folded.outputs
        part.committed(folded, first)
    assert [(key, dict(headers)["reason"]) for key, _, headers in letters] == [
        (b"0:%d" % n, told.encode())
        for n, told in ((at, told_aside([one for one in live["aside"] if one.offset == at])) for at in (4, 9, 10))
    ]
    made = {
        (processor, int(dict(headers)["offset"])): [one.get("counts", one["count"]) for one in rows]
        for key, value, headers in outputs
        if key is not None
        for processor, rows in orjson.loads(value).items()
    }
    names = {"counting": "counted", "doubling": "doubled", "listing": "listed"}
    assert made == {
        (processor, row[0]): [row[columns.index("counts" if table == "doubled" else "count")]]
        for processor, table in names.items()
        for columns in [live[f"{table} columns"]]
        for row in live[table]
    }


def test_an_event_that_a_later_version_wrote_is_told_as_that_and_all_else_is_folded(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    turn = TurnRecorded("default", "a", NOW, "s", "ann", "user", "The boat house roof leaks.")
    value = orjson.dumps({"space": "default", "id": "b", "at": NOW, "session": "s", "mood": "x"})
    with closing(SqliteLog(home.path / LOG_FILE)) as log:
        log.append([turn])
        log.append_recorded([(StoredEvent("default", "b", "turn-recorded.v9", value), NOW + 1)])
        log.append([replace(turn, id="c", content="It leaks at the chimney.")])
    assert [row["turn_id"] for row in home.ask("view", name="turns")] == ["a", "c"]
    assert "a later version wrote it" in {check.name: check.found for check in examine(home.path)}["live"]

    def mnemolog(*words: object) -> subprocess.CompletedProcess[str]:
        return run("--home", home.path, *words, capture_output=True, text=True)

    assert "turn-recorded.v9 of a later version of mnemolog" in mnemolog("tail").stdout
    archived = mnemolog("archive", tmp_path / "kept")
    assert archived.returncode != 0
    assert "an event of type 'turn-recorded.v9'" in archived.stderr
    assert "install the newest mnemolog" in archived.stderr
