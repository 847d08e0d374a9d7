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
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from projections.lock import locked
from projections.store import read_only
from streams.core.driver import Record
from streams.core.errors import BusyError, LogError, MnemologError, UsageError
from streams.core.events import AT_APPEND, ERASURES, ErasureRecorded, Outside, TurnRecorded, decode
from streams.core.progress import Progress, no_progress
from streams.logs import LOG_FILE, switch
from streams.logs.copies import STALE, renew
from streams.logs.erased import SALT, digest, kept, name_of, runs_of
from streams.logs.log import Stored, hash_at
from streams.logs.sqlite import BATCH, SqliteLog, checked, looked_at
from streams.runtime import LIVE
from streams.runtime.erasure.audit import derived
from streams.runtime.erasure.selection import Found, Selection, look, named

if TYPE_CHECKING:
    from streams.core.params import Params
    from streams.runtime.home import Home

READY = "receipt.json"
"""In the folder of a new log: what its receipt will say. Written last, so that the log is whole where this is."""
KAFKA = (
    "copy what is to stay with a program of yours to topics of another MNEMOLOG_KAFKA_PREFIX (event ids and the header "
    "recordedtime kept), start workers and a projector for that prefix in a new home, point clients there, then delete "
    "all topics and groups of the old prefix on the brokers (log, derived, changelogs, dead letters) and the old home"
)


class Erasing:
    """One erasure; nobody else erases meanwhile."""

    def __init__(self, home: Home, selection: Selection, progress: Progress = no_progress) -> None:
        """Raises UsageError for a selection that finds nothing."""
        self._home = home
        self._selection = selection
        self._log = cast(SqliteLog, home.log)
        self.salt = bytes.fromhex(self._log.noted(SALT) or "") or os.urandom(16)
        self.found: Found = look(self._log, selection, self.salt, progress)
        """What goes, and what stays of its words."""

    def carry_out(self, progress: Progress = no_progress) -> list[str]:
        """Does it: afterwards nothing of it is in the home. What was not reached, in words."""
        check_still(self._home)
        work = self._home.path / switch.WORK
        work.mkdir(0o700)
        memories = list(_memories(self._home))
        self._make(work, progress)
        self._home.take_place()
        told = renew(self._log)
        return told + [line for name, params in memories for line in self._refolded(name, params)]

    def _make(self, work: Path, progress: Progress) -> None:
        """Makes the new log, and live folded from it."""
        receipt = uuid.uuid4().hex[:24]
        with closing(SqliteLog(work / LOG_FILE)) as new:
            for key, value in self._log.notes().items():
                if key != "id":
                    new.note(key, value)
            new.note(SALT, self.salt.hex())
            new.note(STALE, "yes")
            batch: list[tuple[Outside, int]] = []
            for record in self._log.read(0, 0, self.found.end):
                event = decode(record.type, record.value)
                if (event.space, event.id) not in self.found.names:
                    batch.append((self._without_ids(event), record.recorded_at))
                if len(batch) >= BATCH or record.offset == self.found.end - 1:
                    append(new, batch)
                    batch = []
                    progress(record.offset + 1, 2 * self.found.end)
            fold(self._home, new, work, lambda done, total: progress(total + done, 2 * total))
            with closing(read_only(work / f"{LIVE}.duckdb")) as memory:
                said = self.found.quoted | derived(memory, self.salt, self.found.runs)
            for run in said & self.found.runs.keys():
                del self.found.runs[run]  # an audit would find it in what stays
            new.keep_erased([*self._log.erased(), *self._rows(receipt)])
        about = {
            "id": receipt,
            "what": self._selection.words(),
            "selection": self._selection.hashed(self.salt),
            "by": _user(),
            "turns": self.found.turns.total(),
            "facts": self.found.facts.total(),
            "quotes": len(self.found.quotes),
            "end": self.found.end,
        }
        (work / f"{READY}.partial").write_bytes(orjson.dumps(about))
        (work / f"{READY}.partial").replace(work / READY)

    def _without_ids(self, event: Outside) -> Outside:
        """An event without the id of a turn that goes, which it answers."""
        if isinstance(event, TurnRecorded) and (event.space, event.reply_to) in self.found.names:
            return replace(event, reply_to="")
        return event

    def _rows(self, receipt: str) -> Iterator[tuple[bytes, bytes, str]]:
        for (space, id_), offset in self.found.names.items():
            runs: dict[bytes, int] = {}
            if (space, id_) not in self.found.follow:
                (record,) = self._log.read(0, offset, offset + 1)
                found = runs_of(self.salt, decode(record.type, record.value))
                runs = {run: length for run, length in found.items() if run in self.found.runs}
            yield name_of(self.salt, space, id_), kept(runs), receipt

    def _refolded(self, name: str, params: dict[str, Params] | None) -> Iterator[str]:
        """Makes a memory of a replay again."""
        from streams.runtime.replay import replay

        if params is None:
            yield f"the memory {name} is gone, and was no fold of the whole log: replay it again where it is needed"
            return
        try:
            replay(self._home, name, params, replace=True)
        except MnemologError as error:
            yield f"the memory {name} is gone and could not be folded anew: {error}"


@contextmanager
def erasing(home: Home) -> Iterator[Callable[..., Erasing]]:
    """What looks at an erasure, while nobody else erases. Raises UsageError on Kafka, BusyError where somebody does."""
    check_local(home)
    with _alone(home):
        clear(home)
        try:
            yield partial(Erasing, home)
        finally:
            clear(home)


def check_local(home: Home) -> None:
    """Raises UsageError for a log on Kafka, with what an operator does there."""
    if not home.log.is_local:
        raise UsageError("a log on Kafka is not erased from by a command", KAFKA)


def _alone(home: Home) -> Any:
    busy = BusyError(f"another process erases in {home.path}", "wait for it")
    return locked(home.path / f"{switch.WORK}.lock", 0.0, lambda: busy)


def clear(home: Home) -> None:
    """Throws away a new log that did not take the old one's place. (One whose moment had come takes it before that.)"""
    if (home.path / switch.WORK).exists():
        with cast(SqliteLog, home.log).halted():
            switch.remove(home.path / switch.WORK)


def mend(home: Home) -> None:
    """Finishes or undoes an erasure that was killed. The caller holds the writer lock."""
    if home.log.is_local:
        with suppress(BusyError), _alone(home):
            clear(home)
            if home.log.noted(STALE):
                for line in renew(cast(SqliteLog, home.log)):
                    home.warn(line)


def check_still(home: Home) -> None:
    """Raises BusyError while a replay runs: it would write what it reads now."""
    for folder in home.path.glob(".replay-*"):
        with suppress(ValueError, ProcessLookupError):
            process = int(folder.name.split("-")[1])
            if process != os.getpid():
                with suppress(PermissionError):
                    os.kill(process, 0)
                raise BusyError(f"process {process} replays the log", "erase when it has ended")


def take_place(home: Home) -> None:
    """Has the log that was made take the place of the log. The caller holds the writer lock and has live closed."""
    work, log = home.path / switch.WORK, cast(SqliteLog, home.log)
    if not (work / READY).exists():
        raise UsageError("no erasure is prepared", "`mnemolog erase` prepares one")
    check_still(home)
    about = orjson.loads((work / READY).read_bytes())
    with log.halted(), closing(looked_at(log.path)) as old:
        with closing(SqliteLog(work / LOG_FILE)) as new:
            salt = bytes.fromhex(new.noted(SALT) or "")
            gone = {name for name, _, _ in new.erased()}
            (end,) = old.execute("SELECT coalesce(max(offset) + 1, 0) FROM log").fetchone()
            last = old.execute("SELECT hash FROM log WHERE offset = ?", (end - 1,)).fetchone() or (b"",)
            late = [_late(record, about["id"], salt, gone) for record in checked(old, about["end"], end)]
            append(new, [one for one in late if not isinstance(one[0], bytes)])
            new.keep_erased([one for one in late if isinstance(one[0], bytes)])
            rows = [(name, runs) for name, runs, receipt in new.erased() if receipt == about["id"]]
            after = new.end(0)
            told = {key: about[key] for key in ("id", "what", "selection", "by", "turns", "facts", "quotes")}
            receipt = ErasureRecorded(
                space=ERASURES, at=AT_APPEND, **told,
                log_before=str(old.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()[0]),
                events_before=end, hash_before=last[0].hex(), log_after=new.id, events_after=after,
                hash_after=hash_at(new, 0, after - 1).hex(), names=digest(rows),
            )  # fmt: skip
            receipt.facts += sum(isinstance(one[0], bytes) for one in late)
            if not isinstance(new.append([receipt])[0], Stored):
                raise LogError("the receipt was not taken", "nothing was erased; try again")
        moves = [f"{LIVE}.duckdb"]
        derived = [str(path.relative_to(home.path)) for path in home.folder.derived()]
        switch.order(log.path, [name for name in derived if name not in moves], moves)
        switch.carry_out(log.path)


def _late(record: Record, receipt: str, salt: bytes, gone: set[bytes]) -> tuple[Any, ...]:
    """What becomes of an event that came after the selection: it stays, unless it names what goes."""
    event = decode(record.type, record.value)
    if any(name_of(salt, event.space, turn) in gone for turn in named(event)):
        return name_of(salt, event.space, event.id), b"", receipt
    if isinstance(event, TurnRecorded) and name_of(salt, event.space, event.reply_to) in gone:
        event = replace(event, reply_to="")
    return event, record.recorded_at


def append(log: SqliteLog, events: Sequence[tuple[Outside, int]]) -> None:
    """Appends events of another log. Raises LogError where one is not taken."""
    for outcome in log.append_recorded(events):
        if not isinstance(outcome, Stored):
            raise LogError(f"the new log does not take what the old one has: {outcome}", "nothing was erased")


def fold(home: Home, log: SqliteLog, folder: Path, progress: Callable[[int, int], None]) -> None:
    """Folds a live from a log, with live's parameters."""
    from streams.runtime.embedded import Runtime
    from streams.runtime.home.keeper import closing_on_error, empty_live

    store = empty_live(home, log, folder / f"{LIVE}.duckdb")
    with closing_on_error(store):
        runtime = Runtime(log, store, home.processors)
    with closing(runtime):
        runtime.catch_up(progress)
        store.connection.execute("CHECKPOINT")


def _memories(home: Home) -> Iterator[tuple[str, dict[str, Params] | None]]:
    """What replays made, with the parameters to fold it anew; None where it was no fold of all of the log."""
    from projections.asking import all_params
    from projections.store import read_meta

    for name in home.memories():
        if name != LIVE:
            params = None
            with suppress(MnemologError, ValueError), closing(read_only(home.memory_path(name))) as memory:
                if read_meta(memory, "partial") in ("", "None"):
                    params = all_params(home.processors, orjson.loads(read_meta(memory, "params")))
            yield name, params


def _user() -> str:
    with suppress(Exception):  # a user without a name
        return getpass.getuser()[:200]
    return str(os.getuid())
