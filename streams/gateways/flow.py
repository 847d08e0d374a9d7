"""What the code says of itself: who reads whom as a picture, and their parameters as rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from streams.core.params import Params
from streams.core.processor import RAW, Processor


def emitted(processor: Processor[Any]) -> list[str]:
    """The types that a processor emits."""
    return [next(str(f.default) for f in fields(cls) if f.name == "type") for cls in processor.emits]


def mermaid(processors: Iterable[Processor[Any]]) -> str:
    """What reads what, as a Mermaid diagram."""
    lines = ["flowchart LR", f"    {RAW}[(raw log)]"]
    for processor in processors:
        types = "<br/>".join(type_.rpartition(".v")[0] for type_ in emitted(processor))
        lines += [f"    {stream} --> {processor.name}" for stream in processor.reads]
        lines.append(f'    {processor.name}["<b>{processor.name}</b><br/>{types}"]')
    return "\n".join(lines) + "\n"


def parameter_rows(current: Mapping[str, Params]) -> list[dict[str, Any]]:
    """Every parameter with its value, default, unit, limits, reason and source; `current` by what they belong to."""
    rows = []
    for owner, params in current.items():
        values = params.plain()
        defaults = type(params)().plain()
        properties = type(params).model_json_schema()["properties"]
        for name, about in properties.items():
            rows.append(
                {
                    "of": owner,
                    "parameter": name,
                    "value": values[name],
                    "default": defaults[name],
                    "unit": about.get("unit", ""),
                    "limits": _limits(about),
                    "why": about.get("description", ""),
                    "source": about.get("source", ""),
                }
            )
    return rows


def _limits(about: dict[str, Any]) -> str:
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    return " ".join(f"{sign} {about[key]}" for key, sign in signs.items() if key in about)
