"""What the holder of live does for others: answers questions, takes events, makes copies, promotes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from projections import ask as asks
from streams.core.edge import Edge, EdgeError
from streams.core.errors import BehindError, UsageError
from streams.core.events import Outside
from streams.logs.log import Duplicate, Outcome, Refused, Stored
from streams.logs.where import parse_places, told_place
from streams.runtime.embedded import Runtime
from streams.runtime.home.folder import LIVE
from streams.runtime.home.keeper import open_live
from streams.runtime.home.promotion import swap
from streams.runtime.home.recalling import Recalling
from streams.runtime.home.snapshots import Snapshots

if TYPE_CHECKING:
    from streams.runtime.home import Home
    from streams.runtime.home.keeper import Keeper


class Office:
    """What the holder of live does for itself and for others."""

    def __init__(self, home: Home, runtime: Keeper) -> None:
        self.home = home
        self.runtime = runtime
        self.recalling = Recalling(home, LIVE, runtime.store.connection)
        self._snapshots = Snapshots(home.folder)

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
        if self._snapshots.is_due():
            self.runtime.catch_up()
            self._snapshots.make(self.runtime.store, self._marks())
        self._hold(after, self._snapshots.marks)
        return str(self._snapshots.target)

    def _promote(self, name: str) -> str:
        self.close()
        self.runtime.close()
        try:
            return swap(self.home, name)
        finally:
            self.runtime = open_live(self.home)
            self.recalling = Recalling(self.home, LIVE, self.runtime.store.connection)
            self._snapshots = Snapshots(self.home.folder)


def _said(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Stored(partition, offset):
            return {"stored": offset, "partition": partition}
        case Duplicate(partition, offset):
            return {"duplicate": offset, "partition": partition}
        case Refused(reason=reason):
            return {"refused": reason}
