"""LangChain and LangGraph messages: as `dumpd` and `messages_to_dict` write them, and as LangGraph's API has them.

| in the file | in the log |
|---|---|
| `messages`, also within `values`; `thread_id` | turns; `session` |
| `kwargs` of a constructor, `data` of a typed message, the message itself | what is read below |
| human, ai, system, tool, function, chat (its `role`), and their chunks | roles |
| `id` of a message | `id` |
| `content`: text, and text of its blocks | `content` |
| other blocks; `tool_calls` | parts |
| `tool_call_id`, `status`, `artifact` | a part of type `tool_result`; `reply_to` is the turn of the call |
| remove (`__remove_all__`: of all that was said) | `turn-retracted` |
| `name` | `agent` |
| `additional_kwargs`, `response_metadata`, `usage_metadata`, and what is not known | a part of type `fields` |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Source
from streams.gateways.sources.chats import TIMES, Chat, Dialect, reading, time_of
from streams.gateways.sources.shared import (
    JSON_SUFFIXES,
    Fields,
    Json,
    Unfit,
    blocks,
    fields_part,
    name_of,
    retraction,
    words,
)

ALL = "__remove_all__"
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_KNOWN = words("type content id name role tool_calls tool_call_id status artifact example invalid_tool_calls").union(
    TIMES
)


def opened(message: Any) -> tuple[str, Json]:
    """The kind of a message, and its fields. Raises Unfit."""
    if not isinstance(message, dict):
        raise Unfit("", "is no message: an object with a type is expected")
    kind, data = message.get("type"), message
    if kind == "constructor":
        kind, data = str(message["id"][-1]).removesuffix("Chunk").removesuffix("Message").lower(), message["kwargs"]
    elif isinstance(message.get("data"), dict):
        data = message["data"]
    kind = str(kind).removesuffix("MessageChunk").lower()
    if kind not in _ROLES and kind not in ("chat", "remove"):
        raise Unfit("type", f"is {kind[:60]!r}; must be one of {', '.join(_ROLES)}, chat, remove")
    return kind, data


class Messages(Chat):
    """A conversation of messages."""

    def turns(self, message: Any) -> Iterator[Fields]:
        """The turn that a message is, or what it retracts."""
        kind, data = opened(message)
        self.at = self.at if time_of(data) is None else time_of(data)
        if kind == "remove":
            for gone in self.said if data.get("id") == ALL else [name_of(data.get("id"))]:
                fact = retraction(gone, self.session, str(self.space or ""), self.at)
                yield {key: value for key, value in fact.items() if value is not None}
            return
        texts, parts = blocks(data.get("content"))
        content, name = "\n".join(texts), str(data.get("name") or "")
        calls = data.get("tool_calls") or []
        parts += [{"type": "tool_call", **call} for call in calls]
        more: Json = {"id": name_of(data["id"])} if data.get("id") else {}
        rest = fields_part(data, _KNOWN)
        if kind in ("tool", "function"):
            about = {key: data[key] for key in ("status", "artifact") if data.get(key) is not None}
            turn = self.result(data.get("tool_call_id"), name, content, parts, **more)
            turn["parts"][-1] |= about
            turn["parts"] += rest
            yield turn
            return
        role = _ROLES.get(kind) or {"human": "user", "ai": "assistant"}.get(data["role"], data["role"])
        yield self.turn(role, content, parts + rest, **more, **({"agent": name_of(name)} if name else {}))

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id and tool name of a call."""
        is_call = part.get("type") == "tool_call" and isinstance(part.get("id"), str)
        return (part["id"], str(part.get("name", ""))) if is_call else None


def messages_of(value: Json) -> list[Any] | None:
    """The messages of a conversation, or of a thread's state."""
    for one in (value, value.get("values"), value.get("channel_values"), value.get("kwargs")):
        if isinstance(one, dict) and isinstance(one.get("messages"), list):
            return list(one["messages"])
    return None


def _is_message(value: Json) -> bool:
    return "type" in value and ("content" in value or "data" in value or "kwargs" in value or value["type"] == "remove")


def _said(message: Any) -> object:
    kind, data = opened(message)
    return [kind, data.get("id"), data.get("content"), data.get("tool_calls"), data.get("tool_call_id")]


SOURCE = Source(
    "langchain",
    "LangChain and LangGraph messages",
    JSON_SUFFIXES,
    reading(Dialect(Messages, messages_of, _is_message, _said, ("type", "messages"))),
    (r'"lc"\s*:\s*1|"type"\s*:\s*"(human|ai|HumanMessage\w*|AIMessage\w*)"', r'"(content|kwargs|data)"\s*:'),
)
