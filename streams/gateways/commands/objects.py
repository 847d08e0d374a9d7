"""`mnemolog objects`: people and things that are spoken of, and what is known of them."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from streams.core.errors import UsageError
from streams.gateways.command import (
    After,
    AllSpaces,
    AsJson,
    AsOf,
    HomeDir,
    InSpace,
    Limit,
    Memory,
    list_view,
    one_of,
    one_or_all,
    opened,
)

KINDS = ("person", "entity", "knowledge", "all")


def objects(
    name: Annotated[Optional[str], typer.Argument(help="A name or id: what is known of it.")] = None,  # noqa: UP045
    kind: Annotated[str, typer.Option(help=f"{', '.join(KINDS)}.")] = "all",
    history: Annotated[bool, typer.Option("--history", help="Also statements that stand no longer.")] = False,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """People and things that are spoken of, the most spoken of first; of one, its statements with their turns."""
    one_of(kind, KINDS, "kind")
    where = one_or_all(space, all_spaces)
    if name is None:
        list_view(
            "objects", "object space? kind name role? value> mentions> statements> last_at",
            "nobody and nothing yet: feed turns that name them", home, json, memory, as_of, after, space=where,
            limit=limit, kind=None if kind == "all" else kind, order="mentions DESC, space, name, object",
        )  # fmt: skip
        return
    with opened(home, json, after) as (house, terminal):
        known = house.ask("view", memory, name="objects", as_of=as_of, space=where)
        folded = name.casefold()
        meant = [
            row for row in known if row["object"] == name or folded in (row["name"].casefold(), *(row["aliases"] or ()))
        ]
        if not meant:
            raise UsageError(f"nothing is known of {name!r}", "`mnemolog objects` lists who and what is spoken of")
        said = [
            row
            for one in meant
            for row in house.ask(
                "view", memory, name="object_statements", as_of=as_of, space=one["space"], object=one["object"],
                status=None if history else "current", order="at DESC, statement",
            )
        ]  # fmt: skip
        spec = "name space? says strength> at status? turn text~"
        terminal.rows(said[:limit], spec if where is None else spec.replace("space? ", ""), "nothing is stated of it")
