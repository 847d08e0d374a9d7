"""The embedded runtime: folding, ticking, answering, and being killed."""

from __future__ import annotations

import errno
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import create_model

from mnemolog import FailedError, Memory
from processors import PROCESSORS
from projections import ask as asks
from projections import store
from projections.diff import compare
from projections.recall import index
from projections.store import Store
from streams.core.errors import (
    BehindError,
    BusyError,
    ForeignError,
    MemoryFileError,
    MnemologError,
    NoRoomError,
    OutdatedError,
    UsageError,
)
from streams.core.events import DAY, HOUR, SECOND, ClockTicked, NoteTaken, Outside, TurnRecorded, decode
from streams.logs.sqlite import SqliteLog
from streams.runtime.embedded import Runtime
from streams.runtime.home import Home
from streams.runtime.home import folding as home_folding
from streams.runtime.home import server as home_server
from streams.runtime.home.keeper import open_live, open_served
from streams.runtime.home.office import Office
from streams.runtime.home.server import serve
from streams.runtime.replay import replay as fold
from streams.runtime.requests import Ask, parse
from tests.serving import served, serving

ROOT = Path(__file__).parents[1]
Talk = Callable[[int], list[Outside]]


def parse_ask(what: str, arguments: dict[str, Any]) -> Ask:
    """A question as it comes through the socket."""
    call = parse({"ask": what, "arguments": arguments})
    assert isinstance(call, Ask)
    return call


def test_a_command_that_finds_no_server_folds_to_the_end_of_the_log(home: Home, talk: Talk) -> None:
    home.log.append(talk(300))
    turns = home.ask("view", name="turns")
    assert len(turns) == sum(isinstance(event, TurnRecorded) for event in talk(300))
    assert home.memories() == ["live"]


def test_folding_in_pieces_gives_the_digest_of_folding_at_once(home: Home, talk: Talk, tmp_path: Path) -> None:
    events = talk(600)
    for start in range(0, 600, 97):
        home.log.append(events[start : start + 97])
        home.ask("spaces")
    whole = Home(tmp_path / "whole", PROCESSORS)
    whole.log.append(events)
    assert home.ask("digest") == whole.ask("digest")
    whole.log.close()


def test_a_server_answers_with_what_was_just_appended(home: Home, talk: Talk) -> None:
    with serving(home):
        for n, event in enumerate(talk(40)):
            home.log.append([event])
            found = home.request({"ask": "view", "arguments": {"name": "turns"}})
            assert len(found) == sum(isinstance(e, TurnRecorded) for e in talk(40)[: n + 1])


def test_errors_come_through_the_socket_as_they_are(home: Home) -> None:
    with serving(home):
        with pytest.raises(UsageError, match="no view 'secrets'"):
            home.ask("view", name="secrets")
        with pytest.raises(MemoryFileError, match="no memory 'nothing' to promote"):
            home.promote("nothing")


def test_a_question_waits_until_live_holds_the_position_it_asks_for(home: Home, talk: Talk) -> None:
    home.log.append(talk(20))
    question = {"ask": "view", "arguments": {"name": "turns", "after": "0:20"}}
    with serving(home):
        with pytest.raises(BehindError, match="all below 0:20"):
            home.request(question, patience=0.1)
        later = threading.Timer(0.3, lambda: home.log.append(talk(21)[20:]))
        later.start()
        assert home.request(question)
        later.join()
    with pytest.raises(UsageError, match="no partition 7"):
        home.request(question | {"after": "7:1"})
    with pytest.raises(UsageError, match="is no position"):
        home.request(question | {"after": "yesterday"})


def test_garbage_on_the_socket_does_not_stop_the_server(home: Home) -> None:
    import socket

    with serving(home):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(home.folder.socket))
            stranger.sendall(b"\xff\x00 not json\n")
            assert b"not JSON" in stranger.recv(1000)
            stranger.sendall(b'{"unknown": 1}\n')
            assert b"not understood" in stranger.recv(1000)
        assert home.ask("spaces") == []


def test_only_one_process_serves_a_home(home: Home) -> None:
    with serving(home), pytest.raises(BusyError, match=f"process {os.getpid()} serves"):
        serve(Home(home.path, PROCESSORS), lambda: False)


def test_live_that_was_copied_while_it_is_written_is_still_opened_by_no_other(home: Home, talk: Talk) -> None:
    home.log.append(talk(30))
    program = "import sys, duckdb; duckdb.connect(sys.argv[1])"
    with home.live() as runtime:
        for name in ("one", "two"):
            runtime.store.snapshot(home.path / name)
            other = subprocess.run([sys.executable, "-c", program, home.folder.memory("live")], capture_output=True)
            assert b"lock" in other.stderr


def test_shards_that_are_asked_together_put_what_memory_cannot_hold_beside_themselves(
    home: Home, talk: Talk, tmp_path: Path
) -> None:
    home.log.append(talk(30))
    home.ask("spaces")
    first, second = tmp_path / "first.duckdb", tmp_path / "second.duckdb"
    for path in (first, second):
        path.write_bytes(home.folder.memory("live").read_bytes())
    with closing(store.together([first, second])) as connection:
        assert store.one(connection, "SELECT current_setting('temp_directory')") == f"{first}.tmp"


def test_a_server_takes_many_connections_where_the_system_sets_no_limit(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_server.resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with serving(home), ExitStack() as held:
        for _ in range(20):
            one = held.enter_context(closing(socket.socket(socket.AF_UNIX)))
            one.connect(str(home.folder.socket))
            one.sendall(b'{"ping": true}\n')
            assert "answer" in one.makefile().readline()


def test_connections_that_nobody_uses_keep_nobody_out(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_server.resource, "getrlimit", lambda _: (0, 0))  # so that there are sixteen places
    with serving(home), ExitStack() as held:
        before = []
        for _ in range(16):
            before.append(held.enter_context(closing(socket.socket(socket.AF_UNIX))))
            before[-1].connect(str(home.folder.socket))
        before[0].sendall(b'{"ping": true}\n')
        assert b"answer" in before[0].recv(1000)
        asked = time.monotonic()
        one = held.enter_context(closing(socket.socket(socket.AF_UNIX)))
        one.settimeout(20)
        one.connect(str(home.folder.socket))
        one.sendall(b'{"ping": true}\n')
        assert b"answer" in one.recv(1000)
        assert time.monotonic() - asked < 10
        before[0].sendall(b'{"ping": true}\n')  # another was quiet for longer
        assert b"answer" in before[0].recv(1000)


def test_a_server_waits_until_a_command_that_folds_has_finished(home: Home) -> None:
    with home.live():
        ready = threading.Event()
        stop = threading.Event()
        server = Home(home.path, PROCESSORS)
        thread = threading.Thread(target=serve, args=(server, stop.is_set, lambda line: ready.set()), daemon=True)
        thread.start()
        assert not ready.wait(0.3)
    try:
        assert ready.wait(60)
        assert home.ask("spaces") == []
    finally:
        stop.set()
        thread.join(60)
        server.log.close()


def test_a_server_that_waits_for_a_command_stops_when_told(home: Home) -> None:
    with home.live():
        serve(Home(home.path, PROCESSORS), lambda: True)


def test_a_home_with_a_long_path_still_answers(tmp_path: Path) -> None:
    home = Home(tmp_path / ("a" * 100) / ("b" * 100), PROCESSORS)
    with serving(home):
        assert home.ask("spaces") == []
    home.log.close()


def test_a_memory_folded_by_another_version_is_refused_and_the_mending_replay_named(home: Home, talk: Talk) -> None:
    home.log.append(talk(50))
    before = home.ask("digest")
    newer = [replace(p, version=p.version + 1) if p.name == "coactivation" else p for p in PROCESSORS]
    updated = Home(home.path, newer)
    with pytest.raises(MemoryFileError, match="another version of coactivation") as caught:
        updated.ask("spaces")
    assert "mnemolog replay" in caught.value.way_out
    fold(updated, "next")
    with updated.reading() as outdated, updated.reading("next") as following:
        assert len(outdated.execute("SELECT * FROM efforts").fetchall()) == len(
            following.execute("SELECT * FROM efforts").fetchall()
        )
    assert updated.promote("next") == "live-1"
    assert updated.ask("digest") == before
    updated.log.close()


def test_a_server_of_another_version_records_what_comes_tells_the_way_out_and_serves_what_is_promoted(
    home: Home, talk: Talk
) -> None:
    other = Home(home.path, [replace(p, version=p.version + 1) if p.name == "coactivation" else p for p in PROCESSORS])
    other.log.append(talk(50))
    turns = sum(space["turns"] for space in other.ask("spaces"))
    with home.folder.holding(), closing(open_served(home)) as keeper:
        told = home_server._notice(keeper)
    assert told.endswith("promote next`; what comes is recorded, and questions are refused until then")
    with serving(home):
        memory = Memory(home=home.path)
        memory.record("later", "user", "Is the upgrade through?")
        with pytest.raises(FailedError, match=r"another version of coactivation.*mnemolog replay --as next"):
            memory.context("later")
        with pytest.raises(OutdatedError):
            home.ask("spaces")
        with home.reading() as outdated:
            assert outdated.execute("SELECT count(*) FROM turns").fetchone() == (turns,)
        fold(home, "next")
        assert home.promote("next") == "live-1"
        assert "Is the upgrade through?" in memory.context("later")["text"]
    other.log.close()


def test_over_http_the_way_out_of_an_outdated_live_is_told_at_once(home: Home, talk: Talk) -> None:
    other = Home(home.path, [replace(p, version=p.version + 1) if p.name == "coactivation" else p for p in PROCESSORS])
    other.log.append(talk(10))
    other.ask("spaces")
    other.log.close()
    with served(home.path) as (url, _):
        memory = Memory(url=url)
        memory.record("later", "user", "Is the upgrade through?")
        began = time.monotonic()
        with pytest.raises(FailedError, match=r"another version of coactivation.*mnemolog replay --as next"):
            memory.context("later")
        assert time.monotonic() - began < memory.timeout / 2


def test_a_server_without_room_answers_as_far_as_live_goes_and_goes_on_when_there_is_some(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(store: Store, batch: object) -> None:
        raise NoRoomError("there is no room to go on", "make room")

    events = talk(60)
    home.log.append(events[:40])
    with serving(home):
        before = home.ask("digest")
        with monkeypatch.context() as filled:
            filled.setattr(home_folding, "CRAMPED", 0.5)
            filled.setattr(Store, "commit", full)
            home.log.append(events[40:])
            asked = time.monotonic()
            assert home.ask("digest") == before
            assert home.ask("digest") == before
            assert time.monotonic() - asked < home_server.FOLD, "nobody is told that it goes on meanwhile"
        deadline = time.monotonic() + 60
        while home.ask("digest") == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_memory_of_a_version_with_fewer_tables_and_other_parameters_is_outdated_not_damaged(
    home: Home, talk: Talk
) -> None:
    first, *others, _ = PROCESSORS
    older = replace(first, params=create_model("Older", __base__=first.params, retired=(int, 8)))
    before = Home(home.path, [older, *others])
    before.log.append(talk(50))
    before.ask("digest")
    with pytest.raises(MemoryFileError, match="parameters this program does not know"):
        home.ask("spaces")
    fold(home, "next")
    with home.reading() as outdated, home.reading("next") as following:
        found = compare(outdated, following, ("live", "next"), 1, PROCESSORS)
    told = {(row.about, row.what): (row.left, row.right) for row in found.rows}
    assert told[PROCESSORS[-1].name, "is another version's"] == (None, None)
    assert (0, 1) in [sides for (_, what), sides in told.items() if what == "tables"]
    folded = home.ask("digest", "next")
    assert home.promote("next") == "live-1"
    assert home.ask("digest") == folded
    assert not [*home.path.glob("*.damaged")]
    before.log.close()


def test_a_backup_of_the_log_alone_restores_live(home: Home, talk: Talk, tmp_path: Path) -> None:
    home.log.append(talk(400))
    before = home.ask("digest")
    (tmp_path / "elsewhere").mkdir()
    home.log.backup(tmp_path / "elsewhere" / "log.sqlite")
    restored = Home(tmp_path / "elsewhere", PROCESSORS)
    assert restored.ask("digest") == before
    restored.log.close()


def test_as_of_a_position_shows_what_was_shown_then(home: Home, talk: Talk) -> None:
    seen = []
    with serving(home):
        for n, event in enumerate(talk(60)):
            home.log.append([event])
            seen.append((n, home.ask("view", name="context_entries"), home.ask("view", name="efforts", order="effort")))
        for n, context, efforts in seen:
            assert home.ask("view", name="context_entries", as_of=str(n)) == context
            assert home.ask("view", name="efforts", order="effort", as_of=str(n)) == efforts


def test_a_context_as_of_a_position_is_what_was_given_then_byte_for_byte(home: Home, talk: Talk) -> None:
    given = []
    with serving(home):
        for n, event in enumerate(talk(60)):
            home.log.append([event])
            place = {"space": event.space, "session": getattr(event, "session", "")}
            given.append((n, place, home.ask("context", **place)))
        assert len({context["text"] for _, _, context in given}) > 40
        for n, place, context in given:
            # what is only looked up is not to be recorded as shown
            assert home.ask("context", as_of=str(n), **place) == context | {"shown": None}


def test_a_context_of_what_lies_in_no_table_yet_is_that_of_the_tables_byte_for_byte(
    home: Home, talk: Talk, tmp_path: Path
) -> None:
    events = talk(400)
    home.log.append(events[:330])
    again = Home(tmp_path / "again", PROCESSORS)
    again.log.append(events[:330])
    with (
        home.live() as runtime, closing(Office(home, runtime)) as office,
        again.live() as settled, closing(Office(again, settled)) as tables,
    ):  # fmt: skip
        for number, event in enumerate(events[330:], 330):
            home.log.append([event])
            again.log.append([event])
            runtime.catch_up(ahead=True)
            settled.catch_up()
            asked = {"space": event.space, "session": getattr(event, "session", "") or "s"}
            # Why explained: what is considered and left out is in the answer, too.
            question = parse_ask("context", asked | {"explain": True})
            assert runtime.store.mark(0) < number == runtime.view().mark(0) == settled.store.mark(0)
            assert office.ask(question) == tables.ask(question)
            if number % 23 == 0:
                assert runtime.settle()
        assert runtime.settle()
        assert not runtime.settle()
        assert asks.digest(runtime.store.connection) == asks.digest(settled.store.connection)
    again.log.close()


def test_who_asks_the_tables_of_a_server_finds_what_a_context_was_just_made_of(home: Home, talk: Talk) -> None:
    events = [event for event in talk(120) if isinstance(event, TurnRecorded)]
    with serving(home):
        for number, event in enumerate(events, 1):
            home.log.append([event])
            found = home.ask("context", space=event.space, session=event.session)
            assert f'position="{number - 1}"' in found["text"]
            if number % 7 == 0:
                assert sum(row["turns"] for row in home.ask("spaces")) == number
            if number % 11 == 0:
                told = home.ask("recall", space=event.space, query=event.content, k=32, history=True)
                assert all(hit["text"] for hit in told["hits"])
            if number % 13 == 0:
                assert len(home.ask("view", name="turns", limit=1000)) == number
        last = home.ask("context", space=event.space, session=event.session)
    assert home.ask("context", space=event.space, session=event.session) == last


def test_whoever_waits_for_something_to_be_done_is_told_when_live_breaks_before_it_begins(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, said = Runtime.settle, threading.Event()
    told: list[BaseException] = []

    def full(self: Runtime, soon: bool = False) -> bool:
        if soon or said.is_set():
            return settle(self, soon)
        said.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    def promote() -> None:
        try:
            home.request({"promote": "next"})
        except BaseException as error:
            told.append(error)

    home.log.append(talk(100))
    fold(home, "next")
    with serving(home):
        assert home.ask("spaces")
        monkeypatch.setattr(Runtime, "settle", full)
        asking = threading.Thread(target=promote, daemon=True)
        asking.start()
        assert said.wait(60)
        asking.join(60)
        assert [str(error) for error in told if isinstance(error, MnemologError)], told
        assert home.ask("spaces"), "and all goes on"


def test_as_of_a_time_ends_each_space_before_its_first_later_event(home: Home) -> None:
    at = 1_770_000_000 * SECOND
    home.log.append(
        [
            TurnRecorded("a", "1", at, "c", "ann", "user", "one"),
            TurnRecorded("b", "2", at + HOUR, "c", "ann", "user", "two"),
            TurnRecorded("a", "3", at + DAY, "c", "ann", "user", "three"),
            TurnRecorded("a", "4", at, "c", "ann", "user", "late, known only after three"),
            TurnRecorded("b", "5", at + HOUR, "c", "ann", "user", "five"),
        ]
    )
    found = home.ask("view", name="turns", order="position", as_of="2026-02-02T12:00:00Z")
    assert [turn["turn_id"] for turn in found] == ["1", "2", "5"]


# -- bytes -------------------------------------------------------------------------------------------------------------


def size(home: Home, memory: str) -> int:
    """Bytes of a memory's file, with its journal."""
    path = home.memory_path(memory)
    return sum(part.stat().st_size for part in (path, Path(f"{path}.wal")) if part.exists())


def batched(events: list[Outside]) -> list[list[Outside]]:
    """The events, four at a time."""
    return [events[start : start + 4] for start in range(0, len(events), 4)]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints come as often as in days of talk."""
    monkeypatch.setitem(store.WRITER_SETTINGS, "checkpoint_threshold", "1MB")


def test_live_is_as_small_as_a_replay_however_small_its_commits_were(
    home: Home, talk: Talk, often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams.runtime.home.folding.IDLE", 1e9)
    monkeypatch.setattr("streams.runtime.home.keeper.QUICK", 0)  # so that it is done while it serves, or not at all
    with serving(home):
        for four in batched(talk(300)):
            home.log.append(four)
            home.ask("spaces")
        largest, before = size(home, "live"), home.ask("digest")
        monkeypatch.setattr("streams.runtime.home.folding.IDLE", 0.3)
        fold(home, "again", reuse=False)
        deadline = time.monotonic() + 300
        while (now := size(home, "live")) > 1.3 * size(home, "again") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert now <= 1.3 * size(home, "again") < largest
        assert home.ask("digest") == before == home.ask("digest", "again")


def test_a_command_leaves_no_file_full_of_holes(home: Home, talk: Talk, often: None) -> None:
    with home.live() as runtime:
        for four in batched(talk(300)):
            home.log.append(four)
            runtime.catch_up()
        before = size(home, "live")
    fold(home, "again", reuse=False)
    assert size(home, "live") <= 1.3 * size(home, "again") < before
    assert home.ask("digest") == home.ask("digest", "again")


# -- time --------------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that the test moves."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


@contextmanager
def runtime_at(home: Home, clock: Clock) -> Iterator[Runtime]:
    log = SqliteLog(home.path / "log.sqlite", clock)
    with home.live():
        pass
    store = Store.open(home.memory_path("live"), PROCESSORS)
    yield Runtime(log, store, PROCESSORS, clock)
    store.close()
    log.close()


def test_a_deadline_that_passes_in_an_idle_live_space_is_an_event_in_the_log(home: Home) -> None:
    clock = Clock(1_770_000_000 * SECOND)
    with runtime_at(home, clock) as runtime:
        runtime.log.append(
            [
                TurnRecorded("s", "t", clock.now, "c", "ann", "user", "Let us begin."),
                NoteTaken("s", "n", clock.now, "call-marta", "Call Marta about the lease", "c", "urgent", 0.8),
            ]
        )
        runtime.catch_up()
        assert runtime.tick() == 0
        clock.now += 4 * HOUR + SECOND
        assert runtime.tick() == 1
        runtime.catch_up()
        ticks = [decode(r.type, r.value) for r in runtime.log.read(0, 0) if r.type == ClockTicked("", "", 0).type]
        assert [tick.at for tick in ticks] == [clock.now - SECOND]
        escalated = runtime.store.connection.execute('SELECT note, epoch_us("at") FROM note_escalated').fetchall()
        assert escalated == [("call-marta", clock.now - SECOND)]
        assert runtime.tick() == 0


def test_three_hundred_notes_of_one_deadline_all_end_in_an_idle_space(home: Home) -> None:
    clock = Clock(1_770_000_000 * SECOND)
    with runtime_at(home, clock) as runtime:
        runtime.log.append([TurnRecorded("s", "t", clock.now, "c", "ann", "user", "Let us begin.")])
        notes = [NoteTaken("s", f"n{n}", clock.now, f"note-{n}", f"Call number {n}", "c", "urgent") for n in range(300)]
        runtime.log.append(notes)
        runtime.catch_up()
        deadline = clock.now + 4 * HOUR
        clock.now = deadline + SECOND
        ticks = 0
        while runtime.tick():
            runtime.catch_up()
            ticks += 1
        assert 1 < ticks < 20
        escalated = runtime.store.connection.execute(
            'SELECT count(DISTINCT note), min(epoch_us("at")), max(epoch_us("at")) FROM note_escalated'
        ).fetchall()
        assert escalated == [(300, deadline, deadline)]


def test_a_restarted_runtime_ticks_for_deadlines_it_did_not_see_coming(home: Home) -> None:
    clock = Clock(1_770_000_000 * SECOND)
    with runtime_at(home, clock) as runtime:
        runtime.log.append(
            [
                TurnRecorded("s", "t", clock.now, "c", "ann", "user", "Let us begin."),
                NoteTaken("s", "n", clock.now, "call-marta", "Call Marta about the lease", "c", "urgent", 0.8),
            ]
        )
        runtime.catch_up()
    clock.now += DAY
    with runtime_at(home, clock) as runtime:
        assert runtime.tick() == 1
        runtime.catch_up()
        assert runtime.tick() == 0


def test_the_first_look_at_deadlines_sees_those_of_what_lies_in_no_table_yet(home: Home) -> None:
    clock = Clock(1_770_000_000 * SECOND)
    with runtime_at(home, clock) as runtime:
        said = TurnRecorded("s", "t", clock.now, "c", "ann", "user", "Let us begin.")
        note = NoteTaken("s", "n", clock.now, "call-marta", "Call Marta about the lease", "c", "urgent", 0.8)
        runtime.log.append([said, note])
        runtime.catch_up(ahead=True)
        assert runtime.store.mark(0) == -1
        clock.now += DAY
        assert runtime.tick() == 1


def test_imported_history_gets_no_ticks(home: Home) -> None:
    clock = Clock(1_770_000_000 * SECOND)
    with runtime_at(home, clock) as runtime:
        then = clock.now - 2 * HOUR
        runtime.log.append(
            [
                TurnRecorded("s", "t", then, "c", "ann", "user", "This was said two hours ago."),
                NoteTaken("s", "n", then, "call-marta", "Call Marta about the lease", "c", "urgent", 0.8),
            ]
        )
        runtime.catch_up()
        clock.now += 3 * HOUR
        assert runtime.tick() == 0


def test_more_than_can_be_folded_is_seen_by_how_the_log_grows(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("streams.runtime.embedded.time.monotonic", lambda: now[0])
    with home.live() as runtime:
        assert isinstance(runtime, Runtime)
        seen = []
        for count in (0, 5, 250, 0, 0, 0):
            home.log.append([turn_recorded(f"{now[0]}-{n}") for n in range(count)])
            now[0] += 0.1
            seen.append(runtime.is_flooded())
            runtime.catch_up()
        assert seen[:4] + seen[5:] == [False, False, True, True, False]


def turn_recorded(id: str) -> TurnRecorded:
    return TurnRecorded("s", id, SECOND, "c", "ann", "user", "Where is the key?")


def test_folding_gives_way_to_batches_and_whoever_asks_is_answered_all_the_same(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_folding, "GIVE_WAY", 1e9)
    monkeypatch.setattr(Runtime, "is_flooded", lambda runtime: True)
    office = Office(home, open_live(home))
    folding = home_folding.Folding(home, office)
    home.log.append(talk(200))
    folding.start()
    try:
        assert office.runtime.behind() == len(talk(200)), "nobody asked"
        found: list[int] = []

        def ask() -> None:
            with folding.reading() as read:
                found.append(read.runtime.behind())

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(120)
        assert found == [0]
    finally:
        folding.stop()


def test_who_asks_while_much_is_folded_is_told_how_much_there_is_to_do(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(20))
    go_on = threading.Event()
    catch_up = Runtime.catch_up

    def held(runtime: Runtime, *how: Any, **more: Any) -> int:
        assert go_on.wait(120)
        return catch_up(runtime, *how, **more)

    monkeypatch.setattr(Runtime, "catch_up", held)
    folding = home_folding.Folding(home, Office(home, open_live(home)), patience=0.05)
    folding.start()
    try:
        with pytest.raises(BusyError, match="20 events of the log are still to be folded"), folding.reading():
            pass
        go_on.set()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with suppress(BusyError), folding.reading() as read:
                assert read.runtime.behind() == 0
                break
        else:
            raise AssertionError("it is never answered")
    finally:
        go_on.set()
        folding.stop()


def test_who_asks_when_an_erasure_made_a_new_log_is_answered_from_its_live(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(20))
    office = Office(home, open_live(home))
    old = office.runtime
    catch_up = Runtime.catch_up

    def follow(runtime: Runtime, *how: Any, **more: Any) -> int:
        if runtime is old:
            raise ForeignError("an erasure made a new log", "ask again")
        return catch_up(runtime, *how, **more)

    monkeypatch.setattr(Runtime, "catch_up", follow)
    folding = home_folding.Folding(home, office)
    folding.start()
    try:
        with folding.reading() as read:
            assert read.runtime is not old
            assert read.runtime.behind() == 0
    finally:
        folding.stop()


def about(event: Outside) -> dict[str, str]:
    """A question that a turn answers."""
    assert isinstance(event, TurnRecorded)
    return {"space": event.space, "query": event.content}


def test_making_an_index_shows_how_far_it_is_and_takes_nothing_of_the_time_of_the_question(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(300))
    monkeypatch.setattr(index, "PAGE", 50)
    told: list[tuple[int, int]] = []
    limits: list[int] = []
    home.indexing = lambda done, total: told.append((done, total))
    timer = threading.Timer

    def started(seconds: float, *what: Any) -> threading.Timer:
        limits.append(len(told))
        return timer(seconds, *what)

    monkeypatch.setattr(threading, "Timer", started)
    assert home.ask("recall", **about(talk(1)[0]))["hits"]
    assert told == [(done, 300) for done in range(0, 350, 50)]
    assert limits == [len(told)], "the time of the question begins when the index stands"


def test_who_asks_a_server_that_makes_the_index_is_told_how_far_it_is_and_asks_again_until_it_stands(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(300))
    monkeypatch.setattr(index, "PAGE", 50)
    asked = parse_ask("recall", about(talk(1)[0]))
    with home.live() as runtime, closing(Office(home, runtime, patience=0.0)) as office:
        for done in (50, 100):
            with pytest.raises(BusyError, match=f"{done} of 300 events") as told:
                office.ask(asked)
            assert "ask again" in told.value.way_out
        others: list[str] = []
        with office.recalling.lock:
            other = threading.Thread(target=lambda: others.append(raised(lambda: office.ask(asked))))
            other.start()
            other.join(120)
        assert "100 of 300 events" in others[0], "who finds another making it does not wait for all of it"
        assert office.recalling.is_behind
        office.keep_up()
        assert not office.recalling.is_behind
        assert office.ask(asked)["hits"]


def test_a_command_waits_until_the_index_that_a_server_makes_stands(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(300))
    monkeypatch.setattr(index, "PAGE", 50)
    monkeypatch.setattr(home_server, "INDEX", 0.0)
    with serving(home):
        assert home.ask("recall", **about(talk(1)[0]))["hits"]


def raised(what: Callable[[], object]) -> str:
    """The error that something raises, in words."""
    with pytest.raises(MnemologError) as error:
        what()
    return str(error.value)
