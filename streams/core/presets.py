"""Presets: named values for the parameters of all mechanisms together. What a preset leaves out keeps its default.

They differ in how long memories last, how often they are consolidated, and which kind of memory counts most. Each
mechanism states its own share (`Processor.presets`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streams.core.processor import Processor

PRESETS = {
    "chatbot": "a companion: what was said weeks ago matters, what the user is like and feels matters most",
    "task-agent": "a worker: the task at hand is all; how things are done outlasts what was done",
    "personal-assistant": "an assistant of one person: the week's matters, standing wishes, some how-to",
    "researcher": "an archive: what was found years ago may be what is needed; nothing is ever forgotten",
}
"""By name: for whom it is."""


def preset(processors: Iterable[Processor[Any]], name: str) -> dict[str, dict[str, Any]]:
    """The values of a preset, by processor and parameter. Raises KeyError for an unknown one."""
    if name not in PRESETS:
        raise KeyError(name)
    return {p.name: dict(p.presets[name]) for p in processors if name in p.presets}
