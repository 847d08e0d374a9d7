"""The edge: what comes in is an event, or is refused with a reason that a person can act on."""

import subprocess
import sys

import orjson
import pytest

from streams.core.edge import MAX_DEPTH, MAX_VALUES, Accepted, Edge, EdgeError, Reject, has_too_many
from streams.core.events import AT_APPEND, GIVEN, MAX_EVENT_BYTES, ClockTicked, NoteTaken, TurnRecorded


def taken(line: bytes | dict, edge: Edge | None = None):
    found = (edge or Edge()).line("f.jsonl", 1, line if isinstance(line, bytes) else orjson.dumps(line))
    assert isinstance(found, Accepted), found
    return found.event


def refused(line: bytes | dict) -> list[str]:
    raw = line if isinstance(line, bytes) else orjson.dumps(line)
    found = Edge().line("f.jsonl", 7, raw)
    assert isinstance(found, Reject), found
    assert (found.source, found.line, found.raw) == ("f.jsonl", 7, raw)
    return [str(fault) for fault in found.faults]


def turn(**more) -> dict:
    return {"session": "s", "role": "user", "content": "hello"} | more


def test_the_least_that_makes_a_turn_gets_the_defaults():
    event = taken(turn())
    assert event == TurnRecorded("default", event.id, AT_APPEND, "s", "user", "user", "hello")


def test_all_that_a_line_says_is_kept():
    said = turn(space="p", agent="ann", at="2026-01-05T10:00:00+01:00", id="m1", reply_to="m0", parts=[{"a": 1}])
    assert taken(said) == TurnRecorded(
        "p", "m1", 1_767_603_600_000_000, "s", "ann", "user", "hello", parts=[{"a": 1}], reply_to="m0"
    )


def test_null_is_the_same_as_left_out_where_there_is_a_default():
    nulls = dict.fromkeys(("space", "agent", "at", "id", "reply_to", "parts", "type"))
    assert taken(turn(**nulls)) == taken(turn())


@pytest.mark.parametrize(("given", "said"), [(7, "the number 7"), ("x", "text"), ([], "a list"), (None, "null")])
def test_what_is_no_object_is_told_that_an_event_is_one(given, said):
    with pytest.raises(EdgeError, match=f"event: is {said}; an event is a JSON object"):
        Edge().event(given)


def test_the_edge_has_defaults_of_its_own_for_space_session_and_agent():
    edge = Edge(space="p", session="x", agent="helper")
    event = taken({"role": "assistant", "content": "hi"}, edge)
    assert (event.space, event.session, event.agent) == ("p", "x", "helper")
    assert taken({"role": "user", "content": "hi"}, edge).agent == "user"


def test_other_events_come_with_a_type_with_or_without_its_version():
    short = taken({"type": "note-taken", "note": "n", "content": "call Ann", "ttl": 60})
    assert short == NoteTaken("default", short.id, AT_APPEND, "n", "call Ann", ttl=60)
    assert taken({"type": "note-taken.v1", "note": "n", "content": "call Ann", "ttl": 60}) == short
    assert isinstance(taken({"type": "clock-ticked", "at": 5}), ClockTicked)


def test_a_settled_note_is_named_by_itself_or_by_its_turn():
    assert taken({"type": "note-settled", "turn": "t1"}).turn == "t1"
    assert taken({"type": "note-settled", "note": "n"}).note == "n"
    for nothing in ({}, {"note": "", "turn": None}):
        assert refused({"type": "note-settled", "resolution": "done"} | nothing) == [
            "note: is missing; name the note, or the turn it was inferred from"
        ]


@pytest.mark.parametrize(
    ("at", "micros"),
    [
        ("1970-01-01", 0),
        ("2026-01-05T09:00:00Z", 1_767_603_600_000_000),
        ("2026-01-05T09:00:00", 1_767_603_600_000_000),
        ("2026-01-05T09:00:00.000001-02:30", 1_767_612_600_000_001),
        (1_767_603_600_000_000, 1_767_603_600_000_000),
        (None, AT_APPEND),
    ],
)
def test_times_are_iso_8601_or_microseconds_and_absent_ones_are_left_to_the_log(at, micros):
    assert taken(turn(at=at)).at == micros


TYPES = ", ".join(sorted(name.removesuffix(".v1") for name in GIVEN))
TIME = "a time is ISO 8601 text, such as 2026-01-05T09:00:00Z, or UTC microseconds"


@pytest.mark.parametrize(
    ("line", "reasons"),
    [
        (b"", ["line: is not JSON: Input is a zero-length, empty document at column 1"]),
        (b'{"session": "s", "ro', ["line: is not JSON: unexpected end of data at column 21"]),
        (b'"text"', ["line: is text; one JSON object a line is expected"]),
        (b"[1]", ["line: is a list; one JSON object a line is expected"]),
        (b"\xff\xfe{\x00", ["line: is UTF-16; convert the file to UTF-8"]),
        (b'{"session": "\xff"}', ["line: is not UTF-8"]),
        (b'{"session": "\\ud800"}', ["line: holds half a character (a lone surrogate) at column 14"]),
        (b'{"at": NaN}', ["line: holds a number that JSON does not know (NaN, Infinity) at column 8"]),
        (b'{"at": -Infinity}', ["line: holds a number that JSON does not know (NaN, Infinity) at column 9"]),
        (b'{"at": 1e999}', ["line: holds a number that JSON does not know (NaN, Infinity) at column 8"]),
        (b"[" * 5000, [f"line: nests deeper than {MAX_DEPTH} levels"]),
        (turn(content=None), ["content: must be text, not null"]),
        (turn(content=12), ["content: must be text, not the number 12"]),
        (turn(content=["x"]), ["content: must be text, not a list"]),
        (turn(role="bot"), ["role: is 'bot'; must be one of user, assistant, system, tool"]),
        (turn(role=None), ["role: is null; must be one of user, assistant, system, tool"]),
        (turn(session=""), ["session: must not be empty"]),
        (turn(session="s" * 201), ["session: is 201 characters long; at most 200 are taken"]),
        (turn(id="a\0b"), ["id: control characters are not allowed in names and ids"]),
        (turn(id=7), ["id: must be text, not the number 7"]),
        (turn(at="yesterday"), [f"at: is 'yesterday'; {TIME}"]),
        (turn(at="2026-02-30"), [f"at: is '2026-02-30'; {TIME}"]),
        (turn(at=True), ["at: is True; a time is ISO 8601 text (2026-01-05T09:00:00Z) or whole UTC microseconds"]),
        (turn(at=-1), ["at: lies before 1970"]),
        (turn(at="1969-12-31T23:59:59.999999Z"), ["at: lies before 1970"]),
        (turn(at=300_000_000_000_000_000), ["at: lies after the year 9999"]),
        (b'{"session":"s","role":"user","content":"","at":99999999999999999999999}', ["at: lies after the year 9999"]),
        (turn(parts={}), ["parts: must be a list, not an object"]),
        (turn(parts=[{}, 3]), ["parts[1]: must be an object, not the number 3"]),
        (turn(type="turn"), [f"type: is 'turn'; must be one of {TYPES}"]),
        ({"type": "note-taken", "note": "n", "content": "x", "ttl": "soon", "priority": 3},
         ["ttl: is 'soon'; must be urgent, normal, low or whole seconds above 0", "priority: is 3; must be 0 to 1"]),
        ({"type": "memory-rewarded", "turns": [], "reward": 1}, ["turns: must hold at least 1, not 0"]),
        ({"type": "memory-rewarded", "turns": ["a"] * 33, "reward": 1}, ["turns: must hold at most 32, not 33"]),
        ({"type": "memory-rewarded", "turns": ["a"], "reward": -5}, ["reward: is -5; must be -1 (it misled) to 1"]),
        ({"type": "summary-written", "session": "s", "first_turn": "a", "last_turn": "b", "text": "x", "topics": [1]},
         ["topics[0]: must be text, not the number 1"]),
        ({"sesion": "s", "role": "user", "content": "x", "extra": 1},
         ["sesion: is no field of turn-recorded.v1; did you mean session?",
          "extra: is no field of turn-recorded.v1; known are space, id, at, session, agent, role, content, parts, "
          "reply_to, type", "session: is missing"]),
    ],
)  # fmt: skip
def test_a_refusal_names_every_field_and_its_reason_in_plain_words(line, reasons):
    assert refused(line) == reasons


def test_nesting_is_taken_up_to_its_limit():
    def nested(depth: int) -> dict:
        value: object = 1
        for _ in range(depth):
            value = [value]
        return turn(parts=[{"deep": value}])

    assert taken(nested(MAX_DEPTH - 2)).parts[0]["deep"]
    assert refused(nested(MAX_DEPTH - 1)) == [f"parts: nests deeper than {MAX_DEPTH} levels"]
    assert refused(nested(200)) == [f"parts: nests deeper than {MAX_DEPTH} levels"]


MANY = 700_000


@pytest.mark.parametrize(
    ("made", "is_many"),
    [
        (lambda: [[] for _ in range(MANY)], True),
        (lambda: [{} for _ in range(MANY)], True),
        (lambda: {str(n): n for n in range(2 * MANY)}, True),
        (lambda: ["" for _ in range(2 * MANY)], True),
        (lambda: [0] * (MAX_VALUES - 1), False),
        (lambda: [0] * (MAX_VALUES + 1), True),
        (lambda: ["a, b, [c], {d}" * MANY], False),
        (lambda: ['\\", [\\\\' * MANY], False),
        (lambda: ["\\", [0] * MAX_VALUES], True),
    ],
    ids=["lists", "objects", "fields", "texts", "as many as may be", "one more", "a text", "escapes", "behind a text"],
)
def test_values_are_counted_before_they_are_built_and_text_counts_as_one(made, is_many):
    """Why made in the test: every process that runs tests reads this file, and would keep millions of values."""
    assert has_too_many(orjson.dumps(made())) is is_many


def test_a_line_of_very_many_values_is_refused():
    assert refused(orjson.dumps(turn(parts=[{"rows": [[]] * MANY}]))) == ["line: holds more than 1,000,000 values"]


def test_an_event_is_as_large_as_the_log_takes_and_no_larger():
    room = MAX_EVENT_BYTES - len(orjson.dumps(taken(turn(at=1_000_000_000_000_000, id="i", content=""))))
    assert len(taken(turn(at=1_000_000_000_000_000, id="i", content="x" * room)).content) == room
    one_more = refused(turn(at=1_000_000_000_000_000, id="i", content="x" * (room + 1)))
    assert one_more == ["line: is an event of 8,388,609 bytes; at most 8,388,608 (8 MiB) are taken"]


def test_a_hostile_line_makes_a_short_report():
    assert len(refused({f"field{n}": n for n in range(1000)})) <= 8
    assert len(refused(turn(parts=[1] * 100_000))) == 1
    assert max(map(len, refused(turn(role="x" * 1_000_000) | {"y" * 1_000_000: 1}))) < 400


def test_content_keeps_every_character_that_json_can_say():
    said = "\0\x7f\u2028\ufffe\U0001f3d7 e\u0301"
    assert taken(turn(content=said)).content == said


def test_a_turn_of_tool_calls_may_have_no_content():
    calls = [{"type": "function", "id": "c1"}]
    assert taken({"session": "s", "role": "assistant", "content": None, "parts": calls}).content == ""
    assert taken({"session": "s", "role": "assistant", "parts": calls}).content == ""


def test_the_same_source_read_twice_gives_the_same_ids():
    lines = [turn(), turn(content="yes"), turn(content="yes"), {"type": "session-ended", "session": "s"}]
    first, second = Edge(), Edge()
    ids = [taken(line, first).id for line in lines]
    assert ids == [taken(line, second).id for line in lines]
    assert len(set(ids)) == len(lines)


def test_an_id_depends_on_who_said_what_where_and_when_and_not_on_spelling():
    base = taken(turn(at="2026-01-05T09:00:00Z")).id
    assert taken(turn(at=1_767_603_600_000_000)).id == base
    assert taken(b'{"role":"user", "content":"h\\u0065llo","session":"s","at":"2026-01-05T10:00+01:00"}').id == base
    others = [turn(at=7), turn(content="x"), turn(role="tool"), turn(session="t"), turn(space="q"), turn(agent="ann")]
    assert len({base, taken(turn()).id, *(taken(line).id for line in others)}) == 8


def test_tool_calls_with_no_content_are_told_apart_by_what_they_call():
    def call(name):
        return {"session": "s", "role": "assistant", "content": None, "parts": [{"name": name}]}

    assert taken(call("a")).id != taken(call("b")).id


def test_a_gateway_gets_an_error_with_faults_for_what_is_no_event():
    with pytest.raises(EdgeError, match="parts: is no finite number") as caught:
        Edge().event(turn(parts=[{"x": float("nan")}]))
    assert [fault.field for fault in caught.value.faults] == ["parts"]
    with pytest.raises(EdgeError, match=r"content: holds half a character \(a lone surrogate\)"):
        Edge().event(turn(content="\ud800"))
    with pytest.raises(EdgeError, match="parts: holds what JSON cannot"):
        Edge().event(turn(parts=[{1: 2}]))


def test_what_is_given_is_not_changed():
    given = turn(parts=[{"a": 1}])
    before = orjson.dumps(given)
    Edge().event(given)
    assert orjson.dumps(given) == before


def test_who_records_a_turn_does_not_wait_for_what_validates_all_other_events() -> None:
    """To build that takes a quarter of a second, in which an agent waits for a hook."""
    said = """
from streams.core import edge, events
edge.Edge().event({"session": "s", "role": "user", "content": "Hello."})
print(*edge._VALIDATORS, events.validator.pydantic_complete)
edge.get_ready()
print(edge._VALIDATORS.keys() == events.GIVEN.keys())
"""
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["turn-recorded.v1 False", "True"]


def test_to_validate_events_nobody_reads_the_source_of_their_types() -> None:
    """It says what fields mean, which takes four times as long to find out as all else that validation needs."""
    said = """
import inspect
read, findsource = [], inspect.findsource
inspect.findsource = lambda of: read.append(of) or findsource(of)
from streams.core import edge, events
edge.get_ready()
events.validator.rebuild()
print(read)
"""
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
