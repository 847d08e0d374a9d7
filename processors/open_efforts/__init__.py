"""Open efforts: units of focused work over segments, sessions and speakers, open until concluded.

A turn goes, in this order, to: the effort its agent declared; that of the turn it replies to; where many users speak
among themselves, that of the message it answers (see crowd); an assistant's or a tool's turn to that of the turn before
it, or to what a word aside between users interrupted; a user's turn to the likeliest of staying, going back to other
work of its session, going on with work of another session, and beginning (see dialogue).

Small talk (greeting, thanks, closing with nothing else said) opens none: it waits and joins what its speaker says next.
A small reply belongs to what it answers.
A concluded effort is resumed when new work on it comes: a user's turn that asks or tells something, not thanks.
Declared efforts outrank detection and are concluded only by being closed. A title that a model wrote takes the place of
that by rules, not of a declared one.

Source: Cognitive Context Management, tier 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from processors.manifest import ConclusionDetected, SegmentConcluded, SegmentSummarized, TurnFiled, TurnRefiled
from processors.open_efforts import passing
from processors.open_efforts.events import (
    EffortConcluded,
    EffortOpened,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    ReferenceMissed,
    TurnRethreaded,
    TurnThreaded,
    TurnUnthreaded,
)
from processors.open_efforts.facts import declare, decline, entitle, mark, take_back, tell_again
from processors.open_efforts.index import active, recently
from processors.open_efforts.jobs import JOBS
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import RECENT, Effort, Session, Summed
from processors.open_efforts.table import conclude, count, main_of, report
from processors.open_efforts.turns import thread
from streams.core.events import (
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    OfferDeclined,
    TitleWritten,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.processor import RAW, Derived, Processor, Raw, State, on
from streams.core.read_model import Group, Joins, Keep, read_model
from streams.core.text.telling import within

__all__ = [
    "PROCESSOR",
    "EffortConcluded",
    "EffortOpened",
    "EffortProgressed",
    "EffortRated",
    "EffortResumed",
    "OpenEffortsParams",
    "ReferenceMissed",
    "TurnRethreaded",
    "TurnThreaded",
    "TurnUnthreaded",
]


_ANSWERS = frozenset(("declaration", "convergence"))
HARDLY = -180
"""Hundredths of log odds by which words speak of an end: below it thanks and a yes are courtesies."""
SUMMARY = 72
"""Tokens kept of the summary of a segment."""


def _refiled(params: OpenEffortsParams, state: State, event: TurnRefiled, raw: Raw[Any]) -> Sequence[Derived]:
    """A turn that went to another segment counts for its effort there."""
    index = state.index(active)
    said = recently(state, index, event.turn)
    if said is None or not said.effort or said.segment == event.segment:
        return ()
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
    return ()


def _progressed(params: OpenEffortsParams, state: State, event: SegmentSummarized, raw: Raw[Any]) -> Sequence[Derived]:
    """What a segment comes to is what its effort comes to so far."""
    if isinstance(raw.event, TurnRetracted):
        return _retold(state, event, raw.event)
    effort_id = main_of(state, event.session, event.segment)
    if not effort_id and event.model:  # it is written of what was said long ago
        said = recently(state, state.index(active), event.first_turn)
        effort_id = said.effort if said else ""
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None or (event.model and event.segment not in effort.summaries):
        return ()
    out: list[Derived] = []
    if not event.model:
        effort.summaries.pop(event.segment, None)
    effort.summaries[event.segment] = within(event.summary, SUMMARY)
    _sum(state, event.segment, effort_id)
    while len(effort.summaries) > 3:
        gone = next(iter(effort.summaries))
        del effort.summaries[gone]
        _sum(state, gone, effort_id, False)
    if event.closed and event.segment in effort.live:
        effort.live.remove(event.segment)
    report(state, event.space, event.session, event.at, effort_id, effort, out)
    return out


def _sum(state: State, segment: str, effort_id: str, has: bool = True) -> None:
    """Remembers whether an effort's summaries have that of a segment."""
    key = f"summed/{segment}"
    summed = state.get(key, Summed) or Summed()
    if (effort_id in summed.efforts) == has:
        return
    if has:
        summed.efforts.append(effort_id)
    else:
        summed.efforts.remove(effort_id)
    if summed.efforts:
        state.put(key, summed)
    else:
        state.delete(key)


def _retold(state: State, event: SegmentSummarized, fact: TurnRetracted) -> Sequence[Derived]:
    """A segment is told without a turn that was taken back, wherever its summary stands. Right after this the fact
    itself comes, and the efforts are told (see take_back); here where too much was said since to know the turn."""
    summed = state.get(f"summed/{event.segment}", Summed) or Summed()
    for effort_id in summed.efforts:
        if (effort := state.get(f"effort/{effort_id}", Effort)) is not None:
            effort.summaries[event.segment] = within(event.summary, SUMMARY)
            state.put(f"effort/{effort_id}", effort)
    return () if recently(state, state.index(active), fact.turn) else tell_again(state, fact, summed.efforts)


def _goes_on(params: OpenEffortsParams, state: State, event: SegmentConcluded, raw: Raw[Any], effort_id: str) -> bool:
    """Whether a segment's conclusion leaves its effort open.

    An answer that was found or declared does, words of which it is in doubt what work they are about, and a user's
    words that hardly speak of an end, unless they part, trouble is over or what was to be decided is chosen. So does
    work that goes on in the very turn by which it is known that an earlier one may have ended it.
    """
    if event.pattern in _ANSWERS:
        return True
    if not isinstance(raw.event, TurnRecorded):
        return False
    index = state.index(active)
    ended = recently(state, index, event.turn)
    if ended is not None and ended.share < params.certain:
        return True
    if raw.event.role != "user":
        return False
    if raw.event.id != event.turn:
        said = recently(state, index, raw.event.id)
        return said is not None and said.effort == effort_id
    ends = event.pattern == "resolution" or "closing" in raw.text.cues or "choice" in raw.text.patterns
    return raw.text.acts[0] < HARDLY and not ends


def _concluded(params: OpenEffortsParams, state: State, event: SegmentConcluded, raw: Raw[Any]) -> Sequence[Derived]:
    """An effort is done when all its live segments of the session where it was worked on last are concluded."""
    out: list[Derived] = []
    index = state.index(active)
    said = recently(state, index, event.turn)
    effort_id = (said.effort if said else "") or main_of(state, event.session, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None or effort.status == "concluded" or _goes_on(params, state, event, raw, effort_id):
        return out
    effort.live = [live for live in effort.live if live != event.segment]
    if not effort.live and not effort.declared:
        by, said_so = event.turn, event.conclusion
        done = EffortConcluded(
            event.space, event.session, event.at, effort_id, by, event.pattern, said_so, event.quotes
        )
        out.append(conclude(state, index, effort, by, done))
    state.put(f"effort/{effort_id}", effort)
    return out


PROCESSOR = Processor(
    name="open_efforts",
    version=23,
    reads=(RAW, "manifest"),
    params=OpenEffortsParams,
    takes=(
        on(TurnFiled, thread),
        on(TurnRefiled, _refiled),
        on(SegmentSummarized, _progressed),
        on(ConclusionDetected, passing.say),
        on(SegmentConcluded, _concluded),
        on(TurnRetracted, take_back),
        on(EffortDeclared, declare),
        on(TitleWritten, entitle),
        on(EffortClosed, mark),
        on(EffortReopened, mark),
        on(OfferDeclined, decline),
        on(ImportanceFlagged, mark),
    ),
    emits=(
        EffortOpened, TurnThreaded, TurnRethreaded, TurnUnthreaded, EffortProgressed, EffortConcluded, EffortResumed,
        EffortRated, ReferenceMissed,
    ),
    read_model=read_model(
        __package__,
        jobs=JOBS,
        behind={"effort": "t.effort = $id"},
        keeps=tuple(
            Keep(event, ("effort",))
            for event in (EffortOpened, EffortProgressed, EffortConcluded, EffortResumed, EffortRated)
        ),
        groups=(
            Group(
                "efforts",
                "turn",
                {TurnThreaded: Joins(by="effort"), TurnRethreaded: Joins(by="effort"), TurnRetracted: Joins()},
            ),
            Group(
                "going_on",
                "effort",
                {
                    EffortOpened: Joins("open"),
                    EffortProgressed: Joins("open"),
                    EffortResumed: Joins("open"),
                    EffortConcluded: Joins("concluded"),
                },
            ),
        ),
    ),
)  # fmt: skip
