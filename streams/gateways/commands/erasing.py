"""The commands that erase, and show that it is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.core.errors import UsageError, counted
from streams.gateways.command import FAILED, Common
from streams.gateways.terminal import Terminal

if TYPE_CHECKING:
    from streams.runtime.erasure.making import Erasing
    from streams.runtime.erasure.selection import Found
    from streams.runtime.home import Home

QUOTES = 20
"""Quotes that a person is shown."""
GOING = 20
"""Events that go, and that a person is shown."""
BEYOND = (
    "not reached: files that were fed and their rejects, exports, copies that were moved, what other homes or models "
    "were given, and what a file system keeps of files that are deleted"
)

HOW = "looked for by keyed hashes of ids, and of some of the words of each text, six in a row"
VERDICTS = {
    "failed": "[red]not all is gone[/]: mend what failed, then look again",
    "look": "[yellow]gone[/], as far as was looked; look yourself at what is marked so",
    "well": "[green]gone[/]: nothing of what was erased was found",
}
"""What an audit comes to, by the worst status in it."""
BROKERS = "what brokers delete later, mirror or back up; on other machines, homes until they are next used"


def erase(
    common: Common,
    turn: Annotated[list[str] | None, typer.Option("--turn", metavar="ID", help="This turn; may be repeated.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="A", help="All turns of this agent.")] = None,
    session: Annotated[str | None, typer.Option(metavar="X", help="All of this session.")] = None,
    space: Annotated[str | None, typer.Option(metavar="S", help="Only in this space; alone: all of it.")] = None,
    matching: Annotated[
        str | None, typer.Option(metavar="SQL", help="Events for which this holds: \"content ILIKE '%blue house%'\".")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and what would stay of it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase turns for good: a new log without them, memories folded anew, the old ones destroyed. Leaves a receipt.

    With them go the facts that name them, and models' words for them. Turns that quote them stay, and are listed.
    """
    from streams.runtime.erasure.making import erasing
    from streams.runtime.erasure.selection import Selection

    selection = Selection(tuple(turn or ()), agent, session, matching, space)
    with common.opened() as (house, terminal), erasing(house) as erase_from:
        with terminal.progress("looking") as tick:
            erasure = erase_from(selection, tick)
        show(house, erasure.found, terminal)
        if dry_run:
            return
        if not yes:
            ask(terminal, "erased", "Erase this for good?")
        with terminal.progress("erasing") as tick:
            told = erasure.carry_out(tick)
        _finish(house, erasure, told, terminal)


def show(home: Home, found: Found, terminal: Terminal) -> None:
    """What goes, and what stays of it."""
    if terminal.json:
        quotes = [quote.__dict__ for quote in found.quotes]
        sessions = [{"space": s, "session": x, "turns": n} for (s, x), n in found.turns.items()]
        going = [one._asdict() for one in found.going]
        terminal.object(
            {"turns": sessions, "facts": found.facts, "going": going, "quotes": quotes, "copies": _copies(home)}
        )
        return
    rows: list[dict[str, Any]] = [
        {"what": "turns", "space": space, "session": session, "count": count}
        for (space, session), count in found.turns.items()
    ]
    rows += [{"what": kind, "space": "", "session": "", "count": n} for kind, n in found.facts.most_common()]
    terminal.say("[bold]to be erased[/]")
    terminal.rows(rows, "what space? session? count>", "")
    terminal.say("")
    terminal.rows([one._asdict() for one in found.going[:GOING]], "id type space? session? text~", "")
    if len(found.going) > GOING:
        terminal.say("... and {:,} more (--json lists all)", len(found.going) - GOING)
    memories = counted(len(home.memories()), "memory", "memories")
    terminal.say("made anew from what stays: {}, snapshots, indexes and caches", memories)
    for copy in _copies(home):
        terminal.say("made anew: {}", copy)
    if not home.log.is_local:
        terminal.say("deleted: the topics of the log and of its workers, with what waits in the dead letters")
    if found.quotes:
        terminal.say("\n[bold]stays, though it says the same[/]: erase it by its id where it should go, too")
        quotes_ = [quote.__dict__ | {"kind": quote.type.rpartition(".v")[0]} for quote in found.quotes[:QUOTES]]
        terminal.rows(quotes_, "space session? id kind quoted~", "")
        if len(found.quotes) > QUOTES:
            terminal.say("... and {:,} more (--json lists all)", len(found.quotes) - QUOTES)


def _copies(home: Home) -> list[str]:
    from streams.logs.copies import copies

    return [str(copy) for copy in copies(home.log)]


def ask(terminal: Terminal, done: str, question: str) -> None:
    """Goes on where somebody says yes. Raises UsageError where nobody can."""
    import sys

    if terminal.json or not sys.stdin.isatty():
        raise UsageError(f"nothing was {done}: nobody said yes", "say --yes")
    typer.confirm(question, abort=True)


def _finish(home: Home, erasure: Erasing, told: list[str], terminal: Terminal) -> None:
    """Looks for what was erased, and shows the receipt."""
    from streams.logs.copies import receipts
    from streams.runtime.erasure.audit import Audit

    with terminal.progress("looking whether it is gone", "bytes") as tick:
        checks = [check for check in Audit(home, erasure.found.runs).checks(tick) if check.status == "failed"]
    receipt = receipts(home.log)[-1][1]
    if terminal.json:
        facts = {name: getattr(receipt, name) for name in ("id", "turns", "facts", "quotes", "events_after")}
        terminal.object({"receipt": facts, "failed": [check._asdict() for check in checks], "told": told})
    else:
        said = counted(receipt.turns, "turn"), counted(receipt.facts, "fact"), receipt.id
        terminal.say("[green]erased[/]: {}, {}; receipt {}", *said)
        for line in told:
            terminal.tell("[yellow]note:[/] {}", line)
        for check in checks:
            terminal.tell("[red]{}[/]: {}", check.check, check.found)
        terminal.say("[dim]{}[/]", BEYOND if home.log.is_local else f"{BEYOND}; {BROKERS}")
    if checks:
        raise typer.Exit(FAILED)


def audit(common: Common) -> None:
    """Check that what was erased is gone: receipts, the log, every memory, every file, the copies.

    What was erased is looked for by hashes that the log keeps of its ids and of some of its words, six in a row.
    """
    from streams.runtime.erasure.audit import Audit

    with common.opened() as (house, terminal):
        with terminal.progress("looking", "bytes") as tick:
            looking = Audit(house)
            rows = [check._asdict() for check in looking.checks(tick)]
        terminal.rows(rows, "check status found~", "")
        if looking.has_erased:
            terminal.say(next(said for worst, said in VERDICTS.items() if worst in {row["status"] for row in rows}))
            terminal.say("[dim]{}[/]", HOW)
            terminal.say("[dim]{}[/]", BEYOND if house.log.is_local else f"{BEYOND}; {BROKERS}")
        if any(row["status"] == "failed" for row in rows):
            raise typer.Exit(FAILED)
