"""Events that come over HTTP, appended to the log by the process that takes them: what is taken waits for no fold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from streams.core.errors import MnemologError
from streams.gateways.http.holder import Holder
from streams.runtime.home.appending import Appending
from streams.runtime.requests import Feed, parse


class Recording(Holder):
    """The process that serves a home, and the home's log beside it."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._appending = Appending(home)
        self._appending.start()

    async def feed(self, events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """What became of events, in order, once they are durable. Raises LogError where they cannot be."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[dict[str, Any]]] = loop.create_future()

        def settle(found: list[dict[str, Any]] | MnemologError) -> None:
            if answer.done():  # who asked hung up
                return
            if isinstance(found, MnemologError):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        call = cast(Feed, parse({"feed": events}))
        self._appending.put(call, lambda found: loop.call_soon_threadsafe(settle, found))
        return await answer

    async def close(self) -> None:
        """Ends once all that was taken is durable."""
        await asyncio.to_thread(self._appending.stop)
        await super().close()
