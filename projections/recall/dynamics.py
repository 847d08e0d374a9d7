"""What became of memories, as recall sees it: how alive they are, what is linked to them, what took their place.

The records are the index's, by the processor that keeps them; what they mean is read by the processors' own readings.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from projections.recall.held import Seen
from projections.recall.index import Index
from projections.recall.kinds import TURN
from projections.recall.liveliness import LivelinessParams, is_forgotten, liveliness, measures
from projections.recall.readings import Readings
from projections.recall.space import Floats
from streams.core.section import Spoken

SOURCES = 4
"""Turns of a segment or conclusion that are asked how alive they are."""
SUSPECTED = "suspected"
"""The rule of what may have taken a place, and waits for a judgment."""
LONGEST = 32
"""Beliefs followed from one to the last that took its place."""
KNOWN = 20_000
"""Turns of which it is kept what their records were read as."""


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
        self._read: dict[tuple[str, str, bool, tuple[str, ...]], tuple[list[Any], list[Belief]]] = {}
        """By space, turn and readings: the records that were read, and the beliefs that they tell."""

    # -- of single turns ---------------------------------------------------------------------------------------------

    def records(self, moment: Moment, turns: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The last records of each mechanism that keeps one of single turns, by mechanism and turn."""
        return {name: self.index.records(moment.name, name, turns, moment.until) for name in self.readings.of_turns}

    def measured(self, moment: Moment, memories: Sequence[Spoken]) -> dict[str, list[Any]]:
        """What the dynamics measure of turns: by the name of the measure, of one after the other; None for nothing."""
        turns = [memory.id for memory in memories]
        found = measures(self.readings, memories, self.records(moment, turns), moment.now)
        if "known" in self.readings:
            related = self.index.related(moment.name, self.readings.owner("known"), turns, moment.until)
            if related:
                read = self.readings["known"]
                found["known"] = [read(related[turn]) if turn in related else None for turn in turns]
        return found

    # -- of documents ------------------------------------------------------------------------------------------------

    def alive(self, moment: Moment, documents: Sequence[int]) -> Floats:
        """How alive documents are, between -1 and 1.

        A segment, conclusion or note is as alive as the most alive of the turns it was made of.
        """
        space = moment.space
        kinds = space.documents.kind[documents].tolist()
        made = {
            document: self._sources(space, document)
            for document, kind in zip(documents, kinds, strict=True)
            if kind != TURN
        }
        turns: Sequence[int] = documents
        if made:
            turns = [*dict.fromkeys([turn for document in documents for turn in made.get(document, (document,))])]
        memories = space.held.all_spoken(turns)
        spread = [moment.spread.get(memory.id, 0.0) for memory in memories] if moment.spread else [0.0] * len(turns)
        measured = liveliness(self.params, self.measured(moment, memories), spread)
        if not made:
            return np.array(measured, np.float32)
        values = dict(zip(turns, measured, strict=True))
        found = [max([values[turn] for turn in made.get(one, (one,))], default=0.0) for one in documents]
        return np.array(found, np.float32)

    def is_forgotten(self, moment: Moment, document: int) -> bool:
        """Whether a document is offered only where it is asked for: all of the turns it was made of are forgotten."""
        memories = moment.space.held.all_spoken(self._sources(moment.space, document))
        owner, turns = self.readings.owner("forgotten"), [memory.id for memory in memories]
        records = {owner: self.index.records(moment.name, owner, turns, moment.until)} if owner else {}
        gone = (is_forgotten(self.readings, memory, records, moment.now) for memory in memories)
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
        return self._beliefs(name, turns, until, False, "contradicted")

    def contested(self, name: str, turns: Sequence[str], until: int | None) -> dict[str, list[Belief]]:
        """By turn: what took the place of its statements, and what may have taken it."""
        return self._beliefs(name, turns, until, True, "contradicted", "doubted")

    def _beliefs(
        self, name: str, turns: Sequence[str], until: int | None, are_older: bool, *told: str
    ) -> dict[str, list[Belief]]:
        """By turn: what some readings, of one mechanism, tell of it; where turns `are_older`, of those alone in whose
        place it is not believed any more."""
        readings = [self.readings[one] for one in told if one in self.readings]
        if not turns or not readings:
            return {}
        if len(self._read) > KNOWN:
            self._read.clear()
        found: dict[str, list[Belief]] = {}
        for turn, records in self.index.related(name, self.readings.owner(told[0]), turns, until).items():
            read = self._read.get((name, turn, are_older, told))
            if read is None or read[0] is not records:  # it is the same list as long as no more is told
                beliefs = [Belief(*one) for reading in readings for one in reading(records)]
                beliefs = [one for one in beliefs if one.older == turn or not are_older]
                read = self._read[name, turn, are_older, told] = records, beliefs
            if read[1]:
                found[turn] = read[1]
        return found

    def replaced_by(self, name: str, turn: str, until: int | None, among: Container[str] | None = None) -> str:
        """The turn whose statement is believed instead of a turn's, at the end of the chain; itself where it stands.

        `among` are the only turns that may be that, where not None: of the chain, the last of them.
        """
        seen = {turn}
        last = found = turn
        for _ in range(LONGEST):
            newer = [b.newer for b in self.beliefs(name, [last], until).get(last, []) if b.older == last]
            if not newer or newer[-1] in seen:
                break
            last = newer[-1]
            seen.add(last)
            found = last if among is None or last in among else found
        return found

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
