"""Erasure: a new log without what is to go, memories folded anew from it, and the old ones destroyed.

A log is append-only, so copying it is the one way. While the copy is made and folded, in a folder of the home, turns go
on being taken and questions answered. Then whoever holds live closes it, and behind the log's gate what came meanwhile
is added to the copy, its receipt is appended, and it takes the log's place; see `streams.logs.switch`. So who feeds
waits for milliseconds. A process that is killed before that moment has changed nothing, and the next that opens live
clears up; after it, the next that comes to the log finishes.

What was derived goes whole, with whatever lies about: memories, snapshots, indexes, features, files that were set aside
or half written. Backups and archives that this home wrote are written anew where they are; which cannot be is told.

Here: how an erasure ends, which is done by whoever holds live. `making` has what comes before, `selection` what goes,
`keys` the erasure of all that is under a key, `audit` the proof.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import orjson

from projections.lock import locked
from streams.core.errors import BusyError, LogError, UsageError
from streams.core.events import AT_APPEND, ERASURES, ErasureRecorded
from streams.logs import switch
from streams.logs.copies import STALE, renew
from streams.logs.encryption import FOLDER
from streams.logs.erased import ENDS, SALT, digest
from streams.logs.log import Chain, Stored, hash_at
from streams.logs.processes import is_running
from streams.logs.sqlite import SqliteLog
from streams.logs.where import Copied
from streams.runtime import LIVE
from streams.runtime.erasure.copying import Copying

if TYPE_CHECKING:
    from streams.runtime.home import Home

MOVES = [f"{LIVE}.duckdb"]
READY = "receipt.json"
"""In the folder of a new log: what its receipt will say. Written last, so that the log is whole where this is."""
SHARDS = 60.0
"""Seconds that the projectors of shards are waited for, who forget what they made of a former log themselves."""


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
        home.log.resume(home.path / switch.WORK, lambda: derived_files(home))
        clear(home)
        if home.log.is_local and home.log.noted(STALE):  # copies of a log elsewhere may be on another machine
            for line in renew(home.log):
                home.warn(line)


def in_shards(home: Home) -> None:
    """Has the shards of a home, if it is in any, forget what they made of a log that gave way."""
    if shards := home.shards:
        shards.forget_former(SHARDS)


def derived_files(home: Home) -> list[str]:
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
        log.give_way(work, [name for name in derived_files(home) if name not in MOVES], MOVES)
    in_shards(home)


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
        gone = [name for name in derived_files(home) if name not in MOVES]
        switch.order(log.path, gone, MOVES, keys, told)
        switch.carry_out(log.path)
        log.settle_keys()
