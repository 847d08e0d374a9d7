"""Asking whoever holds live, over its socket.

Imports nothing but the standard library and the errors, so that a command that asks a server starts at once.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from streams.core.errors import (
    BehindError,
    BrokenError,
    BusyError,
    LogError,
    MemoryFileError,
    MnemologError,
    NoRoomError,
    OutdatedError,
    ShutError,
    UnreadableError,
    UsageError,
)

LONGEST = 100
"""Bytes of a socket's path that every system takes: 104 on macOS, 108 on Linux."""
ERRORS = {
    kind.__name__: kind
    for kind in (
        BehindError,
        BrokenError,
        BusyError,
        LogError,
        MemoryFileError,
        NoRoomError,
        OutdatedError,
        ShutError,
        UnreadableError,
        UsageError,
    )
}
"""Errors that come through the socket as what they are."""


SILENT = 30.0
"""Seconds without a word after which who is asked is asked whether it is there at all: an answer may take longer."""
PROMPT = 10.0
"""Seconds within which any server says that it is there, whatever it is doing."""


class HolderLeftError(Exception):
    """Nobody answers on the socket, or who did went away while it was asked."""


class SilentError(BusyError):
    """Who listens takes requests, and answers none in time: to wait for it longer may be in vain."""


def ask_holder(path: Path, message: dict[str, Any], timeout: float | None = None) -> Any:
    """The answer to one request by whoever listens at the socket `path`.

    Raises what the request raises there, HolderLeftError where nobody of this user answers, and SilentError where
    `timeout` seconds pass without a word; without a timeout, where who listens does not say that it is there either.
    """
    peer = 0
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            check_own(path)
            connection.settimeout(SILENT if timeout is None else timeout)
            with address(path) as short:
                connection.connect(short)
            peer = check_peer(connection)
            connection.sendall(json.dumps(message).encode() + b"\n")
            answer = _line(connection, (lambda: check_there(path)) if timeout is None else None)
    except (TimeoutError, BlockingIOError) as error:
        raise _silent(path, peer, SILENT if timeout is None else timeout) from error
    except (OSError, ValueError) as error:
        raise HolderLeftError from error
    if not answer.endswith(b"\n"):
        raise HolderLeftError
    found = json.loads(answer)
    if "error" in found:
        raise ERRORS.get(found["kind"], MnemologError)(found["error"], found["way_out"])
    return found["answer"]


def check_there(path: Path) -> None:
    """Raises SilentError where who listens at a socket does not say within PROMPT seconds that it is there."""
    # Why suppressed: it knows the question not, or makes way, and answers before it ends what it was asked.
    with suppress(UsageError, HolderLeftError):
        ask_holder(path, {"leave": False}, PROMPT)


def _line(connection: socket.socket, waiting: Callable[[], None] | None) -> bytes:
    """What comes up to the end of a line, or of the connection; `waiting` is called at each timeout, which else is
    raised."""
    found = bytearray()
    while not found.endswith(b"\n"):
        try:
            part = connection.recv(2**18)
        except TimeoutError:
            if waiting is None:
                raise
            waiting()
            continue
        if not part:
            break
        found += part
    return bytes(found)


def _silent(path: Path, peer: int, seconds: float) -> SilentError:
    who = f"process {peer}, which serves {path.parent}," if peer else f"who serves {path.parent}"
    return SilentError(
        f"{who} did not answer within {seconds:g} seconds",
        f"it hangs or was stopped: end it ({f'kill -9 {peer}' if peer else 'kill -9'}) and ask again; what was "
        "acknowledged is in the log",
    )


@contextmanager
def address(path: Path) -> Iterator[str]:
    """Under which a socket can be bound or reached: a path that is too long for that is gone to by its folder."""
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def check_own(path: Path) -> None:
    """Raises PermissionError for a socket, or a folder of it, that others could have made."""
    for place, others in ((path, 0o077), (path.parent, 0o022)):
        found = place.lstat()
        if found.st_uid != os.getuid() or found.st_mode & others:
            raise PermissionError(f"{place} is not this user's alone")


def check_peer(connection: socket.socket) -> int:
    """The process at the other end; 0 where that is not told. Raises PermissionError where it is another user's."""
    if not hasattr(socket, "SO_PEERCRED"):  # the rights of the folder must do
        return 0
    pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user != os.getuid():
        raise PermissionError(f"user {user} is at the other end")
    return int(pid)
