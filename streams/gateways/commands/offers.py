"""`mnemolog offers`: conclusions that wait for a yes or no."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from streams.gateways.command import (
    After,
    AsJson,
    AsOf,
    HomeDir,
    Limit,
    Memory,
    OnlySession,
    OnlySpace,
    list_view,
    one,
    one_of,
    opened,
    record,
)

app = typer.Typer(help="Conclusions that were offered: list, accept or decline them.")


@app.callback(invoke_without_command=True)
def offers(
    ctx: typer.Context,
    space: OnlySpace = None,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, accepted, declined, overtaken, or all.")] = "open",
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Conclusions that seemed likely but not sure, offered to be accepted or declined."""
    one_of(status, ("open", "accepted", "declined", "overtaken", "all"), "status")
    if ctx.invoked_subcommand is None:
        list_view(
            "offers", "turn_id space? session? at? status? pattern confidence>? text", "no offers wait",
            home, json, memory, as_of, after, space=space, session=session, limit=limit,
            status=None if status == "all" else status, order='"at", space, turn_id',
        )  # fmt: skip


@app.command("list")
def offers_list(
    ctx: typer.Context,
    space: OnlySpace = None,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, accepted, declined, overtaken, or all.")] = "open",
    limit: Limit = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """List the offers that wait."""
    ctx.invoked_subcommand = None
    offers(ctx, space, session, status, limit, None, "", "live", home, json)


@app.command("accept")
def offers_accept(
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    conclusion: Annotated[str, typer.Option(help="What came of it, in your words.")] = "",
    space: OnlySpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Accept an offer: the effort of its turn is concluded."""
    event = offered(home, turn, space) | {"type": "effort-closed", "conclusion": conclusion}
    record(home, json, "accepted", event)


@app.command("decline")
def offers_decline(
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    space: OnlySpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Decline an offer: the effort of its turn stays open."""
    record(home, json, "declined", offered(home, turn, space) | {"type": "offer-declined"})


def offered(home: Path | None, turn: str, space: str | None) -> dict[str, Any]:
    """The open offer made at a turn."""
    with opened(home, json=False) as (house, _):
        found = house.ask("view", name="offers", turn_id=turn, space=space, status="open")
        row = one(
            found[:1] if space else found, f"open offer at turn {turn!r}", "`mnemolog offers` lists those that wait"
        )
        return {"space": row["space"], "session": row["session"], "turn": row["turn_id"]}
