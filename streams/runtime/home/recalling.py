"""What a memory can recall: its index, opened when it is called for."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import orjson

from projections.asking import known_params
from projections.recall.file import path_of
from projections.store import Connection, View, known_by, read_meta, roomy
from streams.core.errors import BusyError, NoRoomError
from streams.core.progress import Progress, no_progress
from streams.runtime.memories import unlike

if TYPE_CHECKING:
    from projections.recall.answers import Recall
    from projections.recall.index import Index
    from streams.runtime.home import Home


class Recalling:
    """What a memory can recall: opened when it is called for, its index brought up to date each time."""

    def __init__(
        self, home: Home, memory: str, view: Callable[[], View] | None = None, patience: float = math.inf
    ) -> None:
        """`view` says how far the memory goes, where its writer is at hand. `patience`: the seconds after which who
        asks is told how far the index is, while it is being made; who asks again has it made further."""
        self._lock = threading.RLock()
        self._patience = patience
        self._far: tuple[int, int] | None = None
        """How far an index is that does not stand yet, of how much."""
        self._home = home
        self._memory = memory
        self._path = home.memory_path(memory)
        self._view = view
        self._open: Recall | None = None
        self._elsewhere: TemporaryDirectory[str] | None = None

    @property
    def lock(self) -> AbstractContextManager[None]:
        """Held by whoever calls for it, until it is answered. Raises BusyError where another makes the index
        meanwhile."""
        return self._held()

    @contextmanager
    def _held(self) -> Iterator[None]:
        while not self._lock.acquire(timeout=min(self._patience, threading.TIMEOUT_MAX)):
            self._check_stands()
        try:
            yield
        finally:
            self._lock.release()

    @property
    def is_behind(self) -> bool:
        """Whether its index was called for, and does not stand yet."""
        return self._far is not None

    def _check_stands(self) -> None:
        """Raises BusyError where the index does not stand yet."""
        if self._far is not None:
            done, total = self._far
            raise BusyError(
                f"what {self._memory} can recall is being indexed, which is done once: {done:,} of {total:,} events",
                "ask again in a while; it goes on meanwhile",
            )

    def recall(self, connection: Connection) -> Recall:
        """It, up to date with what a connection to the memory sees.

        Where there is no room beside the memory, its index is a copy where temporary files lie. Raises NoRoomError
        where there is none either, BusyError where the index does not stand within the patience.
        """
        return self._brought_up(connection, self._patience, self._home.indexing)

    def _brought_up(self, connection: Connection, patience: float, progress: Progress) -> Recall:
        deadline = time.monotonic() + patience

        def tell(done: int, total: int) -> None:
            whole = max(total, self._far[1] if self._far else 0)
            far = whole - total + done
            self._far = (far, whole) if done < total else None
            progress(far, whole)
            if done and time.monotonic() >= deadline:
                self._check_stands()

        try:
            return self._recall_or_elsewhere(connection, tell)
        except BusyError:
            raise
        except BaseException:
            self._far = None
            raise

    def _recall_or_elsewhere(self, connection: Connection, tell: Progress) -> Recall:
        try:
            return self._recall(connection, tell)
        except NoRoomError:
            if self._elsewhere is not None:
                raise
            self.close()
            self._elsewhere = TemporaryDirectory(prefix="mnemolog-")
            with roomy(path := Path(self._elsewhere.name) / self._path.name):
                for index in self._path.parent.glob(f"{path_of(self._path).name}*"):
                    copyfile(index, path.with_name(index.name))
            self._path = path
            return self._recall(connection, tell)

    def _recall(self, connection: Connection, progress: Progress) -> Recall:
        if self._open is None:
            from projections.recall.answers import Recall

            stored = orjson.loads(read_meta(connection, "params"))
            processors = [p for p in self._home.processors if p.name in stored]
            params = known_params(processors, stored)
            self._open = Recall.of(self._path, connection, processors, params, self._home.warn)
            self._check(self._open.index, connection)
        if self._view is None:
            self._open.index.catch_up(connection, progress)
        else:
            goes, ahead = self._view()
            self._open.index.catch_up(connection, progress, goes, ahead)
        return self._open

    def _check(self, index: Index, connection: Connection) -> None:
        """Has an index begun anew that an older log than the one that was restored is in."""
        memory = known_by(connection)
        behind = {
            p: (offset, hash_) for p, (offset, hash_) in index.known().items() if hash_ not in (b"", memory[p][1])
        }
        if behind and unlike(self._home.log, behind):
            index.renew()

    def keep_up(self, connection: Connection, progress: Progress = no_progress) -> None:
        """Brings the index up to date where it was called for before: who asks next need not wait."""
        with self._lock:
            if self._open is not None:
                self._brought_up(connection, math.inf, progress)

    def close(self) -> None:
        """Lets go of the index."""
        with self._lock:
            self._far = None
            if self._open is not None:
                self._open.index.close()
                self._open = None
            if self._elsewhere is not None:
                self._elsewhere.cleanup()
                self._elsewhere, self._path = None, self._home.memory_path(self._memory)
