"""How well the working context holds what the talk comes back to, and how large it is.

Resumed in context: of four task dialogues interleaved in one session, at the first turn after a resumption, how often
the effort that held most of the resumed dialogue's earlier turns is in context (as an open entry, or with its summary
kept where it was concluded). Floors, in the same run: the last 4,000 tokens of the session (read twice: generously,
where one earlier turn of the dialogue is enough, and most of them), and the same processor displacing the oldest.

Size: what a model is given over a thousand turns of one session of a real memory, against the raw turns.

Without data there are no rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from processors import manifest, open_efforts, working_context
from processors.open_efforts import TurnRethreaded, TurnThreaded
from processors.working_context import PRESETS, ContextScored, WorkingContextParams
from streams.core.driver import Driver, Placed, as_raw
from streams.core.events import SECOND, TurnRecorded
from streams.core.text.terms import tokens
from tests.bench.interleave import START, Interleaved, sessions
from tests.spaces import Remembering

WINDOW = 4000
IN_CONTEXT_BAR = 90.0
GROWTH_BAR = 1.1
PROCESSORS = (manifest.PROCESSOR, open_efforts.PROCESSOR, working_context.PROCESSOR)


class Session:
    """One session folded turn by turn: what is known of its efforts, and its context, after each turn."""

    def __init__(self, params: WorkingContextParams) -> None:
        given = {p.name: p.params() for p in PROCESSORS} | {"working_context": params}
        self.driver = Driver(PROCESSORS, given)
        self.efforts: dict[str, str] = {}
        """Turn to effort, after the revisions so far."""
        self.scored: ContextScored | None = None

    def feed(self, event: TurnRecorded) -> None:
        """Folds one turn."""
        placed: list[Placed] = []
        self.driver.fold(event.space, 0, self.driver.marks.get(0, -1) + 1, as_raw(event, event.at), placed)
        for *_, derived in placed:
            if isinstance(derived, TurnThreaded | TurnRethreaded):
                self.efforts[derived.turn] = derived.effort
            elif isinstance(derived, ContextScored):
                self.scored = derived

    def entries(self, open_only: bool = False) -> list[str]:
        """The efforts in context; `open_only` leaves out those of which only the conclusion is kept."""
        if self.scored is None:
            return []
        shown = zip(self.scored.efforts, self.scored.modes, strict=True)
        return [effort for effort, mode in shown if not open_only or mode in ("summary", "expanded")]


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
    """What a model is given over one long session: its size against the raw turns, and its growth."""
    said, sizes, raw = _long(turns), list[tuple[int, int]](), 0
    if not said:
        return []
    with TemporaryDirectory() as folder, Remembering(Path(folder) / "home") as space:
        for at, event in enumerate(said):
            space.add(event)
            raw += tokens(event.content)
            if at >= 150 and at % 10 == 0:
                sizes.append((at, space.ask("context", space=event.space, session=event.session)["tokens"]))
    early = median(size for at, size in sizes if at < 250)
    late = median(size for at, size in sizes if at >= 800)
    largest, saved = max(size for _, size in sizes), 100 * (1 - sizes[-1][1] / raw)
    return [
        _row("largest context, tokens", {"raw turns": raw}, largest, f"<= {WINDOW}", largest <= WINDOW),
        _row(
            "median of turns 800-1,000 / 150-250", {"raw turns": round(900 / 200, 1)}, round(late / early, 2),
            f"<= {GROWTH_BAR}", late <= GROWTH_BAR * early,
        ),
        _row("saved at the end, %", {"window": round(100 * (1 - WINDOW / raw), 1)}, round(saved, 1), "", True),
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
