"""Appending on behalf of many: what waits is made durable together, by one write, in a thread of its own."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from streams.core.edge import Edge, EdgeError, get_ready
from streams.core.errors import BrokenError
from streams.core.events import Outside
from streams.logs.log import Duplicate, Log, Outcome, Refused, Stored
from streams.logs.where import HomeLog, open_log
from streams.runtime.requests import Feed
from streams.runtime.telemetry import traced

TOGETHER = 1000
"""Events appended at once; who comes later waits for one such write."""

Reply = Callable[[Any], object]
"""Given the answer, or the MnemologError that stands in its place."""


class Appending:
    """Takes events from many connections or requests. Has a log of its own: who folds must not see what is not durable
    yet."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._log: HomeLog | None = None
        self._waiting: SimpleQueue[tuple[Feed, Reply] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="appending", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends once all that waits is appended."""
        self._waiting.put(None)
        self._thread.join()
        if self._log is not None:
            self._log.close()

    def put(self, call: Feed, reply: Reply) -> None:
        """Has events appended; `reply` is called, in another thread, when they are durable."""
        self._waiting.put((call, reply))

    def _run(self) -> None:
        get_ready()  # that takes fifty milliseconds, for which nobody is to wait
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
                    answers: list[Any] = [*self._feed([call for call, _ in together])]
                    told |= {"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.count": events}
            except Exception as error:  # why any: each of them waits for an answer
                answers = [BrokenError.of(error)] * len(together)
            for (_, reply), answer in zip(together, answers, strict=True):
                reply(answer)

    def _feed(self, calls: Sequence[Feed]) -> list[list[dict[str, Any]]]:
        if self._log is None:
            self._log = open_log(self._home)
        return feed(calls, self._log)


def feed(calls: Sequence[Feed], log: Log) -> list[list[dict[str, Any]]]:
    """Validates and appends the events of several calls at once; what became of each, by call, in order."""
    taken: list[Outside] = []
    answers: list[list[dict[str, Any] | None]] = []
    for call in calls:
        edge = Edge(source=secrets.token_hex(8))
        answers.append([])
        for fields in call.feed:
            try:
                taken.append(edge.event(fields))
                answers[-1].append(None)
            except EdgeError as error:
                answers[-1].append({"refused": str(error)})
    outcomes = iter(log.append(taken) if taken else ())
    return [[_said(next(outcomes)) if answer is None else answer for answer in mine] for mine in answers]


def _said(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Stored(partition, offset):
            return {"stored": offset, "partition": partition}
        case Duplicate(partition, offset):
            return {"duplicate": offset, "partition": partition}
        case Refused(reason=reason):
            return {"refused": reason}
