"""`mnemolog efforts`: units of work, open and concluded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

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
)

if TYPE_CHECKING:
    from streams.runtime.home import Home

app = typer.Typer(rich_markup_mode=None, help="Units of work, open and concluded: list, close or reopen them.")


@lists(app)
def efforts(
    ctx: typer.Context,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    status: Annotated[Optional[str], typer.Option(help="open or concluded.")] = None,  # noqa: UP045
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Units of work, open and concluded, the last active first."""
    if status is not None:
        one_of(status, ("open", "concluded"), "status")
    list_view(
        "efforts", "effort space? last_at? turns>? status importance? topic", "no efforts yet: feed turns first",
        home, json, memory, as_of, after, space=one_or_all(space, all_spaces), status=status, limit=limit,
        order="last_at DESC, space, effort",
    )  # fmt: skip


@app.command("close")
def efforts_close(
    effort: Annotated[str, typer.Argument(help="The effort's id, or a turn of it.")],
    conclusion: Annotated[str, typer.Option(help="What came of it.")] = "",
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that an effort is concluded."""
    about = turn_of_effort(home, effort, space)
    record(home, json, "closed", about | {"type": "effort-closed", "conclusion": conclusion})


@app.command("reopen")
def efforts_reopen(
    effort: Annotated[str, typer.Argument(help="The effort's id, or a turn of it.")],
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that a concluded effort goes on."""
    record(home, json, "reopened", turn_of_effort(home, effort, space) | {"type": "effort-reopened"})


def turn_of_effort(home: Path | None, effort: str, space: str | None) -> dict[str, Any]:
    """An effort in words of the log, which knows no derived ids: one of its turns, and where that was said."""
    with opened(home, json=False) as (house, _):
        found = house.ask("view", name="efforts", effort=effort, space=space)
        if not found:
            return turn_of(house, effort, space)
        row = one(found, f"effort {effort!r}", "`mnemolog efforts` lists them")
        if row["last_turn"] is None:  # declared, and nothing said on it yet: its own name finds it
            return {"space": row["space"], "session": row["sessions"][0], "name": row["name"] or ""}
        return turn_of(house, str(row["last_turn"]), row["space"])


def turn_of(house: Home, turn: str, space: str | None) -> dict[str, Any]:
    """Where a turn was said."""
    found = house.ask("view", name="turns", turn_id=turn, space=space)
    row = one(
        found, f"effort or turn {turn!r}", "`mnemolog efforts` lists efforts, `mnemolog tail --json` tells ids of turns"
    )
    return {"space": row["space"], "session": row["session"], "turn": row["turn_id"]}
