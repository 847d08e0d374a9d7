"""A turn that was taken back: nothing of its words is shown any more, whoever asks, however long ago it was said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from projections.context.ask import context
from projections.recall.answers import recalled
from projections.recall.explain import explain
from streams.core.events import MINUTE, Outside, SessionEnded, TurnRecorded, TurnRetracted
from tests.laws.histories import START, outside, wide
from tests.laws.laws import runs
from tests.memories import remembered

SECRET = "The vault code Zebrafish-4711 of the museum cellar does not open the cellar door."
CELLAR = (SECRET, "I will look at the museum cellar door and its lock.", "The cellar door has a new lock since Monday.")
REPORT = (
    "Something else: the quarterly report for Marta needs the variance table.",
    "I will export the variance table of the quarterly report.",
    "The report's ledger export is slow.",
)
FIXED = (
    "The login test fails since this morning: expected 200, got 401.",
    "The quillfeather cookie was renamed in release 3.2. I changed the login test to the quillfeather name.",
    "That fixed it, thanks!",
)


def said(*talk: str) -> list[Outside]:
    """Turns of a user and an assistant by turns."""
    roles: Any = ("user", "assistant")
    return [
        TurnRecorded("s", f"t{n}", START + n * MINUTE, "a", ("ann", "bot")[n % 2], roles[n % 2], text)
        for n, text in enumerate(talk)
    ]


def without(turn: str, after: int) -> TurnRetracted:
    return TurnRetracted("s", f"r-{turn}", START + after * MINUTE, "a", turn)


VIEWS = {
    "efforts": "topic, summary, conclusion",
    "effort_facts": "topic, summary, conclusion",
    "segments": "summary, cue, conclusion",
    "conclusions": "text, conclusion",
    "offers": "text",
    "artifacts WHERE NOT retracted": "title, body",
}
"""What views show of segments, efforts and conclusions."""


def shown(connection: Any) -> list[Any]:
    return [
        list(row)
        for view, columns in VIEWS.items()
        for row in connection.execute(f"SELECT {columns} FROM {view}").fetchall()
    ]


@pytest.mark.parametrize(
    ("talk", "turn", "word"),
    [
        (CELLAR, "t0", "zebrafish"),
        ((*CELLAR, *REPORT), "t0", "zebrafish"),
        ((*CELLAR, *REPORT, *CELLAR[1:]), "t0", "zebrafish"),
        (FIXED, "t1", "quillfeather"),
        ((*FIXED, *REPORT), "t1", "quillfeather"),
    ],
    ids=["in the segment that goes on", "in one that is over", "and gone on with", "an answer", "of what is over"],
)
def test_a_word_of_a_turn_that_was_taken_back_is_shown_nowhere(
    tmp_path: Path, talk: tuple[str, ...], turn: str, word: str
) -> None:
    for taken in (False, True):
        events = said(*talk) + [without(turn, len(talk))] * taken
        with remembered(tmp_path / str(taken), events) as (connection, sight):
            told = str(shown(connection)) + context(sight, "s", "a")["text"] + context(sight, "s", "new")["text"]
            hits = recalled(sight, space="s", query=word)["hits"]
            assert (word in (told + str(hits)).lower()) is not taken


def test_nothing_that_was_taken_back_is_shown_of_a_busy_space(tmp_path: Path) -> None:
    history = outside(wide(1500, sessions=6, backlog=20))
    standing: Counter[Any] = Counter()
    by_turn: dict[str, set[Any]] = {}
    gone: set[Any] = set()
    for event in history:
        if isinstance(event, TurnRetracted):
            taken = by_turn.pop(event.turn, set())
            standing.subtract(taken)
            gone |= taken
            continue
        texts = runs(orjson.loads(orjson.dumps(event)))
        standing.update(texts)
        if isinstance(event, TurnRecorded):
            by_turn[event.id] = texts
    gone -= {run for run, times in standing.items() if times > 0}
    assert len(gone) > 50
    with remembered(tmp_path, history) as (connection, sight):
        assert not gone & runs(shown(connection))
        sessions = connection.execute("SELECT space, session FROM sessions ORDER BY ALL").fetchall()
        for space, session in sessions[::3]:
            assert not gone & runs(context(sight, space, session)["text"])


def test_a_session_that_ended_is_told_without_it_too(tmp_path: Path) -> None:
    ended = SessionEnded("s", "end", START + 20 * MINUTE, "a")
    with remembered(tmp_path, [*said(*CELLAR), ended, without("t0", 30)]) as (connection, _):
        (row,) = connection.execute("SELECT summary, cue FROM segments").fetchall()
        assert "zebrafish" not in str(row).lower()
        assert "lock" in row[0]


def test_an_effort_of_which_every_turn_was_taken_back_is_listed_no_more(tmp_path: Path) -> None:
    every = [without(f"t{n}", 30) for n in range(3)]
    with remembered(tmp_path, [*said(*CELLAR), *every]) as (connection, sight):
        assert connection.execute("SELECT effort FROM efforts").fetchall() == []
        assert "cellar" not in str(shown(connection)).lower() + context(sight, "s", "a")["text"].lower()


def test_what_is_known_of_a_turn_tells_that_it_was_taken_back(tmp_path: Path) -> None:
    with remembered(tmp_path, [*said(*CELLAR), without("t0", 30)]) as (_, sight):
        assert [explain(sight, turn)["retracted"] for turn in ("t0", "t1")] == [True, False]
