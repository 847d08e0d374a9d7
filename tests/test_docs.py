"""The documents are true: commands run and print what is shown, code works, generated parts equal what the code says.

`make docs` (MNEMOLOG_WRITE_DOCS=1) rewrites what commands print and the generated parts.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from mnemolog import Memory
from processors import NAMES, PROCESSORS
from streams.core.driver import fold
from streams.core.events import TurnRecorded
from streams.core.read_model import Documents
from streams.gateways.cli import main
from streams.gateways.flow import mermaid
from streams.gateways.http import app as http
from streams.gateways.parser import app
from tests.bench import __main__ as bench
from tests.bench import data

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "streams" / "docs"
GUIDE = DOCS / "guide.md"
MECHANISMS = DOCS / "mechanisms.md"
BLOCK = re.compile(r"(?:<!-- (?P<mark>\w+) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)```", re.S)
COMMAND = re.compile(r"(?:^|`)mnemolog ([a-z-]+)", re.M)
WRITE = bool(os.environ.get("MNEMOLOG_WRITE_DOCS"))


def documents() -> list[Path]:
    """All pages that people read."""
    return [README, ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


def blocks(document: Path, *languages: str) -> list[tuple[str, str]]:
    """The (mark, code) of a document's code blocks."""
    found = BLOCK.finditer(document.read_text())
    return [(match["mark"] or "", match["code"]) for match in found if match["language"] in languages]


def test_all_that_is_said_of_what_recall_finds_names_every_kind(tmp_path: Path) -> None:
    kinds = {"turn", *(documents.kind for p in PROCESSORS for documents in p.read_model.documents)}
    routes = http.made(tmp_path).openapi()["paths"]["/v1/recall"]["get"]["parameters"]
    recall = typer.main.get_command(app).commands["recall"]
    option = next(one for one in recall.params if one.name == "kind")
    texts = [Memory.recall.__doc__, recall.help, option.help, commands()["recall"]]
    texts += [one["description"] for one in routes if one["name"] == "kinds"]
    assert len(texts) == 5
    for text in texts:
        assert kinds <= {word.removesuffix("s") for word in re.findall(r"\w+", text or "")}, text
    assert kinds - {"turn"} <= {*re.findall(r"\w+", inspect.getsource(Documents))}


def table(*rows: tuple[str, ...]) -> str:
    """A Markdown table; the first row is its head."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def commands() -> dict[str, str]:
    """Every command and subcommand, with the first line of its help."""
    found: dict[str, str] = {}
    for name, command in typer.main.get_command(app).commands.items():
        found[name] = (command.help or "").strip().splitlines()[0]
        for sub, subcommand in getattr(command, "commands", {}).items():
            found[f"{name} {sub}"] = (subcommand.help or "").strip().splitlines()[0]
    return found


def generated(mark: str) -> str:
    """A part of a document that the code tells."""
    if mark == "flow":
        return f"```mermaid\n{mermaid(PROCESSORS)}```\n"
    return table(("command", "what it does"), *((f"`{name}`", said) for name, said in commands().items()))


@pytest.mark.parametrize(("document", "mark"), [(MECHANISMS, "flow"), (GUIDE, "commands")], ids=["flow", "commands"])
def test_the_generated_parts_equal_what_the_code_says(document, mark):
    text = document.read_text()
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, _, rest = text.partition(begin)
    shown, _, after = rest.partition(end)
    expected = generated(mark)
    if WRITE and shown != expected:
        document.write_text(before + begin + expected + end + after)
        return
    assert shown == expected, "run `make docs`"


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A folder to work in, and an environment in which `mnemolog` is this program and its home is new."""
    folder = tmp_path_factory.mktemp("readme")
    binaries = folder / "bin"
    binaries.mkdir()
    program = binaries / "mnemolog"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m streams.gateways.cli "$@"\n')
    program.chmod(0o755)
    (folder / "work").mkdir()
    return folder / "work", os.environ | {
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "MNEMOLOG_HOME": str(folder / "home"),
        "COLUMNS": "110",
    }


def steps(code: str) -> Iterator[tuple[str, str]]:
    """What a block does, in order: (file, its text) that it writes, and ("", command). Nothing else stands in one."""
    left = code.replace("\\\n", "")
    while left.strip():
        written = re.match(r"cat > (\S+) <<'END'\n(.*?)^END\n", left, re.S | re.M)
        command = re.match(r"mnemolog (.*)\n", left)
        if written:
            yield written[1], written[2]
        else:
            assert command, f"neither a command nor a file: {left}"
            yield "", command[1]
        left = left[(written or command).end() :]


def test_the_commands_of_the_documents_run_in_order_and_print_what_is_shown(environment, monkeypatch, capsys):
    folder, environ = environment
    monkeypatch.chdir(folder)
    for name in ("MNEMOLOG_HOME", "COLUMNS"):
        monkeypatch.setenv(name, environ[name])
    ran = 0
    for document in (README, GUIDE):
        text, said = document.read_text(), ""
        for mark, language, code in BLOCK.findall(text):
            if language == "text":
                text = text.replace(f"```text\n{code}```", f"```text\n{said}```", 1)
                assert WRITE or code == said, f"{document.name} shows what is not printed: run `make docs`"
            if language != "bash" or mark:
                continue
            said = ""
            for file, step in steps(code):
                if file:
                    (folder / file).write_text(step)
                    continue
                said += printed(step, folder, monkeypatch, capsys)
                ran += 1
        if WRITE:
            document.write_text(text)
    assert ran >= 35


def printed(command: str, folder: Path, monkeypatch, capsys) -> str:
    """What a command prints that does well and says something."""
    words, _, source = command.partition(" < ")
    with (folder / source if source else Path(os.devnull)).open() as given:
        monkeypatch.setattr("sys.stdin", given)
        with pytest.raises(SystemExit) as done:
            main(shlex.split(words))
    told = capsys.readouterr()
    assert (done.value.code, told.err) == (0, ""), command
    assert told.out, command
    return told.out


def test_the_first_commands_of_the_readme_run_in_a_shell(environment):
    folder, environ = environment
    code = next(code for mark, code in blocks(README, "bash") if not mark)
    environ = environ | {"MNEMOLOG_HOME": str(folder / "shell")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code], cwd=folder, env=environ, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = next(code for _, code in blocks(README, "text"))
    assert done.stdout == shown


def test_the_python_of_the_readme_prints_a_context(environment):
    folder, environ = environment
    (code,) = [code for mark, code in blocks(README, "python") if not mark]
    try:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:  # what it started
        (pid,) = re.findall(r"serving .*, process (\d+)", (Path(environ["MNEMOLOG_HOME"]) / "serve.log").read_text())
        os.kill(int(pid), signal.SIGTERM)
    assert done.returncode == 0, done.stderr
    assert "Why is the checkout slow since Tuesday?" in done.stdout
    assert "Look at the checkout's cache again" in done.stdout


def test_the_mechanism_of_the_documents_is_one_and_follows_the_rules(tmp_path):
    (code,) = [code for mark, code in blocks(MECHANISMS, "python") if mark == "processor"]
    (tmp_path / "voices.py").write_text(code)
    names: dict[str, object] = {"__name__": "voices"}
    sys.modules["voices"] = type(sys)("voices")
    try:
        exec(compile(code, "voices.py", "exec"), sys.modules["voices"].__dict__)
        names = sys.modules["voices"].__dict__
        turns = [
            TurnRecorded(space="s", id=f"t{n}", at=n, session="x", agent="ann", role="user", content=f"number {n}")
            for n in range(25)
        ]
        told = [(row.event.agent, row.event.turns) for row in fold([names["PROCESSOR"]], turns)]
    finally:
        del sys.modules["voices"]
    assert told == [("ann", 10), ("ann", 20)]
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def test_commands_that_need_a_clone_or_a_server_exist():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)
    known = {"make": targets, "mnemolog": commands(), "pipx": ["install"], "docker": ["compose"]}
    marked = [block for document in documents() for block in blocks(document, "bash") if block[0]]
    assert {mark for mark, _ in marked} == {
        "clone",
        "server",
        "kafka",
        "kcat",
        "http",
        "encrypted",
    }  # the last four are run elsewhere
    for line in (line for mark, code in marked if mark in ("clone", "server") for line in code.splitlines()):
        program, first = line.split()[:2]
        assert first in known[program], line


def test_every_command_named_in_the_documents_exists():
    known = {name.partition(" ")[0] for name in commands()}
    for document in documents():
        assert set(COMMAND.findall(document.read_text())) - known == set(), document


def test_every_processor_is_described_in_the_readme():
    text = README.read_text()
    assert [name for name in NAMES if f"**{name}**" not in text] == []


def test_the_readme_is_read_within_minutes():
    assert README.stat().st_size <= 16_000


def test_links_in_the_documents_lead_to_files():
    for document in documents():
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            assert target.startswith("https://") or (document.parent / target).exists(), (document.name, target)


def test_the_changelog_has_an_entry_for_what_comes_next():
    assert re.search(r"^## \[Unreleased\]$", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_bench_finds_what_it_measures_and_brings_all_rows_into_one_form():
    assert {"quality_segments", "quality_efforts", "quality_surfacing"} <= set(bench.modules())
    assert bench.normal({"measure": "m", "floor": 1.0, "floor_is": "random", "ours": 2.0, "bar": 1.5}) == {
        "measure": "m",
        "floor": "random 1",
        "ours": 2.0,
        "bar": ">= 1.5",
        "met": True,
    }
    several = bench.normal({"measure": "m", "floors": {"a": 1, "b": 2.25}, "ours": 3, "bar": "<= 2", "met": False})
    assert (several["floor"], bench.shown(several)["met"]) == ("a 1, b 2.25", "MISSED")


@pytest.mark.parametrize(
    ("rows", "well", "strictly"),
    [
        ([{"met": True}, {"met": None}], True, True),
        ([{"met": True}, {"met": False}], True, False),
        ("skipped: no data", True, False),
        ("failed: division by zero", False, False),
    ],
)
def test_a_strict_bench_fails_where_a_bar_is_missed_or_was_not_measured(monkeypatch, rows, well, strictly):
    told = rows if isinstance(rows, str) else [{"measure": "m", "floor": "", "ours": 1, "bar": "b"} | r for r in rows]
    monkeypatch.setattr(bench, "measured", lambda name, folder: told)
    assert bench.report(["quality_m"], True, strict=False) is well
    assert bench.report(["quality_m"], True, strict=True) is strictly


def test_evaluation_data_is_looked_for_in_the_folders_above_the_checkout(monkeypatch, tmp_path):
    monkeypatch.delenv("MNEMOLOG_DATA", raising=False)
    monkeypatch.setattr(data, "HOUSE", tmp_path / "work" / "trees" / "house")
    (tmp_path / "shared" / "data").mkdir(parents=True)
    assert data.folder() == tmp_path / "shared" / "data"
    (tmp_path / "work" / "shared" / "data").mkdir(parents=True)
    assert data.folder() == tmp_path / "work" / "shared" / "data"
    monkeypatch.setenv("MNEMOLOG_DATA", "/elsewhere")
    assert str(data.folder()) == "/elsewhere"
