"""The commands that say what the code does."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from streams.core.errors import UsageError
from streams.gateways.command import Common
from streams.gateways.terminal import Row, cell

VALUE_WIDTH = 24
"""Characters of a parameter's value in a table on a terminal."""


def flow(common: Common) -> None:
    """Which processor reads which, as a Mermaid diagram."""
    from processors import PROCESSORS
    from streams.gateways.flow import emitted, mermaid

    terminal = common.terminal
    if common.json:
        for processor in PROCESSORS:
            about = {"processor": processor.name, "reads": list(processor.reads), "emits": emitted(processor)}
            terminal.object(about)
    else:
        sys.stdout.write(mermaid(PROCESSORS))


def params(
    common: Common,
    of: Annotated[str | None, typer.Argument(help="Only those of this processor, of recall or of context.")] = None,
) -> None:
    """Every parameter: its value in live and its default, with unit, limits, reason and source."""
    from streams.gateways.flow import parameter_rows

    with common.opened() as (house, terminal):
        current = house.live_params()
        chosen = {name: params for name, params in current.items() if of in (None, name, name.partition(".")[0])}
        if not chosen:
            raise UsageError(f"nothing that has parameters is called {of!r}", f"known are: {', '.join(current)}")
        rows = parameter_rows(chosen)
        if not common.json:
            rows = [row | {"parameter": f"{row['of']}.{row['parameter']}", "value": told_value(row)} for row in rows]
        terminal.rows(rows, "parameter value unit? limits? why~", "no parameters")


def presets(common: Common) -> None:
    """Named parameter sets of the whole tree, for `mnemolog replay --preset`, beside what live has."""
    from streams.core.presets import PRESETS, preset

    with common.opened() as (house, terminal):
        live = {name: params.plain() for name, params in house.live_params().items()}
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


def schema(
    common: Common,
    name: Annotated[str | None, typer.Argument(help="An event type, or input-line; none prints all.")] = None,
) -> None:
    """JSON Schemas of the events, and of a line of input, generated from the code."""
    import orjson

    from streams.core.edge import whole_name
    from streams.gateways.schema import schemas

    known = schemas()
    whole = None if name is None else whole_name(name)
    if whole is not None and whole not in known:
        raise UsageError(f"there is no schema {name!r}", f"schemas: {', '.join(known)}")
    value = known if whole is None else known[whole]
    sys.stdout.buffer.write(
        orjson.dumps(value, option=(0 if common.json else orjson.OPT_INDENT_2) | orjson.OPT_APPEND_NEWLINE)
    )
