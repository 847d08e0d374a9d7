"""What tasks put into a context: the one that the talk is about, and those under way where somebody asks how far things
are; in the column of tasks the other active ones. What recall shows of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from processors.tasks.events import TaskChanged, TaskTurnedTo
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.within import clip

READ = 8
"""Active tasks that are read: as many as there may be."""
SHOWN = """description || ' (' || concat_ws('; ',
    replace(status, '_', ' '),
    CASE place WHEN 'aside' THEN 'set aside' WHEN 'deferred' THEN 'deferred' END,
    CASE WHEN progress > 0 AND progress < 1 THEN round(progress * 100)::INTEGER || '% done' END,
    'now: ' || nullif(step, ''),
    CASE place WHEN 'ended' THEN 'came to: ' ELSE 'waits for: ' END || nullif(reason, '')
) || ')'"""
"""A task in a line, in SQL over its event's table: as `_told` tells it."""


class TaskSectionParams(Params):
    """How the task at hand is shown."""

    line: int = param(64, "tokens", "what it is, where it stands, what it waits for", ge=8)
    worth: float = param(0.7, "worth", "what is being done concerns most of what is said meanwhile", ge=0, le=1)
    asked: float = param(0.6, "worth", "of what else is under way, where somebody asks how far things are", ge=0, le=1)


class TaskColumnParams(TaskSectionParams):
    """How the column of tasks is shown."""

    brief: int = param(
        4, "tokens", "of an active task that the talk is not about: enough to know that it is there", ge=3
    )


def _at_hand(ask: Ask, read: Reader) -> TaskChanged | None:
    """The task that the session's talk is about, where it has not ended."""
    turned = read.kept(TaskTurnedTo, [ask.session]).get(ask.session)
    task = read.kept(TaskChanged, [turned.task]).get(turned.task) if turned is not None and turned.task else None
    return None if task is None or task.place == "ended" else task


def _told(task: TaskChanged, limit: int) -> str:
    """A task in full, within about `limit` tokens."""
    facts = [task.status.replace("_", " ")]
    if task.place != "active":
        facts.append("set aside" if task.place == "aside" else "deferred")
    if 0 < task.progress < 1:
        facts.append(f"{task.progress:.0%} done")
    if task.step:
        facts.append(f"now: {task.step}")
    if task.reason:
        facts.append(f"waits for: {task.reason}")
    if task.depends_on:
        facts.append(f"after: {', '.join(task.depends_on)}")
    if task.estimate:
        facts.append(f"thought to take {task.estimate:g} h")
    return clip(" ".join(f"{task.description} ({'; '.join(facts)})".split()), limit)


def _piece(task: TaskChanged, reason: str, worth: float, words: str) -> Piece:
    told: dict[str, Any] = {
        "status": task.status, "place": task.place, "priority": task.priority, "progress": task.progress,
        "step": task.step, "blocked_by": task.reason, "depends_on": task.depends_on,
    }  # fmt: skip
    quotes = (task.turn,) if task.turn else ()
    return Piece(task.task, reason, worth, f"- {words} [{task.task}]", quotes=quotes, data=told)


def at_hand(params: Any, own: TaskSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The task that the talk is about, where more is known of it than what was asked for; and where somebody asks how
    far things are, those under way, the one that was moved last first."""
    task = _at_hand(ask, read)
    if task is not None and (task.source == "declared" or task.status != "planning" or task.place != "active"):
        yield _piece(task, "the task at hand", own.worth, _told(task, own.line))
    if "progress" in ask.cues:
        ids = [id for part in ("active", "aside") for id in read.members("tasks", part, READ).newest]
        under_way = [one for one in read.kept(TaskChanged, ids).values() if one.place == "active" or one.started]
        for one in sorted(under_way, key=lambda one: (-one.at, one.task)):
            if task is None or one.task != task.task:
                yield _piece(one, "under way", own.asked, _told(one, own.line))


def column(params: Any, own: TaskColumnParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The task at hand in full; of the other active ones the names of those that wait, and how many there are."""
    hand = _at_hand(ask, read)
    if hand is not None:
        yield _piece(hand, "the task at hand", 1.0, _told(hand, own.line))
    ids = read.members("tasks", "active", READ).newest
    active = sorted(read.kept(TaskChanged, ids).values(), key=lambda task: (-task.priority, task.task))
    others = [task for task in active if hand is None or task.task != hand.task]
    named = [task for task in others if hand is None or task.status in ("blocked", "awaiting_input")]
    words = [f"{clip(' '.join(task.description.split()), own.brief)} ({task.status.split('_')[0]})" for task in named]
    if left := len(others) - len(named):
        words.append(f"{left} more" if words else f"{left}")
    if words:
        told = {"tasks": [task.task for task in others]}
        yield Piece("active", "active, too", own.worth, f"- also active: {', '.join(words)}", data=told)


SECTIONS = (
    Section("tasks", 15, "The task at hand", TaskSectionParams, at_hand, layer="columns"),
    Section("tasks_column", 15, "Tasks", TaskColumnParams, column, layer="columns", window="columns", apart=True),
)
