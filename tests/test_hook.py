"""`mnemolog hook`, as coding agents start it: transcripts are fed as they grow, contexts come back, nothing fails."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from pydantic import create_model

from processors import PROCESSORS
from projections.store import Store
from streams.core.errors import NoRoomError, UnreadableError
from streams.core.events import TurnRecorded
from streams.core.text.echo import CLOSE, FRAME
from streams.gateways import hook
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home
from streams.runtime.home.appending import feed
from streams.runtime.home.office import Office
from streams.runtime.home.server import serve
from streams.runtime.requests import QUESTIONS, Context, Feed, Question
from tests.processes import PIPE, Program, run
from tests.test_importers import BLOCKS, message_of

SAMPLES = Path(__file__).parent / "importers"
SHOP = "/home/ann/shop"


@pytest.fixture
def environ(tmp_path, monkeypatch) -> dict[str, str]:
    """The environment of an agent, whose home is new; nobody serves it longer than a question takes."""
    for name in ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "MNEMOLOG_SPACE"):
        monkeypatch.delenv(name, raising=False)
    own = {"MNEMOLOG_HOME": str(tmp_path / "home"), "MNEMOLOG_HOOK_IDLE": "-1", "MNEMOLOG_HOOK_SECONDS": "60"}
    return os.environ | own


@contextmanager
def served(environ: dict[str, str]) -> Iterator[None]:
    """Somebody serves the home."""
    with Program("serve", env=environ, stdout=PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert "serving" in server.stdout.readline()
            yield
        finally:
            server.terminate()


def hooked(environ: dict[str, str], event: object, *words: str) -> str:
    """What the hook prints; it must do well, and say nothing else."""
    given = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = run("hook", *words, input=given, env=environ, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def recorded(environ: dict[str, str]) -> list[dict]:
    """What is in the log."""
    log = SqliteLog(Path(environ["MNEMOLOG_HOME"]) / "log.sqlite")
    try:
        return [json.loads(record.value) for record in log.read(0, 0)]
    finally:
        log.close()


def told(environ: dict[str, str]) -> str:
    """What went wrong, as the home's hook.log tells."""
    path = Path(environ["MNEMOLOG_HOME"]) / "hook.log"
    return path.read_text() if path.exists() else ""


def until(happened, what: str = "") -> None:
    """Waits for what must happen."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.fixture
def transcript(tmp_path) -> Path:
    return Path(shutil.copy(SAMPLES / "claude-code.jsonl", tmp_path / "5e55.jsonl"))


def event(name: str, transcript: Path | None, **more: object) -> dict:
    path = str(transcript) if transcript else None
    return {"hook_event_name": name, "session_id": "5e55", "transcript_path": path, "cwd": SHOP} | more


def context_of(printed: str, name: str) -> str:
    answer = json.loads(printed)
    assert list(answer) == ["hookSpecificOutput"]
    assert answer["hookSpecificOutput"]["hookEventName"] == name
    assert sorted(answer["hookSpecificOutput"]) == ["additionalContext", "hookEventName"]
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert context.startswith(FRAME)
    assert context.rstrip().endswith(CLOSE)
    assert len(context) < 10_000
    return context


def test_a_session_is_fed_as_it_grows_and_the_next_one_begins_with_it(environ, transcript):
    lines = transcript.read_bytes().splitlines(keepends=True)
    with served(environ):
        assert hooked(environ, event("SessionStart", None, source="startup")) == ""
        for upto in (3, 9, 9, 12, len(lines)):
            transcript.write_bytes(b"".join(lines[:upto]) + b'{"type": "user", "to')
            assert hooked(environ, event("Stop", transcript, stop_hook_active=False)) == ""
        found = recorded(environ)
        whole = [one["content"] for one in found if one["type"] == "turn-recorded.v1"]
        assert next(one for one in whole if "login" in one) == "The login test fails since this morning."
        assert [one["turn"] for one in found if one["type"] == "turn-retracted.v1"] == ["u5", "a6"]
        assert {one["space"] for one in found} == {SHOP}
        assert len({one["id"] for one in found}) == len(found)
        printed = hooked(environ, event("SessionStart", None, source="startup") | {"session_id": "new"})
        assert "login test" in context_of(printed, "SessionStart")
        first, _, rest = context_of(printed, "SessionStart").partition("\n")
        assert ' session="new" after="5e55" ' in first
        assert ("The newest turns of the session before\n" in rest, "this session" in rest) == (True, False)
        prompt = {"session_id": "new", "prompt": "Why did the login test fail, was it the cookie?"}
        printed = hooked(environ, event("UserPromptSubmit", None) | prompt)
        assert "cookie was renamed" in context_of(printed, "UserPromptSubmit")
        shown = [one for one in recorded(environ) if one["type"] == "memory-recalled.v1"]
        assert {one["session"] for one in shown} >= {"new"}
        assert hooked(environ, event("UserPromptSubmit", None, prompt="ok, thanks") | {"session_id": "new"}) == ""
    assert told(environ) == ""


def test_what_fell_due_since_the_last_event_is_overdue_for_who_works_now(tmp_path):
    asked: list[dict] = []

    def ask(what: str, **given: object) -> object:
        asked.append({"what": what} | given)
        return {"needs_recall": {"needed": True}, "context": {"sections": [1], "text": "", "shown": None}}[what]

    call = hook.Call.of(json.dumps(event("UserPromptSubmit", None, prompt="what's due?")).encode())
    before = time.time()
    hook.work(call, tmp_path, hook.Asked(lambda fields: [], ask), lambda answer: None, time.monotonic() + 5)
    [found] = [one for one in asked if one["what"] == "context"]
    assert before - 1 < found["present"] / 1e6 < time.time() + 1


@pytest.mark.parametrize("makes_way", [True, False])
def test_a_server_that_is_older_than_the_hook_answers_and_makes_way_for_a_newer_one(home, monkeypatch, makes_way):
    fields = {name: field for name, field in Context.model_fields.items() if name not in hook.NEW | {"as_of", "after"}}
    older = create_model("Older", __base__=Question, **{name: (one.annotation, one) for name, one in fields.items()})
    monkeypatch.setitem(QUESTIONS, "context", older)
    said = "The login test fails: the cookie was renamed in release 3.2."
    told = {"id": "t", "at": 1767600000_000000, "space": SHOP, "session": "old", "role": "user", "content": said}
    feed([Feed(feed=[told])], home.log)
    answers = io.BytesIO()
    server = Home(home.path, PROCESSORS)
    ready, how = Event(), {"makes_way": makes_way}
    thread = Thread(target=serve, args=(server, lambda: answers.closed, lambda _: ready.set()), kwargs=how, daemon=True)
    thread.start()
    assert ready.wait(60)
    given = json.dumps(event("SessionStart", None, source="startup") | {"session_id": "new"}).encode()
    monkeypatch.setenv("MNEMOLOG_HOOK_SECONDS", "60")
    for name in ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "MNEMOLOG_SPACE"):
        monkeypatch.delenv(name, raising=False)
    hook.run(io.BytesIO(given), answers, home.path)
    assert "cookie was renamed" in context_of(answers.getvalue().decode(), "SessionStart")
    assert not (home.path / "hook.log").exists()
    thread.join(20 if makes_way else 1)
    assert thread.is_alive() is not makes_way
    answers.close()
    thread.join(60)
    server.log.close()


def test_half_a_character_that_an_agent_left_costs_neither_the_line_nor_the_answer(environ, transcript):
    lines = transcript.read_text()
    transcript.write_text(lines.replace("The login test fails", r"\ud83d The login test fails"))
    with served(environ):
        assert hooked(environ, event("Stop", transcript, last_assistant_message="\udc00")) == ""
        assert "? The login test fails since this morning." in [one.get("content") for one in recorded(environ)]
    assert told(environ) == ""


def test_a_message_that_was_fed_before_it_was_whole_is_taken_up_where_that_stopped(environ, tmp_path):
    """As where a session runs while its folder is fed, or two events of it are answered at once."""
    lines = message_of(*BLOCKS)
    path, half = tmp_path / "5e55.jsonl", tmp_path / "half.jsonl"
    path.write_bytes(b"".join(lines))
    half.write_bytes(b"".join(lines[:3]))
    with served(environ):
        assert run("feed", str(half), env=environ, capture_output=True, timeout=60).returncode == 0
        hooked(environ, event("Stop", path))
        found = [one for one in recorded(environ) if one["role"] == "assistant"]
    assert [one["content"] for one in found] == ["I look at the login.", "The cookie was renamed."]
    assert told(environ) == ""


def test_messages_of_a_newer_format_are_told_in_the_log(environ, tmp_path):
    first, second, *rest = message_of(*BLOCKS)
    path = tmp_path / "5e55.jsonl"
    path.write_bytes(
        b"".join([first, second.replace(b'"content"', b'"blocks"').replace(b'"message"', b'"said"'), *rest])
    )
    with served(environ):
        assert hooked(environ, event("Stop", path)) == ""
        assert next(one["content"] for one in recorded(environ)) == "Look at it"
    assert told(environ).count("\n") == 1
    assert f"1 messages of {path} were not understood: message: must be an object" in told(environ)


def test_a_transcript_that_was_replaced_is_read_anew(environ, transcript, tmp_path):
    with served(environ):
        hooked(environ, event("Stop", transcript))
        count = len(recorded(environ))
        shutil.copy(SAMPLES / "claude-code-fork.jsonl", transcript)
        hooked(environ, event("Stop", transcript))
        assert len(recorded(environ)) == count + 1


def test_what_was_written_over_the_end_of_a_transcript_is_read(environ, tmp_path):
    """An agent takes its last message away again, and goes on: the file is as long as before, or longer."""

    def line(uuid: str, parent: str | None, role: str, text: str) -> bytes:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        about = {"sessionId": "5e55", "cwd": SHOP, "timestamp": "2026-01-05T09:00:00Z"}
        whole = {"type": role, "uuid": uuid, "parentUuid": parent, "message": message} | about
        return json.dumps(whole).encode() + b"\n"

    begin = line("u1", None, "user", "Why does the login fail?")
    first = line("a2", "u1", "assistant", "I look")
    other = line("a3", "u1", "assistant", "The cookie is dropped") + line("u4", "a3", "user", "Why?")
    path = tmp_path / "5e55.jsonl"
    with served(environ):
        path.write_bytes(begin + first)
        hooked(environ, event("Stop", path))
        path.write_bytes(begin + other)
        for _ in range(2):
            hooked(environ, event("Stop", path))
            assert [one["content"] for one in recorded(environ)][2:] == ["The cookie is dropped", "Why?"]
    assert told(environ) == ""


def test_without_a_server_a_child_goes_on_with_the_work_and_serves_who_comes_next(environ, transcript):
    environ["MNEMOLOG_HOOK_IDLE"] = "600"
    home = Path(environ["MNEMOLOG_HOME"])
    assert hooked(environ, event("Stop", transcript)) == ""
    until((home / "socket").exists, told(environ))
    assert len(recorded(environ)) == 17
    found = hooked(environ, event("SessionStart", None, source="startup") | {"session_id": "new"})
    assert "login test" in context_of(found, "SessionStart")
    shutil.rmtree(home / "hooks")  # what it is stopped by
    until(lambda: not (home / "socket").exists())


@pytest.mark.parametrize("killed", [True, False])
def test_a_server_that_a_hook_began_leaves_no_journal_beside_the_log(environ, transcript, killed):
    """Who opens a log with a journal reads all of it, to see that none of it is another's."""
    environ["MNEMOLOG_HOOK_IDLE"] = "600"
    home = Path(environ["MNEMOLOG_HOME"])
    hooked(environ, event("SessionStart", None, source="startup"))
    until((home / "socket").exists, told(environ))
    hooked(environ, event("Stop", transcript))
    assert (home / "log.sqlite-wal").stat().st_size > 0
    if killed:
        os.kill(int((home / "writer.lock").read_text()), signal.SIGTERM)
    else:
        shutil.rmtree(home / "hooks")  # what it is stopped by
    until(lambda: not (home / "log.sqlite-wal").exists())
    assert len(recorded(environ)) == 17


def test_without_a_server_what_is_there_in_time_is_answered(environ, transcript):
    home = Home(Path(environ["MNEMOLOG_HOME"]), PROCESSORS)
    assert home.log.end(0) == 0
    home.log.close()
    hooked(environ, event("Stop", transcript))
    until(lambda: len(recorded(environ)) == 17, told(environ))
    printed = hooked(environ, event("SessionStart", None, source="startup") | {"session_id": "new"})
    assert "login test" in context_of(printed, "SessionStart")


GARBAGE = [
    b"", b"\n", b"garbage", b"\xff\xfe\x00", b"[]", b"7", b"{}", b'{"hook_event_name": 7, "session_id": []}',
    b'{"hook_event_name": "Stop"}', b"[" * 5000, b'{"hook_event_name": "PreToolUse", "session_id": "s"}',
    b'{"hook_event_name": "NobodyKnows", "session_id": "s", "cwd": 7, "transcript_path": {}}',
    b'{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": 7, "transcript_path": "/dev/null"}',
    b'{"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/", "cwd": "/x"}',
    b'{"hook_event_name": "Stop", "session_id": "\\u0000\\u001b[2J", "cwd": "\\u0000"}',
]  # fmt: skip


def test_whatever_comes_on_standard_input_is_answered_with_nothing(environ):
    with served(environ):
        for given in GARBAGE:
            assert hooked(environ, given) == "", given


@pytest.mark.parametrize("words", [["--no-such-option", "more"], ["--home"], ["--home", "/dev/null/home"]])
def test_whatever_stands_in_the_settings_no_prompt_is_blocked(environ, words):
    assert hooked(environ, event("Stop", None), *words) == ""


def test_a_home_that_cannot_be_is_no_error(environ, tmp_path, transcript):
    (tmp_path / "file").write_text("")
    environ["MNEMOLOG_HOME"] = str(tmp_path / "file")
    assert hooked(environ, event("SessionStart", transcript)) == ""


def test_a_home_whose_lock_another_holds_is_no_error_and_costs_no_more_than_the_time_there_is(environ, transcript):
    home = Home(Path(environ["MNEMOLOG_HOME"]), PROCESSORS)
    with home.folder.holding():
        began = time.monotonic()
        new = {"session_id": "new", "transcript_path": str(transcript.with_name("not-yet.jsonl"))}
        environ["MNEMOLOG_HOOK_SECONDS"] = ""  # the time that there is
        assert hooked(environ, event("SessionStart", None, source="startup") | new) == ""
        environ["MNEMOLOG_HOOK_SECONDS"] = "60"
        assert time.monotonic() - began < 30
        until(lambda: "no answer in time" in told(environ))
    home.log.close()
    with served(environ):
        hooked(environ, event("Stop", transcript))
        for answer in ("The newest turns", ""):  # what the session's start would have been answered with, once
            printed = hooked(environ, event("UserPromptSubmit", None, prompt="Hello there!") | new)
            assert answer in printed
            assert bool(printed) == bool(answer)
        assert [one for one in recorded(environ) if one["session"] == "new" and "content" in one] == []


CODEX = {"turn_id": "t1", "model": "m", "permission_mode": "default"}
CURSOR = {"conversation_id": "c1", "generation_id": "g1", "workspace_roots": [SHOP], "cursor_version": "3.1"}


def test_agents_without_a_transcript_are_fed_by_what_their_events_tell(environ):
    asked = {"prompt": "The crane stands in Porto, and the bridge is closed on Monday."}
    with served(environ):
        hooked(environ, event("UserPromptSubmit", None) | CODEX | asked)
        hooked(environ, event("Stop", None, last_assistant_message="Noted.") | CODEX)
        hooked(environ, CURSOR | {"hook_event_name": "beforeSubmitPrompt"} | asked)
        hooked(environ, event("UserPromptSubmit", None) | CURSOR | asked)  # Cursor runs the hooks of Claude Code, too
        hooked(environ, CURSOR | {"hook_event_name": "afterAgentResponse", "text": "I see."})
        hooked(environ, event("BeforeAgent", None) | asked | {"session_id": "g"})
        hooked(environ, event("AfterAgent", None, prompt_response="Fine.") | asked | {"session_id": "g"})
        said = [(one["session"], one["role"], one["content"]) for one in recorded(environ) if "content" in one]
    prompt = asked["prompt"]
    assert said == [
        ("5e55", "user", prompt),
        ("5e55", "assistant", "Noted."),
        ("c1", "user", prompt),
        ("c1", "assistant", "I see."),
        ("g", "user", prompt),
        ("g", "assistant", "Fine."),
    ]


@pytest.mark.parametrize(
    ("name", "session", "about"),
    [("codex", "0198-aa", "slow deploy"), ("gemini-cli", "9e-1", "the index")],
)
def test_transcripts_of_other_agents_are_fed_as_they_grow(name, session, about, environ, tmp_path):
    path = tmp_path / "transcript.jsonl"
    lines = (SAMPLES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    with served(environ):
        for upto in range(2, len(lines) + 1, 3):
            path.write_bytes(b"".join(lines[:upto]))
            assert hooked(environ, event("AfterAgent", path, session_id=session)) == ""
        path.write_bytes(b"".join(lines))
        hooked(environ, event("AfterAgent", path, session_id=session))
        found = recorded(environ)
        printed = hooked(environ, event("SessionStart", None, source="startup") | {"session_id": "new"})
    assert {one["session"] for one in found} == {session}
    assert {one["space"] for one in found} == {SHOP}
    assert "turn-retracted.v1" in {one["type"] for one in found}
    assert about in context_of(printed, "SessionStart")
    assert told(environ) == ""


def test_each_agent_is_answered_in_its_own_form(environ, transcript):
    with served(environ):
        hooked(environ, event("Stop", transcript))
        asked = {"session_id": "new", "prompt": "Why did the login test fail, was it the cookie?"}
        context_of(hooked(environ, event("UserPromptSubmit", None) | CODEX | asked), "UserPromptSubmit")
        context_of(hooked(environ, event("BeforeAgent", None) | asked | {"session_id": "g"}), "BeforeAgent")
        printed = hooked(environ, CURSOR | {"hook_event_name": "sessionStart"})
        assert list(json.loads(printed)) == ["additional_context"]
        assert hooked(environ, event("SessionStart", None) | {"session_id": "s2", "agent_id": "sub"}) == ""


def test_a_context_that_comes_back_in_the_transcript_is_no_news(environ, transcript):
    with served(environ):
        hooked(environ, event("Stop", transcript))
        printed = hooked(environ, event("SessionStart", None, source="startup") | {"session_id": "new"})
        context = context_of(printed, "SessionStart")
        line = json.loads(transcript.read_bytes().splitlines()[3])
        line |= {"uuid": "e1", "parentUuid": "u8", "timestamp": "2026-03-02T10:00:00Z"}
        for n, message in enumerate((context, f"<system-reminder>\n{context}\n</system-reminder>\nAnd the crane?")):
            echo = line | {"uuid": f"e{n}", "message": {"role": "user", "content": message}}
            transcript.write_bytes(transcript.read_bytes() + json.dumps(echo).encode() + b"\n")
        hooked(environ, event("Stop", transcript))
    home = Home(Path(environ["MNEMOLOG_HOME"]), PROCESSORS)
    efforts = home.ask("view", name="efforts", space=SHOP)
    with home.reading("live") as memory:
        rows = memory.execute("SELECT id, content FROM turn_recorded WHERE id IN ('e0', 'e1') ORDER BY id").fetchall()
    home.close()
    assert rows == [("e0", ""), ("e1", "And the crane?")]
    assert all("What was said and noted" not in effort["topic"] for effort in efforts)


def test_nothing_heavy_is_imported_before_a_server_is_asked(environ, transcript):
    with served(environ):
        hooked(environ, event("Stop", transcript))
        code = (
            "import sys; from contextlib import suppress; from streams.gateways.cli import main\n"
            "with suppress(SystemExit): main(['hook'])\n"
            "print(sorted({'duckdb', 'pyarrow', 'pydantic', 'numpy', 'rich', 'typer', 'sqlite3'} & set(sys.modules)), "
            "file=sys.stderr)"
        )
        asked = event("UserPromptSubmit", transcript, prompt="Why did the login test fail, was it the cookie?")
        asked["session_id"] = "new"
        done = subprocess.run(
            [sys.executable, "-c", code], input=json.dumps(asked).encode(), env=environ, capture_output=True, check=True
        )
    assert context_of(done.stdout.decode(), "UserPromptSubmit")
    assert done.stderr == b"[]\n"


def test_without_a_server_the_home_is_opened_once_and_closed_when_the_answer_is_given(environ, tmp_path, monkeypatch):
    """Each time takes a tenth of a second and more, and as much again to read the index of the space."""
    opened: list[str] = []
    live = Home.live

    @contextmanager
    def noted(self, *given, **more):
        with live(self, *given, **more) as keeper:
            opened.append("opened")
            yield keeper
        opened.append("closed")

    home = Home(tmp_path / "home", PROCESSORS)
    home.request({"feed": [said("old", "Ben keeps the key of the boat house at Miller's."), said("5e55", "Hello.")]})
    monkeypatch.setattr(Home, "live", noted)
    monkeypatch.setenv("MNEMOLOG_SPACE", "default")
    call = hook.Call.of(json.dumps(event("UserPromptSubmit", None, prompt="Who keeps the boat house key?")).encode())
    hook._alone(call, home.path, lambda answer: opened.append(answer.decode()))
    assert [one for one in opened if "Miller" not in one] == ["opened", "closed"]
    assert "Miller" in opened[1]


def test_a_session_that_begins_asks_which_was_the_newest_and_not_what_was_said_there(environ, tmp_path):
    """To read what was said takes tens of milliseconds of a large home."""
    home = Home(tmp_path / "home", PROCESSORS)
    home.request({"feed": [said("old", "Ben keeps the key of the boat house at Miller's.")]})
    told: list[str] = []

    def ask(what, **how):
        found = home.ask(what, **how)
        told.extend(key for row in found for key in row if what == "view")
        return found

    call = hook.Call.of(json.dumps(event("SessionStart", None)).encode())
    found = hook._context(call, "default", hook.Asked(lambda fields: [], ask), begins=True)
    assert "Miller" in found["text"]
    assert told == ["session"]


def test_an_answer_waits_for_nothing_that_can_come_after_it(environ, tmp_path, monkeypatch):
    """To commit what was folded takes a tenth of a second, to record what was shown as much again."""
    home = Home(tmp_path / "home", PROCESSORS)
    home.request({"feed": [said("old", "Ben keeps the key of the boat house at Miller's."), said("5e55", "Hello.")]})
    assert [row["turns"] for row in home.ask("spaces")] == [2]
    monkeypatch.setenv("MNEMOLOG_SPACE", "default")
    done: list[str] = []
    commit = Store.commit

    def noted(self, batch):
        done.append("committed")
        commit(self, batch)

    monkeypatch.setattr(Store, "commit", noted)
    call = hook.Call.of(json.dumps(event("UserPromptSubmit", None, prompt="Who keeps the boat house key?")).encode())
    hook._alone(call, home.path, lambda answer: done.append(recorded(environ)[-1]["type"]))
    assert done[:2] == ["turn-recorded.v1", "committed"]
    assert recorded(environ)[-1]["type"] == "memory-recalled.v1"
    assert [row["turns"] for row in home.ask("spaces")] == [3]


@pytest.mark.parametrize("is_served", [False, True])
def test_after_an_upgrade_a_session_begins_with_what_brings_memory_back_and_what_is_said_is_fed(
    environ, transcript, is_served
):
    newer = [replace(p, version=p.version + 1) if p.name == "coactivation" else p for p in PROCESSORS]
    other = Home(Path(environ["MNEMOLOG_HOME"]), newer)
    other.request({"feed": [said("s", "Hello.")]})
    other.ask("spaces")
    other.close(whole=True)
    with served(environ) if is_served else nullcontext():
        begun = context_of(hooked(environ, event("SessionStart", transcript, source="startup")), "SessionStart")
        assert begun.startswith(FRAME)
        assert begun.endswith(CLOSE)
        assert "another version of coactivation. What is said is recorded." in begun
        assert "mnemolog promote next" in begun
        assert hooked(environ, event("UserPromptSubmit", transcript, prompt="Who keeps the key?")) == ""
        until(lambda: len(recorded(environ)) > 1, "what the transcript says is fed")


def test_a_home_that_is_kept_open_and_has_no_room_any_more_answers_as_it_is(tmp_path, monkeypatch):
    home = Home(tmp_path / "home", PROCESSORS)
    home.request({"feed": [said("s", "Hello.")]})
    assert [row["turns"] for row in home.ask("spaces")] == [1]

    def full(self, message):
        raise NoRoomError("there is no room to go on", "make room")

    with home.asking_on():
        monkeypatch.setattr(Office, "carry_out", full)
        monkeypatch.setattr("streams.runtime.home.PATIENCE", 1.0)
        assert [row["turns"] for row in home.ask("spaces")] == [1]


def said(session: str, content: str) -> dict:
    """A turn as it is fed."""
    return {"session": session, "role": "user", "content": content}


def test_a_question_that_cannot_be_read_has_live_opened_anew_for_those_that_follow(tmp_path, monkeypatch):
    home = Home(tmp_path / "home", PROCESSORS)
    home.request({"feed": [said("s", "Hello.")]})
    carried = Office.carry_out
    fails = [True]

    def failing(self, message):
        if fails.pop() if fails else False:
            raise UnreadableError("a page is damaged", "ask again")
        return carried(self, message)

    with home.asking_on():
        assert [row["turns"] for row in home.ask("spaces")] == [1]
        monkeypatch.setattr(Office, "carry_out", failing)
        assert [row["turns"] for row in home.ask("spaces")] == [1]
        home.log.append([TurnRecorded("default", "t2", -1, "s", "ann", "user", "And now?")])
        assert [row["turns"] for row in home.ask("spaces")] == [2]
    with home.folder.holding():
        pass  # nobody holds it any more
