"""The folder of a home: what lies where in it, and the lock of whoever folds.

Imports nothing but the standard library and the errors, so that a command that asks a server starts at once.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from projections.aside import SUFFIX
from projections.lock import locked
from streams.core.errors import BusyError, UsageError
from streams.runtime import LIVE

TAKEN = ("log", "cache", "snapshots")
"""Names that no memory has."""
DERIVED = (
    "*.duckdb*", ".*.duckdb*", "*.recall*", ".*.recall*", ".live.*", ".replay-*", "snapshots/*", "cache/*", "*.partial",
    f"*{SUFFIX}*",
    "log.sqlite-wal.*", "log.sqlite-journal.*", "hooks/*", "hook.log*",
)  # fmt: skip
"""What lies in a home beside the log, its locks, and what people set there."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SHARD = re.compile(r"shard-([1-9]\d*)of([1-9]\d*)")


class Shard(NamedTuple):
    """Which of the partitions of a log are folded into the live of a home: one of `total` each. All, for 1 of 1."""

    number: int
    total: int

    @classmethod
    def said(cls, text: str) -> Shard:
        """The shard that a text like 1/4 names. Raises UsageError for one that names none."""
        number, _, total = text.partition("/")
        if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
            raise UsageError(f"{text!r} is no shard", "say which of how many: 1/4, 2/4, 3/4 and 4/4, for example")
        return cls(int(number), int(total))

    @property
    def folder(self) -> str:
        """The name of its folder in the home."""
        return f"shard-{self.number}of{self.total}"

    def partitions(self, count: int) -> range:
        """Its partitions of a log that has `count`."""
        return range(self.number - 1, count, self.total)


class Folder:
    """A home's folder, made where there is none. Raises UsageError where it cannot be made."""

    def __init__(self, path: Path, look: bool = False) -> None:
        """With `look`, it is taken as it is, whatever that is."""
        self.path = path
        named = _SHARD.fullmatch(path.name)
        self.shard = Shard(int(named[1]), int(named[2])) if named else Shard(1, 1)
        """Why the name of a folder says it: whoever opens the home, and however, must fold the same."""
        self.snapshots = path / "snapshots"
        self.cache = path / "cache"
        self.lock = path / "writer.lock"
        self.socket = path / "socket"
        if not look:
            self._make()

    def _make(self) -> None:
        path = self.path
        if "?" in str(path):  # DuckDB takes what stands behind it for options
            raise UsageError(f"{path} cannot be a home: there is a '?' in it", "choose another with --home")
        try:
            path.mkdir(0o700, parents=True, exist_ok=True)
            for fault in self.faults():
                raise fault
            if path.stat().st_mode & 0o077:
                path.chmod(0o700)  # whatever lies in it then is for nobody else
            with suppress(FileExistsError):
                self.snapshots.mkdir(0o700)
        except OSError as error:
            reason = "it is no folder" if isinstance(error, FileExistsError) else error.strerror
            raise UsageError(f"{path} cannot be a home: {reason}", "choose another with --home") from error

    def faults(self) -> Iterator[UsageError]:
        """Why it cannot be a home: through what is not this user's own file, another would read or hold what is here.
        Raises OSError where that cannot be found out."""
        found = self.path.stat()
        if found.st_uid != os.getuid():
            yield _foreign(self.path, found, "run this as that user, or choose another home with --home")
        for entry in os.scandir(self.path):
            with suppress(FileNotFoundError):  # it was there for a moment
                if entry.is_symlink():
                    yield UsageError(
                        f"{entry.path} is a link", "a home holds its files itself: put the file in its place"
                    )
                elif (held := entry.stat()).st_uid != os.getuid():
                    yield _foreign(entry.path, held, "make it yours (chown), or put it away if you do not know it")
        if found.st_mode & stat.S_ISVTX:
            yield UsageError(f"{self.path} is for everybody, and cannot be a home", "name a folder in it with --home")

    def shards(self) -> list[Path]:
        """The homes of the shards in this home, all in their order; none where it is not in shards.

        Raises UsageError where there are some of different counts.
        """
        counts = {int(found[2]) for path in self.path.glob("shard-*") if (found := _SHARD.fullmatch(path.name))}
        if len(counts) > 1:
            raise UsageError(
                f"{self.path} has shards of {' and of '.join(map(str, sorted(counts)))}",
                "delete the folders of those that it is in no more: what they hold is gathered anew",
            )
        return [self.path / Shard(n, count).folder for count in counts for n in range(1, count + 1)]

    def memory(self, name: str) -> Path:
        """Where the memory `name` lies. Raises UsageError for a name that cannot be a file's, or is another's."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot name a memory", "use letters, digits, '-', '_' and '.'")
        if name.lower() in TAKEN:
            raise UsageError(f"{name!r} cannot name a memory: it names something else in a home", "use another name")
        if alike := [known for known in {LIVE, *self.memories()} if known != name and known.lower() == name.lower()]:
            raise UsageError(f"there is a memory {alike[0]!r}: names must differ in more than case", "use another name")
        return self.path / f"{name}.duckdb"

    def memories(self) -> list[str]:
        """The names of the memories there are, live first."""
        names = sorted(p.stem for p in self.path.glob("*.duckdb") if not p.stem.startswith("."))
        return sorted(names, key=lambda name: name != LIVE)

    def derived(self) -> list[Path]:
        """Whatever can be made again, and what was left half made or set aside; what hooks have read is read again."""
        kept = {*self.path.glob("hooks/*.installed.json"), *self.path.glob(".*.lock")}
        return sorted({path for pattern in DERIVED for path in self.path.glob(pattern)} - kept)

    def free_name(self) -> str:
        """A name under which an old live can be kept."""
        taken = set(self.memories())
        return next(free for n in range(1, 10_000) if (free := f"{LIVE}-{n}") not in taken)

    @contextmanager
    def holding(self, wait: float = 0.0, look: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Holds the writer lock. Raises BusyError when another process has it for longer than `wait` seconds.

        `look` is called each time that it is not to be had: what it raises ends the waiting.
        """

        def busy() -> BusyError:
            return BusyError(
                f"process {self.holder()} is folding into {self.path}",
                "wait for it, or ask it (it answers on its socket)",
            )

        with locked(self.lock, wait, busy, look) as lock:
            with suppress(OSError):  # no room: then it is not told who holds it
                lock.truncate(0)
                lock.write(str(os.getpid()).encode())
            yield

    def holder(self) -> str:
        """The process that holds the writer lock, or held it last; "?" where that is not known."""
        with suppress(OSError):
            return self.lock.read_text() or "?"
        return "?"


def _foreign(path: str | Path, found: os.stat_result, way_out: str) -> UsageError:
    return UsageError(f"{path} belongs to another user ({found.st_uid})", way_out)
