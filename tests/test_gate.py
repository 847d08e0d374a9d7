"""The gate of a log: who is suspended there is named, who works is waited for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from processors import PROCESSORS
from streams.core.errors import BusyError, ShutError
from streams.logs import gate
from streams.logs.gate import at_gate
from streams.logs.log import Stored
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home
from tests.contracts.log_contract import turn
from tests.processes import PIPE, Program, run

HOLD = """
import sys
from pathlib import Path
from streams.logs.gate import at_gate
with at_gate(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[Program]:
    """A process that holds the gate of a log."""
    with Program(path, code=HOLD, stdin=PIPE, stdout=PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder
        finally:
            holder.send_signal(signal.SIGCONT)
            assert holder.stdin is not None
            holder.stdin.close()
            holder.wait()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    SqliteLog(path := tmp_path / "log.sqlite").close()
    return path


def test_who_holds_it_and_is_suspended_is_named_with_a_way_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LOOK", 0.01)
    log = SqliteLog(path)
    with held(path) as holder:
        holder.send_signal(signal.SIGSTOP)
        for _ in range(3):  # a server is asked again and again
            with pytest.raises(BusyError, match=f"process {holder.pid} holds the log .* is suspended") as told:
                log.append([turn("a")])
            assert f"kill -CONT {holder.pid}" in told.value.way_out
        waiting = [thread for thread in threading.enumerate() if thread.name == "gate"]
        assert len(waiting) == 1, "nobody stands in the queue twice"
        with pytest.raises(BusyError):
            SqliteLog(path)
    waiting[0].join()
    assert isinstance(log.append([turn("a")])[0], Stored), "who gave up does not keep it"
    log.close()


def test_a_log_is_closed_though_who_holds_the_gate_is_suspended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LOOK", 0.01)
    log = SqliteLog(path)
    log.append([turn("a")])
    with held(path) as holder:
        holder.send_signal(signal.SIGSTOP)
        log.close()
    with closing(SqliteLog(path)) as again:
        assert again.end(0) == 1


def test_who_works_is_waited_for_in_silence(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LOOK", 0.001)
    looked, enough = [0], threading.Event()

    def look(process: str) -> bool:
        assert process == str(os.getpid())
        looked[0] += 1
        if looked[0] == 5 * gate.SUSPENDED:
            enough.set()
        return looked[0] % gate.SUSPENDED != 0  # suspended again and again, for a moment

    monkeypatch.setattr(gate, "_is_suspended", look)
    outcomes: list[object] = []
    log = SqliteLog(path)
    waiter = threading.Thread(target=lambda: outcomes.extend(log.append([turn("a")])))
    with at_gate(path):
        waiter.start()
        assert enough.wait(60)
        assert outcomes == []
    waiter.join()
    assert isinstance(outcomes[0], Stored)
    log.close()


def test_nobody_waits_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LOOK", 0.001)
    monkeypatch.setattr(gate, "LONG", 20)
    log = SqliteLog(path)
    with at_gate(path), pytest.raises(BusyError, match=f"process {os.getpid()} .* does not come to an end"):
        log.append([turn("a")])
    assert isinstance(log.append([turn("a")])[0], Stored)
    log.close()


def test_a_question_ends_in_the_same_words_and_waits_no_second_time(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "LOOK", 0.01)
    home.log.append([turn("a")])
    with held(home.path / "log.sqlite") as holder:
        holder.send_signal(signal.SIGSTOP)
        asked = Home(home.path, PROCESSORS)
        with pytest.raises(ShutError, match="is suspended"):
            asked.ask("spaces")
    assert asked.ask("spaces")
    asked.log.close()


def test_the_command_says_it(path: Path) -> None:
    line = '{"id": "t1", "session": "s", "role": "user", "content": "hello"}\n'
    with held(path) as holder:
        holder.send_signal(signal.SIGSTOP)
        told = run("feed", "-", "--home", path.parent, input=line, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert f"process {holder.pid} holds the log" in " ".join(told.stderr.split())
    fed = run("feed", "-", "--home", path.parent, input=line, capture_output=True, text=True, check=False)
    assert (fed.returncode, "suspended" in fed.stderr) == (0, False)
