"""Moments as events have them: whole microseconds since 1970, in UTC.

Apart from `events`, which has them too, for who reads times and checks no event: pydantic, which checks, takes as long
to import as all else that a question to a server needs.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MAX_AHEAD = 5 * MINUTE
"""How far `at` may lie after the moment of recording before the event is refused as coming from a wrong clock."""


def micros(text: str) -> int:
    """UTC microseconds since 1970 of an ISO 8601 time; a time without an offset is taken as UTC.

    Raises ValueError for anything else, and for times before 1970.
    """
    moment = datetime.fromisoformat(text)
    at = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND
    if at < 0:
        raise ValueError("times before 1970 are not supported")
    return at


def iso(at: int) -> str:
    """RFC 3339 in UTC of `at` microseconds: `2026-01-05T09:00:00Z`, with six decimals only where there are any."""
    return (EPOCH + at * MICROSECOND).isoformat().removesuffix("+00:00") + "Z"
