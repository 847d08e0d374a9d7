"""What the OpenAPI document says, as a page: routes with their parameters, events with their fields."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from streams.gateways.http.page.scene import PageRoute, Row, page
from streams.gateways.schema import LINE

api = APIRouter(route_class=PageRoute, include_in_schema=False)


@api.get("/docs")
async def docs(request: Request) -> Response:
    """All routes by what they are for, and the fields of every event."""
    told = request.app.openapi()
    groups: dict[str, list[Row]] = {}
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            asked = [_field(one["name"], one["schema"], one["required"]) for one in operation.get("parameters", ())]
            route = {"method": method.upper(), "path": path, "about": operation.get("description", ""), "asked": asked}
            groups.setdefault(operation["tags"][0], []).append(route)
    events = [
        {
            "type": _kinds(kind["properties"]["type"])[-1],
            "about": kind.get("description", ""),
            "asked": [_field(name, one, name in kind["required"]) for name, one in kind["properties"].items()],
        }
        for kind in told["components"]["schemas"][LINE]["anyOf"]
    ]
    return page("docs.html", groups=groups, events=events)


def _field(name: str, schema: dict[str, Any], required: bool) -> Row:
    default = schema.get("default")
    return {
        "name": name,
        "kind": " or ".join(dict.fromkeys(_kinds(schema))),
        "about": schema.get("description", ""),
        "required": required,
        "default": "" if default in (None, "") else str(default),
    }


def _kinds(schema: dict[str, Any]) -> list[str]:
    """What a value may be, null apart."""
    if "anyOf" in schema:
        return [kind for one in schema["anyOf"] for kind in _kinds(one)]
    if "enum" in schema:
        return [str(value) for value in schema["enum"]]
    kind = schema.get("format") or schema.get("const") or schema.get("type", "any")
    return [] if kind == "null" else [kind]
