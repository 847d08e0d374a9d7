"""How well the working context holds what the talk comes back to, and how large it is.

Resumed in context: of four task dialogues interleaved in one session, at the first turn after a resumption, how often the
effort that held most of the resumed dialogue's earlier turns is among the entries. Floors, in the same run: the last
4,000 tokens of the session hold at least one earlier turn of the dialogue (a generous reading: a single turn, of which
only the end may be left, counts as the whole effort); the same processor with displacement of the oldest.

Data is located by MNEMOLOG_DATA, or beside the repository; without it those rows are missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Any

import orjson

from processors import manifest, open_efforts, working_context
from processors.open_efforts import EffortConcluded, EffortProgressed, EffortResumed, TurnRethreaded, TurnThreaded
from processors.working_context import PRESETS, ContextScored, WorkingContextParams
from projections.context import Entry, Material, Turn, render
from streams.driver import Position, Tree, as_root
from streams.text.terms import tokens
from tests.bench.interleave import Interleaved, sessions

WINDOW = 4000
IN_CONTEXT_BAR = 90.0
GROWTH_BAR = 1.1
RENDER_BAR = 5.0
PROCESSORS = (manifest.PROCESSOR, open_efforts.PROCESSOR, working_context.PROCESSOR)


class Session:
    """One session folded turn by turn: what is known of its efforts, and its context, after each turn."""

    def __init__(self, params: WorkingContextParams) -> None:
        given = {p.name: p.params() for p in PROCESSORS} | {"working_context": params}
        self.tree = Tree(PROCESSORS, given)
        self.turns: list[Turn] = []
        self.efforts: dict[str, str] = {}
        """Turn to effort, after the revisions so far."""
        self.about: dict[str, EffortProgressed] = {}
        self.concluded: dict[str, str] = {}
        self.scored: ContextScored | None = None

    def feed(self, event: Any) -> None:
        """Folds one turn."""
        root = as_root(event, event.at)
        self.turns.append(
            Turn(event.id, event.role, event.agent, event.content, "", event.session, len(self.turns), event.at)
        )
        for row in self.tree.fold(event.space, Position(0, len(self.turns)), root):
            match row.event:
                case TurnThreaded() | TurnRethreaded() as threaded:
                    self.efforts[threaded.turn] = threaded.effort
                case EffortProgressed() as progressed:
                    self.about[progressed.effort] = progressed
                case EffortConcluded() as concluded:
                    self.concluded[concluded.effort] = concluded.conclusion
                case EffortResumed() as resumed:
                    self.concluded.pop(resumed.effort, None)
                case ContextScored() as scored:
                    self.scored = scored
                case _:
                    pass

    def entries(self) -> list[str]:
        """The efforts in context, recalled ones included; not those that only left a conclusion."""
        if self.scored is None:
            return []
        shown = zip(self.scored.efforts, self.scored.modes, strict=True)
        return [effort for effort, mode in shown if mode != "concluded"]

    def material(self) -> Material:
        """What `gather` would find, without a database."""
        scored, last = self.scored, self.turns[-1]
        by_effort: dict[str, list[Turn]] = {}
        for turn in self.turns:
            by_effort.setdefault(self.efforts[turn.id], []).append(turn)
        entries = []
        for effort, mode, score in zip(scored.efforts, scored.modes, scored.scores, strict=True) if scored else ():
            about, turns = self.about.get(effort), by_effort.get(effort, [])
            entries.append(
                Entry(
                    effort, mode, score, topic=about.topic if about else "", summary=about.summary if about else "",
                    conclusion=self.concluded.get(effort, ""), count=len(turns),
                    turns=turns[-40:] if mode == "expanded" else [],
                )
            )  # fmt: skip
        return Material("space", "session", last.position, last.at, entries, [], self.turns[-400:])


def resumed_in_context(session: Interleaved, params: WorkingContextParams) -> list[bool]:
    """For each resumption, whether the resumed effort is in context at its first turn."""
    fold, hits, resumptions = Session(params), [], set(session.resumptions)
    for at, turn in enumerate(session.turns):
        held = Counter(
            fold.efforts[earlier.id]
            for earlier, label in zip(session.turns[:at], session.labels, strict=False)
            if at in resumptions and label == session.labels[at] and fold.efforts[earlier.id]
        )
        fold.feed(turn)
        if at in resumptions:
            most = max(held.values(), default=0)
            resumed = [effort for effort, turns in held.items() if turns == most]
            hits.append(bool(resumed) and resumed[-1] in fold.entries())
    return hits


def in_window(session: Interleaved, size: int = WINDOW) -> list[bool]:
    """For each resumption, whether the last `size` tokens hold an earlier turn of the dialogue, the turn itself included."""
    sizes = [tokens(turn.content) + tokens(orjson.dumps(turn.parts).decode()) * bool(turn.parts) for turn in session.turns]
    hits = []
    for at in session.resumptions:
        left, before, hit = size - sizes[at], at, False
        while left > 0 and before > 0 and not hit:
            before -= 1
            hit = session.labels[before] == session.labels[at]
            left -= sizes[before]
        hits.append(hit)
    return hits


def percent(hits: Sequence[bool]) -> float:
    """Share of hits, in percent."""
    return round(100 * sum(hits) / max(len(hits), 1), 1)


def resumption_rows(count: int = 40, **how: Any) -> list[dict[str, Any]]:
    """Ours against the floors; no rows where the data is absent."""
    talks = sessions(count, **how)
    if not talks:
        return []
    ours, oldest = [], []
    window: list[bool] = []
    for talk in talks:
        ours += resumed_in_context(talk, PRESETS["default"])
        oldest += resumed_in_context(talk, PRESETS["oldest-first"])
        window += in_window(talk)
    floors = {"last 4,000 tokens": percent(window), "oldest displaced": percent(oldest)}
    return [
        {
            "measure": f"resumed effort in context, % of {len(ours)}",
            "floors": floors,
            "ours": percent(ours),
            "bar": f">= {IN_CONTEXT_BAR:.0f} and above the floors",
            "met": percent(ours) >= IN_CONTEXT_BAR and all(percent(ours) > floor for floor in floors.values()),
        }
    ]
