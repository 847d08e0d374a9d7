"""What a processor remembers: one space's records by key, read and put as objects, encoded when they leave memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from sys import intern
from typing import Any, Protocol, TypeVar

import orjson

R = TypeVar("R")
I = TypeVar("I")  # noqa: E741
SHORT = 40
"""Characters up to which a string is taken for a name that other records have, too."""


class Records(Protocol):
    """Encoded records by key: where a state finds what it does not hold decoded. A dict is one (see Held)."""

    def get(self, key: str, /) -> bytes | None:
        """The encoded record at `key`, None where there is none."""

    def update(self, records: Mapping[str, bytes], /) -> None:
        """Takes these in, in the place of those that have their keys."""

    def discard(self, key: str, /) -> None:
        """Forgets the record at `key`, if there is one."""

    def begin(self, prefix: str, /) -> Iterable[str]:
        """The keys that begin with `prefix`, in any order."""


class Held(dict[str, bytes]):
    """Encoded records in memory."""

    def discard(self, key: str) -> None:
        """Forgets the record at `key`, if there is one."""
        self.pop(key, None)

    def begin(self, prefix: str) -> Iterable[str]:
        """The keys that begin with `prefix`, in any order."""
        return [key for key in self if key.startswith(prefix)]


class State:
    """One space's own key-value view for one processor.

    Records are slots dataclasses whose fields are JSON values (str, int, float, bool, None, lists, dicts keyed by str):
    what is read back after a restart equals what was put. Mutate a record, then `put` it: only what was put is saved.
    A key is `<family>/<name>`, and what is scanned are keys of one family: of others no list of keys is kept, so that
    a record for each turn costs nothing until it is asked for. A key that begins with `due/<microseconds, 20 digits>/`
    asks the live runtime for a tick at that time (see clock).
    """

    __slots__ = ("_changed", "_encoded", "_indexes", "_keys", "_live")

    def __init__(self, encoded: Records | None = None) -> None:
        self._encoded: Records = Held() if encoded is None else encoded
        """As they were saved or came to rest: outdated where there is one in `_live`."""
        self._live: dict[str, Any] = {}
        self._changed: dict[str, None] = {}
        self._keys: dict[str, list[str]] = {}
        """The keys of each family that was scanned, sorted."""
        self._indexes: dict[object, Any] = {}

    def __len__(self) -> int:
        """How many records it holds decoded."""
        return len(self._live)

    def get(self, key: str, kind: type[R]) -> R | None:
        """The record at `key`, None where there is none."""
        record = self._live.get(key)
        if record is None:
            value = self._encoded.get(key)
            if value is None:
                return None
            record = self._live[key] = kind(**_shared(orjson.loads(value)))
        return record

    def put(self, key: str, record: object) -> None:
        """Save `record` (a slots dataclass) at `key`."""
        live = self._live
        if self._keys and key not in live and (keys := self._listed(key)) is not None:
            at = bisect_left(keys, key)
            if at == len(keys) or keys[at] != key:
                keys.insert(at, key)
        live[key] = record
        self._changed[key] = None

    def delete(self, key: str) -> None:
        """Forget the record at `key`, if there is one."""
        if self._live.pop(key, None) is None and self._encoded.get(key) is None:
            return
        self._encoded.discard(key)
        self._changed[key] = None
        keys = self._listed(key)
        if keys is not None:
            del keys[bisect_left(keys, key)]

    def _listed(self, key: str) -> list[str] | None:
        return self._keys.get(key[: key.find("/") + 1])

    def scan(self, prefix: str, kind: type[R], limit: int | None = None) -> list[tuple[str, R]]:
        """The records whose key begins with `prefix`, in key order, at most `limit` of them."""
        return [(key, record) for key in self.keys(prefix, limit) if (record := self.get(key, kind)) is not None]

    def keys(self, prefix: str, limit: int | None = None, after: str = "") -> list[str]:
        """The keys that begin with `prefix`, in order, at most `limit` of them; those after `after`, which begins with
        it, too. A prefix shorter than "<family>/" takes as long as there are records."""
        family = prefix[: prefix.find("/") + 1]
        keys = self._keys.get(family)
        if keys is None:
            live = (key for key in self._live if key.startswith(family))
            keys = sorted({*live, *self._encoded.begin(family)})
            if family:
                self._keys[family] = keys
        found: list[str] = []
        for at in range(bisect_right(keys, after) if after else bisect_left(keys, prefix), len(keys)):
            if not keys[at].startswith(prefix) or (limit is not None and len(found) >= limit):
                break
            found.append(keys[at])
        return found

    def index(self, build: Callable[[State], I]) -> I:
        """What `build` makes of the records, made once and kept up to date by its owner until the state is reloaded.

        An index must be a pure function of the records: rebuilt after a restart, it equals the one kept up to date.
        """
        try:
            found: I = self._indexes[build]
        except KeyError:
            found = self._indexes[build] = build(self)
        return found

    def changes(self) -> Iterator[tuple[str, bytes | None]]:
        """What was put (encoded) or deleted (None) since the last call, which this call ends."""
        changed, self._changed = self._changed, {}
        for key in changed:
            record = self._live.get(key)
            yield key, None if record is None else _encoded(record)

    def take(self, saved: Mapping[str, bytes]) -> None:
        """Takes saved records in. For a state of which nothing was asked yet."""
        self._encoded.update(saved)

    def rest(self) -> None:
        """Encodes all records and forgets what was made of them, as if it had just been loaded. Changes nothing else.

        For who has taken all `changes`, and wants the memory back that decoded records take.
        """
        self._encoded.update({key: _encoded(record) for key, record in self._live.items()})
        self._live, self._keys, self._indexes = {}, {}, {}


def _shared(fields: dict[str, Any]) -> dict[str, Any]:
    """The same fields, with one string in memory for all records that have the same name or list the same word.

    Why: decoded, each record has strings of its own, which are most of what it takes, and the same words come in many.
    """
    for name, value in fields.items():
        if type(value) is str:
            if len(value) <= SHORT:
                fields[name] = intern(value)
        elif type(value) is list and value and type(value[0]) is str:
            fields[name] = [intern(word) if type(word) is str else word for word in value]
    return fields


def _encoded(record: object) -> bytes:
    # Why the copy: what orjson returns keeps the 4 KB that it was written in, however short it is.
    return bytes(memoryview(orjson.dumps(record)))
