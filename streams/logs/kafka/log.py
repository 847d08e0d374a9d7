"""The log on Kafka, for code that does not wait in an event loop.

Offsets of a partition may have gaps: what is no event, or repeats an id, takes an offset but is not in the log.
Where nobody else writes and nothing is broken, offsets are dense.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka import errors as kafka_errors
from aiokafka.structs import ConsumerRecord

from streams.core.driver import Record
from streams.core.errors import LogError
from streams.core.events import Outside, TurnRecorded
from streams.logs.erased import SALT, name_of
from streams.logs.kafka.connection import Connection, Portal, heard, learn
from streams.logs.kafka.index import Index, same
from streams.logs.kafka.moves import FORMER, Moving, in_force, moving
from streams.logs.kafka.records import Broken, Headers, Read, headers_of, partition_of
from streams.logs.kafka.records import read as read_message
from streams.logs.kafka.topics import PRODUCER, READER, Names, read_notes, read_notes_to, whole
from streams.logs.log import Duplicate, Outcome, Refused, Stored, stamped
from streams.logs.sqlite import wall_clock

T = TypeVar("T")
Client = TypeVar("Client", AIOKafkaConsumer, AIOKafkaProducer)

BATCH = 1000
"""Events appended between looks at what others appended."""
PAGE = 2000
"""Records had at once."""
FETCH_BYTES = 8 * 1024 * 1024
"""Of a partition per fetch; one larger record comes all the same."""
CONSUMER: dict[str, Any] = READER | {"max_partition_fetch_bytes": FETCH_BYTES}
"""The arguments of a consumer that reads a log."""
STALLED = 60.0
"""Seconds without a record before reading on is given up."""
LOOK = 1.0
"""Seconds between looks where the log is, while nothing else tells: it costs a question to the brokers."""
HALTED = 20.0
"""Seconds that a log may be sealed before who must write undoes the erasure: it takes about one."""
CARRIED = ("params", "copies", "erased.")
"""What notes begin with that concern a copy of the log, too."""


@dataclass(slots=True)
class Written:
    """A record as it was written, in the form in which it will be read."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Sent(NamedTuple):
    """An event on its way, or what keeps it out."""

    event: Outside
    value: bytes
    recorded_at: int | None


class KafkaLog:
    """A `Log` on Kafka. Its index of ids lies in the folder `index`, in memory where there is none.

    With a `clock` of its own (for tests) it stamps the time of recording itself; else the broker does.
    """

    is_local = False

    def __init__(
        self, connection: Connection, index: Path | None = None, clock: Callable[[], int] | None = None,
        here: bool = False,
    ) -> None:  # fmt: skip
        """The log wherever it was moved to; with `here`, what lies under this very prefix. Raises LogError where there
        is no such log, or no broker."""
        self._clock = clock
        self._folder = index
        self._here = here
        self._portal = Portal()
        self._looked = time.monotonic()
        """When it was last asked where the log is."""
        self._moves = 0
        """The end of the root's control topic then."""
        self._following = RLock()
        self._idle: dict[int, list[AIOKafkaConsumer]] = {}
        self._at: dict[AIOKafkaConsumer, int] = {}
        self._all: list[Any] = []
        self._retiring: list[asyncio.Future[None]] = []
        self._producer: AIOKafkaProducer | None = None
        self._looker: AIOKafkaConsumer | None = None
        self._control: AIOKafkaConsumer | None = None
        self._gone: dict[bytes, tuple[bytes, str]] | None = None
        self.connection = connection
        try:
            if here:
                self._settle_in(connection, self._call(read_notes(connection)))
            else:
                self._settle_in(*self._call(in_force(connection)))
        except BaseException:
            self._portal.close()
            raise

    def _settle_in(self, connection: Connection, notes: dict[str, str]) -> None:
        """Takes the log to be under the prefix of `connection`."""
        if "id" not in notes:
            raise LogError(
                f"there is no log {connection.prefix!r} on {connection.servers}", "`mnemolog topics create` makes it"
            )
        self.connection, self._notes = connection, notes
        self.names = Names(connection.prefix)
        self._places = [TopicPartition(self.names.turns, partition) for partition in range(self.partitions)]
        self._index = Index(None if self._folder is None else self._folder / index_name(self.id), self.id)
        self._salt = bytes.fromhex(notes.get(SALT, ""))

    def follow(self, at_once: bool = True) -> None:
        """Goes on where the log was moved to, if it was; else looks only now and then. Raises LogError."""
        if self._here or not (at_once or time.monotonic() - self._looked > LOOK):
            return
        with self._following:
            self._looked = time.monotonic()
            moves = self._call(self._control_end())
            if moves == self._moves:
                return
            connection, notes = self._call(in_force(self.connection))
            if connection.prefix == self.connection.prefix:
                self._notes |= notes
            else:
                former = self._index
                self._call(self._stop())
                self._idle, self._at, self._all, self._retiring, self._gone = {}, {}, [], [], None
                self._producer = self._looker = self._control = None
                self._settle_in(connection, notes)
                former.close()
            self._moves = moves

    async def _control_end(self) -> int:
        place = TopicPartition(Names(self.names.root).control, 0)
        return int((await (await self._look(place.topic)).end_offsets([place]))[place])

    @property
    def id(self) -> str:
        """Which log this is."""
        return self._notes["id"]

    @property
    def partitions(self) -> int:
        """How many partitions it has, for ever."""
        return int(self._notes["partitions"])

    # -- appending -----------------------------------------------------------------------------------------------------

    def append(self, events: Sequence[Outside]) -> list[Outcome]:
        """Records events; see `Log.append`.

        When the brokers fail amidst a batch, some of it may be recorded all the same:
        appended again, it is not doubled.
        """
        return self._append_all([(event, None) for event in events])

    def append_recorded(self, recorded: Sequence[tuple[Outside, int]]) -> list[Outcome]:
        """Records events of another log, each with the time (UTC microseconds) when it was first recorded."""
        return self._append_all(recorded)

    def _append_all(self, events: Sequence[tuple[Outside, int | None]]) -> list[Outcome]:
        pages = (events[start : start + BATCH] for start in range(0, len(events), BATCH))
        return [outcome for page in pages for outcome in self._append(page)]

    def _append(self, events: Sequence[tuple[Outside, int | None]]) -> list[Outcome]:
        """Appends where the log is. What is refused because it is being moved is written where it is then."""
        deadline = time.monotonic() + HALTED
        while True:
            where = self.connection.prefix
            try:
                return self._append_here(events)
            except LogError as error:
                self.follow()
                if self.connection.prefix != where:
                    continue
                if not isinstance(error.__cause__, kafka_errors.MessageSizeTooLargeError):
                    raise
                if time.monotonic() > deadline:  # who sealed it died, or is too slow
                    with self._moving() as mover:
                        self._call(mover.undo())
                    deadline += HALTED
                time.sleep(0.1)

    def _append_here(self, events: Sequence[tuple[Outside, int | None]]) -> list[Outcome]:
        for partition in {partition_of(event.space, self.partitions) for event, _ in events}:
            self._sync(partition, self._trusted_end(partition))
        found: list[Outcome | None] = []
        sends: dict[tuple[str, str], Sent] = {}
        for event, recorded_at in events:
            key = (event.space, event.id)
            outcome = None if key in sends else self._known(event)
            if outcome is None and key not in sends:
                prepared = self._prepare(event, recorded_at)
                if isinstance(prepared, Refused):
                    outcome = prepared
                else:
                    sends[key] = prepared
            found.append(outcome)
        written = self._write(list(sends.values()))
        return [self._outcome(event, written) if o is None else o for (event, _), o in zip(events, found, strict=True)]

    def _prepare(self, event: Outside, recorded_at: int | None) -> Sent | Refused:
        if self._is_erased(event.space, event.id):
            return Refused(f"id: {event.id!r} in space {event.space!r} was erased", erased=True)
        now = (self._clock or wall_clock)() if recorded_at is None else recorded_at
        taken = stamped(event, now)
        if isinstance(taken, Refused):
            return taken
        return Sent(*taken, now if self._clock is not None or recorded_at is not None else None)

    def _write(self, sends: Sequence[Sent]) -> dict[tuple[str, str], Stored | Refused]:
        """Produces records, has the index up to date behind them; where each id's own record stands."""
        if not sends:
            return {}
        written = self._call(self._produce(sends), "the log did not take all turns; feed them again, none is doubled")
        mine: dict[tuple[str, str], Stored | Refused] = {}
        by_partition: dict[int, list[Read | Broken]] = {}
        for sent, message in zip(sends, written, strict=True):
            record = read_message(message, self.partitions)
            by_partition.setdefault(message.partition, []).append(record)
            mine[sent.event.space, sent.event.id] = (
                Stored(record.partition, record.offset) if isinstance(record, Read) else Refused(record.reason)
            )
        for partition, records in by_partition.items():
            start, stop = records[0].offset, records[-1].offset + 1
            if stop - start == len(records):
                self._sync(partition, start)
                self._index.add(partition, start, stop, records)
            else:  # others wrote in between
                self._sync(partition, stop)
        return mine

    def _outcome(self, event: Outside, mine: dict[tuple[str, str], Stored | Refused]) -> Outcome:
        """What became of an event that was sent, or that repeats one sent in the same batch (and pops it)."""
        own = mine.pop((event.space, event.id), None)
        if isinstance(own, Refused):
            return own
        known = self._known(event, own)
        return known or own or Refused(f"id: {event.id!r} could not be recorded; see its first occurrence")

    def _known(self, event: Outside, own: Stored | None = None) -> Outcome | None:
        """Duplicate or Refused where another record of the id came first; None where none did, or `own` is it."""
        first = self._index.first(event.space, event.id)
        partition = partition_of(event.space, self.partitions)
        if first is None or (own is not None and first.offset == own.offset):
            return None
        if self._salt and isinstance(event, TurnRecorded) and self._is_erased(event.space, event.reply_to):
            event = replace(event, reply_to="")
        if same(event, first):
            return Duplicate(partition, first.offset)
        return Refused(
            f"id: {event.id!r} is taken in space {event.space!r} by another event, "
            f"first recorded at offset {first.offset} of partition {partition}",
            taken=True,
        )

    async def _produce(self, sends: Sequence[Sent]) -> list[Written]:
        producer = await self._producing()
        written: list[Written] = []
        waiting: list[asyncio.Future[Any]] = []
        try:
            for event, value, recorded_at in sends:
                key, headers = event.space.encode(), headers_of(event, recorded_at)
                partition = partition_of(event.space, self.partitions)
                waiting.append(
                    await producer.send(self.names.turns, value, key=key, partition=partition, headers=headers)
                )
                written.append(Written(partition, -1, 0, key, value, headers))
            acknowledged = await asyncio.gather(*waiting)
        except BaseException:
            # What is still under way may arrive or fail later; the next try has a producer of its own.
            for sent in waiting:
                sent.add_done_callback(heard)
            self._producer = None
            self._retire(producer)
            raise
        if any(told.offset < 0 for told in acknowledged):
            # A retry that the broker had already: it is there, but the broker does not say where.
            raise kafka_errors.KafkaTimeoutError("some turns were recorded at places that no broker told")
        for record, told in zip(written, acknowledged, strict=True):
            record.offset, record.timestamp = told.offset, told.timestamp
        return written

    async def _producing(self) -> AIOKafkaProducer:
        if self._producer is None:
            self._producer = await self._start(
                AIOKafkaProducer(**self.connection.client(), **PRODUCER, max_batch_size=FETCH_BYTES // 16)
            )
        return self._producer

    # -- reading -------------------------------------------------------------------------------------------------------

    def read(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The records from `start` up to `stop`; see `Log.read`.

        Raises LogError where the brokers keep less than the log had.
        """
        for found in self._pages(partition, start, stop):
            yield from (record.record() for record in found)

    def stored(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The same: nothing is sealed on brokers."""
        return self.read(partition, start, stop)

    def unread(self) -> dict[str, str]:
        """Nothing is."""
        return {}

    def holds(self, key: str) -> bool:
        """Nothing is under a key."""
        return False

    def _pages(self, partition: int, start: int, stop: int | None) -> Iterator[list[Read]]:
        """What is in the log from `start` up to `stop`, page by page."""
        end = self.end(partition)
        end = end if stop is None else min(stop, end)
        if start < end:
            self._sync(partition, start)
        id_ = self.id
        with self._reader(partition) as reader:
            while start < end:
                if self.id != id_:
                    raise LogError("an erasure made a new log meanwhile", "do it again")
                found, upto = self._call(self._page(reader, partition, start, end))
                yield self.admit(partition, start, upto, found)
                start = upto

    def admit(self, partition: int, start: int, stop: int, found: Sequence[Read | Broken]) -> list[Read]:
        """Those that are in the log, of the records of start <= offset < stop: whoever reads the topic himself asks."""
        self._sync(partition, start)
        self._index.add(partition, start, stop, found)
        skipped = self._index.skipped(partition, start, stop)
        return [record for record in found if isinstance(record, Read) and record.offset not in skipped]

    def _sync(self, partition: int, stop: int) -> None:
        """Has the index know all before `stop`."""
        start = self._index.next(partition)
        if start >= stop:
            return
        with self._reader(partition) as reader:
            while start < stop:
                found, upto = self._call(self._page(reader, partition, start, stop))
                self._index.add(partition, start, upto, found)
                start = self._index.next(partition)

    def _trusted_end(self, partition: int) -> int:
        """The log's end. Raises LogError where the index knows more than the log holds."""
        end = self.end(partition)
        if self._index.next(partition) > end:
            raise LogError(
                f"{self.names.turns} ends at offset {end} of partition {partition}, "
                f"but {self._index.next(partition)} records of log {self.id} were seen there",
                "the topic lost records or was made anew: bring it back, or make another log under another "
                "MNEMOLOG_KAFKA_PREFIX and copy what there is (`mnemolog log copy`)",
            )
        return end

    async def _page(
        self, reader: AIOKafkaConsumer, partition: int, start: int, stop: int
    ) -> tuple[list[Read | Broken], int]:
        """Records from `start` on, before `stop`, and the offset after them."""
        place = self._places[partition]
        reader.resume(place)
        if self._at.get(reader) != start:
            reader.seek(place, start)
        deadline = asyncio.get_running_loop().time() + STALLED
        while True:
            try:
                answer = await reader.getmany(place, timeout_ms=1000, max_records=PAGE)
            except kafka_errors.OffsetOutOfRangeError as error:
                raise lost(place.topic, partition, start, await self._begin(partition)) from error
            upto = self._at[reader] = await reader.position(place)
            if upto > start:
                break
            if asyncio.get_running_loop().time() > deadline:
                raise kafka_errors.KafkaTimeoutError(f"no record came from {place.topic} in {STALLED:.0f} s")
        messages = [message for message in answer.get(place, ()) if message.offset < stop]
        return [read_message(message, self.partitions) for message in messages], min(upto, stop)

    def end(self, partition: int) -> int:
        """The offset that the next record of the partition will get."""
        return self.ends()[partition]

    def ends(self) -> dict[int, int]:
        """The offset that the next record will get, by partition: one question for all."""
        self.follow(at_once=False)
        return self._call(self._ends())

    async def _ends(self) -> dict[int, int]:
        looker = await self._look(self.names.turns)
        return {place.partition: end for place, end in (await looker.end_offsets(self._places)).items()}

    def begin(self, partition: int) -> int:
        """The first offset that the brokers still keep; above 0 only where records were lost to retention."""
        return self._call(self._begin(partition))

    def accept_loss(self) -> list[int]:
        """Takes each partition to begin where the brokers begin, for a copy of what is left; the first offsets."""
        begins = [self.begin(partition) for partition in range(self.partitions)]
        for partition, begin in enumerate(begins):
            self._index.skip_to(partition, begin)
        return begins

    async def _begin(self, partition: int) -> int:
        place = self._places[partition]
        return int((await (await self._look(place.topic)).beginning_offsets([place]))[place])

    async def _look(self, topic: str) -> AIOKafkaConsumer:
        """A consumer that only answers questions, about a topic. Why apart: behind a fetch that waits for records, they
        would wait."""
        if self._looker is None:
            self._looker = await self._start(AIOKafkaConsumer(**self.connection.client(), **CONSUMER))
        await learn(self._looker, [topic])
        return self._looker

    def offset_of(self, space: str, id_: str) -> int | None:
        """Where an event stands in its partition."""
        partition = partition_of(space, self.partitions)
        self._sync(partition, self.end(partition))
        first = self._index.first(space, id_)
        return None if first is None else first.offset

    # -- what was erased; see `erasable` for more ----------------------------------------------------------------------

    def _is_erased(self, space: str, id_: str) -> bool:
        return bool(self._salt) and name_of(self._salt, space, id_) in self._known_erased()

    def _known_erased(self) -> dict[bytes, tuple[bytes, str]]:
        """What was erased before the log came here: runs and receipt, by name. It does not change any more."""
        if self._gone is None:
            gone: dict[bytes, tuple[bytes, str]] = {}
            for message in self._whole(TopicPartition(self.names.erased, 0)):
                gone.setdefault(message.key or b"", (message.value or b"", dict(message.headers)["receipt"].decode()))
            self._gone = gone
        return self._gone

    def erased(self) -> list[tuple[bytes, bytes, str]]:
        """What is known of events that were erased, in the order of names."""
        if SALT not in self._notes:
            return []
        return [(name, *told) for name, told in sorted(self._known_erased().items())]

    def keep_erased(self, rows: Iterable[tuple[bytes, bytes, str]]) -> None:
        """Keeps what is known of events that were erased: name, runs and receipt; see `streams.logs.erased`."""

        async def send() -> None:
            producer = await self._producing()
            sent = [
                await producer.send(self.names.erased, runs, name, 0, headers=[("receipt", receipt.encode())])
                for name, runs, receipt in rows
            ]
            await asyncio.gather(*sent)

        self._call(send())
        self._gone = None

    def notes(self) -> dict[str, str]:
        """What was noted and concerns a copy of the log, too."""
        self._call(self._catch_up_notes())
        return {key: said for key, said in self._notes.items() if key.startswith(CARRIED)}

    def former(self) -> list[str]:
        """The ids of the logs that this one took the place of."""
        return [str(one) for one in orjson.loads(self._notes.get(FORMER, "[]"))]

    @contextmanager
    def _moving(self) -> Iterator[Moving]:
        """Whoever may move the log: this one alone."""
        stack = AsyncExitStack()
        mover = self._call(stack.enter_async_context(moving(self.connection)))
        try:
            yield mover
        finally:
            self._call(stack.aclose())

    def _whole(self, place: TopicPartition) -> Iterator[ConsumerRecord[bytes, bytes]]:
        pages = whole(self.connection, place)

        async def next_page() -> list[ConsumerRecord[bytes, bytes]] | None:
            return await anext(pages, None)

        while (page := self._call(next_page())) is not None:
            yield from page

    # -- notes ---------------------------------------------------------------------------------------------------------

    def note(self, key: str, value: str) -> None:
        """Keeps a word about the log in its control topic. `id` and `partitions` are its own."""
        self._call(self._note(key, value))

    async def _note(self, key: str, value: str) -> None:
        producer = await self._producing()
        await producer.send_and_wait(self.names.control, key=key.encode(), value=value.encode(), partition=0)

    def noted(self, key: str) -> str | None:
        """What was noted under `key`, by whomever."""
        self._call(self._catch_up_notes())
        return self._notes.get(key)

    async def _catch_up_notes(self) -> None:
        place = TopicPartition(self.names.control, 0)
        end = (await (await self._look(place.topic)).end_offsets([place]))[place]
        if self._control is None:
            self._control = await self._start(AIOKafkaConsumer(**self.connection.client(), **READER))
        await read_notes_to(self._control, place, self._notes, end)

    # -- connections ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _reader(self, partition: int) -> Iterator[AIOKafkaConsumer]:
        """A consumer of the partition that nobody else reads with at the time. Several reads may go on at once."""
        idle = self._idle.setdefault(partition, [])
        reader = idle.pop() if idle else self._call(self._new_reader(partition))
        try:
            yield reader
        except LogError:  # it may stand anywhere
            self._portal.soon(lambda: self._retire(reader))
            raise
        except BaseException:  # who read has seen enough
            self._rest(reader, partition)
            raise
        self._rest(reader, partition)

    def _rest(self, reader: AIOKafkaConsumer, partition: int) -> None:
        self._portal.soon(lambda: reader.pause(self._places[partition]))  # it asks for nothing while nobody reads
        self._idle[partition].append(reader)

    async def _new_reader(self, partition: int) -> AIOKafkaConsumer:
        reader = await self._start(AIOKafkaConsumer(**self.connection.client(), **CONSUMER))
        reader.assign([self._places[partition]])
        return reader

    async def _start(self, client: Client) -> Client:
        try:
            await client.start()
        except BaseException:
            await client.stop()
            raise
        self._all.append(client)
        return client

    def _retire(self, client: Client) -> None:
        """Stops a client in the background; closing the log waits for it."""
        if client in self._all:
            self._all.remove(client)
            self._at.pop(client, None)
            self._retiring.append(asyncio.ensure_future(client.stop()))

    def _call(self, coroutine: Coroutine[Any, Any, T], what: str = "the brokers cannot be reached") -> T:
        with self.connection.telling(what):
            return self._portal.call(coroutine)

    def close(self) -> None:
        """Lets go of connections and the index; done twice, it is done."""
        if self._portal.closed:
            return
        try:
            self._call(self._stop())
        finally:
            self._portal.close()
            self._index.close()

    async def _stop(self) -> None:
        stops = [client.stop() for client in self._all]
        await asyncio.gather(*stops, *self._retiring, return_exceptions=True)


def lost(topic: str, partition: int, start: int, begin: int) -> LogError:
    """The brokers no longer have what must be read."""
    return LogError(
        f"{topic} begins at offset {begin} of partition {partition}, but {start} is needed: "
        "its retention or somebody removed records that were not read yet",
        "set retention.ms=-1 and retention.bytes=-1 on the topic; then make another log (MNEMOLOG_KAFKA_PREFIX) of "
        "another copy or an archive, or of what is left (`mnemolog log copy --from PREFIX --what-is-left`)",
    )


def index_name(log_id: str) -> str:
    """What the index of a log's ids is called, in a home."""
    return f"kafka-index-{log_id}.sqlite"
