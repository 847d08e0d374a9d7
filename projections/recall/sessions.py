"""Whether a session must ask its memory again, from what it was shown before: `needs`, asked of a memory."""

from __future__ import annotations

from typing import Any

from projections.recall.answers import Sight
from projections.recall.held import LATEST
from projections.recall.needs import TALK, NeedParams, within_reach
from projections.recall.needs import needs_recall as decide
from projections.recall.question import moment_of
from projections.recall.texts import texts
from streams.events import iso

_SINCE = """
SELECT content FROM turn_recorded t
WHERE space = $space AND session = $session AND t.at > make_timestamp($after) ORDER BY position DESC LIMIT $limit
"""

Answer = dict[str, Any]


def needs_recall(sight: Sight, space: str, session: str, message: str, at: str | int | None = None) -> Answer:
    """Whether `message` needs the memory to be asked, and why. `items` are at hand, the freshest first."""
    recall, readings, params = sight.recall, sight.recall.dynamics.readings, NeedParams()
    until = sight.until(space)
    seen = recall.index.space(space, until)
    moment = recall.moment(seen, space, until, moment_of(at), session)
    record = None
    if "at_hand" in readings:
        record = recall.index.records(space, readings.owner("at_hand"), [session], until).get(session)
    items = readings["at_hand"](record, moment.now) if record is not None else []
    cues = readings["asked_about"](record, moment.now) if record is not None else []
    hand = [document for item in items if (document := seen.turn(item)) >= 0]
    links = recall.dynamics.links(space, items, until, moment.now)
    linked = [document for pair in links for turn in pair if (document := seen.turn(turn)) >= 0]
    reach = within_reach(params, seen, hand, linked)
    after = record.asked[0] if record is not None and record.asked else 0
    given = {"space": space, "session": session, "after": after, "limit": TALK}
    since = [content for (content,) in sight.connection.execute(_SINCE, given).fetchall()][::-1]
    need = decide(params, seen, message, reach, cues, since)
    places = [("turn", item, seen.position(document)) for item, document in zip(items, hand, strict=False)]
    said = texts(sight.connection, space, places, LATEST if until is None else until)
    shown = dict(zip(record.items, record.shown, strict=True)) if record is not None else {}
    return {
        "space": space,
        "session": session,
        "needed": need.recall,
        "reason": need.why,
        "cover": round(need.cover, 6),
        "items": [{"id": item, "shown_at": iso(shown[item]), "text": said.get(("turn", item), "")} for item in items],
    }
