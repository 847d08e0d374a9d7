"""Two memories side by side: live, and one that a replay made, read from its file, which nobody writes any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Query, Request, Response

from projections.ask import Recaller, answer
from projections.store import intact, read_only
from streams.core.errors import DeniedError, UsageError
from streams.gateways.http.page.drawing import by_session
from streams.gateways.http.page.pages import SESSIONS, WAITING, Seen, cursor
from streams.gateways.http.page.scene import COLOURS, PageRoute, Row, page
from streams.runtime import LIVE
from streams.runtime.home.folder import Folder
from streams.runtime.requests import SECONDS

beside = APIRouter(route_class=PageRoute, include_in_schema=False)

DIFFERENCES = 60
"""Efforts that a page shows at most."""
VIEWS: tuple[Row, ...] = (
    {"name": "threads"},
    {"name": "effort_facts", "order": "opened_at, effort"},
    {"name": "notes"},
    {"name": "links"},
    {"name": "recorded_turns", "order": "position DESC", "limit": 1},
)


def rows_of(path: Path, asked: Sequence[Row]) -> list[list[Row]]:
    """What views of a memory hold. Raises MemoryFileError, and UsageError for a view it was folded without."""
    with closing(read_only(path)) as connection, intact(path):
        unasked = cast(Recaller, nullcontext())  # views need no index
        try:
            return [answer(connection, "view", one, unasked, SECONDS) for one in asked]
        except UsageError as error:
            raise UsageError(f"{path.stem} cannot be compared: {error}", "replay it again with this version") from error


def measured(threads: Sequence[Row], efforts: Sequence[Row], notes: Sequence[Row], links: Sequence[Row]) -> list[int]:
    """How much one memory holds, in the order of FIGURES."""
    states = [row["status"] for row in efforts]
    segments = {(row["session"], row["segment"]) for row in threads}
    waiting = sum(row["status"] in WAITING for row in notes)
    return [len(segments), states.count("open"), states.count("concluded"), len(links), waiting]


FIGURES = ("segments", "open efforts", "concluded efforts", "links", "notes that wait")


def compared(left: tuple[list[Row], list[Row]], right: tuple[list[Row], list[Row]]) -> list[Row]:
    """Efforts that the two memories hold otherwise, those that differ most first; each side: (threads, efforts)."""
    found: dict[str, Row] = {}
    for side, (threads, efforts) in (("left", left), ("right", right)):
        turns: dict[str, int] = {}
        for row in threads:
            turns[row["effort"]] = turns.get(row["effort"], 0) + row["turns"]
        for row in efforts:
            one = found.setdefault(row["effort"], {"effort": row["effort"], "left": None, "right": None})
            one[side] = {"turns": turns.get(row["effort"], 0), "status": row["status"], "topic": row["topic"]}
    differ = [one for one in found.values() if one["left"] != one["right"]]
    return sorted(differ, key=lambda one: -abs((one["left"] or NONE)["turns"] - (one["right"] or NONE)["turns"]))


NONE: Row = {"turns": 0}


@beside.get("/compare")
async def compare(request: Request, seen: Seen, memory: Annotated[str, Query(max_length=100)] = "") -> Response:
    """Live and another memory: what each made of the same talk. Raises DeniedError for a key for some spaces."""
    if seen.door.caller.spaces is not None:
        raise DeniedError("memories are of all spaces, and this key is for some", "use another key")
    folder = Folder(request.app.state.home)
    names = [name for name in folder.memories() if name != LIVE]
    if not memory:
        return page("compare.html", here=seen, names=names, memory="")
    if memory not in names:
        raise UsageError(f"there is no memory {memory!r}", "`mnemolog memories` lists those there are")
    bound = {"space": seen.space} | ({"as_of": seen.as_of} if seen.as_of else {})
    own, other = await asyncio.gather(
        asyncio.gather(*(seen.ask("view", **one) for one in VIEWS)),
        asyncio.to_thread(rows_of, folder.memory(memory), [one | bound for one in VIEWS]),
    )
    colours: dict[str, Row] = {}
    for row in (*own[1], *other[1]):
        colours.setdefault(row["effort"], row | {"colour": len(colours) % COLOURS})
    left, right = (by_session(side[0], seen.first, seen.last) for side in (own, other))
    both = list(dict.fromkeys([*left, *right]))
    differences = compared((own[0], own[1]), (other[0], other[1]))
    return page(
        "compare.html", here=seen, names=names, memory=memory, colours=colours, left=left, right=right,
        sessions=both[-SESSIONS:][::-1], many=len(both), cursor=cursor(seen, seen.first, seen.last),
        figures=list(zip(FIGURES, measured(*own[:4]), measured(*other[:4]), strict=True)),
        differences=differences[:DIFFERENCES], differ=len(differences), alike=len(colours) - len(differences),
        until=other[4][0]["at"] if other[4] else None, is_behind=bool(other[4]) and other[4][0] != own[4][0],
    )  # fmt: skip
