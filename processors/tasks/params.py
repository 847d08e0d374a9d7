"""How many tasks are worked on at a time, and what becomes of the others."""

from __future__ import annotations

from streams.core.params import Params, param

PAPER = "three-column working memory"


class TasksParams(Params):
    """How many tasks are worked on at a time, and what becomes of the others."""

    active: int = param(4, "tasks", "more at a time and none gets done; 3 where the work is heavy", PAPER, ge=1, le=8)
    free: float = param(0.5, "priority", "a task above it takes a slot that is free", PAPER, ge=0, le=1)
    beats: float = param(
        1.3, "factor", "times the lowest active one's: a small lead is not worth a switch", PAPER, ge=1
    )
    moderate: float = param(
        0.3, "priority", "from here on one without a slot is set aside, below it is deferred", ge=0, le=1
    )
    idle: float = param(
        24, "hours", "of nothing said on a task that could go on: it holds its slot half as firmly", gt=0
    )
    asked: float = param(0.6, "priority", "of what somebody asks for: it takes a free slot, and no other's", ge=0, le=1)
    urgent: float = param(0.85, "priority", "asked for 'today', 'as soon as possible': it takes a slot", ge=0, le=1)
    someday: float = param(0.35, "priority", "asked for 'when you get a chance': it is set aside", ge=0, le=1)
    enough: float = param(
        1, "weight", "of shared words that tell which task is spoken of: a rare one, or two ordinary ones", gt=0
    )
    same: float = param(
        0.5, "share",
        "of what a task says that a turn names, to be done with it; of what a request and a task say, to be one",
        ge=0, le=1,
    )  # fmt: skip
    rare: float = param(1, "weight", "as for notes", ge=0)
    ordinary: float = param(0.65, "weight", "as for notes", ge=0)
    common: float = param(0.4, "weight", "as for notes", ge=0)
    alike: int = param(32, "tasks", "a word of more tasks than this tells none of them apart", ge=1, le=128)
