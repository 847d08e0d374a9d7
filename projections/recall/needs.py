"""Must memory be asked again, or does what was shown before do? A pure question, asked before a model is called.

    worth  = (k1 + 1) * (sum of idf(t) over the terms of the message that the space knows + log(1 + documents))
    cover  = 1 - (score of the best of all - score of the best within reach) / worth
    needed = cover < enough

A *glance*: the index is searched for every message by recall's own ranking, and nothing is shown or recorded. A topic
goes on as long as the memory's best answers to it lie within reach of what was shown before. `worth` is what ranking
gives at most to a turn for its words, and one word more: a message of few words, and one that no turn of the memory
answers well, give little reason to turn elsewhere.

Within reach are the items at hand, the sitting around each, and what is linked to them by association. What the session
itself said of late is before its agent's eyes: it is neither within reach nor elsewhere.

Small talk, thanks and answers to the agent's own question need no recall; nor does what the space has never heard of:
recall could not tell of it either. A message that tells, and asks for nothing, needs recall only where nothing is at
hand: in talk, most messages share no word with the one before, and that is no change of topic.

Where no recall is needed, the answer is the best within reach, by the same ranking. Where it is, the best of all are
shown and recorded with the message as their cue. The first seven of them are the new focus, their sittings the new
reach; so the next questions of the same topic are covered.

Sources: items at hand are the focus of an activated part of long-term memory (Cowan 1999); a moment recalled brings
back its neighbours (Howard and Kahana 2002); what is linked is active, too (Anderson 1983).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from projections.recall.analysis import ALIKE, ask
from projections.recall.dates import may_name_times
from projections.recall.ranking import Hit, RecallParams, full_score, rank
from projections.recall.space import Ints, Space
from streams.core.dataclasses import dataclass, field
from streams.core.params import Params, param
from streams.core.text.commonness import LIGHT, rarity
from streams.core.text.terms import scan

ASKING = frozenset(("question", "asking", "wh", "asks", "opening", "resume"))
"""Cues of a message that wants something to be known."""

Reason = Literal[
    "small talk", "never heard of", "an answer", "told only", "nothing at hand", "elsewhere", "within reach"
]


class NeedParams(Params):
    """When what is at hand is not enough."""

    enough: float = param(0.84, "share of worth", "asks seldom enough, and notices other topics", "LoCoMo", ge=0, le=1)
    sitting: int = param(24, "turns", "how far around an item its sitting is within reach", ge=0, le=64)


@dataclass(frozen=True, slots=True)
class Need:
    """Whether memory must be asked, and why."""

    recall: bool
    why: Reason
    cover: float = 0.0
    """How much of what memory could tell is within reach, 0 to 1."""
    hits: list[Hit] = field(default_factory=list)
    """What answers where memory need not be asked: the best within reach."""


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
    ranking: RecallParams,
    space: Space,
    message: str,
    reach: Ints,
    before: str = "",
    talk: Collection[int] = (),
    k: int = 5,
    now: int | None = None,
) -> Need:
    """Whether memory must be asked before `message` is answered; where not, the `k` best within reach answer it.

    `reach` is what is within reach of what is at hand, empty where nothing is; `before` what was said last in the
    session since its last recall; `talk` the turns of the session's own talk. `now` is that of ranking.
    """
    said = scan(message).cues
    asks = not ASKING.isdisjoint(said)
    query = ask(message)
    known = [term for term in query.terms if any(len(space.postings(one)[0]) for one in (term, *ALIKE.get(term, ())))]
    vague = asks and (may_name_times(message) or (known and not len(reach)))
    if not any(map(_tells, known)) and not vague:
        return Need(False, "never heard of" if any(map(_tells, query.terms)) else "small talk")
    first = rank(space, query, ranking, k=1 + len(talk), now=now)
    best = next((hit.score for hit in first if hit.document not in talk), 0.0)
    hits = rank(space, query, ranking, k=k, now=now, among=reach[~np.isin(reach, [*talk])])
    lost = best - (hits[0].score if hits else 0.0)
    cover = min(1.0, max(0.0, 1 - lost / full_score(ranking, space, query.terms)))
    if "question" not in said and "asking" in scan(before).cues:
        return Need(False, "an answer", cover, hits)
    if not len(reach):
        return Need(best > 0, "nothing at hand")
    if not asks:
        return Need(False, "told only", cover, hits)
    return Need(True, "elsewhere", cover) if cover < params.enough else Need(False, "within reach", cover, hits)


def _tells(term: str) -> bool:
    """Whether a term tells something of a topic; a word such as kind or first does not."""
    return rarity(term) != LIGHT
