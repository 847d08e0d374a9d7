"""Erasure: a new log without what is to go, memories folded anew from it, and the old ones destroyed.

A log is append-only, so copying it is the one way. While the copy is made and folded, in a folder of the home, turns go
on being taken and questions answered. Then whoever holds live closes it, and behind the log's gate what came meanwhile
is added to the copy, its receipt is appended, and it takes the log's place; see `streams.logs.switch`. So who feeds
waits for milliseconds. A process that is killed before that moment has changed nothing, and the next that opens live
clears up; after it, the next that comes to the log finishes.

What was derived goes whole, with whatever lies about: memories, snapshots, indexes, features, files that were set aside
or half written. Backups and archives that this home wrote are written anew where they are; which cannot be is told.
"""

from __future__ import annotations

import getpass
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from projections.lock import locked
from projections.store import read_only
from streams.core.errors import BusyError, LogError, MnemologError, UsageError, listed
from streams.core.events import AT_APPEND, ERASURES, ErasureRecorded, decode
from streams.core.progress import Progress, no_progress
from streams.logs import switch
from streams.logs.copies import STALE, receipts, renew
from streams.logs.encryption import FOLDER, MISSING
from streams.logs.erased import ENDS, SALT, digest, kept, name_of, runs_of
from streams.logs.log import Chain, Stored, hash_at
from streams.logs.processes import is_running
from streams.logs.sqlite import SqliteLog
from streams.logs.where import Copied
from streams.runtime import LIVE
from streams.runtime.erasure.audit import derived
from streams.runtime.erasure.copying import Copying
from streams.runtime.erasure.selection import Found, Selection, look

if TYPE_CHECKING:
    from streams.core.params import Params
    from streams.runtime.home import Home

    Memories = Iterable[tuple[str, dict[str, Params] | None]]

MOVES = [f"{LIVE}.duckdb"]
READY = "receipt.json"
"""In the folder of a new log: what its receipt will say. Written last, so that the log is whole where this is."""
ENOUGH = 200
"""Events that may be left to copy when the log is halted; more are copied before."""
ROUNDS = 20
SHARDS = 60.0
"""Seconds that the projectors of shards are waited for, who forget what they made of a former log themselves."""


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
                self._log.resume(work, lambda: _derived(self._home))
                _in_shards(self._home)
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
    from streams.runtime.replay import replay

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


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Nobody else erases meanwhile; nothing half made is left. Raises BusyError where somebody does."""
    with _alone(home):
        clear(home)
        try:
            yield
        finally:
            clear(home)


def _alone(home: Home) -> Any:
    busy = BusyError(f"another process erases in {home.path}", "wait for it")
    return locked(home.path / f"{switch.WORK}.lock", 0.0, lambda: busy)


def clear(home: Home) -> None:
    """Throws away a new log that did not take the old one's place. (One whose moment had come takes it before that.)"""
    if (home.path / switch.WORK).exists():
        home.log.discard(home.path / switch.WORK)


def mend(home: Home) -> None:
    """Finishes or undoes an erasure that was killed. The caller holds the writer lock."""
    with suppress(BusyError), _alone(home):
        home.log.resume(home.path / switch.WORK, lambda: _derived(home))
        clear(home)
        if home.log.is_local and home.log.noted(STALE):  # copies of a log elsewhere may be on another machine
            for line in renew(home.log):
                home.warn(line)


def _in_shards(home: Home) -> None:
    """Has the shards of a home, if it is in any, forget what they made of a log that gave way."""
    if shards := home.shards:
        shards.forget_former(SHARDS)


def _derived(home: Home) -> list[str]:
    """What a home made of its log; what its shards did is theirs to forget."""
    return [str(path.relative_to(home.path)) for path in home.folder.derived()]


def check_still(home: Home) -> None:
    """Raises BusyError while a replay runs: it would write what it reads now."""
    for folder in home.path.glob(".replay-*"):
        with suppress(ValueError):
            process = int(folder.name.split("-")[1])
            if process != os.getpid() and is_running(process):
                raise BusyError(f"process {process} replays the log", "erase when it has ended")


def take_place(home: Home) -> None:
    """Has the log that was made take the place of the log. The caller holds the writer lock and has live closed."""
    work, log = home.path / switch.WORK, home.log
    if not (work / READY).exists():
        raise UsageError("no erasure is prepared", "`mnemolog erase` prepares one")
    check_still(home)
    about = orjson.loads((work / READY).read_bytes())
    if "keys" in about:
        _destroy(home, cast(SqliteLog, log), about)
        return
    with log.halted():
        with closing(log.successor(work)) as new:
            salt = bytes.fromhex(new.noted(SALT) or "")
            gone = {name for name, _, _ in new.erased()}
            copying = Copying(log, new, salt, gone, about["copied"])
            copying.up_to()
            new.keep_erased((name, b"", about["id"]) for name in copying.also)
            rows = [(name, runs) for name, runs, receipt in new.erased() if receipt == about["id"]]
            told = {key: about[key] for key in ("id", "what", "selection", "by", "turns", "facts", "quotes")}
            receipt = ErasureRecorded(
                space=ERASURES, at=AT_APPEND, **told,
                log_before=log.id, events_before=copying.events_before, hash_before=_hash(log, copying.before),
                log_after=new.id, events_after=copying.events_after, hash_after=_hash(new, copying.after),
                names=digest(rows),
            )  # fmt: skip
            receipt.facts += len(copying.also)
            new.note(ENDS, orjson.dumps([new.end(partition) for partition in range(new.partitions)]).decode())
            if not isinstance(new.append([receipt])[0], Stored):
                raise LogError("the receipt was not taken", "nothing was erased; try again")
        log.give_way(work, [name for name in _derived(home) if name not in MOVES], MOVES)
    _in_shards(home)


def _hash(log: Copied, chain: Chain) -> str:
    """Of all that a log holds, in hex. Why not always of the chain: a file keeps its own, of what is under keys too."""
    return hash_at(log, 0, log.end(0) - 1).hex() if log.is_local else chain.digest()


def _destroy(home: Home, log: SqliteLog, about: dict[str, Any]) -> None:
    """Has a key be nowhere in the home, nor what was derived from what is under it; see `streams.logs.encryption`."""
    with log.halted():
        under = [(type_, n) for (key, type_), n in log.under(about["space"]).items() if key in about["keys"]]
        turns = sum(n for type_, n in under if type_.startswith("turn-recorded."))
        facts = sum(n for _, n in under) - turns
        what = "the key of a space, and with it all that was under it"
        receipt = {"id": about["id"], "what": what, "selection": " ".join(about["keys"]), "by": about["by"]}
        told = {"receipt": receipt | {"turns": turns, "facts": facts}, "keys": about["keys"]}
        keys = [f"{FOLDER}/{key}" for key in about["keys"]]
        gone = [name for name in _derived(home) if name not in MOVES]
        switch.order(log.path, gone, MOVES, keys, told)
        switch.carry_out(log.path)
        log.settle_keys()


def fold(home: Home, log: Copied, folder: Path, progress: Callable[[int, int], None]) -> None:
    """Folds a live from a log, with live's parameters."""
    from streams.runtime.embedded import Runtime
    from streams.runtime.home.keeper import closing_on_error, empty_live

    store = empty_live(home, log, folder / f"{LIVE}.duckdb")
    with closing_on_error(store):
        runtime = Runtime(log, store, home.processors)
    with closing(runtime):
        runtime.catch_up(progress)
        if not log.is_local:  # workers have states of their own
            store.connection.execute("DELETE FROM state")
        store.checkpoint()


def memories_of(home: Home) -> Memories:
    """What replays made, with the parameters to fold it anew; None where it was no fold of all of the log."""
    from projections.asking import all_params
    from projections.store import read_meta

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
