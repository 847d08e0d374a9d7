"""What commands share: their options, the home they ask, and how they record what a person says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import cache, cached_property
from inspect import Parameter, Signature, get_annotations, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer
import typer.core
import typer.main

from streams.core import DEFAULT_SPACE
from streams.core.errors import MnemologError, UsageError, counted, listed
from streams.gateways.registry import Registry
from streams.gateways.terminal import Row, Terminal, cell
from streams.logs import DEFAULT_HOME
from streams.runtime import LIVE

if TYPE_CHECKING:
    from projections.saying import Finding, Standing
    from streams.core.events import Outside
    from streams.gateways.http.beside import Http
    from streams.logs.log import Duplicate, Stored
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
    Path | None,
    typer.Option(
        "--home", parser=named, metavar="DIR", help="Home of the log and its memories (MNEMOLOG_HOME; ~/.mnemolog)."
    ),
]
OnlySession = Annotated[str | None, typer.Option("--session", metavar="X", help="Only this session.")]
InSpace = Annotated[
    str | None, typer.Option("--space", metavar="S", envvar="MNEMOLOG_SPACE", help=f"The space ({DEFAULT_SPACE}).")
]
WhichSpace = Annotated[
    str | None,
    typer.Option("--space", metavar="S", envvar="MNEMOLOG_SPACE", help="The space that has it, where several have."),
]

AllSpaces = Annotated[bool, typer.Option("--all-spaces", help="All spaces, instead of one.")]
Memory = Annotated[str, typer.Option("--memory", metavar="NAME", help="The memory to ask.")]
After = Annotated[
    str,
    typer.Option("--after", metavar="P:O", help="Wait until live holds this position of the log (PARTITION:OFFSET)."),
]

Limit = Annotated[int | None, typer.Option("--limit", "-n", min=0, help="At most so many rows.")]


def home_path(home: Path | None) -> Path:
    """The home that was asked for. Why not `Settings`: to read all of them takes longer than a question."""
    return Path(home or os.environ.get("MNEMOLOG_HOME") or DEFAULT_HOME).expanduser()


def space_of(space: str | None) -> str:
    """The space that was asked for."""
    return space or DEFAULT_SPACE


def one_or_all(space: str | None, every: bool) -> str | None:
    """The space of which something is listed; None for all."""
    return None if every else space_of(space)


def check_writable(home: Path) -> None:
    """Raises UsageError for a home whose log cannot be written: even who only reads takes part in its locks."""
    from streams.logs import LOG_FILE

    for path in (home, *(home / f"{LOG_FILE}{part}" for part in ("", ".gate", "-wal", "-shm"))):
        if path.exists() and not os.access(path, os.W_OK):
            raise UsageError(f"{path} cannot be written", "choose another home with --home, or change its rights")


class Common:
    """The options of every command: where it works, and how it answers.

    Why no dataclass: to make one takes longer than to parse what a command was given.
    """

    home: HomeDir = None
    json: Annotated[bool, typer.Option("--json", help="Answer in JSON Lines.")] = False

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)

    @property
    def path(self) -> Path:
        """The home."""
        return home_path(self.home)

    @cached_property
    def terminal(self) -> Terminal:
        """Where it answers."""
        return Terminal(self.json)

    @contextmanager
    def log(self) -> Iterator[HomeLog]:
        """The log of the home, for commands that ask no memory: they start in half the time."""
        from streams.logs.where import open_log
        from streams.runtime.home.folder import Folder

        check_writable(self.path)
        with closing(open_log(Folder(self.path).path)) as log:
            yield log

    @contextmanager
    def opened(self, after: str = "") -> Iterator[tuple[Home, Terminal]]:
        """The home and where to answer; folding and indexing that take long show how far they are.

        Questions to live are answered once it holds the position `after`.
        """
        from streams.runtime.home import Home

        check_writable(self.path)

        def warn(line: str) -> None:
            self.terminal.tell("[yellow]note:[/] {}", line)

        with (
            self.terminal.progress("folding") as folding,
            self.terminal.progress("indexing", "events") as indexing,
            closing(Home(self.path, Registry(), folding, warn, after, indexing=indexing)) as home,
        ):
            yield home, self.terminal

    def say(self, said: str, words: Finding[Row | Standing]) -> None:
        """Appends what a person says of something that live knows, and says so; where it stands so already, that is
        said instead."""
        from projections.saying import Standing, answered, standing

        with self.opened() as (home, terminal), home.asking_on():
            found = answered(words, home.ask)
            stands = found if isinstance(found, Standing) else answered(standing(found), home.ask)
            if stands is not None:
                told = {"recorded": None, "already": stands.said, "since": stands.since}
                since = f", since {cell(stands.since)}" if stands.since else ""
                terminal.told(told, "{} already{}[dim]; nothing was recorded[/]", stands.said, since)
            elif not isinstance(found, Standing):
                self._record(home.log, said, found)

    def record(self, said: str, fact: Row, asks: bool = False) -> None:
        """Appends one event that a person made, and says so; where it `asks`, also what it names and live does not
        know."""
        if not asks:
            with self.log() as log:
                self._record(log, said, fact)
            return
        with self.opened() as (home, _):
            unknown = home.ask("known", space=fact["space"], fact=fact).get("unknown", [])
            self._record(home.log, said, fact, unknown)
            if unknown:
                self.terminal.tell("[yellow]note:[/] not known (yet): {}", ", ".join(unknown))

    def _record(self, log: HomeLog, said: str, fact: Row, unknown: Sequence[str] = ()) -> None:
        [(event, outcome)] = append(log, [fact], "nothing was recorded")
        if self.json:
            place = {"position": outcome.offset, "partition": outcome.partition}
            names = {"unknown": [*unknown]} if unknown else {}
            self.terminal.object({"recorded": fact["type"], "id": event.id} | place | names)
        else:
            place_ = str(outcome.offset) if log.partitions == 1 else f"{outcome.partition}:{outcome.offset}"
            self.terminal.say("[green]{}[/] [dim](event {} at position {})[/]", said, event.id, place_)


class Asking(Common):
    """The options of what asks a memory."""

    as_of: Annotated[
        str | None,
        typer.Option(metavar="T", help="As it was at a time (2026-01-05T09:00:00Z) or a position of the log."),
    ] = None
    after: After = ""
    memory: Memory = "live"

    @contextmanager
    def opened(self, after: str = "") -> Iterator[tuple[Home, Terminal]]:
        """The home, where live holds the position that was named, and where to answer."""
        with super().opened(after or self.after) as found:
            yield found

    def view(self, home: Home, view: str, **how: Any) -> list[Row]:
        """The rows of a view of the memory."""
        rows: list[Row] = home.ask("view", self.memory, name=view, as_of=self.as_of, **how)
        return rows


class Listing(Asking):
    """The options of what lists rows of a memory."""

    space: InSpace = None
    all_spaces: AllSpaces = False
    limit: Limit = None

    @property
    def where(self) -> str | None:
        """The space of which something is listed; None for all."""
        return one_or_all(self.space, self.all_spaces)

    def show(self, view: str, columns: str, empty: str, told: Callable[[Row], Row] | None = None, **how: Any) -> None:
        """Answers with the rows of a view, for people as `told` has them. Raises UsageError for a space or session that
        is not in the log."""
        with self.opened() as (home, terminal):
            found = self.view(home, view, space=self.where, limit=self.limit, **how)
            if not found:
                known_place(home.path, self.where, how.get("session"))
                tell_waiting(home, terminal)
            if told is not None and not self.json:
                found = [told(row) for row in found]
            terminal.rows(found, self.told(columns, **how), empty)

    def told(self, columns: str, **how: Any) -> str:
        """Columns without those that were asked for: what they hold need not be told in each row."""
        asked = how | {"space": self.where}
        return " ".join(word for word in columns.split() if asked.get(word.rstrip("?")) is None)


class Named(typer.core.TyperGroup):
    """A group whose help says what each of its commands does, in whole sentences."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, paragraph(command.help)) for name, command in self.commands.items()])


def paragraph(text: str | None) -> str:
    """The first paragraph of a text, in one line."""
    return " ".join((text or "").split("\n\n")[0].split())


def with_plain_numbers(command: Any) -> Any:
    """A command whose help calls a number N, as it calls a name NAME; its limits stand behind it."""
    for parameter in command.params:
        if parameter.metavar is None and parameter.type.name.partition(" ")[0] in ("integer", "float"):
            parameter.metavar = "N"
    for inner in getattr(command, "commands", {}).values():
        with_plain_numbers(inner)
    return command


class Group(typer.Typer):
    """Commands under one name. The first parameter of each may be a group of options: `Common`, `Asking`, `Listing`."""

    def __init__(self, about: str | None = None) -> None:
        super().__init__(cls=Named, help=about, add_completion=False, rich_markup_mode=None)

    def default(self, name: str = "list") -> Callable[[Any], Any]:
        """A decorator: the function is what is done where no command is named, and the command `name`."""

        def registered(function: Any) -> Any:
            self.callback(invoke_without_command=True)(function)
            return self.command(name)(function)

        return registered

    def parsed(self) -> Any:
        """The commands as what parses them takes them. Why not before: most are never called for."""
        for info in self.registered_commands:
            info.callback = flat(info.callback)
        if self.registered_callback is not None:
            self.registered_callback.callback = unnamed(flat(self.registered_callback.callback))
        return with_plain_numbers(typer.main.get_command(self))


def unnamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is done before a command of a group: nothing where one is named, which is then given the options itself."""

    def called(ctx: typer.Context, **given: Any) -> None:
        named = ctx.invoked_subcommand
        if named is None:
            function(**given)
            return
        for parameter in given:
            source = ctx.get_parameter_source(parameter)
            if source is not None and source.name == "COMMANDLINE":
                option = f"--{parameter.replace('_', '-')}"
                raise UsageError(f"{option} stands before {named!r}", f"say {option} after {named!r}")

    context = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    return taking(called, [context, *signature(function).parameters.values()], function)


def flat(function: Any) -> Callable[..., Any]:
    """A command as what parses it takes it: each option of the group that its first parameter is, if it is one, is a
    parameter of its own, after the others."""
    first, *others = signature(function, eval_str=True).parameters.values()
    group = first.annotation
    if not (isinstance(group, type) and issubclass(group, Common)):
        return cast("Callable[..., Any]", function)
    options = options_of(first.annotation)

    def called(**given: Any) -> Any:
        return function(group(**{option.name: given.pop(option.name) for option in options}), **given)

    return taking(called, [other.replace(kind=Parameter.KEYWORD_ONLY) for other in others] + options, function)


def taking(called: Any, parameters: Sequence[Parameter], like: Callable[..., Any]) -> Callable[..., Any]:
    """A function that says it takes these parameters, and is told of as another is."""
    called.__signature__ = Signature(parameters)
    called.__annotations__ = {}  # what is in the signature need not be evaluated twice
    called.__doc__ = like.__doc__
    return cast("Callable[..., Any]", called)


@cache
def options_of(group: Any) -> list[Parameter]:
    """The options of a group, its own first."""
    hints = get_type_hints(group, include_extras=True)
    names = [name for cls in group.__mro__ for name in get_annotations(cls)]
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(group, name), annotation=hints[name]) for name in names
    ]


def known_place(home: Path, space: str | None, session: str | None) -> None:
    """Raises UsageError where the log has turns, but not of this space or session (None: any)."""
    from streams.gateways.feed import places
    from streams.logs import LOG_FILE

    known = places(home / LOG_FILE, session) if space or session else []
    if known and (error := _misplaced(home, [n for n, _ in known], [n for n, has in known if has], space, session)):
        raise error


def _misplaced(
    home: Path, spaces: Sequence[str], having: Sequence[str], space: str | None, session: str | None
) -> UsageError | None:
    """What is wrong with a space and session (None: any), of the spaces of a home and those that have the session."""
    if space and space not in spaces:
        return UsageError(f"there is no space {space!r} in {home}", f"name another with --space: {listed(spaces)}")
    if session and not (space in having if space else having):
        where = f"it is in space {listed(having)}" if having else "`mnemolog query sessions` lists them"
        return UsageError(f"there is no session {session!r}{f' in space {space!r}' if space else ''}", where)
    return None


def tell_waiting(house: Home, terminal: Terminal) -> None:
    """Says how much is still to be folded, where live has nothing to answer: on brokers nobody waits for workers."""
    with suppress(MnemologError):
        if behind := house.request({"ping": True}, 0.0)["behind"]:
            terminal.tell("{} of the log not folded yet: ask again in a while", counted(behind, "event"))


def hint(house: Home, memory: str, space: str, session: str | None, terminal: Terminal) -> None:
    """Why a memory has nothing of a session, or of a space. Why no error: an agent may ask before its first turn.

    Why the memory is asked, and not the log: a server answers at once, and who only asks it imports nothing heavy.
    """
    if memory == LIVE:
        tell_waiting(house, terminal)
    spaces = [row["space"] for row in house.ask("spaces", memory)]
    if space not in spaces:  # nobody spoke there; of what else was said there the end is known
        end = house.ask("context", memory, space=space, session=session or space, budget=1)["position"]
        spaces += [space] if end >= 0 else []
    if not spaces:  # nobody spoke: whether anything was said at all stands in the log
        from streams.gateways.feed import places
        from streams.logs import LOG_FILE
        from streams.logs.where import on_kafka

        spaces = [name for name, _ in places(house.path / LOG_FILE)]
        if not spaces and not on_kafka():
            told = "nothing yet: the log of {} is empty; feed some turns, or name another home with --home"
            terminal.tell(told, house.path)
        if not spaces:
            return
    where = {"session": session, "columns": "space", "order": "space"}
    having = [row["space"] for row in house.ask("view", memory, name="sessions", **where)] if session else spaces
    if error := _misplaced(house.path, spaces, having, space, session):
        terminal.tell("nothing yet: {}; {}", error, error.way_out)


def check_installed(*modules: str, extra: str) -> None:
    """Raises UsageError where a module that only an extra brings is not installed."""
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise UsageError(
                f"{module} is not installed",
                f"pip install 'mnemolog[{extra}]', or in a clone: pip install '.[{extra}]'",
            )


def one_of(value: str, known: Sequence[str], option: str) -> str:
    """A value that must be one of some. Raises UsageError."""
    if value not in known:
        raise UsageError(f"there is no {option} {value!r}", f"choose one of {', '.join(filter(None, known))}")
    return value


def one_or_any(value: str, known: Sequence[str], option: str) -> str | None:
    """A value that must be one of some, or `all`, which is None. Raises UsageError."""
    return None if one_of(value, (*known, "all"), option) == "all" else value


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


class Serving(Common):
    """The options of what answers others until it is stopped."""

    http: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Answer HTTP there, too; keys are needed where others reach."),
    ] = ""
    rate: Annotated[int, typer.Option(min=1, help="Requests a second over HTTP that one caller may make.")] = 1000
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Tell of each HTTP request, without what it says.")
    ] = False

    def until_stopped(self, meters: Meters | None = None, idle: int | None = None, makes_way: bool = False) -> None:
        """Keeps live up to date, and answers, until a signal says to stop, or nobody asked for `idle` seconds."""
        import math
        import signal

        from streams.runtime.home.server import check_free
        from streams.runtime.home.server import serve as serve_home
        from streams.runtime.telemetry import measuring

        stopped: list[int] = []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda caught, frame: stopped.append(caught))
        with self.opened() as (house, terminal), ExitStack() as beside_it:
            beside_it.enter_context(measuring("serve" if meters is None else "project"))
            house.meters = meters

            def said(line: str) -> None:
                try:
                    terminal.told({"said": line}, "{}", line)
                    sys.stdout.flush()
                except BrokenPipeError:
                    raise
                except OSError:  # no room for its own log: what it can answer, it answers
                    return

            check_free(house, makes_way)
            served = beside_it.enter_context(self._beside(house.path)) if self.http else None
            ended = (lambda: bool(stopped) or served.ended()) if served else lambda: bool(stopped)
            begun: list[str] = []

            def told(line: str) -> None:
                said(line)
                if served and not begun:  # the first line says that the home is served
                    said(f"answering HTTP at {served.url} (open it in a browser: there is the page)")
                begun.append(line)

            serve_home(house, ended, told, math.inf if idle is None else idle, makes_way)
            said("stopped; all that was acknowledged is in the log")
            if served and not stopped:
                served.check()

    def _beside(self, home: Path) -> AbstractContextManager[Http]:
        """The server that answers HTTP, in a process of its own."""
        check_installed("fastapi", "uvicorn", "prometheus_client", extra="http")
        from streams.gateways.http.beside import beside

        return beside(home, self.http, self.rate, self.access_log)
