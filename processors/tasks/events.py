"""The facts that tasks derives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streams.core.processor import Derived, Moment

Status = Literal["planning", "executing", "blocked", "awaiting_input", "complete", "dropped"]
Place = Literal["active", "aside", "deferred", "ended"]


@dataclass(slots=True)
class TaskChanged(Derived):
    """A task, as it stands now. All that is known of it: the rows of a task are its history."""

    task: str
    change: str
    """What happened: admitted, resumed, set_aside, deferred, demoted, blocked, unblocked, asked, answered, moved, told,
    rated (what it is about was flagged), complete, dropped, reopened, retracted, stands (it holds from then on)."""
    description: str
    status: Status
    place: Place
    """active: it has one of the slots; aside: set aside until one is free; deferred: left until it matters more."""
    priority: float
    progress: float
    """0 to 1."""
    step: str
    """What is being done now, in words; "" where nobody said."""
    reason: str
    """What it waits for, where it does; what came of it, where it ended."""
    depends_on: list[str]
    """Of what must be done before, the descriptions."""
    estimate: float
    """Hours it was thought to take; 0 where nobody said."""
    started: Moment
    """When it first had a slot; 0 where it never had."""
    source: Literal["declared", "talk"]
    turn: str
    """The turn whose request it is; "" where an agent declared it."""
    cause: str
    """The turn or fact that brought the change."""
    type: Literal["task-changed.v1"] = "task-changed.v1"


@dataclass(slots=True)
class TaskTurnedTo(Derived):
    """The talk of a session comes to another task."""

    task: str
    turn: str
    type: Literal["task-turned-to.v1"] = "task-turned-to.v1"
