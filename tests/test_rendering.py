"""Rendering: a pure function from material to a context within its budget."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.open_efforts import EffortConcluded, EffortOpened, EffortProgressed, TurnThreaded
from processors.ttl_escalations import NoteClosed, NoteOpened
from processors.working_context import ContextScored
from projections import context
from projections.context import ContextParams, clip, due, effective_priority, render
from projections.material import Entry, Material, Note, Turn, gather, tool_calls
from streams.events import DAY, HOUR, MINUTE, TurnRetracted, micros
from streams.text.terms import tokens
from tests.memories import SPACE, at, make, memory, turn

NOW = micros("2026-03-02T12:00:00Z")


def talk(effort: str, count: int, role: str = "", words: int = 20, start: int = 0) -> list[Turn]:
    """Turns of an effort, users and assistants in turn; each word tells which turn it is of."""
    return [
        Turn(
            f"{effort}-{n}", role or ("user", "assistant")[n % 2], ("ann", "coder")[n % 2],
            " ".join([f"{effort}-{n}"] + ["word"] * words), effort, "s", start + n, NOW,
        )
        for n in range(count)
    ]  # fmt: skip


def material(**given: Any) -> Material:
    return replace(Material("acme", "s", 7, NOW), **given)


def entry(effort: str, mode: str = "expanded", **given: Any) -> Entry:
    values: dict[str, Any] = {"topic": f"about {effort}", "summary": f"summary of {effort}", "count": 3} | given
    return Entry(effort, mode, 0.9, "mentioned recent", **values)


def note(name: str, priority: float = 0.5, left: int = DAY, life: int = DAY) -> Note:
    return Note(name, f"do {name}", priority, NOW + left - life, NOW + left)


def test_an_empty_space_renders_its_title_and_nothing_else() -> None:
    rendered = render(material())
    assert rendered.text == "# Memory of acme, session s, as of 2026-03-02T12:00:00Z"
    assert rendered.messages == [{"role": "system", "content": rendered.text}]


def test_sections_come_in_order_and_their_tokens_are_those_of_the_text() -> None:
    rendered = render(
        material(
            entries=[entry("a", turns=talk("a", 4)), entry("z", "concluded", conclusion="it was the cache")],
            notes=[note("n")],
            ambient=talk("b", 4),
        )
    )
    assert [section.name for section in rendered.sections] == ["title", "entries", "notes", "concluded", "ambient"]
    assert rendered.tokens == sum(section.tokens for section in rendered.sections) == tokens(rendered.text)
    assert rendered.text == "\n\n".join(section.text for section in rendered.sections)


def test_every_summary_carries_the_id_under_which_its_raw_turns_can_be_had() -> None:
    rendered = render(material(entries=[entry("effort-1", "summary"), entry("effort-2", "recalled", conclusion="yes")]))
    assert "### about effort-1 (3 turns) [effort-1]\nSummary: summary of effort-1" in rendered.text
    assert "- about effort-2 (recalled): yes [effort-2]" in rendered.text
    assert "`mnemolog show ID`" in rendered.text


def test_a_heading_tells_how_much_there_is_and_when_it_was_last_spoken_of() -> None:
    one = entry("e", "summary", count=1, last_at=NOW, importance="high")
    assert "### about e (1 turn, last on 2026-03-02, important) [e]\n" in render(material(entries=[one])).text


def test_of_a_summarys_search_words_a_few_are_read() -> None:
    words = ", ".join(f"word{n}" for n in range(20))
    text = render(material(entries=[entry("e", "summary", summary=f"The crane is stuck. · {words}")])).text
    assert "Summary: The crane is stuck. · word0, word1," in text
    assert "word7" in text
    assert "word8" not in text


def test_of_a_long_summary_the_first_and_the_newest_lines_are_shown() -> None:
    lines = [f"segment {n} " + "word " * 12 for n in range(30)]
    text = render(material(entries=[entry("e", "summary", summary="\n".join(lines))])).text
    shown = [n for n in range(30) if f"segment {n} " in text]
    assert shown[0] == 0
    assert shown[1:] == list(range(30 - len(shown) + 1, 30))
    assert len(shown) > 4


def test_a_summary_entry_shows_no_raw_turns_and_an_expanded_one_shows_them_oldest_first() -> None:
    turns = talk("a", 3)
    assert "user ann:" not in render(material(entries=[entry("a", "summary", turns=turns)])).text
    text = render(material(entries=[entry("a", turns=turns)])).text
    assert text.index("user ann: a-0") < text.index("assistant coder: a-1") < text.index("user ann: a-2")


def test_raw_turns_are_taken_newest_backwards_as_they_fit() -> None:
    rendered = render(material(entries=[entry("a", turns=talk("a", 40, words=60))]), budget=1000)
    shown = rendered.data["entries"][0]["turns"]
    assert shown == [f"a-{n}" for n in range(40 - len(shown), 40)]
    assert 3 < len(shown) < 40


def test_one_entry_cannot_starve_the_others_nor_the_ambient_window() -> None:
    entries = [entry(name, turns=talk(name, 40, words=120)) for name in "abcd"]
    rendered = render(material(entries=entries, ambient=talk("x", 20, words=120), notes=[note("n")]))
    shown = [len(shown["turns"]) for shown in rendered.data["entries"]]
    assert min(shown) >= 2
    assert max(shown) - min(shown) <= 1
    assert len(rendered.data["ambient"]) >= 8
    assert len(rendered.data["notes"]) == 1


def test_what_one_entry_does_not_need_the_others_get() -> None:
    entries = [entry("a", turns=talk("a", 40, words=60)), entry("b", turns=talk("b", 1))]
    alone = render(material(entries=entries[:1])).data["entries"][0]["turns"]
    together = render(material(entries=entries)).data["entries"][0]["turns"]
    assert len(alone) - len(together) <= 2


def test_an_oversize_turn_shows_its_head_its_tail_and_its_id() -> None:
    long = Turn("t-1", "user", "ann", "FIRST " + "word " * 3000 + "LAST", "a", "s", 1, NOW)
    text = render(material(entries=[entry("a", turns=[long])])).text
    assert "user ann: FIRST word" in text
    assert "[…] mnemolog show t-1 […]" in text
    assert text.endswith("word LAST")


def test_tool_turns_are_condensed() -> None:
    tool = Turn("t-1", "tool", "shell", "RUN " + "line " * 500 + "1 failed", "a", "s", 1, NOW)
    rendered = render(material(ambient=[*talk("a", 1), tool]))
    line = next(line for line in rendered.text.splitlines() if line.startswith("tool shell:"))
    assert tokens(line) <= ContextParams().tool + 4
    assert line.startswith("tool shell: RUN line")
    assert line.endswith("1 failed")


def test_nothing_is_shown_twice() -> None:
    turns = talk("a", 30)
    rendered = render(material(entries=[entry("a", turns=turns)], ambient=turns[-12:]))
    for one in turns:
        assert rendered.text.count(f"{one.id} word") <= 1
    data = rendered.data
    assert not {*data["entries"][0]["turns"]} & {shown["turn"] for shown in data["ambient"]}
    assert data["entries"][0]["recent_turns"] == [turn.id for turn in turns[-12:]]


def test_the_ambient_window_is_the_last_ten_exchanges() -> None:
    rendered = render(material(ambient=talk("a", 60, words=2)))
    assert [shown["turn"] for shown in rendered.data["ambient"]] == [f"a-{n}" for n in range(40, 60)]


@pytest.mark.parametrize("budget", [6000, 20_000, 100_000])
def test_a_large_budget_is_a_hard_cap_too(budget: int) -> None:
    turns = [
        Turn(f"t{n}", "user", "ann", f"{n} " * 400 + "longer-words-at-the-end " * 50, "a", "s", n, NOW)
        for n in range(200)
    ]
    rendered = render(material(entries=[entry("a", turns=turns[:150])], ambient=turns[150:]), budget)
    assert budget / 2 < tokens(rendered.text) <= budget or budget > 60_000
    assert rendered.tokens <= budget
    assert rendered.data["budget"] == budget


def test_notes_are_the_eight_most_pressing_by_effective_priority() -> None:
    notes = [note(f"n{n}", priority=n / 20) for n in range(12)] + [note("soon", 0.3, left=HOUR // 2)]
    shown = [shown["note"] for shown in render(material(notes=notes)).data["notes"]]
    assert shown == ["soon", "n11", "n10", "n9", "n8", "n7", "n6", "n5"]


@pytest.mark.parametrize(
    ("left", "expected"), [(1.0, 0.4), (0.21, 0.4), (0.2, 0.4), (0.19, 0.6), (0.05, 0.6), (0.04, 0.8), (-1.0, 0.8)]
)
def test_effective_priority_escalates_as_the_time_to_live_runs_out(left: float, expected: float) -> None:
    waiting = Note("n", "x", 0.4, 0, 100 * HOUR)
    assert effective_priority(waiting, int(100 * HOUR * (1 - left))) == expected


def test_effective_priority_is_at_most_one() -> None:
    assert effective_priority(Note("n", "x", 0.9, 0, HOUR), HOUR - 1) == 1.0


@pytest.mark.parametrize(
    ("left", "words"),
    [(-1, "overdue"), (30 * MINUTE, "in 30 min"), (5 * HOUR, "in 5 h"), (47 * HOUR, "in 47 h"), (3 * DAY, "in 3 days")],
)
def test_deadlines_are_told_in_words(left: int, words: str) -> None:
    assert due(NOW + left, NOW) == words


def test_messages_alternate_after_one_system_message_and_begin_with_a_user() -> None:
    ambient = [
        Turn("t0", "assistant", "coder", "earlier answer", "", "s", 0, NOW),
        Turn("t1", "user", "ann", "first", "", "s", 1, NOW),
        Turn("t2", "user", "bob", "second", "", "s", 2, NOW),
        Turn("t3", "assistant", "coder", "", "", "s", 3, NOW, calls=["shell"]),
        Turn("t4", "tool", "shell", "exit 1", "", "s", 4, NOW),
        Turn("t5", "assistant", "coder", "it failed", "", "s", 5, NOW),
        Turn("t6", "user", "ann", "why?", "", "s", 6, NOW),
    ]
    messages = render(material(ambient=ambient)).messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "assistant coder: earlier answer" in messages[0]["content"]
    assert messages[1]["content"] == "user ann: first\nuser bob: second"
    assert messages[2]["content"] == "(calls shell)\ntool shell: exit 1\nit failed"
    assert messages[3]["content"] == "user ann: why?"


def test_with_one_user_and_one_assistant_messages_are_their_plain_words() -> None:
    ambient = [
        Turn("1", "user", "ann", "hi", "", "s", 1, NOW),
        Turn("2", "assistant", "coder", "yes?", "", "s", 2, NOW),
    ]
    assert render(material(ambient=ambient)).messages[1:] == [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"},
    ]  # fmt: skip


def test_data_is_json_with_every_score() -> None:
    rendered = render(material(entries=[entry("a", turns=talk("a", 2))], notes=[note("n", 0.8, left=HOUR)]))
    data = json.loads(json.dumps(rendered.data))
    assert data == rendered.data
    assert data["entries"][0]["score"] == 0.9
    assert data["entries"][0]["signals"] == ["mentioned", "recent"]
    assert data["notes"][0]["effective_priority"] == 1.0
    assert data["tokens"] == rendered.tokens


WORDS = st.one_of(
    st.text(max_size=400),
    st.builds(
        lambda word, n: word * n,
        st.sampled_from(["word ", "x", "漢字", "\n\n \t", "a-b_c.", "ok! "]),
        st.integers(0, 4000),
    ),
)
TURNS = st.lists(
    st.builds(
        lambda role, agent, content, calls: Turn("", role, agent, content, "", "s", 0, NOW, calls=calls),
        st.sampled_from(["user", "assistant", "tool", "system"]), st.text(max_size=30), WORDS,
        st.lists(st.text(max_size=8), max_size=2),
    ),
    max_size=12,
)  # fmt: skip
ENTRIES = st.lists(
    st.builds(
        lambda mode, topic, summary, turns: Entry("", mode, 0.5, "", topic=topic, summary=summary, turns=turns),
        st.sampled_from(["expanded", "summary", "concluded", "recalled"]), WORDS, WORDS, TURNS,
    ),
    max_size=6,
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(
    st.integers(0, 4000),
    ENTRIES,
    TURNS,
    st.lists(st.tuples(WORDS, st.floats(0, 1), st.integers(-DAY, DAY)), max_size=10),
)
def test_the_budget_is_a_hard_cap_and_the_same_material_gives_the_same_bytes(
    budget: int, entries: list[Entry], ambient: list[Turn], waiting: list[tuple[str, float, int]]
) -> None:
    for place, one in enumerate(entries):
        one.effort = f"effort-{place}"
        for n, said in enumerate(one.turns):
            said.id = f"e{place}-{n}"
    for n, said in enumerate(ambient):
        said.id = f"a-{n}"
    notes = [Note(f"n{n}", text, p, NOW - DAY, NOW + left) for n, (text, p, left) in enumerate(waiting)]
    given_ = material(entries=entries, ambient=ambient, notes=notes)
    rendered = render(given_, budget)
    assert tokens(rendered.text) <= budget
    assert sum(tokens(message["content"]) for message in rendered.messages) <= budget
    assert render(given_, budget) == rendered


@settings(max_examples=200, deadline=None)
@given(WORDS, st.integers(0, 60), st.sampled_from(["", "turn-1"]), st.sampled_from([1.0, 0.67]))
def test_clipped_text_is_within_its_limit(text: str, limit: int, id: str, head: float) -> None:
    assert tokens(clip(text, limit, id, head)) <= limit


def test_a_full_context_is_rendered_in_under_five_milliseconds() -> None:
    entries = [entry(name, turns=talk(name, 40, words=80)) for name in "abcd"]
    given_ = material(entries=entries, ambient=talk("x", 40, words=80), notes=[note(f"n{n}") for n in range(20)])
    render(given_)
    times = []
    for _ in range(15):
        began = process_time()
        render(given_)
        times.append(process_time() - began)
    assert min(times) < 0.005


def test_rendering_reads_no_clock_and_no_database() -> None:
    source = inspect.getsource(context)
    assert "import duckdb" not in source
    assert "now()" not in source
    assert "time()" not in source


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ("[]", []),
        ('[{"type":"function","id":"1","function":{"name":"shell","arguments":"{}"}}]', ["shell"]),
        ('[{"type":"tool_use","name":"search","input":{}}]', ["search"]),
        ('[{"type":"tool_result","tool_call_id":"1"}, {"function": "odd"}, {"function": {"name": 3}}]', []),
    ],
)
def test_tool_calls_are_known_by_name(parts: str, names: list[str]) -> None:
    assert tool_calls(parts) == names


def test_gathered_from_a_memory_it_holds_what_stands_there(tmp_path: Path) -> None:
    def threaded(id: str, effort: str, session: str = "s") -> Any:
        return make(TurnThreaded, session=session, turn=id, effort=effort, role="user")

    scored = make(
        ContextScored, session="s", turn="t3", role="user", efforts=["e1", "e2"], scores=[0.9, 0.4],
        modes=["expanded", "concluded"], signals=["mentioned recent", ""], similarities=[0.0, 0.0],
        recencies=[0.5, 0.0], idle=[0, 3],
    )  # fmt: skip
    connection = memory(
        tmp_path / "m.duckdb",
        [turn("t1", "s", "the parser crashes"), make(EffortOpened, session="s", effort="e1", turn="t1", topic="parser"),
         threaded("t1", "e1"), make(EffortProgressed, session="s", effort="e1", topic="parser", summary="it crashes")],
        [turn("t2", "s", "take this back"), threaded("t2", "e1")],
        [turn("t3", "s", "and the docs?"), make(EffortOpened, session="s", effort="e2", turn="t3", topic="docs"),
         threaded("t3", "e2"), make(EffortConcluded, session="s", effort="e2", turn="t3", conclusion="docs are fine"),
         scored],
        [turn("t4", "other", "elsewhere"), threaded("t4", "e1", "other")],
        [make(TurnRetracted, session="s", turn="t2")],
        [make(NoteOpened, session="s", note="n1", content="call Bo", deadline=at(hours=5), priority=0.7),
         make(NoteOpened, session="s", note="n2", content="done already", deadline=at(hours=5), priority=0.7)],
        [make(NoteClosed, session="s", note="n2")],
    )  # fmt: skip
    found = gather(connection, SPACE, "s")
    assert (found.space, found.session, found.position) == (SPACE, "s", 4)
    assert [(e.effort, e.mode, e.score, e.topic, e.conclusion) for e in found.entries] == [
        ("e1", "expanded", 0.9, "parser", ""), ("e2", "concluded", 0.4, "docs", "docs are fine"),
    ]  # fmt: skip
    assert [t.id for t in found.entries[0].turns] == ["t1", "t4"]
    assert [t.id for t in found.ambient] == ["t1", "t3"]
    assert [(n.note, n.priority) for n in found.notes] == [("n1", 0.7)]
    text = render(found).text
    assert "take this back" not in text
    assert "elsewhere" in text
    assert "call Bo" in text


def test_a_session_that_is_not_there_gives_an_empty_context(tmp_path: Path) -> None:
    connection = memory(tmp_path / "m.duckdb", [turn("t1", "s", "hello")])
    found = gather(connection, "nobody", "nothing")
    assert (found.position, found.now, found.entries, found.ambient, found.notes) == (-1, 0, [], [], [])
    assert render(found).tokens > 0


def test_material_takes_few_queries_whatever_there_is(tmp_path: Path) -> None:
    efforts = [f"e{n}" for n in range(8)]
    scored = make(
        ContextScored, session="s", turn="t1", efforts=efforts, scores=[0.5] * 8, modes=["expanded"] * 8,
        signals=[""] * 8, similarities=[0.0] * 8, recencies=[0.0] * 8, idle=[0] * 8,
    )  # fmt: skip
    opened = [make(EffortOpened, session="s", effort=effort, turn="t1") for effort in efforts]
    connection = memory(tmp_path / "m.duckdb", [turn("t1", "s", "hello"), *opened, scored])
    asked: list[str] = []

    class Counting:
        def execute(self, sql: str, parameters: Any = None) -> Any:
            asked.append(sql)
            return connection.execute(sql, parameters)

    gather(Counting(), SPACE, "s")
    assert len(asked) <= 14
