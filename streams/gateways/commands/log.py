"""The commands that write the log and show it as it is."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.gateways.command import (
    FAILED,
    AllSpaces,
    Common,
    InSpace,
    OnlySession,
    known_place,
    named,
    one_or_all,
    space_of,
)
from streams.gateways.moments import YEAR_1971
from streams.gateways.sources import AUTO, NAMES
from streams.gateways.terminal import Terminal, cell

if TYPE_CHECKING:
    from streams.gateways.feed import Report
    from streams.gateways.sources import Item
    from streams.logs.where import HomeLog

TOLD_FAULTS = 20
"""Faults that a person is told of after a feed; all rejected lines are in the rejects file."""
POLL = 0.1
"""Seconds between looks at the log for `tail --follow`."""


def feed(
    common: Common,
    paths: Annotated[
        list[Path], typer.Argument(parser=named, metavar="FILE...", help="Files or folders; - is standard input.")
    ],
    format: Annotated[
        str, typer.Option("--format", "-f", help=f"{', '.join(NAMES)}; found out where it is not said.")
    ] = AUTO,
    space: InSpace = None,
    session: Annotated[str, typer.Option(help="Session of what names none.")] = "",
    agent: Annotated[str, typer.Option(help="Who the assistant is, where it is not said.")] = "",
    source: Annotated[
        str,
        typer.Option(
            help="What it is read from, where that is not told by the file's name; read again, it adds nothing."
        ),
    ] = "",
    rejects: Annotated[Path | None, typer.Option(help="Where rejected lines go (FILE.rejects.jsonl).")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name what was known already.")] = False,
) -> None:
    """Append conversations to the log. What was fed before adds nothing.

    A line without an id is known again by the name of its file and its place among equal lines there. Standard input
    and pipes have no name, so nothing of them is known again unless --source gives one.
    Bad lines go to a rejects file, byte for byte, which can be mended and fed again; then the exit code is 1.
    """
    from streams.core.edge import Edge
    from streams.gateways import sources
    from streams.gateways.feed import Rejects
    from streams.gateways.feed import feed as feed_log

    reader = sources.find(format)
    edge = Edge(space_of(space), session, agent, source)
    total = sources.total_bytes(reader, paths)
    terminal = common.terminal
    early, last = [0], list[str]()
    with common.log() as log, terminal.progress("feeding", "bytes") as tick:
        items = sources.read(reader, paths, edge, sys.stdin.buffer, lambda done: tick(done, total or 0), space or "")
        report = feed_log(log.append, counted(items, early, last), Rejects(rejects))
    tell(report, terminal, early[0], verbose)
    if report.added and last and last[0] != space_of(space) and not terminal.json:
        words = " ".join(
            f"{option} {shlex.quote(name)}" for option, name in zip(("--space", "--session"), last, strict=True)
        )
        terminal.tell("the last of it is in a space of its own; ask for it with: mnemolog context {}", words)
    if report.rejected:
        raise typer.Exit(FAILED)


def counted(items: Iterator[Item], early: list[int], last: list[str]) -> Iterator[Item]:
    """The items, while those dated 1970 are counted: their times were most likely seconds. `last` is then the space and
    session of the last turn, a subagent's only where there is no other."""
    from streams.core.edge import Accepted
    from streams.core.events import TurnRecorded

    for item in items:
        if isinstance(item, Accepted) and 0 < item.event.at < YEAR_1971:
            early[0] += 1
        if isinstance(item, Accepted) and isinstance(item.event, TurnRecorded):
            # What a subagent was told stands below the session that it belongs to: SESSION/AGENT.
            is_own = "/" not in item.event.session
            last[:] = [item.event.space, item.event.session] if is_own or not last or "/" in last[1] else last
        yield item


def tell(report: Report, terminal: Terminal, early: int, verbose: bool) -> None:
    """What became of a feed."""
    from streams.logs.where import on_kafka, told_place

    repeats = report.repeats if verbose else []
    # Why on brokers alone: a log in the home is folded by whoever asks, so nobody has to wait for a position of it.
    after = ",".join(told_place(*place) for place in sorted(report.after.items())) if on_kafka() else ""
    if terminal.json:
        for one in repeats:
            terminal.object({"file": one.file, "line": one.line, "known": one.reason.rpartition(" ")[2]})
        for one in report.unfinished:
            terminal.object({"file": one.file, "line": one.line, "unfinished": True})
        for fault in report.faults:
            terminal.object({"file": fault.file, "line": fault.line, "field": fault.field, "reason": fault.reason})
        done = {"added": report.added, "known": report.known, "rejected": report.rejected, "rejects": report.rejects}
        done |= {"erased": report.erased} if report.erased else {}
        terminal.object(done | ({"after": after} if after else {}))
        return
    counts = (
        ("[green]{:,} added[/]", report.added),
        (", {:,} known already", report.known),
        (", {:,} erased before", report.erased),
        (", [red]{:,} rejected[/]", report.rejected),
        ("; ask with --after {}", after),
    )
    told = [(template, count) for n, (template, count) in enumerate(counts) if count or n == 0]
    terminal.say("".join(template for template, _ in told), *(count for _, count in told))
    if not any(count for _, count in counts) and not report.unfinished:
        terminal.tell(
            "there is nothing, or nothing in a format that is known (--format names one; nested archives stay shut)"
        )
    for line in (*repeats, *report.unfinished[:TOLD_FAULTS], *report.faults[:TOLD_FAULTS]):
        terminal.tell("{}", line)
    if len(report.faults) > TOLD_FAULTS:
        terminal.tell("... and more: {:,} rejected in all", report.rejected)
    for path in report.rejects:
        terminal.tell("rejected lines are in {}: mend them, then feed that file", path)
    if early:
        terminal.tell("{:,} are dated 1970: whole numbers are microseconds; were these seconds?", early)


def tail(
    common: Common,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="The last so many events.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    session: OnlySession = None,
) -> None:
    """Show the newest events of the log, and with --follow those that come."""
    import time

    import orjson

    from streams.core.driver import Record

    space = one_or_all(space, all_spaces)

    def wanted(record: Record) -> bool:
        return (
            record.is_readable
            and (space is None or record.space == space)
            and (session is None or orjson.loads(record.value).get("session", "") == session)
        )

    terminal = common.terminal
    with common.log() as log, suppress(KeyboardInterrupt):  # the way to end it
        ends = [log.end(partition) for partition in range(log.partitions)]
        found = newest(log, ends, limit, wanted)
        if not found and limit and not follow:
            known_place(common.path, space, session)
            terminal.say("[dim]the log is empty: feed some turns[/]")
        for record in found:
            show_record(record, terminal, log.partitions)
        while follow:
            sys.stdout.flush()
            time.sleep(POLL)
            for partition, start in enumerate(ends):
                ends[partition] = log.end(partition)
                for record in log.read(partition, min(start, ends[partition]), ends[partition]):
                    if wanted(record):
                        show_record(record, terminal, log.partitions)


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

    from streams.core.errors import NewerError
    from streams.core.events import decode, iso

    fields = orjson.loads(record.value)
    if terminal.json:
        times = {"at": iso(fields["at"]), "recorded_at": iso(record.recorded_at)}
        place = {"position": record.offset} | ({"partition": record.partition} if partitions > 1 else {})
        terminal.object(place | fields | times)
        return
    where = f"{record.space}/{fields.get('session', '')}"
    place_ = str(record.offset) if partitions == 1 else f"{record.partition}:{record.offset}"
    try:
        event: Any = decode(record.type, record.value)
    except NewerError:  # what can be told of it is told
        told = map(cell, (iso(fields["at"]), where, record.type))
        later = "[dim]{} {}[/] [cyan]{}[/] [bold]{}[/] [dim]of a later version of mnemolog[/]"
        terminal.say(later, place_.rjust(7), *told, cut=True)
        return
    kind = record.type.rpartition(".v")[0]
    who = event.agent if kind == "turn-recorded" else kind
    said = next(
        (s for n in ("content", "text", "topic", "conclusion", "turn", "note", "what") if (s := getattr(event, n, ""))),
        "",
    )
    if not said:
        calls = [part.get("function") for part in getattr(event, "parts", ())]
        said = ", ".join(f"calls {call.get('name', '?')}" for call in calls if isinstance(call, dict))
    told = map(cell, (iso(event.at), where, who, said))
    terminal.say("[dim]{} {}[/] [cyan]{}[/] [bold]{}[/] {}", place_.rjust(7), *told, cut=True)
