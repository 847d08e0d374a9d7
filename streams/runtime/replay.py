"""Replay: fold history again under other parameters, into a new memory.

Only lineages that differ are folded: what an existing memory holds of unchanged ones is copied, state included, and
handed to the processors that read it. Partitions, or the spaces of a log that has too few, are
shared out over processes. The log may be an archive of it. The new memory appears whole, by a rename, or not at all.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

from projections import store as stores
from projections.aside import free_of_folder
from projections.asking import all_params
from projections.garbage import rare_collections
from projections.store import Batch, Store, joined
from projections.stored import StoredEvents
from projections.tables import tables
from streams.core.driver import Driver, Record, root_schema
from streams.core.errors import (
    Aside,
    BehindError,
    DamagedError,
    LogError,
    MemoryFileError,
    MnemologError,
    UnreadableError,
    UsageError,
)
from streams.core.events import ClockTicked, micros
from streams.core.params import Params, check_foldable
from streams.core.presets import PRESETS
from streams.core.presets import preset as preset_of
from streams.core.processor import RAW, Processor, Raw, lineages
from streams.core.progress import Progress, no_progress
from streams.core.text import NO_TEXT, Text
from streams.logs.archive import ArchiveLog
from streams.logs.encryption import Keys
from streams.logs.log import Log, hash_at
from streams.logs.processes import is_running
from streams.logs.where import open_log, told_place
from streams.runtime import LIVE
from streams.runtime.cache import CHUNK, FeatureCache
from streams.runtime.embedded import Runtime
from streams.runtime.fold import Collector
from streams.runtime.home import Home
from streams.runtime.memories import differs, memory_meta

SLICE = 2500
"""Records folded before what came of them is put in columns: more events do not stay in the processor's cache."""
STATE_SLICE = 50_000
"""Records of state handed over at a time, at a shard's end."""
WORKERS = 8.0
"""Seconds that a replay on Kafka waits for workers to reach the log's end, before it folds everything itself."""
ALONE = 20_000
"""Records up to which one process is faster: starting others costs a second."""


@dataclass(frozen=True)
class Plan:
    """What a replay does."""

    name: str
    params: dict[str, Params]
    processors: Sequence[Processor[Any]]
    """The ones in the new memory."""
    reused: frozenset[str] = frozenset()
    """Streams (processors, and the raw log) whose rows and state are copied from the source memory."""
    source: Path | None = None
    """A copy of a memory over the same log, at rest."""
    aside: tuple[Aside, ...] = ()
    """What those that are reused could not fold."""
    stops: tuple[int, ...] = (0,)
    """The raw-log offset at which the fold of each partition ends."""
    archive: Path | None = None
    """The archive that is read instead of the log."""
    keep_state: bool = True
    """Whether the new memory will be folded further; on Kafka workers do that, with state of their own."""
    until: int | None = None
    """Each space ends before its first event later than this (UTC microseconds)."""
    space: str | None = None

    @property
    def total(self) -> int:
        """Offsets that are read."""
        return sum(self.stops)


@dataclass
class Report:
    """What a replay did."""

    name: str
    turns: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    """Events folded, by processor; 0 for reused ones."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time in each processor, summed over processes."""
    reused: list[str] = field(default_factory=list)


def parse_settings(
    home: Home,
    base: dict[str, Params],
    settings: Sequence[str] = (),
    file: Path | None = None,
    preset: str | None = None,
) -> dict[str, Params]:
    """`base` with a preset, a TOML file (tables by processor) and `processor.parameter=value` settings laid over it.

    Raises UsageError naming what is unknown or out of range.
    """
    values = {name: params.plain() for name, params in base.items()}
    if preset is not None:
        if preset not in PRESETS:
            raise UsageError(f"there is no preset {preset!r}", f"presets: {', '.join(PRESETS)}")
        for processor, named in preset_of(home.processors, preset).items():
            values[processor] |= named
    if file is not None:
        try:
            overlay = tomllib.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{file} cannot be read: {error}", "give a TOML file with a table per processor"
            ) from error
        for owner, name, value in _flat(file, overlay):
            _set(values, owner, name, value)
    for setting in settings:
        path, equals, text = setting.partition("=")
        owner, dot, name = path.strip().rpartition(".")
        if not (equals and dot):
            raise UsageError(f"{setting!r} is no setting", "write processor.parameter=value")
        _set(values, owner, name, _toml_value(text.strip()))
    try:
        return all_params(home.processors, values)
    except ValueError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in getattr(error, "errors", list)())
        raise UsageError(f"a parameter is out of range: {problems}", "`mnemolog params` tells the limits") from error


def _flat(file: Path, tables: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The settings of a TOML file, by table; `[context.notes]` is a table of its own. Raises UsageError."""
    for owner, table in tables.items():
        if not isinstance(table, dict):
            raise UsageError(f"{file}: {owner} is not a table", "write [processor] and then parameter = value")
        for name, value in table.items():
            if isinstance(value, dict) and owner == "context":
                yield from ((f"{owner}.{name}", inner, one) for inner, one in value.items())
            else:
                yield owner, name, value


def _set(values: dict[str, dict[str, Any]], owner: str, name: str, value: Any) -> None:
    if owner not in values:
        raise UsageError(f"nothing that has parameters is called {owner!r}", f"known are: {', '.join(values)}")
    if name not in values[owner]:
        raise UsageError(f"{owner} has no parameter {name!r}", f"it has: {', '.join(values[owner])}")
    values[owner][name] = value


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def replay(
    home: Home,
    name: str,
    params: dict[str, Params] | None = None,
    until: str | None = None,
    space: str | None = None,
    without: Sequence[str] = (),
    replace: bool = False,
    reuse: bool = True,
    processes: int | None = None,
    progress: Progress = no_progress,
    archive: Path | None = None,
) -> Report:
    """Folds the whole log (or the part asked for) into the memory `name`, with `params` (live's where None).

    With `archive`, that is read instead of the log. Without `reuse`, everything is folded, whatever live holds already.

    Raises MemoryFileError where `name` is live or exists and is not to be replaced, UsageError for unknown processors
    and for an `until` that is no time.
    """
    target = home.memory_path(name)
    if name == LIVE:
        raise MemoryFileError("live is not replayed into", "replay under another name, then promote it")
    if target.exists() and not replace:
        raise MemoryFileError(f"there is a memory {name!r} already", "give another name, or --replace")
    try:
        return _replayed(home, target, params, until, space, without, reuse, processes, progress, archive)
    except (DamagedError, UnreadableError):
        if not reuse:
            raise
        with suppress(MnemologError):
            home.look_through()
        return _replayed(home, target, params, until, space, without, False, processes, progress, archive)


def _replayed(
    home: Home, target: Path, params: dict[str, Params] | None, until: str | None, space: str | None,
    without: Sequence[str], reuse: bool, processes: int | None, progress: Progress, archive: Path | None,
) -> Report:  # fmt: skip
    """Folds into the memory file `target`. Raises UnreadableError where what live holds cannot be read."""
    name = target.stem
    limits = {"until": until, "space": space, "without": ", ".join(without) or None}
    limited = "; ".join(f"{limit} {value}" for limit, value in limits.items() if value is not None)
    log: Log = home.log if archive is None else _archived(home, archive)
    id_ = log.id
    with stores.readable(), _workshop(home.path) as folder:
        plan = _plan(home, log, name, params or home.live_params(), until, space, without, folder if reuse else None)
        plan = dataclasses.replace(plan, archive=archive, keep_state=home.log.is_local)
        fresh = folder / "memory.duckdb"
        meta = memory_meta(log, name, plan.processors, plan.params, partial=limited)
        store = Store.create(fresh, home.processors, meta)
        processes = processes or (1 if plan.total <= ALONE else os.cpu_count() or 1)
        report = _carry_out(home, log, plan, store, folder, processes, progress)
        if not limited and home.log.is_local and home.log.id == log.id:
            runtime = Runtime(home.log, store, home.processors)
            caught_up = runtime.catch_up()
            report.turns += caught_up
        store.checkpoint()
        store.close()
        if log.id != id_:
            raise LogError("an erasure made a new log meanwhile", "replay again")
        free_of_folder(target, home.warn)
        stores.put_in_place(fresh, target)
    return report


@contextmanager
def _workshop(home: Path) -> Iterator[Path]:
    """A folder that goes away whatever happens, with those that killed replays left behind."""
    for left in home.glob(".replay-*"):
        with suppress(ValueError):
            if not is_running(int(left.name.split("-")[1])):
                shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f".replay-{os.getpid()}-", dir=home))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _plan(
    home: Home,
    log: Log,
    name: str,
    params: dict[str, Params],
    until: str | None,
    space: str | None,
    without: Sequence[str],
    folder: Path | None,
) -> Plan:
    processors = _kept(home.processors, without)
    check_foldable(params[processor.name] for processor in processors)
    ends = tuple(log.end(partition) for partition in range(log.partitions))
    if until is not None or folder is None:
        return Plan(name, params, processors, stops=ends, until=None if until is None else _until(until), space=space)
    source = folder / "reused.duckdb"
    reused, stops, found = _reusable(home, log, source, lineages(processors, params, root_schema()))
    if not reused:
        return Plan(name, params, processors, stops=ends, space=space)
    aside = tuple(one for one in found if one.processor in reused and space in (None, one.space))
    return Plan(name, params, processors, reused, source, aside, stops, space=space)


def _until(moment: str) -> int:
    try:
        return micros(moment)
    except ValueError as error:
        raise UsageError(f"until: {moment!r} is no time ({error})", "give one like 2026-01-05T09:00:00Z") from error


def _kept(processors: Sequence[Processor[Any]], without: Sequence[str]) -> list[Processor[Any]]:
    known = {p.name for p in processors}
    if unknown := [name for name in without if name not in known]:
        raise UsageError(f"there is no processor {unknown[0]!r}", f"processors: {', '.join(sorted(known))}")
    kept: list[Processor[Any]] = []
    streams = {RAW}
    for processor in processors:
        if processor.name not in without and streams.issuperset(processor.reads):
            kept.append(processor)
            streams.add(processor.name)
    return kept


def _reusable(
    home: Home, log: Log, copy: Path, ours: dict[str, str]
) -> tuple[frozenset[str], tuple[int, ...], list[Aside]]:
    """Which of our streams live holds already, up to which offsets, and what could not be folded into it; live is
    copied to `copy`."""
    snapshots = _snapshots(home, log)
    if not snapshots:
        return frozenset(), (), []
    if len(snapshots) == 1:
        shutil.copyfile(snapshots[0], copy)
    else:
        stores.rewrite(snapshots, copy, home.processors)
    connection = stores.connect(copy)
    try:
        theirs = orjson.loads(stores.read_meta(connection, "lineages"))
        if differs(connection, log):
            return frozenset(), (), []
        same = frozenset(name for name, lineage in ours.items() if theirs.get(name) == lineage)
        stops = tuple(stores.read_mark(connection, partition) + 1 for partition in range(log.partitions))
        if same:
            stores.check_format(connection, copy)
        return same, stops, stores.aside(connection)
    finally:
        connection.close()


def _snapshots(home: Home, log: Log) -> list[Path]:
    """Copies of live, one of each shard, that the replay may take from; none where there are none.

    On Kafka, one that holds all that the log holds now: what is behind cannot be folded on top without workers' state.
    """
    if home.log.is_local:
        return home.files() if home.memory_path(LIVE).exists() else []
    ends = {partition: home.log.end(partition) for partition in range(home.log.partitions)}
    try:
        return home.files(after=",".join(told_place(p, end - 1) for p, end in ends.items() if end), patience=WORKERS)
    except (BehindError, LogError):  # workers do not run, or never did: the log alone is read
        return []


def _carry_out(
    home: Home, log: Log, plan: Plan, store: Store, folder: Path, processes: int, progress: Progress
) -> Report:
    report = Report(plan.name, steps=dict.fromkeys((p.name for p in plan.processors), 0), reused=sorted(plan.reused))
    if plan.source is not None:
        owner = {cls: p.name for p in plan.processors for cls in p.emits}
        copied = [t.name for cls, t in tables(plan.processors) if owner.get(cls, RAW) in plan.reused]
        kept = [lineage for name, lineage in store.lineages.items() if name in plan.reused]
        store.copy_from(plan.source, copied, kept, plan.space)
        store.commit(Batch({}, [], {}, aside=plan.aside))
    if set(store.lineages) - plan.reused:
        with store.bulk():
            _fold_anew(home, log, plan, store, folder, processes, progress, report)
    ends = {partition: stop - 1 for partition, stop in enumerate(plan.stops) if stop}
    store.commit(stores.marked({partition: (end, hash_at(log, partition, end)) for partition, end in ends.items()}))
    return report


def _fold_anew(
    home: Home, log: Log, plan: Plan, store: Store, folder: Path, processes: int, progress: Progress, report: Report
) -> None:
    """Folds what is not reused, in this process or in several."""
    cache = FeatureCache(home.path / "cache", log)
    missing = cache.missing(home.warn)
    if processes > 1:
        _fold_in_pool(home, plan, store, folder, processes, missing, progress, report)
    else:
        for partition, chunk in missing:
            cache.fill(partition, chunk)
        read = 0

        def done(count: int) -> None:
            nonlocal read
            read += count
            progress(read, plan.total)

        _add(report, _fold_shard(home.path, log, plan, 0, 1, store.commit, done))
    progress(plan.total, plan.total)


def _fold_in_pool(
    home: Home, plan: Plan, store: Store, folder: Path, processes: int, missing: list[tuple[int, int]],
    progress: Progress, report: Report,
) -> None:  # fmt: skip
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    pool = ProcessPoolExecutor(processes, context, _start, (counter,))
    try:
        for fill in [pool.submit(_fill, home.path, plan.archive, *at) for at in missing]:
            fill.result()
        jobs = {pool.submit(_fold_shard_apart, home.path, plan, folder, i, processes) for i in range(processes)}
        running = True
        while running:
            finished, waiting = wait(jobs, 0.1, FIRST_COMPLETED)
            running = bool(waiting)
            for path in sorted(folder.glob("*.ready")):
                store.commit(pickle.loads(path.read_bytes()))
                path.unlink()
            progress(min(counter.value // (1 if _by_partition(plan, processes) else processes), plan.total), plan.total)
            for job in finished:
                _add(report, job.result())
            jobs = waiting
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _add(report: Report, shard: Report) -> None:
    report.turns += shard.turns
    for name in shard.steps:
        report.steps[name] += shard.steps[name]
        report.seconds[name] = report.seconds.get(name, 0.0) + shard.seconds[name]


_counter: Any = None
"""Shared by the processes of a pool: records read so far."""


def _start(counter: Any) -> None:
    global _counter
    _counter = counter
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent takes its processes with it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _fill(home: Path, archive: Path | None, partition: int, chunk: int) -> None:
    log = _open(home, archive)
    FeatureCache(home / "cache", log).fill(partition, chunk)
    log.close()


def _archived(home: Home, folder: Path) -> ArchiveLog:
    """The archive that is replayed. Raises LogError for one of what the log held before an older one was restored."""
    log = ArchiveLog(folder, Keys(home.path))
    if foreign := log.differs(home.log):
        if log.id == home.log.id:
            raise LogError(
                f"{folder} {foreign}", "restore the log that it is of into a home of its own, and replay there"
            )
        home.warn(f"{folder} {foreign}: what is made of it can be asked, not promoted")
    return log


def _open(home: Path, archive: Path | None) -> Log:
    """What a replay reads, opened by a process for itself."""
    return open_log(home) if archive is None else ArchiveLog(archive, Keys(home))


def _by_partition(plan: Plan, shards: int) -> bool:
    """Whether each process reads partitions of its own. Why else not: records read by all cost their decoding again."""
    return len(plan.stops) >= shards


def shard_of(space: str, shards: int) -> int:
    """Which of `shards` processes folds a space."""
    return zlib.crc32(space.encode()) % shards


def _fold_shard_apart(home: Path, plan: Plan, folder: Path, shard: int, shards: int) -> Report:
    """Folds a shard in a process of a pool; hands over batches as files."""
    written = 0

    def hand_over(batch: Batch) -> None:
        nonlocal written
        path = folder / f"{shard}-{written:06d}"
        path.write_bytes(pickle.dumps(batch, protocol=5))
        path.rename(path.with_suffix(".ready"))
        written += 1

    def done(count: int) -> None:
        with _counter.get_lock():
            _counter.value += count

    log = _open(home, plan.archive)
    try:
        return _fold_shard(home, log, plan, shard, shards, hand_over, done)
    finally:
        log.close()


def _fold_shard(
    home: Path, log: Log, plan: Plan, shard: int, shards: int, hand_over: Callable[[Batch], None],
    done: Callable[[int], None],
) -> Report:  # fmt: skip
    """Folds one shard; hands over batches, the state last. `done` is told how many more offsets were read."""
    driver = Driver(plan.processors, plan.params, given=plan.reused)
    for one in plan.aside:
        driver.set_aside(one.partition, one.offset, one.processor)
    shard_fold = _ShardFold(home, log, plan, driver)
    collector = shard_fold.collector
    report = Report(plan.name)
    with rare_collections():
        for partition, first, stop, page in pages(home, log, plan, shard, shards):
            hand_over(joined(list(shard_fold.fold_page(partition, first, stop, page))))
            report.turns += sum(record.type.startswith("turn-recorded") for record, _ in page)
            done(stop - first)
        shard_fold.end()
        hand_over(collector.take(state=False))
        for state in collector.take_states(STATE_SLICE) if plan.keep_state else ():
            hand_over(Batch({}, state, {}, first=True))
    report.steps, report.seconds = driver.steps(), driver.seconds()
    return report


Page = list[tuple[Record, Text | None]]
"""Records of the log, each turn with its features where they are kept."""


def pages(home: Path, log: Log, plan: Plan, shard: int, shards: int) -> Iterator[tuple[int, int, int, Page]]:
    """The records of a shard, a chunk of the log at a time: (partition, first offset, offset after the last, records).

    Within a chunk space by space, each space in order: a space's state then stays in the processor's cache, which makes
    a fold of many spaces a third faster.
    """
    mine: dict[str, bool] = {}

    def is_mine(space: str) -> bool:
        known = mine.get(space)
        if known is None:
            known = mine[space] = (whole or shard_of(space, shards) == shard) and plan.space in (None, space)
        return known

    whole = _by_partition(plan, shards)

    cache = FeatureCache(home / "cache", log)
    for partition, end in enumerate(plan.stops):
        if whole and partition % shards != shard:
            continue
        for first in range(0, end, CHUNK):
            stop = min(first + CHUNK, end)
            records = [r for r in log.read(partition, first, stop) if is_mine(r.space) and r.is_readable]
            texts = cache.load(partition, first // CHUNK, [record.offset for record in records])
            records.sort(key=attrgetter("space"))
            yield partition, first, stop, [(record, texts.get(record.offset)) for record in records]


class _ShardFold:
    """Folds raw events, handing along what the memory holds of processors that are not folded."""

    def __init__(self, home: Path, log: Log, plan: Plan, driver: Driver) -> None:
        self._home = home
        self._log = log
        self._plan = plan
        self._driver = driver
        self.collector = Collector(driver, self._restore, copied=plan.reused, from_scratch=True)
        self._over: dict[str, int] = {}
        """The spaces that ended before the log did, and the offset from which on."""
        self._space = ""
        self._partition: dict[str, int] = {}
        """Of each space that was folded."""
        self._page = 0, 0, 0
        read = {stream for p in plan.processors if p.name not in plan.reused for stream in p.reads}
        handed = [p for p in plan.processors if p.name in plan.reused and p.name in read]
        self._stored = StoredEvents(plan.source, handed) if handed and plan.source is not None else None

    def fold_page(self, partition: int, start: int, stop: int, page: Page) -> Iterator[Batch]:
        """Folds the records of a page, start <= offset < stop; what came of each slice of it."""
        self._load(partition, start, stop)
        for first in range(0, len(page), SLICE):
            for record, text in page[first : first + SLICE]:
                if record.space != self._space:
                    self._space = record.space
                    self._partition[record.space] = partition
                    self._driver.begin_again()
                self._fold(record, text)
            yield self.collector.take(state=False)

    def _load(self, partition: int, start: int, stop: int) -> None:
        """Makes a page the one of which it is known what the processors made that are not folded."""
        self._page = partition, start, stop
        if self._stored is not None:
            self._stored.load(partition, start, stop)

    def _given(self, offset: int) -> dict[str, list[Any]] | None:
        return self._stored.at(offset) if self._stored is not None else None

    def _fold(self, record: Record, text: Text | None) -> None:
        """Folds what stands at one raw position."""
        raw = self.collector.raw_of(record, text)
        if raw is not None and not self._ended(record.space, raw.event.at, record.offset):
            self.collector.add(record.space, record.partition, record.offset, raw, self._given(record.offset))

    def _restore(self, space: str, partition: int, offset: int) -> None:
        """Has the state of a space be what it was before an offset: folded from its beginning.

        Why so: what a replay holds of a space is kept once, at its end. A fault is rare, and costs reading the log.
        """
        self._driver.load(space, {})
        self._driver.begin_again()
        page = self._page
        stops = tuple(min(offset, end) if p == partition else 0 for p, end in enumerate(self._plan.stops))
        before = dataclasses.replace(self._plan, space=space, stops=stops)
        for _, first, stop, records in pages(self._home, self._log, before, 0, 1):
            self._load(partition, first, stop)
            for record, text in records:
                if record.offset < self._over.get(space, offset):
                    self.collector.again(record, text, self._given(record.offset))
        self._load(*page)

    def _ended(self, space: str, at: int, offset: int) -> bool:
        if self._plan.until is None:
            return False
        if at > self._plan.until:
            self._over.setdefault(space, offset)
        return space in self._over

    def end(self) -> None:
        """With `until`: a virtual tick at that time in every space that has events before it; no row tells of it."""
        until = self._plan.until
        if until is None:
            return
        self._driver.begin_again()
        self.collector.copied |= {RAW}
        for i, space in enumerate([*self.collector.touched]):
            partition = self._partition[space]
            tick = Raw(ClockTicked(space, "until", until), NO_TEXT, until)
            self.collector.add(space, partition, self._plan.stops[partition] + i, tick)
