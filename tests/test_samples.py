"""The sample conversations that the demo feeds: valid, in order, and rich enough to show every mechanism."""

from __future__ import annotations

import io
import re
import shlex
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

import streams
from streams.core.edge import Accepted, Edge
from streams.core.events import (
    DAY,
    OUTSIDE,
    EffortClosed,
    ImportanceFlagged,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    Outside,
    SessionEnded,
    TurnRecorded,
    TurnRetracted,
    micros,
)
from streams.gateways import demo
from streams.gateways.cli import main

ROOT = Path(__file__).parent.parent
SAMPLES = sorted((Path(streams.__file__).parent / "gateways" / "samples").glob("*.jsonl"))


@pytest.fixture(scope="module")
def events() -> list[Outside]:
    found: list[Outside] = []
    for path in SAMPLES:
        edge = Edge()
        for number, raw in enumerate(path.read_bytes().splitlines(), 1):
            outcome = edge.line(path.name, number, raw)
            assert isinstance(outcome, Accepted), f"{path.name}:{number} {outcome}"
            found.append(outcome.event)
    return found


def turns(events: list[Outside]) -> list[TurnRecorded]:
    return [event for event in events if isinstance(event, TurnRecorded)]


def test_every_line_is_an_event_with_an_id_of_its_own(events):
    ids = Counter((event.space, event.id) for event in events)
    assert [id_ for id_, times in ids.items() if times > 1] == []
    assert {event.type for event in events} <= set(OUTSIDE)


def test_within_a_space_time_never_goes_back_from_line_to_line(events):
    for space in {event.space for event in events}:
        times = [event.at for event in events if event.space == space]
        assert [(a, b) for a, b in pairwise(times) if b < a] == []


def test_there_are_many_turns_sessions_agents_and_ten_days_of_them(events):
    talk = turns(events)
    sessions = Counter((turn.space, turn.session) for turn in talk)
    assert len(talk) >= 200
    assert len(sessions) >= 8
    assert len({space for space, _ in sessions}) == 2
    assert max(sessions.values()) >= 60
    assert len({turn.agent for turn in talk if turn.role == "assistant"}) >= 4
    assert len({turn.agent for turn in talk if turn.role == "user"}) >= 4
    assert talk[0].at >= micros("2026-03-01")
    assert max(turn.at for turn in talk) - talk[0].at >= 9 * DAY


def test_no_two_turns_but_short_ones_are_worded_alike(events):
    words = Counter(turn.content for turn in turns(events) if len(turn.content.split()) > 4)
    assert [text for text, times in words.items() if times > 1] == []


def test_tools_answer_the_calls_that_were_made(events):
    parts = [part for turn in turns(events) for part in turn.parts]
    asked = {part["id"] for part in parts if part["type"] == "function"}
    answered = {part["tool_call_id"] for part in parts if part["type"] == "tool_result"}
    assert len(asked) >= 15
    assert asked == answered
    assert all(turn.parts for turn in turns(events) if turn.role == "tool")


def test_facts_name_turns_and_notes_that_came_before_them(events):
    seen: set[tuple[str, str]] = set()
    for event in events:
        match event:
            case TurnRecorded():
                assert not event.reply_to or (event.space, event.reply_to) in seen
            case TurnRetracted() | ImportanceFlagged() | OfferDeclined():
                assert (event.space, event.turn) in seen
            case EffortClosed(turn=turn) if turn:
                assert (event.space, turn) in seen
            case NoteSettled():
                assert (event.space, event.note) in seen
            case _:
                pass
        seen.add((event.space, event.note if isinstance(event, NoteTaken) else event.id))


def test_what_people_and_agents_say_of_their_work_is_there(events):
    kinds = Counter(event.type.partition(".")[0] for event in events)
    spoken = ("effort-declared", "effort-closed", "effort-reopened", "importance-flagged", "note-taken", "note-settled")
    assert {kind: kinds[kind] for kind in (*spoken, "turn-retracted", "offer-declined") if not kinds[kind]} == {}
    assert kinds["session-ended"] == len({(turn.space, turn.session) for turn in turns(events)})
    assert all(isinstance(event, SessionEnded) for event in [events[-1]])


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> str:
    console = Console(width=demo.WIDTH, file=io.StringIO(), record=True)
    demo.run(tmp_path_factory.mktemp("demo") / "home", console)
    return console.export_text()


def test_the_demo_shows_every_part_of_the_main_job_in_100_columns(shown):
    parts, _, typed = shown.partition("9 Next")
    titles = ("Feed", "The context", "Manifest", "Efforts", "Coming back", "Notes", "Recall", "Replay")
    assert [n for n, title in enumerate(titles, 1) if f"{n} {title}" not in parts] == []
    assert [line for line in parts.splitlines()[1:] if len(line.rstrip()) > demo.WIDTH] == []
    assert "Escalated" in parts
    assert "Folded again: working_context, coactivation." in parts
    assert len(shown.splitlines()) <= 120
    assert "# this home" in typed
    assert "serve --http" in parts, "the page shows the same"


def test_the_demo_shows_earlier_work_returning_to_the_context(shown):
    back = shown.partition("5 Coming back")[2].partition("6 Notes")[0]
    moments = re.split(r"^(?:mara|desk), ", back, flags=re.M)[1:]
    returned = [re.findall(r"^.*→ (.*?) *$", moment, re.M) for moment in moments]
    assert [len(efforts) >= 1 for efforts in returned] == [True, True]
    assert "test_returns.py" in returned[0][0]  # the work on the test that fails at midnight, by its title
    assert "KS-90217" in returned[1][0]
    assert "user helga [ticket-4471-" in moments[1]


def test_the_demo_chart_grows_and_shrinks_below_the_budget_while_all_that_was_said_grows(shown):
    rows = re.findall(r"^[a-z]+-[\w-]+ +[●◐○]* +([\d,]+) +([\d,]+) +([\d,]+) [█▒░]+ *$", shown, re.M)
    sizes = [[int(number.replace(",", "")) for number in row] for row in rows]
    contexts = [context for context, _, _ in sizes]
    assert len(sizes) == demo.ROWS
    assert max(contexts) <= demo.BUDGET
    assert contexts != sorted(contexts)
    assert [full for _, _, full in sizes] == sorted(full for _, _, full in sizes)
    assert all(window <= demo.BUDGET for _, window, _ in sizes)


def test_what_the_demo_says_to_type_next_works(shown, monkeypatch, capsys):
    home, *typed = [shlex.split(line, comments=True) for line in shown.partition("9 Next")[2].splitlines()[1:]]
    assert home[0] == "export"
    monkeypatch.setenv(*home[1].split("="))
    assert len(typed) == 7
    for program, *words in typed[:-1]:
        assert program.endswith("mnemolog")
        with pytest.raises(SystemExit) as done:
            main(words)
        told = capsys.readouterr()
        assert (done.value.code, told.err) == (0, "")
        assert told.out
