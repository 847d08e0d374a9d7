"""The thread of a server that folds: it alone writes live. Others ask it for a state, or to do something with live.

It folds in batches while turns keep coming, and at once when somebody asks; what it folded is committed beside it (see
`streams.runtime.fold.Ahead`). Live is derived: where it breaks (no room, a fatal error), it is opened again, and until
that works questions are answered with what is wrong; the log goes on.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from projections.store import put_in_place, rewrite
from streams.core.errors import (
    BrokenError,
    BusyError,
    ForeignError,
    LogError,
    MnemologError,
    NoRoomError,
    UnreadableError,
    counted,
)
from streams.runtime import LIVE
from streams.runtime.home.keeper import DENSE, open_served, put_away
from streams.runtime.home.office import Office
from streams.runtime.requests import Ask, Call, Look, Promote, Snapshot, Switch
from streams.runtime.telemetry import asked

if TYPE_CHECKING:
    from streams.runtime.home import Home

PAUSE = 0.05
"""Seconds between two folds that nobody waits for: a commit costs the same for one turn as for fifty."""
TICK = 0.2
"""Seconds between looks for deadlines that have passed."""
IDLE = 5.0
"""Seconds without a turn after which live's file is looked at, and written anew where that makes it much smaller."""
GIVE_WAY = 2.0
"""Seconds that batches are let go before a fold."""
REOPEN = 1.0
"""Seconds between tries to open a live that is broken."""
CRAMPED = 5.0
"""Seconds between tries to fold where there was no room to commit."""
INDEX = 2.0
"""Seconds after which who asks what live can recall is told how far its index is, while that is made: to wait would
keep one of the threads from others."""


class StoppedError(Exception):
    """The server was told to stop while it waited or folded."""


class Folding:
    """Live, and the thread that folds into it."""

    def __init__(self, home: Home, office: Office, patience: float = threading.TIMEOUT_MAX) -> None:
        """`patience`: the seconds after which who asks is told how much is still to be folded."""
        self.office = office
        self._patience = patience
        self._home = home
        self._changed = threading.Condition()
        self._jobs: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._asked = 0
        """How often somebody wanted what the log holds."""
        self._done = 0
        """Up to which of these it was folded."""
        self._of_tables = 0
        """Those who read tables, or wait to: nothing is folded ahead of them."""
        self._readers = 0
        self._alone = False
        """Whether nobody may read: live is closed, or another takes its place."""
        self._broken: MnemologError | None = None
        self._over = False
        self._cramped = 0.0
        """Until when nothing is folded, for there was no room; what is asked is answered as far as live goes."""
        self._lacked = -math.inf
        """When there was last no room."""
        self._ticked = 0.0
        self._folded = 0.0
        """When something was last folded; 0 where the file was looked at since."""
        self._tidying: threading.Thread | None = None
        self._indexing: threading.Thread | None = None
        self._thread = threading.Thread(target=self._run, name="folding", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the batch that is folded just now, and closes live."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self._thread.join()
        for _, future in self._jobs:
            future.set_exception(BrokenError("the server stops", "ask again"))
        for beside in (self._tidying, self._indexing):
            if beside is not None:
                beside.join()
        with suppress(Exception):  # it may be closed, or broken beyond that
            self.office.close()
        with suppress(Exception):
            put_away(self._home, self.office.runtime)

    @contextmanager
    def reading(self, tables: bool = True) -> Iterator[Office]:
        """Live with all that the log holds now; it stays open meanwhile. Raises BrokenError where it cannot be had, and
        BusyError where that takes longer than the patience.

        What was folded last may lie in no table yet where no `tables` are read.
        """
        with self._changed:
            self._of_tables += tables
        try:
            self._begin()
            try:
                yield self.office
            finally:
                with self._changed:
                    self._readers -= 1
        finally:
            with self._changed:
                self._of_tables -= tables
                self._changed.notify_all()

    def _begin(self) -> None:
        deadline = time.monotonic() + self._patience
        with self._changed:
            self._asked += 1
            mine = self._asked
            self._changed.notify_all()
            while self._done < mine or self._alone:
                if self._over:
                    raise BrokenError("the server stops", "ask again")
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
            else:
                if self._broken is not None:
                    raise self._broken
                self._readers += 1
                return
        raise self._busy()

    def _busy(self) -> BusyError:
        """Why who asks does not get live yet."""
        if self._alone:
            return BusyError("live is being opened anew", "ask again in a while")
        waiting = counted(self.office.runtime.behind(), "event")
        return BusyError(f"{waiting} of the log are still to be folded", "ask again in a while; it goes on meanwhile")

    def answer(self, call: Call) -> Any:
        """The answer to one call."""
        try:
            return self._answer(call)
        except UnreadableError as error:
            self._suspect(error)
            raise

    def _answer(self, call: Call) -> Any:
        match call:
            case Ask():
                with self.reading(self.office.reads_tables(call)) as office:
                    return asked(call.ask, call.arguments, partial(office.ask, call))
            case Snapshot():
                with self.reading():
                    pass
                return self.do(lambda: self.office.snapshot(call.after))
            case Promote() | Switch() | Look():  # when nobody reads
                return self.do(lambda: self._alone_with(lambda: self.office.answer(call)))
        return self.office.answer(call)

    def _suspect(self, error: BrokenError) -> None:
        """Has live closed, looked through and opened again, for a question could not read it."""

        def fail() -> None:
            raise OSError(str(error))

        with suppress(BrokenError):
            self._begin_job(fail)

    def do(self, job: Callable[[], Any]) -> Any:
        """What `job` returns, done by the thread that folds, between two folds."""
        return self._begin_job(job).result()

    def _begin_job(self, job: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        with self._changed:
            if self._over:
                raise BrokenError("the server stops", "ask again")
            self._jobs.append((job, future))
            self._changed.notify_all()
        return future

    def _alone_with(self, job: Callable[[], Any]) -> Any:
        with self._changed:
            self._alone = True
            while self._readers:
                self._changed.wait()
        try:
            return job()
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._over:
            try:
                if self._broken is not None:
                    self._alone_with(self._reopen)
                self._give_way()
                self._round()
                self._rest(PAUSE)
            except StoppedError:
                return
            except NoRoomError as error:
                self._go_back(error)
            except Exception as error:  # why any: live is derived, and the server must go on taking turns
                self._fail(error)
                self._rest(REOPEN)

    def _round(self) -> None:
        runtime = self.office.runtime
        with self._changed:
            wanted, ahead = self._asked, not self._of_tables
        try:
            folded = 0 if time.monotonic() < self._cramped else runtime.catch_up(self._unless_over, ahead=ahead)
        except ForeignError:  # an erasure made a new log: who asks waits for the live of that
            self._alone_with(self._reopen)
            runtime = self.office.runtime
            folded = runtime.catch_up(self._unless_over, ahead=ahead)
        with self._changed:
            self._done = wanted
            self._changed.notify_all()
            jobs = len(self._jobs)
        is_idle = not folded and bool(self._folded) and time.monotonic() - self._folded > IDLE
        settled = runtime.settle(soon=not (jobs or is_idle))
        for _ in range(jobs):  # why taken one by one: whoever waits for one that is never begun is told by `_fail`
            self._carry_out(*self._jobs.popleft())
        if folded:
            self._folded = time.monotonic()
        if self.office.recalling.is_behind:
            self._index()
        elif folded or settled:
            self.office.keep_up()
        if time.monotonic() - self._ticked >= TICK:
            self._ticked = time.monotonic()
            with suppress(LogError):  # no room: it is told of later
                self.office.runtime.tick()
        if is_idle:
            self._folded = 0.0
            self._tidy()

    def _index(self) -> None:
        """Begins to make the index of live, where it is not being made: folding goes on meanwhile."""
        if self._indexing is None or not self._indexing.is_alive():
            self._indexing = threading.Thread(target=self._make_index, name="indexing", daemon=True)
            self._indexing.start()

    def _make_index(self) -> None:
        with suppress(MnemologError):  # who asks is told
            self.office.keep_up(self._unless_closed)

    def _unless_closed(self, done: int, total: int) -> None:
        if self._over or self._alone:
            raise BrokenError("live is closed just now", "ask again")

    def _tidy(self) -> None:
        """Begins to write live's file anew, where it is worth it and not being done."""
        if (self._tidying is None or not self._tidying.is_alive()) and self.office.runtime.is_sparse():
            source = self._home.path / ".live.sparse"
            self.office.runtime.store.snapshot(source)
            self._tidying = threading.Thread(target=self._rewrite, args=(source, self._marks()), daemon=True)
            self._tidying.start()

    def _marks(self) -> list[Any]:
        marks = [self.office.runtime.store.mark(partition) for partition in range(self._home.log.partitions)]
        return [self._home.log.id, *marks]

    def _rewrite(self, source: Path, marks: list[Any]) -> None:
        """Writes a copy of live anew, beside it; then that takes its place, unless live has gone on."""
        dense = self._home.path / DENSE

        def take_its_place() -> None:
            if self._marks() == marks:
                self._close()
                put_in_place(dense, self._home.memory_path(LIVE))
                self.office = Office(self._home, open_served(self._home), INDEX)

        with suppress(MnemologError, OSError):  # it stays as large as it is
            rewrite(source, dense, self._home.processors)
            self.do(lambda: self._alone_with(take_its_place))
        for left in (source, dense):
            left.unlink(missing_ok=True)

    def _carry_out(self, job: Callable[[], Any], future: Future[Any]) -> None:
        try:
            future.set_result(job())
        except MnemologError as error:
            future.set_exception(error)
        except BaseException as error:
            future.set_exception(error)
            raise

    def _unless_over(self, done: int, total: int) -> None:
        self._give_way()
        if self._over:
            raise StoppedError

    def _give_way(self) -> None:
        """Waits while batches come that are to be durable, for GIVE_WAY seconds at most, unless somebody asks: what is
        folded later is lost to nobody, and who feeds waits."""
        since = time.monotonic()
        with self._changed:
            while (
                self.office.runtime.is_flooded()
                and self._done == self._asked
                and not (self._jobs or self._over)
                and time.monotonic() - since < GIVE_WAY
            ):
                self._changed.wait(PAUSE)

    def _rest(self, seconds: float) -> None:
        with self._changed:
            if self._done == self._asked and not self._jobs and not self._over:
                self._changed.wait(seconds)

    def _fail(self, error: Exception) -> None:
        """Lets those who wait know."""
        with self._changed:
            said = str(error).splitlines()[:1] or [type(error).__name__]
            self._broken = BrokenError(f"live cannot be kept up to date: {said[0]}", "`mnemolog doctor` tells more")
            self._done = self._asked
            jobs = [*self._jobs]
            self._jobs.clear()
            self._changed.notify_all()
        for _, future in jobs:
            future.set_exception(self._broken)

    def _go_back(self, error: NoRoomError) -> None:
        """Has live be as it was last committed; where there was no room before, too, nothing is folded for a while."""
        now = time.monotonic()
        if now - self._lacked < 2 * CRAMPED:
            self._cramped = now + CRAMPED
        self._lacked = now
        try:
            self._alone_with(self._reopen_unread)
        except Exception:
            self._fail(error)
            self._rest(REOPEN)

    def _reopen_unread(self) -> None:
        self._close()
        self.office = Office(self._home, open_served(self._home), INDEX)
        self._broken = None

    def _reopen(self) -> None:
        self._close()
        self.office = Office(self._home, open_served(self._home, suspect=True), INDEX)
        self._broken = None

    def _close(self) -> None:
        with suppress(Exception):  # it may be closed, or broken beyond that
            self.office.close()
        with suppress(Exception):
            self.office.runtime.close()
