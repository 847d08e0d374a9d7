"""Gemini CLI sessions: `~/.gemini/tmp/PROJECT/chats/session-*.jsonl`; older ones are one document, `.json`.

| in the file | in the log |
|---|---|
| `sessionId` of the first line; `directories[0]` | `session`; the space, where none was asked for |
| `type` user, gemini, and others (info, error) | roles user, assistant, system |
| `id` | `id` |
| a message that is written again under its `id`, with other words | `turn-retracted`, and a turn of the new ones |
| text of `content` | `content` |
| other parts of `content`, `thoughts`, `toolCalls` without results | parts |
| results of `toolCalls`, as they come | tool turns that answer the turn |
| `$rewindTo` | `turn-retracted` for that message and all after it |
| `messages` of a document or of `$set` | messages: those that are known add nothing |
| `model`, `tokens`, and what is not known | a part of type `fields` |
| `displayContent`, `lastUpdated`, `projectHash`, `summary` and other `$set` | left out |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Input, Source
from streams.gateways.sources.responses import output_of
from streams.gateways.sources.shared import (
    Fields,
    Json,
    Unfit,
    fields_part,
    hashed,
    mapped,
    name_of,
    project_space,
    retraction,
    words,
)

AGENT = "gemini"
MESSAGES = 2000
"""Messages that can be rewound."""
_ROLES = {"user": "user", "gemini": "assistant"}
_KNOWN = words("id timestamp type content displayContent thoughts toolCalls")


class Session:
    """The turns of one session. `state` is what has to be known to go on in the middle of it."""

    def __init__(self, space: str = "", agent: str = "", state: Json | None = None) -> None:
        self.state: Json = state or {"space": space, "session": "", "messages": []}
        """`messages` are those that hold: id, hash of the words, and the ids of its turns."""
        self.agent = agent or AGENT

    def __call__(self, line: Any) -> Iterator[Fields]:
        """The events of a line, or of a document."""
        if not isinstance(line, dict):
            raise Unfit("line", "must be an object")
        if "$rewindTo" in line:
            yield from self._rewound(line["$rewindTo"], line.get("timestamp"))
            return
        about = line["$set"] if isinstance(line.get("$set"), dict) else line
        if isinstance(about.get("sessionId"), str) and not self.state["session"]:
            self.state["session"] = name_of(about["sessionId"])
            folders = about.get("directories")
            self.state["space"] = self.state["space"] or project_space(folders[0] if folders else "")
        for message in about["messages"] if isinstance(about.get("messages"), list) else ():
            yield from self._message(message)
        if isinstance(line.get("id"), str) and "type" in line:
            yield from self._message(line)

    def _message(self, message: Json) -> Iterator[Fields]:
        known = next((one for one in self.state["messages"] if one[0] == message["id"]), None)
        content, parts = _content(message.get("content"))
        thoughts = message.get("thoughts") or []
        calls = message.get("toolCalls") or []
        parts += [{"type": "thought", **thought} for thought in thoughts]
        parts += [{"type": "tool_call", **{k: v for k, v in call.items() if k not in _GIVEN}} for call in calls]
        said = hashed(content, [part for part in parts if part.get("type") != "tool_call"], len(calls))
        id_ = name_of(message["id"])
        if known is None:
            known = [message["id"], said if content or parts else "", []]
            self.state["messages"].append(known)
            del self.state["messages"][:-MESSAGES]
        elif known[1] != said:
            for gone in known[2]:
                yield retraction(gone, self.state["session"], self.state["space"], message.get("timestamp"), "edited")
            known[1:] = [said, []]
            id_ = name_of(f"{id_}/{said}")
        if (content or parts) and id_ not in known[2]:
            if not known[2]:
                yield self._turn(id_, message, content, parts + fields_part(message, _KNOWN))
                known[2].append(id_)
            yield from self._results(known, message, calls)

    def _results(self, known: list[Any], message: Json, calls: list[Json]) -> Iterator[Fields]:
        for n, call in enumerate(calls):
            id_ = name_of(f"{known[2][0]}/{call.get('id') or n}")
            if call.get("result") in (None, [], "") or id_ in known[2]:
                continue
            texts: list[str] = []
            others: list[Json] = []
            for part in call["result"] if isinstance(call["result"], list) else [call["result"]]:
                response = part.get("functionResponse", {}).get("response") if isinstance(part, dict) else part
                text, more = output_of(response) if response is not None else ("", [part])
                texts.append(text)
                others += more
            about = {key: value for key, value in call.items() if key not in ("result", "args", "resultDisplay")}
            turn = self._turn(id_, message, "\n".join(filter(None, texts)), [{"type": "tool_result", **about}, *others])
            known[2].append(id_)
            yield turn | {"role": "tool", "agent": "tool", "reply_to": known[2][0]}

    def _turn(self, id_: str, message: Json, content: str, parts: list[Json]) -> Fields:
        role = _ROLES.get(message["type"], "system")
        turn: Fields = {"id": id_, "session": self.state["session"], "role": role, "content": content}
        turn |= {"parts": parts, "at": message.get("timestamp")}
        if self.state["space"]:
            turn["space"] = self.state["space"]
        return turn | ({"agent": self.agent} if role == "assistant" else {})

    def _rewound(self, target: object, at: object) -> Iterator[Fields]:
        messages = self.state["messages"]
        first = next((n for n, one in enumerate(messages) if one[0] == target), None)
        if first is None:
            return
        for gone in (turn for one in messages[first:] for turn in one[2]):
            yield retraction(gone, self.state["session"], self.state["space"], at)
        del messages[first:]


_GIVEN = ("result", "resultDisplay", "status")


def _content(content: object) -> tuple[str, list[Json]]:
    """The words of a message, and its other parts."""
    parts: list[Any] = content if isinstance(content, list) else [] if content is None else [content]
    texts = [part if isinstance(part, str) else part["text"] for part in parts if isinstance(part, str) or _says(part)]
    return "\n".join(texts), [part for part in parts if not isinstance(part, str) and not _says(part)]


def _says(part: Any) -> bool:
    return isinstance(part.get("text"), str) and not part.get("thought")


gathered = iter
"""Each line by itself."""


def _mapping(given: Input) -> Session:
    return Session(given.space, given.agent)


SOURCE = Source(
    "gemini-cli",
    "Gemini CLI sessions",
    (".json", ".jsonl"),
    mapped(_mapping, grows=True),
    (r'"sessionId"\s*:', r'"(projectHash|startTime|\$set|\$rewindTo|directories)"\s*:|"type"\s*:\s*"gemini"'),
)
