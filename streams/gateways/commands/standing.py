"""`mnemolog standing`: what was said to hold from then on."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, Standing, named, one
from streams.gateways.command import Common, Group, Listing, OnlySession, WhichSpace, one_or_any

app = Group("What people said to hold from then on: list it, or say that it holds no more.")
STATUSES = ("current", "repeated", "superseded", "settled", "retracted")


@app.default()
def standing(
    listing: Listing,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help=f"{', '.join(STATUSES)}, or all.")] = "current",
) -> None:
    """What people said to hold from then on, the newest first: it stands in every context of its space."""
    columns = "id space? said_at session? turn? note? likelihood> status text~"
    empty = "nothing yet: people say it, or take it down: mnemolog notes take 'rule: …'"
    stands = one_or_any(status, STATUSES, "status")
    listing.show("standing", columns, empty, session=session, status=stands, order="said_at DESC, space, id")


@app.command("end")
def standing_end(
    common: Common,
    id: Annotated[str, typer.Argument(help="Its id, or that of its turn or note.")],
    resolution: Annotated[str, typer.Option(help="Why it holds no more.")] = "",
    space: WhichSpace = None,
) -> None:
    """Say that it holds no more; of a turn, whatever else it said to hold or asked to be reminded of, too."""
    common.say("holds no more", _ended(id, resolution, space))


def _ended(id: str, resolution: str, space: str | None) -> Finding[Row | Standing]:
    found = yield from named(id, space, ("standing", "id"), ("standing", "turn"), ("standing", "note"))
    current = [row for row in found if row["status"] in ("current", "repeated")]
    if found and not current:
        return Standing(found[-1]["status"])
    row = one(current, f"{id!r} that holds", "`mnemolog standing` lists what does")
    words = {"turn": row["turn"]} if row["turn"] else {"note": row["note"]}
    about = {"space": row["space"], "session": row["session"] or "", "resolution": resolution}
    return words | about | {"type": "note-settled"}
