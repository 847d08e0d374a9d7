"""What a mechanism offers to those who ask: SQL over its tables, and pure functions over its events.

All of it lies beside the mechanism: `views.sql`, `differences.sql` and `queries/*.sql` in its folder, functions in its
module.
Whoever answers questions finds it through the registry of processors and knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from streams.core.dataclasses import dataclass, field
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
class Joins:
    """The part of a group that an event's thing belongs to from then on. Without a part it leaves.

    Why fields and no function or SQL: an index is made anew where a declaration changes, and takes up what lies in
    tables as well as events that lie in none yet.
    """

    part: str = ""
    by: str = ""
    """The field that names the part, where it is not always `part`."""
    only: tuple[str, str | bool] | None = None
    """A field and the value that it must have, or else the thing leaves."""

    @property
    def fields(self) -> tuple[str, ...]:
        """What is read of an event."""
        return (*((self.by,) if self.by else ()), *((self.only[0],) if self.only else ()))

    def of(self, values: Sequence[Any]) -> str:
        """The part, by the values of `fields`; "" where the thing leaves."""
        if self.only is not None and values[-1] != self.only[1]:
            return ""
        return str(values[0]) if self.by else self.part


@dataclass(frozen=True, slots=True)
class Group:
    """Things that belong together until something else is said of them: the turns of an effort, the notes that wait.

    A section of a context finds the newest of them at once, however long the history is (see `section.Reader`).
    """

    name: str
    thing: str
    """The field that has the thing's id, in each of the events."""
    told: Mapping[type, Joins]


@dataclass(frozen=True, slots=True)
class Documents:
    """What recall finds beside turns: one event is one document."""

    kind: str
    """What a hit is called: segment, conclusion, note, task."""
    event: type
    id: str
    """The field of the id; a later event with the same id takes the place of an earlier one."""
    words: tuple[str, ...]
    """Fields of what is searched, each a text."""
    turns: tuple[str, ...]
    """Fields of the ids of the turns it was made of, in order: one that is a list, or some, possibly empty."""
    run: bool = False
    """Whether it stands for all turns of its session from the first to the last of `turns`. It is gone when all of
    them are retracted; other documents are gone with the last of their turns."""
    quotes: bool = False
    """Whether the words of any of its turns may stand in it: then it is gone as soon as one of them is retracted."""
    shown: str = ""
    """SQL of what a hit shows, over the event's table; the first of `words` where it is empty."""
    open: tuple[str, ...] = ()
    """A group, and parts of it: its things there are what is still open. Who asks how far things are, or what is to be
    done, is told of those that the question names, or of all where it names none."""


@dataclass(frozen=True, slots=True)
class News:
    """What turns say that was not said before, where they say something again: recall finds them by these words."""

    event: type
    """One for each such turn, at least; it stands where its turn does."""
    repeated: str
    """The field that has how much of the turn was said before; 0 for most."""
    words: str
    """The field that has what is new, where there is any."""


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
    news: tuple[News, ...] = ()
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
