"""`mnemolog long-term`: what is kept of sessions beyond their end."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, only
from streams.gateways.command import Common, Group, InSpace, Listing, OnlySession, one_or_any, space_of

app = Group("Long-term memory: list its entries, or go on with an older session.")
STATUSES = ("active", "contradicted", "misled", "expired", "collected", "retracted")


@app.default()
def long_term(
    listing: Listing,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help=f"{', '.join(STATUSES)}, or all.")] = "all",
) -> None:
    """What is kept of sessions beyond their end, the newest first: its turns, whether it stands, and why."""
    stands = one_or_any(status, STATUSES, "status")
    columns = "entry space? made_at? session? kind status why~ loaded>? turns~ problem~ failed? text~"
    empty = "nothing yet: entries are made when a session ends, or nothing is said in it for an hour"
    listing.show("long_term", columns, empty, session=session, status=stands, order="made_at DESC, space, entry")


@app.command("inherit")
def long_term_inherit(
    common: Common,
    older: Annotated[str, typer.Argument(help="The session to go on with; it is over by that.")],
    session: Annotated[str, typer.Option(metavar="X", help="The session that goes on.")],
    space: InSpace = None,
) -> None:
    """Say that a session goes on with an older one: it is given what that one left and was given."""
    common.say("inherited", _inherited(session, older, space_of(space)))


def _inherited(session: str, older: str, space: str) -> Finding[Row]:
    found = yield from only("sessions", "session", older, space, "session", "`mnemolog query sessions` lists them")
    return {"type": "session-inherited", "session": session, "older": found["session"], "space": space}
