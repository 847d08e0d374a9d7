"""The turns behind whatever has an id."""

from __future__ import annotations

import re

import pytest

from projections.show import IDS, show
from streams.core.errors import UsageError
from streams.core.events import TurnRecorded, micros
from streams.gateways.demo import samples
from streams.runtime.home import Home

MADE = re.compile("[a-z]+-[0-9a-f]{16}")
"""An id that a mechanism made."""
TALK = (
    "Laminate it is, and my partner Jonas picks the handles.",
    "The kitchen is paid, Jonas got a bonus.",
    "And the handles are brass.",
)


@pytest.fixture
def spoken(home: Home) -> Home:
    """A home in which people are spoken of."""
    turns = [
        TurnRecorded("s", f"t{n}", micros("2026-03-02T09:00:00Z") + n, "chat", "ann", "user", words)
        for n, words in enumerate(TALK)
    ]
    home.log.append(turns)
    return home


def of_jonas(home: Home) -> str:
    """The id of somebody of whom nothing is stated."""
    [jonas] = [row for row in home.ask("view", name="objects") if row["name"] == "Jonas"]
    assert jonas["statements"] == 0
    return str(jonas["object"])


def behind(home: Home, id: str) -> list[str]:
    """The turns behind an id."""
    return [turn["turn_id"] for turn in home.ask("show", id=id)["turns"]]


def test_of_somebody_of_whom_nothing_is_stated_the_turns_that_name_him_are_shown(spoken: Home) -> None:
    assert behind(spoken, of_jonas(spoken)) == ["t0", "t1"]


def test_an_id_of_which_no_turn_is_left_is_told_to_be_one(spoken: Home) -> None:
    jonas = of_jonas(spoken)
    with spoken.live() as live:
        live.store.set_meta("behind", {})
        for id in (jonas, jonas[:-2]):
            with pytest.raises(UsageError, match="no turn stands behind"):
                show(live.store.connection, id)


def test_what_stands_behind_ids_is_told_as_this_version_of_the_program_tells_it(spoken: Home) -> None:
    jonas = of_jonas(spoken)
    with spoken.live() as live:
        live.store.set_meta("behind", {})
    assert behind(spoken, jonas) == ["t0", "t1"]


def test_whatever_a_memory_tells_the_id_of_is_shown_by_it_and_by_its_beginning(home: Home) -> None:
    home.log.append([*samples()])
    shown = 0
    for name, column in IDS:
        if name == "summary_written":  # nobody wrote one
            continue
        rows = home.ask("view", name=name, columns=f"space,{column}", limit=4)
        shown += len(rows)
        for row in rows:
            found = home.ask("show", id=row[column], space=row["space"])
            assert found["turns"], row
            if MADE.fullmatch(row[column]):  # others may begin as one that somebody gave
                assert home.ask("show", id=row[column][:-1], space=row["space"])["turns"] == found["turns"]
    assert shown > 3 * len(IDS)
