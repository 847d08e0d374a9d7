"""OpenAI chat messages: role, content, tool_calls, tool results; requests and responses as they are logged.

| in the file | in the log |
|---|---|
| `messages` (or `conversation`, `traj`, `trajectory`, `history`) and the message of each of `choices` | turns |
| `developer`, `function` | roles system and tool |
| text of content parts, `refusal` | `content` |
| images, audio, files | parts, as they came |
| `tool_calls`, `function_call` | parts of the assistant's turn |
| `tool_call_id` | a part of type `tool_result`; `reply_to` is the turn of the call |
| `name` | `agent` |
| `id`; a number with its session before it | `id` |
| `created_at`, `timestamp`, `created`, `at`, `time` | `at`, else that of the message before, or of the whole |
| fields that are not known | a part of type `fields` |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streams.gateways.sources import Source
from streams.gateways.sources.chats import SESSION, TIMES, Chat, Dialect, named, reading, time_of
from streams.gateways.sources.shared import Fields, Json, Unfit

MESSAGES = ("messages", "conversation", "traj", "trajectory", "history")
"""Where an object keeps its messages."""
_ROLES = {"developer": "system", "function": "tool"}
_KNOWN = frozenset(
    ("role", "content", "name", "tool_calls", "function_call", "tool_call_id", "refusal", "id", "reply_to", "space")
).union(SESSION, TIMES)


class OpenAIChat(Chat):
    """A conversation of chat messages."""

    def turns(self, message: Any) -> Iterable[Fields]:
        """The turn that a message is."""
        if not isinstance(message, dict):
            raise Unfit("", "is no message: an object with a role and content is expected")
        role = message.get("role")
        content, parts = content_of(message)
        parts += _calls(message)
        own = time_of(message)
        if own is not None:
            self.at = own
        name = message.get("name")
        if role in ("tool", "function"):
            fields = self.result(message.get("tool_call_id"), name or "", content, parts)
        else:
            fields = self.turn(_ROLES.get(role, role) if isinstance(role, str) else role, content, parts)
            fields |= {"agent": name} if name else {}
        fields["session"] = named(message, SESSION) or self.session
        fields["id"] = self._id(message)
        fields |= {key: message[key] for key in ("space", "reply_to") if message.get(key) is not None}
        if rest := {
            key: value for key, value in message.items() if key not in _KNOWN and value not in (None, [], {}, "message")
        }:
            fields["parts"] = [*fields["parts"], {"type": "fields", "fields": rest}]
        return (fields,)

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id and tool name of a tool call."""
        if isinstance(part.get("id"), str) and isinstance(part.get("function"), dict):
            return part["id"], str(part["function"].get("name", ""))
        return None

    def _id(self, message: Json) -> object:
        """A message's id. Numbers count within their conversation, and are told apart by it."""
        own = message.get("id")
        return f"{self.session}/{own}" if isinstance(own, int) and not isinstance(own, bool) else own


def messages_of(value: Json) -> list[Any] | None:
    """The messages of a conversation, or of a request and what was answered."""
    request = value.get("request")
    within = {**request, **value} if isinstance(request, dict) else value
    found = next((within[name] for name in MESSAGES if isinstance(within.get(name), list)), None)
    answer = value.get("response")
    choices = (answer if isinstance(answer, dict) else value).get("choices")
    answered = [c.get("message") for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    return [*(found or []), *answered[:1]] if found is not None or answered else None


def _said(message: Any) -> object:
    content, parts = content_of(message)
    return [message.get("role"), content, parts, _calls(message), message.get("tool_call_id")]


def content_of(message: Json) -> tuple[Any, list[Any]]:
    """The text of a message, and what else its content holds."""
    content = message.get("content")
    if content is None:
        said = message.get("refusal")
        silent = any(message.get(key) for key in ("tool_calls", "function_call", "audio"))
        return (said if said else "" if silent else None), []
    if not isinstance(content, list):
        return content, []
    texts: list[str] = []
    parts: list[Any] = []
    for n, part in enumerate(content):
        text = _part_text(part, n)
        parts.extend([part] if text is None else [])
        texts.extend([] if text is None else [text])
    return "\n".join(texts), parts


def _part_text(part: Any, n: int) -> str | None:
    """The text of a content part; None for one of another kind."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise Unfit(f"content[{n}]", "must be an object with a type")
    if part.get("type") in ("text", "input_text", "output_text", "refusal"):
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            raise Unfit(f"content[{n}].text", "must be text")
        return text
    return None


def _calls(message: Json) -> list[Any]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise Unfit("tool_calls", "must be a list of objects")
    old = message.get("function_call")
    return [*calls, *([{"type": "function", "function": old}] if isinstance(old, dict) else [])]


SOURCE = Source(
    "openai",
    "OpenAI chat messages, requests and responses",
    (".json", ".jsonl", ".ndjson"),
    reading(Dialect(OpenAIChat, messages_of, lambda value: "role" in value, _said)),
    (
        r'"role"\s*:\s*"(system|developer|user|assistant|tool|function)"',
        r'^\s*\[|"(messages|traj|trajectory|history|conversation|choices|tool_calls|tool_call_id|refusal)"\s*:'
        r'|^\s*\{(?![^\n]*"session"\s*:)[^\n]*"content"\s*:',
    ),
)
