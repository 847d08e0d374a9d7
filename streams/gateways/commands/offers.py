"""`mnemolog offers`: conclusions that wait for a yes or no."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.gateways.command import Common, Group, Listing, OnlySession, WhichSpace, one_or_any
from streams.gateways.terminal import Row

app = Group("Conclusions that were offered: list, accept or decline them.")


@app.default()
def offers(
    listing: Listing,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, accepted, declined, overtaken, or all.")] = "open",
) -> None:
    """Conclusions that seemed likely but not sure, offered to be accepted or declined."""
    stands = one_or_any(status, ("open", "accepted", "declined", "overtaken"), "status")
    columns = "turn_id space? session? at? status? pattern confidence>? text"
    listing.show("offers", columns, "no offers wait", session=session, status=stands, order='"at", space, turn_id')


@app.command("accept")
def offers_accept(
    common: Common,
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    conclusion: Annotated[str, typer.Option(help="What came of it, in your words.")] = "",
    space: WhichSpace = None,
) -> None:
    """Accept an offer: the effort of its turn is concluded."""
    common.record("accepted", offered(common, turn, space) | {"type": "effort-closed", "conclusion": conclusion})


@app.command("decline")
def offers_decline(
    common: Common,
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    space: WhichSpace = None,
) -> None:
    """Decline an offer: the effort of its turn stays open."""
    common.record("declined", offered(common, turn, space) | {"type": "offer-declined"})


def offered(common: Common, turn: str, space: str | None) -> Row:
    """The open offer made at a turn."""
    what, way_out = f"open offer at turn {turn!r}", "`mnemolog offers` lists those that wait"
    row = common.row("offers", what, way_out, turn_id=turn, space=space, status="open")
    return {"space": row["space"], "session": row["session"], "turn": row["turn_id"]}
