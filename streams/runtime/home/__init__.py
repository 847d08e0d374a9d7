"""A home: the folder that holds one log and its memories, and who may write them.

    log.sqlite        the facts; everything else can be made again from them
    live.duckdb       the memory that is kept up to date; NAME.duckdb: memories made by replays
    live.recall       the index for recall of live, NAME.recall that of NAME; made again where it is missing
    snapshots/        copies for analysts    cache/   text features, by version
    writer.lock       held by whoever folds into live    socket   where that one answers

With MNEMOLOG_KAFKA set the log is on brokers, workers fold it, and a projector keeps live up to date; all else is as
it is with a log in the home. It may then be in shards: see `streams.runtime.home.shards`.

Whoever holds the writer lock folds. A command that finds no holder takes the lock, folds to the log's end and answers
itself; others ask the holder over the socket.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from projections.aside import Warn, unheard
from streams.core.errors import (
    BehindError,
    BusyError,
    DamagedError,
    LogError,
    MemoryFileError,
    MnemologError,
    NoRoomError,
    ShutError,
    UnreadableError,
)
from streams.core.progress import Progress, no_progress
from streams.runtime import LIVE
from streams.runtime.home.client import HolderLeftError, SilentError, ask_holder
from streams.runtime.home.folder import Folder

# Why within methods: a command that a server answers imports neither DuckDB nor processors.
if TYPE_CHECKING:
    from projections.store import Connection, Store
    from streams.core.params import Params
    from streams.core.processor import Processor
    from streams.logs.where import HomeLog
    from streams.runtime.home.keeper import Keeper
    from streams.runtime.home.office import Office
    from streams.runtime.home.shards import Shards
    from streams.runtime.kafka.metrics import Meters

PATIENCE = 600.0
"""Seconds a command waits for another command to finish folding."""
TOLD = 5.0
"""Seconds after which it says that it waits."""
AFTER_PATIENCE = 30.0
"""Seconds a question waits for a position of the log to be in live."""
MENDING = 5.0
"""Seconds a question waits while a memory that cannot be read is made anew."""
RETRY = 0.02
"""Seconds between tries."""


@dataclass
class Home:
    """A home folder, made where there is none, and the processors that fold in it."""

    path: Path
    processors: Sequence[Processor[Any]]
    progress: Progress = field(default=no_progress)
    """Called while a command folds what waits in the log."""
    warn: Warn = field(default=unheard)
    """Told what a person should know though there is an answer."""
    after: str = ""
    """PARTITION:OFFSET (several with commas between) that live must hold before a question is answered."""
    meters: Meters | None = None
    """What a projector tells of itself to."""
    indexing: Progress = field(default=no_progress)
    """Called while what a memory can recall is indexed."""

    def __post_init__(self) -> None:
        self.folder = Folder(self.path)
        self._shards: Shards | None = None
        self._kept: ExitStack | None = None
        """What is closed when nothing more is asked in a row; see `asking_on`."""
        self._office: Office | None = None
        """Who answers meanwhile, once live was opened."""

    @cached_property
    def log(self) -> HomeLog:
        """The log: in the home, or on brokers."""
        from streams.logs.where import open_log

        return open_log(self.path)

    @property
    def shards(self) -> Shards | None:
        """Its shards; None where it is in none."""
        from streams.logs.where import on_kafka

        if self._shards is None and on_kafka() and (paths := self.folder.shards()):
            from streams.runtime.home.shards import Shards

            self._shards = Shards(
                self, [Home(path, self.processors, self.progress, self.warn, indexing=self.indexing) for path in paths]
            )
        return self._shards

    @property
    def partitions(self) -> range:
        """The partitions of the log that its live holds."""
        return self.folder.shard.partitions(self.log.partitions)

    def close(self, whole: bool = False) -> None:
        """Lets go of brokers; of a log in the home only with `whole`: nothing of it is held that the end of the process
        would not let go."""
        log = self.__dict__.get("log")
        if log is not None and (whole or not log.is_local):
            log.close()
        if self._shards is not None:
            self._shards.close()

    def memory_path(self, name: str) -> Path:
        """Where the memory `name` lies. Raises UsageError for a name that cannot be a file's."""
        return self.folder.memory(name)

    def memories(self) -> list[str]:
        """The names of the memories there are, live first."""
        names = {name for home in self.shards.homes for name in home.memories()} if self.shards else set()
        return sorted(names.union(self.folder.memories()), key=lambda name: (name != LIVE, name))

    def forget(self, name: str) -> None:
        """Deletes a memory that a replay made, with its index."""
        for path in (self.memory_path(name), *self.path.glob(f"{name}.recall*")):
            path.unlink(missing_ok=True)

    def live_params(self) -> dict[str, Params]:
        """The parameters of live; defaults for those it was not folded with."""
        from streams.runtime.home import keeper

        return keeper.live_params(self)

    @contextmanager
    def live(self, wait: float = PATIENCE, suspect: bool = False, ahead: bool = False) -> Iterator[Keeper]:
        """Live, folded to the log's end, the writer lock held. Raises BusyError without it after `wait` seconds.

        With `ahead`, what was folded last may lie in no table until it is settled.
        """
        from streams.runtime.home import keeper

        with self.folder.holding(wait):
            runtime = keeper.open_live(self, suspect)
            try:
                keeper.bring_up(self, runtime, ahead)
                yield runtime
            finally:
                keeper.put_away(self, runtime)

    def ask(self, what: str, memory: str = LIVE, **arguments: Any) -> Any:
        """The answer of `projections.ask` to `what`, over live as of the log's end or over another memory.

        A JSON value. Raises what the question raises, and BusyError when nobody can answer.
        """
        if memory == LIVE:
            return self.request({"ask": what, "arguments": arguments})
        with self.asking(memory) as ask:
            return ask(what, **arguments)

    @contextmanager
    def asking(self, memory: str) -> Iterator[Callable[..., Any]]:
        """What answers several questions over one memory beside live, which is opened once; see `ask`."""
        from projections import ask as asks
        from streams.runtime.home.recalling import Recalling
        from streams.runtime.requests import Ask

        if (shards := self.shards) and shards.hold(memory):
            yield lambda what, **arguments: shards.ask(Ask(ask=what, arguments=arguments), memory)
            return
        with self.reading(memory) as connection, closing(Recalling(self, memory)) as recalling:

            def ask(what: str, **arguments: Any) -> Any:
                question = Ask(ask=what, arguments=arguments).question
                return asks.answer(connection, what, question.given(), recalling, question.seconds)

            yield ask

    @contextmanager
    def asking_on(self) -> Iterator[None]:
        """While several requests are made: where nobody holds live, it is opened for the first, and closed at the end.

        Nobody else can fold meanwhile.
        """
        with ExitStack() as self._kept:
            try:
                yield
            finally:
                self._office = self._kept = None

    def request(self, message: dict[str, Any], patience: float = AFTER_PATIENCE) -> Any:
        """Has the holder of live carry out a request, or becomes the holder for it.

        Waits until live holds `after`; raises BehindError where that takes longer than `patience` seconds.
        """
        if self.after:
            message = message | {"after": self.after}
        deadline = time.monotonic() + patience
        mending = time.monotonic() + min(patience, MENDING)
        while True:
            try:
                return self._through_holder(message, lambda: self._answer_alone(message))
            except (BehindError, UnreadableError) as error:
                if time.monotonic() >= (deadline if isinstance(error, BehindError) else mending):
                    raise
                time.sleep(RETRY)

    def _answer_alone(self, message: dict[str, Any]) -> Any:
        from streams.runtime.home.office import Office
        from streams.runtime.requests import parse

        if self.shards:
            with suppress(BusyError), self.folder.holding():  # who serves the home did it when it began
                self.shards.mend()
            return self.shards.answer(parse(message))
        try:
            if self._office is not None:
                return self._office.carry_out(message)
            with ExitStack() as stack:
                office = Office(self, stack.enter_context(self.live(wait=0.0, ahead=True)))
                stack.enter_context(closing(office))
                if self._kept is not None:
                    self._kept.push(stack.pop_all())
                    self._office = office
                return office.carry_out(message)
        except UnreadableError:
            self._let_go()
            with self.live(wait=0.0, suspect=True) as runtime, closing(Office(self, runtime)) as office:
                return office.carry_out(message)
        except NoRoomError as error:
            self._let_go()
            return self._answer_as_it_is(message, error)

    def _let_go(self) -> None:
        """Closes live, where it was kept open for what is asked next."""
        if self._kept is not None:
            self._office = None
            self._kept.close()

    def _answer_as_it_is(self, message: dict[str, Any], error: NoRoomError) -> Any:
        """The answer to a question, of live as far as it was folded; `error` for any other request."""
        from projections import ask as asks
        from streams.runtime.home.recalling import Recalling
        from streams.runtime.requests import Ask, parse

        call = parse(message)
        if not isinstance(call, Ask):
            raise error
        with self._as_it_is(error) as connection, closing(Recalling(self, LIVE)) as recalling:
            return asks.answer(connection, call.ask, call.question.given(), recalling, call.question.seconds)

    @contextmanager
    def _as_it_is(self, error: NoRoomError, files: bool = False) -> Iterator[Connection]:
        """Live as far as it was folded, where there is no room to fold it on; `error` where not even that can be."""
        from projections.store import read_mark, read_only

        with self.folder.holding():
            if not self.memory_path(LIVE).exists():
                raise error
            with closing(read_only(self.memory_path(LIVE), files)) as connection:
                log = self.log
                if behind := sum(log.end(p) - 1 - read_mark(connection, p) for p in range(log.partitions)):
                    self.warn(f"there is no room to fold: {behind:,} events of the log are not in this answer")
                yield connection

    def _through_holder(self, message: dict[str, Any], alone: Callable[[], Any]) -> Any:
        """The holder's answer; that of `alone` where nobody holds live; waits while a command holds it, and while the
        holder makes an index."""
        began, told = time.monotonic(), False
        while True:
            try:
                with suppress(HolderLeftError):
                    return ask_holder(self.folder.socket, message)
                return alone()
            except (SilentError, ShutError):  # they waited themselves
                raise
            except BusyError as error:
                waited = time.monotonic() - began
                if waited >= PATIENCE:
                    raise
                if waited >= TOLD and not told:
                    self.warn(f"{error}: waiting for it")
                    told = True
                time.sleep(RETRY)

    def snapshot(self, after: str = "", patience: float = AFTER_PATIENCE) -> Path:
        """A consistent read-only copy of live, as new as the pace of copies allows, and as `after` where it is given.

        Of a live that this version of the program cannot fold further, a copy as it is.
        """
        try:
            return Path(self.request({"snapshot": True} | ({"after": after} if after else {}), patience))
        except NoRoomError:
            raise
        except MemoryFileError:
            from streams.runtime.home.snapshots import outdated

            return outdated(self, PATIENCE)

    def files(self, memory: str = LIVE, after: str = "", patience: float = AFTER_PATIENCE) -> list[Path]:
        """The files of a memory, one for each shard; copies, of live, that hold the position `after`."""
        if (shards := self.shards) and shards.hold(memory):
            return shards.files(memory, after or self.after, patience)
        return [self.snapshot(after, patience) if memory == LIVE else self.memory_path(memory)]

    @contextmanager
    def reading(self, memory: str = LIVE, files: bool = False) -> Iterator[Connection]:
        """A read-only connection to a memory; to a snapshot of it, for live. It opens other files only with `files`."""
        from projections.store import readable
        from streams.logs.where import on_kafka
        from streams.runtime.memories import differs

        try:
            opened = self._copied(files) if memory == LIVE else self._opened(memory, files)
        except NoRoomError as error:
            with self._as_it_is(error, files) as connection:
                yield connection
            return
        with closing(opened) as connection, self._doubting(memory), readable():
            with suppress(LogError):  # a log that cannot be read: the memory can be all the same
                if memory != LIVE and not on_kafka() and (foreign := differs(connection, self.log)):
                    self.warn(f"{memory} {foreign}: replay the log into a new memory")
            yield connection

    def _opened(self, memory: str, files: bool) -> Connection:
        from projections.store import together

        return together(self.files(memory), files)

    def _copied(self, files: bool) -> Connection:
        """A connection to a copy of live; one that is damaged is set aside, and made anew."""
        from projections.aside import set_aside
        from projections.store import together

        paths = self.files()
        try:
            return together(paths, files)
        except DamagedError as error:
            set_aside(str(error), self.warn, *paths)
            self.look_through()
            return together(self.files(), files)

    @contextmanager
    def _doubting(self, memory: str) -> Iterator[None]:
        """Has live looked through where a copy of it cannot be read: who asks again has one that can."""
        try:
            yield
        except UnreadableError:
            if memory == LIVE:
                with suppress(MnemologError):
                    self.look_through()
            raise

    def look_through(self) -> None:
        """Has all of live read, and made anew where it is damaged."""
        self._through_holder({"look": True}, self._look_alone)

    def _look_alone(self) -> None:
        if self.shards:
            self.shards.look_through()
            return
        with self.live(wait=0.0, suspect=True):
            pass

    def promotable(self, name: str) -> Store:
        """The memory `name`, open, which may become live. Raises MemoryFileError for one that may not."""
        from streams.runtime.home.promotion import promotable

        return promotable(self, name)

    def promote(self, name: str) -> str:
        """Makes the memory `name` live; the name under which the old live is kept, "" where there was none.

        On Kafka, waits first until workers of its lineages have reached the log's end. Raises MemoryFileError for a
        memory that is no fold of the whole log with all processors of this program.
        """
        if not self.log.is_local:
            from streams.logs.kafka.log import KafkaLog
            from streams.runtime.kafka.promotion import prepare

            prepare(cast(KafkaLog, self.log), self.promotable(name), name, self.processors, self.progress, self.warn)
        return self.switch_to(name)

    def switch_to(self, name: str) -> str:
        """As `promote`, of a memory whose workers are there."""
        return str(self._through_holder({"promote": name}, lambda: self._swap_alone(name)))

    def take_place(self) -> None:
        """Has the log that an erasure made take the place of the log; see `streams.runtime.erasure`."""
        self._through_holder({"switch": True}, self._take_place_alone)
        if self.shards:
            self.forget(LIVE)

    def _take_place_alone(self) -> None:
        from streams.runtime import erasure

        with self.folder.holding():
            erasure.take_place(self)

    def _swap_alone(self, name: str) -> str:
        from streams.runtime.home import promotion

        if self.shards:
            return self.shards.promote(name)
        with self.folder.holding():
            return promotion.swap(self, name)
