"""The memory seams of other frameworks over `mnemolog.Memory`: each file needs the package that it is named for.

| import | in place of |
|---|---|
| `openai_agents.MnemologSession` | a `Session` of the OpenAI Agents SDK |
| `langgraph.MnemologStore` | a `BaseStore` of LangGraph |
| `anthropic_memory.MemoryTool`, `.AsyncMemoryTool` | Anthropic's memory tool over files |
| `mem0.Memory` | mem0's `Memory` |
| `pydantic_ai.MnemologConversationStore` | a `ConversationStore` of Pydantic AI |

What comes in is recorded as turns, so that contexts and recall know it, and comes back as it was. Nothing is deleted:
what is popped, cleared, edited or deleted is retracted, and history keeps it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar

import orjson

from streams.core.halves import whole_text
from streams.gateways.sources.shared import name_of

T = TypeVar("T")

DEEPEST = 48
"""How deep values may nest to be kept as they are: events hold no deeper than 64."""


def kept(value: Any) -> dict[str, Any]:
    """A value of JSON as fields of a part, from which `given` makes it again exactly.

    As it is where an event can hold it. What only Python's JSON can say (half a character, a number of any length, NaN,
    lists in lists without end) is kept as text. Raises TypeError for what is no JSON.
    """
    try:
        if _depth(value) <= DEEPEST and orjson.loads(orjson.dumps(value)) == value:
            return {"value": value}
    except (RecursionError, TypeError, ValueError):
        pass
    return {"json": json.dumps(value)}


def given(row: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The part of type `kind`, with its `value`, of a row of the view `recorded_turns`; None where it has none."""
    parts: list[dict[str, Any]] = json.loads(row["parts"] or "[]")
    for part in parts:
        if part.get("type") == kind:
            return part if "value" in part else part | {"value": json.loads(part["json"])}
    return None


def digest(*what: Any) -> str:
    """A name that is always the same for the same JSON."""
    return hashlib.blake2b(json.dumps(what, sort_keys=True).encode(), digest_size=12).hexdigest()


def named(value: str) -> str:
    """What events may be called of what something is called elsewhere: different names stay different."""
    clean = name_of(whole_text(value))
    return clean if clean and clean == value else f"{clean[:160]}-{digest(value)}".lstrip("-")


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(_depth, inner), default=0)


def awaited(call: Callable[..., T]) -> Callable[..., Coroutine[Any, Any, T]]:
    """A method to be awaited: it calls one of what `self.own` is, in a thread."""

    @wraps(call)
    async def waiting(self: Any, *given: Any, **more: Any) -> T:
        return await asyncio.to_thread(call, self.own, *given, **more)

    return waiting
