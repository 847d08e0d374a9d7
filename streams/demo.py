"""The main job on sample conversations: feed, fold, ask, replay, compare. What `make demo` shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from streams.edge import Accepted, Edge
from streams.events import Outside
from streams.home import Home

SAMPLES = Path(__file__).parent / "samples"
WIDTH = 100
"""Columns: what a terminal beside an editor has."""
SPACE, LONG_SESSION = "harbor", "import-day"
ROWS = 16
"""Rows of the chart over the long session."""


def samples() -> Iterator[tuple[str, Outside]]:
    """The events of the sample conversations, with the file each comes from, in the order they happened per space."""
    for path in sorted(SAMPLES.glob("*.jsonl")):
        edge = Edge()
        for number, raw in enumerate(path.read_bytes().splitlines(), 1):
            outcome = edge.line(path.name, number, raw)
            assert isinstance(outcome, Accepted), outcome
            yield path.name, outcome.event


@dataclass
class Demo:
    """One run: where it prints, and the home it works in."""

    console: Console
    home: Home
