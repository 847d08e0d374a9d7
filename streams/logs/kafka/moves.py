"""Which topics a log is in: an erasure copies it to new ones, under a prefix `ROOT.` and eight hex digits, and moves it
there.

The control topic of the root, the prefix that people say, tells where the log is. Of a move there are four steps:

    ORDER     noted beside the log: a copy is being made, under that prefix
    SEALED    a setting of the log's topic, which takes nothing more: what is in it is copied to the end
    MOVED     noted in the root's control topic: the log is there now; this is the moment
    the old topics and groups are deleted, and MOVED tells no more where it was

Whoever finds a move that was not carried to its end undoes it before that moment, and finishes it after. Notes are
written under one transactional id: whoever comes fences who was there before, and two never move a log at once. Who
writes to a log that is sealed or gone looks where it is, and writes there what was not taken.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka import errors as kafka_errors
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from streams.core.errors import BusyError, LogError
from streams.logs.kafka.connection import Connection, admin, started
from streams.logs.kafka.topics import (
    KEPT,
    MAX_RECORD_BYTES,
    PRODUCER,
    READER,
    SEALED,
    Names,
    Spec,
    delete_group,
    log_specs,
    make,
    members,
    read_notes,
    write_notes,
)

MOVED = "moved"
ORDER = "erasing"
FORMER = "former"
"""Under which the ids are noted of the logs that this one took the place of."""
GRACE = 2.0
"""Seconds for which the old topics stay, sealed: by then who writes has looked where the log is."""
LEAVING = 15.0
"""Seconds that workers have to leave the old log."""
TRIES = 100
"""Looks whether a topic is sealed or gone, a tenth of a second apart."""
LIMIT = "max.message.bytes"
OF_TOPIC = 1
"""Where a setting comes from that was made for a topic."""


async def in_force(connection: Connection) -> tuple[Connection, dict[str, str]]:
    """The connection to where a log is, and its notes, with the one that tells so."""
    root = replace(connection, prefix=Names(connection.prefix).root)
    notes = await read_notes(root)
    if MOVED not in notes:
        return root, notes
    here = replace(connection, prefix=orjson.loads(notes[MOVED])["to"])
    return here, await read_notes(here) | {MOVED: notes[MOVED]}


class Moving:
    """Whoever moves a log, alone."""

    def __init__(
        self, producer: AIOKafkaProducer[bytes, bytes], reader: AIOKafkaConsumer, client: AIOKafkaAdminClient,
        here: Connection, notes: dict[str, str],
    ) -> None:  # fmt: skip
        self.client = client
        self.here = here
        self.notes = notes
        self.names = Names(here.prefix)
        self.root = replace(here, prefix=self.names.root)
        self.is_over = False
        """Whether the log was moved, or may have been."""
        self._producer = producer
        self._reader = reader

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            yield
        except kafka_errors.ProducerFenced as error:
            raise BusyError("another erasure of this log has begun since", "wait for it, then erase again") from error

    async def note(self, notes: Mapping[tuple[str, str], str | None]) -> None:
        """Notes words, by prefix and key, all at once; whoever reads afterwards finds them. Raises BusyError where
        another moves the log by now."""
        noted: dict[TopicPartition, int] = {}
        with self._alone():
            await self._producer.begin_transaction()
            for (prefix, key), said in notes.items():
                value = None if said is None else said.encode()
                place = TopicPartition(Names(prefix).control, 0)
                noted[place] = (await self._producer.send_and_wait(place.topic, value, key.encode(), 0)).offset
            await self._producer.commit_transaction()
        # A commit is acknowledged before its end stands in the partitions (KIP-98), and until then nobody reads it.
        for place, offset in noted.items():
            while (await self._reader.end_offsets([place]))[place] <= offset:
                await asyncio.sleep(0.01)

    async def seal(self) -> None:
        """Has the log take nothing more, wherever its partitions are led. Raises LogError where it still does, or
        where there is no copy any more that it could move to."""
        if ORDER not in self.notes:
            raise LogError("the copy that an erasure made is not there any more", "erase again")
        await self._limit(SEALED)
        for _ in range(TRIES):
            if await self._refuses():
                # Once more, for the end of the first transaction stands on all replicas then, and with it all that was
                # appended before and may not have been acknowledged yet.
                await self._refuses()
                return
            await asyncio.sleep(0.1)
        raise LogError(f"{self.names.turns} cannot be sealed", f"see that its setting {LIMIT} can be changed")

    async def unseal(self) -> None:
        """Has the log take events again."""
        if (await self._settings()).get(LIMIT) == SEALED:
            await self._limit(str(MAX_RECORD_BYTES))

    async def _limit(self, size: str) -> None:
        topic, settings = self.names.turns, await self._settings()  # this request sets all anew
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=settings | {LIMIT: size})
        for answer in await self.client.alter_configs([resource]):
            for code, message, *_ in answer.resources:
                if code:
                    raise kafka_errors.for_code(code)(f"{topic}: {message}")

    async def _settings(self) -> dict[str, str]:
        """What was set for the log's topic alone."""
        (answer,) = await self.client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, self.names.turns)])
        ((code, message, _, name, entries),) = answer.resources
        if code:
            raise kafka_errors.for_code(code)(f"{name}: {message}")
        return {entry[0]: entry[1] for entry in entries if entry[3] == OF_TOPIC}

    async def _refuses(self) -> bool:
        """Whether each partition refuses a record; one that is taken all the same is never committed."""
        with self._alone():
            await self._producer.begin_transaction()
            try:
                sent = [
                    await self._producer.send(self.names.turns, bytes(int(SEALED)), partition=partition)
                    for partition in range(int(self.notes["partitions"]))
                ]
                outcomes = await asyncio.gather(*sent, return_exceptions=True)
            finally:
                await self._producer.abort_transaction()
        return all(isinstance(outcome, kafka_errors.MessageSizeTooLargeError) for outcome in outcomes)

    async def order(self, prefix: str, id_: str) -> None:
        """Makes the topics of a copy. What another left half done is finished or undone."""
        await self.finish()
        await self.undo()
        to = replace(self.here, prefix=prefix)
        await self.note({(self.here.prefix, ORDER): prefix})
        (turns,) = [t for t in await self.client.describe_topics([self.names.turns]) if t["topic"] == self.names.turns]
        names, partitions = Names(to.prefix), int(self.notes["partitions"])
        specs = [*log_specs(names, partitions), Spec(names.erased, 1, KEPT)]
        await make(self.client, specs, len(turns["partitions"][0]["replicas"]))
        former = [*orjson.loads(self.notes.get(FORMER, "[]")), self.notes["id"]]
        notes = {FORMER: orjson.dumps(former).decode(), "partitions": str(partitions), "id": id_}
        await write_notes(to, notes)

    async def undo(self) -> None:
        """Deletes a copy that did not become the log, if there is one."""
        await self.unseal()
        if to := self.notes.get(ORDER):
            await self._delete(Names(to))
            await self.note({(self.here.prefix, ORDER): None})

    async def move(self, to: str) -> None:
        """Has the log be under the prefix `to` from here on: the moment of an erasure. Raises BusyError where another
        moves it by now."""
        self.is_over = True
        moved = orjson.dumps({"to": to, "from": self.here.prefix, "at": time.time()}).decode()
        await self.note({(self.here.prefix, ORDER): None, (self.root.prefix, MOVED): moved})

    async def finish(self) -> None:
        """Deletes what the log was in before it moved, where that is still there."""
        told = await read_notes(self.root)
        moved = orjson.loads(told.get(MOVED, "{}"))
        if not (old := moved.get("from")):
            return
        names = Names(old)
        groups = [group for group, *_ in await self.client.list_consumer_groups() if names.set_of(group)]
        await asyncio.sleep(max(0.0, min(GRACE, moved["at"] + GRACE - time.time())))
        deadline = time.monotonic() + LEAVING
        while time.monotonic() < deadline and [True for group in groups if await members(self.client, group)]:
            await asyncio.sleep(0.2)
        await self._delete(names)
        for group in groups:
            with suppress(kafka_errors.KafkaError):  # one that a worker will not leave holds offsets, and no text
                await delete_group(self.client, group)
        gone = {(old, key): None for key in told if key != MOVED and old == names.root}
        await self.note(gone | {(self.root.prefix, MOVED): orjson.dumps({"to": moved["to"]}).decode()})

    async def _delete(self, names: Names) -> None:
        """Deletes the topics of a prefix, but for the root's control topic. Raises LogError where they stay."""
        for _ in range(TRIES):
            found = [topic for topic in await self.client.list_topics() if names.owns(topic)]
            if not (left := [topic for topic in found if topic != f"{names.root}.control"]):
                return
            await self.client.delete_topics(left)
            await asyncio.sleep(0.1)
        raise LogError(f"the brokers do not delete {left[0]}", "see that delete.topic.enable is true, then erase again")


@asynccontextmanager
async def moving(connection: Connection) -> AsyncIterator[Moving]:
    """Moves a log; whoever did before can do nothing more of it."""
    id_ = f"{Names(connection.prefix).root}.erasing"
    arguments: dict[str, Any] = {"transactional_id": id_, "max_request_size": PRODUCER["max_request_size"]}
    async with (
        started(AIOKafkaProducer(**connection.client(), **arguments)) as producer,
        started(AIOKafkaConsumer(**connection.client(), **READER)) as reader,
        admin(connection) as client,
    ):
        yield Moving(producer, reader, client, *await in_force(connection))


async def topics_of(connection: Connection) -> dict[str, int]:
    """The topics of a prefix, and how many partitions each has."""
    async with admin(connection) as client:
        described = await client.describe_topics()
    return {t["topic"]: len(t["partitions"]) for t in described if Names(connection.prefix).owns(t["topic"])}


async def strays(connection: Connection) -> list[str]:
    """Topics of other prefixes that the log was in, or was to be in. `connection` is to where it is."""
    names = Names(connection.prefix)
    async with admin(connection) as client:
        topics = await client.list_topics()
    others = {Names(names.root)} | {Names(t[: len(names.root) + 9]) for t in topics if _is_of_move(names.root, t)}
    control = Names(names.root).control
    found = {t for t in topics for other in others if other.owns(t) and not names.owns(t) and t != control}
    return sorted(found)


def _is_of_move(root: str, topic: str) -> bool:
    begin, _, rest = topic.removeprefix(f"{root}.").partition(".")
    return topic.startswith(f"{root}.") and len(begin) == 8 and not begin.strip("0123456789abcdef") and bool(rest)
