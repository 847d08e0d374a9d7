"""What direct access puts into a context: what the session stands on, as far as its last turns do not say it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from processors.direct_access.events import KINDS, SessionNoted
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section

READ = 24
"""Notes of a session: six of each kind."""


class DirectAccessSectionParams(Params):
    """How a session's notes are shown."""

    most: int = param(12, "notes", "the newest, of all kinds", ge=0, le=24)
    said: int = param(
        12, "turns", "the last ones stand in the context as they were said; what they say is not noted", ge=0
    )
    worth: float = param(0.45, "worth", "what a session stands on serves most of its turns", ge=0, le=1)
    fade: float = param(0.97, "factor per note", "older ones a little less", gt=0, le=1)


def noted(params: Any, own: DirectAccessSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The current notes, by kind."""
    ids = read.members("session notes", ask.session, READ).newest
    said = {turn.id for turn in islice(read.session(), own.said)}
    kept = read.kept(SessionNoted, ids)
    left = [kept[id] for id in ids if id in kept and kept[id].status == "current" and kept[id].turn not in said]
    place = {one.note: n for n, one in enumerate(left[: own.most])}
    for one in sorted(left[: own.most], key=lambda one: (KINDS.index(one.kind), -place[one.note])):
        line = f"- {one.kind}: {' '.join(one.text.split())}{f' [{one.turn}]' if one.turn else ''}"
        worth = own.worth * own.fade ** place[one.note]
        data = {"kind": one.kind, "turn": one.turn}
        yield Piece(one.note, f"{one.kind} of this session", worth, line, quotes=(one.turn,), data=data)


NOTED = Section(
    "direct_access", 25, "What this session stands on", DirectAccessSectionParams, noted, layer="direct_access"
)
