"""The commands that ask what a model should see, and what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime
from typing import Annotated, Any

import typer

from streams.core.errors import UsageError
from streams.gateways.command import (
    Asking,
    Common,
    InSpace,
    Listing,
    Memory,
    OnlySession,
    WhichSpace,
    append,
    hint,
    known_place,
    one_of,
    space_of,
)
from streams.gateways.moments import moment, present
from streams.gateways.terminal import Row, Terminal

MOST_SIGNALS = 8
"""Signals of a decision that are listed, the strongest first."""


def context(
    asking: Asking,
    session: Annotated[str, typer.Option(metavar="X", help="The session.")],
    space: InSpace = None,
    messages: Annotated[bool, typer.Option("--messages", help="In chat format: one JSON list of messages.")] = False,
    budget: Annotated[int | None, typer.Option(min=1, help="Tokens at most.")] = None,
    question: Annotated[str, typer.Option(help="What is to be answered, where it is not recorded yet.")] = "",
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="SECTION,...", help="Leave sections or layers out: recalled, notes, focus ..."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="All that was considered: what was taken, what was left out, and why.")
    ] = False,
    window: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="To compare: compression, truncation or sliding in place of what is chosen by worth."
        ),
    ] = "",
    format: Annotated[
        str, typer.Option(metavar="NAME", help="text, or columns: tasks, notes and objects alone, beside the talk.")
    ] = "text",
    details: Annotated[
        list[str] | None,
        typer.Option(metavar="TURN..TURN|ID,...", help="A second window: only the turns behind these ids."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="The moment that what is due is told by, or now; if not given, now where the talk is live, else the "
            "last event's.",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--record", help="Record that an agent was shown what recall put in, or the details.")
    ] = False,
) -> None:
    """What a model would be given now in a session: text, chat messages, or all of it with scores and turns."""
    space = space_of(space)
    how: dict[str, Any] = {"budget": budget, "question": question, "explain": explain, "as_of": asking.as_of}
    with asking.opened() as (house, terminal), house.asking_on():
        window = window or ("columns" if one_of(format, ("text", "columns"), "format") == "columns" else "")
        how |= {"without": _listed(without), "window": window, "details": _listed(details)}
        how |= moment(at) if at or asking.as_of else {"live": present()}
        found = house.ask("context", asking.memory, space=space, session=session, **how)
        if keep and found["shown"]:
            append(house.log, [found["shown"]], "ask without --record")
        told = [section["name"] for section in found["sections"]]
        if not (asking.json or messages or (told if question else "recent" in told)):
            hint(house, asking.memory, space, session, terminal)
        if not (asking.json or found["text"]):
            terminal.tell("nothing fits into {:,} tokens; allow more with --budget", found["budget"])
        if messages:
            terminal.object(found["messages"])
        elif asking.json:
            terminal.object(found)
        elif explain:
            considered = [one | {"text": " ".join(one["text"].split())} for one in found["considered"]]
            spec = "section taken? why reason worth> tokens> id? text~"
            terminal.rows(considered, spec, "nothing was considered: feed turns first")
            terminal.say("{:,} of {:,} tokens are used", found["tokens"], found["budget"])
        else:
            terminal.text(found["text"])


def layers(
    common: Common,
    session: Annotated[str, typer.Option(metavar="X", help="The session.")],
    every: Annotated[int, typer.Option(min=1, help="A row for so many turns, and one for the last.")] = 10,
    space: InSpace = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Tokens at most.")] = None,
    memory: Memory = "live",
) -> None:
    """How many tokens each layer of a session's context took, turn by turn."""
    space = space_of(space)
    with common.opened() as (house, terminal), house.asking_on():
        said = house.ask("view", memory, name="recorded_turns", space=space, session=session, order="position")
        if not said:
            known_place(house.path, space, session)
        rows = []
        for number, turn in enumerate(said, 1):
            if number % every and number < len(said):
                continue
            found = house.ask(
                "context", memory, space=space, session=session, budget=budget, as_of=str(turn["position"])
            )
            row = {"turn": number, "turn_id": turn["turn_id"], "tokens": found["tokens"], "exchanges": 0, "focus": 0}
            for section in found["sections"]:
                name = section["layer"] or "exchanges"
                row[name] = row.get(name, 0) + section["tokens"]
            rows.append(row)
        names = dict.fromkeys(name for row in rows for name in row if name not in ("turn", "turn_id"))
        whole = [{name: row.get(name, 0) for name in ("turn", "turn_id", *names)} for row in rows]
        terminal.rows(
            whole, f"turn> turn_id? {' '.join(f'{name}>' for name in names)}", "no turns yet: feed some first"
        )


def _listed(given: list[str] | None) -> list[str]:
    """What was given, one or several at a time with commas between."""
    return [one.strip() for many in given or () for one in many.split(",") if one.strip()]


def show(
    asking: Asking,
    what: Annotated[
        str, typer.Argument(metavar="ID|TURN..TURN", help="A turn, segment, effort, artifact, or a range.")
    ],
    tokens: Annotated[int | None, typer.Option(min=1, help="At most so many tokens.")] = None,
    why: Annotated[
        bool, typer.Option("--why", help="What each turn did: to efforts, tasks, notes and beliefs, and by what.")
    ] = False,
    space: WhichSpace = None,
) -> None:
    """The verbatim turns behind anything that has an id."""
    with asking.opened() as (house, terminal), house.asking_on() if why else nullcontext():
        found = house.ask("show", asking.memory, id=what, tokens=tokens, space=space, as_of=asking.as_of)
        if why:

            def view(name: str, **where: Any) -> list[Row]:
                try:
                    return asking.view(house, name, **where)
                except UsageError:  # a memory without that mechanism
                    return []

            did = [row for turn in found["turns"] for row in _did(turn, view)]
            terminal.rows(did, "turn did id? text~ by?", "these turns did nothing that was kept")
            _explain(found["turns"], terminal)
        elif asking.json:
            for turn in found["turns"]:
                terminal.object(turn)
        else:
            terminal.text(found["text"])


def _did(turn: Row, view: Callable[..., list[Row]]) -> Iterator[Row]:
    """What a turn did to what the memory keeps, in the order in which it came to that."""
    id, space = turn["turn_id"], turn["space"]

    def told(did: str, of: str, text: str, by: str = "") -> Row:
        return {"turn": id, "did": did, "id": of, "text": text, "by": by}

    def effort_of(row: Row) -> Row | None:
        return next(iter(view("effort_facts", space=space, effort=row["effort"])), None) if row["effort"] else None

    for row in view("turns", space=space, turn_id=id):
        if row["retracted"]:
            yield told("was taken back", "", "", row["retraction"])
        if (effort := effort_of(row)) is not None:
            opened = effort["opened_with"] == id
            how = effort["opened_by"] if opened else f"{row['threaded_by']}, fit {row['fit'] or 0:.2f}"
            yield told("opened effort" if opened else "joined effort", row["effort"], effort["topic"], how)
    for row in view("conclusions", space=space, turn_id=id):
        effort = effort_of(row)
        how = f"{row['pattern']}, confidence {row['confidence']:.2f}"
        if effort is not None and effort["concluded_by"] == id:
            yield told("ended effort", row["effort"], row["conclusion"] or effort["topic"], how)
        else:  # what its effort goes on without
            yield told("concluded segment", row["segment"], row["conclusion"], how)
    for row in view("offers", space=space, turn_id=id):
        how = f"{row['pattern']}, confidence {row['confidence']:.2f}, {row['status']}"
        yield told("offered to end", row["segment"], row["text"], how)
    for row in view("tasks", space=space, turn=id):
        yield told("made task", row["task"], row["description"], row["status"])
    for row in view("notes", space=space, turn=id):
        yield told("made note", row["note"], row["content"], row["status"])
    for row in view("standing", space=space, turn=id):
        how = f"likelihood {row['likelihood']:.2f}, {row['status']}: {', '.join(row['why'] or ())}"
        yield told("told what holds", row["id"], row["text"], how)
    for row in view("notes", space=space, settled_by=id):
        yield told("settled note", row["note"], row["content"], ", ".join(row["settled_why"] or ()))
    for row in view("notes", space=space, moved_by=id):
        yield told(f"note {row['moved_for']}", row["note"], row["content"], f"due {row['due']}")
    for row in view("notes", space=space, doubted_by=id):
        yield told("may settle note", row["note"], row["content"], ", ".join(row["doubted_why"] or ()))
    for row in view("beliefs", space=space, replaced_by=id):
        text = " ".join(filter(None, (row["subject"], row["attribute"], row["value"])))
        if not text:  # read from other words: no value is told
            text = next((one["content"] for one in view("turns", space=space, turn_id=row["turn_id"])), "")
        yield told("replaced belief", row["turn_id"], text, f"{row['rule']}, confidence {row['confidence']:.2f}")


def _explain(turns: list[dict[str, Any]], terminal: Terminal) -> None:
    """What was seen in turns that may want a note, as clocks in UTC show it."""
    from streams.core.text.reminders import why

    rows = [
        {"turn": turn["turn_id"]} | one
        for turn in turns
        if turn["role"] == "user"
        for one in why(turn["content"], datetime.fromisoformat(turn["at"]).replace(tzinfo=None))
    ]
    if not terminal.json:
        for row in rows:
            row["signals"] = ", ".join(f"{one['signal']} {one['weight']:+d}" for one in row["signals"][:MOST_SIGNALS])
    terminal.rows(rows, "turn sentence~ time? score> likelihood> signals", "no words in it may want a note")


def manifest(
    listing: Listing,
    session: OnlySession = None,
) -> None:
    """The segments of sessions: what was talked about, from where to where, concluded or open."""
    columns = "segment space? session? started_at? turns>? status summary"
    empty = "no segments yet: feed turns first"
    listing.show("segments", columns, empty, session=session, order="space, session, first_position")


def links(
    listing: Listing,
) -> None:
    """Efforts that are used together, the strongest links first."""
    space = listing.where
    with listing.opened() as (home, terminal):
        order = "strength DESC, first, second"
        found = listing.view(home, "links", space=space, limit=listing.limit, order=order)
        if not listing.json:
            efforts = listing.view(home, "efforts", space=space)
            topics = {(effort["space"], effort["effort"]): effort["topic"] for effort in efforts}
            for row in found:
                pair = (row["first"], row["second"])
                row["topics"] = " + ".join(topics.get((row["space"], effort)) or effort for effort in pair)
        if not found:
            known_place(home.path, space, None)
        spec = listing.told("strength> space? count>? last_at? first? second? topics")
        terminal.rows(found, spec, "no links yet: they form when efforts are used together three times")
