"""What compression puts into a context: what the session's earlier part came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from processors.compression.events import SessionCompressed
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section, quoted
from streams.core.text.within import clip


class PastParams(Params):
    """How the session's earlier part is shown."""

    text: float = param(0.6, "worth", "nobody follows a talk without knowing what it came to so far", ge=0, le=1)
    line: float = param(0.4, "worth", "a decision, or what is to be done, that the text does not hold", ge=0, le=1)
    part: float = param(0.3, "worth", "tells where to look for more", ge=0, le=1)
    lines: int = param(4, "lines", "decisions, and as many actions", ge=0)


def past(params: Any, own: PastParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """What the head of the session came to, what of it is to be remembered, and where to look for more."""
    found = read.kept(SessionCompressed, [ask.session]).get(ask.session)
    if found is not None:
        yield from _pieces(own, found, [turn.id for turn in islice(read.session(), QUOTED)])


def _pieces(own: PastParams, found: SessionCompressed, said: Sequence[str]) -> Iterator[Piece]:
    whole = f"{found.first_turn}..{found.last_turn}"
    names = ", ".join(" ".join(name.split()) for name in found.names)
    lead = f"{found.turns} turns [{whole}], tone {found.tone}; {clip(names, 48)}\n{found.text}".strip()
    reason = "the session's turns that are not shown"
    yield Piece(whole, reason, own.text, quoted(lead), quotes=said, data={"turns": found.turns, "tone": found.tone})
    for kind, lines, turns in (
        ("decided", found.decisions, found.decision_turns), ("to do", found.actions, found.action_turns),
    ):  # fmt: skip
        left = [(text, turn) for text, turn in zip(lines, turns, strict=True) if text not in found.text]
        for text, turn in left[-own.lines :] if own.lines else ():
            line = f"- {kind}: {text} [{turn}]" if turn else f"- {kind}: {text}"  # without a turn: a model wrote it
            yield Piece(f"{turn or text} {kind}", kind, own.line, line, under=whole, quotes=(turn,))
    for words, first, last in zip(_telling(found.topics), found.topic_firsts, found.topic_lasts, strict=True):
        yield Piece(f"{first}..{last}", "what a part is about", own.part, f"- [{first}..{last}] {words}", under=whole)


def _telling(topics: list[str]) -> list[str]:
    """Of the words of each part those that stand in few others, in their order."""
    parts = [topic.split(", ") for topic in topics]
    shared = Counter(word for words in parts for word in words)
    return [", ".join(sorted(words, key=shared.__getitem__)[:TELLING]) for words in parts]


QUOTED = 100
"""Turns of the session that the text may quote, the newest: what is looked at of a longer one."""
TELLING = 8
"""Words shown of a part."""
PAST = Section("past", 60, "This session before that", PastParams, past, window="compression")
