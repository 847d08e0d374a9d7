"""Who may import whom: the floors of the house, held against every import in the code, those inside functions too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest

from processors import NAMES, PROCESSORS
from streams.core.processor import RAW

HOUSE = Path(__file__).parents[1]
PACKAGES = ("streams", "processors", "projections")
FLOORS = {
    "streams.core": 0,
    "processors": 1,
    "projections": 1,
    "streams.logs": 2,
    "streams.runtime": 3,
    "streams.gateways": 4,
}
"""The rooms. A module imports its own room and those on floors below it."""
ROOT = "streams.gateways"
"""The one room that knows the processors by name, and hands them to the others."""

KNOWN: set[tuple[str, str]] = set()
"""Imports that break the rules today, (module, what it imports): each is to go, none is to be added."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the three packages, by name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((HOUSE / package).rglob("*.py")):
            name = ".".join(path.relative_to(HOUSE).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a file imports."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: name the package, so that it is seen which room is meant"
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (named & modules().keys()) or {node.module or ""}


def room(module: str) -> str:
    """The room that a module stands in; "" for what is not of the house."""
    return next((name for name in FLOORS if module == name or module.startswith(f"{name}.")), "")


def ours(module: str) -> list[str]:
    """What a module imports of the house."""
    return sorted(name for name in imports(modules()[module]) if name.split(".")[0] in (*PACKAGES, "mnemolog", "tests"))


def may(module: str, imported: str) -> bool:
    """Whether a module may import another."""
    mine, other = room(module), room(imported)
    if imported == "mnemolog":  # what agents embed: it starts servers, and needs nothing of the house
        return mine == ROOT
    if not other:
        return False
    if mine == other == "processors":
        return _may_know(module, imported)
    if other == "processors":
        return mine == ROOT
    return mine == other or FLOORS[other] < FLOORS[mine]


def _may_know(module: str, imported: str) -> bool:
    """A processor knows itself and those it reads. Its section, which is asked when all is folded, may look up what any
    mechanism before it keeps: that changes nothing of what is derived."""
    reads = {processor.name: {*processor.reads} - {RAW} for processor in PROCESSORS}
    _, *parts = module.split(".")
    known = {*parts[:1], *(reads[parts[0]] if parts else ())}
    if parts[1:] == ["section"]:
        known |= {*NAMES[: NAMES.index(parts[0])]}
    return not known.isdisjoint(imported.split(".")[1:2])


def test_every_module_stands_in_a_room() -> None:
    assert len(modules()) > 100
    assert [name for name in modules() if not room(name) and name != "streams"] == []


def test_a_module_imports_its_own_room_and_what_stands_below_it() -> None:
    found = {(name, imported) for name in modules() for imported in ours(name) if not may(name, imported)}
    assert sorted(found - KNOWN) == []
    assert sorted(KNOWN - found) == [], "no longer needed: take it out of KNOWN"


@pytest.mark.parametrize(
    ("module", "imported", "allowed"),
    [
        ("streams.core.driver", "streams.core.clock", True),
        ("streams.core.driver", "processors.manifest", False),
        ("streams.core.driver", "streams.logs.log", False),
        ("processors.open_efforts.turns", "streams.core.text", True),
        ("processors.open_efforts.turns", "processors.open_efforts.crowd", True),
        ("processors.open_efforts.turns", "processors.manifest", True),
        ("processors.manifest.boundary", "processors.open_efforts", False),
        ("processors.objects.section", "processors.tasks", True),
        ("processors.objects.reading", "processors.tasks", False),
        ("processors.tasks.section", "processors.objects", False),
        ("processors.activation", "processors", False),
        ("processors.activation", "projections.store", False),
        ("projections.store", "processors.activation", False),
        ("projections.store", "processors", False),
        ("projections.store", "streams.logs.log", False),
        ("streams.logs.archive", "streams.core.events", True),
        ("streams.logs.archive", "streams.runtime.home", False),
        ("streams.logs.archive", "processors", False),
        ("streams.runtime.home", "projections.store", True),
        ("streams.runtime.home", "processors", False),
        ("streams.runtime.home", "streams.gateways.cli", False),
        ("streams.gateways.cli", "processors", True),
        ("streams.gateways.cli", "streams.runtime.home", True),
        ("streams.gateways.cli", "mnemolog", True),
        ("streams.runtime.home", "mnemolog", False),
        ("streams.gateways.cli", "tests.spaces", False),
    ],
)
def test_the_rules_tell_apart(module: str, imported: str, allowed: bool) -> None:
    assert may(module, imported) is allowed


def test_what_users_embed_imports_no_room() -> None:
    assert [name for name in imports(HOUSE / "mnemolog.py") if name.split(".")[0] in PACKAGES] == []


def test_type_checkers_of_users_find_the_types_of_all_that_is_installed(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(HOUSE)).build(directory=str(tmp_path), versions=["standard"])
    held = set(ZipFile(wheel).namelist())
    assert {f"{name}/py.typed" for name in ("mnemolog", *PACKAGES)} <= held
    assert {name.split("/")[0] for name in held if name.endswith(".py")} == {"mnemolog", *PACKAGES}


def test_every_module_among_the_processors_is_in_the_registry() -> None:
    found = {
        path.stem
        for path in (HOUSE / "processors").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__"} == set(NAMES)


def test_duckdb_is_imported_in_the_store_alone() -> None:
    for package in ("duckdb", "_duckdb"):
        assert [name for name, path in modules().items() if package in imports(path)] == ["projections.store"]


def test_nothing_in_the_code_reaches_for_the_network_but_what_is_asked_to() -> None:
    banned = {"urllib", "urllib.request", "http", "http.client", "requests", "httpx", "aiohttp", "ftplib", "smtplib"}
    assert [name for name, path in modules().items() if banned & imports(path)] == ["streams.gateways.proxy.app"]


def test_nobody_asks_which_log_or_which_runtime_it_has() -> None:
    """If callers need to know, the protocol lacks a method. Rooms may know those of their own."""
    homes = {
        node.name: room(name)
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and (node.name.endswith("Log") or node.name in ("Runtime", "Projector"))
    }
    assert {"SqliteLog", "KafkaLog", "Runtime", "Projector"} <= homes.keys()
    asked = {
        (name, ast.unparse(node))
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
        for kind in ast.walk(node.args[1])
        if isinstance(kind, ast.Name) and kind.id in homes and not (room(name) == homes[kind.id] == "streams.logs")
    }
    assert sorted(asked) == []


def test_what_people_and_programs_talk_to_holds_no_sql() -> None:
    """SQL stands in the store, in logs and beside mechanisms; commands show some, and run none of their own."""
    statement = re.compile(r"\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|CREATE)\b(?s:.*)\b(?:FROM|INTO|TABLE|SET)\s")
    assert statement.match("SELECT count(*) FROM log")
    found = {
        (name, node.value[:60])
        for name, path in modules().items()
        if room(name) == ROOT
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and statement.match(node.value)
    }
    assert sorted(found) == []
