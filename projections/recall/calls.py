"""Does a turn call for memory? A judgement of its words and of what was found for them, as a likelihood.

    log odds = held * (rarity of its telling words that one of the best hits holds, added up)
             - unheard * (its telling words that nobody said)
             + match * (best score / score of the rarest word)
             + named, where it names one who spoke + talk, where it asks for what was said or decided
             - doubt

A word tells where it says something alone (see streams/core/text/commonness.py): a greeting and a word of thanks have
none, whatever talk shares their words; a question about another world has some that nobody said. Rarity is the word's
idf by that of a word nobody said, so that it is worth the same in a small space and in a great one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from projections.context.params import RecalledParams
from projections.recall.analysis import ALIKE, TALK, Query
from projections.recall.ranking import Hit, RecallParams, rareness, speakers_in
from projections.recall.space import Ints, Space
from streams.core.text.commonness import LIGHT, rarity

LOOKED = 5
"""Hits that are looked at, the best."""
FEW = 200
"""Documents of a space in which what is rare cannot be told yet: its words are as rare as in a space of so many."""


class Signs(NamedTuple):
    """What speaks for a turn's calling for memory, and against it."""

    held: float
    unheard: float
    match: float
    named: float
    talk: float


def signs(ranking: RecallParams, space: Space, query: Query, hits: Sequence[Hit], apart: Sequence[int] = ()) -> Signs:
    """What is seen of a turn and its hits, the best first, of which there are some; documents that stand `apart`, such
    as the turn itself where it is recorded, are not what somebody said before."""
    seen = max(space.seen, FEW)
    rarest = rareness(seen, 0)
    names = {query.named_by[word] for word in speakers_in(space, query)}
    best, away = np.array([hit.document for hit in hits[:LOOKED]], np.int32), np.array(apart, np.int32)
    looked, held, unheard = np.concatenate([away, best]), np.zeros(len(best)), 0
    for term in query.terms:
        if term in names or term in TALK or rarity(term) == LIGHT:
            continue
        documents, _ = space.postings(term)
        holds = _among(looked, documents)
        count = len(documents) - (int(np.count_nonzero(holds[: len(away)])) if len(away) else 0)
        if count:
            held += holds[len(away) :] * (rareness(seen, count) / rarest)
        elif not any(len(space.postings(other)[0]) for other in ALIKE.get(term, ())):
            unheard += 1
    match = hits[0].score / ((ranking.k1 + 1) * rarest)
    return Signs(float(held.max()), unheard, match, bool(names), not TALK.isdisjoint(query.terms))


def _among(some: Ints, documents: Ints) -> NDArray[np.bool_]:
    """Which of some documents are among others, ascending. Why not `isin`: it sorts thousands for the sake of five.
    Numbers of one kind: else all are copied to look for five."""
    if not len(documents):
        return some < 0
    found: NDArray[np.bool_] = documents.take(documents.searchsorted(some), mode="clip") == some
    return found


def likelihood(own: RecalledParams, seen: Signs) -> float:
    """How likely it is that a turn calls for what was found for it."""
    odds = own.held * seen.held - own.unheard * seen.unheard + own.match * seen.match
    return 1 / (1 + exp(own.doubt - odds - own.named * seen.named - own.talk * seen.talk))
