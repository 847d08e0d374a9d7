"""Dead letters: records that could not be folded, kept as they came, with the reason and the place they stand at.

A letter lies in a compacted topic under the place of the broken record, `partition:offset` of the raw log or
`topic:partition:offset` of another topic, so that two workers that find the same record broken leave one letter. Its
first seven headers are ours, in this order; the headers of the broken record follow, and its value is the letter's:

    reason      what is wrong
    topic, partition, offset
    key         the broken record's key; null where it had none
    value.2     `null` where the broken record had no value, `cut` where it is too large for a letter and stays in the
                log alone, else `bytes`
    timestamp   when the broker took the broken record: milliseconds since 1970

The sixth name tells the form: letters of before have `value` there, and no timestamp.

A letter that was fed again or dropped is settled: a record without value under its key lets compaction take it away,
and a mark under `settled/` and its key outlasts the workers of other lineages, who find the same record broken again.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer, TopicPartition

from streams.core.edge import Edge, parse
from streams.core.errors import LogError, MnemologError, UsageError, counted
from streams.core.events import Outside, iso
from streams.logs.kafka.connection import Connection, run, started
from streams.logs.kafka.records import Output
from streams.logs.kafka.topics import MAX_RECORD_BYTES, PRODUCER, whole
from streams.logs.log import Log, Refused, Stored

FORM = "value.2"
"""The name of the sixth header in letters of this form."""
NULL, BYTES, CUT = b"null", b"bytes", b"cut"
LARGEST = MAX_RECORD_BYTES - 64 * 1024
"""Bytes of a letter: its topic takes no more than the log does, and a letter says more than its record."""
SHORT = 16 * 1024
"""Bytes of the reason, the key, and the headers of a record, which a letter keeps though its value is too large."""
SETTLED = b"settled/"
Headers = list[tuple[str, bytes | None]]


class Letter(NamedTuple):
    """A broken record, and why it is broken."""

    name: str
    """Its place: `partition:offset`, or `topic:partition:offset` where that is not the raw log."""
    topic: str
    partition: int
    offset: int
    reason: str
    appended_at: int
    """When the broker took the record, UTC microseconds; where a letter does not tell, when it was set aside."""
    set_aside_at: int
    """UTC microseconds."""
    key: bytes | None
    value: bytes | None
    headers: Headers
    """The broken record's own."""

    def told(self) -> dict[str, Any]:
        """What it is, in a line."""
        return {
            "name": self.name,
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "reason": self.reason,
            "appended_at": iso(self.appended_at),
            "set_aside_at": iso(self.set_aside_at),
            "bytes": None if self.value is None else len(self.value),
        }

    def content(self) -> dict[str, Any]:
        """What came, as text; what is not UTF-8 is replaced, and `base64` holds the bytes."""
        return {
            "key": _text(self.key),
            "headers": {name: _text(value) for name, value in self.headers},
            "value": _text(self.value),
            "base64": None if self.value is None else base64.b64encode(self.value).decode(),
        }


class Refed(NamedTuple):
    """What became of a letter that was fed again."""

    name: str
    position: str | None
    """Where the event stands in the log; None where it was refused and the letter stays."""
    said: str


def name_of(topic: str, partition: int, offset: int, raw_topic: str) -> str:
    """What a letter is called."""
    place = f"{partition}:{offset}"
    return place if topic == raw_topic else f"{topic}:{place}"


def laid(topic: str, message: Any, reason: str, raw_topic: str) -> Output:
    """The letter for a broken record; `message` has an aiokafka record's partition, offset, key, value and headers."""
    ours: Headers = [
        ("reason", reason.encode()),
        ("topic", topic.encode()),
        ("partition", b"%d" % message.partition),
        ("offset", b"%d" % message.offset),
        ("key", message.key),
        (FORM, NULL if message.value is None else BYTES),
        ("timestamp", b"%d" % message.timestamp),
    ]
    key = name_of(topic, message.partition, message.offset, raw_topic).encode()
    # Why never null: in a compacted topic that would take the letter away.
    value, headers = message.value or b"", [*ours, *message.headers]
    if len(value) + _size(headers) > LARGEST:
        return key, b"", _cut(ours, message)
    return key, value, headers


def _cut(ours: Headers, message: Any) -> Headers:
    """The headers of a letter for a record that is larger than a letter can be, and so larger than any event is."""
    value = message.value or b""
    digest = hashlib.sha256(value).hexdigest()
    told = f"; too large for a letter: {counted(len(value), 'byte')} (SHA-256 {digest}) stay in the log"
    reason, *places, (_, key), (_, kind), timestamp = ours
    said = (reason[1] or b"")[:SHORT].decode(errors="ignore") + told
    return [
        ("reason", said.encode()),
        *places,
        ("key", key if len(key or b"") <= SHORT else None),
        (FORM, kind if message.value is None else CUT),
        timestamp,
        *(message.headers if _size(message.headers) <= SHORT else ()),
    ]


def _size(headers: Sequence[tuple[str, bytes | None]]) -> int:
    """Bytes that headers take, at most."""
    return sum(3 * len(name) + len(value or b"") + 10 for name, value in headers)


def letter_of(message: Any) -> Letter:
    """The letter in a record of the topic. Raises LogError for a record that is none."""
    headers: Headers = list(message.headers)
    try:
        (_, reason), (_, topic), (_, partition), (_, offset), (_, key), (form, kind), *others = headers
        appended = message.timestamp
        if form == FORM:
            (_, said), *others = others
            appended = int(said or b"")
        return Letter(
            message.key.decode(),
            (topic or b"").decode(),
            int(partition or b""),
            int(offset or b""),
            (reason or b"").decode(),
            appended * 1000,
            message.timestamp * 1000,
            key,
            None if kind in (NULL, CUT) else bytes(message.value),
            others,
        )
    except (ValueError, AttributeError) as error:
        raise LogError(
            f"the record at {message.topic} {message.partition}:{message.offset} is no dead letter: {error}",
            "let nothing but mnemolog write to that topic",
        ) from error


class Letters:
    """The dead letters of a log, which lie in one partition."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self.connection = connection
        self.topic = topic

    def all(self) -> list[Letter]:
        """Those that are not settled, oldest first. Raises LogError."""
        return run(self.connection, self._all())

    def named(self, name: str) -> Letter:
        """The letter of that name. Raises UsageError where there is none (any more)."""
        for letter in self.all():
            if letter.name == name:
                return letter
        raise UsageError(f"there is no dead letter {name!r}", "`mnemolog dead-letters` lists them")

    def settle(self, names: Sequence[str]) -> None:
        """Takes letters away, for ever. Raises LogError."""
        if names:
            run(self.connection, self._settle(names))

    async def _all(self) -> list[Letter]:
        letters: dict[str, Letter | None] = {}
        async for page in whole(self.connection, TopicPartition(self.topic, 0)):
            for message in page:
                _take(letters, message)
        return sorted(filter(None, letters.values()), key=lambda letter: (letter.set_aside_at, letter.name))

    async def _settle(self, names: Sequence[str]) -> None:
        async with started(AIOKafkaProducer(**self.connection.client(), **PRODUCER)) as producer:
            for name in names:
                # The mark first: a crash between the two leaves a letter that is not shown.
                await producer.send_and_wait(self.topic, key=SETTLED + name.encode(), value=b"{}")
                await producer.send_and_wait(self.topic, key=name.encode())


def _take(letters: dict[str, Letter | None], message: Any) -> None:
    """Adds a letter, or None for a settled one. The first one of a place stays: later ones are repetitions."""
    key = message.key or b""
    if key.startswith(SETTLED):
        letters[key.removeprefix(SETTLED).decode(errors="replace")] = None
    elif message.value is not None:
        letter = _told(message)
        letters.setdefault(letter.name, letter)


def _told(message: Any) -> Letter:
    """The letter in a record of the topic. Where somebody else wrote it, one that tells of that record itself.

    It is named by its place in the topic, for its key may be that of a letter.
    """
    try:
        return letter_of(message)
    except LogError as error:
        name = name_of(message.topic, message.partition, message.offset, "")
        return Letter(
            name,
            message.topic,
            message.partition,
            message.offset,
            str(error),
            message.timestamp * 1000,
            message.timestamp * 1000,
            message.key,
            message.value,
            list(message.headers),
        )


def event_of(letter: Letter, space: str, mended: bytes | None = None, id: str = "") -> Outside:
    """The event that a letter, or the mended bytes instead of its own, stands for, validated as at the edge.

    What the bytes leave out is taken from the broken record: its key is the space, its headers tell id, type and time.
    `space` is for records whose key tells none, which are refused without one; `id` replaces the event's id. Beside
    mended bytes, headers that cannot be read count for nothing. Raises UsageError for what is no event.
    """
    given = mended if mended is not None else letter.value
    if letter.name != f"{letter.partition}:{letter.offset}":
        raise UsageError(
            f"{letter.name} is no record of the log",
            f"`mnemolog dead-letters drop {letter.name}`: all that is derived is made from the log",
        )
    key = _decoded(letter.key)
    if key is None and not space:
        raise UsageError(
            f"the record at {letter.name} has no key{' in UTF-8' * (letter.key is not None)}, so it is not known whose "
            "it is", "name the space with --space"
        )  # fmt: skip
    if given is None:
        raise UsageError(f"the record at {letter.name} has no value", "give one with --value FILE, or drop the letter")
    try:
        fields = parse(given)
        said = {name: _decoded(value) for name, value in letter.headers if name.startswith("ce_") and value}
        if mended is None and None in said.values():
            raise UsageError("its headers are not UTF-8")
        for field, value in (("space", key), ("type", said.get("ce_type"))):
            if value:
                fields.setdefault(field, value)
        if id := id or fields.get("id") or said.get("ce_id") or "":
            fields["id"] = id
        if fields.get("at") is None:
            fields["at"] = said.get("ce_time") or said.get("ce_recordedtime") or iso(letter.appended_at)
        return Edge(space).event(fields)
    except MnemologError as error:
        fault = str(error)
    raise UsageError(
        f"{letter.name} is still no event: {fault}",
        f"`mnemolog dead-letters show {letter.name} --raw > FILE`, mend it, then feed it again with --value FILE",
    )


def refeed_all(
    log: Log, letters: Letters, chosen: Sequence[Letter], space: str, mended: bytes | None = None, id: str = ""
) -> list[Refed]:
    """Appends the events of letters and settles those that the log has then; the others say why not.

    Arguments as for `event_of`. Raises LogError.
    """
    done = [refeed(log, letter, space, mended, id) for letter in chosen]
    letters.settle([refed.name for refed in done if refed.position is not None])
    return done


def refeed(log: Log, letter: Letter, space: str, mended: bytes | None = None, id: str = "") -> Refed:
    """Appends the event of one letter, which is not settled by it. Raises LogError."""
    try:
        (outcome,) = log.append([event_of(letter, space, mended, id)])
    except UsageError as error:
        return Refed(letter.name, None, f"{error}: {error.way_out}")
    if isinstance(outcome, Refused):
        return Refed(letter.name, None, f"{outcome.reason}: give it another id with --id, or drop it")
    said = "appended" if isinstance(outcome, Stored) else "was in the log already"
    return Refed(letter.name, f"{outcome.partition}:{outcome.offset}", said)


def _decoded(value: bytes | None) -> str | None:
    """What bytes say; None for none, and for what is not UTF-8."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")
