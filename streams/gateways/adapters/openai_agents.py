"""A `Session` of the OpenAI Agents SDK that is a session of mnemolog.

    from agents import Agent, Runner
    from streams.gateways.adapters.openai_agents import MnemologSession

    await Runner.run(agent, "Why does the build fail?", session=MnemologSession("chat-7", space="ann"))

| item | in the log |
|---|---|
| any item | a turn: role and words for contexts and recall, the item itself in `parts`, given back as it was |
| an item with an `id` of its own | a turn whose id derives from the item: added again, it adds nothing |
| an item with a `call_id` alone | so until a user speaks again: some models count calls anew in each answer |
| `pop_item`, `clear_session` | retractions (`popped`, `cleared`): history keeps the turns |
| turns that came another way (`Memory.record`, hooks, importers) | items with role and content; tool turns are none |
"""

from __future__ import annotations

from typing import Any

from agents import SessionSettings, TResponseInputItem
from agents.memory.session import SessionABC

from mnemolog import AsyncMemory
from streams.core.halves import whole_text
from streams.gateways.adapters import digest, given, kept, named
from streams.gateways.sources.responses import Item
from streams.gateways.sources.shared import MISFITS

KIND = "openai-agents"
_NAMELESS = ("", None, "__fake_id__")
"""Ids that name no item: the SDK gives the last to what no Responses API made."""


class MnemologSession(SessionABC):
    """The items of one conversation, ordered by when they were recorded; several processes may share it."""

    def __init__(
        self, session_id: str, space: str = "", *, memory: AsyncMemory | None = None, agent: str = "",
        session_settings: SessionSettings | None = None, **how: Any,
    ) -> None:  # fmt: skip
        """`agent` names who answers in it. `memory`, or `space` and `how` it is reached, are as for `AsyncMemory`."""
        self.session_id = session_id
        self._session = named(str(session_id))
        self.session_settings = session_settings or SessionSettings()
        self.memory = memory or AsyncMemory(space, **how)
        self.agent = agent
        self._after = ""

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, all where it is None and the settings name none; the oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        return [item for _, item in reversed(await self._items(limit))]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Records items, durably and in order. Raises RefusedError for one over 8 MiB, and what `Memory.tell` does."""
        ids = {_named_by(item) for item in items}
        # Why: an item that was taken back and comes again is a new turn; one that still stands is the same.
        gone = {row["turn_id"] for row in await self._rows(retracted=True)} if ids - {""} else set()
        spoken = await self._rows(retracted=False, role="user", limit=1) if "call_id" in ids else []
        since = "".join(row["turn_id"] for row in spoken)
        turns = []
        for item in items:
            turn = {"session": self._session} | _said(item, self.agent)
            if name := _name(self._session, item, since):
                turn["id"] = next(one for n in range(len(gone) + 1) if (one := f"{name}-{n}") not in gone)
            if turn["role"] == "user":
                since += "+"
            turns.append(turn)
        if turns:
            self._after = await self.memory.tell(*turns)

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest item back and returns it; None where there is none. Who pops at once gets another."""
        while found := await self._items(1):
            turn, item = found[0]
            taken = await self.memory.retract(self._session, turn, reason="popped")
            self._after = taken["after"]
            if taken["turns"]:
                return item
        return None

    async def clear_session(self) -> None:
        """Takes all items back."""
        if turns := [row["turn_id"] for row in await self._rows(retracted=False)]:
            self._after = (await self.memory.retract(self._session, *turns, reason="cleared"))["after"]

    async def _items(self, limit: int | None) -> list[tuple[str, TResponseInputItem]]:
        """The newest `limit` items, each with its turn; the newest first."""
        rows = await self._rows(retracted=False, limit=limit)
        found = [(row["turn_id"], item) for row in rows if (item := _item(row)) is not None]
        if limit is not None and len(found) < limit == len(rows):  # some of these turns are no items
            return (await self._items(None))[:limit]
        return found

    async def _rows(self, **where: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = await self.memory.ask(
            "view", name="recorded_turns", space=self.memory.memory.space, session=self._session,
            order="position DESC", after=self._after, **where,
        )  # fmt: skip
        return rows


def _named_by(item: Any) -> str:
    """What an item is named by: its `id`, its `call_id`, or "" where it has neither."""
    item = item if isinstance(item, dict) else {}
    return next((key for key in ("id", "call_id") if item.get(key) not in _NAMELESS), "")


def _name(session: str, item: Any, since: str) -> str:
    """What an item that is named is called, by all that it says; "" for others.

    `since` tells when a user spoke last: a `call_id` alone names an item until then.
    """
    key = _named_by(item)
    return f"{KIND}-{digest(session, item, *([since] if key == 'call_id' else []))[:16]}" if key else ""


def _said(item: Any, agent: str) -> dict[str, Any]:
    """The turn that keeps an item."""
    try:
        found = Item(dict(item))
        role, content = found.role, whole_text(found.content)
    except MISFITS:
        role, content = "", ""
    role = role if role in ("user", "assistant", "system", "tool") else "assistant"
    more = {"agent": agent} if agent and role == "assistant" else {}
    return {"role": role, "content": content, "parts": [{"type": KIND} | kept(item)]} | more


def _item(row: dict[str, Any]) -> Any:
    """The item of a turn; None for one that has none."""
    if part := given(row, KIND):
        return part["value"]
    return {"role": row["role"], "content": row["content"]} if row["role"] != "tool" and row["content"] else None
