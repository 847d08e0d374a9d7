"""`mnemolog install` puts `mnemolog hook` or `mnemolog mcp` into the settings of coding agents, and takes it out again.

Settings are changed as text, so that comments, order and layout of all else stay as they are. Where nothing was changed
in between, taking out leaves the file as it was, byte for byte; else our entries go, and nothing else.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from streams.core.errors import UsageError
from streams.gateways.sources.shared import hashed

SECONDS = 5
OWN = re.compile(r"(^|[/\s'\"])mnemolog['\"]?( --home .+)? hook$")
"""A command that is ours, wherever the program lies."""
_TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"/]+', re.S)

_SPACE = r"(?:\s|//[^\n]*\n|/\*.*?\*/)*"


class Agent(NamedTuple):
    """Where an agent has its hooks, and in which shape."""

    home: str
    """The file for all of a user's folders; `$NAME` is a variable that moves its folder, `~` the user's folder."""
    project: str
    """The file for one folder."""
    events: tuple[str, ...]
    nested: bool
    """Whether a list of commands stands in a group of its event."""
    entry: dict[str, Any]
    """What stands beside the command."""
    top: dict[str, Any]
    """What the file must say beside hooks."""
    hint: str = ""


_COMMAND = {"type": "command", "timeout": SECONDS}
AGENTS = {
    "claude-code": Agent(
        "$CLAUDE_CONFIG_DIR:~/.claude/settings.json", ".claude/settings.json",
        ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"), True, _COMMAND, {},
        hint="sessions of before: mnemolog feed ~/.claude/projects; "
        "memory as tools: mnemolog install claude-code --mcp",
    ),
    "codex": Agent(
        "$CODEX_HOME:~/.codex/hooks.json", ".codex/hooks.json",
        ("SessionStart", "UserPromptSubmit", "Stop"), True, _COMMAND, {},
        hint="Codex runs hooks that you trust alone: say so in /hooks; "
        "sessions of before: mnemolog feed ~/.codex/sessions",
    ),
    "gemini": Agent(
        "~/.gemini/settings.json", ".gemini/settings.json",
        ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"), True,
        {"name": "mnemolog", "type": "command", "timeout": SECONDS * 1000}, {},
    ),
    "cursor": Agent(
        "~/.cursor/hooks.json", ".cursor/hooks.json",
        ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "sessionEnd"), False, {}, {"version": 1},
    ),
    "vscode": Agent(
        "~/.copilot/hooks/mnemolog.json", ".github/hooks/mnemolog.json",
        ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"), False, _COMMAND, {},
    ),
}  # fmt: skip
"""By the names that `mnemolog install` takes."""


class Tools(NamedTuple):
    """Where an agent names the servers of tools (MCP) that it starts, and how."""

    home: str
    """The file for all of a user's folders; "" where the agent has none that is known."""
    project: str
    key: str
    """The object that has servers by their names."""
    entry: dict[str, Any]
    """What stands beside command and arguments."""


SERVERS = {
    "claude-code": Tools("~/.claude.json", ".mcp.json", "mcpServers", {}),
    "gemini": Tools("~/.gemini/settings.json", ".gemini/settings.json", "mcpServers", {}),
    "cursor": Tools("~/.cursor/mcp.json", ".cursor/mcp.json", "mcpServers", {}),
    "vscode": Tools("", ".vscode/mcp.json", "servers", {"type": "stdio"}),
}
"""By agent. Codex has them in TOML, and a command of its own to add one."""
SERVER = "mnemolog"
"""The name of ours."""


class Node(NamedTuple):
    """A JSON value within a text: where it begins and ends, and what it holds."""

    start: int
    end: int
    value: Any
    items: list[tuple[str, int, Node]]
    """Of lists and objects: key ("" in lists), where the item begins, its value."""


class Settings:
    """A settings file of an agent, as it is and as it would be."""

    def __init__(self, agent: Agent, path: Path, command: str, home: Path) -> None:
        self.path = path
        self._receipt = home / "hooks" / f"{hashed(str(path.absolute()))}.installed.json"
        self.hint = agent.hint
        self._agent = agent
        self._command = command
        self.before = _read(path)
        root = _parsed(self.before, path) if self.before.strip() else None
        if root and not (isinstance(root.value, dict) and isinstance(root.value.get("hooks", {}), dict)):
            raise UsageError(f"{path} does not hold what {path.name} of this agent holds", "look at its `hooks`")

    def having(self) -> str:
        """The text with our hook at every event; as it is where that is so."""
        if list(self._own(self.before)) == [self._wanted()] * len(self._agent.events):
            return self.before
        return self._put(self._taken(self.before))

    def without(self) -> str:
        """The text without our hooks: what was there before them, where nothing else was changed since."""
        kept = self._kept()
        if kept and kept["after"] == self.before:
            return str(kept["before"])
        return self._taken(self.before) if list(self._own(self.before)) else self.before

    def difference(self, after: str) -> Iterator[str]:
        """The change, line by line."""
        path = str(self.path)
        yield from difflib.unified_diff(self.before.splitlines(), after.splitlines(), path, path, lineterm="")

    def write(self, text: str) -> None:
        """Puts a text in the file's place; the file goes where nothing is left. Keeps what was there for `without`."""
        path = self.path.resolve()  # a link to where settings are kept stays one
        try:
            self._keep(text)
            if not text:
                path.unlink(missing_ok=True)
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.{os.getpid()}")
            partial.write_bytes(text.encode())
            if path.exists():
                partial.chmod(path.stat().st_mode & 0o7777)
            partial.replace(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}", "mend its rights") from error

    def _kept(self) -> dict[str, Any]:
        """What was there before our hooks, and what with them."""
        with suppress(OSError, ValueError):
            return dict(json.loads(self._receipt.read_text()))
        return {}

    def _keep(self, text: str) -> None:
        kept = self._kept()
        if not list(self._own(text)):
            self._receipt.unlink(missing_ok=True)
            return
        before = kept["before"] if kept and kept["after"] == self.before else self.before
        if list(self._own(before)):
            return  # put in by hand: then there is no telling what was before
        self._receipt.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._receipt.write_text(json.dumps({"path": str(self.path), "before": before, "after": text}))

    def _wanted(self) -> dict[str, Any]:
        return self._agent.entry | {"command": self._command}

    def _own(self, text: str) -> Iterator[dict[str, Any]]:
        """Our entries in a text."""
        for _, event in _parsed(text, self.path).value.get("hooks", {}).items() if text.strip() else ():
            for group in event if isinstance(event, list) else ():
                for entry in group.get("hooks", ()) if "hooks" in group else (group,):
                    if _is_own(entry):
                        yield entry

    def _put(self, text: str) -> str:
        text = text if text.strip() else "{}\n"
        for key, value in self._agent.top.items():
            if key not in _parsed(text, self.path).value:
                text = _added(text, _parsed(text, self.path), key, value)
        if "hooks" not in _parsed(text, self.path).value:
            text = _added(text, _parsed(text, self.path), "hooks", {})
        for event in self._agent.events:
            hooks = _child(_parsed(text, self.path), "hooks")
            if event not in hooks.value:
                text = _added(text, hooks, event, [])
                hooks = _child(_parsed(text, self.path), "hooks")
            entry = {"hooks": [self._wanted()]} if self._agent.nested else self._wanted()
            text = _added(text, _child(hooks, event), "", entry)
        return text

    def _taken(self, text: str) -> str:
        """A text without our entries, and without lists of our events and `hooks` that are empty then."""
        while text.strip() and (place := self._place(text)):
            text = _removed(text, *place)
        for event in self._agent.events if text.strip() else ():
            root = _parsed(text, self.path)
            if root.value.get("hooks", {}).get(event) == []:
                text = _removed(text, hooks := _child(root, "hooks"), _child(hooks, event))
        whole = _parsed(text, self.path) if text.strip() else None
        return _removed(text, whole, _child(whole, "hooks")) if whole and whole.value.get("hooks") == {} else text

    def _place(self, text: str) -> tuple[Node, Node] | None:
        """One of our entries, or the group that holds nothing else, after the list that it stands in."""
        root = _parsed(text, self.path)
        if "hooks" not in root.value:
            return None
        for _, _, event in _child(root, "hooks").items:
            for _, _, group in event.items:
                entries = [("", 0, group)]
                if "hooks" in (group.value if isinstance(group.value, dict) else ()):
                    entries = _child(group, "hooks").items
                for _, _, entry in entries:
                    if _is_own(entry.value):
                        alone = len(entries) == 1 or entry is group
                        return (event, group) if alone else (_child(group, "hooks"), entry)
        return None


class Servers(Settings):
    """A file in which an agent names servers of tools, as it is and as it would be with ours."""

    def __init__(self, tools: Tools, path: Path, command: list[str], home: Path) -> None:
        self.path = path
        self.hint = ""
        self._receipt = home / "hooks" / f"{hashed(f'{path.absolute()} {tools.key}')}.installed.json"
        self._tools = tools
        self._server = tools.entry | {"command": command[0], "args": command[1:]}
        self.before = _read(path)
        root = _parsed(self.before, path) if self.before.strip() else None
        if root and not (isinstance(root.value, dict) and isinstance(root.value.get(tools.key, {}), dict)):
            raise UsageError(f"{path} does not hold what {path.name} of this agent holds", f"look at its `{tools.key}`")

    def having(self) -> str:
        """The text with our server; as it is where that is so."""
        return self.before if list(self._own(self.before)) == [self._server] else self._put(self._taken(self.before))

    def _own(self, text: str) -> Iterator[dict[str, Any]]:
        servers = _parsed(text, self.path).value.get(self._tools.key, {}) if text.strip() else {}
        if SERVER in servers:
            yield servers[SERVER]

    def _put(self, text: str) -> str:
        text = text if text.strip() else "{}\n"
        if self._tools.key not in _parsed(text, self.path).value:
            text = _added(text, _parsed(text, self.path), self._tools.key, {})
        return _added(text, _child(_parsed(text, self.path), self._tools.key), SERVER, self._server)

    def _taken(self, text: str) -> str:
        if list(self._own(text)):
            servers = _child(_parsed(text, self.path), self._tools.key)
            text = _removed(text, servers, _child(servers, SERVER))
            root = _parsed(text, self.path)
            if root.value[self._tools.key] == {}:
                text = _removed(text, root, _child(root, self._tools.key))
        return text


def servers_of(name: str, project: Path | None, home: Path, is_named: bool) -> Servers:
    """Where an agent names its servers of tools. Raises UsageError for an agent that has no such file."""
    if name not in SERVERS:
        known = name in AGENTS
        way_out = f"`{name} mcp add mnemolog -- mnemolog mcp` adds them" if known else f"agents: {', '.join(SERVERS)}"
        raise UsageError(f"there is no file of tools that is known of {name!r}", way_out)
    tools = SERVERS[name]
    named = ["--home", str(home.absolute())] if is_named else []
    if project is not None:
        return Servers(tools, project / tools.project, ["mnemolog", "mcp", *named], home)
    if not tools.home:
        raise UsageError(f"{name} names tools by folder", "say --project in that folder")
    return Servers(tools, Path(tools.home).expanduser(), [*shlex.split(_program()), "mcp", *named], home)


def settings_of(name: str, project: Path | None, home: Path, is_named: bool) -> Settings:
    """The settings of an agent for a folder, or for all of them. Raises UsageError for what is none.

    The hook names the home where that `is_named`.
    """
    if name not in AGENTS:
        raise UsageError(f"there is no agent {name!r}", f"choose one of {', '.join(AGENTS)}")
    agent = AGENTS[name]
    named = f" --home {shlex.quote(str(home.absolute()))}" if is_named else ""
    if project is not None:
        return Settings(agent, project / agent.project, f"mnemolog{named} hook", home)
    variable, _, place = agent.home.rpartition(":")
    path = Path(place).expanduser()
    if moved := os.environ.get(variable.removeprefix("$")) if variable else None:
        path = Path(moved) / path.name
    return Settings(agent, path, f"{_program()}{named} hook", home)


def _program() -> str:
    """This program as any shell finds it: agents have other paths than a person's terminal."""
    path = Path(sys.argv[0])
    if path.name == "mnemolog" and path.exists():
        return shlex.quote(str(path.absolute()))
    return "mnemolog"


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "mend that, or its rights") from None


def _is_own(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("command"), str) and bool(OWN.search(entry["command"]))


def _child(node: Node, key: str) -> Node:
    return {name: child for name, _, child in node.items}[key]


def _parsed(text: str, path: Path) -> Node:
    """JSON with comments and commas at ends. Raises UsageError."""
    tokens = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise _unread(path, text, at)
        if not (match[0].isspace() or match[0].startswith(("//", "/*")) or match[0] == "\ufeff"):
            tokens.append((match[0], at, match.end()))
        at = match.end()
    tokens.append(("", at, at))
    try:
        node, last = _node(tokens, 0)
    except (ValueError, IndexError, RecursionError):
        raise _unread(path, text, 0) from None
    if tokens[last][0]:
        raise _unread(path, text, tokens[last][1])
    return node


def _unread(path: Path, text: str, at: int) -> UsageError:
    line = text.count("\n", 0, at) + 1
    return UsageError(f"{path} is not JSON (looked at from line {line})", "mend it first; nothing was changed")


def _node(tokens: list[tuple[str, int, int]], n: int) -> tuple[Node, int]:
    """The value at a token, and the token behind it. Raises ValueError or IndexError for what is none."""
    word, start, end = tokens[n]
    if word not in ("{", "["):
        return Node(start, end, json.loads(word), []), n + 1
    items: list[tuple[str, int, Node]] = []
    closing = "}" if word == "{" else "]"
    n += 1
    while tokens[n][0] != closing:
        key, begin = "", tokens[n][1]
        if word == "{":
            key = json.loads(tokens[n][0])
            if not isinstance(key, str) or tokens[n + 1][0] != ":":
                raise ValueError
            n += 2
        child, n = _node(tokens, n)
        items.append((key, begin, child))
        if tokens[n][0] == ",":
            n += 1
        elif tokens[n][0] != closing:
            raise ValueError
    value: Any = {key: child.value for key, _, child in items} if word == "{" else [c.value for _, _, c in items]
    return Node(start, tokens[n][2], value, items), n + 1


def _added(text: str, node: Node, key: str, value: Any) -> str:
    """A text with one more item at the end of a list or object."""
    line = text.rfind("\n", 0, node.start) + 1
    outer = text[line : len(text) - len(text[line:].lstrip(" \t"))]
    unit = next(iter(re.findall(r"^([ \t]+)\S", text, re.M)), "  ")
    inner = outer + unit
    written = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{inner}")
    item = f"{json.dumps(key)}: {written}" if key else written
    if node.items:
        end = node.items[-1][2].end
        # Why the comment: one behind an item speaks of that item.
        comma, comment = re.match(r"(,?)([ \t]*(?://[^\n]*|/\*[^\n]*?\*/)?)", text[end:]).groups()  # type: ignore[union-attr]
        rest = text[end + len(comma) + len(comment) :]
        return f"{text[:end]},{comment}\n{_indent(text, node.items[-1][1], inner)}{item}{comma}{rest}"
    return f"{text[: node.start + 1]}\n{inner}{item}\n{outer}{text[node.end - 1 :]}"


def _indent(text: str, start: int, otherwise: str) -> str:
    """How far an item that begins its line is indented."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before if before.isspace() or not before else otherwise


def _removed(text: str, node: Node, child: Node) -> str:
    """A text without an item of a list or object; an empty one is written as such."""
    n = next(n for n, (_, _, one) in enumerate(node.items) if one.start == child.start)
    if len(node.items) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if n:
        before, after = text[: node.items[n][1]].rstrip(), text[child.end :]
        if trailing := re.match(rf"{_SPACE},", after, re.S):
            return before + after[trailing.end() :]
        comma = re.compile(rf"{_SPACE},", re.S).match(before, node.items[n - 1][2].end)
        return (before[: comma.end() - 1] + before[comma.end() :] if comma else before) + after
    return text[: node.items[0][1]] + text[node.items[1][1] :]
