"""What a memory records of how it was made, and whether this program can fold it further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from projections.asking import asking
from projections.store import Store
from streams.core.driver import root_schema
from streams.core.errors import MemoryFileError
from streams.core.params import Params
from streams.core.processor import RAW, Processor, lineages, params_of
from streams.logs.log import Log

WAY_OUT = "`mnemolog replay --as next`, look at `mnemolog diff live next`, then `mnemolog promote next`"


def memory_meta(
    log: Log, name: str, processors: Sequence[Processor[Any]], params: Mapping[str, Params], **more: object
) -> dict[str, Any]:
    """What a memory records of how it was made: of its own processors, and of how it is asked."""
    mine = {p.name for p in processors} | asking(processors).keys()
    return {
        "name": name,
        "log_id": log.id,
        "partitions": log.partitions,
        "params": {name: one.model_dump(mode="json") for name, one in params.items() if name in mine},
        "lineages": lineages(processors, params, root_schema()),
    } | more


def changed_since(processors: Sequence[Processor[Any]], params: str, then: Mapping[str, str]) -> list[str]:
    """What derives otherwise now than in a memory with these `params` (JSON) and lineages; [] for nothing.

    Raises ValueError for parameters this program does not know.
    """
    now = lineages(processors, params_of(processors, orjson.loads(params)), root_schema())
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    return ["the reading of turns"] if RAW in changed else changed


def check_memory(store: Store, log: Log, processors: Sequence[Processor[Any]]) -> dict[str, Params]:
    """The parameters a memory was folded with. Raises MemoryFileError where it cannot be folded further."""
    if store.meta("log_id") != log.id or int(store.meta("partitions")) != log.partitions:
        raise MemoryFileError(f"{store.path} was folded from another log", "move it away, or bring back its log")
    try:
        changed = changed_since(processors, store.meta("params"), store.lineages)
    except ValueError as error:
        raise MemoryFileError(f"{store.path} was folded with parameters this program does not know", WAY_OUT) from error
    if changed:
        raise MemoryFileError(f"{store.path} was folded by another version of {', '.join(changed)}", WAY_OUT)
    return params_of(processors, orjson.loads(store.meta("params")))
