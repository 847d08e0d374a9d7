"""One rule for what is derived and broken: it is said once, set aside, and made anew from what it is derived from.

What was set aside is needed by nobody. It lies there for who wants to know what became of it, until the next file of
that name is set aside.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

from streams.core.errors import listed

SUFFIX = ".damaged"
"""Of what was set aside."""

Warn = Callable[[str], None]
"""Told what a person should know."""


def unheard(line: str) -> None:
    """Where nobody listens."""


def set_aside(why: str, warn: Warn, *paths: Path, to: Path | None = None) -> None:
    """Moves a derived file that is broken out of the way, with what belongs to it, as far as it is there, and says so.

    `to`: where it goes, if not beside its place.
    """
    moved: list[str] = []
    for path in paths:
        aside = to or place(path)
        with suppress(FileNotFoundError):  # it is not there, or another process has set it aside
            path.replace(aside)
            moved.append(aside.name)
    if moved:
        warn(f"{why}; it is set aside as {listed(moved)}, and made anew")


def free_of_folder(path: Path, warn: Warn) -> None:
    """Sets aside a folder that stands where a derived file belongs."""
    if path.is_dir() and not path.is_symlink():
        set_aside(f"{path} is a folder", warn, path)


def folder(path: Path, warn: Warn) -> Path:
    """A folder for derived files, made where there is none; a file that stands in its place is set aside."""
    if path.exists() and not path.is_dir():
        set_aside(f"{path} is no folder", warn, path)
    path.mkdir(0o700, parents=True, exist_ok=True)
    return path


def place(path: Path, suffix: str = SUFFIX, again: bool = True) -> Path:
    """Where a file goes that is set aside: with `again` to the place of the one before it, but of no folder, which may
    hold anything."""
    names = (f"{path.name}{suffix}{f'-{number}' if number > 1 else ''}" for number in count(1))
    again = again and not path.is_dir()
    return next(at for at in map(path.with_name, names) if not at.exists() or (again and not at.is_dir()))
