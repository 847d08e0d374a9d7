"""The module that agents embed, against a server in the same test."""

from __future__ import annotations

import ast
import asyncio
import inspect
import socket
import subprocess
import sys
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import create_autospec

import pytest

import mnemolog
from mnemolog import AsyncMemory, Memory, NotServedError, RefusedError
from streams.core import DEFAULT_SPACE
from streams.core.events import MemoryRecalled, decode, iso
from streams.logs import DEFAULT_HOME
from streams.runtime.home import Home
from tests.serving import serving


def test_an_agent_records_turns_and_gets_its_context_back(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        memory.record("chat", "user", "The nightly build of the parser fails with exit code 137, can you look?")
        turn = memory.record("chat", "assistant", "It runs out of memory in the lexer tests.", agent="coder")
        context = memory.context("chat")
        assert "out of memory in the lexer tests" in context["text"]
        assert context["messages"][-1]["role"] == "assistant"
        assert [t["turn_id"] for t in memory.ask("view", name="turns", space="ann", agent="coder")] == [turn]


def test_the_same_id_again_is_harmless_and_other_content_is_refused(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        for _ in range(2):
            memory.record("chat", "user", "hello", id="one")
        assert len(memory.ask("view", name="turns")) == 1
        with pytest.raises(RefusedError, match="'one' is taken"):
            memory.record("chat", "user", "goodbye", id="one")


def test_a_home_stays_where_it_is_when_the_program_goes_to_another_folder(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(home):
        monkeypatch.chdir(home.path.parent)
        memory = Memory(home=home.path.name, start=False)
        memory.record("s", "user", "hello")
        monkeypatch.chdir("/")
        memory.record("s", "user", "hello again")
        assert len(memory.ask("view", name="turns")) == 2


def test_what_is_wrong_with_an_event_is_named(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        with pytest.raises(RefusedError, match="role"):
            memory.record("chat", "captain", "hello")
        with pytest.raises(RefusedError, match="must be one of planning, executing"):
            memory.update_task("t", status="done")
        with pytest.raises(RefusedError, match="no question"):
            memory.ask("nonsense")


def test_half_of_a_character_costs_no_turn(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        memory.record("s", "user", "the cookie \ud83d, and \ud83d\ude00")
        assert [hit["text"] for hit in memory.recall("cookie \ud83d")] == ["the cookie ?, and \U0001f600"]


def test_who_names_no_id_is_told_the_one_that_was_made(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        turn = memory.record("s", "user", "yes", id=None)
        note = memory.say("note-taken", note="n", content="x", id=None)
        recorded = [decode(record.type, record.value).id for record in home.log.read(0, 0)]
        assert recorded == [turn, note["id"]]


def test_moments_days_and_uuids_of_python_are_taken(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        at = datetime(2026, 1, 5, 10, tzinfo=timezone(timedelta(hours=2)))
        name = uuid.uuid4()
        assert memory.record("s", "user", "hello", at=at, id=name) == str(name)
        memory.note("x", due="2d", at=at)
        assert memory.context("s", as_of=datetime.now(UTC))["position"] == 1
        first, second = (decode(record.type, record.value) for record in home.log.read(0, 0))
        assert (first.id, iso(first.at), iso(second.at)) == (str(name), "2026-01-05T08:00:00Z", "2026-01-05T08:00:00Z")
        with pytest.warns(UserWarning, match="were these seconds"):
            memory.record("s", "user", "hello", at=1_767_603_600)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"at": datetime(2026, 1, 5)}, "names no time zone"),
        ({"content": b"hello"}, "of type bytes"),
        ({"parts": [{"type": "x", "share": float("nan")}]}, "no JSON: Out of range"),
        ({"content": "x" * mnemolog.MAX_REQUEST}, "too long"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused_at_once(given: dict[str, object], said: str) -> None:
    memory = Memory(url="http://127.0.0.1:9", key="k", timeout=60)
    with pytest.raises(RefusedError, match=said):
        memory.tell({"session": "s", "role": "user", "content": "hello"} | given)
    with pytest.raises(RefusedError, match="must be a dict"):
        memory.tell("hello")  # type: ignore[arg-type]


def test_any_number_of_events_is_told_at_once(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        many = [{"session": "s", "role": "user", "content": f"{n}"} for n in range(10_500)]
        assert memory.tell(*many) == "0:10499"
        assert [decode(r.type, r.value).content for r in home.log.read(0, 0)] == [event["content"] for event in many]
        large = [{"session": "s", "role": "user", "content": f"{n}" * 6_000_000} for n in range(3)]
        assert memory.tell(*large) == "0:10502"


@pytest.mark.parametrize("how", [{"url": "localhost:8765"}, {"url": "http://[::bad"}, {"url": "http://h", "key": "é"}])
def test_what_is_no_url_or_key_is_refused(how: dict[str, str]) -> None:
    with pytest.raises(RefusedError, match=r"^(url|key): "):
        Memory(**how)


def test_a_key_read_from_a_file_may_end_with_its_line() -> None:
    assert Memory(url="http://h", key="mnemo_x\n").key == "mnemo_x"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (b"\x15\x03\x01\x00\x02\x02\x46", NotServedError),  # no TLS
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", mnemolog.UncertainError),  # killed while it answers
    ],
)
def test_a_server_that_answers_by_halves_is_no_traceback(said: bytes, error: type[Exception]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answers() -> None:
            while True:
                with suppress(OSError):
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(said)
                    continue
                return

        Thread(target=answers, daemon=True).start()
        scheme = "https" if error is NotServedError else "http"
        memory = Memory(url=f"{scheme}://127.0.0.1:{listening.getsockname()[1]}", timeout=1)
        with pytest.raises(error):
            memory.record("s", "user", "hello")
        if error is not NotServedError:
            with pytest.raises(error, match="did not answer within 1 seconds"):
                memory.ask("spaces")


def test_a_home_that_cannot_be_written_is_served_by_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no home")
    with pytest.raises(NotServedError, match="cannot be served from here"):
        Memory(home=tmp_path / "file").record("s", "user", "hello")


def test_a_note_taken_is_a_note_shown(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        note = memory.note("Call Marta about the lease", ttl="low")
        assert [row["note"] for row in memory.ask("view", name="notes")] == [note]


def test_when_a_note_is_due_can_be_said_and_what_is_due_is_told_by_the_moment_that_is_asked(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        memory.note("Call Marta about the lease", due="2d", at="2026-01-05T09:00:00Z")
        memory.note("Call Kim", due="2026-02-01T10:00:00Z", at="2026-01-05T09:00:00Z")
        rows = memory.ask("view", name="notes", order="deadline")
        assert [row["deadline"] for row in rows] == ["2026-01-07T09:00:00Z", "2026-02-01T10:00:00Z"]
        memory.note("Call Ben", due="2199-01-20")
        assert memory.context("s", at="2199-01-19T00:00:00Z")["at"] == "2199-01-19T00:00:00Z"
        assert memory.context("s", at="now")["at"] > "2026-01-05"
        spans: list[dict[str, Any]] = [{"due": timedelta(hours=2)}, {"ttl": timedelta(hours=2)}]
        for span in spans:
            note = memory.note("Call Eva", **span, at="2026-01-05T09:00:00Z")
            (row,) = memory.ask("view", name="notes", note=note)
            assert row["deadline"] == "2026-01-05T11:00:00Z"
        for due in ("tomorrow", "2020-01-01", "0", timedelta(-1), datetime(2199, 1, 20)):
            with pytest.raises(RefusedError, match="due: "):
                memory.note("Call Marta", due=due)
        with pytest.raises(RefusedError, match="ttl, too"):
            memory.note("Call Marta", due="2d", ttl="low")
        with pytest.raises(RefusedError, match="lies before the last event"):
            memory.context("s", at="2026-01-05T09:00:00Z")


def test_who_declares_a_task_is_told_what_it_depends_on_and_nobody_knows(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        assert memory.task("buy paint", "paint") == "paint"
        fence = memory.task("paint the fence", "fence", depends_on=["paint", "brush"])
        assert (fence, fence.unknown) == ("fence", ["brush"])
        assert memory.task("paint it again", "again", depends_on=["paint"]).unknown == []
        with pytest.raises(RefusedError, match="names the task itself"):
            memory.task("paint the gate", "gate", depends_on=["gate"])


def test_what_is_recalled_in_a_session_is_recorded_and_at_hand_there(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        key = memory.record("one", "user", "Ben keeps the key of the boat house.")
        memory.record("two", "user", "My favourite colour is blue.")
        assert memory.needs_recall("three", "Where is the key of the boat house?")
        (hit,) = memory.recall("key of the boat house", "three", k=1, kinds=["turn"])
        assert (hit["turns"], hit["text"]) == ([key], "Ben keeps the key of the boat house.")
        assert not memory.needs_recall("three", "Where is the key of the boat house?")
        memory.reward([key], 0.5, session="three")
        memory.recall("key of the boat house")
        memory.recall("key of the boat house", "four", record=False)
        happened = [row["what"] for row in memory.ask("memory", id=key)["accesses"]]
        assert happened == ["recalled", "rewarded"]
        with pytest.raises(RefusedError, match="there is no kind 'dream'"):
            memory.recall("key", kinds=["dream"])
        with pytest.raises(RefusedError, match="no 'colour'"):
            memory.recall("key", colour="blue")
        assert memory.recall("", "four") == []


def test_a_turn_taken_back_is_not_shown_and_who_took_it_back_first_knows(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        turns = [memory.record("chat", "user", f"The key of house {n} is lost.") for n in range(3)]
        taken = memory.retract("chat", *turns[:2], reason="popped")
        assert taken["turns"] == turns[:2]
        assert memory.retract("chat", *turns[1:], reason="popped")["turns"] == turns[2:]
        rows = memory.ask("view", name="turns", order="position", after=taken["after"])
        assert [row["retraction"] for row in rows] == ["popped"] * 3
        assert memory.recall("key of the house") == []
        with pytest.raises(RefusedError, match="no 'bored'; it is one of edited, regenerated, popped, cleared"):
            memory.retract("chat", turns[0], reason="bored")
        assert memory.retract("chat") == {"turns": [], "after": "", "unknown": []}


def test_who_takes_back_a_turn_that_is_not_known_is_told_and_it_is_taken_back_when_it_comes(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        known = memory.record("chat", "user", "The key of the house is lost.")
        taken = memory.retract("chat", known, "later")
        assert (taken["turns"], taken["unknown"]) == ([known, "later"], ["later"])
        memory.record("chat", "user", "The key of the shed is lost.", id="later")
        rows = memory.ask("view", name="turns", order="position")
        assert [row["retraction"] for row in rows] == ["edited"] * 2


def test_who_says_something_of_what_is_not_known_is_told_and_so_is_who_says_what_stands(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        turn = memory.record("chat", "user", "The key of the house is lost.")
        note = memory.note("Call Marta about the lease")
        for told, unknown in (
            (memory.reward([turn, "none"]), ["none"]),
            (memory.judge(turn, "gone"), ["gone"]),
            (memory.update_task("roof", status="complete"), ["roof"]),
            (memory.settle("nothing"), ["nothing"]),
            (memory.say("importance-flagged", session="chat", turn="nobody"), ["nobody"]),
            (memory.say("memory-pinned", turn="nobody"), ["nobody"]),
            (memory.say("effort-closed", session="chat", name="boat"), ["boat"]),
        ):
            assert (told["unknown"], sorted(told)) == (unknown, ["id", "position", "unknown"])
        assert sorted(memory.reward([turn])) == sorted(memory.settle(note, "done")) == ["id", "position"]
        again = memory.settle(note)
        assert (again["already"], again["since"][:2]) == ("settled", "20")
        with pytest.raises(RefusedError, match="turns"):
            memory.say("memory-rewarded", turns="all of them")


def test_a_home_that_nobody_serves_says_what_to_start(tmp_path: Path) -> None:
    with pytest.raises(NotServedError, match="mnemolog serve"):
        Memory(home=tmp_path, start=False).record("chat", "user", "hello")


def calls(cls: type) -> dict[str, inspect.Signature]:
    """The public calls of a class, and what each takes and gives."""
    return {name: inspect.signature(call) for name, call in vars(cls).items() if not name.startswith("_")}


def test_what_can_be_called_can_be_awaited_in_the_same_words() -> None:
    awaited = calls(AsyncMemory)
    assert awaited == calls(Memory)
    assert all(inspect.iscoroutinefunction(getattr(AsyncMemory, name)) for name in awaited)


@pytest.mark.parametrize("name", calls(AsyncMemory))
def test_what_is_awaited_is_called_with_all_that_it_was_given(name: str) -> None:
    """Each argument has a value of its own, in its place and by its name; what is only taken by name, too."""
    taken = inspect.signature(getattr(Memory, name))
    call = create_autospec(getattr(Memory, name))
    memory = AsyncMemory("ann")
    setattr(memory.memory, name, partial(call, memory.memory))
    given: list[str] = []
    named: dict[str, str] = {}
    for one in [*taken.parameters.values()][1:]:
        if one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD):
            named[one.name] = f"of {one.name}"
        else:
            given += [one.name] if one.kind is one.POSITIONAL_OR_KEYWORD else ["more", "and more"]
    asyncio.run(getattr(memory, name)(*given, **named))
    got = call.call_args
    assert taken.bind(*got.args, **got.kwargs) == taken.bind(memory.memory, *given, **named)


FORKED = """
import asyncio, os, pickle, sys
from mnemolog import AsyncMemory

memory = AsyncMemory(home=sys.argv[1], start=False)
asyncio.run(memory.record("s", "user", "before", id="1"))
copy = pickle.loads(pickle.dumps(memory))
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
asyncio.run(asyncio.wait_for(memory.record("s", "user", "in the child", id="2"), 30))
asyncio.run(asyncio.wait_for(copy.record("s", "user", "of the copy", id="3"), 30))
os._exit(0)
"""


def test_what_is_awaited_can_be_copied_and_goes_on_in_a_process_that_was_forked(home: Home) -> None:
    with serving(home):
        subprocess.run([sys.executable, "-c", FORKED, str(home.path)], check=True, timeout=60)
        assert [turn["turn_id"] for turn in Memory(home=home.path).ask("view", name="turns")] == ["1", "2", "3"]


def test_it_needs_the_standard_library_alone() -> None:
    tree = ast.parse(Path(mnemolog.__file__).read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported <= set(sys.stdlib_module_names)


def test_what_recall_put_into_a_context_that_an_agent_was_given_is_recorded_as_shown(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        key = memory.record("one", "user", "Ben keeps the key of the boat house.")
        memory.record("two", "user", "Where is the key of the boat house, and who keeps it?")
        assert memory.context("two", record=False)["recalled"]["turns"] == [key]
        memory.context("two")
        events = [decode(record.type, record.value) for record in home.log.read(0, 0, home.log.end(0))]
        shown = [(event.session, event.turns, event.cue) for event in events if isinstance(event, MemoryRecalled)]
        assert shown == [("two", [key], "Where is the key of the boat house, and who keeps it?")]


def test_what_is_looked_up_as_it_was_is_not_recorded_as_shown_now(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path, space="ann")
        key = memory.record("one", "user", "Ben keeps the key of the boat house.")
        memory.record("two", "user", "Where is the key of the boat house, and who keeps it?")
        for record in (None, True):
            hits = memory.recall("key of the boat house", "three", record, as_of="0:0")
            assert [hit["id"] for hit in hits] == [key]
        assert memory.context("two", as_of="0:1")["recalled"]["turns"] == [key]
        events = [decode(record.type, record.value) for record in home.log.read(0, 0, home.log.end(0))]
        assert not [event for event in events if isinstance(event, MemoryRecalled)]


def test_what_is_asked_as_of_the_first_position_is_answered_as_it_was_then(home: Home) -> None:
    with serving(home):
        memory = Memory(home=home.path)
        for n in range(3):
            memory.record("chat", "user", f"hello {n}")
        for first in (0, "0", "0:0"):
            assert memory.context("chat", as_of=first)["position"] == 0
            assert not memory.needs_recall("chat", "hello 2?", as_of=first)
        assert memory.context("chat")["position"] == 2


def test_who_names_no_home_and_no_space_means_what_commands_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MNEMOLOG_HOME", raising=False)
    memory = Memory()
    assert (memory.home, memory.space) == (Path(DEFAULT_HOME).expanduser(), DEFAULT_SPACE)
