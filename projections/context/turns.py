"""Turns as a context shows them: quoted, so that nothing that was said can be taken for its frame."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from projections.context.params import ContextParams
from projections.store import Connection
from projections.tables import Folded, as_json
from streams.core.events import TurnRecorded, iso
from streams.core.text.within import clip

_TURNS = """
SELECT t.position, t.id, t.role, t.agent, t.content, t.session, epoch_us(t.at), t.tokens, t.parts
FROM turn_recorded t JOIN (SELECT unnest($positions::BIGINT[]) AS position) p ON p.position = t.position
WHERE t.space = $space
"""


READ = 8_000
"""Characters of a turn in which figures are looked for."""
_FIGURE = re.compile(r"[^\W\d]*\d(?:[\w.:,/@#+-]{0,60}\w)?")


@dataclass
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
    _figures: list[str] | None = None
    _when: str = ""

    # Why no cached_property: in Python 3.11 it takes a lock, which costs as much as all else that is asked of a turn.

    @property
    def figures(self) -> list[str]:
        """Ids, dates and amounts that it says, or calls a tool with: words with digits, once each, in their order."""
        if self._figures is None:
            said = " ".join((self.content, *(given for _, given in self.calls)))
            self._figures = list(dict.fromkeys(found for found in _FIGURE.findall(said[:READ]) if len(found) > 2))
        return self._figures

    @property
    def when(self) -> str:
        """`at` as people and machines read it."""
        if not self._when:
            self._when = iso(self.at)
        return self._when

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
        self._ahead: dict[Folded, dict[tuple[str, int], Turn]] = {}
        self._fresh: dict[tuple[str, int], Turn] = {}
        """Those that lie in no table yet: by what was folded together, and all of them."""

    def take(self, ahead: Sequence[Folded]) -> None:
        """Is told of all that lies in no table yet."""
        for page in [page for page in self._ahead if page not in ahead]:
            turns = self._ahead.pop(page)
            self._keep(turns)
            for place in turns:
                del self._fresh[place]
        for page in ahead:
            if page not in self._ahead:
                rows = [(at, raw.event, raw.text.tokens) for _, at, raw in page.raw.get(TurnRecorded, ())]
                turns = {(event.space, at): _turn_of(event, at, tokens) for at, event, tokens in rows}
                self._ahead[page] = turns
                self._fresh |= turns

    def _keep(self, turns: Mapping[tuple[str, int], Turn]) -> None:
        """Keeps turns that were just read, and lets go of those read longest ago where they are too many."""
        for place, turn in turns.items():
            if place not in self._kept:
                self._room -= _size(turn)
            self._kept[place] = turn
            self._kept.move_to_end(place)
        while self._room < 0:
            self._room += _size(self._kept.popitem(last=False)[1])

    def read(self, connection: Connection, space: str, positions: Sequence[int]) -> dict[int, Turn]:
        """The turns of a space at some offsets, by offset; `connection` tells of those that are not kept."""
        kept, fresh = self._kept, self._fresh
        found = {at: kept[space, at] for at in positions if (space, at) in kept}
        ahead = {at: fresh[space, at] for at in positions if (space, at) in fresh}
        found |= _read(connection, space, [at for at in positions if at not in found and at not in ahead])
        self._keep({(space, at): found[at] for at in positions if at in found})
        return found | ahead


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


def _turn_of(event: TurnRecorded, at: int, tokens: int) -> Turn:
    """What `_read` finds of a turn once it is in its table."""
    calls = tool_calls(as_json(event.parts))
    return Turn(event.id, event.role, event.agent, event.content, event.session, at, event.at, tokens, calls)


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
