"""The context of a session, composed from a memory as of a position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from projections.context.compose import Choice, Composed, Offer, compose, explained
from projections.context.params import ContextParams, RecalledParams
from projections.context.recent import RECENT
from projections.context.render import frame_cost, render
from projections.context.source import MemorySource
from projections.context.windows import details as details_of
from projections.context.windows import window as window_of
from projections.recall.analysis import ask as read_question
from projections.recall.answers import Sight
from projections.recall.missed import missed
from projections.recall.question import moment_of
from projections.recall.section import Cue, cue_of, recalled
from streams.core.errors import UsageError
from streams.core.events import MAX_TURNS, iso
from streams.core.params import Params
from streams.core.text.openly import openly
from streams.core.text.wide import asks_widely

AHEAD = 24
"""Newest turns of the session whose words are read first: they are shown, and the last of them are the cue."""

BEFORE = ("this session", "the session before")
"""What headings call a session, and what they call it where another begins."""


def _composed(
    source: MemorySource,
    cue: Cue,
    budget: int | None,
    without: Collection[str],
    alone: str,
    ids: Sequence[str],
    explain: bool,
) -> Composed:
    """What is shown; of a window where one is to be shown `alone`, only what is behind `ids` where there are any."""
    recall = source.sight.recall
    params = recall.params
    offers: list[Offer] = [(RECENT, None), (missed(source.standing), None)]
    offers += [(recalled(source.sight, source.standing, cue, explain), None)]
    offers += [(section, params[p.name]) for p in recall.processors for section in p.read_model.sections]
    if ids:
        offers = [(details_of(source, ids), None)]
        params = {**params, "context.details": Params()}
    elif not alone:
        offers = [offer for offer in offers if not offer[0].apart]
    else:
        room = cast(ContextParams, params["context"]).budget if budget is None else budget
        offers = window_of(alone, offers, source, room - frame_cost(source.ask))
    if source.ask.for_session:
        offers = [(replace(one, heading=one.heading.replace(*BEFORE)), own) for one, own in offers]
    return compose(source, source.ask, offers, params, budget, without, frame_cost, explain)


def _check(sight: Sight, names: Sequence[str]) -> None:
    """Raises UsageError for a name that no section or layer has."""
    known = {name.removeprefix("context.") for name in sight.recall.params if name.startswith("context.")}
    known |= {section.layer for p in sight.recall.processors for section in p.read_model.sections} | {"focus"}
    if unknown := sorted(set(names) - known):
        raise UsageError(f"there is no section {unknown[0]!r}", f"sections and layers are {', '.join(sorted(known))}")


def _asked_at(clock: int, at: str | int | None, present: str | int | None) -> int:
    """The moment that is asked for, in UTC microseconds: `clock` is that of the last event. Raises UsageError."""
    moment = moment_of(at)
    if moment is None:
        return max(clock, moment_of(present) or 0)
    if moment < clock:
        said = f"{iso(moment)} lies before the last event, {iso(clock)}"
        raise UsageError(said, "ask as of that time for what was known then")
    return moment


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
    for_session: str = "",
    at: str | int | None = None,
    present: str | int | None = None,
    live: str | int | None = None,
) -> dict[str, Any]:
    """What a model would be given in a session: text, chat messages, and why each piece of them is there.

    `question` is what is to be answered where it is not recorded yet. With `explain`, `considered` tells what was taken
    and what was left out. `recalled` is what recall put in, `shown` the event that tells that it was shown.
    `window` names another way to fill it (see windows); `details` are ids whose turns alone are shown.
    `for_session` is a session that begins where this one ended, and is to be given it. `without` names sections or
    layers. Raises UsageError for one that no mechanism has.
    `at` is the moment that is asked for, ISO 8601 or UTC microseconds, by which what is due is told: the last event's
    if not given, and never before that. `present` is the same by the clock of who asks, and counts where it is later;
    so is `live`, which counts where the space's newest turn was recorded when it was said.
    """
    if without:
        _check(sight, without)
    source = MemorySource(sight, space, session)
    clock = source.ask.now
    present = live if live is not None and source.is_live() else present
    now = _asked_at(clock, at, present) if clock else clock  # of what nobody spoke in, no time is told
    newest = [turn.position for turn in islice(source.reader(RECENT).session(), AHEAD)]
    said = source.words(newest)
    own = cast(RecalledParams, sight.recall.params["context.recalled"])
    cue = cue_of(own, [said[at] for at in newest if at in said], question)
    asked = read_question(cue.asked)
    wanted = openly(cue.asked)
    cues = asked.cues | wanted
    wide = asks_widely(cues, asked.stems, first=len(newest) <= (not question), openly=bool(wanted))
    source.ask = replace(
        source.ask, cues=cues, terms=asked.stems, for_session=for_session, now=now, asked=cue.asked, wide=wide
    )
    composed = _composed(source, cue, budget, without, window, details, explain)
    rendered = render(composed)
    found = rendered.data | {"text": rendered.text, "messages": rendered.messages}
    shown = _best(composed.shown("details" if details else "recalled"))
    turns = [composed.turns[one.piece.turn].id for one in shown]
    told = f"details {' '.join(details)}" if details else cue.text
    found["recalled"] = {"cue": told, "turns": turns}
    found["shown"] = sight.shown(space, for_session or session, told, turns, iso(clock))
    return found | {"considered": list(explained(composed))} if explain else found
