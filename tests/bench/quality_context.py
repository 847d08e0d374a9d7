"""How well the working context holds what the talk comes back to, and how large it is.

Resumed in context: of four task dialogues interleaved in one session, at the first turn after a resumption, how often
the effort that held most of the resumed dialogue's earlier turns is in context (as an open entry, or with its summary
kept where it was concluded). Floors, in the same run: the last 4,000 tokens of the session (read twice: generously,
where one earlier turn of the dialogue is enough, and most of them), and the same processor displacing the oldest.

Data is located by MNEMOLOG_DATA, or beside the repository; without it those rows are missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from time import process_time
from typing import Any

import orjson

from processors import manifest, open_efforts, working_context
from processors.open_efforts import EffortConcluded, EffortProgressed, EffortResumed, TurnRethreaded, TurnThreaded
from processors.working_context import PRESETS, ContextScored, WorkingContextParams
from projections.context import render
from projections.material import Entry, Material, Turn
from streams.driver import Placed, Tree, as_root
from streams.events import SECOND, TurnRecorded
from streams.text.terms import tokens
from tests.bench.interleave import START, Interleaved, sessions

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
        placed: list[Placed] = []
        self.tree.fold(event.space, 0, len(self.turns), root, placed)
        for _, _, _, derived in placed:
            match derived:
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

    def entries(self, open_only: bool = False) -> list[str]:
        """The efforts in context; `open_only` leaves out those of which only the conclusion is kept."""
        if self.scored is None:
            return []
        shown = zip(self.scored.efforts, self.scored.modes, strict=True)
        return [effort for effort, mode in shown if not open_only or mode in ("summary", "expanded")]

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


def resumed_in_context(session: Interleaved, params: WorkingContextParams) -> list[tuple[bool, bool]]:
    """For each resumption, whether the resumed effort is in context at its first turn, and whether as an open entry."""
    fold, hits, resumptions = Session(params), [], set(session.resumptions)
    for at, turn in enumerate(session.turns):
        held: Counter[str] = Counter()
        if at in resumptions:
            label = session.labels[at]
            before = zip(session.turns[:at], session.labels, strict=False)
            held.update(fold.efforts[earlier.id] for earlier, of in before if of == label and fold.efforts[earlier.id])
        fold.feed(turn)
        if at in resumptions:
            most = max(held.values(), default=0)
            resumed = [effort for effort, turns in held.items() if turns == most][-1:]
            hits.append((resumed[0] in fold.entries(), resumed[0] in fold.entries(True)) if resumed else (False, False))
    return hits


def in_window(session: Interleaved, size: int = WINDOW) -> list[tuple[bool, bool]]:
    """For each resumption, whether the last `size` tokens hold an earlier turn of the dialogue, and most of them."""
    sizes = [tokens(t.content) + (tokens(orjson.dumps(t.parts).decode()) if t.parts else 0) for t in session.turns]
    hits = []
    for at in session.resumptions:
        left, first = size - sizes[at], at
        while first > 0 and left >= sizes[first - 1]:
            first -= 1
            left -= sizes[first]
        label = session.labels[at]
        seen, earlier = session.labels[first:at].count(label), session.labels[:at].count(label)
        hits.append((seen > 0, 2 * seen > earlier))
    return hits


def percent(hits: Sequence[tuple[bool, bool]], at: int) -> float:
    """Share of hits in the first or second sense, in percent."""
    return round(100 * sum(hit[at] for hit in hits) / max(len(hits), 1), 1)


def resumption_rows(count: int = 40, **how: Any) -> list[dict[str, Any]]:
    """Ours against the floors; no rows where the data is absent."""
    talks = sessions(count, **how)
    if not talks:
        return []
    default, oldest, window = [], [], []
    for talk in talks:
        default += resumed_in_context(talk, PRESETS["default"])
        oldest += resumed_in_context(talk, PRESETS["oldest-first"])
        window += in_window(talk)
    floors = {
        "last 4,000 tokens hold a turn of it": percent(window, 0),
        "most turns of it": percent(window, 1),
        "oldest displaced": percent(oldest, 0),
    }
    ours, opened, floor = percent(default, 0), percent(default, 1), percent(oldest, 1)
    return [
        _row(
            f"resumed effort in context, % of {len(default)}", floors, ours, f">= {IN_CONTEXT_BAR:.0f}, above floors",
            ours >= IN_CONTEXT_BAR and ours > max(floors.values()),
        ),
        _row(
            "as an open entry, %", {"oldest displaced": floor}, opened, f">= {IN_CONTEXT_BAR:.0f}, above floor",
            opened >= IN_CONTEXT_BAR and opened > floor,
        ),
    ]  # fmt: skip


def size_rows(turns: int = 1000) -> list[dict[str, Any]]:
    """The rendered context over one long session: its size against the raw turns, its growth, its price."""
    fold, sizes, raw, seconds = Session(PRESETS["default"]), [], 0, []
    for at, event in enumerate(_long(turns)):
        fold.feed(event)
        raw += tokens(event.content)
        if at >= 150 and at % 5 == 0:
            material = fold.material()
            began = process_time()
            sizes.append((at, render(material).tokens, raw))
            seconds.append(process_time() - began)
    if not sizes:
        return []
    early = median(size for at, size, _ in sizes if at < 250)
    late = median(size for at, size, _ in sizes if at >= 800)
    largest, saved = max(size for _, size, _ in sizes), 100 * (1 - sizes[-1][1] / sizes[-1][2])
    price = 1000 * median(seconds)
    return [
        _row("largest context, tokens", {"raw turns": raw}, largest, f"<= {WINDOW}", largest <= WINDOW),
        _row(
            "median of turns 800-1,000 / 150-250", {"raw turns": round(900 / 200, 1)}, round(late / early, 2),
            f"<= {GROWTH_BAR}", late <= GROWTH_BAR * early,
        ),
        _row("saved at the end, %", {"window": round(100 * (1 - WINDOW / raw), 1)}, round(saved, 1), "", True),
        _row("render, ms", {}, round(price, 2), f"< {RENDER_BAR:.0f}", price < RENDER_BAR),
    ]  # fmt: skip


def _long(turns: int) -> list[TurnRecorded]:
    """One session of that many turns: groups of interleaved dialogues, one after the other."""
    joined: list[TurnRecorded] = []
    for talk in sessions(40):
        for turn in talk.turns:
            at = len(joined)
            joined.append(replace(turn, space="long", id=f"turn-{at:04d}", at=START + at * 30 * SECOND))
    return joined[:turns]


def _row(measure: str, floors: dict[str, Any], ours: float, bar: str, met: bool) -> dict[str, Any]:
    return {"measure": measure, "floors": floors, "ours": ours, "bar": bar, "met": met}


def run() -> list[dict[str, Any]]:
    """All rows of this table."""
    return resumption_rows() + size_rows()


def main() -> None:
    """Prints the table."""
    for row in run():
        floors = ", ".join(f"{name} {value}" for name, value in row["floors"].items())
        met = "met" if row["met"] else "MISSED"
        print(f"{row['measure']:<40} {row['ours']:>8}  bar {row['bar']:<20} {met:<7} floors: {floors}")


if __name__ == "__main__":
    main()
