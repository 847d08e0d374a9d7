"""The shapes of requests and streamed replies: OpenAI Chat Completions, OpenAI Responses, Anthropic Messages.

Words are put into what the user said, never before: all that stands earlier stays as it was, so that caches of prompts
hold, and nothing comes between a tool's call and its result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson

Json = dict[str, Any]


class Dialect(NamedTuple):
    """One of the shapes."""

    source: str
    """The importer that reads requests and replies of this shape (see streams/gateways/sources)."""
    messages: str
    """The field of a request that holds what was said."""
    text_type: str
    """The type of a block of a user's text."""
    joined: Callable[[Iterator[Json]], Json | None]
    """The reply that events of a stream come to; None where it did not end."""


def loads(raw: bytes) -> Any:
    """The JSON value that a client or provider sent. Raises ValueError.

    Half of a character stays as it came: where JavaScript cuts text the other half may come next, and what goes on is
    to say the same.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if "surrogate" not in error.msg:
            raise
    try:
        return json.loads(raw)
    except RecursionError as error:
        raise ValueError("it nests too deep") from error


def dumps(value: Json) -> bytes:
    """A value as JSON, half of a character as it came. Importers read two halves as one, and one as a "?"."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()


def by_path(path: str) -> Dialect | None:
    """The dialect of requests to a path; None where they are no conversation."""
    return next((dialect for end, dialect in DIALECTS.items() if path.endswith(end)), None)


def said_by_user(dialect: Dialect, body: Json) -> list[tuple[int, str]]:
    """What the user said: the place of each such message, and its text. What only answers tools is none."""
    given = body.get(dialect.messages)
    if isinstance(given, str):
        return [(-1, given)] if given.strip() else []
    found = []
    for place, message in enumerate(given if isinstance(given, list) else []):
        if isinstance(message, dict) and message.get("role") == "user" and (text := text_of(message.get("content"))):
            found.append((place, text))
    return found


def text_of(content: Any) -> str:
    """The text of a user's message; "" where it answers a tool, too."""
    if isinstance(content, str):
        return content.strip()
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""
    return "\n".join(text for block in blocks if isinstance(text := block.get("text"), str)).strip()


def is_asked(dialect: Dialect, body: Json) -> bool:
    """Whether a request ends with what the user said, and not within a loop of tools."""
    said = said_by_user(dialect, body)
    given = body.get(dialect.messages)
    return bool(said) and (said[-1][0] == -1 or said[-1][0] == len(given or ()) - 1)


def with_words(dialect: Dialect, body: Json, words: dict[int, str]) -> Json:
    """A request with words before what the user said, by place."""
    given = body[dialect.messages]
    if isinstance(given, str):
        return body | {dialect.messages: f"{words[-1]}\n\n{given}" if -1 in words else given}
    messages = list(given)
    for place, text in words.items():
        content = messages[place]["content"]
        block = {"type": dialect.text_type, "text": text}
        messages[place] = messages[place] | {
            "content": f"{text}\n\n{content}" if isinstance(content, str) else [block, *content]
        }
    return body | {dialect.messages: messages}


def events(stream: bytes) -> Iterator[Json]:
    """The JSON objects of a stream of server-sent events."""
    for line in stream.splitlines():
        if line.startswith(b"data:"):
            try:
                found = loads(line[5:])
            except ValueError:  # [DONE], or cut off
                continue
            if isinstance(found, dict):
                yield found


# -- what a stream comes to --------------------------------------------------------------------------------------------


def _chat(stream: Iterator[Json]) -> Json | None:
    message: Json = {"role": "assistant", "content": None}
    calls: dict[int, Json] = {}
    ended = False
    for event in stream:
        for choice in event.get("choices") or ():
            if not isinstance(choice, dict) or choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            for name in ("content", "refusal"):
                if isinstance(delta.get(name), str):
                    message[name] = (message.get(name) or "") + delta[name]
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(part.get("index", 0), {"type": "function", "function": {"arguments": ""}})
                call |= {key: value for key, value in part.items() if key in ("id", "type")}
                for key, value in (part.get("function") or {}).items():
                    call["function"][key] = (call["function"].get(key) or "") + (value or "")
            ended = ended or choice.get("finish_reason") is not None
    if calls:
        message["tool_calls"] = [calls[n] for n in sorted(calls)]
    return {"choices": [{"message": message}]} if ended else None


def _responses(stream: Iterator[Json]) -> Json | None:
    for event in stream:
        if event.get("type") in ("response.completed", "response.incomplete") and isinstance(
            event.get("response"), dict
        ):
            return dict(event["response"])
    return None


def _messages(stream: Iterator[Json]) -> Json | None:
    message: Json = {}
    blocks: dict[int, Json] = {}
    inputs: dict[int, str] = {}
    for event in stream:
        match event:
            case {"type": "message_start", "message": dict(begun)}:
                message = {**begun}
            case {"type": "content_block_start", "index": int(n), "content_block": dict(block)}:
                blocks[n] = {**block}
            case {"type": "content_block_delta", "index": int(n), "delta": dict(delta)} if n in blocks:
                for name in ("text", "thinking", "signature"):
                    if isinstance(delta.get(name), str):
                        blocks[n][name] = (blocks[n].get(name) or "") + delta[name]
                if isinstance(delta.get("partial_json"), str):
                    inputs[n] = inputs.get(n, "") + delta["partial_json"]
            case {"type": "message_delta", "delta": dict(delta)}:
                message |= delta
            case {"type": "message_stop"}:
                for n, text in inputs.items():
                    blocks[n]["input"] = loads(text.encode() or b"{}")
                return message | {"content": [blocks[n] for n in sorted(blocks)]}
    return None


DIALECTS = {
    "/chat/completions": Dialect("openai", "messages", "text", _chat),
    "/responses": Dialect("responses", "input", "input_text", _responses),
    "/messages": Dialect("anthropic", "messages", "text", _messages),
}
"""By the end of a path."""
