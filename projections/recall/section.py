"""What recall puts into a context: turns that answer the one to be answered, each with what makes it understandable.

    worth = share ^ (1 / (1 + passage * around)) * min(1, likelihood that the turn calls for memory / even)
    share = score / best score
    around = mean of share^3 over what is up to `reach` before and after it in its session

Where talk dwells on what is to be answered, people need that stretch of it, not its best turns alone: so a hit among
hits is lifted towards the best, and never above it. Cubed, for what answers little says nothing of what is around it.

What is worth less than `least` is left out. So of what was found for a turn that hardly calls for it (see calls) only
the very best is shown, or nothing. Where people talk with an agent, they speak of their own matters, in words that
nobody said before, too: there the best few hits are worth `anyway` at least, as many as have `few` telling words.
Measured at 144 points in four lives (see tests/bench/quality_lives): .78 of what is needed is given, not .70, for 60
tokens more of 1,540. Source: cue-based retrieval, Cognitive Context Management 4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from projections.context.params import RecalledParams
from projections.context.turns import Turn
from projections.recall.analysis import ask as read_question
from projections.recall.answers import Sight
from projections.recall.calls import likelihood, signs
from projections.recall.flags import ROLE_BIT, ROLES
from projections.recall.held import Seen
from projections.recall.kinds import TURN
from projections.recall.question import Question
from projections.recall.ranking import Hit
from projections.recall.standing import Standing
from streams.core.section import Ask, Offered, Reader, Section, Turns
from streams.core.text.wide import ASKS, OVER

ASSISTANT = ROLES.index("assistant")

NEWEST = 6
"""Turns of the session looked at for what is to be answered."""
LATELY = 256
"""Documents of a space looked at for an agent's, the newest."""
LONGEST = 2_000
"""Characters of a question that are read: of a long turn its end, where people ask."""


class Cue(NamedTuple):
    """What memory is asked with, and the offsets of the turns that are before the model's eyes anyway."""

    text: str
    said: frozenset[int]
    asked: str = ""
    """Of the text, the turn that is to be answered."""


def cue_of(own: RecalledParams, newest: Sequence[Turn], question: str = "") -> Cue:
    """What is to be answered: `question`, or the newest of the session's turns (the newest first) where it is empty."""
    newest = newest[:NEWEST]
    text = question or _words(own, newest)
    asked = question or next((turn.content for turn in newest if turn.role == "user"), "")
    return Cue(text[-LONGEST:], frozenset(turn.position for turn in newest), asked[-LONGEST:])


def recalled(sight: Sight, standing: Standing, cue: Cue, explain: bool = False) -> Section:
    """The section over a memory, of a space and what stands of it; with `explain`, what it leaves out is offered, too,
    as worth nothing."""

    def pieces(_: None, own: RecalledParams, ask: Ask, read: Reader) -> list[Offered]:
        # Why: words of a greeting are met by chance; who greets is told what is going on.
        greets = ask.wide and "greeting" in ask.cues and ASKS.isdisjoint(ask.cues)
        return _found(sight, standing, own, ask, cue, explain) if cue.text.strip() and own.most and not greets else []

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


def _found(sight: Sight, standing: Standing, own: RecalledParams, ask: Ask, cue: Cue, explain: bool) -> list[Offered]:
    """What answers the cue, and is not before the model's eyes anyway."""
    asked = Question(ask.space, cue.text, own.most, ["turn"], ask.session, ask.now)
    _, found = sight.recall.found(asked, standing)
    space = standing.space
    offsets = space.positions[[hit.document for hit in found]].tolist()
    hits = [hit for hit, at in zip(found, offsets, strict=True) if at not in cue.said]
    if not hits:
        return []
    apart = [hit.document for hit, at in zip(found, offsets, strict=True) if at in cue.said]
    likely = likelihood(own, signs(sight.recall.ranking, space, read_question(cue.text), hits, apart))
    share, least, beside = min(1.0, likely / own.even), own.least, own.beside
    anyway = _few(own, space, hits) if ask.cues.isdisjoint(OVER) and _with_agent(space) else frozenset()
    # Why: who asks what is to be done, and of what, asks the memory for what names it, however few words that takes.
    named = {hit.document for hit in hits if hit.parts["own"] > 0} if "progress" in ask.cues else set()
    if share < least and not named and not anyway and not explain:  # nothing is worth more than the share
        return []
    worth = {
        hit.document: value
        * (1.0 if hit.document in named else max(share, own.anyway) if hit.document in anyway else share)
        for hit, value in zip(hits, _lifted(own, space, hits), strict=True)
    }
    answers = [document for document, value in worth.items() if value >= least]
    shown = dict.fromkeys(answers, True)
    left = [document for document in worth if document not in shown] if explain else []
    for document, before in zip(answers, _before(space, answers), strict=True):
        value = worth[document] * beside
        if before >= 0 and before not in shown and value >= least:
            worth[before], shown[before] = value, False
    left = [document for document in left if document not in shown]
    documents = sorted([*shown, *left])
    if not documents:
        return []

    def reason(place: int) -> str:
        document = documents[place]
        if document in shown:
            return f"answers, {worth[document]:.2f}" if shown[document] else "said before what answers"
        told = f"the turn calls for memory with a likelihood of {likely:.2f}"
        return f"answers too little, {worth[document]:.2f}; {told}"

    worths = [worth[document] if document in shown else 0.0 for document in documents]
    return [Turns(space.positions[documents].tolist(), worths, reason)]


def _with_agent(space: Seen) -> bool:
    """Whether an agent answers here: among what was said last."""
    flags = space.documents.flags[max(0, space.seen - LATELY) : space.seen]
    return bool(((flags >> ROLE_BIT & 3) == ASSISTANT).any())


def _few(own: RecalledParams, space: Seen, hits: Sequence[Hit]) -> frozenset[int]:
    """The best hits that have so many telling words together."""
    documents = [hit.document for hit in hits]
    fit = int(space.documents.length[documents].cumsum().searchsorted(own.few, "right"))
    return frozenset(documents[:fit])


def _lifted(own: RecalledParams, space: Seen, hits: Sequence[Hit]) -> list[float]:
    """What each hit serves beside the best: more where hits are around it."""
    documents = np.array([hit.document for hit in hits], np.int32)
    session, share = space.documents.session[documents], np.array([hit.score for hit in hits]) / hits[0].score
    near = np.abs(documents[:, np.newaxis] - documents) <= own.reach
    near &= session[:, np.newaxis] == session
    near.flat[:: len(hits) + 1] = False
    around = near @ share**3 / (2 * own.reach)
    lifted: list[float] = (share ** (1 / (1 + own.passage * around))).tolist()
    return lifted


def _before(space: Seen, turns: Sequence[int]) -> list[int]:
    """The turn before each of some turns in its session, where it is still shown; -1 for none."""
    of = space.documents
    before = of.before[[*turns]]
    shown = (before >= 0) & (of.kind[before] == TURN) & (of.ended[before] > space.until)
    found: list[int] = np.where(shown, before, -1).tolist()
    return found
