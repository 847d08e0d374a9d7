"""What commands share: their options, the home they ask, and how they record what a person says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Optional, cast

import typer

from streams.core import DEFAULT_SPACE
from streams.core.errors import UsageError, check_one_space, listed
from streams.gateways.terminal import Row, Terminal
from streams.logs import DEFAULT_HOME

if TYPE_CHECKING:
    from streams.core.events import Outside
    from streams.gateways.http.beside import Http
    from streams.logs.log import Duplicate, Stored
    from streams.logs.sqlite import SqliteLog
    from streams.logs.where import HomeLog
    from streams.runtime.home import Home
    from streams.runtime.kafka.metrics import Meters

OK, FAILED, MISUSED = 0, 1, 2
"""Exit codes: done; rejects, or what was asked for could not be done; the command was not understood."""


def named(given: str) -> Path:
    """A path that was named. Why refused where it is empty: it would be the folder one stands in."""
    if not given:
        raise typer.BadParameter("it is empty; name a path")
    return Path(given)


HomeDir = Annotated[
    Optional[Path],  # noqa: UP045 - typer evaluates it
    typer.Option(
        "--home", parser=named, metavar="DIR", help="Home of the log and its memories (MNEMOLOG_HOME; ~/.mnemolog)."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON Lines.")]
Memory = Annotated[str, typer.Option("--memory", metavar="NAME", help="The memory to ask.")]
AsOf = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--as-of", metavar="T", help="As it was at a time (2026-01-05T09:00:00Z) or a position of the log."),
]
After = Annotated[
    str,
    typer.Option("--after", metavar="P:O", help="Wait until live holds this position of the log (PARTITION:OFFSET)."),
]
OnlySession = Annotated[Optional[str], typer.Option("--session", metavar="X", help="Only this session.")]  # noqa: UP045
InSpace = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--space", metavar="S", envvar="MNEMOLOG_SPACE", help=f"The space ({DEFAULT_SPACE})."),
]
AllSpaces = Annotated[bool, typer.Option("--all-spaces", help="All spaces, instead of one.")]
WhichSpace = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--space", metavar="S", envvar="MNEMOLOG_SPACE", help="The space that has it, where several have."),
]
Limit = Annotated[Optional[int], typer.Option("--limit", "-n", min=0, help="At most so many rows.")]  # noqa: UP045


def home_path(home: Path | None) -> Path:
    """The home that was asked for. Why not `Settings`: to read all of them takes longer than a question."""
    return Path(home or os.environ.get("MNEMOLOG_HOME") or DEFAULT_HOME).expanduser()


def space_of(space: str | None) -> str:
    """The space that was asked for."""
    return space or DEFAULT_SPACE


def one_or_all(space: str | None, every: bool) -> str | None:
    """The space of which something is listed; None for all."""
    return None if every else space_of(space)


def lists(app: typer.Typer) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator: the function is what `app` does where no command of it is named, and its command `list`."""

    def registered(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def unnamed(**given: Any) -> None:
            context = given["ctx"]
            named = context.invoked_subcommand
            if named is None:
                function(**given)
                return
            for name in given:
                if name != "ctx" and context.get_parameter_source(name).name == "COMMANDLINE":
                    option = f"--{name.replace('_', '-')}"
                    raise UsageError(f"{option} stands before {named!r}", f"say {option} after {named!r}")

        app.callback(invoke_without_command=True)(unnamed)
        app.command("list")(function)
        return function

    return registered


class Registry(Sequence[Any]):
    """The processors, imported when they are looked at: who asks a server needs none."""

    @cached_property
    def _all(self) -> Sequence[Any]:
        from processors import PROCESSORS

        return PROCESSORS

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]


def log_of(home: Path | None) -> HomeLog:
    """The log of a home, for commands that ask no memory: they start in half the time."""
    from streams.logs.where import open_log
    from streams.runtime.home.folder import Folder

    path = home_path(home)
    check_writable(path)
    return open_log(Folder(path).path)


def file_log_of(home: Path | None) -> SqliteLog:
    """The log of a home where it is a file there. Raises UsageError where it is on brokers."""
    from streams.logs.sqlite import SqliteLog

    log = log_of(home)
    if log.is_local:
        return cast(SqliteLog, log)
    log.close()
    raise UsageError("the log is on Kafka, not in a file", "`mnemolog archive DIR` copies it to files")


def check_writable(home: Path) -> None:
    """Raises UsageError for a home whose log cannot be written: even who only reads takes part in its locks."""
    from streams.logs import LOG_FILE

    for path in (home, home / LOG_FILE, home / f"{LOG_FILE}.gate"):
        if path.exists() and not os.access(path, os.W_OK):
            raise UsageError(f"{path} cannot be written", "choose another home with --home, or change its rights")


@contextmanager
def opened(home: Path | None, json: bool, after: str = "") -> Iterator[tuple[Home, Terminal]]:
    """A home and where to answer; folding that takes long shows how far it is.

    Questions to live are answered once it holds the position `after`.
    """
    from streams.runtime.home import Home

    terminal = Terminal(json)
    check_writable(home_path(home))

    def warn(line: str) -> None:
        terminal.tell("[yellow]note:[/] {}", line)

    with terminal.progress("folding") as tick:
        house = Home(home_path(home), Registry(), tick, warn, after)
        try:
            yield house, terminal
        finally:
            house.close()


def list_view(
    view: str, columns: str, empty: str, home: Path | None, json: bool, memory: str, as_of: str | None,
    after: str = "", **how: Any,
) -> None:  # fmt: skip
    """Answers with the rows of a view. Raises UsageError for a space or session that is not in the log."""
    with opened(home, json, after) as (house, terminal):
        found = house.ask("view", memory, name=view, as_of=as_of, **how)
        if not found:
            known_place(house.path, how.get("space"), how.get("session"))
        # What was asked for need not be told in each row.
        told = [word for word in columns.split() if how.get(word.rstrip("?")) is None]
        terminal.rows(found, " ".join(told), empty)


def known_place(home: Path, space: str | None, session: str | None) -> None:
    """Raises UsageError where the log has turns, but not of this space or session (None: any)."""
    from streams.gateways.feed import places
    from streams.logs import LOG_FILE

    known = places(home / LOG_FILE, session) if space or session else []
    if not known:
        return
    if space and space not in (names := [name for name, _ in known]):
        raise UsageError(f"there is no space {space!r} in {home}", f"name another with --space: {listed(names)}")
    if session and not any(has for name, has in known if space in (None, name)):
        having = [name for name, has in known if has]
        where = f"it is in space {listed(having)}" if having else "`mnemolog query sessions` lists them"
        raise UsageError(f"there is no session {session!r}{f' in space {space!r}' if space else ''}", where)


def hint(home: Path, space: str, session: str | None, terminal: Terminal) -> None:
    """Why a context is empty. Why no error: an agent may ask before the first turn of a session."""
    try:
        known_place(home, space, session)
    except UsageError as error:
        terminal.tell("nothing yet: {}; {}", error, error.way_out)


def check_installed(*modules: str, extra: str) -> None:
    """Raises UsageError where a module that only an extra brings is not installed."""
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise UsageError(f"{module} is not installed", f"pip install 'mnemolog[{extra}]'")


def one_of(value: str, known: Sequence[str], option: str) -> str:
    """A value that must be one of some. Raises UsageError."""
    if value not in known:
        raise UsageError(f"there is no {option} {value!r}", f"choose one of {', '.join(filter(None, known))}")
    return value


def append(log: HomeLog, facts: Iterable[Row], way_out: str) -> list[tuple[Outside, Stored | Duplicate]]:
    """Appends what a person or command says. Raises UsageError with `way_out` for the first that is refused."""
    import uuid

    from streams.core.edge import Edge
    from streams.logs.log import Refused

    edge = Edge()
    # Why a random id: said again, it is a new fact (closed, reopened, closed); only sources are fed twice.
    events = [
        edge.event({"id": uuid.uuid4().hex[:24]} | {key: value for key, value in fact.items() if value is not None})
        for fact in facts
    ]
    kept: list[tuple[Outside, Stored | Duplicate]] = []
    for event, outcome in zip(events, log.append(events), strict=True):
        if isinstance(outcome, Refused):
            raise UsageError(outcome.reason, way_out)
        kept.append((event, outcome))
    return kept


def record(home: Path | None, json: bool, said: str, fact: Row) -> None:
    """Appends one event that a person made, and says so."""
    log = log_of(home)
    try:
        [(event, outcome)] = append(log, [fact], "nothing was recorded")
    finally:
        log.close()
    terminal = Terminal(json)
    if json:
        place = {"position": outcome.offset, "partition": outcome.partition}
        terminal.object({"recorded": fact["type"], "id": event.id} | place)
    else:
        place_ = str(outcome.offset) if log.partitions == 1 else f"{outcome.partition}:{outcome.offset}"
        terminal.say("[green]{}[/] [dim](event {} at position {})[/]", said, event.id, place_)


def one(rows: list[Row], what: str, way_out: str) -> Row:
    """The only row. Raises UsageError for none, and for those of several spaces."""
    if not rows:
        raise UsageError(f"there is no {what}", way_out)
    check_one_space((row["space"] for row in rows), what)
    return rows[0]


def serve_until_stopped(
    home: Path | None,
    json: bool,
    meters: Meters | None = None,
    idle: int | None = None,
    http: HttpOptions | None = None,
) -> None:
    """Keeps live up to date, and answers, until a signal says to stop, or nobody asked for `idle` seconds."""
    import math
    import signal

    from streams.runtime.home.server import serve as serve_home
    from streams.runtime.telemetry import measuring

    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda caught, frame: stopped.append(caught))
    with opened(home, json) as (house, terminal), ExitStack() as beside_it:
        beside_it.enter_context(measuring("serve" if meters is None else "project"))
        house.meters = meters

        def said(line: str) -> None:
            terminal.told({"said": line}, "{}", line)
            sys.stdout.flush()

        served = beside_it.enter_context(http.beside(house.path)) if http else None
        if served:
            said(f"answering HTTP at {served.url} (open it in a browser: there is the page)")
        ended = (lambda: bool(stopped) or served.ended()) if served else lambda: bool(stopped)
        serve_home(house, ended, said, math.inf if idle is None else idle)
        said("stopped; all that was acknowledged is in the log")
        if served and not stopped:
            served.check()


class HttpOptions(NamedTuple):
    """How HTTP is answered."""

    address: str
    rate: int
    access_log: bool

    def beside(self, home: Path) -> AbstractContextManager[Http]:
        """The server that answers, in a process of its own."""
        check_installed("fastapi", "uvicorn", "prometheus_client", extra="http")
        from streams.gateways.http.beside import beside

        return beside(home, self.address, self.rate, self.access_log)


AtHttp = Annotated[
    str, typer.Option("--http", metavar="HOST:PORT", help="Answer HTTP there, too; keys are needed where others reach.")
]
Rate = Annotated[int, typer.Option("--rate", min=1, help="Requests a second over HTTP that one caller may make.")]
AccessLog = Annotated[bool, typer.Option("--access-log", help="Tell of each HTTP request, without what it says.")]
