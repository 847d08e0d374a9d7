"""Parameters that explain themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Params(BaseModel):
    """Parameters of a processor: frozen, finite, and each one explains itself (see `param`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)


def param(default: Any, unit: str, why: str, source: str = "tuned", **limits: Any) -> Any:
    """A parameter with its `unit`, the reason for its default, and the source the reason comes from."""
    return Field(default, description=why, json_schema_extra={"unit": unit, "source": source}, **limits)


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
