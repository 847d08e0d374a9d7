"""ShareGPT: conversations of training sets.

| in the file | in the log |
|---|---|
| `conversations` (or `conversation`), `id` | turns, `session` |
| `from` human, gpt, system, tool, observation, function_response | `role` |
| `from` function_call | an assistant turn with the call as a part |
| `value` | `content` |
| what is not known | a part of type `fields` |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Source
from streams.gateways.sources.chats import Chat, Dialect, lists, reading
from streams.gateways.sources.shared import JSON_SUFFIXES, Fields, Unfit, fields_part, words

_ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant", "assistant": "assistant",
    "model": "assistant", "bing": "assistant", "bard": "assistant", "system": "system", "tool": "tool",
    "observation": "tool", "function_response": "tool", "function_call": "assistant",
}  # fmt: skip


class Conversation(Chat):
    """A conversation of values."""

    def turns(self, message: Any) -> Iterator[Fields]:
        """The turn that a value is."""
        if not isinstance(message, dict):
            raise Unfit("", "is no message: an object with from and value is expected")
        who = message.get("from")
        if who not in _ROLES:
            raise Unfit("from", f"is {str(who)[:60]!r}; must be one of {', '.join(_ROLES)}")
        rest = fields_part(message, words("from value"))
        if who == "function_call":
            yield self.turn("assistant", "", [{"type": "function_call", "value": message["value"]}, *rest])
        else:
            yield self.turn(_ROLES[who], message.get("value"), rest)


SOURCE = Source(
    "sharegpt",
    "ShareGPT conversations",
    JSON_SUFFIXES,
    reading(
        Dialect(
            Conversation,
            lists("conversations", "conversation", "items"),
            lambda value: "from" in value and "value" in value,
            nouns=("from", "conversations"),
        )
    ),
    (r'"from"\s*:\s*"(human|gpt|system|user|assistant|chatgpt)"', r'"value"\s*:'),
)
