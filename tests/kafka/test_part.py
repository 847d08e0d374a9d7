"""The pass of a worker over a run of records, without brokers."""

from __future__ import annotations

from typing import Any

import pytest

from processors import PROCESSORS
from streams.core.events import TurnRecorded
from streams.core.processor import params_of
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.index import id_key
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.part import Job, Part
from streams.runtime.kafka.sets import lineages_of, set_id
from streams.runtime.kafka.state import Kept
from tests.contracts.log_contract import NOW
from tests.kafka.messages import Message, message

DAY = 24 * 3_600_000


def part(kept: Kept) -> Part:
    """The fold of all processors over the only partition."""
    params = params_of(PROCESSORS, {})
    lineages = lineages_of(PROCESSORS, params)
    made = Part(
        Job(tuple(PROCESSORS), params, lineages, set_id(lineages), 1, "log"), 0, kept, Connection("none"), Meters()
    )
    made.begin(set())
    return made


def turn(offset: int, id_: str, days_ago: int, **instead: Any) -> Message:
    """A turn that the broker took some days ago."""
    appended = NOW // 1000 - days_ago * DAY
    said = TurnRecorded(
        "shop", id_, appended * 1000, agent="a", session="s", role="user", content="hello there, my friend"
    )
    return message(said, **{"partition": 0, "offset": offset, "timestamp": appended} | instead)


def known(kept: Kept) -> dict[str, int]:
    """Ids and the offsets of their first events."""
    found = {id_: kept.known(id_key("shop", id_)) for id_ in "abc"}
    return {id_: first.offset for id_, first in found.items() if first is not None}


@pytest.mark.parametrize(
    "run",
    [
        pytest.param([turn(0, "a", 60), turn(1, "b", 30), turn(2, "c", 0)], id="two months in one run"),
        pytest.param(
            [turn(0, "a", 9), turn(1, "b", 8), turn(2, "a", 1), turn(3, "c", 0)], id="an id that comes again, new"
        ),
    ],
)
def test_a_run_of_an_old_log_is_folded_and_its_ids_are_remembered_by_who_goes_on(run):
    kept, successor = Kept(None), Kept(None)
    first = part(kept)
    folded = first.fold(run)
    assert (folded.next, folded.letters, folded.types.total()) == (len(run), [], len(run))
    first.committed(folded, 1)
    successor.take(folded.changes, 1)
    expected = {found.headers[1][1].decode(): found.offset for found in run}
    assert known(kept) == known(successor) == expected
    again = part(successor).fold([turn(len(run), "c", 0)])
    assert (again.types, again.letters) == ({}, [])
