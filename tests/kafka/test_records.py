"""What any client may write to the raw log, and what becomes of it; derived events travel whole."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from processors import PROCESSORS
from streams.core.driver import fold
from streams.core.events import DAY, MINUTE, NoteSettled, Outside, TurnRecorded, encode, iso
from streams.logs.kafka.records import (
    Broken,
    Derivation,
    NotDerivedError,
    Read,
    derived,
    derived_record,
    makers,
    partition_of,
    progressed_record,
    read,
)
from tests.contracts.log_contract import NOW, turn
from tests.kafka.messages import PARTITIONS, Message, headers, message

TURN = turn("a")


def fields(**instead: Any) -> bytes:
    """A turn in JSON with other fields; None takes one away."""
    said = orjson.loads(encode(TURN)) | instead
    return orjson.dumps({name: value for name, value in said.items() if value is not None})


@pytest.mark.parametrize(
    ("space", "murmur2"), [("21", -973932308), ("foobar", -790332482), ("a-little-bit-long-string", -985981536)]
)
def test_the_partition_of_a_space_is_the_one_that_java_clients_choose(space: str, murmur2: int) -> None:
    # The hashes are those of Kafka's own tests.
    assert partition_of(space, 100) == (murmur2 & 0x7FFFFFFF) % 100


def test_what_this_program_writes_is_read_back_byte_for_byte() -> None:
    found = read(message(TURN), PARTITIONS)
    assert isinstance(found, Read)
    *told, own = found.record()
    assert told == [partition_of("s", PARTITIONS), 7, "s", NOW, TURN.type, encode(TURN)]
    assert len(own) == 16  # bytes of its hash


def test_a_record_of_a_copy_keeps_the_time_of_its_first_recording() -> None:
    found = read(message(TURN, NOW + MINUTE, timestamp=(NOW + DAY) // 1000), PARTITIONS)
    assert isinstance(found, Read)
    assert found.recorded_at == NOW + MINUTE


def test_another_client_may_leave_to_the_headers_what_they_say() -> None:
    value = orjson.dumps({"session": "session", "role": "user", "content": "hello"})
    found = read(message(TURN, value=value), PARTITIONS)
    assert isinstance(found, Read)
    assert found.event == TurnRecorded("s", "a", NOW, "session", "user", "user", "hello")
    assert found.value == encode(found.event)


def test_an_event_without_any_time_gets_that_of_its_record() -> None:
    found = read(message(TURN, value=fields(at=None), headers=headers(TURN, ce_time=None)), PARTITIONS)
    assert isinstance(found, Read)
    assert found.event.at == NOW
    assert found.value == encode(TURN)


@pytest.mark.parametrize(
    ("instead", "reason"),
    [
        ({"key": None}, "key: is missing"),
        ({"value": None}, "value: is null"),
        ({"value": b"hello"}, "is not JSON"),
        ({"value": b"\xff\xfe"}, "UTF-16"),
        ({"value": b"[]"}, "a list"),
        ({"value": b"[" * 100_000}, "line: "),
        ({"value": fields(role="boss")}, "role: "),
        ({"value": fields(content=7)}, "content: must be text"),
        ({"value": fields(mood="good")}, "mood: is no field"),
        ({"value": fields(session=None)}, "session: is missing"),
        ({"value": fields(id="b")}, "id: differs"),
        ({"value": fields(space="t")}, "space: differs"),
        ({"value": fields(type="note-taken.v1")}, "type: differs"),
        ({"value": fields(at=NOW + 6 * MINUTE)}, "5 minutes after its recording"),
        ({"headers": []}, "header ce_specversion: is missing"),
        ({"headers": headers(TURN, ce_id=None)}, "header ce_id: is missing"),
        ({"headers": headers(TURN, ce_specversion=b"0.3")}, "must be 1.0"),
        ({"headers": headers(TURN, ce_id=b"\xff")}, "not UTF-8"),
        ({"headers": headers(TURN, ce_type=b"turn-painted.v1"), "value": fields(type=None)}, "turn-painted.v1"),
        ({"headers": headers(TURN, ce_recordedtime=b"soon")}, "ce_recordedtime: is no ISO"),
        ({"headers": headers(TURN, ce_recordedtime=iso(NOW + DAY).encode())}, "after the record's own time"),
        ({"headers": headers(TURN, ce_time=b"soon"), "value": fields(at=None)}, "at: "),
        ({"key": "s\u0000".encode(), "value": fields(space=None)}, "space: "),
        ({"partition": (partition_of("s", PARTITIONS) + 1) % PARTITIONS}, "murmur2"),
    ],
)
def test_what_is_no_event_is_broken_and_says_why(instead: dict[str, Any], reason: str) -> None:
    found = read(message(TURN, **instead), PARTITIONS)
    assert isinstance(found, Broken)
    assert reason in found.reason
    assert found.offset == 7


def test_a_note_settled_that_names_nothing_is_broken_here_as_at_the_edge() -> None:
    found = read(message(NoteSettled("s", "n", NOW)), PARTITIONS)
    assert isinstance(found, Broken)


WANTED = {processor.name: f"{n:016x}" for n, processor in enumerate(PROCESSORS)}
KNOWN = makers(PROCESSORS)
OWNERS = {cls: processor.name for processor in PROCESSORS for cls in processor.emits}


def test_every_derived_event_travels_whole(talk: Any) -> None:
    rows = fold(PROCESSORS, talk(400))
    assert len({row.event.type for row in rows}) > 15
    for position, event in rows:
        name, other = OWNERS[type(event)], "activation"
        made = {name: [event, event], other: []}
        key, value, headers = derived_record(event.space, position.offset, made, WANTED)
        found = derived(Message(key, value, headers, position.partition), WANTED, KNOWN)
        assert found == [Derivation(name, position.offset, rows) for name, rows in made.items()]
        assert key == event.space.encode()


def test_progress_is_told_by_offset() -> None:
    key, value, headers = progressed_record(41)
    assert derived(Message(key, value, headers, 2), {}, {}) == 41


def test_rows_of_another_lineage_or_processor_are_not_read() -> None:
    key, value, headers = derived_record("s", 1, {"manifest": [], "activation": []}, dict.fromkeys(WANTED, "0" * 16))
    sent = Message(key, value, headers)
    assert derived(sent, {"manifest": "1" * 16}, KNOWN) == []
    assert derived(sent, {"network": "0" * 16}, KNOWN) == []
    assert derived(sent, {"manifest": "1" * 16, "activation": "0" * 16}, KNOWN) == [Derivation("activation", 1, [])]


@pytest.mark.parametrize(
    "spoiled",
    [
        {"headers": []},
        {"value": b"{}"},
        {"value": None},
        {"value": b"x"},
        {"value": b'{"manifest":[{"type":"odd.v1"}]}'},
    ],
)
def test_a_record_among_rows_that_no_worker_wrote_is_refused(talk: Any, spoiled: dict[str, Any]) -> None:
    event = fold(PROCESSORS[:1], talk(3))[0].event
    sent = Message(*derived_record("s", 0, {"manifest": [event]}, WANTED))
    for name, value in spoiled.items():
        setattr(sent, name, value)
    with pytest.raises(NotDerivedError):
        derived(sent, WANTED, KNOWN)


def test_a_turn_with_tool_calls_goes_the_long_way_and_arrives_the_same() -> None:
    event: Outside = TurnRecorded("s", "p", NOW, "session", "ann", "tool", "", [{"call": {"deep": [1, None]}}])
    found = read(message(event), PARTITIONS)
    assert isinstance(found, Read)
    assert found.value == encode(event)
