"""Where and when a page looks: a space, a moment that everything on it follows, and how it asks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from streams.core.errors import MnemologError, UsageError
from streams.core.events import OUTSIDE
from streams.gateways.http.door import Door
from streams.gateways.http.limits import SIGNED, problem
from streams.gateways.moments import present
from streams.gateways.terminal import printable
from streams.logs.where import told_place

Row = dict[str, Any]

COLOURS = 12
"""Of efforts, in the order in which they opened; the next ones begin again."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    # Why not no-referrer: browsers would then send `Origin: null` with the page's own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
HERE = Path(__file__).parent
LIVE = timedelta(minutes=5)
"""How late a turn of live talk is recorded at most; in live talk the runtime lets deadlines pass in silence, too."""
TYPES = [name.rpartition(".v")[0] for name in OUTSIDE]


class Exact(str):
    """A text that must come back as it is: an id in a form. It is escaped like any other."""


def shown(value: Any) -> Any:
    """What a template puts into a page: what others wrote must not change the order of the words around it."""
    if value is None:
        return ""
    return printable(value) if isinstance(value, str) and not isinstance(value, Exact | Markup) else value


def moment(at: str | None) -> datetime | None:
    """A time as questions answer it."""
    return None if not at else datetime.fromisoformat(at).astimezone(UTC)


def clock(at: str | None) -> str:
    """A time, to the minute."""
    found = moment(at)
    return found.strftime("%Y-%m-%d %H:%M") if found else ""


def span(seconds: float) -> str:
    """How long something is, in the one unit that suits."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size or unit == "minute":
            count = round(seconds / size)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    raise AssertionError("minutes suit all that is short")


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("streams.gateways.http.page"), autoescape=True, undefined=StrictUndefined,
        finalize=shown, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"exact": Exact, "clock": clock, "number": lambda value: f"{value:,}"}
    return made


TEMPLATES = _environment()


def page(template: str, status: int = 200, **given: Any) -> HTMLResponse:
    """A page, with the headers that each has."""
    text = TEMPLATES.get_template(template).render({"is_signed": False} | given)
    return HTMLResponse(text.encode(errors="replace"), status, HEADERS)


class PageRoute(APIRoute):
    """A route whose errors are told as a page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        plain = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await plain(request)
            except RequestValidationError as error:
                fault = error.errors()[0]
                found: MnemologError = UsageError(f"{fault['loc'][-1]}: {fault['msg']}", "go back, and try again")
            except MnemologError as error:
                found = error
            return page("error.html", problem(found).status_code, error=found, is_signed=SIGNED in request.cookies)

        return handled


@dataclass
class Scene:
    """What every page knows."""

    door: Door
    path: str
    given: dict[str, str]
    """What the address says beside space and moment."""
    space: str
    as_of: str
    after: str
    is_signed: bool
    spaces: list[Row] = field(default_factory=list)
    partition: int = 0
    first: int = 0
    last: int = 0
    """Positions of the space's first and newest turn."""
    now: str | None = None
    """The time of the newest turn at the moment that is looked at."""
    clock: datetime | None = None
    """What time it is for notes: the real time where the talk is live, else that of the newest turn."""
    position: int = 0
    """Where the moment lies in the log."""
    types = TYPES

    @property
    def may_mend(self) -> bool:
        """Whether what is shown is now, and the key may write."""
        return self.door.caller.may_write and not self.as_of

    @property
    def held(self) -> Row | None:
        """What the space holds now; None for nothing."""
        return next((row for row in self.spaces if row["space"] == self.space), None)

    def url(self, path: str | None = None, **more: Any) -> str:
        """The address of a page in the same space and at the same moment, unless `more` names others."""
        given = ({"space": self.space, "as_of": self.as_of} if path else self.here) | more
        named = {key: str(value) for key, value in given.items() if value not in (None, "")}
        return f"{path or self.path}?{urlencode(named, errors='replace')}"

    @property
    def here(self) -> dict[str, str]:
        """The address of this page, in parts."""
        return {"space": self.space, "as_of": self.as_of} | self.given

    def place(self, position: int) -> str:
        """A position as an address has it."""
        return told_place(self.partition, position)

    def present(self) -> Row:
        """What a question about a context is given where it is asked now, as the command line gives it."""
        return {} if self.as_of else {"live": present()}

    async def ask(self, what: str, **given: Any) -> Any:
        """The answer to a question, about this space at this moment."""
        moments = {"as_of": self.as_of, "after": self.after}
        moments = {name: value for name, value in moments.items() if value and not (name == "after" and self.as_of)}
        return await self.door.ask(what, **({"space": self.space} | moments | given))

    async def rows(self, view: str, **how: Any) -> list[Row]:
        """Rows of a view."""
        found: list[Row] = await self.ask("view", name=view, **how)
        return found

    async def colours(self) -> dict[str, Row]:
        """What is said of each effort, and its colour."""
        found = await self.rows("effort_facts", order="opened_at, effort")
        return {row["effort"]: row | {"colour": n % COLOURS} for n, row in enumerate(found)}


async def scene(request: Request, door: Door) -> Scene:
    """Where and when a request looks. Raises DeniedError for a space that the key is not for."""
    given = dict(request.query_params)
    space, as_of, after = given.pop("space", ""), given.pop("as_of", ""), given.pop("after", "")
    spaces = await door.ask("spaces", **({"after": after} if after else {}))
    if not space and (own := [row["space"] for row in sorted(spaces, key=lambda row: row["last_at"])]):
        space = own[-1]
    space = door.caller.space(space or (door.caller.spaces or (None,))[0])
    found = Scene(door, request.url.path, given, space, as_of, after, SIGNED in request.cookies, spaces)
    if found.held is None:
        return found
    ends = {"name": "recorded_turns", "limit": 1, "space": found.space}
    first, last, newest = await asyncio.gather(
        door.ask("view", order="position", **ends),
        door.ask("view", order="position DESC", **ends),
        found.rows("recorded_turns", order="position DESC", limit=1),
    )
    found.partition, found.first, found.last = last[0]["partition"], first[0]["position"], last[0]["position"]
    if newest:
        found.now, found.position = newest[0]["at"], newest[0]["position"]
        at, recorded = moment(newest[0]["at"]), moment(newest[0]["recorded_at"])
        is_live = not as_of and at is not None and recorded is not None and recorded - at <= LIVE
        found.clock = datetime.now(UTC) if is_live else at
    if place := re.fullmatch(r"(?:\d+:)?(\d{1,18})", as_of):
        found.position = int(place[1])
    return found
