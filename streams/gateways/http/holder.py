"""Asking whoever serves a home, over its socket, for many requests at once: a pool of connections."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from streams.core.errors import BehindError, BusyError, MnemologError
from streams.runtime.home import client
from streams.runtime.home.client import ERRORS, address, check_own, check_peer
from streams.runtime.requests import MAX_REQUEST

MOST = 256
"""Connections at once; further requests wait for one."""
PATIENCE = 30.0
"""Seconds until who asks is told that it cannot be answered yet."""
KEPT = 32
"""Connections that are kept open while nobody uses them."""
LINE = 256 * 2**20
"""Bytes of an answer."""
FIRST_PAUSE, LAST_PAUSE = 0.02, 0.5
"""Seconds between tries: twice as many after each."""

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Holder:
    """The process that serves a home."""

    def __init__(self, home: Path, start: Callable[[], None] = lambda: None) -> None:
        """`start` is called, in a thread, where nobody serves the home."""
        self._path = home.resolve() / "socket"
        self._start = start
        self._idle: list[Stream] = []
        self._room = asyncio.Semaphore(MOST)

    async def call(self, message: dict[str, Any], patience: float | None = None) -> Any:
        """The answer to a request that may be sent again: a question, or events with ids.

        It is sent again for `patience` (or PATIENCE) seconds while nobody answers, or the memory does not hold the
        position yet.
        Raises what the request raises there, and BusyError where nobody answers.
        """
        line = orjson.dumps(message) + b"\n"
        if len(line) > MAX_REQUEST:
            raise BusyError("the request is too long", f"at most {MAX_REQUEST:,} bytes")
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (PATIENCE if patience is None else patience)
        pause = FIRST_PAUSE
        while True:
            try:
                async with self._room:
                    found = orjson.loads(await self._exchange(line))
                if "error" not in found:
                    return found["answer"]
                trouble = ERRORS.get(found["kind"], MnemologError)(found["error"], found["way_out"])
                if not isinstance(trouble, BusyError | BehindError):
                    raise trouble
            except (OSError, EOFError, asyncio.IncompleteReadError):
                trouble = BusyError("nobody serves the home at the moment", "try again in a second")
                await asyncio.to_thread(self._start)
            if loop.time() + pause >= deadline:
                raise trouble
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, LAST_PAUSE)

    async def feed(self, events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """What became of events, each with an id, in order, once they are durable; see `call`."""
        found: list[dict[str, Any]] = await self.call({"feed": events})
        return found

    async def close(self) -> None:
        """Lets go of the connections."""
        idle, self._idle = self._idle, []
        for _, writer in idle:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _exchange(self, line: bytes) -> bytes:
        reader, writer = self._idle.pop() if self._idle else await self._connect()
        whole = False
        try:
            writer.write(line)
            answer = await self._answer(reader)
            whole = True
            return answer
        finally:
            if whole and len(self._idle) < KEPT:
                self._idle.append((reader, writer))
            else:
                writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        """The line that answers. Raises SilentError where who serves the home does not say that it is there, either."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(client.SILENT):
                    return await reader.readuntil(b"\n")
            await asyncio.to_thread(client.check_there, self._path)

    async def _connect(self) -> Stream:
        check_own(self._path)
        found = socket.socket(socket.AF_UNIX)
        try:
            found.setblocking(False)
            with address(self._path) as short:
                await asyncio.get_running_loop().sock_connect(found, short)
            check_peer(found)
            return await asyncio.open_unix_connection(sock=found, limit=LINE)
        except BaseException:
            found.close()
            raise
