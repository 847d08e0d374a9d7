"""Signing in with a key, and the files that pages need."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse, RedirectResponse

from streams.core.errors import UsageError
from streams.gateways.http.limits import SIGNED
from streams.gateways.http.page.scene import HERE, PageRoute, page

entry = APIRouter(route_class=PageRoute, include_in_schema=False)

KEPT = 30 * 24 * 3600
"""Seconds that a browser keeps a key."""
FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 20


def within(path: str) -> str:
    """A place on this server; the overview for any other."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isascii() and path.isprintable()
    return path if is_own else "/"


async def form(request: Request) -> dict[str, str]:
    """The fields of a form. Raises UsageError for what is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise UsageError("this is no form", f"send {FORM}")
    try:
        found = parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise UsageError(f"the form cannot be read: {error}", "go back, and try again") from None
    return {name: values[-1] for name, values in found.items()}


@entry.get("/sign-in")
async def sign_in(next: str = "/") -> Response:
    """Asks for a key."""
    return page("sign_in.html", next=within(next), wrong=False)


@entry.post("/sign-in")
async def signed_in(request: Request) -> Response:
    """Has the browser keep a key, out of the reach of scripts and of other sites."""
    given = await form(request)
    key, next = given.get("key", "").strip(), within(given.get("next", "/"))
    if not key.isascii() or request.app.state.keys.find(key) is None:
        return page("sign_in.html", 401, next=next, wrong=True)
    answer = RedirectResponse(next, 303)
    is_safe = request.url.scheme == "https"
    answer.set_cookie(SIGNED, key, max_age=KEPT, httponly=True, samesite="strict", secure=is_safe)
    return answer


@entry.post("/sign-out")
async def signed_out() -> Response:
    """Has the browser forget the key."""
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(SIGNED, httponly=True, samesite="strict")
    return answer


def file(name: str, kind: str) -> None:
    """A file of the page, at its own address."""

    @entry.get(f"/{name}", name=name)
    async def found() -> Response:
        headers = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        return FileResponse(HERE / name, headers=headers, media_type=kind)


for name, kind in (("page.css", "text/css"), ("page.js", "text/javascript"), ("page.svg", "image/svg+xml")):
    file(name, kind)
