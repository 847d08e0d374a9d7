"""Everything that can go wrong in a way a user can mend: what happened, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

NAMES_TOLD = 10
"""Names told where another was asked for."""

FULL = ("No space left", "disk is full", "Disk quota exceeded", "File too large")
"""What the system, SQLite and DuckDB say where there is no room."""


def says_full(error: BaseException) -> bool:
    """Whether an error says that there is no room."""
    return any(words in str(error) for words in FULL)


class MnemologError(Exception):
    """Base of all errors meant for the user: `str(error)` says what is wrong, `way_out` what to do."""

    def __init__(self, what: str, way_out: str = "") -> None:
        super().__init__(what)
        self.way_out = way_out


class Aside(NamedTuple):
    """An event that a processor could not fold, and why."""

    partition: int
    offset: int
    processor: str
    """The raw log where nothing could be made of the event; else those that read the processor passed it by, too."""
    space: str
    error: str
    """The name of what was raised."""

    def told(self) -> str:
        """Who cannot fold what, and why."""
        return f"{self.processor} the event at {self.partition}:{self.offset} in space {self.space} ({self.error})"


class FaultError(MnemologError):
    """A processor cannot fold an event. Nothing that was said is in the message; the cause is chained.

    What the pass had in memory of the space is no longer good: records are changed in place. See `Driver.set_aside`.
    """

    def __init__(self, aside: Aside) -> None:
        super().__init__(
            f"{aside.processor} cannot fold the event at {aside.partition}:{aside.offset} in space {aside.space!r} "
            f"({aside.error})",
            "all else is folded; please report it, a version that can fold it does so in a replay",
        )
        self.aside = aside


NO_FAULTS = (MnemologError, MemoryError, OSError)
"""What is raised while an event is folded and is no fault of it: of storage, of the machine."""


class LogError(MnemologError):
    """The log refuses: it is full, damaged, or another log than the memory was folded from."""


class NewerError(MnemologError):
    """What a later version of the program wrote, and this one does not know."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "install the newest mnemolog: a later version wrote it")


class MemoryFileError(MnemologError):
    """A memory cannot be used: it is missing, exists already, was folded with other parameters, or is half a copy."""


class OutdatedError(MemoryFileError):
    """A memory was folded by another version of the program, or under parameters that it does not know: it can be read
    as it is, and folded no further."""


class DamagedError(MemoryFileError):
    """A memory's file is damaged, or of another format. What is derived can be made anew from the log."""


class NoRoomError(MemoryFileError):
    """There is no room for what must be written; nothing that was acknowledged is lost."""


class ForeignError(MemoryFileError):
    """A memory was folded from another log, or from what stood in this one before an older one was restored."""


class BusyError(MnemologError):
    """Another process holds what this one needs."""


class ShutError(BusyError):
    """A log's gate was waited for in vain: to try again would be to wait again."""


class UsageError(MnemologError):
    """What was asked for makes no sense: an unknown name, a value out of range."""


class DeniedError(MnemologError):
    """Who asks may not do this: no key, one that is unknown, or one for other spaces."""


class BehindError(MnemologError):
    """What was asked for is not in the memory yet; later it is."""


class BrokenError(MnemologError):
    """A memory that was open can no longer be read or written: what holds it opens it again, or makes it anew."""

    @classmethod
    def of(cls, error: BaseException) -> MnemologError:
        """An error as it is told: what the system refused with its place, any that nobody foresaw is called so."""
        if isinstance(error, MnemologError):
            return error
        if isinstance(error, OSError) and error.filename and error.strerror:
            return cls(f"{error.filename}: {error.strerror}", "ask again; `mnemolog doctor` tells more")
        said = (str(error).splitlines() or [""])[0][:200]
        return cls(f"something unexpected went wrong: {type(error).__name__}: {said}", "ask again")


class UnreadableError(BrokenError):
    """A question met something in a memory that cannot be read; the memory must be looked through."""


def counted(count: int, one: str, many: str = "") -> str:
    """So many of something, as people say it: `1 turn`, `2,000 turns`; `many` is the plural where it takes more than
    an s."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def listed(names: Iterable[str]) -> str:
    """Names for an error to tell, with commas between: the first ones where they are many."""
    first = list(islice(names, NAMES_TOLD + 1))
    first[NAMES_TOLD:] = ["..."] * (len(first) > NAMES_TOLD)
    return ", ".join(first)


LEAST_OF_ID = 4
"""Characters of an id by which it may be named."""
MOST_BEGUN = 100
"""Ids that are looked at of those that begin alike."""


def id_begun(begin: str, ids: Iterable[str]) -> str | None:
    """The one id that begins so; None where none does, or too little of it is told. Raises UsageError for several."""
    found = sorted({id for id in ids if id.startswith(begin)}) if len(begin) >= LEAST_OF_ID else []
    if len(found) > 1:
        raise UsageError(f"several ids begin with {begin!r}", f"write more of the one you mean: {listed(found)}")
    return found[0] if found else None


def check_one_space(spaces: Iterable[str], what: str) -> None:
    """Raises UsageError where `what`, which was asked for without saying in which space, is in several."""
    if len(found := sorted(set(spaces))) > 1:
        raise UsageError(f"several spaces have {what}", f"say which with --space: {listed(found)}")
