"""The storage format: what was written once is read for ever, byte for byte. A golden file is never edited."""

from functools import cache
from pathlib import Path

import jsonschema
import orjson
import pytest

from streams.core.edge import Edge, EdgeError
from streams.core.events import (
    GIVEN,
    OUTSIDE,
    UPCASTS,
    ClockTicked,
    ConsolidationRequested,
    ContradictionJudged,
    DistillationWritten,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ErasureRecorded,
    ImportanceFlagged,
    KnowledgeWritten,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    SessionEnded,
    SessionInherited,
    SummaryWritten,
    TaskDeclared,
    TaskUpdated,
    TitleWritten,
    TurnRecorded,
    TurnRetracted,
    decode,
    encode,
)
from streams.gateways.schema import LINE
from streams.gateways.schema import schemas as generated

schemas = cache(generated)

GOLDEN = Path(__file__).parent / "golden" / "events"
AT = 1_767_603_600_000_000

EVENTS = {
    "turn-recorded.v1": TurnRecorded(
        space="harbour",
        id="t-0001",
        at=AT + 123_456,
        session="monday",
        agent="planner",
        role="assistant",
        content='The "crane" report is 3 pages:\n\tsee ./crane.md — größer, 更大, 🏗, \x00 and \x7f.',
        parts=[
            {"type": "function", "id": "call-1", "function": {"name": "read", "arguments": '{"path": "./crane.md"}'}},
            {"nested": [1, -2, 2.5, 1e-07, True, None, {"": [[]]}]},
        ],
        reply_to="t-0000",
    ),
    "turn-retracted.v1": TurnRetracted("harbour", "r-0001", AT + 1, "monday", "t-0001", "regenerated"),
    "effort-declared.v1": EffortDeclared("harbour", "e-0001", AT + 2, "monday", "crane", "the crane report", "t-0001"),
    "effort-closed.v1": EffortClosed(
        "harbour", "e-0002", AT + 3, "monday", "crane", "", "the bolts were the wrong ones"
    ),
    "effort-reopened.v1": EffortReopened("harbour", "e-0003", AT + 4, "monday", "", "t-0001"),
    "offer-declined.v1": OfferDeclined("harbour", "o-0001", AT + 5, "monday", "t-0001"),
    "importance-flagged.v1": ImportanceFlagged("harbour", "i-0001", AT + 6, "monday", "t-0001", "normal"),
    "note-taken.v1": NoteTaken(
        "harbour", "n-0001", AT + 7, "bolts", "order M12 bolts", "monday", 5400, 0.75, "system", "the crane report"
    ),
    "note-settled.v1": NoteSettled("harbour", "n-0002", AT + 8, "bolts", "monday", "ordered on Tuesday", "t-0001"),
    "task-declared.v1": TaskDeclared(
        "harbour", "k-0001", AT + 9, "crane", "Oil the crane", "monday", 0.7, 2.5, ["bolts"]
    ),
    "task-updated.v1": TaskUpdated(
        "harbour", "k-0002", AT + 9, "crane", "monday", "", "blocked", "take off the hook", "the oil from Porto", 0.5
    ),
    "session-ended.v1": SessionEnded("harbour", "s-0001", AT + 9, "monday"),
    "session-inherited.v1": SessionInherited("harbour", "s-0002", AT + 9, "tuesday", "monday"),
    "summary-written.v1": SummaryWritten(
        "harbour",
        "y-0001",
        AT + 10,
        "monday",
        "t-0000",
        "t-0001",
        "They found why the crane stopped.",
        ["crane", "bolts"],
        ["use M12"],
        "calm",
        ["order bolts"],
        "some-model",
        "p-hash",
        "q-hash",
    ),
    "title-written.v1": TitleWritten(
        "harbour",
        "y-0002",
        AT + 10,
        "monday",
        ["t-0000", "t-0001"],
        "The crane's bolts",
        "some-model",
        "p-hash",
        "q-hash",
    ),
    "distillation-written.v1": DistillationWritten(
        "harbour",
        "y-0003",
        AT + 10,
        "monday",
        ["t-0000", "t-0001"],
        "M12 bolts hold the crane.",
        "The crane stopped.",
        ["M10 bolts sheared off."],
        "some-model",
        "p-hash",
        "q-hash",
    ),
    "knowledge-written.v1": KnowledgeWritten(
        *("harbour", "y-0004", AT + 10, "monday", ["t-0000", "t-0001"]),
        [["t-0001", "t-0000", "support"]],
        *("worn bolts stop machines", "some-model", "p-hash", "q-hash"),
    ),
    "memory-recalled.v1": MemoryRecalled(
        "harbour", "m-0001", AT + 11, "which bolts hold the crane?", ["t-0001", "t-0000"], "monday"
    ),
    "memory-rewarded.v1": MemoryRewarded("harbour", "m-0002", AT + 12, ["t-0001"], -0.5, "monday"),
    "memory-pinned.v1": MemoryPinned("harbour", "m-0003", AT + 13, "t-0001", False, "monday"),
    "consolidation-requested.v1": ConsolidationRequested("harbour", "m-0004", AT + 14, "monday"),
    "contradiction-judged.v1": ContradictionJudged(
        "harbour", "m-0005", AT + 15, "t-0001", "t-0000", False, 0.75, "monday", "some-model", "p-hash", "q-hash"
    ),
    "erasure-recorded.v1": ErasureRecorded(
        *("mnemolog.erasures", "e-0001", AT + 16, "the turns of an agent", "5e1ec7", "ann", 3, 2, 1),
        *("0a", 9, "bef0", "0b", 4, "af7e", "4a3e5"),
    ),
    "clock-ticked.v1": ClockTicked("harbour", "c-0001", 253_402_214_400_000_000),
}


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """What a generated schema lets pass; the schema itself is a valid one."""
    jsonschema.Draft202012Validator.check_schema(schemas()[name])
    return jsonschema.Draft202012Validator(schemas()[name], format_checker=jsonschema.FormatChecker())


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.json").read_bytes().removesuffix(b"\n")


def test_every_type_that_may_be_in_a_log_has_a_golden_file():
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(OUTSIDE) | set(UPCASTS)
    assert set(EVENTS) == set(OUTSIDE)


@pytest.mark.parametrize("name", EVENTS)
def test_golden_bytes_decode_to_the_event_they_always_meant(name):
    assert decode(name, golden(name)) == EVENTS[name]


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_written_as_it_always_was(name):
    assert encode(EVENTS[name]) == golden(name)
    assert encode(decode(name, golden(name))) == golden(name)


@pytest.mark.parametrize("name", GIVEN)
def test_the_edge_takes_a_stored_event_unchanged(name):
    assert Edge().event(orjson.loads(golden(name))) == EVENTS[name]


def test_nobody_gives_a_receipt_of_an_erasure_that_was_none():
    (receipt,) = set(OUTSIDE) - set(GIVEN)
    with pytest.raises(EdgeError, match=r"type: is 'erasure-recorded\.v1'; must be one of"):
        Edge().event(orjson.loads(golden(receipt)))


@pytest.mark.parametrize("name", EVENTS)
def test_the_generated_schemas_accept_golden_events(name):
    given = orjson.loads(golden(name))
    validator(name).validate(given)
    assert validator(LINE).is_valid(given) is (name in GIVEN)


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("broken", [{"space": 1}, {"surprise": True}, {"at": "soon", "id": None}, {"space": "x" * 201}])
def test_the_generated_schemas_and_the_edge_refuse_the_same(name, broken):
    given = orjson.loads(golden(name)) | broken
    edge = Edge().line("f", 1, orjson.dumps(given))
    assert not validator(name).is_valid(given)
    assert hasattr(edge, "faults")


def test_the_schema_of_a_line_knows_what_may_be_left_out():
    lines = [
        ({"session": "s", "role": "user", "content": "hello"}, True),
        ({"session": "s", "role": "user", "content": "hello", "at": None, "id": None, "agent": None}, True),
        ({"session": "s", "role": "assistant", "content": None, "parts": [{"type": "function"}]}, True),
        ({"type": "note-taken", "note": "n", "content": "call Ann"}, True),
        ({"type": "clock-ticked"}, True),
        ({"type": "note-settled", "note": "n"}, True),
        ({"type": "note-settled", "note": None, "turn": "t"}, True),
        ({"type": "note-settled", "resolution": "done"}, False),
        ({"type": "note-settled", "note": "", "turn": None}, False),
        ({"type": "task-updated", "turn": "t", "progress": 0.5}, True),
        ({"type": "task-updated", "progress": 0.5}, False),
        ({"session": "s", "role": "user", "content": None}, False),
        ({"session": "s", "role": "user"}, False),
        ({"role": "user", "content": "hello"}, False),
        ({"note": "n", "content": "call Ann"}, False),
        ({"type": "note-taken.v9", "note": "n", "content": "call Ann"}, False),
    ]
    assert [validator(LINE).is_valid(line) for line, _ in lines] == [good for _, good in lines]
    edge = Edge()
    assert [hasattr(edge.line("f", 1, orjson.dumps(line)), "event") for line, _ in lines] == [good for _, good in lines]
