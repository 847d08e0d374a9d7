"""A home in shards: homes within it, each with some partitions of a log on brokers and a projector of its own.

    HOME/shard-1of4/   a home like any other, whose live holds partitions 0, 4, 8, ...; and so on

HOME itself has no live then, but what replays made, and, where `mnemolog serve` runs, the socket for those who need not
know of shards. A space lies in one partition: what is asked about one is asked of its shard. All else is answered over
copies of the lives of all shards, taken together.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from projections import ask as asks
from projections.store import rewrite, together
from streams.core.errors import BusyError, MnemologError, UsageError
from streams.logs.kafka.records import partition_of
from streams.runtime import LIVE, erasure
from streams.runtime.home.appending import feed
from streams.runtime.requests import Ask, Call, Feed, Look, Ping, Promote, Switch

if TYPE_CHECKING:
    from streams.runtime.home import Home

T = TypeVar("T")

RETRY = 0.05
"""Seconds between looks whether a projector has forgotten."""
FOLLOW = 1.0
"""Seconds between looks where the log is."""


class Shards:
    """The shards of a home, and who of them answers what. None of it waits for what is not in a memory yet."""

    def __init__(self, home: Home, homes: Sequence[Home]) -> None:
        self.homes = homes
        self._home = home

    def close(self) -> None:
        """Lets go of brokers."""
        for home in self.homes:
            home.close()

    def mend(self) -> None:
        """Finishes or undoes in the home itself an erasure that was killed. The caller holds its writer lock."""
        erasure.mend(self._home)
        self._home.forget(LIVE)  # an erasure makes it whole: the shards gather theirs
        self.forget_former(0.0)

    def forget_former(self, patience: float) -> None:
        """Has each shard forget what it made of a log that gave way. A projector that runs does so itself, when it
        finds out: it is waited for, `patience` seconds; its files are not to go while it has them open."""
        deadline = time.monotonic() + patience
        for home in self.homes:
            while self._home.log.is_former(home.path):
                with suppress(BusyError), home.folder.holding():
                    home.log.follow()
                    erasure.mend(home)
                if time.monotonic() > deadline:
                    break
                time.sleep(RETRY)
            if patience and self._home.log.is_former(home.path):
                self._home.warn(f"{home.path} may still hold what was erased: its projector does not go on")

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """While the home is served: what it holds goes as soon as an erasure elsewhere moved the log."""
        over = Event()
        thread = Thread(target=self._keep, args=(over,), name="following", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _keep(self, over: Event) -> None:
        """Follows the log, with a log of its own, until `over`."""
        home = replace(self._home)
        try:
            while not over.wait(FOLLOW):
                with suppress(MnemologError):  # brokers that are away for a while
                    home.log.follow()
                    if home.shards and home.log.is_former(home.path):
                        home.shards.mend()
        finally:
            home.close()

    def hold(self, memory: str) -> bool:
        """Whether a memory lies in the shards: live, or what was live before a promotion."""
        return memory == LIVE or any(home.memory_path(memory).exists() for home in self.homes)

    def files(self, memory: str, after: str = "", patience: float = 0.0) -> list[Path]:
        """The files of a memory that lies in the shards; copies, of live."""
        return self._all(lambda home: home.files(memory, after, patience)[0])

    def answer(self, call: Call) -> Any:
        """The answer to one call, of whoever has it."""
        match call:
            case Ask():
                return self.ask(call)
            case Feed():
                return feed([call], self._home.log)[0]
            case Ping():
                behind = self._all(lambda home: int(home.request({"ping": True}, 0.0)["behind"]))
                return {"pid": os.getpid(), "behind": sum(behind), "aside": ""}  # workers fold
            case Look():
                return self.look_through()
            case Promote():
                return self.promote(call.promote)
            case Switch():
                return erasure.take_place(self._home)
        raise UsageError(f"{self._home.path} is in shards: there is no one copy of its live", "ask each shard for its")

    def ask(self, call: Ask, memory: str = LIVE) -> Any:
        """The answer to a question about a memory that lies in the shards."""
        question, given = call.question, dict(call.arguments)
        after = call.after or question.after
        if call.ask == "recall_batch":
            return self._batch(given, after, memory)
        if call.ask == "memory" and given.get("space") is None:
            shown = Ask(ask="show", arguments={"id": given["id"], "as_of": given.get("as_of")}, after=after)
            given["space"] = self.ask(shown, memory)["space"]
        if given.get("space") is not None:
            return self._ask_one(given["space"], call.ask, given, after, memory)
        with closing(together(self.files(memory, after))) as connection:
            return asks.answer(connection, call.ask, question.given(), None, question.seconds)

    def _ask_one(self, space: str, what: str, given: dict[str, Any], after: str, memory: str) -> Any:
        """The answer of the shard of a space."""
        partition = partition_of(space, self._home.log.partitions)
        if (place := re.fullmatch(r"(\d+):\d+", str(given.get("as_of")))) and int(place[1]) != partition:
            raise UsageError(
                f"{place[0]} is no position of space {space!r}, which the shards can be asked as of",
                f"give one of its partition, {partition}:OFFSET, or a time",
            )
        home = self.homes[partition % len(self.homes)]
        if memory != LIVE:
            return home.ask(what, memory, **given)
        return home.request({"ask": what, "arguments": given, "after": after}, 0.0)

    def _batch(self, given: dict[str, Any], after: str, memory: str) -> list[Any]:
        """The answers to many questions, each of the shard of its space, in their order."""
        queries: list[dict[str, Any]] = given["queries"]
        spaces = [str(query.get("space", "")) for query in queries]
        answers: dict[int, Any] = {}
        for space in dict.fromkeys(spaces):
            places = [place for place, asked in enumerate(spaces) if asked == space]
            some = given | {"queries": [queries[place] for place in places]}
            answers |= zip(places, self._ask_one(space, "recall_batch", some, after, memory), strict=True)
        return [answers[place] for place in range(len(queries))]

    def promote(self, name: str) -> str:
        """Makes a memory that lies in the home live in each shard; the name under which the old live is kept.

        Where that is cut off, the other shards gather theirs anew, as other homes on the log do.
        """
        whole = self._home.memory_path(name)
        for home in self.homes:
            rewrite(whole, home.memory_path(name), home.processors, home.partitions)
        kept = [home.switch_to(name) for home in self.homes]
        self._home.forget(name)
        return kept[0]

    def look_through(self) -> None:
        """Has all of live read, and made anew where it is damaged."""
        for home in self.homes:
            home.look_through()

    def _all(self, job: Callable[[Home], T]) -> list[T]:
        """What a job gives for each shard, in their order; it is done for all at once."""
        with ThreadPoolExecutor(len(self.homes), "shard") as pool:
            return list(pool.map(job, self.homes))
