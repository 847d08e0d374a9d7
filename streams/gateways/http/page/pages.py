"""The pages: what each asks, and the template that shows it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from streams.core.events import EPOCH
from streams.gateways.http.page.drawing import WIDE, blocks, by_session, graph, shares
from streams.gateways.http.page.scene import PageRoute, Row, Scene, moment, page, scene, span
from streams.gateways.http.routes import Asked

pages = APIRouter(route_class=PageRoute, include_in_schema=False)

SESSIONS, EFFORTS, NOTES, TURNS, CHANGES, CHAINS = 60, 100, 60, 60, 20, 40
"""Rows that a page shows at most; it says where there are more."""
WAITING = ("open", "escalated")
"""What notes are that nobody has settled, and that have not gone by."""
FRAME = "The lines around it"
LIKELY = 0.5
"""From here on a doubt is shown at once, and below it when it is asked for: most of those are none."""
BELIEFS = 5000
"""Newest statements that chains are put together from."""


async def seen(request: Request, door: Asked) -> Scene:
    """What every page knows."""
    return await scene(request, door)


Seen = Annotated[Scene, Depends(seen)]
Name = Annotated[str, Query(max_length=500)]


@pages.get("/")
async def overview(seen: Seen) -> Response:
    """A space: its sessions as timelines, efforts, notes and what waits for a yes or no."""
    if seen.held is None:
        return page("empty.html", here=seen)
    sessions, threads, colours, efforts, notes, offers = await asyncio.gather(
        seen.rows("sessions", order="last_at DESC, session", limit=SESSIONS),
        seen.rows("threads"),
        seen.colours(),
        seen.rows("efforts", order="status DESC, last_at DESC, effort"),
        seen.rows("notes", order="deadline, note"),
        seen.rows("offers", status="open", order="confidence DESC, position DESC", limit=NOTES),
    )
    states = [row["status"] for row in efforts]
    times = [seen.clock, *(moment(row["opened_at"]) for row in notes)]
    clock = max((time for time in times if time), default=EPOCH)
    waiting = [noted(row, clock) for row in notes if row["status"] in WAITING]
    settled = [noted(row, clock) for row in notes if row["status"] not in WAITING]
    return page(
        "overview.html", here=seen, sessions=sessions, efforts=efforts[:EFFORTS], offers=offers, colours=colours,
        timelines=by_session(threads, seen.first, seen.last), cursor=cursor(seen, seen.first, seen.last),
        tokens=sum(row["tokens"] for row in threads), turns=sum(row["turns"] for row in threads),
        concluded=states.count("concluded"), open=states.count("open"),
        waiting=waiting[:NOTES], waits=len(waiting), settled=settled[-NOTES:],
        many=len({row["session"] for row in threads}),
    )  # fmt: skip


@pages.get("/session")
async def session(seen: Seen, session: Name, segment: Name = "") -> Response:
    """A session: its timeline, and the newest turns or those of one segment."""
    of = {"session": session} | ({"segment": segment} if segment else {})
    whole = {"name": "recorded_turns", "space": seen.space, "session": session, "limit": 1}
    first, last, about, threads, colours, turns, entries, changes, segments = await asyncio.gather(
        seen.door.ask("view", order="position", **whole),
        seen.door.ask("view", order="position DESC", **whole),
        seen.rows("sessions", session=session),
        seen.rows("threads", session=session, order="first_position"),
        seen.colours(),
        seen.rows("turns", order="position" if segment else "position DESC", limit=TURNS, **of),
        seen.rows("context_entries", session=session, order="rank"),
        seen.rows("context_changes", session=session, order="position DESC, ordinal DESC", limit=CHANGES),
        seen.rows("segments", **of) if segment else asyncio.sleep(0, []),
    )
    ends = (first[0]["position"], last[0]["position"]) if first else (0, 0)
    order = list(dict.fromkeys(row["segment"] for row in threads if row["segment"]))
    place = order.index(segment) if segment in order else None
    held: dict[str | None, int] = defaultdict(int)
    for row in threads:
        held[row["effort"]] += row["turns"]
    return page(
        "session.html", here=seen, session=session, about=about[0] if about else None, colours=colours,
        blocks=blocks(threads, *ends), cursor=cursor(seen, *ends), segment=segment,
        segments=segments, before=order[place - 1] if place else None, of=len(order), place=place,
        after=order[place + 1] if place is not None and place + 1 < len(order) else None,
        newest=order[-1] if order else None, turns=turns, entries_=entries, changes=changes,
        held=sorted(((count, effort) for effort, count in held.items() if effort), reverse=True),
    )  # fmt: skip


@pages.get("/context")
async def context(seen: Seen, session: Name) -> Response:
    """What a model would be given in a session, what was considered for it, and who came and left."""
    found, talk, sessions, colours, entries, changes, turns = await asyncio.gather(
        seen.ask("context", session=session, explain=True, **seen.present()),
        seen.rows("sessions", session=session),
        seen.rows("sessions"),
        seen.colours(),
        seen.rows("context_entries", session=session, order="rank"),
        seen.rows("context_changes", session=session, order="position DESC, ordinal DESC", limit=CHANGES),
        seen.rows("turns", session=session, order="position DESC", limit=1),
    )
    sections = {one["name"]: one["tokens"] for one in found["sections"]}
    headings = {one["section"]: one["heading"] for one in found["considered"]} | {"frame": FRAME}
    considered: dict[str, list[Row]] = defaultdict(list)
    for one in found["considered"]:
        considered[one["section"]].append(one)
    sizes = {"context": found["tokens"], "this session": talk[0]["tokens"] if talk else 0}
    sizes["the whole space"] = sum(row["tokens"] for row in sessions)
    rest = max(found["tokens"] - sum(sections.values()), 0)
    return page(
        "context.html", here=seen, session=session, found=found, considered=considered, colours=colours,
        bar=shares(sections | ({"frame": rest} if rest else {}), found["budget"]), tokens=sections,
        sizes=sizes, most=max(*sizes.values(), 1), entries_=entries, changes=changes,
        turn=turns[0] if turns else None, headings=headings,
    )  # fmt: skip


def cursor(seen: Scene, first: int, last: int) -> float | None:
    """Where the moment lies on timelines from `first` to `last`; None where it is now."""
    if not seen.as_of:
        return None
    share = (seen.position + 1 - first) / (last + 1 - first)
    return round(WIDE * min(max(share, 0), 1), 2)


def noted(note: Row, now: datetime) -> Row:
    """A note with its clock: what is left of its time."""
    opened, deadline = moment(note["opened_at"]), moment(note["deadline"])
    assert opened is not None
    assert deadline is not None
    left = (deadline - (now if note["status"] == "open" else max(now, deadline))).total_seconds()
    whole = max((deadline - opened).total_seconds(), 1)
    told = f"{span(left)} left" if left > 0 else f"over for {span(-left)}" if left < 0 else "its time is over"
    return note | {"left": told, "share": round(100 * min(max(left / whole, 0), 1))}


def bars(parts: dict[str, Any]) -> list[tuple[str, float]]:
    """What made a score, the largest first."""
    return sorted(((name, value) for name, value in parts.items() if value), key=lambda part: -abs(part[1]))


@pages.get("/recall")
async def recall(seen: Seen, q: Annotated[str, Query(max_length=10_000)] = "", history: bool = False) -> Response:
    """What is known about something, with its scores."""
    asked = seen.ask("recall", query=q, k=20, history=history) if q.strip() else asyncio.sleep(0, {"hits": []})
    found, colours = await asyncio.gather(asked, seen.colours())
    hits = [hit | {"made": bars(hit["parts"])} for hit in found["hits"]]
    best = max([hit["score"] for hit in hits], default=1) or 1
    return page("recall.html", here=seen, q=q, history=history, hits=hits, best=best, colours=colours)


@pages.get("/links")
async def links(seen: Seen) -> Response:
    """Which efforts are used together."""
    found, colours = await asyncio.gather(
        seen.rows("links", order="strength DESC, first, second", limit=200), seen.colours()
    )
    nodes, edges = graph(found, colours)
    numbers = {node.effort: node.number for node in nodes}
    return page("links.html", here=seen, links=found, nodes=nodes, edges=edges, colours=colours, numbers=numbers)


@pages.get("/beliefs")
async def beliefs(seen: Seen) -> Response:
    """What was stated and later changed: chains, the last changed first; what may have been; what stands unchanged."""
    rows, doubts = await asyncio.gather(
        seen.rows("beliefs", order="position DESC", limit=BELIEFS),
        seen.rows("doubts", status="open", order="confidence DESC, position DESC", limit=CHAINS),
    )
    chains: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        chains[row["chain"], row["subject"], row["attribute"]].append(row)
    found = [sorted(chain, key=lambda row: row["place"]) for chain in chains.values()]
    changed = [chain for chain in found if any(not row["current"] for row in chain)]
    # Why the turns: a judge sets turns against each other that state nothing plainly, and who judges is to read them.
    judged = list(dict.fromkeys(row["turn_id"] for chain in changed[:CHAINS] for row in chain if not row["value"]))
    turns = await asyncio.gather(*(seen.rows("recorded_turns", turn_id=id, columns="content") for id in judged))
    said = {id: told[0]["content"] for id, told in zip(judged, turns, strict=True) if told}
    standing = [chain[-1] for chain in found if chain[-1]["attribute"] and len(chain) == 1]
    return page(
        "beliefs.html", here=seen, chains=changed[:CHAINS], changed=len(changed), standing=standing[:CHAINS],
        stands=len(standing), is_whole=len(rows) < BELIEFS, said=said,
        likely=[row for row in doubts if row["confidence"] >= LIKELY],
        unlikely=[row for row in doubts if row["confidence"] < LIKELY],
    )  # fmt: skip
