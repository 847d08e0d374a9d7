"""The commands that ask in SQL."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Annotated, Any

import typer

from streams.core.errors import UsageError
from streams.gateways.command import AllSpaces, Asking, InSpace, known_place, space_of
from streams.gateways.terminal import Terminal


def query(
    asking: Asking,
    name: Annotated[str | None, typer.Argument(help="Its name; none lists all.")] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="PARAMETER=VALUE...", help="Other values of its parameters: every=2 session=login."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the analyses with their parameters.")] = False,
    space: InSpace = None,
    all_spaces: AllSpaces = False,
) -> None:
    """Run a named analysis, or list them."""
    from processors import PROCESSORS
    from projections import analyses, rows
    from projections.as_of import past

    if name is None or listing:
        listed = [
            {"name": a.name, "parameters": {p.name: p.default for p in a.parameters}, "about": a.description}
            for a in analyses.analyses(PROCESSORS).values()
        ]
        asking.terminal.rows(listed, "name parameters about~", "no analyses")
        return
    values: dict[str, str | int | float] = dict(setting(text) for text in given or ())
    asked = analyses.analysis(PROCESSORS, name)
    if any(parameter.name == "space" for parameter in asked.parameters):
        values.setdefault("space", "" if all_spaces else space_of(space))
    bound = analyses.bind(asked, values)
    most = bound.get("limit")
    if isinstance(most, int):
        bound["limit"] = most + 1  # why: whether there is more is told
    with asking.opened() as (house, terminal), house.reading(asking.memory) as connection:
        cursor: Any = past(connection, asking.as_of) if asking.as_of else connection
        with sql_errors(lambda error: "`mnemolog query` lists the analyses with their parameters"):
            found = rows.rows(cursor, asked.sql, bound)
            head = list(islice(found, 1))
            if not head:
                known_place(house.path, str(values.get("space", "")), None)
            found = chain(head, found)
            within = islice(found, most) if isinstance(most, int) else found
            answered(terminal, within)
            if not any(True for _ in within) and any(True for _ in found):
                terminal.tell("[yellow]there is more: these are the first {:,}; limit=N tells another number[/]", most)


def setting(text: str) -> tuple[str, str]:
    """A NAME=VALUE. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is no parameter", "write name=value")
    return name, value


def sql(
    asking: Asking,
    statement: Annotated[str, typer.Argument(metavar="SQL", help="A query; - reads it from standard input.")],
    files: Annotated[
        bool, typer.Option("--files", help="Let it read and write other files, too: COPY, ATTACH, read_csv.")
    ] = False,
    seconds: Annotated[int, typer.Option(min=1, help="How long it may take.")] = 300,
) -> None:
    """Run SQL over a consistent, read-only copy of a memory, while it is written. It sees that memory alone.

    Columns that are words of SQL are written in double quotes: "at", "by".
    """
    from projections import rows
    from projections.as_of import as_of as memory_as_of
    from projections.reserved import reserved_at
    from projections.store import limited

    text = sys.stdin.read() if statement == "-" else statement
    if not re.sub(r"--[^\n]*|/\*.*?\*/|[\s;]", "", text, flags=re.DOTALL):
        raise UsageError("there is no statement", "for example: mnemolog sql 'SELECT topic, status FROM efforts'")
    with asking.opened() as (house, terminal), house.reading(asking.memory, files) as connection:
        cursor = memory_as_of(connection, asking.as_of) if asking.as_of else connection

        def way_out(error: str) -> str:
            if name := reserved_at(cursor, text, error):
                return f'"{name}" is a word of SQL: as a column it is written in double quotes'
            return "`mnemolog sql 'SHOW TABLES'` lists tables and views"

        with sql_errors(way_out), limited(cursor, seconds):
            answered(terminal, rows.rows(cursor, text))


def answered(terminal: Terminal, found: Iterator[dict[str, Any]]) -> None:
    """Tells rows as they are found, or in a table, which holds no more than an answer may."""
    from projections.rows import MOST, first

    if terminal.json:
        terminal.rows(found, "", "")
        return
    held, is_whole = first(found)
    terminal.rows(held, "", "no rows" if is_whole else "no row that a table could hold")
    if not is_whole:
        terminal.tell(
            "[yellow]shown are the first {:,} rows; what follows is left off: a table holds {:,} MB. All of it:[/]\n"
            "  --json, which tells row after row, or mnemolog sql --files \"COPY ({}) TO 'rows.csv'\"",
            len(held), MOST // 2**20, "SELECT ...",
        )  # fmt: skip


@contextmanager
def sql_errors(way_out: Callable[[str], str]) -> Iterator[None]:
    """What DuckDB does not like in a statement or its parameters is the user's to mend; how, `way_out` tells by what it
    says."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
            raise
        said = str(error)
        closed = "disabled by configuration" in said or "has been locked" in said
        reach = "SQL sees the memory alone; `mnemolog sql --files` lets it reach other files"
        raise UsageError(said, reach if closed else way_out(said)) from None
