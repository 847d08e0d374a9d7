"""What `mnemolog worker` does: a set's worker in a process, until it is told to stop."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
from aiokafka.errors import KafkaError

from streams.core.driver import ancestors
from streams.core.errors import BusyError, LogError, MnemologError, UsageError
from streams.core.params import check_foldable
from streams.core.processor import Processor
from streams.logs.kafka.connection import Connection, run
from streams.logs.kafka.moves import FORMER, in_force
from streams.logs.kafka.topics import ensure_sets, write_notes
from streams.logs.sqlite import wall_clock
from streams.logs.switch import remove
from streams.runtime import LIVE
from streams.runtime.kafka.metrics import Meters
from streams.runtime.kafka.part import PART, Job
from streams.runtime.kafka.session import FATAL
from streams.runtime.kafka.sets import SET, emitted_by, memory_params, noted_sets, set_id
from streams.runtime.kafka.worker import StoreKind, Worker

log = logging.getLogger(__name__)

STOP_PATIENCE = 9.0
"""Seconds for a graceful stop; what is not durable by then is folded again by whoever comes next."""
PAUSE = 2.0
"""Seconds until a worker that lost the brokers begins anew."""
SLOTS = 1000
"""Workers that share a folder, at most."""


def work(
    connection: Connection, processors: Sequence[Processor[Any]], names: Sequence[str], folder: Path,
    memory: str = LIVE, store: StoreKind = "disk", meters: Meters | None = None,
) -> None:  # fmt: skip
    """Runs a worker that emits the processors `names` (all where none are named) until SIGTERM or SIGINT.

    Raises UsageError for an unknown name, LogError and other MnemologErrors for what stops it.
    """
    with slot(folder) as own:
        while True:
            here, notes = run(connection, in_force(connection))
            for former in orjson.loads(notes.get(FORMER, "[]")):
                remove(own / former)
            try:
                job = prepared(here, processors, names, memory)
                for left in (own / job.log_id).glob("*"):
                    if left.name not in noted_sets(notes) and left.name != job.set:  # dropped, maybe on another machine
                        remove(left)
                asyncio.run(serve(job, processors, here, own, store, meters))
                return
            except BusyError as error:
                log.warning("%s", error)
                time.sleep(PAUSE)
            except MnemologError as error:
                if not _has_moved(here):
                    raise
                log.warning("%s; the worker begins anew, with that", error)


def _has_moved(connection: Connection) -> bool:
    """Whether the log is elsewhere by now; False where nobody can tell."""
    with suppress(LogError):
        return run(connection, in_force(connection))[0] != connection
    return False


def prepared(
    connection: Connection, processors: Sequence[Processor[Any]], names: Sequence[str], memory: str = LIVE
) -> Job:
    """What a worker of these processors folds; its topics are made and its set is noted. Raises as `work` does."""
    params = memory_params(connection, processors, memory)
    emitted = emitted_by(processors, params, names)
    needed = tuple(ancestors(processors, emitted))
    check_foldable(params[processor.name] for processor in needed)
    chosen = set_id(emitted)
    made = ensure_sets(connection, [chosen])
    run(connection, write_notes(connection, {SET + chosen: orjson.dumps(dict(emitted)).decode()}))
    return Job(needed, {p.name: params[p.name] for p in needed}, emitted, chosen, made.partitions, made.log_id)


@contextmanager
def slot(folder: Path) -> Iterator[Path]:
    """A folder in `folder` that no other process has while this one runs: that of a worker that ended, or a new one.

    Raises UsageError where it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(SLOTS):
            own = folder / f"worker-{number}"
            with own.with_suffix(".lock").open("a+b") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                own.mkdir(exist_ok=True)
                yield own
                return
    except OSError as error:
        raise UsageError(
            f"{folder} cannot hold the state of workers: {error.strerror}", "choose another with --datadir"
        ) from error
    raise UsageError(f"{SLOTS} workers use {folder} already", "choose another with --datadir")


async def serve(
    job: Job, processors: Sequence[Processor[Any]], connection: Connection, folder: Path, store: StoreKind = "disk",
    meters: Meters | None = None, clock: Callable[[], int] = wall_clock,
) -> None:  # fmt: skip
    """Runs a worker until SIGTERM or SIGINT; one that lost the brokers begins anew. Raises MnemologError."""
    stopping, meters = asyncio.Event(), meters or Meters()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    stop = asyncio.create_task(stopping.wait())
    while not stopping.is_set():
        worker = Worker(job, processors, connection, folder, store, meters, clock)
        error = await _until_failed(worker, stop)
        if error is not None and not _passes(error):
            meters.phase(PART, "failed")
            raise _as_ours(error)
        if error is not None:
            log.warning("the brokers do not answer; the worker begins anew: %r", error)
            await asyncio.wait([stop], timeout=PAUSE)


async def _until_failed(worker: Worker, stop: asyncio.Task[Any]) -> BaseException | None:
    """Runs a worker until it fails or has to stop; why it failed."""
    starting = asyncio.create_task(worker.start())
    # Why not only await it: a group that rebalances may keep a start waiting for longer than a stop may take.
    begun: set[asyncio.Future[Any]] = {stop, starting, worker.failed}
    await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
    if starting.done() and starting.exception() is None:
        await asyncio.wait({stop, worker.failed}, return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()
    stopping = asyncio.create_task(worker.stop())
    _, late = await asyncio.wait([stopping], timeout=STOP_PATIENCE)
    error = worker.failed.result() if worker.failed.done() else None
    if error is None and starting.done() and not starting.cancelled():
        error = starting.exception()
    if late:
        _leave(error)
    return error


def _passes(error: BaseException) -> bool:
    """Whether a failure is one of brokers that will be back."""
    return isinstance(error, (KafkaError, OSError, TimeoutError)) and not isinstance(error, FATAL)


def _leave(error: BaseException | None) -> None:
    """Ends the process at once: a Faust consumer that waits for its group in a thread of its own ends in no other way.

    Nothing is lost: what is not durable by now is folded again.
    """
    if error is not None:
        failure = _as_ours(error)
        log.error("%s: %s", failure, failure.way_out)
    log.warning("stopped without leaving the group; others take over in a few seconds")
    logging.shutdown()
    os._exit(error is not None)


def _as_ours(error: BaseException) -> MnemologError:
    if isinstance(error, MnemologError):
        return error
    log.error("the worker failed", exc_info=error)
    return LogError(
        f"the worker stopped: {type(error).__name__}: {error}",
        "nothing was committed past the record that it stopped at; start it again, and report this if it comes back",
    )
