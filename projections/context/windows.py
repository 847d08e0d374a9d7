"""Other ways to fill a context, to compare with: the session's newest turns alone, or with one section before them.

    truncation   the newest turns, as many as the budget holds
    sliding      the newest 12 turns
    compression  what the session's earlier part came to, and the newest 12 turns
    columns      tasks, notes and objects alone, for who has the talk itself at hand

and `details`: a second window, of the turns behind some ids, for a model that found the first one wanting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from projections.context.compose import Offer
from projections.context.params import RecentParams
from projections.context.recent import RECENT
from projections.context.source import MemorySource
from projections.show import turns_behind
from streams.core.errors import UsageError
from streams.core.params import Params
from streams.core.section import Ask, Piece, Reader, Section

COLUMNS = "columns"
OVERHEAD = 8
"""Tokens of who speaks."""


def window(name: str, offers: Iterable[Offer], source: MemorySource, room: int) -> list[Offer]:
    """What the window of this name is made of, within `room` tokens. Raises UsageError where there is none."""
    offers = [offer for offer in offers if offer[0].window]
    names = list(dict.fromkeys(["truncation", "sliding", *(section.window for section, _ in offers)]))
    if name not in names:
        raise UsageError(f"there is no window {name!r}", f"windows are {', '.join(names)}")
    chosen = [offer for offer in offers if offer[0].window == name]
    return chosen if name == COLUMNS else [*chosen, (_newest(source, room, name != "truncation"), None)]


def _newest(source: MemorySource, room: int, few: bool) -> Section:
    """The newest turns, without a gap: as many as fit, and where there are to be `few`, no more than are kept."""

    def pieces(_: None, own: RecentParams, ask: Ask, read: Reader) -> Iterator[Piece]:
        newest = [turn.position for turn in islice(read.session(), own.last if few else room // OVERHEAD)]
        said, left, chosen = source.words(newest), room, list[int]()
        for position in filter(said.__contains__, newest):
            left -= said[position].tokens + OVERHEAD
            if left < 0 and chosen:
                break
            chosen.append(position)
        for place, position in enumerate(reversed(chosen)):
            worth = 1.0 if place == len(chosen) - 1 else 0.9 + 0.09 * place / len(chosen)
            yield Piece("", "one of the newest", worth, turn=position, needed=True)

    return Section(RECENT.name, RECENT.place, RECENT.heading, RecentParams, pieces, layer="")


def details(source: MemorySource, ids: Sequence[str]) -> Section:
    """The turns behind ids; where not all fit, words of assent are left out first. UsageError for an unknown id."""

    def pieces(_: None, own: Params, ask: Ask, read: Reader) -> Iterator[Piece]:
        found = {
            turn["position"]: (id, turn) for id in ids for turn in turns_behind(source.sight.connection, id, ask.space)
        }
        for position, (id, turn) in sorted(found.items()):
            if not turn["retracted"]:
                yield Piece("", f"asked for as {id}", max(LEAST, min(1.0, turn["tokens"] / WHOLE)), turn=position)

    return Section("details", 50, "What was asked for", Params, pieces)


WHOLE = 40
"""Tokens of a turn that is worth all: two sentences."""
LEAST = 0.1
"""Worth of a word of assent: shown where there is room."""
