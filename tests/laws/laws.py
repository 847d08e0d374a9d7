"""The laws of a processor as functions: each raises AssertionError where processors break it over some log.

`test_laws.py` runs them over every registered processor, alone and together, and over planted ones that break exactly
one.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import orjson

from streams.core.clock import Deadlines
from streams.core.driver import Driver, Placed, Row, ancestors, as_raw, rows_of
from streams.core.events import Outside, TurnRecorded, TurnRetracted
from streams.core.processor import RAW, Derived, Held, Processor, Raw, State, Step
from tests.laws.histories import recorded

MAX_WRITES = 64
MAX_RECORD = 8 * 1024


class Entry(NamedTuple):
    """An event as the log recorded it, and what processors made of it."""

    raw: Raw[Any]
    made: Mapping[str, Sequence[Derived]]


Log = Sequence[Entry]


@dataclass(frozen=True)
class Subject:
    """Processors under a law: those that are folded, and those among what they read whose events are handed in."""

    name: str
    processors: tuple[Processor[Any], ...]
    given: frozenset[str] = frozenset()

    def driver(self) -> Driver:
        """A fresh driver with default parameters."""
        return Driver(self.processors, {p.name: p.params.of({}) for p in self.processors}, self.given)


def together(processors: Sequence[Processor[Any]]) -> Subject:
    """All processors, folded in one pass."""
    return Subject("all", tuple(processors))


def alone(processors: Sequence[Processor[Any]], name: str) -> Subject:
    """One processor; what it reads is handed in."""
    known = tuple(ancestors(processors, [name]))
    return Subject(f"{name}, alone", known, frozenset(p.name for p in known if p.name != name))


def with_ancestors(processors: Sequence[Processor[Any]], name: str) -> Subject:
    """One processor, with what it reads folded as well, and no other."""
    return Subject(f"{name}, with its ancestors", tuple(ancestors(processors, [name])))


def everyone(processors: Sequence[Processor[Any]]) -> list[Subject]:
    """All processors together, and each of them alone."""
    return [together(processors), *(alone(processors, p.name) for p in processors)]


def log_of(events: Iterable[Outside], processors: Sequence[Processor[Any]] = ()) -> list[Entry]:
    """Events as a log records them, with what `processors` make of each."""
    names = {cls: processor.name for processor in processors for cls in processor.emits}
    driver, log = together(processors).driver(), []
    for offset, raw in enumerate(recorded([*events])):
        rows: list[Placed] = []
        driver.fold(raw.event.space, 0, offset, raw, rows)
        made: dict[str, list[Derived]] = {}
        for *_, event in rows:
            made.setdefault(names[type(event)], []).append(event)
        log.append(Entry(raw, made))
    return log


def feed(subject: Subject, driver: Driver, log: Log, start: int = 0) -> list[Row]:
    """All rows of the entries, which stand at offsets from `start` on."""
    placed: list[Placed] = []
    for offset, (raw, made) in enumerate(log, start):
        given = {name: made[name] for name in subject.given if name in made}
        driver.fold(raw.event.space, 0, offset, raw, placed, given)
    return rows_of(placed)


def to_bytes(rows: Sequence[Row]) -> bytes:
    """Rows as bytes, order included."""
    return orjson.dumps([[*row.position, type(row.event).__name__, row.event] for row in rows])


Saved = dict[str, dict[str, dict[str, bytes]]]
"""Encoded records by space, stream and key."""


def save(driver: Driver, saved: Saved) -> Saved:
    """What a runtime has saved once it also saved what changed since the last time; spaces left alone stay."""
    for space, states in driver.spaces.items():
        for name, state in zip(driver.names, states, strict=True):
            records = saved.setdefault(space, {}).setdefault(name, {})
            for key, value in state.changes():
                if value is None:
                    records.pop(key, None)
                else:
                    records[key] = value
    return saved


def resume(subject: Subject, driver: Driver, saved: Saved) -> Driver:
    """Another driver that goes on from what was saved."""
    found = subject.driver()
    found.marks = dict(driver.marks)
    for space, streams in saved.items():
        found.load(space, {name: dict(records) for name, records in streams.items()})
    return found


# -- the laws ----------------------------------------------------------------------------------------------------------


def pure(subject: Subject, log: Log) -> None:
    """Two folds of a log give identical bytes."""
    one, other = subject.driver(), subject.driver()
    assert to_bytes(feed(subject, one, log)) == to_bytes(feed(subject, other, log)), "folds differ"
    assert save(one, {}) == save(other, {}), "folds leave other records"


def readable(subject: Subject, log: Log) -> None:
    """Each record that is put is read back as it was, at any moment."""
    driver = subject.driver()
    for offset, entry in enumerate(log):
        feed(subject, driver, [entry], offset)
        for name, state in zip(driver.names, driver.spaces[entry.raw.event.space], strict=True):
            for key, value in state.changes():
                if value is not None:
                    record = state.get(key, object)
                    again = type(record)(**orjson.loads(value))
                    assert again == record, f"{name} does not read back what it put at {key}"


def immutable(subject: Subject, log: Log) -> None:
    """Nobody assigns to an event, be it folded or derived."""
    driver, before = subject.driver(), orjson.dumps([[entry.raw.event, entry.raw.text, entry.made] for entry in log])
    rows: list[Row] = []
    early: list[bytes] = []
    for offset, entry in enumerate(log):
        new = feed(subject, driver, [entry], offset)
        rows += new
        early += [to_bytes([row]) for row in new]
    assert [to_bytes([row]) for row in rows] == early, "what was derived changed afterwards"
    assert orjson.dumps([[entry.raw.event, entry.raw.text, entry.made] for entry in log]) == before, "an event changed"


def resumable(subject: Subject, log: Log, cuts: Iterable[int]) -> None:
    """Cutting the fold, saving all state and going on from what was saved equals the whole, indexes included; at every
    other cut the state only comes to rest."""
    whole, part = subject.driver(), subject.driver()
    rows: list[Row] = []
    saved: Saved = {}
    start = 0
    for place, stop in enumerate(sorted({*cuts, len(log)})):
        rows += feed(subject, part, log[start:stop], start)
        start = stop
        save(part, saved)
        _indexes_equal(part, saved)
        if place % 2:
            part.rest()
        else:
            part = resume(subject, part, saved)
    assert to_bytes(rows) == to_bytes(feed(subject, whole, log)), "a resumed fold derives something else"
    assert saved == save(whole, {}), "a resumed fold leaves other records"


def saved_whole(subject: Subject, log: Log, every: int = 1) -> None:
    """A record that a step changes is put: after each `every` events, what is held is what was saved."""
    driver = subject.driver()
    saved: Saved = {}
    for start in range(0, len(log), every):
        feed(subject, driver, log[start : start + every], start)
        save(driver, saved)
        for space, states in driver.spaces.items():
            for name, state in zip(driver.names, states, strict=True):
                for key, record in state._live.items():
                    told = f"{name}: {key} was changed and not put"
                    assert orjson.dumps(record) == saved[space][name].get(key), told


class Stepped(NamedTuple):
    """What came of one event: the entry with what processors made of it, and the records that each of them wrote."""

    entry: Entry
    written: Mapping[str, Sequence[tuple[str, int]]]
    """Keys and bytes, by processor."""


def steps(subject: Subject, log: Log) -> Iterator[Stepped]:
    """Folds a log, an event at a time."""
    names = {cls: processor.name for processor in subject.processors for cls in processor.emits}
    driver = subject.driver()
    for offset, entry in enumerate(log):
        made: dict[str, list[Derived]] = {}
        for row in feed(subject, driver, [entry], offset):
            made.setdefault(names[type(row.event)], []).append(row.event)
        states = zip(driver.names, driver.spaces[entry.raw.event.space], strict=True)
        written = {name: [(key, len(value or b"")) for key, value in state.changes()] for name, state in states}
        yield Stepped(Entry(entry.raw, made), written)


def forgotten(subject: Subject, log: Log, but: Collection[str] = ()) -> None:
    """See `forgotten_in`."""
    forgotten_in(steps(subject, log), but)


def forgotten_in(stepped: Iterable[Stepped], but: Collection[str] = ()) -> None:
    """Once a turn is taken back, nothing that is derived later says four words in a row that it alone had said.

    What others said too may be said: other turns, and outside facts, in which people and models speak for themselves.
    So may what tells that something was retracted, and of what it was made. `but`: processors that are not held to it.
    """
    said: dict[tuple[str, str], set[Run]] = {}
    standing: dict[str, Counter[Run]] = {}
    gone: dict[str, set[Run]] = {}
    for (raw, made), _ in stepped:
        event = raw.event
        here, lost = standing.setdefault(event.space, Counter()), gone.setdefault(event.space, set())
        if isinstance(event, TurnRetracted):
            taken = said.pop((event.space, event.turn), set())
            here.subtract(taken)
            lost |= {run for run in taken if not here[run]}
        else:
            told = runs(orjson.loads(orjson.dumps(event)))
            here.update(told)
            lost -= told
            if isinstance(event, TurnRecorded):
                said[event.space, event.id] = told
        derived = [later for name, its in made.items() if name not in but for later in its] if lost else ()
        for later in derived:
            if "retracted" not in (getattr(later, "status", ""), getattr(later, "change", "")):
                kept = lost & runs(orjson.loads(orjson.dumps(later)))
                assert not kept, f"{type(later).__name__} says what was taken back: {sorted(kept)[0]}"


Run = tuple[str, ...]


def runs(value: object) -> set[Run]:
    """Four words in a row, of all sentences in a value: what stands on both sides of an end may be two turns'."""
    if isinstance(value, str):
        said = [re.findall(r"\w+", sentence) for sentence in re.split(r"[.?!]\s|\n", value.lower())]
        return {run for words in said for run in zip(words, words[1:], words[2:], words[3:], strict=False)}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {run for item in items for run in runs(item)}


def _indexes_equal(driver: Driver, saved: Saved) -> None:
    for space, states in driver.spaces.items():
        for name, state in zip(driver.names, states, strict=True):
            for build, index in state._indexes.items():
                rebuilt = build(State(Held(saved[space][name])))  # type: ignore[operator]
                assert _parts(index) == _parts(rebuilt), f"{name}: a rebuilt index differs from the one kept up"


def _parts(index: Any) -> Any:
    """What is compared of an index: itself where it says what equals it, else its slots."""
    if "__eq__" in vars(type(index)):
        return index
    return [getattr(index, name) for name in type(index).__slots__]


def idempotent(subject: Subject, log: Log) -> None:
    """Events redelivered, at once or after all others, change nothing and add nothing."""
    once, twice = subject.driver(), subject.driver()
    rows = feed(subject, once, log)
    saved: Saved = {}
    before = deepcopy(save(once, saved))
    assert feed(subject, once, log) == [], "redelivered events are derived from again"
    assert save(once, saved) == before, "redelivered events change state"
    doubled = [row for n in range(len(log)) for row in feed(subject, twice, log[n // 2 : n + 1], n // 2)]
    assert to_bytes(doubled) == to_bytes(rows), "events redelivered at once are derived from again"


def well_formed(subject: Subject, log: Log) -> None:
    """Each event is of a type that a folded processor names, of its cause's space, with numbers rounded to 1e-6."""
    emits = {cls for p in subject.processors if p.name not in subject.given for cls in p.emits}
    for row in feed(subject, subject.driver(), log):
        assert type(row.event) in emits, f"{type(row.event).__name__} is named by nobody"
        assert row.event.space == log[row.position.offset].raw.event.space, "an event of another space"
        for number in _floats(orjson.loads(orjson.dumps(row.event))):
            assert number == round(number, 6), f"{number} is not rounded"


def _floats(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, dict):
        return [n for item in value.values() for n in _floats(item)]
    if isinstance(value, list):
        return [n for item in value for n in _floats(item)]
    return []


def small_steps(subject: Subject, log: Log) -> None:
    """See `small_in`."""
    small_in(steps(subject, log))


def small_in(stepped: Iterable[Stepped]) -> None:
    """At most 64 writes per event and processor, of records of at most 8 KB."""
    for _, by_processor in stepped:
        for name, written in by_processor.items():
            assert len(written) <= MAX_WRITES, f"{name} wrote {len(written)} records at one event"
            for key, size in written:
                assert size <= MAX_RECORD, f"{name} wrote {size} bytes at {key}"


def level_work(subject: Subject, log: Log, window: int = 1000, allowed: float = 1.3, each: bool = False) -> None:
    """The lines of Python executed, and the bytes written to state, per event in the last window are at most `allowed`
    times those in an early one: of all processors that are folded; with `each`, also of each of them.

    Of each, in the one fold: the lines of its steps alone, and its bytes with those of the clock of the space.
    """
    spent: Counter[str] = Counter()
    folded = [_counted(p, spent) if p.name not in subject.given else p for p in subject.processors]
    subject = replace(subject, processors=tuple(folded))
    driver = subject.driver()
    early, late = len(log) // 4, len(log) - window
    done = 0
    found: list[dict[str, float]] = []
    for start in (early, late):
        feed(subject, driver, log[done:start], done)
        save(driver, {})
        done = start + window
        spent.clear()
        lines = lines_of(lambda start=start: feed(subject, driver, log[start : start + window], start))  # type: ignore[misc]
        written: Counter[str] = Counter()
        for states in save(driver, {}).values():
            written.update({name: sum(map(len, records.values())) for name, records in states.items()})
        work = {"lines": float(lines), "bytes": float(written.total())}
        for processor in subject.processors if each else ():
            work[f"lines of {processor.name}"] = spent[processor.name]
            work[f"bytes of {processor.name}"] = written[RAW] + written[processor.name]
        found.append({what: amount / window for what, amount in work.items()})
    first, last = found
    for what, before in first.items():
        assert last[what] <= allowed * before, f"{last[what]:.0f} {what} per event at the end, {before:.0f} early on"


def _counted(processor: Processor[Any], spent: Counter[str]) -> Processor[Any]:
    """The processor, and what lines its steps take is added up where lines are counted."""

    def counted(step: Step[Any, Any]) -> Step[Any, Any]:
        def run(*given: Any) -> Sequence[Derived]:
            before = _executed
            made = step(*given)
            spent[processor.name] += _executed - before
            return made

        return run

    return replace(processor, takes=tuple(replace(taken, step=counted(taken.step)) for taken in processor.takes))


_executed = 0
"""Lines of Python that were executed while they were counted."""


def lines_of(work: Callable[[], object]) -> int:
    """Lines of Python that are executed."""

    def trace(frame: Any, event: str, arg: object) -> Any:
        global _executed
        _executed += event == "line"
        return trace

    before, began = sys.gettrace(), _executed
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return _executed - began


def separate(subject: Subject, log: Log) -> None:
    """What is derived for a space is the same whether other spaces are folded beside it or not."""
    rows = feed(subject, subject.driver(), log)
    for space in {entry.raw.event.space for entry in log}:
        driver, apart = subject.driver(), []
        for offset, entry in enumerate(log):
            if entry.raw.event.space == space:
                apart += feed(subject, driver, [entry], offset)
        assert to_bytes([row for row in rows if row.event.space == space]) == to_bytes(apart), "spaces meet"


def independent(processors: Sequence[Processor[Any]], log: Log) -> None:
    """A processor derives the same beside all others, with its ancestors only, and with their events handed in."""
    rows = feed(together(processors), together(processors).driver(), log)
    for processor in processors:
        own = to_bytes([row for row in rows if type(row.event) in processor.emits])
        for subject in (with_ancestors(processors, processor.name), alone(processors, processor.name)):
            found = feed(subject, subject.driver(), log)
            assert to_bytes([row for row in found if type(row.event) in processor.emits]) == own, subject.name


def time_does_not_go_back(subject: Subject, log: Log) -> None:
    """A space's now is the greatest `at` of its events so far, for whoever asks."""
    driver = subject.driver()
    now: dict[str, int] = {}
    for offset, entry in enumerate(log):
        raw, space = entry.raw, entry.raw.event.space
        now[space] = max(now.get(space, 0), raw.event.at)
        feed(subject, driver, [entry], offset)
        assert raw.now == now[space] == driver.clock(space).now, f"it is {raw.now} at {offset}, not {now[space]}"


def tick(subject: Subject, driver: Driver, space: str, until: int) -> list[Row]:
    """What comes of the ticks that the live runtime appends for all that is due in a space at the time `until`.

    Raises AssertionError where what is due does not end: state asks for the tick that it was given.
    """
    deadlines, rows = Deadlines({}), []
    deadlines.note(space, driver.deadline(space))
    while ticks := deadlines.passed(until, lambda _: True):
        rows += feed(subject, driver, [Entry(as_raw(ticks[0], ticks[0].at), {})], driver.marks[0] + 1)
        deadlines.note(space, driver.deadline(space))
    left = driver.deadline(space)
    assert left is None or int(left.split("/")[1]) > until, f"{left} is due, and was ticked for"
    return rows


def dated_at_deadline(subject: Subject, log: Log, revealers: Sequence[Outside]) -> None:
    """Effects of deadlines are the same, and dated the same, whichever of `revealers`, all of one late time and space,
    shows that they passed."""
    found = _revealed(subject, log, [(revealer, False) for revealer in revealers])
    assert all(other == found[0] for other in found), "what reveals a deadline changes what it brings about"


def ticked(subject: Subject, log: Log, revealer: Outside) -> None:
    """Effects of deadlines are the same, and dated the same, whether the live runtime ticked for each in time, or an
    event long afterwards shows that they passed. For a processor alone: the ticks of others are events like any."""
    in_time, late = _revealed(subject, log, [(revealer, True), (revealer, False)])
    assert in_time == late, "an effect is not dated at its deadline"


def _revealed(subject: Subject, log: Log, ways: Sequence[tuple[Outside, bool]]) -> list[list[bytes]]:
    """What deadlines bring about by the time of an event that reveals them, as sorted bytes: for each such event, and
    whether there were ticks before it. The log is folded once; each way goes on from what was saved of that."""
    folded = subject.driver()
    feed(subject, folded, log)
    saved = save(folded, {})
    found = []
    for revealer, ticks in ways:
        driver, late, space = resume(subject, folded, saved), revealer.at, revealer.space
        rows = tick(subject, driver, space, late - 1) if ticks and space in driver.spaces else []
        rows += feed(subject, driver, [Entry(as_raw(revealer, late), {})], driver.marks[0] + 1)
        rows += tick(subject, driver, space, late)
        found.append(sorted(orjson.dumps(row.event) for row in rows if row.event.at < late))
    return found


def digest(subject: Subject, log: Log) -> str:
    """A hash of everything derived."""
    return hashlib.sha256(to_bytes(feed(subject, subject.driver(), log))).hexdigest()
