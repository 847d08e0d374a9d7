"""`mnemolog offers`: conclusions that wait for a yes or no."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, Standing, named, one
from streams.gateways.command import Common, Group, Listing, OnlySession, WhichSpace, one_or_any

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
    fact = {"type": "effort-closed", "conclusion": conclusion}
    common.say("accepted", said_of(turn, space, "accepted", fact))


@app.command("decline")
def offers_decline(
    common: Common,
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    space: WhichSpace = None,
) -> None:
    """Decline an offer: the effort of its turn stays open."""
    common.say("declined", said_of(turn, space, "declined", {"type": "offer-declined"}))


def said_of(turn: str, space: str | None, outcome: str, fact: Row) -> Finding[Row | Standing]:
    """What is said of the offer that was made at a turn, and waits; or that it came to that already."""
    made = yield from named(turn, space, ("offers", "turn_id"))
    waiting = [offer for offer in made if offer["status"] == "open"]
    if not waiting and made and made[0]["status"] == outcome:
        offer = one(made, f"offer at turn {turn!r}", "")
        return Standing(outcome, offer["settled_at"])
    offer = one(waiting, f"open offer at turn {turn!r}", "`mnemolog offers` lists those that wait")
    return fact | {"space": offer["space"], "session": offer["session"], "turn": offer["turn_id"]}
