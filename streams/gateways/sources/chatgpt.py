"""ChatGPT exports: `conversations.json` (or `conversations-000.json` and so on), also within the export's zip.

| in the file | in the log |
|---|---|
| `conversation_id`, else `id` | `session` |
| each node's `message`, from the root down | a turn; nodes without words, code or parts are none |
| `message.id` | `id` |
| `author.role`, `author.name` | `role`; `agent` of tools |
| a message that is hidden (`weight` 0, `is_visually_hidden_from_conversation`) | a system turn |
| `parts` that are text, `text` of code and of what it gave | `content` |
| `recipient` other than `all` | a tool call: a part with the recipient and what it was sent |
| images, thoughts, and every other content | parts |
| siblings that do not lead to `current_node` (edited, asked for again) | turns with `turn-retracted` |
| `create_time` | `at`, else that of the message before, else of the conversation |
| `title`, with the first turn; `metadata` and what is not known | a part of type `fields` |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streams.gateways.sources import Input, Source
from streams.gateways.sources.shared import Fields, Json, Unfit, exported, fields_part, mapped, moment, name_of, words

_MESSAGE = words("id author create_time content weight recipient status end_turn update_time")
_SPOKEN = ("text", "multimodal_text")


def _mapping(given: Input) -> Any:
    return lambda value: _conversation(value, given)


def _conversation(value: Any, given: Input) -> Iterator[Fields]:
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        raise Unfit("mapping", "is missing: a conversation has a mapping of nodes")
    nodes = value["mapping"]
    session = name_of(value.get("conversation_id") or value.get("id"), given.session)
    parents = {id_: node.get("parent") for id_, node in nodes.items()}
    at = moment(value.get("create_time"))

    def turn_of(id_: str) -> Fields | None:
        nonlocal at
        message = nodes[id_].get("message")
        turn = _turn(message, name_of(message.get("id") or id_), session) if message else None
        if turn is not None:
            at = at if message.get("create_time") is None else moment(message["create_time"])
            turn["at"] = at
        return turn

    yield from exported(given, {"title": value.get("title")}, parents, value.get("current_node"), turn_of)


def _turn(message: Json, id_: str, session: str) -> Fields | None:
    author, content = message.get("author") or {}, message.get("content") or {}
    kind, role = content.get("content_type"), author.get("role")
    texts, parts = _said(content, kind)
    about = message.get("metadata") or {}
    if message.get("recipient") not in (None, "all"):
        parts = [{"type": "tool_call", "recipient": message["recipient"], **content}, *parts]
        texts = []
    if not texts and not parts:
        return None
    if message.get("weight") == 0 or about.get("is_visually_hidden_from_conversation"):
        role = "system"
    parts += fields_part(message, _MESSAGE)
    turn: Fields = {"id": id_, "session": session, "role": role, "content": "\n".join(texts), "parts": parts}
    return turn | ({"agent": name_of(author["name"])} if author.get("name") else {})


def _said(content: Json, kind: object) -> tuple[list[str], list[Json]]:
    """The words of a message, and what else its content is."""
    if kind in _SPOKEN:
        pieces = content.get("parts") or []
        texts = [piece for piece in pieces if isinstance(piece, str) and piece]
        return texts, [piece for piece in pieces if isinstance(piece, dict)]
    if kind in ("code", "execution_output") and isinstance(content.get("text"), str):
        return [content["text"]] if content["text"] else [], fields_part(content, words("content_type text"))
    rest = {key: value for key, value in content.items() if key != "content_type" and value not in (None, "", [], {})}
    return [], [{"type": str(kind), **rest}] if rest else []


SOURCE = Source(
    "chatgpt",
    "ChatGPT exports",
    (".json",),
    mapped(_mapping),
    (r'"mapping"\s*:\s*\{', r'"(author|current_node|children|create_time)"\s*:'),
)
