"""What recall finds: turns, and the documents that mechanisms declare (see `Documents` of streams/core/read_model.py).

A kind is a small number in the index: 0 for turns, then those declared, in the order of the registry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from projections.store import Connection
from streams.core.read_model import Documents
from streams.core.text.terms import HEAD, TAIL

TURN = 0
RETRACTED = -1
"""What a row tells that is no document: a turn is no longer shown."""

Row = tuple[Any, ...]
"""space, position, kind, ordinal, id, session, agent, at, text, turns, role. `turns`: ids that it was made of."""
Place = tuple[int, int, int]
"""A partition, from which offset, and up to which, itself left out."""

FEW = 16
"""Offsets of a page whose texts are fetched as they are: to plan how to clip them takes as long as all the rest."""
_CLIPPED = (
    f"CASE WHEN length(content) > {HEAD + TAIL} THEN left(content, {HEAD}) || ' ' || right(content, {TAIL}) "
    "ELSE content END"
)
"""What the reading of texts sees of a turn: what lies between the ends of a huge one need not be fetched."""
BOUND = '"partition" = {} AND position >= {} AND position < {}'
"""SQL of a page: partition, first offset, the one after its last."""
_RAW: dict[str, str] = {
    "turn_recorded": f'space, position, {TURN}, 0, id, session, agent, epoch_us("at"), {_CLIPPED}, '
    "NULL::VARCHAR[], role",
    "turn_retracted": f"space, position, {RETRACTED}, 0, turn, session, '', 0, '', NULL::VARCHAR[], ''",
}
"""By table of outside events: what it tells of documents."""
_WORDS_OF_TURNS = (
    # Why positions, too: they lead to few blocks of a long table, ids to all.
    "SELECT id, content FROM turn_recorded WHERE position IN (SELECT unnest($positions)) "
    "AND space = $space AND id IN (SELECT unnest($ids))"
)


class Kinds:
    """The kinds of documents of a memory."""

    def __init__(self, declared: Iterable[Documents]) -> None:
        self.declared = tuple(declared)
        self.names: tuple[str, ...] = ("turn", *(documents.kind for documents in self.declared))
        self.runs = frozenset(n for n, documents in enumerate(self.declared, 1) if documents.run)
        """Kinds of which a document stands for all turns from the first of its turns to the last."""
        self._told = _RAW | {documents.table: _columns(n, documents) for n, documents in enumerate(self.declared, 1)}
        self.tables = frozenset(self._told)
        """The tables of a memory that tell of documents."""

    def identity(self) -> list[list[str | bool]]:
        """What of a document's declaration the index depends on."""
        return [[d.kind, d.table, d.id, d.words, d.turns, d.run] for d in self.declared]

    def told(self, connection: Connection, tables: frozenset[str], place: Place) -> list[Row]:
        """What those of `tables` that tell of documents tell in a page, by space and in order."""
        bound = BOUND.format(*place)
        parts = [
            f"SELECT {columns} FROM {table} WHERE {bound}" for table, columns in self._told.items() if table in tables
        ]
        if place[2] - place[1] <= FEW:
            parts = [part.replace(_CLIPPED, "content") for part in parts]
        rows = connection.execute(" UNION ALL ".join(parts)).fetchall() if parts else []
        return sorted(rows, key=lambda row: (row[0], row[1], row[2] == RETRACTED, row[2], row[3]))

    def texts(
        self, connection: Connection, space: str, found: Sequence[tuple[str, str, int]], until: int
    ) -> dict[tuple[str, str], str]:
        """The words of documents (kind, id, offset in the log) of a space as of an offset, by kind and id."""
        texts: dict[tuple[str, str], str] = {}
        for kind in dict.fromkeys(map(itemgetter(0), found)):
            given: dict[str, Any] = {"space": space, "ids": [id for one, id, _ in found if one == kind]}
            if kind == "turn":
                sql = _WORDS_OF_TURNS
                given["positions"] = [at for one, _, at in found if one == kind]
            else:
                of = self.declared[self.names.index(kind) - 1]
                sql = (
                    f"SELECT {of.id}, arg_max({of.shown or of.words}, (position, ordinal)) FROM {of.table} "
                    f"WHERE space = $space AND {of.id} IN (SELECT unnest($ids)) AND position <= $until GROUP BY {of.id}"
                )
                given["until"] = until
            texts |= {(kind, id): words for id, words in connection.execute(sql, given).fetchall()}
        return texts


def _columns(kind: int, of: Documents) -> str:
    return (
        f"space, position, {kind}, ordinal, {of.id}, session, '', epoch_us(\"at\"), {of.words}, "
        f"{of.turns}::VARCHAR[], ''"
    )
