"""The projector: brings the raw log and what workers derive from it into one memory, all of an event or none of it.

Rows wait until every processor has told all that it makes up to a raw offset. Then the raw events up to there and all
that is derived from them are committed in ONE transaction, with the mark per partition and the record from which the
rows of each set of workers are read on. So a memory is, at every moment, what the embedded runtime would have made of
the same beginning of the log; a crash anywhere repeats only what was not committed.

Several sets of workers may emit the same processor: whoever is first is taken, for what they tell is the same.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aiokafka import TopicPartition

from projections.garbage import rare_collections
from projections.store import Batch, Store, View
from projections.tables import Folded
from streams.core.driver import Placed
from streams.core.errors import Aside, ForeignError
from streams.core.events import TurnRecorded
from streams.core.processor import Derived, Processor, Raw
from streams.core.progress import Progress, no_progress
from streams.core.text import NO_TEXT
from streams.core.text.terms import tokens
from streams.logs.kafka.connection import run
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import Message, NotDerivedError, Read, derived, makers, read
from streams.logs.kafka.topics import read_notes
from streams.runtime.fold import Ahead
from streams.runtime.kafka.feed import Feed
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.sets import sets_for
from streams.runtime.memories import check_memory

logger = logging.getLogger(__name__)

PART = "projector"
"""What it is called in metrics."""
WAITING = 20_000
"""Raw events and derived rows of a partition that wait; beyond that the topic they come from is not read on."""
STEP = 5_000
"""Raw offsets per commit, about."""
PATIENCE = 5.0
"""Seconds that a memory waits for workers while none gets on."""
LOOK = 5.0
"""Seconds between looks for further sets of workers, where there are none for some processor or those there are lag."""


@dataclass(slots=True)
class Told:
    """A set's topic of derived rows, in one partition."""

    next: int
    """The offset of the record that is read next."""
    resume: int
    """The record from which it is read on once what waits here is forgotten, all that was taken being committed."""
    marks: deque[tuple[int, int]] = field(default_factory=deque)
    """Where it was told that all up to a raw offset is there: that offset, and the record after."""

    def settle(self, cut: int) -> None:
        """All up to a raw offset is taken."""
        while self.marks and self.marks[0][0] <= cut:
            self.resume = self.marks.popleft()[1]


@dataclass(slots=True)
class Lane:
    """A partition: what was read of it and is not committed."""

    partition: int
    mark: int
    """The raw offset up to which all is committed."""
    next: int
    """The raw offset that is read next."""
    done: dict[str, int]
    """By processor: the raw offset up to which it told all that it makes."""
    last: dict[str, int]
    """By processor: the raw offset of the newest rows taken."""
    raw: deque[Read] = field(default_factory=deque)
    rows: dict[str, deque[tuple[int, list[Derived]]]] = field(default_factory=dict)
    """By processor: rows with the raw offset that they are of."""
    waiting: int = 0
    """Rows that wait."""

    def cut(self) -> int:
        """The raw offset up to which all is here, at most STEP after the mark."""
        return min(self.mark + STEP, self.next - 1, *self.done.values())

    def take_to(self, cut: int) -> tuple[list[Read], list[Placed]]:
        """Raw events and rows up to a raw offset, which wait no more."""
        raw: list[Read] = []
        while self.raw and self.raw[0].offset <= cut:
            raw.append(self.raw.popleft())
        placed: list[Placed] = []
        for rows in self.rows.values():
            while rows and rows[0][0] <= cut:
                offset, events = rows.popleft()
                placed += [(self.partition, offset, ordinal, event) for ordinal, event in enumerate(events)]
        self.waiting -= len(placed)
        self.mark = cut
        return raw, placed


class Projector:
    """Keeps a memory up to date with a Kafka log and its workers. Whoever makes one holds the memory's writer lock."""

    def __init__(
        self, log: KafkaLog, store: Store, processors: Sequence[Processor[Any]], meters: Meters | None = None,
        partitions: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """Gathers `partitions` of the log, all where none are said.

        Raises MemoryFileError as the embedded runtime does, LogError where topics are missing or were cut.
        """
        self.log = log
        self.store = store
        self.params = check_memory(store, log, processors)
        self.missing = ""
        """What folding needs and is not installed: workers fold, here nothing is needed."""
        self._meters = meters or Meters()
        self._wanted = {p.name: store.lineages[p.name] for p in processors}
        self._reads = {p.name: p.reads for p in processors}
        self._makers = makers(processors)
        wanted = range(log.partitions) if partitions is None else partitions
        if others := store.extent().known.keys() - {*wanted}:
            raise ForeignError(f"{store.path} holds partitions of other shards, {min(others)} for one", "delete it")
        self._lanes = {partition: self._lane(partition, store.mark(partition)) for partition in wanted}
        self._told: dict[TopicPartition, Told] = {}
        self._sets: dict[str, tuple[str, list[str]]] = {}
        """By topic of derived rows: its set, and the processors whose rows, of our lineages, stand there."""
        self._log_id, self._turns = log.id, log.names.turns
        self._feed = Feed(log.connection)
        self._looked = 0.0
        self._ahead = Ahead(store)
        self._gathered = 0
        """Raw offsets that are not committed."""
        self._lags = False
        """Whether somebody was told so since it was last looked for workers."""
        try:
            self._feed.read({TopicPartition(log.names.turns, p): lane.next for p, lane in self._lanes.items()})
            self._look_for_sets()
        except BaseException:
            self._feed.close()
            raise
        for partition, lane in self._lanes.items():
            self._meters.position(PART, log.names.turns, partition, lane.next)
            self._meters.committed(PART, log.names.turns, partition, lane.next)
        self._meters.phase(PART, "running")

    def _lane(self, partition: int, mark: int) -> Lane:
        # Why not done up to the mark: what a replay folded, no worker has said yet that it made.
        rows: dict[str, deque[tuple[int, list[Derived]]]] = {name: deque() for name in self._wanted}
        return Lane(
            partition, mark, mark + 1, dict.fromkeys(self._wanted, -1), dict.fromkeys(self._wanted, mark), rows=rows
        )

    def _look_for_sets(self) -> None:
        """Begins to read what further sets of workers tell, where there are some."""
        self._looked, self._lags = time.monotonic(), False
        notes = run(self.log.connection, read_notes(self.log.connection))
        resume = self.store.resume()
        further = {
            self.log.names.derived(name): (
                name,
                [p for p, lineage in emitted.items() if self._wanted.get(p) == lineage],
            )
            for name, emitted in sets_for(notes, self._wanted).items()
            if self.log.names.derived(name) not in self._sets
        }
        places = {
            TopicPartition(topic, p): resume.get(f"{name}/{p}", 0)
            for topic, (name, _) in further.items()
            for p in self._lanes
        }
        if places:  # why all at once: each time, whoever reads already is waited for
            self._feed.read(places)
        self._sets |= further
        for place, start in places.items():
            self._told[place], lane = Told(start, start), self._lanes[place.partition]
            if start:  # it was read before, up to what is committed
                lane.done |= {name: max(lane.done[name], lane.mark) for name in further[place.topic][1]}

    def check_askable(self) -> None:
        """Raises nothing: it can be asked, as far as it was folded."""

    def is_sparse(self) -> bool:
        """Whether live's file would be much smaller, written anew."""
        return self.store.is_sparse()

    def behind(self) -> int:
        """How many raw records are not in the memory yet."""
        ends = self.log.ends()
        return sum(ends[p] - lane.mark - 1 for p, lane in self._lanes.items())

    def aside(self) -> list[Aside]:
        """Nothing: what workers could not fold lies among the dead letters."""
        return []

    def is_flooded(self) -> bool:
        """Never: workers fold."""
        return False

    def tick(self) -> int:
        """Nothing: workers look after the clock."""
        return 0

    def view(self) -> View:
        """How far it goes: its tables, and what was gathered beyond them."""
        return self._ahead.view

    def settle(self, soon: bool = False) -> bool:
        """Commits what was gathered, with `soon` only where it has waited for SOON; whether there was anything."""
        if not self._ahead.is_due(soon):
            return False
        pages = self._ahead.view.ahead
        with self._meters.timed(PART, "commit"):
            self._ahead.commit(
                lambda folded: Batch(folded.columns(), [], folded.marks, folded.hashes, resume=self._resume())
            )
        self._gathered = 0
        for partition in {partition for page in pages for partition in page.marks}:
            self._meters.committed(PART, self.log.names.turns, partition, self._lanes[partition].mark + 1)
        return True

    def catch_up(self, progress: Progress = no_progress, stop: int | None = None, ahead: bool = False) -> int:
        """Gathers what the workers have made, without waiting for more; how many raw offsets that were.

        All of it is in the tables then; with `ahead`, what was gathered last may not be until `settle` is called.
        Raises LogError when a topic cannot be read any more.
        """
        self.log.follow(at_once=False)
        if self.log.id != self._log_id:
            raise ForeignError("an erasure made a new log", "ask again: live is gathered anew")
        done = 0
        with rare_collections():
            while found := self._feed.take():
                self._absorb(found)
                if self._feed.full:
                    done += self._gather(progress, done)
            done += self._gather(progress, done)
            if not ahead:
                self.settle()
        if time.monotonic() - self._looked > LOOK and (self._lags or not self._covered()):
            self._look_for_sets()
        self._meters.beat()
        return done

    def _covered(self) -> bool:
        """Whether there are workers for each processor."""
        return self._wanted.keys() <= {name for _, ours in self._sets.values() for name in ours}

    def reach_end(self, progress: Progress = no_progress, patience: float = PATIENCE, ahead: bool = False) -> str:
        """Waits until all that the log holds now is in the memory, and every worker has said that it made it.

        What is in the way where workers do not get on for `patience` seconds, "" where all is there. All of it is in
        the tables then, also where `ahead` allows less.
        """
        ends = self.log.ends()
        total = sum(max(0, ends[p] - lane.mark - 1) for p, lane in self._lanes.items())
        done, moved = 0, time.monotonic()
        while not self._holds(ends):
            reached = [dict(lane.done) for lane in self._lanes.values()]
            done += self.catch_up()
            progress(min(done, total), total)
            if reached != [lane.done for lane in self._lanes.values()]:
                moved = time.monotonic()
            elif time.monotonic() - moved > patience:
                return self.lagging(ends)
            else:
                time.sleep(0.005)
        return ""

    def _holds(self, ends: Mapping[int, int]) -> bool:
        return all(min(lane.mark, *lane.done.values()) + 1 >= ends[p] for p, lane in self._lanes.items())

    def save_place(self) -> None:
        """Keeps in the memory how far the rows were read, though nothing new may have come of it."""
        self.settle()
        self.store.commit(Batch({}, [], {}, {}, resume=self._resume()))

    def lagging(self, ends: Mapping[int, int]) -> str:
        """Which processor keeps the memory from these ends of partitions, in words; "" where none does."""
        self._lags = True
        slow = {
            name: (done, partition)
            for partition, lane in self._lanes.items()
            for name, done in lane.done.items()
            if done + 1 < ends.get(partition, 0)
        }
        first = [name for name in self._wanted if name in slow and slow.keys().isdisjoint(self._reads[name])]
        said = "; ".join(
            f"{name} has not got past offset {slow[name][0]} of partition {slow[name][1]}" for name in first
        )
        return f"{said}; does its `mnemolog worker` run?" if said else ""

    def stop_reading(self) -> None:
        """Lets go of the brokers; the memory stays open."""
        self._feed.close()
        for lane in self._lanes.values():
            self._meters.released(PART, self._turns, lane.partition)

    def close(self) -> None:
        """Lets go of the brokers and of the memory."""
        self.stop_reading()
        self.store.close()

    # -- reading -----------------------------------------------------------------------------------------------------

    def _absorb(self, found: Mapping[TopicPartition, Sequence[Message]]) -> None:
        with self._meters.timed(PART, "decode"):
            for place, messages in found.items():
                if place.topic == self.log.names.turns:
                    self._absorb_raw(self._lanes[place.partition], messages)
                else:
                    self._absorb_derived(place, messages)
        self._hold_back()

    def _absorb_raw(self, lane: Lane, messages: Sequence[Message]) -> None:
        last = messages[-1]
        records = [read(message, self.log.partitions) for message in messages]
        lane.raw.extend(self.log.admit(last.partition, lane.next, last.offset + 1, records))
        lane.next = last.offset + 1

    def _absorb_derived(self, place: TopicPartition, messages: Sequence[Message]) -> None:
        lane, told = self._lanes[place.partition], self._told[place]
        for message in messages:
            told.next = message.offset + 1
            try:
                said = derived(message, self._wanted, self._makers)
            except NotDerivedError as error:
                logger.warning("%s:%d:%d is no record of derived rows: %s", *place, message.offset, error)
                continue
            if isinstance(said, int):
                told.marks.append((said, told.next))
                for name in self._sets[place.topic][1]:
                    lane.done[name] = max(said, lane.done[name])
                continue
            for made in said:
                if made.offset > lane.last[made.processor]:
                    lane.last[made.processor] = made.offset
                    lane.rows[made.processor].append((made.offset, made.events))
                    lane.waiting += len(made.events)

    def _hold_back(self) -> None:
        """Reads no more of what came so far that it waits for other topics."""
        names = self.log.names
        self._feed.full = frozenset(
            place
            for place in self._feed.places
            if (
                len(self._lanes[place.partition].raw) > WAITING
                if place.topic == names.turns
                else self._lanes[place.partition].waiting > WAITING and self._told[place].marks
            )
        )

    # -- committing --------------------------------------------------------------------------------------------------

    def _gather(self, progress: Progress, before: int) -> int:
        """Takes all that is whole, and commits it in steps; the last of it waits."""
        done = 0
        while cuts := {p: cut for p, lane in self._lanes.items() if (cut := lane.cut()) > lane.mark}:
            offsets = sum(cut - self._lanes[p].mark for p, cut in cuts.items())
            self._ahead.add(self._taken(cuts))
            done += offsets
            self._gathered += offsets
            if self._gathered >= STEP:
                self.settle()
            progress(before + done, before + done)
        return done

    def _taken(self, cuts: Mapping[int, int]) -> Folded:
        """What waits up to these raw offsets of partitions."""
        page = Folded(marks={**cuts})
        for partition, cut in cuts.items():
            events, placed = self._lanes[partition].take_to(cut)
            # Where the newest record is no event, there is nothing that could be known again.
            page.hashes[partition] = events[-1].record().hash if events and events[-1].offset == cut else b""
            for found in events:
                page.raw.setdefault(type(found.event), []).append((partition, found.offset, as_stored(found)))
            for row in placed:
                page.derived.setdefault(type(row[3]), []).append(row)
            self._meters.position(PART, self.log.names.turns, partition, cut + 1)
        for place, told in self._told.items():
            told.settle(self._lanes[place.partition].mark)
        self._meters.folded(PART, {entries[0][2].event.type: len(entries) for entries in page.raw.values()})
        self._hold_back()
        return page

    def _resume(self) -> dict[str, int]:
        """By set of workers and partition: the record from which its rows are read on."""
        return {f"{self._sets[place.topic][0]}/{place.partition}": told.resume for place, told in self._told.items()}


def as_stored(found: Read) -> Raw[Any]:
    """A raw event with as much of its text's features as a memory stores: the tokens."""
    event = found.event
    text = replace(NO_TEXT, tokens=tokens(event.content)) if isinstance(event, TurnRecorded) else NO_TEXT
    return Raw(event, text, found.recorded_at)
