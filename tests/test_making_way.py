"""A server that nobody started by hand makes way for one that a person starts; one that a person started stays."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

import mnemolog
from mnemolog import Memory, NotServedError
from processors import PROCESSORS
from streams.core.errors import BusyError
from streams.runtime.home import Home
from streams.runtime.home.appending import Appending
from streams.runtime.home.client import ask_holder
from streams.runtime.home.server import Listener, Server, serve
from streams.runtime.requests import CALLS, Call, Leave
from tests.processes import PIPE, Program, run
from tests.serving import PATIENCE, served, serving

SERVER = f"{sys.executable} -m streams.gateways.cli"


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The servers that the module starts by itself in this test."""
    monkeypatch.setenv("MNEMOLOG_COMMAND", SERVER)
    started: list[Any] = []
    monkeypatch.setattr(mnemolog, "_started", started)
    yield started
    for server in started:
        server.kill()
        server.wait(PATIENCE)


def said(path: Path) -> list[str]:
    """What the turns of a home say."""
    return [row["content"] for row in Memory("x", home=path, start=False).ask("view", name="turns", space="x")]


def until(is_so: Callable[[], bool]) -> None:
    """Waits until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("how", [["--http", "127.0.0.1:0"], []])
def test_a_server_that_the_module_started_makes_way_for_one_started_by_hand(
    tmp_path: Path, own: list[Any], how: list[str]
) -> None:
    Memory("x", home=tmp_path / "h").record("s", "user", "hi")
    (first,) = own
    with Program("serve", "--home", tmp_path / "h", *how, stdout=PIPE, stderr=PIPE, text=True) as server:
        assert f"process {server.pid}" in server.stdout.readline()
        assert first.wait(PATIENCE) == 0
        if how:
            line = server.stdout.readline()
            assert "answering HTTP at" in line
            url = line.split("answering HTTP at ")[1].split()[0]
            assert [row["content"] for row in Memory("x", url=url).ask("view", name="turns", space="x")] == ["hi"]
        assert said(tmp_path / "h") == ["hi"]
        server.terminate()
        told = server.communicate(timeout=PATIENCE)
    assert (server.returncode, told[1]) == (0, "")
    assert "making way" in (tmp_path / "h" / "serve.log").read_text()


def test_what_is_recorded_while_a_server_makes_way_is_kept_once(tmp_path: Path, own: list[Any]) -> None:
    home = tmp_path / "h"
    Memory("x", home=home).record("s", "user", "first")
    stop, kept, failed = threading.Event(), list[str](), list[Exception]()

    def record(name: int) -> None:
        memory = Memory("x", home=home, timeout=PATIENCE)
        for n in range(10_000):
            if stop.is_set():
                return
            try:
                memory.record("s", "user", f"{name} says {n}")
            except Exception as error:
                failed.append(error)
                return
            kept.append(f"{name} says {n}")

    threads = [threading.Thread(target=record, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: len(kept) > 20)
        with served(home):
            before = len(kept)
            until(lambda: len(kept) > before + 20)
            stop.set()
            for thread in threads:
                thread.join(PATIENCE)
            assert failed == []
            assert sorted(said(home)) == sorted(["first", *kept])
            until(lambda: all(server.poll() is not None for server in own))
    finally:
        stop.set()


def test_a_server_that_the_hook_started_makes_way(tmp_path: Path) -> None:
    home = tmp_path / "h"
    environ = os.environ | {"MNEMOLOG_HOME": str(home), "MNEMOLOG_HOOK_SECONDS": "60", "MNEMOLOG_SPACE": "x"}
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "hi"}
    try:
        run("hook", input=orjson.dumps(event), env=environ, capture_output=True, timeout=PATIENCE, check=True)
        until((home / "socket").exists)
        with served(home) as (_, server):
            assert ask_holder(home / "socket", {"ping": True})["pid"] == server.pid
            assert said(home) == ["hi"]
    finally:
        shutil.rmtree(home / "hooks", ignore_errors=True)  # what ends it where it did not make way


def test_a_server_that_a_person_started_stays_and_the_error_stands_alone(tmp_path: Path) -> None:
    home = tmp_path / "h"
    with served(home) as (url, server):
        port = url.rsplit(":", 1)[1]
        for how in ([], ["--http", "127.0.0.1:0"], ["--http", f"127.0.0.1:{port}"], ["--idle", "600", "--make-way"]):
            done = run("serve", "--home", home, *how, capture_output=True, text=True, timeout=PATIENCE)
            assert (done.returncode, done.stdout) == (1, ""), how
            told = " ".join(done.stderr.split())
            assert told.startswith(f"error: process {server.pid} serves "), how
            assert f"kill {server.pid}" in told, how
        assert server.poll() is None
        assert Memory("x", home=home, start=False).record("s", "user", "hi")


def test_a_server_of_a_version_that_makes_way_for_nobody_stays(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.runtime.requests.CALLS", tuple(call for call in CALLS if call is not Leave))
    with serving(home), pytest.raises(BusyError, match=f"process {os.getpid()} serves"):
        serve(Home(home.path, PROCESSORS), lambda: False)


def test_a_server_that_makes_way_finishes_what_it_answers(home: Home) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(call: Call) -> Any:
        asked.set()
        assert go_on.wait(PATIENCE)
        return "done"

    appending, listener = Appending(home.path), Listener(home)
    appending.start()
    thread = threading.Thread(target=Server(listener, appending, answer, makes_way=True).run, args=(lambda: False,))
    thread.start()
    try:
        with closing(socket.socket(socket.AF_UNIX)) as who:
            who.connect(str(home.folder.socket))
            who.sendall(b'{"ping": true}\n')
            assert asked.wait(PATIENCE)
            assert ask_holder(home.folder.socket, {"leave": False}) == {"pid": os.getpid(), "leaves": True}
            assert ask_holder(home.folder.socket, {"leave": True}) == {"pid": os.getpid(), "leaves": True}
            until(lambda: not home.folder.socket.exists())
            assert thread.is_alive()
            go_on.set()
            assert who.makefile().readline() == '{"answer":"done"}\n'
        thread.join(PATIENCE)
        assert not thread.is_alive()
    finally:
        go_on.set()
        listener.close()
        appending.stop()


# -- servers that take long to come up ---------------------------------------------------------------------------------


def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Has servers wait, before they begin, for a file that is there only then."""
    gate, script = tmp_path / "gate", tmp_path / "slow.sh"
    script.write_text(f'while [ ! -e {gate} ]; do sleep 0.05; done; exec {SERVER} "$@"\n')
    monkeypatch.setenv("MNEMOLOG_COMMAND", f"sh {script}")
    return gate


def test_a_program_that_ends_before_the_server_it_started_is_warned_of_nothing(tmp_path: Path, own: list[Any]) -> None:
    Memory("x", home=tmp_path / "h").serve()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        own[0].__del__()  # as Python does at its end
    assert (told, own[0].poll()) == ([], None)


def test_a_call_waits_longer_than_for_an_answer_while_a_server_starts(
    tmp_path: Path, own: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = slow(tmp_path, monkeypatch)
    memory = Memory("x", home=tmp_path / "h")
    memory.timeout = 0.5
    threading.Timer(1.5, gate.touch).start()
    memory.serve()
    memory.timeout = PATIENCE
    assert memory.record("s", "user", "hi")
    assert len(own) == 1


def test_a_server_that_is_not_there_in_time_is_waited_for_by_who_asks_again(
    tmp_path: Path, own: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = slow(tmp_path, monkeypatch)
    with pytest.raises(NotServedError, match=r"is still starting .* ask again") as found:
        Memory("x", home=tmp_path / "h", timeout=0.5).record("s", "user", "hi")
    assert found.value.__suppress_context__ or found.value.__context__ is None
    gate.touch()
    assert Memory("x", home=tmp_path / "h").record("s", "user", "hi")
    assert len(own) == 1


def test_a_server_that_ended_is_told_with_its_exit_code_and_what_it_said_last(
    tmp_path: Path, own: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "broken.sh"
    script.write_text("for n in 1 2 3 4 5 6 7; do echo word $n; done; exit 7\n")
    monkeypatch.setenv("MNEMOLOG_COMMAND", f"sh {script}")
    with pytest.raises(NotServedError) as found:
        Memory("x", home=tmp_path / "h").record("s", "user", "hi")
    assert "exit code 7; it said:\nword 3\nword 4\nword 5\nword 6\nword 7\n(" in str(found.value)
    assert found.value.__suppress_context__
    script.write_text("kill -9 $$\n")
    with pytest.raises(NotServedError, match="by signal 9; it said nothing"):
        Memory("x", home=tmp_path / "h").record("s", "user", "hi")
