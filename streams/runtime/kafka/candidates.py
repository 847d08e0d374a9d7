"""Lineages of a log: those of live, those that wait to be promoted, and those that were left behind.

A memory that is to be promoted is a candidate: its parameters are noted in the control topic under `params/NAME`, so
that workers anywhere (`mnemolog worker --memory NAME`) make its streams beside those of live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from streams.core.driver import root_schema
from streams.core.errors import BusyError, LogError, UsageError
from streams.core.params import Params
from streams.core.processor import ROOT, Processor, lineages, params_of
from streams.logs.kafka.connection import Connection, admin, run
from streams.logs.kafka.topics import Names, listing, read_notes, write_notes

LIVE = "live"
KEY = "params"
CANDIDATE = f"{KEY}/"
GONE = "null"
"""What is noted of a candidate that was promoted or given up."""


def note_of(memory: str) -> str:
    """The key under which the parameters of a memory are noted in the control topic."""
    return KEY if memory == LIVE else CANDIDATE + memory


def memory_params(connection: Connection, processors: Sequence[Processor[Any]], memory: str) -> dict[str, Params]:
    """The parameters of live or of a candidate. Raises UsageError where nothing is noted of a candidate, LogError where
    this program does not know them."""
    notes = run(connection, read_notes(connection))
    stored = notes.get(note_of(memory), "{}" if memory == LIVE else GONE)
    if stored == GONE:
        raise UsageError(
            f"nothing is noted of a memory {memory!r}",
            f"make it by `mnemolog replay --as {memory}`, then start `mnemolog promote {memory}`: it waits for workers",
        )
    return _known(processors, stored, memory)


def live_lineages(connection: Connection, processors: Sequence[Processor[Any]]) -> dict[str, str]:
    """The lineages of live, by processor. Raises LogError for noted parameters that this program does not know."""
    notes = run(connection, read_notes(connection))
    return _lineages(processors, _known(processors, notes.get(KEY, "{}"), LIVE))


def memory_lineages(notes: Mapping[str, str], processors: Sequence[Processor[Any]]) -> dict[str, dict[str, str]]:
    """The lineages of live and of each candidate, by processor."""
    memories = [LIVE, *sorted(key.removeprefix(CANDIDATE) for key in notes if key.startswith(CANDIDATE))]
    found: dict[str, dict[str, str]] = {}
    for memory in memories:
        stored = notes.get(note_of(memory), "{}" if memory == LIVE else GONE)
        if stored != GONE:
            found[memory] = _lineages(processors, _known(processors, stored, memory))
    return found


def _lineages(processors: Sequence[Processor[Any]], params: dict[str, Params]) -> dict[str, str]:
    found = lineages(processors, params, root_schema())
    return {name: lineage for name, lineage in found.items() if name != ROOT}


def _known(processors: Sequence[Processor[Any]], stored: str, memory: str) -> dict[str, Params]:
    try:
        return params_of(processors, orjson.loads(stored))
    except ValueError as error:
        raise LogError(
            f"the noted parameters of {memory} are not ones that this program knows: {error}",
            "use the version of mnemolog that noted them",
        ) from error


class Lineage(NamedTuple):
    """What there is of one processor under one set of parameters."""

    processor: str
    lineage: str
    memories: str
    """`live` and the candidates that it belongs to; `old` where there are none."""
    events: int
    """Records in its stream."""
    lag: int | None
    """Records that its workers have not taken yet; None where it never had workers."""
    topics: list[str]


def list_lineages(connection: Connection, processors: Sequence[Processor[Any]]) -> list[Lineage]:
    """All lineages that have topics, those of live first. Raises LogError."""
    names = Names(connection.prefix)
    wanted = memory_lineages(run(connection, read_notes(connection)), processors)
    topics, lags = listing(connection)
    lag = {found.group: sum(found.lag.values()) for found in lags}
    there = {topic.topic for topic in topics}
    found: list[Lineage] = []
    for topic in topics:
        if (named := names.lineage_of(topic.topic)) is None:
            continue
        memories = [memory for memory, its in wanted.items() if its.get(named[0]) == named[1]]
        events = sum(topic.ends.values()) - sum(topic.begins.values())
        mine = [t for t in _topics(names, *named) if t in there]
        found.append(Lineage(*named, ", ".join(memories) or "old", events, lag.get(names.group(*named)), mine))
    order = [processor.name for processor in processors]
    return sorted(found, key=lambda it: (it.memories == "old", LIVE not in it.memories, _place(order, it.processor)))


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _topics(names: Names, processor: str, lineage: str) -> list[str]:
    return [names.stream(processor, lineage), names.state(processor, lineage)]


def drop_lineage(connection: Connection, processors: Sequence[Processor[Any]], lineage: str) -> Lineage:
    """Deletes the topics of an old lineage. Raises UsageError for one that there is not, BusyError for one in use."""
    listed = list_lineages(connection, processors)
    chosen = [found for found in listed if found.lineage == lineage]
    if not chosen:
        raise UsageError(f"there is no lineage {lineage!r}", "`mnemolog lineages` lists them")
    if chosen[0].memories != "old":
        raise BusyError(
            f"{chosen[0].processor} {lineage} belongs to {chosen[0].memories}",
            "only old lineages are dropped; `mnemolog lineages forget NAME` gives a candidate up",
        )
    run(connection, _delete(connection, chosen[0]))
    return chosen[0]


async def _delete(connection: Connection, chosen: Lineage) -> None:
    client = await admin(connection)
    try:
        group = Names(connection.prefix).group(chosen.processor, chosen.lineage)
        if members := await _members(client, group):
            raise BusyError(f"{members} workers still fold {group}", "stop the workers of the old parameters first")
        await client.delete_topics(chosen.topics)
    finally:
        await client.close()


async def _members(client: Any, group: str) -> int:
    """How many workers a consumer group has."""
    count = 0
    for answer in await _described(client, group):
        for found in answer.groups:
            count += len(found[5])
    return count


async def _described(client: Any, group: str) -> Any:
    """What brokers say of a group. One that never had any first makes room for them, when it is asked."""
    from aiokafka.errors import GroupCoordinatorNotAvailableError

    for _ in range(50):
        with suppress(GroupCoordinatorNotAvailableError):
            return await client.describe_consumer_groups([group])
        await asyncio.sleep(0.2)
    return await client.describe_consumer_groups([group])


def forget_candidate(connection: Connection, name: str) -> None:
    """Gives a candidate up: its lineages become old. Raises UsageError where it is none."""
    notes = run(connection, read_notes(connection))
    if name == LIVE or notes.get(note_of(name), GONE) == GONE:
        raise UsageError(f"there is no candidate {name!r}", "`mnemolog lineages` lists them")
    run(connection, write_notes(connection, {note_of(name): GONE}))
