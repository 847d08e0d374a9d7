"""Columns of a space's documents in memory: arrays that grow, and the ids beside them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from projections.recall import file
from streams.core.text.within import PER_TOKEN

STORED: dict[str, Any] = {
    "kind": np.int8, "length": np.int32, "session": np.int32, "speaker": np.int32, "flags": np.int32,
    "first": np.int32, "last": np.int32, "name": np.uint32, "at": np.int64, "position": np.int64,
    "tokens": np.int16,
}  # fmt: skip
"""Columns that are stored, in this order. `first` and `last`: the turns that the document was made of, -1 for unknown.
`name`: a hash of its kind and id. `tokens`: see `plain_tokens`; 0 for what is no turn, or says more than its words."""
MADE: dict[str, Any] = {"before": np.int32, "after": np.int32, "ended": np.int64}
"""Columns that are made when a space is loaded: later documents change them."""
WIDTH: int = sum(np.dtype(kind).itemsize for kind in STORED.values())
IN_MEMORY: int = WIDTH + sum(np.dtype(kind).itemsize for kind in MADE.values())
NEVER = int(np.iinfo(np.int64).max)
PLAIN = 2_000
"""Characters of the longest turn whose tokens are kept: a longer one may be cut short, whatever room there is."""
LATE = 8192
"""Ids kept one by one before they are packed: one costs 70 bytes as text, 20 packed."""


class Columns:
    """Arrays of one length that grow together. A view taken before is not touched by growth."""

    def __init__(self) -> None:
        self.count = 0
        self._room = 0
        self._arrays: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, kind in (STORED | MADE).items()}
        self._seen: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column as long as there are documents."""
        found = self._seen.get(name)
        if found is None:
            found = self._seen[name] = self._arrays[name][: self.count]
        return found

    def add(self, stored: dict[str, NDArray[Any]]) -> None:
        """Appends rows; what is made is -1, and never ended."""
        more = len(stored["kind"])
        start, stop = self.count, self.count + more
        if stop > self._room:
            self._grow(stop)
        for name in STORED:
            self._arrays[name][start:stop] = stored[name]
        self._arrays["before"][start:stop] = -1
        self._arrays["after"][start:stop] = -1
        self._arrays["ended"][start:stop] = NEVER
        self.count = stop
        self._seen = {}

    def _grow(self, needed: int) -> None:
        self._room = max(needed + needed // 4, 64)
        for name, array in self._arrays.items():
            grown = np.empty(self._room, array.dtype)
            grown[: self.count] = array[: self.count]
            self._arrays[name] = grown

    def memory(self) -> int:
        """Bytes."""
        return int(self._room * IN_MEMORY + 3000)

    def packed(self, start: int, stop: int) -> bytes:
        """The stored columns of documents start <= document < stop."""
        return b"".join([self._arrays[name][start:stop].tobytes() for name in STORED])


def unpacked(data: bytes, count: int) -> dict[str, NDArray[Any]]:
    """What `Columns.packed` was given."""
    if len(data) != count * WIDTH:
        raise ValueError("columns are cut off")
    found, at = {}, 0
    for name, kind in STORED.items():
        found[name] = np.frombuffer(data, kind, count, at)
        at += count * found[name].itemsize
    return found


class Texts:
    """A short text per document: packed as long as nobody looks, since few are ever looked at."""

    def __init__(self) -> None:
        self.memory = 0
        """Bytes."""
        self._firsts: list[int] = []
        self._packed: list[tuple[bytes, NDArray[np.int64]]] = []
        self._late: list[str] = []
        self._start = 0
        """The document of the first late one."""

    def __getitem__(self, document: int) -> str:
        if document >= self._start:
            return self._late[document - self._start]
        at = bisect_right(self._firsts, document) - 1
        data, ends = self._packed[at]
        place = document - self._firsts[at]
        return data[ends.item(place) : ends.item(place + 1) - 1].decode()

    def add(self, texts: Iterable[str]) -> None:
        """Appends texts one by one."""
        before = len(self._late)
        self._late.extend(texts)
        self.memory += 80 * (len(self._late) - before)
        if len(self._late) >= LATE:
            self._pack()

    def add_packed(self, data: bytes, count: int) -> None:
        """Appends what `file.joined` made of `count` texts."""
        if count < LATE // 8:
            self.add(file.split(data))
            return
        if self._late:
            self._pack()
        ends = file.ends(data)
        if len(ends) != count + 1:
            raise ValueError("ids are cut off")
        self._firsts.append(self._start)
        self._packed.append((data, ends))
        self._start += count
        self.memory += len(data) + 8 * count

    def _pack(self) -> None:
        data, count = file.joined(self._late), len(self._late)
        self._late = []
        self.memory -= 80 * count
        ends = file.ends(data)
        self._firsts.append(self._start)
        self._packed.append((data, ends))
        self._start += count
        self.memory += len(data) + 8 * count

    def of(self, start: int, stop: int) -> list[str]:
        """The texts of documents start <= document < stop."""
        if start >= self._start:
            return self._late[start - self._start : stop - self._start]
        return [self[document] for document in range(start, stop)]


def plain_tokens(content: str, tokens: int) -> int:
    """The tokens of a turn's words where they are what it costs at least to show all of them, and all are shown
    wherever so many fit; 0 where only the words can tell: in a long text, or where white space costs more."""
    return tokens if len(content) <= PLAIN and len(content) < PER_TOKEN * tokens else 0


def named(kind: int, id: str) -> int:
    """The hash under which a document is found by its id."""
    return crc32(id.encode(), kind)


class Names:
    """Finds documents by the hash of their ids.

    Why not a dict: at a million documents it holds 100 MB. The old ones lie sorted, the new ones in a dict until they
    are an eighth of all; so what sorting costs is spread out.
    """

    def __init__(self, hashes: NDArray[np.uint32]) -> None:
        self._late: dict[int, list[int]] = {}
        self._sort(hashes)

    def _sort(self, hashes: NDArray[np.uint32]) -> None:
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._sorted = hashes[self._order]
        self._late.clear()
        self._count = len(hashes)

    def add(self, hashes: NDArray[np.uint32]) -> None:
        """Takes up those of documents added since; `hashes` are all there are now."""
        if len(hashes) == self._count:
            return
        for document, hash_ in enumerate(hashes[self._count :].tolist(), self._count):
            self._late.setdefault(hash_, []).append(document)
        self._count = len(hashes)
        if self._count - len(self._order) > max(LATE, len(self._order) // 8):
            self._sort(hashes)

    def candidates(self, hashes: Sequence[int]) -> Iterator[list[int]]:
        """The documents with each of some hashes, the newest first."""
        places = self._sorted.searchsorted(np.array(hashes, np.uint32)).tolist()
        for hash_, place in zip(hashes, places, strict=True):
            found = []
            while place < len(self._sorted) and self._sorted.item(place) == hash_:
                found.append(self._order.item(place))
                place += 1
            yield [*found, *self._late.get(hash_, ())][::-1]

    def memory(self) -> int:
        """Bytes."""
        return len(self._order) * 8 + 150 * (self._count - len(self._order))
