"""One partition of one processor: what comes in, what goes out, what changes. No I/O but reads of its own store.

A part is where DESIGN's driver meets records. It knows how far the partition is folded, finds broken and repeated
records, folds the others, and says in a `Batch` what is to be appended and saved, in which order. All that a batch
changed, and its mark, is saved at once; so a part that is made again from its store goes on as if nothing had happened.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import orjson

from streams.core.driver import FANOUT, Driver, Position, as_root
from streams.core.events import AT_APPEND, MAX_AHEAD, ClockTicked, Outside, TurnRecorded, encode
from streams.core.params import Params
from streams.core.processor import ROOT, Processor, State, derived_id
from streams.core.text import Root
from streams.logs.kafka import records
from streams.logs.kafka.records import Message
from streams.runtime.kafka.journal import Output
from streams.runtime.kafka.tables import ID, LIVE, MARK, SEPARATOR, Keys

RESIDENT = 4096
"""Spaces of a partition whose state stays in memory; the others are read from the store when they come again."""
RECENT = 4096
"""Records of the raw log that are remembered as they were understood."""
SMALL = 32 * 1024
"""Bytes of a value up to which it is remembered: what is understood of all RECENT stays below 1 GB at the worst."""
YES, NO = b"1", b"0"
DUE = "due/"


class Letter(NamedTuple):
    """A record that cannot be folded, and why."""

    message: Message
    reason: str


class Mark(NamedTuple):
    """How far a partition is folded; saved with the state of that moment."""

    next: int
    """The offset in the topic that is read, of the first record not folded."""
    offset: int = -1
    path: int = -1
    """The position of the last event folded; -1 for none."""
    reached: int = -1
    """All that the raw log holds up to this offset (with it) is folded; -1 for nothing."""


@dataclass(slots=True)
class Batch:
    """What comes of some records, in the order in which it must become durable."""

    letters: list[Letter] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    changes: dict[bytes, bytes | None] = field(default_factory=dict)
    mark: Mark = Mark(0)  # noqa: RUF009 - a tuple
    folded: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    spaces: dict[str, None] = field(default_factory=dict)
    count: int = 0
    """Of records that were folded."""


class Part:
    """One partition of one processor."""

    def __init__(
        self, processor: Processor[Any], params: Params, partition: int, partitions: int, keys: Keys,
        makers: dict[str, records.Maker],
    ) -> None:  # fmt: skip
        """A part that goes on where `keys` end. `makers` make the events of the stream that is read (see `emitted`)."""
        self.driver = Driver(processor, params)
        self.partition = partition
        self._partitions = partitions
        self.keys = keys
        """Its part of the store."""
        self._makers = makers
        self._fold_one = self._fold_raw if processor.reads == ROOT else self._fold_derived
        self.mark_key = MARK + b"%d" % partition
        self.saved = keys.get(self.mark_key)
        """The mark as it is saved."""
        self.mark = Mark(*orjson.loads(self.saved)) if self.saved else Mark(0)
        self.durable = self.mark.next
        """The offset up to which all is folded and saved."""
        if self.mark.offset >= 0:
            self.driver.marks[partition] = (self.mark.offset, self.mark.path)
        self._reached = self.mark.reached
        self._live: dict[str, bool] = {}
        self._due: dict[str, tuple[int, str]] = {}
        self._asked: dict[str, str] = {}
        self._flying: list[Batch] = []
        self.sent: list[Batch] = []
        """Those of which all outputs are durable, oldest first; what they changed is not saved yet."""
        self._find_deadlines()

    # -- folding -----------------------------------------------------------------------------------------------------

    def fold(self, messages: Sequence[Message]) -> Batch:
        """Folds records that follow on what was folded; those that do not are repeated ones, and dropped."""
        batch = Batch(count=len(messages))
        self._flying.append(batch)
        first = self.mark.next
        for message in messages:
            if message.offset >= first:
                self._fold_one(message, batch)
        place = self.driver.marks.get(self.partition, (-1, -1))
        self._take_changes(batch)
        before = self.mark.reached
        self.mark = batch.mark = Mark(max(first, messages[-1].offset + 1), *place, self._reached)
        batch.changes[self.mark_key] = orjson.dumps(list(batch.mark))
        if self._reached > before:
            batch.outputs.append((b"", b"", records.progressed_headers(self.partition, self._reached)))
        self._evict(batch)
        return batch

    @property
    def under_way(self) -> int:
        """Records that are folded and not durable."""
        return sum(batch.count for batch in self._flying)

    def to_save(self, records: int) -> list[Batch]:
        """The oldest batches that are sent: of so many records together, and at least one where there is any."""
        batches: list[Batch] = []
        for batch in self.sent:
            records -= batch.count
            if batches and records < 0:
                break
            batches.append(batch)
        return batches

    def landed(self, batches: list[Batch]) -> None:
        """The oldest batches that were sent are durable, and in the store."""
        del self._flying[: len(batches)], self.sent[: len(batches)]
        self.saved = batches[-1].changes[self.mark_key]
        self.durable = batches[-1].mark.next

    def _fold_raw(self, message: Message, batch: Batch) -> None:
        self._reached = message.offset
        found = understood(message, self._partitions)
        if isinstance(found, records.Broken):
            batch.letters.append(Letter(message, found.reason))
            return
        event, recorded_at, content, root = found
        key = event.space.encode() + ID + event.id.encode()
        known = self._look(key)
        if known is None:
            batch.changes[key] = content
            if isinstance(event, TurnRecorded):
                self._note_live(event.space, recorded_at - event.at, batch)
            self._step(event.space, message.offset, 0, root, event.type, batch)
        elif known != content:
            reason = f"id: {event.id!r} is taken in space {event.space!r} by another event, recorded before"
            batch.letters.append(Letter(message, reason))

    def _fold_derived(self, message: Message, batch: Batch) -> None:
        try:
            found = records.derived(message, self._makers)
        except records.NotDerivedError as error:
            batch.letters.append(Letter(message, str(error)))
            return
        position = found.position
        if isinstance(found, records.Progressed):
            self._reached = max(self._reached, position.offset)
            return
        event = found.event
        self._note_live(event.space, message.timestamp * 1000 - event.at, batch)
        self._step(event.space, position.offset, position.path, event, event.type, batch)

    def _step(self, space: str, offset: int, path: int, event: object, type_: str, batch: Batch) -> None:
        driver = self.driver
        if space not in driver.states:
            own = self.keys.space(space.encode())
            driver.states[space] = State({key.decode(): value for key, value in own})
        steps = driver.steps
        outputs = driver.step(space, self.partition, offset, path, event)
        if driver.steps == steps:
            return  # a repeated position
        batch.spaces[space] = None
        batch.folded[type_] += 1
        if outputs:
            key = space.encode()
            for place, output in enumerate(outputs, path * FANOUT):
                headers = records.derived_headers(output, Position(self.partition, offset, place))
                batch.outputs.append((key, encode(output), headers))
                batch.made[output.type] += 1

    def _take_changes(self, batch: Batch) -> None:
        changes = batch.changes
        for space in batch.spaces:
            prefix = space.encode() + SEPARATOR
            state = self.driver.states[space]
            deadlines = False
            for key, value in state.changes():
                changes[prefix + key.encode()] = value
                deadlines = deadlines or key.startswith(DUE)
            if deadlines:
                self._due.pop(space, None)
                if first := state.keys(DUE, 1):
                    self._due[space] = _deadline(first[0])
                else:
                    self._asked.pop(space, None)

    def _look(self, key: bytes) -> bytes | None:
        for batch in reversed(self._flying):
            if key in batch.changes:
                return batch.changes[key]
        return self.keys.get(key)

    def _evict(self, batch: Batch) -> None:
        states = self.driver.states
        surplus = len(states) - RESIDENT
        if surplus <= 0:
            return
        needed = {space for flying in self._flying for space in flying.spaces}
        for space in list(islice((space for space in states if space not in needed), surplus)):
            del states[space]
            self._live.pop(space, None)

    # -- deadlines ---------------------------------------------------------------------------------------------------

    def ticks(self, now: int) -> list[ClockTicked]:
        """The ticks that live spaces are due for at `now`, each once."""
        due = [
            (space, at, key)
            for space, (at, key) in self._due.items()
            if at <= now and self._asked.get(space) != key and self._is_live(space)
        ]
        self._asked.update((space, key) for space, _, key in due)
        # Why the key: where one event cannot end all that is due at a deadline, what is left of it asks for another.
        return [ClockTicked(space, derived_id("tick", space, key), at) for space, at, key in due]

    def _note_live(self, space: str, delay: int, batch: Batch) -> None:
        live = abs(delay) <= MAX_AHEAD
        if self._is_live(space) is not live:
            batch.changes[space.encode() + LIVE] = YES if live else NO
            self._live[space] = live

    def _is_live(self, space: str) -> bool:
        found = self._live.get(space)
        if found is None:
            found = self._live[space] = self._look(space.encode() + LIVE) == YES
        return found

    def _find_deadlines(self) -> None:
        prefix = DUE.encode()
        for key, _ in self.keys.items():
            space, _, rest = key.partition(SEPARATOR)
            if rest.startswith(prefix):
                name, deadline = space.decode(), _deadline(rest.decode())
                self._due[name] = min(deadline, self._due.get(name, deadline))


class Understood(NamedTuple):
    """A record of the raw log as processors are given it."""

    event: Outside
    recorded_at: int
    content: bytes
    """What tells it from another event under the same id."""
    root: Root


class _Raw(NamedTuple):
    """A record, as a key of what is remembered of it."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def understood(message: Message, partitions: int) -> Understood | records.Broken:
    """A record of the raw log, validated and its words read; or why it cannot be folded.

    The processors of a process read the same records at about the same time: what one understood serves the others.
    """
    raw = _Raw(message.partition, message.offset, message.timestamp, message.key, message.value, tuple(message.headers))
    return _remembered(raw, partitions) if len(raw.value or b"") <= SMALL else _understand(raw, partitions)


def _understand(raw: _Raw, partitions: int) -> Understood | records.Broken:
    found = records.read(raw, partitions)
    if isinstance(found, records.Broken):
        return found
    event, recorded_at = found.event, found.recorded_at
    content = content_of(encode(replace(event, at=AT_APPEND)) if event.at == recorded_at else encode(event))
    return Understood(event, recorded_at, content, as_root(event, recorded_at))


_remembered = lru_cache(maxsize=RECENT)(_understand)


def content_of(value: bytes) -> bytes:
    """What tells one content from another under the same id."""
    return hashlib.blake2b(value, digest_size=16).digest()


def _deadline(key: str) -> tuple[int, str]:
    return int(key.split("/")[1]), key
