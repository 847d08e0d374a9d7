"""Lists of messages, in any dialect: the shapes in which files hold them, and histories that are sent again.

A file holds one conversation (a list of messages, or an object with one), a list of conversations, or JSON Lines with a
conversation or a message a line. The session is the conversation's id, else the file's name, numbered where it holds
several.

Requests to a model repeat all that was said before. A conversation with an id adds what was not in it yet, in this file
or another; one without continues the conversation of its file that it begins with as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from streams.gateways.sources import Input
from streams.gateways.sources.shared import MISFITS, Fields, Json, Unfit, dumped, misfit, moment, name_of, values

if TYPE_CHECKING:
    from streams.core.edge import Edge, Reject
    from streams.gateways.sources import Item, Reader

SESSION = ("session", "session_id", "conversation_id", "thread_id", "chat_id")
"""Where a message or a conversation names its session; of a conversation also `id`."""
TIMES = ("created_at", "timestamp", "created", "at", "time")
KEPT = 1000
"""Conversations whose calls and time are remembered, for what continues them."""
_NEITHER = "is neither a message (with a {}) nor a conversation (with {})"


def named(value: Json, keys: tuple[str, ...]) -> str:
    """The name under the first of `keys` that holds one."""
    return next((str(value[k]) for k in keys if isinstance(value.get(k), (str, int)) and value[k] != ""), "")


def time_of(value: Json) -> str | int | None:
    """When a message or conversation says it was."""
    return moment(next((value[name] for name in TIMES if value.get(name) is not None), None))


class Chat:
    """One conversation while its messages are read. A dialect tells in `turns` what a message is."""

    def __init__(self, session: str, about: Json, given: Input) -> None:
        self.session = session
        self.space = about.get("space")
        self.at = time_of(about)
        self.given = given
        self.calls: dict[str, tuple[str, str]] = {}
        """Turn and tool name of each tool call."""
        self.said: list[str] = []
        """The turns, in order."""

    def turns(self, message: Any) -> Iterable[Fields]:
        """The turns that a message is. May raise what MISFITS names, and EdgeError."""
        raise NotImplementedError

    def turn(self, role: Any, content: Any, parts: list[Json], **more: Any) -> Fields:
        """The fields of a turn of this conversation."""
        fields: Fields = {"session": self.session, "role": role, "content": content, "at": self.at, "parts": parts}
        return fields | ({"space": self.space} if self.space is not None else {}) | more

    def result(self, call: object, name: str, content: Any, parts: list[Json], **more: Any) -> Fields:
        """The fields of a tool's result, which answers the turn of its call."""
        turn, tool = self.calls.get(call, ("", "")) if isinstance(call, str) else ("", "")
        part = {"type": "tool_result", "tool_call_id": call, "name": name or tool}
        parts = [*parts, {key: value for key, value in part.items() if value}]
        return self.turn("tool", content, parts, **({"reply_to": turn} if turn else {}), **more)

    def called(self, part: Json) -> tuple[str, str] | None:
        """The id and tool name of a call that is a part of a turn; None for another part."""
        return None

    def recorded(self, fields: Fields, turn: str) -> None:
        """Remembers the tool calls of a turn, for their results, and its time, for what follows."""
        self.at = fields["at"]
        self.said.append(turn)
        for part in fields["parts"]:
            if isinstance(part, dict) and (call := self.called(part)):
                self.calls[call[0]] = (turn, call[1])


class Dialect(NamedTuple):
    """What conversations look like."""

    chat: Callable[[str, Json, Input], Chat]
    messages: Callable[[Json], list[Any] | None]
    """The messages that an object holds; None for an object that holds none."""
    is_message: Callable[[Json], bool]
    said: Callable[[Any], object] = lambda message: message
    """What makes a message the same when it is sent again."""
    nouns: tuple[str, str] = ("role", "messages")
    """What tells a message and a conversation, in words."""
    unpacked: Callable[[Any], Iterable[Json | Unfit] | None] = lambda value: None
    """The conversations that a value of another kind holds, and what is wrong with others; None for no such value."""


def lists(*keys: str) -> Callable[[Json], list[Any] | None]:
    """Conversations that are the list under the first of `keys` that has one."""
    return lambda value: next((value[key] for key in keys if isinstance(value.get(key), list)), None)


def reading(dialect: Dialect) -> Reader:
    """A reader of conversations in a dialect."""

    def read(given: Input, edge: Edge) -> Iterator[Item]:
        from streams.core.edge import Fault, Reject

        chats, whole, count = _Chats(dialect, given, edge), list[Any](), 0
        for found in values(given):
            if isinstance(found, Reject):
                yield found
                continue
            try:
                inner = dialect.unpacked(found.value)
                unpacked = None if inner is None else list(inner)
            except MISFITS as error:
                fault = Fault(misfit(error).field, misfit(error).reason)
                yield Reject(given.name, found.line, found.raw, [fault])
                continue
            if unpacked is not None:
                for one in unpacked:
                    if isinstance(one, Unfit):
                        yield Reject(given.name, found.line, dumped(one.value), [Fault(one.field, one.reason)])
                        continue
                    yield from chats.element(count, one, found.line)
                    count += 1
            elif found.number < 0:
                yield from chats.conversations(found.value, found.line, found.raw)
            elif whole or (found.number == 0 and chats.is_message(found.value)):
                whole.append(found.value)
            else:
                yield from chats.element(found.number, found.value, 0)
        if whole:
            yield from chats.list_of_messages(whole, 0)

    return read


class _Chats:
    """The conversations of one file."""

    def __init__(self, dialect: Dialect, given: Input, edge: Edge) -> None:
        self.dialect = dialect
        self.given = given
        self.edge = edge
        self.loose: dict[str, Chat] = {}
        """Of messages that stand alone, one a line."""
        self.open: dict[str, Chat] = {}
        """The conversations read last."""
        self.ends: dict[int, str] = {}
        """From the hash of all that was said in a conversation without an id to its session."""
        self.seen: set[int] = set()
        """Hashes of how conversations with an id began, to each of their messages."""

    def is_message(self, value: object) -> bool:
        """Whether a value is a message."""
        return isinstance(value, dict) and self.dialect.is_message(value)

    def conversations(self, value: Any, line: int, raw: bytes) -> Iterator[Item]:
        """The turns in a JSON value: a message, a conversation, or a list of either."""
        # Why 1 too: a document written on one line is the same document.
        session = self.given.session if line <= 1 else self._numbered(line)
        if self.is_message(value):
            yield from self._message(value, self._loose(value), line, "", raw, self.edge)
        elif isinstance(value, dict) and self._held(value) is None and self._inner(value) is not None:
            for n, one in enumerate(self._inner(value) or []):
                yield from self.element(n, one, line)
        elif isinstance(value, dict):
            yield from self._conversation(value, session, line, "", raw)
        elif isinstance(value, list) and any(map(self.is_message, value)):
            yield from self.list_of_messages(value, line)
        elif isinstance(value, list):
            for n, one in enumerate(value):
                yield from self.element(n, one, line)
        else:
            yield self._reject(raw, line, "line")

    def list_of_messages(self, messages: list[Any], line: int) -> Iterator[Item]:
        """The turns of a conversation that is a list of messages and nothing else."""
        session = self.given.session if line <= 1 else self._numbered(line)
        yield from self._messages(messages, "", session, {}, line, "")

    def element(self, n: int, value: Any, line: int) -> Iterator[Item]:
        """The turns of the nth of several conversations."""
        session = self._numbered(n + 1)
        if isinstance(value, list):
            yield from self._messages(value, "", session, {}, line, f"[{n}]")
        elif isinstance(value, dict):
            yield from self._conversation(value, session, line, f"[{n}]", b"")
        else:
            yield self._reject(dumped(value), line, f"[{n}]")

    def _held(self, value: Json) -> list[Any] | None:
        """The messages that an object holds; None for one that holds none."""
        try:
            return self.dialect.messages(value)
        except MISFITS:
            return None

    def _inner(self, value: Json) -> list[Any] | None:
        inner = value.get("conversations")
        return inner if isinstance(inner, list) else None

    def _loose(self, message: Json) -> Chat:
        name = name_of(named(message, SESSION) or self.given.session)
        return self.loose.setdefault(name, self.dialect.chat(name, {}, self.given))

    def _numbered(self, number: int) -> str:
        return f"{self.given.session}-{number}"

    def _conversation(self, value: Json, session: str, line: int, place: str, raw: bytes) -> Iterator[Item]:
        found = self._held(value)
        if found is None:
            field = f"{place}.{self.dialect.nouns[1]}".lstrip(".")
            yield self._reject(raw or dumped(value), line, field, "is missing: this ")
        else:
            own = name_of(named(value, (*SESSION, "id")))
            yield from self._messages(found, own, session, value, line, place)

    def _messages(
        self, messages: list[Any], own: str, session: str, about: Json, line: int, place: str
    ) -> Iterator[Item]:
        session, known = self._known(messages, own, session)
        chat = self.open.pop(session, None) if known else None
        if chat and (at := time_of(about)) is not None:
            chat.at = at
        chat = chat or self.dialect.chat(session, about, self.given)
        self.open[session] = chat
        if len(self.open) > KEPT:
            self.open.pop(next(iter(self.open)))
        edge = self.edge.within(own) if own else self.edge
        for n, message in enumerate(messages[known:], known):
            yield from self._message(message, chat, line, f"{place}[{n}]", b"", edge)

    def _known(self, messages: list[Any], own: str, session: str) -> tuple[str, int]:
        """The session of a conversation, and how many of its messages were read before."""
        said, hashes = hash(own), []
        for message in messages:
            try:
                key = orjson.dumps(self.dialect.said(message), default=str)
            except MISFITS:
                key = dumped(message)
            said = hash((said, key))
            hashes.append(said)
        if own:
            known = next((n for n in range(len(hashes), 0, -1) if hashes[n - 1] in self.seen), 0)
            self.seen.update(hashes[known:])
            return own, known
        known = next((n for n in range(len(hashes) - 1, 0, -1) if hashes[n - 1] in self.ends), 0)
        if known:
            session = self.ends[hashes[known - 1]]
        if hashes:
            self.ends.setdefault(hashes[-1], session)
        return session, known

    def _message(self, message: Any, chat: Chat, line: int, place: str, raw: bytes, edge: Edge) -> Iterator[Item]:
        from streams.core.edge import Accepted, EdgeError, Fault, Reject

        raw = raw or dumped(self._alone(message, chat))
        faults: list[Fault] = []
        try:
            for fields in chat.turns(message):
                event = edge.event(fields)
                yield Accepted(self.given.name, line, raw, event, bool(fields.get("id")))
                if "role" in fields:
                    chat.recorded(fields, event.id)
        except EdgeError as error:
            faults = error.faults
        except MISFITS as error:
            faults = [Fault(misfit(error).field, misfit(error).reason)]
        if faults:
            faults = [Fault(f"{place}.{fault.field}".strip("."), fault.reason) for fault in faults]
            yield Reject(self.given.name, line, raw, faults)

    def _alone(self, message: object, chat: Chat) -> Json:
        """A conversation of this message only, which keeps what the message owes to the conversation."""
        about = {"session": chat.session, "space": chat.space, "created_at": chat.at}
        return {key: value for key, value in about.items() if value is not None} | {"messages": [message]}

    def _reject(self, raw: bytes, line: int, field: str, before: str = "") -> Reject:
        from streams.core.edge import Fault, Reject

        return Reject(self.given.name, line, raw, [Fault(field, before + _NEITHER.format(*self.dialect.nouns))])
