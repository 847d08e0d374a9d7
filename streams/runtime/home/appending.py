"""The thread of a server that appends: what waits is made durable together, by one write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from streams.logs.where import open_log
from streams.runtime.home.office import feed
from streams.runtime.requests import Feed
from streams.runtime.telemetry import traced

if TYPE_CHECKING:
    from streams.runtime.home import Home

TOGETHER = 1000
"""Events appended at once; who comes later waits for one such write."""

MANY = 20
"""Events that make a request a batch."""
CALM = 0.1
"""Seconds without a batch after which none is expected."""

Reply = Callable[[Any], None]
"""Given the answer, or the exception that stands in its place."""


class Appending:
    """Takes events from many connections. Has a log of its own: who folds must not see what is not durable yet."""

    def __init__(self, home: Home) -> None:
        self._log = open_log(home.path)
        self._flooded = 0.0
        """When the last batch came."""
        self._waiting: SimpleQueue[tuple[Feed, Reply] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="appending", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends once all that waits is appended."""
        self._waiting.put(None)
        self._thread.join()
        self._log.close()

    def put(self, call: Feed, reply: Reply) -> None:
        """Has events appended; `reply` is called when they are durable."""
        if len(call.feed) >= MANY:
            self._flooded = time.monotonic()
        self._waiting.put((call, reply))

    def is_flooded(self) -> bool:
        """Whether batches come one after the other."""
        return time.monotonic() - self._flooded < CALM

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            together = [first]
            events = len(first[0].feed)
            while events < TOGETHER:
                try:
                    more = self._waiting.get_nowait()
                except Empty:
                    break
                if more is None:
                    self._waiting.put(None)
                    break
                together.append(more)
                events += len(more[0].feed)
            try:
                with traced("ingest", events=events) as told:
                    answers: list[Any] = [*feed([call for call, _ in together], self._log)]
                    told |= {"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.count": events}
            except Exception as error:  # why any: each of them waits for an answer
                answers = [error] * len(together)
            for (_, reply), answer in zip(together, answers, strict=True):
                reply(answer)
