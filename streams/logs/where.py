"""Where the log of a home is: a file in the home, or brokers that the environment names. The one place that decides."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from streams.core.errors import UsageError
from streams.core.events import Outside
from streams.core.patterns import lazily
from streams.logs import LOG_FILE
from streams.logs.encryption import SETTING, Keys
from streams.logs.log import Log, Outcome
from streams.logs.sqlite import SqliteLog

_PLACE = lazily(r"(?:(\d{1,9}):)?(\d{1,18})", re.ASCII)


class Copied(Log, Protocol):
    """A log with notes about itself, which stay with it, and with what is known of events that were erased."""

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this machine, which who opens the home folds; else workers elsewhere fold it."""

    def note(self, key: str, value: str) -> None:
        """Keeps a word about the log."""

    def noted(self, key: str) -> str | None:
        """What was noted under `key`."""

    def notes(self) -> dict[str, str]:
        """What was noted and concerns a copy of the log, too."""

    def offset_of(self, space: str, id_: str) -> int | None:
        """Where an event stands in its partition."""

    def append_recorded(self, recorded: Sequence[tuple[Outside, int]]) -> list[Outcome]:
        """Records events of another log, each with the time (UTC microseconds) when it was first recorded."""

    def erased(self) -> list[tuple[bytes, bytes, str]]:
        """What is known of events that were erased, in the order of names."""

    def keep_erased(self, rows: Iterable[tuple[bytes, bytes, str]]) -> None:
        """Keeps what is known of events that were erased: name, runs and receipt; see `streams.logs.erased`."""


class HomeLog(Copied, Protocol):
    """The log of a home: one that an erasure can have another take the place of; see `streams.runtime.erasure`."""

    def succeed(self, folder: Path) -> Copied:
        """A new, empty log, which may take this one's place; what that needs of this machine lies in `folder`, which
        is in the home."""

    def successor(self, folder: Path) -> Copied:
        """The log that `succeed` made."""

    def halted(self) -> AbstractContextManager[None]:
        """Nobody appends meanwhile, until the log gives way or this is over."""

    def give_way(self, folder: Path, gone: Sequence[str], moves: Sequence[str]) -> None:
        """The successor takes this one's place: the moment of an erasure. Of the home go `gone`, and `moves` come from
        `folder`. The caller has this one halted."""

    def discard(self, folder: Path) -> None:
        """Throws away a successor that did not take this one's place."""

    def resume(self, folder: Path, gone: Callable[[], Sequence[str]]) -> None:
        """Finishes what has to be done once the log gave way, where that is not done by whoever comes to the log."""

    def follow(self) -> None:
        """Goes on where the log is since an erasure, if somebody else moved it."""

    def is_former(self, home: Path) -> bool:
        """Whether a home holds what was made of a log that this one took the place of: `resume` was not done there."""

    def bury(self) -> None:
        """Of `resume`, what has to be done beyond this machine."""

    def strays(self) -> list[str]:
        """What there still is of former logs, or of copies that were never finished, beyond this machine."""

    def elsewhere(self) -> Iterator[tuple[str, bytes]]:
        """All that is held for this log beyond this machine, with the name of where it is."""


def on_kafka() -> bool:
    """Whether the environment names brokers. Why not Settings: to read all of them takes a tenth of a second."""
    return bool(os.environ.get("MNEMOLOG_KAFKA"))


def open_log(home: Path) -> HomeLog:
    """The log of a home. Raises LogError for brokers that cannot be reached, UsageError where what talks to them is
    not installed."""
    if os.environ.get(SETTING):
        _encrypt(home)
    if not on_kafka():
        return SqliteLog(home / LOG_FILE)
    from streams.logs.kafka.connection import Connection
    from streams.logs.kafka.erasable import ErasableKafkaLog
    from streams.logs.settings import Settings

    return ErasableKafkaLog(Connection.of(Settings()), home)


def _encrypt(home: Path) -> None:
    """Has new events of a home be under keys, where the environment says so. Raises UsageError on brokers."""
    from streams.logs.settings import Settings

    if Settings().encryption and on_kafka():
        raise UsageError(
            "contents on Kafka are not encrypted by mnemolog",
            f"unset {SETTING}, and encrypt the brokers' disks; or unset MNEMOLOG_KAFKA: the log is in the home then",
        )
    if Settings().encryption:
        Keys(home).switch_on()


Places = Mapping[int, int]
"""An offset for each partition of interest."""


def parse_places(text: str, partitions: int) -> dict[int, int]:
    """The places in `PARTITION:OFFSET`, several with commas between; an offset alone where there is one partition.

    Raises UsageError for anything else.
    """
    found: dict[int, int] = {}
    for place in text.split(","):
        one = _PLACE.fullmatch(place.strip())
        if one is None or (one[1] is None and partitions != 1):
            raise UsageError(f"{text[:100]!r} is no position of the log", "give PARTITION:OFFSET, 0:1234 for example")
        partition, offset = int(one[1] or 0), int(one[2])
        if partition >= partitions:
            raise UsageError(f"the log has no partition {partition}", f"it has {partitions}, counted from 0")
        found[partition] = max(offset, found.get(partition, 0))
    return found


def told_place(partition: int, offset: int) -> str:
    """A place as people and commands write it."""
    return f"{partition}:{offset}"
