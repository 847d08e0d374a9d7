"""What was said since who asks was here last, where somebody asks for that: "what did I miss?", "any news?".

Such words are those of no matter: what others said meanwhile is what is asked for, the newest first. Others are people
and agents in other sessions; where who asks is not known, or nobody spoke since, it is what was said last.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from projections.context.params import MissedParams
from projections.recall.flags import role_of
from projections.recall.held import Seen
from projections.recall.kinds import TURN
from projections.recall.standing import Standing
from streams.core.section import Ask, Offered, Reader, Section, Turns

LOOKED = 1_024
"""Documents of a space that are looked at, the newest."""
PEOPLE, AGENT = "user", "assistant"


def missed(standing: Standing) -> Section:
    """The section, of a space."""

    def pieces(_: None, own: MissedParams, ask: Ask, read: Reader) -> Iterator[Offered]:
        if "missed" not in ask.cues or not own.most:
            return
        found = _meanwhile(own, standing.space, ask.session)
        if found:
            flags = standing.space.documents.flags
            worths = [
                own.worth * own.fade**age * (1.0 if role_of(flags.item(document)) == PEOPLE else own.agent)
                for age, document in enumerate(reversed(found))
            ]
            offsets = standing.space.positions[found].tolist()
            yield Turns(offsets, worths[::-1], lambda _: "said since who asks was here last")

    return Section("missed", 48, "Said meanwhile, in other sessions", MissedParams, pieces)


def _meanwhile(own: MissedParams, space: Seen, session: str) -> list[int]:
    """What people and agents said in other sessions, in order: what followed the last turn there of who asks."""
    of, first = space.documents, max(0, space.seen - LOOKED)
    here = slice(first, space.seen)
    others = (of.kind[here] == TURN) & (of.ended[here] > space.until) & (of.session[here] != space.session(session))
    places = np.flatnonzero(others) + first
    places = places[[role_of(flags) in (PEOPLE, AGENT) for flags in of.flags[places].tolist()]]
    asker = next((of.speaker.item(turn) for turn in space.said(session) if role_of(of.flags.item(turn)) == PEOPLE), -1)
    own_turns = np.flatnonzero(of.speaker[places] == asker)
    since = len(places) - (int(own_turns[-1]) + 1 if len(own_turns) else 0)
    return places[max(0, len(places) - min(max(since, own.few), own.most)) :].tolist()  # type: ignore[no-any-return]
