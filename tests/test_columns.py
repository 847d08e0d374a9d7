"""Tasks, notes and objects name things in words: whatever is taken back in one, nothing breaks in the others."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from processors import PROCESSORS
from processors.objects import ObjectMentioned, ObjectStated
from processors.tasks import TaskChanged
from processors.ttl_escalations import NoteOpened
from streams.core.driver import fold
from streams.core.events import (
    HOUR,
    MINUTE,
    EffortClosed,
    NoteSettled,
    NoteTaken,
    OfferDeclined,
    Outside,
    TaskDeclared,
    TaskUpdated,
    TurnRecorded,
    TurnRetracted,
)
from streams.runtime.home import Home
from tests.laws.histories import START
from tests.serving import serving

SAID = (
    "Hello, please keep your answers short.",
    "I talked to our client Marta Lopez of Acme Corp about the warehouse lease.",
    "Marta prefers detailed explanations by email.",
    "Can you draft the lease of the warehouse for Acme Corp?",
    "The lease is half done. We are waiting for the signature of Marta Lopez.",
    "Remind me to send Marta the photographs of the warehouse tomorrow.",
    "Back to the warehouse lease for Acme Corp: what is left?",
)


def talk() -> list[Outside]:
    """A little of all three columns."""
    turns: list[Outside] = [
        TurnRecorded("s", f"t{n}", START + n * MINUTE, "a", "ann", "assistant" if n == 4 else "user", words)
        for n, words in enumerate(SAID)
    ]
    at = START + 3 * MINUTE
    facts: list[Outside] = [
        TaskDeclared("s", "k", at, "roof", "Repair the roof of the warehouse for Acme Corp", "a"),
        NoteTaken("s", "n", at, "glass", "Ask Marta about the glass for the warehouse", "a"),
    ]
    return [*turns[:5], *facts, *turns[5:]]


def undone() -> Iterator[Outside]:
    """Everything that can be taken back, settled, declined or closed."""
    at = START + 30 * MINUTE
    for n in range(len(SAID)):
        yield TurnRetracted("s", f"r{n}", at, "a", f"t{n}", "popped")
    yield NoteSettled("s", "s1", at, "glass", "a")
    yield NoteSettled("s", "s2", at, "", "a", "", "t5")
    yield TaskUpdated("s", "u1", at, "roof", "a", status="dropped")
    yield TaskUpdated("s", "u2", at, "", "a", "t3", "complete")
    yield EffortClosed("s", "c", at, "a", "", "t3", "done")
    yield OfferDeclined("s", "d", at, "a", "t4")


def test_no_column_has_an_id_of_another() -> None:
    rows = [row.event for row in fold(PROCESSORS, talk())]
    tasks = {e.task for e in rows if isinstance(e, TaskChanged)}
    notes = {e.note for e in rows if isinstance(e, NoteOpened)}
    objects = {e.object for e in rows if isinstance(e, ObjectMentioned)} | {
        e.statement for e in rows if isinstance(e, ObjectStated)
    }
    assert min(map(len, (tasks, notes, objects))) >= 2
    for event in rows:
        told = {"tasks": tasks, "ttl_escalations": notes, "objects": objects}
        own = next((p.name for p in PROCESSORS if type(event) in p.emits and p.name in told), "")
        fields = orjson.loads(orjson.dumps(event))
        said = {one for value in fields.values() for one in (value if isinstance(value, list) else [value])}
        assert not own or all(said.isdisjoint(ids) for name, ids in told.items() if name != own)


def test_whatever_is_taken_back_the_columns_are_shown_without_it(tmp_path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    home.log.append(talk())
    with serving(home):
        for place, fact in enumerate([None, *undone()]):
            if fact is not None:
                home.log.append([fact])
            columns = home.ask("context", space="s", session="a", window="columns")
            whole = home.ask("context", space="s", session="a")
            names = [section["name"] for section in columns["sections"]]
            if not place:
                assert names == ["tasks_column", "notes_column", "objects_column"]
                assert "tasks" in [section["name"] for section in whole["sections"]]
            for view in ("tasks", "notes", "objects", "object_statements"):
                home.ask("view", name=view, space="s")
            if isinstance(fact, TurnRetracted):
                gone = SAID[int(fact.turn[1:])]
                assert gone not in columns["text"]
                assert gone not in whole["text"]
    assert [row["place"] for row in home.ask("view", name="tasks", space="s")] == ["ended", "ended"]
    home.close()


@pytest.mark.parametrize("window", ["", "columns"])
def test_a_greeting_in_an_empty_space_is_small(tmp_path, window: str) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    home.log.append([TurnRecorded("s", "t", START, "a", "ann", "user", "Good morning!")])
    shown = home.ask("context", space="s", session="a", window=window)
    assert shown["tokens"] < 120
    assert [section["name"] for section in shown["sections"]] in (["recent"], ["objects_column"])
    home.close()


def test_a_deadline_ahead_is_told_with_the_time_and_makes_it_urgent(tmp_path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    said = (
        "I talked to our client Marta Lopez of Acme Corp about the warehouse lease.",
        "Marta expects the lease no later than tomorrow.",
        "Can you draft the lease of the warehouse for Marta Lopez?",
    )
    home.log.append([TurnRecorded("s", f"t{n}", START + n * MINUTE, "a", "ann", "user", w) for n, w in enumerate(said)])
    shown = home.ask("context", space="s", session="a", window="columns")["text"]
    home.close()
    time = next(line for line in shown.splitlines() if line.startswith("- now: "))
    assert "(urgency x1.5)" in time
    assert "Marta expects the lease no later than tomorrow. [t1]" in time


def test_asked_how_far_things_are_a_new_session_is_told_what_is_under_way(tmp_path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    asked = TurnRecorded("s", "new", START + 40 * MINUTE, "b", "ann", "user", "Where were we?")
    home.log.append([*talk(), asked])
    with serving(home):
        told = home.ask("context", space="s", session="b")
        words = next(section for section in told["sections"] if section["name"] == "tasks")
        assert "signature of Marta Lopez" in str(words)
        assert "50% done" in str(words)
        other = home.ask("context", space="s", session="c", question="Good morning!")
        assert "tasks" not in [section["name"] for section in other["sections"]]
        asked_here = home.ask("context", space="s", session="c", question="So, what is left to do?")
        assert "tasks" in [section["name"] for section in asked_here["sections"]]


def test_who_is_asked_about_in_a_new_session_is_told_of(tmp_path) -> None:
    home = Home(tmp_path / "home", PROCESSORS)
    home.log.append(talk())
    with serving(home):
        about = home.ask("context", space="s", session="c", question="How shall I write to Marta?")
        other = home.ask("context", space="s", session="c", question="How shall I write to Petra?")
    assert "Marta prefers detailed explanations by email." in about["text"]
    assert "by email" not in other["text"]


def test_a_note_that_waits_again_is_found_and_shown_whole_as_it_was_taken(tmp_path) -> None:
    words = "Pay the rent of the warehouse to Marta Lopez. " + " ".join(
        f"Clause {n} of the lease names another day." for n in range(16)
    )
    note = NoteTaken("s", "n", START, "rent", words, "a", ttl=400_000_000, source="system", context="the lease of May")
    told = TurnRecorded("s", "told", START + 2 * HOUR, "b", "ann", "user", "The rent of the warehouse is paid.")
    home = Home(tmp_path / "home", PROCESSORS)
    home.log.append([note, told])
    told_of = ("content", "source", "context", "opened_at", "deadline", "priority")

    def waits() -> tuple[str, list[object]]:
        [row] = home.ask("view", name="notes", space="s")
        return row["status"], [row[name] for name in told_of]

    with serving(home):
        status, taken = waits()
        assert status == "settled"
        home.log.append([OfferDeclined("s", "undo", START + 3 * HOUR, "b", "told")])
        assert waits() == ("open", taken)
        [hit] = home.ask("recall", space="s", query="clause 15 of the lease", kinds=["note"])["hits"]
        assert hit["id"] == "rent"
        [shown] = home.ask("context", space="s", session="a")["sections"][0]["pieces"]
        assert (shown["note"], shown["content"], shown["source"]) == ("rent", words, "system")
    home.close()
