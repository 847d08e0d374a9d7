"""Whether other processes of this machine still run."""

from __future__ import annotations

import os
from contextlib import suppress


def is_running(process: int) -> bool:
    """Whether there is a process of this id, whoever's it is."""
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True
