"""What workers emit: a set of processors under one set of parameters, which has a group and two topics of its own.

Sets are noted in the control topic, so that readers find their rows. A memory that is to be promoted is a candidate:
its parameters are noted under `params/NAME`, so that workers anywhere (`mnemolog worker --memory NAME`) make its rows
beside those of live.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from streams.core.driver import root_schema
from streams.core.errors import BusyError, LogError, UsageError
from streams.core.params import Params
from streams.core.processor import RAW, Processor, lineages, params_of
from streams.logs.kafka.connection import Connection, admin, run
from streams.logs.kafka.topics import Names, delete_group, listing, members, read_notes, write_notes
from streams.logs.switch import remove
from streams.runtime import LIVE

KEY = "params"
CANDIDATE = f"{KEY}/"
FORMAT = 2
"""Of the records of rows and state. A set of another one is another set: what reads the one cannot read the other."""
SET = f"set{FORMAT}/"
EARLIER = "set/"
"""What sets of the first format were noted under."""
Lineages = Mapping[str, str]
"""The lineage of each processor, by name."""


def set_id(emitted: Lineages) -> str:
    """The id of a set of lineages: 16 hex digits."""
    return hashlib.sha256(orjson.dumps([FORMAT, dict(emitted)], option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def lineages_of(processors: Sequence[Processor[Any]], params: Mapping[str, Params]) -> dict[str, str]:
    """The lineages of processors under these parameters."""
    found = lineages(processors, params, root_schema())
    del found[RAW]
    return found


def note_of(memory: str) -> str:
    """The key under which the parameters of a memory are noted in the control topic."""
    return KEY if memory == LIVE else CANDIDATE + memory


def noted_sets(notes: Mapping[str, str]) -> dict[str, Lineages]:
    """All sets that workers have emitted, by id."""
    return {key.removeprefix(SET): orjson.loads(said) for key, said in notes.items() if key.startswith(SET)}


def sets_for(notes: Mapping[str, str], wanted: Lineages) -> dict[str, Lineages]:
    """The sets whose rows make up a memory of these lineages, by id.

    Those that have nothing else, where that is enough: what is made for others beside it need not be read.
    """
    sets = noted_sets(notes)
    own = {name: emitted for name, emitted in sets.items() if emitted.items() <= wanted.items()}
    if wanted.keys() <= {processor for emitted in own.values() for processor in emitted}:
        return own
    return {name: emitted for name, emitted in sets.items() if emitted.items() & wanted.items()}


def memory_params(connection: Connection, processors: Sequence[Processor[Any]], memory: str) -> dict[str, Params]:
    """The parameters of live or of a candidate. Raises UsageError where nothing is noted of a candidate, LogError where
    this program does not know them."""
    stored = run(connection, read_notes(connection)).get(note_of(memory), "{}" if memory == LIVE else "")
    if not stored:
        raise UsageError(
            f"nothing is noted of a memory {memory!r}",
            f"make it by `mnemolog replay --as {memory}`, then start `mnemolog promote {memory}`: it waits for workers",
        )
    return _known(processors, stored, memory)


def memory_lineages(notes: Mapping[str, str], processors: Sequence[Processor[Any]]) -> dict[str, dict[str, str]]:
    """The lineages of live and of each candidate. Raises LogError for parameters that this program does not know."""
    stored = {LIVE: "{}"} | {
        key.removeprefix(CANDIDATE) if key != KEY else LIVE: said
        for key, said in sorted(notes.items())
        if key == KEY or key.startswith(CANDIDATE)
    }
    return {name: lineages_of(processors, _known(processors, said, name)) for name, said in stored.items()}


def _known(processors: Sequence[Processor[Any]], stored: str, memory: str) -> dict[str, Params]:
    names = {processor.name for processor in processors}
    try:
        said = {name: values for name, values in orjson.loads(stored).items() if name in names}  # not those of asking
        return params_of(processors, said)
    except ValueError as error:
        raise LogError(
            f"the noted parameters of {memory} are not ones that this program knows: {error}",
            "use the version of mnemolog that noted them",
        ) from error


def is_live(notes: Mapping[str, str], processors: Sequence[Processor[Any]], emitted: Lineages) -> bool:
    """Whether a set belongs to live, and to no candidate alone; False where this program does not know live."""
    with suppress(LogError):
        return emitted.items() <= memory_lineages({KEY: notes.get(KEY, "{}")}, processors)[LIVE].items()
    return False


class Listed(NamedTuple):
    """A set, and what there is of it."""

    set: str
    memories: str
    """`live` and the candidates that it belongs to; `old` where there are none."""
    processors: str
    """Those it emits: `all`, or their names."""
    records: int
    """In its topic of derived rows."""
    lag: int
    """Raw records that its workers have not taken yet."""
    topics: list[str]


def list_sets(connection: Connection, processors: Sequence[Processor[Any]]) -> list[Listed]:
    """All sets that have topics or are noted, those of live first. Raises LogError."""
    names = Names(connection.prefix)
    notes = run(connection, read_notes(connection))
    memories = memory_lineages(notes, processors)
    # Why also those not noted: `topics create` makes the topics of all of live before a worker runs.
    everything = {set_id(its): its for its in memories.values()} | noted_sets(notes)
    topics, lags = listing(connection)
    lag = {found.group: sum(found.lag.values()) for found in lags}
    there = {topic.topic: sum(topic.ends.values()) - sum(topic.begins.values()) for topic in topics}
    known = {name for topic in there if (name := names.set_of(topic))} | noted_sets(notes).keys()
    found: list[Listed] = []
    for name in sorted(known):
        emitted = everything.get(name, {})
        its = [memory for memory, lineages in memories.items() if emitted and emitted.items() <= lineages.items()]
        said = "all" if emitted.keys() == {p.name for p in processors} else " ".join(emitted) or "?"
        mine = [topic for topic in _topics(names, name) if topic in there]
        records, waiting = there.get(names.derived(name), 0), lag.get(names.group(name), 0)
        found.append(Listed(name, ", ".join(its) or "old", said, records, waiting, mine))
    return sorted(found, key=lambda one: (LIVE not in one.memories, one.memories == "old"))


def workers(connection: Connection, sets: Sequence[str]) -> dict[str, int]:
    """How many workers each of these sets has just now. Raises LogError."""
    return run(connection, _workers(connection, sets))


async def _workers(connection: Connection, sets: Sequence[str]) -> dict[str, int]:
    names = Names(connection.prefix)
    async with admin(connection) as client:
        return {name: await members(client, names.group(name)) for name in sets}


def _topics(names: Names, name: str) -> list[str]:
    return [names.derived(name), names.state(name)]


def drop_set(connection: Connection, processors: Sequence[Processor[Any]], name: str, workers: Path) -> Listed:
    """Deletes all there is of an old set, of its state in the folder of `workers` too; workers elsewhere do when they
    start. Raises UsageError for one that there is not, BusyError for one in use."""
    chosen = next((found for found in list_sets(connection, processors) if found.set == name), None)
    if chosen is None:
        raise UsageError(f"there is no set {name!r}", "`mnemolog lineages` lists them")
    if chosen.memories != "old":
        raise BusyError(
            f"{name} belongs to {chosen.memories}",
            "only old sets are dropped; `mnemolog lineages forget NAME` gives a candidate up",
        )
    run(connection, _drop(connection, chosen))
    for folder in workers.glob(f"worker-*/*/{name}"):
        remove(folder)
    return chosen


async def _drop(connection: Connection, chosen: Listed) -> None:
    group = Names(connection.prefix).group(chosen.set)
    async with admin(connection) as client:
        if count := await members(client, group):
            raise BusyError(f"{count} workers still fold {group}", "stop the workers of the old parameters first")
        noted = dict.fromkeys((SET + chosen.set, EARLIER + chosen.set))
        await write_notes(connection, noted)  # first: readers look for no topic that is gone
        await client.delete_topics(chosen.topics)
        await delete_group(client, group)


def forget_candidate(connection: Connection, name: str) -> None:
    """Gives a candidate up: its sets become old. Raises UsageError where it is none."""
    notes = run(connection, read_notes(connection))
    if name == LIVE or note_of(name) not in notes:
        raise UsageError(f"there is no candidate {name!r}", "`mnemolog lineages` lists them")
    run(connection, write_notes(connection, {note_of(name): None}))


def emitted_by(processors: Sequence[Processor[Any]], params: Mapping[str, Params], names: Collection[str]) -> Lineages:
    """The lineages of the processors `names`, of all where none are named. Raises UsageError for an unknown name."""
    found = lineages_of(processors, params)
    if unknown := sorted(set(names) - found.keys()):
        raise UsageError(f"there is no processor {', '.join(unknown)}", f"there are {', '.join(found)}")
    return {name: lineage for name, lineage in found.items() if not names or name in names}
