"""Named analyses: SQL that says in its first comments what it tells and what it can be asked.

    -- Which effort displaced which, and how often.
    -- parameter: space = ''     only this space; '' for all
    -- parameter: least = 1      pairs seen at least so often

The first comments are the description; a parameter's default tells its type (text in quotes, whole number, number).
Where what is said of it begins with words as in `hour, day or week`, it is one of these, or its default. No number is
below 0. The SQL names parameters as $space. Those that need only the raw log are files in queries/ here; the others
belong to mechanisms (see `ReadModel.queries`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streams.core.errors import UsageError
from streams.core.patterns import lazily
from streams.core.processor import Processor

QUERIES = Path(__file__).with_name("queries")
_PARAMETER = lazily(r"(?P<name>\w+) *= *(?P<default>'[^']*'|-?[\d.]+) *(?P<about>.*)")

_CHOICES = re.compile(r"((?:\w+, )*\w+) or (\w+)(?:;.*)?")

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Parameter:
    """What an analysis can be asked."""

    name: str
    default: Value
    about: str

    @property
    def choices(self) -> tuple[str, ...]:
        """What alone it may be, beside its default and, where that is told to mean something, ''; () for anything."""
        found = _CHOICES.fullmatch(self.about)
        return (*found[1].split(", "), found[2]) if found else ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """A named query."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    sql: str

    def with_defaults(self) -> str:
        """Its SQL with the defaults of its parameters in it, as part of another query."""
        values = {p.name: f"'{p.default}'" if isinstance(p.default, str) else str(p.default) for p in self.parameters}
        return re.sub(r"\$(\w+)", lambda name: values[name[1]], self.sql)


def analyses(processors: Iterable[Processor[Any]]) -> dict[str, Analysis]:
    """All named analyses by name, in name order."""
    texts = {path.stem: path.read_text("utf-8") for path in QUERIES.glob("*.sql")}
    for processor in processors:
        texts |= processor.read_model.queries
    return {name: _parse(name, texts[name]) for name in sorted(texts)}


def analysis(processors: Iterable[Processor[Any]], name: str) -> Analysis:
    """The analysis of that name. Raises UsageError for an unknown one."""
    known = analyses(processors)
    if name not in known:
        raise UsageError(f"there is no analysis named {name!r}", f"known are {', '.join(known)}")
    return known[name]


def bind(asked: Analysis, given: Mapping[str, str | int | float]) -> dict[str, Value]:
    """Values for all parameters: those given, as the type of their default, defaults for the others.

    Raises UsageError for an unknown parameter, or a value of another type.
    """
    known = {parameter.name: parameter for parameter in asked.parameters}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{asked.name} has no parameter {name!r}", f"it has {', '.join(known)}" if known else "it has none"
            )
    return {name: _as(parameter, given.get(name, parameter.default)) for name, parameter in known.items()}


def _as(parameter: Parameter, value: Value) -> Value:
    kind = type(parameter.default)
    its_default = f"its default is {parameter.default!r}"
    try:
        found = kind(value)
    except ValueError as error:
        wanted = "a whole number" if kind is int else "a number"
        raise UsageError(f"{parameter.name} = {value!r} is not {wanted}", its_default) from error
    if isinstance(found, int | float) and not found >= 0:
        raise UsageError(f"{parameter.name} = {value!r} is below 0", its_default)
    others = (parameter.default, *[""] * ("'' for" in parameter.about))
    if parameter.choices and found not in (*parameter.choices, *others):
        raise UsageError(
            f"{parameter.name} = {value!r} is none of {', '.join(parameter.choices)}",
            f"{its_default}: {parameter.about}",
        )
    return found


def _parse(name: str, text: str) -> Analysis:
    description: list[str] = []
    parameters: list[Parameter] = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        said = line.removeprefix("--").strip()
        if not said.startswith("parameter:"):
            description.append(said)
            continue
        found = _PARAMETER.fullmatch(said.removeprefix("parameter:").strip())
        if found is None:
            raise ValueError(f"queries/{name}.sql: {line!r} is not `-- parameter: name = default  what it is`")
        parameters.append(Parameter(found["name"], _default(found["default"]), found["about"]))
    return Analysis(name, " ".join(description), tuple(parameters), text)


def _default(text: str) -> Value:
    if text.startswith("'"):
        return text[1:-1]
    return float(text) if "." in text else int(text)
