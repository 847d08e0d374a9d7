"""OpenTelemetry GenAI: spans and log records with messages, as OTLP JSON (of a collector's file exporter, for example).

| in the file | in the log |
|---|---|
| `gen_ai.conversation.id` | `session`; else what continues an earlier call is one with it |
| `gen_ai.system_instructions`, `gen_ai.input.messages`, `gen_ai.output.messages` | turns, each once |
| older: `gen_ai.prompt.N.*`, `gen_ai.completion.N.*`; OpenInference: `llm.input_messages.N.message.*` | turns |
| parts of type text | `content` |
| tool_call, reasoning and every other part | parts, as they are |
| tool_call_response | a tool turn that answers the turn of its call |
| start of the span, time of the record | `at` |
| `gen_ai.agent.name` | `agent` of the assistant |
| spans of agents, where those of the calls in them have messages; spans without messages | left out |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from streams.core.halves import loads
from streams.gateways.sources import Source
from streams.gateways.sources.chats import Chat, Dialect, lists, reading
from streams.gateways.sources.responses import output_of
from streams.gateways.sources.shared import (
    JSON_SUFFIXES,
    MISFITS,
    Fields,
    Json,
    Unfit,
    fields_part,
    micros,
    misfit,
    name_of,
    words,
)

_CALLS = ("chat", "text_completion", "generate_content", "")
_NUMBERED = re.compile(
    r"(?:gen_ai\.(prompt|completion)|llm\.(input|output)_messages)\.(\d+)\.(?:message\.)?(role|content)$"
)


class Messages(Chat):
    """A conversation as calls of a model repeat it."""

    def __init__(self, session: str, about: Json, given: Any) -> None:
        super().__init__(session, about, given)
        self.agent = name_of(about.get("agent"), given.agent)

    def turns(self, message: Any) -> Iterator[Fields]:
        """The turns of a message: what tools gave, and what was said."""
        texts: list[str] = []
        parts: list[Json] = []
        for part in message["parts"]:
            if part.get("type") == "tool_call_response":
                content, others = output_of(part.get("response", part.get("result")))
                about = {key: value for key, value in part.items() if key not in ("response", "result")}
                turn, _ = self.calls.get(str(part.get("id")), ("", ""))
                yield self.turn("tool", content, [about, *others], **({"reply_to": turn} if turn else {}))
            elif part.get("type") == "text":
                texts.append(part["content"])
            else:
                parts.append(part)
        if texts or parts:
            role = {"developer": "system", "model": "assistant"}.get(message["role"], message["role"])
            agent = {"agent": self.agent} if self.agent and role == "assistant" else {}
            rest = fields_part(message, words("role parts"))
            yield self.turn(role, "\n".join(texts), parts + rest, **agent)

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id and tool name of a call."""
        is_call = part.get("type") == "tool_call" and isinstance(part.get("id"), str)
        return (part["id"], str(part.get("name", ""))) if is_call else None


def conversations(value: Any) -> Iterable[Json | Unfit] | None:
    """What each call of a model in a batch of spans or log records was given and said, and what is wrong with those
    that cannot be read; None for what is no batch."""
    if not isinstance(value, dict) or not any(
        isinstance(value.get(k), list) for k in ("resourceSpans", "resourceLogs")
    ):
        return None
    return _calls(value)


def _calls(value: Json) -> Iterator[Json | Unfit]:
    found = []
    for record in _records(value):
        try:
            said, messages = _said_in(record)
            at = micros(int(record.get("startTimeUnixNano") or record.get("timeUnixNano") or 0))
        except MISFITS as error:
            fault = misfit(error)
            yield Unfit(fault.field, fault.reason, {"resourceSpans": [{"scopeSpans": [{"spans": [record]}]}]})
            continue
        if messages:
            found.append((at, said, messages))
    with_calls = any(said.get("gen_ai.operation.name", "") in _CALLS for _, said, _ in found)
    for at, said, messages in sorted(found, key=lambda one: one[0]):
        if with_calls and said.get("gen_ai.operation.name", "") not in _CALLS:
            continue
        about: Json = {"messages": messages, "agent": said.get("gen_ai.agent.name")} | ({"at": at} if at else {})
        yield about | ({"conversation_id": i} if (i := said.get("gen_ai.conversation.id")) else {})


def _said_in(record: Json) -> tuple[Json, list[Json]]:
    """The attributes of a span or log record, and the messages in them."""
    said = _plain(record.get("attributes") or [])
    body = _value(record["body"]) if isinstance(record.get("body"), dict) else None
    said |= body if isinstance(body, dict) else {}
    return said, _messages(said)


def _records(value: Json) -> Iterator[Json]:
    for resource in [*(value.get("resourceSpans") or []), *(value.get("resourceLogs") or [])]:
        for scope in [*(resource.get("scopeSpans") or []), *(resource.get("scopeLogs") or [])]:
            yield from scope.get("spans") or []
            yield from scope.get("logRecords") or []


def _plain(attributes: list[Json]) -> Json:
    return {one["key"]: _value(one.get("value") or {}) for one in attributes}


def _value(value: Json) -> Any:
    """An attribute's value as JSON has it."""
    if "arrayValue" in value:
        return [_value(one) for one in value["arrayValue"].get("values") or []]
    if "kvlistValue" in value:
        return _plain(value["kvlistValue"].get("values") or [])
    return next(iter(value.values()), None)


def _messages(said: Json) -> list[Json]:
    """What a call was given and said, as messages with parts."""
    found: list[Json] = []
    if system := _json(said.get("gen_ai.system_instructions")):
        found.append({"role": "system", "parts": system})
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        found += _json(said.get(key))
    if found:
        return found
    numbered: dict[tuple[bool, int], Json] = {}
    for key, value in said.items():
        if match := _NUMBERED.match(key):
            place = (match[1] == "completion" or match[2] == "output", int(match[3]))
            numbered.setdefault(place, {})[match[4]] = value
    return [
        {"role": one.get("role", "assistant"), "parts": [{"type": "text", "content": str(one.get("content") or "")}]}
        for _, one in sorted(numbered.items(), key=lambda item: item[0])
    ]


def _json(value: object) -> list[Json]:
    """A list that is given as such, or as JSON text. Raises Unfit."""
    value = loads(value.encode()) if isinstance(value, str) else value
    if value is not None and not isinstance(value, list):
        raise Unfit("messages", "must be a list")
    return value or []


def _said(message: Any) -> object:
    return [message["role"], message["parts"]]


SOURCE = Source(
    "otel",
    "OpenTelemetry GenAI (OTLP JSON)",
    JSON_SUFFIXES,
    reading(
        Dialect(
            Messages, lists("messages"), lambda value: False, _said, ("role", "resourceSpans"), unpacked=conversations
        )
    ),
    (r'"resource(Spans|Logs)"\s*:',),
)
