"""A `ConversationStore` of Pydantic AI over mnemolog.

    from streams.gateways.adapters.pydantic_ai import MnemologConversationStore

    store = MnemologConversationStore("ann")
    conversation = await store.load("chat-7") or Conversation(conversation_id="chat-7")
    await store.save(await agent.run("Why does the build fail?", conversation=conversation))

| | in the log |
|---|---|
| an entry | a turn of the conversation's session: its words, the message in `parts`, and whom it answers |
| a record | a version in the session "pydantic-ai", with an id from the one before: of two that save, one conflicts |
| entries of a save that conflicted | retracted (`cleared`) |
| delete | the record and the turns of its session are retracted (`cleared`) |

What is retracted is no longer shown or recalled, but entries are never lost: forks of a deleted conversation still have
theirs. A branch that a conversation left is not retracted, as it may come back to it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)

from mnemolog import Memory
from streams.core.halves import whole_text
from streams.gateways.adapters import digest, given, kept, named
from streams.gateways.adapters.documents import ChangedError, Document, Documents

KIND = "pydantic-ai"
ENTRY = f"{KIND}-entry"
_ENTRY = TypeAdapter(ConversationEntry)
_RECORD = TypeAdapter(ConversationRecord)
_ROLES = {"user-prompt": "user", "tool-return": "tool", "retry-prompt": "tool"}


class MnemologConversationStore(ConversationStore):
    """The conversations of one space. Threads and processes may share it."""

    def __init__(self, space: str = "", *, memory: Memory | None = None, **how: Any) -> None:
        """`memory`, or `space` and `how` it is reached, are as for `Memory`."""
        self.memory = memory or Memory(space, **how)
        self.records = Documents(self.memory, KIND, lambda record: (KIND, "system", ""))
        self._after = ""

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """The record of a conversation."""
        found = await asyncio.to_thread(self.records.get, conversation_id)
        return _record(found) if found else None

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        """The records, or those of a scope, the last saved first."""
        found = [_record(document) for document in await asyncio.to_thread(self.records.all)]
        found = [record for record in found if scope is None or record.scope == scope]
        return sorted(found, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self, record: ConversationRecord, *, new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:  # fmt: skip
        """Records entries, then the record that points at them. Raises ConversationConflict; again, it adds nothing."""
        await asyncio.to_thread(self._write, record, new_entries, expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Takes a conversation back; the entries that forks of it have stay readable. Raises ConversationConflict."""
        await asyncio.to_thread(self._delete, conversation_id, expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """An entry. Raises KeyError."""
        return _entry(await asyncio.to_thread(self._row, entry_id))

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """The entries up to one, or the last `limit` of them, the oldest first. Raises KeyError."""
        return await asyncio.to_thread(self._history, head_id, limit)

    def _write(self, record: ConversationRecord, entries: Sequence[ConversationEntry], expected: str | None) -> None:
        name = record.conversation_id
        before = self.records.latest(name)
        stored = before.value["revision"] if before and before.stands else None
        if stored == record.revision:
            return
        if stored != expected:
            raise ConversationConflict(name)
        if record.head_id is not None and record.head_id not in [entry.id for entry in entries]:
            try:
                self._row(record.head_id)
            except KeyError:
                raise ConversationConflict(name) from None
        turns = [_turn(entry, name) for entry in entries]
        if turns:
            self._after = self.memory.tell(*turns)
        try:
            self.records.put(_RECORD.dump_python(record, mode="json"), name, before=before)
        except ChangedError:
            self._after = self.memory.retract(named(name), *(turn["id"] for turn in turns), reason="cleared")["after"]
            raise ConversationConflict(name) from None

    def _delete(self, name: str, expected: str) -> None:
        before = self.records.latest(name)
        if before is None or not before.stands or before.value["revision"] != expected:
            raise ConversationConflict(name)
        try:
            self.records.put(None, name, before=before)
        except ChangedError:
            raise ConversationConflict(name) from None
        rows = self._rows(session=named(name), retracted=False)
        turns = [row["turn_id"] for row in rows if given(row, ENTRY)]
        if turns:
            self._after = self.memory.retract(named(name), *turns, reason="cleared")["after"]

    def _history(self, head: str | None, limit: int | None) -> list[ConversationEntry]:
        rows: dict[str, dict[str, Any]] = {}
        found = list[ConversationEntry]()
        while head is not None and (limit is None or len(found) < limit):
            if _name(head) not in rows:  # of this session, or of the one that this was forked from
                rows |= {row["turn_id"]: row for row in self._rows(session=self._row(head)["session"])}
            found.append(_entry(rows[_name(head)]))
            head = found[-1].parent_id
        return found[::-1]

    def _row(self, entry: str) -> dict[str, Any]:
        for row in self._rows(turn_id=_name(entry)):
            return row
        raise KeyError(entry)

    def _rows(self, **where: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.memory.ask(
            "view", name="recorded_turns", space=self.memory.space, after=self._after, **where
        )
        return rows


def _name(entry: str) -> str:
    """The id of the turn of an entry."""
    return f"{ENTRY}-{digest(entry)}"


def _turn(entry: ConversationEntry, conversation: str) -> dict[str, Any]:
    """The turn that keeps an entry."""
    value = _ENTRY.dump_python(entry, mode="json")
    role, content = _said(value["message"])
    return {
        "id": _name(entry.id), "session": named(conversation), "role": role, "content": whole_text(content),
        "reply_to": _name(entry.parent_id) if entry.parent_id is not None else "",
        "parts": [{"type": ENTRY} | kept(value)],
    }  # fmt: skip


def _said(message: dict[str, Any]) -> tuple[str, str]:
    """Who says a message, and its words. A request with a prompt of the user is the user's; results may be JSON."""
    parts = message["parts"]
    if message["kind"] == "response":
        return "assistant", "\n".join(part["content"] for part in parts if part["part_kind"] == "text")
    roles = [_ROLES.get(part["part_kind"], "system") for part in parts]
    role = next((role for role in ("user", "tool") if role in roles), "system")
    contents = [part.get("content") for part, whose in zip(parts, roles, strict=True) if whose == role]
    if role == "tool":
        return role, "\n".join(one if isinstance(one, str) else json.dumps(one) for one in contents)
    words = [one for content in contents for one in (content if isinstance(content, list) else [content])]
    return role, "\n".join(one for one in words if isinstance(one, str))


def _entry(row: dict[str, Any]) -> ConversationEntry:
    part = given(row, ENTRY)
    if part is None:
        raise KeyError(row["turn_id"])
    return _ENTRY.validate_python(part["value"])


def _record(document: Document) -> ConversationRecord:
    return _RECORD.validate_python(document.value)
