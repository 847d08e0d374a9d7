"""The fact that days derives, and its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streams.core.clock import Zone
from streams.core.params import Params, param
from streams.core.processor import Derived


@dataclass(slots=True)
class DayNamed(Derived):
    """A turn names a day to come."""

    id: str
    turn: str
    day: str
    """By the clocks of the space's zone, as 2026-03-14."""
    text: str
    """What is said: the turn where it is short, else the sentence that names the day."""
    type: Literal["day-named.v1"] = "day-named.v1"


class DaysParams(Params):
    """By whose clocks a day is meant."""

    zone: Zone = param(
        "UTC",
        "time zone",
        "by whose clocks 'tomorrow' is meant: a name such as Europe/Berlin, or hours as +02:00",
        "chosen",
    )
