"""OpenAI Responses: items of requests and responses.

| in the file | in the log |
|---|---|
| `input` (text or items), `output`, and those of `request` and `response`; `instructions` | turns, a turn an item |
| `message` (also without a type) with `role` | a turn; `developer` is system |
| `input_text`, `output_text`, `refusal` | `content` |
| `reasoning` | an assistant turn with its item as a part, and no content: the summary is not what was said |
| `function_call`, `custom_tool_call` and other calls | a part of an assistant turn |
| `function_call_output`, `custom_tool_call_output` | a tool turn that answers the turn of its `call_id` |
| `id` of an item | `id` |
| `created_at` of the response | `at` |
| everything else | a part: the item itself, or a part of type `fields` |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from streams.gateways.sources import Source
from streams.gateways.sources.chats import Chat, Dialect, reading
from streams.gateways.sources.shared import JSON_SUFFIXES, Fields, Json, Unfit, blocks, fields_part, name_of, words

TEXTS = ("text", "input_text", "output_text", "refusal")
_MESSAGE = words("type role content id status")


class Item:
    """An item as a turn has it."""

    def __init__(self, item: Json) -> None:
        kind = item.get("type") or ("message" if "role" in item else "")
        self.role: Any = "assistant"
        self.content = ""
        self.parts: list[Json] = [item]
        self.call = str(item.get("call_id") or "")
        self.tool = str(item.get("name") or "")
        self.is_result = isinstance(kind, str) and kind.endswith("_output") and bool(self.call)
        if kind == "message":
            texts, others = blocks(item.get("content"), TEXTS)
            self.role = {"developer": "system"}.get(item["role"], item["role"])
            self.content, self.parts = "\n".join(texts), others + fields_part(item, _MESSAGE)
        elif self.is_result:
            self.role = "tool"
            said, others = output_of(item.get("output"))
            self.content = said
            self.parts = [{key: value for key, value in item.items() if key != "output"}, *others]
        elif not isinstance(kind, str) or not kind:
            raise Unfit("type", "is missing: an item has a type, or a role")


def output_of(output: object) -> tuple[str, list[Json]]:
    """What a tool gave, in words, and what else."""
    if isinstance(output, list):
        texts, others = blocks(output, TEXTS)
        return "\n".join(texts), others
    if isinstance(output, dict):
        inner = output.get("content", output.get("output"))
        return (inner, [output]) if isinstance(inner, str) else ("", [output])
    return (output if isinstance(output, str) else orjson.dumps(output).decode()), []


class Responses(Chat):
    """A conversation of items."""

    def turns(self, message: Any) -> Iterable[Fields]:
        """The turn that an item is."""
        if not isinstance(message, dict):
            raise Unfit("", "is no item: an object with a type is expected")
        item = Item(message)
        more: Json = {"id": name_of(message["id"])} if message.get("id") else {}
        if item.is_result and item.call in self.calls:
            more["reply_to"] = self.calls[item.call][0]
        return (self.turn(item.role, item.content, item.parts, **more),)

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id and tool name of a call."""
        is_call = isinstance(part.get("call_id"), str) and str(part.get("type")).endswith("_call")
        return (part["call_id"], str(part.get("name", ""))) if is_call else None


def messages_of(value: Json) -> list[Any] | None:
    """The items of a request and a response."""
    found, any_ = list[Any](), False
    for one in (value.get("request"), value, value.get("response")):
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("instructions"), str):
            found.append({"type": "message", "role": "system", "content": one["instructions"]})
        for key in ("input", "output", "items"):
            items = one.get(key)
            if isinstance(items, str) and key == "input":
                items = [{"type": "message", "role": "user", "content": items}]
            if isinstance(items, list):
                any_ = True
                found += items
    # Why once: a response repeats the instructions of its request.
    unique = [one for n, one in enumerate(found) if n == 0 or one != found[0] or one.get("role") != "system"]
    return unique if any_ else None


def _said(message: Any) -> object:
    item = Item(message)
    bare = [{k: v for k, v in part.items() if k not in ("id", "status")} for part in item.parts]
    return [item.role, item.content, bare]


SOURCE = Source(
    "responses",
    "OpenAI Responses: requests, responses and items",
    JSON_SUFFIXES,
    reading(
        Dialect(
            Responses,
            messages_of,
            lambda value: "type" in value and ("role" in value or "call_id" in value or value["type"] == "reasoning"),
            _said,
            ("type", "input"),
        )
    ),
    (
        r'"type"\s*:\s*"(message|function_call|function_call_output|reasoning|input_text|output_text)"|"input"\s*:\s*"',
        r'"(input|output|output_text|input_text|call_id|encrypted_content|previous_response_id)"',
        r'"object"\s*:\s*"response"|"input"\s*:|"call_id"\s*:|"(in|out)put_text"',
    ),
)
