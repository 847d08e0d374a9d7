"""The commands for coding agents: what they call, and how they are told to call it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from streams.gateways.command import Common


def hook(common: Common) -> None:
    """What coding agents call at their events, given on standard input: feeds transcripts, answers with a context.

    `mnemolog install` has them call it. It never fails: what went wrong stands in hook.log in the home.
    """
    from streams.gateways.hook import run

    run(sys.stdin.buffer, sys.stdout.buffer, common.path)


def install(
    common: Common,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="claude-code, codex, gemini, cursor or vscode.")],
    project: Annotated[bool, typer.Option("--project", help="For this folder alone, not for all of yours.")] = False,
    mcp: Annotated[bool, typer.Option("--mcp", help="The memory as tools (MCP), instead of the hook.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take out what was put in, and nothing else.")] = False,
) -> None:
    """Have a coding agent remember: writes `mnemolog hook` into its settings, and shows the change.

    With --mcp it is given the memory as tools: `mnemolog mcp` among the servers that it starts.
    """
    from streams.gateways.install import servers_of, settings_of

    found = servers_of if mcp else settings_of
    settings = found(agent, Path.cwd() if project else None, common.path, common.home is not None)
    terminal = common.terminal
    before, after = settings.before, settings.without() if undo else settings.having()
    said = {"agent": agent, "file": str(settings.path), "changed": before != after, "written": False}
    if before == after:
        template = "{}: nothing of mnemolog is in it" if undo else "{}: it is in it already"
        terminal.told(said, template, settings.path)
        return
    if not common.json:
        for line in settings.difference(after):
            terminal.say("{}", line)
    if not dry_run:
        settings.write(after)
    done = "changed" if after else "removed"
    template = f"{{}}: this would be {done}" if dry_run else f"[green]{{}}: {done}[/]"
    terminal.told(said | {"written": not dry_run}, template, settings.path)
    if not (dry_run or undo or common.json) and settings.hint:
        terminal.tell("{}", settings.hint)
