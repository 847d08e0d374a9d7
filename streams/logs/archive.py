"""An archive of a log: sealed, typed Parquet files, one per partition and range of offsets, that any tool can read.

    archive.json                                                     the log's id and number of partitions
    partition=0/00000000000000000000-00000000000000065536.parquet    the offsets from the first up to the second

A file appears whole, by a rename, and is never written again: archiving once more adds what came since. Columns are
the fields of all outside events, by name, null where an event has no such field; `value` is the event as the log holds
it where that is not the canonical JSON of the other columns: under the key of its space, for example (see
`streams.logs.encryption`). From an archive, and the keys of its home, everything is made again, as from the log.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from projections.lock import take
from streams.core.driver import Record
from streams.core.errors import BusyError, LogError, UsageError
from streams.core.events import OUTSIDE, Micros, Outside, decode, encode
from streams.core.patterns import lazily
from streams.core.progress import Progress, no_progress
from streams.logs.encryption import Keys, is_sealed, key_of, unsealed
from streams.logs.log import HASH_BYTES, Log, Outcome, hash_at
from streams.logs.switch import remove
from streams.logs.whole import put

RANGE = 65_536
"""Offsets per file, at most."""
FORMAT = "2"
ABOUT = "archive.json"
GROUP_BYTES = 2**23
"""Of events that are held at once while a file is written."""
OTHERS = 60.0
"""Seconds that another process, which writes the same archive, is waited for."""
_FILE = lazily(r"(\d{20})-(\d{20})\.parquet")
_PLACE = {
    "partition": pa.int32(),
    "offset": pa.int64(),
    "type": pa.string(),
    "recorded_at": pa.timestamp("us", "UTC"),
    "hash": pa.binary(HASH_BYTES),
}
_VALUE = "value"


class Sealed(NamedTuple):
    """A file of an archive: the offsets start <= offset < stop of a partition."""

    partition: int
    start: int
    stop: int
    path: Path


# -- the columns -------------------------------------------------------------------------------------------------------


def _arrow(hint: Any) -> pa.DataType:
    """The type of a field's column; text (JSON) for what has none."""
    if hint == Micros:
        return pa.timestamp("us", "UTC")
    plain = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    known = {str: pa.string(), int: pa.int64(), float: pa.float64(), list[str]: pa.list_(pa.string())}
    if plain in known:
        return known[plain]
    if get_origin(plain) is Literal and {type(arg) for arg in get_args(plain)} == {str}:
        return pa.string()
    return pa.large_string()


def _schema() -> pa.Schema:
    """The columns of every file: places first, then all fields of all events in the order they are declared."""
    columns: dict[str, pa.DataType] = dict(_PLACE)
    for cls in OUTSIDE.values():
        hints = get_type_hints(cls, include_extras=True)
        for field in fields(cls):
            columns.setdefault(field.name, _arrow(hints[field.name]))
    return pa.schema([*columns.items(), (_VALUE, pa.binary())])


SCHEMA = _schema()
_JSON = {name for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True) if kind == pa.large_string()}
_FIELDS = {cls: [field.name for field in fields(cls) if field.name != "type"] for cls in OUTSIDE.values()}


def _row(record: Record) -> dict[str, Any]:
    if is_sealed(record.value):
        return {name: getattr(record, name) for name in (*_PLACE, "space", _VALUE)}
    event = decode(record.type, record.value)
    row = {name: getattr(event, name) for name in _FIELDS[type(event)]}
    row |= {name: orjson.dumps(row[name]).decode() for name in _JSON & row.keys()}
    row |= {"partition": record.partition, "offset": record.offset, "type": record.type, "hash": record.hash}
    row["recorded_at"] = record.recorded_at
    if event.type != record.type or encode(event) != record.value:
        row[_VALUE] = record.value
    return row


def _record(row: dict[str, Any]) -> Record:
    value = row[_VALUE]
    if value is None:
        cls = OUTSIDE[row["type"]]
        given = {name: row[name] for name in _FIELDS[cls]}
        value = encode(cls(**{n: orjson.loads(v) if n in _JSON else v for n, v in given.items()}))
    return Record(row["partition"], row["offset"], row["space"], row["recorded_at"], row["type"], value, row["hash"])


# -- writing -----------------------------------------------------------------------------------------------------------


def archive(log: Log, folder: Path, progress: Progress = no_progress) -> list[Sealed]:
    """Writes what the log has and the archive in `folder` lacks; the files that were added.

    Raises LogError for an archive of another log, UsageError for a folder that is no archive or cannot be written,
    BusyError while another process writes there.
    """
    with _alone(folder):
        return _added(log, folder, progress)


def renew(log: Log, folder: Path, former: Container[str]) -> None:
    """Goes on with an archive; writes it, or what was left of it, anew where it is of one of the logs `former`. Raises
    what `archive` does."""
    with _alone(folder):
        if (folder / ABOUT).exists() and log_of(folder) in former:
            for part in (*folder.glob("partition=*"), *folder.glob(".*.partial")):
                remove(part)
            _told(log.id, log.partitions, folder)
        _added(log, folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else writes the archive in a folder, which is made where there is none."""
    busy = BusyError(f"another process writes the archive {folder}", "wait for it")
    handle = -1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        with suppress(OSError):  # this file system has no such locks
            take(handle, OTHERS, lambda: busy)
        yield
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}", "choose another folder") from error
    finally:
        if handle >= 0:
            os.close(handle)


def _added(log: Log, folder: Path, progress: Progress = no_progress) -> list[Sealed]:
    id_ = log.id
    known = ArchiveLog(folder) if (folder / ABOUT).exists() else _begun(log, folder)
    if foreign := known.differs(log):
        raise LogError(f"{folder} {foreign}", "choose another folder")
    ends = [log.end(partition) for partition in range(log.partitions)]
    todo = [
        (partition, start, min(start + RANGE, end))
        for partition, end in enumerate(ends)
        for start in range(known.end(partition), end, RANGE)
    ]
    done, total, added = 0, sum(stop - start for _, start, stop in todo), []
    for partition, start, stop in todo:
        added.append(_seal(log, id_, folder, partition, start, stop))
        done += stop - start
        progress(done, total)
    return added


def _begun(log: Log, folder: Path) -> ArchiveLog:
    if any(folder.iterdir()):
        raise UsageError(f"{folder} is no archive, and not empty", "choose a folder that is empty or not there yet")
    _told(log.id, log.partitions, folder)
    return ArchiveLog(folder)


def _told(id_: str, partitions: int, folder: Path) -> None:
    about = {"format": FORMAT, "log_id": id_, "partitions": partitions}
    _write_whole(folder / ABOUT, lambda path: path.write_bytes(orjson.dumps(about, option=orjson.OPT_INDENT_2)))


def _seal(log: Log, id_: str, folder: Path, partition: int, start: int, stop: int) -> Sealed:
    told = {"log_id": id_, "partition": str(partition), "start": str(start), "stop": str(stop)}
    schema = SCHEMA.with_metadata({f"mnemolog.{key}": value for key, value in told.items()})

    def write(to: Path) -> None:
        with pq.ParquetWriter(to, schema, compression="zstd", write_page_checksum=True) as file:
            for rows in _groups(log.stored(partition, start, stop)):
                columns = [
                    pa.array([row.get(name) for row in rows], kind)
                    for name, kind in zip(schema.names, schema.types, strict=True)
                ]
                file.write_table(pa.table(columns, schema=schema))
        if log.id != id_:
            raise LogError("an erasure made a new log meanwhile", "archive again")

    path = folder / f"partition={partition}" / f"{start:020d}-{stop:020d}.parquet"
    path.parent.mkdir(exist_ok=True)
    _write_whole(path, write)
    return Sealed(partition, start, stop, path)


def _groups(records: Iterable[Record]) -> Iterator[list[dict[str, Any]]]:
    """The rows of records, so many at once as can be held well."""
    rows: list[dict[str, Any]] = []
    size = 0
    for record in records:
        rows.append(_row(record))
        size += len(record.value)
        if size >= GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _write_whole(path: Path, write: Any) -> None:
    """Has `write` make a file that is on the disk whole before it has its name."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        write(partial)
        put(partial, path)
    finally:
        partial.unlink(missing_ok=True)


# -- reading -----------------------------------------------------------------------------------------------------------


def log_of(folder: Path) -> str:
    """The id of the log that an archive is of. Raises OSError, ValueError, KeyError or TypeError where it is none."""
    return str(orjson.loads((folder / ABOUT).read_bytes())["log_id"])


class ArchiveLog:
    """An archive, read as the log it was made from. Nothing is appended to it."""

    def __init__(self, folder: Path, keys: Keys | None = None) -> None:
        """`keys` are those of the home that reads it.

        Raises UsageError where `folder` is no archive, LogError where a file of it is missing."""
        self.folder = folder
        self.keys = keys or Keys(folder)
        try:
            about = orjson.loads((folder / ABOUT).read_bytes())
            if about["format"] != FORMAT:
                raise UsageError(
                    f"{folder} is an archive of format {about['format']}, not {FORMAT}",
                    "archive the log anew into another folder",
                )
            self._id, self._partitions = str(about["log_id"]), int(about["partitions"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{folder} is no archive", "name a folder that `mnemolog archive` wrote") from error
        self._files = [self._sealed(partition) for partition in range(self._partitions)]

    def _sealed(self, partition: int) -> list[Sealed]:
        """The files of a partition, in order. Raises LogError where they leave a gap."""
        found: list[Sealed] = []
        for path in sorted((self.folder / f"partition={partition}").glob("*.parquet")):
            if named := _FILE.fullmatch(path.name):
                sealed = Sealed(partition, int(named[1]), int(named[2]), path)
                end = found[-1].stop if found else 0
                if sealed.start != end:
                    raise LogError(
                        f"{self.folder} lacks offsets {end} to {sealed.start} of partition {partition}",
                        "bring the missing file back, or archive the log anew into another folder",
                    )
                found.append(sealed)
        return found

    def differs(self, log: Log, whole: bool = False) -> str:
        """Why it is no archive of a log, as far as it goes, in words; "" where it is one. With `whole` each file is
        asked; else the last ones are, which files that were put there in another way do not concern."""
        if self.id != log.id or self.partitions != log.partitions:
            return f"is an archive of another log ({self.id})"
        for files in self._files:
            for sealed in files if whole else files[-1:]:
                offset, hash_ = self._last(sealed)
                if offset >= 0 and hash_at(log, sealed.partition, offset) != hash_:
                    return f"holds other events than the log in partition {sealed.partition}: an older log was restored"
        return ""

    def _last(self, sealed: Sealed) -> tuple[int, bytes]:
        """Offset and hash of the last record in a file; -1 and nothing where none is in it."""
        with self._reading(sealed) as file:
            if not file.metadata.num_rows:
                return -1, b""
            group = file.read_row_group(file.num_row_groups - 1, columns=["offset", "hash"])
            last = group.slice(group.num_rows - 1).to_pylist()[0]
            return last["offset"], last["hash"]

    @property
    def id(self) -> str:
        """The id of the log it was made from."""
        return self._id

    @property
    def partitions(self) -> int:
        """How many partitions that log has."""
        return self._partitions

    def append(self, events: Sequence[Outside]) -> list[Outcome]:
        """Raises LogError: an archive is sealed."""
        raise LogError(f"{self.folder} is an archive", "append to the log it was made from, then archive it again")

    def read(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The records from `start` up to `stop`; see `Log.read`. Raises LogError for a damaged file."""
        return unsealed(self.stored(partition, start, stop), self.keys.find)

    def unread(self) -> dict[str, str]:
        """The spaces whose keys are not here, by key."""
        records = (record for partition in range(self._partitions) for record in self.stored(partition, 0))
        found = {key_of(record.value): record.space for record in records if is_sealed(record.value)}
        return {key: space for key, space in found.items() if not self.keys.holds(key)}

    def holds(self, key: str) -> bool:
        """Whether what is under a key can be read."""
        return self.keys.holds(key)

    def stored(self, partition: int, start: int, stop: int | None = None) -> Iterator[Record]:
        """The same as they are stored; see `Log.stored`."""
        end = self.end(partition) if stop is None else stop
        for sealed in self._files[partition]:
            if sealed.stop > start and sealed.start < end:
                yield from self._records(sealed, start, end)

    def _records(self, sealed: Sealed, start: int, end: int) -> Iterator[Record]:
        with self._reading(sealed) as file:
            for batch in file.iter_batches(8192):
                times = [name for name in batch.schema.names if pa.types.is_timestamp(batch.schema.field(name).type)]
                offsets = batch.column("offset")
                plain = pa.table(batch).filter(pc.and_(pc.greater_equal(offsets, start), pc.less(offsets, end)))
                for name in times:
                    plain = plain.set_column(
                        plain.schema.get_field_index(name), name, plain.column(name).cast(pa.int64())
                    )
                yield from map(_record, plain.to_pylist())

    @contextmanager
    def _reading(self, sealed: Sealed) -> Iterator[pq.ParquetFile]:
        try:
            with pq.ParquetFile(sealed.path, page_checksum_verification=True) as file:
                if (file.schema_arrow.metadata or {}).get(b"mnemolog.log_id") != self._id.encode():
                    raise LogError(f"{sealed.path} belongs to another log", "take it out of the archive")
                yield file
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise LogError(
                f"{sealed.path} is damaged: {error}", "delete it and archive the log again: it is made anew"
            ) from error

    def end(self, partition: int) -> int:
        """The offset after the last that the archive holds."""
        return self._files[partition][-1].stop if self._files[partition] else 0

    def close(self) -> None:
        """Nothing is held open."""
