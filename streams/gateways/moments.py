"""Moments that people and agents name: the present, and when something is due. The clock is read here; the core has
none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from streams.core.errors import UsageError

YEAR_1971 = 31_536_000_000_000
"""In microseconds: a smaller number was most likely one of seconds or milliseconds."""
NOW = "now"
"""What names the present."""


def present() -> str:
    """The present, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment(at: str | None) -> dict[str, Any]:
    """The moment of a context as the question takes it: a time, the present where it is called `now`, or none."""
    if not at:
        return {}
    return {"present": present()} if at == NOW else {"at": at}


def hint_at(at: object) -> dict[str, str]:
    """What there is to tell of a time that is taken as it is given; nothing of most."""
    if type(at) is int and 0 < at < YEAR_1971:
        return {"hint": f"at: {at} is dated 1970, for whole numbers are microseconds; were these seconds?"}
    return {}


def due_fields(due: str) -> dict[str, Any]:
    """What a note's event has where it is due then. Raises UsageError for what is no such time."""
    from mnemolog import RefusedError, fields_of_due  # why here: few commands need it, and it takes a while to load

    try:
        return fields_of_due(due)
    except RefusedError as error:
        what, _, way_out = str(error).partition("; ")
        raise UsageError(what, way_out) from None
