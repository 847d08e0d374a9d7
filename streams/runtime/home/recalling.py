"""What a memory can recall: its index, opened when it is called for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from projections import store as stores
from projections.asking import all_params

if TYPE_CHECKING:
    from projections.recall.answers import Recall
    from streams.runtime.home import Home


class Recalling:
    """What a memory can recall: opened when it is called for, its index brought up to date each time."""

    def __init__(self, home: Home, memory: str, connection: stores.Connection) -> None:
        self._home = home
        self._path = home.memory_path(memory)
        self._connection = connection
        self._open: Recall | None = None

    def recall(self) -> Recall:
        """It, up to date with the memory. Raises MemoryFileError where there is no room for its index."""
        if self._open is None:
            from projections.recall.answers import Recall

            stored = orjson.loads(stores.read_meta(self._connection, "params"))
            processors = [p for p in self._home.processors if p.name in stored]
            self._open = Recall.of(self._path, self._connection, processors, all_params(processors, stored))
        self._open.index.catch_up(self._connection, self._home.progress)
        return self._open

    def keep_up(self) -> None:
        """Brings the index up to date where it was called for before: who asks next need not wait."""
        if self._open is not None:
            self.recall()

    def close(self) -> None:
        """Lets go of the index."""
        if self._open is not None:
            self._open.index.close()
            self._open = None
