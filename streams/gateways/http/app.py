"""The app: the routes over a home that some process serves, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.exceptions import HTTPException

from streams.core.errors import MnemologError, UsageError
from streams.gateways import mcp
from streams.gateways.http.following import Following
from streams.gateways.http.keys import Keys
from streams.gateways.http.limits import Gate, asks_for_page, problem
from streams.gateways.http.page.acts import acts
from streams.gateways.http.page.api import api
from streams.gateways.http.page.beside import beside
from streams.gateways.http.page.entry import entry
from streams.gateways.http.page.pages import pages
from streams.gateways.http.page.scene import page
from streams.gateways.http.recording import Recording
from streams.gateways.http.routes import door, routes
from streams.gateways.schema import LINE, schemas
from streams.runtime.requests import MAX_REQUEST


class Meters:
    """What is counted."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self._asked = Counter("mnemolog_http_requests", "Requests.", ["method", "route", "status"], registry=own)
        self._took = Histogram("mnemolog_http_seconds", "Seconds of a request.", ["method", "route"], registry=own)
        self.taken = Counter("mnemolog_http_events", "Events taken.", ["outcome"], registry=own)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts a request."""
        self._asked.labels(method, route, status).inc()
        self._took.labels(method, route).observe(seconds)


def made(home: Path, is_local: bool = True, rate: float = 1000.0) -> FastAPI:
    """The app over a home. `rate`: requests a second that one caller may make; `is_local`: no key is needed."""

    tools = mcp.made(lambda context: door(context.request_context.request))
    # Why no check of hosts there: the gate has one for all requests.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools_app = tools.streamable_http_app(
        stateless_http=True, json_response=True, transport_security=security, max_request_body_size=MAX_REQUEST
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.holder = Recording(home)
            stack.push_async_callback(app.state.holder.close)
            app.state.following = Following(home)
            stack.push_async_callback(app.state.following.close)
            await stack.enter_async_context(tools.session_manager.run())
            yield

    app = FastAPI(
        title="mnemolog",
        version="1",
        description="Memory for AI agents: record turns, and ask what a model should be given.",
        lifespan=lifespan,
        docs_url=None,  # theirs loads scripts from other hosts; see page/api.py
        redoc_url=None,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="A key; none is needed on loopback."))],
    )
    app.state.meters = Meters()
    app.state.home = home
    app.state.keys = Keys(home)
    app.add_middleware(Gate, keys=app.state.keys, is_local=is_local, rate=rate, observe=app.state.meters.observe)
    for router in (routes, pages, beside, acts, api, entry):
        app.include_router(router)
    app.router.routes.extend(tools_app.routes)  # /mcp
    _tell_errors(app)
    _describe(app)
    return app


def _tell_errors(app: FastAPI) -> None:
    async def known(request: Request, error: Any) -> Response:
        return problem(error)

    async def invalid(request: Request, error: Any) -> Response:
        fault = error.errors()[0]
        where = ".".join(str(place) for place in fault["loc"][1:])
        said = "is missing" if fault["type"] == "missing" else fault["msg"]
        return problem(UsageError(f"{where}: {said}", "/docs tells the parameters"))

    async def http(request: Request, error: Any) -> Response:
        if error.status_code == 404 and asks_for_page(request.scope, request.headers):
            return page("error.html", 404, error=UsageError("There is no such page", ""))
        told = {"type": "about:blank", "title": str(error.detail), "status": error.status_code, "kind": "FailedError"}
        told |= {"error": str(error.detail), "way_out": "/docs tells the routes", "detail": str(error.detail)}
        return Response(orjson.dumps(told), error.status_code, error.headers, "application/problem+json")

    app.add_exception_handler(MnemologError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def _describe(app: FastAPI) -> None:
    """Adds the schemas of events, and the one shape of all errors, to the OpenAPI document."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema:
            return app.openapi_schema
        found = plain()
        parts = found.setdefault("components", {}).setdefault("schemas", {})
        parts[LINE] = {key: value for key, value in schemas()[LINE].items() if key != "$schema"}
        parts["Problem"] = {
            "type": "object",
            "required": ["title", "status"],
            "properties": {name: {"type": "string"} for name in ("type", "title", "detail", "way_out", "kind")}
            | {"status": {"type": "integer"}},
        }
        error = {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        for path in found["paths"].values():
            for operation in path.values():
                answers = operation["responses"]
                for status in ("401", "403", "408", "409", "413", "415", "422", "429", "503"):
                    answers[status] = {"description": "Problem (RFC 9457)"} | error
        app.openapi_schema = found
        return found

    app.openapi = described  # type: ignore[method-assign]
