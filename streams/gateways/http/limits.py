"""What every request passes first: who asks, how often, how much; and how errors are told (RFC 9457)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import quote

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streams.core.errors import (
    BehindError,
    BusyError,
    DeniedError,
    MnemologError,
    NoRoomError,
    OutdatedError,
    UsageError,
)
from streams.core.halves import whole_text
from streams.gateways.http.door import Caller
from streams.gateways.http.keys import Keys
from streams.runtime.requests import MAX_REQUEST, check_values

OPEN = ("/health/live", "/health/ready", "/sign-in", "/page.css", "/page.js", "/page.svg")
"""Paths that need no key: they tell nothing but that the server runs, and what its page looks like."""
SIGNED = "mnemolog_key"
"""The cookie in which a browser keeps a key; it is set by signing in on the page."""
API = ("/v1/", "/mcp")
"""Paths that are for programs."""
LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
"""Hosts by which a server is called that needs no key. Why asked: a page elsewhere may have its own name point here."""
STALLED = 30.0
"""Seconds within which more of a body must come."""
CALLERS = 10_000
"""Callers whose rates are remembered."""
access = logging.getLogger("mnemolog.access")


class UnknownCallerError(DeniedError):
    """No key, or one that is none."""


class TooLargeError(UsageError):
    """The body is longer than a request may be."""


class TooManyError(BusyError):
    """The caller asks more often than it may."""


class StalledError(BusyError):
    """The rest of a body does not come."""


class OutsideError(DeniedError):
    """It was asked under a name that is not this machine's."""


STATUS: tuple[tuple[type[MnemologError], int], ...] = (
    (UnknownCallerError, 401),
    (DeniedError, 403),
    (TooLargeError, 413),
    (TooManyError, 429),
    (StalledError, 408),
    (UsageError, 422),
    (BehindError, 409),
    (BusyError, 503),
    (NoRoomError, 507),
    (MnemologError, 503),
)
KINDS = (DeniedError, UsageError, BehindError, BusyError)
"""What the module `mnemolog` tells apart; all else is a FailedError there."""


def problem(error: MnemologError, **more: Any) -> Response:
    """An error as application/problem+json, with the status that stands for it."""
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    comes_back = status in (409, 429, 503) and not isinstance(error, OutdatedError)  # that waits for a person
    headers = {"Retry-After": "1"} if comes_back else {}
    headers |= {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    headers |= {"Connection": "close"} if status == 408 else {}
    kind = next((kind.__name__ for kind in KINDS if isinstance(error, kind)), "FailedError")
    name = kind if kind == "FailedError" else type(error).__name__
    told = {
        "type": f"urn:mnemolog:{name.removesuffix('Error').lower()}",
        "title": str(error),
        "status": status,
        "detail": f"{error}{f': {error.way_out}' if error.way_out else ''}",
        "error": str(error),
        "way_out": error.way_out,
        "kind": kind,
    }
    return Response(as_json(told | more), status, headers, "application/problem+json")


def as_json(value: Any) -> bytes:
    """A value as JSON; half a character, which UTF-8 cannot say, as a question mark."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return orjson.dumps(clean(value), option=orjson.OPT_NON_STR_KEYS)


def clean(value: Any) -> Any:
    """A value whose texts UTF-8 can say."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {clean(key): clean(inner) for key, inner in value.items()}
    return [clean(inner) for inner in value] if isinstance(value, list) else value


class Rates:
    """Token buckets by caller: `rate` requests a second, twice as many at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> bool:
        """Whether the caller may ask once more now."""
        now, most = self._clock(), 2 * self._rate
        left, since = self._left.pop(caller, (most, now))
        left = min(most, left + (now - since) * self._rate)
        self._left[caller] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > CALLERS:
            del self._left[next(iter(self._left))]
        return left >= 1


class Gate:
    """The middleware. `is_local`: only this machine reaches the server, so it needs no key where the home has none."""

    def __init__(self, app: ASGIApp, *, keys: Keys, is_local: bool, rate: float, observe: Callable[..., None]) -> None:
        self._app = app
        self._keys = keys
        self._is_local = is_local
        self._rates = Rates(rate)
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = [0]
        taken = bytearray()
        is_whole = False

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            await send(message)

        async def receiving() -> Message:
            nonlocal is_whole
            try:
                async with asyncio.timeout(None if is_whole else STALLED):
                    message = await receive()
            except TimeoutError:
                raise StalledError(
                    f"the rest of the body did not come within {STALLED:g} seconds", "nothing was done; send it again"
                ) from None
            taken.extend(message.get("body", b""))
            if len(taken) > MAX_REQUEST:
                raise TooLargeError("the body is too long", f"send at most {MAX_REQUEST:,} bytes at once")
            if message["type"] == "http.request" and not message.get("more_body"):
                is_whole = True
                check_values(taken)  # why here: not all that takes a body has it read by this program
            return message

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        state: dict[str, Any] = scope.setdefault("state", {})
        try:
            state["caller"] = caller = self._caller(scope, headers)
            if not self._rates.take(caller.name or str((scope.get("client") or ("",))[0])):
                raise TooManyError(
                    "too many requests", "wait a second; `mnemolog serve --rate` sets how many are taken"
                )
            if int(headers.get("content-length", "0") or 0) > MAX_REQUEST:
                raise TooLargeError("the body is too long", f"send at most {MAX_REQUEST:,} bytes at once")
            await self._app(scope, receiving, sending)
        except MnemologError as error:
            if status[0]:
                raise
            await _refusal(error, scope, headers)(scope, receive, sending)
        except ClientDisconnect:  # before its request was whole: there is nobody to answer
            if status[0]:
                raise
        finally:
            route = getattr(scope.get("route"), "path", scope.get("root_path") or "-")
            took = time.perf_counter() - began
            self._observe(scope["method"], route, status[0], took)
            name = getattr(state.get("caller"), "name", "")
            # Why the route and not the path: paths and queries hold people's words.
            access.info("%s %s %d %.1f ms %s", scope["method"], route, status[0], took * 1000, name or "-")

    def _caller(self, scope: Scope, headers: dict[str, str]) -> Caller:
        kind, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        signed = ""
        if not token:
            _check_site(scope, headers)
            signed = _cookie(headers)
        if token or (signed and self._keys.find(signed)):
            if key := self._keys.find(token or signed):
                spaces = None if key.spaces is None else tuple(key.spaces)
                return Caller(key.name, spaces, "read" in key.may, "write" in key.may)
            raise UnknownCallerError("this key is none", "`mnemolog keys add NAME` makes one")
        if scope["path"] in OPEN:
            return Caller("", (), False, False)
        if not self._is_local or self._keys.all():
            raise UnknownCallerError(
                "a key is needed", "send `Authorization: Bearer KEY`; `mnemolog keys add` makes one"
            )
        host = headers.get("host", "")
        if not is_here(host):
            raise OutsideError(f"this server is not called {host[:100]!r}", "ask 127.0.0.1 or localhost, or use a key")
        return Caller()


def is_here(host: str) -> bool:
    """Whether HOST or HOST:PORT is a name of this machine that no other can be given."""
    return (host.rpartition(":")[0] or host if not host.endswith("]") else host) in LOCAL


def _cookie(headers: dict[str, str]) -> str:
    """The key that a browser keeps; "" for none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(SIGNED)
    except CookieError:
        return ""
    return found.value if found else ""


def _check_site(scope: Scope, headers: dict[str, str]) -> None:
    """Raises OutsideError for what another site has a browser send, a plain visit to a page excepted.

    Why only where no key stands in a header: another site cannot add one. Why `Origin`, too: browsers tell the site
    (Sec-Fetch-Site) only to servers on loopback or behind TLS. Why `Referer`: a picture on a page of another port there
    is asked for with the cookie and without an origin; the page of this server always tells where it is.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if origin is None and _cookie(headers) and scope["path"].startswith(API):
        origin = headers.get("referer", "")
    # Why not urlsplit: it raises for some of what may stand there.
    is_own = origin is None or origin.partition("//")[2].partition("/")[0] == headers.get("host")
    is_own = site in ("same-origin", "none") if site else is_own
    if is_own or (scope["method"] in ("GET", "HEAD") and not scope["path"].startswith(API)):
        return
    raise OutsideError("this was asked by another site", "ask from the page of this server, or with a key in a header")


def asks_for_page(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Whether a person asks, with a browser."""
    return scope["method"] == "GET" and "text/html" in headers.get("accept", "") and not scope["path"].startswith(API)


def _refusal(error: MnemologError, scope: Scope, headers: dict[str, str]) -> Response:
    """An error; where a person only has no key yet, the way to the form that takes one."""
    if asks_for_page(scope, headers) and isinstance(error, UnknownCallerError):
        place = quote(scope.get("raw_path", b"/").decode("latin-1"), safe="/%")
        query = scope.get("query_string", b"").decode("latin-1")
        return RedirectResponse(f"/sign-in?next={quote(f'{place}?{query}' if query else place, safe='')}", 303)
    return problem(error)
