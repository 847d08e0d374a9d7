"""Copies of live for readers: consistent, read-only, and no more often than they are cheap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from projections import store as stores
from projections.aside import Warn, folder, free_of_folder
from projections.store import Store
from streams.runtime import LIVE

if TYPE_CHECKING:
    from streams.runtime.home import Home

LEAST_PAUSE = 1.0
"""Seconds between two copies."""
PAUSE = 20
"""Times as long as the last copy took is waited before the next: copies take a twentieth of the time at most."""


class Snapshots:
    """Makes copies of live."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.target = home.folder.snapshots / f"{LIVE}.duckdb"
        self.marks: list[int] = []
        """The newest offset in the copy, by partition."""
        self._made = 0.0
        self._seconds = 0.0

    def is_due(self) -> bool:
        """Whether the next who asks gets a new one."""
        pause = max(LEAST_PAUSE, PAUSE * self._seconds)
        return not self.marks or not self.target.exists() or time.monotonic() - self._made >= pause

    def make(self, store: Store, marks: Sequence[int]) -> None:
        """Copies a memory that holds `marks`."""
        prepare(self.target, self._home.warn)
        self._seconds = store.snapshot(self.target)
        self.marks = [*marks]
        self._made = time.monotonic()


def prepare(copy: Path, warn: Warn) -> None:
    """Makes the place of a copy free of what is none."""
    folder(copy.parent, warn)
    free_of_folder(copy, warn)


def settle(live: Path) -> None:
    """Brings all of a memory into its one file, whatever folded it. The caller holds the writer lock."""
    with closing(stores.connect(live)) as connection, stores.intact(live):
        connection.execute("CHECKPOINT")


def outdated(home: Home, wait: float) -> Path:
    """A copy of a live that this version of the program cannot fold further, as it is."""
    target = home.folder.snapshots / "outdated.duckdb"
    with home.folder.holding(wait):
        prepare(target, home.warn)
        settle(home.folder.memory(LIVE))
        with home.folder.memory(LIVE).open("rb") as live:
            stores.copy(live, target)
    return target
