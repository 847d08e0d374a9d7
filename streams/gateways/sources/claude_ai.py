"""Claude.ai exports: `conversations.json`, also within the export's zip.

| in the file | in the log |
|---|---|
| `uuid` of the conversation | `session` |
| `chat_messages` | turns |
| `uuid` of a message | `id` |
| `sender` human, assistant | roles user, assistant |
| text blocks of `content`; `text` where there are none | `content` |
| every other block, `attachments` with their text, `files` | parts |
| `parent_message_uuid`: messages that do not lead to the newest one (edited, asked for again) | `turn-retracted` |
| `created_at` | `at` |
| `name`, with the first turn; what is not known | a part of type `fields` |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Input, Source
from streams.gateways.sources.shared import Fields, Json, Unfit, blocks, exported, fields_part, mapped, name_of, words

_MESSAGE = words("uuid sender text content created_at updated_at attachments files parent_message_uuid")
_ROLES = {"human": "user"}


def _mapping(given: Input) -> Any:
    return lambda value: _conversation(value, given)


def _conversation(value: Any, given: Input) -> Iterator[Fields]:
    if not isinstance(value, dict) or not isinstance(value.get("chat_messages"), list):
        raise Unfit("chat_messages", "is missing: a conversation has a list of messages")
    messages = {message["uuid"]: message for message in value["chat_messages"]}
    session = name_of(value.get("uuid"), given.session)
    parents: dict[str, Any] = {}
    for before, id_ in zip([None, *messages], messages, strict=False):
        parents[id_] = messages[id_].get("parent_message_uuid", before)
    newest = value.get("current_leaf_message_uuid") or next(reversed(messages), None)
    about = {"name": value.get("name")}
    yield from exported(given, about, parents, newest, lambda id_: _turn(messages[id_], session))


def _turn(message: Json, session: str) -> Fields | None:
    texts, parts = blocks(message.get("content") or [])
    content = "\n".join(filter(None, texts)) or message.get("text") or ""
    parts += [{"type": "attachment", **one} for one in message.get("attachments") or []]
    parts += [{"type": "file", **one} for one in message.get("files") or []]
    if not content and not parts:
        return None
    role = _ROLES.get(message["sender"], message["sender"])
    turn: Fields = {"id": name_of(message["uuid"]), "session": session, "role": role, "content": content}
    return turn | {"at": message.get("created_at"), "parts": parts + fields_part(message, _MESSAGE)}


SOURCE = Source(
    "claude-ai",
    "Claude.ai exports",
    (".json",),
    mapped(_mapping),
    (r'"chat_messages"\s*:\s*\[',),
)
