"""The commands that ask a memory and that say what became of what it told, as people and programs meet them."""

import json
import re

import pytest

from streams.gateways.command import FAILED, MISUSED, OK
from tests.processes import PIPE, Program
from tests.test_cli import line, run, words

__all__ = ["run"]  # a fixture

SAID = [
    "The ferry leaves the harbour at nine.",
    "My favourite colour is blue.",
    "Ben keeps the key of the boat house.",
    "My favourite colour is green now.",
]


@pytest.fixture
def fed(run, tmp_path):
    """A home with four turns, t0 to t3, of as many sessions."""
    turns = [line(f"s{n}", said, id=f"t{n}", at=f"2026-01-0{n + 5}T09:00:00Z") for n, said in enumerate(SAID)]
    assert run("feed", "-", home=tmp_path / "home", stdin="".join(turns).encode()).code == OK
    return tmp_path / "home"


def recorded(run, home, type_="memory-recalled"):
    """What the log has of a type."""
    rows = run("tail", "--json", "--limit", 1000, home=home).rows
    return [row for row in rows if row["type"].startswith(type_)]


def told(run, home):
    return run("digest", "--json", home=home).out


# -- asking ------------------------------------------------------------------------------------------------------------


def test_an_answer_is_a_table_for_people_and_one_object_for_programs(run, fed):
    person = run("recall", "when", "does the ferry leave?", home=fed)
    assert (person.code, person.err) == (OK, "")
    assert re.search(r"turn.*t0.*The ferry leaves the harbour at nine\.", person.out)
    (found,) = run("recall", "when does the ferry leave?", "-k", 1, "--json", home=fed).rows
    assert [hit["turn_id"] for hit in found["hits"]] == ["t0"]
    assert found["hits"][0]["turns"] == ["t0"]
    assert found["hits"][0]["parts"]["own"] > 0
    assert found["asked_at"] == "2026-01-08T09:00:00Z"


def test_nothing_found_is_said_and_is_no_mistake(run, fed):
    person = run("recall", "zeppelin", home=fed)
    assert (person.code, person.out.strip()) == (OK, "nothing was found")
    elsewhere = run("recall", "ferry", "--space", "nowhere", home=fed)
    assert (elsewhere.code, "there is no space 'nowhere'" in elsewhere.err) == (OK, True)


def test_history_tells_what_was_believed_before(run, fed):
    assert "blue" not in run("recall", "my favourite colour", "--kind", "turn", home=fed).out
    history = run("recall", "my favourite colour", "--kind", "turn", "--history", home=fed).out
    assert "t3 took the place of t1: blue" in history
    assert "blue" in run("recall", "my favourite colour", "--kind", "turn", "--as-of", 2, home=fed).out


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("", 0),
        ("--record", 1),
        ("--session now", 1),
        ("--session now --no-record", 0),
        ("--session now --json", 1),
        ("--session now --as-of 3", 0),
        ("--session now --record --as-of 2026-01-09", 0),
    ],
)
def test_what_is_shown_in_a_session_is_recorded_unless_told_otherwise(run, fed, options, kept):
    run("recall", "the key of the boat house", *words(options), home=fed)
    shown = recorded(run, fed)
    assert len(shown) == kept
    for event in shown:
        assert event["cue"] == "the key of the boat house"
        assert event["session"] == ("now" if "--session" in options else "")
        assert event["turns"][0] == "t2"
        assert set(event["turns"]) <= {"t0", "t1", "t2", "t3"}


def test_no_more_turns_are_recorded_than_a_fact_may_name(run, tmp_path):
    turns = "".join(line("s", f"the harbour, number {n}", id=f"h{n}") for n in range(60))
    run("feed", "-", home=tmp_path, stdin=turns.encode())
    assert len(run("recall", "harbour", "-k", 60, "--session", "x", "--json", home=tmp_path).rows[0]["hits"]) > 32
    (event,) = recorded(run, tmp_path)
    assert len(event["turns"]) == 32
    assert set(event["turns"]) <= {f"h{n}" for n in range(60)}


def test_a_batch_and_a_context_of_the_past_are_not_recorded_as_shown_now(run, fed):
    asked = json.dumps({"query": "the key of the boat house", "session": "now"}).encode()
    for as_of, kept in ((("--as-of", 3), 0), ((), 1)):
        assert '"t2"' in run("recall", "--batch", "--record", *as_of, home=fed, stdin=asked).out
        assert len(recorded(run, fed)) == kept
        question = ("--session", "now", "--question", "Who keeps the key of the boat house?")
        assert "Ben keeps" in run("context", "--record", *question, *as_of, home=fed).out
        assert len(recorded(run, fed)) == 2 * kept


# -- many questions ----------------------------------------------------------------------------------------------------


def test_a_batch_answers_line_by_line_and_fails_where_a_line_is_none(run, fed):
    lines = [
        {"id": "a", "query": "ferry", "k": 1},
        {"id": "b", "query": "ferry", "k": 0},
        {"query": "colour", "kinds": ["turn", "segment"], "at": "2026-02-01T00:00:00Z", "session": "s1"},
        {"id": "c", "query": "ferry", "color": 1},
        {"id": "d", "query": "ferry", "at": "soon"},
        {"id": "e", "query": "ferry", "kinds": ["dream"]},
        {"id": "f", "query": "ferry", "kinds": 5},
        {"id": "g"},
        {"id": "h", "query": "ferry", "at": 10**30},
        {"id": "i", "query": "ferry", "space": "elsewhere"},
    ]
    text = "\n".join([*map(json.dumps, lines[:3]), "{", "", "[1]", *map(json.dumps, lines[3:])])
    before = told(run, fed)
    found = run("recall", "--batch", home=fed, stdin=text.encode())
    assert (found.code, found.err) == (FAILED, "")
    ids = [row["id"] for row in found.rows]
    assert ids == ["a", "b", 3, None, None, "c", "d", "e", "f", "g", "h", "i"]
    answered = {row["id"]: row["hits"] for row in found.rows if "hits" in row}
    assert sorted(answered, key=str) == [3, "a", "i"]
    assert [hit["turn_id"] for hit in answered["a"]] == ["t0"]
    assert answered["i"] == []
    assert all(row["error"] for row in found.rows if row["id"] not in answered)
    assert told(run, fed) == before
    assert recorded(run, fed) == []


def test_a_batch_is_recorded_where_it_is_asked_to_be(run, fed):
    lines = [{"query": "ferry", "session": "x"}, {"query": "zeppelin"}, {"query": "boat house key"}]
    text = "\n".join(map(json.dumps, lines)).encode()
    assert run("recall", "--batch", home=fed, stdin=text).code == OK
    assert recorded(run, fed) == []
    assert run("recall", "--batch", "--record", home=fed, stdin=text).code == OK
    shown = recorded(run, fed)
    assert [(event["cue"], event["session"]) for event in shown] == [("ferry", "x"), ("boat house key", "")]


# -- one memory --------------------------------------------------------------------------------------------------------


def test_what_is_said_of_a_memory_is_told_by_it(run, fed):
    assert run("reward", "t0", "t2", "--by", -0.5, home=fed).code == OK
    assert run("pin", "t0", home=fed).code == OK
    assert run("pin", "t0", "--off", home=fed).code == OK
    assert run("consolidate", home=fed).code == OK
    run("recall", "ferry", "--session", "now", "--at", "2026-01-09T09:00:00Z", home=fed)
    (found,) = run("memory", "t0", "--json", home=fed).rows
    assert sorted(row["what"] for row in found["accesses"]) == ["pinned", "recalled", "rewarded", "unpinned"]
    assert (found["text"], found["session"]) == (SAID[0], "s0")
    person = run("memory", "t3", home=fed)
    assert (person.code, person.err) == (OK, "")
    assert "took the place of" in person.out
    assert run("needs-recall", "where is the ferry?", "--session", "new", home=fed).out.startswith("recall")


def test_a_memory_is_drawn_and_the_same_memory_gives_the_same_picture(run, fed, tmp_path):
    run("recall", "ferry", "--session", "now", "--at", "2026-01-09T09:00:00Z", home=fed)
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg", tmp_path / "three.PNG"]
    for picture in pictures:
        assert run("memory", "t0", "--plot", picture, home=fed).code == OK
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert pictures[0].read_text().startswith("<?xml")
    assert pictures[2].read_bytes().startswith(b"\x89PNG")
    assert run("memory", "t0", "--plot", pictures[0], "--at", "2400-01-01T00:00:00Z", home=fed).code == OK


# -- mistakes ----------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("recall", "there is no question"),
    ("recall ferry --kind dream", "there is no kind 'dream'"),
    ("recall ferry --at yesterday", "'yesterday' is no time"),
    ("recall ferry --as-of yesterday", "'yesterday' is neither a position nor a time"),
    ("recall ferry -k 0", "'-k': 0"),
    ("recall ferry -k 1001", "'-k': 1001"),
    ("memory nobody", "there is nothing with the id 'nobody'"),
    ("memory t0 --at soon", "'soon' is no time"),
    ("memory t0 --plot picture.txt", "picture.txt is no picture"),
    ("memory t0 --plot /nowhere/at/all.svg", "cannot be written"),
    ("needs-recall hello --session x --at soon", "'soon' is no time"),
    ("reward nobody", "there is no turn 'nobody'"),
    ("reward t0 --by 2", "'--by': 2"),
    ("pin nobody", "there is no turn 'nobody'"),
    ("replay --as x --preset nobody", "there is no preset 'nobody'"),
]


@pytest.mark.parametrize(("mistake", "reason"), MISTAKES, ids=[mistake for mistake, _ in MISTAKES])
def test_a_mistake_is_answered_in_words_with_a_way_out(run, fed, mistake, reason):
    found = run(*words(mistake), home=fed)
    assert (found.code, found.out) == (MISUSED, "")
    assert reason in found.err
    assert len(found.err.splitlines()) >= 2
    assert "Traceback" not in found.err
    machine = run(*words(mistake), "--json", home=fed)
    assert (machine.code, sorted(json.loads(machine.err))) == (MISUSED, ["error", "way_out"])
    assert recorded(run, fed) == []


def test_any_words_are_a_question(run, fed):
    for query in ("", "?", '"((', "AND OR NOT", "東京の天気", "🙂", "col:x*", "\udcff", "x" * 100_000, "\x1b[31m"):
        for how in ((), ("--json",), ("--session", "odd")):
            found = run("recall", query, *how, home=fed)
            assert (found.code, found.err) == (OK, ""), (query[:20], how)


# -- presets -----------------------------------------------------------------------------------------------------------


def test_presets_are_listed_and_replayed_under(run, fed):
    rows = run("presets", "--json", home=fed).rows
    assert {row["preset"] for row in rows} == {"chatbot", "task-agent", "personal-assistant", "researcher"}
    assert "activation.decay" in run("presets", home=fed).out
    assert run("replay", "--as", "archive", "--preset", "researcher", home=fed).code == OK
    late = ("--at", "2026-06-01T00:00:00Z", "--json")
    gone = [
        run("memory", "t0", *late, *where, home=fed).rows[0]["forgotten"] for where in ((), ("--memory", "archive"))
    ]
    assert gone == [True, False]


# -- processes ---------------------------------------------------------------------------------------------------------


def test_a_served_home_recalls_for_other_processes(run, fed):
    alone = run("recall", "ferry", "--json", home=fed).out
    with Program("serve", "--home", fed, stdout=PIPE) as process:
        try:
            assert process.stdout is not None
            assert b"serving" in process.stdout.readline()
            assert run("recall", "ferry", "--json", home=fed).out == alone
            run("feed", "-", home=fed, stdin=line("s9", "Ben likes the ferry.", id="t9").encode())
            (found,) = run("recall", "ferry", "-k", 5, "--session", "now", "--json", home=fed).rows
            assert {"t0", "t9"} <= {hit["turn_id"] for hit in found["hits"]}
            assert [event["session"] for event in recorded(run, fed)] == ["now"]
            assert run("recall", "ferry", "-k", 0, home=fed).code == MISUSED
            batch = run("recall", "--batch", home=fed, stdin=b'{"id": 1, "query": "ferry", "k": 1}\n')
            assert [hit["turn_id"] for hit in batch.rows[0]["hits"]] == [found["hits"][0]["turn_id"]]
        finally:
            process.terminate()
            assert process.wait() == OK
