"""Two memories side by side: live, and one that a replay made, which nobody writes any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Query, Request, Response

from streams.core.errors import DeniedError, UsageError
from streams.gateways.http.page.drawing import by_session
from streams.gateways.http.page.pages import SESSIONS, WAITING, Name, Seen, cursor
from streams.gateways.http.page.scene import COLOURS, PageRoute, Row, page
from streams.runtime import LIVE
from streams.runtime.home import Home
from streams.runtime.home.folder import Folder

beside = APIRouter(route_class=PageRoute, include_in_schema=False)

TICK = "clock-ticked.v1"
DIFFERENCES = 60
"""Efforts that a page shows at most."""
VIEWS: tuple[Row, ...] = (
    {"name": "threads"},
    {"name": "efforts", "order": "opened_at, effort"},
    {"name": "notes"},
    {"name": "links"},
    {"name": "recorded_turns", "order": "position DESC", "limit": 1},
)


def asked(path: Path, memory: str, questions: Sequence[tuple[str, Row]]) -> list[Any]:
    """What a memory answers to questions and their arguments. Raises UsageError for a view it was folded without."""
    from processors import PROCESSORS  # why here: no other page needs them, and they take half a second to import

    try:
        with Home(path, PROCESSORS).asking(memory) as ask:
            return [ask(what, **given) for what, given in questions]
    except UsageError as error:
        raise UsageError(f"{memory} cannot be compared: {error}", "replay it again with this version") from error


class End(NamedTuple):
    """Where a memory ends, which a replay folded up to there."""

    offset: int
    """Of the last event that it holds."""
    since: Literal["", "time", "more"]
    """What the log has of the space behind that: nothing, ticks of the clock alone, or what changes a memory."""


def ended(path: Path, memory: str, partition: int, space: str) -> End:
    """Where a memory ends."""
    from processors import PROCESSORS
    from projections.store import read_mark

    home = Home(path, PROCESSORS)
    with closing(home.log) as log:
        with home.reading(memory) as connection:
            offset = read_mark(connection, partition)
        types = (record.type for record in log.read(partition, offset + 1) if record.space == space)
        since: Literal["", "time", "more"] = ""
        for type_ in types:
            if type_ != TICK:
                return End(offset, "more")
            since = "time"
    return End(offset, since)


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


def told(found: Row, other: Row) -> list[Row]:
    """The pieces of a context, in order, each with its section, and whether the other one lacks it."""
    there = {(one["section"], one["text"]) for one in other["considered"] if one["taken"]}
    taken = (one for one in found["considered"] if one["taken"])
    return [one | {"alone": (one["section"], one["text"]) not in there} for one in taken]


@beside.get("/compare")
async def compare(
    request: Request, seen: Seen, memory: Annotated[str, Query(max_length=100)] = "", session: Name = ""
) -> Response:
    """Live and another memory: what each made of the same talk, and what it would give a model in `session`.

    Raises DeniedError for a key for some spaces.
    """
    if seen.door.caller.spaces is not None:
        raise DeniedError("memories are of all spaces, and this key is for some", "use another key")
    path = request.app.state.home
    names = [name for name in Folder(path).memories() if name != LIVE]
    if not memory:
        return page("compare.html", here=seen, names=names, memory="")
    if memory not in names:
        raise UsageError(f"there is no memory {memory!r}", "`mnemolog memories` lists those there are")
    end = await asyncio.to_thread(ended, path, memory, seen.partition, seen.space)
    is_later = bool(end.since) and (not seen.as_of or seen.position > end.offset)
    # Why: the clock goes on for live alone, and what is due by then would be told as a difference of parameters.
    moment = replace(seen, as_of=seen.place(end.offset)) if is_later and end.since == "time" else seen
    questions = [("view", one) for one in VIEWS]
    if session:
        questions.append(("context", {"session": session, "explain": True} | moment.present()))
    bound = {"space": seen.space} | ({"as_of": moment.as_of} if moment.as_of else {})
    own, other = await asyncio.gather(
        asyncio.gather(*(moment.ask(what, **given) for what, given in questions)),
        asyncio.to_thread(asked, path, memory, [(what, given | bound) for what, given in questions]),
    )
    colours: dict[str, Row] = {}
    for row in (*own[1], *other[1]):
        colours.setdefault(row["effort"], row | {"colour": len(colours) % COLOURS})
    left, right = (by_session(side[0], seen.first, seen.last) for side in (own, other))
    both = list(dict.fromkeys([*left, *right]))
    differences = compared((own[0], own[1]), (other[0], other[1]))
    contexts: list[tuple[str, Row, list[Row]]] = []
    if session:
        contexts = [(LIVE, own[-1], told(own[-1], other[-1])), (memory, other[-1], told(other[-1], own[-1]))]
    return page(
        "compare.html", here=seen, names=names, memory=memory, colours=colours, left=left, right=right,
        sessions=both[-SESSIONS:][::-1], many=len(both), cursor=cursor(seen, seen.first, seen.last),
        figures=list(zip(FIGURES, measured(*own[:4]), measured(*other[:4]), strict=True)),
        differences=differences[:DIFFERENCES], differ=len(differences), alike=len(colours) - len(differences),
        until=other[4][0]["at"] if other[4] else None, since=end.since if is_later else "", end=seen.place(end.offset),
        session=session, contexts=contexts,
    )  # fmt: skip
