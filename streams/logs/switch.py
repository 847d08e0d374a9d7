"""A new log takes the place of an old one, and what was made of the old one goes with it, as if all at once.

When the new log is whole in a folder beside the old one, the order of what to do is written down (ORDER): that is the
moment of the switch. It is carried out behind the log's gate by who wrote it, or, where that one was killed, by whoever
comes to the gate next, so that nobody reads or appends in between. Before that moment the old log is as it was, and the
folder can be thrown away; after it, each step can be done again.

Files are unlinked, not overwritten: file systems that journal, snapshot or level wear write elsewhere anyway. Whoever
has one still open keeps its bytes on the disk until it ends.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from streams.core.errors import LogError
from streams.logs import LOG_FILE
from streams.logs.encryption import shred
from streams.logs.whole import put, sync

WORK = ".erase"
"""The folder in a home where a new log is made."""
ORDER = "erase.order"
"""Beside the log: what is to be done, as JSON."""
DESTROYED = "destroyed.json"
"""Beside the log: keys that were destroyed and the receipt of it, until the log has them."""
AGAIN = "delete it, and erase again what was to go"
"""What to do where an order cannot be read."""


def order(
    log: Path,
    gone: Iterable[str],
    moves: Iterable[str],
    keys: Iterable[str] | None = None,
    told: dict[str, Any] | None = None,
) -> None:
    """Writes down that the log in WORK takes the log's place, that the entries `gone` of its folder go, and that
    `moves` come from WORK; with `keys`, that these files are overwritten and go, that `told` is what DESTROYED says,
    and that the log stays as it is. From here on it will be so. The caller holds the log's gate.

    Raises LogError while the new log has a journal: that would not go with it."""
    journal = log.parent / WORK / f"{log.name}-wal"
    if keys is None and journal.exists():
        raise LogError(f"{journal} holds some of the new log", "nothing was changed; try again")
    todo: dict[str, Any] = {"log": log.name, "gone": [*gone], "moves": [*moves]}
    if keys is not None:
        todo |= {"keys": [*keys], "told": told and {"log": log.name} | told}
    _write(log.with_name(ORDER), todo)


def carry_out(log: Path) -> None:
    """Does what is written down of a log, if anything. The caller holds the log's gate.

    Raises LogError where that is damaged. Why the journal of the old log may be deleted whenever this is done again:
    nobody has opened the new one before."""
    place = log.with_name(ORDER)
    if not place.exists():
        return
    todo = written(place, AGAIN)
    if not concerns(todo, log):
        return
    folder, work = log.parent, log.parent / WORK
    if (work / log.name).exists():
        (work / log.name).replace(log)
    for name in todo.get("keys", ()):
        shred(folder / name)
    journal = () if "keys" in todo else (f"{log.name}-wal", f"{log.name}-shm")
    for name in (*journal, *todo["gone"]):
        remove(folder / name)
    for name in todo["moves"]:
        if (work / name).exists():
            (work / name).replace(folder / name)
    if todo.get("told"):
        _write(folder / DESTROYED, todo["told"])
    shutil.rmtree(work, ignore_errors=True)
    sync(folder)
    place.unlink()
    sync(folder)


def written(place: Path, way_out: str) -> dict[str, Any]:
    """What was written down beside a log. Raises LogError where that is damaged."""
    try:
        told = orjson.loads(place.read_bytes())
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise LogError(f"{place} is damaged: it is not what was written", way_out)
    return told


def concerns(told: dict[str, Any], log: Path) -> bool:
    """Whether what is written down is of a log, and not of another one in its folder."""
    return bool(told.get("log", LOG_FILE) == log.name)


def _write(path: Path, told: object) -> None:
    """Makes a file that is whole on the disk when it has its name."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(orjson.dumps(told))
    put(partial, path)


def remove(path: Path) -> None:
    """Deletes a file or folder, where it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
