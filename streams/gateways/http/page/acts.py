"""What is mended from the page: facts, recorded like those of any other door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from projections.saying import record_of
from streams.core.errors import UsageError
from streams.gateways.http.door import Door
from streams.gateways.http.page.entry import form, within
from streams.gateways.http.page.scene import PageRoute, Row
from streams.gateways.http.routes import Asked

acts = APIRouter(route_class=PageRoute, include_in_schema=False)

Given = dict[str, str]


async def about(door: Door, given: Given) -> Row:
    """The turn or effort that is meant, in words of the log."""
    return await door.turn_of(given["id"], given["space"])


async def close(door: Door, given: Given) -> Row:
    return await about(door, given) | {"type": "effort-closed", "conclusion": given.get("conclusion", "")}


async def reopen(door: Door, given: Given) -> Row:
    return await about(door, given) | {"type": "effort-reopened"}


async def flag(door: Door, given: Given) -> Row:
    return await about(door, given) | {"type": "importance-flagged", "importance": "high"}


async def unflag(door: Door, given: Given) -> Row:
    return await about(door, given) | {"type": "importance-flagged", "importance": "normal"}


async def retract(door: Door, given: Given) -> Row:
    return await about(door, given) | {"type": "turn-retracted", "reason": "cleared"}


async def decline(door: Door, given: Given) -> Row:
    return await about(door, given) | {"type": "offer-declined"}


async def settle(door: Door, given: Given) -> Row:
    note = await door.answered(record_of("note", given["id"], given["space"], "go back: it may have been taken back"))
    return note | {"type": "note-settled", "resolution": given.get("conclusion", "")}


async def judge(door: Door, given: Given) -> Row:
    newer = await door.turn_of(given["id"], given["space"])
    fact = {"type": "contradiction-judged", "older": given.get("older", ""), "contradicts": given.get("so") == "yes"}
    return newer | fact


ACTS: dict[str, Callable[[Door, Given], Awaitable[Row]]] = {
    "close": close, "reopen": reopen, "flag": flag, "unflag": unflag, "retract": retract, "decline": decline,
    "settle": settle, "judge": judge,
}  # fmt: skip


@acts.post("/mend")
async def mend(request: Request, door: Asked) -> Response:
    """Records a fact, and shows the page that it was asked on, which waits until the memory holds it."""
    given = await form(request)
    door.caller.check(write=True)
    act = ACTS.get(given.get("act", ""))
    if act is None or not given.get("id"):
        raise UsageError("nothing was named to be done", "go back, and use one of the buttons")
    given["space"] = door.caller.space(given.get("space"))
    done = await door.say(await act(door, given))
    place = urlsplit(within(given.get("next", "/")))
    query = [(name, value) for name, value in parse_qsl(place.query) if name != "after"]
    query += [("after", done["position"])] if "position" in done else []
    return RedirectResponse(f"{place.path}?{urlencode(query)}" if query else place.path, 303)
