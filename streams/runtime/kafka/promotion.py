"""Promotion on Kafka: workers make the streams of the new lineages beside the old, until they are at the log's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from projections.store import Store
from streams.core.errors import MemoryFileError
from streams.core.processor import Processor
from streams.core.progress import Progress
from streams.logs.kafka.log import KafkaLog
from streams.runtime.kafka.projector import Projector
from streams.runtime.kafka.sets import note_of
from streams.runtime.memories import check_memory

PATIENCE = 60.0
"""Seconds that promote waits for workers of the new lineages while none gets on."""


def prepare(
    log: KafkaLog, store: Store, name: str, processors: Sequence[Processor[Any]], progress: Progress,
    said: Callable[[str], None],
) -> None:  # fmt: skip
    """Makes a memory a candidate, and waits until its workers have brought it to the log's end; closes `store`.

    What a replay folded into it stays: the workers make the same. Raises MemoryFileError where workers do not get on;
    it stays a candidate then, and promoting it again goes on.
    """
    try:
        check_memory(store, log, processors)
        if log.noted(note_of(name)) != store.meta("params"):
            log.note(note_of(name), store.meta("params"))
        projector = Projector(log, store, processors)
        try:
            if lagging := projector.reach_end(progress, min(1.0, PATIENCE)):
                said(f"{name} is a candidate; waiting for `mnemolog worker --memory {name}` beside the other workers")
                lagging = projector.reach_end(progress, PATIENCE)
            projector.save_place()
        finally:
            projector.stop_reading()
    finally:
        store.close()
    if lagging:
        raise MemoryFileError(
            f"{name} does not reach the log's end: {lagging}",
            f"start `mnemolog worker --memory {name}` beside the other workers, then promote it again",
        )
