"""What a context is composed from: a memory as of a position, by its index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from projections.context.turns import Turn
from projections.recall.answers import Sight
from projections.recall.file import DamagedError
from projections.recall.held import Seen
from projections.recall.standing import Replaced
from streams.core.events import MAX_AHEAD
from streams.core.section import Ask, Members, Section, Spoken

R = TypeVar("R")
AT_ONCE = 24
"""Turns of a session that are looked up at a time."""


class MemorySource:
    """A memory, for one context."""

    def __init__(self, sight: Sight, space: str, session: str) -> None:
        self.sight = sight
        self.standing = sight.standing(space)
        self.until = self.standing.until
        self.seen: Seen = self.standing.space
        self.ask = Ask(space, session, *sight.recall.index.newest(self.seen))
        self._told: dict[str, Spoken | None] = {}
        """Turns asked for by their ids: several sections ask for the same ones."""
        self.kept: dict[tuple[Any, ...], dict[str, Any]] = {}
        """Records that were asked for, by what was asked, for the same reason."""
        self._own: list[Spoken] = []
        """The session's newest turns, as far as they were asked for, and where the others are."""
        self._others = self.seen.said(session)

    def reader(self, section: Section) -> MemoryReader:
        """What a section reads."""
        return MemoryReader(self, section)

    def words(self, positions: Sequence[int]) -> dict[int, Turn]:
        """The turns at some offsets, by offset."""
        found = self.sight.recall.said(self.ask.space, positions)
        if len(found) < len(positions) and self.tokens([at for at in positions if at not in found]):
            raise DamagedError("a turn is missing")
        return found

    def is_live(self) -> bool:
        """Whether the newest turn of the space was recorded when it was said: then its time passes though nothing is
        said. Talk that was imported lies as far back as it does, and what was due there was due then."""
        last = self.seen.last_turn()
        newest = self.words([last]).get(last) if last >= 0 else None
        return newest is not None and abs(newest.recorded_at - newest.at) <= MAX_AHEAD

    def tokens(self, positions: Sequence[int]) -> dict[int, int]:
        """The tokens of turns' words at some offsets, where they tell what it costs to show them."""
        return self.seen.tokens(positions)

    def replaced(self, ids: Collection[str]) -> dict[str, Sequence[Replaced]]:
        """By turn: its sentences that do not stand any more, or are in doubt."""
        return self.standing.replaced(ids)

    def turns(self, ids: Sequence[str]) -> dict[str, Spoken]:
        """Turns by id, their words apart; without those that are not shown any more."""
        told = self._told
        if new := [id for id in ids if id not in told]:
            told |= dict.fromkeys(new) | self.seen.shown(new)
        return {id: turn for id in ids if (turn := told[id]) is not None}

    def session(self) -> Iterator[Spoken]:
        """The turns of the session that are still shown, the newest first; several sections ask for them."""
        own, place = self._own, 0
        while place < len(own) or self._read_on():
            known = own[place:]
            yield from known
            place += len(known)

    def _read_on(self) -> bool:
        """Looks up more of the session's turns; whether there are any."""
        known = len(self._own)
        self._own += self.seen.held.all_spoken([*islice(self._others, AT_ONCE)])
        return len(self._own) > known


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """What a section reads: see `streams.core.section.Reader`."""

    source: MemorySource
    section: Section

    def kept(self, event: type[R], keys: Iterable[str], *others: type[Any]) -> dict[str, R]:
        of, recall = self.source, self.source.sight.recall
        asked = event, others, (*keys,)
        if (known := of.kept.get(asked)) is not None:
            return known
        found: dict[str, R] = {}
        of.kept[asked] = found
        if (keeper := recall.keepers.get(event)) is None:  # of a mechanism that is not registered
            return found
        related = recall.index.related(of.ask.space, keeper, asked[2], of.until)
        for key, records in related.items():
            for last in reversed(records):
                if type(last) is event:
                    found[key] = last
                    break
                if type(last) in others:
                    break
        return found

    def members(self, group: str, part: str, most: int = 1_000) -> Members:
        of = self.source
        return of.sight.recall.index.members(of.ask.space, group, part, most, of.until)

    def turns(self, ids: Iterable[str]) -> dict[str, Spoken]:
        return self.source.turns([*ids])

    def session(self) -> Iterator[Spoken]:
        return self.source.session()

    def rows(self, name: str, **given: Any) -> list[tuple[Any, ...]]:
        of, sql = self.source, self.section.queries[name]
        known = {"space": of.ask.space, "session": of.ask.session, "now": of.ask.now} | given
        used = {k: v for k, v in known.items() if f"${k}" in sql}
        return of.sight.connection.execute(sql, used).fetchall()
