"""What the code says of itself: the tree of processors as a picture, and their parameters as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from streams.processor import ROOT, Params, Processor


def edges(processors: Iterable[Processor[Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """What each processor reads, its name, and the types it emits."""
    for processor in processors:
        yield processor.reads, processor.name, [_type(cls) for cls in processor.emits]


def _type(cls: type[Any]) -> str:
    return next(str(f.default) for f in fields(cls) if f.name == "type")


def mermaid(processors: Iterable[Processor[Any]]) -> str:
    """The tree as a Mermaid diagram."""
    lines = ["flowchart LR", f"    {ROOT}[(raw log)]"]
    for reads, name, emits in edges(processors):
        told = "<br/>".join(type_.rpartition(".v")[0] for type_ in emits)
        lines.append(f'    {reads} --> {name}["<b>{name}</b><br/>{told}"]')
    return "\n".join(lines) + "\n"


def parameter_rows(processors: Iterable[Processor[Any]], current: Mapping[str, Params]) -> list[dict[str, Any]]:
    """Every parameter with its value, default, unit, limits, reason and source."""
    rows = []
    for processor in processors:
        values = current[processor.name].model_dump(mode="json")
        defaults = processor.params().model_dump(mode="json")
        properties = processor.params.model_json_schema()["properties"]
        for name, about in properties.items():
            rows.append(
                {
                    "processor": processor.name,
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
