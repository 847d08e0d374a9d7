"""Parameters that explain themselves."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Params(BaseModel):
    """Parameters of a processor: frozen, and each one explains itself (see `param`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


def param(default: Any, unit: str, why: str, source: str = "tuned", **limits: Any) -> Any:
    """A parameter with its `unit`, the reason for its default, and the source the reason comes from."""
    return Field(default, description=why, json_schema_extra={"unit": unit, "source": source}, **limits)
