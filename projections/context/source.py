"""What a context is composed from: a memory as of a position, by its index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

from projections.context.turns import Turn
from projections.recall.answers import Sight
from projections.recall.file import DamagedError
from projections.recall.held import Seen
from projections.recall.standing import Replaced, Standing
from streams.core.dataclasses import dataclass
from streams.core.section import Ask, Members, Section, Spoken

R = TypeVar("R")


class MemorySource:
    """A memory, for one context."""

    def __init__(self, sight: Sight, space: str, session: str) -> None:
        self.sight = sight
        self.until = sight.until(space)
        self.seen: Seen = sight.recall.index.space(space, self.until)
        self.ask = Ask(space, session, *sight.recall.index.newest(self.seen))
        self._standing = Standing(sight.recall, self.seen, space, self.until)
        self._told: dict[str, Spoken | None] = {}
        """Turns asked for by their ids: several sections ask for the same ones."""
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

    def tokens(self, positions: Sequence[int]) -> dict[int, int]:
        """The tokens of turns' words at some offsets, where they tell what it costs to show them."""
        return self.seen.tokens(positions)

    def replaced(self, ids: Collection[str]) -> dict[str, Sequence[Replaced]]:
        """By turn: its sentences that do not stand any more, or are in doubt."""
        return self._standing.replaced(ids)

    def turns(self, ids: Sequence[str]) -> dict[str, Spoken]:
        """Turns by id, their words apart; without those that are not shown any more."""
        told = self._told
        if new := [id for id in ids if id not in told]:
            told |= dict.fromkeys(new) | self.seen.shown(new)
        return {id: turn for id in ids if (turn := told[id]) is not None}

    def session(self) -> Iterator[Spoken]:
        """The turns of the session that are still shown, the newest first; several sections ask for them."""
        for place in count():
            if place == len(self._own):
                turn = next(self._others, None)
                if turn is None:
                    return
                self._own.append(self.seen.held.spoken(turn))
            yield self._own[place]


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """What a section reads: see `streams.core.section.Reader`."""

    source: MemorySource
    section: Section

    def kept(self, event: type[R], keys: Iterable[str], *others: type[Any]) -> dict[str, R]:
        of, recall = self.source, self.source.sight.recall
        if (keeper := recall.keepers.get(event)) is None:  # of a mechanism that is not registered
            return {}
        related = recall.index.related(of.ask.space, keeper, keys, of.until)
        found: dict[str, R] = {}
        for key, records in related.items():
            last = next((one for one in reversed(records) if type(one) is event or type(one) in others), None)
            if type(last) is event:
                found[key] = last
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
