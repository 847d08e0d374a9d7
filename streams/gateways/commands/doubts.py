"""`mnemolog doubts`: statements that may take the place of older ones, and wait to be judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

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

app = typer.Typer(rich_markup_mode=None, help="Contradictions that are only suspected: list, confirm or dismiss them.")

Newer = Annotated[str, typer.Argument(help="The turn that may take the place of an older one.")]
Older = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--older", metavar="TURN", help="The older turn; needed where it is no doubt that waits."),
]
Sure = Annotated[float, typer.Option("--confidence", min=0, max=1, help="How sure you are.")]


@lists(app)
def doubts(
    ctx: typer.Context,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, confirmed, dismissed, or all.")] = "open",
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Statements that may take the place of older ones, but not surely."""
    one_of(status, ("open", "confirmed", "dismissed", "all"), "status")
    list_view(
        "doubts", "turn_id space? session? at? status? confidence> text~ older older_text~", "no doubts wait",
        home, json, memory, as_of, after, space=one_or_all(space, all_spaces), session=session, limit=limit,
        status=None if status == "all" else status, order='"at", space, turn_id',
    )  # fmt: skip


@app.command("confirm")
def doubts_confirm(
    turn: Newer,
    older: Older = None,
    confidence: Sure = 1.0,
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that a turn takes the place of an older one."""
    record(home, json, "confirmed", _judged(home, turn, older, space, True, confidence))


@app.command("dismiss")
def doubts_dismiss(
    turn: Newer,
    older: Older = None,
    confidence: Sure = 1.0,
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that both may hold."""
    record(home, json, "dismissed", _judged(home, turn, older, space, False, confidence))


def _judged(
    home: Path | None, turn: str, older: str | None, space: str | None, contradicts: bool, confidence: float
) -> dict[str, Any]:
    """The judgment as the log is told; of the doubt that waits at a turn, or of the two turns named."""
    with opened(home, json=False) as (house, _):
        if older is None:
            rows = house.ask("view", name="doubts", turn_id=turn, space=space, status="open")
            doubt = one(rows, f"open doubt at turn {turn!r}", "`mnemolog doubts` lists those that wait")
            space, older = doubt["space"], doubt["older"]
        else:
            for id in (turn, older):
                found = house.ask("view", name="turns", turn_id=id, space=space)
                space = one(found, f"turn {id!r}", "`mnemolog tail` shows turns")["space"]
    return {
        "type": "contradiction-judged", "space": space, "turn": turn, "older": older, "contradicts": contradicts,
        "confidence": confidence,
    }  # fmt: skip
