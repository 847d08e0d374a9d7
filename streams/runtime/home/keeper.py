"""What keeps live up to date: a fold of the log, or, with the log on brokers, the projector of what workers fold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import orjson

from projections.aside import free_of_folder, set_aside
from projections.asking import all_params, known_params
from projections.store import Store, intact, journal, put_in_place, readable, rewrite
from streams.core.errors import DamagedError, ForeignError, LogError, MnemologError, OutdatedError, listed
from streams.core.params import Params
from streams.logs.encryption import MISSING
from streams.runtime import LIVE
from streams.runtime.embedded import Runtime
from streams.runtime.erasure import mend
from streams.runtime.home.outdated import Outdated
from streams.runtime.memories import memory_meta

QUICK = 64 * 2**20
"""Bytes of a file that is written anew within half a second."""
DENSE = ".live.dense"
"""A live that is being written anew."""

if TYPE_CHECKING:
    from streams.logs.log import Log
    from streams.runtime.home import Home
    from streams.runtime.kafka.projector import Projector

    Keeper = Runtime | Projector | Outdated


def open_live(home: Home, suspect: bool = False) -> Keeper:
    """What keeps live up to date; live is made where there is none. The caller holds the writer lock.

    One that is damaged is set aside, and made anew from the log; with `suspect` all of it is read to find out.
    """
    mend(home)
    path = home.folder.memory(LIVE)
    if not path.exists():
        _make_live(home, path)
    if path.stat().st_nlink > 1:  # a promotion was killed before live got its new file: nothing was to be kept yet
        for name in home.folder.memories()[1:]:
            if path.samefile(home.folder.memory(name)):
                home.forget(name)
    try:
        keeper = _opened(home, path, suspect)
    except (DamagedError, ForeignError) as error:
        put_by(home, path, error)
        _make_live(home, path)
        keeper = _opened(home, path)
    if lost := home.log.unread():
        home.warn(
            f"not read is what spaces said whose keys are not here ({listed(sorted({*lost.values()}))}); {MISSING}"
        )
    params = keeper.store.meta("params")
    if home.log.noted("params") != params:
        with suppress(LogError):  # no room: the next who opens it does
            home.log.note("params", params)  # so that a backup of the log restores live as it is
    return keeper


def open_served(home: Home, suspect: bool = False) -> Keeper:
    """As `open_live`, for a server: where this version cannot fold live on, what stands in for a keeper, so that what
    comes is recorded all the same."""
    try:
        return open_live(home, suspect)
    except OutdatedError as why:
        return Outdated(home.log, Store.open(home.folder.memory(LIVE), home.processors), why)


def _opened(home: Home, path: Path, suspect: bool = False) -> Keeper:
    store = Store.open(path, home.processors)
    if suspect:
        with closing_on_error(store):
            store.check()
    return keeper_of(home, store if home.log.is_local else _as_noted(home, store))


def put_by(home: Home, path: Path, error: DamagedError | ForeignError) -> None:
    """Sets a memory aside that is damaged, or of another log: then it can be asked, and may hold what the log lost."""
    if isinstance(error, ForeignError):
        kept = home.folder.memory(home.folder.free_name())
        journal(kept).unlink(missing_ok=True)  # that of another file must not be taken up
        set_aside(str(error), home.warn, path, to=kept)
    else:
        set_aside(str(error), home.warn, path, journal(path))


@contextmanager
def closing_on_error(store: Store) -> Iterator[None]:
    """Closes a memory that something is wrong with."""
    try:
        yield
    except BaseException:
        store.close()
        raise


def keeper_of(home: Home, store: Store) -> Keeper:
    """What keeps a memory up to date. Closes `store` where that cannot be."""
    with closing_on_error(store), intact(store.path):
        if home.log.is_local:
            return Runtime(home.log, store, home.processors)
        from streams.logs.kafka.log import KafkaLog
        from streams.runtime.kafka.projector import Projector

        return Projector(cast(KafkaLog, home.log), store, home.processors, home.meters, home.partitions)


def bring_up(home: Home, keeper: Keeper, ahead: bool = False) -> None:
    """Brings a memory to the log's end; where that cannot be, as far as it can, and says so.

    With `ahead`, what was folded last may lie in no table until it is settled.
    """
    if lagging := keeper.reach_end(home.progress, ahead=ahead):
        home.warn(f"not all of the log is in this answer: {lagging}")


def put_away(home: Home, keeper: Keeper) -> None:
    """Closes live; its file is written anew where that makes it much smaller and takes no time worth a word."""
    path = keeper.store.path
    try:
        with readable():
            sparse = keeper.is_sparse() and path.stat().st_size < QUICK
    finally:
        keeper.close()
    if sparse:
        dense = path.with_name(DENSE)
        with suppress(MnemologError, OSError):  # no room: it stays as large as it is
            rewrite(path, dense, home.processors)
            put_in_place(dense, path)
        dense.unlink(missing_ok=True)


def live_params(home: Home) -> dict[str, Params]:
    """The parameters of live; defaults for those it was not folded with."""
    return known_params(home.processors, orjson.loads(home.log.noted("params") or "{}"))


def _make_live(home: Home, path: Path) -> None:
    fresh = home.path / ".live.fresh"
    for leftover in (fresh, journal(fresh)):
        free_of_folder(leftover, home.warn)
        leftover.unlink(missing_ok=True)
    with intact(fresh), closing(empty_live(home, home.log, fresh)) as store:
        store.checkpoint()
    put_in_place(fresh, path)


def empty_live(home: Home, log: Log, path: Path) -> Store:
    """A live of which nothing is folded yet, of a log, with the parameters of the home's."""
    meta = memory_meta(log, LIVE, home.processors, live_params(home), partial="")
    return Store.create(path, home.processors, meta)


def _as_noted(home: Home, store: Store) -> Store:
    """Live as the log says it is folded; the one there was is set aside where another home promoted a new one.

    Why so on Kafka alone: several homes share the log there, and all of live can be had from the topics.
    """
    noted = home.log.noted("params")
    stored = orjson.loads(store.meta("params"))
    if noted is None or orjson.loads(noted) == stored or store.meta("log_id") != home.log.id:
        return store
    with suppress(ValueError):  # parameters this version does not know: the keeper says so
        if all_params(home.processors, stored) == live_params(home):
            return store
    store.checkpoint()
    store.close()
    kept, path = home.folder.free_name(), home.folder.memory(LIVE)
    path.replace(home.folder.memory(kept))
    home.warn(f"another home promoted other parameters: the old live is kept as {kept}, the new one is gathered")
    _make_live(home, path)
    return Store.open(path, home.processors)
