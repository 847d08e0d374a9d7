"""Checks of a home: what was found, and what to do where it is not well. Nothing is changed, nothing folded."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from projections.aside import SUFFIX
from streams.core.driver import told_aside
from streams.core.errors import NAMES_TOLD, BusyError, LogError, MnemologError, UsageError, counted, listed
from streams.logs import LOG_FILE, switch
from streams.logs.encryption import MISSING, Keys
from streams.logs.rescue import look
from streams.logs.sqlite import (
    FAILURES,
    UNTOLD,
    SeenLog,
    events_in,
    is_guarded,
    is_sound,
    is_strange,
    keys_in,
    looked_at,
)
from streams.logs.where import on_kafka, open_log
from streams.runtime import LIVE
from streams.runtime.home.client import HolderLeftError, ask_holder
from streams.runtime.home.folder import Folder

if TYPE_CHECKING:
    from projections.store import Connection
    from streams.logs.kafka.erasable import ErasableKafkaLog
    from streams.logs.log import Log

LOW_SPACE = 1024**3
"""Bytes free under which a fold or a snapshot may fail."""
NO_LIVE = "there is none yet: the first question makes it"
STALE = 600
"""Seconds after which a file that should have been renamed was left by a process that died."""
HALF_DONE = (
    "*.partial",
    "snapshots/*.partial",
    "cache/**/*.partial",
    ".replay-*",
    ".live.*",
    f"{LOG_FILE}.partial",
)
"""What a process that died may leave; all of it can be deleted, but for locks: they are whoever's comes next."""
ASIDE = tuple(f"{place}*{SUFFIX}*" for place in ("", "snapshots/", "cache/", "cache/*/"))
"""What was damaged, and set aside."""
STRANGE = (f"{LOG_FILE}-*.other*",)
"""Journals that another log left."""
FILES = (f"{LOG_FILE}*", "writer.lock", ".*.lock", "socket", "*.json", "*.order")
"""What must be files, and is not made anew where a folder stands in its place."""
ANEW = "the next question makes it anew"

Status = Literal["well", "look", "failed"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: Status
    found: str


def examine(home: Path) -> list[Check]:
    """All checks; no home is made."""
    path = home / LOG_FILE
    if home.is_dir() and not os.access(home, os.R_OK | os.X_OK):
        return [_program(), Check("home", "failed", f"{home} cannot be read: run this as the user whose it is")]
    checks = [_program(), *_place(home)]
    log: Log | None = None
    with ExitStack() as opened:
        try:
            if on_kafka():
                log = opened.enter_context(closing(open_log(home)))
                checks.append(_brokers(log))
            else:
                checks += [*_log(path), *_keys(path), *_unfinished(path)]
                log = opened.enter_context(closing(SeenLog(path)))
        except MnemologError as error:
            if on_kafka():
                checks.append(Check("log", "failed", f"{error}: {error.way_out}"))
        return [*checks, *_beyond(log), *_memories(home, log), *_left(home)]


def _program() -> Check:
    from importlib.metadata import PackageNotFoundError, version

    try:
        own = version("mnemolog")
    except PackageNotFoundError:
        own = "(not installed)"
    python, sqlite, duckdb = sys.version.split()[0], sqlite3.sqlite_version, version("duckdb")
    return Check("program", "well", f"mnemolog {own}, Python {python}, SQLite {sqlite}, DuckDB {duckdb}")


def _place(home: Path) -> Iterator[Check]:
    if not home.is_dir():
        yield Check("home", "look", f"{home} is not there yet: the first feed makes it")
        return
    faults = [f"{fault}: {fault.way_out}" for fault in Folder(home, look=True).faults()]
    if not os.access(home, os.W_OK):
        faults.append(f"{home} cannot be written: choose another with --home, or change its rights")
    yield from (Check("home", "failed", fault) for fault in faults[:NAMES_TOLD])
    if not faults:
        yield Check("home", "well", str(home.resolve()))
    free, used = shutil.disk_usage(home).free, _bytes(home)
    said = f"{_size(used)} used, {_size(free)} free"
    if free < max(LOW_SPACE, used):
        yield Check("disk", "look", f"{said}: a replay and a backup need as much as is used; make room")
    else:
        yield Check("disk", "well", said)


def _brokers(log: Log) -> Check:
    """The log on brokers."""
    ends = [log.end(partition) for partition in range(log.partitions)]
    return Check(
        "log", "well", f"{log.id} on brokers, {counted(sum(ends), 'record')} in {counted(len(ends), 'partition')}"
    )


def _beyond(log: Log | None) -> Iterator[Check]:
    """Who folds a log on brokers, what they set aside, and what an erasure left; nothing where the log is a file."""
    if log is None or not on_kafka():
        return
    for name, seen in ("topics", _topics), ("erasure", _moving), ("workers", _workers), ("dead letters", _letters):
        try:
            yield from (Check(name, status, found) for status, found in seen(cast("ErasableKafkaLog", log)))
        except MnemologError as error:
            yield Check(name, "look", f"not looked at: {error}: {error.way_out}")


Seen = Iterator[tuple[Status, str]]
"""What was found on brokers."""


def _topics(log: ErasableKafkaLog) -> Seen:
    from processors import PROCESSORS
    from streams.logs.kafka.topics import check
    from streams.runtime.kafka.sets import list_sets

    try:
        check(log.connection, [one.set for one in list_sets(log.connection, PROCESSORS) if one.memories != "old"])
    except UsageError as error:
        yield "failed", f"{error}: {error.way_out}"
    else:
        yield "well", "settings and partitions are what they must be"


def _moving(log: ErasableKafkaLog) -> Seen:
    from streams.logs.kafka.topics import is_sealed

    if is_sealed(log.connection):
        yield "look", "the log takes nothing just now: where that lasts, an erasure died: `mnemolog erase` ends it"
    if strays := log.strays():
        yield (
            "look",
            (
                f"{listed(strays)} are of a log from before an erasure: whoever opens live next deletes them, for "
                "example `mnemolog project` that is started again, and so does the next `mnemolog erase`"
            ),
        )


def _workers(log: ErasableKafkaLog) -> Seen:
    from processors import PROCESSORS
    from streams.runtime.kafka.sets import list_sets, workers

    sets = [one for one in list_sets(log.connection, PROCESSORS) if one.memories != "old"]
    running = workers(log.connection, [one.set for one in sets])
    for one in sets:
        what = f"set {one.set} of {one.memories}"
        lag = f"{counted(one.lag, 'record')} behind" if one.lag else "at the log's end"
        if count := running[one.set]:
            yield "well", f"{what}: {counted(count, 'worker')}, {lag}"
        else:
            how = "" if LIVE in one.memories else f" --memory {one.memories.partition(',')[0]}"
            how += "" if one.processors in ("all", "?") else f" {one.processors}"
            yield "look", f"{what}: no worker, {lag}: start `mnemolog worker{how}`"
    if not any(LIVE in one.memories for one in sets):
        yield "look", "nobody ever folded live: start `mnemolog worker`"


def _letters(log: ErasableKafkaLog) -> Seen:
    from streams.runtime.kafka.dead_letters import Letters

    if found := Letters(log.connection, log.names.dead_letters).all():
        yield "look", f"{counted(len(found), 'record')} could not be folded: `mnemolog dead-letters` lists them"
    else:
        yield "well", "there are none"


def _log(path: Path) -> Iterator[Check]:
    if not path.exists():
        yield Check("log", "look", "there is none yet: feed some turns")
        return
    if not all(os.access(place, os.W_OK) for place in (path.parent, path)):
        yield Check("log", "failed", f"{path} cannot be written, so it was not looked at: change its rights")
        return
    try:
        if not is_sound(path):
            yield Check("log", "failed", _damaged(path))
            return
        with closing(looked_at(path)) as log:
            count, guarded = events_in(log), is_guarded(log)
    except FAILURES as error:
        yield Check("log", "failed", f"{path}: {error}: mend the file system, or restore the newest backup")
        return
    if not guarded:
        yield Check("log", "look", "its guards against changes are gone: any command that opens it sets them again")
    else:
        yield Check("log", "well", f"{counted(count, 'event')}, {_size(path.stat().st_size)}, each as it was recorded")


def _keys(path: Path) -> Iterator[Check]:
    """Whether the keys that contents are under are here and can be used; nothing where contents are in clear."""
    keys = Keys(path.parent)
    try:
        with closing(looked_at(path)) as log:
            known = [(id_, space) for id_, space, _, destroyed in keys_in(log) if not destroyed]
            gone = len(keys_in(log)) - len(known)
        for id_, _ in known:
            keys.find(id_)
    except MnemologError as error:
        yield Check("keys", "failed", f"{error}: {error.way_out}")
        return
    except FAILURES:  # there is no log, or what is wrong with it is told already
        return
    if lost := {space for id_, space in known if not keys.holds(id_)}:
        yield Check("keys", "look", f"not here, so not read, are those of spaces {listed(sorted(lost))}: {MISSING}")
    elif known or gone or keys.is_on():
        said = f"; {gone:,} were destroyed, and what was under them is passed over" if gone else ""
        yield Check("keys", "well", f"under keys: {counted(len(known), 'space')}{said}")


def _unfinished(path: Path) -> Iterator[Check]:
    """What an erasure that was killed left, which the next command finishes or clears up."""
    order, told, work = (path.with_name(name) for name in (switch.ORDER, switch.DESTROYED, switch.WORK))
    try:
        if order.exists():
            switch.written(order, switch.AGAIN)
            yield Check("erasure", "look", "it was killed when its moment had come: the next command finishes it")
        elif told.exists():
            switch.written(told, UNTOLD)
            yield Check("erasure", "look", "the log does not have its receipt yet: the next command appends it")
        elif work.exists() and not _is_held(path.with_name(f"{switch.WORK}.lock")):
            yield Check(
                "erasure", "look", f"one that was killed left {work}, and erased nothing: the next clears it up"
            )
    except LogError as error:
        yield Check("erasure", "failed", f"{error}: {error.way_out}")


def _damaged(path: Path) -> str:
    """What can be read of a log, and what to do."""
    if _bytes(path.with_name(f"{path.name}-wal")) and is_strange(path):
        return f"beside {path} lies a journal that another log left: the next command sets it aside"
    found = look(path)
    lost = f", lost are {found.lost}" if found.lost.found else ""
    return (
        f"{path} is damaged; {found.readable.count():,} events can be read: {found.readable}{lost}: "
        "`mnemolog rescue FILE` copies them, or restore the newest backup"
    )


def _memories(home: Path, log: Log | None) -> Iterator[Check]:
    """What can be said of the memories of a home, and of the shards that it is in; `log` is None where it cannot be
    read."""
    folder = Folder(home, look=True)
    try:
        shards = folder.shards() if on_kafka() else []
    except MnemologError as error:
        yield Check("shards", "failed", f"{error}: {error.way_out}")
        return
    for path in shards:
        for check in (*_memories(path, log), *_left(path)):
            yield replace(check, name=f"{path.name} {check.name}")
    if not shards and not (home / "live.duckdb").exists():
        yield Check("live", "look", NO_LIVE)
        return
    serving = _serving(folder)
    if serving is not None:
        yield serving
    held = _held(folder)
    for name in folder.memories():
        if name == LIVE and held:
            yield (
                _asked(folder)
                if serving is not None and serving.status == "well"
                else Check(name, "look", f"process {held} is folding into it just now: look again when it is done")
            )
        else:
            yield _memory(folder, name, log)
    if not held:
        yield from _caches(folder, log)


def _caches(folder: Folder, log: Log | None) -> Iterator[Check]:
    """Indexes, snapshots and features of texts that are damaged: whoever comes next makes them again."""
    from projections import store
    from projections.recall import file
    from streams.runtime.cache import FeatureCache

    for name in folder.memories():
        try:
            file.check_closed(index := file.path_of(folder.path / f"{name}.duckdb"), whole=True)
        except (file.DamagedError, OSError):
            yield Check("recall", "look", f"{index} is damaged: the next recall from {name} makes it anew")
    for path in sorted(folder.snapshots.glob("*.duckdb")):
        try:
            with closing(store.read_only(path)) as connection:
                store.read_all(connection, path)
        except MnemologError as error:
            yield Check("snapshot", "look", f"{error}: the next `mnemolog sql` or `query` copies it anew")
    with suppress(LogError):
        if log is not None and (damaged := FeatureCache(folder.cache, log).damaged()):
            names = listed([path.name for path in damaged])
            yield Check(
                "cache", "look", f"damaged or of another log in {damaged[0].parent}: {names}: a replay reads them anew"
            )


def _serving(folder: Folder) -> Check | None:
    """Whether somebody answers on the home's socket; None where there is no socket."""
    path = folder.socket
    if not path.exists() or path.is_dir():
        return None
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(str(path))
    except OSError:
        return Check("server", "look", f"{path} was left by a server that died: `mnemolog serve` takes its place")
    return Check("server", "well", "somebody serves this home")


def _held(folder: Folder) -> str:
    """The process that holds the writer lock, "" where nobody does."""
    return folder.holder() if _is_held(folder.lock) else ""


def _is_held(lock: Path) -> bool:
    with suppress(OSError), lock.open("rb") as file:  # it is not there, or a folder
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _asked(folder: Folder) -> Check:
    """What the server says of live."""
    try:
        said = ask_holder(folder.socket, {"ping": True})
    except MnemologError as error:
        return Check(LIVE, "failed", f"{error}: {error.way_out}")
    except HolderLeftError:
        return Check(LIVE, "look", "the server has ended just now: look again")
    if missing := said.get("missing"):
        return Check(LIVE, "failed", f"{said['behind']:,} events wait in the log; it cannot be folded, for {missing}")
    found = f"{said['behind']:,} events wait in the log; the server folds them"
    return _beside(LIVE, found, said.get("aside", ""))


def _beside(name: str, found: str, aside: str) -> Check:
    """What is well with a memory, but for what could not be folded."""
    return Check(name, "look", f"{found}; {aside}") if aside else Check(name, "well", found)


def _memory(folder: Folder, name: str, log: Log | None) -> Check:
    """How far a memory was folded, and whether this program can fold it on."""
    from projections import store
    from streams.runtime.memories import differs as differs_from

    path = folder.path / f"{name}.duckdb"  # why not `memory`: any name may lie there
    anew = ANEW if name == LIVE else f"`mnemolog replay --as {name} --replace` makes it anew"
    try:
        connection = store.read_only(path)
    except BusyError as error:  # it may be becoming live just now
        return Check(name, "look", f"{error}: look again when that has ended")
    except MnemologError as error:
        return Check(name, "failed", f"{error}: {anew}")
    with closing(connection):
        try:
            store.read_all(connection, path)
            if log is None:
                return Check(name, "look", "it was not compared with the log, which cannot be read")
            foreign = differs_from(connection, log)
        except LogError as error:
            return Check(name, "look", f"it was not compared with the log: {error}")
        except MnemologError as error:
            return Check(name, "failed", f"{error}: {anew}")
        if foreign:
            keep = "" if name == LIVE else ", or delete its file when done with it"
            return Check(name, "failed", f"it {foreign}: {anew}{keep}")
        mine = folder.shard.partitions(log.partitions)
        behind = sum(log.end(partition) - 1 - store.read_mark(connection, partition) for partition in mine)
        partial = "" if name == LIVE else store.read_meta(connection, "partial").replace("None", "").strip('"')
        aside = told_aside(store.aside(connection))
        differs, lacks = _differs(connection, bool(partial)), _lacks(connection)
    size = _size(path.stat().st_size)
    if differs and name == LIVE:
        return Check(
            name,
            "failed",
            f"{differs}: `mnemolog replay --as next`, `mnemolog diff live next`, `mnemolog promote next`",
        )
    if differs:
        return Check(
            name, "look", f"{size}; {differs}: it can be read, not promoted; delete its file when done with it"
        )
    waiting = f"{behind:,} events wait" if behind else "at the log's end"
    if lacks and name == LIVE:
        return Check(name, "failed", f"{size}; {waiting}; it can be read, and folded no further: {lacks}")
    if lacks:
        return Check(name, "look", lacks)
    if partial:
        return _beside(name, f"{size}; a fold of a part ({partial})", aside)
    folds = "; the next question folds them" if behind and name == LIVE else ""
    return _beside(name, f"{size}; {waiting}{folds}", aside)


def _differs(connection: Connection, partial: bool) -> str:
    """Why this program cannot fold a memory on; "" where it can. What one of a part was made without does not count."""
    import orjson

    from processors import PROCESSORS
    from projections.store import read_meta
    from streams.runtime.memories import changed_since

    then = orjson.loads(read_meta(connection, "lineages"))
    try:
        folded = [processor for processor in PROCESSORS if processor.name in then] if partial else PROCESSORS
        changed = changed_since(folded, read_meta(connection, "params"), then)
    except ValueError:
        return "it was folded with parameters this program does not know"
    return f"it was folded by another version of {', '.join(changed)}" if changed else ""


def _lacks(connection: Connection) -> str:
    """What folding a memory on needs and is not installed, and the way out; "" where all is there."""
    import orjson

    from processors import PROCESSORS
    from projections.asking import known_params
    from projections.store import read_meta
    from streams.core.params import missing

    return missing(known_params(PROCESSORS, orjson.loads(read_meta(connection, "params"))).values())


def _left(home: Path) -> Iterator[Check]:
    """What lies in a home, or in a shard of it, that does not belong there, or is needed no more."""
    files = _found(home, FILES)
    if folders := [path for path in files if path.is_dir()]:
        yield Check("files", "failed", f"a folder stands where a file belongs, put it away, {_named(folders, home)}")
    if barred := [path for path in files if path.is_file() and not os.access(path, os.R_OK | os.W_OK)]:
        yield Check(
            "files", "failed", f"this user may not read and write all files: change their rights {_named(barred, home)}"
        )
    stale = [path for path in _found(home, HALF_DONE) if path.suffix != ".lock" and _is_stale(path)]
    if stale:
        yield Check("left over", "look", f"{_weighed(stale)} left by processes that died; delete {_named(stale, home)}")
    if aside := _found(home, ASIDE):
        yield Check(
            "set aside", "look", f"{_weighed(aside)} was damaged, and is made anew: delete {_named(aside, home)}"
        )
    if others := _found(home, STRANGE):
        yield Check(
            "set aside",
            "look",
            f"{_weighed(others)} in journals that another log left, with its last events perhaps: once that log is "
            f"known to have them, delete {_named(others, home)}",
        )


def _is_stale(path: Path) -> bool:
    with suppress(FileNotFoundError):  # it was there for a moment
        return time.time() - path.lstat().st_mtime > STALE
    return False


def _found(home: Path, patterns: Sequence[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in home.glob(pattern)})


def _named(paths: Sequence[Path], home: Path) -> str:
    return f"in {home}: {listed(str(path.relative_to(home)) for path in paths)}"


def _weighed(paths: Sequence[Path]) -> str:
    return _size(sum(map(_bytes, paths)))


def _bytes(path: Path) -> int:
    """The size of a file, or of all files under a folder."""
    total = 0
    for one in path.rglob("*") if path.is_dir() else (path,):
        with suppress(OSError):  # it was there for a moment
            total += one.stat().st_size if one.is_file() else 0
    return total


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.1f} MB"
