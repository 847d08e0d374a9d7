"""The copies of the log that this home wrote: noted when they are written, and written anew after an erasure."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import orjson

from streams.core.errors import MnemologError, counted
from streams.core.events import ERASURES, ErasureRecorded, decode
from streams.logs.log import Log
from streams.logs.sqlite import FAILURES, looked_at, noted
from streams.logs.whole import clear

if TYPE_CHECKING:
    from streams.logs.sqlite import SqliteLog
    from streams.logs.where import HomeLog

COPIES = "copies"
"""Under which a log notes where copies of it were written: paths, as JSON."""
STALE = "copies.stale"
"""Noted while copies may be of a log that was destroyed."""
EMPTY = "empty"
MOST = 1000
"""Copies that are known; where they are more, the oldest of those that are not there any more are forgotten."""
FORGOTTEN = "copies.forgotten"
"""Under which a log notes how many those were: they may have been moved."""


def note_copy(log: HomeLog, path: Path) -> None:
    """Notes where a copy is about to be written."""
    known = [one for one in copies(log) if one != path.absolute()]
    over = len(known) + 1 - MOST
    gone = set(islice((one for one in known if _is_gone(one)), over)) if over > 0 else ()
    if gone:
        log.note(FORGOTTEN, str(forgotten(log) + len(gone)))
    log.note(COPIES, orjson.dumps([str(one) for one in (*known, path.absolute()) if one not in gone]).decode())


def _is_gone(path: Path) -> bool:
    """Whether nothing is there; no where that cannot be seen."""
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


def forgotten(log: HomeLog) -> int:
    """How many copies were forgotten that were not where they were written."""
    return int(log.noted(FORGOTTEN) or 0)


def told_forgotten(log: HomeLog) -> str:
    """That copies are no longer known, in words; "" where all are."""
    count = forgotten(log)
    told = f"of {counted(count, 'older copy', 'older copies')} that are gone from their place nothing is known any more"
    return f"{told}: if one was moved, what was erased is still in it" if count else ""


def copies(log: HomeLog) -> list[Path]:
    """Where copies were written."""
    return [Path(one) for one in orjson.loads(log.noted(COPIES) or "[]")]


def id_of(copy: Path) -> str:
    """The log that a backup or archive is of; "" where nothing is, EMPTY for a folder, "?" for what is neither."""
    try:
        if copy.is_dir():
            if not any(copy.iterdir()):
                return EMPTY
            return str(orjson.loads((copy / "archive.json").read_bytes())["log_id"])
        if not copy.exists():
            return ""
        with closing(looked_at(copy)) as log:
            return noted(log, "id") or "?"
    except (OSError, ValueError, KeyError, TypeError, *FAILURES):
        return "?"


def receipts(log: Log) -> list[tuple[int, ErasureRecorded]]:
    """What was erased from a log, in order, with offsets."""
    records = (record for partition in range(log.partitions) for record in log.read(partition, 0))
    found = ((r.offset, decode(r.type, r.value)) for r in records if r.space == ERASURES)
    return [(offset, event) for offset, event in found if isinstance(event, ErasureRecorded)]


def renew(log: HomeLog) -> list[str]:
    """Writes the known copies of destroyed logs anew; what could not be, in words."""
    from streams.logs import archive as archives

    former = {receipt.log_before for _, receipt in receipts(log)} - {log.id}
    told: list[str] = []
    for copy in copies(log):
        id_ = id_of(copy)
        try:
            clear(copy, all_=True)  # what backups that were killed left
            if copy.is_dir() and id_ in {*former, EMPTY, log.id}:
                archives.renew(log, copy, former)
            elif id_ in former and log.is_local:
                cast("SqliteLog", log).backup(copy)
            elif id_ != log.id:
                told.append(f"{copy} was a copy of the log, and {'cannot be read as one' if id_ else 'is away'}")
        except (MnemologError, OSError) as error:
            told.append(f"{copy} is a copy of the log before the erasure: {error}")
    if unknown := told_forgotten(log):
        told.append(unknown)
    log.note(STALE, "")
    return told
