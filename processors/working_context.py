"""Working context: per session, the efforts most relevant now, about four.

Source: Cognitive Context Management, tier 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from processors.open_efforts import (
    EffortConcluded,
    EffortOpened,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    FactThreaded,
    TurnRethreaded,
    TurnThreaded,
)
from streams.processor import Derived, Params, Processor, State, param


@dataclass(slots=True)
class ContextChanged:
    """An effort entered a session's context, left it, or is shown in another way."""

    space: str
    session: str
    at: int
    turn: str
    effort: str
    change: Literal["entered", "left", "expanded", "condensed", "recalled"]
    score: float
    reason: str
    """mentioned, similar, displaced, concluded, retracted, ..."""
    other: str
    """The effort that displaced it, or that it displaced; "" for none."""
    type: Literal["context-changed.v1"] = "context-changed.v1"


@dataclass(slots=True)
class ContextScored:
    """The context of a session after a turn. One for each turn: lists of the same length, most relevant first."""

    space: str
    session: str
    at: int
    turn: str
    role: str
    efforts: list[str]
    scores: list[float]
    modes: list[str]
    """summary, expanded or recalled (a concluded effort's summary brought back)."""
    signals: list[str]
    """What made the score, as `mentioned=1 similar=0.4`."""
    touched: list[str]
    """The efforts that this turn mentions or pulls in, for co-activation."""
    activations: list[float]
    """Their relevance, 0 to 1; same length as `touched`."""
    type: Literal["context-scored.v1"] = "context-scored.v1"


class WorkingContextParams(Params):
    """What is relevant, and how much of it fits."""

    capacity: int = param(4, "efforts", "working memory holds 3 to 5 chunks", source="Cowan 2001", ge=1, le=16)


@dataclass(slots=True)
class Context:
    """State, `session/<id>`: the context of a session."""

    efforts: list[str]


Read = (
    EffortOpened
    | TurnThreaded
    | TurnRethreaded
    | EffortProgressed
    | EffortConcluded
    | EffortResumed
    | EffortRated
    | FactThreaded
)


def step(params: WorkingContextParams, state: State, event: Read) -> list[Derived]:
    """Scores the session's context after each turn."""
    return list(_step(params, state, event))


def _step(params: WorkingContextParams, state: State, event: Read) -> Iterator[Derived]:
    if not isinstance(event, TurnThreaded):
        return
    key = f"session/{event.session}"
    context = state.get(key, Context) or Context([])
    if event.effort and event.effort not in context.efforts:
        context.efforts = [event.effort, *context.efforts][: params.capacity]
        yield ContextChanged(
            event.space, event.session, event.at, event.turn, event.effort, "entered", 1.0, "mentioned", ""
        )
    state.put(key, context)
    n = len(context.efforts)
    yield ContextScored(
        event.space, event.session, event.at, event.turn, event.role, list(context.efforts), [1.0] * n,
        ["expanded"] * n, ["mentioned=1"] * n, [event.effort] if event.effort else [], [1.0] if event.effort else [],
    )  # fmt: skip


PROCESSOR = Processor(
    name="working_context",
    version=1,
    reads="open_efforts",
    params=WorkingContextParams,
    emits=(ContextChanged, ContextScored),
    step=step,
)
