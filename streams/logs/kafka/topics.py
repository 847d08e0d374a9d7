"""The topics of one log and of all that is derived from it: their names, their settings, their making."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka import errors as kafka_errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.protocol.admin import DeleteGroupsRequest
from aiokafka.structs import ConsumerRecord

from streams.core.errors import BusyError, LogError, UsageError, counted
from streams.core.events import MAX_EVENT_BYTES
from streams.core.patterns import lazily
from streams.logs.kafka.connection import Connection, admin, learn, once_coordinated, run, started, topics_of

PARTITIONS = 4
"""Of a log for which no number is said: workers that share the work, at most; it stays for ever."""
MAX_RECORD_BYTES = 2 * MAX_EVENT_BYTES + 1024 * 1024
"""Of every topic. Why twice an event: a dead letter keeps the bytes and headers of what was no event."""
PRODUCER: dict[str, Any] = {"acks": "all", "enable_idempotence": True, "max_request_size": MAX_RECORD_BYTES}
"""The arguments of every producer: what it was told is acknowledged is on all replicas in step, once."""
READER: dict[str, Any] = {
    "isolation_level": "read_committed",
    "enable_auto_commit": False,
    "auto_offset_reset": "none",  # why: an offset that is gone must be told, never be skipped in silence
    "fetch_max_wait_ms": 100,  # a reader that goes elsewhere waits for the fetch that waits at the end
}
"""The arguments of every reader: what a transaction did not complete does not count."""
KNOWN = 5.0
"""Seconds until a topic that was just made is known to every broker, at most: who makes it is answered before."""
SEALED = "100"
"""`max.message.bytes` of a log that takes nothing more: no event is so small, but the end of a transaction is."""
GATHER = 4096
"""Bytes for which brokers hold the fetches of those who follow a log, a tenth of a second at most: record by record,
fetching alone would keep them and the brokers busy."""
KEPT = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
LAST = {"cleanup.policy": "compact"}
TIDY = {
    "segment.bytes": str(64 * 1024 * 1024),
    "min.cleanable.dirty.ratio": "0.2",
    "delete.retention.ms": str(90 * 24 * 3_600_000),
}
"""Of new compacted topics: brokers compact all but the last segment, and a worker that recovers reads what is left. For
90 days deletions stay to be read: a worker's folder that was idle for less learns of all of them."""
_PREFIX = lazily(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.[0-9a-f]{8})?")
"""What is said, and, where an erasure moved the log, to which topics; see `moves`."""
_SET = lazily(r"[0-9a-f]{16}")


class Names:
    """What the topics and groups of a log are called. Raises UsageError for a prefix that cannot be."""

    def __init__(self, prefix: str) -> None:
        if not _PREFIX.fullmatch(prefix):
            raise UsageError(f"topics cannot begin with {prefix!r}", "use letters, digits, '-' and '_'")
        self.prefix = prefix
        self.turns = f"{prefix}.turns"
        """The raw log."""
        self.control = f"{prefix}.control"
        """Notes about the log: its id, its partitions, the parameters of live."""
        self.dead_letters = f"{prefix}.dead-letters"
        """What could not be read, with the reason."""
        self.erased = f"{prefix}.erased"
        """What is known of events that were erased; only where some were."""
        self.root = prefix.partition(".")[0]
        """The prefix that people say; its control topic tells where the log is."""

    def derived(self, set_id: str) -> str:
        """The rows that the workers of a set derive."""
        return f"{self.prefix}.derived.{set_id}"

    def state(self, set_id: str) -> str:
        """The state of a set's folds, by key: compacted."""
        return f"{self.prefix}.state.{set_id}"

    def group(self, set_id: str) -> str:
        """The consumer group of a set, and the id of its Faust app."""
        return f"{self.prefix}.{set_id}"

    def set_of(self, name: str) -> str | None:
        """The set that a group or a topic of derived rows belongs to; None for others."""
        found = name[-16:]
        return found if _SET.fullmatch(found) and name in (self.derived(found), self.group(found)) else None

    def owns(self, topic: str) -> bool:
        """Whether a topic is one of these: those of the same prefix that an erasure made are not."""
        found = topic[-16:]
        of_sets = (self.derived(found), self.state(found)) if _SET.fullmatch(found) else ()
        return topic in (self.turns, self.control, self.dead_letters, self.erased, *of_sets)


class Spec(NamedTuple):
    """A topic as it must be."""

    name: str
    partitions: int
    config: dict[str, str]


@dataclass(frozen=True, slots=True)
class Made:
    """What `create` found and did."""

    log_id: str
    partitions: int
    created: list[str]
    existing: list[str]


class Ends(NamedTuple):
    """A topic and where it stands."""

    topic: str
    partitions: int
    begins: dict[int, int]
    """The first offset kept of each partition."""
    ends: dict[int, int]
    """The next offset of each partition."""


class Lag(NamedTuple):
    """How far a group is behind the topic that it reads."""

    group: str
    topic: str
    committed: dict[int, int]
    """By partition; empty for a group that never committed."""
    lag: dict[int, int]


# -- what there must be ------------------------------------------------------------------------------------------------


def log_specs(names: Names, partitions: int) -> list[Spec]:
    """The topics of a log itself."""
    stamped = KEPT | {"message.timestamp.type": "LogAppendTime"}
    return [
        Spec(names.control, 1, LAST),
        Spec(names.turns, partitions, stamped),
        Spec(names.dead_letters, 1, LAST),
    ]


def set_specs(names: Names, sets: Iterable[str], partitions: int) -> list[Spec]:
    """The topics of what workers emit, by set."""
    return [
        spec
        for set_id in sets
        for spec in (Spec(names.derived(set_id), partitions, KEPT), Spec(names.state(set_id), partitions, LAST))
    ]


# -- making ------------------------------------------------------------------------------------------------------------


def create(
    connection: Connection, sets: Iterable[str] = (), partitions: int | None = None, replication: int | None = None
) -> Made:
    """Makes what is missing of a log and of the topics of `sets`.

    `partitions` and `replication` of a log that exists already are what they are; PARTITIONS and 1 where none are said
    for a new one. Raises UsageError where what exists differs from what must be, LogError where brokers refuse, or
    where the topic of a log's events is gone.
    """
    return run(connection, _create(connection, list(sets), partitions, replication))


def ensure_sets(connection: Connection, sets: Iterable[str]) -> Made:
    """Makes the topics of further sets beside a log that exists. Raises as `create` does, and LogError without one."""
    return run(connection, _create(connection, list(sets), None, None, beside=True))


def check(connection: Connection, sets: Iterable[str]) -> None:
    """Raises what `create` would, of a log that exists and of its sets, and makes nothing."""
    run(connection, _checked(connection, list(sets)))


async def _checked(connection: Connection, sets: Sequence[str]) -> None:
    notes = await read_notes(connection)
    async with admin(connection) as client:
        await _surveyed(client, connection, notes, sets, None, beside=True)


async def _create(
    connection: Connection, sets: Sequence[str], partitions: int | None, replication: int | None, beside: bool = False
) -> Made:
    names = Names(connection.prefix)
    notes = await read_notes(connection)  # first: all that makes a log was made before its id is noted
    async with admin(connection) as client:
        described, specs, count = await _surveyed(client, connection, notes, sets, partitions, beside)
        missing = [spec for spec in specs if spec.name not in described]
        there = described.get(names.turns, {}).get("partitions", ())
        created = await make(client, missing, replication or (len(there[0]["replicas"]) if there else 1))
        if others := [spec for spec in missing if spec.name not in created]:  # another process made some meanwhile
            await _check(client, await _described(client, {spec.name for spec in others}), others)
    if "id" not in notes:
        notes = await _identify(connection, count, first=names.control in created)
    if int(notes["partitions"]) != count:
        raise _of_other_number(names, notes, count)
    log_id = notes["id"]
    return Made(log_id, count, created, [spec.name for spec in specs if spec.name in described])


async def _surveyed(
    client: AIOKafkaAdminClient,
    connection: Connection,
    notes: Mapping[str, str],
    sets: Sequence[str],
    partitions: int | None,
    beside: bool,
) -> tuple[dict[str, dict[str, Any]], list[Spec], int]:
    """What topics there are, what must be of a log and its sets, and of how many partitions; raises as `create` does.

    Looks again, up to KNOWN seconds, where brokers differ on whether a topic is there: one may hear late it is gone.
    """
    names, deadline = Names(connection.prefix), asyncio.get_running_loop().time() + KNOWN
    while True:
        described = await _described(client)
        if "id" in notes and names.turns not in described:
            described = await _with_turns(client, names, notes["id"])
        there = described.get(names.turns, {}).get("partitions", ())
        if beside and not there:
            raise LogError(
                f"there is no topic {names.turns} on {connection.servers}", "`mnemolog topics create` makes it"
            )
        if "id" in notes and len(there) != int(notes["partitions"]):
            raise _of_other_number(names, notes, len(there))
        count = partitions or len(there) or PARTITIONS
        specs = [*log_specs(names, count), *set_specs(names, sets, count)]
        try:
            await _check(client, described, [spec for spec in specs if spec.name in described])
        except kafka_errors.UnknownTopicOrPartitionError:
            if asyncio.get_running_loop().time() >= deadline:
                raise
            await asyncio.sleep(0.05)
        else:
            return described, specs, count


async def _with_turns(client: AIOKafkaAdminClient, names: Names, log_id: str) -> dict[str, dict[str, Any]]:
    """What topics there are, once the brokers know that of a log's events. Raises LogError where it is gone.

    Made anew, it would begin at offset 0 again, and what was folded of the log before would be taken for its own.
    """
    try:
        return await _described(client, {names.turns})
    except LogError as error:
        raise LogError(
            f"{names.turns} is gone, with the events of log {log_id}, and a new one would not be that log",
            f"restore the topic, or begin another log with another MNEMOLOG_KAFKA_PREFIX (an archive of this one is "
            f"read by `mnemolog replay --archive`); who wants nothing of it deletes all topics {names.root}.*",
        ) from error


async def make(client: AIOKafkaAdminClient, specs: list[Spec], replication: int) -> list[str]:
    """Makes topics; the names of those that were not there. Raises LogError where the brokers refuse."""
    safe = {"min.insync.replicas": "2" if replication > 2 else "1", "max.message.bytes": str(MAX_RECORD_BYTES)}
    wanted = [
        NewTopic(s.name, s.partitions, replication, topic_configs=s.config | safe | (TIDY if s.config == LAST else {}))
        for s in specs
    ]
    if not wanted:
        return []
    answer = await client.create_topics(wanted)
    created: list[str] = []
    for name, code, *said in answer.topic_errors:
        error = kafka_errors.for_code(code)
        if error is kafka_errors.InvalidReplicationFactorError:
            raise LogError(
                f"{replication} copies of a topic need as many brokers: {said[0] if said else ''}",
                "say --replication with a smaller number, or start more brokers",
            )
        if error is not kafka_errors.NoError and error is not kafka_errors.TopicAlreadyExistsError:
            raise error(f"{name}: {said[0] if said and said[0] else error.__name__}")
        if error is kafka_errors.NoError:
            created.append(name)
    return created


async def _described(client: AIOKafkaAdminClient, wanted: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """What topics there are. Asks again, up to KNOWN seconds, where one that is `wanted` is not there yet: a broker
    hears after its controller of what somebody else made. Raises LogError where it never does."""
    deadline = asyncio.get_running_loop().time() + KNOWN
    while True:
        found = {topic["topic"]: topic for topic in await client.describe_topics()}
        if not (lacks := sorted({*wanted} - found.keys())):
            return found
        if asyncio.get_running_loop().time() >= deadline:
            raise LogError(f"brokers say that {', '.join(lacks)} is there, and do not know it", "try again")
        await asyncio.sleep(0.05)


async def _check(client: AIOKafkaAdminClient, described: Mapping[str, Any], specs: Iterable[Spec]) -> None:
    """Raises UsageError, naming every difference, where a topic is not as it must be."""
    specs = list(specs)
    configs = await _configs(client, [spec.name for spec in specs])
    faults: list[str] = []
    for spec in specs:
        count = len(described[spec.name]["partitions"])
        if count != spec.partitions:
            faults.append(f"{spec.name} has {count} partitions, not {spec.partitions}")
        found = configs[spec.name]
        faults += [
            f"{spec.name} has {name}={found.get(name)}, not {value}"
            for name, value in spec.config.items()
            if found.get(name) != value
        ]
        if found.get("max.message.bytes") == SEALED:
            raise BusyError(f"an erasure is about to move {spec.name}", "try again; `mnemolog erase` ends it")
        if int(found.get("max.message.bytes", 0)) < MAX_RECORD_BYTES:
            faults.append(f"{spec.name} has max.message.bytes={found.get('max.message.bytes')}, not {MAX_RECORD_BYTES}")
    if faults:
        raise UsageError(
            "; ".join(faults),
            "mend the settings on the brokers (kafka-configs --alter), copy the log to another number of partitions "
            "(`mnemolog log copy`), or choose another MNEMOLOG_KAFKA_PREFIX; nothing was changed",
        )


async def _configs(client: AIOKafkaAdminClient, topics: list[str]) -> dict[str, dict[str, str]]:
    """The settings of topics, by topic."""
    if not topics:
        return {}
    found: dict[str, dict[str, str]] = {}
    for answer in await client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, t) for t in topics]):
        for code, message, _, name, entries in answer.resources:
            if code:
                raise kafka_errors.for_code(code)(f"{name}: {message}")
            found[name] = {entry[0]: entry[1] for entry in entries}
    return found


# -- notes about the log -----------------------------------------------------------------------------------------------


async def _identify(connection: Connection, partitions: int, first: bool) -> dict[str, str]:
    """What is noted about the log: its id, too, given by whoever made its control topic."""
    # Not the first, another process made the topic just now and is about to write.
    notes = await read_notes(connection, patience=0.0 if first else 5.0)
    if "id" not in notes:
        # The id last: who reads an id, whenever it is, has read all that makes it a log.
        notes = {"partitions": str(partitions), "id": uuid.uuid4().hex[:12]}
        await write_notes(connection, notes)
    return notes


def _of_other_number(names: Names, notes: Mapping[str, str], partitions: int) -> UsageError:
    return UsageError(
        f"the log {notes['id']} was made with {counted(int(notes['partitions']), 'partition')}, {names.turns} has "
        f"{partitions}",
        f"a log keeps its number of partitions; with another MNEMOLOG_KAFKA_PREFIX, `mnemolog log copy --from "
        f"{names.root} --partitions {partitions}` copies it; send again what clients wrote to other partitions",
    )


async def read_notes(connection: Connection, patience: float = 0.0) -> dict[str, str]:
    """What is noted about the log; waits for an id at most `patience` seconds. Empty where there is no log."""
    deadline = asyncio.get_running_loop().time() + patience
    async with started(AIOKafkaConsumer(**connection.client(), **READER)) as consumer:
        control = TopicPartition(Names(connection.prefix).control, 0)
        notes: dict[str, str] = {}
        while True:
            if control.topic in await topics_of(consumer):  # why first: asking for a topic may make it, on some brokers
                await learn(consumer, [control.topic])
                end = (await consumer.end_offsets([control]))[control]
                await read_notes_to(consumer, control, notes, end)
            if "id" in notes or asyncio.get_running_loop().time() >= deadline:
                return notes
            await asyncio.sleep(0.05)


async def read_notes_to(consumer: AIOKafkaConsumer, control: TopicPartition, notes: dict[str, str], end: int) -> None:
    """Reads `control` on into `notes`, up to offset `end`; a fresh consumer begins at the beginning.

    Why the end is asked for before: a broker answers a connection's questions in turn, and a fetch that waits for
    records holds up the next question for half a second.
    """
    if end == 0:
        return
    if not consumer.assignment():
        consumer.assign([control])
        consumer.seek(control, 0)
    while await consumer.position(control) < end:
        for message in (await consumer.getmany(timeout_ms=500)).get(control, ()):
            take_note(notes, message.key, message.value)


def take_note(notes: dict[str, str], key: bytes | None, value: bytes | None) -> None:
    """Takes a record of the control topic up; one without value ends what was noted."""
    if key is not None and value is None:
        notes.pop(key.decode(), None)
    elif key is not None and value is not None:
        notes[key.decode()] = value.decode()


async def write_notes(connection: Connection, notes: Mapping[str, str | None]) -> None:
    """Notes words about the log, one a key; the newest counts, and None ends what was noted."""
    control = Names(connection.prefix).control
    async with started(AIOKafkaProducer(**connection.client(), **PRODUCER)) as producer:
        for key, value in notes.items():
            said = None if value is None else value.encode()
            await producer.send_and_wait(control, key=key.encode(), value=said, partition=0)


# -- reading all of a topic --------------------------------------------------------------------------------------------


async def lacking(consumer: AIOKafkaConsumer, wanted: Collection[str]) -> list[str]:
    """The topics of `wanted` that do not exist, in order; what is not there is asked for again up to KNOWN seconds."""
    deadline = asyncio.get_running_loop().time() + KNOWN
    while missing := sorted(set(wanted) - await topics_of(consumer)):
        if asyncio.get_running_loop().time() >= deadline:
            break
        await asyncio.sleep(0.05)
    return missing


async def bounds(
    connection: Connection, place: TopicPartition, isolation: str = READER["isolation_level"]
) -> tuple[int, int]:
    """The first offset that a partition keeps, and the one after the last that is committed, or only written."""
    how = connection.client() | READER | {"isolation_level": isolation}
    async with started(AIOKafkaConsumer(**how)) as consumer:
        await learn(consumer, [place.topic])
        return (await consumer.beginning_offsets([place]))[place], (await consumer.end_offsets([place]))[place]


async def looked_up(
    connection: Connection, place: TopicPartition, offset: int
) -> tuple[int, ConsumerRecord[bytes, bytes] | None]:
    """The end of a partition, and the record that stands at an offset, if one does; committed or not."""
    how = connection.client() | READER | {"isolation_level": "read_uncommitted"}
    async with started(AIOKafkaConsumer(**how)) as consumer:
        await learn(consumer, [place.topic])
        begin = (await consumer.beginning_offsets([place]))[place]
        end = (await consumer.end_offsets([place]))[place]
        if begin <= offset < end:
            consumer.assign([place])
            consumer.seek(place, offset)
            while await consumer.position(place) <= offset:
                for message in (await consumer.getmany(place, timeout_ms=500, max_records=1)).get(place, ()):
                    return end, message if message.offset == offset else None
        return end, None


async def whole(
    connection: Connection, place: TopicPartition, start: int = 0, stop: int | None = None
) -> AsyncIterator[list[ConsumerRecord[bytes, bytes]]]:
    """What a partition holds from `start` on, to its end as of now, or until that is committed to `stop`, page by page;
    empty pages while nothing comes. Raises LogError where there is no such topic.
    """
    async with started(AIOKafkaConsumer(**connection.client(), **READER)) as consumer:
        if await lacking(consumer, [place.topic]):
            raise LogError(f"there is no topic {place.topic}", "`mnemolog topics create` makes what is missing")
        await learn(consumer, [place.topic])
        begin = max(start, (await consumer.beginning_offsets([place]))[place])
        end = stop if stop is not None else (await consumer.end_offsets([place]))[place]
        if begin >= end:
            return
        consumer.assign([place])
        consumer.seek(place, begin)
        while await consumer.position(place) < end:
            page = (await consumer.getmany(place, timeout_ms=500, max_records=2_000)).get(place, [])
            yield [message for message in page if message.offset < end]


# -- looking -----------------------------------------------------------------------------------------------------------


def listing(connection: Connection) -> tuple[list[Ends], list[Lag]]:
    """The topics of the log with their offsets, and how far each group is. Raises LogError."""
    return run(connection, _listing(connection))


async def _listing(connection: Connection) -> tuple[list[Ends], list[Lag]]:
    names = Names(connection.prefix)
    async with admin(connection) as client:
        described = await _described(client)
        mine = {t: len(d["partitions"]) for t, d in sorted(described.items()) if names.owns(t)}
        groups = {names.group(found) for topic in mine if (found := names.set_of(topic))}
        groups |= {group for group, *_ in await client.list_consumer_groups() if names.set_of(group)}
        committed = {
            group: await once_coordinated(partial(client.list_consumer_group_offsets, group))
            for group in sorted(groups)
        }
    ends = await _ends(connection, mine)
    offsets = {group: {place: at.offset for place, at in committed[group].items()} for group in committed}
    return list(ends.values()), _lags(names, offsets, ends)


async def _ends(connection: Connection, topics: Mapping[str, int]) -> dict[str, Ends]:
    places = [TopicPartition(topic, p) for topic, count in topics.items() for p in range(count)]
    async with started(AIOKafkaConsumer(**connection.client())) as consumer:
        await learn(consumer, topics)
        begins = await consumer.beginning_offsets(places) if places else {}
        ends = await consumer.end_offsets(places) if places else {}
    return {
        topic: Ends(
            topic,
            count,
            {p: begins[TopicPartition(topic, p)] for p in range(count)},
            {p: ends[TopicPartition(topic, p)] for p in range(count)},
        )
        for topic, count in topics.items()
    }


def _lags(names: Names, groups: Mapping[str, Mapping[Any, int]], ends: Mapping[str, Ends]) -> list[Lag]:
    found = []
    turns = ends.get(names.turns)
    for group, committed in groups.items():
        if turns:
            offsets = {place.partition: offset for place, offset in sorted(committed.items()) if offset >= 0}
            lag = {p: end - offsets.get(p, turns.begins[p]) for p, end in turns.ends.items()}
            found.append(Lag(group, names.turns, offsets, lag))
    return found


def is_sealed(connection: Connection) -> bool:
    """Whether the log takes nothing just now: an erasure is about to move it, or died then. Raises LogError."""
    return run(connection, _is_sealed(connection))


async def _is_sealed(connection: Connection) -> bool:
    turns = Names(connection.prefix).turns
    async with admin(connection) as client:
        return (await _configs(client, [turns]))[turns].get("max.message.bytes") == SEALED


# -- groups ------------------------------------------------------------------------------------------------------------


async def members(client: AIOKafkaAdminClient, group: str) -> int:
    """How many workers a consumer group has."""
    answers = await once_coordinated(lambda: client.describe_consumer_groups([group]))
    return sum(len(one[5]) for answer in answers for one in answer.groups)


async def delete_group(client: AIOKafkaAdminClient, group: str) -> None:
    """Has the brokers forget a consumer group without members. Raises KafkaError."""
    coordinator = await client.find_coordinator(group)
    answer: Any = await client._send_request_to_node(coordinator, DeleteGroupsRequest([group]))
    for name, code in answer.results:
        error = kafka_errors.for_code(code)
        if error not in (kafka_errors.NoError, kafka_errors.GroupIdNotFound):
            raise error(name)
