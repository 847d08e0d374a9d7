"""What a memory records of how it was made, and whether this program can fold it further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from projections.asking import asking
from projections.store import Connection, Known, Store, all_meta, known_by
from streams.core.driver import root_schema
from streams.core.errors import ForeignError, OutdatedError, listed
from streams.core.params import Params
from streams.core.processor import RAW, Processor, lineages, params_of
from streams.logs.log import Log, hash_at

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
        "unread": sorted(log.unread()),
        "params": {name: one.plain() for name, one in params.items() if name in mine},
        "lineages": lineages(processors, params, root_schema()),
    } | more


def changed_since(processors: Sequence[Processor[Any]], params: str, then: Mapping[str, str]) -> list[str]:
    """What derives otherwise now than in a memory with these `params` (JSON) and lineages; [] for nothing.

    Raises ValueError for parameters this program does not know.
    """
    now = lineages(processors, params_of(processors, orjson.loads(params)), root_schema())
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    return ["the reading of turns"] if RAW in changed else changed


def differs(connection: Connection, log: Log) -> str:
    """Why a memory is no fold of a beginning of the log, in words; "" where it is one."""
    meta = all_meta(connection)
    if meta.get("log_id") != log.id or int(meta["partitions"]) != log.partitions:
        return "was folded from another log"
    if back := [key for key in _unread(meta) if log.holds(key)]:
        return f"was folded without what is under keys that are here now ({listed(back)})"
    if strangers := unlike(log, known_by(connection)):
        return f"was folded from what the log held before an older one was restored ({strangers})"
    return ""


def _unread(meta: Mapping[str, str]) -> list[str]:
    """The keys that were not there when a memory was folded."""
    return list(orjson.loads(meta.get("unread", "[]")))  # an earlier version said nothing of it


def unlike(log: Log, known: Known) -> str:
    """Where something was derived from other records than the log has, in words; "" where there is no such place."""
    for partition, (offset, hash_) in sorted(known.items()):
        end = log.end(partition)
        if offset >= end:
            return f"the log ends at offset {end} of partition {partition}, before it does"
        if hash_ and offset >= 0 and hash_ != hash_at(log, partition, offset):
            return f"they differ at offset {offset} of partition {partition}, or before"
    return ""


def check_memory(store: Store, log: Log, processors: Sequence[Processor[Any]]) -> dict[str, Params]:
    """The parameters a memory was folded with, which has this program's views then.

    Raises ForeignError where it is no fold of this log, OutdatedError where it cannot be folded further.
    """
    if foreign := differs(store.connection, log):
        raise ForeignError(f"{store.path} {foreign}", "replay the log into a new memory")
    try:
        changed = changed_since(processors, store.meta("params"), store.lineages)
    except ValueError as error:
        raise OutdatedError(f"{store.path} was folded with parameters this program does not know", WAY_OUT) from error
    if changed:
        raise OutdatedError(f"{store.path} was folded by another version of {', '.join(changed)}", WAY_OUT)
    if (known := {*_unread(store.said)}) != (all_ := known | {*log.unread()}):
        store.set_meta("unread", sorted(all_))
    store.renew_views()
    return params_of(processors, orjson.loads(store.meta("params")))
