"""A lock that processes hold by a file, and that is free when its holder ends, however that is."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

LOOK = 0.02
"""Seconds between tries to get it."""


@contextmanager
def locked(
    path: Path, wait: float, busy: Callable[[], Exception], look: Callable[[], None] = lambda: None
) -> Iterator[FileIO]:
    """Holds the lock that is the file `path`; raises `busy()` when another has it for longer than `wait` seconds.

    `look` is called each time that it is not to be had: what it raises ends the waiting.
    """
    deadline = time.monotonic() + wait
    with path.open("a+b", buffering=0) as lock:  # what is written cannot fail later, on a full disk
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise busy() from None
                look()
                time.sleep(LOOK)
        yield lock
