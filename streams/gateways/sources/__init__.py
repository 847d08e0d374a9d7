"""Importers: formats of conversations, to events. An importer is one file here, registered by its name in `NAMES`.

An importer's module holds SOURCE, a `Source`: how to read one open file. Folders, standard input, progress and mended
rejects are handled here, once.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from streams.core.edge import MAX_LINE_BYTES, Accepted, Edge, Fault, Reject
from streams.core.errors import UsageError

NAMES = ("lines", "openai")

Item = Accepted | Reject
Progress = Callable[[int], None]
"""Is told, now and then, how many bytes of all inputs were read."""

STDIN = "-"
_CHUNK = 1024 * 1024
_TOLD_EVERY = 500
_REJECTS = re.compile(r"\.rejects(\.\d+)?\.jsonl$")


class Input(NamedTuple):
    """An open file and what it is called."""

    name: str
    """Its path, as reports and rejects name it."""
    session: str
    """The session of what says none itself: the file's path below the folder fed, without its suffix."""
    stream: IO[bytes]


class Reader(Protocol):
    """Reads one file: what it holds becomes events, or rejects that can be mended and fed again in the same format."""

    def __call__(self, given: Input, edge: Edge) -> Iterator[Item]: ...


class Source(NamedTuple):
    """A format."""

    name: str
    about: str
    suffixes: tuple[str, ...]
    """Of the files that are read where a folder is fed."""
    read: Reader


def find(name: str) -> Source:
    """The importer of that name. Raises UsageError for none."""
    if name not in NAMES:
        raise UsageError(f"there is no format {name!r}", f"choose one of {', '.join(NAMES)}")
    found = import_module(f"streams.gateways.sources.{name}").SOURCE
    assert isinstance(found, Source)
    return found


def inputs(source: Source, paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """The files to read, with the session each one stands for, in order of their names. Raises UsageError for none."""
    found: list[tuple[Path, str]] = []
    for path in paths:
        if str(path) == STDIN or path.is_file() or path.is_fifo() or path.is_char_device():
            found.append((path, session_name(Path(path.name))))
        elif path.is_dir():
            within = sorted(p for p in path.rglob("*") if _is_input(p, path, source))
            found += [(p, session_name(p.relative_to(path))) for p in within]
        else:
            raise UsageError(f"there is no file {path}", "name a file, a folder, or - for standard input")
    if not found:
        raise UsageError("there is nothing to read", f"files of this format end in {' or '.join(source.suffixes)}")
    return found


def _is_input(path: Path, folder: Path, source: Source) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    wanted = path.suffix.lower() in source.suffixes and not _REJECTS.search(path.name)
    return wanted and not hidden and path.is_file()


def session_name(path: Path) -> str:
    """The session that a file stands for; a rejects file stands for the one that its file stood for."""
    if str(path) == STDIN:
        return "stdin"
    whole = path.with_name(_REJECTS.sub("", path.name))
    return whole.with_suffix("").as_posix()


def read(
    source: Source,
    paths: Sequence[Path],
    edge: Edge,
    stdin: IO[bytes],
    progress: Progress = lambda _: None,
) -> Iterator[Item]:
    """Everything in the files and folders at `paths`, in order. Raises UsageError for a path that cannot be read."""
    done = 0
    for path, stem in inputs(source, paths):
        session = edge.session or stem
        if str(path) == STDIN:
            yield from source.read(Input(STDIN, session, stdin), edge)
            continue
        _count_mended(source, path, session, edge)
        with _opened(path) as stream:
            items = source.read(Input(str(path), session, stream), edge)
            while batch := list(islice(items, _TOLD_EVERY)):
                yield from batch
                progress(done + (stream.tell() if stream.seekable() else 0))
        done += path.stat().st_size if path.is_file() else 0


def total_bytes(source: Source, paths: Sequence[Path]) -> int | None:
    """How much there is to read; None where that cannot be known before."""
    files = [path for path, _ in inputs(source, paths)]
    return sum(path.stat().st_size for path in files) if all(path.is_file() for path in files) else None


def _count_mended(source: Source, path: Path, session: str, edge: Edge) -> None:
    """Lets mended rejects count their occurrences after those of the file that they were rejected from.

    Why: of two equal lines without ids one may have been broken; mended, it is the second one, not the first again.
    """
    whole = path.with_name(_REJECTS.sub("", path.name))
    if whole != path and whole.is_file():
        with _opened(whole) as stream:
            for _ in source.read(Input(str(whole), session, stream), edge):
                pass


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb", buffering=_CHUNK)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file that can be read") from error


def bounded_lines(given: Input, first: bytes = b"") -> Iterator[tuple[int, bytes] | Reject]:
    """The lines of a file that are not blank, numbered from 1, without their ends.

    `first` was read already. No line is held that is longer than MAX_LINE_BYTES: it goes to a temporary file and comes
    as a reject.
    """
    stream, number = given.stream, 0
    while piece := first or stream.readline(MAX_LINE_BYTES):
        first = b""
        number += 1
        if len(piece) == MAX_LINE_BYTES and not piece.endswith(b"\n"):
            yield _too_long(given, number, piece)
        elif (line := piece.removesuffix(b"\n")) and not line.isspace():
            yield number, line


def _too_long(given: Input, number: int, piece: bytes) -> Reject:
    spill = tempfile.TemporaryFile()  # noqa: SIM115 - handed on; closed when the reject is dropped
    size = 0
    while piece:
        ended = piece.endswith(b"\n")
        size += spill.write(piece.removesuffix(b"\n"))
        if ended:
            break
        piece = given.stream.readline(_CHUNK)
    spill.seek(0)
    reason = f"is {size:,} bytes long; at most {MAX_LINE_BYTES:,} are read"
    return Reject(given.name, number, spill, [Fault("line", reason)])
