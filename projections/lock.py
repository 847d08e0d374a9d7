"""A lock that processes hold by a file, and that is free when its holder ends, however that is."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from streams.core.errors import UsageError

LOOK = 0.02
"""Seconds between tries to get it."""


def opened(path: Path) -> FileIO:
    """The file of a lock, made where there is none. Raises UsageError for a folder in its place, or a file that this
    user may not write."""
    try:
        return open(path, "r+b", buffering=0, opener=_opener)  # what is written cannot fail later, on a full disk
    except (IsADirectoryError, PermissionError) as error:
        said = f"{path} cannot be held as a lock: {error.strerror}"
        raise UsageError(said, "put it away: the lock, an empty file, is made by itself") from error


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o666)


@contextmanager
def locked(
    path: Path, wait: float, busy: Callable[[], Exception], look: Callable[[], None] = lambda: None
) -> Iterator[FileIO]:
    """Holds the lock that is the file `path`; raises `busy()` when another has it for longer than `wait` seconds.

    `look` is called each time that it is not to be had: what it raises ends the waiting.
    """
    with opened(path) as lock:
        take(lock, wait, busy, look)
        yield lock


def take(
    lock: FileIO | int, wait: float, busy: Callable[[], Exception], look: Callable[[], None] = lambda: None
) -> None:
    """Takes the lock that is an open file or folder; see `locked`."""
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise busy() from None
            look()
            time.sleep(LOOK)
