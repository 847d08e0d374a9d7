"""OpenAI chat messages: role, content, tool_calls, tool results.

A file holds one conversation (a list of messages, or an object with a list of `messages`), a list of conversations, or
JSON Lines with a conversation or a message a line. The session is the conversation's id, else the file's name.

- `developer` is system, `function` is tool.
- Text of content parts is the turn's content; images, audio and files stay in the turn's parts, as they came.
- Tool calls are parts of the assistant's turn. A tool's result names its call in a part and answers that turn.
- Fields that mnemolog does not know stay in a part of type `fields`: nothing is lost.
- A message without a time has that of the message before, else of its conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from streams.core.edge import MAX_LINE_BYTES, Accepted, Edge, EdgeError, Fault, Reject, parse_json
from streams.gateways.sources import STDIN, Input, Source, bounded_lines

if TYPE_CHECKING:
    from streams.gateways.sources import Item

MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""A larger file must be JSON Lines, which is read line by line; a document is held whole."""

MESSAGES = ("messages", "conversation", "traj", "trajectory", "history")
"""Where an object keeps its messages."""
SESSION = ("session", "session_id", "conversation_id", "thread_id", "chat_id")
"""Where a message or a conversation names its session; of a conversation also `id`."""
TIMES = ("created_at", "timestamp", "created", "at", "time")
_NEITHER = "is neither a message (with a role) nor a conversation (with messages)"
_ROLES = {"developer": "system", "function": "tool"}
_KNOWN = frozenset(
    ("role", "content", "name", "tool_calls", "function_call", "tool_call_id", "refusal", "id", "reply_to", "space")
).union(SESSION, TIMES)

Json = dict[str, Any]


def read(given: Input, edge: Edge) -> Iterator[Item]:
    """The turns of all conversations in a file."""
    chats = _Chats(given, edge)
    first = b"" if given.name.lower().endswith(".json") else given.stream.readline(MAX_LINE_BYTES)
    if first.strip() in (b"", b"[", b"{"):
        yield from _read_document(chats, first)
    else:
        yield from _read_lines(chats, first)


def _read_document(chats: _Chats, head: bytes) -> Iterator[Item]:
    """A file that is one JSON value; or, whatever its name says, JSON Lines."""
    head += chats.given.stream.read(MAX_DOCUMENT_BYTES + 1)
    if not head.strip():
        return
    first = head.partition(b"\n")[0]
    try:
        if len(head) > MAX_DOCUMENT_BYTES:
            raise EdgeError([Fault("file", "is over 256 MiB in one JSON value; make it JSON Lines (`jq -c '.[]'`)")])
        value = parse_json(head)
    except EdgeError as error:
        if _is_json(first):
            chats.given.stream.seek(0)
            yield from _read_lines(chats, b"")
        else:
            # Why no bytes where there is a file: what has to be mended is that file.
            yield Reject(chats.given.name, 0, head if chats.given.name == STDIN else b"", error.faults)
    else:
        del head
        yield from chats.conversations(value, 0)


def _is_json(raw: bytes) -> bool:
    try:
        return isinstance(parse_json(raw), (dict, list))
    except EdgeError:
        return False


def _read_lines(chats: _Chats, first: bytes) -> Iterator[Item]:
    for found in bounded_lines(chats.given, first):
        if isinstance(found, Reject):
            yield found
            continue
        number, raw = found
        try:
            value = parse_json(raw)
        except EdgeError as error:
            yield Reject(chats.given.name, number, raw, error.faults)
        else:
            yield from chats.conversations(value, number, raw)


class _Chats:
    """The conversations of one file."""

    def __init__(self, given: Input, edge: Edge) -> None:
        self.given = given
        self.edge = edge
        self.loose: dict[str, _Chat] = {}
        """Of messages that stand alone, one a line."""

    def conversations(self, value: object, line: int, raw: bytes = b"") -> Iterator[Item]:
        """The turns in a JSON value: a message, a conversation, or a list of either. `line` is 0 in a document."""
        # Why 1 too: a document written on one line is the same document.
        session = self.given.session if line <= 1 else self._numbered(line)
        if isinstance(value, dict) and "role" in value:
            yield self._message(value, self._loose(value), line, "", raw)
        elif isinstance(value, dict) and isinstance(value.get("conversations"), list):
            yield from self._list(value["conversations"], line)
        elif isinstance(value, dict):
            yield from self._conversation(value, session, line, "")
        elif isinstance(value, list) and any(isinstance(item, dict) and "role" in item for item in value):
            yield from self._messages(value, _Chat(session, {}), line, "")
        elif isinstance(value, list):
            yield from self._list(value, line)
        else:
            yield Reject(self.given.name, line, raw, [Fault("line", _NEITHER)])

    def _loose(self, message: Json) -> _Chat:
        name = _named(message, SESSION) or self.given.session
        return self.loose.setdefault(name, _Chat(name, {}))

    def _list(self, values: list[Any], line: int) -> Iterator[Item]:
        for n, value in enumerate(values):
            session = self._numbered(n + 1)
            if isinstance(value, list):
                yield from self._messages(value, _Chat(session, {}), line, f"[{n}]")
            elif isinstance(value, dict):
                yield from self._conversation(value, session, line, f"[{n}]")
            else:
                yield self._reject(value, line, [Fault(f"[{n}]", _NEITHER)])

    def _numbered(self, number: int) -> str:
        return f"{self.given.session}-{number}"

    def _conversation(self, value: Json, session: str, line: int, place: str) -> Iterator[Item]:
        found = next((value[name] for name in MESSAGES if isinstance(value.get(name), list)), None)
        if found is None:
            yield self._reject(value, line, [Fault(f"{place}.messages".lstrip("."), f"is missing: this {_NEITHER}")])
        else:
            chat = _Chat(_named(value, (*SESSION, "id")) or session, value)
            yield from self._messages(found, chat, line, place)

    def _messages(self, messages: list[Any], chat: _Chat, line: int, place: str) -> Iterator[Item]:
        for n, message in enumerate(messages):
            yield self._message(message, chat, line, f"{place}[{n}]", b"")

    def _message(self, message: Any, chat: _Chat, line: int, place: str, raw: bytes) -> Item:
        raw = raw or _dumped(chat.alone(message))
        try:
            fields = chat.turn(message)
            event = self.edge.event(fields)
        except EdgeError as error:
            faults = [Fault(f"{place}.{fault.field}".strip("."), fault.reason) for fault in error.faults]
            return Reject(self.given.name, line, raw, faults)
        chat.recorded(fields, event.id)
        return Accepted(self.given.name, line, raw, event)

    def _reject(self, value: object, line: int, faults: list[Fault]) -> Reject:
        return Reject(self.given.name, line, _dumped(value), faults)


def _dumped(value: object) -> bytes:
    """A value as a line that can be mended and fed again; nothing for one that nests too deep to be written."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return b""


def _named(value: Json, keys: tuple[str, ...]) -> str:
    """The name under the first of `keys` that holds one."""
    return next((str(value[k]) for k in keys if isinstance(value.get(k), (str, int)) and value[k] != ""), "")


class _Chat:
    """One conversation while its messages are read."""

    def __init__(self, session: str, about: Json) -> None:
        self.session = session
        self.space = about.get("space")
        self.at = _time(about)
        self.calls: dict[str, tuple[str, str]] = {}
        """Turn and tool name of each tool call."""

    def alone(self, message: object) -> Json:
        """A conversation of this message only, which keeps what the message owes to the conversation."""
        about = {"session": self.session, "space": self.space, "created_at": self.at}
        return {key: value for key, value in about.items() if value is not None} | {"messages": [message]}

    def turn(self, message: Any) -> Json:
        """The fields of the turn that a message is. Raises EdgeError."""
        if not isinstance(message, dict):
            raise EdgeError([Fault("", "is no message: an object with a role and content is expected")])
        role = message.get("role")
        content, parts = _content(message)
        calls = _calls(message)
        parts += calls
        fields: Json = {
            "space": message.get("space", self.space),
            "session": _named(message, SESSION) or self.session,
            "role": _ROLES.get(role, role) if isinstance(role, str) else role,
            "content": content,
            "at": self._moment(message),
            "id": self._id(message),
            "reply_to": message.get("reply_to"),
        }
        if fields["role"] == "tool":
            parts.append(self._result(message, fields))
        elif message.get("name"):
            fields["agent"] = message["name"]
        if rest := {
            key: value for key, value in message.items() if key not in _KNOWN and value not in (None, [], {}, "message")
        }:
            parts.append({"type": "fields", "fields": rest})
        fields["parts"] = parts
        return fields

    def recorded(self, fields: Json, turn: str) -> None:
        """Remembers the tool calls of a turn, for their results, and its time, for what follows."""
        self.at = fields["at"]
        for part in fields["parts"]:
            if isinstance(part.get("id"), str) and isinstance(part.get("function"), dict):
                self.calls[part["id"]] = (turn, str(part["function"].get("name", "")))

    def _moment(self, message: Json) -> str | int | None:
        own = _time(message)
        return self.at if own is None else own

    def _id(self, message: Json) -> object:
        """A message's id. Numbers count within their conversation, and are told apart by it."""
        own = message.get("id")
        return f"{self.session}/{own}" if isinstance(own, int) and not isinstance(own, bool) else own

    def _result(self, message: Json, fields: Json) -> Json:
        call = message.get("tool_call_id")
        turn, name = self.calls.get(call, ("", "")) if isinstance(call, str) else ("", "")
        fields["reply_to"] = fields["reply_to"] or turn
        said = {"type": "tool_result", "tool_call_id": call, "name": message.get("name") or name}
        return {key: value for key, value in said.items() if value}


def _content(message: Json) -> tuple[Any, list[Any]]:
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
        raise EdgeError([Fault(f"content[{n}]", "must be an object with a type")])
    if part.get("type") in ("text", "input_text", "output_text", "refusal"):
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            raise EdgeError([Fault(f"content[{n}].text", "must be text")])
        return text
    return None


def _calls(message: Json) -> list[Any]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise EdgeError([Fault("tool_calls", "must be a list of objects")])
    old = message.get("function_call")
    return [*calls, *([{"type": "function", "function": old}] if isinstance(old, dict) else [])]


def _time(value: Json) -> str | int | None:
    """When a message or conversation says it was: ISO 8601, or UTC microseconds of a Unix time."""
    said = next((value[name] for name in TIMES if value.get(name) is not None), None)
    if isinstance(said, str) and _is_number(said):
        said = float(said)
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        return said if said is None or isinstance(said, str) else ascii(said)[:60]
    return _micros(said)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _micros(number: float) -> str | int:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970 are told apart by size (from 1973 to 5138)."""
    for limit, unit in ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1)):
        if abs(number) < limit:
            return round(number * unit)
    return round(number / 1000)


SOURCE = Source(
    "openai", "OpenAI chat messages: a file or folder of conversations", (".json", ".jsonl", ".ndjson"), read
)
