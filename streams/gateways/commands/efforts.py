"""`mnemolog efforts`: units of work, open and concluded."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, Standing, turn_of
from streams.gateways.command import Common, Group, Listing, WhichSpace, one_or_any

app = Group("Units of work, open and concluded: list, close or reopen them.")


@app.default()
def efforts(
    listing: Listing,
    status: Annotated[str, typer.Option(help="open, concluded, or all.")] = "all",
) -> None:
    """Units of work, open and concluded, the last active first."""
    stands = one_or_any(status, ("open", "concluded"), "status")
    columns = "effort space? last_at? turns>? status importance? topic"
    empty = "no efforts yet: feed turns first"
    listing.show("efforts", columns, empty, status=stands, order="last_at DESC, space, effort")


@app.command("close")
def efforts_close(
    common: Common,
    effort: Annotated[str, typer.Argument(help="The effort's id, its topic in quotes, or a turn of it.")],
    conclusion: Annotated[str, typer.Option(help="What came of it.")] = "",
    space: WhichSpace = None,
) -> None:
    """Say that an effort is concluded."""
    common.say("closed", said_of(effort, space, "open", {"type": "effort-closed", "conclusion": conclusion}))


@app.command("reopen")
def efforts_reopen(
    common: Common,
    effort: Annotated[str, typer.Argument(help="The effort's id, its topic in quotes, or a turn of it.")],
    space: WhichSpace = None,
) -> None:
    """Say that a concluded effort goes on."""
    common.say("reopened", said_of(effort, space, "concluded", {"type": "effort-reopened"}))


def said_of(effort: str, space: str | None, status: str, fact: Row) -> Finding[Row | Standing]:
    """What is said of an effort, or of that of a turn; one of that status may be named by its topic."""
    way_out = "`mnemolog efforts` lists ids and topics of efforts, `mnemolog tail --json` tells ids of turns"
    return (yield from turn_of(effort, space, way_out, status)) | fact
