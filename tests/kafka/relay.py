"""A network that can hold bytes back: a relay between a client and a broker, which stalls and then delivers."""

from __future__ import annotations

import asyncio
import contextlib
from threading import Thread


class Relay:
    """Passes on what comes at `port` to another port of this machine, in a thread of its own."""

    def __init__(self, port: int, to: int) -> None:
        self._port = port
        self._to = to
        self._loop = asyncio.new_event_loop()
        self._flows = asyncio.Event()
        self._flows.set()
        self._thread = Thread(target=self._loop.run_forever, name="relay", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def hold(self) -> None:
        """From now on no byte arrives; none is lost."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def deliver(self) -> None:
        """What was held arrives."""
        self._loop.call_soon_threadsafe(self._flows.set)

    def close(self) -> None:
        """Ends all connections."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        passing = asyncio.all_tasks() - {asyncio.current_task()}
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)
        await asyncio.sleep(0.1)  # closed connections end in the loop's next turns

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError):
                while data := await reader.read(65_536):
                    await self._flows.wait()
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()
