"""Checks of a home, each with what was found and, where it is not well, what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from streams.errors import MnemologError

LOW_SPACE = 1024**3
"""Bytes free under which a fold or a snapshot may fail."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: Literal["well", "look", "failed"]
    found: str


def examine(home: Path) -> list[Check]:
    """All checks; nothing is changed, and no home is made."""
    return [_program(), *_place(home), *_log(home / "log.sqlite"), *_memories(home)]


def _program() -> Check:
    versions = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    return Check("program", "well", versions)


def _place(home: Path) -> Iterator[Check]:
    if not home.is_dir():
        yield Check("home", "look", f"{home} is not there yet: the first feed makes it")
        return
    if not os.access(home, os.W_OK):
        yield Check("home", "failed", f"{home} cannot be written: choose another with --home, or change its rights")
    else:
        yield Check("home", "well", str(home))
    free = shutil.disk_usage(home).free
    low = free < LOW_SPACE
    yield Check("disk", "look" if low else "well", f"{free / 1e9:.1f} GB free{': make room' if low else ''}")


def _log(path: Path) -> Iterator[Check]:
    if not path.exists():
        yield Check("log", "look", "there is none yet: feed some turns")
        return
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as log:
            verdict = log.execute("PRAGMA quick_check(1)").fetchone()[0]
            count, end = log.execute("SELECT count(*), coalesce(max(offset) + 1, 0) FROM log").fetchone()
    except sqlite3.Error as error:
        yield Check("log", "failed", f"{path}: {error}: restore the newest backup")
        return
    if verdict != "ok" or count != end:
        gap = "" if count == end else f"; {end - count} events are missing"
        yield Check("log", "failed", f"{path} is damaged ({verdict}{gap}): restore the newest backup")
    else:
        yield Check("log", "well", f"{count:,} events, {path.stat().st_size / 1e6:.1f} MB, no gaps")


def _memories(home: Path) -> Iterator[Check]:
    if not (home / "live.duckdb").exists():
        yield Check("live", "look", "there is none yet: the first question makes it")
        return
    from processors import PROCESSORS
    from streams.home import Home

    house = Home(home, PROCESSORS)
    try:
        waiting = house.request({"ping": True})["behind"]
    except MnemologError as error:
        yield Check("live", "failed", f"{error}: {error.way_out}")
        return
    yield Check("live", "well", f"folded to the log's end ({waiting} events wait), parameters and versions fit")
    for name in house.memories()[1:]:
        try:
            with house.reading(name):
                yield Check(name, "well", "can be read")
        except MnemologError as error:
            yield Check(name, "failed", f"{error}: {error.way_out}")
