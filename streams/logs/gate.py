"""The gate of a log: whoever appends to it, opens or closes it does so alone, and each in its turn.

It is a lock of the system, whose queue is fair. That queue knows no time, so who finds the gate shut stands in it by a
thread, and looks meanwhile who holds it: one that works is waited for however long that takes people (to read a log of
gigabytes that a crash left takes minutes); one that is suspended, by Ctrl-Z for example, holds all up for nothing.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from projections.lock import opened
from streams.core.errors import ShutError

LOOK = 0.5
"""Seconds between looks at who holds it."""
SUSPENDED, LONG = 10, 1200
"""Looks in a row that find the holder suspended, and looks in all, after which nobody waits on: 5 seconds, 10 minutes.
Looks, not seconds: who waits may have been suspended, too."""
TRY = 0.02
_given_up: set[Path] = set()
"""Gates that this process waited for in vain: it does not stand in their queues again before it was let in."""


@contextmanager
def at_gate(log: Path) -> Iterator[None]:
    """Nobody else is at the gate of the log meanwhile. Raises ShutError where another is, and is suspended or does not
    come to an end."""
    path = log.with_name(f"{log.name}.gate")
    with opened(path) as gate:
        if not _taken(gate):
            _wait(gate, path, log)
        _given_up.discard(path)
        _sign(gate)
        yield


def _taken(gate: FileIO) -> bool:
    """Takes it where it is free."""
    try:
        fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(gate: FileIO, path: Path, log: Path) -> None:
    let_in = _trying(gate) if path in _given_up else _standing(gate)
    suspended = 0
    for _ in range(LONG):
        if let_in():
            return
        holder = os.pread(gate.fileno(), 32, 0).decode(errors="replace").strip()
        suspended = suspended + 1 if _is_suspended(holder) else 0
        if suspended >= SUSPENDED:
            said = f"process {holder} holds the log {log}, and is suspended"
            way_out = f"have it go on (`fg` where it was stopped, or `kill -CONT {holder}`), or `kill -KILL {holder}`"
            break
    else:
        said = f"process {holder or '?'} holds the log {log} and does not come to an end"
        way_out = "wait for it, or end it: what it said that it recorded is kept"
    _given_up.add(path)
    raise ShutError(said, way_out)


def _standing(gate: FileIO) -> Callable[[], bool]:
    """Stands in the queue; what waits for a look's time and tells whether this process was let in.

    Who gives up closes the gate: when its turn comes, the thread closes what is left of it, and the next is let in."""
    handle, done = os.dup(gate.fileno()), threading.Event()
    failed: list[OSError] = []

    def stand() -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            failed.append(error)
        finally:
            os.close(handle)
            done.set()

    def let_in() -> bool:
        if done.wait(LOOK) and failed:
            raise failed[0]
        return done.is_set()

    threading.Thread(target=stand, name="gate", daemon=True).start()
    return let_in


def _trying(gate: FileIO) -> Callable[[], bool]:
    """The same without a place in the queue, and without a thread."""

    def let_in() -> bool:
        until = time.monotonic() + LOOK
        while not (taken := _taken(gate)) and time.monotonic() < until:
            time.sleep(TRY)
        return taken

    return let_in


def _sign(gate: FileIO) -> None:
    """Tells who holds it, where that is not told already."""
    mine = f"{os.getpid():<10}\n".encode()
    with suppress(OSError):  # no room: then it is not told
        if os.pread(gate.fileno(), 32, 0) != mine:
            os.pwrite(gate.fileno(), mine, 0)


def _is_suspended(process: str) -> bool:
    """Whether a process was stopped by a signal; no where that cannot be told."""
    if not process.isdecimal():
        return False
    with suppress(OSError, IndexError):
        if Path("/proc/self/stat").exists():
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        import subprocess

        told = subprocess.run(["ps", "-o", "state=", "-p", process], capture_output=True, text=True, check=False)
        return told.stdout.strip().startswith("T")
    return False
