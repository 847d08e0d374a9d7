"""Nothing that came from outside commands a terminal, whichever command shows it, and no command stumbles over it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from processors import PROCESSORS
from streams.core.events import MINUTE, NoteTaken, TaskDeclared, TurnRecorded
from streams.gateways.cli import main
from streams.gateways.commands import COMMANDS, KAFKA
from streams.gateways.parser import made
from streams.gateways.terminal import json_line, printable
from streams.runtime.home import Home
from tests.laws.histories import START, long_talk, outside

EVIL = "[/red][bold]{x}\\[link=y]\u202eab\u200b\x9b2J\x1b[2J\x07:bomb:"
"""Tags of rich, a field of a template, a backslash before a tag, direction, C1, an escape, a bell, an emoji."""
TIME = "2026-03-04T\x1b[2J\x1b[31mZ"
COMMANDED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff]")
TOLD = [
    f"{EVIL}: the crane stands in Porto. {TIME}",
    TIME,
    "That fixed it, the crane works now.",
    f"Remind me tomorrow to oil the crane {EVIL}.",
    f"Maybe the crane works now, I think it is done {EVIL}?",
    f"\r\n\x1b]0;title\x07\x9b31m the crane {EVIL} \u2028 \u2066 stands in Lisbon now, no longer in Porto.",
]
ID = f"1{EVIL}"
FILE = f"f{EVIL.replace('/', '')}"
SPACE = ["--space", EVIL]
"""Of every question below."""
QUESTIONS = [
    ["tail"], ["tail", "--all-spaces"], ["context", "--session", EVIL], ["context", "--session", EVIL, "--explain"],
    ["context", "--session", EVIL, "--messages"], ["context", "--session", "none"],
    ["layers", "--session", EVIL], ["layers", "--session", "none"],
    ["show", ID], ["show", EVIL],
    ["show", f"0{EVIL}..5{EVIL}"], ["manifest"], ["manifest", "--session", f"no {EVIL}"], ["links"],
    ["query", "--list"], ["query", "sessions"], ["query", EVIL], ["query", "sessions", EVIL], ["query", "recalls"],
    ["sql", f'SELECT content, id AS "{EVIL}" FROM turn_recorded'], ["sql", f"SELECT {EVIL}"], ["efforts"],
    ["efforts", "list", "--all-spaces"], ["efforts", "--memory", EVIL], ["efforts", "--as-of", EVIL],
    ["efforts", "--status", EVIL], ["efforts", "close", ID], ["efforts", "close", EVIL], ["efforts", "reopen", ID],
    ["offers", "--status", "all"], ["offers", "list"], ["offers", "accept", EVIL], ["offers", "decline", EVIL],
    ["doubts", "--status", "all"], ["doubts", "list"], ["doubts", "confirm", ID, "--older", ID],
    ["doubts", "dismiss", EVIL],
    ["notes"], ["notes", "list"], ["notes", "take", EVIL, "--note", "[/red]{x}\\", "--space", "[/red]"],
    ["notes", "take", "x", "--note", EVIL], ["notes", "settle", f"n{EVIL}"], ["notes", "settle", EVIL],
    ["notes", "reopen", f"n{EVIL}"], ["notes", "reopen", EVIL],
    ["standing"], ["standing", "list", "--session", EVIL], ["standing", "end", ID], ["standing", "end", EVIL],
    ["tasks"], ["tasks", "list", "--place", EVIL], ["tasks", "declare", EVIL, "--after-task", EVIL],
    ["tasks", "update", f"k{EVIL}", "--reason", EVIL], ["tasks", "update", EVIL],
    ["objects"], ["objects", EVIL, "--history"], ["objects", "--kind", EVIL],
    ["long-term"], ["long-term", "list", "--session", EVIL], ["long-term", "inherit", EVIL, "--session", f"x{EVIL}"],
    ["network"], ["network", ID, "--status", "all"], ["network", EVIL], ["network", "--format", "dot"],
    ["network", "--format", "jsonld"], ["share", "--out", f"OUT/{FILE}"],
    ["recall", "crane"], ["recall", EVIL], ["recall", "Porto", "--history", "--forgotten"],
    ["needs-recall", "crane", "--session", EVIL], ["memory", ID], ["memory", EVIL], ["reward", ID], ["pin", ID],
    ["consolidate"], ["memories"], ["replay", "--as", EVIL], ["replay", "--as", "other"], ["diff", "live", "kept"],
    ["diff", "live", EVIL], ["promote", EVIL], ["promote", "kept"], ["digest"], ["digest", EVIL], ["doctor"],
    ["export", f"OUT/{FILE}"], ["backup", f"OUT/{FILE}"], ["archive", f"OUT/{FILE}"], ["restore", f"OUT/{FILE}"],
    ["rescue", f"OUT/{FILE}"], ["annotate", "--dry-run"], ["annotate", EVIL, "--dry-run"],
    ["feed", f"IN/{FILE}"], ["feed", EVIL], ["feed", "-", "--format", EVIL], ["params"], ["params", EVIL], ["presets"],
    ["flow"], ["schema", "input-line"], ["schema", EVIL], ["keys"], ["keys", "list"],
    ["keys", "add", EVIL, "--space", EVIL], ["keys", "remove", EVIL], [EVIL], ["tail", f"--{EVIL}"],
    ["tail", "--limit", EVIL],
    ["erase", "--turn", ID, "--dry-run"], ["erase", "--agent", EVIL, "--dry-run"], ["erase", "--matching", EVIL],
    ["erase", "--session", EVIL, "--space", EVIL, "--yes"], ["erase", "--space", f"no {EVIL}"], ["audit"],
    ["encryption"], ["encryption", "list"], ["encryption", "destroy", "--space", EVIL, "--yes"],
    ["install", "codex", "--dry-run"], ["install", EVIL], ["hook"],
]  # fmt: skip
UNASKED = {"serve", "mcp", "proxy", "demo"}
"""Shows no turns; shows them to programs, to models; has only samples to show."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    """A home in which every name, id and word is hostile, as logs of any origin may be."""
    path = tmp_path_factory.mktemp("hostile") / "home"
    home = Home(path, PROCESSORS)
    said = [
        TurnRecorded(
            EVIL, f"{n}{EVIL}", START + n * MINUTE, EVIL, EVIL, "user" if n % 2 else "assistant", TOLD[n % len(TOLD)]
        )
        for n in range(24)
    ]
    home.log.append([*said, NoteTaken(EVIL, "n", START + 30 * MINUTE, f"n{EVIL}", EVIL, EVIL)])
    home.log.append([TaskDeclared(EVIL, "k", START + 30 * MINUTE, f"k{EVIL}", EVIL, EVIL)])
    home.log.append(outside(long_talk(200)))
    home.ask("spaces")
    shutil.copy(path / "live.duckdb", path / "kept.duckdb")
    home.log.close()
    return path


@dataclass
class Shown:
    """How a command ended, and all it printed."""

    code: int
    text: str


@pytest.fixture
def ask(hostile, tmp_path, capsys, monkeypatch):
    """Runs a command over a copy of the hostile home."""
    home = Path(shutil.copytree(hostile, tmp_path / "home"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / FILE).write_text(json.dumps({"role": "user", "session": "s", "content": EVIL}) + f"\n{EVIL}\n")
    (tmp_path / "out").mkdir()

    def ask(words: list[str], *more: str, terminal: bool = False) -> Shown:
        words = [w.replace("OUT/", f"{tmp_path}/out/").replace("IN/", f"{tmp_path}/in/") for w in words]
        known = words[0] in COMMANDS
        place = SPACE if known and takes_space(words) else []
        if terminal:
            monkeypatch.setenv("TERM", "dumb")  # else rich's own escapes would have to be told from others
            for stream in (sys.stdout, sys.stderr):
                monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
        with pytest.raises(SystemExit) as done:
            main([*words, *place, *more, *(["--home", str(home)] if known else [])])
        told = capsys.readouterr()
        return Shown(done.value.code, told.out + told.err)

    return ask


def takes_space(words: list[str]) -> bool:
    """Whether a command takes --space, and is not given one or asked for all."""
    if "--all-spaces" in words or "--space" in words:
        return False
    command = made(words[0], COMMANDS[words[0]])
    command = getattr(command, "commands", {}).get("".join(words[1:2]), command)
    return any("--space" in parameter.opts for parameter in command.params)


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: ascii(" ".join(words))[1:40])
def test_what_a_command_shows_cannot_command_the_terminal(ask, words):
    for more, terminal in ((["--json"], False), ([], False), ([], True)):
        told = ask(words, *more, terminal=terminal)
        assert told.code in (0, 1, 2), told.text
        assert "something unexpected" not in told.text
        assert not COMMANDED.search(told.text), ascii(told.text)


def test_every_command_is_asked_that_shows_something():
    asked = {" ".join(words[: n + 1]) for words in QUESTIONS for n in range(2)}
    for name, place in COMMANDS.items():
        if place.heading != KAFKA and name not in UNASKED:
            inner = getattr(made(name, place), "commands", {})
            assert {name, *(f"{name} {word}" for word in inner)} <= asked


def test_what_comes_from_outside_is_no_part_of_a_template():
    gateways = Path(__file__).parents[1] / "streams" / "gateways"
    for path in gateways.rglob("*.py"):
        if path.name in ("terminal.py", "demo.py"):  # where it is shown; which has only samples to show
            continue
        for call in [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]:
            place, name = f"{path}:{call.lineno}", ast.unparse(call.func)
            assert not name.endswith((".out.print", ".err.print")), place
            if name.endswith((".say", ".tell")) and call.args:
                assert not any(isinstance(node, ast.JoinedStr) for node in ast.walk(call.args[0])), place


def test_json_stays_what_it_was_though_it_cannot_command_a_terminal():
    everything = "".join(chr(point) for point in range(0x11000) if not 0xD800 <= point < 0xE000) + chr(0xE0041)
    line = json_line({"text": everything})
    assert json.loads(line) == {"text": everything}
    assert not COMMANDED.search(line)


def test_words_of_all_scripts_are_shown_as_they_are():
    said = "a\u00a0b, 10\u202f000 €, \u3000日本語, نمی\u200cخواهم, 👩\u200d🚀, \ue000\n\tand so on"
    assert printable(said) == said
