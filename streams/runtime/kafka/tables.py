"""The state of one processor: a Faust table that is read and written by whole batches.

Faust recovers it from its changelog topic; the changes come there through `Journal.change`, one record batch for each
batch of input, and then into the store here. The keys, all bytes:

    space NUL key       a record of the processor's state
    space NUL 1 id      which content the event of this id had first (processors of the raw log)
    space NUL 2         whether the space is live (see Part)
    NUL mark/partition  how far the partition is folded
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import faust
import rocksdict
from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from faust.types import TP

from streams.runtime.kafka.runs import LOGGER

ID = b"\x00\x01"
LIVE = b"\x00\x02"
MARK = b"\x00mark/"
SEPARATOR = b"\x00"

Changes = Mapping[bytes, bytes | None]
Assigned = Callable[[set[int], int], Awaitable[None]]


class Keys(Protocol):
    """The part of a store that belongs to one partition."""

    def get(self, key: bytes) -> bytes | None:
        """The value at a key."""

    def items(self) -> Iterable[tuple[bytes, bytes]]:
        """All of the partition."""

    def space(self, space: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The processor's own records of one space, without the space in their keys."""


class StateTable(faust.Table[bytes, bytes]):
    """One processor's state, by partition."""

    logger = LOGGER

    def __init__(self, app: Any, *, assigned: Assigned, **how: Any) -> None:
        """`assigned` is called when recovery is complete, with all partitions that are ours in a generation."""
        super().__init__(app, key_type=bytes, value_type=bytes, **how)
        self._assigned = assigned
        self._memory: dict[int, MemoryKeys] = {}
        self._offsets: dict[TP, int] = {}

    @property
    def on_disk(self) -> bool:
        """Whether the store outlives the process."""
        return not str(self._store or self.app.conf.store).startswith("memory")

    def keys_of(self, partition: int) -> Keys:
        """What the store has of a partition."""
        if self.on_disk:
            return RocksKeys(self._rocks._db_for_partition(partition), self._rocks.offset_key)
        return self._memory[partition]

    def write(self, partition: int, changes: Changes, offset: int) -> None:
        """Takes over changes whose last stands at this offset of the changelog."""
        if not self.on_disk:
            self._memory.setdefault(partition, MemoryKeys()).write(changes)
            self._offsets[TP(self.changelog_topic_name, partition)] = offset
            return
        batch = rocksdict.WriteBatch(raw_mode=True)
        for key, value in changes.items():
            if value is None:
                batch.delete(key)
            else:
                batch.put(key, value)
        batch.put(self._rocks.offset_key, b"%d" % offset)  # with the changes: on disk is what stands up to an offset
        self._rocks._db_for_partition(partition).write(batch)

    @property
    def _rocks(self) -> Any:
        return self.data

    def persisted_offset(self, tp: TP) -> int | None:
        """Up to where the changelog is taken over; recovery reads what comes after."""
        if not self.on_disk:
            return self._offsets.get(tp)
        found: int | None = super().persisted_offset(tp)
        return found

    def apply_changelog_batch(self, batch: Iterable[Any]) -> None:
        """Nothing: what Faust hands over of the changelog was taken over by `write` already (see runs)."""

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Lets go of partitions that others have now."""
        topic = self.changelog_topic_name
        for tp in revoked:
            if tp.topic == topic:
                self._memory.pop(tp.partition, None)
                self._offsets.pop(tp, None)
        self.app.folds.given(generation_id)  # type: ignore[attr-defined]
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        """The store holds all of the changelog."""
        generation: int = self.app.tables.recovery.recovered  # type: ignore[attr-defined]
        ours = {tp.partition for tp in active_tps}
        for partition in ours:
            self._memory.setdefault(partition, MemoryKeys())
        await super().on_recovery_completed(active_tps, standby_tps)
        await self._assigned(ours, generation)


class StateRecovery(Recovery):
    """Recovers what the group has given, and ends with it."""

    logger = LOGGER
    recovered = -1
    """The newest generation whose partitions were recovered."""

    async def on_recovery_completed(self, generation_id: int = 0) -> None:
        """Goes on with partitions, unless they were given up since.

        Why: Faust looks only whether others were given since. Between giving up and getting there is time for others
        to go on with the partitions, and for a recovery that began before to end.
        """
        if self.app.folds.generation == generation_id:  # type: ignore[attr-defined]
            self.recovered = generation_id
            await super().on_recovery_completed(generation_id)


class StateManager(TableManager):
    """Faust's, with our recovery."""

    logger = LOGGER

    @property
    def recovery(self) -> Recovery:
        """What recovers tables."""
        if self._recovery is None:
            self._recovery = StateRecovery(self.app, self, beacon=self.beacon, loop=self.loop)
        return self._recovery


class MemoryKeys:
    """A partition in memory, by space."""

    def __init__(self) -> None:
        self._spaces: dict[bytes, dict[bytes, bytes]] = {}

    def get(self, key: bytes) -> bytes | None:
        """The value at a key."""
        space, _, rest = key.partition(SEPARATOR)
        return self._spaces.get(space, {}).get(rest)

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All of the partition."""
        for space, records in self._spaces.items():
            for rest, value in records.items():
                yield space + SEPARATOR + rest, value

    def space(self, space: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The processor's own records of one space."""
        return ((key, value) for key, value in self._spaces.get(space, {}).items() if key[:1] > b"\x02")

    def write(self, changes: Changes) -> None:
        """Takes over changes."""
        spaces = self._spaces
        for key, value in changes.items():
            space, _, rest = key.partition(SEPARATOR)
            if value is None:
                spaces.get(space, {}).pop(rest, None)
            else:
                spaces.setdefault(space, {})[rest] = value


class RocksKeys:
    """A partition on disk."""

    def __init__(self, db: rocksdict.Rdict, offset_key: bytes) -> None:
        self._db = db
        self._offset_key = offset_key

    def get(self, key: bytes) -> bytes | None:
        """The value at a key."""
        found: bytes | None = self._db.get(key)
        return found

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All of the partition."""
        return ((key, value) for key, value in self._from(b"") if key != self._offset_key)

    def space(self, space: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The processor's own records of one space."""
        prefix = space + SEPARATOR
        start = len(prefix)
        for key, value in self._from(prefix + b"\x03"):
            if not key.startswith(prefix):
                return
            yield key[start:], value

    def _from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        found: Any = self._db.items(from_key=key)
        return iter(found)
