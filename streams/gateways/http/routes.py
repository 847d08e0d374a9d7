"""The routes. Spaces, sessions and ids are query parameters: they may hold any character, slashes too."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.dependencies.models import Dependant
from prometheus_client import generate_latest
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from streams.core.errors import BusyError, DeniedError, MnemologError, UsageError
from streams.core.events import GIVEN
from streams.gateways.http.bodies import CLOUD, CLOUDS, JSON, LINES, TAKEN, events_of
from streams.gateways.http.door import AT, IDEMPOTENCY, Door, shows, told
from streams.gateways.http.following import Following
from streams.gateways.http.importing import take_in
from streams.gateways.http.limits import as_json, problem
from streams.gateways.moments import hint_at
from streams.logs.where import told_place
from streams.runtime.requests import View, decode


def taken_by(route: Dependant) -> Iterator[Dependant]:
    """What takes something of a request to a route: the route itself, and all that it depends on."""
    yield route
    for one in route.dependencies:
        yield from taken_by(one)


def parameters(request: Request) -> list[str]:
    """The query parameters that the route of a request names."""
    return [field.alias for one in taken_by(request.scope["route"].dependant) for field in one.query_params]


async def where(request: Request) -> dict[str, str]:
    """The query parameters beside those that a route names: where it takes any, they are columns and their values."""
    named = parameters(request)
    return {name: value for name, value in request.query_params.items() if name not in named}


async def no_others(request: Request) -> None:
    """Raises UsageError for a query parameter that its route does not take: it would seem to have been heeded."""
    if any(one.call is where for one in taken_by(request.scope["route"].dependant)):
        return  # what is no column there is told by who knows them
    if others := await where(request):
        takes = parameters(request)
        way_out = f"it takes: {', '.join(takes)}" if takes else "it takes no query parameters"
        raise UsageError(f"there is no parameter {next(iter(others))[:100]!r}", way_out)


routes = APIRouter(dependencies=[Depends(no_others)])

Where = Annotated[dict[str, str], Depends(where)]
Space = Annotated[str | None, Query(max_length=500, description="The space; the key's own, or `default`.")]
Session = Annotated[str, Query(max_length=500, description="The conversation.")]
AsOf = Annotated[str | None, Query(max_length=100, description="As it was: ISO 8601, or a position.")]
After = Annotated[str, Query(max_length=1000, description="Waits until this position is in the memory.")]
LONG = "An address holds 64 KiB, percent signs counted: `POST /v1/call` takes longer ones."
Limit = Annotated[int | None, Query(ge=0, le=10_000)]
Order = Annotated[str, Query(max_length=500, description="Columns with commas between, each with DESC or not.")]
Columns = Annotated[str, Query(max_length=500, description="Only these, with commas between; all if not given.")]

LISTS = {
    "turns": ("turns", "position"),
    "sessions": ("sessions", ""),
    "manifest": ("segments", "space, session, first_position"),
    "efforts": ("efforts", "last_at DESC, space, effort"),
    "notes": ("notes", "deadline, space, note"),
    "tasks": ("tasks", "place, priority DESC, space, task"),
    "objects": ("objects", "mentions DESC, space, name, object"),
    "links": ("links", "strength DESC, first, second"),
    "offers": ("offers", ""),
}
"""By path: the view and its order."""


NOTHING: Mapping[str, Any] = {}


def _json(value: Any, status: int = 200, then: BackgroundTask | None = None) -> Response:
    return Response(as_json(value), status, media_type=JSON, background=then)


def door(request: Request) -> Door:
    return Door(request.app.state.holder, request.state.caller)


async def asked(request: Request) -> Door:
    """Why async: FastAPI has others answered by another thread."""
    return door(request)


Asked = Annotated[Door, Depends(asked)]

# -- events in -----------------------------------------------------------------------------------------------------


def content_type(request: Request, taken: Sequence[str]) -> str:
    """The content type of a body, without parameters. Raises HTTPException for one that is not among those `taken`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in taken:
        raise HTTPException(415, f"send one of {', '.join(taken)}")
    return kind


async def take(
    request: Request, door: Door, events: list[Any], key: str, more: Mapping[str, Any] = NOTHING
) -> Response:
    """Records events; what became of each is told, with `more` of those that were not refused, and a `hint` where its
    time was most likely meant otherwise."""
    results: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    ends: dict[int, int] = {}
    for event, one in zip(events, await door.feed(events, key), strict=True):
        results.append({"id": one.get("id")} | told(one))
        outcome = next(name for name in COUNTED if name in one)
        counts[outcome] += 1
        if outcome != "refused":
            results[-1] |= {**more, **hint_at(event.get("at"))}
            ends[one["partition"]] = max(ends.get(one["partition"], 0), one[outcome])
    for outcome, count in counts.items():
        request.app.state.meters.taken.labels(COUNTED[outcome]).inc(count)
    if not ends and results:
        error = UsageError(results[0]["refused"], "nothing was recorded; /docs tells the fields")
        return problem(error, results=results)
    after = ",".join(told_place(partition, offset) for partition, offset in sorted(ends.items()))
    return _json({"results": results, "after": after}, 202)


COUNTED = {"stored": "added", "duplicate": "known", "refused": "refused"}
"""What became of an event, and under which name it is counted."""
IdempotencyKey = Annotated[str, Header(max_length=500, description=IDEMPOTENCY)]
_LINE: Any = {"$ref": "#/components/schemas/input-line"}
_SHAPES = {
    JSON: {"schema": {"anyOf": [_LINE, {"type": "array", "items": _LINE}]}},
    **{kind: {"schema": {"type": "string"}} for kind in LINES},
    CLOUD: {"schema": {"type": "object"}},
    CLOUDS: {"schema": {"type": "array", "items": {"type": "object"}}},
}


@routes.post(
    "/v1/turns", status_code=202, tags=["events"],
    openapi_extra={"requestBody": {"required": True, "content": _SHAPES}},
)  # fmt: skip
async def turns(request: Request, door: Asked, idempotency_key: IdempotencyKey = "") -> Response:
    """Records turns or any other events: one, a list, JSON Lines, or CloudEvents. Answered once they are durable.

    `results` tells of each what became of it; `after` is the position from which a question sees them all.
    """
    kind = content_type(request, TAKEN)
    found = events_of(await request.body(), kind, request.headers)
    # Why of one alone: who sends many, as a feed does, would wait for as many questions.
    known = await door.known(found[0]) if len(found) == 1 and isinstance(found[0], dict) else {}
    return await take(request, door, found, idempotency_key, {} if "already" in known else known)


def of_type(name: str) -> Callable[..., Any]:
    async def fact(request: Request, door: Asked, idempotency_key: IdempotencyKey = "") -> Response:
        content_type(request, (JSON,))
        found = events_of(await request.body(), JSON, {})
        if len(found) != 1 or not isinstance(found[0], dict):
            raise UsageError("the body is not one JSON object", "POST /v1/turns takes several events")
        event = found[0] | {"type": name}
        known = await door.known(event)
        if "already" not in known:
            return await take(request, door, [event], idempotency_key, known)
        if idempotency_key or "id" in event:  # sent again, it is answered as it was
            return await take(request, door, [event], idempotency_key)
        return _json({"results": [known], "after": ""}, 200)

    fact.__doc__ = " ".join((GIVEN[name].__doc__ or "").split())
    return fact


for name in GIVEN:
    short = name.rpartition(".v")[0]
    routes.post(
        f"/v1/facts/{short}", status_code=202, tags=["events"], name=short,
        responses={
            200: {"description": "It stands so already, since when is told: nothing was recorded."},
            202: {"description": "Recorded; `unknown` lists what it names and the memory does not know (yet)."},
        },
        openapi_extra={"requestBody": {"required": True, "content": {JSON: {"schema": {"type": "object"}}}}},
    )(of_type(name))  # fmt: skip


@routes.get("/v1/events", tags=["events"], response_class=StreamingResponse)
async def events(
    request: Request,
    door: Asked,
    space: Space = None,
    type: Annotated[list[str] | None, Query(description="Only these types: turn-recorded, for example.")] = None,
    after: Annotated[str, Query(max_length=1000, description="From behind this position; `start`: all.")] = "",
    last_event_id: Annotated[str, Header(max_length=1000)] = "",
) -> StreamingResponse:
    """The log as it grows, as server-sent events: `id` is the position from which to go on."""
    caller = door.caller
    caller.check(write=False)
    spaces = caller.spaces if space is None else (caller.space(space),)
    following: Following = request.app.state.following
    begin = await following.begin(last_event_id or after)

    async def lines() -> AsyncIterator[bytes]:
        yield b": listening\n\n"
        async for found in following.events(begin, spaces, type or ()):
            if found is None:
                yield b": still here\n\n"
            else:
                position, news = found
                yield b"id: %b\nevent: %b\ndata: %b\n\n" % (position.encode(), news.type.encode(), news.said)

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


@routes.post("/v1/traces", tags=["events"])
async def traces(request: Request, door: Asked, space: Space = None) -> Response:
    """Takes conversations from spans of models' calls: OTLP as JSON, with the messages of OpenTelemetry's GenAI
    conventions. An exporter is given this server as its endpoint, with the protocol http/json
    (OTEL_EXPORTER_OTLP_PROTOCOL)."""
    content_type(request, (JSON,))
    outcomes = await take_in(door, "otel", await request.body(), "traces", space or "")
    refused = [one["refused"] for one in outcomes if "refused" in one]
    partly = {"rejectedSpans": len(refused), "errorMessage": "; ".join(refused[:3])}
    return _json({"partialSuccess": partly} if refused else {})


# -- questions -----------------------------------------------------------------------------------------------------


@routes.get("/v1/context", tags=["questions"])
async def context(
    door: Asked,
    session: Session,
    space: Space = None,
    format: Literal["json", "text", "messages", "columns"] = "json",
    question: Annotated[str, Query(max_length=100_000, description=f"To be answered; not recorded yet. {LONG}")] = "",
    budget: Annotated[int | None, Query(ge=1, le=1_000_000, description="Tokens.")] = None,
    without: Annotated[list[str] | None, Query(description="Sections or layers to leave out.")] = None,
    details: Annotated[list[str] | None, Query(description="Ids or TURN..TURN: a second window on these.")] = None,
    window: Annotated[str, Query(max_length=500)] = "",
    explain: bool = False,
    record: Annotated[bool, Query(description="Whether what recall put in is recorded as shown.")] = True,
    at: Annotated[str | None, Query(max_length=100, description=AT)] = None,
    as_of: AsOf = None,
    after: After = "",
) -> Response:
    """What a model should be given now, in a session."""
    window = "columns" if format == "columns" else window
    given: dict[str, Any] = {
        "question": question, "window": window, "explain": explain, "after": after, "without": without or [],
        "details": details or [], "budget": budget, "as_of": as_of, "space": space,
        "at": at,
    }  # fmt: skip
    found = await door.context(session, False, **{name: one for name, one in given.items() if one not in (None, "")})
    # Why later: who waits for an answer is not to wait for the disk, too.
    then = BackgroundTask(door.show_later, found) if record else None
    if format in ("text", "columns"):
        return Response(found["text"], media_type="text/markdown; charset=utf-8", background=then)
    return _json(found["messages"] if format == "messages" else found, then=then)


@routes.get("/v1/recall", tags=["questions"])
async def recall(
    door: Asked,
    query: Annotated[str, Query(max_length=100_000, description=LONG)],
    space: Space = None,
    session: Annotated[str, Query(max_length=500, description="Where it is shown; recorded there.")] = "",
    k: Annotated[int, Query(ge=1, le=1000)] = 10,
    kinds: Annotated[list[str] | None, Query(description="turn, segment, conclusion, note, task")] = None,
    at: Annotated[str | None, Query(max_length=100)] = None,
    history: bool = False,
    forgotten: bool = False,
    record: bool | None = None,
    as_of: AsOf = None,
    after: After = "",
) -> Response:
    """What is known about something, the most relevant first."""
    given: dict[str, Any] = {"space": space, "kinds": kinds, "at": at, "as_of": as_of, "after": after or None}
    more = {name: one for name, one in given.items() if one is not None}
    found = await door.recall(query, session, False, k=k, history=history, forgotten=forgotten, **more)
    return _json(found, then=BackgroundTask(door.show_later, found) if shows(session, record) else None)


@routes.get("/v1/needs-recall", tags=["questions"])
async def needs_recall(
    door: Asked, session: Session, message: Annotated[str, Query(description=LONG)], space: Space = None
) -> Response:
    """Whether a message needs `recall`, or is served by what was shown in its session before."""
    named = door.caller.space(space)
    return _json(await door.ask("needs_recall", space=named, session=session, message=message))


@routes.get("/v1/show", tags=["questions"])
async def show(door: Asked, id: str, space: Space = None, as_of: AsOf = None, after: After = "") -> Response:
    """The turns behind anything that has an id."""
    return _json(await door.ask("show", id=id, space=door.caller.space(space), as_of=as_of, after=after))


@routes.get("/v1/memory", tags=["questions"])
async def memory(door: Asked, id: str, space: Space = None, as_of: AsOf = None, after: After = "") -> Response:
    """All that is known about one turn: how alive it is, what it is linked with, what contradicts it."""
    return _json(await door.ask("memory", id=id, space=door.caller.space(space), as_of=as_of, after=after))


@routes.get("/v1/spaces", tags=["questions"])
async def spaces(door: Asked) -> Response:
    """The spaces there are, as far as the key is for them."""
    return _json(await door.ask("spaces"))


async def rows(
    request: Request, door: Door, view: str, given: Mapping[str, str], space: str | None, as_of: str | None, after: str,
    **how: Any,
) -> Response:  # fmt: skip
    """Rows of a view, where columns have the `given` values."""
    if own := [name for name in given if name in View.model_fields]:  # these say how to ask, and are no columns
        raise UsageError(
            f"{own[0]!r} cannot be asked for here", f"beside columns it takes: {', '.join(parameters(request))}"
        )
    moments = {name: value for name, value in (("as_of", as_of), ("after", after)) if value}
    asked = {**given, **moments, **how, "name": view, "space": door.caller.space(space)}
    try:
        return _json(await door.ask("view", **asked))
    except UsageError as error:
        beside = f"; beside columns it takes: {', '.join(parameters(request))}" if given else ""
        raise UsageError(str(error), f"{error.way_out}{beside}") from None


def listing(path: str, view: str, by: str) -> None:
    async def listed(
        request: Request, door: Asked, given: Where, space: Space = None, limit: Limit = None, order: Order = by,
        columns: Columns = "", as_of: AsOf = None, after: After = "",
    ) -> Response:  # fmt: skip
        return await rows(request, door, view, given, space, as_of, after, limit=limit, order=order, columns=columns)

    listed.__doc__ = f"Rows of the view `{view}`; further parameters name columns and their values."
    routes.get(f"/v1/{path}", tags=["lists"], name=path)(listed)


for path, (name, by) in LISTS.items():
    listing(path, name, by)


@routes.get("/v1/views/{name}", tags=["lists"])
async def view(
    name: str, request: Request, door: Asked, given: Where, space: Space = None, limit: Limit = 1000, order: Order = "",
    columns: Columns = "", as_of: AsOf = None, after: After = "",
) -> Response:  # fmt: skip
    """Rows of any view; further parameters name columns and their values."""
    return await rows(request, door, name, given, space, as_of, after, limit=limit, order=order, columns=columns)


@routes.post("/v1/call", tags=["questions"])
async def call(request: Request, door: Asked) -> Response:
    """What the module `mnemolog` sends: {"ask": NAME, "arguments": {...}} or {"feed": [...]}."""
    return _json({"answer": await door.call(decode(await request.body()))})


# -- how it is -----------------------------------------------------------------------------------------------------


@routes.get("/health/live", tags=["health"])
async def live() -> Response:
    """Whether this process answers."""
    return _json({"status": "live"})


@routes.get("/health/ready", tags=["health"])
async def ready(request: Request) -> Response:
    """Whether the home is served."""
    try:
        await request.app.state.holder.call({"ping": True}, patience=0.0)
    except MnemologError as error:
        return problem(BusyError(str(error), error.way_out))
    return _json({"status": "ready"})


@routes.get("/metrics", tags=["health"])
async def metrics(request: Request, door: Asked) -> Response:
    """Requests, seconds and events, for Prometheus; not for a key for some spaces, for it counts those of all."""
    if door.caller.spaces is not None:
        raise DeniedError("what is counted is of all spaces, and this key is for some", "use another key")
    return Response(
        generate_latest(request.app.state.meters.registry), media_type="text/plain; version=0.0.4; charset=utf-8"
    )
