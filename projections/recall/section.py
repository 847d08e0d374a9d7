"""What recall puts into a context: turns that answer the one to be answered, each with what makes it understandable.

    worth = (score / best score) * (best score / (sure * score of a full answer)), the second factor at most 1

A full answer holds every word of the question that the space knows. Where even the best hit is faint beside that, what
matched are words by chance, and nothing is shown. Source: cue-based retrieval, Cognitive Context Management 4.4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from projections.context.params import RecalledParams
from projections.context.turns import Turn
from projections.recall.analysis import ask as read_question
from projections.recall.answers import Sight
from projections.recall.held import Seen
from projections.recall.kinds import TURN
from projections.recall.question import Question
from projections.recall.ranking import full_score
from streams.core.section import Ask, Piece, Reader, Section

NEWEST = 6
"""Turns of the session looked at for what is to be answered."""
LONGEST = 2_000
"""Characters of a question that are read: of a long turn its end, where people ask."""


class Cue(NamedTuple):
    """What memory is asked with, and the offsets of the turns that are before the model's eyes anyway."""

    text: str
    said: frozenset[int]


def cue_of(own: RecalledParams, newest: Sequence[Turn], question: str = "") -> Cue:
    """What is to be answered: `question`, or the newest of the session's turns (the newest first) where it is empty."""
    newest = newest[:NEWEST]
    text = question or _words(own, newest)
    return Cue(text[-LONGEST:], frozenset(turn.position for turn in newest))


def recalled(sight: Sight, cue: Cue) -> Section:
    """The section over a memory."""

    def pieces(_: None, own: RecalledParams, ask: Ask, read: Reader) -> Iterator[Piece]:
        if cue.text.strip() and own.most:
            yield from _found(sight, own, ask, cue.text, cue.said)

    return Section("recalled", 50, "From earlier talk, what may answer this", RecalledParams, pieces)


def _words(own: RecalledParams, newest: Sequence[Turn]) -> str:
    """What the session's last user turn asks; with what was said before it where that is little."""
    place = next((n for n, turn in enumerate(newest) if turn.role == "user"), 0)
    words = [turn.content for turn in newest[place:]]
    if not words:
        return ""
    if len(read_question(words[0]).terms) >= own.short:
        return words[0]
    return "\n".join(reversed(words[:2]))


def _found(sight: Sight, own: RecalledParams, ask: Ask, cue: str, said: Collection[int]) -> Iterator[Piece]:
    """What answers `cue`; turns at the offsets `said` are before the model's eyes anyway."""
    until = sight.until(ask.space)
    asked = Question(ask.space, cue, own.most, ["turn"], ask.session)
    moment, found = sight.recall.found(asked, until)
    space = moment.space
    hits = [hit for hit in found if space.position(hit.document) not in said]
    if not hits:
        return
    best = hits[0].score
    strength = best / full_score(sight.recall.ranking, space, read_question(cue).terms)
    if strength < own.faint:
        return
    worth = {
        hit.document: hit.score / best * min(1.0, strength / own.sure) for hit in hits if hit.score >= own.least * best
    }
    pieces = {document: f"answers, {value:.2f}" for document, value in worth.items()}
    for document, value in [*worth.items()]:
        before = _before(space, document)
        if before >= 0 and before not in worth:
            worth[before] = value * own.beside
            pieces[before] = "said before what answers"
    for document in sorted(pieces):
        yield Piece("", pieces[document], worth[document], turn=space.position(document))


def _before(space: Seen, document: int) -> int:
    """The turn before a turn in its session, where it is still shown; -1 for none."""
    before = int(space.documents.before[document])
    if before < 0 or space.documents.kind[before] != TURN or space.documents.ended[before] <= space.until:
        return -1
    return before
