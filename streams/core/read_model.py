"""What a mechanism offers to those who ask: SQL over its tables, and pure functions over its events.

All of it lies beside the mechanism: `views.sql`, `diff.sql` and `queries/*.sql` in its folder, functions in its module.
Whoever answers questions finds it through the registry of processors and knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from streams.core.job import Job
from streams.core.section import Section


@dataclass(frozen=True, slots=True)
class Keep:
    """An event type each event of which is the whole record of something: only the last one counts."""

    event: type
    key: tuple[str, ...]
    """The fields that say what it is about, the space apart."""
    view: str = ""
    """A view that has the last record of each key gets this name; none is made where it is empty."""


@dataclass(frozen=True, slots=True)
class Group:
    """Things that belong together until something else is said of them: the turns of an effort, the notes that wait.

    A section of a context finds the newest of them at once, however long the history is (see `section.Reader`).
    """

    name: str
    thing: str
    """The field that has the thing's id, in each of the events."""
    told: Mapping[type, str]
    """By event: SQL of the part of the group that the thing belongs to from then on; of '' where it leaves."""


@dataclass(frozen=True, slots=True)
class Documents:
    """What recall finds beside turns: one row of a table is one document."""

    kind: str
    """What a hit is called: segment, conclusion, note."""
    table: str
    id: str
    """Column of the id; a later row with the same id takes the place of an earlier one."""
    words: str
    """SQL of what is searched."""
    turns: str
    """SQL of the ids of the turns it was made of: a list, in order, possibly with NULL or '' for none."""
    run: bool = False
    """Whether it stands for all turns of its session from the first to the last of `turns`. It is gone when all of
    them are retracted; other documents are gone with the last of their turns."""
    shown: str = ""
    """SQL of what a hit shows; `words` where it is empty."""


@dataclass(frozen=True, slots=True)
class ReadModel:
    """The read side of a mechanism."""

    keeps: tuple[Keep, ...] = ()
    groups: tuple[Group, ...] = ()
    readings: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Pure functions by name: what records mean at a moment. Each takes the mechanism's parameters first."""
    views: str = ""
    """SQL that makes views: what is current. Written as projections/views.sql says."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Named analyses: SQL by name. Written as projections/analyses.py says."""
    differences: str = ""
    """What `diff` compares of two memories. Written as projections/diff.py says."""
    behind: Mapping[str, str] = field(default_factory=dict)
    """By what an id may be the id of: an SQL condition over `turns t` that holds for the turns behind $id."""
    documents: tuple[Documents, ...] = ()
    sections: tuple[Section, ...] = ()
    """What it puts into a context."""
    jobs: tuple[Job[Any], ...] = ()
    """What of it a model may write."""


def read_model(package: str, **more: Any) -> ReadModel:
    """The read side of the mechanism in `package`: the SQL files of its folder, and `more` fields of ReadModel."""
    folder = files(package)
    found: dict[str, Any] = {
        name: file.read_text("utf-8")
        for name in ("views", "differences")
        if (file := folder.joinpath(f"{name}.sql")).is_file()
    }
    if (queries := folder.joinpath("queries")).is_dir():
        found["queries"] = {
            file.name.removesuffix(".sql"): file.read_text("utf-8")
            for file in sorted(queries.iterdir(), key=lambda file: file.name)
            if file.name.endswith(".sql")
        }
    return ReadModel(**found, **more)
