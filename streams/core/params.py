"""Parameters that explain themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, partial
from typing import Any, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from streams.core.errors import UsageError

STORED = "stored"
"""The context of values that a memory was folded with."""


class Params(BaseModel):
    """Parameters of a processor: frozen, finite, and each one explains itself (see `param`)."""

    # Why deferred: what checks values takes a millisecond to make, and where all are defaults nothing is checked.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False, defer_build=True)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """Parameters from plain values, defaults where there are none. Raises ValueError for one that is unknown or out
        of range.

        What a fold under them needs is not looked for: a memory can be read without it.
        """
        return cls.model_construct() if stored in ({}, _defaults(cls)) else cls.model_validate(stored, context=STORED)

    @model_validator(mode="after")
    def _chosen(self, info: ValidationInfo) -> Self:
        """Values that somebody chose are to be folded with: what that needs must be there. Raises UsageError."""
        if info.context != STORED:
            self.check_foldable()
        return self

    def check_foldable(self) -> None:
        """Raises UsageError where a fold under them needs what is not installed; most need nothing."""

    def plain(self) -> dict[str, Any]:
        """The values, as JSON has them."""
        fields = type(self).model_fields
        return {name: _plain(field.annotation, getattr(self, name)) for name, field in fields.items()}


@cache
def _defaults(cls: type[Params]) -> dict[str, Any]:
    """The defaults of a class, as plain values. Why kept: whoever opens a memory asks for the parameters of all
    processors several times over. Not the parameters themselves: in those a processor keeps what it computed of its
    own."""
    return cls.model_construct().plain()


def _plain(kind: Any, value: Any) -> Any:
    """A value of a kind, as JSON has it. Why a float of what is to be one: a default is as it was written down."""
    if kind is float:
        return float(value)
    inner = (*get_args(kind), None)
    if isinstance(value, tuple | list):
        return [_plain(inner[0], one) for one in value]
    return {key: _plain(inner[1], one) for key, one in value.items()} if isinstance(value, Mapping) else value


def check_foldable(params: Iterable[Params]) -> None:
    """Raises UsageError where a fold under some parameters needs what is not installed."""
    for one in params:
        one.check_foldable()


def missing(params: Iterable[Params]) -> str:
    """What a fold under some parameters needs and is not installed, with the way out; "" where all is there."""
    try:
        check_foldable(params)
    except UsageError as error:
        return f"{error}: {error.way_out}"
    return ""


def param(default: Any, unit: str, why: str, source: str = "tuned", **limits: Any) -> Any:
    """A parameter with its `unit`, the reason for its default, and the source the reason comes from."""
    return Field(default, description=why, json_schema_extra={"unit": unit, "source": source}, **limits)


def apart(one: Any, other: Any) -> tuple[Any, Any]:
    """Of two different values of a parameter what differs: of two tables their entries that do, else both whole."""
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return one, other
    same = {key for key, value in one.items() if key in other and other[key] == value}
    mine, its = ({key: value for key, value in side.items() if key not in same} for side in (one, other))
    return mine, its


def completed(default: Mapping[str, float], what: str, known: Collection[str] = ()) -> AfterValidator:
    """For a table of numbers: those that are not given are the default ones; unknown ones are an error. `known` names
    them where they are more than the default ones."""
    return AfterValidator(partial(_completed, default, what, known or default))


def _completed(
    default: Mapping[str, float], what: str, known: Collection[str], given: Mapping[str, float]
) -> dict[str, float]:
    if unknown := sorted(given.keys() - {*known}):
        raise ValueError(f"unknown {what}: {', '.join(unknown)}; known are {', '.join(known)}")
    return {**default, **given}
