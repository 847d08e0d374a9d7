"""`mnemolog offers`: conclusions that wait for a yes or no."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    WhichSpace,
    list_view,
    lists,
    one,
    one_of,
    one_or_all,
    opened,
    record,
)

app = typer.Typer(rich_markup_mode=None, help="Conclusions that were offered: list, accept or decline them.")


@lists(app)
def offers(
    ctx: typer.Context,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
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
    list_view(
        "offers", "turn_id space? session? at? status? pattern confidence>? text", "no offers wait",
        home, json, memory, as_of, after, space=one_or_all(space, all_spaces), session=session, limit=limit,
        status=None if status == "all" else status, order='"at", space, turn_id',
    )  # fmt: skip


@app.command("accept")
def offers_accept(
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    conclusion: Annotated[str, typer.Option(help="What came of it, in your words.")] = "",
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Accept an offer: the effort of its turn is concluded."""
    event = offered(home, turn, space) | {"type": "effort-closed", "conclusion": conclusion}
    record(home, json, "accepted", event)


@app.command("decline")
def offers_decline(
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Decline an offer: the effort of its turn stays open."""
    record(home, json, "declined", offered(home, turn, space) | {"type": "offer-declined"})


def offered(home: Path | None, turn: str, space: str | None) -> dict[str, Any]:
    """The open offer made at a turn."""
    with opened(home, json=False) as (house, _):
        found = house.ask("view", name="offers", turn_id=turn, space=space, status="open")
        row = one(found, f"open offer at turn {turn!r}", "`mnemolog offers` lists those that wait")
        return {"space": row["space"], "session": row["session"], "turn": row["turn_id"]}
