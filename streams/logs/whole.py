"""Files that appear whole or not at all: written beside their place, on the disk before they have their name."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from streams.core.errors import UsageError
from streams.logs.processes import is_running


def partial_of(target: Path) -> Path:
    """Where this process writes what is to be `target`."""
    return target.with_name(f"{target.name}.{os.getpid()}.partial")


def clear(target: Path, all_: bool = False) -> None:
    """Deletes what this process and those that died left of what was to be `target`; with `all_` what others write."""
    name = re.compile(rf"{re.escape(target.name)}(\.(\d{{1,10}}))?\.partial(-wal|-shm|-journal|\.gate)?", re.ASCII)
    for path in target.parent.glob("*.partial*"):
        if (found := name.fullmatch(path.name)) and (all_ or not _is_another(int(found[2] or 0))):
            path.unlink(missing_ok=True)


def put(partial: Path, target: Path, replace: bool = True) -> None:
    """Gives what was written its name. Raises UsageError where something has it already, and is not to be replaced."""
    with partial.open("rb+") as written:
        os.fsync(written.fileno())
    if replace:
        partial.replace(target)
    else:
        try:
            os.link(partial, target)
            partial.unlink()
        except FileExistsError:
            raise taken(target) from None
        except OSError:  # this file system has no links
            if target.exists():
                raise taken(target) from None
            partial.replace(target)
    sync(target.parent)


def taken(target: Path) -> UsageError:
    """What is raised where a file is there already."""
    return UsageError(f"{target} exists already", "choose another file")


def sync(folder: Path) -> None:
    """Has the names in a folder be on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # this file system cannot
            os.fsync(handle)
    finally:
        os.close(handle)


def _is_another(process: int) -> bool:
    """Whether there is such a process, which is not this one; 0 is none."""
    return process not in (0, os.getpid()) and is_running(process)
