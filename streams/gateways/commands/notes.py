"""`mnemolog notes`: notes with a time to live."""

from __future__ import annotations

from typing import Annotated, Optional

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
    space_of,
)

app = typer.Typer(rich_markup_mode=None, help="Notes with a time to live: list, take or settle them.")


@lists(app)
def notes(
    ctx: typer.Context,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, escalated, archived, settled, historic, or all.")] = "all",
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Notes with a time to live, those due first."""
    one_of(status, ("open", "escalated", "archived", "settled", "historic", "all"), "status")
    list_view(
        "notes", "note space? deadline? status priority>? source? content", "no notes (mnemolog notes take)",
        home, json, memory, as_of, after, space=one_or_all(space, all_spaces), session=session, limit=limit,
        status=None if status == "all" else status, order="deadline, space, note",
    )  # fmt: skip


@app.command("take")
def notes_take(
    content: Annotated[str, typer.Argument(help="What to come back to.")],
    ttl: Annotated[str, typer.Option(help="urgent (4 h), normal (24 h), low (7 days), or seconds.")] = "normal",
    priority: Annotated[float, typer.Option(min=0, max=1, help="From .5 on the user is asked when it expires.")] = 0.5,
    about: Annotated[str, typer.Option(help="What it belongs to, in words.")] = "",
    note: Annotated[Optional[str], typer.Option(help="An id of your own.")] = None,  # noqa: UP045
    session: Annotated[str, typer.Option(help="The session it belongs to.")] = "",
    space: InSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Take a note."""
    import uuid

    name = note or f"note-{uuid.uuid4().hex[:8]}"
    event = {
        "type": "note-taken", "note": name, "content": content, "ttl": int(ttl) if ttl.isdecimal() else ttl,
        "priority": priority, "context": about, "session": session, "space": space_of(space),
    }  # fmt: skip
    record(home, json, f"noted as {name}", event)


@app.command("settle")
def notes_settle(
    note: Annotated[str, typer.Argument(help="The note's id.")],
    resolution: Annotated[str, typer.Option(help="What was done about it.")] = "",
    space: WhichSpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that a note was dealt with; of an inferred one, whatever else its turn asked for too."""
    with opened(home, json=False) as (house, _):
        found = house.ask("view", name="notes", note=note, space=space)
        row = one(found, f"note {note!r}", "`mnemolog notes` lists them")
    # Why: the log never mentions a derived id, and an inferred note has no other; its turn stands for it.
    named = {"turn": row["turn"]} if row["turn"] else {"note": note}
    event = named | {"type": "note-settled", "resolution": resolution}
    record(home, json, "settled", event | {"space": row["space"], "session": row["session"] or ""})
