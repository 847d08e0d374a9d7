"""What is known of efforts and sessions: the records, and an index over those of the efforts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from processors.open_efforts import EffortProgressed
from processors.working_context.params import WorkingContextParams
from streams.core.dataclasses import dataclass, field
from streams.core.processor import Derived, Raw, State

CONNECTED = 8
"""Connections remembered per effort."""
TERMS = 12
"""Telling terms compared per effort; with `CONNECTED`, a record stays far below 8 KB."""
REVISED = 4
"""Turns that a revision can reach (the manifest revises within 2)."""
LOOKED_UP = 1024
"""Turns up to which what is left of a trace is looked up in a table: twenty half-lives by default, and some thousand
bytes whatever the half-life."""


@dataclass(slots=True)
class Effort:
    """State, `effort/<id>`: what matters of an effort here."""

    open: bool = True
    important: bool = False
    terms: list[str] = field(default_factory=list)
    """Its most telling terms."""
    connected: list[str] = field(default_factory=list)
    """Efforts it shares telling terms with, or that were named together with it; the last 8."""


@dataclass(slots=True)
class Context:
    """State, `session/<id>`: the context of a session. Dicts keep the order of entry."""

    turns: int = 0
    """Turns so far that count as time: all but tools'."""
    users: int = 0
    """User turns so far."""
    rests: int = 0
    """Until this turn it may stand still: it is scored anew at the latest then."""
    entries: dict[str, bool] = field(default_factory=dict)
    """Efforts in context, and whether they are expanded."""
    traces: dict[str, list[Any]] = field(default_factory=dict)
    """Efforts with a trace: [how strong it was at the last touch, the turn of that touch, touches so far]."""
    closed: dict[str, list[int]] = field(default_factory=dict)
    """Concluded efforts shown as summaries: [user turn of the last reference, 1 if recalled]."""
    recent: list[str] = field(default_factory=list)
    """The last turns and their efforts, flattened, for revisions: turn, effort, turn, effort, ..."""


@dataclass(slots=True)
class Known:
    """Index: what scoring asks of many efforts. A function of the `effort/` records, kept up by `save`."""

    concluded: set[str]
    important: set[str]
    connected: dict[str, list[str]]


def known(state: State) -> Known:
    """The index, built from the records."""
    found = Known(set(), set(), {})
    for key, effort in state.scan("effort/", Effort):
        _note(found, key[7:], effort)
    return found


def _note(index: Known, effort: str, record: Effort) -> None:
    (index.concluded.discard if record.open else index.concluded.add)(effort)
    (index.important.add if record.important else index.important.discard)(effort)
    if record.connected:
        index.connected[effort] = record.connected


def save(state: State, effort: str, record: Effort) -> None:
    """Saves an effort whose status, importance or connections changed."""
    state.put(f"effort/{effort}", record)
    _note(state.index(known), effort, record)


def effort_of(state: State, effort: str) -> Effort:
    """The record of an effort, a new one where there is none."""
    return state.get(f"effort/{effort}", Effort) or Effort()


def context_of(state: State, session: str) -> Context:
    """The context of a session, an empty one where there is none."""
    return state.get(f"session/{session}", Context) or Context()


@lru_cache
def decays(half_life: float) -> tuple[float, ...]:
    """What is left of a trace after 0, 1, 2, ... turns, as far as that is looked up."""
    return tuple(0.5 ** (turns / half_life) for turns in range(min(int(half_life * 20) + 1, LOOKED_UP)))


def left_of(half_life: float, idle: int) -> float:
    """What is left of a trace after so many turns; nothing after twenty half-lives."""
    table = decays(half_life)
    if idle < len(table):
        return table[idle]
    return 0.5 ** (idle / half_life) if idle <= half_life * 20 else 0.0


def touch(params: WorkingContextParams, context: Context, effort: str, amount: float) -> None:
    """An effort gains a trace. In closed form from its last touch: nothing is written while it is not touched."""
    trace, now = context.traces.get(effort), context.turns
    if trace is None:
        context.traces[effort] = [amount, now, 1]
        if len(context.traces) > 2 * params.candidates:
            _forget(params, context)
        return
    trace[0] = trace[0] * left_of(params.half_life, now - trace[1]) + amount
    trace[1] = now
    trace[2] += 1


def _forget(params: WorkingContextParams, context: Context) -> None:
    """The weaker half of the traces goes, those in context excepted. Half at once: the cost per turn stays level."""
    half_life, now, traces = params.half_life, context.turns, context.traces
    weakest = sorted(
        (strength * left_of(half_life, now - last), effort)
        for effort, (strength, last, _) in traces.items()
        if effort not in context.entries
    )
    for _, effort in weakest[: len(traces) - params.candidates]:
        del traces[effort]


def connect(state: State, efforts: list[str]) -> None:
    """The first of the efforts is connected to each of the others, both ways."""
    for other in efforts[1:]:
        for one, two in ((efforts[0], other), (other, efforts[0])):
            effort = effort_of(state, one)
            if two not in effort.connected:
                effort.connected = [*effort.connected, two][-CONNECTED:]
                save(state, one, effort)


def progressed(params: WorkingContextParams, state: State, event: EffortProgressed, raw: Raw[Any]) -> Sequence[Derived]:
    """An effort is connected to those in its session's context with which it shares telling terms."""
    key = f"effort/{event.effort}"
    effort = state.get(key, Effort) or Effort()
    telling = event.terms[:TERMS]
    if effort.terms == telling:
        return ()
    effort.terms = telling
    state.put(key, effort)
    entries = context_of(state, event.session).entries
    if len(entries) > 1 or event.effort not in entries:
        terms = set(telling)
        for other in list(entries):
            if other != event.effort and len(terms.intersection(effort_of(state, other).terms)) >= params.connect:
                connect(state, [event.effort, other])
    return ()
