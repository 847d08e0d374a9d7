"""Given, when, then for one processor: hand it events one by one, and look at what it makes of them."""

from __future__ import annotations

from typing import Any, TypeVar

from streams.core.clock import Clock
from streams.core.driver import as_raw
from streams.core.events import OUTSIDE, ClockTicked, Outside, TurnRecorded
from streams.core.processor import Derived, Processor, State

E = TypeVar("E")


class Steps:
    """A processor and its state in one space; keeps what it derived."""

    def __init__(self, processor: Processor[Any], **params: Any) -> None:
        self.processor = processor
        self.params = processor.params(**params)
        self.state = State()
        self.clock = Clock()
        self.derived: list[Derived] = []

    def give(self, event: Any, cause: Outside | None = None, recorded_at: int | None = None) -> list[Derived]:
        """What the processor makes of an event, nothing where it does not take its type.

        `cause` is the outside event that an event of another processor was made of; a tick where none is given.
        `recorded_at` is the cause's own time unless given.
        """
        outside = type(event) in OUTSIDE.values()
        cause = cause or (event if outside else ClockTicked(event.space, "cause", event.at))
        raw = as_raw(cause, cause.at if recorded_at is None else recorded_at)
        self.clock.strike(raw, cause.at, isinstance(cause, TurnRecorded))
        kinds = (type(event), None) if outside else (type(event),)
        steps = {on.kind: on.step for on in self.processor.takes}
        step = next((steps[kind] for kind in kinds if kind in steps), None)
        derived = [*step(self.params, self.state, event, raw)] if step else []
        self.derived += derived
        return derived

    def all(self, kind: type[E]) -> list[E]:
        """What it derived of one type, in order."""
        return [event for event in self.derived if isinstance(event, kind)]

    def last(self, kind: type[E]) -> E:
        """The last of what it derived of one type."""
        return self.all(kind)[-1]
