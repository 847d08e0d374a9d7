"""The views over hand-written events: what is current after revisions, retractions and reopenings."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from datetime import datetime, timedelta

import pytest

from processors import PROCESSORS
from processors.association import MemoriesAssociated
from processors.coactivation import LinkFormed, PairCoactivated
from processors.contradictions import BeliefContradicted, BeliefRestored, BeliefStated, ContradictionSuspected
from processors.forgetting import RetentionChanged
from processors.manifest import (
    ArtifactMade,
    ConclusionDetected,
    ConclusionOffered,
    OfferSettled,
    SegmentConcluded,
    SegmentOpened,
    SegmentSummarized,
    TurnFiled,
    TurnRefiled,
)
from processors.objects import ObjectMentioned, ObjectStated
from processors.open_efforts import (
    EffortConcluded,
    EffortOpened,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    TurnRethreaded,
    TurnThreaded,
)
from processors.tasks import TaskChanged
from processors.ttl_escalations import (
    NoteArchived,
    NoteClosed,
    NoteDoubted,
    NoteEscalated,
    NoteOpened,
    NoteReopened,
    NoteSurfaced,
)
from processors.working_context import ContextChanged, ContextScored
from projections.as_of import _behind as behind
from projections.as_of import as_of, past
from projections.ask import view
from projections.store import in_memory
from projections.tables import create_sql, tables
from projections.views import view_names, views_sql
from streams.core.events import (
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    SessionEnded,
    TurnRetracted,
)
from tests.memories import at, make, memory, rows, turn

VIEWS = view_names(views_sql(PROCESSORS))
WHEN = datetime(2026, 1, 5, 9)


def said(id, session="s", *, segment="", effort="", tokens=10, **given):
    """A turn, filed and threaded where a segment and an effort are named."""
    when = given.get("at", at())
    step = [turn(id, session, f"words of {id}", tokens=tokens, **given)]
    if segment:
        step.append(make(TurnFiled, session=session, turn=id, segment=segment, at=when))
        step.append(make(TurnThreaded, session=session, turn=id, effort=effort, at=when, reason="words"))
    return step


def test_a_turn_not_yet_derived_has_neither_segment_nor_effort(tmp_path):
    con = memory(tmp_path / "m.duckdb", said("t1"))
    assert rows(con, "SELECT turn_id, segment, effort, tokens, retracted, retraction FROM turns") == [
        ("t1", None, None, 10, False, None)
    ]


def test_a_turn_lies_where_it_was_last_filed_and_threaded(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        said("t1", segment="g1", effort="e1"),
        said("t2", segment="g1", effort="e1"),
        [
            *said("t3", segment="g2", effort="e2"),
            make(TurnRefiled, session="s", turn="t2", segment="g2"),
            make(TurnRethreaded, session="s", turn="t2", effort="e2"),
        ],
        [*said("t4", segment="g2", effort="e2"), make(TurnRethreaded, session="s", turn="t2", effort="")],
    )
    assert rows(con, "SELECT turn_id, segment, effort FROM turns ORDER BY position") == [
        ("t1", "g1", "e1"), ("t2", "g2", None), ("t3", "g2", "e2"), ("t4", "g2", "e2"),
    ]  # fmt: skip


def test_a_timeline_has_a_row_for_each_segment_and_effort(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        said("t1", segment="g1", effort="e1"),
        said("t2", segment="g1", effort="e1", at=at(1)),
        said("t3", segment="g1", at=at(2)),
        said("t4", segment="g2", effort="e1"),
        [*said("t5", segment="g2", effort="e1"), make(TurnRetracted, session="s", turn="t5", reason="popped", id="r")],
    )
    columns = "segment, effort, turns, tokens, first_turn, first_position, last_position"
    assert rows(con, f"SELECT {columns} FROM threads ORDER BY first_position") == [
        ("g1", "e1", 2, 20, "t1", 0, 1), ("g1", None, 1, 10, "t3", 2, 2), ("g2", "e1", 1, 10, "t4", 3, 3),
    ]  # fmt: skip


def test_two_revisions_at_one_position_are_told_apart_by_their_path(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        said("t1", segment="g1", effort="e1"),
        [
            *said("t2", segment="g1", effort="e1"),
            make(TurnRefiled, session="s", turn="t1", segment="g9"),
            make(TurnRefiled, session="s", turn="t1", segment="g2"),
        ],
    )
    assert rows(con, "SELECT segment FROM turns WHERE turn_id = 't1'") == [("g2",)]


def test_a_retracted_turn_stays_in_history_and_leaves_every_count(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1", segment="g1", effort="e1"), make(EffortOpened, session="s", turn="t1", effort="e1", topic="one")],
        said("t2", segment="g1", effort="e1", agent="bob", at=at(1)),
        [make(TurnRetracted, session="s", turn="t2", reason="popped", id="r1", at=at(2))],
    )
    assert rows(con, "SELECT turn_id, retracted, retraction FROM turns ORDER BY position") == [
        ("t1", False, None), ("t2", True, "popped"),
    ]  # fmt: skip
    assert rows(con, "SELECT turns, retracted, tokens, agents, last_turn FROM sessions") == [(1, 1, 10, ["ann"], "t1")]
    assert rows(con, "SELECT turns, tokens, first_turn, last_turn FROM segments") == [(1, 10, "t1", "t1")]
    assert rows(con, "SELECT turns, tokens, agents, last_turn, last_at FROM efforts") == [(1, 10, ["ann"], "t1", WHEN)]


def test_a_retraction_is_of_its_turn_whatever_session_it_names(tmp_path):
    segment = {"session": "s", "segment": "g1", "turn": "t1"}
    con = memory(
        tmp_path / "m.duckdb",
        [
            *said("t1", segment="g1", effort="e1"), make(SegmentConcluded, conclusion="It works.", **segment),
            make(ConclusionOffered, text="It works.", **segment),
        ],
        said("t2", segment="g1", effort="e1"),
        [make(TurnRetracted, session="other", turn="t1", id="r1")],
    )  # fmt: skip
    assert rows(con, "SELECT turn_id, retracted FROM turns ORDER BY position") == [("t1", True), ("t2", False)]
    assert rows(con, "SELECT turns, retracted FROM sessions WHERE session = 's'") == [(1, 1)]
    assert rows(con, "SELECT conclusion FROM segments") == [(None,)]
    assert rows(con, "SELECT * FROM offers") == rows(con, "SELECT * FROM conclusions") == []


def test_the_same_ids_in_two_spaces_are_two_things(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        said("t1", space="acme"),
        said("t1", space="zeta"),
        [make(TurnRetracted, space="zeta", session="s", turn="t1", id="r")],
    )
    assert rows(con, "SELECT space, retracted FROM turns ORDER BY space") == [("acme", False), ("zeta", True)]


def test_a_session_is_over_until_something_is_said_again(tmp_path):
    ended = [make(SessionEnded, session="s", id="x", at=at(5))]
    over = memory(tmp_path / "over.duckdb", said("t1"), ended)
    again = memory(tmp_path / "again.duckdb", said("t1"), ended, said("t2", at=at(9)))
    assert rows(over, "SELECT ended_at FROM sessions") == [(WHEN + timedelta(minutes=5),)]
    assert rows(again, "SELECT ended_at, turns, last_at FROM sessions") == [(None, 2, WHEN + timedelta(minutes=9))]


def test_a_segment_tells_its_last_summary_and_what_concluded_it(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [
            *said("t1", segment="g1", effort="e1"),
            make(SegmentOpened, session="s", turn="t1", segment="g1", score=1.0, reason="first"),
            make(SegmentSummarized, session="s", segment="g1", summary="early", terms=["a"]),
        ],
        [
            *said("t2", segment="g1", effort="e1", tokens=5),
            make(
                SegmentSummarized, session="s", segment="g1", summary="late", cue="b a", terms=["b", "a"], closed=True
            ),
            make(
                SegmentConcluded, session="s", segment="g1", turn="t2", pattern="confirmation", confidence=0.9,
                conclusion="it works",
            ),
        ],
        [
            *said("t3", segment="g2", effort="e1"),
            make(SegmentOpened, session="s", turn="t3", segment="g2", score=0.6, reason="shift"),
        ],
    )  # fmt: skip
    assert rows(
        con,
        "SELECT segment, first_turn, last_turn, turns, tokens, summary, cue, terms, status, closed, concluded_by, "
        "pattern, reason FROM segments ORDER BY first_position",
    ) == [
        ("g1", "t1", "t2", 2, 15, "late", "b a", ["b", "a"], "concluded", True, "t2", "confirmation", "first"),
        ("g2", "t3", "t3", 1, 10, "", "", [], "open", False, None, None, "shift"),
    ]


def test_a_segment_begins_and_ends_with_turns_that_are_not_retracted(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        *(said(f"t{n}", segment="g1", effort="e1", at=at(n)) for n in range(4)),
        said("t9", segment="g2", effort="e1", at=at(9)),
        *([make(TurnRetracted, session="s", turn=turn, id=f"r{turn}", at=at(10))] for turn in ("t0", "t3", "t9")),
    )
    assert rows(con, "SELECT segment, first_turn, last_turn, started_at, last_at, turns FROM segments ORDER BY 1") == [
        ("g1", "t1", "t2", WHEN + timedelta(minutes=1), WHEN + timedelta(minutes=2), 2),
        ("g2", "t9", "t9", WHEN + timedelta(minutes=9), WHEN + timedelta(minutes=9), 0),
    ]


def test_what_an_open_task_took_is_told_by_the_time_of_the_newest_turn(tmp_path):
    begun = make(
        TaskChanged,
        session="s",
        task="roof",
        change="admitted",
        status="blocked",
        place="active",
        started=at(),
        at=at(),
    )
    con = memory(tmp_path / "m.duckdb", [*said("t1"), begun], said("t2", at=at(hours=3)))
    assert rows(con, "SELECT task, took, blocked FROM tasks") == [("roof", 3.0, 3.0)]


def test_a_segment_or_effort_that_lost_all_its_turns_to_revisions_is_gone(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1", segment="g1", effort="e1"), make(EffortOpened, session="s", turn="t1", effort="e1")],
        [*said("t2", segment="g2", effort="e2"), make(EffortOpened, session="s", turn="t2", effort="e2")],
        [
            *said("t3", segment="g1", effort="e1"),
            make(TurnRefiled, session="s", turn="t2", segment="g1"),
            make(TurnRethreaded, session="s", turn="t2", effort="e1"),
        ],
    )
    assert rows(con, "SELECT segment, turns FROM segments") == [("g1", 3)]
    assert rows(con, "SELECT effort, turns FROM efforts") == [("e1", 3)]


def test_a_declared_effort_is_there_before_its_first_turn(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [make(EffortOpened, session="s", effort="e1", name="billing", topic="the invoices", reason="declared")],
    )
    assert rows(con, "SELECT effort, name, topic, status, turns, sessions, first_turn FROM efforts") == [
        ("e1", "billing", "the invoices", "open", 0, ["s"], None)
    ]


def test_an_effort_declared_after_it_was_opened_has_the_declared_name_and_topic(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        EFFORT,
        [make(EffortProgressed, session="s", effort="e1", topic="the invoices", name="billing", at=at(10))],
    )
    assert rows(con, "SELECT effort, name, topic FROM efforts") == [("e1", "billing", "the invoices")]


EFFORT = [
    *said("t1", segment="g1", effort="e1"),
    make(EffortOpened, session="s", turn="t1", effort="e1", topic="first"),
]
CONCLUDED = [
    *said("t2", segment="g1", effort="e1", at=at(10)),
    make(
        EffortConcluded, session="s", effort="e1", turn="t2", pattern="resolution", conclusion="fixed", at=at(10)
    ),
]  # fmt: skip
RESUMED = [
    *said("t3", "later", segment="g2", effort="e1", at=at(20)),
    make(EffortResumed, session="later", effort="e1", turn="t3", reason="words", at=at(20)),
    make(EffortProgressed, session="later", effort="e1", topic="better", summary="so far", terms=["x"], at=at(20)),
    make(EffortRated, session="later", effort="e1", importance="high", at=at(20)),
]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([EFFORT], ("open", "first", "normal", 0, None, None, ["s"])),
        ([EFFORT, CONCLUDED], ("concluded", "first", "normal", 0, "t2", "fixed", ["s"])),
        ([EFFORT, CONCLUDED, RESUMED], ("open", "better", "high", 1, None, None, ["later", "s"])),
        (
            [
                EFFORT,
                CONCLUDED,
                RESUMED,
                [make(EffortConcluded, session="s", effort="e1", turn="t3", conclusion="now")],
            ],
            ("concluded", "better", "high", 1, "t3", "now", ["later", "s"]),
        ),
    ],
    ids=["opened", "concluded", "reopened", "concluded again"],
)
def test_an_effort_is_what_was_last_said_of_it(tmp_path, steps, expected):
    con = memory(tmp_path / "m.duckdb", *steps)
    assert rows(
        con, "SELECT status, topic, importance, reopened, concluded_by, conclusion, sessions FROM efforts"
    ) == [expected]  # fmt: skip


def test_an_effort_reopened_and_concluded_by_one_event_is_concluded(tmp_path):
    both = [
        make(EffortResumed, session="s", effort="e1", turn="t3"),
        make(EffortConcluded, session="s", effort="e1", turn="t3"),
    ]
    con = memory(tmp_path / "m.duckdb", EFFORT, CONCLUDED, both)
    assert rows(con, "SELECT status, reopened FROM efforts") == [("concluded", 1)]


def test_the_context_is_what_was_scored_last(tmp_path):
    def scored(turn_id, efforts, modes, **given):
        n = len(efforts)
        numbers = [round(0.9 - 0.1 * i, 1) for i in range(n)]
        return make(
            ContextScored, turn=turn_id, efforts=efforts, modes=modes, scores=numbers, signals=["mentioned"] * n,
            similarities=[0.5] * n, recencies=[0.5] * n, idle=[0] * n, **given,
        )  # fmt: skip

    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), scored("t1", ["e1"], ["expanded"], session="s")],
        [*said("u1", "other"), scored("u1", ["e9"], ["summary"], session="other")],
        [
            *said("t2"),
            scored("t2", ["e3"], ["summary"], session="s"),
            scored("t2", ["e2", "e1"], ["expanded", "summary"], session="s"),
        ],
        [*said("w1", "empty"), scored("w1", [], [], session="empty")],
    )
    assert rows(
        con, "SELECT session, rank, effort, score, mode, signals, turn FROM context_entries ORDER BY session, rank"
    ) == [
        ("other", 1, "e9", 0.9, "summary", "mentioned", "u1"),
        ("s", 1, "e2", 0.9, "expanded", "mentioned", "t2"),
        ("s", 2, "e1", 0.8, "summary", "mentioned", "t2"),
    ]  # fmt: skip


def test_a_change_of_context_names_the_other_effort_only_where_there_is_one(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [
            *said("t1"),
            make(
                ContextChanged, session="s", turn="t1", effort="e1", change="left", reason="displaced", other="e2",
                other_score=0.7,
            ),
            make(ContextChanged, session="s", turn="t1", effort="e3", change="entered", reason="mentioned"),
        ],
    )  # fmt: skip
    assert rows(con, "SELECT effort, change, other, other_score FROM context_changes ORDER BY ordinal") == [
        ("e1", "left", "e2", 0.7), ("e3", "entered", None, None),
    ]  # fmt: skip


def test_a_link_has_the_strength_of_its_pair_now(tmp_path):
    def pair(first, second, count, strength, when):
        return make(
            PairCoactivated, session="s", turn="t", first=first, second=second, count=count, strength=strength, at=when
        )

    formed = make(LinkFormed, session="s", first="a", second="b", count=3, strength=0.2, at=at(3))
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), pair("a", "b", 2, 0.1, at(2)), pair("a", "c", 1, 0.1, at(2))],
        [*said("t2"), pair("a", "b", 3, 0.2, at(3)), formed],
        [*said("t3"), pair("a", "b", 4, 0.3, at(4))],
    )
    assert rows(con, "SELECT first, second, count, strength FROM coactivations ORDER BY second") == [
        ("a", "b", 4, 0.3), ("a", "c", 1, 0.1),
    ]  # fmt: skip
    assert rows(con, "SELECT first, second, count, strength, formed_at, last_at FROM links") == [
        ("a", "b", 4, 0.3, WHEN + timedelta(minutes=3), WHEN + timedelta(minutes=4))
    ]


def note(id, **given):
    return make(NoteOpened, session="s", note=id, content=f"do {id}", deadline=at(hours=1), **given)


def test_a_note_is_in_one_state_at_a_time(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [
            note("open"), note("old", historic=True), note("asked", priority=0.9), note("faded"), note("done"),
            note("answered"),
        ],
        [make(NoteSurfaced, session="s", note="open", turn=f"t{i}") for i in (1, 2)],
        [make(NoteEscalated, session="s", note="asked", question="what of it?", at=at(hours=1))],
        [make(NoteEscalated, session="s", note="answered", question="and this?", at=at(hours=1))],
        [make(NoteArchived, session="s", note="faded", at=at(hours=1))],
        [make(NoteClosed, session="s", note="done", resolution="yes"), make(NoteClosed, session="s", note="answered")],
    )  # fmt: skip
    assert dict(rows(con, "SELECT note, status FROM notes")) == {
        "open": "open", "old": "historic", "asked": "escalated", "faded": "archived", "done": "settled",
        "answered": "settled",
    }  # fmt: skip
    assert rows(con, "SELECT surfaced, deadline, resolution FROM notes WHERE note = 'open'") == [
        (2, WHEN + timedelta(hours=1), None)
    ]
    assert rows(con, "SELECT note, question, settled_at IS NOT NULL FROM escalations ORDER BY note") == [
        ("answered", "and this?", True), ("asked", "what of it?", False),
    ]  # fmt: skip


def test_a_note_taken_again_under_its_old_id_is_open(tmp_path):
    con = memory(
        tmp_path / "m.duckdb", [note("n")], [make(NoteClosed, session="s", note="n", resolution="done")], [note("n")]
    )
    assert rows(con, "SELECT status, settled_at, resolution FROM notes") == [("open", None, None)]


def test_a_note_that_waits_again_is_as_it_was_before_it_was_settled(tmp_path):
    notes = [note(id, source="system", context="the rent of May") for id in ("open", "asked", "settled")]
    ids = ("open", "asked", "settled")
    con = memory(
        tmp_path / "m.duckdb",
        notes,
        [make(NoteEscalated, session="s", note="asked", question="what of it?", at=at(hours=1))],
        [make(NoteDoubted, session="s", note="open", turn="t1", at=at(hours=1))],
        [make(NoteClosed, session="s", note=id, resolution="paid", turn="t2", at=at(hours=2)) for id in ids],
        [make(NoteReopened, session="s", note=id, turn="t2", at=at(hours=3)) for id in ids],
        [make(NoteClosed, session="s", note="settled", resolution="at last", at=at(hours=4))],
    )
    told = (
        "note, status, source, context, content, opened_at, reopened_at, question, doubted_by, resolution, settled_at"
    )
    was = ("system", "the rent of May")
    assert rows(con, f"SELECT {told} FROM notes ORDER BY note") == [
        (
            "asked",
            "escalated",
            *was,
            "do asked",
            WHEN + timedelta(hours=0),
            WHEN + timedelta(hours=3),
            "what of it?",
            None,
            None,
            None,
        ),
        ("open", "open", *was, "do open", WHEN + timedelta(hours=0), WHEN + timedelta(hours=3), None, None, None, None),
        (
            "settled",
            "settled",
            *was,
            "do settled",
            WHEN + timedelta(hours=0),
            WHEN + timedelta(hours=3),
            None,
            None,
            "at last",
            WHEN + timedelta(hours=4),
        ),
    ]


def offered(turn_id, pattern="declaration", **given):
    return make(ConclusionOffered, session="s", turn=turn_id, segment="g", pattern=pattern, confidence=0.6, **given)


def detected(turn_id, pattern="declaration", **given):
    return make(
        ConclusionDetected,
        session="s",
        turn=turn_id,
        segment="g",
        pattern=pattern,
        confidence=0.6,
        text="so it is",
        **given,
    )


def settled(turn_id, outcome):
    return make(OfferSettled, session="s", turn=turn_id, segment="g", outcome=outcome)


def test_an_offer_is_open_until_it_is_settled_and_gone_with_its_turn(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1", agent="bot"), offered("t1")],
        [*said("t2"), offered("t2")],
        [*said("t3"), offered("t3"), settled("t2", "declined")],
        [make(TurnRetracted, session="s", turn="t3", id="r")],
    )
    assert rows(con, "SELECT turn_id, status, agent, confidence FROM offers ORDER BY turn_id") == [
        ("t1", "open", "bot", 0.6), ("t2", "declined", "ann", 0.6),
    ]  # fmt: skip


def closed(turn_id, pattern="confirmation", segment="g", **given):
    return make(
        SegmentConcluded, session="s", segment=segment, turn=turn_id, pattern=pattern, confidence=0.9,
        conclusion="it is", **given,
    )  # fmt: skip


def test_a_conclusion_is_the_last_by_which_a_segment_was_concluded(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1", segment="g", effort="e"), detected("t1", "resolution"), closed("t1", "resolution")],
        [*said("t2", segment="g", effort="e"), detected("t2", "confirmation"), closed("t2")],
        [*said("t3", segment="h", effort="e"), detected("t3", "negation")],
        [*said("t4", segment="h", effort="e"), detected("t4"), offered("t4")],
        [*said("t5", segment="i", effort="e", agent="bot"), closed("t5", "declaration", "i")],
    )
    assert rows(con, "SELECT turn_id, segment, pattern, agent, effort, text FROM conclusions ORDER BY position") == [
        ("t2", "g", "confirmation", "ann", "e", "so it is"),
        ("t5", "i", "declaration", "bot", "e", "it is"),
    ]


def test_a_retracted_turn_concludes_nothing(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1", segment="g", effort="e"), closed("t1", "resolution")],
        [*said("t2", segment="g", effort="e"), closed("t2")],
        [make(TurnRetracted, session="s", turn="t2", id="r2")],
        [*said("t3", segment="h", effort="e"), closed("t3", segment="h")],
        [make(TurnRetracted, session="s", turn="t3", id="r3")],
    )
    assert rows(con, "SELECT turn_id, pattern FROM conclusions") == [("t1", "resolution")]
    assert rows(con, "SELECT segment, status, concluded_by FROM segments ORDER BY segment") == [
        ("g", "concluded", "t1"), ("h", "open", None),
    ]  # fmt: skip


@pytest.mark.parametrize(("pattern", "status"), [("confirmation", "open"), ("closed", "concluded")])
def test_an_effort_is_open_again_when_the_words_that_concluded_it_are_retracted(tmp_path, pattern, status):
    con = memory(
        tmp_path / "m.duckdb",
        EFFORT,
        [
            *said("t2", segment="g1", effort="e1"),
            make(EffortConcluded, session="s", effort="e1", turn="t2", pattern=pattern),
        ],
        [make(TurnRetracted, session="s", turn="t2", id="r")],
    )
    assert rows(con, "SELECT status FROM efforts") == [(status,)]


def test_an_artifact_made_again_is_its_newest_version(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), make(ArtifactMade, session="s", artifact="a", kind="fix", title="old", turns=["t1"])],
        [*said("t2"), make(ArtifactMade, session="s", artifact="a", kind="fix", title="new", turns=["t1", "t2"])],
    )
    assert rows(con, "SELECT artifact, kind, title, turns, retracted FROM artifacts") == [
        ("a", "fix", "new", ["t1", "t2"], False)
    ]


def test_an_artifact_says_whether_the_turn_that_made_it_was_retracted(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), make(ArtifactMade, session="s", artifact="a", turns=["t0", "t1"])],
        [*said("t2"), make(ArtifactMade, session="s", artifact="b", turns=["t1", "t2"])],
        [make(TurnRetracted, session="s", turn="t1", id="r")],
    )
    assert rows(con, "SELECT artifact, retracted FROM artifacts ORDER BY artifact") == [("a", True), ("b", False)]


LIVES = {"subject": "ann", "attribute": "live"}
"""What a belief is about."""


def stated(turn_id, value, chain, place=0, **given):
    return make(
        BeliefStated, session="s", turn=turn_id, value=value, chain=chain, place=place, affirmed=True, **(LIVES | given)
    )


def contradicted(turn_id, older, chain, place=1, **given):
    belief = LIVES | {"rule": "changed", "confidence": 0.9, "chain": chain, "place": place} | given
    return make(BeliefContradicted, session="s", turn=turn_id, older=older, **belief)


def restored(turn_id, newer, **given):
    return make(BeliefRestored, session="s", turn=turn_id, newer=newer, **(LIVES | given))


BELIEFS = "SELECT turn_id, value, chain, place, replaced_by, rule, current FROM beliefs ORDER BY position, attribute"


def test_a_statement_is_current_until_another_takes_its_place(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), stated("t1", "oslo", "c"), stated("t1", "tea", "d", attribute="like")],
        [*said("t2"), stated("t2", "bergen", "c", 1), contradicted("t2", "t1", "c", at=at(5))],
    )
    assert rows(con, BELIEFS) == [
        ("t1", "tea", "d", 0, None, None, True),
        ("t1", "oslo", "c", 0, "t2", "changed", False),
        ("t2", "bergen", "c", 1, None, None, True),
    ]
    assert rows(
        con, "SELECT subject, agent, role, affirmed, replaced_at, confidence FROM beliefs WHERE NOT current"
    ) == [("ann", "ann", "user", True, WHEN + timedelta(minutes=5), 0.9)]
    assert rows(as_of(con, "0"), "SELECT value, current FROM beliefs ORDER BY value") == [("oslo", True), ("tea", True)]


def test_a_statement_stands_again_when_what_took_its_place_is_taken_back(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), stated("t1", "oslo", "c")],
        [*said("t2"), stated("t2", "bergen", "c", 1), contradicted("t2", "t1", "c")],
        [make(TurnRetracted, session="s", turn="t2", id="r"), restored("t1", "t2")],
    )
    assert rows(con, BELIEFS) == [("t1", "oslo", "c", 0, None, None, True)]
    assert rows(as_of(con, "1"), "SELECT turn_id, replaced_by FROM beliefs ORDER BY place") == [
        ("t1", "t2"), ("t2", None),
    ]  # fmt: skip


def test_a_statement_that_comes_in_late_takes_its_place_in_the_chain(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), stated("t1", "oslo", "c")],
        [*said("t3"), stated("t3", "bergen", "c", 1), contradicted("t3", "t1", "c", 1)],
        [
            *said("t2"), stated("t2", "rome", "c", 1), restored("t1", "t3"), contradicted("t2", "t1", "c", 1),
            contradicted("t3", "t2", "c", 2),
        ],
    )  # fmt: skip
    assert rows(con, "SELECT turn_id, place, replaced_by FROM beliefs ORDER BY place") == [
        ("t1", 0, "t2"), ("t2", 1, "t3"), ("t3", 2, None),
    ]  # fmt: skip


def test_a_link_that_was_undone_and_made_again_holds(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        [*said("t1"), stated("t1", "oslo", "c")],
        [*said("t2"), stated("t2", "bergen", "c", 1), contradicted("t2", "t1", "c")],
        [restored("t1", "t2"), contradicted("t2", "t1", "c", rule="judged")],
    )
    assert rows(con, "SELECT replaced_by, rule FROM beliefs WHERE NOT current") == [("t2", "judged")]


def test_a_doubt_is_open_until_it_is_judged_and_gone_with_its_turns(tmp_path):
    def doubt(turn, older):
        return make(ContradictionSuspected, session="s", turn=turn, older=older, confidence=0.4, **LIVES)

    con = memory(
        tmp_path / "m.duckdb", said("t1"), [*said("t2"), doubt("t2", "t1")], [*said("t3"), doubt("t3", "t1")],
        [*said("t4"), doubt("t4", "t3")], [contradicted("t2", "t1", "c", rule="judged")], [restored("t1", "t3")],
        [make(TurnRetracted, session="s", turn="t4", id="r")],
    )  # fmt: skip
    doubts = "SELECT turn_id, older, older_text IS NOT NULL, status FROM doubts ORDER BY turn_id"
    assert rows(as_of(con, "3"), doubts) == [
        ("t2", "t1", True, "open"), ("t3", "t1", True, "open"), ("t4", "t3", True, "open"),
    ]  # fmt: skip
    assert rows(con, doubts) == [("t2", "t1", True, "confirmed"), ("t3", "t1", True, "dismissed")]


def test_turns_that_a_judge_set_against_each_other_are_statements_without_words(tmp_path):
    nothing = {"subject": "", "attribute": "", "rule": "judged"}
    con = memory(
        tmp_path / "m.duckdb", said("t1"), said("t2"), [contradicted("t2", "t1", "c", **nothing)],
        [restored("t1", "t2", subject="", attribute="")],
    )  # fmt: skip
    assert rows(as_of(con, "2"), BELIEFS) == [
        ("t1", "", "c", 0, "t2", "judged", False), ("t2", "", "c", 1, None, None, True),
    ]  # fmt: skip
    assert rows(con, BELIEFS) == []


def test_turns_shown_together_are_counted_as_one_pair(tmp_path):
    pair = {"first": "t1", "second": "t2"}
    con = memory(
        tmp_path / "m.duckdb",
        [make(MemoriesAssociated, session="a", count=1, strength=0.05, **pair)],
        [make(MemoriesAssociated, session="b", count=2, strength=0.09, at=at(60), **pair)],
    )
    assert rows(con, "SELECT * EXCLUDE space FROM associations") == [
        ("t1", "t2", 2, 0.09, WHEN, WHEN + timedelta(hours=1), "b")
    ]
    assert rows(as_of(con, "0"), "SELECT count, strength FROM associations") == [(1, 0.05)]


def test_a_turn_to_which_nothing_happened_is_no_row_of_remembered(tmp_path):
    con = memory(
        tmp_path / "m.duckdb", said("t1"), said("t2"),
        [make(MemoryRecalled, id="m", session="s", turns=["t2", "t2"], at=at(5))],
    )  # fmt: skip
    assert rows(con, "SELECT turn_id, recalls, last_recalled_at, content FROM remembered") == [
        ("t2", 1, WHEN + timedelta(minutes=5), "words of t2")
    ]
    assert rows(as_of(con, "1"), "SELECT * FROM remembered") == []


def test_remembered_gathers_what_happened_to_a_turn(tmp_path):
    con = memory(
        tmp_path / "m.duckdb",
        said("t1"),
        [make(MemoryRecalled, id="m1", turns=["t1"], at=at(1))],
        [make(MemoryRecalled, id="m2", turns=["t1"], at=at(90))],
        [make(MemoryRewarded, id="w1", turns=["t1"], reward=1.0)],
        [make(MemoryRewarded, id="w2", turns=["t1"], reward=-0.5)],
        [make(MemoryPinned, id="p1", turn="t1")],
        [make(ImportanceFlagged, id="i", session="s", turn="t1")],
        [make(MemoryPinned, id="p2", turn="t1", pinned=False)],
        [make(TurnRetracted, session="s", turn="t1", id="r")],
    )
    (row,) = view(con, "remembered")
    assert row == {
        "space": "acme", "session": "s", "turn_id": "t1", "position": 0, "at": "2026-01-05T09:00:00Z", "agent": "ann",
        "role": "user", "content": "words of t1", "recalls": 2, "first_recalled_at": "2026-01-05T09:01:00Z",
        "last_recalled_at": "2026-01-05T10:30:00Z", "important": True, "pinned": False, "rewards": 2, "reward": 0.25,
        "retracted": True,
    }  # fmt: skip


def test_of_records_that_are_whole_a_view_has_the_last_of_each_key(tmp_path):
    def kept(growth, turn="t1"):
        return make(RetentionChanged, session="s", turn=turn, growth=growth)

    con = memory(tmp_path / "m.duckdb", said("t1"), [kept(1.1), kept(1.2)], [kept(1.5, "t2"), kept(1.3)])
    assert rows(con, "SELECT turn, growth, position FROM retentions ORDER BY turn") == [("t1", 1.3, 2), ("t2", 1.5, 2)]
    assert rows(as_of(con, "1"), "SELECT turn, growth FROM retentions") == [("t1", 1.2)]


def everything(con, name):
    """The rows of a view, which come in any order."""
    return sorted(map(repr, view(con, name)))


KEEPERS = [processor for processor in PROCESSORS if processor.read_model.keeps]


@pytest.mark.parametrize("processor", KEEPERS, ids=lambda processor: processor.name)
def test_every_record_that_is_whole_names_fields_it_has(processor):
    for keep in processor.read_model.keeps:
        assert keep.event in processor.emits
        assert {*keep.key} <= {field.name for field in fields(keep.event)}


def test_every_view_can_be_asked_for_by_name_and_as_of_a_position(tmp_path):
    con = memory(tmp_path / "m.duckdb", said("t1"))
    made = rows(con, "SELECT view_name FROM duckdb_views() WHERE NOT internal")
    assert sorted(VIEWS) == sorted(name for (name,) in made)
    assert len(view(con, "turns")) == 1
    then = as_of(con, "0")
    for name in VIEWS:
        assert everything(then, name) == everything(con, name), name


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """A memory, and what is there of it as of each of its positions."""
    con = memory(tmp_path_factory.mktemp("resumed") / "m.duckdb", EFFORT, CONCLUDED, RESUMED)
    yield con, {moment: as_of(con, moment) for moment in ("0", "1", "2")}
    con.close()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_that_is_asked_alone_as_of_a_position_knows_no_more_than_with_all_others(resumed, name):
    con, whole = resumed
    for moment in ("0", "1", "2"):
        assert everything(past(con, moment), name) == everything(whole[moment], name)


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_made_for_a_view_that_is_asked_alone_is_all_that_it_uses(name):
    views, words = behind(views_sql(PROCESSORS), {name})
    with closing(in_memory()) as con:
        for _, table in tables(PROCESSORS):
            if table.name in words:
                con.execute(create_sql(table))
        con.execute(views)
        assert con.execute(f"SELECT count(*) FROM {name}").fetchall() == [(0,)]


def test_what_is_made_when_it_is_named_knows_no_more_than_all_made_at_once(resumed):
    con, whole = resumed
    for moment in ("0", "1", "2"):
        then = past(con, moment)
        for name in (*VIEWS, *(table.name for _, table in tables(PROCESSORS))):
            assert unordered(then, name) == unordered(whole[moment], name), name


def unordered(con, name):
    return sorted(map(repr, con.execute(f"SELECT * FROM {name}").fetchall()))


def test_a_statement_that_another_session_superseded_stands_no_longer(tmp_path):
    statement = {"statement": "said-1", "object": "o1", "says": "fact", "text": "in Rome", "turn": "t1"}
    con = memory(
        tmp_path / "m.duckdb",
        [
            *said("t1"),
            make(ObjectMentioned, session="s", object="o1", name="Marta", kind="person", turn="t1"),
            make(ObjectStated, session="s", status="current", **statement),
        ],
        [*said("t2", "later", at=at(5)), make(ObjectStated, session="later", status="superseded", **statement)],
    )
    assert rows(con, "SELECT session, statement, status, o.at FROM object_statements o") == [
        ("s", "said-1", "superseded", WHEN)
    ]
    assert rows(con, "SELECT object, statements FROM objects") == [("o1", 0)]


@pytest.mark.parametrize("name", ["b", "c", "n", "o", "p", "s"])
def test_a_memory_may_have_the_name_that_something_has_in_a_view(tmp_path, name):
    con, plain = (memory(tmp_path / f"{file}.duckdb", EFFORT, CONCLUDED, RESUMED) for file in (name, "plain"))
    assert [row["effort"] for row in view(con, "efforts")] == ["e1"]
    assert [everything(con, other) for other in VIEWS] == [everything(plain, other) for other in VIEWS]


@pytest.mark.parametrize(
    ("moment", "status", "turns"), [("0", "open", 1), ("1", "concluded", 2), ("2", "open", 3)], ids=["0", "1", "2"]
)
def test_as_of_a_position_the_views_know_nothing_later(tmp_path, moment, status, turns):
    con = as_of(memory(tmp_path / "m.duckdb", EFFORT, CONCLUDED, RESUMED), moment)
    assert rows(con, "SELECT status, turns FROM efforts") == [(status, turns)]
    assert rows(con, "SELECT count(*) FROM turns") == [(turns,)]


def test_the_stable_columns_are_there(tmp_path):
    con = memory(tmp_path / "m.duckdb", said("t1"))
    wanted = {
        "turns": "space, session, turn_id, position, t.at, agent, role, content, segment, effort",
        "efforts": "space, effort, topic, status",
        "conclusions": "turn_id, pattern, confidence",
    }
    for name, columns in wanted.items():
        con.execute(f"SELECT {columns} FROM {name} t")
