"""Feeding: what a source gives goes to the log in batches; what neither takes goes to a rejects file.

A rejects file holds the rejected lines, byte for byte, and nothing else, so that it can be mended and fed again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from streams.core.edge import Accepted, Fault, Reject
from streams.core.errors import MnemologError, UsageError
from streams.core.events import Outside
from streams.gateways.sources import STDIN
from streams.gateways.sources.shared import rest
from streams.logs.log import Duplicate, Outcome, Refused
from streams.logs.sqlite import FAILURES, looked_at, spaces_in

if TYPE_CHECKING:
    from streams.gateways.sources import Item

BATCH = 1000
"""Events per append: what waits for one durable write."""
BATCH_BYTES = 16 * 1024 * 1024
"""Bytes per append: long lines are held in small number."""
LONGEST_NAME = 200
"""Bytes of a file's name behind which there is room for more: systems take 255."""
TOLD = 1000
"""Faults kept for the report; all are counted, and all rejected lines are in the rejects file."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one line: a fault of it, or that it was known."""

    file: str
    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.field}: {self.reason}" if self.field else f"{place}: {self.reason}"


@dataclass(slots=True)
class Report:
    """What became of everything that was fed."""

    added: int = 0
    known: int = 0
    """Were in the log already."""
    repeats: list[Told] = field(default_factory=list)
    """The first `TOLD` of these."""
    rejected: int = 0
    faults: list[Told] = field(default_factory=list)
    """The first `TOLD` of them."""
    after: dict[int, int] = field(default_factory=dict)
    """By partition of the log: the newest offset of what it has now."""
    erased: int = 0
    """Were erased from the log, and stay so."""
    rejects: list[str] = field(default_factory=list)
    """The rejects files written."""
    unfinished: list[Told] = field(default_factory=list)
    """The last lines of files that are still being written."""


class Rejects:
    """The rejects files of one feed: beside each file fed, or the one that was asked for.

    A file appears when it is whole, and never in place of another: yesterday's rejects may have been mended by hand.
    """

    def __init__(self, target: Path | None = None) -> None:
        self.target = target
        self._open: dict[Path, IO[bytes]] = {}

    def add(self, source: str, raw: bytes | IO[bytes]) -> None:
        """Keeps a rejected line. Raises UsageError where that cannot be written."""
        path = self.target or _beside(Path("stdin" if source == STDIN else source))
        if not raw:
            return
        try:
            if path not in self._open:
                self._open[path] = _partial(path).open("wb")
            out = self._open[path]
            if isinstance(raw, bytes):
                out.write(raw)
            else:
                shutil.copyfileobj(raw, out)
            out.write(b"\n")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}", "choose another with --rejects") from error

    def close(self) -> list[str]:
        """Puts the files in their places; where they are."""
        written = []
        while self._open:
            path, out = self._open.popitem()
            try:
                out.close()
                written.append(str(_settle(_partial(path), path)))
            except OSError as error:
                _partial(path).unlink(missing_ok=True)
                raise UsageError(
                    f"{path} cannot be written: {error.strerror}", "choose another with --rejects"
                ) from error
        return written


def _beside(source: Path) -> Path:
    """Where the rejects of a file go; under a shorter name where its own leaves no room for what is put behind it."""
    name = source.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = f"{hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()}"
    return source.with_name(f"{name}.rejects.jsonl")


def _partial(path: Path) -> Path:
    """Of this process alone: several may feed one file at once."""
    return path.with_name(f"{path.name}.{os.getpid()}.partial")


def _settle(partial: Path, path: Path) -> Path:
    """Gives a finished file the name `path`, or the first free number where other rejects lie there already."""
    stem = path.name.removesuffix(".jsonl")
    for candidate in (path, *(path.with_name(f"{stem}.{n}.jsonl") for n in range(2, 10_000))):
        with suppress(FileExistsError):
            os.link(partial, candidate)  # unlike a rename it takes nobody's place
            partial.unlink()
            return candidate
        if _same(candidate, partial):
            partial.unlink()
            return candidate
    return partial


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        return all(a == b for a, b in zip(_chunks(left), _chunks(right), strict=True))


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(1024 * 1024):
        yield chunk


def feed(
    append: Callable[[Sequence[Outside]], list[Outcome]],
    items: Iterable[Item],
    rejects: Rejects,
    told: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Appends what `items` holds. `told` is called after each batch, when all that the report counts is durable.

    Raises what `append` raises; the batches before are in the log, and feeding again adds the rest.
    """
    report = Report()
    batch: list[Accepted] = []
    size = 0
    try:
        for item in items:
            if isinstance(item, Reject):
                _reject(item, report, rejects)
                continue
            # Why once: all turns of a conversation that came as one value share its bytes.
            size += 0 if batch and batch[-1].raw is item.raw else len(item.raw)
            batch.append(item)
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                _append(append, batch, report, rejects)
                told(report)
                batch, size = [], 0
        _append(append, batch, report, rejects)
    except MnemologError as error:
        so_far = f"; before that {report.added:,} were added and {report.known:,} were known already"
        raise type(error)(f"{error}{so_far}", error.way_out) from error
    finally:
        report.rejects = rejects.close()
    told(report)
    return report


def _append(
    append: Callable[[Sequence[Outside]], list[Outcome]], batch: list[Accepted], report: Report, rejects: Rejects
) -> None:
    if not batch:
        return
    for item, outcome in zip(batch, append([item.event for item in batch]), strict=True):
        if isinstance(outcome, Refused) and outcome.taken and item.is_named:
            report.known += 1
            if item.pieces is not None:
                new = rest(item.pieces(), lambda piece: isinstance(append([piece.event])[0], Duplicate))
                _append(append, new, report, rejects)
            continue
        if isinstance(outcome, Refused) and outcome.erased:  # what was erased comes into no other file either
            report.erased += 1
            continue
        if isinstance(outcome, Refused):
            _reject(Reject(item.source, item.line, item.raw, [_fault(outcome.reason)]), report, rejects)
            continue
        report.after[outcome.partition] = max(outcome.offset, report.after.get(outcome.partition, 0))
        if isinstance(outcome, Duplicate):
            report.known += 1
            if len(report.repeats) < TOLD:
                report.repeats.append(Told(item.source, item.line, "", f"known already, as {item.event.id}"))
        else:
            report.added += 1


def places(log: Path, session: str | None = None) -> list[tuple[str, bool]]:
    """The spaces that a log has, each with whether something of `session` is in it (with None: whether anything is)."""
    if not log.exists():
        return []
    with suppress(*FAILURES), closing(looked_at(log)) as found:
        return spaces_in(found, session)
    return []  # whoever needs the log says what is wrong with it


def _fault(reason: str) -> Fault:
    """The log's reasons begin with the field they are about, where there is one."""
    field, colon, rest = reason.partition(": ")
    return Fault(field, rest) if colon and field.isidentifier() else Fault("line", reason)


def _reject(reject: Reject, report: Report, rejects: Rejects) -> None:
    if reject.is_unfinished:
        report.unfinished.append(Told(reject.source, reject.line, "", "is not whole yet: feed the file again later"))
        return
    report.rejected += 1
    for fault in reject.faults:
        if len(report.faults) < TOLD:
            report.faults.append(Told(reject.source, reject.line, fault.field, fault.reason))
    rejects.add(reject.source, reject.raw)
    if not isinstance(reject.raw, bytes):
        reject.raw.close()
