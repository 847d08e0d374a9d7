"""Gemini contents: requests and responses of the Gemini API, in JSON's or in Python's spelling.

| in the file | in the log |
|---|---|
| `systemInstruction`, `contents`, and the `content` of the first of `candidates` | turns |
| role model | assistant |
| `text` | `content`; with `thought` a part |
| `functionCall` | a part |
| `functionResponse` | a tool turn that answers the call of its `id`, else the first open one of its name |
| `inlineData`, `fileData`, code and every other part | parts, as they are |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Source
from streams.gateways.sources.chats import SESSION, TIMES, Chat, Dialect, reading, time_of
from streams.gateways.sources.responses import output_of
from streams.gateways.sources.shared import JSON_SUFFIXES, Fields, Json, Unfit, fields_part

_KNOWN = frozenset(("role", "parts", *SESSION, *TIMES))


class Contents(Chat):
    """A conversation of contents."""

    def turns(self, message: Any) -> Iterator[Fields]:
        """The turns of a content: what functions gave, and what was said."""
        if not isinstance(message, dict):
            raise Unfit("", "is no content: an object with parts is expected")
        self.at = self.at if time_of(message) is None else time_of(message)
        texts: list[str] = []
        parts: list[Json] = []
        for part in message["parts"]:
            response = part.get("functionResponse", part.get("function_response"))
            if isinstance(response, dict):
                yield self._result(part, response)
            elif isinstance(part.get("text"), str) and not part.get("thought"):
                texts.append(part["text"])
            else:
                parts.append({key: value for key, value in part.items() if value is not None})
        if texts or parts:
            role = {"model": "assistant", "function": "tool"}.get(message.get("role", "user"), message.get("role"))
            yield self.turn(role or "user", "\n".join(texts), parts + fields_part(message, _KNOWN))

    def _result(self, part: Json, response: Json) -> Fields:
        name = str(response.get("name"))
        key = next((key for key in (str(response.get("id")), name) if key in self.calls), "")
        if not key:
            key = next((key for key, (_, tool) in self.calls.items() if tool == name), "")
        turn, _ = self.calls.pop(key, ("", ""))
        content, _ = output_of(response.get("response"))
        return self.turn("tool", content, [part], **({"reply_to": turn} if turn else {}))

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id (else a number) and the name of a call."""
        call = part.get("functionCall", part.get("function_call"))
        return (str(call.get("id") or f"#{len(self.calls)}"), str(call.get("name"))) if isinstance(call, dict) else None


def messages_of(value: Json) -> list[Any] | None:
    """The contents of a request and what was answered."""
    found, any_ = list[Any](), False
    for one in (value.get("request"), value, value.get("response")):
        if not isinstance(one, dict):
            continue
        system = one.get("systemInstruction", one.get("system_instruction"))
        if isinstance(system, (dict, str)):
            parts = [{"text": system}] if isinstance(system, str) else system.get("parts", [])
            found.append({"role": "system", "parts": parts})
        contents, candidates = one.get("contents", one.get("history")), one.get("candidates")
        if isinstance(contents, list):
            any_ = True
            found += [{"role": "user", "parts": [{"text": c}]} if isinstance(c, str) else c for c in contents]
        if isinstance(candidates, list) and candidates and isinstance(candidates[0].get("content"), dict):
            any_ = True
            found.append(candidates[0]["content"])
    return found if any_ else None


def _said(message: Any) -> object:
    signatures = ("thoughtSignature", "thought_signature")
    return [message.get("role"), [{k: v for k, v in part.items() if k not in signatures} for part in message["parts"]]]


SOURCE = Source(
    "gemini",
    "Gemini contents: requests and responses",
    JSON_SUFFIXES,
    reading(Dialect(Contents, messages_of, lambda value: "parts" in value, _said, ("parts", "contents"))),
    (r'"parts"\s*:\s*\[', r'"role"\s*:\s*"(user|model)"', r'"(contents|candidates)"\s*:|^\s*[\[{][^"]*"(role|parts)"'),
)
