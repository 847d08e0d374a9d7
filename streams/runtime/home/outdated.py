"""What stands in for live's keeper in a server where this version of the program cannot fold live on.

After an upgrade live waits for a replay and a promotion. Programs and agents go on talking meanwhile: what they say is
recorded, a copy of live can be read as it is, and who asks is told the way out.
"""

from __future__ import annotations

from collections.abc import Mapping

from projections.store import Store, View
from streams.core.errors import Aside, OutdatedError, counted
from streams.core.progress import Progress, no_progress
from streams.logs.log import Log


class Outdated:
    """Live, open and never written, and why it is not folded on."""

    def __init__(self, log: Log, store: Store, why: OutdatedError) -> None:
        """Of the log that live is a fold of the beginning of."""
        self.log = log
        self.store = store
        self.missing = f"{why}: {why.way_out}"
        self._why = why

    def check_askable(self) -> None:
        """Raises OutdatedError."""
        raise OutdatedError(str(self._why), self._why.way_out)

    def close(self) -> None:
        """Lets go of live."""
        self.store.close()

    def view(self) -> View:
        """How far live goes."""
        return View(self.store.extent())

    def behind(self) -> int:
        """How many records wait in the log."""
        return sum(self.log.end(p) - 1 - self.store.mark(p) for p in range(self.log.partitions))

    def is_flooded(self) -> bool:
        """Nothing is folded, so nothing is too much."""
        return False

    def is_sparse(self) -> bool:
        """It stays as it is."""
        return False

    def catch_up(self, progress: Progress = no_progress, stop: int | None = None, ahead: bool = False) -> int:
        """Folds nothing."""
        return 0

    def reach_end(self, progress: Progress = no_progress, ahead: bool = False) -> str:
        """What is in the way of the log's end, in words; "" where nothing waits there."""
        return self._held_up(self.behind())

    def lagging(self, ends: Mapping[int, int]) -> str:
        """What keeps live from these ends of partitions, in words; "" where nothing does."""
        return self._held_up(sum(max(0, end - 1 - self.store.mark(partition)) for partition, end in ends.items()))

    def _held_up(self, waiting: int) -> str:
        return f"{counted(waiting, 'event')} cannot be folded, for {self.missing}" if waiting else ""

    def stop_reading(self) -> None:
        """There is nothing to let go of."""

    def settle(self, soon: bool = False) -> bool:
        """There is nothing to commit."""
        return False

    def aside(self) -> list[Aside]:
        """What could not be folded while live was."""
        return self.store.aside()

    def tick(self) -> int:
        """Deadlines are told by state that only the version which folded live can read."""
        return 0
