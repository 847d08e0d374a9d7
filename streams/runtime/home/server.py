"""The server: holds live, folds what comes, and answers other processes on a socket.

One thread moves bytes and waits for nothing else; one appends (appending.py), one folds (folding.py), some answer
questions. A request is a line of JSON, so is its answer; those of one connection are answered in order.
"""

from __future__ import annotations

import math
import os
import resource
import selectors
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from projections.aside import free_of_folder, unheard
from projections.garbage import rare_collections
from streams.core.errors import BrokenError, BusyError, MnemologError, OutdatedError, UsageError
from streams.core.halves import whole_text
from streams.runtime.home.appending import Appending
from streams.runtime.home.client import PROMPT, HolderLeftError, address, ask_holder, check_peer
from streams.runtime.home.folding import INDEX, Folding, StoppedError
from streams.runtime.home.keeper import open_served
from streams.runtime.home.office import Office
from streams.runtime.requests import MAX_REQUEST, Call, Feed, Leave, decode, parse

if TYPE_CHECKING:
    from streams.runtime.home import Home
    from streams.runtime.home.keeper import Keeper

BACKLOG = 4096
"""Connections that wait to be taken; the system may allow fewer."""
THREADS = 8
"""Questions answered at once."""
LOOK = 0.05
"""Seconds after which a stop is noticed."""
STALLED = 30.0
"""Seconds within which a request that was begun must end, and an answer must be taken."""
LEAVING = 30.0
"""Seconds that a server which makes way gives to what it is answering: as long as a question may take."""
SMALL = 64 * 1024
"""Bytes of a request that is read at once; longer ones take a thread."""
FOLD = 5.0
"""Seconds after which who asks is told how much is still to be folded: whoever waits keeps one of the threads from
others, and does not know what for."""
SPARE = 128
"""Descriptors kept for files."""
MOST = 8192
"""Connections at once where the system sets no limit."""
QUIET = 1.0
"""Seconds without a request after which a connection gives its place to one that waits, where all are taken."""
SWITCH = 0.001
"""Seconds after which a thread that computes lets others have a turn: who moves bytes must not wait for a fold."""


class Connection:
    """A connection, and what is on its way."""

    def __init__(self, socket: socket.socket) -> None:
        self.socket = socket
        self.inbox = bytearray()
        self.searched = 0
        """Bytes of the inbox that hold no end of a line."""
        self.outbox = bytearray()
        self.busy = False
        """Whether a request of it is being answered; the next one waits."""
        self.ended = False
        """Whether nothing more is read from it."""
        self.deaf = False
        """Whether what it still sends is thrown away: it sent too much, and is told when it has done so."""
        self.since = time.monotonic()
        """When something last moved."""

    def line(self) -> bytes | None:
        """The next request; None where none is whole yet."""
        end = self.inbox.find(b"\n", self.searched)
        if end < 0:
            self.searched = len(self.inbox)
            return None
        found = bytes(self.inbox[:end])
        del self.inbox[: end + 1]
        self.searched = 0
        return found

    def is_quiet(self, now: float) -> bool:
        """Whether nothing is on its way, and nothing was for a while."""
        return not (self.busy or self.inbox or self.outbox or self.deaf) and now - self.since > QUIET

    def is_stalled(self, now: float) -> bool:
        """Whether half a request, or an answer that nobody takes, lies here for too long."""
        return not self.busy and bool(self.inbox or self.outbox or self.deaf) and now - self.since > STALLED


class Listener:
    """The socket at which others find the server of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.folder.socket
        self.socket = self._made()

    def _made(self) -> socket.socket:
        free_of_folder(self._path, self._home.warn)
        self._path.unlink(missing_ok=True)
        made = socket.socket(socket.AF_UNIX)
        try:
            with address(self._path) as short:
                made.bind(short)
            self._path.chmod(0o600)
            made.listen(BACKLOG)
            made.setblocking(False)
            self._file = self._path.lstat().st_ino
        except BaseException:
            made.close()
            raise
        return made

    def is_there(self) -> bool:
        """Whether others can find it."""
        with suppress(OSError):
            return self._path.lstat().st_ino == self._file
        return False

    def renew(self) -> None:
        """Makes it again, where something has become of its file. Raises BrokenError where the home is gone."""
        if not self._home.path.exists():
            raise BrokenError(f"{self._home.path} is gone", "name another home with --home")
        fresh = self._made()
        self.socket.close()
        self.socket = fresh

    def close(self) -> None:
        """Listens no more."""
        self.socket.close()
        if self.is_there():
            self._path.unlink(missing_ok=True)


class Server:
    """The thread that moves bytes."""

    def __init__(
        self, listener: Listener, appending: Appending, answer: Callable[[Call], Any], makes_way: bool = False
    ) -> None:
        """`answer` gives the answer to a call; it is called in one of several threads. Who `makes_way` ends when it is
        asked to."""
        self._appending = appending
        self._call = answer
        self._listener = listener
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = MOST if most == resource.RLIM_INFINITY else max(16, most - SPARE)
        self._selector = selectors.DefaultSelector()
        self._connections: set[Connection] = set()
        self._threads = ThreadPoolExecutor(THREADS, "question")
        self._large = ThreadPoolExecutor(1, "large")
        self._replies: deque[tuple[Connection, bytes]] = deque()
        self._woken, self._waker = socket.socketpair()
        self._accepting = False
        self._asked = time.monotonic()
        self._makes_way = makes_way
        self._leaves = math.inf
        """When it ends at the latest, having been asked to make way."""

    @property
    def is_leaving(self) -> bool:
        """Whether it was asked to make way."""
        return self._leaves < math.inf

    def is_idle(self, seconds: float) -> bool:
        """Whether nothing was asked for so long, and nothing is being answered."""
        return time.monotonic() - self._asked > seconds and not any(c.busy for c in self._connections)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Moves bytes until `stopped`."""
        for end in (self._woken, self._waker):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        try:
            looked = 0.0
            while not stopped() and not self._has_left():
                self._take_part()
                for key, events in self._selector.select(LOOK):
                    self._attend(key, events)
                self._deliver()
                if (now := time.monotonic()) - looked > 1:
                    looked = now
                    for connection in [c for c in self._connections if c.is_stalled(now)]:
                        self._hang_up(connection)
                    if not self.is_leaving and not self._listener.is_there():
                        self._listen_again()
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._large.shutdown(wait=False, cancel_futures=True)
            for connection in [*self._connections]:
                self._hang_up(connection)
            self._selector.close()
            self._woken.close()
            self._waker.close()

    def _take_part(self) -> None:
        """Takes new connections while there is room for them; others wait in the backlog. None once it makes way."""
        room = not self.is_leaving and self._has_room()
        if room and not self._accepting:
            self._selector.register(self._listener.socket, selectors.EVENT_READ)
        elif self._accepting and not room:
            self._selector.unregister(self._listener.socket)
        self._accepting = room
        if self.is_leaving:
            self._listener.close()

    def _has_left(self) -> bool:
        """Whether it makes way, and has answered whatever it had begun with. What was not begun is asked anew, of who
        comes next."""
        if not self.is_leaving:
            return False
        for connection in [c for c in self._connections if not c.busy and not c.outbox]:
            self._hang_up(connection)
        return not self._connections or time.monotonic() > self._leaves

    def _listen_again(self) -> None:
        """Has others find it again: while it holds live, nobody can answer in its place."""
        if self._accepting:
            self._selector.unregister(self._listener.socket)
            self._accepting = False
        with suppress(OSError):  # no room: a second later, then
            self._listener.renew()

    def _attend(self, key: selectors.SelectorKey, events: int) -> None:
        if key.fileobj is self._listener.socket:
            self._accept()
        elif key.fileobj is self._woken:
            with suppress(BlockingIOError):
                self._woken.recv(65536)
        else:
            connection: Connection = key.data
            try:
                if events & selectors.EVENT_WRITE:
                    self._write(connection)
                if events & selectors.EVENT_READ:
                    self._read(connection)
            except OSError:
                self._hang_up(connection)

    def _has_room(self) -> bool:
        return len(self._connections) < self._most or self._quietest() is not None

    def _quietest(self) -> Connection | None:
        """The connection on which nothing was said for the longest time; None where all are used."""
        now = time.monotonic()
        return min((c for c in self._connections if c.is_quiet(now)), key=lambda c: c.since, default=None)

    def _accept(self) -> None:
        while self._has_room():
            try:
                taken, _ = self._listener.socket.accept()
            except OSError:  # nobody waits any more, or there is no room
                return
            try:
                check_peer(taken)
            except OSError:
                taken.close()
                continue
            taken.setblocking(False)
            if len(self._connections) >= self._most and (quiet := self._quietest()):
                self._hang_up(quiet)
            connection = Connection(taken)
            self._connections.add(connection)
            self._selector.register(taken, selectors.EVENT_READ, connection)

    def _hang_up(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
            with suppress(KeyError):
                self._selector.unregister(connection.socket)
            connection.socket.close()

    def _read(self, connection: Connection) -> None:
        with suppress(BlockingIOError):
            found = connection.socket.recv(262_144)
            connection.ended = not found
            if not connection.deaf:
                connection.since = time.monotonic()
                connection.inbox += found
            self._go_on(connection)

    def _write(self, connection: Connection) -> None:
        with suppress(BlockingIOError):
            sent = connection.socket.send(connection.outbox)
            del connection.outbox[:sent]
            connection.since = time.monotonic()
        self._go_on(connection)

    def _go_on(self, connection: Connection) -> None:
        """Begins with the next request where none is being answered, and says what to wait for."""
        if not connection.busy and not connection.outbox and not self.is_leaving:
            line = connection.line()
            if line is not None:
                connection.busy = True
                self._asked = time.monotonic()
                self._begin(connection, line)
            elif len(connection.inbox) > MAX_REQUEST:
                connection.inbox.clear()
                connection.deaf = True
                connection.outbox += _failed(UsageError("the request is too long", f"at most {MAX_REQUEST:,} bytes"))
            elif connection.ended:
                self._hang_up(connection)
                return
        wanted = selectors.EVENT_WRITE if connection.outbox else 0
        if not connection.ended and len(connection.inbox) <= MAX_REQUEST:
            wanted |= selectors.EVENT_READ
        self._wait_for(connection, wanted)

    def _wait_for(self, connection: Connection, wanted: int) -> None:
        known = connection.socket in self._selector.get_map()
        if wanted and known:
            self._selector.modify(connection.socket, wanted, connection)
        elif wanted:
            self._selector.register(connection.socket, wanted, connection)
        elif known:
            self._selector.unregister(connection.socket)

    def _begin(self, connection: Connection, line: bytes) -> None:
        if len(line) > SMALL:
            self._large.submit(self._dispatch, connection, line)
        else:
            self._dispatch(connection, line)

    def _dispatch(self, connection: Connection, line: bytes) -> None:
        """Finds out what is asked, and hands it to the thread that does it."""

        def reply(answer: Any) -> None:
            self._replies.append((connection, encoded(answer)))
            with suppress(OSError):  # it is awake, or gone
                self._waker.send(b"!")

        try:
            call = parse(decode(line))
        except Exception as error:
            reply(error)
            return
        if isinstance(call, Feed):
            self._appending.put(call, reply)
        elif isinstance(call, Leave):
            if call.leave and self._makes_way:
                self._leaves = min(self._leaves, time.monotonic() + LEAVING)
            reply({"pid": os.getpid(), "leaves": self._makes_way})
        else:
            self._threads.submit(self._answer, call, reply)

    def _answer(self, call: Call, reply: Callable[[Any], None]) -> None:
        try:
            reply(self._call(call))
        except BaseException as error:
            reply(error)

    def _deliver(self) -> None:
        """Sends what other threads have answered."""
        while self._replies:
            connection, answer = self._replies.popleft()
            if connection in self._connections:
                connection.busy = False
                connection.outbox += answer
                try:
                    self._write(connection)
                except OSError:
                    self._hang_up(connection)


def encoded(answer: Any) -> bytes:
    """An answer as a line: what was found, or what is wrong and the way out."""
    if isinstance(answer, BaseException):
        return _failed(BrokenError.of(answer))
    try:
        return orjson.dumps({"answer": answer}, option=orjson.OPT_NON_STR_KEYS) + b"\n"
    except TypeError as error:
        return encoded(error)


def _failed(error: MnemologError) -> bytes:
    told = {"error": str(error), "way_out": error.way_out, "kind": type(error).__name__}
    try:
        return orjson.dumps(told) + b"\n"
    except TypeError:  # it quotes what is no text
        return orjson.dumps({key: whole_text(text) for key, text in told.items()}) + b"\n"


def check_free(home: Home, makes_way: bool = False, leave: bool = False) -> None:
    """Raises BusyError where another serves the home, unless that one makes way and who asks does not; and SilentError
    where it does not answer.

    With `leave` it is asked to.
    """
    with suppress(HolderLeftError):
        try:
            found = ask_holder(home.folder.socket, {"leave": leave and not makes_way}, PROMPT)
        except UsageError:  # of a version that makes way for nobody
            found = ask_holder(home.folder.socket, {"ping": True}, PROMPT) | {"leaves": False}
        if makes_way or not found["leaves"]:
            raise BusyError(
                f"process {found['pid']} serves {home.path} already",
                f"commands and programs ask it by themselves; to serve anew, end it first: kill {found['pid']}",
            )


def serve(
    home: Home, stopped: Callable[[], bool], said: Callable[[str], None] = unheard, idle: float = math.inf,
    makes_way: bool = False,
) -> None:  # fmt: skip
    """Folds and answers until `stopped`, or until nobody asked for `idle` seconds; waits first while a command folds.

    A server that nobody started by hand `makes_way`: it ends when one that does not comes, which waits for that.

    Of a home in shards nothing is folded here: their projectors do, and are asked.

    Raises BusyError when another process serves this home, and does not make way.
    """

    def look() -> None:
        if stopped():
            raise StoppedError
        check_free(home, makes_way, leave=True)

    # Why seldom: to look for garbage among all that is held of spaces takes a tenth of a second.
    with suppress(StoppedError), home.folder.holding(math.inf, look), rare_collections():
        if shards := home.shards:
            shards.mend()
            with shards.keeping():
                _serve(home, shards.answer, stopped, said, idle, makes_way)
            return
        folding = Folding(home, Office(home, open_served(home), INDEX), FOLD)
        switch = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            runtime = folding.office.runtime
            notice = _notice(runtime)
            folding.start()
            _serve(home, folding.answer, stopped, said, idle, makes_way, notice)
        finally:
            sys.setswitchinterval(switch)
            folding.stop()


def _notice(keeper: Keeper) -> str:
    """What a person who starts a server should know; "" where all is folded."""
    if keeper.missing:
        questions = "answered without it"
        try:
            keeper.check_askable()
        except OutdatedError:
            questions = "refused until then"
        return f"nothing can be folded, for {keeper.missing}; what comes is recorded, and questions are {questions}"
    if waiting := keeper.behind():
        return f"folding {waiting:,} events that wait in the log; questions are answered after that"
    return ""


def _serve(
    home: Home, answer: Callable[[Call], Any], stopped: Callable[[], bool], said: Callable[[str], None], idle: float,
    makes_way: bool, notice: str = "",
) -> None:  # fmt: skip
    appending = Appending(home.path)
    listener = Listener(home)
    appending.start()
    try:
        said(f"serving {home.path}, process {os.getpid()}")
        if notice:
            said(notice)
        server = Server(listener, appending, answer, makes_way)
        server.run(lambda: stopped() or server.is_idle(idle))
        if server.is_leaving:
            said("another server was started: making way for it")
    finally:
        listener.close()
        appending.stop()
