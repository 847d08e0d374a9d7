"""Turns as a context shows them: quoted, so that nothing that was said can be taken for its frame."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from projections.context.params import ContextParams
from projections.store import Connection
from streams.core.text.within import clip

_TURNS = """
SELECT t.position, t.id, t.role, t.agent, t.content, t.session, epoch_us(t.at), t.tokens, t.parts
FROM turn_recorded t JOIN (SELECT unnest($positions::BIGINT[]) AS position) p ON p.position = t.position
WHERE t.space = $space
"""


@dataclass(slots=True)
class Turn:
    """A turn that may be shown."""

    id: str
    role: str
    agent: str
    content: str
    session: str = ""
    position: int = 0
    at: int = 0
    tokens: int = 0
    """Of the content; 0 where it was not counted."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """The tools it calls: name, and arguments as JSON."""
    written: dict[tuple[Any, ...], tuple[str, str, int]] = field(default_factory=dict)
    """What was worked out of how it is shown."""

    @property
    def speaker(self) -> str:
        """Who speaks, in a word or two: `user ann`, `assistant`."""
        name = " ".join(self.agent.split())[:60]
        return f"{self.role} {name}" if name and name != self.role else self.role


class Turns:
    """The turns of a memory by space and offset. Those read lately are kept: turns never change, and conversations
    come back to the same ones at each answer."""

    def __init__(self, most: int = 2**24) -> None:
        """`most` characters are kept."""
        self._room = most
        self._kept: OrderedDict[tuple[str, int], Turn] = OrderedDict()

    def read(self, connection: Connection, space: str, positions: Sequence[int]) -> dict[int, Turn]:
        """The turns of a space at some offsets, by offset; `connection` tells of those that are not kept."""
        kept = self._kept
        found = {at: kept[space, at] for at in positions if (space, at) in kept}
        read = _read(connection, space, [at for at in positions if at not in found])
        self._room -= sum(map(_size, read.values()))
        for at in positions:
            if turn := read.get(at) or found.get(at):
                kept[space, at] = turn
                kept.move_to_end((space, at))
        while self._room < 0:
            self._room += _size(kept.popitem(last=False)[1])
        return found | read


def _size(turn: Turn) -> int:
    """Characters, about, with what is written of it."""
    return 500 + len(turn.content)


def _read(connection: Connection, space: str, positions: Sequence[int]) -> dict[int, Turn]:
    if not positions:
        return {}
    rows = connection.execute(_TURNS, {"space": space, "positions": list(positions)}).fetchall()
    return {
        at: Turn(id, role, agent, content, session, at, when, size or 0, tool_calls(parts or "[]"))
        for at, id, role, agent, content, session, when, size, parts in rows
    }


def words(turn: Turn, limit: int, params: ContextParams, whole: bool = False) -> str:
    """What a turn says within `limit` tokens, not quoted; unless it is to be `whole`, a tool's output condensed, and a
    call by the tool's name."""
    room = min(limit, params.tool) if turn.role == "tool" and not whole else limit
    said = clip(turn.content, room, turn.id, params.head, turn.tokens)
    if not turn.calls:
        return said
    if whole:
        called = clip(", ".join(f"{name} {given}".strip() for name, given in turn.calls), limit, turn.id, params.head)
    else:
        called = ", ".join(name for name, _ in turn.calls[:8])[:200]
    return f"{said} (calls {called})".strip()


def tool_calls(parts: str) -> list[tuple[str, str]]:
    """The tools that a turn's parts (JSON) call, and with what (JSON); parts of other shapes are passed over."""
    if len(parts) < 3:
        return []
    found = []
    for part in orjson.loads(parts):
        call: Any = part.get("function")
        if not (isinstance(call, dict) and call.get("name")) and part.get("type") in ("tool_use", "tool_call"):
            call = part
        name = call.get("name") if isinstance(call, dict) else None
        if isinstance(name, str) and name:
            given = call.get("arguments") or call.get("input") or ""
            told = given if isinstance(given, str) else orjson.dumps(given).decode()
            found.append((" ".join(name.split()), " ".join(told.split())))
    return found
