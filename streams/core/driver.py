"""One pass: each event of the raw log goes once through all processors, in the order of the registry.

    raw event -> manifest -> open_efforts -> working_context -> ...

Each processor is handed what the processors it reads have just made of the event, in the order of the registry, and
last the raw event itself; each only of the types that it takes. So the flow needs no joins, no forwarded copies and no
waiting: what two streams say about one raw event arrives together. One raw event, one pass is the unit of work, of
order, and of what is committed together.

Why the raw event comes last: who is handed it knows all that was made of it. An effort is closed with the words of the
offer that the closing accepts, a session's end is acted upon when its last conclusions are drawn.

What a processor cannot fold is set aside: that event, for that processor and for those that read it, so that a stream
depends on its own lineage alone, whoever folds it beside what. A space's clock is no processor's: it always goes on.

No I/O here. The embedded runtime, replays and Kafka workers make the same pass; they only move what goes in and out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

from streams.core import repeats
from streams.core.clock import DUE, Clock
from streams.core.errors import NO_FAULTS, Aside, FaultError, NewerError, listed
from streams.core.events import OUTSIDE, UPCASTS, Outside, TurnRecorded, decode
from streams.core.params import Params
from streams.core.processor import RAW, Derived, Held, Processor, Raw, Records, State, Step, lineages
from streams.core.repeats import news
from streams.core.text import NO_TEXT, VERSION, Text, read
from streams.core.text.echo import without_echo

CLOCK = "clock"
"""Where the driver keeps a space's clock, in the state of the raw log's lineage."""
WATCHED = 13
"""One raw event in so many is timed. Why few: to time each step takes a twentieth of a fold. Why a prime: offsets go by
turns, of speakers and of spaces, and all of them are to be seen. Not the first, which finds everything unprepared."""


class Position(NamedTuple):
    """Provenance of a derived event and its idempotence token. Order is lexicographic within a partition."""

    partition: int
    offset: int
    """Of the raw-log event that caused it."""
    ordinal: int
    """Its place among what its processor made of that event, from 0."""


class Record(NamedTuple):
    """An event as a log holds it."""

    partition: int
    offset: int
    space: str
    recorded_at: int
    """UTC microseconds, stamped by the log; stays with the event in every copy."""
    type: str
    value: bytes
    hash: bytes = b""
    """Of the log up to here, this record included: two logs that have the same one at an offset are the same so far."""

    @property
    def is_readable(self) -> bool:
        """Whether it says anything; not where the key of its contents was destroyed."""
        return self.value != b""


Handed = tuple[Step[Any, Any], Derived]
"""A derived event, and the step that takes it."""

Placed = tuple[int, int, int, Derived]
"""A derived event after its position: (partition, offset, ordinal, event). A plain tuple: millions of them are made."""


class Row(NamedTuple):
    """A derived event and where it stands."""

    position: Position
    event: Derived


def told_aside(aside: Sequence[Aside]) -> str:
    """What could not be folded, for people; "" where all could."""
    if not aside:
        return ""
    newer = any(one.error == NewerError.__name__ for one in aside)
    way_out = "install the newest mnemolog, a later version wrote it" if newer else "please report it"
    return f"could not fold {listed(one.told() for one in aside)}; {way_out}"


class RegistryError(ValueError):
    """The processors do not fit together: one reads what does not stand before it, or takes what nobody emits."""


def root_schema() -> dict[str, Any]:
    """What the raw log is read with; its hash is the root of every lineage."""
    return {
        "events": {name: [f.name for f in fields(cls)] for name, cls in sorted(OUTSIDE.items())},
        "upcasts": sorted(UPCASTS),
        "text": VERSION,
        "repeats": repeats.VERSION,
    }


def raw_of(record: Record, text: Text | None = None) -> Raw[Any]:
    """What processors are given for a record; `text` where a cache has the features already.

    Raises FaultError for a record that no edge let through, and for words that cannot be read.
    """
    place = record.space, record.partition, record.offset
    return _made(lambda: as_raw(decode(record.type, record.value), record.recorded_at, text), *place)


def read_raw(event: Outside, recorded_at: int, space: str, partition: int, offset: int) -> Raw[Any]:
    """What processors are given for a decoded event of a log. Raises FaultError for words that cannot be read."""
    return _made(lambda: as_raw(event, recorded_at), space, partition, offset)


def _made(make: Callable[[], Raw[Any]], space: str, partition: int, offset: int) -> Raw[Any]:
    try:
        return make()
    except Exception as error:  # why any: whatever is in a record must stop no other
        if isinstance(error, NO_FAULTS) and not isinstance(error, NewerError):
            raise
        raise FaultError(Aside(partition, offset, RAW, space, type(error).__name__)) from error


def as_raw(event: Outside, recorded_at: int, text: Text | None = None) -> Raw[Any]:
    """What processors are given for a decoded event: of a turn, its words without what mnemolog itself had rendered."""
    if isinstance(event, TurnRecorded):
        words = without_echo(event.content)
        echo = len(event.content) - len(words)
        if echo:
            event = replace(event, content=words)
        return Raw(event, text or read(event), recorded_at, echo=echo)
    return Raw(event, NO_TEXT, recorded_at)


class _Stage:
    """One processor in the pass: its parameters, its steps by event type, and who takes what it makes."""

    __slots__ = ("index", "otherwise", "params", "parents", "processor", "seconds", "steps", "steps_made", "takers")

    def __init__(self, processor: Processor[Any], params: Params, index: int) -> None:
        self.processor = processor
        self.params = params
        self.index = index
        self.seconds = 0.0
        """Of those raw events that are timed."""
        self.steps_made = 0
        self.parents: tuple[int, ...] = ()
        self.steps: dict[type, Step[Any, Any]] = {on.kind: on.step for on in processor.takes if on.kind}
        self.otherwise = next((on.step for on in processor.takes if on.kind is None), None)
        self.takers: dict[type, list[tuple[int, Step[Any, Any]]]] = {}
        """By type of what it makes: the place of each later stage that takes it, and its step."""

    def hand_on(self, made: Iterable[Derived], waiting: list[list[Handed] | None]) -> None:
        """Adds what the processor made to what waits for those that take it; `waiting` by place of the stage."""
        for output in made:
            for place, follow in self.takers.get(type(output), ()):
                handed = waiting[place]
                if handed is None:
                    waiting[place] = [(follow, output)]
                else:
                    handed.append((follow, output))


class Driver:
    """Processors folded together: their states by space, and how far each partition of the raw log was folded.

    `given` names processors that are not folded: what they made is handed in (from a memory that holds it). `records`
    makes what holds the encoded records of a state.
    """

    def __init__(
        self,
        processors: Iterable[Processor[Any]],
        params: Mapping[str, Params],
        given: Collection[str] = (),
        records: Callable[[], Records] = Held,
    ) -> None:
        """Raises RegistryError for processors that do not fit together."""
        self._records = records
        self.processors = tuple(processors)
        emitted = _check(self.processors)
        self._params = params
        self.marks: dict[int, int] = {}
        """The offset of the last raw event folded, by partition."""
        self.spaces: dict[str, list[State]] = {}
        """By space: the state of the driver itself (its clock), then one for each processor."""
        self._aside: dict[tuple[int, int], set[str]] = {}
        """By position, the streams to which nothing of an event is handed."""
        self._given = frozenset(given)
        self._stages = [_Stage(p, params[p.name], i) for i, p in enumerate(self.processors, 1)]
        for stage in self._stages:
            taken = {kind: step for kind, step in stage.steps.items() if kind in emitted}
            stage.parents = tuple(sorted({emitted[kind] for kind in taken}))
            for kind, step in taken.items():
                self._stages[emitted[kind] - 1].takers.setdefault(kind, []).append((stage.index, step))
        self._routes = {cls: self._route(cls) for cls in OUTSIDE.values()}

    def _route(self, cls: type) -> list[tuple[_Stage, Step[Any, Any] | None]]:
        """The stages that an event of this class may reach, each with its step for the event itself."""
        reached: set[int] = {stage.index for stage in self._stages if stage.processor.name in self._given}
        route = []
        for stage in self._stages:
            step = stage.steps.get(cls) or stage.otherwise
            if stage.index not in reached and (step is not None or not reached.isdisjoint(stage.parents)):
                reached.add(stage.index)
                route.append((stage, step))
        return route

    @cached_property
    def lineages(self) -> dict[str, str]:
        """The lineage of each processor, by name, and of the raw log under RAW. Computed when it is first asked for:
        it takes longer than all the rest of a driver, and who only folds does not ask."""
        return lineages(self.processors, self._params, root_schema())

    @property
    def names(self) -> list[str]:
        """Of the streams of which there is state, as `spaces` orders it: the raw log's (the driver's own) first."""
        return [RAW, *(processor.name for processor in self.processors)]

    def fold(
        self,
        space: str,
        partition: int,
        offset: int,
        raw: Raw[Any],
        rows: list[Placed],
        given: Mapping[str, Sequence[Derived]] | None = None,
    ) -> bool:
        """Folds one raw event; adds what is derived to `rows`, each processor's in order.

        `given` has what the processors that are not folded made of it. An offset that is not above the mark of its
        partition changes nothing and adds nothing. Returns whether the event was folded.

        Raises FaultError where a processor cannot fold it: the space's state in memory, and `rows`, are no longer good
        then. Whoever folds sets it aside, has the state be what it was before the event, and folds it again.
        """
        if offset <= self.marks.get(partition, -1):
            return False
        self.marks[partition] = offset
        aside = self._aside.get((partition, offset), _NO_STREAMS) if self._aside else _NO_STREAMS
        if RAW in aside:
            return False
        states = self.spaces.get(space)
        if states is None:
            states = self.load(space, {})
        event = raw.event
        own = states[0]
        stage: _Stage | None = None
        try:
            clock = own.index(_clock)
            if clock.strike(raw, event.at, isinstance(event, TurnRecorded)):
                own.put(CLOCK, clock)
            if isinstance(event, TurnRecorded) and (words := news(own, event)) is not event.content:
                event = replace(event, content=words)
                raw = replace(raw, event=event, text=read(event), repeated=len(raw.event.content) - len(words))
            if raw.is_unsaid:
                return True  # Nobody said anything: a turn without words between two would part what belongs together.
            waiting: list[list[Handed] | None] = [None] * len(states)
            if given:
                for known in self._stages:
                    known.hand_on(given.get(known.processor.name, ()), waiting)
            watched = not (offset + 1) % WATCHED
            route = self._routes[type(event)]
            if aside:
                route = [(stage, step) for stage, step in route if stage.processor.name not in aside]
            for stage, step in route:
                began = perf_counter() if watched else 0.0
                outputs: list[Derived] = []
                handed = waiting[stage.index]
                if handed is not None:
                    for follow, output in handed:
                        outputs += follow(stage.params, states[stage.index], output, raw)
                    stage.steps_made += len(handed)
                if step is not None:
                    outputs += step(stage.params, states[stage.index], event, raw)
                    stage.steps_made += 1
                if watched:
                    stage.seconds += perf_counter() - began
                if outputs:
                    stage.hand_on(outputs, waiting)
                    rows += [(partition, offset, ordinal, output) for ordinal, output in enumerate(outputs)]
        except NO_FAULTS:
            raise
        except Exception as error:  # why any: what one processor cannot fold must stop no other
            at_fault = RAW if stage is None else stage.processor.name
            raise FaultError(Aside(partition, offset, at_fault, space, type(error).__name__)) from error
        return True

    def set_aside(self, partition: int, offset: int, processor: str) -> None:
        """Has the processor, and all that read it, directly or not, pass an event by; with RAW, everything does."""
        aside = self._aside.setdefault((partition, offset), set())
        aside.add(processor)
        for later in self.processors:
            if not aside.isdisjoint(later.reads):
                aside.add(later.name)

    def load(self, space: str, saved: Mapping[str, Mapping[str, bytes]]) -> list[State]:
        """Takes the saved state of a space, by stream, in the place of what there is; its states."""
        states = self.spaces[space] = [State(self._records()) for _ in self.names]
        self.take(space, saved)
        return states

    def take(self, space: str, saved: Mapping[str, Mapping[str, bytes]]) -> None:
        """Takes more of the saved state of a space that was just loaded."""
        for name, state in zip(self.names, self.spaces[space], strict=True):
            if records := saved.get(name):
                state.take(records)

    def begin_again(self) -> None:
        """Takes any offset next: for who folds a log space by space, each of its offsets once."""
        self.marks.clear()

    def deadline(self, space: str) -> str | None:
        """The first state key of a space that asks for a tick; None where none does. The space is in `spaces`."""
        keys = [key for state in self.spaces[space] for key in state.keys(DUE, 1)]
        return min(keys, default=None)

    def clock(self, space: str) -> Clock:
        """What time it is in a space. The space is in `spaces`."""
        return self.spaces[space][0].index(_clock)

    def evict(self, most: int, keep: Collection[str]) -> None:
        """Lets go of the states of spaces beyond `most`, those longest in memory first, but of none in `keep`."""
        surplus = len(self.spaces) - max(most, len(keep))
        if surplus > 0:
            for space in list(islice((space for space in self.spaces if space not in keep), surplus)):
                del self.spaces[space]

    def decoded(self) -> int:
        """How many records the states in memory hold decoded."""
        return sum(len(state) for states in self.spaces.values() for state in states)

    def rest(self) -> None:
        """Encodes all records, when their changes are taken (see `State.rest`)."""
        for states in self.spaces.values():
            for state in states:
                state.rest()

    def seconds(self) -> dict[str, float]:
        """The time spent in each processor, about: that of the raw events that were timed, for all."""
        return {stage.processor.name: stage.seconds * WATCHED for stage in self._stages}

    def steps(self) -> dict[str, int]:
        """How often each processor was called."""
        return {stage.processor.name: stage.steps_made for stage in self._stages}


_NO_STREAMS: frozenset[str] = frozenset()


def _clock(state: State) -> Clock:
    return state.get(CLOCK, Clock) or Clock()


def _check(processors: Sequence[Processor[Any]]) -> dict[type, int]:
    """Who emits each derived type: the place in the pass, from 1. Raises RegistryError."""
    emitted: dict[type, int] = {}
    outside = set(OUTSIDE.values())
    before = {RAW: 0}
    for place, processor in enumerate(processors, 1):
        for stream in processor.reads:
            if stream not in before:
                raise RegistryError(f"{processor.name} reads {stream}, which does not stand before it")
        unused = dict.fromkeys(processor.reads)
        for on in processor.takes:
            stream = RAW if on.kind is None or on.kind in outside else _named(processors, emitted.get(on.kind))
            unused.pop(stream, None)
            if stream not in processor.reads:
                kind = on.kind.__name__ if on.kind else "every outside event"
                raise RegistryError(f"{processor.name} takes {kind}, which no stream that it reads has")
        if unused:
            raise RegistryError(f"{processor.name} reads {', '.join(unused)} and takes nothing of it")
        for cls in processor.emits:
            if cls in emitted or cls in outside:
                raise RegistryError(f"{processor.name} emits {cls.__name__}, which another does")
            emitted[cls] = place
        if processor.name in before:
            raise RegistryError(f"two processors are called {processor.name}")
        before[processor.name] = place
    return emitted


def _named(processors: Sequence[Processor[Any]], place: int | None) -> str:
    return processors[place - 1].name if place else ""


def ancestors(processors: Sequence[Processor[Any]], names: Collection[str]) -> list[Processor[Any]]:
    """The processors of these names and all that they read, directly or not, in the order of the registry."""
    needed = set(names)
    for processor in reversed(processors):
        if processor.name in needed:
            needed.update(processor.reads)
    return [processor for processor in processors if processor.name in needed]


def fold(
    processors: Iterable[Processor[Any]],
    events: Iterable[Outside],
    params: Mapping[str, Params] | None = None,
    recorded_at: int | None = None,
) -> list[Row]:
    """All rows that `processors` derive from `events`, in memory: for tests and tuning.

    `params` by processor name, defaults where missing. `recorded_at` is each event's own `at` unless given.
    """
    processors = tuple(processors)
    driver = Driver(processors, {p.name: (params or {}).get(p.name) or p.params() for p in processors})
    placed: list[Placed] = []
    for offset, event in enumerate(events):
        driver.fold(event.space, 0, offset, as_raw(event, event.at if recorded_at is None else recorded_at), placed)
    return rows_of(placed)


def rows_of(placed: Iterable[Placed]) -> list[Row]:
    """Derived events with their positions, as given."""
    return [Row(Position(partition, offset, ordinal), event) for partition, offset, ordinal, event in placed]
