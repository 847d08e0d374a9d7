"""Who may import whom: the rooms of the house, held against the imports in the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from processors import NAMES, PROCESSORS
from streams.processor import ROOT as RAW

HOUSE = Path(__file__).parents[1]
PURE = ("streams.events", "streams.processor", "streams.dynamics", "streams.text")
COMPOSITION = {
    *("streams/cli.py", "streams/command.py", "streams/demo.py", "streams/doctor.py", "streams/kafka/commands.py"),
    "streams/recall.py",
}


def imports(path: Path) -> Iterator[str]:
    """The modules a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def files(room: str) -> list[Path]:
    found = sorted((HOUSE / room).rglob("*.py"))
    assert found
    return found


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda p: p.name)
def test_a_processor_knows_events_text_and_its_parent_alone(processor) -> None:
    place = HOUSE / "processors" / processor.name
    parent = () if processor.reads == RAW else (f"processors.{processor.reads}",)
    allowed = (*PURE, f"processors.{processor.name}", *parent)
    for path in [*place.rglob("*.py")] or [place.with_suffix(".py")]:
        ours = [name for name in imports(path) if name.split(".")[0] in ("streams", "processors", "projections")]
        strangers = [name for name in ours if not any(name == a or name.startswith(f"{a}.") for a in allowed)]
        assert strangers == [], path


def test_every_module_among_the_processors_is_in_the_registry() -> None:
    found = {
        path.stem
        for path in (HOUSE / "processors").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__"} == set(NAMES)


def test_projections_and_the_pure_parts_of_streams_know_no_processor() -> None:
    for path in files("projections"):
        assert not any(name.split(".")[0] == "processors" for name in imports(path)), path
    for path in files("streams"):
        if path.relative_to(HOUSE).as_posix() not in COMPOSITION:
            assert not any(name.split(".")[0] == "processors" for name in imports(path)), path


def test_duckdb_is_imported_in_the_store_alone() -> None:
    importers = [p for room in ("streams", "processors", "projections") for p in files(room) if "duckdb" in imports(p)]
    assert importers == [HOUSE / "projections" / "store.py"]


def test_nothing_in_the_code_reaches_for_the_network() -> None:
    banned = {"urllib", "urllib.request", "http", "http.client", "requests", "httpx", "aiohttp", "ftplib", "smtplib"}
    for room in ("streams", "processors", "projections"):
        for path in files(room):
            assert not banned & set(imports(path)), path
