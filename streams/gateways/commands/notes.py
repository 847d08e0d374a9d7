"""`mnemolog notes`: notes with a time to live."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, Standing, named, one, record_of, turn_of
from streams.core.errors import UsageError
from streams.gateways.command import Common, Group, InSpace, Listing, OnlySession, WhichSpace, one_or_any, space_of
from streams.gateways.moments import due_fields

SAID = 10
"""Tokens that a list has of how a note was settled."""
app = Group("Notes with a time to live: list, take or settle them.")


@app.default()
def notes(
    listing: Listing,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, escalated, archived, settled, historic, or all.")] = "all",
) -> None:
    """Notes with a time to live, those due first."""
    stands = one_or_any(status, ("open", "escalated", "archived", "settled", "historic"), "status")
    columns = "note space? due every? status priority>? source? settled_by? content context?"
    empty = "no notes (mnemolog notes take)"
    how = {"session": session, "status": stands, "order": "deadline, space, note"}
    listing.show("notes", columns, empty, _as_read, **how)


def _as_read(row: Row) -> Row:
    """A note as people read it: how it comes again and again; where no turn settled it, what is said of how it was."""
    if row["every"]:
        from streams.core.text.recurring import in_words

        row = row | {"every": in_words(row["every"])}
    if row["status"] != "settled" or row["settled_by"]:
        return row
    from streams.core.text.within import clip

    said = " ".join((row["resolution"] or "").split())
    return row | {"settled_by": clip(said, SAID) if said else "by hand"}


@app.command("take")
def notes_take(
    common: Common,
    content: Annotated[str, typer.Argument(help="What to come back to; 'rule: …' stands in every context.")],
    ttl: Annotated[str, typer.Option(help="urgent (4 h), normal (24 h), low (7 days), or seconds.")] = "",
    due: Annotated[
        str, typer.Option(metavar="TIME", help="Instead: 2d, 3h, 90m, or a time to come (2026-01-20T10:00:00Z).")
    ] = "",
    priority: Annotated[float, typer.Option(min=0, max=1, help="From .5 on the user is asked when it expires.")] = 0.5,
    about: Annotated[str, typer.Option(help="What it belongs to, in words.")] = "",
    note: Annotated[str | None, typer.Option(help="An id of your own.")] = None,
    session: Annotated[str, typer.Option(help="The session it belongs to.")] = "",
    space: InSpace = None,
) -> None:
    """Take a note."""
    import uuid

    if ttl and due:
        raise UsageError("there are --ttl and --due", "say one of them")
    name = note or f"note-{uuid.uuid4().hex[:8]}"
    lasts = due_fields(due) if due else {"ttl": int(ttl) if ttl.isdecimal() else ttl or "normal"}
    event = lasts | {
        "type": "note-taken", "note": name, "content": content, "priority": priority, "context": about,
        "session": session, "space": space_of(space),
    }  # fmt: skip
    common.record(f"noted as {name}", event)


@app.command("settle")
def notes_settle(
    common: Common,
    note: Annotated[str, typer.Argument(help="The note's id.")],
    resolution: Annotated[str, typer.Option(help="What was done about it.")] = "",
    space: WhichSpace = None,
) -> None:
    """Say that a note was dealt with; of an inferred one, whatever else its turn asked for too.

    One that comes again and again, and whose time is out, is done for this time; else it ends.
    """

    def words() -> Finding[Row | Standing]:
        named = yield from record_of("note", note, space, "`mnemolog notes` lists them")
        return named | {"type": "note-settled", "resolution": resolution}

    common.say("settled", words())


@app.command("reopen")
def notes_reopen(
    common: Common,
    note: Annotated[str, typer.Argument(help="The note's id.")],
    space: WhichSpace = None,
) -> None:
    """Say that a turn did not mean that a note is done with, or due at another time: it waits as it did before."""

    def words() -> Finding[Row | Standing]:
        found = yield from named(note, space, ("notes", "note"))
        changed = [row for row in found if row["settled_by"] or row["moved_by"]]
        if not changed and any(row["status"] in ("open", "escalated") for row in found):
            return Standing("open")
        row = one(changed, f"note {note!r} that a turn settled", "`mnemolog notes take` takes one anew")
        by = row["settled_by"] or row["moved_by"]
        about = yield from turn_of(by, row["space"], "`mnemolog notes take` takes the note anew")
        return about | {"type": "offer-declined"}

    common.say("waits again", words())
