"""Ranking: what of a space answers a question, by relevance first and by liveliness only between near-ties.

    relevance(d) = (sum_t w_t idf_t f_td (k1 + 1) / (f_td + k1 (1 - b + b |d| / avg))     words
                    + session * BM25(t, session of d)                                    session
                    + time * idf_time * told(d))                                         time
                   * speaker(d) * asking(d) * when(d)
    f_td = c_td + before c_t(turn before d) + earlier c_t(the one before that) + after c_t(turn after d)
    c_td = count of t in d + alike * sum of counts of words that may stand for t
    score(d) = relevance(d) (1 + share * liveliness(d)),  liveliness in [-1, 1]

Why counts are pooled before they are saturated, not scores added after: what is said twice in three turns is said once
(BM25F: Robertson, Zaragoza & Taylor, CIKM 2004). The turn before counts more where it asks: this one answers it, and
rarely repeats its words. A speaker whom the question names counts more; of several the one named first most.

A time in the question ("in May 2023") is a term that the documents of that time hold, of the days after it half.
Ties are ordered by position, the earlier document first. A space of more than `dense` documents is not scored as a
whole: the rarest terms choose `shortlist` documents, those and their neighbours are scored by the formula above.

Why no finer tuning: on LoCoMo's conversations half or double of any weight changes MRR by less than .007.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from projections.recall.analysis import ALIKE, ASKS, DATED, ROLES, Query
from projections.recall.dates import DAY, may_name_times, spans
from projections.recall.kinds import TURN
from projections.recall.space import Floats, Ints, Space
from streams.core.params import Params, param

Liveliness = Callable[[Ints], Floats]
"""How alive each of some documents is, between -1 and 1."""
COMMON = 16_384
"""Terms that more documents hold say nothing about sessions."""
NOWHERE = np.full(1, -1, np.int32)
NO_DOCUMENTS, NO_COUNTS = np.zeros(0, np.int32), np.zeros(0, np.float32)
NEAR = 50
"""How many are asked how alive they are at most, where no more are to be told of."""


class RecallParams(Params):
    """Parameters of ranking."""

    k1: float = param(0.9, "count", "a second mention adds little", "Anserini", gt=0)
    b: float = param(0.15, "share", "turns are short: their length tells little of what they are about", ge=0, le=1)
    before: float = param(0.25, "count", "what a turn is about may have been said in the one before it", ge=0)
    answered: float = param(0.6, "count", "added to `before` where that one asks: an answer repeats few words", ge=0)
    earlier: float = param(0.2, "count", "of the turn two before, mostly by the same speaker, who goes on", ge=0)
    after: float = param(0.2, "count", "the reply takes up what mattered", ge=0)
    session: float = param(0.8, "weight", "a session is about few matters", ge=0)
    alike: float = param(0.2, "count", "a word that may stand for the one asked for; only a hint", ge=0)
    time: float = param(3.0, "weight", "a time in a question excludes other times, nearly", ge=0)
    aftermath: int = param(7, "days", "what was at a time is told in the days after it, too", ge=0)
    speaker: float = param(1.4, "factor", "people tell of themselves; 1.8 finds more and fails on wrong names", ge=1)
    others: float = param(0.3, "share", "of it, for speakers named second: mostly objects", ge=0, le=1)
    name: float = param(0.6, "weight", "of a speaker's name as a word: it is said to them, not of them", ge=0)
    asking: float = param(0.85, "factor", "a question tells less than an answer", gt=0)
    when: float = param(1.2, "factor", "who asks for a time wants a turn that tells one", ge=1)
    share: float = param(0.03, "share", "liveliness orders near-ties; it never outweighs a word", ge=0, le=0.2)
    dense: int = param(16_384, "documents", "up to here all are scored: that is cheaper than choosing", ge=0)
    shortlist: int = param(
        600, "documents", "chosen in greater spaces; 98 of 100 hits are those of scoring all", ge=100
    )
    postings: int = param(60_000, "postings", "read to choose them, rarest terms first, one term at least", ge=1)


@dataclass(slots=True, eq=False)
class Hit:
    """A document that answers. Hits are equal that are made of the same, among whatever others they were found."""

    document: int
    score: float
    asked: bool
    """Whether the question names it: by its words, those it answers, or its time; its session is not enough."""
    table: Mapping[str, NDArray[Any]]
    """The parts of all hits."""
    place: int
    """Its own among them."""

    @property
    def parts(self) -> dict[str, float]:
        """`own`, `around`, `session`, `time`: summands; `speaker`, `asking`, `when`: factors; `relevance`: the product;
        `liveliness`."""
        return {name: values.item(self.place) for name, values in self.table.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hit):
            return NotImplemented
        return (self.document, self.score, self.parts) == (other.document, other.score, other.parts)


@dataclass(slots=True)
class _Term:
    """A term of the question, as the space knows it."""

    idf: float
    weight: float
    documents: Ints
    counts: Floats


@dataclass(slots=True)
class _Held:
    """The postings of all terms of the question, one term after the other."""

    documents: NDArray[np.intp]
    counts: Floats
    lines: NDArray[np.intp]
    """Which term each is of."""
    weights: list[float]
    """Of terms: weight times idf."""


@dataclass(slots=True)
class _View:
    """The documents that are scored, and where their neighbours stand among them; -1 for nowhere."""

    documents: Ints
    before: Ints
    after: Ints
    """One longer than documents: nowhere is next to nowhere."""
    held: _Held
    """Its documents are places in the view."""
    whole: bool
    """Whether every document is in it."""


@dataclass(slots=True)
class _Scores:
    """Parts of the score, one number per document of the view."""

    documents: Ints
    own: Floats
    words: Floats
    session: Floats
    time: Floats
    factors: dict[str, Floats] = field(default_factory=dict)

    def relevance(self) -> Floats:
        found = self.words + self.session + self.time
        for factor in self.factors.values():
            found *= factor
        return found


class _Scratch(threading.local):
    """Zeros by document, kept between questions: who writes there sets it back."""

    zeros: Floats = np.zeros(0, np.float32)
    places: Ints = np.zeros(0, np.int32)
    marks: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def sized(self, documents: int) -> _Scratch:
        """One longer than there are documents at least: the last one, and so -1, is none."""
        if len(self.zeros) <= documents:
            self.forget(documents + documents // 8 + 1)
        return self

    def forget(self, size: int = 0) -> None:
        self.zeros, self.places = np.zeros(size, np.float32), np.zeros(size, np.int32)
        self.marks = np.zeros(size, np.bool_)


_SCRATCH = _Scratch()


def rank(
    space: Space,
    query: Query,
    params: RecallParams,
    k: int = 10,
    kinds: Collection[int] | None = (TURN,),
    now: int | None = None,
    liveliness: Liveliness | None = None,
    spare: int = 0,
    among: Ints | None = None,
) -> list[Hit]:
    """The first `k` documents of some kinds that answer a question; none where nothing asked for is known.

    `now` (UTC microseconds) gives "yesterday" in the question its meaning. `spare` more follow, ordered by relevance
    alone. `among` are the only documents that may answer, ascending; all where None.
    """
    try:
        return _ranked(space, query, params, (k, spare), kinds, now, liveliness, among)
    except BaseException:
        _SCRATCH.forget()  # what was interrupted may have left something there
        raise


def _ranked(
    space: Space,
    query: Query,
    params: RecallParams,
    count: tuple[int, int],
    kinds: Collection[int] | None,
    now: int | None,
    liveliness: Liveliness | None,
    among: Ints | None,
) -> list[Hit]:
    k, spare = count
    if space.seen <= 0 or k <= 0:
        return []
    named = speakers_in(space, query)
    terms = _terms(space, query, params, named)
    told = _told(space, query, params, now)
    held = _joined(terms)
    view = _view(space, params, terms, held, told, among)
    if not len(view.documents):
        return []
    scores = _score(space, query, params, terms, held, view, told, named)
    relevance = scores.relevance()
    relevance *= _shown(space, view, kinds)
    if among is not None:
        relevance[~np.isin(view.documents, among)] = 0
    best = _first(relevance, max(k + spare, NEAR))
    return _hits(scores, relevance, best, count, params.share, liveliness)


def speakers_in(space: Space, query: Query) -> dict[str, list[int]]:
    """The speakers whom a question names, by word, in order. Who is named for a role is not meant by its name."""
    found: dict[str, list[int]] = {}
    for word in query.words:
        if word not in ROLES and (speakers := space.called(word)):
            found[word] = speakers
    return found


def rareness(documents: int, holding: int) -> float:
    """The idf of a term that so many documents of so many hold."""
    return log(1 + max(0.0, documents - holding + 0.5) / (holding + 0.5))


def _terms(space: Space, query: Query, params: RecallParams, named: dict[str, list[int]]) -> list[_Term]:
    """The terms of a question that the space knows, the rarest first."""
    found = []
    names = {query.named_by[word] for word in named}
    for term in query.terms:
        documents, times = space.postings(term)
        counts = times.astype(np.float32)
        idf = rareness(space.seen, len(documents))
        if params.alike and (space.seen <= params.dense or not len(documents)):
            documents, counts, idf = _with_alike(space, query, params, term, documents, counts, idf)
        if len(documents):
            found.append(_Term(idf, params.name if term in names else 1.0, documents, counts))
    return sorted(found, key=lambda term: len(term.documents))


def _with_alike(
    space: Space, query: Query, params: RecallParams, term: str, documents: Ints, counts: Floats, idf: float
) -> tuple[Ints, Floats, float]:
    """A term's postings together with those of terms that may stand for it; a term nobody used is as rare as they."""
    others = [space.postings(other) for other in ALIKE.get(term, ()) if other not in query.terms]
    others = [(held, times) for held, times in others if len(held)]
    if not others:
        return documents, counts, idf
    held = np.concatenate([documents, *(held for held, _ in others)])
    order = np.argsort(held, kind="stable")
    times = np.concatenate([counts, *(np.float32(params.alike) * times for _, times in others)])[order]
    united, starts = _distinct(held[order])
    return united, np.add.reduceat(times, starts), idf if len(documents) else rareness(space.seen, len(united))


def _united(space: Space, some: Sequence[NDArray[Any]]) -> Ints:
    """The documents in any of some lists, ascending. Why not by sorting: tens of thousands are marked in a tenth."""
    marks = _SCRATCH.sized(space.seen).marks
    for documents in some:
        marks[documents] = True
    found = np.flatnonzero(marks[: space.seen]).astype(np.int32)
    marks[found] = False
    return found


def _distinct(ascending: Ints) -> tuple[Ints, NDArray[np.intp]]:
    """Distinct numbers and where each first stands. Why not `unique`: it hashes, which takes ten times as long."""
    starts = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]])[: len(ascending)])
    return ascending[starts], starts


def _told(space: Space, query: Query, params: RecallParams, now: int | None) -> tuple[Ints, Floats, float] | None:
    """The documents of the times that a question names, how much they are of them, and how rare that is."""
    if not params.time or not may_name_times(query.text):
        return None
    at = space.documents.at[: space.seen]
    times = spans(query.text, now, int(at.min()), int(at.max()))
    if not times:
        return None
    held = np.zeros(len(at), np.float32)
    for start, end in times:
        held[(at >= end + DAY) & (at < end + DAY + params.aftermath * DAY) & (held < 0.5)] = 0.5
        held[(at >= start) & (at < end + DAY)] = 1
    documents = np.flatnonzero(held).astype(np.int32)
    return documents, held[documents], params.time * rareness(space.seen, len(documents))


def _shown(space: Space, view: _View, kinds: Collection[int] | None) -> NDArray[np.bool_]:
    """Whether each document of the view is wanted, says something and has not ended."""
    columns = space.documents
    at = slice(space.seen) if view.whole else view.documents
    shown: NDArray[np.bool_] = (columns.ended[at] > space.until) & (columns.length[at] > 0)
    if kinds is not None:
        kind = columns.kind[at]
        shown &= np.logical_or.reduce([kind == wanted for wanted in kinds])
    return shown


def _view(
    space: Space,
    params: RecallParams,
    terms: list[_Term],
    held: _Held,
    told: tuple[Ints, Floats, float] | None,
    among: Ints | None,
) -> _View:
    """All documents of a small space; of a great one those asked for, else those that the rarest terms choose, and what
    is around them."""
    columns, seen = space.documents, space.seen
    if seen <= params.dense:
        before, after = (
            np.concatenate([columns.before[:seen], NOWHERE]),
            np.concatenate([columns.after[:seen], NOWHERE]),
        )
        after[after >= seen] = -1
        return _View(np.arange(seen, dtype=np.int32), before, after, held, True)
    chosen = _chosen(space, params, terms, held) if among is None else among
    if among is None and told is not None and (not len(chosen) or len(told[0]) <= params.shortlist):
        chosen = np.concatenate([chosen, told[0][: params.shortlist]])
    # What is around: whoever takes words from the chosen (two after), and whoever these take words from (two before).
    found = [chosen]
    for step in (columns.after, columns.before):
        some = np.concatenate(found)
        for _ in range(2):
            some = step[some]
            some = some[(some >= 0) & (some < seen)]
            found.append(some)
    return _narrow(space, _united(space, found), held)


def _narrow(space: Space, documents: Ints, held: _Held) -> _View:
    """The view of some documents, ascending."""
    columns, seen, count = space.documents, space.seen, len(documents)
    places = _SCRATCH.sized(seen).places
    places[documents] = np.arange(1, count + 1, dtype=np.int32)
    before, after = columns.before[documents], np.minimum(columns.after[documents], seen)
    before, after = np.concatenate([places[before] - 1, NOWHERE]), np.concatenate([places[after] - 1, NOWHERE])
    at = places[held.documents]
    kept = np.flatnonzero(at)
    within = _Held(at[kept].astype(np.intp) - 1, held.counts[kept], held.lines[kept], held.weights)
    places[documents] = 0
    return _View(documents, before, after, within, False)


def _chosen(space: Space, params: RecallParams, terms: list[_Term], held: _Held) -> Ints:
    """The documents that the rarest terms hold, of these the best by all terms, the rest of the formula left out."""
    ends = np.cumsum([len(term.documents) for term in terms]).tolist()
    rare = max(1, sum(end <= params.postings for end in ends))
    if not ends:
        return np.zeros(0, np.int32)
    documents = _united(space, [held.documents[: ends[rare - 1]]])
    if len(documents) <= params.shortlist:
        return documents
    score = _SCRATCH.sized(space.seen).zeros
    gains = np.array(held.weights, np.float32)[held.lines] * held.counts / (held.counts + np.float32(params.k1))
    for start, end in pairwise([0, *ends]):
        score[held.documents[start:end]] += gains[start:end]
    best = _first(score[documents], params.shortlist)
    score.fill(0)
    return documents[np.sort(best)]


def _first(scores: Floats, count: int) -> NDArray[np.int64]:
    """The places of the greatest positive scores, best first, ties by place."""
    found = np.flatnonzero(scores > 0)
    some = scores[found]
    if len(found) > 4 * count:
        near = some >= np.partition(some, len(found) - count)[len(found) - count]
        found, some = found[near], some[near]
    return found[np.argsort(-some, kind="stable")][:count]


def _score(
    space: Space,
    query: Query,
    params: RecallParams,
    terms: list[_Term],
    held: _Held,
    view: _View,
    told: tuple[Ints, Floats, float] | None,
    named: dict[str, list[int]],
) -> _Scores:
    """All parts of the score of the documents of a view."""
    columns = space.documents
    at = slice(space.seen) if view.whole else view.documents
    flags = columns.flags[at]
    asks = flags & ASKS > 0
    own, words = _words(space, params, view, columns.length[at], asks)
    time = np.zeros(len(flags), np.float32)
    if told is not None and len(told[0]):
        documents, share, weight = told
        place = np.minimum(np.searchsorted(documents, view.documents), len(documents) - 1)
        time[:] = np.where(documents[place] == view.documents, np.float32(weight) * share[place], 0)
    sessions = _sessions(space, params, terms, held).take(columns.session[at])
    scores = _Scores(view.documents, own, words, sessions, time)
    if named:
        scores.factors["speaker"] = _speaker(space, params, named).take(columns.speaker[at])
    scores.factors["asking"] = np.where(asks, np.float32(params.asking), np.float32(1))
    if query.when:
        scores.factors["when"] = np.where(flags & DATED, np.float32(params.when), np.float32(1))
    return scores


def _words(
    space: Space, params: RecallParams, view: _View, lengths: Ints, asks: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """BM25 by the documents' own words, and by those of their neighbours, too."""
    count, held = len(lengths), view.held
    if not held.weights:
        return np.zeros(count, np.float32), np.zeros(count, np.float32)
    share = np.float32(params.b / max(space.average, 1.0)) * lengths
    norm = (np.float32(params.k1) * (np.float32(1 - params.b) + share)).astype(np.float32)
    # All terms at once, a line of a table each: of a small space most of the time is that of calls.
    places, counts, line = held.documents, held.counts, held.lines * (count + 1)
    worth = np.array([weight * (params.k1 + 1) for weight in held.weights], np.float32)
    own = np.bincount(places, worth[held.lines] * counts / (counts + norm[places]), count).astype(np.float32)
    table = np.zeros(len(worth) * (count + 1), np.float32)
    lent = asks[places] * np.float32(params.answered) + np.float32(params.before)
    # A document has one neighbour on each side at most, so no place but nowhere, the last of a line, is met twice in
    # it: -1 behind the beginning of a line is the end of the one before.
    next_ = view.after[places]
    table[line + places] = counts
    table[line + next_] += lent * counts
    table[line + view.after[next_]] += np.float32(params.earlier) * counts
    table[line + view.before[places]] += np.float32(params.after) * counts
    pooled = table.reshape(-1, count + 1)[:, :-1]
    weighed = worth[:, np.newaxis] * pooled
    pooled += norm
    weighed /= pooled
    return own, weighed.sum(axis=0)


def _joined(terms: list[_Term]) -> _Held:
    """The postings of some terms one after the other."""
    sizes = [len(term.documents) for term in terms]
    documents = np.concatenate([NO_DOCUMENTS, *(term.documents for term in terms)]).astype(np.intp)
    counts = np.concatenate([NO_COUNTS, *(term.counts for term in terms)])
    return _Held(documents, counts, np.repeat(np.arange(len(terms)), sizes), [t.weight * t.idf for t in terms])


def _sessions(space: Space, params: RecallParams, terms: list[_Term], held: _Held) -> Floats:
    """BM25 by session, each one text of its turns; the last one is for no session."""
    found = np.zeros(space.sessions + 1, np.float32)
    # What is in most sessions tells none apart. Terms stand by how many documents hold them.
    sizes = [len(term.documents) for term in terms if len(term.documents) <= COMMON]
    if not params.session or not space.sessions or not sizes:
        return found
    columns, width = space.documents, space.sessions + 1
    lengths = space.session_lengths[: space.sessions]
    norm = (params.k1 * (1 - params.b + params.b / max(float(lengths.mean()), 1.0) * lengths)).astype(np.float32)
    documents, counts, lines = (of[: sum(sizes)] for of in (held.documents, held.counts, held.lines))
    # What is no turn, or in no session, counts for the session -1, the first of a line.
    session = np.where(columns.kind[documents] == TURN, columns.session[documents], -1)
    sums = np.bincount(lines * width + (session + 1), counts, len(sizes) * width)
    sums = sums.reshape(len(sizes), width)[:, 1:].astype(np.float32)
    holding = np.count_nonzero(sums, axis=1).tolist()
    worth = [
        params.session * term.weight * (params.k1 + 1) * rareness(space.sessions, number)
        for term, number in zip(terms, holding, strict=False)
    ]
    found[:-1] = (np.array(worth, np.float32)[:, np.newaxis] * sums / (sums + norm)).sum(axis=0)
    return found


def _speaker(space: Space, params: RecallParams, named: dict[str, list[int]]) -> Floats:
    """A factor by speaker; the last one is for none."""
    found = np.ones(len(space.speakers) + 1, np.float32)
    gain = params.speaker - 1
    for place, speakers in enumerate(named.values()):
        factor = 1 + (gain * params.others if place else gain)
        found[speakers] = np.maximum(found[speakers], np.float32(factor))
    return found


def _hits(
    scores: _Scores,
    relevance: Floats,
    best: NDArray[np.int64],
    count: tuple[int, int],
    share: float,
    liveliness: Liveliness | None,
) -> list[Hit]:
    """Hits in order, those that may come among the first `k` by how alive they are, too; `spare` more follow."""
    k, spare = count
    score = relevance[best].astype(np.float64)
    alive = np.zeros(len(best))
    if liveliness is not None and len(best):
        least = score[min(k, len(best)) - 1] * (1 - share) / (1 + share)
        near = min(int(np.count_nonzero(score >= least)), max(k, NEAR))
        alive[:near] = np.clip(liveliness(scores.documents[best[:near]].astype(np.int32)), -1, 1)
        score *= 1 + share * alive
        order = np.lexsort((scores.documents[best], -score))
        best, score, alive = best[order], score[order], alive[order]
    best, score, alive = best[: k + spare], score[: k + spare], alive[: k + spare]
    own = scores.own[best]
    parts = {
        "own": own, "around": scores.words[best] - own, "session": scores.session[best],
        "time": scores.time[best], **{name: factor[best] for name, factor in scores.factors.items()},
        "relevance": relevance[best], "liveliness": alive,
    }  # fmt: skip
    asked = parts["own"] + parts["around"].astype(np.float64) + parts["time"] > 0
    columns = zip(scores.documents[best].tolist(), score.tolist(), asked.tolist(), strict=True)
    return [Hit(*column, parts, place) for place, column in enumerate(columns)]


def full_score(params: RecallParams, space: Space, terms: Sequence[str]) -> float:
    """What a turn that holds all terms of a message that the space knows scores by them at most, and one term more."""
    held = [len(space.postings(term)[0]) for term in terms]
    idf = sum(rareness(space.seen, n) for n in held if n)
    return (params.k1 + 1) * (idf + log(1 + space.seen))
