"""`mnemolog tasks`: what is being done, what waits, what is set aside."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, Standing, record_of
from streams.core.errors import UsageError
from streams.gateways.command import Common, Group, InSpace, Listing, WhichSpace, one_of, one_or_any, space_of

app = Group("What is being done, waits or is set aside: list, declare or update it.")
PLACES = ("active", "aside", "deferred", "ended")
STATUSES = ("planning", "executing", "blocked", "awaiting_input", "complete", "dropped")
Share = Annotated[float | None, typer.Option(min=0, max=1, help="How much of it is done, 0 to 1.")]
Priority = Annotated[float | None, typer.Option(min=0, max=1, help="Above .5 it takes a free slot.")]


@app.default()
def tasks(
    listing: Listing,
    place: Annotated[str, typer.Option(help="active, aside, deferred, ended, or all.")] = "all",
) -> None:
    """What is being done, then what is set aside, then what ended; the most important first."""
    stands = one_or_any(place, PLACES, "place")
    columns = (
        "task space? place status priority>? progress>? step? reason? depends_on? estimate>? took>? against_estimate>? "
        "description"
    )
    empty = "no tasks: `mnemolog tasks declare`, or feed turns that ask for something"
    listing.show("tasks", columns, empty, place=stands, order="place, priority DESC, changed_at DESC, space, task")


@app.command("declare")
def tasks_declare(
    common: Common,
    content: Annotated[str, typer.Argument(help="What is to be done.")],
    task: Annotated[str | None, typer.Option(help="A name of your own; the same one tells it anew.")] = None,
    priority: Annotated[float, typer.Option(min=0, max=1, help="Above .5 it takes a free slot.")] = 0.6,
    estimate: Annotated[float, typer.Option(min=0, help="Hours it is thought to take.")] = 0.0,
    depends_on: Annotated[
        list[str] | None,
        typer.Option("--after-task", metavar="TASK", help="A declared task that must be done before; more than once."),
    ] = None,
    session: Annotated[str, typer.Option(help="The session it belongs to.")] = "",
    space: InSpace = None,
) -> None:
    """Say what is to be done."""
    import uuid

    name = task or f"task-{uuid.uuid4().hex[:8]}"
    event = {
        "type": "task-declared", "task": name, "content": content, "priority": priority, "estimate": estimate,
        "depends_on": depends_on or [], "session": session, "space": space_of(space),
    }  # fmt: skip
    common.record(f"declared as {name}", event, asks=bool(depends_on))


@app.command("update")
def tasks_update(
    common: Common,
    task: Annotated[str, typer.Argument(help="The task's name or id.")],
    status: Annotated[str, typer.Option(help=f"{', '.join(STATUSES)}.")] = "",
    step: Annotated[str, typer.Option(help="What is being done now.")] = "",
    reason: Annotated[str, typer.Option(help="What it waits for; of one that ends, what came of it.")] = "",
    progress: Share = None,
    priority: Priority = None,
    space: WhichSpace = None,
) -> None:
    """Say how a task stands, or that it is complete or dropped."""
    one_of(status, ("", *STATUSES), "status")
    told = {"status": status, "step": step, "reason": reason, "progress": progress, "priority": priority}
    if all(word in ("", None) for word in told.values()):
        raise UsageError(
            "nothing is said of it", "say how it stands: --status, --step, --reason, --progress, --priority"
        )

    def words() -> Finding[Row | Standing]:
        named = yield from record_of("task", task, space, "`mnemolog tasks` lists them")
        return named | told | {"type": "task-updated"}

    common.say("updated", words())
