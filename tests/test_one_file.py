"""A new mechanism is one file, and its name in the registry: nothing else is touched.

The mechanism is `tests/added/open_questions.py`. In a copy of this project it is held to what the project holds its own
to: lint, types, the laws, golden digests, documents; and it is folded, replayed, compared, asked and shown.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAME = "open_questions"

PROGRAM = f"""
import sys
from collections import Counter
from pathlib import Path
from processors import PROCESSORS
from streams.gateways.flow import mermaid
from streams.runtime.home import Home
from streams.runtime.replay import parse_settings, replay
from tests.laws import laws
from tests.laws.histories import long_talk, outside, wide

if __name__ == "__main__":
    (own,) = [processor for processor in PROCESSORS if processor.name == {NAME!r}]
    histories = [outside(long_talk(400)), outside(wide(600, backlog=40))]
    logs = [laws.log_of(events, PROCESSORS) for events in histories]
    told = [[event for entry in log for event in entry.made.get({NAME!r}, ())] for log in logs]
    assert {{event.reason for events in told for event in events}} == {{"ended", "passed over", "silence"}}
    for log in logs:
        for subject in (laws.alone(PROCESSORS, own.name), laws.together(PROCESSORS)):
            laws.pure(subject, log)
            laws.resumable(subject, log, [150])
            laws.idempotent(subject, log)
            laws.small_steps(subject, log)
            laws.separate(subject, log)
    home = Home(Path(sys.argv[1]), PROCESSORS)
    home.log.append(histories[1])
    live = home.ask("digest")
    report = replay(home, "patient", parse_settings(home, home.live_params(), [{NAME!r} ".patience=1"]), processes=1)
    assert report.steps.pop({NAME!r}) > 0
    assert set(report.steps.values()) == {{0}}
    with home.reading("patient") as memory:
        reasons = dict(memory.execute("SELECT reason, count(*) FROM open_questions GROUP BY 1").fetchall())
    assert reasons != dict(Counter(event.reason for event in told[1])), reasons
    assert "turns --> {NAME}" in mermaid(PROCESSORS)
    assert live["question_left"] != live["session_ended"]
    print("all of it")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the mechanism in it, its golden digests written anew."""
    to = tmp_path_factory.mktemp("copy")
    for folder in ("mnemolog", "streams", "processors", "projections", "tests"):
        shutil.copytree(ROOT / folder, to / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, to)
    shutil.copy(to / "tests" / "added" / f"{NAME}.py", to / "processors")
    registry = to / "processors" / "__init__.py"
    registry.write_text(registry.read_text().replace('",\n)\n', f'",\n    "{NAME}",\n)\n', 1))
    (to / "program.py").write_text(PROGRAM)
    return to


def ran(copy: Path, *words: str, **environ: str) -> str:
    """What a module of the copy prints; fails with all that it said where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)} | environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_follows_the_laws_and_is_folded_replayed_and_drawn(copy: Path) -> None:
    assert ran(copy, "program", "home").endswith("all of it\n")


def test_it_passes_format_lint_and_types(copy: Path) -> None:
    ran(copy, "ruff", "format", "--check", "processors")
    ran(copy, "ruff", "check", "processors", "tests")
    ran(copy, "mypy", "-p", "processors", "--cache-dir", str(ROOT / ".mypy_cache"))


def test_golden_digests_of_the_others_stand_and_its_own_are_written_by_the_command(copy: Path) -> None:
    before = (copy / "tests" / "golden" / "digests.json").read_text()
    ran(copy, "pytest", "tests/test_golden_digests.py", "-p", "no:cacheprovider", MNEMOLOG_WRITE_GOLDEN="1")
    after = (copy / "tests" / "golden" / "digests.json").read_text()
    assert after.startswith(before.rstrip("}\n"))
    assert NAME in after.removeprefix(before.rstrip("}\n"))
    ran(copy, "pytest", "tests/test_golden_digests.py", "-p", "no:cacheprovider")


def test_generated_documents_and_what_checks_its_sql_and_sections_take_it_in(copy: Path) -> None:
    pages, picture = ("tests/test_docs.py", "-p", "no:cacheprovider"), copy / "streams" / "docs" / "mechanisms.md"
    ran(copy, "pytest", *pages, "-k", "generated", MNEMOLOG_WRITE_DOCS="1")
    assert f"turns --> {NAME}" in picture.read_text()
    ran(copy, "pytest", *pages, "-k", "generated or links")
    ran(copy, "pytest", "tests/test_rooms.py", "-p", "no:cacheprovider")


def test_commands_list_its_parameters_analyses_and_what_it_left(copy: Path, tmp_path: Path) -> None:
    def mnemolog(*words: str) -> str:
        return ran(copy, "streams.gateways.cli", *words, "--home", str(tmp_path / "home"))

    talk = tmp_path / "talk.jsonl"
    talk.write_text(
        '{"session": "s", "role": "user", "content": "Who orders the bolts for the crane?", "agent": "ann"}\n'
        '{"session": "s", "role": "user", "content": "The painter comes on Monday.", "agent": "ann"}\n'
    )
    mnemolog("feed", str(talk))
    assert "passed over" not in mnemolog("context", "--session", "s")
    with talk.open("a") as file:
        for n in range(3):
            file.write(
                f'{{"session": "s", "role": "user", "content": "The fence needs paint, part {n}.", "agent": "ann"}}\n'
            )
    mnemolog("feed", str(talk))
    assert "## mnemolog: Asked, and not answered" in mnemolog("context", "--session", "s")
    assert "who says three more things" in mnemolog("params", NAME)
    assert "passed over" in mnemolog("query", "questions_left")
    mnemolog("replay", "--as", "hasty", "--set", f"{NAME}.patience=1")
    assert "question_left" in mnemolog("diff", "live", "hasty")
