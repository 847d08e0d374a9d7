"""What became of memories, as recall sees it: how alive they are, what is linked to them, what took their place.

The records are the index's, by the processor that keeps them; what they mean is read by the processors' own readings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from projections.recall.flags import type_of
from projections.recall.held import Seen
from projections.recall.index import Index
from projections.recall.kinds import TURN
from projections.recall.liveliness import LivelinessParams, Remembered, is_forgotten, liveliness, measures
from projections.recall.readings import Readings
from projections.recall.space import Floats

SOURCES = 4
"""Turns of a segment or conclusion that are asked how alive they are."""
LONGEST = 32
"""Beliefs followed from one to the last that took its place."""


class Belief(NamedTuple):
    """A statement that took the place of an older one."""

    newer: str
    older: str
    value: str
    older_value: str
    rule: str
    confidence: float


@dataclass(slots=True)
class Moment:
    """A space at a moment, and what its session attends to."""

    space: Seen
    name: str
    until: int | None
    now: int
    """UTC microseconds."""
    spread: Mapping[str, float] = field(default_factory=dict)
    """What is spread to turns from what is at hand, in log odds."""


class Dynamics:
    """The dynamics of one memory."""

    def __init__(self, index: Index, readings: Readings, params: LivelinessParams) -> None:
        self.index = index
        self.readings = readings
        self.params = params

    # -- of single turns ---------------------------------------------------------------------------------------------

    def remembered(self, space: Seen, document: int) -> Remembered:
        """A turn as a memory."""
        return self._remembered(space, [document])[0]

    def _remembered(self, space: Seen, turns: list[int]) -> list[Remembered]:
        flags, spoken = space.documents.flags[turns].tolist(), map(space.held.spoken, turns)
        return [Remembered(one.id, one.at, type_of(told), one.role) for one, told in zip(spoken, flags, strict=True)]

    def records(self, moment: Moment, turns: Sequence[str]) -> dict[str, dict[str, Any]]:
        """By turn: the last record of each mechanism that keeps one of single turns."""
        found: dict[str, dict[str, Any]] = {}
        for name in self.readings.of_turns:
            for turn, record in self.index.records(moment.name, name, turns, moment.until).items():
                found.setdefault(turn, {})[name] = record
        return found

    def measured(self, moment: Moment, memories: Sequence[Remembered]) -> dict[str, dict[str, float]]:
        """By turn: what the dynamics measure of it."""
        records = self.records(moment, [memory.turn for memory in memories])
        none: dict[str, Any] = {}
        found = {m.turn: measures(self.readings, m, records.get(m.turn, none), moment.now) for m in memories}
        if "known" in self.readings:
            owner = self.readings.owner("known")
            related = self.index.related(moment.name, owner, [*found], moment.until)
            for turn, told in related.items():
                if (known := self.readings["known"](told)) is not None:
                    found[turn]["known"] = known
        return found

    # -- of documents ------------------------------------------------------------------------------------------------

    def alive(self, moment: Moment, documents: Sequence[int]) -> Floats:
        """How alive documents are, between -1 and 1.

        A segment, conclusion or note is as alive as the most alive of the turns it was made of.
        """
        space = moment.space
        kinds = space.documents.kind[documents].tolist()
        sources = [
            [document] if kind == TURN else self._sources(space, document)
            for document, kind in zip(documents, kinds, strict=True)
        ]
        turns = [*dict.fromkeys(turn for found in sources for turn in found)]
        memories = self._remembered(space, turns)
        measured = self.measured(moment, memories)
        values = {
            turn: liveliness(self.params, measured[memory.turn], moment.spread.get(memory.turn, 0.0))
            for turn, memory in zip(turns, memories, strict=True)
        }
        return np.array([max(map(values.__getitem__, found), default=0.0) for found in sources], np.float32)

    def is_forgotten(self, moment: Moment, document: int) -> bool:
        """Whether a document is offered only where it is asked for: all of the turns it was made of are forgotten."""
        memories = self._remembered(moment.space, self._sources(moment.space, document))
        owner, turns = self.readings.owner("forgotten"), [memory.turn for memory in memories]
        found = self.index.records(moment.name, owner, turns, moment.until) if owner else {}
        none: dict[str, Any] = {}
        records = {turn: {owner: record} for turn, record in found.items()}
        gone = (is_forgotten(self.readings, memory, records.get(memory.turn, none), moment.now) for memory in memories)
        return bool(memories) and all(gone)

    def _sources(self, space: Seen, document: int) -> list[int]:
        if space.documents.kind[document] == TURN:
            return [document]
        return [turn for id in space.turns(document)[:SOURCES] if (turn := space.turn(id)) >= 0]

    # -- what belongs together ---------------------------------------------------------------------------------------

    def at_hand(self, name: str, session: str | None, until: int | None, now: int) -> list[str]:
        """The turns that a session has at hand, the freshest first."""
        if not session or "at_hand" not in self.readings:
            return []
        keeper = self.readings.owner("at_hand")
        record = self.index.records(name, keeper, [session], until).get(session)
        return list(self.readings["at_hand"](record, now))

    def links(self, name: str, turns: Sequence[str], until: int | None, now: int) -> dict[tuple[str, str], float]:
        """The associations of some turns: pairs with their strengths at the moment."""
        if not turns or "link" not in self.readings:
            return {}
        related = self.index.related(name, self.readings.owner("link"), turns, until)
        found = {
            (record.first, record.second): float(self.readings["link"](record, now))
            for records in related.values()
            for record in records
        }
        return {pair: strength for pair, strength in found.items() if strength > 0}

    def spread(self, name: str, session: str | None, until: int | None, now: int) -> dict[str, float]:
        """What is spread to turns from those that a session has at hand, in log odds."""
        if "spreading" not in self.readings:
            return {}
        items = self.at_hand(name, session, until, now)
        links = self.links(name, items, until, now)
        return dict(self.readings["spreading"](dict.fromkeys(items, 1.0), links)) if links else {}

    # -- what contradicts what ---------------------------------------------------------------------------------------

    def beliefs(self, name: str, turns: Sequence[str], until: int | None) -> dict[str, list[Belief]]:
        """By turn: the contradictions that it is part of, as either side."""
        if not turns or "contradicted" not in self.readings:
            return {}
        related = self.index.related(name, self.readings.owner("contradicted"), turns, until)
        read = self.readings["contradicted"]
        return {
            turn: beliefs for turn, records in related.items() if (beliefs := [Belief(*one) for one in read(records)])
        }

    def replaced_by(self, name: str, turn: str, until: int | None) -> str:
        """The turn whose statement is believed instead of a turn's, at the end of the chain; itself where it stands."""
        seen = {turn}
        last = turn
        for _ in range(LONGEST):
            newer = [b.newer for b in self.beliefs(name, [last], until).get(last, []) if b.older == last]
            if not newer or newer[-1] in seen:
                break
            last = newer[-1]
            seen.add(last)
        return last

    def replaced(self, name: str, turn: str, until: int | None) -> list[Belief]:
        """What a turn's statement took the place of, and what that had replaced; the newest first."""
        found: list[Belief] = []
        waiting, seen = [turn], {turn}
        while waiting and len(found) < LONGEST:
            last = waiting.pop(0)
            for belief in self.beliefs(name, [last], until).get(last, []):
                if belief.newer == last and belief.older not in seen:
                    found.append(belief)
                    seen.add(belief.older)
                    waiting.append(belief.older)
        return found
