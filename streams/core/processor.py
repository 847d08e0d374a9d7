"""The one idea: a processor is a pure fold, per space, from streams of events to a stream of its own.

    step(params, state, event, raw) -> events derived from it

`Processor` is a value; the same value runs in the embedded runtime, in a Kafka worker and in a replay (see driver).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

import orjson

from streams.core.params import Params
from streams.core.read_model import ReadModel
from streams.core.state import Held as Held
from streams.core.state import Records as Records
from streams.core.state import State as State
from streams.core.text import Text

P = TypeVar("P", bound="Params")
E = TypeVar("E")

Moment = Annotated[int, "UTC microseconds since 1970"]
"""A time in a derived event; stored as a timestamp."""


@dataclass(slots=True)
class Derived:
    """What every derived event says."""

    space: str
    session: str
    at: int
    """UTC microseconds: of the event that caused it, or of the deadline."""


@dataclass(slots=True)
class Raw(Generic[E]):
    """An event of the raw log as processors are given it, with what its words say and the time it is in its space."""

    event: E
    text: Text
    """The text features of a turn; NO_TEXT for any other event."""
    recorded_at: int
    """When the log recorded it, UTC microseconds; stays with the event in every copy of the log."""
    now: int = 0
    """The space's clock, UTC microseconds: the greatest `at` of its events so far, this one's included."""
    echo: int = 0
    """Characters of the turn as it was recorded that are left out here, for mnemolog itself had rendered them."""
    repeated: int = 0
    """Characters that are left out here, for they are a transcript of earlier turns; a memory keeps them."""

    @property
    def is_unsaid(self) -> bool:
        """Whether it is a turn of which nothing is left: it held what mnemolog had rendered, and that alone."""
        turn: Any = self.event
        return self.echo > 0 and not (turn.content or turn.parts)


def derived_id(kind: str, space: str, first_turn: str, ordinal: int = 0) -> str:
    """The id of a derived thing: a hash of (space, kind, first turn, ordinal), so that every lineage can name it."""
    key = f"{space}\0{kind}\0{first_turn}\0{ordinal}".encode()
    return f"{kind}-{hashlib.blake2b(key, digest_size=8).hexdigest()}"


def digest(text: str) -> str:
    """A short hash of an id that is kept many times: 12 characters."""
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def r6(number: float) -> float:
    """Numbers in events are rounded to 1e-6, so that no platform's last bit reaches a digest."""
    return round(number, 6)


Step = Callable[[P, State, E, Raw[Any]], Sequence[Derived]]
"""What a processor makes of one event, given its parameters, its state of the event's space, and the raw event that is
the cause (for an outside event: itself). State may change; nothing else does."""


@dataclass(frozen=True, slots=True)
class On(Generic[P]):
    """An event type that a processor takes, and its step for it; made by `on`. `kind` None: see `otherwise`."""

    kind: type | None
    step: Step[P, Any]


def on(kind: type[E], step: Step[P, E]) -> On[P]:
    """The processor takes events of this type."""
    return On(kind, step)


def otherwise(step: Step[P, Any]) -> On[P]:
    """The processor takes every outside event for which it has no step of its own: it has to know the time."""
    return On(None, step)


RAW = "turns"
"""The name of the raw log as a stream: the root of all others."""


@dataclass(frozen=True, slots=True)
class Processor(Generic[P]):
    """A pure fold from the streams it `reads` to its own. Its docstring is its module's."""

    name: str
    """Its name on topics, tables and the command line."""
    version: int
    """Rises with every change of what it derives."""
    params: type[P]
    takes: tuple[On[P], ...] = field(repr=False)
    """The event types it is called for, each with its step. For any other it is not called."""
    emits: tuple[type, ...]
    reads: tuple[str, ...] = (RAW,)
    """The streams that it takes events of: RAW, and processors that stand before it in the registry."""
    read_model: ReadModel = field(default=ReadModel(), repr=False)
    """What it offers to those who ask."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """Its share of the presets: values of parameters, by the name of the preset (see presets)."""


def params_of(processors: Iterable[Processor[Any]], stored: Mapping[str, Any]) -> dict[str, Params]:
    """Parameter objects of `processors` from plain values by name; defaults where there are none.

    Raises ValueError for a parameter that is unknown or out of range.
    """
    return {p.name: p.params.of(stored.get(p.name, {})) for p in processors}


def _digest(value: object) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def lineages(processors: Iterable[Processor[Any]], params: Mapping[str, Params], root: object) -> dict[str, str]:
    """The lineage of every processor, by name, and that of the raw log under RAW.

    SHA-256 (16 hex digits of it) of the canonical JSON of its name, version, parameters and the lineages of what it
    reads. `root` says what the raw log is read with: event schema, upcasts, version of the text features.
    """
    found = {RAW: _digest(root)}
    for processor in processors:
        found[processor.name] = _digest(
            {
                "name": processor.name,
                "version": processor.version,
                "params": params[processor.name].plain(),
                "reads": [found[stream] for stream in processor.reads],
            }
        )
    return found
