"""What recall finds: turns, and the documents that mechanisms declare (see `Documents` of streams/core/read_model.py).

A kind is a small number in the index: 0 for turns, then those declared, in the order of the registry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from projections.store import Connection
from projections.tables import Folded, table_name, table_of
from streams.core.events import TurnRecorded, TurnRetracted
from streams.core.read_model import Documents, News
from streams.core.text.terms import HEAD, TAIL

TURN = 0
RETRACTED = -1
"""What a row tells that is no document: a turn is no longer shown."""
NEWS = -2
"""Likewise: what the turn that follows it says that was not said before."""

Row = tuple[Any, ...]
"""space, position, kind, ordinal, id, session, agent, at, text, turns, role, tokens, more. `turns`: ids that it was
made of; `tokens`: of a turn's text, 0 where they were not counted; `more`: whether it says more than the text here."""
Place = tuple[int, int, int]
"""A partition, from which offset, and up to which, itself left out."""
Places = Sequence[Place]
"""What is taken of the log at once, at most one place of each partition."""

FEW = 16
"""Offsets of a page whose texts are fetched as they are: to plan how to clip them takes as long as all the rest."""
_CLIPPED = (
    f"CASE WHEN length(content) > {HEAD + TAIL} THEN left(content, {HEAD}) || ' ' || right(content, {TAIL}) "
    "ELSE content END"
)
"""What the reading of texts sees of a turn: what lies between the ends of a huge one need not be fetched."""
UNSAID = "echo > 0 AND content = '' AND parts = '[]'"
"""Of which turns nothing is left (`Raw.is_unsaid`). Why they are no documents: they would part those beside them."""
_RAW: dict[str, tuple[str, str]] = {
    "turn_recorded": (
        f'space, position, {TURN}, 0, id, session, agent, epoch_us("at"), {_CLIPPED}, NULL::VARCHAR[], role, '
        "coalesce(tokens, 0), parts <> '[]'",
        f" NOT ({UNSAID}) AND",
    ),
    "turn_retracted": (f"space, position, {RETRACTED}, 0, turn, session, '', 0, '', NULL::VARCHAR[], '', 0, false", ""),
}
"""By table of outside events: what it tells of documents, and of which rows."""


def bound(places: Places) -> str:
    """The condition, in SQL, of rows that stand there. Why the outer bounds, too: by them a table's parts are left out,
    which a choice between several places does not tell."""
    parts = [f'("partition" = {p} AND position >= {start} AND position < {stop})' for p, start, stop in places]
    first, last = min(start for _, start, _ in places), max(stop for *_, stop in places)
    return f"position >= {first} AND position < {last} AND ({' OR '.join(parts)})"


class Kinds:
    """The kinds of documents of a memory."""

    def __init__(self, declared: Iterable[Documents], news: Iterable[News] = ()) -> None:
        self.declared = tuple(declared)
        self._news = tuple(news)
        self.names: tuple[str, ...] = ("turn", *(documents.kind for documents in self.declared))
        self.runs = frozenset(n for n, documents in enumerate(self.declared, 1) if documents.run)
        """Kinds of which a document stands for all turns from the first of its turns to the last."""
        self.quoting = frozenset(n for n, documents in enumerate(self.declared, 1) if documents.quotes)
        """Kinds of which a document quotes any of its turns."""
        self._told = {table: f"SELECT {columns} FROM {table} WHERE{only}" for table, (columns, only) in _RAW.items()}
        for n, documents in enumerate(self.declared, 1):
            table = table_name(documents.event)
            self._told[table] = f"SELECT {_columns(n, documents)} FROM {table} WHERE"
        self._told |= {table_name(one.event): _news(one) for one in self._news}
        self.tables = frozenset(self._told)
        """The tables of a memory that tell of documents."""

    def identity(self) -> list[list[Any]]:
        """What of a document's declaration the index depends on."""
        found: list[list[Any]] = [
            [d.kind, table_name(d.event), d.id, d.words, d.turns, d.run, d.quotes] for d in self.declared
        ]
        return found + [[table_name(one.event), one.repeated, one.words] for one in self._news]

    def told(self, connection: Connection, tables: frozenset[str], places: Places) -> list[Row]:
        """What those of `tables` that tell of documents tell in a page, by space and in order."""
        here = bound(places)
        parts = [f"{told} {here}" for table, told in self._told.items() if table in tables]
        if sum(stop - start for _, start, stop in places) <= FEW:
            parts = [part.replace(_CLIPPED, "content") for part in parts]
        return _in_order(connection.execute(" UNION ALL ".join(parts)).fetchall() if parts else [])

    def folded(self, page: Folded) -> list[Row]:
        """The same of what lies in no table yet."""
        rows: list[Row] = []
        for _, offset, raw in page.raw.get(TurnRecorded, ()):
            if raw.is_unsaid:
                continue
            turn = raw.event
            said = turn.id, turn.session, turn.agent, turn.at, turn.content, None, turn.role
            rows.append((turn.space, offset, TURN, 0, *said, raw.text.tokens, bool(turn.parts)))
        for _, offset, raw in page.raw.get(TurnRetracted, ()):
            gone = raw.event
            rows.append((gone.space, offset, RETRACTED, 0, gone.turn, gone.session, "", 0, "", None, "", 0, False))
        for one in self._news:
            for _, offset, _, event in page.derived.get(one.event, ()):
                if getattr(event, one.repeated):
                    words = getattr(event, one.words)
                    rows.append((event.space, offset, NEWS, 0, "", "", "", 0, words, None, "", 0, True))
        for kind, of in enumerate(self.declared, 1):
            for _, offset, ordinal, event in page.derived.get(of.event, ()):
                rows.append((event.space, offset, kind, ordinal, *_read(of, event)))
        return _in_order(rows)

    def texts(
        self, connection: Connection, space: str, found: Sequence[tuple[str, str]], until: int
    ) -> dict[tuple[str, str], str]:
        """The words of documents (kind, id) that are no turns, of a space as of an offset, by kind and id."""
        texts: dict[tuple[str, str], str] = {}
        for kind in dict.fromkeys(map(itemgetter(0), found)):
            of = self.declared[self.names.index(kind) - 1]
            sql = (
                f"SELECT {of.id}, arg_max({of.shown or of.words[0]}, (position, ordinal)) FROM {table_name(of.event)} "
                f"WHERE space = $space AND {of.id} IN (SELECT unnest($ids)) AND position <= $until GROUP BY {of.id}"
            )
            given = {"space": space, "ids": [id for one, id in found if one == kind], "until": until}
            texts |= {(kind, id): words for id, words in connection.execute(sql, given).fetchall()}
        return texts


def _news(of: News) -> str:
    told = f"space, position, {NEWS}, 0, '', '', '', 0, {of.words}, NULL::VARCHAR[], '', 0, true"
    return f"SELECT {told} FROM {table_name(of.event)} WHERE {of.repeated} > 0 AND"


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row[0], row[1], row[2] == RETRACTED, row[2], row[3]))


def _columns(kind: int, of: Documents) -> str:
    words = ", ".join(f"nullif(\"{name}\", '')" for name in of.words)
    lists = [column.name for column in table_of(of.event).columns if column.sql == "VARCHAR[]"]
    turns = ", ".join(f'"{name}"' for name in of.turns)
    return (
        f'space, position, {kind}, ordinal, "{of.id}", session, \'\', epoch_us("at"), concat_ws(chr(10), {words}), '
        f"{turns if turns.strip(chr(34)) in lists else f'[{turns}]'}::VARCHAR[], '', 0, false"
    )


def _read(of: Documents, event: Any) -> Row:
    words = filter(None, (getattr(event, name) for name in of.words))
    turns = [getattr(event, name) for name in of.turns]
    if turns and isinstance(turns[0], list):
        (turns,) = turns
    return getattr(event, of.id), event.session, "", event.at, "\n".join(words), turns, "", 0, False
