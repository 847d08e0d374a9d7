"""Makes what an erasure puts in the place of the log: a copy without what is to go, and live folded from it."""

from __future__ import annotations

import getpass
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import orjson

from projections.asking import all_params
from projections.store import read_meta, read_only
from streams.core.errors import MemoryFileError, MnemologError, UsageError, listed
from streams.core.events import decode
from streams.core.params import Params
from streams.core.progress import Progress, no_progress
from streams.logs import switch
from streams.logs.copies import STALE, receipts, renew
from streams.logs.encryption import MISSING
from streams.logs.erased import SALT, kept, name_of, runs_of
from streams.logs.where import Copied
from streams.runtime import LIVE
from streams.runtime.embedded import Runtime
from streams.runtime.erasure import READY, alone, check_still, derived_files, in_shards
from streams.runtime.erasure.audit import derived
from streams.runtime.erasure.copying import Copying
from streams.runtime.erasure.selection import Found, Selection, look
from streams.runtime.home import Home
from streams.runtime.home.keeper import closing_on_error, empty_live
from streams.runtime.replay import replay

Memories = Iterable[tuple[str, dict[str, Params] | None]]

ENOUGH = 200
"""Events that may be left to copy when the log is halted; more are copied before."""
ROUNDS = 20


class Erasing:
    """One erasure; nobody else erases meanwhile."""

    def __init__(self, home: Home, selection: Selection, progress: Progress = no_progress) -> None:
        """Raises UsageError for a selection that finds nothing."""
        self._home = home
        self._selection = selection
        self._log = home.log
        if lost := self._log.unread():
            raise UsageError(
                f"what space {listed(sorted({*lost.values()}))} said cannot be looked at: its key is not in the home",
                MISSING,
            )
        self.salt = bytes.fromhex(self._log.noted(SALT) or "") or os.urandom(16)
        self.found: Found = look(self._log, selection, self.salt, progress)
        """What goes, and what stays of its words."""
        self._receipt = uuid.uuid4().hex[:24]

    def carry_out(self, progress: Progress = no_progress) -> list[str]:
        """Does it: afterwards nothing of it is in the home, nor on brokers. What was not reached, in words."""
        check_still(self._home)
        work = self._home.path / switch.WORK
        work.mkdir(0o700)
        memories = list(memories_of(self._home))
        self._make(work, progress)
        try:
            self._home.take_place()
        except MnemologError:  # whoever was to do it may have died when it was done
            if self._receipt not in {receipt.id for _, receipt in receipts(self._log)}:
                raise
            with self._home.folder.holding():
                self._log.resume(work, lambda: derived_files(self._home))
                in_shards(self._home)
        self._log.bury()
        told = renew(self._log)
        return told + refolded(self._home, memories)

    def _make(self, work: Path, progress: Progress) -> None:
        """Makes the new log, and live folded from it."""
        receipt, ends = self._receipt, self.found.ends
        total = 2 * sum(ends)
        with closing(self._log.succeed(work)) as new:
            for key, value in self._log.notes().items():
                new.note(key, value)
            new.note(STALE, "yes")
            gone = {name_of(self.salt, space, id_) for space, id_ in self.found.names}
            copying = Copying(self._log, new, self.salt, gone)
            copying.up_to(ends, lambda done: progress(done, total))
            fold(self._home, new, work, lambda done, all_: progress(sum(ends) + done, sum(ends) + all_))
            with closing(read_only(work / f"{LIVE}.duckdb")) as memory:
                said = self.found.quoted | derived(memory, self.salt, self.found.runs)
            for run in said & self.found.runs.keys():
                del self.found.runs[run]  # an audit would find it in what stays
            new.keep_erased([*self._log.erased(), *((*row, receipt) for row in self._rows())])
            new.note(SALT, self.salt.hex())
            for _ in range(ROUNDS):
                if copying.left() <= ENOUGH:
                    break
                copying.up_to()
            new.keep_erased((name, b"", receipt) for name in copying.also)
            about = {
                "id": receipt,
                "what": self._selection.words(),
                "selection": self._selection.hashed(self.salt),
                "by": user(),
                "turns": self.found.turns.total(),
                "facts": self.found.facts.total() + len(copying.also),
                "quotes": len(self.found.quotes),
                "copied": copying.state(),
            }
        (work / f"{READY}.partial").write_bytes(orjson.dumps(about))
        (work / f"{READY}.partial").replace(work / READY)

    def _rows(self) -> Iterator[tuple[bytes, bytes]]:
        """What is kept of what goes: names, and runs of words."""
        for partition in range(self._log.partitions):
            offsets = {offset for p, offset in self.found.names.values() if p == partition}
            for record in self._log.read(partition, min(offsets), max(offsets) + 1) if offsets else ():
                if record.offset in offsets:
                    event, runs = decode(record.type, record.value), dict[bytes, int]()
                    if (event.space, event.id) not in self.found.follow:
                        found = runs_of(self.salt, event)
                        runs = {run: length for run, length in found.items() if run in self.found.runs}
                    yield name_of(self.salt, event.space, event.id), kept(runs)


def refolded(home: Home, memories: Memories) -> list[str]:
    """Makes memories of replays again; in words what could not be."""
    told: list[str] = []
    for name, params in memories:
        if params is None:
            told.append(f"the memory {name} is gone, and was no fold of the whole log: replay it where it is needed")
            continue
        try:
            replay(home, name, params, replace=True)
        except MnemologError as error:
            told.append(f"the memory {name} is gone and could not be folded anew: {error}")
    return told


@contextmanager
def erasing(home: Home) -> Iterator[Callable[..., Erasing]]:
    """What looks at an erasure, while nobody else erases. Raises BusyError where somebody does."""
    with alone(home):
        yield partial(Erasing, home)


def fold(home: Home, log: Copied, folder: Path, progress: Callable[[int, int], None]) -> None:
    """Folds a live from a log, with live's parameters."""
    store = empty_live(home, log, folder / f"{LIVE}.duckdb")
    with closing_on_error(store):
        runtime = Runtime(log, store, home.processors)
    with closing(runtime):
        if lagging := runtime.reach_end(progress):
            raise MemoryFileError(f"live cannot be folded anew: {lagging}", "see to that, then erase again")
        if not log.is_local:  # workers have states of their own
            store.connection.execute("DELETE FROM state")
        store.checkpoint()


def memories_of(home: Home) -> Memories:
    """What replays made, with the parameters to fold it anew; None where it was no fold of all of the log."""
    for name in home.memories():
        if name != LIVE:
            params = None
            path = home.files(name)[0]  # one of its shards tells for all
            with suppress(MnemologError, ValueError), closing(read_only(path)) as memory:
                if read_meta(memory, "partial") in ("", "None"):
                    params = all_params(home.processors, orjson.loads(read_meta(memory, "params")))
            yield name, params


def user() -> str:
    with suppress(Exception):  # a user without a name
        return getpass.getuser()[:200]
    return str(os.getuid())
