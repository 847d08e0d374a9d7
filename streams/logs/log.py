"""The log: the immutable facts, in the order they were recorded. The one thing that must never be lost.

A log has an id and a fixed number of partitions. Every event of a space lies in one partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Protocol

from streams.core.dataclasses import dataclass, replace
from streams.core.driver import Record
from streams.core.events import AT_APPEND, MAX_AHEAD, MAX_EVENT_BYTES, Outside, encode, iso


@dataclass(frozen=True, slots=True)
class Stored:
    """The event is durable at this offset."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same event (id and content) stands at this offset already; nothing was added."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was added; the reason names the place of what stands in the way."""

    reason: str
    taken: bool = False
    """Whether that is another event under the same id."""
    erased: bool = False
    """Whether that event was erased: it is not taken again."""


Outcome = Stored | Duplicate | Refused

HASH_BYTES = 16


def hashed(before: bytes, space: str, id: str, recorded_at: int, type: str, value: bytes) -> bytes:
    """The running hash of a log after a record: of the hash `before` it, and of all that the record says."""
    said = f"{recorded_at}\0{space}\0{id}\0{type}\0".encode(errors="surrogatepass")
    return blake2b(before + said + value, digest_size=HASH_BYTES).digest()


class Chain:
    """The running hash of events, partition by partition: of a log of one partition that of the log itself."""

    def __init__(self, hashes: Sequence[bytes]) -> None:
        """The hashes of the partitions so far."""
        self.hashes = [*hashes]

    def add(self, record: Record, id_: str) -> None:
        """Adds the next event of a partition."""
        before = self.hashes[record.partition]
        self.hashes[record.partition] = hashed(before, record.space, id_, record.recorded_at, record.type, record.value)

    def digest(self) -> str:
        """One hash of all."""
        if len(self.hashes) == 1:
            return self.hashes[0].hex()
        said = b"".join(one.ljust(HASH_BYTES, b"\0") for one in self.hashes)
        return blake2b(said, digest_size=HASH_BYTES).hexdigest()


def stamped(event: Outside, now: int) -> tuple[Outside, bytes] | Refused:
    """An event as a log records it at `now` (UTC microseconds), and its bytes; Refused where no log takes it."""
    if event.at == AT_APPEND:
        event = replace(event, at=now)
    elif event.at > now + MAX_AHEAD:
        return Refused(f"at: {iso(event.at)} lies more than 5 minutes after now ({iso(now)}); mend the clock")
    value = encode(event)
    if len(value) > MAX_EVENT_BYTES:
        return Refused(f"the event is {len(value)} bytes long; at most {MAX_EVENT_BYTES} (8 MiB) are taken")
    return event, value


class Log(Protocol):
    """Append and read. One contract suite runs against every implementation."""

    @property
    def id(self) -> str:
        """Which log this is; memories record it and refuse another."""

    @property
    def partitions(self) -> int:
        """How many partitions it has, for ever."""

    def append(self, events: Sequence[Outside]) -> list[Outcome]:
        """Records events; one outcome each, in order. What is answered with Stored or Duplicate is durable.

        An event whose `at` is AT_APPEND gets the time of recording. Raises LogError, with nothing of the failing
        batch recorded, when the log cannot take more.
        """

    def read(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The records at offsets start <= offset < stop (the end as of now where None), in order.

        One that is under a key that is not here, or was destroyed, is not readable (see `Record.is_readable`): it is
        as if it had never been there, but for its place and hash.
        """

    def stored(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The same records as they are stored, for copies: sealed where their space has a key."""

    def unread(self) -> dict[str, str]:
        """The spaces whose keys are not here, though nobody destroyed them, by key."""

    def holds(self, key: str) -> bool:
        """Whether what is under a key can be read."""

    def end(self, partition: int) -> int:
        """The offset that the next record of the partition will get."""

    def close(self) -> None:
        """Lets go of files and connections."""


def hash_at(log: Log, partition: int, offset: int) -> bytes:
    """The hash of a log up to the record at an offset; b"" where it holds none there, as before the first."""
    if offset < 0:
        return b""
    return next((record.hash for record in log.stored(partition, offset, offset + 1)), b"")
