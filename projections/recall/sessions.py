"""Whether a session must ask its memory again, or what it was shown before will do: `needs`, asked of a memory."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from projections.recall.answers import Sight, told
from projections.recall.dynamics import Moment
from projections.recall.held import Seen
from projections.recall.kinds import TURN
from projections.recall.needs import NeedParams, within_reach
from projections.recall.needs import needs_recall as decide
from projections.recall.question import moment_of
from streams.core.events import iso

TALK = 8
"""Turns of the session's own talk, the last ones, that its agent has before its eyes."""

Answer = dict[str, Any]


def needs_recall(sight: Sight, space: str, session: str, message: str, at: str | int | None = None) -> Answer:
    """Whether `message` needs the memory to be asked, and why.

    `items` are at hand, the freshest first; where the memory need not be asked, `hits` are the best within reach.
    """
    recall, params = sight.recall, cast(NeedParams, sight.recall.params["needs"])
    standing = sight.standing(space)
    seen, until = standing.space, standing.until
    moment = recall.moment(seen, space, until, moment_of(at), session)
    record, items = _at_hand(sight, moment, session)
    links = recall.dynamics.links(space, [*items], until, moment.now)
    linked = [seen.turn(turn) for pair in links for turn in pair]
    reach = within_reach(params, seen, [*items.values()], linked)
    talk = _talk(seen, session)
    before = _before(sight, moment, talk, message, record.asked[0] if record is not None and record.asked else 0)
    need = decide(params, recall.ranking, seen, message, reach, before, talk, now=moment.now)
    hits = recall.believed(moment, need.hits, message, standing)
    said = _said(sight, moment, [*items.values(), *(hit.document for hit in hits)])
    shown = dict(zip(record.items, record.shown, strict=True)) if record is not None else {}
    rows = [recall.row(seen, hit) for hit in hits]
    replaced = standing.replaced([*items, *(row["id"] for row in rows)])
    return {
        "space": space,
        "session": session,
        "needed": need.recall,
        "reason": need.why,
        "cover": round(need.cover, 6),
        "items": [
            {"id": item, "shown_at": iso(shown[item])} | told(said.get(item, ""), replaced.get(item, ()))
            for item in items
        ],
        "hits": [row | told(said.get(row["id"], ""), replaced.get(row["id"], ())) for row in rows],
    }


def _at_hand(sight: Sight, moment: Moment, session: str) -> tuple[Any, dict[str, int]]:
    """What a session's working memory was at last (None for nothing), and what of it is at hand: turns, documents."""
    readings, seen = sight.recall.dynamics.readings, moment.space
    if "at_hand" not in readings:
        return None, {}
    keeper = readings.owner("at_hand")
    record = sight.recall.index.records(moment.name, keeper, [session], moment.until).get(session)
    documents = {item: seen.turn(item) for item in readings["at_hand"](record, moment.now)}
    ended = seen.documents.ended
    return record, {item: one for item, one in documents.items() if one >= 0 and ended[one] > seen.until}


def _talk(seen: Seen, session: str) -> list[int]:
    """The last turns that a session itself said."""
    number, columns = seen.session(session), seen.documents
    if number < 0:
        return []
    own = (columns.session[: seen.seen] == number) & (columns.kind[: seen.seen] == TURN)
    last: list[int] = np.flatnonzero(own)[-TALK:].tolist()
    return last


def _before(sight: Sight, moment: Moment, talk: list[int], message: str, after: int) -> str:
    """What the agent said just before a message, which may be recorded already; "" if it recalled `after` that."""
    seen = moment.space
    said = _said(sight, moment, talk[-2:])
    if talk and said.get(seen.id(talk[-1]), "").strip() == message.strip():
        talk = talk[:-1]
    if not talk:
        return ""
    last = seen.held.spoken(talk[-1])
    return said.get(last.id, "") if last.role == "assistant" and last.at > after else ""


def _said(sight: Sight, moment: Moment, turns: list[int]) -> dict[str, str]:
    """The words of turns, by id."""
    seen = moment.space
    said = sight.recall.said(moment.name, [seen.position(turn) for turn in dict.fromkeys(turns)])
    return {turn.id: turn.content for turn in said.values()}
