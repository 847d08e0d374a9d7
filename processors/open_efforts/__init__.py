"""Open efforts: units of focused work over segments, sessions and speakers, open until concluded.

A turn goes, in this order, to: the effort its agent declared; that of the turn it replies to; where many users speak
among themselves, that of the message it answers (see crowd); an assistant's or a tool's turn to that of the turn before
it, or to what a word aside between users interrupted; a user's turn to the likeliest of staying, returning and
beginning (see dialogue). Work of another session is gone on with on strong evidence only (see elsewhere).

Small talk (greeting, thanks, closing with nothing else said) opens none: it waits and joins what its speaker says next.
A small reply belongs to what it answers.
A concluded effort is resumed when new work on it comes: a user's turn that asks or tells something, not thanks.
Declared efforts outrank detection and are concluded only by being closed.

Source: Cognitive Context Management, tier 3.
"""

from __future__ import annotations

from processors.manifest import (
    ArtifactMade,
    ConclusionDetected,
    ConclusionOffered,
    FactFiled,
    OfferSettled,
    SegmentConcluded,
    SegmentOpened,
    SegmentSummarized,
    TurnFiled,
    TurnRefiled,
)
from processors.open_efforts.events import (
    EffortConcluded,
    EffortOpened,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    FactThreaded,
    ReferenceMissed,
    TurnRethreaded,
    TurnThreaded,
)
from processors.open_efforts.facts import concern
from processors.open_efforts.index import active
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import RECENT, Effort, Session
from processors.open_efforts.table import count, main_of, recently, report
from processors.open_efforts.turns import thread
from streams.processor import Derived, Processor, State

__all__ = [
    "PROCESSOR",
    "EffortConcluded",
    "EffortOpened",
    "EffortProgressed",
    "EffortRated",
    "EffortResumed",
    "FactThreaded",
    "OpenEffortsParams",
    "ReferenceMissed",
    "TurnRethreaded",
    "TurnThreaded",
]

Read = (
    SegmentOpened
    | TurnFiled
    | TurnRefiled
    | SegmentSummarized
    | ConclusionDetected
    | SegmentConcluded
    | ConclusionOffered
    | OfferSettled
    | ArtifactMade
    | FactFiled
)


def step(params: OpenEffortsParams, state: State, event: Read) -> list[Derived]:
    """Threads each turn into its effort; follows conclusions, declarations and what else concerns efforts."""
    out: list[Derived] = []
    match event:
        case TurnFiled():
            thread(params, state, event, out)
        case SegmentSummarized():
            _progressed(state, event, out)
        case SegmentOpened() | ConclusionDetected() | ConclusionOffered() | OfferSettled() | ArtifactMade():
            pass
        case TurnRefiled():
            _refiled(state, event)
        case SegmentConcluded():
            _concluded(state, event, out)
        case FactFiled():
            concern(params, state, event, out)
    return out


def _refiled(state: State, event: TurnRefiled) -> None:
    index = state.index(active)
    said = recently(state, index, event.turn)
    if said is None or not said.effort or said.segment == event.segment:
        return
    session = state.get(f"session/{event.session}", Session) or Session()
    old = session.segments.get(said.segment, {})
    if said.effort in old:
        old[said.effort] -= 1
        if old[said.effort] <= 0:
            del old[said.effort]
    count(session, event.segment, said.effort)
    state.put(f"session/{event.session}", session)
    said.segment = event.segment
    state.put(f"turn/{index.turns[event.turn] % RECENT}", said)


def _progressed(state: State, event: SegmentSummarized, out: list[Derived]) -> None:
    effort_id = main_of(state, event.session, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        return
    effort.summaries.pop(event.segment, None)
    effort.summaries[event.segment] = event.summary[:400]
    while len(effort.summaries) > 3:
        del effort.summaries[next(iter(effort.summaries))]
    if event.closed and event.segment in effort.live:
        effort.live.remove(event.segment)
    report(state, event.space, event.session, event.at, effort_id, effort, out)


def _concluded(state: State, event: SegmentConcluded, out: list[Derived]) -> None:
    index = state.index(active)
    said = recently(state, index, event.turn)
    effort_id = (said.effort if said else "") or main_of(state, event.session, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None or effort.status == "concluded":
        return
    effort.live = [live for live in effort.live if live != event.segment]
    if not effort.live and not effort.declared:
        effort.status, effort.ended = "concluded", event.turn
        index.mark(effort_id, effort)
        out.append(
            EffortConcluded(
                event.space, event.session, event.at, effort_id, event.turn, event.pattern, event.conclusion
            )
        )
    state.put(f"effort/{effort_id}", effort)


PROCESSOR = Processor(
    name="open_efforts",
    version=1,
    reads="manifest",
    params=OpenEffortsParams,
    emits=(
        EffortOpened, TurnThreaded, TurnRethreaded, EffortProgressed, EffortConcluded, EffortResumed, EffortRated,
        FactThreaded, ReferenceMissed,
    ),
    step=step,
)  # fmt: skip
