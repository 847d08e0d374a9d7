"""Dead letters: what was broken is kept as it came, and can be mended and fed again."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import CompletedProcess

import orjson
import pytest
from aiokafka import AIOKafkaProducer

from streams.core.errors import LogError, UsageError
from streams.core.events import AT_APPEND, TurnRecorded
from streams.logs.kafka.connection import Connection, run, started
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.topics import MAX_RECORD_BYTES, PRODUCER, Names, create
from streams.runtime.kafka.dead_letters import Letter, Letters, event_of, laid, letter_of, name_of, refeed_all
from tests import processes

TURN = {"session": "x", "role": "user", "content": "Why is it slow?"}


@dataclass
class Message:
    """A record as aiokafka gives it."""

    value: bytes | None
    partition: int = 1
    offset: int = 17
    key: bytes | None = b"shop"
    headers: list[tuple[str, bytes | None]] = field(default_factory=lambda: [("ce_id", b"t1"), ("empty", None)])
    timestamp: int = 1_700_000_000_000
    topic: str = "dead"


def letter(message: Message, topic: str = "turns") -> Letter:
    """The letter of a record, after its way through the topic."""
    key, value, headers = laid(topic, message, "value: is not JSON", "turns")
    return letter_of(Message(value, 0, 0, key, list(headers)))


@pytest.mark.parametrize("value", [b"\xff\x00 not JSON", b"", None])
@pytest.mark.parametrize("key", [b"shop", b"\xff", None])
def test_a_letter_keeps_key_value_and_headers_as_they_came(value, key):
    found = letter(Message(value, key=key))
    assert (found.value, found.key, found.headers) == (value, key, [("ce_id", b"t1"), ("empty", None)])
    assert (found.topic, found.partition, found.offset, found.reason) == ("turns", 1, 17, "value: is not JSON")


def test_the_headers_of_a_broken_record_cannot_pose_as_ours():
    found = letter(Message(b"x", headers=[("reason", b"all is well"), ("topic", b"elsewhere")]))
    assert (found.reason, found.topic) == ("value: is not JSON", "turns")
    assert found.headers == [("reason", b"all is well"), ("topic", b"elsewhere")]


@pytest.mark.parametrize(
    ("value", "headers", "reason", "kept"),
    [
        (bytes(MAX_RECORD_BYTES - 90), [("ce_id", b"t1")], "is not JSON", [("ce_id", b"t1")]),
        (b"x", [("big", bytes(MAX_RECORD_BYTES - 90))], "is not JSON", []),
        (b"x", [("", b"")] * 1_800_000, "is not JSON", []),
        (bytes(MAX_RECORD_BYTES - 90), [], "x" * 1_000_000, []),
    ],
    ids=["value", "header", "headers", "reason"],
)
def test_a_record_that_is_too_large_for_a_letter_is_told_of_and_stays_in_the_log(value, headers, reason, kept):
    sent = laid("turns", Message(value, headers=headers), reason, "turns")
    assert sum(len(name) + len(said or b"") for name, said in sent[2]) < 100_000
    found = letter_of(Message(sent[1], 0, 0, sent[0], list(sent[2])))
    assert (found.name, found.topic, found.key, found.value, found.headers) == ("1:17", "turns", b"shop", None, kept)
    assert found.reason.startswith(reason[:1000])
    assert f"{len(value):,} byte" in found.reason
    assert hashlib.sha256(value).hexdigest() in found.reason
    with pytest.raises(UsageError, match="has no value") as told:
        event_of(found, "")
    assert "--value FILE" in told.value.way_out
    assert event_of(found, "", orjson.dumps(TURN | {"id": "t2"})).space == "shop"


def test_a_letter_is_named_by_its_place():
    assert name_of("turns", 1, 17, "turns") == "1:17"
    assert name_of("turns.manifest.abc", 1, 17, "turns") == "turns.manifest.abc:1:17"


def test_a_record_that_is_no_letter_is_told():
    with pytest.raises(LogError, match="no dead letter"):
        letter_of(Message(b"x", headers=[]))


def test_what_an_event_leaves_out_is_taken_from_the_record():
    headers = [("ce_id", b"t1"), ("ce_type", b"turn-recorded.v1"), ("ce_time", b"2026-01-05T09:00:00Z")]
    event = event_of(letter(Message(orjson.dumps(TURN), headers=headers)), "default")
    assert isinstance(event, TurnRecorded)
    assert (event.space, event.id, event.at) == ("shop", "t1", 1_767_603_600_000_000)


def test_an_event_without_a_time_happened_when_it_was_set_aside():
    event = event_of(letter(Message(orjson.dumps(TURN), headers=[])), "default")
    assert event.at == 1_700_000_000_000_000
    assert event.at != AT_APPEND


DAYS = 3 * 24 * 3_600_000


def test_an_event_without_a_time_happened_when_the_broker_took_it_however_late_it_was_set_aside():
    late = letter(Message(orjson.dumps(TURN), headers=[], timestamp=1_700_000_000_000 - DAYS))
    assert (late.set_aside_at - late.appended_at, late.headers) == (DAYS * 1000, [])
    assert event_of(late, "default").at == 1_700_000_000_000_000 - DAYS * 1000
    copied = replace(Message(orjson.dumps(TURN)), headers=[("ce_recordedtime", b"2026-01-05T09:00:00Z")])
    assert event_of(letter(copied), "default").at == 1_767_603_600_000_000


def test_a_letter_of_before_is_read_as_it_was_written():
    ours = [("reason", b"why"), ("topic", b"turns"), ("partition", b"1"), ("offset", b"17"), ("key", b"shop")]
    old = Message(b"x", 0, 0, b"1:17", [*ours, ("value", b"bytes"), ("timestamp", b"its own")])
    found = letter_of(old)
    assert (found.value, found.headers) == (b"x", [("timestamp", b"its own")])
    assert found.appended_at == found.set_aside_at == 1_700_000_000_000_000


def test_what_is_not_utf_8_in_key_or_headers_is_mended_by_what_the_way_out_names():
    headers: list[tuple[str, bytes | None]] = [("ce_id", b"\xff"), ("ce_type", b"turn-recorded.v1"), ("x", b"\xff")]
    broken = letter(Message(orjson.dumps(TURN), key=b"\xff", headers=headers))
    with pytest.raises(UsageError, match="no key in UTF-8") as told:
        event_of(broken, "", orjson.dumps(TURN))
    assert "--space" in told.value.way_out
    with pytest.raises(UsageError, match="headers are not UTF-8") as told:
        event_of(broken, "shop")
    assert "--value FILE" in told.value.way_out
    event = event_of(broken, "shop", orjson.dumps(TURN | {"id": "t9"}))
    assert (event.space, event.id, event.type) == ("shop", "t9", "turn-recorded.v1")
    assert event_of(letter(Message(orjson.dumps(TURN), headers=[("x", b"\xff")])), "").space == "shop"


def test_another_id_replaces_the_one_that_is_taken():
    assert event_of(letter(Message(orjson.dumps(TURN | {"id": "t1"}))), "default", id="t1-b").id == "t1-b"


@pytest.mark.parametrize(
    ("value", "said"), [(b"not JSON", "still no event"), (b"{}", "still no event"), (None, "has no value")]
)
def test_what_is_still_no_event_is_told_with_a_way_out(value, said):
    with pytest.raises(UsageError, match=said) as told:
        event_of(letter(Message(value)), "default")
    assert "--value FILE" in told.value.way_out


def test_a_record_without_key_is_fed_into_no_space_that_nobody_named():
    keyless = letter(Message(orjson.dumps(TURN), key=None))
    with pytest.raises(UsageError, match="has no key") as told:
        event_of(keyless, "")
    assert "--space" in told.value.way_out
    assert event_of(keyless, "shop").space == "shop"


def test_a_derived_record_is_not_fed_to_the_log():
    with pytest.raises(UsageError, match="is no record of the log"):
        event_of(letter(Message(orjson.dumps(TURN)), topic="turns.manifest.abc"), "default")


@pytest.fixture
def letters(connection: Connection) -> Letters:
    """The dead letters of a new log."""
    create(connection, (), 2)
    return Letters(connection, Names(connection.prefix).dead_letters)


def lay(letters: Letters, *messages: Message) -> None:
    """Sets records aside, as workers do."""
    turns = Names(letters.connection.prefix).turns

    async def send() -> None:
        producer = AIOKafkaProducer(**letters.connection.client(), **PRODUCER)
        await producer.start()
        for message in messages:
            key, value, headers = laid(turns, message, "value: is not JSON", turns)
            await producer.send_and_wait(letters.topic, value, key, headers=headers)
        await producer.stop()

    run(letters.connection, send())


def test_letters_are_listed_once_each_though_two_workers_found_them(letters):
    assert letters.all() == []
    lay(letters, Message(b"a"), Message(b"b", offset=18), Message(b"a"), Message(None, offset=19))
    assert [(found.name, found.value) for found in letters.all()] == [("1:17", b"a"), ("1:18", b"b"), ("1:19", None)]


def test_a_settled_letter_stays_away_when_a_new_lineage_finds_the_record_again(letters):
    lay(letters, Message(b"a"), Message(b"b", offset=18))
    letters.settle(["1:17"])
    assert [found.name for found in letters.all()] == ["1:18"]
    lay(letters, Message(b"a"))
    assert [found.name for found in letters.all()] == ["1:18"]
    with pytest.raises(UsageError, match="no dead letter '1:17'"):
        letters.named("1:17")


def test_what_somebody_else_wrote_to_the_topic_hides_no_letter_and_is_dropped_by_its_place(letters, tmp_path):
    async def write() -> None:
        async with started(AIOKafkaProducer(**letters.connection.client(), **PRODUCER)) as producer:
            for key in (b"stray", b"1:17", b"\xff"):
                await producer.send_and_wait(letters.topic, b"hello", key)

    run(letters.connection, write())
    lay(letters, Message(b"a"))
    strays = [f"{letters.topic}:0:{offset}" for offset in range(3)]
    found = {one.name: one for one in letters.all()}
    assert [*found] == [*strays, "1:17"]
    assert "no dead letter" in found[strays[0]].reason
    assert [(found[name].key, found[name].value) for name in strays] == [
        (k, b"hello") for k in (b"stray", b"1:17", b"\xff")
    ]
    (refed,) = refeed_all(KafkaLog(letters.connection, tmp_path), letters, [found[strays[0]]], "shop")
    assert refed.position is None
    letters.settle(strays)
    assert [one.name for one in letters.all()] == ["1:17"]


def test_letters_that_are_events_now_go_to_the_log_and_are_settled(letters, tmp_path):
    good = orjson.dumps(TURN | {"id": "t1"})
    lay(letters, Message(good), Message(b"bad", offset=18))
    log = KafkaLog(letters.connection, tmp_path)
    refed = refeed_all(log, letters, letters.all(), "default")
    assert [(one.name, one.position is None) for one in refed] == [("1:17", False), ("1:18", True)]
    assert [found.name for found in letters.all()] == ["1:18"]
    again = refeed_all(log, letters, letters.all(), "default", mended=orjson.dumps(TURN | {"id": "t2"}))
    assert again[0].said == "appended"
    assert letters.all() == []
    fed = [record for partition in range(2) for record in log.read(partition, 0)]
    assert [(record.space, orjson.loads(record.value)["id"]) for record in fed] == [("shop", "t1"), ("shop", "t2")]
    log.close()


def mnemolog(connection: Connection, home: Path, *arguments: str) -> CompletedProcess[str]:
    """Runs the command line on the log of a test; a warning is an error in it."""
    said = {"MNEMOLOG_KAFKA": connection.servers, "MNEMOLOG_KAFKA_PREFIX": connection.prefix}
    environ = os.environ | said | {"MNEMOLOG_HOME": str(home), "PYTHONWARNINGS": "error"}
    return processes.run(*arguments, env=environ, capture_output=True, text=True, timeout=300)


def test_the_command_lists_shows_mends_and_drops(letters, tmp_path):
    lay(letters, Message(b"bad"), Message(b"\xffworse", offset=18))

    def ran(*arguments: str) -> CompletedProcess[str]:
        return mnemolog(letters.connection, tmp_path / "home", "dead-letters", *arguments)

    listed = [json.loads(line) for line in ran("--json").stdout.splitlines()]
    assert [(row["name"], row["reason"], row["bytes"]) for row in listed] == [
        ("1:17", "value: is not JSON", 3),
        ("1:18", "value: is not JSON", 6),
    ]
    assert "headers: {'ce_id': 't1', 'empty': None}" in ran("show", "1:17").stdout
    assert ran("show", "1:17", "--raw").stdout == "bad"
    still = ran("refeed", "1:17")
    assert (still.returncode, "still no event" in still.stdout) == (1, True)
    (tmp_path / "mended.json").write_bytes(orjson.dumps(TURN))
    assert "appended" in ran("refeed", "1:17", "--value", str(tmp_path / "mended.json")).stdout
    assert "1 dropped" in ran("drop", "1:18").stdout
    assert "there are no dead letters" in ran().stdout
    gone = ran("show", "1:17")
    assert (gone.returncode, "`mnemolog dead-letters` lists them" in gone.stderr) == (2, True)
