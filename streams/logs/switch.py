"""A new log takes the place of an old one, and what was made of the old one goes with it, as if all at once.

When the new log is whole in a folder beside the old one, the order of what to do is written down (ORDER): that is the
moment of the switch. It is carried out behind the log's gate by who wrote it, or, where that one was killed, by whoever
comes to the gate next, so that nobody reads or appends in between. Before that moment the old log is as it was, and the
folder can be thrown away; after it, each step can be done again.

Files are unlinked, not overwritten: file systems that journal, snapshot or level wear write elsewhere anyway. Whoever
has one still open keeps its bytes on the disk until it ends.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from streams.core.errors import LogError
from streams.logs.encryption import shred

WORK = ".erase"
"""The folder in a home where a new log is made."""
ORDER = "erase.order"
"""Beside the log: what is to be done, as JSON."""
DESTROYED = "destroyed.json"
"""Beside the log: keys that were destroyed and the receipt of it, until the log has them."""


def order(log: Path, gone: Iterable[str], moves: Iterable[str], keys: Iterable[str] | None = None) -> None:
    """Writes down that the log in WORK takes the log's place, that the entries `gone` of its folder go, and that
    `moves` come from WORK; with `keys`, that these files are overwritten and go, and the log stays as it is. From here
    on it will be so. The caller holds the log's gate.

    Raises LogError while the new log has a journal: that would not go with it."""
    journal = log.parent / WORK / f"{log.name}-wal"
    if keys is None and journal.exists():
        raise LogError(f"{journal} holds some of the new log", "nothing was changed; try again")
    partial = log.with_name(f"{ORDER}.partial")
    with partial.open("w") as written:
        json.dump({"gone": [*gone], "moves": [*moves]} | ({} if keys is None else {"keys": [*keys]}), written)
        written.flush()
        os.fsync(written.fileno())
    partial.replace(log.with_name(ORDER))
    _sync(log.parent)


def carry_out(log: Path) -> None:
    """Does what is written down, if anything. The caller holds the log's gate.

    Why the journal of the old log may be deleted whenever this is done again: nobody has opened the new one before."""
    place = log.with_name(ORDER)
    if not place.exists():
        return
    todo = json.loads(place.read_bytes())
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
    shutil.rmtree(work, ignore_errors=True)
    _sync(folder)
    place.unlink()
    _sync(folder)


def remove(path: Path) -> None:
    """Deletes a file or folder, where it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
