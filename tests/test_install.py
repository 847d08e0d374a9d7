"""`mnemolog install`: settings of agents get our hook and nothing else; taken out, they are what they were."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from streams.core.errors import UsageError
from streams.gateways.cli import main
from streams.gateways.install import AGENTS, OWN, SERVERS, Servers, Settings, servers_of

TEXTS = {
    "none": "",
    "empty": "{}\n",
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "an empty event": '{\n\t"hooks": {\n\t\t"SessionStart": [ ],\n\t\t"Stop": []\n\t}\n}',
    "one line": '{"a": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}',
    "comments": """{
    // the model I like
    "model": "opus", /* for now */
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}, // tells me
        ],
    },
    "url": "http://example.org/{}//[", "z": [1, 2]
}
""",
    "windows": '{\r\n  "permissions": {"allow": ["Bash(ls:*)"]}\r\n}\r\n',
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A user's folder without anything in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("MNEMOLOG_HOME", raising=False)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def run(capsys, place):
    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as done:
            main(["install", *words])
        told = capsys.readouterr()
        return done.value.code, told.out, told.err

    return run


def plain(text: str) -> object:
    """What a text says, without comments."""
    text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text)
    return json.loads(re.sub(r",(\s*[\]}])", r"\1", text))


def commands(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return own + [one for inner in value.values() for one in commands(inner)]
    return [one for inner in value for one in commands(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_hook_is_put_in_once_and_taken_out_again_byte_for_byte(agent, text, place):
    path, text = place / "settings.json", TEXTS[text]
    if text:
        path.write_bytes(text.encode())

    def settings(program: str = "/opt/mnemolog") -> Settings:
        return Settings(AGENTS[agent], path, f"{program} hook", place / "home")

    settings().write(settings().having())
    once = path.read_bytes()
    found = plain(once.decode())
    assert commands(found).count("/opt/mnemolog hook") == len(AGENTS[agent].events)
    assert sorted(set(AGENTS[agent].events) - set(found["hooks"])) == []
    before = plain(text) if text else {}
    assert {key: found[key] for key in before if key != "hooks"} == {k: before[k] for k in before if k != "hooks"}
    assert [one for one in commands(found) if "mnemolog" not in one] == commands(before)
    for comment in re.findall(r"(?m)[^:\n]*/[/*] .*$", text):
        assert comment in once.decode()
    settings().write(settings().having())
    assert path.read_bytes() == once
    settings("/new/mnemolog").write(settings("/new/mnemolog").having())
    assert {one for one in commands(plain(path.read_text())) if OWN.search(one)} == {"/new/mnemolog hook"}
    settings().write(settings().without())
    assert path.exists() == bool(text)
    assert not text or path.read_bytes() == text.encode()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("agent", AGENTS)
def test_tools_are_named_once_and_taken_out_again_byte_for_byte(agent, text, place):
    if agent not in SERVERS:
        with pytest.raises(UsageError, match="no file of tools"):
            servers_of(agent, place, place / "home", is_named=False)
        return
    path, text, key = place / "settings.json", TEXTS[text], SERVERS[agent].key
    if text:
        path.write_bytes(text.encode())

    def servers(program: str = "/opt/mnemolog") -> Servers:
        return Servers(SERVERS[agent], path, [program, "mcp"], place / "home")

    servers().write(servers().having())
    once = path.read_bytes()
    before = plain(text) if text else {}
    ours = {"mnemolog": SERVERS[agent].entry | {"command": "/opt/mnemolog", "args": ["mcp"]}}
    assert plain(once.decode()) == before | {key: ours}
    servers().write(servers().having())
    assert path.read_bytes() == once
    servers("/new/mnemolog").write(servers("/new/mnemolog").having())
    assert plain(path.read_text())[key]["mnemolog"]["command"] == "/new/mnemolog"
    servers().write(servers().without())
    assert path.exists() == bool(text)
    assert not text or path.read_bytes() == text.encode()


def test_tools_stand_beside_hooks_and_those_of_others(run, place):
    settings = place / "user" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    assert [run("gemini")[0], run("gemini", "--mcp")[0]] == [0, 0]
    found = json.loads(settings.read_text())
    assert (found["mcpServers"].keys(), bool(found["hooks"])) == ({"other", "mnemolog"}, True)
    assert run("gemini", "--mcp", "--undo")[0] == 0
    assert json.loads(settings.read_text())["mcpServers"] == {"other": {"command": "x"}}
    assert run("gemini", "--undo")[0] == 0
    assert settings.read_text() == '{"mcpServers": {"other": {"command": "x"}}}'
    assert "codex mcp add" in run("codex", "--mcp")[2]
    assert "--project" in run("vscode", "--mcp")[2]
    assert run("vscode", "--mcp", "--project")[0] == 0
    assert json.loads((place / "project" / ".vscode" / "mcp.json").read_text())["servers"]["mnemolog"]["args"] == [
        "mcp"
    ]


@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_added_since_stays_where_ours_is_taken_out(agent, place):
    path = place / "settings.json"

    def settings() -> Settings:
        return Settings(AGENTS[agent], path, "mnemolog hook", place / "home")

    path.write_text(TEXTS["comments"])
    settings().write(settings().having())
    text = path.read_text()
    path.write_text(text.replace('"opus"', '"sonnet"'))
    settings().write(settings().without())
    left = path.read_text()
    assert "mnemolog" not in left
    assert "// tells me" in left
    expected = plain(TEXTS["comments"]) | AGENTS[agent].top | {"model": "sonnet"}
    assert plain(left) == expected


def test_a_change_is_shown_first_and_a_dry_run_changes_nothing(run, place):
    settings = place / "user" / ".claude" / "settings.json"
    code, out, _ = run("claude-code", "--dry-run")
    assert (code, settings.exists()) == (0, False)
    assert '+    "SessionStart": [' in out
    code, out, err = run("claude-code")
    assert code == 0
    assert '+    "SessionStart": [' in out
    assert "mnemolog feed" in err
    assert commands(json.loads(settings.read_text()))
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    assert "it is in it already" in run("claude-code")[1]
    assert json.loads(run("claude-code", "--undo", "--json")[1]) == {
        "agent": "claude-code", "file": str(settings), "changed": True, "written": True,
    }  # fmt: skip
    assert not settings.exists()
    assert "nothing of mnemolog is in it" in run("claude-code", "--undo")[1]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_project_has_settings_of_its_own(agent, run, place):
    assert run(agent, "--project")[0] == 0
    path = place / "project" / AGENTS[agent].project
    assert set(commands(json.loads(path.read_text()))) == {"mnemolog hook"}
    assert run(agent, "--project", "--undo")[0] == 0
    assert not path.exists()
    assert not (place / "user" / ".claude").exists()


def test_a_home_that_is_named_is_named_to_the_hook(run, place):
    home = str(place / "my home")
    run("codex", "--home", home)
    text = (place / "user" / ".codex" / "hooks.json").read_text()
    assert {one.partition("mnemolog")[2] for one in commands(json.loads(text))} == {f" --home '{home}' hook"}
    run("codex", "--undo", "--home", home)
    assert not (place / "user" / ".codex" / "hooks.json").exists()


@pytest.mark.parametrize("text", ["{", "no json", "[]", '{"hooks": []}', '{"a": 1} x', '{"a" 1}', "\xff"])
def test_settings_that_are_not_understood_are_left_alone(text, run, place):
    path = place / "user" / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    code, _, err = run("gemini")
    assert code == 2
    assert "error:" in err
    assert path.read_text(encoding="latin-1") == text


def test_links_to_settings_stay_links_and_modes_stay(place):
    kept = place / "dotfiles.json"
    kept.write_text("{}")
    kept.chmod(0o640)
    (place / "settings.json").symlink_to(kept)
    settings = Settings(AGENTS["cursor"], place / "settings.json", "mnemolog hook", place / "home")
    settings.write(settings.having())
    assert (place / "settings.json").is_symlink()
    assert "mnemolog hook" in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_an_agent_that_is_not_known_is_answered_with_those_that_are(run):
    code, _, err = run("emacs")
    assert code == 2
    assert "claude-code, codex, gemini, cursor, vscode" in err


def test_own_commands_are_told_from_others():
    for own in ("mnemolog hook", "/a b/mnemolog hook", "'/a b/mnemolog' hook", "/x/mnemolog --home '/y z' hook"):
        assert OWN.search(own)
    for other in ("mnemolog feed -", "echo hook", "not-mnemolog hook", "mnemolog hook | tee x"):
        assert not OWN.search(other)


def test_the_reason_names_the_file(place):
    path: Path = place / "x.json"
    path.write_text("{,}")
    with pytest.raises(UsageError, match=re.escape(f"{path} is not JSON")):
        Settings(AGENTS["codex"], path, "mnemolog hook", place / "home")
