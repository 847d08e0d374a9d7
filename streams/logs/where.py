"""Where the log of a home is: a file in the home, or brokers that the environment names. The one place that decides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from streams.core.errors import UsageError
from streams.logs import LOG_FILE
from streams.logs.log import Log
from streams.logs.sqlite import SqliteLog


class HomeLog(Log, Protocol):
    """A log with notes about itself, which stay with it."""

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this machine, which who opens the home folds; else workers elsewhere fold it."""

    def note(self, key: str, value: str) -> None:
        """Keeps a word about the log."""

    def noted(self, key: str) -> str | None:
        """What was noted under `key`."""


def on_kafka() -> bool:
    """Whether the environment names brokers. Why not Settings: to read all of them takes a tenth of a second."""
    return bool(os.environ.get("MNEMOLOG_KAFKA"))


def open_log(home: Path) -> HomeLog:
    """The log of a home. Raises LogError for brokers that cannot be reached, UsageError where what talks to them is
    not installed."""
    if not on_kafka():
        return SqliteLog(home / LOG_FILE)
    from streams.logs.kafka.connection import Connection
    from streams.logs.kafka.log import KafkaLog
    from streams.logs.settings import Settings

    return KafkaLog(Connection.of(Settings()), home)


Places = Mapping[int, int]
"""An offset for each partition of interest."""


def parse_places(text: str, partitions: int) -> dict[int, int]:
    """The places in `PARTITION:OFFSET`, several with commas between; an offset alone where there is one partition.

    Raises UsageError for anything else.
    """
    found: dict[int, int] = {}
    for place in text.split(","):
        partition, colon, offset = place.strip().rpartition(":")
        if not offset.isdecimal() or (colon and not partition.isdecimal()) or (not colon and partitions != 1):
            raise UsageError(f"{text!r} is no position of the log", "give PARTITION:OFFSET, 0:1234 for example")
        if int(partition or 0) >= partitions:
            raise UsageError(f"the log has no partition {partition}", f"it has {partitions}, counted from 0")
        found[int(partition or 0)] = max(int(offset), found.get(int(partition or 0), 0))
    return found


def told_place(partition: int, offset: int) -> str:
    """A place as people and commands write it."""
    return f"{partition}:{offset}"
