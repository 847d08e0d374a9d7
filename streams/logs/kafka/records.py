"""Events as Kafka records, and back.

Raw log: CloudEvents 1.0 Kafka binding, binary mode. Attributes are headers (`ce_specversion`, `ce_id`, `ce_type`,
`ce_source`, `ce_time`, `content-type`), the value is the event in JSON, the key is its space, murmur2 chooses the
partition. What any client wrote is validated here as at the edge, once; what is no event is `Broken`, with the reason.

Derived rows: one record for all that was made of one raw event. Its key is the space, its value a JSON object with an
array of rows for each processor; the header `offset` is that of the raw event (the partition is the record's own), and
one for each of the processors says its lineage. Each transaction ends with a record that has a header `progressed`: all
that is made of the raw log up to that offset stands before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import orjson
from aiokafka.partitioner import murmur2
from pydantic import ValidationError

from streams.core.driver import Record
from streams.core.edge import Edge, EdgeError, parse
from streams.core.events import (
    AT_APPEND,
    MAX_AHEAD,
    MAX_EVENT_BYTES,
    UPCASTS,
    NoteSettled,
    Outside,
    TurnRecorded,
    encode,
    iso,
    micros,
    validator,
)
from streams.core.processor import Derived, Processor
from streams.logs.log import hashed

Headers = Sequence[tuple[str, bytes]]
SOURCE = b"mnemolog"
JSON = b"application/json"
PROGRESSED = "progressed"
validator.rebuild()  # why here: it is built when first used, for which no message is to wait
_EDGE = Edge()
"""Why one for all: it holds only counts of events without id, and here an event without id is broken."""


class Message(Protocol):
    """What this module needs of an aiokafka record."""

    @property
    def partition(self) -> int:
        """Its partition."""

    @property
    def offset(self) -> int:
        """Its place in the partition."""

    @property
    def key(self) -> bytes | None:
        """Its key."""

    @property
    def value(self) -> bytes | None:
        """Its value."""

    @property
    def headers(self) -> Headers:
        """Its headers."""

    @property
    def timestamp(self) -> int:
        """Milliseconds since 1970."""


class Broken(NamedTuple):
    """A record that is no event, and why."""

    partition: int
    offset: int
    reason: str


class Read(NamedTuple):
    """A record of the raw log, validated."""

    partition: int
    offset: int
    recorded_at: int
    event: Outside
    value: bytes
    """The canonical bytes of the event, whatever the record's own were."""
    appended: int
    """When the broker appended the record: milliseconds since 1970."""

    def record(self) -> Record:
        """The record as every log gives it.

        Its hash is that of itself alone: no producer knows what stands before its record. The brokers keep what stands
        there; where they lost an end of it, and something else was appended, the newest record shows.
        """
        event = self.event
        own = hashed(b"", event.space, event.id, self.recorded_at, event.type, self.value)
        return Record(self.partition, self.offset, event.space, self.recorded_at, event.type, self.value, own)


class Derivation(NamedTuple):
    """What a processor made of one raw event."""

    processor: str
    offset: int
    """Of the raw event."""
    events: list[Derived]


class NotDerivedError(ValueError):
    """A record among derived rows that no worker wrote; says why."""


@lru_cache(maxsize=65_536)
def partition_of(space: str, partitions: int) -> int:
    """The partition of all that belongs to a space: murmur2 of its UTF-8 bytes, as Java clients have it."""
    return int(murmur2(space.encode()) & 0x7FFFFFFF) % partitions


# -- the raw log -------------------------------------------------------------------------------------------------------


def headers_of(event: Outside, recorded_at: int | None = None) -> list[tuple[str, bytes]]:
    """The headers of an event; `recorded_at` (UTC microseconds) where a copy keeps the time of the first recording."""
    found = [
        ("ce_specversion", b"1.0"),
        ("ce_id", event.id.encode()),
        ("ce_type", event.type.encode()),
        ("ce_source", SOURCE),
        ("ce_time", iso(event.at).encode()),
        ("content-type", JSON),
    ]
    return found if recorded_at is None else [*found, ("ce_recordedtime", iso(recorded_at).encode())]


def read(message: Message, partitions: int) -> Read | Broken:
    """The event in a record of the raw log, validated, completed from headers and key; or why there is none."""
    try:
        found = _canonical(message) or _completed(message)
        if isinstance(found, str):
            return Broken(message.partition, message.offset, found)
        event, value, stamp = found
        recorded_at = micros(stamp.decode()) if stamp else message.timestamp * 1000
    except EdgeError as error:
        return Broken(message.partition, message.offset, str(error))
    except UnicodeDecodeError:
        return Broken(message.partition, message.offset, "key or headers: are not UTF-8")
    except ValueError:
        return Broken(message.partition, message.offset, "header ce_recordedtime: is no ISO 8601 time since 1970")
    if event.at == AT_APPEND:
        event.at = recorded_at
        value = encode(event)
    reason = _misplaced(event, recorded_at, message, partitions)
    if reason:
        return Broken(message.partition, message.offset, reason)
    return Read(message.partition, message.offset, recorded_at, event, value, message.timestamp)


_Found = tuple[Outside, bytes, bytes | None]
"""An event, its canonical bytes, and the time of recording that its headers tell."""


def _canonical(message: Message) -> _Found | None:
    """What `_completed` gives for a record that needs no completion, in a third of the time; None for any other."""
    headers = dict(message.headers)
    value = message.value
    if headers.get("ce_specversion") != b"1.0" or not headers.get("ce_source") or value is None:
        return None
    try:
        event = validator.validate_json(value)
    except ValidationError:
        return None
    whole = not (event.parts if isinstance(event, TurnRecorded) else isinstance(event, NoteSettled))
    agrees = (
        event.space.encode() == message.key
        and event.id.encode() == headers.get("ce_id")
        and event.type.encode() == headers.get("ce_type")
    )
    if whole and agrees and event.at != AT_APPEND and len(value) <= MAX_EVENT_BYTES and encode(event) == value:
        return event, value, headers.get("ce_recordedtime")
    return None


def _completed(message: Message) -> _Found | str:
    """The event of a record by any client, validated as at the edge; or what is wrong. Raises EdgeError, too."""
    if message.key is None:
        return "key: is missing; it must be the space"
    if message.value is None:
        return "value: is null"
    said = {name: value.decode() for name, value in message.headers if name.startswith("ce_") and value is not None}
    for name in ("ce_specversion", "ce_id", "ce_type", "ce_source"):
        if not said.get(name):
            return f"header {name}: is missing"
    if said["ce_specversion"] != "1.0":
        return f"header ce_specversion: is {said['ce_specversion'][:20]!r}; must be 1.0"
    given = parse(message.value)
    for name, value in (("space", message.key.decode()), ("id", said["ce_id"]), ("type", said["ce_type"])):
        if given.setdefault(name, value) != value:
            return f"{name}: differs between the value and the {'key' if name == 'space' else 'headers'}"
    if given.get("at") is None and "ce_time" in said:
        given["at"] = said["ce_time"]
    while given["type"] in UPCASTS:
        given = UPCASTS[given["type"]](given)
    event = _EDGE.event(given)
    stamp = said.get("ce_recordedtime")
    return event, encode(event), None if stamp is None else stamp.encode()


def _misplaced(event: Outside, recorded_at: int, message: Message, partitions: int) -> str:
    """Why an event cannot be where or when it is; "" where it can."""
    place = partition_of(event.space, partitions)
    if place != message.partition:
        return f"partition: murmur2 of the key gives {place} of {partitions}, not {message.partition}"
    if event.at > recorded_at + MAX_AHEAD:
        return f"at: {iso(event.at)} lies more than 5 minutes after its recording ({iso(recorded_at)})"
    if recorded_at > message.timestamp * 1000 + MAX_AHEAD:
        return "header ce_recordedtime: lies more than 5 minutes after the record's own time"
    return ""


# -- derived rows ------------------------------------------------------------------------------------------------------

Output = tuple[bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]
"""Key, value and headers of a record."""
Makers = Mapping[str, Mapping[str, type]]
"""By processor: the classes of its events, by the `type` they carry."""


def derived_record(
    space: str, offset: int, made: Mapping[str, Sequence[Derived]], lineages: Mapping[str, str]
) -> Output:
    """The record of what processors made of the raw event at `offset`, by processor. One for all of them: a record
    costs brokers and readers more than the few rows in it."""
    headers = [("offset", b"%d" % offset), *((name, lineages[name].encode()) for name in made)]
    return space.encode(), orjson.dumps(made), headers


def progressed_record(offset: int) -> Output:
    """The record that ends a transaction: all that is made of the raw log up to `offset` stands before it."""
    return None, b"", [(PROGRESSED, b"%d" % offset)]


def makers(processors: Iterable[Processor[Any]]) -> Makers:
    """What makes events of processors again."""
    return {p.name: {_type_of(cls): cls for cls in p.emits} for p in processors}


def _type_of(cls: type) -> str:
    return next(str(field.default) for field in fields(cls) if field.name == "type")


def derived(message: Message, wanted: Mapping[str, str], known: Makers) -> list[Derivation] | int:
    """What a record among derived rows says: rows of the processors and lineages that are `wanted`, or the raw offset
    up to which all is told. Raises NotDerivedError for what no worker wrote."""
    headers = dict(message.headers)
    try:
        if PROGRESSED in headers:
            return int(headers[PROGRESSED])
        offset = int(headers["offset"])
        names = [name for name, lineage in headers.items() if name in wanted and wanted[name] == lineage.decode()]
        told = orjson.loads(message.value or b"") if names else {}
        return [Derivation(name, offset, _rows(told[name], known[name])) for name in names]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise NotDerivedError(f"{type(error).__name__}: {error}") from error


def _rows(told: Any, classes: Mapping[str, type]) -> list[Derived]:
    if not isinstance(told, list):
        raise ValueError("what a processor made is no list of rows")
    return [classes[said["type"]](**said) for said in told]
