"""The keys of spaces: what is under each, and how one is destroyed, so that no copy of the log says a word of it.

The log stays as it is: what is under a key that was destroyed keeps its place, and whoever reads passes it over. What
was derived from it is in clear, and goes as with an erasure: live is folded anew without it beside the old one. Then,
by one order that is written down first, the key is overwritten and deleted, the new live takes its place, and all else
that was derived is deleted. The receipt is appended behind it. Backups and archives need no change.
"""

from __future__ import annotations

import uuid
from contextlib import closing
from typing import TYPE_CHECKING, cast

import orjson

from streams.core.dataclasses import dataclass
from streams.core.errors import UsageError, counted
from streams.core.progress import Progress, no_progress
from streams.logs import switch
from streams.logs.encryption import Keys
from streams.logs.sqlite import SqliteLog
from streams.runtime.erasure import READY, alone, check_still, fold, memories_of, refolded, user

if TYPE_CHECKING:
    from streams.runtime.home import Home


@dataclass(frozen=True)
class SpaceKey:
    """A key, and what is under it."""

    key: str
    space: str
    made: int
    """UTC microseconds."""
    events: int
    destroyed: int | None
    """UTC microseconds; None while it is not."""
    here: bool
    """Whether the home has it."""


def listed_keys(home: Home) -> list[SpaceKey]:
    """All keys that events of a home's log were recorded under, oldest first. Raises UsageError for one on Kafka."""
    if not home.log.is_local:
        raise UsageError("a log on Kafka is under no keys", "encrypt the disks of the brokers")
    log = cast(SqliteLog, home.log)
    return [
        SpaceKey(id_, space, made, sum(n for (key, _), n in log.under(space).items() if key == id_), destroyed,
                 log.keys.holds(id_))
        for id_, space, made, destroyed in log.known_keys()
    ]  # fmt: skip


def to_destroy(home: Home, space: str) -> SpaceKey:
    """The key of a space. Raises UsageError where it has none, or where some of it is in clear."""
    found = [key for key in listed_keys(home) if key.space == space]
    if clear := sum(n for (key, _), n in cast(SqliteLog, home.log).under(space).items() if not key):
        raise UsageError(
            f"{counted(clear, 'event')} of space {space!r}, recorded before the home had keys, would stay in clear",
            f"`mnemolog erase --space {space}` erases them and what is under the key",
        )
    if not found:
        raise UsageError(f"space {space!r} has no key", "`mnemolog encryption` lists those there are")
    if found[-1].destroyed:
        raise UsageError(f"the key of space {space!r} was destroyed before", "nothing was recorded there since")
    return found[-1]


def destroy(home: Home, space: str, progress: Progress = no_progress) -> list[str]:
    """Destroys the key of a space; in words what is left to do. Raises UsageError, BusyError."""
    with alone(home):
        key = to_destroy(home, space)
        check_still(home)
        work = home.path / switch.WORK
        work.mkdir(0o700)
        memories = list(memories_of(home))
        log = cast(SqliteLog, home.log)
        keys = sorted({key.key, *log.keys.of(space)})
        with closing(SqliteLog(log.path, keys=Keys(home.path, without=keys))) as rest:
            fold(home, rest, work, progress)
        about = {"id": uuid.uuid4().hex[:24], "keys": keys, "space": space, "by": user()}
        (work / READY).write_bytes(orjson.dumps(about))
        home.take_place()
        return refolded(home, memories)
