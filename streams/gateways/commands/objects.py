"""`mnemolog objects`: people and things that are spoken of, and what is known of them."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.core.errors import UsageError
from streams.gateways.command import Listing, one_or_any

KINDS = ("person", "entity", "knowledge")


def objects(
    listing: Listing,
    name: Annotated[str | None, typer.Argument(help="A name or id: what is known of it.")] = None,
    kind: Annotated[str, typer.Option(help=f"{', '.join(KINDS)}, or all.")] = "all",
    history: Annotated[bool, typer.Option("--history", help="Also statements that stand no longer.")] = False,
) -> None:
    """People and things that are spoken of, the most spoken of first; of one, its statements with their turns."""
    meant_kind = one_or_any(kind, KINDS, "kind")
    if name is None:
        columns = "object space? kind name role? value> mentions> statements> last_at"
        empty = "nobody and nothing yet: feed turns that name them"
        listing.show("objects", columns, empty, kind=meant_kind, order="mentions DESC, space, name, object")
        return
    with listing.opened() as (home, terminal):
        folded = name.casefold()
        meant = [
            row
            for row in listing.view(home, "objects", space=listing.where)
            if row["object"] == name or folded in (row["name"].casefold(), *(row["aliases"] or ()))
        ]
        if not meant:
            raise UsageError(f"nothing is known of {name!r}", "`mnemolog objects` lists who and what is spoken of")
        how = {"status": None if history else "current", "order": "at DESC, statement"}
        said = [
            row
            for one in meant
            for row in listing.view(home, "object_statements", space=one["space"], object=one["object"], **how)
        ]
        spec = listing.told("name space? says strength> at status? turn text~")
        terminal.rows(said[: listing.limit], spec, "nothing is stated of it")
