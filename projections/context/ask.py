"""The context of a session, composed from a memory as of a position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from projections.asking import asking
from projections.context.compose import Choice, Composed, Kept, Offer, compose, explained
from projections.context.params import ContextParams
from projections.context.recent import RECENT
from projections.context.render import frame_cost, render
from projections.context.windows import details as details_section
from projections.context.windows import window as window_of
from projections.recall.answers import Sight
from projections.recall.section import Cue, cue_of, recalled
from projections.stored import newest
from streams.core.errors import UsageError
from streams.core.events import MAX_TURNS
from streams.core.params import Params
from streams.core.section import Ask


def context_of(
    sight: Sight,
    ask: Ask,
    cue: Cue,
    budget: int | None = None,
    without: Collection[str] = (),
    alone: str = "",
    ids: Sequence[str] = (),
) -> Composed:
    """What is shown in a session, within `budget` tokens (the parameter's where it is None).

    Of a window (see windows) where one is to be shown `alone`; only what is behind `ids` where there are any.
    """
    connection, params = sight.connection, sight.recall.params
    offers: list[Offer] = [(RECENT, None), (recalled(sight, cue), None)]
    offers += [(section, params[p.name]) for p in sight.recall.processors for section in p.read_model.sections]
    if ids:
        offers = [(details_section(connection, ids), None)]
        params = {**params, "context.details": Params()}
    elif alone:
        own = params["context"]
        assert isinstance(own, ContextParams)
        offers = window_of(alone, offers, (own.budget if budget is None else budget) - frame_cost(ask))
    return compose(connection, ask, offers, params, budget, without, frame_cost, _kept(sight, ask.space))


def _kept(sight: Sight, space: str) -> Kept:
    """Finds the last records of a space in the index."""
    keepers = {keep.event: p.name for p in sight.recall.processors for keep in p.read_model.keeps}
    until = sight.until(space)

    def kept(event: type, keys: Iterable[str]) -> dict[str, Any]:
        related = sight.recall.index.related(space, keepers[event], keys, until)
        last = {key: [one for one in records if type(one) is event] for key, records in related.items()}
        return {key: records[-1] for key, records in last.items() if records}

    return kept


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
    window: str = "",
    details: Sequence[str] = (),
) -> dict[str, Any]:
    """What a model would be given in a session: text, chat messages, and why each piece of them is there.

    `question` is what is to be answered where it is not recorded yet. With `explain`, `considered` tells what was taken
    and what was left out. `recalled` is what recall put in, as a `memory-recalled` tells it when the context was shown.
    `window` names another way to fill it (see windows); `details` are ids whose turns alone are shown.
    Raises UsageError for a section that no mechanism has.
    """
    known = asking(sight.recall.processors)
    if unknown := sorted(name for name in without if f"context.{name}" not in known):
        names = (name.removeprefix("context.") for name in known if name.startswith("context."))
        raise UsageError(f"there is no section {unknown[0]!r}", f"sections are {', '.join(sorted(names))}")
    ask = Ask(space, session, *newest(sight.connection, space))
    cue = cue_of(sight, ask, question)
    composed = context_of(sight, ask, cue, budget, without, window, details)
    rendered = render(composed)
    found = rendered.data | {"text": rendered.text, "messages": rendered.messages}
    shown = _best(composed.shown("details" if details else "recalled"))
    turns = [composed.turns[one.piece.turn].id for one in shown]
    found["recalled"] = {"cue": f"details {' '.join(details)}" if details else cue.text, "turns": turns}
    return found | {"considered": list(explained(composed))} if explain else found
