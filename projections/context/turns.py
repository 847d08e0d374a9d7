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
    calls: list[str] = field(default_factory=list)
    """Names of the tools it calls."""
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


def words(turn: Turn, limit: int, params: ContextParams) -> str:
    """What a turn says within `limit` tokens, not quoted: a tool's output condensed, a call by the tool's name."""
    room = min(limit, params.tool) if turn.role == "tool" else limit
    said = clip(turn.content, room, turn.id, params.head, turn.tokens)
    called = f"(calls {', '.join(turn.calls[:8])[:200]})" if turn.calls else ""
    return f"{said} {called}".strip()


def tool_calls(parts: str) -> list[str]:
    """Names of the tools that a turn's parts (JSON) call; parts of other shapes are passed over."""
    if len(parts) < 3:
        return []
    found = []
    for part in orjson.loads(parts):
        function: Any = part.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if part.get("type") in ("tool_use", "tool_call"):
            name = name or part.get("name")
        if isinstance(name, str) and name:
            found.append(" ".join(name.split()))
    return found
