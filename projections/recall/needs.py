"""Must memory be asked again, or does what was recalled before do? A pure question, asked before a model is called.

    weight(t)  = idf of term t in the space, `light` of it for a word that says little; 0 where nobody used t
    best       = max over passages p of (sum of weight(t), t in p) / sum of weight(t), over the terms t of the message
    share      = sum of weight(t) log(1 + turns within reach with t) / log(1 + turns with t) / sum of weight(t)
    cover      = (1 - theme) * best + theme * share
    needed     = cover < enough * (1 - settled / turns since the last recall)

Within reach is more than the items at hand: the turns that are linked to them by association, and the sitting around
each. A *passage* is a turn within reach with its neighbours; what is said in the session since its last recall, and the
cues of its recalls, count as known with each of them. `best` asks whether an answer may be within reach, `share`
whether it is likelier there than elsewhere: of a theme that comes up in every sitting, most lies elsewhere. A topic
just recalled is taken to go on: topics last longer than one message.

Small talk, acknowledgements, thanks and answers to the agent's own question need no recall; nor does what the space has
never heard of: recall could not tell of it either. A message that tells, and asks for nothing, needs recall only where
nothing is at hand: in talk, most messages share no word with the one before, and that is no change of topic.

Where no recall is needed, the answer is the best of what is within reach, by recall's own ranking; the index is not
searched, and nothing is recorded. Where it is, the best turns for the message (and for it alone: what was talked of
before would draw the answer to the old topic) are shown and recorded with the message as their cue. The first seven are
the new focus, their sittings the new reach; so the next questions of the same topic are covered.

Sources: items at hand are the focus of an activated part of long-term memory (Cowan 1999); a moment recalled brings
back its neighbours (Howard and Kahana 2002); what is linked is active, too (Anderson 1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from projections.recall.analysis import Query, analyse, ask
from projections.recall.space import Ints, Space
from streams.processor import Params, param
from streams.text.commonness import LIGHT, rarity
from streams.text.terms import scan

ASKING = frozenset(("question", "asking", "wh", "asks", "opening", "resume", "reminder"))
"""Cues of a message that wants something to be known."""
TALK = 8
"""Turns of the session's own talk that count as known, the last ones."""

Reason = Literal["small talk", "an answer", "told only", "nothing at hand", "elsewhere", "within reach"]


class NeedParams(Params):
    """When what is at hand is not enough."""

    enough: float = param(0.5, "share of weight", "most questions half covered are answered", "LoCoMo", ge=0, le=1)
    theme: float = param(0.7, "share", "a theme of every sitting covers all that is asked of it", "LoCoMo", ge=0, le=1)
    settled: float = param(0.4, "share", "one in six fewer recalls within a topic", "LoCoMo", ge=0, lt=1)
    light: float = param(0.3, "share of weight", "a word such as kind or first tells little of a topic", ge=0, le=1)
    sitting: int = param(24, "turns", "how far around an item its sitting is within reach", ge=0, le=64)


@dataclass(frozen=True, slots=True)
class Need:
    """Whether memory must be asked, and why."""

    recall: bool
    why: Reason
    cover: float = 0.0
    """How much of the message is within reach, 0 to 1."""


def within_reach(params: NeedParams, space: Space, at_hand: Sequence[int], linked: Sequence[int] = ()) -> Ints:
    """The documents within reach, ascending: those at hand with their sittings, and those `linked` to them.

    What is not seen (-1) is passed over.
    """
    found = {document for document in (*at_hand, *linked) if 0 <= document < space.seen}
    for following in (space.documents.before, space.documents.after):
        for document in found.intersection(at_hand):
            for _ in range(params.sitting):
                document = int(following[document])
                if not 0 <= document < space.seen:
                    break
                found.add(document)
    reach = np.array(sorted(found), np.int32)
    return reach[space.documents.ended[reach] > space.until]


def needs_recall(
    params: NeedParams,
    space: Space,
    message: str,
    reach: Ints,
    cues: Sequence[str] = (),
    since: Sequence[str] = (),
) -> Need:
    """Whether memory must be asked before `message` is answered.

    `reach` is what is within reach of what is at hand, empty where nothing is; `cues` are those of the session's
    recalls that have not faded; `since` what was said in it since the last, the newest last, without the message.
    """
    said = scan(message).cues
    asks = not ASKING.isdisjoint(said)
    query = ask(message)
    weights = _weights(params, space, query)
    if not any(weight and rarity(term) != LIGHT for term, weight in weights.items()) and not (asks and not len(reach)):
        return Need(False, "small talk")
    if "question" not in said and since and "asking" in scan(since[-1]).cues:
        return Need(False, "an answer")
    if not len(reach):
        return Need(any(weights.values()), "nothing at hand")
    if not asks:
        return Need(False, "told only")
    talk = {term for text in (*cues, *since[-TALK:]) for term in analyse(text).terms}
    cover = _cover(params, space, query, weights, reach, talk)
    enough = params.enough * (1 - params.settled / max(1, len(since)))
    return Need(True, "elsewhere", cover) if cover < enough else Need(False, "within reach", cover)


def _weights(params: NeedParams, space: Space, query: Query) -> dict[str, float]:
    """How much each term of the message tells of its topic."""
    found = {}
    for term in query.terms:
        held = len(space.postings(term)[0])
        idf = log(1 + (space.seen - held + 0.5) / (held + 0.5)) if held else 0.0
        found[term] = max(0.0, idf) * (params.light if rarity(term) == LIGHT else 1)
    return found


def _cover(
    params: NeedParams, space: Space, query: Query, weights: dict[str, float], reach: Ints, talk: set[str]
) -> float:
    """How much of the message is within reach."""
    total = sum(weights.values())
    passages = np.zeros(len(reach))
    share = 0.0
    speakers = {query.named_by[word]: space.called(word) for word in query.words}
    for term, weight in weights.items():
        if not weight:
            continue
        documents = space.postings(term)[0]
        holds = np.isin(reach, documents)
        if term in talk:
            passages += weight
            share += weight
            continue
        share += weight * log(1 + int(np.count_nonzero(holds))) / log(1 + len(documents))
        if called := speakers.get(term):
            holds |= np.isin(space.documents.speaker[reach], called)
        passages += weight * _near(space, reach, holds)
    return float((1 - params.theme) * passages.max() + params.theme * share) / total


def _near(space: Space, reach: Ints, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which turns within reach hold something, or have a neighbour within reach that does."""
    found = holds.copy()
    for neighbours in (space.documents.before[reach], space.documents.after[reach]):
        found |= np.isin(neighbours, reach[holds])
    return found
