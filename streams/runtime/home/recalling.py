"""What a memory can recall: its index, opened when it is called for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import orjson

from projections.asking import known_params
from projections.recall.file import path_of
from projections.store import Connection, View, known_by, read_meta, roomy
from streams.core.errors import NoRoomError
from streams.runtime.memories import unlike

if TYPE_CHECKING:
    from projections.recall.answers import Recall
    from projections.recall.index import Index
    from streams.runtime.home import Home


class Recalling:
    """What a memory can recall: opened when it is called for, its index brought up to date each time."""

    def __init__(self, home: Home, memory: str, view: Callable[[], View] | None = None) -> None:
        """`view` says how far the memory goes, where its writer is at hand."""
        self.lock: AbstractContextManager[Any] = threading.RLock()
        """Held by whoever calls for it, until it is answered."""
        self._home = home
        self._memory = memory
        self._path = home.memory_path(memory)
        self._view = view
        self._open: Recall | None = None
        self._elsewhere: TemporaryDirectory[str] | None = None

    def recall(self, connection: Connection) -> Recall:
        """It, up to date with what a connection to the memory sees.

        Where there is no room beside the memory, its index is a copy where temporary files lie. Raises NoRoomError
        where there is none either.
        """
        try:
            return self._recall(connection)
        except NoRoomError:
            if self._elsewhere is not None:
                raise
            self.close()
            self._elsewhere = TemporaryDirectory(prefix="mnemolog-")
            with roomy(path := Path(self._elsewhere.name) / self._path.name):
                for index in self._path.parent.glob(f"{path_of(self._path).name}*"):
                    copyfile(index, path.with_name(index.name))
            self._path = path
            return self._recall(connection)

    def _recall(self, connection: Connection) -> Recall:
        if self._open is None:
            from projections.recall.answers import Recall

            stored = orjson.loads(read_meta(connection, "params"))
            processors = [p for p in self._home.processors if p.name in stored]
            params = known_params(processors, stored)
            self._open = Recall.of(self._path, connection, processors, params, self._home.warn)
            self._check(self._open.index, connection)
        if self._view is None:
            self._open.index.catch_up(connection, self._home.progress)
        else:
            goes, ahead = self._view()
            self._open.index.catch_up(connection, self._home.progress, goes, ahead)
        return self._open

    def _check(self, index: Index, connection: Connection) -> None:
        """Has an index begun anew that an older log than the one that was restored is in."""
        memory = known_by(connection)
        behind = {
            p: (offset, hash_) for p, (offset, hash_) in index.known().items() if hash_ not in (b"", memory[p][1])
        }
        if behind and unlike(self._home.log, behind):
            index.renew()

    def keep_up(self, connection: Connection) -> None:
        """Brings the index up to date where it was called for before: who asks next need not wait."""
        with self.lock:
            if self._open is not None:
                self.recall(connection)

    def close(self) -> None:
        """Lets go of the index."""
        with self.lock:
            if self._open is not None:
                self._open.index.close()
                self._open = None
            if self._elsewhere is not None:
                self._elsewhere.cleanup()
                self._elsewhere, self._path = None, self._home.memory_path(self._memory)
