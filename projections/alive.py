"""How alive some memories are, computed straight from the tables of a memory: no index, no numpy.

What recall computes for the few turns that it ranks (see projections/recall), for those who compare or count many: the
last record of each turn by each mechanism, read by the mechanism's own readings, with the memory's own parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from projections.asking import known_params
from projections.recall.liveliness import Records, is_forgotten, measures
from projections.recall.readings import Readings
from projections.store import Connection, read_meta
from projections.stored import events_of
from streams.core.dataclasses import dataclass
from streams.core.events import DAY
from streams.core.processor import Processor
from streams.core.section import Spoken
from streams.core.text.kinds import memory_type

LATER = 30
"""Days on: what a month of silence leaves."""

Place = tuple[str, str]
"""A space and a turn."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A turn as a memory, and where it was said."""

    space: str
    session: str
    memory: Spoken
    content: str

    @property
    def place(self) -> Place:
        """Its space and its id."""
        return self.space, self.memory.id


def readings_of(memory: Connection, processors: Iterable[Processor[Any]]) -> Readings:
    """What processors offer to read of a memory, with the parameters that it was folded with, as far as known."""
    given = orjson.loads(read_meta(memory, "params"))
    mine = [processor for processor in processors if processor.name in given]
    known = known_params(mine, given)
    return Readings(mine, {processor.name: known[processor.name] for processor in mine})


def sampled(memory: Connection, places: Sequence[Place]) -> list[Sampled]:
    """The turns at these places, in their order."""
    rows = memory.execute(
        "SELECT t.space, t.id, t.session, t.content, t.role, epoch_us(t.at), t.position FROM turn_recorded t "
        "JOIN (SELECT unnest($spaces::VARCHAR[]) AS space, unnest($turns::VARCHAR[]) AS turn) w "
        "ON w.space = t.space AND w.turn = t.id",
        _columns(places),
    ).fetchall()
    found = {
        (space, id): Sampled(space, session, Spoken(id, position, at, role, type=memory_type(content, role)), content)
        for space, id, session, content, role, at, position in rows
    }
    return [found[place] for place in places if place in found]


def clocks(memory: Connection) -> dict[str, int]:
    """The time of the newest turn of each space, UTC microseconds."""
    return dict(memory.execute("SELECT t.space, epoch_us(max(t.at)) FROM turn_recorded t GROUP BY t.space").fetchall())


def alive(
    memory: Connection, readings: Readings, turns: Sequence[Sampled], now: Mapping[str, int]
) -> Iterator[dict[str, float]]:
    """What is measured of each turn at the moment `now` of its space, by the name of the measure.

    To those of `projections.recall.liveliness.measures` come `later`, the retention LATER days on, and `forgotten`, 0
    or 1. What no processor offers a reading of is left out.
    """
    records = _records(memory, readings, [turn.place for turn in turns])
    for turn in turns:
        known, moment = records.get(turn.space, {}), now[turn.space]
        found = {name: value for name, (value,) in measures(readings, [turn.memory], known, moment).items()}
        if "retention" in found:
            (found["later"],) = measures(readings, [turn.memory], known, moment + LATER * DAY)["retention"]
        if "forgotten" in readings:
            found["forgotten"] = float(is_forgotten(readings, turn.memory, known, moment))
        yield found


def _records(memory: Connection, readings: Readings, places: Sequence[Place]) -> dict[str, Records]:
    """By space: the last records of each mechanism that keeps one of single turns."""
    found: dict[str, dict[str, dict[str, tuple[tuple[int, int], Any]]]] = {}
    for name in readings.of_turns:
        for keep in readings.keeping[name].read_model.keeps:
            for (space, turn), when, record in _last(memory, keep.event, places):
                known = found.setdefault(space, {}).setdefault(name, {})
                known[turn] = max(known.get(turn, (when, record)), (when, record), key=lambda one: one[0])
    return {
        space: {name: {turn: record for turn, (_, record) in of.items()} for name, of in known.items()}
        for space, known in found.items()
    }


def _last(memory: Connection, cls: type, places: Sequence[Place]) -> Iterator[tuple[Place, tuple[int, int], Any]]:
    """The last event of a class about each of some turns, with its place in the log."""
    which = (
        "JOIN (SELECT unnest($spaces::VARCHAR[]) AS space, unnest($turns::VARCHAR[]) AS turn) w "
        "ON w.space = e.space AND w.turn = e.turn "
        "QUALIFY row_number() OVER (PARTITION BY e.space, e.turn ORDER BY e.position DESC, e.ordinal DESC) = 1"
    )
    for position, ordinal, event in events_of(memory, cls, which, _columns(places)):
        yield (event.space, event.turn), (position, ordinal), event


def _columns(places: Sequence[Place]) -> dict[str, list[str]]:
    return {"spaces": [space for space, _ in places], "turns": [turn for _, turn in places]}
