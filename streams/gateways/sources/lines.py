"""mnemolog's own format: one JSON object a line, a turn or any other event that may stand in the log.

    {"space"?, "session", "agent"?, "role", "content", "at"?, "id"?, "reply_to"?, "parts"?}
    {"type": "note-taken", "note", "content", ...}

`mnemolog schema` prints what each type takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from streams.core.edge import Edge, Reject
from streams.gateways.sources import Input, Source, bounded_lines

if TYPE_CHECKING:
    from streams.gateways.sources import Item


def read(given: Input, edge: Edge) -> Iterator[Item]:
    """One event or reject a line."""
    for found in bounded_lines(given):
        if isinstance(found, Reject):
            yield found
        else:
            yield edge.line(given.name, found.number, found.raw)


SOURCE = Source("lines", "one JSON object a line, turns and other events (the default)", (".jsonl", ".ndjson"), read)
