"""Claude Code sessions: `~/.claude/projects/FOLDER/SESSION.jsonl`, and those of its subagents.

| in the file | in the log |
|---|---|
| `cwd` of the first line | the space, where none was asked for: a project is a space |
| `sessionId`; of a subagent with `/agentId` | `session` |
| `uuid`, of a copy in a fork `forkedFrom.messageUuid` | `id`: copies and files read again add nothing |
| lines of one `message.id` after each other | one assistant turn, under the id of the first; `usage` once |
| of such a message what was written after it was fed | an assistant turn of its own, with the next feed |
| `user` with text that a person typed, `queued_command` | a user turn; in a subagent's session by who asked it |
| `user` that nobody typed (`isMeta`, other `origin`, texts of commands and hooks, compact summaries) | a system turn |
| `user` with `tool_result` | a tool turn that answers the turn of its call; the result's other fields in its part |
| text blocks; `<system-reminder>` within them | `content`; a part |
| `tool_use`, `thinking`, images and every other block | a part, as it is |
| `model`, `usage`, `stop_reason`, fields that are not known | a part of type `fields` |
| `parentUuid` that leaves prompts behind (rewind, edit) | `turn-retracted` for those prompts and what followed them |
| `toolUseResult` | left out: it says again what `tool_result` says |
| lines of other types (summaries, snapshots, progress, attachments) | left out: no turns |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from streams.gateways.sources import Input, Source
from streams.gateways.sources.shared import (
    Fields,
    Grown,
    Json,
    Unfit,
    Value,
    blocks,
    fields_part,
    mapped,
    name_of,
    project_space,
    retraction,
    words,
)

AGENT = "claude"
MOST_LINES = 5000
"""Lines whose place in the tree is remembered: a rewind over more is not noticed."""
_CHAIN = ("user", "assistant", "system", "attachment", "progress")
_UNTYPED = re.compile(
    r"\s*<(command-name|command-message|command-args|local-command-\w+|task-notification|bash-(?:input|stdout|stderr)"
    r"|user-prompt-submit-hook|session-start-hook)>|\s*\[Request interrupted by user|\s*Caveat: The messages below"
)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.S)
_LINE = words(
    "uuid parentUuid logicalParentUuid sessionId timestamp cwd gitBranch version isSidechain agentId isMeta requestId "
    "message toolUseResult type userType forkedFrom sourceToolAssistantUUID sourceToolUseID isCompactSummary origin "
    "isVisibleInTranscriptOnly slug promptId permissionMode entrypoint attachment"
)
_MESSAGE = frozenset(("role", "content", "id", "type"))


class Session:
    """The turns of one transcript. `state` is what has to be known to go on in the middle of it."""

    def __init__(self, space: str = "", agent: str = "", state: Json | None = None) -> None:
        self.state: Json = state or {"space": space, "calls": {}, "prompts": [], "lines": 0}
        """`prompts` are those that hold, each with the ids of its turns and the uuids of its lines, oldest first."""
        self.agent = agent or AGENT

    def __call__(self, lines: list[Json]) -> Iterator[Fields]:
        """The events of some lines of one message."""
        line = lines[0]
        if not self.state["space"]:
            self.state["space"] = project_space(line.get("cwd"))
        if not isinstance(line.get("uuid"), str) or line.get("type") not in _CHAIN:
            return
        message = line.get("message")
        queued = line.get("attachment")
        if line["type"] == "attachment" and isinstance(queued, dict) and queued.get("type") == "queued_command":
            is_typed = queued.get("commandMode") in (None, "prompt")
            line = line | {"type": "user", "isMeta": not is_typed}
            message = {"role": "user", "content": queued.get("prompt")}
        if line["type"] not in ("user", "assistant"):
            self._place([line["uuid"]], [], line)
            return
        if not isinstance(message, dict):
            raise Unfit("message", "must be an object with a role and content")
        turns = list(self._assistant(lines) if line["type"] == "assistant" else self._user(line, message))
        if turns and turns[0]["role"] == "user" and not line.get("isSidechain"):
            yield from self._rewound(line, turns[0])
            self.state["prompts"].append({"turns": [], "lines": []})
        self._place([str(one.get("uuid")) for one in lines], [turn["id"] for turn in turns], line)
        yield from turns

    def _place(self, lines: list[str], turns: list[str], line: Json | None = None) -> None:
        """Puts lines and turns below the newest prompt; those of subagents are no part of the tree."""
        prompts = self.state["prompts"]
        if prompts and not (line or {}).get("isSidechain"):
            prompts[-1]["lines"] += lines
            prompts[-1]["turns"] += turns
            self.state["lines"] += len(lines)
            while len(prompts) > 1 and self.state["lines"] > MOST_LINES:
                self.state["lines"] -= len(prompts.pop(0)["lines"])

    def _rewound(self, line: Json, turn: Fields) -> Iterator[Fields]:
        """Retracts the prompts, with all that followed them, that a new prompt's place in the tree leaves behind."""
        prompts, parent = self.state["prompts"], line.get("parentUuid")
        last = next((n for n in reversed(range(len(prompts))) if parent in prompts[n]["lines"]), None)
        if parent is None or (last is None and parent != self.state.get("before")):
            # Why: what goes on from a place that is not known (cleared, compacted) says nothing of what was before.
            if not prompts:
                self.state["before"] = parent
            return
        for prompt in prompts[0 if last is None else last + 1 :]:
            self.state["lines"] -= len(prompt["lines"])
            for gone in prompt["turns"]:
                yield retraction(gone, turn["session"], turn.get("space", ""), turn["at"])
        del prompts[0 if last is None else last + 1 :]

    def _assistant(self, lines: list[Json]) -> Iterator[Fields]:
        turn = self._said([self._timed(lines[0]), *lines[1:]], self.state.get("message"))
        self.state["message"] = lines[-1]["message"].get("id")
        for part in turn["parts"]:
            if part.get("type") == "tool_use" and isinstance(part.get("id"), str):
                self.state["calls"][part["id"]] = turn["id"]
        while len(self.state["calls"]) > 200:
            self.state["calls"].pop(next(iter(self.state["calls"])))
        if _says(turn):
            yield turn

    def _said(self, lines: list[Json], before: object) -> Grown:
        """The turn that some lines of a message are, and how it looked while a file had only the first of them;
        `before` is the message of the line before."""
        texts, parts = [], []
        for line in lines:
            more, others = blocks(line["message"].get("content"))
            texts += more
            parts += others
        about: Json = {**lines[-1], **lines[-1]["message"]}
        if about.get("id") is not None and about["id"] == before:
            about.pop("usage", None)  # lines of one message repeat it
        turn = self._turn(lines[0], "assistant", "\n".join(texts), parts + fields_part(about, _LINE | _MESSAGE))

        def pieces() -> Iterator[tuple[Grown, Grown]]:
            # Why not of a copy in a fork: its id is taken by what it was copied from.
            for cut in () if lines[0].get("forkedFrom") else reversed(range(1, len(lines))):
                rest = [{"timestamp": lines[0]["timestamp"], **lines[cut]}, *lines[cut + 1 :]]
                if _says(since := self._said(rest, about.get("id"))):
                    yield self._said(lines[:cut], before), since

        return Grown(turn, pieces)

    def _user(self, line: Json, message: Json) -> Iterator[Fields]:
        line = self._timed(line)
        texts, parts = blocks(message.get("content"))
        results = [part for part in parts if part.get("type") == "tool_result"]
        parts = [part for part in parts if part.get("type") != "tool_result"]
        if results:
            yield self._results(line, results)
        content = "\n".join(texts)
        if reminders := _REMINDER.findall(content):
            parts += [{"type": "text", "text": one} for one in reminders]
            content = _REMINDER.sub("", content).strip()
        if content or parts:
            role = "user" if line.get("isSidechain") or _is_typed(line, content) else "system"
            turn = self._turn(line, role, content, parts + fields_part(line, _LINE))
            if results:
                turn["id"] = name_of(f"{turn['id']}/text")
            yield turn

    def _results(self, line: Json, results: list[Json]) -> Fields:
        """What tools gave, as a turn that answers the turn of the first call."""
        texts, parts = [], []
        for result in results:
            said, others = blocks(result.get("content"))
            texts += said
            parts += [{key: value for key, value in result.items() if key != "content"}, *others]
        turn = self._turn(line, "tool", "\n".join(texts), parts + fields_part(line, _LINE))
        turn["reply_to"] = self.state["calls"].get(results[0].get("tool_use_id")) or ""
        return turn

    def _timed(self, line: Json) -> Json:
        """A line with a time: that of the last line that has one, where it has none itself."""
        self.state["at"] = line.get("timestamp") or self.state.get("at")
        return line | {"timestamp": self.state["at"]}

    def _turn(self, line: Json, role: str, content: str, parts: list[Json]) -> Fields:
        copied = line.get("forkedFrom")
        id_ = copied.get("messageUuid") if isinstance(copied, dict) else None
        session, agent = name_of(line.get("sessionId")), self.agent
        if line.get("isSidechain"):
            agent = f"agent-{line.get('agentId')}" if line.get("agentId") else "subagent"
            session = name_of(f"{session}/{agent}")
        turn: Fields = {"id": name_of(id_ or line["uuid"]), "session": session, "role": role, "content": content}
        turn |= {"parts": parts, "at": line["timestamp"]}
        if self.state["space"]:
            turn["space"] = self.state["space"]
        if role == "assistant" or (role == "user" and line.get("isSidechain")):
            turn["agent"] = name_of(agent if role == "assistant" else self.agent)
        return turn


def _says(turn: Fields) -> bool:
    return bool(turn["content"]) or any(part.get("type") != "fields" for part in turn["parts"])


def _is_typed(line: Json, content: str) -> bool:
    """Whether a person typed it."""
    origin = line.get("origin")
    if isinstance(origin, dict) and "kind" in origin:
        return bool(origin["kind"] == "human")
    return not (line.get("isMeta") or line.get("isCompactSummary") or _UNTYPED.match(content))


def gathered(found: Iterable[Any]) -> Iterator[Any]:
    """Lines of one assistant message that follow each other, together; what are no lines of a session as it is."""
    held: list[Value] = []
    for one in found:
        if not isinstance(one, Value) or not isinstance(one.value, dict):
            yield from _together(held)
            held = []
            yield one
        elif held and _message_id(held[-1].value) and _message_id(held[-1].value) == _message_id(one.value):
            held.append(one)
        else:
            yield from _together(held)
            held = [one]
    yield from _together(held)


def _together(held: list[Value]) -> Iterator[Value]:
    if held:
        raw = held[0].raw if len(held) == 1 else b"\n".join(one.raw for one in held)
        yield Value(held[0].line, -2, raw, [one.value for one in held])


def _message_id(line: Json) -> object:
    message = line.get("message")
    return message.get("id") if line.get("type") == "assistant" and isinstance(message, dict) else None


def _mapping(given: Input) -> Any:
    session = Session(given.space, given.agent)

    def events(value: Any) -> Iterator[Fields]:
        lines = value if isinstance(value, list) else [value]
        if not lines or not all(isinstance(line, dict) for line in lines):
            raise Unfit("line", "must be an object")
        yield from session(lines)

    return events


SOURCE = Source(
    "claude-code",
    "Claude Code sessions",
    (".jsonl",),
    mapped(_mapping, gathered, grows=True),
    (
        r'"(sessionId|leafUuid|messageId)"\s*:',
        r'"(parentUuid|leafUuid|isSnapshotUpdate|snapshot)"\s*:|"type"\s*:\s*"(queue-operation|ai-title|last-prompt)"',
    ),
)
