"""The main job on sample conversations: feed, fold, ask, replay, compare. What `make demo` shows.

The turns lie in the past, so the log is given the clock of their day: as if they had been fed live.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text as Styled

from processors import PROCESSORS
from projections import ask, diff
from projections.store import Connection
from streams.core.edge import Accepted, Edge
from streams.core.errors import UsageError
from streams.core.events import Outside, TurnRecorded, iso
from streams.logs import LOG_FILE
from streams.logs.sqlite import SqliteLog
from streams.runtime.home import Home
from streams.runtime.replay import parse_settings, replay

SAMPLES = Path(__file__).parent / "samples"
WIDTH = 100
"""Columns: what a terminal beside an editor has."""
SPACE, SESSION = "harbor", "import-day"
"""The long session, which the demo looks into."""
RESUMED = ("import-day-84", "refund-again-01")
"""Turns that take up earlier work: of three days before, concluded; of the week before, in a new session."""
QUESTION, HITS = "why was the search for connections slow?", 3
"""What is asked of the memory, and how many answers are shown."""
SETTING = "working_context.capacity=2"
ROWS = 12
"""Rows of the chart."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
BUDGET = 4000
"""Tokens: of a rendered context, and of the sliding window it is compared with."""
MARKS = {"expanded": "●", "summary": "◐"}
EXCERPT = 4
"""Lines shown of a rendered context."""
BAR = 36
"""Columns of its longest bar."""
SEGMENTS, EFFORTS, NOTES, MEASURES = 6, 7, 4, 7
"""Rows of the other tables at most."""
WINDOW, ALL = "▒", "░"
RISE = 0.2
"""From here on a gain in relevance is pointed at."""
SHORT = 44
"""Characters of what an effort is called, beside its scores."""


def samples() -> list[Outside]:
    """The events of the sample conversations, in the order they happened."""
    found: list[Outside] = []
    for path in sorted(SAMPLES.glob("*.jsonl")):
        edge = Edge()
        for number, raw in enumerate(path.read_bytes().splitlines(), 1):
            outcome = edge.line(path.name, number, raw)
            assert isinstance(outcome, Accepted), outcome
            found.append(outcome.event)
    return sorted(found, key=lambda event: event.at)


def run(folder: Path | None = None, console: Console | None = None) -> None:
    """Shows the main job in a home at `folder`, a new temporary one where None. Raises UsageError for one in use."""
    out = console or Console(width=None if sys.stdout.isatty() else WIDTH)
    out.width = min(out.width, WIDTH)
    path = folder or Path(tempfile.mkdtemp(prefix="mnemolog-demo-"))
    if path.exists() and any(path.iterdir()):
        raise UsageError(f"{path} is not empty", "give the demo a folder of its own with --home")
    demo = Demo(out, Home(path, PROCESSORS))
    demo.feed()
    with demo.home.reading() as memory:
        demo.sizes(memory)
        demo.manifest(memory)
        demo.efforts(memory)
        demo.resumption(memory)
        demo.notes(memory)
    demo.recall()
    demo.replay()
    demo.next()


@dataclass
class Demo:
    """One run: where it prints, the home it works in."""

    out: Console
    home: Home
    part: int = 0

    def head(self, title: str, said: str = "") -> None:
        """Begins a part."""
        self.part += 1
        self.out.print()
        self.out.rule(f"[bold]{self.part} {title}[/]", align="left", style="dim")
        if said:
            self.out.print(f"[dim]{said}[/]")

    def feed(self) -> None:
        """Appends the samples to the log, each at its own time, and folds them."""
        events = samples()
        moment = [0]
        self.home.log = SqliteLog(self.home.path / LOG_FILE, clock=lambda: moment[0])
        home = f"[dim]home {self.home.path}[/]"
        self.out.print(f"[bold]mnemolog[/]: memory for agents as a replayable log      {home}", soft_wrap=True)
        began = time.perf_counter()
        with self.out.status("feeding the sample conversations"):
            for event in events:
                moment[0] = event.at
                self.home.log.append([event])
        appended = time.perf_counter() - began
        began = time.perf_counter()
        with self.out.status("folding them"), self.home.live():
            pass
        folded = time.perf_counter() - began
        turns = [event for event in events if isinstance(event, TurnRecorded)]
        voices = {turn.agent for turn in turns if turn.role in ("user", "assistant")}
        self.head(
            "Feed", "Ten days of a small ferry company: people, a coder, a planner, a support desk, and a garden."
        )
        facts = len(events) - len(turns)
        self.out.print(
            f"{len(turns)} turns of {len(voices)} voices and {facts} facts beside them (notes, closings, a retraction)"
            f", each durable when it returned: {appended:.1f} s. All processors over all of it: {folded:.1f} s."
        )
        with self.home.reading() as memory:
            self.table(
                ("space", "session", "begins", "turns:>", "tokens:>", "segments:>", "efforts:>", "who"),
                [
                    (s["space"], s["session"], _when(s["started_at"]), s["turns"], s["tokens"], s["segments"],
                     s["efforts"], ", ".join(s["agents"]))
                    for s in ask.view(memory, "sessions", order="started_at")
                ],
            )  # fmt: skip

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Prints rows; a column named `x:>` is aligned right, and the last one gives way where space is short."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        heads = [column.partition(":")[0] for column in columns]
        cells = [[str(value) for value in row] for row in rows]
        left = self.out.width
        for n, column in enumerate(columns):
            table.add_column(heads[n], justify="right" if column.endswith(":>") else "left", no_wrap=True)
            if n < len(columns) - 1:
                left -= 2 + max(len(heads[n]), *(cell_len(row[n]) for row in cells), 0)
        for row in cells:
            last = Styled(row[-1])
            last.truncate(max(left, 10), overflow="ellipsis")
            table.add_row(*map(Styled, row[:-1]), last)
        self.out.print(table)

    def sizes(self, memory: Connection) -> None:
        """The chart: the context growing and shrinking over all sessions of the space."""
        points = sizes_over(self.home, memory, SPACE, ROWS)
        self.head(
            "The context grows and shrinks",
            f"After turns of {SPACE}, tokens: █ what a model is given, {WINDOW} a sliding window, {ALL} all that was "
            "said. Efforts in context: ● with raw turns, ◐ as a summary, ○ concluded, still referred to.",
        )
        widest = max(point.full for point in points)
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", pad_edge=False)
        for name in ("turn", "efforts", "context:>", "window:>", "all:>", ""):
            table.add_column(name.rstrip(":>"), justify="right" if name.endswith(":>") else "left", no_wrap=True)
        for point in points:
            table.add_row(
                point.turn, point.efforts, f"{point.context:,}", f"{point.window:,}", f"{point.full:,}",
                _bar(point, widest),
            )  # fmt: skip
        self.out.print(table)
        context, window, full = (
            round(sum(getattr(point, name) for point in points) / len(points)) for name in ("context", "window", "full")
        )
        self.out.print(
            f"On average {context:,} tokens: {1 - context / full:.0%} less than all ({full:,}, and growing until "
            f"truncated), {1 - context / window:.0%} less than a window of {BUDGET:,} ({window:,}), which forgets what "
            "is older. The context has what the turn is about, from any day."
        )

    def manifest(self, memory: Connection) -> None:
        """The segments of the long session."""
        found = ask.view(memory, "segments", order="first_position", space=SPACE, session=SESSION)
        self.head(
            "Manifest",
            f"{SESSION} is cut into {len(found)} segments, each with its telling sentences; the longest:",
        )
        longest = sorted(sorted(found, key=lambda s: -s["turns"])[:SEGMENTS], key=lambda s: s["first_position"])
        self.table(
            ("turns", "status", "summary"),
            [(_range(s["first_turn"], s["last_turn"]), s["status"], _line(s["summary"])) for s in longest],
        )

    def labels(self, memory: Connection) -> dict[str, str]:
        """What efforts are called here."""
        return {e["effort"]: e["topic"] for e in ask.view(memory, "efforts")}

    def efforts(self, memory: Connection) -> None:
        """The units of work of the space, and which are used together."""
        found, labels = ask.view(memory, "efforts", order="first_position", space=SPACE), self.labels(memory)
        shown = sorted(sorted(found, key=lambda e: -e["turns"])[:EFFORTS], key=lambda e: e["first_position"])
        self.head(
            "Efforts",
            f"{len(found)} units of work in {SPACE}, open until concluded, across sessions and speakers; the largest:",
        )
        self.table(
            ("status", "turns:>", "sessions:>", "reopened:>", "named, or begun with"),
            [(e["status"], e["turns"], len(e["sessions"]), e["reopened"] or "", labels[e["effort"]]) for e in shown],
        )
        for link in ask.view(memory, "links", order="strength DESC", limit=1):
            pair = " and ".join(labels[link[n]] for n in ("first", "second"))
            self.out.print(
                f"Linked, for {link['count']} turns used both (strength {link['strength']:.2f}): {escape(pair)}",
                no_wrap=True,
                overflow="ellipsis",
            )

    def notes(self, memory: Connection) -> None:
        """What became of the notes, and the question that an escalation asks."""
        found = ask.view(memory, "notes", order="opened_at")
        self.head("Notes with a time to live", "Taken by people and agents, and inferred from what they say.")
        self.table(
            ("opened", "due", "status", "priority:>", "note"),
            [
                (_when(n["opened_at"]), _due(n["due"]), n["status"], n["priority"], _line(n["content"]))
                for n in found[:NOTES]
            ],
        )
        for escalation in ask.view(memory, "escalations", order='"at"', limit=1):
            self.out.print(f"[bold]Escalated[/] {_when(escalation['at'])}: {escape(_line(escalation['question']))}")

    def recall(self) -> None:
        """What is known about something, with where it was said."""
        self.head("Recall", f"mnemolog recall {QUESTION!r}: by relevance, then by how alive it is.")
        found = self.home.ask("recall", space=SPACE, query=QUESTION, k=HITS)
        self.table(
            ("score:>", "kind", "said", "by", "what"),
            [
                (
                    f"{hit['score']:.2f}",
                    hit["kind"],
                    _when(hit["at"]),
                    hit["agent"] or "",
                    _line(hit.get("marked", hit["text"])),
                )
                for hit in found["hits"]
            ],
        )

    def resumption(self, memory: Connection) -> None:
        """The context just before and just after earlier work is taken up again."""
        self.head(
            "Coming back", "What a context holds before and after a turn that takes up earlier work, by relevance."
        )
        labels = self.labels(memory)
        for id_ in RESUMED:
            turn = ask.view(memory, "turns", space=SPACE, turn_id=id_)[0]
            told = f"{turn['agent']}, {_when(turn['at'])}: “{_line(turn['content'])}”"
            self.out.print(Styled(told, style="bold"), no_wrap=True, overflow="ellipsis")
            with self.home.asking_on():
                before, _ = self.held(turn, turn["position"] - 1)
                after, context = self.held(turn, turn["position"])
            rows = []
            for effort, entry in after.items():
                earlier = before.get(effort)
                rose = entry["score"] - (earlier["score"] if earlier else 0) > RISE
                score = f"{earlier['score']:.2f}" if earlier else ""
                label = ("→ " if rose else "") + _cut(labels[effort], SHORT)
                why = " ".join(entry["signals"]) or "still referred to"
                rows.append((score, f"{entry['score']:.2f}", label, entry["mode"], why))
            self.table(("before:>", "after:>", "effort", "shown", "why"), rows)
        self.out.print("[dim]To the model it is text, with what was said six days before:[/]")
        said = sorted((p for p in recalled_in(context) if p["text"]), key=lambda piece: -piece["worth"])
        for line in [piece["text"].splitlines()[0] for piece in said[:EXCERPT]]:
            self.out.print(Styled(f"  | {line}", style="dim"), no_wrap=True, overflow="ellipsis")

    def held(self, turn: dict[str, Any], position: int) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """The context of a turn's session at a position: the efforts it held, most relevant first, and all of it."""
        found = self.home.ask("context", space=SPACE, session=turn["session"], budget=BUDGET, as_of=str(position))
        entries = sorted(efforts_in(found), key=lambda entry: -entry["score"])
        return {entry["effort"]: entry for entry in entries}, found

    def replay(self) -> None:
        """Folds history again with one other parameter, and compares."""
        self.head(
            "Replay under other parameters", f"mnemolog replay --as small --set {SETTING}; mnemolog diff live small"
        )
        began = time.perf_counter()
        with self.out.status("folding all of it again"):
            params = parse_settings(self.home, self.home.live_params(), [SETTING])
            report = replay(self.home, "small", params)
        seconds = time.perf_counter() - began
        again = ", ".join(name for name, steps in report.steps.items() if steps)
        self.out.print(
            f"{seconds:.1f} s. Folded again: {again}. {len(report.reused) - 1} processors were taken over unchanged."
        )
        with self.home.reading() as live, self.home.reading("small") as small:
            found = diff.compare(live, small, ("live", "small"), 1, self.home.processors)
        differing = [m for m in found.rows if m.differs]
        self.table(
            ("", "", "live:>", "small:>", "differs:>"),
            [(m.about, m.what, _number(m.left), _number(m.right), _number(m.differs)) for m in differing[:MEASURES]],
        )
        self.out.print(
            f"In a browser, side by side, once the home is named as in 9: {command()} serve --http 127.0.0.1:8765",
            highlight=False,
        )

    def next(self) -> None:
        """What to type next."""
        self.head("Next")
        call = command()
        typed = (
            (f"export MNEMOLOG_HOME={shlex.quote(str(self.home.path.resolve()))}", "this home"),
            (f"{call} context --space {SPACE} --session {SESSION}", "what a model would be given now"),
            (f"{call} recall --space {SPACE} 'what did Ines decide?'", "what is known about anything"),
            (f"{call} show {SESSION}-18..{SESSION}-36", "verbatim turns, as behind any summary"),
            (f"{call} query", "the named analyses"),
            (f"{call} sql 'SELECT topic, status FROM efforts'", "any question"),
            (f"{call} diff live small", "all that the replay changed"),
            (f"{call} feed your.jsonl --home yours", "your own agents' turns"),
        )
        widest = max(len(line) for line, _ in typed[1:])
        for line, about in typed:
            self.out.print(f"{escape(line.ljust(widest))}  [dim]# {about}[/]", soft_wrap=True)


@dataclass(slots=True)
class Point:
    """One row of the chart: tokens after a turn."""

    turn: str
    efforts: str
    context: int
    window: int
    full: int


def efforts_in(context: dict[str, Any]) -> list[dict[str, Any]]:
    """The efforts that a context shows."""
    return [piece for section in context["sections"] for piece in section["pieces"] if "effort" in piece]


def recalled_in(context: dict[str, Any]) -> list[dict[str, Any]]:
    """The turns that recall put into a context."""
    return [piece for section in context["sections"] for piece in section["pieces"] if section["name"] == "recalled"]


def sizes_over(home: Home, memory: Connection, space: str, rows: int) -> list[Point]:
    """The sizes after `rows` turns of a space, evenly apart, the last one among them."""
    said = [turn for turn in ask.view(memory, "turns", order="position", space=space) if not turn["retracted"]]
    points = []
    with home.asking_on():
        for row in range(1, rows + 1):
            n = round(len(said) * row / rows)
            turn = said[n - 1]
            position = str(turn["position"])
            found = home.ask("context", space=space, session=turn["session"], budget=BUDGET, as_of=position)
            marks = "".join(MARKS.get(entry["mode"], "○") for entry in efforts_in(found))
            tokens = [turn["tokens"] for turn in said[:n]]
            points.append(Point(turn["turn_id"], marks, found["tokens"], _window(tokens), sum(tokens)))
    return points


def _bar(point: Point, widest: int) -> str:
    """The three sizes in one bar, the smallest in front."""
    context, window, full = (max(1, round(BAR * n / widest)) for n in (point.context, point.window, point.full))
    return "█" * context + WINDOW * (window - context) + ALL * (full - max(window, context))


def _window(tokens: Sequence[int]) -> int:
    """What a sliding window of whole turns within the budget holds, at the end of turns of these sizes."""
    held = 0
    for size in reversed(tokens):
        if held + size > BUDGET:
            break
        held += size
    return held


def command() -> str:
    """How the user calls the program: by its name where that finds it, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which("mnemolog")
    if called.name != "mnemolog" or (found and Path(found).resolve() == called.resolve()):
        return "mnemolog"
    return os.path.relpath(called)


def _when(moment: str | int) -> str:
    """A time as `02 Mar 14:20`."""
    text = iso(moment) if isinstance(moment, int) else moment
    return f"{text[8:10]} {MONTHS[int(text[5:7]) - 1]} {text[11:16]}"


def _due(due: str) -> str:
    """When a note is due, as `06 Mar` where a day is meant, else as `02 Mar 18:00`."""
    return _when(due).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def _line(text: str) -> str:
    return " ".join(text.split())


def _range(first: str, last: str) -> str:
    """`a-01`, `a-07` as `01..07`: the ids of the samples end in the number of the turn."""
    return f"{first.rpartition('-')[2]}..{last.rpartition('-')[2]}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}".rstrip("0").rstrip(".")
