"""A new mechanism is one file, and its name in the registry.

It has laws, state, table, replay, parameters and its place in the picture without another edit.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FILE = '''"""Streaks: how many user turns in a row each session had without a tool at work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from processors.manifest import TurnFiled
from streams.core.processor import Derived, Params, Processor, State, param


@dataclass(slots=True)
class StreakEnded:
    """A run of user turns came to its end."""

    space: str
    session: str
    at: int
    turn: str
    length: int
    type: Literal["streak-ended.v1"] = "streak-ended.v1"


class StreaksParams(Params):
    """What counts."""

    shortest: int = param(2, "turns", "one turn is no streak", ge=1)


@dataclass(slots=True)
class Streak:
    """State, `session/<id>`: the run that goes on."""

    length: int = 0


def step(params: StreaksParams, state: State, event: object) -> list[Derived]:
    """Counts user turns; another role ends the run."""
    return list(_step(params, state, event)) if isinstance(event, TurnFiled) else []


def _step(params: StreaksParams, state: State, event: TurnFiled) -> Iterator[Derived]:
    key = f"session/{event.session}"
    streak = state.get(key, Streak) or Streak()
    if event.role == "user":
        streak.length += 1
    else:
        if streak.length >= params.shortest:
            yield StreakEnded(event.space, event.session, event.at, event.turn, streak.length)
        streak.length = 0
    state.put(key, streak)


PROCESSOR = Processor("streaks", 1, "manifest", StreaksParams, (StreakEnded,), step)
'''

PROGRAM = """
import sys
from pathlib import Path
from processors import PROCESSORS
from streams.core.driver import fold
from streams.gateways.flow import mermaid
from streams.runtime.home import Home
from streams.runtime.replay import parse_settings, replay
from tests.laws import laws
from tests.laws.histories import long_talk, outside

if __name__ == "__main__":
    events = outside(long_talk(400))
    assert "StreakEnded" in {type(row.event).__name__ for row in fold(PROCESSORS, events)}
    laws.pure(PROCESSORS, events)
    laws.resumable(PROCESSORS, events, 150)
    laws.idempotent(PROCESSORS, events)
    laws.small_steps(PROCESSORS, events)
    laws.separate(PROCESSORS, events)
    home = Home(Path(sys.argv[1]), PROCESSORS)
    home.log.append(events)
    assert home.ask("digest")["streak_ended"] != home.ask("digest")["session_ended"]
    report = replay(home, "longer", parse_settings(home, home.live_params(), ["streaks.shortest=3"]), processes=1)
    assert report.steps.pop("streaks") > 0
    assert set(report.steps.values()) == {0}
    with home.reading("longer") as memory:
        lengths = [n for (n,) in memory.execute("SELECT DISTINCT length FROM streak_ended ORDER BY 1").fetchall()]
    assert lengths and min(lengths) >= 3, lengths
    assert "manifest --> streaks" in mermaid(PROCESSORS)
    print("all of it")
"""


def test_a_processor_dropped_into_the_folder_and_named_in_the_registry_has_everything(tmp_path: Path) -> None:
    assert len(FILE.splitlines()) <= 60
    for folder in ("streams", "processors", "projections", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "processors" / "streaks.py").write_text(FILE)
    registry = tmp_path / "processors" / "__init__.py"
    registry.write_text(
        registry.read_text().replace('    "ttl_escalations",\n', '    "ttl_escalations",\n    "streaks",\n')
    )
    (tmp_path / "program.py").write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, "program.py", "home"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert ran.stdout == "all of it\n", ran.stderr
    listed = subprocess.run(
        [sys.executable, "-m", "streams.gateways.cli", "params", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "one turn is no streak" in listed.stdout, listed.stderr
