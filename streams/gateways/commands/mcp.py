"""The command that serves the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.gateways.command import HomeDir, InSpace, check_installed, home_path


def mcp(
    space: InSpace = None,
    session: Annotated[str, typer.Option(help="The conversation that is meant where a call names none.")] = "",
    home: HomeDir = None,
) -> None:
    """Give the memory to an agent as tools (Model Context Protocol), over standard input and output.

    Where nobody serves the home, a server is started; it ends after ten idle minutes.
    """
    check_installed("mcp", extra="http")
    import mnemolog
    from streams.gateways.http.door import Caller, Door
    from streams.gateways.http.holder import Holder
    from streams.gateways.mcp import made

    memory = mnemolog.Memory(home=home_path(home))
    memory.serve()
    door = Door(Holder(memory.home, memory.serve), Caller())
    made(lambda context: door, space or "", session).run("stdio")
