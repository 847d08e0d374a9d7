"""Homes that remember what tests say to them: turns and facts with a clock of their own, and questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from processors import PROCESSORS
from streams.core.events import (
    DAY,
    ContradictionJudged,
    ImportanceFlagged,
    MemoryPinned,
    MemoryRecalled,
    MemoryRewarded,
    Outside,
    TurnRecorded,
    TurnRetracted,
    iso,
    micros,
)
from streams.logs.log import Stored
from streams.runtime.home import Home
from streams.runtime.home.office import Office

START = micros("2024-01-01T09:00:00Z")
"""A Monday."""
SPACE = "acme"
MINUTE = 1 / (24 * 60)
"""Of a day."""


class Remembering:
    """A home, held open: what is said in it, and what it is asked. `with` lets go of it.

    Turns are t0, t1, ... in all spaces together; times are days since the start, a minute after the one before where
    none is given.
    """

    def __init__(self, path: Path, events: Sequence[Outside] = ()) -> None:
        self.home = Home(path, PROCESSORS)
        self.events: list[Outside] = []
        self.turns = 0
        self.day = 0.0
        if events:
            self.add(*events)

    def __enter__(self) -> Self:
        self._live = self.home.live()
        self.office = Office(self.home, self._live.__enter__())
        return self

    def __exit__(self, *error: Any) -> None:
        self.office.close()
        self._live.__exit__(*error)
        self.home.log.close()

    @property
    def at(self) -> int:
        """The time of the newest event."""
        return START + round(self.day * DAY)

    @property
    def position(self) -> int:
        """Where the newest event stands in the log."""
        return len(self.events) - 1

    def when(self, day: float) -> str:
        """A day as people write it."""
        return iso(START + round(day * DAY))

    def add(self, *events: Outside) -> None:
        """Records events as they are."""
        outcomes = self.home.log.append(events)
        assert all(isinstance(outcome, Stored) for outcome in outcomes), outcomes
        self.events += events

    def pass_time(self, day: float | None) -> None:
        """Goes on to a day; by a minute where it is not given."""
        self.day = self.day + MINUTE if day is None else day

    # -- what is said ------------------------------------------------------------------------------------------------

    def say(
        self,
        content: str,
        day: float | None = None,
        session: str = "talk",
        agent: str = "ann",
        role: str = "user",
        space: str = SPACE,
    ) -> str:
        """Records a turn; its id."""
        self.pass_time(day)
        turn = f"t{self.turns}"
        self.turns += 1
        self.add(TurnRecorded(space, turn, self.at, session, agent, role, content))  # type: ignore[arg-type]
        return turn

    def show(self, cue: str, *turns: str, day: float | None = None, session: str = "", space: str = SPACE) -> None:
        """Records that turns were recalled."""
        self.pass_time(day)
        self.add(MemoryRecalled(space, self._fact, self.at, cue, [*turns], session))

    def reward(self, turn: str, reward: float = 1.0, day: float | None = None) -> None:
        """Says that it was of use, or misled."""
        self.pass_time(day)
        self.add(MemoryRewarded(SPACE, self._fact, self.at, [turn], reward))

    def pin(self, turn: str, pinned: bool = True, day: float | None = None) -> None:
        """Keeps it at hand, or no longer."""
        self.pass_time(day)
        self.add(MemoryPinned(SPACE, self._fact, self.at, turn, pinned))

    def flag(self, turn: str, day: float | None = None) -> None:
        """Marks it as important."""
        self.pass_time(day)
        self.add(ImportanceFlagged(SPACE, self._fact, self.at, "talk", turn))

    def retract(self, turn: str, day: float | None = None) -> None:
        """Takes it back."""
        self.pass_time(day)
        self.add(TurnRetracted(SPACE, self._fact, self.at, "talk", turn))

    def judge(self, newer: str, older: str, contradicts: bool = True) -> None:
        """Judges whether a turn takes the place of another."""
        self.pass_time(None)
        self.add(ContradictionJudged(SPACE, self._fact, self.at, newer, older, contradicts))

    @property
    def _fact(self) -> str:
        return f"f{len(self.events)}"

    # -- what is asked -----------------------------------------------------------------------------------------------

    def ask(self, what: str, **arguments: Any) -> Any:
        """The answer of live to a question."""
        return self.office.carry_out({"ask": what, "arguments": arguments})

    def recall(self, query: str, **how: Any) -> dict[str, Any]:
        """What live knows about something."""
        return dict(self.ask("recall", **{"space": SPACE, "query": query} | how))

    def found(self, query: str, **how: Any) -> list[str]:
        """The turns that live offers, the best first."""
        return [hit["turn_id"] for hit in self.recall(query, **{"kinds": ["turn"]} | how)["hits"]]
