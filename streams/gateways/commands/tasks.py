"""`mnemolog tasks`: what is being done, what waits, what is set aside."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from streams.gateways.command import (
    After,
    AllSpaces,
    AsJson,
    AsOf,
    HomeDir,
    InSpace,
    Limit,
    Memory,
    WhichSpace,
    list_view,
    lists,
    one,
    one_of,
    one_or_all,
    opened,
    record,
    space_of,
)

app = typer.Typer(rich_markup_mode=None, help="What is being done, waits or is set aside: list, declare or update it.")
PLACES = ("active", "note", "deferred", "ended", "all")
STATUSES = ("planning", "executing", "blocked", "awaiting_input", "complete", "dropped")
Share = Annotated[Optional[float], typer.Option(min=0, max=1, help="How much of it is done, 0 to 1.")]  # noqa: UP045
Priority = Annotated[Optional[float], typer.Option(min=0, max=1, help="Above .5 it takes a free slot.")]  # noqa: UP045


@lists(app)
def tasks(
    ctx: typer.Context,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    place: Annotated[str, typer.Option(help="active, note (set aside), deferred, ended, or all.")] = "all",
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """What is being done, then what is set aside, then what ended; the most important first."""
    one_of(place, PLACES, "place")
    list_view(
        "tasks", "task space? place status priority> progress> step? reason? depends_on? estimate>? took> "
        "against_estimate>? description",
        "no tasks: `mnemolog tasks declare`, or feed turns that ask for something", home, json, memory, as_of, after,
        space=one_or_all(space, all_spaces), limit=limit, place=None if place == "all" else place,
        order="place, priority DESC, changed_at DESC, space, task",
    )  # fmt: skip


@app.command("declare")
def tasks_declare(
    content: Annotated[str, typer.Argument(help="What is to be done.")],
    task: Annotated[Optional[str], typer.Option(help="A name of your own; the same one tells it anew.")] = None,  # noqa: UP045
    priority: Annotated[float, typer.Option(min=0, max=1, help="Above .5 it takes a free slot.")] = 0.6,
    estimate: Annotated[float, typer.Option(min=0, help="Hours it is thought to take.")] = 0.0,
    depends_on: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--after-task", metavar="TASK", help="A declared task that must be done before; more than once."),
    ] = None,
    session: Annotated[str, typer.Option(help="The session it belongs to.")] = "",
    space: InSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say what is to be done."""
    import uuid

    name = task or f"task-{uuid.uuid4().hex[:8]}"
    event = {
        "type": "task-declared", "task": name, "content": content, "priority": priority, "estimate": estimate,
        "depends_on": depends_on or [], "session": session, "space": space_of(space),
    }  # fmt: skip
    record(home, json, f"declared as {name}", event)


@app.command("update")
def tasks_update(
    task: Annotated[str, typer.Argument(help="The task's name or id.")],
    status: Annotated[str, typer.Option(help=f"{', '.join(STATUSES)}.")] = "",
    step: Annotated[str, typer.Option(help="What is being done now.")] = "",
    reason: Annotated[str, typer.Option(help="What it waits for; of one that ends, what came of it.")] = "",
    progress: Share = None,
    priority: Priority = None,
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say how a task stands, or that it is complete or dropped."""
    one_of(status, ("", *STATUSES), "status")
    with opened(home, json=False) as (house, _):
        found = house.ask("view", name="tasks", task=task, space=space)
        row = one(found, f"task {task!r}", "`mnemolog tasks` lists them")
    # Why: the log never mentions a derived id; the turn whose request it is stands for such a task.
    named: dict[str, Any] = {"turn": row["turn"]} if row["turn"] else {"task": task}
    told = {"status": status, "step": step, "reason": reason, "progress": progress, "priority": priority}
    event = named | told | {"type": "task-updated", "space": row["space"], "session": row["session"] or ""}
    record(home, json, "updated", event)
