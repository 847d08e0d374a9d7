"""`mnemolog long-term`: what is kept of sessions beyond their end."""

from __future__ import annotations

from typing import Annotated

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
    OnlySession,
    list_view,
    lists,
    one_of,
    one_or_all,
    record,
    space_of,
)

app = typer.Typer(rich_markup_mode=None, help="Long-term memory: list its entries, or go on with an older session.")
STATUSES = ("active", "contradicted", "misled", "expired", "collected", "retracted", "all")


@lists(app)
def long_term(
    ctx: typer.Context,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help=f"{', '.join(STATUSES[:-1])}, or all.")] = "all",
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """What is kept of sessions beyond their end, the newest first: its turns, whether it stands, and why."""
    one_of(status, STATUSES, "status")
    list_view(
        "long_term", "entry space? made_at? session? kind status why~ loaded>? turns~ problem~ failed? text~",
        "nothing yet: entries are made when a session ends, or nothing is said in it for an hour",
        home, json, memory, as_of, after, space=one_or_all(space, all_spaces), session=session, limit=limit,
        status=None if status == "all" else status, order="made_at DESC, space, entry",
    )  # fmt: skip


@app.command("inherit")
def long_term_inherit(
    older: Annotated[str, typer.Argument(help="The session to go on with; it is over by that.")],
    session: Annotated[str, typer.Option(metavar="X", help="The session that goes on.")],
    space: InSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that a session goes on with an older one: it is given what that one left and was given."""
    event = {"type": "session-inherited", "session": session, "older": older, "space": space_of(space)}
    record(home, json, "inherited", event)
