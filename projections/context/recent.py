"""The turn to be answered and the exchanges before it, as they were said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from projections.context.params import RecentParams
from streams.core.section import Ask, Offered, Piece, Reader, Section, Turns

PER_EXCHANGE = 40
"""Turns read for each exchange: tools may say much between a question and its answer."""


def recent(_: None, own: RecentParams, ask: Ask, read: Reader) -> Iterator[Offered]:
    """The last exchanges, oldest first: a user's turn and all that came between it and the next."""
    newest = islice(read.session(), max(own.exchanges, 1) * PER_EXCHANGE)
    first: list[Piece] = []
    others: list[tuple[int, float]] = []
    exchange = 0
    for place, turn in enumerate(newest):
        if exchange >= own.exchanges:
            break
        if place == 0 or exchange < own.first:
            reason = "the turn to be answered" if place == 0 else "said just before"
            worth = 1.0 if place == 0 else own.fade**exchange
            first.append(Piece("", reason, worth, turn=turn.position, needed=True))
        else:
            others.append((turn.position, own.fade**exchange))
        exchange += turn.role == "user"
    if others:
        turns, worths = zip(*reversed(others), strict=True)
        yield Turns(turns, worths, lambda _: "recent")
    yield from reversed(first)


RECENT = Section("recent", 90, "The newest turns of this session", RecentParams, recent, layer="")
