"""The command line: what people and programs meet. Answers, exit codes, and words where something goes wrong."""

import gc
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer.main

from processors import PROCESSORS
from projections import rows as answers
from streams.core.errors import UsageError
from streams.core.events import TurnRecorded, micros
from streams.core.text import alike
from streams.gateways.cli import main, misunderstood
from streams.gateways.command import FAILED, MISUSED, OK, check_installed
from streams.gateways.commands import log
from streams.gateways.parser import app
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home
from streams.runtime.home.server import serve
from tests import processes
from tests.processes import PIPE, ROOT, Program

SAMPLES = ROOT / "streams" / "gateways" / "samples"
COMMAND = [sys.executable, "-m", "streams.gateways.cli"]


class Answer:
    """What a command said, and its exit code."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self):
        return [json.loads(line) for line in self.out.splitlines()]


def test_a_command_looks_for_garbage_rarely_and_leaves_it_as_it_was(monkeypatch):
    before, seen = gc.get_threshold(), []
    monkeypatch.setattr("streams.gateways.hook.main", lambda words: seen.append(gc.get_threshold()[0]))
    gc.set_threshold(700, 10, 10)
    try:
        with pytest.raises(SystemExit):
            main(["hook"])
        assert seen[0] > 70_000
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*before)


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*words, home=None, stdin=None):
        if stdin is not None:
            read, write = os.pipe()
            os.write(write, stdin)
            os.close(write)
            given = os.fdopen(read)
            monkeypatch.setattr(sys, "stdin", given)
        with pytest.raises(SystemExit) as done:
            main([*map(str, words), *(["--home", str(home)] if home else [])])
        if stdin is not None:
            given.close()
        told = capsys.readouterr()
        return Answer(done.value.code, told.out, told.err)

    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "home"
    with pytest.raises(SystemExit):
        main(["feed", str(SAMPLES), "--home", str(path)])
    with pytest.raises(SystemExit):
        main(["digest", "--home", str(path)])  # folds
    return path


@pytest.fixture
def copy(home, tmp_path):
    """A home like the fed one, to change."""
    return Path(shutil.copytree(home, tmp_path / "copy"))


def commands():
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        yield name, command
        for inner, nested in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", nested


def line(session, content, **more):
    return json.dumps({"session": session, "role": "user", "content": content} | more) + "\n"


# -- help --------------------------------------------------------------------------------------------------------------


def test_help_names_every_command_and_loads_no_room():
    script = (
        "import sys\nfrom streams.gateways.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', 'pyarrow', 'pydantic', 'orjson', 'rich.console'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for name, _ in commands():
        assert re.search(rf"^  {name.split()[0]} ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_takes_a_home_and_explains_itself(run, name):
    command = dict(commands())[name]
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--home" in options or name == "worker"  # which looks at brokers alone
    assert "--install-completion" not in options
    assert "--json" in options or name in ("demo", "worker", "mcp", "proxy")  # which answer people, logs and programs
    found = run(*name.split(), "--help")
    assert found.code == OK
    assert (command.help or "").split()[0] in found.out
    for parameter in command.params:
        assert getattr(parameter, "help", None), parameter.name
    assert "RANGE" not in found.out, "a number is N, its limits stand behind it"
    for inner in getattr(command, "commands", {}).values():
        told = " ".join(found.out.split())
        assert " ".join(inner.help.split("\n\n")[0].split()) in told, "no sentence is cut"


def test_the_version_is_told(run):
    told = run("--version")
    assert (told.code, told.err) == (OK, "")
    assert re.fullmatch(r"mnemolog \d+\.\d+\.\d+\S*\n", told.out)


def test_who_asks_a_home_that_holds_nothing_is_told_so(run, tmp_path):
    for asked in ("context --session s", "recall boat"):
        told = run(*words(asked), home=tmp_path / "none")
        assert told.code == OK
        assert told.err == (
            f"nothing yet: the log of {tmp_path / 'none'} is empty; feed some turns, or name another home with --home\n"
        )


# -- feeding -----------------------------------------------------------------------------------------------------------


def test_feeding_good_and_bad_lines_reports_each_bad_one_and_exits_with_1(run, tmp_path):
    path = tmp_path / "turns.jsonl"
    path.write_text(line("s", "hello") + line("s", "x", role="owl") + "{\n" + line("s", "bye"))
    told = run("feed", path, home=tmp_path / "home")
    assert told.code == FAILED
    assert told.out == "2 added, 2 rejected\n"
    assert told.err.splitlines() == [
        f"{path}:2: role: is 'owl'; must be one of user, assistant, system, tool",
        f"{path}:3: line: is not JSON: unexpected end of data at column 2",
        f"rejected lines are in {path}.rejects.jsonl: mend them, then feed that file",
    ]
    again = run("feed", path, "--json", home=tmp_path / "home")
    assert again.code == FAILED
    assert again.rows[0] == {
        "file": str(path),
        "line": 2,
        "field": "role",
        "reason": "is 'owl'; must be one of user, assistant, system, tool",
    }
    assert again.rows[-1] == {"added": 0, "known": 2, "rejected": 2, "rejects": [f"{path}.rejects.jsonl"]}


def test_standard_input_and_chat_messages_are_fed(run, tmp_path):
    assert run("feed", "-", home=tmp_path / "h", stdin=line("s", "hello").encode()).out == "1 added\n"
    chat = json.dumps([{"role": "user", "content": "hello"}]).encode()
    told = run("feed", "-", "--format", "openai", "--session", "t", "--space", "p", home=tmp_path / "h", stdin=chat)
    assert told.out == "1 added\n"
    rows = run("tail", "--all-spaces", "--json", home=tmp_path / "h").rows
    assert [(row["space"], row["session"], row["content"]) for row in rows] == [
        ("default", "s", "hello"),
        ("p", "t", "hello"),
    ]


def test_a_feed_of_projects_names_the_last_session_that_is_no_subagents(run, tmp_path):
    told = run("feed", ROOT / "tests" / "importers" / "claude-code.jsonl", home=tmp_path / "h")
    assert told.err.endswith("mnemolog context --space /home/ann/shop --session 5e55\n")


def test_a_feed_that_finds_nothing_says_so(run, tmp_path):
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "package.json").write_text('{"name": "shop"}')
    told = run("feed", tmp_path / "export", home=tmp_path / "h")
    assert (told.code, told.out) == (OK, "0 added\n")
    assert told.err.startswith("there is nothing, or nothing in a format that is known (--format names one;")


def test_one_of_something_is_told_as_one_and_more_as_more(run, tmp_path):
    path, home = tmp_path / "turns.jsonl", tmp_path / "home"
    path.write_text(line("s", "hello", id="t1") + line("s", "bye", id="t2"))
    run("feed", path, home=home)
    assert "2 events in " in run("backup", tmp_path / "two.sqlite", home=home).out
    run("digest", home=home)
    told = run("erase", "--turn", "t1", "--yes", home=home)
    assert "anew from what stays: 1 memory, snapshots" in told.out
    assert "erased: 1 turn, 0 facts; receipt" in told.out
    assert "2 events in " in run("backup", tmp_path / "again.sqlite", home=home).out, "a turn and the receipt"
    assert "1 event in " in run("restore", _one(tmp_path, run), home=tmp_path / "restored").out


def _one(folder, run):
    """A backup of one event."""
    (folder / "one.jsonl").write_text(line("s", "hello"))
    run("feed", folder / "one.jsonl", home=folder / "alone")
    run("backup", folder / "one.sqlite", home=folder / "alone")
    return folder / "one.sqlite"


def test_an_id_used_again_for_something_else_is_rejected_with_the_place_of_the_first(run, tmp_path):
    path = tmp_path / "turns.jsonl"
    path.write_text(line("s", "hello", id="1") + line("t", "good day", id="1"))
    told = run("feed", path, home=tmp_path / "home")
    assert told.code == FAILED
    assert told.err.startswith(
        f"{path}:2: id: '1' is taken in space 'default' by another event, first recorded at offset 0"
    )


def test_times_that_look_like_seconds_are_pointed_out(run, tmp_path):
    told = run("feed", "-", home=tmp_path / "h", stdin=line("s", "hello", at=1_767_603_600).encode())
    assert told.code == OK
    assert "1 are dated 1970: whole numbers are microseconds; were these seconds?" in told.err


# -- asking ------------------------------------------------------------------------------------------------------------

QUESTIONS = [
    "tail --all-spaces", "context --space harbor --session import-day", "show import-day-10..import-day-12",
    "manifest --space harbor", "efforts --all-spaces", "efforts list --space harbor",
    "efforts --status open --limit 2 --all-spaces", "links --space harbor", "offers --status all --space harbor",
    "offers list --all-spaces", "doubts --status all --all-spaces", "notes --all-spaces", "notes list --space harbor",
    "query", "query sessions --all-spaces", "query tokens space=harbor every=40", "sql 'SELECT 1 AS one'",
    "memories", "digest", "doctor", "flow", "params", "params coactivation", "schema input-line",
    "context --space harbor --session import-day --as-of 2026-03-05T09:00:00Z", "efforts --as-of 50 --all-spaces",
]  # fmt: skip


def words(question):
    return shlex.split(question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_answered_in_json_lines_and_in_plain_words(run, home, question):
    machine = run(*words(question), "--json", home=home)
    assert (machine.code, machine.err) == (OK, "")
    assert machine.rows
    assert all(isinstance(row, dict) for row in machine.rows)
    person = run(*words(question), home=home)
    assert (person.code, person.err) == (OK, "")
    assert "\x1b" not in person.out
    assert person.out.strip()


LISTINGS = ("efforts", "offers", "notes", "manifest", "links", "tail", "query sessions", "network")
NAMED = ("show x1", "memory x1", "efforts close x1", "pin x1", "reward x1", "notes settle n", "efforts reopen x1")


@pytest.fixture
def two_spaces(run, tmp_path):
    """A home in which the spaces `default` and `b` have the same ids."""
    for space in ("default", "b"):
        told = line("s", "The crane stands in Porto.", id="x1") + line("s", "Remind me to oil it tomorrow.", id="x2")
        note = json.dumps({"type": "note-taken", "id": "x3", "note": "n", "content": f"oil it in {space}"}) + "\n"
        assert run("feed", "-", "--space", space, home=tmp_path / "h", stdin=(told + note).encode()).code == OK
    return tmp_path / "h"


@pytest.mark.parametrize("listing", LISTINGS)
def test_what_is_listed_is_of_one_space_unless_all_are_asked_for(run, two_spaces, listing, monkeypatch):
    if listing == "network":
        for space in ("default", "b"):
            known = line("s", "The login test fails because the session cookie is dropped.", id="x4").encode()
            run("feed", "-", "--space", space, home=two_spaces, stdin=known)

    def spaces(*more):
        return {row["space"] for row in run(*words(listing), *more, "--json", home=two_spaces).rows}

    every = set() if listing in ("links", "offers") else {"default", "b"}
    assert spaces("--all-spaces") == every
    assert spaces() == {"default"} & every
    assert spaces("--space", "b") == {"b"} & every
    monkeypatch.setenv("MNEMOLOG_SPACE", "b")
    assert spaces() == {"b"} & every
    assert spaces("--all-spaces") == every


@pytest.mark.parametrize("named", NAMED)
def test_an_id_that_several_spaces_have_is_an_error_that_names_them(run, two_spaces, named, monkeypatch):
    told = run(*words(named), home=two_spaces)
    assert (told.code, told.out) == (MISUSED, "")
    assert told.err.startswith("error: several spaces have ")
    assert told.err.endswith("\n  say which with --space: b, default\n")
    assert run(*words(named), "--space", "b", home=two_spaces).code == OK
    monkeypatch.setenv("MNEMOLOG_SPACE", "b")
    assert run(*words(named), home=two_spaces).code == OK


def test_an_export_is_of_one_space_unless_all_are_asked_for(run, two_spaces, tmp_path):
    assert run("export", tmp_path / "one", "--json", home=two_spaces).rows[0]["turns"] == 2
    assert run("export", tmp_path / "all", "--all-spaces", "--json", home=two_spaces).rows[0]["turns"] == 4


def test_context_as_chat_messages_is_one_json_list(run, home):
    (messages,) = run("context", "--space", "harbor", "--session", "import-day", "--messages", home=home).rows
    assert messages[0]["role"] == "system"
    assert {message["role"] for message in messages[1:]} <= {"user", "assistant"}


def test_the_context_after_each_turn_is_what_its_position_gives_later(run, tmp_path):
    said = [
        "Let us plan the harbour tour for May.",
        "The tour needs 3 boats and a guide.",
        "Other thing: the login page throws KeyError in auth.py.",
        "The KeyError comes from a missing session cookie.",
        "Back to the harbour tour: who is the guide?",
    ]
    printed = []
    for n, content in enumerate(said):
        turn = line("s", content, at=f"2026-01-05T09:0{n}:00Z").encode()
        assert run("feed", "-", home=tmp_path, stdin=turn).code == OK
        printed.append(run("context", "--session", "s", home=tmp_path).out)
    assert len(set(printed)) == len(said)
    for position, text in enumerate(printed):
        assert run("context", "--session", "s", "--as-of", position, home=tmp_path).out == text


def test_a_budget_into_which_nothing_fits_is_told(run, tmp_path):
    turn = line("s", "Which of the two boats leaks since the storm, and where?", at="2026-01-05T09:00:00Z").encode()
    run("feed", "-", home=tmp_path, stdin=turn)
    found = run("context", "--session", "s", "--budget", "3", home=tmp_path)
    assert (found.code, found.out.strip()) == (OK, "")
    assert "nothing fits into 3 tokens" in found.err


def test_show_within_a_limit_names_what_it_left_out(run, home):
    told = run("show", "import-day-01..import-day-40", "--tokens", 200, home=home)
    assert re.search(r"\[\d+ turns of \d+ tokens left out: mnemolog show import-day-\d+\.\.import-day-\d+\]", told.out)
    rows = run("show", "import-day-01..import-day-40", "--tokens", 200, "--json", home=home).rows
    assert rows[0]["turn_id"] == "import-day-01"
    assert rows[-1]["turn_id"] == "import-day-40"
    assert sum(row["tokens"] for row in rows) <= 200


def test_a_turn_cannot_command_the_terminal(run, tmp_path):
    run("feed", "-", home=tmp_path, stdin=line("s", "\x1b]0;title\x07 red \x1b[31m").encode())
    for question in ("tail", "context --session s", "sql 'SELECT content FROM turns'"):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", run(*words(question), home=tmp_path).out)


def test_a_table_of_sql_holds_so_many_bytes_and_says_what_it_left_off_and_json_tells_every_row(run, home, monkeypatch):
    monkeypatch.setattr(answers, "MOST", 100_000)
    for rows, whole in (("SELECT range AS n FROM range(5000)", 5000), ("SELECT repeat('x', 5000) FROM range(50)", 50)):
        told = run("sql", rows, home=home)
        count = len(told.out.splitlines()) - 1
        assert 0 < count < whole
        assert f"shown are the first {count:,} rows" in told.err
        assert "--files" in told.err
        assert len(run("sql", rows, "--json", home=home).rows) == whole
    told = run("sql", "SELECT repeat('x', 1000000) AS n", home=home)
    assert told.out == "no row that a table could hold\n"
    assert "first 0 rows" in told.err


def test_columns_of_one_name_are_all_told_by_sql(run, home):
    assert run("sql", "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a", "--json", home=home).rows == [
        {"a": 1, "a_1": 2, "a_1_1": 3, "a_2": 4}
    ]
    joined = "SELECT * FROM efforts e JOIN sessions s ON s.space = e.space AND s.session = e.opened_in LIMIT 1"
    (row,) = run("sql", joined, "--json", home=home).rows
    assert (row["space"], row["turns"] > 0, row["turns_1"] > 0) == (row["space_1"], True, True)
    assert "turns_1" in run("sql", joined, home=home).out.replace(" ", "_")


def test_an_analysis_that_ends_at_its_limit_says_that_there_is_more(run, home):
    asked = ("query", "efforts", "--all-spaces")
    every = run(*asked, "--json", home=home)
    count = len(every.rows)
    assert (count > 1, "more" in every.err) == (True, False)
    for how in ((), ("--json",)):
        assert "more" not in run(*asked, f"limit={count}", *how, home=home).err
        told = run(*asked, f"limit={count - 1}", *how, home=home)
        assert f"there is more: these are the first {count - 1}; limit=N" in told.err
        assert len(told.out.splitlines()) == (count - 1 if how else count)


def test_rows_of_sql_are_told_as_they_are_found(home):
    asked = ("sql", "SELECT range AS n FROM range(100000000000)", "--json", "--home", home)
    with Program(*asked, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b'{"n":0}\n'
        process.stdout.close()


def test_an_answer_of_too_many_bytes_is_refused_with_a_way_out(home, monkeypatch):
    monkeypatch.setattr(answers, "MOST", 10_000)
    house = Home(home, PROCESSORS)
    with pytest.raises(UsageError, match="the answer holds more than 10,000 bytes") as refused:
        house.ask("view", name="turns")
    assert "a limit" in refused.value.way_out
    assert house.ask("view", name="turns", limit=3)
    with pytest.raises(UsageError, match="the answer holds more than 10,000 bytes"):
        house.ask("show", id="import-day-01..import-day-40")
    assert house.ask("show", id="import-day-01..import-day-03")
    house.log.close()


def test_a_key_for_a_space_without_a_name_is_refused(run, tmp_path):
    done = run("keys", "add", "k", "--space", "", home=tmp_path)
    assert (done.code, "a space without a name is none" in done.err, "--space" in done.err) == (2, True, True)


def test_what_a_turn_did_to_efforts_tasks_notes_and_beliefs_is_told_and_by_what(run, tmp_path):
    said = (
        ("user", "Please import the customer CSV into the staging database."),
        ("assistant", "On it: I am importing the customer CSV into the staging database."),
        ("user", "That fixed it, the customer import into staging works."),
        ("user", "I live in Oslo."),
        ("user", "I live in Bergen now, I moved there in May."),
        ("user", "Remind me to call Ann tomorrow."),
    )
    turns = [
        json.dumps({"session": "s", "role": role, "content": content, "id": f"turn-{n}"})
        for n, (role, content) in enumerate(said)
    ]
    run("feed", "-", home=tmp_path, stdin="\n".join(turns).encode())

    def did(n: int) -> dict[str, dict]:
        rows = run("show", f"turn-{n}", "--why", "--json", home=tmp_path).rows
        return {row["did"]: row for row in rows if "did" in row}

    first, second, third, _, moved, asked = map(did, range(len(said)))
    assert "CSV" in first["opened effort"]["text"]
    assert "CSV" in first["made task"]["text"]
    assert second["joined effort"]["id"] == third["ended effort"]["id"] == first["opened effort"]["id"]
    assert "confidence" in third["ended effort"]["by"]
    assert (moved["replaced belief"]["id"], moved["replaced belief"]["text"]) == ("turn-3", "user lives in oslo")
    assert asked["made note"]["text"] == "Remind me to call Ann tomorrow."
    assert "joined effort" in run("show", "turn-1", "--why", home=tmp_path).out


def test_who_asks_of_a_turn_that_was_taken_back_is_told_so(run, tmp_path):
    lines = [
        {"id": "turn-0", "session": "s", "role": "user", "content": "The import of the CSV into staging fails."},
        {"type": "turn-retracted", "session": "s", "turn": "turn-0", "reason": "cleared"},
    ]
    run("feed", "-", home=tmp_path, stdin="\n".join(map(json.dumps, lines)).encode())
    first = run("show", "turn-0", "--why", "--json", home=tmp_path).rows[0]
    assert (first["did"], first["by"]) == ("was taken back", "cleared")
    assert "taken back" in run("memory", "turn-0", home=tmp_path).out
    assert run("efforts", "--json", home=tmp_path).rows == []


def test_why_a_turn_wants_a_note_is_told_by_the_signals_that_decided(run, tmp_path):
    run("feed", "-", home=tmp_path, stdin=line("s", "Remind me to call Ann tomorrow.").encode())
    [turn] = run("sql", "SELECT turn_id FROM turns", "--json", home=tmp_path).rows
    told = run("show", turn["turn_id"], "--why", "--json", home=tmp_path).rows[-1]
    assert told["likelihood"] > 0.5
    assert told["time"].startswith("until ")
    assert {"signal", "weight"} == {*told["signals"][0]}
    assert "Remind me" in run("show", turn["turn_id"], "--why", home=tmp_path).out


# -- saying ------------------------------------------------------------------------------------------------------------


def test_an_inferred_note_is_settled_by_its_turn_for_the_log_knows_no_derived_id(run, tmp_path):
    run("feed", "-", home=tmp_path, stdin=line("s", "Remind me to call Ann tomorrow.").encode())
    [waiting] = run("notes", "--json", home=tmp_path).rows
    assert (waiting["source"], waiting["status"]) == ("inferred", "open")
    assert run("notes", "settle", waiting["note"], "--resolution", "done", home=tmp_path).code == OK
    assert [n["status"] for n in run("notes", "--json", home=tmp_path).rows] == ["settled"]
    said = run("sql", "SELECT note, turn FROM note_settled", "--json", home=tmp_path).rows
    assert said == [{"note": "", "turn": waiting["turn"]}]


def test_notes_are_taken_and_settled(run, tmp_path):
    taken = run("notes", "take", "call Ann", "--ttl", "urgent", "--note", "ann", "--json", home=tmp_path)
    assert taken.rows[0]["recorded"] == "note-taken"
    assert [(n["note"], n["status"]) for n in run("notes", "--json", home=tmp_path).rows] == [("ann", "open")]
    assert run("notes", "settle", "ann", "--resolution", "done", home=tmp_path).code == OK
    assert [(n["note"], n["status"]) for n in run("notes", "--json", home=tmp_path).rows] == [("ann", "settled")]
    absent = run("notes", "settle", "bob", home=tmp_path)
    assert (absent.code, absent.err) == (MISUSED, "error: there is no note 'bob'\n  `mnemolog notes` lists them\n")


def test_what_was_said_to_hold_is_listed_explained_and_ended(run, tmp_path):
    said = "I'm allergic to nuts, so nothing with nuts for me please."
    turn = {"session": "s", "role": "user", "content": said, "id": "turn-0"}
    run("feed", "-", home=tmp_path, stdin=json.dumps(turn).encode())
    run("notes", "take", "rule: never push to main", "--note", "main", home=tmp_path)
    listed = run("standing", "--json", home=tmp_path).rows
    assert {(row["turn"], row["note"], row["text"]) for row in listed} == {
        ("turn-0", "", said), ("", "main", "never push to main"),
    }  # fmt: skip
    why = run("show", "turn-0", "--why", "--json", home=tmp_path).rows
    [held] = [row for row in why if row.get("did") == "told what holds"]
    assert held["text"] == said
    assert "likelihood" in held["by"]
    assert run("standing", "end", "turn-0", home=tmp_path).code == OK
    assert run("standing", "end", "main", "--resolution", "it may", home=tmp_path).code == OK
    assert run("standing", "--json", home=tmp_path).rows == []
    assert {row["status"] for row in run("standing", "--status", "all", "--json", home=tmp_path).rows} == {"settled"}
    assert "settled" in run("standing", "end", "turn-0", home=tmp_path).out
    assert run("standing", "end", "nobody", home=tmp_path).code == MISUSED


DUE = [("2d", 172_800), ("3h", 10_800), ("90m", 5_400), ("45", 45), ("low", "low")]


@pytest.mark.parametrize(("due", "ttl"), DUE)
def test_when_a_note_is_due_can_be_said(run, tmp_path, due, ttl):
    assert run("notes", "take", "call Kim", "--due", due, home=tmp_path).code == OK
    assert [event["ttl"] for event in run("tail", "--json", home=tmp_path).rows] == [ttl]


def test_a_note_is_due_at_the_time_that_is_named_or_at_the_end_of_the_day(run, tmp_path):
    for due in ("2199-01-20T10:00:00+01:00", "2199-01-20T10:00", "2199-01-20"):
        assert run("notes", "take", "call Kim", "--due", due, home=tmp_path).code == OK
    told = [note["due"] for note in run("notes", "--json", home=tmp_path).rows]
    assert told == ["2199-01-20 09:00", "2199-01-20 10:00", "2199-01-20"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--due tomorrow", "'tomorrow' is no time to be due"),
        ("--due 0m", "'0m' is no time to be due"),
        ("--due 2020-01-01T00:00:00Z", "'2020-01-01T00:00:00Z' has passed"),
        ("--due 2d --ttl low", "there are --ttl and --due"),
    ],
)
def test_what_is_no_time_to_be_due_is_refused_with_those_that_are(run, tmp_path, options, reason):
    told = run("notes", "take", "call Kim", *words(options), home=tmp_path)
    assert (told.code, told.out) == (MISUSED, "")
    assert reason in told.err
    assert len(told.err.splitlines()) == 2, "with a way out"


def test_a_context_is_asked_at_a_moment_and_at_none_it_tells_what_the_last_event_does(run, tmp_path):
    note = {"type": "note-taken", "note": "n", "content": "call the bank", "ttl": 10**10, "session": "s"}
    run("feed", "-", home=tmp_path, stdin=json.dumps(note | {"at": "2026-01-05T09:00:00Z"}).encode())

    def told(*more):
        found = run("context", "--session", "s", *more, home=tmp_path)
        return next(text for text in found.out.splitlines() if "call the bank" in text)

    assert told() == told()
    assert told().startswith("- in 115740 days")
    assert told("--at", "2342-11-27T09:00:00Z").startswith("- overdue")
    assert not told("--at", "now").startswith(told().partition(":")[0])
    past = run("context", "--session", "s", "--at", "2026-01-01", home=tmp_path)
    assert (past.code, past.out) == (MISUSED, "")
    assert "lies before the last event" in past.err


def test_where_the_talk_is_live_a_context_tells_what_fell_due_since_its_last_event(run, tmp_path):
    then = micros("2026-01-07T09:00:00Z")
    said = TurnRecorded("default", "t", then, "a", "ann", "user", "Remind me on 20 January at 10 to call the bank.")
    for home, recorded in ((tmp_path / "live", then), (tmp_path / "fed", then + 3600 * 10**6)):
        record = SqliteLog(home / "log.sqlite", lambda at=recorded: at)
        record.append([said])
        record.close()
    asked = ("context", "--session", "b", "--question", "what's due?")
    assert re.search("- in 13 days: .*call the bank", run(*asked, home=tmp_path / "fed").out)
    assert re.search("- overdue: .*call the bank", run(*asked, home=tmp_path / "live").out)
    for more in (("--as-of", "0"), ("--at", "2026-01-07T09:00:00Z")):
        assert re.search("- in 13 days: .*call the bank", run(*asked, *more, home=tmp_path / "live").out)


def test_a_context_asks_one_question_which_reads_no_table(run, tmp_path, monkeypatch):
    run("feed", "-", home=tmp_path, stdin=line("s", "Where is the key of the boat house?").encode())
    asked = []
    ask = Home.ask

    def told(home, what, *memory, **how):
        asked.append(what)
        return ask(home, what, *memory, **how)

    monkeypatch.setattr(Home, "ask", told)
    assert "boat house" in run("context", "--session", "s", home=tmp_path).out
    assert asked == ["context"]


def test_a_note_that_was_taken_is_shown_by_the_id_that_taking_it_told(run, tmp_path):
    assert run("notes", "take", "call Ann", "--about", "the roof", "--note", "ann", home=tmp_path).code == OK
    assert run("tasks", "declare", "paint the fence", "--task", "fence", home=tmp_path).code == OK
    assert run("show", "ann", home=tmp_path).out.endswith(" note:\ncall Ann (the roof)\n")
    [note] = run("show", "ann", "--json", home=tmp_path).rows
    assert (note["turn_id"], note["role"], note["content"]) == ("ann", "note", "call Ann (the roof)")
    [task] = run("show", "fence", "--json", home=tmp_path).rows
    assert (task["turn_id"], task["role"], task["content"]) == ("fence", "task", "paint the fence")


@pytest.fixture
def two_efforts(run, tmp_path):
    """A home with a note and two open efforts whose turns are called turn-a1 and turn-b1."""
    talk = [
        line("s", "The login test fails with a 401 since this morning.", id="turn-a1"),
        line("r", "Let us plan the harbour tour with Marta for May.", id="turn-b1"),
        json.dumps({"type": "note-taken", "id": "n", "note": "note-4ae", "content": "oil the hinges", "session": "s"}),
    ]
    assert run("feed", "-", home=tmp_path, stdin="\n".join(talk).encode()).code == OK
    return tmp_path


def test_an_unambiguous_beginning_of_an_id_is_taken_wherever_an_id_is(run, two_efforts):
    one, two = run("efforts", "--json", home=two_efforts).rows
    begun = one["effort"][: len("effort-") + 6]
    assert run("show", begun, "--json", home=two_efforts).rows[0]["turn_id"] == one["last_turn"]
    assert run("show", "turn-a..turn-b", "--json", home=two_efforts).code == OK
    assert run("show", "note-4", "--json", home=two_efforts).rows[0]["content"] == "oil the hinges"
    for said in ("pin turn-a", "reward turn-a turn-b", "memory turn-b", "notes settle note", f"efforts close {begun}"):
        assert run(*words(said), home=two_efforts).code == OK
    assert {row["status"] for row in run("notes", "--json", home=two_efforts).rows} == {"settled"}
    status = {row["effort"]: row["status"] for row in run("efforts", "--json", home=two_efforts).rows}
    assert status == {one["effort"]: "concluded", two["effort"]: "open"}
    told = run("sql", "SELECT turns FROM memory_rewarded", "--json", home=two_efforts).rows
    assert told == [{"turns": ["turn-a1", "turn-b1"]}]
    assert run("pin", "tur", home=two_efforts).code == MISUSED  # too little of it


@pytest.mark.parametrize("said", ["show turn", "pin turn", "efforts close turn", "memory turn-", "reward turn"])
def test_a_beginning_that_several_ids_have_is_refused_with_those_that_it_may_be(run, two_efforts, said):
    told = run(*words(said), home=two_efforts)
    assert (told.code, told.out) == (MISUSED, "")
    begin = words(said)[-1]
    way_out = "write more of the one you mean: turn-a1, turn-b1"
    assert told.err == f"error: several ids begin with {begin!r}\n  {way_out}\n"


def test_an_open_effort_is_closed_by_its_topic_where_no_other_has_it(run, two_efforts):
    one, two = run("efforts", "--json", home=two_efforts).rows
    assert run("efforts", "close", one["topic"], home=two_efforts).code == OK
    status = {row["effort"]: row["status"] for row in run("efforts", "--json", home=two_efforts).rows}
    assert status == {one["effort"]: "concluded", two["effort"]: "open"}
    absent = run("efforts", "close", "No such topic", home=two_efforts)
    assert (absent.code, "`mnemolog efforts` lists ids and topics" in absent.err) == (MISUSED, True)


STANDING = (
    ("notes settle n", "settled", "note-settled"),
    ("efforts close x1 --conclusion 'It stands.'", "closed", "effort-closed"),
    ("pin x1", "pinned", "memory-pinned"),
    ("pin x1 --off", "unpinned", "memory-pinned"),
    ("tasks update fence --status complete", "complete", "task-updated"),
    ("doubts confirm t1 --older t0", "confirmed", "contradiction-judged"),
    ("long-term inherit k --session s", "inherited", "session-inherited"),
)


@pytest.mark.parametrize(("said", "word", "type_"), STANDING, ids=[said for said, _, _ in STANDING])
def test_what_stands_already_as_it_is_said_to_is_told_and_not_recorded_again(run, tmp_path, said, word, type_):
    talk = line("s", "The crane stands in Porto: let us plan how to paint it.", id="x1")
    for n, text in enumerate(("Marta keeps the spare key.", "The office has the spare key.")):
        talk += line("k", text, id=f"t{n}")
    facts = [
        {"type": "note-taken", "id": "x3", "note": "n", "content": "oil it"},
        {"type": "task-declared", "id": "x4", "task": "fence", "content": "paint the fence"},
    ]
    talk += "".join(json.dumps(fact) + "\n" for fact in facts)
    assert run("feed", "-", home=tmp_path, stdin=talk.encode()).code == OK
    if "--off" in said:
        assert run("pin", "x1", home=tmp_path).code == OK

    def recorded():
        return sum(row["type"].startswith(type_) for row in run("tail", "--limit", "50", "--json", home=tmp_path).rows)

    before = recorded()
    first = run(*words(said), "--json", home=tmp_path)
    assert (first.code, first.rows[0]["recorded"]) == (OK, type_)
    assert recorded() == before + 1
    again = run(*words(said), "--json", home=tmp_path)
    assert (again.code, again.err) == (OK, "")
    [told] = again.rows
    assert (told["recorded"], told["already"], sorted(told)) == (None, word, ["already", "recorded", "since"])
    people = run(*words(said), home=tmp_path).out
    assert re.fullmatch(rf"{word} already(, since 20\d\d-\d\d-\d\d \d\d:\d\d\S*)?; nothing was recorded\n", people)
    assert ("since" in people) == (told["since"] is not None) == (word not in ("pinned", "unpinned"))
    assert recorded() == before + 1


@pytest.mark.parametrize(("word", "verdict"), [("confirm", "confirmed"), ("dismiss", "dismissed")])
def test_a_doubt_that_is_judged_already_is_told_so(run, copy, word, verdict):
    doubt = run("doubts", "--space", "harbor", "--json", home=copy).rows[0]
    for told in (verdict, f"{verdict} already"):
        said = run("doubts", word, doubt["turn_id"], "--space", "harbor", home=copy)
        assert (said.code, said.out.startswith(told)) == (OK, True)
    assert len(run("sql", "SELECT turn FROM contradiction_judged", "--json", home=copy).rows) == 1


def test_what_was_never_otherwise_is_told_and_not_recorded(run, tmp_path):
    talk = line("s", "The crane stands in Porto: let us plan how to paint it.", id="x1")
    talk += line("k", "The office has the spare key.", id="t0") + line("k", "I had noodles for lunch.", id="t1")
    assert run("feed", "-", home=tmp_path, stdin=talk.encode()).code == OK
    for said, word in (("efforts reopen x1", "open"), ("doubts dismiss t1 --older t0", "no doubt")):
        [told] = run(*words(said), "--json", home=tmp_path).rows
        assert (told["recorded"], told["already"]) == (None, word)
    assert len(run("tail", "--limit", "50", "--json", home=tmp_path).rows) == 3
    assert run("efforts", "close", "x1", home=tmp_path).out.startswith("closed")
    assert run("efforts", "reopen", "x1", home=tmp_path).out.startswith("reopened")
    assert run("efforts", "reopen", "x1", home=tmp_path).out.startswith("open already, since 20")
    assert len(run("tail", "--limit", "50", "--json", home=tmp_path).rows) == 5


def test_an_open_effort_is_reopened_where_something_said_in_it_may_have_ended_it(run, copy):
    offer = next(row for row in run("offers", "--all-spaces", "--json", home=copy).rows)
    told = run("efforts", "reopen", offer["turn_id"], "--space", offer["space"], home=copy)
    assert (told.code, told.out.startswith("reopened")) == (OK, True)


def test_a_session_is_inherited_again_where_something_was_said_in_it_since(run, tmp_path):
    inherit = ("long-term", "inherit", "k", "--session", "s")
    assert run("feed", "-", home=tmp_path, stdin=line("k", "The office has the spare key.").encode()).code == OK
    assert run(*inherit, home=tmp_path).out.startswith("inherited")
    assert run("feed", "-", home=tmp_path, stdin=line("k", "Marta has the spare key.").encode()).code == OK
    for told in ("inherited ", "inherited already, since 20"):
        assert run(*inherit, home=tmp_path).out.startswith(told)
    absent = run("long-term", "inherit", "none", "--session", "s", home=tmp_path)
    assert (absent.code, "there is no session 'none'" in absent.err) == (MISUSED, True)


def test_an_update_of_a_task_that_says_nothing_is_a_mistake(run, tmp_path):
    assert run("tasks", "declare", "paint the fence", "--task", "fence", home=tmp_path).code == OK
    told = run("tasks", "update", "fence", home=tmp_path)
    assert (told.code, told.err.splitlines()[0]) == (MISUSED, "error: nothing is said of it")


def test_offers_are_accepted_and_declined(run, copy):
    first, second = run("offers", "--all-spaces", "--json", home=copy).rows[:2]
    assert run("offers", "accept", first["turn_id"], "--space", first["space"], home=copy).code == OK
    assert run("offers", "decline", second["turn_id"], "--space", second["space"], home=copy).code == OK
    status = {
        row["turn_id"]: row["status"]
        for row in run("offers", "--status", "all", "--all-spaces", "--json", home=copy).rows
    }
    assert (status[first["turn_id"]], status[second["turn_id"]]) == ("accepted", "declined")
    for row, word, outcome in ((first, "accept", "accepted"), (second, "decline", "declined")):
        again = run("offers", word, row["turn_id"], "--space", row["space"], home=copy)
        assert (again.code, again.out.startswith(f"{outcome} already, since 20")) == (OK, True)
    assert run("offers", "decline", first["turn_id"], home=copy).code == MISUSED


def test_doubts_are_confirmed_and_dismissed_by_their_turns(run, tmp_path):
    said = ["Marta keeps the spare key.", "The office has the spare key."]
    talk = tmp_path / "talk.jsonl"
    turns = [{"id": f"t{n}", "session": "s", "role": "user", "content": text} for n, text in enumerate(said)]
    talk.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
    assert run("feed", talk, home=tmp_path).code == OK

    def replaced():
        return run("sql", "SELECT replaced_by FROM beliefs WHERE NOT current", "--json", home=tmp_path).rows

    assert run("doubts", "confirm", "t1", "--older", "t0", home=tmp_path).code == OK
    assert replaced() == [{"replaced_by": "t1"}]
    assert run("doubts", "dismiss", "t1", "--older", "t0", home=tmp_path).code == OK
    assert replaced() == []
    absent = run("doubts", "confirm", "t0", home=tmp_path)
    assert (absent.code, "there is no open doubt at turn 't0'" in absent.err) == (MISUSED, True)
    assert run("doubts", "confirm", "t0", "--older", "t9", home=tmp_path).code == MISUSED


def test_of_several_doubts_at_a_turn_it_is_to_be_said_which_is_judged(run, copy):
    rows = run("sql", "SELECT * FROM doubts WHERE status = 'open' AND space = 'harbor'", "--json", home=copy).rows
    of = Counter(row["turn_id"] for row in rows)
    turn = next(turn for turn, count in of.items() if count > 1)
    olders = [row["older"] for row in rows if row["turn_id"] == turn]
    for word in ("confirm", "dismiss"):
        told = run("doubts", word, turn, "--space", "harbor", home=copy)
        assert (told.code, told.out) == (MISUSED, "")
        assert f"{of[turn]} doubts wait at turn '{turn}'" in told.err
        assert all(older in told.err for older in olders)
    for older in olders[1:]:
        assert run("doubts", "dismiss", turn, "--older", older, "--space", "harbor", home=copy).code == OK
    assert run("doubts", "confirm", turn, "--space", "harbor", home=copy).code == OK
    judged = run("sql", "SELECT older FROM doubts WHERE status = 'confirmed'", "--json", home=copy).rows
    assert judged == [{"older": olders[0]}]


def test_a_position_that_is_not_there_yet_is_refused_with_where_the_memory_ends(run, tmp_path):
    run("feed", "-", home=tmp_path, stdin=(line("s", "hello") + line("s", "and then?")).encode())
    for question in ("context --session s", "recall hello", "efforts", "memory x", "query sessions"):
        for position, ends in (("2", "ends at 1"), ("0:999999", "ends at 0:1")):
            told = run(*words(question), "--as-of", position, home=tmp_path)
            assert (told.code, told.out) == (MISUSED, ""), question
            assert f"there is no position {position} yet" in told.err
            assert ends in told.err
    assert run("context", "--session", "s", "--as-of", "1", home=tmp_path).code == OK


def test_a_task_that_is_to_be_done_before_itself_is_refused_and_one_that_nobody_knows_is_told(run, tmp_path):
    declared = ("tasks", "declare", "paint the fence", "--task", "a")
    told = run(*declared, "--after-task", "a", home=tmp_path)
    assert (told.code, "names the task itself" in told.err) == (FAILED, True)
    assert run("tasks", "declare", "buy paint", "--task", "b", home=tmp_path).code == OK
    known = ("--after-task", "b", "--after-task", "c")
    assert run(*declared, *known, "--json", home=tmp_path).rows[0]["unknown"] == ["c"]
    people = run(*declared, *known, home=tmp_path)
    assert (people.code, people.err) == (OK, "note: not known (yet): c\n")
    assert "unknown" not in run(*declared, "--after-task", "b", "--json", home=tmp_path).rows[0]


def test_a_note_that_no_turn_settled_says_how_it_was(run, tmp_path):
    for note, how in (("a", ()), ("b", ("--resolution", "she called back"))):
        assert run("notes", "take", "call Ann", "--note", note, home=tmp_path).code == OK
        assert run("notes", "settle", note, *how, home=tmp_path).code == OK
    people = run("notes", home=tmp_path).out
    assert re.search(r"^a .* by hand +call Ann$", people, re.MULTILINE)
    assert re.search(r"^b .* she called back +call Ann$", people, re.MULTILINE)
    assert [note["settled_by"] for note in run("notes", "--json", home=tmp_path).rows] == [None, None]


def test_efforts_are_closed_and_reopened_by_their_derived_id(run, copy):
    effort = run("efforts", "--status", "open", "--space", "harbor", "--json", home=copy).rows[0]["effort"]

    def status():
        return {row["effort"]: row["status"] for row in run("efforts", "--space", "harbor", "--json", home=copy).rows}[
            effort
        ]

    for word, then in (("close", "concluded"), ("reopen", "open"), ("close", "concluded")):
        assert run("efforts", word, effort, home=copy).code == OK
        assert status() == then
    assert effort not in json.dumps(run("tail", "--space", "harbor", "--json", home=copy).rows)


# -- memories ----------------------------------------------------------------------------------------------------------


def test_replay_diff_promote_and_digest(run, tmp_path):
    run("feed", SAMPLES / "01-week-one.jsonl", home=tmp_path)
    live = run("digest", "--json", home=tmp_path).rows
    assert run("replay", "--as", "same", home=tmp_path).code == OK
    assert run("digest", "same", "--json", home=tmp_path).rows == live
    wide = run("replay", "--as", "wide", "--set", "working_context.capacity=1", "--json", home=tmp_path)
    assert wide.rows[0]["steps"]["manifest"] == 0
    assert wide.rows[0]["steps"]["working_context"] > 0
    assert run("diff", "live", "same", "--json", home=tmp_path).rows[0]["same"] is True
    assert "contexts" in run("diff", "live", "wide", home=tmp_path).out
    assert run("promote", "wide", home=tmp_path).code == OK
    rows = {row["memory"]: row for row in run("memories", "--json", home=tmp_path).rows}
    assert rows["live"]["changed"] == {"working_context.capacity": 1}
    assert (rows["live"]["behind"], "wide" in rows) == (0, False)
    assert run("replay", "--as", "brief", "--set", "context.budget=500", home=tmp_path).code == OK
    assert "context.budget=500" in run("memories", home=tmp_path).out
    differing = run("diff", "live", "brief", home=tmp_path).out
    assert ("the same in all" in differing, "context.budget" in differing) == (False, True)
    again = run("replay", "--as", "same", home=tmp_path)
    assert (again.code, "there is a memory 'same' already" in again.err) == (FAILED, True)


def test_a_replay_keeps_what_live_has_of_parameters_and_says_so_or_begins_with_the_defaults(run, tmp_path):
    run("feed", SAMPLES / "01-week-one.jsonl", home=tmp_path)
    run("replay", "--as", "one", "--set", "working_context.capacity=1", home=tmp_path)
    assert run("promote", "one", home=tmp_path).code == OK
    kept = run("replay", "--as", "kept", home=tmp_path).out
    assert "not as this version's defaults: working_context.capacity; --defaults folds under the defaults" in kept
    fresh = run("replay", "--as", "fresh", "--defaults", "--set", "context.budget=500", home=tmp_path)
    assert (fresh.code, "as live has" in fresh.out) == (OK, False)
    changed = {row["memory"]: row["changed"] for row in run("memories", "--json", home=tmp_path).rows}
    assert changed["kept"] == {"working_context.capacity": 1}
    assert changed["fresh"] == {"context.budget": 500}


def test_a_backup_restores_everything(run, home, tmp_path):
    assert run("backup", tmp_path / "copy", home=home).code == OK
    assert run("backup", tmp_path / "copy", home=home).code == MISUSED
    assert run("restore", tmp_path / "copy", home=tmp_path / "new").code == OK
    assert run("digest", home=tmp_path / "new").out == run("digest", home=home).out
    assert run("restore", tmp_path / "copy", home=tmp_path / "new").code == MISUSED


def test_export_writes_the_files_of_the_paper(run, home, tmp_path):
    assert run("export", "--format", "ccm", tmp_path / "tree", "--all-spaces", home=home).code == OK
    assert list((tmp_path / "tree").rglob("manifest.yaml"))
    assert run("export", "--format", "zip", tmp_path / "tree", home=home).code == MISUSED


# -- what goes wrong ---------------------------------------------------------------------------------------------------

MISTAKES = [
    ("query nope", MISUSED, "there is no analysis named 'nope'"),
    ("query tokens every=x", MISUSED, "every = 'x' is not a whole number"),
    ("query tokens every", MISUSED, "'every' is no parameter"),
    ("sql 'SELEC 1'", MISUSED, 'syntax error at or near "SELEC"'),
    ("sql 'DELETE FROM turn_recorded'", MISUSED, "read-only"),
    ("show nothing", MISUSED, "there is nothing with the id 'nothing'"),
    ("efforts --memory nix", FAILED, "there is no memory at"),
    ("efforts --as-of yesterday", MISUSED, "'yesterday' is neither a position nor a time"),
    ("replay --as x --set working_context.capacity=900", MISUSED, "capacity"),
    ("replay --as x --set nonsense", MISUSED, "'nonsense' is no setting"),
    ("replay --as live", FAILED, "live is not replayed into"),
    ("diff live nix", FAILED, "there is no memory"),
    ("promote nix", FAILED, "there is no memory 'nix' to promote"),
    ("params nix", MISUSED, "nothing that has parameters is called 'nix'"),
    ("schema nix", MISUSED, "there is no schema 'nix'"),
    ("feed /nowhere/at/all", MISUSED, "there is no file /nowhere/at/all"),
    ("feed - --format xml", MISUSED, "there is no format 'xml'"),
    ("notes take hello --ttl soon", FAILED, "ttl: is 'soon'"),
    ("restore /nowhere", MISUSED, "there is no file /nowhere"),
    ("manifest --space nope", MISUSED, "there is no space 'nope' in "),
    ("manifest --session nope --all-spaces", MISUSED, "there is no session 'nope'"),
    ("notes --space mara-home --session import-day", MISUSED, "there is no session 'import-day' in space 'mara-home'"),
    ("links --space nope", MISUSED, "there is no space 'nope'"),
    ("tail --space nope", MISUSED, "there is no space 'nope'"),
    ("tail --session nope --all-spaces", MISUSED, "there is no session 'nope'"),
    ("replay --as x --space nope", MISUSED, "there is no space 'nope'"),
    ("replay --as x --params /nowhere.toml", MISUSED, "there is no file /nowhere.toml"),
    ("efforts --status opne", MISUSED, "there is no status 'opne'"),
    ("notes --status opne", MISUSED, "there is no status 'opne'"),
    ("offers --status opne", MISUSED, "there is no status 'opne'"),
    ("doubts --status opne", MISUSED, "there is no status 'opne'"),
    ("efforts close nope", MISUSED, "there is no effort or turn 'nope'"),
    ("promote live", MISUSED, "live is live already"),
    ("efforts", MISUSED, "there is no space 'default'"),
    ("query sessions", MISUSED, "there is no space 'default'"),
    ("notes --space harbor take x", MISUSED, "--space stands before 'take'"),
    ("query tokens every=0 --all-spaces", MISUSED, "Division by zero"),
    ("sql ';'", MISUSED, "there is no statement"),
]


@pytest.mark.parametrize(("mistake", "code", "reason"), MISTAKES, ids=[m for m, _, _ in MISTAKES])
def test_a_mistake_is_answered_in_words_with_a_way_out(run, home, mistake, code, reason):
    told = run(*words(mistake), home=home)
    assert (told.code, told.out) == (code, "")
    assert reason in told.err
    assert told.err.startswith("error: ")
    assert "Traceback" not in told.err
    assert len(told.err.splitlines()) >= 2
    machine = run(*words(mistake), "--json", home=home)
    answer = json.loads(machine.err)
    assert (machine.code, sorted(answer)) == (code, ["error", "way_out"])
    assert reason in answer["error"]


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("SELECT at FROM turns", "at"),
        ("SELECT space, at, role FROM turns", "at"),
        ("SELECT max(at) FROM turns t", "at"),
        ("SELECT turn_id FROM turns WHERE AT > '2026-01-05'", "at"),
        ("SELECT turn_id FROM turns ORDER BY at", "at"),
        ('SELECT "at", by FROM knowledge', "by"),
        ("SELECT k.at, into FROM knowledge k", "into"),
        ('SELECT "at" FROM turns WHERE', ""),
        ("SELECT t.at t.role FROM turns t", ""),
    ],
)
def test_a_column_that_is_a_word_of_sql_is_named_where_sql_stops_at_it(run, home, statement, word):
    told = run("sql", statement, home=home)
    assert (told.code, told.out) == (MISUSED, "")
    assert told.err.startswith("error: Parser Error: syntax error at ")
    *_, way_out = told.err.splitlines()
    quotes = f'  "{word}" is a word of SQL: as a column it is written in double quotes'
    assert way_out == (quotes if word else "  `mnemolog sql 'SHOW TABLES'` lists tables and views")
    if word:
        mended = re.sub(rf'(?<![.\w"]){word}\b(?!")', f'"{word}"', statement, flags=re.IGNORECASE)
        assert run("sql", mended, home=home).code == OK


@pytest.mark.parametrize("mistake", ["nope", "context", "tail --limit x", "efforts --nope", "feed"])
def test_a_command_that_is_not_understood_exits_with_2(run, mistake):
    told = run(*words(mistake))
    assert (told.code, told.out) == (MISUSED, "")
    assert re.fullmatch(r"error: .*\n  `mnemolog.* --help` tells how it is used\n", told.err)
    machine = run(*words(mistake), "--json")
    assert sorted(json.loads(machine.err)) == ["error", "way_out"]


def test_the_unexpected_is_one_line_and_a_file_of_details(run, tmp_path, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(log, "newest", broken)
    told = run("tail", home=tmp_path)
    assert told.code == FAILED
    first, second = told.err.splitlines()
    assert first == "error: something unexpected went wrong: ZeroDivisionError: of all things"
    details = Path(re.fullmatch(r"  the details are in (.*); --debug shows them", second)[1])
    assert "Traceback" in details.read_text()
    details.unlink()
    with pytest.raises(ZeroDivisionError):
        main(["tail", "--debug", "--home", str(tmp_path)])


def test_an_empty_context_says_where_the_session_is(run, home):
    told = run("context", "--session", "import-day", home=home)
    assert told.code == OK
    assert told.err == (
        "nothing yet: there is no space 'default' in " + str(home) + "; name another with --space: harbor, mara-home\n"
    )
    told = run("context", "--session", "import-day", "--space", "mara-home", home=home)
    assert told.err == "nothing yet: there is no session 'import-day' in space 'mara-home'; it is in space harbor\n"
    assert run("context", "--session", "new", "--space", "harbor", "--json", home=home).err == ""


def test_a_space_in_which_only_notes_were_taken_is_there(run, tmp_path):
    note = b'{"type": "note-taken", "space": "notes", "session": "s", "note": "n", "content": "Water it", "ttl": "low"}'
    run("feed", "-", home=tmp_path, stdin=note)
    assert "no space" not in run("context", "--session", "new", "--space", "notes", home=tmp_path).err
    assert run("recall", "zebra", "--space", "notes", home=tmp_path).err == ""
    assert "there is no space 'other'" in run("recall", "zebra", "--space", "other", home=tmp_path).err


def test_home_and_json_may_stand_before_the_command(run, home):
    assert (
        main_answer(run, "--home", home, "--json", "efforts", "--all-spaces", "--limit", 1)
        == run("efforts", "--all-spaces", "--limit", 1, "--json", home=home).out
    )


def main_answer(run, *given):
    return run(*given).out


def test_nothing_is_cut_in_a_pipe(run, home, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for question in (
        "params",
        "query",
        "query sessions --all-spaces",
        "efforts --all-spaces",
        "manifest --space harbor",
        "sql 'FROM turns'",
    ):
        assert "…" not in run(*words(question), home=home).out.replace("… ", "")


def test_what_is_no_backup_is_not_restored(run, tmp_path):
    (tmp_path / "text").write_text("hello")
    assert run("restore", tmp_path / "text", home=tmp_path / "new").code == MISUSED
    assert not (tmp_path / "new").exists()


def test_a_home_that_cannot_be_is_refused(run, tmp_path):
    (tmp_path / "file").write_text("x")
    for question in ("tail", "efforts"):
        told = run(question, home=tmp_path / "file")
        assert (told.code, "cannot be a home: it is no folder" in told.err) == (MISUSED, True)


def test_the_doctor_finds_a_damaged_log(run, tmp_path):
    run("feed", "-", home=tmp_path, stdin=line("s", "hello").encode())
    (tmp_path / "log.sqlite").write_bytes(b"not a database" * 1000)
    for left in tmp_path.glob("log.sqlite-*"):
        left.unlink()
    told = run("doctor", "--json", home=tmp_path)
    assert told.code == FAILED
    assert {row["check"]: row["status"] for row in told.rows}["log"] == "failed"


def test_of_a_table_of_weights_the_entries_that_differ_are_told(run, tmp_path):
    run("feed", SAMPLES / "01-week-one.jsonl", home=tmp_path)
    run("digest", home=tmp_path)  # live is made
    other = "open_efforts.weights={words=2.5}"
    assert run("replay", "--as", "other", "--set", other, home=tmp_path).code == OK
    rows = {row["memory"]: row for row in run("memories", "--json", home=tmp_path).rows}
    assert (rows["live"]["changed"], rows["other"]["changed"]) == ({}, {"open_efforts.weights": {"words": 2.5}})
    differing = [row for row in run("diff", "live", "other", home=tmp_path).out.splitlines() if "weights" in row]
    assert len(differing) == 1
    assert all(value in differing[0] for value in ('{"words":1.52}', '{"words":2.5}'))


def test_the_schema_of_a_type_is_told_by_the_name_that_events_are_fed_with(run, tmp_path):
    assert run("schema", "memory-pinned", home=tmp_path).out == run("schema", "memory-pinned.v1", home=tmp_path).out


def test_the_doctor_has_nobody_make_anew_what_another_process_is_at(run, copy):
    assert run("replay", "--as", "next", home=copy).code == OK
    program = "import sys; from projections.store import connect; from pathlib import Path; "
    program += "held = connect(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    holder = [sys.executable, "-c", program, str(copy / "next.duckdb")]
    with subprocess.Popen(holder, stdin=PIPE, stdout=PIPE, cwd=ROOT) as process:
        assert process.stdout.readline()
        (found,) = [row for row in run("doctor", "--json", home=copy).rows if row["check"] == "next"]
        process.stdin.close()
    assert (found["status"], "look again when that has ended" in found["found"]) == ("look", True)


@pytest.mark.skipif(find_spec("wordllama") is None, reason=alike.WAY_OUT)
def test_the_doctor_tells_of_a_memory_that_needs_what_is_not_installed(run, copy, monkeypatch):
    assert run("replay", "--as", "near", "--set", "open_efforts.alike=true", home=copy).code == OK

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(alike, "distribution", missing)
    alike.table.cache_clear()
    checks = {row["check"]: (row["status"], row["found"]) for row in run("doctor", "--json", home=copy).rows}
    assert checks["live"][0] == "well"
    assert checks["near"] == ("look", f"what tells alike words is not installed: {alike.WAY_OUT}")


def test_the_doctor_takes_a_memory_without_a_mechanism_for_what_it_is(run, copy):
    assert run("replay", "--as", "less", "--without", "coactivation", home=copy).code == OK
    (found,) = [row for row in run("doctor", "--json", home=copy).rows if row["check"] == "less"]
    assert (found["status"], "a fold of a part (without coactivation" in found["found"]) == ("well", True)


def test_the_doctor_tells_what_waits_what_is_of_another_version_and_what_was_left(run, copy, monkeypatch):
    def checks():
        return {row["check"]: (row["status"], row["found"]) for row in run("doctor", "--json", home=copy).rows}

    run("feed", "-", home=copy, stdin=line("s", "hello").encode())
    found = checks()
    assert found["live"][0] == "well"
    assert found["live"][1].endswith("1 events wait; the next question folds them")
    (copy / "snapshots" / "live.duckdb.1.partial").write_text("x")
    os.utime(copy / "snapshots" / "live.duckdb.1.partial", (0, 0))
    assert checks()["left over"] == (
        "look",
        f"0.0 MB left by processes that died; delete in {copy}: snapshots/live.duckdb.1.partial",
    )
    changed = replace(PROCESSORS[-1], version=PROCESSORS[-1].version + 1)
    monkeypatch.setattr("processors.PROCESSORS", (*PROCESSORS[:-1], changed))
    status, words_ = checks()["live"]
    assert (status, changed.name in words_, "mnemolog replay --as next" in words_) == ("failed", True, True)


def test_a_server_told_to_stop_does_so_in_the_midst_of_folding(tmp_path):
    house = Home(tmp_path, PROCESSORS)
    house.log.append([TurnRecorded("s", str(n), n, "x", "ann", "user", f"number {n}") for n in range(6000)])
    looks = iter([False, False, True, True])
    said = []
    serve(house, lambda: next(looks), said.append)
    assert said[1] == "folding 6,000 events that wait in the log; questions are answered after that"
    with house.live() as runtime:
        assert runtime.behind() == 0
    house.log.close()


# -- processes ---------------------------------------------------------------------------------------------------------


def test_a_reader_that_stops_early_gets_no_complaint(home):
    asked = ("sql", "SELECT range AS n FROM range(200000)", "--json", "--home", home)
    with Program(*asked, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b'{"n":0}\n'
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == FAILED


def test_tail_follows_what_is_fed(tmp_path):
    feed = ("feed", "-", "--home", tmp_path)
    processes.run(*feed, input=line("s", "one").encode(), check=True, capture_output=True)
    with Program("tail", "--follow", "--json", "--home", tmp_path, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["content"] == "one"
        processes.run(*feed, input=line("s", "two").encode(), check=True, capture_output=True)
        assert json.loads(process.stdout.readline())["content"] == "two"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == OK


def test_a_served_home_answers_and_stops_when_told(run, tmp_path):
    with Program("serve", "--home", tmp_path, stdout=PIPE) as process:
        assert process.stdout is not None
        assert b"serving" in process.stdout.readline()
        run("feed", "-", home=tmp_path, stdin=line("s", "Who has the key of the boat house?").encode())
        assert "boat house" in run("context", "--session", "s", home=tmp_path).out
        second = run("serve", home=tmp_path)
        assert (second.code, "serves" in second.err) == (FAILED, True)
        process.terminate()
        assert process.wait(30) == OK
        assert process.stdout.read() == b"stopped; all that was acknowledged is in the log\n"


def test_ids_of_tasks_are_whole_on_a_terminal_of_80_columns(run, tmp_path, monkeypatch):
    said = line("s", "Please update the tax table of the shop for the north office by noon.")
    assert run("feed", "-", home=tmp_path / "h", stdin=said.encode()).code == OK
    (task,) = run("tasks", "--json", home=tmp_path / "h").rows
    run("tasks", "update", task["task"], "--status", "awaiting_input", home=tmp_path / "h")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    told = run("tasks", home=tmp_path / "h").out
    assert task["task"] in told
    assert "tax table" in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80


def test_a_terminal_gets_colour_and_what_fits_in_it(home):
    import pty

    def on_terminal(columns, **env):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execve(
                sys.executable,
                [*COMMAND, "efforts", "--all-spaces", "--home", str(home)],
                os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"} | env,
            )
        out = b""
        while True:
            try:
                chunk = os.read(fd, 65536)
            except OSError:
                break
            if not chunk:
                break
            out += chunk
        os.waitpid(pid, 0)
        os.close(fd)
        return out.decode()

    wide, narrow, plain = on_terminal(160), on_terminal(60), on_terminal(160, NO_COLOR="1")
    assert "\x1b[36meffort-" in wide
    assert "importance" in wide
    assert "\x1b[36m" not in plain
    assert "importance" not in narrow
    assert re.search(r"effort-[0-9a-f]{16}", narrow)
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", text)) for text in narrow.splitlines()) <= 60


def test_context_explains_what_was_taken_and_left_out_and_records_what_was_shown(run, tmp_path):
    told = line("a", "Ben keeps the key of the boat house.", id="k1") + line(
        "b", "Who keeps the key of the boat house?"
    )
    run("feed", "-", home=tmp_path / "home", stdin=told.encode())
    table = run("context", "--session", "b", "--explain", home=tmp_path / "home").out
    assert re.search(r"recalled +yes +worth it +answers, .* k1 +- ", table)
    assert re.search(r"recent +yes +needed +the turn to be answered ", table)
    assert re.search(r"of 4,000 tokens are used$", table, re.M)
    without = run("context", "--session", "b", "--without", "recalled,entries", home=tmp_path / "home")
    assert "Ben keeps" not in without.out
    assert run("context", "--session", "b", "--without", "moods", home=tmp_path / "home").code == 2
    assert "memory-recalled" not in run("tail", home=tmp_path / "home").out
    run("context", "--session", "b", "--record", home=tmp_path / "home")
    (shown,) = [json.loads(row) for row in run("tail", "-n1", "--json", home=tmp_path / "home").out.splitlines()]
    assert (shown["type"], shown["session"], shown["turns"]) == ("memory-recalled.v1", "b", ["k1"])


def test_analyses_are_listed_with_and_without_the_option(run, home):
    listed = run("query", "--list", "--json", home=home).out
    assert listed == run("query", "--json", home=home).out
    assert {"sessions", "tokens"} <= {json.loads(row)["name"] for row in listed.splitlines()}


def test_notes_tell_where_a_turn_put_them_and_how_they_come_again_and_one_is_put_back_by_hand(run, tmp_path):
    said = ("Remind me tomorrow at 3pm to call the dentist.", "Remind me every Monday at 9 to send the timesheet.",
            "Move the dentist reminder to 4pm instead.")  # fmt: skip
    told = "".join(line("a", one, id=f"t{at}") for at, one in enumerate(said))
    run("feed", "-", home=tmp_path, stdin=told.encode())
    rows = {row["turn"]: row for row in run("notes", "--json", home=tmp_path).rows}
    dentist, timesheet = rows["t0"], rows["t1"]
    assert (dentist["due"][11:], dentist["moved_by"], dentist["moved_for"]) == ("16:00", "t2", "moved")
    assert timesheet["every"] == "FREQ=WEEKLY;BYDAY=MO"
    assert "every Mon" in run("notes", home=tmp_path).out
    context = run("context", "--session", "a", home=tmp_path).out
    assert f"(now due {dentist['due']})" in context
    assert "(every Mon)" in context
    assert "note moved" in run("show", "t2", "--why", home=tmp_path).out
    assert [task["status"] for task in run("tasks", "--json", home=tmp_path).rows if task["turn"] == "t2"] in (
        ["dropped"],
        [],
    )
    run("notes", "reopen", dentist["note"], home=tmp_path)
    (back,) = [row for row in run("notes", "--json", home=tmp_path).rows if row["turn"] == "t0"]
    assert (back["due"][11:], back["moved_for"], back["status"]) == ("15:00", "undone", "open")


def test_a_note_that_a_turn_settled_tells_by_which_turn_and_why_and_waits_again_where_that_was_not_meant(run, tmp_path):
    lines = [
        {"session": "a", "role": "user", "content": "Remind me to order the cake on Friday.", "id": "asked"},
        {"session": "b", "role": "user", "content": "I ordered the cake.", "id": "told"},
    ]
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    run("feed", str(file), home=tmp_path)
    [note] = run("notes", "--json", home=tmp_path).rows
    assert (note["status"], note["settled_by"]) == ("settled", "told")
    did = {row["did"]: row for row in run("show", "told", "--why", "--json", home=tmp_path).rows if "did" in row}
    assert did["settled note"]["id"] == note["note"]
    assert did["settled note"]["by"], "the signals that decided"
    assert "waits again" in run("notes", "reopen", note["note"], home=tmp_path).out
    [said] = run("tail", "-n1", "--json", home=tmp_path).rows
    assert (said["session"], said["turn"]) == ("b", "told")
    assert [row["status"] for row in run("notes", "--json", home=tmp_path).rows] == ["open"]
    assert "nothing was recorded" in run("notes", "reopen", note["note"], home=tmp_path).out


@pytest.mark.parametrize("of", [[], ["--session", "a"]], ids=["of no session", "of another session"])
def test_a_note_taken_by_hand_that_a_turn_settled_waits_again_where_that_was_not_meant(run, tmp_path, of):
    assert run("notes", "take", "Order the cake on Friday", "--note", "cake", *of, home=tmp_path).code == OK
    turn = {"session": "b", "role": "user", "content": "The cake is ordered.", "id": "told"}
    run("feed", "-", home=tmp_path, stdin=json.dumps(turn).encode())
    [note] = run("notes", "--json", home=tmp_path).rows
    assert (note["status"], note["settled_by"]) == ("settled", "told")
    assert run("notes", "reopen", "cake", home=tmp_path).out.startswith("waits again")
    [said] = run("tail", "-n1", "--json", home=tmp_path).rows
    assert (said["type"], said["session"], said["turn"]) == ("offer-declined.v1", "b", "told")
    assert [row["status"] for row in run("notes", "--json", home=tmp_path).rows] == ["open"]


def test_a_misspelt_command_is_answered_with_one_suggestion(run):
    done = run("contxt")
    assert (done.code, done.err.count("context")) == (2, 1)
    twice = SimpleNamespace(format_message=lambda: "No such command 'x'. Did you mean 'a'? Did you mean 'a'?")
    assert str(misunderstood(twice)) == "no such command 'x'. Did you mean 'a'?"


def test_what_an_extra_brings_can_be_had_in_a_clone_too() -> None:
    with pytest.raises(UsageError) as complaint:
        check_installed("no_such_module", extra="http")
    assert "pip install '.[http]'" in complaint.value.way_out
