"""What differs between two memories of the same turns."""

from __future__ import annotations

import json
from math import exp

import orjson
import pytest

from processors import PROCESSORS
from processors.activation import ActivationChanged
from processors.association import MemoriesAssociated
from processors.coactivation import LinkFormed, PairCoactivated
from processors.confidence import ConfidenceChanged
from processors.consolidation import ConsolidationRan, MemoryConsolidated
from processors.contradictions import BeliefContradicted, BeliefStated
from processors.forgetting import RetentionChanged
from processors.manifest import ConclusionDetected, SegmentConcluded, SegmentOpened, TurnFiled
from processors.open_efforts import EffortConcluded, EffortOpened, TurnThreaded
from processors.ttl_escalations import NoteEscalated, NoteOpened, NoteSurfaced
from processors.working_context import ContextScored
from projections import diff as diffs
from projections.as_of import as_of
from projections.asking import asking
from projections.diff import Example
from projections.store import read_meta
from streams.core.events import EffortDeclared, TurnRetracted
from tests.memories import at, make, memory, turn


def compare(left, right, names=("left", "right"), examples=diffs.EXAMPLES):
    """What all mechanisms compare."""
    return diffs.compare(left, right, names, examples, PROCESSORS)


def said(n, segment, effort, context=(), *more):
    """Turn n of the one session, with the context after it."""
    derived = {"session": "s", "turn": f"t{n}", "at": at(n)}
    count = len(context)
    return [
        turn(f"t{n}", "s", f"words of t{n}", at=at(n)),
        make(TurnFiled, **derived, segment=segment),
        make(TurnThreaded, **derived, effort=effort),
        make(
            ContextScored, session="s", turn=f"t{n}", efforts=list(context), scores=[0.5] * count,
            modes=["summary"] * count, signals=[""] * count, similarities=[0.5] * count, recencies=[0.5] * count,
            idle=[0] * count,
        ),
        *more,
    ]  # fmt: skip


def opened(n, effort, topic):
    return make(EffortOpened, session="s", effort=effort, turn=f"t{n}", topic=topic, reason="unmatched")


def begins(n, segment):
    return make(SegmentOpened, session="s", segment=segment, turn=f"t{n}", reason="shift")


def linked(first, second):
    pair = {"session": "s", "first": first, "second": second, "count": 3, "strength": 0.3}
    return [make(PairCoactivated, turn="t4", **pair), make(LinkFormed, **pair)]


def escalated(note):
    return [
        make(NoteOpened, session="s", note=note, content=note, deadline=at(9), turn="t1"),
        make(NoteEscalated, session="s", note=note, question=f"what of {note}?", at=at(9)),
    ]


LIVE = [
    said(0, "g1", "e1", ["e1"], opened(0, "e1", "pump"), begins(0, "g1")),
    said(1, "g1", "e1", ["e1"]),
    said(2, "g2", "e2", ["e2", "e1"], opened(2, "e2", "trip"), begins(2, "g2")),
    said(3, "g2", "e2", ["e2", "e1"]),
    said(4, "g2", "e2", ["e2", "e1"], *linked("e1", "e2"), *escalated("n1")),
]
# the same talk in another lineage: other ids, the second effort began one turn later, a third one was found
WIDE = [
    said(0, "h1", "f1", ["f1"], opened(0, "f1", "the pump"), begins(0, "h1")),
    said(1, "h1", "f1", ["f1"]),
    said(2, "h1", "f1", ["f1"]),
    said(3, "h2", "a2", ["f1", "a2"], opened(3, "a2", "the trip"), begins(3, "h2")),
    said(
        4, "h3", "f3", ["f3", "a2"], opened(4, "f3", "tax"), begins(4, "h3"), *linked("a2", "f1"),
        make(EffortConcluded, session="s", effort="a2", turn="t4", pattern="completion"),
        make(ConclusionDetected, session="s", turn="t4", pattern="completion", confidence=0.9, text="done"),
        make(SegmentConcluded, session="s", segment="h3", turn="t4", pattern="completion", confidence=0.9),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def memories(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memories")
    return memory(folder / "live.duckdb", *LIVE), memory(folder / "wide.duckdb", *WIDE)


@pytest.fixture(scope="module")
def diff(memories):
    return compare(*memories, ("live", "wide"))


def row(diff, about, what):
    (found,) = [(r.left, r.right, r.differs) for r in diff.rows if (r.about, r.what) == (about, what)]
    return found


def examples(diff, about, what):
    return [e for e in diff.examples if (e.about, e.what) == (about, what)]


def test_a_memory_does_not_differ_from_itself(memories):
    live, _ = memories
    same = compare(live, live)
    assert same.same
    assert [r for r in same.rows if r.differs] == []
    assert same.examples == []


def declared(name):
    """An effort that somebody named, to which no turn came."""
    event = make(EffortDeclared, session="s", id=f"d-{name}", name=name, topic=name)
    return [event, make(EffortOpened, session="s", effort=f"of-{name}", name=name, topic=name, reason="declared")]


def test_an_effort_that_was_declared_and_has_no_turn_is_the_same_in_both_memories(tmp_path):
    left = memory(tmp_path / "left.duckdb", *LIVE, declared("audit"))
    right = memory(tmp_path / "right.duckdb", *LIVE, declared("audit"))
    assert compare(left, right).same
    closed = [make(EffortConcluded, session="s", effort="of-audit", pattern="closed")]
    also = memory(tmp_path / "also.duckdb", *LIVE, declared("audit") + closed)
    assert row(compare(left, also), "efforts", "concluded in one only") == (None, None, 1)
    other = memory(tmp_path / "other.duckdb", *LIVE, declared("move"))
    found = compare(left, other)
    assert row(found, "efforts", "in left only") == row(found, "efforts", "in right only") == (None, None, 1)


def test_two_lineages_that_found_the_same_under_other_ids_differ_in_these_alone(memories, tmp_path):
    renamed = {"e1": "x1", "e2": "x2", "g1": "y1", "g2": "y2"}
    other = [
        said(0, "y1", "x1", ["x1"], opened(0, "x1", "pump"), begins(0, "y1")),
        said(1, "y1", "x1", ["x1"]),
        said(2, "y2", "x2", ["x2", "x1"], opened(2, "x2", "trip"), begins(2, "y2")),
        said(3, "y2", "x2", ["x2", "x1"]),
        said(4, "y2", "x2", ["x2", "x1"], *linked(renamed["e1"], renamed["e2"]), *escalated("n1")),
    ]
    found = compare(memories[0], memory(tmp_path / "other.duckdb", *other))
    assert {r.what for r in found.rows if r.differs} == {"rows in one only"}
    assert row(found, "turn_threaded", "rows in one only") == (5, 5, 10)


def test_a_difference_that_no_mechanism_measures_is_found_in_its_table(memories, tmp_path):
    surfaced = make(NoteSurfaced, session="s", note="n1", reason="priority", at=at(3))
    found = compare(memories[0], memory(tmp_path / "more.duckdb", *LIVE[:-1], [*LIVE[-1], surfaced]))
    assert not found.same
    assert [(r.about, r.what, r.left, r.right) for r in found.rows if r.differs] == [
        ("note_surfaced", "rows in one only", 0, 1)
    ]
    (example,) = found.examples
    assert (example.what, example.left, "note: n1" in example.right) == ("row in right only", "", True)
    assert [word for word in ("session", "at:", "turn", '""', "null", "[]") if word in example.right] == []
    assert example.right_row is not None
    assert {"session", "at", "turn", "note"} <= example.right_row.keys(), "a machine is told all of it"


def test_of_two_rows_at_one_place_what_differs_is_told_whole(memories, tmp_path):
    topic = "a pump that is " + "very " * 60 + "old"
    other = [[*LIVE[0][:4], opened(0, "e1", topic), *LIVE[0][5:]], *LIVE[1:]]
    found = compare(memories[0], memory(tmp_path / "other.duckdb", *other))
    (example,) = [one for one in found.examples if one.about == "effort_opened"]
    assert (example.what, example.left, example.right) == ("row differs", "topic: pump", f"topic: {topic}")
    assert (example.turn, example.text) == ("t0", "effort_opened, position 0: words of t0")


def test_counts_stand_side_by_side(diff):
    assert row(diff, "turns", "turns") == (5, 5, 0)
    assert row(diff, "segments", "segments") == (2, 3, 1)
    assert row(diff, "efforts", "efforts") == (2, 3, 1)
    assert row(diff, "efforts", "concluded") == (0, 1, 1)
    assert row(diff, "contexts", "mean entries") == (1.6, 1.4, -0.2)
    assert row(diff, "links", "links") == (1, 1, 0)
    assert row(diff, "escalations", "escalated") == (1, 0, -1)
    assert row(diff, "conclusions", "conclusions") == (0, 1, 1)


def test_the_table_is_in_groups(diff):
    order = [r.about for r in diff.rows]
    assert list(dict.fromkeys(order))[:14] == [
        "turns", "segments", "conclusions", "efforts", "contexts", "tokens", "links", "associations", "consolidations",
        "beliefs", "escalations", "named days", "standing", "memories",
    ]  # fmt: skip
    assert [about for about, last in zip(order, [None, *order], strict=False) if about != last] == list(
        dict.fromkeys(order)
    )


def test_efforts_are_matched_by_their_turns(diff):
    # e1 and f1 share t0 and t1, e2 and a2 share t3; f3 is new; t2 and t4 lie elsewhere
    assert row(diff, "efforts", "in left only") == (None, None, 0)
    assert row(diff, "efforts", "in right only") == (None, None, 1)
    assert row(diff, "efforts", "with other turns") == (None, None, 2)
    assert row(diff, "efforts", "concluded in one only") == (None, None, 1)
    assert row(diff, "efforts", "turns elsewhere, share") == (None, None, 0.4)
    assert examples(diff, "efforts", "in right only") == [
        Example("efforts", "in right only", "acme", "s", "t4", "", "tax", "words of t4")
    ]
    assert [(e.turn, e.left, e.right) for e in examples(diff, "efforts", "turn elsewhere")] == [
        ("t2", "trip", "the pump"), ("t4", "trip", "tax"),
    ]  # fmt: skip
    assert [(e.left, e.right) for e in examples(diff, "efforts", "concluded in one only")] == [("open", "concluded")]


def test_contexts_are_compared_as_sets_of_matched_efforts(diff):
    # t3: e2 e1 against f1 a2, which is the same set; t2 lacks e2, t4 has f3 instead of e1
    assert row(diff, "contexts", "other efforts, share of turns") == (None, None, 0.4)
    assert [(e.turn, e.left, e.right, e.text) for e in diff.examples if e.about == "contexts"] == [
        ("t2", "trip", "", "words of t2"), ("t4", "pump", "tax", "words of t4"),
    ]  # fmt: skip


def test_what_stays_in_one_context_only_is_one_example_where_it_begins(tmp_path):
    left = [said(n, "g", "e1", ["e1"], *([opened(0, "e1", "pump")] if n == 0 else [])) for n in range(4)]
    right = [said(n, "g", "e1", ["e1", "e2"] if n else ["e1"]) for n in range(4)]
    right[0].append(opened(0, "e1", "pump"))
    found = compare(memory(tmp_path / "l.duckdb", *left), memory(tmp_path / "r.duckdb", *right))
    assert row(found, "contexts", "other efforts, share of turns") == (None, None, 0.75)
    assert [(e.turn, e.left, e.right) for e in found.examples if e.about == "contexts"] == [("t1", "", "e2")]


def test_boundaries_links_escalations_and_conclusions_of_one_only(diff):
    assert row(diff, "segments", "begin in one only") == (None, None, 3)
    assert [e.turn for e in examples(diff, "segments", "begins in left only")] == ["t2"]
    assert [e.turn for e in examples(diff, "segments", "begins in right only")] == ["t3", "t4"]
    # (a2, f1) is (e2, e1): the same link, though its ids are ordered the other way round
    assert row(diff, "links", "in left only") == row(diff, "links", "in right only") == (None, None, 0)
    assert [(e.turn, e.left) for e in examples(diff, "escalations", "in left only")] == [("t1", "what of n1?")]
    assert [(e.turn, e.right, e.text) for e in examples(diff, "conclusions", "in right only")] == [
        ("t4", "completion", "done")
    ]


def test_a_shorter_memory_is_compared_over_the_turns_it_has(memories, tmp_path):
    found = compare(memories[0], memory(tmp_path / "short.duckdb", *LIVE[:3]))
    assert row(found, "turns", "in one only") == (None, None, 2)
    assert row(found, "efforts", "with other turns") == (None, None, 0)
    assert row(found, "contexts", "other efforts, share of turns") == (None, None, 0.0)


def test_of_a_memory_of_a_part_that_part_alone_is_compared_and_counted(memories, tmp_path):
    short = memory(tmp_path / "short.duckdb", *LIVE[:2])
    found = compare(memories[0], short)
    assert row(found, "turns", "turns") == (5, 2, -3)
    assert {(r.about, r.what) for r in found.rows if r.differs} == {("turns", "turns"), ("turns", "in one only")}
    assert row(found, "efforts", "efforts") == (1, 1, 0)
    elsewhere = [turn("u1", "u", space="zeta"), make(EffortOpened, space="zeta", session="u", effort="e9", turn="u1")]
    two = memory(tmp_path / "two.duckdb", *LIVE, elsewhere)
    found = compare(two, memories[0])
    assert row(found, "efforts", "in left only") == (None, None, 0)
    assert row(found, "segments", "segments") == (2, 2, 0)
    assert {(r.about, r.what) for r in found.rows if r.differs} == {("turns", "turns"), ("turns", "in one only")}


def test_examples_are_as_many_as_asked_for(memories):
    assert len(examples(compare(*memories, examples=1), "segments", "begins in right only")) == 1
    assert compare(*memories, examples=0).examples == []


def test_a_diff_is_json(diff):
    found = json.loads(json.dumps(diff.to_json()))
    assert (found["left"], found["right"], found["same"]) == ("live", "wide", False)
    assert found["rows"][0] == {"about": "turns", "what": "turns", "left": 5, "right": 5, "differs": 0}
    told = {"about", "what", "space", "session", "turn", "left", "right", "text", "left_row", "right_row"}
    assert told == set(found["examples"][0])


def test_a_connection_on_which_a_result_was_left_half_read_can_be_compared(memories):
    memories[0].execute("SELECT * FROM turns").fetchone()
    assert compare(*memories).rows[0].left == 5


# -- how alive memories are --------------------------------------------------------------------------------------------


def told(day, id=None, content="words"):
    """A turn that is told on a day; nothing tells but that it happened, so that it lasts as that does."""
    return [turn(id or f"t{day}", "s", content, at=at(hours=24 * day))]


def remembering(path, *steps, without=(), **set_):
    """A memory folded with the parameters that are set, and defaults, by all mechanisms but those without."""
    made = memory(path, *steps)
    params = {
        p.name: p.params(**set_.get(p.name, {})).model_dump(mode="json") for p in PROCESSORS if p.name not in without
    } | {name: kind.of(set_.get(name, {})).plain() for name, kind in asking(PROCESSORS).items()}
    made.execute("UPDATE meta SET value = ? WHERE key = 'params'", [orjson.dumps(params).decode()])
    return made


def alike(one, other, **given):
    return compare(one, other, ("live", "patient"), **given)


KEEPERS = sum(bool(processor.read_model.keeps) for processor in PROCESSORS)
"""Mechanisms that keep records of things."""
PATIENT = {"forgetting": {"episodic": 90.0}}


def test_what_is_computed_when_it_is_read_is_compared_with_the_parameters_of_each_memory(tmp_path):
    talk = [told(0), told(10)]
    live, patient = remembering(tmp_path / "l", *talk), remembering(tmp_path / "p", *talk, **PATIENT)
    found = alike(live, patient)
    assert not found.same
    means = [(exp(-10) + 1) / 2, (exp(-10 / 90) + 1) / 2]
    assert row(found, "memories", "mean retention")[:2] == tuple(round(mean, 6) for mean in means)
    means = [(exp(-40) + exp(-30)) / 2, (exp(-40 / 90) + exp(-30 / 90)) / 2]
    assert row(found, "memories", "mean retention, 30 days on")[:2] == tuple(round(mean, 6) for mean in means)
    assert row(found, "memories", "forgotten, share") == (0.5, 0, -0.5)
    assert row(found, "memories", "mechanisms") == (KEEPERS, KEEPERS, 0)
    assert row(found, "memories", "mean activation")[2] == 0
    assert examples(found, "memories", "forgotten in left only") == [
        Example("memories", "forgotten in left only", "acme", "s", "t0", "forgotten", "kept, retention 0.89", "words")
    ]


def test_parameters_that_differ_are_named_though_no_row_does(tmp_path):
    talk = [told(0), told(10)]
    live = remembering(tmp_path / "l", *talk)
    asked = {"context.entries": {"turns": 2}, "recall": {"k1": 2.0}}
    found = alike(live, remembering(tmp_path / "p", *talk, **asked))
    assert not found.same
    assert [(r.about, r.what, r.differs) for r in found.rows if r.differs] == [("parameters", "differ", 2)]
    assert {(e.text, e.left, e.right) for e in examples(found, "parameters", "parameter differs")} == {
        ("context.entries.turns", "40", "2"),
        ("recall.k1", "0.9", "2"),
    }


def test_what_is_asked_with_defaults_is_the_same_as_what_is_asked_with_values_equal_to_them(tmp_path):
    talk = [told(0), told(10)]
    live, older = (remembering(tmp_path / name, *talk) for name in "lo")
    params = orjson.loads(read_meta(older, "params"))
    del params["recall"], params["context.entries"]["turns"]  # as of a version that did not have them
    older.execute("UPDATE meta SET value = ? WHERE key = 'params'", [orjson.dumps(params).decode()])
    assert alike(live, older).same


def test_what_is_forgotten_on_the_right_only_is_an_example_too(tmp_path):
    talk = [told(0), told(10)]
    found = alike(remembering(tmp_path / "p", *talk, **PATIENT), remembering(tmp_path / "l", *talk))
    assert [(e.turn, e.left, e.right) for e in examples(found, "memories", "forgotten in right only")] == [
        ("t0", "kept, retention 0.89", "forgotten")
    ]
    assert examples(found, "memories", "forgotten in left only") == []


def test_memories_of_the_same_parameters_do_not_differ_in_how_alive_they_are(tmp_path):
    live = remembering(tmp_path / "l", told(0), told(10))
    assert alike(live, live).same


def test_the_last_record_of_a_turn_by_each_mechanism_is_what_is_read(tmp_path):
    kept = {"session": "s", "turn": "t0"}
    talk = [told(0), told(10)]
    marked = [
        make(RetentionChanged, pinned=True, **kept),
        make(ActivationChanged, reward=1.0, **kept),
        make(MemoryConsolidated, r2=0.5, at=at(hours=240), **kept),
        make(ConfidenceChanged, scale=1.0, contradicted=True, salience=-1.0, **kept),
    ]
    plain = remembering(tmp_path / "plain", *talk)
    found = alike(plain, remembering(tmp_path / "marked", *talk, marked))
    assert row(found, "memories", "forgotten, share") == (0.5, 0, -0.5)
    assert row(found, "memories", "mean activation")[2] == 0.5
    assert row(found, "memories", "mean slow trace")[2] == 0.25
    # .6 of .8, of which a contradiction leaves .3, in one of two
    assert row(found, "memories", "mean confidence")[2] == round(-0.6 * 0.8 * 0.7 / 2, 6)
    unpinned = [make(RetentionChanged, pinned=False, **kept)]
    found = alike(plain, remembering(tmp_path / "unpinned", *talk, marked, unpinned))
    assert row(found, "memories", "forgotten, share") == (0.5, 0.5, 0)


def test_as_of_a_position_later_records_are_not_read(tmp_path):
    pinned = [make(RetentionChanged, session="s", turn="t0", pinned=True)]
    live = remembering(tmp_path / "l", told(0), told(10), pinned)
    found = alike(as_of(live, "1"), live)
    assert row(found, "memories", "forgotten, share") == (0.5, 0, -0.5)


def test_a_mechanism_that_one_memory_lacks_is_not_compared(tmp_path):
    talk = [told(0), told(10)]
    found = alike(remembering(tmp_path / "l", *talk), remembering(tmp_path / "r", *talk, without=["forgetting"]))
    assert row(found, "memories", "mechanisms") == (KEEPERS, KEEPERS - 1, -1)
    assert not {"mean retention", "mean retention, 30 days on", "forgotten, share"} & {r.what for r in found.rows}
    assert row(found, "memories", "mean activation")[2] == 0


def test_turns_are_sampled_evenly_over_time_and_retracted_ones_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(diffs, "SAMPLE", 3)
    talk = [*(told(day) for day in range(7)), [make(TurnRetracted, session="s", turn="t1", id="r")], told(30)]
    live, patient = remembering(tmp_path / "l", *talk), remembering(tmp_path / "p", *talk, **PATIENT)
    found = alike(live, patient)
    # of t0 t2 t3 t4 t5 t6 t30, as many as may be: t0 t4 t6
    assert [e.turn for e in examples(found, "memories", "forgotten in left only")] == ["t6", "t4", "t0"]
    assert len(examples(alike(live, patient, examples=1), "memories", "forgotten in left only")) == 1


def test_memories_that_end_at_other_times_are_compared_at_the_later_one(tmp_path):
    live, short = remembering(tmp_path / "l", told(0), told(10)), remembering(tmp_path / "s", told(0))
    found = alike(live, short)
    assert row(found, "memories", "mean retention") == (round(exp(-10), 6), round(exp(-10), 6), 0)


def test_what_took_whose_place_what_is_associated_and_what_was_replayed_is_counted(tmp_path):
    belief = {"session": "s", "subject": "ann", "attribute": "live"}
    more = [
        make(BeliefStated, turn="t0", **belief),
        make(BeliefStated, turn="t1", **belief),
        make(BeliefContradicted, turn="t1", older="t0", **belief),
        make(MemoriesAssociated, session="s", first="t0", second="t1", strength=0.1),
        make(ConsolidationRan, fresh=1, week=2, older=3),
    ]
    talk = [told(0), told(1), told(2)]
    found = compare(memory(tmp_path / "l", *talk), memory(tmp_path / "r", *talk[:2], [*talk[2], *more]))
    assert [(r.about, r.what, r.differs) for r in found.rows if r.differs] == [
        ("associations", "pairs", 1), ("associations", "mean strength", 0.1), ("consolidations", "runs", 1),
        ("consolidations", "replays", 6), ("beliefs", "statements", 2), ("beliefs", "replaced", 1),
        ("beliefs", "replaced in right only", 1), ("belief_contradicted", "rows in one only", 1),
        ("belief_stated", "rows in one only", 2), ("consolidation_ran", "rows in one only", 1),
        ("memories_associated", "rows in one only", 1),
    ]  # fmt: skip
    assert examples(found, "beliefs", "replaced in left only") == []
    assert examples(found, "beliefs", "replaced in right only") == [
        Example("beliefs", "replaced in right only", "acme", "s", "t0", "", "by t1: words", "words")
    ]
