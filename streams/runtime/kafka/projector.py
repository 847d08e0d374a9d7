"""The projector: brings the raw log and what workers derive from it into one memory, all of an event or none of it.

Workers derive each at their own pace, so the rows of a stream wait until every processor has `progressed` past a raw
offset. Then the raw events up to there and all that is derived from them are committed in ONE transaction, with the
mark per partition and the record from which each stream is read on. So a memory is, at every moment, what the embedded
runtime would have made of the same beginning of the log; a crash anywhere repeats only what was not committed.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import takewhile
from typing import Any

from aiokafka import TopicPartition

from projections.store import Batch, Store, derived_batch, raw_batch
from streams.core.driver import Placed
from streams.core.errors import LogError
from streams.core.events import OUTSIDE, TurnRecorded
from streams.core.processor import Processor
from streams.core.progress import Progress, no_progress
from streams.core.text import FactRead, Root, Text, TurnRead
from streams.core.text.terms import tokens
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import (
    PROGRESSED,
    Maker,
    Message,
    NotDerivedError,
    Progressed,
    Read,
    derived,
    emitted,
    read,
)
from streams.runtime.fold import rare_collections
from streams.runtime.kafka.feed import Feed
from streams.runtime.kafka.metrics import OFF, Meters
from streams.runtime.memories import check_memory

STEP = 5_000
"""Raw offsets of a partition committed at once, at most: a commit costs about 20 ms whatever it holds."""
WAITING = 100_000
"""Rows that may wait in memory, shared out over the streams and partitions: about 150 MB."""
PATIENCE = 5.0
"""Seconds without progress after which nobody waits any longer for workers."""
PART = "projector"
TYPES = {cls: name for name, cls in OUTSIDE.items()}
logger = logging.getLogger("mnemolog.projector")


@dataclass(slots=True)
class Lane:
    """One processor's stream in one partition: what was read of it and waits for the other processors."""

    processor: Processor[Any]
    makers: Mapping[str, Maker]
    base: int
    """The raw offset up to which all is in the memory."""
    done: int
    """The raw offset up to which the processor has said that it made all that it makes."""
    next: int
    """The offset in the stream of the record that is read next."""
    last: tuple[int, int]
    """The (raw offset, path) of the newest row: what is not above it was read before."""
    rows: deque[tuple[int, Placed]] = field(default_factory=deque)
    """Each after its offset in the stream."""
    marks: deque[tuple[int, int]] = field(default_factory=deque)
    """(offset in the stream, raw offset) of `progressed` records past what is committed."""

    def take(self, message: Message) -> None:
        """Takes a record of the stream. Raises NotDerivedError for one that no worker of the processor wrote."""
        self.next = message.offset + 1
        if self._is_known(message):
            return
        found = derived(message, self.makers)
        _, offset, path = found.position
        if isinstance(found, Progressed):
            self.done = offset
            if offset > self.base:
                self.marks.append((message.offset, offset))
            return
        self.rows.append((message.offset, (message.partition, offset, path, found.event)))
        self.last = (offset, path)

    def _is_known(self, message: Message) -> bool:
        """Whether the headers alone tell that it says nothing new: workers repeat what they made before a crash."""
        headers = dict(message.headers)
        try:
            _, offset, path = map(int, headers["position"].split())
        except (KeyError, ValueError):
            return False
        return offset <= self.done if headers.get("type") == PROGRESSED else (offset, path) <= self.last

    def rows_to(self, cut: int) -> list[Placed]:
        """The rows up to a raw offset."""
        return [row for _, row in takewhile(lambda entry: entry[1][1] <= cut, self.rows)]

    def drop_to(self, cut: int) -> None:
        """Forgets what is committed."""
        self.base = cut
        while self.rows and self.rows[0][1][1] <= cut:
            self.rows.popleft()
        while self.marks and self.marks[0][1] <= cut:
            self.marks.popleft()

    def resume(self, cut: int) -> int:
        """The offset in the stream from which it must be read again once all up to `cut` is committed."""
        rows = next((at for at, row in self.rows if row[1] > cut), self.next)
        marks = next((at for at, offset in self.marks if offset > cut), self.next)
        return min(rows, marks)

    def is_full(self, room: int) -> bool:
        """Whether enough waits. Why only past a mark: without one nothing could be committed, and all would stand."""
        return bool(self.marks) and len(self.rows) + len(self.marks) > room


@dataclass(slots=True)
class RawLane:
    """The raw log in one partition: what was read of it and waits for the processors."""

    next: int
    """The offset of the record that is read next."""
    rows: deque[Read] = field(default_factory=deque)

    def rows_to(self, cut: int) -> list[Read]:
        """The events up to a raw offset."""
        return list(takewhile(lambda read: read.offset <= cut, self.rows))

    def drop_to(self, cut: int) -> None:
        """Forgets what is committed."""
        while self.rows and self.rows[0].offset <= cut:
            self.rows.popleft()

    def is_full(self, room: int) -> bool:
        """Whether enough waits."""
        return len(self.rows) > room


class Projector:
    """Keeps a memory up to date with a Kafka log and its workers. Whoever makes one holds the memory's writer lock."""

    def __init__(
        self, log: KafkaLog, store: Store, processors: Sequence[Processor[Any]], meters: Meters | None = None
    ) -> None:
        """Raises MemoryFileError as the embedded runtime does, LogError where topics are missing or were cut."""
        self.log = log
        self.store = store
        self.params = check_memory(store, log, processors)
        self._meters = meters or OFF
        self._marks = [store.mark(partition) for partition in range(log.partitions)]
        ends = log.ends()
        if any(mark >= ends[partition] for partition, mark in enumerate(self._marks)):
            raise LogError(
                f"the log ends before the memory {store.path} does", "name the brokers and prefix it was made from"
            )
        self._lineages = {p.name: store.lineages[p.name] for p in processors}
        self._lanes = dict(self._open(processors, store.resume()))
        self._raw = {TopicPartition(log.names.turns, p): RawLane(mark + 1) for p, mark in enumerate(self._marks)}
        self._room = max(2_000, WAITING // (len(self._lanes) + len(self._raw)))
        self._feed = Feed(log.connection, {place: lane.next for place, lane in self._all().items()})
        self._news = True
        """Whether something was read since all that was whole was committed."""
        self._rest = 0.0
        """The monotonic time until which nothing is committed."""
        self._tell_begin()

    def _open(
        self, processors: Sequence[Processor[Any]], resume: dict[str, int]
    ) -> Iterator[tuple[TopicPartition, Lane]]:
        names = self.log.names
        for processor in processors:
            topic = names.stream(processor.name, self._lineages[processor.name])
            for partition, mark in enumerate(self._marks):
                start = resume.get(f"{self._lineages[processor.name]}/{partition}")
                # Why not always the mark: what a replay folded, no worker has said yet that it made.
                done = -1 if start is None else mark
                last = (mark, 1 << 62)  # all paths of what is committed
                lane = Lane(processor, stored_makers(processor), mark, done, start or 0, last)
                yield TopicPartition(topic, partition), lane

    def _all(self) -> Mapping[TopicPartition, Lane | RawLane]:
        return {**self._raw, **self._lanes}

    def behind(self) -> int:
        """How many raw records are not in the memory yet."""
        ends = self.log.ends()
        return sum(ends[p] - mark - 1 for p, mark in enumerate(self._marks))

    def tick(self) -> int:
        """Nothing: workers look after the clock."""
        return 0

    def catch_up(self, progress: Progress = no_progress, stop: int | None = None) -> int:
        """Commits what the workers have made, without waiting for more; how many raw offsets that were.

        After a commit it rests for as long as that took, so that under load commits grow instead of following each
        other. Raises LogError when a topic cannot be read any more.
        """
        done = 0
        with rare_collections():
            while found := self._feed.take():
                self._absorb(found)
                self._news = True
                if self._feed.full:
                    done += self._settle(progress, done)
            if self._news and time.monotonic() >= self._rest:
                done += self._settle(progress, done)
                self._news = False
        self._meters.beat()
        return done

    def reach_end(self, progress: Progress = no_progress, patience: float = PATIENCE) -> str:
        """Waits until all that the log holds now is in the memory, and every worker has said that it made it.

        What is in the way where workers do not get on for `patience` seconds, "" where all is there.
        """
        ends = [end for _, end in sorted(self.log.ends().items())]
        total = sum(max(0, end - mark - 1) for end, mark in zip(ends, self._marks, strict=True))
        done, moved = 0, time.monotonic()
        while not self._holds(ends):
            reached = [lane.done for lane in self._lanes.values()]
            done += self.catch_up()
            progress(min(done, total), total)
            if reached != [lane.done for lane in self._lanes.values()]:
                moved = time.monotonic()
            elif time.monotonic() - moved > patience:
                return self.lagging(dict(enumerate(ends)))
            else:
                time.sleep(0.005)
        return ""

    def _holds(self, ends: Sequence[int]) -> bool:
        made = all(lane.done + 1 >= ends[place.partition] for place, lane in self._lanes.items())
        return made and all(mark + 1 >= end for mark, end in zip(self._marks, ends, strict=True))

    def save_place(self) -> None:
        """Keeps in the memory how far the streams were read, though nothing new may have come of it."""
        self._commit({})

    def lagging(self, ends: Mapping[int, int]) -> str:
        """Which processor keeps the memory from these ends of partitions, in words; "" where none does."""
        slow = {
            lane.processor.name: (lane.done, place.partition)
            for place, lane in self._lanes.items()
            if lane.done + 1 < ends.get(place.partition, 0)
        }
        first = [
            lane.processor.name
            for lane in self._lanes.values()
            if lane.processor.name in slow and lane.processor.reads not in slow
        ]
        return "; ".join(
            f"{name} has not got past offset {slow[name][0]} of partition {slow[name][1]}"
            for name in dict.fromkeys(first)
        )

    def stop_reading(self) -> None:
        """Lets go of the brokers; the memory stays open."""
        self._feed.close()

    def close(self) -> None:
        """Lets go of the brokers and of the memory."""
        self.stop_reading()
        self.store.close()

    # -- reading -----------------------------------------------------------------------------------------------------

    def _absorb(self, found: Mapping[TopicPartition, Sequence[Message]]) -> None:
        with self._meters.timed(PART, "decode"):
            for place, messages in found.items():
                if place in self._raw:
                    self._absorb_raw(self._raw[place], messages)
                else:
                    self._absorb_derived(place, messages)
                self._meters.position(PART, place.topic, place.partition, messages[-1].offset + 1)
        self._hold_back()

    def _absorb_raw(self, lane: RawLane, messages: Sequence[Message]) -> None:
        last = messages[-1]
        records = [read(message, self.log.partitions) for message in messages]
        lane.rows.extend(self.log.admit(last.partition, lane.next, last.offset + 1, records))
        lane.next = last.offset + 1

    def _absorb_derived(self, place: TopicPartition, messages: Sequence[Message]) -> None:
        lane = self._lanes[place]
        for message in messages:
            try:
                lane.take(message)
            except NotDerivedError as error:
                logger.warning("%s:%d:%d is no derived event: %s", *place, message.offset, error)

    def _hold_back(self) -> None:
        self._feed.full = frozenset(place for place, lane in self._all().items() if lane.is_full(self._room))

    # -- committing --------------------------------------------------------------------------------------------------

    def _settle(self, progress: Progress, before: int) -> int:
        """Commits all that is whole, in steps."""
        done = 0
        while cuts := self._cuts():
            for partition, cut in cuts.items():
                done += cut - self._marks[partition]
            began = time.monotonic()
            with self._meters.timed(PART, "commit"):
                self._commit(cuts)
            now = time.monotonic()
            self._rest = now + (now - began)
            progress(before + done, before + done)
        return done

    def _cuts(self) -> dict[int, int]:
        """The raw offset of each partition up to which every processor is done, where that is new."""
        reached = [min(mark + STEP, lane.next - 1) for mark, lane in zip(self._marks, self._raw.values(), strict=True)]
        for place, lane in self._lanes.items():
            reached[place.partition] = min(reached[place.partition], lane.done)
        return {p: cut for p, cut in enumerate(reached) if cut > self._marks[p]}

    def _commit(self, cuts: dict[int, int]) -> None:
        raw: dict[type, list[tuple[int, int, Root]]] = {}
        for place, lane in self._raw.items():
            for found in lane.rows_to(cuts.get(place.partition, -1)):
                raw.setdefault(type(found.event), []).append((found.partition, found.offset, as_stored(found)))
        rows: dict[type, list[Placed]] = {}
        resume: dict[str, int] = {}
        marks = {**dict(enumerate(self._marks)), **cuts}
        for place, stream in self._lanes.items():
            for row in stream.rows_to(marks[place.partition]):
                rows.setdefault(type(row[3]), []).append(row)
            where = f"{self._lineages[stream.processor.name]}/{place.partition}"
            resume[where] = stream.resume(marks[place.partition])
        tables = {cls: raw_batch(cls, entries) for cls, entries in raw.items()}
        tables |= {cls: derived_batch(cls, entries) for cls, entries in rows.items()}
        self.store.commit(Batch(tables, [], cuts, resume=resume))
        self._committed(cuts, resume)
        if self._meters.on:
            self._meters.folded(PART, {TYPES[cls]: len(entries) for cls, entries in raw.items()})

    def _committed(self, cuts: dict[int, int], resume: dict[str, int]) -> None:
        for partition, cut in cuts.items():
            self._marks[partition] = cut
        for place, lane in self._all().items():
            lane.drop_to(self._marks[place.partition])
            at = self._marks[place.partition] + 1
            if isinstance(lane, Lane):
                at = resume[f"{self._lineages[lane.processor.name]}/{place.partition}"]
            self._meters.committed(PART, place.topic, place.partition, at)
        self._hold_back()

    def _tell_begin(self) -> None:
        for place, lane in self._all().items():
            self._meters.watch(PART, place.topic)
            self._meters.position(PART, place.topic, place.partition, lane.next)
            self._meters.committed(PART, place.topic, place.partition, lane.next)
        self._meters.phase(PART, "running")


def as_stored(found: Read) -> Root:
    """A raw event with as much of its text's features as a memory stores: the tokens."""
    if isinstance(found.event, TurnRecorded):
        features = Text(tokens(found.event.content), [], [], [], [], "", [], [], [])
        return TurnRead(found.event, features, found.recorded_at)
    return FactRead(found.event, found.recorded_at)


def stored_makers(processor: Processor[Any]) -> dict[str, Maker]:
    """What makes a processor's events again, without what they only carry on: it is large, and in the raw log."""
    return {name: _without_carried(cls) for name, cls in zip(emitted(processor), processor.emits, strict=True)}


def _without_carried(cls: type) -> Maker:
    nothing = {f.name: None for f in fields(cls) if f.metadata.get("carried")}
    return (lambda **said: cls(**(said | nothing))) if nothing else cls
