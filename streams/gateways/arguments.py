"""What is wrong with the arguments of a tool, in sentences: which one, what it takes, and a call that would do.

It is read off the JSON Schema by which a tool says what it takes, so that a model is told no more and no less.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from streams.core.errors import listed

SHOWN = 60
"""Characters shown of a value that is wrong."""
KINDS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
Schema = Mapping[str, Any]


def told_wrong(tool: str, schema: Schema, arguments: Mapping[str, Any], wrong: Collection[str] = ()) -> str:
    """What is wrong with the arguments of a call: those that the tool does not take, those that are missing, and those
    that were found `wrong`; "" where nothing is."""
    known: dict[str, Schema] = schema.get("properties", {})
    needed: list[str] = schema.get("required", [])
    faults = [f"there is no argument {_shown(name)}" for name in arguments if name not in known]
    faults += [f"{name} is missing: it takes {taken(known[name])}" for name in needed if name not in arguments]
    faults += [
        f"{name} is {_shown(arguments[name])}: it takes {taken(known[name])}"
        for name in arguments
        if name in wrong and name in known
    ]
    if not faults:
        return ""
    right = {name: example(known[name]) for name in known if name in needed or (name in wrong and name in arguments)}
    takes = f"{tool} takes {listed(known)}" if known else f"{tool} takes no arguments"
    return f"{'; '.join(faults)}. {takes}; for example {tool}({json.dumps(right, ensure_ascii=False)})."


def taken(schema: Schema) -> str:
    """What an argument takes, in words."""
    if "anyOf" in schema:
        return " or ".join(taken(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return f"one of {', '.join(json.dumps(one) for one in schema['enum'])}"
    if schema.get("type") == "array":
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        inner = taken(schema.get("items", {}))
        return f"a list of {f'{least} to {most} values' if most else 'values'}, each {inner}"
    words = KINDS.get(schema.get("type", ""), "a value")
    if "minimum" in schema and "maximum" in schema:
        return f"{words} from {schema['minimum']:g} to {schema['maximum']:g}"
    if "minimum" in schema:
        return f"{words} of {schema['minimum']:g} or more"
    return f"{words} of at most {schema['maxLength']:,} characters" if "maxLength" in schema else words


def example(schema: Schema) -> Any:
    """A value that an argument takes."""
    if schema.get("examples"):
        return schema["examples"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [example(schema.get("items", {}))]
    if schema.get("type") in ("integer", "number"):
        return schema.get("default") or schema.get("maximum", 1)
    return schema.get("default") or "..."


def _shown(value: Any) -> str:
    said = json.dumps(value, ensure_ascii=False, default=str)
    return said if len(said) <= SHOWN else f"{said[:SHOWN]}…"
