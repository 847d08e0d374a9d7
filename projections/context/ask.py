"""The context of a session, composed from a memory as of a position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, cast

from projections.context.compose import Choice, Composed, Offer, compose, explained
from projections.context.params import RecalledParams
from projections.context.recent import RECENT
from projections.context.render import frame_cost, render
from projections.context.source import MemorySource
from projections.recall.answers import Sight
from projections.recall.section import Cue, cue_of, recalled
from streams.core.errors import UsageError
from streams.core.events import MAX_TURNS
from streams.core.section import Ask

AHEAD = 24
"""Newest turns of the session whose words are read first: they are shown, and the last of them are the cue."""


def _composed(source: MemorySource, cue: Cue, budget: int | None, without: Collection[str]) -> Composed:
    recall = source.sight.recall
    offers: list[Offer] = [(RECENT, None), (recalled(source.sight, cue), None)]
    offers += [(section, recall.params[p.name]) for p in recall.processors for section in p.read_model.sections]
    return compose(source, source.ask, offers, recall.params, budget, without, frame_cost)


def _best(choices: Iterable[Choice]) -> list[Choice]:
    return sorted(choices, key=lambda choice: -choice.piece.worth)[:MAX_TURNS]


def context(
    sight: Sight,
    space: str,
    session: str,
    budget: int | None = None,
    without: Sequence[str] = (),
    question: str = "",
    explain: bool = False,
) -> dict[str, Any]:
    """What a model would be given in a session: text, chat messages, and why each piece of them is there.

    `question` is what is to be answered where it is not recorded yet. With `explain`, `considered` tells what was taken
    and what was left out. `recalled` is what recall put in, as a `memory-recalled` tells it when the context was shown.
    Raises UsageError for a section that no mechanism has.
    """
    params = sight.recall.params
    if unknown := sorted(name for name in without if f"context.{name}" not in params):
        names = sorted(name.removeprefix("context.") for name in params if name.startswith("context."))
        raise UsageError(f"there is no section {unknown[0]!r}", f"sections are {', '.join(names)}")
    until = sight.until(space)
    source = MemorySource(sight, Ask(space, session, *sight.recall.index.newest(space, until)), until)
    newest = [turn.position for turn in islice(source.reader(RECENT).session(), AHEAD)]
    said = source.words(newest)
    cue = cue_of(cast(RecalledParams, params["context.recalled"]), [said[at] for at in newest if at in said], question)
    composed = _composed(source, cue, budget, without)
    rendered = render(composed)
    found = rendered.data | {"text": rendered.text, "messages": rendered.messages}
    turns = [composed.turns[one.piece.turn].id for one in _best(composed.shown("recalled"))]
    found["recalled"] = {"cue": cue.text, "turns": turns}
    return found | {"considered": list(explained(composed))} if explain else found
