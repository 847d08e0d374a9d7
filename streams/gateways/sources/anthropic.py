"""Anthropic Messages: requests and responses of the Messages API.

| in the file | in the log |
|---|---|
| `system`, `messages`, and the `content` of the response | turns |
| text blocks | `content` |
| `tool_use`, `thinking`, images, documents, server tools and every other block | a part, as it is |
| `tool_result` in a user message | a tool turn each, that answers the turn of its `tool_use_id` |
| `model`, `usage`, `stop_reason` of a response, `cache_control` | a part of type `fields`; as they are in their block |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Source
from streams.gateways.sources.chats import SESSION, TIMES, Chat, Dialect, reading, time_of
from streams.gateways.sources.shared import JSON_SUFFIXES, Fields, Json, Unfit, blocks, fields_part

_KNOWN = frozenset(("role", "content", "type", *SESSION, *TIMES))


class Messages(Chat):
    """A conversation of messages with blocks."""

    def turns(self, message: Any) -> Iterator[Fields]:
        """The turns of a message: results of tools, and what was said."""
        if not isinstance(message, dict):
            raise Unfit("", "is no message: an object with a role and content is expected")
        self.at = self.at if time_of(message) is None else time_of(message)
        texts, parts = blocks(message.get("content"))
        for result in [part for part in parts if part.get("type") == "tool_result"]:
            said, others = blocks(result.get("content"))
            about = {key: value for key, value in result.items() if key != "content"}
            turn, _ = self.calls.get(str(result.get("tool_use_id")), ("", ""))
            yield self.turn("tool", "\n".join(said), [about, *others], **({"reply_to": turn} if turn else {}))
        rest = [part for part in parts if part.get("type") != "tool_result"]
        if texts or rest or not parts:
            content = "\n".join(texts) if texts or rest else message.get("content")
            yield self.turn(message.get("role", ""), content, rest + fields_part(message, _KNOWN))

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id and tool name of a call."""
        is_call = part.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use") and isinstance(
            part.get("id"), str
        )
        return (part["id"], str(part.get("name", ""))) if is_call else None


def messages_of(value: Json) -> list[Any] | None:
    """The messages of a request and what was answered."""
    found, any_ = list[Any](), False
    for one in (value.get("request"), value, value.get("response")):
        if not isinstance(one, dict):
            continue
        if one.get("system") and isinstance(one.get("messages"), list):
            found.append({"role": "system", "content": one["system"]})
        if isinstance(one.get("messages"), list):
            any_ = True
            found += one["messages"]
        elif one.get("role") == "assistant" and "content" in one:
            any_ = True
            found.append(one)
    return found if any_ else None


def _said(message: Any) -> object:
    texts, parts = blocks(message.get("content"))
    return [message.get("role"), texts, [{k: v for k, v in p.items() if k != "cache_control"} for p in parts]]


SOURCE = Source(
    "anthropic",
    "Anthropic Messages: requests and responses",
    JSON_SUFFIXES,
    reading(Dialect(Messages, messages_of, lambda value: "role" in value and "content" in value, _said)),
    (
        r'"role"\s*:\s*"(user|assistant)"',
        r'"content"\s*:',
        r'"type"\s*:\s*"(tool_use|tool_result|thinking|redacted_thinking|server_tool_use)"'
        r'|"(tool_use_id|cache_control|stop_reason|input_schema)"\s*:|"system"\s*:\s*["\[]',
    ),
)
