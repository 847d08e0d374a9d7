"""The command line: a composition root. It names the rooms to each other, and says what they answer.

Every command takes --home, and --json where it has something to answer. Rooms are imported by the command that needs
them, so that help comes at once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Optional

import typer
from typer.core import TyperGroup

from streams.core.errors import MnemologError, UsageError
from streams.gateways import kafka as kafka_commands
from streams.gateways import recall as recall_commands
from streams.gateways.command import (
    ASK,
    CODE,
    FAILED,
    LOG,
    MISUSED,
    OK,
    REPLAY,
    RUN,
    After,
    AsJson,
    AsOf,
    HomeDir,
    InSpace,
    Limit,
    Memory,
    OnlySession,
    OnlySpace,
    file_log_of,
    hint,
    home_path,
    known_place,
    list_view,
    log_of,
    one,
    one_of,
    opened,
    record,
    serve_until_stopped,
    settings,
)
from streams.gateways.terminal import Row, Terminal, cell, printable

if TYPE_CHECKING:
    from streams.gateways.feed import Report
    from streams.gateways.sources import Item
    from streams.logs.where import HomeLog
    from streams.runtime.home import Home

TOLD_FAULTS = 20
"""Faults that a person is told of after a feed; all rejected lines are in the rejects file."""
POLL = 0.1
"""Seconds between looks at the log for `tail --follow`."""
VALUE_WIDTH = 24
"""Characters of a parameter's value in a table on a terminal."""
STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""
YEAR_1971 = 31_536_000_000_000


class Commands(TyperGroup):
    """Help with commands under headings. Why not rich's: loading that takes longer than all else together."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands, heading by heading."""
        for heading in dict.fromkeys(panel(command) for command in self.commands.values()):
            rows = [(n, first_sentence(c)) for n, c in self.commands.items() if panel(c) == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)


def panel(command: Any) -> str:
    """The heading a command stands under."""
    found = getattr(command, "rich_help_panel", None)
    return found if isinstance(found, str) else "Commands"


def first_sentence(command: Any) -> str:
    """What a command does, in a line."""
    return " ".join((command.help or "").split("\n\n")[0].split())


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Memory for AI agents as a replayable log. Begin with `mnemolog demo`, or `mnemolog feed FILE`.",
)
offers_app = typer.Typer(help="Conclusions that were offered: list, accept or decline them.")
notes_app = typer.Typer(help="Notes with a time to live: list, take or settle them.")
efforts_app = typer.Typer(help="Units of work, open and concluded: list, close or reopen them.")


# -- in ----------------------------------------------------------------------------------------------------------------


@app.command(rich_help_panel=LOG)
def feed(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files or folders; - is standard input.")],
    format: Annotated[str, typer.Option("--format", "-f", help="lines or openai.")] = "lines",
    space: InSpace = None,
    session: Annotated[str, typer.Option(help="Session of what names none.")] = "",
    agent: Annotated[str, typer.Option(help="Who the assistant is, where it is not said.")] = "",
    rejects: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Where rejected lines go (FILE.rejects.jsonl)."),
    ] = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Append conversations to the log. What was fed before adds nothing.

    Bad lines go to a rejects file, byte for byte, which can be mended and fed again; then the exit code is 1.
    """
    from streams.core.edge import Edge
    from streams.gateways import sources
    from streams.gateways.feed import Rejects
    from streams.gateways.feed import feed as feed_log

    source = sources.find(format)
    edge = Edge(space or settings().space, session, agent)
    total = sources.total_bytes(source, paths)
    terminal = Terminal(json)
    early = [0]
    log = log_of(home)
    try:
        with terminal.progress("feeding", "bytes") as tick:
            items = sources.read(source, paths, edge, sys.stdin.buffer, lambda done: tick(done, total or 0))
            report = feed_log(log.append, counted(items, early), Rejects(rejects))
    finally:
        log.close()
    tell(report, terminal, early[0])
    if report.rejected:
        raise typer.Exit(FAILED)


def counted(items: Iterator[Item], early: list[int]) -> Iterator[Item]:
    """The items, while those dated 1970 are counted: their times were most likely seconds."""
    from streams.core.edge import Accepted

    for item in items:
        if isinstance(item, Accepted) and 0 < item.event.at < YEAR_1971:
            early[0] += 1
        yield item


def tell(report: Report, terminal: Terminal, early: int) -> None:
    """What became of a feed."""
    if terminal.json:
        for fault in report.faults:
            terminal.object({"file": fault.file, "line": fault.line, "field": fault.field, "reason": fault.reason})
        done = {"added": report.added, "known": report.known, "rejected": report.rejected, "rejects": report.rejects}
        terminal.object(done)
        return
    said = f"[green]{report.added:,} added[/]"
    said += f", {report.known:,} known already" if report.known else ""
    said += f", [red]{report.rejected:,} rejected[/]" if report.rejected else ""
    terminal.say(said)
    for fault in report.faults[:TOLD_FAULTS]:
        terminal.err.print(printable(str(fault)), markup=False, soft_wrap=True)
    if len(report.faults) > TOLD_FAULTS:
        terminal.err.print(f"... and more: {report.rejected:,} rejected in all")
    for path in report.rejects:
        terminal.err.print(
            f"rejected lines are in {path}: mend them, then feed that file", markup=False, soft_wrap=True
        )
    if any(fault.reason.startswith("is a list") for fault in report.faults):
        terminal.err.print("chats in OpenAI's format are fed with --format openai", markup=False)
    if early:
        terminal.err.print(
            f"{early:,} are dated 1970: whole numbers are microseconds; were these seconds?", markup=False
        )


@app.command(rich_help_panel=LOG)
def tail(
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="The last so many events.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    space: OnlySpace = None,
    session: OnlySession = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Show the newest events of the log, and with --follow those that come."""
    import time

    from streams.core.driver import Record
    from streams.core.events import decode

    def wanted(record: Record) -> bool:
        return (space is None or record.space == space) and (
            session is None or getattr(decode(record.type, record.value), "session", "") == session
        )

    terminal = Terminal(json)
    log = log_of(home)
    try:
        ends = [log.end(partition) for partition in range(log.partitions)]
        found = newest(log, ends, limit, wanted)
        if not found and limit and not follow:
            known_place(home_path(home), space, session)
            terminal.say("[dim]the log is empty: feed some turns[/]")
        for record in found:
            show_record(record, terminal, log.partitions)
        while follow:
            sys.stdout.flush()
            time.sleep(POLL)
            for partition, start in enumerate(ends):
                ends[partition] = log.end(partition)
                for record in log.read(partition, start, ends[partition]):
                    if wanted(record):
                        show_record(record, terminal, log.partitions)
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        log.close()


def newest(log: HomeLog, ends: Sequence[int], limit: int, wanted: Callable[[Any], bool]) -> list[Any]:
    """The last `limit` records that are wanted, oldest first; of several partitions in the order of recording."""
    found = [record for p, end in enumerate(ends) for record in newest_of(log, p, end, limit, wanted)]
    if log.partitions > 1:
        found.sort(key=lambda record: record.recorded_at)
    return found[len(found) - min(limit, len(found)) :]


def newest_of(log: HomeLog, partition: int, end: int, limit: int, wanted: Callable[[Any], bool]) -> list[Any]:
    """The last `limit` wanted records of a partition, read backwards page by page."""
    found: list[Any] = []
    while end > 0 and len(found) < limit:
        start = max(0, end - 1000)
        found = [record for record in log.read(partition, start, end) if wanted(record)] + found
        end = start
    return found[len(found) - min(limit, len(found)) :]


def show_record(record: Any, terminal: Terminal, partitions: int = 1) -> None:
    """One event of the log."""
    import orjson

    from streams.core.events import decode, iso

    event: Any = decode(record.type, record.value)
    if terminal.json:
        fields = orjson.loads(record.value)
        times = {"at": iso(event.at), "recorded_at": iso(record.recorded_at)}
        place = {"position": record.offset} | ({"partition": record.partition} if partitions > 1 else {})
        terminal.object(place | fields | times)
        return
    from rich.text import Text

    kind = record.type.rpartition(".v")[0]
    who = event.agent if kind == "turn-recorded" else kind
    said = next(
        (s for n in ("content", "text", "topic", "conclusion", "turn", "note") if (s := getattr(event, n, ""))), ""
    )
    if not said:
        calls = [part.get("function") for part in getattr(event, "parts", ())]
        said = ", ".join(f"calls {call.get('name', '?')}" for call in calls if isinstance(call, dict))
    where = f"{event.space}/{getattr(event, 'session', '')}"
    place_ = str(record.offset) if partitions == 1 else f"{record.partition}:{record.offset}"
    line = Text.assemble((f"{place_:>7} ", "dim"), (f"{cell(iso(event.at))} ", "dim"), (where, "cyan"), " ")
    line.append(f"{cell(who)} ", "bold")
    line.append(cell(said))
    terminal.out.print(line, no_wrap=True, overflow="ellipsis")


# -- asking ------------------------------------------------------------------------------------------------------------


@app.command(rich_help_panel=ASK)
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
        asked = {"space": space or settings().space, "session": session, "as_of": as_of} | limits
        found = house.ask("context", memory, **asked)
        if not (json or messages or found["sections"]):
            hint(house.path, space or settings().space, session, terminal)
        if messages:
            terminal.object(found["messages"])
        elif json:
            terminal.object(found)
        else:
            sys.stdout.write(printable(found["text"]).rstrip("\n") + "\n")


@app.command(rich_help_panel=ASK)
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


@app.command(rich_help_panel=ASK)
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


@efforts_app.callback(invoke_without_command=True)
def efforts(
    ctx: typer.Context,
    space: OnlySpace = None,
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
    if ctx.invoked_subcommand is None:
        list_view(
            "efforts", "effort space? last_at? turns>? status importance? topic", "no efforts yet: feed turns first",
            home, json, memory, as_of, after, space=space, status=status, limit=limit,
            order="last_at DESC, space, effort",
        )  # fmt: skip


@efforts_app.command("close")
def efforts_close(
    effort: Annotated[str, typer.Argument(help="The effort's id, or a turn of it.")],
    conclusion: Annotated[str, typer.Option(help="What came of it.")] = "",
    space: OnlySpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Say that an effort is concluded."""
    about = turn_of_effort(home, effort, space)
    record(home, json, "closed", about | {"type": "effort-closed", "conclusion": conclusion})


@efforts_app.command("reopen")
def efforts_reopen(
    effort: Annotated[str, typer.Argument(help="The effort's id, or a turn of it.")],
    space: OnlySpace = None,
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


@app.command(rich_help_panel=ASK)
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


@offers_app.callback(invoke_without_command=True)
def offers(
    ctx: typer.Context,
    space: OnlySpace = None,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, accepted, declined, overtaken, or all.")] = "open",
    limit: Limit = None,
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Conclusions that seemed likely but not sure, offered to be accepted or declined."""
    one_of(status, ("open", "accepted", "declined", "overtaken", "all"), "status")
    if ctx.invoked_subcommand is None:
        list_view(
            "offers", "turn_id space? session? at? status? pattern confidence>? text", "no offers wait",
            home, json, memory, as_of, after, space=space, session=session, limit=limit,
            status=None if status == "all" else status, order='"at", space, turn_id',
        )  # fmt: skip


@offers_app.command("list")
def offers_list(
    ctx: typer.Context,
    space: OnlySpace = None,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, accepted, declined, overtaken, or all.")] = "open",
    limit: Limit = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """List the offers that wait."""
    ctx.invoked_subcommand = None
    offers(ctx, space, session, status, limit, None, "", "live", home, json)


@offers_app.command("accept")
def offers_accept(
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    conclusion: Annotated[str, typer.Option(help="What came of it, in your words.")] = "",
    space: OnlySpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Accept an offer: the effort of its turn is concluded."""
    event = offered(home, turn, space) | {"type": "effort-closed", "conclusion": conclusion}
    record(home, json, "accepted", event)


@offers_app.command("decline")
def offers_decline(
    turn: Annotated[str, typer.Argument(help="The turn at which it was offered.")],
    space: OnlySpace = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Decline an offer: the effort of its turn stays open."""
    record(home, json, "declined", offered(home, turn, space) | {"type": "offer-declined"})


def offered(home: Path | None, turn: str, space: str | None) -> dict[str, Any]:
    """The open offer made at a turn."""
    with opened(home, json=False) as (house, _):
        found = house.ask("view", name="offers", turn_id=turn, space=space, status="open")
        row = one(
            found[:1] if space else found, f"open offer at turn {turn!r}", "`mnemolog offers` lists those that wait"
        )
        return {"space": row["space"], "session": row["session"], "turn": row["turn_id"]}


@notes_app.callback(invoke_without_command=True)
def notes(
    ctx: typer.Context,
    space: OnlySpace = None,
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
    if ctx.invoked_subcommand is None:
        list_view(
            "notes", "note space? deadline? status priority>? source? content", "no notes (mnemolog notes take)",
            home, json, memory, as_of, after, space=space, session=session, limit=limit,
            status=None if status == "all" else status, order="deadline, space, note",
        )  # fmt: skip


@notes_app.command("list")
def notes_list(
    ctx: typer.Context,
    space: OnlySpace = None,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, escalated, archived, settled, historic, or all.")] = "all",
    limit: Limit = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """List the notes, those due first."""
    ctx.invoked_subcommand = None
    notes(ctx, space, session, status, limit, None, "", "live", home, json)


@notes_app.command("take")
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
        "priority": priority, "context": about, "session": session, "space": space,
    }  # fmt: skip
    record(home, json, f"noted as {name}", event)


@notes_app.command("settle")
def notes_settle(
    note: Annotated[str, typer.Argument(help="The note's id.")],
    resolution: Annotated[str, typer.Option(help="What was done about it.")] = "",
    space: OnlySpace = None,
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


@app.command(rich_help_panel=ASK)
def query(
    name: Annotated[Optional[str], typer.Argument(help="Its name; none lists all.")] = None,  # noqa: UP045
    given: Annotated[Optional[list[str]], typer.Argument(metavar="PARAMETER=VALUE...")] = None,  # noqa: UP045
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Run a named analysis, or list them."""
    from processors import PROCESSORS
    from projections import analyses, ask
    from projections.as_of import as_of as memory_as_of

    if name is None:
        listed = [
            {"name": a.name, "parameters": {p.name: p.default for p in a.parameters}, "about": a.description}
            for a in analyses.analyses(PROCESSORS).values()
        ]
        Terminal(json).rows(listed, "name parameters about~", "no analyses")
        return
    values: dict[str, str | int | float] = dict(setting(text) for text in given or ())
    asked = analyses.analysis(PROCESSORS, name)
    analyses.bind(asked, values)
    with opened(home, json, after) as (house, terminal), house.reading(memory) as connection:
        cursor: Any = memory_as_of(connection, as_of) if as_of else connection
        with sql_errors("`mnemolog query` lists the analyses with their parameters"):
            found = analyses.run(cursor, asked, values)
        terminal.rows([{key: ask.plain(value) for key, value in row.items()} for row in found], "", "no rows")


def setting(text: str) -> tuple[str, str]:
    """A NAME=VALUE. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is no parameter", "write name=value")
    return name, value


@app.command(rich_help_panel=ASK)
def sql(
    statement: Annotated[str, typer.Argument(metavar="SQL", help="A query; - reads it from standard input.")],
    as_of: AsOf = None,
    after: After = "",
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Run SQL over a consistent, read-only copy of a memory, while it is written."""
    from projections import ask
    from projections.as_of import as_of as memory_as_of

    text = sys.stdin.read() if statement == "-" else statement
    if not re.sub(r"--[^\n]*|/\*.*?\*/|[\s;]", "", text, flags=re.DOTALL):
        raise UsageError("there is no statement", "for example: mnemolog sql 'SELECT topic, status FROM efforts'")
    with opened(home, json, after) as (house, terminal), house.reading(memory) as connection:
        cursor = memory_as_of(connection, as_of) if as_of else connection
        with sql_errors("`mnemolog sql 'SHOW TABLES'` lists tables and views"):
            rows = ask.records(cursor, text)
        terminal.rows(rows, "", "no rows")


@contextmanager
def sql_errors(way_out: str) -> Iterator[None]:
    """What DuckDB does not like in a statement or its parameters is the user's to mend."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
            raise
        raise UsageError(str(error), way_out) from None


# -- memories ----------------------------------------------------------------------------------------------------------


@app.command(rich_help_panel=REPLAY)
def memories(home: HomeDir = None, json: AsJson = False) -> None:
    """The memories of a home: live, and what replays made."""
    with opened(home, json) as (house, terminal):
        end = sum(house.log.end(partition) for partition in range(house.log.partitions))
        rows = [about_memory(house, name, end) for name in house.memories()]
        terminal.rows(rows, "memory events> behind> bytes>? partial? changed", "no memory yet: feed some turns first")


def about_memory(house: Home, name: str, end: int) -> Row:
    """What a memory says of itself."""
    import orjson

    from projections import store
    from streams.runtime.home.folder import LIVE

    path = house.memory_path(name)
    row: Row = {"memory": name, "events": None, "behind": None, "bytes": path.stat().st_size}
    try:
        with house.reading(name) as connection:
            mark = sum(store.read_mark(connection, partition) + 1 for partition in range(house.log.partitions))
            params = orjson.loads(store.read_meta(connection, "params"))
            partial = "" if name == LIVE else store.read_meta(connection, "partial").replace("None", "")
    except MnemologError as error:
        return row | {"partial": str(error), "changed": ""}
    return row | {"events": mark, "behind": end - mark, "partial": partial, "changed": changed_params(house, params)}


def changed_params(house: Home, params: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    found: dict[str, Any] = {}
    for processor in house.processors:
        default = processor.params().model_dump(mode="json")
        for name, value in params.get(processor.name, {}).items():
            if value != default.get(name):
                found[f"{processor.name}.{name}"] = value
    return found


@app.command(rich_help_panel=REPLAY)
def replay(
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="The name of the new memory.")],
    set_: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--set", metavar="PROCESSOR.PARAMETER=VALUE", help="Another value; may be repeated."),
    ] = None,
    preset: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME", help="Named values for the whole tree: `mnemolog presets` lists them."),
    ] = None,
    params: Annotated[Optional[Path], typer.Option(help="A TOML file with a table per processor.")] = None,  # noqa: UP045
    until: Annotated[Optional[str], typer.Option(metavar="TIME", help="Fold only to this time.")] = None,  # noqa: UP045
    space: OnlySpace = None,
    without: Annotated[Optional[list[str]], typer.Option(metavar="PROCESSOR", help="Leave it out.")] = None,  # noqa: UP045
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a memory of that name.")] = False,
    processes: Annotated[Optional[int], typer.Option(min=1, help="How many at once.")] = None,  # noqa: UP045
    archive: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="DIR", help="Read an archive of the log instead of the log."),
    ] = None,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Fold history again, under other parameters, into a new memory."""
    import time

    from streams.runtime import replay as replays

    if params is not None and not params.is_file():
        raise UsageError(f"there is no file {params}", "give a TOML file with a table per processor")
    with opened(home, json) as (house, terminal):
        known_place(house.path, space, None)
        chosen = replays.parse_settings(house, house.live_params(), set_ or (), params, preset)
        began = time.perf_counter()
        with terminal.progress(f"replaying as {name}") as tick:
            report = replays.replay(
                house, name, chosen, until=until, space=space, without=without or (), replace=replace,
                processes=processes, progress=tick, archive=archive,
            )  # fmt: skip
        seconds = time.perf_counter() - began
        if json:
            done = {"memory": name, "turns": report.turns, "steps": report.steps, "reused": report.reused}
            terminal.object(done | {"seconds": round(seconds, 3)})
            return
        terminal.say(f"[green]{name}[/]: {house.log.end(0):,} events in {seconds:.1f} s")
        rows = [{"processor": p, "steps": n, "seconds": report.seconds.get(p, 0.0)} for p, n in report.steps.items()]
        for row in rows:
            row["from"] = "reused from live" if row["processor"] in report.reused else "folded"
        terminal.rows(rows, "processor steps> seconds>? from", "nothing was folded")
        terminal.say(f"[dim]next: mnemolog diff live {name}; mnemolog promote {name}[/]")


@app.command(rich_help_panel=REPLAY)
def diff(
    left: Annotated[str, typer.Argument(help="A memory.")],
    right: Annotated[str, typer.Argument(help="Another one.")],
    examples: Annotated[int, typer.Option(min=0, help="Of each kind of difference.")] = 3,
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """What differs between two memories: counts, and examples to look at."""
    from dataclasses import asdict

    from projections.diff import compare

    with opened(home, json) as (house, terminal), house.reading(left) as one, house.reading(right) as other:
        found = compare(one, other, (left, right), examples, house.processors)
        if json:
            terminal.object(found.to_json())
            return
        rows = [asdict(row) | {left: row.left, right: row.right} for row in found.rows if row.differs]
        if rows:
            terminal.rows(rows, f"about {left}> {right}> differs> what", "")
        equal = len(found.rows) - len(rows)
        terminal.say(f"[green]the same[/] in {'all' if not rows else 'the other'} {equal} measures")
        for what in dict.fromkeys(example.what for example in found.examples):
            terminal.say(f"\n[bold]for example, {what}[/]")
            examples_ = [example for example in found.examples if example.what == what]
            shown = [asdict(e) | {left: e.left, right: e.right} for e in examples_]
            sides = [name for name in (left, right) if any(row[name] for row in shown)]
            terminal.rows(shown, " ".join(["session?", "turn", *sides, "text"]), "")


@app.command(rich_help_panel=REPLAY)
def promote(
    name: Annotated[str, typer.Argument(help="The memory that a replay made.")],
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Make a memory live; the old one is kept under another name."""
    if name == "live":
        raise UsageError("live is live already", "`mnemolog memories` lists what replays made")
    with opened(home, json) as (house, terminal):
        kept = house.promote(name)
        if json:
            terminal.object({"live": name, "kept": kept})
        else:
            terminal.say(f"[green]{name} is live[/]; the memory before it is kept as {kept}")


@app.command(rich_help_panel=REPLAY)
def digest(
    memory: Annotated[str, typer.Argument(metavar="NAME", help="The memory.")] = "live",
    after: After = "",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """A hash per table: two memories that hold the same have the same."""
    with opened(home, json, after) as (house, terminal):
        found = house.ask("digest", memory)
        terminal.rows(
            [{"table": table, "digest": value} for table, value in found.items()], "table digest", "no tables"
        )


# -- running -----------------------------------------------------------------------------------------------------------


@app.command(rich_help_panel=RUN)
def serve(home: HomeDir = None, json: AsJson = False) -> None:
    """Fold what comes, and answer other commands, until stopped."""
    serve_until_stopped(home, json)


@app.command(rich_help_panel=RUN)
def export(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is empty or not there yet.")],
    format: Annotated[
        str, typer.Option("--format", "-f", help="ccm: the tree of the Cognitive Context Management paper.")
    ] = "ccm",
    space: OnlySpace = None,
    memory: Memory = "live",
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Write a memory as files that people and agents can read."""
    from dataclasses import asdict

    from projections.export import export_ccm

    if format != "ccm":
        raise UsageError(f"there is no export format {format!r}", "choose ccm")
    with opened(home, json) as (house, terminal), house.reading(memory) as connection:
        cursor: Any = connection
        done = export_ccm(cursor, target, space)
        if json:
            terminal.object({"folder": str(target)} | asdict(done))
        else:
            terminal.say(
                f"[green]{done.files:,} files[/] in {target}: {done.sessions:,} sessions, {done.turns:,} turns"
            )


@app.command(rich_help_panel=RUN)
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Copy the log, consistently, while it is written. From the log alone everything is made again."""
    if target.exists():
        raise UsageError(f"{target} exists already", "choose another file")
    log = file_log_of(home)
    try:
        count = log.backup(target)
    finally:
        log.close()
    terminal = Terminal(json)
    if json:
        terminal.object({"file": str(target), "events": count, "bytes": target.stat().st_size})
    else:
        terminal.say(f"[green]{count:,} events[/] in {target}")
        terminal.say(f"[dim]to restore: mnemolog restore {target} --home NEW[/]")


@app.command(rich_help_panel=RUN)
def archive(
    target: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that is empty, not there yet, or an archive.")
    ],
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Write the log as sealed Parquet files, or what came since to an archive. From it everything is made again."""
    from streams.logs.archive import archive as archive_log

    terminal = Terminal(json)
    log = log_of(home)
    try:
        with terminal.progress("archiving") as tick:
            added = archive_log(log, target, tick)
    finally:
        log.close()
    events = sum(sealed.stop - sealed.start for sealed in added)
    if json:
        terminal.object({"folder": str(target), "files": [str(sealed.path) for sealed in added], "offsets": events})
    else:
        terminal.say(f"[green]{len(added):,} files[/] with {events:,} offsets of the log added to {target}")


@app.command(rich_help_panel=RUN)
def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What backup wrote.")],
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Begin a home with a backed-up log; its memories are folded anew."""
    import shutil

    from streams.logs.sqlite import SqliteLog
    from streams.logs.where import LOG_FILE

    path = home_path(home)
    log_path = path / LOG_FILE
    if not source.is_file():
        raise UsageError(f"there is no file {source}", "name what `mnemolog backup` wrote")
    if log_path.exists():
        raise UsageError(f"{path} has a log already", "name a new home with --home")
    check_backup(source)
    try:
        path.mkdir(parents=True, exist_ok=True)
        partial = log_path.with_name(f"{LOG_FILE}.partial")
        shutil.copyfile(source, partial)
        partial.rename(log_path)
    except OSError as error:
        raise UsageError(f"{path} cannot be a home: {error.strerror}", "choose another with --home") from error
    log = SqliteLog(log_path)
    try:
        count = log.end(0)
    finally:
        log.close()
    terminal = Terminal(json)
    if json:
        terminal.object({"home": str(path), "events": count})
    else:
        terminal.say(f"[green]{count:,} events[/] in {path}")


def check_backup(source: Path) -> None:
    """Raises UsageError for a file that is no log, before a home is made of it."""
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as log:
            log.execute("SELECT count(*) FROM log").fetchone()
            sound = log.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    except sqlite3.Error as error:
        raise UsageError(f"{source} is no backup: {error}", "name what `mnemolog backup` wrote") from error
    if not sound:
        raise UsageError(f"{source} is damaged", "name another backup")


@app.command(rich_help_panel=RUN)
def doctor(home: HomeDir = None, json: AsJson = False) -> None:
    """Check that all is well with a home, and say what to do where it is not."""
    from streams.gateways.doctor import examine

    terminal = Terminal(json)
    found = examine(home_path(home))
    terminal.rows([{"check": c.name, "status": c.status, "found": c.found} for c in found], "check status found~", "")
    if any(check.status == "failed" for check in found):
        raise typer.Exit(FAILED)


@app.command(rich_help_panel=CODE)
def flow(json: AsJson = False, home: HomeDir = None) -> None:
    """Which processor reads which, as a Mermaid diagram."""
    from processors import PROCESSORS
    from streams.gateways.flow import emitted, mermaid

    terminal = Terminal(json)
    if json:
        for processor in PROCESSORS:
            about = {"processor": processor.name, "reads": list(processor.reads), "emits": emitted(processor)}
            terminal.object(about)
    else:
        sys.stdout.write(mermaid(PROCESSORS))


@app.command(rich_help_panel=CODE)
def params(
    of: Annotated[Optional[str], typer.Argument(help="Only those of this processor, of recall or of context.")] = None,  # noqa: UP045
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """Every parameter: its value in live and its default, with unit, limits, reason and source."""
    from streams.gateways.flow import parameter_rows

    with opened(home, json) as (house, terminal):
        current = house.live_params()
        chosen = {name: params for name, params in current.items() if of in (None, name, name.partition(".")[0])}
        if not chosen:
            raise UsageError(f"nothing that has parameters is called {of!r}", f"known are: {', '.join(current)}")
        rows = parameter_rows(chosen)
        if not json:
            rows = [row | {"parameter": f"{row['of']}.{row['parameter']}", "value": told_value(row)} for row in rows]
        terminal.rows(rows, "parameter value unit? limits? why~", "no parameters")


@app.command(rich_help_panel=CODE)
def presets(home: HomeDir = None, json: AsJson = False) -> None:
    """Named parameter sets of the whole tree, for `mnemolog replay --preset`, beside what live has."""
    from streams.core.presets import PRESETS, preset

    with opened(home, json) as (house, terminal):
        live = {name: params.model_dump(mode="json") for name, params in house.live_params().items()}
        rows = [
            {"preset": name, "parameter": f"{processor}.{key}", "value": value, "live": live[processor][key]}
            for name in PRESETS
            for processor, values in preset(house.processors, name).items()
            for key, value in values.items()
        ]
        terminal.rows(rows, "preset parameter value> live>", "there are no presets")


def told_value(row: Row) -> str:
    """A parameter's value, with its default where that is another; on a terminal cut to fit: some are tables."""
    value, default = cell(row["value"]), cell(row["default"])
    if sys.stdout.isatty():
        value, default = (
            f"{text[: VALUE_WIDTH - 1]}…" if len(text) > VALUE_WIDTH else text for text in (value, default)
        )
    return value if value == default else f"{value} (default {default})"


@app.command(rich_help_panel=CODE)
def schema(
    name: Annotated[Optional[str], typer.Argument(help="An event type, or input-line; none prints all.")] = None,  # noqa: UP045
    home: HomeDir = None,
    json: AsJson = False,
) -> None:
    """JSON Schemas of the events, and of a line of input, generated from the code."""
    import orjson

    from streams.gateways.schema import schemas

    known = schemas()
    if name is not None and name not in known:
        raise UsageError(f"there is no schema {name!r}", f"schemas: {', '.join(known)}")
    value = known if name is None else known[name]
    sys.stdout.buffer.write(
        orjson.dumps(value, option=(0 if json else orjson.OPT_INDENT_2) | orjson.OPT_APPEND_NEWLINE)
    )


@app.command(rich_help_panel=RUN)
def demo(home: HomeDir = None) -> None:
    """See the main job on sample conversations, in a home of its own."""
    from streams.gateways.demo import run as run_demo

    run_demo(home)


app.add_typer(efforts_app, name="efforts", rich_help_panel=ASK)
app.add_typer(offers_app, name="offers", rich_help_panel=ASK)
app.add_typer(notes_app, name="notes", rich_help_panel=ASK)
recall_commands.register(app)
kafka_commands.register(app)


# -- the way out -------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command; whatever goes wrong, it says so in words and exits with a code."""
    given = own_first(list(sys.argv[1:] if arguments is None else arguments))
    debug = "--debug" in given
    given = [word for word in given if word != "--debug"]
    try:
        code = run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        Terminal().err.print("\nstopped", markup=False)
        code = STOPPED
    except MnemologError as error:
        complain(error, "--json" in given)
        code = MISUSED if isinstance(error, UsageError) else FAILED
    except BrokenPipeError:
        # Who reads has seen enough (`| head`). Why /dev/null: Python flushes standard output once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except Exception as error:
        if debug:
            raise
        complain(refused(error) if isinstance(error, OSError) else unexpected(error), "--json" in given)
        code = FAILED
    raise SystemExit(code)


def own_first(given: list[str]) -> list[str]:
    """--home and --json may stand before the command, too: they are every command's."""
    moved: list[str] = []
    while given and (given[0] in ("--home", "--json") or given[0].startswith("--home=")):
        count = 2 if given[0] == "--home" else 1
        moved, given = moved + given[:count], given[count:]
    end = given.index("--") if "--" in given else len(given)
    return given[:end] + moved + given[end:]


@cache
def parser() -> Any:
    """What parses commands; making it from the signatures above takes longer than parsing."""
    import typer.main

    return typer.main.get_command(app)


def run(arguments: list[str]) -> int:
    """Runs a command; its exit code. Raises UsageError for one that is not understood."""
    try:
        found = parser()(args=arguments, prog_name="mnemolog", standalone_mode=False)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else FAILED
    except Exception as error:  # why by name: typer brings its own click, or uses the one that is installed
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if "NoArgsIsHelpError" in kinds:
            sys.stdout.write(f"{error}\n")
            return MISUSED
        if "Abort" in kinds:
            raise KeyboardInterrupt from None
        if "ClickException" not in kinds:
            raise
        raise misunderstood(error) from None
    return found if isinstance(found, int) else OK


def misunderstood(error: Any) -> UsageError:
    """What the parser of commands says, as all errors are said."""
    said = error.format_message()
    context = getattr(error, "ctx", None)
    asked = f"{context.command_path} --help" if context is not None else "mnemolog --help"
    return UsageError(said[:1].lower() + said[1:].rstrip("."), f"`{asked}` tells how it is used")


def complain(error: MnemologError, json: bool) -> None:
    """Says what went wrong, and the way out."""
    terminal = Terminal(json)
    if json:
        import orjson

        sys.stderr.write(orjson.dumps({"error": str(error), "way_out": error.way_out}).decode() + "\n")
        return
    terminal.err.print("[red]error:[/] ", end="")
    terminal.err.print(printable(str(error)), markup=False, soft_wrap=True)
    if error.way_out:
        terminal.err.print(f"  {printable(error.way_out)}", markup=False, soft_wrap=True)


def refused(error: OSError) -> MnemologError:
    """What the system refused: rights, room, a folder where a file should be."""
    if error.filename is None or error.strerror is None:
        return unexpected(error)
    return MnemologError(f"{error.filename}: {error.strerror}", "mend that, or name another place; --debug tells more")


def unexpected(error: Exception) -> MnemologError:
    """An error that nobody foresaw, with the place of its details."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="mnemolog-", suffix=".txt", delete=False) as details:
        traceback.print_exception(error, file=details)
    first = (str(error).splitlines() or [""])[0][:200]
    what = f"something unexpected went wrong: {type(error).__name__}: {first}"
    return MnemologError(what, f"the details are in {details.name}; --debug shows them")


if __name__ == "__main__":
    main()
