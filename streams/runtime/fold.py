"""What every runtime does around a pass: gathers what is derived until it is committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from projections.store import Batch, StateChange, Store, View, readable
from projections.tables import Folded
from streams.core.driver import Driver, Placed, Record, raw_of
from streams.core.errors import Aside, FaultError, UnreadableError
from streams.core.processor import RAW, Derived, Raw, State
from streams.core.text import Text

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

SOON = 1.0
"""Seconds within which what was folded is committed, though nobody asks the tables."""


LEVEL = 10.0
"""Seconds within which the tables hold all that is folded once: until then whoever follows them from the pages that are
folded, as recall's index does, keeps its own transaction open."""


class Ahead:
    """What was folded beyond the tables of a memory: a commit costs the same for one turn as for fifty, so it waits
    until somebody asks the tables, or for SOON; and then others fold on while the disk is waited for.

    Whoever folds owns it, and alone calls it; while a commit goes on beside (`is_committing`), nobody else uses the
    store's own connection.
    """

    def __init__(self, store: Store) -> None:
        self.view = View(store.extent())
        """How far the memory goes: its tables, and what was folded beyond them."""
        self._store = store
        self._since = 0.0
        """The monotonic time since which something is folded and not committed."""
        self._level = time.monotonic()
        """When the tables were last known to hold all that was folded."""
        self._taken = 0
        """Of the pages ahead, how many are being committed."""
        self._commit: Future[None] | None = None
        self._beside: ThreadPoolExecutor | None = None
        self._failed: BaseException | None = None

    def add(self, page: Folded) -> None:
        """Takes up what was folded after it."""
        if not self.view.ahead:
            self._since = self._level = time.monotonic()
        self.view = View(self.view.extent, (*self.view.ahead, page))

    @property
    def is_committing(self) -> bool:
        """Whether a commit goes on beside."""
        return self._commit is not None

    def is_due(self, soon: bool) -> bool:
        """Whether there is anything to commit; with `soon`, anything that has waited for SOON."""
        return bool(self.view.ahead) and (not soon or time.monotonic() - self._since >= SOON)

    def is_level(self) -> bool:
        """Whether the tables held all that was folded not long ago."""
        return time.monotonic() - self._level < LEVEL

    def commit(self, batch: Callable[[Folded], Batch], beside: bool = False) -> None:
        """Commits what `batch` makes of all that waits; `beside`, in a thread of its own, which `end` waits for.

        Raises what goes wrong, and from then on UnreadableError: what was taken for a commit that failed is nowhere
        else, so the memory has to be opened anew, and folded on from its tables.
        """
        self.end()
        pages = self.view.ahead
        folded = pages[0]
        if len(pages) > 1:
            folded = Folded()
            for page in pages:
                folded.add(page)
        with self._failing():
            made = batch(folded)
            self._taken, self._since = len(pages), time.monotonic()
            if beside:
                self._commit = self._thread().submit(self._write, made)
            else:
                self._write(made)
                self._end()

    def _thread(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        self._beside = self._beside or ThreadPoolExecutor(1, "committing")
        return self._beside

    def _write(self, batch: Batch) -> None:
        with readable():
            self._store.commit(batch)

    def end(self, wait: bool = True) -> bool:
        """Ends a commit that was begun beside: waits for it, or with `wait` False does so where it is done; whether it
        did. Raises as `commit`."""
        self._check()
        if self._commit is None or not (wait or self._commit.done()):
            return False
        commit, self._commit = self._commit, None
        with self._failing():
            commit.result()
            self._end()
        return True

    def _end(self) -> None:
        self.view = View(self._store.extent(), self.view.ahead[self._taken :])
        if not self.view.ahead:
            self._level = time.monotonic()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._failed = error
            raise

    def _check(self) -> None:
        if self._failed is not None:
            raise UnreadableError(f"what was folded could not be written: {self._failed}", "ask again")

    def close(self) -> None:
        """Waits for a commit that goes on beside; the memory is closed after that."""
        with suppress(Exception):  # what is not committed is folded again by the next who opens it
            self.end()
        if self._beside is not None:
            self._beside.shutdown()


Restore = Callable[[str, int, int], None]
"""Has the state of a space be what it was before an offset of a partition: as it was last kept, and folded on from
there with what was set aside."""


def fold_past(
    fault: FaultError, driver: Driver, raw: Raw[Any], restore: Restore, given: Mapping[str, Sequence[Derived]] | None
) -> tuple[list[Placed] | None, list[Aside]]:
    """Folds an event again, without the processors that cannot: what comes of it, None where nothing can be made of
    it, and what was set aside."""
    faults: list[Aside] = []
    while True:
        faults.append(fault.aside)
        partition, offset, processor, space, _ = fault.aside
        driver.set_aside(partition, offset, processor)
        restore(space, partition, offset)
        rows: list[Placed] = []
        try:
            return (rows if driver.fold(space, partition, offset, raw, rows, given) else None), faults
        except FaultError as another:
            fault = another


@dataclass(slots=True)
class Collector:
    """Gathers what a pass makes until it is committed."""

    driver: Driver
    restore: Restore
    copied: frozenset[str] = frozenset()
    """Streams (processors, or RAW) whose rows and state are had from elsewhere: of those nothing is kept here."""
    from_scratch: bool = False
    """Whether the fold begins with no saved state, and state is taken once, at its end."""
    folded: Folded = field(default_factory=Folded)
    """What was kept since the last call of `take`."""
    touched: dict[str, None] = field(default_factory=dict)
    """Spaces folded since the state was last taken."""

    def fold(self, record: Record, text: Text | None = None) -> None:
        """Folds one record of the log and keeps what comes of it."""
        if (raw := self.raw_of(record, text)) is not None:
            self.add(record.space, record.partition, record.offset, raw)

    def raw_of(self, record: Record, text: Text | None = None) -> Raw[Any] | None:
        """What processors are given for a record; None for one that says nothing or cannot be read, which is passed
        by."""
        if record.is_readable:
            try:
                return raw_of(record, text)
            except FaultError as fault:
                self._set_aside([fault.aside])
        self._pass_by(record.partition, record.offset)
        return None

    def _pass_by(self, partition: int, offset: int) -> None:
        self.driver.marks[partition] = self.folded.marks[partition] = offset

    def _set_aside(self, faults: Sequence[Aside]) -> None:
        self.folded.aside += (fault for fault in faults if fault.processor not in self.copied)

    def again(
        self, record: Record, text: Text | None = None, given: Mapping[str, Sequence[Derived]] | None = None
    ) -> None:
        """Folds a record that was folded, for the state that comes of it. See `Restore`."""
        if record.is_readable:
            try:
                raw = raw_of(record, text)
            except FaultError:  # it could not be read then, either
                return
            self.driver.fold(record.space, record.partition, record.offset, raw, [], given)

    def add(
        self,
        space: str,
        partition: int,
        offset: int,
        raw: Raw[Any],
        given: Mapping[str, Sequence[Derived]] | None = None,
    ) -> None:
        """Folds one raw event and keeps what comes of it; see `Driver.fold`."""
        rows: list[Placed] = []
        try:
            if not self.driver.fold(space, partition, offset, raw, rows, given):
                return
        except FaultError as fault:
            found, faults = fold_past(fault, self.driver, raw, self.restore, given)
            self._set_aside(faults)
            if found is None:
                self._pass_by(partition, offset)
                return
            rows = found
        self.touched[space] = None
        folded = self.folded
        folded.marks[partition] = offset
        if RAW not in self.copied:
            folded.raw.setdefault(type(raw.event), []).append((partition, offset, raw))
        derived = folded.derived
        for row in rows:
            cls = type(row[3])
            if cls in derived:
                derived[cls].append(row)
            else:
                derived[cls] = [row]

    def take(self, state: bool = True) -> Batch:
        """What was kept since the last call, in columns, with the `state` that changed since it was last taken."""
        return self.batch(self.take_folded(), state)

    def take_folded(self) -> Folded:
        """What was kept since the last call."""
        folded, self.folded = self.folded, Folded()
        return folded

    def batch(self, folded: Folded, state: bool = True) -> Batch:
        """Rows in columns, with the `state` that changed since it was last taken."""
        changes = self._changes() if state else []
        return Batch(folded.columns(), changes, folded.marks, folded.hashes, self.from_scratch, folded.aside)

    def take_states(self, at_least: int) -> Iterator[list[StateChange]]:
        """The state that changed since it was last taken, some spaces and `at_least` so many records at a time.

        What is taken is forgotten, so that it never stands in memory twice: for the end of a fold.
        """
        changes: list[StateChange] = []
        for space in self.touched:
            changes += self._of_space(space, self.driver.spaces.pop(space, ()))
            if len(changes) >= at_least:
                yield changes
                changes = []
        self.touched = {}
        yield changes

    def _changes(self) -> list[StateChange]:
        touched, self.touched = self.touched, {}
        return [change for space in touched for change in self._of_space(space, self.driver.spaces.get(space, ()))]

    def _of_space(self, space: str, states: Sequence[State]) -> Iterator[StateChange]:
        for name, state in zip(self.driver.names, states, strict=False):
            if name not in self.copied:
                lineage = self.driver.lineages[name]
                for key, value in state.changes():
                    yield lineage, space, key, value
