"""Asking whoever holds live, over its socket.

Imports nothing but the standard library and the errors, so that a command that asks a server starts at once.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from streams.core.errors import BehindError, BusyError, LogError, MemoryFileError, MnemologError, UsageError

ERRORS = {kind.__name__: kind for kind in (BehindError, BusyError, LogError, MemoryFileError, UsageError)}
"""Errors that come through the socket as what they are."""


class HolderLeftError(Exception):
    """Nobody answers on the socket, or who did went away while it was asked."""


def ask_holder(path: Path, message: dict[str, Any]) -> Any:
    """The answer to one request by whoever listens at the socket `path`.

    Raises what the request raises there, and HolderLeftError where nobody answers.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            with connection.makefile("rwb") as stream:
                stream.write(json.dumps(message).encode() + b"\n")
                stream.flush()
                answer = stream.readline()
    except (OSError, ValueError) as error:
        raise HolderLeftError from error
    if not answer.endswith(b"\n"):
        raise HolderLeftError
    found = json.loads(answer)
    if "error" in found:
        raise ERRORS.get(found["kind"], MnemologError)(found["error"], found["way_out"])
    return found["answer"]
