"""Passing requests on, with memory.

Before a request goes on that ends with what a user said, the memory is asked for its context, which is put before these
words; and put there again, the same, whenever the conversation is repeated, so that what a model's provider has cached
of it stays good. When the reply has ended, request and reply are recorded by the importer of their shape, which knows
what was recorded before. Everything else passes unchanged, also what is no conversation.

A call waits for what it is given of the memory, and for nothing that is written to it: what was shown is recorded while
the model answers, and before what was said, so that a session's events stand in their order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from streams.core.edge import has_too_many
from streams.core.errors import MnemologError
from streams.core.halves import whole_text
from streams.gateways.http.door import Door
from streams.gateways.http.importing import take_in
from streams.gateways.http.limits import is_here
from streams.gateways.proxy.dialects import Dialect, by_path, dumps, events, is_asked, loads, said_by_user, with_words
from streams.gateways.proxy.session import SESSION_HEADER, SPACE_HEADER, session_of

log = logging.getLogger(__name__)

HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
     "upgrade", "host", "content-length")
)  # fmt: skip
"""Headers that are for one hop, or that follow from the body."""
PATIENCE = 1.0
"""Seconds that the memory has to give a context; the call goes on without it after that."""
PUT = 10_000
"""Contexts that are remembered, to be put into their conversation again."""
LEAST = 16
"""Tokens of a reply below which a request is a probe and no part of a conversation."""
LARGEST = 64 * 2**20
"""Bytes of a request or reply that is recorded."""


@dataclass(eq=False, slots=True)
class Talk:
    """A request that is part of a conversation."""

    dialect: Dialect
    body: dict[str, Any]
    space: str
    session: str
    shown: asyncio.Task[None] | None = None
    """Records what was put into it."""


class Proxy:
    """The way to one upstream."""

    def __init__(self, upstream: str, door: Door, space: str = "") -> None:
        self._upstream = upstream.rstrip("/")
        self._door = door
        self._space = space
        self._put: OrderedDict[bytes, str] = OrderedDict()
        self._recording: set[asyncio.Task[None]] = set()
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(600, connect=10), follow_redirects=False)

    async def close(self) -> None:
        """Ends what is under way."""
        if self._recording:
            await asyncio.wait(self._recording, timeout=PATIENCE * 5)
        await self._client.aclose()
        await self._door.close()

    async def pass_on(self, request: Request) -> Response:
        """Passes a request on."""
        try:
            raw = await request.body()
        except ClientDisconnect:  # nobody is there to be answered
            return Response(status_code=400)
        dialect = by_path(request.url.path) if request.method == "POST" else None
        given = _object(raw) if dialect else None
        space = request.headers.get(SPACE_HEADER) or self._space
        headers = [(k, v) for k, v in request.headers.items() if k not in (*HOP, SESSION_HEADER, SPACE_HEADER)]
        talk, sent = None, raw
        if dialect and given is not None and _is_talk(dialect, given) and not _is_from_a_site(request.headers):
            talk = Talk(dialect, given, space, whole_text(session_of(dialect, request.headers, given)))
            # What is recorded must be read.
            headers = [(k, v) for k, v in headers if k != "accept-encoding"] + [("accept-encoding", "identity")]
            with suppress(Exception):  # why any: a call is never worse for having a memory
                sent = await self._remembering(talk, raw)
        query = request.scope["query_string"].decode("latin-1")
        path = request.scope.get("raw_path", request.url.path.encode()).partition(b"?")[0].decode("latin-1")
        url = f"{self._upstream}{path}{f'?{query}' if query else ''}"
        try:
            asked = self._client.build_request(request.method, url, headers=headers, content=sent)
            answer = await self._client.send(asked, stream=True)
        except httpx.HTTPError as error:
            return JSONResponse({"error": {"type": "upstream_unreachable", "message": f"{url}: {error!r}"}}, 502)
        kept = bytearray()
        ended = [False]

        async def passing() -> AsyncIterator[bytes]:
            async for chunk in answer.aiter_raw():
                if talk and len(kept) <= LARGEST:
                    kept.extend(chunk)
                yield chunk
            ended[0] = True

        def over() -> None:
            if talk and answer.status_code == 200:
                self._beside(self._record(talk, kept, ended[0]))

        async def closing() -> None:
            await answer.aclose()

        back = [(k, v) for k, v in answer.headers.multi_items() if k not in HOP or k == "content-length"]
        found = Passing(_ending(passing(), over), answer.status_code, background=BackgroundTask(closing))
        found.raw_headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in back]
        return found

    def _beside(self, recording: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Has something recorded that no call waits for."""
        task = asyncio.create_task(recording)
        self._recording.add(task)
        task.add_done_callback(self._recording.discard)
        return task

    async def _remembering(self, talk: Talk, raw: bytes) -> bytes:
        """The request with what the memory gives; as it was where that is nothing."""
        said = said_by_user(talk.dialect, talk.body)
        words = {}
        chain = blake2b(f"{talk.space}\0{talk.session}".encode(errors="replace"), digest_size=16)
        for place, text in said:
            chain.update(b"\0" + text.encode(errors="replace"))
            key = chain.digest()
            if place == said[-1][0] and key not in self._put and is_asked(talk.dialect, talk.body):
                with suppress(Exception):  # what was put in before stays in, though memory has nothing to add in time
                    self._put[key] = await asyncio.wait_for(self._context(talk, text), PATIENCE)
                while len(self._put) > PUT:
                    self._put.popitem(last=False)
            if self._put.get(key):
                self._put.move_to_end(key)
                words[place] = self._put[key]
        return dumps(with_words(talk.dialect, talk.body, words)) if words else raw

    async def _context(self, talk: Talk, question: str) -> str:
        """What the memory gives beyond the conversation itself; "" for nothing."""
        how: dict[str, Any] = {"question": whole_text(question), "without": ["recent"], "space": talk.space or None}
        found = await self._door.context(talk.session, record=False, **how)
        if found["shown"]:
            talk.shown = self._beside(self._door.show_later(found))
        return str(found["text"]) if any(section["pieces"] for section in found["sections"]) else ""

    async def _record(self, talk: Talk, reply: bytes | bytearray, ended: bool) -> None:
        """Records what was said: the request, and the reply where it came whole; after what was shown to it."""
        if talk.shown is not None:
            await asyncio.wait([talk.shown])
        try:
            said = {k: v for k, v in talk.body.items() if k not in ("metadata", "id")} | {"session": talk.session}
            if ended and (answer := joined(talk.dialect, bytes(reply))) is not None:
                said["response"] = answer
            for outcome in await take_in(self._door, talk.dialect.source, dumps(said), talk.session, talk.space):
                if "refused" in outcome:
                    log.warning("a turn was not recorded: %s", outcome["refused"])
        except (MnemologError, ValueError, KeyError) as error:
            log.warning("a conversation was not recorded: %s", error)


class Passing(StreamingResponse):
    """A reply that is passed on as it comes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes it on. One that breaks off is left without an end, as it came: its reader sees that by the
        connection, which is closed then."""
        try:
            await super().__call__(scope, receive, send)
        except httpx.HTTPError as error:
            log.warning("a reply broke off: %r", error)


def joined(dialect: Dialect, reply: bytes) -> dict[str, Any] | None:
    """The reply as one object, streamed or not; None where it is none, or did not end."""
    if reply.lstrip()[:1] == b"{":
        return _object(reply)
    return dialect.joined(events(reply))


async def _ending(stream: AsyncIterator[bytes], over: Any) -> AsyncIterator[bytes]:
    """A stream; `over` is called at its end, also where who reads it goes away."""
    try:
        async for chunk in stream:
            yield chunk
    finally:
        over()


def _object(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > LARGEST or has_too_many(raw):
        return None
    with suppress(ValueError):
        found = loads(raw)
        return found if isinstance(found, dict) else None
    return None


def _is_from_a_site(headers: Mapping[str, str]) -> bool:
    """Whether a page elsewhere has a browser send it, by the address or a name that points here. Such a call passes,
    without memory: it must neither read nor write one."""
    origin = headers.get("origin", "")
    return not is_here(headers.get("host", "")) or bool(origin and not is_here(origin.partition("//")[2]))


def _is_talk(dialect: Dialect, body: Mapping[str, Any]) -> bool:
    """Whether a request is part of a conversation; what asks for next to nothing looks whether a key is good."""
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    most = next((value for name in names if isinstance(value := body.get(name), int)), LEAST + 1)
    return most > LEAST and bool(said_by_user(dialect, dict(body)))


def made(upstream: str, door: Door, space: str = "") -> Starlette:
    """The app."""
    proxy = Proxy(upstream, door, space)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await proxy.close()

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    return Starlette(routes=[Route("/{path:path}", proxy.pass_on, methods=methods)], lifespan=lifespan)
