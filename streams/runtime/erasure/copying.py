"""The new log of an erasure: what stays of the old one, copied in steps while turns come."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from streams.core.driver import Record
from streams.core.errors import LogError
from streams.core.events import Outside, TurnRecorded, decode, encode
from streams.logs.erased import name_of
from streams.logs.log import Chain, Duplicate, Refused, Stored
from streams.logs.sqlite import BATCH
from streams.logs.where import Copied
from streams.runtime.erasure.selection import named


class Copying:
    """A copy of a log without what goes, as far as it was made."""

    def __init__(
        self, old: Copied, new: Copied, salt: bytes, gone: Container[bytes], state: dict[str, Any] | None = None
    ) -> None:
        """`gone` are the names (see `name_of`) of what goes; `state` is where another copying of these stood."""
        state = state or {"ends": [0] * old.partitions, "events": [0, 0], "hashes": [[""] * old.partitions] * 2}
        self._old = old
        self._new = new
        self._salt = salt
        self._gone = gone
        self._ends: list[int] = [*state["ends"]]
        self.events_before, self.events_after = state["events"]
        self.before, self.after = (Chain([bytes.fromhex(one) for one in hashes]) for hashes in state["hashes"])
        self.also: list[bytes] = []
        """Names of what goes besides: facts that came meanwhile, and name what goes."""

    def state(self) -> dict[str, Any]:
        """Where it stands, as JSON."""
        hashes = [[one.hex() for one in chain.hashes] for chain in (self.before, self.after)]
        return {"ends": self._ends, "events": [self.events_before, self.events_after], "hashes": hashes}

    def left(self) -> int:
        """How many offsets are left to copy."""
        return sum(end - done for end, done in zip(self._old_ends(), self._ends, strict=True))

    def _old_ends(self) -> list[int]:
        return [self._old.end(partition) for partition in range(self._old.partitions)]

    def up_to(self, ends: Sequence[int] = (), progress: Callable[[int], object] = lambda done: None) -> None:
        """Copies up to these offsets of the partitions, or to the log's end. Raises LogError where the new log does not
        take what the old one has."""
        for partition, end in enumerate(ends or self._old_ends()):
            records = self._old.read(partition, self._ends[partition], end)
            while page := list(islice(records, BATCH)):
                self._copy(page)
                progress(sum(self._ends[:partition]) + page[-1].offset)
            self._ends[partition] = end

    def _copy(self, page: Sequence[Record]) -> None:
        staying: list[tuple[Outside, int]] = []
        for record in page:
            if not record.is_readable:  # its key was destroyed
                continue
            event = decode(record.type, record.value)
            self.before.add(record, event.id)
            if not self._goes(event):
                if isinstance(event, TurnRecorded) and event.reply_to and self._is_gone(event, event.reply_to):
                    event = replace(event, reply_to="")  # an answer forgets what it answered
                staying.append((event, record.recorded_at))
        self.events_before += len(page)
        for (event, recorded_at), outcome in zip(staying, self._new.append_recorded(staying), strict=True):
            match outcome:
                case Stored(partition, offset):
                    value = encode(event)
                    record = Record(partition, offset, event.space, recorded_at, event.type, value, b"")
                    self.after.add(record, event.id)
                    self.events_after += 1
                case Refused(reason=reason, erased=False):
                    raise LogError(f"the new log does not take what the old one has: {reason}", "nothing was erased")
                case Duplicate() | Refused():  # it stood there twice, or came again after it was erased
                    pass

    def _goes(self, event: Outside) -> bool:
        if self._is_gone(event, event.id):
            return True
        if any(self._is_gone(event, turn) for turn in named(event)):
            self.also.append(name_of(self._salt, event.space, event.id))
            return True
        return False

    def _is_gone(self, event: Outside, id_: str) -> bool:
        return name_of(self._salt, event.space, id_) in self._gone
