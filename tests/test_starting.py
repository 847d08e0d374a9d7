"""What is not needed to start is neither imported nor made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from processors import PROCESSORS
from projections.asking import asking
from streams.core.params import Params, param
from streams.runtime.home import Home
from tests.serving import serving

ROOT = Path(__file__).parents[1]
KINDS: dict[str, type[Params]] = {p.name: p.params for p in PROCESSORS} | asking(PROCESSORS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_parameters_that_are_defaults_are_as_those_that_were_looked_through(name: str) -> None:
    """Bytes of them are hashed into lineages."""
    kind = KINDS[name]
    looked_through = kind.model_validate({})
    values = looked_through.model_dump(mode="json")
    same = [kind.of({}), kind.of(values), kind.model_validate(values), looked_through]
    assert {orjson.dumps(params.plain()) for params in same} == {orjson.dumps(values)}
    assert [params == looked_through for params in same] == [True] * 4


def test_a_number_that_is_to_be_a_float_is_told_as_one_though_its_default_is_none() -> None:
    class Own(Params):
        hours: float = param(4, "h", "why")
        table: dict[str, float] = param({"a": 1}, "", "why")
        several: tuple[float, ...] = param((1, 2.5), "", "why")

    assert orjson.dumps(Own.of({}).plain()) == b'{"hours":4.0,"table":{"a":1.0},"several":[1.0,2.5]}'
    assert Own.of({"hours": 5}).plain()["hours"] == 5.0
    with pytest.raises(ValueError, match="unknown"):
        Own.of({"unknown": 1})


def test_what_is_left_when_a_command_ends_is_not_looked_through_for_cycles() -> None:
    """Python does so twice, and takes a quarter of the time of a small command for it."""
    script = (
        "import atexit, gc\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000))\n"
        "from streams.gateways.cli import main\n"
        "main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[1:] == ["True"]


def test_a_memory_is_asked_without_what_nobody_asks_for(tmp_path: Path) -> None:
    """The package around DuckDB's engine, Arrow, and pydantic's look for plugins take as long as the answer."""
    script = (
        "import sys\nfrom streams.gateways.cli import main\n"
        "try: main(['context', '--session', 's', '--home', sys.argv[1]])\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', 'pyarrow', 'asyncio', 'multiprocessing'} & set(sys.modules)), file=sys.stderr)"
    )
    told = ["-m", "streams.gateways.cli", "feed", "-", "--home", str(tmp_path)]
    turn = b'{"session": "s", "role": "user", "content": "Where is the key of the boat house?"}'
    subprocess.run([sys.executable, *told], cwd=ROOT, input=turn, check=True, capture_output=True)
    command: list[Any] = [sys.executable, "-c", script, tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # what was fed is folded
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert (done.stderr.strip(), "boat house" in done.stdout) == ("[]", True)


@pytest.mark.parametrize(("session", "told"), [("s", "boat house"), ("new", "there is no session 'new'")])
def test_who_asks_a_server_for_a_context_imports_nothing_that_reads_events(home: Home, session: str, told: str) -> None:
    """Nor does who asks of a session that is not there: the server knows where it is instead."""
    script = (
        "import sys\nfrom streams.gateways.cli import main\n"
        "try: main(['context', '--session', sys.argv[2], '--home', sys.argv[1]])\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', '_duckdb', 'pydantic', 'numpy', 'sqlite3'} & set(sys.modules)), file=sys.stderr)"
    )
    home.request({"feed": [{"session": "s", "role": "user", "content": "Where is the key of the boat house?"}]})
    with serving(home):
        command: list[Any] = [sys.executable, "-c", script, home.path, session]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert (done.stderr.splitlines()[-1], told in done.stdout + done.stderr) == ("[]", True)
