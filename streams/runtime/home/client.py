"""Asking whoever holds live, over its socket.

Imports nothing but the standard library and the errors, so that a command that asks a server starts at once.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
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
        UnreadableError,
        UsageError,
    )
}
"""Errors that come through the socket as what they are."""


class HolderLeftError(Exception):
    """Nobody answers on the socket, or who did went away while it was asked."""


def ask_holder(path: Path, message: dict[str, Any], timeout: float | None = None) -> Any:
    """The answer to one request by whoever listens at the socket `path`.

    Raises what the request raises there, HolderLeftError where nobody of this user answers, and BusyError where
    `timeout` seconds pass without a word.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            check_own(path)
            connection.settimeout(timeout)
            with address(path) as short:
                connection.connect(short)
            check_peer(connection)
            with connection.makefile("rwb") as stream:
                stream.write(json.dumps(message).encode() + b"\n")
                stream.flush()
                answer = stream.readline()
    except (TimeoutError, BlockingIOError) as error:
        raise BusyError(f"who serves {path.parent} did not answer in time", "ask again") from error
    except (OSError, ValueError) as error:
        raise HolderLeftError from error
    if not answer.endswith(b"\n"):
        raise HolderLeftError
    found = json.loads(answer)
    if "error" in found:
        raise ERRORS.get(found["kind"], MnemologError)(found["error"], found["way_out"])
    return found["answer"]


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


def check_peer(connection: socket.socket) -> None:
    """Raises PermissionError where another user is at the other end."""
    if hasattr(socket, "SO_PEERCRED"):  # elsewhere the rights of the folder must do
        peer = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if peer != os.getuid():
            raise PermissionError(f"user {peer} is at the other end")
