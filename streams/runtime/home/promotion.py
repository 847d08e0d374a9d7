"""Promotion: a memory that a replay made becomes live, and the old live is kept under another name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from projections.aside import free_of_folder
from projections.store import Store, intact, put_in_place, roomy
from streams.core.errors import DamagedError, LogError, MemoryFileError, MnemologError
from streams.runtime import LIVE
from streams.runtime.home.keeper import keeper_of, put_by
from streams.runtime.home.snapshots import settle

if TYPE_CHECKING:
    from streams.runtime.home import Home


def promotable(home: Home, name: str) -> Store:
    """The memory `name`, open, which may become live. Raises MemoryFileError for one that may not."""
    chosen = home.folder.memory(name)
    if name == LIVE or not chosen.exists():
        raise MemoryFileError(f"there is no memory {name!r} to promote", "`mnemolog memories` lists those there are")
    store = Store.open(chosen, home.processors)
    if partial := store.meta("partial"):
        store.close()
        raise MemoryFileError(f"{name} is a fold of a part of the log ({partial})", "replay it without that limit")
    return store


def swap(home: Home, name: str) -> str:
    """Folds `name` to the log's end, then swaps the files: live is at every moment one of the two, whole.

    The caller holds the writer lock and has live closed. Returns the name under which the old live is kept, "" where
    there was none.
    """
    live, chosen = home.folder.memory(LIVE), home.folder.memory(name)
    kept = ""
    with _saying(home, "live is as it was"), closing(promotable(home, name)) as store:
        _to_the_end(home, store)
        with intact(chosen):
            store.set_meta("name", LIVE)
            store.checkpoint()
        params = store.meta("params")
    with _saying(home, f"{name} is folded to the log's end, and live is as it was"):
        if live.exists():
            try:
                settle(live)
            except DamagedError as error:
                put_by(home, live, error)
        if not home.log.is_local:
            home.log.note("params", params)  # before the swap: what is noted is what other homes build anew
        if live.exists():
            kept = home.folder.free_name()
            os.link(live, home.folder.memory(kept))
            _take_along(live, home.folder.memory(kept))
        put_in_place(chosen, live)
    _take_along(chosen, live)
    if home.log.is_local:
        with suppress(LogError):  # no room: the next who opens live does
            home.log.note("params", params)
    copy = home.folder.snapshots / f"{LIVE}.duckdb"
    free_of_folder(copy, home.warn)
    copy.unlink(missing_ok=True)
    return kept


@contextmanager
def _saying(home: Home, how_far: str) -> Iterator[None]:
    """Says with an error how far the promotion came."""
    try:
        with roomy(home.path):
            yield
    except MnemologError as error:
        raise type(error)(f"{error}; {how_far}", error.way_out) from error


def _to_the_end(home: Home, store: Store) -> None:
    """Brings a memory that is about to be live to the log's end. Raises MemoryFileError where workers lag."""
    keeper = keeper_of(home, store)
    try:
        if lagging := keeper.reach_end(home.progress):
            raise MemoryFileError(f"{store.path.stem} does not reach the log's end: {lagging}", "promote it again")
    finally:
        keeper.stop_reading()


def _take_along(memory: Path, to: Path) -> None:
    """Moves the recall index of a memory to where the memory goes; left behind, it would be made again."""
    for suffix in (".recall", ".recall.sum", ".recall-wal", ".recall-shm"):
        if (index := memory.with_suffix(suffix)).exists():
            index.replace(to.with_suffix(suffix))
