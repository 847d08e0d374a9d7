"""The parser of the command line: commands under headings, each made when it is called for."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from streams.gateways.command import OK, Group, paragraph
from streams.gateways.commands import COMMANDS, Place


class Loading(dict[str, Any]):
    """Commands by name, each made when it is called for: to make all takes longer than to run most."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(COMMANDS))

    def get(self, name: str, default: Any = None) -> Any:
        """A command, `default` where there is none of that name."""
        try:
            return self[name]
        except KeyError:
            return default

    def __getitem__(self, name: str) -> Any:
        return made(name, COMMANDS[name])

    def values(self) -> Any:
        """All of them."""
        return [self[name] for name in self]

    def items(self) -> Any:
        """All of them, with their names."""
        return [(name, self[name]) for name in self]


@cache
def made(name: str, place: Place) -> Any:
    """A command as the parser of commands has it."""
    found = place.load()
    if not isinstance(found, Group):
        function, found = found, Group()
        found.command(name)(function)
    command = found.parsed()
    command.name = name
    return command


class Commands(TyperGroup):
    """Help with commands under headings. Why not rich's: loading that takes longer than all else together."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.commands = Loading()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands, heading by heading."""
        for heading in dict.fromkeys(place.heading for place in COMMANDS.values()):
            rows = [(name, about(place)) for name, place in COMMANDS.items() if place.heading == heading]
            with formatter.section(heading):
                formatter.write_dl(rows)


def about(place: Place) -> str:
    """What a command does, in a line."""
    found = place.load()
    return paragraph(found.info.help if isinstance(found, typer.Typer) else found.__doc__)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Memory for AI agents as a replayable log. Begin with `mnemolog demo`, or `mnemolog feed FILE`.",
)


def tell_version(wanted: bool) -> None:
    """Says which version this is, and ends."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"mnemolog {version('mnemolog')}")
        raise typer.Exit(OK)


@app.callback(
    epilog="Every command takes --home DIR, and nearly all take --json; `mnemolog COMMAND --help` tells the rest."
)
def mnemolog(
    version: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """What all commands have in common: nothing but their names."""
