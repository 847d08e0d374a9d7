"""The commands that make memories, compare them, and choose which is live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.core.errors import MnemologError, UsageError, counted, listed
from streams.gateways.command import FAILED, After, Common, known_place
from streams.gateways.terminal import Row, Tick

if TYPE_CHECKING:
    from streams.runtime.home import Home


def memories(common: Common) -> None:
    """The memories of a home: live, and what replays made."""
    with common.opened() as (house, terminal):
        end = sum(house.log.end(partition) for partition in range(house.log.partitions))
        rows = [about_memory(house, name, end) for name in house.memories()]
        terminal.rows(rows, "memory events> behind> bytes>? partial? changed", "no memory yet: feed some turns first")


def about_memory(house: Home, name: str, end: int) -> Row:
    """What a memory says of itself."""
    import orjson

    from projections import store
    from streams.runtime import LIVE
    from streams.runtime.memories import differs

    row: Row = {"memory": name, "events": None, "behind": None}
    try:
        row["bytes"] = sum(path.stat().st_size for path in house.files(name))
        with house.reading(name) as connection:
            mark = sum(store.read_mark(connection, partition) + 1 for partition in range(house.log.partitions))
            params = orjson.loads(store.read_meta(connection, "params"))
            partial = "" if name == LIVE else store.read_meta(connection, "partial").replace("None", "")
            foreign = differs(connection, house.log) if house.log.is_local else ""
    except MnemologError as error:
        return row | {"partial": str(error), "changed": ""}
    row |= {"events": mark, "partial": foreign or partial, "changed": changed_params(house, params)}
    return row | {"behind": None if foreign else end - mark}


def changed_params(house: Home, params: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The parameters that differ from their defaults, those of asking, too; of tables the entries that do."""
    from projections.asking import all_params
    from streams.core.params import apart

    found: dict[str, Any] = {}
    for of, defaults in all_params(house.processors, {}).items():
        default = defaults.plain()
        for name, value in params.get(of, {}).items():
            mine, _ = apart(value, default.get(name))
            # Why not an empty table: entries that it lacks are those of the default.
            if value != default.get(name) and mine != {}:
                found[f"{of}.{name}"] = mine
    return found


def replay(
    common: Common,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="The name of the new memory.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PROCESSOR.PARAMETER=VALUE", help="Another value; may be repeated."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Named values for the whole tree: `mnemolog presets` lists them.")
    ] = None,
    params: Annotated[Path | None, typer.Option(help="A TOML file with a table per processor.")] = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Begin with the defaults of this version, not with what live has.")
    ] = False,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Fold only to this time.")] = None,
    space: Annotated[str | None, typer.Option(metavar="S", help="Fold only this space.")] = None,
    without: Annotated[list[str] | None, typer.Option(metavar="PROCESSOR", help="Leave it out.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a memory of that name.")] = False,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Fold everything, also what live holds already.")
    ] = False,
    processes: Annotated[int | None, typer.Option(min=1, help="How many at once.")] = None,
    archive: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Read an archive of the log instead of the log.")
    ] = None,
) -> None:
    """Fold history again, under other parameters, into a new memory.

    What live holds of processors whose parameters stay the same is taken from there.
    """
    import time

    from projections.asking import all_params
    from streams.runtime import replay as replays

    if params is not None and not params.is_file():
        raise UsageError(f"there is no file {params}", "give a TOML file with a table per processor")
    with common.opened() as (house, terminal):
        known_place(house.path, space, None)
        live = house.live_params()
        base = all_params(house.processors, {}) if defaults else live
        chosen = replays.parse_settings(house, base, set_ or (), params, preset)
        began = time.perf_counter()
        with terminal.progress(f"replaying as {name}") as tick:
            report = replays.replay(
                house, name, chosen, until=until, space=space, without=without or (), replace=replace,
                reuse=not from_scratch, processes=processes, progress=tick, archive=archive,
            )  # fmt: skip
        seconds = time.perf_counter() - began
        if common.json:
            done = {"memory": name, "turns": report.turns, "steps": report.steps, "reused": report.reused}
            terminal.object(done | {"seconds": round(seconds, 3)})
            return
        count = sum(house.log.end(partition) for partition in range(house.log.partitions))
        terminal.say("[green]{}[/]: {} in {:.1f} s", name, counted(count, "event"), seconds)
        rows = [{"processor": p, "steps": n, "seconds": report.seconds.get(p, 0.0)} for p, n in report.steps.items()]
        for row in rows:
            row["from"] = "reused from live" if row["processor"] in report.reused else "folded"
        terminal.rows(rows, "processor steps> seconds>? from", "nothing was folded")
        kept = changed_params(house, {of: one.plain() for of, one in live.items()})
        if kept and not defaults:  # an older version's defaults are among them, perhaps: who upgrades is to know
            terminal.say(
                "[dim]as live has them, not as this version's defaults: {}; --defaults folds under the defaults[/]",
                listed(kept),
            )
        terminal.say("[dim]next: mnemolog diff live {}; mnemolog promote {}[/]", name, name)


def diff(
    common: Common,
    left: Annotated[str, typer.Argument(help="A memory.")],
    right: Annotated[str, typer.Argument(help="Another one.")],
    examples: Annotated[int, typer.Option(min=0, max=1_000_000, help="Of each kind of difference.")] = 3,
) -> None:
    """What differs between two memories: counts, and examples to look at."""
    from dataclasses import asdict

    from projections.diff import compare

    with common.opened() as (house, terminal), house.reading(left) as one, house.reading(right) as other:
        found = compare(one, other, (left, right), examples, house.processors)
        if common.json:
            terminal.object(found.to_json())
            return
        rows = [asdict(row) | {left: row.left, right: row.right} for row in found.rows if row.differs]
        if rows:
            terminal.rows(rows, f"about {left}> {right}> differs> what", "")
        equal = len(found.rows) - len(rows)
        terminal.say("[green]the same[/] in {} {} measures", "the other" if rows else "all", equal)
        for what in dict.fromkeys(example.what for example in found.examples):
            terminal.say("\n[bold]for example, {}[/]", what)
            examples_ = [example for example in found.examples if example.what == what]
            shown = [asdict(e) | {left: e.left, right: e.right} for e in examples_]
            sides = [name for name in (left, right) if any(row[name] for row in shown)]
            terminal.rows(shown, " ".join(["session?", "turn", *(f"{side}~" for side in sides), "text"]), "")


def promote(
    common: Common,
    name: Annotated[str, typer.Argument(help="The memory that a replay made.")],
) -> None:
    """Make a memory live; the old one is kept under another name."""
    if name == "live":
        raise UsageError("live is live already", "`mnemolog memories` lists what replays made")
    with common.opened() as (house, terminal):
        kept = house.promote(name)
        if common.json:
            terminal.object({"live": name, "kept": kept})
        else:
            terminal.say("[green]{} is live[/]; the memory before it is kept as {}", name, kept)


def digest(
    common: Common,
    memory: Annotated[str, typer.Argument(metavar="NAME", help="The memory.")] = "live",
    verify: Annotated[
        bool, typer.Option("--verify", help="Fold the whole log anew, beside it, and compare; 1 where they differ.")
    ] = False,
    after: After = "",
) -> None:
    """A hash per table: two memories that hold the same have the same."""
    with common.opened(after) as (house, terminal):
        if not verify:
            found = house.ask("digest", memory)
            rows = [{"table": table, "digest": value} for table, value in found.items()]
            terminal.rows(rows, "table digest", "no tables")
            return
        with terminal.progress("folding the log anew") as tick:
            found, anew = refolded(house, memory, tick)
        rows = [
            {"table": table, "digest": value, "anew": anew[table], "same": anew[table] == value}
            for table, value in found.items()
        ]
        terminal.rows(rows, "table digest anew same", "no tables")
        different = [row["table"] for row in rows if not row["same"]]
        if different:
            terminal.say("[red]{} tables differ[/] from a fold of the whole log from scratch", len(different))
            raise typer.Exit(FAILED)
        terminal.say("[green]the same[/] as a fold of the whole log from scratch, which reused nothing")


def refolded(house: Home, memory: str, tick: Tick) -> tuple[dict[str, str], dict[str, str]]:
    """The digest of a memory, and that of a fold of the log from scratch with its parameters, as far as that went.

    Raises UsageError for a memory that is a fold of a part of the log.
    """
    import os

    import orjson

    from projections import store
    from projections.asking import all_params
    from streams.runtime.replay import replay

    with house.reading(memory) as connection:
        if memory != "live" and store.read_meta(connection, "partial").strip('"'):
            raise UsageError(f"{memory} is a fold of a part of the log", "verify live, or a replay of all of it")
        params = all_params(house.processors, orjson.loads(store.read_meta(connection, "params")))
    name = f"verify-{os.getpid()}"
    try:
        replay(house, name, params, reuse=False, progress=tick)
        with house.reading(name) as connection:
            end = store.read_mark(connection, 0)
        anew = house.ask("digest", name)
        asked = {"as_of": str(end)} if house.log.partitions == 1 and memory == "live" else {}  # live goes on meanwhile
        return house.ask("digest", memory, **asked), anew
    finally:
        house.forget(name)
