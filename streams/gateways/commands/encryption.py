"""The commands for the keys that contents of the log are under, one for each space."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.core.errors import counted
from streams.gateways.command import Common, Group
from streams.gateways.commands.erasing import ask

BEYOND = (
    "not reached: copies of the key that were made elsewhere, files that were fed and their rejects, exports, what "
    "other homes or models were given, and what a file system keeps of files that are deleted"
)

app = Group("Keys that what spaces said is encrypted with.")


@app.default()
def encryption(common: Common) -> None:
    """The keys there are: of which space, since when, how many events are under them, and when they were destroyed."""
    from streams.core.instants import iso
    from streams.runtime.erasure.keys import listed_keys

    with common.opened() as (house, terminal):
        rows = [
            {"space": key.space, "made": iso(key.made), "events": key.events, "here": key.here,
             "destroyed": iso(key.destroyed) if key.destroyed else "", "key": key.key}
            for key in listed_keys(house)
        ]  # fmt: skip
        terminal.rows(rows, "space made events> here destroyed? key", "no keys (MNEMOLOG_ENCRYPTION=yes makes them)")


@app.command("destroy")
def encryption_destroy(
    common: Common,
    space: Annotated[str, typer.Option("--space", metavar="S", help="The space whose key is destroyed.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be lost.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Destroy the key of a space: nothing under it can be read again, here or in any backup. Leaves a receipt."""
    from streams.logs.copies import receipts
    from streams.runtime.erasure.keys import destroy, to_destroy

    with common.opened() as (house, terminal):
        key = to_destroy(house, space)
        found = {"space": space, "key": key.key, "events": key.events, "here": key.here}
        terminal.told(found, "to be lost with its key: {} of space {}", counted(key.events, "event"), space)
        memories = counted(len(house.memories()), "memory", "memories")
        terminal.say("made anew from what stays: {}, snapshots, indexes, caches", memories)
        if dry_run:
            return
        if not yes:
            ask(terminal, "destroyed", "Destroy this key for good?")
        with terminal.progress("destroying") as tick:
            left = destroy(house, space, tick)
        receipt = receipts(house.log)[-1][1]
        if terminal.json:
            facts = {name: getattr(receipt, name) for name in ("id", "turns", "facts", "events_after")}
            terminal.object({"receipt": facts, "told": left})
            return
        said = counted(receipt.turns, "turn"), counted(receipt.facts, "fact"), receipt.id
        terminal.say("[green]destroyed[/]: {}, {}; receipt {}", *said)
        for line in left:
            terminal.tell("[yellow]note:[/] {}", line)
        terminal.say("[dim]{}[/]", BEYOND)
