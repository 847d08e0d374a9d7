"""The named analyses over one small memory, whose every number can be counted by hand."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import orjson
import pytest

from processors import PROCESSORS
from processors.association import MemoriesAssociated
from processors.coactivation import LinkFormed, PairCoactivated
from processors.compression import SessionCompressed
from processors.confidence import ConfidenceChanged
from processors.consolidation import ConsolidationRan, MemoryConsolidated
from processors.contradictions import BeliefContradicted, BeliefStated
from processors.direct_access import SessionNoted
from processors.forgetting import RetentionChanged
from processors.long_term import EntriesLoaded, EntryDistilled
from processors.manifest import (
    ConclusionDetected,
    ConclusionOffered,
    OfferSettled,
    SegmentConcluded,
    SegmentOpened,
    TurnFiled,
    TurnRefiled,
)
from processors.network import KnowledgeLinked, KnowledgeNoted
from processors.objects import ObjectMentioned, ObjectStated
from processors.open_efforts import (
    EffortConcluded,
    EffortOpened,
    EffortProgressed,
    EffortResumed,
    TurnRethreaded,
    TurnThreaded,
)
from processors.tasks import TaskChanged
from processors.ttl_escalations import NoteArchived, NoteClosed, NoteEscalated, NoteOpened, NoteSurfaced
from processors.working_context import ContextChanged, ContextScored
from processors.working_memory import WorkingMemoryChanged
from projections import analyses as analyses_of_memories
from projections.analyses import bind
from projections.as_of import as_of, past
from streams.core.errors import UsageError
from streams.core.events import (
    ConsolidationRequested,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    SummaryWritten,
    TaskDeclared,
    TaskUpdated,
    TitleWritten,
    TurnRetracted,
)
from tests.memories import at, make, memory, turn

ROOT = Path(__file__).parents[1]
ANALYSES = analyses_of_memories.analyses(PROCESSORS)
PARAMS = {
    "association": {"half_life": 30.0, "link_after": 2},
    "confidence": {"user": 0.8, "contradicted": 0.3, "suspected": 0.7},
}
"""Those that analyses read."""
DAY_1, DAY_2, DAY_8 = datetime(2026, 1, 5), datetime(2026, 1, 6), datetime(2026, 1, 12)
DAY_8_11, DAY_9_11 = datetime(2026, 1, 12, 11), datetime(2026, 1, 13, 11)


def run(connection, name, given=None):
    """The rows of a named analysis."""
    connection.execute(ANALYSES[name].sql, bind(ANALYSES[name], given or {}))
    columns = [column[0] for column in connection.description]
    return [dict(zip(columns, row, strict=True)) for row in connection.fetchall()]


def said(id, session, hours, segment, effort, agent="ann", tokens=10, parts=()):
    when = at(hours=hours)
    derived = {"session": session, "turn": id, "at": when}
    return [
        turn(id, session, f"words of {id}", tokens=tokens, agent=agent, at=when, parts=[*parts]),
        make(TurnFiled, **derived, segment=segment),
        make(TurnThreaded, **derived, effort=effort, reason="words" if effort else "small-talk", score=0.5),
    ]


def opened(effort, topic, session, id, hours):
    return make(
        EffortOpened, session=session, effort=effort, turn=id, topic=topic, reason="unmatched", at=at(hours=hours)
    )


def scored(session, id, hours, *entries):
    efforts, modes = [effort for effort, _ in entries], [mode for _, mode in entries]
    n = len(entries)
    return make(
        ContextScored, session=session, turn=id, at=at(hours=hours), efforts=efforts, modes=modes, scores=[0.5] * n,
        signals=["similar"] * n, similarities=[0.5] * n, recencies=[0.5] * n, idle=[0] * n,
    )  # fmt: skip


def segment(name, session, id, reason="shift", score=0.6):
    return make(SegmentOpened, session=session, segment=name, turn=id, reason=reason, score=score)


def concluded(effort, session, id, hours, pattern):
    return make(
        EffortConcluded, session=session, effort=effort, turn=id, pattern=pattern, conclusion="so", at=at(hours=hours)
    )


def detected(session, id, pattern, confidence):
    return make(ConclusionDetected, session=session, turn=id, pattern=pattern, confidence=confidence, text="so")


def offered(session, id, hours, pattern):
    return make(ConclusionOffered, session=session, turn=id, pattern=pattern, confidence=0.6, at=at(hours=hours))


def settled(session, id, hours, outcome):
    return make(OfferSettled, session=session, turn=id, outcome=outcome, at=at(hours=hours))


def changed(session, id, effort, change, other="", score=0.5, other_score=0.0):
    return make(
        ContextChanged, session=session, turn=id, effort=effort, change=change, other=other, score=score,
        other_score=other_score,
    )  # fmt: skip


def pair(id, first, second, count, strength):
    return make(PairCoactivated, session="a", turn=id, first=first, second=second, count=count, strength=strength)


def note(id, priority, source="user"):
    return make(NoteOpened, session="a", note=id, content=id, priority=priority, source=source, deadline=at(hours=24))


def progressed(effort, session, summary):
    return make(EffortProgressed, session=session, effort=effort, topic="", summary=summary)


def recalled(id, hours, *turns, session="b", cue="pump"):
    return make(MemoryRecalled, id=id, session=session, cue=cue, turns=list(turns), at=at(hours=hours))


def rewarded(id, hours, turn_, reward):
    return make(MemoryRewarded, id=id, turns=[turn_], reward=reward, session="b", at=at(hours=hours))


def associated(first, second, hours, count, strength):
    pair_ = {"first": first, "second": second, "count": count, "strength": strength}
    return make(MemoriesAssociated, session="b", at=at(hours=hours), **pair_)


def at_hand(hours, *items):
    when = at(hours=hours)
    shown = {"items": list(items), "shown": [when] * len(items), "cues": ["pump"], "asked": [when]}
    return make(WorkingMemoryChanged, session="b", at=when, **shown)


def practised(id, hours, growth, cause="recalled", last=None, **marks):
    when = at(hours=hours if last is None else last)
    return make(
        RetentionChanged, session="b", turn=id, at=at(hours=hours), cause=cause, growth=growth, recalled=when, **marks
    )


def relied(id, hours, reason, scale=1.0, shift=0.0, contradicted=False):
    return make(
        ConfidenceChanged, session="b", turn=id, at=at(hours=hours), reason=reason, scale=scale, shift=shift,
        contradicted=contradicted, salience=0.65, touched=at(hours=hours),
    )  # fmt: skip


def stated(id, value, place):
    belief = {"subject": "ann", "attribute": "live", "value": value, "affirmed": True, "chain": "c1", "place": place}
    return make(BeliefStated, session="a", turn=id, **belief)


def replayed(id, cause, hours, replays, r1, r2=0.0):
    return make(MemoryConsolidated, session="", turn=id, cause=cause, at=at(hours=hours), replays=replays, r1=r1, r2=r2)


def compressed(session, first, last, hours, **given):
    return make(
        SessionCompressed,
        session=session,
        first_turn=first,
        last_turn=last,
        tone="neutral",
        at=at(hours=hours),
        **given,
    )


def noted(note, hours, text, status="current", by=""):
    return make(
        SessionNoted,
        session="a",
        note=note,
        kind="plan",
        text=text,
        turn="a1",
        status=status,
        by=by,
        at=at(hours=hours),
    )


def task(name, hours, change, place="active", status="executing", **more):
    return make(
        TaskChanged, task=name, change=change, place=place, status=status, source="declared", at=at(hours=hours),
        started=at(hours=201) if place != "aside" or change == "demoted" else 0, **more,
    )  # fmt: skip


def entry(name, hours, status="active", kind="fact"):
    return make(EntryDistilled, session="a", entry=name, kind=kind, turns=["a1"], status=status, at=at(hours=hours))


def known(name, hours, confidence, status="current"):
    return make(
        KnowledgeNoted, session="a", node=name, turn="a2", kind="claim", text=name, turns=["a2"], sources=1, sessions=1,
        status=status, layer=1, confidence=confidence, at=at(hours=hours),
    )  # fmt: skip


def linked(source, target, outcome="stands"):
    return make(KnowledgeLinked, session="a", source=source, target=target, kind="support", rule="so", outcome=outcome)


def loaded(session, hours, *entries):
    return make(EntriesLoaded, session=session, entries=[*entries], at=at(hours=hours))


STEPS = [
    # Monday, session a: e1 and e2 interleaved; e3 displaces e1
    [
        *said("a1", "a", 0, "g1", "e1", tokens=30),
        segment("g1", "a", "a1", "first", 1.0), opened("e1", "pump", "a", "a1", 0),
        changed("a", "a1", "e1", "entered"), scored("a", "a1", 0, ("e1", "expanded")),
    ],
    [
        *said("a2", "a", 1, "g1", "e1", "bot", tokens=50, parts=[{"type": "tool_use", "id": "c1", "name": "sql"}]),
        progressed("e1", "a", "the pump leaks"),
        scored("a", "a2", 1, ("e1", "expanded")), compressed("a", "a1", "a1", 1, turns=1, tokens=30),
        noted("p1", 1, "seal the pump"), entry("l1", 1), entry("l2", 1), entry("l3", 1, kind="solution"),
        loaded("b", 1, "l1"), loaded("b", 1, "l1", "l2"), loaded("c", 1, "l2", "l3"), entry("l2", 1, "misled"),
        entry("l2", 1), entry("l3", 1, "contradicted", "solution"),
        known("leak", 1, 0.5), known("seal", 1, 0.75), known("gone", 1, 0.1, "retracted"), known("leak", 1, 0.6),
        linked("seal", "leak"), linked("leak", "seal"), linked("gone", "leak"), linked("leak", "seal", "gone"),
    ],
    [
        *said("a3", "a", 2, "g2", "e2"), segment("g2", "a", "a3"), opened("e2", "trip", "a", "a3", 2),
        changed("a", "a3", "e2", "entered"), scored("a", "a3", 2, ("e2", "expanded"), ("e1", "summary")),
        pair("a3", "e1", "e2", 1, 0.1),
    ],
    [
        *said("a4", "a", 3, "g3", "e1"), segment("g3", "a", "a4"), pair("a4", "e1", "e2", 2, 0.2),
        scored("a", "a4", 3, ("e1", "expanded"), ("e2", "summary")),
        detected("a", "a4", "resolution", 0.9),
        make(SegmentConcluded, session="a", segment="g3", turn="a4", pattern="resolution", confidence=0.9),
        concluded("e1", "a", "a4", 3, "resolution"),
        compressed("a", "a1", "a2", 3, turns=2, tokens=80, topics=["pump"], decisions=["so"]),
        noted("p1", 3, "seal the pump", "superseded", "p2"), noted("p2", 3, "sell the pump"),
    ],
    [
        *said("a5", "a", 4, "g4", "e3", "bot"), segment("g4", "a", "a5"), opened("e3", "tax", "a", "a5", 4),
        changed("a", "a5", "e1", "left", "e3", 0.2, 0.9), changed("a", "a5", "e3", "entered", "e1", 0.9, 0.2),
        scored("a", "a5", 4, ("e3", "expanded"), ("e2", "summary")),
        detected("a", "a5", "declaration", 0.6), offered("a", "a5", 4, "declaration"),
        pair("a5", "e1", "e3", 1, 0.1), pair("a5", "e1", "e2", 3, 0.3),
        make(LinkFormed, session="a", first="e1", second="e2", count=3, strength=0.3, at=at(hours=4)),
    ],
    # Tuesday, session b: small talk, e1 is resumed
    [*said("b1", "b", 24, "g5", ""), segment("g5", "b", "b1", "first", 1.0), scored("b", "b1", 24)],
    [
        *said("b2", "b", 25, "g6", "e1", "cat"), segment("g6", "b", "b2"),
        make(EffortResumed, session="b", effort="e1", turn="b2", reason="words", at=at(hours=25)),
        changed("b", "b2", "e1", "entered"), scored("b", "b2", 25, ("e1", "expanded")),
        settled("a", "a5", 25, "declined"),
    ],
    # next Monday: b3 was first taken for e2, b4 was a slip
    [
        *said("b3", "b", 168, "g6", "e2", "cat"),
        detected("b", "b3", "declaration", 0.7), offered("b", "b3", 168, "declaration"),
    ],
    [
        *said("b4", "b", 169, "g6", "e1"),
        make(TurnRethreaded, session="b", turn="b3", effort="e1"),
        make(TurnRefiled, session="b", turn="b3", segment="g6"),
        settled("b", "b3", 169, "accepted"),
        make(SegmentConcluded, session="b", segment="g6", turn="b3", pattern="declaration", confidence=1.0),
        concluded("e2", "a", "b4", 169, "closed"),
    ],
    [make(TurnRetracted, session="b", turn="b4", reason="popped", id="r", at=at(hours=169))],
    [note("n1", 0.9), note("n2", 0.6), note("n3", 0.3, "inferred"), note("n4", 0.3, "inferred"), note("n5", 0.6)],
    [make(NoteSurfaced, session="a", note="n1", turn="a1"), make(NoteSurfaced, session="a", note="n1", turn="a2")],
    [
        make(NoteEscalated, session="a", note="n1", question="?", at=at(hours=24)),
        make(NoteEscalated, session="a", note="n2", question="?", at=at(hours=24)),
        make(NoteArchived, session="a", note="n3", at=at(hours=24)),
    ],
    [
        make(NoteClosed, session="a", note="n1", resolution="done", at=at(hours=30)),
        make(NoteClosed, session="a", note="n4", resolution="done", at=at(hours=6)),
    ],
    # what ann said of where she lives: a4 took the place of a1
    [
        stated("a1", "oslo", 0), stated("a4", "bergen", 1),
        make(
            BeliefContradicted, session="a", turn="a4", older="a1", subject="ann", attribute="live", value="bergen",
            older_value="oslo", rule="changed", confidence=0.9, chain="c1", place=1, at=at(hours=3),
        ),
        relied("a1", 3, "contradicted", contradicted=True),
    ],
    # the pump is asked about on two days; a1 helped, a3 misled
    [
        recalled("m1", 170, "a1", "a2"), practised("a1", 170, 1.1), practised("a2", 170, 1.1),
        associated("a1", "a2", 170, 1, 0.05), at_hand(170, "a1", "a2"),
        relied("a1", 170, "recalled", contradicted=True), relied("a2", 170, "recalled"),
    ],
    [
        recalled("m2", 194, "a1", "a3", "a1"), practised("a1", 194, 1.21), practised("a3", 194, 1.1),
        associated("a1", "a3", 194, 1, 0.05), at_hand(194, "a1", "a3"),
    ],
    [recalled("m3", 194, "a2", session="", cue="tax")],
    [
        rewarded("w1", 195, "a1", 1.0), practised("a1", 195, 1.21, "rewarded", 194, reward=0.3),
        relied("a1", 195, "rewarded", 0.8, 0.2, contradicted=True),
    ],
    [rewarded("w2", 195, "a3", -0.5), relied("a3", 195, "misled", 0.8)],
    [
        make(MemoryPinned, id="p1", turn="a1", at=at(hours=195)), relied("a1", 195, "pinned", 0.8, 0.2, True),
        practised("a1", 195, 1.21, "pinned", 194, reward=0.3, pinned=True),
    ],
    [
        replayed("a1", "scheduled", 168, 1, 0.2), replayed("a5", "scheduled", 168, 1, 0.4),
        make(ConsolidationRan, cause="scheduled", run=1, fresh=0, week=2, older=0, at=at(hours=168)),
        replayed("a1", "pinned", 195, 1, 0.1),
    ],
    [
        make(ConsolidationRequested, id="c1", at=at(hours=196)), replayed("a1", "requested", 196, 2, 0.3, 0.1),
        make(ConsolidationRan, cause="requested", run=2, fresh=0, week=0, older=1, at=at(hours=196)),
    ],
    # a model writes a title for e1, and a summary of what is no segment
    [
        make(TitleWritten, id="w1", session="b", turns=["b2"], title="the pump", model="tiny", at=at(hours=200)),
        progressed("e1", "b", "the pump leaks"),
    ],
    [
        make(
            SummaryWritten, id="w2", session="b", first_turn="b1", last_turn="b2", text="x", model="tiny",
            at=at(hours=200),
        ),
    ],
    [
        make(TaskDeclared, id="k0", task="mast", content="Oil the mast", at=at(hours=201)),
        task("mast", 201, "admitted", estimate=2.0), task("sail", 201, "admitted"),
        task("flag", 201, "set_aside", "aside"),
    ],
    [
        make(TaskUpdated, id="k1", task="mast", status="blocked", at=at(hours=202)),
        task("mast", 202, "blocked", status="blocked", estimate=2.0), task("sail", 202, "demoted", "aside"),
    ],
    [
        make(TaskUpdated, id="k2", task="mast", status="complete", at=at(hours=205)),
        task("mast", 205, "complete", "ended", "complete", estimate=2.0, description="Oil the mast"),
        make(
            TaskChanged, task="rope", change="admitted", place="active", status="executing", source="declared",
            description="Coil rope 7", at=at(hours=207), started=at(hours=207),
        ),
        make(ObjectMentioned, object="o1", name="Marta", kind="person", turn="a1", session="a", at=at(hours=205)),
        make(ObjectStated, object="o1", name="Marta", statement="s1", says="role", turn="a1", at=at(hours=205)),
        make(ObjectStated, object="o1", statement="s2", says="role", turn="a2", status="superseded", session="a"),
    ],
]  # fmt: skip


def tuned(path, *steps):
    made = memory(path, *steps)
    made.execute("UPDATE meta SET value = ? WHERE key = 'params'", [orjson.dumps(PARAMS).decode()])
    return made


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    return tuned(tmp_path_factory.mktemp("memory") / "m.duckdb", *STEPS)


@pytest.fixture(scope="module")
def early(tmp_path_factory):
    """The memory as it was when position 12 was the last."""
    return tuned(tmp_path_factory.mktemp("memory") / "early.duckdb", *STEPS[:13])


@pytest.fixture(scope="module")
def then(con):
    """The memory as of position 12."""
    return as_of(con, "12")


def unordered(found):
    """Rows that are equal in what an analysis sorts by may come in any order."""
    return sorted(map(repr, found))


def columns(found, *names):
    return [tuple(row[name] for name in names) for row in found]


def test_each_analysis_says_what_it_tells():
    assert len(ANALYSES) >= 14
    for name, one in ANALYSES.items():
        assert one.description.endswith("."), name
        assert one.sql.startswith("-- "), name
        assert all(parameter.about for parameter in one.parameters), name
    files = [path.stem for room in ("processors", "projections") for path in (ROOT / room).rglob("queries/*.sql")]
    assert sorted(files) == sorted(ANALYSES)


@pytest.mark.parametrize("name", list(ANALYSES))
def test_an_analysis_of_another_space_is_empty_and_of_this_one_is_not(con, name):
    assert run(con, name, {"space": "nobody"}) == []
    assert run(con, name, {"space": "acme"}) == run(con, name) != []


@pytest.mark.parametrize("name", list(ANALYSES))
def test_as_of_a_position_an_analysis_tells_what_it_told_then(con, then, early, name):
    assert unordered(run(then, name)) == unordered(run(early, name)) == unordered(run(past(con, "12"), name))


@pytest.mark.parametrize("letter", ["c", "m", "p", "s"])
def test_an_analysis_can_be_asked_of_a_memory_that_has_the_name_of_something_in_it(tmp_path, early, letter):
    con = tuned(tmp_path / f"{letter}.duckdb", *STEPS[:13])
    for name in ANALYSES:
        assert unordered(run(con, name)) == unordered(run(early, name)), name


def test_of_what_models_wrote_it_is_told_how_much_changed_anything(con):
    assert columns(run(con, "titles_written"), "model", "written", "used", "without_effect") == [("tiny", 1, 1, 0)]
    assert columns(run(con, "summaries_written"), "written", "of_segments", "of_sessions", "without_effect") == [
        (1, 0, 0, 1)
    ]


def test_as_of_a_position_an_analysis_counts_nothing_later(con):
    assert columns(run(as_of(con, "4"), "sessions"), "session", "turns") == [("a", 5)]
    assert columns(run(as_of(con, "2"), "efforts"), "effort", "turns") == [("e2", 1), ("e1", 2)]


def test_parameters_come_as_text_and_take_the_type_of_their_default():
    asked = ANALYSES["tokens"]
    assert bind(asked, {"every": "3", "session": "a"}) == {"space": "", "session": "a", "every": 3, "budget": 4000}
    with pytest.raises(UsageError, match="every = 'often' is not a whole number"):
        bind(asked, {"every": "often"})
    with pytest.raises(UsageError, match="tokens has no parameter 'evry'"):
        bind(asked, {"evry": "3"})
    with pytest.raises(UsageError, match="no analysis named 'nonsense'"):
        analyses_of_memories.analysis(PROCESSORS, "nonsense")


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("busiest_topics", {"by": "fortnight"}, "by = 'fortnight' is none of hour, day, week, month"),
        ("efforts", {"status": "opne"}, "status = 'opne' is none of open, concluded"),
        ("knowledge", {"status": "x"}, "is none of current, open, history, merged, pruned, retracted"),
        ("sessions", {"limit": "-1"}, "limit = '-1' is below 0"),
        ("confidence", {"below": -0.5}, "below = -0.5 is below 0"),
    ],
)
def test_a_value_that_a_parameter_cannot_have_is_refused_with_those_that_it_can(name, given, says):
    with pytest.raises(UsageError, match=says) as refused:
        bind(ANALYSES[name], given)
    assert "its default is" in refused.value.way_out


def test_a_parameter_may_be_each_of_its_choices_and_what_stands_for_all():
    choices = {(a.name, p.name): p.choices for a in ANALYSES.values() for p in a.parameters if p.choices}
    assert choices[("effort_flow", "by")] == ("hour", "day", "week", "month")
    for (name, parameter), values in choices.items():
        assert [bind(ANALYSES[name], {parameter: value})[parameter] for value in values] == [*values]
    assert {parameter for _, parameter in choices} == {"by", "status", "cause"}
    assert bind(ANALYSES["knowledge"], {"status": ""})["status"] == ""


def test_sessions(con):
    found = run(con, "sessions")
    assert columns(found, "session", "turns", "retracted", "tokens", "agents", "segments", "efforts", "in_context") == [
        ("b", 3, 1, 30, "ann, cat", 2, 1, 1),
        ("a", 5, 0, 110, "ann, bot", 4, 3, 2),
    ]
    assert columns(found, "context_topics") == [("pump",), ("tax | trip",)]
    assert columns(run(con, "sessions", {"limit": "1"}), "session") == [("b",)]


def test_tokens(con):
    # at a4: e1 expanded (30 + 50 + 10) and e2 in summary, of which there is none yet;
    # at a3: e2 expanded (10) and the summary of e1, three words of at most seven letters
    found = run(con, "tokens", {"session": "a", "every": 1})
    assert columns(found, "raw_tokens") == columns(found, "history_tokens")
    assert columns(found, "turn_id", "raw_tokens", "context_tokens", "entries", "saved") == [
        ("a1", 30, 30, 1, 0.0),
        ("a2", 80, 80, 1, 0.0),
        ("a3", 90, 13, 2, 0.856),
        ("a4", 100, 90, 2, 0.1),
        ("a5", 110, 10, 2, 0.909),
    ]
    assert columns(run(con, "tokens", {"session": "a", "every": 2, "budget": 50}), "turn", "context_tokens") == [
        (2, 50), (4, 50), (5, 10),
    ]  # fmt: skip
    # in b, e1 is shown with its turns of a (100 tokens in all), out of 130 said so far; b4 is retracted
    found = run(con, "tokens", {"session": "b", "every": 2})
    assert columns(found, "turn_id", "raw_tokens", "history_tokens", "context_tokens", "saved") == [
        ("b2", 20, 130, 100, 0.231), ("b4", 30, 140, 110, 0.214),
    ]  # fmt: skip


def test_tools_of_any_format_are_counted_with_their_answers(tmp_path):
    def said(id, minutes, *parts, **more):
        return [turn(id, more.pop("session", "s"), parts=[*parts], at=at(minutes), **more)]

    con = memory(
        tmp_path / "m.duckdb",
        said(
            "t1", 0, {"type": "tool_use", "id": "u1", "name": "Bash"}, {"type": "tool_use", "id": "u2", "name": "Bash"}
        ),
        said("t2", 1, {"type": "tool_result", "tool_use_id": "u1", "is_error": True}, tokens=7),
        said("t3", 2, {"type": "function", "id": "u1", "function": {"name": "sql"}}, session="other", agent="bot"),
        said("t4", 2.5, {"type": "tool_result", "tool_call_id": "u1", "name": "sql"}, session="other", tokens=5),
        said("t5", 3, {"type": "function_call", "call_id": "k", "id": "fc", "name": "sql"}),
        said("t6", 4, {"type": "function_call_output", "call_id": "k"}, tokens=20),
        said("t7", 5, {"functionCall": {"name": "find", "args": {}}}),
        said("t8", 6, {"functionResponse": {"name": "find"}}, reply_to="t7", tokens=1),
        said("t9", 7, {"type": "web_search_call", "id": "w"}, {"type": "text", "text": "no tool"}),
        [
            *said("gone", 8, {"type": "tool_use", "id": "u9", "name": "Bash"}),
            make(TurnRetracted, session="s", turn="gone"),
        ],
    )
    assert columns(run(con, "tools"), "tool", "calls", "agents", "sessions", "answered", "failed", "median_seconds",
                   "answer_tokens") == [
        ("Bash", 2, 1, 1, 1, 1, 60.0, 7), ("sql", 2, 2, 2, 2, 0, 45.0, 25), ("find", 1, 1, 1, 1, 0, 60.0, 1),
        ("web_search", 1, 1, 1, 0, 0, None, 0),
    ]  # fmt: skip


def test_efforts(con):
    # the newest turn is of hour 169 (b4, retracted, moves the clock all the same)
    found = run(con, "efforts")
    assert columns(found, "effort", "status", "turns", "sessions", "reopened", "age_hours", "untouched_hours") == [
        ("e1", "open", 5, 2, 1, 169.0, 1.0),
        ("e3", "open", 1, 1, 0, 165.0, 165.0),
        ("e2", "concluded", 1, 1, 0, 167.0, 167.0),
    ]
    assert columns(run(con, "efforts", {"status": "concluded"}), "effort") == [("e2",)]


def test_effort_flow(con):
    found = run(con, "effort_flow")
    assert columns(found, "period", "opened", "concluded", "reopened", "open_at_end") == [
        (DAY_1, 3, 1, 0, 2), (DAY_2, 0, 0, 1, 3), (DAY_8, 0, 1, 0, 2),
    ]  # fmt: skip
    assert columns(run(con, "effort_flow", {"by": "month"}), "opened", "concluded", "open_at_end") == [(3, 2, 2)]


def test_displacement(con):
    assert columns(
        run(con, "displacement"), "displaced_topic", "by_topic", "times", "displaced_score", "by_score", "last_turn"
    ) == [("pump", "tax", 1, 0.2, 0.9, "a5")]


def test_conclusions(con):
    # a4 concluded its segment; b3's offer was accepted, a5's declined
    found = run(con, "conclusions")
    assert columns(found, "pattern", "agent", "claimed", "confidence", "offered", "accepted", "concluded") == [
        ("declaration", "bot", 1, 0.6, 1, 0, 0),
        ("declaration", "cat", 1, 0.7, 1, 1, 1),
        ("resolution", "ann", 1, 0.9, 0, 0, 1),
    ]


def test_coactivation_graph(con):
    found = run(con, "coactivation_graph")
    assert columns(found, "first_topic", "second_topic", "count", "strength", "linked") == [
        ("pump", "trip", 3, 0.3, True), ("pump", "tax", 1, 0.1, False),
    ]  # fmt: skip
    assert len(run(con, "coactivation_graph", {"least": "0.2"})) == 1


def test_escalations(con):
    found = run(con, "escalations")
    names = (
        "priority",
        "taken",
        "surfaced",
        "settled_in_time",
        "escalated",
        "answered",
        "archived",
        "historic",
        "open",
    )
    assert columns(found, *names) == [
        ("high", 1, 1, 0, 1, 1, 0, 0, 0),
        ("medium", 2, 0, 0, 1, 0, 0, 0, 1),
        ("low", 2, 0, 1, 0, 0, 1, 0, 0),
    ]


def test_busiest_topics(con):
    found = run(con, "busiest_topics", {"top": 2})
    assert columns(found, "period", "topic", "turns", "tokens", "sessions") == [
        (DAY_1, "pump", 4, 100, 2), (DAY_1, "trip", 1, 10, 1), (DAY_8, "pump", 1, 10, 1),
    ]  # fmt: skip


def test_agents(con):
    found = run(con, "agents")
    assert columns(found, "agent", "turns", "turn_share", "tokens", "token_share", "efforts", "conclusions") == [
        ("ann", 4, 0.5, 60, 0.429, 2, 1),
        ("bot", 2, 0.25, 60, 0.429, 2, 0),
        ("cat", 2, 0.25, 20, 0.143, 1, 1),
    ]


def test_interleaving(con):
    # a: e1 e1 | e2 | e1 | e3
    found = run(con, "interleaving")
    assert columns(found, "session", "turns", "efforts", "switches", "returns", "switches_per_100", "longest_run") == [
        ("a", 5, 3, 3, 1, 60.0, 2), ("b", 2, 1, 0, 0, 0.0, 2),
    ]  # fmt: skip


def test_time_to_conclusion(con):
    assert columns(run(con, "time_to_conclusion"), "pattern", "efforts", "median_hours", "median_turns") == [
        ("closed", 1, 167.0, 1.0)
    ]


def test_offers(con):
    found = run(con, "offers")
    names = ("pattern", "offered", "accepted", "declined", "overtaken", "open", "acceptance", "median_minutes")
    # settled after 21 hours and after one
    assert columns(found, *names) == [("declaration", 2, 1, 1, 0, 0, 0.5, 660.0)]


def test_resumed(con):
    found = run(con, "resumed")
    assert columns(found, "effort", "resumed_by", "was_concluded_by", "hours_after", "other_session", "status_now") == [
        ("e1", "b2", "resolution", 22.0, True, "open")
    ]


def test_notes(con):
    assert columns(run(con, "notes"), "source", "status", "notes", "surfaced", "median_hours") == [
        ("inferred", "archived", 1, 0, 24.0),
        ("inferred", "settled", 1, 0, 6.0),
        ("user", "escalated", 1, 0, 24.0),
        ("user", "open", 1, 0, None),
        ("user", "settled", 1, 2, 30.0),
    ]


def test_segment_lengths(con):
    # g1 2, g2 1, g3 1 (concluded), g4 1, g5 1, g6 2 (b4 is retracted; concluded)
    assert columns(run(con, "segment_lengths"), "turns", "segments", "share", "concluded", "mean_tokens") == [
        ("1", 4, 0.667, 1, 10.0), ("2-3", 2, 0.333, 1, 50.0),
    ]  # fmt: skip


def test_context_churn(con):
    found = run(con, "context_churn")
    assert columns(found, "session", "turns", "entered", "went", "changes_per_100", "mean_entries", "most_entries") == [
        ("a", 5, 3, 1, 80.0, 1.6, 2), ("b", 4, 1, 0, 25.0, 0.75, 1),
    ]  # fmt: skip


def test_rules(con):
    assert columns(run(con, "rules"), "what", "reason", "decisions", "mean_score", "revised", "share") == [
        ("segment", "shift", 4, 0.6, 0, 0.667),
        ("segment", "first", 2, 1.0, 0, 0.333),
        ("effort", "words", 8, 0.5, 1, 0.889),
        ("effort", "small-talk", 1, 0.5, 0, 0.111),
    ]


def test_recalls(con):
    found = run(con, "recalls")
    assert columns(found, "session", "cue", "shown", "turns", "best") == [
        ("", "tax", 1, ["a2"], "words of a2"),
        ("b", "pump", 2, ["a1", "a3", "a1"], "words of a1"),
        ("b", "pump", 2, ["a1", "a2"], "words of a1"),
    ]
    assert columns(run(con, "recalls", {"session": "b", "limit": 1}), "at") == [(DAY_9_11,)]


def test_most_recalled(con):
    # shown twice in one answer is shown once
    found = run(con, "most_recalled")
    assert columns(found, "turn_id", "recalls", "sessions", "reward", "pinned", "contradicted", "content") == [
        ("a1", 2, 1, 1.0, True, True, "words of a1"),
        ("a2", 2, 2, None, False, False, "words of a2"),
        ("a3", 1, 1, -0.5, False, False, "words of a3"),
    ]
    assert columns(found, "first_recalled_at", "last_recalled_at")[1:] == [(DAY_8_11, DAY_9_11), (DAY_9_11, DAY_9_11)]


def test_never_recalled(con):
    # b4 is retracted
    found = run(con, "never_recalled")
    assert columns(found, "period", "role", "turns", "recalled", "never", "share", "tokens", "tokens_never") == [
        (DAY_1, "user", 7, 3, 4, 0.429, 130, 40), (DAY_8, "user", 1, 0, 1, 0.0, 10, 10),
    ]  # fmt: skip
    assert columns(run(con, "never_recalled", {"by": "day"}), "period", "recalled") == [
        (DAY_1, 3), (DAY_2, 0), (DAY_8, 0),
    ]  # fmt: skip


def test_association_graph(con):
    # a day of thirty has passed since a1 and a2 were shown together
    found = run(con, "association_graph")
    assert columns(found, "first", "second", "count", "strength", "strength_now", "linked", "second_content") == [
        ("a1", "a3", 1, 0.05, 0.05, False, "words of a3"),
        ("a1", "a2", 1, 0.05, round(0.05 * 0.5 ** (1 / 30), 6), False, "words of a2"),
    ]
    assert columns(run(con, "association_graph", {"turn": "a2"}), "first") == [("a1",)]
    assert run(con, "association_graph", {"least": 2}) == []


def test_belief_chains(con):
    found = run(con, "belief_chains")
    assert columns(found, "subject", "attribute", "place", "value", "turn_id", "current", "replaced_by", "rule") == [
        ("ann", "live", 0, "oslo", "a1", False, "a4", "changed"),
        ("ann", "live", 1, "bergen", "a4", True, None, None),
    ]
    assert columns(found, "stood_days") == [(0.13,), (None,)]
    assert len(run(con, "belief_chains", {"attribute": "live"})) == 2
    assert run(con, "belief_chains", {"attribute": "drink"}) == run(con, "belief_chains", {"least": 3}) == []


def test_consolidations(con):
    # what a pin moved at the same place is no replay; a1 is seven days old at the first run, a5 four hours less
    found = run(con, "consolidations")
    assert columns(found, "cause", "run", "week", "older", "replayed", "first_time", "median_age_days", "mean_r1") == [
        ("requested", 2, 0, 1, 1, 0, 8.17, 0.3),
        ("scheduled", 1, 2, 0, 2, 2, 6.92, 0.3),
    ]
    assert columns(found, "turns", "mean_r2") == [(["a1"], 0.1), (["a1", "a5"], 0.0)]
    assert columns(run(con, "consolidations", {"cause": "scheduled"}), "run") == [(1,)]


def test_forgetting(con):
    # a2 was last shown a day ago by its spaced recalls, a3 now
    found = run(con, "forgetting")
    assert columns(found, "spaced_recalls", "turns", "mean_growth", "pinned", "mean_reward", "median_idle_days") == [
        (1, 2, 1.1, 0, 0.0, 0.5), (2, 1, 1.21, 1, 0.3, 0.0),
    ]  # fmt: skip


def test_confidence(con):
    # a1: .8 * .8 + .2, of which a contradiction leaves .3; a3: .8 * .8
    found = run(con, "confidence")
    assert columns(found, "turn_id", "reliability", "reason", "contradicted", "contradicted_by", "misled") == [
        ("a1", 0.252, "rewarded", True, ["a4"], 0), ("a3", 0.64, "misled", False, [], 1),
    ]  # fmt: skip
    assert columns(run(con, "confidence", {"below": 0.5}), "turn_id") == [("a1",)]


def test_working_memory(con):
    found = run(con, "working_memory")
    assert columns(found, "at", "at_hand", "came", "stayed", "went", "cue", "items") == [
        (DAY_9_11, 2, 1, 1, 1, "pump", ["a1", "a3"]), (DAY_8_11, 2, 2, 0, 0, "pump", ["a1", "a2"]),
    ]  # fmt: skip
    assert run(con, "working_memory", {"session": "a"}) == []


def test_compressions(con):
    assert columns(run(con, "compressions"), "session", "turns", "tokens", "parts", "decisions", "last_turn") == [
        ("a", 2, 80, 1, 1, "a2")
    ]


def test_notes_of_sessions(con):
    found = run(con, "notes_of_sessions")
    assert columns(found, "session", "kind", "notes", "current", "superseded", "passed") == [("a", "plan", 2, 1, 1, 0)]


def test_pollution_counts_what_fell_out_after_it_was_loaded_though_it_came_back(con):
    found = run(con, "pollution")
    assert columns(found, "space", "sessions", "loaded", "misled", "contradicted", "share") == [
        ("acme", 2, 4, 2, 1, 0.75)
    ]


def test_entry_lifecycle(con):
    found = run(con, "entry_lifecycle")
    assert columns(found, "kind", "status", "entries", "loaded") == [
        ("fact", "active", 2, 3), ("solution", "contradicted", 1, 1),
    ]  # fmt: skip


def test_tasks_done_and_tasks_set_aside(con):
    assert columns(run(con, "tasks_done"), "tasks", "complete", "open", "completion_rate", "median_hours",
                   "against_estimate", "hours_blocked") == [(4, 1, 3, 1.0, 4.0, 2.0, 3.0)]  # fmt: skip
    assert columns(run(con, "tasks_set_aside"), "task", "place", "demoted") == [
        ("flag", "aside", 0),
        ("sail", "aside", 1),
    ]


def test_routines(con):
    assert columns(run(con, "routines"), "done", "then_comes", "times", "hours_later") == [
        ("mast", "coil rope", 1, 2.0)
    ]


def test_statements(con):
    assert columns(run(con, "statements"), "kind", "says", "statements", "current", "superseded", "turns") == [
        ("person", "role", 2, 1, 1, 2)
    ]


def test_rewards(con):
    found = run(con, "rewards")
    assert columns(found, "cue", "recalls", "shown", "rewards", "rewarded", "misled", "mean_reward", "turns") == [
        ("pump", 2, 4, 2, 1, 1, 0.25, 2)
    ]


def test_knowledge_tells_how_sure_each_node_is_and_what_stands_for_it(con):
    rows = run(con, "knowledge")
    assert [(row["node"], row["confidence"], row["supporters"]) for row in rows] == [
        ("seal", 0.75, 0),
        ("leak", 0.6, 1),
    ]
    assert [row["node"] for row in run(con, "knowledge", {"status": "retracted"})] == ["gone"]
