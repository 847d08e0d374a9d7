"""What `mnemolog worker` does: several processors' workers in one process, until it is told to stop."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from streams.core.driver import root_schema
from streams.core.errors import LogError, MnemologError, UsageError
from streams.core.params import Params
from streams.core.processor import ROOT, Processor, lineages
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.topics import Names, ensure_lineages
from streams.logs.sqlite import wall_clock
from streams.runtime.kafka.candidates import LIVE, memory_params
from streams.runtime.kafka.metrics import OFF, Meters
from streams.runtime.kafka.worker import Job, StoreKind, Worker

log = logging.getLogger(__name__)

STOP_PATIENCE = 9.0
"""Seconds for a graceful stop; what is not durable by then is folded again by whoever comes next."""
SLOTS = 1000
"""Workers that share a folder, at most."""


def work(
    connection: Connection, processors: Sequence[Processor[Any]], names: Sequence[str], folder: Path,
    memory: str = LIVE, store: StoreKind = "rocksdb", meters: Meters = OFF,
) -> None:  # fmt: skip
    """Runs the workers of the processors `names` (all where none are named) until SIGTERM or SIGINT.

    Raises UsageError for an unknown name, LogError and other MnemologErrors for what stops a worker.
    """
    if unknown := sorted(set(names) - {p.name for p in processors}):
        known = ", ".join(p.name for p in processors)
        raise UsageError(f"there is no processor {', '.join(unknown)}", f"there are {known}")
    params = memory_params(connection, processors, memory)
    found = lineages(processors, params, root_schema())
    made = ensure_lineages(connection, {name: lineage for name, lineage in found.items() if name != ROOT})
    jobs = jobs_of(processors, params, found, Names(connection.prefix), made.partitions, ticking=memory == LIVE)
    chosen = [job for name, job in jobs.items() if not names or name in names]
    with slot(folder) as own:
        asyncio.run(serve(chosen, connection, own, store, meters))


def jobs_of(
    processors: Sequence[Processor[Any]], params: Mapping[str, Params], lineages: Mapping[str, str], names: Names,
    partitions: int, ticking: bool = True,
) -> dict[str, Job]:  # fmt: skip
    """A job for each processor, by name."""
    by_name = {p.name: p for p in processors}
    chains = longest_chains(processors)
    return {
        p.name: Job(
            p, params[p.name], lineages[p.name],
            names.turns if p.reads == ROOT else names.stream(p.reads, lineages[p.reads]),
            by_name.get(p.reads), partitions, chains[p.name], ticking,
        )
        for p in processors
    }  # fmt: skip


def longest_chains(processors: Sequence[Processor[Any]]) -> dict[str, int]:
    """By processor: how many there are, from the log on, in the longest chain that it is part of."""
    above: dict[str, int] = {ROOT: 0}
    for processor in processors:  # parents stand before children
        above[processor.name] = above[processor.reads] + 1
    longest = dict(above)
    for processor in reversed(processors):
        longest[processor.reads] = max(longest[processor.reads], longest[processor.name])
    return longest


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
    jobs: Sequence[Job], connection: Connection, folder: Path, store: StoreKind = "rocksdb", meters: Meters = OFF,
    clock: Callable[[], int] = wall_clock,
) -> None:  # fmt: skip
    """Runs workers until SIGTERM or SIGINT. Raises MnemologError for what stops one of them."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    workers = [Worker(job, connection, folder, store, meters, clock) for job in jobs]
    stop = asyncio.create_task(stopping.wait())
    starting = asyncio.gather(*(worker.start() for worker in workers))
    try:
        # Why not only await it: a group that rebalances may keep a start waiting for longer than a stop may take.
        begun: set[asyncio.Future[Any]] = {stop, starting}
        await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            told = {"processors": [worker.name for worker in workers], "servers": connection.servers}
            log.info("folding", extra={"fields": told})
            ends: set[asyncio.Future[Any]] = {stop, *(worker.failed for worker in workers)}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        starting.cancel()
        unstarted = starting.exception() if starting.done() and not starting.cancelled() else None
        stops = [asyncio.create_task(worker.stop()) for worker in workers]
        _, late = await asyncio.wait(stops, timeout=STOP_PATIENCE)
        failures = [_as_ours(worker.name, worker.failed.result()) for worker in workers if worker.failed.done()]
        if unstarted is not None:
            failures.insert(0, _as_ours(", ".join(worker.name for worker in workers), unstarted))
        if late:
            _leave(failures)
    for failure in failures:
        raise failure


def _leave(failures: Sequence[MnemologError]) -> NoReturn:
    """Ends the process at once: a Faust consumer that waits for its group in a thread of its own ends in no other way.

    Nothing is lost: what is not durable by now is folded again.
    """
    for failure in failures:
        log.error("%s: %s", failure, failure.way_out)
    log.warning("stopped without leaving the group; others take over in a few seconds")
    logging.shutdown()
    os._exit(bool(failures))


def _as_ours(name: str, error: BaseException) -> MnemologError:
    if isinstance(error, MnemologError):
        return error
    log.error("%s failed", name, exc_info=error)
    return LogError(
        f"the worker of {name} stopped: {type(error).__name__}: {error}",
        "nothing was committed past the record that it stopped at; start it again, and report this if it comes back",
    )
