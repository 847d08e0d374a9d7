"""What a job of a model asks about, in a memory: what was answered, what there is to ask, the turns that is about."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from projections.store import Connection
from projections.tables import table_name
from streams.core.job import Job, Said


def answered(connection: Connection, job: Job[Any]) -> set[tuple[str, str]]:
    """Space and prompt's hash of each question of a job whose answer is in the log."""
    return {*connection.execute(f"SELECT space, prompt_hash FROM {table_name(job.event)}").fetchall()}


def to_ask(connection: Connection, job: Job[Any], quiet: datetime) -> list[tuple[str, str, list[str]]]:
    """Space, session and turns of each thing that a job asks about; some leave out what was touched since `quiet`."""
    return connection.execute(job.rows, {"quiet": quiet} if "$quiet" in job.rows else {}).fetchall()


def said(connection: Connection, about: Iterable[tuple[str, str, list[str]]]) -> dict[tuple[str, str], Said]:
    """The turns of some things to ask about, those that stand, by space and id."""
    pairs = [(space, id_) for space, _, ids in about for id_ in ids]
    found = connection.execute(
        'SELECT space, turn_id, epoch_us("at"), role, agent, content FROM recorded_turns '
        "WHERE NOT retracted AND list_contains($spaces, space) AND turn_id IN (SELECT unnest($ids))",
        {"spaces": sorted({space for space, _ in pairs}), "ids": sorted({id_ for _, id_ in pairs})},
    ).fetchall()
    return {(space, id_): Said(id_, *rest) for space, id_, *rest in found}
