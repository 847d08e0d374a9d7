"""Working context: per session, the efforts most relevant to the incoming turn, about four.

    score(e) = (1 - (1 - .9 m)(1 - .6 s)(1 - .4 r)(1 - .4 i)(1 - .4 c)) * fade(e)

m: the turn names e or belongs to it; s: how alike turn and e are; r = trace / (trace + 4), the trace gaining 1 with
each turn on e and halving with disuse (what was used often is kept longer than what was used once); i: flagged
important; c: connected in the manifest to what the turn names. Long untouched, where it was touched at all, and
unconnected both lower the score. An effort enters when a turn names it or is like it; at capacity the least relevant
gives way, not the oldest, and only to what is named or far more relevant. One that had to leave keeps its trace and
comes back where there is room again. While the talk goes on with the effort in hand, the context stands still.

Concluded efforts leave, and their summaries stay until unreferenced for 20 user turns; a turn that names one brings its
summary back, marked recalled.

Sources: Cognitive Context Management, tier 4 (signals, displacement); Cowan 2001 (3 to 5 chunks); Anderson & Schooler
1991, ACT-R base level (trace). The noisy-or of the signals keeps the score below 1 and their order whatever else holds.
"""

from __future__ import annotations

from processors.open_efforts import (
    EffortConcluded,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    TurnRethreaded,
    TurnThreaded,
    TurnUnthreaded,
)
from processors.working_context.events import Change, ContextChanged, ContextScored
from processors.working_context.params import PRESETS, WorkingContextParams
from processors.working_context.record import progressed
from processors.working_context.section import SECTIONS
from processors.working_context.step import concluded, rated, resumed, rethreaded, threaded, unthreaded
from streams.core.processor import Processor, on
from streams.core.read_model import Keep, read_model

__all__ = ["PRESETS", "PROCESSOR", "Change", "ContextChanged", "ContextScored", "WorkingContextParams"]

PROCESSOR = Processor(
    name="working_context",
    version=3,
    reads=("open_efforts",),
    params=WorkingContextParams,
    takes=(
        on(TurnThreaded, threaded),
        on(TurnRethreaded, rethreaded),
        on(TurnUnthreaded, unthreaded),
        on(EffortProgressed, progressed),
        on(EffortConcluded, concluded),
        on(EffortResumed, resumed),
        on(EffortRated, rated),
    ),
    emits=(ContextChanged, ContextScored),
    read_model=read_model(__package__, keeps=(Keep(ContextScored, ("session",)),), sections=SECTIONS),
    presets={
        "task-agent": {"capacity": 3},  # narrow: one task and what it rests on
        "researcher": {"capacity": 5},  # wide: several lines of work are compared
    },
)
