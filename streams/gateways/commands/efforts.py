"""`mnemolog efforts`: units of work, open and concluded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from streams.gateways.command import Common, Group, Listing, WhichSpace, one, one_of

if TYPE_CHECKING:
    pass
from streams.gateways.terminal import Row

app = Group("Units of work, open and concluded: list, close or reopen them.")


@app.default()
def efforts(
    listing: Listing,
    status: Annotated[str | None, typer.Option(help="open or concluded.")] = None,
) -> None:
    """Units of work, open and concluded, the last active first."""
    if status is not None:
        one_of(status, ("open", "concluded"), "status")
    columns = "effort space? last_at? turns>? status importance? topic"
    empty = "no efforts yet: feed turns first"
    listing.show("efforts", columns, empty, status=status, order="last_at DESC, space, effort")


@app.command("close")
def efforts_close(
    common: Common,
    effort: Annotated[str, typer.Argument(help="The effort's id, or a turn of it.")],
    conclusion: Annotated[str, typer.Option(help="What came of it.")] = "",
    space: WhichSpace = None,
) -> None:
    """Say that an effort is concluded."""
    about = turn_of_effort(common, effort, space)
    common.record("closed", about | {"type": "effort-closed", "conclusion": conclusion})


@app.command("reopen")
def efforts_reopen(
    common: Common,
    effort: Annotated[str, typer.Argument(help="The effort's id, or a turn of it.")],
    space: WhichSpace = None,
) -> None:
    """Say that a concluded effort goes on."""
    common.record("reopened", turn_of_effort(common, effort, space) | {"type": "effort-reopened"})


def turn_of_effort(common: Common, effort: str, space: str | None) -> Row:
    """An effort in words of the log, which knows no derived ids: one of its turns, and where that was said."""
    with common.opened() as (home, _):
        turn, found = effort, home.ask("view", name="efforts", effort=effort, space=space)
        if found:
            row = one(found, f"effort {effort!r}", "`mnemolog efforts` lists them")
            turn, space = row["last_turn"], row["space"]
            if turn is None:  # declared, and nothing said on it yet: its own name finds it
                return {"space": space, "session": row["sessions"][0], "name": row["name"] or ""}
        way_out = "`mnemolog efforts` lists efforts, `mnemolog tail --json` tells ids of turns"
        said = one(home.ask("view", name="turns", turn_id=turn, space=space), f"effort or turn {turn!r}", way_out)
        return {"space": said["space"], "session": said["session"], "turn": said["turn_id"]}
