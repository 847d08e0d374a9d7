"""What a memory knows about something: the index, the ranking and the dynamics of memories, brought together.

Everything is asked as of one position and one moment. The moment is given, or it is the newest that the space
has heard of: no clock is read, so the same question to the same memory has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from projections.aside import Warn, unheard
from projections.context.turns import Turn, Turns, has_digits
from projections.recall.analysis import ALIKE, VERSION, analyse, ask
from projections.recall.dynamics import Dynamics, Moment
from projections.recall.file import LATEST, path_of
from projections.recall.flags import DIGITS, flags_of
from projections.recall.held import Seen
from projections.recall.index import Index
from projections.recall.kinds import TURN, Kinds
from projections.recall.liveliness import LivelinessParams
from projections.recall.question import Question
from projections.recall.ranking import Hit, RecallParams, rank
from projections.recall.readings import Readings
from projections.recall.records import Kept
from projections.recall.space import Ints
from projections.recall.standing import Replaced, Standing, left_of, marked, own_words
from projections.store import Connection, column_names
from projections.stored import newest
from projections.tables import table_name
from streams.core.errors import UsageError
from streams.core.events import MAX_TURNS, iso
from streams.core.params import Params
from streams.core.processor import Processor, r6
from streams.core.read_model import News
from streams.core.text.kinds import memory_type
from streams.core.text.terms import terms

READ_WITH = [VERSION, 2]
"""Versions of the analysis and of the flags that an index is made with."""
LEAST = 0.1
"""Share of the best score below which nothing is offered: it only lies near what answers."""
SPARE = 20
"""Hits looked at beyond those asked for: some are forgotten, or no longer believed."""

Answer = dict[str, Any]


def read_row(row: tuple[Any, ...]) -> tuple[list[str], list[int], int, int]:
    """The terms of what the index takes up (see catch_up.Row), their counts, its length, and its flags."""
    content, role, more = row[8], row[10], row[12]
    terms, counts, length, flags = analyse(content)
    if role:
        flags |= flags_of(memory_type(content, role), role)
    if more or has_digits(content):
        flags |= DIGITS
    return terms, counts, length, flags


class Recall:
    """What one memory can recall. Its index is up to date with it; its readings have the memory's parameters."""

    def __init__(
        self, index: Index, readings: Readings, processors: Sequence[Processor[Any]], params: Mapping[str, Params]
    ) -> None:
        self.index = index
        self.processors = processors
        """Those that have a part in the memory."""
        self.keepers = {keep.event: p.name for p in processors for keep in p.read_model.keeps}
        """Who keeps the last records of an event."""
        self.params = params
        """Of processors and of asking, by name."""
        self.turns = Turns()
        self.ranking = cast(RecallParams, params["recall"])
        self.dynamics = Dynamics(index, readings, cast(LivelinessParams, params["liveliness"]))

    @classmethod
    def of(
        cls, memory: Path, connection: Connection, processors: Sequence[Processor[Any]], params: Mapping[str, Params],
        warn: Warn = unheard,
    ) -> Recall:  # fmt: skip
        """What the memory file `memory` can recall, once `catch_up` was called.

        `params` of the processors that have a part in it, and of asking. `warn` is told of an index that was damaged.
        """
        mine = [processor for processor in processors if processor.name in params]
        readings = Readings(mine, params)
        kinds = Kinds(
            (documents for p in mine for documents in p.read_model.documents),
            [news for p in mine for news in p.read_model.news if _has(connection, news)],
        )
        kept = {
            name: [Kept(keep.event, keep.key) for keep in p.read_model.keeps] for name, p in readings.keeping.items()
        }
        groups = [group for p in mine for group in p.read_model.groups]
        index = Index.open(path_of(memory), connection, kinds, kept, groups, read_row, READ_WITH, warn)
        return cls(index, readings, mine, params)

    def said(self, space: str, positions: Sequence[int]) -> dict[int, Turn]:
        """The turns of a space at some offsets, by offset."""
        return self.turns.read(self.index, space, positions)

    def found(self, asked: Question, standing: Standing) -> tuple[Moment, list[Hit]]:
        """The hits in order, and the moment they were found at. `standing`: what stands of the space that is asked."""
        space = standing.space
        moment = self.moment(space, asked.space, standing.until, asked.moment, asked.session)
        query = ask(asked.query)
        among = None if asked.turns is None else _documents(space, asked.turns)
        alike = query.terms if space.seen <= self.ranking.dense else ()
        space.read_postings([*query.terms, *(other for term in alike for other in ALIKE.get(term, ()))])
        hits = rank(
            space, query, self.ranking, asked.k, self._kinds(asked), moment.now,
            lambda documents: self.dynamics.alive(moment, documents.tolist()), SPARE, among,
        )  # fmt: skip
        if not asked.forgotten:
            hits = [hit for hit in hits if hit.asked or not self.dynamics.is_forgotten(moment, hit.document)]
        if not asked.history:
            hits = self.believed(moment, hits, asked.query, standing, asked.turns)
        if "progress" in query.cues:
            hits = self.under_way(moment, asked, hits)
        return moment, [hit for hit in hits[: asked.k] if hit.score >= LEAST * hits[0].score]

    def under_way(self, moment: Moment, asked: Question, hits: list[Hit]) -> list[Hit]:
        """The hits, what is still open before all others: of that what the question names, or all where it names none
        of it, the newest first."""
        space, names, wanted = moment.space, self.index.kinds.names, asked.kinds or self.index.kinds.names
        still: dict[int, None] = {}
        for of in self.index.kinds.declared:
            group, *parts = of.open or ("",)
            for part in parts if of.kind in wanted else ():
                ids = self.index.members(moment.name, group, part, SPARE, moment.until).newest
                still |= dict.fromkeys(space.newest_of(names.index(of.kind), ids))
        best = max((hit.score for hit in hits), default=0.0)
        named = [hit for hit in hits if hit.document in still and hit.asked]
        first = [replace(hit, score=best + hit.score) for hit in named]
        if not first:
            scores = range(len(still), 0, -1)
            first = [
                Hit(one, best + n, True, {}, 0) for n, one in zip(scores, sorted(still, reverse=True), strict=True)
            ]
        placed = {hit.document for hit in first}
        return first + [hit for hit in hits if hit.document not in placed]

    def _kinds(self, asked: Question) -> list[int] | None:
        """The kinds that are asked for, as numbers; None for all. Raises UsageError for an unknown one."""
        names = self.index.kinds.names
        if unknown := [kind for kind in asked.kinds or () if kind not in names]:
            raise UsageError(f"there is no kind {unknown[0]!r}", f"kinds: {', '.join(names)}")
        return None if asked.kinds is None else [names.index(kind) for kind in asked.kinds]

    def moment(self, space: Seen, name: str, until: int | None, at: int | None, session: str | None = None) -> Moment:
        """A moment of a space; where `at` does not say, the newest that it has heard of."""
        now = self.index.newest(space)[1] if at is None else at
        return Moment(space, name, until, now, self.dynamics.spread(name, session, until, now))

    def believed(
        self, moment: Moment, hits: list[Hit], query: str, standing: Standing, among: Sequence[str] | None = None
    ) -> list[Hit]:
        """The hits, with what is believed now in the place of each statement that it took the place of.

        A turn that says more than that stays; what took the place of the one part comes before it where the `query`
        asks of that rather than of the others. So does one whose place was taken by a turn that is not `among` those
        that may answer, where these are limited.
        """
        space = moment.space
        documents = [hit.document for hit in hits]
        kinds = space.documents.kind[documents].tolist()
        spoken = [document for document, kind in zip(documents, kinds, strict=True) if kind == TURN]
        turns = {document: turn.id for document, turn in zip(spoken, space.held.all_spoken(spoken), strict=True)}
        beliefs = self.dynamics.beliefs(moment.name, [*turns.values()], moment.until)
        older = [id for id, some in beliefs.items() if any(belief.older == id for belief in some)]
        if not older:
            return hits
        replaced = standing.replaced(older)
        found: dict[int, Hit] = {}
        allowed = None if among is None else {*among}
        for hit in hits:
            document, id = hit.document, turns.get(hit.document, "")
            if id in older:
                is_left, is_asked = self._left(moment, document, replaced.get(id, ()), query)
                newest = space.turn(self.dynamics.replaced_by(moment.name, id, moment.until, allowed))
                if newest >= 0 and (is_asked or not is_left):
                    found.setdefault(newest, replace(hit, document=newest))
                if newest >= 0 and not is_left:
                    continue
            found.setdefault(document, hit)
        return [*found.values()]

    def _left(self, moment: Moment, document: int, replaced: Sequence[Replaced], query: str) -> tuple[bool, bool]:
        """Whether a turn says anything but what gave way, and whether a question asks of that rather than the rest."""
        if not any(one.sure for one in replaced):
            return False, True
        at = moment.space.position(document)
        left = left_of(own_words(moment.space, self.said(moment.name, [at])[at]), replaced)
        wanted = {*ask(query).terms}
        gone = [wanted.intersection(terms(one.part or one.said)[0]) for one in replaced]
        stands = max((len(wanted.intersection(terms(one)[0])) for one in left), default=0)
        return bool(left), max(map(len, gone)) >= stands

    def row(self, space: Seen, hit: Hit) -> Answer:
        """A hit in JSON values."""
        document = hit.document
        turns = space.turns(document)
        session, speaker = int(space.documents.session[document]), int(space.documents.speaker[document])
        return {
            "kind": self.index.kinds.names[space.documents.kind[document]],
            "id": space.id(document),
            "turn_id": turns[-1] if turns else None,
            "turns": turns,
            "session": space.held.session_names[session] if session >= 0 else None,
            "agent": space.speakers[speaker] if speaker >= 0 else None,
            "at": iso(int(space.documents.at[document])),
            "score": r6(hit.score),
            "parts": {name: r6(value) for name, value in hit.parts.items()},
        }


def _documents(space: Seen, turns: Sequence[str]) -> Ints:
    """The documents of some turns, ascending; those that are not seen are left out."""
    found = np.unique(np.array(space.turns_of(turns), np.int32))
    return found[found >= 0]


def _has(connection: Connection, news: News) -> bool:
    """Whether a memory tells it: one that an earlier version folded does not."""
    return {news.repeated, news.words} <= {*column_names(connection, table_name(news.event))}


@dataclass(frozen=True, slots=True)
class Sight:
    """What a question is asked of: a memory, as of a position."""

    connection: Connection
    """Its tables end at the position."""
    recall: Recall
    bounded: bool
    """Whether it is asked as of an earlier position."""

    def until(self, space: str) -> int | None:
        """The last offset that is seen of a space; None where all of it is."""
        return newest(self.connection, space)[0] if self.bounded else None

    def standing(self, space: str) -> Standing:
        """A space as it is seen, and what stands of its turns."""
        until = self.until(space)
        return Standing(self.recall, self.recall.index.space(space, until), space, until)

    def shown(
        self, space: str, session: str | None, cue: str, turns: Iterable[str], at: str | int | None
    ) -> Answer | None:
        """The event that tells that an answer was shown in a session, the best of its turns first, for who records it.

        None where it has no turns, and where an earlier position was asked: who looks back there uses nothing now.
        """
        first = [*dict.fromkeys(turns)][:MAX_TURNS]
        if self.bounded or not first:
            return None
        fact = {"type": "memory-recalled", "space": space, "session": session or "", "cue": cue, "turns": first}
        return fact | ({} if at is None else {"at": at})


def recalled(sight: Sight, **question: Any) -> Answer:
    """The answer to one question (see `Question`), with the words of each hit. Raises UsageError."""
    asked = Question.of(question)
    standing = sight.standing(asked.space)
    until = standing.until
    moment, hits = sight.recall.found(asked, standing)
    rows = [sight.recall.row(moment.space, hit) for hit in hits]
    said = sight.recall.said(asked.space, [moment.space.position(hit.document) for hit in hits])
    words = {("turn", turn.id): turn.content for turn in said.values()}
    others = [(row["kind"], row["id"]) for row in rows if row["kind"] != "turn"]
    kinds = sight.recall.index.kinds
    words |= kinds.texts(sight.connection, asked.space, others, LATEST if until is None else until)
    replaced = standing.replaced([*dict.fromkeys(turn for row in rows for turn in row["turns"])])
    for row in rows:
        text = words.get((row["kind"], row["id"]), "")
        gone = [one for turn in row["turns"] for one in replaced.get(turn, ())] if replaced else []
        row |= told(text, gone) if row["kind"] == "turn" else {"text": marked(text, gone)}
        if asked.history:
            older = sight.recall.dynamics.replaced(asked.space, row["turn_id"], until)
            row["history"] = [{"turn_id": belief.older, "value": belief.older_value} for belief in older]
    given = {"space": asked.space, "query": asked.query, "session": asked.session, "at": asked.at}
    return given | {"asked_at": iso(moment.now), "hits": rows, "shown": _shown(sight, asked, rows)}


def told(text: str, replaced: Sequence[Replaced]) -> Answer:
    """What a turn said, and, where not all of it stands, the same with marks that tell what does not."""
    shown = marked(text, replaced, whole=True) if replaced else text
    return {"text": text} | ({} if shown == text else {"marked": shown})


def _shown(sight: Sight, asked: Question, rows: Sequence[Answer]) -> Answer | None:
    turns = (turn for row in rows for turn in row["turns"])
    return sight.shown(asked.space, asked.session, asked.query, turns, asked.at)


def recalled_batch(sight: Sight, queries: Sequence[Mapping[str, Any]]) -> list[Answer]:
    """What answers each of some questions: its `id` and `hits`, or what is wrong with it (`error`). Without words, but
    those of turns of which not all stands (`marked`)."""
    answers: list[Answer] = []
    for query in queries:
        try:
            asked = Question.of({key: value for key, value in query.items() if key != "id"})
            standing = sight.standing(asked.space)
            moment, hits = sight.recall.found(asked, standing)
            rows = [sight.recall.row(moment.space, hit) for hit in hits]
            turns = {row["id"]: row for row in rows if row["kind"] == "turn"}
            if replaced := standing.replaced(turns):
                offsets = [moment.space.position(moment.space.turn(id)) for id in replaced]
                for turn in sight.recall.said(asked.space, offsets).values():
                    given = told(turn.content, replaced[turn.id])
                    turns[turn.id] |= {name: given[name] for name in given if name != "text"}
            answers.append({"id": query.get("id"), "hits": rows, "shown": _shown(sight, asked, rows)})
        except UsageError as error:
            answers.append({"id": query.get("id"), "error": str(error)})
    return answers
