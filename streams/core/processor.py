"""The one idea: a processor is a pure fold, per space, from streams of events to a stream of its own.

    step(params, state, event, raw) -> events derived from it

`Processor` is a value; the same value runs in the embedded runtime, in a Kafka worker and in a replay (see driver).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Protocol, TypeVar

import orjson

from streams.core.params import Params
from streams.core.read_model import ReadModel
from streams.core.text import Text

P = TypeVar("P", bound="Params")
E = TypeVar("E")
R = TypeVar("R")
I = TypeVar("I")  # noqa: E741

Moment = Annotated[int, "UTC microseconds since 1970"]
"""A time in a derived event; stored as a timestamp."""


class Derived(Protocol):
    """What every derived event carries. `at` is UTC microseconds: of the event that caused it, or of the deadline."""

    space: str
    session: str
    at: int
    type: Any


@dataclass(slots=True)
class Raw(Generic[E]):
    """An event of the raw log as processors are given it, with what its words say and the time it is in its space."""

    event: E
    text: Text
    """The text features of a turn; NO_TEXT for any other event."""
    recorded_at: int
    """When the log recorded it, UTC microseconds; stays with the event in every copy of the log."""
    now: int = 0
    """The space's clock, UTC microseconds: the greatest `at` of its events so far, this one's included."""
    echo: int = 0
    """Characters of the turn as it was recorded that are left out here, for mnemolog itself had rendered them."""
    repeated: int = 0
    """Characters that are left out here, for they are a transcript of earlier turns; a memory keeps them."""


def derived_id(kind: str, space: str, first_turn: str, ordinal: int = 0) -> str:
    """The id of a derived thing: a hash of (space, kind, first turn, ordinal), so that every lineage can name it."""
    key = f"{space}\0{kind}\0{first_turn}\0{ordinal}".encode()
    return f"{kind}-{hashlib.blake2b(key, digest_size=8).hexdigest()}"


def r6(number: float) -> float:
    """Numbers in events are rounded to 1e-6, so that no platform's last bit reaches a digest."""
    return round(number, 6)


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
            record = self._live[key] = kind(**orjson.loads(value))
        return record

    def put(self, key: str, record: object) -> None:
        """Save `record` (a slots dataclass) at `key`."""
        keys = self._listed(key)
        if keys is not None and key not in self._live and (at := bisect_left(keys, key)) == bisect_right(keys, key):
            keys.insert(at, key)
        self._live[key] = record
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
        return self._keys.get(key[: key.find("/") + 1]) if self._keys else None

    def scan(self, prefix: str, kind: type[R], limit: int | None = None) -> list[tuple[str, R]]:
        """The records whose key begins with `prefix`, in key order, at most `limit` of them."""
        return [(key, record) for key in self.keys(prefix, limit) if (record := self.get(key, kind)) is not None]

    def keys(self, prefix: str, limit: int | None = None) -> list[str]:
        """The keys that begin with `prefix`, in order, at most `limit` of them. One shorter than "<family>/" takes as
        long as there are records."""
        family = prefix[: prefix.find("/") + 1]
        keys = self._keys.get(family)
        if keys is None:
            live = (key for key in self._live if key.startswith(family))
            keys = sorted({*live, *self._encoded.begin(family)})
            if family:
                self._keys[family] = keys
        found: list[str] = []
        for at in range(bisect_left(keys, prefix), len(keys)):
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


def _encoded(record: object) -> bytes:
    # Why the copy: what orjson returns keeps the 4 KB that it was written in, however short it is.
    return bytes(memoryview(orjson.dumps(record)))


Step = Callable[[P, State, E, Raw[Any]], Sequence[Derived]]
"""What a processor makes of one event, given its parameters, its state of the event's space, and the raw event that is
the cause (for an outside event: itself). State may change; nothing else does."""


@dataclass(frozen=True, slots=True)
class On(Generic[P]):
    """An event type that a processor takes, and its step for it; made by `on`. `kind` None: see `otherwise`."""

    kind: type | None
    step: Step[P, Any]


def on(kind: type[E], step: Step[P, E]) -> On[P]:
    """The processor takes events of this type."""
    return On(kind, step)


def otherwise(step: Step[P, Any]) -> On[P]:
    """The processor takes every outside event for which it has no step of its own: it has to know the time."""
    return On(None, step)


RAW = "turns"
"""The name of the raw log as a stream: the root of all others."""


@dataclass(frozen=True, slots=True)
class Processor(Generic[P]):
    """A pure fold from the streams it `reads` to its own. Its docstring is its module's."""

    name: str
    """Its name on topics, tables and the command line."""
    version: int
    """Rises with every change of what it derives."""
    params: type[P]
    takes: tuple[On[P], ...] = field(repr=False)
    """The event types it is called for, each with its step. For any other it is not called."""
    emits: tuple[type, ...]
    reads: tuple[str, ...] = (RAW,)
    """The streams that it takes events of: RAW, and processors that stand before it in the registry."""
    read_model: ReadModel = field(default=ReadModel(), repr=False)
    """What it offers to those who ask."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """Its share of the presets: values of parameters, by the name of the preset (see presets)."""


def params_of(processors: Iterable[Processor[Any]], stored: Mapping[str, Any]) -> dict[str, Params]:
    """Parameter objects of `processors` from plain values by name; defaults where there are none.

    Raises ValueError for a parameter that is unknown or out of range.
    """
    return {p.name: p.params.model_validate(stored.get(p.name, {})) for p in processors}


def _digest(value: object) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def lineages(processors: Iterable[Processor[Any]], params: Mapping[str, Params], root: object) -> dict[str, str]:
    """The lineage of every processor, by name, and that of the raw log under RAW.

    SHA-256 (16 hex digits of it) of the canonical JSON of its name, version, parameters and the lineages of what it
    reads. `root` says what the raw log is read with: event schema, upcasts, version of the text features.
    """
    found = {RAW: _digest(root)}
    for processor in processors:
        found[processor.name] = _digest(
            {
                "name": processor.name,
                "version": processor.version,
                "params": params[processor.name].model_dump(mode="json"),
                "reads": [found[stream] for stream in processor.reads],
            }
        )
    return found
