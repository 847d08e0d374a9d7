"""The commands that serve a home, copy it, and look after it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from streams.core.errors import UsageError, counted
from streams.gateways.command import FAILED, AllSpaces, Common, HomeDir, InSpace, Memory, Serving, one_or_all

if TYPE_CHECKING:
    from streams.logs.sqlite import SqliteLog


def serve(
    serving: Serving,
    idle: Annotated[
        int | None, typer.Option(metavar="SECONDS", min=1, help="Stop when nobody asked for so long.")
    ] = None,
    make_way: Annotated[
        bool, typer.Option("--make-way", help="Stop when another `serve` without this is started.")
    ] = False,
) -> None:
    """Fold what comes, and answer other commands, until stopped. Takes over from a server that no person started."""
    serving.until_stopped(idle=idle, makes_way=make_way)


def export(
    common: Common,
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is empty or not there yet.")],
    format: Annotated[
        str, typer.Option("--format", "-f", help="ccm: the tree of the Cognitive Context Management paper.")
    ] = "ccm",
    space: InSpace = None,
    all_spaces: AllSpaces = False,
    memory: Memory = "live",
) -> None:
    """Write a memory as files that people and agents can read."""
    from dataclasses import asdict

    from projections.export import export_ccm

    if format != "ccm":
        raise UsageError(f"there is no export format {format!r}", "choose ccm")
    with common.opened() as (house, terminal), house.reading(memory) as connection:
        cursor: Any = connection
        done = export_ccm(cursor, target, one_or_all(space, all_spaces))
        said = counted(done.files, "file"), target, counted(done.sessions, "session"), counted(done.turns, "turn")
        template = "[green]{}[/] in {}: {}, {}"
        terminal.told({"folder": str(target)} | asdict(done), template, *said)


def backup(
    common: Common,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
) -> None:
    """Copy the log, consistently, while it is written. From the log alone everything is made again."""
    from streams.logs.copies import note_copy

    if target.exists():
        raise UsageError(f"{target} exists already", "choose another file")
    with common.log() as log:
        if not log.is_local:
            raise UsageError("the log is on Kafka, not in a file", "`mnemolog archive DIR` copies it to files")
        note_copy(log, target)
        count = cast("SqliteLog", log).backup(target, replace=False)
    terminal = common.terminal
    written = {"file": str(target), "events": count, "bytes": target.stat().st_size}
    terminal.told(written, "[green]{}[/] in {}", counted(count, "event"), target)
    terminal.say("[dim]to restore: mnemolog restore {} --home NEW[/]", target)


def archive(
    common: Common,
    target: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that is empty, not there yet, or an archive.")
    ],
) -> None:
    """Write the log as sealed Parquet files, or what came since to an archive. From it everything is made again."""
    from streams.logs.archive import archive as archive_log
    from streams.logs.copies import note_copy

    terminal = common.terminal
    with common.log() as log:
        note_copy(log, target)
        with terminal.progress("archiving") as tick:
            added = archive_log(log, target, tick)
    events = sum(sealed.stop - sealed.start for sealed in added)
    written = {"folder": str(target), "files": [str(sealed.path) for sealed in added], "offsets": events}
    said = counted(len(added), "file"), counted(events, "offset"), target
    terminal.told(written, "[green]{}[/] with {} of the log added to {}", *said)


def restore(
    common: Common,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What backup wrote.")],
) -> None:
    """Begin a home with a backed-up log; its memories are folded anew."""
    import shutil

    from streams.logs import LOG_FILE
    from streams.logs.encryption import FOLDER
    from streams.logs.sqlite import SqliteLog

    path = common.path
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
        for left in ("-wal", "-shm"):  # of another log: SQLite would take them up
            log_path.with_name(f"{LOG_FILE}{left}").unlink(missing_ok=True)
        partial.rename(log_path)
    except OSError as error:
        raise UsageError(f"{path} cannot be a home: {error.strerror}", "choose another with --home") from error
    with closing(SqliteLog(log_path)) as log:
        count, lost = log.end(0), len(log.unread())
    terminal = common.terminal
    if common.json:
        terminal.object({"home": str(path), "events": count, "keys_missing": lost})
        return
    terminal.say("[green]{}[/] in {}", counted(count, "event"), path)
    if lost:
        terminal.say("[yellow]{:,} keys are not there[/]: copy {} of the home that it is of to {}", lost, FOLDER, path)


def check_backup(source: Path) -> None:
    """Raises UsageError for a file that is no log, before a home is made of it."""
    import sqlite3
    from contextlib import closing

    from streams.logs.sqlite import FAILURES, events_in, is_sound

    try:
        with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as log:
            events_in(log)
        sound = is_sound(source)
    except FAILURES as error:
        raise UsageError(f"{source} is no backup: {error}", "name what `mnemolog backup` wrote") from error
    if not sound:
        raise UsageError(f"{source} is damaged", "name another backup")


def rescue(
    common: Common,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
) -> None:
    """Copy what can be read of a damaged log; `restore` begins a home with the copy."""
    from streams.logs import LOG_FILE
    from streams.logs.rescue import rescue as rescue_log

    if target.exists():
        raise UsageError(f"{target} exists already", "choose another file")
    terminal = common.terminal
    with terminal.progress("copying") as tick:
        done = rescue_log(common.path / LOG_FILE, target, tick)
    count = done.readable.count()
    written = {"file": str(target), "events": count, "lost": done.lost.found}
    terminal.told(written, "[green]{}[/] in {}", counted(count, "event"), target)
    if done.lost.found:
        terminal.say("[red]{:,} lost[/]: at offsets {}", done.lost.count(), done.lost)
    terminal.say("[dim]to go on with it: mnemolog restore {} --home NEW[/]", target)
    if done.lost.found:
        raise typer.Exit(FAILED)


def doctor(common: Common) -> None:
    """Check that all is well with a home, and say what to do where it is not."""
    from streams.gateways.doctor import examine

    terminal = common.terminal
    found = examine(common.path)
    terminal.rows([{"check": c.name, "status": c.status, "found": c.found} for c in found], "check status found~", "")
    if any(check.status == "failed" for check in found):
        raise typer.Exit(FAILED)


def demo(home: HomeDir = None) -> None:
    """See the main job on sample conversations, in a home of its own."""
    from streams.gateways.demo import run as run_demo

    run_demo(home)
