"""What the holder of live does for others: answers questions, takes events, makes copies, promotes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from projections import ask as asks
from streams.core.driver import told_aside
from streams.core.errors import BehindError, MnemologError, UsageError
from streams.core.progress import Progress, no_progress
from streams.logs.where import parse_places, told_place
from streams.runtime import LIVE
from streams.runtime.erasure import take_place
from streams.runtime.home.appending import feed
from streams.runtime.home.keeper import open_served
from streams.runtime.home.promotion import swap
from streams.runtime.home.recalling import Recalling
from streams.runtime.home.snapshots import Snapshots
from streams.runtime.requests import Ask, Call, Feed, Look, Ping, Promote, Snapshot, Switch, parse

if TYPE_CHECKING:
    from streams.runtime.home import Home
    from streams.runtime.home.keeper import Keeper

T = TypeVar("T")


class Office:
    """What the holder of live does, one request at a time; the server shares it out over threads."""

    def __init__(self, home: Home, runtime: Keeper, patience: float = math.inf) -> None:
        """`patience`: the seconds after which who asks is told how far the index of live is, while it is made."""
        self.home = home
        self.runtime = runtime
        self.recalling = Recalling(home, LIVE, lambda: self.runtime.view(), patience)
        self._snapshots = Snapshots(home)

    def close(self) -> None:
        """Brings what was folded into the tables, as far as there is room, and lets go of the index of live.

        The runtime is whose who made it.
        """
        try:
            with suppress(MnemologError):  # what is not there is folded again by the next who opens it
                if self.runtime.settle():
                    self.keep_up()
        finally:
            self.recalling.close()

    def keep_up(self, progress: Progress = no_progress) -> None:
        """Brings the index of live up to date where it was called for before."""
        with closing(self.runtime.store.connection.cursor()) as cursor:
            self.recalling.keep_up(cursor, progress)

    def carry_out(self, message: Any) -> Any:
        """The answer to one request, over live folded to the log's end. Raises UsageError for what is no request."""
        return self.answer(parse(message))

    def answer(self, call: Call) -> Any:
        """The answer to one call."""
        match call:
            case Ask():
                self.runtime.catch_up(ahead=not self.reads_tables(call))
                return self.ask(call)
            case Feed():
                return feed([call], self.home.log)[0]
            case Snapshot():
                return self.snapshot(call.after)
            case Promote():
                return self.promote(call.promote)
            case Switch():
                return self.switch()
            case Look():
                return self._closed(lambda: None, suspect=True)
            case Ping():
                said = {"aside": told_aside(self.runtime.aside()), "missing": self.runtime.missing}
                return {"pid": os.getpid(), "behind": self.runtime.behind()} | said
        raise UsageError("the request is not understood", "use the same version of mnemolog on both sides")

    def reads_tables(self, call: Call) -> bool:
        """Whether what is asked may need what only the tables of live hold."""
        return not isinstance(call, Ask) or asks.reads_tables(call.ask, call.question.given(), self.home.processors)

    def ask(self, call: Ask) -> Any:
        """The answer to a question, over live as far as it goes. Raises OutdatedError where another version made it."""
        self.runtime.check_askable()
        question = call.question
        self._hold(call.after or question.after, self._marks())
        given = question.given()
        if not self.reads_tables(call):
            return asks.answer_at_once(self.runtime.store.connection, call.ask, given, self.recalling)
        return asks.answer(self.runtime.store.connection, call.ask, given, self.recalling, question.seconds)

    def _marks(self) -> list[int]:
        view = self.runtime.view()
        return [view.mark(partition) for partition in range(self.home.log.partitions)]

    def _hold(self, after: str, marks: list[int]) -> None:
        """Raises BehindError where a memory with these `marks` does not hold the position `after` yet."""
        for partition, offset in parse_places(after, len(marks)).items() if after else ():
            if partition in self.home.partitions and marks[partition] < offset:
                lagging = self.runtime.lagging({partition: offset + 1})
                raise BehindError(
                    f"live does not hold position {told_place(partition, offset)} yet, but all below "
                    f"{told_place(partition, marks[partition] + 1)}{f'; {lagging}' if lagging else ''}",
                    "see to that, for example that the workers run, or ask for an earlier position"
                    if lagging
                    else "nothing was recorded there yet: ask for an earlier position",
                )

    def snapshot(self, after: str = "") -> str:
        """A copy of live that holds `after`; its path."""
        if self._snapshots.is_due():
            self.runtime.catch_up()
            self._snapshots.make(self.runtime.store, self._marks())
        self._hold(after, self._snapshots.marks)
        return str(self._snapshots.target)

    def promote(self, name: str) -> str:
        """Makes a memory live; the name under which the old live is kept. Nobody asks meanwhile."""
        return self._closed(lambda: swap(self.home, name))

    def switch(self) -> None:
        """Has the log that an erasure made take the place of the log. Nobody asks meanwhile."""
        self._closed(lambda: take_place(self.home))

    def _closed(self, job: Callable[[], T], suspect: bool = False) -> T:
        """Does something while live is closed, and opens it again; with `suspect` all of it is read then."""
        self.close()
        self.runtime.close()
        try:
            return job()
        finally:
            self.runtime = open_served(self.home, suspect)
            self._snapshots = Snapshots(self.home)
