"""JSON Schemas of what mnemolog takes and stores, generated from the event types themselves."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from streams.core import events
from streams.core.edge import TURN, kind_of
from streams.core.events import GIVEN, OUTSIDE

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LINE = "input-line"
"""The name of the schema of one line of the `lines` format."""

Schema = dict[str, Any]


def schemas() -> dict[str, Schema]:
    """By name: every outside event as the log stores it, and a line as `feed` takes it."""
    stored = {name: {"$schema": DIALECT} | _stored(name) for name in OUTSIDE}
    return stored | {LINE: _line()}


def _stored(name: str) -> Schema:
    schema = TypeAdapter(OUTSIDE[name]).json_schema()
    schema["required"] = sorted({*schema["required"], "type"})
    for kind in OUTSIDE[name].__mro__:
        for field, said in _said().get(kind.__name__, {}).items():
            about = {"description": said} | schema["properties"][field]
            schema["properties"][field] = dict(sorted(about.items()))
    return schema


@cache
def _said() -> dict[str, dict[str, str]]:
    """What is said below the fields of events, by class and field.

    Why here, and not by pydantic: it reads the source of a class for it, and does so for each that is to be validated,
    too, which takes four times as long as all else that validation needs.
    """
    classes = (node for node in ast.parse(inspect.getsource(events)).body if isinstance(node, ast.ClassDef))
    return {node.name: dict(_docstrings(node)) for node in classes}


def _docstrings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(node.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(said))):
                yield name, inspect.cleandoc(said)


def _line() -> Schema:
    return {
        "$schema": DIALECT,
        "title": "Input line",
        "description": "A turn, or with a `type` any other event. What has a default may be left out or null.",
        "anyOf": [_as_line(name) for name in GIVEN],
    }


def _as_line(name: str) -> Schema:
    """An event as it may be written in a line: defaults left out or null, the type with or without its version."""
    schema, kind = _stored(name), kind_of(name)
    fields = {
        field: _or_null(value) if field in kind.optional else value for field, value in schema["properties"].items()
    }
    fields["type"] = {"enum": [name, name.rpartition(".v")[0]]}
    needed = sorted(field for field in schema["required"] if field not in kind.optional)
    if name == TURN:
        fields["type"] = _or_null(fields["type"])
        fields["content"] = _or_null(fields["content"])
        schema["anyOf"] = [
            {"required": ["content"], "properties": {"content": {"type": "string"}}},
            {"required": ["parts"], "properties": {"parts": {"type": "array", "minItems": 1}}},
        ]
        needed.remove("content")
    else:
        needed.append("type")
    return schema | {"properties": fields, "required": needed}


def _or_null(schema: Schema) -> Schema:
    notes = {key: value for key, value in schema.items() if key in ("title", "description", "default")}
    rest = {key: value for key, value in schema.items() if key not in notes}
    return notes | {"anyOf": [rest, {"type": "null"}]}
