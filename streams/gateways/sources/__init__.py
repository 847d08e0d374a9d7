"""Importers: formats of conversations, to events. An importer is one file here, registered by its name in `NAMES`.

An importer's module holds SOURCE, a `Source`: by what its files are known, and how to read one. Folders, archives,
standard input, progress and mended rejects are handled here, once. Imports nothing heavy, and what few inputs need
where they do: `mnemolog hook` reads transcripts before it asks a server, and every command's help names the formats.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

from streams.core.errors import UsageError

if TYPE_CHECKING:
    from streams.core.edge import Accepted, Edge, Reject

    Item: TypeAlias = Accepted | Reject

NAMES = (
    "claude-code", "codex", "gemini-cli", "chatgpt", "claude-ai", "otel", "langchain", "sharegpt", "gemini",
    "anthropic", "responses", "openai", "csv", "lines",
)  # fmt: skip
"""In the order in which they are tried where the format is to be found out: the most telling first, lines last."""
AUTO = "auto"
"""The format of each file is found out."""
Progress = Callable[[int], None]
"""Is told, now and then, how many bytes of all inputs were read."""

STDIN = "-"
PACKED = (".gz", ".zst", ".zip")
HEAD = 256 * 1024
"""Bytes by which a format is known."""
_CHUNK = 1024 * 1024
_TOLD_EVERY = 500
_TURN = {"space", "id", "at", "session", "agent", "role", "content", "parts", "reply_to", "type"}
_FACT = re.compile(r"[a-z]+(-[a-z]+)+(\.v\d+)?")
_OTHERS = {"sessionId", "messageId", "leafUuid"}
"""Fields that tell facts of others from our own."""
_REJECTS = re.compile(r"\.rejects(\.\d+)?\.jsonl$")


class Input(NamedTuple):
    """An open file and what it is called."""

    name: str
    """Its path, as reports and rejects name it; within an archive ARCHIVE!MEMBER."""
    session: str
    """The session of what says none itself: the file's path below the folder fed, without its suffix."""
    stream: IO[bytes]
    space: str = ""
    """The space that was asked for; "" where what is read may name its own."""
    agent: str = ""
    """Who the assistant is, where that was said."""
    sought: bool = False
    """Whether it was found in a folder or archive: then it is left out where its format is not known."""

    @property
    def is_lines(self) -> bool:
        """Whether the name says that each line is a JSON value."""
        return self.name == STDIN or _unpacked(self.name).endswith((".jsonl", ".ndjson"))


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
    marks: tuple[str, ...] = ()
    """Regular expressions, all of which the beginning of such a file has; none where it is known by nothing."""


def find(name: str) -> Source:
    """The importer of that name. Raises UsageError for none."""
    if name == AUTO:
        return _AUTO
    if name not in NAMES:
        raise UsageError(f"there is no format {name!r}", f"choose one of {', '.join(NAMES)}")
    found = import_module(f"streams.gateways.sources.{name.replace('-', '_')}").SOURCE
    assert isinstance(found, Source)
    return found


def detect(head: bytes, names: Iterable[str] = NAMES) -> str:
    """The name of the format that a file beginning so has, of `names`; "" for none that is known.

    Why by text: marks are names of fields between quotes, which talk about such files has with a backslash before.
    """
    if "lines" in names and _is_own(head):
        return "lines"
    text = head.decode(errors="replace")
    return next((name for name in names if (m := find(name).marks) and all(re.search(mark, text) for mark in m)), "")


def _is_own(head: bytes) -> bool:
    """Whether the first line is a turn or a fact as mnemolog takes them, whatever stands in its parts."""
    import orjson  # why here: help needs the names of formats alone

    try:
        first = orjson.loads(head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0])
    except ValueError:
        return False
    if not isinstance(first, dict):
        return False
    is_fact = isinstance(first.get("type"), str) and bool(_FACT.fullmatch(first["type"])) and not first.keys() & _OTHERS
    return is_fact or (first.keys() >= {"session", "role"} and first.keys() <= _TURN)


def _read_any(given: Input, edge: Edge) -> Iterator[Item]:
    """Reads a file in the format that it is found to have: lines of our own where nothing tells it."""
    stream = given.stream if hasattr(given.stream, "peek") else _buffered(given.stream)
    head = cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]
    name = detect(head)
    if name or given.is_lines:
        yield from find(name or "lines").read(given._replace(stream=stream), edge)
    elif not given.sought:
        from streams.core.edge import UTF_16, Fault, Reject

        if b"\0" in head and not head.startswith(UTF_16):
            yield Reject(given.name, 0, b"", [Fault("file", "is no text; --format says how it is to be read")])
            return
        yield from find("openai").read(given._replace(stream=stream), edge)


def _buffered(stream: object) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(cast(io.RawIOBase, stream), HEAD))


_AUTO = Source(AUTO, "found out, file by file (the default)", (".json", ".jsonl", ".ndjson", ".csv", ".tsv"), _read_any)


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
    return _is_wanted(path.name, source) and not hidden and path.is_file()


def _is_wanted(name: str, source: Source) -> bool:
    """Whether a file is read where the folder or archive that it lies in is fed."""
    if _REJECTS.search(name) or name.endswith(".meta.json"):
        return False
    return name.lower().endswith(".zip") or _unpacked(name).endswith(source.suffixes)


def _unpacked(name: str) -> str:
    """A file's name in small letters, as it would be if the file was not compressed."""
    name = name.lower()
    return next((name.removesuffix(suffix) for suffix in PACKED if name.endswith(suffix)), name)


def session_name(path: Path) -> str:
    """The session that a file stands for; a rejects file stands for the one that its file stood for."""
    if str(path) == STDIN:
        return "stdin"
    whole = path.with_name(_REJECTS.sub("", path.name))
    if whole.suffix.lower() in PACKED and whole.stem:
        whole = whole.with_suffix("")
    return whole.with_suffix("").as_posix()


def read(
    source: Source,
    paths: Sequence[Path],
    edge: Edge,
    stdin: IO[bytes],
    progress: Progress = lambda _: None,
    space: str = "",
) -> Iterator[Item]:
    """Everything in the files and folders at `paths`, in order. Raises UsageError for a path that cannot be read.

    What has no id gets one of its source: the edge's where it names one, else the file's name in what was asked for,
    so that the same file adds nothing when it is read again, wherever it lies. Standard input and pipes have no name:
    what they say is never taken for a repeat. `space` is the one that was asked for, "" where files may name their own.
    """
    done, named = 0, edge.source
    for path, stem in inputs(source, paths):
        session = edge.session or stem
        source_name = named or ("" if _is_named(path) else os.urandom(8).hex())
        if str(path) == STDIN:
            edge.begin(source_name)
            yield from source.read(Input(STDIN, session, stdin, space, edge.agent), edge)
            continue
        with _opened(path) as stream:
            for given in _members(path, session, stream, source):
                given = given._replace(space=space, agent=edge.agent, sought=given.sought or path not in paths)
                edge.begin(source_name or (given.session if given.name != str(path) else stem))
                _count_mended(source, path, given, edge)
                items = source.read(given, edge)
                while batch := list(islice(items, _TOLD_EVERY)):
                    yield from batch
                    progress(done + (stream.tell() if stream.seekable() else 0))
        done += path.stat().st_size if path.is_file() else 0


def _is_named(path: Path) -> bool:
    """Whether a path names what is read there: a pipe, and whatever a program is given open, is another each time."""
    return str(path) != STDIN and path.is_file() and path.parts[:2] not in (("/", "dev"), ("/", "proc"))


def _members(path: Path, session: str, stream: IO[bytes], source: Source) -> Iterator[Input]:
    """The files in a file: itself, unpacked, or those of an archive that are of this format."""
    if path.suffix.lower() != ".zip":
        yield Input(str(path), session, _plain(path.name, stream))
        return
    import zipfile

    try:
        with zipfile.ZipFile(stream) as archive:
            for name in sorted(archive.namelist()):
                if not _is_wanted(name, source) or name.lower().endswith(".zip"):
                    continue
                with archive.open(name) as member:
                    inner = session_name(Path(name))
                    yield Input(
                        f"{path}!{name.replace('/', '_')}", f"{session}/{inner}", _plain(name, member), sought=True
                    )
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}", "unpack it yourself and feed the folder") from error


def _plain(name: str, stream: IO[bytes]) -> IO[bytes]:
    """What a compressed file holds; any other file as it is."""
    name = name.lower()
    if name.endswith(".gz"):
        import gzip

        return _buffered(_Unpacked(name, cast(IO[bytes], gzip.GzipFile(fileobj=stream))))
    if name.endswith(".zst"):
        import pyarrow  # why this: a dependency already, and Python reads zstd from 3.14 on

        return _buffered(_Unpacked(name, pyarrow.CompressedInputStream(stream, "zstd")))
    return stream


class _Unpacked(io.RawIOBase):
    """A compressed stream, read in chunks. Raises UsageError where it is damaged."""

    def __init__(self, name: str, packed: IO[bytes]) -> None:
        self._name = name
        self._packed = packed
        self._chunk = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._chunk:
            try:
                self._chunk = memoryview(self._packed.read(_CHUNK))
            except (OSError, EOFError, ValueError) as error:
                raise UsageError(f"{self._name} cannot be unpacked: {error}", "what was read before is fed") from error
        size = min(len(buffer), len(self._chunk))
        buffer[:size] = self._chunk[:size]
        self._chunk = self._chunk[size:]
        return size


def total_bytes(source: Source, paths: Sequence[Path]) -> int | None:
    """How much there is to read; None where that cannot be known before."""
    files = [path for path, _ in inputs(source, paths)]
    return sum(path.stat().st_size for path in files) if all(path.is_file() for path in files) else None


def _count_mended(source: Source, path: Path, given: Input, edge: Edge) -> None:
    """Lets mended rejects count their occurrences after those of the file that they were rejected from.

    Why: of two equal lines without ids one may have been broken; mended, it is the second one, not the first again.
    """
    whole = path.with_name(_REJECTS.sub("", path.name))
    if whole != path and whole.is_file():
        with _opened(whole) as stream:
            for _ in source.read(given._replace(name=str(whole), stream=_plain(whole.name, stream)), edge):
                pass


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb", buffering=_CHUNK)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file that can be read") from error


class Line(NamedTuple):
    """A line of a file."""

    number: int
    """From 1."""
    raw: bytes
    """Without its end."""
    is_ended: bool
    """Whether it had one: the last line of a file may not."""


def bounded_lines(given: Input, first: bytes = b"", number: int = 0) -> Iterator[Line | Reject]:
    """The lines of a file that are not blank.

    `first` was read already, and `number` lines before it. No line is held that is longer than MAX_LINE_BYTES: it goes
    to a temporary file and comes as a reject.
    """
    from streams.core.edge import MAX_LINE_BYTES

    stream = given.stream
    while piece := first or stream.readline(MAX_LINE_BYTES):
        first = b""
        number += 1
        if len(piece) == MAX_LINE_BYTES and not piece.endswith(b"\n"):
            yield _too_long(given, number, piece)
        elif (line := piece.removesuffix(b"\n")) and not line.isspace():
            yield Line(number, line, line is not piece)


def _too_long(given: Input, number: int, piece: bytes) -> Reject:
    import tempfile

    from streams.core.edge import MAX_LINE_BYTES, Fault, Reject

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
