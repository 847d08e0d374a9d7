"""Conversations in others' formats that come as the body of a request: read by the importers that files are read by."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import orjson

from streams.core.edge import Accepted, Edge
from streams.core.events import AT_APPEND, encode
from streams.gateways.http.door import Door
from streams.gateways.sources import Input, find

TOGETHER = 1000
"""Events of one request to the home."""


async def take_in(door: Door, format: str, body: bytes, session: str, space: str = "") -> list[dict[str, Any]]:
    """What became of each event in a body of a format, as `Door.feed` tells it; what is none is refused."""
    space = door.caller.space(space or None)
    found = await asyncio.to_thread(_read, format, body, session, space)
    outcomes: list[dict[str, Any]] = [one for one in found if "refused" in one]
    events = [one for one in found if "refused" not in one]
    for start in range(0, len(events), TOGETHER):
        outcomes += await door.feed(events[start : start + TOGETHER])
    return outcomes


def _read(format: str, body: bytes, session: str, space: str) -> list[dict[str, Any]]:
    given = Input(format, session, io.BytesIO(body), space)
    found: list[dict[str, Any]] = []
    for item in find(format).read(given, Edge(space, session, "", f"{format} {session}")):
        if isinstance(item, Accepted):
            event: dict[str, Any] = orjson.loads(encode(item.event))
            # One that has no time yet gets that of its recording.
            found.append({key: value for key, value in event.items() if key != "at" or value != AT_APPEND})
        else:
            found.append({"refused": "; ".join(map(str, item.faults))})
    return found
