"""The commands for keys: who may ask over HTTP and MCP."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.gateways.command import Common, Group

app = Group("Keys by which others ask over HTTP.")


@app.default()
def keys(common: Common) -> None:
    """The keys there are: for which spaces, and what they may do there."""
    from streams.gateways.http.keys import Keys

    rows = [key.model_dump(exclude={"hash"}) for key in Keys(common.path).all()]
    common.terminal.rows(rows, "name spaces may", "no keys (mnemolog keys add NAME)")


@app.command("add")
def keys_add(
    common: Common,
    name: Annotated[str, typer.Argument(help="Who it is for.")],
    space: Annotated[
        list[str] | None, typer.Option("--space", metavar="S", help="Only this space; several times for several.")
    ] = None,
    all_spaces: Annotated[bool, typer.Option("--all-spaces", help="For all spaces.")] = False,
    only: Annotated[str, typer.Option(help="read or write, where it is not to do both.")] = "",
) -> None:
    """Make a key. It is shown this once: the home keeps no more than its hash."""
    from streams.core.errors import UsageError
    from streams.gateways.command import one_of
    from streams.gateways.http.keys import Keys, May
    from streams.runtime.home.folder import Folder

    if bool(space) == all_spaces:
        raise UsageError("a key is for some spaces, or for all", "give --space S, or --all-spaces")
    may: list[May] = ["read", "write"] if not only else [one_of(only, ("read", "write"), "--only")]  # type: ignore[list-item]
    token = Keys(Folder(common.path).path).add(name, None if all_spaces else space, may)
    common.terminal.told({"name": name, "key": token}, "[green]{}[/]  (shown this once)", token)


@app.command("remove")
def keys_remove(common: Common, name: Annotated[str, typer.Argument(help="The key's name.")]) -> None:
    """Make a key worthless, at once."""
    from streams.gateways.http.keys import Keys

    Keys(common.path).remove(name)
    common.terminal.told({"removed": name}, "removed {}", name)
