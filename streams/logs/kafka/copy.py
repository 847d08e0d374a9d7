"""Copies a log into one on Kafka: the one way to move it, to merge logs, or to change the number of partitions.

Event ids and recorded times are kept, so memories folded from the copy are the same. Begun again, a copy goes on where
it stopped: the target's control topic says how far it came, and what is in the target already is not doubled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from streams.core.dataclasses import dataclass, field, replace
from streams.core.driver import Record
from streams.core.errors import UsageError
from streams.core.events import decode
from streams.core.progress import Progress
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import create
from streams.logs.log import Duplicate, Log, Refused, Stored
from streams.logs.sqlite import SqliteLog

CHUNK = 10_000
"""Events copied between notes of how far the copy is."""
TOLD = 20
"""Refusals that are told; the others are counted."""


class Source(Log, Protocol):
    """A log that can be copied."""

    def noted(self, key: str) -> str | None:
        """A word about the log."""


@dataclass(slots=True)
class Copied:
    """What became of a copy."""

    stored: int = 0
    duplicates: int = 0
    """Were in the target already."""
    refused: int = 0
    lost: int = 0
    """Offsets that the source no longer had."""
    reasons: list[str] = field(default_factory=list)
    """Of the first TOLD events that the target refused: it holds another event of their id."""


def copied_to(
    connection: Connection,
    source: Path | str,
    partitions: int | None,
    replication: int,
    progress: Progress,
    what_is_left: bool = False,
) -> Copied:
    """Copies the log in a file, or the one of another prefix on the same brokers, to the log of `connection`.

    Makes the target's topics where there are none. Raises UsageError for a source that is not there, LogError for one
    that lost records to retention, unless `what_is_left` is wanted.
    """
    origin = _opened(connection, source)
    try:
        begins = origin.accept_loss() if what_is_left and isinstance(origin, KafkaLog) else [0] * origin.partitions
        create(connection, (), partitions, replication)
        target = KafkaLog(connection)
        try:
            return copy(origin, target, progress, begins)
        finally:
            target.close()
    finally:
        origin.close()


def _opened(connection: Connection, source: Path | str) -> Source:
    if isinstance(source, str):
        return KafkaLog(replace(connection, prefix=source))
    if not source.exists():
        raise UsageError(f"there is no log {source}", "name its home with --home, or a log on the brokers with --from")
    log = SqliteLog(source)
    if log.known_keys():
        log.close()
        raise UsageError(f"contents of {source} are encrypted, and would not be on brokers", "keep the log in its home")
    return log


def copy(source: Source, target: KafkaLog, progress: Progress, begins: Sequence[int]) -> Copied:
    """Copies all of `source`, each partition from where it begins, that `target` lacks.

    Raises UsageError for a log and itself, LogError as logs do."""
    if source.id == target.id:
        raise UsageError(f"log {source.id} would be copied into itself", "choose another --from, or another prefix")
    starts = [max(begin, int(target.noted(_note(source, p)) or 0)) for p, begin in enumerate(begins)]
    total = sum(max(0, source.end(p) - start) for p, start in enumerate(starts))
    copied, done = Copied(lost=sum(begins)), 0
    progress(0, total)
    for partition, start in enumerate(starts):
        records = source.read(partition, start)
        while chunk := list(islice(records, CHUNK)):
            _append(target, chunk, copied)
            target.note(_note(source, partition), str(chunk[-1].offset + 1))
            done += chunk[-1].offset + 1 - start
            start = chunk[-1].offset + 1
            progress(min(done, total), total)
    params = source.noted("params")
    if params is not None and target.noted("params") is None:
        target.note("params", params)  # live is folded with the parameters that it had
    return copied


def _append(target: KafkaLog, chunk: list[Record], copied: Copied) -> None:
    for outcome in target.append_recorded([(decode(r.type, r.value), r.recorded_at) for r in chunk]):
        match outcome:
            case Stored():
                copied.stored += 1
            case Duplicate():
                copied.duplicates += 1
            case Refused(reason):
                copied.refused += 1
                if len(copied.reasons) < TOLD:
                    copied.reasons.append(reason)


def _note(source: Source, partition: int) -> str:
    return f"copied.{source.id}.{partition}"
