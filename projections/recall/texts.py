"""The words of what recall found, from the tables of the memory: the index holds none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from projections.store import Connection

_SAID = {
    # Why positions, too: they lead to few blocks of a long table, ids to all.
    "turn": "SELECT id, content FROM turn_recorded WHERE position IN (SELECT unnest($positions)) "
    "AND space = $space AND id IN (SELECT unnest($ids))",
    "segment": "SELECT segment, arg_max(summary, (position, path)) FROM segment_summarized "
    "WHERE space = $space AND segment IN (SELECT unnest($ids)) AND position <= $until GROUP BY segment",
    "conclusion": "SELECT artifact, any_value(CASE WHEN starts_with(body, title) THEN body "
    "ELSE title || chr(10) || body END) FROM artifact_made "
    "WHERE space = $space AND artifact IN (SELECT unnest($ids)) GROUP BY artifact",
    "note": "SELECT note, arg_max(content, (position, path)) FROM note_opened "
    "WHERE space = $space AND note IN (SELECT unnest($ids)) AND position <= $until GROUP BY note",
}
"""By kind: ids and words."""


def texts(
    connection: Connection, space: str, found: Sequence[tuple[str, str, int]], until: int
) -> dict[tuple[str, str], str]:
    """The words of documents (kind, id, offset in the log) of a space as of an offset, by kind and id."""
    said: dict[tuple[str, str], str] = {}
    for kind in dict.fromkeys(kind for kind, _, _ in found):
        ids = [id for one, id, _ in found if one == kind]
        given: dict[str, Any] = {"space": space, "ids": ids}
        given |= {"positions": [at for one, _, at in found if one == kind]} if kind == "turn" else {}
        given |= {"until": until} if "$until" in _SAID[kind] else {}
        rows = connection.execute(_SAID[kind], given).fetchall()
        said |= {(kind, id): words for id, words in rows}
    return said
