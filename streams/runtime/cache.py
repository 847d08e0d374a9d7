"""The cache of text features: columns in Parquet files, one per 32,768 offsets of a partition.

Keyed by the version of the features and by the log up to where a chunk ends. They are a pure function of one turn, so
chunks are filled in any order, by any process, and a lost file costs only time.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import fields
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from projections.aside import Warn, folder, set_aside, unheard
from projections.garbage import rare_collections
from streams.core.driver import raw_of
from streams.core.errors import FaultError
from streams.core.events import TurnRecorded
from streams.core.text import VERSION, Text
from streams.logs.log import Log, hash_at

CHUNK = 32_768
"""Offsets per file."""
SUM_BYTES = 16
"""At the end of a file: a hash of all before it, keyed with the log's hash where the chunk ends. Neither a bit that
flipped nor another log of that id must change what a replay derives."""

_FILE = re.compile(r"(\d+)-(\d{8})\.parquet", re.ASCII)
_ARROW: dict[Any, pa.DataType] = {
    int: pa.int64(),
    str: pa.string(),
    list[str]: pa.list_(pa.string()),
    list[int]: pa.list_(pa.int64()),
    list[float]: pa.list_(pa.float64()),
}
_HINTS = get_type_hints(Text)
_NAMES = [f.name for f in fields(Text)]
_TEXTS = [n if _HINTS[n] is str else f"{n}.list.element" for n in _NAMES if _HINTS[n] in (str, list[str])]
"""Columns of words, which are few: read with their dictionaries."""


class FeatureCache:
    """The features of a log's turns, in a folder."""

    def __init__(self, folder: Path, log: Log) -> None:
        self.folder = folder / f"text-{VERSION}-{log.id}"
        self._log = log

    def path(self, partition: int, chunk: int) -> Path:
        """Where a chunk lies, filled or not."""
        return self.folder / f"{partition}-{chunk:08d}.parquet"

    def missing(self, warn: Warn = unheard) -> list[tuple[int, int]]:
        """The (partition, chunk) of whole chunks not filled yet; the log's newest, partial one is never kept.

        A file that is damaged, or of another log, is set aside first.
        """
        with suppress(OSError):  # no room: then nothing is kept
            for place in (self.folder.parent, self.folder):
                folder(place, warn)
        set_aside(f"features of texts in {self.folder} are damaged, or of another log", warn, *self.damaged())
        return [
            (partition, chunk)
            for partition in range(self._log.partitions)
            for chunk in range(self._log.end(partition) // CHUNK)
            if not self.path(partition, chunk).exists()
        ]

    def damaged(self) -> list[Path]:
        """The files that `load` takes for missing ones."""
        named = [(path, found) for path in sorted(self.folder.glob("*")) if (found := _FILE.fullmatch(path.name))]
        return [path for path, found in named if self._whole(path, int(found[1]), int(found[2])) is None]

    def _whole(self, path: Path, partition: int, chunk: int) -> bytes | None:
        """What a file holds before its sum; None where that is not the sum of it. Raises FileNotFoundError."""
        try:
            whole = path.read_bytes()
        except IsADirectoryError:
            return None
        data = whole[:-SUM_BYTES]
        return data if whole[-SUM_BYTES:] == self._sum(data, partition, chunk) else None

    def fill(self, partition: int, chunk: int) -> None:
        """Computes a chunk's features and keeps them, where there is room."""
        offsets: list[int] = []
        texts: list[Text] = []
        with rare_collections():
            for record in self._log.read(partition, chunk * CHUNK, (chunk + 1) * CHUNK):
                with suppress(FaultError):  # whoever folds it sets it aside
                    raw = raw_of(record) if record.is_readable else None
                    if raw is not None and isinstance(raw.event, TurnRecorded):
                        offsets.append(record.offset)
                        texts.append(raw.text)
        columns: dict[str, pa.Array] = {"offset": pa.array(offsets, pa.int64())}
        for name in _NAMES:
            columns[name] = pa.array([getattr(text, name) for text in texts], _ARROW[_HINTS[name]])
        path = self.path(partition, chunk)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        written = pa.BufferOutputStream()
        pq.write_table(pa.table(columns), written, compression="zstd", compression_level=1)
        data = written.getvalue().to_pybytes()
        with suppress(OSError):
            try:
                partial.write_bytes(data + self._sum(data, partition, chunk))
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)

    def load(self, partition: int, chunk: int, offsets: list[int]) -> dict[int, Text]:
        """The features of the turns at `offsets` of a chunk, by offset; empty where the chunk is not filled.

        A damaged file, or one of another log, is taken for one that is not there.
        """
        path = self.path(partition, chunk)
        try:
            data = self._whole(path, partition, chunk)
        except FileNotFoundError:
            return {}
        if data is None:
            return {}
        table = pq.read_table(pa.BufferReader(data), read_dictionary=_TEXTS)
        table = table.filter(pc.is_in(table.column("offset"), pa.array(offsets, pa.int64())))
        columns = [_plain(table.column(name).combine_chunks()) for name in _NAMES]
        return {at: Text(*values) for at, *values in zip(table.column("offset").to_pylist(), *columns, strict=True)}

    def _sum(self, data: bytes, partition: int, chunk: int) -> bytes:
        log = hash_at(self._log, partition, (chunk + 1) * CHUNK - 1)
        return blake2b(data, key=log, digest_size=SUM_BYTES).digest()


def _plain(column: pa.Array) -> list[Any]:
    """A column as Python values, many times faster than value by value.

    Numbers come straight from the buffer, texts by their dictionary (so that equal words are one object), lists as
    slices of one flat list.
    """
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_list(column.type):
        ends = _numbers(column.offsets)
        flat = _plain(column.values)
        return [flat[a:b] if a != b else [] for a, b in pairwise(ends)]
    if pa.types.is_dictionary(column.type):
        words = column.dictionary.to_pylist()
        return [words[i] for i in _numbers(column.indices)]
    return _numbers(column)


def _numbers(column: pa.Array) -> list[Any]:
    """The values of a column of numbers without nulls."""
    data = column.buffers()[1]
    if data is None:
        return []
    code: Literal["i", "q", "d"] = "d" if column.type == pa.float64() else "i" if column.type == pa.int32() else "q"
    return memoryview(data).cast(code)[column.offset : column.offset + len(column)].tolist()
