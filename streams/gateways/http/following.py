"""The log as it grows, for any number of listeners: what is new is read once, and sent to all of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from streams.core.driver import Record
from streams.core.events import iso
from streams.logs.where import HomeLog, open_log, parse_places, told_place

T = TypeVar("T")

LOOK = 0.1
"""Seconds between looks at the log, while anybody listens."""
SILENCE = 15.0
"""Seconds after which a listener is sent a comment: what lies between would hang up otherwise."""
KEPT = 5000
"""Newest records in memory; who is further behind reads the log."""
PAGE = 500
"""Records that a listener takes at once."""


class News(NamedTuple):
    """A record, and the event of it in JSON."""

    partition: int
    offset: int
    space: str
    type: str
    said: bytes


def news_of(record: Record) -> News:
    """A record as listeners get it: the event's fields, times as text, and its `position`."""
    fields = orjson.loads(record.value)
    fields |= {"at": iso(fields["at"]), "recorded_at": iso(record.recorded_at)}
    fields["position"] = told_place(record.partition, record.offset)
    kind = record.type.rpartition(".v")[0]
    return News(record.partition, record.offset, record.space, kind, orjson.dumps(fields))


class Following:
    """Follows the log of a home from a thread of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._thread = ThreadPoolExecutor(1, "following")
        self._log: HomeLog | None = None
        self._ends: list[int] = []
        self._id = ""
        """Of the log: an erasure makes another, with other positions."""
        self._ring: deque[News] = deque(maxlen=KEPT)
        self._news = asyncio.Event()
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None

    async def begin(self, after: str) -> list[int]:
        """Where a listener begins, by partition: behind the position `after`, at `start`, or with what comes where
        it is empty. Raises UsageError for what is no position."""
        ends = await self._run(self._look)
        if after == "start":
            return [0] * len(ends)
        places = parse_places(after, len(ends)) if after else {}
        return [places[p] + 1 if p in places else (0 if places else end) for p, end in enumerate(ends)]

    async def events(
        self, begin: Sequence[int], spaces: Sequence[str] | None, types: Sequence[str]
    ) -> AsyncIterator[tuple[str, News] | None]:
        """What stands in the log from `begin` on, with the position to go on behind; None now and then in a silence.

        `spaces` None and `types` empty: any.
        """
        nexts, log = [*begin], self._id
        self._listen(1)
        try:
            while True:
                heard = self._news
                if log != self._id:  # it may be shorter than the one before
                    nexts, log = [min(n, end) for n, end in zip(nexts, self._ends, strict=True)], self._id
                found = await self._page(nexts)
                for news in found:
                    nexts[news.partition] = news.offset + 1
                    if (spaces is None or news.space in spaces) and (not types or news.type in types):
                        yield ",".join(told_place(p, n - 1) for p, n in enumerate(nexts) if n), news
                if not found:
                    try:
                        await asyncio.wait_for(heard.wait(), SILENCE)
                    except TimeoutError:
                        yield None
        finally:
            self._listen(-1)

    async def close(self) -> None:
        """Ends it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._log is not None:
            await self._run(self._log.close)
        self._thread.shutdown()

    async def _run(self, do: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, do, *given)

    def _listen(self, more: int) -> None:
        self._listeners += more
        if self._listeners and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        self._ends = await self._run(self._look)
        while self._listeners:
            before = [*self._ends]
            ends = await self._run(self._look)
            if ends != before:
                found = [news for p, end in enumerate(ends) for news in await self._run(self._read, p, before[p], end)]
                if any(news.type == "erasure-recorded" for news in found):
                    self._ring.clear()  # what it holds may be what a key was destroyed of
                self._ring.extend(found)
                self._ends = ends
                self._news.set()
                self._news = asyncio.Event()
            await asyncio.sleep(LOOK)
        self._ring.clear()

    async def _page(self, nexts: list[int]) -> list[News]:
        """The next records of a listener: from memory where it is near the end, else from the log."""
        found: list[News] = []
        for partition, start in enumerate(nexts):
            if start >= self._ends[partition]:  # what a listener begins behind may be newer than the last look
                continue
            kept = [news for news in self._ring if news.partition == partition and news.offset >= start]
            if not kept or kept[0].offset > start:
                kept = []
            while not kept and (start := nexts[partition]) < self._ends[partition]:
                nexts[partition] = min(start + PAGE, self._ends[partition])
                kept = await self._run(self._read, partition, start, nexts[partition])
            found += kept[:PAGE]
        return found

    def _look(self) -> list[int]:
        if self._log is None:
            self._log = open_log(self._home)
        ends = [self._log.end(partition) for partition in range(self._log.partitions)]
        if self._id != self._log.id:
            self._ring.clear()
            self._ends = ends
            self._id = self._log.id
        return ends

    def _read(self, partition: int, start: int, stop: int) -> list[News]:
        assert self._log is not None
        return [news_of(record) for record in self._log.read(partition, start, stop) if record.is_readable]
