"""A home: the folder that holds one log and its memories, and who may write them.

    log.sqlite        the facts; everything else can be made again from them
    live.duckdb       the memory that is kept up to date; NAME.duckdb: memories made by replays
    live.recall       the index for recall of live, NAME.recall that of NAME; made again where it is missing
    snapshots/        copies for analysts    cache/   text features, by version
    writer.lock       held by whoever folds into live    socket   where that one answers

With MNEMOLOG_KAFKA set the log is on brokers, workers fold it, and a projector keeps live up to date; all else is as
it is with a log in the home.

Whoever holds the writer lock folds. A command that finds no holder takes the lock, folds to the log's end and answers
itself; others ask the holder over the socket.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import selectors
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from projections import ask as asks
from projections import store as stores
from projections.asking import all_params
from projections.store import Store
from streams.core.edge import Edge, EdgeError
from streams.core.errors import BehindError, BusyError, LogError, MemoryFileError, MnemologError, UsageError
from streams.core.events import Outside
from streams.core.processor import Params, Processor
from streams.core.progress import Progress, no_progress
from streams.logs.log import Duplicate, Outcome, Refused, Stored
from streams.logs.sqlite import SqliteLog
from streams.logs.where import HomeLog, open_log, parse_places, told_place
from streams.runtime.embedded import Runtime
from streams.runtime.memories import memory_meta

if TYPE_CHECKING:
    from projections.recall.answers import Recall
    from streams.runtime.kafka.metrics import Meters
    from streams.runtime.kafka.projector import Projector

LIVE = "live"
POLL = 0.005
"""Seconds between looks at the log while serving."""
START_PATIENCE = 10.0
"""Seconds a server waits for a command that is folding just then."""
PATIENCE = 600.0
"""Seconds a command waits for another command to finish folding."""
AFTER_PATIENCE = 30.0
"""Seconds a question waits for a position of the log to be in live."""
SOCKET_PATH_LIMIT = 100
"""Bytes; the system's limit is 104 on macOS, 108 on Linux."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


ERRORS = {kind.__name__: kind for kind in (BehindError, BusyError, LogError, MemoryFileError, UsageError)}
"""Errors that come through the socket as what they are."""


class StoppedError(Exception):
    """The server was told to stop while it folded."""


class HolderLeftError(Exception):
    """The process that held the writer lock went away while it was asked."""


@dataclass
class Home:
    """A home folder, made where there is none, and the processors that fold in it."""

    path: Path
    processors: Sequence[Processor[Any]]
    progress: Progress = field(default=no_progress)
    """Called while a command folds what waits in the log."""
    warn: Callable[[str], None] = field(default=lambda line: None)
    """Told what a person should know though there is an answer."""
    after: str = ""
    """PARTITION:OFFSET (several with commas between) that live must hold before a question is answered."""
    meters: Meters | None = None
    """What a projector tells of itself to."""

    def __post_init__(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / "snapshots").mkdir(exist_ok=True)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be a home: {error.strerror}", "choose another with --home") from error

    @cached_property
    def log(self) -> HomeLog:
        """The log: in the home, or on brokers."""
        return open_log(self.path)

    def close(self) -> None:
        """Lets go of brokers; of a log in the home nothing is held that the end of the process would not let go."""
        if isinstance(log := self.__dict__.get("log"), SqliteLog) or log is None:
            return
        log.close()

    def memory_path(self, name: str) -> Path:
        """Where the memory `name` lies. Raises UsageError for a name that cannot be a file's."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot name a memory", "use letters, digits, '-', '_' and '.'")
        return self.path / f"{name}.duckdb"

    def memories(self) -> list[str]:
        """The names of the memories there are, live first."""
        names = sorted(p.stem for p in self.path.glob("*.duckdb") if not p.stem.startswith("."))
        return sorted(names, key=lambda name: name != LIVE)

    # -- writing -----------------------------------------------------------------------------------------------------

    @contextmanager
    def holding(self, wait: float = 0.0) -> Iterator[None]:
        """Holds the writer lock. Raises BusyError when another process has it for longer than `wait` seconds."""
        with (self.path / "writer.lock").open("a+b") as lock:
            deadline = time.monotonic() + wait
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        pid = self._holder_pid()
                        raise BusyError(
                            f"process {pid} is folding into {self.path}",
                            "wait for it, or ask it (it answers on its socket)",
                        ) from None
                    time.sleep(0.02)
            lock.truncate(0)
            lock.write(str(os.getpid()).encode())
            lock.flush()
            yield

    def _holder_pid(self) -> str:
        with suppress(OSError):
            return (self.path / "writer.lock").read_text() or "?"
        return "?"

    def open_live(self) -> Runtime | Projector:
        """What keeps live up to date; live is made where there is none. The caller holds the writer lock."""
        path = self.memory_path(LIVE)
        if not path.exists():
            self._make_live(path)
        store = Store.open(path, self.processors)
        if not isinstance(self.log, SqliteLog):
            store = self._as_noted(store)
        runtime = self._keeper(store)
        if self.log.noted("params") != store.meta("params"):
            self.log.note("params", store.meta("params"))  # so that a backup of the log restores live as it is
        return runtime

    def _as_noted(self, store: Store) -> Store:
        """Live as the log says it is folded; the one there was is set aside where another home promoted a new one.

        Why so on Kafka alone: several homes share the log there, and all of live can be had from the topics.
        """
        noted = self.log.noted("params")
        stored = orjson.loads(store.meta("params"))
        if noted is None or orjson.loads(noted) == stored or store.meta("log_id") != self.log.id:
            return store
        with suppress(ValueError):  # parameters this version does not know: the keeper says so
            if all_params(self.processors, stored) == self.live_params():
                return store
        store.connection.execute("CHECKPOINT")
        store.close()
        kept, path = self._free_name(), self.memory_path(LIVE)
        path.replace(self.memory_path(kept))
        self.warn(f"another home promoted other parameters: the old live is kept as {kept}, the new one is gathered")
        self._make_live(path)
        return Store.open(path, self.processors)

    def _keeper(self, store: Store) -> Runtime | Projector:
        """What keeps a memory up to date: it folds the log, or gathers what workers fold. Closes `store` on errors."""
        try:
            if isinstance(self.log, SqliteLog):
                return Runtime(self.log, store, self.processors)
            from streams.logs.kafka.log import KafkaLog
            from streams.runtime.kafka.projector import Projector

            assert isinstance(self.log, KafkaLog)
            return Projector(self.log, store, self.processors, self.meters)
        except BaseException:
            store.close()
            raise

    def bring_up(self, keeper: Runtime | Projector) -> None:
        """Brings a memory to the log's end; where workers do not get there, as far as they did, and says so."""
        if isinstance(keeper, Runtime):
            keeper.catch_up(self.progress)
        elif lagging := keeper.reach_end(self.progress):
            self.warn(f"not all of the log is in this answer: {lagging}; does its `mnemolog worker` run?")

    def live_params(self) -> dict[str, Params]:
        """The parameters of live; defaults for those it was not folded with."""
        stored = orjson.loads(self.log.noted("params") or "{}")
        try:
            return all_params(self.processors, stored)
        except ValueError:  # this version of the program took a parameter away or narrowed its range
            known = {name: set(params.model_fields) for name, params in all_params(self.processors, {}).items()}
            kept = {name: {k: v for k, v in stored.get(name, {}).items() if k in known[name]} for name in known}
            with suppress(ValueError):
                return all_params(self.processors, kept)
            return all_params(self.processors, {})

    def _make_live(self, path: Path) -> None:
        params = self.live_params()
        fresh = self.path / ".live.fresh"
        for leftover in (fresh, Path(f"{fresh}.wal")):
            leftover.unlink(missing_ok=True)
        meta = memory_meta(self.log, LIVE, self.processors, params, partial="")
        Store.create(fresh, self.processors, meta).close()
        fresh.replace(path)

    @contextmanager
    def live(self, wait: float = PATIENCE) -> Iterator[Runtime | Projector]:
        """Live, folded to the log's end, with the writer lock held."""
        with self.holding(wait):
            runtime = self.open_live()
            try:
                self.bring_up(runtime)
                yield runtime
            finally:
                runtime.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    def ask(self, what: str, memory: str = LIVE, **arguments: Any) -> Any:
        """The answer of `projections.ask` to `what`, over live as of the log's end or over another memory.

        A JSON value. Raises what the question raises, and BusyError when nobody can answer.
        """
        if memory != LIVE:
            connection = stores.read_only(self.memory_path(memory))
            try:
                with closing(Recalling(self, memory, connection)) as recalling:
                    return asks.answer(connection, what, arguments, recalling.recall)
            finally:
                connection.close()
        return self.request({"ask": what, "arguments": arguments})

    def request(self, message: dict[str, Any], patience: float = AFTER_PATIENCE) -> Any:
        """Has the holder of live carry out a request, or becomes the holder for it.

        Waits until live holds `after`; raises BehindError where that takes longer than `patience` seconds.
        """
        if self.after:
            message = message | {"after": self.after}
        deadline = time.monotonic() + patience
        while True:
            try:
                return self._through_holder(message, lambda: self._answer_alone(message))
            except BehindError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.02)

    def _answer_alone(self, message: dict[str, Any]) -> Any:
        with self.live(wait=0.0) as runtime, closing(Office(self, runtime)) as office:
            return office.carry_out(message)

    def _through_holder(self, message: dict[str, Any], alone: Callable[[], Any]) -> Any:
        """The holder's answer; that of `alone` where nobody holds live; waits while a command holds it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(HolderLeftError):
                return self._ask_holder(message)
            try:
                return alone()
            except BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.02)

    def _ask_holder(self, message: dict[str, Any]) -> Any:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.socket_path))
                with connection.makefile("rwb") as stream:
                    stream.write(orjson.dumps(message) + b"\n")
                    stream.flush()
                    answer = stream.readline()
        except (OSError, ValueError) as error:
            raise HolderLeftError from error
        if not answer.endswith(b"\n"):
            raise HolderLeftError
        found = orjson.loads(answer)
        if "error" in found:
            raise ERRORS.get(found["kind"], MnemologError)(found["error"], found["way_out"])
        return found["answer"]

    @property
    def socket_path(self) -> Path:
        """Where the holder answers: in the home, or in a folder of the user's own where that path is too long."""
        path = self.path.resolve() / "socket"
        if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
            return path
        folder = Path(tempfile.gettempdir()) / f"mnemolog-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()

    def snapshot(self, after: str = "", patience: float = AFTER_PATIENCE) -> Path:
        """A consistent read-only copy of live, as new as the pace of copies allows, and as `after` where it is given.

        Of a live that this version of the program cannot fold further, a copy as it is.
        """
        try:
            return Path(self.request({"snapshot": True} | ({"after": after} if after else {}), patience))
        except MemoryFileError:
            with self.holding(PATIENCE):
                self._settle_live()
                shutil.copyfile(self.memory_path(LIVE), self.path / "snapshots" / "outdated.duckdb")
            return self.path / "snapshots" / "outdated.duckdb"

    def _settle_live(self) -> None:
        """Brings all of live into its one file, whatever folded it. The caller holds the writer lock."""
        connection = stores.connect(self.memory_path(LIVE))
        connection.execute("CHECKPOINT")
        connection.close()

    @contextmanager
    def reading(self, memory: str = LIVE) -> Iterator[stores.Connection]:
        """A read-only connection to a memory; to a snapshot of it, for live."""
        path = self.snapshot() if memory == LIVE else self.memory_path(memory)
        connection = stores.read_only(path)
        try:
            yield connection
        finally:
            connection.close()

    def promote(self, name: str) -> str:
        """Makes the memory `name` live; the name under which the old live is kept, "" where there was none.

        On Kafka, waits first until workers of its lineages have reached the log's end. Raises MemoryFileError for a
        memory that is no fold of the whole log with all processors of this program.
        """
        if not isinstance(self.log, SqliteLog):
            from streams.logs.kafka.log import KafkaLog
            from streams.runtime.kafka.promotion import prepare

            assert isinstance(self.log, KafkaLog)
            prepare(self.log, self.promotable(name), name, self.processors, self.progress, self.warn)
        return str(self._through_holder({"promote": name}, lambda: self._swap_alone(name)))

    def _swap_alone(self, name: str) -> str:
        with self.holding():
            return self.swap(name)

    def promotable(self, name: str) -> Store:
        """The memory `name`, open, which may become live. Raises MemoryFileError for one that may not."""
        chosen = self.memory_path(name)
        if name == LIVE or not chosen.exists():
            raise MemoryFileError(
                f"there is no memory {name!r} to promote", "`mnemolog memories` lists those there are"
            )
        store = Store.open(chosen, self.processors)
        if partial := store.meta("partial"):
            store.close()
            raise MemoryFileError(f"{name} is a fold of a part of the log ({partial})", "replay it without that limit")
        return store

    def swap(self, name: str) -> str:
        """Folds `name` to the log's end, then swaps the files: live is at every moment one of the two, whole.

        The caller holds the writer lock and has live closed.
        """
        live, chosen = self.memory_path(LIVE), self.memory_path(name)
        store = self.promotable(name)
        try:
            self._to_the_end(store)
            store.set_meta("name", LIVE)
            store.connection.execute("CHECKPOINT")
            params = store.meta("params")
        finally:
            store.close()
        kept = ""
        if live.exists():
            self._settle_live()
            kept = self._free_name()
            os.link(live, self.memory_path(kept))
        if not isinstance(self.log, SqliteLog):
            self.log.note("params", params)  # before the swap: what is noted is what other homes build anew
        if kept:
            _take_along(live, self.memory_path(kept))
        chosen.replace(live)
        _take_along(chosen, live)
        if isinstance(self.log, SqliteLog):
            self.log.note("params", params)
        (self.path / "snapshots" / "live.duckdb").unlink(missing_ok=True)
        return kept

    def _free_name(self) -> str:
        """A name under which an old live can be kept."""
        taken = set(self.memories())
        return next(free for n in range(1, 10_000) if (free := f"{LIVE}-{n}") not in taken)

    def _to_the_end(self, store: Store) -> None:
        """Brings a memory that is about to be live to the log's end. Raises MemoryFileError where workers lag."""
        keeper = self._keeper(store)
        if isinstance(keeper, Runtime):
            keeper.catch_up(self.progress)
            return
        try:
            if lagging := keeper.reach_end(self.progress):
                raise MemoryFileError(f"{store.path.stem} does not reach the log's end: {lagging}", "promote it again")
        finally:
            keeper.stop_reading()


def _take_along(memory: Path, to: Path) -> None:
    """Moves the recall index of a memory to where the memory goes; left behind, it would be made again."""
    for suffix in (".recall", ".recall-wal", ".recall-shm"):
        if (index := memory.with_suffix(suffix)).exists():
            index.replace(to.with_suffix(suffix))


class Recalling:
    """What a memory can recall: opened when it is called for, its index brought up to date each time."""

    def __init__(self, home: Home, memory: str, connection: stores.Connection) -> None:
        self._home = home
        self._path = home.memory_path(memory)
        self._connection = connection
        self._open: Recall | None = None

    def recall(self) -> Recall:
        """It, up to date with the memory. Raises MemoryFileError where there is no room for its index."""
        if self._open is None:
            from projections.recall.answers import Recall

            stored = orjson.loads(stores.read_meta(self._connection, "params"))
            processors = [p for p in self._home.processors if p.name in stored]
            self._open = Recall.of(self._path, self._connection, processors, all_params(processors, stored))
        self._open.index.catch_up(self._connection, self._home.progress)
        return self._open

    def keep_up(self) -> None:
        """Brings the index up to date where it was called for before: who asks next need not wait."""
        if self._open is not None:
            self.recall()

    def close(self) -> None:
        """Lets go of the index."""
        if self._open is not None:
            self._open.index.close()
            self._open = None


class Office:
    """What the holder of live does for itself and for others."""

    def __init__(self, home: Home, runtime: Runtime | Projector) -> None:
        self.home = home
        self.runtime = runtime
        self.recalling = Recalling(home, LIVE, runtime.store.connection)
        self._copied_marks: list[int] = []
        self._copied = 0.0
        self._copy_seconds = 0.0

    def close(self) -> None:
        """Lets go of the index of live; the runtime is whose who made it."""
        self.recalling.close()

    def carry_out(self, message: dict[str, Any]) -> Any:
        """The answer to one request, over live folded to the log's end."""
        match message:
            case {"ask": str(what), "arguments": dict(arguments)}:
                self.runtime.catch_up()
                self._hold(message.get("after") or arguments.pop("after", ""), self._marks())
                return asks.answer(self.runtime.store.connection, what, arguments, self.recalling.recall)
            case {"feed": list(events)}:
                return self._feed(events)
            case {"snapshot": True}:
                return self._snapshot(str(message.get("after", "")))
            case {"promote": str(name)}:
                return self._promote(name)
            case {"ping": True}:
                return {"pid": os.getpid(), "behind": self.runtime.behind()}
        raise UsageError("the request is not understood", "use the same version of mnemolog on both sides")

    def _feed(self, given: list[Any]) -> list[dict[str, Any]]:
        """Validates and appends events; what became of each, in order."""
        edge = Edge()
        taken: list[Outside] = []
        answers: list[dict[str, Any] | None] = []
        for fields in given:
            try:
                taken.append(edge.event(fields if isinstance(fields, dict) else {"type": None}))
                answers.append(None)
            except EdgeError as error:
                answers.append({"refused": str(error)})
        outcomes = iter(self.home.log.append(taken))
        return [_said(next(outcomes)) if answer is None else answer for answer in answers]

    def _marks(self) -> list[int]:
        return [self.runtime.store.mark(partition) for partition in range(self.home.log.partitions)]

    def _hold(self, after: str, marks: list[int]) -> None:
        """Raises BehindError where a memory with these `marks` does not hold the position `after` yet."""
        for partition, offset in parse_places(after, len(marks)).items() if after else ():
            if marks[partition] < offset:
                lagging = "" if isinstance(self.runtime, Runtime) else self.runtime.lagging({partition: offset + 1})
                raise BehindError(
                    f"live does not hold position {told_place(partition, offset)} yet, but all below "
                    f"{told_place(partition, marks[partition] + 1)}{f'; {lagging}' if lagging else ''}",
                    "see that the workers run, or ask for an earlier position"
                    if lagging
                    else "nothing was recorded there yet: ask for an earlier position",
                )

    def _snapshot(self, after: str = "") -> str:
        target = self.home.path / "snapshots" / "live.duckdb"
        pause = max(1.0, 20 * self._copy_seconds)
        if not target.exists() or time.monotonic() - self._copied >= pause:
            self.runtime.catch_up()
            self._copied_marks = self._marks()
            self._copy_seconds = self.runtime.store.snapshot(target)
            self._copied = time.monotonic()
        self._hold(after, self._copied_marks)
        return str(target)

    def _promote(self, name: str) -> str:
        self.close()
        self.runtime.close()
        try:
            return self.home.swap(name)
        finally:
            self.runtime = self.home.open_live()
            self.recalling = Recalling(self.home, LIVE, self.runtime.store.connection)
            self._copied = 0.0


def _said(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Stored(partition, offset):
            return {"stored": offset, "partition": partition}
        case Duplicate(partition, offset):
            return {"duplicate": offset, "partition": partition}
        case Refused(reason=reason):
            return {"refused": reason}


def serve(home: Home, stopped: Callable[[], bool], said: Callable[[str], None] = lambda line: None) -> None:
    """Folds and answers until `stopped`. Raises BusyError when another process serves this home."""

    def unless_stopped(done: int, total: int) -> None:
        if stopped():
            raise StoppedError

    with home.holding(START_PATIENCE), selectors.DefaultSelector() as selector:
        office = Office(home, home.open_live())
        path = home.socket_path
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(64)
            selector.register(listener, selectors.EVENT_READ)
            said(f"serving {home.path}, process {os.getpid()}")
            if waiting := office.runtime.behind():
                said(f"folding {waiting:,} events that wait in the log; questions are answered after that")
            try:
                while not stopped():
                    if office.runtime.catch_up(unless_stopped):
                        office.recalling.keep_up()
                    office.runtime.tick()
                    # Whoever asks connects first and is read next: to fold between the two would only make it wait.
                    for wait in (POLL, POLL / 10):
                        for key, _ in selector.select(wait):
                            _attend(selector, key, listener, office)
            except StoppedError:
                pass  # what was folded until then is committed; the rest waits in the log
            finally:
                path.unlink(missing_ok=True)
                for key in list(selector.get_map().values()):
                    if key.data is not None:
                        _hang_up(selector, key)
                office.close()
                office.runtime.close()


def _attend(
    selector: selectors.BaseSelector, key: selectors.SelectorKey, listener: socket.socket, office: Office
) -> None:
    if key.fileobj is listener:
        connection, _ = listener.accept()
        connection.settimeout(10)
        selector.register(connection, selectors.EVENT_READ, connection.makefile("rwb"))
        return
    stream: BinaryIO = key.data
    try:
        line = stream.readline()
        if line:
            stream.write(_reply(office, line))
            stream.flush()
            return
    except OSError:
        pass
    _hang_up(selector, key)


def _hang_up(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    selector.unregister(key.fileobj)
    with suppress(OSError):
        key.data.close()
    key.fileobj.close()  # type: ignore[union-attr]


def _reply(office: Office, line: bytes) -> bytes:
    try:
        return orjson.dumps({"answer": office.carry_out(orjson.loads(line))}) + b"\n"
    except MnemologError as error:
        known = {"error": str(error), "way_out": error.way_out, "kind": type(error).__name__}
        return orjson.dumps(known) + b"\n"
    except ValueError as error:
        known = {"error": f"the request is not JSON: {error}", "way_out": "", "kind": "UsageError"}
        return orjson.dumps(known) + b"\n"
