"""Law 6: time is an event. What time it is in a space, and when the live runtime must say so.

A space's now is the greatest `at` of its events so far; it never goes back. Deadlines pass when some event shows a
later now. In a space where nothing is said, the live runtime appends `clock-ticked` when a deadline passes, so that
everyone who folds the log sees it pass. It does so only where the newest turn came in live: imported history gets no
ticks, for its deadlines passed long ago.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from streams.core.events import MAX_AHEAD, SECOND, ClockTicked
from streams.core.patterns import lazily
from streams.core.processor import Raw, derived_id

DUE = "due/"
"""State keys that begin with this and a time, `due/<microseconds, 20 digits>/`, ask for a tick at that time."""


@dataclass(slots=True)
class Clock:
    """What time it is in a space: the record that the driver itself keeps, at `clock`."""

    now: int = 0
    """The greatest `at` of its events, UTC microseconds."""
    live: bool = False
    """Whether its newest turn was recorded within 5 minutes of its `at`."""

    def strike(self, raw: Raw[object], at: int, is_turn: bool) -> bool:
        """Takes the time of an event, and tells it the space's now; whether anything changed."""
        changed = at > self.now
        if changed:
            self.now = at
        if is_turn:
            live = abs(raw.recorded_at - at) <= MAX_AHEAD
            changed = changed or live != self.live
            self.live = live
        raw.now = self.now
        return changed


class Deadlines:
    """The first deadline of each space that has one."""

    def __init__(self, due: Mapping[str, str]) -> None:
        """`due` has the first key that begins with DUE, by space."""
        self._due = dict(due)
        self._asked: dict[str, str] = {}

    def note(self, space: str, key: str | None) -> None:
        """The first DUE key of a space, after something was folded in it; None where it has none."""
        if key is None:
            self._due.pop(space, None)
            self._asked.pop(space, None)
        else:
            self._due[space] = key

    def passed(self, now: int, live: Callable[[str], bool]) -> list[ClockTicked]:
        """The ticks of live spaces whose deadline lies at or before `now`, each given once.

        A space that is not live is asked about again when something was folded in it. The tick's id is a hash of the
        key: where one event cannot end all that is due at a deadline, the key of what is left asks for another.
        """
        passed = [(space, key, at) for space, key in self._due.items() if (at := _time(key)) <= now]
        ticks: list[ClockTicked] = []
        for space, key, at in passed:
            del self._due[space]
            if self._asked.get(space) != key and live(space):
                self._asked[space] = key
                ticks.append(ClockTicked(space, derived_id("tick", space, key), at))
        return ticks


def _time(key: str) -> int:
    return int(key[len(DUE) : key.index("/", len(DUE))])


_OFFSET = lazily(r"([+-])(\d\d):(\d\d)")


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The zone of a name ("Europe/Berlin") or an offset ("+02:00"). Raises ValueError for any other."""
    if offset := _OFFSET.fullmatch(name):
        east = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-east if offset[1] == "-" else east)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"no time zone is called {name!r}; take a name such as Europe/Berlin, or +02:00") from None


def _known(zone: str) -> str:
    zone_of(zone)
    return zone


Zone = Annotated[str, AfterValidator(_known)]
"""A parameter that names a zone that there is."""


def to_local(at: int, zone: str) -> datetime:
    """What clocks of a zone show at a time (UTC microseconds)."""
    return datetime.fromtimestamp(at // SECOND, UTC).astimezone(zone_of(zone)).replace(tzinfo=None)


def to_micros(local: datetime, zone: str) -> int:
    """The time (UTC microseconds) at which clocks of a zone show this."""
    return int(local.replace(tzinfo=zone_of(zone)).timestamp()) * SECOND
