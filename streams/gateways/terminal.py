"""Words for people and machines: tables and colour on a terminal, plain columns in a pipe, JSON Lines on request.

Whatever a command prints goes through here. What comes from outside, be it a turn's words, a name, an id or a path, is
never part of a template: it is data beside one, in which nothing can command the terminal.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Seconds after which something that still runs shows its progress."""
PADDED = 60
"""Columns up to which a cell is padded in a pipe: one long text must not widen all lines."""
NARROWEST = 32
"""Columns that the last column of a table has before optional ones are left out."""
LEAST = 12
"""Columns that each keeps, where it needs them."""

_TAG = re.compile(r"\[/?[a-z ]*\]")
"""A tag of rich in a template."""
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What may move a terminal's cursor, change its colours or the order of its text, or hide: controls, marks of
direction, separators of lines, what has no width, tags, halves of characters."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z", re.ASCII)
Row = dict[str, Any]
Tick = Callable[[int, int], None]
"""Told (done, total)."""


class Column(NamedTuple):
    """A column of a table for people."""

    key: str
    head: str = ""
    """Its key where empty."""
    right: bool = False
    optional: bool = False
    """Left out where the terminal is too narrow."""
    wraps: bool = False
    """Goes on in the next line where the terminal is too narrow, instead of being cut."""

    @property
    def title(self) -> str:
        """What stands above it."""
        return printable((self.head or self.key).replace("_", " "))


def columns(spec: str) -> list[Column]:
    """Columns from a line such as `segment at? turns>? summary~`: `>` aligns right, `?` is optional, `~` wraps."""
    return [
        Column(word.rstrip(">?~"), right=">" in word, optional="?" in word, wraps="~" in word) for word in spec.split()
    ]


class Terminal:
    """Where a command answers."""

    def __init__(self, json: bool = False) -> None:
        self.json = json
        self._bars: list[_Bar] = []

    @cached_property
    def out(self) -> Console:
        """For answers."""
        from rich.console import Console

        return Console(highlight=False, emoji=False)

    @cached_property
    def err(self) -> Console:
        """For progress and problems."""
        from rich.console import Console

        return Console(stderr=True, highlight=False, emoji=False)

    def say(self, template: str, *outside: object, cut: bool = False) -> None:
        """Says something to a person, nothing to a machine: a template with rich's tags, `{}` for what is `outside`.

        With `cut`, a line ends with the terminal's width.
        """
        if not self.json:
            self._put(sys.stdout, template, outside, cut)

    def tell(self, template: str, *outside: object) -> None:
        """Says something beside the answer, to whoever asks, as `say` does."""
        self._put(sys.stderr, template, outside, False)

    def _put(self, stream: TextIO, template: str, outside: Sequence[object], cut: bool) -> None:
        if not stream.isatty():
            stream.write(_filled(_TAG.sub("", template), outside) + "\n")
            return
        from rich.markup import escape

        console = self.out if stream is sys.stdout else self.err
        filled = _filled(template, outside, escape)
        console.print(filled, soft_wrap=not cut, no_wrap=cut, overflow="ellipsis" if cut else None)

    def text(self, text: str) -> None:
        """Shows what was said, as it is, line by line."""
        sys.stdout.write(printable(text).rstrip("\n") + "\n")

    def object(self, value: object) -> None:
        """One JSON object on a line."""
        write_json(value)

    def told(self, value: Any, template: str, *outside: Any) -> None:
        """One JSON object for a machine, for a person what it comes to, as `say` says it."""
        if self.json:
            write_json(value)
        self.say(template, *outside)

    def rows(self, rows: Iterable[Row], spec: str, empty: str) -> None:
        """Rows: as JSON Lines with all they hold, or a table of the columns in `spec`; `empty` where there are none."""
        if self.json:
            for row in rows:
                write_json(row)
            return
        listed = list(rows)
        if listed:
            self.table(listed, columns(spec) if spec else [Column(key) for key in listed[0]])
        else:
            self.say(f"[dim]{empty}[/]")

    def table(self, rows: Sequence[Row], shown: Sequence[Column]) -> None:
        """A table; on a narrow terminal columns give way, in a pipe nothing is cut."""
        if piped():
            sys.stdout.write(plain_table([[cell(row.get(c.key)) for c in shown] for row in rows], shown))
            return
        from rich.table import Table
        from rich.text import Text

        if not _fits(rows, shown, self.out.width):
            self.records(rows, shown)
            return
        shown, cells, widths = _fitted(rows, shown, self.out.width)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column, width in zip(shown, widths, strict=True):
            justify: Any = "right" if column.right else "left"
            style = _style(column.key)
            overflow: Any = "fold" if column.wraps else "ellipsis"
            table.add_column(
                Text(column.title), justify=justify, style=style, no_wrap=not column.wraps, overflow=overflow,
                width=width,
            )  # fmt: skip
        for line in cells:
            table.add_row(*map(Text, line))
        self.out.print(table)

    def records(self, rows: Sequence[Row], shown: Sequence[Column]) -> None:
        """Rows with more columns than a terminal has room for: one under the other, a line for each value."""
        from rich.table import Table
        from rich.text import Text

        for number, row in enumerate(rows, 1):
            self.say("[dim]row {:,}[/]", number)
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
            table.add_column(style="bold", no_wrap=True)
            table.add_column(overflow="fold")
            for column in shown:
                table.add_row(Text(column.title), Text(cell(row.get(column.key))))
            self.out.print(table)

    @contextmanager
    def progress(self, what: str, unit: str = "turns") -> Iterator[Tick]:
        """A callback for (done, total) that shows a bar on the terminal once the work takes over a second."""
        if not sys.stderr.isatty():
            yield lambda done, total: None
            return
        self._bars.append(bar := _Bar(self.err, what, unit, self._bars))
        try:
            yield bar.tick
        finally:
            bar.stop()
            self._bars.remove(bar)


class _Bar:
    """A progress bar that appears late, and in the place of any other."""

    def __init__(self, console: Console, what: str, unit: str, beside: Iterable[_Bar]) -> None:
        self.console = console
        self.beside = beside
        self.what = what
        self.unit = unit
        self.began = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def tick(self, done: int, total: int) -> None:
        """Shows how far it is."""
        if not done:
            self.began = time.monotonic()
        if self.bar is None:
            if time.monotonic() - self.began < PATIENCE:
                return
            self._start()
        elapsed = max(time.monotonic() - self.began, 1e-9)
        rate = f"{_amount(done / elapsed, self.unit)}/s"
        self.bar.update(self.task, completed=done, total=total or None, rate=rate)
        if 0 < total <= done:
            self.stop()

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        for bar in self.beside:
            bar.stop()
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("[dim]{task.fields[rate]}[/]"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
        )
        self.task = self.bar.add_task(self.what, total=None, rate="")
        self.bar.start()

    def stop(self) -> None:
        """Takes it away."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None


def _fitted(rows: Sequence[Row], shown: Sequence[Column], room: int) -> tuple[list[Column], list[list[str]], list[int]]:
    """The columns that fit, their cells and widths.

    Optional columns go first, from the right; then the last one takes what is left; where that is too little, the
    widest of all give way.
    """
    from rich.cells import cell_len

    kept = list(shown)
    while True:
        cells = [[cell(row.get(column.key)) for column in kept] for row in rows]
        widths = [max(map(cell_len, (c.title, *(line[n] for line in cells)))) for n, c in enumerate(kept)]
        left = room - sum(widths[:-1]) - 2 * len(widths)
        optional = [column for column in kept[:-1] if column.optional]
        if left >= min(NARROWEST, widths[-1]) or not optional:
            break
        kept.remove(optional[-1])
    widths[-1] = min(widths[-1], max(left, LEAST))
    while sum(widths) + 2 * len(widths) > room and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    return kept, cells, widths


def _fits(rows: Sequence[Row], shown: Sequence[Column], room: int) -> bool:
    """Whether a table of the columns that cannot be left out would be readable."""
    from rich.cells import cell_len

    needed = 0
    for n, column in enumerate(shown):
        if not column.optional or n == len(shown) - 1:
            widest = max(cell_len(text) for text in (column.title, *(cell(row.get(column.key)) for row in rows)))
            needed += 2 + min(widest, LEAST)
    return needed <= room


def piped() -> bool:
    """Whether the answer goes to a program or file, which has no width."""
    return not sys.stdout.isatty()


def plain_table(cells: Sequence[Sequence[str]], shown: Sequence[Column]) -> str:
    """Aligned columns without colour, padding at the end of lines, or cuts."""
    lines = [[column.title for column in shown], *cells]
    widths = [min(PADDED, max(len(line[n]) for line in lines)) for n in range(len(shown))]
    aligned = (
        "  ".join(
            text.rjust(width) if column.right else text.ljust(width)
            for text, width, column in zip(line, widths, shown, strict=True)
        ).rstrip()
        for line in lines
    )
    return "\n".join(aligned) + "\n"


def _amount(number: float, unit: str) -> str:
    return f"{number / 1e6:,.1f} MB" if unit == "bytes" else f"{number:,.0f} {unit}"


def write_json(value: object) -> None:
    """A JSON object and the end of its line, to standard output."""
    sys.stdout.buffer.write(json_line(value).encode())


def json_line(value: object) -> str:
    """A JSON object and the end of its line; what could command a terminal stands in it as \\u escapes."""
    import orjson

    line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS).decode()
    return _COMMANDS.sub(lambda found: json.dumps(found[0])[1:-1], line)


def cell(value: object) -> str:
    """A value in a table: on one line, without control characters; short times; nothing for null."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.1f}".removesuffix(".0") if abs(value) >= 100 else f"{value:.3g}"
        case int():
            return str(value)
        case list() | tuple():
            return ", ".join(map(cell, value))
        case dict():
            return ", ".join(f"{key}={cell(item)}" for key, item in value.items())
    text = str(value)
    if time := _TIME.fullmatch(text):
        return f"{time[1]} {time[2]}"
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Text that can be shown on a terminal: what others wrote must not move its cursor or change its colours."""
    return text if text.isprintable() else _COMMANDS.sub("\ufffd", text)


def _filled(template: str, outside: Sequence[object], guard: Callable[[str], str] = str) -> str:
    """A template with what comes from outside in its place. Numbers stay numbers, for formats such as `{:,}`."""
    return template.format(*(one if isinstance(one, int | float) else guard(printable(str(one))) for one in outside))


def _style(key: str) -> str:
    if key in ("at", "last_at", "due", "started_at", "opened_at"):
        return "dim"
    if key in ("segment", "effort", "turn_id", "note", "artifact", "first", "second", "name"):
        return "cyan"
    return "green" if key == "status" else ""
