"""The commands that ask what a model should see, and what was said."""

from __future__ import annotations

import sys
from typing import Annotated, Optional

import typer

from streams.gateways.command import (
    After,
    AsJson,
    AsOf,
    HomeDir,
    InSpace,
    Limit,
    Memory,
    OnlySession,
    OnlySpace,
    hint,
    known_place,
    list_view,
    opened,
    space_of,
)
from streams.gateways.terminal import printable


def context(
    session: Annotated[str, typer.Option(metavar="X", help="The session.")],
    space: InSpace = None,
    messages: Annotated[bool, typer.Option("--messages", help="In chat format: one JSON list of messages.")] = False,
    budget: Annotated[Optional[int], typer.Option(min=1, help="Tokens at most.")] = None,  # noqa: UP045
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """What a model would be given now in a session: text, chat messages, or all of it with scores and turns."""
    with opened(home, json, after) as (house, terminal):
        limits = {} if budget is None else {"budget": budget}
        asked = {"space": space_of(space), "session": session, "as_of": as_of} | limits
        found = house.ask("context", memory, **asked)
        if not (json or messages or found["sections"]):
            hint(house.path, space_of(space), session, terminal)
        if messages:
            terminal.object(found["messages"])
        elif json:
            terminal.object(found)
        else:
            sys.stdout.write(printable(found["text"]).rstrip("\n") + "\n")


def show(
    what: Annotated[
        str, typer.Argument(metavar="ID|TURN..TURN", help="A turn, segment, effort, artifact, or a range.")
    ],
    tokens: Annotated[Optional[int], typer.Option(min=1, help="At most so many tokens.")] = None,  # noqa: UP045
    space: OnlySpace = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """The verbatim turns behind anything that has an id."""
    with opened(home, json, after) as (house, terminal):
        found = house.ask("show", memory, id=what, tokens=tokens, space=space, as_of=as_of)
        if json:
            for turn in found["turns"]:
                terminal.object(turn)
        else:
            sys.stdout.write(printable(found["text"]).rstrip("\n") + "\n")


def manifest(
    space: OnlySpace = None,
    session: OnlySession = None,
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """The segments of sessions: what was talked about, from where to where, concluded or open."""
    list_view(
        "segments", "segment space? session? started_at? turns>? status summary", "no segments yet: feed turns first",
        home, json, memory, as_of, after, space=space, session=session, limit=limit,
        order="space, session, first_position",
    )  # fmt: skip


def links(
    space: OnlySpace = None,
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Efforts that are used together, the strongest links first."""
    with opened(home, json, after) as (house, terminal):
        found = house.ask(
            "view", memory, name="links", space=space, limit=limit, as_of=as_of, order="strength DESC, first, second"
        )
        if not json:
            efforts = house.ask("view", memory, name="efforts", space=space, as_of=as_of)
            topics = {(effort["space"], effort["effort"]): effort["topic"] for effort in efforts}
            for row in found:
                pair = (row["first"], row["second"])
                row["topics"] = " + ".join(topics.get((row["space"], effort)) or effort for effort in pair)
        if not found:
            known_place(house.path, space, None)
        spec = "strength> space? count>? last_at? first? second? topics"
        terminal.rows(found, spec, "no links yet: they form when efforts are used together three times")
